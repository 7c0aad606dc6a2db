//! Model `regression`: the keys of `[problem]` and `[private]` that a regression has.

use std::collections::HashSet;

use super::{Adjacency, Model, Sensitivity, Spec};
use conveil_text::spelling::{listed, quoted};
use conveil_text::tables::Item;
use conveil_text::tables::Table;
use conveil_text::{Located, ReadError};

/// A regression of private responses on public regressors.
#[derive(Debug, Clone, PartialEq)]
pub struct Regression {
    /// `regressors`: the path of the CSV file with their columns, as written.
    pub regressors: Located<String>,
    /// `response`: the column of the responses.
    pub response: Located<String>,
    /// `[[problem.basis]]`: at least one.
    pub basis: Vec<Located<Basis>>,
    /// `[[problem.condition]]`.
    pub conditions: Vec<Located<Condition>>,
    /// `ridge` (0): λ ≥ 0.
    pub ridge: f64,
    /// `loss` (`squared`).
    pub loss: Located<RegressionLoss>,
    /// `units`: of columns, each once; for the readers of the released weights.
    pub units: Vec<(String, Located<String>)>,
}

impl Regression {
    /// The columns that the basis functions need, each once.
    pub fn features(&self) -> Vec<&Located<String>> {
        let mut seen = HashSet::new();
        let each = self.basis.iter().flat_map(|basis| basis.value.features());
        each.filter(|feature| seen.insert(feature.value.as_str()))
            .collect()
    }
}

/// Basis functions.
#[derive(Debug, Clone, PartialEq)]
pub enum Basis {
    /// `constant`: the intercept.
    Constant,
    /// `linear`: features themselves.
    Linear {
        /// `features`, or one `feature`; at least one.
        features: Vec<Located<String>>,
    },
    /// `polynomial`: powers of x − center, from 1 to a degree.
    Polynomial {
        /// `feature`.
        feature: Located<String>,
        /// `degree`, from 1 to 32.
        degree: u32,
        /// `center` (0).
        center: f64,
    },
    /// `power`: scale·(x − center)^degree.
    Power {
        /// `feature`.
        feature: Located<String>,
        /// `degree`, from 1 to 32.
        degree: u32,
        /// `center` (0).
        center: f64,
        /// `scale` (1): not 0.
        scale: f64,
    },
    /// `radial`: √(1 + ((x − c)/width)²) for each center c.
    Radial {
        /// `feature`.
        feature: Located<String>,
        /// `centers`: at least one.
        centers: Vec<f64>,
        /// `width` (1): positive.
        width: f64,
    },
}

impl Basis {
    fn features(&self) -> &[Located<String>] {
        match self {
            Basis::Constant => &[],
            Basis::Linear { features } => features,
            Basis::Polynomial { feature, .. }
            | Basis::Power { feature, .. }
            | Basis::Radial { feature, .. } => std::slice::from_ref(feature),
        }
    }
}

/// A condition on the fitted function or its weights.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// Along a feature, at points.
    At {
        /// `kind`.
        behaviour: Behaviour,
        /// `feature`.
        feature: Located<String>,
        /// `at`, or `points` of them evenly `from` here `to` there; at least one.
        points: Vec<f64>,
    },
    /// `nonnegative-weights` or `nonpositive-weights`.
    Weights {
        /// Whether it is the first.
        nonnegative: bool,
    },
}

/// What the fitted function must do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// `nonnegative`.
    Nonnegative,
    /// `nonpositive`.
    Nonpositive,
    /// `increasing`.
    Increasing,
    /// `decreasing`.
    Decreasing,
    /// `convex`.
    Convex,
    /// `concave`.
    Concave,
}

/// What is minimised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RegressionLoss {
    /// `squared`.
    #[default]
    Squared,
    /// `norm`: in paper mode only.
    Norm,
}

/// The private responses.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Responses {
    /// `data`: the path of the CSV file with the column; without it the `regressors` file.
    pub file: Option<Located<String>>,
    /// `bounds`: public bounds lo < hi that every response is clipped to.
    pub bounds: Option<(f64, f64)>,
}

/// The highest degree of a polynomial.
const HIGHEST: usize = 32;

/// The most points that `from`, `to` and `points` make.
const MOST_POINTS: usize = 10_000;

/// Reads the keys of `[problem]` beside `model`.
pub(super) fn read(table: &mut Table) -> Result<Regression, ReadError> {
    let regressors = table
        .required("regressors", "regressors = \"records.csv\"")?
        .words()?;
    let response = table.required("response", "response = \"power\"")?.name()?;
    let example = "[[problem.basis]] with kind = \"linear\", features = [\"speed\"]";
    let basis = table.required("basis", example)?;
    let mut read = Vec::new();
    for table in basis.tables("problem.basis")? {
        read.push(read_basis(table)?);
    }
    if read.is_empty() {
        return Err(basis.error("[problem] needs at least one [[problem.basis]]"));
    }
    let mut conditions = Vec::new();
    if let Some(item) = table.optional("condition") {
        for table in item.tables("problem.condition")? {
            conditions.push(read_condition(table)?);
        }
    }
    let units = table.optional("units");
    let mut regression = Regression {
        units: Vec::new(),
        basis: read,
        conditions,
        ridge: match table.optional("ridge") {
            None => 0.0,
            Some(ridge) => ridge.nonnegative()?,
        },
        loss: match table.optional("loss") {
            None => table.locate(RegressionLoss::default()),
            Some(item) => item.locate(item.choice(&[
                ("squared", RegressionLoss::Squared),
                ("norm", RegressionLoss::Norm),
            ])?),
        },
        regressors,
        response,
    };
    let features = regression.features();
    let response = &regression.response.value;
    if let Some(feature) = features.iter().find(|f| f.value == *response) {
        let message = format!(
            "{} is the private response, and a regressor is public",
            quoted(response)
        );
        return Err(table.complain(feature, message));
    }
    for condition in &regression.conditions {
        if let Condition::At { feature, .. } = &condition.value
            && !features.iter().any(|f| f.value == feature.value)
        {
            let message = format!("no basis function depends on {}", quoted(&feature.value));
            return Err(table.complain(feature, message));
        }
    }
    if let Some(units) = units {
        regression.units = read_units(units, &regression)?;
    }
    Ok(regression)
}

/// The units of features and of the response.
fn read_units(
    item: Item,
    regression: &Regression,
) -> Result<Vec<(String, Located<String>)>, ReadError> {
    let table = item.table("`units`")?;
    let mut columns: Vec<&str> = (regression.features().iter())
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
enum Kind {
    Constant,
    Linear,
    Polynomial,
    Power,
    Radial,
}

fn read_basis(mut table: Table) -> Result<Located<Basis>, ReadError> {
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
    let basis = match kind.choice(&[
        ("constant", Kind::Constant),
        ("linear", Kind::Linear),
        ("polynomial", Kind::Polynomial),
        ("power", Kind::Power),
        ("radial", Kind::Radial),
    ])? {
        Kind::Constant => Basis::Constant,
        Kind::Linear => Basis::Linear {
            features: read_features(&mut table)?,
        },
        Kind::Polynomial => Basis::Polynomial {
            feature: feature(&mut table)?,
            degree: degree(&mut table)?,
            center: number(&mut table, "center", 0.0)?,
        },
        Kind::Power => Basis::Power {
            feature: feature(&mut table)?,
            degree: degree(&mut table)?,
            center: number(&mut table, "center", 0.0)?,
            scale: match table.optional("scale") {
                None => 1.0,
                Some(scale) => scale.number_that("differ from 0", |x| x != 0.0)?,
            },
        },
        Kind::Radial => {
            let centers = table.required("centers", "centers = [3.0, 7.0, 11.0]")?;
            let numbers = centers.numbers()?;
            if numbers.is_empty() {
                return Err(centers.error("`centers` must not be empty"));
            }
            Basis::Radial {
                feature: feature(&mut table)?,
                centers: numbers,
                width: match table.optional("width") {
                    None => 1.0,
                    Some(width) => width.positive()?,
                },
            }
        }
    };
    table.finish(&format!("with kind `{}`", kind.text()?))?;
    Ok(table.locate(basis))
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

fn read_condition(mut table: Table) -> Result<Located<Condition>, ReadError> {
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
        What::Weights(nonnegative) => Condition::Weights { nonnegative },
        What::Along(behaviour) => Condition::At {
            behaviour,
            feature: feature(&mut table)?,
            points: read_points(&mut table)?,
        },
    };
    table.finish(&format!("with kind `{}`", kind.text()?))?;
    Ok(table.locate(condition))
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

/// Reads the keys of `[private]` beside `adjacency`.
pub(super) fn read_responses(table: &mut Table) -> Result<Responses, ReadError> {
    Ok(Responses {
        file: match table.optional("data") {
            None => None,
            Some(file) => Some(file.words()?),
        },
        bounds: match table.optional("bounds") {
            None => None,
            Some(bounds) => Some(read_bounds(bounds)?),
        },
    })
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

/// What is asked about responses must make sense for responses.
pub(super) fn check(spec: &Spec, name: &str) -> Result<(), ReadError> {
    let Model::Regression(regression) = &spec.problem.model else {
        return Ok(());
    };
    let sensitivity = &spec.privacy.sensitivity;
    let by = sensitivity.value.by();
    let is_bounded = spec
        .private
        .responses
        .as_ref()
        .is_some_and(|r| r.bounds.is_some());
    let bounds = "in [private]: bounds = [0.0, 1.0], which every response is clipped to";
    match sensitivity.value {
        Sensitivity::Envelope { .. } | Sensitivity::Radius | Sensitivity::RegularisedErm => {
            return Err(sensitivity
                .error(
                    name,
                    format!("sensitivity by `{by}` makes no sense for a regression"),
                )
                .with_help("`strong-convexity` is proven for it, and the default"));
        }
        Sensitivity::Sampled { .. } if !is_bounded => {
            return Err(sensitivity
                .error(
                    name,
                    "sensitivity by `sampled` needs public `bounds` on the responses",
                )
                .with_help(bounds));
        }
        _ => {}
    }
    let adjacency = &spec.private.adjacency;
    if matches!(
        adjacency.value,
        Adjacency::OneRecord { .. } | Adjacency::Universe
    ) && !is_bounded
    {
        return Err(adjacency
            .error(
                name,
                "without public `bounds` on the responses, this adjacency sets no limit to a change",
            )
            .with_help(bounds));
    }
    // Without noise in the program the deterministic map is the one released: no paper mode, but a private release.
    let is_program = spec.feasibility.strategy.value == super::Strategy::Program;
    let is_paper_mode = is_program
        && matches!(
            sensitivity.value,
            Sensitivity::Sampled {
                on: super::SampledMap::Deterministic,
                ..
            }
        );
    if regression.loss.value == RegressionLoss::Norm && !is_paper_mode {
        return Err(regression
            .loss
            .error(
                name,
                "loss `norm` is for paper mode: its weights have no certificate",
            )
            .with_help(match is_program {
                true => "loss = \"squared\", or in [privacy] sensitivity = { by = \"sampled\", on = \"deterministic\", … } and --not-private",
                false => "loss = \"squared\"; paper mode has strategy = \"program\" in [feasibility], in [privacy] sensitivity = { by = \"sampled\", on = \"deterministic\", … } and --not-private",
            }));
    }
    Ok(())
}
