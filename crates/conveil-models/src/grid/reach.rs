//! How far a dispatch can reach: limits far beyond that stand for none, and are cut to keep the program well scaled.
//!
//! The balance holds whatever the noise, so a unit generates what is drawn less what the others generate. Where the
//! private loads have public bounds, that is a public number, and a limit beyond it never decides anything: every
//! dispatch that meets the other limits meets the cut one. (Loads many times outside their bounds could miss it; what is
//! decided is decided for clipped ones.)

use conveil_grid::{Network, Unit};

/// A limit is left as it is up to this many times what can be reached.
const MARGIN: f64 = 10.0;

/// What can be drawn and generated over the whole network, in MW; infinite where a private load has no bounds.
pub(super) struct Reach {
    drawn: f64,
    absorbed: f64,
    generated: f64,
}

impl Reach {
    pub(super) fn of(network: &Network, private: &[usize], bounds: Option<&[(f64, f64)]>) -> Self {
        let mut drawn: Vec<f64> = network.buses().iter().map(|b| b.demand_mw.abs()).collect();
        for (k, &bus) in private.iter().enumerate() {
            drawn[bus] = bounds.map_or(f64::INFINITY, |b| b[k].0.abs().max(b[k].1.abs()));
        }
        let shunts = network.buses().iter().map(|bus| bus.shunt_mw.abs());
        let units = network.units().iter();
        Reach {
            drawn: drawn.iter().sum::<f64>() + shunts.sum::<f64>(),
            absorbed: units.clone().map(|unit| (-unit.pmin_mw).max(0.0)).sum(),
            generated: units.map(|unit| unit.pmax_mw.max(0.0)).sum(),
        }
    }

    /// The limits of a unit, cut where they are far beyond every dispatch that meets the limits of the others.
    pub(super) fn limits(&self, unit: &Unit) -> (f64, f64) {
        let others = (
            self.absorbed - (-unit.pmin_mw).max(0.0),
            self.generated - unit.pmax_mw.max(0.0),
        );
        let high = MARGIN * (self.drawn + others.0);
        let low = -MARGIN * (self.drawn + others.1);
        // Where even the other limit is out of reach, the network is infeasible, and the limits stay in order.
        (
            unit.pmin_mw.max(low.min(unit.pmax_mw)),
            unit.pmax_mw.min(high.max(unit.pmin_mw)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(pmin_mw: f64, pmax_mw: f64) -> Unit {
        Unit {
            row: 1,
            bus: 0,
            pmin_mw,
            pmax_mw,
            cost: conveil_grid::Cost::Linear { c1: 1.0, c0: 0.0 },
        }
    }

    #[test]
    fn a_limit_is_cut_only_where_no_dispatch_comes_near_it() {
        // 40 MW at most are drawn; the units absorb 5 and generate 1e9 + 50.
        let reach = Reach {
            drawn: 40.0,
            absorbed: 5.0,
            generated: 1e9 + 50.0,
        };
        // The first serves all that is drawn and absorbed: ten times 45 are left to it. The second keeps its own limits.
        assert_eq!(reach.limits(&unit(0.0, 1e9)), (0.0, 450.0));
        assert_eq!(reach.limits(&unit(-5.0, 50.0)), (-5.0, 50.0));
        // A unit that must generate more than there is stays infeasible, with its limits in order.
        assert_eq!(reach.limits(&unit(1e6, 2e6)), (1e6, 1e6));
        let open = Reach {
            drawn: f64::INFINITY,
            ..reach
        };
        assert_eq!(open.limits(&unit(-1e9, 1e9)), (-1e9, 1e9));
    }
}
