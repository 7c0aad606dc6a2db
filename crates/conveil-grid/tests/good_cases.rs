//! Case files that are in order, and what is made of them.

use conveil_grid::{Cost, Network, Susceptance, compact, demand, matpower};

const FIVE: &str = include_str!("../../../fuzz/seeds/matpower/five-buses.m");
const CONTINUED: &str = include_str!("../../../fuzz/seeds/matpower/continued.m");

fn five() -> Network {
    matpower::read("five.m", FIVE).unwrap()
}

/// The network of [`FIVE`] after one change.
fn changed(piece: &str, change: &str) -> Network {
    assert!(FIVE.contains(piece), "{piece}");
    matpower::read("five.m", &FIVE.replacen(piece, change, 1)).unwrap()
}

#[test]
fn buses_keep_their_numbers_and_isolated_ones_are_left_out() {
    let network = five();
    assert_eq!(network.name(), "five_buses");
    assert_eq!(network.base_mva(), 100.0);
    let numbers: Vec<u32> = network.buses().iter().map(|bus| bus.number).collect();
    assert_eq!(numbers, [1, 2, 3, 40]);
    assert_eq!(network.demands_mw(), [50.0, 80.5, -12.0, 30.0]);
    assert_eq!(network.buses()[1].shunt_mw, 1.5);
    let references: Vec<bool> = network.buses().iter().map(|b| b.is_reference).collect();
    assert_eq!(references, [true, false, false, false]);
    assert_eq!(network.omitted().buses, [50]);
    assert_eq!(network.bus_index(40), Some(3));
    assert_eq!(network.bus_index(50), None);
}

/// A bus without anything in service attached is as good as isolated, whatever its type says.
#[test]
fn buses_with_nothing_attached_are_left_out() {
    let bus = "\t60\t1\t0\t0\t0\t0\t1\t1\t0\t230\t1\t1.1\t0.9;\n";
    let row = "\t50\t4\t0";
    let network = changed(row, &format!("{bus}{row}"));
    assert_eq!(network.omitted().buses, [60, 50]);
    assert_eq!(
        (network.buses(), network.islands().len()),
        (five().buses(), 1)
    );
    // A line to an isolated bus, a line or a unit out of service attach nothing.
    let text = FIVE.replacen(row, &format!("{bus}{row}"), 1);
    let text = text.replacen("\t1\t40\t0\t0\t0", "\t60\t40\t0\t0\t0", 1);
    let text = text.replacen("\t3\t50\t0\t0.1", "\t60\t50\t0\t0.1", 1);
    let text = text.replacen(
        "\t2\t0\t0\t30\t-30\t1\t100\t0",
        "\t60\t0\t0\t30\t-30\t1\t100\t0",
        1,
    );
    let network = matpower::read("five.m", &text).unwrap();
    assert_eq!(network.omitted().buses, [60, 50]);
    assert_eq!(network.omitted().branches, [5, 6]);
    // One with a unit in service is a part of the network: an island.
    let text = text.replacen("\t40\t0\t0\t30\t-30", "\t60\t0\t0\t30\t-30", 1);
    let network = matpower::read("five.m", &text).unwrap();
    assert_eq!((network.buses().len(), network.islands().len()), (5, 2));
}

#[test]
fn units_out_of_service_are_left_out_and_rows_stay() {
    let network = five();
    let rows: Vec<usize> = network.units().iter().map(|unit| unit.row).collect();
    assert_eq!(rows, [1, 2, 4]);
    assert_eq!(network.omitted().units, [3, 5]);
    let [first, second, third] = network.units() else {
        panic!("three units");
    };
    assert_eq!((first.pmin_mw, first.pmax_mw, first.bus), (0.0, 200.0, 0));
    assert_eq!(
        (second.pmin_mw, second.pmax_mw, second.bus),
        (10.0, 100.0, 1)
    );
    let quadratic = Cost::Quadratic {
        c2: 0.02,
        c1: 20.0,
        c0: 100.0,
    };
    assert_eq!(first.cost, quadratic);
    assert_eq!(second.cost, Cost::Linear { c1: 15.0, c0: 0.0 });
    let points = vec![(0.0, 0.0), (20.0, 300.0), (60.0, 1000.0)];
    assert_eq!(third.cost, Cost::Piecewise { points });
}

#[test]
fn costs_are_what_their_formulas_say() {
    let network = five();
    let cost = |unit: usize, p_mw: f64| network.units()[unit].cost.at(p_mw);
    assert_eq!(cost(0, 10.0), 302.0);
    assert_eq!(cost(1, 10.0), 150.0);
    assert_eq!(cost(2, 10.0), 150.0);
    assert_eq!(cost(2, 40.0), 650.0);
    // Prolonged on both sides.
    assert_eq!(cost(2, -10.0), -150.0);
    assert_eq!(cost(2, 80.0), 1350.0);
}

#[test]
fn marginal_costs_are_the_slopes_of_the_costs() {
    let network = five();
    for (unit, p_mw, expected) in [
        (0, 10.0, 20.4),
        (1, 10.0, 15.0),
        (2, -10.0, 15.0),
        (2, 10.0, 15.0),
        (2, 40.0, 17.5),
        (2, 80.0, 17.5),
    ] {
        let cost = &network.units()[unit].cost;
        assert!((cost.marginal_at(p_mw) - expected).abs() < 1e-12);
        let difference = (cost.at(p_mw + 0.5) - cost.at(p_mw - 0.5)) / 1.0;
        assert!(
            (difference - expected).abs() < 1e-9,
            "unit {unit} at {p_mw}"
        );
    }
    // At a corner, the line that follows.
    assert_eq!(network.units()[2].cost.marginal_at(20.0), 17.5);
}

#[test]
fn branches_have_taps_shifts_and_limits_as_matpower_means_them() {
    let network = five();
    let branches = network.branches();
    assert_eq!(network.omitted().branches, [5, 6]);
    let taps: Vec<f64> = branches.iter().map(|branch| branch.tap).collect();
    assert_eq!(taps, [1.0, 1.0, 0.978, 1.05]);
    let rates: Vec<Option<f64>> = branches.iter().map(|branch| branch.rate_mw).collect();
    assert_eq!(rates, [Some(100.0), None, Some(40.0), Some(60.0)]);
    let shifts: Vec<f64> = branches.iter().map(|branch| branch.shift).collect();
    assert_eq!(shifts, [0.0, 0.0, (-5.0_f64).to_radians(), 0.0]);
    let angles = branches
        .iter()
        .map(|branch| (branch.angle_min, branch.angle_max));
    let degrees = |angle: f64| Some(angle.to_radians());
    let expected = [
        (degrees(-30.0), degrees(30.0)),
        (None, None),
        (None, None),
        (None, degrees(45.0)),
    ];
    assert_eq!(angles.collect::<Vec<_>>(), expected);
}

#[test]
fn angle_limits_of_zero_count_beside_a_real_one() {
    let one_sided = |limits: &str| {
        let branch = changed("-30\t30;", &format!("{limits};")).branches()[0].clone();
        (branch.angle_min, branch.angle_max)
    };
    assert_eq!(one_sided("0 30"), (Some(0.0), Some(30_f64.to_radians())));
    assert_eq!(one_sided("0 360"), (None, None));
    assert_eq!(one_sided("-Inf Inf"), (None, None));
}

#[test]
fn limits_too_large_to_matter_are_none() {
    for limit in ["1e10", "Inf"] {
        let network = changed("0.1\t0\t100\t", &format!("0.1\t0\t{limit}\t"));
        assert_eq!(network.branches()[0].rate_mw, None);
    }
}

#[test]
fn susceptances_follow_the_convention_asked_for() {
    let network = five();
    let branch = &network.branches()[2];
    let standard = branch.susceptance(Susceptance::default());
    assert!((standard - 1.0 / (0.2 * 0.978)).abs() < 1e-12);
    let full = branch.susceptance(Susceptance::Full);
    assert!((full - 0.2 / (0.02 * 0.02 + 0.2 * 0.2)).abs() < 1e-12);
    // Series compensation.
    assert!(network.branches()[3].susceptance(Susceptance::Standard) < 0.0);
}

#[test]
fn names_tell_parallel_lines_apart() {
    let network = five();
    let lines: Vec<String> = (0..4).map(|k| network.branch_name(k)).collect();
    assert_eq!(lines, ["line 1-2", "line 2-1 #2", "line 2-3", "line 3-40"]);
    assert_eq!(network.unit_name(2), "generator 4");
    assert_eq!(network.balance_name(3), "balance 40");
}

#[test]
fn islands_are_listed_by_their_first_bus() {
    assert_eq!(five().islands().len(), 1);
    // Without line 2-3.
    let network = changed("0.978\t-5\t1", "0.978\t-5\t0");
    let islands = network.islands();
    assert_eq!(islands.len(), 2);
    assert_eq!(islands[0].buses, [0, 1]);
    assert_eq!(islands[0].reference, Some(0));
    assert_eq!(islands[1].buses, [2, 3]);
    assert_eq!(islands[1].reference, None);
}

#[test]
fn continuations_commas_and_other_struct_names_are_read() {
    let network = matpower::read("two.m", CONTINUED).unwrap();
    assert_eq!(network.name(), "two");
    assert_eq!(network.demands_mw(), [0.0, 0.5]);
    let unit = &network.units()[0];
    assert_eq!((unit.pmin_mw, unit.pmax_mw), (-5.0, 5.0));
    assert_eq!(unit.cost, Cost::Linear { c1: 4.0, c0: 0.0 });
    assert_eq!(network.branches()[0].x, 0.25);
}

#[test]
fn what_a_block_of_comments_holds_is_not_read() {
    let row = "\t2\t1\t0.01";
    for block in [
        "%{\n1 2 3\n%}\n",
        "  %{  \n%{\n1 2 3\n  %}\n4\n%}\n",
        "%{ not a block\n",
    ] {
        assert_eq!(changed(row, &format!("{block}{row}")), five(), "{block}");
    }
    let unclosed = FIVE.replacen(row, &format!("%{{\n{row}"), 1);
    let error = matpower::read("five.m", &unclosed).unwrap_err();
    assert_eq!(error.message, "the bracket of `branch` is not closed");
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_change_nothing() {
    let text = format!("\u{feff}{}", FIVE.replace('\n', "\r\n"));
    assert_eq!(matpower::read("five.m", &text), Ok(five()));
}

#[test]
fn the_compact_format_gives_back_what_was_written() {
    let two = matpower::read("two.m", CONTINUED).unwrap();
    for network in [five(), two] {
        let text = compact::to_text(&network, &["a comment".to_string()]);
        assert!(text.starts_with("# a comment\nnetwork "));
        assert_eq!(compact::read("n.txt", &text), Ok(network));
    }
}

#[test]
fn an_angle_that_no_short_number_of_degrees_gives_is_kept_in_radians() {
    let network = changed("-5\t1\t0\t0", "-5.12345678901234567\t1\t0\t0");
    let text = compact::to_text(&network, &[]);
    assert!(text.contains("rad"), "{text}");
    assert_eq!(compact::read("n.txt", &text), Ok(network));
}

#[test]
fn demands_by_bus_replace_those_of_the_network() {
    let text = include_str!("../../../fuzz/seeds/demand/by-bus.csv");
    let read = demand::read("d.csv", text, &five()).unwrap();
    assert_eq!(read.datasets_mw(), [[50.0, 80.5, -12.0, -30.0]]);
    assert_eq!(read.listed(), [0, 1, 3]);
}

#[test]
fn a_series_has_a_dataset_for_each_line() {
    let text = include_str!("../../../fuzz/seeds/demand/series.csv");
    let read = demand::read("d.csv", text, &five()).unwrap();
    let expected = [[50.0, 80.0, 0.0, 30.0], [51.5, 79.0, -2.0, 30.0]];
    assert_eq!(read.datasets_mw(), expected);
    assert_eq!(read.listed(), [0, 2, 1]);
}
