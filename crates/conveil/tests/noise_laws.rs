//! Every noise formula against simulation, with fixed seeds.
//!
//! Each assertion on counts is an exact binomial test at 1e-9 and there are fewer than 1000 of
//! them, so that the whole file raises a false alarm with probability below 1e-6 over the choice
//! of seeds.

use conveil::noise::{
    Factor, Law, Sampler, ball_radius, binomial_lower_tail, binomial_upper_pvalue, clopper_pearson,
    named_multiplier, safe_multiplier, weighted_tail, weighted_upper_quantile,
};

const FALSE_ALARM: f64 = 1e-9;

/// Whether `hits` in `trials` is too many for a probability of at most p.
fn too_many(hits: u64, trials: u64, p: f64) -> bool {
    binomial_upper_pvalue(hits, trials, p).unwrap() < FALSE_ALARM
}

/// Whether `hits` in `trials` is too few for a probability of at least p.
fn too_few(hits: u64, trials: u64, p: f64) -> bool {
    binomial_lower_tail(trials, hits + 1, p).unwrap() < FALSE_ALARM
}

fn laws() -> [Law; 4] {
    [
        Law::laplace(2.0).unwrap(),
        Law::gaussian(2.0).unwrap(),
        Law::truncated_laplace(2.0, 5.0).unwrap(),
        Law::truncated_laplace(2.0, 0.4).unwrap(),
    ]
}

fn count(draws: &[f64], hit: impl Fn(f64) -> bool) -> u64 {
    draws.iter().filter(|x| hit(**x)).count() as u64
}

/// Whether draws of `drawn` contradict the tails and boxes of `claimed`.
fn contradicts(drawn: &Law, claimed: &Law, seed: u64) -> bool {
    let mut draws = vec![0.0; 400_000];
    Sampler::new(seed, 0).fill(drawn, &mut draws);
    let trials = draws.len() as u64;
    let mut found = false;
    for q in [1e-4, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99] {
        let x = claimed.upper_quantile(q).unwrap();
        let hits = count(&draws, |zeta| zeta > x);
        found |= too_many(hits, trials, q) || too_few(hits, trials, q);
    }
    for (l, u) in [
        (-0.1, 0.2),
        (-3.0, 1.5),
        (0.1, 0.3),
        (-0.38, -0.2),
        (-4.8, 4.9),
    ] {
        let mass = claimed.mass(l, u);
        let hits = count(&draws, |zeta| l <= zeta && zeta <= u);
        if mass < 1.0 {
            found |= too_many(hits, trials, mass) || too_few(hits, trials, mass);
        } else {
            found |= hits != trials;
        }
    }
    found
}

#[test]
fn draws_follow_their_law_and_no_other() {
    for (seed, law) in laws().iter().enumerate() {
        let seed = seed as u64;
        assert!(!contradicts(law, law, seed), "{law:?}");
        // The same test catches half the scale, two percent more of it, and every other law.
        assert!(
            contradicts(&law.scaled(0.5).unwrap(), law, seed),
            "{law:?} halved"
        );
        assert!(
            contradicts(&law.scaled(1.02).unwrap(), law, seed),
            "{law:?} by 2%"
        );
        for other in laws().iter().filter(|other| *other != law) {
            assert!(contradicts(other, law, seed), "{other:?} taken for {law:?}");
        }
    }
}

#[test]
fn variance_and_cvar_are_those_of_the_draws() {
    // Means over 400 000 draws within 6.5 of their own standard errors: 1e-10 by the central
    // limit theorem, with room for the skewness of the squares.
    let close = |values: &[f64], expected: f64| {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let spread = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
        (mean - expected).abs() <= 6.5 * (spread / n).sqrt()
    };
    for (seed, law) in laws().iter().enumerate() {
        let mut draws = vec![0.0; 400_000];
        Sampler::new(100 + seed as u64, 0).fill(law, &mut draws);
        let squares: Vec<f64> = draws.iter().map(|x| x * x).collect();
        assert!(
            close(&draws, 0.0) && close(&squares, law.variance()),
            "{law:?}"
        );
        assert!(!close(&squares, 0.97 * law.variance()), "{law:?}");
        for q in [0.01, 0.2, 0.5, 0.9] {
            // Rockafellar and Uryasev: CVaR = x + E[(ζ − x)₊]/q at the q-quantile x.
            let x = law.upper_quantile(q).unwrap();
            let excess: Vec<f64> = draws.iter().map(|z| x + (z - x).max(0.0) / q).collect();
            let cvar = law.cvar_factor(q).unwrap();
            assert!(close(&excess, cvar), "{law:?}, q = {q}");
            assert!(!close(&excess, 1.1 * cvar), "{law:?}, q = {q}");
        }
    }
}

#[test]
fn weighted_quantiles_keep_their_share() {
    let rows: [&[f64]; 5] = [
        &[1.0, -1.0],
        &[3.0, 0.0, 1.0, -2.0],
        &[1.0, 1.00001, 1.00002, 1.00003, 1.00004, 1.00005],
        &[1.0, 1e-3, 1e-6, 1e-9, 1e-12],
        &[0.5; 20],
    ];
    for (stream, law) in laws().iter().enumerate() {
        for weights in rows {
            let mut sampler = Sampler::new(200, stream as u64);
            let mut zeta = vec![0.0; weights.len()];
            let mut sum = |law: &Law| -> f64 {
                sampler.fill(law, &mut zeta);
                weights.iter().zip(&zeta).map(|(a, z)| a * z).sum()
            };
            let sums: Vec<f64> = (0..100_000).map(|_| sum(law)).collect();
            let trials = sums.len() as u64;
            for eta in [0.45, 0.2, 0.01, 1e-3] {
                let kappa = weighted_upper_quantile(law, weights, eta).unwrap();
                let hits = count(&sums, |x| x > kappa);
                assert!(
                    !too_many(hits, trials, eta),
                    "{law:?}, {weights:?}, η = {eta}"
                );
                if law.support_bound().is_none() {
                    assert!(
                        !too_few(hits, trials, eta),
                        "{law:?}, {weights:?}, η = {eta}"
                    );
                    // Half the noise scale would be caught.
                    let halved = count(&sums, |x| x > 0.5 * kappa);
                    assert!(too_many(halved, trials, eta) || eta > 0.4);
                }
                let tail = weighted_tail(law, weights, 0.7 * kappa).unwrap();
                let hits = count(&sums, |x| x > 0.7 * kappa);
                assert!(!too_many(hits, trials, tail), "{law:?}, {weights:?}");
            }
        }
    }
}

#[test]
fn safety_multipliers_hold_for_every_proven_factor() {
    for (stream, law) in laws().iter().enumerate() {
        for terms in [1, 2, 10] {
            let mut sampler = Sampler::new(300, stream as u64);
            let mut zeta = vec![0.0; terms];
            // Unit norm, with one weight twice the others.
            let mut weights = vec![1.0; terms];
            weights[0] = 2.0;
            let norm = weights.iter().map(|a| a * a).sum::<f64>().sqrt();
            let mut sum = || -> f64 {
                sampler.fill(law, &mut zeta);
                weights.iter().zip(&zeta).map(|(a, z)| a * z / norm).sum()
            };
            let sums: Vec<f64> = (0..100_000).map(|_| sum()).collect();
            let trials = sums.len() as u64;
            for eta in [0.45, 0.2, 0.01] {
                let safe = safe_multiplier(law, terms, eta).unwrap();
                assert!(
                    !too_many(count(&sums, |x| x > safe), trials, eta),
                    "{law:?}, {terms}"
                );
                for factor in Factor::ALL {
                    let Ok(m) = named_multiplier(law, factor, terms, eta) else {
                        continue;
                    };
                    assert!(m >= safe * (1.0 - 1e-12), "{factor} below the best");
                    assert!(!too_many(count(&sums, |x| x > m), trials, eta), "{factor}");
                }
                // What is exact is exact: one term, or Gaussian noise.
                if terms == 1 || !law.is_laplace_family() {
                    assert!(!too_few(count(&sums, |x| x > safe), trials, eta));
                    assert!(too_many(count(&sums, |x| x > 0.9 * safe), trials, eta) || eta > 0.4);
                }
            }
        }
    }
}

#[test]
fn gaussian_noise_stays_in_its_ball() {
    let law = Law::gaussian(3.0).unwrap();
    for (k, eta) in [(1, 0.1), (2, 0.5), (7, 0.01), (50, 0.2)] {
        let radius = 3.0 * ball_radius(k, eta).unwrap();
        let mut sampler = Sampler::new(400, k as u64);
        let mut zeta = vec![0.0; k];
        let trials = 100_000;
        let mut outside = 0;
        for _ in 0..trials {
            sampler.fill(&law, &mut zeta);
            outside += u64::from(zeta.iter().map(|z| z * z).sum::<f64>() > radius * radius);
        }
        assert!(
            !too_many(outside, trials, eta) && !too_few(outside, trials, eta),
            "k = {k}"
        );
    }
}

#[test]
fn clopper_pearson_covers_every_probability() {
    // Exact coverage at n = 40: the sum of the probabilities of the counts whose interval holds p.
    let (trials, alpha) = (40, 0.05);
    let intervals: Vec<(f64, f64)> = (0..=trials)
        .map(|hits| clopper_pearson(hits, trials, alpha).unwrap())
        .collect();
    for step in 1..200 {
        let p = f64::from(step) / 200.0;
        let mut point = (1.0 - p).powi(40);
        let mut covered = 0.0;
        for (hits, (low, high)) in intervals.iter().enumerate() {
            if *low <= p && p <= *high {
                covered += point;
            }
            point *= (40 - hits) as f64 / (hits + 1) as f64 * p / (1.0 - p);
        }
        assert!(covered >= 1.0 - alpha, "p = {p}: {covered}");
    }
}
