//! How far adjacent datasets move the answer: what sampling and searching found, beside the sensitivity in use.

use super::{Audit, SampledPairs, WorstPair, report};
use crate::ask::Universe;
use crate::digits::short;
use crate::plan::{BasisKind, Plan};
use serde::Serialize;
use std::fmt;

/// The largest movements of one map.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moved {
    /// Over the sampled pairs.
    pub sampled: f64,
    /// Over the adversarial search as well.
    pub searched: f64,
    /// How the worst pair was found.
    pub found_by: Option<String>,
    /// Sampled pairs of which a side had no answer.
    pub failures: usize,
    /// Whether any pair, sampled or searched, had an answer on both sides: without one nothing was measured.
    pub measured: bool,
}

pub(super) fn moved(sampled: &SampledPairs, worst: &WorstPair) -> Moved {
    let movements = sampled.losses.iter().flatten().map(|l| l.movement);
    let largest = movements.fold(0.0, f64::max);
    Moved {
        sampled: largest,
        searched: worst.loss.map_or(largest, |l| l.movement.max(largest)),
        found_by: worst.found.as_ref().map(|f| f.how.clone()),
        failures: sampled.failures.len(),
        measured: worst.loss.is_some() || sampled.losses.iter().any(Option::is_some),
    }
}

/// The sensitivity in use, and how much of it pairs were found to need. For the curator only.
#[derive(Clone, Debug, Serialize)]
pub struct SensitivityReport {
    /// Always true: for the curator, not to be published.
    pub private: bool,
    /// Δ in use, before lattice rounding is added.
    pub sensitivity: f64,
    /// The norm of Δ and of the movements.
    pub norm: &'static str,
    /// What Δ rests on.
    pub basis: BasisKind,
    /// The basis in words.
    pub statement: String,
    /// Where the pairs come from.
    pub source: String,
    /// Sampled pairs.
    pub pairs: u64,
    /// The seed.
    pub seed: u64,
    /// The map that is released.
    pub released: Moved,
    /// The map without noise.
    pub deterministic: Moved,
    /// The largest movement of the released map, over Δ.
    pub tightness: f64,
    /// The largest movement of the released map, over that of the map without noise.
    pub ratio: Option<f64>,
}

pub(super) fn collect(
    plan: &Plan<'_>,
    audit: &Audit,
    universe: &Universe,
    released: Moved,
    deterministic: Moved,
) -> SensitivityReport {
    let guarantee = plan.guarantee();
    SensitivityReport {
        private: true,
        sensitivity: guarantee.sensitivity(),
        norm: guarantee.privacy().norm().symbol(),
        basis: guarantee.basis().kind(),
        statement: guarantee.basis().statement().into(),
        source: report::source(plan, universe),
        pairs: audit.pairs,
        seed: audit.seed,
        tightness: released.searched / guarantee.sensitivity(),
        ratio: (released.measured && deterministic.searched > 0.0)
            .then(|| released.searched / deterministic.searched),
        released,
        deterministic,
    }
}

impl fmt::Display for SensitivityReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "SENSITIVITY: curator only, not to be published")?;
        writeln!(
            f,
            "in use: {} ({}), basis: {}{}",
            short(self.sensitivity, 9),
            self.norm,
            // Paper mode says its name in its statement.
            match self.statement.starts_with(self.basis.name()) {
                true => String::new(),
                false => format!("{}: ", self.basis.name()),
            },
            self.statement
        )?;
        writeln!(f, "pairs from: {}", self.source)?;
        writeln!(f)?;
        writeln!(
            f,
            "{:<26} {:>18} {:>18}",
            "largest movement",
            format!("{} random pairs", self.pairs),
            "with the search"
        )?;
        let row = |f: &mut fmt::Formatter<'_>, name: &str, moved: &Moved| {
            if !moved.measured {
                return writeln!(
                    f,
                    "  {name:<24} nothing was measured: no pair had an answer on both sides"
                );
            }
            let (sampled, searched) = (short(moved.sampled, 6), short(moved.searched, 6));
            writeln!(f, "  {name:<24} {sampled:>18} {searched:>18}")
        };
        row(f, "of the released map", &self.released)?;
        row(f, "of the map without noise", &self.deterministic)?;
        for (name, moved) in [
            ("the released map", &self.released),
            ("the map without noise", &self.deterministic),
        ] {
            if moved.failures > 0 {
                writeln!(
                    f,
                    "{} of the random pairs had no answer on some side under {name}",
                    moved.failures
                )?;
            }
        }
        if let Some(ratio) = self.ratio {
            writeln!(
                f,
                "the released map moves {} times as much as the map without noise",
                short(ratio, 4)
            )?;
        }
        if !self.released.measured {
            return write!(
                f,
                "nothing was tested: this says nothing about the sensitivity in use"
            );
        }
        write!(
            f,
            "tightness: the largest movement found is {} of the sensitivity in use",
            short(self.tightness, 4)
        )?;
        if self.tightness > 1.0 + super::loss::MARGIN {
            write!(f, ": MORE than the noise covers")?;
        }
        if let Some(why) = super::report::loose(self.tightness, self.basis) {
            write!(f, "\n  {why}")?;
        }
        Ok(())
    }
}
