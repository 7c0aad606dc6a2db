//! The paper's α·c_max where congestion breaks it: the curator is warned, with the load and its price.

mod running;

use conveil::noise::Sampler;
use conveil::program::DataMap;
use conveil::solve::{Settings, solve_checked};
use conveil_grid::Network;
use conveil_models::grid::Opf;
use running::{directory, ended, write};

/// A draw of the demands of 89_pegase within ±10% of nominal at which a line at bus 8964 is full; one of ten among the
/// first 400.
const CONGESTED: u64 = 223;

fn pegase() -> Opf {
    let network = Network::builtin("89_pegase").unwrap();
    Opf::of(network).build().unwrap()
}

fn congested(opf: &Opf) -> Vec<f64> {
    let mut sampler = Sampler::new(21, CONGESTED);
    let nominal = opf.nominal().into_iter();
    nominal
        .map(|d| d * (0.9 + 0.2 * sampler.uniform()))
        .collect()
}

/// The demands as a table of buses.
fn csv(opf: &Opf, theta: &[f64]) -> String {
    let buses = opf.network().buses();
    let rows = opf.private_buses().iter().zip(theta);
    let rows = rows.map(|(&bus, demand)| format!("{},{demand:?}\n", buses[bus].number));
    format!("bus,demand\n{}", rows.collect::<String>())
}

fn spec(bounds: &str, sensitivity: &str) -> String {
    format!(
        "[problem]
model = \"opf\"
network = \"89_pegase\"
[private]
demand = \"demand.csv\"
{bounds}
adjacency = {{ kind = \"one-entry\", alpha = 1.0 }}
[query]
release = \"cost\"
[privacy]
mechanism = \"laplace\"
epsilon = 1.0
sensitivity = {sensitivity}
[feasibility]
eta = 0.01
"
    )
}

const DECLARED: &str = "{ by = \"declared\", per_alpha = \"largest-cost\" }";

/// The warning about a price: its load and the price itself.
fn warned(stderr: &str) -> Option<(String, f64)> {
    let rest = stderr.split("the price of one more MWh at `").nth(1)?;
    let (load, rest) = rest.split_once("` is ")?;
    let (price, _) = rest.split_once(',')?;
    Some((load.into(), price.parse().unwrap()))
}

#[test]
fn one_more_mwh_can_cost_eight_times_the_dearest_unit_and_the_curator_is_warned() {
    let opf = pegase();
    let theta = congested(&opf);
    let far = theta
        .iter()
        .zip(opf.nominal())
        .map(|(t, n)| (t / n - 1.0).abs());
    assert!(far.fold(0.0, f64::max) <= 0.1);
    // By two solves, without multipliers: one more MWh at bus 8964 moves the plain optimum by more than 5·c_max.
    let optimum = |theta: &[f64]| {
        let program = opf.at(theta).unwrap();
        solve_checked(&program, &Settings::default())
            .unwrap()
            .objective
    };
    let name = "load 8964";
    let load = opf.parameters().iter().position(|p| p.name() == name);
    let mut more = theta.clone();
    more[load.unwrap()] += 1.0;
    let moved = optimum(&more) - optimum(&theta);
    let largest = opf.largest_cost();
    assert!(moved > 5.0 * largest, "{moved} against {largest}");
    // The warning names that load, and a price that is this movement.
    let place = directory("prices-congested");
    write(&place.join("demand.csv"), csv(&opf, &theta));
    write(&place.join("spec.toml"), spec("", DECLARED));
    for words in [
        &["solve", "spec.toml"][..],
        &["release", "spec.toml", "--no-ledger"],
    ] {
        let (code, stdout, stderr) = ended(&place, words);
        assert_eq!(code, 0, "{stderr}");
        let (named, price) = warned(&stderr).unwrap_or_else(|| panic!("{words:?}: {stderr}"));
        assert_eq!(named, name);
        assert!((price - moved).abs() < 1e-3 * moved, "{price} {moved}");
        assert!(
            stderr.contains("the privacy claim fails around these data"),
            "{stderr}"
        );
        // A price is private: it stands on no card.
        if words[0] == "release" {
            assert_eq!(warned(&stdout), None);
            assert!(!stdout.contains(name), "{stdout}");
        }
    }
}

#[test]
fn without_a_broken_bound_there_is_no_warning() {
    let opf = pegase();
    let place = directory("prices-quiet");
    let envelope = format!("{{ by = \"envelope\", price = {:?} }}", opf.largest_cost());
    let bounds = "bounds = { relative = 0.3 }";
    // At nominal demand no price is beyond c_max; an envelope holds whatever the prices are.
    for (theta, bounds, sensitivity) in [
        (opf.nominal(), "", DECLARED),
        (congested(&opf), bounds, envelope.as_str()),
    ] {
        write(&place.join("demand.csv"), csv(&opf, &theta));
        write(&place.join("spec.toml"), spec(bounds, sensitivity));
        let (code, _, stderr) = ended(&place, &["solve", "spec.toml"]);
        assert_eq!(code, 0, "{stderr}");
        assert_eq!(warned(&stderr), None, "{stderr}");
    }
}

#[test]
fn a_bound_declared_in_numbers_is_held_against_the_prices_too() {
    let opf = pegase();
    let theta = congested(&opf);
    let place = directory("prices-declared");
    write(&place.join("demand.csv"), csv(&opf, &theta));
    let solved = |bound: f64| {
        let declared = format!(
            "{{ by = \"declared\", per_alpha = {bound:?}, reason = \"the dearest unit\" }}"
        );
        write(&place.join("spec.toml"), spec("", &declared));
        let (code, _, stderr) = ended(&place, &["solve", "spec.toml"]);
        assert_eq!(code, 0, "{stderr}");
        stderr
    };
    let stderr = solved(opf.largest_cost());
    let (named, price) = warned(&stderr).unwrap_or_else(|| panic!("{stderr}"));
    assert_eq!(named, "load 8964");
    assert!(
        stderr.contains("beyond the declared `per_alpha`"),
        "{stderr}"
    );
    // A bound just above the price is kept there.
    assert_eq!(warned(&solved(1.001 * price)), None);
}
