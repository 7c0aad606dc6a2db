//! The curator's report: each section asks the workbench, and says why where there is nothing to show.

use conveil::curator::{About, Axis};
use conveil_workbench::{
    Account, Answer, Comparing, Failure, Kind, Observer, Probe, Releasing, Sweep, Workbench,
};

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
    let body = Report {
        bench: &bench,
        row,
        observer,
    }
    .sections()?;
    Ok(document(&title, &(head.html() + &body)))
}

/// The name without the folders that it lies in: they say nothing to a reader, and much about a machine.
fn file_name(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    if name.is_empty() { path } else { name }
}

struct Report<'r> {
    bench: &'r Workbench,
    row: Option<usize>,
    observer: &'r dyn Observer,
}

impl Report<'_> {
    fn sections(&self) -> Result<String, Failure> {
        let (bench, row, observer) = (self.bench, self.row, self.observer);
        let check = uninterrupted(bench.check(observer))?;
        let solved = uninterrupted(bench.solve(row, observer))?;
        let mut page = String::new();
        if let Ok(check) = &check {
            let glance = sections::glance(check, solved.as_ref().ok());
            page += &section("At a glance", "glance", &glance);
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
