//! Exact binomial facts: sample sizes, confidence intervals, p-values (M5b, M5c, M8, M10).

use super::binomial::{at_least, at_most};
use super::error::{NoiseError, open_probability};

/// More trials than this are refused; sums over them would take seconds and lose digits.
const MOST_TRIALS: u64 = 1_000_000_000_000;

/// Room for the rounding of binomial sums (measured below 1e-11 up to 1e12 trials).
const ROUNDING: f64 = 1e-10;

/// The number of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleSize {
    /// The smallest that the binomial tail allows.
    Exact,
    /// The paper's explicit formula.
    Paper,
}

/// Σ_{i<d} C(S, i) η^i (1−η)^{S−i}: the chance that S draws hit an event of probability η fewer
/// than d times.
///
/// # Guarantee
/// The exact sum, to a relative 1e-10. It bounds the probability that the optimum of a convex
/// program with d decision variables and S independent scenarios is violated with probability more
/// than η (Campi and Garatti 2008; with d = 2k for the sampled box). (M5b, M5c)
pub fn binomial_lower_tail(samples: u64, d: u64, eta: f64) -> Result<f64, NoiseError> {
    let samples = trials_in_range(samples)?;
    let eta = open_probability("violation probability η", eta)?;
    Ok(fewer_than(samples, d, eta))
}

fn fewer_than(samples: u64, d: u64, eta: f64) -> f64 {
    if d == 0 {
        0.0
    } else {
        at_most(samples, d - 1, (eta, 1.0 - eta))
    }
}

/// The smallest S with `binomial_lower_tail(S, d, η)` ≤ β.
///
/// # Guarantee
/// With S independent scenarios and d decision variables (2k for the sampled box) the violation
/// probability is at most η with confidence 1 − β. Assumes a convex program with a unique or
/// tie-broken optimum. (M5b, M5c)
pub fn exact_samples(d: u64, eta: f64, beta: f64) -> Result<u64, NoiseError> {
    let d = positive_count("number d of decision variables", d)?;
    let eta = open_probability("violation probability η", eta)?;
    let beta = open_probability("confidence parameter β", beta)?;
    let enough = |samples: u64| fewer_than(samples, d, eta) * (1.0 + ROUNDING) <= beta;
    // Below d samples the tail is 1.
    let (mut low, mut high) = (d - 1, d);
    while !enough(high) {
        if high == MOST_TRIALS {
            return Err(too_many("the exact sample size"));
        }
        low = high;
        high = (2 * high).min(MOST_TRIALS);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(high)
}

/// The paper's ⌈(1/η)(e/(e−1))(2k−1+ln 1/β)⌉ for the sampled box of k noises.
///
/// # Guarantee
/// At least `exact_samples(2k, η, β)`, so its claim holds, too. (M5b)
pub fn paper_box_samples(k: u64, eta: f64, beta: f64) -> Result<u64, NoiseError> {
    let k = positive_count("number k of noise terms", k)? as f64;
    let eta = open_probability("violation probability η", eta)?;
    let beta = open_probability("confidence parameter β", beta)?;
    let e = std::f64::consts::E;
    let count = e / (e - 1.0) * (2.0 * k - 1.0 - beta.ln()) / eta;
    whole("the paper's box", count.ceil())
}

/// The paper's ⌈d/(ηβ) − 1⌉ (Calafiore and Campi 2006) for d decision variables.
///
/// A figure within a relative 1e-12 of an integer counts as that integer, so that decimal η and β
/// give the printed number.
///
/// # Guarantee
/// At least `exact_samples(d, η, β)`: by Markov's inequality. (M5c)
pub fn paper_scenario_samples(d: u64, eta: f64, beta: f64) -> Result<u64, NoiseError> {
    let d = positive_count("number d of decision variables", d)?;
    let eta = open_probability("violation probability η", eta)?;
    let beta = open_probability("confidence parameter β", beta)?;
    explicit(
        "the paper's scenario program",
        d as f64 / (eta * beta) - 1.0,
    )
}

/// The smallest S with (1−γ)^S ≤ β, ⌈ln β/ln(1−γ)⌉.
///
/// # Guarantee
/// The maximum over S independent pairs exceeds the value of all but a share γ of pairs with
/// confidence 1 − β. (M8, sampled sensitivity)
pub fn pair_samples_exact(gamma: f64, beta: f64) -> Result<u64, NoiseError> {
    let gamma = open_probability("share γ of pairs", gamma)?;
    let beta = open_probability("confidence parameter β", beta)?;
    whole(
        "the exact number of pairs",
        (beta.ln() / (-gamma).ln_1p()).ceil(),
    )
}

/// The paper's ⌈1/(γβ) − 1⌉ pairs, with the same reading of decimals as
/// [`paper_scenario_samples`].
///
/// # Guarantee
/// At least [`pair_samples_exact`], so its claim holds, too. (M8)
pub fn pair_samples_paper(gamma: f64, beta: f64) -> Result<u64, NoiseError> {
    let gamma = open_probability("share γ of pairs", gamma)?;
    let beta = open_probability("confidence parameter β", beta)?;
    explicit("the paper's number of pairs", 1.0 / (gamma * beta) - 1.0)
}

/// The two-sided Clopper–Pearson interval for a probability.
///
/// # Guarantee
/// In independent trials the interval covers the true probability with probability at least 1 − α,
/// α/2 missing on either side; rounded outward. (M5, M10)
pub fn clopper_pearson(successes: u64, trials: u64, alpha: f64) -> Result<(f64, f64), NoiseError> {
    let half = 0.5 * open_probability("error rate α", alpha)?;
    let low = clopper_pearson_lower(successes, trials, half)?;
    Ok((low, clopper_pearson_upper(successes, trials, half)?))
}

/// The one-sided lower Clopper–Pearson bound: the p at which Pr\[Bin(n, p) ≥ successes\] = α.
///
/// # Guarantee
/// At most the true probability with probability at least 1 − α; rounded down. (M10)
pub fn clopper_pearson_lower(successes: u64, trials: u64, alpha: f64) -> Result<f64, NoiseError> {
    check_counts(successes, trials)?;
    let alpha = open_probability("error rate α", alpha)?;
    if successes == 0 {
        return Ok(0.0);
    }
    let rejects = |p: f64| at_least(trials, successes, (p, 1.0 - p)) <= alpha;
    let (low, _) = bisect(rejects);
    Ok(low * (1.0 - ROUNDING))
}

/// The one-sided upper Clopper–Pearson bound: the p at which Pr\[Bin(n, p) ≤ successes\] = α.
///
/// # Guarantee
/// At least the true probability with probability at least 1 − α; rounded up. (M5, M10)
pub fn clopper_pearson_upper(successes: u64, trials: u64, alpha: f64) -> Result<f64, NoiseError> {
    check_counts(successes, trials)?;
    let alpha = open_probability("error rate α", alpha)?;
    if successes == trials {
        return Ok(1.0);
    }
    let accepts = |p: f64| at_most(trials, successes, (p, 1.0 - p)) > alpha;
    let (_, high) = bisect(accepts);
    Ok((high * (1.0 + ROUNDING)).min(1.0))
}

/// Pr\[Bin(n, p) ≥ successes\]: the p-value of so many successes under a success probability of at
/// most p.
///
/// # Guarantee
/// Rejecting "the success probability is at most p" where this is at most α errs with probability
/// at most α. The exact sum, to a relative 1e-10. (M10)
pub fn binomial_upper_pvalue(successes: u64, trials: u64, p: f64) -> Result<f64, NoiseError> {
    check_counts(successes, trials)?;
    if !(0.0..=1.0).contains(&p) {
        let (what, range) = ("success probability p", "[0, 1]");
        return Err(NoiseError::OutOfRange {
            what,
            found: p,
            range,
        });
    }
    Ok(at_least(trials, successes, (p, 1.0 - p)))
}

/// The last p that `holds` and the first that does not, of a predicate true from 0 up.
fn bisect(holds: impl Fn(f64) -> bool) -> (f64, f64) {
    let (mut low, mut high) = (0.0, 1.0);
    while high - low > 1e-14 * high {
        let p = 0.5 * (low + high);
        if !(low < p && p < high) {
            break;
        }
        if holds(p) {
            low = p;
        } else {
            high = p;
        }
    }
    (low, high)
}

fn trials_in_range(trials: u64) -> Result<u64, NoiseError> {
    if trials <= MOST_TRIALS {
        return Ok(trials);
    }
    let (what, range) = ("number of trials", "[0, 1e12]");
    Err(NoiseError::CountOutOfRange {
        what,
        found: trials,
        range,
    })
}

fn check_counts(successes: u64, trials: u64) -> Result<(), NoiseError> {
    trials_in_range(trials)?;
    if trials == 0 {
        let (what, range) = ("number of trials", "[1, 1e12]");
        return Err(NoiseError::CountOutOfRange {
            what,
            found: trials,
            range,
        });
    }
    if successes > trials {
        return Err(NoiseError::Successes { successes, trials });
    }
    Ok(())
}

fn positive_count(what: &'static str, found: u64) -> Result<u64, NoiseError> {
    if (1..=MOST_TRIALS / 2).contains(&found) {
        return Ok(found);
    }
    let range = "[1, 5e11]";
    Err(NoiseError::CountOutOfRange { what, found, range })
}

fn explicit(what: &'static str, count: f64) -> Result<u64, NoiseError> {
    let nearest = count.round();
    let near = (count - nearest).abs() <= 1e-12 * count.abs();
    whole(what, if near { nearest } else { count.ceil() })
}

fn whole(what: &'static str, count: f64) -> Result<u64, NoiseError> {
    if count <= MOST_TRIALS as f64 {
        Ok((count as u64).max(1))
    } else {
        Err(too_many(what))
    }
}

fn too_many(what: &'static str) -> NoiseError {
    NoiseError::TooManySamples {
        what,
        limit: MOST_TRIALS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_sizes_of_the_paper_and_the_exact_ones() {
        // M5b: one noise, η = 1%, β = 10%: 523 in the paper, 388 exactly; M12: k = 5.
        assert_eq!(paper_box_samples(1, 0.01, 0.1), Ok(523));
        assert_eq!(exact_samples(2, 0.01, 0.1), Ok(388));
        assert_eq!(paper_box_samples(5, 0.1, 0.1), Ok(179));
        // M8: pairs for γ = β = 0.1; M14: γ = 0.05.
        assert_eq!(pair_samples_exact(0.1, 0.1), Ok(22));
        assert_eq!(pair_samples_paper(0.1, 0.1), Ok(99));
        assert_eq!(pair_samples_paper(0.05, 0.1), Ok(199));
        assert_eq!(paper_scenario_samples(1, 0.1, 0.1), Ok(99));
    }

    #[test]
    fn exact_sizes_are_smallest_and_never_above_the_explicit_ones() {
        for d in [1, 2, 7, 40, 500] {
            for (eta, beta) in [(0.01, 0.1), (0.3, 1e-6), (1e-5, 0.5), (0.9, 0.9)] {
                let exact = exact_samples(d, eta, beta).unwrap();
                assert!(binomial_lower_tail(exact, d, eta).unwrap() <= beta);
                assert!(binomial_lower_tail(exact - 1, d, eta).unwrap() > beta * (1.0 - 2e-10));
                assert!(exact <= paper_scenario_samples(d, eta, beta).unwrap());
                if d % 2 == 0 {
                    assert!(exact <= paper_box_samples(d / 2, eta, beta).unwrap());
                }
                if d == 1 {
                    assert_eq!(exact, pair_samples_exact(eta, beta).unwrap());
                }
            }
        }
    }

    #[test]
    fn binomial_sums_match_forty_digits() {
        // S, d, η, Σ_{i<d}. mpmath, 40 digits, term by term.
        for (samples, d, eta, expected) in [
            (388, 2, 0.01, 0.09962062692322864),
            (1000, 3, 0.1, 1.0974495173732747e-42),
            (1_000_000, 10_000, 0.01, 0.4986501274363321),
            (1_000_000, 9_000, 0.01, 7.500425024179226e-25),
            (1_000_000_000, 7, 1e-8, 0.1301414196213738),
        ] {
            let found: f64 = binomial_lower_tail(samples, d, eta).unwrap();
            assert!(
                (found / expected - 1.0).abs() < 1e-12,
                "{samples}, {d}: {found:e}"
            );
            let p_value = binomial_upper_pvalue(d, samples, eta).unwrap();
            assert!((p_value - (1.0 - expected)).abs() < 1e-12);
        }
        assert_eq!(binomial_lower_tail(5, 0, 0.1), Ok(0.0));
        assert_eq!(binomial_lower_tail(5, 6, 0.1), Ok(1.0));
        assert_eq!(binomial_upper_pvalue(1, 5, 0.0), Ok(0.0));
        assert_eq!(binomial_upper_pvalue(5, 5, 1.0), Ok(1.0));
        let tiny = binomial_upper_pvalue(2, 10, 1e-30).unwrap();
        assert!((tiny / 45e-60 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn intervals_match_forty_digits_from_outside() {
        // successes, trials, α, low, high. mpmath, 40 digits, by bisection of the sums.
        for (successes, trials, alpha, low, high) in [
            (0, 10, 0.05, 0.0, 0.30849710781876083),
            (3, 10, 0.05, 0.06673951117773447, 0.6524528500599973),
            (10, 10, 0.05, 0.6915028921812392, 1.0),
            (17, 1000, 1e-6, 0.003786126744337641, 0.046132951430582075),
            (
                1,
                1_000_000,
                0.01,
                5.012541810981495e-9,
                7.430105611978526e-6,
            ),
        ] {
            let (found_low, found_high) = clopper_pearson(successes, trials, alpha).unwrap();
            assert!(found_low <= low && found_low >= low * (1.0 - 1e-9));
            assert!(found_high >= high && found_high <= high * (1.0 + 1e-9));
        }
    }

    #[test]
    fn impossible_counts_are_refused() {
        assert!(clopper_pearson(3, 2, 0.1).is_err() && clopper_pearson(0, 0, 0.1).is_err());
        assert!(clopper_pearson(1, 2, 1.0).is_err() && exact_samples(0, 0.1, 0.1).is_err());
        assert!(exact_samples(5, 1e-14, 0.1).is_err() && pair_samples_exact(0.0, 0.1).is_err());
        assert!(binomial_upper_pvalue(1, 2, f64::NAN).is_err());
        assert!(binomial_lower_tail(u64::MAX, 1, 0.1).is_err());
    }
}
