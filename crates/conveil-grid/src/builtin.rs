//! Networks that come along: small and middling cases of PGLib.
//!
//! They are from the IEEE PES Power Grid Library (optimal power flow, v23.07), under the Creative
//! Commons Attribution 4.0 licence; each file names its origin. What the DC power flow does not
//! need is left out. `cargo xtask import-networks DIR` makes them from a folder of PGLib's files.

use conveil_text::spelling::{nearest, quoted};
use thiserror::Error;

use crate::{Network, compact};

/// Names and texts, by size.
const NETWORKS: [(&str, &str); 10] = [
    ("3_lmbd", include_str!("../networks/3_lmbd.txt")),
    ("5_pjm", include_str!("../networks/5_pjm.txt")),
    ("14_ieee", include_str!("../networks/14_ieee.txt")),
    ("24_ieee_rts", include_str!("../networks/24_ieee_rts.txt")),
    ("30_ieee", include_str!("../networks/30_ieee.txt")),
    ("39_epri", include_str!("../networks/39_epri.txt")),
    ("57_ieee", include_str!("../networks/57_ieee.txt")),
    ("73_ieee_rts", include_str!("../networks/73_ieee_rts.txt")),
    ("89_pegase", include_str!("../networks/89_pegase.txt")),
    ("118_ieee", include_str!("../networks/118_ieee.txt")),
];

/// Short names, as papers use them.
const ALIASES: [(&str, &str); 3] = [
    ("24_ieee", "24_ieee_rts"),
    ("39_ieee", "39_epri"),
    ("73_ieee", "73_ieee_rts"),
];

/// A name that no built-in network has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("there is no built-in network {}; {hint}", quoted(.name))]
pub struct UnknownNetwork {
    /// The name asked for.
    pub name: String,
    hint: String,
}

/// The names of the built-in networks, by size.
pub fn names() -> impl Iterator<Item = &'static str> {
    NETWORKS.iter().map(|(name, _)| *name)
}

impl Network {
    /// A built-in network by its name, such as `24_ieee_rts`; `24_ieee` and
    /// `pglib_opf_case24_ieee_rts` are the same one.
    pub fn builtin(name: &str) -> Result<Network, UnknownNetwork> {
        let short = name.strip_prefix("pglib_opf_").unwrap_or(name);
        let short = short.strip_prefix("case").unwrap_or(short);
        let alias = ALIASES.iter().find(|(alias, _)| *alias == short);
        let short = alias.map_or(short, |(_, name)| *name);
        let text = NETWORKS.iter().find(|(known, _)| *known == short);
        let unknown = |hint: String| UnknownNetwork {
            name: name.to_string(),
            hint,
        };
        let Some((_, text)) = text else {
            let list = names().collect::<Vec<_>>().join(", ");
            let aliases = ALIASES.iter().map(|(alias, _)| *alias);
            return Err(unknown(match nearest(short, names().chain(aliases)) {
                Some(word) => format!("did you mean `{word}`? (built in: {list})"),
                None => format!("built in: {list}"),
            }));
        };
        // The files are part of the program, and a test reads them all.
        compact::read(short, text).map_err(|error| unknown(format!("its file is damaged: {error}")))
    }
}
