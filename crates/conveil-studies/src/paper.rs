//! The numbers that the paper prints, to stand beside ours.

/// ε of every table.
pub(crate) const EPSILON: f64 = 1.0;

/// η of Tables 1 and 2.
pub(crate) const ETA: f64 = 0.01;

/// β of its sampled box.
pub(crate) const BETA: f64 = 0.1;

/// Table 1's networks, by the names of PGLib.
pub const TABLE_1_NETWORKS: [&str; 5] = ["5_pjm", "14_ieee", "24_ieee_rts", "57_ieee", "89_pegase"];

/// Table 1's α, in MWh.
pub const TABLE_1_ALPHAS: [f64; 3] = [1.0, 3.0, 10.0];

/// Loss and infeasibility in percent.
type Cell = Option<(f64, f64)>;

/// Table 1: per network and strategy, a cell for each α.
#[rustfmt::skip] // a table
const TABLE_1: [(&str, &str, [Cell; 3]); 15] = [
    ("5_pjm", "input", [Some((0.00, 48.90)), Some((0.10, 51.20)), Some((0.10, 50.20))]),
    ("5_pjm", "output", [Some((0.00, 51.20)), Some((0.00, 49.60)), Some((0.10, 51.60))]),
    ("5_pjm", "program", [Some((1.07, 0.50)), Some((7.00, 0.00)), Some((12.10, 0.20))]),
    ("14_ieee", "input", [Some((0.00, 49.00)), Some((0.30, 49.00)), Some((0.40, 52.90))]),
    ("14_ieee", "output", [Some((0.10, 48.50)), Some((0.20, 48.10)), Some((0.60, 52.00))]),
    ("14_ieee", "program", [Some((7.10, 0.40)), Some((25.20, 0.30)), None]),
    ("24_ieee_rts", "input", [Some((0.00, 51.50)), Some((0.00, 49.90)), Some((0.20, 50.30))]),
    ("24_ieee_rts", "output", [Some((0.10, 52.70)), Some((0.00, 51.50)), Some((0.10, 48.80))]),
    ("24_ieee_rts", "program", [Some((1.70, 0.10)), Some((5.10, 0.00)), Some((17.10, 0.00))]),
    ("57_ieee", "input", [Some((0.00, 50.20)), Some((0.00, 51.10)), Some((0.20, 55.90))]),
    ("57_ieee", "output", [Some((0.00, 49.40)), Some((0.00, 49.10)), Some((0.05, 49.80))]),
    ("57_ieee", "program", [Some((0.70, 0.10)), Some((2.20, 0.10)), Some((6.70, 0.20))]),
    ("89_pegase", "input", [Some((0.00, 50.60)), Some((0.00, 55.00)), Some((0.30, 67.50))]),
    ("89_pegase", "output", [Some((0.00, 48.50)), Some((0.00, 51.10)), Some((0.00, 48.30))]),
    ("89_pegase", "program", [Some((0.30, 0.00)), Some((0.80, 0.10)), Some((2.50, 0.10))]),
];

/// What Table 1 prints for a network, strategy and α: loss and infeasibility in percent.
pub fn table_1(network: &str, strategy: &str, alpha: f64) -> Option<(f64, f64)> {
    let column = TABLE_1_ALPHAS.iter().position(|a| *a == alpha)?;
    let row = TABLE_1
        .iter()
        .find(|(n, s, _)| *n == network && *s == strategy)?;
    row.2[column]
}

/// Table 2's tail shares q, in percent.
pub const TABLE_2_TAILS: [f64; 11] = [
    99.0, 90.0, 80.0, 70.0, 60.0, 50.0, 40.0, 30.0, 20.0, 10.0, 1.0,
];

/// Table 2's α, in MWh.
pub const TABLE_2_ALPHAS: [f64; 3] = [15.0, 25.0, 35.0];

/// Table 2: for each α, mean and CVaR at 5% of the loss in percent, for each q.
#[rustfmt::skip] // a table
const TABLE_2: [[[f64; 11]; 2]; 3] = [
    [
        [1.56, 1.56, 1.56, 1.70, 1.70, 1.70, 1.72, 1.72, 1.72, 1.72, 1.72],
        [2.36, 2.36, 2.36, 1.78, 1.78, 1.78, 1.72, 1.72, 1.72, 1.72, 1.72],
    ],
    [
        [4.90, 4.90, 4.90, 5.39, 5.39, 5.54, 5.54, 5.54, 5.54, 5.54, 5.54],
        [8.06, 8.06, 8.06, 5.96, 5.96, 5.54, 5.54, 5.54, 5.54, 5.54, 5.54],
    ],
    [
        [8.54, 8.54, 8.81, 9.03, 9.03, 9.03, 9.09, 9.44, 9.44, 9.44, 9.86],
        [14.28, 14.28, 11.83, 10.89, 10.89, 10.89, 10.77, 10.33, 10.33, 10.33, 10.31],
    ],
];

/// What Table 2 prints for α and a tail share in percent: mean and CVaR at 5% of the loss, in percent.
pub fn table_2(alpha: f64, tail_percent: f64) -> Option<(f64, f64)> {
    let row = TABLE_2_ALPHAS.iter().position(|a| *a == alpha)?;
    let column = TABLE_2_TAILS
        .iter()
        .position(|q| (q - tail_percent).abs() < 1e-9)?;
    Some((TABLE_2[row][0][column], TABLE_2[row][1][column]))
}

/// What Section 4.2.1 prints at λ = 1e-5: mean and standard deviation of the accuracy in percent.
pub fn section_421(lambda: f64, strategy: &str) -> Option<(f64, f64)> {
    match strategy {
        _ if lambda != 1e-5 => None,
        "non-private" => Some((99.4, 0.0)),
        "output" => Some((51.2, 11.6)),
        "program" => Some((97.6, 1.7)),
        _ => None,
    }
}

/// What Section 4.2.1 prints for Δ₁ at λ = 1e-5.
pub fn section_421_sensitivity(lambda: f64, strategy: &str) -> Option<f64> {
    (lambda == 1e-5 && matches!(strategy, "output" | "program")).then_some(21.8)
}

/// What Section 4.2.1 prints for w₁ before noise at λ = 1e-5.
pub fn section_421_weight(lambda: f64, strategy: &str) -> Option<f64> {
    match strategy {
        _ if lambda != 1e-5 => None,
        "non-private" | "output" => Some(13.5),
        "program" => Some(1045.0),
        _ => None,
    }
}

/// What Section 4.3.1 prints: Δ₂.
pub(crate) const SECTION_431_SENSITIVITY: f64 = 0.46;

/// By how much the loss of its program perturbation exceeds that of output perturbation, in percent.
pub(crate) const SECTION_431_OVER_OUTPUT: f64 = 18.4;

/// Which share of its models breaks a condition, in percent: of output and of program perturbation.
pub(crate) const SECTION_431_INFEASIBLE: (f64, f64) = (9.8, 1.3);

/// Table 3's networks.
pub const TABLE_3_NETWORKS: [&str; 5] = TABLE_1_NETWORKS;

/// Table 3's η of each margin.
const TABLE_3_ETAS: [f64; 3] = [0.05, 0.01, 1e-4];

/// Table 3: for each network and balance the non-private accuracy, then mean and standard deviation of output
/// perturbation and of program perturbation at each η, in percent.
type ThreeBalances = [(f64, [(f64, f64); 4]); 3];

#[rustfmt::skip]
const TABLE_3: [(&str, ThreeBalances); 5] = [
    ("5_pjm", [
        (99.6, [(79.7, 22.5), (95.6, 2.0), (95.0, 1.3), (94.3, 0.4)]),
        (96.2, [(75.8, 12.8), (93.4, 3.0), (94.3, 2.2), (95.3, 1.3)]),
        (95.6, [(79.1, 12.2), (93.6, 2.4), (94.3, 1.6), (95.1, 0.8)]),
    ]),
    ("14_ieee", [
        (98.6, [(76.6, 26.3), (93.9, 2.1), (93.6, 1.1), (93.2, 0.2)]),
        (98.4, [(71.5, 18.3), (93.6, 3.5), (94.4, 2.4), (94.9, 1.1)]),
        (98.6, [(69.7, 14.5), (91.4, 3.6), (92.1, 2.4), (91.8, 1.1)]),
    ]),
    ("24_ieee_rts", [
        (96.6, [(77.4, 24.9), (94.7, 2.7), (94.8, 1.2), (94.6, 0.1)]),
        (92.2, [(72.9, 16.9), (89.3, 3.9), (90.4, 2.9), (91.8, 1.7)]),
        (89.4, [(66.9, 10.4), (85.1, 4.4), (86.3, 3.5), (87.3, 2.1)]),
    ]),
    ("57_ieee", [
        (99.0, [(69.5, 34.5), (95.4, 6.4), (96.2, 2.0), (96.4, 0.0)]),
        (96.0, [(64.0, 25.3), (91.3, 3.3), (92.0, 2.4), (92.4, 1.6)]),
        (97.4, [(62.1, 14.7), (90.2, 4.0), (91.0, 2.6), (91.3, 1.2)]),
    ]),
    ("89_pegase", [
        (97.4, [(51.1, 44.7), (93.1, 15.6), (95.8, 5.4), (96.2, 0.0)]),
        (86.8, [(50.4, 25.0), (75.5, 6.4), (75.7, 2.0), (75.6, 0.0)]),
        (82.2, [(50.3, 3.4), (73.8, 7.5), (75.6, 5.9), (77.1, 4.2)]),
    ]),
];

/// What Table 3 prints for its own dataset of a network whose share of infeasible demands is near this one.
pub fn table_3(
    network: &str,
    infeasible: f64,
    strategy: &str,
    eta: Option<f64>,
) -> Option<(f64, f64)> {
    let (_, balances) = TABLE_3.iter().find(|(name, _)| *name == network)?;
    let near = |share: &f64| (infeasible - share).abs() < 0.04;
    let (exact, noisy) = &balances[[0.05, 0.25, 0.5].iter().position(near)?];
    match (strategy, eta) {
        ("non-private", _) => Some((*exact, 0.0)),
        ("output", _) => Some(noisy[0]),
        ("program", Some(eta)) => {
            let column = TABLE_3_ETAS.iter().position(|e| (e - eta).abs() < 1e-9)?;
            Some(noisy[1 + column])
        }
        _ => None,
    }
}

/// η of Table 4.
pub(crate) const TABLE_4_ETA: f64 = 0.03;

/// The variations of Table 4, in percent.
pub const TABLE_4_VARIATIONS: [f64; 3] = [1.0, 1.75, 2.5];

/// The paper's turbine, its strategy, the loss without noise, and loss and infeasibility for each variation.
type TurbineLine = (&'static str, &'static str, f64, [(f64, f64); 3]);

#[rustfmt::skip] // a table
const TABLE_4: [TurbineLine; 12] = [
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
pub(crate) fn relative(turbine: &str) -> Option<&'static str> {
    let pair = RELATIVES.iter().find(|(ours, _)| *ours == turbine)?;
    Some(pair.1)
}

/// What Table 4 prints for one of its turbines, `output` or `program`, and a variation in percent: loss and infeasibility
/// in percent.
pub fn table_4(turbine: &str, strategy: &str, variation_percent: f64) -> Option<(f64, f64)> {
    let column = TABLE_4_VARIATIONS
        .iter()
        .position(|v| *v == variation_percent)?;
    let line = TABLE_4
        .iter()
        .find(|line| line.0 == turbine && line.1 == strategy)?;
    Some(line.3[column])
}
