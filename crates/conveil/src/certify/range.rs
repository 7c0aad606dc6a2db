//! M8e. Range: the answer is made of variables that the released map keeps between public limits, so that no data move it
//! by more than its range. Nothing else is asked of the program or of its solve: any other number may be private.

use super::certificate::{Certificate, Kind, Site, Tolerance};
use crate::ask::{Norm, Request, ResolvedQuery, Terms};
use crate::chance::Design;
use crate::digits::short;
use crate::error::{Error, Result};
use crate::program::{AffineMap, Cone, DataMap, Place};
use crate::proof::Limits;
use crate::rule::Shape;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Bounds stand this much above what was computed.
const ROUNDING: f64 = 1.0 + 1e-9;

const WHAT: &str = "a certificate by range";

fn refuse<T>(why: impl Into<String>, instead: &str) -> Result<T> {
    Err(Error::refused(WHAT, why, instead))
}

impl Request {
    /// Certified for variables that are kept between public limits, whatever else is private (M8e).
    pub fn range() -> Self {
        Request::Certificate {
            word: RangeKind.word(),
            terms: Terms::default(),
        }
    }
}

/// The kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct RangeKind;

impl Kind for RangeKind {
    fn word(&self) -> &'static str {
        "range"
    }

    fn covers(&self) -> &'static str {
        "variables between public limits, whatever else of the program is private"
    }

    fn prove(&self, site: &Site<'_>) -> Result<Box<dyn Certificate>> {
        Ok(Box::new(Range::new(site)?))
    }
}

/// An answer that lies in a public box.
///
/// # Guarantee
/// The released map ends with x̄_j moved into [low_j, high_j] for every variable j of the query, whatever the solver
/// returned. So for any two datasets |(T⁻¹Q(x̄ − x̄'))ᵢ| ≤ Σⱼ |(T⁻¹Q)ᵢⱼ|(high_j − low_j), and `bound` is the norm of these
/// numbers with what rounding can add on the way from x̄ to T⁻¹Qx̄. It assumes that the rows from which the limits are read
/// hold no private number (M8e). Tests: `every_answer_lies_on_the_limits_whatever_the_solver_returned`,
/// `no_two_points_between_the_limits_are_farther_apart_than_the_bound`, `rounding_on_the_way_to_the_answer_is_counted`.
#[derive(Clone, Debug)]
struct Range {
    /// By column, once each.
    limits: Vec<Limits>,
    bound: f64,
    norm: Norm,
    is_shaped: bool,
}

impl Range {
    /// Checks on public structure that every variable of the query stands alone in public rows, one for each limit.
    fn new(site: &Site<'_>) -> Result<Self> {
        let (Some(affine), Some((query, _))) = (site.map.affine(), site.posed) else {
            return refuse(
                "the program depends on the data in a way that cannot be inspected",
                "a map that is affine in the data, or a declared or sampled sensitivity",
            );
        };
        let all = public_limits(affine);
        let columns: BTreeSet<usize> = query.rows().iter().flatten().map(|t| t.0).collect();
        let limits: Vec<Limits> = columns.into_iter().map(|column| all[column]).collect();
        for &Limits { column, low, high } in &limits {
            let name = affine.template().variable_name(column);
            if !(low.is_finite() && high.is_finite()) {
                return refuse(
                    format!("`{name}` has no public limits on both sides"),
                    "public limits on every released variable, each in a row of its own",
                );
            }
            if low > high {
                return refuse(
                    format!(
                        "the public limits of `{name}` leave nothing: {} to {}",
                        short(low + 0.0, 9),
                        short(high + 0.0, 9)
                    ),
                    "a lower limit that is at most the upper one",
                );
            }
        }
        let bound = site.norm.of(&ranges(query, site.shape, &limits)) * ROUNDING;
        if !(bound > 0.0 && bound.is_finite()) {
            return refuse(
                format!("the limits leave the answer a range of {bound}"),
                "a declared sensitivity",
            );
        }
        Ok(Range {
            limits,
            bound,
            norm: site.norm,
            is_shaped: !site.shape.is_identity(),
        })
    }
}

/// By how much each entry of T⁻¹Qx̄, as it is computed, can differ between two points of the limits.
fn ranges(query: &ResolvedQuery, shape: &Shape, limits: &[Limits]) -> Vec<f64> {
    let by_column: BTreeMap<usize, &Limits> = limits.iter().map(|l| (l.column, l)).collect();
    let width = |j: &usize| by_column[j].high - by_column[j].low;
    let size = |j: &usize| by_column[j].high.abs().max(by_column[j].low.abs());
    // Σⱼ|q_ij||x_j|, and the roundings of a sum of so many terms of each kind.
    let sizes: Vec<f64> = (query.rows().iter())
        .map(|row| row.iter().map(|(j, q)| q.abs() * size(j)).sum())
        .collect();
    let terms = query.rows().iter().map(Vec::len).max().unwrap_or(0) + query.rows().len();
    let rounding = f64::EPSILON * (terms as f64 + 4.0);
    let range = |i: usize| {
        let inverse = shape.per_answer(&[(i, 1.0)]);
        let mut weights: BTreeMap<usize, f64> = BTreeMap::new();
        let mut reach = 0.0;
        for &(answer, t) in &inverse {
            for &(j, q) in &query.rows()[answer] {
                *weights.entry(j).or_default() += t * q;
            }
            reach += t.abs() * sizes[answer];
        }
        let exact: f64 = weights.iter().map(|(j, w)| w.abs() * width(j)).sum();
        // Twice for two answers, once for the weights themselves, whose widths are at most two sizes.
        exact + 4.0 * rounding * reach
    };
    (0..query.rows().len()).map(range).collect()
}

/// The limits that public rows of one variable each set, by column.
fn public_limits(affine: &AffineMap) -> Vec<Limits> {
    let program = affine.template();
    let mut private = HashSet::new();
    for location in affine.parameters().places().map(|(_, at)| at) {
        if let Place::A(row, _) | Place::B(row) = location.place {
            private.insert(row);
        }
    }
    let by_rows = program.a().by_rows();
    let open = |column| Limits {
        column,
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    };
    let mut limits: Vec<Limits> = (0..program.columns()).map(open).collect();
    let linear = (program.constraints().iter())
        .filter(|block| matches!(block.cone(), Cone::Nonnegative(_)))
        .flat_map(|block| block.range());
    for row in linear.filter(|row| !private.contains(row)) {
        let mut terms = by_rows.row(row).iter().filter(|t| t.1 != 0.0);
        let (Some(&(j, a)), None) = (terms.next(), terms.next()) else {
            continue;
        };
        let limit = program.b()[row] / a;
        let of_column = &mut limits[j];
        match a > 0.0 {
            true => of_column.high = of_column.high.min(limit),
            false => of_column.low = of_column.low.max(limit),
        }
    }
    limits
}

impl Certificate for Range {
    fn name(&self) -> &'static str {
        "range"
    }

    fn statement(&self) -> String {
        let of = match self.is_shaped {
            true => "T⁻¹ times the answer (the noise is shaped by T)",
            false => "the answer",
        };
        format!(
            "range: every released variable is kept between public limits; so {of} moves by at most {} in the {} norm; it covers all data, wherever they enter",
            short(self.bound, 9),
            self.norm.symbol()
        )
    }

    fn bound(&self) -> f64 {
        self.bound
    }

    /// Any choice among points between the limits stays between them.
    fn admits_optimised_split(&self) -> bool {
        true
    }

    fn tolerance(&self) -> Option<Tolerance> {
        None
    }

    fn counting(&self, _tolerance: f64) -> Box<dyn Certificate> {
        Box::new(self.clone())
    }

    fn limits(&self) -> &[Limits] {
        &self.limits
    }

    /// Moving the mean onto the limits must not be more than rounding to a decision.
    fn check(&self, design: &Design) -> Result<()> {
        match design.holds_at_the_mean() {
            true => Ok(()),
            false => refuse(
                "the mean of a rule that holds at samples need not meet the limits",
                "a method that is not sampled, such as the mass box",
            ),
        }
    }
}
