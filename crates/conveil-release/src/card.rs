//! The release card: public. Nothing on it depends on the data but the noisy answer.

use std::fmt;

use conveil::ask::{Strategy, Universe};
use conveil::plan::{Plan, Published, Uncertainty};
use conveil::program::{Reading, Setting};
use conveil_text::Label;
use serde::Serialize;

use crate::ledger::{Claim, Head, Receipt, Scope};
use crate::restated::Restated;

/// The version of the card's fields.
const FORMAT: &str = "conveil-card/2";

/// A released number or a decided variable, by name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
}

impl Named {
    pub(crate) fn all(names: impl IntoIterator<Item = String>, values: &[f64]) -> Vec<Named> {
        let pairs = names.into_iter().zip(values);
        pairs.map(|(name, &value)| Named { name, value }).collect()
    }
}

/// The charge of a release, as its card shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CardCharge {
    /// The dataset, by the name that the curator gave it.
    pub dataset: String,
    /// The charge's number in the dataset's history.
    pub charge: u64,
    /// The head of the ledger's chain at this charge.
    pub head: Head,
    /// The part of the dataset that the release is about, where one was stated.
    pub part: Option<String>,
    /// Which release of a declared series it is; the charge is that of the whole series.
    pub series: Option<InSeries>,
}

/// A release's place in a series that was declared in advance and charged whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct InSeries {
    /// Its number, from 1.
    pub release: u64,
    /// How many were declared.
    pub of: u64,
}

/// The datasets between which a claim holds, as a card shows them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CardAdjacency {
    /// In words.
    pub text: String,
    /// As the ledger has it.
    #[serde(flatten)]
    pub scope: Option<Scope>,
}

/// A charge and what it is for.
pub(crate) struct Account<'r> {
    pub(crate) receipt: &'r Receipt,
    pub(crate) part: Option<&'r str>,
    pub(crate) in_series: Option<InSeries>,
}

/// What a card says beside the plan: who vouches for it.
pub(crate) enum Standing<'r> {
    /// Charged to a ledger.
    Charged(Account<'r>),
    /// A paper-mode plan, released all the same.
    PaperMode,
    /// Drawn from a known seed.
    Seeded(u64),
}

/// The public account of one release.
///
/// # Guarantee
/// Everything but the answer, and the noisy numbers behind it, is a function of the plan, the ledger's charges, the version and, of a series, the row's label,
/// which whoever labels the rows makes public: for two datasets with the same labels the cards differ in the answer alone. No time, duration, status, file name or count of tries is on it, and numbers are printed in
/// their shortest exact form. Anything that is not private says NOT PRIVATE. (M7.) Test:
/// `cards_of_adjacent_datasets_differ_in_the_answer_alone`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Card {
    format: &'static str,
    /// Elsewhere `private` says that a document must not be published; a card is what may be.
    #[serde(rename = "differentially_private")]
    private: bool,
    /// What is claimed: differential privacy, random differential privacy (of a sampled sensitivity), or none.
    notion: &'static str,
    stamps: Vec<String>,
    /// What the row of a series is called, where the curator labels the rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<Label>,
    strategy: Strategy,
    /// Why a public rule chose the strategy, where one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    chosen_because: Option<String>,
    #[serde(skip)]
    strategy_in_words: Option<String>,
    answer: Vec<Named>,
    /// Why there is no answer, where the program has none at the noisy data: a function of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_answer: Option<String>,
    /// The noisy numbers, where `answer` is made of them: its projection, or the program solved with the noisy linear cost,
    /// given by its minimum without the constraints; or the
    /// program at the noisy data.
    before_projection: Option<Vec<Named>>,
    /// What the answer is in terms of the cost, where it is the modeller's own objective.
    #[serde(skip_serializing_if = "Option::is_none")]
    objective: Option<Restated>,
    /// How far the answer is from that before the noise, and from the optimum.
    uncertainty: Uncertainty,
    /// What ε means for somebody who guesses.
    odds: Option<String>,
    mechanism: &'static str,
    epsilon: f64,
    delta: f64,
    adjacency: CardAdjacency,
    /// The public set of datasets that the claim is about, where it is not about all.
    universe: Option<Universe>,
    privacy: String,
    protects: Option<String>,
    basis: &'static str,
    basis_statement: String,
    sensitivity: f64,
    norm: &'static str,
    scale: f64,
    bound: Option<f64>,
    lattice_step: f64,
    shape: Option<Vec<Vec<f64>>>,
    /// The variables that whoever built the model declares to be decisions.
    decisions: Vec<String>,
    #[serde(skip)]
    decisions_in_words: String,
    feasibility: String,
    /// What was left to a rule on public numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    settings: Vec<Setting>,
    reading: Option<Reading>,
    assumes: String,
    ledger: Option<CardCharge>,
    conveil: &'static str,
}

impl Card {
    /// From the noisy answer and what is published of it.
    pub(crate) fn new(
        plan: &Plan<'_>,
        (noisy, published): (&[f64], &Published),
        standing: &Standing<'_>,
    ) -> Card {
        let (guarantee, released) = (plan.guarantee(), plan.released());
        let (privacy, basis) = (guarantee.privacy(), guarantee.basis());
        let (shape, labels) = (released.shape(), plan.labels());
        let mut stamps = Vec::new();
        // The basis has fields of its own.
        let text = guarantee.privacy_text();
        let mut claim = text.lines().next().unwrap_or(&text).to_string();
        let mut basis_of_claim = (basis.name(), basis.statement().to_string());
        let mut protects = guarantee.protection();
        let mut ledger = None;
        match standing {
            Standing::Charged(Account {
                receipt,
                part,
                in_series,
            }) if receipt.durable() => {
                ledger = Some(CardCharge {
                    dataset: receipt.dataset().into(),
                    charge: receipt.id(),
                    head: *receipt.head(),
                    part: part.map(Into::into),
                    series: *in_series,
                });
            }
            Standing::Charged(_) => stamps.push(
                "no durable ledger: nothing keeps count of what was released from these data"
                    .into(),
            ),
            Standing::PaperMode => {
                stamps.push("NOT PRIVATE: calibrated as in the paper, charged to no ledger".into())
            }
            Standing::Seeded(seed) => {
                stamps.push(format!(
                    "NOT PRIVATE: the noise was drawn from seed {seed}, charged to no ledger"
                ));
                claim = "NO privacy guarantee".into();
                protects = protects.map(|_| "nothing".into());
                let why = "whoever knows the seed can take the noise off";
                basis_of_claim = ("none", why.into());
            }
        }
        let (answer, no_answer) = match published {
            Published::Answer(answer) => (answer.as_slice(), None),
            Published::NoAnswer(why) => (&[][..], Some(why.clone())),
        };
        let private = matches!(standing, Standing::Charged(_)) && basis.is_private();
        Card {
            format: FORMAT,
            private,
            notion: if private { basis.notion() } else { "none" },
            stamps,
            label: None,
            strategy: guarantee.strategy(),
            chosen_because: guarantee.chosen_because().map(Into::into),
            strategy_in_words: guarantee.strategy_text(),
            answer: Named::all(labels.iter().cloned(), answer),
            no_answer,
            before_projection: (guarantee.strategy().is_solved_after_noise())
                .then(|| Named::all(released.query().labels().iter().cloned(), noisy)),
            objective: None,
            uncertainty: guarantee.uncertainty().clone(),
            odds: guarantee.odds_text().filter(|_| private),
            mechanism: privacy.mechanism(),
            epsilon: privacy.epsilon(),
            delta: privacy.delta(),
            adjacency: CardAdjacency {
                text: guarantee.adjacency_text(),
                scope: Claim::of(plan)
                    .ok()
                    .and_then(|claim| claim.scope().cloned()),
            },
            universe: guarantee.universe().cloned(),
            privacy: claim,
            protects,
            basis: basis_of_claim.0,
            basis_statement: basis_of_claim.1,
            sensitivity: guarantee.sensitivity(),
            norm: privacy.norm().symbol(),
            scale: guarantee.scale(),
            bound: plan.law().support_bound(),
            lattice_step: guarantee.step(),
            shape: (!shape.is_identity())
                .then(|| (0..shape.noises()).map(|i| shape.row(i).to_vec()).collect()),
            decisions: guarantee.decisions().to_vec(),
            decisions_in_words: guarantee.decisions_text(),
            feasibility: guarantee.feasibility_text(),
            settings: guarantee.settings().to_vec(),
            reading: guarantee.reading().cloned(),
            assumes: plan.guarantee().assumptions(),
            ledger,
            conveil: env!("CARGO_PKG_VERSION"),
        }
    }

    /// The same card with its answer as the modeller's own objective.
    pub(crate) fn restated(mut self, as_objective: &Restated) -> Card {
        as_objective.all(&mut self.answer);
        // Noisy data are in units of their own.
        if let Some(noisy) = &mut self.before_projection
            && !self.strategy.is_on_the_data()
        {
            as_objective.all(noisy);
        }
        self.objective = Some(as_objective.clone());
        self
    }

    /// The same card of the row that has this label.
    pub(crate) fn labelled(self, label: &Label) -> Card {
        Card {
            label: Some(label.clone()),
            ..self
        }
    }

    /// The same card, stamped: these settings were moved after the private data were looked at. The guarantee is for settings
    /// that do not depend on the data. (M7.)
    pub(crate) fn moved_after_looking(mut self, settings: &[String]) -> Card {
        if !settings.is_empty() {
            let which = settings.join(", ");
            self.stamps.push(format!(
                "NOT COVERED BY THE GUARANTEE: the choice of {which}, moved after the private data were looked at"
            ));
        }
        self
    }

    /// What the row of a series is called, where the curator labels the rows.
    pub fn label(&self) -> Option<&Label> {
        self.label.as_ref()
    }

    /// The released numbers.
    pub fn answer(&self) -> &[Named] {
        &self.answer
    }

    /// Why there is no answer, where the program has none at the noisy data.
    pub fn no_answer(&self) -> Option<&str> {
        self.no_answer.as_deref()
    }

    /// The noisy numbers themselves, where the released ones are their projection.
    pub fn before_projection(&self) -> Option<&[Named]> {
        self.before_projection.as_deref()
    }

    /// Whether a claim of privacy stands behind it.
    pub fn is_private(&self) -> bool {
        self.private
    }

    /// What a reader must see first: `NOT PRIVATE …`, `no durable ledger …`.
    pub fn stamps(&self) -> &[String] {
        &self.stamps
    }

    /// Between which datasets its claim holds.
    pub fn adjacency(&self) -> &CardAdjacency {
        &self.adjacency
    }

    /// Its charge, where it was durable.
    pub fn ledger(&self) -> Option<&CardCharge> {
        self.ledger.as_ref()
    }

    /// The card as one JSON document.
    pub fn to_json(&self) -> String {
        json(self)
    }
}

/// One document, indented. Numbers, words and lists always have a text.
pub(crate) fn json(document: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(document).unwrap_or_default();
    text.push('\n');
    text
}

/// How many private numbers there are, what they are called, and their unit.
fn private_numbers(scope: &Scope) -> String {
    let own = &scope.neighbourhood;
    let unit = own
        .unit()
        .map_or(String::new(), |unit| format!(" in {unit}"));
    // The hash of a long list is of the names, which are public.
    let called = own.called().replace("(sha256 ", "(sha256 of the names ");
    format!("{}{unit}, called {called}", own.numbers())
}

/// Noisy data that a card's text shows; its JSON has all of them.
const NOISY_DATA: usize = 20;

impl Card {
    /// Numbers with their error bars.
    fn measured(&self, f: &mut fmt::Formatter<'_>, numbers: &[Named]) -> fmt::Result {
        let shown = match self.strategy.is_on_the_data() {
            true => NOISY_DATA,
            false => numbers.len(),
        };
        for (index, Named { name, value }) in numbers.iter().enumerate().take(shown) {
            match self.uncertainty.bar(index) {
                Some(bar) => writeln!(f, "  {name} = {value} {bar}")?,
                None => writeln!(f, "  {name} = {value}")?,
            }
        }
        if let Some(more) = numbers.len().checked_sub(shown).filter(|more| *more > 0) {
            writeln!(f, "  … and {more} more, in the JSON of the card")?;
        }
        writeln!(f, "  {}", self.uncertainty.text(numbers.len()))
    }
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "RELEASE CARD")?;
        for stamp in &self.stamps {
            writeln!(f, "{stamp}")?;
        }
        if let Some(label) = &self.label {
            writeln!(f, "label: {label}")?;
        }
        writeln!(f, "answer:")?;
        match &self.before_projection {
            None => self.measured(f, &self.answer)?,
            Some(noisy) => {
                for Named { name, value } in &self.answer {
                    writeln!(f, "  {name} = {value}")?;
                }
                if let Some(why) = &self.no_answer {
                    writeln!(
                        f,
                        "  none: the program has no answer at the noisy data: {why}"
                    )?;
                }
                writeln!(f, "  error bars are those of the noisy numbers behind it")?;
                let before = match (self.strategy, self.strategy.noisy_numbers()) {
                    (Strategy::Projected, _) | (_, None) => {
                        "before it was projected onto the constraints"
                    }
                    (_, Some(numbers)) => numbers,
                };
                writeln!(f, "{before}:")?;
                self.measured(f, noisy)?;
            }
        }
        if let Some(bias) = &self.uncertainty.bias {
            writeln!(f, "bias: {}", bias.text("the number"))?;
        }
        if let Some(protects) = &self.protects {
            writeln!(f, "protects: {protects}")?;
        }
        if let Some(restated) = &self.objective
            && !restated.objective().is_the_cost()
        {
            let of_both = match self.strategy.is_on_the_data() {
                true => "",
                false => ", and scale, step and sensitivity are those of both",
            };
            writeln!(
                f,
                "objective: {}; the cost is what the program minimises{of_both}",
                restated.objective()
            )?;
        }
        writeln!(f, "privacy: {}", self.privacy)?;
        if let Some(odds) = &self.odds {
            writeln!(f, "  in words: {odds}")?;
        }
        writeln!(f, "  basis: {}: {}", self.basis, self.basis_statement)?;
        if let Some(scope) = &self.adjacency.scope {
            writeln!(f, "  private numbers: {}", private_numbers(scope))?;
        }
        writeln!(
            f,
            "noise: {} on a lattice of step {}, scale {}, for a sensitivity of {} ({})",
            self.mechanism, self.lattice_step, self.scale, self.sensitivity, self.norm
        )?;
        if let Some(bound) = self.bound {
            writeln!(f, "  never beyond ±{bound}")?;
        }
        if let Some(rows) = &self.shape {
            let rows: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
            let rows = rows.join(", ");
            let of = match self.strategy {
                Strategy::LinearTerm => "the minimum without the constraints",
                _ => "the answer",
            };
            writeln!(
                f,
                "  times T = [{rows}]; scale, step and sensitivity are those of T⁻¹ times {of}"
            )?;
        }
        if let Some(strategy) = &self.strategy_in_words {
            writeln!(f, "strategy: {strategy}")?;
        }
        for setting in &self.settings {
            writeln!(f, "chosen: {}", setting.text)?;
        }
        writeln!(f, "feasibility: {}", self.feasibility)?;
        writeln!(f, "decisions: {}", self.decisions_in_words)?;
        if let Some(reading) = &self.reading {
            writeln!(f, "use: {reading}")?;
        }
        writeln!(f, "assumes: {}", self.assumes)?;
        if let Some(CardCharge {
            dataset,
            charge,
            head,
            part,
            series,
        }) = &self.ledger
        {
            if let Some(InSeries { release, of }) = series {
                writeln!(
                    f,
                    "series: release {release} of {of}, declared in advance; its charge is for all {of} together, whether or not they are released"
                )?;
            }
            if let Some(part) = part {
                writeln!(
                    f,
                    "part: {part}, which shares no private number with other parts, as the curator states"
                )?;
            }
            writeln!(f, "ledger: {dataset}, charge {charge}, head {head}")?;
        }
        writeln!(f, "made by: conveil {}, {}", self.conveil, self.format)
    }
}
