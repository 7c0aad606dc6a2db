//! The ℓ₁ ball: its radius, its rows, its vertices, and what it refuses.

use conveil::ask::{Adjacency, Ask, Privacy, Query};
use conveil::chance::{Choice, Feasibility};
use conveil::noise::{Law, Sampler};
use conveil::plan::Plan;
use conveil::program::{AffineMap, Builder};

const ETA: f64 = 0.05;

/// max Σx over Σx ≤ 40 and ‖x‖ ≤ 30 with a private lower limit: all of x is released.
fn model(k: usize) -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", k);
    let low = m.parameter("low");
    let sum = || (1..k).fold(x.at(0), |sum, j| sum + x.at(j));
    m.minimize(-1.0 * sum());
    m.at_most("sum", sum(), 40.0);
    m.at_most("limit", low - x.at(0), 0.0);
    m.norm_at_most("disc", x.entries(), 30.0);
    m.build_map().unwrap()
}

fn plan(map: &AffineMap, privacy: Privacy, method: Choice) -> conveil::Result<Plan<'_>> {
    let ask = Ask::new(Query::Identity)
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(privacy)
        .declared(0.2, "a test")
        .feasibility(Feasibility::eta(ETA).method(method));
    Plan::new(map, ask)
}

/// Pr[Σ|ζ_j| > r] for k unit Laplace noises: e^{−r} Σ_{i<k} rⁱ/i!.
fn outside(k: u32, r: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 0.0);
    for i in 0..k {
        sum += term;
        term *= r / f64::from(i + 1);
    }
    sum * (-r).exp()
}

#[test]
fn the_l1_ball_keeps_the_promised_probability() {
    for k in [2, 3, 7] {
        let map = model(k);
        let plan = plan(&map, Privacy::laplace(1.0), Choice::L1_BALL).unwrap();
        let curated = plan.curate(&[0.5]).unwrap();
        assert!(curated.report().empirical.probability() <= ETA);
        // The row Σx ≤ 40 has v = 1: its room is the radius itself, whose tail is the share.
        let mean: f64 = curated.decided().mean.iter().sum();
        let radius = (40.0 - mean).max(0.0) / plan.law().scale();
        if mean > 39.0 - plan.law().scale() * radius {
            assert!(outside(k as u32, radius) <= ETA * (1.0 + 1e-6), "{k}");
        }
        let line = &plan.guarantee().budget().lines()[0];
        assert_eq!((line.method.as_str(), line.certified), ("l1 ball", ETA));
        assert!(line.detail.starts_with("‖ζ‖₁ ≤ "), "{}", line.detail);
    }
}

#[test]
fn the_radius_of_the_l1_ball_is_the_quantile_of_a_gamma_law() {
    let k = 4;
    let map = model(k);
    let plan = plan(&map, Privacy::laplace(1.0), Choice::L1_BALL).unwrap();
    let detail = &plan.guarantee().budget().lines()[0].detail;
    let radius: f64 = detail.trim_start_matches("‖ζ‖₁ ≤ ").parse().unwrap();
    let scale = plan.law().scale();
    // Above the exact quantile by the lattice and the printed digits alone.
    assert!((outside(4, radius / scale) / ETA - 1.0).abs() < 1e-4);
    // False alarms below 1e-6: five standard deviations of 200 000 draws.
    let (draws, law) = (200_000, Law::laplace(scale).unwrap());
    let mut sampler = Sampler::new(11, 0);
    let mut zeta = vec![0.0; k];
    let beyond = (0..draws)
        .filter(|_| {
            sampler.fill(&law, &mut zeta);
            zeta.iter().map(|z| z.abs()).sum::<f64>() > radius
        })
        .count();
    let expected = ETA * f64::from(draws);
    assert!((beyond as f64 - expected).abs() < 5.0 * expected.sqrt());
}

#[test]
fn a_cone_that_meets_many_noises_stands_at_2k_vertices() {
    // Twenty noises: a box would have 2^20 vertices.
    let map = model(20);
    let refused = plan(&map, Privacy::laplace(4.0), Choice::MASS_BOX).unwrap_err();
    assert!(refused.to_string().contains("2^20 vertices"), "{refused}");
    let plan = plan(&map, Privacy::laplace(4.0), Choice::L1_BALL).unwrap();
    let curated = plan.curate(&[0.1]).unwrap();
    assert!(curated.report().empirical.probability() <= ETA);
    assert_eq!(curated.decided().lifted_size, (20, 2 + 2 * 20 * 21));
}

#[test]
fn the_l1_ball_is_for_laplace_noise() {
    let map = model(2);
    let refused = plan(&map, Privacy::gaussian(1.0, 1e-5), Choice::L1_BALL).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "refused: the l1-ball method\n  because its radius is proven for Laplace noise, and this is Gaussian\n  instead: the mass box, or row by row"
    );
}

/// ‖(θx, y)‖ ≤ 1 with x released and y fixed before the noise: at θ = 0 no noise reaches the cone, and it still bounds y.
#[test]
fn a_cone_that_no_noise_reaches_at_these_data_still_holds() {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let y = m.here_and_now("y", 1);
    let theta = m.parameter("theta");
    m.minimize(-1.0 * y.at(0));
    m.between("range", -9.0, x.at(0), 9.0);
    m.between("wide", -50.0, y.at(0), 50.0);
    m.norm_at_most("disc", vec![theta * x.at(0), y.at(0)], 1.0);
    let map = m.build_map().unwrap();
    let ask = Ask::new(Query::Sum(vec!["x".into()]))
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .declared(0.2, "a test")
        .feasibility(Feasibility::eta(ETA).method(Choice::L1_BALL));
    let plan = Plan::new(&map, ask).unwrap();
    let mean = plan.released().at(&[0.0]).unwrap().mean;
    assert!((mean[1] - 1.0).abs() < 1e-6, "{mean:?}");
}
