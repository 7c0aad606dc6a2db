//! What a careful reader should know about a plan, from public structure alone.

use super::ReleasedMap;
use crate::ask::{Adjacency, Privacy, Stated};
use crate::certify;
use crate::chance::Design;
use crate::digits::short;
use crate::program::{Cone, DataMap, Place, Program, Sparse, Stage};
use crate::rule::{RowRule, slack_absorption};
use crate::solve::{self, Outcome};

/// Above this size the recession test is left out, and the plan says so.
const RECESSION_LIMIT: usize = 5_000;

/// `model` is the user's own, `map` the one that the released map solves: another one where the cost is private.
pub(super) fn collect(
    model: &dyn DataMap,
    map: &dyn DataMap,
    stated: &Stated,
    released: &ReleasedMap<'_>,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let template = map.template();
    if released.query().value_factor.is_none() && !unique_by_theorem(model, released) {
        match public_curvature(map) {
            None => warnings.push(
                "the quadratic cost is private: whether the optimum is unique, so that the answer is a function of the data, was not checked".into(),
            ),
            Some(p) if !unique_answer(&p, released) => warnings.push(
                "the released quantity is not the optimal value and the objective is not strongly convex: the optimum may not be unique, and then the answer is not a function of the data; add a small strongly convex term".into(),
            ),
            Some(_) => {}
        }
    }
    warnings.extend(of_privacy(map, stated));
    if released.design().is_at_the_mean() {
        // The rest is about the room for noise.
        return warnings;
    }
    if model.template().columns() != map.template().columns() {
        // The cost is private, and stands in the model as such. The radius checked that the priced directions are bounded.
        let prices = model.template().q().iter().zip(model.private_costs());
        let priced = prices.enumerate().filter(|(_, (q, p))| *p || **q != 0.0);
        let row: Vec<(usize, f64)> = priced.map(|(j, _)| (j, 1.0)).collect();
        warnings.extend(slack_absorption(model, &[row]));
        return warnings;
    }
    warnings.extend(released.query().slack_absorption(map));
    if released.has_local_recourse() {
        warnings.push(
            "losses give way: every answer is feasible, and η is about how large each loss is planned to be, not about which answers are admissible".into(),
        );
        warnings.extend(divided(released.design()));
    } else {
        let a = public_coefficients(map);
        match unlimited_answer(template, &a, released) {
            Recession::Direction(_) if map.private_parts().a => warnings.push(
                "coefficients of the constraints are private: whether the answer can move without limit was not checked".into(),
            ),
            Recession::Direction(label) => warnings.push(format!(
                "`{label}` can move without limit inside the feasible set: in that direction noise is never infeasible"
            )),
            Recession::NotChecked => warnings.push(format!(
                "whether the answer can move without limit was not checked (more than {RECESSION_LIMIT} variables)"
            )),
            Recession::None => {}
        }
    }
    warnings
}

/// What ε and δ by themselves give away.
pub(super) fn of_privacy(map: &dyn DataMap, stated: &Stated) -> Vec<String> {
    let mut warnings = Vec::new();
    let records = match stated.adjacency {
        Adjacency::OneRecord { len } => map.len() / len.max(1),
        _ => map.len(),
    };
    let (epsilon, delta) = (stated.privacy.epsilon(), stated.privacy.delta());
    if delta >= 1.0 / records as f64 {
        warnings.push(format!(
            "δ = {delta} is at least 1/{records}: it permits publishing one record outright"
        ));
    }
    if matches!(stated.privacy, Privacy::Laplace { .. }) && epsilon > 10.0 {
        warnings.push(format!(
            "ε = {epsilon}: adjacent datasets may differ by a factor e^{epsilon} in likelihood, which protects little"
        ));
    }
    warnings
}

/// P, or where it is private what it is never below, if public bounds say so.
fn public_curvature(map: &dyn DataMap) -> Option<Sparse> {
    match map.private_parts().p {
        false => Some(map.template().p().clone()),
        true => certify::floor(map.affine()?).ok(),
    }
}

/// A without the rows that hold private coefficients: what is left bounds the answer whatever the data are.
fn public_coefficients(map: &dyn DataMap) -> Sparse {
    let program = map.template();
    let mut is_private = vec![false; program.rows()];
    if map.parameters().costs().is_none() {
        for location in map.parameters().places().map(|(_, at)| at) {
            if let Place::A(i, _) = location.place
                && let Some(row) = is_private.get_mut(i)
            {
                *row = true;
            }
        }
    }
    for block in program.constraints() {
        let is_linear = matches!(block.cone(), Cone::Zero(_) | Cone::Nonnegative(_));
        // Of another cone all rows go with one.
        if !is_linear && is_private[block.range()].contains(&true) {
            is_private[block.range()].fill(true);
        }
    }
    let kept = program.a().entries().filter(|e| !is_private[e.0]);
    Sparse::assemble(program.rows(), program.columns(), &kept.collect::<Vec<_>>())
}

/// A row's share of a joint η below this plans every loss for noise that is next to never seen.
const SMALL_SHARE: f64 = 1e-4;

/// What a joint η means where each of many losses has its share of it.
fn divided(design: &Design) -> Option<String> {
    let budget = design.budget();
    let shares = design.served().iter().flat_map(|served| served.etas());
    let smallest = shares.clone().fold(f64::INFINITY, |m, eta| m.min(*eta));
    (!budget.is_for_each_row() && smallest < SMALL_SHARE).then(|| {
        format!(
            "η = {} is for all {} rows together, so that each has {} of it, and room for noise as rare as that costs accuracy; rows = \"each\" gives η to each row by itself",
            budget.eta(),
            shares.count(),
            short(smallest, 3)
        )
    })
}

/// A solver's tolerance above this share of a sensitivity is worth a word.
const LARGE_SHARE: f64 = 0.2;

/// What a plan says where neighbours move the value very little beside its numbers.
pub(super) fn strained() -> String {
    "a neighbour moves the value very little beside the program's costs and limits: on some data a solve may not be proven so closely, and then there is no answer, the charge stays, and that there is none tells something of the data; narrower limits and public bounds help, and so does a larger alpha".into()
}

/// What of the noise pays for the solver and not for the data: `bare` is the certificate's own bound.
pub(super) fn solver_share(bare: f64, sensitivity: f64) -> Option<String> {
    let share = 1.0 - bare / sensitivity;
    (share > LARGE_SHARE).then(|| {
        format!(
            "{:.0}% of the noise is for the solver's tolerance, not for the data: numbers so large beside what a neighbour may change are solved only so closely; narrower public bounds lower it, and so does a larger alpha",
            100.0 * share
        )
    })
}

/// Whether the model itself proves that everything queried is unique.
fn unique_by_theorem(model: &dyn DataMap, released: &ReleasedMap<'_>) -> bool {
    let unique = model.unique_columns();
    let rule = released.rule();
    let all_fixed = |j: usize| j < rule.variables() && matches!(rule.row(j), RowRule::Fixed(_));
    let mut terms = released.query().rows().iter().flatten();
    terms.all(|(column, _)| unique.contains(column)) && unique.clone().all(all_fixed)
}

/// Whether the queried variables are unique at the optimum: they lie in P's support, and P ≻ 0 there.
fn unique_answer(p: &Sparse, released: &ReleasedMap<'_>) -> bool {
    let support: Vec<usize> = (0..p.columns()).filter(|&j| p.get(j, j) > 0.0).collect();
    let queried = released.query().rows().iter().flatten();
    if !queried.clone().all(|t| support.binary_search(&t.0).is_ok()) {
        return false;
    }
    if support.len() > 2_000 {
        // Too large for eigenvalues: a positive diagonal is what can be seen.
        return true;
    }
    // In units in which every variable has curvature 1: P's condition must not hang on the user's.
    let unit: Vec<f64> = support.iter().map(|&j| p.get(j, j).sqrt()).collect();
    crate::program::smallest_eigenvalue_is_nonnegative(support.len(), |i, j| {
        let (a, b) = (support[i].min(support[j]), support[i].max(support[j]));
        p.get(a, b) / (unit[i] * unit[j]) - if i == j { 1e-7 } else { 0.0 }
    })
}

enum Recession {
    Direction(String),
    NotChecked,
    None,
}

/// M2: is there a d with −Ad ∈ K and Qd ≠ 0? One small conic program per query row and sign.
fn unlimited_answer(program: &Program, a: &Sparse, released: &ReleasedMap<'_>) -> Recession {
    let by_rows = a.by_rows();
    if bounded_by_linear_rows(program, a, &by_rows) {
        return Recession::None;
    }
    let n = program.columns();
    if n > RECESSION_LIMIT || released.query().rows().len() > 50 {
        return Recession::NotChecked;
    }
    // −1 ≤ d ≤ 1, −Ad ∈ K, maximise ±Q_i d.
    let mut triplets: Vec<(usize, usize, f64)> = a.entries().collect();
    let m = program.rows();
    for j in 0..n {
        triplets.push((m + j, j, 1.0));
        triplets.push((m + n + j, j, -1.0));
    }
    let mut b = vec![0.0; m];
    b.extend(vec![1.0; 2 * n]);
    let mut cones: Vec<Cone> = program
        .constraints()
        .iter()
        .map(|c| c.cone().clone())
        .collect();
    cones.push(Cone::Nonnegative(2 * n));
    let a = Sparse::assemble(m + 2 * n, n, &triplets);
    for (row, label) in released
        .query()
        .rows()
        .iter()
        .zip(released.query().labels())
    {
        for sign in [1.0, -1.0] {
            let mut q = vec![0.0; n];
            row.iter().for_each(|&(j, w)| q[j] -= sign * w);
            let direction = Program::assembled(
                Sparse::zeros(n, n),
                q,
                a.clone(),
                b.clone(),
                0.0,
                cones.clone(),
            );
            if let Outcome::Optimal(solution) = solve::solve(&direction, released.settings())
                && solution.objective < -1e-4
            {
                return Recession::Direction(label.clone());
            }
        }
    }
    Recession::None
}

/// Of a row that bounds nothing by itself.
const NONE: usize = usize::MAX;

/// Whether linear rows alone bound every variable that may move: a row whose other terms are bounded below bounds the
/// last one above, and so on along the rows.
fn bounded_by_linear_rows(program: &Program, a: &Sparse, by_rows: &crate::program::Rows) -> bool {
    // Rows a'x ≤ b, an equality turned around too; a term is held when a·x is bounded below. How many are not, as the row
    // stands and turned around.
    let mut loose = vec![[NONE; 2]; program.rows()];
    let mut ready = Vec::new();
    for block in program.constraints() {
        let ways = match block.cone() {
            Cone::Nonnegative(_) => 0..1,
            Cone::Zero(_) => 0..2,
            _ => continue,
        };
        for i in block.range() {
            let terms = by_rows.row(i).iter().filter(|t| t.1 != 0.0).count();
            for way in ways.clone() {
                loose[i][way] = terms;
                if terms <= 1 {
                    ready.push((i, way));
                }
            }
        }
    }
    // Of each variable: bounded below, bounded above.
    let mut bounded = vec![[false; 2]; program.columns()];
    let held = |v: f64, way: usize| usize::from(if way == 0 { v < 0.0 } else { v > 0.0 });
    while let Some((i, way)) = ready.pop() {
        for &(j, v) in by_rows.row(i).iter().filter(|t| t.1 != 0.0) {
            // This term's own held side, and the side that the row bounds.
            let own = held(v, way);
            let is_last = loose[i][way] == 1 && !bounded[j][own];
            let side = 1 - own;
            if !(loose[i][way] == 0 || is_last) || bounded[j][side] {
                continue;
            }
            bounded[j][side] = true;
            for (other, w) in a.column(j).filter(|t| t.1 != 0.0) {
                for way in 0..2 {
                    if loose[other][way] == NONE || held(w, way) != side {
                        continue;
                    }
                    loose[other][way] -= 1;
                    if loose[other][way] <= 1 {
                        ready.push((other, way));
                    }
                }
            }
        }
    }
    program.variables().iter().all(|block| {
        block.stage() == Stage::HereAndNow || block.range().all(|j| bounded[j] == [true, true])
    })
}
