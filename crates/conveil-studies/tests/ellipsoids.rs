//! The study of ellipsoids: what is promised is kept, by 10⁵ draws, on every case that is feasible.

use conveil::noise::clopper_pearson;
use conveil::solve::Batch;
use conveil_models::ellipsoid::builtin;
use conveil_studies::ellipsoid::{Settings, run};

/// The long cases run with `CONVEIL_FULL=1` only.
fn is_full() -> bool {
    std::env::var_os("CONVEIL_FULL").is_some_and(|v| v == "1")
}

#[test]
fn program_perturbation_keeps_its_promise_and_output_perturbation_does_not() {
    let settings = Settings::default();
    assert_eq!(settings.draws, 100_000);
    let polytopes = builtin();
    let count = if is_full() { 2 } else { 1 };
    let table = run(&polytopes[..count], &settings, &Batch::new()).expect("the study");
    assert_eq!(table.rows.len(), count * 2 * 4);
    let mut feasible = 0;
    for row in &table.rows {
        let Some(kept) = row.kept_percent else {
            assert_eq!(row.status, "infeasible", "{row:?}");
            continue;
        };
        let kept = (kept / 100.0 * row.draws as f64).round() as u64;
        // One-sided binomial test at 1e-6.
        let (low, high) = clopper_pearson(kept, row.draws, 2e-6).expect("an interval");
        match row.strategy {
            "program" => {
                feasible += 1;
                assert!(high >= 1.0 - settings.eta, "{row:?}");
                assert!(row.volume_percent.is_some_and(|v| v < 100.0));
            }
            _ => assert!(low < 0.2, "{row:?}"),
        }
        assert!(row.inside_percent >= row.kept_percent);
    }
    assert!(feasible >= 3, "{feasible}");
    // Where the noise does not fit, in either mode, the study says what would.
    for row in table.rows.iter().filter(|r| r.status == "infeasible") {
        let largest = row.largest_universe_percent.expect("a universe");
        assert!(largest < row.universe_percent, "{row:?}");
    }
    let svg = table.figure().to_svg();
    assert!(
        svg.contains("#009e73") && svg.contains("#d55e00"),
        "green and red"
    );
}

#[test]
fn settings_out_of_range_are_refused() {
    let refused = |settings: Settings| {
        run(&builtin(), &settings, &Batch::new())
            .unwrap_err()
            .to_string()
    };
    let settings = Settings {
        universes_percent: vec![0.0],
        ..Settings::default()
    };
    assert_eq!(
        refused(settings),
        "the universe in percent must lie strictly between 0 and 100, found 0"
    );
    let settings = Settings {
        eta: 0.5,
        ..Settings::default()
    };
    assert_eq!(
        refused(settings),
        "η must lie strictly between 0 and 0.5, found 0.5"
    );
    let settings = Settings {
        draws: 0,
        ..Settings::default()
    };
    assert_eq!(refused(settings), "the study needs at least one draw");
}
