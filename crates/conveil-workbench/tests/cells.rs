//! Audits, measurements and frontiers in cells: the same as in one go, and of no other request.

use conveil::audit::Probed;
use conveil::curator::Axis;
use conveil_workbench::{Cells, Failure, Kind, Probe, Silent, Sweep, Text, Workbench};

const SPEC: &str = include_str!("../../../examples/specs/mean-variance.toml");
const RETURNS: &str = include_str!("../../../examples/specs/mean-variance.csv");

fn bench() -> Workbench {
    let (name, text) = ("plan", SPEC);
    Workbench::from_files(Text { name, text }, &[]).unwrap()
}

fn probe(pairs: u64, seed: u64) -> Probe {
    Probe {
        pairs,
        seed: Some(seed),
        solves: 150,
        ..Probe::default()
    }
}

/// The cells of a map: blocks and search.
fn computed(bench: &Workbench, probe: &Probe, map: Probed) -> (Vec<String>, String) {
    let blocks = bench.blocks(probe);
    let blocks: Result<Vec<String>, Failure> = (blocks.into_iter())
        // Whoever computes them may do so in any order.
        .rev()
        .map(|block| bench.sampled_cell(probe, map, block, &Silent))
        .collect();
    let mut blocks = blocks.unwrap();
    blocks.reverse();
    let search = bench.search_cell(probe, map, &blocks, &Silent).unwrap();
    (blocks, search)
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

#[test]
fn an_audit_in_cells_is_the_audit_in_one_go() {
    let bench = bench();
    for (pairs, count) in [(20, 1), (60, 3)] {
        let probe = probe(pairs, 5);
        let (blocks, search) = computed(&bench, &probe, Probed::Released);
        assert_eq!(blocks.len(), count);
        let cells = Cells {
            blocks: &blocks,
            search: &search,
        };
        let whole = bench.audit(&probe, None, &Silent).unwrap();
        let joined = bench.audit_of(&probe, cells, None, &Silent).unwrap();
        assert_eq!(json(&joined), json(&whole));
        assert_eq!(joined.to_string(), whole.to_string());
        assert_eq!(joined.verdict.is_ok(), whole.verdict.is_ok());
    }
}

#[test]
fn a_measurement_in_cells_is_the_measurement_in_one_go() {
    let (bench, probe) = (bench(), probe(60, 5));
    let both = [Probed::Released, Probed::WithoutNoise].map(|map| computed(&bench, &probe, map));
    let [released, without_noise] =
        [&both[0], &both[1]].map(|(blocks, search)| Cells { blocks, search });
    let whole = bench.sensitivity(&probe, &Silent).unwrap();
    let joined = bench
        .sensitivity_of(&probe, released, without_noise, &Silent)
        .unwrap();
    assert_eq!(json(&joined), json(&whole));
    // The cells of one map are not those of the other.
    let swapped = bench.sensitivity_of(&probe, without_noise, released, &Silent);
    assert!(
        swapped
            .unwrap_err()
            .to_string()
            .contains("of another audit")
    );
}

#[test]
fn cells_that_are_missing_twice_damaged_or_of_another_audit_make_no_report() {
    let bench = bench();
    let asked = probe(60, 5);
    let (blocks, search) = computed(&bench, &asked, Probed::Released);
    let refused = |blocks: &[String], search: &str| {
        let cells = Cells { blocks, search };
        let failure = bench.audit_of(&asked, cells, None, &Silent).unwrap_err();
        assert_eq!(failure.kind(), Kind::Input);
        failure.to_string()
    };
    assert!(refused(&blocks[..2], &search).contains("50 of the 60 pairs"));
    let [a, b, c] = [0, 1, 2].map(|i| blocks[i].clone());
    assert!(refused(&[a.clone(), c.clone(), b.clone()], &search).contains("pair 25 was expected"));
    assert!(refused(&[a.clone(), a.clone(), b.clone(), c.clone()], &search).contains("expected"));
    assert!(refused(&[a[1..].to_string(), b, c], &search).contains("cannot be read"));
    let (other, found) = computed(&bench, &probe(60, 6), Probed::Released);
    assert!(refused(&other, &search).contains("of another audit"));
    assert!(refused(&blocks, &found).contains("of another audit"));
    // A pair of datasets of another size.
    let cut = search.replacen("\"pair\":[[", "\"pair\":[[0.5,", 1);
    assert_ne!(cut, search);
    assert!(refused(&blocks, &cut).contains("of another audit"));
    let block = bench.sampled_cell(&asked, Probed::Released, (50, 61), &Silent);
    assert!(block.unwrap_err().to_string().contains("pairs 0 to 60"));
}

#[test]
fn a_frontier_in_cells_is_the_frontier_in_one_go() {
    let (name, text) = ("mean-variance.csv", RETURNS);
    let bench = bench().with_private(&[Text { name, text }]).unwrap();
    let sweep = |over, values| Sweep {
        row: None,
        over,
        values,
    };
    let whole = bench
        .frontier(&sweep(Axis::Epsilon, None), &Silent)
        .unwrap();
    let values = bench.frontier_values(&sweep(Axis::Epsilon, None)).unwrap();
    let cell = |over, value: f64| {
        let cell = bench.frontier_cell(&sweep(over, Some(vec![value])), &Silent);
        cell.unwrap()
    };
    let cells: Vec<String> = values.iter().map(|v| cell(Axis::Epsilon, *v)).collect();
    let joined = bench.frontier_of(&cells).unwrap();
    assert_eq!(json(&joined), json(&whole));
    assert_eq!(joined.to_string(), whole.to_string());
    let mixed = [cells[0].clone(), cell(Axis::Eta, 0.1)];
    assert!(bench.frontier_of(&mixed).is_err());
    assert!(bench.frontier_of(&[]).is_err());
}
