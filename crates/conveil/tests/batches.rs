//! Batches: the number of threads changes nothing, interruption stops, progress counts.

mod structure_common;

use conveil::Error;
use conveil::ask::{Query, Universe};
use conveil::certify::{Estimate, Pairs, estimate};
use conveil::curator::{Axis, compare, frontier};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::{Builder, DataMap};
use conveil::solve::{Batch, Cancel, Settings, solve_checked};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use structure_common::{interval_lp, laplace};

#[test]
fn results_are_byte_identical_for_one_two_and_three_threads() {
    let mut m = Builder::new();
    let x = m.variable("x", 3);
    for j in 0..3 {
        m.quadratic(j, j, 1.0);
        let target = m.parameter(&format!("target {j}"));
        m.minimize(-1.0 * (target * x.at(j)));
        m.between(&format!("x{j}"), -1.0, x.at(j), 1.0);
    }
    let map = m.build_map().unwrap();
    let universe = Universe::around(vec![0.0; 3], vec![2.0; 3]).unwrap();
    let pairs = Pairs::new(universe, conveil::ask::Adjacency::one_entry(0.5), 3);
    let lp = interval_lp(1.0, 20.0);
    let runs: Vec<String> = [1, 2, 3]
        .into_iter()
        .map(|threads| {
            let batch = Batch::new().threads(threads);
            let solves = batch
                .run(20, |i| {
                    let theta: Vec<f64> = (0..3)
                        .map(|j| Sampler::new(1, i as u64 * 3 + j).unit_normal())
                        .collect();
                    let x = solve_checked(&map.at(&theta).unwrap(), &Settings::default())
                        .unwrap()
                        .x;
                    x.iter().map(|v| v.to_bits()).collect::<Vec<u64>>()
                })
                .unwrap();
            let answer =
                |theta: &[f64]| Ok(solve_checked(&map.at(theta)?, &Settings::default())?.x);
            let found = estimate(
                Estimate::default(),
                &pairs,
                20,
                conveil::ask::Norm::L1,
                &answer,
                &batch,
            )
            .unwrap();
            let ask = laplace(Query::Cost, 2.0);
            let plan = Plan::new(&lp, ask.clone()).unwrap();
            let table = compare(&plan, &[5.0], 3000, 5, &batch).unwrap();
            let rows = frontier(
                &lp,
                &ask,
                &[5.0],
                Axis::Epsilon,
                &[0.5, 1.0, 2.0, 4.0],
                &batch,
            )
            .unwrap();
            format!("{solves:?} {found:?} {table} {rows}")
        })
        .collect();
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0], runs[2]);
}

#[test]
fn results_stand_in_the_order_of_their_numbers() {
    for threads in [1, 2, 5] {
        let squares = Batch::new().threads(threads).run(100, |i| i * i).unwrap();
        assert_eq!(squares, (0..100).map(|i| i * i).collect::<Vec<_>>());
    }
    assert_eq!(Batch::new().run(0, |i| i).unwrap(), Vec::<usize>::new());
}

#[test]
fn progress_counts_every_job_once() {
    for threads in [1, 3] {
        let seen = Mutex::new(Vec::new());
        let batch = Batch::new()
            .threads(threads)
            .progress(|done, total| seen.lock().unwrap().push((done, total)));
        batch.run(50, |_| ()).unwrap();
        drop(batch);
        let mut seen = seen.into_inner().unwrap();
        seen.sort();
        assert_eq!(seen, (1..=50).map(|done| (done, 50)).collect::<Vec<_>>());
    }
}

#[test]
fn a_raised_flag_stops_waiting_jobs() {
    let cancel = Cancel::default();
    let started = AtomicUsize::new(0);
    let batch = Batch::new().threads(2).cancel(cancel.clone());
    let result = batch.run(10_000, |index| {
        started.fetch_add(1, Ordering::Relaxed);
        if index == 10 {
            cancel.raise();
        }
        std::thread::sleep(std::time::Duration::from_micros(50));
    });
    assert!(matches!(result, Err(Error::Cancelled)));
    assert!(
        started.load(Ordering::Relaxed) < 10_000,
        "some jobs never started"
    );
    // And it stays raised: nothing starts any more.
    let after = batch.run(5, |_| panic!("started"));
    assert!(matches!(after, Err(Error::Cancelled)));
}

#[test]
fn interruption_reaches_an_estimate() {
    let universe = Universe::around(vec![0.0], vec![1.0]).unwrap();
    let pairs = Pairs::new(universe, conveil::ask::Adjacency::one_entry(0.5), 3);
    let cancel = Cancel::default();
    let settings = Settings::default().with_cancel(cancel.clone());
    let map = interval_lp(1.0, 20.0);
    let answer = |theta: &[f64]| {
        cancel.raise();
        Ok(solve_checked(&map.at(theta)?, &settings)?.x)
    };
    let result = estimate(
        Estimate::default(),
        &pairs,
        10,
        conveil::ask::Norm::L1,
        &answer,
        &Batch::new(),
    );
    assert!(
        matches!(result, Err(Error::Cancelled)),
        "an interrupted pair is no failed pair"
    );
}
