//! From seeds to rows, and the table for people.

use std::fmt;

use super::cell::{CERTIFIED, WAYS};
use super::{Entry, Row, Seeds, Settings, Spread, Table, Way};
use crate::{SEEDED, percent_of, rounded};

/// What the paper prints: Δ₂, and the infeasibility of output and program.
const PAPER: (f64, f64, f64) = (0.46, 9.8, 1.3);

pub(super) fn rows(seeds: &[Vec<Entry>], settings: &Settings) -> Vec<Row> {
    let paper = WAYS.iter().map(|way| (*way, way.method(), "paper"));
    let certified = CERTIFIED
        .iter()
        .map(|(way, shape)| (*way, Some(*shape), "certified"));
    let heads = paper.chain(certified).enumerate();
    heads
        .map(|(i, (way, method, mode))| {
            let seeds = Seeds(seeds.iter().map(|seed| &seed[i]).collect());
            row((way, method, mode), &seeds, settings)
        })
        .collect()
}

fn row(
    (way, method, mode): (Way, Option<&'static str>, &'static str),
    seeds: &Seeds<'_>,
    settings: &Settings,
) -> Row {
    let all = || seeds.0.iter();
    let is_paper = mode == "paper";
    Row {
        strategy: way.strategy(),
        method,
        mode,
        status: seeds.status(),
        non_private_loss: seeds.non_private_loss(),
        loss: seeds.spread(|_, f| f.judged.loss),
        root_mean_square_loss: seeds.spread(|_, f| f.judged.root_mean_square),
        infeasible_percent: seeds.spread(|_, f| f.judged.infeasible_percent),
        sensitivity: Spread::of(all().map(|e| e.sensitivity).collect()),
        draws: settings.draws,
        claimed_epsilon: settings.epsilon,
        audited_epsilon: Spread::of(all().filter_map(|e| e.audited_epsilon).collect()),
        paper_sensitivity: is_paper.then_some(PAPER.0),
        paper_infeasible_percent: match way {
            Way::Output if is_paper => Some(PAPER.1),
            Way::TwoVertices if is_paper => Some(PAPER.2),
            _ => None,
        },
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = &self.settings;
        writeln!(
            f,
            "STUDY regression: y = x + ½(x − 5)³ on {} records, increasing at 1 and 9; ε = {}, η = {}%, {} seeds of {} draws",
            settings.records,
            settings.epsilon,
            percent_of(settings.eta),
            settings.seeds,
            settings.draws
        )?;
        writeln!(f, "{SEEDED}\n")?;
        writeln!(
            f,
            "  {:<10} {:<38} {:^16} {:^26} {:>8} {:>8}",
            "", "", "loss", "infeasible in %", "", "ε"
        )?;
        writeln!(
            f,
            "  {:<10} {:<38} {:>8} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8}  status",
            "mode", "way", "mean", "std", "median", "most", "paper", "Δ", "audited"
        )?;
        let show = |value| rounded(value, 2);
        if let Some(row) = self.rows.first() {
            let without = row.non_private_loss;
            writeln!(f, "  {:<10} {:<38} {without:>8.2}", "", "without noise")?;
        }
        for row in &self.rows {
            let way = match row.method {
                None => row.strategy.to_string(),
                Some(method) => format!("{}, {method}", row.strategy),
            };
            writeln!(
                f,
                "  {:<10} {way:<38} {:>8} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8}  {}",
                row.mode,
                show(row.loss.map(|s| s.mean)),
                show(row.loss.map(|s| s.std)),
                show(row.infeasible_percent.map(|s| s.median)),
                show(row.infeasible_percent.map(|s| s.max)),
                show(row.paper_infeasible_percent),
                show(row.sensitivity.map(|s| s.mean)),
                show(row.audited_epsilon.map(|s| s.mean)),
                row.status
            )?;
        }
        writeln!(
            f,
            "\nloss: ‖y − Φw‖ + λ‖w‖. Paper mode: δ = {}, noise for the weights without noise while x and y of all records move\naround the private ones; the audited ε is what the released map loses there. Certified mode: x is public, one y\nmoves by 16 at δ = {}, by strong convexity (M8c).",
            settings.delta, settings.certified_delta
        )
    }
}
