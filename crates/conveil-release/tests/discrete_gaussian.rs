//! The δ that discrete Gaussian noise really has on its lattice, summed over the integers, against the δ of the card: for
//! the largest move that rounding allows, on fine lattices and on the coarsest that a plan accepts (M7).

use conveil::ask::Privacy;

/// σ and h for a sensitivity of 1, at a step of this share of σ (before the lattice is paid for), or at the default.
fn planned(epsilon: f64, delta: f64, numbers: usize, share: Option<f64>) -> Option<(f64, f64)> {
    let privacy = Privacy::gaussian(epsilon, delta);
    let sigma = privacy.law(1.0).unwrap().scale();
    let law = privacy.lattice_law(1.0, numbers, share.map(|share| share * sigma));
    // A step that would take more than half of δ is refused.
    law.ok().map(|noise| (noise.law().scale(), noise.step()))
}

/// A sum of many small terms, with the rounding of each addition carried along (Kahan).
fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0, 0.0);
    for term in terms {
        let term = term - lost;
        let next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    sum
}

/// Weights e^{−(j/s)²/2} for |j| ≤ reach, and their sum over all integers (what lies beyond 40 s is below 1e-300).
fn weights(scale: f64, reach: i64) -> (Vec<f64>, f64) {
    let weight = |j: i64| (-0.5 * (j as f64 / scale).powi(2)).exp();
    let weights: Vec<f64> = (-reach..=reach).map(weight).collect();
    let whole = sum(weights.iter().copied());
    (weights, whole)
}

/// Σ_j max(0, p(j) − e^ε p(j − m)).
fn delta_of_shift(epsilon: f64, scale: f64, moved: i64) -> f64 {
    let reach = (12.0 * scale).ceil() as i64 + moved;
    let (weights, whole) = weights(scale, reach);
    let shift = moved as usize;
    // Where j − m falls off the list its weight is below e^{−72}.
    let terms = weights.iter().enumerate().map(|(i, w)| {
        let other = i.checked_sub(shift).map_or(0.0, |k| weights[k]);
        (w - epsilon.exp() * other).max(0.0)
    });
    // Large positive j is where the move by −m shows; the sum is the same by symmetry.
    sum(terms) / whole
}

#[test]
fn one_number_never_loses_more_than_its_delta() {
    let mut closest: f64 = 0.0;
    let mut coarse = 0;
    for epsilon in [0.1, 0.5, 1.0, 3.0] {
        for delta in [1e-6, 1e-3, 0.05, 0.3] {
            for share in [
                None,
                Some(1e-3),
                Some(0.01),
                Some(0.1),
                Some(0.3),
                Some(1.0),
            ] {
                // The default lattice has some 10⁷ points to sum: two values of ε do.
                if share.is_none() && epsilon != 0.5 && epsilon != 3.0 {
                    continue;
                }
                let Some((sigma, step)) = planned(epsilon, delta, 1, share) else {
                    continue;
                };
                coarse += u32::from(step > 0.25 * sigma);
                let scale = sigma / step;
                // Answers 1 apart are at most 1/h + 1 steps apart, a whole number.
                let moved = (1.0 / step).floor() as i64 + 1;
                let truth = delta_of_shift(epsilon, scale, moved);
                closest = closest.max(truth / delta);
                assert!(
                    truth <= delta,
                    "ε = {epsilon}, δ = {delta}, h = {step}: {truth}"
                );
            }
        }
    }
    println!("the true δ comes as close as {closest} of the card's; {coarse} coarse lattices");
    assert!(closest > 0.9 && coarse >= 3);
}

/// Two numbers: every move (m₁, m₂) within Δ₂/h + √2, on coarse lattices where all of them can be summed.
#[test]
fn two_numbers_never_lose_more_than_their_delta() {
    let mut tried = 0;
    for (epsilon, delta) in [(0.5, 0.05), (0.5, 0.3), (1.0, 0.1), (2.0, 0.3)] {
        for share in [0.1, 0.2, 0.4, 0.6] {
            let Some((sigma, step)) = planned(epsilon, delta, 2, Some(share)) else {
                continue;
            };
            let scale = sigma / step;
            let farthest = 1.0 / step + 2f64.sqrt();
            let most = farthest.floor() as i64;
            let reach = (9.0 * scale).ceil() as i64 + most;
            let (weights, whole) = weights(scale, reach);
            let at = |j: i64| usize::try_from(j + reach).ok().and_then(|i| weights.get(i));
            // By symmetry 0 ≤ m₂ ≤ m₁; a smaller move along either axis loses less.
            for first in 0..=most {
                let room = (farthest * farthest - (first * first) as f64).sqrt();
                let second = (room.floor() as i64).min(first);
                let mut truth = 0.0;
                for (j, w) in (-reach..).zip(&weights) {
                    for (k, v) in (-reach..).zip(&weights) {
                        let moved = at(j - first).zip(at(k - second));
                        let other = moved.map_or(0.0, |(a, b)| a * b);
                        truth += (w * v - epsilon.exp() * other).max(0.0);
                    }
                }
                truth /= whole * whole;
                tried += 1;
                assert!(
                    truth <= delta,
                    "ε = {epsilon}, δ = {delta}, h = {step}, ({first}, {second}): {truth}"
                );
            }
        }
    }
    assert!(tried > 20, "{tried}");
}
