//! Table 3, on small datasets by default and in full with `CONVEIL_FULL=1`.

use conveil::solve::Batch;
use conveil_grid::Network;
use conveil_studies::classifier::{self, Examples, Mode, Row, Settings, Source, Table};
use conveil_studies::paper;

fn small() -> Settings {
    Settings {
        infeasible_shares: vec![0.5],
        records: 600,
        test_records: 200,
        lambdas: vec![1e-4],
        draws: 400,
        pairs: 6,
        search: 6,
        ..Settings::default()
    }
}

fn network(name: &str) -> Source {
    Source::Network(Network::builtin(name).unwrap())
}

/// Output perturbation far behind on every balanced dataset; the spread falls with η.
fn program_beats_output(table: &Table) {
    let balanced = || table.rows.iter().filter(|r| r.balanced);
    let paper = || balanced().filter(|r| r.mode == Mode::Paper);
    let outputs: Vec<&Row> = paper().filter(|r| r.strategy == "output").collect();
    assert!(!outputs.is_empty());
    for output in outputs {
        let own = paper().filter(|r| r.dataset == output.dataset && r.strategy == "program");
        let programs: Vec<&Row> = own.collect();
        assert_eq!(programs.len(), 3);
        for program in &programs {
            assert_eq!(program.status, "ok");
            let gain = program.accuracy_mean.unwrap() - output.accuracy_mean.unwrap();
            assert!(gain >= 10.0, "{}: {gain}", program.dataset);
            // The same classic σ: the paper's noise is for the map without noise.
            assert!((program.scale.unwrap() / output.scale.unwrap() - 1.0).abs() < 1e-4);
        }
        for pair in programs.windows(2) {
            assert!(pair[1].eta < pair[0].eta);
            assert!(pair[1].accuracy_std < pair[0].accuracy_std, "{pair:?}");
        }
    }
}

#[test]
fn on_balanced_demands_program_beats_output_as_published() {
    let table = classifier::run(&[network("5_pjm")], &small(), &Batch::new()).unwrap();
    program_beats_output(&table);
    let modes: Vec<Mode> = table.rows.iter().map(|r| r.mode).collect();
    for mode in [Mode::Calibrated, Mode::Certified] {
        assert_eq!(modes.iter().filter(|m| **m == mode).count(), 3);
    }
    for row in &table.rows {
        assert_eq!((row.features, row.records), (3, 600));
        assert!((row.infeasible_percent - 50.0).abs() < 5.0);
        assert!(row.majority >= 50.0 && row.majority < 60.0);
        if row.strategy != "non-private" {
            assert_eq!(row.claimed_delta, Some(1.0 / 600.0));
        }
        if row.mode == Mode::Certified && row.strategy != "non-private" {
            assert_eq!(row.audited.unwrap().share_within, 1.0);
        }
    }
    let text = table.to_string();
    assert!(text.contains("nothing is released") && text.contains("major"));
    assert!(!table.figure().to_svg().contains("NaN"));
}

/// Points left and right of a line that does not pass through the middle.
fn own(count: usize) -> Examples {
    let mut sampler = conveil::noise::Sampler::new(4, 0);
    let features: Vec<Vec<f64>> = (0..count)
        .map(|_| vec![10.0 * sampler.uniform(), 3.0 + sampler.uniform()])
        .collect();
    Examples {
        labels: features.iter().map(|x| x[0] + x[1] > 9.0).collect(),
        features,
    }
}

fn own_source(training: Examples, test: Examples) -> Source {
    Source::Records {
        name: "mine".into(),
        features: vec!["a".into(), "b".into()],
        bounds: None,
        training,
        test,
    }
}

#[test]
fn a_users_own_records_run_through_the_same_study() {
    let table =
        classifier::run(&[own_source(own(300), own(100))], &small(), &Batch::new()).unwrap();
    assert!(table.rows.iter().all(|r| r.dataset == "mine" && r.balanced));
    let of = |mode: Mode, strategy: &str| {
        let mut rows = table.rows.iter();
        rows.find(|r| r.mode == mode && r.strategy == strategy)
            .unwrap()
            .clone()
    };
    assert!(of(Mode::Paper, "non-private").accuracy_mean.unwrap() > 90.0);
    let program = of(Mode::Paper, "program");
    assert!(program.accuracy_mean > of(Mode::Paper, "output").accuracy_mean);
    assert!(program.paper_accuracy.is_none());
}

#[test]
fn records_that_teach_nothing_are_refused() {
    let refused = |training: Examples| {
        let source = own_source(training, own(50));
        let run = classifier::run(&[source], &small(), &Batch::new());
        run.unwrap_err().to_string()
    };
    let mut one_class = own(50);
    one_class.labels.fill(true);
    assert_eq!(
        refused(one_class),
        "mine: the training records are of one class only"
    );
    let mut constant = own(50);
    constant.features.iter_mut().for_each(|x| x[1] = 2.5);
    assert_eq!(
        refused(constant),
        "mine: `b` is 2.5 in every training record: leave it out"
    );
}

#[test]
fn table_3_is_typed_as_printed() {
    assert_eq!(
        paper::table_3("89_pegase", 0.505, "program", Some(1e-4)),
        Some((77.1, 4.2))
    );
    assert_eq!(
        paper::table_3("5_pjm", 0.043, "output", None),
        Some((79.7, 22.5))
    );
    assert_eq!(paper::table_3("5_pjm", 0.35, "output", None), None);
}

#[test]
fn table_3_in_full() {
    if std::env::var_os("CONVEIL_FULL").is_none() {
        return;
    }
    let networks = paper::TABLE_3_NETWORKS.map(network);
    let table = classifier::run(&networks, &Settings::default(), &Batch::new()).unwrap();
    program_beats_output(&table);
}
