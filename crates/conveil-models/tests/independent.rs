//! The optimum without noise against an independent solution: SciPy on PGLib's own files, in full mode.

use conveil::program::DataMap;
use conveil::solve::{Settings, solve_checked};
use conveil_grid::{Network, builtin};
use conveil_models::grid::Opf;
use std::path::PathBuf;
use std::process::Command;

#[test]
fn optima_are_those_of_an_independent_solver() {
    let found = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let (Some(cases), Some(python)) = (found("CONVEIL_PGLIB"), found("CONVEIL_PYTHON")) else {
        let full = std::env::var_os("CONVEIL_FULL").is_some();
        assert!(
            !full,
            "CONVEIL_PGLIB and CONVEIL_PYTHON must name the cases and a Python with SciPy"
        );
        println!("without CONVEIL_PGLIB and CONVEIL_PYTHON there is nothing to compare with");
        return;
    };
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/independent.py");
    let names: Vec<&str> = builtin::names().collect();
    let files = names
        .iter()
        .map(|name| cases.join(format!("pglib_opf_case{name}.m")));
    let output = Command::new(python)
        .arg(script)
        .args(files)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let independent: Vec<f64> = text.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(independent.len(), names.len());
    for (name, right) in names.iter().zip(independent) {
        let opf = Opf::of(Network::builtin(name).unwrap()).build().unwrap();
        let program = opf.at(&opf.nominal()).unwrap();
        let own = solve_checked(&program, &Settings::default())
            .unwrap()
            .objective;
        println!("{name}: {own:.6} against {right:.6}");
        assert!(
            (own - right).abs() <= 1e-6 * right.abs(),
            "{name}: {own} {right}"
        );
    }
}
