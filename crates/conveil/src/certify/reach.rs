//! From what each private number moves by itself to what neighbours move together.

use crate::ask::Adjacency;
use crate::error::{Error, Result};
use crate::program::{AffineMap, DataMap};

/// The most that neighbours move where parameter k moves by at most `each[k]` per unit, and movements add up.
pub(super) fn reach(
    affine: &AffineMap,
    adjacency: &Adjacency,
    each: &[f64],
    what: &str,
) -> Result<f64> {
    let moved = || -> Result<Vec<f64>> {
        let pairs = affine.parameters().iter().zip(each);
        pairs
            .map(|(parameter, moves)| match parameter.bounds() {
                Some((low, high)) => Ok((high - low) * moves),
                None => Err(Error::refused(
                    what,
                    format!(
                        "`{}` has no public bounds, so it may move without limit",
                        parameter.name()
                    ),
                    "public bounds on every parameter, or an adjacency with an alpha",
                )),
            })
            .collect()
    };
    Ok(match adjacency {
        Adjacency::OneEntry { alpha } | Adjacency::L1 { alpha } => {
            alpha * each.iter().copied().fold(0.0, f64::max)
        }
        // Σ|w_k|·each_k ≤ ‖w‖₂·‖each‖₂.
        Adjacency::L2 { alpha } => alpha * crate::program::norm(each),
        Adjacency::OneRecord { len } => {
            let moved = moved()?;
            let records = moved.chunks((*len).max(1));
            records.map(|r| r.iter().sum()).fold(0.0, f64::max)
        }
        Adjacency::Universe => moved()?.iter().sum(),
    })
}
