//! Model `svm`: the keys of `[problem]` and `[private]` that a support vector machine has.

use std::fmt;

use conveil_text::naming::fault;
use conveil_text::spelling::quoted;
use conveil_text::tables::Table;
use conveil_text::tables::{Item, MAX_COUNT};
use conveil_text::{Located, ReadError};

/// A support vector machine. All of it is public.
#[derive(Debug, Clone, PartialEq)]
pub struct Svm {
    /// `records`: how many records the private file has, at least 2. Public: it is part of the noise.
    pub records: Located<usize>,
    /// `features`: columns and the public bounds that they are clipped to and scaled by; at least one, none of them the
    /// label.
    pub features: Vec<Located<SvmFeature>>,
    /// `label`.
    pub label: SvmLabel,
    /// `lambda` (0.001): the weight of the regulariser, > 0.
    pub lambda: f64,
    /// `intercept` (`regularised`).
    pub intercept: SvmIntercept,
}

impl Svm {
    /// How many numbers its hyperplane has.
    pub fn numbers(&self) -> usize {
        self.features.len() + usize::from(self.intercept == SvmIntercept::Regularised)
    }
}

/// A column and its public bounds, low < high.
#[derive(Debug, Clone, PartialEq)]
pub struct SvmFeature {
    /// Its name.
    pub name: String,
    /// The bounds.
    pub bounds: (f64, f64),
}

/// The column of the label and its two values.
#[derive(Debug, Clone, PartialEq)]
pub struct SvmLabel {
    /// `column`.
    pub column: Located<String>,
    /// `positive` (1).
    pub positive: SvmClass,
    /// `negative` (-1): another value of the same kind.
    pub negative: SvmClass,
}

impl SvmLabel {
    /// Whether a field of the column is the positive label; `None` where it is neither.
    pub fn of(&self, field: &str) -> Option<bool> {
        match (self.positive.is(field), self.negative.is(field)) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }
}

/// A value of the label. Which ones occur is stated, never learned from the data.
#[derive(Debug, Clone, PartialEq)]
pub enum SvmClass {
    /// Fields that are this number.
    Number(f64),
    /// Fields that read like this, to the letter.
    Word(String),
}

impl SvmClass {
    fn is(&self, field: &str) -> bool {
        match self {
            SvmClass::Number(number) => field.parse::<f64>().is_ok_and(|found| found == *number),
            SvmClass::Word(word) => field == word,
        }
    }
}

impl fmt::Display for SvmClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SvmClass::Number(number) => write!(f, "{number}"),
            SvmClass::Word(word) => write!(f, "{word}"),
        }
    }
}

/// What becomes of the intercept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SvmIntercept {
    /// `regularised`: like a weight.
    #[default]
    Regularised,
    /// `none`.
    None,
}

/// The private records.
#[derive(Debug, Clone, PartialEq)]
pub struct SvmRecords {
    /// `data`: the path of a CSV file, as written.
    pub data: Located<String>,
    /// `test`: records to score hyperplanes on, private too.
    pub test: Option<Located<String>>,
}

/// Reads the keys of `[problem]` beside `model`.
pub(super) fn read(table: &mut Table) -> Result<Svm, ReadError> {
    let records = table.required("records", "records = 4500")?;
    let records = records.locate(records.count(2, MAX_COUNT)?);
    let label = read_label(table.required("label", "label = { column = \"class\" }")?)?;
    let features = read_features(
        table.required("features", "features = { wind = [0.0, 25.0] }")?,
        &label,
    )?;
    Ok(Svm {
        records,
        features,
        label,
        lambda: match table.optional("lambda") {
            None => 1e-3,
            Some(lambda) => lambda.positive()?,
        },
        intercept: match table.optional("intercept") {
            None => SvmIntercept::default(),
            Some(item) if item.text()? == "free" => {
                return Err(item
                    .error("an intercept without a regulariser is not a function of the data: where several are optimal, two exact solvers return two of them, and no guarantee covers that")
                    .with_help("intercept = \"regularised\", or \"none\""));
            }
            Some(item) => item.choice(&[
                ("regularised", SvmIntercept::Regularised),
                ("none", SvmIntercept::None),
            ])?,
        },
    })
}

/// Reads the keys of `[private]` beside `adjacency`.
pub(super) fn read_records(table: &mut Table) -> Result<SvmRecords, ReadError> {
    Ok(SvmRecords {
        data: table.required("data", "data = \"records.csv\"")?.words()?,
        test: match table.optional("test") {
            None => None,
            Some(test) => Some(test.words()?),
        },
    })
}

fn read_label(item: Item) -> Result<SvmLabel, ReadError> {
    let mut table = item.table("`label`")?;
    table.known(&["column", "positive", "negative"])?;
    let named = table.required("column", "column = \"class\"")?;
    let column = named.name()?;
    let (positive, negative) = (table.optional("positive"), table.optional("negative"));
    let class = |value: &Option<Item>, usual: f64| match value {
        None => Ok(SvmClass::Number(usual)),
        Some(value) => read_class(value),
    };
    let label = SvmLabel {
        positive: class(&positive, 1.0)?,
        negative: class(&negative, -1.0)?,
        column,
    };
    match (&label.positive, &label.negative) {
        (one, other) if one == other => Err(match &negative {
            Some(value) => value.error(format!(
                "{value} must differ from `positive`, found {} for both",
                shown(one)
            )),
            None => item
                .error("`positive` must differ from `negative`, which is -1.0 unless it is given"),
        }),
        (word @ SvmClass::Word(_), SvmClass::Number(_)) => {
            let stated = positive.unwrap_or(item);
            Err(one_word(
                &stated,
                "negative",
                &label,
                (&shown(word), "\"…\""),
            ))
        }
        (SvmClass::Number(_), word @ SvmClass::Word(_)) => {
            let stated = negative.unwrap_or(item);
            Err(one_word(
                &stated,
                "positive",
                &label,
                ("\"…\"", &shown(word)),
            ))
        }
        _ => Ok(label),
    }
}

/// Refuses a word as one label and a number as the other.
fn one_word(
    stated: &Item,
    missing: &str,
    label: &SvmLabel,
    (positive, negative): (&str, &str),
) -> ReadError {
    stated
        .error(format!(
            "{stated} is a word, so `{missing}` must be given as a word too: which labels there are is stated, not learned from the data"
        ))
        .with_help(format!(
            "label = {{ column = {:?}, positive = {positive}, negative = {negative} }}",
            label.column.value
        ))
}

/// A label as it is written in a spec.
fn shown(class: &SvmClass) -> String {
    match class {
        SvmClass::Number(number) => format!("{number:?}"),
        SvmClass::Word(word) => format!("{word:?}"),
    }
}

fn read_class(value: &Item) -> Result<SvmClass, ReadError> {
    if value.is_number() {
        return value.number().map(SvmClass::Number);
    }
    if !value.is_text() {
        return Err(value.must("be a number or a word in quotes"));
    }
    let word = value.text()?;
    if !word.is_empty() {
        value.readable("the label", word, fault(word))?;
    }
    if word.is_empty() || word != word.trim() {
        return Err(value.error(format!(
            "{value} must be a number or a word without blanks around it, found {word:?}"
        )));
    }
    Ok(SvmClass::Word(word.into()))
}

fn read_features(item: Item, label: &SvmLabel) -> Result<Vec<Located<SvmFeature>>, ReadError> {
    let table = item.table("`features`")?;
    let mut features = Vec::new();
    for (name, _, bounds) in table.entries() {
        if name == label.column.value {
            return Err(bounds.error(format!("{} is the label", quoted(name))));
        }
        if !name.trim().is_empty() {
            bounds.readable("the feature name", name, fault(name))?;
        }
        if name.trim().is_empty() || name.contains(['[', ']']) {
            return Err(bounds.error(format!(
                "the feature name {} must not be empty or contain brackets",
                quoted(name)
            )));
        }
        let (low, high) = match bounds.numbers()?[..] {
            [low, high] if low < high && (high - low).is_finite() => (low, high),
            [low, high] if low < high => {
                return Err(bounds.error(format!(
                    "the bounds of {} are too far apart to scale by, found [{low:e}, {high:e}]",
                    quoted(name)
                )));
            }
            [low, high] => {
                return Err(bounds.error(format!(
                    "the bounds of {} must increase, found [{low:?}, {high:?}]",
                    quoted(name)
                )));
            }
            ref other => {
                return Err(bounds.error(format!(
                    "the bounds of {} must be two numbers, found {}",
                    quoted(name),
                    other.len()
                )));
            }
        };
        features.push(bounds.locate(SvmFeature {
            name: name.into(),
            bounds: (low, high),
        }));
    }
    if features.is_empty() {
        return Err(item.error("`features` must not be empty"));
    }
    Ok(features)
}
