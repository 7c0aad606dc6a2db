//! What one seed comes to, and what all seeds together.

use conveil::plan::Plan;
use conveil::{Error, Result};
use serde::Serialize;

use super::fan::{Fan, Judged, Noise};
use super::way::Way;

/// What one seed came to for one way.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) found: std::result::Result<Found, String>,
    pub(crate) sensitivity: f64,
    pub(crate) non_private_loss: f64,
    pub(crate) audited_epsilon: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) judged: Judged,
    /// How many conditions are active at the weights; not counted in certified mode.
    pub(crate) active: usize,
}

impl Entry {
    /// Certified mode: a way under the noise of this plan. `plain` are the weights without noise.
    pub(crate) fn certified(
        plan: &Plan<'_>,
        way: Way,
        plain: &[f64],
        fan: &Fan<'_>,
    ) -> Result<Self> {
        let mean = match way {
            Way::Output | Way::ProjectedOutput => Ok(plain.to_vec()),
            _ => plan.released().at(fan.responses).map(|d| d.answer),
        };
        let judged = mean.and_then(|mean| fan.judge(way, &mean, &Noise::of(plan)));
        Ok(Entry {
            found: kept(judged.map(|judged| Found { judged, active: 0 }))?,
            sensitivity: plan.guarantee().sensitivity(),
            non_private_loss: fan.loss(plain),
            audited_epsilon: None,
        })
    }
}

/// A seed without an answer stays in the table; an interruption does not.
pub(super) fn kept(found: Result<Found>) -> Result<std::result::Result<Found, String>> {
    match found {
        Ok(found) => Ok(Ok(found)),
        Err(error @ (Error::Cancelled | Error::Input(_))) => Err(error),
        Err(other) => Ok(Err(other.to_string())),
    }
}

/// What a row is about: a way, and the mode and method that its noise is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) way: Way,
    pub(crate) method: Option<&'static str>,
    pub(crate) mode: &'static str,
}

impl Head {
    /// Paper mode.
    pub(crate) fn paper(way: Way) -> Self {
        Head {
            way,
            method: way.method(),
            mode: "paper",
        }
    }

    /// Certified mode, with noise of this shape.
    pub(crate) fn certified(way: Way, shape: &'static str) -> Self {
        Head {
            way,
            method: Some(shape),
            mode: "certified",
        }
    }
}

/// One way over all seeds, as the tables show it.
#[derive(Clone, Debug, Serialize)]
pub struct Fit {
    /// output, projected output, program.
    pub strategy: &'static str,
    /// How the conditions are kept, or how the noise is shaped.
    pub method: Option<&'static str>,
    /// `paper` or `certified`.
    pub mode: &'static str,
    /// ok, or what went wrong in how many seeds.
    pub status: String,
    /// ‖y − Φw‖ + λ‖w‖ of the weights without noise, mean over seeds.
    pub non_private_loss: f64,
    /// The same with noise: means over draws, as a distribution over seeds.
    pub loss: Option<Spread>,
    /// √E‖y − Φw‖², exact by seed.
    pub root_mean_square_loss: Option<Spread>,
    /// The share of draws that break a condition, in percent.
    pub infeasible_percent: Option<Spread>,
}

impl Fit {
    /// Strategy and method in one.
    pub fn name(&self) -> String {
        match self.method {
            None => self.strategy.into(),
            Some(method) => format!("{}, {method}", self.strategy),
        }
    }
}

/// One way over all seeds.
pub(crate) struct Seeds<'a>(pub(crate) Vec<&'a Entry>);

impl Seeds<'_> {
    /// What both tables show.
    pub(crate) fn fit(&self, head: &Head) -> Fit {
        let losses = self.0.iter().map(|e| e.non_private_loss);
        Fit {
            strategy: head.way.strategy(),
            method: head.method,
            mode: head.mode,
            status: self.status(),
            non_private_loss: losses.sum::<f64>() / self.0.len().max(1) as f64,
            loss: self.spread(|_, f| f.judged.loss),
            root_mean_square_loss: self.spread(|_, f| f.judged.root_mean_square),
            infeasible_percent: self.spread(|_, f| f.judged.infeasible_percent),
        }
    }

    /// ok, or what went wrong in how many seeds.
    fn status(&self) -> String {
        let mut failures = self.0.iter().filter_map(|e| e.found.as_ref().err());
        let (first, more, seeds) = (failures.next(), failures.count(), self.0.len());
        match first {
            None => "ok".into(),
            Some(why) => format!("no answer in {} of {seeds} seeds: {why}", 1 + more),
        }
    }

    /// A number of the seeds that have an answer.
    pub(crate) fn spread(&self, value: impl Fn(&Entry, &Found) -> f64) -> Option<Spread> {
        let entries = self.0.iter();
        let found = entries.filter_map(|e| Some(value(e, e.found.as_ref().ok()?)));
        Spread::of(found.collect())
    }
}

/// A number as a distribution over seeds: mean, standard deviation and the ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation; 0 of a single seed.
    pub std: f64,
    /// The least.
    pub min: f64,
    /// The median.
    pub median: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// Of at least one number.
    pub(crate) fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        let middle = values.len() / 2;
        let median = match values.len() % 2 {
            1 => values[middle],
            _ => 0.5 * (values[middle - 1] + values[middle]),
        };
        Some(Spread {
            mean,
            std: (squares / (count - 1.0).max(1.0)).sqrt(),
            min,
            median,
            max,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_without_an_answer_is_counted_and_left_out_and_an_interruption_ends_the_study() {
        let entry = |found: Result<f64>| -> Result<Entry> {
            let judged = |loss: f64| Judged {
                loss,
                root_mean_square: loss,
                infeasible_percent: 0.0,
            };
            let found = found.map(judged).map(|judged| Found { judged, active: 1 });
            Ok(Entry {
                found: kept(found)?,
                sensitivity: 1.0,
                non_private_loss: 2.0,
                audited_epsilon: None,
            })
        };
        let lost = || entry(Err(Error::Numerical("no step".into()))).unwrap();
        let entries = [lost(), entry(Ok(3.0)).unwrap(), lost()];
        let seeds = Seeds(entries.iter().collect());
        let why = "no answer in 2 of 3 seeds: the solver failed: no step";
        let fit = seeds.fit(&Head::paper(Way::Output));
        assert_eq!(fit.status, why);
        assert_eq!(fit.non_private_loss, 2.0);
        let loss = seeds.spread(|_, f| f.judged.loss).unwrap();
        assert_eq!((loss.min, loss.max), (3.0, 3.0));
        assert_eq!(Seeds(vec![&entries[1]]).status(), "ok");
        assert!(matches!(
            entry(Err(Error::Cancelled)),
            Err(Error::Cancelled)
        ));
    }

    #[test]
    fn four_numbers_have_their_moments() {
        let spread = Spread::of(vec![4.0, 1.0, 2.0, 5.0]).unwrap();
        assert_eq!((spread.min, spread.median, spread.max), (1.0, 3.0, 5.0));
        assert_eq!(spread.mean, 3.0);
        assert!((spread.std - (10.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(Spread::of(vec![]), None);
    }
}
