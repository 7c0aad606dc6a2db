//! Whatever the private data are, everything that is public stays the same: `check` and its exit code, explorations of public
//! data, the charge, and the card but for its answer.

mod running;

use running::{directory, ended, examples, text, write};
use serde_json::Value;
use std::path::Path;

/// An example with its private file, and the columns of it that are private; none where all numbers are.
struct Case {
    spec: &'static str,
    file: &'static str,
    columns: Option<&'static [&'static str]>,
    has_nominal: bool,
}

const CASES: &[Case] = &[
    Case {
        spec: "opf-24",
        file: "opf-24.csv",
        columns: Some(&["demand"]),
        has_nominal: true,
    },
    Case {
        spec: "svm-machines",
        file: "svm-machines.csv",
        columns: Some(&["temperature", "vibration"]),
        has_nominal: false,
    },
    Case {
        spec: "wind-curve",
        file: "wind-curve.csv",
        columns: Some(&["power"]),
        has_nominal: false,
    },
    Case {
        spec: "mean-variance",
        file: "mean-variance.csv",
        columns: None,
        has_nominal: false,
    },
    Case {
        spec: "ellipsoid",
        file: "ellipsoid.csv",
        columns: None,
        has_nominal: true,
    },
    Case {
        spec: "envelope-dispatch",
        file: "theta.csv",
        columns: Some(&["value"]),
        has_nominal: true,
    },
];

/// What is done with every private number: nothing, a little, and what clips all of them on either side.
const CHANGES: &[fn(f64) -> f64] = &[|x| x, |x| 1.01 * x, |_| 1e7, |_| -1e7];

fn changed(csv: &str, case: &Case, change: fn(f64) -> f64) -> String {
    let header: Vec<&str> = csv.lines().next().unwrap_or("").split(',').collect();
    let is_private = |column: usize| {
        let name = header.get(column).map_or("", |name| name.trim());
        case.columns.is_none_or(|columns| columns.contains(&name))
    };
    let lines = csv.lines().map(|line| {
        let fields =
            line.split(',')
                .enumerate()
                .map(|(column, field)| match field.trim().parse::<f64>() {
                    Ok(number) if is_private(column) => change(number).to_string(),
                    _ => field.to_string(),
                });
        format!("{}\n", fields.collect::<Vec<_>>().join(","))
    });
    lines.collect()
}

/// A conic example has its private numbers in the spec: they move to a file.
fn with_file(spec: &str, case: &Case) -> (String, String) {
    if case.file != "theta.csv" {
        return (spec.into(), text(&examples().join(case.file)));
    }
    let mut name = "";
    let (mut kept, mut csv) = (String::new(), String::from("parameter,value\n"));
    let mut is_parameter = false;
    for line in spec.lines() {
        if line.starts_with('[') {
            is_parameter = line.starts_with("[[private.parameter]]");
        }
        if let (true, Some(found)) = (is_parameter, line.strip_prefix("name = \"")) {
            name = found.split('"').next().unwrap();
        }
        match (is_parameter, line.strip_prefix("value = ")) {
            (true, Some(value)) => {
                let value = value.split_whitespace().next().unwrap();
                csv += &format!("{name},{value}\n");
            }
            _ => kept += &format!("{line}\n"),
        }
    }
    (
        kept.replace("[private]", "[private]\ndata = \"theta.csv\""),
        csv,
    )
}

/// Without the seconds that a solve took, which may go on in a second line.
fn untimed(text: &str) -> String {
    let mut is_timed = false;
    let lines = text.lines().filter(|line| {
        is_timed = line.contains("seconds") || is_timed && line.starts_with("    ");
        !is_timed
    });
    lines.map(|line| format!("{line}\n")).collect()
}

/// Everything public that comes of a dataset; of the card and the charge none where there is no answer.
fn public(folder: &Path, case: &Case) -> (Vec<(i32, String)>, Option<[Value; 2]>) {
    let mut shown = Vec::new();
    for words in ["check spec.toml", "check spec.toml --json"] {
        let (code, said, _) = ended(folder, &words.split(' ').collect::<Vec<_>>());
        assert_eq!(code, 0, "{}", case.spec);
        shown.push((code, said));
    }
    for at in ["twin", "nominal"] {
        for words in [
            "solve spec.toml -q --at",
            "compare spec.toml -q --draws 20 --at",
        ] {
            let words: Vec<&str> = words.split(' ').chain([at]).collect();
            let (code, said, error) = ended(folder, &words);
            let is_there = at == "twin" || case.has_nominal;
            assert_eq!(code == 2, !is_there, "{} {words:?}: {error}", case.spec);
            shown.push((code, untimed(&said)));
            shown.push((code, error));
        }
    }
    let _ = std::fs::remove_file(folder.join("budget.sqlite"));
    let init = "ledger init budget.sqlite --dataset d --epsilon 10 --delta 0.5 --spec spec.toml";
    let (code, _, error) = ended(folder, &init.split(' ').collect::<Vec<_>>());
    assert_eq!(code, 0, "{}: {error}", case.spec);
    let (code, card, error) = ended(folder, &["release", "spec.toml", "--json", "-q"]);
    let (_, account, _) = ended(folder, &["ledger", "show", "budget.sqlite", "--json"]);
    let mut account: Value = serde_json::from_str(&account).unwrap();
    account[0]["head"] = Value::Null;
    if code != 0 {
        // The charge stays, and is the same.
        assert!(error.contains("stays spent"), "{}: {error}", case.spec);
        shown.push((0, account.to_string()));
        return (shown, None);
    }
    shown.push((0, account.to_string()));
    let mut card: Value = serde_json::from_str(&card).unwrap();
    for answer in ["answer", "before_projection"] {
        if let Some(numbers) = card[answer].as_array_mut() {
            numbers
                .iter_mut()
                .for_each(|number| number["value"] = Value::Null);
        }
    }
    card["ledger"]["head"] = Value::Null;
    (shown, Some([card, account]))
}

#[test]
fn nothing_public_depends_on_the_private_data() {
    for case in CASES {
        let folder = directory(&format!("public-words-{}", case.spec));
        for file in std::fs::read_dir(examples()).unwrap() {
            let path = file.unwrap().path();
            write(&folder.join(path.file_name().unwrap()), text(&path));
        }
        let spec = text(&examples().join(format!("{}.toml", case.spec)));
        let (spec, csv) = with_file(&spec, case);
        let spec: String = (spec.lines())
            .filter(|line| !line.starts_with("twin = "))
            .map(|line| format!("{line}\n"))
            .collect();
        let spec = spec.replace("[private]", "[private]\ntwin = \"twin.csv\"");
        let ledger = "[ledger]\nfile = \"budget.sqlite\"\ndataset = \"d\"";
        write(&folder.join("spec.toml"), format!("{spec}\n{ledger}\n"));
        write(&folder.join("twin.csv"), &csv);
        let found = CHANGES.iter().map(|change| {
            write(&folder.join(case.file), changed(&csv, case, *change));
            public(&folder, case)
        });
        let found: Vec<_> = found.collect();
        for (shown, card) in &found[1..] {
            assert_eq!(shown, &found[0].0, "{}", case.spec);
            if let Some(card) = card {
                assert_eq!(Some(card), found[0].1.as_ref(), "{}", case.spec);
            }
        }
        let cards = found.iter().filter(|(_, card)| card.is_some()).count();
        assert!(cards >= 2, "{}: {cards} cards", case.spec);
        let data: Vec<String> = (CHANGES.iter().map(|c| changed(&csv, case, *c))).collect();
        assert!(data[1] != data[0] && data[2] != data[3], "{}", case.spec);
    }
}
