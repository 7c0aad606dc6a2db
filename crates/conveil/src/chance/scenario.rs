//! M5c. Scenario (Calafiore–Campi): the constraint at each of S samples.

use super::{Choice, Kind, Method, Ready, Scope, Setting, Task};
use crate::error::{Error, Result};
use crate::noise::{self, SampleSize, Sampler};
use crate::program::Cone;
use crate::rule::{Lift, RowNoise};

/// The stream of the public seed that this method draws from.
const STREAM: u64 = 0x5C;

/// Noise values of one program, at most: past this the lifted program does not fit in memory anyway.
const LIMIT: usize = 20_000_000;

impl Choice {
    /// M5c: the constraint at each of many samples.
    pub const SCENARIO: Choice = Choice::by(&Scenario);
}

/// The kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scenario;

impl Kind for Scenario {
    fn word(&self) -> &'static str {
        "scenario"
    }

    fn name(&self) -> &'static str {
        "scenario"
    }

    fn summary(&self) -> &'static str {
        "every block holds at each of many samples, with a stated confidence"
    }

    fn scope(&self) -> Scope {
        Scope::Event(self.word())
    }

    fn is_sampled(&self) -> bool {
        true
    }

    fn ready(&self, setting: &Setting) -> Result<Ready> {
        let samples = Samples::new(setting)?;
        let detail = format!(
            "{} samples for {} decision variables, seed {}; assumes a unique optimum",
            samples.0.len(),
            setting.decisions,
            setting.sampling.seed
        );
        Ok(Ready {
            confidence: Some(1.0 - setting.sampling.beta),
            ..Ready::new(samples, detail)
        })
    }
}

/// # Guarantee
/// With confidence 1−β over the samples, the optimum violates the constraints it serves with probability at most its
/// share, for d decision variables and a unique optimum (M5c).
#[derive(Clone, Debug)]
struct Samples(Vec<Vec<f64>>);

impl Samples {
    fn new(setting: &Setting) -> Result<Self> {
        let (noises, decisions) = (setting.noises, setting.decisions);
        let (share, beta) = (setting.share, setting.sampling.beta);
        let count = match setting.sampling.size {
            SampleSize::Exact => noise::exact_samples(decisions as u64, share, beta)?,
            SampleSize::Paper => noise::paper_scenario_samples(decisions as u64, share, beta)?,
        } as usize;
        if count.saturating_mul(noises) > LIMIT {
            return Err(Error::refused(
                "the scenario method",
                format!("{decisions} decision variables need {count} samples of {noises} noises"),
                "the mass box, or row by row for linear rows",
            ));
        }
        let mut sampler = Sampler::new(setting.sampling.seed, STREAM);
        let samples = (0..count)
            .map(|_| {
                let mut zeta = vec![0.0; noises];
                sampler.fill(setting.noise.law(), &mut zeta);
                zeta
            })
            .collect();
        Ok(Samples(samples))
    }

    /// bᵢ − aᵢ'(x̄+Xζ) ≥ (3h/2)‖v‖₁ at every sample.
    fn linear_row(&self, lift: &mut Lift<'_>, i: usize, displacement: f64) {
        let noise = lift.row_noise(i);
        if noise.is_fixed() {
            // Only the worst sample matters.
            let worst = self
                .0
                .iter()
                .map(|z| noise.constant.iter().map(|&(j, v)| v * z[j]).sum::<f64>())
                .fold(f64::NEG_INFINITY, f64::max);
            let row = lift.mean_row(i, worst + displacement * noise.fixed_l1());
            lift.inequality(row, Some(i));
            return;
        }
        let margin = lattice_margin(lift, std::slice::from_ref(&noise));
        for zeta in &self.0 {
            let (mut terms, right) = lift.row_at(i, &noise, zeta);
            terms.extend(margin.iter().map(|&(c, v)| (c, displacement * v)));
            lift.inequality((terms, right), Some(i));
        }
    }

    /// b − A(x̄+Xζ) − t·e ∈ K with t = c·(3h/2)·Σ|v|, which covers any lattice displacement (see [`Cone::interior`]).
    fn other_block(&self, lift: &mut Lift<'_>, task: &Task<'_>) {
        let noises: Vec<RowNoise> = task.rows.iter().map(|&i| lift.row_noise(i)).collect();
        let (interior, factor) = task.cone.interior();
        let weight = task.noise.displacement() * factor;
        let fixed: f64 = weight * noises.iter().map(RowNoise::fixed_l1).sum::<f64>();
        let all_fixed = noises.iter().all(RowNoise::is_fixed);
        let margin = if all_fixed {
            Vec::new()
        } else {
            lattice_margin(lift, &noises)
        };
        let origins: Vec<Option<usize>> = task.rows.iter().map(|&i| Some(i)).collect();
        for zeta in &self.0 {
            let rows = task
                .rows
                .iter()
                .zip(&noises)
                .zip(&interior)
                .map(|((&i, noise), e)| {
                    let (mut terms, mut right) = lift.row_at(i, noise, zeta);
                    if all_fixed {
                        right -= fixed * e;
                    } else if *e != 0.0 {
                        terms.extend(margin.iter().map(|&(c, v)| (c, weight * v * e)));
                    }
                    (terms, right)
                })
                .collect();
            lift.cone(task.cone, rows, &origins);
        }
    }
}

/// Epigraphs of |v_j| over all rows and noises, as terms that add up to Σ‖v‖₁.
fn lattice_margin(lift: &mut Lift<'_>, noises: &[RowNoise]) -> Vec<(usize, f64)> {
    let mut terms = Vec::new();
    for noise in noises {
        for j in noise.touched(lift.noises()) {
            let (entry, constant) = lift.noise_entry(noise, j);
            terms.push((lift.absolute_value(&entry, constant, None), 1.0));
        }
    }
    terms
}

impl Method for Samples {
    fn holds_at_the_mean(&self) -> bool {
        false
    }

    fn assumes_one_optimum(&self) -> bool {
        true
    }

    fn enforce(&self, lift: &mut Lift<'_>, task: &Task<'_>) -> Result<()> {
        if matches!(task.cone, Cone::Nonnegative(_)) {
            task.rows
                .iter()
                .for_each(|&i| self.linear_row(lift, i, task.noise.displacement()));
        } else {
            self.other_block(lift, task);
        }
        Ok(())
    }
}
