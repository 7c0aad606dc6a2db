//! Which data a document of the curator is about: the private ones, or public ones that stand in for them.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Which data were used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum About {
    /// The private data: the document is the curator's, and must not be published.
    #[default]
    Private,
    /// The public nominal values.
    Nominal,
    /// A public dataset of the same kind.
    Twin,
}

impl About {
    /// Whether the document depends on private data.
    pub fn is_private(&self) -> bool {
        *self == About::Private
    }

    /// The data in words, where they are public.
    pub fn data(self) -> &'static str {
        match self {
            About::Private => "the private data",
            About::Nominal => "the public nominal values",
            About::Twin => "the public twin",
        }
    }

    /// The first words of a document: what may be done with it.
    pub fn stamp(self) -> Stamp {
        Stamp {
            about: self,
            explores: false,
        }
    }

    /// The same for a document that settings are chosen by.
    pub fn exploring(self) -> Stamp {
        Stamp {
            about: self,
            explores: true,
        }
    }
}

/// Whether a document is private, in words.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    about: About,
    explores: bool,
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let data = self.about.data();
        match (self.about, self.explores) {
            (About::Private, false) => {
                f.write_str("PRIVATE, depends on the data, not to be published")
            }
            (About::Private, true) => write!(
                f,
                "PRIVATE, explores {data}; values chosen because of it are not covered by a guarantee"
            ),
            (_, false) => write!(f, "PUBLIC, at {data}; no private value was used"),
            (_, true) => write!(
                f,
                "PUBLIC, at {data}; no private value was used, so values chosen because of it are covered by the guarantee"
            ),
        }
    }
}
