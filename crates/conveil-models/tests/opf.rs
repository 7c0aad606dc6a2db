//! The optimal power flow against the losses of the paper's table.

mod asking;

use asking::declared;
use conveil::Error;
use conveil::plan::Plan;
use conveil::program::DataMap;
use conveil::solve::{Settings, solve_checked};
use conveil_grid::Network;
use conveil_models::grid::Opf;

fn opf(name: &str) -> Opf {
    Opf::of(Network::builtin(name).unwrap()).build().unwrap()
}

fn optimum(opf: &Opf) -> f64 {
    let program = opf.at(&opf.nominal()).unwrap();
    solve_checked(&program, &Settings::default())
        .unwrap()
        .objective
}

#[test]
fn losses_of_the_symmetric_box_are_the_printed_ones() {
    let table = [
        ("5_pjm", [Some(1.05), Some(3.16), Some(10.54)]),
        ("24_ieee_rts", [Some(1.25), Some(3.76), Some(12.54)]),
        ("14_ieee", [Some(5.22), Some(15.67), None]),
    ];
    for (name, losses) in table {
        let opf = opf(name);
        for (alpha, right) in [1.0, 3.0, 10.0].into_iter().zip(losses) {
            let plan = Plan::new(&opf, declared(&opf, alpha)).unwrap();
            let decided = plan.released().at(&opf.nominal());
            match (decided, right) {
                (Ok(decided), Some(right)) => {
                    let loss = 100.0 * (decided.answer[0] / optimum(&opf) - 1.0);
                    println!("{name} α = {alpha}: {loss:.3}% against {right}%");
                    assert!(
                        (loss - right).abs() <= 0.005 * right,
                        "{name} {alpha}: {loss}"
                    );
                }
                (Err(Error::NoiseDoesNotFit(_)), None) => {}
                (found, right) => panic!("{name} {alpha}: {found:?} against {right:?}"),
            }
        }
    }
}
