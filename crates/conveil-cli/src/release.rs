//! `conveil release`: the card to standard output, the private documents to files of their own.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use conveil_workbench::{Account, Delivery, Failure, Kind, Recipient, Row, Spent, Workbench};

use crate::arguments::Releasing;
use crate::delivery::{self, Keep};
use crate::private_file::PrivateFile;
use crate::terminal::Terminal;

/// Releases, or runs what is not private if that was asked for.
pub(crate) fn run(releasing: &Releasing, terminal: &Terminal) -> Result<(), Failure> {
    let bench = Workbench::open_watched(&releasing.common.spec, terminal)?;
    let request = conveil_workbench::Releasing {
        row: releasing.row,
        decision: releasing.decision.is_some(),
        report: releasing.report.is_some(),
        until_spent: releasing.until_spent,
        strict: releasing.strict,
        account: match (releasing.not_private, releasing.no_ledger) {
            (true, _) => Account::NotPrivate {
                seed: releasing.seed,
            },
            (false, true) => Account::WithoutLedger,
            (false, false) => Account::Ledger,
        },
    };
    let mut desk = Desk {
        releasing,
        terminal,
        files: BTreeMap::new(),
        cards: Cards::default(),
    };
    if releasing.dry_run {
        return terminal.show(&bench.dry_run(&request, &mut desk, terminal)?);
    }
    // What could not be delivered, the desk has kept.
    let released = bench.release(&request, &mut desk, terminal);
    let closed = desk.close();
    released?;
    closed?;
    terminal.say_timings();
    Ok(())
}

/// Where documents are handed out.
struct Desk<'d> {
    releasing: &'d Releasing,
    terminal: &'d Terminal,
    /// By row.
    files: BTreeMap<usize, Files>,
    cards: Cards,
}

/// The cards of a series as one JSON document, `{"cards": [ … ]}`, written card by card: each must be out before the next is
/// charged.
#[derive(Default)]
struct Cards {
    is_one_document: bool,
    printed: Cell<usize>,
}

impl Cards {
    /// What stands before the next card.
    fn joined(&self) -> &'static str {
        match (self.is_one_document, self.printed.get()) {
            (false, _) => "",
            (true, 0) => "{\"cards\": [\n",
            (true, _) => ",\n",
        }
    }

    fn count(&self) {
        self.printed.set(self.printed.get() + 1);
    }

    /// What stands after the last card.
    fn end(&self) -> Option<&'static str> {
        (self.is_one_document && self.printed.get() > 0).then_some("]}\n")
    }
}

/// The private documents of a row that were asked for; the files are made before anything is charged.
#[derive(Default)]
struct Files {
    decision: Option<PrivateFile>,
    report: Option<PrivateFile>,
}

impl Recipient for Desk<'_> {
    fn prepare(&mut self, rows: &[Row]) -> Result<(), Failure> {
        self.cards.is_one_document = self.releasing.common.output.json && rows.len() > 1;
        for row in rows {
            let file = |path: &Option<PathBuf>| {
                let path = path.as_ref();
                path.map(|path| PrivateFile::new(&place(path, row, rows)))
            };
            let files = Files {
                decision: file(&self.releasing.decision).transpose()?,
                report: file(&self.releasing.report).transpose()?,
            };
            self.files.insert(row.number, files);
        }
        Ok(())
    }

    fn rehearse(&mut self, rows: &[Row]) -> Result<(), Failure> {
        let wanted = [&self.releasing.decision, &self.releasing.report];
        for path in wanted.into_iter().flatten() {
            for row in rows {
                PrivateFile::rehearse(&place(path, row, rows))?;
            }
        }
        Ok(())
    }

    fn ready(&mut self) -> Result<(), Failure> {
        delivery::require_output()
    }

    fn deliver(&mut self, delivery: &Delivery<'_>) -> Result<(), Failure> {
        let files = self
            .files
            .remove(&delivery.row().number)
            .unwrap_or_default();
        let folder = (self.releasing.common.spec.parent()).unwrap_or(Path::new(""));
        let keep = match delivery.spent() {
            Spent::Charge { ledger, charge, .. } => {
                Keep::new(ledger.parent().unwrap_or(folder), Some(*charge))
            }
            Spent::WithoutLedger => Keep::new(folder, None),
            Spent::Nothing => return self.show(delivery, files),
        };
        self.hand_over(delivery, files, &keep)
    }
}

impl Desk<'_> {
    /// Ends the document of a series, however far it came.
    fn close(&self) -> Result<(), Failure> {
        match self.cards.end() {
            Some(end) => self.terminal.print(end),
            None => Ok(()),
        }
    }

    /// The private documents first: an answer without its decision helps nobody. The budget is spent, so what cannot be
    /// written to its place is kept elsewhere.
    fn hand_over(&self, delivery: &Delivery<'_>, files: Files, keep: &Keep) -> Result<(), Failure> {
        let decision = files.decision.zip(delivery.decision());
        let misplaced = decision.and_then(|(file, decision)| {
            let failure = file.write(decision).err()?;
            Some((failure, keep.document("decision", "json", decision)))
        });
        let card = delivery.card();
        if let Some((failure, None)) = misplaced {
            return Err(keep.undelivered(card, &failure.to_string(), self.terminal));
        }
        // Whether there is a card must not hang on the report.
        let report = written(files.report, delivery);
        keep.deliver(card, self.cards.joined(), self.terminal)?;
        self.cards.count();
        match misplaced {
            Some((failure, Some(path))) => Err(Failure::new(
                Kind::Undelivered,
                format!(
                    "{failure}\n  help: the card is printed, and its decision is kept in {}, which only you may read",
                    path.display()
                ),
            )),
            _ => report,
        }
    }

    /// What cost nothing can be had again.
    fn show(&self, delivery: &Delivery<'_>, files: Files) -> Result<(), Failure> {
        if let (Some(file), Some(decision)) = (files.decision, delivery.decision()) {
            file.write(decision)?;
        }
        written(files.report, delivery)?;
        let card = self.terminal.text(delivery.card())?;
        self.terminal
            .print(&format!("{}{card}", self.cards.joined()))?;
        self.cards.count();
        Ok(())
    }
}

/// The report to its file; the curator is warned whether or not there is one.
fn written(file: Option<PrivateFile>, delivery: &Delivery<'_>) -> Result<(), Failure> {
    match (file, delivery.report()) {
        (Some(file), Some(report)) => file.write(report),
        _ => Ok(()),
    }
}

/// The file of this row among these.
fn place(path: &Path, row: &Row, rows: &[Row]) -> PathBuf {
    match rows.len() {
        1 => path.into(),
        _ => numbered(path, row),
    }
}

/// Characters of a label that stand in the name of a file.
const LABEL_IN_NAME: usize = 60;

/// `dispatch.json` of row 2 is `dispatch-2.json`; with the label `08:00` it is `dispatch-2-08_00.json`. What is neither a letter
/// nor a digit may mean something to a file system; the number keeps the names apart.
fn numbered(path: &Path, row: &Row) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_os_string();
    name.push(format!("-{}", row.number));
    if let Some(label) = &row.label {
        let letters = label.as_str().chars().take(LABEL_IN_NAME);
        let safe = letters.map(|c| match c.is_ascii_alphanumeric() || c == '-' {
            true => c,
            false => '_',
        });
        name.push(format!("-{}", safe.collect::<String>()));
    }
    if let Some(end) = path.extension() {
        name.push(".");
        name.push(end);
    }
    path.with_file_name(name)
}
