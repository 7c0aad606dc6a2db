//! Whether the claim holds, and what is charged for it: from `audit` and a dry run of `release`.

use conveil_workbench::{DryRun, Findings, Judged};

use crate::html::Fragment;
use crate::numbers::short;

/// What a search for neighbouring datasets that the noise hides less well than claimed has found.
pub fn audit(found: &Judged<Findings>) -> String {
    let report = &found.report.white_box;
    let is_bad = found.verdict.is_err();
    let verdict = match &found.verdict {
        Err(failure) => failure.to_string(),
        Ok(()) => report.verdict_text(),
    };
    let mut fragment = match is_bad {
        true => Fragment::new().stamp(true, verdict.lines().next().unwrap_or_default()),
        false => Fragment::new().say(&format!("{verdict}.")),
    };
    fragment = fragment.facts(&[
        (
            "Claimed",
            format!(
                "ε = {}, δ = {}",
                short(report.claimed_epsilon),
                short(report.claimed_delta)
            ),
        ),
        (
            "Pairs looked at",
            format!("{}, {}", report.share.pairs, report.source),
        ),
        ("Largest ε of a pair", short(report.losses.max)),
        (
            "Largest movement of the answer",
            format!(
                "{} of a sensitivity of {} ({})",
                short(report.movements.max),
                short(report.sensitivity),
                report.norm
            ),
        ),
    ]);
    fragment
        .remark("A search finds counterexamples; that it finds none proves nothing.")
        .html()
}

/// What a release would charge, and what is left.
pub fn ledger(run: &DryRun) -> String {
    let Some(charged) = &run.charged else {
        return no_ledger();
    };
    let mut facts = vec![
        ("Dataset", charged.dataset.clone()),
        ("Budget", charged.budget.clone()),
        ("Spent now", charged.now.to_string()),
        (
            "This would charge",
            format!(
                "{} × ε = {}, δ = {}",
                run.releases,
                short(run.epsilon),
                short(run.delta)
            ),
        ),
        ("Spent after it", charged.after.to_string()),
    ];
    if let Some(part) = &charged.part {
        facts.insert(1, ("Part", part.clone()));
    }
    Fragment::new().facts(&facts).html()
}

/// A spec that names no ledger.
pub fn no_ledger() -> String {
    Fragment::new()
        .why_not(
            "the spec names no ledger: nothing keeps count of what is released from these data",
        )
        .html()
}
