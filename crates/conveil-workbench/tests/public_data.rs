//! Exploring with public data in place of the private ones: nominal values, or a twin.

use conveil::curator::{About, Axis};
use conveil_workbench::{
    Account, Answer, Comparing, Failure, Kind, Releasing, Silent, Sweep, Text, Workbench,
};
use serde::Serialize;

const PROBLEM: &str = r#"{
    "P": {"m": 2, "n": 2, "colptr": [0, 0, 0], "rowval": [], "nzval": []},
    "q": [1.0, 3.0],
    "A": {"m": 5, "n": 2, "colptr": [0, 3, 6], "rowval": [0, 1, 3, 0, 2, 4], "nzval": [1.0, -1.0, 1.0, 1.0, -1.0, 1.0]},
    "b": [9.0, 0.0, 0.0, 10.0, 2.0],
    "cones": [{"ZeroConeT": 1}, {"NonnegativeConeT": 4}]
}"#;

const SPEC: &str = r#"
    [problem]
    model = "conic"
    file = "problem.json"
    [[problem.variable]]
    name = "x"
    size = 2
    stage = "decision"
    [private]
    data = "demand.csv"
    twin = "last-year.csv"
    adjacency = { kind = "one-entry", alpha = 0.05 }
    [[private.parameter]]
    name = "demand"
    at = [{ in = "b", row = 0 }]
    bounds = [4.0, 11.0]
    nominal = 9.0
    [query]
    release = "cost"
    [privacy]
    mechanism = "laplace"
    epsilon = 1.0
    sensitivity = { by = "declared", per_alpha = 3.0, reason = "the dear generator" }
    [feasibility]
    eta = 0.05
"#;

fn bench(spec: &str, private: &str) -> Workbench {
    let file = |name, text| Text { name, text };
    let files = [
        file("problem.json", PROBLEM),
        file("last-year.csv", "parameter,value\ndemand,8.5\n"),
    ];
    let opened = Workbench::from_files(file("plan", spec), &files).unwrap();
    opened.with_private(&[file("demand.csv", private)]).unwrap()
}

/// Everything that a verb says, as text and as JSON; without its timings.
fn said<D: Serialize + std::fmt::Display>(document: Result<D, Failure>) -> String {
    match document {
        Err(failure) => format!("{:?}: {failure}", failure.kind()),
        Ok(document) => {
            let mut json = serde_json::to_value(&document).unwrap();
            if let Some(fields) = json.as_object_mut() {
                fields.remove("seconds");
            }
            let text = document.to_string();
            let timed = |line: &&str| !line.starts_with("seconds");
            let text: Vec<&str> = text.lines().filter(timed).collect();
            format!("{}\n{json}", text.join("\n"))
        }
    }
}

fn everything(bench: &Workbench) -> Vec<String> {
    let compared = Comparing {
        draws: Some(50),
        ..Comparing::default()
    };
    let sweep = Sweep {
        row: None,
        over: Axis::Epsilon,
        values: Some(vec![0.5, 1.0]),
    };
    vec![
        said(bench.solve(None, &Silent)),
        said(bench.compare(&compared, &Silent)),
        said(bench.explain(None, &Silent)),
        said(bench.frontier(&sweep, &Silent)),
    ]
}

/// Values of any size, clipped ones, and files that are no data at all.
#[test]
fn public_exploration_is_the_same_whatever_the_private_data() {
    let private = [
        "parameter,value\ndemand,9.5\n",
        "parameter,value\ndemand,4.0\n",
        "parameter,value\ndemand,1e30\n",
        "parameter,value\ndemand,-7\n",
        "no data at all",
    ];
    for about in [About::Nominal, About::Twin] {
        let first = everything(&bench(SPEC, private[0]).at(about).unwrap());
        for other in &private[1..] {
            assert_eq!(first, everything(&bench(SPEC, other).at(about).unwrap()));
        }
        for document in &first {
            assert!(document.contains("PUBLIC") && !document.contains("PRIVATE"));
            assert!(document.contains("\"private\":false"), "{document}");
            assert!(document.contains(match about {
                About::Nominal => "\"at\":\"nominal\"",
                _ => "\"at\":\"twin\"",
            }));
        }
        let check = |private: &str| said(bench(SPEC, private).check(&Silent));
        assert_eq!(check(private[0]), check(private[4]));
    }
    let own = everything(&bench(SPEC, private[0]));
    assert!(
        own.iter()
            .all(|d| d.contains("PRIVATE") && !d.contains("\"at\""))
    );
    // The optimum at the nominal demand of 9 is 9, at the twin's 8.5 it is 8.5.
    let optimum = |about| {
        bench(SPEC, private[1])
            .at(about)
            .unwrap()
            .dataset(None, &Silent)
    };
    assert_eq!(optimum(About::Nominal).unwrap(), [9.0]);
    assert_eq!(optimum(About::Twin).unwrap(), [8.5]);
    assert_eq!(optimum(About::Private).unwrap(), [4.0]);
}

#[test]
fn public_data_that_are_missing_are_asked_for() {
    let private = "parameter,value\ndemand,9.5\n";
    let without_twin = SPEC.replace("twin = \"last-year.csv\"", "");
    let failure = bench(&without_twin, private).at(About::Twin).unwrap_err();
    assert_eq!(failure.kind(), Kind::Input);
    assert!(
        failure.to_string().contains("twin = \"twin.csv\""),
        "{failure}"
    );
    let without_nominal = SPEC.replace("nominal = 9.0", "");
    let failure = bench(&without_nominal, private)
        .at(About::Nominal)
        .unwrap_err();
    let said = "plan: the parameter `demand` has no `nominal`\n  help: give each [[private.parameter]] a public value";
    assert!(failure.to_string().starts_with(said), "{failure}");
}

#[test]
fn a_private_file_is_no_twin() {
    let spec = SPEC.replace("last-year.csv", "demand.csv");
    let bench = bench(&spec, "parameter,value\ndemand,9.5\n");
    let releasing = Releasing {
        account: Account::WithoutLedger,
        ..Releasing::default()
    };
    let mut answers: Vec<Answer> = Vec::new();
    let released = bench.release(&releasing, &mut answers, &Silent);
    for failure in [
        bench.at(About::Twin).unwrap_err(),
        bench.check(&Silent).unwrap_err(),
        released.unwrap_err().failure,
    ] {
        assert_eq!(failure.kind(), Kind::Input);
        let said = failure.to_string();
        assert!(said.contains("is the private file itself"), "{said}");
    }
    assert!(answers.is_empty());
}

/// By its name it is another file, and a check of it would print numbers about the private one.
#[cfg(unix)]
#[test]
fn a_link_to_the_private_file_is_no_twin() {
    for (name, linked) in [("hard", true), ("copied", false)] {
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("twin-{name}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let write = |file: &str, text: &str| std::fs::write(folder.join(file), text).unwrap();
        write("plan.toml", SPEC);
        write("problem.json", PROBLEM);
        write("demand.csv", "parameter,value\ndemand,9.5\n");
        let (private, twin) = (folder.join("demand.csv"), folder.join("last-year.csv"));
        match linked {
            true => std::fs::hard_link(private, twin).unwrap(),
            // A copy cannot be told from another dataset.
            false => std::fs::copy(private, twin).map(|_| ()).unwrap(),
        }
        let bench = Workbench::open(&folder.join("plan.toml")).unwrap();
        assert_eq!(bench.check(&Silent).is_err(), linked, "{name}");
    }
}

/// Seven numbers by at most 1 each: 7 in ℓ₁, √7 in ℓ₂, and a bound per unit of one number is no bound per unit of the latter.
#[test]
fn who_is_protected_makes_the_adjacency_and_stands_on_the_guarantee() {
    let private = "parameter,value\ndemand,9.5\n";
    let protects = "[private.protects]\nwho = \"a patient\"\nentries = 7\neach = 0.01\n[[private";
    let spec = SPEC.replace("adjacency = { kind = \"one-entry\", alpha = 0.05 }", "");
    let spec = spec.replacen("[[private", protects, 1);
    let check = bench(&spec, private).check(&Silent).unwrap();
    assert!(check.adjacency.contains("0.07"), "{}", check.adjacency);
    let said = check.text;
    let line = "protects: a patient, who changes at most 7 private numbers, each by at most 0.01";
    assert!(said.contains(line), "{said}");
    let gaussian = spec.replace("\"laplace\"", "\"gaussian\"\ndelta = 1e-6");
    let opened = Workbench::from_files(
        Text {
            name: "plan",
            text: &gaussian,
        },
        &[],
    );
    let failure = opened.unwrap_err().to_string();
    assert!(failure.contains("per unit of the ℓ₂ norm"), "{failure}");
    let value = gaussian.replace("per_alpha = 3.0", "value = 0.21");
    let check = bench(&value, private).check(&Silent).unwrap();
    assert!(check.adjacency.contains("0.026"), "{}", check.adjacency);
}

#[test]
fn public_data_are_not_released() {
    let bench = bench(SPEC, "parameter,value\ndemand,9.5\n");
    for account in [
        Account::WithoutLedger,
        Account::NotPrivate { seed: Some(1) },
    ] {
        let releasing = Releasing {
            account,
            ..Releasing::default()
        };
        let mut answers: Vec<Answer> = Vec::new();
        let at = bench.at(About::Nominal).unwrap();
        let failure = at.release(&releasing, &mut answers, &Silent).unwrap_err();
        assert!(
            failure.to_string().contains("these are public"),
            "{failure}"
        );
        assert!(answers.is_empty());
    }
}

/// At the twin, the twin is what stands in the place of the private file: that is no private file as its own twin.
#[test]
fn a_check_at_the_twin_is_not_refused_as_a_twin_that_is_private() {
    let specs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/specs");
    let bench = Workbench::open(&specs.join("svm-machines.toml")).unwrap();
    let check = bench.at(About::Twin).unwrap().check(&Silent).unwrap();
    assert!(!check.outlook.unwrap().is_odd());
}
