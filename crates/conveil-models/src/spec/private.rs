//! `[private]`: how neighbouring datasets differ, and the public set that they come from. Which numbers are private, the
//! model reads.

use conveil::ask::{Adjacency, Privacy, Universe};
use conveil_text::spelling::{counted, quoted};
use conveil_text::tables::{Item, MAX_COUNT, Table};
use conveil_text::{Located, ReadError};

use super::protects::Protects;
use super::{Sensitivity, Spec, keys_of};
use crate::model::Stated;

/// What is common to the private data of all models.
#[derive(Debug, Clone, PartialEq)]
pub struct PrivateSection {
    /// `adjacency`: which datasets must be hard to tell apart.
    pub adjacency: Located<Adjacency>,
    /// `unit` of the adjacency: that of the private numbers and of α, where one is stated.
    pub unit: Option<Located<String>>,
    /// `[private.universe]`: the public set of possible θ. Written `relative`, a half-width is that share of |center|.
    pub universe: Option<Located<Universe>>,
    /// `twin`: the path of a public dataset of the same form as the private one, as written, for exploring.
    pub twin: Option<Located<String>>,
    /// `label`: the column of the private file whose words name the rows of a series. Its words are public.
    pub label: Option<Located<String>>,
    /// `[private.protects]`: whom the release protects; the adjacency then follows from it.
    pub protects: Option<Located<Protects>>,
}

impl PrivateSection {
    /// The adjacency that follows from who is protected, and from the norm of the noise.
    pub(super) fn protecting(
        &mut self,
        privacy: &Privacy,
        record_len: Option<usize>,
        name: &str,
    ) -> Result<(), ReadError> {
        let Some(protects) = &self.protects else {
            return Ok(());
        };
        let adjacency = protects.value.adjacency(privacy, record_len);
        self.adjacency.value = adjacency.ok_or_else(|| {
            protects
                .error(name, "this model does not know how long a record is")
                .with_help("adjacency = { kind = \"one-record\", record = 3 } instead of [private.protects]")
        })?;
        Ok(())
    }
}

/// Reads `[private]`, the model its own keys of it.
pub(super) fn read(mut table: Table, model: &mut dyn Stated) -> Result<PrivateSection, ReadError> {
    table.known(&keys_of(
        &["adjacency"],
        |kind| kind.private,
        &["twin", "protects"],
    ))?;
    let protects = table.optional("protects");
    let (adjacency, unit, protects) = match protects {
        None => {
            let (adjacency, unit) = read_relation(&mut table, model.record_len())?;
            (adjacency, unit, None)
        }
        Some(item) => {
            if let Some(adjacency) = table.optional("adjacency") {
                return Err(adjacency
                    .error("`adjacency` follows from [private.protects]")
                    .with_help("leave out one of the two"));
            }
            let (protects, unit) = Protects::read(item.table("[private.protects]")?)?;
            // The norm of the noise decides, and is read later.
            let adjacency = item.locate(Adjacency::L1 { alpha: 1.0 });
            (adjacency, unit, Some(item.locate(protects)))
        }
    };
    model.read_private(&mut table)?;
    let twin = table.optional("twin").map(|twin| twin.words());
    let twin = twin.transpose()?;
    let universe = match model.kind().private.contains(&UNIVERSE) {
        false => None,
        true => table.optional(UNIVERSE),
    };
    let universe = match universe {
        None => None,
        Some(item) => Some(read_universe(item.table("[private.universe]")?)?),
    };
    let label = match model.kind().private.contains(&LABEL) {
        false => None,
        true => table.optional(LABEL).map(|label| label.name()),
    };
    let label = label.transpose()?;
    table.finish(format!("with model `{}`", model.kind().word))?;
    Ok(PrivateSection {
        adjacency,
        unit,
        universe,
        twin,
        label,
        protects,
    })
}

/// `adjacency`, and the unit of the private numbers.
fn read_relation(
    table: &mut Table,
    record_len: Option<usize>,
) -> Result<(Located<Adjacency>, Option<Located<String>>), ReadError> {
    let item = table.required(
        "adjacency",
        "adjacency = { kind = \"one-entry\", alpha = 10.0 }",
    )?;
    let mut relation = item.table("`adjacency`")?;
    relation.known(&["kind", "alpha", "record", "unit"])?;
    let unit = relation.optional("unit").map(|unit| unit.name());
    let unit = unit.transpose()?;
    let adjacency = item.locate(read_adjacency(relation, record_len)?);
    Ok((adjacency, unit))
}

/// The key of the universe, for the models that have one.
pub(crate) const UNIVERSE: &str = "universe";

/// The key of the column that names the rows, for the models that have a series.
pub(crate) const LABEL: &str = "label";

/// The column that names the rows.
pub(crate) fn label_of(spec: &Spec) -> Option<String> {
    spec.private.label.as_ref().map(|label| label.value.clone())
}

/// Refuses a column of labels where there is no private file to have it, or where it is that of private numbers.
pub(crate) fn check_label(
    spec: &Spec,
    file: Option<&Located<String>>,
    key: &str,
    is_private: impl FnOnce(&str) -> bool,
) -> Result<(), ReadError> {
    let Some(label) = &spec.private.label else {
        return Ok(());
    };
    if file.is_none() {
        let message = format!("`label` names a column of the file of `{key}`, and there is none");
        let help = format!("in [private]: {key} = \"series.csv\"; or leave out `label`");
        return Err(label.error(&spec.name, message).with_help(help));
    }
    if is_private(&label.value) {
        let message = format!(
            "the column {} has private numbers, and labels are public",
            quoted(&label.value)
        );
        let help = "label = \"hour\", a column of its own whose words may stand on the cards";
        return Err(label.error(&spec.name, message).with_help(help));
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Kind {
    Alpha(fn(f64) -> Adjacency),
    OneRecord,
    Universe,
}

/// The relation; a model of records knows how long a record is.
fn read_adjacency(mut table: Table, record_len: Option<usize>) -> Result<Adjacency, ReadError> {
    let kind = table.required("kind", "kind = \"one-entry\"")?;
    let adjacency = match kind.choice(&[
        (
            "one-entry",
            Kind::Alpha(|alpha| Adjacency::OneEntry { alpha }),
        ),
        ("l1", Kind::Alpha(|alpha| Adjacency::L1 { alpha })),
        ("l2", Kind::Alpha(|alpha| Adjacency::L2 { alpha })),
        ("one-record", Kind::OneRecord),
        ("universe", Kind::Universe),
    ])? {
        Kind::Alpha(of) => of(table.required("alpha", "alpha = 10.0")?.positive()?),
        Kind::OneRecord => Adjacency::OneRecord {
            len: match record_len {
                Some(len) => len,
                None => {
                    let record = table.required("record", "record = 3")?;
                    record.count(1, MAX_COUNT)?
                }
            },
        },
        Kind::Universe => Adjacency::Universe,
    };
    table.finish(format!("with kind `{}`", kind.text()?))?;
    Ok(adjacency)
}

fn read_universe(mut table: Table) -> Result<Located<Universe>, ReadError> {
    table.known(&[
        "kind",
        "center",
        "half_width",
        "relative",
        "radius",
        "dimension",
    ])?;
    let is_box = table
        .required("kind", "kind = \"box\"")?
        .choice(&[("box", true), ("discs", false)])?;
    let center_item = table.required("center", "center = [1.0, 2.0]")?;
    let center = center_item.numbers()?;
    let universe = if is_box {
        let half_width = read_half_width(&mut table, &center)?;
        table.finish("with kind `box`")?;
        Universe::around(center, half_width)
    } else {
        let item = table.required("dimension", "dimension = 2")?;
        let dimension = item.count(1, MAX_COUNT)?;
        if !center.len().is_multiple_of(dimension) {
            return Err(item.error(format!(
                "{} in `center` cannot be split into discs of dimension {dimension}",
                counted(center.len(), "number", "numbers")
            )));
        }
        let discs = center.len() / dimension;
        let radius = one_or_each(table.required("radius", "radius = 0.1")?, discs, "discs")?;
        table.finish("with kind `discs`")?;
        Universe::discs(center, radius, dimension)
    };
    let universe = universe.map_err(|error| center_item.error(error.to_string()))?;
    Ok(table.locate(universe))
}

/// `half_width`, or `relative`: a share of every coordinate of the center.
fn read_half_width(table: &mut Table, center: &[f64]) -> Result<Vec<f64>, ReadError> {
    let of = "coordinates of `center`";
    match (table.optional("relative"), table.optional("half_width")) {
        (Some(_), Some(item)) => Err(item.error("give `half_width` or `relative`, not both")),
        (Some(item), None) => {
            let shares = one_or_each(item, center.len(), of)?;
            let pairs = center.iter().zip(shares);
            Ok(pairs.map(|(center, share)| share * center.abs()).collect())
        }
        (None, Some(item)) => one_or_each(item, center.len(), of),
        (None, None) => table
            .required("half_width", "half_width = 0.5")
            .and_then(|item| one_or_each(item, center.len(), of)),
    }
}

/// A number ≥ 0 for all, or an array with one for each.
fn one_or_each(item: Item, count: usize, of: &str) -> Result<Vec<f64>, ReadError> {
    if !item.is_array() {
        return Ok(vec![item.nonnegative()?; count]);
    }
    let numbers = item
        .array()?
        .iter()
        .map(Item::nonnegative)
        .collect::<Result<Vec<f64>, _>>()?;
    if numbers.len() == count {
        Ok(numbers)
    } else {
        Err(item.error(format!(
            "{item} has {}, but there are {count} {of}",
            counted(numbers.len(), "number", "numbers")
        )))
    }
}

/// Refuses a universe that is needed and not there, or that has not one number for each of so many private ones.
pub(crate) fn check_universe(spec: &Spec, count: Option<usize>, of: &str) -> Result<(), ReadError> {
    let private = &spec.private;
    let Some(universe) = &private.universe else {
        let sensitivity = &spec.privacy.sensitivity;
        if private.adjacency.value == Adjacency::Universe {
            return Err(private
                .adjacency
                .error(&spec.name, "adjacency `universe` needs [private.universe]"));
        } else if let Sensitivity::Sampled { .. } = sensitivity.value {
            return Err(sensitivity.error(
                &spec.name,
                "sensitivity by `sampled` needs [private.universe]",
            ));
        }
        return Ok(());
    };
    let numbers = universe.value.len();
    match count {
        Some(count) if count != numbers => Err(universe.error(
            &spec.name,
            format!(
                "`center` has {}, but the spec has {}",
                counted(numbers, "number", "numbers"),
                counted(count, of.trim_end_matches('s'), of)
            ),
        )),
        _ => Ok(()),
    }
}
