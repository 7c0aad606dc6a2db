//! What to expect of a release, found on public data before anything is charged: how far the answer would be off, and whether
//! a trivial answer or another strategy would be better. All of it public: settings chosen by it are covered.

use std::fmt;

use conveil::curator::{self, About};
use conveil::plan::Plan;
use conveil_models::digits;
use conveil_models::model::Compared;
use conveil_models::outlook::{Alternative, ByStrategy, Outlook as Measured, by_strategy};
use serde::Serialize;

use crate::data::Opened;
use crate::failure::{Failure, Kind};
use crate::objective::Restating;
use crate::observer::{Observer, Silent, batch};
use crate::workbench::Workbench;

/// How far a release would be off on public data. Public.
#[derive(Debug, Clone, Serialize)]
pub struct Outlook {
    /// Which public data it was found on.
    pub at: About,
    #[serde(flatten)]
    measured: Measured,
    /// What to expect, in one line.
    pub expect: String,
    /// What is poor about it; empty where the settings serve.
    pub poor: Vec<String>,
}

/// Non-zeros, variables, rows and private numbers up to which the public data are tried unasked: a rule on public sizes,
/// so that what is said never hangs on how fast a machine is.
const CHEAP: usize = 20_000;

/// Draws of the noise behind it, and their seed: public numbers.
const DRAWS: usize = 200;
const SEED: u64 = 1;

/// Another setting is worth a word where the error is so many times smaller.
const BETTER: f64 = 1.2;

/// An error below this share of what is fitted or paid is nothing to complain of.
const NEGLIGIBLE: f64 = 1e-3;

impl Workbench {
    /// What to expect of a release on the spec's public twin, or at its nominal values; none where there are no public data,
    /// where the program is too large to try unasked, or where the public data have no answer. Nothing private is read.
    ///
    /// # Guarantee
    /// It is a function of the spec and its public files. Test: `the_outlook_is_the_same_whatever_the_private_data`.
    pub fn outlook(&self, observer: &dyn Observer) -> Result<Option<Outlook>, Failure> {
        if !self.is_cheap() {
            return Ok(None);
        }
        let about = match &self.inputs.spec.private.twin {
            Some(_) => About::Twin,
            None => About::Nominal,
        };
        let Ok(public) = self.at(about) else {
            return Ok(None);
        };
        match public.measured_outlook(observer) {
            Ok(outlook) => Ok(outlook),
            Err(failure) if failure.kind() == Kind::Interrupted => Err(failure),
            // What fails on public data is said by the verbs that were asked for them.
            Err(_) => Ok(None),
        }
    }

    /// A rule on public sizes.
    fn is_cheap(&self) -> bool {
        let map = self.model.map();
        let program = map.template();
        let places: usize = map.parameters().iter().map(|p| p.locations().len()).sum();
        let sizes = [
            program.a().nnz() + program.p().nnz(),
            program.columns(),
            program.rows(),
            places,
        ];
        sizes.iter().all(|size| *size <= CHEAP)
    }

    /// The strategies of a workbench on public data, by one measure.
    fn measured_outlook(&self, observer: &dyn Observer) -> Result<Option<Outlook>, Failure> {
        let Opened { datasets, theta } = Opened::new(self, None, &Silent)?;
        // Its stages are not the caller's.
        let plan = self.plan(&observer.cancel())?;
        let case = Compared {
            plan: &plan,
            theta: &theta,
            draws: DRAWS,
            seed: SEED,
            about: self.about,
        };
        if let Some(measured) = datasets.outlook(&case) {
            return Ok(Some(Outlook::new(self.about, measured?)));
        }
        let batch = batch(observer, self.inputs.spec.solver.threads);
        let compared = curator::compare(&plan, &theta, DRAWS as u64, SEED, &batch);
        let mut compared = compared.map_err(|e| self.engine_on(&*datasets, &theta, &e))?;
        let rows = by_strategy(&compared, plan.guarantee().strategy());
        if plan.released().query().value_factor().is_some() {
            let nominal = self.nominal_cost(&plan, observer);
            if let Some(restating) = Restating::of(self) {
                restating.comparison(&mut compared);
            }
            return Ok(rows.and_then(|rows| self.of_a_cost(&plan, rows, compared.optimum, nominal)));
        }
        Ok(rows.map(|rows| {
            let share = |loss: f64| loss / compared.optimum.abs().max(f64::MIN_POSITIVE);
            let chosen = share(rows.chosen);
            let others = rows.others.into_iter().map(|other| Alternative {
                error: share(other.error),
                ..other
            });
            let expect = format!(
                "on {} the expected loss is about {}% of the optimum",
                self.about.data(),
                digits(100.0 * chosen)
            );
            let measured = Measured {
                measure: "the expected loss as a share of the optimum".into(),
                chosen,
                others: others.collect(),
                trivial: None,
            };
            Outlook::new(self.about, measured).expecting(expect)
        }))
    }

    /// The optimal cost at the nominal values, where the twin is another dataset.
    fn nominal_cost(&self, plan: &Plan<'_>, observer: &dyn Observer) -> Option<f64> {
        if self.about != About::Twin {
            return None;
        }
        let bench = self.at(About::Nominal).ok()?;
        let theta = Opened::new(&bench, None, &Silent).ok()?.theta;
        let batch = batch(observer, self.inputs.spec.solver.threads);
        let found = curator::compare(plan, &theta, 1, SEED, &batch).ok()?;
        Some(found.optimum)
    }

    /// A released cost: how far it is from the optimum on average. Where there are nominal values beside a twin, the nominal
    /// cost is the trivial answer.
    fn of_a_cost(
        &self,
        plan: &Plan<'_>,
        rows: ByStrategy,
        optimum: f64,
        nominal: Option<f64>,
    ) -> Option<Outlook> {
        let factor = plan.released().query().value_factor()?;
        let noise = plan.law().std_dev() * plan.released().shape().row(0)[0].abs() / factor;
        let loss = rows.exact.unwrap_or(rows.chosen);
        let error = loss.hypot(noise);
        let data = self.about.data();
        let bar = plan.guarantee().uncertainty().bar(0).unwrap_or_default();
        let percent = match optimum.abs() > f64::MIN_POSITIVE {
            true => format!(" ({}% of it)", digits((100.0 * loss / optimum).abs())),
            false => String::new(),
        };
        let expect = format!(
            "on {data} the released cost is about {} worse than the optimum{percent}, {bar} (95%)",
            digits(loss.max(0.0))
        );
        let measured = Measured {
            measure: "the error of the released cost".into(),
            chosen: error,
            // Other strategies promise another thing of the same number, or nothing.
            others: Vec::new(),
            trivial: nominal.map(|nominal| Alternative {
                name: "the cost at the nominal values, which is public".into(),
                error: (optimum - nominal).abs(),
            }),
        };
        let mut outlook = Outlook::new(self.about, measured).expecting(expect);
        if error >= optimum.abs() {
            outlook.poor.push(format!(
                "on {data} the error of the released cost would be {}, and the cost itself is {}: the release would tell next to nothing",
                digits(error),
                digits(optimum.abs())
            ));
        }
        Some(outlook)
    }

    /// Refuses what would be poor, where the caller wants no such release.
    pub fn refuse_poor(&self, outlook: Option<&Outlook>) -> Result<(), Failure> {
        let Some(poor) = outlook.and_then(|outlook| outlook.poor.first()) else {
            return Ok(());
        };
        let message = format!("{}: refused by --strict: {poor}", self.name());
        let failure = Failure::new(Kind::NotWithThisNoise, message);
        Err(failure.with_help(Some(
            "change the setting that it names; or leave out --strict; nothing was charged".into(),
        )))
    }
}

impl Outlook {
    fn new(at: About, measured: Measured) -> Self {
        let mut poor = Vec::new();
        let Measured {
            measure,
            chosen,
            others,
            trivial,
        } = &measured;
        if let Some(trivial) = trivial
            && *chosen >= trivial.error
        {
            poor.push(format!(
                "on {} {measure} would be {}; for {} it is {}, so that the release would be worth less than that",
                at.data(),
                digits(*chosen),
                trivial.name,
                digits(trivial.error)
            ));
        }
        let best = others.iter().min_by(|a, b| a.error.total_cmp(&b.error));
        let scale = trivial.as_ref().map_or(1.0, |trivial| trivial.error);
        if let Some(best) = best
            && *chosen > BETTER * best.error
            && chosen - best.error > NEGLIGIBLE * scale
        {
            poor.push(format!(
                "on {} {measure} would be {}; with {} it would be {}, {:.1} times better at equal privacy",
                at.data(),
                digits(*chosen),
                best.name,
                digits(best.error),
                chosen / best.error
            ));
        }
        let data = at.data();
        let mut expect = format!("on {data} {measure} is about {}", digits(*chosen));
        if let Some(trivial) = trivial {
            expect += &format!(" ({}: {})", trivial.name, digits(trivial.error));
        }
        Outlook {
            at,
            expect,
            measured,
            poor,
        }
    }

    /// The same, with what to expect said in other words.
    fn expecting(self, expect: String) -> Self {
        Outlook { expect, ..self }
    }
}

impl fmt::Display for Outlook {
    /// One line: what to expect.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.expect)
    }
}
