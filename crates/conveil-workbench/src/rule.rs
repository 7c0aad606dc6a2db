//! The linear rule that a plan decides at one dataset, by the names of the model. Private.

use std::fmt;

use conveil::plan::{Decided, Plan};
use serde::Serialize;

/// Variables that the text shows one by one.
const SHOWN: usize = 20;

/// x(ζ) = x̄ + Xζ over the model's own variables, and the law of each independent ζ. Private.
///
/// # Guarantee
/// The decision of a release on the same data with the noise ζ̂ is x̄ + Xζ̂: both come from one solve of the released map.
/// Test: `the_decision_of_a_release_lies_on_the_rule`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DecidedRule {
    private: bool,
    note: &'static str,
    mean: Vec<(String, f64)>,
    /// Entries of X that are not zero: the variable's position in `mean`, the noise, the coefficient.
    recourse: Vec<(usize, usize, f64)>,
    noises: usize,
    law: &'static str,
    scale: f64,
    /// What |ζ| never exceeds, where the law has such a bound.
    bound: Option<f64>,
}

impl DecidedRule {
    pub(crate) fn new(plan: &Plan<'_>, decided: &Decided) -> Self {
        // A certificate's own variables stand behind the model's; they are not part of the decision.
        let own = 0..plan.model().template().columns();
        let name = |j: usize| decided.program.variable_name(j);
        let entries = own.clone().flat_map(|j| {
            let row = decided.recourse.row(j).into_owned().into_iter();
            row.map(move |(noise, value)| (j, noise, value))
        });
        DecidedRule {
            private: true,
            note: "PRIVATE: depends on the data, for the curator; not to be published",
            mean: own.clone().map(|j| (name(j), decided.mean[j])).collect(),
            recourse: entries.filter(|entry| entry.2 != 0.0).collect(),
            noises: decided.recourse.noises(),
            law: plan.law().name(),
            scale: plan.law().scale(),
            bound: plan.law().support_bound(),
        }
    }

    /// x̄, by name.
    pub fn mean(&self) -> &[(String, f64)] {
        &self.mean
    }

    /// x̄ + Xζ.
    pub fn at(&self, noise: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = self.mean.iter().map(|(_, mean)| *mean).collect();
        for &(j, k, value) in &self.recourse {
            x[j] += value * noise[k];
        }
        x
    }
}

impl fmt::Display for DecidedRule {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "LINEAR RULE: {}", self.note)?;
        let noises = match self.noises {
            1 => "one noise".into(),
            count => format!("{count} noises"),
        };
        writeln!(f, "{noises}, {} of scale {}", self.law, self.scale)?;
        for (j, (name, mean)) in self.mean.iter().enumerate().take(SHOWN) {
            write!(f, "  {name} = {mean:.6}")?;
            for (_, noise, value) in self.recourse.iter().filter(|entry| entry.0 == j) {
                write!(f, " {value:+.6} ζ{}", noise + 1)?;
            }
            writeln!(f)?;
        }
        if self.mean.len() > SHOWN {
            writeln!(f, "  … and {} more", self.mean.len() - SHOWN)?;
        }
        Ok(())
    }
}
