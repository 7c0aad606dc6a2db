//! `conveil study`: tables, JSON, files, and what it says to bad arguments.

mod running;

use running::{directory, ended, text, write};

#[test]
fn table_1_of_one_network_prints_ours_beside_the_papers() {
    let place = directory("study-opf");
    let words = ["study", "opf", "--networks", "5_pjm", "--draws", "50"];
    let (code, stdout, _) = ended(&place, &words);
    assert_eq!(code, 0, "{stdout}");
    let row = stdout
        .lines()
        .find(|l| l.contains("10 program"))
        .unwrap_or_default();
    let words: Vec<&str> = row.split_whitespace().collect();
    let ours = ["5_pjm", "10", "program", "paper", "10.54"];
    assert_eq!(&words[..5], ours, "{stdout}");
    assert_eq!(words[6], "12.10", "{stdout}");
    assert!(stdout.contains("nothing is released"), "{stdout}");
}

#[test]
fn json_is_one_document_with_plain_names() {
    let place = directory("study-json");
    let words = [
        "study",
        "opf",
        "--json",
        "-q",
        "--networks",
        "14_ieee",
        "--alpha",
        "3,10",
        "--draws",
        "5",
        "--split",
        "optimise",
    ];
    let (code, stdout, stderr) = ended(&place, &words);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(json["study"], "opf");
    assert_eq!(json["settings"]["split"], "optimise");
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    assert_eq!(
        (&rows[3]["strategy"], &rows[3]["status"]),
        (&"program".into(), &"ok".into())
    );
    assert_eq!(rows[3]["mode"], "paper");
    assert_eq!(rows[7]["status"], "infeasible");
    assert!(rows[7]["loss_percent"].is_null());
}

#[test]
fn a_case_file_stands_beside_the_built_in_networks() {
    let place = directory("study-file");
    let case = "function mpc = two\nmpc.version = '2';\nmpc.baseMVA = 100;\n\
        mpc.bus = [\n1 3 0 0 0 0 1 1 0 230 1 1.1 0.9;\n2 1 60 0 0 0 1 1 0 230 1 1.1 0.9;\n];\n\
        mpc.gen = [\n1 0 0 0 0 1 100 1 100 0;\n2 0 0 0 0 1 100 1 100 0;\n];\n\
        mpc.branch = [\n1 2 0.01 0.1 0 80 80 80 0 0 1 -360 360;\n];\n\
        mpc.gencost = [\n2 0 0 2 10 0;\n2 0 0 2 30 0;\n];\n";
    write(&place.join("two.m"), case);
    let words = [
        "study",
        "opf",
        "--networks",
        "two.m",
        "--alpha",
        "1",
        "--draws",
        "5",
        "--json",
    ];
    let (code, stdout, stderr) = ended(&place, &words);
    assert_eq!(code, 0, "{stderr}");
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let row = &json["rows"][3];
    // 60 MW at 10: 600; the box is 30·ln 100 = 138.2.
    let loss = row["loss_percent"].as_f64().unwrap();
    assert!(
        (loss - 100.0 * 30.0 * 100f64.ln() / 600.0).abs() < 0.01,
        "{loss}"
    );
    assert!(row["paper_loss_percent"].is_null());
}

#[test]
fn densities_go_to_csv_and_figures() {
    let place = directory("study-density");
    for (figure, start) in [("d.svg", &b"<svg"[..]), ("d.png", &b"\x89PNG"[..])] {
        let table = format!("{figure}.csv");
        let words = [
            "study",
            "density",
            "--network",
            "5_pjm",
            "--csv",
            &table,
            "--figure",
            figure,
        ];
        let (code, stdout, stderr) = ended(&place, &words);
        assert_eq!(code, 0, "{stderr}");
        assert!(stdout.contains("privacy loss"), "{stdout}");
        let bytes = std::fs::read(place.join(figure)).unwrap();
        assert!(bytes.starts_with(start), "{figure}");
    }
    let csv = text(&place.join("d.svg.csv"));
    assert!(csv.starts_with("network,epsilon,dataset,cost,density\n5_pjm,10,lowered,"));
}

#[test]
fn risk_of_a_query_over_named_units() {
    let place = directory("study-cvar");
    let words = [
        "study",
        "cvar",
        "--units",
        "generator 1, bus 13",
        "--alpha",
        "15",
        "--tail",
        "50",
        "--samples",
        "50",
        "--json",
    ];
    let (code, stdout, stderr) = ended(&place, &words);
    assert_eq!(code, 0, "{stderr}");
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(json["study"], "cvar");
    assert_eq!(json["rows"][0]["tail_percent"], 50.0);
    assert_eq!(json["settings"]["units"][1], "bus 13");
}

#[test]
fn bad_arguments_say_what_would_be_right() {
    let place = directory("study-refusals");
    let cases: &[(&[&str], &str)] = &[
        (&["opf", "--networks", "5_pj"], "did you mean `5_pjm`?"),
        (&["opf", "--networks", "nothing.m"], "cannot read nothing.m"),
        (&["opf", "--alpha", "-1"], "must be a positive number"),
        (&["opf", "--alpha", "1,x"], "must be a positive number"),
        (&["opf", "--eta", "0.5"], "strictly between 0 and 0.5"),
        (
            &["opf", "--envelope", "dear"],
            "a positive price, or `cmax`",
        ),
        (&["opf", "--draws", "0"], "0 is not in 1..="),
        (
            &[
                "opf",
                "--networks",
                "5_pjm",
                "--method",
                "sampled-box",
                "--split",
                "optimise",
            ],
            "no split to optimise",
        ),
        (
            &["opf", "--figure", "table.pdf"],
            "must end in .svg or .png",
        ),
        (
            &["density", "--network", "24_iee"],
            "did you mean `24_ieee`?",
        ),
        (&["cvar", "--tail", "100"], "strictly between 0 and 100"),
        (
            &["cvar", "--units", "generator 99"],
            "no unit `generator 99`",
        ),
        (&["of"], "unrecognized subcommand 'of'"),
    ];
    for (words, message) in cases {
        let words: Vec<&str> = ["study"].iter().chain(*words).copied().collect();
        let (code, stdout, stderr) = ended(&place, &words);
        assert_eq!((code, stdout.as_str()), (2, ""), "{words:?}: {stderr}");
        assert!(stderr.contains(message), "{words:?}: {stderr}");
    }
    let (code, _, stderr) = ended(&place, &["study", "density", "--csv", "no/such/place.csv"]);
    assert_eq!(code, 6);
    assert!(
        stderr.contains("cannot write no/such/place.csv"),
        "{stderr}"
    );
}
