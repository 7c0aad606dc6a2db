//! Specs with one mistake each, and exactly what is said about it.
//!
//! Each case is a good spec, a piece of it, what stands in its place, and the diagnostic.

use conveil_models::spec::read;

const SMALLEST: &str = include_str!("../../../fuzz/seeds/spec/smallest.toml");
const EVERY_KEY: &str = include_str!("../../../fuzz/seeds/spec/every-key.toml");
const AT_MOST: &str = include_str!("../../../fuzz/seeds/spec/discs-at-most.toml");
const RECORDS: &str = include_str!("../../../fuzz/seeds/spec/records-identity.toml");
const ENVELOPE: &str = include_str!("../../../fuzz/seeds/spec/envelope.toml");
const CURVATURE: &str = include_str!("../../../fuzz/seeds/spec/curvature.toml");
const OPF: &str = include_str!("../../../fuzz/seeds/spec/opf.toml");
const GENERATION: &str = include_str!("../../../fuzz/seeds/spec/generation.toml");

fn refused(cases: &[(&str, &str, &str, &str)]) {
    for (good, piece, mistake, expected) in cases {
        assert!(good.contains(piece), "{piece}");
        let text = good.replacen(piece, mistake, 1);
        match read("spec.toml", &text) {
            Ok(_) => panic!("{mistake} was accepted"),
            Err(error) => assert_eq!(&error.to_string(), expected, "{mistake}"),
        }
    }
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_the_text() {
    refused(&[
        (SMALLEST, "[query]", "[query",
            "spec.toml:9:7: not valid TOML: unclosed table, expected `]`"),
        (SMALLEST, "eta = 0.01", "eta = 0.01\neta = 0.02",
            "spec.toml:17:1: not valid TOML: duplicate key"),
        (SMALLEST, "epsilon = 1", "epsilon = 1,5",
            "spec.toml:13:12: not valid TOML: unexpected key or value, expected newline, `#`"),
        (SMALLEST, r#""unit price""#, r#""unit price"#,
            r#"spec.toml:14:69: not valid TOML: invalid basic string, expected `"`"#),
    ]);
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_sections_and_versions() {
    refused(&[
        (SMALLEST, "[problem]\n", "version = 3\n[problem]\n",
            "spec.toml:1:11: version 3 is not known; this program reads versions 1 and 2"),
        (SMALLEST, "[problem]\n", "version = \"1\"\n[problem]\n",
            "spec.toml:1:11: `version` must be a whole number, found a string"),
        (SMALLEST, "[problem]\nmodel = \"conic\"\nfile = \"problem.json\"\n", "",
            "spec.toml:1:1: the section [problem] is missing\n  help: for example: [problem] with model = \"conic\", file = \"problem.json\""),
        (SMALLEST, "[query]\nrelease = \"cost\"\n", "",
            "spec.toml:1:1: the section [query] is missing\n  help: for example: [query] with release = \"cost\""),
        (SMALLEST, "[privacy]", "[privacyy]",
            "spec.toml:11:2: unknown key `privacyy` in the spec; did you mean `privacy`?"),
        (SMALLEST, "[feasibility]", "[chance]",
            "spec.toml:15:2: unknown key `chance` in the spec; known keys: version, problem, private, query, privacy, feasibility, risk, lattice, solver, study, ledger"),
        (SMALLEST, "[feasibility]\neta = 0.01\n", "",
            "spec.toml:1:1: the section [feasibility] is missing\n  help: for example: [feasibility] with eta = 0.01"),
        (SMALLEST, "[query]\nrelease = \"cost\"\n", "[[query]]\nrelease = \"cost\"\n",
            "spec.toml:9:1: `query` must be a table, found an array"),
    ]);
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_problem() {
    refused(&[
        (SMALLEST, r#""conic""#, r#""konic""#,
            "spec.toml:2:9: `model` must be `conic`, `opf`, `svm`, `logistic`, `regression`, `ellipsoid` or `portfolio`, found `konic`\n  help: did you mean `conic`?"),
        (SMALLEST, "model = \"conic\"\n", "",
            "spec.toml:1:1: [problem] needs `model`\n  help: for example: model = \"conic\""),
        (SMALLEST, "file = \"problem.json\"\n", "",
            "spec.toml:1:1: [problem] needs `file`\n  help: for example: file = \"problem.json\""),
        (SMALLEST, "file = \"problem.json\"\n", "file = \" \"\n",
            "spec.toml:3:8: `file` must not be empty"),
        (SMALLEST, r#"file = "problem.json""#, r#"path = "problem.json""#,
            "spec.toml:3:1: unknown key `path` in [problem]; known keys: model, file, variable, constraint, objective, network, form, susceptance, angle_limits, costs, curvature, records, features, label, lambda, tune, intercept, norm, regressors, response, basis, condition, ridge, loss, units, normals, determinant, covariance, aversion, cap"),
        (EVERY_KEY, r#"name = "y""#, r#"name = "x""#,
            "spec.toml:13:8: the name `x` is taken"),
        (EVERY_KEY, r#"name = "y""#, r#"name = "y[1]""#,
            "spec.toml:13:8: the variable name `y[1]` must not contain brackets"),
        (EVERY_KEY, "size = 3", "size = 0",
            "spec.toml:9:8: `size` must lie between 1 and 1000000000, found 0"),
        (EVERY_KEY, "size = 3", "size = 2.5",
            "spec.toml:9:8: `size` must be a whole number, found 2.5"),
        (EVERY_KEY, "size = 3", "size = 1000000000000000000",
            "spec.toml:9:8: `size` must lie between 1 and 1000000000, found 1000000000000000000"),
        (EVERY_KEY, "size = 3", "size = 3\nbounds = [0.0]",
            "spec.toml:10:10: `bounds` of a variable are two numbers\n  help: bounds = [0.0, 100.0]"),
        (EVERY_KEY, "size = 3", "size = 3\nbounds = [1.0, 1.0]",
            "spec.toml:10:10: the lower bound comes first and is below the upper one, found 1 and 1\n  help: a variable that is fixed needs an equality in the problem"),
        (EVERY_KEY, "size = 3", "size = 3\nbounds = [1.0, \"a\"]",
            "spec.toml:10:16: entry 1 of `bounds` must be a number, found a string"),
        (EVERY_KEY, "size = 3", "size = 3\nnames = [\"early\", \"late\"]",
            "spec.toml:10:9: `x` has 3 entries, but 2 names in `names`\n  help: `size` says how many entries the block has; name each of them, or none"),
        (EVERY_KEY, "name = \"y\"", "name = \"y\"\nnames = [\"x\"]",
            "spec.toml:14:10: the name `x` is taken"),
        (EVERY_KEY, "size = 3", "size = 3\nnames = [\"early\", \"late\", \"late\"]",
            "spec.toml:10:27: the name `late` is taken"),
        // A later block.
        (EVERY_KEY, "size = 3", "size = 3\nnames = [\"early\", \"y\", \"late\"]",
            "spec.toml:14:8: the name `y` is taken"),
        (EVERY_KEY, "size = 3", "size = 3\nnames = [\"early\", \"noon[1]\", \"late\"]",
            "spec.toml:10:19: the variable name `noon[1]` must not contain brackets"),
        (EVERY_KEY, "size = 3", "size = 3\nnames = \"early\"",
            "spec.toml:10:9: `names` must be an array, found a string"),
        (EVERY_KEY, r#"stage = "witness""#, r#"stage = "wait-and-see""#,
            "spec.toml:18:9: `stage` must be `decision`, `here-and-now`, `witness` or `epigraph`, found `wait-and-see`"),
        (EVERY_KEY, "size = 3\nstage = \"decision\"", "size = 3",
            "spec.toml:8:8: the variable `x` does not say what it is\n  help: for `x` write one line: stage = \"decision\" (`decision` for a real quantity that somebody carries out, `here-and-now` for one that is decided before the noise, `witness` for a slack or another variable of which only the existence is claimed, `epigraph` for one that bounds a convex cost from above)"),
        (EVERY_KEY, "name = \"limits\"\nrows", "rows",
            "spec.toml:24:1: [[problem.constraint]] needs `name`\n  help: for example: name = \"limits\""),
        (EVERY_KEY, r#""lower", "upper""#, r#""lower", "lower""#,
            "spec.toml:26:18: the name `lower` is taken"),
        (EVERY_KEY, r#""lower", "upper""#, r#""lower", "a\nb""#,
            "spec.toml:26:18: entry 1 of `rows`: `a\\nb` holds U+000A, which does not show: the card would not read as it is written\n  help: write it with letters, digits and blanks that show"),
        (EVERY_KEY, r#"holds = "always""#, r#"holds = "allways""#,
            "spec.toml:22:9: `holds` must be `with-noise`, `always` or `at-the-mean`, found `allways`\n  help: did you mean `always`?"),
        (SMALLEST, "[private]", "[problem.variable]\nname = \"x\"\n[private]",
            "spec.toml:4:1: `variable` must be an array of tables, found a table\n  help: write [[problem.variable]] in double brackets"),
    ]);
}

/// A spec of a former release has no stage at all: one reading names every block that needs one.
#[test]
fn every_variable_without_a_stage_is_named_at_once() {
    let bare = |stages: &[&str]| {
        let cut = |text: String, stage: &&str| text.replace(&format!("stage = \"{stage}\"\n"), "");
        stages.iter().fold(EVERY_KEY.to_string(), cut)
    };
    let all = ["decision", "here-and-now", "witness"];
    for (stages, start) in [
        (
            &all[..],
            "spec.toml:8:8: the variable `x` does not say what it is; nor do `y`, `t`\n",
        ),
        (
            &all[1..],
            "spec.toml:13:8: the variable `y` does not say what it is; nor does `t`\n",
        ),
    ] {
        let error = read("spec.toml", &bare(stages)).unwrap_err().to_string();
        assert!(error.starts_with(start), "{error}");
    }
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_private() {
    refused(&[
        (SMALLEST, "adjacency = { kind = \"one-entry\", alpha = 10 }\n", "",
            "spec.toml:4:1: [private] needs `adjacency`\n  help: for example: adjacency = { kind = \"one-entry\", alpha = 10.0 }"),
        (SMALLEST, ", alpha = 10", "",
            "spec.toml:5:13: `adjacency` needs `alpha`\n  help: for example: alpha = 10.0"),
        (SMALLEST, "alpha = 10", "alpha = -10",
            "spec.toml:5:43: `alpha` must be positive, found -10"),
        (SMALLEST, "alpha = 10", "alpha = inf",
            "spec.toml:5:43: `alpha` must be finite, found inf"),
        (SMALLEST, "alpha = 10", "alhpa = 10",
            "spec.toml:5:35: unknown key `alhpa` in `adjacency`; did you mean `alpha`?"),
        (SMALLEST, r#""one-entry""#, r#""universe""#,
            "spec.toml:5:34: `alpha` makes no sense with kind `universe`"),
        (SMALLEST, r#"kind = "one-entry", alpha = 10"#, r#"kind = "one-record", record = 0"#,
            "spec.toml:5:45: `record` must lie between 1 and 1000000000, found 0"),
        (SMALLEST, r#"kind = "one-entry", alpha = 10"#, r#"kind = "one-record", record = 2"#,
            "spec.toml:5:13: 1 parameter cannot be split into records of 2"),
        (SMALLEST, r#"kind = "one-entry", alpha = 10"#, r#"kind = "universe""#,
            "spec.toml:5:13: adjacency `universe` needs [private.universe]"),
        (SMALLEST, "[[private.parameter]]\nname = \"d\"\nat = [{ in = \"b\", row = 0 }]\n", "",
            "spec.toml:4:1: [private] needs `parameter`\n  help: for example: [[private.parameter]] with name = \"d3\", at = [{ in = \"b\", row = 3 }]"),
        (EVERY_KEY, r#"name = "c1""#, r#"name = "d0""#,
            "spec.toml:42:8: the name `d0` is taken"),
        (SMALLEST, r#"at = [{ in = "b", row = 0 }]"#, "at = []",
            "spec.toml:8:6: `at` must not be empty"),
        (SMALLEST, "row = 0", "row = 0, column = 1",
            "spec.toml:8:28: `column` makes no sense in b"),
        (SMALLEST, r#"in = "b""#, r#"in = "A""#,
            "spec.toml:8:7: entry 0 of `at` needs `column`\n  help: for example: column = 0"),
        (SMALLEST, r#"in = "b""#, r#"in = "c""#,
            "spec.toml:8:14: `in` must be `b`, `q`, `A` or `P`, found `c`"),
        (SMALLEST, "row = 0", "row = -1",
            "spec.toml:8:25: `row` must lie between 0 and 1000000000, found -1"),
        (SMALLEST, "row = 0", "row = 0, coef = 0.0",
            "spec.toml:8:35: `coef` must differ from 0, found 0.0"),
        (SMALLEST, "row = 0 }", r#"row = 0 }, { in = "b", row = 0, coef = 2 }"#,
            "spec.toml:8:30: b[0] is listed twice"),
        (SMALLEST, r#"in = "b""#, r#"in = "P""#,
            "spec.toml:8:7: entry 0 of `at` needs `column`\n  help: for example: column = 0"),
        // P is symmetric: an entry below the diagonal is the one above it.
        (SMALLEST, r#"in = "b", row = 0 }"#, r#"in = "P", row = 0, column = 1 }, { in = "P", row = 1, column = 0 }"#,
            "spec.toml:8:42: P[0, 1] is listed twice"),
        (EVERY_KEY, "bounds = [0.0, 10.0]", "bounds = [10.0, 0.0]",
            "spec.toml:39:10: `bounds` must increase, found [10.0, 0.0]"),
        (EVERY_KEY, "bounds = [0.0, 10.0]", "bounds = [0.0]",
            "spec.toml:39:10: `bounds` must be two numbers, found 1"),
        (EVERY_KEY, r#"in = "q", column = 1"#, r#"in = "b", row = 3"#,
            "spec.toml:43:7: parameter `c1` has no `value`, and shares b[3] with another parameter\n  help: the file holds one number for both: give each a `value`"),
        (EVERY_KEY, "center = [1.0, 2.0]\nhalf_width = [0.5, 1]", "center = [1.0]\nhalf_width = 1",
            "spec.toml:45:1: `center` has 1 number, but the spec has 2 parameters"),
        (EVERY_KEY, "half_width = [0.5, 1]", "half_width = [0.5]",
            "spec.toml:48:14: `half_width` has 1 number, but there are 2 coordinates of `center`"),
        (EVERY_KEY, "half_width = [0.5, 1]", "radius = 1",
            "spec.toml:45:1: [private.universe] needs `half_width`\n  help: for example: half_width = 0.5"),
        (EVERY_KEY, "half_width = [0.5, 1]", "half_width = 1\nradius = 1",
            "spec.toml:49:1: `radius` makes no sense with kind `box`"),
        (AT_MOST, "dimension = 2", "dimension = 3",
            "spec.toml:11:73: 2 numbers in `center` cannot be split into discs of dimension 3"),
    ]);
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_query() {
    refused(&[
        (SMALLEST, r#""cost""#, r#""costs""#,
            "spec.toml:10:11: `release` must be `identity`, `cost`, `value`, `sum`, `weighted`, `rows`, `at-most`, `generation` or `weights`, found `costs`\n  help: did you mean `cost`?"),
        (SMALLEST, r#"release = "cost""#, "release = \"cost\"\nvariables = [\"x\"]",
            "spec.toml:11:1: `variables` makes no sense with release `cost`"),
        (SMALLEST, r#"release = "cost""#, "release = \"value\"\nvariables = [\"x\"]",
            "spec.toml:11:1: `variables` makes no sense with release `value`"),
        (SMALLEST, r#"release = "cost""#, r#"release = "weighted""#,
            "spec.toml:9:1: [query] needs `weights`\n  help: for example: weights = { \"x[0]\" = 1.0, y = 2.0 }"),
        (SMALLEST, r#"release = "cost""#, "release = \"weighted\"\nweights = { x = 0.0 }",
            "spec.toml:11:11: `weights` needs at least one weight that is not 0"),
        (SMALLEST, r#"release = "cost""#, "release = \"sum\"\nvariables = [\"x[0\", \"x\"]",
            "spec.toml:11:14: `x[0` is not a variable\n  help: write a name, `x`, or a name and an index from 0, `x[2]`"),
        (SMALLEST, r#"release = "cost""#, "release = \"sum\"\nvariables = [\"x[0]\", \"x\"]",
            "spec.toml:11:22: a part of `x` is already named"),
        (SMALLEST, r#"release = "cost""#, "release = \"sum\"\nvariables = [\"x\", \"x[00]\"]",
            "spec.toml:11:19: `x[0]` is already part of `x`"),
        (SMALLEST, r#"release = "cost""#, "release = \"sum\"\nvariables = [\"z\"]",
            "spec.toml:11:14: no variable `z`\n  help: without [[problem.variable]] there is one block, `x`, of all columns of the file"),
        (SMALLEST, r#"release = "cost""#, "release = \"identity\"\nvariables = []",
            "spec.toml:11:13: `variables` must not be empty"),
        (EVERY_KEY, "y = 2", "yy = 2",
            "spec.toml:52:25: no variable `yy`"),
        (EVERY_KEY, r#""x[2]" = -1.0"#, r#""x[3]" = -1.0"#,
            "spec.toml:52:36: `x` has indexes 0 to 2, found 3"),
        (EVERY_KEY, r#""x[2]" = -1.0"#, r#""x[2]" = "one""#,
            "spec.toml:52:45: `x[2]` must be a number, found a string"),
        (SMALLEST, r#"release = "cost""#, "release = \"cost\"\nshape = [[1.0, 0.0], [0.0, 1.0]]",
            "spec.toml:11:9: `shape` is 2×2, but the answer has 1 number"),
        (EVERY_KEY, "[0.5, 2.0]]", "[0.5]]",
            "spec.toml:53:22: `shape` must be square: it has 2 rows, but row 1 has 1 number"),
        (EVERY_KEY, "[0.5, 2.0]]", "[0.5, nan]]",
            "spec.toml:53:28: entry 1 of `shape` must be finite, found nan"),
        (AT_MOST, "slope = { \"x[0]\" = 1.0, \"x[1]\" = 1_000.5 }\n", "",
            "spec.toml:12:1: [query] needs `slope`\n  help: for example: slope = { \"x[0]\" = 1.0 }"),
        (AT_MOST, r#"epigraph = "t""#, r#"epigraph = "x""#,
            "spec.toml:14:12: the epigraph must be one variable, but `x` has 2"),
    ]);
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_privacy() {
    refused(&[
        (SMALLEST, "epsilon = 1\n", "epsilonn = 1\n",
            "spec.toml:13:1: unknown key `epsilonn` in [privacy]; did you mean `epsilon`?"),
        (SMALLEST, "epsilon = 1\n", "epsilon = \"1\"\n",
            "spec.toml:13:11: `epsilon` must be a number, found a string"),
        (SMALLEST, "epsilon = 1\n", "epsilon = 0\n",
            "spec.toml:13:11: `epsilon` must be positive, found 0"),
        (SMALLEST, "epsilon = 1\n", "epsilon = 1e999\n",
            "spec.toml:13:11: `epsilon` must be finite, found 1e999"),
        (SMALLEST, "epsilon = 1\n", "epsilon = 1\ndelta = 1e-5\n",
            "spec.toml:14:1: `delta` makes no sense with mechanism `laplace`"),
        (SMALLEST, "epsilon = 1\n", "epsilon = 1\nbudget = 1e-5\n",
            "spec.toml:14:1: unknown key `budget` in [privacy]; known keys: mechanism, epsilon, delta, calibration, sensitivity"),
        (SMALLEST, r#""laplace""#, r#""laplase""#,
            "spec.toml:12:13: `mechanism` must be `laplace`, `gaussian` or `truncated-laplace`, found `laplase`\n  help: did you mean `laplace`?"),
        (SMALLEST, r#""laplace""#, r#""gaussian""#,
            "spec.toml:11:1: [privacy] needs `delta`\n  help: for example: delta = 1e-5"),
        (EVERY_KEY, "delta = 1e-5", "delta = 1",
            "spec.toml:58:9: `delta` must lie strictly between 0 and 1, found 1"),
        (EVERY_KEY, "epsilon = 0.5", "epsilon = 2",
            "spec.toml:59:15: calibration `classic` is a theorem only for epsilon below 1, found 2.0\n  help: calibration = \"analytic\" holds for every epsilon"),
        (AT_MOST, "delta = 0.5", "delta = 0.6",
            "spec.toml:19:9: `delta` must be positive and at most 1/2, found 0.6"),
        (SMALLEST, r#"sensitivity = { by = "declared", value = 1.0, reason = "unit price" }"#, "sensitivity = 1.0",
            "spec.toml:14:15: `sensitivity` must be a table, found 1.0"),
        (SMALLEST, r#"by = "declared", "#, "",
            "spec.toml:14:15: `sensitivity` needs `by`\n  help: for example: by = \"declared\""),
        (SMALLEST, r#", reason = "unit price""#, "",
            "spec.toml:14:15: `sensitivity` needs `reason`\n  help: for example: reason = \"the cost moves by at most …\""),
        (SMALLEST, r#""unit price""#, r#""""#,
            "spec.toml:14:56: `reason` must not be empty"),
        (SMALLEST, "value = 1.0, ", "",
            "spec.toml:14:15: `sensitivity` needs `value` or `per_alpha`\n  help: for example: value = 1.0"),
        (SMALLEST, "value = 1.0", "value = 1.0, per_alpha = 1.0",
            "spec.toml:14:59: give `value` or `per_alpha`, not both"),
        (SMALLEST, "value = 1.0", "value = 1.0, gamma = 0.1",
            "spec.toml:14:47: `gamma` makes no sense in a sensitivity by `declared`"),
        (RECORDS, "value = 0.25", "per_alpha = 0.25",
            "spec.toml:19:15: `per_alpha` needs an adjacency with an alpha\n  help: declare the sensitivity itself: value = 1.0"),
        (SMALLEST, r#"by = "declared", value = 1.0, reason = "unit price""#, r#"by = "sampled", gamma = 0.1, beta = 0.1"#,
            "spec.toml:14:15: sensitivity by `sampled` needs [private.universe]"),
        (EVERY_KEY, "gamma = 0.1", "gamma = 1.5",
            "spec.toml:60:41: `gamma` must lie strictly between 0 and 1, found 1.5"),
    ]);
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_certificates() {
    refused(&[
        (ENVELOPE, ", price = 1000.0", "",
            "spec.toml:22:15: sensitivity by `envelope` needs `price`\n  help: price = 1000.0 is what deviating from the data by one unit costs, a public number: the value of lost load, a price cap"),
        (ENVELOPE, "\"envelope\"", "\"moreau\"",
            "spec.toml:22:15: sensitivity by `moreau` needs `width`\n  help: width = 1.0 is by how much a datum may be corrected for each unit by which its price differs from the public one; a larger one means less noise and larger corrections"),
        (ENVELOPE, "price = 1000.0", "price = 1000.0, width = 1.0",
            "spec.toml:22:50: `width` makes no sense in a sensitivity by `envelope`"),
        (ENVELOPE, "by = \"envelope\", price = 1000.0", "by = \"moreau\", width = 1.0, offset = \"nominals\"",
            "spec.toml:22:54: `offset` must be `nominal`, found `nominals`\n  help: did you mean `nominal`?"),
        (ENVELOPE, "by = \"envelope\", price = 1000.0", "by = \"moreau\", width = 1.0, curvature = 0",
            "spec.toml:22:57: `curvature` must be positive, found 0"),
        (ENVELOPE, "price = 1000.0", "price = 0",
            "spec.toml:22:42: `price` must be positive, found 0"),
        (ENVELOPE, "price = 1000.0", "price = -1000.0",
            "spec.toml:22:42: `price` must be positive, found -1000.0"),
        (ENVELOPE, "price = 1000.0", "price = inf",
            "spec.toml:22:42: `price` must be finite, found inf"),
        (ENVELOPE, "price = 1000.0", "price = \"c_max\"",
            "spec.toml:22:42: `price` must be a number, found a string"),
        (ENVELOPE, "price = 1000.0", "prize = 1000.0",
            "spec.toml:22:34: unknown key `prize` in `sensitivity`; did you mean `price`?"),
        (ENVELOPE, "price = 1000.0", "price = 1000.0, gamma = 0.1",
            "spec.toml:22:50: `gamma` makes no sense in a sensitivity by `envelope`"),
        (ENVELOPE, "\"envelope\"", "\"envelop\"",
            "spec.toml:22:22: `by` must be `declared`, `sampled`, `envelope`, `moreau`, `radius`, `saddle`, `strong-convexity`, `erm`, `range` or `auto`, found `envelop`\n  help: did you mean `envelope`?"),
        (ENVELOPE, "by = \"envelope\", price = 1000.0", "by = \"saddle\", price = 0",
            "spec.toml:22:40: `price` must be positive, found 0"),
        (ENVELOPE, "by = \"envelope\", price = 1000.0", "by = \"saddle\", prices = { balance = 0 }",
            "spec.toml:22:53: `balance` must be positive, found 0"),
        (ENVELOPE, "by = \"envelope\", price = 1000.0", "by = \"saddle\", prices = 1000.0",
            "spec.toml:22:41: `prices` must be a table, found 1000.0"),
        (ENVELOPE, "by = \"envelope\", price = 1000.0", "by = \"saddle\", prices = { balance = 9.0, balance = 8.0 }",
            "spec.toml:22:58: not valid TOML: duplicate key"),
        (ENVELOPE, "by = \"envelope\", price = 1000.0", "by = \"saddle\", width = -1.0",
            "spec.toml:22:40: `width` must be positive, found -1.0"),
        (ENVELOPE, "by = \"envelope\", price = 1000.0", "by = \"saddle\", offset = 1.0",
            "spec.toml:22:32: `offset` makes no sense in a sensitivity by `saddle`"),
        (ENVELOPE, "price = 1000.0", "price = 1000.0, prices = { balance = 9.0 }",
            "spec.toml:22:50: `prices` makes no sense in a sensitivity by `envelope`"),
        (ENVELOPE, "by = \"envelope\", price = 1000.0", "by = \"auto\", value = 1.0",
            "spec.toml:22:30: `value` makes no sense in a sensitivity by `auto`"),
        (ENVELOPE, "by = \"envelope\", price = 1000.0", "by = \"auto\", curvature = nan",
            "spec.toml:22:42: `curvature` must be finite, found nan"),
        (ENVELOPE, "row = 4, coef = -1.0", "row = 4 }, { in = \"P\", row = 1, column = 0",
            "spec.toml:14:53: sensitivity by `envelope` is proven for private numbers in b only, found P[0, 1]"),
        (CURVATURE, "\"strong-convexity\"", "\"strong-convexity\", price = 1",
            "spec.toml:19:42: `price` makes no sense in a sensitivity by `strong-convexity`"),
        (CURVATURE, "\"strong-convexity\"", "\"radius\", value = 1",
            "spec.toml:19:32: `value` makes no sense in a sensitivity by `radius`"),
        (CURVATURE, "\"strong-convexity\"", "\"erm\", reason = \"ridge\"",
            "spec.toml:19:29: `reason` makes no sense in a sensitivity by `erm`"),
        (ENVELOPE, "bounds = [-30.0, 5.0]\nnominal = -10.0\n", "",
            "spec.toml:12:8: sensitivity by `envelope` needs `bounds` on every parameter, and `wind farm` has none\n  help: the bounds must hold every admissible value, of either sign"),
        (ENVELOPE, "row = 4, coef = -1.0", "row = 4 }, { in = \"q\", column = 2",
            "spec.toml:14:53: sensitivity by `envelope` is proven for private numbers in b only, found q[2]"),
        (CURVATURE, "{ in = \"q\", column = 1 }", "{ in = \"A\", row = 1, column = 1 }",
            "spec.toml:8:74: sensitivity by `strong-convexity` is proven for private numbers in q only, found A[1, 1]"),
        (ENVELOPE, "by = \"envelope\", price = 1000.0", "by = \"radius\"",
            "spec.toml:8:7: sensitivity by `radius` is proven for private numbers in q only, found b[0]"),
        (ENVELOPE, "nominal = -10.0", "nominal = 10.0",
            "spec.toml:16:11: `nominal` must lie within `bounds`, [-30.0, 5.0], found 10.0\n  help: the bounds must hold every admissible value, of either sign"),
        (ENVELOPE, "nominal = 80", "nominal = nan",
            "spec.toml:10:11: `nominal` must be finite, found nan"),
        (ENVELOPE, "nominal = 80", "nominale = 80",
            "spec.toml:10:1: unknown key `nominale` in [[private.parameter]]; did you mean `nominal`?"),
        (CURVATURE, "\"curvature\"", "\"curvatur\"",
            "spec.toml:14:9: `shape` must be `curvature` or `isotropic`, found `curvatur`\n  help: did you mean `curvature`?"),
        (CURVATURE, "\"curvature\"", "2.0",
            "spec.toml:14:9: `shape` must be an array, found 2.0"),
        (CURVATURE, "\"curvature\"", "[[1.0]]",
            "spec.toml:14:9: `shape` is 1×1, but the answer has 2 numbers"),
    ]);
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_feasibility() {
    refused(&[
        (SMALLEST, "eta = 0.01", "eta = 0.7",
            "spec.toml:16:7: `eta` must lie strictly between 0 and 1/2, found 0.7"),
        (SMALLEST, "eta = 0.01", "eta = true",
            "spec.toml:16:7: `eta` must be a number, found a boolean"),
        (SMALLEST, "eta = 0.01", "beta = 0.01",
            "spec.toml:15:1: [feasibility] needs `eta`\n  help: for example: eta = 0.01"),
        (SMALLEST, "eta = 0.01", "eta = 0.01\nmethod = \"mass box\"",
            "spec.toml:17:10: `method` must be `auto`, `mass-box`, `safe-box`, `sampled-box`, `scenario`, `row-by-row`, `noise-aware-hinge`, `fixed-recourse`, `ball`, `l1-ball` or `bounded`, found `mass box`\n  help: did you mean `mass-box`?"),
        (SMALLEST, "eta = 0.01", "eta = 0.01\nmethod = \"ball\"",
            "spec.toml:17:10: method `ball` needs mechanism `gaussian`"),
        (SMALLEST, "eta = 0.01", "eta = 0.01\nmethod = \"bounded\"",
            "spec.toml:17:10: method `bounded` needs mechanism `truncated-laplace`"),
        (SMALLEST, "eta = 0.01", "eta = 0.01\nmethod = \"mass-box\"\nfactor = \"cantelli\"",
            "spec.toml:18:10: `factor` needs method `row-by-row`"),
        (SMALLEST, "eta = 0.01", "eta = 0.01\nfactor = \"gaussian\"",
            "spec.toml:17:10: factor `gaussian` needs mechanism `gaussian`"),
        (SMALLEST, "eta = 0.01", "eta = 0.01\nstrategy = \"projection\"",
            "spec.toml:17:12: `strategy` must be `auto`, `program`, `output`, `shifted`, `projected`, `linear-term`, `input` or `truncated`, found `projection`"),
        (SMALLEST, "eta = 0.01", "strategy = \"output\"\nmethod = \"mass-box\"",
            "spec.toml:17:10: `method` says how η is kept, and there is no `eta`\n  help: leave it out; or add `eta`, for `compare`"),
        (EVERY_KEY, r#"factor = "cantelli""#, r#"factor = "chernoff""#,
            "spec.toml:74:10: factor `chernoff` needs mechanism `laplace` or `truncated-laplace`"),
        (SMALLEST, "eta = 0.01", "eta = 0.01\nsplit = 1",
            "spec.toml:17:9: `split` must lie strictly between 0 and 1, found 1"),
        (SMALLEST, "eta = 0.01", "eta = 0.01\nsplit = \"optimize\"",
            "spec.toml:17:9: `split` must be `symmetric` or `optimise`, found `optimize`\n  help: did you mean `optimise`?"),
        (EVERY_KEY, "name = \"limits\"\nmethod", "name = \"limit\"\nmethod",
            "spec.toml:72:8: no constraint `limit`\n  help: did you mean `limits`?"),
        (EVERY_KEY, "name = \"balance\"\nweight", "name = \"limits\"\nweight",
            "spec.toml:78:8: the name `limits` is taken"),
        (EVERY_KEY, "weight = 2.0", "weight = 2.0\neta = 0.001",
            "spec.toml:80:7: give `weight` or `eta`, not both"),
        (EVERY_KEY, "[0.001, 0.002]", "[0.001, 0.02]",
            "spec.toml:75:7: the block's eta, 0.021, exceeds that of [feasibility], 0.01"),
        (EVERY_KEY, "[0.001, 0.002]", "[0.001]",
            "spec.toml:75:7: `eta` has 1 number, but `limits` has 2 rows"),
        (EVERY_KEY, "seed = 3", "seed = -3",
            "spec.toml:69:8: `seed` must lie between 0 and 2^64 - 1, found -3"),
    ]);
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_the_optional_sections() {
    refused(&[
        (SMALLEST, "[query]", "[risk]\ntail = 0.1\n[query]",
            "spec.toml:10:1: `tail` makes no sense with objective `expectation` and form `exact`"),
        (SMALLEST, "[query]", "[risk]\nobjective = \"cvar\"\n[query]",
            "spec.toml:9:1: [risk] needs `tail`\n  help: for example: tail = 0.05"),
        (SMALLEST, "[query]", "[risk]\nobjective = \"cvar\"\ntail = 0.1\nweight = 0.5\n[query]",
            "spec.toml:12:1: `weight` makes no sense with objective `cvar` and form `exact`"),
        (SMALLEST, "[query]", "[risk]\nobjective = \"cvar\"\ntail = 0.1\nsamples = 5\n[query]",
            "spec.toml:12:1: `samples` makes no sense with objective `cvar` and form `exact`"),
        (EVERY_KEY, "variables = [\"t\"]\nat_most = 3", r#"variables = ["t"]"#,
            "spec.toml:94:1: [[risk.variance]] needs `weight` or `at_most`\n  help: for example: weight = 0.1"),
        (EVERY_KEY, "at_most = 3", "at_most = 3\nweight = 1",
            "spec.toml:96:11: give `weight` or `at_most`, not both"),
        (EVERY_KEY, "samples = 500", "samples = 0",
            "spec.toml:86:11: `samples` must lie between 1 and 1000000, found 0"),
        (EVERY_KEY, "step = 1e-6", "step = 0.0",
            "spec.toml:99:8: `step` must be positive, found 0.0"),
        (EVERY_KEY, "tolerance = 1e-8", "tolerance = 1e-15",
            "spec.toml:102:13: `tolerance` must lie between 1e-12 and 1e-3, found 1e-15"),
        (EVERY_KEY, "threads = 2", "threads = 0",
            "spec.toml:103:11: `threads` must lie between 1 and 1024, found 0"),
        (EVERY_KEY, "draws = 2000", "draws = 20000000",
            "spec.toml:106:9: `draws` must lie between 1 and 10000000, found 20000000"),
        (EVERY_KEY, r#"dataset = "loads-2026""#, "dataset = 2026-01-01",
            "spec.toml:111:11: `dataset` must be a string, found a date"),
        (EVERY_KEY, "dataset = \"loads-2026\"\n", "",
            "spec.toml:109:1: [ledger] needs `dataset`\n  help: for example: dataset = \"loads-2026\""),
        (EVERY_KEY, "part = \"day 1, hour {row}\"\n", "",
            "spec.toml:112:14: `part_moves` makes no sense without `part`"),
        (EVERY_KEY, "hour {row}", "hour {hour}",
            "spec.toml:112:8: `part`: in braces only `{row}` is known, found `day 1, hour {hour}`\n  help: `{row}` is the number of the row: part = \"day 1, hour {row}\""),
        (EVERY_KEY, "hour {row}", "hour {row",
            "spec.toml:112:8: `part`: in braces only `{row}` is known, found `day 1, hour {row`\n  help: `{row}` is the number of the row: part = \"day 1, hour {row}\""),
        (EVERY_KEY, "count = 24", "count = 0",
            "spec.toml:114:20: `count` must lie between 1 and 100000, found 0"),
        (EVERY_KEY, "count = 24, ", "",
            "spec.toml:114:10: `series` needs `count`\n  help: for example: count = 24"),
        (EVERY_KEY, "delta = 1e-6 }\nplanned", "delta = 0 }\nplanned",
            "spec.toml:114:32: `delta` must lie strictly between 0 and 1, found 0"),
        (EVERY_KEY, "planned = true", "planned = 1",
            "spec.toml:115:11: `planned` must be true or false, found 1"),
    ]);
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_a_power_flow() {
    refused(&[
        (OPF, "network = \"24_ieee_rts\"\n", "",
            "spec.toml:1:1: [problem] needs `network` or `file`\n  help: for example: network = \"24_ieee_rts\", or file = \"case.m\""),
        (OPF, "network = \"24_ieee_rts\"", "network = \"24_ieee_rts\"\nfile = \"case.m\"",
            "spec.toml:4:8: give `network` or `file`, not both"),
        (OPF, "network = \"24_ieee_rts\"", "network = \"\"",
            "spec.toml:3:11: `network` must not be empty"),
        (OPF, "network = \"24_ieee_rts\"", "netwrk = \"24_ieee_rts\"",
            "spec.toml:3:1: unknown key `netwrk` in [problem]; did you mean `network`?"),
        (OPF, "\"ptdf\"", "\"angle\"",
            "spec.toml:4:8: `form` must be `angles` or `ptdf`, found `angle`\n  help: did you mean `angles`?"),
        (OPF, "alpha = 10.0 }", "alpha = 10.0, unit = \"kW\" }",
            "spec.toml:12:56: demands and their alpha are in MW, and `unit` is `kW`\n  help: unit = \"MW\", or no `unit`; alpha is then a number of MW"),
        (OPF, "susceptance = \"full\"", "susceptance = \"series\"",
            "spec.toml:5:15: `susceptance` must be `standard` or `full`, found `series`"),
        (OPF, "angle_limits = true", "angle_limits = \"yes\"",
            "spec.toml:6:16: `angle_limits` must be true or false, found a string"),
        (OPF, "costs = \"full\"", "costs = \"quadratic\"",
            "spec.toml:7:9: `costs` must be `linear` or `full`, found `quadratic`"),
        (OPF, "costs = \"full\"", "costs = \"full\"\nvariable = [{ name = \"x\" }]",
            "spec.toml:8:1: `variable` makes no sense with model `opf`"),
        (OPF, "costs = \"full\"", "costs = \"full\"\nconstraint = [{ name = \"c\" }]",
            "spec.toml:8:1: `constraint` makes no sense with model `opf`"),
        (OPF, "demand = \"loads.csv\"", "demand = 3",
            "spec.toml:9:10: `demand` must be a string, found 3"),
        (OPF, "demand = \"loads.csv\"", "parameter = [{ name = \"d3\", at = [{ in = \"b\", row = 3 }] }]",
            "spec.toml:9:1: `parameter` makes no sense with model `opf`"),
        (OPF, "demand = \"loads.csv\"", "universe = { kind = \"box\", center = [1.0], half_width = 1.0 }",
            "spec.toml:9:1: `universe` makes no sense with model `opf`"),
        (OPF, "[3, 14, 15]", "[3, 14, 3]",
            "spec.toml:10:17: bus 3 is listed twice"),
        (OPF, "[3, 14, 15]", "[]",
            "spec.toml:10:9: `loads` must not be empty"),
        (OPF, "[3, 14, 15]", "[-3]",
            "spec.toml:10:10: entry 0 of `loads` must lie between 0 and 4294967295, found -3"),
        (OPF, "[3, 14, 15]", "\"some\"",
            "spec.toml:10:9: `loads` must be `with-demand` or `all`, found `some`\n  help: or list bus numbers: loads = [3, 14, 15]"),
        (OPF, "[3, 14, 15]", "3",
            "spec.toml:10:9: `loads` must be `with-demand`, `all` or bus numbers, found 3\n  help: for example: loads = [3, 14, 15]"),
        (OPF, "{ relative = 0.3 }", "0.3",
            "spec.toml:11:10: `bounds` must be a table, found 0.3\n  help: for example: bounds = { relative = 0.3 }, { within = 50.0 } in MW, or { each = \"bounds.csv\" }"),
        (OPF, "{ relative = 0.3 }", "{ relative = -0.3 }",
            "spec.toml:11:23: `relative` must be positive, found -0.3"),
        (OPF, "{ relative = 0.3 }", "{ relative = 0.3, within = 50.0 }",
            "spec.toml:11:37: give one of `relative`, `within` and `each`"),
        (OPF, "{ relative = 0.3 }", "{ each = \"b.csv\", within = 50.0 }",
            "spec.toml:11:19: give one of `relative`, `within` and `each`"),
        (OPF, "{ relative = 0.3 }", "{ each = 50.0 }",
            "spec.toml:11:19: `each` must be a string, found 50.0"),
        (OPF, "costs = \"full\"", "costs = \"full\"\ncurvature = 0.001",
            "spec.toml:8:13: `curvature` changes the objective, and release `cost` is the objective\n  help: it is for release `generation`, which it makes unique"),
        (OPF, "costs = \"full\"", "costs = \"full\"\ncurvature = 0",
            "spec.toml:8:13: `curvature` must be positive, found 0"),
        (OPF, "{ relative = 0.3 }", "{}",
            "spec.toml:11:10: `bounds` needs `relative`, `within` or `each`\n  help: for example: bounds = { relative = 0.3 }, { within = 50.0 } in MW, or { each = \"bounds.csv\" }"),
        (OPF, "{ relative = 0.3 }", "{ share = 0.3 }",
            "spec.toml:11:12: unknown key `share` in `bounds`; known keys: relative, within, each, wide"),
        (OPF, "bounds = { relative = 0.3 }\n", "",
            "spec.toml:17:15: sensitivity by `envelope` needs public `bounds` on the demands\n  help: in [private]: bounds = { relative = 0.3 }, or { within = 50.0 } in MW"),
        (OPF, "kind = \"one-entry\", alpha = 10.0", "kind = \"one-record\", record = 3",
            "spec.toml:12:13: the adjacency of demands needs an alpha, in MW\n  help: `one-entry`, `l1` and `l2` have one"),
        (OPF, "release = \"cost\"", "release = \"sum\"",
            "spec.toml:14:11: release `sum` makes no sense with model `opf`\n  help: a power flow releases its `cost`, or the `generation` of some of its units"),
        (OPF, "release = \"cost\"", "release = \"generation\"",
            "spec.toml:13:1: release `generation` needs `units` or `groups`\n  help: for example: units = [\"generator 7\", \"bus 23\"]"),
        (OPF, "release = \"cost\"", "release = \"generation\"\nunits = []",
            "spec.toml:15:9: `units` must not be empty"),
        (OPF, "release = \"cost\"", "release = \"generation\"\nunits = [\"bus 1\", \"bus 1\"]",
            "spec.toml:15:19: `bus 1` is named twice"),
        (OPF, "release = \"cost\"", "release = \"generation\"\nunits = [\"bus 1\"]\ngroups = [[\"bus 2\"]]",
            "spec.toml:16:10: give `units` or `groups`, not both"),
        (OPF, "release = \"cost\"", "release = \"generation\"\nunits = [\"bus 1\"]",
            "spec.toml:19:15: sensitivity by `envelope` is proven for the cost only\n  help: by = \"moreau\" is proven for generation; or declare a bound, or sample one"),
        (OPF, "release = \"cost\"", "release = \"cost\"\nunits = [\"bus 1\"]",
            "spec.toml:15:1: `units` makes no sense with release `cost`"),
        (OPF, "by = \"envelope\", price = 1000.0", "by = \"envelope\"",
            "spec.toml:18:15: sensitivity by `envelope` needs `price`\n  help: price = 1000.0 is what deviating from the data by one unit costs, a public number: the value of lost load, a price cap"),
        (OPF, "by = \"envelope\", price = 1000.0", "by = \"radius\"",
            "spec.toml:18:15: sensitivity by `radius` makes no sense for demands, which stand in the right-hand side\n  help: `envelope` is proven for their cost, `moreau` for generation"),
        (OPF, "by = \"envelope\", price = 1000.0", "by = \"moreau\", width = 1.0",
            "spec.toml:18:15: sensitivity by `moreau` is for generation, and the cost is released\n  help: by = \"envelope\" is proven for the cost"),
        (OPF, "by = \"envelope\", price = 1000.0", "by = \"declared\", per_alpha = \"largest-cost\"",
            "spec.toml:18:15: `largest-cost` is about linear costs, and `costs` is `full`\n  help: declare a number and its reason: per_alpha = 40.0, reason = \"…\""),
        (OPF, "by = \"envelope\", price = 1000.0", "by = \"declared\", per_alpha = \"largest-price\"",
            "spec.toml:18:46: `per_alpha` must be `largest-cost`, found `largest-price`\n  help: or give a number: per_alpha = 1.5, with its reason"),
        (OPF, "by = \"envelope\", price = 1000.0", "by = \"declared\", per_alpha = \"largest-cost\", reason = \"the paper\"",
            "spec.toml:18:71: `largest-cost` brings a reason of its own"),
        (GENERATION, "by = \"sampled\", gamma = 0.1, beta = 0.1", "by = \"declared\", per_alpha = \"largest-cost\"",
            "spec.toml:15:15: `largest-cost` is about the cost, not about generation\n  help: declare a number and its reason: per_alpha = 40.0, reason = \"…\""),
        (GENERATION, "bounds = { within = 50.0 }\n", "",
            "spec.toml:14:15: sensitivity by `sampled` needs public `bounds` on the demands\n  help: in [private]: bounds = { relative = 0.3 }, or { within = 50.0 } in MW"),
        (GENERATION, "south = [\"bus 1\"]", "\"\" = [\"bus 1\"]",
            "spec.toml:10:47: the name of the group `` is empty\n  help: write a name that can be read aloud"),
        (GENERATION, "{ north = [\"generator 7\", \"bus 23\"], south = [\"bus 1\"] }", "{}",
            "spec.toml:10:10: `groups` must not be empty"),
        (GENERATION, "[[1.0, 0.0], [0.0, 2.0]]", "[[1.0]]",
            "spec.toml:11:9: `shape` is 1×1, but the answer has 2 numbers"),
        (SMALLEST, "file = \"problem.json\"", "file = \"problem.json\"\nnetwork = \"24_ieee_rts\"",
            "spec.toml:4:1: `network` makes no sense with model `conic`"),
        (SMALLEST, "file = \"problem.json\"", "file = \"problem.json\"\ncurvature = 0.1",
            "spec.toml:4:1: `curvature` makes no sense with model `conic`"),
        (SMALLEST, "[private]", "[private]\ndemand = \"loads.csv\"",
            "spec.toml:5:1: `demand` makes no sense with model `conic`"),
        (SMALLEST, "release = \"cost\"", "release = \"generation\"\nunits = [\"bus 1\"]",
            "spec.toml:10:11: release `generation` makes no sense with model `conic`\n  help: `sum`, `weighted` and `rows` release sums of variables"),
        (SMALLEST, "sensitivity = { by = \"declared\", value = 1.0, reason = \"unit price\" }", "sensitivity = { by = \"declared\", per_alpha = \"largest-cost\" }",
            "spec.toml:14:15: `largest-cost` makes no sense with model `conic`\n  help: declare a number and its reason: per_alpha = 40.0, reason = \"…\""),
    ]);
}

const ELLIPSOID: &str = r#"
[problem]
model = "ellipsoid"
normals = [[1.0], [-1.0]]
[private]
offsets = [1.0, 2.0]
adjacency = { kind = "one-entry", alpha = 0.1 }
[query]
release = "identity"
[privacy]
mechanism = "laplace"
epsilon = 1.0
sensitivity = { by = "declared", value = 1.0, reason = "for the test" }
[feasibility]
eta = 0.1
"#;

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_about_ellipsoids() {
    read("spec.toml", ELLIPSOID).unwrap();
    refused(&[
        (ELLIPSOID, "normals = [[1.0], [-1.0]]", "",
            "spec.toml:2:1: [problem] needs `normals` or `file`\n  help: for example: normals = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], or file = \"normals.csv\""),
        (ELLIPSOID, "normals = [[1.0], [-1.0]]", "normals = [[1.0], [-1.0]]\nfile = \"n.csv\"",
            "spec.toml:5:8: give `normals` or `file`, not both"),
        (ELLIPSOID, "[-1.0]]", "[-1.0, 2.0]]",
            "spec.toml:4:19: the normal of facet 1 has 2 numbers, that of facet 0 has 1"),
        (ELLIPSOID, "offsets = [1.0, 2.0]", "offsets = [1.0]",
            "spec.toml:6:11: 1 offset for 2 facets: give one for each"),
        (ELLIPSOID, "kind = \"one-entry\", alpha = 0.1", "kind = \"universe\"",
            "spec.toml:7:13: adjacency `universe` needs [private.universe]"),
        (ELLIPSOID, "kind = \"one-entry\", alpha = 0.1", "kind = \"one-record\", record = 3",
            "spec.toml:7:13: the facets cannot be split into records of 3"),
    ]);
}
