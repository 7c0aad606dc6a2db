//! Roles are said, not guessed (M2): what a spec declares stands in `check` and on the card, and only decisions carry noise.

mod running;

use running::{directory, ended, examples, text, without_nominal, write};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// min x₁ + 3x₂ through t, x₁ + x₂ = 10, 0 ≤ x₁ ≤ 10, 0 ≤ x₂ ≤ 2, t ≥ x₁ + 3x₂, 0 ≤ t ≤ 100, with a tiny curvature on t.
const PROBLEM: &str = r#"{
  "P": {"m": 3, "n": 3, "colptr": [0, 0, 0, 1], "rowval": [2], "nzval": [1e-6]},
  "q": [0.0, 0.0, 1.0],
  "A": {"m": 8, "n": 3, "colptr": [0, 4, 8, 11], "rowval": [0, 1, 2, 5, 0, 3, 4, 5, 5, 6, 7],
        "nzval": [1.0, -1.0, 1.0, 1.0, 1.0, -1.0, 1.0, 3.0, -1.0, -1.0, 1.0]},
  "b": [10.0, 0.0, 10.0, 0.0, 2.0, 0.0, 0.0, 100.0],
  "cones": [{"ZeroConeT": 1}, {"NonnegativeConeT": 7}]
}
"#;

/// A directory with that problem and a spec that declares t with these lines.
fn place(name: &str, t: &str, query: &str) -> PathBuf {
    let place = directory(name);
    write(&place.join("p.json"), PROBLEM);
    let spec = format!(
        r#"version = 1
[problem]
model = "conic"
file = "p.json"
[[problem.variable]]
name = "x"
size = 2
stage = "decision"
[[problem.variable]]
name = "t"
{t}
[private]
adjacency = {{ kind = "one-entry", alpha = 1.0 }}
[[private.parameter]]
name = "demand"
nominal = 10.0
at = [{{ in = "b", row = 0 }}]
[query]
{query}
[privacy]
mechanism = "laplace"
epsilon = 1.0
sensitivity = {{ by = "declared", value = 1.0, reason = "for the test" }}
[feasibility]
eta = 0.01
"#
    );
    write(&place.join("s.toml"), spec);
    place
}

const VARIABLE_T: &str = "release = \"identity\"\nvariables = [\"t\"]";

fn check(place: &Path) -> (i32, String, String) {
    ended(place, &["check", "s.toml", "--details"])
}

#[test]
fn a_phantom_needs_a_false_word_in_the_spec() {
    let (code, _, stderr) = check(&place("phantom-silent", "", VARIABLE_T));
    assert_eq!(code, 2);
    assert!(
        stderr.starts_with("error: s.toml:10:8: the variable `t` does not say what it is\n  help: for `t` write one line: stage = \"decision\" ("),
        "{stderr}"
    );
    for (stage, why) in [
        ("witness", "it is declared a witness"),
        ("epigraph", "it is declared an epigraph"),
    ] {
        let declared = format!("stage = \"{stage}\"");
        let (code, _, stderr) = check(&place("phantom-said", &declared, VARIABLE_T));
        assert_eq!(code, 2, "{stderr}");
        let start = "error: s.toml:20:14: refused: a query on `t`\n  because ";
        assert!(stderr.starts_with(&format!("{start}{why}")), "{stderr}");
    }
    // A false word is taken, and everybody can read it.
    let (code, stdout, stderr) = check(&place("phantom-false", "stage = \"decision\"", VARIABLE_T));
    assert_eq!(code, 0, "{stderr}");
    for line in [
        "  t       1 entry      decision\n",
        "decisions: `x`, `t`, as declared by whoever built the model: they alone carry the noise of what is released\n",
        "movement: per unit of released noise, at the nominal data:\n  `t` moves by 1 and carries 100% of it\n",
        "warning: declared as decisions, but they look like epigraphs: `t` (",
    ] {
        assert!(stdout.contains(line), "{line}: {stdout}");
    }
}

#[test]
fn an_epigraph_is_released_as_at_most() {
    let query =
        "release = \"at-most\"\nepigraph = \"t\"\nslope = { \"x[0]\" = 1.0, \"x[1]\" = 3.0 }";
    let place_of = |stage: &str| place("at-most", &format!("stage = \"{stage}\""), query);
    let spec = place_of("epigraph");
    let (code, stdout, stderr) = check(&spec);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("decisions: `x`, as declared"), "{stdout}");
    // The noise does not fit, and now that shows.
    let (code, _, stderr) = ended(&spec, &["solve", "s.toml", "--quiet"]);
    assert_eq!(code, 4, "{stderr}");
    for stage in ["decision", "witness", "here-and-now"] {
        let (code, _, stderr) = check(&place_of(stage));
        let why = format!("`t` is declared `{stage}`, and an at-most query releases an epigraph");
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(&why), "{stderr}");
    }
}

#[test]
fn noise_on_the_answer_asks_for_no_role() {
    for stage in ["decision", "here-and-now", "witness", "epigraph"] {
        let place = place("output", &format!("stage = \"{stage}\""), VARIABLE_T);
        let spec = text(&place.join("s.toml"));
        write(
            &place.join("s.toml"),
            spec.replace("eta = 0.01", "strategy = \"output\""),
        );
        let (code, stdout, stderr) = check(&place);
        assert_eq!(code, 0, "{stage}: {stderr}");
        assert!(
            stdout.contains("movement: no decision has to carry the noise\n"),
            "{stdout}"
        );
    }
}

#[test]
fn the_declaration_stands_on_the_card() {
    let place = directory("declared-card");
    for file in ["two-generators.toml", "two-generators.json"] {
        write(&place.join(file), text(&examples().join(file)));
    }
    let released = |words: &[&str]| {
        let mut all = vec!["release", "two-generators.toml", "--no-ledger", "--quiet"];
        all.extend(words);
        let (code, stdout, stderr) = ended(&place, &all);
        assert_eq!(code, 0, "{stderr}");
        stdout
    };
    let card = released(&[]);
    let line = "\ndecisions: `cheap`, `dear`, as declared by whoever built the model: they alone carry the noise of what is released\n";
    assert!(card.contains(line), "{card}");
    let card: Value = serde_json::from_str(&released(&["--json"])).unwrap();
    let found = card["card"]["decisions"]
        .as_array()
        .or(card["decisions"].as_array());
    assert_eq!(found.unwrap(), &["cheap", "dear"], "{card}");
}

#[test]
fn the_movement_is_public_and_says_where_nothing_is_known() {
    let place = directory("movement");
    let spec = without_nominal("two-generators");
    write(
        &place.join("two-generators.json"),
        text(&examples().join("two-generators.json")),
    );
    let checked = |spec: &str| {
        write(&place.join("s.toml"), spec);
        let (code, stdout, stderr) = check(&place);
        assert_eq!(code, 0, "{stderr}");
        stdout
    };
    let unknown = "movement: not known before the data: `demand` has no public nominal value\n";
    assert!(checked(&spec).contains(unknown));
    let nominal = "at = [{ in = \"b\", row = 0 }]\nnominal = 9.0";
    let spec = spec.replacen("at = [{ in = \"b\", row = 0 }]", nominal, 1);
    let known = "movement: per unit of released noise, at the nominal data:\n  `dear` moves by 0.5 and carries 150% of it\n  `cheap` moves by 0.5 and carries -50% of it\n";
    let stdout = checked(&spec);
    assert!(stdout.contains(known), "{stdout}");
}
