//! The release: check what is public, charge, solve, draw, write (M7, "Order").

use conveil::ask::{Privacy, Strategy};
use conveil::curator::{Clipped, CuratorReport};
use conveil::noise::Sampler;
use conveil::plan::{Decided, Plan};
use conveil_text::Label;
use conveil_text::naming::fault;
use conveil_text::spelling::quoted;
use dashu_int::IBig;

use crate::card::{Account, Card, InSeries, Standing};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::ledger::{self, Charge, Charges, Claim, Part, Receipt};
use crate::noise::{Lattice, Source};
use crate::restated::Restated;

/// Charges a dataset's budget, solves on its private data, draws the noise once and makes the documents.
///
/// # Guarantee
/// The card has the plan's guarantee: privacy on its basis, given that an answer was produced. The budget is charged
/// before the data are touched, and stays charged whatever happens then: a failure is not a free question. Assumes that
/// only the card is published. (M7.) Tests: `failures_stay_charged`,
/// `cards_of_adjacent_datasets_differ_in_the_answer_alone`, `no_mechanism_is_caught_spending_more_than_it_claims`.
pub fn release<C: Charges + ?Sized>(
    plan: &Plan<'_>,
    theta: &[f64],
    charges: &mut C,
    dataset: &str,
) -> Result<Released> {
    let expected = plan.released().map().len();
    if theta.len() != expected {
        return Err(Error::refused(
            &format!("a dataset of {} numbers", theta.len()),
            &format!("the model has {expected} private parameters"),
            "one number for each, in order",
        ));
    }
    charge(plan, charges, dataset)?.release(theta)
}

/// What a charge states beside the plan. By default it is about the whole dataset, and not stated to be planned.
#[derive(Clone, Debug, Default)]
pub struct Stating {
    /// The part of the dataset that the release is about: parts share no private number.
    pub part: Option<Part>,
    /// The release was fixed before any answer about the dataset was seen.
    pub planned: bool,
}

/// The first half of a release: everything public is checked, and the budget is charged. No data are needed yet.
pub fn charge<'p, 'm, C: Charges + ?Sized>(
    plan: &'p Plan<'m>,
    charges: &mut C,
    dataset: &str,
) -> Result<Charged<'p, 'm>> {
    charge_stating(plan, &Stating::default(), charges, dataset)
}

/// The account after releases of this plan, one for each of what is stated, or why the budget of the dataset does not take them
/// together. Nothing is charged.
pub fn rehearse<C: Charges + ?Sized>(
    plan: &Plan<'_>,
    stating: &[Stating],
    charges: &C,
    dataset: &str,
) -> Result<ledger::Account> {
    checked(plan, dataset)?;
    let each: Result<Vec<Charge>> = stating
        .iter()
        .map(|stating| charge_of_stating(plan, stating))
        .collect();
    Ok(charges.rehearse(dataset, &each?)?)
}

/// The same for a series that is charged whole, as [`charge_series`] would.
pub fn rehearse_series<C: Charges + ?Sized>(
    plans: &[&Plan<'_>],
    delta: Option<f64>,
    stating: &Stating,
    charges: &C,
    dataset: &str,
) -> Result<ledger::Account> {
    for plan in plans {
        checked(plan, dataset)?;
    }
    let charge = charge_of_series(plans, delta, stating)?;
    Ok(charges.rehearse(dataset, &[charge])?)
}

/// What a series spends, with what is stated beside its plans.
fn charge_of_series(plans: &[&Plan<'_>], delta: Option<f64>, stating: &Stating) -> Result<Charge> {
    let each: Result<Vec<Charge>> = plans.iter().map(|plan| charge_of(plan)).collect();
    let mut charge = Charge::series(&each?, delta)?;
    if let Some(part) = &stating.part {
        charge = charge.in_part(part.clone())?;
    }
    Ok(match stating.planned {
        true => charge.planned(),
        false => charge,
    })
}

/// What a release spends, with what is stated beside its plan.
pub(crate) fn charge_of_stating(plan: &Plan<'_>, stating: &Stating) -> Result<Charge> {
    let mut charge = charge_of(plan)?;
    if let Some(part) = &stating.part {
        charge = charge.in_part(part.clone())?;
    }
    Ok(match stating.planned {
        true => charge.planned(),
        false => charge,
    })
}

/// [`charge`], with what is stated beside the plan.
pub fn charge_stating<'p, 'm, C: Charges + ?Sized>(
    plan: &'p Plan<'m>,
    stating: &Stating,
    charges: &mut C,
    dataset: &str,
) -> Result<Charged<'p, 'm>> {
    let lattice = checked(plan, dataset)?;
    let charge = charge_of_stating(plan, stating)?;
    let receipt = charges.charge(dataset, &charge)?;
    Ok(Charged {
        plan,
        lattice,
        receipt,
        part: stating.part.as_ref().map(|part| part.name().into()),
        in_series: None,
        report: true,
    })
}

/// A series of releases, declared before the first of them: the budget is charged for all of them at once, and each of
/// what comes back is good for one release, in this order. What is not released stays charged.
///
/// # Guarantee
/// The amounts are those of the plans, fixed here and now: no answer of the series can change them, so that the optimal
/// composition at `delta` may be used (M16). With `{row}` in the name of the part, each release is about a part of its own.
/// Tests: `a_day_of_24_hours_is_charged_whole_and_costs_less`, `an_interrupted_series_stays_charged_whole`.
pub fn charge_series<'p, 'm, C: Charges + ?Sized>(
    plans: &[&'p Plan<'m>],
    delta: Option<f64>,
    stating: &Stating,
    charges: &mut C,
    dataset: &str,
) -> Result<Vec<Charged<'p, 'm>>> {
    let each: Result<Vec<Lattice>> = plans.iter().map(|plan| checked(plan, dataset)).collect();
    let lattices = each?;
    let charge = charge_of_series(plans, delta, stating)?;
    let receipt = charges.charge(dataset, &charge)?;
    let of = plans.len() as u64;
    let rows = (1..=of).zip(plans.iter().zip(lattices));
    let charged = rows.map(|(release, (plan, lattice))| Charged {
        plan,
        lattice,
        receipt: receipt.clone(),
        part: stating
            .part
            .as_ref()
            .map(|part| part.of_row(release).name().into()),
        in_series: Some(InSeries { release, of }),
        report: true,
    });
    Ok(charged.collect())
}

/// The lattice of a plan that may be released.
pub(crate) fn checked(plan: &Plan<'_>, dataset: &str) -> Result<Lattice> {
    if !plan.guarantee().basis().is_private() {
        return Err(Error::refused(
            "a release in paper mode",
            "its noise is calibrated to another map than the released one: it is not private",
            "a certificate, a declared bound or a sampled one on the released map; or a run that says that it is not private",
        ));
    }
    // A ledger may be older than the check of its names, and this one goes on the card.
    if let Some(fault) = fault(dataset) {
        return Err(Error::refused(
            &format!("a release from the dataset {}", quoted(dataset)),
            &format!("its name {fault}"),
            "a dataset of the ledger whose name can be read",
        ));
    }
    Lattice::of(plan)
}

/// What a release with this plan spends, and between which datasets.
pub fn charge_of(plan: &Plan<'_>) -> Result<Charge> {
    let guarantee = plan.guarantee();
    let claim = Claim::of(plan)?;
    let charge = match *guarantee.privacy() {
        Privacy::Laplace { epsilon } => Charge::laplace(epsilon, &claim),
        Privacy::Gaussian { epsilon, delta, .. } => {
            // ρ = Δ₂²/(2σ²), with the rounding to the lattice in Δ₂; rounded up.
            let numbers = plan.released().shape().noises() as f64;
            let moved = guarantee.sensitivity() + numbers.sqrt() * guarantee.step();
            // A pure choice before is ε²/2-zCDP, and ρ's add up.
            let choice = 0.5 * guarantee.choice_epsilon().powi(2);
            let noise = 0.5 * (moved / guarantee.scale()).powi(2);
            let rho = (noise + choice) * (1.0 + 8.0 * f64::EPSILON);
            Charge::gaussian(epsilon, delta, rho, &claim)
        }
        Privacy::TruncatedLaplace { epsilon, delta } => {
            Charge::truncated_laplace(epsilon, delta, &claim)
        }
    };
    Ok(charge?)
}

/// A charge that was made, good for one release.
///
/// # Guarantee
/// Exists only after the charge; [`Charged::release`] uses it up, so that one charge is one draw; of a series, one draw for
/// each release that was declared.
#[derive(Debug)]
#[must_use = "the budget is spent"]
pub struct Charged<'p, 'm> {
    plan: &'p Plan<'m>,
    lattice: Lattice,
    receipt: Receipt,
    part: Option<String>,
    in_series: Option<InSeries>,
    report: bool,
}

impl Charged<'_, '_> {
    /// The ledger's receipt.
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// Without the curator report, which costs a second solve and a million draws.
    pub fn without_report(self) -> Self {
        Charged {
            report: false,
            ..self
        }
    }

    /// The second half of a release: solve on the private data, draw once, make the documents.
    pub fn release(self, theta: &[f64]) -> Result<Released> {
        let solved = Solved::new(self.plan, self.lattice, theta, self.report)?;
        let standing = Standing::Charged(Account {
            receipt: &self.receipt,
            part: self.part.as_deref(),
            in_series: self.in_series,
        });
        solved.release(self.plan, &mut Source::System, &standing)
    }
}

/// A run that is **not private** and says so on its card: noise from a known seed, for studies that must repeat, or a
/// plan in paper mode. It charges no ledger: what is published of it anyway belongs into the ledger by hand, as a spend
/// made elsewhere.
pub fn not_private(plan: &Plan<'_>, theta: &[f64], seed: Option<u64>) -> Result<Released> {
    let (standing, mut source) = match seed {
        Some(seed) => (
            Standing::Seeded(seed),
            Source::Seeded(Box::new(Sampler::new(seed, 0))),
        ),
        None if plan.guarantee().basis().is_private() => {
            return Err(Error::refused(
                "a run that is not private",
                "this plan is private, and its release belongs into a ledger",
                "a release; or a seed, for a study",
            ));
        }
        None => (Standing::PaperMode, Source::System),
    };
    let solved = Solved::new(plan, Lattice::of(plan)?, theta, true)?;
    solved.release(plan, &mut source, &standing)
}

/// The released map at one dataset, and the lattice cell of its answer. Private.
pub(crate) struct Solved {
    decided: Decided,
    clipped: Vec<Clipped>,
    report: Option<CuratorReport>,
    pub(crate) lattice: Lattice,
    pub(crate) cell: Vec<IBig>,
}

impl Solved {
    pub(crate) fn new(
        plan: &Plan<'_>,
        lattice: Lattice,
        theta: &[f64],
        report: bool,
    ) -> Result<Solved> {
        let decided = plan.released().at(theta)?;
        // Whether there is a card must not hang on the report, which solves more than the released map, nor on an
        // interruption of it: the budget is spent.
        let report = report.then(|| plan.report_on(&decided, theta));
        let report = report.and_then(|report| report.ok());
        let cell = lattice.cell(&decided.answer)?;
        Ok(Solved {
            clipped: plan.clipped(theta)?,
            decided,
            report,
            lattice,
            cell,
        })
    }

    /// The noisy answer: the one road from a solve to a released number, for releases and for their audit.
    pub(crate) fn draw(&self, source: &mut Source) -> Result<Vec<f64>> {
        self.lattice.draw(&self.cell, source)
    }

    pub(crate) fn release(
        self,
        plan: &Plan<'_>,
        source: &mut Source,
        standing: &Standing<'_>,
    ) -> Result<Released> {
        let noisy = self.draw(source)?;
        // Noise on the answer leaves nothing to carry out but the answer.
        let decision = match plan.guarantee().strategy() {
            Strategy::Program => {
                let decision = Decision::new(plan, &self.decided, self.clipped, &noisy)?;
                Some(decision)
            }
            _ => None,
        };
        let published = plan.outcome(&noisy)?;
        Ok(Released {
            decision,
            card: Card::new(plan, (&noisy, &published), standing),
            report: self.report,
            decided: self.decided,
        })
    }
}

/// A release: one public document and two private ones.
#[derive(Clone, Debug)]
pub struct Released {
    card: Card,
    decision: Option<Decision>,
    report: Option<CuratorReport>,
    decided: Decided,
}

impl Released {
    /// The same release with its one number, a cost, said as the modeller's own objective on card and decision.
    #[must_use]
    pub fn restated(self, as_objective: &Restated) -> Released {
        Released {
            card: self.card.restated(as_objective),
            decision: self
                .decision
                .map(|decision| decision.restated(as_objective)),
            ..self
        }
    }

    /// The same release with the label of its row on the card: public from then on.
    #[must_use]
    pub fn labelled(self, label: &Label) -> Released {
        Released {
            card: self.card.labelled(label),
            ..self
        }
    }

    /// The same release, its card stamped with the settings that were moved after the private data were looked at: their
    /// choice is not covered by the guarantee.
    pub fn moved_after_looking(self, settings: &[String]) -> Released {
        Released {
            card: self.card.moved_after_looking(settings),
            ..self
        }
    }

    /// The public card.
    pub fn card(&self) -> &Card {
        &self.card
    }

    /// What carries the released number out: private. None where the noise is on the answer alone.
    pub fn decision(&self) -> Option<&Decision> {
        self.decision.as_ref()
    }

    /// The rule behind the decision: private.
    pub fn decided(&self) -> &Decided {
        &self.decided
    }

    /// The curator's report, unless it was left out or could not be made: private.
    pub fn report(&self) -> Option<&CuratorReport> {
        self.report.as_ref()
    }
}
