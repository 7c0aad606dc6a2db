//! Model `opf`: the keys of `[problem]` and `[private]` that an optimal power flow has.

use std::collections::HashSet;

use conveil_text::tables::Item;
use conveil_text::tables::Table;
use conveil_text::{Located, ReadError};

/// The power flow of a public network.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// `network` or `file`.
    pub network: NetworkSource,
    /// `form` (`angles`).
    pub form: GridForm,
    /// `susceptance` (`standard`).
    pub susceptance: GridSusceptance,
    /// `angle_limits` (false): whether limits on angle differences count.
    pub angle_limits: bool,
    /// `costs` (`linear`).
    pub costs: GridCosts,
    /// `curvature`: κ > 0 of a public term ½κp² for every unit.
    pub curvature: Option<Located<f64>>,
}

/// Where the network comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum NetworkSource {
    /// `network`: a built-in one, by name.
    Builtin(Located<String>),
    /// `file`: a MATPOWER case, its path as written.
    File(Located<String>),
}

/// How the power flow is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GridForm {
    /// `angles`: an angle and a balance for every bus.
    #[default]
    Angles,
    /// `ptdf`: flows as a function of injections.
    Ptdf,
}

/// How a susceptance follows from resistance and reactance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GridSusceptance {
    /// `standard`: 1/(x·tap).
    #[default]
    Standard,
    /// `full`: x/(r² + x²).
    Full,
}

/// Which costs count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GridCosts {
    /// `linear`: the linear coefficients alone.
    #[default]
    Linear,
    /// `full`: constants, quadratic and piecewise-linear costs as they are.
    Full,
}

/// The private demands.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Demands {
    /// `demand`: the path of a CSV file, as written; without it the demands of the network itself.
    pub file: Option<Located<String>>,
    /// `loads` (`with-demand`): which demands are private.
    pub loads: PrivateLoads,
    /// `bounds`: public bounds on them.
    pub bounds: Option<DemandBounds>,
}

/// Which demands are private.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum PrivateLoads {
    /// `with-demand`: those of buses to which the public network gives a demand.
    #[default]
    WithDemand,
    /// `all`: those of all buses.
    All,
    /// Those of the buses of these numbers, all different; at least one.
    Only(Vec<Located<u32>>),
}

/// Public bounds on the private demands, around those of the public network or load by load.
#[derive(Debug, Clone, PartialEq)]
pub enum DemandBounds {
    /// `relative`: within this share of it, > 0.
    Relative(f64),
    /// `within`: within so many MW of it, > 0.
    Within(f64),
    /// `each`: the path of a CSV file of buses, low and high, as written.
    Each(Located<String>),
}

/// Reads the keys of `[problem]` beside `model`.
pub(super) fn read(table: &mut Table) -> Result<Grid, ReadError> {
    let network = match (table.optional("network"), table.optional("file")) {
        (Some(name), None) => NetworkSource::Builtin(name.words()?),
        (None, Some(file)) => NetworkSource::File(file.words()?),
        (Some(_), Some(file)) => return Err(file.error("give `network` or `file`, not both")),
        (None, None) => {
            return Err(table
                .error("[problem] needs `network` or `file`")
                .with_help("for example: network = \"24_ieee_rts\", or file = \"case.m\""));
        }
    };
    Ok(Grid {
        network,
        form: match table.optional("form") {
            None => GridForm::default(),
            Some(form) => form.choice(&[("angles", GridForm::Angles), ("ptdf", GridForm::Ptdf)])?,
        },
        susceptance: match table.optional("susceptance") {
            None => GridSusceptance::default(),
            Some(item) => item.choice(&[
                ("standard", GridSusceptance::Standard),
                ("full", GridSusceptance::Full),
            ])?,
        },
        angle_limits: match table.optional("angle_limits") {
            None => false,
            Some(item) => item.boolean()?,
        },
        costs: match table.optional("costs") {
            None => GridCosts::default(),
            Some(item) => {
                item.choice(&[("linear", GridCosts::Linear), ("full", GridCosts::Full)])?
            }
        },
        curvature: match table.optional("curvature") {
            None => None,
            Some(item) => Some(item.locate(item.positive()?)),
        },
    })
}

/// Reads the keys of `[private]` beside `adjacency`.
pub(super) fn read_demands(table: &mut Table) -> Result<Demands, ReadError> {
    Ok(Demands {
        file: match table.optional("demand") {
            None => None,
            Some(file) => Some(file.words()?),
        },
        loads: match table.optional("loads") {
            None => PrivateLoads::default(),
            Some(loads) => read_loads(loads)?,
        },
        bounds: match table.optional("bounds") {
            None => None,
            Some(bounds) => Some(read_bounds(bounds)?),
        },
    })
}

fn read_loads(item: Item) -> Result<PrivateLoads, ReadError> {
    if item.is_text() {
        #[derive(Clone, Copy)]
        enum Word {
            WithDemand,
            All,
        }
        let choices = [("with-demand", Word::WithDemand), ("all", Word::All)];
        let word = item.choice(&choices).map_err(|error| match error.help {
            Some(_) => error,
            None => error.with_help("or list bus numbers: loads = [3, 14, 15]"),
        });
        return Ok(match word? {
            Word::WithDemand => PrivateLoads::WithDemand,
            Word::All => PrivateLoads::All,
        });
    }
    if !item.is_array() {
        return Err(item
            .must("be `with-demand`, `all` or bus numbers")
            .with_help("for example: loads = [3, 14, 15]"));
    }
    let mut seen = HashSet::new();
    let mut numbers = Vec::new();
    for entry in item.filled_array()? {
        let number = entry.count(0, MAX_NUMBER as usize)? as u32;
        if !seen.insert(number) {
            return Err(entry.error(format!("bus {number} is listed twice")));
        }
        numbers.push(entry.locate(number));
    }
    Ok(PrivateLoads::Only(numbers))
}

/// Bus numbers are at most this.
const MAX_NUMBER: u32 = u32::MAX;

fn read_bounds(item: Item) -> Result<DemandBounds, ReadError> {
    let example = "for example: bounds = { relative = 0.3 }, { within = 50.0 } in MW, or { each = \"bounds.csv\" }";
    let mut table = match item.table("`bounds`") {
        Ok(table) => table,
        Err(error) => return Err(error.with_help(example)),
    };
    table.known(&["relative", "within", "each"])?;
    let ways = ["relative", "within", "each"].map(|key| table.optional(key));
    if let Some(second) = ways.iter().flatten().nth(1) {
        return Err(second.error("give one of `relative`, `within` and `each`"));
    }
    match ways {
        [Some(share), ..] => Ok(DemandBounds::Relative(share.positive()?)),
        [_, Some(mw), _] => Ok(DemandBounds::Within(mw.positive()?)),
        [.., Some(file)] => Ok(DemandBounds::Each(file.words()?)),
        [None, None, None] => Err(item
            .error("`bounds` needs `relative`, `within` or `each`")
            .with_help(example)),
    }
}
