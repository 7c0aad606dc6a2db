//! `tune`: a public grid of λ, of which one is chosen privately with a share of ε (M17h).

use conveil::ask::{Privacy, Request, Strategy};
use conveil_text::tables::Item;
use conveil_text::{Located, ReadError};

use crate::spec::{Sensitivity, Spec, StrategyChoice};
use crate::words::rounded_to;

/// What a spec says of a private choice of λ. All of it is public.
#[derive(Debug, Clone, PartialEq)]
pub struct Tune {
    /// `grid`: 2 to 20 λ, increasing, between 10⁻⁹ and 10⁹.
    pub grid: Vec<f64>,
    /// `share` in (0, 1): what of ε is for the choice.
    pub share: f64,
    /// `clip` (2): a record's loss counts at most this much.
    pub clip: f64,
}

/// How many λ a grid may have.
const GRID: std::ops::RangeInclusive<usize> = 2..=20;

/// Beyond these nothing is trained, or nothing is left of the weights.
const LAMBDAS: std::ops::RangeInclusive<f64> = 1e-9..=1e9;

/// `clip` where none is stated: a record on the wrong side of a margin of 1 has a loss of 2.
const CLIP: f64 = 2.0;

/// No clip beyond this.
const LARGEST_CLIP: f64 = 1e6;

const EXAMPLE: &str = "tune = { grid = [0.003, 0.01, 0.03, 0.1], share = 0.2 }";

/// Below this share the two ε are split without a rounding, in as many digits as that takes.
const SMALL_SHARE: f64 = 1e-3;

/// Digits of an ε that somebody would write.
const DIGITS: usize = 12;

impl Tune {
    /// Reads `tune`.
    pub(super) fn read(item: &Item<'_>) -> Result<Located<Self>, ReadError> {
        let mut table = item.table("`tune`")?;
        table.known(&["grid", "share", "clip"])?;
        let stated = table.required("grid", "grid = [0.003, 0.01, 0.03, 0.1]")?;
        let entries = stated.array()?;
        if !GRID.contains(&entries.len()) {
            return Err(stated
                .error(format!(
                    "`grid` must have {} to {} values of λ, found {}",
                    GRID.start(),
                    GRID.end(),
                    entries.len()
                ))
                .with_help(EXAMPLE));
        }
        let mut grid: Vec<f64> = Vec::with_capacity(entries.len());
        for entry in entries {
            entry.positive()?;
            let lambda = entry.number_that("lie between 1e-9 and 1e9", |x| LAMBDAS.contains(&x))?;
            if let Some(before) = grid.last()
                && lambda <= *before
            {
                return Err(entry
                    .error(format!(
                        "`grid` must increase, found {lambda:?} after {before:?}"
                    ))
                    .with_help("each λ once, from the smallest to the largest"));
            }
            grid.push(lambda);
        }
        let share = table.required("share", "share = 0.2")?.proper_fraction()?;
        let clip = match table.optional("clip") {
            None => CLIP,
            Some(clip) => clip.number_that("be positive and at most 1000000", |b| {
                b > 0.0 && b <= LARGEST_CLIP
            })?,
        };
        table.finish("in `tune`")?;
        Ok(item.locate(Tune { grid, share, clip }))
    }

    /// ε of the choice and of the noise.
    ///
    /// # Guarantee
    /// The two are positive and add up to the whole ε in floating point; where the share is below 0.001 they do so
    /// exactly, and above it what their sum is rounded by is less than what the choice leaves of its ε (M17h). None where a
    /// share is too small for that. Test: `the_two_parts_add_up_to_the_whole`.
    pub fn split(&self, whole: &Privacy) -> Option<(f64, Privacy)> {
        let epsilon = whole.epsilon();
        let choice = self.share * epsilon;
        let short = rounded_to(choice, DIGITS);
        let rest = rounded_to(epsilon - short, DIGITS);
        let (choice, noise) = if self.share >= SMALL_SHARE && short + rest == epsilon {
            (short, rest)
        } else if choice < 0.5 * epsilon {
            // ε − noise is exact where the noise has at least half of ε (Sterbenz).
            let noise = epsilon - choice;
            (epsilon - noise, noise)
        } else {
            (choice, epsilon - choice)
        };
        let is_positive = choice > 0.0 && noise > 0.0;
        is_positive.then(|| (choice, whole.with_epsilon(noise)))
    }
}

/// Refuses what the theorem does not cover.
pub(super) fn check(tune: &Located<Tune>, spec: &Spec) -> Result<(), ReadError> {
    let name = &spec.name;
    let sensitivity = &spec.privacy.sensitivity;
    if sensitivity.value != Sensitivity::By(Request::regularised_erm()) {
        let message = format!(
            "`tune` needs the sensitivity by `erm`, found `{}`: the choice counts on how far a record can move the weights at every λ",
            sensitivity.value.by()
        );
        let help = "leave out `sensitivity`; or state `lambda` in place of `tune`";
        return Err(sensitivity.error(name, message).with_help(help));
    }
    let strategy = &spec.feasibility.strategy;
    let is_covered = spec.feasibility.choice == StrategyChoice::Open
        || matches!(strategy.value, Strategy::Output | Strategy::Program);
    if !is_covered {
        let message = format!(
            "`tune` does not go with {}: the choice is proven for noise on the weights and for training for the noise",
            strategy.value.name()
        );
        let help = "strategy = \"output\", or \"program\"";
        return Err(strategy.error(name, message).with_help(help));
    }
    if let Some(ledger) = &spec.ledger
        && let Some(series) = &ledger.series
    {
        return Err(series
            .error(
                name,
                "`series` does not go with `tune`: a private choice is charged with its one release",
            )
            .with_help("leave out `series`"));
    }
    if tune.value.split(&spec.privacy.mechanism).is_none() {
        let message = format!(
            "a `share` of {:?} leaves nothing of epsilon {:?} for the choice or for the noise",
            tune.value.share,
            spec.privacy.mechanism.epsilon()
        );
        return Err(tune.error(name, message).with_help("share = 0.2"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_parts_add_up_to_the_whole() {
        let tune = |share: f64| Tune {
            grid: vec![0.1, 0.2],
            share,
            clip: CLIP,
        };
        for epsilon in [1.0, 0.7, 0.1, 3.0, 1.0 / 3.0, 1e-3, 12.3456789] {
            for share in [
                1e-15, 1e-9, 1e-4, 0.001, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.999,
            ] {
                let whole = Privacy::gaussian(epsilon, 1e-6);
                let (choice, noise) = tune(share).split(&whole).unwrap();
                assert_eq!(choice + noise.epsilon(), epsilon, "{epsilon} {share}");
                assert_eq!(noise.delta(), 1e-6);
                // What the sum was rounded by, exactly, against what the choice leaves.
                let sum = choice + noise.epsilon();
                let back = sum - noise.epsilon();
                let lost = (choice - back) + (noise.epsilon() - (sum - back));
                assert!(lost <= 1e-13 * choice, "{epsilon} {share}: {lost}");
                let off = (choice / (share * epsilon) - 1.0).abs();
                assert!(off < 0.1, "{epsilon} {share}: {choice}");
            }
        }
        // As somebody would write them.
        let (choice, noise) = tune(0.1).split(&Privacy::laplace(3.0)).unwrap();
        assert_eq!((choice, noise.epsilon()), (0.3, 2.7));
        assert!(tune(1e-300).split(&Privacy::laplace(1.0)).is_none());
    }
}
