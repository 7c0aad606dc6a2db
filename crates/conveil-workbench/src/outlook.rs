//! What to expect of a release, found on public data before anything is charged: how far the answer would be off, and whether
//! a trivial answer or another strategy would be better. All of it public: settings chosen by it are covered.

use std::fmt;

use conveil::ask::Strategy;
use conveil::curator::{self, About};
use conveil::plan::Plan;
use conveil_models::digits;
use conveil_models::model::Compared;
use conveil_models::outlook::{Alternative, ByStrategy, Outlook as Measured, by_strategy};
use serde::Serialize;

use crate::data::{Opened, in_own_words};
use crate::effort::{self, SMALL};
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
    /// The same for a head: the first number alone.
    #[serde(skip)]
    pub in_short: String,
    /// What is poor about it; empty where the settings serve.
    pub poor: Vec<String>,
}

/// Draws of the noise behind it, and their seed: public numbers.
pub(crate) const DRAWS: usize = 200;
const SEED: u64 = 1;

/// An error below this share of what is fitted or paid is nothing to complain of.
const NEGLIGIBLE: f64 = 1e-3;

/// What public data tell of a release, or why they tell nothing.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Prospect {
    /// They were tried.
    Found(Box<Outlook>),
    /// They were not, or have no answer.
    None {
        /// Why.
        none: String,
        /// Whether that is a reason to worry: public data that were stated have no answer.
        #[serde(skip)]
        is_odd: bool,
    },
}

impl Prospect {
    fn none(why: impl Into<String>) -> Self {
        Prospect::None {
            none: why.into(),
            is_odd: false,
        }
    }

    /// Whether public data that were stated have no answer.
    pub fn is_odd(&self) -> bool {
        matches!(self, Prospect::None { is_odd: true, .. })
    }

    /// What is poor, in public words.
    pub fn poor(&self) -> Vec<String> {
        match self {
            Prospect::Found(outlook) => outlook.poor.clone(),
            Prospect::None { none, is_odd: true } => vec![none.clone()],
            Prospect::None { .. } => Vec::new(),
        }
    }
}

impl fmt::Display for Prospect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Prospect::Found(outlook) => outlook.fmt(f),
            Prospect::None { none, .. } => write!(f, "none: {none}"),
        }
    }
}

impl Workbench {
    /// What to expect of a release on the spec's twin, or at its nominal values, or why nothing is known. Nothing private is
    /// read. A twin that is the private file itself is refused.
    ///
    /// # Guarantee
    /// It is a function of the spec and its public files. Test: `the_outlook_is_the_same_whatever_the_private_data`.
    pub fn outlook(&self, observer: &dyn Observer) -> Result<Prospect, Failure> {
        let about = match &self.inputs.spec.private.twin {
            Some(_) => About::Twin,
            None => About::Nominal,
        };
        self.refuse_private_twin()?;
        if !effort::is_small(self.model.map()) {
            return Ok(Prospect::none(format!(
                "more than {SMALL} non-zeros, variables, rows or places of private numbers; `compare --at` tries them",
            )));
        }
        // Planning at the public data is most of it, or reading them.
        let plan = self.plan(&observer.cancel())?;
        let reads_little = self.model.solves_worth().is_some();
        if (effort::is_planned_anew(&plan) || reads_little)
            && let Some(dear) = self.too_dear(&plan)
        {
            return Ok(dear);
        }
        let public = match self.at(about) {
            Ok(public) => public,
            Err(_) if about == About::Nominal => {
                return Ok(Prospect::none(
                    "there are no public data to try: nominal values or a `twin`",
                ));
            }
            Err(failure) => return Ok(self.odd(about, &failure)),
        };
        match public.measured_outlook(observer) {
            Ok(prospect) => Ok(prospect),
            Err(failure) if failure.kind() == Kind::Interrupted => Err(failure),
            Err(failure) => Ok(self.odd(about, &failure)),
        }
    }

    /// Why strategies are not compared unasked, where that would be too much.
    fn too_dear(&self, plan: &Plan<'_>) -> Option<Prospect> {
        let solves = effort::dear_solves(plan, self.model.solves_worth())?;
        Some(Prospect::none(format!(
            "the strategies side by side would take about {solves} solves of a program of this size, more than is done unasked; `compare --at` tries them"
        )))
    }

    /// Public data that have no answer.
    fn odd(&self, about: About, failure: &Failure) -> Prospect {
        let said = failure.to_string();
        let first = said.lines().next().unwrap_or_default();
        let name = format!("{}: ", self.name());
        let why = first.strip_prefix(&name).unwrap_or(first);
        Prospect::None {
            none: format!("there is no answer on {} {why}", with_colon(data(about))),
            is_odd: true,
        }
    }

    /// The strategies of a workbench on public data, by one measure.
    fn measured_outlook(&self, observer: &dyn Observer) -> Result<Prospect, Failure> {
        let Opened { datasets, theta } = Opened::new(self, None, &Silent)?;
        // Its stages and its progress are not the caller's.
        let cancel = observer.cancel();
        let plan = self.plan(&cancel)?;
        let found = |outlook| Prospect::Found(Box::new(outlook));
        let case = Compared {
            plan: &plan,
            theta: &theta,
            draws: DRAWS,
            seed: SEED,
            about: self.about,
        };
        let own = in_own_words(&*datasets, plan.guarantee().strategy());
        if let Some(measured) = own.and_then(|datasets| datasets.outlook(&case)) {
            return Ok(found(Outlook::new(self.about, measured?)));
        }
        if let Some(dear) = self.too_dear(&plan) {
            return Ok(dear);
        }
        let nothing =
            || Prospect::none("no decision goes with the answer, and nothing measures it");
        let batch = batch(&cancel, self.inputs.spec.solver.threads);
        // What is said of a cost is exact: draws would add nothing.
        let draws = match plan.released().query().value_factor() {
            Some(_) => 1,
            None => DRAWS as u64,
        };
        let compared = curator::compare(&plan, &theta, draws, SEED, &batch);
        let mut compared = compared.map_err(|e| self.engine_on(&*datasets, &theta, &e))?;
        let rows = by_strategy(&compared, plan.guarantee().strategy());
        if plan.released().query().value_factor().is_some() {
            // In the engine's terms, as the optimum still is.
            let nominal = self.nominal_cost(&plan, observer);
            let apart = nominal.map(|nominal| (compared.optimum - nominal).abs());
            if let Some(restating) = Restating::of(self) {
                restating.comparison(&mut compared);
            }
            let corrected = compared.correction_distance.is_some();
            let of = |rows| self.of_a_cost(&plan, rows, compared.optimum, apart, corrected);
            return Ok(rows.and_then(of).map_or_else(nothing, found));
        }
        let outlook = rows.map(|rows| {
            let share = |loss: f64| loss / compared.optimum.abs().max(f64::MIN_POSITIVE);
            let chosen = share(rows.chosen);
            let others = rows.others.into_iter().map(|other| Alternative {
                error: share(other.error),
                ..other
            });
            let expect = format!(
                "on {} the expected loss is about {}% of the optimum",
                data(self.about),
                digits(100.0 * chosen)
            );
            let measured = Measured {
                measure: "the expected loss as a share of the optimum".into(),
                chosen,
                without_noise: None,
                others: others.collect(),
                trivial: None,
            };
            let in_short = format!(
                "about {}% of the optimum on {}",
                digits(100.0 * chosen),
                in_a_word(self.about)
            );
            Outlook::new(self.about, measured).expecting(expect, in_short)
        });
        Ok(outlook.map_or_else(nothing, found))
    }

    /// The optimal cost at the nominal values, where the twin is another dataset.
    fn nominal_cost(&self, plan: &Plan<'_>, observer: &dyn Observer) -> Option<f64> {
        if self.about != About::Twin {
            return None;
        }
        let bench = self.at(About::Nominal).ok()?;
        let theta = Opened::new(&bench, None, &Silent).ok()?.theta;
        let cancel = observer.cancel();
        let batch = batch(&cancel, self.inputs.spec.solver.threads);
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
        from_nominal: Option<f64>,
        corrected: bool,
    ) -> Option<Outlook> {
        let factor = plan.released().query().value_factor()?;
        let noise = plan.law().std_dev() * plan.released().shape().row(0)[0].abs() / factor.abs();
        let loss = rows.exact.unwrap_or(rows.chosen);
        let error = loss.hypot(noise);
        let data = data(self.about);
        let bar = plan.guarantee().uncertainty().bar(0).unwrap_or_default();
        let percent = match optimum.abs() > NEGLIGIBLE * loss.abs() {
            true => format!(
                " ({}% of the optimum)",
                digits((100.0 * loss / optimum).abs())
            ),
            false => String::new(),
        };
        let is_capped = loss < -NEGLIGIBLE * optimum.abs();
        let worse = match is_capped {
            false => "worse than the optimum",
            true => "better than any decision can be",
        };
        let mut expect = format!(
            "on {data} the released cost is about {} {worse}{percent}, {bar} (95%)",
            digits(loss.abs())
        );
        // Plain noise promises less of the same number: worth a word, and no warning.
        let mut others = Vec::new();
        if plan.guarantee().strategy() == Strategy::Program && !is_capped {
            let name = "strategy = \"output\"";
            expect += &format!(
                "; where no decision has to have this cost, {name} is off by about {}",
                digits(noise)
            );
            others.push(Alternative::new(name, noise).worth(f64::INFINITY));
        }
        let measured = Measured {
            measure: "the error of the released cost".into(),
            chosen: error,
            without_noise: None,
            others,
            trivial: from_nominal.map(|apart| {
                Alternative::new("the cost at the nominal values, which is public", apart)
            }),
        };
        let in_short = format!(
            "about {} {worse}{} on {}",
            digits(loss.abs()),
            percent.replace("% of the optimum", "%"),
            in_a_word(self.about)
        );
        let mut outlook = Outlook::new(self.about, measured).expecting(expect, in_short);
        if corrected || is_capped {
            outlook.poor.push(format!(
                "on {data} the price is below what the data, or the room for the noise, cost: the price caps the released cost, and the decision is made for other data; a price is for one unit of a private number, and should be above what one more unit can cost"
            ));
        }
        if error >= optimum.abs() {
            outlook.poor.push(format!(
                "on {data} the error of the released cost would be {}, and the cost itself is {}: the release would tell next to nothing",
                digits(error),
                digits(optimum.abs())
            ));
        }
        Some(outlook)
    }

    /// Refuses what would be poor, and what nothing public can judge, where the caller wants no such release.
    pub fn refuse_poor(&self, prospect: &Prospect) -> Result<(), Failure> {
        let why = match (prospect, prospect.poor().first()) {
            (_, Some(poor)) => poor.clone(),
            (Prospect::None { none, .. }, None) => {
                format!("nothing public tells how good it is: {none}")
            }
            (Prospect::Found(_), None) => return Ok(()),
        };
        let message = format!("{}: refused by --strict: {why}", self.name());
        let failure = Failure::new(Kind::NotWithThisNoise, message);
        Err(failure.with_help(Some(
            "another setting, a larger ε or more data; or leave out --strict; nothing was charged"
                .into(),
        )))
    }
}

/// The same before a reason.
fn with_colon(data: &str) -> String {
    format!("{}:", data.trim_end_matches(','))
}

/// Public data in words, a twin as what it is stated to be.
fn data(about: About) -> &'static str {
    match about {
        About::Twin => "the twin, stated to be public,",
        other => other.data(),
    }
}

/// The same for a head.
fn in_a_word(about: About) -> &'static str {
    match about {
        About::Private => "the private data",
        About::Nominal => "the nominal values",
        About::Twin => "the twin",
    }
}

impl Outlook {
    fn new(at: About, measured: Measured) -> Self {
        let mut poor = Vec::new();
        let Measured {
            measure,
            chosen,
            without_noise,
            others,
            trivial,
        } = &measured;
        let data = data(at);
        let without = without_noise.map_or(String::new(), |error| {
            format!(", {} without noise", digits(error))
        });
        if let Some(trivial) = trivial
            && *chosen >= trivial.error
        {
            poor.push(format!(
                "on {data} {measure} would be {}{without}; for {} it is {}, so that the release would be worth less than that",
                digits(*chosen),
                trivial.name,
                digits(trivial.error)
            ));
        }
        let ratio = |other: &Alternative| chosen / (other.error * other.worth);
        let best = others.iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        let scale = trivial.as_ref().map_or(1.0, |trivial| trivial.error);
        if let Some(best) = best
            && ratio(best) > 1.0
            && chosen - best.error > NEGLIGIBLE * scale
        {
            poor.push(format!(
                "on {data} {measure} would be {}; with {} it would be {}, {:.1} times better at equal privacy",
                digits(*chosen),
                best.name,
                digits(best.error),
                chosen / best.error
            ));
        }
        let mut expect = format!("on {data} {measure} is about {}{without}", digits(*chosen));
        if let Some(trivial) = trivial {
            expect += &format!(" ({}: {})", trivial.name, digits(trivial.error));
        }
        let beside = match (without_noise, trivial) {
            (Some(error), _) => format!(" (without noise: {})", digits(*error)),
            (None, Some(trivial)) => format!(" (trivial answer: {})", digits(trivial.error)),
            (None, None) => String::new(),
        };
        let in_short = format!(
            "{measure} is about {} on {}{beside}",
            digits(*chosen),
            in_a_word(at)
        );
        Outlook {
            at,
            expect,
            in_short,
            measured,
            poor,
        }
    }

    /// The same, with what to expect said in other words.
    fn expecting(self, expect: String, in_short: String) -> Self {
        Outlook {
            expect,
            in_short,
            ..self
        }
    }
}

impl fmt::Display for Outlook {
    /// One line: what to expect.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.expect)
    }
}
