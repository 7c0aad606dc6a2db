//! Disjoint parts of a dataset (M16).

use super::Result;
use super::neighbourhood::words;
use serde::Serialize;

/// A part of the dataset that shares no number with the other parts: hour 7's demands, region B's records.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    name: String,
    moves: bool,
}

impl Part {
    /// A public part that a change of one entry, or a replacement of one record, does not change.
    pub fn fixed(name: &str) -> Result<Part> {
        Ok(Part {
            name: words("the name of a part", name)?,
            moves: false,
        })
    }

    /// A part that a replaced record may leave for another: the two largest add up.
    pub fn that_records_may_leave(name: &str) -> Result<Part> {
        Ok(Part {
            moves: true,
            ..Part::fixed(name)?
        })
    }

    /// A part to reckon with, which no charge keeps.
    pub(super) fn unspent(name: String, moves: bool) -> Part {
        Part { name, moves }
    }

    /// Its name. In a series, `{row}` in it stands for the number of the release.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a replaced record may leave it for another.
    pub fn moves(&self) -> bool {
        self.moves
    }

    /// Whether each release of a series has a part of its own.
    pub(super) fn is_one_for_each(&self) -> bool {
        self.name.contains(ROW)
    }

    /// The part of one release of a series, counted from 1.
    pub(crate) fn of_row(&self, row: u64) -> Part {
        Part {
            name: self.name.replace(ROW, &row.to_string()),
            moves: self.moves,
        }
    }
}

/// What stands for the number of a release in the name of a part.
pub(super) const ROW: &str = "{row}";
