//! `conveil sensitivity` and `conveil audit`: verdicts, exit codes, witnesses, and what they say where they cannot start.

mod running;

use std::path::{Path, PathBuf};

use running::{directory, ended, examples, text, write};

/// The scalar example in a directory of its own, with a universe and this sensitivity per unit of α.
fn scalar(name: &str, per_alpha: &str) -> PathBuf {
    let place = directory(name);
    let spec = text(&examples().join("scalar-lp.toml"))
        .replace("per_alpha = 1.5", &format!("per_alpha = {per_alpha}"))
        .replace(
            "[query]",
            "[private.universe]\nkind = \"box\"\ncenter = [100.0]\nhalf_width = [20.0]\n\n[query]",
        );
    write(&place.join("spec.toml"), spec);
    copied(&place, "scalar-lp.json");
    place
}

fn copied(place: &Path, name: &str) {
    write(&place.join(name), text(&examples().join(name)));
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn a_true_claim_ends_with_zero_and_a_false_one_with_four() {
    let right = scalar("audit-right", "1.5");
    let (code, stdout, stderr) = ended(&right, &["audit", "spec.toml", "-q", "--pairs", "30"]);
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    let start = "AUDIT: curator only, not to be published\nclaimed ε = 1, audited ε ≥ 1\nverdict: no pair found above the claim";
    assert!(stdout.starts_with(start), "{stdout}");

    let wrong = scalar("audit-wrong", "0.75");
    let words = [
        "audit",
        "spec.toml",
        "-q",
        "--pairs",
        "30",
        "--witness",
        "worst.json",
    ];
    let (code, stdout, stderr) = ended(&wrong, &words);
    assert_eq!(code, 4, "{stdout}{stderr}");
    assert!(
        stdout.contains(
            "claimed ε = 1, audited ε ≥ 2\nverdict: FLAGGED: a pair has ε = 2, but 1 is claimed"
        ),
        "{stdout}"
    );
    let complaint = "error: spec.toml: FLAGGED: a pair has ε = 2, but 1 is claimed\n  help: ";
    assert!(stderr.starts_with(complaint), "{stderr}");

    // The witness replays, and under the right noise it shows nothing.
    let saved = json(&text(&wrong.join("worst.json")));
    assert_eq!(
        (&saved["format"], &saved["version"], &saved["private"]),
        (&"conveil-witness".into(), &1.into(), &true.into())
    );
    assert_eq!(saved["parameters"][0], "l");
    let (code, stdout, _) = ended(
        &wrong,
        &["audit", "spec.toml", "-q", "--replay", "worst.json"],
    );
    assert_eq!(code, 4);
    assert!(
        stdout.contains("the witness reproduces; FLAGGED"),
        "{stdout}"
    );
    write(&right.join("worst.json"), text(&wrong.join("worst.json")));
    let (code, stdout, _) = ended(
        &right,
        &["audit", "spec.toml", "-q", "--replay", "worst.json"],
    );
    assert_eq!(code, 0);
    assert!(
        stdout.contains("the witness does not reproduce; this pair does not exceed"),
        "{stdout}"
    );

    // An existing file is never overwritten.
    let before = text(&wrong.join("worst.json"));
    let (code, _, stderr) = ended(&wrong, &words);
    assert_eq!(code, 2);
    assert_eq!(
        stderr,
        "error: worst.json exists already\n  help: name a new file for the witness, or remove that one\n"
    );
    assert_eq!(before, text(&wrong.join("worst.json")));
}

/// Data of size 10¹²: the noise covers 0.3, the answer moves by 1.5, and the residuals of a solve of such numbers are far
/// larger than either. The released number is the computed one, so that is no excuse.
#[test]
fn no_pair_is_within_a_claim_that_its_epsilon_exceeds() {
    let place = scalar("audit-large", "0.3");
    let spec = text(&place.join("spec.toml"))
        .replace("center = [100.0]", "center = [1e12]")
        .replace("value = 100.0", "value = 1e12");
    write(&place.join("spec.toml"), spec);
    let problem = text(&place.join("scalar-lp.json")).replace("[-100.0, 160.0]", "[-1e12, 2e12]");
    write(&place.join("scalar-lp.json"), problem);
    let (code, stdout, stderr) = ended(&place, &["audit", "spec.toml", "-q", "--pairs", "50"]);
    assert_eq!(code, 4, "{stdout}{stderr}");
    assert!(
        stdout.contains("verdict: FLAGGED: a pair has ε = 5"),
        "{stdout}"
    );
    assert!(stdout.contains("within the claim: 0 of 50"), "{stdout}");
    let why = "50 pairs above the claim by no more than the residuals of the two solves explain";
    assert!(stdout.contains(why), "{stdout}");
}

/// No dataset of the universe has an answer: the limits exclude each other.
#[test]
fn an_audit_without_a_single_answer_says_that_nothing_was_tested() {
    let place = scalar("audit-empty", "1.5");
    let spec = text(&place.join("spec.toml")).replace("center = [100.0]", "center = [500.0]");
    write(&place.join("spec.toml"), spec);
    for (verb, words) in [
        (
            "audit",
            "verdict: nothing was tested: no pair had an answer on both sides",
        ),
        (
            "sensitivity",
            "nothing was tested: this says nothing about the sensitivity in use",
        ),
    ] {
        let words_of = [verb, "spec.toml", "-q", "--pairs", "40"];
        let (code, stdout, stderr) = ended(&place, &words_of);
        assert_eq!(code, 6, "{verb}: {stdout}{stderr}");
        assert!(stdout.contains(words), "{verb}: {stdout}");
        assert!(
            !stdout.contains("no pair found above the claim"),
            "{stdout}"
        );
        let complaint = "error: spec.toml: nothing was tested: no pair had an answer on both sides";
        assert!(stderr.starts_with(complaint), "{verb}: {stderr}");
    }
    let (_, stdout, _) = ended(
        &place,
        &["audit", "spec.toml", "-q", "--json", "--pairs", "40"],
    );
    assert_eq!(json(&stdout)["verdict"], "nothing-tested");
}

#[test]
fn the_json_of_an_audit_is_one_document_that_follows_the_seed() {
    let place = examples();
    let run = |words: &[&str]| {
        let mut all = vec![
            "audit",
            "portfolio.toml",
            "-q",
            "--json",
            "--pairs",
            "20",
            "--solves",
            "200",
        ];
        all.extend(words);
        let (code, stdout, stderr) = ended(&place, &all);
        assert_eq!((code, stderr.as_str()), (0, ""));
        stdout
    };
    let first = run(&["--seed", "5"]);
    assert_eq!(first, run(&["--seed", "5"]));
    assert_ne!(first, run(&["--seed", "6"]));
    let report = json(&first);
    assert_eq!(report["private"], true);
    assert_eq!(report["verdict"], "none-found");
    assert_eq!(report["basis"], "declared");
    assert_eq!(report["share"]["pairs"], 20);
    assert!(report["audited_epsilon"].as_f64() <= report["claimed_epsilon"].as_f64());
    assert!(report["search"]["solves"].as_u64() <= Some(230));
    assert!(report["worst"]["first"].is_array());
    let alone = json(&run(&["--climbs", "0"]));
    assert!(alone["search"].is_null());
}

#[test]
fn sensitivity_compares_the_released_map_with_the_one_without_noise() {
    let place = examples();
    let words = ["sensitivity", "portfolio.toml", "-q", "--pairs", "20"];
    let (code, stdout, stderr) = ended(&place, &words);
    assert_eq!((code, stderr.as_str()), (0, ""));
    for part in [
        "SENSITIVITY: curator only, not to be published\nin use: 1.77 (ℓ₁), basis: declared: the user states",
        "\n  of the released map ",
        "\n  of the map without noise ",
        "\ntightness: the largest movement found is 0.",
    ] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    let (_, stdout, _) = ended(&place, &[&words[..], &["--json"]].concat());
    let report = json(&stdout);
    let moved = |map: &str, how: &str| report[map][how].as_f64().unwrap_or(f64::NAN);
    for map in ["released", "deterministic"] {
        assert!(moved(map, "searched") >= moved(map, "sampled"), "{stdout}");
    }
    assert!(moved("released", "searched") <= 1.77);
}

#[test]
fn noise_for_the_map_without_noise_is_a_study_that_says_so() {
    let place = directory("audit-paper");
    let spec = text(&examples().join("sampled-dispatch.toml"));
    let on = spec.replace("seed = 1 }", "seed = 1, on = \"deterministic\" }");
    assert_ne!(spec, on);
    write(&place.join("paper.toml"), on);
    copied(&place, "sampled-dispatch.json");
    for verb in ["audit", "sensitivity"] {
        let (code, stdout, stderr) = ended(&place, &[verb, "paper.toml", "-q"]);
        assert_eq!((code, stdout.as_str()), (2, ""));
        assert!(
            stderr.contains(
                "noise calibrated to the map without noise can be studied, never released"
            ) && stderr.contains("`--not-private` says that you know"),
            "{stderr}"
        );
    }
    let (code, stdout, stderr) = ended(
        &place,
        &[
            "audit",
            "paper.toml",
            "-q",
            "--not-private",
            "--pairs",
            "30",
        ],
    );
    assert!(code == 0 || code == 4, "{code}: {stderr}");
    assert!(stdout.contains("\nclaimed ε = 1, audited ε ≥ "), "{stdout}");
    assert!(
        stdout.contains("basis: paper mode") && stdout.contains("around the private data"),
        "{stdout}"
    );
    // The flag is for such specs only.
    let (code, _, stderr) = ended(&examples(), &["audit", "portfolio.toml", "--not-private"]);
    assert_eq!(code, 2);
    assert!(
        stderr.contains("`--not-private` is for a sensitivity sampled `on = \"deterministic\"`"),
        "{stderr}"
    );
}

#[test]
fn an_audit_that_cannot_start_says_what_to_add() {
    let place = examples();
    let (code, stdout, stderr) = ended(&place, &["audit", "two-generators.toml"]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert_eq!(
        stderr,
        "error: two-generators.toml: an audit needs a public set of datasets to draw pairs from, and `demand` has no public bounds\n  help: add `[private.universe]`, or `bounds` to every [[private.parameter]]\n"
    );
    let (code, _, stderr) = ended(&place, &["audit", "portfolio.toml", "--pairs", "0"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("'--pairs <N>'"), "{stderr}");
    let (code, _, stderr) = ended(
        &place,
        &["audit", "portfolio.toml", "--replay", "none.json"],
    );
    assert_eq!(code, 2);
    assert!(
        stderr.starts_with("error: none.json: no such file\n  help: "),
        "{stderr}"
    );
    let (code, _, stderr) = ended(
        &place,
        &["audit", "portfolio.toml", "--replay", "portfolio.json"],
    );
    assert_eq!(code, 2);
    assert!(
        stderr.starts_with("error: portfolio.json: this is not a witness file: "),
        "{stderr}"
    );
    let place = directory("audit-unwritable");
    let both = ["audit", "portfolio.toml", "--replay", "a", "--witness", "b"];
    assert_eq!(ended(&place, &both).0, 2);
    for name in ["portfolio.toml", "portfolio.json"] {
        copied(&place, name);
    }
    let words = [
        "audit",
        "portfolio.toml",
        "-q",
        "--pairs",
        "2",
        "--climbs",
        "0",
        "--witness",
        "none/w.json",
    ];
    let (code, _, stderr) = ended(&place, &words);
    assert_eq!(code, 6, "{stderr}");
    assert!(
        stderr.starts_with("error: cannot write none/w.json: "),
        "{stderr}"
    );
}
