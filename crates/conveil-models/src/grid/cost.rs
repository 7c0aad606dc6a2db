//! The cost of generation: linear as it is, quadratic and piecewise-linear through one epigraph variable.

use super::assembly::{Assembly, Row};
use super::{Costs, linear_cost};
use conveil::{Error, Result};
use conveil_grid::Cost;

/// The epigraph variable of the full cost.
pub(super) const EPIGRAPH: &str = "cost";

/// Writes the objective; true if it goes through the epigraph.
pub(super) fn assemble(assembly: &mut Assembly<'_>, costs: Costs) -> Result<bool> {
    let network = assembly.network;
    let units = network.units();
    let is_linear = units.iter().all(|u| matches!(u.cost, Cost::Linear { .. }));
    if costs == Costs::Linear || is_linear {
        if let Some(u) = (0..units.len()).find(|&u| matches!(units[u].cost, Cost::Piecewise { .. }))
        {
            return Err(Error::Input(format!(
                "{}: the cost of `{}` is piecewise linear and has no linear coefficient: ask for full costs",
                network.name(),
                network.unit_name(u)
            )));
        }
        assembly.q = (0..units.len())
            .map(|u| (u, linear_cost(&units[u].cost)))
            .collect();
        return Ok(false);
    }
    let t = assembly.variable(EPIGRAPH.into());
    assembly.q = vec![(t, 1.0)];
    // s = t − c1'p − c0 − Σy is at least Σ c2·p².
    let mut linear: Vec<(usize, f64)> = vec![(t, -1.0)];
    let mut constant = 0.0;
    let mut squares: Vec<(usize, f64)> = Vec::new();
    for (u, unit) in units.iter().enumerate() {
        match &unit.cost {
            Cost::Linear { c1, c0 } => {
                linear.push((u, *c1));
                constant += c0;
            }
            Cost::Quadratic { c2, c1, c0 } => {
                linear.push((u, *c1));
                constant += c0;
                squares.push((u, c2.sqrt()));
            }
            Cost::Piecewise { points } => {
                let name = network.unit_name(u);
                let y = assembly.variable(format!("cost of {name}"));
                linear.push((y, 1.0));
                for (piece, pair) in points.windows(2).enumerate() {
                    let slope = (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0);
                    // slope·p − y ≤ slope·p₀ − c₀
                    assembly.costs.push(Row {
                        name: format!("cost of {name}, piece {}", piece + 1),
                        terms: vec![(u, slope), (y, -1.0)],
                        right: slope * pair[0].0 - pair[0].1,
                        loads: Vec::new(),
                    });
                }
            }
        }
    }
    if squares.is_empty() {
        assembly.costs.push(Row {
            name: "cost of all".into(),
            terms: linear,
            right: -constant,
            loads: Vec::new(),
        });
        return Ok(true);
    }
    // ‖(2√c2·p·√k, s − k)‖ ≤ s + k is Σ c2·p² ≤ s for every k > 0; k of the size of s keeps the cone well scaled.
    let k = units
        .iter()
        .map(|u| match &u.cost {
            Cost::Quadratic { c2, .. } => c2 * u.pmax_mw * u.pmax_mw,
            _ => 0.0,
        })
        .sum::<f64>()
        .max(1.0);
    let row = |name: &str, terms: Vec<(usize, f64)>, right: f64| Row {
        name: name.into(),
        terms,
        right,
        loads: Vec::new(),
    };
    // Rows right − terms: s + k, then the squares, then s − k.
    let mut cone = vec![row("cost of all", linear.clone(), k - constant)];
    for (u, root) in squares {
        let name = format!("square of {}", network.unit_name(u));
        cone.push(row(&name, vec![(u, -2.0 * root * k.sqrt())], 0.0));
    }
    cone.push(row("cost of all, below", linear, -k - constant));
    assembly.cones.push(("cost".into(), cone));
    Ok(true)
}
