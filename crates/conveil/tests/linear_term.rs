//! Noise on the linear term (M17c): the answer is that of the program with a noisy linear cost, it always meets the
//! constraints, its sensitivity is that of a linear map, and what does not fit is refused.

mod common;

use common::between;
use conveil::Error;
use conveil::ask::{Adjacency, Ask, Norm, Privacy, Query, Request, Strategy};
use conveil::audit::Audit;
use conveil::noise::Sampler;
use conveil::plan::{Choice, Plan};
use conveil::program::{AffineMap, Builder, DataMap, Program};
use conveil::solve::{Batch, Cancel, Settings, solve_checked};

/// Variables of [`quadratic`], and private numbers.
const SIZE: (usize, usize) = (4, 6);

/// min ½x'Px − (Gy)'x + z over −1 ≤ x ≤ 1, Σx ≤ 1, z ≥ x₀ − ½, with y private. P = MM' + ½I; z has no quadratic cost.
fn quadratic(index: u64, has_other: bool) -> AffineMap {
    let mut sampler = Sampler::new(0x11EA, index);
    let mut draw = |size: f64| between(&mut sampler, -size, size);
    let (n, p) = SIZE;
    let m: Vec<Vec<f64>> = (0..n)
        .map(|_| (0..n).map(|_| draw(1.5)).collect())
        .collect();
    let mut b = Builder::new();
    let x = b.variable("x", n);
    for i in 0..n {
        for j in i..n {
            let dot: f64 = m[i].iter().zip(&m[j]).map(|(a, b)| a * b).sum();
            b.quadratic(i, j, dot + if i == j { 0.5 } else { 0.0 });
        }
        b.between(&format!("range {i}"), -1.0, x.at(i), 1.0);
    }
    b.at_most("sum", x.sum(), 1.0);
    for k in 0..p {
        let y = b.parameter_within(&format!("y{k}"), -3.0, 3.0);
        for i in 0..n {
            b.minimize(-(draw(1.0) * (y * x.at(i))));
        }
    }
    if has_other {
        let z = b.variable("z", 1);
        b.minimize(z.at(0));
        b.at_most("hinge", x.at(0) - z.at(0), 0.5);
    }
    b.build_map().unwrap()
}

fn ask(privacy: Privacy, adjacency: Adjacency) -> Ask {
    Ask::new(Query::Variables(vec!["x".into()]))
        .adjacency(adjacency)
        .privacy(privacy)
        .sensitivity(Request::strong_convexity())
        .strategy(Strategy::LinearTerm)
}

fn dataset(sampler: &mut Sampler) -> Vec<f64> {
    (0..SIZE.1).map(|_| between(sampler, -3.0, 3.0)).collect()
}

/// The program with −Py as its linear cost on x, written out anew.
fn with_cost_of(program: &Program, minimiser: &[f64]) -> Program {
    let mut whole = minimiser.to_vec();
    whole.resize(program.columns(), 0.0);
    let mut q = program.q().to_vec();
    let cost = program.p().symmetric_times(&whole);
    for j in 0..minimiser.len() {
        q[j] = -cost[j];
    }
    let (variables, constraints) = program.blocks();
    let (p, a, b) = (
        program.p().clone(),
        program.a().clone(),
        program.b().to_vec(),
    );
    Program::new(p, q, a, b, variables, constraints).unwrap()
}

#[test]
fn noise_on_the_linear_term_is_the_program_with_a_noisy_cost() {
    let mut far = 0.0f64;
    for index in 0..20 {
        for has_other in [false, true] {
            let map = quadratic(index, has_other);
            let plan = Plan::new(&map, ask(Privacy::laplace(1.0), Adjacency::one_entry(1.0)));
            let plan = plan.unwrap();
            let mut sampler = Sampler::new(7, index);
            for _ in 0..5 {
                let noisy: Vec<f64> = (0..4).map(|_| between(&mut sampler, -4.0, 4.0)).collect();
                let published = plan.published(&noisy).unwrap();
                let other = with_cost_of(map.template(), &noisy);
                let other = solve_checked(&other, &Settings::default()).unwrap();
                for (a, b) in published.iter().zip(&other.x) {
                    far = far.max((a - b).abs());
                }
            }
        }
    }
    println!("largest difference {far:.1e}");
    assert!(far < 2e-6, "{far}");
}

#[test]
fn without_noise_it_is_the_optimum_and_what_gets_noise_the_minimum_without_constraints() {
    for has_other in [false, true] {
        let map = quadratic(3, has_other);
        let plan = Plan::new(&map, ask(Privacy::laplace(1.0), Adjacency::one_entry(1.0)));
        let plan = plan.unwrap();
        let mut sampler = Sampler::new(1, 1);
        for _ in 0..10 {
            let theta = dataset(&mut sampler);
            let decided = plan.released().at(&theta).unwrap();
            let program = map.at(&theta).unwrap();
            // Px = −q on the curved columns.
            let mut whole = decided.answer.clone();
            whole.resize(program.columns(), 0.0);
            let gradient = program.p().symmetric_times(&whole);
            for j in 0..SIZE.0 {
                assert!((gradient[j] + program.q()[j]).abs() < 1e-8);
            }
            let published = plan.published(&decided.answer).unwrap();
            let optimum = solve_checked(&program, &Settings::default()).unwrap();
            let curated = plan.curate(&theta).unwrap();
            for j in 0..SIZE.0 {
                assert!((published[j] - optimum.x[j]).abs() < 2e-6);
                assert!((curated.decided().mean[j] - optimum.x[j]).abs() < 2e-6);
            }
            let report = curated.report();
            assert!((report.optimum - optimum.objective).abs() < 1e-6);
            assert!(report.objective >= report.optimum);
            assert_eq!(report.answer.len(), SIZE.0);
        }
    }
}

#[test]
fn answers_of_the_linear_term_meet_every_constraint() {
    for index in 0..10 {
        let map = quadratic(index, false);
        let plan = Plan::new(
            &map,
            ask(Privacy::gaussian(0.2, 1e-6), Adjacency::one_entry(1.0)),
        );
        let plan = plan.unwrap();
        assert_eq!(plan.guarantee().budget().certified(), 0.0);
        let mut sampler = Sampler::new(2, index);
        let minimiser = plan.released().at(&dataset(&mut sampler)).unwrap().answer;
        let mut outside = 0;
        for _ in 0..200 {
            let mut zeta = vec![0.0; 4];
            sampler.fill(plan.law(), &mut zeta);
            let noise = plan.released().shape().apply(&zeta);
            let noisy: Vec<f64> = minimiser.iter().zip(&noise).map(|(a, b)| a + b).collect();
            let held = |x: &[f64]| map.template().worst_violation(&map.template().slack(x)).0;
            outside += usize::from(held(&noisy) > 1e-6);
            let x = plan.published(&noisy).unwrap();
            assert!(
                held(&x) <= 2.0 * Settings::default().tolerance(),
                "{}",
                held(&x)
            );
        }
        assert!(outside > 50, "the test has no teeth: {outside}");
    }
}

/// The largest movement of T⁻¹ times what gets noise, over neighbours at the ends of what the adjacency allows.
fn largest_movement(plan: &Plan<'_>, adjacency: Adjacency, norm: Norm, seed: u64) -> f64 {
    let mut sampler = Sampler::new(seed, 0);
    let at = |theta: &[f64]| {
        let answer = plan.released().at(theta).unwrap().answer;
        plan.released().shape().unshape(&answer)
    };
    let mut largest = 0.0f64;
    for trial in 0..400 {
        let theta: Vec<f64> = dataset(&mut sampler).iter().map(|y| y / 3.0).collect();
        let mut other = theta.clone();
        match adjacency {
            Adjacency::OneEntry { alpha } | Adjacency::L1 { alpha } => {
                other[trial % SIZE.1] += alpha;
            }
            Adjacency::OneRecord { len } => {
                let start = len * (trial % SIZE.1.div_ceil(len));
                for entry in start..(start + len).min(SIZE.1) {
                    other[entry] = if sampler.uniform() < 0.5 { 3.0 } else { -3.0 };
                }
            }
            Adjacency::Universe => other
                .iter_mut()
                .for_each(|y| *y = if sampler.uniform() < 0.5 { 3.0 } else { -3.0 }),
            Adjacency::L2 { alpha } => {
                let step: Vec<f64> = (0..SIZE.1)
                    .map(|_| between(&mut sampler, -1.0, 1.0))
                    .collect();
                let size = step.iter().map(|s| s * s).sum::<f64>().sqrt();
                other
                    .iter_mut()
                    .zip(&step)
                    .for_each(|(o, s)| *o += alpha * s / size);
            }
        }
        let first = match adjacency {
            Adjacency::OneRecord { .. } | Adjacency::Universe => {
                let moved = other.iter().zip(&theta);
                let first: Vec<f64> = moved.map(|(o, t)| if o == t { *t } else { -o }).collect();
                at(&first)
            }
            _ => at(&theta),
        };
        let moved: Vec<f64> = first.iter().zip(at(&other)).map(|(a, b)| a - b).collect();
        largest = largest.max(norm.of(&moved));
    }
    largest
}

#[test]
fn the_minimum_without_constraints_moves_as_far_as_is_proven_and_no_further() {
    for index in 0..6 {
        let map = quadratic(index, index % 2 == 1);
        for (adjacency, at_least) in [
            (Adjacency::one_entry(0.7), 0.98),
            (Adjacency::L1 { alpha: 0.7 }, 0.98),
            (Adjacency::OneRecord { len: 1 }, 0.98),
            // Bounded by the sum over the numbers of a record, which seldom point the same way.
            (Adjacency::OneRecord { len: 3 }, 0.5),
            (Adjacency::Universe, 0.4),
            (Adjacency::L2 { alpha: 0.7 }, 0.6),
        ] {
            for privacy in [Privacy::laplace(1.0), Privacy::gaussian(1.0, 1e-5)] {
                let plan = Plan::new(&map, ask(privacy, adjacency)).unwrap();
                let bound = plan.guarantee().sensitivity();
                let moved = largest_movement(&plan, adjacency, privacy.norm(), index);
                println!(
                    "{adjacency:?} {:?}: {moved:.5} of {bound:.5}",
                    privacy.norm()
                );
                assert!(moved <= bound, "{moved} {bound}");
                assert!(moved > at_least * bound, "{adjacency:?}: {moved} {bound}");
            }
        }
    }
    // The audit looks at the same map.
    let map = quadratic(1, false);
    let plan = Plan::new(&map, ask(Privacy::laplace(1.0), Adjacency::one_entry(0.7))).unwrap();
    let audit = Audit::new().pairs(20).climbs(2).solves(200).seed(2);
    let report = audit.run(&plan, &Batch::new()).unwrap();
    assert!(!report.is_flagged(), "{report}");
}

/// min ½‖x − y‖² over x₁ ≤ x₂ ≤ … : isotonic, of data that are nearly constant and so press on the order.
#[test]
fn on_isotonic_fits_it_has_a_fraction_of_the_error_of_projected_output() {
    let n = 12;
    let mut m = Builder::new();
    let x = m.variable("x", n);
    for i in 0..n {
        let y = m.parameter_within(&format!("y{i}"), -10.0, 10.0);
        m.minimize(-(y * x.at(i)));
        m.quadratic(i, i, 1.0);
    }
    for i in 1..n {
        m.at_most(&format!("order {i}"), x.at(i - 1) - x.at(i), 0.0);
    }
    let map = m.build_map().unwrap();
    // Falling data: without the order, the fit would fall.
    let theta: Vec<f64> = (0..n).map(|i| 3.0 - 0.5 * i as f64).collect();
    let optimum = solve_checked(&map.at(&theta).unwrap(), &Settings::default())
        .unwrap()
        .x;
    let error = |strategy: Strategy| {
        let asked = ask(Privacy::gaussian(1.0, 1e-5), Adjacency::one_entry(0.25));
        let asked = match strategy {
            Strategy::LinearTerm => asked,
            other => asked.shaped_by_curvature().strategy(other),
        };
        let plan = Plan::new(&map, asked).unwrap();
        let answer = plan.released().at(&theta).unwrap().answer;
        let mut sum = 0.0;
        for draw in 0..500 {
            let mut zeta = vec![0.0; n];
            Sampler::new(5, draw).fill(plan.law(), &mut zeta);
            let noise = plan.released().shape().apply(&zeta);
            let noisy: Vec<f64> = answer.iter().zip(&noise).map(|(a, b)| a + b).collect();
            let x = plan.published(&noisy).unwrap();
            sum += x
                .iter()
                .zip(&optimum)
                .map(|(a, b)| (a - b).powi(2))
                .sum::<f64>();
        }
        sum / 500.0
    };
    let each = [Strategy::LinearTerm, Strategy::Projected, Strategy::Output].map(error);
    println!("squared error: linear term, projected, plain: {each:.3?}");
    assert!(
        each[0] < 0.5 * each[1] && each[1] < 0.6 * each[2],
        "{each:?}"
    );
}

fn refusal(map: &dyn DataMap, ask: Ask) -> String {
    match Plan::new(map, ask) {
        Err(Error::Refused { why, .. }) => why,
        other => panic!("{:?}", other.map(|plan| plan.guarantee().to_string())),
    }
}

#[test]
fn what_the_linear_term_does_not_cover_is_refused_with_its_reason() {
    let asked = || ask(Privacy::laplace(1.0), Adjacency::one_entry(1.0));
    let map = quadratic(0, true);
    let why = refusal(&map, asked().shape(vec![vec![1.0; 4]; 4]));
    assert!(why.contains("another shape is stated"), "{why}");
    let why = refusal(&map, asked().declared(1.0, "I know it"));
    assert!(why.contains("another sensitivity is stated"), "{why}");

    // A private limit.
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    m.quadratic(0, 0, 1.0);
    let (cost, limit) = (m.parameter("cost"), m.parameter("limit"));
    m.minimize(cost * x.at(0));
    m.at_most("limit", x.at(0), limit);
    let map = m.build_map().unwrap();
    let why = refusal(&map, asked());
    assert!(why.contains("`limit` enters at b[0]"), "{why}");
    let rule = Choice::by_rule(&map, &asked(), false).unwrap();
    assert_eq!(rule.strategy, Strategy::Program);

    // A private cost without curvature.
    let mut m = Builder::new();
    let (x, z) = (m.variable("x", 1), m.variable("z", 1));
    m.quadratic(0, 0, 1.0);
    let cost = m.parameter("cost");
    m.minimize(cost * z.at(0));
    m.between("x", 0.0, x.at(0), 1.0);
    m.between("z", 0.0, z.at(0), 1.0);
    let map = m.build_map().unwrap();
    let why = refusal(&map, asked());
    assert!(
        why.contains("`cost` is a cost of `z`, which has no quadratic cost"),
        "{why}"
    );

    // Public constraints that nothing meets.
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    m.quadratic(0, 0, 1.0);
    let cost = m.parameter("cost");
    m.minimize(cost * x.at(0));
    m.at_most("top", x.at(0), 0.0);
    m.at_most("bottom", -x.at(0), -1.0);
    let map = m.build_map().unwrap();
    let refused = Plan::new(&map, asked());
    assert!(matches!(refused, Err(Error::Infeasible(_))), "{refused:?}");
}

#[test]
fn the_rule_goes_by_what_is_private_and_by_who_carries_the_decision_out() {
    let map = quadratic(0, false);
    let open = ask(Privacy::laplace(1.0), Adjacency::one_entry(1.0)).strategy(Strategy::Program);
    assert_eq!(
        Choice::by_rule(&map, &open, false).unwrap().strategy,
        Strategy::LinearTerm
    );
    assert_eq!(
        Choice::by_rule(&map, &open, true).unwrap().strategy,
        Strategy::Program
    );
    // Where the certificate is not asked for, the noisy answer is projected.
    let declared = open.clone().declared(1.0, "I know it");
    assert_eq!(
        Choice::by_rule(&map, &declared, false).unwrap().strategy,
        Strategy::Projected
    );
    // One number of a decision cannot be projected.
    let one = Ask::new(Query::Variables(vec!["x[0]".into()])).declared(1.0, "I know it");
    assert_eq!(
        Choice::by_rule(&map, &one, false).unwrap().strategy,
        Strategy::Output
    );
}

/// A solve that was stopped says nothing of the program: another strategy than the rule's must not come of it.
#[test]
fn an_interrupted_rule_makes_no_choice() {
    let map = quadratic(0, false);
    let open = |settings: Settings| Ask::new(Query::Identity).settings(settings);
    let chosen = Choice::by_rule(&map, &open(Settings::default()), false).unwrap();
    assert_eq!(chosen.strategy, Strategy::LinearTerm);
    let cancel = Cancel::default();
    cancel.raise();
    let stopped = Choice::by_rule(&map, &open(Settings::default().with_cancel(cancel)), false);
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
}
