//! A release whose regulariser is chosen privately from a public grid (M17h): every candidate is trained, the mean of its
//! clipped losses is its score, permute-and-flip chooses, and the chosen plan is released. One charge covers both.

use conveil::ask::{Adjacency, Strategy};
use conveil::plan::{BasisKind, Plan};
use conveil::program::{Cone, DataMap, Place, Setting};
use dashu_ratio::RBig;

use crate::card::{Account, Standing};
use crate::error::{Error, Result};
use crate::ledger::{Charges, Claim, Receipt};
use crate::noise::{Lattice, Source};
use crate::release::{Released, Solved, Stating, charge_of, charge_of_stating, checked};
use crate::selection::Selection;

const WHAT: &str = "a private choice of λ";

fn refuse<T>(why: impl AsRef<str>, instead: &str) -> Result<T> {
    Err(Error::refused(WHAT, why.as_ref(), instead))
}

/// Weights and data are counted in units of 2⁻³⁰, so that every score is a sum of integers.
const UNIT: f64 = (1u64 << 30) as f64;

/// No coefficient beyond this: the sums of integers stay exact.
const LARGEST: f64 = 1e6;

/// Candidates of a grid.
const CANDIDATES: std::ops::RangeInclusive<usize> = 2..=64;

/// The mean clipped loss of each candidate's weights, and how far one replaced record can move it.
///
/// The loss of record i at weights w is ½[1 + κ − m]₊ + ½[1 − κ − m]₊, m its margin and κ the standard deviation of the
/// plan's noise on that margin: what the hinge is expected to be when the noise is ±κ. It counts at most `clip`.
///
/// # Guarantee
/// Between neighbours no score moves by more than [`LossScores::sensitivity`], Δ = max_k (B + L²/λ_k)/N + 2Lτ_k: each plan is
/// certified for min λ_k‖w‖² + (1/N)Σφᵢ(w) with one loss for each of N records, whose margin's coefficients are within L
/// in the Euclidean norm by their public bounds, and each solve is proven to within τ_k. The constructor reads N, L and λ_k
/// from the plans' public structure and refuses what is not of this form. (M17h.) Tests:
/// `one_record_moves_no_score_by_more_than_the_sensitivity`, `accuracy_of_weights_that_are_not_released_has_no_such_bound`.
#[derive(Clone, Debug)]
pub struct LossScores {
    records: usize,
    radius: f64,
    clip: f64,
    lambdas: Vec<f64>,
    sensitivity: f64,
}

impl LossScores {
    /// Of plans that differ in λ alone, with losses clipped at `clip`.
    pub fn new(plans: &[&Plan<'_>], clip: f64) -> Result<LossScores> {
        if !(clip.is_finite() && clip > 0.0 && clip <= LARGEST) {
            return refuse(
                format!("losses cannot be clipped at {clip}"),
                "a positive number, such as 2",
            );
        }
        let mut scores: Option<LossScores> = None;
        for plan in plans {
            let hinges = Hinges::read(plan)?;
            let (n, radius) = (hinges.records as f64, hinges.radius);
            // What is proven in the norm of P = 2λI, and the rounding of the weights to units.
            let rounding = (hinges.weights as f64).sqrt() * 0.5 / UNIT;
            let off = hinges.tolerance / (2.0 * hinges.lambda).sqrt() + rounding;
            let moved = (clip + radius * radius / hinges.lambda) / n + 2.0 * radius * off;
            let scores = scores.get_or_insert_with(|| LossScores {
                records: hinges.records,
                radius,
                clip,
                lambdas: Vec::new(),
                sensitivity: 0.0,
            });
            if scores.records != hinges.records || scores.radius != radius {
                return refuse(
                    "the plans are for other records or other bounds",
                    "plans that differ in λ alone",
                );
            }
            scores.lambdas.push(hinges.lambda);
            // More than the roundings of these few operations.
            scores.sensitivity = scores.sensitivity.max(moved * (1.0 + 1e-9));
        }
        scores.map_or_else(
            || refuse("there is no candidate", "a grid of at least two λ"),
            Ok,
        )
    }

    /// Δ.
    pub fn sensitivity(&self) -> f64 {
        self.sensitivity
    }

    /// The λ of each plan.
    pub fn lambdas(&self) -> &[f64] {
        &self.lambdas
    }

    /// L, the largest norm of a record.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The score of one of the plans at θ, exactly: private.
    pub fn score(&self, plan: &Plan<'_>, theta: &[f64]) -> Result<RBig> {
        let decided = plan.released().at(theta)?;
        let weights: Option<Vec<i128>> = decided
            .answer
            .iter()
            .map(|w| in_units((w * UNIT).round()))
            .collect();
        let weights =
            weights.ok_or_else(|| Error::Noise("weights without end have no score".into()))?;
        // Clipped to the public bounds, as it was solved.
        let program = plan.released().map().at(theta)?;
        let rows = program.a().by_rows();
        let deviation = plan.law().std_dev();
        let one = UNIT as i128;
        let clip = (2.0 * self.clip * UNIT) as i128 * one;
        let mut sum = 0i128;
        for i in 0..self.records {
            let own = rows.row(i).iter().filter(|(j, _)| *j < weights.len());
            let length = own.clone().map(|(_, a)| a * a).sum::<f64>().sqrt();
            // A function of the record and of public numbers, whatever its rounding.
            let spread = in_units((deviation * length * UNIT).trunc().min(LARGEST * UNIT))
                .unwrap_or(0)
                * one;
            let mut loss = Some(one * one);
            for &(j, a) in own {
                // Toward zero: within the bounds still.
                let a = in_units((a * UNIT).trunc());
                let term = a.and_then(|a| a.checked_mul(weights[j]));
                loss = loss.and_then(|loss| loss.checked_add(term?));
            }
            let loss =
                loss.ok_or_else(|| Error::Noise("weights without end have no score".into()))?;
            let twice = loss
                .saturating_add(spread)
                .max(0)
                .saturating_add(loss.saturating_sub(spread).max(0));
            sum += twice.min(clip);
        }
        let scale = RBig::from(2 * self.records as u64) * RBig::from(one * one);
        Ok(RBig::from(sum) / scale)
    }
}

/// A whole number that fits with room for products and sums.
fn in_units(x: f64) -> Option<i128> {
    (x.is_finite() && x.abs() <= LARGEST * UNIT).then_some(x as i128)
}

/// The public structure of a regularised sum of hinges.
struct Hinges {
    records: usize,
    weights: usize,
    lambda: f64,
    radius: f64,
    tolerance: f64,
}

impl Hinges {
    /// Reads and checks: rows 0 … N−1 are 1 + a'w ≤ s, rows N … 2N−1 are s ≥ 0, the cost is λ‖w‖² + (1/N)Σs, all of w is
    /// released, and record i stands in row i alone.
    fn read(plan: &Plan<'_>) -> Result<Hinges> {
        let instead = "a classifier with a regularised intercept or none, bounds on every feature, and the certificate `erm`";
        let released = plan.released();
        let (map, program) = (released.map(), released.map().template());
        let (Some(affine), Some(tolerance)) = (map.affine(), released.tolerance()) else {
            return refuse("its solves are not proven", instead);
        };
        let guarantee = plan.guarantee();
        let Adjacency::OneRecord { len } = *guarantee.adjacency() else {
            return refuse("it is for one replaced record", "adjacency `one-record`");
        };
        if guarantee.basis().kind() != BasisKind::Certificate || !released.has_local_recourse() {
            return refuse("its sensitivity is not proven for a sum of hinges", instead);
        }
        let (p, a) = (program.p(), program.a());
        let weights = p.nnz();
        let records = program.columns() - weights.min(program.columns());
        let lambda = 0.5 * p.get(0, 0);
        let is_plain = records > 0
            && len > 0
            && affine.len() == records * len
            && lambda > 0.0
            && (0..weights).all(|j| p.get(j, j) == 2.0 * lambda)
            && program.rows() == 2 * records
            && program
                .constraints()
                .iter()
                .all(|c| matches!(c.cone(), Cone::Nonnegative(_)))
            && program.q()[..weights].iter().all(|q| *q == 0.0)
            && program.q()[weights..]
                .iter()
                .all(|q| *q == 1.0 / records as f64)
            && program.b()[..records].iter().all(|b| *b == -1.0)
            && program.b()[records..].iter().all(|b| *b == 0.0)
            && (0..records)
                .all(|i| a.get(i, weights + i) == -1.0 && a.get(records + i, weights + i) == -1.0)
            && a.column(weights).count() == 2
            && a.entries().all(|(i, j, _)| {
                if j < weights {
                    i < records
                } else {
                    (i + weights) % records == j % records
                }
            });
        let places: Vec<f64> = (0..program.columns()).map(|j| j as f64).collect();
        let all: Vec<f64> = (0..weights).map(|j| j as f64).collect();
        if !is_plain || released.query().apply(&places) != all || !released.shape().is_identity() {
            return refuse(
                "its program is not λ‖w‖² and the mean of one hinge for each record, with all of w released",
                instead,
            );
        }
        // The largest coefficients that the public bounds allow, row by row; of those that are scaled to a length, by what is
        // proven of it too.
        let ball = affine.ball();
        if ball.is_some_and(|ball| ball.record_len() != len) {
            return refuse(
                "its records are scaled in other parts than they are replaced in",
                instead,
            );
        }
        let (mut largest, mut scaled) = (vec![0.0f64; records], vec![0.0f64; records]);
        let mut multiple = 0.0f64;
        let mut fixed: Vec<(usize, usize)> = Vec::new();
        for (k, parameter) in affine.parameters().iter().enumerate() {
            let bounds = parameter.bounds();
            for location in parameter.locations() {
                let (Place::A(i, j), Some((low, high))) = (location.place, bounds) else {
                    return refuse(
                        format!(
                            "`{}` has no public bounds, or is no feature",
                            parameter.name()
                        ),
                        instead,
                    );
                };
                if i != k / len || j >= weights || a.get(i, j) != 0.0 {
                    return refuse(
                        format!(
                            "`{}` stands in the loss of another record",
                            parameter.name()
                        ),
                        instead,
                    );
                }
                let size = location.coef.abs() * low.abs().max(high.abs());
                let is_alone = parameter.locations().len() == 1;
                match is_alone && ball.is_some_and(|ball| ball.holds(k)) {
                    true => {
                        scaled[i] += size * size;
                        multiple = multiple.max(location.coef.abs());
                    }
                    false => largest[i] += size * size,
                }
                fixed.push((i, j));
            }
        }
        // Entries that are public count with what they are.
        fixed.sort_unstable();
        if fixed.windows(2).any(|pair| pair[0] == pair[1]) {
            return refuse("two private numbers share a coefficient", instead);
        }
        for (i, j, v) in a.entries().filter(|(_, j, _)| *j < weights) {
            if fixed.binary_search(&(i, j)).is_err() {
                largest[i] += v * v;
            }
        }
        let reach = ball.map_or(0.0, |ball| multiple * ball.reach());
        let each = largest.iter_mut().zip(scaled);
        each.for_each(|(largest, scaled)| *largest += scaled.min(reach * reach));
        let radius = largest.into_iter().fold(0.0, f64::max).sqrt() * (1.0 + 1e-12);
        if !(radius > 0.0 && radius <= LARGEST) {
            return refuse(format!("its records reach as far as {radius}"), instead);
        }
        Ok(Hinges {
            records,
            weights,
            lambda,
            radius,
            tolerance,
        })
    }
}

/// Plans for a grid of λ, of which one is chosen privately and released.
///
/// # Guarantee
/// Choice and release together are (ε, δ)-differentially private with ε that of the choice plus that of each plan, and the
/// plans' δ, by basic composition: the choice is ε-differentially private ([`Selection`], [`LossScores`]), and given the
/// choice the release has its plan's guarantee. Plans after the choice state the whole ε. Which λ was chosen is part of the
/// answer. Every candidate is solved, and one that fails fails the release, which stays charged. (M17h.) Tests:
/// `a_tuned_release_states_and_charges_the_whole`, `the_choice_between_neighbours_stays_within_its_epsilon`.
#[derive(Clone, Debug)]
pub struct Tuned<'m> {
    plans: Vec<Plan<'m>>,
    scores: LossScores,
    selection: Selection,
}

impl<'m> Tuned<'m> {
    /// Of plans that differ in λ alone, each for the ε that the release is to have; `epsilon` is that of the choice, and losses
    /// count at most `clip`.
    pub fn new(plans: &[&Plan<'m>], epsilon: f64, clip: f64) -> Result<Tuned<'m>> {
        if !CANDIDATES.contains(&plans.len()) {
            return refuse(
                format!("the grid has {} candidates", plans.len()),
                "a grid of 2 to 64 λ, fixed without looking at the data",
            );
        }
        let scores = LossScores::new(plans, clip)?;
        let mut sorted = scores.lambdas.clone();
        sorted.sort_by(f64::total_cmp);
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return refuse("the grid names a λ twice", "different λ");
        }
        let first = plans[0];
        if !matches!(
            first.guarantee().strategy(),
            Strategy::Output | Strategy::Program
        ) {
            return refuse(
                format!(
                    "it is not proven for {}",
                    first.guarantee().strategy().name()
                ),
                "strategy `output` or `program`",
            );
        }
        let alike = |plan: &&Plan<'_>| {
            plan.guarantee().privacy() == first.guarantee().privacy()
                && plan.guarantee().strategy() == first.guarantee().strategy()
                && plan.guarantee().choice_epsilon() == 0.0
                && matches!((Claim::of(plan), Claim::of(first)), (Ok(one), Ok(other)) if one == other)
        };
        if !plans.iter().all(alike) {
            return refuse(
                "the plans differ in more than λ",
                "plans of one privacy, strategy and neighbourhood",
            );
        }
        let selection = Selection::new(epsilon, scores.sensitivity)?;
        let grid: Vec<String> = scores.lambdas.iter().map(f64::to_string).collect();
        let named = plans.iter().zip(&scores.lambdas);
        let plans: conveil::Result<Vec<Plan<'m>>> = named
            .map(|(plan, lambda)| {
                let own = plan.guarantee().privacy();
                let text = format!(
                    "λ = {lambda}, chosen privately among {} by permute-and-flip with ε = {epsilon}; its scores are mean losses clipped at {clip}, and one record moves them by at most {:.3e}; the weights have {} noise with ε = {}. Which λ was chosen is part of the answer",
                    grid.join(", "),
                    scores.sensitivity,
                    own.mechanism(),
                    own.epsilon()
                );
                let chosen = Setting { name: "lambda".into(), value: *lambda, text };
                (**plan).clone().after_choice(epsilon, chosen)
            })
            .collect();
        Ok(Tuned {
            plans: plans?,
            scores,
            selection,
        })
    }

    /// The plans, each stating the whole ε.
    pub fn plans(&self) -> &[Plan<'m>] {
        &self.plans
    }

    /// How the candidates are scored.
    pub fn scores(&self) -> &LossScores {
        &self.scores
    }

    /// How one of them is chosen.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// The plan that costs the most: (ε, δ) is the same for all, and of ρ it has the largest, since any of them may be
    /// released. A charge is for this one.
    pub fn dearest(&self) -> Result<&Plan<'m>> {
        let mut found: Option<(&Plan<'m>, f64)> = None;
        for plan in &self.plans {
            let rho = charge_of(plan)?.rho().unwrap_or(0.0);
            if found.is_none_or(|(_, most)| rho > most) {
                found = Some((plan, rho));
            }
        }
        found.map_or_else(
            || refuse("there is no candidate", "a grid of at least two λ"),
            |(plan, _)| Ok(plan),
        )
    }

    /// The first half of a release: everything public is checked, and the budget is charged for choice and release together.
    pub fn charge<C: Charges + ?Sized>(
        &self,
        stating: &Stating,
        charges: &mut C,
        dataset: &str,
    ) -> Result<ChargedTuned<'_, 'm>> {
        let lattices: Result<Vec<Lattice>> = self
            .plans
            .iter()
            .map(|plan| checked(plan, dataset))
            .collect();
        let lattices = lattices?;
        let charge = charge_of_stating(self.dearest()?, stating)?;
        let receipt = charges.charge(dataset, &charge)?;
        Ok(ChargedTuned {
            tuned: self,
            lattices,
            receipt,
            part: stating.part.as_ref().map(|part| part.name().into()),
            report: true,
        })
    }
}

/// A charge for a choice and a release, good for one of each.
#[derive(Debug)]
#[must_use = "the budget is spent"]
pub struct ChargedTuned<'t, 'm> {
    tuned: &'t Tuned<'m>,
    lattices: Vec<Lattice>,
    receipt: Receipt,
    part: Option<String>,
    report: bool,
}

impl<'t, 'm> ChargedTuned<'t, 'm> {
    /// The ledger's receipt.
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// Without the curator report on the chosen plan, which costs a second solve and a million draws.
    pub fn without_report(self) -> Self {
        ChargedTuned {
            report: false,
            ..self
        }
    }

    /// The second half: every candidate is solved and scored, one is chosen, its noise drawn once. Returns the chosen plan
    /// too.
    pub fn release(mut self, theta: &[f64]) -> Result<(&'t Plan<'m>, Released)> {
        let Tuned {
            plans,
            scores,
            selection,
        } = self.tuned;
        let found: Result<Vec<RBig>> = plans.iter().map(|plan| scores.score(plan, theta)).collect();
        let chosen = selection.choose(&found?)?;
        let plan = &plans[chosen];
        let solved = Solved::new(plan, self.lattices.swap_remove(chosen), theta, self.report)?;
        let standing = Standing::Charged(Account {
            receipt: &self.receipt,
            part: self.part.as_deref(),
            in_series: None,
        });
        Ok((plan, solved.release(plan, &mut Source::System, &standing)?))
    }
}
