//! Power curves that come along: six turbines of windpowerlib, near the paper's.
//!
//! The figures are windpowerlib's (MIT licence; the file keeps its notice), which has them from the wind turbine library
//! of the OpenEnergy Platform. `cargo xtask import-turbines FILE` makes them from its `oedb/power_curves.csv`.

use conveil_text::spelling::{nearest, quoted};

use super::PowerCurve;

/// The built-in turbines.
pub const TURBINES: [&str; 6] = [
    "GE103/2750",
    "E-92/2350",
    "V90/2000",
    "SWT113/3200",
    "N100/2500",
    "S104/3400",
];

const CURVES: &str = include_str!("../../turbines/power_curves.txt");

/// A built-in curve by its name.
pub(super) fn curve(name: &str) -> Result<PowerCurve, String> {
    let unknown = |hint: String| format!("there is no built-in turbine {}; {hint}", quoted(name));
    let Some(known) = TURBINES.iter().find(|t| t.eq_ignore_ascii_case(name)) else {
        let list = TURBINES.join(", ");
        return Err(unknown(match nearest(name, TURBINES) {
            Some(word) => format!("did you mean `{word}`? (built in: {list})"),
            None => format!("built in: {list}"),
        }));
    };
    // The file is part of the program, and a test reads all of it.
    let damaged = || unknown("its figures are damaged".into());
    let mut lines = CURVES.lines().filter(|line| !line.starts_with('#'));
    let line = lines.find_map(|line| line.strip_prefix(known)?.strip_prefix(' '));
    let points: Option<Vec<(f64, f64)>> = line.ok_or_else(damaged)?.split(' ').map(point).collect();
    PowerCurve::new(known, points.ok_or_else(damaged)?)
}

fn point(text: &str) -> Option<(f64, f64)> {
    let (speed, power) = text.split_once(':')?;
    Some((speed.parse().ok()?, power.parse().ok()?))
}
