//! Loss and error bars against ε, α, η or a public number of the certificate, as a table. It explores private data.

use super::About;
use super::comparison::in_percent;
use crate::ask::{Ask, Bound, Request, Strategy, Term};
use crate::digits::short;
use crate::error::{Error, Result};
use crate::noise::Sampler;
use crate::plan::{Decided, Plan, within};
use crate::program::{DataMap, Program, Setting};
use crate::solve::{self, Batch};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// What varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// The privacy parameter.
    Epsilon,
    /// The adjacency's distance; the sensitivity must be declared per α, or an envelope's.
    Alpha,
    /// The probability of infeasibility.
    Eta,
    /// ν: by how much the data may be corrected for each unit of their price; the certificate must be stated with one.
    Width,
    /// κ: the quadratic cost that is added on what is released; likewise.
    Curvature,
    /// π: what one unit beside the data costs; likewise.
    Price,
}

impl Axis {
    /// All of them.
    pub const ALL: [Axis; 6] = [
        Axis::Epsilon,
        Axis::Alpha,
        Axis::Eta,
        Axis::Width,
        Axis::Curvature,
        Axis::Price,
    ];

    /// Its name in a spec and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Axis::Epsilon => "epsilon",
            Axis::Alpha => "alpha",
            Axis::Eta => "eta",
            Axis::Width | Axis::Curvature | Axis::Price => self.term().map_or("", Term::word),
        }
    }

    /// The axis of this name.
    pub fn named(word: &str) -> Result<Self> {
        let found = Axis::ALL.into_iter().find(|axis| axis.word() == word);
        found.ok_or_else(|| {
            let words: Vec<String> = Axis::ALL.map(|a| format!("{:?}", a.word())).to_vec();
            let (last, others) = words.split_last().map_or(("", &[][..]), |(l, o)| (l, o));
            Error::input(format!(
                "a frontier is over {} or {last}, found {word:?}",
                others.join(", ")
            ))
        })
    }

    /// The number of a certificate that it varies, if it is one.
    pub fn term(self) -> Option<Term> {
        match self {
            Axis::Epsilon | Axis::Alpha | Axis::Eta => None,
            Axis::Width => Some(Term::Width),
            Axis::Curvature => Some(Term::Curvature),
            Axis::Price => Some(Term::Price),
        }
    }

    /// As formulas write it.
    pub fn symbol(self) -> &'static str {
        match self {
            Axis::Epsilon => "ε",
            Axis::Alpha => "α",
            Axis::Eta => "η",
            Axis::Width | Axis::Curvature | Axis::Price => self.word(),
        }
    }
}

/// One value of the axis. Private.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontierRow {
    /// The value.
    pub value: f64,
    /// ok, infeasible, not attainable, refused, or a solver's failure.
    pub status: String,
    /// The noise scale.
    pub scale: Option<f64>,
    /// The minimised objective.
    pub objective: Option<f64>,
    /// objective − optimum.
    pub loss: Option<f64>,
    /// 100·loss/|optimum|.
    pub loss_percent: Option<f64>,
    /// Half of the 95% error bar of every released number; none where they have different ones, or where the noise is not on
    /// the released numbers themselves.
    pub error_bar: Option<f64>,
    /// How far off the noisy answer is, by the model's own measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// What a rule chose for this value, where the model follows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Setting>,
    /// How far the data that the decision is for are from the data themselves, where a certificate corrects them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correction: Option<f64>,
}

/// The table. Private.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frontier {
    /// Whether it depends on private data: then it must not be published.
    pub private: bool,
    /// Which data it is about, where they are public.
    #[serde(rename = "at", default, skip_serializing_if = "About::is_private")]
    pub about: About,
    /// What varies.
    pub axis: Axis,
    /// The optimum without noise; where the model follows the value, that of the ask itself.
    pub optimum: f64,
    /// What `error` of a row is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<String>,
    /// One row per value.
    pub rows: Vec<FrontierRow>,
}

/// Draws behind an expected objective that has no closed form, and their seed: the same at every value.
const DRAWS: u64 = 200;
const SEED: u64 = 0xF207;

/// What a plan's decision costs on average: what was minimised, or over draws where the answer is made feasible after the
/// noise. None where no decision goes with a noisy answer.
fn expected_objective(
    plan: &Plan<'_>,
    decided: &Decided,
    program: &Program,
) -> Result<Option<f64>> {
    let variance = plan.law().variance();
    match plan.ask().strategy {
        Strategy::Program => Ok(Some(decided.objective)),
        Strategy::Output => {
            let query = plan.released().query();
            let is_whole = query.whole_decision(program.columns()).is_some();
            let extra = decided.recourse.expected_extra(program, variance);
            Ok(is_whole.then(|| program.objective(&decided.mean) + extra))
        }
        Strategy::Shifted => {
            let shift = plan.shift().map_or(0.0, |shift| shift.amount.abs());
            let factor = plan.released().query().value_factor().unwrap_or(1.0);
            Ok(Some(decided.objective + shift / factor.abs()))
        }
        // At noisy data there may be no answer, and then no cost.
        Strategy::Input | Strategy::Truncated => Ok(None),
        Strategy::Projected | Strategy::LinearTerm => {
            let shape = plan.released().shape();
            let mut sum = 0.0;
            for draw in 0..DRAWS {
                let mut zeta = vec![0.0; shape.noises()];
                Sampler::new(SEED, draw).fill(plan.law(), &mut zeta);
                let noise = shape.apply(&zeta);
                let noisy: Vec<f64> = (decided.answer.iter().zip(&noise))
                    .map(|(answer, noise)| answer + noise)
                    .collect();
                let Some(x) = plan.decision_of(&noisy) else {
                    return Ok(None);
                };
                sum += program.objective(&x?);
            }
            Ok(Some(sum / DRAWS as f64))
        }
    }
}

/// What a model adds to a frontier.
#[derive(Clone, Copy, Default)]
pub struct Following<'f> {
    /// The map at a value of the axis, where a rule makes the map follow it. Its rows have no objective: each would be of
    /// another program.
    pub map: Option<&'f (dyn Fn(f64) -> Result<Arc<dyn DataMap>> + Sync)>,
    /// A measure of the model's own for noisy answers.
    pub measure: Option<AnswerMeasure<'f>>,
}

/// How far off noisy answers are.
#[derive(Clone, Copy)]
pub struct AnswerMeasure<'m> {
    /// In words: `the share of records on the wrong side`.
    pub name: &'m str,
    /// For a plan and what it decided.
    pub of: &'m (dyn Fn(&Plan<'_>, &Decided) -> Result<f64> + Sync),
}

/// The error bar that all released numbers have in common.
fn common_error_bar(plan: &Plan<'_>) -> Option<f64> {
    if plan.ask().strategy.is_solved_after_noise() {
        return None;
    }
    let widths = &plan.guarantee().uncertainty().half_widths;
    let first = *widths.first()?;
    let is_same = |width: &f64| (width - first).abs() <= ROUNDING * first;
    widths.iter().all(is_same).then_some(first)
}

/// Equal error bars may differ by this share.
const ROUNDING: f64 = 1e-9;

/// Optima of one program that processors of different kinds compute are this close, as a share.
const SAME: f64 = 1e-6;

/// Solves the ask at each value, in parallel.
pub fn frontier(
    map: &dyn DataMap,
    ask: &Ask,
    theta: &[f64],
    axis: Axis,
    values: &[f64],
    batch: &Batch<'_>,
) -> Result<Frontier> {
    frontier_following(&Following::default(), map, ask, theta, axis, values, batch)
}

/// The same for a model that follows the value or has a measure of its own.
pub fn frontier_following(
    following: &Following<'_>,
    map: &dyn DataMap,
    ask: &Ask,
    theta: &[f64],
    axis: Axis,
    values: &[f64],
    batch: &Batch<'_>,
) -> Result<Frontier> {
    let stated = ask.stated()?;
    let universe = within::claimed(map, ask, &stated, false)?;
    let shared: Arc<dyn DataMap + '_> = Arc::new(map);
    let counted = within::counted(&shared, &stated, universe.as_ref())?;
    let program = counted.at(theta)?;
    let objective_constant = counted.objective_constant(&counted.clipped(theta)?);
    let optimum = solve::optimum(&program, &ask.settings)?.objective + objective_constant;
    let vary = |value: f64| -> Result<Ask> {
        let ask = ask.clone();
        Ok(match axis {
            Axis::Width | Axis::Curvature | Axis::Price => match axis.term() {
                Some(term) => ask.sensitivity(stated.sensitivity.with_term(term, value)?),
                None => ask,
            },
            Axis::Epsilon => ask.with_epsilon(value),
            Axis::Eta => ask.with_eta(value),
            Axis::Alpha => {
                let per_alpha = match &stated.sensitivity {
                    Request::Declared { bound, .. } => matches!(bound, Bound::PerAlpha(_)),
                    other => other.certificate().is_some_and(|kind| kind.follows_alpha()),
                };
                if !per_alpha {
                    return Err(Error::input(
                        "a frontier over α needs a sensitivity declared per α (`per_alpha`), or an envelope",
                    ));
                }
                ask.with_alpha(value)
            }
        })
    };
    // An axis that this ask does not have is refused whole, and not row by row.
    if let Some(term) = axis.term() {
        stated.sensitivity.with_term(term, 1.0)?;
    }
    // A value that no ask allows is the caller's mistake.
    let meaningful = |value: f64| {
        let highest = if axis == Axis::Eta {
            0.5
        } else {
            f64::INFINITY
        };
        value > 0.0 && value < highest
    };
    let rows = batch.run(values.len(), |index| -> Result<FrontierRow> {
        let value = values[index];
        let mut row = FrontierRow {
            value,
            status: "ok".into(),
            scale: None,
            objective: None,
            loss: None,
            loss_percent: None,
            error_bar: None,
            error: None,
            settings: Vec::new(),
            correction: None,
        };
        let own = match following.map {
            // What no ask allows is refused with the ask.
            Some(map_at) if meaningful(value) => Some(map_at(value)?),
            _ => None,
        };
        let map = own.as_deref().unwrap_or(map);
        let plan = match Plan::new(map, vary(value)?) {
            Ok(plan) => plan,
            Err(Error::NotAttainable(why)) => {
                row.status = format!("not attainable: {why}");
                return Ok(row);
            }
            Err(Error::NoiseDoesNotFit(_)) => {
                row.status = "infeasible".into();
                return Ok(row);
            }
            // A value that this ask does not allow is that row's, unless the ask itself is at fault.
            Err(e @ (Error::Refused { .. } | Error::Input(_))) if meaningful(value) => {
                Plan::new(map, ask.clone())?;
                row.status = e.to_string().replace("\n  ", "; ");
                return Ok(row);
            }
            Err(other) => return Err(other),
        };
        row.scale = Some(plan.law().scale());
        row.error_bar = common_error_bar(&plan);
        if own.is_some() {
            row.settings = plan.guarantee().settings().to_vec();
        }
        match plan.released().at(theta) {
            Ok(decided) => {
                row.correction = decided.correction.as_ref().map(|c| c.distance);
                let decided = match plan.released().plain() {
                    Some(_) => plan.released().in_users_variables(decided, theta)?,
                    None => decided,
                };
                if let Some(measure) = following.measure {
                    row.error = Some((measure.of)(&plan, &decided)?);
                }
                if own.is_some() {
                    return Ok(row);
                }
                if let Some(expected) = expected_objective(&plan, &decided, &program)? {
                    let loss = expected + objective_constant - optimum;
                    row.objective = Some(expected + objective_constant);
                    row.loss = Some(loss);
                    row.loss_percent = in_percent(loss, optimum);
                }
            }
            Err(Error::NoiseDoesNotFit(_)) => row.status = "infeasible".into(),
            Err(e @ (Error::Inaccurate { .. } | Error::Numerical(_))) => row.status = e.to_string(),
            Err(other) => return Err(other),
        }
        Ok(row)
    })?;
    Ok(Frontier {
        private: true,
        about: About::Private,
        axis,
        optimum,
        measure: following.measure.map(|measure| measure.name.into()),
        rows: rows.into_iter().collect::<Result<Vec<_>>>()?,
    })
}

impl Frontier {
    /// The same about these data.
    #[must_use]
    pub fn about(mut self, about: About) -> Self {
        (self.private, self.about) = (about.is_private(), about);
        self
    }

    /// One table out of parts with some of its values each, in their order. Parts of another program are refused.
    pub fn joined(parts: Vec<Frontier>) -> Result<Frontier> {
        let mut parts = parts.into_iter();
        let Some(mut whole) = parts.next() else {
            return Err(Error::input("a frontier has at least one part"));
        };
        for part in parts {
            let apart = (part.optimum - whole.optimum).abs();
            if part.axis != whole.axis
                || part.about != whole.about
                || part.measure != whole.measure
                || apart > SAME * whole.optimum.abs()
            {
                return Err(Error::input(
                    "the parts of a frontier have different axes or optima: they are not of one frontier",
                ));
            }
            whole.rows.extend(part.rows);
        }
        Ok(whole)
    }
}

/// A column of the table that not every frontier has: its title, and its cells.
type Column = (String, Vec<Option<f64>>);

impl Frontier {
    /// Columns that some row has something in.
    fn further_columns(&self) -> Vec<Column> {
        let column = |title: &str, cell: &dyn Fn(&FrontierRow) -> Option<f64>| {
            let cells: Vec<Option<f64>> = self.rows.iter().map(cell).collect();
            (title.to_string(), cells)
        };
        let mut columns = vec![column("± (95%)", &|row| row.error_bar)];
        let first = self.rows.iter().find(|row| !row.settings.is_empty());
        for (place, setting) in first.iter().flat_map(|row| row.settings.iter().enumerate()) {
            columns.push(column(&setting.name, &|row| {
                row.settings.get(place).map(|setting| setting.value)
            }));
        }
        columns.push(column("error", &|row| row.error));
        let is_corrected = |row: &FrontierRow| row.correction.is_some_and(|size| size > 0.0);
        if self.axis.term().is_some() || self.rows.iter().any(is_corrected) {
            columns.push(column("correction", &|row| row.correction));
        }
        columns.retain(|(_, cells)| cells.iter().any(Option::is_some));
        columns
    }

    /// Whether the model follows the value.
    fn is_following(&self) -> bool {
        self.rows.iter().any(|row| !row.settings.is_empty())
    }
}

impl fmt::Display for Frontier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "FRONTIER: {}", self.about.exploring())?;
        let optimum = crate::digits::decimals(self.optimum, 0.0);
        match self.is_following() {
            false => writeln!(f, "optimum without noise {optimum}")?,
            true => writeln!(
                f,
                "optimum without noise {optimum} as asked; a rule makes another program at each value, so that no loss is given"
            )?,
        }
        if let Some(measure) = &self.measure {
            writeln!(f, "error: {measure}, under the noise")?;
        }
        let further = self.further_columns();
        write!(f, "  {:>12} {:>14}", self.axis.symbol(), "noise scale")?;
        for (title, _) in &further {
            write!(f, " {title:>14}")?;
        }
        let loses = !self.is_following();
        if loses {
            write!(f, " {:>16} {:>14} {:>10}", "objective", "loss", "loss %")?;
        }
        writeln!(f, "  status")?;
        let show = |v: Option<f64>| v.map_or("–".into(), |v| crate::digits::decimals(v, 0.0));
        for (index, row) in self.rows.iter().enumerate() {
            write!(f, "  {:>12} {:>14}", short(row.value, 9), show(row.scale))?;
            for (_, cells) in &further {
                write!(f, " {:>14}", show(cells.get(index).copied().flatten()))?;
            }
            if loses {
                let percent = row.loss_percent.map_or("–".into(), |v| format!("{v:.3}"));
                let (objective, loss) = (show(row.objective), show(row.loss));
                write!(f, " {objective:>16} {loss:>14} {percent:>10}")?;
            }
            writeln!(f, "  {}", row.status)?;
        }
        Ok(())
    }
}
