//! What stands on a card in words must show as it is written: the one gate for names, units and reasons of a plan.

use crate::ask::{Request, Stated};
use crate::error::Result;
use crate::program::{DataMap, Meaning, readable};

/// Refuses a plan whose public words hold what no reader sees. Blocks and rows are checked where programs are made.
///
/// # Guarantee
/// No name, label, unit or reason of a plan holds a character that does not show or that changes how its neighbours
/// show (`conveil_text::naming`). Test: `what_does_not_show_reaches_no_card`.
pub(super) fn check(map: &dyn DataMap, stated: &Stated, labels: &[String]) -> Result<()> {
    // Those of records are "record", a number and one of these names.
    for parameter in map.parameters().kinds() {
        readable("private parameter", &parameter.name())?;
    }
    for label in labels {
        readable("released number", label)?;
    }
    if let Request::Declared { reason, .. } = &stated.sensitivity {
        readable("reason", reason)?;
    }
    meaning(&map.meaning())
}

fn meaning(meaning: &Meaning) -> Result<()> {
    if let Some(subject) = &meaning.subject {
        for text in [
            &subject.entry,
            &subject.record,
            &subject.all,
            &subject.public,
        ] {
            readable("description", text)?;
        }
    }
    let Some(reading) = &meaning.reading else {
        return Ok(());
    };
    for quantity in reading.inputs.iter().chain([&reading.value]) {
        readable("column", &quantity.name)?;
        quantity
            .unit
            .as_ref()
            .map_or(Ok(()), |u| readable("unit", u))?;
    }
    for term in &reading.terms {
        readable("weight", &term.weight)?;
        readable("formula", &term.formula)?;
    }
    for condition in &reading.conditions {
        (condition.input.as_ref()).map_or(Ok(()), |input| readable("column", input))?;
    }
    let Some(decision) = &reading.decision else {
        return Ok(());
    };
    readable("label column", &decision.label)?;
    readable("label", &decision.positive)?;
    readable("label", &decision.negative)
}
