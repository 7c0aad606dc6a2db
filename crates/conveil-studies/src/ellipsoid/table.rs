//! The table for people.

use std::fmt;

use super::Table;
use crate::{SEEDED, percent_of, rounded};

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = &self.settings;
        writeln!(
            f,
            "STUDY ellipsoid: the largest ellipsoid inside a polytope with private offsets; ε = {}, δ = {}, η = {}%",
            settings.epsilon,
            settings.delta,
            percent_of(settings.eta)
        )?;
        writeln!(f, "{SEEDED}\n")?;
        writeln!(
            f,
            "  {:<9} {:>8} {:<10} {:<8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>7} {:>8}  status",
            "polytope",
            "universe",
            "mode",
            "strategy",
            "noise σ",
            "inside %",
            "kept %",
            "volume %",
            "drawn %",
            "ε",
            "audited"
        )?;
        let mut last = "";
        for row in &self.rows {
            if row.polytope != last && !last.is_empty() {
                writeln!(f)?;
            }
            last = &row.polytope;
            let status = match row.largest_universe_percent {
                Some(largest) => format!(
                    "{}; the largest universe that is feasible: ±{largest:.2}%",
                    row.status
                ),
                None => row.status.clone(),
            };
            writeln!(
                f,
                "  {:<9} {:>8} {:<10} {:<8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>7} {:>8}  {status}",
                row.polytope,
                format!("±{}%", row.universe_percent),
                row.mode,
                row.strategy,
                rounded(row.scale, 4),
                rounded(row.inside_percent, 2),
                rounded(row.kept_percent, 2),
                rounded(row.volume_percent, 1),
                rounded(row.drawn_volume_percent, 1),
                row.claimed_epsilon,
                rounded(row.audited_epsilon, 2),
            )?;
        }
        writeln!(
            f,
            "\ninside: drawn ellipsoids inside the polytope; kept: those whose Y is positive semidefinite besides\nvolume: of the mean ellipsoid, drawn: mean over the draws, both against the non-private one\naudited: the loss of the worst pair that a short search found; calibrated noise promises ε for a share 1−γ of pairs only"
        )
    }
}
