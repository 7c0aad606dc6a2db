//! DC optimal power flow with private demands: the cheapest generation that meets every demand inside all limits.

mod assembly;
mod cost;
mod feasibility;
mod picture;
mod private;
mod ptdf;
mod public;
mod reach;
mod starter;
mod stated;

pub use feasibility::{DemandRays, LabelledDemands};
pub use stated::{NetworkSource, OpfSpec, UnitGroup};

use crate::model::Kind;
use crate::spec::private::LABEL;
use assembly::Assembly;
use conveil::ask::Query;
use conveil::plan::Decided;
use conveil::program::{AffineMap, DataMap, Parameters, Program};
use conveil::{Error, Result};
use conveil_grid::{Cost, Network, Susceptance};
use reach::Reach;
use std::collections::HashSet;

/// `model = "opf"`.
pub(crate) static KIND: Kind = Kind {
    word: "opf",
    problem: &[
        "network",
        "file",
        "form",
        "susceptance",
        "angle_limits",
        "costs",
        "curvature",
    ],
    private: &["demand", LABEL, "loads", "bounds"],
    query: &["units", "groups"],
    releases: &["cost", "generation"],
    releases_help: "a power flow releases its `cost`, or the `generation` of some of its units",
    per_alpha: &["largest-cost"],
    facts: &["network"],
    eta: "eta = 0.01",
    read: |table| Ok(Box::new(OpfSpec::read(table)?)),
    starter: &starter::STARTER,
};

/// How the power flow is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// A voltage angle for every bus, a balance at every bus: sparse at any size.
    #[default]
    Angles,
    /// Flows as a dense function of injections (power transfer distribution factors), one balance in all.
    Ptdf,
}

/// Which costs count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Costs {
    /// The linear coefficients alone, as in the paper.
    #[default]
    Linear,
    /// Constants, quadratic and piecewise-linear costs as they are, through an epigraph variable `cost`; where there
    /// are none of them, the linear coefficients are the full costs.
    Full,
}

/// Which demands are private: stated, never inferred from private values.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Loads {
    /// Every bus to which the public network gives a demand.
    #[default]
    WithDemand,
    /// Every bus.
    All,
    /// The buses of these numbers.
    Only(Vec<u32>),
}

/// Public bounds on the private demands.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LoadBounds {
    /// None: no envelope.
    #[default]
    None,
    /// Within this share of the public network's demand, of either sign, and at least within 1 MW of it.
    Relative(f64),
    /// Within so many MW of the public network's demand.
    Within(f64),
    /// Low and high for every private load, in MW; the public network's demand lies between.
    Each(Vec<(f64, f64)>),
}

/// An optimal power flow to be.
#[derive(Clone, Debug)]
pub struct OpfBuilder {
    network: Network,
    form: Form,
    susceptance: Susceptance,
    angle_limits: bool,
    costs: Costs,
    curvature: f64,
    loads: Loads,
    bounds: LoadBounds,
}

impl OpfBuilder {
    /// How the power flow is written.
    pub fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// How a susceptance follows from resistance and reactance.
    pub fn susceptance(mut self, convention: Susceptance) -> Self {
        self.susceptance = convention;
        self
    }

    /// Whether limits on angle differences count; not by default.
    pub fn angle_limits(mut self, count: bool) -> Self {
        self.angle_limits = count;
        self
    }

    /// Which costs count.
    pub fn costs(mut self, costs: Costs) -> Self {
        self.costs = costs;
        self
    }

    /// A public quadratic term ½κp² for every unit, in the objective beside the costs; 0 by default. It makes the
    /// generation of each unit unique, so that it can be released; the dispatch is then the cheapest under the costs
    /// with this term. Not for a query of the cost, which is the objective itself.
    pub fn curvature(mut self, kappa: f64) -> Self {
        self.curvature = kappa;
        self
    }

    /// Which demands are private.
    pub fn loads(mut self, loads: Loads) -> Self {
        self.loads = loads;
        self
    }

    /// Public bounds on them.
    pub fn bounds(mut self, bounds: LoadBounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// The model, or what is wrong with the network or the options.
    pub fn build(self) -> Result<Opf> {
        let network = self.network;
        for island in network.islands() {
            if island.reference.is_none() {
                let buses: Vec<String> = island
                    .buses
                    .iter()
                    .take(5)
                    .map(|&i| network.buses()[i].number.to_string())
                    .collect();
                let more = if island.buses.len() > 5 { ", …" } else { "" };
                return Err(Error::Input(format!(
                    "{}: the island of bus {}{more} has no reference bus: join it to the rest, or give it one",
                    network.name(),
                    buses.join(", ")
                )));
            }
        }
        if network.units().is_empty() {
            return Err(Error::Input(format!(
                "{}: no generating unit is in service",
                network.name()
            )));
        }
        if !(self.curvature.is_finite() && self.curvature >= 0.0) {
            return Err(Error::Input(format!(
                "the curvature must be 0 or more and finite, found {}",
                self.curvature
            )));
        }
        let private = private_buses(&network, &self.loads)?;
        let bounds = bounds_of(&network, &private, &self.bounds)?;
        let reach = Reach::of(&network, &private, bounds.as_deref());
        let mut assembly = Assembly::new(&network, &private, &reach);
        match self.form {
            Form::Angles => assembly.angles(self.susceptance, self.angle_limits),
            Form::Ptdf => ptdf::assemble(&mut assembly, self.susceptance, self.angle_limits)?,
        }
        let has_epigraph = cost::assemble(&mut assembly, self.costs)?;
        assembly.curvature = self.curvature;
        let map = assembly.finish(&bounds)?;
        Ok(Opf {
            network,
            private,
            map,
            has_epigraph,
        })
    }
}

/// A DC optimal power flow whose demands are private. In MW; angles in radians times the base power.
#[derive(Clone, Debug)]
pub struct Opf {
    network: Network,
    private: Vec<usize>,
    map: AffineMap,
    has_epigraph: bool,
}

impl Opf {
    /// Linear costs, thermal limits, angles, every demand of the network private, no bounds on them.
    pub fn of(network: Network) -> OpfBuilder {
        OpfBuilder {
            network,
            form: Form::default(),
            susceptance: Susceptance::Standard,
            angle_limits: false,
            costs: Costs::default(),
            curvature: 0.0,
            loads: Loads::default(),
            bounds: LoadBounds::default(),
        }
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The affine map itself.
    pub fn map(&self) -> &AffineMap {
        &self.map
    }

    /// The buses of the private loads, by index.
    pub fn private_buses(&self) -> &[usize] {
        &self.private
    }

    /// The private loads of the demands of all buses, in MW.
    pub fn dataset(&self, demands_mw: &[f64]) -> Result<Vec<f64>> {
        if demands_mw.len() != self.network.buses().len() {
            return Err(Error::Input(format!(
                "{} demands for {} buses",
                demands_mw.len(),
                self.network.buses().len()
            )));
        }
        Ok(self.private.iter().map(|&i| demands_mw[i]).collect())
    }

    /// The demands that the public network itself gives.
    pub fn nominal(&self) -> Vec<f64> {
        let buses = self.network.buses();
        self.private.iter().map(|&i| buses[i].demand_mw).collect()
    }

    /// The largest linear cost coefficient: the paper's c_max.
    pub fn largest_cost(&self) -> f64 {
        let costs = self.network.units().iter().map(|u| linear_cost(&u.cost));
        costs.fold(f64::NEG_INFINITY, f64::max)
    }

    /// The query of the cost: the linear cost, or at most the full one. The public slope of the latter is the marginal
    /// cost of every unit in the middle of its public limits.
    pub fn cost_query(&self) -> Query {
        if !self.has_epigraph {
            return Query::Cost;
        }
        Query::AtMost {
            epigraph: cost::EPIGRAPH.into(),
            slope: cost::slope(&self.network),
        }
    }

    /// The query of the generation of groups of units, one number for each group; units by `generator 7` or by
    /// `bus 23` for all that stand there. Groups that cover all units are refused: the balance fixes their sum.
    pub fn generation_query(&self, groups: &[Vec<String>]) -> Result<Query> {
        let named = groups
            .iter()
            .map(|group| (group_name(group), group.clone()));
        self.named_generation_query(&named.collect::<Vec<_>>())
    }

    /// The same for groups with names of their own.
    pub fn named_generation_query(&self, groups: &[(String, Vec<String>)]) -> Result<Query> {
        let mut all = HashSet::new();
        let mut rows = Vec::new();
        for (label, group) in groups {
            let mut members = HashSet::new();
            for name in group {
                let found = self.units_of(name)?;
                members.extend(found.iter().copied());
                all.extend(found);
            }
            if members.is_empty() {
                return Err(Error::Input("a group of units is empty".into()));
            }
            let mut members: Vec<usize> = members.into_iter().collect();
            members.sort_unstable();
            let row = members
                .into_iter()
                .map(|u| (self.network.unit_name(u), 1.0));
            rows.push((label.clone(), row.collect::<Vec<_>>()));
        }
        if all.len() == self.network.units().len() {
            return Err(Error::Refused {
                what: "the generation of all units".into(),
                why: "the balance fixes it: it is the sum of the demands, and noise on it fits no dispatch".into(),
                instead: "groups that leave out at least one unit with room to move".into(),
            });
        }
        Ok(Query::Named(rows))
    }

    fn units_of(&self, name: &str) -> Result<Vec<usize>> {
        let units = self.network.units();
        let at_bus = name
            .strip_prefix("bus ")
            .and_then(|number| number.trim().parse::<u32>().ok())
            .and_then(|number| self.network.bus_index(number));
        let found: Vec<usize> = (0..units.len())
            .filter(|&u| Some(units[u].bus) == at_bus || self.network.unit_name(u) == name)
            .collect();
        if found.is_empty() {
            return Err(Error::Input(format!(
                "no unit `{name}`: units are `{}` …, or `bus {}` for all at a bus",
                self.network.unit_name(0),
                self.network.buses()[units[0].bus].number
            )));
        }
        Ok(found)
    }

    /// The price of one more MWh at each private load, by the multipliers of a decided rule. Private.
    pub fn load_prices(&self, decided: &Decided) -> Vec<(String, f64)> {
        let parameters = self.map.parameters().iter();
        parameters
            .map(|p| {
                let price = p.locations().iter().map(|l| match l.place {
                    conveil::program::Place::B(row) => -l.coef * decided.prices[row],
                    _ => 0.0,
                });
                (p.name().to_string(), price.sum())
            })
            .collect()
    }
}

impl DataMap for Opf {
    fn parameters(&self) -> &Parameters {
        self.map.parameters()
    }

    fn template(&self) -> &Program {
        self.map.template()
    }

    fn affine(&self) -> Option<&AffineMap> {
        Some(&self.map)
    }
}

/// What a group without a name is called, at most so many units of it.
const NAMED_UNITS: usize = 4;

fn group_name(units: &[String]) -> String {
    let shown = units.iter().take(NAMED_UNITS).cloned().collect::<Vec<_>>();
    let more = match units.len().saturating_sub(NAMED_UNITS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("generation of {}{more}", shown.join(", "))
}

/// The linear coefficient; of a piecewise cost its mean slope.
pub(crate) fn linear_cost(cost: &Cost) -> f64 {
    match cost {
        Cost::Linear { c1, .. } | Cost::Quadratic { c1, .. } => *c1,
        Cost::Piecewise { points } => match (points.first(), points.last()) {
            (Some(a), Some(b)) if b.0 > a.0 => (b.1 - a.1) / (b.0 - a.0),
            _ => 0.0,
        },
    }
}

fn private_buses(network: &Network, loads: &Loads) -> Result<Vec<usize>> {
    let buses = network.buses();
    let private: Vec<usize> = match loads {
        Loads::All => (0..buses.len()).collect(),
        Loads::WithDemand => (0..buses.len())
            .filter(|&i| buses[i].demand_mw != 0.0)
            .collect(),
        Loads::Only(numbers) => {
            let mut seen = HashSet::new();
            let mut found = Vec::new();
            for &number in numbers {
                let Some(index) = network.bus_index(number) else {
                    return Err(Error::Input(format!(
                        "{}: no bus {number} whose load could be private",
                        network.name()
                    )));
                };
                if !seen.insert(index) {
                    return Err(Error::Input(format!("bus {number} is listed twice")));
                }
                found.push(index);
            }
            found
        }
    };
    if private.is_empty() {
        return Err(Error::Input(format!(
            "{}: no load is private: there is nothing to protect",
            network.name()
        )));
    }
    Ok(private)
}

fn bounds_of(
    network: &Network,
    private: &[usize],
    bounds: &LoadBounds,
) -> Result<Option<Vec<(f64, f64)>>> {
    let around = |half: &dyn Fn(f64) -> f64| {
        let each = private.iter().map(|&i| {
            let nominal = network.buses()[i].demand_mw;
            (nominal - half(nominal), nominal + half(nominal))
        });
        Ok(Some(each.collect()))
    };
    match bounds {
        LoadBounds::None => Ok(None),
        LoadBounds::Relative(share) if share.is_finite() && *share > 0.0 => {
            around(&|nominal| (share * nominal.abs()).max(1.0))
        }
        LoadBounds::Within(mw) if mw.is_finite() && *mw > 0.0 => around(&|_| *mw),
        LoadBounds::Relative(found) | LoadBounds::Within(found) => Err(Error::Input(format!(
            "the width of the loads' public bounds must be positive and finite, found {found}"
        ))),
        LoadBounds::Each(each) if each.len() == private.len() => {
            for (&bus, (low, high)) in private.iter().zip(each) {
                if !(low.is_finite() && high.is_finite() && low < high) {
                    return Err(Error::Input(format!(
                        "the bounds of the load of bus {} must be finite and in order, found [{low}, {high}]",
                        network.buses()[bus].number
                    )));
                }
            }
            Ok(Some(each.clone()))
        }
        LoadBounds::Each(each) => Err(Error::Input(format!(
            "{} bounds for {} private loads",
            each.len(),
            private.len()
        ))),
    }
}
