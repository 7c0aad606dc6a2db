//! The certificate of a classifier: over adjacent pairs, structured and random, and over an adversarial search, the
//! released hyperplane never moves by more than Δ; a doubled slope is caught.

use conveil::ask::{Ask, Privacy, Request};
use conveil::audit::Audit;
use conveil::chance::{Choice, Feasibility};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::solve::Batch;
use conveil_models::svm::{Feature, Intercept, Svm};

fn svm(count: usize, features: usize, lambda: f64, intercept: Intercept) -> Svm {
    let features = (0..features).map(|j| Feature::within(format!("x{j}"), -1.0, 1.0));
    let builder = Svm::of(count, features.collect()).lambda(lambda);
    builder.intercept(intercept).build().unwrap()
}

fn plan<'s>(svm: &'s Svm, privacy: Privacy, method: Choice, request: Request) -> Plan<'s> {
    let ask = Ask::new(svm.query())
        .adjacency(svm.adjacency())
        .privacy(privacy)
        .sensitivity(request)
        .feasibility(Feasibility::each(0.05).method(method));
    Plan::new(svm, ask).unwrap()
}

/// A dataset: random, or one class in one corner and the other in another.
fn dataset(sampler: &mut Sampler, count: usize, features: usize, kind: usize) -> Vec<Vec<f64>> {
    let class = |label: bool| match (kind % 4, label) {
        (1, true) => 1.0,
        (1, false) => -1.0,
        (2, _) => 1.0,
        _ => 0.3,
    };
    (0..count)
        .map(|i| {
            let label = i % 2 == 0;
            let mut record: Vec<f64> = (0..features)
                .map(|_| match kind % 4 {
                    1 | 2 => class(label),
                    _ => 2.0 * sampler.uniform() - 1.0,
                })
                .collect();
            record.push(if label { 1.0 } else { -1.0 });
            record
        })
        .collect()
}

/// θ of records (features and a label each).
fn theta(svm: &Svm, records: &[Vec<f64>]) -> Vec<f64> {
    let n = svm.features().len();
    let features: Vec<Vec<f64>> = records.iter().map(|r| r[..n].to_vec()).collect();
    let labels: Vec<bool> = records.iter().map(|r| r[n] > 0.0).collect();
    svm.dataset(&features, &labels).unwrap()
}

#[test]
fn the_hyperplane_never_moves_by_more_than_its_bound() {
    let mut sampler = Sampler::new(11, 0);
    for (case, (privacy, method, intercept, features)) in [
        (
            Privacy::gaussian(1.0, 1e-3),
            Choice::NOISE_AWARE_HINGE,
            Intercept::Regularised,
            2,
        ),
        (
            Privacy::laplace(1.0),
            Choice::ROW_BY_ROW,
            Intercept::Regularised,
            3,
        ),
        (
            Privacy::gaussian(5.0, 1e-2),
            Choice::ROW_BY_ROW,
            Intercept::None,
            2,
        ),
        (
            Privacy::laplace(10.0),
            Choice::NOISE_AWARE_HINGE,
            Intercept::Regularised,
            1,
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let (count, lambda) = (24, 0.2);
        let svm = svm(count, features, lambda, intercept);
        let plan = plan(&svm, privacy, method, Request::regularised_erm());
        let bound = plan.guarantee().sensitivity();
        // M8d: L/(λN) with L = √(n + 1), and √r times that in ℓ₁.
        let numbers = plan.released().query().labels().len() as f64;
        let formula = numbers.sqrt() / (lambda * count as f64)
            * match privacy.delta() {
                0.0 => numbers.sqrt(),
                _ => 1.0,
            };
        assert!(
            (bound / formula - 1.0).abs() < 0.02,
            "{bound} against {formula}"
        );
        let norm = plan.guarantee().privacy().norm();
        let answer = |records: &[Vec<f64>]| {
            let decided = plan.released().at(&theta(&svm, records)).unwrap();
            decided.answer
        };
        let mut largest = 0.0f64;
        for pair in 0..500 {
            let mut records = dataset(&mut sampler, count, features, pair);
            let before = answer(&records);
            let one = pair % count;
            // Extreme records, flipped labels, random ones.
            for (j, value) in records[one].iter_mut().enumerate() {
                *value = match pair % 3 {
                    0 => -*value,
                    1 if j < features => -value.signum(),
                    1 => -*value,
                    _ if j < features => 2.0 * sampler.uniform() - 1.0,
                    _ => -*value,
                };
            }
            let after = answer(&records);
            let change: Vec<f64> = before.iter().zip(&after).map(|(a, b)| a - b).collect();
            largest = largest.max(norm.of(&change));
        }
        let audit = Audit::new().pairs(100).climbs(3).solves(400).seed(3);
        let report = audit.run(&plan, &Batch::new()).unwrap();
        assert!(!report.is_flagged(), "case {case}: {report}");
        let searched = report.tightness * bound;
        println!(
            "case {case}: Δ = {bound:.5}, {} pairs moved by {largest:.5}, the search by {searched:.5}: tightness {:.3}",
            500,
            largest.max(searched) / bound
        );
        assert!(largest <= bound, "case {case}: {largest} of {bound}");
        assert!(
            largest.max(searched) > 0.3 * bound,
            "case {case}: far from tight"
        );
    }
}

/// The same hinges with twice the slope move twice as far: an audit of the claim for the single slope says so.
#[test]
fn a_doubled_slope_is_caught_by_the_audit() {
    let (count, lambda) = (24, 0.2);
    let single = svm(count, 2, lambda, Intercept::None);
    let privacy = Privacy::gaussian(5.0, 1e-2);
    let proven = plan(
        &single,
        privacy,
        Choice::ROW_BY_ROW,
        Request::regularised_erm(),
    );
    let claimed = proven.guarantee().sensitivity();
    // Half the regulariser is twice the slope.
    let doubled = svm(count, 2, 0.5 * lambda, Intercept::None);
    let request = Request::Declared {
        bound: conveil::ask::Bound::Total(claimed),
        reason: "that of another classifier".into(),
    };
    let wrong = plan(&doubled, privacy, Choice::ROW_BY_ROW, request);
    assert_eq!(wrong.model().len(), proven.model().len());
    let audit = Audit::new().pairs(100).climbs(3).solves(400).seed(3);
    let report = audit.run(&wrong, &Batch::new()).unwrap();
    assert!(report.is_flagged(), "{report}");
    assert!(report.tightness > 1.5, "{report}");
}
