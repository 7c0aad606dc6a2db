//! The safe box (M5a without vertices): what meets it meets every vertex, on every cone, with fixed and free recourse.

use conveil::ask::{Adjacency, Ask, Privacy, Query};
use conveil::chance::{BlockChoice, Choice, Feasibility};
use conveil::noise::Sampler;
use conveil::plan::{Decided, Plan};
use conveil::program::{Affine, AffineMap, Against, Builder, Cone};

/// x in a random cone constraint with private offsets, and y, which follows the noise freely.
fn model(seed: u64, cone: &Cone, free: bool) -> AffineMap {
    let mut sampler = Sampler::new(seed, 7);
    let mut m = Builder::new();
    let x = m.variable("x", 3);
    let y = m.variable("y", 1);
    let (interior, _) = cone.interior();
    let rows: Vec<Affine> = interior
        .iter()
        .map(|e| {
            let mut row = Affine::constant(10.0 * e);
            for j in 0..3 {
                row += (2.0 * sampler.uniform() - 1.0) * x.at(j);
            }
            match free {
                true => row + (2.0 * sampler.uniform() - 1.0) * y.at(0),
                false => row,
            }
        })
        .collect();
    for j in 0..3 {
        m.minimize((2.0 * sampler.uniform() - 1.0) * x.at(j));
        m.between(&format!("range {j}"), -30.0, x.at(j), 30.0);
    }
    m.minimize(0.1 * y.at(0));
    let cap = m.parameter("cap");
    m.between("y range", -30.0, y.at(0), cap);
    m.cone("cone", cone.clone(), rows);
    m.build_map().expect("a model")
}

fn decided(model: &AffineMap, method: Choice) -> (Decided, (f64, f64)) {
    let block = BlockChoice {
        block: "cone".into(),
        method: Some(method),
        ..BlockChoice::default()
    };
    let wish = Feasibility::eta(0.1).method(Choice::MASS_BOX).block(block);
    let ask = Ask::new(Query::Variables(vec!["x".into()]))
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .declared(0.3, "a test")
        .feasibility(wish);
    let plan = Plan::new(model, ask).expect("a plan");
    let ends = plan.released().design().boxes()[0];
    // One box, one event, whichever way it is met.
    let certified = plan.guarantee().budget().certified();
    assert!((certified - 0.1).abs() < 1e-12, "{certified}");
    let decided = plan.released().at(&[30.0]).expect("a decision");
    (decided, (ends.lower, ends.upper))
}

/// The worst violation of the cone over the vertices of the box.
fn worst(decided: &Decided, (lower, upper): (f64, f64)) -> f64 {
    let program = &decided.program;
    let block = program.constraints().iter().find(|b| b.name() == "cone");
    let block = block.expect("the cone");
    let violation = (0..8u32).map(|vertex| {
        let end = |j: u32| if vertex >> j & 1 == 1 { upper } else { lower };
        let moved = decided.recourse.apply(&[end(0), end(1), end(2)]);
        let x: Vec<f64> = decided
            .mean
            .iter()
            .zip(&moved)
            .map(|(a, b)| a + b)
            .collect();
        let slack = program.slack(&x);
        block
            .cone()
            .violation(&slack[block.range()], Against::Primal)
    });
    violation.fold(0.0, f64::max)
}

#[test]
fn what_meets_the_safe_box_meets_every_vertex() {
    let cones = [
        Cone::SecondOrder(4),
        Cone::PsdTriangle(3),
        Cone::Power(0.3),
        Cone::GeneralizedPower(vec![0.25, 0.5, 0.25], 2),
    ];
    let (mut tight, mut caught) = (0, 0);
    for seed in 0..12 {
        for cone in &cones {
            for free in [false, true] {
                if free && matches!(cone, Cone::PsdTriangle(_)) {
                    continue;
                }
                let model = model(seed, cone, free);
                let (safe, ends) = decided(&model, Choice::SAFE_BOX);
                assert!(worst(&safe, ends) < 1e-5, "{cone:?}, seed {seed}");
                let (exact, _) = decided(&model, Choice::MASS_BOX);
                assert!(worst(&exact, ends) < 1e-5);
                let slip = 1e-5 * exact.objective.abs().max(1.0);
                assert!(
                    safe.objective >= exact.objective - slip,
                    "{cone:?}, seed {seed}"
                );
                tight += u32::from(safe.objective <= exact.objective + slip);
                // What meets this box does not meet one three times as wide: the vertices can tell.
                caught += u32::from(worst(&exact, (3.0 * ends.0, 3.0 * ends.1)) > 1e-3);
            }
        }
    }
    // It is a restriction, not an equality.
    assert!(tight < 84, "the safe box never gives anything away");
    assert!(caught > 60, "{caught}");
}

/// S̄ ⪰ Σr|V| is attained: λ_min(Ȳ) ≥ n·r for noise ±r on all entries of a symmetric matrix of order n.
#[test]
fn entrywise_noise_on_a_matrix_costs_n_times_its_size() {
    for n in [2usize, 3, 5] {
        let mut m = Builder::new();
        let y = m.variable("y", n * (n + 1) / 2);
        let cap = m.parameter("cap");
        m.semidefinite("matrix", n, y.entries());
        for j in 0..n {
            // The trace, as small as it can be.
            m.minimize(y.at(j * (j + 3) / 2));
            m.between(&format!("cap {j}"), -50.0, y.at(j * (j + 3) / 2), cap);
        }
        let model = m.build_map().unwrap();
        let ask = Ask::new(Query::Variables(vec!["y".into()]))
            .adjacency(Adjacency::one_entry(1.0))
            .privacy(Privacy::laplace(1.0))
            .declared(0.1, "a test")
            .feasibility(Feasibility::eta(0.1).method(Choice::SAFE_BOX));
        let plan = Plan::new(&model, ask).unwrap();
        let upper = plan.released().design().boxes()[0].upper;
        let found = plan.released().at(&[50.0]).unwrap();
        let right = (n * n) as f64 * upper;
        assert!((found.objective - right).abs() < 1e-5 * right, "n = {n}");
    }
}

#[test]
fn the_safe_box_says_what_it_cannot_serve() {
    let refusal = |cone: &Cone, free: bool| {
        let model = model(1, cone, free);
        let ask = Ask::new(Query::Variables(vec!["x".into()]))
            .adjacency(Adjacency::one_entry(1.0))
            .privacy(Privacy::laplace(1.0))
            .declared(0.3, "a test")
            .feasibility(Feasibility::eta(0.1).method(Choice::SAFE_BOX));
        Plan::new(&model, ask).map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(
        refusal(&Cone::Exponential, false),
        "refused: the safe box on the exponential block `cone`\n  because the cone is not monotone in its second entry, and no bound is proven for it\n  instead: the mass box, whose vertices are few for three rows, or the scenario method"
    );
    assert_eq!(
        refusal(&Cone::PsdTriangle(2), true),
        "refused: the safe box on the semidefinite block `cone`\n  because its entries are not all released: how the others follow the noise is still free, and |V| is a bound for fixed matrices only\n  instead: a query that releases every entry of the block; or `method = \"mass-box\"` at its 2^3 vertices"
    );
}

/// A noise that reaches only the head of a second-order cone needs no vertices: 17 noises there are no obstacle.
#[test]
fn noises_on_the_head_of_a_cone_need_no_vertices() {
    let mut m = Builder::new();
    let z = m.variable("z", 17);
    let r = m.variable("r", 1);
    let cap = m.parameter("cap");
    let head = cap - z.sum();
    m.norm_at_most("disc", vec![3.0 * r.at(0), Affine::constant(4.0)], head);
    for j in 0..17 {
        m.between(&format!("range {j}"), 0.0, z.at(j), 10.0);
    }
    m.between("r range", 0.0, r.at(0), 50.0);
    m.minimize(-r.at(0));
    let model = m.build_map().unwrap();
    let ask = Ask::new(Query::Variables(vec!["z".into(), "r".into()]))
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .declared(0.1, "a test")
        .feasibility(Feasibility::eta(0.1).method(Choice::MASS_BOX));
    let plan = Plan::new(&model, ask).unwrap();
    let u = plan.released().design().boxes()[0].upper;
    let found = plan.released().at(&[100.0]).unwrap();
    // z ≥ u each, so the head is at least 100 − 34u, and 3(r̄ + u) ≤ √(head² − 16).
    let right = ((100.0 - 34.0 * u).powi(2) - 16.0).sqrt() / 3.0 - u;
    assert!(
        (-found.objective - right).abs() < 1e-4,
        "{} and {right}",
        -found.objective
    );
}
