//! How the program that is solved differs from the user's own at the same data, and the way back.

use crate::ask::Norm;
use crate::program::{AffineMap, DataMap, Parameters, Program};
use crate::proof::Limits;

use super::corrected::widths;

/// Variables behind those of the user's own program, which take up what the certificate lets differ.
#[derive(Clone, Debug)]
pub struct Deviation {
    form: Form,
    is_in_the_answer: bool,
    /// Variables of the user's own program.
    users_columns: usize,
    /// Variables of the program that is solved.
    columns: usize,
}

/// What may differ.
#[derive(Clone, Debug)]
enum Form {
    /// θ̃ in the place of θ, which stands first behind the user's variables.
    Corrected {
        norm: Norm,
        toll: Toll,
        /// Widths of the public bounds.
        widths: Vec<f64>,
    },
    /// Rows with private numbers, which may be exceeded.
    Relaxed(Vec<Slack>),
}

/// How a correction is paid for.
#[derive(Clone, Debug)]
pub(super) enum Toll {
    /// π per unit in the unit of the answer, which may be a multiple of the value; sizes stand behind θ̃ (M8a).
    InTheAnswer(f64),
    /// In the objective alone (M15a), with the first column of sizes where there is a cap.
    BesideTheAnswer { capped: Option<usize> },
}

/// By how much one row, or one block along its axis, may be exceeded.
#[derive(Clone, Debug)]
pub(super) struct Slack {
    /// The row or block, as the user knows it.
    pub(super) name: String,
    /// The row of which it moves the limit: the first one of a block.
    pub(super) row: usize,
    pub(super) column: usize,
    /// 1, or −1 for the slack that lowers the limit of an equality.
    pub(super) sign: f64,
    /// What one unit costs the answer; 0 where the answer holds none of it.
    pub(super) paid: f64,
    /// By how much the row was tightened before.
    pub(super) tightened: f64,
    /// The largest that an optimal one can be, if it is known.
    pub(super) high: f64,
}

/// How far a decision is from one for the data themselves. Private.
pub(crate) struct Found {
    pub(crate) distance: f64,
    pub(crate) priced: f64,
    pub(crate) paid: f64,
    pub(crate) moved: Vec<(String, f64, f64)>,
}

/// A difference of a datum and its corrected value below this share is rounding.
const ROUNDING: f64 = 1e-9;

pub(crate) fn is_moved(datum: f64, counted: f64) -> bool {
    (datum - counted).abs() > ROUNDING * (1.0 + datum.abs())
}

impl Deviation {
    /// θ̃ stands in the place of θ.
    pub(super) fn corrected(affine: &AffineMap, norm: Norm, toll: Toll, columns: usize) -> Self {
        Deviation {
            is_in_the_answer: matches!(toll, Toll::InTheAnswer(_)),
            form: Form::Corrected {
                norm,
                toll,
                widths: widths(affine),
            },
            users_columns: affine.template().columns(),
            columns,
        }
    }

    /// Rows may be exceeded.
    pub(super) fn relaxed(
        affine: &AffineMap,
        slacks: Vec<Slack>,
        is_in_the_answer: bool,
        columns: usize,
    ) -> Self {
        Deviation {
            form: Form::Relaxed(slacks),
            is_in_the_answer,
            users_columns: affine.template().columns(),
            columns,
        }
    }

    /// Whether the answer holds the price of a deviation. Where it does, the value decides whether a decision for θ
    /// itself may be taken (M8a, M15b); where it does not, that decision must have the same answer (M15a).
    pub(crate) fn is_in_the_answer(&self) -> bool {
        self.is_in_the_answer
    }

    /// Whether nothing can deviate: the program is the user's own but for added curvature.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(&self.form, Form::Relaxed(slacks) if slacks.is_empty())
    }

    /// Whether rows are relaxed, and not data corrected.
    pub(crate) fn relaxes(&self) -> bool {
        matches!(self.form, Form::Relaxed(_))
    }

    /// How far this decision is from one for the data themselves: `theta` as they are, `counted` as clipped.
    pub(crate) fn found(
        &self,
        program: &Program,
        mean: &[f64],
        (theta, counted): (&[f64], &[f64]),
        parameters: &Parameters,
    ) -> Found {
        let differing = |to: &[f64]| -> Vec<(String, f64, f64)> {
            let entries = parameters.iter().zip(theta.iter().zip(to));
            entries
                .filter(|(_, (a, b))| is_moved(**a, **b))
                .map(|(p, (a, b))| (p.name().to_string(), *a, *b))
                .collect()
        };
        match &self.form {
            Form::Corrected { norm, toll, widths } => {
                let corrected = &mean[self.users_columns..self.users_columns + widths.len()];
                let size = |from: &[f64]| {
                    let pairs = from.iter().zip(corrected);
                    norm.of(&pairs.map(|(a, b)| b - a).collect::<Vec<f64>>())
                };
                let priced = size(counted);
                let paid = match toll {
                    Toll::InTheAnswer(price) => price * priced,
                    Toll::BesideTheAnswer { .. } => 0.0,
                };
                Found {
                    distance: size(theta),
                    priced,
                    paid,
                    moved: differing(corrected),
                }
            }
            Form::Relaxed(slacks) => {
                let mut found = Found {
                    distance: 0.0,
                    priced: 0.0,
                    paid: 0.0,
                    moved: differing(counted),
                };
                for slack in slacks {
                    let by = mean[slack.column].max(0.0);
                    let limit = program.b()[slack.row] + slack.tightened;
                    if is_moved(limit, limit + by) {
                        found.distance += by;
                        found.priced += by;
                        found.paid += slack.paid * by;
                        let name = slack.name.clone();
                        found.moved.push((name, limit, limit + slack.sign * by));
                    }
                }
                found
            }
        }
    }

    /// A decision of the user's own program at θ, as one of the program that is solved.
    pub(crate) fn at_the_data(&self, x: &[f64], theta: &[f64]) -> Vec<f64> {
        let mut whole = x.to_vec();
        if let Form::Corrected { toll, .. } = &self.form {
            whole.extend_from_slice(theta);
            if let Toll::BesideTheAnswer { capped: Some(_) } = toll {
                whole.extend_from_slice(theta);
            }
        }
        whole.resize(self.columns, 0.0);
        whole
    }

    /// What the objective of this program holds beside that of the user's own, up to a constant.
    pub(crate) fn beside(&self, program: &Program, x: &[f64]) -> f64 {
        let mut behind = vec![0.0; x.len()];
        behind[self.users_columns..].copy_from_slice(&x[self.users_columns..]);
        program.objective(&behind) - program.constant()
    }

    /// What is known of an optimal deviation.
    pub(super) fn known(&self) -> Vec<Limits> {
        let up_to = |column: usize, high: f64| Limits {
            column,
            low: 0.0,
            high,
        };
        match &self.form {
            Form::Corrected { norm, toll, widths } => {
                let behind = self.users_columns + widths.len();
                let each = |first: usize| {
                    let widths = widths.iter().enumerate();
                    widths.map(|(i, w)| up_to(first + i, *w)).collect()
                };
                match (toll, norm) {
                    (Toll::InTheAnswer(_), Norm::L1) => each(behind),
                    (Toll::InTheAnswer(_), Norm::L2) => {
                        vec![up_to(behind, crate::program::norm(widths))]
                    }
                    // What is paid for at the cap lies between the data and θ̃.
                    (Toll::BesideTheAnswer { capped }, _) => capped.map_or(Vec::new(), each),
                }
            }
            Form::Relaxed(slacks) => {
                let bounded = slacks.iter().filter(|slack| slack.high.is_finite());
                bounded
                    .map(|slack| up_to(slack.column, slack.high))
                    .collect()
            }
        }
    }

    /// A point of the lifted program that lies inside every cone for some data, moved to where it does for all.
    pub(crate) fn inside_for_all(&self, mut x: Vec<f64>) -> Vec<f64> {
        match &self.form {
            Form::Corrected { .. } if self.is_in_the_answer => {
                for Limits { column, high, .. } in self.known() {
                    x[column] = 2.0 * high + 1.0;
                }
            }
            Form::Corrected { .. } => {}
            // Both slacks of an equality may grow together, and any other one alone.
            Form::Relaxed(slacks) => {
                let is_pair = |s: &Slack| slacks.iter().filter(|o| o.row == s.row).count() > 1;
                for slack in slacks.iter().filter(|s| s.high.is_finite() && !is_pair(s)) {
                    x[slack.column] = 2.0 * slack.high + 1.0;
                }
            }
        }
        x
    }
}
