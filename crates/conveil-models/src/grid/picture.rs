//! The network as a picture: what units generate, what branches carry, and where the noise goes. Private, all of it.
//!
//! Flows follow from injections, Bϑ = generation − load, whatever form the program has; the deviations of flows from the
//! recourse of the units in the same way, noise by noise.

use std::collections::{BTreeMap, BTreeSet};

use conveil::program::DataMap;
use conveil_grid::Network;

use super::public::OpfModel;
use crate::model::Curated;
use crate::picture::{Grid, GridBranch, GridBus, GridUnit};

/// Flows of larger networks are not computed: nobody could read the drawing.
const LARGEST: usize = 3_000;

/// A pivot below this share of the largest susceptance is rounding.
const TINY: f64 = 1e-12;

/// The network at a decision. Without units and branches where it has more than 3000 buses; none where angles do not follow
/// from injections.
pub(super) fn of(model: &OpfModel, curated: &Curated<'_>) -> Option<Grid> {
    let network = model.opf.network();
    let loads = loads(model, curated);
    let mut is_private = vec![false; loads.len()];
    let private = model.opf.private_buses().iter();
    private.for_each(|&bus| is_private[bus] = true);
    let buses = network.buses().iter().zip(&loads).zip(is_private);
    let buses = buses.map(|((bus, &load_mw), is_private)| GridBus {
        number: bus.number,
        load_mw,
        is_private,
    });
    let mut grid = Grid {
        buses: buses.collect(),
        units: Vec::new(),
        branches: Vec::new(),
    };
    if loads.len() > LARGEST {
        return Some(grid);
    }
    let flows = Flows::of(model)?;
    let decided = curated.decided;
    let mut injected: Vec<f64> = loads.iter().map(|load| -load).collect();
    // The units are the first variables.
    let units = || network.units().iter().enumerate();
    for ((_, unit), mean) in units().zip(&decided.mean) {
        injected[unit.bus] += mean;
    }
    let mut by_noise: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (u, unit) in units() {
        for &(noise, value) in decided.recourse.row(u).iter() {
            let injected = by_noise.entry(noise);
            injected.or_insert_with(|| vec![0.0; loads.len()])[unit.bus] += value;
        }
    }
    let mean = flows.carried(&injected, true);
    let mut squares = vec![0.0; mean.len()];
    for injected in by_noise.values() {
        let moved = flows.carried(injected, false);
        squares.iter_mut().zip(moved).for_each(|(s, f)| *s += f * f);
    }
    let std_dev = curated.plan.law().std_dev();
    grid.units = (units().zip(&decided.mean))
        .map(|((u, unit), &mean_mw)| {
            let row = decided.recourse.row(u);
            GridUnit {
                bus: unit.bus,
                mean_mw,
                deviation_mw: std_dev * row.iter().map(|e| e.1 * e.1).sum::<f64>().sqrt(),
                greatest_mw: unit.pmax_mw,
            }
        })
        .collect();
    let branches = network.branches().iter().enumerate().zip(mean).zip(squares);
    grid.branches = branches
        .map(|(((index, branch), flow_mw), square)| GridBranch {
            name: network.branch_name(index),
            from: branch.from,
            to: branch.to,
            flow_mw,
            deviation_mw: std_dev * square.sqrt(),
            limit_mw: branch.rate_mw,
        })
        .collect();
    Some(grid)
}

/// What each bus draws in the program that was decided: private loads within their bounds, and as the envelope has moved
/// them; shunts included.
fn loads(model: &OpfModel, curated: &Curated<'_>) -> Vec<f64> {
    let opf = &model.opf;
    let buses = opf.network().buses().iter();
    let mut loads: Vec<f64> = buses.map(|bus| bus.demand_mw + bus.shunt_mw).collect();
    let correction = curated.decided.correction.as_ref();
    let moved = correction.filter(|c| !c.relaxes);
    let moved: BTreeMap<&str, f64> = moved
        .iter()
        .flat_map(|c| &c.moved)
        .map(|(name, _, counted)| (name.as_str(), *counted))
        .collect();
    let parameters = opf.map().parameters().iter().zip(curated.theta);
    for (&bus, (parameter, &datum)) in opf.private_buses().iter().zip(parameters) {
        let clipped = match parameter.bounds() {
            Some((low, high)) => datum.clamp(low, high),
            None => datum,
        };
        let load = moved.get(&*parameter.name()).copied().unwrap_or(clipped);
        loads[bus] = load + opf.network().buses()[bus].shunt_mw;
    }
    loads
}

/// Flows as a function of injections.
struct Flows<'n> {
    network: &'n Network,
    /// Susceptance of each branch, and what its phase shift takes off its flow.
    branches: Vec<(f64, f64)>,
    steps: Vec<Step>,
}

/// A bus that is eliminated: its pivot, and the buses that are left beside it.
struct Step {
    bus: usize,
    pivot: f64,
    beside: Vec<(usize, f64)>,
}

impl<'n> Flows<'n> {
    /// Eliminates the buses with few neighbours first; none where susceptances cancel.
    fn of(model: &'n OpfModel) -> Option<Self> {
        let network = model.opf.network();
        let convention = model.stated.susceptance;
        let base = network.base_mva();
        let branches: Vec<(f64, f64)> = (network.branches().iter())
            .map(|branch| {
                let b = branch.susceptance(convention);
                (b, b * base * branch.shift)
            })
            .collect();
        let buses = network.buses();
        let mut rows: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); buses.len()];
        for (branch, (b, _)) in network.branches().iter().zip(&branches) {
            for (i, j) in [(branch.from, branch.to), (branch.to, branch.from)] {
                *rows[i].entry(i).or_insert(0.0) += b;
                *rows[i].entry(j).or_insert(0.0) -= b;
            }
        }
        // Reference angles are 0.
        let is_left = |bus: usize| !buses[bus].is_reference;
        rows.iter_mut()
            .for_each(|row| row.retain(|&j, _| is_left(j)));
        let largest = branches.iter().fold(0.0f64, |m, b| m.max(b.0.abs()));
        let left = (0..rows.len()).filter(|&bus| is_left(bus));
        let mut order: BTreeSet<(usize, usize)> = left.map(|bus| (rows[bus].len(), bus)).collect();
        let mut steps = Vec::with_capacity(order.len());
        while let Some((_, bus)) = order.pop_first() {
            let mut row = std::mem::take(&mut rows[bus]);
            let pivot = row.remove(&bus).unwrap_or(0.0);
            if !(pivot.abs() > TINY * largest) {
                return None;
            }
            let beside: Vec<(usize, f64)> = row.into_iter().collect();
            for &(i, a) in &beside {
                order.remove(&(rows[i].len(), i));
                rows[i].remove(&bus);
                for &(j, b) in &beside {
                    *rows[i].entry(j).or_insert(0.0) -= a * b / pivot;
                }
                order.insert((rows[i].len(), i));
            }
            steps.push(Step { bus, pivot, beside });
        }
        Some(Flows {
            network,
            branches,
            steps,
        })
    }

    /// The flow of each branch from its start to its end; phase shifts count where the flows are not differences.
    fn carried(&self, injected: &[f64], with_shifts: bool) -> Vec<f64> {
        let mut right = injected.to_vec();
        let ends = || self.network.branches().iter().zip(&self.branches);
        if with_shifts {
            for (branch, (_, shift)) in ends() {
                right[branch.from] += shift;
                right[branch.to] -= shift;
            }
        }
        for step in &self.steps {
            let share = right[step.bus] / step.pivot;
            step.beside.iter().for_each(|&(i, a)| right[i] -= a * share);
        }
        let mut angles = vec![0.0; right.len()];
        for step in self.steps.iter().rev() {
            let known: f64 = step.beside.iter().map(|&(j, a)| a * angles[j]).sum();
            angles[step.bus] = (right[step.bus] - known) / step.pivot;
        }
        let flow = |(branch, (b, shift)): (&conveil_grid::Branch, &(f64, f64))| {
            let shift = if with_shifts { *shift } else { 0.0 };
            b * (angles[branch.from] - angles[branch.to]) - shift
        };
        ends().map(flow).collect()
    }
}
