//! Section 4.2.1: what the paper's calibration is worth, and what honest noise costs.

use conveil::noise::binomial_upper_pvalue;
use conveil::solve::Batch;
use conveil_studies::svm::{self, Mode, Settings, Table};

fn table(mode: Mode, lambdas: &[f64]) -> Table {
    let settings = Settings {
        modes: vec![mode],
        lambdas: lambdas.to_vec(),
        lambda_grid: vec![1e-3, 1e-1, 0.3],
        draws: 400,
        pairs: 150,
        search: 60,
        ..Settings::default()
    };
    svm::run(&settings, &Batch::new()).unwrap()
}

#[test]
fn the_papers_noise_hides_far_less_than_it_claims() {
    let table = table(Mode::Paper, &[1e-5]);
    let output = table.row(Mode::Paper, 1e-5, "output").unwrap();
    let program = table.row(Mode::Paper, 1e-5, "program").unwrap();
    let exact = table.row(Mode::Paper, 1e-5, "non-private").unwrap();
    let audited = program.audited.unwrap();
    assert_eq!(program.claimed_epsilon, Some(1.0));
    assert!(audited.audited_epsilon > 3.0, "{audited:?}");
    assert!(audited.share_within < 0.9, "{audited:?}");
    assert!(audited.worst_epsilon > Some(audited.audited_epsilon));
    // The same noise as for output perturbation, whose map does move that little.
    assert!((program.scale.unwrap() / output.scale.unwrap() - 1.0).abs() < 1e-4);
    assert!(output.audited.unwrap().share_within > 0.9);
    // Section 4.2.1: a classifier that guesses, and one whose weights are two orders of magnitude larger.
    let accuracy = |row: &svm::Row| row.accuracy_mean.unwrap();
    assert!(accuracy(exact) > 99.0);
    assert!(accuracy(output) < 65.0);
    assert!(accuracy(program) > 95.0);
    let first = |row: &svm::Row| row.weights.as_ref().unwrap()[0].abs();
    let larger = first(program) / first(exact);
    assert!((30.0..300.0).contains(&larger), "{larger}");
}

#[test]
fn calibrated_noise_keeps_its_claim_on_fresh_pairs() {
    let table = table(Mode::Calibrated, &[1e-3]);
    let row = |strategy: &str| table.row(Mode::Calibrated, 1e-3, strategy).unwrap();
    for strategy in ["output", "program"] {
        let audited = row(strategy).audited.unwrap();
        assert!(audited.audited_epsilon <= 1.0, "{strategy}: {audited:?}");
        // At most a share γ of pairs is outside; false alarms at a rate of 1e-6.
        let outside = ((1.0 - audited.share_within) * audited.pairs as f64).round() as u64;
        let p_value = binomial_upper_pvalue(outside, audited.pairs, 0.1).unwrap();
        assert!(p_value > 1e-6, "{strategy}: {outside} of {}", audited.pairs);
    }
    let accuracy = |strategy: &str| row(strategy).accuracy_mean.unwrap();
    assert!(accuracy("program") > accuracy("output") + 5.0);
    // Half of that noise is noticed: the released map moves more than it covers.
    let program = row("program").audited.unwrap();
    assert!(2.0 * program.audited_epsilon > 1.0, "{program:?}");
    // Whoever wins, the honest baseline stands there.
    let best = table.best_output(Mode::Calibrated).unwrap();
    assert_eq!(best.status, "ok");
    assert!(best.lambda > 1e-3);
    assert!(best.accuracy_mean.unwrap() > 95.0);
}

#[test]
fn the_certificate_holds_for_every_pair_found() {
    let table = table(Mode::Certified, &[1e-1]);
    for row in table.rows.iter().filter(|r| r.strategy != "non-private") {
        let audited = row.audited.unwrap();
        assert_eq!(audited.share_within, 1.0, "{row:?}");
        assert!(audited.worst_epsilon.unwrap() <= 1.0, "{row:?}");
    }
    let scale = |strategy: &str| {
        let row = table.row(Mode::Certified, 1e-1, strategy).unwrap();
        row.scale.unwrap()
    };
    // One bound for both: R·√3/(λN) with R = √3, and the solver's tolerance.
    assert!((scale("output") - 0.3).abs() < 0.01);
    assert!((scale("output") - scale("program")).abs() < 1e-4);
}

#[test]
fn the_table_and_its_figure_show_every_mode() {
    let table = table(Mode::Paper, &[1e-5]);
    let text = table.to_string();
    for word in [
        "nothing is released",
        "output at its best public λ",
        "audited",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let figure = table.figure().to_svg();
    assert!(!figure.contains("NaN"));
    let json = serde_json::to_value(&table).unwrap();
    let row = &json["rows"][2];
    assert_eq!(row["strategy"], "program");
    assert_eq!(
        (&row["mode"], &row["status"]),
        (&"paper".into(), &"ok".into())
    );
    assert!(row["audited_epsilon"].as_f64().unwrap() > 3.0);
    assert_eq!(row["paper_accuracy"][0], 97.6);
}

#[test]
fn senseless_settings_are_refused() {
    let refused = |settings: Settings| svm::run(&settings, &Batch::new()).unwrap_err().to_string();
    assert_eq!(
        refused(Settings {
            lambdas: vec![0.0],
            ..Settings::default()
        }),
        "λ must be positive and finite, found 0"
    );
    assert_eq!(
        refused(Settings {
            gamma: 1.0,
            ..Settings::default()
        }),
        "γ must lie strictly between 0 and 1, found 1"
    );
}
