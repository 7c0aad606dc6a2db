//! Regression: what it fits, what its certificate promises, what it refuses.

use conveil::Error;
use conveil::ask::{Adjacency, Ask, NoiseShape, Privacy, Query, Request};
use conveil::audit::{Audit, Verdict};
use conveil::noise::Sampler;
use conveil::plan::{Plan, compare};
use conveil::program::DataMap;
use conveil::solve::{Batch, Settings, solve_checked};
use conveil_models::records::Records;
use conveil_models::regression::{
    Basis, Behaviour, Condition, Loss, Regression, RegressionBuilder,
};

fn speeds(count: usize) -> Records {
    let rows: Vec<String> = (0..count)
        .map(|i| format!("{}", 3.0 + 12.0 * i as f64 / (count - 1) as f64))
        .collect();
    Records::read("x.csv", format!("speed\n{}\n", rows.join("\n")).as_bytes()).unwrap()
}

/// A smooth curve from 0 to 1 with a seeded disturbance.
fn powers(regressors: &Records, seed: u64) -> Vec<f64> {
    let mut sampler = Sampler::new(seed, 0);
    let curve = |x: f64| 1.0 / (1.0 + (-(x - 8.0)).exp());
    let rows = regressors.rows();
    rows.map(|x| (curve(x[0]) + 0.1 * sampler.unit_normal()).clamp(0.0, 1.0))
        .collect()
}

/// The paper's four functions.
fn wind(count: usize) -> RegressionBuilder {
    Regression::of(speeds(count), "power")
        .basis(Basis::radial("speed", &[3.0, 7.0, 11.0, 15.0]))
        .ridge(1e-3)
        .within(0.0, 1.0)
}

fn increasing(points: &[f64]) -> Condition {
    Condition::at(Behaviour::Increasing, "speed", points)
}

fn solved(model: &Regression, y: &[f64]) -> Vec<f64> {
    let settings = Settings::default().with_tolerance(1e-10).unwrap();
    let x = solve_checked(&model.at(y).unwrap(), &settings).unwrap().x;
    x[..model.weights().len()].to_vec()
}

/// Gauss elimination, for the second road.
fn linear_solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs()))
            .unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let f = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= f * a[k][j];
            }
            b[i] -= f * b[k];
        }
    }
    for k in (0..n).rev() {
        let rest: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - rest) / a[k][k];
    }
    b
}

fn normal_equations(model: &Regression, y: &[f64]) -> Vec<f64> {
    let mut p = model.gram().to_vec();
    (0..p.len()).for_each(|i| p[i][i] += model.ridge());
    let mut c = vec![0.0; p.len()];
    for (row, y) in model.design().iter().zip(y) {
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

fn certified(model: &Regression) -> Plan<'_> {
    let ask = model
        .ask()
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::gaussian(1.0, 1e-5))
        .feasible(0.97);
    Plan::new(model, ask).unwrap()
}

#[test]
fn the_certificate_is_the_largest_leverage() {
    let model = wind(300)
        .condition(increasing(&[4.0, 8.0]))
        .build()
        .unwrap();
    let mut p = model.gram().to_vec();
    (0..p.len()).for_each(|i| p[i][i] += model.ridge());
    let leverage = |row: &Vec<f64>| {
        let solved = linear_solve(p.clone(), row.clone());
        row.iter().zip(&solved).map(|(a, b)| a * b).sum::<f64>()
    };
    let largest = model.design().iter().map(leverage).fold(0.0, f64::max);
    let found = certified(&model).guarantee().sensitivity();
    let expected = largest.sqrt();
    assert!(found >= expected, "{found} {expected}");
    // The engine allows the solver a hundredth of the bound.
    assert!(found <= expected * 1.0101, "{found} {expected}");
}

/// The claim of the certificate, over random neighbours, extreme records and an adversarial search.
#[test]
fn the_certificate_holds_over_two_thousand_adjacent_pairs() {
    let model = wind(150)
        .condition(increasing(&[3.5, 4.5, 6.0, 8.0, 9.5]))
        .build()
        .unwrap();
    for (name, ask) in [
        (
            "one entry, Gaussian",
            model
                .ask()
                .adjacency(Adjacency::one_entry(1.0))
                .privacy(Privacy::gaussian(1.0, 1e-5)),
        ),
        (
            "one record, Laplace",
            model
                .ask()
                .adjacency(Adjacency::OneRecord { len: 1 })
                .privacy(Privacy::laplace(1.0)),
        ),
    ] {
        let plan = Plan::new(&model, ask).unwrap();
        let bound = plan.guarantee().sensitivity();
        let norm = plan.guarantee().privacy().norm();
        let answer = |y: &[f64]| {
            let decided = plan.released().at(y).unwrap();
            plan.released().shape().unshape(&decided.answer)
        };
        let mut sampler = Sampler::new(17, 0);
        let mut worst = 0.0f64;
        // 1000 pairs here, each with an extreme record: all the range at once.
        for pair in 0..1000 {
            let mut y: Vec<f64> = match pair % 3 {
                0 => powers(&speeds(150), pair),
                1 => (0..150).map(|_| sampler.uniform()).collect(),
                _ => (0..150).map(|_| sampler.uniform().round()).collect(),
            };
            let record = (sampler.uniform() * 149.0) as usize;
            // The ends of the range have the highest leverage.
            let record = [record, 0, 149][pair as usize % 3];
            y[record] = 0.0;
            let low = answer(&y);
            y[record] = 1.0;
            let moved: Vec<f64> = answer(&y).iter().zip(&low).map(|(a, b)| a - b).collect();
            worst = worst.max(norm.of(&moved));
        }
        assert!(worst <= bound, "{name}: {worst} against {bound}");
        // 1000 random ones and the search there.
        let audit = Audit::new().pairs(1000).climbs(3).solves(2000).seed(5);
        let report = audit.run(&plan, &Batch::new()).unwrap();
        assert_eq!(report.verdict, Verdict::NoneFound, "{name}");
        assert!(report.audited_epsilon <= 1.0);
        println!(
            "{name}: largest movement {worst:.6} of a certified {bound:.6} (tightness {:.1}%); audited ε = {:.4}",
            100.0 * worst / bound,
            report.audited_epsilon
        );
        // A bound that nothing comes near would prove little.
        assert!(worst >= 0.5 * bound, "{name}: {worst} against {bound}");
    }
}

#[test]
fn a_halved_certificate_is_caught() {
    let model = wind(150)
        .condition(increasing(&[4.0, 8.0]))
        .build()
        .unwrap();
    let bound = certified(&model).guarantee().sensitivity();
    let ask = model
        .ask()
        .declared(0.5 * bound, "a mutant: half of the certificate")
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::gaussian(1.0, 1e-5));
    let plan = Plan::new(&model, ask).unwrap();
    let report = Audit::new().pairs(100).run(&plan, &Batch::new()).unwrap();
    assert_eq!(report.verdict, Verdict::Flagged);
    assert!(report.audited_epsilon > 1.5, "{}", report.audited_epsilon);
}

#[test]
fn shaped_noise_costs_less_than_isotropic_noise() {
    let model = wind(300).build().unwrap();
    let y = powers(&speeds(300), 1);
    let loss = |ask: Ask| {
        let ask = ask
            .adjacency(Adjacency::one_entry(1.0))
            .privacy(Privacy::gaussian(1.0, 1e-5));
        let plan = Plan::new(&model, ask).unwrap();
        let found = compare(&plan, &y, 200, 1, &Batch::new()).unwrap();
        let row = found.rows.iter().find(|r| r.strategy == "output").unwrap();
        row.loss.unwrap()
    };
    let shaped = loss(model.ask());
    let isotropic = loss(Ask::new(model.query()).sensitivity(Request::StrongConvexity));
    assert!(shaped < 0.2 * isotropic, "{shaped} {isotropic}");
    assert_eq!(NoiseShape::default(), NoiseShape::Identity);
}

#[test]
fn projected_output_keeps_every_condition() {
    let model = wind(150)
        .condition(increasing(&[3.5, 5.0, 7.0, 9.0]))
        .build()
        .unwrap();
    let y = powers(&speeds(150), 2);
    let plan = certified(&model);
    let found = compare(&plan, &y, 500, 1, &Batch::new()).unwrap();
    let row = |name: &str| {
        let row = found.rows.iter().find(|r| r.strategy == name).unwrap();
        assert_eq!(row.status, "ok", "{name}");
        row.clone()
    };
    assert_eq!(
        row("projected output").sampled_infeasible_percent,
        Some(0.0)
    );
    assert!(row("program").sampled_infeasible_percent.unwrap() <= 3.0 + 3.0);
    // M13, as measured: where the conditions are public, a projection costs less than program perturbation.
    let drawn = |name: &str| row(name).sampled_loss_percent.unwrap();
    assert!(drawn("projected output") < drawn("program"));
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

#[test]
fn names_say_what_the_weights_are() {
    let records = Records::read("x.csv", "a,b\n1,2\n2,5\n4,4\n3,1\n".as_bytes()).unwrap();
    let model = Regression::of(records, "y")
        .basis(Basis::Constant)
        .basis(Basis::linear("b"))
        .basis(Basis::polynomial("a", 2))
        .basis(Basis::Power {
            feature: "a".into(),
            degree: 3,
            centre: 5.0,
            scale: 0.5,
        })
        .basis(Basis::Radial {
            feature: "b".into(),
            centres: vec![-1.0],
            width: 2.0,
        })
        .ridge(1.0)
        .condition(Condition::at(Behaviour::Convex, "a", &[1.0]))
        .build()
        .unwrap();
    let names = [
        "constant",
        "b",
        "a",
        "a^2",
        "0.5·(a − 5)^3",
        "radial(b, -1, 2)",
    ];
    assert_eq!(model.weights(), names);
    assert_eq!(
        model.query(),
        Query::Variables(names.map(String::from).to_vec())
    );
    assert_eq!(model.template().row_name(0), "convex along a at 1");
    assert_eq!(model.parameters()[2].name(), "y 3");
    assert_eq!(model.loss(), Loss::Squared);
    assert_eq!(model.condition_rows().len(), 1);
}

#[test]
#[rustfmt::skip] // one case, two lines
fn refusals() {
    let flat = || Regression::of(speeds(10), "power");
    let cases: Vec<(RegressionBuilder, &str)> = vec![
        (flat(),
            "a regression needs at least one basis function"),
        (flat().basis(Basis::linear("wind")),
            "a basis function needs the feature `wind`, which is not among speed"),
        (flat().basis(Basis::linear("speed")).basis(Basis::linear("speed")),
            "the basis function `speed` is there twice"),
        (flat().basis(Basis::polynomial("speed", 0)),
            "the degree of a basis function must lie between 1 and 32, found 0"),
        (flat().basis(Basis::polynomial("speed", 33)),
            "the degree of a basis function must lie between 1 and 32, found 33"),
        (flat().basis(Basis::radial("speed", &[])),
            "radial basis functions need at least one centre"),
        (flat().basis(Basis::radial("speed", &[f64::NAN])),
            "the centre of a basis function must be finite, found NaN"),
        (flat().basis(Basis::Radial { feature: "speed".into(), centres: vec![1.0], width: 0.0 }),
            "the width of a basis function must be finite and positive, found 0"),
        (flat().basis(Basis::Power { feature: "speed".into(), degree: 1, centre: 0.0, scale: 0.0 }),
            "the scale of a basis function must be finite and not 0, found 0"),
        (flat().basis(Basis::linear("speed")).ridge(-1.0),
            "the ridge must be finite and not negative, found -1"),
        (flat().basis(Basis::polynomial("speed", 12)),
            "the basis functions depend on each other on these 10 records, so that the weights are no function of the data: use fewer functions, or a ridge above 0"),
        (flat().basis(Basis::linear("speed")).condition(increasing(&[])),
            "the condition `increasing` along `speed` needs at least one point"),
        (flat().basis(Basis::linear("speed")).condition(increasing(&[f64::INFINITY])),
            "increasing along speed at inf: the point must be finite"),
        (flat().basis(Basis::linear("speed")).condition(Condition::at(Behaviour::Convex, "speed", &[4.0])),
            "convex along speed at 4: every basis function is flat there, so that no weight matters"),
        (flat().basis(Basis::Constant).condition(increasing(&[4.0])),
            "a condition is about `speed`, but no basis function depends on it"),
        (flat().basis(Basis::Power { feature: "speed".into(), degree: 32, centre: -1e12, scale: 1.0 }).ridge(1.0),
            "record 1: the basis function `(speed + 1000000000000)^32` is beyond 1e100 there: take other units"),
        (flat().basis(Basis::linear("speed")).basis(Basis::Constant).condition(increasing(&[4.0])).loss(Loss::Norm),
            "with the norm loss every weight must stand in a condition, and that of `constant` stands in none: the squared loss has no such limit"),
        (flat().basis(Basis::linear("speed")).unit("sped", "m/s"),
            "a unit is stated for `sped`, which is neither the response nor a regressor"),
        (flat().basis(Basis::linear("speed")).within(1.0, 1.0),
            "the bounds of the response `power` must be in order and at most 1e100 in size, found [1.0, 1.0]: state what is known about it, in a unit in which it is neither huge nor tiny"),
    ];
    for (builder, expected) in cases {
        match builder.build() {
            Ok(_) => panic!("accepted, expected: {expected}"),
            Err(error) => assert_eq!(error.to_string(), expected),
        }
    }
    let zero = Records::read("x.csv", "x\n1\n0\n".as_bytes()).unwrap();
    let error = Regression::of(zero, "y").basis(Basis::linear("x")).build().unwrap_err();
    assert_eq!(error.to_string(), "record 2: every basis function is 0 there, so that its response does not count");
    // A constant feature beside the intercept.
    let constant = Records::read("x.csv", "x\n2\n2\n2\n".as_bytes()).unwrap();
    let both = Regression::of(constant, "y").basis(Basis::Constant).basis(Basis::linear("x"));
    let error = both.clone().build().unwrap_err();
    assert!(error.to_string().starts_with("the basis functions depend on each other on these 3 records"), "{error}");
    assert!(both.ridge(0.1).build().is_ok());
    let two = Records::read("x.csv", "a,b\n1,2\n0,3\n5,1\n".as_bytes()).unwrap();
    let error = Regression::of(two, "y").basis(Basis::linear("a")).basis(Basis::linear("b"))
        .condition(Condition::at(Behaviour::Nonnegative, "a", &[1.0])).build().unwrap_err();
    assert!(error.to_string().starts_with("the sign of the function at a point of `a` depends on the other features too"));
}

#[test]
fn the_norm_loss_has_no_certificate() {
    let model = wind(30)
        .loss(Loss::Norm)
        .condition(increasing(&[4.0]))
        .build()
        .unwrap();
    let ask = model
        .ask()
        .sensitivity(Request::StrongConvexity)
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0));
    let error = Plan::new(&model, ask).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    // Without a request the ask is not complete: there is no default to fall back to.
    let ask = model
        .ask()
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0));
    let error = Plan::new(&model, ask).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the ask states no sensitivity"),
        "{error}"
    );
}

#[test]
fn a_proven_certificate_is_not_doubted_because_of_units() {
    // 1, x, x², x³ between 3 and 15: entries of P from 10 to 10⁸, and positive definite all the same.
    let cubic = |ridge: f64| {
        Regression::of(speeds(40), "power")
            .basis(Basis::Constant)
            .basis(Basis::polynomial("speed", 3))
            .ridge(ridge)
            .within(0.0, 1.0)
            .build()
            .unwrap()
    };
    let model = cubic(0.1);
    let ask =
        (model.ask().adjacency(Adjacency::one_entry(0.5))).privacy(Privacy::gaussian(1.0, 1e-6));
    let plan = Plan::new(&model, ask).unwrap();
    let doubts = |w: &&String| w.contains("not strongly convex");
    assert_eq!(plan.warnings().iter().find(doubts), None);
}

#[test]
fn formulas_of_a_model_are_the_functions_it_fits() {
    let model = Regression::of(speeds(9), "power")
        .basis(Basis::Constant)
        .basis(Basis::Power {
            feature: "speed".into(),
            degree: 2,
            centre: -1.5,
            scale: -2.0,
        })
        .basis(Basis::Radial {
            feature: "speed".into(),
            centres: vec![0.0, 4.0],
            width: 3.0,
        })
        .unit("speed", "m/s")
        .ridge(0.1)
        .build()
        .unwrap();
    let reading = model.meaning().reading.unwrap();
    let formulas: Vec<&str> = reading.terms.iter().map(|t| t.formula.as_str()).collect();
    let expected = [
        "1",
        "-2·(speed + 1.5)^2",
        "√(1 + (speed/3)^2)",
        "√(1 + ((speed − 4)/3)^2)",
    ];
    assert_eq!(formulas, expected);
    let weights: Vec<&str> = reading.terms.iter().map(|t| t.weight.as_str()).collect();
    assert_eq!(weights, model.weights());
    // The numbers beside the formulas evaluate to what the model fits.
    for x in [-1.0f64, 3.5, 12.0] {
        for (j, term) in reading.terms.iter().enumerate() {
            let number = |key: &str| term.numbers[key];
            let value = match term.kind {
                "constant" => 1.0,
                "power" => number("scale") * (x - number("center")).powf(number("degree")),
                _ => (1.0 + ((x - number("center")) / number("width")).powi(2)).sqrt(),
            };
            let unit: Vec<f64> = (0..4).map(|i| f64::from(u8::from(i == j))).collect();
            let fitted = model.fitted(&unit, &[x]);
            assert!(
                (value - fitted).abs() < 1e-12 * (1.0 + fitted.abs()),
                "{}",
                term.formula
            );
        }
    }
    assert_eq!(reading.value.bounds, None);
    assert_eq!(reading.inputs[0].unit.as_deref(), Some("m/s"));
}

/// A loss in percent is of the squared residuals: not of a number that a shift of all responses changes.
#[test]
fn a_loss_in_percent_is_of_the_residuals() {
    let model = |shift: f64| {
        Regression::of(speeds(200), "power")
            .basis(Basis::Constant)
            .basis(Basis::linear("speed"))
            .condition(increasing(&[4.0, 8.0]))
            .within(-40.0, 40.0 + shift)
            .build()
            .unwrap()
    };
    let y = powers(&speeds(200), 5);
    let mut seen = Vec::new();
    for shift in [0.0, 30.0] {
        let model = model(shift);
        let y: Vec<f64> = y.iter().map(|v| v + shift).collect();
        let plan = certified(&model);
        let curated = plan.curate(&y).unwrap();
        let report = curated.report();
        let weights = solved(&model, &y);
        let half = 0.5 * model.norm_loss(&weights, &y).powi(2);
        assert!((report.optimum - half).abs() < 1e-6 * half, "{shift}");
        // Under noise: the mean over the map's own draws.
        let decided = curated.decided();
        let mut sampler = Sampler::new(17, 0);
        let draws = 20_000;
        let mut sum = 0.0;
        for _ in 0..draws {
            let zeta: Vec<f64> = (0..2)
                .map(|_| plan.law().std_dev() * sampler.unit_normal())
                .collect();
            let moved = decided.recourse.apply(&zeta);
            let w: Vec<f64> = decided
                .mean
                .iter()
                .zip(&moved)
                .map(|(a, b)| a + b)
                .collect();
            sum += 0.5 * model.norm_loss(&w, &y).powi(2);
        }
        let mean = sum / f64::from(draws);
        let percent = report.loss_percent.unwrap();
        let drawn = 100.0 * (mean / half - 1.0);
        assert!((percent - drawn).abs() < 0.05 * drawn, "{percent} {drawn}");
        let table = compare(&plan, &y, 100, 3, &Batch::new()).unwrap();
        assert!((table.optimum - half).abs() < 1e-6 * half);
        let program = table.rows.iter().find(|r| r.strategy == "program");
        seen.push((percent, program.unwrap().loss_percent.unwrap()));
    }
    let close = |a: f64, b: f64| (a - b).abs() < 1e-4 * a.abs();
    assert!(close(seen[0].0, seen[1].0), "{seen:?}");
    assert!(close(seen[0].1, seen[1].1), "{seen:?}");
}
