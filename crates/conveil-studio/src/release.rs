//! Releases: a ticket that names the charge and the budget left, and one release for each ticket, however often it is handed in.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use conveil::solve::Cancel;
use conveil_workbench::{Account, Delivery, Failure, Kind, Recipient, Releasing, Row, Workbench};
use serde::Serialize;

use crate::desk::Desk;
use crate::guard::secret;
use crate::view::text;

/// Tickets that are kept before they are handed in.
const KEPT: usize = 64;

/// Cards beside a spec, at most.
const CARDS: usize = 100_000;

/// A released card.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Issued {
    pub(crate) id: u64,
    pub(crate) file: String,
    stamps: Vec<String>,
    #[serde(skip)]
    pub(crate) json: Arc<str>,
    #[serde(skip)]
    pub(crate) text: Arc<str>,
}

/// The tickets of a desk, and the cards that they became.
#[derive(Default)]
pub(crate) struct Tickets {
    issued: Mutex<Vec<Issued>>,
    tickets: Mutex<BTreeMap<String, Arc<Ticket>>>,
}

struct Ticket {
    bench: Workbench,
    path: PathBuf,
    /// What came of it. Locked while it is released, so that a second hand-in waits for the first.
    outcome: Mutex<Option<Result<Released, String>>>,
}

impl Ticket {
    /// Whether nobody has handed it in.
    fn is_new(&self) -> bool {
        (self.outcome.try_lock()).is_ok_and(|outcome| outcome.is_none())
    }
}

/// What a tab asks somebody to confirm.
#[derive(Serialize)]
pub(crate) struct Prepared {
    ticket: String,
    text: String,
    charge: String,
    left: String,
    stamps: Vec<String>,
}

#[cfg(test)]
impl Prepared {
    /// What is handed in.
    pub(crate) fn ticket(&self) -> String {
        self.ticket.clone()
    }

    /// What the guarantee does not cover.
    pub(crate) fn stamps(&self) -> &[String] {
        &self.stamps
    }
}

/// What was released.
#[derive(Clone, Serialize)]
pub(crate) struct Released {
    card: Option<Issued>,
    cards: Vec<Issued>,
    text: String,
}

const RELEASING: Releasing = Releasing {
    row: None,
    decision: false,
    report: false,
    account: Account::Ledger,
    until_spent: false,
    strict: false,
};

impl Desk {
    /// Everything that comes before a charge.
    pub(crate) fn prepare(&self) -> Result<Prepared, Failure> {
        let now = self.now()?;
        let bench = now.opened.bench.clone();
        let mut desk = Cards::beside(&now.opened.path);
        let run = bench.dry_run(&RELEASING, &mut desk, &Cancel::default())?;
        let (charge, left) = match &run.charged {
            None => ("no ledger keeps count".to_string(), String::new()),
            Some(charged) => (
                format!("to dataset {}, budget {}", charged.dataset, charged.budget),
                format!("now {}; after it {}", charged.now, charged.after),
            ),
        };
        let ticket = secret().map_err(Failure::input)?;
        let moved = bench.moved();
        let stamps = match moved.is_empty() {
            true => Vec::new(),
            false => vec![format!(
                "not covered by the guarantee: the choice of {}",
                moved.join(", ")
            )],
        };
        let prepared = Prepared {
            ticket: ticket.clone(),
            text: text(&run),
            charge: text(&charge),
            left: text(&left),
            stamps,
        };
        let mut tickets = self
            .tickets
            .tickets
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // What was handed in is kept, with what came of it: the ledger's budget bounds how many there are.
        if tickets.values().filter(|ticket| ticket.is_new()).count() >= KEPT {
            tickets.retain(|_, ticket| !ticket.is_new());
        }
        let path = now.opened.path.clone();
        tickets.insert(
            ticket,
            Arc::new(Ticket {
                bench,
                path,
                outcome: Mutex::default(),
            }),
        );
        Ok(prepared)
    }

    /// Releases once for each ticket.
    ///
    /// # Guarantee
    /// A ticket is charged at most once, however often and however fast it is handed in.
    pub(crate) fn release(&self, ticket: &str) -> Result<Released, Failure> {
        let found = {
            let tickets = self
                .tickets
                .tickets
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            tickets.get(ticket).cloned()
        };
        let ticket = found.ok_or_else(|| Failure::input("prepare the release first"))?;
        let mut outcome = ticket
            .outcome
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(outcome) = &*outcome {
            return outcome.clone().map_err(Failure::input);
        }
        let mut cards = Cards::beside(&ticket.path);
        // Once it is asked for, nothing stops it: a charge without its card helps nobody.
        let released = ticket
            .bench
            .release(&RELEASING, &mut cards, &Cancel::default());
        cards.discard();
        let issued = self.tickets.issue(&cards.delivered);
        self.issue(&ticket.path, &issued);
        let done = match released {
            Ok(()) => Ok(Released {
                card: issued.first().cloned(),
                text: issued.iter().map(|card| &*card.text).collect(),
                cards: issued,
            }),
            Err(unreleased) => {
                // What was drawn and could not be written is charged: it is kept here, and shown.
                let kept = unreleased.answer.as_ref().map(|answer| text(&answer.card));
                let kept = kept.map_or(String::new(), |card| format!("\n\n{card}"));
                Err(format!("{}{kept}", text(&unreleased.failure)))
            }
        };
        *outcome = Some(done.clone());
        done.map_err(Failure::input)
    }
}

impl Tickets {
    fn issue(&self, delivered: &[(String, String, String, Vec<String>)]) -> Vec<Issued> {
        let mut issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        let from = issued.len();
        for (file, json, text, stamps) in delivered {
            let id = issued.len() as u64 + 1;
            issued.push(Issued {
                id,
                file: file.clone(),
                stamps: stamps.clone(),
                json: json.as_str().into(),
                text: text.as_str().into(),
            });
        }
        issued[from..].to_vec()
    }

    /// A card by its number.
    pub(crate) fn card(&self, id: u64) -> Option<Issued> {
        let issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        issued.iter().find(|card| card.id == id).cloned()
    }
}

/// Public cards, each a new file beside the spec, made before the charge.
struct Cards {
    folder: PathBuf,
    stem: String,
    files: BTreeMap<usize, (PathBuf, File)>,
    /// File, JSON, text and stamps.
    delivered: Vec<(String, String, String, Vec<String>)>,
}

impl Cards {
    fn beside(spec: &Path) -> Self {
        let stem = spec.file_stem().unwrap_or_default().to_string_lossy();
        Cards {
            folder: spec.parent().unwrap_or(Path::new("")).into(),
            stem: stem.into_owned(),
            files: BTreeMap::new(),
            delivered: Vec::new(),
        }
    }

    /// Files that nothing was written to.
    fn discard(&mut self) {
        for (path, _) in std::mem::take(&mut self.files).into_values() {
            let _ = std::fs::remove_file(path);
        }
    }

    fn new_file(&self) -> std::io::Result<(PathBuf, File)> {
        for number in 1..CARDS {
            let path = self
                .folder
                .join(format!("{}-card-{number}.json", self.stem));
            match File::create_new(&path) {
                Err(why) if why.kind() == std::io::ErrorKind::AlreadyExists => {}
                other => return other.map(|file| (path, file)),
            }
        }
        Err(std::io::Error::other("there are too many cards"))
    }
}

fn not_written(path: &Path, why: &std::io::Error) -> Failure {
    Failure::new(
        Kind::NotWritten,
        format!("cannot write {}: {why}", path.display()),
    )
}

impl Recipient for Cards {
    fn prepare(&mut self, rows: &[Row]) -> Result<(), Failure> {
        for row in rows {
            let file = self
                .new_file()
                .map_err(|why| not_written(&self.folder, &why))?;
            self.files.insert(row.number, file);
        }
        Ok(())
    }

    fn deliver(&mut self, delivery: &Delivery<'_>) -> Result<(), Failure> {
        let card = delivery.card();
        let json = card.to_json();
        let Some((path, mut file)) = self.files.remove(&delivery.row().number) else {
            return Err(Failure::input("there is no file for this card"));
        };
        let written = file
            .write_all(json.as_bytes())
            .and_then(|()| file.sync_all());
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // A card that reached the page is delivered, whether or not its file is whole.
        let name = match written {
            Ok(()) => name.into_owned(),
            Err(why) => format!("{name} (not written: {why})"),
        };
        self.delivered
            .push((name, json, text(card), card.stamps().to_vec()));
        Ok(())
    }
}
