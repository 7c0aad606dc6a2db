//! How a classifier would do on a dataset, and what else could be asked for: the share of records on the wrong side of the
//! noisy hyperplane. As public as the records.

use conveil::ask::{Ask, Strategy};
use conveil::chance::Feasibility;
use conveil::plan::{BasisKind, Decided, Plan};

use super::Classifier;
use super::labelled::Labelled;
use super::private::accuracies;
use crate::failure::Failure;
use crate::model::{Alternative, Compared, Outlook};
use crate::words::{rounded_to, significant_to};

/// Regularisers that are tried, as multiples of the plan's: smaller ones as well as larger ones.
pub(super) const MULTIPLES: [f64; 8] = [1.0 / 30.0, 0.1, 1.0 / 3.0, 3.0, 10.0, 30.0, 100.0, 300.0];

/// η for each record's loss, where training for the noise is tried beside noise on the answer.
const ETA: f64 = 0.05;

/// The best of several λ is better by luck too: it is worth a word where it is so many times better.
const OF_MANY: f64 = 1.5;

/// Digits of a λ that somebody would write.
const DIGITS: usize = 2;

/// What is counted.
pub(super) const MEASURE: &str = "the share of records on the wrong side";

/// The outlook of a plan on these records.
pub(super) fn of(
    spec_name: &str,
    classifier: &Classifier,
    records: &Labelled,
    case: &Compared<'_>,
) -> Result<Outlook, Failure> {
    let engine = |e: conveil::Error| Failure::engine(spec_name, e);
    let plan = case.plan;
    let error = |classifier: &Classifier, plan: &Plan<'_>, decided: &Decided| {
        let (score, under) = accuracies(
            classifier,
            plan,
            &decided.answer,
            records,
            case.draws,
            case.seed,
        )?;
        Ok::<_, Failure>((1.0 - under.mean / 100.0, score))
    };
    let decided = plan.released().at(case.theta).map_err(engine)?;
    let (chosen, score) = error(classifier, plan, &decided)?;
    let trivial = Alternative::new("always the larger class", 1.0 - score.majority);
    let mut others = Vec::new();
    // What is not proven would be sampled anew for each.
    if plan.guarantee().basis().kind() == BasisKind::Certificate {
        let other = the_other_strategy(classifier, plan);
        let mut tried: Vec<_> = (other.into_iter())
            .map(|(name, ask)| (Alternative::new(name, 0.0), classifier.lambda(), ask))
            .collect();
        for multiple in MULTIPLES {
            let lambda = rounded_to(multiple * classifier.lambda(), DIGITS);
            let name = format!("lambda = {}", significant_to(lambda, DIGITS));
            let other = Alternative::new(name, 0.0).worth(OF_MANY);
            tried.push((other, lambda, plan.ask().clone()));
        }
        for (alternative, lambda, ask) in tried {
            let other = classifier.with_lambda(lambda).map_err(engine)?;
            let found = Plan::new(&other, ask).and_then(|planned| {
                let decided = planned.released().at(case.theta)?;
                Ok((planned, decided))
            });
            match found {
                Ok((planned, decided)) => others.push(Alternative {
                    error: error(&other, &planned, &decided)?.0,
                    ..alternative
                }),
                Err(conveil::Error::Cancelled) => return Err(engine(conveil::Error::Cancelled)),
                // Where no plan or no solve can be proven there is nothing to recommend.
                Err(_) => {}
            }
        }
    }
    Ok(Outlook {
        measure: MEASURE.into(),
        chosen,
        without_noise: None,
        others,
        trivial: Some(trivial),
    })
}

/// The strategy that was not asked for, and what a spec says for it, where the loss has two.
fn the_other_strategy(classifier: &Classifier, plan: &Plan<'_>) -> Option<(String, Ask)> {
    let ask = plan.ask().clone();
    if !classifier.loss().trains_for_noise {
        return None;
    }
    Some(match plan.guarantee().strategy() {
        Strategy::Program => (
            "strategy = \"output\"".into(),
            ask.strategy(Strategy::Output),
        ),
        _ => (
            format!("strategy = \"program\", eta = {ETA}, rows = \"each\""),
            (ask.strategy(Strategy::Program)).feasibility(Feasibility::each(ETA)),
        ),
    })
}
