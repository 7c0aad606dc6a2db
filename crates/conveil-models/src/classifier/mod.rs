//! Linear classifiers with private records: min λ‖(w, b)‖² + (1/N)Σ φ(yᵢ(w'xᵢ ± b)) for a convex loss φ, what the models
//! [`crate::svm`] and [`crate::logistic`] share.
//!
//! A record enters as yᵢ·(xᵢ, 1), which is all that its loss sees; features are clipped and scaled to [−1, 1] by public
//! bounds, and x is then scaled to ‖(xᵢ, 1)‖ ≤ R where a public norm R is stated. Each loss is 1-Lipschitz in the margin, so
//! that the certificate for regularised empirical risk covers what is released.

mod compare;
mod defaults;
mod labelled;
mod loss;
mod meaning;
mod norm;
mod outlook;
mod private;
mod public;
mod score;
pub(crate) mod starter;
mod stated;
mod tune;

pub use defaults::lambda_by_rule;
pub(crate) use loss::Laid;
pub use loss::Loss;
pub use meaning::Classes;
pub use score::{Accuracy, Score, noise_length, noise_ratio};
pub use stated::{Class, ClassifierSpec, Label};
pub use tune::Tune;

use conveil::ask::{Adjacency, Privacy, Query};
use conveil::program::{
    AffineMap, DataMap, Location, Meaning, NewVariables, Parameter, Parameters, Place, Program,
    Setting, Sparse, Stage,
};
use conveil::{Error, Result};
use std::collections::HashSet;

/// A feature, and the public bounds that its values are clipped to and scaled by.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    name: String,
    bounds: Option<(f64, f64)>,
}

impl Feature {
    /// Values within public bounds low < high, scaled to [−1, 1].
    pub fn within(name: impl Into<String>, low: f64, high: f64) -> Self {
        Feature {
            name: name.into(),
            bounds: Some((low, high)),
        }
    }

    /// Values as they are: no certificate then, since nothing bounds what one record can do.
    pub fn unbounded(name: impl Into<String>) -> Self {
        Feature {
            name: name.into(),
            bounds: None,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its public bounds.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        self.bounds
    }

    /// The bound that stands in for a value beyond it; none for values within the bounds, or outside by rounding alone.
    pub fn clipped(&self, value: f64) -> Option<f64> {
        let (low, high) = self.bounds?;
        let bound = value.clamp(low, high);
        let rounding = ROUNDING * (high - low) + 4.0 * f64::EPSILON * bound.abs();
        ((value - bound).abs() > rounding).then_some(bound)
    }

    /// The middle of the bounds, and half their distance.
    fn scale(&self, low: f64, high: f64) -> (f64, f64) {
        let half = 0.5 * high - 0.5 * low;
        (low + half, half)
    }

    /// The value in units of the bounds: −1 at the lower one, 1 at the upper one.
    fn scaled(&self, value: f64) -> f64 {
        match self.bounds {
            None => value,
            Some((low, high)) => {
                let (centre, half) = self.scale(low, high);
                let scaled = (value - centre) / half;
                // A value far beyond narrow bounds stays a number, to be clipped.
                scaled.clamp(-f64::MAX, f64::MAX)
            }
        }
    }
}

/// A value this part of the bounds' distance outside them is there by rounding.
const ROUNDING: f64 = 1e-9;

/// What becomes of the intercept b.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Intercept {
    /// Regularised like a weight.
    #[default]
    Regularised,
    /// Not regularised, as in the paper. It is not a function of the data then: where many intercepts are optimal, two
    /// exact solvers return two of them. For studies in paper mode.
    Free,
    /// Regularised a ten-thousandth as much as a weight: almost free, and still a function of the data. For studies in
    /// paper mode.
    Light,
    /// None: hyperplanes through the middle of the bounds.
    None,
}

/// The weight of a light intercept's square against that of a weight.
const LIGHT: f64 = 1e-4;

/// Whether labels are data.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Labels {
    /// They are part of the private records.
    #[default]
    Private,
    /// They are public, true for +1, one for each record: only features are private.
    Public(Vec<bool>),
}

/// A classifier to be.
#[derive(Clone, Debug)]
pub struct ClassifierBuilder {
    loss: &'static Loss,
    records: usize,
    features: Vec<Feature>,
    lambda: f64,
    intercept: Intercept,
    labels: Labels,
    classes: Classes,
    norm: Option<f64>,
    /// What a rule chose.
    settings: Vec<Setting>,
}

impl ClassifierBuilder {
    /// The weight λ of the regulariser λ‖(w, b)‖².
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.lambda = lambda;
        self.settings.clear();
        self
    }

    /// λ by the rule for this privacy ([`lambda_by_rule`]), which cards then say. The intercept and the norm must be stated
    /// before.
    pub fn lambda_by_rule(mut self, privacy: &Privacy) -> Self {
        self.lambda = lambda_by_rule(self.records, self.numbers(), self.norm, privacy);
        self.settings = vec![defaults::setting(&self, privacy)];
        self
    }

    /// What becomes of the intercept.
    pub fn intercept(mut self, intercept: Intercept) -> Self {
        self.intercept = intercept;
        self
    }

    /// Whether labels are data.
    pub fn labels(mut self, labels: Labels) -> Self {
        self.labels = labels;
        self
    }

    /// What the labels are called, for those who read the released weights.
    pub fn classes(mut self, classes: Classes) -> Self {
        self.classes = classes;
        self
    }

    /// The model, or what is wrong with it.
    pub fn build(self) -> Result<Classifier> {
        let bad = |text: String| Err(Error::Input(text));
        if !(self.lambda.is_finite() && self.lambda > 0.0) {
            return bad(format!(
                "λ must be positive and finite, found {}",
                self.lambda
            ));
        }
        if self.records == 0 || self.features.is_empty() {
            return bad(format!(
                "a classifier needs records and features, found {} and {}",
                self.records,
                self.features.len()
            ));
        }
        let mut names = HashSet::new();
        for feature in &self.features {
            if !names.insert(feature.name.as_str()) {
                return bad(format!("two features are named `{}`", feature.name));
            }
            if let Some((low, high)) = feature.bounds
                && !(low.is_finite() && high.is_finite() && low < high)
            {
                return bad(format!(
                    "the bounds of feature `{}` must be finite and in order, found [{low}, {high}]",
                    feature.name
                ));
            }
            if let Some((low, high)) = feature.bounds
                && !(high - low).is_finite()
            {
                return bad(format!(
                    "the bounds of feature `{}` are too far apart to scale by, found [{low:e}, {high:e}]: their difference must be below {:e}",
                    feature.name,
                    f64::MAX
                ));
            }
        }
        if let Labels::Public(labels) = &self.labels
            && labels.len() != self.records
        {
            return bad(format!(
                "{} public labels for {} records",
                labels.len(),
                self.records
            ));
        }
        self.check_norm()?;
        self.refuse_beyond_memory(1)?;
        let map = self.map()?;
        Ok(Classifier { parts: self, map })
    }

    /// Refuses more records than this machine can hold, in so many classifiers: their number is the spec's word, not that of a
    /// file.
    fn refuse_beyond_memory(&self, classifiers: usize) -> Result<()> {
        // A name and a place for each private number, and two copies of the entries of A while it is assembled.
        let name = 40.0
            + self
                .features
                .iter()
                .map(|f| f.name.len())
                .max()
                .unwrap_or(0) as f64;
        let parameters = self.width() as f64 * (name + size_of::<Parameter>() as f64);
        let entries = (self.features.len() + self.loss.entries) as f64 * 2.0 * 24.0;
        conveil::memory::refuse_beyond_memory(
            &format!(
                "a classifier of {} records with {} features",
                self.records,
                self.features.len()
            ),
            classifiers as f64 * self.records as f64 * (parameters + entries),
            "as many `records` as the file has; a sample of them, chosen without looking at their values",
        )
    }

    /// Whether there is a column for the intercept.
    fn has_intercept(&self) -> bool {
        self.intercept != Intercept::None
    }

    /// Numbers of the hyperplane.
    fn numbers(&self) -> usize {
        self.features.len() + usize::from(self.has_intercept())
    }

    /// Entries of θ in one record.
    fn width(&self) -> usize {
        let label = self.labels == Labels::Private && self.has_intercept();
        self.features.len() + usize::from(label)
    }

    fn map(&self) -> Result<AffineMap> {
        let (n, records) = (self.features.len(), self.records);
        let weights = self.numbers();
        let laid = (self.loss.lay)(records);
        let (auxiliaries, columns) = (laid.costs.len(), weights + laid.costs.len());
        let of_label = laid.margin * self.loss.sign;
        // Record r's number in column j, before its data come.
        let empty = |record: usize, j: usize| match &self.labels {
            Labels::Public(labels) if j == n && labels[record] => of_label,
            Labels::Public(_) if j == n => -of_label,
            _ => 0.0,
        };
        let (first, apart, empty) = (laid.first, laid.apart, &empty);
        let column = |j: usize| {
            let of_weight = (0..records).map(move |r| (first + apart * r, empty(r, j)));
            let of_loss = (j.checked_sub(weights)).map(|k| (laid.column)(records, k));
            let count = if j < weights { records } else { 0 };
            of_weight.take(count).chain(of_loss.into_iter().flatten())
        };
        let entries = records * weights + 2 * auxiliaries;
        let matrix = Sparse::by_columns(laid.limits.len(), entries, (0..columns).map(column))?;
        // Those of the first record: all others are alike.
        let entering = |name: &str, j: usize, coef: f64| {
            let place = Location::new(Place::A(laid.first, j), coef);
            Parameter::new(name).at_all(vec![place])
        };
        let features = self.features.iter().enumerate();
        let mut first: Vec<Parameter> = features
            .map(|(j, feature)| {
                let named = entering(&feature.name, j, laid.margin);
                bounded(named, feature.bounds.is_some())
            })
            .collect();
        if self.has_intercept() && self.labels == Labels::Private {
            first.push(entering("label", n, of_label).either(-1.0, 1.0));
        }
        let mut curvature: Vec<_> = (0..n).map(|j| (j, j, 2.0 * self.lambda)).collect();
        match self.intercept {
            Intercept::Regularised => curvature.push((n, n, 2.0 * self.lambda)),
            Intercept::Light => curvature.push((n, n, 2.0 * LIGHT * self.lambda)),
            Intercept::Free | Intercept::None => {}
        }
        let mut q = vec![0.0; weights];
        q.extend(laid.costs);
        let weight = |name: String| NewVariables {
            name,
            len: 1,
            stage: Stage::Decision,
            entries: Vec::new(),
        };
        let features = self.features.iter();
        let mut variables: Vec<NewVariables> =
            features.map(|f| weight(weight_name(&f.name))).collect();
        if self.has_intercept() {
            variables.push(weight(INTERCEPT.into()));
        }
        variables.extend(laid.variables);
        let program = Program::new(
            Sparse::from_triplets(columns, columns, &curvature)?,
            q,
            matrix,
            laid.limits,
            variables,
            laid.constraints,
        )?;
        let map = AffineMap::new(program, Parameters::of_records(records, laid.apart, first)?)?;
        match self.ball()? {
            None => Ok(map),
            Some(ball) => map.with_ball(ball),
        }
    }
}

/// The intercept's name.
const INTERCEPT: &str = "intercept";

fn weight_name(feature: &str) -> String {
    format!("weight of {feature}")
}

fn bounded(parameter: Parameter, has_bounds: bool) -> Parameter {
    match has_bounds {
        true => parameter.clipped(-1.0, 1.0),
        false => parameter,
    }
}

/// A linear classifier whose records are private.
#[derive(Clone, Debug)]
pub struct Classifier {
    parts: ClassifierBuilder,
    map: AffineMap,
}

impl Classifier {
    /// With this loss, of so many records with these features; λ = 1e-3, the intercept regularised, labels private.
    pub(crate) fn with_loss(
        loss: &'static Loss,
        records: usize,
        features: Vec<Feature>,
    ) -> ClassifierBuilder {
        ClassifierBuilder {
            loss,
            records,
            features,
            lambda: defaults::LAMBDA_OF_VERSION_1,
            intercept: Intercept::default(),
            labels: Labels::default(),
            classes: Classes::default(),
            norm: None,
            settings: Vec::new(),
        }
    }

    /// The same with another λ.
    pub fn with_lambda(&self, lambda: f64) -> Result<Classifier> {
        self.parts.clone().lambda(lambda).build()
    }

    /// The loss of a record.
    pub fn loss(&self) -> &'static Loss {
        self.parts.loss
    }

    /// Number of records N.
    pub fn records(&self) -> usize {
        self.parts.records
    }

    /// The features.
    pub fn features(&self) -> &[Feature] {
        &self.parts.features
    }

    /// λ.
    pub fn lambda(&self) -> f64 {
        self.parts.lambda
    }

    /// What becomes of the intercept.
    pub fn intercept(&self) -> Intercept {
        self.parts.intercept
    }

    /// The query of the hyperplane: every weight, and the intercept where there is one.
    pub fn query(&self) -> Query {
        let features = self.parts.features.iter();
        let mut names: Vec<String> = features.map(|f| weight_name(&f.name)).collect();
        if self.parts.has_intercept() {
            names.push(INTERCEPT.into());
        }
        Query::Variables(names)
    }

    /// One record is replaced.
    pub fn adjacency(&self) -> Adjacency {
        Adjacency::OneRecord {
            len: self.parts.width(),
        }
    }

    /// θ of records: their features as they are, and labels, true for +1.
    pub fn dataset(&self, features: &[Vec<f64>], labels: &[bool]) -> Result<Vec<f64>> {
        self.theta_of(features.iter().map(Vec::as_slice), labels)
    }

    /// The same of records that are shown one by one.
    fn theta_of<'r>(
        &self,
        features: impl ExactSizeIterator<Item = &'r [f64]>,
        labels: &[bool],
    ) -> Result<Vec<f64>> {
        let records = self.parts.records;
        if features.len() != records || labels.len() != records {
            return Err(Error::Input(format!(
                "{} records and {} labels for a classifier of {records} records",
                features.len(),
                labels.len()
            )));
        }
        let mut theta = Vec::with_capacity(self.map.len());
        for (i, (values, &label)) in features.zip(labels).enumerate() {
            if values.len() != self.parts.features.len() {
                return Err(Error::Input(format!(
                    "record {} has {} features, the classifier {}",
                    i + 1,
                    values.len(),
                    self.parts.features.len()
                )));
            }
            let sign = if label { 1.0 } else { -1.0 };
            let each = self.parts.features.iter().zip(values);
            theta.extend(each.map(|(feature, &x)| sign * feature.scaled(x)));
            match &self.parts.labels {
                Labels::Public(public) if public[i] != label => {
                    return Err(Error::Input(format!(
                        "record {} has another label than the public one",
                        i + 1
                    )));
                }
                Labels::Public(_) => {}
                Labels::Private if self.parts.has_intercept() => theta.push(sign),
                Labels::Private => {}
            }
        }
        Ok(theta)
    }

    /// Features in units of their public bounds, not yet clipped: the engine clips θ, and tells the curator.
    fn scaled(&self, values: &[f64]) -> std::result::Result<Vec<f64>, usize> {
        if values.len() != self.parts.features.len() {
            return Err(values.len());
        }
        let each = self.parts.features.iter().zip(values);
        Ok(each
            .map(|(feature, &value)| feature.scaled(value))
            .collect())
    }

    /// The hyperplane in the features' own units, Σ weight·x = offset, from released weights.
    pub fn in_own_units(&self, released: &[f64]) -> (Vec<f64>, f64) {
        let mut offset = -self.constant(released);
        let each = self.parts.features.iter().zip(released);
        let weights = each
            .map(|(feature, &w)| match feature.bounds {
                None => w,
                Some((low, high)) => {
                    offset += w * (low + high) / (high - low);
                    2.0 * w / (high - low)
                }
            })
            .collect();
        (weights, offset)
    }

    /// What the intercept adds to every score.
    fn constant(&self, released: &[f64]) -> f64 {
        let intercept = released.get(self.parts.features.len());
        self.parts.loss.sign * intercept.copied().unwrap_or(0.0)
    }

    /// The margin y(w'x ± b) with y = 1 for a record, by released weights: above 0 on the positive side.
    pub fn decision_value(&self, released: &[f64], values: &[f64]) -> Result<f64> {
        let n = self.parts.features.len();
        let scaled = self
            .scaled(values)
            .map_err(|found| Error::Input(format!("{found} features, the classifier has {n}")))?;
        let clipped = |(x, feature): (&f64, &Feature)| match feature.bounds {
            None => *x,
            Some(_) => x.clamp(-1.0, 1.0),
        };
        let values = scaled.iter().zip(&self.parts.features).map(clipped);
        let inner: f64 = values.zip(released).map(|(x, w)| x * w).sum();
        Ok(inner + self.constant(released))
    }
}

impl DataMap for Classifier {
    fn parameters(&self) -> &Parameters {
        self.map.parameters()
    }

    fn template(&self) -> &Program {
        self.map.template()
    }

    fn affine(&self) -> Option<&AffineMap> {
        Some(&self.map)
    }

    fn meaning(&self) -> Meaning {
        self.parts.meaning()
    }
}
