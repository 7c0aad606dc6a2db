//! How far each declared decision moves per unit of released noise, on nominal data (M2): a phantom shows as a variable
//! that carries the noise alone while the others stay. No private value is looked at.

use crate::ask::Strategy;
use crate::plan::Plan;
use crate::program::{Program, Stage, norm};
use crate::rule::RowRule;
use serde::Serialize;

/// How the declared decisions carry the noise, as far as the public can know.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "on")]
pub enum Movement {
    /// Noise is put on the answer: no decision carries it.
    NotNeeded,
    /// A private parameter has no public nominal value.
    NoNominalData {
        /// The first of them.
        parameter: String,
    },
    /// The program is too large to be solved for this.
    TooLarge,
    /// The program at the nominal data has no answer.
    NoAnswer {
        /// Why.
        why: String,
    },
    /// The query alone fixes it, whatever the data.
    AllData {
        /// In the order of the variables.
        decisions: Vec<Moves>,
    },
    /// The program was solved at the nominal data.
    NominalData {
        /// In the order of the variables.
        decisions: Vec<Moves>,
    },
}

/// One declared decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moves {
    /// Its name.
    pub name: String,
    /// How far it moves per unit of released noise: the norm of its row of XT⁻¹.
    pub moves: f64,
    /// The share of the released noise that it carries; the shares of all decisions add up to 1.
    pub carries: f64,
}

/// Rows, columns and recourse together, beyond which no program is solved for this.
const LARGE: usize = 50_000;

/// Solves the released map at the nominal data, where it must be solved at all.
pub fn movement(plan: &Plan<'_>) -> Movement {
    movement_unless(plan, |_| false)
}

/// The same, where a program for which this holds is too large as well: a rule on its public sizes.
pub fn movement_unless(plan: &Plan<'_>, is_too_large: impl Fn(&Program) -> bool) -> Movement {
    if plan.ask().strategy != Strategy::Program {
        return Movement::NotNeeded;
    }
    let (model, released) = (plan.model(), plan.released());
    let (template, rule) = (model.template(), released.rule());
    let decisions = template.variables().iter();
    let decisions = decisions.filter(|v| v.stage() == Stage::Decision);
    let columns: Vec<usize> = decisions.flat_map(|v| v.range()).collect();
    let fixed: Option<Vec<&[(usize, f64)]>> = columns
        .iter()
        .map(|&j| match rule.row(j) {
            RowRule::Fixed(entries) => Some(entries.as_slice()),
            RowRule::Free(_) => None,
        })
        .collect();
    let query = released.query();
    let own_rows = match &query.slope {
        Some(slope) => std::slice::from_ref(slope),
        None => query.rows(),
    };
    if let Some(rows) = fixed {
        return Movement::AllData {
            decisions: moves(plan, &columns, &rows, own_rows),
        };
    }
    let mut theta = Vec::with_capacity(model.len());
    for parameter in model.parameters() {
        match parameter.nominal_value() {
            Some(nominal) => theta.push(nominal),
            None => {
                return Movement::NoNominalData {
                    parameter: parameter.name().into(),
                };
            }
        }
    }
    let solved = released.map().template();
    let size = solved.rows() + solved.columns() + rule.free_entries();
    if size > LARGE || is_too_large(solved) {
        return Movement::TooLarge;
    }
    let no_answer = |error: crate::Error| Movement::NoAnswer {
        why: error.to_string(),
    };
    let decided = match released.at(&theta) {
        Ok(decided) => decided,
        Err(error) => return no_answer(error),
    };
    let rows: Vec<_> = columns.iter().map(|&j| decided.recourse.row(j)).collect();
    let rows: Vec<&[(usize, f64)]> = rows.iter().map(|row| &**row).collect();
    // A private cost is a variable of its own in what is solved, and a row over the decisions in the model.
    let is_priced = own_rows.iter().flatten().any(|t| t.0 >= template.columns());
    let decisions = match model.at(&theta) {
        Ok(at) if is_priced && model.private_parts().q => {
            let cost = at.q().iter().copied().enumerate().collect();
            moves(plan, &columns, &rows, &[cost])
        }
        Ok(_) => moves(plan, &columns, &rows, own_rows),
        Err(error) => return no_answer(error),
    };
    Movement::NominalData { decisions }
}

/// XT⁻¹ by rows, measured, and multiplied with the rows of the query.
fn moves(
    plan: &Plan<'_>,
    columns: &[usize],
    recourse: &[&[(usize, f64)]],
    query: &[Vec<(usize, f64)>],
) -> Vec<Moves> {
    let (shape, template) = (plan.released().shape(), plan.model().template());
    let per_answer: Vec<Vec<(usize, f64)>> = recourse.iter().map(|r| shape.per_answer(r)).collect();
    let mut carries = vec![0.0; columns.len()];
    for (i, row) in query.iter().enumerate() {
        for &(j, weight) in row {
            let Ok(place) = columns.binary_search(&j) else {
                continue;
            };
            let own = per_answer[place].iter().filter(|t| t.0 == i);
            carries[place] += weight * own.map(|t| t.1).sum::<f64>() / query.len() as f64;
        }
    }
    let each = columns.iter().zip(per_answer).zip(carries);
    each.map(|((&j, row), carries)| Moves {
        name: template.variable_name(j),
        moves: norm(&row.iter().map(|t| t.1).collect::<Vec<_>>()),
        carries,
    })
    .collect()
}

/// Decisions that are written out; `{:#}` writes all.
const SHOWN: usize = 12;

impl std::fmt::Display for Movement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use crate::digits::short;
        let (decisions, on) = match self {
            Movement::NotNeeded => {
                return write!(f, "no decision has to carry the noise");
            }
            Movement::NoNominalData { parameter } => {
                return write!(
                    f,
                    "not known before the data: `{parameter}` has no public nominal value"
                );
            }
            Movement::TooLarge => {
                return write!(
                    f,
                    "not computed: the program is too large to be solved in a check"
                );
            }
            Movement::NoAnswer { why } => {
                return write!(
                    f,
                    "not known: at the nominal data there is no answer: {why}"
                );
            }
            Movement::AllData { decisions } => (decisions, "whatever the data"),
            Movement::NominalData { decisions } => (decisions, "at the nominal data"),
        };
        write!(f, "per unit of released noise, {on}:")?;
        let shown = if f.alternate() { usize::MAX } else { SHOWN };
        let mut sorted: Vec<&Moves> = decisions.iter().collect();
        let size = |m: &Moves| (m.carries.abs(), m.moves);
        sorted.sort_by(|a, b| {
            size(b)
                .0
                .total_cmp(&size(a).0)
                .then(size(b).1.total_cmp(&size(a).1))
        });
        for Moves {
            name,
            moves,
            carries,
        } in sorted.iter().take(shown)
        {
            // The last digits are the solver's.
            let percent = (1e4 * carries).round() / 1e2;
            write!(
                f,
                "\n  `{name}` moves by {} and carries {}% of it",
                short(*moves, 3),
                short(percent, 4)
            )?;
        }
        match decisions.len().saturating_sub(shown) {
            0 => Ok(()),
            more => write!(f, "\n  … and {more} more (see --details)"),
        }
    }
}
