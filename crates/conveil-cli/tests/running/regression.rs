//! A small regression and its records.

use super::{directory, ended, write};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Five records, two weights, one condition.
pub const SPEC: &str = r#"
[problem]
model = "regression"
regressors = "records.csv"
response = "power"
ridge = 0.1

[[problem.basis]]
kind = "constant"

[[problem.basis]]
kind = "linear"
feature = "speed"

[[problem.condition]]
kind = "increasing"
feature = "speed"
at = [3.0]

[private]
adjacency = { kind = "one-entry", alpha = 0.5 }
bounds = [0.0, 1.0]

[query]
release = "identity"

[privacy]
mechanism = "gaussian"
epsilon = 1.0
delta = 1e-6

[feasibility]
eta = 0.05
"#;

/// Public speeds, private powers.
pub const RECORDS: &str =
    "speed,power,remark\n3,0.1,calm\n5,0.3,\n7,0.4,gusts\n9,0.8,\n11,0.95,storm\n";

/// A directory with this spec and these records.
pub fn placed(name: &str, spec: &str, records: &str) -> PathBuf {
    let place = directory(&format!("regression-{name}"));
    write(&place.join("spec.toml"), spec);
    write(&place.join("records.csv"), records);
    place
}

/// What it printed, which must be one document.
pub fn json(place: &Path, words: &[&str]) -> Value {
    let (code, stdout, stderr) = ended(place, words);
    assert_eq!(code, 0, "{words:?}: {stderr}");
    serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}\n{stdout}"))
}
