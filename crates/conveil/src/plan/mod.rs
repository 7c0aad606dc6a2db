//! The Plan: everything a guarantee needs, decided without data; the released map; the curator's side.

mod after;
mod auto;
mod basis;
mod certified;
mod choice;
mod correction;
mod decided;
mod deterministic;
mod guarantee;
mod linear_term;
mod noisy_data;
pub(crate) mod posed;
mod projection;
mod proven;
mod readable;
mod released;
mod shift;
mod skeleton;
mod terms;
mod tighten;
mod uncertainty;
mod warnings;
pub(crate) mod within;

pub use after::Published;
pub use auto::Considered;
pub use basis::{Basis, BasisKind};
pub use choice::Choice;
pub use correction::Correction;
pub use decided::{Decided, Recourse};
pub use deterministic::DeterministicMap;
pub use guarantee::Guarantee;
pub use projection::Projection;
pub use released::ReleasedMap;
pub(crate) use shift::Shift;
pub(crate) use terms::{UnderTerms, under_terms};
pub use uncertainty::{Bias, Uncertainty};

use crate::ask::{Ask, MapKind, Request, Strategy};
use crate::certify;
use crate::error::{Error, Result};
use crate::noise::Law;
use crate::program::{DataMap, Program, Setting};
use crate::solve::{Batch, Cancel};
use after::After;
use linear_term::LinearTerm;
use noisy_data::{NoisyData, Solving};
use skeleton::{Scaled, Skeleton};
use std::sync::Arc;

/// A plan: the rule, the boxes, the η shares, the noise scale, the lattice and the guarantee. It has seen no data.
///
/// # Guarantee
/// [`Plan::guarantee`] is final: releasing [`Plan::published`] of Qx̄(θ) + Tζ with this plan's law has the stated privacy,
/// on the stated basis, and the decision the stated feasibility, provided that the ask was chosen without looking at the
/// data (M1).
#[derive(Clone, Debug)]
pub struct Plan<'m> {
    model: Arc<dyn DataMap + 'm>,
    ask: Ask,
    sensitivity: Request,
    released: ReleasedMap<'m>,
    /// What is made of the noisy answer before it is published.
    after: Option<After<'m>>,
    /// The names of the published numbers.
    labels: Vec<String>,
    guarantee: Guarantee,
    warnings: Vec<String>,
}

impl<'m> Plan<'m> {
    /// Decides everything on public structure, or refuses with the reason.
    pub fn new(map: &'m dyn DataMap, ask: Ask) -> Result<Self> {
        let batch = ask.batch();
        Self::with_batch(map, ask, &batch)
    }

    /// [`Plan::new`] with progress and interruption for sampled sensitivities.
    pub fn with_batch(map: &'m dyn DataMap, ask: Ask, batch: &Batch<'_>) -> Result<Self> {
        Self::shared(Arc::new(map), ask, batch)
    }

    /// The same over a model that the plan shares with its caller: it can outlive the call that made it.
    pub fn shared(map: Arc<dyn DataMap + 'm>, ask: Ask, batch: &Batch<'_>) -> Result<Self> {
        let cancel = ask.settings.cancel().clone();
        let built = Self::build(map, ask, false, batch);
        built.map_err(|error| cancel.or(error))
    }

    /// The same plan, with this flag to stop its solves: a plan that is kept serves one call after another, and several at
    /// once, each with a flag of its own.
    pub fn watching(&self, cancel: &Cancel) -> Self {
        let mut plan = self.clone();
        plan.ask.settings = plan.ask.settings.with_cancel(cancel.clone());
        plan.released = plan.released.watching(cancel);
        plan.after = plan.after.map(|after| after.watching(cancel));
        plan
    }

    /// The same plan as the second half of a release whose first half chose it among others, privately.
    ///
    /// # Guarantee
    /// If the choice was `epsilon`-differentially private between the plan's neighbours, choice and release together have
    /// the ε that the guarantee then states, and its δ: basic composition. Noise and scale are as they were. Refuses what
    /// is not private, and an ε that is not a positive number. Test: `a_tuned_release_states_and_charges_the_whole`.
    pub fn after_choice(mut self, epsilon: f64, chosen: Setting) -> Result<Self> {
        if !(epsilon.is_finite() && epsilon > 0.0 && self.guarantee.basis().is_private()) {
            return Err(Error::refused(
                "a release after a private choice",
                format!("the choice has ε = {epsilon}, and the plan must be private"),
                "a positive ε, and a plan outside paper mode",
            ));
        }
        self.guarantee = self.guarantee.after_choice(epsilon, chosen);
        Ok(self)
    }

    /// [`Plan::paper_mode`] without its audit, for those who look at the noise alone.
    pub(crate) fn paper_mode_unaudited(
        map: &'m dyn DataMap,
        ask: Ask,
        theta: &[f64],
    ) -> Result<Self> {
        let mut ask = ask;
        if (ask.sensitivity.as_ref()).is_some_and(Request::is_certificate) {
            return Err(Error::refused(
                "a certificate in paper mode",
                "paper mode keeps the paper's calibration, which no certificate covers",
                "a plan outside paper mode, or a declared or sampled sensitivity",
            ));
        }
        if let Some(Request::Sampled(sampled)) = &mut ask.sensitivity {
            sampled.universe = sampled.universe.recentred(theta)?;
            sampled.on = MapKind::Deterministic;
        }
        let batch = ask.batch();
        Self::build(Arc::new(map), ask, true, &batch)
    }

    fn build(
        original: Arc<dyn DataMap + 'm>,
        ask: Ask,
        paper: bool,
        batch: &Batch<'_>,
    ) -> Result<Self> {
        refuse_strategy(&ask, paper)?;
        if ask.strategy.is_on_the_data() {
            return Self::on_the_data(original, ask);
        }
        if let Some(Request::Certificate { word, terms }) = &ask.sensitivity
            && *word == certify::AUTO
        {
            return auto::choose(&original, &ask, terms, batch);
        }
        let stated = ask.stated()?;
        let ask = match stated.sensitivity.adds_curvature() && original.template().p().nnz() == 0 {
            true => Ask {
                risk: ask.risk.clone().beside_curvature(),
                ..ask
            },
            false => ask,
        };
        let universe = within::claimed(&*original, &ask, &stated, paper)?;
        let model = within::counted(&original, &stated, universe.as_ref())?;
        let linear_term = match ask.strategy {
            Strategy::LinearTerm => Some(LinearTerm::new(&*original, &ask)?),
            _ => None,
        };
        let skeleton = match &linear_term {
            None => Skeleton::new(&original, model.clone(), &ask, &stated, paper)?,
            Some(term) => {
                let minimiser: Arc<dyn DataMap + 'm> = Arc::new(term.minimiser.clone());
                Skeleton::new(&minimiser, minimiser.clone(), &term.ask, &stated, paper)?
            }
        };
        let (map, query) = (&*original, &skeleton.posed.query);
        let projection = match (ask.strategy, &linear_term) {
            (_, Some(term)) => Some(term.solving.clone()),
            (Strategy::Projected, _) => Some(Projection::required(map, query, &ask.settings)?),
            _ => None,
        };
        let published = projection.as_ref().and_then(Projection::query);
        let labels = published.unwrap_or(query).labels().to_vec();
        readable::check(map, &stated, &labels)?;
        let posed = linear_term.as_ref().map_or(&ask, |term| &term.ask);
        let Scaled {
            released,
            basis,
            sensitivity,
        } = skeleton.scaled(posed, &stated, paper, batch)?;
        let guarantee = Guarantee::new(
            &ask,
            &stated,
            &released,
            published.unwrap_or(released.query()),
            map,
            basis,
            sensitivity,
        );
        let shift = match ask.strategy {
            Strategy::Shifted => {
                let (query, shape) = (released.query(), released.shape());
                Some(Shift::new(&ask, query, shape, released.noise())?)
            }
            _ => None,
        };
        let is_capped = released.plain().is_some()
            || (map.parameters().kinds()).any(|parameter| parameter.bounds().is_some());
        let guarantee = guarantee.over(universe).shifted(shift.as_ref(), is_capped);
        let after = match (projection, shift) {
            (Some(projection), _) => Some(After::Projection(Box::new(projection))),
            (None, Some(shift)) => Some(After::Shift(shift)),
            (None, None) => None,
        };
        let own = released.plain().unwrap_or(&released);
        let mut warnings = warnings::collect(map, own.map(), &stated, own);
        warnings.extend(released.is_strained().then(warnings::strained));
        let bare = skeleton.certificate.as_ref().map(|c| c.bound());
        warnings.extend(bare.and_then(|bare| warnings::solver_share(bare, sensitivity)));
        Ok(Plan {
            model,
            sensitivity: stated.sensitivity,
            ask,
            released,
            after,
            labels,
            guarantee,
            warnings,
        })
    }

    /// Noise on the data themselves, and the program after it. A sensitivity of the answer is of no use here: the one that is
    /// stated stays unused, so that the strategy can be chosen by one line.
    fn on_the_data(original: Arc<dyn DataMap + 'm>, ask: Ask) -> Result<Self> {
        let stated = ask.stated()?;
        let noisy = NoisyData::new(&original, &ask, &stated)?;
        let labels = noisy.solving.query().labels().to_vec();
        readable::check(&*original, &stated, &labels)?;
        let (released, basis, sensitivity) = noisy.scaled(&stated)?;
        let query = noisy.solving.query();
        let guarantee = Guarantee::new(
            &ask,
            &stated,
            &released,
            query,
            &*original,
            basis,
            sensitivity,
        );
        Ok(Plan {
            model: original.clone(),
            sensitivity: stated.sensitivity.clone(),
            guarantee: (guarantee.over(noisy.universe)).tightened(noisy.solving.tightening()),
            warnings: warnings::of_privacy(&*original, &stated),
            after: Some(After::Solving(noisy.solving)),
            ask,
            released,
            labels,
        })
    }

    /// The guarantee.
    pub fn guarantee(&self) -> &Guarantee {
        &self.guarantee
    }

    /// The user's own model, on the data as they count: outside a universe as its nearest member. What is solved may
    /// have a certificate's variables behind the model's own.
    pub fn model(&self) -> &(dyn DataMap + 'm) {
        &*self.model
    }

    /// The same, shared.
    pub fn shared_model(&self) -> Arc<dyn DataMap + 'm> {
        self.model.clone()
    }

    /// The one road to x̄.
    pub fn released(&self) -> &ReleasedMap<'m> {
        &self.released
    }

    /// What is published of a noisy answer Qx̄ + Tζ: the answer itself, or what is made of it. It looks at nothing private.
    pub fn published(&self, noisy: &[f64]) -> Result<Vec<f64>> {
        match self.outcome(noisy)? {
            Published::Answer(answer) => Ok(answer),
            Published::NoAnswer(why) => Err(Error::NotAttainable(why)),
        }
    }

    /// The same, where that there is no answer at noisy data is an outcome like another.
    pub fn outcome(&self, noisy: &[f64]) -> Result<Published> {
        match &self.after {
            None => Ok(Published::Answer(noisy.to_vec())),
            Some(after) => after.published(noisy),
        }
    }

    /// The public room that is added to the noisy value, where one is.
    pub(crate) fn shift(&self) -> Option<&Shift> {
        self.after.as_ref().and_then(After::shift)
    }

    /// The plan of the same ask with another strategy, or why there is none.
    pub(crate) fn with_strategy(&self, strategy: Strategy, batch: &Batch<'_>) -> Result<Self> {
        let mut ask = self.ask.clone();
        ask.strategy = strategy;
        ask.chosen = None;
        Self::shared(self.model.clone(), ask, batch)
    }

    /// The plan of another ask about the same model, or why there is none; an error where it was interrupted.
    pub(crate) fn or_why_not(
        &self,
        mut ask: Ask,
        batch: &Batch<'_>,
    ) -> Result<std::result::Result<Self, String>> {
        ask.chosen = None;
        match Self::shared(self.model.clone(), ask, batch) {
            Ok(plan) => Ok(Ok(plan)),
            Err(Error::Cancelled) => Err(Error::Cancelled),
            Err(Error::Refused { why, .. }) => Ok(Err(why)),
            Err(other) => Ok(Err(other.to_string())),
        }
    }

    /// The program at noisy data, where that is what is solved after the noise.
    pub(crate) fn program_at_noisy(&self, noisy: &[f64]) -> Option<Result<Program>> {
        match &self.after {
            Some(After::Solving(solving)) => Some(solving.program_at(noisy)),
            _ => None,
        }
    }

    /// The decision that a noisy answer stands for, where it is made feasible after the noise.
    pub(crate) fn decision_of(&self, noisy: &[f64]) -> Option<Result<Vec<f64>>> {
        self.after.as_ref()?.decision_of(noisy)
    }

    /// The names of the published numbers.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// A decision of [`ReleasedMap::at`] in the variables and rows of the user's own program at θ. Noise on the linear term
    /// has the program's own optimum as its mean, and is on it before the constraints. Private.
    pub fn in_users_variables(&self, decided: Decided, theta: &[f64]) -> Result<Decided> {
        let solving = match (self.ask.strategy, &self.after) {
            (Strategy::LinearTerm, Some(After::Projection(solving))) => solving,
            (_, Some(After::Solving(solving))) => return solving.without_noise(decided, theta),
            _ => return self.released.in_users_variables(decided, theta),
        };
        let program = self.model.at(theta)?;
        let mean = solving.decision_of(&decided.answer)?;
        let answer = solving.published(&mean);
        Ok(decided.on_columns(
            solving.columns(),
            program,
            mean,
            answer,
            self.law().variance(),
        ))
    }

    /// What a careful reader should know about this plan; public.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Says beside a basis that is no guarantee what an audit found.
    pub(crate) fn with_audit(mut self, found: &str) -> Self {
        self.guarantee.basis_mut().audited(found);
        self
    }

    /// The ask it was made for.
    pub fn ask(&self) -> &Ask {
        &self.ask
    }

    /// How the sensitivity is known.
    pub(crate) fn sensitivity(&self) -> &Request {
        &self.sensitivity
    }

    /// The noise law.
    pub fn law(&self) -> &Law {
        self.released.law()
    }
}

/// What noise on the answer cannot be asked for together with.
fn refuse_strategy(ask: &Ask, paper: bool) -> Result<()> {
    let strategy = ask.strategy;
    if strategy == Strategy::Program {
        return Ok(());
    }
    let what = format!("strategy = {}", strategy.key());
    if paper {
        return Err(Error::refused(
            what + " in paper mode",
            "paper mode is about program perturbation calibrated to another map",
            "a sensitivity on the released map, which is the map without noise here",
        ));
    }
    if let Some(asked) = ask.risk.beyond_expectation() {
        return Err(Error::refused(
            format!("{asked} with {what}"),
            "the program knows nothing of the noise, so nothing but its own objective can be minimised",
            format!("leave out {asked}; or strategy = program"),
        ));
    }
    Ok(())
}
