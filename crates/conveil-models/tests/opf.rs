//! The optimal power flow against printed numbers, itself in another form, and its own promises.

use conveil::Error;
use conveil::ask::{Adjacency, Ask, Bound, Privacy, Request};
use conveil::plan::Plan;
use conveil::program::DataMap;
use conveil::solve::{Settings, solve_checked};
use conveil_grid::{Network, builtin};
use conveil_models::grid::{Form, Opf};

fn opf(name: &str) -> Opf {
    Opf::of(Network::builtin(name).unwrap()).build().unwrap()
}

fn declared(opf: &Opf, alpha: f64) -> Ask {
    Ask::cost()
        .adjacency(Adjacency::one_entry(alpha))
        .privacy(Privacy::laplace(1.0))
        .sensitivity(Request::Declared {
            bound: Bound::PerAlpha(opf.largest_cost()),
            reason: "the largest cost of a unit".into(),
        })
        .feasible(0.99)
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

#[test]
fn both_forms_have_one_optimum() {
    for name in builtin::names() {
        let network = Network::builtin(name).unwrap();
        let angles = Opf::of(network.clone()).build().unwrap();
        let ptdf = Opf::of(network).form(Form::Ptdf).build().unwrap();
        let (a, b) = (optimum(&angles), optimum(&ptdf));
        println!("{name}: {a:.6} {b:.6}");
        assert!((a - b).abs() <= 1e-8 * a.abs(), "{name}: {a} {b}");
    }
}
