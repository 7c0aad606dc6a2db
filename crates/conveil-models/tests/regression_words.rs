//! What a regression says: names of weights, formulas of functions, and what is wrong with a model.

mod fitting;

use conveil::ask::Query;
use conveil::program::DataMap;
use conveil_models::records::Records;
use conveil_models::regression::{
    Basis, Behaviour, Condition, Loss, Regression, RegressionBuilder,
};
use fitting::{increasing, speeds};

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
    assert_eq!(model.parameters().get(2).unwrap().name(), "y 3");
    assert_eq!(model.loss(), Loss::Squared);
    assert_eq!(model.condition_rows().len(), 1);
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
