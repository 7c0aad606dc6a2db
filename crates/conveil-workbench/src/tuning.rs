//! A spec whose λ is chosen privately: the plans of its grid, what `check` says of them, and what other verbs say. All of it
//! is public.

use std::fmt;

use conveil::ask::Privacy;
use conveil::plan::Plan;
use conveil::program::Setting;
use conveil_models::digits;
use conveil_models::model::Candidates;
use conveil_release::Tuned;
use serde::Serialize;

use crate::ask::ask_of;
use crate::failure::{Failure, Kind};
use crate::observer::{Observer, Stage, batch, staged};
use crate::workbench::Workbench;

/// Mean losses of trained classifiers lie between 0 and about 1, and two of a grid are seldom further apart than this.
const FAR_APART: f64 = 0.5;

/// The plans of a grid, each by itself, and what is released of them.
#[derive(Debug)]
pub(crate) struct Grid {
    /// Each for the noise's part of ε alone.
    each: Vec<Plan<'static>>,
    pub(crate) tuned: Tuned<'static>,
    share: f64,
    clip: f64,
}

/// What `check` says of a private choice of λ.
#[derive(Debug, Clone, Serialize)]
pub struct Tuning {
    /// The grid, from the smallest λ to the largest.
    pub grid: Vec<Candidate>,
    /// What of ε is for the choice.
    pub share: f64,
    /// ε of the choice.
    pub choice_epsilon: f64,
    /// ε of the noise.
    pub noise_epsilon: f64,
    /// The law of the noise.
    pub noise: &'static str,
    /// A record's loss counts at most this much.
    pub clip: f64,
    /// How far one record can move a mean loss.
    pub sensitivity: f64,
    /// How far apart two mean losses must be, so that of these two the better λ is chosen nine times as often.
    pub tells_apart: f64,
    /// What is poor about the choice, where it is next to random.
    pub poor: Option<String>,
}

/// One λ of a grid.
#[derive(Debug, Clone, Serialize)]
pub struct Candidate {
    /// λ.
    pub lambda: f64,
    /// The scale of the noise, if it is chosen.
    pub scale: f64,
    /// The largest error bar of a weight, if it is chosen.
    pub error_bar: f64,
}

impl Workbench {
    /// The plans of the grid, where the spec has `tune`.
    pub(crate) fn grid(&self, observer: &dyn Observer) -> Result<Option<Grid>, Failure> {
        let Some(candidates) = self.model.candidates() else {
            return Ok(None);
        };
        self.refuse_series_of_choices(candidates)?;
        staged(observer, Stage::Plan, || {
            let spec = &self.inputs.spec;
            let ask = ask_of(spec, &*self.model, &observer.cancel())?.privacy(candidates.noise);
            let batch = batch(observer, spec.solver.threads);
            let mut each = Vec::with_capacity(candidates.maps.len());
            for (map, lambda) in candidates.maps.iter().zip(&candidates.lambdas) {
                let plan = Plan::shared(map.clone(), ask.clone(), &batch);
                each.push(plan.map_err(|error| {
                    let help = (!matches!(error, conveil::Error::Cancelled)).then(|| {
                        format!("this is λ = {lambda} of `tune`: leave it out of the grid")
                    });
                    self.engine(&error).with_help(help)
                })?);
            }
            let refs: Vec<&Plan<'static>> = each.iter().collect();
            let tuned = Tuned::new(&refs, candidates.choice, candidates.clip)
                .map_err(|error| Failure::release(self.name(), &error))?;
            Ok(Some(Grid {
                each,
                tuned,
                share: candidates.share.value,
                clip: candidates.clip,
            }))
        })
    }

    /// Refuses what is about one λ where the spec has a grid.
    pub(crate) fn refuse_grid(&self, what: &str) -> Result<(), Failure> {
        refuse_grid(self.model.candidates(), self.name(), what)
    }

    /// A ledger that was stated apart from the spec may declare a series.
    fn refuse_series_of_choices(&self, candidates: &Candidates) -> Result<(), Failure> {
        let Some(ledger) = &self.inputs.spec.ledger else {
            return Ok(());
        };
        let Some(series) = &ledger.series else {
            return Ok(());
        };
        let message = format!(
            "`series` does not go with `tune`: a private choice among {} λ is charged with its one release",
            candidates.lambdas.len()
        );
        let error = series.error(&ledger.source, message);
        Err(error.with_help("leave out `series`").into())
    }
}

/// Refuses what is about one λ where there is a grid.
pub(crate) fn refuse_grid(
    candidates: Option<&Candidates>,
    name: &str,
    what: &str,
) -> Result<(), Failure> {
    let Some(candidates) = candidates else {
        return Ok(());
    };
    let message = format!("{what} is for one λ, and `tune` has a grid of them");
    let error = candidates.share.error(name, message);
    let first = candidates.lambdas.first().copied().unwrap_or(0.01);
    let help =
        format!("state `lambda` to explore one of the grid: lambda = {first} in place of `tune`");
    Err(error.with_help(help).into())
}

impl Grid {
    /// What is claimed of a release, whichever λ is chosen: that of the smallest one, whose noise is the largest.
    pub(crate) fn undecided(&self) -> Result<Plan<'static>, conveil::Error> {
        let tuning = self.tuning();
        let Some(smallest) = self.each.first() else {
            return Err(conveil::Error::Input("the grid has no λ".into()));
        };
        let lambda = tuning.grid.first().map_or(0.0, |first| first.lambda);
        let text = format!(
            "λ, privately and at the release, as said under tuning; noise and error bars here are those of λ = {lambda}, whose noise is the largest"
        );
        let chosen = Setting {
            name: "lambda".into(),
            value: lambda,
            text,
        };
        smallest.clone().after_choice(tuning.choice_epsilon, chosen)
    }

    /// What is public about the choice.
    pub(crate) fn tuning(&self) -> Tuning {
        let (scores, selection) = (self.tuned.scores(), self.tuned.selection());
        let grid = self
            .each
            .iter()
            .zip(scores.lambdas())
            .map(|(plan, lambda)| {
                let widths = plan.guarantee().uncertainty().half_widths.iter();
                Candidate {
                    lambda: *lambda,
                    scale: plan.guarantee().scale(),
                    error_bar: widths.fold(0.0f64, |most, width| most.max(*width)),
                }
            });
        let noise: Option<&Privacy> = self.each.first().map(|plan| plan.guarantee().privacy());
        let tells_apart = selection.tells_apart();
        let poor = (tells_apart > FAR_APART).then(|| {
            format!(
                "the choice of λ is next to random: of two λ the better one is chosen nine times as often only where their mean losses are {} apart; they seldom differ by {FAR_APART}; a larger `share`, larger λ or more records would help, or a fixed `lambda` with all of ε",
                digits(tells_apart)
            )
        });
        Tuning {
            grid: grid.collect(),
            share: self.share,
            choice_epsilon: selection.epsilon(),
            noise_epsilon: noise.map_or(0.0, Privacy::epsilon),
            noise: noise.map_or("no", Privacy::mechanism),
            clip: self.clip,
            sensitivity: selection.sensitivity(),
            tells_apart,
            poor,
        }
    }

    /// Refuses a choice that is next to random, where the caller wants no such release.
    pub(crate) fn refuse_poor(&self, name: &str) -> Result<(), Failure> {
        let Some(poor) = self.tuning().poor else {
            return Ok(());
        };
        let message = format!("{name}: refused by --strict: {poor}");
        let failure = Failure::new(Kind::NotWithThisNoise, message);
        Err(failure.with_help(Some("leave out --strict; nothing was charged".into())))
    }
}

impl fmt::Display for Tuning {
    /// One line: what would be done.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let grid: Vec<String> = self.grid.iter().map(|c| c.lambda.to_string()).collect();
        write!(
            f,
            "among {}, by permute-and-flip with ε = {}, a share of {} of the whole; the weights have {} noise with ε = {}; each score is a mean loss, clipped at {}",
            grid.join(", "),
            self.choice_epsilon,
            self.share,
            self.noise,
            self.noise_epsilon,
            self.clip
        )
    }
}
