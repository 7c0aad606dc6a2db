//! The rows of a power flow, family by family, with a name for each.

use super::reach::Reach;
use conveil::Result;
use conveil::program::{
    AffineMap, Cone, Holds, Location, NewConstraint, NewVariables, Parameter, Place, Program,
    Sparse, Stage,
};
use conveil_grid::{Branch, Network, Susceptance};

/// A row Σ terms ≤ or = right, and the private loads in its right-hand side.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) terms: Vec<(usize, f64)>,
    pub(super) right: f64,
    /// (place among the private loads, coefficient).
    pub(super) loads: Vec<(usize, f64)>,
}

/// A program under construction: units first, then angles, then what costs need.
pub(super) struct Assembly<'n> {
    pub(super) network: &'n Network,
    private: Vec<usize>,
    /// The place of each bus among the private loads.
    pub(super) place: Vec<Option<usize>>,
    variables: Vec<NewVariables>,
    pub(super) balances: Vec<Row>,
    pub(super) lines: Vec<Row>,
    generators: Vec<Row>,
    fixed: Vec<Row>,
    flows: Vec<Row>,
    pub(super) costs: Vec<Row>,
    /// Second-order cones: name and rows right − terms.
    pub(super) cones: Vec<(String, Vec<Row>)>,
    pub(super) q: Vec<(usize, f64)>,
    /// κ of ½κp² for every unit.
    pub(super) curvature: f64,
}

impl<'n> Assembly<'n> {
    pub(super) fn new(network: &'n Network, private: &[usize], reach: &Reach) -> Self {
        let mut place = vec![None; network.buses().len()];
        for (k, &i) in private.iter().enumerate() {
            place[i] = Some(k);
        }
        let units = network.units();
        let mut generators = Vec::with_capacity(2 * units.len());
        let mut fixed = Vec::new();
        for (u, unit) in units.iter().enumerate() {
            let name = network.unit_name(u);
            // A unit without room is an equality: two limits that meet leave no point inside.
            if unit.pmin_mw == unit.pmax_mw {
                fixed.push(Row {
                    name: format!("{name} fixed"),
                    terms: vec![(u, 1.0)],
                    right: unit.pmin_mw,
                    loads: Vec::new(),
                });
                continue;
            }
            let (low, high) = reach.limits(unit);
            for (side, sign, limit) in [("upper", 1.0, high), ("lower", -1.0, low)] {
                generators.push(Row {
                    name: format!("{name} {side}"),
                    terms: vec![(u, sign)],
                    right: sign * limit,
                    loads: Vec::new(),
                });
            }
        }
        Assembly {
            network,
            private: private.to_vec(),
            place,
            variables: (0..units.len())
                .map(|u| one(network.unit_name(u), Stage::Decision))
                .collect(),
            balances: Vec::new(),
            lines: Vec::new(),
            generators,
            fixed,
            flows: Vec::new(),
            costs: Vec::new(),
            cones: Vec::new(),
            q: Vec::new(),
            curvature: 0.0,
        }
    }

    /// A new variable. Outputs are decisions, and so are the flows and angles that go with them: what the network does.
    pub(super) fn variable(&mut self, name: String, stage: Stage) -> usize {
        self.variables.push(one(name, stage));
        self.variables.len() - 1
    }

    /// Demand and shunt of a bus: the public part, and the private load if it is one.
    pub(super) fn demand(&self, bus: usize) -> (f64, Option<usize>) {
        let data = &self.network.buses()[bus];
        match self.place[bus] {
            Some(k) => (data.shunt_mw, Some(k)),
            None => (data.shunt_mw + data.demand_mw, None),
        }
    }

    /// Balances and limits in angles: flow = b·(ϑ_from − ϑ_to − base·shift), ϑ in radians times the base power.
    pub(super) fn angles(&mut self, convention: Susceptance, angle_limits: bool) {
        let network = self.network;
        let base = network.base_mva();
        let columns: Vec<Option<usize>> = network
            .buses()
            .iter()
            .map(|bus| {
                (!bus.is_reference)
                    .then(|| self.variable(format!("angle {}", bus.number), Stage::Decision))
            })
            .collect();
        let mut balances: Vec<Row> = (0..columns.len())
            .map(|i| {
                let (right, load) = self.demand(i);
                Row {
                    name: network.balance_name(i),
                    terms: Vec::new(),
                    right,
                    loads: load.map(|k| (k, 1.0)).into_iter().collect(),
                }
            })
            .collect();
        for (u, unit) in network.units().iter().enumerate() {
            balances[unit.bus].terms.push((u, 1.0));
        }
        for (index, branch) in network.branches().iter().enumerate() {
            let b = branch.susceptance(convention);
            let mut flow = difference(&columns, branch, b);
            if branch.shift != 0.0 {
                // A flow of its own: b·base·shift can be a thousand times the limit, and would spoil the numbers.
                let name = format!("flow of {}", network.branch_name(index));
                let own = self.variable(name.clone(), Stage::Decision);
                let mut terms = difference(&columns, branch, 1.0);
                terms.push((own, -1.0 / b));
                self.flows.push(Row {
                    name,
                    terms,
                    right: base * branch.shift,
                    loads: Vec::new(),
                });
                flow = vec![(own, 1.0)];
            }
            for (bus, sign) in [(branch.from, -1.0), (branch.to, 1.0)] {
                let row = &mut balances[bus];
                row.terms.extend(flow.iter().map(|&(j, v)| (j, sign * v)));
            }
            if let Some(rate) = branch.rate_mw {
                self.two_sided(index, "", &flow, (-rate, rate), &[]);
            }
            if angle_limits {
                let angle = difference(&columns, branch, 1.0);
                let low = branch.angle_min.map_or(f64::NEG_INFINITY, |v| base * v);
                let high = branch.angle_max.map_or(f64::INFINITY, |v| base * v);
                self.two_sided(index, " angle", &angle, (low, high), &[]);
            }
        }
        self.balances = balances;
    }

    /// low ≤ terms + loads ≤ high of a branch; infinite sides are left out.
    pub(super) fn two_sided(
        &mut self,
        branch: usize,
        what: &str,
        terms: &[(usize, f64)],
        (low, high): (f64, f64),
        loads: &[(usize, f64)],
    ) {
        let name = self.network.branch_name(branch);
        for (side, sign, limit) in [("upper", 1.0, high), ("lower", -1.0, low)] {
            if limit.is_finite() {
                self.lines.push(Row {
                    name: format!("{name}{what} {side}"),
                    terms: terms.iter().map(|&(j, v)| (j, sign * v)).collect(),
                    right: sign * limit,
                    loads: loads.iter().map(|&(k, v)| (k, -sign * v)).collect(),
                });
            }
        }
    }

    /// The map.
    pub(super) fn finish(self, bounds: &Option<Vec<(f64, f64)>>) -> Result<AffineMap> {
        let columns = self.variables.len();
        let mut places: Vec<Vec<Location>> = vec![Vec::new(); self.private.len()];
        let mut triplets = Vec::new();
        let mut b = Vec::new();
        let mut constraints = Vec::new();
        let linear = |m: usize| Cone::Nonnegative(m);
        let families = [
            ("balances", self.balances, true),
            ("flows over phase shifters", self.flows, true),
            ("fixed generators", self.fixed, true),
            ("generators", self.generators, false),
            ("lines", self.lines, false),
            ("costs", self.costs, false),
        ];
        let mut add = |name: String, rows: Vec<Row>, cone: Cone| {
            let names = rows.iter().map(|row| row.name.clone()).collect();
            for row in rows {
                let i = b.len();
                triplets.extend(row.terms.into_iter().map(|(j, v)| (i, j, v)));
                b.push(row.right);
                for (k, v) in row.loads {
                    places[k].push(Location::new(Place::B(i), v));
                }
            }
            constraints.push(NewConstraint {
                name,
                cone,
                holds: Holds::WithNoise,
                rows: names,
            });
        };
        for (name, rows, is_equality) in families {
            if rows.is_empty() {
                continue;
            }
            let cone = if is_equality {
                Cone::Zero(rows.len())
            } else {
                linear(rows.len())
            };
            add(name.into(), rows, cone);
        }
        for (name, rows) in self.cones {
            let cone = Cone::SecondOrder(rows.len());
            add(name, rows, cone);
        }
        let mut q = vec![0.0; columns];
        self.q.iter().for_each(|&(j, v)| q[j] += v);
        let a = Sparse::from_triplets(b.len(), columns, &triplets)?;
        let p = match self.curvature {
            0.0 => Sparse::zeros(columns, columns),
            kappa => {
                // The units are the first variables.
                let units = 0..self.network.units().len();
                let diagonal: Vec<_> = units.map(|u| (u, u, kappa)).collect();
                Sparse::from_triplets(columns, columns, &diagonal)?
            }
        };
        let program = Program::new(p, q, a, b, self.variables, constraints)?;
        let parameters = self.private.iter().zip(places).enumerate();
        let parameters = parameters.map(|(k, (&bus, places))| {
            let data = &self.network.buses()[bus];
            let load = Parameter::new(format!("load {}", data.number)).at_all(places);
            match bounds {
                None => load.nominal(data.demand_mw),
                Some(bounds) => load
                    .clipped(bounds[k].0, bounds[k].1)
                    .nominal(data.demand_mw),
            }
        });
        AffineMap::new(program, parameters.collect::<Vec<_>>())
    }
}

/// A variable of its own.
fn one(name: String, stage: Stage) -> NewVariables {
    NewVariables {
        name,
        len: 1,
        stage,
        entries: Vec::new(),
    }
}

/// factor·(ϑ_from − ϑ_to), reference angles left out.
fn difference(columns: &[Option<usize>], branch: &Branch, factor: f64) -> Vec<(usize, f64)> {
    let from = columns[branch.from].map(|j| (j, factor));
    let to = columns[branch.to].map(|j| (j, -factor));
    from.into_iter().chain(to).collect()
}
