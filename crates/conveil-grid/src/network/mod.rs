//! The network: what the DC power flow needs to know, checked once.

mod check;
mod island;

use thiserror::Error;

pub use island::Island;

/// A node of the network.
#[derive(Debug, Clone, PartialEq)]
pub struct Bus {
    /// Its number in the case file.
    pub number: u32,
    /// Active demand Pd, in MW; negative where something feeds in.
    pub demand_mw: f64,
    /// Shunt conductance Gs: MW drawn at a voltage of 1 per unit.
    pub shunt_mw: f64,
    /// Whether its voltage angle is fixed to zero.
    pub is_reference: bool,
}

/// A generating unit in service.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    /// Its row in the case file, counted from 1, out-of-service units included.
    pub row: usize,
    /// The index of its bus in [`Network::buses`].
    pub bus: usize,
    /// Least output, in MW.
    pub pmin_mw: f64,
    /// Greatest output, in MW.
    pub pmax_mw: f64,
    /// The cost of running it for one hour.
    pub cost: Cost,
}

/// The convex cost of an hour at p MW.
#[derive(Debug, Clone, PartialEq)]
pub enum Cost {
    /// c1·p + c0.
    Linear {
        /// Per MWh.
        c1: f64,
        /// Per hour.
        c0: f64,
    },
    /// c2·p² + c1·p + c0 with c2 > 0.
    Quadratic {
        /// Per MWh and MW.
        c2: f64,
        /// Per MWh.
        c1: f64,
        /// Per hour.
        c0: f64,
    },
    /// Straight lines between the points, the first and the last one prolonged. Slopes may fall by
    /// what rounding of the points explains, a relative 1e-9.
    Piecewise {
        /// At least two points (p in MW, cost per hour), p increasing.
        points: Vec<(f64, f64)>,
    },
}

impl Cost {
    /// The cost of an hour at this output.
    pub fn at(&self, p_mw: f64) -> f64 {
        match self {
            Cost::Linear { c1, c0 } => c1 * p_mw + c0,
            Cost::Quadratic { c2, c1, c0 } => (c2 * p_mw + c1) * p_mw + c0,
            // Convex: the greatest of its lines.
            Cost::Piecewise { points } => points
                .windows(2)
                .map(|pair| pair[0].1 + slope(pair[0], pair[1]) * (p_mw - pair[0].0))
                .fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// The cost of one more MWh at this output; at a corner, that of the line which follows.
    pub fn marginal_at(&self, p_mw: f64) -> f64 {
        match self {
            Cost::Linear { c1, .. } => *c1,
            Cost::Quadratic { c2, c1, .. } => c1 + 2.0 * c2 * p_mw,
            Cost::Piecewise { points } => {
                let mut lines = points.windows(2);
                let line = lines.find(|pair| p_mw < pair[1].0);
                let line = line.or_else(|| points.windows(2).next_back());
                line.map_or(0.0, |pair| slope(pair[0], pair[1]))
            }
        }
    }
}

/// A number in full, or with an exponent where that would be long.
pub(crate) fn shown(value: f64) -> String {
    let text = format!("{value:?}");
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_string(),
        None => text,
    }
}

/// The slope of the line through two points.
fn slope(left: (f64, f64), right: (f64, f64)) -> f64 {
    (right.1 - left.1) / (right.0 - left.0)
}

/// A line or transformer in service.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// Its row in the case file, counted from 1, out-of-service branches included.
    pub row: usize,
    /// The index of the bus where it starts.
    pub from: usize,
    /// The index of the bus where it ends.
    pub to: usize,
    /// Series resistance, per unit.
    pub r: f64,
    /// Series reactance, per unit; negative under series compensation, never zero.
    pub x: f64,
    /// Turns ratio, at the starting side; 1 for a line.
    pub tap: f64,
    /// Phase shift, in radians.
    pub shift: f64,
    /// The limit of the flow in either direction, in MW; `None` where there is none.
    pub rate_mw: Option<f64>,
    /// The least angle difference θ_from − θ_to, in radians.
    pub angle_min: Option<f64>,
    /// The greatest angle difference θ_from − θ_to, in radians.
    pub angle_max: Option<f64>,
}

/// How the DC power flow makes a susceptance of a branch: flow = base · b · (θ_from − θ_to − shift).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Susceptance {
    /// b = 1/(x·tap): resistance left out, as textbooks and MATPOWER do.
    #[default]
    Standard,
    /// b = x/(r² + x²): the series susceptance as it is; turns ratios left out.
    Full,
}

impl Branch {
    /// The susceptance of the branch, per unit.
    pub fn susceptance(&self, convention: Susceptance) -> f64 {
        match convention {
            Susceptance::Standard => 1.0 / (self.x * self.tap),
            Susceptance::Full => self.x / (self.r * self.r + self.x * self.x),
        }
    }
}

/// What a case file lists but the network leaves out: elements out of service, isolated buses (by their
/// type, or without anything in service attached), and what is connected to them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Omitted {
    /// Numbers of isolated buses.
    pub buses: Vec<u32>,
    /// Rows of units, counted from 1.
    pub units: Vec<usize>,
    /// Rows of branches, counted from 1.
    pub branches: Vec<usize>,
}

/// A power network.
///
/// # Guarantee
///
/// Bus numbers differ, rows increase; units and branches are at buses of the network; every number is finite;
/// least outputs and angles do not exceed greatest ones; costs are convex; no reactance and no
/// susceptance is zero or infinite; there is a reference bus, and no island has two.
/// [`Network::new`] checks all of it, and nothing changes afterwards. Islands without a reference
/// bus remain possible: see [`Network::islands`].
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    name: String,
    base_mva: f64,
    buses: Vec<Bus>,
    units: Vec<Unit>,
    branches: Vec<Branch>,
    omitted: Omitted,
    /// `circuit[k]`: which one of the branches between its two buses branch k is, from 1.
    circuit: Vec<usize>,
    islands: Vec<Island>,
}

/// A part of a network that an error is about, by its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// The network as a whole.
    Network,
    /// A bus.
    Bus(usize),
    /// A unit.
    Unit(usize),
    /// A branch.
    Branch(usize),
}

/// The datum of an [`Element`] that an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // named as the fields of the elements
pub enum Field {
    Base,
    Row,
    Number,
    Demand,
    Shunt,
    Reference,
    Bus,
    Pmin,
    Pmax,
    Cost,
    From,
    To,
    Resistance,
    Reactance,
    Tap,
    Shift,
    Rate,
    AngleMin,
    AngleMax,
}

/// Why a network is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct NetworkError {
    /// The part that is wrong.
    pub element: Element,
    /// The datum that is wrong.
    pub field: Field,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
}

impl Network {
    /// A network of these parts, if they are sound.
    pub fn new(
        name: impl Into<String>,
        base_mva: f64,
        buses: Vec<Bus>,
        units: Vec<Unit>,
        branches: Vec<Branch>,
    ) -> Result<Self, NetworkError> {
        check::base(base_mva)?;
        check::buses(&buses)?;
        check::units(&units, buses.len())?;
        check::branches(&branches, &buses)?;
        let islands = island::islands(&buses, &branches);
        check::references(&buses, &islands)?;
        Ok(Network {
            name: name.into(),
            base_mva,
            circuit: circuits(&branches),
            islands,
            buses,
            units,
            branches,
            omitted: Omitted::default(),
        })
    }

    /// The same network with a note of what its case file has beyond it.
    pub(crate) fn with_omitted(mut self, omitted: Omitted) -> Self {
        self.omitted = omitted;
        self
    }

    /// Its name: of the case, without `pglib_opf_case` in front.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The power that 1 per unit stands for, in MVA.
    pub fn base_mva(&self) -> f64 {
        self.base_mva
    }

    /// The buses, in the order of the case file.
    pub fn buses(&self) -> &[Bus] {
        &self.buses
    }

    /// The units in service, in the order of the case file.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// The branches in service, in the order of the case file; parallel ones stay apart.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// What the case file has beyond this network.
    pub fn omitted(&self) -> &Omitted {
        &self.omitted
    }

    /// The connected parts of the network, by their first bus. A DC power flow needs a reference
    /// bus in each.
    pub fn islands(&self) -> &[Island] {
        &self.islands
    }

    /// The demands of all buses, in MW.
    pub fn demands_mw(&self) -> Vec<f64> {
        self.buses.iter().map(|bus| bus.demand_mw).collect()
    }

    /// The index of the bus with this number.
    pub fn bus_index(&self, number: u32) -> Option<usize> {
        self.buses.iter().position(|bus| bus.number == number)
    }

    /// `balance 23`: the name of the power balance at a bus, given by its index.
    ///
    /// # Panics
    ///
    /// As slices do, when there is no such bus.
    pub fn balance_name(&self, bus: usize) -> String {
        format!("balance {}", self.buses[bus].number)
    }

    /// `generator 7`: the name of a unit, by its row in the case file.
    ///
    /// # Panics
    ///
    /// As slices do, when there is no such unit.
    pub fn unit_name(&self, unit: usize) -> String {
        format!("generator {}", self.units[unit].row)
    }

    /// `line 14-15`: the name of a branch, by the numbers of its buses; further branches between the
    /// same buses, in either direction, are `line 14-15 #2` and so on.
    ///
    /// # Panics
    ///
    /// As slices do, when there is no such branch.
    pub fn branch_name(&self, branch: usize) -> String {
        let Branch { from, to, .. } = self.branches[branch];
        let (from, to) = (self.buses[from].number, self.buses[to].number);
        match self.circuit[branch] {
            1 => format!("line {from}-{to}"),
            circuit => format!("line {from}-{to} #{circuit}"),
        }
    }
}

/// Counts the branches between each two buses.
fn circuits(branches: &[Branch]) -> Vec<usize> {
    let mut count = std::collections::HashMap::new();
    let mut number = |branch: &Branch| {
        let ends = (branch.from.min(branch.to), branch.from.max(branch.to));
        let circuit = count.entry(ends).or_insert(0);
        *circuit += 1;
        *circuit
    };
    branches.iter().map(&mut number).collect()
}
