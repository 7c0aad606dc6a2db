//! What a regression fits: the normal equations, one minimiser for both losses, and conditions that hold.

mod fitting;

use conveil::program::DataMap;
use conveil::solve::{Settings, solve_checked};
use conveil_models::regression::{Basis, Behaviour, Condition, Loss, Regression};
use fitting::{increasing, linear_solve, powers, solved, speeds, wind};

fn normal_equations(model: &Regression, y: &[f64]) -> Vec<f64> {
    let mut p = model.gram().to_vec();
    (0..p.len()).for_each(|i| p[i][i] += model.ridge());
    let mut c = vec![0.0; p.len()];
    for (row, y) in model.design().zip(y) {
        c.iter_mut().zip(row).for_each(|(c, v)| *c += v * y);
    }
    linear_solve(p, c)
}

#[test]
fn without_active_conditions_the_weights_solve_the_normal_equations() {
    for (builder, name) in [
        (wind(200), "radial"),
        (
            Regression::of(speeds(50), "power")
                .basis(Basis::Constant)
                .basis(Basis::Polynomial {
                    feature: "speed".into(),
                    degree: 3,
                    centre: 9.0,
                })
                .ridge(0.5),
            "polynomial",
        ),
    ] {
        let model = builder.build().unwrap();
        let y = powers(&speeds(model.records()), 3);
        let (found, expected) = (solved(&model, &y), normal_equations(&model, &y));
        for (a, b) in found.iter().zip(&expected) {
            assert!((a - b).abs() < 1e-6 * (1.0 + b.abs()), "{name}: {a} {b}");
        }
    }
}

/// Revenue in euros is fitted as well as in millions: conditions have the limit 0 in every unit.
#[test]
fn responses_in_a_small_unit_are_fitted_as_well() {
    for condition in [Behaviour::Increasing, Behaviour::Concave] {
        let model = wind(60)
            .within(-1e15, 1e15)
            .condition(Condition::at(condition, "speed", &[3.5, 5.0, 8.0, 10.0]))
            .build()
            .unwrap();
        let y = powers(&speeds(60), 8);
        let own = solved(&model, &y);
        for unit in [1e5, 1e7, 1e9, 1e12] {
            let scaled: Vec<f64> = y.iter().map(|y| unit * y).collect();
            let program = model.at(&scaled).unwrap();
            let found = solve_checked(&program, &Settings::default()).unwrap();
            for (a, b) in own.iter().zip(&found.x) {
                assert!(
                    (a - b / unit).abs() < 1e-4 * (1.0 + a.abs()),
                    "{unit}: {a} {b}"
                );
            }
        }
    }
}

#[test]
fn both_losses_have_one_minimiser_without_a_ridge() {
    // ‖·‖ and ‖·‖² grow together: with λ = 0 the cone program must find the weights of the quadratic one, conditions and all.
    let build = |loss| {
        wind(120)
            .ridge(0.0)
            .loss(loss)
            .condition(increasing(&[3.0, 5.0, 7.0, 10.0, 14.5]))
            .build()
            .unwrap()
    };
    let (squared, norm) = (build(Loss::Squared), build(Loss::Norm));
    for seed in 0..5 {
        let y = powers(&speeds(120), seed);
        let (a, b) = (solved(&squared, &y), solved(&norm, &y));
        let (la, lb) = (squared.norm_loss(&a, &y), norm.norm_loss(&b, &y));
        assert!((la - lb).abs() < 1e-7, "{la} {lb}");
        a.iter()
            .zip(&b)
            .for_each(|(a, b)| assert!((a - b).abs() < 1e-3, "{a} {b}"));
        assert!(squared.least_condition(&a) > -1e-7);
    }
}

#[test]
fn conditions_hold_where_they_are_asked_and_cost_nothing_where_they_hold_anyway() {
    let y: Vec<f64> = speeds(60).rows().map(|x| 1.0 - x[0] / 15.0).collect();
    let free = wind(60).build().unwrap();
    let down = wind(60)
        .condition(Condition::at(Behaviour::Decreasing, "speed", &[5.0, 10.0]))
        .build()
        .unwrap();
    let up = wind(60)
        .condition(increasing(&[5.0, 10.0]))
        .build()
        .unwrap();
    let (f, d, u) = (solved(&free, &y), solved(&down, &y), solved(&up, &y));
    f.iter()
        .zip(&d)
        .for_each(|(f, d)| assert!((f - d).abs() < 1e-6, "{f} {d}"));
    assert!(up.least_condition(&f) < -1e-3, "the data decrease");
    assert!(up.least_condition(&u) > -1e-8);
    assert!(up.norm_loss(&u, &y) > free.norm_loss(&f, &y) + 0.1);
    // Second road: the slope of the fitted function, by differences.
    for point in [5.0, 10.0] {
        let slope = (up.fitted(&u, &[point + 1e-5]) - up.fitted(&u, &[point - 1e-5])) / 2e-5;
        assert!(slope > -1e-6, "{slope} at {point}");
    }
}

#[test]
fn signs_and_curvatures_are_conditions_too() {
    let y: Vec<f64> = speeds(80).rows().map(|x| (x[0] - 9.0).sin()).collect();
    let points = [4.0, 6.0, 8.0, 10.0, 12.0, 14.0];
    let h = 1e-3;
    for behaviour in [
        Behaviour::Nonnegative,
        Behaviour::Nonpositive,
        Behaviour::Convex,
        Behaviour::Concave,
    ] {
        let model = wind(80)
            .condition(Condition::at(behaviour, "speed", &points))
            .build()
            .unwrap();
        let w = solved(&model, &y);
        let at = |x: f64| model.fitted(&w, &[x]);
        for u in points {
            let (value, bend) = (at(u), (at(u + h) - 2.0 * at(u) + at(u - h)) / (h * h));
            let kept = match behaviour {
                Behaviour::Nonnegative => value,
                Behaviour::Nonpositive => -value,
                Behaviour::Convex => bend,
                _ => -bend,
            };
            assert!(kept > -1e-6, "{behaviour:?} at {u}: {kept}");
        }
    }
    let signed = wind(80)
        .condition(Condition::Weights { nonnegative: true })
        .build()
        .unwrap();
    assert!(solved(&signed, &y).iter().all(|w| *w > -1e-8));
}

#[test]
fn responses_outside_their_public_bounds_are_clipped_and_counted() {
    let model = wind(20).build().unwrap();
    let mut y = vec![0.5; 20];
    let inside = model.at(&y).unwrap();
    y[3] = 7.0;
    y[4] = -1.0;
    assert_eq!(model.outside(&y), 2);
    let clipped = model.at(&y).unwrap();
    y[3] = 1.0;
    y[4] = 0.0;
    assert_eq!(model.outside(&y), 0);
    assert_eq!(model.at(&y).unwrap().q(), clipped.q());
    assert_ne!(inside.q(), clipped.q());
    assert_eq!(model.bounds(), Some((0.0, 1.0)));
}
