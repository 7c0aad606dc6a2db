//! The comparison table: one row per strategy, what to make of it, and one sentence for the hurried.

use super::About;
use crate::digits::short;
use serde::Serialize;
use std::fmt;

/// One strategy's row. Private.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StrategyRow {
    /// input, output, shifted output, projected output, linear term, program.
    pub strategy: &'static str,
    /// ok, infeasible, or why it does not apply.
    pub status: String,
    /// Expected loss in the objective's unit, exact.
    pub loss: Option<f64>,
    /// 100·loss/|optimum|, unless the optimum is 0 beside the losses.
    pub loss_percent: Option<f64>,
    /// The loss over the draws; infeasible input draws leave the mean.
    pub sampled_loss: Option<f64>,
    /// The same in percent of the optimum, under the same condition.
    pub sampled_loss_percent: Option<f64>,
    /// 100·Pr(infeasible), exact.
    pub infeasible_percent: Option<f64>,
    /// The same over the draws.
    pub sampled_infeasible_percent: Option<f64>,
    /// Draws behind the sampled columns.
    pub draws: u64,
}

impl StrategyRow {
    /// A row without numbers.
    pub(super) fn bare(strategy: &'static str, status: String) -> Self {
        StrategyRow {
            strategy,
            status,
            loss: None,
            loss_percent: None,
            sampled_loss: None,
            sampled_loss_percent: None,
            infeasible_percent: None,
            sampled_infeasible_percent: None,
            draws: 0,
        }
    }
}

/// How large what a strategy releases is under the noise, by a measure of the model's own. Private.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Size {
    /// As in a [`StrategyRow`].
    pub strategy: &'static str,
    /// What is measured: `volume`.
    pub what: &'static str,
    /// Before the noise, in percent of the answer without privacy.
    pub before_noise_percent: f64,
    /// The mean over the draws, in the same percent.
    pub mean_percent: f64,
    /// 5% of the draws are at most as large.
    pub low_percent: f64,
    /// 5% of the draws are at least as large.
    pub high_percent: f64,
    /// Draws.
    pub draws: u64,
}

impl Size {
    /// From the sizes before noise and in the draws, each over that of the answer without privacy. None without draws.
    pub fn of(
        strategy: &'static str,
        what: &'static str,
        before_noise: f64,
        mut drawn: Vec<f64>,
    ) -> Option<Self> {
        drawn.sort_by(f64::total_cmp);
        let last = drawn.len().checked_sub(1)?;
        let at = |share: f64| 100.0 * drawn[(share * last as f64).round() as usize];
        Some(Size {
            strategy,
            what,
            before_noise_percent: 100.0 * before_noise,
            mean_percent: 100.0 * drawn.iter().sum::<f64>() / drawn.len() as f64,
            low_percent: at(0.05),
            high_percent: at(0.95),
            draws: drawn.len() as u64,
        })
    }
}

/// All strategies side by side. Private.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Whether it depends on private data: then it must not be published.
    pub private: bool,
    /// Which data it is about, where they are public.
    #[serde(rename = "at", skip_serializing_if = "About::is_private")]
    pub about: About,
    /// The optimum without noise.
    pub optimum: f64,
    /// The feasible answers, an interval where one number is released (M11).
    #[serde(skip)]
    pub feasible_answers: Option<(f64, f64)>,
    /// One row per strategy.
    pub rows: Vec<StrategyRow>,
    /// How large what is released is, where the model measures it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<Size>,
    /// How far the data that an envelope's decision is for are from the data themselves, where they are not the same.
    pub correction_distance: Option<f64>,
    /// Feasibility is that for the clipped data: the data as they are make no program that can be solved.
    pub is_for_clipped_data: bool,
    /// What to make of it.
    pub advice: Vec<String>,
}

/// An optimum below this share of a loss is 0 as far as a solver can tell, and no measure for the loss.
const NOTHING: f64 = 1e-6;

/// 100·loss/|optimum|; none where the optimum is 0 beside the loss.
pub(super) fn in_percent(loss: f64, optimum: f64) -> Option<f64> {
    let whole = optimum.abs();
    (whole > 1e-9 && whole > NOTHING * loss.abs()).then(|| 100.0 * loss / whole)
}

impl Comparison {
    /// The same about these data.
    #[must_use]
    pub fn about(mut self, about: About) -> Self {
        (self.private, self.about) = (about.is_private(), about);
        self
    }

    pub(super) fn new(
        optimum: f64,
        feasible_answers: Option<(f64, f64)>,
        mut rows: Vec<StrategyRow>,
        eta: f64,
    ) -> Self {
        // All rows are in percent, or none is: they stand beside each other.
        let losses = |row: &StrategyRow| [row.loss, row.sampled_loss];
        let mut each = rows.iter().flat_map(losses).flatten();
        if each.any(|loss| in_percent(loss, optimum).is_none()) {
            for row in &mut rows {
                (row.loss_percent, row.sampled_loss_percent) = (None, None);
            }
        }
        Comparison {
            private: true,
            about: About::Private,
            optimum,
            feasible_answers,
            advice: advice(&rows, optimum, eta),
            rows,
            sizes: Vec::new(),
            correction_distance: None,
            is_for_clipped_data: false,
        }
    }

    /// What else a reader must know, before the advice.
    pub(super) fn with_notes(
        mut self,
        distance: Option<f64>,
        is_for_clipped_data: bool,
        mut notes: Vec<String>,
    ) -> Self {
        self.correction_distance = distance;
        self.is_for_clipped_data = is_for_clipped_data;
        notes.append(&mut self.advice);
        self.advice = notes;
        self
    }

    /// The best strategy that is never infeasible.
    fn always_feasible(&self) -> Option<&StrategyRow> {
        let rows = self.rows.iter();
        let never = |r: &&StrategyRow| {
            matches!(r.strategy, "projected output" | "linear term" | "truncated")
        };
        rows.filter(never)
            .filter(|r| r.sampled_loss.is_some())
            .min_by(|a, b| total(a.sampled_loss).total_cmp(&total(b.sampled_loss)))
    }

    /// Plain noise against program perturbation, in one sentence.
    pub fn summary(&self) -> String {
        let row = |name: &str| self.rows.iter().find(|r| r.strategy == name);
        let infeasible = |r: &StrategyRow| r.infeasible_percent.or(r.sampled_infeasible_percent);
        let plain = row("output")
            .and_then(infeasible)
            .map_or(String::new(), |p| {
                format!("plain noise on the answer is infeasible in {p:.1}% of cases; ")
            });
        let program = row("program");
        if let Some(best) = self.always_feasible()
            && program.is_none_or(|r| r.status != "infeasible" && r.status != "ok")
        {
            let cost = match (best.sampled_loss_percent, best.sampled_loss) {
                (Some(percent), _) => format!("{percent:.2}% of the optimum"),
                (None, Some(loss)) => format!("{} in the objective's unit", short(loss, 6)),
                (None, None) => "an unknown amount".into(),
            };
            let name = match best.strategy {
                "linear term" => "noise on the linear term",
                "truncated" => "truncated perturbation",
                other => other,
            };
            return format!("{plain}{name} is never infeasible and costs {cost}");
        }
        if program.is_some_and(|r| r.status.starts_with("does not apply")) {
            return format!("{plain}program perturbation needs an η to be stated");
        }
        let Some(program) = program.filter(|r| r.status == "ok") else {
            return format!(
                "{plain}program perturbation finds no room for this noise (see `explain`)"
            );
        };
        let is_capped = self.correction_distance.is_some() && program.loss.is_some_and(|l| l < 0.0);
        let often = infeasible(program).map_or("rarely".into(), |p| format!("in {p:.1}%"));
        let cost = match (program.loss_percent, program.loss) {
            (Some(percent), _) => format!(
                "{:.2}% of the optimum",
                if is_capped { -percent } else { percent }
            ),
            (None, Some(loss)) => format!(
                "{} in the objective's unit",
                short(if is_capped { -loss } else { loss }, 6)
            ),
            (None, None) => "an unknown amount".into(),
        };
        if is_capped {
            return format!(
                "{plain}program perturbation is infeasible {often}, and the cost that it releases is {cost} too low: the envelope's price is below what the data cost"
            );
        }
        format!("{plain}program perturbation is infeasible {often} and costs {cost}")
    }
}

impl Comparison {
    /// [`Comparison::summary`] in one line.
    pub fn in_short(&self) -> String {
        let row = |name: &str| self.rows.iter().find(|r| r.strategy == name);
        let infeasible = |r: &StrategyRow| r.infeasible_percent.or(r.sampled_infeasible_percent);
        let often = |r: &StrategyRow| {
            infeasible(r).map_or(String::new(), |p| format!("infeasible {p:.1}%"))
        };
        let plain = row("output").map(often).filter(|often| !often.is_empty());
        let plain = plain.map_or(String::new(), |often| format!("; plain noise {often}"));
        let amount = |percent: Option<f64>, loss: Option<f64>| match (percent, loss) {
            (Some(percent), _) => format!("{percent:.2}% of the optimum"),
            (None, Some(loss)) => format!("{} in the objective's unit", short(loss, 6)),
            (None, None) => "an unknown amount".into(),
        };
        let program = row("program");
        let is_tried = |r: &StrategyRow| r.status == "ok" || r.status == "infeasible";
        match (program, self.always_feasible()) {
            (Some(program), _) if program.status == "ok" => {
                let is_capped =
                    self.correction_distance.is_some() && program.loss.is_some_and(|l| l < 0.0);
                let cost = match is_capped {
                    false => amount(program.loss_percent, program.loss),
                    true => format!(
                        "{} too low",
                        amount(
                            program.loss_percent.map(|p| -p),
                            program.loss.map(|loss| -loss)
                        )
                    ),
                };
                let often = often(program);
                let comma = if often.is_empty() { "" } else { ", " };
                format!("program perturbation {cost}{comma}{often}{plain}")
            }
            (program, Some(best)) if program.is_none_or(|r| !is_tried(r)) => {
                let cost = amount(best.sampled_loss_percent, best.sampled_loss);
                format!("{} {cost}, never infeasible{plain}", best.strategy)
            }
            (Some(program), _) if program.status.starts_with("does not apply") => {
                format!("program perturbation does not apply{plain}")
            }
            _ => format!("program perturbation finds no room for this noise{plain}"),
        }
    }
}

/// A missing loss is the largest.
fn total(loss: Option<f64>) -> f64 {
    loss.unwrap_or(f64::INFINITY)
}

/// What to make of the rows: simpler methods that win are named (M13).
fn advice(rows: &[StrategyRow], optimum: f64, eta: f64) -> Vec<String> {
    let find = |name: &str| rows.iter().find(|r| r.strategy == name && r.status == "ok");
    let mut advice = Vec::new();
    let exact = |name: &str| find(name).and_then(|r| r.loss);
    if let (Some(a), Some(b)) = (exact("shifted output"), exact("program"))
        && (a - b).abs() <= 1e-4 * a.abs().max(b.abs()) + 1e-7 * optimum.abs()
    {
        advice.push(
            "shifted output releases the same number with the same loss as program perturbation on this cost query; what program perturbation adds is the decision that carries the number out (strategy = \"shifted\" in [feasibility] releases the number alone)".into(),
        );
    }
    let loss = |r: &StrategyRow| r.sampled_loss_percent.or(r.loss_percent);
    let percent = |name: &str| find(name).and_then(loss);
    // The rows of a better one that is never infeasible, and of the next.
    let is_better = |a: f64, b: f64| a < b - 0.1 * b.abs();
    let simple = [percent("projected output"), percent("program")];
    let best_of_others = simple.into_iter().flatten().reduce(f64::min);
    if let (Some(linear), Some(others)) = (percent("linear term"), best_of_others)
        && is_better(linear, others)
    {
        advice.push(format!(
            "only linear costs are private, so the noise can be put on them and the program solved after it: a loss of {linear:.2}% against {others:.2}%, and never infeasible; strategy = \"linear-term\" in [feasibility] releases that"
        ));
    }
    if let (Some(a), Some(b)) = (percent("projected output"), percent("program"))
        && is_better(a, b)
    {
        advice.push(format!(
                "the feasible set is public, so the noisy answer can simply be projected onto it: a loss of {a:.2}% against {b:.2}% for program perturbation, and never infeasible; strategy = \"projected\" in [feasibility] releases that"
            ));
    }
    let others = ["projected output", "linear term", "program"].map(percent);
    let best = others.into_iter().flatten().reduce(f64::min);
    if let (Some(truncated), Some(others)) = (percent("truncated"), best)
        && is_better(truncated, others)
    {
        advice.push(format!(
            "bounded noise can be put on the private numbers, each moved to its strict side, and the program solved at those: a loss of {truncated:.2}% against {others:.2}%, and never infeasible; mechanism = \"truncated-laplace\" and strategy = \"truncated\" in [feasibility] releases that"
        ));
    }
    let feasible = ["truncated", "linear term", "projected output", "program"].map(percent);
    let best = feasible.into_iter().flatten().reduce(f64::min);
    if let (Some(input), Some(others)) = (find("input"), best)
        && let Some(loss) = loss(input).filter(|loss| is_better(*loss, others))
        && input.sampled_infeasible_percent == Some(0.0)
    {
        advice.push(format!(
            "the noise can be put on the private numbers, and the program solved at the noisy ones: a loss of {loss:.2}% against {others:.2}% for the best of the others that keep the constraints; infeasible in none of {} draws, which is measured, not promised; strategy = \"input\" in [feasibility] releases that",
            input.draws
        ));
    }
    if let Some(output) = find("output")
        && output
            .infeasible_percent
            .or(output.sampled_infeasible_percent)
            .is_some_and(|p| p <= 100.0 * eta)
    {
        advice.push(
            "plain output perturbation is already feasible often enough here: where only the number is needed, and no decision that carries it out, the simpler method serves (strategy = \"output\" in [feasibility])".into(),
        );
    }
    advice
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "COMPARISON: {}; noise is a study's, nothing is released",
            self.about.stamp()
        )?;
        let optimum = crate::digits::decimals(self.optimum, 0.0);
        writeln!(f, "optimum without noise {optimum}")?;
        let has_losses = |r: &StrategyRow| r.loss.is_some() || r.sampled_loss.is_some();
        let has_percents =
            |r: &StrategyRow| r.loss_percent.is_some() || r.sampled_loss_percent.is_some();
        let is_absolute = self.rows.iter().any(has_losses) && !self.rows.iter().any(has_percents);
        let unit = match is_absolute {
            true => "loss",
            false => "loss in %",
        };
        writeln!(f, "  {:<17} {unit:>19} {:>19}", "", "infeasible in %")?;
        writeln!(
            f,
            "  {:<17} {:>9} {:>9} {:>9} {:>9} {:>8}  status",
            "strategy", "exact", "drawn", "exact", "drawn", "draws"
        )?;
        let show = |v: Option<f64>| v.map_or("–".into(), |v| format!("{v:.3}"));
        let amount = |v: Option<f64>| v.map_or("–".into(), |v| short(v, 4));
        for row in &self.rows {
            writeln!(
                f,
                "  {:<17} {:>9} {:>9} {:>9} {:>9} {:>8}  {}",
                row.strategy,
                match is_absolute {
                    true => amount(row.loss),
                    false => show(row.loss_percent),
                },
                match is_absolute {
                    true => amount(row.sampled_loss),
                    false => show(row.sampled_loss_percent),
                },
                show(row.infeasible_percent),
                show(row.sampled_infeasible_percent),
                match row.draws {
                    0 => "–".to_string(),
                    draws => draws.to_string(),
                },
                row.status
            )?;
        }
        if is_absolute {
            writeln!(
                f,
                "note: the optimum is 0 beside the losses, as far as the solver can tell: losses are in the objective's unit, because no percentage of 0 says anything"
            )?;
        }
        for size in &self.sizes {
            writeln!(
                f,
                "{} of {}: {:.1}% of that without noise before the noise; drawn {:.1}%, 5 to 95% of {} draws between {:.1}% and {:.1}%",
                size.what,
                size.strategy,
                size.before_noise_percent,
                size.mean_percent,
                size.draws,
                size.low_percent,
                size.high_percent
            )?;
        }
        for line in &self.advice {
            writeln!(f, "note: {line}")?;
        }
        let whose = match self.is_for_clipped_data {
            true => "for the clipped data, ",
            false => "",
        };
        writeln!(f, "in short: {whose}{}", self.summary())
    }
}
