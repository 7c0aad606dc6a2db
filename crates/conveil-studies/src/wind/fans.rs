//! Noisy curves of one turbine for the figure.

use conveil::Result;
use conveil::ask::{Adjacency, Ask, Privacy};
use conveil::plan::{Plan, Shape};

use super::cell::{Cell, RANGE};
use crate::regression::{Curve, CurveFan, Fan, Metric, Noise, Way};

/// Curves of a fan, and points of a curve.
const CURVES: u64 = 40;
const POINTS: usize = 31;

impl Cell<'_> {
    /// The fans of the figure, at the largest variation.
    pub(super) fn fans(&self) -> Result<Vec<CurveFan>> {
        let largest = self.settings.variations_percent.iter();
        let Some(percent) = largest.copied().max_by(f64::total_cmp) else {
            return Ok(Vec::new());
        };
        let (map, universe, theta) = self.universe(percent)?;
        let privacy = Privacy::laplace(self.settings.epsilon);
        let ask = Ask::new(self.model.query())
            .adjacency(Adjacency::Universe)
            .privacy(privacy);
        let sensitivity = self.sensitivity(&*map, universe, &privacy)?;
        let task = self.task(&*map, &theta, ask, sensitivity);
        let law = *task.plan(Way::Exact)?.law();
        let shape = Shape::new(None, self.model.weights().len())?;
        let noise = Noise {
            law: &law,
            shape: &shape,
        };
        let fan = self.fan();
        let plain = task.mean(Way::Output, &law)?.weights;
        let mut fans = Vec::new();
        for way in [
            Way::Output,
            Way::ProjectedOutput,
            Way::TwoVertices,
            Way::Exact,
        ] {
            let mean = task.mean(way, &law)?.weights;
            let title = format!("{}, ±{percent}%", way.name());
            fans.push(self.curves(title, way, &fan, &mean, &noise, &plain)?);
        }
        let ask = self
            .squared
            .ask()
            .adjacency(Adjacency::one_entry(RANGE))
            .privacy(Privacy::gaussian(
                self.settings.epsilon,
                self.settings.delta,
            ))
            .feasible(1.0 - self.settings.eta);
        let plan = Plan::new(&self.squared, ask)?;
        let noise = Noise {
            law: plan.law(),
            shape: plan.released().shape(),
        };
        let answer = plan.released().at(&self.powers)?.answer;
        for (way, mean, title) in [
            (Way::Output, &plain, "certified: output, shaped"),
            (Way::Exact, &answer, "certified: program, shaped"),
        ] {
            fans.push(self.curves(title.into(), way, &fan, mean, &noise, &plain)?);
        }
        Ok(fans)
    }

    fn curves(
        &self,
        title: String,
        way: Way,
        fan: &Fan<'_>,
        mean: &[f64],
        noise: &Noise<'_>,
        plain: &[f64],
    ) -> Result<CurveFan> {
        let (first, last) = (self.speeds[0], self.speeds[self.speeds.len() - 1]);
        let points = |w: &[f64]| -> Vec<(f64, f64)> {
            let at = |i: usize| first + (last - first) * i as f64 / (POINTS - 1) as f64;
            let x = (0..POINTS).map(at);
            x.map(|x| (x, self.model.fitted(w, &[x]))).collect()
        };
        let curves = (0..CURVES.min(self.settings.draws))
            .map(|index| {
                let mut w = fan.draw(mean, noise, index);
                if way == Way::ProjectedOutput && !fan.is_valid(&w, noise) {
                    w = fan.projected(&w, Metric::Curvature, &self.solver)?;
                }
                Ok(Curve {
                    points: points(&w),
                    is_valid: fan.is_valid(&w, noise),
                })
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(CurveFan {
            title,
            curves,
            baseline: points(plain),
        })
    }
}
