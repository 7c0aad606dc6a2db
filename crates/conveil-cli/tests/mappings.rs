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
    let (code, shown, said) = ended(folder, &["check", "roster.toml"]);
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
