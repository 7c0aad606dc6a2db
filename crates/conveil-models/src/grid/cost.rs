//! The cost of generation: linear as it is; with constants, quadratic and piecewise-linear through one epigraph variable.

use super::assembly::{Assembly, Row};
use super::{Costs, linear_cost};
use conveil::program::Stage;
use conveil::{Error, Result};
use conveil_grid::{Cost, Network, Unit};

/// The epigraph variable of the full cost.
pub(super) const EPIGRAPH: &str = "cost";

/// Writes the objective; true if it goes through the epigraph.
pub(super) fn assemble(assembly: &mut Assembly<'_>, costs: Costs) -> Result<bool> {
    let network = assembly.network;
    let units = network.units();
    // A row over the units has no room for a constant: with one, linear costs need the epigraph too.
    let is_a_row = |u: &Unit| matches!(u.cost, Cost::Linear { c0: 0.0, .. });
    if costs == Costs::Linear || units.iter().all(is_a_row) {
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
    let t = assembly.variable(EPIGRAPH.into(), Stage::Epigraph);
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
                // Only that the unit has a cost below its part of the epigraph matters.
                let y = assembly.variable(format!("cost of {name}"), Stage::Witness);
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
            Cost::Quadratic { c2, .. } => c2 * largest_output(network, u).powi(2),
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

/// The public slope of an at-most query (M2): the marginal cost of every unit in the middle of its public limits, where
/// it is not zero. The linear coefficient alone would be the marginal cost at an output of zero.
pub(super) fn slope(network: &Network) -> Vec<(String, f64)> {
    let all = whole_demand(network);
    let units = network.units().iter().enumerate();
    units
        .map(|(u, unit)| {
            let low = unit.pmin_mw.max(-all);
            let high = unit.pmax_mw.min(all);
            let middle = if low <= high {
                0.5 * (low + high)
            } else {
                unit.pmin_mw
            };
            (network.unit_name(u), unit.cost.marginal_at(middle))
        })
        .filter(|term| term.1 != 0.0)
        .collect()
}

/// Limits beyond every dispatch stand for none: no unit serves more than all there is.
fn whole_demand(network: &Network) -> f64 {
    let buses = network.buses().iter();
    buses
        .map(|bus| bus.demand_mw.abs() + bus.shunt_mw.abs())
        .sum()
}

/// The size of a unit's output, at most: its limits, or the whole demand where the network has one and they are beyond.
fn largest_output(network: &Network, unit: &Unit) -> f64 {
    let limit = unit.pmin_mw.abs().max(unit.pmax_mw.abs());
    match whole_demand(network) {
        0.0 => limit,
        all => limit.min(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{LoadBounds, Opf};
    use conveil::ask::{Adjacency, Ask, Privacy, Query, Request};
    use conveil::chance::Feasibility;
    use conveil::plan::Plan;
    use conveil_grid::{Branch, Bus};

    /// A line from bus 1 to bus 2, a unit at each, 30 MW at the second.
    fn two_units(costs: [Cost; 2], pmax_mw: f64) -> Network {
        let bus = |number, demand_mw, is_reference| Bus {
            number,
            demand_mw,
            shunt_mw: 0.0,
            is_reference,
        };
        let units = costs.into_iter().enumerate().map(|(bus, cost)| Unit {
            row: bus + 1,
            bus,
            pmin_mw: 0.0,
            pmax_mw,
            cost,
        });
        let line = Branch {
            row: 1,
            from: 0,
            to: 1,
            r: 0.0,
            x: 0.1,
            tap: 1.0,
            shift: 0.0,
            rate_mw: None,
            angle_min: None,
            angle_max: None,
        };
        let buses = vec![bus(1, 0.0, true), bus(2, 30.0, false)];
        Network::new("two units", 100.0, buses, units.collect(), vec![line])
            .unwrap_or_else(|e| panic!("{e}"))
    }

    fn full(network: Network) -> Opf {
        Opf::of(network)
            .costs(Costs::Full)
            .bounds(LoadBounds::Within(10.0))
            .build()
            .unwrap_or_else(|e| panic!("{e}"))
    }

    fn ask(opf: &Opf) -> Ask {
        Ask::new(opf.cost_query())
            .adjacency(Adjacency::OneEntry { alpha: 0.1 })
            .privacy(Privacy::Laplace { epsilon: 1.0 })
            .sensitivity(Request::envelope(20.0))
            .feasibility(Feasibility::eta(0.1))
    }

    /// The mean released cost, the loss, and s·ln(1/η), which is the loss of linear costs in the symmetric box.
    fn released(opf: &Opf) -> (f64, f64, f64) {
        let plan = Plan::new(opf, ask(opf)).unwrap_or_else(|e| panic!("{e}"));
        let curated = plan
            .curate(&opf.nominal())
            .unwrap_or_else(|e| panic!("{e}"));
        let report = curated.report();
        (report.answer[0].1, report.loss, report.scale * 10f64.ln())
    }

    #[test]
    fn full_linear_costs_have_their_constants() {
        let linear = |c1, c0| Cost::Linear { c1, c0 };
        let plain = full(two_units([linear(1.0, 0.0), linear(3.0, 0.0)], 40.0));
        assert_eq!(plain.cost_query(), Query::Cost);
        let with = full(two_units([linear(1.0, 70.0), linear(3.0, -8.0)], 40.0));
        assert!(matches!(with.cost_query(), Query::AtMost { .. }));
        let ((answer, loss, expected), (raised, same_loss, _)) =
            (released(&plain), released(&with));
        assert!((answer - loss - 30.0).abs() < 1e-5, "{answer} {loss}");
        assert!((raised - answer - 62.0).abs() < 1e-5, "{raised} {answer}");
        assert!((loss - same_loss).abs() < 1e-5, "{loss} {same_loss}");
        assert!((loss - expected).abs() < 1e-4, "{loss} {expected}");
    }

    /// Without linear coefficients the marginal cost is all the slope there is.
    #[test]
    fn purely_quadratic_costs_are_released() {
        let square = |c2| Cost::Quadratic {
            c2,
            c1: 0.0,
            c0: 0.0,
        };
        let network = two_units([square(0.5), square(1.0)], 20.0);
        let expected = [("generator 1", 10.0), ("generator 2", 20.0)];
        let expected = expected.map(|(name, slope)| (name.to_string(), slope));
        assert_eq!(slope(&network), expected);
        // min ½p² + q², p + q = 30: p = 20, q = 10.
        let (answer, loss, _) = released(&full(network));
        assert!((answer - loss - 300.0).abs() < 1e-4, "{answer} {loss}");
        assert!(loss > 0.0);
    }

    /// A limit of a million MW says nothing about where a unit of a 30 MW network stands.
    #[test]
    fn limits_beyond_every_dispatch_do_not_steepen_the_slope() {
        let square = || Cost::Quadratic {
            c2: 0.5,
            c1: 2.0,
            c0: 0.0,
        };
        for (pmax, expected) in [(20.0, 12.0), (30.0, 17.0), (1e6, 17.0)] {
            let slope = slope(&two_units([square(), square()], pmax));
            assert_eq!(slope[0].1, expected, "{pmax}");
        }
    }

    /// The same 30 MW whatever the limits: p = 15.5, q = 14.5 for ½p² + 2p and ½q² + 3q, at 299.75.
    #[test]
    fn limits_beyond_every_dispatch_change_nothing_that_is_released() {
        let square = |c1| Cost::Quadratic {
            c2: 0.5,
            c1,
            c0: 0.0,
        };
        let at = |pmax| released(&full(two_units([square(2.0), square(3.0)], pmax)));
        let (answer, loss, _) = at(40.0);
        assert!((answer - loss - 299.75).abs() < 1e-3, "{answer} {loss}");
        for pmax in [1e3, 1e4, 1e5, 1e6, 1e9] {
            let (found, lost, _) = at(pmax);
            assert!((found - answer).abs() < 1e-3, "{pmax}: {found} {answer}");
            assert!((lost - loss).abs() < 1e-3, "{pmax}: {lost} {loss}");
        }
    }

    /// Without bounds on the loads no limit is cut: the scale of the cone alone must do.
    #[test]
    fn generous_limits_are_solved_without_bounds_on_the_loads() {
        let square = |c1| Cost::Quadratic {
            c2: 0.5,
            c1,
            c0: 0.0,
        };
        for pmax in [40.0, 1e4, 1e5] {
            let network = two_units([square(2.0), square(3.0)], pmax);
            let opf = Opf::of(network).costs(Costs::Full).build();
            let opf = opf.unwrap_or_else(|e| panic!("{e}"));
            let ask = ask(&opf).declared(0.2, "two units with room");
            let plan = Plan::new(&opf, ask).unwrap_or_else(|e| panic!("{e}"));
            let curated = plan.curate(&opf.nominal());
            let curated = curated.unwrap_or_else(|e| panic!("{pmax}: {e}"));
            let optimum = curated.report().optimum;
            assert!((optimum - 299.75).abs() < 0.01, "{pmax}: {optimum}");
        }
    }

    #[test]
    fn costs_that_never_change_have_nothing_to_release() {
        let constant = |c0| Cost::Linear { c1: 0.0, c0 };
        for (network, why) in [
            (two_units([constant(0.0), constant(0.0)], 40.0), "q is zero"),
            (
                two_units([constant(5.0), constant(0.0)], 40.0),
                "names no other variable",
            ),
        ] {
            let opf = full(network);
            let error = Plan::new(&opf, ask(&opf)).err().map(|e| e.to_string());
            assert!(error.as_ref().is_some_and(|e| e.contains(why)), "{error:?}");
        }
    }

    /// Two units of the same cost: without curvature any split is optimal, with it the even one.
    #[test]
    fn curvature_makes_the_generation_unique() {
        let cost = || Cost::Linear { c1: 10.0, c0: 0.0 };
        let network = two_units([cost(), cost()], 40.0);
        for curvature in [0.01, 0.5] {
            let opf = Opf::of(network.clone())
                .curvature(curvature)
                .build()
                .unwrap_or_else(|e| panic!("{e}"));
            let query = opf.generation_query(&[vec!["generator 1".into()]]);
            let ask = Ask::new(query.unwrap_or_else(|e| panic!("{e}")))
                .adjacency(Adjacency::OneEntry { alpha: 0.1 })
                .privacy(Privacy::Laplace { epsilon: 1.0 })
                .sensitivity(Request::Declared {
                    bound: conveil::ask::Bound::PerAlpha(1.0),
                    reason: "half of a load's change goes to each unit".into(),
                })
                .feasibility(Feasibility::eta(0.1));
            let plan = Plan::new(&opf, ask).unwrap_or_else(|e| panic!("{e}"));
            assert!(plan.warnings().is_empty(), "{:?}", plan.warnings());
            let curated = plan
                .curate(&opf.nominal())
                .unwrap_or_else(|e| panic!("{e}"));
            assert!((curated.decided().answer[0] - 15.0).abs() < 1e-4);
            // The objective is the cost and ½κ(p² + Var p) of both units.
            let variance = 2.0 * 0.1 * 0.1;
            let added = 0.5 * curvature * 2.0 * (15.0 * 15.0 + variance);
            assert!((curated.report().objective - 300.0 - added).abs() < 1e-4 * added);
        }
        let refused = Opf::of(network).curvature(-1.0).build().err();
        assert_eq!(
            refused.map(|e| e.to_string()).as_deref(),
            Some("the curvature must be 0 or more and finite, found -1")
        );
    }
}
