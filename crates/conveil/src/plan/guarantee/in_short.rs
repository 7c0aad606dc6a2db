//! The guarantee in a line or two, for the head of a text. No condition of the claim is left out.

use super::Guarantee;
use crate::ask::{Adjacency, Strategy};
use crate::digits::short;
use crate::plan::BasisKind;
use crate::program::Subject;

impl Guarantee {
    /// The claim, whom it is for and what it rests on. `unit` is that of the private numbers, where one is stated.
    ///
    /// # Guarantee
    /// It says no more than [`Guarantee::privacy_text`]: that an answer was produced, that the claim is about a universe,
    /// and the share and confidence of a sampled one are said here too. Test:
    /// `the_short_claim_keeps_every_condition_of_the_long_one`.
    pub fn claim_in_short(&self, unit: Option<&str>) -> String {
        let parameters = match self.privacy.delta() {
            0.0 => format!("ε = {}", self.privacy.epsilon()),
            delta => format!("ε = {}, δ = {delta}", self.privacy.epsilon()),
        };
        let unit = unit.filter(|_| self.adjacency.alpha().is_some());
        let unit = unit.map_or(String::new(), |unit| format!(" (in {unit})"));
        let adjacency = format!("{}{unit}", self.adjacency_text());
        if !self.basis.is_private() {
            return format!("NO privacy (aimed at {parameters} between {adjacency})");
        }
        let whom = match (self.protected_in_short(), &self.subject) {
            (Some(whom), Some(_)) => format!("for {whom}"),
            (Some(whom), None) => format!("for {whom}{unit}"),
            (None, _) => format!("between {adjacency}"),
        };
        let is_named =
            self.adjacency == Adjacency::Universe || self.basis.kind() == BasisKind::Sampled;
        let over = match &self.universe {
            Some(_) if !is_named => ", over the stated universe",
            _ => "",
        };
        let given = match self.is_given_an_answer() {
            false => "",
            true => ", given an answer",
        };
        let notion = self.basis.notion();
        let basis = self.basis_in_short();
        format!("{notion} with {parameters} {whom}{over}{given}; {basis}")
    }

    fn basis_in_short(&self) -> String {
        match self.basis.kind() {
            BasisKind::Certificate => {
                let statement = self.basis.statement();
                let name = statement.split_once(": ").map_or("", |(name, _)| name);
                match name {
                    "" => "proven".into(),
                    name => format!("proven ({name})"),
                }
            }
            BasisKind::Declared => "not proven: the user declares the bound".into(),
            BasisKind::Sampled => {
                let percent = short(100.0 * (1.0 - self.basis.gamma().unwrap_or(1.0)), 9);
                let confidence = short(1.0 - self.basis.beta().unwrap_or(1.0), 9);
                let pairs = match self.universe {
                    None => "such pairs",
                    Some(_) => "pairs in the stated universe",
                };
                format!("sampled: for {percent}% of {pairs}, confidence {confidence}")
            }
            BasisKind::PaperMode => "nothing is claimed".into(),
        }
    }

    /// Whom or what the claim is for; none where the adjacency says it best.
    fn protected_in_short(&self) -> Option<String> {
        if let Some(whom) = &self.protects {
            return Some(whom.clone());
        }
        let Subject {
            entry, record, all, ..
        } = self.subject.as_ref()?;
        Some(match self.adjacency {
            Adjacency::OneEntry { alpha } => format!("{entry}, up to a change of {alpha}"),
            Adjacency::OneRecord { .. } => record.clone(),
            Adjacency::L1 { alpha } => {
                format!("{all}, up to changes of {alpha} in all (ℓ₁ norm)")
            }
            Adjacency::L2 { alpha } => {
                format!("{all}, up to changes of {alpha} together (Euclidean norm)")
            }
            Adjacency::Universe => format!("{all}, anywhere in the stated universe"),
        })
    }

    /// What is not protected, where the model says so and something is claimed.
    pub fn not_protected(&self) -> Option<String> {
        let public = self.subject.as_ref().map(|subject| &subject.public)?;
        (self.basis.is_private()).then(|| format!("{public} are public and not protected"))
    }

    /// The error bars of the released numbers: `± 1499 in 95% of draws`.
    pub fn error_bar_in_short(&self) -> String {
        let percent = 100.0 * self.uncertainty.share;
        let bars = self.bars();
        match (self.labels.len(), self.strategy.noise_is()) {
            // One number alone is moved by its projection no farther than by the noise.
            (1, Some(_)) if self.strategy == Strategy::Projected => {
                format!("± {bars} in {percent}% of draws")
            }
            (_, Some(place)) => format!("± {bars} ({percent}%) {place}"),
            (_, None) => format!("± {bars} in {percent}% of draws"),
        }
    }

    /// The least and the largest error bar, or the one that all have.
    pub(super) fn bars(&self) -> String {
        let widths = self.uncertainty.half_widths.iter();
        let widest = widths.clone().fold(0.0f64, |most, width| most.max(*width));
        let least = widths.fold(f64::INFINITY, |least, width| least.min(*width));
        match least == widest {
            true => short(widest, 4),
            false => format!("{} to {}", short(least, 4), short(widest, 4)),
        }
    }
}
