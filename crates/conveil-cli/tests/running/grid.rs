//! Specs of power flows, and what the binary says to them as JSON.

use std::path::Path;

use serde_json::Value;

use super::ended;

/// A spec of this network at this α.
pub fn spec(network: &str, alpha: f64, private: &str, sensitivity: &str) -> String {
    format!(
        "[problem]
model = \"opf\"
{network}
[private]
{private}
adjacency = {{ kind = \"one-entry\", alpha = {alpha:?} }}
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

pub const LARGEST: &str = "{ by = \"declared\", per_alpha = \"largest-cost\" }";
pub const BOUNDS: &str = "bounds = { relative = 0.3 }";

pub fn envelope(price: f64) -> String {
    format!("{{ by = \"envelope\", price = {price:?} }}")
}

pub fn json(place: &Path, words: &[&str]) -> Value {
    let mut all = words.to_vec();
    all.extend(["--json", "--quiet"]);
    let (code, stdout, stderr) = ended(place, &all);
    assert_eq!(code, 0, "{words:?}: {stderr}");
    serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{words:?}: {e}\n{stdout}"))
}

pub fn number(document: &Value, key: &str) -> f64 {
    document[key].as_f64().unwrap_or(f64::NAN)
}

/// A demand file of the network's own demands.
pub fn nominal(network: &str) -> String {
    let network = conveil_grid::Network::builtin(network).unwrap();
    let lines = network.buses().iter().filter(|bus| bus.demand_mw != 0.0);
    let lines = lines.map(|bus| format!("{},{}\n", bus.number, bus.demand_mw));
    format!("bus,demand\n{}", lines.collect::<String>())
}

pub const FIVE: &str = include_str!("../../../../fuzz/seeds/matpower/five-buses.m");
