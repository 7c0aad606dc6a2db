//! Which datasets a charge or a budget is about: the neighbourhood relation and the private numbers it relates (M16).

use super::{Error, Result};
use conveil::ask::{Adjacency, Universe};
use conveil::plan::Plan;
use conveil::program::Parameters;
use conveil_text::naming::fault;
use conveil_text::spelling::quoted;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt;

/// When two datasets are neighbours, up to the units and names of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Relation {
    /// One entry changes by at most α.
    OneEntry {
        /// α.
        alpha: f64,
    },
    /// ‖θ − θ'‖₁ ≤ α.
    L1 {
        /// α.
        alpha: f64,
    },
    /// ‖θ − θ'‖₂ ≤ α.
    L2 {
        /// α.
        alpha: f64,
    },
    /// One record, a run of this many numbers, is replaced.
    OneRecord {
        /// Numbers in a record.
        record: u64,
    },
    /// Any two members of a universe.
    Universe,
}

impl Relation {
    /// The name in files, specs and flags.
    pub fn name(&self) -> &'static str {
        match self {
            Relation::OneEntry { .. } => "one-entry",
            Relation::L1 { .. } => "l1",
            Relation::L2 { .. } => "l2",
            Relation::OneRecord { .. } => "one-record",
            Relation::Universe => "universe",
        }
    }

    /// α, where there is one.
    pub fn alpha(&self) -> Option<f64> {
        match *self {
            Relation::OneEntry { alpha } | Relation::L1 { alpha } | Relation::L2 { alpha } => {
                Some(alpha)
            }
            Relation::OneRecord { .. } | Relation::Universe => None,
        }
    }

    /// The numbers in a record, where there are records.
    pub fn record(&self) -> Option<u64> {
        match *self {
            Relation::OneRecord { record } => Some(record),
            _ => None,
        }
    }

    /// From its name, its α and the numbers in a record, each where it belongs and nowhere else.
    pub fn new(name: &str, alpha: Option<f64>, record: Option<u64>) -> Result<Relation> {
        let relation = match (name, alpha, record) {
            ("one-entry", Some(alpha), None) => Relation::OneEntry { alpha },
            ("l1", Some(alpha), None) => Relation::L1 { alpha },
            ("l2", Some(alpha), None) => Relation::L2 { alpha },
            ("one-record", None, Some(record)) => Relation::OneRecord { record },
            ("universe", None, None) => Relation::Universe,
            ("one-entry" | "l1" | "l2", ..) => {
                return Err(Error::input(format!(
                    "adjacency {name} needs `--alpha A` and has no record length"
                )));
            }
            ("one-record", ..) => {
                return Err(Error::input(
                    "adjacency one-record needs `--record N`, how many numbers make a record, and has no α"
                        .into(),
                ));
            }
            ("universe", ..) => {
                return Err(Error::input(
                    "adjacency universe has neither α nor record length".into(),
                ));
            }
            _ => {
                return Err(Error::input(format!(
                    "an adjacency is one-entry, l1, l2, one-record or universe, found {name:?}"
                )));
            }
        };
        if let Some(alpha) = alpha {
            super::charge::positive("the adjacency's α", alpha)?;
        }
        if record == Some(0) {
            return Err(Error::input("a record has at least one number".into()));
        }
        Ok(relation)
    }
}

/// Which datasets are neighbours: the relation, and which private numbers it is about.
///
/// # Guarantee
/// Of a release it is made from its plan, and from nothing else. Two neighbourhoods are compared only where unit, count
/// and names of the private numbers agree: α of megawatts is no α of euros, and the demands are not the prices. (M16.)
/// Tests: `totals_are_per_neighbourhood_and_follow_the_conversions`, `different_numbers_or_units_never_mix`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Neighbourhood {
    #[serde(flatten)]
    relation: Relation,
    unit: Option<String>,
    numbers: u64,
    called: String,
    /// The pairs lie inside this universe; none where they may lie anywhere.
    universe: Option<String>,
}

/// Names of private numbers are listed up to this many bytes.
const LISTED: usize = 120;

impl Neighbourhood {
    /// Of `numbers` private numbers, `called` this.
    pub fn new(relation: Relation, numbers: u64, called: &str) -> Result<Neighbourhood> {
        if numbers == 0 {
            return Err(Error::input("there is at least one private number".into()));
        }
        if let Some(record) = relation.record()
            && !numbers.is_multiple_of(record)
        {
            return Err(Error::input(format!(
                "records of {record} numbers do not divide {numbers} private numbers"
            )));
        }
        Ok(Neighbourhood {
            relation,
            unit: None,
            numbers,
            called: words("the name of the private numbers", called)?,
            universe: None,
        })
    }

    /// The same with α in this unit.
    pub fn in_unit(mut self, unit: &str) -> Result<Neighbourhood> {
        self.unit = Some(words("a unit", unit)?);
        Ok(self)
    }

    /// The same for pairs inside this universe, by its name.
    pub fn inside(mut self, universe: &str) -> Result<Neighbourhood> {
        self.universe = Some(words("a universe", universe)?);
        Ok(self)
    }

    /// The neighbourhood of a plan's guarantee.
    pub fn of(plan: &Plan<'_>) -> Result<Neighbourhood> {
        let parameters = plan.released().map().parameters();
        let relation = match *plan.guarantee().adjacency() {
            Adjacency::OneEntry { alpha } => Relation::OneEntry { alpha },
            Adjacency::L1 { alpha } => Relation::L1 { alpha },
            Adjacency::L2 { alpha } => Relation::L2 { alpha },
            Adjacency::OneRecord { len } => Relation::OneRecord { record: len as u64 },
            Adjacency::Universe => Relation::Universe,
        };
        let called = listed(parameters);
        let mut neighbourhood = Neighbourhood::new(relation, parameters.len() as u64, &called)?;
        if let Some(unit) = plan.ask().stated_unit() {
            neighbourhood = neighbourhood.in_unit(unit)?;
        }
        match plan.guarantee().universe() {
            Some(universe) => neighbourhood.inside(&named(universe)),
            None => Ok(neighbourhood),
        }
    }

    /// When two datasets are neighbours.
    pub fn relation(&self) -> &Relation {
        &self.relation
    }

    /// The unit of α.
    pub fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }

    /// p, how many private numbers there are.
    pub fn numbers(&self) -> u64 {
        self.numbers
    }

    /// What they are called.
    pub fn called(&self) -> &str {
        &self.called
    }

    /// The universe that holds the pairs, by its name.
    pub fn universe(&self) -> Option<&str> {
        self.universe.as_deref()
    }

    /// Whether both are about the same private numbers, in the same unit.
    pub(super) fn is_about_the_numbers_of(&self, other: &Neighbourhood) -> bool {
        self.numbers == other.numbers && self.called == other.called && self.unit == other.unit
    }

    /// Which private numbers it is about, and their unit.
    pub(super) fn whose(&self) -> String {
        let unit = match &self.unit {
            Some(unit) => format!("unit {unit}"),
            None => "no unit".into(),
        };
        let numbers = match self.numbers {
            1 => "1 number".into(),
            numbers => format!("{numbers} numbers"),
        };
        format!("{numbers} called {}, {unit}", in_quotes(&self.called))
    }

    /// The flags of the command line that state this neighbourhood.
    pub fn flags(&self) -> String {
        let mut flags = format!("--adjacency {}", self.relation.name());
        if let Some(alpha) = self.relation.alpha() {
            flags += &format!(" --alpha {alpha}");
        }
        if let Some(record) = self.relation.record() {
            flags += &format!(" --record {record}");
        }
        if let Some(unit) = &self.unit {
            flags += &format!(" --unit {}", in_quotes(unit));
        }
        flags += &format!(
            " --numbers {} --called {}",
            self.numbers,
            in_quotes(&self.called)
        );
        if let Some(universe) = &self.universe {
            flags += &format!(" --universe {}", in_quotes(universe));
        }
        flags
    }
}

/// In single quotes, as a shell reads them.
fn in_quotes(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// As a shell reads it: in quotes where it needs them.
pub(super) fn in_shell(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.into(),
        false => in_quotes(text),
    }
}

/// A text that can stand on a card.
pub(super) fn words(what: &str, text: &str) -> Result<String> {
    match fault(text) {
        Some(fault) => Err(Error::input(format!("{what} {fault}: {}", quoted(text)))),
        None if text.trim() != text => Err(Error::input(format!(
            "{what} has spaces around it: {}",
            quoted(text)
        ))),
        None => Ok(text.into()),
    }
}

/// The names of all numbers; where that is long, a few of them and a hash of all.
fn listed(parameters: &Parameters) -> String {
    let mut list = String::new();
    for parameter in parameters {
        if !list.is_empty() {
            list.push_str(", ");
        }
        list.push_str(&parameter.name());
        if list.len() > LISTED {
            break;
        }
    }
    if list.len() <= LISTED {
        return list;
    }
    let mut hasher = Sha256::new();
    parameters.each_name(|name| field(&mut hasher, name.as_bytes()));
    let shown = |index: usize| -> String {
        let parameter = parameters.get(index);
        let name = parameter.as_ref().map_or(Cow::Borrowed(""), |p| p.name());
        name.chars().take(40).collect::<String>().trim().into()
    };
    let (first, last) = (shown(0), shown(parameters.len() - 1));
    format!("{first} … {last} (sha256 {})", digits(hasher))
}

/// What a universe is called: its kind, and a hash of its centre and sizes.
fn named(universe: &Universe) -> String {
    let mut hasher = Sha256::new();
    field(&mut hasher, &(universe.dimension() as u64).to_be_bytes());
    let numbers = [universe.centre(), universe.sizes()];
    for numbers in numbers {
        field(&mut hasher, &(numbers.len() as u64).to_be_bytes());
        for number in numbers {
            hasher.update((number + 0.0).to_bits().to_be_bytes());
        }
    }
    for two in universe.two_valued() {
        hasher.update([u8::from(*two)]);
    }
    let kind = match universe.dimension() {
        1 => "box",
        _ => "discs",
    };
    format!(
        "{kind} of {} numbers (sha256 {})",
        universe.len(),
        digits(hasher)
    )
}

fn field(hasher: &mut Sha256, bytes: &[u8]) {
    hasher.update((bytes.len() as u64).to_be_bytes());
    hasher.update(bytes);
}

/// The first 128 bits of a hash.
fn digits(hasher: Sha256) -> String {
    let hash = hasher.finalize();
    hash.iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

impl fmt::Display for Neighbourhood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self
            .unit
            .as_ref()
            .map_or(String::new(), |unit| format!(" {unit}"));
        let (numbers, called) = (self.numbers, &self.called);
        // Without an α, the unit stands with the numbers.
        let own = match (&self.unit, self.relation.alpha()) {
            (Some(unit), None) => format!(" in {unit}"),
            _ => String::new(),
        };
        let of = match numbers {
            1 => format!("the private number {called}{own}"),
            _ => format!("{numbers} private numbers{own}: {called}"),
        };
        match self.relation {
            Relation::OneEntry { alpha } => {
                write!(f, "one entry differs by at most {alpha}{unit} ({of})")
            }
            Relation::L1 { alpha } => {
                write!(f, "at most {alpha}{unit} apart in the ℓ₁ norm ({of})")
            }
            Relation::L2 { alpha } => write!(
                f,
                "at most {alpha}{unit} apart in the Euclidean norm ({of})"
            ),
            Relation::OneRecord { record } => {
                let each = if record == 1 { "number" } else { "numbers" };
                write!(f, "one record of {record} {each} is replaced ({of})")
            }
            Relation::Universe => write!(f, "any two datasets ({of})"),
        }?;
        match &self.universe {
            None => Ok(()),
            Some(universe) => write!(f, ", inside the universe: {universe}"),
        }
    }
}
