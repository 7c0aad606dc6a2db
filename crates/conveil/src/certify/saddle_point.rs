//! M15c. Any linear query of the solution with private numbers anywhere in the program.
//!
//! Below its priced slack every row with private numbers has a quadratic one, ‖w‖²/(2ν). Then the multipliers have curvature ν too,
//! and the solution with its multipliers is the saddle point of a function that is strongly convex in x and strongly concave in y,
//! over public sets.

use super::certificate::{Certificate, Rewrite, Site, Tolerance, limited, solver_text};
use super::deviation::Deviation;
use super::elastic::{Built, Elastic, WHAT, known, positive, refuse};
use super::floor::floor;
use super::metric::{CurvedBound, Metric};
use super::reach::reach;
use super::saddle_value::{one_box, paid_for};
use super::strong_convexity::OF_A_DISTANCE;
use crate::ask::{ResolvedQuery, Strategy};
use crate::chance::Design;
use crate::digits::short;
use crate::error::Result;
use crate::program::{AffineMap, DataMap, Parameter, Place, Sparse};
use crate::proof::Curvature;
use crate::rule::{RowRule, Rule};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bounds stand this much above what was computed.
const ROUNDING: f64 = 1.0 + 1e-9;

/// A curved program whose rows with private numbers give way smoothly, and at a price.
///
/// # Guarantee
/// ‖x̄ − x̄'‖ in P₀ ≤ ½(g + √(g² + h²/ν)), where g is the most that Δq + ΔA'y + ΔPx can be in P₀⁻¹, and h the most that ΔAx − Δb can be in
/// the Euclidean norm, over the public sets of x and y (M15c): add the variational inequalities of the two saddle points, which are
/// strongly monotone by P₀ in x and by ν in y. With noise in the program it needs public P; where A is private also one box
/// on all rows, and rows whose noise is fixed. The map is defined for every dataset as soon as it is for one. Tests:
/// `saddle_points_never_move_more_than_the_bound`, `saddle_points_with_noise_in_the_program_never_move_more`.
#[derive(Clone, Debug)]
pub(super) struct SaddlePoint {
    map: AffineMap,
    query: ResolvedQuery,
    bound: CurvedBound,
    deviation: Option<Deviation>,
    width: f64,
    curvature: Option<f64>,
    prices: Vec<f64>,
    in_the_matrix: bool,
}

impl SaddlePoint {
    /// Checks on public structure: every row with private numbers is an inequality or a cone that can give way, with a price;
    /// every variable that meets private A or P has public bounds; the public floor of P is positive definite on what is released
    /// and on every variable that meets private q, A or P.
    pub(super) fn new(site: &Site<'_>, width: f64) -> Result<Self> {
        let width = positive("width", width)?;
        let Some((query, rule)) = site.posed else {
            return refuse("there is no query to prove", "a query of the variables");
        };
        if query.is_objective {
            return refuse(
                "the value needs no width: its certificate has prices alone",
                "leave `width` and `curvature` out",
            );
        }
        let elastic = Elastic::new(site)?;
        let affine = elastic.affine;
        if let Some(unit) = elastic.equality() {
            return refuse(
                format!(
                    "`{}` is an equality with private numbers: it cannot be tightened so that it holds at the data themselves",
                    unit.name
                ),
                "by = \"moreau\" where its right-hand side alone is private; or limits on both sides in the place of the equality",
            );
        }
        let parts = affine.private_parts();
        let risk = &site.ask.risk;
        if risk.has_limit() {
            return Err(limited(WHAT));
        }
        if parts.q && risk.weighs_cvar() {
            return refuse(
                "CVaR ties the private costs to the noise",
                "the expected cost",
            );
        }
        if site.ask.strategy == Strategy::Program {
            if parts.p {
                return refuse(
                    "the quadratic cost is private, and so would be what the noise costs",
                    "strategy = output",
                );
            }
            elastic.refuse_moving_equations()?;
            fixed_noise(&elastic, rule)?;
        }
        let Built { map, deviation, .. } = elastic.build(Some(width), None, site.ask.strategy)?;
        let curvature = curved_floor(affine, &map)?;
        let Some(metric) = Metric::new(&curvature, query, site.shape) else {
            let columns = query.rows().iter().flatten().map(|t| t.0);
            return flat(affine, &curvature, columns, "is released");
        };
        let meets = affine.parameters().places().map(|(_, at)| at);
        let columns = meets.flat_map(|location| match location.place {
            Place::Q(j) | Place::A(_, j) => vec![j],
            Place::P(i, j) => vec![i, j],
            Place::B(_) => Vec::new(),
        });
        let columns: Vec<usize> = columns.collect();
        if columns.iter().any(|&j| curvature.place(j).is_none()) {
            return flat(
                affine,
                &curvature,
                columns.into_iter(),
                "meets private numbers",
            );
        }
        let parameters = affine.parameters().iter();
        let each: Vec<f64> = parameters
            .map(|parameter| moved(&elastic, &parameter, &curvature, width))
            .collect::<Result<_>>()?;
        let reach = ROUNDING * reach(affine, &site.adjacency, &each, WHAT)?;
        if !(reach > 0.0 && reach.is_finite()) {
            return refuse(
                "the data do not move the answer at all",
                "a declared sensitivity",
            );
        }
        let bound = metric.stretch(site.norm) * reach;
        let prices = elastic.units.iter().map(|unit| unit.price).collect();
        Ok(SaddlePoint {
            bound: CurvedBound::new(Arc::new(curvature), &metric, site.norm, bound, reach),
            query: query.clone(),
            map,
            deviation,
            width,
            curvature: site.terms.curvature,
            prices,
            in_the_matrix: parts.a,
        })
    }
}

/// With noise in the program, rows with private coefficients must be linear, and how they follow the noise must be fixed: copies
/// of a cone at several noises, or a rule that is still to be decided, would meet the private coefficients too.
fn fixed_noise(elastic: &Elastic<'_>, rule: &Rule) -> Result<()> {
    let program = elastic.affine.template();
    let by_rows = program.a().by_rows();
    for parameter in elastic.affine.parameters() {
        for location in parameter.locations() {
            let Place::A(i, _) = location.place else {
                continue;
            };
            if let Some(unit) = elastic.block_of(i) {
                return refuse(
                    format!(
                        "`{}` is a coefficient in `{}`, a cone that is not linear, which the noise moves",
                        parameter.name(),
                        unit.name
                    ),
                    "strategy = output",
                );
            }
            let moves = |j: &usize| matches!(rule.row(*j), RowRule::Free(_));
            let mut columns = by_rows.row(i).iter().map(|t| t.0);
            if let Some(free) = columns.find(moves) {
                return refuse(
                    format!(
                        "`{}` is a coefficient in `{}`, and how `{}` follows the noise there is still to be decided: the rule would depend on the data",
                        parameter.name(),
                        program.row_name(i),
                        program.variable_name(free)
                    ),
                    "strategy = output; or a query that releases every variable of that row",
                );
            }
        }
    }
    Ok(())
}

/// P₀ with the curvature of the slacks behind it.
fn curved_floor(affine: &AffineMap, map: &AffineMap) -> Result<Curvature> {
    let users = affine.template().columns();
    let behind = map.template().p().entries().filter(|e| e.1 >= users);
    let mut entries: Vec<(usize, usize, f64)> = floor(affine)?.entries().collect();
    entries.extend(behind);
    let n = map.template().columns();
    match Curvature::of(&Sparse::assemble(n, n, &entries)) {
        Some(curvature) => Ok(curvature),
        None => refuse(
            "the quadratic cost is not positive definite on the variables it names, for all data within the public bounds",
            "`curvature` beside the width, or narrower public bounds on the numbers in P",
        ),
    }
}

/// Names the first of these columns on which the cost has no curvature.
fn flat<T>(
    affine: &AffineMap,
    curvature: &Curvature,
    mut columns: impl Iterator<Item = usize>,
    why: &str,
) -> Result<T> {
    let found = columns.find(|&j| curvature.place(j).is_none());
    let name = found.map_or(String::new(), |j| affine.template().variable_name(j));
    refuse(
        format!("`{name}` {why}, and the cost has no curvature on it: its optimal value may jump"),
        "`curvature` beside the width: a small quadratic cost on what is released and on what meets private numbers, for example curvature = 0.1",
    )
}

/// ½(g + √(g² + h²/ν)) of one unit of a number. In P₀⁻¹ its part of Δq is one vector; that of ΔA'y is Σ y_i a_i with |y_i| ≤ π_i and
/// a_i what it adds to row i; that of ΔPx is Σ x_j c_j with |x_j| ≤ X_j and c_j what it adds to column j of P.
fn moved(
    elastic: &Elastic<'_>,
    parameter: &Parameter,
    curvature: &Curvature,
    width: f64,
) -> Result<f64> {
    let n = curvature.columns.len();
    let size_of = |v: &[f64]| crate::program::norm(&curvature.half_inverse(v));
    let add = |v: &mut Vec<f64>, j: usize, coef: f64| {
        v.resize(n, 0.0);
        if let Some(place) = curvature.place(j) {
            v[place] += coef;
        }
    };
    let mut costs = vec![0.0; n];
    let mut of_rows: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    let mut of_columns: BTreeMap<usize, (f64, Vec<f64>)> = BTreeMap::new();
    let mut rows: BTreeMap<usize, f64> = BTreeMap::new();
    for location in parameter.locations() {
        let (place, coef) = (location.place, location.coef);
        let size = |j: usize| elastic.size(j, parameter, place);
        match place {
            Place::Q(j) => add(&mut costs, j, coef),
            Place::A(i, j) => {
                add(of_rows.entry(i).or_default(), j, coef);
                *rows.entry(i).or_default() += coef.abs() * size(j)?;
            }
            Place::P(i, j) => {
                let both = if i == j {
                    vec![(i, j)]
                } else {
                    vec![(i, j), (j, i)]
                };
                for (i, j) in both {
                    let column = of_columns.entry(j).or_default();
                    column.0 = size(j)?;
                    add(&mut column.1, i, coef);
                }
            }
            Place::B(i) => *rows.entry(i).or_default() += coef.abs(),
        }
    }
    let mut g = size_of(&costs);
    g += (of_rows.iter().map(|(i, v)| elastic.price(*i) * size_of(v))).sum::<f64>();
    g += (of_columns.values().map(|(x, v)| x * size_of(v))).sum::<f64>();
    let h: f64 = rows.values().map(|v| v * v).sum::<f64>().sqrt();
    Ok(0.5 * (g + (g * g + h * h / width).sqrt()))
}

impl Certificate for SaddlePoint {
    fn name(&self) -> &'static str {
        "saddle point"
    }

    fn statement(&self) -> String {
        let curvature = self.curvature.map_or(String::new(), |kappa| {
            format!(
                "; a quadratic cost of {} is added on what is released and on what meets private numbers",
                short(kappa, 9)
            )
        });
        let margin = match self.prices.is_empty() {
            true => String::new(),
            false => format!(
                ", above a margin of width {} that gives way smoothly",
                short(self.width, 9)
            ),
        };
        format!(
            "saddle point: {}{margin}{curvature}; public rows bound every variable that meets private numbers; so {} moves by at most {} in the {} norm between neighbours{}; it covers private numbers anywhere in the program; it assumes that width, prices, curvature, public bounds and the public part of the program were fixed without the data",
            paid_for(&self.prices),
            self.bound.of,
            short(self.bound.bound, 9),
            self.bound.norm.symbol(),
            solver_text(self.bound.solver)
        )
    }

    fn bound(&self) -> f64 {
        self.bound.total()
    }

    fn defined_everywhere(&self) -> bool {
        true
    }

    fn rewrite(&self) -> Option<Rewrite<'_>> {
        Some(Rewrite {
            map: &self.map,
            query: &self.query,
            deviation: self.deviation.as_ref(),
        })
    }

    fn tolerance(&self) -> Option<Tolerance> {
        let mut tolerance = Tolerance::of_a_distance(&self.bound, OF_A_DISTANCE);
        tolerance.known = known(self.deviation.as_ref());
        Some(tolerance)
    }

    fn counting(&self, tolerance: f64) -> Box<dyn Certificate> {
        Box::new(SaddlePoint {
            bound: self.bound.counting(tolerance),
            ..self.clone()
        })
    }

    fn check(&self, design: &Design) -> Result<()> {
        match self.in_the_matrix {
            true => one_box(design),
            false => Ok(()),
        }
    }
}
