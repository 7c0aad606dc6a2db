//! The decision that carries a released number out: private.

use std::fmt;

use conveil::curator::Clipped;
use conveil::plan::{Correction, Decided, Plan};
use serde::Serialize;

use crate::card::{Named, json};
use crate::error::{Error, Result};
use crate::restated::Restated;

/// The version of the decision's fields.
const FORMAT: &str = "conveil-decision/1";

/// How closely the decision carries the released number.
const TOLERANCE: f64 = 1e-9;

/// x(ζ̂) by name, with ζ̂ the noise that the answer shows.
///
/// # Guarantee
/// Qx(ζ̂) is the released number, to a relative 1e-9 (of the larger of the number, its mean and its noise): checked, or
/// there is no release. It meets the constraints with the card's probability, for the data as they count: where those are
/// not the data themselves, it says so. The noise is never drawn again because the decision is infeasible. (M7.) Tests:
/// `the_decision_carries_the_released_number`, `a_decision_for_clipped_data_says_so`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decision {
    format: &'static str,
    private: bool,
    note: &'static str,
    answer: Vec<Named>,
    /// What the answer is in terms of the cost, where it is the modeller's own objective. The noise is that of the cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    objective: Option<Restated>,
    decision: Vec<Named>,
    noise: Vec<f64>,
    /// What the decision was made for, where that is not the data as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    correction: Option<Correction>,
    /// The data outside their public bounds or the claim's universe: the decision was made for what they count as.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    clipped: Vec<Clipped>,
}

impl Decision {
    pub(crate) fn new(
        plan: &Plan<'_>,
        decided: &Decided,
        clipped: Vec<Clipped>,
        answer: &[f64],
    ) -> Result<Decision> {
        let (query, shape) = (plan.released().query(), plan.released().shape());
        let mean = query.apply(&decided.mean);
        // ζ̂ = T⁻¹(answer − Qx̄)
        let rest: Vec<f64> = answer.iter().zip(&mean).map(|(a, m)| a - m).collect();
        let noise = shape.unshape(&rest);
        let moved = decided.recourse.apply(&noise);
        let x: Vec<f64> = decided
            .mean
            .iter()
            .zip(&moved)
            .map(|(m, d)| m + d)
            .collect();
        for (i, found) in query.apply(&x).into_iter().enumerate() {
            let row = shape.row(i).iter().map(|t| t * t).sum::<f64>().sqrt();
            let size = answer[i]
                .abs()
                .max(mean[i].abs())
                .max(row * plan.law().scale());
            // NaN is refused as well.
            if !((found - answer[i]).abs() <= TOLERANCE * size) {
                return Err(Error::Decision {
                    label: query.labels()[i].clone(),
                    found,
                    released: answer[i],
                });
            }
        }
        // A certificate's own variables stand behind the model's; they are not part of the decision.
        let program = &decided.program;
        let own = plan.model().template().columns();
        Ok(Decision {
            format: FORMAT,
            private: true,
            note: "PRIVATE: depends on the data, for whoever carries it out; not to be published",
            answer: Named::all(query.labels().iter().cloned(), answer),
            objective: None,
            decision: Named::all((0..own).map(|j| program.variable_name(j)), &x),
            noise,
            correction: decided.correction.clone().filter(|c| !c.at_the_data),
            clipped,
        })
    }

    /// The same decision with its answer as the modeller's own objective.
    pub(crate) fn restated(mut self, as_objective: &Restated) -> Decision {
        as_objective.all(&mut self.answer);
        self.objective = Some(as_objective.clone());
        self
    }

    /// x(ζ̂), variable by variable.
    pub fn values(&self) -> &[Named] {
        &self.decision
    }

    /// ζ̂ = T⁻¹(answer − Qx̄).
    pub fn noise(&self) -> &[f64] {
        &self.noise
    }

    /// The data that the decision was not made for, and what they count as; empty where it is for the data as they are.
    pub fn clipped(&self) -> &[Clipped] {
        &self.clipped
    }

    /// The decision as one JSON document.
    pub fn to_json(&self) -> String {
        json(self)
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "DECISION: {}", self.note)?;
        if let Some(correction) = &self.correction {
            match correction.relaxes {
                false => write!(
                    f,
                    "NOT for the data as they are, but for data {:.6} away",
                    correction.distance
                )?,
                true => write!(
                    f,
                    "NOT within every limit of the data as they are: exceeded by {:.6} in all",
                    correction.distance
                )?,
            }
            match correction.paid > 0.0 {
                true => writeln!(
                    f,
                    "; of the released number {:.6} is the price of that, not a cost of this decision",
                    correction.paid
                )?,
                false => writeln!(f)?,
            }
            for (name, datum, corrected) in &correction.moved {
                writeln!(f, "  made for {name} = {corrected:.6}, not {datum:.6}")?;
            }
        } else if !self.clipped.is_empty() {
            // A correction's own list holds what was clipped too.
            writeln!(
                f,
                "NOT for the data as they are: values outside their public bounds or universe count as the nearest inside, and what is promised of this decision is for those"
            )?;
            for clipped in &self.clipped {
                writeln!(
                    f,
                    "  made for {} = {:.6}, not {:.6}",
                    clipped.name, clipped.counted_as, clipped.datum
                )?;
            }
        }
        for Named { name, value } in &self.decision {
            writeln!(f, "  {name} = {value}")?;
        }
        writeln!(f, "it carries the released answer:")?;
        for Named { name, value } in &self.answer {
            writeln!(f, "  {name} = {value}")?;
        }
        if let Some(restated) = &self.objective {
            writeln!(f, "  which is {}", restated.objective())?;
        }
        Ok(())
    }
}
