//! The table for people.

use std::fmt;

use super::{Mode, Table};
use crate::{SEEDED, percent_of, rounded};

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = &self.settings;
        writeln!(
            f,
            "STUDY svm: two Gaussian classes of standard deviation {}, {} records; ε = {}, η = {}%, γ = {}%",
            settings.deviation,
            settings.records,
            settings.epsilon,
            percent_of(settings.eta),
            percent_of(settings.gamma)
        )?;
        writeln!(f, "{SEEDED}")?;
        for &mode in &settings.modes {
            writeln!(f, "\n{}", heading(mode))?;
            writeln!(
                f,
                "  {:>7}  {:<28} {:>7} {:>6} {:>6} {:>26} {:>9} {:>7} {:>8} {:>8} {:>8} {:>7}  status",
                "λ",
                "strategy",
                "mean %",
                "std",
                "paper",
                "weights, intercept",
                "Δ₁",
                "noise",
                "ε",
                "audited",
                "worst",
                "within"
            )?;
            for row in self.rows.iter().filter(|r| r.mode == mode) {
                let weights = row.weights.iter().flatten();
                let weights: Vec<String> = weights.map(|w| significant(*w)).collect();
                writeln!(
                    f,
                    "  {:>7.0e}  {:<28} {:>7} {:>6} {:>6} {:>26} {:>9} {:>7} {:>8} {:>8} {:>8} {:>7}  {}",
                    row.lambda,
                    row.strategy,
                    rounded(row.accuracy_mean, 1),
                    rounded(row.accuracy_std, 1),
                    rounded(row.paper_accuracy.map(|p| p.0), 1),
                    weights.join(" "),
                    row.sensitivity.map_or("–".into(), significant),
                    row.noise_ratio.map_or("–".into(), significant),
                    rounded(row.claimed_epsilon, 2),
                    rounded(row.audited.map(|a| a.audited_epsilon), 2),
                    rounded(row.audited.and_then(|a| a.worst_epsilon), 2),
                    rounded(row.audited.map(|a| 100.0 * a.share_within), 1),
                    row.status
                )?;
            }
        }
        writeln!(
            f,
            "\naudited: the ε that {} fresh pairs keep, calibrated a share {} of them; worst: the largest ε of any pair, a search\nincluded; within: percent of fresh pairs within ε; noise: its length over that of the weights",
            settings.pairs,
            1.0 - settings.gamma
        )
    }
}

fn heading(mode: Mode) -> &'static str {
    match mode {
        Mode::Paper => {
            "paper: noise for the map without noise, discs around the private points; Cantelli's factor, η for each margin"
        }
        Mode::Calibrated => {
            "calibrated: noise for the released map, discs around public points; exact quantiles, η for all margins"
        }
        Mode::Certified => {
            "certified: one record is replaced, bounded by the regulariser; exact quantiles, η for all margins"
        }
    }
}

/// About three digits; rounding errors are nothing.
fn significant(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        size if size >= 0.001 => format!("{value:.3}"),
        size if size >= 1e-9 => format!("{value:.1e}"),
        _ => "0".into(),
    }
}
