//! What a spec says of a classifier: its features and their public bounds, its labels, the files of its records.

use std::fmt;
use std::sync::Arc;

use conveil::ask::{Adjacency, Request, Strategy};
use conveil_text::naming::fault;
use conveil_text::spelling::quoted;
use conveil_text::tables::{Item, MAX_COUNT, Table};
use conveil_text::{Located, ReadError};

use super::public::ClassifierModel;
use super::tune::{self, Tune};
use super::{Feature, Intercept, Loss, norm};
use crate::failure::Failure;
use crate::files::Files;
use crate::model::{Kind, Missing, Model, StandIn, Stated};
use crate::spec::{QuerySection, Sensitivity, Spec, StrategyChoice};

/// A linear classifier. All of it is public but the records in the files.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassifierSpec {
    /// The loss that its model has.
    pub loss: &'static Loss,
    /// `records`: how many records the private file has, at least 2. Public: it is part of the noise.
    pub records: Located<usize>,
    /// `features`: columns and the public bounds that they are clipped to and scaled by; at least one, none of them the
    /// label.
    pub features: Vec<Located<Feature>>,
    /// `label`.
    pub label: Label,
    /// `lambda` (0.001; from version 2 on by the rule): the weight of the regulariser, > 0, where it is stated.
    pub lambda: Option<f64>,
    /// `tune`, in the place of `lambda`: a grid of which one λ is chosen privately.
    pub tune: Option<Located<Tune>>,
    /// `intercept` (`regularised`).
    pub intercept: Intercept,
    /// `norm`: a public bound on ‖(x, 1)‖ of each record, x its scaled features; on ‖x‖ without an intercept. Above 1 (0
    /// without), and below what the bounds imply.
    pub norm: Option<f64>,
    /// `data` of `[private]`: the path of a CSV file, as written.
    pub data: Option<Located<String>>,
    /// `test`: records to score hyperplanes on, private too.
    pub test: Option<Located<String>>,
    /// Whether the data are a public twin, which may have another number of records.
    pub at_twin: bool,
}

/// The column of the label and its two values.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// `column`.
    pub column: Located<String>,
    /// `positive` (1).
    pub positive: Class,
    /// `negative` (-1): another value of the same kind.
    pub negative: Class,
}

impl Label {
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
pub enum Class {
    /// Fields that are this number.
    Number(f64),
    /// Fields that read like this, to the letter.
    Word(String),
}

impl Class {
    fn is(&self, field: &str) -> bool {
        match self {
            Class::Number(number) => field.parse::<f64>().is_ok_and(|found| found == *number),
            Class::Word(word) => field == word,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Class::Number(number) => write!(f, "{number}"),
            Class::Word(word) => write!(f, "{word}"),
        }
    }
}

impl ClassifierSpec {
    /// Reads the keys of `[problem]` beside `model`.
    pub(crate) fn read(table: &mut Table, loss: &'static Loss) -> Result<Self, ReadError> {
        let records = table.required("records", "records = 4500")?;
        let records = records.locate(records.count(2, MAX_COUNT)?);
        let label = read_label(table.required("label", "label = { column = \"class\" }")?)?;
        let features = read_features(
            table.required("features", "features = { wind = [0.0, 25.0] }")?,
            &label,
        )?;
        let tune = table.optional("tune");
        if let (Some(tune), false) = (&tune, loss.tunes) {
            let word = loss.kind.word;
            return Err(tune
                .error(format!("`tune` is not part of model `{word}`: a private choice of λ is not proven for its loss here"))
                .with_help("state `lambda`, or leave it to the rule of version 2"));
        }
        if let (Some(tune), Some(_)) = (&tune, table.peek("lambda")) {
            return Err(tune
                .error("`tune` and `lambda` are both given: λ is either chosen privately from the grid, or fixed")
                .with_help("leave out one of the two"));
        }
        let intercept = match table.optional("intercept") {
            None => Intercept::default(),
            Some(item) if item.text()? == "free" => {
                return Err(item
                    .error("an intercept without a regulariser is not a function of the data: where several are optimal, two exact solvers return two of them, and no guarantee covers that")
                    .with_help("intercept = \"regularised\", or \"none\""));
            }
            Some(item) => item.choice(&[
                ("regularised", Intercept::Regularised),
                ("none", Intercept::None),
            ])?,
        };
        let norm = match table.optional("norm") {
            None => None,
            Some(item) => Some(read_norm(&item, features.len(), intercept)?),
        };
        Ok(ClassifierSpec {
            loss,
            records,
            features,
            label,
            lambda: match table.optional("lambda") {
                None => None,
                Some(lambda) => Some(lambda.positive()?),
            },
            tune: tune.as_ref().map(Tune::read).transpose()?,
            intercept,
            norm,
            data: None,
            test: None,
            at_twin: false,
        })
    }

    /// How many numbers its hyperplane has; a record has as many, its label among them where there is an intercept.
    pub fn numbers(&self) -> usize {
        self.features.len() + usize::from(self.intercept != Intercept::None)
    }
}

impl Stated for ClassifierSpec {
    fn kind(&self) -> &'static Kind {
        self.loss.kind
    }

    fn record_len(&self) -> Option<usize> {
        Some(self.numbers())
    }

    fn has_records(&self) -> bool {
        true
    }

    fn read_private(&mut self, table: &mut Table<'_>) -> Result<(), ReadError> {
        self.data = Some(table.required("data", "data = \"records.csv\"")?.words()?);
        if let Some(test) = table.optional("test") {
            self.test = Some(test.words()?);
        }
        Ok(())
    }

    /// What is proven for records, whoever trains on them.
    fn default_sensitivity(&self) -> Option<Request> {
        Some(Request::regularised_erm())
    }

    fn answer_len(&self, _query: &QuerySection) -> Option<usize> {
        Some(self.numbers())
    }

    /// A record enters with all its numbers, in the coefficients of its own loss.
    fn check(&self, spec: &Spec) -> Result<(), ReadError> {
        let adjacency = &spec.private.adjacency;
        let message = match adjacency.value {
            Adjacency::OneRecord { .. } => None,
            Adjacency::Universe => Some(format!(
                "adjacency `universe` is not part of model `{}`",
                self.loss.kind.word
            )),
            _ => Some("datasets of records differ in whole records".into()),
        };
        if let Some(message) = message {
            return Err(adjacency
                .error(&spec.name, message)
                .with_help("adjacency = { kind = \"one-record\" }"));
        }
        let strategy = &spec.feasibility.strategy;
        if spec.feasibility.choice == StrategyChoice::Stated
            && strategy.value == Strategy::Program
            && !self.loss.trains_for_noise
        {
            let message = format!(
                "model `{}` cannot be trained for the noise: {}",
                self.loss.kind.word, self.loss.why_not
            );
            return Err(strategy
                .error(&spec.name, message)
                .with_help("strategy = \"output\": noise on the trained weights"));
        }
        let sensitivity = &spec.privacy.sensitivity;
        match sensitivity.value.certificate() {
            Some(kind)
                if !kind.stands_for_others()
                    && sensitivity.value != Sensitivity::By(Request::regularised_erm()) =>
            {
                let by = kind.word();
                let message =
                    format!("sensitivity by `{by}` makes no sense for records of a classifier");
                Err(sensitivity
                    .error(&spec.name, message)
                    .with_help("`erm` is proven for them"))
            }
            _ => match &self.tune {
                Some(tune) => tune::check(tune, spec),
                None => Ok(()),
            },
        }
    }

    fn private_files(&self) -> Vec<&Located<String>> {
        self.data.iter().chain(&self.test).collect()
    }

    /// The records of a twin are taken in turn until there are as many as private ones.
    fn with_public(&self, _spec: &Spec, data: StandIn<'_>) -> Result<Arc<dyn Stated>, Missing> {
        let StandIn::Twin(file) = data else {
            return Err(Missing::nominal("records"));
        };
        Ok(Arc::new(ClassifierSpec {
            data: Some(file.clone()),
            test: None,
            at_twin: true,
            ..self.clone()
        }))
    }

    fn open(&self, spec: &Spec, _files: &Files) -> Result<Box<dyn Model>, Failure> {
        Ok(Box::new(ClassifierModel::open(self, spec)?))
    }
}

fn read_norm(item: &Item, features: usize, intercept: Intercept) -> Result<f64, ReadError> {
    let value = item.number()?;
    match norm::fault(value, features, intercept != Intercept::None) {
        None => Ok(value),
        Some(fault) => Err(item
            .error(format!("`norm` {fault}"))
            .with_help("it is in the units of the scaled features, each in [-1, 1], with the constant 1 of the intercept counted; without it the bounds alone count")),
    }
}

fn read_label(item: Item) -> Result<Label, ReadError> {
    let mut table = item.table("`label`")?;
    table.known(&["column", "positive", "negative"])?;
    let named = table.required("column", "column = \"class\"")?;
    let column = named.name()?;
    let (positive, negative) = (table.optional("positive"), table.optional("negative"));
    let class = |value: &Option<Item>, usual: f64| match value {
        None => Ok(Class::Number(usual)),
        Some(value) => read_class(value),
    };
    let label = Label {
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
        (word @ Class::Word(_), Class::Number(_)) => {
            let stated = positive.unwrap_or(item);
            Err(one_word(
                &stated,
                "negative",
                &label,
                (&shown(word), "\"…\""),
            ))
        }
        (Class::Number(_), word @ Class::Word(_)) => {
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
    label: &Label,
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
fn shown(class: &Class) -> String {
    match class {
        Class::Number(number) => format!("{number:?}"),
        Class::Word(word) => format!("{word:?}"),
    }
}

fn read_class(value: &Item) -> Result<Class, ReadError> {
    if value.is_number() {
        return value.number().map(Class::Number);
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
    Ok(Class::Word(word.into()))
}

fn read_features(item: Item, label: &Label) -> Result<Vec<Located<Feature>>, ReadError> {
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
        features.push(bounds.locate(Feature::within(name, low, high)));
    }
    if features.is_empty() {
        return Err(item.error("`features` must not be empty"));
    }
    Ok(features)
}
