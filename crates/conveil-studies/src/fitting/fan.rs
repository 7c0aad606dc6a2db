//! A fan of noisy models: what noise on the weights costs in loss, and how often it breaks a condition.

use conveil::noise::{Law, Sampler};
use conveil::plan::Plan;
use conveil::program::Sparse;
use conveil::program::{Cone, Holds, NewConstraint, NewVariables, Program, Stage};
use conveil::rule::Shape;
use conveil::solve::{Settings, solve_checked};
use conveil::{Error, Result};
use conveil_models::regression::Regression;

use super::way::Way;
use crate::plot::{Colour, Panel, Series};

/// Draws come from separate streams.
const STREAM: u64 = 5 << 40;

/// A condition counts as broken below this share of the noise's own reach on it.
const SLIP: f64 = 1e-6;

/// Curves of a fan in a figure, and points of a curve.
const CURVES: u64 = 40;
const POINTS: usize = 31;

/// The loss of any weights on one dataset, in O(weights²): ‖y − Φw‖² = w'Gw − 2c'w + y'y.
pub(crate) struct Fan<'a> {
    model: &'a Regression,
    pub(crate) responses: &'a [f64],
    correlations: Vec<f64>,
    square: f64,
    draws: u64,
    seed: u64,
    solver: &'a Settings,
}

/// Noise Tζ on the weights, and how noisy weights are projected.
pub(crate) struct Noise<'a> {
    pub(crate) law: &'a Law,
    pub(crate) shape: &'a Shape,
    pub(crate) metric: Metric,
}

impl<'a> Noise<'a> {
    /// Of a certified plan: its regressors are public.
    pub(crate) fn of(plan: &'a Plan<'_>) -> Self {
        Noise {
            law: plan.law(),
            shape: plan.released().shape(),
            metric: Metric::Curvature,
        }
    }
}

/// What a fan came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Judged {
    /// The mean of ‖y − Φw‖ + λ‖w‖ over the draws.
    pub(crate) loss: f64,
    /// √E‖y − Φw‖², exact (M3); of projected weights over the draws.
    pub(crate) root_mean_square: f64,
    /// 100 times the share of draws that break a condition.
    pub(crate) infeasible_percent: f64,
}

/// The metric of a projection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Metric {
    /// P = Φ'Φ + λI, where the regressors are public.
    Curvature,
    /// Plain distance of the weights, where they are not: a private metric is no post-processing.
    Euclidean,
}

impl<'a> Fan<'a> {
    pub(crate) fn new(
        model: &'a Regression,
        responses: &'a [f64],
        draws: u64,
        seed: u64,
        solver: &'a Settings,
    ) -> Self {
        let mut correlations = vec![0.0; model.weights().len()];
        for (row, y) in model.design().zip(responses) {
            correlations
                .iter_mut()
                .zip(row)
                .for_each(|(c, v)| *c += v * y);
        }
        Fan {
            model,
            responses,
            correlations,
            square: responses.iter().map(|y| y * y).sum(),
            draws,
            seed,
            solver,
        }
    }

    /// ‖y − Φw‖².
    fn residual_square(&self, w: &[f64]) -> f64 {
        let fitted = quadratic(self.model.gram(), w) - 2.0 * dot(&self.correlations, w);
        (fitted + self.square).max(0.0)
    }

    /// ‖y − Φw‖ + λ‖w‖.
    pub(crate) fn loss(&self, w: &[f64]) -> f64 {
        self.residual_square(w).sqrt() + self.model.ridge() * dot(w, w).sqrt()
    }

    /// Draw number `index`: the same ζ for every way of the same law; projected where the way says so (M13).
    fn draw(&self, way: Way, mean: &[f64], noise: &Noise<'_>, index: u64) -> Result<Vec<f64>> {
        let mut zeta = vec![0.0; mean.len()];
        Sampler::new(self.seed, STREAM + index).fill(noise.law, &mut zeta);
        let moved = noise.shape.apply(&zeta);
        let w: Vec<f64> = mean.iter().zip(&moved).map(|(m, z)| m + z).collect();
        match way {
            // A valid draw is its own projection.
            Way::ProjectedOutput if !self.is_valid(&w, noise) => self.projected(&w, noise.metric),
            _ => Ok(w),
        }
    }

    /// Whether weights keep every condition, up to rounding.
    fn is_valid(&self, w: &[f64], noise: &Noise<'_>) -> bool {
        self.model.least_condition(w) >= -SLIP * noise.law.std_dev() * self.reach(noise)
    }

    /// The largest ‖T'a‖ over the conditions.
    fn reach(&self, noise: &Noise<'_>) -> f64 {
        let k = noise.shape.noises();
        let rows = self.model.condition_rows();
        rows.map(|a| {
            let columns = (0..k).map(|j| {
                let sum: f64 = (0..k).map(|i| a[i] * noise.shape.row(i)[j]).sum();
                sum * sum
            });
            columns.sum::<f64>().sqrt()
        })
        .fold(0.0, f64::max)
    }

    /// All draws around these weights.
    pub(crate) fn judge(&self, way: Way, mean: &[f64], noise: &Noise<'_>) -> Result<Judged> {
        let (mut loss, mut square, mut broken) = (0.0, 0.0, 0u64);
        for index in 0..self.draws {
            let w = self.draw(way, mean, noise, index)?;
            loss += self.loss(&w);
            square += self.residual_square(&w);
            broken += u64::from(!self.is_valid(&w, noise));
        }
        let draws = self.draws.max(1) as f64;
        let square = match way {
            Way::ProjectedOutput => square / draws,
            _ => self.expected_square(mean, noise),
        };
        Ok(Judged {
            loss: loss / draws,
            root_mean_square: square.sqrt(),
            infeasible_percent: 100.0 * broken as f64 / draws,
        })
    }

    /// M3: E‖y − Φ(w̄ + Tζ)‖² = ‖y − Φw̄‖² + σ²·tr(T'GT).
    fn expected_square(&self, mean: &[f64], noise: &Noise<'_>) -> f64 {
        let k = noise.shape.noises();
        let column = |j: usize| -> Vec<f64> { (0..k).map(|i| noise.shape.row(i)[j]).collect() };
        let spread: f64 = (0..k)
            .map(|j| quadratic(self.model.gram(), &column(j)))
            .sum();
        self.residual_square(mean) + noise.law.variance() * spread
    }

    /// The nearest weights that keep the conditions.
    fn projected(&self, w: &[f64], metric: Metric) -> Result<Vec<f64>> {
        let n = w.len();
        let entry = |i: usize, j: usize| match metric {
            Metric::Curvature => {
                self.model.gram()[i][j] + if i == j { self.model.ridge() } else { 0.0 }
            }
            Metric::Euclidean => f64::from(u8::from(i == j)),
        };
        let p: Vec<(usize, usize, f64)> = (0..n)
            .flat_map(|i| (i..n).map(move |j| (i, j)))
            .map(|(i, j)| (i, j, entry(i, j)))
            .collect();
        // min ½(x − w)'P(x − w): linear part −Pw.
        let q = (0..n)
            .map(|i| -(0..n).map(|j| entry(i, j) * w[j]).sum::<f64>())
            .collect();
        let rows = self.model.condition_rows();
        let count = rows.len();
        let a: Vec<(usize, usize, f64)> = rows
            .enumerate()
            .flat_map(|(i, row)| row.iter().enumerate().map(move |(j, v)| (i, j, -v)))
            .collect();
        let program = Program::new(
            Sparse::from_triplets(n, n, &p)?,
            q,
            Sparse::from_triplets(count, n, &a)?,
            vec![0.0; count],
            vec![NewVariables {
                name: "weights".into(),
                len: n,
                stage: Stage::Decision,
                entries: Vec::new(),
            }],
            vec![NewConstraint {
                name: "conditions".into(),
                cone: Cone::Nonnegative(count),
                holds: Holds::WithNoise,
                rows: Vec::new(),
            }],
        )?;
        let mut x = solve_checked(&program, self.solver)?.x;
        if x.len() < n {
            return Err(Error::Numerical("a projection has no weights".into()));
        }
        x.truncate(n);
        Ok(x)
    }

    /// The first draws around these weights as curves between two ends, for a figure; `plain` are the weights without noise.
    pub(crate) fn curves(
        &self,
        title: String,
        way: Way,
        mean: &[f64],
        plain: &[f64],
        noise: &Noise<'_>,
        ends: (f64, f64),
    ) -> Result<CurveFan> {
        let points = |w: &[f64]| -> Vec<(f64, f64)> {
            let at = |i: usize| ends.0 + (ends.1 - ends.0) * i as f64 / (POINTS - 1) as f64;
            let x = (0..POINTS).map(at);
            x.map(|x| (x, self.model.fitted(w, &[x]))).collect()
        };
        let curve = |index: u64| {
            let w = self.draw(way, mean, noise, index)?;
            Ok((points(&w), self.is_valid(&w, noise)))
        };
        let curves = (0..CURVES.min(self.draws)).map(curve);
        Ok(CurveFan {
            title,
            curves: curves.collect::<Result<_>>()?,
            mean: points(mean),
            baseline: points(plain),
        })
    }
}

/// Noisy curves of one way, each with whether it keeps the conditions; the mean model that they are around, and the model
/// without noise.
#[derive(Clone, Debug)]
pub struct CurveFan {
    pub(crate) title: String,
    curves: Vec<(Vec<(f64, f64)>, bool)>,
    mean: Vec<(f64, f64)>,
    baseline: Vec<(f64, f64)>,
}

impl CurveFan {
    /// Valid curves below, broken ones over them, the mean model and the model without noise over all.
    pub(crate) fn drawn_in(&self, mut panel: Panel) -> Panel {
        for (is_valid, colour, label) in [
            (true, Colour::Green, "keeps the conditions"),
            (false, Colour::Vermilion, "breaks a condition"),
        ] {
            for (points, _) in self.curves.iter().filter(|c| c.1 == is_valid) {
                panel = panel.with(Series::line(colour, points.clone()).label(label));
            }
        }
        let mean = Series::line(Colour::Blue, self.mean.clone());
        self.baseline_in(panel.with(mean.label("mean model")))
    }

    /// The model without noise alone.
    pub(crate) fn baseline_in(&self, panel: Panel) -> Panel {
        let baseline = Series::dashed(Colour::Grey, self.baseline.clone());
        panel.with(baseline.label("without noise"))
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn quadratic(matrix: &[Vec<f64>], w: &[f64]) -> f64 {
    matrix.iter().zip(w).map(|(row, v)| v * dot(row, w)).sum()
}
