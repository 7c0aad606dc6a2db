//! `sensitivity` and `audit`: does the noise hide what it claims to hide? For the curator; neither releases anything.

use std::fmt;
use std::path::Path;

use conveil::audit::{Audit, AuditReport, Replay, SensitivityReport, Witness};
use conveil::plan::{BasisKind, Plan};
use conveil::program::DataMap;
use conveil_models::files::text_of;
use conveil_release::blackbox::{self, BlackBox};
use serde::Serialize;

use crate::ask::is_calibrated_as_in_the_paper;
use crate::failure::Failure;
use crate::observer::{Observer, Stage, batch, staged};
use crate::workbench::Workbench;

/// Longer witness files are refused.
const WITNESS_BYTES: u64 = 256 << 20;

/// How rarely a black-box audit may err.
const FALSE_ALARM: f64 = 1e-6;

/// How pairs of neighbouring datasets are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Random pairs.
    pub pairs: u64,
    /// The seed of the pairs and of the search; the spec's where none is named.
    pub seed: Option<u64>,
    /// The search climbs from this many of the worst pairs; 0 for none.
    pub climbs: u64,
    /// The search solves about this many programs.
    pub solves: u64,
    /// Study noise calibrated to the map without noise, around the private data: not private.
    pub not_private: bool,
    /// The dataset to study it around, counted from 1; the first where none is named.
    pub row: Option<usize>,
}

impl Default for Probe {
    fn default() -> Self {
        Probe {
            pairs: 200,
            seed: None,
            climbs: 3,
            solves: 2000,
            not_private: false,
            row: None,
        }
    }
}

/// A report that may contradict what it reports on. It is shown either way.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Judged<R> {
    /// The report.
    pub report: R,
    /// Ok, or what the report amounts to.
    #[serde(skip)]
    pub verdict: Result<(), Failure>,
}

impl<R: fmt::Display> fmt::Display for Judged<R> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.report.fmt(f)
    }
}

/// What the audits found: one document, the black box as a part of it where it ran. Private.
#[derive(Debug, Serialize)]
pub struct Findings {
    /// The pairs that were solved.
    #[serde(flatten)]
    pub white_box: AuditReport,
    /// The answers that were drawn for the worst of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub black_box: Option<BlackBox>,
}

impl Findings {
    /// What contradicts the claim.
    fn contradiction(&self) -> Option<String> {
        if self.white_box.is_flagged() {
            return Some(self.white_box.verdict_text());
        }
        let drawn = self.black_box.as_ref().filter(|b| b.violated)?;
        Some(format!(
            "answers drawn as a release draws them show ε ≥ {:.4}",
            drawn.epsilon_at_least
        ))
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.white_box)?;
        match &self.black_box {
            Some(black_box) => write!(f, "\n{black_box}"),
            None => Ok(()),
        }
    }
}

/// Reads a pair that an audit has saved.
pub fn read_witness(file: &Path) -> Result<Witness, Failure> {
    let name = file.display();
    let text = text_of(file, WITNESS_BYTES).map_err(|why| {
        Failure::input(format!(
            "{name}: {why}\n  help: give a file that `conveil audit --witness` has written"
        ))
    })?;
    Witness::from_json(&text).map_err(|e| Failure::engine(&name.to_string(), &e))
}

impl Workbench {
    /// How far neighbouring datasets move the answer, beside the sensitivity in use.
    pub fn sensitivity(
        &self,
        probe: &Probe,
        observer: &dyn Observer,
    ) -> Result<Judged<SensitivityReport>, Failure> {
        let plan = self.probed(probe, observer)?;
        let audit = self.settings(probe)?;
        let report = staged(observer, Stage::Measure, || {
            audit.sensitivity(&plan, &batch(observer, self.inputs.spec.solver.threads))
        });
        self.measured(report.map_err(|e| self.engine(&e))?)
    }

    /// The report and what it amounts to.
    pub(crate) fn measured(
        &self,
        report: SensitivityReport,
    ) -> Result<Judged<SensitivityReport>, Failure> {
        let verdict = match report.released.measured {
            true => Ok(()),
            false => Err(Failure::nothing_tested(self.name(), self.about)),
        };
        Ok(Judged { report, verdict })
    }

    /// Looks for neighbouring datasets that the noise hides less well than claimed. With `draws`, answers are then drawn
    /// from each side of the worst pair, as a release would, and bound ε from below.
    pub fn audit(
        &self,
        probe: &Probe,
        draws: Option<u64>,
        observer: &dyn Observer,
    ) -> Result<Judged<Findings>, Failure> {
        let plan = self.probed(probe, observer)?;
        let audit = self.settings(probe)?;
        let white_box = staged(observer, Stage::Audit, || {
            audit.run(&plan, &batch(observer, self.inputs.spec.solver.threads))
        });
        let white_box = white_box.map_err(|e| self.engine(&e))?;
        self.audited(&plan, white_box, draws, observer)
    }

    /// The report and what it amounts to, with answers drawn for its worst pair where `draws` are asked for. One pair is
    /// drawn for, once, so that the false-alarm rate of these draws is that of the audit, whatever cells it came from.
    pub(crate) fn audited(
        &self,
        plan: &Plan<'_>,
        white_box: AuditReport,
        draws: Option<u64>,
        observer: &dyn Observer,
    ) -> Result<Judged<Findings>, Failure> {
        let black_box = match (draws, white_box.witness()) {
            (Some(draws), Some(witness)) => {
                let (a, b) = (&witness.first, &witness.second);
                let drawn = staged(observer, Stage::BlackBox, || {
                    let settings = blackbox::Settings::new(draws, FALSE_ALARM)?;
                    blackbox::audit(plan, a, b, &settings)
                });
                Some(drawn.map_err(|e| Failure::release(self.name(), &e))?)
            }
            _ => None,
        };
        let report = Findings {
            white_box,
            black_box,
        };
        let verdict = match report.contradiction() {
            Some(verdict) => Err(Failure::flagged(self.name(), &verdict)),
            None if report.white_box.is_empty_handed() => {
                Err(Failure::nothing_tested(self.name(), self.about))
            }
            None => Ok(()),
        };
        Ok(Judged { report, verdict })
    }

    /// Solves a recorded pair again; nothing is searched.
    pub fn replay(
        &self,
        probe: &Probe,
        witness: &Witness,
        observer: &dyn Observer,
    ) -> Result<Judged<Replay>, Failure> {
        let plan = self.probed(probe, observer)?;
        let replay = staged(observer, Stage::Replay, || witness.replay(&plan));
        let report = replay.map_err(|e| self.engine(&e))?;
        let verdict = match report.is_flagged() {
            true => {
                let verdict = "the witness exceeds the claim";
                Err(Failure::flagged(self.name(), verdict))
            }
            false => Ok(()),
        };
        Ok(Judged { report, verdict })
    }

    /// The spec's plan, made without data; where it is said not to be private the paper's, made around the private data.
    pub(crate) fn probed(
        &self,
        probe: &Probe,
        observer: &dyn Observer,
    ) -> Result<Plan<'_>, Failure> {
        self.refuse_grid("an audit of the noise")?;
        let stated = &self.inputs.spec.privacy.sensitivity;
        let papers = is_calibrated_as_in_the_paper(&self.inputs.spec);
        let (message, help) = match (papers, probe.not_private) {
            (false, false) => return self.planned(observer),
            (true, true) => {
                let theta = self.dataset(probe.row, observer)?;
                return self.paper_mode(&theta, observer);
            }
            (true, false) => (
                "noise calibrated to the map without noise can be studied, never released",
                "`--not-private` says that you know; `on = \"released\"` calibrates to the map that is released",
            ),
            (false, true) => (
                "`--not-private` is for a sensitivity sampled `on = \"deterministic\"`",
                "leave the flag away to audit this spec as it stands",
            ),
        };
        Err(stated.error(self.name(), message).with_help(help).into())
    }

    /// What the request and the spec's universe say.
    pub(crate) fn settings(&self, probe: &Probe) -> Result<Audit, Failure> {
        let spec = &self.inputs.spec;
        let audit = Audit::new()
            .pairs(probe.pairs)
            .seed(probe.seed.unwrap_or(spec.study.seed))
            .climbs(usize::try_from(probe.climbs).unwrap_or(usize::MAX))
            .solves(usize::try_from(probe.solves).unwrap_or(usize::MAX));
        // A sampled plan brings its own universe, in a study the one around the private data.
        if spec.privacy.sensitivity.value.is_sampled() {
            return Ok(audit);
        }
        match &spec.private.universe {
            Some(universe) => Ok(audit.universe(universe.value.clone())),
            None => match unbounded_parameter(self.model.map()) {
                Some(name) => Err(self.no_universe(&name)),
                None => Ok(audit),
            },
        }
    }

    fn no_universe(&self, parameter: &str) -> Failure {
        Failure::input(format!(
            "{}: an audit needs a public set of datasets to draw pairs from, and `{parameter}` has no public bounds\n  help: {}",
            self.name(),
            self.model.how_to_bound()
        ))
    }
}

/// A random maximum misses structured pairs: beside a sampled sensitivity stands what a short search of the public
/// universe finds.
pub(crate) fn beside_sampled(
    plan: &Plan<'_>,
    bench: &Workbench,
    observer: &dyn Observer,
) -> Result<Option<String>, Failure> {
    if plan.guarantee().basis().kind() != BasisKind::Sampled {
        return Ok(None);
    }
    let report = staged(observer, Stage::Search, || {
        conveil::audit::quick(plan, &batch(observer, bench.inputs.spec.solver.threads))
    });
    let report = report.map_err(|e| bench.engine(&e))?;
    Ok(Some(format!(
        "the sensitivity is sampled; a short search for the worst pair of the universe gives: {} (`conveil audit` searches longer)",
        report.beside()
    )))
}

/// The first parameter without public bounds.
fn unbounded_parameter(map: &dyn DataMap) -> Option<std::borrow::Cow<'_, str>> {
    let mut open = map.parameters().kinds().filter(|p| p.bounds().is_none());
    open.next().map(|p| p.name())
}
