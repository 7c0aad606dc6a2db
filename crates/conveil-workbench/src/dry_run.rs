//! What a dry run says: what a release would charge, and what the budget has left before and after.

use std::fmt;

use conveil::plan::Plan;
use conveil_release::ledger::{Account, Pair};
use conveil_text::spelling::counted;
use serde::Serialize;

/// What a release would charge. It is made of the plan, the number of rows and the ledger, and of nothing private.
#[derive(Debug, Clone, Serialize)]
pub struct DryRun {
    /// Always false: no private value was used but to read the files.
    pub private: bool,
    /// How many answers would be released.
    pub releases: usize,
    /// The law of the noise.
    pub mechanism: &'static str,
    /// ε of each.
    pub epsilon: f64,
    /// What of it is for a private choice of λ, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice_epsilon: Option<f64>,
    /// δ of each, 0 for pure differential privacy.
    pub delta: f64,
    /// What would be charged to the ledger; none where no ledger keeps count.
    pub charged: Option<WouldCharge>,
}

/// A charge that was not made.
#[derive(Debug, Clone, Serialize)]
pub struct WouldCharge {
    /// The dataset of the ledger.
    pub dataset: String,
    /// Its budget.
    pub budget: String,
    /// Whether all releases are one charge, declared in advance.
    pub whole: bool,
    /// The part of the dataset as the spec states it.
    pub part: Option<String>,
    /// The account as it is.
    pub now: Standing,
    /// The account as it would be.
    pub after: Standing,
}

/// How far a budget is spent.
#[derive(Debug, Clone, Serialize)]
pub struct Standing {
    /// What is spent; none where nothing is, or where it is not bounded.
    pub spent: Option<Pair>,
    /// The same in words.
    pub in_words: String,
    /// The largest pure charge that still fits.
    pub left: f64,
    /// The same for a part that has not spent.
    pub left_in_new_part: Option<f64>,
}

impl Standing {
    pub(crate) fn of(account: &Account) -> Self {
        Standing {
            spent: account.spent.clone(),
            in_words: account.spent_in_words(),
            left: account.fits,
            left_in_new_part: account.fits_in_new_part,
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "{}; left: a pure charge of ε = {}",
            self.in_words, self.left
        )?;
        match self.left_in_new_part {
            Some(part) => write!(f, ", of ε = {part} in a part that has not spent"),
            None => Ok(()),
        }
    }
}

impl DryRun {
    pub(crate) fn new(plan: &Plan<'_>, releases: usize, charged: Option<WouldCharge>) -> Self {
        let privacy = plan.guarantee().privacy();
        DryRun {
            private: false,
            releases,
            mechanism: privacy.mechanism(),
            epsilon: privacy.epsilon(),
            choice_epsilon: Some(plan.guarantee().choice_epsilon()).filter(|choice| *choice > 0.0),
            delta: privacy.delta(),
            charged,
        }
    }
}

impl fmt::Display for DryRun {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "DRY RUN: nothing was charged, solved or written")?;
        let each = match self.releases {
            1 => "",
            _ => ", each",
        };
        let delta = match self.delta > 0.0 {
            true => format!(", δ = {}", self.delta),
            false => String::new(),
        };
        writeln!(
            f,
            "would release: {}{each} with {} noise, ε = {}{delta}",
            counted(self.releases, "answer", "answers"),
            self.mechanism,
            self.epsilon
        )?;
        if let Some(choice) = self.choice_epsilon {
            writeln!(f, "would choose: λ, privately, with ε = {choice} of it")?;
        }
        let Some(charged) = &self.charged else {
            return writeln!(f, "would charge: no ledger, so nothing would keep count");
        };
        let charges = match charged.whole {
            true => "one charge for the whole series".into(),
            false => counted(self.releases, "charge", "charges"),
        };
        let part = charged.part.as_ref();
        let part = part.map_or(String::new(), |part| format!(", about the part `{part}`"));
        writeln!(
            f,
            "would charge: {charges} to dataset {}{part}",
            charged.dataset
        )?;
        writeln!(f, "budget: {}", charged.budget)?;
        writeln!(f, "spent now: {}", charged.now)?;
        writeln!(f, "spent after: {}", charged.after)
    }
}
