//! M8b. Radius: the optimal value with a private linear cost over a public bounded set.
//!
//! |v(q) − v(q')| is at most the largest |(q − q')'x| over the set. With one noise under one box the released c'x̄ is
//! v plus a public constant (M5a), so the same bound holds for what is released. The cost becomes a variable
//! u = q(θ)'x of its own: the query is public, its coefficients stand in a private equality. With noise on the answer the
//! value itself is released (`release = "value"`), and P may be anything public.

use super::certificate::{Certificate, Kind, Rewrite, Site, Tolerance, solver_text};
use super::reach::reach;
use crate::ask::{Query, Request, ResolvedQuery, Strategy, Terms, value};
use crate::chance::Design;
use crate::digits::short;
use crate::error::{Error, Result};
use crate::program::{
    AffineMap, Cone, DataMap, Holds, Location, NewConstraint, NewVariables, Place, Program, Sparse,
    Stage,
};
use crate::proof::{Intervals, Precision, Solver};
use crate::solve::{Outcome, Settings, solve};

/// Up to this many parameters the radius is found by solving, two programs each; above, from the variables' bounds.
const SOLVED: usize = 200;

/// The name of u in reports.
const COST: &str = "cost";

const WHAT: &str = "a certificate by radius";

fn refuse<T>(why: impl Into<String>, instead: &str) -> Result<T> {
    Err(Error::refused(WHAT, why, instead))
}

impl Request {
    /// Certified for the optimal value with a private cost over a public bounded set (M8b).
    pub fn radius() -> Self {
        Request::Certificate {
            word: RadiusKind.word(),
            terms: Terms::default(),
        }
    }
}

/// The kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct RadiusKind;

impl Kind for RadiusKind {
    fn word(&self) -> &'static str {
        "radius"
    }

    fn covers(&self) -> &'static str {
        "the optimal value with private linear costs, over a public bounded set"
    }

    fn makes_the_query(&self) -> bool {
        true
    }

    fn covers_the_objective(&self) -> bool {
        true
    }

    fn private_part(&self) -> Option<&'static str> {
        Some("q")
    }

    fn prove(&self, site: &Site<'_>) -> Result<Box<dyn Certificate>> {
        Ok(Box::new(Radius::new(site)?))
    }
}

/// A value over a public bounded set with a private cost.
///
/// # Guarantee
/// |v(q) − v(q')| ≤ max |(q − q')'x| over the public feasible set, for neighbours, whatever public P stands beside q: the
/// objectives of one point differ by (q − q')'x (M8b). Test: `radius_values_of_quadratic_programs_move_by_at_most_the_bound`.
///
/// With noise on the answer the map is defined for every dataset as soon as it is for one, by that bound itself. With
/// noise in the program it is not: the decision must take up the noise through its private cost, c'X = 1.
#[derive(Clone, Debug)]
struct Radius {
    map: AffineMap,
    query: ResolvedQuery,
    bound: f64,
    solver: f64,
    /// What one unit of the objective is in T⁻¹ times the answer.
    unit: f64,
    everywhere: bool,
    /// What is released is the objective itself, and not a cost that is one up to a constant.
    whole: bool,
}

impl Radius {
    /// Checks on public structure: the query is the optimal value, only q is private, the set is bounded in the directions
    /// that the data price; for a cost also that every variable may respond and every constraint holds with noise.
    fn new(site: &Site<'_>) -> Result<Self> {
        let (map, ask) = (site.map, site.ask);
        let Some(affine) = map.affine() else {
            return refuse(
                "the program depends on the data in a way that cannot be inspected",
                "a map that is affine in the data, or a declared or sampled sensitivity",
            );
        };
        let base = affine.template();
        for parameter in affine.parameters() {
            let elsewhere = |l: &&Location| !matches!(l.place, Place::Q(_));
            if let Some(location) = parameter.locations().iter().find(elsewhere) {
                return refuse(
                    format!(
                        "it covers private linear costs only, but `{}` enters at {}",
                        parameter.name(),
                        location.place
                    ),
                    "a certificate for that part, or a declared or sampled sensitivity",
                );
            }
        }
        if !matches!(ask.query, Query::Cost | Query::Value) {
            return refuse(
                "what is released is not the optimal value",
                "release = \"value\" or \"cost\"",
            );
        }
        let is_on_the_answer = matches!(ask.strategy, Strategy::Output | Strategy::Shifted);
        let whole = ask.query == Query::Value && is_on_the_answer;
        if base.p().nnz() > 0 && !whole {
            return refuse(
                "the objective is quadratic, and the released number must be the optimal value",
                "release = \"value\" with strategy = output; or a certificate by strong convexity for a query of the variables",
            );
        }
        if !ask.risk.is_expectation() {
            return refuse(
                "the released cost is the optimal value plus a constant for the expected cost only",
                "the expected cost",
            );
        }
        if !whole {
            moves_as_one(base)?;
            priced_row(affine).validate(map, ask.strategy)?;
        }
        let each = radii(affine, &ask.settings)?;
        let reach = reach(affine, &site.adjacency, &each, WHAT)?;
        if !(reach > 0.0) {
            return refuse(
                "the data do not move the cost at all",
                "a declared sensitivity",
            );
        }
        let (map, query) = match whole {
            true => (affine.clone(), value::objective()),
            false => priced(affine)?,
        };
        Ok(Radius {
            map,
            query,
            bound: reach / site.scale_of_answer(),
            solver: 0.0,
            unit: 1.0 / site.scale_of_answer(),
            everywhere: ask.strategy != Strategy::Program,
            whole,
        })
    }
}

/// M5a: the released cost of a program with noise is the optimal value plus a constant where everything answers to the noise.
fn moves_as_one(base: &Program) -> Result<()> {
    let stuck = base
        .variables()
        .iter()
        .find(|v| v.stage() == Stage::HereAndNow);
    let loose = base
        .constraints()
        .iter()
        .find(|c| c.holds() != Holds::WithNoise && !matches!(c.cone(), Cone::Zero(_)));
    if let Some(name) = stuck.map(|v| v.name()).or(loose.map(|c| c.name())) {
        return refuse(
            format!(
                "`{name}` does not respond to the noise like the rest, so the released cost is not the optimal value plus a constant"
            ),
            "variables that respond to the noise and constraints that hold with noise only",
        );
    }
    Ok(())
}

impl Certificate for Radius {
    fn name(&self) -> &'static str {
        "radius"
    }

    fn statement(&self) -> String {
        let released = match self.whole {
            true => "the released number is that value",
            false => "the released cost is that value plus a public constant",
        };
        format!(
            "radius: the feasible set is public and bounded; so private linear costs move the optimal value by at most {} between neighbours; {released}{}; it covers the private linear costs",
            short(self.bound, 9),
            solver_text(self.solver)
        )
    }

    fn bound(&self) -> f64 {
        self.bound + self.solver
    }

    fn defined_everywhere(&self) -> bool {
        self.everywhere
    }

    /// The program with its cost as a variable, and the query of that variable.
    fn rewrite(&self) -> Option<Rewrite<'_>> {
        Some(Rewrite {
            map: &self.map,
            query: &self.query,
            deviation: None,
        })
    }

    fn tolerance(&self) -> Option<Tolerance> {
        Some(Tolerance::of_a_value(self.bound(), self.unit, Vec::new()))
    }

    fn counting(&self, tolerance: f64) -> Box<dyn Certificate> {
        Box::new(Radius {
            solver: 2.0 * self.unit * tolerance,
            ..self.clone()
        })
    }

    /// With a private cost another dataset may carry the noise where this one does not: none does at a cost of 0.
    fn may_fit_elsewhere(&self) -> bool {
        true
    }

    fn check(&self, design: &Design) -> Result<()> {
        if design.sole_box(0).is_some() || design.is_at_the_mean() {
            return Ok(());
        }
        refuse(
            "the released cost is the optimal value plus a constant only under one box on all rows",
            "method = \"mass-box\" on every block",
        )
    }
}

/// The cost as a query: what M2 refuses of a public cost it refuses of a private one. A private price is set to 1,
/// whatever its public offset is.
fn priced_row(affine: &AffineMap) -> ResolvedQuery {
    let private = affine.private_costs();
    let row = affine.template().q().iter().enumerate();
    let row = row.map(|(j, q)| (j, if private[j] { 1.0 } else { *q }));
    ResolvedQuery {
        rows: vec![row.filter(|t| t.1 != 0.0).collect()],
        labels: vec![COST.into()],
        slope: None,
        value_factor: None,
        is_objective: false,
    }
}

/// max |Σ coef·x_j| over the public set, for each parameter, from above.
fn radii(affine: &AffineMap, settings: &Settings) -> Result<Vec<f64>> {
    let base = affine.template();
    let mut intervals = Intervals::unbounded(base.columns());
    intervals.propagate(base, Vec::new());
    affine
        .parameters()
        .iter()
        .map(|parameter| {
            let mut row = vec![0.0; base.columns()];
            for location in parameter.locations() {
                if let Place::Q(j) = location.place {
                    row[j] += location.coef;
                }
            }
            let named = (0..row.len()).filter(|&j| row[j] != 0.0);
            let outer: f64 = named
                .clone()
                .map(|j| row[j].abs() * intervals.size(j))
                .sum();
            let solved = if affine.len() <= SOLVED {
                [1.0, -1.0]
                    .iter()
                    .map(|sign| largest_over(base, &row, *sign, settings))
                    .try_fold(0.0f64, |m, v| v.map(|v| m.max(v)))
            } else {
                None
            };
            let radius = solved.map_or(outer, |v| v.min(outer));
            if radius.is_finite() {
                return Ok(radius);
            }
            let open = named.clone().find(|&j| !intervals.is_bounded(j));
            refuse(
                format!(
                    "`{}` prices `{}`, which the public constraints do not bound",
                    parameter.name(),
                    open.map_or(String::new(), |j| base.variable_name(j))
                ),
                "public bounds on the variables with private costs",
            )
        })
        .collect()
}

/// max sign·row'x over the set, from above by a multiplier; `None` without a proof.
fn largest_over(base: &Program, row: &[f64], sign: f64, settings: &Settings) -> Option<f64> {
    let q: Vec<f64> = row.iter().map(|v| -sign * v).collect();
    let cones = base.constraints().iter().map(|c| c.cone().clone());
    let n = base.columns();
    let program = Program::assembled(
        Sparse::zeros(n, n),
        q,
        base.a().clone(),
        base.b().to_vec(),
        0.0,
        cones.collect(),
    );
    let Outcome::Optimal(solution) = solve(&program, settings) else {
        return None;
    };
    let precision = Precision::of_any_value();
    let plain = |program: Program| Solver::plain(&program, settings);
    let solver = Solver {
        solve: &plain,
        settings,
    };
    let proven = precision.prove(&program, &solution, None, &solver).ok()?;
    let bound = -program.objective(&proven.x) + proven.error;
    bound.is_finite().then_some(bound * (1.0 + 1e-9))
}

/// u − q(θ)'x = 0, minimise u.
fn priced(affine: &AffineMap) -> Result<(AffineMap, ResolvedQuery)> {
    let base = affine.template();
    let (m, n) = (base.rows(), base.columns());
    let private = affine.private_costs();
    let mut triplets: Vec<(usize, usize, f64)> = base.a().entries().collect();
    for j in 0..n {
        if base.q()[j] != 0.0 || private[j] {
            triplets.push((m, j, -base.q()[j]));
        }
    }
    triplets.push((m, n, 1.0));
    let mut b = base.b().to_vec();
    b.push(0.0);
    let mut q = vec![0.0; n];
    q.push(1.0);
    let (mut variables, mut constraints) = base.blocks();
    variables.push(NewVariables {
        name: COST.into(),
        len: 1,
        // q(θ)'x itself, an equality: it moves as the decisions do.
        stage: Stage::Decision,
        entries: Vec::new(),
    });
    constraints.push(NewConstraint {
        name: "cost of the decision".into(),
        cone: Cone::Zero(1),
        holds: Holds::WithNoise,
        rows: Vec::new(),
    });
    let a = Sparse::assemble(m + 1, n + 1, &triplets);
    let p = Sparse::zeros(n + 1, n + 1);
    let program = Program::new(p, q, a, b, variables, constraints)?.with_constant(base.constant());
    let parameters = affine.parameters().iter().map(|parameter| {
        let places = parameter
            .locations()
            .iter()
            .filter_map(|l| match l.place {
                Place::Q(j) => Some(Location::new(Place::A(m, j), -l.coef)),
                _ => None,
            })
            .collect();
        parameter.moved_to(places)
    });
    let map = AffineMap::new(program, parameters.collect::<Vec<_>>())?;
    let query = ResolvedQuery {
        rows: vec![vec![(n, 1.0)]],
        labels: vec!["cost".into()],
        slope: None,
        value_factor: Some(1.0),
        is_objective: false,
    };
    Ok((map, query))
}
