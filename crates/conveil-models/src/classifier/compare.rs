//! Strategies of a classifier side by side in accuracy, on the same draws of noise. Private.

use conveil::ask::Strategy;
use conveil::curator::About;
use conveil::plan::{BasisKind, Plan};
use conveil::program::DataMap;
use conveil::solve::solve_checked;

use super::labelled::Labelled;
use super::outlook::MULTIPLES;
use super::private::accuracies;
use super::{Classifier, Loss, noise_length};
use crate::document::{Document, Fields};
use crate::failure::Failure;
use crate::model::Compared;
use crate::words::significant_to;

/// Training for the noise.
const PROGRAM: &str = "program";

/// One strategy's row; accuracies in percent.
struct Row {
    strategy: &'static str,
    lambda: f64,
    /// Expected length of the noise over that of the weights.
    noise_over_weights: f64,
    accuracy_before_noise: f64,
    accuracy_mean: f64,
    accuracy_std: f64,
}

/// All strategies side by side.
pub(super) fn document(
    spec_name: &str,
    classifier: &Classifier,
    records: &Labelled,
    case: &Compared<'_>,
) -> Result<Document, Failure> {
    let engine = |e: conveil::Error| Failure::engine(spec_name, e);
    let Compared {
        plan,
        theta,
        draws,
        seed,
        about,
    } = *case;
    let row =
        |strategy: &'static str, classifier: &Classifier, plan: &Plan<'_>, weights: &[f64]| {
            let (before, under) = accuracies(classifier, plan, weights, records, draws, seed)?;
            let length = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
            Ok::<Row, Failure>(Row {
                strategy,
                lambda: classifier.lambda(),
                noise_over_weights: noise_length(plan) / length,
                accuracy_before_noise: 100.0 * before.accuracy,
                accuracy_mean: under.mean,
                accuracy_std: under.std,
            })
        };
    let mut rows = Vec::new();
    if plan.guarantee().strategy() == Strategy::Program {
        let decided = plan.released().at(theta).map_err(engine)?;
        rows.push(row(PROGRAM, classifier, plan, &decided.answer)?);
    }
    // The certificate covers the map without noise at every λ.
    let proven = plan.guarantee().basis().kind() == BasisKind::Certificate;
    let mut multiples = vec![1.0];
    if proven {
        multiples.extend(MULTIPLES);
        multiples.sort_by(f64::total_cmp);
    }
    let (mut non_private, mut majority) = (0.0, 0.0);
    for multiple in multiples {
        let is_own = multiple == 1.0;
        let other = classifier
            .with_lambda(multiple * classifier.lambda())
            .map_err(engine)?;
        let planned;
        let noisy = match is_own {
            true => plan,
            false => match Plan::new(&other, plan.ask().clone()) {
                Ok(made) => {
                    planned = made;
                    &planned
                }
                Err(conveil::Error::Cancelled) => return Err(engine(conveil::Error::Cancelled)),
                // A λ so small that no plan can be proven is nothing to compare with.
                Err(_) => continue,
            },
        };
        let program = other.at(theta).map_err(engine)?;
        let solution = solve_checked(&program, plan.released().settings()).map_err(engine)?;
        let weights = plan.released().query().apply(&solution.x);
        if is_own {
            let (score, ..) = accuracies(&other, plan, &weights, records, 1, seed)?;
            (non_private, majority) = (100.0 * score.accuracy, 100.0 * score.majority);
        }
        rows.push(row("output", &other, noisy, &weights)?);
    }
    let notes = notes(&rows, classifier.loss(), proven, about);
    let mut text = format!(
        "COMPARISON: {}; noise is a study's, nothing is released\n",
        about.stamp()
    );
    text += &format!(
        "scored on {}: always the larger class {majority:.2}%, without noise {non_private:.2}%\n",
        records.name
    );
    text += &format!(
        "  {:<10} {:>10} {:>14} {:>13} {:>22}\n",
        "strategy", "λ", "noise/weights", "before noise", "accuracy under noise"
    );
    for row in &rows {
        text += &row.line();
    }
    text += &format!("over {draws} draws of noise\n");
    for note in &notes {
        text += &format!("note: {note}\n");
    }
    let fields = Fields::default().with("private", about.is_private());
    let fields = match about {
        About::Private => fields,
        About::Nominal => fields.with("at", "nominal"),
        About::Twin => fields.with("at", "twin"),
    };
    Ok(Document {
        fields: fields
            .with("scored_on", records.name.as_str())
            .with("majority", majority)
            .with("non_private_accuracy", non_private)
            .with("rows", rows.iter().map(Row::fields).collect::<Vec<_>>())
            .with("draws", draws)
            .with("notes", notes),
        text,
        // Of what the spec states: its own λ.
        summary: (rows.iter()).find(|row| row.lambda == classifier.lambda()).map(|row| {
            format!(
                "{} perturbation at λ = {} has an accuracy of {:.2}% ± {:.2}; without noise {non_private:.2}%",
                row.strategy,
                significant_to(row.lambda, 3),
                row.accuracy_mean,
                row.accuracy_std
            )
        }),
    })
}

/// What a reader of the table should know.
fn notes(rows: &[Row], loss: &Loss, proven: bool, about: About) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some((first, rest)) = rows.split_first()
        && first.strategy == PROGRAM
        && let Some(best) = (rest.iter()).max_by(|a, b| a.accuracy_mean.total_cmp(&b.accuracy_mean))
        && best.accuracy_mean > first.accuracy_mean
    {
        notes.push(format!(
            "plain noise on weights trained with λ = {} serves better than program perturbation at λ = {}: where only the weights are needed, the simpler method wins here (strategy = \"output\" in [feasibility])",
            significant_to(best.lambda, 3),
            significant_to(first.lambda, 3)
        ));
    }
    if !loss.trains_for_noise {
        notes.push(format!(
            "noise on the trained weights is the one strategy of model `{}`: {}",
            loss.kind.word, loss.why_not
        ));
    }
    if !proven {
        notes.push("output perturbation is drawn with the same noise; its own sensitivity was not estimated".into());
    } else if about.is_private() {
        notes.push("choosing λ by this table is not covered by a guarantee: fix it in advance, or on public data".into());
    }
    notes
}

impl Row {
    fn fields(&self) -> Fields {
        Fields::default()
            .with("strategy", self.strategy)
            .with("lambda", self.lambda)
            .with("noise_over_weights", self.noise_over_weights)
            .with("accuracy_before_noise", self.accuracy_before_noise)
            .with("accuracy_mean", self.accuracy_mean)
            .with("accuracy_std", self.accuracy_std)
    }

    fn line(&self) -> String {
        format!(
            "  {:<10} {:>10.4} {:>14.3} {:>12.2}% {:>12.2}% ± {:>5.2}\n",
            self.strategy,
            self.lambda,
            self.noise_over_weights,
            self.accuracy_before_noise,
            self.accuracy_mean,
            self.accuracy_std
        )
    }
}
