//! Specs of regressions: what is read, and exactly what is said about mistakes.

use conveil::ask::{NoiseShape, Request};
use conveil_models::regression::{Basis, Behaviour, Condition, Loss, RegressionSpec};
use conveil_models::spec::{Sensitivity, Spec, read};

const GOOD: &str = include_str!("../../../fuzz/seeds/spec/regression.toml");

fn good(text: &str) -> Spec {
    read("spec.toml", text).unwrap_or_else(|error| panic!("{error}"))
}

fn regression(spec: &Spec) -> &RegressionSpec {
    spec.model
        .is()
        .unwrap_or_else(|| panic!("{:?}", spec.model))
}

#[test]
fn every_key_is_read() {
    let spec = good(GOOD);
    let found = regression(&spec);
    assert_eq!(spec.model.kind().word, "regression");
    assert_eq!(found.regressors.value, "records.csv");
    assert_eq!(found.response.value, "power");
    assert_eq!((found.ridge, found.loss.value), (0.5, Loss::Squared));
    let features: Vec<&str> = found.features.iter().map(|f| f.value.as_str()).collect();
    assert_eq!(features, ["speed", "temperature", "pressure"]);
    assert_eq!(found.basis.len(), 6);
    assert_eq!(found.basis[0], Basis::Constant);
    assert_eq!(found.basis[1], Basis::linear("speed"));
    assert_eq!(found.basis[2], Basis::linear("temperature"));
    assert!(
        matches!(&found.basis[3], Basis::Polynomial { degree: 2, centre, .. } if *centre == 1.0)
    );
    assert!(
        matches!(&found.basis[4], Basis::Power { degree: 3, centre, scale, .. } if (*centre, *scale) == (5.0, 0.5))
    );
    assert!(
        matches!(&found.basis[5], Basis::Radial { centres, width, .. } if *centres == [3.0, 7.0] && *width == 2.0)
    );
    let Condition::At {
        behaviour, points, ..
    } = &found.conditions[0]
    else {
        panic!();
    };
    assert_eq!(
        (*behaviour, points.as_slice()),
        (Behaviour::Increasing, &[3.0, 9.0][..])
    );
    let Condition::At { points, .. } = &found.conditions[1] else {
        panic!();
    };
    assert_eq!(*points, [1.0, 1.5, 2.0]);
    assert_eq!(
        found.conditions[2],
        Condition::Weights { nonnegative: true }
    );
    assert_eq!(found.bounds, Some((0.0, 1.0)));
    assert_eq!(found.data.as_ref().unwrap().value, "private.csv");
    assert_eq!(
        spec.query.shape.as_ref().unwrap().value,
        NoiseShape::Identity
    );
}

#[test]
fn silence_means_the_defaults() {
    let spec = good(
        &GOOD
            .replace("ridge = 0.5\nloss = \"squared\"\n", "")
            .replace("center = 5.0\nscale = 0.5\n", "")
            .replace("width = 2.0\n", "")
            .replace("data = \"private.csv\"\n", "")
            .replace("shape = \"isotropic\"\n", ""),
    );
    let found = regression(&spec);
    assert_eq!((found.ridge, found.loss.value), (0.0, Loss::Squared));
    assert!(
        matches!(&found.basis[4], Basis::Power { centre, scale, .. } if (*centre, *scale) == (0.0, 1.0))
    );
    assert!(matches!(&found.basis[5], Basis::Radial { width, .. } if *width == 1.0));
    assert_eq!(
        spec.privacy.sensitivity.value,
        Sensitivity::By(Request::strong_convexity())
    );
    assert_eq!(found.data, None);
    assert_eq!(spec.query.shape, None);
}

#[test]
fn the_norm_loss_is_for_paper_mode() {
    let paper = GOOD.replace("loss = \"squared\"", "loss = \"norm\"").replace(
        "delta = 1e-6",
        "delta = 1e-6\nsensitivity = { by = \"sampled\", gamma = 0.05, beta = 0.1, on = \"deterministic\" }",
    );
    assert_eq!(regression(&good(&paper)).loss.value, Loss::Norm);
    // Where the noise is on the answer the deterministic map is the one released: no paper mode, but a private release.
    let said = "loss `norm` is for paper mode: its weights have no certificate\n  help: loss = \"squared\"; paper mode has strategy = \"program\" in [feasibility], in [privacy] sensitivity = { by = \"sampled\", on = \"deterministic\", … } and --not-private";
    for strategy in ["output", "projected"] {
        let private = paper.replace(
            "[feasibility]\n",
            &format!("[feasibility]\nstrategy = \"{strategy}\"\n"),
        );
        assert_ne!(private, paper);
        match read("spec.toml", &private) {
            Ok(_) => panic!("{strategy} was accepted"),
            Err(error) => assert_eq!(error.to_string(), format!("spec.toml:6:8: {said}")),
        }
    }
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes() {
    let cases = [
        ("regressors = \"records.csv\"\n", "",
            "spec.toml:1:1: [problem] needs `regressors`\n  help: for example: regressors = \"records.csv\""),
        ("response = \"power\"\n", "",
            "spec.toml:1:1: [problem] needs `response`\n  help: for example: response = \"power\""),
        ("response = \"power\"", "response = \"speed\"",
            "spec.toml:11:13: `speed` is the private response, and a regressor is public"),
        ("ridge = 0.5", "ridge = -0.5",
            "spec.toml:5:9: `ridge` must be 0 or more, found -0.5"),
        ("loss = \"squared\"", "loss = \"absolute\"",
            "spec.toml:6:8: `loss` must be `squared` or `norm`, found `absolute`"),
        ("loss = \"squared\"", "loss = \"norm\"",
            "spec.toml:6:8: loss `norm` is for paper mode: its weights have no certificate\n  help: loss = \"squared\", or in [privacy] sensitivity = { by = \"sampled\", on = \"deterministic\", … } and --not-private"),
        ("kind = \"radial\"", "kind = \"radical\"",
            "spec.toml:24:8: `kind` must be `constant`, `linear`, `polynomial`, `power` or `radial`, found `radical`\n  help: did you mean `radial`?"),
        ("centers = [3.0, 7.0]", "centers = []",
            "spec.toml:26:11: `centers` must not be empty"),
        ("centers = [3.0, 7.0]\n", "",
            "spec.toml:23:1: [[problem.basis]] needs `centers`\n  help: for example: centers = [3.0, 7.0, 11.0]"),
        ("width = 2.0", "width = 0.0",
            "spec.toml:27:9: `width` must be positive, found 0.0"),
        ("degree = 2", "degree = 33",
            "spec.toml:15:10: `degree` must lie between 1 and 32, found 33"),
        ("scale = 0.5", "scale = 0",
            "spec.toml:22:9: `scale` must differ from 0, found 0"),
        ("features = [\"speed\", \"temperature\"]", "features = [\"speed\", \"speed\"]",
            "spec.toml:11:22: `speed` is named twice"),
        ("features = [\"speed\", \"temperature\"]", "width = 1.0",
            "spec.toml:9:1: kind `linear` needs `feature` or `features`\n  help: for example: features = [\"speed\", \"temperature\"]"),
        ("kind = \"constant\"", "kind = \"constant\"\ndegree = 1",
            "spec.toml:9:1: `degree` makes no sense with kind `constant`"),
        ("kind = \"increasing\"\nfeature = \"speed\"", "kind = \"increasing\"\nfeature = \"sped\"",
            "spec.toml:30:11: no basis function depends on `sped`"),
        ("kind = \"increasing\"", "kind = \"rising\"",
            "spec.toml:29:8: `kind` must be `increasing`, `decreasing`, `convex`, `concave`, `nonnegative`, `nonpositive`, `nonnegative-weights` or `nonpositive-weights`, found `rising`"),
        ("at = [3.0, 9.0]", "at = []",
            "spec.toml:31:6: `at` must not be empty"),
        ("to = 2.0", "to = 1.0",
            "spec.toml:36:6: `to` must be above `from`, found 1.0"),
        ("points = 3", "points = 1",
            "spec.toml:37:10: `points` must lie between 2 and 10000, found 1"),
        ("points = 3\n", "",
            "spec.toml:32:1: [[problem.condition]] needs `points`\n  help: for example: at = [3.5, 5.0], or from = 3.0, to = 10.0, points = 8"),
        ("[[problem.basis]]\nkind = \"constant\"\n", "[[problem.variable]]\nname = \"x\"\n[[problem.basis]]\nkind = \"constant\"\n",
            "spec.toml:7:11: `variable` makes no sense with model `regression`"),
        ("bounds = [0.0, 1.0]", "bounds = [1.0, 0.0]",
            "spec.toml:43:10: `bounds` must increase, found [1.0, 0.0]"),
        ("bounds = [0.0, 1.0]", "bounds = { relative = 0.3 }",
            "spec.toml:43:10: `bounds` must be two numbers, found a table\n  help: for example: bounds = [0.0, 1.0]"),
        ("bounds = [0.0, 1.0]", "bounds = [1.0]",
            "spec.toml:43:10: `bounds` must be two numbers, found 1\n  help: for example: bounds = [0.0, 1.0]"),
        ("bounds = [0.0, 1.0]\n", "",
            "spec.toml:41:13: without public `bounds` on the responses, this adjacency sets no limit to a change\n  help: in [private]: bounds = [0.0, 1.0], which every response is clipped to"),
        ("bounds = [0.0, 1.0]\n", "bounds = [0.0, 1.0]\ndemand = \"loads.csv\"\n",
            "spec.toml:44:1: `demand` makes no sense with model `regression`"),
        ("release = \"weights\"", "release = \"cost\"",
            "spec.toml:45:11: release `cost` makes no sense with model `regression`\n  help: a regression releases its `weights`; or predictions: `weighted` and `rows`"),
        ("shape = \"isotropic\"", "shape = \"round\"",
            "spec.toml:46:9: `shape` must be `curvature` or `isotropic`, found `round`\n  help: or give the matrix by rows: [[2.0, 0.0], [0.5, 1.0]]"),
        ("delta = 1e-6", "delta = 1e-6\nsensitivity = { by = \"envelope\", price = 1.0 }",
            "spec.toml:51:15: sensitivity by `envelope` makes no sense for a regression\n  help: `strong-convexity` is proven for it, and the default"),
        ("delta = 1e-6", "delta = 1e-6\nsensitivity = { by = \"declared\", per_alpha = \"largest-cost\" }",
            "spec.toml:51:15: `largest-cost` makes no sense with model `regression`\n  help: declare a number and its reason: per_alpha = 40.0, reason = \"…\""),
    ];
    for (piece, mistake, expected) in cases {
        assert!(GOOD.contains(piece), "{piece}");
        match read("spec.toml", &GOOD.replacen(piece, mistake, 1)) {
            Ok(_) => panic!("{mistake} was accepted"),
            Err(error) => assert_eq!(error.to_string(), expected, "{mistake}"),
        }
    }
}
