//! What the common sections of a spec must agree on, whatever the model.

use conveil::ask::{Adjacency, Bound, NoiseShape, Request};
use conveil::chance::BlockEta;
use conveil_text::ReadError;
use conveil_text::spelling::counted;

use super::{Sensitivity, Spec};

/// Refuses a spec whose sections contradict each other.
pub(super) fn check(spec: &Spec) -> Result<(), ReadError> {
    check_shape(spec)?;
    check_sensitivity(spec)?;
    check_shares(spec)
}

/// T has as many rows as the answer has numbers.
fn check_shape(spec: &Spec) -> Result<(), ReadError> {
    let Some(shape) = &spec.query.shape else {
        return Ok(());
    };
    // The curvature fits any answer.
    let NoiseShape::Rows(rows) = &shape.value else {
        return Ok(());
    };
    match spec.model.answer_len(&spec.query) {
        Some(size) if size != rows.len() => Err(shape.error(
            &spec.name,
            format!(
                "`shape` is {rows}×{rows}, but the answer has {}",
                counted(size, "number", "numbers"),
                rows = rows.len()
            ),
        )),
        _ => Ok(()),
    }
}

fn check_sensitivity(spec: &Spec) -> Result<(), ReadError> {
    let sensitivity = &spec.privacy.sensitivity;
    match &sensitivity.value {
        Sensitivity::By(Request::Declared {
            bound: Bound::PerAlpha(_),
            ..
        }) if spec.private.adjacency.value.alpha().is_none() => Err(sensitivity
            .error(&spec.name, "`per_alpha` needs an adjacency with an alpha")
            .with_help("declare the sensitivity itself: value = 1.0")),
        // α follows from who is protected, and with it the norm that a bound per α would be in.
        Sensitivity::By(Request::Declared {
            bound: Bound::PerAlpha(_),
            ..
        })
        | Sensitivity::PerAlpha(_)
            if spec.private.protects.is_some()
                && matches!(spec.private.adjacency.value, Adjacency::L2 { .. }) =>
        {
            Err(sensitivity
                .error(
                    &spec.name,
                    "`per_alpha` would be per unit of the ℓ₂ norm here, in which Gaussian noise measures who is protected, and not per unit of one private number",
                )
                .with_help("declare the sensitivity itself, in the ℓ₂ norm: value = 21.0; or take a certificate"))
        }
        Sensitivity::PerAlpha(word) if !spec.model.kind().per_alpha.contains(word) => {
            let message = format!(
                "`{word}` makes no sense with model `{}`",
                spec.model.kind().word
            );
            Err(sensitivity.error(&spec.name, message).with_help(DECLARE))
        }
        _ => Ok(()),
    }
}

/// What to write where a word for `per_alpha` does not serve.
pub(crate) const DECLARE: &str =
    "declare a number and its reason: per_alpha = 40.0, reason = \"…\"";

/// The shares of blocks fit into η.
fn check_shares(spec: &Spec) -> Result<(), ReadError> {
    for block in &spec.feasibility.blocks {
        let (Some(place), Some(share)) = (&block.eta, &block.choice.eta) else {
            continue;
        };
        let total: f64 = match share {
            BlockEta::Whole(share) => *share,
            BlockEta::Rows(shares) => shares.iter().sum(),
        };
        // Shares that were computed as fractions of η may exceed it by a rounding.
        if let Some(eta) = spec.feasibility.eta
            && total > eta * (1.0 + 1e-9)
        {
            return Err(place.error(
                &spec.name,
                format!("the block's eta, {total:?}, exceeds that of [feasibility], {eta:?}"),
            ));
        }
    }
    Ok(())
}
