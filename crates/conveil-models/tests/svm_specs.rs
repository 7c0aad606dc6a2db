//! Specs of model `svm`: what is read, and what is said about a mistake.

use conveil::ask::{Adjacency, Request};
use conveil_models::spec::{Sensitivity, Spec, read};
use conveil_models::svm::{Class, Intercept, SvmSpec};

fn classifier(spec: &Spec) -> &SvmSpec {
    spec.model
        .is()
        .unwrap_or_else(|| panic!("{:?}", spec.model))
}

const SVM: &str = include_str!("../../../fuzz/seeds/spec/svm.toml");

#[test]
fn a_classifier_is_read_whole() {
    let spec = read("spec.toml", SVM).unwrap();
    let svm = classifier(&spec);
    assert_eq!(svm.records.value, 40);
    let features: Vec<_> = svm.features.iter().map(|f| f.value.clone()).collect();
    assert_eq!(features[0].name(), "wind");
    assert_eq!(features[1].bounds(), Some((-50.0, 150.0)));
    assert_eq!(svm.label.positive, Class::Number(1.0));
    assert_eq!(svm.label.negative, Class::Number(0.0));
    assert_eq!(
        (svm.lambda, svm.intercept),
        (Some(0.05), Intercept::Regularised)
    );
    assert_eq!(svm.numbers(), 3);
    assert_eq!(svm.data.as_ref().unwrap().value, "train.csv");
    assert_eq!(svm.test.as_ref().unwrap().value, "test.csv");
    assert_eq!(
        spec.private.adjacency.value,
        Adjacency::OneRecord { len: 3 }
    );
    assert_eq!(spec.query.release.value, "weights");
    // Proven for records, and so the default.
    assert_eq!(
        spec.privacy.sensitivity.value,
        Sensitivity::By(Request::regularised_erm())
    );
    let promise = format!("{:?}", spec.feasibility.promise);
    assert!(promise.contains("each: true"), "{promise}");
    assert!(
        promise.contains("method: Choice(noise-aware-hinge)"),
        "{promise}"
    );
}

#[test]
fn labels_may_be_words() {
    let words = "positive = \"fail\", negative = \"ok\"";
    let spec = read(
        "spec.toml",
        &SVM.replacen("positive = 1, negative = 0", words, 1),
    )
    .unwrap();
    let svm = classifier(&spec);
    assert_eq!(svm.label.positive, Class::Word("fail".into()));
    let of = |field: &str| svm.label.of(field);
    assert_eq!((of("fail"), of("ok")), (Some(true), Some(false)));
    assert_eq!((of("Fail"), of("1"), of("")), (None, None, None));
    let spec = read("spec.toml", SVM).unwrap();
    let svm = classifier(&spec);
    // A number however it is written.
    let of = |field: &str| svm.label.of(field);
    assert_eq!(
        (of("1.0"), of("0e0"), of("one")),
        (Some(true), Some(false), None)
    );
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_classifiers() {
    for (piece, mistake, expected) in [
        ("records = 40", "records = 1",
            "spec.toml:3:11: `records` must lie between 2 and 1000000000, found 1"),
        ("records = 40\n", "",
            "spec.toml:1:1: [problem] needs `records`\n  help: for example: records = 4500"),
        ("lambda = 0.05", "lambda = 0",
            "spec.toml:5:10: `lambda` must be positive, found 0"),
        ("lambda = 0.05", "lamda = 0.05",
            "spec.toml:5:1: unknown key `lamda` in [problem]; did you mean `lambda`?"),
        ("negative = 0", "negative = 1",
            "spec.toml:4:54: `negative` must differ from `positive`, found 1.0 for both"),
        ("positive = 1, negative = 0", "positive = -1",
            "spec.toml:4:9: `positive` must differ from `negative`, which is -1.0 unless it is given"),
        ("positive = 1, negative = 0", "positive = \"fail\"",
            "spec.toml:4:40: `positive` is a word, so `negative` must be given as a word too: which labels there are is stated, not learned from the data\n  help: label = { column = \"class\", positive = \"fail\", negative = \"…\" }"),
        ("negative = 0", "negative = \"ok\"",
            "spec.toml:4:54: `negative` is a word, so `positive` must be given as a word too: which labels there are is stated, not learned from the data\n  help: label = { column = \"class\", positive = \"…\", negative = \"ok\" }"),
        ("positive = 1, negative = 0", "positive = \"ok\", negative = \"ok\"",
            "spec.toml:4:57: `negative` must differ from `positive`, found \"ok\" for both"),
        ("positive = 1", "positive = \" ok\"",
            "spec.toml:4:40: `positive` must be a number or a word without blanks around it, found \" ok\""),
        ("positive = 1", "positive = true",
            "spec.toml:4:40: `positive` must be a number or a word in quotes, found a boolean"),
        ("positive = 1", "positive = [1]",
            "spec.toml:4:40: `positive` must be a number or a word in quotes, found an array"),
        ("positive = 1, negative = 0", "positive = \"ok\\u202E\", negative = \"no\"",
            "spec.toml:4:40: the label `ok\\u{202e}` holds U+202E, which does not show: the card would not read as it is written\n  help: write it with letters, digits and blanks that show"),
        ("positive = 1, negative = 0", "positive = \"o\\u200Bk\", negative = \"ok\"",
            "spec.toml:4:40: the label `o\\u{200b}k` holds U+200B, which does not show: the card would not read as it is written\n  help: write it with letters, digits and blanks that show"),
        ("column = \"class\"", "column = \"\\u2066class\"",
            "spec.toml:4:20: `column`: `\\u{2066}class` holds U+2066, which does not show: the card would not read as it is written\n  help: write it with letters, digits and blanks that show"),
        ("wind = [0.0, 25.0]", "\"wi\\u200Fnd\" = [0.0, 25.0]",
            "spec.toml:8:16: the feature name `wi\\u{200f}nd` holds U+200F, which does not show: the card would not read as it is written\n  help: write it with letters, digits and blanks that show"),
        ("wind = [0.0, 25.0]", "\"wi\\tnd\" = [0.0, 25.0]",
            "spec.toml:8:12: the feature name `wi\\tnd` holds U+0009, which does not show: the card would not read as it is written\n  help: write it with letters, digits and blanks that show"),
        ("\"regularised\"", "\"free\"",
            "spec.toml:6:13: an intercept without a regulariser is not a function of the data: where several are optimal, two exact solvers return two of them, and no guarantee covers that\n  help: intercept = \"regularised\", or \"none\""),
        ("\"regularised\"", "\"regularised\"\nnorm = 1.0",
            "spec.toml:7:8: `norm` must be a number above 1, which the constant before the intercept has alone, found 1\n  help: it is in the units of the scaled features, each in [-1, 1], with the constant 1 of the intercept counted; without it the bounds alone count"),
        ("\"regularised\"", "\"regularised\"\nnorm = 9.0",
            "spec.toml:7:8: `norm` must be below 1.7320508075688772, which the bounds of 2 features imply already, found 9\n  help: it is in the units of the scaled features, each in [-1, 1], with the constant 1 of the intercept counted; without it the bounds alone count"),
        ("wind = [0.0, 25.0]", "wind = [25.0, 0.0]",
            "spec.toml:8:8: the bounds of `wind` must increase, found [25.0, 0.0]"),
        ("wind = [0.0, 25.0]", "wind = [-1e308, 1e308]",
            "spec.toml:8:8: the bounds of `wind` are too far apart to scale by, found [-1e308, 1e308]"),
        ("wind = [0.0, 25.0]", "wind = [25.0]",
            "spec.toml:8:8: the bounds of `wind` must be two numbers, found 1"),
        ("wind = [0.0, 25.0]", "class = [0.0, 1.0]",
            "spec.toml:8:9: `class` is the label"),
        ("data = \"train.csv\"\n", "",
            "spec.toml:10:1: [private] needs `data`\n  help: for example: data = \"records.csv\""),
        ("{ kind = \"one-record\" }", "{ kind = \"one-entry\", alpha = 1.0 }",
            "spec.toml:13:13: datasets of records differ in whole records\n  help: adjacency = { kind = \"one-record\" }"),
        ("{ kind = \"one-record\" }", "{ kind = \"one-record\", record = 3 }",
            "spec.toml:13:36: `record` makes no sense with kind `one-record`"),
        ("release = \"weights\"", "release = \"cost\"",
            "spec.toml:15:11: release `cost` makes no sense with model `svm`\n  help: a classifier releases its `weights`"),
        ("delta = 1e-3", "delta = 1e-3\nsensitivity = { by = \"envelope\", price = 1 }",
            "spec.toml:20:15: sensitivity by `envelope` makes no sense for records of a classifier\n  help: `erm` is proven for them"),
        ("rows = \"each\"", "rows = \"all\"",
            "spec.toml:22:8: `rows` must be `joint` or `each`, found `all`"),
    ] {
        assert!(SVM.contains(piece), "{piece}");
        let error = read("spec.toml", &SVM.replacen(piece, mistake, 1)).unwrap_err();
        assert_eq!(error.to_string(), expected, "{mistake}");
    }
}

const TUNE: &str = "tune = { grid = [0.003, 0.01, 0.03, 0.1], share = 0.2 }";

#[test]
fn a_grid_of_lambdas_is_read_in_both_versions() {
    let tuned = SVM.replacen("lambda = 0.05", TUNE, 1);
    for text in [
        tuned.clone(),
        format!("version = 1\n{tuned}"),
        format!("version = 2\n{tuned}"),
    ] {
        let spec = read("spec.toml", &text).unwrap();
        let svm = classifier(&spec);
        let tune = &svm.tune.as_ref().unwrap().value;
        assert_eq!(svm.lambda, None);
        assert_eq!(tune.grid, [0.003, 0.01, 0.03, 0.1]);
        assert_eq!((tune.share, tune.clip), (0.2, 2.0));
    }
    let clipped = tuned.replacen("share = 0.2", "share = 0.2, clip = 1.5", 1);
    let spec = read("spec.toml", &clipped).unwrap();
    assert_eq!(classifier(&spec).tune.as_ref().unwrap().value.clip, 1.5);
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_grids() {
    let svm = SVM.replacen("lambda = 0.05", TUNE, 1);
    let long: Vec<String> = (1..=21).map(|k| format!("{k}.0")).collect();
    let long = format!("[{}]", long.join(", "));
    let grid = "[0.003, 0.01, 0.03, 0.1]";
    let example = format!("\n  help: {TUNE}");
    for (piece, mistake, expected) in [
        (TUNE, &*format!("{TUNE}\nlambda = 0.05"),
            "spec.toml:5:8: `tune` and `lambda` are both given: λ is either chosen privately from the grid, or fixed\n  help: leave out one of the two"),
        (TUNE, "tune = [0.1, 0.2]",
            "spec.toml:5:8: `tune` must be a table, found an array"),
        (TUNE, "tune = { share = 0.2 }",
            "spec.toml:5:8: `tune` needs `grid`\n  help: for example: grid = [0.003, 0.01, 0.03, 0.1]"),
        (TUNE, "tune = { grid = [0.1, 0.2] }",
            "spec.toml:5:8: `tune` needs `share`\n  help: for example: share = 0.2"),
        ("share = 0.2", "share = 0.2, epsilon = 1",
            "spec.toml:5:56: unknown key `epsilon` in `tune`; known keys: grid, share, clip"),
        (grid, "[0.1]",
            &format!("spec.toml:5:17: `grid` must have 2 to 20 values of λ, found 1{example}")),
        (grid, &long,
            &format!("spec.toml:5:17: `grid` must have 2 to 20 values of λ, found 21{example}")),
        (grid, "[0.1, 0.1]",
            "spec.toml:5:23: `grid` must increase, found 0.1 after 0.1\n  help: each λ once, from the smallest to the largest"),
        (grid, "[0.1, 0.03]",
            "spec.toml:5:23: `grid` must increase, found 0.03 after 0.1\n  help: each λ once, from the smallest to the largest"),
        (grid, "[0.0, 0.03]",
            "spec.toml:5:18: entry 0 of `grid` must be positive, found 0.0"),
        (grid, "[1e-10, 0.03]",
            "spec.toml:5:18: entry 0 of `grid` must lie between 1e-9 and 1e9, found 1e-10"),
        (grid, "[0.1, nan]",
            "spec.toml:5:23: entry 1 of `grid` must be finite, found nan"),
        ("share = 0.2", "share = 1.0",
            "spec.toml:5:51: `share` must lie strictly between 0 and 1, found 1.0"),
        ("share = 0.2", "share = 1e-300",
            "spec.toml:5:8: a `share` of 1e-300 leaves nothing of epsilon 1.0 for the choice or for the noise\n  help: share = 0.2"),
        ("share = 0.2", "share = 0.2, clip = 0",
            "spec.toml:5:63: `clip` must be positive and at most 1000000, found 0"),
        ("delta = 1e-3", "delta = 1e-3\nsensitivity = { by = \"declared\", value = 1.0, reason = \"known\" }",
            "spec.toml:20:15: `tune` needs the sensitivity by `erm`, found `declared`: the choice counts on how far a record can move the weights at every λ\n  help: leave out `sensitivity`; or state `lambda` in place of `tune`"),
        ("eta = 0.05\nrows = \"each\"\nmethod = \"noise-aware-hinge\"", "strategy = \"projected\"",
            "spec.toml:21:12: `tune` does not go with projected output perturbation: the choice is proven for noise on the weights and for training for the noise\n  help: strategy = \"output\", or \"program\""),
        ("method = \"noise-aware-hinge\"", "[ledger]\nfile = \"ledger.db\"\ndataset = \"machines\"\nseries = { count = 2 }",
            "spec.toml:26:10: `series` does not go with `tune`: a private choice is charged with its one release\n  help: leave out `series`"),
    ] {
        assert!(svm.contains(piece), "{piece}");
        let error = read("spec.toml", &svm.replacen(piece, mistake, 1)).unwrap_err();
        assert_eq!(error.to_string(), expected, "{mistake}");
    }
}

/// What the help suggests for losses is what the paper does, not a joint η over thousands of rows.
#[test]
fn a_missing_promise_is_suggested_row_by_row() {
    let promise = SVM.find("[feasibility]").unwrap();
    let error = read("spec.toml", &SVM[..promise]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "spec.toml:1:1: the section [feasibility] is missing\n  help: for example: [feasibility] with eta = 0.05, rows = \"each\""
    );
}

/// The same spec in both versions, without `lambda`.
#[test]
fn lambda_is_a_rule_from_version_2_on_and_a_constant_before() {
    use conveil_models::files::Files;
    use conveil_models::svm::lambda_by_rule;
    let without = SVM.replacen("lambda = 0.05\n", "", 1);
    let shown = |text: &str| {
        let spec = read("spec.toml", text).unwrap();
        let files = Files::in_memory("spec.toml", &[]).unwrap();
        let model = spec.model.open(&spec, &files).unwrap();
        let curvature = model.map().template().p().get(0, 0);
        let settings = model.map().meaning().settings;
        (curvature / 2.0, settings, spec)
    };
    let (lambda, settings, _) = shown(&without);
    assert_eq!((lambda, settings), (1e-3, vec![]));
    let (lambda, settings, spec) = shown(&format!("version = 2\n{without}"));
    let rule = lambda_by_rule(40, 3, None, &spec.privacy.mechanism);
    assert!((lambda / rule - 1.0).abs() < 1e-12, "{lambda} {rule}");
    assert_eq!(
        (settings[0].name.as_str(), settings[0].value),
        ("lambda", rule)
    );
    let said = &settings[0].text;
    assert!(
        said.ends_with("by the rule for 40 records, 2 features, ε = 1, δ = 0.001"),
        "{said}"
    );
    // What is stated stands, and nothing is said of a rule.
    let (lambda, settings, _) = shown(&format!("version = 2\n{SVM}"));
    assert_eq!((lambda, settings), (0.05, vec![]));
}
