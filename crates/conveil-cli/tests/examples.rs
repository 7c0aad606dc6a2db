//! Every example spec runs with every verb, and `check` shows nothing of the private values.

mod running;

use conveil::program::Place;
use conveil_models::conic::Conic;
use conveil_models::spec;
use conveil_text::problem;
use running::{
    CLASSIFIER_EXAMPLES, ELLIPSOID_EXAMPLES, EXAMPLES, GRID_EXAMPLES, PORTFOLIO_EXAMPLES,
    RECORD_EXAMPLES, RULED_EXAMPLES, directory, ended, examples, text, write,
};
use serde_json::Value;

const VERBS: &[&str] = &["check", "solve", "compare", "explain", "frontier"];

fn all() -> impl Iterator<Item = &'static str> {
    let all = EXAMPLES.iter().chain(GRID_EXAMPLES);
    let all = all.chain(ELLIPSOID_EXAMPLES).chain(PORTFOLIO_EXAMPLES);
    all.chain(RECORD_EXAMPLES).copied()
}

/// Also those that some verbs refuse or that have tests of their own.
fn every() -> impl Iterator<Item = &'static str> {
    let others = CLASSIFIER_EXAMPLES.iter().chain(RULED_EXAMPLES);
    all().chain(others.copied())
}

fn json(verb: &str, name: &str) -> Value {
    let spec = format!("{name}.toml");
    let (code, stdout, stderr) = ended(&examples(), &[verb, &spec, "--json", "--quiet"]);
    assert_eq!(code, 0, "{verb} {name}: {stderr}");
    serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{verb} {name}: {e}\n{stdout}"))
}

#[test]
fn every_file_in_the_examples_is_tested() {
    let mut found: Vec<String> = std::fs::read_dir(examples())
        .unwrap_or_else(|e| panic!("{e}"))
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".toml").map(String::from))
        .collect();
    let mut tested: Vec<String> = every().map(String::from).collect();
    found.sort();
    tested.sort();
    assert_eq!(found, tested);
}

#[test]
fn every_example_works_with_every_verb() {
    for name in all() {
        for verb in VERBS {
            let spec = format!("{name}.toml");
            let (code, stdout, stderr) = ended(&examples(), &[verb, &spec]);
            assert_eq!(code, 0, "{verb} {name}: {stderr}");
            assert!(
                stdout.ends_with('\n') && stdout.lines().count() > 3,
                "{stdout}"
            );
            let timed = *verb != "check";
            assert_eq!(stderr.ends_with(" s\n"), timed, "{verb} {name}: {stderr}");
            // Conditions on a shape leave directions in which weights grow without limit.
            let known = |line: &&str| {
                RECORD_EXAMPLES.contains(&name) && line.contains("can move without limit")
            };
            let others = stderr.lines().filter(|line| !known(line));
            assert!(
                others.clone().all(|line| !line.contains("warning")),
                "{verb} {name}: {stderr}"
            );
        }
    }
}

/// Settings can be chosen on public data in every example: a twin where the spec names one, nominal values elsewhere.
#[test]
fn every_example_can_be_explored_on_public_data() {
    for name in every() {
        let spec = format!("{name}.toml");
        let (code, _, stderr) = ended(&examples(), &["check", &spec]);
        assert_eq!(code, 0, "check {name}: {stderr}");
        let twin = text(&examples().join(&spec)).contains("\ntwin = ");
        let at = if twin { "twin" } else { "nominal" };
        for words in [&["compare", "--draws", "50"] as &[&str], &["solve"]] {
            let all: Vec<&str> = [words, &[&spec, "--at", at]].concat();
            let (code, stdout, stderr) = ended(&examples(), &all);
            assert_eq!(code, 0, "{all:?}: {stderr}");
            let head = stdout.lines().next().unwrap_or_default();
            assert!(head.contains("PUBLIC, at the public"), "{all:?}: {head}");
        }
    }
}

#[test]
fn what_the_rule_chose_is_solved_and_compared() {
    for name in RULED_EXAMPLES {
        let spec = format!("{name}.toml");
        for verb in ["check", "solve", "compare"] {
            let (code, stdout, stderr) = ended(&examples(), &[verb, &spec, "--details"]);
            assert_eq!(code, 0, "{verb} {name}: {stderr}");
            let said = stdout.contains("strategy: ") || verb == "compare";
            assert!(said, "{verb} {name}: {stdout}");
        }
        // Noise never makes a decision better than the best one.
        let loss = json("solve", name)["loss"].as_f64().unwrap_or(f64::NAN);
        let optimum = json("solve", name)["optimum"].as_f64().unwrap_or(f64::NAN);
        assert!(loss >= -1e-6 * optimum.abs(), "{name}: {loss} of {optimum}");
    }
}

/// What `auto` looked at is in the document whole, and in the text a line each.
#[test]
fn what_auto_considered_is_listed() {
    let check = json("check", "bus-charging");
    let considered = check["guarantee"]["basis"]["considered"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let by: Vec<&str> = considered.iter().filter_map(|c| c["by"].as_str()).collect();
    assert_eq!(
        by,
        [
            "envelope",
            "moreau",
            "radius",
            "saddle",
            "strong-convexity",
            "erm",
            "range"
        ]
    );
    let chosen: Vec<&Value> = considered.iter().filter(|c| c["chosen"] == true).collect();
    assert_eq!((chosen.len(), &chosen[0]["by"]), (1, &"moreau".into()));
    assert_eq!(
        chosen[0]["sensitivity"], check["guarantee"]["sensitivity"],
        "{considered:?}"
    );
    for one in &considered {
        assert!(
            one["sensitivity"].is_number() != one["why_not"].is_string(),
            "{one}"
        );
    }
    let (_, text, _) = ended(&examples(), &["check", "bus-charging.toml", "--details"]);
    let mut lines = text
        .lines()
        .skip_while(|line| !line.starts_with("considered by auto"))
        .skip(1);
    for one in &considered {
        let line = lines.next().unwrap_or_default();
        let head = format!("  {}: ", one["by"].as_str().unwrap_or_default());
        assert!(line.starts_with(&head), "{text}");
        assert_eq!(line.ends_with(", chosen"), one["chosen"] == true, "{line}");
    }
    // A certificate that is asked for by name was chosen among no others.
    let named = json("check", "transport");
    assert!(named["guarantee"]["basis"].get("considered").is_none());
}

/// A margin of `saddle` moves the solution far more than the correction of `moreau`: the smaller sensitivity does not win by itself.
#[test]
fn auto_weighs_corrections_of_a_solution_at_the_same_numbers_too() {
    let place = directory("auto-weighs");
    let spec = text(&examples().join("bus-charging.toml"));
    write(
        &place.join("spec.toml"),
        spec.replace("epsilon = 1.0", "epsilon = 4.0"),
    );
    let problem = text(&examples().join("bus-charging.json"));
    write(&place.join("bus-charging.json"), problem);
    let (code, stdout, stderr) = ended(&place, &["check", "spec.toml", "--json", "-q"]);
    assert_eq!(code, 0, "{stderr}");
    let check: Value = serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}"));
    let considered = &check["guarantee"]["basis"]["considered"];
    let of = |by: &str| {
        let all = considered.as_array().cloned().unwrap_or_default();
        all.into_iter().find(|c| c["by"] == by).unwrap_or_default()
    };
    let (moreau, saddle) = (of("moreau"), of("saddle"));
    let number = |one: &Value, key: &str| one[key].as_f64().unwrap_or(f64::NAN);
    assert!(number(&saddle, "sensitivity") < number(&moreau, "sensitivity"));
    let weighed = "noise_and_correction";
    assert!(number(&moreau, weighed) < number(&saddle, weighed));
    assert_eq!(moreau["chosen"], true, "{considered}");
}

/// A long reason is whole with `--details`, and unasked there is none.
#[test]
fn a_long_reason_of_auto_is_whole_in_the_details() {
    let place = directory("auto-details");
    let spec = text(&examples().join("transport.toml"));
    let spec = spec.replace("by = \"moreau\"", "by = \"auto\", price = 60.0");
    write(&place.join("spec.toml"), spec);
    let problem = text(&examples().join("transport.json"));
    write(&place.join("transport.json"), problem);
    let (code, short, stderr) = ended(&place, &["check", "spec.toml"]);
    assert_eq!(code, 0, "{stderr}");
    let (code, long, stderr) = ended(&place, &["check", "spec.toml", "--details"]);
    assert_eq!(code, 0, "{stderr}");
    let reasons = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|l| l.contains(": does not apply: "));
        lines.map(String::from).collect()
    };
    assert_eq!(reasons(&short), Vec::<String>::new());
    let long = reasons(&long);
    // Wider than the 100 columns of a text that is folded, and not cut.
    let whole = |line: &String| {
        line.chars().count() > 140 && line.ends_with("so that it holds at the data themselves")
    };
    assert!(long.iter().any(whole), "{long:?}");
    assert!(long.iter().all(|line| !line.contains("(see --details)")));
}

/// Two released numbers: each is carried by its own noise alone, to rounding, in the decision for the data themselves too.
#[test]
fn a_decision_with_two_released_numbers_is_for_the_data_themselves() {
    let place = directory("two-numbers");
    let problem = text(&examples().join("transport.json"));
    write(&place.join("transport.json"), problem);
    let spec = text(&examples().join("transport.toml"));
    for [west, centre, east] in [
        ["264.732043", "347.630864", "159.389125"],
        ["170.1", "375.7", "221.3"],
        ["279.9", "241.3", "131.7"],
        ["201.3", "299.9", "199.1"],
    ] {
        let other = spec
            .replace("value = 214.0", &format!("value = {west}"))
            .replace("value = 322.0", &format!("value = {centre}"))
            .replace("value = 171.0", &format!("value = {east}"));
        assert_ne!(other, spec);
        write(&place.join("spec.toml"), other);
        let (code, stdout, stderr) = ended(&place, &["solve", "spec.toml", "--json", "-q"]);
        assert_eq!(code, 0, "{stderr}");
        let report: Value = serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(report["correction"]["at_the_data"], true, "{west}");
        let loss = report["loss"].as_f64().unwrap_or(f64::NAN);
        assert!(loss >= 0.0, "{west}: {loss}");
    }
}

/// Draws data between the public bounds of the examples with elastic certificates, and prints how often a row was exceeded or
/// data were corrected: the numbers of docs/programs.md.
#[test]
#[ignore = "prints a table: cargo test -p conveil-cli --test examples -- --ignored --nocapture exceeded"]
fn how_often_rows_are_exceeded() {
    const DATASETS: u64 = 100;
    println!(
        "example, noise scale, mean loss in %, largest loss in %, not for the data themselves, largest deviation"
    );
    for name in [
        "blending",
        "transport",
        "bus-charging",
        "private-covariance",
    ] {
        let place = directory(&format!("exceeded-{name}"));
        let spec = text(&examples().join(format!("{name}.toml")));
        let file = format!("{name}.json");
        write(&place.join(&file), text(&examples().join(&file)));
        let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
        let mut uniform = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        let (mut losses, mut away, mut failed, mut most) = (Vec::new(), 0, 0, 0.0_f64);
        let mut scale = f64::NAN;
        for _ in 0..DATASETS {
            // `bounds` stand behind `value`: from the end to the start.
            let mut value = 0.0;
            let lines: Vec<String> = spec
                .lines()
                .rev()
                .map(|line| {
                    if let Some(rest) = line.strip_prefix("bounds = [") {
                        let ends: Vec<f64> = rest
                            .split(']')
                            .next()
                            .unwrap_or_default()
                            .split(", ")
                            .filter_map(|end| end.parse().ok())
                            .collect();
                        value = ends[0] + uniform() * (ends[1] - ends[0]);
                    }
                    match line.starts_with("value = ") {
                        true => format!("value = {value:?}"),
                        false => line.into(),
                    }
                })
                .collect();
            let drawn: Vec<String> = lines.into_iter().rev().collect();
            write(&place.join("spec.toml"), drawn.join("\n"));
            let (code, stdout, _) = ended(&place, &["solve", "spec.toml", "--json", "-q"]);
            if code != 0 {
                failed += 1;
                continue;
            }
            let report: Value = serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}"));
            scale = report["scale"].as_f64().unwrap_or(f64::NAN);
            losses.push(report["loss_percent"].as_f64().unwrap_or(f64::NAN));
            let correction = &report["correction"];
            let distance = correction["distance"].as_f64().unwrap_or(0.0);
            let is_away = correction["at_the_data"] == false;
            away += u64::from(is_away);
            most = most.max(if is_away { distance } else { 0.0 });
        }
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        let largest = losses.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        println!(
            "{name}, {scale:.4}, {mean:.3}, {largest:.3}, {away} of {DATASETS}, {most:.3}; no answer {failed}"
        );
    }
}

#[test]
fn every_json_document_says_whether_it_is_private() {
    for name in all() {
        for verb in VERBS {
            let document = json(verb, name);
            assert_eq!(document["private"], Value::Bool(*verb != "check"), "{verb}");
        }
    }
}

#[test]
fn quiet_leaves_results_only() {
    let (code, stdout, stderr) = ended(&examples(), &["solve", "scalar-lp.toml", "--quiet"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(stdout.starts_with("CURATOR REPORT: PRIVATE"));
}

#[test]
fn examples_are_feasible_and_lose_a_few_percent() {
    // Regressions of a few hundred records, in squared residuals: their root mean square grows by less than half.
    const REGRESSIONS: [&str; 2] = ["wind-curve", "heat-demand"];
    for name in all() {
        let report = json("solve", name);
        let loss = report["loss_percent"].as_f64().unwrap_or(f64::NAN);
        let most = match REGRESSIONS.contains(&name) {
            true => 125.0,
            false => 6.0,
        };
        assert!((0.0..most).contains(&loss), "{name} loses {loss}%");
        let certified = report["certified"].as_f64().unwrap_or(f64::NAN);
        let eta = report["budget"]["eta"].as_f64().unwrap_or(f64::NAN);
        assert!(
            certified <= eta * (1.0 + 1e-9),
            "{name}: {certified} of {eta}"
        );
        let explanation = json("explain", name);
        assert_eq!(explanation["feasible"], Value::Bool(true), "{name}");
    }
}

/// M5a: c'x̄ = c'x* − l with the symmetric box of Laplace(s) noise, l = −s·ln(1/η); s = 1.5, η = 1%.
#[test]
fn the_scalar_program_pays_its_box_exactly() {
    let report = json("solve", "scalar-lp");
    let number = |key: &str| report[key].as_f64().unwrap_or(f64::NAN);
    let expected = 1.5 * 100f64.ln();
    assert!((number("optimum") - 150.0).abs() < 1e-6);
    // The lattice widens the box by a few of its steps of 1e-6.
    assert!(
        (number("loss") - expected).abs() < 1e-4,
        "{}",
        number("loss")
    );
    let comparison = json("compare", "scalar-lp");
    let rows = comparison["rows"].as_array().cloned().unwrap_or_default();
    let infeasible = |strategy: &str| {
        let row = rows.iter().find(|row| row["strategy"] == strategy);
        row.and_then(|row| row["infeasible_percent"].as_f64())
            .unwrap_or(f64::NAN)
    };
    // A cost below the optimum is infeasible: half of plain output noise.
    assert!((infeasible("output") - 50.0).abs() < 0.01);
    assert!((infeasible("program") - 0.5).abs() < 0.01);
}

/// A frontier over ε at the spec's own value is the spec's own solve.
#[test]
fn the_frontier_passes_through_the_solve() {
    let report = json("solve", "two-generators");
    let words = [
        "frontier",
        "two-generators.toml",
        "--values",
        "0.5,1",
        "--json",
    ];
    let (code, stdout, stderr) = ended(&examples(), &words);
    assert_eq!(code, 0, "{stderr}");
    let frontier: Value = serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}"));
    let at = |row: usize| frontier["rows"][row]["loss"].as_f64().unwrap_or(f64::NAN);
    let loss = report["loss"].as_f64().unwrap_or(f64::NAN);
    assert!((at(1) - loss).abs() < 1e-6, "{} {loss}", at(1));
    assert!(at(0) > at(1), "less ε, more loss");
}

#[test]
fn seeds_and_draws_of_a_comparison_are_those_asked_for() {
    let draw = |words: &[&str]| {
        let mut all = vec!["compare", "two-generators.toml", "--json", "--quiet"];
        all.extend(words);
        let (code, stdout, stderr) = ended(&examples(), &all);
        assert_eq!(code, 0, "{stderr}");
        stdout
    };
    assert_eq!(draw(&["--seed", "7"]), draw(&["--seed", "7"]));
    assert_ne!(draw(&["--seed", "7"]), draw(&["--seed", "8"]));
    assert!(draw(&["--draws", "50"]).contains("\"draws\": 50"));
}

/// Where a matrix stores this entry.
fn at(matrix: &problem::SavedMatrix, row: usize, column: usize) -> usize {
    let range = matrix.colptr[column]..matrix.colptr[column + 1];
    let found = range.clone().find(|&e| matrix.rowval[e] == row);
    found.unwrap_or_else(|| panic!("no entry at ({row}, {column})"))
}

/// The same spec with other private values, in the spec and in the problem file.
fn with_other_values(name: &str, shift: f64) -> (String, String) {
    let spec_text = text(&examples().join(format!("{name}.toml")));
    let lines = spec_text.lines().map(|line| {
        // Values of parameters stand on lines of their own.
        match line
            .strip_prefix("value = ")
            .and_then(|rest| rest.split(' ').next())
        {
            Some(number) => {
                let value: f64 = number.parse().unwrap_or_else(|e| panic!("{line}: {e}"));
                let rest = &line["value = ".len() + number.len()..];
                format!("value = {:?}{rest}", value + shift)
            }
            None => String::from(line),
        }
    });
    let changed: String = lines.map(|line| line + "\n").collect();
    let spec = spec::read("spec.toml", &spec_text).unwrap_or_else(|e| panic!("{e}"));
    let Some(stated) = spec.model.is::<Conic>() else {
        panic!("{name} has no problem file");
    };
    let problem_text = text(&examples().join(&stated.file.value));
    let mut saved = problem::read("problem.json", &problem_text).unwrap_or_else(|e| panic!("{e}"));
    for entry in stated.parameters.iter().flat_map(|p| &p.at) {
        match entry.value.place {
            Place::B(row) => saved.b[row] += shift * entry.value.coef,
            Place::Q(column) => saved.q[column] += shift * entry.value.coef,
            Place::A(row, column) => {
                let place = at(&saved.a, row, column);
                saved.a.nzval[place] += shift * entry.value.coef;
            }
            Place::P(row, column) => {
                let place = at(&saved.p, row, column);
                saved.p.nzval[place] += shift * entry.value.coef;
            }
        }
    }
    (changed, problem::to_json(&saved))
}

#[test]
fn check_is_the_same_whatever_the_private_values() {
    for name in EXAMPLES {
        let place = directory(&format!("check-{name}"));
        let spec_text = text(&examples().join(format!("{name}.toml")));
        let file = format!("{name}.json");
        let mut seen = Vec::new();
        let mut solved = Vec::new();
        for shift in [None, Some(0.125), Some(-0.0625)] {
            let (spec_text, problem_text) = match shift {
                None => (spec_text.clone(), text(&examples().join(&file))),
                Some(shift) => with_other_values(name, shift),
            };
            write(&place.join("spec.toml"), spec_text);
            write(&place.join(&file), problem_text);
            let plain = ended(&place, &["check", "spec.toml"]);
            let document = ended(&place, &["check", "spec.toml", "--json"]);
            assert_eq!((plain.0, document.0), (0, 0), "{name}: {}", plain.2);
            seen.push((plain, document));
            let (code, stdout, _) = ended(&place, &["solve", "spec.toml", "--json"]);
            assert_eq!(code, 0, "{name} {shift:?}");
            let report: Value = serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}"));
            solved.push(report["optimum"].to_string());
        }
        assert_eq!(seen[0], seen[1], "{name}");
        assert_eq!(seen[0], seen[2], "{name}");
        // The values did change: the curator sees another optimum.
        assert_ne!(solved[0], solved[1], "{name}");
        assert_ne!(solved[0], solved[2], "{name}");
    }
}

/// The same demands, a little more or less of each.
fn with_other_demands(csv: &str, factor: f64) -> String {
    let by_bus = csv.starts_with("bus,");
    let mut lines = csv.lines();
    let mut changed = format!("{}\n", lines.next().unwrap_or_default());
    for line in lines {
        let fields = line.split(',').enumerate().map(|(k, field)| {
            if by_bus && k == 0 {
                return field.to_string();
            }
            let value: f64 = field.parse().unwrap_or_else(|e| panic!("{line}: {e}"));
            format!("{}", factor * value)
        });
        changed += &(fields.collect::<Vec<_>>().join(",") + "\n");
    }
    changed
}

#[test]
fn check_is_the_same_whatever_the_private_demands() {
    for name in GRID_EXAMPLES {
        let place = directory(&format!("check-{name}"));
        let (spec, csv) = (format!("{name}.toml"), format!("{name}.csv"));
        write(&place.join(&spec), text(&examples().join(&spec)));
        let demands = text(&examples().join(&csv));
        let series = format!("{demands}{}", demands.lines().last().unwrap_or_default());
        let mut seen = Vec::new();
        for changed in [
            Some(demands.clone()),
            Some(with_other_demands(&demands, 1.01)),
            Some(series),
            Some("not a demand".into()),
            None,
        ] {
            let file = place.join(&csv);
            match changed {
                Some(changed) => write(&file, changed),
                None => std::fs::remove_file(&file).unwrap_or_else(|e| panic!("{e}")),
            }
            let plain = ended(&place, &["check", &spec]);
            let document = ended(&place, &["check", &spec, "--json"]);
            assert_eq!((plain.0, document.0), (0, 0), "{name}: {}", plain.2);
            seen.push((plain, document));
        }
        assert!(seen.iter().all(|check| *check == seen[0]), "{name}");
    }
}

/// A private number of A, with the file's own number there: one road through the file, one through the spec.
#[test]
fn a_value_and_the_files_number_are_the_same_parameter() {
    let place = directory("value-or-file");
    // min 1.5x, 0.5·g·x ≥ 100 − 20 = 80 with the private gain g = (A[0, 0] − 0.25)/(−0.5): A[0, 0] = −1.
    let spec_text = text(&examples().join("scalar-lp.toml"));
    let (head, tail) = (
        spec_text.find("[[private.parameter]]"),
        spec_text.find("[query]"),
    );
    let (Some(head), Some(tail)) = (head, tail) else {
        panic!("{spec_text}");
    };
    let with = |parameter: &str| format!("{}{parameter}{}", &spec_text[..head], &spec_text[tail..]);
    let place_of_a = "at = [{ in = \"A\", row = 0, column = 0, coef = -0.5, offset = 0.25 }]";
    let cases = [
        with(&format!(
            "[[private.parameter]]\nname = \"g\"\n{place_of_a}\n"
        )),
        with(&format!(
            "[[private.parameter]]\nname = \"g\"\nvalue = 2.5\n{place_of_a}\n"
        )),
    ];
    let mut optima = Vec::new();
    for case in cases {
        write(&place.join("spec.toml"), case);
        write(
            &place.join("scalar-lp.json"),
            text(&examples().join("scalar-lp.json")),
        );
        let (code, stdout, stderr) = ended(&place, &["solve", "spec.toml", "--json", "-q"]);
        assert_eq!(code, 0, "{stderr}");
        let report: Value = serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}"));
        optima.push(report["optimum"].as_f64().unwrap_or(f64::NAN));
    }
    assert!((optima[0] - 150.0).abs() < 1e-6, "{optima:?}");
    assert!((optima[1] - 150.0).abs() < 1e-6, "{optima:?}");
}
