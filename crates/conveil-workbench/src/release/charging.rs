//! What the `[ledger]` section of a spec says of a charge: the part that it is about, and the series that it declares.

use conveil::ask::Adjacency;
use conveil_models::spec::{self, Protects, Reach};
use conveil_release::Stating;
use conveil_release::ledger::Part;

use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::workbench::Workbench;

impl Workbench {
    /// Parts are for claims about all pairs, and for neighbours that differ in one part.
    pub(crate) fn refuse_part(&self) -> Result<(), Failure> {
        let spec = &self.inputs.spec;
        let Some(ledger) = &spec.ledger else {
            return Ok(());
        };
        let (Some(part), name) = (&ledger.part, &ledger.source) else {
            return Ok(());
        };
        if spec.privacy.sensitivity.value.is_sampled() {
            let error = part.error(
                name,
                "`part` does not go with a sampled sensitivity, whose claim leaves out pairs",
            );
            let help = "remove `part`, or use a certificate or a declared bound";
            return Err(error.with_help(help).into());
        }
        if let Some(Protects {
            who,
            reach: Reach::Entries { count, .. },
        }) = spec
            .private
            .protects
            .as_ref()
            .map(|protects| &protects.value)
            && *count > 1
        {
            let message = format!(
                "`part` does not go with [private.protects] where one of them, {who}, changes {count} private numbers: they may lie in several parts"
            );
            let help =
                "remove `part`; or entries = 1, if nobody is in more than one private number";
            return Err(part.error(name, message).with_help(help).into());
        }
        let kind = match spec.private.adjacency.value {
            // The name of the part is looked at too.
            Adjacency::OneEntry { .. } | Adjacency::OneRecord { .. } => {
                return stating(&self.inputs, Some(1)).map(|_| ());
            }
            Adjacency::L1 { .. } => "l1",
            Adjacency::L2 { .. } => "l2",
            Adjacency::Universe => "universe",
        };
        let error = part.error(
            name,
            format!(
                "`part` does not go with adjacency `{kind}`, whose neighbours differ in several parts at once"
            ),
        );
        let help = "remove `part`, or use adjacency `one-entry` or `one-record`";
        Err(error.with_help(help).into())
    }

    /// A declared series is charged and released whole.
    pub(super) fn refuse_row_of_series(&self, row: Option<usize>) -> Result<(), Failure> {
        let Some(ledger) = &self.inputs.spec.ledger else {
            return Ok(());
        };
        let (Some(series), Some(_)) = (&ledger.series, row) else {
            return Ok(());
        };
        let error = series.error(
            &ledger.source,
            "`--row` does not go with `series`: a declared series is released in one run, whole",
        );
        let help = "leave out `--row`; or remove `series`, and each release is charged by itself";
        Err(error.with_help(help).into())
    }

    /// The series that the spec declares, if this run has as many rows.
    pub(super) fn declared_series(&self, rows: usize) -> Result<Option<spec::Series>, Failure> {
        let Some(ledger) = &self.inputs.spec.ledger else {
            return Ok(None);
        };
        let Some(declared) = &ledger.series else {
            return Ok(None);
        };
        let count = declared.value.count;
        if count != rows {
            let error = declared.error(
                &ledger.source,
                format!("a series of {count} releases is declared, and this run has {rows}"),
            );
            let help = "a declared series is released in one run, whole; without `series`, each release is charged by itself";
            return Err(error.with_help(help).into());
        }
        Ok(Some(declared.value))
    }
}

/// What the spec states beside the plan; `{row}` in the part is this row, or is left for the series to fill.
pub(super) fn stating(inputs: &Inputs, row: Option<usize>) -> Result<Stating, Failure> {
    let Some(section) = &inputs.spec.ledger else {
        return Ok(Stating::default());
    };
    let part = section.part.as_ref().map(|part| {
        let name = match row {
            Some(row) => part.value.replace("{row}", &row.to_string()),
            None => part.value.clone(),
        };
        let made = match section.part_moves {
            true => Part::that_records_may_leave(&name),
            false => Part::fixed(&name),
        };
        made.map_err(|error| Failure::from(part.error(&section.source, error.to_string())))
    });
    Ok(Stating {
        part: part.transpose()?,
        planned: section.planned,
    })
}
