//! A public bound R on the norm of each record: what one record can move is R/(λN), because every record is scaled by itself.
//! The claim without the scaling is caught.

mod neighbours;

use conveil::ask::{Ask, Bound, Privacy, Request, Strategy};
use conveil::audit::Audit;
use conveil::chance::{Choice, Feasibility};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::DataMap;
use conveil::solve::Batch;
use conveil_models::svm::{Feature, Intercept, Labels, Svm, SvmBuilder};
use neighbours::{COUNT, dataset, largest};

const LAMBDA: f64 = 0.2;

fn builder(features: usize, intercept: Intercept) -> SvmBuilder {
    let features = (0..features).map(|j| Feature::within(format!("x{j}"), -1.0, 1.0));
    Svm::of(COUNT, features.collect())
        .lambda(LAMBDA)
        .intercept(intercept)
}

fn plan<'s>(svm: &'s Svm, privacy: Privacy, strategy: Strategy, request: Request) -> Plan<'s> {
    let ask = Ask::new(svm.query())
        .adjacency(svm.adjacency())
        .privacy(privacy)
        .sensitivity(request)
        .strategy(strategy)
        .feasibility(Feasibility::each(0.05).method(Choice::NOISE_AWARE_HINGE));
    Plan::new(svm, ask).unwrap()
}

#[test]
fn scaled_records_never_move_the_hyperplane_by_more_than_their_norm_allows() {
    let mut sampler = Sampler::new(41, 0);
    let gaussian = Privacy::gaussian(1.0, 1e-3);
    let cases = [
        (gaussian, Strategy::Output, Intercept::Regularised, 3, 1.25),
        (gaussian, Strategy::Program, Intercept::Regularised, 8, 1.1),
        (
            Privacy::laplace(1.0),
            Strategy::Output,
            Intercept::Regularised,
            8,
            1.5,
        ),
        (
            Privacy::laplace(3.0),
            Strategy::Program,
            Intercept::None,
            4,
            0.8,
        ),
        (gaussian, Strategy::Output, Intercept::None, 2, 0.3),
    ];
    for (case, (privacy, strategy, intercept, features, norm)) in cases.into_iter().enumerate() {
        let svm = builder(features, intercept).norm(norm).build().unwrap();
        let proven = plan(&svm, privacy, strategy, Request::regularised_erm());
        let bound = proven.guarantee().sensitivity();
        // M8d: R/(λN), and √r times that in ℓ₁.
        let numbers = proven.released().query().labels().len() as f64;
        let stretch = if privacy.delta() == 0.0 {
            numbers.sqrt()
        } else {
            1.0
        };
        let formula = stretch * norm / (LAMBDA * COUNT as f64);
        assert!(
            (bound / formula - 1.0).abs() < 0.02,
            "{bound} against {formula}"
        );
        let alone = if intercept == Intercept::None {
            0.0
        } else {
            1.0
        };
        let edge = (norm * norm - alone).sqrt();
        let moved = largest(&mut sampler, &svm, &proven, edge, 500);
        let audit = Audit::new().pairs(60).climbs(2).solves(200).seed(3);
        let report = audit.run(&proven, &Batch::new()).unwrap();
        assert!(!report.is_flagged(), "case {case}: {report}");
        let tightness = (moved / bound).max(report.tightness);
        println!("case {case}: Δ = {bound:.5}, 500 pairs and a search: tightness {tightness:.3}");
        assert!(moved <= bound, "case {case}: {moved} of {bound}");
        assert!(tightness > 0.6, "case {case}: far from tight");
        // R is stated, and the records are not scaled: the same pairs move further than the claim.
        let unscaled = builder(features, intercept).build().unwrap();
        let request = Request::Declared {
            bound: Bound::Total(bound),
            reason: "that of scaled records".into(),
        };
        let wrong = plan(&unscaled, privacy, strategy, request);
        let moved = largest(&mut sampler, &unscaled, &wrong, edge, 60);
        assert!(
            moved > 1.05 * bound,
            "case {case}: the mutant lives, {moved} of {bound}"
        );
    }
}

#[test]
fn an_audit_catches_a_norm_that_is_stated_and_not_kept() {
    let privacy = Privacy::gaussian(5.0, 1e-2);
    let scaled = builder(3, Intercept::None).norm(0.6).build().unwrap();
    let proven = plan(
        &scaled,
        privacy,
        Strategy::Output,
        Request::regularised_erm(),
    );
    let request = Request::Declared {
        bound: Bound::Total(proven.guarantee().sensitivity()),
        reason: "that of scaled records".into(),
    };
    let unscaled = builder(3, Intercept::None).build().unwrap();
    let wrong = plan(&unscaled, privacy, Strategy::Output, request);
    let audit = Audit::new().pairs(100).climbs(3).solves(400).seed(3);
    let report = audit.run(&wrong, &Batch::new()).unwrap();
    assert!(report.is_flagged(), "{report}");
    let report = audit.run(&proven, &Batch::new()).unwrap();
    assert!(!report.is_flagged(), "{report}");
}

/// What a record counts as follows from it alone: the rows of the others stay as they are, the intercept's 1 among them.
#[test]
fn a_record_is_scaled_by_itself_and_keeps_the_constant_of_its_intercept() {
    let mut sampler = Sampler::new(42, 0);
    let svm = builder(3, Intercept::Regularised)
        .norm(1.5)
        .build()
        .unwrap();
    let edge = 1.25f64.sqrt();
    for kind in 0..40 {
        let (mut records, labels) = dataset(&mut sampler, 3, edge, kind);
        let theta = svm.dataset(&records, &labels).unwrap();
        let before = svm.clipped(&theta).unwrap();
        assert_eq!(svm.at(&theta).unwrap(), svm.unclipped(&before).unwrap());
        for (record, &label) in before.chunks(4).zip(&labels) {
            assert_eq!(record[3], if label { 1.0 } else { -1.0 });
            let norm = record.iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!(norm <= 1.5 * (1.0 + 1e-14), "{norm}");
        }
        // A direction is kept, and what is short enough is not touched.
        for (i, (raw, counted)) in theta.chunks(4).zip(before.chunks(4)).enumerate() {
            let length = |x: &[f64]| x[..3].iter().map(|x| x * x).sum::<f64>().sqrt();
            let factor = (edge / length(raw)).min(1.0);
            for (raw, counted) in raw[..3].iter().zip(counted) {
                assert!((raw * factor - counted).abs() < 1e-14, "record {i}");
            }
        }
        records[5] = vec![1e9, -1e9, 3.0];
        let after = svm
            .clipped(&svm.dataset(&records, &labels).unwrap())
            .unwrap();
        assert_eq!((&before[..20], &before[24..]), (&after[..20], &after[24..]));
    }
}

#[test]
fn a_norm_that_no_record_or_every_record_meets_is_refused() {
    let refused = |builder: SvmBuilder| builder.build().unwrap_err().to_string();
    for norm in [1.0, 0.5, -1.0, f64::NAN, f64::INFINITY] {
        let said = refused(builder(3, Intercept::Regularised).norm(norm));
        assert!(said.contains("above 1, which the constant"), "{said}");
    }
    let said = refused(builder(3, Intercept::Regularised).norm(2.0));
    assert!(
        said.contains("below 2, which the bounds of 3 features imply already"),
        "{said}"
    );
    let said = refused(builder(3, Intercept::None).norm(0.0));
    assert!(said.contains("above 0"), "{said}");
    let free = Svm::of(COUNT, vec![Feature::unbounded("x")]).norm(1.2);
    let said = refused(free);
    assert!(said.contains("`x` has none"), "{said}");
    // Public labels are no part of a record.
    let labels = Labels::Public((0..COUNT).map(|i| i % 2 == 0).collect());
    let svm = builder(3, Intercept::Regularised).labels(labels).norm(1.5);
    let svm = svm.build().unwrap();
    let proven = plan(
        &svm,
        Privacy::gaussian(1.0, 1e-3),
        Strategy::Output,
        Request::regularised_erm(),
    );
    let formula = 1.5 / (LAMBDA * COUNT as f64);
    assert!((proven.guarantee().sensitivity() / formula - 1.0).abs() < 0.02);
    let said = proven.guarantee().to_string();
    assert!(
        said.contains("then scaled record by record to a length of at most 1.11803, labels aside"),
        "{said}"
    );
    assert!(
        said.contains("and the norm 1.5 that longer records are scaled to are public"),
        "{said}"
    );
}
