//! What Table 4 prints for the turbines that have a relative among the built-in ones.

use super::VARIATIONS;

/// The paper's turbine, its strategy, the loss without noise, and loss and infeasibility for each variation.
type Line = (&'static str, &'static str, f64, [(f64, f64); 3]);

#[rustfmt::skip] // a table
const TABLE_4: [Line; 12] = [
    ("Bonus.B54.1000", "output", 3.18, [(3.51, 28.10), (4.06, 36.90), (4.73, 40.00)]),
    ("Bonus.B54.1000", "program", 3.18, [(3.59, 0.10), (4.28, 0.10), (5.16, 0.10)]),
    ("Alstom.Eco.80", "output", 3.16, [(3.50, 27.30), (4.05, 34.80), (4.73, 38.80)]),
    ("Alstom.Eco.80", "program", 3.16, [(3.55, 0.30), (4.20, 0.30), (5.01, 0.30)]),
    ("Vestas.V27.225", "output", 3.10, [(3.44, 11.10), (3.99, 24.00), (4.68, 29.60)]),
    ("Vestas.V27.225", "program", 3.10, [(3.48, 0.10), (4.17, 0.10), (5.04, 0.10)]),
    ("Siemens.SWT.3", "output", 3.22, [(3.59, 6.60), (4.18, 17.90), (4.90, 25.10)]),
    ("Siemens.SWT.3", "program", 3.22, [(3.59, 0.00), (4.23, 0.00), (5.02, 0.00)]),
    ("Enercon.E92.2300", "output", 3.20, [(3.56, 6.00), (4.13, 17.30), (4.84, 24.60)]),
    ("Enercon.E92.2300", "program", 3.20, [(3.56, 0.80), (4.17, 0.80), (4.95, 0.80)]),
    ("GE.2.75.103", "output", 3.08, [(3.43, 0.00), (3.99, 1.80), (4.68, 6.00)]),
    ("GE.2.75.103", "program", 3.08, [(3.43, 0.00), (4.00, 0.30), (4.75, 0.30)]),
];

/// Built-in turbines of the type, or of the manufacturer and about the size, of one of the paper's.
const RELATIVES: [(&str, &str); 3] = [
    ("GE103/2750", "GE.2.75.103"),
    ("E-92/2350", "Enercon.E92.2300"),
    ("SWT113/3200", "Siemens.SWT.3"),
];

/// The paper's relative of a built-in turbine.
pub(super) fn relative(turbine: &str) -> Option<&'static str> {
    let pair = RELATIVES.iter().find(|(own, _)| *own == turbine)?;
    Some(pair.1)
}

/// What Table 4 prints for one of its turbines, `output` or `program`, and a variation in percent: loss and infeasibility
/// in percent.
pub fn table_4(turbine: &str, strategy: &str, variation_percent: f64) -> Option<(f64, f64)> {
    let column = VARIATIONS.iter().position(|v| *v == variation_percent)?;
    let line = TABLE_4
        .iter()
        .find(|line| line.0 == turbine && line.1 == strategy)?;
    Some(line.3[column])
}
