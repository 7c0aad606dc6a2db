//! One seed: every way in paper mode, then certified mode.

use conveil::Result;
use conveil::ask::{Calibration, Privacy, Universe};
use conveil::program::GeneralMap;
use conveil::solve::{self, Batch};

use super::Settings;
use super::synthetic::{HALF_AXES, LARGEST_X, Synthetic};
use crate::fitting::{CurveFan, Entry, Given, Head, Metric, Task, Trial, Way};

/// The ways of paper mode. Chernoff's factor is for Laplace noise; the exact quantile of Gaussian noise needs none.
const WAYS: [Way; 6] = [
    Way::Output,
    Way::ProjectedOutput,
    Way::TwoVertices,
    Way::SampledBox,
    Way::Cantelli,
    Way::Exact,
];

/// The ways of certified mode.
const CERTIFIED: [(Way, &str); 3] = [
    (Way::Output, "shaped"),
    (Way::ProjectedOutput, "shaped"),
    (Way::Exact, "shaped, exact quantiles"),
];

/// The rows of the table.
pub(super) fn heads() -> Vec<Head> {
    let certified = CERTIFIED.map(|(way, shape)| Head::certified(way, shape));
    WAYS.into_iter().map(Head::paper).chain(certified).collect()
}

/// Solves of an audit's search.
const SEARCH: usize = 400;

/// The records of one seed.
pub(super) struct Cell<'a> {
    settings: &'a Settings,
    data: Synthetic,
    map: GeneralMap,
    trial: Trial<'a>,
}

impl<'a> Cell<'a> {
    pub(super) fn new(settings: &'a Settings, seed: u64, batch: &'a Batch<'a>) -> Result<Self> {
        let data = Synthetic::new(settings, seed);
        let model = data.model(settings.ridge)?;
        Ok(Cell {
            map: data.map(settings.ridge)?,
            trial: Trial {
                squared: model.clone(),
                model,
                responses: data.y.clone(),
                epsilon: settings.epsilon,
                delta: settings.certified_delta,
                // The height of an ellipse; x is public.
                range: 2.0 * HALF_AXES.1,
                eta: settings.eta,
                draws: settings.draws,
                seed,
                solver: solve::Settings::default().with_cancel(batch.cancel_flag().clone()),
                batch,
            },
            data,
            settings,
        })
    }

    pub(super) fn records(&self) -> Vec<(f64, f64)> {
        let pairs = self.data.x.iter().zip(&self.data.y);
        pairs.map(|(x, y)| (*x, *y)).collect()
    }

    pub(super) fn entries(&self) -> Result<Vec<Entry>> {
        let task = self.task()?;
        let mut entries = task.entries(&WAYS, Some(SEARCH))?;
        entries.extend(self.trial.certified_entries(&CERTIFIED, &task.plain()?)?);
        Ok(entries)
    }

    pub(super) fn fans(&self) -> Result<Vec<CurveFan>> {
        let (ways, ends) = ([Way::Output, Way::Exact], (0.0, LARGEST_X));
        self.trial.fans(&self.task()?, &ways, &[Way::Exact], ends)
    }

    fn task(&self) -> Result<Task<'_>> {
        let theta = self.data.theta();
        // Discs of radius 1, in units of the half axes. The paper draws the radius uniformly, we draw the place uniformly.
        let radii = vec![1.0; self.data.x.len()];
        Task::new(Given {
            trial: &self.trial,
            map: Box::new(&self.map),
            universe: Universe::discs(theta.clone(), radii, 2)?,
            theta,
            privacy: Privacy::Gaussian {
                epsilon: self.settings.epsilon,
                delta: self.settings.delta,
                calibration: Calibration::Classic,
            },
            // The metric Φ'Φ would be private here.
            metric: Metric::Euclidean,
        })
    }
}
