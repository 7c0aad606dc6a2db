//! The table for people.

use std::fmt;

use super::{BoxSplit, Method, Price, Table};
use crate::{SEEDED, percent_of, rounded};

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = &self.settings;
        let set = match (settings.method, settings.split) {
            (Method::MassBox, BoxSplit::Symmetric) => "symmetric mass box",
            (Method::MassBox, BoxSplit::Optimise) => "mass box with the best split",
            (Method::SampledBox, _) => "sampled box",
        };
        let basis = match settings.envelope {
            None => "sensitivity declared as α·c_max".to_string(),
            Some(Price::LargestCost) => "envelope at the price c_max".into(),
            Some(Price::PerMwh(price)) => format!("envelope at the price {price}"),
        };
        writeln!(
            f,
            "STUDY opf: private cost of the optimal power flow; ε = {}, η = {}%, {set}, {basis}",
            settings.epsilon,
            percent_of(settings.eta)
        )?;
        writeln!(f, "{SEEDED}\n")?;
        writeln!(
            f,
            "  {:<12} {:>4} {:<15} {:<9} {:^26} {:^26} {:>15}",
            "", "", "", "", "loss in %", "infeasible in %", "program: in %"
        )?;
        writeln!(
            f,
            "  {:<12} {:>4} {:<15} {:<9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7} {:>7}  status",
            "network",
            "α",
            "strategy",
            "mode",
            "exact",
            "drawn",
            "paper",
            "exact",
            "drawn",
            "paper",
            "limit",
            "best"
        )?;
        let show = |value| rounded(value, 2);
        let mut last = "";
        for row in &self.rows {
            if row.network != last && !last.is_empty() {
                writeln!(f)?;
            }
            last = &row.network;
            writeln!(
                f,
                "  {:<12} {:>4} {:<15} {:<9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7} {:>7}  {}{}",
                row.network,
                row.alpha,
                row.strategy,
                row.mode,
                show(row.loss_percent),
                show(row.sampled_loss_percent),
                show(row.paper_loss_percent),
                show(row.infeasible_percent),
                show(row.sampled_infeasible_percent),
                show(row.paper_infeasible_percent),
                show(row.limit_percent),
                show(row.best_split_percent),
                row.status,
                if row.is_corrected() { "*" } else { "" }
            )?;
            if let Some(boxes) = &row.sampled_boxes {
                let spread = match (boxes.mean_loss_percent, boxes.std_loss_percent) {
                    (Some(mean), Some(std)) => format!("loss {mean:.2} ± {std:.2}"),
                    _ => "no loss".into(),
                };
                writeln!(
                    f,
                    "  {:<12} {:>4}   over {} boxes: {spread}; {} fit, {} miss more than η",
                    "", "", boxes.draws, boxes.feasible, boxes.refused
                )?;
            }
        }
        writeln!(
            f,
            "\nmode: what the noise is calibrated to; paper: a declared bound on the cost, or α itself on the data; certified: the envelope's bound"
        )?;
        writeln!(
            f,
            "limit: s·ln(1/(2η)), which no decision for the network's own demands can beat; best: the best split of the mass box (M5a)"
        )?;
        self.write_corrections(f)
    }
}

impl Table {
    /// What stands behind each status with a star: whose demands the promise is for.
    fn write_corrections(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in self.rows.iter().filter(|row| row.is_corrected()) {
            let (distance, missed) = (row.correction_mwh, row.infeasible_percent);
            writeln!(
                f,
                "* {} at α = {}: the envelope corrected the demands by {:.2} MWh in all; that at most {}% is infeasible is promised for the corrected demands, for the network's own it is {}",
                row.network,
                row.alpha,
                distance.unwrap_or(0.0),
                percent_of(self.settings.eta),
                missed.map_or("unknown".into(), |p| format!("{p:.2}%")),
            )?;
            if row.loss_percent.is_some_and(|loss| loss < 0.0) {
                writeln!(
                    f,
                    "  the cost that is released is below the optimum: the envelope's price is below what the demands cost, and caps it; the limit does not apply"
                )?;
            }
        }
        Ok(())
    }
}
