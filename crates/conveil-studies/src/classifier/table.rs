//! The table for people.

use std::fmt;

use super::Table;
use super::cell::PROVEN;
use crate::{SEEDED, SEEDED_OWN, percent_of, rounded};

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = &self.settings;
        let delta = settings.delta.map_or("1/N".into(), |d| d.to_string());
        writeln!(
            f,
            "STUDY classifier: {}; ε = {}, δ = {delta}, ±{}% of each feature",
            match self.notes.is_empty() {
                true => "which demands a network can meet",
                false => "records of your own",
            },
            settings.epsilon,
            percent_of(settings.spread)
        )?;
        let is_public = self.notes.is_empty();
        writeln!(f, "{}\n", if is_public { SEEDED } else { SEEDED_OWN })?;
        writeln!(
            f,
            "  {:<12} {:>6} {:>3} {:>6}  {:<10} {:>6}  {:<11} {:>6} {:>7} {:>5} {:>12} {:>7} {:>6} {:>8} {:>7}  status",
            "dataset",
            "−1 %",
            "n",
            "major",
            "mode",
            "λ",
            "strategy",
            "η",
            "mean %",
            "std",
            "paper",
            "noise",
            "ε",
            "audited",
            "within"
        )?;
        let mut last = None;
        for row in &self.rows {
            let dataset = (&row.dataset, row.infeasible_percent);
            if last.is_some_and(|l| l != dataset) {
                writeln!(f)?;
            }
            last = Some(dataset);
            let printed = row.paper_accuracy;
            writeln!(
                f,
                "  {:<12} {:>6.1} {:>3} {:>6.1}  {:<10} {:>6.0e}  {:<11} {:>6} {:>7} {:>5} {:>12} {:>7} {:>6} {:>8} {:>7}  {}",
                row.dataset,
                row.infeasible_percent,
                row.features,
                row.majority,
                row.mode.name(),
                row.lambda,
                row.strategy,
                row.eta
                    .map_or("–".into(), |e| format!("{}%", percent_of(e))),
                rounded(row.accuracy_mean, 1),
                rounded(row.accuracy_std, 1),
                printed.map_or("–".into(), |(m, s)| format!("{m:.1} ({s:.1})")),
                rounded(row.noise_ratio, 2),
                rounded(row.claimed_epsilon, 2),
                rounded(row.audited.map(|a| a.audited_epsilon), 2),
                rounded(row.audited.map(|a| 100.0 * a.share_within), 0),
                row.status
            )?;
            if let Some(worst) = row.audited.and_then(|a| a.worst_epsilon) {
                writeln!(f, "  {:>62} a search found a pair with ε = {worst:.2}", "")?;
            }
        }
        writeln!(
            f,
            "\n−1 %: infeasible demands among the training records; major: what always answering the larger class scores;\naudited: the ε that {} fresh pairs keep ({} in certified mode), calibrated a share {} of them; within: percent of fresh pairs within ε;\nnoise: its length over that of the weights; paper: of its own datasets",
            settings.pairs,
            settings.pairs.min(PROVEN),
            1.0 - settings.gamma
        )?;
        for note in &self.notes {
            write!(f, "\nnote: {note}")?;
        }
        Ok(())
    }
}
