//! `[risk]`: the objective under noise (M3, M6).

use conveil::risk::{Cvar, CvarForm, Risk, VarianceLimit, VarianceTerm};
use conveil_text::tables::{Item, Table};
use conveil_text::{Located, ReadError};

use super::reference::{self, VariableRef};
use crate::model::Stated;

/// What is minimised and bounded besides the expected cost.
#[derive(Debug, Clone, PartialEq)]
pub struct RiskSection {
    /// `objective` (`expectation`), `form` (`exact`), `limit` and `[[risk.variance]]`.
    pub risk: Risk,
    /// The variables of the variance terms.
    pub variables: Vec<Located<VariableRef>>,
}

const MAX_SAMPLES: usize = 1_000_000;

#[derive(Clone, Copy, PartialEq)]
enum Objective {
    Expectation,
    Cvar,
    Mix,
}

/// Reads `[risk]`.
pub(super) fn read(table: Option<Table>, model: &dyn Stated) -> Result<RiskSection, ReadError> {
    let mut section = RiskSection {
        risk: Risk::expectation(),
        variables: Vec::new(),
    };
    let Some(mut table) = table else {
        return Ok(section);
    };
    table.known(&[
        "objective",
        "tail",
        "weight",
        "form",
        "samples",
        "seed",
        "limit",
        "variance",
    ])?;
    let limit = match table.optional("limit") {
        None => None,
        Some(item) => Some(read_limit(item)?),
    };
    let variances = match table.optional("variance") {
        None => Vec::new(),
        Some(item) => read_variances(item, model, &mut section.variables)?,
    };
    let objective = match table.optional("objective") {
        None => Objective::Expectation,
        Some(item) => item.choice(&[
            ("expectation", Objective::Expectation),
            ("cvar", Objective::Cvar),
            ("mix", Objective::Mix),
        ])?,
    };
    let tail = match objective {
        Objective::Expectation => None,
        _ => Some(table.required("tail", "tail = 0.05")?.proper_fraction()?),
    };
    let weight = match objective {
        Objective::Mix => table
            .required("weight", "weight = 0.5")?
            .proper_fraction()?,
        _ => 1.0,
    };
    let form = read_form(&mut table)?;
    table.finish(context(objective, form))?;
    if let Some(tail) = tail {
        section.risk = Risk::mix(weight, Cvar { tail, form });
    }
    if let Some((tail, at_most)) = limit {
        section.risk = section.risk.with_cvar_at_most(Cvar { tail, form }, at_most);
    }
    for term in variances {
        section.risk = section.risk.with_variance(term);
    }
    Ok(section)
}

fn context(objective: Objective, form: CvarForm) -> String {
    let objective = match objective {
        Objective::Expectation => "expectation",
        Objective::Cvar => "cvar",
        Objective::Mix => "mix",
    };
    let form = match form {
        CvarForm::Exact => "exact",
        CvarForm::Sampled { .. } => "sampled",
    };
    format!("with objective `{objective}` and form `{form}`")
}

fn read_form(table: &mut Table) -> Result<CvarForm, ReadError> {
    let sampled = match table.optional("form") {
        None => false,
        Some(item) => item.choice(&[("exact", false), ("sampled", true)])?,
    };
    if !sampled {
        return Ok(CvarForm::Exact);
    }
    Ok(CvarForm::Sampled {
        samples: match table.optional("samples") {
            None => 1000,
            Some(samples) => samples.count(1, MAX_SAMPLES)?,
        },
        seed: match table.optional("seed") {
            None => 1,
            Some(seed) => seed.whole()?,
        },
    })
}

/// The tail and the bound.
fn read_limit(item: Item) -> Result<(f64, f64), ReadError> {
    let mut table = item.table("`limit`")?;
    table.known(&["tail", "at_most"])?;
    Ok((
        table.required("tail", "tail = 0.05")?.proper_fraction()?,
        table.required("at_most", "at_most = 12.0")?.number()?,
    ))
}

fn read_variances(
    item: Item,
    model: &dyn Stated,
    named: &mut Vec<Located<VariableRef>>,
) -> Result<Vec<VarianceTerm>, ReadError> {
    let mut terms = Vec::new();
    for mut table in item.tables("risk.variance")? {
        table.known(&["variables", "weight", "at_most"])?;
        let variables = table.required("variables", "variables = [\"x\"]")?;
        let variables = reference::read_list(&variables, model)?;
        let limit = match (table.optional("weight"), table.optional("at_most")) {
            (Some(weight), None) => VarianceLimit::Weight(weight.positive()?),
            (None, Some(at_most)) => VarianceLimit::AtMost(at_most.positive()?),
            (Some(_), Some(at_most)) => {
                return Err(at_most.error("give `weight` or `at_most`, not both"));
            }
            (None, None) => {
                return Err(table
                    .error("[[risk.variance]] needs `weight` or `at_most`")
                    .with_help("for example: weight = 0.1"));
            }
        };
        terms.push(VarianceTerm {
            variables: reference::names(&variables),
            limit,
        });
        named.extend(variables);
    }
    Ok(terms)
}
