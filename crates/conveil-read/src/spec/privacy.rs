//! `[privacy]`: the noise and the sensitivity it covers.

use super::feasibility::{self, SampleSize};
use super::problem::Model;
use conveil_text::tables::Item;
use conveil_text::tables::Table;
use conveil_text::{Located, ReadError};

/// The privacy that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Privacy {
    /// `mechanism`: the noise, and the δ that goes with it.
    pub mechanism: Mechanism,
    /// `epsilon`: ε > 0, finite.
    pub epsilon: f64,
    /// `sensitivity`: how far the answer of neighbours may be apart, and why.
    pub sensitivity: Located<Sensitivity>,
}

/// The law of the noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mechanism {
    /// `laplace`: ε-differential privacy.
    Laplace,
    /// `gaussian`: (ε, δ)-differential privacy.
    Gaussian {
        /// δ in (0, 1).
        delta: f64,
        /// `calibration` (`analytic`).
        calibration: Calibration,
    },
    /// `truncated-laplace`: (ε, δ)-differential privacy with bounded noise.
    TruncatedLaplace {
        /// δ in (0, ½].
        delta: f64,
    },
}

/// How the scale of Gaussian noise follows from ε and δ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Calibration {
    /// `analytic`: the smallest scale.
    #[default]
    Analytic,
    /// `classic`: √(2 ln(1.25/δ))/ε, a theorem for ε < 1 only.
    Classic,
}

/// The sensitivity of the released map.
#[derive(Debug, Clone, PartialEq)]
pub enum Sensitivity {
    /// `declared`: the user vouches for a number.
    Declared {
        /// `value`: the sensitivity itself, > 0.
        value: f64,
        /// `reason`: why it holds.
        reason: String,
    },
    /// `declared`, per unit of the adjacency's α.
    DeclaredPerAlpha {
        /// `per_alpha`: the sensitivity divided by α, > 0.
        per_alpha: f64,
        /// `reason`: why it holds.
        reason: String,
    },
    /// `declared`, with `per_alpha = "largest-cost"` and model `opf`: α times the largest linear cost
    /// coefficient, as in the paper.
    DeclaredLargestCost,
    /// `sampled`: estimated on datasets drawn from the universe.
    Sampled {
        /// `gamma` in (0, 1): the share of neighbours that may exceed the estimate.
        gamma: f64,
        /// `beta` in (0, 1): the probability that the estimate fails.
        beta: f64,
        /// `seed` (1).
        seed: u64,
        /// `size` (`exact`): how many samples.
        size: SampleSize,
        /// `on` (`released`): which map is sampled.
        on: SampledMap,
    },
    /// `envelope`: a certificate for the optimal value with a private right-hand side.
    Envelope {
        /// `price`: the public price of deviating from the data by one unit, > 0.
        price: f64,
    },
    /// `radius`: a certificate for the optimal value with a private cost over a public bounded set.
    Radius,
    /// `strong-convexity`: a certificate for a private linear term beside a public quadratic cost.
    StrongConvexity,
    /// `erm`: a certificate for a regularised sum of one loss per record.
    RegularisedErm,
}

impl Sensitivity {
    /// The word that `by` has for it.
    pub fn by(&self) -> &'static str {
        match self {
            Sensitivity::Declared { .. }
            | Sensitivity::DeclaredPerAlpha { .. }
            | Sensitivity::DeclaredLargestCost => "declared",
            Sensitivity::Sampled { .. } => "sampled",
            Sensitivity::Envelope { .. } => "envelope",
            Sensitivity::Radius => "radius",
            Sensitivity::StrongConvexity => "strong-convexity",
            Sensitivity::RegularisedErm => "erm",
        }
    }
}

/// The map whose sensitivity is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SampledMap {
    /// `released`: the one that the release evaluates.
    #[default]
    Released,
    /// `deterministic`: the program without noise.
    Deterministic,
}

#[derive(Clone, Copy)]
enum Kind {
    Laplace,
    Gaussian,
    Truncated,
}

#[derive(Clone, Copy)]
enum Basis {
    Declared,
    Sampled,
    Envelope,
    Radius,
    StrongConvexity,
    RegularisedErm,
}

/// Reads `[privacy]`.
pub(super) fn read(mut table: Table, model: &Model) -> Result<Privacy, ReadError> {
    table.known(&[
        "mechanism",
        "epsilon",
        "delta",
        "calibration",
        "sensitivity",
    ])?;
    let kind = table.required("mechanism", "mechanism = \"laplace\"")?;
    let law = kind.choice(&[
        ("laplace", Kind::Laplace),
        ("gaussian", Kind::Gaussian),
        ("truncated-laplace", Kind::Truncated),
    ])?;
    let epsilon_item = table.required("epsilon", "epsilon = 1.0")?;
    let epsilon = epsilon_item.positive()?;
    let mechanism = match law {
        Kind::Laplace => Mechanism::Laplace,
        Kind::Gaussian => Mechanism::Gaussian {
            delta: table.required("delta", "delta = 1e-5")?.proper_fraction()?,
            calibration: read_calibration(&mut table, epsilon)?,
        },
        Kind::Truncated => Mechanism::TruncatedLaplace {
            delta: table
                .required("delta", "delta = 1e-5")?
                .number_that("be positive and at most 1/2", |x| x > 0.0 && x <= 0.5)?,
        },
    };
    let sensitivity = match (table.optional("sensitivity"), model) {
        (Some(item), _) => item.locate(read_sensitivity(item)?),
        // What is proven for records, whoever trains on them.
        (None, Model::Svm(_)) => table.locate(Sensitivity::RegularisedErm),
        // The certificate of least squares asks for nothing that could be stated.
        (None, Model::Regression(_)) => table.locate(Sensitivity::StrongConvexity),
        (None, _) => {
            let item = table.required(
                "sensitivity",
                "sensitivity = { by = \"declared\", value = 1.0, reason = \"…\" }",
            )?;
            item.locate(read_sensitivity(item)?)
        }
    };
    table.finish(&format!("with mechanism `{}`", kind.text()?))?;
    Ok(Privacy {
        mechanism,
        epsilon,
        sensitivity,
    })
}

fn read_calibration(table: &mut Table, epsilon: f64) -> Result<Calibration, ReadError> {
    let Some(item) = table.optional("calibration") else {
        return Ok(Calibration::default());
    };
    let calibration = item.choice(&[
        ("analytic", Calibration::Analytic),
        ("classic", Calibration::Classic),
    ])?;
    if calibration == Calibration::Classic && epsilon >= 1.0 {
        return Err(item
            .error(format!(
                "calibration `classic` is a theorem only for epsilon below 1, found {epsilon:?}"
            ))
            .with_help("calibration = \"analytic\" holds for every epsilon"));
    }
    Ok(calibration)
}

fn read_sensitivity(item: Item) -> Result<Sensitivity, ReadError> {
    let mut table = item.table("`sensitivity`")?;
    table.known(&[
        "by",
        "value",
        "per_alpha",
        "reason",
        "gamma",
        "beta",
        "seed",
        "size",
        "on",
        "price",
    ])?;
    let by = table.required("by", "by = \"declared\"")?;
    let sensitivity = match by.choice(&[
        ("declared", Basis::Declared),
        ("sampled", Basis::Sampled),
        ("envelope", Basis::Envelope),
        ("radius", Basis::Radius),
        ("strong-convexity", Basis::StrongConvexity),
        ("erm", Basis::RegularisedErm),
    ])? {
        Basis::Declared => read_declared(&mut table)?,
        Basis::Sampled => read_sampled(&mut table)?,
        Basis::Envelope => Sensitivity::Envelope {
            price: read_price(&mut table)?,
        },
        Basis::Radius => Sensitivity::Radius,
        Basis::StrongConvexity => Sensitivity::StrongConvexity,
        Basis::RegularisedErm => Sensitivity::RegularisedErm,
    };
    table.finish(&format!("in a sensitivity by `{}`", by.text()?))?;
    Ok(sensitivity)
}

fn read_sampled(table: &mut Table) -> Result<Sensitivity, ReadError> {
    Ok(Sensitivity::Sampled {
        gamma: table.required("gamma", "gamma = 0.1")?.proper_fraction()?,
        beta: table.required("beta", "beta = 0.1")?.proper_fraction()?,
        seed: match table.optional("seed") {
            None => 1,
            Some(seed) => seed.whole()?,
        },
        size: feasibility::read_sample_size(table)?,
        on: match table.optional("on") {
            None => SampledMap::default(),
            Some(on) => on.choice(&[
                ("released", SampledMap::Released),
                ("deterministic", SampledMap::Deterministic),
            ])?,
        },
    })
}

/// The price is policy: it has no default that could be right.
fn read_price(table: &mut Table) -> Result<f64, ReadError> {
    match table.optional("price") {
        Some(price) => price.positive(),
        None => Err(table
            .error("sensitivity by `envelope` needs `price`")
            .with_help(
                "price = 1000.0 is what deviating from the data by one unit costs, a public number: the value of lost load, a price cap",
            )),
    }
}

fn read_declared(table: &mut Table) -> Result<Sensitivity, ReadError> {
    let value = table.optional("value");
    let per_alpha = table.optional("per_alpha");
    if let (None, Some(word)) = (&value, &per_alpha)
        && word.is_text()
    {
        let found = word.choice(&[("largest-cost", ())]);
        found.map_err(|error| match error.help {
            Some(_) => error,
            None => error.with_help("or give a number: per_alpha = 1.5, with its reason"),
        })?;
        return match table.optional("reason") {
            None => Ok(Sensitivity::DeclaredLargestCost),
            Some(reason) => Err(reason.error("`largest-cost` brings a reason of its own")),
        };
    }
    let reason = table
        .required("reason", "reason = \"the cost moves by at most …\"")?
        .words()?
        .value;
    match (value, per_alpha) {
        (Some(value), None) => Ok(Sensitivity::Declared {
            value: value.positive()?,
            reason,
        }),
        (None, Some(per_alpha)) => Ok(Sensitivity::DeclaredPerAlpha {
            per_alpha: per_alpha.positive()?,
            reason,
        }),
        (Some(_), Some(per_alpha)) => Err(per_alpha.error("give `value` or `per_alpha`, not both")),
        (None, None) => Err(table
            .error("`sensitivity` needs `value` or `per_alpha`")
            .with_help("for example: value = 1.0")),
    }
}
