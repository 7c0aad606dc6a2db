//! What a budget still takes: the largest pure charge of one kind that fits.

use super::convert::steps;
use super::planner::largest_alike;
use super::{Budget, Charge, Claim, Composition, Neighbourhood, Part, Total};

/// Halvings of the budget's ε: more than a number has digits.
const HALVINGS: usize = 60;

/// The largest ε of one more pure charge with this claim, in this part, that fits a budget; 0 where none does.
///
/// # Guarantee
/// A charge of just this ε fits: the answer is tried before it is told. Tests: `what_fits_is_counted_as_the_release_counts`,
/// `an_unspent_part_has_what_the_whole_leaves`.
pub(super) fn largest(total: &Total, budget: &Budget, claim: &Claim, part: Option<&Part>) -> f64 {
    let fits = |epsilon: f64| {
        let charge = Charge::laplace(epsilon, claim);
        let charge = charge.and_then(|charge| match part {
            Some(part) => charge.in_part(part.clone()),
            None => Ok(charge),
        });
        let with = charge.ok().and_then(|charge| total.with(&charge).ok());
        with.is_some_and(|with| with.fits(budget))
    };
    if fits(budget.epsilon()) {
        return budget.epsilon();
    }
    let (mut low, mut high) = (0.0, budget.epsilon());
    for _ in 0..HALVINGS {
        let middle = low + (high - low) / 2.0;
        let end = if fits(middle) { &mut low } else { &mut high };
        *end = middle;
    }
    if !(low > 0.0) {
        return 0.0;
    }
    // Sums of decimals end at a decimal.
    let rounded = |digits: usize| format!("{low:.digits$e}").parse::<f64>().ok();
    let mut short = (0..16).filter_map(rounded);
    let is_the_end = |x: &f64| (x - low).abs() <= 1e-12 * low && fits(*x);
    if let Some(exact) = short.find(is_the_end) {
        return exact;
    }
    match budget.composition() {
        Composition::Basic => low,
        // Six digits are enough to read; 1e-5 is more than their rounding adds.
        Composition::Smaller => {
            let short = format!("{:.5e}", low * (1.0 - 1e-5)).parse().unwrap_or(0.0);
            if fits(short) { short } else { 0.0 }
        }
    }
}

/// What would fit in place of a charge that does not.
pub(super) fn instead(total: &Total, budget: &Budget, charge: &Charge) -> String {
    if let Some(series) = charge.releases() {
        let each = largest_alike(total, budget, std::slice::from_ref(charge));
        let releases = series.count();
        match series.releases().len() {
            _ if !(each > 0.0) => {}
            1 => return format!("ε = {each} for each of its {releases} releases fits"),
            _ => {
                return format!(
                    "ε = {each} for the largest of its {releases} releases fits, the others in proportion"
                );
            }
        }
    }
    let largest = |part: Option<&Part>| largest(total, budget, charge.claim(), part);
    // The releases of such a series are about parts of their own.
    let is_for_each = charge.part().is_some_and(Part::is_one_for_each);
    let part = charge.part().filter(|_| !is_for_each);
    let counted = factor(charge, total.neighbourhood());
    let own = if is_for_each { 0.0 } else { largest(part) };
    let of = |part: Option<&Part>| match part {
        Some(part) => format!("part `{}`", part.name()),
        None => "this dataset".into(),
    };
    if own > 0.0 {
        let about = part.map_or(String::new(), |_| format!(" in {}", of(part)));
        return format!("a pure charge of at most ε = {own}{counted} fits{about}");
    }
    let has_parts = total.has_parts() || charge.part().is_some();
    let unspent = match has_parts {
        true => {
            let moves = charge.part().is_some_and(Part::moves);
            largest(Some(&total.unspent_part(moves)))
        }
        false => 0.0,
    };
    match (unspent > 0.0, is_for_each) {
        (false, _) => "nothing more can be released from this dataset under its budget".into(),
        (true, true) => format!(
            "in a part that has not spent, a pure charge of at most ε = {unspent}{counted} fits"
        ),
        (true, false) => {
            let whose = part.map_or("all of this dataset together".into(), |_| of(part));
            format!(
                "nothing more can be released from {whose} under its budget; in a part that has not spent, a pure charge of at most ε = {unspent}{counted} fits"
            )
        }
    }
}

/// How often a charge counts between these neighbours, where that is not once.
fn factor(charge: &Charge, asked: &Neighbourhood) -> String {
    let Some(scope) = charge.claim().scope() else {
        return String::new();
    };
    let charged = &scope.neighbourhood;
    let steps = match steps(charged, asked) {
        Ok(steps) if steps > 1 => steps,
        _ => return String::new(),
    };
    let (own, other) = (charged.relation(), asked.relation());
    let why = match (own.alpha(), other.alpha()) {
        (Some(here), Some(there)) if own.name() == other.name() => {
            format!("α = {here} here, {there} in the budget")
        }
        _ => format!("{} here, {} in the budget", own.name(), other.name()),
    };
    format!(" (which counts {steps} times: {why})")
}
