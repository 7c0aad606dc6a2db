//! The head of a text: what is released, what is guaranteed to whom, what it costs and what to do next.

use std::fmt;

use conveil::ask::Strategy;
use conveil::curator::Explanation;
use conveil::plan::{Guarantee, Plan};
use conveil_models::digits;
use conveil_text::spelling::quoted;
use serde::{Serialize, Serializer};

use crate::lines::{Entry, WIDTH, fitted, folded, wrapped};
use crate::objective::Restating;
use crate::observer::Observer;
use crate::report::Report;
use crate::workbench::{Comparison, Workbench};

/// Lines of the head that the claim may take: with three others there are five.
const CLAIM: usize = 2;

/// Names of a list that are written out at most.
const NAMED: usize = 4;

/// What a plan would release and what it guarantees, in short. Public.
#[derive(Debug, Clone)]
pub(crate) struct Promise {
    /// The released numbers.
    names: Vec<String>,
    /// Their error bars.
    pub(crate) bar: String,
    /// The claim, whom it is for and what it rests on.
    claim: String,
    /// What is not protected, where the model says so.
    not_protected: Option<String>,
    /// By how much the answer is worse than the optimum, where that is known without data.
    pub(crate) bias: Option<String>,
}

impl Promise {
    pub(crate) fn of(bench: &Workbench, plan: &Plan<'_>) -> Self {
        let guarantee: &Guarantee = plan.guarantee();
        let restated = Restating::of(bench);
        let restated = restated.as_ref().and_then(Restating::restated);
        // The spec's own, or the model's: MW of a grid.
        let unit = bench.spec().private.unit.as_ref();
        let unit = unit.map(|unit| unit.value.as_str());
        let unit = unit.or(plan.ask().stated_unit());
        Promise {
            names: match restated {
                None => plan.labels().to_vec(),
                Some(restated) => vec![restated.name().into()],
            },
            bar: guarantee.error_bar_in_short(),
            claim: guarantee.claim_in_short(unit),
            not_protected: guarantee.not_protected(),
            bias: guarantee.uncertainty().bias.map(|bias| {
                let (at_most, unless) = match bias.at_most {
                    true => ("at most ", ", unless data are clipped or corrected"),
                    false => ("", ""),
                };
                let amount = digits(bias.amount);
                format!("on average {at_most}{amount} worse than the optimum{unless}")
            }),
        }
    }

    /// The released numbers with their error bars, in what is left of a line.
    pub(crate) fn released(&self, before: &str) -> String {
        let room = WIDTH - "released: ".len();
        let names: Vec<String> = self.names.iter().map(|name| quoted(name)).collect();
        let said = |named: usize| match names.len() {
            1 => format!("{before}{} with noise, {}", names[0], self.bar),
            count => {
                let some = some(&names, named);
                format!("{before}{count} numbers with noise, {}: {some}", self.bar)
            }
        };
        let fits = |named: &usize| said(*named).chars().count() <= room;
        let named = (1..=NAMED).rev().find(fits);
        match named {
            Some(named) => said(named),
            None if names.len() == 1 => said(1),
            None => format!("{before}{} numbers with noise, {}", names.len(), self.bar),
        }
    }

    /// Whether the head has no room for what is not protected.
    fn is_long(&self) -> bool {
        Entry::whole("guaranteed", &self.with_public()).lines() > CLAIM
    }

    fn with_public(&self) -> String {
        match &self.not_protected {
            None => self.claim.clone(),
            Some(public) => format!("{}; {public}", self.claim),
        }
    }

    /// The claim, with what is not protected where there is room; else a caller says that in another place.
    pub(crate) fn guaranteed(&self) -> String {
        match self.is_long() {
            false => self.with_public(),
            true => self.claim.clone(),
        }
    }

    /// What is not protected, where the head has no room for it.
    pub(crate) fn below(&self) -> Option<Entry> {
        let public = self.not_protected.as_ref().filter(|_| self.is_long())?;
        Some(Entry::whole("public", public))
    }
}

/// The first of some names, and how many follow.
pub(crate) fn some(names: &[String], named: usize) -> String {
    let shown = &names[..named.min(names.len())];
    some_of(shown, names.len())
}

/// These names, of so many.
pub(crate) fn some_of(shown: &[String], all: usize) -> String {
    match all.saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A document of the curator that has an answer in a few lines.
pub trait Answers: Serialize + fmt::Display {
    /// What it costs, in a line.
    fn costs(&self) -> String;

    /// What to do next, in a line.
    fn next(&self) -> String;

    /// What is left out unless details are asked for: a part of the text.
    fn annex(&self) -> Option<&str> {
        None
    }
}

/// What to choose settings by.
const BY_PUBLIC_DATA: &str = "choose by public data (`--at nominal`, `--at twin`)";

/// What public data are for.
const COVERED: &str = "settings chosen by this are covered";

/// What a curator does who has chosen.
const REHEARSE: &str = "`conveil release --dry-run` charges nothing";

/// With the decimals that a report has, but for zeros at the end.
fn percent_of(share: f64) -> String {
    let percent = format!("{:.4}", 100.0 * share);
    percent.trim_end_matches('0').trim_end_matches('.').into()
}

impl Answers for Report {
    fn costs(&self) -> String {
        let report = self.engine();
        if !report.carried {
            return "not measured: no decision carries the noise".into();
        }
        let percent = report.loss_percent.map_or(String::new(), |percent| {
            format!(" ({:.2}% of the optimum)", percent.abs())
        });
        let than = match report.loss < 0.0 {
            true => "less than without noise",
            false => "more than without noise",
        };
        let before = (report.strategy.noise_is()).map_or(String::new(), |p| format!(", {p}"));
        let often = match report.strategy == Strategy::Program && report.certified > 0.0 {
            true => format!(
                "; infeasible at most {}%{}",
                percent_of(report.certified),
                match report.budget.is_for_each_row() {
                    true => " in each row",
                    false => "",
                }
            ),
            false => String::new(),
        };
        let loss = digits(report.loss.abs());
        format!("{loss} {than}{percent}{before}{often}")
    }

    fn next(&self) -> String {
        let report = self.engine();
        let is_moved = (report.correction.as_ref()).is_some_and(|c| !c.at_the_data);
        match (report.clipped.is_empty() && !is_moved, report.private) {
            (false, _) => {
                "see below which data count as others; `conveil inspect` shows all of them".into()
            }
            (true, true) => format!("`conveil compare` shows other strategies; {REHEARSE}"),
            (true, false) => format!("{COVERED}; {REHEARSE}"),
        }
    }

    fn annex(&self) -> Option<&str> {
        Some(&self.engine().guarantee)
    }
}

impl Answers for Comparison {
    fn costs(&self) -> String {
        match self {
            Comparison::Cost(comparison) => comparison.in_short(),
            Comparison::Model(document) => {
                let summary = document.summary.clone();
                summary.unwrap_or("what each strategy costs, the table has".into())
            }
        }
    }

    fn next(&self) -> String {
        let names = |text: &str| text.contains("strategy = ");
        let (is_private, is_advised) = match self {
            Comparison::Cost(comparison) => (
                comparison.private,
                comparison.advice.iter().any(|note| names(note)),
            ),
            Comparison::Model(document) => {
                let text = &document.text;
                (text.contains(": PRIVATE,"), names(text))
            }
        };
        let first = match is_advised {
            true => "see the note on a simpler strategy",
            false => "`conveil solve` shows a decision",
        };
        match is_private {
            true => format!("{first}; {BY_PUBLIC_DATA}"),
            false => format!("{first}; {COVERED}"),
        }
    }
}

impl Answers for Explanation {
    fn costs(&self) -> String {
        if self.unattainable.is_some() {
            return "there is no answer: no noise scale meets the stated privacy".into();
        }
        if !self.feasible {
            return "there is no answer: the noise does not fit; what is in its way stands below"
                .into();
        }
        if self.has_elastic_losses {
            return "feasible at any ε and η: losses give way to the noise".into();
        }
        match self.binding.first() {
            None => "the noise fits, and no constraint that binds has a price".into(),
            Some((name, price)) => format!(
                "the noise fits; of the constraints that bind {} has the largest price, {}",
                quoted(name),
                digits(price.abs())
            ),
        }
    }

    fn next(&self) -> String {
        // Of the settings that a spec states, the first whose edge was met.
        let edge = self.thresholds.iter().find_map(|threshold| {
            let is_stated = threshold.what != "sensitivity"
                && !threshold.everything_tried
                && !threshold.is_the_solvers;
            let edge = digits(threshold.edge.filter(|_| is_stated)?);
            let far = match threshold.feasible_above {
                true => "or more",
                false => "or less",
            };
            Some(format!("{} = {edge} {far} is feasible", threshold.what))
        });
        let first = match (edge, self.feasible) {
            (Some(edge), _) => edge,
            (None, true) => "nothing has to change".into(),
            (None, false) => "ask for less".into(),
        };
        match self.private {
            true => format!("{first}; {BY_PUBLIC_DATA}"),
            false => format!("{first}; {COVERED}"),
        }
    }
}

/// A document of the curator with its answer in front. The JSON is the document's own.
#[derive(Debug)]
pub struct Answered<D> {
    document: D,
    opening: Vec<String>,
    /// What is not protected, where the opening has no room for it.
    below: Vec<String>,
    is_detailed: bool,
}

impl Workbench {
    /// The document, opening with what would be released, what is guaranteed to whom, what it costs and what to do next,
    /// below its stamp. What is long is left out unless `details` are asked for.
    pub fn answered<D: Answers>(
        &self,
        document: D,
        details: bool,
        observer: &dyn Observer,
    ) -> Answered<D> {
        // Its stages are not the caller's.
        let promise = (self.plan(&observer.cancel())).map(|plan| Promise::of(self, &plan));
        let (released, guaranteed) = match &promise {
            Ok(promise) => (
                promise.released("nothing yet; planned: "),
                promise.guaranteed(),
            ),
            Err(_) => (
                "nothing, and nothing can be as asked".into(),
                "nothing as long as there is no plan".into(),
            ),
        };
        let opening = [
            Entry::whole("released", &released),
            Entry::whole("guaranteed", &guaranteed),
            Entry::whole("costs", &document.costs()),
            Entry::whole("next", &document.next()),
        ];
        let public = (promise.ok()).and_then(|promise| promise.below());
        Answered {
            opening: fitted(&opening, usize::MAX),
            below: fitted(public.as_slice(), usize::MAX),
            document,
            is_detailed: details,
        }
    }
}

impl<D> Answered<D> {
    /// The document itself.
    pub fn document(&self) -> &D {
        &self.document
    }
}

impl<D: Answers> Answered<D> {
    /// The stamp of the document and the answer, without what follows. What is not protected is never cut.
    pub fn opening(&self) -> String {
        let below = self.below.iter().map(|line| format!("{line}\n"));
        self.head() + &below.collect::<String>()
    }

    fn head(&self) -> String {
        let text = self.document.to_string();
        let stamp = text.lines().next().unwrap_or_default();
        let mut lines = stamped(stamp);
        lines.extend(self.opening.iter().cloned());
        lines.join("\n") + "\n"
    }
}

impl<D: Serialize> Serialize for Answered<D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.document.serialize(serializer)
    }
}

impl<D: Answers> fmt::Display for Answered<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.document.to_string();
        // The stamp stays on top.
        let (_, rest) = text.split_once('\n').unwrap_or((&text, ""));
        writeln!(f, "{}", self.head())?;
        for line in &self.below {
            writeln!(f, "{line}")?;
        }
        if self.is_detailed {
            return f.write_str(rest);
        }
        let annex = self.document.annex();
        let rest = annex
            .and_then(|annex| rest.strip_prefix(annex))
            .unwrap_or(rest);
        for line in rest.trim_start_matches('\n').lines().flat_map(folded) {
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

/// A stamp that is too long goes on after a semicolon.
fn stamped(stamp: &str) -> Vec<String> {
    match stamp.rsplit_once("; ") {
        Some((first, rest)) if stamp.chars().count() > WIDTH => {
            let mut lines = wrapped(&format!("{first};"), usize::MAX);
            lines.push(format!("  {rest}"));
            lines
        }
        _ => wrapped(stamp, usize::MAX),
    }
}
