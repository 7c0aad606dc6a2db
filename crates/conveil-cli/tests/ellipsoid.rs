//! Model `ellipsoid` on the command line: what is refused and where, what is public, what the study prints.

mod running;

use running::{directory, ended, examples, text, write};
use serde_json::Value;
use std::path::Path;

fn spec() -> String {
    text(&examples().join("ellipsoid.toml"))
}

/// The example, with a change to the spec and its offsets inline.
fn placed(name: &str, changes: &[(&str, &str)]) -> std::path::PathBuf {
    let place = directory(name);
    let offsets = "offsets = [2.0, 2.2, 1.5, 1.6, 2.5, 2.8, 3.6, 2.9]";
    let mut changed = spec().replace("offsets = \"ellipsoid.csv\"", offsets);
    for (old, new) in changes {
        assert!(changed.contains(old), "{old}");
        changed = changed.replace(old, new);
    }
    write(&place.join("spec.toml"), changed);
    place
}

fn said(place: &Path, verb: &str) -> (i32, String) {
    let (code, _, stderr) = ended(place, &[verb, "spec.toml", "--quiet"]);
    (code, stderr)
}

#[test]
fn mistakes_are_told_with_their_place() {
    let cases: &[(&str, &str, &str)] = &[
        (
            "[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]",
            "[1.0, 0.0], [-1.0, 0.0, 2.0], [0.0, 1.0]",
            "the normal of facet 1 has 3 numbers, that of facet 0 has 2",
        ),
        (
            "[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]",
            "[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]",
            "the normal of facet 1 is zero: such a row is no facet, leave it out",
        ),
        (
            "offsets = [2.0, 2.2, ",
            "offsets = [",
            "6 offsets for 8 facets: give one for each",
        ),
        (
            "center = [2.0, 2.2, ",
            "center = [",
            "`center` has 6 numbers, but the spec has 8 facets",
        ),
        (
            "relative = 0.002",
            "relative = 0.002\nhalf_width = 0.1",
            "give `half_width` or `relative`, not both",
        ),
        (
            "relative = 0.002",
            "half_width = 0.0",
            "the universe leaves no room for the offset of facet 0: its half-width must be positive",
        ),
        (
            "release = \"identity\"",
            "release = \"cost\"",
            "release `cost` makes no sense with model `ellipsoid`",
        ),
        (
            "release = \"identity\"",
            "release = \"identity\"\nvariables = [\"size\"]",
            "`size`",
        ),
        (
            "model = \"ellipsoid\"",
            "model = \"ellipsoid\"\nnetwork = \"5_pjm\"",
            "`network`",
        ),
        (
            "model = \"ellipsoid\"",
            "model = \"ellipsoid\"\ndeterminant = \"sometimes\"",
            "`at-the-mean`",
        ),
    ];
    for (index, (old, new, message)) in cases.iter().enumerate() {
        let place = placed(&format!("ellipsoid-mistake-{index}"), &[(old, new)]);
        let (code, stderr) = said(&place, "check");
        assert_eq!(code, 2, "{message}: {stderr}");
        assert!(stderr.contains(message), "{message}: {stderr}");
        assert!(stderr.contains("spec.toml"), "{stderr}");
    }
    let open = placed(
        "ellipsoid-open",
        &[
            (
                "  [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0],\n  [1.0, 1.0], [-1.0, 1.0], [1.0, -2.0], [-1.0, -1.0],\n",
                "  [1.0, 0.0], [0.0, 1.0],\n",
            ),
            ("[2.0, 2.2, 1.5, 1.6, 2.5, 2.8, 3.6, 2.9]", "[2.0, 1.5]"),
        ],
    );
    let (code, stderr) = said(&open, "check");
    assert_eq!(code, 2);
    assert!(
        stderr.contains("the polytope is unbounded, whatever the offsets"),
        "{stderr}"
    );
}

/// What is wrong with private offsets is found at the data only: `check` says the same, whatever they are.
#[test]
fn check_is_the_same_whatever_the_private_offsets() {
    let place = directory("ellipsoid-check");
    write(&place.join("spec.toml"), spec());
    let csv = text(&examples().join("ellipsoid.csv"));
    let other = csv.replace("2.003", "1.999");
    let mut seen = Vec::new();
    for offsets in [csv.as_str(), &other, "no numbers", "1\n2\n"] {
        write(&place.join("ellipsoid.csv"), offsets);
        let plain = ended(&place, &["check", "spec.toml", "--details"]);
        let document = ended(&place, &["check", "spec.toml", "--json"]);
        assert_eq!((plain.0, document.0), (0, 0), "{}", plain.2);
        seen.push((plain.1, document.1));
    }
    assert!(seen.iter().all(|one| *one == seen[0]));
    assert!(
        seen[0].0.contains(
            "released: `centre[0]`, `centre[1]`, `shape[0,0]`, `shape[0,1]`, `shape[1,1]`"
        )
    );
    assert!(seen[0].0.contains("fit: the feasible set is private"));
    let (code, stderr) = said(&place, "solve");
    assert_eq!(code, 2);
    assert!(
        stderr.contains("2 offsets for 8 facets: give one for each"),
        "{stderr}"
    );
    write(&place.join("ellipsoid.csv"), "1, 2\n");
    let (_, stderr) = said(&place, "solve");
    assert!(stderr.contains("offsets stand one in a line"), "{stderr}");
}

/// Empty and flat polytopes, without a universe that would clip them away.
#[test]
fn offsets_without_room_end_the_solve() {
    let declared = "sensitivity = { by = \"declared\", value = 0.01, reason = \"a test\" }";
    let sampled = "sensitivity = { by = \"sampled\", gamma = 0.1, beta = 0.1, seed = 1 }";
    let universe = "[private.universe]              # public; offsets outside count as clipped to it\nkind = \"box\"\ncenter = [2.0, 2.2, 1.5, 1.6, 2.5, 2.8, 3.6, 2.9]\nrelative = 0.002\n";
    for (offset, code, message) in [
        ("-2.5", 3, "the program itself is infeasible"),
        ("-2.0", 2, "the polytope has no interior"),
    ] {
        let place = placed(
            &format!("ellipsoid-room-{code}"),
            &[
                (sampled, declared),
                (universe, ""),
                (
                    "{ kind = \"universe\" }",
                    "{ kind = \"one-entry\", alpha = 0.01 }",
                ),
                ("[2.0, 2.2, 1.5", &format!("[2.0, {offset}, 1.5")),
            ],
        );
        assert_eq!(said(&place, "check").0, 0);
        let (ended, stderr) = said(&place, "solve");
        assert_eq!(ended, code, "{stderr}");
        assert!(stderr.contains(message), "{stderr}");
    }
}

/// Too large a universe: no noise that covers it fits, and `explain` finds the largest that does.
#[test]
fn explain_finds_the_largest_universe() {
    let place = placed(
        "ellipsoid-universe",
        &[("relative = 0.002", "relative = 0.1")],
    );
    let (code, _) = said(&place, "solve");
    assert_eq!(code, 4);
    let (code, stdout, stderr) = ended(&place, &["explain", "spec.toml", "--json", "--quiet"]);
    assert_eq!(code, 0, "{stderr}");
    let explained: Value = serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(explained["feasible"], false);
    let thresholds = explained["thresholds"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let universe = thresholds.iter().find(|t| t["what"] == "universe");
    let edge = universe
        .and_then(|t| t["edge"].as_f64())
        .unwrap_or(f64::NAN);
    assert!((0.1..1.0).contains(&edge), "{stdout}");
    // That much is feasible.
    let relative = format!("relative = {}", 0.1 * edge);
    let place = placed("ellipsoid-smaller", &[("relative = 0.002", &relative)]);
    assert_eq!(said(&place, "solve").0, 0);
}

/// Paper mode has a largest universe as well: noise for the deterministic map, around the data.
#[test]
fn explain_finds_the_largest_universe_in_paper_mode() {
    let paper = |name: &str, relative: f64| {
        placed(
            name,
            &[
                ("relative = 0.002", &format!("relative = {relative}")),
                ("seed = 1 }", "seed = 1, on = \"deterministic\" }"),
            ],
        )
    };
    let explained = |place: &Path| -> Value {
        let (code, stdout, stderr) = ended(place, &["explain", "spec.toml", "--json", "--quiet"]);
        assert_eq!(code, 0, "{stderr}");
        serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}"))
    };
    let document = explained(&paper("ellipsoid-paper", 0.2));
    assert_eq!(document["feasible"], false);
    let universe = &document["thresholds"][0];
    assert_eq!(universe["what"], "universe");
    let note = universe["note"].as_str().unwrap_or_default();
    assert!(note.contains("in paper mode"), "{note}");
    let edge = universe["edge"].as_f64().unwrap_or(f64::NAN);
    assert!((0.01..1.0).contains(&edge), "{edge}");
    // That much is feasible, and a tenth more is not.
    let inside = explained(&paper("ellipsoid-paper-inside", 0.2 * edge));
    assert_eq!(inside["feasible"], true);
    let outside = explained(&paper("ellipsoid-paper-outside", 0.22 * edge));
    assert_eq!(outside["feasible"], false);
}

/// A facet in other units, and a polytope of another size: the report says the same in its own units.
#[test]
fn reports_are_in_the_units_of_the_polytope() {
    let plain = placed("ellipsoid-plain", &[]);
    let scaled = placed(
        "ellipsoid-scaled",
        &[
            ("[1.0, 0.0], [-1.0, 0.0]", "[1000.0, 0.0], [-1.0, 0.0]"),
            ("offsets = [2.0, ", "offsets = [2000.0, "),
            ("center = [2.0, ", "center = [2000.0, "),
        ],
    );
    let clearance = |place: &Path| {
        let (code, stdout, stderr) = ended(place, &["solve", "spec.toml", "--json", "--quiet"]);
        assert_eq!(code, 0, "{stderr}");
        let report: Value = serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}"));
        report["mean_clearance"].as_f64().unwrap_or(f64::NAN)
    };
    let (found, right) = (clearance(&scaled), clearance(&plain));
    assert!(
        found > 0.0 && (found - right).abs() < 0.1 * right,
        "{found} {right}"
    );
    let offsets = "[2.0, 2.2, 1.5, 1.6, 2.5, 2.8, 3.6, 2.9]";
    let small = "[2e-5, 2.2e-5, 1.5e-5, 1.6e-5, 2.5e-5, 2.8e-5, 3.6e-5, 2.9e-5]";
    let place = placed("ellipsoid-small", &[(offsets, small)]);
    let (code, stdout, stderr) = ended(&place, &["solve", "spec.toml", "--quiet"]);
    assert_eq!(code, 0, "{stderr}");
    let line = |start: &str| {
        let mut lines = stdout.lines().map(str::trim);
        lines
            .find(|l| l.starts_with(start))
            .unwrap_or_default()
            .to_string()
    };
    for start in ["shape[0,0]", "shape[1,1]", "size", "optimum without noise"] {
        assert!(line(start).ends_with("e-5"), "{}", line(start));
    }
    assert!(
        line("mean ellipsoid").contains("e-10, "),
        "{}",
        line("mean ellipsoid")
    );
}

/// What cannot be served names the keys that can.
#[test]
fn refusals_name_the_keys_of_the_spec() {
    let place = placed(
        "ellipsoid-centre",
        &[
            (
                "release = \"identity\"",
                "release = \"identity\"\nvariables = [\"centre\"]",
            ),
            (
                "[feasibility]\neta = 0.1",
                "[feasibility]\neta = 0.1\nmethod = \"safe-box\"",
            ),
        ],
    );
    let (code, stderr) = said(&place, "check");
    assert_eq!(code, 2);
    assert!(
        stderr.contains("its entries are not all released")
            && stderr.contains("or `method = \"mass-box\"` at its 2^2 vertices"),
        "{stderr}"
    );
}

#[test]
fn normals_may_come_from_a_file_and_a_safe_box_is_a_method() {
    let place = placed(
        "ellipsoid-file",
        &[
            (
                "normals = [                     # public: a row for each facet",
                "file = \"normals.csv\"",
            ),
            (
                "  [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0],\n  [1.0, 1.0], [-1.0, 1.0], [1.0, -2.0], [-1.0, -1.0],\n]\n",
                "",
            ),
            (
                "[feasibility]\neta = 0.1",
                "[feasibility]\neta = 0.1\nmethod = \"safe-box\"",
            ),
        ],
    );
    write(
        &place.join("normals.csv"),
        "# x, y\n1,0\n-1,0\n0,1\n0,-1\n1,1\n-1,1\n1,-2\n-1,-1\n",
    );
    let (code, stdout, stderr) = ended(&place, &["solve", "spec.toml", "--json", "--quiet"]);
    assert_eq!(code, 0, "{stderr}");
    let report: Value = serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(report["budget"]["lines"][0]["method"], "safe box");
    assert!(report["mean_volume"].as_f64().is_some_and(|v| v > 5.0));
    assert!(report["mean_clearance"].as_f64().is_some_and(|v| v > 0.0));
    write(&place.join("normals.csv"), "1,0\n-1,x\n");
    let (code, stderr) = said(&place, "check");
    assert_eq!(code, 2);
    assert!(
        stderr.contains("normals.csv:2:4: not a number: `x`"),
        "{stderr}"
    );
}

#[test]
fn a_release_charges_and_prints_the_ellipsoid() {
    let place = placed("ellipsoid-release", &[]);
    let (code, stdout, stderr) = ended(
        &place,
        &[
            "release",
            "spec.toml",
            "--no-ledger",
            "--decision",
            "decision.json",
            "--json",
        ],
    );
    assert_eq!(code, 0, "{stderr}");
    let card: Value = serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}"));
    let names = card["answer"].to_string();
    assert!(
        names.contains("shape[0,1]") && names.contains("centre[1]"),
        "{names}"
    );
    assert!(place.join("decision.json").exists());
}

#[test]
fn the_study_prints_rows_for_both_modes_and_strategies() {
    let place = directory("ellipsoid-study");
    let words = [
        "study",
        "ellipsoid",
        "--polytopes",
        "octagon",
        "--universe",
        "1",
        "--draws",
        "2000",
        "--json",
        "--quiet",
        "--figure",
        "ellipses.svg",
    ];
    let (code, stdout, stderr) = ended(&place, &words);
    assert_eq!(code, 0, "{stderr}");
    let table: Value = serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(table["study"], "ellipsoid");
    let rows = table["rows"].as_array().cloned().unwrap_or_default();
    let seen: Vec<String> = rows
        .iter()
        .map(|r| format!("{} {}", r["mode"], r["strategy"]).replace('"', ""))
        .collect();
    let right = [
        "paper output",
        "paper program",
        "calibrated output",
        "calibrated program",
    ];
    assert_eq!(seen, right);
    assert!(text(&place.join("ellipses.svg")).starts_with("<svg"));
    let (code, _, stderr) = ended(&place, &["study", "ellipsoid", "--polytopes", "cube"]);
    assert_eq!(code, 2);
    assert!(
        stderr.contains("there is no built-in polytope `cube`; there are: octagon, cut-box"),
        "{stderr}"
    );
}

/// The volume goes with the square of the objective, √det Y: a second road to what is measured.
#[test]
fn a_comparison_measures_the_noisy_volume_of_what_is_released() {
    let place = placed("compared-volumes", &[]);
    let flags = ["compare", "spec.toml", "--draws", "2000", "--json", "-q"];
    let (code, stdout, stderr) = ended(&place, &flags);
    assert_eq!(code, 0, "{stderr}");
    let found: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(found["private"], true);
    let sizes = found["sizes"].as_array().unwrap();
    assert_eq!(sizes.len(), 2, "{stdout}");
    for (size, strategy) in sizes.iter().zip(["output", "program"]) {
        assert_eq!(size["strategy"], strategy);
        assert_eq!(size["what"], "volume");
        assert_eq!(size["draws"], 2000);
        let number = |key: &str| size[key].as_f64().unwrap();
        let rows = found["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["strategy"] == strategy).unwrap();
        let kept = 1.0 - row["loss_percent"].as_f64().unwrap() / 100.0;
        let before = number("before_noise_percent");
        assert!((before - 100.0 * kept * kept).abs() < 1e-3, "{size} {kept}");
        let (low, mean, high) = (
            number("low_percent"),
            number("mean_percent"),
            number("high_percent"),
        );
        assert!(low < mean && mean < high, "{size}");
        // E det(Y + Z) = det Y − σ², which is 0.01% here. Between 5 and 95% lie 3.3 deviations of nearly normal draws; a mean
        // of 2000 is off by six of its own with probability below 1e-8.
        let error = (high - low) / 3.3 / 2000f64.sqrt();
        assert!((mean - before).abs() < 6.0 * error + 0.02, "{size}");
    }
    let (_, text, _) = ended(&place, &["compare", "spec.toml", "--draws", "20", "-q"]);
    assert!(text.starts_with("COMPARISON: PRIVATE"), "{text}");
    assert!(text.contains("\nvolume of program: "), "{text}");
}
