//! Noise formulas against values computed independently in high precision.

use conveil::noise::{Law, safe_multiplier, weighted_tail, weighted_upper_quantile};

const ETAS: [f64; 5] = [0.49, 0.1, 0.01, 1e-6, 1e-12];

/// Weights and the quantiles of Σ aⱼζⱼ for unit Laplace noise at `ETAS`.
///
/// mpmath, 60 to 6500 digits: the root of the partial-fraction tail of M5e at the nearest doubles,
/// with ties broken by relative steps of 1e-40 (1e-25 for the hundred equal weights).
fn references() -> Vec<(&'static str, Vec<f64>, [f64; 5])> {
    let list = |n: i32, f: fn(i32) -> f64| (0..n).map(f).collect::<Vec<_>>();
    vec![
        (
            "one",
            vec![1.0],
            [
                0.020202707317519466,
                1.6094379124341003,
                3.912023005428146,
                13.122363377404328,
                26.937873935368604,
            ],
        ),
        (
            "two",
            vec![1.0, 0.5],
            [
                0.030008808000610683,
                1.8573154130995455,
                4.195933806599426,
                13.4100450748559,
                27.22555600782001,
            ],
        ),
        (
            "six weights 1e-5 apart",
            list(6, |i| 1.0 + 1e-5 * f64::from(i)),
            [
                0.08128181569754085,
                4.326626153876357,
                8.430229571758938,
                21.007034986042726,
                37.305531410149854,
            ],
        ),
        (
            "five equal",
            vec![1.0; 5],
            [
                0.07315217600197674,
                3.931382082464021,
                7.7555884145435,
                19.78937472109418,
                35.667618349047345,
            ],
        ),
        (
            "five in two ties",
            vec![1.0, 1.0, 0.5, 0.5, 0.5],
            [
                0.0526900611376816,
                2.8811390997516733,
                5.850750307297075,
                16.06916473938214,
                30.526363664868803,
            ],
        ),
        (
            "twenty",
            list(20, |i| f64::from(i + 1) / 20.0),
            [
                0.0918846174612015,
                4.7865261257877005,
                9.032605033201929,
                21.126353162599695,
                36.2713645405091,
            ],
        ),
        (
            "twelve orders of magnitude",
            [
                1e0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12,
            ]
            .to_vec(),
            [
                0.022035774528074866,
                1.6195892586692855,
                3.9221743563834908,
                13.132514728359673,
                26.948025286323947,
            ],
        ),
        (
            "hundred harmonic",
            list(100, |i| 1.0 / f64::from(i + 1)),
            [
                0.03980533501911041,
                2.189250189673397,
                4.585366634699016,
                13.80555924681649,
                27.6210707850744,
            ],
        ),
        (
            "hundred equal",
            vec![1.0; 100],
            [
                0.35319676077364326,
                18.09331428037449,
                32.99835085772324,
                68.8006763713738,
                104.7594488108389,
            ],
        ),
    ]
}

#[test]
fn laplace_sum_quantiles_are_never_below_and_within_1e_9_of_the_truth() {
    let law = Law::laplace(1.0).unwrap();
    for (name, weights, quantiles) in references() {
        for (eta, expected) in ETAS.into_iter().zip(quantiles) {
            let kappa = weighted_upper_quantile(&law, &weights, eta).unwrap();
            // The constants are rounded to 1 part in 1e16.
            assert!(
                kappa >= expected * (1.0 - 1e-15),
                "{name}, η = {eta}: {kappa}"
            );
            assert!(
                kappa <= expected * (1.0 + 1e-9),
                "{name}, η = {eta}: {kappa}"
            );
            let tail = weighted_tail(&law, &weights, expected).unwrap();
            let drift = 1e-14 * (1.0 + expected);
            assert!(tail >= eta * (1.0 - drift), "{name}, η = {eta}: {tail:e}");
            assert!(tail <= eta * (1.0 + 1e-9), "{name}, η = {eta}: {tail:e}");
        }
    }
}

#[test]
fn quantiles_scale_with_weights_and_noise_and_ignore_signs_and_order() {
    for (name, weights, quantiles) in references() {
        let law = Law::laplace(1e-3).unwrap();
        let turned: Vec<f64> = weights.iter().rev().map(|a| -7e8 * a).collect();
        for (eta, expected) in ETAS.into_iter().zip(quantiles) {
            let kappa = weighted_upper_quantile(&law, &turned, eta).unwrap();
            assert!(
                (kappa / (7e5 * expected) - 1.0).abs() < 2e-9,
                "{name}, η = {eta}"
            );
        }
    }
}

#[test]
fn quantiles_stay_below_the_proven_factor_and_grow_with_every_weight() {
    let laws = [
        Law::laplace(2.0).unwrap(),
        Law::gaussian(2.0).unwrap(),
        Law::truncated_laplace(2.0, 3.0).unwrap(),
    ];
    for law in laws {
        for eta in [0.499, 0.3, 0.05, 1e-3, 1e-9, 1e-200] {
            let mut weights = Vec::new();
            let mut before = 0.0;
            for j in 0..12 {
                weights.push(1.0 + f64::from(j % 3) * 1e-7);
                let kappa = weighted_upper_quantile(&law, &weights, eta).unwrap();
                let norm = weights.iter().map(|a| a * a).sum::<f64>().sqrt();
                let proven = safe_multiplier(&law, weights.len(), eta).unwrap() * norm;
                assert!(kappa <= proven * (1.0 + 1e-12), "{law:?}, η = {eta}");
                assert!(kappa >= before * (1.0 - 1e-8), "{law:?}, η = {eta}");
                before = kappa;
            }
        }
    }
}

#[test]
fn near_ties_are_continuous_through_the_tie() {
    let law = Law::laplace(1.0).unwrap();
    for eta in [0.3, 0.01, 1e-9] {
        let tied = weighted_upper_quantile(&law, &[1.0, 1.0, 1.0, 0.5], eta).unwrap();
        for gap in [1e-16, 1e-13, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3] {
            let near = [1.0, 1.0 + gap, 1.0 - gap, 0.5 + gap];
            let kappa = weighted_upper_quantile(&law, &near, eta).unwrap();
            assert!(
                (kappa / tied - 1.0).abs() < 2e-9 + 2.0 * gap,
                "η = {eta}, gap {gap}"
            );
        }
    }
}

#[test]
fn risk_and_spread_match_forty_digits() {
    // mpmath, 40 digits, by quadrature of the densities. CVaR at q = 1e-6, 0.01, 0.3, 0.8.
    let cases = [
        (
            Law::laplace(1.0).unwrap(),
            std::f64::consts::SQRT_2,
            [
                14.122363377404328,
                4.912023005428146,
                1.5108256237659907,
                0.47907268296853867,
            ],
        ),
        (
            Law::gaussian(1.0).unwrap(),
            1.0,
            [
                4.948332716562024,
                2.665214220345805,
                1.1589753806669125,
                0.34995240050976034,
            ],
        ),
        (
            Law::truncated_laplace(2.0, 5.0).unwrap(),
            1.9939541011459265,
            [
                4.999977635178808,
                4.791376739300854,
                2.3062697778352828,
                0.7100769961365355,
            ],
        ),
        (
            Law::truncated_laplace(1.0, 0.3).unwrap(),
            0.1666607922639365,
            [
                0.299999650141274,
                0.29650954357380077,
                0.20170087115665522,
                0.05827035746222902,
            ],
        ),
    ];
    for (law, std_dev, cvar) in cases {
        assert!((law.std_dev() / std_dev - 1.0).abs() < 1e-14, "{law:?}");
        for (q, expected) in [1e-6, 0.01, 0.3, 0.8].into_iter().zip(cvar) {
            let found = law.cvar_factor(q).unwrap();
            assert!(
                (found / expected - 1.0).abs() < 1e-13,
                "{law:?}, q = {q}: {found}"
            );
        }
    }
}
