//! Optimal composition of pure charges whose amounts were fixed in advance: Kairouz, Oh and Viswanath (2015) for equal
//! ones, Murtagh and Vadhan (2016) for unequal ones, rounded up on a grid.

/// Pure releases of the same ε.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equal {
    /// ε of each.
    pub epsilon: f64,
    /// How many.
    pub count: u64,
}

/// The smallest ε_g for which pure releases of these amounts, **all fixed in advance**, are together (ε_g, δ)-DP; rounded
/// up. Infinite unless 0 < δ < 1.
///
/// # Guarantee
/// Any releases that keep these ε's, with questions that may follow earlier answers and amounts that may not, are together
/// (ε_g, δ)-differentially private. For k equal amounts ε_g is the smallest with
///
/// Σ_l C(k,l)·\[e^{(k−l)ε} − e^{ε_g + lε}\]₊ / (1+e^ε)^k ≤ δ,
///
/// which k randomised responses attain: nothing smaller is true. Unequal amounts are each rounded up to a multiple of
/// 1/`GRID` of the largest, which is a weaker promise of the same kind, and their sum over all subsets is then summed by
/// the subset's total. **False for amounts chosen along the way**: promised δ = 0.01, true 0.0133. (M16.) Tests:
/// `equal_charges_compose_as_brute_force_over_all_outcomes_says`, `unequal_charges_never_count_less_than_brute_force`,
/// `optimal_composition_is_false_for_amounts_chosen_along_the_way`.
pub fn optimal_epsilon(amounts: &[Equal], delta: f64) -> f64 {
    let amounts: Vec<Equal> = amounts.iter().copied().filter(|a| a.count > 0).collect();
    let sound = |a: &Equal| a.epsilon > 0.0 && a.epsilon.is_finite();
    if !(delta > 0.0 && delta < 1.0 && amounts.iter().all(sound)) {
        return f64::INFINITY;
    }
    let basic: f64 = amounts.iter().map(|a| a.epsilon * a.count as f64).sum();
    let basic = basic * ABOVE;
    let Some(losses) = Losses::new(&amounts) else {
        return basic;
    };
    // δ(ε_g) falls from ε_g = 0 to the basic sum, where it is 0.
    let (mut low, mut high) = (0.0, basic);
    if losses.delta(0.0) <= delta {
        return 0.0;
    }
    for _ in 0..200 {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if losses.delta(middle) <= delta {
            high = middle;
        } else {
            low = middle;
        }
    }
    // One step of rounding in ε moves δ by about as much.
    (high * ABOVE).min(basic)
}

/// More than the roundings of a sum of that many terms.
const ABOVE: f64 = 1.0 + 1e-12;

/// Unequal amounts are rounded up to a multiple of this share of the largest.
const GRID: f64 = 1024.0;

/// No composition is computed over more places than this: the basic sum is told instead.
const MOST_PLACES: f64 = 1e5;

/// Nor over more additions than this.
const MOST_WORK: f64 = 2e7;

/// The privacy loss of randomised responses with these ε's: at each place of a grid, the logarithm of its probability.
struct Losses {
    /// The grid's step.
    step: f64,
    /// ln Pr[loss = (2j − n)·step], j = 0 … n.
    log_probability: Vec<f64>,
    /// How many responses: each adds a few roundings to every probability.
    responses: f64,
}

impl Losses {
    fn new(amounts: &[Equal]) -> Option<Losses> {
        let largest = amounts.iter().map(|a| a.epsilon).fold(0.0, f64::max);
        let is_equal = amounts.iter().all(|a| a.epsilon == largest);
        let step = match is_equal {
            true => largest,
            false => largest / GRID * (1.0 + 8.0 * f64::EPSILON),
        };
        // Rounded up: a larger ε is a weaker promise.
        let places = |a: &Equal| match is_equal {
            true => 1.0,
            false => (a.epsilon / step).ceil().max(1.0),
        };
        let all: f64 = amounts.iter().map(|a| places(a) * a.count as f64).sum();
        let work: f64 = amounts.iter().map(|a| all * a.count as f64).sum();
        if !(all <= MOST_PLACES && (is_equal || work <= MOST_WORK)) {
            return None;
        }
        if is_equal {
            let count: u64 = amounts.iter().map(|a| a.count).sum();
            return Some(Losses::equal(largest, count));
        }
        // One response after the other: Pr[truth] = e^ε/(1+e^ε) moves the loss up by ε, else down.
        let mut probability = vec![1.0f64];
        for amount in amounts {
            let width = places(amount) as usize;
            let epsilon = width as f64 * step;
            let truth = 1.0 / (1.0 + (-epsilon).exp());
            let lie = 1.0 / (1.0 + epsilon.exp());
            for _ in 0..amount.count {
                let mut next = vec![0.0; probability.len() + width];
                for (j, p) in probability.iter().enumerate() {
                    next[j] += p * lie;
                    next[j + width] += p * truth;
                }
                probability = next;
            }
        }
        let log_probability = probability.into_iter().map(f64::ln).collect();
        Some(Losses {
            step,
            log_probability,
            responses: amounts.iter().map(|a| a.count as f64).sum(),
        })
    }

    /// C(k, j)·e^{jε}/(1+e^ε)^k.
    fn equal(epsilon: f64, count: u64) -> Losses {
        let k = count as f64;
        // ln(1+e^ε) = ε + ln(1+e^{−ε})
        let whole = k * (epsilon + (-epsilon).exp().ln_1p());
        let mut choose = 0.0; // ln C(k, j)
        let log_probability = (0..=count).map(|j| {
            let at = choose + j as f64 * epsilon - whole;
            choose += ((count - j) as f64).ln() - ((j + 1) as f64).ln();
            at
        });
        let log_probability: Vec<f64> = log_probability.collect();
        Losses {
            step: epsilon,
            log_probability,
            responses: k,
        }
    }

    /// Σ Pr[L]·\[1 − e^{ε_g − L}\]₊, rounded up.
    fn delta(&self, epsilon: f64) -> f64 {
        let top = self.log_probability.len() - 1;
        // What underflows is less than this.
        let mut sum = 1e-300;
        for (j, log) in self.log_probability.iter().enumerate().rev() {
            let loss = (2.0 * j as f64 - top as f64) * self.step;
            if loss <= epsilon {
                break;
            }
            if *log == f64::NEG_INFINITY {
                continue;
            }
            // A logarithm that is off by its own rounding is off by as much as it is large.
            let size = (1.0 + log.abs() + loss.abs()) * (1.0 + self.responses);
            sum += log.exp() * -(epsilon - loss).exp_m1() * (1.0 + 4.0 * f64::EPSILON * size);
        }
        // The terms are positive: summing n of them is off by n steps at most.
        sum * (1.0 + 4.0 * f64::EPSILON * (top + 1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every outcome of randomised responses with these ε's, as the losses that they are.
    fn brute_force(epsilons: &[f64], epsilon: f64) -> f64 {
        let mut delta = 0.0;
        for outcome in 0..1u32 << epsilons.len() {
            let (mut here, mut there) = (1.0, 1.0);
            for (i, e) in epsilons.iter().enumerate() {
                let (truth, lie) = (1.0 / (1.0 + (-e).exp()), 1.0 / (1.0 + e.exp()));
                let is_true = outcome >> i & 1 == 1;
                here *= if is_true { truth } else { lie };
                there *= if is_true { lie } else { truth };
            }
            delta += f64::max(0.0, here - epsilon.exp() * there);
        }
        delta
    }

    #[test]
    fn equal_charges_compose_as_brute_force_over_all_outcomes_says() {
        for (epsilon, count) in [(1.0, 1), (0.1, 12), (0.5, 9), (2.0, 5), (1e-3, 10)] {
            let losses = Losses::new(&[Equal { epsilon, count }]).unwrap();
            let all = vec![epsilon; count as usize];
            for share in [0.0, 0.13, 0.5, 0.9] {
                let at = share * epsilon * count as f64;
                let (found, truth) = (losses.delta(at), brute_force(&all, at));
                assert!(
                    (found - truth).abs() < 1e-13,
                    "{epsilon} {count}: {found} {truth}"
                );
                if truth > 0.0 && truth < 1.0 {
                    // At the true δ, ε_g is where it was, and never below.
                    let back = optimal_epsilon(&[Equal { epsilon, count }], truth);
                    assert!(
                        back >= at * (1.0 - 1e-11) && back <= at + 1e-6,
                        "{at} {back}"
                    );
                    assert!(brute_force(&all, back) <= truth * (1.0 + 1e-12));
                }
            }
        }
    }

    #[test]
    fn unequal_charges_never_count_less_than_brute_force() {
        let cases: [&[f64]; 3] = [
            &[0.1, 0.2, 0.3, 0.4, 0.5],
            &[1.0, 0.017, 0.3, 0.3, 0.77, 0.77, 0.2],
            &[0.031, 2.0, 0.5],
        ];
        for all in cases {
            let amounts: Vec<Equal> = all
                .iter()
                .map(|&epsilon| Equal { epsilon, count: 1 })
                .collect();
            for delta in [1e-6, 1e-3, 0.01, 0.1] {
                let found = optimal_epsilon(&amounts, delta);
                assert!(brute_force(all, found) <= delta, "{all:?} {delta} {found}");
                // The grid costs at most a thousandth of the largest for each.
                let less = found
                    - 2.0 * all.len() as f64 * all.iter().fold(0.0f64, |m, e| m.max(*e)) / GRID;
                assert!(
                    less <= 0.0 || brute_force(all, less) > delta,
                    "{all:?} {delta} {found}"
                );
            }
        }
    }

    /// A day of 24 hours at ε = 0.1: 2.4 by the sum; the formula by hand at δ = 1e-6 lies well below.
    #[test]
    fn a_day_of_hours_costs_less_than_its_sum() {
        let day = [Equal {
            epsilon: 0.1,
            count: 24,
        }];
        let found = optimal_epsilon(&day, 1e-6);
        assert!(found < 2.0 && found > 1.5, "{found}");
        assert!(optimal_epsilon(&day, 1e-12) <= 2.4 * ABOVE);
        for delta in [0.0, 1.0, f64::NAN] {
            assert_eq!(optimal_epsilon(&day, delta), f64::INFINITY);
        }
        assert_eq!(optimal_epsilon(&[], 0.1), 0.0);
    }
}
