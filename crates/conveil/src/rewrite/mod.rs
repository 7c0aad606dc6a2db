//! Closed forms as rewrites of the lifted program, each with its way back: local recourse, smooth losses, and the two ends of
//! a box.

mod endpoints;
mod local;
mod miniature;
mod rooms;
mod rows;
mod smooth;

pub(crate) use endpoints::Endpoints;
pub(crate) use local::Solved;
pub(crate) use miniature::Miniature;
pub(crate) use rows::Rows;

use crate::chance::Design;
use crate::error::Result;
use crate::noise::LatticeLaw;
use crate::program::{DataMap, Program};
use crate::risk::Risk;
use crate::rule::Rule;
use crate::solve::Settings;
use local::LocalRecourse;
use smooth::SmoothLosses;

/// A sum of one loss for each record that is solved in its weights alone.
#[derive(Clone, Debug)]
pub(crate) enum LossForm {
    /// Hinges, with noise or without (M9).
    Hinges(LocalRecourse),
    /// Logistic losses, without noise inside the program.
    Logistic(SmoothLosses),
}

impl LossForm {
    /// Looks at public structure alone; `None` where the program is no such sum.
    pub(crate) fn new(
        map: &dyn DataMap,
        rule: &Rule,
        design: &Design,
        risk: &Risk,
        noise: &LatticeLaw,
    ) -> Result<Option<Self>> {
        if let Some(hinges) = LocalRecourse::new(map, rule, design, risk, noise)? {
            return Ok(Some(LossForm::Hinges(hinges)));
        }
        Ok(SmoothLosses::new(map, rule, design, risk).map(LossForm::Logistic))
    }

    /// Mean, recourse and what is proven of them at a program, checked; an error where the check fails.
    pub(crate) fn decide(
        &self,
        program: &Program,
        noise: &LatticeLaw,
        settings: &Settings,
    ) -> Result<Solved> {
        match self {
            LossForm::Hinges(hinges) => hinges.decide(program, noise, settings),
            LossForm::Logistic(losses) => losses.decide(program, noise, settings),
        }
    }

    /// The columns of the losses.
    pub(crate) fn auxiliaries(&self) -> Vec<usize> {
        match self {
            LossForm::Hinges(hinges) => hinges.slacks().collect(),
            LossForm::Logistic(losses) => losses.auxiliaries().collect(),
        }
    }
}
