//! Every example runs, and what it claims holds: each asserts its own claims.
#![allow(dead_code)]

#[path = "../examples/clarabel_json.rs"]
mod clarabel_json;
#[path = "../examples/least_squares.rs"]
mod least_squares;
#[path = "../examples/scalar_lp.rs"]
mod scalar_lp;
#[path = "../examples/sdp_sum.rs"]
mod sdp_sum;
#[path = "../examples/socp_sum.rs"]
mod socp_sum;
#[path = "../examples/two_densities.rs"]
mod two_densities;

use conveil::Result;

#[test]
fn scalar_lp_runs() -> Result<()> {
    scalar_lp::main()
}

#[test]
fn least_squares_runs() -> Result<()> {
    least_squares::main()
}

#[test]
fn socp_sum_runs() -> Result<()> {
    socp_sum::main()
}

#[test]
fn two_densities_runs() -> Result<()> {
    two_densities::main()
}

#[test]
fn sdp_sum_runs() -> Result<()> {
    sdp_sum::main()
}

#[test]
fn clarabel_json_runs() -> Result<()> {
    clarabel_json::main()
}

#[test]
fn every_example_is_run_here() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mine = include_str!("examples_run.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(stem) = name.strip_suffix(".rs") {
            assert!(
                mine.contains(&format!("{stem}::main()")),
                "{name} has no test here"
            );
        }
    }
}
