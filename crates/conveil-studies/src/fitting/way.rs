//! The ways to private weights: plain noise, projected noise, and program perturbation by each method of keeping the
//! conditions.

use conveil::ask::SampleSize;
use conveil::chance::{Choice, Feasibility};
use conveil::noise::Factor;
use serde::Serialize;

use super::BETA;

/// A way to private weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Noise on the weights.
    Output,
    /// The noisy weights, projected onto the conditions (M13).
    ProjectedOutput,
    /// Conditions at the two diagonal corners of the paper's sampled box, as its code has them (M14): no proof.
    TwoVertices,
    /// Conditions on the whole of the paper's sampled box (M5b).
    SampledBox,
    /// Row by row with Cantelli's factor (M5d).
    Cantelli,
    /// Row by row with Chernoff's factor for Laplace sums (M5d).
    Chernoff,
    /// The exact quantile of every row (M5e).
    Exact,
}

impl Way {
    /// output, projected output, program.
    pub fn strategy(self) -> &'static str {
        match self {
            Way::Output => "output",
            Way::ProjectedOutput => "projected output",
            _ => "program",
        }
    }

    /// How program perturbation keeps the conditions.
    pub fn method(self) -> Option<&'static str> {
        match self {
            Way::Output | Way::ProjectedOutput => None,
            Way::TwoVertices => Some("two vertices"),
            Way::SampledBox => Some("sampled box"),
            Way::Cantelli => Some("Cantelli"),
            Way::Chernoff => Some("Chernoff"),
            Way::Exact => Some("exact quantiles"),
        }
    }

    /// Both in one.
    pub fn name(self) -> String {
        match self.method() {
            None => self.strategy().into(),
            Some(method) => format!("program, {method}"),
        }
    }

    /// The chance constraint of the engine; the default where the way does not use it.
    pub(super) fn feasibility(self, eta: f64, seed: u64) -> Feasibility {
        let feasibility = Feasibility::eta(eta);
        match self {
            Way::Output | Way::ProjectedOutput | Way::TwoVertices => feasibility,
            Way::SampledBox => {
                feasibility
                    .method(Choice::SAMPLED_BOX)
                    .sampling(SampleSize::Paper, BETA, seed)
            }
            Way::Cantelli => feasibility.method(Choice::ROW_BY_ROW.with(Factor::Cantelli)),
            Way::Chernoff => feasibility.method(Choice::ROW_BY_ROW.with(Factor::Chernoff)),
            Way::Exact => feasibility.method(Choice::FIXED_RECOURSE),
        }
    }
}
