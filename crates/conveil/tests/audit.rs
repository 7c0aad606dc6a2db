//! Audits (M10): a true claim passes, a false one is flagged, the search finds what random pairs miss.

mod structure_common;

use conveil::ask::{Adjacency, Ask, MapKind, Privacy, Query, Universe};
use conveil::audit::Audit;
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::{AffineMap, Builder};
use conveil::solve::Batch;
use structure_common::sampled;

/// A support vector machine on `points` private points of two classes: rows y(w'x − b) ≥ 1 − z, z ≥ 0.
fn svm(points: usize, lambda: f64) -> (AffineMap, Vec<f64>) {
    let mut sampler = Sampler::new(5, 5);
    let mut m = Builder::new();
    let w = m.decision("w", 2);
    let b = m.decision("b", 1);
    let z = m.variable("z", points);
    let mut theta = Vec::new();
    for i in 0..points {
        let class = if i % 2 == 0 { 1.0 } else { -1.0 };
        let x = [0, 1].map(|k| m.parameter(&format!("x{i}_{k}")));
        theta.extend([0, 1].map(|_| class * 1.0 + 0.7 * sampler.unit_normal()));
        let score = class * (x[0] * w.at(0)) + class * (x[1] * w.at(1)) - class * b.at(0);
        m.at_most(&format!("margin {i}"), 1.0, score + z.at(i));
        m.at_most(&format!("slack {i}"), 0.0, z.at(i));
        m.minimize(1.0 / points as f64 * z.at(i));
    }
    for j in 0..3 {
        m.quadratic(j, j, 2.0 * lambda);
    }
    (m.build_map().unwrap(), theta)
}

#[test]
fn paper_mode_on_a_support_vector_machine_is_flagged() {
    for lambda in [1e-1, 1e-2, 1e-3] {
    for privacy in [Privacy::laplace(1.0), Privacy::gaussian(1.0, 0.01)] {
    let (map, theta) = svm(40, lambda);
    let universe = Universe::discs(vec![0.0; theta.len()], vec![0.1; theta.len() / 2], 2).unwrap();
    let ask = Ask::new(Query::Variables(vec!["w".into(), "b".into()]))
        .adjacency(Adjacency::Universe)
        .privacy(privacy)
        .sensitivity(sampled(universe, 0.1, 0.1, MapKind::Deterministic))
        .feasible(0.9);
    let t = std::time::Instant::now();
    let plan = Plan::paper_mode(&map, ask, &theta).unwrap();
    println!("{:?}", t.elapsed());
    let report = Audit::new().pairs(100).run(&plan, &Batch::new()).unwrap();
    println!("{:?}", t.elapsed());
    println!("{report}");
    println!("{}", Audit::new().pairs(100).sensitivity(&plan, &Batch::new()).unwrap());
    }}
}
