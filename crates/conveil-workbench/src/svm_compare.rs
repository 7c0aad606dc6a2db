//! `compare` for a classifier: strategies side by side in accuracy, on the same draws of noise.
//!
//! Every hyperplane is feasible, since losses give way; what a strategy is worth shows in what it classifies.

use std::fmt;

use conveil::plan::Plan;
use conveil::program::DataMap;
use conveil::solve::{Cancel, solve_checked};
use conveil_models::svm::Svm;
use conveil_read::spec::Sensitivity;
use serde::Serialize;

use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::model::Model;
use crate::svm::{Labelled, accuracies};
use crate::wishes;

/// Regularisers that output perturbation is tried at, as multiples of the spec's.
const MULTIPLES: [f64; 6] = [1.0, 3.0, 10.0, 30.0, 100.0, 300.0];

/// One strategy's row; accuracies in percent. Private.
#[derive(Debug, Serialize)]
struct Row {
    strategy: String,
    lambda: f64,
    /// Expected length of the noise over that of the weights.
    noise_over_weights: f64,
    accuracy_before_noise: f64,
    accuracy_mean: f64,
    accuracy_std: f64,
}

/// All strategies side by side. Private.
#[derive(Debug, Serialize)]
pub struct SvmComparison {
    private: bool,
    /// The file that was scored.
    scored_on: String,
    /// What always answering the larger class would score, in percent.
    majority: f64,
    /// Without noise, at the spec's λ, in percent.
    non_private_accuracy: f64,
    rows: Vec<Row>,
    draws: usize,
    notes: Vec<String>,
}

impl SvmComparison {
    /// Plans and scores every strategy.
    pub fn new(
        inputs: &Inputs,
        svm: &Svm,
        plan: &Plan<'_>,
        theta: &[f64],
        (draws, seed): (usize, u64),
        cancel: &Cancel,
    ) -> Result<Self, Failure> {
        let engine = |e: conveil::Error| Failure::engine(&inputs.spec_name, &e);
        let files = inputs.spec.private.records.as_ref();
        let (file, key) = match files {
            Some(files) => match &files.test {
                Some(test) => (test, "test"),
                None => (&files.data, "data"),
            },
            None => return Err(Failure::input("[private] names no `data`")),
        };
        let records = Labelled::open(inputs, file, key)?;
        let row = |strategy: &str, svm: &Svm, plan: &Plan<'_>, weights: &[f64]| {
            let (before, under) = accuracies(svm, plan, weights, &records, draws, seed)?;
            let length = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
            let noise = conveil_models::svm::noise_length(plan);
            Ok::<Row, Failure>(Row {
                strategy: strategy.into(),
                lambda: svm.lambda(),
                noise_over_weights: noise / length,
                accuracy_before_noise: 100.0 * before.accuracy,
                accuracy_mean: under.mean,
                accuracy_std: under.std,
            })
        };
        let decided = plan.released().at(theta).map_err(engine)?;
        let mut rows = vec![row("program", svm, plan, &decided.answer)?];
        let proven = inputs.spec.privacy.sensitivity.value == Sensitivity::RegularisedErm;
        let multiples = if proven {
            &MULTIPLES[..]
        } else {
            &MULTIPLES[..1]
        };
        let mut non_private = (0.0, 0.0);
        for multiple in multiples {
            let other = svm.with_lambda(multiple * svm.lambda()).map_err(engine)?;
            let model = Model::Svm(Box::new(other.clone()));
            let ask = wishes::ask(inputs, &model, cancel)?;
            let own;
            // The certificate covers the map without noise at every λ.
            let noisy = match *multiple == 1.0 {
                true => plan,
                false => {
                    own = Plan::new(&other, ask).map_err(engine)?;
                    &own
                }
            };
            let program = other.at(theta).map_err(engine)?;
            let solution = solve_checked(&program, plan.released().settings()).map_err(engine)?;
            let weights = plan.released().query().apply(&solution.x);
            if *multiple == 1.0 {
                let (score, ..) = accuracies(&other, plan, &weights, &records, 1, seed)?;
                non_private = (100.0 * score.accuracy, 100.0 * score.majority);
            }
            rows.push(row("output", &other, noisy, &weights)?);
        }
        let mut notes = Vec::new();
        if let Some(best) = rows
            .iter()
            .skip(1)
            .max_by(|a, b| a.accuracy_mean.total_cmp(&b.accuracy_mean))
            && best.accuracy_mean > rows[0].accuracy_mean
        {
            notes.push(format!(
                "plain noise on weights trained with λ = {} serves better than program perturbation at λ = {}: where only the weights are needed, the simpler method wins here (strategy = \"output\" in [feasibility])",
                best.lambda, rows[0].lambda
            ));
        }
        notes.push(if proven {
            "choosing λ by this table is not covered by a guarantee: fix it in advance, or on public data".into()
        } else {
            "output perturbation is drawn with the same noise; its own sensitivity was not estimated".into()
        });
        Ok(SvmComparison {
            private: true,
            scored_on: records.name,
            majority: non_private.1,
            non_private_accuracy: non_private.0,
            rows,
            draws,
            notes,
        })
    }
}

impl fmt::Display for SvmComparison {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(
            f,
            "COMPARISON: PRIVATE, depends on the data, not to be published; noise is a study's, nothing is released"
        )?;
        writeln!(
            f,
            "scored on {}: always the larger class {:.2}%, without noise {:.2}%",
            self.scored_on, self.majority, self.non_private_accuracy
        )?;
        writeln!(
            f,
            "  {:<10} {:>10} {:>14} {:>13} {:>22}",
            "strategy", "λ", "noise/weights", "before noise", "accuracy under noise"
        )?;
        for row in &self.rows {
            writeln!(
                f,
                "  {:<10} {:>10.4} {:>14.3} {:>12.2}% {:>12.2}% ± {:>5.2}",
                row.strategy,
                row.lambda,
                row.noise_over_weights,
                row.accuracy_before_noise,
                row.accuracy_mean,
                row.accuracy_std
            )?;
        }
        writeln!(f, "over {} draws of noise", self.draws)?;
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        Ok(())
    }
}
