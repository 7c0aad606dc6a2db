//! One cell: a mode at one λ, on one world of records.

use conveil::ask::{Privacy, SampleSize, Universe};
use conveil::chance::{Choice, Feasibility};
use conveil::noise::Factor;
use conveil::plan::Plan;
use conveil::solve::Batch;
use conveil::{Error, Result};

use super::{BEST_OUTPUT, Mode, Row, Settings, points};
use crate::learning::{Claim, Machine, Perturbed, Records, is_local};
use crate::paper;

/// The world that stands for public data of the same law.
const PUBLIC_WORLD: u64 = 1;

pub(super) struct Cell<'a> {
    settings: &'a Settings,
    machine: Machine<'a>,
}

impl<'a> Cell<'a> {
    pub(super) fn new(
        settings: &'a Settings,
        mode: Mode,
        lambda: f64,
        world: u64,
        batch: &'a Batch<'a>,
    ) -> Result<Self> {
        let records = Records {
            features: &["x1", "x2"].map(String::from),
            bounds: &[points::bounds(settings); 2],
            training: &points::training(settings, world),
            test: &points::test(settings, world),
            world,
        };
        // Paper mode scales a feature's own range to 1, the others its public bounds to 2.
        let radius = match mode {
            Mode::Paper => settings.radius,
            _ => 2.0 * settings.radius,
        };
        let around = |data| Universe::discs(data, vec![radius; settings.records], 2);
        let claim = Claim {
            privacy: Privacy::laplace(settings.epsilon),
            gamma: settings.gamma,
            beta: settings.beta,
            size: SampleSize::Paper,
            draws: settings.draws,
            seed: settings.seed,
        };
        Ok(Cell {
            settings,
            machine: Machine::new(mode, lambda, &records, around, claim, batch)?,
        })
    }

    /// Program perturbation's plan; `sampled` is the sensitivity of the map without noise, for paper mode.
    fn plan(&self, sampled: f64) -> Result<Plan<'_>> {
        let eta = self.settings.eta;
        let feasibility = match self.machine.mode {
            // The text shares η among all 2N rows; the weights that it prints come from η in each of them (with the
            // shares every record is on the slope of its loss, and nothing determines the intercept).
            Mode::Paper => Feasibility::each(eta).method(Choice::ROW_BY_ROW.with(Factor::Cantelli)),
            _ => Feasibility::eta(eta).method(Choice::NOISE_AWARE_HINGE),
        };
        self.machine.plan(feasibility, sampled)
    }

    /// Output perturbation on the mode's own basis. The certificate holds without noise as with it.
    fn output(&self) -> Result<Perturbed<'_>> {
        self.machine.output(match self.machine.mode {
            Mode::Certified => self.plan(0.0)?.guarantee().sensitivity(),
            _ => self.machine.sampled_sensitivity()?,
        })
    }

    /// Every strategy; where a number is out of reach, its row says why.
    pub(super) fn rows(&self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        let failed = |strategy: &'static str, found: Result<Row>| match found {
            Err(error) if is_local(&error) => Ok(Row {
                status: error.to_string(),
                ..self.blank(strategy)
            }),
            other => other,
        };
        rows.push(failed("non-private", self.exact())?);
        let output = self.output();
        let plan = match &output {
            Ok(output) => self.plan(output.sensitivity),
            Err(error) => Err(Error::Numerical(error.to_string())),
        };
        let searched = match &plan {
            Ok(plan) => self.searched(plan).map(Some),
            Err(_) => Ok(None),
        };
        let searched = match searched {
            Err(error) if !is_local(&error) => return Err(error),
            other => other.unwrap_or(None),
        };
        let row = output.and_then(|o| self.noisy("output", &o, searched.map(|s| s.1)));
        rows.push(failed("output", row)?);
        let row = plan.and_then(|plan| {
            let program = self.machine.program(&plan)?;
            self.noisy("program", &program, searched.map(|s| s.0))
        });
        rows.push(failed("program", row)?);
        Ok(rows)
    }

    fn exact(&self) -> Result<Row> {
        let (weights, accuracy) = self.machine.exact()?;
        Ok(Row {
            accuracy_mean: Some(accuracy),
            weights: Some(weights),
            ..self.blank("non-private")
        })
    }

    /// The largest movements that a search found: of the released map, and of the one without noise.
    fn searched(&self, plan: &Plan<'_>) -> Result<(f64, f64)> {
        let (pairs, solves) = (self.settings.pairs, self.settings.search);
        let search = self.machine.search(pairs, solves);
        let found = search.sensitivity(plan, self.machine.batch)?;
        Ok((found.released.searched, found.deterministic.searched))
    }

    fn noisy(
        &self,
        strategy: &'static str,
        perturbed: &Perturbed<'_>,
        searched: Option<f64>,
    ) -> Result<Row> {
        let pairs = self.settings.pairs;
        let audited = self.machine.audited(perturbed, pairs, searched)?;
        let nominal = &perturbed.nominal;
        let accuracy = self.machine.accuracy(nominal)?;
        Ok(Row {
            accuracy_mean: Some(accuracy.mean),
            accuracy_std: Some(accuracy.std),
            weights: Some(nominal.weights.clone()),
            sensitivity: Some(perturbed.sensitivity),
            scale: Some(nominal.law.scale()),
            noise_ratio: Some(nominal.noise_ratio()),
            claimed_epsilon: Some(self.settings.epsilon),
            audited: Some(audited),
            ..self.blank(strategy)
        })
    }

    fn blank(&self, strategy: &'static str) -> Row {
        let (mode, lambda) = (self.machine.mode, self.machine.svm.lambda());
        let printed = (mode == Mode::Paper).then_some(lambda);
        Row {
            mode,
            strategy,
            lambda,
            status: "ok".into(),
            majority: 100.0 * self.machine.test.majority(),
            paper_accuracy: printed.and_then(|l| paper::section_421(l, strategy)),
            paper_sensitivity: printed.and_then(|l| paper::section_421_sensitivity(l, strategy)),
            paper_weight: printed.and_then(|l| paper::section_421_weight(l, strategy)),
            ..Row::default()
        }
    }
}

/// Output perturbation at the λ of the grid that does best on public data of the same law, and program perturbation there.
pub(super) fn best_output(settings: &Settings, mode: Mode, batch: &Batch<'_>) -> Result<Vec<Row>> {
    let mut best: Option<(f64, f64)> = None;
    for &lambda in &settings.lambda_grid {
        let cell = Cell::new(settings, mode, lambda, PUBLIC_WORLD, batch)?;
        let mean = cell.machine.accuracy(&cell.output()?.nominal)?.mean;
        if best.is_none_or(|(most, _)| mean > most) {
            best = Some((mean, lambda));
        }
    }
    let Some((_, lambda)) = best else {
        return Ok(Vec::new());
    };
    let mut rows = Cell::new(settings, mode, lambda, 0, batch)?.rows()?;
    let is_new = !settings.lambdas.contains(&lambda);
    rows.retain(|r| r.strategy == "output" || (r.strategy == "program" && is_new));
    for row in rows.iter_mut().filter(|r| r.strategy == "output") {
        *row = Row {
            strategy: BEST_OUTPUT,
            paper_accuracy: None,
            paper_sensitivity: None,
            paper_weight: None,
            ..row.clone()
        };
    }
    Ok(rows)
}
