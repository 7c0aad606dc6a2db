//! Input perturbation (M17a): noise on the private numbers, then the program at the noisy ones.

mod common;

use common::between;
use conveil::ask::{
    Adjacency, Ask, MapKind, Privacy, Query, Request, SampleSize, Sampled, Strategy, Universe,
};
use conveil::curator;
use conveil::noise::Sampler;
use conveil::plan::{Plan, Published};
use conveil::program::{AffineMap, Builder, CostRows, DataMap, Parameter, Parameters, RecordBall};
use conveil::solve::{Batch, Settings, solve_checked};
use std::sync::Arc;

/// min x₀ + 3x₁ over x₀ + x₁ = need₀, x₀ ≥ need₁, 0 ≤ x ≤ 40.
fn supply(bounds: bool) -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let need = [0, 1].map(|i| {
        let name = format!("need{i}");
        match bounds {
            true => m.parameter_within(&name, -5.0 * (1 + i) as f64, 60.0),
            false => m.parameter(&name),
        }
    });
    m.minimize(x.dot(&[1.0, 3.0]));
    m.minimize_half_square(0.1, &x.entries());
    let [balance, least] = need;
    m.equal("balance", x.sum(), balance);
    m.at_most("least", least, x.at(0));
    for j in 0..2 {
        m.between(&format!("source {j}"), 0.0, x.at(j), 40.0);
    }
    m.build_map().unwrap()
}

fn asked(adjacency: Adjacency, privacy: Privacy) -> Ask {
    Ask::new(Query::Variables(vec!["x".into()]))
        .adjacency(adjacency)
        .privacy(privacy)
        .declared(1.0, "the answer's; of no use here")
        .strategy(Strategy::Input)
}

/// 'The data' are released exactly, however large, and what follows is the program at them.
#[test]
fn input_perturbation_is_the_program_at_noisy_data() {
    let map = supply(true);
    let plan = Plan::new(
        &map,
        asked(Adjacency::one_entry(2.0), Privacy::laplace(1.0)),
    )
    .unwrap();
    let theta = [100.0 / 3.0, -11.0];
    let decided = plan.released().at(&theta).unwrap();
    // −11 counts as −10; no solver error.
    assert_eq!(decided.answer, [100.0 / 3.0, -10.0]);
    assert_eq!(decided.proven_error, Some(0.0));
    assert_eq!(plan.labels(), ["x[0]", "x[1]"]);
    assert!(plan.guarantee().is_defined_everywhere() && !plan.guarantee().is_given_an_answer());
    let mut sampler = Sampler::new(3, 0);
    let (mut answers, mut none) = (0, 0);
    for _ in 0..60 {
        let noisy: Vec<f64> = (decided.answer.iter())
            .map(|value| value + 8.0 * sampler.draw(plan.law()))
            .collect();
        let program = map.at(&noisy).unwrap();
        let alone = solve_checked(&program, &Settings::default());
        match (plan.outcome(&noisy).unwrap(), alone) {
            (Published::Answer(answer), Ok(alone)) => {
                answers += 1;
                for (a, b) in answer.iter().zip(&alone.x) {
                    assert!((a - b).abs() < 1e-9, "{a} {b}");
                }
            }
            // More need than there is, or less than none.
            (Published::NoAnswer(why), Err(error)) => {
                none += 1;
                assert_eq!(why, error.to_string());
                assert!(plan.published(&noisy).is_err());
            }
            (found, alone) => panic!("{found:?} {alone:?}"),
        }
    }
    assert!(answers > 5 && none > 5, "{answers} {none}");
}

/// Names with an index, alone and in runs, and names that no variable can bear.
#[test]
fn noisy_data_go_by_the_names_of_the_private_numbers() {
    let names = [
        "need[0]",
        "need[1]",
        "cap[3]",
        "cost of a[0]",
        "A[0][1]",
        "level",
        "level ",
    ];
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    m.minimize(x.at(0));
    for (i, name) in names.iter().enumerate() {
        let theta = m.parameter_within(name, 0.0, 1.0);
        m.at_most(&format!("row {i}"), theta, x.at(0));
    }
    let map = m.build_map().unwrap();
    let ask = asked(Adjacency::one_entry(1.0), Privacy::laplace(1.0));
    let plan = Plan::new(&map, ask).unwrap();
    let program = plan.released().map().template();
    let found: Vec<String> = (0..program.columns())
        .map(|j| program.variable_name(j))
        .collect();
    let expected = [
        "need[0]",
        "need[1]",
        "cap(3)",
        "cost of a",
        "A(0)(1)",
        "level",
        "level ",
    ];
    assert_eq!(found, expected);
}

/// The largest movement over pairs, in the norm of the mechanism, of what gets the noise.
fn moved(plan: &Plan<'_>, pairs: &[(Vec<f64>, Vec<f64>)], gaussian: bool) -> f64 {
    let at = |theta: &[f64]| plan.released().at(theta).unwrap().answer;
    let apart = pairs.iter().map(|(a, b)| {
        let change: Vec<f64> = at(a).iter().zip(at(b)).map(|(a, b)| a - b).collect();
        match gaussian {
            true => change.iter().map(|c| c * c).sum::<f64>().sqrt(),
            false => change.iter().map(|c| c.abs()).sum(),
        }
    });
    apart.fold(0.0, f64::max)
}

/// No pair is farther apart than the noise covers, and some are as far: a bound that forgets a number or takes half of
/// the width is exceeded.
#[test]
fn clipped_neighbours_are_no_farther_apart_than_the_noise_covers() {
    let map = supply(true);
    let mut sampler = Sampler::new(5, 0);
    for adjacency in [
        Adjacency::one_entry(2.0),
        Adjacency::L1 { alpha: 2.0 },
        Adjacency::L2 { alpha: 2.0 },
        Adjacency::OneRecord { len: 2 },
        Adjacency::OneRecord { len: 1 },
        Adjacency::Universe,
    ] {
        let mut pairs = Vec::new();
        for _ in 0..400 {
            let here: Vec<f64> = (0..2).map(|_| between(&mut sampler, -20.0, 70.0)).collect();
            let mut there = here.clone();
            let direction = [0, 1].map(|_| between(&mut sampler, -1.0, 1.0));
            match adjacency {
                Adjacency::OneEntry { alpha } => there[0] += alpha * direction[0].signum(),
                Adjacency::L1 { alpha } => {
                    let size: f64 = direction.iter().map(|d: &f64| d.abs()).sum();
                    (0..2).for_each(|i| there[i] += alpha * direction[i] / size);
                }
                Adjacency::L2 { alpha } => {
                    let turn = direction[0].signum() * std::f64::consts::FRAC_1_SQRT_2;
                    (0..2).for_each(|i| there[i] += alpha * turn);
                }
                Adjacency::OneRecord { len: 1 } => {
                    there[1] = if here[1] > 20.0 { -99.0 } else { 99.0 }
                }
                _ => {
                    there = here
                        .iter()
                        .map(|v| if *v > 20.0 { -99.0 } else { 99.0 })
                        .collect()
                }
            }
            pairs.push((here, there));
        }
        pairs.push((vec![-50.0, -50.0], vec![90.0, 90.0]));
        if matches!(adjacency, Adjacency::OneRecord { len: 1 }) || adjacency.alpha().is_some() {
            pairs.pop();
            let here = vec![10.0, -50.0];
            let there = match adjacency.alpha() {
                Some(_) => vec![12.0, -50.0],
                None => vec![10.0, 90.0],
            };
            pairs.push((here, there));
        }
        for (gaussian, privacy) in [
            (false, Privacy::laplace(1.0)),
            (true, Privacy::gaussian(1.0, 1e-5)),
        ] {
            let plan = Plan::new(&map, asked(adjacency, privacy)).unwrap();
            let bound = plan.guarantee().sensitivity();
            let found = moved(&plan, &pairs, gaussian);
            // The pairs themselves are rounded.
            assert!(found <= bound + 1e-13, "{adjacency}: {found} above {bound}");
            assert!(found > 0.99 * bound, "{adjacency}: {found} of {bound}");
        }
    }
}

/// A universe of discs: its members are what count, record by record.
#[test]
fn members_of_a_universe_are_what_gets_the_noise() {
    let map = supply(false);
    let universe = Universe::discs(vec![30.0, 5.0], vec![4.0], 2).unwrap();
    let ask = asked(Adjacency::OneRecord { len: 2 }, Privacy::laplace(1.0)).sensitivity(
        Request::Sampled(Sampled {
            universe,
            gamma: 0.1,
            beta: 0.1,
            seed: 1,
            size: SampleSize::Exact,
            on: MapKind::Released,
        }),
    );
    let plan = Plan::new(&map, ask).unwrap();
    let bound = plan.guarantee().sensitivity();
    // ℓ₁ across a disc of radius 4, along the diagonal.
    assert!((bound / (8.0 * 2f64.sqrt()) - 1.0).abs() < 1e-9, "{bound}");
    let pair = vec![(vec![130.0, 105.0], vec![-70.0, -95.0])];
    let found = moved(&plan, &pair, false);
    assert!(found <= bound && found > 0.999 * bound, "{found} {bound}");
    assert!(
        plan.guarantee()
            .privacy_text()
            .contains("over the universe")
    );
}

/// Scaling a record to a public length moves all of its numbers with one: that comes after the noise, not before.
#[test]
fn no_number_moves_another_before_the_noise() {
    let map = supply(true)
        .with_ball(RecordBall::new(2, 2, 20.0).unwrap())
        .unwrap();
    let plan = Plan::new(
        &map,
        asked(Adjacency::one_entry(2.0), Privacy::laplace(1.0)),
    )
    .unwrap();
    let at = |theta: [f64; 2]| plan.released().at(&theta).unwrap().answer;
    assert_eq!(at([50.0, 50.0]), [50.0, 50.0]);
    assert_eq!(at([52.0, 50.0])[1], 50.0);
}

#[test]
fn what_noise_on_the_data_cannot_do_is_refused() {
    let refused = |map: &AffineMap, ask: Ask, word: &str| {
        let error = Plan::new(map, ask).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    let laplace = Privacy::laplace(1.0);
    let loose = supply(false);
    refused(
        &loose,
        asked(Adjacency::OneRecord { len: 1 }, laplace),
        "public bounds",
    );
    assert!(Plan::new(&loose, asked(Adjacency::one_entry(1.0), laplace)).is_ok());
    let shaped = asked(Adjacency::one_entry(1.0), laplace);
    refused(
        &loose,
        shaped.shape(vec![vec![2.0, 0.0], vec![0.0, 1.0]]),
        "shape",
    );
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let curve = m.parameter_within("curve", 1.0, 2.0);
    m.minimize(-1.0 * x.at(0));
    m.private_quadratic(curve, 0, 0, 1.0);
    m.between("limits", 0.0, x.at(0), 5.0);
    let private_p = m.build_map().unwrap();
    refused(
        &private_p,
        asked(Adjacency::one_entry(0.1), laplace),
        "indefinite",
    );
}

/// The row of a comparison is under the noise of a release, from any strategy's plan, and stands alone where no other
/// strategy has a plan.
#[test]
fn a_comparison_shows_input_perturbation_from_every_plan() {
    let map = supply(true);
    let ask = asked(Adjacency::one_entry(0.5), Privacy::laplace(2.0)).feasible(0.9);
    let rows = |ask: Ask| {
        let plan = Plan::new(&map, ask).unwrap();
        curator::compare(&plan, &[30.0, 5.0], 300, 1, &Batch::new())
            .unwrap()
            .rows
    };
    let input = |ask: Ask| {
        rows(ask)
            .into_iter()
            .find(|row| row.strategy == "input")
            .unwrap()
    };
    let found = input(ask.clone());
    assert_eq!(found.status, "ok");
    assert_eq!(found, input(ask.clone().strategy(Strategy::Output)));
    // The balance is for other data: no noisy decision meets it.
    assert_eq!(found.sampled_infeasible_percent, Some(100.0));
    // The certificate that is asked for is not for this program.
    let alone = rows(ask.sensitivity(Request::strong_convexity()));
    let status = |name: &str| {
        &alone
            .iter()
            .find(|row| row.strategy == name)
            .unwrap()
            .status
    };
    assert_eq!(status("input"), "ok");
    assert!(
        status("output").starts_with("does not apply"),
        "{}",
        status("output")
    );
    let (a, b) = (found.sampled_loss.unwrap(), alone[0].sampled_loss.unwrap());
    assert!((a - b).abs() < 1e-6 * (1.0 + a.abs()), "{a} {b}");
}

/// Responses that enter the cost, as they are made on demand.
#[derive(Debug)]
struct Responses(usize);

impl CostRows for Responses {
    fn len(&self) -> usize {
        self.0
    }

    fn width(&self) -> usize {
        1
    }

    fn row(&self, index: usize, coefficients: &mut [f64]) {
        coefficients[0] = -1.0 - index as f64;
    }
}

fn responses(count: usize) -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    m.minimize_half_square(1.0, &x.entries());
    m.between("range", -9.0, x.at(0), 9.0);
    let model = Parameter::new("y").clipped(0.0, 1.0);
    let all = Parameters::of_costs("y", model, Arc::new(Responses(count))).unwrap();
    AffineMap::new(m.build().unwrap(), all).unwrap()
}

/// Parameters made on demand count one by one: a household of five responses moves by five widths, and the lattice by five steps.
#[test]
fn all_numbers_of_a_record_count_however_they_are_stored() {
    let map = responses(20);
    let plan = |len| {
        let ask = asked(Adjacency::OneRecord { len }, Privacy::laplace(1.0));
        Plan::new(&map, ask).unwrap()
    };
    for len in [1, 5] {
        let plan = plan(len);
        let (bound, step) = (plan.guarantee().sensitivity(), plan.guarantee().step());
        assert!((bound - len as f64).abs() < 1e-12, "{bound}");
        let scale = len as f64 * (1.0 + step);
        assert!((plan.law().scale() / scale - 1.0).abs() < 1e-12);
        let mut there = vec![0.2; 20];
        there[5..5 + len].fill(7.0);
        let mut here = vec![0.2; 20];
        here[5..5 + len].fill(-7.0);
        let found = moved(&plan, &[(here, there)], false);
        assert!((found - len as f64).abs() < 1e-12, "{found}");
    }
    let many = responses(2_001);
    let ask = asked(Adjacency::one_entry(1.0), Privacy::laplace(1.0));
    let error = Plan::new(&many, ask).unwrap_err().to_string();
    assert!(error.contains("2001 private numbers"), "{error}");
}

/// A lattice step that is stated for the answer is none for the data, and a strategy without a plan is a row with its reason.
#[test]
fn what_one_strategy_cannot_do_is_a_row() {
    let map = supply(true);
    let ask = asked(Adjacency::one_entry(0.05), Privacy::laplace(1.0))
        .feasible(0.9)
        .lattice(0.1);
    let plan = Plan::new(&map, ask.clone().strategy(Strategy::Output)).unwrap();
    let found = curator::compare(&plan, &[30.0, 5.0], 20, 1, &Batch::new()).unwrap();
    let status = |name: &str| {
        let mut rows = found.rows.iter();
        rows.find(|row| row.strategy == name)
            .unwrap()
            .status
            .clone()
    };
    assert_eq!(status("input"), "ok");
    assert!(status("truncated").contains("has no bound"), "{found}");
    // For noise on the data it is theirs, and coarser than their noise.
    let error = Plan::new(&map, ask).unwrap_err().to_string();
    assert!(error.contains("at most the noise scale"), "{error}");
}
