//! What a spec says of a regression: its regressors, basis functions and conditions, and where its responses are.

use std::collections::HashSet;
use std::sync::Arc;

use conveil::ask::{Adjacency, MapKind, Request, Strategy};
use conveil_text::spelling::{listed, quoted};
use conveil_text::tables::{Item, Table};
use conveil_text::{Located, ReadError};

use super::public::RegressionModel;
use super::{Basis, Behaviour, Condition, KIND, Loss};
use crate::failure::Failure;
use crate::files::Files;
use crate::model::{Kind, Missing, Model, StandIn, Stated};
use crate::spec::{Sensitivity, Spec};

/// A regression of private responses on public regressors.
#[derive(Debug, Clone, PartialEq)]
pub struct RegressionSpec {
    /// `regressors`: the path of the CSV file with their columns, as written.
    pub regressors: Located<String>,
    /// `response`: the column of the responses.
    pub response: Located<String>,
    /// `[[problem.basis]]`: at least one; features that are listed together have one each.
    pub basis: Vec<Basis>,
    /// The columns that the basis functions need, each once.
    pub features: Vec<Located<String>>,
    /// `[[problem.condition]]`.
    pub conditions: Vec<Condition>,
    /// `ridge` (0): λ ≥ 0.
    pub ridge: f64,
    /// `loss` (`squared`).
    pub loss: Located<Loss>,
    /// `units`: of columns, each once; for the readers of the released weights.
    pub units: Vec<(String, Located<String>)>,
    /// `data` of `[private]`: the path of the CSV file with the responses; without it the `regressors` file.
    pub data: Option<Located<String>>,
    /// `bounds`: public bounds lo < hi that every response is clipped to.
    pub bounds: Option<(f64, f64)>,
}

/// The highest degree of a polynomial.
const HIGHEST: usize = 32;

/// The most points that `from`, `to` and `points` make.
const MOST_POINTS: usize = 10_000;

impl RegressionSpec {
    /// Reads the keys of `[problem]` beside `model`.
    pub(super) fn read(table: &mut Table) -> Result<Self, ReadError> {
        let regressors = table
            .required("regressors", "regressors = \"records.csv\"")?
            .words()?;
        let response = table.required("response", "response = \"power\"")?.name()?;
        let example = "[[problem.basis]] with kind = \"linear\", features = [\"speed\"]";
        let item = table.required("basis", example)?;
        let (mut basis, mut features) = (Vec::new(), Vec::new());
        for table in item.tables("problem.basis")? {
            basis.extend(read_basis(table, &mut features)?);
        }
        if basis.is_empty() {
            return Err(item.error("[problem] needs at least one [[problem.basis]]"));
        }
        let mut seen = HashSet::new();
        features.retain(|feature| seen.insert(feature.value.clone()));
        let (mut conditions, mut along) = (Vec::new(), Vec::new());
        if let Some(item) = table.optional("condition") {
            for table in item.tables("problem.condition")? {
                let (condition, feature) = read_condition(table)?;
                conditions.push(condition);
                along.extend(feature);
            }
        }
        let units = table.optional("units");
        let mut regression = RegressionSpec {
            units: Vec::new(),
            basis,
            features,
            conditions,
            ridge: match table.optional("ridge") {
                None => 0.0,
                Some(ridge) => ridge.nonnegative()?,
            },
            loss: match table.optional("loss") {
                None => table.locate(Loss::default()),
                Some(item) => {
                    item.locate(item.choice(&[("squared", Loss::Squared), ("norm", Loss::Norm)])?)
                }
            },
            regressors,
            response,
            data: None,
            bounds: None,
        };
        let response = &regression.response.value;
        let known = |name: &str| regression.features.iter().find(|f| f.value == *name);
        if let Some(feature) = known(response) {
            let message = format!(
                "{} is the private response, and a regressor is public",
                quoted(response)
            );
            return Err(table.complain(feature, message));
        }
        if let Some(feature) = along.iter().find(|f| known(&f.value).is_none()) {
            let message = format!("no basis function depends on {}", quoted(&feature.value));
            return Err(table.complain(feature, message));
        }
        if let Some(units) = units {
            regression.units = read_units(units, &regression)?;
        }
        Ok(regression)
    }
}

impl Stated for RegressionSpec {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    /// A record has one private number, its response.
    fn record_len(&self) -> Option<usize> {
        Some(1)
    }

    fn read_private(&mut self, table: &mut Table<'_>) -> Result<(), ReadError> {
        if let Some(file) = table.optional("data") {
            self.data = Some(file.words()?);
        }
        if let Some(bounds) = table.optional("bounds") {
            self.bounds = Some(read_bounds(bounds)?);
        }
        Ok(())
    }

    /// The certificate of least squares asks for nothing that could be stated.
    fn default_sensitivity(&self) -> Option<Request> {
        Some(Request::strong_convexity())
    }

    /// What is asked about responses must make sense for responses.
    fn check(&self, spec: &Spec) -> Result<(), ReadError> {
        let (name, sensitivity) = (&spec.name, &spec.privacy.sensitivity);
        let bounds = "in [private]: bounds = [0.0, 1.0], which every response is clipped to";
        if let Some(kind) = sensitivity.value.certificate()
            && !kind.stands_for_others()
            && sensitivity.value != Sensitivity::By(Request::strong_convexity())
        {
            let by = kind.word();
            let message = format!("sensitivity by `{by}` makes no sense for a regression");
            return Err(sensitivity
                .error(name, message)
                .with_help("`strong-convexity` is proven for it, and the default"));
        }
        if sensitivity.value.is_sampled() && self.bounds.is_none() {
            let message = "sensitivity by `sampled` needs public `bounds` on the responses";
            return Err(sensitivity.error(name, message).with_help(bounds));
        }
        let adjacency = &spec.private.adjacency;
        if matches!(
            adjacency.value,
            Adjacency::OneRecord { .. } | Adjacency::Universe
        ) && self.bounds.is_none()
        {
            return Err(adjacency
                .error(
                    name,
                    "without public `bounds` on the responses, this adjacency sets no limit to a change",
                )
                .with_help(bounds));
        }
        self.check_loss(spec)
    }

    fn private_files(&self) -> Vec<&Located<String>> {
        vec![self.data.as_ref().unwrap_or(&self.regressors)]
    }

    fn with_public(&self, _spec: &Spec, data: StandIn<'_>) -> Result<Arc<dyn Stated>, Missing> {
        let StandIn::Twin(file) = data else {
            return Err(Missing::nominal("responses"));
        };
        Ok(Arc::new(RegressionSpec {
            data: Some(file.clone()),
            ..self.clone()
        }))
    }

    fn open(&self, spec: &Spec, files: &Files) -> Result<Box<dyn Model>, Failure> {
        Ok(Box::new(RegressionModel::open(self, spec, files)?))
    }
}

impl RegressionSpec {
    /// The norm loss is for paper mode.
    fn check_loss(&self, spec: &Spec) -> Result<(), ReadError> {
        // Without noise in the program the deterministic map is the one released: no paper mode, but a private release.
        let is_program = spec.feasibility.strategy.value == Strategy::Program;
        let is_on_the_map_without_noise = matches!(
            spec.privacy.sensitivity.value,
            Sensitivity::Sampled {
                on: MapKind::Deterministic,
                ..
            }
        );
        if self.loss.value != Loss::Norm || (is_program && is_on_the_map_without_noise) {
            return Ok(());
        }
        Err(self
            .loss
            .error(
                &spec.name,
                "loss `norm` is for paper mode: its weights have no certificate",
            )
            .with_help(match is_program {
                true => "loss = \"squared\", or in [privacy] sensitivity = { by = \"sampled\", on = \"deterministic\", … } and --not-private",
                false => "loss = \"squared\"; paper mode has strategy = \"program\" in [feasibility], in [privacy] sensitivity = { by = \"sampled\", on = \"deterministic\", … } and --not-private",
            }))
    }
}

/// The units of features and of the response.
fn read_units(
    item: Item,
    regression: &RegressionSpec,
) -> Result<Vec<(String, Located<String>)>, ReadError> {
    let table = item.table("`units`")?;
    let mut columns: Vec<&str> = (regression.features.iter())
        .map(|feature| feature.value.as_str())
        .collect();
    columns.push(&regression.response.value);
    let mut units = Vec::new();
    for (column, offset, unit) in table.entries() {
        if !columns.contains(&column) {
            let message = format!(
                "{} is neither the response nor a feature of a basis function",
                quoted(column)
            );
            let columns = format!("`units` may name {}", listed(&columns));
            return Err(table.source().error(offset, message).with_help(columns));
        }
        units.push((column.into(), unit.name()?));
    }
    Ok(units)
}

#[derive(Clone, Copy)]
enum Word {
    Constant,
    Linear,
    Polynomial,
    Power,
    Radial,
}

/// Groups of basis functions; a linear one for each feature.
fn read_basis(
    mut table: Table,
    features: &mut Vec<Located<String>>,
) -> Result<Vec<Basis>, ReadError> {
    table.known(&[
        "kind", "feature", "features", "degree", "center", "centers", "scale", "width",
    ])?;
    let kind = table.required("kind", "kind = \"linear\"")?;
    let number = |table: &mut Table, key: &'static str, default: f64| match table.optional(key) {
        None => Ok(default),
        Some(item) => item.number(),
    };
    let degree = |table: &mut Table| {
        let item = table.required("degree", "degree = 3")?;
        Ok(item.count(1, HIGHEST)? as u32)
    };
    let mut one = |table: &mut Table| {
        let named = feature(table)?;
        features.push(named.clone());
        Ok(named.value)
    };
    let basis = match kind.choice(&[
        ("constant", Word::Constant),
        ("linear", Word::Linear),
        ("polynomial", Word::Polynomial),
        ("power", Word::Power),
        ("radial", Word::Radial),
    ])? {
        Word::Constant => vec![Basis::Constant],
        Word::Linear => {
            let named = read_features(&mut table)?;
            let linear = named.iter().map(|feature| Basis::linear(&feature.value));
            let linear = linear.collect();
            features.extend(named);
            linear
        }
        Word::Polynomial => vec![Basis::Polynomial {
            feature: one(&mut table)?,
            degree: degree(&mut table)?,
            centre: number(&mut table, "center", 0.0)?,
        }],
        Word::Power => vec![Basis::Power {
            feature: one(&mut table)?,
            degree: degree(&mut table)?,
            centre: number(&mut table, "center", 0.0)?,
            scale: match table.optional("scale") {
                None => 1.0,
                Some(scale) => scale.number_that("differ from 0", |x| x != 0.0)?,
            },
        }],
        Word::Radial => {
            let centers = table.required("centers", "centers = [3.0, 7.0, 11.0]")?;
            let numbers = centers.numbers()?;
            if numbers.is_empty() {
                return Err(centers.error("`centers` must not be empty"));
            }
            vec![Basis::Radial {
                feature: one(&mut table)?,
                centres: numbers,
                width: match table.optional("width") {
                    None => 1.0,
                    Some(width) => width.positive()?,
                },
            }]
        }
    };
    table.finish(format!("with kind `{}`", kind.text()?))?;
    Ok(basis)
}

fn feature(table: &mut Table) -> Result<Located<String>, ReadError> {
    table.required("feature", "feature = \"speed\"")?.name()
}

fn read_features(table: &mut Table) -> Result<Vec<Located<String>>, ReadError> {
    match (table.optional("feature"), table.optional("features")) {
        (Some(feature), None) => Ok(vec![feature.name()?]),
        (None, Some(features)) => {
            let mut seen = HashSet::new();
            let mut read = Vec::new();
            for item in features.filled_array()? {
                let feature = item.name()?;
                if !seen.insert(feature.value.clone()) {
                    return Err(item.error(format!("{} is named twice", quoted(&feature.value))));
                }
                read.push(feature);
            }
            Ok(read)
        }
        (Some(_), Some(features)) => Err(features.error("give `feature` or `features`, not both")),
        (None, None) => Err(table
            .error("kind `linear` needs `feature` or `features`")
            .with_help("for example: features = [\"speed\", \"temperature\"]")),
    }
}

#[derive(Clone, Copy)]
enum What {
    Along(Behaviour),
    Weights(bool),
}

/// A condition, and the feature that it is along.
fn read_condition(mut table: Table) -> Result<(Condition, Option<Located<String>>), ReadError> {
    table.known(&["kind", "feature", "at", "from", "to", "points"])?;
    let kind = table.required("kind", "kind = \"increasing\"")?;
    let condition = match kind.choice(&[
        ("increasing", What::Along(Behaviour::Increasing)),
        ("decreasing", What::Along(Behaviour::Decreasing)),
        ("convex", What::Along(Behaviour::Convex)),
        ("concave", What::Along(Behaviour::Concave)),
        ("nonnegative", What::Along(Behaviour::Nonnegative)),
        ("nonpositive", What::Along(Behaviour::Nonpositive)),
        ("nonnegative-weights", What::Weights(true)),
        ("nonpositive-weights", What::Weights(false)),
    ])? {
        What::Weights(nonnegative) => (Condition::Weights { nonnegative }, None),
        What::Along(behaviour) => {
            let feature = feature(&mut table)?;
            let points = read_points(&mut table)?;
            (
                Condition::at(behaviour, &feature.value, &points),
                Some(feature),
            )
        }
    };
    table.finish(format!("with kind `{}`", kind.text()?))?;
    Ok(condition)
}

fn read_points(table: &mut Table) -> Result<Vec<f64>, ReadError> {
    if let Some(at) = table.optional("at") {
        let points = at.numbers()?;
        return match points.is_empty() {
            true => Err(at.error("`at` must not be empty")),
            false => Ok(points),
        };
    }
    let example = "at = [3.5, 5.0], or from = 3.0, to = 10.0, points = 8";
    let low = table.required("from", example)?.number()?;
    let end = table.required("to", example)?;
    let high = end.number_that("be above `from`", |to| to > low)?;
    let count = table.required("points", example)?.count(2, MOST_POINTS)?;
    let step = (high - low) / (count - 1) as f64;
    Ok((0..count).map(|i| low + step * i as f64).collect())
}

fn read_bounds(item: Item) -> Result<(f64, f64), ReadError> {
    let example = "for example: bounds = [0.0, 1.0]";
    if !item.is_array() {
        return Err(item.must("be two numbers").with_help(example));
    }
    match item.numbers()?[..] {
        [low, high] if low < high => Ok((low, high)),
        [low, high] => Err(item.error(format!("{item} must increase, found [{low:?}, {high:?}]"))),
        ref other => Err(item
            .error(format!("{item} must be two numbers, found {}", other.len()))
            .with_help(example)),
    }
}
