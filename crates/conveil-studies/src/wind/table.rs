//! From seeds to rows, and the table for people.

use std::fmt;

use conveil_models::wind::PowerCurve;

use super::cell::{CERTIFIED, WAYS};
use super::printed::{relative, table_4};
use super::{EPSILON, ETA, Row, Settings, Table, Variation, Way};
use crate::regression::{Entry, Seeds};
use crate::{SEEDED, SEEDED_OWN, percent_of, rounded};

/// The rows of a turbine from the entries of its seeds.
pub(super) fn rows(curve: &PowerCurve, seeds: &[Vec<Entry>], settings: &Settings) -> Vec<Row> {
    let variations = settings.variations_percent.iter();
    let paper = variations.flat_map(|v| WAYS.iter().map(|way| (Some(*v), *way, way.method())));
    let certified = CERTIFIED
        .iter()
        .map(|(way, shape)| (None, *way, Some(*shape)));
    let heads = paper.chain(certified).enumerate();
    heads
        .map(|(i, (variation, way, method))| {
            let seeds = Seeds(seeds.iter().map(|seed| &seed[i]).collect());
            row(curve, (variation, way, method), &seeds, settings)
        })
        .collect()
}

fn row(
    curve: &PowerCurve,
    (variation, way, method): (Option<f64>, Way, Option<&'static str>),
    seeds: &Seeds<'_>,
    settings: &Settings,
) -> Row {
    let is_the_papers = settings.epsilon == EPSILON
        && settings.eta == ETA
        && settings.variation == Variation::Together;
    let paper_turbine = relative(curve.name()).filter(|_| is_the_papers);
    let printed = match (paper_turbine, variation, way) {
        (Some(turbine), Some(percent), Way::Output | Way::TwoVertices) => {
            table_4(turbine, way.strategy(), percent)
        }
        _ => None,
    };
    Row {
        turbine: curve.name().into(),
        variation_percent: variation,
        strategy: way.strategy(),
        method,
        mode: match variation {
            Some(_) => "paper",
            None => "certified",
        },
        status: seeds.status(),
        non_private_loss: seeds.non_private_loss(),
        loss: seeds.spread(|_, f| f.judged.loss),
        root_mean_square_loss: seeds.spread(|_, f| f.judged.root_mean_square),
        infeasible_percent: seeds.spread(|_, f| f.judged.infeasible_percent),
        active_conditions: variation.and(seeds.spread(|_, f| f.active as f64).map(|s| s.mean)),
        sensitivity: seeds.spread(|e, _| e.sensitivity).map(|s| s.mean),
        draws: settings.draws,
        claimed_epsilon: settings.epsilon,
        audited_epsilon: seeds.0.iter().find_map(|e| e.audited_epsilon),
        paper_turbine: printed.and(paper_turbine),
        paper_loss: printed.map(|p| p.0),
        paper_infeasible_percent: printed.map(|p| p.1),
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = &self.settings;
        writeln!(
            f,
            "STUDY wind: private power curves that must increase at {} speeds; ε = {}, η = {}%, {} seeds of {} draws",
            settings.conditions,
            settings.epsilon,
            percent_of(settings.eta),
            settings.seeds,
            settings.draws
        )?;
        let is_own = self.has_own_curves;
        writeln!(f, "{}\n", if is_own { SEEDED_OWN } else { SEEDED })?;
        writeln!(
            f,
            "  {:<12} {:>6} {:<38} {:^24} {:^26} {:>6}",
            "", "", "", "loss", "infeasible in %", "ε"
        )?;
        writeln!(
            f,
            "  {:<12} {:>6} {:<38} {:>7} {:>6} {:>8} {:>8} {:>8} {:>8} {:>7}  status",
            "turbine",
            "± in %",
            "way",
            "mean",
            "std",
            "paper",
            "median",
            "most",
            "paper",
            "audited"
        )?;
        let show = |value| rounded(value, 2);
        let mut last = "";
        for row in &self.rows {
            if row.turbine != last {
                let without = row.non_private_loss;
                writeln!(
                    f,
                    "  {:<12} {:>6} {:<38} {without:>7.2}",
                    row.turbine, "", "without noise"
                )?;
            }
            last = &row.turbine;
            let way = match row.method {
                None => row.strategy.to_string(),
                Some(method) => format!("{}, {method}", row.strategy),
            };
            let variation = match row.variation_percent {
                Some(percent) => percent.to_string(),
                None => "cert.".into(),
            };
            writeln!(
                f,
                "  {:<12} {variation:>6} {way:<38} {:>7} {:>6} {:>8} {:>8} {:>8} {:>8} {:>7}  {}",
                "",
                show(row.loss.map(|s| s.mean)),
                show(row.loss.map(|s| s.std)),
                show(row.paper_loss),
                show(row.infeasible_percent.map(|s| s.median)),
                show(row.infeasible_percent.map(|s| s.max)),
                show(row.paper_infeasible_percent),
                show(row.audited_epsilon),
                row.status
            )?;
        }
        writeln!(
            f,
            "\nloss: ‖y − Φw‖ + λ‖w‖; ± in %: paper mode, noise for the weights without noise around the private powers; the\naudited ε is what the released map loses there. cert.: one record of range 1 at δ = {}, by strong convexity (M8c).",
            settings.delta
        )
    }
}
