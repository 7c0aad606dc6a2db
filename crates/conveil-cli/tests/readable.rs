//! What does not show reaches no card and no terminal, whatever way it comes in.

mod running;

use std::path::Path;

use running::{directory, ended, examples, text, write};

/// Characters that no reader sees, or that change how their neighbours show, by the number that TOML writes them with.
const HIDDEN: &[(&str, &str)] = &[
    ("\\u202E", "U+202E"),
    ("\\u200B", "U+200B"),
    ("\\u2028", "U+2028"),
    ("\\U000E0041", "U+E0041"),
    ("\\uFEFF", "U+FEFF"),
    ("\\u00AD", "U+00AD"),
    ("\\uFE0F", "U+FE0F"),
    ("\\u001B", "U+001B"),
    ("\\u009B", "U+009B"),
];

/// Example, the text that holds a name, the same with X for what is put into the name.
const ENTRIES: &[(&str, &str, &str)] = &[
    ("scalar-lp", "name = \"x\"", "name = \"xX\""),
    ("scalar-lp", "name = \"limits\"", "name = \"limX\""),
    ("scalar-lp", "\"lower\"", "\"lowX\""),
    ("scalar-lp", "name = \"l\"", "name = \"lX\""),
    ("scalar-lp", "reason = \"the", "reason = \"theX"),
    (
        "scalar-lp",
        "[feasibility]",
        "[ledger]\nfile = \"l.db\"\ndataset = \"loadsX\"\n[feasibility]",
    ),
    ("heat-demand", "response = \"heat\"", "response = \"heatX\""),
    ("heat-demand", "feature = \"area\"", "feature = \"areaX\""),
    ("heat-demand", "heat = \"kWh a day\"", "heat = \"kWhX\""),
    (
        "svm-machines",
        "column = \"failed\"",
        "column = \"failedX\"",
    ),
    ("svm-machines", "positive = 1", "positive = \"yesX\""),
    ("svm-machines", "temperature = [", "\"temperatureX\" = ["),
    (
        "opf-generation",
        "units = [\"bus 7\"]",
        "units = [\"bus 7X\"]",
    ),
    (
        "opf-generation",
        "units = [\"bus 7\"]",
        "groups = { \"northX\" = [\"bus 7\"] }",
    ),
];

/// No control but the end of a line, and nothing that hides.
fn is_plain(text: &str) -> bool {
    conveil_text::naming::hidden(&text.replace('\n', " ")).is_none()
}

fn placed(name: &str, example: &str) -> std::path::PathBuf {
    let place = directory(name);
    for entry in std::fs::read_dir(examples()).unwrap() {
        let path = entry.unwrap().path();
        let own = |end: &str| path.extension().is_some_and(|found| found == end);
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        if stem.starts_with(example) && (own("json") || own("csv")) {
            std::fs::copy(&path, place.join(path.file_name().unwrap())).unwrap();
        }
    }
    place
}

#[test]
fn what_does_not_show_reaches_no_card() {
    for (index, (example, good, bad)) in ENTRIES.iter().enumerate() {
        let place = placed(&format!("readable-{index}"), example);
        let spec = text(&examples().join(format!("{example}.toml")));
        assert!(spec.contains(good), "{example}: {good}");
        for (written, number) in HIDDEN {
            let spec = spec.replacen(good, &bad.replace('X', written), 1);
            write(&place.join("spec.toml"), spec);
            let (code, stdout, stderr) = ended(&place, &["check", "spec.toml", "-q", "--details"]);
            assert_eq!(code, 2, "{bad} {number}: {stdout}{stderr}");
            let said = format!("holds {number}, which does not show");
            assert!(stderr.contains(&said), "{bad} {number}: {stderr}");
            assert!(is_plain(&stdout) && is_plain(&stderr), "{stderr:?}");
        }
    }
}

/// What a budget is about.
const BETWEEN: [&str; 8] = [
    "--adjacency",
    "one-entry",
    "--alpha",
    "1",
    "--numbers",
    "2",
    "--called",
    "demand",
];

#[test]
fn a_dataset_of_a_ledger_has_a_name_that_shows() {
    let place = directory("readable-ledger");
    for name in ["loads\u{202e}", "loads\u{200b}", "\u{301}", "a\u{e0041}"] {
        let words = [
            "ledger",
            "init",
            "l.db",
            "--dataset",
            name,
            "--epsilon",
            "1",
        ];
        let words = [&words[..], &BETWEEN].concat();
        let (code, stdout, stderr) = ended(&place, &words);
        assert_eq!(code, 2, "{name:?}: {stdout}{stderr}");
        assert!(is_plain(&stdout) && is_plain(&stderr), "{stderr:?}");
        assert!(stderr.contains("dataset name"), "{stderr}");
    }
    let long = "x".repeat(3_000_000 / 32);
    let words = [
        "ledger",
        "init",
        "l.db",
        "--dataset",
        &long,
        "--epsilon",
        "1",
    ];
    let words = [&words[..], &BETWEEN].concat();
    let (code, _, stderr) = ended(&place, &words);
    assert_eq!(code, 2);
    assert!(stderr.len() < 10_000, "{}", stderr.len());
}

/// Headers and cells of files are repeated in messages: escaped, and cut.
#[test]
fn files_are_repeated_escaped_and_cut() {
    let long = "y".repeat(5_000_000);
    let cases = [
        (
            "svm-machines",
            "temperature,vibration,failed",
            "temperature,vib\u{1b}[31mration,failed".to_string(),
        ),
        (
            "svm-machines",
            "temperature,vibration,failed",
            format!("temperature,{long},failed"),
        ),
        (
            "svm-machines",
            "temperature,vibration,failed",
            "temperature,vibration\u{202e},failed".to_string(),
        ),
        ("svm-machines", "75.7,6.77,1", format!("75.7,{long},1")),
        (
            "svm-machines",
            "75.7,6.77,1",
            "75.7,\u{1b}]0;title\u{7},1".to_string(),
        ),
        (
            "svm-machines",
            "75.7,6.77,1",
            "75.7,6.77,no\u{9b}31m".to_string(),
        ),
        (
            "heat-demand",
            "dwelling,temperature,area,heat",
            "dwelling,temp\u{1b}[2J,area,heat".to_string(),
        ),
        (
            "heat-demand",
            "dwelling,temperature,area,heat",
            format!("dwelling,{long},area,heat"),
        ),
        (
            "heat-demand",
            "1,8.7,150,15.22",
            format!("1,8.7,{long},15.22"),
        ),
    ];
    for (index, (example, good, bad)) in cases.iter().enumerate() {
        let place = placed(&format!("repeated-{index}"), example);
        let spec = text(&examples().join(format!("{example}.toml")));
        write(&place.join("spec.toml"), spec);
        let file = place.join(format!("{example}.csv"));
        let table = text(&file);
        assert!(table.contains(good));
        write(&file, table.replacen(good, bad, 1));
        let (code, stdout, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
        assert_eq!(code, 2, "{index}: {stdout}{stderr}");
        assert!(
            is_plain(&stdout) && is_plain(&stderr),
            "{index}: {stderr:?}"
        );
        assert!(stderr.len() < 10_000, "{index}: {}", stderr.len());
    }
}

#[test]
fn arguments_are_repeated_escaped_and_cut() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let long = "z".repeat(100_000);
    for words in [
        ["check", "no\u{1b}[31m.toml"],
        ["check", &format!("{long}.toml")],
        ["study", "\u{202e}opf"],
        ["study", &long],
        ["release\u{9b}m", "x.toml"],
    ] {
        let (code, stdout, stderr) = ended(place, &words);
        assert_eq!(code, 2, "{stdout}{stderr}");
        assert!(is_plain(&stdout) && is_plain(&stderr), "{stderr:?}");
        assert!(stderr.len() < 10_000, "{}", stderr.len());
    }
}
