//! What an outlook may take: rules on public sizes, so that what is said never hangs on how fast a machine is.

use conveil::plan::Plan;
use conveil::program::{Cone, ConstraintBlock, DataMap, Program};
use conveil_models::model::Model;

use crate::outlook::DRAWS;

/// Non-zeros, variables, rows and private numbers up to which public data are looked at unasked.
pub(crate) const SMALL: usize = 20_000;

/// Numbers that the solves of a comparison go through in all, at most: a `check` then takes a few times a plain solve.
const WORTH: f64 = 200_000.0;

/// Solves of a comparison for each draw, and beside the draws.
const EACH: f64 = 2.0;
const BESIDE: f64 = 5.0;

/// All solves under a certificate with variables of its own: that is planned anew as well.
const PLANNED_ANEW: f64 = 100.0;

/// A linear or quadratic program is solved so many times as fast as another one with as many numbers.
const LINEAR: f64 = 4.0;

/// Whether a model is small enough.
pub(crate) fn is_small(map: &dyn DataMap) -> bool {
    if map.len() > SMALL {
        // A million private numbers need not be looked at one by one.
        return false;
    }
    let program = map.template();
    let places: usize = map.parameters().iter().map(|p| p.locations().len()).sum();
    let sizes = [
        program.a().nnz() + program.p().nnz(),
        program.columns(),
        program.rows(),
        places,
    ];
    sizes.iter().all(|size| *size <= SMALL)
}

/// Whether the program that is solved has a certificate's own variables behind the user's.
pub(crate) fn is_planned_anew(plan: &Plan<'_>) -> bool {
    plan.released().map().template().columns() > plan.model().template().columns()
}

/// About how many solves strategies side by side take, where they take too much to be compared unasked. `worth` is the
/// model's own limit where a cost is released.
pub(crate) fn dear_solves(plan: &Plan<'_>, worth: Option<f64>) -> Option<f64> {
    let released = plan.released();
    let solved = released.map().template();
    let (solves, worth) = match released.query().value_factor() {
        _ if is_planned_anew(plan) => (PLANNED_ANEW, WORTH),
        Some(_) => (BESIDE, worth.unwrap_or(WORTH)),
        None => (EACH * DRAWS as f64 + BESIDE, WORTH),
    };
    (solves * numbers(solved) > worth).then_some(solves)
}

/// Whether a single solve of this program is more than a `check` of the model is to take.
pub(crate) fn is_dear(model: &dyn Model, program: &Program) -> bool {
    let worth = model.solves_worth();
    worth.is_some_and(|worth| numbers(program) > worth)
}

/// Numbers that a solve goes through: those of the program, and of a semidefinite cone those of a dense matrix over its
/// triangle.
fn numbers(program: &Program) -> f64 {
    let cones = || program.constraints().iter().map(ConstraintBlock::cone);
    let dense: f64 = cones()
        .filter(|cone| matches!(cone, Cone::PsdTriangle(_)))
        .map(|cone| (cone.dim() as f64).powi(2))
        .sum();
    let sparse = program.a().nnz() + program.p().nnz() + program.columns() + program.rows();
    match cones().all(Cone::is_linear) {
        true => sparse as f64 / LINEAR,
        false => sparse as f64 + dense,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conveil::ask::{Adjacency, Ask, Privacy, Query, Strategy};
    use conveil::program::Builder;

    /// The matrix of this order that is nearest to a private one: a semidefinite one, or one with entries in a box.
    fn nearest(order: usize, semidefinite: bool, query: Query) -> Option<f64> {
        let mut m = Builder::new();
        let n = order * (order + 1) / 2;
        let x = m.variable("x", n);
        let s = m.parameter_within("s", 0.0, 1.0);
        m.minimize(-1.0 * (s * x.at(0)));
        (0..n).for_each(|j| m.quadratic(j, j, 1.0));
        match semidefinite {
            true => m.semidefinite("cone", order, (0..n).map(|j| x.at(j)).collect()),
            false => m.within(&x, -1.0, 1.0),
        };
        let map = m.build_map().unwrap();
        let ask = Ask::new(query)
            .adjacency(Adjacency::one_entry(1.0))
            .privacy(Privacy::laplace(1.0))
            .declared(1.0, "a number of a test")
            .strategy(Strategy::Output);
        dear_solves(&Plan::new(&map, ask).unwrap(), None)
    }

    #[test]
    fn the_order_of_a_semidefinite_cone_counts_as_a_dense_matrix() {
        assert_eq!(nearest(4, true, Query::Sum(Vec::new())), None);
        assert_eq!(nearest(8, true, Query::Sum(Vec::new())), Some(405.0));
        // As many variables and more rows, but no cone that couples them.
        assert_eq!(nearest(8, false, Query::Sum(Vec::new())), None);
        // A released value needs a few solves only.
        assert_eq!(nearest(8, true, Query::Value), None);
    }
}
