//! Long work in cells: pieces that other threads, processes or machines compute and keep as texts, and what they make
//! together. A cell depends on the request alone, never on who computes it or on how many do.
//!
//! The texts are for this version of the program, and for the spec and the request that they were made for. Whoever keeps them
//! sees to that; what can be told from a text itself is checked when the cells are put together.

use conveil::ask::SampleSize;
use conveil::audit::{Audit, Probed, SampledPairs, SensitivityReport, WorstPair};
use conveil::curator::Frontier;
use conveil::noise::{pair_samples_exact, pair_samples_paper};
use conveil_models::spec::Sensitivity;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::audit::{Findings, Judged, Probe};
use crate::failure::{Failure, Kind};
use crate::objective::Restating;
use crate::observer::{Observer, Stage, batch, staged};
use crate::workbench::{Sweep, Workbench};

/// The cells of one map: its blocks of pairs in their order, and the search from them.
#[derive(Debug, Clone, Copy)]
pub struct Cells<'c> {
    /// What [`Workbench::sampled_cell`] returned for each block.
    pub blocks: &'c [String],
    /// What [`Workbench::search_cell`] returned for all of them.
    pub search: &'c str,
}

impl Workbench {
    /// The blocks of pairs of an audit or a measurement, each a first pair and the one behind the last.
    pub fn blocks(&self, probe: &Probe) -> Vec<(u64, u64)> {
        // Not shorter than the sample that a plan takes for itself, so that making it is not most of the work.
        let least = match self.inputs.spec.privacy.sensitivity.value {
            Sensitivity::Sampled {
                gamma, beta, size, ..
            } => match size {
                SampleSize::Exact => pair_samples_exact(gamma, beta).unwrap_or(1),
                SampleSize::Paper => pair_samples_paper(gamma, beta).unwrap_or(1),
            },
            _ => 1,
        };
        let blocks = Audit::new().pairs(probe.pairs).blocks(least);
        blocks.into_iter().map(|b| (b.start, b.end)).collect()
    }

    /// Solves a block of pairs.
    pub fn sampled_cell(
        &self,
        probe: &Probe,
        map: Probed,
        block: (u64, u64),
        observer: &dyn Observer,
    ) -> Result<String, Failure> {
        let plan = self.probed(probe, observer)?;
        let audit = self.settings(probe)?;
        let sampled = staged(observer, stage(map), || {
            let batch = batch(observer, self.inputs.spec.solver.threads);
            audit.sample(&plan, map, block.0..block.1, &batch)
        });
        written(&sampled.map_err(|e| self.engine(&e))?)
    }

    /// Searches for the worst pair, from those of all blocks.
    pub fn search_cell(
        &self,
        probe: &Probe,
        map: Probed,
        blocks: &[String],
        observer: &dyn Observer,
    ) -> Result<String, Failure> {
        let plan = self.probed(probe, observer)?;
        let audit = self.settings(probe)?;
        let blocks = all_read(blocks)?;
        let worst = staged(observer, stage(map), || {
            let batch = batch(observer, self.inputs.spec.solver.threads);
            audit.search(&plan, map, &blocks, &batch)
        });
        written(&worst.map_err(|e| self.engine(&e))?)
    }

    /// The audit that these cells of the released map make, as [`Workbench::audit`] gives it.
    pub fn audit_of(
        &self,
        probe: &Probe,
        cells: Cells<'_>,
        draws: Option<u64>,
        observer: &dyn Observer,
    ) -> Result<Judged<Findings>, Failure> {
        let plan = self.probed(probe, observer)?;
        let (blocks, worst) = cells.read()?;
        let report = self.settings(probe)?.report(&plan, &blocks, worst);
        self.audited(&plan, report.map_err(|e| self.engine(&e))?, draws, observer)
    }

    /// The measurement that these cells of the released map and of the map without noise make, as
    /// [`Workbench::sensitivity`] gives it.
    pub fn sensitivity_of(
        &self,
        probe: &Probe,
        released: Cells<'_>,
        without_noise: Cells<'_>,
        observer: &dyn Observer,
    ) -> Result<Judged<SensitivityReport>, Failure> {
        let plan = self.probed(probe, observer)?;
        let (released, without_noise) = (released.read()?, without_noise.read()?);
        let report = self.settings(probe)?.measured(
            &plan,
            (&released.0, &released.1),
            (&without_noise.0, &without_noise.1),
        );
        self.measured(report.map_err(|e| self.engine(&e))?)
    }

    /// A part of a frontier: some of its values. Private, unless the workbench is about public data.
    pub fn frontier_cell(&self, sweep: &Sweep, observer: &dyn Observer) -> Result<String, Failure> {
        written(&self.swept(sweep, observer)?.about(self.about))
    }

    /// The frontier that these parts make, in their order, as [`Workbench::frontier`] gives it. As private as they are.
    pub fn frontier_of(&self, parts: &[String]) -> Result<Frontier, Failure> {
        let joined = Frontier::joined(all_read(parts)?);
        let mut frontier = joined.map_err(|e| self.engine(&e))?;
        if let Some(restating) = Restating::of(self) {
            restating.frontier(&mut frontier);
        }
        Ok(frontier)
    }
}

impl Cells<'_> {
    fn read(&self) -> Result<(Vec<SampledPairs>, WorstPair), Failure> {
        Ok((all_read(self.blocks)?, read(self.search)?))
    }
}

fn stage(map: Probed) -> Stage {
    match map {
        Probed::Released => Stage::Audit,
        Probed::WithoutNoise => Stage::Measure,
    }
}

fn written<C: Serialize>(cell: &C) -> Result<String, Failure> {
    serde_json::to_string(cell).map_err(|e| Failure::new(Kind::NotWritten, e.to_string()))
}

fn read<C: DeserializeOwned>(text: &str) -> Result<C, Failure> {
    serde_json::from_str(text).map_err(|e| Failure::input(format!("a cell cannot be read: {e}")))
}

fn all_read<C: DeserializeOwned>(texts: &[String]) -> Result<Vec<C>, Failure> {
    texts.iter().map(|text| read(text)).collect()
}
