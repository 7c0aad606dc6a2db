//! What the certificate of a regression promises: the largest leverage, over neighbours and an adversarial search.

mod fitting;

use conveil::Error;
use conveil::ask::{Adjacency, Privacy, Request};
use conveil::audit::{Audit, Verdict};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::solve::Batch;
use conveil_models::regression::{Basis, Loss, Regression};
use fitting::{certified, increasing, linear_solve, powers, speeds, wind};

#[test]
fn the_certificate_is_the_largest_leverage() {
    let model = wind(300)
        .condition(increasing(&[4.0, 8.0]))
        .build()
        .unwrap();
    let mut p = model.gram().to_vec();
    (0..p.len()).for_each(|i| p[i][i] += model.ridge());
    let leverage = |row: &Vec<f64>| {
        let solved = linear_solve(p.clone(), row.clone());
        row.iter().zip(&solved).map(|(a, b)| a * b).sum::<f64>()
    };
    let largest = model.design().map(|row| leverage(&row)).fold(0.0, f64::max);
    let found = certified(&model).guarantee().sensitivity();
    let expected = largest.sqrt();
    assert!(found >= expected, "{found} {expected}");
    // The engine allows the solver a hundredth of the bound.
    assert!(found <= expected * 1.0101, "{found} {expected}");
}

/// The claim of the certificate, over random neighbours, extreme records and an adversarial search.
#[test]
fn the_certificate_holds_over_two_thousand_adjacent_pairs() {
    let model = wind(150)
        .condition(increasing(&[3.5, 4.5, 6.0, 8.0, 9.5]))
        .build()
        .unwrap();
    for (name, ask) in [
        (
            "one entry, Gaussian",
            model
                .ask()
                .adjacency(Adjacency::one_entry(1.0))
                .privacy(Privacy::gaussian(1.0, 1e-5)),
        ),
        (
            "one record, Laplace",
            model
                .ask()
                .adjacency(Adjacency::OneRecord { len: 1 })
                .privacy(Privacy::laplace(1.0)),
        ),
    ] {
        let plan = Plan::new(&model, ask).unwrap();
        let bound = plan.guarantee().sensitivity();
        let norm = plan.guarantee().privacy().norm();
        let answer = |y: &[f64]| {
            let decided = plan.released().at(y).unwrap();
            plan.released().shape().unshape(&decided.answer)
        };
        let mut sampler = Sampler::new(17, 0);
        let mut worst = 0.0f64;
        // 1000 pairs here, each with an extreme record: all the range at once.
        for pair in 0..1000 {
            let mut y: Vec<f64> = match pair % 3 {
                0 => powers(&speeds(150), pair),
                1 => (0..150).map(|_| sampler.uniform()).collect(),
                _ => (0..150).map(|_| sampler.uniform().round()).collect(),
            };
            let record = (sampler.uniform() * 149.0) as usize;
            // The ends of the range have the highest leverage.
            let record = [record, 0, 149][pair as usize % 3];
            y[record] = 0.0;
            let low = answer(&y);
            y[record] = 1.0;
            let moved: Vec<f64> = answer(&y).iter().zip(&low).map(|(a, b)| a - b).collect();
            worst = worst.max(norm.of(&moved));
        }
        assert!(worst <= bound, "{name}: {worst} against {bound}");
        // 1000 random ones and the search there.
        let audit = Audit::new().pairs(1000).climbs(3).solves(2000).seed(5);
        let report = audit.run(&plan, &Batch::new()).unwrap();
        assert_eq!(report.verdict, Verdict::NoneFound, "{name}");
        assert!(report.audited_epsilon <= 1.0);
        println!(
            "{name}: largest movement {worst:.6} of a certified {bound:.6} (tightness {:.1}%); audited ε = {:.4}",
            100.0 * worst / bound,
            report.audited_epsilon
        );
        // A bound that nothing comes near would prove little.
        assert!(worst >= 0.5 * bound, "{name}: {worst} against {bound}");
    }
}

#[test]
fn a_halved_certificate_is_caught() {
    let model = wind(150)
        .condition(increasing(&[4.0, 8.0]))
        .build()
        .unwrap();
    let bound = certified(&model).guarantee().sensitivity();
    let ask = model
        .ask()
        .declared(0.5 * bound, "a mutant: half of the certificate")
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::gaussian(1.0, 1e-5));
    let plan = Plan::new(&model, ask).unwrap();
    let report = Audit::new().pairs(100).run(&plan, &Batch::new()).unwrap();
    assert_eq!(report.verdict, Verdict::Flagged);
    assert!(report.audited_epsilon > 1.5, "{}", report.audited_epsilon);
}

#[test]
fn the_norm_loss_has_no_certificate() {
    let model = wind(30)
        .loss(Loss::Norm)
        .condition(increasing(&[4.0]))
        .build()
        .unwrap();
    let ask = model
        .ask()
        .sensitivity(Request::strong_convexity())
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0));
    let error = Plan::new(&model, ask).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    // Without a request the ask is not complete: there is no default to fall back to.
    let ask = model
        .ask()
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0));
    let error = Plan::new(&model, ask).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the ask states no sensitivity"),
        "{error}"
    );
}

#[test]
fn a_proven_certificate_is_not_doubted_because_of_units() {
    // 1, x, x², x³ between 3 and 15: entries of P from 10 to 10⁸, and positive definite all the same.
    let cubic = |ridge: f64| {
        Regression::of(speeds(40), "power")
            .basis(Basis::Constant)
            .basis(Basis::polynomial("speed", 3))
            .ridge(ridge)
            .within(0.0, 1.0)
            .build()
            .unwrap()
    };
    let model = cubic(0.1);
    let ask =
        (model.ask().adjacency(Adjacency::one_entry(0.5))).privacy(Privacy::gaussian(1.0, 1e-6));
    let plan = Plan::new(&model, ask).unwrap();
    let doubts = |w: &&String| w.contains("not strongly convex");
    assert_eq!(plan.warnings().iter().find(doubts), None);
}
