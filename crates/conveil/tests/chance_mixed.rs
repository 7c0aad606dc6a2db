//! Several methods in one program share one η; methods are ordered by what they cost; many noises are no obstacle.
//!
//! False alarm: fewer than 100 binomial tests at 1e-6/100 each. The scenario method may fail with its own β = 1e-8.

mod common;

use common::{Kind, Moving, Noise, Rows, ask, between, has_active_noise, keeps, random_case};
use conveil::ask::{Query, SampleSize};
use conveil::chance::{BlockChoice, BlockEta, Budget, Choice, Feasibility};
use conveil::noise::{Factor, Sampler};
use conveil::plan::{Decided, Plan};
use conveil::program::{AffineMap, Builder};

const ETA: f64 = 0.1;
const DRAWS: u64 = 100_000;
const ALARM: f64 = 1e-6 / 100.0;

/// x ∈ R³ queried, y ∈ R² free, pushed against a ball (a cone), rows on x alone (fixed noise), rows on x and y (free
/// noise), a block with shares of its own, and a block that no noise reaches.
fn mixture(index: u64) -> AffineMap {
    let mut sampler = Sampler::new(0x3117 + index, 0);
    let mut m = Builder::new();
    let x = m.variable("x", 3);
    let y = m.variable("y", 2);
    let plan = m.here_and_now("plan", 1);
    let theta = m.parameter("theta");
    let mut weights =
        |n: usize| -> Vec<f64> { (0..n).map(|_| between(&mut sampler, 0.5, 1.5)).collect() };
    m.minimize(-x.dot(&weights(3)) - y.dot(&weights(2)) - plan.at(0));
    let all = [x.entries(), y.entries()].concat();
    m.minimize_half_square(0.01, &all);
    m.minimize_half_square(0.01, &[plan.at(0)]);
    m.norm_at_most("ball", all, 1.0 * theta + 4.0);
    for i in 0..2 {
        m.at_most(&format!("x rows {i}"), x.dot(&weights(3)), 3.5);
        let both = x.dot(&weights(3)) + y.dot(&weights(2));
        m.at_most(&format!("x and y rows {i}"), both, 6.0);
    }
    m.between("own", -3.0, x.at(0) - x.at(1), 0.2);
    m.between("here", 0.0, plan.at(0), 1.0);
    m.build_map().unwrap()
}

fn own(block: &str, method: Option<Choice>, eta: Option<BlockEta>) -> BlockChoice {
    BlockChoice {
        block: block.into(),
        method,
        eta,
        weight: None,
    }
}

/// Shares and certified probabilities add up to at most η, and no line is empty.
fn assert_within(budget: &Budget, eta: f64) {
    let sum: f64 = budget.lines().iter().map(|l| l.share).sum();
    assert!(sum <= eta * (1.0 + 1e-12), "{budget}");
    assert!(budget.certified() <= eta * (1.0 + 1e-12), "{budget}");
    for line in budget.lines() {
        assert!(line.share > 0.0 && line.rows > 0, "{budget}");
        assert!(line.certified <= line.share, "{budget}");
    }
}

fn methods(budget: &Budget) -> Vec<&str> {
    budget.lines().iter().map(|l| l.method.as_str()).collect()
}

#[test]
fn box_rows_and_fixed_recourse_together_keep_the_joint_probability() {
    let mut ratios = Vec::new();
    for index in 0..20 {
        let noise = [Noise::Laplace, Noise::Gaussian][index as usize % 2];
        let map = mixture(index);
        let wish = Feasibility::eta(ETA)
            .block(own("own", None, Some(BlockEta::Rows(vec![0.01, 0.02]))))
            .block(BlockChoice {
                weight: Some(3.0),
                ..own("x rows 0", None, None)
            });
        let query = Query::Variables(vec!["x".into()]);
        let plan = Plan::new(&map, ask(query, noise, wish)).unwrap();
        let budget = plan.guarantee().budget();
        assert_within(budget, ETA);
        let names = methods(budget);
        for method in ["mass box", "row by row", "fixed recourse"] {
            assert!(names.contains(&method), "{budget}");
        }
        let share = |block: &str| {
            let mut lines = budget.lines().iter();
            lines.find(|l| l.serves.contains(block)).map(|l| l.share)
        };
        // 0.07 are left: half for the box, half for four rows of weights 3, 1, 1, 1.
        assert!((share("own").unwrap() - 0.03).abs() < 1e-15);
        assert!((share("ball").unwrap() - 0.035).abs() < 1e-15);
        assert!((share("x rows 0").unwrap() - 0.0175).abs() < 1e-15);
        assert!((share("x rows 1").unwrap() - 0.035 / 6.0).abs() < 1e-15);
        assert_eq!(share("here"), None);
        assert_eq!(budget.confidence(), 1.0);
        ratios.push(ratio(&plan.released().at(&[0.0]).unwrap(), &plan, index));
    }
    let reached = ratios.iter().filter(|r| **r > 0.05).count();
    println!(
        "mixed methods: worst {:.3}",
        ratios.iter().fold(0f64, |m, r| m.max(*r))
    );
    assert!(reached >= 15, "{ratios:?}");
}

/// violation/η, after the check.
fn ratio(decided: &Decided, plan: &Plan<'_>, seed: u64) -> f64 {
    assert!(has_active_noise(decided));
    let certified = plan.guarantee().budget().certified();
    let violations = Moving::new(decided).violations(plan.law(), DRAWS, 500 + seed);
    assert!(keeps(violations, DRAWS, certified, ALARM), "{violations}");
    violations as f64 / DRAWS as f64 / ETA
}

#[test]
fn all_events_together_keep_the_joint_probability_and_their_confidences_add_up() {
    let beta = 1e-8;
    for index in 0..10 {
        let map = mixture(index);
        let wish = Feasibility::eta(ETA)
            .sampling(SampleSize::Exact, beta, 40 + index)
            .block(own("ball", Some(Choice::MASS_BOX), None))
            .block(own("x rows 0", Some(Choice::SAMPLED_BOX), None))
            .block(own("x rows 1", Some(Choice::BALL), None))
            .block(own("x and y rows 0", Some(Choice::SCENARIO), None));
        let query = Query::Variables(vec!["x".into()]);
        let plan = Plan::new(&map, ask(query, Noise::Gaussian, wish)).unwrap();
        let budget = plan.guarantee().budget();
        assert_within(budget, ETA);
        let names = methods(budget);
        for method in [
            "mass box",
            "sampled box",
            "scenario",
            "ball",
            "row by row",
            "fixed recourse",
        ] {
            assert!(names.contains(&method), "{budget}");
        }
        // The sampled box's mass is computed; the scenario program keeps its half of β.
        assert!((1.0 - budget.confidence() - beta / 2.0).abs() < 1e-15);
        ratio(&plan.released().at(&[0.0]).unwrap(), &plan, 100 + index);
    }
}

/// The expected objective under one method, with the largest error of its solve.
fn loss(rows: Rows, index: u64, noise: Noise, choice: Choice) -> (f64, f64) {
    let case = random_case(Kind::Nonnegative, rows, index);
    let wish = Feasibility::eta(ETA).method(choice);
    let plan = Plan::new(&case.map, case.ask(noise, wish)).unwrap();
    let decided = plan.released().at(&case.theta).unwrap();
    (decided.objective, decided.residuals.gap + 1e-9)
}

/// Asserts that each method costs at most as much as the next; returns how often it costs clearly less.
fn assert_ordered(rows: Rows, noise: Noise, methods: &[Choice]) -> Vec<usize> {
    let mut strict = vec![0; methods.len() - 1];
    for index in 0..20 {
        let losses: Vec<(f64, f64)> = methods
            .iter()
            .map(|m| loss(rows, index, noise, *m))
            .collect();
        for (place, pair) in losses.windows(2).enumerate() {
            let ((better, e), (worse, f)) = (pair[0], pair[1]);
            assert!(
                better <= worse + e + f,
                "{rows:?}, {noise:?}, program {index}: {:?} costs {better}, {:?} costs {worse}",
                methods[place],
                methods[place + 1]
            );
            strict[place] += usize::from(better + 1e-4 < worse);
        }
    }
    strict
}

#[test]
fn fixed_recourse_costs_at_most_row_by_row_and_that_at_most_cantelli() {
    let row = |f: Factor| Choice::ROW_BY_ROW.with(f);
    let best = Choice::ROW_BY_ROW;
    let (chernoff, cantelli) = (row(Factor::Chernoff), row(Factor::Cantelli));
    let laplace = [Choice::FIXED_RECOURSE, best, chernoff, cantelli];
    let strict = assert_ordered(Rows::Fixed, Noise::Laplace, &laplace);
    assert!(strict[0] >= 10 && strict[2] >= 18, "{strict:?}");
    let strict = assert_ordered(Rows::Free, Noise::Laplace, &laplace[1..]);
    assert!(strict[1] >= 15, "{strict:?}");
    assert_ordered(Rows::Free, Noise::Laplace, &[best, row(Factor::Gauss)]);
    assert_ordered(Rows::Fixed, Noise::Truncated, &laplace);
    assert_ordered(Rows::Free, Noise::Truncated, &laplace[1..]);
    let gaussian = [
        Choice::FIXED_RECOURSE,
        best,
        row(Factor::Gaussian),
        cantelli,
    ];
    assert_ordered(Rows::Fixed, Noise::Gaussian, &gaussian);
    assert_ordered(Rows::Free, Noise::Gaussian, &gaussian[1..]);
}

#[test]
fn identity_queries_of_twenty_and_forty_noises_solve() {
    for (k, free) in [(20, 0), (40, 0), (20, 5)] {
        for noise in Noise::ALL {
            let mut m = Builder::new();
            let x = m.variable("x", k);
            let theta = m.parameter("theta");
            let y = (free > 0).then(|| m.variable("y", free).entries());
            let y = y.unwrap_or_default();
            let all = [x.entries(), y].concat();
            for (j, entry) in all.iter().enumerate() {
                m.minimize((1.0 + j as f64 / k as f64) * entry.clone());
                m.between(&format!("range {j}"), 0.0, entry.clone(), 2.0);
            }
            let sum = all.iter().fold(1.0 * theta, |sum, e| sum + e.clone());
            m.at_most("at least half", -sum, -0.5 * k as f64);
            let map = m.build_map().unwrap();
            let query = Query::Variables(vec!["x".into()]);
            let plan = Plan::new(&map, ask(query, noise, Feasibility::eta(ETA))).unwrap();
            let decided = plan.released().at(&[0.0]).unwrap();
            if free == 0 && noise != Noise::Truncated {
                assert_eq!(methods(plan.guarantee().budget())[0], "fixed recourse");
                assert_eq!(decided.lifted_size.0, k);
            }
            let found = ratio(&decided, &plan, k as u64);
            println!("k = {k} with {free} free, {noise:?}: violation/η {found:.3}");
        }
    }
}
