//! Noise on the weights of a plain support vector machine: the hinges stand for the program without noise, and the
//! certificate, which knows no noise, is the same.

use conveil::ask::{Ask, Privacy, Request, Strategy};
use conveil::chance::Feasibility;
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::DataMap;
use conveil::solve::{Outcome, Settings, solve_by_cones};
use conveil_models::svm::{Feature, Svm};

fn svm(count: usize, features: usize, lambda: f64) -> Svm {
    let features = (0..features).map(|j| Feature::within(format!("x{j}"), -2.0, 2.0));
    let builder = Svm::of(count, features.collect()).lambda(lambda);
    builder.build().unwrap()
}

fn dataset(svm: &Svm, features: usize, seed: u64) -> Vec<f64> {
    let mut sampler = Sampler::new(seed, 0);
    let labels: Vec<bool> = (0..svm.records()).map(|i| i % 3 == 0).collect();
    let mut draw = |label: bool| {
        let shift = if label { 0.5 } else { -0.5 };
        let each = (0..features).map(|_| shift + 2.0 * sampler.uniform() - 1.0);
        each.collect::<Vec<f64>>()
    };
    let values: Vec<Vec<f64>> = labels.iter().map(|&label| draw(label)).collect();
    svm.dataset(&values, &labels).unwrap()
}

fn ask(svm: &Svm, privacy: Privacy, strategy: Strategy) -> Ask {
    Ask::new(svm.query())
        .adjacency(svm.adjacency())
        .privacy(privacy)
        .sensitivity(Request::regularised_erm())
        .feasibility(Feasibility::each(0.05))
        .strategy(strategy)
}

#[test]
fn the_weights_are_those_of_the_program_without_noise() {
    for (case, privacy) in [Privacy::laplace(1.0), Privacy::gaussian(1.0, 1e-3)]
        .into_iter()
        .cycle()
        .take(12)
        .enumerate()
    {
        let (count, features) = (30 + 25 * case, 1 + case % 6);
        let lambda = [0.3, 0.01][case % 2];
        let svm = svm(count, features, lambda);
        let plan = Plan::new(&svm, ask(&svm, privacy, Strategy::Output)).unwrap();
        assert!(plan.released().has_local_recourse());
        let theta = dataset(&svm, features, case as u64);
        let decided = plan.released().at(&theta).unwrap();
        let settings = Settings::default().with_tolerance(1e-9).unwrap();
        let alone = match solve_by_cones(&svm.at(&theta).unwrap(), &settings) {
            Outcome::Optimal(solution) | Outcome::Inaccurate(solution) => solution,
            other => panic!("case {case}: {other:?}"),
        };
        let objective = svm.at(&theta).unwrap().objective(&decided.mean);
        let relative = (objective - alone.objective).abs() / alone.objective;
        assert!(
            relative < 1e-7,
            "case {case}: {objective} {}",
            alone.objective
        );
        let moved: f64 = (0..=features)
            .map(|j| (decided.mean[j] - alone.x[j]).powi(2))
            .sum();
        let open = decided.residuals.gap + alone.residuals.gap + 2.0 * alone.residuals.primal;
        assert!(
            lambda * moved <= 4.0 * open + 1e-13,
            "case {case}: {moved:.1e} {open:.1e}"
        );
    }
}

#[test]
fn the_certificate_is_the_same_and_the_promise_is_not() {
    let svm = svm(400, 3, 0.05);
    let plan = |strategy| Plan::new(&svm, ask(&svm, Privacy::laplace(1.0), strategy)).unwrap();
    let [output, program] = [plan(Strategy::Output), plan(Strategy::Program)];
    let bounds = [&output, &program].map(|plan| plan.guarantee().sensitivity());
    assert!((bounds[0] / bounds[1] - 1.0).abs() < 1e-2, "{bounds:?}");
    // Away from the margins by the room for noise: another hyperplane.
    let theta = dataset(&svm, 3, 5);
    let weights = [&output, &program].map(|plan| plan.released().at(&theta).unwrap().answer);
    assert_ne!(weights[0], weights[1]);
    assert_eq!(
        output.guarantee().feasibility_text(),
        "nothing has to be feasible: losses give way, so every answer is admissible; data outside their public bounds count as clipped to them"
    );
}

/// Whole records replaced, by their extremes too: the weights of the plain machine never move by more than Δ.
#[test]
fn no_replaced_record_moves_the_plain_weights_beyond_the_certificate() {
    let (count, features) = (40, 2);
    let svm = svm(count, features, 0.1);
    let plan = Plan::new(&svm, ask(&svm, Privacy::laplace(1.0), Strategy::Output)).unwrap();
    let bound = plan.guarantee().sensitivity();
    let answer = |theta: &[f64]| plan.released().at(theta).unwrap().answer;
    let mut sampler = Sampler::new(7, 0);
    let mut largest = 0.0f64;
    for start in 0..20 {
        let theta = dataset(&svm, features, start);
        let len = theta.len() / count;
        let here = answer(&theta);
        for _ in 0..25 {
            let record = (sampler.uniform() * count as f64) as usize % count;
            let mut other = theta.clone();
            for (entry, p) in other[record * len..(record + 1) * len]
                .iter_mut()
                .zip(svm.parameters().iter().skip(record * len))
            {
                let (low, high) = p.bounds().unwrap();
                *entry = [low, high][usize::from(sampler.uniform() < 0.5)];
            }
            let moved: f64 = (here.iter().zip(answer(&other)))
                .map(|(a, b)| (a - b).abs())
                .sum();
            largest = largest.max(moved);
        }
    }
    println!(
        "moved {largest:.4} of Δ = {bound:.4}, tightness {:.3}",
        largest / bound
    );
    assert!(largest <= bound);
    assert!(largest > 0.05 * bound, "the test has no teeth");
}
