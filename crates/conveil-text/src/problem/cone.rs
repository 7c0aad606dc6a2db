//! The cones that Clarabel knows, under its names.

use super::json::Json;
use crate::ReadError;
use crate::spelling::counted;

/// A cone of the slack s = b − Ax.
#[derive(Debug, Clone, PartialEq)]
pub enum SavedCone {
    /// `ZeroConeT`: s = 0, of this dimension.
    Zero(usize),
    /// `NonnegativeConeT`: s ≥ 0, of this dimension.
    Nonnegative(usize),
    /// `SecondOrderConeT`: ‖(s₂, …)‖ ≤ s₁, of this dimension.
    SecondOrder(usize),
    /// `ExponentialConeT`: s₂·exp(s₁/s₂) ≤ s₃, s₂ > 0; three rows.
    Exponential,
    /// `PowerConeT`: s₁^α·s₂^(1−α) ≥ |s₃| with this α in (0, 1); three rows.
    Power(f64),
    /// `GenPowerConeT`: Π uᵢ^αᵢ ≥ ‖w‖ for s = (u, w).
    GeneralisedPower {
        /// The exponents α, positive, adding up to 1.
        exponents: Vec<f64>,
        /// The dimension of w.
        dimension: usize,
    },
    /// `PSDTriangleConeT`: the scaled upper triangle of a positive semidefinite matrix of this
    /// order.
    PsdTriangle(usize),
}

impl SavedCone {
    /// How many rows of A the cone covers; nothing if that is more than a machine word holds.
    pub fn rows(&self) -> Option<usize> {
        match self {
            SavedCone::Zero(dimension)
            | SavedCone::Nonnegative(dimension)
            | SavedCone::SecondOrder(dimension) => Some(*dimension),
            SavedCone::Exponential | SavedCone::Power(_) => Some(3),
            SavedCone::GeneralisedPower {
                exponents,
                dimension,
            } => exponents.len().checked_add(*dimension),
            // n(n + 1)/2
            SavedCone::PsdTriangle(order) => Some(order.checked_mul(order.checked_add(1)?)? / 2),
        }
    }
}

const NAMES: &[&str] = &[
    "ZeroConeT",
    "NonnegativeConeT",
    "SecondOrderConeT",
    "ExponentialConeT",
    "PowerConeT",
    "GenPowerConeT",
    "PSDTriangleConeT",
];

/// Reads the list of cones.
pub(super) fn read_all(json: Json) -> Result<Vec<SavedCone>, ReadError> {
    let mut cones = Vec::new();
    for (index, element) in json.elements("`cones`")?.iter().enumerate() {
        cones.push(read(element, &format!("`cones[{index}]`"))?);
    }
    Ok(cones)
}

fn read(json: &Json, what: &str) -> Result<SavedCone, ReadError> {
    if json.string().as_deref() == Some("ExponentialConeT") {
        return Err(json
            .error(format!("{what} must be an object, found a string"))
            .with_help(r#"Clarabel writes {"ExponentialConeT":[]}"#));
    }
    let members = json.object(what, NAMES)?.into_members();
    let [(name, value)] = members[..] else {
        return Err(json
            .error(format!(
                "{what} must name one cone, found {}",
                members.len()
            ))
            .with_help(r#"for example {"NonnegativeConeT":2}"#));
    };
    let inner = format!("`{name}` in {what}");
    match name {
        "ZeroConeT" => Ok(SavedCone::Zero(size(&value, &inner)?)),
        "NonnegativeConeT" => Ok(SavedCone::Nonnegative(size(&value, &inner)?)),
        "SecondOrderConeT" => Ok(SavedCone::SecondOrder(size(&value, &inner)?)),
        "PSDTriangleConeT" => Ok(SavedCone::PsdTriangle(size(&value, &inner)?)),
        "PowerConeT" => {
            let exponent = value.number(&inner)?;
            if exponent > 0.0 && exponent < 1.0 {
                Ok(SavedCone::Power(exponent))
            } else {
                Err(value.error(format!(
                    "{inner} must lie strictly between 0 and 1, found {exponent:?}"
                )))
            }
        }
        "GenPowerConeT" => read_generalised_power(&value, &inner),
        _ => match value.elements(&inner)?.len() {
            0 => Ok(SavedCone::Exponential),
            count => Err(value.error(format!("{inner} takes no parameters, found {count}"))),
        },
    }
}

/// A dimension: an empty cone has no rows to constrain, and no name could refer to it.
fn size(value: &Json, inner: &str) -> Result<usize, ReadError> {
    match value.whole(inner)? {
        0 => Err(value.error(format!("{inner} is empty; leave it out"))),
        size => Ok(size),
    }
}

fn read_generalised_power(value: &Json, inner: &str) -> Result<SavedCone, ReadError> {
    let parts = value.elements(inner)?;
    let [exponents_json, dimension_json] = parts[..] else {
        return Err(value
            .error(format!(
                "{inner} takes the exponents and a dimension, found {}",
                counted(parts.len(), "entry", "entries")
            ))
            .with_help(r#"for example {"GenPowerConeT":[[0.5,0.5],1]}"#));
    };
    let mut exponents = Vec::new();
    for exponent_json in exponents_json.elements(&format!("the exponents of {inner}"))? {
        let exponent = exponent_json.number(&format!("an exponent of {inner}"))?;
        if exponent <= 0.0 {
            return Err(exponent_json.error(format!(
                "an exponent of {inner} must be positive, found {exponent:?}"
            )));
        }
        exponents.push(exponent);
    }
    if exponents.is_empty() {
        return Err(exponents_json.error(format!("{inner} has no exponents")));
    }
    // Clarabel's own test; it panics on a sum that is further from 1.
    let sum: f64 = exponents.iter().sum();
    let tolerance = f64::EPSILON * exponents.len() as f64 / 2.0;
    if (1.0 - sum).abs() >= tolerance {
        return Err(exponents_json
            .error(format!(
                "the exponents of {inner} must add up to 1, found {sum:?}"
            ))
            .with_help("Clarabel wants the sum of the rounded numbers to be 1 to the last bit"));
    }
    let what = format!("the dimension of {inner}");
    let dimension = match dimension_json.whole(&what)? {
        0 => return Err(dimension_json.error(format!("{what} must be 1 or more, found 0"))),
        dimension => dimension,
    };
    Ok(SavedCone::GeneralisedPower {
        exponents,
        dimension,
    })
}
