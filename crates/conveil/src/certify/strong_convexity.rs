//! M8c. Strong convexity: private linear costs q, public P ≻ 0 and a public feasible set.
//! ‖x̄(q) − x̄(q')‖ in P is at most ‖q − q'‖ in P⁻¹, whatever the tightening and the recourse.

use super::certificate::{Certificate, Kind, Site, Tolerance, solver_text};
use super::metric::{CurvedBound, Metric};
use crate::ask::{Adjacency, Norm, Request, Strategy, Terms};
use crate::digits::short;
use crate::error::{Error, Result};
use crate::program::{AffineMap, DataMap, Location, Place};
use crate::proof::Curvature;

/// A distance is the root of a gap, and some data are proven much less closely than any that a plan tries: this many times
/// as much room.
pub(super) const OF_A_DISTANCE: f64 = 2.0;

/// What refusals call it.
const WHAT: &str = "a certificate by strong convexity";

impl Request {
    /// Certified for private linear costs, a public positive definite quadratic cost and a public feasible set (M8c).
    pub fn strong_convexity() -> Self {
        Request::Certificate {
            word: StrongConvexityKind.word(),
            terms: Terms::default(),
        }
    }
}

/// The kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct StrongConvexityKind;

impl Kind for StrongConvexityKind {
    fn word(&self) -> &'static str {
        "strong-convexity"
    }

    fn covers(&self) -> &'static str {
        "private linear costs beside a public positive definite quadratic cost, over a public set"
    }

    fn private_part(&self) -> Option<&'static str> {
        Some("q")
    }

    fn prove(&self, site: &Site<'_>) -> Result<Box<dyn Certificate>> {
        Ok(Box::new(StrongConvexity::new(site)?))
    }
}

/// A strongly convex program of which the linear cost is private.
///
/// # Guarantee
/// With g = P^{-1/2}(q − q'), the mean decision moves by a y with ‖y − g/2‖ ≤ ‖g‖/2 in the coordinates of P^{1/2}: it is
/// the proximal point of a public convex function (the objective of the recourse and every constraint are public).
///
/// The map is defined for every dataset as soon as it is for one: the public function is then finite somewhere and,
/// being convex, above a linear one; with the quadratic cost it has one proximal point at every q.
#[derive(Clone, Debug)]
struct StrongConvexity(CurvedBound);

impl StrongConvexity {
    /// Checks on public structure: only q is private, P is positive definite on what q and the query touch, the
    /// objective is the expected one.
    fn new(site: &Site<'_>) -> Result<Self> {
        let instead = "a declared or sampled sensitivity";
        let refuse = |why: String| Err(Error::refused(WHAT, why, instead));
        let Some(affine) = site.map.affine() else {
            return refuse(
                "the program depends on the data in a way that cannot be inspected".into(),
            );
        };
        let beside_costs = match affine.parameters().costs() {
            Some(_) => None,
            None => Some(affine.parameters().iter()),
        };
        for parameter in beside_costs.into_iter().flatten() {
            let elsewhere = |l: &&Location| !matches!(l.place, Place::Q(_));
            if let Some(location) = parameter.locations().iter().find(elsewhere) {
                return refuse(format!(
                    "it covers private linear costs only, but `{}` enters at {}",
                    parameter.name(),
                    location.place
                ));
            }
        }
        let risk = &site.ask.risk;
        if risk.weighs_cvar() || risk.has_limit() {
            return refuse("CVaR ties the private costs to the noise".into());
        }
        Ok(StrongConvexity(moved_by_costs(site, affine)?))
    }
}

/// How far private linear costs move the answer (M8c), refused where the cost has no curvature on what they or the query
/// touch. The site's map is this one, and its feasible set is public.
pub(super) fn moved_by_costs(site: &Site<'_>, affine: &AffineMap) -> Result<CurvedBound> {
    let refuse = |why: &str| {
        let instead = "a declared or sampled sensitivity";
        Err(Error::refused(WHAT, why, instead))
    };
    let Some(curvature) = site.curvature() else {
        return refuse("the quadratic cost is not positive definite on the variables it names");
    };
    let Some(metric) = site.metric(&curvature) else {
        return refuse(
            "the query names a variable on which the quadratic cost is not positive definite",
        );
    };
    let norm = site.norm;
    // Without constraints the minimiser is linear in the costs, and moves by g itself.
    let is_linear = site.ask.strategy == Strategy::LinearTerm && affine.template().rows() == 0;
    let moves = match is_linear {
        true => Moves::Linearly(&metric),
        false => Moves::Firmly(&metric),
    };
    let (bound, reach) = over_adjacency(affine, &curvature, &site.adjacency, moves, norm)?;
    if !(bound > 0.0) {
        return refuse("the data do not move the answer at all");
    }
    let bound = CurvedBound::new(curvature, &metric, norm, bound, reach);
    Ok(match is_linear {
        true => {
            bound.of("T⁻¹ times the minimiser without the constraints (the noise is shaped by T)")
        }
        false => bound,
    })
}

/// How costs move the answer.
#[derive(Clone, Copy)]
enum Moves<'m> {
    /// By the proximal point of a public convex function.
    Firmly(&'m Metric),
    /// By g itself (M17c).
    Linearly(&'m Metric),
}

impl Moves<'_> {
    fn by(self, norm: Norm, g: &[f64]) -> f64 {
        match self {
            Moves::Firmly(metric) => metric.firm(norm, g),
            Moves::Linearly(metric) => metric.linear(norm, g),
        }
    }

    fn over_box(self, norm: Norm, each: &[Vec<f64>]) -> f64 {
        match self {
            Moves::Firmly(metric) => metric.firm_over_box(norm, each),
            Moves::Linearly(metric) => metric.linear_over_box(norm, each),
        }
    }

    fn over_ball(self, norm: Norm, each: &[Vec<f64>]) -> f64 {
        match self {
            Moves::Firmly(metric) => metric.firm_over_ball(norm, each),
            Moves::Linearly(metric) => metric.linear_over_ball(norm, each),
        }
    }
}

impl Certificate for StrongConvexity {
    fn name(&self) -> &'static str {
        "strong convexity"
    }

    fn statement(&self) -> String {
        format!(
            "strong convexity: the quadratic cost is public and positive definite, and the feasible set is public; so private linear costs move {} by at most {} in the {} norm{}; it covers the private linear costs",
            self.0.of,
            short(self.0.bound, 9),
            self.0.norm.symbol(),
            solver_text(self.0.solver)
        )
    }

    fn bound(&self) -> f64 {
        self.0.total()
    }

    fn defined_everywhere(&self) -> bool {
        true
    }

    fn tolerance(&self) -> Option<Tolerance> {
        Some(Tolerance::of_a_distance(&self.0, OF_A_DISTANCE))
    }

    fn counting(&self, tolerance: f64) -> Box<dyn Certificate> {
        Box::new(StrongConvexity(self.0.counting(tolerance)))
    }
}

/// Shows L⁻¹G by columns, how each parameter moves q in P^{-1/2}, one after the other: of a million responses none is held.
fn each_cost_move(
    affine: &AffineMap,
    curvature: &Curvature,
    mut show: impl FnMut(Vec<f64>),
) -> Result<()> {
    let parameters = affine.parameters();
    let mut column = vec![0.0; curvature.columns.len()];
    let no_curvature = |name: &str, j: usize| {
        Error::refused(
            "a certificate by strong convexity",
            format!(
                "`{name}` is a cost of `{}`, on which the quadratic cost is not positive definite",
                affine.template().variable_name(j)
            ),
            "a small quadratic cost on that variable",
        )
    };
    if let Some(costs) = parameters.costs() {
        let mut row = vec![0.0; costs.width()];
        for index in 0..costs.len() {
            costs.row(index, &mut row);
            column.fill(0.0);
            for (j, coef) in row.iter().enumerate().filter(|(_, coef)| **coef != 0.0) {
                match curvature.place(j) {
                    Some(place) => column[place] += coef,
                    None => {
                        let parameter = parameters.get(index);
                        let name = parameter.map_or(String::new(), |p| p.name().into_owned());
                        return Err(no_curvature(&name, j));
                    }
                }
            }
            show(curvature.half_inverse(&column));
        }
        return Ok(());
    }
    for parameter in parameters {
        column.fill(0.0);
        for location in parameter.locations() {
            if let Place::Q(j) = location.place {
                let Some(place) = curvature.place(j) else {
                    return Err(no_curvature(&parameter.name(), j));
                };
                column[place] += location.coef;
            }
        }
        show(curvature.half_inverse(&column));
    }
    Ok(())
}

/// The bound on the answer, and sup ‖g‖₂, over neighbours.
fn over_adjacency(
    affine: &AffineMap,
    curvature: &Curvature,
    adjacency: &Adjacency,
    moves: Moves<'_>,
    norm: Norm,
) -> Result<(f64, f64)> {
    let mut worst = (0.0f64, 0.0f64);
    match adjacency {
        Adjacency::OneEntry { alpha } | Adjacency::L1 { alpha } => {
            each_cost_move(affine, curvature, |g| {
                worst = (
                    worst.0.max(moves.by(norm, &g)),
                    worst.1.max(crate::program::norm(&g)),
                );
            })?;
            Ok((alpha * worst.0, alpha * worst.1))
        }
        Adjacency::L2 { alpha } => {
            let mut costs = Vec::new();
            each_cost_move(affine, curvature, |g| costs.push(g))?;
            let reach = super::metric::largest_singular(&costs);
            Ok((alpha * moves.over_ball(norm, &costs), alpha * reach))
        }
        Adjacency::OneRecord { .. } | Adjacency::Universe => {
            let parameters = affine.parameters();
            let len = match adjacency {
                Adjacency::OneRecord { len } => (*len).max(1),
                _ => parameters.len(),
            };
            if let Some(p) = parameters.kinds().find(|p| p.bounds().is_none()) {
                return Err(Error::refused(
                    "a certificate by strong convexity for this adjacency",
                    format!(
                        "`{}` has no public bounds, so it may move without limit",
                        p.name()
                    ),
                    "public bounds on every parameter, or an adjacency with an alpha",
                ));
            }
            // Every datum of a record may move by its width, either way and on its own.
            let mut record: Vec<Vec<f64>> = Vec::new();
            let mut index = 0;
            each_cost_move(affine, curvature, |mut g| {
                let width = parameters
                    .bounds(index)
                    .map_or(0.0, |(low, high)| high - low);
                g.iter_mut().for_each(|v| *v *= width);
                record.push(g);
                index += 1;
                if record.len() == len || index == parameters.len() {
                    let reach = super::metric::largest_over_box(&record);
                    worst = (
                        worst.0.max(moves.over_box(norm, &record)),
                        worst.1.max(reach),
                    );
                    record.clear();
                }
            })?;
            Ok(worst)
        }
    }
}
