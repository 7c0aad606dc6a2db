//! M15b. The optimal value with private numbers anywhere in the program.
//!
//! With elastic rows the value is v(θ) = min over x of sup over y of ½x'Px + q'x + y'(Ax − b), x in a public set and y in a public one:
//! the multipliers of elastic rows are at most their price. So the value moves by no more than that function does.

use super::certificate::{Certificate, Rewrite, Site, Tolerance, solver_text};
use super::deviation::Deviation;
use super::elastic::{Built, Elastic, WHAT, known, refuse};
use super::floor::floor;
use super::reach::reach;
use crate::ask::{ResolvedQuery, Strategy};
use crate::chance::Design;
use crate::digits::short;
use crate::error::Result;
use crate::program::{AffineMap, DataMap, Parameter, Place, smallest_eigenvalue_is_nonnegative};

/// Bounds stand this much above what was computed.
const ROUNDING: f64 = 1.0 + 1e-12;

/// A program whose rows with private numbers may be exceeded at a price.
///
/// # Guarantee
/// |v(θ) − v(θ')| is at most the sum over the places of each number of |Δθ| times π_i (in b), X_j (in q), π_i·X_j (in A), ½X_j² or
/// X_j·X_k (in P, on and off the diagonal): one point x costs at most so much more at θ' than at θ, since elastic rows are paid
/// for at π (M15b). The value is defined for every dataset as soon as it is for one. With noise in the program it holds under
/// one box on all rows where A is private: then every decision of the rule keeps the public bounds. Tests:
/// `saddle_values_never_move_more_than_the_bound`, `saddle_values_with_noise_in_the_program_never_move_more`.
#[derive(Clone, Debug)]
pub(super) struct SaddleValue {
    map: AffineMap,
    query: ResolvedQuery,
    bound: f64,
    solver: f64,
    /// What one unit of the objective is in T⁻¹ times the answer.
    unit: f64,
    deviation: Option<Deviation>,
    /// How many rows may be exceeded, and at which prices.
    prices: Vec<f64>,
    /// A is private.
    in_the_matrix: bool,
}

impl SaddleValue {
    /// Checks on public structure: the released number is the whole objective; every row with private numbers has a cone that
    /// can give way and a price; every variable that meets private numbers has public bounds; P(θ) ⪰ 0 for all data; with
    /// noise in the program P = 0 and q is public.
    pub(super) fn new(site: &Site<'_>) -> Result<Self> {
        let Some((query, _)) = site.posed else {
            return refuse(
                "there is no query to prove",
                "release = \"value\" or \"cost\"",
            );
        };
        let elastic = Elastic::new(site)?;
        let affine = elastic.affine;
        let base = affine.template();
        let Some(factor) = query.value_factor else {
            return refuse(
                "what is released is not the optimal value: another combination of the variables can jump when the data move a little",
                "release = \"value\" or \"cost\"; or `width` beside the prices, with curvature on what is released",
            );
        };
        if site.terms.curvature.is_some() {
            return refuse(
                "curvature changes the value that is released, and this certificate needs none",
                "leave `curvature` out; with `width` it certifies a query of the solution",
            );
        }
        let risk = &site.ask.risk;
        if risk.weighs_variance() || risk.has_limit() {
            return refuse(
                "the objective is not the released number alone: a variance weight or a limit on CVaR stands beside it",
                "the expected cost, or its CVaR",
            );
        }
        let parts = affine.private_parts();
        if site.ask.strategy == Strategy::Program {
            if parts.q || parts.p || base.p().nnz() > 0 {
                return refuse(
                    "with noise in the program the cost must be public and linear: decisions carry the noise in it",
                    "strategy = output",
                );
            }
            elastic.refuse_moving_equations()?;
        }
        if parts.p {
            semidefinite(affine)?;
        }
        let parameters = affine.parameters().iter();
        let each: Vec<f64> = parameters
            .map(|parameter| moved(&elastic, &parameter))
            .collect::<Result<_>>()?;
        let reach = ROUNDING * reach(affine, &site.adjacency, &each, WHAT)?;
        if !(reach > 0.0 && reach.is_finite()) {
            return refuse(
                "the data do not move the value at all",
                "a declared sensitivity",
            );
        }
        let scale = site.scale_of_answer();
        let prices = elastic.units.iter().map(|unit| unit.price).collect();
        let Built {
            map,
            deviation,
            priced,
        } = elastic.build(None, Some(factor.abs()), site.ask.strategy)?;
        let mut query = query.clone();
        // The objective of this program has the prices in it.
        if !query.is_objective {
            query.rows[0].extend(priced.iter().map(|&(j, price)| (j, factor * price)));
        }
        Ok(SaddleValue {
            map,
            query,
            bound: factor.abs() * reach / scale,
            solver: 0.0,
            unit: factor.abs() / scale,
            deviation,
            prices,
            in_the_matrix: parts.a,
        })
    }
}

/// P₀ ⪰ 0.
fn semidefinite(affine: &AffineMap) -> Result<()> {
    let floor = floor(affine)?;
    let n = floor.columns();
    let touched: Vec<usize> = (0..n)
        .filter(|&j| floor.column(j).any(|e| e.1 != 0.0))
        .chain(floor.entries().filter(|e| e.2 != 0.0).map(|e| e.0))
        .collect::<std::collections::BTreeSet<usize>>()
        .into_iter()
        .collect();
    let at = |i: usize, j: usize| {
        let (i, j) = (touched[i], touched[j]);
        floor.get(i.min(j), i.max(j))
    };
    match smallest_eigenvalue_is_nonnegative(touched.len(), at) {
        true => Ok(()),
        false => refuse(
            "the public bounds of the numbers in P allow a cost that is not convex",
            "narrower bounds, a larger public part of P, or numbers that enter P as squares: P₀ + Σθ_k v_k v_k' with θ_k ≥ 0",
        ),
    }
}

/// sup |∂L/∂θ_k|: what one unit of a number moves the value.
fn moved(elastic: &Elastic<'_>, parameter: &Parameter) -> Result<f64> {
    let mut sum = 0.0;
    for location in parameter.locations() {
        let place = location.place;
        let size = |j: usize| elastic.size(j, parameter, place);
        sum += location.coef.abs()
            * match place {
                Place::B(i) => elastic.price(i),
                Place::Q(j) => size(j)?,
                Place::A(i, j) => elastic.price(i) * size(j)?,
                Place::P(i, j) if i == j => 0.5 * size(j)?.powi(2),
                Place::P(i, j) => size(i)? * size(j)?,
            };
    }
    Ok(sum)
}

impl Certificate for SaddleValue {
    fn name(&self) -> &'static str {
        "saddle value"
    }

    fn statement(&self) -> String {
        format!(
            "saddle value: {}; public rows bound every variable that meets private numbers; so the released value moves by at most {} between neighbours{}; it covers private numbers anywhere in the program; it assumes that prices, public bounds and the public part of the program were fixed without the data",
            paid_for(&self.prices),
            short(self.bound, 9),
            solver_text(self.solver)
        )
    }

    fn bound(&self) -> f64 {
        self.bound + self.solver
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
        Some(Tolerance::of_a_value(
            self.bound(),
            self.unit,
            known(self.deviation.as_ref()),
        ))
    }

    fn counting(&self, tolerance: f64) -> Box<dyn Certificate> {
        Box::new(SaddleValue {
            solver: 2.0 * self.unit * tolerance,
            ..self.clone()
        })
    }

    /// With noise in the program and A private, every decision of the rule must keep the public bounds: one box on all rows.
    fn check(&self, design: &Design) -> Result<()> {
        match self.in_the_matrix {
            true => one_box(design),
            false => Ok(()),
        }
    }
}

/// Which chance constraints a private matrix goes with.
pub(super) fn one_box(design: &Design) -> Result<()> {
    let is_one = design.one_box_for_all() && design.holds_at_the_mean();
    if design.is_at_the_mean() || is_one {
        return Ok(());
    }
    refuse(
        "numbers of the matrix are private, and a row and the public bounds of its variables must hold for the same noise",
        "method = \"mass-box\" on every block; or strategy = output",
    )
}

/// "rows with private numbers may be exceeded at …".
pub(super) fn paid_for(prices: &[f64]) -> String {
    let least = prices.iter().copied().fold(f64::INFINITY, f64::min);
    let most = prices.iter().copied().fold(0.0, f64::max);
    match prices.len() {
        0 => "no row holds private numbers".into(),
        _ if least == most => format!(
            "rows with private numbers may be exceeded at {} per unit",
            short(most, 9)
        ),
        _ => format!(
            "rows with private numbers may be exceeded at {} to {} per unit",
            short(least, 9),
            short(most, 9)
        ),
    }
}
