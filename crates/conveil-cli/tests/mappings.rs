//! Mistakes about where private numbers stand and what they are: each shows in `check`, which reads none of them, or in
//! `inspect`, which is the curator's.

mod running;

use running::{directory, ended, write};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Two shifts to be covered by regular and agency staff. As CVXPY stores it, the rows read −regular − agency ≤ −demand.
const PROBLEM: &str = r#"{
    "P": {"m": 4, "n": 4, "colptr": [0, 0, 0, 0, 0], "rowval": [], "nzval": []},
    "q": [30.0, 30.0, 55.0, 55.0],
    "A": {"m": 10, "n": 4, "colptr": [0, 3, 6, 9, 12],
          "rowval": [0, 2, 6, 1, 3, 7, 0, 4, 8, 1, 5, 9],
          "nzval": [-1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0, -1.0, 1.0]},
    "b": [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 15.0, 15.0, 40.0, 40.0],
    "cones": [{"NonnegativeConeT": 2}, {"NonnegativeConeT": 8}]
}"#;

/// The staffing of two shifts with this coefficient of the demand, and these private values.
fn staffing(name: &str, coef: &str, values: [f64; 2]) -> PathBuf {
    let folder = directory(name);
    write(&folder.join("roster.json"), PROBLEM);
    let parameter = |shift: &str, row: usize| {
        format!(
            "[[private.parameter]]\nname = \"demand {shift}\"\nat = [{{ in = \"b\", row = {row}{coef} }}]\nbounds = [5.0, 40.0]\nnominal = 18.0\n"
        )
    };
    let spec = format!(
        r#"[problem]
model = "conic"
file = "roster.json"
[[problem.variable]]
name = "regular"
size = 2
stage = "decision"
[[problem.variable]]
name = "agency"
size = 2
stage = "decision"
[[problem.constraint]]
name = "cover"
rows = ["cover Mon early", "cover Mon late"]
[[problem.constraint]]
name = "limits"
[private]
data = "demand.csv"
adjacency = {{ kind = "one-entry", alpha = 0.1 }}
{}{}[query]
release = "cost"
[privacy]
mechanism = "laplace"
epsilon = 1.0
sensitivity = {{ by = "envelope", price = 60.0 }}
[feasibility]
eta = 0.05
"#,
        parameter("early", 0),
        parameter("late", 1)
    );
    write(&folder.join("roster.toml"), spec);
    let [early, late] = values;
    write(
        &folder.join("demand.csv"),
        format!("parameter,value\ndemand early,{early}\ndemand late,{late}\n"),
    );
    folder
}

fn check(folder: &Path) -> String {
    let (code, shown, said) = ended(folder, &["check", "roster.toml", "--details"]);
    assert_eq!(code, 0, "{said}");
    shown
}

fn inspected(folder: &Path) -> Value {
    let (code, shown, said) = ended(folder, &["inspect", "roster.toml", "--json"]);
    assert_eq!(code, 0, "{said}");
    serde_json::from_str(&shown).unwrap()
}

#[test]
fn a_forgotten_sign_shows_in_the_row_at_the_nominal_values() {
    let right = check(&staffing("right-sign", ", coef = -1.0", [17.0, 19.0]));
    let line =
        "coefficient -1 in `cover Mon early`: regular[0] + agency[0] ≥ 18, at the nominal values";
    assert!(right.contains(line), "{right}");
    let wrong = check(&staffing("forgotten-sign", "", [17.0, 19.0]));
    let line =
        "coefficient 1 in `cover Mon early`: regular[0] + agency[0] ≥ −18, at the nominal values";
    assert!(wrong.contains(line), "{wrong}");
}

#[test]
fn wrong_units_and_values_that_are_all_clipped_show_to_the_curator_alone() {
    let thousand = staffing("another-unit", ", coef = -1.0", [17_000.0, 19_000.0]);
    let found = inspected(&thousand);
    assert_eq!(found["private"], true);
    assert_eq!((&found["count"], &found["clipped"]), (&2.into(), &2.into()));
    let remarks = found["remarks"].to_string();
    assert!(
        remarks.contains("2 of 2 values lie outside the public bounds"),
        "{remarks}"
    );
    assert!(remarks.contains("times their nominal ones"), "{remarks}");
    let negative = staffing("other-sign", ", coef = -1.0", [-17.0, -19.0]);
    let remarks = inspected(&negative)["remarks"].to_string();
    assert!(remarks.contains("the other sign"), "{remarks}");
    let fine = staffing("nothing-odd", ", coef = -1.0", [17.0, 19.0]);
    assert_eq!(inspected(&fine)["remarks"], Value::Array(Vec::new()));
    // What is public does not change with them.
    let public = |folder: &Path| {
        let words = [
            "solve",
            "roster.toml",
            "--at",
            "nominal",
            "--quiet",
            "--json",
        ];
        let (code, shown, said) = ended(folder, &words);
        assert_eq!(code, 0, "{said}");
        let mut shown: Value = serde_json::from_str(&shown).unwrap();
        shown["seconds"] = Value::Null;
        shown
    };
    for other in [&thousand, &negative] {
        assert_eq!(check(other), check(&fine));
        assert_eq!(public(other), public(&fine));
    }
}

/// Fourteen shifts from one pool: more private numbers, and more terms in a row, than a check writes out.
fn many_shifts(name: &str) -> PathBuf {
    const SHIFTS: usize = 14;
    let folder = directory(name);
    // Row i < 14 reads −x[i] ≤ −demand i; the last one Σ x ≤ 100 + demand 0 + … + demand 4.
    let indexes =
        |each: &dyn Fn(usize) -> String| (0..SHIFTS).map(each).collect::<Vec<_>>().join(", ");
    let problem = format!(
        r#"{{"P": {{"m": 14, "n": 14, "colptr": [{zeros}, 0], "rowval": [], "nzval": []}},
        "q": [{ones}], "A": {{"m": 15, "n": 14, "colptr": [{pairs}, 28], "rowval": [{rows}], "nzval": [{signs}]}},
        "b": [{zeros}, 0], "cones": [{{"NonnegativeConeT": 15}}]}}"#,
        zeros = indexes(&|_| "0".into()),
        ones = indexes(&|_| "1.0".into()),
        pairs = indexes(&|i| (2 * i).to_string()),
        rows = indexes(&|i| format!("{i}, 14")),
        signs = indexes(&|_| "-1.0, 1.0".into()),
    );
    write(&folder.join("roster.json"), problem);
    let names = indexes(&|i| format!("\"shift {i}\""));
    let parameters: String = (0..SHIFTS)
        .map(|i| {
            let shared = match i < 5 {
                true => ", { in = \"b\", row = 14, offset = 20.0 }",
                false => "",
            };
            format!("[[private.parameter]]\nname = \"demand {i}\"\nvalue = 3.0\nat = [{{ in = \"b\", row = {i}, coef = -1.0 }}{shared}]\nbounds = [0.0, 9.0]\nnominal = 4.0\n")
        })
        .collect();
    let spec = format!(
        r#"[problem]
model = "conic"
file = "roster.json"
[[problem.variable]]
name = "x"
size = 14
stage = "decision"
names = [{names}]
[private]
adjacency = {{ kind = "one-entry", alpha = 0.01 }}
{parameters}[query]
release = "cost"
[privacy]
mechanism = "laplace"
epsilon = 1.0
sensitivity = {{ by = "envelope", price = 20.0 }}
[feasibility]
eta = 0.05
"#
    );
    write(&folder.join("roster.toml"), spec);
    folder
}

#[test]
fn details_show_every_private_number_and_every_term_of_its_rows() {
    let folder = many_shifts("many-shifts");
    let (_, short, _) = ended(&folder, &["check", "roster.toml"]);
    assert!(short.contains(" and 11 more"), "{short}");
    assert!(!short.contains("demand 13"), "{short}");
    let (code, long, said) = ended(&folder, &["check", "roster.toml", "--details"]);
    assert_eq!(code, 0, "{said}");
    let last = "coefficient -1 in `c0[13]`: shift 13 ≥ 4, at the nominal values";
    assert!(long.contains(last) && !long.contains("--details"), "{long}");
    let shifts: Vec<String> = (0..14).map(|i| format!("shift {i}")).collect();
    let whole = format!("{} ≤ 120, at the nominal values", shifts.join(" + "));
    // Whole once, though five private numbers stand in that row.
    assert_eq!(long.matches(&whole).count(), 1, "{long}");
    assert_eq!(long.matches("+ 8 more terms ≤ 120").count(), 4, "{long}");
    assert!(long.contains("`shift 13` moves by"), "{long}");
    // The document is whole with and without.
    let json = |more: &[&str]| {
        let words = [&["check", "roster.toml", "--json"], more].concat();
        ended(&folder, &words)
    };
    assert_eq!(json(&[]), json(&["--details"]));
}

#[test]
fn entries_are_called_by_their_own_names() {
    let folder = many_shifts("named-entries");
    let ran = |words: &[&str]| {
        let (code, shown, said) = ended(&folder, words);
        assert_eq!(code, 0, "{said}");
        shown
    };
    let shown = ran(&["check", "roster.toml", "--details"]);
    assert!(shown.contains(": shift 0 ≥ 4, at the"), "{shown}");
    let decision = [
        "release",
        "roster.toml",
        "--no-ledger",
        "--decision",
        "decision.json",
    ];
    ran(&decision);
    let decision = std::fs::read_to_string(folder.join("decision.json")).unwrap();
    assert!(decision.contains("\"shift 13\""), "{decision}");
    let spec = std::fs::read_to_string(folder.join("roster.toml")).unwrap();
    let asking = |query: &str| {
        let spec = spec.replace("release = \"cost\"", query);
        let declared = "{ by = \"declared\", value = 1.0, reason = \"a test\" }";
        let spec = spec.replace("{ by = \"envelope\", price = 20.0 }", declared);
        write(&folder.join("asked.toml"), spec);
        let card: Value =
            serde_json::from_str(&ran(&["release", "asked.toml", "--no-ledger", "--json"]))
                .unwrap();
        let answer = card["answer"].as_array().unwrap().iter();
        answer
            .map(|n| n["name"].as_str().unwrap().to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        asking("release = \"identity\"\nvariables = [\"shift 3\", \"x[5]\"]"),
        ["shift 3", "shift 5"]
    );
    assert_eq!(
        asking("release = \"sum\"\nvariables = [\"x[1]\", \"shift 2\"]"),
        ["sum of shift 1, shift 2"]
    );
    for shown in [
        ran(&["solve", "roster.toml"]),
        ran(&["compare", "roster.toml", "--draws", "10"]),
        ran(&["explain", "roster.toml"]),
    ] {
        assert!(!shown.contains("x["), "{shown}");
    }
}

/// Numbers in P: half of one on the diagonal multiplies a square, all of one off it a product. An entry below the diagonal is the
/// one above it.
#[test]
fn numbers_in_the_quadratic_cost_read_as_squares_and_products() {
    let folder = directory("curvature-places");
    let problem = r#"{"P": {"m": 2, "n": 2, "colptr": [0, 1, 3], "rowval": [0, 0, 1], "nzval": [0.0, 0.0, 0.0]},
        "q": [-1.0, -1.0], "A": {"m": 4, "n": 2, "colptr": [0, 2, 4], "rowval": [0, 2, 1, 3], "nzval": [-1.0, 1.0, -1.0, 1.0]},
        "b": [0.0, 0.0, 1.0, 1.0], "cones": [{"NonnegativeConeT": 4}]}"#;
    write(&folder.join("p.json"), problem);
    let spec = |[risk, covariance]: [&str; 2]| {
        format!(
            r#"version = 2
[problem]
model = "conic"
file = "p.json"
[[problem.variable]]
name = "w"
size = 2
stage = "decision"
names = ["stocks", "bonds"]
[private]
adjacency = {{ kind = "one-entry", alpha = 0.01 }}
[[private.parameter]]
name = "own risk"
value = 2.5
at = [{{ in = "P", row = 0, column = 0, offset = 1.0 }}, {{ in = "P", row = 1, column = 1, coef = 2.0, offset = 1.0 }}]
bounds = [1.0, 4.0]
{risk}[[private.parameter]]
name = "covariance"
value = 0.25
at = [{{ in = "P", row = 1, column = 0 }}]
bounds = [-0.5, 0.5]
{covariance}[query]
release = "identity"
[privacy]
mechanism = "laplace"
epsilon = 1.0
sensitivity = {{ by = "saddle", width = 1.0 }}
"#
        )
    };
    let checked = |nominal: [&str; 2]| {
        write(&folder.join("p.toml"), spec(nominal));
        let (code, shown, said) = ended(&folder, &["check", "p.toml", "--details"]);
        assert_eq!(code, 0, "{said}");
        shown
    };
    let shown = checked([""; 2]);
    for line in [
        "own risk    enters P[0, 0], P[1, 1], clipped to [1, 4]",
        "coefficient 1: objective: ½ · (1 + `own risk`) · stocks²",
        "coefficient 2: objective: ½ · (1 + 2·`own risk`) · bonds²",
        "covariance  enters P[0, 1], clipped to [-0.5, 0.5]",
        "coefficient 1: objective: (`covariance`) · stocks · bonds",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    // The floor is public, so that nothing is left to warn of.
    assert!(!shown.contains("warning"), "{shown}");
    let shown = checked(["nominal = 2.0\n", "nominal = -0.25\n"]);
    for line in [
        "coefficient 1: objective: ½ · 3 · stocks², at the nominal values",
        "coefficient 2: objective: ½ · 5 · bonds², at the nominal values",
        "coefficient 1: objective: −0.25 · stocks · bonds, at the nominal values",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    let (code, inspected, said) = ended(&folder, &["inspect", "p.toml", "--json"]);
    assert_eq!(code, 0, "{said}");
    let inspected: Value = serde_json::from_str(&inspected).unwrap();
    assert_eq!(
        (&inspected["count"], &inspected["clipped"]),
        (&2.into(), &0.into())
    );
}

#[test]
fn a_percentage_is_no_share() {
    let folder = directory("percent");
    let spec = |bounds: &str| {
        let spec = format!(
            "[problem]\nmodel = \"opf\"\nnetwork = \"5_pjm\"\n[private]\nbounds = {bounds}\nadjacency = {{ kind = \"one-entry\", alpha = 1.0 }}\n[query]\nrelease = \"cost\"\n[privacy]\nmechanism = \"laplace\"\nepsilon = 1.0\nsensitivity = {{ by = \"envelope\", price = 100.0 }}\n[feasibility]\neta = 0.01\n"
        );
        write(&folder.join("spec.toml"), spec);
        ended(&folder, &["check", "spec.toml"])
    };
    let (code, _, said) = spec("{ relative = 60 }");
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("60% is relative = 0.6") && said.contains("relative = 60, wide = true"),
        "{said}"
    );
    assert_eq!(spec("{ relative = 0.6 }").0, 0);
    assert_eq!(spec("{ relative = 1.5, wide = true }").0, 0);
}
