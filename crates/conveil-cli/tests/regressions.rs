//! `model = "regression"` on the command line: every verb, and exactly what is said about mistakes.

mod running;

use running::regression::{RECORDS, SPEC, json, placed};
use running::{RECORD_EXAMPLES, directory, ended, examples, text, write};
use serde_json::Value;

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
    let budget = ["--epsilon", "1", "--delta", "1e-5", "--spec", "spec.toml"];
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
#[rustfmt::skip] // one case, two lines
fn mistakes_in_files() {
    let cases = [
        ("speed,power\n3,0.1\n5,x\n",
            "error: records.csv:3:3: `power` must be a number, found `x`\n"),
        ("speed,power\n3,0.1\n5,\n",
            "error: records.csv:3:3: `power` must be a number, found nothing\n  help: missing values are not filled in: leave the record out, or fill it in by a public rule, and adjust `records` where the spec states how many there are\n"),
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
