//! M6: CVaR of the linear cost q'x(ζ), exact where the noise allows, over samples otherwise.

use super::{Cvar, CvarForm};
use crate::error::{Error, Result};
use crate::memory::refuse_beyond_memory;
use crate::noise::{Law, Sampler};
use crate::program::{Cone, Program};
use crate::rule::{Lift, RowNoise};

/// The stream of the public seed that sampled CVaR draws from.
const STREAM: u64 = 0xCA;

/// Memory of a solve for each entry of the constraints, about.
const BYTES_PER_ENTRY: f64 = 200.0;

impl Cvar {
    /// CVaR at this tail share in closed form.
    pub fn exact(tail: f64) -> Self {
        Cvar {
            tail,
            form: CvarForm::Exact,
        }
    }

    /// CVaR over draws of a public seed.
    pub fn sampled(tail: f64, samples: usize, seed: u64) -> Self {
        Cvar {
            tail,
            form: CvarForm::Sampled { samples, seed },
        }
    }

    pub(super) fn validate(
        &self,
        program: &Program,
        beside_curvature: bool,
        law: &Law,
        noises: usize,
    ) -> Result<()> {
        if !(self.tail > 0.0 && self.tail < 1.0) {
            return Err(Error::input(format!(
                "the tail share of CVaR must lie strictly between 0 and 1, found {}",
                self.tail
            )));
        }
        if program.p().nnz() > 0 && !beside_curvature {
            return Err(Error::refused(
                "CVaR of a quadratic objective",
                "CVaR is computed for a linear cost",
                "write the quadratic part through an epigraph variable, or minimise the expectation",
            ));
        }
        match self.form {
            CvarForm::Sampled { samples, .. } if samples == 0 || samples > 1_000_000 => {
                Err(Error::input(format!(
                    "sampled CVaR takes between 1 and 1000000 samples, found {samples}"
                )))
            }
            CvarForm::Sampled { samples, .. } => refuse_beyond_memory(
                &format!("CVaR over {samples} samples of {noises} noises"),
                // A row with an entry for each noise, in a few copies until the solver has factored it.
                samples as f64 * (noises + 5) as f64 * BYTES_PER_ENTRY,
                "fewer samples, or form = \"exact\" where the noise allows it",
            ),
            CvarForm::Exact if noises > 1 && law.is_laplace_family() => Err(Error::refused(
                format!("exact CVaR with {noises} noises of the {} law", law.name()),
                "it has a closed form for one noise, or for Gaussian noise",
                "form = \"sampled\", or the Gaussian mechanism",
            )),
            _ => Ok(()),
        }
    }

    /// CVaR as terms over lifted columns and a constant.
    pub(super) fn terms(&self, lift: &mut Lift<'_>, law: &Law) -> Result<(Vec<(usize, f64)>, f64)> {
        let cost: Vec<(usize, f64)> = lift
            .program()
            .q()
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, v)| *v != 0.0)
            .collect();
        let noise = RowNoise::of(&cost, lift.rule());
        match self.form {
            CvarForm::Exact => self.exact_terms(lift, law, cost, &noise),
            CvarForm::Sampled { samples, seed } => Ok((
                self.sampled_terms(lift, law, cost, &noise, samples, seed),
                0.0,
            )),
        }
    }

    /// q'x̄ + κ‖q'X‖, κ the CVaR of one unit of noise.
    fn exact_terms(
        &self,
        lift: &mut Lift<'_>,
        law: &Law,
        mut terms: Vec<(usize, f64)>,
        noise: &RowNoise,
    ) -> Result<(Vec<(usize, f64)>, f64)> {
        let kappa = law.cvar_factor(self.tail)?;
        if noise.is_fixed() {
            return Ok((terms, kappa * noise.fixed_l2()));
        }
        if lift.noises() == 1 {
            let (entry, constant) = lift.noise_entry(noise, 0);
            let size = lift.absolute_value(&entry, constant, None);
            terms.push((size, kappa));
            return Ok((terms, 0.0));
        }
        let size = lift.auxiliaries(1);
        let mut rows = vec![(vec![(size, -1.0)], 0.0)];
        for j in 0..lift.noises() {
            let (entry, constant) = lift.noise_entry(noise, j);
            rows.push((entry.into_iter().map(|(c, v)| (c, -v)).collect(), constant));
        }
        let dim = rows.len();
        lift.cone(&Cone::SecondOrder(dim), rows, &vec![None; dim]);
        terms.push((size, kappa));
        Ok((terms, 0.0))
    }

    /// γ + (1/(qS))Σ z_s with z_s ≥ q'x(ζ_s) − γ, z_s ≥ 0.
    fn sampled_terms(
        &self,
        lift: &mut Lift<'_>,
        law: &Law,
        cost: Vec<(usize, f64)>,
        noise: &RowNoise,
        samples: usize,
        seed: u64,
    ) -> Vec<(usize, f64)> {
        // The mean and the noise of the cost get columns of their own, so that a sample's row is short.
        let mean = lift.auxiliaries(1);
        let mut row = cost;
        row.push((mean, -1.0));
        lift.equality((row, 0.0), None);
        let slope = lift.auxiliaries(lift.noises());
        for j in 0..lift.noises() {
            let (mut row, constant) = lift.noise_entry(noise, j);
            row.push((slope + j, -1.0));
            lift.equality((row, -constant), None);
        }
        let gamma = lift.auxiliaries(1);
        let first = lift.auxiliaries(samples);
        let mut sampler = Sampler::new(seed, STREAM);
        let mut zeta = vec![0.0; lift.noises()];
        let mut terms = vec![(gamma, 1.0)];
        for s in 0..samples {
            sampler.fill(law, &mut zeta);
            let mut row = vec![(mean, 1.0), (gamma, -1.0), (first + s, -1.0)];
            row.extend(zeta.iter().enumerate().map(|(j, z)| (slope + j, *z)));
            lift.inequality((row, 0.0), None);
            lift.inequality((vec![(first + s, -1.0)], 0.0), None);
            terms.push((first + s, 1.0 / (self.tail * samples as f64)));
        }
        terms
    }
}
