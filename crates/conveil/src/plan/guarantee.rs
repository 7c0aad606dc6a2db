//! What is guaranteed. The text a user sees is generated from here and nowhere else.

mod in_short;

use super::basis::{Basis, Kind, Solves};
use super::released::Corrects;
use super::{Bias, ReleasedMap, Shift, Uncertainty};
use crate::ask::{Adjacency, Ask, Privacy, ResolvedQuery, Stated, Strategy, Universe};
use crate::chance::Budget;
use crate::digits::short;
use crate::program::{DataMap, Program, Reading, Setting, Stage, Subject, VariableBlock};
use std::fmt;

/// A plan's guarantee: public, final, and built only by the plan.
///
/// # Guarantee
/// Privacy: M7 and M8 with the stated basis. Feasibility: M5 with the η table. Both assume that everything in the ask
/// was fixed without looking at the private data (M1).
#[derive(Clone, Debug)]
pub struct Guarantee {
    strategy: Strategy,
    /// Why a public rule chose the strategy, where one did.
    chosen: Option<String>,
    privacy: Privacy,
    adjacency: Adjacency,
    /// The public set of datasets that the claim is about, where it is not about all.
    universe: Option<Universe>,
    basis: Basis,
    sensitivity: f64,
    scale: f64,
    step: f64,
    budget: Budget,
    labels: Vec<String>,
    /// The noisy numbers that are published beside the answer, where it is made feasible after the noise.
    noisy: Vec<String>,
    /// The blocks that whoever built the model declares to be decisions.
    decisions: Vec<String>,
    /// The slope of an at-most query, in words.
    slope: Option<String>,
    witnesses: Vec<String>,
    /// Blocks that hold at the mean only.
    at_the_mean: Vec<String>,
    /// How the data that the feasibility promise is about may have been corrected.
    correction: Option<Corrects>,
    /// Some data are clipped to public bounds first.
    clipped: bool,
    /// Slacks absorb the noise in closed form.
    has_elastic_losses: bool,
    /// Standard deviation of the noise on each released number, where T ≠ I.
    shaped: Option<Vec<f64>>,
    /// Whom the adjacency protects, where that is stated.
    protects: Option<String>,
    /// What the private numbers are, where the model says so.
    subject: Option<Subject>,
    /// How the released numbers are used, where the model says so.
    reading: Option<Reading>,
    /// What a public rule chose.
    settings: Vec<Setting>,
    /// ε of a private choice that came before, counted in `privacy`.
    choice: f64,
    uncertainty: Uncertainty,
    /// The public room that is added to the noisy value, where one is.
    shift: Option<Shift>,
    /// How noisy data are made stricter before the solve, where they are.
    tightened: Option<String>,
}

impl Guarantee {
    pub(crate) fn new(
        ask: &Ask,
        stated: &Stated,
        released: &ReleasedMap<'_>,
        published: &ResolvedQuery,
        model: &dyn DataMap,
        basis: Basis,
        sensitivity: f64,
    ) -> Self {
        // Noise on the linear term is on a program without constraints, and the model's own is solved after it.
        let template = match ask.strategy {
            Strategy::LinearTerm | Strategy::Input | Strategy::Truncated => model.template(),
            _ => released.map().template(),
        };
        let labels = published.labels();
        let meaning = model.meaning();
        // What elastic losses mean is said separately.
        let losses = released.local_columns();
        let is_a_loss = |v: &VariableBlock| v.range().all(|j| losses.binary_search(&j).is_ok());
        Guarantee {
            uncertainty: Uncertainty::new(ask, released, model),
            shift: None,
            tightened: None,
            protects: ask.protects.clone(),
            subject: meaning.subject,
            settings: meaning.settings,
            choice: 0.0,
            reading: (meaning.reading)
                .map(|reading| match ask.strategy {
                    Strategy::Program
                    | Strategy::Projected
                    | Strategy::LinearTerm
                    | Strategy::Input
                    | Strategy::Truncated => reading,
                    Strategy::Output | Strategy::Shifted => reading.without_promises(),
                })
                .and_then(|reading| reading.released(published.sums(template))),
            strategy: ask.strategy,
            chosen: ask.chosen.clone(),
            privacy: stated.privacy,
            adjacency: stated.adjacency,
            universe: None,
            basis,
            sensitivity,
            scale: released.law().scale(),
            step: released.step(),
            budget: released.design().budget().clone(),
            labels: labels.to_vec(),
            noisy: match ask.strategy.is_solved_after_noise() {
                true => released.query().labels().to_vec(),
                false => Vec::new(),
            },
            decisions: model.template().decisions().map(String::from).collect(),
            slope: (released.query().slope.as_ref()).map(|slope| in_words(slope, template)),
            witnesses: model
                .template()
                .variables()
                .iter()
                .filter(|v| v.stage() == Stage::Witness && !is_a_loss(v))
                .map(|v| v.name().to_string())
                .collect(),
            at_the_mean: template
                .constraints()
                .iter()
                .filter(|c| c.holds() == crate::program::Holds::AtTheMean)
                .map(|c| c.name().to_string())
                .collect(),
            correction: released.corrects(),
            has_elastic_losses: released.has_local_recourse(),
            clipped: (released.map().parameters().iter()).any(|p| p.bounds().is_some()),
            shaped: (!released.shape().is_identity()).then(|| {
                let rows = (0..released.shape().noises()).map(|i| released.shape().row(i));
                rows.map(|row| released.law().std_dev() * crate::program::norm(row))
                    .collect()
            }),
        }
    }

    /// This public room is added to the noisy value.
    pub(super) fn shifted(mut self, shift: Option<&Shift>, clipped_or_capped: bool) -> Self {
        if let Some(shift) = shift {
            self.uncertainty.bias = Some(Bias {
                amount: shift.amount.abs(),
                at_most: clipped_or_capped,
            });
            self.shift = Some(shift.clone());
        }
        self
    }

    /// Noisy data are made stricter in this way before the solve.
    pub(super) fn tightened(mut self, how: Option<String>) -> Self {
        self.tightened = how;
        self
    }

    /// The claim is about this universe: data outside count as its nearest member.
    pub(super) fn over(mut self, universe: Option<Universe>) -> Self {
        self.universe = universe;
        self
    }

    /// The claim is for a private choice by pure ε and this release together, by basic composition.
    pub(super) fn after_choice(mut self, epsilon: f64, chosen: Setting) -> Self {
        self.privacy = self.privacy.with_epsilon(self.privacy.epsilon() + epsilon);
        self.choice += epsilon;
        self.settings.retain(|setting| setting.name != chosen.name);
        self.settings.push(chosen);
        self
    }

    /// What of ε is for a private choice that came before; 0 where there was none.
    pub fn choice_epsilon(&self) -> f64 {
        self.choice
    }

    pub(super) fn basis_mut(&mut self) -> &mut Basis {
        &mut self.basis
    }

    /// What is done with the noise.
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// Why a public rule chose the strategy; none where it was stated.
    pub fn chosen_because(&self) -> Option<&str> {
        self.chosen.as_deref()
    }

    /// The strategy in words, and why it was chosen; none for a stated program perturbation, which needs no word.
    pub fn strategy_text(&self) -> Option<String> {
        let name = self.strategy.name();
        match (&self.chosen, self.strategy) {
            (Some(why), _) => Some(format!("{name}, chosen by the public rule: {why}")),
            (None, Strategy::Program) => None,
            (None, _) => Some(name.into()),
        }
    }

    /// The mechanism and its parameters.
    pub fn privacy(&self) -> &Privacy {
        &self.privacy
    }

    /// Which datasets are indistinguishable.
    pub fn adjacency(&self) -> &Adjacency {
        &self.adjacency
    }

    /// The universe that the claim is about, all of it public: that of a sampled sensitivity, or of adjacency by
    /// universe. None where the claim is about all data, and in paper mode, whose universe lies around the private data.
    pub fn universe(&self) -> Option<&Universe> {
        self.universe.as_ref()
    }

    /// What the claim rests on.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// Whether the released map has a value for every dataset ([`Basis::is_defined_everywhere`]).
    pub fn is_defined_everywhere(&self) -> bool {
        self.basis.is_defined_everywhere()
    }

    /// Δ, before lattice rounding is added.
    pub fn sensitivity(&self) -> f64 {
        self.sensitivity
    }

    /// The noise scale: s for Laplace, σ for Gaussian.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The lattice step h.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// How far the released numbers are from those before the noise, and from the optimum.
    pub fn uncertainty(&self) -> &Uncertainty {
        &self.uncertainty
    }

    /// What ε means for somebody who guesses, in one sentence; none where nothing is claimed.
    pub fn odds_text(&self) -> Option<String> {
        if !self.basis.is_private() {
            return None;
        }
        let factor = short(self.privacy.epsilon().exp(), 3);
        let given = match self.is_given_an_answer() {
            false => "",
            true => ", given an answer",
        };
        let pairs = match self.basis.gamma() {
            None => "two such datasets",
            Some(_) => "most pairs of such datasets",
        };
        // With δ > 0 the odds themselves are bounded but for a probability that is larger than δ.
        Some(match self.privacy.delta() {
            0.0 => format!(
                "this release changes anybody's odds between {pairs} by a factor of at most {factor}{given}"
            ),
            delta => {
                let given = match given {
                    "" => "",
                    _ => "; this holds given an answer",
                };
                format!(
                    "for {pairs} the probabilities of any set of answers differ by a factor of at most {factor}, plus {delta}{given}"
                )
            }
        })
    }

    /// The η table.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Whether the claim holds given that an answer was produced: the map has no value for some data, or no proof of a
    /// solve is in reach for some.
    ///
    /// # Guarantee
    /// The privacy sentence has these words, and a ledger counts the claim for its own neighbours only, exactly where this
    /// is so (M16). Test: `words_on_the_card_and_what_the_ledger_counts_agree`.
    pub fn is_given_an_answer(&self) -> bool {
        let is_always_solved = matches!(
            self.basis.solves,
            Solves::Proven | Solves::NoneBeforeTheNoise
        );
        !(self.basis.defined_everywhere && is_always_solved)
    }

    /// Between which datasets the claim holds, in words.
    pub fn adjacency_text(&self) -> String {
        match (self.adjacency, &self.basis.kind) {
            // What a certificate proves is for all data between the public bounds.
            (Adjacency::Universe, Kind::Certificate { .. }) => {
                "any two datasets within the public bounds".into()
            }
            (adjacency, _) => adjacency.to_string(),
        }
    }

    /// The privacy sentence.
    pub fn privacy_text(&self) -> String {
        let parameters = match self.privacy.delta() {
            0.0 => format!("ε = {}", self.privacy.epsilon()),
            delta => format!("ε = {}, δ = {delta}", self.privacy.epsilon()),
        };
        let adjacency = self.adjacency_text();
        let claim = if self.basis.is_private() {
            let given = match self.is_given_an_answer() {
                false => "",
                true => ", given that an answer was produced",
            };
            let notion = self.basis.notion();
            let shares = match (self.basis.gamma(), self.basis.beta()) {
                (Some(gamma), Some(beta)) => format!(
                    "; for a share {} of such pairs, with confidence {}",
                    short(1.0 - gamma, 9),
                    short(1.0 - beta, 9)
                ),
                _ => String::new(),
            };
            match &self.universe {
                None => format!("{notion} with {parameters} between {adjacency}{given}"),
                Some(universe) => {
                    let given = given.trim_start_matches(", ");
                    let comma = if given.is_empty() { "" } else { ", " };
                    format!(
                        "{notion} with {parameters} between {adjacency}; it holds {given}{comma}over the universe of {}{shares}; data outside it count as its nearest member",
                        universe.members()
                    )
                }
            }
        } else {
            format!("NO privacy guarantee (aimed at {parameters} between {adjacency})")
        };
        format!(
            "{claim}\n  basis: {}: {}",
            self.basis.name(),
            self.basis.statement()
        )
    }

    /// Whom and what the claim protects, and what is not protected; none where neither the asker nor the model says.
    pub fn protection(&self) -> Option<String> {
        let own = self.protection_of_data();
        match (&self.protects, own) {
            (None, own) => own,
            (Some(_), _) if !self.basis.is_private() => Some("nothing".into()),
            (Some(whom), Some(own)) => Some(format!("{whom}; in the data: {own}")),
            (Some(whom), None) => Some(whom.clone()),
        }
    }

    /// What the claim protects in the model's words.
    fn protection_of_data(&self) -> Option<String> {
        let Subject {
            entry,
            record,
            all,
            public,
        } = self.subject.as_ref()?;
        if !self.basis.is_private() {
            return Some("nothing".into());
        }
        let within = match (&self.universe, self.clipped) {
            (Some(_), _) => ", whatever it is within the stated universe",
            (None, true) => ", whatever it is within its public bounds",
            (None, false) => ", whatever it is",
        };
        let what = match self.adjacency {
            Adjacency::OneEntry { alpha } => format!("{entry}, up to a change of {alpha}"),
            Adjacency::OneRecord { .. } => format!("{record}{within}"),
            Adjacency::L1 { alpha } => {
                format!("{all}, up to changes of {alpha} in all (ℓ₁ norm)")
            }
            Adjacency::L2 { alpha } => {
                format!("{all}, up to changes of {alpha} together (Euclidean norm)")
            }
            Adjacency::Universe => format!("{all}, anywhere in the stated universe"),
        };
        let held = match self.basis.kind {
            Kind::Sampled { gamma, .. } => format!(
                "; this holds for a share {} of such pairs, as the basis says",
                short(1.0 - gamma, 9)
            ),
            _ => String::new(),
        };
        Some(format!(
            "{what}{held}; {public} are public and not protected"
        ))
    }

    /// How the released numbers are used, where the model says so. Public.
    pub fn reading(&self) -> Option<&Reading> {
        self.reading.as_ref()
    }

    /// Settings that the asker left to a rule on public numbers.
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// The variables that whoever built the model declares to be decisions: where decisions carry the noise, what is
    /// said about feasibility rests on it (M2).
    pub fn decisions(&self) -> &[String] {
        &self.decisions
    }

    /// [`Guarantee::decisions`] in words.
    pub fn decisions_text(&self) -> String {
        let names: Vec<&str> = self.decisions.iter().map(String::as_str).collect();
        match (names.is_empty(), self.strategy, &self.slope) {
            (true, ..) => "none is declared".into(),
            (false, Strategy::Program, Some(slope)) => format!(
                "{}, as declared by whoever built the model: by the stated slope they carry the noise that the released bound carries; the slope is {slope}",
                crate::program::list_some(&names)
            ),
            (false, Strategy::Program, None) => format!(
                "{}, as declared by whoever built the model: they alone carry the noise of what is released",
                crate::program::list_some(&names)
            ),
            (false, ..) => format!(
                "{}, as declared by whoever built the model",
                crate::program::list_some(&names)
            ),
        }
    }

    /// What a released number will be like, without data.
    fn expectation_text(&self) -> String {
        let what = match (self.labels.len(), self.strategy.noise_is()) {
            (1, Some(_)) if self.strategy == Strategy::Projected => "the number has".into(),
            (_, Some(place)) if self.strategy.is_on_the_data() => {
                format!("{place} each one has")
            }
            (_, Some(place)) => format!("{place} each number has"),
            (1, None) => "the number has".into(),
            (_, None) => "each number has".to_string(),
        };
        let bar = self.bars();
        let percent = 100.0 * self.uncertainty.share;
        let bias =
            (self.uncertainty.bias).map_or(String::new(), |bias| format!("; {}", bias.text("it")));
        format!("{what} an error bar of ± {bar} ({percent}% of draws){bias}")
    }

    /// What the claims take for granted.
    pub fn assumptions(&self) -> String {
        let fixed = "everything that was asked for was fixed without looking at the private data";
        // Whether the arithmetic of a solve suffices is not a theorem.
        match self.basis.solves {
            Solves::Checked | Solves::NoneBeforeTheNoise => fixed.into(),
            Solves::Proven => format!(
                "{fixed}; a solve that cannot be proven makes no answer, and that this happens on no dataset is assumed too"
            ),
            Solves::ProvenWhereBounded => format!(
                "{fixed}; a solve that cannot be proven makes no answer, and it may happen on some datasets only, because some variable has no public bounds"
            ),
        }
    }

    /// The feasibility sentence.
    pub fn feasibility_text(&self) -> String {
        match self.strategy {
            Strategy::Program => self.chance_text(),
            Strategy::Output => {
                let mut text = String::from(match self.has_elastic_losses {
                    true => {
                        "nothing has to be feasible: losses give way, so every answer is admissible"
                    }
                    false => {
                        "none is promised: the noise is on the answer of the program, and there may be no decision that carries it out"
                    }
                });
                text += self.counted_data();
                text += match self.correction {
                    None => "",
                    Some(Corrects::InTheAnswer) => {
                        "; the answer is for data within the envelope's correction, and whether a correction was made is private; it holds the price of one"
                    }
                    Some(Corrects::BesideTheAnswer) => {
                        "; the answer is for corrected data: a correction is made whenever the price of the data differs from the public one, and its size is private"
                    }
                    Some(Corrects::RowsAtAPrice) => {
                        "; rows with private numbers may be exceeded at their price, and whether one is, is private; the answer holds that price"
                    }
                    Some(Corrects::RowsWithAMargin) => {
                        "; rows with private numbers are met with a margin, and may be exceeded at their price; whether one is, is private"
                    }
                };
                text
            }
            Strategy::Shifted => format!(
                "{}{}",
                self.shift.as_ref().map_or(String::new(), Shift::text),
                self.counted_data()
            ),
            Strategy::Input => format!(
                "the answer is that of the program at the noisy data, to the tolerance of the solver; nothing is promised for the data themselves; where the program has no answer at the noisy data, that is the answer{}",
                self.counted_data()
            ),
            Strategy::Truncated => format!(
                "the answer meets all constraints of the data, always, to the tolerance of the solver: the noise is bounded; {}{}",
                self.tightened.as_deref().unwrap_or_default(),
                self.counted_data()
            ),
            Strategy::Projected => format!(
                "the answer meets {}, always, to the tolerance of the solver: it is the noisy answer projected onto them, and they are public",
                self.which_constraints()
            ),
            Strategy::LinearTerm => format!(
                "the answer meets all constraints, always, to the tolerance of the solver: the noise is on the linear cost; the program is solved after it under its constraints, which are public{}",
                self.counted_data()
            ),
        }
    }

    /// Which data a promise of feasibility is about.
    fn counted_data(&self) -> &'static str {
        match (&self.universe, self.clipped) {
            (Some(_), false) => "; data outside the universe count as its nearest member",
            (Some(_), true) => {
                "; data outside the universe or their public bounds count as the nearest inside"
            }
            (None, true) => "; data outside their public bounds count as clipped to them",
            (None, false) => "",
        }
    }

    /// All constraints, or all but those that hold at the mean.
    fn which_constraints(&self) -> String {
        let names: Vec<&str> = self.at_the_mean.iter().map(String::as_str).collect();
        match names.is_empty() {
            true => "all constraints".into(),
            false => format!("all constraints but {}", crate::program::list_some(&names)),
        }
    }

    /// What program perturbation promises.
    fn chance_text(&self) -> String {
        let certified = self.budget.certified();
        let confidence = self.budget.confidence();
        let which = self.which_constraints();
        let mut text = if self.budget.lines().is_empty() {
            format!("no noise reaches a constraint: the decision always meets {which}")
        } else if self.budget.is_for_each_row() {
            format!(
                "the decision meets each row of {which} with probability at least {}, row by row; nothing is promised of all rows together",
                short(1.0 - certified, 9)
            )
        } else {
            format!(
                "the decision meets {which} with probability at least {}",
                short(1.0 - certified, 9)
            )
        };
        if self.has_elastic_losses {
            text += "; losses give way, so every answer is admissible, and this is about how large each loss is planned to be";
        }
        if !self.at_the_mean.is_empty() {
            text += "; those hold for the mean decision only, and nothing is claimed about them under noise";
        }
        text += self.counted_data();
        text += match self.correction {
            None => "",
            Some(Corrects::InTheAnswer) => {
                "; this is for data within the envelope's correction, and whether a correction was made is private; the released number holds the price of a correction beside the cost of the decision"
            }
            Some(Corrects::BesideTheAnswer) => {
                "; this is for corrected data: a correction is made whenever the price of the data differs from the public one, and its size is private"
            }
            Some(Corrects::RowsAtAPrice) => {
                "; rows with private numbers may be exceeded at their price; this is for their limits with what they are exceeded by; whether one is exceeded is private; the released number holds that price beside the cost of the decision"
            }
            Some(Corrects::RowsWithAMargin) => {
                "; rows with private numbers are met with a margin, and may be exceeded at their price; this is for their limits with what they are exceeded by; whether one is exceeded is private"
            }
        };
        if confidence < 1.0 {
            text += &format!(
                ", with confidence {} over the public samples",
                short(confidence, 9)
            );
        }
        if self.budget.assumes_one_optimum() {
            text += "; the scenario method assumes that the optimum is unique, or that a rule fixed in advance chooses among several";
        }
        if !self.witnesses.is_empty() {
            text += &format!(
                "; feasible means: there are values of {} such that they hold",
                crate::program::list_some(
                    &self
                        .witnesses
                        .iter()
                        .map(String::as_str)
                        .collect::<Vec<_>>()
                )
            );
        }
        text
    }
}

/// A row over the variables: `1·cheap + 3·dear`, a long one cut.
fn in_words(row: &[(usize, f64)], program: &Program) -> String {
    const SHOWN: usize = 8;
    let term =
        |&(j, weight): &(usize, f64)| format!("{}·{}", short(weight, 9), program.variable_name(j));
    let terms: Vec<String> = row.iter().take(SHOWN).map(term).collect();
    let more = match row.len() > SHOWN {
        true => format!(" + {} more", row.len() - SHOWN),
        false => String::new(),
    };
    format!("{}{more}", terms.join(" + "))
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let released =
            crate::program::list_some(&self.labels.iter().map(String::as_str).collect::<Vec<_>>());
        writeln!(f, "released: {released}")?;
        if !self.noisy.is_empty() {
            let noisy: Vec<&str> = self.noisy.iter().map(String::as_str).collect();
            let what = self.strategy.noisy_numbers().unwrap_or_default();
            writeln!(
                f,
                "  published beside it: {what}, {}",
                crate::program::list_some(&noisy)
            )?;
        }
        writeln!(f, "privacy: {}", self.privacy_text())?;
        if let Some(protection) = self.protection() {
            writeln!(f, "protects: {protection}")?;
        }
        writeln!(
            f,
            "noise: {}, scale {}, lattice step {}, for a sensitivity of {} ({})",
            self.privacy.mechanism(),
            short(self.scale, 6),
            short(self.step, 4),
            short(self.sensitivity, 9),
            self.privacy.norm().symbol()
        )?;
        writeln!(f, "expect: {}", self.expectation_text())?;
        if let Some(deviations) = &self.shaped {
            let each: Vec<String> = deviations.iter().take(8).map(|d| short(*d, 6)).collect();
            let (of, before) = match self.strategy {
                Strategy::LinearTerm => (
                    "the minimum without the constraints",
                    " before the constraints",
                ),
                _ => ("the answer", ""),
            };
            writeln!(
                f,
                "shape: the noise is Tζ, and the sensitivity is that of T⁻¹ times {of}; standard deviation on each number{before}: {}{}",
                each.join(", "),
                if deviations.len() > 8 { ", …" } else { "" }
            )?;
        }
        if let Some(strategy) = self.strategy_text() {
            writeln!(f, "strategy: {strategy}")?;
        }
        for setting in &self.settings {
            writeln!(f, "chosen: {}", setting.text)?;
        }
        writeln!(f, "feasibility: {}", self.feasibility_text())?;
        if self.strategy == Strategy::Program {
            writeln!(f, "{}", self.budget)?;
        }
        writeln!(f, "decisions: {}", self.decisions_text())?;
        if let Some(reading) = &self.reading {
            writeln!(f, "use: {reading}")?;
        }
        write!(f, "assumes: {}", self.assumptions())
    }
}
