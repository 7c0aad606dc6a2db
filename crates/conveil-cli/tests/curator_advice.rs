//! What would help where noise decides: it follows from what sets the noise, and is said in numbers a person can read.

mod running;

use running::regression::{RECORDS, SPEC, placed};
use running::{directory, ended, examples, text, write};

const DECLARED: &str =
    "sensitivity = { by = \"declared\", value = 5.0, reason = \"for the test\" }";
const SAMPLED: &str = "sensitivity = { by = \"sampled\", gamma = 0.2, beta = 0.2 }";

const SAID_OF_DECLARED: &str = ". The declared sensitivity sets the noise, whatever the number of records: a smaller one needs a reason of its own, and a larger ε lowers the noise. Choosing either by looking at these data is not covered by the guarantee\n";
const SAID_OF_SAMPLED: &str = ". The sampled sensitivity sets the noise: what more records would make of it, only sampling again can tell, and a larger ε lowers the noise. Choosing them by looking at these data is not covered by the guarantee\n";

/// Words that are true of a certificate alone.
const OF_A_CERTIFICATE: [&str; 3] = ["records of the same kind", "More records", "a larger λ"];

#[test]
fn more_records_are_advised_only_where_the_noise_follows_from_their_number() {
    for (name, sensitivity, expected) in [
        ("declared", DECLARED, SAID_OF_DECLARED),
        ("sampled", SAMPLED, SAID_OF_SAMPLED),
    ] {
        let spec = SPEC
            .replace("delta = 1e-6", &format!("delta = 1e-6\n{sensitivity}"))
            .replace("eta = 0.05", "strategy = \"projected\"");
        let place = placed(&format!("advice-{name}"), &spec, RECORDS);
        let (code, _, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
        assert_eq!(code, 0, "{stderr}");
        let projected = " before the projection, more than the double";
        for said in ["privacy brings", projected, expected] {
            assert!(stderr.contains(said), "{name}: {stderr}");
        }
        for word in OF_A_CERTIFICATE {
            assert!(!stderr.contains(word), "{name}: {stderr}");
        }
    }
}

/// The machines of the examples, with this after their δ.
fn machines(name: &str, epsilon: &str, sensitivity: &str) -> (i32, String, String) {
    let place = directory(&format!("advice-machines-{name}"));
    let spec = text(&examples().join("svm-machines.toml"))
        .replace("epsilon = 1.0", &format!("epsilon = {epsilon}"))
        .replace("delta = 1e-4", &format!("delta = 1e-4\n{sensitivity}"));
    write(&place.join("spec.toml"), spec);
    for file in ["svm-machines.csv", "svm-machines-test.csv"] {
        write(&place.join(file), text(&examples().join(file)));
    }
    ended(&place, &["solve", "spec.toml", "-q"])
}

#[test]
fn a_declared_sensitivity_of_a_classifier_gets_no_advice_about_records() {
    let (code, _, stderr) = machines("declared", "1.0", DECLARED);
    assert_eq!(code, 0, "{stderr}");
    for said in [
        " times as long as the hyperplane: it decides, not the data. The",
        SAID_OF_DECLARED,
    ] {
        assert!(stderr.contains(said), "{stderr}");
    }
    for word in OF_A_CERTIFICATE {
        assert!(!stderr.contains(word), "{stderr}");
    }
    // Certified, they are what helps.
    let (code, _, stderr) = machines("certified", "0.01", "");
    assert_eq!(code, 0, "{stderr}");
    for word in ["records of the same kind would bring it to 1", "a larger λ"] {
        assert!(stderr.contains(word), "{stderr}");
    }
}

/// Whether there are twenty digits in a row.
fn is_endless(text: &str) -> bool {
    let digit = |c: &char| c.is_ascii_digit();
    let mut runs = text.split(|c: char| !digit(&c));
    runs.any(|run| run.len() >= 20)
}

#[test]
fn numbers_that_nobody_can_count_are_in_powers_of_ten() {
    let spec = SPEC
        .replace("[0.0, 1.0]", "[0.0, 1e99]")
        .replace("kind = \"one-entry\", alpha = 0.5", "kind = \"one-record\"")
        .replace("eta = 0.05", "strategy = \"projected\"");
    let place = placed("advice-wide", &spec, RECORDS);
    let (code, check, stderr) = ended(&place, &["check", "spec.toml", "-q", "--details"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        check.contains("clipped to [0, 1e99] before the fit"),
        "{check}"
    );
    assert!(!is_endless(&check), "{check}");
    let (code, _, stderr) = ended(&place, &["solve", "spec.toml", "-q"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(!is_endless(&stderr), "{stderr}");
    let about = stderr.split("About ").nth(1).expect("advice");
    let (records, _) = about.split_once(" records of the same kind").unwrap();
    assert!(records.parse::<f64>().unwrap() > 1e90, "{records}");
    assert!(records.len() < 10, "{records}");
}

/// The margins of a classifier all have the price 1/N, which explains nothing.
#[test]
fn an_explanation_of_a_classifier_lists_no_prices() {
    let place = directory("advice-explained");
    for file in [
        "svm-machines.toml",
        "svm-machines.csv",
        "svm-machines-test.csv",
    ] {
        write(&place.join(file), text(&examples().join(file)));
    }
    let (code, stdout, stderr) = ended(&place, &["explain", "svm-machines.toml", "-q"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stdout.contains("feasible as asked\nfeasible at any ε and η"),
        "{stdout}"
    );
    assert!(!stdout.contains("prices"), "{stdout}");
}
