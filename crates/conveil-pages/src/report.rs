//! The curator's report: each section asks the workbench, and says why where there is nothing to show.

use conveil::curator::{About, Axis};
use conveil_workbench::{
    Account, Answer, Comparing, Failure, Kind, Observer, Probe, Releasing, Sweep, Workbench,
};

use conveil::solve::Cancel;
use conveil_workbench::Stage;
use std::sync::{Mutex, PoisonError};

use crate::html::{Fragment, document, section};
use crate::sections;

/// Pairs and solves of the audit: a short one, so that a report takes seconds.
const PROBE: (u64, u64, u64) = (60, 2, 200);

/// The report of a spec, opened, at the data that `about` names: a whole document.
///
/// # Guarantee
/// At public data the document does not depend on the private ones: all of its numbers are those of `Workbench::at`. No
/// duration is on it. An interruption is a failure, never a section. Tests: `a_report_at_public_data_has_no_private_number`,
/// `an_interrupted_report_is_no_report`.
pub fn report(
    bench: &Workbench,
    about: About,
    row: Option<usize>,
    observer: &dyn Observer,
) -> Result<String, Failure> {
    let bench = bench.at(about)?;
    let title = format!("Report on {}", file_name(bench.name()));
    let head = Fragment::new()
        .stamp(about.is_private(), &about.stamp().to_string())
        .title(&title);
    let hearing = Hearing {
        observer,
        heard: Mutex::default(),
    };
    let body = Report {
        bench: &bench,
        row,
        observer: &hearing,
    }
    .sections(&hearing)?;
    Ok(document(&title, &(head.html() + &body)))
}

/// The name without the folders that it lies in: they say nothing to a reader, and much about a machine.
fn file_name(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    if name.is_empty() { path } else { name }
}

/// Passes on what is said, each warning once, and keeps the warnings for the page.
struct Hearing<'o> {
    observer: &'o dyn Observer,
    heard: Mutex<Vec<String>>,
}

impl Hearing<'_> {
    fn heard(&self) -> Vec<String> {
        (self.heard.lock().unwrap_or_else(PoisonError::into_inner)).clone()
    }
}

impl Observer for Hearing<'_> {
    fn note(&self, text: &str) {
        self.observer.note(text);
    }

    fn hears_notes(&self) -> bool {
        self.observer.hears_notes()
    }

    fn warning(&self, text: &str) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if !heard.iter().any(|known| known == text) {
            heard.push(text.into());
            self.observer.warning(text);
        }
    }

    fn begin(&self, stage: Stage) {
        self.observer.begin(stage);
    }

    fn progress(&self, done: usize, total: usize) {
        self.observer.progress(done, total);
    }

    fn end(&self, stage: Stage) {
        self.observer.end(stage);
    }

    fn cancel(&self) -> Cancel {
        self.observer.cancel()
    }
}

struct Report<'r> {
    bench: &'r Workbench,
    row: Option<usize>,
    observer: &'r dyn Observer,
}

impl Report<'_> {
    fn sections(&self, hearing: &Hearing<'_>) -> Result<String, Failure> {
        let (bench, row, observer) = (self.bench, self.row, self.observer);
        let check = uninterrupted(bench.check(observer))?;
        let solved = uninterrupted(bench.solve(row, observer))?;
        let mut page = String::new();
        if let Ok(check) = &check {
            let glance = sections::glance(check, solved.as_ref().ok());
            page += &section("At a glance", "glance", &glance);
        }
        let warnings = hearing.heard();
        if !warnings.is_empty() {
            page += &section("Warnings", "warnings", &sections::warnings(&warnings));
        }
        page += &section(
            "The question",
            "question",
            &shown(&check, sections::question),
        );
        page += &section(
            "The guarantee",
            "guarantee",
            &shown(&check, sections::guarantee),
        );
        let neighbours = match (&uninterrupted(bench.plan(observer))?, &solved) {
            (Ok(plan), Ok(solved)) => sections::neighbours(plan, solved),
            (Err(failure), _) | (_, Err(failure)) => sections::failed(failure),
        };
        page += &section("Neighbouring data", "neighbours", &neighbours);
        page += &section("Loss against ε, α and η", "frontier", &self.frontiers()?);
        page += &section(
            "The room for noise",
            "budget",
            &shown(&solved, sections::budget),
        );
        let decision = match &solved {
            Ok(solved) => {
                let picture = solved.picture().map(sections::picture);
                picture.unwrap_or_default() + &sections::decision(solved) + &sections::model(solved)
            }
            Err(failure) => sections::failed(failure),
        };
        page += &section("The decision", "decision", &decision);
        page += &section("The cost", "cost", &shown(&solved, sections::cost));
        page += &section("Prices", "prices", &shown(&solved, sections::prices));
        let comparing = Comparing {
            row,
            ..Comparing::default()
        };
        let compared = uninterrupted(bench.compare(&comparing, observer))?;
        page += &section(
            "Strategies side by side",
            "strategies",
            &shown(&compared, sections::comparison),
        );
        let explained = uninterrupted(bench.explain(row, observer))?;
        page += &section(
            "How far it can go",
            "limits",
            &shown(&explained, sections::explanation),
        );
        page += &section("Audit", "audit", &self.audit()?);
        page += &section("Ledger", "ledger", &self.ledger()?);
        Ok(page)
    }

    fn frontiers(&self) -> Result<String, Failure> {
        let mut parts = Fragment::new();
        for over in [Axis::Epsilon, Axis::Alpha, Axis::Eta] {
            if self.bench.chosen(over).is_err() {
                let why = format!("the spec has no {} to move", over.symbol());
                let none = Fragment::new().why_not(&why).html();
                parts = parts.part(&format!("Over {}", over.symbol())).then(&none);
                continue;
            }
            let sweep = Sweep {
                row: self.row,
                over,
                values: None,
            };
            let found = uninterrupted(self.bench.frontier(&sweep, self.observer))?;
            let chosen = self.bench.chosen(over).ok();
            let shown = shown(&found, |found| sections::frontier(found, chosen));
            parts = parts.part(&format!("Over {}", over.symbol())).then(&shown);
        }
        Ok(parts.html())
    }

    fn audit(&self) -> Result<String, Failure> {
        let (pairs, climbs, solves) = PROBE;
        let probe = Probe {
            pairs,
            climbs,
            solves,
            row: self.row,
            ..Probe::default()
        };
        let found = uninterrupted(self.bench.audit(&probe, None, self.observer))?;
        Ok(shown(&found, sections::audit))
    }

    fn ledger(&self) -> Result<String, Failure> {
        if self.bench.spec().ledger.is_none() {
            return Ok(sections::no_ledger());
        }
        let releasing = Releasing {
            account: Account::Ledger,
            row: self.row,
            ..Releasing::default()
        };
        let mut nobody: Vec<Answer> = Vec::new();
        let run = self.bench.dry_run(&releasing, &mut nobody, self.observer);
        Ok(shown(&uninterrupted(run)?, sections::ledger))
    }
}

/// An interruption ends the report; every other failure is the text of a section.
fn uninterrupted<T>(found: Result<T, Failure>) -> Result<Result<T, Failure>, Failure> {
    match found {
        Err(failure) if failure.kind() == Kind::Interrupted => Err(failure),
        found => Ok(found),
    }
}

fn shown<T>(found: &Result<T, Failure>, section: impl Fn(&T) -> String) -> String {
    match found {
        Ok(found) => section(found),
        Err(failure) => sections::failed(failure),
    }
}
