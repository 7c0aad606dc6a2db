//! Figures 1 and 2: what an observer finds, and what a neighbour changes. The pictures in docs/figures are those drawn here.

use conveil::solve::Batch;
use conveil_studies::{example, leakage};

/// The picture of the documentation; `CONVEIL_GOLDEN=write` writes it anew.
fn is_the_documented(name: &str, svg: &str) {
    let path = format!(
        "{}/../../docs/figures/{name}.svg",
        env!("CARGO_MANIFEST_DIR")
    );
    if std::env::var("CONVEIL_GOLDEN").is_ok_and(|word| word == "write") {
        std::fs::write(&path, svg).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(
        kept == svg,
        "docs/figures/{name}.svg is not what the study draws"
    );
}

#[test]
fn an_observer_finds_every_datum_from_the_exact_answer() {
    for shift in [0.5, 2.0] {
        let table = leakage::run(&leakage::Settings { shift }, &Batch::new()).unwrap();
        assert_eq!(table.rows.len(), 3);
        for row in &table.rows {
            let missed = (row.found - row.value).abs();
            assert!(
                missed < 1e-4,
                "{}: {} for {}",
                row.problem,
                row.found,
                row.value
            );
            let each = row.exact.iter().zip(&row.neighbour_exact);
            let moved = each.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(moved > 0.05 * shift, "{}: {moved}", row.problem);
        }
        // The demand in closed form: 6 units at 1, the rest at 2.
        assert!((table.rows[0].exact[0] - 12.0).abs() < 1e-6);
        assert!((table.rows[0].neighbour_exact[0] - 12.0 - 2.0 * shift).abs() < 1e-6);
    }
    let far = leakage::Settings { shift: 6.0 };
    assert!(leakage::run(&far, &Batch::new()).is_err());
}

#[test]
fn both_strategies_lose_the_same_privacy_and_one_of_them_stays_feasible() {
    let settings = example::Settings::default();
    let table = example::run(&settings, &Batch::new()).unwrap();
    let [output, _, program, neighbour] = table.rows.as_slice() else {
        panic!("two strategies at two limits");
    };
    for row in &table.rows {
        assert!(
            (row.privacy_loss - settings.epsilon).abs() < 1e-6,
            "{row:?}"
        );
    }
    // Half below the limit, and e^{−7}/2 beyond the upper one.
    let right = 50.0 + 50.0 * (-7f64).exp();
    assert!((output.infeasible_percent - right).abs() < 1e-4);
    for row in [program, neighbour] {
        assert!(row.infeasible_percent <= 100.0 * settings.eta, "{row:?}");
        // A mass box leaves ln(1/η) scales to the lower limit.
        assert!((row.mean - row.limit - 20f64.ln()).abs() < 1e-4, "{row:?}");
    }
}

#[test]
fn the_documentation_shows_what_the_studies_draw() {
    let table = leakage::run(&leakage::Settings::default(), &Batch::new()).unwrap();
    is_the_documented("leakage", &table.figure().to_svg());
    let table = example::run(&example::Settings::default(), &Batch::new()).unwrap();
    is_the_documented("example2", &table.figure().to_svg());
}
