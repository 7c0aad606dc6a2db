//! Labelled demands: every label agrees with the power flow itself, and the classes have the shares that were asked for.

use conveil::program::DataMap;
use conveil::solve::{Batch, Outcome, Settings, solve};
use conveil_grid::Network;
use conveil_models::grid::{DemandRays, Opf};

fn rays(network: &Network, records: usize) -> DemandRays {
    DemandRays::draw(network, records, 3, &Batch::new()).unwrap()
}

/// A second road: the power flow at the demands of each record, solved on its own.
#[test]
fn a_record_is_labelled_feasible_where_its_power_flow_is() {
    for name in ["5_pjm", "14_ieee", "24_ieee_rts"] {
        let network = Network::builtin(name).unwrap();
        let opf = Opf::of(network.clone()).build().unwrap();
        let rays = rays(&network, 80);
        for share in [0.25, 0.5] {
            let drawn = rays.with_infeasible_share(share).unwrap();
            let infeasible = drawn.feasible.iter().filter(|f| !**f).count();
            assert_eq!(infeasible, (80.0 * share) as usize, "{name} at {share}");
            for (demand, feasible) in drawn.demands_mw.iter().zip(&drawn.feasible) {
                let program = opf.at(demand).unwrap();
                let found = match solve(&program, &Settings::default()) {
                    Outcome::Optimal(_) => true,
                    Outcome::Infeasible(_) => false,
                    other => panic!("{name}: {other:?}"),
                };
                assert_eq!(found, *feasible, "{name} at {share}");
            }
        }
    }
}

/// Injections are negative loads: more demand leaves less of them.
#[test]
fn demands_stay_within_their_public_bounds_and_widen_with_the_share() {
    let network = Network::builtin("89_pegase").unwrap();
    let rays = rays(&network, 40);
    let nominal = rays.opf().nominal();
    assert!(nominal.iter().any(|d| *d < 0.0));
    let mut last = 0.0;
    for share in [0.1, 0.25, 0.5] {
        let drawn = rays.with_infeasible_share(share).unwrap();
        assert!(drawn.width > last);
        last = drawn.width;
        for demand in &drawn.demands_mw {
            for (value, (low, high)) in demand.iter().zip(rays.bounds(drawn.width)) {
                assert!(low <= *value && *value <= high);
            }
        }
    }
    // At no width at all every record is the nominal demand.
    let still = rays.at(0.0);
    assert!(still.feasible.iter().all(|f| *f));
    assert!(still.demands_mw.iter().all(|d| *d == nominal));
}

#[test]
fn a_share_that_leaves_a_class_empty_is_refused() {
    let rays = rays(&Network::builtin("5_pjm").unwrap(), 30);
    let error = rays.with_infeasible_share(0.001).unwrap_err().to_string();
    assert_eq!(
        error,
        "a share of 0.001 of 30 records leaves one class empty"
    );
}
