//! `conveil ledger`: its flags, and what it shows.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use conveil_workbench::ledger::{self, Group, LedgerFile, Neighbours, NewBudget};
use conveil_workbench::{Failure, Judged};

use crate::arguments::Output;
use crate::terminal::Terminal;

/// What to do with a ledger.
#[derive(Debug, Subcommand)]
pub(crate) enum Book {
    /// Give a dataset its budget, once; makes the file where there is none
    #[command(
        after_help = "With --delta, amounts chosen after seeing earlier answers need --basic: the smaller total by zCDP\n\
        holds only for amounts planned without them.\n\n\
        The budget is about one neighbourhood: take that of a spec with --spec, or state it by flags.\n\
        By flags, --called is the name that stands on the card of a release; --spec takes it from there.\n\n\
        Example:\n  conveil ledger init ledger.db --dataset loads-2026 --epsilon 1 --delta 1e-6 --spec spec.toml"
    )]
    Init(Init),
    /// Show what each of several releases may spend within a budget; opens no ledger
    #[command(
        after_help = "Every way of counting that the ledger knows is shown, with what a spec needs for it.\n\
        Releases of two sizes, the second with twice the ε: --releases 24,12x2\n\n\
        Example:\n  conveil ledger plan --releases 24 --budget 2 --delta 1e-5"
    )]
    Plan(Planned),
    /// Show what each dataset may spend and has spent
    #[command(after_help = "Example:\n  conveil ledger show ledger.db --dataset loads-2026")]
    Show(Show),
    /// Record a spend that was made elsewhere, even over budget (exit code 5)
    #[command(
        after_help = "Amounts chosen after seeing earlier answers need a budget made with --basic.\n\n\
        Example:\n  conveil ledger spend ledger.db --dataset loads-2026 --epsilon 0.3 --basis declared --like-budget"
    )]
    Spend(Spend),
    /// State between which datasets the budget and charges of an earlier version hold; nothing written before changes
    #[command(
        after_help = "Only what was recorded without a neighbourhood can be given one; its basis is then declared at best.\n\
        Without --charges and --budget it is about all that is open. What was stated wrongly can be stated again, by\n\
        naming it with --charges or --budget: the later statement counts. What a release recorded itself stays.\n\
        By flags, --called is the name that stands on the card of a release; --spec takes it from there.\n\n\
        Example:\n  conveil ledger adopt old.db --dataset loads-2025 --spec spec.toml"
    )]
    Adopt(Adopt),
    /// Check the file and every hash chain; with a head kept elsewhere, also that nothing was cut off
    #[command(after_help = "Example:\n  conveil ledger verify ledger.db")]
    Verify(Verify),
    /// Print budgets and charges as JSON lines
    #[command(after_help = "Example:\n  conveil ledger export ledger.db --dataset loads-2026")]
    Export(Export),
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The ledger file
    file: PathBuf,
    /// The dataset
    #[arg(long, value_name = "NAME")]
    dataset: String,
    /// The total ε
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: f64,
    /// The total δ; 0 admits pure charges only
    #[arg(
        long,
        value_name = "D",
        default_value = "0",
        allow_hyphen_values = true
    )]
    delta: f64,
    /// Basic composition alone: for amounts chosen after seeing earlier answers
    #[arg(long)]
    basic: bool,
    #[command(flatten)]
    between: Between,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Planned {
    /// How many releases; several sizes separated by commas, COUNTxWEIGHT with ε in proportion to the weight
    #[arg(long, value_name = "N,NxW,…", value_delimiter = ',', required = true, value_parser = group)]
    releases: Vec<Group>,
    /// The total ε
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    budget: f64,
    /// The total δ; 0 admits pure releases only
    #[arg(
        long,
        value_name = "D",
        default_value = "0",
        allow_hyphen_values = true
    )]
    delta: f64,
    #[command(flatten)]
    output: Output,
}

/// `24`, or `12x2` for releases with twice the ε.
fn group(text: &str) -> Result<Group, String> {
    let (count, weight) = text.split_once('x').unwrap_or((text, "1"));
    match (count.trim().parse(), weight.trim().parse::<f64>()) {
        (Ok(releases), Ok(weight)) if releases > 0 && weight > 0.0 && weight.is_finite() => {
            Ok(Group { releases, weight })
        }
        _ => {
            Err("must be a number of releases, such as 24, or 12x2 for 12 with twice the ε".into())
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The ledger file
    file: PathBuf,
    /// This dataset only
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Spend {
    /// The ledger file
    file: PathBuf,
    /// The dataset
    #[arg(long, value_name = "NAME")]
    dataset: String,
    /// The ε that was spent
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: f64,
    /// The δ that was spent
    #[arg(
        long,
        value_name = "D",
        default_value = "0",
        allow_hyphen_values = true
    )]
    delta: f64,
    /// The ρ of zCDP, where the release has one
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    rho: Option<f64>,
    /// What the claim rests on
    #[arg(long, value_enum)]
    basis: Basis,
    /// It holds between the neighbours of the budget
    #[arg(long, conflicts_with_all = ["spec", "adjacency", "alpha", "record", "unit", "numbers", "called", "universe"])]
    like_budget: bool,
    #[command(flatten)]
    between: Between,
    #[command(flatten)]
    pairs: Pairs,
    /// The part of the dataset that it was about: parts share no private number
    #[arg(long, value_name = "NAME")]
    part: Option<String>,
    /// It was fixed before any answer about the dataset was seen: your statement, recorded with it
    #[arg(long)]
    planned: bool,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Adopt {
    /// The ledger file
    file: PathBuf,
    /// The dataset
    #[arg(long, value_name = "NAME")]
    dataset: String,
    /// These charges, by number, and not the budget [default: all that is open]
    #[arg(long, value_name = "N,N,…", value_delimiter = ',')]
    charges: Option<Vec<u64>>,
    /// The budget, and no charges but those of --charges
    #[arg(long)]
    budget: bool,
    #[command(flatten)]
    between: Between,
    #[command(flatten)]
    pairs: Pairs,
    /// The charges were fixed before any answer about the dataset was seen: your statement, recorded with it
    #[arg(long)]
    planned: bool,
    #[command(flatten)]
    output: Output,
}

/// Between which datasets something holds.
#[derive(Debug, Args)]
struct Between {
    /// Take the neighbourhood of a release with this spec, instead of the flags below
    #[arg(long, value_name = "SPEC.toml", conflicts_with_all = ["adjacency", "alpha", "record", "unit", "numbers", "called", "universe"])]
    spec: Option<PathBuf>,
    /// Which datasets are neighbours: one-entry, l1, l2, one-record or universe
    #[arg(long, value_name = "KIND", requires = "numbers", requires = "called")]
    adjacency: Option<String>,
    /// α of one-entry, l1 and l2
    #[arg(long, value_name = "A", allow_hyphen_values = true)]
    alpha: Option<f64>,
    /// How many numbers make a record, for one-record
    #[arg(long, value_name = "N")]
    record: Option<u64>,
    /// The unit of α
    #[arg(long, value_name = "UNIT")]
    unit: Option<String>,
    /// How many private numbers there are
    #[arg(long, value_name = "N")]
    numbers: Option<u64>,
    /// What the private numbers are called, as on the card of a release: --spec takes it from there
    #[arg(long, value_name = "NAMES")]
    called: Option<String>,
    /// The universe that holds the pairs, by its name on a card
    #[arg(long, value_name = "NAME")]
    universe: Option<String>,
}

impl Between {
    /// What is stated, if it is enough.
    fn stated(&self) -> Option<ledger::Between> {
        if let Some(spec) = &self.spec {
            return Some(ledger::Between::Spec(spec.clone()));
        }
        Some(ledger::Between::Stated(Neighbours {
            adjacency: self.adjacency.clone()?,
            alpha: self.alpha,
            record: self.record,
            unit: self.unit.clone(),
            numbers: self.numbers?,
            called: self.called.clone()?,
            universe: self.universe.clone(),
        }))
    }

    /// Says what a name that was typed must agree with.
    fn warn(&self, terminal: &Terminal) {
        if let Some(ledger::Between::Stated(stated)) = self.stated()
            && !terminal.is_quiet()
        {
            terminal.say(&format!("warning: {}", stated.caution()));
        }
    }
}

/// For which pairs of neighbours a claim holds.
#[derive(Debug, Args)]
struct Pairs {
    /// It holds for every pair, and there is an answer for every dataset [default: given that an answer was produced]
    #[arg(long, conflicts_with_all = ["gamma", "beta"])]
    everywhere: bool,
    /// The share of pairs that a sampled claim leaves out
    #[arg(long, value_name = "G", requires = "beta")]
    gamma: Option<f64>,
    /// The risk that a sampled claim is wrong
    #[arg(long, value_name = "B", requires = "gamma")]
    beta: Option<f64>,
}

impl Pairs {
    fn stated(&self) -> ledger::Pairs {
        ledger::Pairs {
            everywhere: self.everywhere,
            gamma: self.gamma,
            beta: self.beta,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// The ledger file
    file: PathBuf,
    /// The dataset of the head
    #[arg(long, value_name = "NAME", requires = "head")]
    dataset: Option<String>,
    /// A head that was printed earlier, 64 hexadecimal digits
    #[arg(long, value_name = "HEX", requires = "dataset")]
    head: Option<String>,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The ledger file
    file: PathBuf,
    /// This dataset only
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
}

/// A basis as the command line spells it.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Basis {
    /// A bound proved for the released map
    Certificate,
    /// A bound that you state
    Declared,
    /// Measured on sampled pairs
    Sampled,
    /// Calibrated as in the paper: no guarantee
    PaperMode,
}

impl From<Basis> for ledger::Basis {
    fn from(basis: Basis) -> Self {
        match basis {
            Basis::Certificate => ledger::Basis::Certificate,
            Basis::Declared => ledger::Basis::Declared,
            Basis::Sampled => ledger::Basis::Sampled,
            Basis::PaperMode => ledger::Basis::PaperMode,
        }
    }
}

impl Book {
    /// How its result is shown.
    pub(crate) fn output(&self) -> Output {
        match self {
            Book::Init(init) => init.output,
            Book::Plan(plan) => plan.output,
            Book::Show(show) => show.output,
            Book::Spend(spend) => spend.output,
            Book::Adopt(adopt) => adopt.output,
            Book::Verify(verify) => verify.output,
            // JSON lines as they are.
            Book::Export(_) => Output {
                json: false,
                quiet: true,
            },
        }
    }
}

/// Runs a ledger verb.
pub(crate) fn run(book: &Book, terminal: &Terminal) -> Result<(), Failure> {
    match book {
        Book::Init(init) => begin(init, terminal),
        Book::Plan(plan) => terminal.show(&ledger::plan(&plan.releases, plan.budget, plan.delta)?),
        Book::Show(show) => {
            terminal.show(&LedgerFile::at(&show.file).show(show.dataset.as_deref())?)
        }
        Book::Spend(spend) => self::spend(spend, terminal),
        Book::Adopt(adopt) => self::adopt(adopt, terminal),
        Book::Verify(Verify {
            file,
            dataset,
            head,
            ..
        }) => terminal.show(&LedgerFile::at(file).verify(dataset.as_deref(), head.as_deref())?),
        Book::Export(export) => {
            terminal.show(&LedgerFile::at(&export.file).export(export.dataset.as_deref())?)
        }
    }
}

fn begin(init: &Init, terminal: &Terminal) -> Result<(), Failure> {
    let new = NewBudget {
        dataset: init.dataset.clone(),
        epsilon: init.epsilon,
        delta: init.delta,
        basic: init.basic,
        between: init.between.stated(),
    };
    let account = LedgerFile::at(&init.file).init(&new, terminal)?;
    init.between.warn(terminal);
    let shown = terminal.show(&account);
    shown.map_err(|failure| failure.after("the budget is fixed"))
}

fn spend(spend: &Spend, terminal: &Terminal) -> Result<(), Failure> {
    let made = ledger::Spend {
        dataset: spend.dataset.clone(),
        epsilon: spend.epsilon,
        delta: spend.delta,
        rho: spend.rho,
        basis: spend.basis.into(),
        like_budget: spend.like_budget,
        between: spend.between.stated(),
        pairs: spend.pairs.stated(),
        part: spend.part.clone(),
        planned: spend.planned,
    };
    let Judged { report, verdict } = LedgerFile::at(&spend.file).spend(&made, terminal)?;
    spend.between.warn(terminal);
    let shown = terminal.show(&report);
    // What was recorded stays recorded, whatever becomes of the words about it.
    verdict?;
    let id = report.receipt.id();
    shown.map_err(|failure| failure.after(&format!("the spend is recorded as charge {id}")))
}

fn adopt(adopt: &Adopt, terminal: &Terminal) -> Result<(), Failure> {
    let adoption = ledger::Adoption {
        dataset: adopt.dataset.clone(),
        charges: adopt.charges.clone(),
        budget: adopt.budget,
        between: adopt.between.stated(),
        pairs: adopt.pairs.stated(),
        planned: adopt.planned,
    };
    let account = LedgerFile::at(&adopt.file).adopt(&adoption, terminal)?;
    adopt.between.warn(terminal);
    let shown = terminal.show(&account);
    shown.map_err(|failure| failure.after("the statement is recorded"))
}
