//! `[private.protects]`: whom the release protects, in words that the owner of the data knows, and the adjacency that follows
//! from it.

use conveil::ask::{Adjacency, Norm, Privacy};
use conveil_text::tables::{MAX_COUNT, Table};
use conveil_text::{Located, ReadError};

/// Whom the release protects, and how far one of them reaches into the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Protects {
    /// `who`: one of those who are protected, such as `a patient`.
    pub who: String,
    /// What one of them can change.
    pub reach: Reach,
}

/// What one of the protected can change in the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reach {
    /// `entries` (1) and `each`: at most so many private numbers, each by at most this.
    Entries {
        /// How many.
        count: usize,
        /// By how much.
        each: f64,
    },
    /// `record = true`: one whole record.
    Record,
}

impl Protects {
    /// Reads the section, and the unit of its numbers.
    pub(super) fn read(mut table: Table) -> Result<(Self, Option<Located<String>>), ReadError> {
        table.known(&["who", "entries", "each", "record", "unit"])?;
        let unit = table.optional("unit").map(|unit| unit.name()).transpose()?;
        let who = table.required("who", "who = \"a patient\"")?.name()?.value;
        let record = table.optional("record");
        let is_record = record.as_ref().map_or(Ok(false), |item| item.boolean())?;
        let reach = match is_record {
            true => Reach::Record,
            false => {
                let example = "each = 1.0: the most that one of them changes a private number; or record = true";
                let each = table.required("each", example)?.positive()?;
                let count = match table.optional("entries") {
                    None => 1,
                    Some(count) => count.count(1, MAX_COUNT)?,
                };
                Reach::Entries { count, each }
            }
        };
        table.finish(match is_record {
            true => "with `record`",
            false => "with `each`",
        })?;
        Ok((Protects { who, reach }, unit))
    }

    /// The relation whose neighbours are no nearer than one of the protected can move the data: m changes of at most a are
    /// m·a in ℓ₁ and √m·a in ℓ₂, of which the noise needs the norm that its sensitivity is in.
    pub(super) fn adjacency(
        &self,
        privacy: &Privacy,
        record_len: Option<usize>,
    ) -> Option<Adjacency> {
        Some(match self.reach {
            Reach::Record => Adjacency::OneRecord { len: record_len? },
            Reach::Entries { count: 1, each } => Adjacency::OneEntry { alpha: each },
            Reach::Entries { count, each } => match privacy.norm() {
                Norm::L1 => Adjacency::L1 {
                    alpha: up(count as f64 * each),
                },
                Norm::L2 => Adjacency::L2 {
                    alpha: up((count as f64).sqrt() * each),
                },
            },
        })
    }

    /// In words, for card and check.
    pub fn text(&self) -> String {
        let who = &self.who;
        match self.reach {
            Reach::Record => format!("{who}, who is in one record"),
            Reach::Entries { count: 1, each } => {
                format!("{who}, who changes one private number by at most {each}")
            }
            Reach::Entries { count, each } => {
                format!(
                    "{who}, who changes at most {count} private numbers, each by at most {each}"
                )
            }
        }
    }
}

/// A product or root, not below its exact value; decimals that are exact to the last digit stay as they are.
fn up(value: f64) -> f64 {
    let short: f64 = format!("{value:.12e}").parse().unwrap_or(value);
    match (short - value).abs() <= 2.0 * f64::EPSILON * value {
        true => short.max(value),
        false => value.next_up().next_up(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(count: usize, each: f64, privacy: Privacy) -> Adjacency {
        let protects = Protects {
            who: "a patient".into(),
            reach: Reach::Entries { count, each },
        };
        protects.adjacency(&privacy, None).unwrap()
    }

    #[test]
    fn neighbours_are_as_far_apart_as_one_of_the_protected_can_move_the_data() {
        let laplace = Privacy::laplace(1.0);
        let gaussian = Privacy::gaussian(1.0, 1e-6);
        assert_eq!(of(1, 10.0, laplace), Adjacency::OneEntry { alpha: 10.0 });
        assert_eq!(of(1, 10.0, gaussian), Adjacency::OneEntry { alpha: 10.0 });
        assert_eq!(of(7, 1.0, laplace), Adjacency::L1 { alpha: 7.0 });
        let Adjacency::L2 { alpha } = of(7, 1.0, gaussian) else {
            panic!("a Gaussian needs ℓ₂");
        };
        assert!(alpha >= 7f64.sqrt() && alpha < 7f64.sqrt() * (1.0 + 1e-14));
        // 0.1 + 0.1 + 0.1 is above 0.3, and 3·0.1 must not be below it.
        let Adjacency::L1 { alpha } = of(3, 0.1, laplace) else {
            panic!("a Laplace needs ℓ₁");
        };
        assert!(alpha >= 3.0 * 0.1);
    }
}
