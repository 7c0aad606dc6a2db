//! A pair of datasets that shows how large the privacy loss is, in a file that can be replayed.

use super::loss::{Claim, PairLoss, Point, released_map};
use super::search::Found;
use crate::digits::short;
use crate::error::{Error, Result};
use crate::plan::Plan;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The format's name and version.
const FORMAT: &str = "conveil-witness";
const VERSION: u32 = 1;

/// A replay reproduces the loss when it comes within this share of it.
const SAME: f64 = 1e-4;

/// Two adjacent datasets, and what the noise hides of their difference. For the curator only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    /// Always `conveil-witness`.
    pub format: String,
    /// The format's version, 1.
    pub version: u32,
    /// Always true: for the curator, not to be published.
    pub private: bool,
    /// Where the datasets come from.
    pub source: String,
    /// How the pair was found.
    pub found_by: String,
    /// The names of the entries.
    pub parameters: Vec<String>,
    /// The names of the released numbers.
    pub released: Vec<String>,
    /// Columns and rows of the program.
    pub program: (usize, usize),
    /// One dataset.
    pub first: Vec<f64>,
    /// Its neighbour.
    pub second: Vec<f64>,
    /// The claimed ε.
    pub epsilon: f64,
    /// The claimed δ, 0 for pure differential privacy.
    pub delta: f64,
    /// The noise scale.
    pub scale: f64,
    /// The lattice step.
    pub step: f64,
    /// The loss that was found.
    pub loss: PairLoss,
}

impl Witness {
    pub(super) fn new(plan: &Plan<'_>, source: String, found: Found, loss: PairLoss) -> Self {
        let (first, second) = found.pair;
        let released = plan.released();
        let privacy = plan.guarantee().privacy();
        let template = released.map().template();
        Witness {
            format: FORMAT.into(),
            version: VERSION,
            private: true,
            source,
            found_by: found.how,
            parameters: names(plan),
            released: released.query().labels().to_vec(),
            program: (template.columns(), template.rows()),
            first,
            second,
            epsilon: privacy.epsilon(),
            delta: privacy.delta(),
            scale: plan.law().scale(),
            step: released.step(),
            loss,
        }
    }

    /// The file's text.
    pub fn to_json(&self) -> String {
        // Numbers and strings: this cannot fail.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Reads a file's text.
    pub fn from_json(text: &str) -> Result<Self> {
        let witness: Witness = serde_json::from_str(text)
            .map_err(|e| Error::input(format!("this is not a witness file: {e}")))?;
        if witness.format != FORMAT || witness.version != VERSION {
            return Err(Error::input(format!(
                "a witness file of format {FORMAT}, version {VERSION}, was expected, found {:?}, version {}",
                witness.format, witness.version
            )));
        }
        Ok(witness)
    }

    /// Solves both datasets again under this plan.
    pub fn replay(&self, plan: &Plan<'_>) -> Result<Replay> {
        if self.parameters != names(plan) {
            return Err(Error::input(format!(
                "the witness is of another model: it has the private parameters {}, this one {}",
                listed(&self.parameters),
                listed(&names(plan))
            )));
        }
        let template = plan.released().map().template();
        if self.program != (template.columns(), template.rows())
            || self.released != plan.released().query().labels()
        {
            return Err(Error::input(
                "the witness is of another model: its program or its released numbers differ",
            ));
        }
        for theta in [&self.first, &self.second] {
            if theta.len() != self.parameters.len() || theta.iter().any(|v| !v.is_finite()) {
                return Err(Error::input(format!(
                    "each dataset of the witness must have {} finite numbers",
                    self.parameters.len()
                )));
            }
        }
        let map = released_map(plan);
        let (first, second): (Point, Point) = (map(&self.first)?, map(&self.second)?);
        let loss = Claim::of(plan).loss(&first, &second)?;
        let near = |a: f64, b: f64| (a - b).abs() <= SAME * a.abs().max(b.abs());
        let adjacency = plan.guarantee().adjacency();
        Ok(Replay {
            private: true,
            adjacent: adjacency.relates(&self.first, &self.second),
            same_noise: near(self.scale, plan.law().scale()),
            reproduces: near(self.loss.movement, loss.movement)
                && near(self.loss.epsilon, loss.epsilon),
            claimed_epsilon: plan.guarantee().privacy().epsilon(),
            recorded: self.loss,
            found: loss,
        })
    }
}

/// What a replayed witness shows. For the curator only.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replay {
    /// Always true: for the curator, not to be published.
    pub private: bool,
    /// Whether the two datasets are neighbours under the plan's adjacency; for universe adjacency that depends on the
    /// universe, which the file does not hold.
    pub adjacent: bool,
    /// Whether the plan still uses the noise scale that the witness was found under.
    pub same_noise: bool,
    /// Whether movement and loss come out as recorded.
    pub reproduces: bool,
    /// The plan's ε.
    pub claimed_epsilon: f64,
    /// What the file says.
    pub recorded: PairLoss,
    /// What this plan gives.
    pub found: PairLoss,
}

impl Replay {
    /// Whether the pair contradicts the plan's claim now.
    pub fn is_flagged(&self) -> bool {
        self.adjacent && self.found.above
    }
}

impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "REPLAY OF A WITNESS: curator only, not to be published")?;
        let line = |f: &mut fmt::Formatter<'_>, name: &str, loss: &PairLoss| {
            writeln!(
                f,
                "{name}  moved {}, ε = {}",
                short(loss.movement, 6),
                short(loss.epsilon, 4)
            )
        };
        line(f, "recorded", &self.recorded)?;
        line(f, "now     ", &self.found)?;
        if !self.adjacent {
            writeln!(
                f,
                "the two datasets are not neighbours under this adjacency"
            )?;
        }
        if !self.same_noise {
            writeln!(
                f,
                "the noise has another scale than when the witness was found"
            )?;
        }
        let same = if self.reproduces {
            "the witness reproduces"
        } else {
            "the witness does not reproduce"
        };
        let claim = short(self.claimed_epsilon, 6);
        let verdict = match (self.found.above, self.adjacent) {
            (true, true) => format!("FLAGGED: this pair exceeds the claimed ε = {claim}"),
            (true, false) => format!(
                "this pair exceeds the claimed ε = {claim}, which is not claimed for datasets that are not neighbours"
            ),
            (false, _) => format!("this pair does not exceed the claimed ε = {claim}"),
        };
        write!(f, "{same}; {verdict}")
    }
}

fn names(plan: &Plan<'_>) -> Vec<String> {
    let parameters = plan.released().map().parameters().iter();
    parameters.map(|p| p.name().to_string()).collect()
}

fn listed(names: &[String]) -> String {
    crate::program::list_some(&names.iter().map(String::as_str).collect::<Vec<_>>())
}
