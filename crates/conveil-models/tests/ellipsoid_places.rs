//! Where a polytope lies, how large it is, and which facets are far away makes no difference to its ellipsoid.

use conveil::ask::{Adjacency, Ask, Privacy};
use conveil::chance::{Choice, Feasibility};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::DataMap;
use conveil::solve::{Settings, solve_checked};
use conveil::{Error, Result};
use conveil_models::ellipsoid::{Ellipsoid, Inscribed};

type Matrix = Vec<Vec<f64>>;

fn square() -> Matrix {
    vec![
        vec![1.0, 0.0],
        vec![-1.0, 0.0],
        vec![0.0, 1.0],
        vec![0.0, -1.0],
    ]
}

fn model(normals: &Matrix) -> Ellipsoid {
    Ellipsoid::inside(normals.clone()).build().expect("a model")
}

/// {x : a'(x − at)/size ≤ b}.
fn moved(normals: &Matrix, offsets: &[f64], at: &[f64], size: f64) -> Vec<f64> {
    let facets = normals.iter().zip(offsets);
    let along = |a: &[f64]| a.iter().zip(at).map(|(a, x)| a * x).sum::<f64>();
    facets.map(|(a, b)| size * b + along(a)).collect()
}

/// As tightly as the solver can: the optimum is flat.
fn solved(normals: &Matrix, offsets: &[f64]) -> Inscribed {
    let model = model(normals);
    let program = model.at(offsets).expect("a program");
    let solution = [1e-12, 1e-11, 1e-10].into_iter().find_map(|tolerance| {
        let settings = Settings::default().with_tolerance(tolerance).ok()?;
        solve_checked(&program, &settings).ok()
    });
    let solution = solution.expect("an optimum");
    model.inscribed(&solution.x).expect("an ellipsoid")
}

/// Within 1e-6 of the size, and of what the offsets themselves are rounded to.
fn assert_moved(found: &Inscribed, right: &Inscribed, at: &[f64], size: f64, what: &str) {
    let far = at.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let within = 1e-6 * size + 1e-14 * far;
    let centres = found.centre().iter().zip(right.centre()).zip(at);
    for ((found, right), at) in centres {
        let off = (found - at - size * right).abs();
        assert!(off < within, "{what}: centre off by {off:e}");
    }
    for (found, right) in found.shape().concat().iter().zip(right.shape().concat()) {
        let off = (found - size * right).abs();
        assert!(off < within, "{what}: shape off by {off:e}");
    }
}

const PLACES: [([f64; 2], f64); 7] = [
    ([1e6, 1e6], 1.0),
    ([-1e6, 1e3], 1.0),
    ([0.0, 0.0], 1e-4),
    ([5.0, -3.0], 1e-4),
    ([0.0, 0.0], 1e5),
    ([1e9, -1e9], 1e5),
    ([1e3, 1e3], 1e-3),
];

/// A square and random polygons: the ellipse moves and grows with them.
#[test]
fn the_ellipsoid_moves_and_grows_with_its_polytope() {
    let mut sampler = Sampler::new(5, 1);
    for polygon in 0..4 {
        let (mut normals, mut offsets) = (square(), vec![0.5; 4]);
        for _ in 0..if polygon == 0 { 0 } else { 5 } {
            let angle = std::f64::consts::TAU * sampler.uniform();
            normals.push(vec![angle.cos(), angle.sin()]);
            offsets.push(0.3 + 0.4 * sampler.uniform());
        }
        let right = solved(&normals, &offsets);
        for (at, size) in PLACES {
            let found = solved(&normals, &moved(&normals, &offsets, &at, size));
            assert_moved(
                &found,
                &right,
                &at,
                size,
                &format!("{polygon} {at:?} {size}"),
            );
        }
    }
}

/// In three dimensions: a tetrahedron.
#[test]
fn a_far_tetrahedron_holds_the_same_ellipsoid() {
    let mut normals: Matrix = (0..3)
        .map(|j| (0..3).map(|i| if i == j { -1.0 } else { 0.0 }).collect())
        .collect();
    normals.push(vec![1.0; 3]);
    let offsets = [0.0, 0.0, 0.0, 1.0];
    let right = solved(&normals, &offsets);
    for (at, size) in [([1e6, -1e6, 1e6], 1.0), ([1.0, 2.0, 3.0], 1e-3)] {
        let found = solved(&normals, &moved(&normals, &offsets, &at, size));
        assert_moved(&found, &right, &at, size, "tetrahedron");
    }
}

/// A facet that is far away binds nothing, with or without noise, at any distance.
#[test]
fn far_facets_change_nothing() {
    let mut normals = square();
    let plain = [0.5; 4];
    let right = solved(&normals, &plain);
    normals.push(vec![1.0, 0.0]);
    normals.push(vec![-300.0, 200.0]);
    for far in [1e3, 1e9, 1e15] {
        for at in [[0.0, 0.0], [1e6, 1e6]] {
            let mut offsets = moved(&square(), &plain, &at, 1.0);
            offsets.extend([far + at[0], 1e3 * far]);
            let found = solved(&normals, &offsets);
            assert_moved(&found, &right, &at, 1.0, &format!("{far} {at:?}"));
        }
    }
}

/// With noise: the mean that a plan decides moves with the polytope, at the vertices and with the safe bound.
#[test]
fn a_plan_decides_the_same_at_any_place() {
    let mut normals = square();
    normals.push(vec![1.0, 1.0]);
    let offsets = [0.5, 0.5, 0.5, 0.5, 0.6];
    let decided = |normals: &Matrix, offsets: &[f64], size: f64, method: Choice| {
        let model = model(normals);
        let ask = Ask::new(model.query())
            .adjacency(Adjacency::Universe)
            .privacy(Privacy::gaussian(1.0, 0.1))
            .declared(0.02 * size, "a study of feasibility alone")
            .feasibility(Feasibility::eta(0.1).method(method));
        let plan = Plan::new(&model, ask).expect("a plan");
        let found = plan.released().at(offsets).expect("a decision");
        model.inscribed(&found.answer).expect("an ellipsoid")
    };
    let close = |found: &Inscribed, right: &Inscribed, at: &[f64], size: f64, what: &str| {
        let off = |found: f64, right: f64| ((found - size * right) / size).abs();
        // The optimum is flat, and the tolerance the usual one: √1e-7.
        let centres = found.centre().iter().zip(right.centre()).zip(at);
        let centre = centres.fold(0.0f64, |m, ((f, r), at)| m.max(off(f - at, *r)));
        let shapes = found.shape().concat().into_iter();
        let shape = shapes
            .zip(right.shape().concat())
            .fold(0.0f64, |m, (f, r)| m.max(off(f, r)));
        assert!(centre.max(shape) < 3e-4, "{what}: {centre:e}, {shape:e}");
    };
    for method in [Choice::MASS_BOX, Choice::SAFE_BOX] {
        let right = decided(&normals, &offsets, 1.0, method);
        for (at, size) in PLACES {
            let there = moved(&normals, &offsets, &at, size);
            let found = decided(&normals, &there, size, method);
            close(
                &found,
                &right,
                &at,
                size,
                &format!("{method:?} {at:?} {size}"),
            );
        }
        let (mut more, mut far) = (normals.clone(), offsets.to_vec());
        more.push(vec![1.0, 0.0]);
        far.push(1e9);
        let found = decided(&more, &far, 1.0, method);
        close(
            &found,
            &right,
            &[0.0, 0.0],
            1.0,
            &format!("{method:?}, a far facet"),
        );
    }
}

/// What has no room is refused wherever it lies, with the same words.
#[test]
fn empty_and_flat_polytopes_are_refused_at_any_place() {
    let model = model(&square());
    let refusal = |offsets: &[f64], at: &[f64], size: f64| -> Error {
        let there = moved(&square(), offsets, at, size);
        let found: Result<()> = model.at(&there).map(|_| ());
        found.expect_err("refused")
    };
    let origin = ([0.0, 0.0], 1.0);
    for (at, size) in PLACES.into_iter().chain([origin]) {
        // x ≤ 1 and x ≥ 2.
        let empty = refusal(&[1.0, -2.0, 1.0, 1.0], &at, size);
        assert!(
            matches!(empty, conveil::Error::Infeasible(_)),
            "{at:?} {size}: {empty}"
        );
        let text = empty.to_string();
        assert!(
            text.contains("facet 0") && text.contains("facet 1"),
            "{text}"
        );
        assert!(!text.contains("facet 2"), "{text}");
        // x = 1; a segment thinner than a millionth of its length; a point.
        for offsets in [
            [1.0, -1.0, 1.0, 1.0],
            [1.0, -1.0 + 1e-6, 1.0, 1.0],
            [1.0, -1.0, 1.0, -1.0],
        ] {
            let flat = refusal(&offsets, &at, size).to_string();
            let says_flat = flat.starts_with("the polytope has no interior: `facet ")
                && flat.contains("leave no room between them, and the largest ellipsoid is flat");
            let says_thin = flat.starts_with("the polytope has no interior to speak of: its ")
                && flat.contains("less than a millionth of its width");
            let is_thin = offsets[1] != -1.0;
            assert!(
                says_flat || (is_thin && says_thin),
                "{at:?} {size} {offsets:?}: {flat}"
            );
        }
    }
    // A far facet does not make a thin polytope of a full one, nor a full one of a flat one.
    let mut normals = square();
    normals.push(vec![1.0, 0.0]);
    let far = self::model(&normals);
    assert!(far.at(&[0.5, 0.5, 0.5, 0.5, 1e12]).is_ok());
    assert!(far.at(&[1.0, -1.0, 1.0, 1.0, 1e12]).is_err());
}

/// Bounds around a far facet do not bring it back.
#[test]
fn public_bounds_and_far_facets_go_together() {
    let mut normals = square();
    normals.push(vec![1.0, 0.0]);
    let bounds = vec![
        (0.4, 0.6),
        (0.4, 0.6),
        (0.4, 0.6),
        (0.4, 0.6),
        (0.9e9, 1.1e9),
    ];
    let model = Ellipsoid::inside(normals)
        .bounds(bounds)
        .build()
        .expect("a model");
    let program = model.at(&[0.5, 0.5, 0.5, 0.7, 1e9]).expect("a program");
    let offsets = model.offsets(&program);
    assert_eq!(offsets[..4], [0.5, 0.5, 0.5, 0.6]);
    assert!(offsets[4] < 100.0, "{offsets:?}");
}
