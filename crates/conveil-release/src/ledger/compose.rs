//! Composition: what several charges spend together.

use super::{Amount, Basis, Budget, Charge, Composition};
use serde::Serialize;

/// An (ε, δ) guarantee, as exact decimals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pair {
    /// ε.
    pub epsilon: Amount,
    /// δ.
    pub delta: Amount,
}

/// What a set of charges spends together.
///
/// # Guarantee
/// Releases that spend what their charges state are together `basic()`-DP, and together `zcdp(δ)`-DP:
/// - basic: ε and δ add up;
/// - zCDP at a stated δ: charges with a ρ (stated, or ε²/2 for a pure one) are together Σρ-zCDP, converted by
///   [`zcdp_epsilon`] at δ' = δ − Σδᵢ over the charges without ρ, whose (εᵢ, δᵢ) are added on top. (Each of these is a
///   mixture that with probability δᵢ tells everything and otherwise keeps every loss within εᵢ, so given no such
///   accident the total loss is at most Σεᵢ plus that of the zCDP part.)
///
/// Nothing is rounded but ρ and the conversion, and these upward; the order of the charges is of no account. Tests:
/// `totals_do_not_depend_on_the_order`, `the_smaller_of_basic_and_zcdp_is_reported`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Total {
    charges: u64,
    weakest: Option<Basis>,
    basic: Pair,
    /// Σρ over the charges that have one.
    rho: Amount,
    /// Σ(ε, δ) over the charges that have none.
    rest: Pair,
}

impl Total {
    /// The total of no charges.
    pub const NOTHING: Total = Total {
        charges: 0,
        weakest: None,
        basic: Pair::NOTHING,
        rho: Amount::ZERO,
        rest: Pair::NOTHING,
    };

    /// The total of some charges.
    pub fn of<'c>(charges: impl IntoIterator<Item = &'c Charge>) -> Total {
        charges.into_iter().fold(Total::NOTHING, |t, c| t.with(c))
    }

    /// The total after one more charge.
    #[must_use]
    pub fn with(&self, charge: &Charge) -> Total {
        let mut total = self.clone();
        total.charges += 1;
        total.weakest = total.weakest.max(Some(charge.basis()));
        total.basic.add(charge);
        match charge.zcdp_rho() {
            Some(rho) => total.rho = total.rho.plus(&rho),
            None => total.rest.add(charge),
        }
        total
    }

    /// How many charges.
    pub fn charges(&self) -> u64 {
        self.charges
    }

    /// The weakest basis among them, which is the basis of the total.
    pub fn weakest(&self) -> Option<Basis> {
        self.weakest
    }

    /// The total ρ of the charges that have one.
    pub fn rho(&self) -> &Amount {
        &self.rho
    }

    /// By basic composition.
    pub fn basic(&self) -> &Pair {
        &self.basic
    }

    /// By zCDP at a stated δ; none where nothing has a ρ or the charges without one use up δ.
    pub fn zcdp(&self, delta: f64) -> Option<Pair> {
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

    /// The smaller ε of basic composition and zCDP at the stated δ, with the composition that gives it. Basic composition
    /// where it stays within δ and is no larger, or where zCDP says nothing.
    pub fn smaller(&self, delta: f64) -> (Pair, &'static str) {
        let within = Amount::new(delta).is_some_and(|delta| self.basic.delta <= delta);
        match self.zcdp(delta) {
            Some(zcdp) if !within || zcdp.epsilon < self.basic.epsilon => (zcdp, "zcdp"),
            _ => (self.basic.clone(), "basic"),
        }
    }

    /// The total by a budget's own composition, with the composition that gives it.
    pub fn against(&self, budget: &Budget) -> (Pair, &'static str) {
        match budget.composition() {
            Composition::Basic => (self.basic.clone(), "basic"),
            Composition::Smaller => self.smaller(budget.delta()),
        }
    }

    /// Whether this fits a budget.
    pub fn fits(&self, budget: &Budget) -> bool {
        let (epsilon, delta) = budget.amounts();
        let (spent, _) = self.against(budget);
        spent.epsilon <= epsilon && spent.delta <= delta
    }
}

impl Pair {
    const NOTHING: Pair = Pair {
        epsilon: Amount::ZERO,
        delta: Amount::ZERO,
    };

    fn add(&mut self, charge: &Charge) {
        // A charge's amounts are in range; should one ever not be, its total fits no budget.
        let decimal = |x| Amount::new(x).unwrap_or(Amount::MOST);
        self.epsilon = self.epsilon.plus(&decimal(charge.epsilon()));
        self.delta = self.delta.plus(&decimal(charge.delta()));
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
