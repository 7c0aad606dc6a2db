//! Losses give way, so every dataset has an answer: uniform records, records on a grid, records in the corners, with and
//! without room for noise. Two datasets on which steps once ran in circles are kept beside this file.

use conveil::ask::{Ask, Privacy, Request, Strategy};
use conveil::chance::Feasibility;
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::solve::Batch;
use conveil_models::svm::{Feature, Svm};

fn svm(count: usize, lambda: f64) -> Svm {
    let features = vec![
        Feature::within("temperature", 0.0, 120.0),
        Feature::within("vibration", 0.0, 12.0),
    ];
    Svm::of(count, features).lambda(lambda).build().unwrap()
}

fn ask(svm: &Svm, strategy: Strategy) -> Ask {
    Ask::new(svm.query())
        .adjacency(svm.adjacency())
        .privacy(Privacy::gaussian(1.0, 1e-4))
        .sensitivity(Request::RegularisedErm)
        .feasibility(Feasibility::each(0.05))
        .strategy(strategy)
}

/// Solved to a relative gap of 1e-8, or said why not.
fn answered(plan: &Plan<'_>, theta: &[f64]) -> Result<(), String> {
    match plan.released().at(theta) {
        Ok(decided) if decided.residuals.gap <= 1e-8 * decided.residuals.gap_scale => Ok(()),
        Ok(decided) => Err(decided.residuals.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn steps_that_ran_in_circles_arrive() {
    let text = include_str!("hard_records.csv");
    for (name, lambda, strategy) in [
        ("uniform", 0.1, Strategy::Output),
        ("gridded", 0.01, Strategy::Program),
    ] {
        let rows: Vec<Vec<&str>> = (text.lines().map(|line| line.split(',').collect::<Vec<_>>()))
            .filter(|row| row[0] == name)
            .collect();
        let number = |field: &str| field.parse::<f64>().unwrap();
        let values: Vec<Vec<f64>> = (rows.iter())
            .map(|row| vec![number(row[1]), number(row[2])])
            .collect();
        let labels: Vec<bool> = rows.iter().map(|row| row[3] == "1").collect();
        let svm = svm(rows.len(), lambda);
        let plan = Plan::new(&svm, ask(&svm, strategy)).unwrap();
        let theta = svm.dataset(&values, &labels).unwrap();
        assert_eq!(answered(&plan, &theta), Ok(()), "{name}");
    }
}

/// 3000 datasets; with CONVEIL_FULL=1, 200 000.
#[test]
fn every_dataset_has_an_answer() {
    let each = match std::env::var_os("CONVEIL_FULL") {
        None => 250,
        Some(_) => 16_700,
    };
    let mut failures = Vec::new();
    let mut total = 0;
    for (count, lambda) in [
        (25, 1.0),
        (100, 0.1),
        (100, 1e-3),
        (200, 0.01),
        (60, 1e-5),
        (40, 0.1),
    ] {
        let svm = svm(count, lambda);
        for strategy in [Strategy::Output, Strategy::Program] {
            let plan = Plan::new(&svm, ask(&svm, strategy)).unwrap();
            let found = Batch::new().run(each, |i| {
                let mut sampler = Sampler::new(31, i as u64);
                let mut value = |size: f64| {
                    let u = sampler.uniform();
                    size * match i % 3 {
                        0 => u,
                        1 => (10.0 * u).round() / 10.0,
                        _ => u.round(),
                    }
                };
                let values: Vec<Vec<f64>> = (0..count)
                    .map(|_| vec![value(120.0), value(12.0)])
                    .collect();
                let balance = sampler.uniform();
                let labels: Vec<bool> = (0..count).map(|_| sampler.uniform() < balance).collect();
                let theta = svm.dataset(&values, &labels).unwrap();
                answered(&plan, &theta)
                    .map_err(|why| format!("{count}, {lambda}, {strategy:?}, {i}: {why}"))
            });
            total += each;
            failures.extend(found.unwrap().into_iter().filter_map(Result::err));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {total} datasets, such as {:?}",
        failures.len(),
        &failures[..failures.len().min(5)]
    );
}
