//! Composition: what several charges spend together.

use super::convert::{Counted, Share, shares};
use super::{Amount, Basis, Budget, Charge, Composition, Neighbourhood, Part, Relation};
use serde::Serialize;
use std::collections::BTreeMap;

/// An (ε, δ) guarantee, as exact decimals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pair {
    /// ε.
    pub epsilon: Amount,
    /// δ.
    pub delta: Amount,
}

/// What a set of charges spends together, in one neighbourhood.
///
/// # Guarantee
/// Releases that spend what their charges state, between the neighbours of the total, are together `basic()`-DP, and
/// together `zcdp(δ)`-DP:
/// - basic: ε and δ add up;
/// - optimal: the same, each declared series by its optimal composition ([`super::optimal_epsilon`]);
/// - zCDP at a stated δ: charges with a ρ (stated, or ε²/2 for a pure one) are together Σρ-zCDP, converted by
///   [`zcdp_epsilon`] at δ' = δ − Σδᵢ over the charges without ρ, whose (εᵢ, δᵢ) are added on top. (Each of these is a
///   mixture that with probability δᵢ tells everything and otherwise keeps every loss within εᵢ, so given no such
///   accident the total loss is at most Σεᵢ plus that of the zCDP part.)
///
/// Charges of disjoint parts add up inside a part, and the largest part counts; charges without a part count in all. Where
/// a replaced record may leave its part for another, the two largest add up. For neighbours that differ in several parts at
/// once (ℓ₁, ℓ₂, a universe) parts are of no account. (M16.)
///
/// Nothing is rounded but ρ and the conversions, and these upward; the order of the charges is of no account. Tests:
/// `totals_do_not_depend_on_the_order`, `the_smaller_of_basic_and_zcdp_is_reported`,
/// `disjoint_parts_count_by_the_largest_and_only_for_one_entry_or_record`.
#[derive(Clone, Debug, PartialEq)]
pub struct Total {
    asked: Neighbourhood,
    charges: u64,
    weakest: Option<Basis>,
    /// Charges without a part.
    whole: Sum,
    /// Charges of each part.
    parts: BTreeMap<String, Sum>,
    /// A replaced record may leave its part.
    moves: bool,
}

/// Sums of charges that all meet the same neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sum {
    basic: Pair,
    /// The same, each declared series by its optimal composition.
    planned: Pair,
    /// Σρ over the charges that have one.
    rho: Amount,
    /// Σ(ε, δ) over the charges that have none.
    rest: Pair,
    /// The share of pairs left out by sampled charges, and the risk that this is wrong.
    gamma: Amount,
    beta: Amount,
}

impl Sum {
    const NOTHING: Sum = Sum {
        basic: Pair::NOTHING,
        planned: Pair::NOTHING,
        rho: Amount::ZERO,
        rest: Pair::NOTHING,
        gamma: Amount::ZERO,
        beta: Amount::ZERO,
    };

    fn add(&mut self, counted: &Counted) {
        self.basic = self.basic.plus(&counted.basic);
        self.planned = self.planned.plus(&counted.planned);
        match &counted.rho {
            Some(rho) => self.rho = self.rho.plus(rho),
            None => self.rest = self.rest.plus(&counted.basic),
        }
        self.gamma = self.gamma.plus(&counted.gamma);
        self.beta = self.beta.plus(&counted.beta);
    }

    fn plus(&self, other: &Sum) -> Sum {
        Sum {
            basic: self.basic.plus(&other.basic),
            planned: self.planned.plus(&other.planned),
            rho: self.rho.plus(&other.rho),
            rest: self.rest.plus(&other.rest),
            gamma: self.gamma.plus(&other.gamma),
            beta: self.beta.plus(&other.beta),
        }
    }

    /// Every amount the larger of the two.
    fn or(&self, other: &Sum) -> Sum {
        let larger = |a: &Amount, b: &Amount| a.max(b).clone();
        let pair = |a: &Pair, b: &Pair| Pair {
            epsilon: larger(&a.epsilon, &b.epsilon),
            delta: larger(&a.delta, &b.delta),
        };
        Sum {
            basic: pair(&self.basic, &other.basic),
            planned: pair(&self.planned, &other.planned),
            rho: larger(&self.rho, &other.rho),
            rest: pair(&self.rest, &other.rest),
            gamma: larger(&self.gamma, &other.gamma),
            beta: larger(&self.beta, &other.beta),
        }
    }

    fn zcdp(&self, delta: f64) -> Option<Pair> {
        let delta = Amount::new(delta)?;
        let rest = delta.minus(&self.rest.delta);
        // One step further down: the decimal of an f64 may lie above it.
        let (rho, left) = (self.rho.up().next_up(), rest.down().next_down());
        if self.rho.is_zero() || !(left > 0.0) {
            return None;
        }
        let epsilon = Amount::at_least(zcdp_epsilon(rho, left))?.plus(&self.rest.epsilon);
        Some(Pair { epsilon, delta })
    }
}

impl Total {
    /// The total of no charges, between these neighbours.
    pub fn nothing(asked: &Neighbourhood) -> Total {
        Total {
            asked: asked.clone(),
            charges: 0,
            weakest: None,
            whole: Sum::NOTHING,
            parts: BTreeMap::new(),
            moves: false,
        }
    }

    /// The total of some charges between these neighbours, or why one of them cannot be counted there.
    pub fn of<'c>(
        asked: &Neighbourhood,
        charges: impl IntoIterator<Item = &'c Charge>,
    ) -> Result<Total, String> {
        let mut total = Total::nothing(asked);
        for charge in charges {
            total.add(charge)?;
        }
        Ok(total)
    }

    /// The total after one more charge, or why it cannot be counted.
    pub fn with(&self, charge: &Charge) -> Result<Total, String> {
        let mut total = self.clone();
        total.add(charge)?;
        Ok(total)
    }

    pub(super) fn add(&mut self, charge: &Charge) -> Result<(), String> {
        let has_parts = matches!(
            self.asked.relation(),
            Relation::OneEntry { .. } | Relation::OneRecord { .. }
        );
        for Share { part, counted } in shares(charge, &self.asked)? {
            match part.filter(|_| has_parts) {
                None => self.whole.add(&counted),
                Some(part) => {
                    self.moves |= part.moves();
                    let sum = self.parts.entry(part.name().into());
                    sum.or_insert(Sum::NOTHING).add(&counted);
                }
            }
        }
        self.charges += 1;
        self.weakest = self.weakest.max(Some(charge.basis()));
        // Sampled charges have no parts.
        let one = Amount::new(1.0).unwrap_or(Amount::ZERO);
        if self.whole.gamma >= one || self.whole.beta >= one {
            return Err(
                "the shares γ, or the risks β, of the sampled charges add up to 1 or more".into(),
            );
        }
        Ok(())
    }

    /// What each neighbour can meet: one line for every part, with what counts in all.
    fn lines(&self) -> Vec<Sum> {
        if self.parts.is_empty() {
            return vec![self.whole.clone()];
        }
        if !self.moves {
            return self
                .parts
                .values()
                .map(|part| self.whole.plus(part))
                .collect();
        }
        // The two largest, amount by amount: what goes down in one part comes up in the other.
        let mut largest = (Sum::NOTHING, Sum::NOTHING);
        for part in self.parts.values() {
            largest = largest.0.two_largest(&largest.1, part);
        }
        vec![self.whole.plus(&largest.0).plus(&largest.1)]
    }

    /// Between which neighbours.
    pub fn neighbourhood(&self) -> &Neighbourhood {
        &self.asked
    }

    /// How many charges.
    pub fn charges(&self) -> u64 {
        self.charges
    }

    /// The weakest basis among them, which is the basis of the total.
    pub fn weakest(&self) -> Option<Basis> {
        self.weakest
    }

    /// Whether some charges are of a part of the dataset.
    pub fn has_parts(&self) -> bool {
        !self.parts.is_empty()
    }

    /// A part that no charge is of, and that a replaced record may leave if this one or any other may.
    pub(super) fn unspent_part(&self, moves: bool) -> Part {
        let names = (0..=self.parts.len()).map(|k| format!("part {k}"));
        let mut free = names.filter(|name| !self.parts.contains_key(name));
        Part::unspent(free.next().unwrap_or_default(), moves || self.moves)
    }

    /// Every amount the largest of any part.
    fn largest(&self) -> Sum {
        let lines = self.lines();
        lines
            .iter()
            .fold(Sum::NOTHING, |largest, line| largest.or(line))
    }

    /// The total ρ of the charges that have one.
    pub fn rho(&self) -> Amount {
        self.largest().rho
    }

    /// By basic composition.
    pub fn basic(&self) -> Pair {
        self.largest().basic
    }

    /// The share of pairs that sampled charges leave out, and the risk that this is wrong.
    pub fn left_out(&self) -> (Amount, Amount) {
        let Sum { gamma, beta, .. } = self.largest();
        (gamma, beta)
    }

    /// By zCDP at a stated δ; none where nothing has a ρ or the charges without one use up δ.
    pub fn zcdp(&self, delta: f64) -> Option<Pair> {
        let lines = self.lines();
        let each: Option<Vec<Pair>> = lines.iter().map(|line| line.zcdp(delta)).collect();
        each?.into_iter().max_by(|a, b| a.epsilon.cmp(&b.epsilon))
    }

    /// By basic composition, each declared series by its optimal one.
    pub fn optimal(&self) -> Pair {
        self.largest().planned
    }

    /// The smallest ε of basic composition, optimal composition of declared series, and zCDP at the stated δ, with the
    /// composition that gives it. Basic composition where nothing stays within δ.
    pub fn smaller(&self, delta: f64) -> (Pair, &'static str) {
        self.smallest(delta, true)
    }

    fn smallest(&self, delta: f64, with_zcdp: bool) -> (Pair, &'static str) {
        let most = Amount::new(delta).unwrap_or(Amount::ZERO);
        let candidates = [
            Some((self.basic(), "basic")),
            Some((self.optimal(), "optimal")),
            self.zcdp(delta)
                .filter(|_| with_zcdp)
                .map(|zcdp| (zcdp, "zcdp")),
        ];
        let within = candidates
            .into_iter()
            .flatten()
            .filter(|(pair, _)| pair.delta <= most);
        // The first of equals: the plainest.
        let smallest = within.min_by(|a, b| a.0.epsilon.cmp(&b.0.epsilon));
        smallest.unwrap_or_else(|| (self.basic(), "basic"))
    }

    /// The total by a budget's own composition, with the composition that gives it.
    pub fn against(&self, budget: &Budget) -> (Pair, &'static str) {
        self.smallest(budget.delta(), budget.composition() == Composition::Smaller)
    }

    /// Whether this fits a budget.
    pub fn fits(&self, budget: &Budget) -> bool {
        let (epsilon, delta) = budget.amounts();
        let (spent, _) = self.against(budget);
        spent.epsilon <= epsilon && spent.delta <= delta
    }
}

impl Sum {
    /// Amount by amount, the two largest of three.
    fn two_largest(&self, second: &Sum, third: &Sum) -> (Sum, Sum) {
        let first = self.or(third);
        // Of the two that are not the first, the larger.
        let lesser = |a: &Amount, b: &Amount| a.min(b).clone();
        let pair = |a: &Pair, b: &Pair| Pair {
            epsilon: lesser(&a.epsilon, &b.epsilon),
            delta: lesser(&a.delta, &b.delta),
        };
        let lost = Sum {
            basic: pair(&self.basic, &third.basic),
            planned: pair(&self.planned, &third.planned),
            rho: lesser(&self.rho, &third.rho),
            rest: pair(&self.rest, &third.rest),
            gamma: lesser(&self.gamma, &third.gamma),
            beta: lesser(&self.beta, &third.beta),
        };
        (first, second.or(&lost))
    }
}

impl Pair {
    pub(super) const NOTHING: Pair = Pair {
        epsilon: Amount::ZERO,
        delta: Amount::ZERO,
    };

    fn plus(&self, other: &Pair) -> Pair {
        Pair {
            epsilon: self.epsilon.plus(&other.epsilon),
            delta: self.delta.plus(&other.delta),
        }
    }
}

/// The ε for which ρ-zCDP implies (ε, δ)-DP: the smallest over the orders α of Rényi divergence, rounded up.
///
/// # Guarantee
/// Every ρ-zCDP mechanism is (ε, δ)-DP. For L the privacy loss, every α > 1 and x = L − ε:
///
/// δ(ε) = E\[max(0, 1 − e^−x)\] ≤ c·E\[e^{(α−1)x}\], where c = max over x of (1 − e^−x)·e^{−(α−1)x} = (1/α)(1 − 1/α)^{α−1},
/// attained at e^−x = 1 − 1/α. By zCDP, E\[e^{(α−1)L}\] ≤ e^{(α−1)αρ}. Setting the product to δ, with a = α − 1:
///
/// ε = (1+a)ρ + (ln(1/δ) − ln(1+a))/a − ln(1 + 1/a).
///
/// Each a > 0 gives a valid ε (Canonne, Kamath and Steinke 2020, proposition 12); at a = √(ln(1/δ)/ρ) the first two terms
/// alone, without − ln(1+a)/a, are Bun and Steinke's ρ + 2√(ρ ln(1/δ)), so the result is never larger. Test:
/// `zcdp_conversion_lies_between_the_exact_gaussian_and_bun_steinke`.
///
/// Infinite unless ρ is positive and 0 < δ < 1.
pub fn zcdp_epsilon(rho: f64, delta: f64) -> f64 {
    if !(rho > 0.0 && rho.is_finite() && delta > 0.0 && delta < 1.0) {
        return f64::INFINITY;
    }
    let at = |ln_a: f64| {
        let a = ln_a.exp();
        let terms = [
            rho,
            a * rho,
            -delta.ln() / a,
            -a.ln_1p() / a,
            -a.recip().ln_1p(),
        ];
        let sum: f64 = terms.iter().sum();
        // Each term is within a few rounding steps of its value, and so is each partial sum.
        let size: f64 = terms.iter().map(|term| term.abs()).sum();
        sum + 32.0 * f64::EPSILON * size
    };
    // The minimum lies near Bun and Steinke's; a golden-section search need not be exact, as every point is valid.
    let centre = 0.5 * (-delta.ln() / rho).ln();
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (centre - 5.0, centre + 5.0);
    for _ in 0..60 {
        let step = golden * (high - low);
        if at(high - step) <= at(low + step) {
            high = low + step;
        } else {
            low = high - step;
        }
    }
    let best = at(centre).min(at(0.5 * (low + high)));
    if best.is_nan() {
        f64::INFINITY
    } else {
        best.max(0.0)
    }
}
