//! M9. Exact elimination of local recourse: where a slack relaxes one row and answers to the noise on its own, the best
//! answer is known. With v = X'a the row's noise, κ its room and μ = b − a'w̄ its margin, the slack's mean is
//!
//! s̄ = max(0, (κ − μ)/2, −μ) = ½[κ − μ]₊ + ½[−κ − μ]₊, and its recourse is S = t·v with t = 1 − (μ + s̄)/κ in [0, 1]:
//!
//! a *noise-aware hinge*. The second-order cone program with a recourse vector for each record becomes an ordinary sum
//! of hinges on doubled data. The answer is mapped back to w̄, s̄, S and their multipliers and checked against the cone
//! program, whose residuals are written out record by record here instead of assembled.

use super::rooms::{Rooms, carried_noise};
use super::rows::{OfLosses, Rows};
use crate::chance::{Design, Room};
use crate::error::{Error, Result};
use crate::noise::LatticeLaw;
use crate::program::{DataMap, Place, Program, norm};
use crate::risk::Risk;
use crate::rule::{RowRule, Rule};
use crate::solve::{CLOSE, Hinge, HingeForm, HingeProblem, Measured, Residuals, Settings, Sizes};
use std::ops::Range;
use std::sync::Arc;

/// A program whose recourse is eliminated, by public structure.
#[derive(Clone, Debug)]
pub(crate) struct LocalRecourse {
    pub(super) form: HingeForm,
    /// How the room of each loss follows from its v.
    pub(super) rooms: Vec<Room>,
    /// Rows of X of the weights, by entries (noise, value).
    pub(super) carried: Arc<[Vec<(usize, f64)>]>,
    pub(super) noises: usize,
}

/// What a solve says of the program, lifted or in closed form. Private.
pub(crate) struct Solved {
    /// x̄ of the program.
    pub(crate) mean: Vec<f64>,
    /// Rows of X.
    pub(crate) recourse: Rows,
    /// Multipliers by row of the program.
    pub(crate) prices: Vec<f64>,
    /// The minimised objective.
    pub(crate) objective: f64,
    /// Our check, against the cone program.
    pub(crate) residuals: Residuals,
    /// How far it is proven to be from the optimum, if it is.
    pub(crate) error: Option<f64>,
    /// Variables and rows of what was solved.
    pub(crate) size: (usize, usize),
}

/// The program's rows at θ.
#[derive(Clone)]
struct Records {
    /// R = −A on the weights, by columns.
    columns: Vec<f64>,
    /// κ of each loss.
    rooms: Rooms,
}

/// Weights and multipliers of the two hinges of each loss.
struct Found {
    w: Vec<f64>,
    /// Rw.
    margins: Vec<f64>,
    alpha: Vec<(f64, f64)>,
    /// A bound on ‖w − w*‖² in P.
    square: f64,
}

impl LocalRecourse {
    /// Looks at public structure alone; `None` where the recourse is not local.
    pub(crate) fn new(
        map: &dyn DataMap,
        rule: &Rule,
        design: &Design,
        risk: &Risk,
        noise: &LatticeLaw,
    ) -> Result<Option<Self>> {
        let template = map.template();
        let k = rule.noises();
        if (k < 2 && !design.is_at_the_mean()) || !risk.is_expectation() || map.private_parts().p {
            return Ok(None);
        }
        let Some(form) = HingeForm::of(template) else {
            return Ok(None);
        };
        if !is_public(map, &form) {
            return Ok(None);
        }
        let mut carried: Vec<Vec<(usize, f64)>> = Vec::new();
        for &j in &form.weights {
            match rule.row(j) {
                RowRule::Fixed(entries) => carried.push(entries.clone()),
                RowRule::Free(_) => return Ok(None),
            }
        }
        let is_free = |j: usize| matches!(rule.row(j), RowRule::Free(_));
        if design.is_at_the_mean() {
            // No noise, no room: the plain hinges.
            return Ok(Some(LocalRecourse {
                rooms: vec![Room::Norm(0.0); form.losses.len()],
                form,
                carried: carried.into(),
                noises: k,
            }));
        }
        if !form.losses.iter().all(|loss| is_free(loss.slack)) {
            return Ok(None);
        }
        let Some(by_row) = design.rooms(template.rows(), k, noise)? else {
            return Ok(None);
        };
        let mut rooms = Vec::with_capacity(form.losses.len());
        for loss in &form.losses {
            if by_row[loss.row] != by_row[loss.sign] {
                return Ok(None);
            }
            rooms.push(by_row[loss.row]);
        }
        Ok(Some(LocalRecourse {
            form,
            rooms,
            carried: carried.into(),
            noises: k,
        }))
    }

    /// The columns of the losses.
    pub(crate) fn slacks(&self) -> impl Iterator<Item = usize> + '_ {
        self.form.losses.iter().map(|loss| loss.slack)
    }

    /// (w̄, s̄, S) at a program, checked; an error where the check fails.
    pub(crate) fn decide(
        &self,
        program: &Program,
        noise: &LatticeLaw,
        settings: &Settings,
    ) -> Result<Solved> {
        let mut records = self.records(program, noise, settings)?;
        let found = loop {
            let found = self.solve(program, &mut records, settings)?;
            if !self.sharpen(program, &mut records, &found, noise)? {
                break found;
            }
        };
        let answer = self.back(program, records, &found, noise.law().variance());
        if !answer.residuals.pass(settings.tolerance()) {
            return Err(Error::Inaccurate {
                residuals: answer.residuals,
                tolerance: settings.tolerance(),
            });
        }
        Ok(answer)
    }

    /// The rows, with the rooms of those that are near their kinks on a sample; of few rows all.
    fn records(&self, program: &Program, law: &LatticeLaw, settings: &Settings) -> Result<Records> {
        let columns = self.form.columns(program);
        let rooms = Rooms::new(&self.rooms, &columns, &self.carried, self.noises, law)?;
        let mut records = Records { columns, rooms };
        if records.rooms.are_exact() {
            return Ok(records);
        }
        let Records { columns, rooms } = &records;
        let typical = rooms.typical(columns, &self.carried, &self.rooms, law)?;
        let bounds = std::mem::replace(&mut records.rooms, typical);
        let (problem, _, all) = self.problem(program, &mut records);
        let rough = problem.rough(settings.cancel());
        records.columns = all.unwrap_or(problem.columns);
        records.rooms = bounds;
        let Some((w, rows)) = rough else {
            return match settings.cancel().is_raised() {
                true => Err(Error::Cancelled),
                false => Err(Error::Numerical("the hinges have no answer".into())),
            };
        };
        let margins = self.form.margins(&records.columns, &w);
        let margin = |i: usize| program.b()[self.form.losses[i].row] + margins[i];
        let Records { columns, rooms } = &mut records;
        rooms.sharpen_nearest(rows, margin, columns, &self.carried, &self.rooms, law)?;
        Ok(records)
    }

    /// Whether there are rows between their kinks whose room was a bound: they get their own.
    fn sharpen(
        &self,
        program: &Program,
        records: &mut Records,
        found: &Found,
        law: &LatticeLaw,
    ) -> Result<bool> {
        let margin = |i: usize| program.b()[self.form.losses[i].row] + found.margins[i];
        let Records { columns, rooms } = records;
        rooms.sharpen_within(margin, columns, &self.carried, &self.rooms, law)
    }

    /// The hinges, by runs of equal records, each run's place among them, and all columns where those of the problem are
    /// fewer.
    fn problem(
        &self,
        program: &Program,
        records: &mut Records,
    ) -> (HingeProblem, Vec<Range<usize>>, Option<Vec<f64>>) {
        let n = self.form.losses.len();
        let starts = self.starts(program, records);
        let ends = starts.iter().skip(1).copied().chain([n]);
        let runs: Vec<Range<usize>> = starts.iter().zip(ends).map(|(i, end)| *i..end).collect();
        let each = records.hinges_of_each();
        let mut hinges = Vec::with_capacity(each * runs.len());
        for (row, run) in runs.iter().enumerate() {
            let (loss, kappa) = (self.form.losses[run.start], records.rooms.bend(run.start));
            let (b, count) = (program.b()[loss.row], run.len() as f64);
            let cost = count * program.q()[loss.slack] / each as f64;
            for target in [kappa - b, -kappa - b].into_iter().take(each) {
                hinges.push(Hinge { row, target, cost });
            }
        }
        let all = std::mem::take(&mut records.columns);
        let (columns, all) = match runs.len() == n {
            true => (all, None),
            false => {
                let firsts = |column: &[f64]| starts.iter().map(|&i| column[i]).collect::<Vec<_>>();
                (all.chunks_exact(n).flat_map(firsts).collect(), Some(all))
            }
        };
        (self.form.problem(program, columns, hinges), runs, all)
    }

    /// Equal records that follow one another are one hinge of their joint cost, of which each has its share; without room the
    /// two hinges of a loss are one. A joint cost is off by one rounding more, which [`HingeProblem::rounding`] has room for.
    fn solve(
        &self,
        program: &Program,
        records: &mut Records,
        settings: &Settings,
    ) -> Result<Found> {
        let n = self.form.losses.len();
        let each = records.hinges_of_each();
        let (problem, runs, all) = self.problem(program, records);
        let found = problem.solve(CLOSE, settings.cancel());
        if settings.cancel().is_raised() {
            return Err(Error::Cancelled);
        }
        let Some(found) = found else {
            return Err(Error::Numerical("the hinges have no answer".into()));
        };
        let square = found.factor * (found.gap + problem.rounding(&found));
        let (mut alpha, mut margins) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let of_runs = problem.margins(&found.w);
        for ((run, pair), margin) in (runs.iter().zip(found.alpha.chunks_exact(each))).zip(of_runs)
        {
            let share = 1.0 / (run.len() as f64 * (3 - each) as f64);
            let pair = (share * pair[0], share * pair[each - 1]);
            alpha.extend(std::iter::repeat_n(pair, run.len()));
            margins.extend(std::iter::repeat_n(margin, run.len()));
        }
        records.columns = all.unwrap_or(problem.columns);
        Ok(Found {
            square,
            alpha,
            margins,
            w: found.w,
        })
    }

    /// Where runs of equal records begin: public datasets repeat one.
    fn starts(&self, program: &Program, records: &Records) -> Vec<usize> {
        let n = self.form.losses.len();
        let mut is_start = vec![false; n];
        for column in records.columns.chunks_exact(n) {
            for (start, pair) in is_start[1..].iter_mut().zip(column.windows(2)) {
                *start |= pair[0] != pair[1];
            }
        }
        let own = |i: usize| {
            let loss = self.form.losses[i];
            let (b, cost) = (program.b()[loss.row], program.q()[loss.slack]);
            (b, cost, records.rooms.of(i), records.rooms.is_exact(i))
        };
        (0..n)
            .filter(|&i| i == 0 || is_start[i] || own(i) != own(i - 1))
            .collect()
    }

    /// The point and its multipliers in the cone program, with its residuals there.
    fn back(&self, program: &Program, records: Records, found: &Found, variance: f64) -> Solved {
        let (d, k) = (self.form.weights.len(), self.noises);
        let n = self.form.losses.len();
        let mut mean = vec![0.0; program.columns()];
        for (p, &j) in self.form.weights.iter().enumerate() {
            mean[j] = found.w[p];
        }
        let mut prices = vec![0.0; program.rows()];
        let mut check = ConeCheck::new(program);
        let mut coefficients = vec![1.0f64; n];
        for column in records.columns.chunks_exact(n) {
            (coefficients.iter_mut().zip(column)).for_each(|(m, r)| *m = m.max(r.abs()));
        }
        let mut shares = Vec::with_capacity(n);
        let mut v = vec![0.0; k];
        for (i, loss) in self.form.losses.iter().enumerate() {
            carried_noise(&records.columns, &self.carried, i, &mut v);
            let (kappa, b, cost) = (
                records.rooms.of(i),
                program.b()[loss.row],
                program.q()[loss.slack],
            );
            let margin = b + found.margins[i];
            let slack = 0.5 * (kappa - margin).max(0.0) + 0.5 * (-kappa - margin).max(0.0);
            let share = match kappa > 0.0 {
                true => (1.0 - (margin + slack) / kappa).clamp(0.0, 1.0),
                false => 0.0,
            };
            mean[loss.slack] = slack;
            shares.push(share);
            let (first, second) = found.alpha[i];
            prices[loss.row] = first + second;
            prices[loss.sign] = cost - first - second;
            check.loss(&CheckedLoss {
                b,
                cost,
                margin,
                slack,
                kappa,
                share,
                first,
                second,
            });
            check.sizes(coefficients[i], &v, b, kappa, share);
        }
        let residuals = check.finish(program, &mean, &prices, &self.form.weights);
        let recourse = Rows::OfLosses(OfLosses {
            weights: self.form.weights.clone(),
            slacks: self.slacks().collect(),
            columns: Arc::new(records.columns),
            carried: self.carried.clone(),
            shares: shares.into(),
            noises: k,
        });
        let constant = noise_cost(program, &recourse, variance);
        Solved {
            objective: program.objective(&mean) + constant,
            mean,
            recourse,
            prices,
            residuals,
            // M7: ‖w̄ − w*‖ in P from the gap alone.
            error: Some(found.square.sqrt()),
            size: (d + 2 * self.form.losses.len(), 4 * self.form.losses.len()),
        }
    }
}

/// ½σ²Σ X'PX: what the noise of the weights costs on average.
pub(super) fn noise_cost(program: &Program, recourse: &Rows, variance: f64) -> f64 {
    let mut cost = 0.0;
    for (i, j, p) in program.p().entries() {
        let (one, other) = (recourse.row(i), recourse.row(j));
        let inner: f64 = (one.iter())
            .flat_map(|a| other.iter().map(move |b| (a, b)))
            .filter(|(a, b)| a.0 == b.0)
            .map(|(a, b)| a.1 * b.1)
            .sum();
        cost += if i == j { 0.5 } else { 1.0 } * variance * p * inner;
    }
    cost
}

impl Records {
    /// Without room the two hinges of a loss are one.
    fn hinges_of_each(&self) -> usize {
        if self.rooms.are_zero() { 1 } else { 2 }
    }
}

/// Whether what makes the form is public: the slacks' coefficients and costs, and the right-hand sides of their signs.
fn is_public(map: &dyn DataMap, form: &HingeForm) -> bool {
    let mut is_slack = vec![false; map.template().columns()];
    let mut is_sign = vec![false; map.template().rows()];
    for loss in &form.losses {
        is_slack[loss.slack] = true;
        is_sign[loss.sign] = true;
    }
    let Some(affine) = map.affine() else {
        return false;
    };
    // Records that are alike enter the same columns.
    let parameters = affine.parameters();
    let (first, all) = match parameters.records() {
        Some(_) => (Some(parameters.kinds()), None),
        None => (None, Some(parameters.places())),
    };
    let first = first
        .into_iter()
        .flatten()
        .flat_map(|p| p.locations().iter().copied());
    let mut places = first.chain(all.into_iter().flatten().map(|(_, at)| at));
    places.all(|location| match location.place {
        Place::A(_, j) => !is_slack[j],
        Place::B(i) => !is_sign[i],
        Place::Q(j) => !is_slack[j],
        Place::P(..) => false,
    })
}

/// The residuals of the second-order cone program, record by record: for each loss the cones
/// m‖v − S‖ ≤ μ + s̄ and m‖S‖ ≤ s̄, with multipliers (λ, u) and (c − λ, u') where λ = α₁ + α₂ and
/// ‖u‖ = ‖u'‖ = |α₁ − α₂|: they lie in the cones because 0 ≤ α ≤ c/2, and cancel on S.
struct ConeCheck {
    primal: f64,
    dual_cone: f64,
    /// b'z over the cones.
    linear: f64,
    largest_b: f64,
    largest_x: f64,
    size: f64,
}

/// One loss in the cone program: its row, its noise, and the multipliers of its two hinges.
struct CheckedLoss {
    b: f64,
    cost: f64,
    margin: f64,
    slack: f64,
    kappa: f64,
    share: f64,
    first: f64,
    second: f64,
}

impl ConeCheck {
    fn new(program: &Program) -> Self {
        let largest = program.b().iter().fold(0.0f64, |m, b| m.max(b.abs()));
        ConeCheck {
            primal: 0.0,
            dual_cone: 0.0,
            linear: 0.0,
            largest_b: largest,
            largest_x: 0.0,
            size: 1.0,
        }
    }

    fn loss(&mut self, loss: &CheckedLoss) {
        let &CheckedLoss {
            b,
            cost,
            margin,
            slack,
            kappa,
            share,
            first,
            second,
        } = loss;
        let head = kappa * (1.0 - share) - (margin + slack);
        let sign = kappa * share - slack;
        self.primal = self.primal.max(head).max(sign);
        let outside = (-first)
            .max(-second)
            .max(first - 0.5 * cost)
            .max(second - 0.5 * cost);
        self.dual_cone = self.dual_cone.max(outside);
        // b·λ + m·v'u, with u against v.
        self.linear += b * (first + second) - kappa * (first - second);
    }

    /// What the scales of the residuals need of one record's rows.
    fn sizes(&mut self, coefficient: f64, v: &[f64], b: f64, kappa: f64, share: f64) {
        let moved = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        self.largest_x = self.largest_x.max(share * moved);
        self.size = self.size.max((1.0 + b.abs()) / coefficient);
        let length = norm(v);
        if length > 0.0 && kappa > 0.0 {
            let multiplier = kappa / length;
            self.largest_b = self.largest_b.max(multiplier * moved);
            self.size = self.size.max((1.0 + multiplier * moved) / multiplier);
        }
    }

    fn finish(
        &self,
        program: &Program,
        mean: &[f64],
        prices: &[f64],
        weights: &[usize],
    ) -> Residuals {
        let px = program.p().symmetric_times(mean);
        let pulled = program.a().transpose_times(prices);
        let dual = weights
            .iter()
            .map(|&j| (px[j] + program.q()[j] + pulled[j]).abs())
            .fold(self.dual_cone.max(0.0), f64::max);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (quadratic, linear) = (dot(&px, mean), dot(program.q(), mean));
        let largest = |v: &[f64]| v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        Measured {
            primal: self.primal.max(0.0),
            dual,
            gap: quadratic + linear + self.linear,
            px: largest(&px),
            objective: 0.5 * quadratic + linear,
            x: self.largest_x.max(largest(mean)),
            sizes: Sizes {
                b: self.largest_b,
                q: largest(program.q()),
                p: largest(program.p().nzval()),
                size: self.size,
            },
        }
        .scaled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{Adjacency, Ask, Privacy, Query, Request, Strategy};
    use crate::chance::{Choice, Feasibility};
    use crate::plan::Plan;
    use crate::program::{AffineMap, Builder};

    fn classifier(records: usize) -> AffineMap {
        let mut m = Builder::new();
        let w = m.variable("w", 3);
        let s = m.auxiliary("s", records);
        m.minimize((1.0 / records as f64) * s.sum());
        (0..3).for_each(|j| m.quadratic(j, j, 0.2));
        for i in 0..records {
            let data: Vec<_> = (0..3)
                .map(|j| m.parameter_within(&format!("x{i} {j}"), -1.0, 1.0))
                .collect();
            let margin = data[0] * w.at(0) + data[1] * w.at(1) + data[2] * w.at(2);
            m.at_most(&format!("point {i}"), 1.0, margin + s.at(i));
        }
        for i in 0..records {
            m.at_most(&format!("sign {i}"), 0.0, s.at(i));
        }
        m.build_map().unwrap()
    }

    fn theta(records: usize, seed: u64) -> Vec<f64> {
        let mut sampler = crate::noise::Sampler::new(seed, 0);
        (0..3 * records)
            .map(|_| 2.0 * sampler.uniform() - 1.0)
            .collect()
    }

    fn plan(map: &AffineMap, privacy: Privacy) -> Plan<'_> {
        let ask = Ask::new(Query::Variables(vec!["w".into()]))
            .adjacency(Adjacency::OneRecord { len: 3 })
            .privacy(privacy)
            .sensitivity(Request::regularised_erm())
            .feasibility(Feasibility::each(0.05).method(Choice::ROW_BY_ROW));
        Plan::new(map, ask).unwrap()
    }

    fn local(plan: &Plan<'_>, map: &AffineMap) -> LocalRecourse {
        let released = plan.released();
        let noise = released.noise();
        let (rule, design) = (released.rule(), released.design());
        LocalRecourse::new(map, rule, design, &Risk::expectation(), noise)
            .unwrap()
            .expect("the recourse is local")
    }

    /// The point and its multipliers, assembled for the cone program.
    fn assembled(
        local: &LocalRecourse,
        answer: &Solved,
        records: &Records,
        found: &Found,
    ) -> (Vec<f64>, Vec<f64>) {
        let k = local.noises;
        let mut x = answer.mean.clone();
        for loss in &local.form.losses {
            x.extend(answer.recourse.row(loss.slack).iter().map(|e| e.1));
        }
        let mut z = Vec::new();
        // All losses' cones first, then all signs'.
        for sign in [false, true] {
            for (i, loss) in local.form.losses.iter().enumerate() {
                z.push(answer.prices[if sign { loss.sign } else { loss.row }]);
                let mut v = vec![0.0; k];
                carried_noise(&records.columns, &local.carried, i, &mut v);
                let (first, second) = found.alpha[i];
                let length = norm(&v);
                // The two tails cancel on S.
                let along = if sign { first - second } else { second - first };
                z.extend(v.iter().map(|v| along * v / length));
            }
        }
        (x, z)
    }

    #[test]
    fn residuals_record_by_record_are_those_of_the_cone_program() {
        for (seed, privacy) in [
            (1, Privacy::gaussian(1.0, 0.01)),
            (2, Privacy::laplace(0.5)),
            (3, Privacy::laplace(5.0)),
        ] {
            let map = classifier(15);
            let plan = plan(&map, privacy);
            let local = local(&plan, &map);
            let program = map.at(&theta(15, seed)).unwrap();
            let noise = plan.released().noise();
            let settings = Settings::default();
            let mut records = local.records(&program, noise, &settings).unwrap();
            let mut found = local.solve(&program, &mut records, &settings).unwrap();
            let lifted = plan.released().lifted(&program, 0).unwrap();
            for spoilt in [false, true] {
                if spoilt {
                    found.w[1] += 1e-3;
                    let column = records.columns.chunks_exact(15).nth(1).unwrap();
                    let moved = found.margins.iter_mut().zip(column);
                    moved.for_each(|(m, r)| *m += 1e-3 * r);
                    found.alpha[4].0 *= 0.9;
                }
                let variance = plan.law().variance();
                let answer = local.back(&program, records.clone(), &found, variance);
                let (x, z) = assembled(&local, &answer, &records, &found);
                let whole = Residuals::of(lifted.program(), &x, &z);
                let found = answer.residuals;
                let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
                assert!(close(found.primal, whole.primal), "{found:?} {whole:?}");
                assert!(close(found.dual, whole.dual), "{found:?} {whole:?}");
                assert!(close(found.gap, whole.gap), "{found:?} {whole:?}");
                assert!(
                    close(found.primal_scale, whole.primal_scale),
                    "{found:?} {whole:?}"
                );
                assert!(
                    close(found.dual_scale, whole.dual_scale),
                    "{found:?} {whole:?}"
                );
                assert!(
                    close(found.gap_scale, whole.gap_scale),
                    "{found:?} {whole:?}"
                );
                assert!(close(found.reach, whole.reach), "{found:?} {whole:?}");
                let objective = lifted.program().objective(&x);
                assert!(close(answer.objective, objective));
                assert_eq!(found.pass(1e-7), !spoilt, "{found}");
            }
        }
    }

    #[test]
    fn runs_of_equal_records_share_the_room_that_each_has_alone() {
        let map = classifier(7);
        let ask = Ask::new(Query::Variables(vec!["w".into()]))
            .adjacency(Adjacency::OneRecord { len: 3 })
            .privacy(Privacy::laplace(2.0))
            .sensitivity(Request::regularised_erm())
            .feasibility(Feasibility::each(0.05).method(Choice::NOISE_AWARE_HINGE));
        let plan = Plan::new(&map, ask).unwrap();
        let local = local(&plan, &map);
        let (a, b) = ([0.3, -0.7, 1.0], [0.9, 0.2, -0.4]);
        let records = [a, a, b, b, b, a, [0.0; 3]];
        let program = map.at(&records.concat()).unwrap();
        let step = plan.released().step();
        let (noise, settings) = (plan.released().noise(), Settings::default());
        let found = local.records(&program, noise, &settings).unwrap();
        for (i, record) in records.iter().enumerate() {
            let kappa = found.rooms.of(i);
            let lattice = 1.5 * step * record.iter().map(|x| x.abs()).sum::<f64>();
            let exact = crate::noise::weighted_upper_quantile(plan.law(), record, 0.05).unwrap();
            assert_eq!(kappa, exact + lattice, "{record:?}");
        }
    }

    /// Runs are one hinge each; apart, every record is its own. Both are the same sum, with noise in the program and without.
    #[test]
    fn equal_records_in_runs_are_solved_as_they_are_apart() {
        let map = classifier(7);
        let ask = |strategy: Strategy| {
            Ask::new(Query::Variables(vec!["w".into()]))
                .adjacency(Adjacency::OneRecord { len: 3 })
                .privacy(Privacy::laplace(2.0))
                .sensitivity(Request::regularised_erm())
                .feasibility(Feasibility::each(0.05).method(Choice::NOISE_AWARE_HINGE))
                .strategy(strategy)
        };
        let (a, b, c) = ([0.3, -0.7, 1.0], [0.9, 0.2, -0.4], [-0.1, 0.6, 1.0]);
        for strategy in [Strategy::Program, Strategy::Output] {
            let plan = Plan::new(&map, ask(strategy)).unwrap();
            let local = local(&plan, &map);
            let solved = |records: [[f64; 3]; 7], runs: usize| {
                let program = map.at(&records.concat()).unwrap();
                let (noise, settings) = (plan.released().noise(), Settings::default());
                let mut found = local.records(&program, noise, &settings).unwrap();
                assert_eq!(local.starts(&program, &found).len(), runs);
                let solved = local.solve(&program, &mut found, &settings).unwrap();
                let answer = local.back(&program, found, &solved, plan.law().variance());
                assert!(answer.residuals.pass(1e-9), "{}", answer.residuals);
                solved
            };
            let runs = solved([a, a, a, b, b, b, c], 3);
            let apart = solved([a, b, a, b, c, b, a], 7);
            for (one, other) in runs.w.iter().zip(&apart.w) {
                assert!((one - other).abs() < 1e-6, "{:?} {:?}", runs.w, apart.w);
            }
            assert!(runs.square < 1e-10 && apart.square < 1e-10);
        }
    }

    /// Of many records most have a bound in the place of their room: the answer is the one that exact rooms give.
    #[test]
    fn rooms_that_are_bounds_change_no_answer() {
        let n = 6_000;
        let map = classifier(n);
        let ask = Ask::new(Query::Variables(vec!["w".into()]))
            .adjacency(Adjacency::OneRecord { len: 3 })
            .privacy(Privacy::laplace(0.5))
            .sensitivity(Request::regularised_erm())
            .feasibility(Feasibility::each(0.05).method(Choice::NOISE_AWARE_HINGE));
        let plan = Plan::new(&map, ask).unwrap();
        let local = local(&plan, &map);
        // Most margins are near 1.
        let theta: Vec<f64> = theta(n, 9).iter().map(|x| 0.5 + 0.5 * x).collect();
        let program = map.at(&theta).unwrap();
        let (noise, settings) = (plan.released().noise(), Settings::default());
        let mut records = local.records(&program, noise, &settings).unwrap();
        assert!(!records.rooms.are_exact());
        let found = loop {
            let found = local.solve(&program, &mut records, &settings).unwrap();
            if !local
                .sharpen(&program, &mut records, &found, noise)
                .unwrap()
            {
                break found;
            }
        };
        let all = records.clone().with_exact_rooms(&local, noise);
        let bounds = (0..n).filter(|&i| !records.rooms.is_exact(i)).count();
        let within = (0..n).filter(|&i| (found.margins[i] - 1.0).abs() <= all.rooms.of(i));
        let within = within.count();
        println!("of {n} rows {bounds} have a bound, {within} are between their kinks");
        assert!(bounds > n / 4 && within > 50, "the test has no teeth");
        assert!((0..n).all(|i| all.rooms.of(i) <= records.rooms.of(i)));
        let exact = local.solve(&program, &mut all.clone(), &settings).unwrap();
        let away: f64 = (found.w.iter().zip(&exact.w))
            .map(|(a, b)| 0.2 * (a - b).powi(2))
            .sum();
        assert!(
            away.sqrt() <= found.square.sqrt() + exact.square.sqrt(),
            "{away:e}"
        );
        let (one, other) = (found.square, exact.square);
        assert!(one < 1.5 * other, "{one:e} {other:e}");
        // Slacks and recourse are what they are with exact rooms at the same weights.
        let variance = plan.law().variance();
        let (one, other) = (
            local.back(&program, records, &found, variance),
            local.back(&program, all, &found, variance),
        );
        assert_eq!(one.mean, other.mean);
        for loss in &local.form.losses {
            assert_eq!(one.recourse.row(loss.slack), other.recourse.row(loss.slack));
        }
        assert!(one.residuals.pass(1e-9), "{}", one.residuals);
    }

    impl Records {
        fn with_exact_rooms(mut self, local: &LocalRecourse, law: &LatticeLaw) -> Self {
            self.rooms = self
                .rooms
                .exactly(&local.rooms, &self.columns, &local.carried, law);
            self
        }
    }

    /// Backends that solve something else: a hinge shifted by a thousandth, a doubled slope, a halved room.
    #[test]
    fn a_wrong_backend_is_noticed() {
        let map = classifier(15);
        // Little noise, so that some margins stand exactly at a kink: the others do not see where it is.
        let plan = plan(&map, Privacy::gaussian(20.0, 0.01));
        let local = local(&plan, &map);
        let program = map.at(&theta(15, 7)).unwrap();
        let noise = plan.released().noise();
        let settings = Settings::default();
        let records = local.records(&program, noise, &settings).unwrap();
        let verdict = |wrong: &mut Records, factor: f64| {
            let mut q = program.q().to_vec();
            for loss in &local.form.losses {
                q[loss.slack] *= factor;
            }
            let (p, a, b) = (program.p(), program.a(), program.b());
            let cones = program.constraints().iter().map(|c| c.cone().clone());
            let cones = cones.collect();
            let costly = Program::assembled(p.clone(), q, a.clone(), b.to_vec(), 0.0, cones);
            let found = local.solve(&costly, wrong, &settings).unwrap();
            let variance = plan.law().variance();
            let answer = local.back(&program, records.clone(), &found, variance);
            answer.residuals.pass(settings.tolerance())
        };
        let shifted = |factor: f64| Records {
            columns: records.columns.clone(),
            rooms: records.rooms.scaled(factor),
        };
        assert!(verdict(&mut shifted(1.0), 1.0));
        assert!(!verdict(&mut shifted(1.001), 1.0), "a shifted hinge");
        assert!(!verdict(&mut shifted(0.5), 1.0), "half the room");
        assert!(!verdict(&mut shifted(1.0), 2.0), "a doubled slope");
    }
}
