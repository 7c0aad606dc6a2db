//! `[privacy]`: the noise and the sensitivity it covers.

use conveil::ask::{Bound, Calibration, MapKind, Privacy, Request, SampleSize};
use conveil::certify::{self, certificates};
use conveil_text::tables::{Item, Table};
use conveil_text::{Located, ReadError};

use super::{feasibility, keys_of, terms};
use crate::model::Stated;

/// The privacy that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct PrivacySection {
    /// `mechanism`, `epsilon`, `delta` and `calibration`.
    pub mechanism: Privacy,
    /// `sensitivity`: how far the answer of neighbours may be apart, and why.
    pub sensitivity: Located<Sensitivity>,
}

/// The sensitivity of the released map.
#[derive(Debug, Clone, PartialEq)]
pub enum Sensitivity {
    /// As the engine is asked for it.
    By(Request),
    /// `declared`, with a word of the model for `per_alpha`.
    PerAlpha(&'static str),
    /// `sampled`: estimated on datasets drawn from the universe, or between the public bounds.
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
        on: MapKind,
    },
}

impl Sensitivity {
    /// The word that `by` has for it.
    pub fn by(&self) -> &'static str {
        match self {
            Sensitivity::By(request) => match request {
                Request::Declared { .. } => "declared",
                Request::Sampled(_) => "sampled",
                Request::Certificate { word, .. } => word,
            },
            Sensitivity::PerAlpha(_) => "declared",
            Sensitivity::Sampled { .. } => "sampled",
        }
    }

    /// The kind of certificate that is asked for, if one is.
    pub fn certificate(&self) -> Option<&'static dyn certify::Kind> {
        match self {
            Sensitivity::By(request) => request.certificate(),
            _ => None,
        }
    }

    /// Whether the user vouches for it.
    pub fn is_declared(&self) -> bool {
        self.by() == "declared"
    }

    /// Whether it is estimated on samples.
    pub fn is_sampled(&self) -> bool {
        self.by() == "sampled"
    }
}

#[derive(Clone, Copy)]
enum Basis {
    Declared,
    Sampled,
    Certificate(&'static dyn certify::Kind),
}

#[derive(Clone, Copy)]
enum Kind {
    Laplace,
    Gaussian,
    Truncated,
}

/// Reads `[privacy]`.
pub(super) fn read(mut table: Table, model: &dyn Stated) -> Result<PrivacySection, ReadError> {
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
        Kind::Laplace => Privacy::Laplace { epsilon },
        Kind::Gaussian => Privacy::Gaussian {
            epsilon,
            delta: table.required("delta", "delta = 1e-5")?.proper_fraction()?,
            calibration: read_calibration(&mut table, epsilon)?,
        },
        Kind::Truncated => Privacy::TruncatedLaplace {
            epsilon,
            delta: table
                .required("delta", "delta = 1e-5")?
                .number_that("be positive and at most 1/2", |x| x > 0.0 && x <= 0.5)?,
        },
    };
    let sensitivity = match (table.optional("sensitivity"), model.default_sensitivity()) {
        (Some(item), _) => item.locate(read_sensitivity(item)?),
        (None, Some(request)) => table.locate(Sensitivity::By(request)),
        (None, None) => {
            let item = table.required(
                "sensitivity",
                "sensitivity = { by = \"declared\", value = 1.0, reason = \"…\" }",
            )?;
            item.locate(read_sensitivity(item)?)
        }
    };
    table.finish(format!("with mechanism `{}`", kind.text()?))?;
    Ok(PrivacySection {
        mechanism,
        sensitivity,
    })
}

fn read_calibration(table: &mut Table, epsilon: f64) -> Result<Calibration, ReadError> {
    let Some(item) = table.optional("calibration") else {
        return Ok(Calibration::Analytic);
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
        "prices",
        "width",
        "offset",
        "curvature",
        "around",
    ])?;
    let by = table.required("by", "by = \"declared\"")?;
    let mut words: Vec<(&str, Basis)> =
        vec![("declared", Basis::Declared), ("sampled", Basis::Sampled)];
    let kinds = certificates().iter().copied();
    words.extend(kinds.map(|kind| (kind.word(), Basis::Certificate(kind))));
    let sensitivity = match by.choice(&words)? {
        Basis::Declared => read_declared(&mut table)?,
        Basis::Sampled => read_sampled(&mut table)?,
        Basis::Certificate(kind) => Sensitivity::By(Request::Certificate {
            word: kind.word(),
            terms: terms::read(&mut table, kind)?,
        }),
    };
    table.finish(format!("in a sensitivity by `{}`", by.text()?))?;
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
            None => MapKind::Released,
            Some(on) => on.choice(&[
                ("released", MapKind::Released),
                ("deterministic", MapKind::Deterministic),
            ])?,
        },
    })
}

fn read_declared(table: &mut Table) -> Result<Sensitivity, ReadError> {
    let value = table.optional("value");
    let per_alpha = table.optional("per_alpha");
    if let (None, Some(word)) = (&value, &per_alpha)
        && word.is_text()
    {
        let words = keys_of(&[], |kind| kind.per_alpha, &[]);
        let words: Vec<_> = words.into_iter().map(|word| (word, word)).collect();
        let found = word.choice(&words).map_err(|error| match error.help {
            Some(_) => error,
            None => error.with_help("or give a number: per_alpha = 1.5, with its reason"),
        })?;
        return match table.optional("reason") {
            None => Ok(Sensitivity::PerAlpha(found)),
            Some(reason) => Err(reason.error(format!("`{found}` brings a reason of its own"))),
        };
    }
    let reason = table
        .required("reason", "reason = \"the cost moves by at most …\"")?
        .words()?
        .value;
    match (value, per_alpha) {
        (Some(value), None) => Ok(Sensitivity::By(Request::Declared {
            bound: Bound::Total(value.positive()?),
            reason,
        })),
        (None, Some(per_alpha)) => Ok(Sensitivity::By(Request::Declared {
            bound: Bound::PerAlpha(per_alpha.positive()?),
            reason,
        })),
        (Some(_), Some(per_alpha)) => Err(per_alpha.error("give `value` or `per_alpha`, not both")),
        (None, None) => Err(table
            .error("`sensitivity` needs `value` or `per_alpha`")
            .with_help("for example: value = 1.0")),
    }
}
