//! The networks that come along.

use conveil_grid::{Network, builtin};

#[test]
fn every_built_in_network_is_read_and_connected() {
    // Buses, units and branches in service, demand in MW: counted and summed from PGLib's files by
    // other means.
    let expected = [
        ("3_lmbd", 3, 3, 3, 315.0),
        ("5_pjm", 5, 5, 6, 1000.0),
        ("14_ieee", 14, 5, 20, 259.0),
        ("24_ieee_rts", 24, 33, 38, 2850.0),
        ("30_ieee", 30, 6, 41, 283.4),
        ("39_epri", 39, 10, 46, 6254.23),
        ("57_ieee", 57, 7, 80, 1250.8),
        ("73_ieee_rts", 73, 99, 120, 8550.0),
        ("89_pegase", 89, 12, 210, 5727.89),
        ("118_ieee", 118, 54, 186, 4242.0),
    ];
    assert_eq!(builtin::names().count(), expected.len());
    for (name, buses, units, branches, demand_mw) in expected {
        let network = Network::builtin(name).unwrap();
        assert_eq!(network.name(), name);
        assert_eq!(network.buses().len(), buses, "{name}");
        assert_eq!(network.units().len(), units, "{name}");
        assert_eq!(network.branches().len(), branches, "{name}");
        assert_eq!(network.islands().len(), 1, "{name}");
        let total: f64 = network.demands_mw().iter().sum();
        assert!((total - demand_mw).abs() < 1e-6, "{name}: {total}");
    }
}

#[test]
fn short_and_full_names_mean_the_same_network() {
    let network = Network::builtin("24_ieee_rts").unwrap();
    for name in ["24_ieee", "case24_ieee_rts", "pglib_opf_case24_ieee_rts"] {
        assert_eq!(Network::builtin(name).as_ref(), Ok(&network), "{name}");
    }
    let name_of = |name: &str| Network::builtin(name).unwrap().name().to_string();
    assert_eq!(name_of("73_ieee"), "73_ieee_rts");
    assert_eq!(name_of("39_ieee"), "39_epri");
}

#[test]
fn an_unknown_name_is_answered_with_the_known_ones() {
    let list = "3_lmbd, 5_pjm, 14_ieee, 24_ieee_rts, 30_ieee, 39_epri, 57_ieee, 73_ieee_rts, 89_pegase, 118_ieee";
    let message = |name: &str| Network::builtin(name).unwrap_err().to_string();
    assert_eq!(
        message("24_iee_rts"),
        format!(
            "there is no built-in network `24_iee_rts`; did you mean `24_ieee_rts`? (built in: {list})"
        )
    );
    assert_eq!(
        message("texas"),
        format!("there is no built-in network `texas`; built in: {list}")
    );
}
