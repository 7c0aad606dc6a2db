//! One dataset: every mode, every strategy.

use conveil::Result;
use conveil::ask::{Calibration, Privacy, SampleSize, Universe};
use conveil::chance::Feasibility;
use conveil::plan::Plan;
use conveil::solve::Batch;

use super::data::Dataset;
use super::{Mode, Row, Settings};
use crate::learning::{Claim, Machine, Perturbed, Records, is_local};
use crate::paper;

/// Most fresh pairs of a certificate, which is proven: enough to see how far it is from tight.
pub(super) const PROVEN: u64 = 20;

/// All rows of a dataset.
pub(super) fn rows(dataset: &Dataset, settings: &Settings, batch: &Batch<'_>) -> Result<Vec<Row>> {
    let (mut rows, etas) = (Vec::new(), &settings.etas);
    if let Some(lambda) = settings.lambdas.first() {
        rows = Cell::new(dataset, settings, Mode::Paper, *lambda, batch)?.rows(etas)?;
    }
    // The other modes need bounds that are public.
    if dataset.bounds.is_some() && (dataset.balanced || settings.full) {
        let etas = match settings.full {
            true => etas.as_slice(),
            false => &etas[..1],
        };
        let lambdas = settings.lambdas.as_slice();
        let last = match settings.full {
            true => lambdas,
            false => &lambdas[lambdas.len().saturating_sub(1)..],
        };
        for (mode, lambdas) in [(Mode::Calibrated, lambdas), (Mode::Certified, last)] {
            for lambda in lambdas {
                let cell = Cell::new(dataset, settings, mode, *lambda, batch)?;
                rows.extend(cell.rows(etas)?);
            }
        }
    }
    Ok(rows)
}

struct Cell<'a> {
    dataset: &'a Dataset,
    settings: &'a Settings,
    delta: f64,
    machine: Machine<'a>,
}

impl<'a> Cell<'a> {
    fn new(
        dataset: &'a Dataset,
        settings: &'a Settings,
        mode: Mode,
        lambda: f64,
        batch: &'a Batch<'a>,
    ) -> Result<Self> {
        let ranges = dataset.training.ranges();
        let bounds = dataset.bounds.as_deref().unwrap_or(&ranges);
        let records = Records {
            features: &dataset.features,
            bounds,
            training: &dataset.training,
            test: &dataset.test,
            world: 0,
        };
        let count = dataset.training.features.len();
        let delta = settings.delta.unwrap_or(1.0 / count as f64);
        let (calibration, size) = match mode {
            Mode::Paper => (Calibration::Classic, SampleSize::Paper),
            _ => (Calibration::Analytic, SampleSize::Exact),
        };
        let claim = Claim {
            privacy: Privacy::Gaussian {
                epsilon: settings.epsilon,
                delta,
                calibration,
            },
            gamma: settings.gamma,
            beta: settings.beta,
            size,
            draws: settings.draws,
            seed: settings.seed,
        };
        let around = |data: Vec<f64>| {
            let half = match mode {
                // ±1% of each private value, in the units of its feature's own range.
                Mode::Paper => {
                    let raw = dataset.training.features.iter().flat_map(|x| {
                        let each = x.iter().zip(&ranges);
                        each.map(|(v, (low, high))| settings.spread * v.abs() / (high - low))
                    });
                    raw.collect()
                }
                // ±1% of each feature's largest public value around public records, in units of half the public range.
                _ => {
                    let one = bounds.iter().map(|(low, high)| {
                        2.0 * settings.spread * low.abs().max(high.abs()) / (high - low)
                    });
                    one.cycle().take(data.len()).collect()
                }
            };
            Universe::around(data, half)
        };
        Ok(Cell {
            dataset,
            settings,
            delta,
            machine: Machine::new(mode, lambda, &records, around, claim, batch)?,
        })
    }

    fn rows(&self, etas: &[f64]) -> Result<Vec<Row>> {
        let exact = Row {
            accuracy_mean: Some(self.machine.exact()?.1),
            ..self.blank("non-private", None)
        };
        let mut programs = Vec::new();
        let mut certified = None;
        let sampled = match self.machine.mode {
            Mode::Certified => 0.0,
            _ => self.machine.sampled_sensitivity()?,
        };
        for &eta in etas {
            let row = match self.machine.plan(Feasibility::each(eta), sampled) {
                Ok(plan) => {
                    certified = Some(plan.guarantee().sensitivity());
                    self.program(&plan, eta)
                }
                Err(error) => Err(error),
            };
            programs.push(match row {
                Err(error) if is_local(&error) => Row {
                    status: error.to_string(),
                    ..self.blank("program", Some(eta))
                },
                other => other?,
            });
        }
        // The certificate holds without noise as with it.
        let sensitivity = match (self.machine.mode, certified) {
            (Mode::Certified, Some(bound)) => bound,
            _ => sampled,
        };
        let mut rows = vec![exact];
        if sensitivity > 0.0 {
            let output = self.machine.output(sensitivity)?;
            rows.push(self.noisy("output", None, &output, None)?);
        }
        rows.extend(programs);
        Ok(rows)
    }

    fn program(&self, plan: &Plan<'_>, eta: f64) -> Result<Row> {
        let program = self.machine.program(plan)?;
        // A random maximum misses structured pairs, so a claim that rests on one has a search beside it.
        let searched = match (self.machine.mode, self.settings.search) {
            (Mode::Calibrated, solves @ 1..) => {
                let search = self.machine.search(1, solves);
                let worst = search.run(plan, self.machine.batch)?.worst;
                worst.map(|witness| witness.loss.movement)
            }
            _ => None,
        };
        self.noisy("program", Some(eta), &program, searched)
    }

    fn noisy(
        &self,
        strategy: &'static str,
        eta: Option<f64>,
        perturbed: &Perturbed<'_>,
        searched: Option<f64>,
    ) -> Result<Row> {
        let pairs = match self.machine.mode {
            Mode::Certified => self.settings.pairs.min(PROVEN),
            _ => self.settings.pairs,
        };
        let audited = self.machine.audited(perturbed, pairs, searched)?;
        let nominal = &perturbed.nominal;
        let accuracy = self.machine.accuracy(nominal)?;
        Ok(Row {
            accuracy_mean: Some(accuracy.mean),
            accuracy_std: Some(accuracy.std),
            sensitivity: Some(perturbed.sensitivity),
            scale: Some(nominal.law.scale()),
            noise_ratio: Some(nominal.noise_ratio()),
            claimed_epsilon: Some(self.settings.epsilon),
            claimed_delta: Some(self.delta),
            audited: Some(audited),
            ..self.blank(strategy, eta)
        })
    }

    fn blank(&self, strategy: &'static str, eta: Option<f64>) -> Row {
        let infeasible = self.dataset.training.share(false);
        Row {
            dataset: self.dataset.name.clone(),
            infeasible_percent: 100.0 * infeasible,
            balanced: self.dataset.balanced,
            features: self.dataset.features.len(),
            records: self.dataset.training.features.len(),
            mode: self.machine.mode,
            strategy,
            lambda: self.machine.svm.lambda(),
            eta,
            status: "ok".into(),
            majority: 100.0 * self.machine.test.majority(),
            paper_accuracy: match self.machine.mode {
                Mode::Paper => paper::table_3(&self.dataset.name, infeasible, strategy, eta),
                _ => None,
            },
            ..Row::default()
        }
    }
}
