//! How somebody starts with an ellipsoid. A file of offsets has no first line with names: there is nothing to propose from.

use crate::files::Text;
use crate::starter::Starter;

pub(super) static STARTER: Starter = Starter {
    about: "the largest ellipsoid inside a polytope whose walls are private",
    files: &[
        Text {
            name: "ellipsoid.toml",
            text: include_str!("starter/ellipsoid.toml"),
        },
        Text {
            name: "ellipsoid.csv",
            text: include_str!("starter/ellipsoid.csv"),
        },
    ],
    at: "nominal",
    // One release: a second one with a sampled sensitivity must have been planned before the first.
    budget: (1.0, 0.01),
    from: None,
};
