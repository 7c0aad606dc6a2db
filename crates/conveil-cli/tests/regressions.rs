//! `model = "regression"` on the command line: every verb, and exactly what is said about mistakes.

mod running;

use running::{RECORD_EXAMPLES, directory, ended, examples, text, write};
use serde_json::Value;
use std::path::{Path, PathBuf};

const SPEC: &str = r#"
[problem]
model = "regression"
regressors = "records.csv"
response = "power"
ridge = 0.1

[[problem.basis]]
kind = "constant"

[[problem.basis]]
kind = "linear"
feature = "speed"

[[problem.condition]]
kind = "increasing"
feature = "speed"
at = [3.0]

[private]
adjacency = { kind = "one-entry", alpha = 0.5 }
bounds = [0.0, 1.0]

[query]
release = "identity"

[privacy]
mechanism = "gaussian"
epsilon = 1.0
delta = 1e-6

[feasibility]
eta = 0.05
"#;

const RECORDS: &str =
    "speed,power,remark\n3,0.1,calm\n5,0.3,\n7,0.4,gusts\n9,0.8,\n11,0.95,storm\n";

fn placed(name: &str, spec: &str, records: &str) -> PathBuf {
    let place = directory(&format!("regression-{name}"));
    write(&place.join("spec.toml"), spec);
    write(&place.join("records.csv"), records);
    place
}

fn json(place: &Path, words: &[&str]) -> Value {
    let (code, stdout, stderr) = ended(place, words);
    assert_eq!(code, 0, "{words:?}: {stderr}");
    serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}\n{stdout}"))
}

/// Ridge regression with a constant, by hand: (Φ'Φ + λI)w = Φ'y.
#[test]
fn the_optimum_is_that_of_the_normal_equations() {
    let place = placed("optimum", SPEC, RECORDS);
    let report = json(&place, &["solve", "spec.toml", "--json", "-q"]);
    let (x, y) = ([3.0, 5.0, 7.0, 9.0, 11.0], [0.1, 0.3, 0.4, 0.8, 0.95]);
    let (n, sx): (f64, f64) = (5.1, x.iter().sum());
    let sxx: f64 = x.iter().map(|x| x * x).sum::<f64>() + 0.1;
    let sy: f64 = y.iter().sum();
    let sxy: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
    let det = n * sxx - sx * sx;
    let (a, b) = ((sy * sxx - sx * sxy) / det, (n * sxy - sx * sy) / det);
    // ½‖y − Φw‖² + ½λ‖w‖²
    let residuals = x.iter().zip(&y).map(|(x, y)| y - a - b * x);
    let squares: f64 = residuals.map(|r| r * r).sum();
    let optimum = 0.5 * squares + 0.05 * (a * a + b * b);
    let found = report["optimum"].as_f64().unwrap();
    assert!((found - optimum).abs() < 1e-7, "{found} {optimum}");
    assert_eq!(report["private"], Value::Bool(true));
}

#[test]
fn the_certificate_and_its_shape_are_the_default() {
    let place = placed("default", SPEC, RECORDS);
    let check = json(&place, &["check", "spec.toml", "--json"]);
    let text = check["text"].as_str().unwrap();
    assert!(text.contains("strong convexity"), "{text}");
    assert!(text.contains("the noise is Tζ"), "{text}");
    assert_eq!(check["released"], serde_json::json!(["constant", "speed"]));
    let shaped = check["guarantee"]["sensitivity"].as_f64().unwrap();
    let stated = SPEC.replace(
        "release = \"identity\"",
        "release = \"identity\"\nshape = \"isotropic\"",
    );
    let other = placed("isotropic", &stated, RECORDS);
    let check = json(&other, &["check", "spec.toml", "--json"]);
    assert!(!check["text"].as_str().unwrap().contains("Tζ"));
    let isotropic = check["guarantee"]["sensitivity"].as_f64().unwrap();
    assert!(isotropic != shaped);
    let explicit = SPEC.replace(
        "delta = 1e-6",
        "delta = 1e-6\nsensitivity = { by = \"strong-convexity\" }",
    );
    let same = placed("explicit", &explicit, RECORDS);
    let check = json(&same, &["check", "spec.toml", "--json"]);
    assert_eq!(check["guarantee"]["sensitivity"].as_f64(), Some(shaped));
}

/// The whole road: charge, solve, draw; the card holds the weights by name, the decision the same numbers.
#[test]
fn a_release_is_charged_and_names_the_weights() {
    let spec = format!("{SPEC}\n[ledger]\nfile = \"budget.sqlite\"\ndataset = \"turbine\"\n");
    let place = placed("release", &spec, RECORDS);
    let budget = ["--epsilon", "1", "--delta", "1e-5"];
    let mut words = vec!["ledger", "init", "budget.sqlite", "--dataset", "turbine"];
    words.extend(budget);
    let (code, _, stderr) = ended(&place, &words);
    assert_eq!(code, 0, "{stderr}");
    let words = [
        "release",
        "spec.toml",
        "--json",
        "-q",
        "--decision",
        "decision.json",
    ];
    let card = json(&place, &words);
    let card_text = card.to_string();
    assert!(card_text.contains("constant") && card_text.contains("speed"));
    assert!(place.join("decision.json").exists());
    // The budget is spent.
    let (code, _, stderr) = ended(&place, &["release", "spec.toml", "-q"]);
    assert_eq!(code, 5, "{stderr}");
}

/// Σ weight·function from the card's JSON alone, in the formulas that its kinds stand for.
fn evaluated(card: &Value, x: &[(&str, f64)]) -> f64 {
    let terms = card["reading"]["terms"].as_array().unwrap();
    let weight = |name: &Value| {
        let answers = card["answer"].as_array().unwrap();
        let found = answers.iter().find(|answer| answer["name"] == *name);
        found.unwrap()["value"].as_f64().unwrap()
    };
    let each = terms.iter().map(|term| {
        let number = |key: &str| term[key].as_f64().unwrap();
        let input = || {
            let name = term["input"].as_str().unwrap();
            x.iter().find(|known| known.0 == name).unwrap().1
        };
        let function = match term["kind"].as_str().unwrap() {
            "constant" => 1.0,
            "power" => number("scale") * (input() - number("center")).powf(number("degree")),
            "radial" => (1.0 + ((input() - number("center")) / number("width")).powi(2)).sqrt(),
            other => panic!("{other}"),
        };
        weight(&term["weight"]) * function
    });
    each.sum()
}

#[test]
fn a_card_says_what_is_protected_and_what_it_takes_to_use_the_weights() {
    let spec = SPEC
        .replace(
            "ridge = 0.1",
            "ridge = 0.1\nunits = { speed = \"m/s\", power = \"share\" }",
        )
        .replace(
            "[[problem.condition]]",
            "[[problem.basis]]\nkind = \"power\"\nfeature = \"speed\"\ndegree = 3\ncenter = 5.0\nscale = 0.5\n\n[[problem.basis]]\nkind = \"radial\"\nfeature = \"speed\"\ncenters = [7.0]\nwidth = 2.0\n\n[[problem.condition]]",
        );
    let place = placed("card", &spec, RECORDS);
    let card = json(
        &place,
        &["release", "spec.toml", "--no-ledger", "--json", "-q"],
    );
    let protects = "the response of one record (power), up to a change of 0.5; the regressors and the number of records are public and not protected";
    assert_eq!(card["protects"], protects);
    let quantity = |name: &str, unit: &str, bounds: Value| serde_json::json!({ "name": name, "unit": unit, "bounds": bounds });
    let reading = &card["reading"];
    assert_eq!(
        reading["value"],
        quantity("power", "share", serde_json::json!([0.0, 1.0]))
    );
    assert_eq!(
        reading["inputs"],
        serde_json::json!([quantity("speed", "m/s", Value::Null)])
    );
    // Second road: the formulas as the spec has them.
    let w: Vec<f64> = (card["answer"].as_array().unwrap().iter())
        .map(|answer| answer["value"].as_f64().unwrap())
        .collect();
    for x in [3.0, 6.5, 20.0f64] {
        let expected = w[0]
            + w[1] * x
            + w[2] * 0.5 * (x - 5.0) * (x - 5.0) * (x - 5.0)
            + w[3] * (1.0 + (x - 7.0) * (x - 7.0) / 4.0).sqrt();
        let found = evaluated(&card, &[("speed", x)]);
        assert!(
            (found - expected).abs() < 1e-9 * (1.0 + expected.abs()),
            "{found} {expected}"
        );
    }
    let (_, text, _) = ended(&place, &["release", "spec.toml", "--no-ledger", "-q"]);
    let used = "use: power is fitted by the sum of weight × function:\n  constant: 1\n  speed: speed\n  0.5·(speed − 5)^3: 0.5·(speed − 5)^3\n  radial(speed, 7, 2): √(1 + ((speed − 7)/2)^2)\n  speed in m/s; power in share, clipped to [0, 1] before the fit\n";
    for said in [&format!("protects: {protects}\n"), used] {
        assert!(text.contains(said), "{text}");
    }
    // `check` says the same before anything is charged.
    let check = json(&place, &["check", "spec.toml", "--json"]);
    assert_eq!(check["protects"], card["protects"]);
    assert_eq!(check["reading"], card["reading"]);
    let (_, text, _) = ended(&place, &["check", "spec.toml", "-q"]);
    assert!(text.contains(&format!("protects: {protects}\n")), "{text}");
    assert!(text.contains(used), "{text}");
    // A seed protects nothing, and so does paper mode.
    let seeded = ["release", "spec.toml", "--not-private", "--seed", "1", "-q"];
    let (_, text, stderr) = ended(&place, &seeded);
    assert!(text.contains("protects: nothing\n"), "{text}{stderr}");
}

#[test]
fn what_is_protected_follows_from_the_adjacency() {
    let rest = "the regressors and the number of records are public and not protected";
    for (adjacency, expected) in [
        (
            "kind = \"one-record\"",
            "the response of one record (power), whatever it is within its public bounds",
        ),
        (
            "kind = \"l2\", alpha = 0.25",
            "the responses of all records (power), up to changes of 0.25 together (Euclidean norm)",
        ),
        (
            "kind = \"l1\", alpha = 0.25",
            "the responses of all records (power), up to changes of 0.25 in all (ℓ₁ norm)",
        ),
    ] {
        let spec = SPEC.replace("kind = \"one-entry\", alpha = 0.5", adjacency);
        let place = placed("protects", &spec, RECORDS);
        let check = json(&place, &["check", "spec.toml", "--json"]);
        assert_eq!(check["protects"], format!("{expected}; {rest}"));
    }
    // Some weights alone are no curve.
    let declared =
        "delta = 1e-6\nsensitivity = { by = \"declared\", value = 1.0, reason = \"for the test\" }";
    let spec = SPEC
        .replace(
            "release = \"identity\"",
            "release = \"identity\"\nvariables = [\"speed\"]",
        )
        .replace("delta = 1e-6", declared);
    let place = placed("part", &spec, RECORDS);
    let check = json(&place, &["check", "spec.toml", "--json"]);
    assert_eq!(check["reading"]["missing"], serde_json::json!(["constant"]));
    assert_eq!(check["reading"]["terms"].as_array().unwrap().len(), 1);
    let text = check["text"].as_str().unwrap();
    assert!(
        text.contains("of which 1 weight is not released (`constant`):"),
        "{text}"
    );
}

#[test]
fn an_audit_does_not_contradict_the_certificate() {
    let place = placed("audit", SPEC, RECORDS);
    let words = [
        "audit",
        "spec.toml",
        "--json",
        "-q",
        "--pairs",
        "200",
        "--solves",
        "500",
    ];
    let report = json(&place, &words);
    assert_eq!(report["verdict"], "none-found");
    let audited = report["audited_epsilon"].as_f64().unwrap();
    // Five records need so much noise that the condition holds the weights back: they move less than they might.
    assert!((0.3..=1.0).contains(&audited), "{audited}");
}

#[test]
fn check_is_the_same_whatever_the_private_responses() {
    for name in RECORD_EXAMPLES {
        let place = directory(&format!("check-{name}"));
        let (spec, csv) = (format!("{name}.toml"), format!("{name}.csv"));
        write(&place.join(&spec), text(&examples().join(&spec)));
        let records = text(&examples().join(&csv));
        let mut seen = Vec::new();
        for other in ["", "0.25", "no number", "nan"] {
            let mut lines = records.lines();
            let mut changed = format!("{}\n", lines.next().unwrap_or_default());
            for line in lines {
                let (rest, own) = line.rsplit_once(',').unwrap();
                let response = if other.is_empty() { own } else { other };
                changed += &format!("{rest},{response}\n");
            }
            write(&place.join(&csv), changed);
            let plain = ended(&place, &["check", &spec]);
            let document = ended(&place, &["check", &spec, "--json"]);
            assert_eq!((plain.0, document.0), (0, 0), "{name}: {}", plain.2);
            seen.push((plain, document));
        }
        assert!(seen.iter().all(|check| *check == seen[0]), "{name}");
    }
}

#[test]
fn responses_may_stand_in_a_file_of_their_own() {
    let spec = SPEC.replace("[private]", "[private]\ndata = \"private.csv\"");
    let place = placed("apart", &spec, "speed\n3\n5\n7\n9\n11\n");
    write(
        &place.join("private.csv"),
        "power\n0.1\n0.3\n0.4\n0.8\n0.95\n",
    );
    let apart = json(&place, &["solve", "spec.toml", "--json", "-q"]);
    let together = placed("together", SPEC, RECORDS);
    let together = json(&together, &["solve", "spec.toml", "--json", "-q"]);
    assert_eq!(apart["optimum"], together["optimum"]);
    write(&place.join("private.csv"), "power\n0.1\n");
    let (code, _, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    assert_eq!(code, 2);
    assert_eq!(
        stderr,
        "error: private.csv: there are 1 responses, but records.csv has 5 records\n"
    );
}

#[test]
fn clipped_responses_are_counted_for_the_curator_only() {
    let records = RECORDS.replace("0.95", "1.7").replace("0.1,", "-3,");
    let place = placed("clipped", SPEC, &records);
    let (code, _, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    assert_eq!(code, 0, "{stderr}");
    for name in ["power 1", "power 5"] {
        let warning = format!(
            "warning: the value of `{name}` lies outside its public bounds and is clipped to [0, 1]"
        );
        assert!(stderr.contains(&warning), "{stderr}");
    }
    let (_, _, stderr) = ended(&place, &["check", "spec.toml", "-q"]);
    assert!(!stderr.contains("clipped"), "{stderr}");
    // Many are one line.
    let many: Vec<String> = (0..40).map(|i| format!("{},5,x", 3 + i % 7)).collect();
    let place = placed(
        "clipped-many",
        SPEC,
        &format!("speed,power,remark\n{}\n", many.join("\n")),
    );
    let (_, _, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    let said = "warning: 40 of 40 values in all lie outside their public bounds and are clipped";
    assert!(stderr.contains(said), "{stderr}");
    assert!(stderr.lines().count() < 20, "{stderr}");
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_files() {
    let cases = [
        ("speed,power\n3,0.1\n5,x\n",
            "error: records.csv:3:3: `power` must be a number, found `x`\n"),
        ("speed,power\n3,0.1\n5,\n",
            "error: records.csv:3:3: `power` must be a number, found nothing\n"),
        ("speed,power\n3,0.1\n5,nan\n",
            "error: records.csv:3:3: `power` must be finite, found `nan`\n"),
        ("speed,power\n3,0.1\nfast,0.2\n",
            "error: records.csv:3:1: `speed` must be a number, found `fast`\n"),
        ("sped,power\n3,0.1\n5,0.2\n",
            "error: records.csv:1:1: there is no column `speed`\n  help: did you mean `sped`?\n"),
        ("speed,watts\n3,0.1\n5,0.2\n",
            "error: records.csv:1:1: there is no column `power`\n  help: the columns are `speed` and `watts`\n"),
        ("speed,power,speed\n3,0.1,3\n",
            "error: records.csv:1:13: column `speed` is there twice\n"),
        ("speed,power\n3,0.1\n5\n",
            "error: records.csv:3:1: this line has 1 field, the header has 2\n"),
        ("speed,power\n",
            "error: records.csv:1:1: there is a header, but no record below it\n"),
    ];
    for (records, expected) in cases {
        let place = placed("mistakes", SPEC, records);
        let (code, stdout, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
        assert_eq!((code, stdout.as_str()), (2, ""), "{records}");
        assert_eq!(stderr, expected, "{records}");
    }
    let place = placed("no-file", SPEC, RECORDS);
    std::fs::remove_file(place.join("records.csv")).unwrap();
    let (code, _, stderr) = ended(&place, &["check", "spec.toml"]);
    assert_eq!(code, 2);
    assert_eq!(stderr, "error: spec.toml:4:14: cannot read the regressors records.csv: no such file\n  help: `regressors` is a path relative to the spec's directory\n");
}

/// 128 MB of remarks, and a process that may have 96 MB of data.
#[cfg(target_os = "linux")]
#[test]
fn a_file_of_records_is_never_in_memory_as_a_whole() {
    let place = placed("streamed", SPEC, "");
    let remark = "x".repeat(128 << 10);
    let lines = (0..1000).map(|i| format!("{},0.{i:03},{remark}\n", 3 + i % 9));
    let records: String = std::iter::once("speed,power,remark\n".into())
        .chain(lines)
        .collect();
    write(&place.join("records.csv"), records);
    let limited = "ulimit -d 98304 && exec \"$0\" \"$@\"";
    let output = std::process::Command::new("sh")
        .current_dir(&place)
        .env("RAYON_NUM_THREADS", "1")
        .args(["-c", limited, env!("CARGO_BIN_EXE_conveil")])
        .args(["solve", "spec.toml", "-q"])
        .output()
        .unwrap_or_else(|e| panic!("sh: {e}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let _ = std::fs::remove_dir_all(&place);
}

#[test]
fn responses_without_bounds_or_with_too_wide_ones() {
    // Clipped, they would do no harm; unclipped, one of them is beyond what a solve can prove.
    let records = RECORDS.replace("0.4,", "1e12,");
    let unbounded = SPEC.replace("bounds = [0.0, 1.0]\n", "");
    let place = placed("unbounded", &unbounded, &records);
    let (code, _, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    assert_eq!(code, 6, "{stderr}");
    assert!(
        !stderr.contains("without limit along") && !stderr.contains("unbounded"),
        "{stderr}"
    );
    let help = "\n  help: the largest response is that of record 3, 1e12 in size, and nothing bounds it: `bounds = [low, high]` in [private], from what is known about the response, clips every one to them\n";
    assert!(stderr.ends_with(help), "{stderr}");
    let wide = SPEC.replace("[0.0, 1.0]", "[-1e13, 1e13]");
    let place = placed("wide", &wide, &records);
    let (code, _, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    assert_eq!(code, 6, "{stderr}");
    let help = "\n  help: the largest response is that of record 3, 1e12 in size, which the public bounds [-1e13, 1e13] let in: they may be too wide\n";
    assert!(stderr.ends_with(help), "{stderr}");
    for (adjacency, bounds) in [("", "[-1e308, 1e308]"), ("one-record", "[0.0, 1e101]")] {
        let spec = SPEC.replace("[0.0, 1.0]", bounds);
        let spec = match adjacency {
            "" => spec,
            _ => spec.replace("kind = \"one-entry\", alpha = 0.5", "kind = \"one-record\""),
        };
        let place = placed("too-wide", &spec, RECORDS);
        let (code, _, stderr) = ended(&place, &["check", "spec.toml", "-q"]);
        assert_eq!(code, 2, "{stderr}");
        let said = "error: spec.toml: the bounds of the response `power` must be in order and at most 1e100 in size, found [";
        assert!(stderr.starts_with(said), "{stderr}");
        assert!(!stderr.contains("inf"), "{stderr}");
    }
}

#[test]
#[rustfmt::skip] // one case, two lines
fn models_that_cannot_be() {
    let cases = [
        // More features than records, and no ridge.
        (SPEC.replace("ridge = 0.1", "ridge = 0.0").replace("kind = \"linear\"", "kind = \"polynomial\"\ndegree = 7"),
            "error: spec.toml: the basis functions depend on each other on these 5 records, so that the weights are no function of the data: use fewer functions, or a ridge above 0\n"),
        (SPEC.replace("ridge = 0.1", "ridge = 0.1\nunits = { sped = \"m/s\" }"),
            "error: spec.toml:7:11: `sped` is neither the response nor a feature of a basis function\n  help: `units` may name `speed` or `power`\n"),
        (SPEC.replace("ridge = 0.1", "ridge = 0.1\nunits = { speed = 3 }"),
            "error: spec.toml:7:19: `speed` must be a string, found 3\n"),
        (SPEC.replace("kind = \"increasing\"", "kind = \"convex\""),
            "error: spec.toml: convex along speed at 3: every basis function is flat there, so that no weight matters\n"),
        (SPEC.replace("release = \"identity\"", "release = \"identity\"\nvariables = [\"sped\"]"),
            "error: spec.toml:26:14: there is no variable `sped`; there are: `constant`, `speed`\n"),
    ];
    for (spec, expected) in cases {
        let place = placed("models", &spec, RECORDS);
        let (code, _, stderr) = ended(&place, &["check", "spec.toml"]);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.starts_with(expected), "{stderr}");
    }
    let cases = [
        ("speed,power\n1e200,0.1\n5,0.3\n",
            "error: spec.toml: record 1: the basis function `speed` is beyond 1e100 there: take other units\n"),
        ("speed,power\n1e20,0.1\n5,0.3\n",
            "error: spec.toml: the basis functions differ too much in size: over all records `speed` has length 1.0e20 and `constant` 1.4e0, 1e12 times apart or more: take other units, centers or scales\n"),
        ("speed,power\n4,0.1\n",
            "error: spec.toml: the basis functions depend on each other on this one record, so that the weights are no function of the data: use fewer functions, or a ridge above 0\n"),
    ];
    for (records, expected) in cases {
        let ridge = if records.lines().count() == 2 { "ridge = 0.0" } else { "ridge = 0.1" };
        let place = placed("records", &SPEC.replace("ridge = 0.1", ridge), records);
        let (code, _, stderr) = ended(&place, &["check", "spec.toml"]);
        assert_eq!((code, stderr.as_str()), (2, expected), "{records}");
    }
}

#[test]
fn the_studies_are_commands() {
    let place = directory("regression-studies");
    write(
        &place.join("own.csv"),
        "speed,power\n2,0\n6,300\n12,1000\n20,1000\n",
    );
    let words = [
        "study",
        "wind",
        "--curve",
        "own.csv",
        "--variation",
        "2.5",
        "--seeds",
        "2",
        "--draws",
        "50",
        "--json",
        "-q",
        "--figure",
        "wind.svg",
    ];
    let table = json(&place, &words);
    assert_eq!(table["study"], "wind");
    assert_eq!(table["rows"].as_array().unwrap().len(), 11);
    assert_eq!(table["rows"][0]["turbine"], "own");
    assert!(text(&place.join("wind.svg")).starts_with("<svg"));
    let words = [
        "study",
        "regression",
        "--seeds",
        "1",
        "--draws",
        "50",
        "--json",
        "-q",
    ];
    let table = json(&place, &words);
    assert_eq!(table["study"], "regression");
    assert_eq!(table["rows"][0]["mode"], "paper");
    write(&place.join("flat.csv"), "speed,power\n2,0\n6,0\n");
    write(&place.join("point.csv"), "speed,power\n2,5\n");
    write(&place.join("empty.csv"), "");
    for (words, expected) in [
        (
            ["study", "wind", "--curve", "flat.csv"],
            "error: flat.csv: flat: there is no power at any speed\n",
        ),
        (
            ["study", "wind", "--curve", "point.csv"],
            "error: point.csv: point: a curve needs at least two points, found 1\n",
        ),
        (
            ["study", "wind", "--curve", "empty.csv"],
            "error: cannot read empty.csv: the file is empty\n",
        ),
        (
            ["study", "wind", "--curve", "."],
            "error: cannot read .: this is a directory, not a file\n",
        ),
        (
            ["study", "wind", "--curve", "none.csv"],
            "error: cannot read none.csv: no such file\n",
        ),
    ] {
        let (code, _, stderr) = ended(&place, &words);
        assert_eq!((code, stderr.as_str()), (2, expected));
    }
}
