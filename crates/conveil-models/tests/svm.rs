//! Support vector machines: the noise-aware hinge is the cone program (M9), the certificate holds, scaling is public.

use conveil::ask::{Ask, Privacy, Request};
use conveil::chance::{Choice, Feasibility};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::DataMap;
use conveil::solve::{Outcome, Settings, solve_by_cones};
use conveil_models::svm::{Feature, Svm};

type Records = (Vec<Vec<f64>>, Vec<bool>);

/// Two overlapping classes.
fn records(count: usize, features: usize, seed: u64) -> Records {
    let mut sampler = Sampler::new(seed, 0);
    let labels: Vec<bool> = (0..count).map(|i| i % 2 == 0).collect();
    let values = labels.iter().map(|&label| {
        let shift = if label { 0.4 } else { -0.4 };
        let each = (0..features).map(|_| shift + 2.0 * sampler.uniform() - 1.0);
        each.collect()
    });
    (values.collect(), labels)
}

fn svm(count: usize, features: usize, lambda: f64) -> Svm {
    let features = (0..features).map(|j| Feature::within(format!("x{j}"), -2.0, 2.0));
    let builder = Svm::of(count, features.collect()).lambda(lambda);
    builder.build().unwrap()
}

fn ask(svm: &Svm, privacy: Privacy) -> Ask {
    Ask::new(svm.query())
        .adjacency(svm.adjacency())
        .privacy(privacy)
        .sensitivity(Request::regularised_erm())
}

/// M9 on 32 datasets: the sum of hinges and the second-order cone program through the general engine.
#[test]
fn the_noise_aware_hinge_is_the_cone_program() {
    let mut worst = 0.0f64;
    for case in 0..32u64 {
        let (count, features) = match case {
            // The cone program is slow where records and features are many: one such case of each mechanism.
            0 | 1 => (500, 4),
            2 | 3 => (60, 20),
            _ => (20 + 7 * case as usize % 80, 1 + case as usize % 8),
        };
        let privacy = match case % 2 {
            0 => Privacy::gaussian(1.0, 1e-2),
            _ => Privacy::laplace(1.0),
        };
        let lambda = [0.3, 0.03][case as usize / 2 % 2];
        let svm = svm(count, features, lambda);
        let feasible = match case % 3 {
            0 => Feasibility::eta(0.2),
            _ => Feasibility::each(0.05),
        };
        // The cone program's own method; a choice left open takes exact quantiles instead.
        let feasible = feasible.method(Choice::ROW_BY_ROW);
        let plan = Plan::new(&svm, ask(&svm, privacy).feasibility(feasible)).unwrap();
        let (values, labels) = records(count, features, case);
        let theta = svm.dataset(&values, &labels).unwrap();
        let decided = plan.released().at(&theta).unwrap();
        let lifted = plan.released().lifted(&svm.at(&theta).unwrap(), 0).unwrap();
        let settings = Settings::default().with_tolerance(1e-9).unwrap();
        let cones = match solve_by_cones(lifted.program(), &settings) {
            Outcome::Optimal(solution) | Outcome::Inaccurate(solution) => solution,
            other => panic!("case {case}: {other:?}"),
        };
        let relative = (decided.objective - cones.objective).abs() / cones.objective.abs();
        worst = worst.max(relative);
        assert!(
            relative < 1e-7,
            "case {case}: {} against {}",
            decided.objective,
            cones.objective
        );
        // λ‖Δw‖² is at most what the two gaps and the slips of the cone program leave open.
        let moved: f64 = (0..=features)
            .map(|j| (decided.mean[j] - cones.x[j]).powi(2))
            .sum();
        let open = decided.residuals.gap + cones.residuals.gap + 2.0 * cones.residuals.primal;
        assert!(
            lambda * moved <= 4.0 * open + 1e-13,
            "case {case}: the weights differ by {moved:.1e} in the square, the gaps are {open:.1e}"
        );
        // The rule itself meets the cone program's rows: it is not the hinge that is checked, but what it stands for.
        let mut x = decided.mean.clone();
        for j in features + 1..decided.mean.len() {
            x.extend(decided.recourse.row(j).iter().map(|e| e.1));
        }
        let (slip, row) = lifted
            .program()
            .worst_violation(&lifted.program().slack(&x));
        assert!(slip < 1e-10, "case {case}: row {row:?} slips by {slip:.1e}");
    }
    println!("objectives differ by at most {worst:.1e}");
}

/// Exact quantiles are no worse than the factor, strictly better for Laplace sums, and keep the promise.
#[test]
fn exact_quantiles_keep_each_margin_and_cost_less() {
    let (count, features) = (40, 3);
    let svm = svm(count, features, 0.1);
    let (values, labels) = records(count, features, 5);
    let theta = svm.dataset(&values, &labels).unwrap();
    let eta = 0.05;
    let loss = |method: Choice| {
        let feasible = Feasibility::each(eta).method(method);
        let plan = Plan::new(&svm, ask(&svm, Privacy::laplace(2.0)).feasibility(feasible)).unwrap();
        let curated = plan.curate(&theta).unwrap();
        let report = curated.report().clone();
        (report.objective, report)
    };
    let (factor, _) = loss(Choice::ROW_BY_ROW);
    let (exact, report) = loss(Choice::NOISE_AWARE_HINGE);
    assert!(exact < factor * (1.0 - 1e-3), "{exact} against {factor}");
    let text = report.to_string();
    assert!(text.contains("row by row; nothing is promised of all rows together"));
    assert!(text.contains("infeasible, each row"), "{text}");
    assert!(text.contains("draws in the worst of 80 rows"), "{text}");
    let above = report.empirical.probability() > eta;
    assert_eq!(text.contains("exceeds it by chance"), above, "{text}");
    assert!(!text.contains("MORE THAN CHANCE"), "{text}");
    // The worst of 80 rows, a false alarm in a million.
    let conveil::curator::Empirical::Drawn { interval, .. } = report.empirical else {
        panic!("several noises are measured by draws");
    };
    assert!(interval.0 <= eta, "{}", report.empirical);
    // It binds: the worst row is violated about as often as it may be.
    assert!(
        report.empirical.probability() > 0.8 * eta,
        "{}",
        report.empirical
    );
}

#[test]
fn hyperplanes_come_back_in_the_features_own_units() {
    let features = vec![
        Feature::within("wind", 0.0, 25.0),
        Feature::within("load", -50.0, 150.0),
    ];
    let svm = Svm::of(4, features).lambda(0.1).build().unwrap();
    let released = [0.8, -0.3, 0.2];
    let (weights, offset) = svm.in_own_units(&released);
    for point in [[3.0, 20.0], [25.0, -50.0], [12.5, 50.0]] {
        let own = weights[0] * point[0] + weights[1] * point[1] - offset;
        let value = svm.decision_value(&released, &point).unwrap();
        assert!((own - value).abs() < 1e-12, "{own} against {value}");
    }
    // Beyond the bounds a feature counts as clipped.
    let far = svm.decision_value(&released, &[1e9, 50.0]).unwrap();
    assert_eq!(far, svm.decision_value(&released, &[25.0, 50.0]).unwrap());
}

/// In the feature's own units, and not for values that a sum of decimals puts beside a bound.
#[test]
fn values_at_a_bound_are_not_called_clipped() {
    let feature = Feature::within("spend", 0.1, 0.3);
    for value in [0.1, 0.2, 0.3, 0.1 + 0.2, 0.3 + 1e-10] {
        assert_eq!(feature.clipped(value), None, "{value}");
    }
    assert_eq!(feature.clipped(0.31), Some(0.3));
    assert_eq!(feature.clipped(-5.0), Some(0.1));
    assert_eq!(feature.clipped(0.3 + 1e-8), Some(0.3));
    // Narrow bounds far from 0, and small ones.
    let year = Feature::within("second", 1.7e9, 1.7e9 + 1.0);
    assert_eq!(year.clipped(1.7e9 + 1.0 + 2e-7), None);
    assert_eq!(year.clipped(1.7e9 - 0.5), Some(1.7e9));
    let small = Feature::within("mass", 0.0, 1e-12);
    assert_eq!(small.clipped(2e-12), Some(1e-12));
    assert_eq!(Feature::unbounded("any").clipped(1e9), None);
}

/// M9: where losses give way, a method left open takes exact quantiles: at most what the factor costs, under the same
/// certificate.
#[test]
fn the_default_for_losses_is_the_noise_aware_hinge() {
    let (count, features) = (60, 4);
    let svm = svm(count, features, 0.05);
    let (values, labels) = records(count, features, 8);
    let theta = svm.dataset(&values, &labels).unwrap();
    for privacy in [Privacy::laplace(2.0), Privacy::gaussian(1.0, 1e-3)] {
        for wish in [Feasibility::each(0.05), Feasibility::eta(0.1)] {
            let plan = |wish: Feasibility| {
                let ask = ask(&svm, privacy).feasibility(wish);
                Plan::new(&svm, ask).unwrap()
            };
            let (open, factor) = (
                plan(wish.clone()),
                plan(wish.clone().method(Choice::ROW_BY_ROW)),
            );
            let stated = plan(wish.method(Choice::NOISE_AWARE_HINGE));
            let method = |plan: &Plan<'_>| plan.guarantee().budget().lines()[0].method.clone();
            assert_eq!(method(&open), "noise-aware hinge");
            assert_eq!(method(&factor), "row by row");
            // The certificate is the same, and so is its bound.
            let (own, other) = (open.guarantee(), factor.guarantee());
            assert_eq!(own.sensitivity(), other.sensitivity());
            assert_eq!(own.basis().statement(), other.basis().statement());
            let cost = |plan: &Plan<'_>| plan.released().at(&theta).unwrap().objective;
            assert_eq!(cost(&open), cost(&stated));
            let (exact, factor) = (cost(&open), cost(&factor));
            match privacy {
                Privacy::Laplace { .. } => assert!(exact < factor * (1.0 - 1e-3)),
                _ => assert!(exact <= factor * (1.0 + 1e-12), "{exact} {factor}"),
            }
        }
    }
}

/// A method stated for one side of the losses is kept.
#[test]
fn a_stated_method_is_not_overruled() {
    use conveil::chance::BlockChoice;
    let svm = svm(20, 2, 0.1);
    let wish = Feasibility::each(0.05).block(BlockChoice {
        block: "margin".into(),
        method: Some(Choice::ROW_BY_ROW),
        ..BlockChoice::default()
    });
    let plan = Plan::new(&svm, ask(&svm, Privacy::laplace(2.0)).feasibility(wish)).unwrap();
    let lines = plan.guarantee().budget().lines();
    assert!(
        lines.iter().all(|line| line.method == "row by row"),
        "{lines:?}"
    );
}

/// A joint η divided among many losses is told, with what the other promise means.
#[test]
fn a_divided_promise_is_told() {
    let told = |count: usize, wish: Feasibility| {
        let svm = svm(count, 2, 0.1);
        let plan = Plan::new(&svm, ask(&svm, Privacy::laplace(2.0)).feasibility(wish)).unwrap();
        let mut warnings = plan.warnings().iter();
        warnings.find(|w| w.contains("rows together")).cloned()
    };
    assert_eq!(
        told(200, Feasibility::eta(0.01)).as_deref(),
        Some(
            "η = 0.01 is for all 400 rows together, so that each has 2.5e-5 of it, and room for noise as rare as that costs accuracy; rows = \"each\" gives η to each row by itself"
        )
    );
    assert_eq!(told(200, Feasibility::each(0.01)), None);
    assert_eq!(told(20, Feasibility::eta(0.01)), None);
}

/// Losses give way: no ε is infeasible, and where a solver gives up is no edge.
#[test]
fn an_explanation_of_losses_has_no_edges() {
    let (count, features) = (30, 2);
    let svm = svm(count, features, 0.1);
    let (values, labels) = records(count, features, 3);
    let theta = svm.dataset(&values, &labels).unwrap();
    let ask = ask(&svm, Privacy::laplace(1.0)).feasibility(Feasibility::each(0.05));
    let explanation = conveil::curator::explain(&svm, &ask, &theta).unwrap();
    assert!(explanation.feasible && explanation.has_elastic_losses);
    assert!(explanation.thresholds.is_empty());
    let text = explanation.to_string();
    let line = "feasible at any ε and η: losses give way to the noise";
    assert!(text.lines().any(|l| l == line), "{text}");
}

#[test]
fn what_is_no_classifier_is_refused() {
    let refusal = |svm: conveil::Result<Svm>| svm.unwrap_err().to_string();
    let feature = || Feature::within("x", 0.0, 1.0);
    assert_eq!(
        refusal(Svm::of(3, vec![feature()]).lambda(0.0).build()),
        "λ must be positive and finite, found 0"
    );
    assert_eq!(
        refusal(Svm::of(3, vec![feature(), feature()]).build()),
        "two features are named `x`"
    );
    assert_eq!(
        refusal(Svm::of(0, vec![feature()]).build()),
        "a classifier needs records and features, found 0 and 1"
    );
    assert_eq!(
        refusal(Svm::of(3, vec![Feature::within("x", 1.0, 1.0)]).build()),
        "the bounds of feature `x` must be finite and in order, found [1, 1]"
    );
    let svm = Svm::of(2, vec![feature()]).build().unwrap();
    let error = svm.dataset(&[vec![0.1], vec![0.2, 0.3]], &[true, false]);
    assert_eq!(
        error.unwrap_err().to_string(),
        "record 2 has 2 features, the classifier 1"
    );
}

#[test]
fn bounds_too_far_apart_are_refused_and_far_values_stay_numbers() {
    let refused = Svm::of(2, vec![Feature::within("x", -1e308, 1e308)])
        .build()
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the bounds of feature `x` are too far apart to scale by, found [-1e308, 1e308]: their difference must be below 1.7976931348623157e308"
    );
    let svm = Svm::of(2, vec![Feature::within("x", 0.0, 1e-3)])
        .build()
        .unwrap();
    let theta = svm
        .dataset(&[vec![1e308], vec![-1e308]], &[true, false])
        .unwrap();
    assert!(theta.iter().all(|v| v.is_finite()), "{theta:?}");
}
