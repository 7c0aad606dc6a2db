//! Portfolios with private forecasts: the program, the certificate, and what is said about a mistake.

use conveil::ask::{Adjacency, Ask, Privacy, Query, Request, Strategy};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::DataMap;
use conveil::solve::{Settings, solve_checked};
use conveil_models::files::Files;
use conveil_models::portfolio::Portfolio;
use conveil_models::spec::read;

const ALPHA: f64 = 0.0005;

fn portfolio() -> Portfolio {
    let assets = ["stocks", "bonds", "property"].map(String::from);
    let covariance = vec![
        vec![0.04, 0.006, 0.009],
        vec![0.006, 0.0225, 0.003],
        vec![0.009, 0.003, 0.03],
    ];
    let built = Portfolio::of(assets.into(), covariance)
        .aversion(4.0)
        .cap(0.6)
        .within(-0.2, 0.3)
        .build();
    built.unwrap()
}

const RETURNS: [f64; 3] = [0.052, 0.031, 0.042];

/// Where no limit binds, γΣw = μ.
#[test]
fn without_limits_the_weights_are_those_of_markowitz() {
    let portfolio = portfolio();
    let program = portfolio.at(&RETURNS).unwrap();
    let solution = solve_checked(&program, &Settings::default()).unwrap();
    let w = &solution.x;
    assert!(w.iter().all(|w| *w > 0.01 && *w < 0.59) && w.iter().sum::<f64>() < 0.99);
    let rows = [
        [0.04, 0.006, 0.009],
        [0.006, 0.0225, 0.003],
        [0.009, 0.003, 0.03],
    ];
    for (row, expected) in rows.iter().zip(RETURNS) {
        let found: f64 = row.iter().zip(w).map(|(s, w)| 4.0 * s * w).sum();
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
    let variance: f64 = (rows.iter().zip(w))
        .map(|(row, a)| a * row.iter().zip(w).map(|(s, b)| s * b).sum::<f64>())
        .sum();
    assert!((portfolio.variance(w) - variance).abs() < 1e-12);
}

fn plan(portfolio: &Portfolio) -> Plan<'_> {
    let ask = portfolio
        .ask()
        .adjacency(Adjacency::one_entry(ALPHA))
        .privacy(Privacy::laplace(1.0))
        .feasible(0.95);
    Plan::new(portfolio, ask).unwrap()
}

/// The released map never moves further than the certificate says, in the norm of the noise.
#[test]
fn neighbouring_forecasts_move_the_weights_no_further_than_certified() {
    let portfolio = portfolio();
    let plan = plan(&portfolio);
    let released = plan.released();
    let certified = plan.guarantee().sensitivity();
    let mut sampler = Sampler::new(5, 0);
    let mut largest: f64 = 0.0;
    for k in 0..30 {
        let theta: Vec<f64> = (0..3).map(|_| 0.08 * sampler.uniform()).collect();
        let mut other = theta.clone();
        other[k % 3] += ALPHA * (2.0 * sampler.uniform() - 1.0).signum();
        let (Ok(a), Ok(b)) = (released.at(&theta), released.at(&other)) else {
            continue;
        };
        let moved: Vec<f64> = a.answer.iter().zip(&b.answer).map(|(a, b)| a - b).collect();
        largest = largest.max(in_units_of_the_noise(&plan, &moved));
    }
    assert!(
        largest > 0.2 * certified && largest <= certified * (1.0 + 1e-6),
        "{largest} of {certified}"
    );
}

/// ‖T⁻¹v‖₁, T as the plan has it.
fn in_units_of_the_noise(plan: &Plan<'_>, v: &[f64]) -> f64 {
    let shape = plan.released().shape();
    let mut rows: Vec<Vec<f64>> = (0..v.len())
        .map(|i| shape.row(i).iter().copied().chain([v[i]]).collect())
        .collect();
    let n = v.len();
    for i in 0..n {
        for j in 0..n {
            if i != j {
                let factor = rows[j][i] / rows[i][i];
                for k in 0..=n {
                    rows[j][k] -= factor * rows[i][k];
                }
            }
        }
    }
    (0..n).map(|i| (rows[i][n] / rows[i][i]).abs()).sum()
}

#[test]
fn the_noisy_weights_are_a_portfolio_as_often_as_promised() {
    let portfolio = portfolio();
    let curated = plan(&portfolio).curate(&RETURNS).unwrap();
    let report = curated.report();
    assert!(report.empirical.probability() <= 0.05);
    assert!(report.loss > 0.0 && report.certified <= 0.05 * (1.0 + 1e-9));
}

#[test]
fn a_matrix_that_is_no_covariance_is_refused() {
    let build = |covariance: Vec<Vec<f64>>| {
        let assets = vec!["a".into(), "b".into()];
        Portfolio::of(assets, covariance).build().unwrap_err()
    };
    let error = build(vec![vec![0.04, 0.01], vec![0.02, 0.04]]).to_string();
    assert!(error.contains("`a` and `b` is 0.01, and the other way round 0.02"));
    let error = build(vec![vec![0.04, f64::NAN], vec![f64::NAN, 0.04]]).to_string();
    assert!(error.contains("it must be symmetric and finite"), "{error}");
    for covariance in [0.04, 0.05, -0.04] {
        let error = build(vec![vec![0.04, covariance], vec![covariance, 0.04]]).to_string();
        assert!(
            error.contains("positive definite, and is not from `b` on"),
            "{error}"
        );
    }
    let error = build(vec![vec![0.0, 0.0], vec![0.0, 0.04]]).to_string();
    assert!(error.contains("is not from `a` on"), "{error}");
    assert!(
        build(vec![vec![0.04]])
            .to_string()
            .contains("2 rows with 2 numbers")
    );
}

const SPEC: &str = include_str!("../../../examples/specs/mean-variance.toml");

/// The model of the example, and its dataset.
#[test]
fn a_spec_is_a_model_and_its_datasets() {
    let spec = read("spec.toml", SPEC).unwrap();
    let place = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/specs");
    let files = Files::in_folder("spec.toml", &place);
    let model = spec.model.open(&spec, &files).unwrap();
    assert_eq!(model.map().len(), 3);
    let datasets = model.datasets(&files).unwrap();
    assert_eq!(datasets.count(), 1);
    assert_eq!(datasets.row(1).unwrap(), RETURNS);
    assert!(datasets.row(0).is_err() && datasets.row(2).is_err());
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_portfolios() {
    for (piece, mistake, expected) in [
        ("aversion = 4.0\n", "",
            "spec.toml:9:1: [problem] needs `aversion`\n  help: for example: aversion = 4.0"),
        ("cap = 0.6", "cap = 1.5",
            "spec.toml:12:7: `cap` must lie above 0 and be at most 1, found 1.5"),
        ("stocks = [0.0400, 0.0060, 0.0090]", "stocks = [0.0400, 0.0060]",
            "spec.toml:15:10: the covariance is square: there are 3 assets, and `stocks` has 2 numbers"),
        ("returns = \"mean-variance.csv\"", "data = \"mean-variance.csv\"",
            "spec.toml:19:1: [private] needs `returns`\n  help: for example: returns = \"returns.csv\""),
        ("bounds = [-0.2, 0.3]", "bounds = [0.3, -0.2]",
            "spec.toml:21:10: `bounds` must be two numbers that increase\n  help: for example: bounds = [-0.1, 0.2]"),
        ("release = \"weights\"", "release = \"cost\"",
            "spec.toml:26:11: release `cost` makes no sense with model `portfolio`\n  help: a portfolio releases its `weights`; or what groups of assets weigh together: `sum`, `weighted` and `rows`; or its `value`, the return less the price of the risk"),
        ("release = \"weights\"", "release = \"value\"",
            "spec.toml:28:1: sensitivity by `strong-convexity` makes no sense for the value of a portfolio\n  help: for its value: sensitivity = { by = \"radius\" } in [privacy]"),
        ("epsilon = 1.0", "sensitivity = { by = \"erm\" }\nepsilon = 1.0",
            "spec.toml:30:15: sensitivity by `erm` makes no sense for a portfolio\n  help: `strong-convexity` is proven for it, and the default"),
    ] {
        assert!(SPEC.contains(piece), "{piece}");
        match read("spec.toml", &SPEC.replacen(piece, mistake, 1)) {
            Ok(_) => panic!("{mistake} was accepted"),
            Err(error) => assert_eq!(error.to_string(), expected, "{mistake}"),
        }
    }
    let open = SPEC.replace("bounds = [-0.2, 0.3]", "").replace("\"one-entry\", alpha = 0.0005, unit = \"1/year\"", "\"one-record\"");
    let error = read("spec.toml", &open).unwrap_err().to_string();
    assert!(error.contains("without public `bounds` on the returns"), "{error}");
}

/// max μ'w − ½γw'Σw in the modeller's sign, certified by the radius: no weight exceeds the cap, so that Δ = cap·α.
#[test]
fn the_value_of_a_portfolio_moves_by_at_most_cap_times_alpha() {
    let covariance = vec![vec![0.04, 0.006], vec![0.006, 0.01]];
    let portfolio = Portfolio::of(vec!["a".into(), "b".into()], covariance)
        .aversion(4.0)
        .cap(0.6)
        .within(-0.2, 0.3)
        .build()
        .unwrap();
    let alpha = 0.01;
    let ask = Ask::new(Query::Value)
        .adjacency(Adjacency::one_entry(alpha))
        .privacy(Privacy::laplace(1.0))
        .sensitivity(Request::radius())
        .strategy(Strategy::Output);
    let plan = Plan::new(&portfolio, ask).unwrap();
    let bound = plan.guarantee().sensitivity();
    assert!((bound / (0.6 * alpha) - 1.0).abs() < 2e-3, "{bound}");
    let value = |forecasts: [f64; 2]| plan.released().at(&forecasts).unwrap().answer[0];
    let mut largest = 0.0f64;
    for i in 0..30 {
        for j in 0..30 {
            let [a, b] = [i, j].map(|k| -0.2 + f64::from(k) / 60.0);
            let here = value([a, b]);
            for there in [value([a + alpha, b]), value([a, b + alpha])] {
                largest = largest.max((here - there).abs());
            }
        }
    }
    println!(
        "moved {largest:.6} of Δ = {bound:.6}, tightness {:.3}",
        largest / bound
    );
    assert!(
        largest <= bound && largest > 0.99 * 0.6 * alpha,
        "{largest}"
    );
    // By hand: one asset at its unconstrained optimum, w = μ/(γΣ), the other priced out.
    let alone = value([0.08, -0.2]);
    assert!((alone + 0.5 * 0.08 * 0.08 / 0.16).abs() < 1e-6, "{alone}");
}
