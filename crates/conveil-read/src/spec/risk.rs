//! `[risk]`: the objective under noise (M3, M6).

use super::reference::{self, VariableRef};
use conveil_text::tables::Item;
use conveil_text::tables::Table;
use conveil_text::{Located, ReadError};

/// What is minimised and bounded besides the expected cost.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Risk {
    /// `objective` (`expectation`).
    pub objective: Objective,
    /// `form` (`exact`): how CVaR is computed.
    pub form: RiskForm,
    /// `limit`: a bound on the CVaR of the cost.
    pub limit: Option<RiskLimit>,
    /// `[[risk.variance]]`: terms on the variance of the decision.
    pub variances: Vec<VarianceTerm>,
}

/// The objective under noise.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Objective {
    /// `expectation`: the expected cost.
    #[default]
    Expectation,
    /// `cvar`: the mean of the worst costs.
    Cvar {
        /// `tail` in (0, 1): the share of worst costs.
        tail: f64,
    },
    /// `mix`: (1 − weight)·expectation + weight·CVaR.
    Mix {
        /// `tail` in (0, 1): the share of worst costs.
        tail: f64,
        /// `weight` in (0, 1): the weight on CVaR.
        weight: f64,
    },
}

/// How CVaR is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RiskForm {
    /// `exact`: in closed form.
    #[default]
    Exact,
    /// `sampled`: over draws of the noise.
    Sampled {
        /// `samples` (1000): 1 to 1 000 000.
        samples: usize,
        /// `seed` (1).
        seed: u64,
    },
}

/// CVaR of the cost at most a bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RiskLimit {
    /// `tail` in (0, 1): the share of worst costs.
    pub tail: f64,
    /// `at_most`: the bound.
    pub at_most: f64,
}

/// A term on the total variance of some variables.
#[derive(Debug, Clone, PartialEq)]
pub struct VarianceTerm {
    /// `variables`: which; at least one.
    pub variables: Vec<Located<VariableRef>>,
    /// What is done about their variance.
    pub control: VarianceControl,
}

/// What is done about a variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum VarianceControl {
    /// `weight` > 0: added to the objective with this weight.
    Weight(f64),
    /// `at_most` > 0: bounded.
    AtMost(f64),
}

const MAX_SAMPLES: usize = 1_000_000;

#[derive(Clone, Copy)]
enum Kind {
    Expectation,
    Cvar,
    Mix,
}

/// Reads `[risk]`.
pub(super) fn read(table: Option<Table>) -> Result<Risk, ReadError> {
    let Some(mut table) = table else {
        return Ok(Risk::default());
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
        Some(item) => read_variances(item)?,
    };
    let objective = read_objective(&mut table)?;
    let form = read_form(&mut table)?;
    table.finish(&context(objective, form))?;
    Ok(Risk {
        objective,
        form,
        limit,
        variances,
    })
}

fn context(objective: Objective, form: RiskForm) -> String {
    let objective = match objective {
        Objective::Expectation => "expectation",
        Objective::Cvar { .. } => "cvar",
        Objective::Mix { .. } => "mix",
    };
    let form = match form {
        RiskForm::Exact => "exact",
        RiskForm::Sampled { .. } => "sampled",
    };
    format!("with objective `{objective}` and form `{form}`")
}

fn read_objective(table: &mut Table) -> Result<Objective, ReadError> {
    let kind = match table.optional("objective") {
        None => Kind::Expectation,
        Some(item) => item.choice(&[
            ("expectation", Kind::Expectation),
            ("cvar", Kind::Cvar),
            ("mix", Kind::Mix),
        ])?,
    };
    if let Kind::Expectation = kind {
        return Ok(Objective::Expectation);
    }
    let tail = table.required("tail", "tail = 0.05")?.proper_fraction()?;
    if let Kind::Cvar = kind {
        return Ok(Objective::Cvar { tail });
    }
    let weight = table
        .required("weight", "weight = 0.5")?
        .proper_fraction()?;
    Ok(Objective::Mix { tail, weight })
}

fn read_form(table: &mut Table) -> Result<RiskForm, ReadError> {
    let sampled = match table.optional("form") {
        None => false,
        Some(item) => item.choice(&[("exact", false), ("sampled", true)])?,
    };
    if !sampled {
        return Ok(RiskForm::Exact);
    }
    Ok(RiskForm::Sampled {
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

fn read_limit(item: Item) -> Result<RiskLimit, ReadError> {
    let mut table = item.table("`limit`")?;
    table.known(&["tail", "at_most"])?;
    Ok(RiskLimit {
        tail: table.required("tail", "tail = 0.05")?.proper_fraction()?,
        at_most: table.required("at_most", "at_most = 12.0")?.number()?,
    })
}

fn read_variances(item: Item) -> Result<Vec<VarianceTerm>, ReadError> {
    let mut terms = Vec::new();
    for mut table in item.tables("risk.variance")? {
        table.known(&["variables", "weight", "at_most"])?;
        let variables = table.required("variables", "variables = [\"x\"]")?;
        let variables = reference::read_list(&variables)?;
        let control = match (table.optional("weight"), table.optional("at_most")) {
            (Some(weight), None) => VarianceControl::Weight(weight.positive()?),
            (None, Some(at_most)) => VarianceControl::AtMost(at_most.positive()?),
            (Some(_), Some(at_most)) => {
                return Err(at_most.error("give `weight` or `at_most`, not both"));
            }
            (None, None) => {
                return Err(table
                    .error("[[risk.variance]] needs `weight` or `at_most`")
                    .with_help("for example: weight = 0.1"));
            }
        };
        terms.push(VarianceTerm { variables, control });
    }
    Ok(terms)
}
