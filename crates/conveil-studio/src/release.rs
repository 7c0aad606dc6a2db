//! Releases: a ticket that names the charge and the budget left, and one release for each ticket, however often it is handed in.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use conveil::ask::Strategy;
use conveil::solve::Cancel;
use conveil_workbench::{
    Account, Delivery, DryRun, Failure, Kind, Recipient, Releasing, Row, Standing, Unreleased,
    Workbench,
};
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
    /// The private file of the decision, where there is one.
    decision: Option<String>,
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
    /// How many answers.
    releases: usize,
    /// How many charges, and of what.
    charge: String,
    /// The budget that it is charged to; none where no ledger keeps count, as for what follows.
    budget: Option<String>,
    now: Option<String>,
    after: Option<String>,
    left: Option<String>,
    /// Whether there is a decision that can be kept.
    decision: bool,
    stamps: Vec<String>,
}

#[cfg(test)]
impl Prepared {
    /// What is handed in.
    pub(crate) fn ticket(&self) -> String {
        self.ticket.clone()
    }

    /// How many charges, and of what.
    pub(crate) fn charge(&self) -> &str {
        &self.charge
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
    /// Why it ended early, where it was charged. Private: it depends on the data.
    failed: Option<String>,
}

#[cfg(test)]
impl Released {
    /// Why it ended early, where it was charged.
    pub(crate) fn failed(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// The public cards.
    pub(crate) fn cards(&self) -> &[Issued] {
        &self.cards
    }
}

#[cfg(test)]
impl Issued {
    /// The private file of the decision.
    pub(crate) fn decision(&self) -> Option<&str> {
        self.decision.as_deref()
    }
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
        let decision = bench.spec().feasibility.strategy.value == Strategy::Program
            && bench.plan(&Cancel::default()).is_ok();
        let ticket = secret().map_err(Failure::input)?;
        let moved = bench.moved();
        let stamps = match moved.is_empty() {
            true => Vec::new(),
            false => vec![format!(
                "not covered by the guarantee: the choice of {}",
                moved.join(", ")
            )],
        };
        let charged = run.charged.as_ref();
        let prepared = Prepared {
            ticket: ticket.clone(),
            text: self.without_folder(&said(&run)),
            releases: run.releases,
            charge: charge(&run),
            budget: charged
                .map(|charged| text(&format!("{}, {}", charged.dataset, charged.budget))),
            now: charged.map(|charged| text(&charged.now.in_words)),
            after: charged.map(|charged| text(&charged.after.in_words)),
            left: charged.map(|charged| left(&charged.after)),
            decision,
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

    /// Releases once for each ticket; the first who hands it in says whether the decision is kept. What was charged and failed is
    /// not refused: it says so, and counts as a look at the private data.
    ///
    /// # Guarantee
    /// A ticket is charged at most once for each answer, however often and however fast it is handed in. Test:
    /// `a_ticket_is_charged_once_however_often_and_fast_it_is_handed_in`.
    pub(crate) fn release(&self, ticket: &str, decision: bool) -> Result<Released, Failure> {
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
        cards.with_decision = decision;
        let releasing = Releasing {
            decision,
            ..RELEASING
        };
        // Once it is asked for, nothing stops it: a charge without its card helps nobody.
        let released = ticket
            .bench
            .release(&releasing, &mut cards, &Cancel::default());
        cards.discard();
        let issued = self.tickets.issue(&cards.delivered);
        let failed = released.err();
        // A row before it may be charged and released, and this one refused by the ledger.
        let is_charged = |why: &Unreleased| {
            why.failure.is_recorded() || why.answer.is_some() || !issued.is_empty()
        };
        let charged = failed.as_ref().is_some_and(is_charged);
        self.released_from((&ticket.path, &ticket.bench), &issued, charged);
        // What was drawn and could not be written is charged: it is kept here, and shown.
        let failed = failed.map(|why| {
            let kept = why.answer.as_ref().map(|answer| text(&answer.card));
            let kept = kept.map_or(String::new(), |card| format!("\n\n{card}"));
            self.without_folder(&format!("{}{kept}", text(&why.failure)))
        });
        let done = match failed {
            Some(why) if !charged => Err(why),
            failed => Ok(Released {
                card: issued.first().cloned(),
                text: issued.iter().map(|card| &*card.text).collect(),
                cards: issued,
                failed,
            }),
        };
        *outcome = Some(done.clone());
        done.map_err(Failure::input)
    }
}

/// What would be released, without the head of a dry run: here the release itself follows.
fn said(run: &DryRun) -> String {
    let said = text(run);
    match said.split_once('\n') {
        Some((head, rest)) if head.starts_with("DRY RUN") => rest.into(),
        _ => said,
    }
}

/// `3 charges of ε = 1`.
fn charge(run: &DryRun) -> String {
    let delta = match run.delta > 0.0 {
        true => format!(", δ = {}", run.delta),
        false => String::new(),
    };
    let each = format!("ε = {}{delta}", run.epsilon);
    match (&run.charged, run.releases) {
        (None, _) => "none: no ledger keeps count".into(),
        (Some(charged), many) if charged.whole => {
            format!("1 charge for the whole series of {many} answers, {each} for each")
        }
        (Some(_), 1) => format!("1 charge of {each}"),
        (Some(_), many) => format!("{many} charges of {each}"),
    }
}

/// What a budget has left.
fn left(standing: &Standing) -> String {
    let part = standing.left_in_new_part;
    let part = part.map_or(String::new(), |part| {
        format!(", of ε = {part} in a part that has not spent")
    });
    format!("a pure charge of ε = {}{part}", standing.left)
}

/// A card that was delivered.
struct Delivered {
    file: String,
    decision: Option<String>,
    json: String,
    text: String,
    stamps: Vec<String>,
}

impl Tickets {
    fn issue(&self, delivered: &[Delivered]) -> Vec<Issued> {
        let mut issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        let from = issued.len();
        for card in delivered {
            let id = issued.len() as u64 + 1;
            issued.push(Issued {
                id,
                file: card.file.clone(),
                decision: card.decision.clone(),
                stamps: card.stamps.clone(),
                json: card.json.as_str().into(),
                text: card.text.as_str().into(),
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

/// Public cards, each a new file beside the spec, made before the charge; and private decisions beside them, where they are kept.
struct Cards {
    folder: PathBuf,
    stem: String,
    with_decision: bool,
    files: BTreeMap<usize, Vec<(PathBuf, File)>>,
    delivered: Vec<Delivered>,
}

/// What the files of a card and of its decision are called.
const KINDS: [&str; 2] = ["card", "decision"];

impl Cards {
    fn beside(spec: &Path) -> Self {
        let stem = spec.file_stem().unwrap_or_default().to_string_lossy();
        Cards {
            folder: spec.parent().unwrap_or(Path::new("")).into(),
            stem: stem.into_owned(),
            with_decision: false,
            files: BTreeMap::new(),
            delivered: Vec::new(),
        }
    }

    /// Files that nothing was written to.
    fn discard(&mut self) {
        for (path, _) in std::mem::take(&mut self.files).into_values().flatten() {
            let _ = std::fs::remove_file(path);
        }
    }

    /// A new card, and its decision of the same number where it is kept.
    fn new_files(&self) -> std::io::Result<Vec<(PathBuf, File)>> {
        for number in 1..CARDS {
            let path = |kind| {
                self.folder
                    .join(format!("{}-{kind}-{number}.json", self.stem))
            };
            let mut made = Vec::new();
            let mut refused = None;
            for kind in &KINDS[..1 + usize::from(self.with_decision)] {
                let path = path(kind);
                match new_file(&path, *kind == "decision") {
                    Ok(file) => made.push((path, file)),
                    Err(why) => {
                        refused = Some(why);
                        break;
                    }
                }
            }
            let Some(why) = refused else {
                return Ok(made);
            };
            for (path, _) in made {
                let _ = std::fs::remove_file(path);
            }
            if why.kind() != std::io::ErrorKind::AlreadyExists {
                return Err(why);
            }
        }
        Err(std::io::Error::other("there are too many cards"))
    }
}

/// A file that was not there; a private one only its owner may read.
fn new_file(path: &Path, is_private: bool) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if is_private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = is_private;
    options.open(path)
}

/// Writes a document that is paid for; its name, and why it is not whole where it is not.
fn written((path, mut file): (PathBuf, File), document: &str) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let done = file.write_all(document.as_bytes());
    match done.and_then(|()| file.sync_all()) {
        Ok(()) => name.into_owned(),
        Err(why) => format!("{name} (not written: {why})"),
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
            let files = self
                .new_files()
                .map_err(|why| not_written(&self.folder, &why))?;
            self.files.insert(row.number, files);
        }
        Ok(())
    }

    fn deliver(&mut self, delivery: &Delivery<'_>) -> Result<(), Failure> {
        let card = delivery.card();
        let json = card.to_json();
        let mut files = self
            .files
            .remove(&delivery.row().number)
            .into_iter()
            .flatten();
        let Some(place) = files.next() else {
            return Err(Failure::input("there is no file for this card"));
        };
        // The decision first: an answer without it helps nobody.
        let decision = files.next().map(|place| {
            let document = delivery.decision().map(serde_json::to_string_pretty);
            match document {
                Some(Ok(document)) => written(place, &document),
                _ => {
                    let _ = std::fs::remove_file(place.0);
                    "(there is no decision to write)".into()
                }
            }
        });
        // A card that reached the page is delivered, whether or not its file is whole.
        self.delivered.push(Delivered {
            file: written(place, &json),
            decision,
            json,
            text: text(card),
            stamps: card.stamps().to_vec(),
        });
        Ok(())
    }
}
