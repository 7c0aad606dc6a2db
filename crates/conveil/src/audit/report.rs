//! What an audit found. It is for the curator, and says so; it never says that a plan is private.

use super::loss::{Claim, MARGIN, PairLoss};
use super::witness::Witness;
use super::{Audit, SampledPairs, WorstPair};
use crate::ask::{Request, Universe};
use crate::digits::{apart, counted, short};
use crate::error::Result;
use crate::noise;
use crate::plan::{BasisKind, Plan};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The false-alarm rate of every statistical statement of the report.
const ALARM: f64 = 1e-6;

/// What the audit says about the claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// A pair exceeds the claim; for a sampled basis: more pairs than its share allows.
    Flagged,
    /// A pair exceeds ε, but the basis promises ε for a share of pairs only, and the sample does not contradict that.
    OutsideTheShare,
    /// No pair was found above the claim. That proves nothing.
    NoneFound,
    /// No pair had an answer on both sides: nothing is known of the claim.
    NothingTested,
}

/// A sampled pair of which a side had no answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failed {
    /// Its number.
    pub pair: u64,
    /// How many sides had none: with one, whether there is an answer already tells the two apart.
    pub sides: usize,
    /// Why.
    pub why: String,
}

/// Quantiles over the sampled pairs; infinite (null in JSON) where they fall on pairs without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantiles {
    /// The median.
    pub q50: f64,
    /// The 90% quantile.
    pub q90: f64,
    /// The 99% quantile.
    pub q99: f64,
    /// The largest.
    pub max: f64,
}

impl Quantiles {
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        // The smallest value that at least this share of pairs does not exceed.
        let at = |share: f64| {
            let rank = (share * values.len() as f64).ceil() as usize;
            values.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
        };
        Quantiles {
            q50: at(0.5),
            q90: at(0.9),
            q99: at(0.99),
            max: at(1.0),
        }
    }
}

/// How many of the sampled pairs keep the claim.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairShare {
    /// Pairs whose loss is not above the claim; pairs without an answer are not among them.
    pub within: u64,
    /// All sampled pairs.
    pub pairs: u64,
    /// At least this share of pairs is within the claim, with confidence 1 − 10⁻⁶ (Clopper–Pearson).
    pub at_least: f64,
    /// At most this share is, with the same confidence.
    pub at_most: f64,
}

/// What the adversarial search did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Searched {
    /// Programs solved.
    pub solves: usize,
    /// Datasets without an answer that it met.
    pub failures: usize,
    /// Why the first of them had none.
    pub first_failure: Option<String>,
    /// The largest movement found, over the largest of the sampled pairs.
    pub gain: Option<f64>,
}

/// An audit of the released map. For the curator only.
#[derive(Clone, Debug, Serialize)]
pub struct AuditReport {
    /// Always true: for the curator, not to be published.
    pub private: bool,
    /// What the audit says about the claim.
    pub verdict: Verdict,
    /// The claimed ε.
    pub claimed_epsilon: f64,
    /// The claimed δ, 0 for pure differential privacy.
    pub claimed_delta: f64,
    /// The loss of the worst pair found: the true ε is at least this.
    pub audited_epsilon: f64,
    /// What the claim rests on.
    pub basis: BasisKind,
    /// The share of pairs for which a sampled basis promises ε.
    pub promised_share: Option<f64>,
    /// The mechanism.
    pub mechanism: &'static str,
    /// The norm of sensitivity and movement.
    pub norm: &'static str,
    /// Δ, before lattice rounding is added.
    pub sensitivity: f64,
    /// The noise scale.
    pub scale: f64,
    /// The lattice step.
    pub step: f64,
    /// A pair counts as above the claim when its loss exceeds ε by more than this share.
    pub margin: f64,
    /// Sampled pairs above the claim by no more than the residuals of their two solves explain: the solver is then not
    /// exact enough for this sensitivity.
    pub solver_may_explain: u64,
    /// Where the pairs come from.
    pub source: String,
    /// The seed.
    pub seed: u64,
    /// The losses of the sampled pairs.
    pub losses: Quantiles,
    /// Their movements, unrounded.
    pub movements: Quantiles,
    /// How many keep the claim.
    pub share: PairShare,
    /// Pairs of which a side had no answer: never discarded.
    pub failures: Vec<Failed>,
    /// The adversarial search, if there was one.
    pub search: Option<Searched>,
    /// The largest movement found, over Δ.
    pub tightness: f64,
    /// The worst pair found; none if no pair had two answers.
    pub worst: Option<Witness>,
}

pub(super) fn collect(
    plan: &Plan<'_>,
    audit: &Audit,
    universe: &Universe,
    claim: &Claim,
    sampled: SampledPairs,
    worst: WorstPair,
) -> Result<AuditReport> {
    let guarantee = plan.guarantee();
    let each = |value: &dyn Fn(&PairLoss) -> f64| -> Vec<f64> {
        let losses = sampled.losses.iter();
        losses
            .map(|l| l.as_ref().map_or(f64::INFINITY, value))
            .collect()
    };
    let movements = Quantiles::of(each(&|l| l.movement));
    let answered = || sampled.losses.iter().flatten();
    let pairs = sampled.losses.len() as u64;
    let within = answered().filter(|l| !l.above).count() as u64;
    let share = PairShare {
        within,
        pairs,
        at_least: noise::clopper_pearson_lower(within, pairs, ALARM)?,
        at_most: noise::clopper_pearson_upper(within, pairs, ALARM)?,
    };
    let promised_share = promised_share(plan, universe);
    // Where an answer is promised for every dataset or for none, one side without an answer tells the two apart.
    let told_apart = told_apart(guarantee.basis().is_defined_everywhere(), &sampled.failures);
    let above = told_apart || answered().chain(&worst.loss).any(|l| l.above);
    let has_answers = answered().chain(&worst.loss).next().is_some();
    let verdict = match promised_share {
        // One side without an answer told two datasets apart, or nothing was learned.
        _ if !has_answers && !told_apart => Verdict::NothingTested,
        Some(promised) if share.at_most < promised => Verdict::Flagged,
        Some(_) if above => Verdict::OutsideTheShare,
        None if above => Verdict::Flagged,
        _ => Verdict::NoneFound,
    };
    let largest = worst.loss.map_or(0.0, |l| l.movement);
    let largest_sampled = answered().fold(0.0f64, |m, l| m.max(l.movement));
    let audited_epsilon = if told_apart {
        f64::INFINITY
    } else {
        let losses = answered().chain(&worst.loss);
        losses.fold(0.0f64, |m, l| m.max(l.epsilon))
    };
    let source = source(plan, universe);
    let witness = worst
        .found
        .zip(worst.loss)
        .map(|(found, loss)| Witness::new(plan, source.clone(), found, loss));
    Ok(AuditReport {
        private: true,
        verdict,
        claimed_epsilon: claim.privacy.epsilon(),
        claimed_delta: claim.privacy.delta(),
        audited_epsilon,
        basis: guarantee.basis().kind(),
        promised_share,
        mechanism: claim.privacy.mechanism(),
        norm: claim.privacy.norm().symbol(),
        sensitivity: guarantee.sensitivity(),
        scale: guarantee.scale(),
        step: guarantee.step(),
        margin: MARGIN,
        solver_may_explain: answered().filter(|l| l.solver_may_explain).count() as u64,
        source,
        seed: audit.seed,
        losses: Quantiles::of(each(&|l| l.epsilon)),
        movements,
        share,
        failures: sampled.failures,
        search: (audit.climbs > 0).then_some(Searched {
            solves: worst.solves,
            failures: worst.failures,
            first_failure: worst.first_failure,
            gain: (largest_sampled > 0.0).then(|| largest / largest_sampled),
        }),
        tightness: largest / guarantee.sensitivity(),
        worst: witness,
    })
}

/// Whether one side without an answer contradicts the claim: it does where an answer is promised everywhere.
fn told_apart(everywhere: bool, failures: &[Failed]) -> bool {
    everywhere && failures.iter().any(|failed| failed.sides == 1)
}

/// The share of this universe's pairs that a sampled basis promises, if the plan has one.
fn promised_share(plan: &Plan<'_>, universe: &Universe) -> Option<f64> {
    match plan.sensitivity() {
        Request::Sampled(sampled)
            if plan.guarantee().basis().is_private() && sampled.universe == *universe =>
        {
            Some(1.0 - sampled.gamma)
        }
        _ => None,
    }
}

/// The universe in words; in paper mode the plan's own is centred on the private data.
pub(super) fn source(plan: &Plan<'_>, universe: &Universe) -> String {
    let text = universe.to_string();
    match plan.sensitivity() {
        Request::Sampled(sampled)
            if !plan.guarantee().basis().is_private() && sampled.universe == *universe =>
        {
            text.replace("around a public centre", "around the private data")
        }
        _ => text,
    }
}

impl AuditReport {
    /// Whether the claim is contradicted.
    pub fn is_flagged(&self) -> bool {
        self.verdict == Verdict::Flagged
    }

    /// Whether no pair had an answer on both sides, so that nothing is known of the claim.
    pub fn is_empty_handed(&self) -> bool {
        self.verdict == Verdict::NothingTested
    }

    /// The worst pair found, to be saved.
    pub fn witness(&self) -> Option<&Witness> {
        self.worst.as_ref()
    }

    /// The claimed beside the audited ε, in one line.
    pub fn beside(&self) -> String {
        let delta = match self.claimed_delta {
            0.0 => String::new(),
            delta => format!(" at δ = {delta}"),
        };
        if self.is_empty_handed() {
            return format!(
                "claimed ε = {}{delta}, and nothing was tested: no pair had an answer on both sides",
                short(self.claimed_epsilon, 6)
            );
        }
        format!(
            "claimed ε = {}, audited ε ≥ {}{delta}",
            short(self.claimed_epsilon, 6),
            match self.is_flagged() {
                true => apart(self.audited_epsilon, self.claimed_epsilon),
                false => short(self.audited_epsilon, 4),
            }
        )
    }

    /// The verdict in words.
    pub fn verdict_text(&self) -> String {
        let claimed = short(self.claimed_epsilon, 6);
        let found = apart(self.audited_epsilon, self.claimed_epsilon);
        let promised = self.promised_share.map(|s| short(s, 9)).unwrap_or_default();
        match self.verdict {
            Verdict::Flagged if self.promised_share.is_some() => format!(
                "FLAGGED: at most a share {} of pairs keeps ε = {claimed}, but {promised} is promised",
                short(self.share.at_most, 4)
            ),
            Verdict::Flagged => match self.worst.as_ref().and_then(|w| w.loss.delta) {
                Some(delta) if self.audited_epsilon <= self.claimed_epsilon * (1.0 + MARGIN) => {
                    format!(
                        "FLAGGED: a pair needs δ = {} at ε = {claimed}, but {} is claimed",
                        apart(delta, self.claimed_delta),
                        short(self.claimed_delta, 6)
                    )
                }
                _ => format!("FLAGGED: a pair has ε = {found}, but {claimed} is claimed"),
            },
            Verdict::OutsideTheShare => format!(
                "a pair has ε = {found}; the sampled basis promises ε = {claimed} for a share {promised} of pairs only, and this is one of the others"
            ),
            Verdict::NothingTested => {
                "nothing was tested: no pair had an answer on both sides, so this says nothing about the claim".into()
            }
            Verdict::NoneFound if self.failures.iter().any(|f| f.sides == 1) => {
                "no pair with two answers above the claim; but of some pairs one side only has an answer, which tells them apart, and the claim is for answers that were produced".into()
            }
            Verdict::NoneFound => {
                "no pair found above the claim; that is no proof that there is none".into()
            }
        }
    }
}

impl fmt::Display for AuditReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "AUDIT: curator only, not to be published")?;
        writeln!(f, "{}", self.beside())?;
        writeln!(f, "verdict: {}", self.verdict_text())?;
        writeln!(
            f,
            "noise: {}, scale {}, for a sensitivity of {} ({}; basis: {})",
            self.mechanism,
            short(self.scale, 6),
            short(self.sensitivity, 9),
            self.norm,
            self.basis.name()
        )?;
        writeln!(f, "pairs from: {}", self.source)?;
        writeln!(f)?;
        let share = &self.share;
        let title = format!(
            "{} (seed {})",
            counted(share.pairs as usize, "sampled pair"),
            self.seed
        );
        writeln!(
            f,
            "{title:<27} {:<10} {:<10} {:<10} largest",
            "50%", "90%", "99%"
        )?;
        let row = |f: &mut fmt::Formatter<'_>, name: &str, q: &Quantiles| {
            let cells: Vec<String> = [q.q50, q.q90, q.q99, q.max]
                .iter()
                .map(|v| format!("{:<10}", short(*v, 4)))
                .collect();
            writeln!(f, "  {name:<25} {}", cells.join(" ").trim_end())
        };
        row(f, "privacy loss ε", &self.losses)?;
        row(f, "movement of the answer", &self.movements)?;
        writeln!(
            f,
            "within the claim: {} of {}, so at least a share {} of all pairs (confidence 1 − 10⁻⁶)",
            share.within,
            share.pairs,
            short(share.at_least, 4)
        )?;
        if self.solver_may_explain > 0 {
            writeln!(
                f,
                "{} above the claim by no more than the residuals of the two solves explain: the solver's error is in the released number as well, and this sensitivity is too small for it; data of smaller size (other units, a centre subtracted) are solved more closely",
                counted(self.solver_may_explain as usize, "pair")
            )?;
        }
        if let Some(first) = self.failures.first() {
            let told = self.failures.iter().filter(|p| p.sides == 1).count();
            writeln!(
                f,
                "without an answer: {}, {told} of them on one side only, which tells the two apart; the first: pair {}: {}",
                counted(self.failures.len(), "pair"),
                first.pair,
                first.why
            )?;
        }
        if let Some(search) = &self.search {
            let gain = match search.gain {
                Some(gain) if gain > 1.0001 => {
                    format!(
                        ", {} times the largest of the sampled pairs",
                        short(gain, 4)
                    )
                }
                Some(_) => ", nothing worse than the sampled pairs".into(),
                None => String::new(),
            };
            writeln!(
                f,
                "adversarial search: {}{gain}",
                counted(search.solves, "solve")
            )?;
            if let Some(why) = &search.first_failure {
                writeln!(
                    f,
                    "  {} without an answer, the first: {why}",
                    counted(search.failures, "dataset")
                )?;
            }
        }
        let Some(worst) = &self.worst else {
            return write!(f, "no pair had an answer on both sides: nothing was tested");
        };
        let loss = &worst.loss;
        let delta = loss.delta.map_or(String::new(), |d| {
            format!(", δ = {} at the claimed ε", short(d, 4))
        });
        writeln!(
            f,
            "worst pair ({}): moves the answer by {} ({} on the lattice): ε = {}{delta}",
            worst.found_by,
            short(loss.movement, 6),
            short(loss.on_lattice, 6),
            short(loss.epsilon, 6)
        )?;
        for line in differences(worst) {
            writeln!(f, "  {line}")?;
        }
        write!(
            f,
            "tightness: the largest movement is {} of the sensitivity in use",
            short(self.tightness, 4)
        )?;
        match loose(self.tightness, self.basis) {
            Some(why) => write!(f, "\n  {why}"),
            None => Ok(()),
        }
    }
}

/// Below this share of the sensitivity a movement wants an explanation.
const LOOSE: f64 = 0.01;

/// Why the largest movement may be so small, for people.
pub(super) fn loose(tightness: f64, basis: BasisKind) -> Option<&'static str> {
    if tightness >= LOOSE {
        return None;
    }
    Some(match basis {
        BasisKind::Certificate => {
            "less than 1%: a certificate covers data that these pairs do not reach (an envelope's price far above every price of the program, bounds or leverage that no pair attains), or the search was short"
        }
        BasisKind::Declared => {
            "less than 1%: the declared bound may be far too large, or the pairs do not reach where the answer moves"
        }
        BasisKind::Sampled | BasisKind::PaperMode => {
            "less than 1%: the pairs do not reach where the answer moves, or the search was short"
        }
    })
}

/// Entries shown of a pair.
const SHOWN: usize = 8;

/// The entries in which two datasets differ most.
fn differences(worst: &Witness) -> Vec<String> {
    let (a, b) = (&worst.first, &worst.second);
    let mut changed: Vec<usize> = (0..a.len()).filter(|i| a[*i] != b[*i]).collect();
    let size = |i: &usize| (a[*i] - b[*i]).abs();
    changed.sort_by(|i, j| size(j).total_cmp(&size(i)).then(i.cmp(j)));
    let mut lines: Vec<String> = changed
        .iter()
        .take(SHOWN)
        .map(|&i| {
            let name = &worst.parameters[i];
            format!("{name:<28} {} or {}", short(a[i], 6), short(b[i], 6))
        })
        .collect();
    if changed.len() > SHOWN {
        lines.push(format!("… and {} more (see --json)", changed.len() - SHOWN));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_side_without_an_answer_contradicts_a_promise_for_every_dataset() {
        let failed = |sides: usize| Failed {
            pair: 3,
            sides,
            why: "no answer".into(),
        };
        assert!(told_apart(true, &[failed(2), failed(1)]));
        assert!(!told_apart(true, &[failed(2)]));
        assert!(!told_apart(false, &[failed(1)]));
        assert!(!told_apart(true, &[]));
    }
}
