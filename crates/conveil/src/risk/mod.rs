//! What is minimised (M3, M6): the expected objective, CVaR of the linear cost, mixes, variance terms.

mod cvar;
mod expectation;
mod variance;

use crate::error::{Error, Result};
use crate::noise::Law;
use crate::program::Program;
use crate::rule::Lift;

/// How CVaR is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CvarForm {
    /// Closed form: one noise, or Gaussian noise.
    Exact,
    /// Over this many draws of a public seed: an optimistic estimate, not a guarantee.
    Sampled {
        /// Number of draws.
        samples: usize,
        /// Public seed.
        seed: u64,
    },
}

/// CVaR of the cost at a tail share: the mean of the worst `tail` of outcomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cvar {
    /// The tail share q in (0, 1).
    pub tail: f64,
    /// How it is computed.
    pub form: CvarForm,
}

/// A term or a bound on Σ_j σ_j²‖D X_j‖².
#[derive(Clone, Debug, PartialEq)]
pub struct VarianceTerm {
    /// The variables D selects (`name`, `name[i]` or an entry's own name).
    pub variables: Vec<String>,
    /// A weight in the objective, or a bound.
    pub limit: VarianceLimit,
}

/// How a variance is controlled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VarianceLimit {
    /// Added to the objective with this weight.
    Weight(f64),
    /// At most this.
    AtMost(f64),
}

/// The objective: (1−weight)·expectation + weight·CVaR, plus variance terms, under bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Risk {
    cvar: Option<(f64, Cvar)>,
    limit: Option<(Cvar, f64)>,
    variance: Vec<VarianceTerm>,
    /// The quadratic cost is a certificate's: its expectation stands beside the CVaR of the linear cost.
    beside_curvature: bool,
}

impl Risk {
    /// The expected objective.
    pub fn expectation() -> Self {
        Risk {
            cvar: None,
            limit: None,
            variance: Vec::new(),
            beside_curvature: false,
        }
    }

    /// CVaR of the cost.
    pub fn cvar(cvar: Cvar) -> Self {
        Self::mix(1.0, cvar)
    }

    /// (1−weight)·expectation + weight·CVaR.
    pub fn mix(weight: f64, cvar: Cvar) -> Self {
        Risk {
            cvar: Some((weight, cvar)),
            ..Self::expectation()
        }
    }

    /// CVaR of the cost is at most this.
    pub fn with_cvar_at_most(mut self, cvar: Cvar, bound: f64) -> Self {
        self.limit = Some((cvar, bound));
        self
    }

    /// Controls the variance of some variables.
    pub fn with_variance(mut self, term: VarianceTerm) -> Self {
        self.variance.push(term);
        self
    }

    /// The same over a linear cost to which a certificate adds a quadratic one.
    pub(crate) fn beside_curvature(mut self) -> Self {
        self.beside_curvature = true;
        self
    }

    /// Whether the objective is the plain expectation.
    pub(crate) fn is_expectation(&self) -> bool {
        self.cvar.is_none() && self.limit.is_none() && self.variance.is_empty()
    }

    /// What is asked beside the plain expectation, if anything is.
    pub(crate) fn beyond_expectation(&self) -> Option<&'static str> {
        match (&self.cvar, &self.limit, self.variance.first()) {
            (Some(_), _, _) => Some("the CVaR in the objective"),
            (_, Some(_), _) => Some("the bound on CVaR"),
            (_, _, Some(term)) => Some(match term.limit {
                VarianceLimit::Weight(_) => "the variance in the objective",
                VarianceLimit::AtMost(_) => "the bound on a variance",
            }),
            (None, None, None) => None,
        }
    }

    /// Whether a variance stands in the objective.
    pub(crate) fn weighs_variance(&self) -> bool {
        let mut terms = self.variance.iter();
        terms.any(|t| matches!(t.limit, VarianceLimit::Weight(_)))
    }

    /// Whether CVaR is limited.
    pub(crate) fn has_limit(&self) -> bool {
        self.limit.is_some()
    }

    /// Whether CVaR stands in the objective.
    pub(crate) fn weighs_cvar(&self) -> bool {
        self.cvar.is_some()
    }

    /// What is minimised, for people.
    pub fn describe(&self) -> String {
        let mut text = match &self.cvar {
            None => "expected objective".to_string(),
            Some((weight, cvar)) if *weight == 1.0 => {
                format!("CVaR of the worst {}%", 100.0 * cvar.tail)
            }
            Some((weight, cvar)) => format!(
                "{} × expectation + {weight} × CVaR of the worst {}%",
                1.0 - weight,
                100.0 * cvar.tail
            ),
        };
        if let Some((cvar, bound)) = &self.limit {
            text += &format!(", CVaR of the worst {}% at most {bound}", 100.0 * cvar.tail);
        }
        if !self.variance.is_empty() {
            text += &format!(", {} variance term(s)", self.variance.len());
        }
        text
    }

    /// Checks numbers and names on public structure.
    pub(crate) fn validate(&self, program: &Program, law: &Law, noises: usize) -> Result<()> {
        if let Some((weight, _)) = &self.cvar
            && !(*weight > 0.0 && *weight <= 1.0)
        {
            return Err(Error::input(format!(
                "the weight on CVaR must lie in (0, 1], found {weight}"
            )));
        }
        for cvar in self
            .cvar
            .iter()
            .map(|c| &c.1)
            .chain(self.limit.iter().map(|l| &l.0))
        {
            cvar.validate(program, self.beside_curvature, law, noises)?;
        }
        if let Some((_, bound)) = &self.limit
            && !bound.is_finite()
        {
            return Err(Error::input(format!(
                "the bound on CVaR must be finite, found {bound}"
            )));
        }
        for term in &self.variance {
            variance::validate(term, program)?;
        }
        Ok(())
    }

    /// Writes the objective into the lift.
    pub(crate) fn apply(&self, lift: &mut Lift<'_>, law: &Law) -> Result<()> {
        let weight = self.cvar.as_ref().map_or(0.0, |c| c.0);
        expectation::add_linear(lift, 1.0 - weight);
        let curved = match self.beside_curvature {
            true => 1.0,
            false => 1.0 - weight,
        };
        expectation::add_quadratic(lift, law, curved);
        if let Some((weight, cvar)) = &self.cvar {
            let (terms, constant) = cvar.terms(lift, law)?;
            for (column, value) in terms {
                lift.add_cost(column, weight * value);
            }
            lift.add_constant(weight * constant);
        }
        if let Some((cvar, bound)) = &self.limit {
            lift.label(Some("the bound on CVaR"));
            let (terms, constant) = cvar.terms(lift, law)?;
            let own = lift.program().constant();
            lift.inequality((terms, bound - constant - own), None);
        }
        lift.label(Some("the bound on variance"));
        for term in &self.variance {
            variance::add(term, lift, law)?;
        }
        lift.label(None);
        Ok(())
    }
}
