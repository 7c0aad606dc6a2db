//! What one seed comes to, and what all seeds together.

use conveil::plan::Plan;
use conveil::{Error, Result};

use super::{Fan, Judged, Noise, Spread, Way};

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
    /// How many conditions hold the weights back; not counted in certified mode.
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

/// One way over all seeds.
pub(crate) struct Seeds<'a>(pub(crate) Vec<&'a Entry>);

impl<'a> Seeds<'a> {
    /// ok, or what went wrong in how many seeds.
    pub(crate) fn status(&self) -> String {
        let mut failures = self.0.iter().filter_map(|e| e.found.as_ref().err());
        let (first, more, seeds) = (failures.next(), failures.count(), self.0.len());
        match first {
            None => "ok".into(),
            Some(why) => format!("no answer in {} of {seeds} seeds: {why}", 1 + more),
        }
    }

    /// The mean over seeds.
    pub(crate) fn non_private_loss(&self) -> f64 {
        let losses = self.0.iter().map(|e| e.non_private_loss);
        losses.sum::<f64>() / self.0.len().max(1) as f64
    }

    /// A number of the seeds that have an answer.
    pub(crate) fn spread(&self, value: impl Fn(&Entry, &Found) -> f64) -> Option<Spread> {
        let found = self
            .0
            .iter()
            .filter_map(|e| Some((e, e.found.as_ref().ok()?)));
        Spread::of(found.map(|(entry, found)| value(entry, found)).collect())
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
        assert_eq!(seeds.status(), why);
        assert_eq!(seeds.non_private_loss(), 2.0);
        let loss = seeds.spread(|_, f| f.judged.loss).unwrap();
        assert_eq!((loss.min, loss.max), (3.0, 3.0));
        assert_eq!(Seeds(vec![&entries[1]]).status(), "ok");
        assert!(matches!(
            entry(Err(Error::Cancelled)),
            Err(Error::Cancelled)
        ));
    }
}
