//! `conveil ledger`: budgets, spends made elsewhere, and their account. The rules are the library's; this is its voice.

use std::fmt;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use conveil_release::ledger::{self, Account, Budget, Charges, Head, Ledger, Receipt};
use serde::Serialize;

use crate::arguments::Output;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// What to do with a ledger.
#[derive(Debug, Subcommand)]
pub(crate) enum Book {
    /// Give a dataset its budget, once; makes the file where there is none
    #[command(
        after_help = "With --delta, amounts chosen after seeing earlier answers need --basic: the smaller total by zCDP\n\
        holds only for amounts planned without them.\n\n\
        Example:\n  conveil ledger init ledger.db --dataset loads-2026 --epsilon 1 --delta 1e-6"
    )]
    Init(Init),
    /// Show what each dataset may spend and has spent
    #[command(after_help = "Example:\n  conveil ledger show ledger.db --dataset loads-2026")]
    Show(Show),
    /// Record a spend that was made elsewhere, even over budget (exit code 5)
    #[command(
        after_help = "Amounts chosen after seeing earlier answers need a budget made with --basic.\n\n\
        Example:\n  conveil ledger spend ledger.db --dataset loads-2026 --epsilon 0.3 --basis declared"
    )]
    Spend(Spend),
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
    output: Output,
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
    #[command(flatten)]
    output: Output,
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
            Book::Show(show) => show.output,
            Book::Spend(spend) => spend.output,
            Book::Verify(verify) => verify.output,
            // JSON lines as they are.
            Book::Export(_) => Output {
                json: false,
                quiet: true,
            },
        }
    }
}

/// Accounts, one after the other.
#[derive(Serialize)]
struct Accounts(Vec<Account>);

impl fmt::Display for Accounts {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (i, account) in self.0.iter().enumerate() {
            let gap = if i > 0 { "\n" } else { "" };
            write!(f, "{gap}{account}")?;
        }
        Ok(())
    }
}

/// A spend and the account after it.
#[derive(Serialize)]
struct Spent {
    receipt: Receipt,
    account: Account,
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "recorded as charge {}\n", self.receipt.id())?;
        write!(f, "{}", self.account)
    }
}

/// What `verify` found in order.
#[derive(Serialize)]
struct Sound {
    sound: bool,
    head_found: Option<bool>,
    accounts: Vec<Account>,
}

impl fmt::Display for Sound {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "sound: every chain holds")?;
        if self.head_found.is_some() {
            writeln!(f, "the history holds the given head")?;
        }
        for account in &self.accounts {
            let (name, count) = (&account.dataset, account.charges);
            let charges = if count == 1 { "charge" } else { "charges" };
            writeln!(f, "  {name}: {count} {charges}, head {}", account.head)?;
        }
        Ok(())
    }
}

/// Runs a ledger verb.
pub(crate) fn run(book: &Book, terminal: &Terminal) -> Result<(), Failure> {
    match book {
        Book::Init(init) => begin(init, terminal),
        Book::Show(show) => self::show(show, terminal),
        Book::Spend(spend) => self::spend(spend, terminal),
        Book::Verify(verify) => self::verify(verify, terminal),
        Book::Export(export) => {
            let ledger = open(&export.file)?;
            let lines = ledger.export(export.dataset.as_deref());
            terminal.show(&lines.map_err(told)?)
        }
    }
}

fn told(error: ledger::Error) -> Failure {
    Failure::ledger(&error)
}

fn open(file: &PathBuf) -> Result<Ledger, Failure> {
    Ledger::open_read_only(file).map_err(told)
}

fn begin(init: &Init, terminal: &Terminal) -> Result<(), Failure> {
    let mut budget = Budget::new(init.epsilon, init.delta).map_err(told)?;
    if init.basic {
        budget = budget.basic();
    }
    let ledger = Ledger::init(&init.file, &init.dataset, &budget).map_err(told)?;
    let account = ledger.account(&init.dataset).map_err(told);
    account
        .and_then(|account| terminal.show(&account))
        .map_err(|failure| failure.after("the budget is fixed"))
}

fn show(show: &Show, terminal: &Terminal) -> Result<(), Failure> {
    let ledger = open(&show.file)?;
    let accounts = match &show.dataset {
        Some(dataset) => ledger.account(dataset).map(|account| vec![account]),
        None => ledger.accounts(),
    };
    terminal.show(&Accounts(accounts.map_err(told)?))
}

fn spend(spend: &Spend, terminal: &Terminal) -> Result<(), Failure> {
    let mut ledger = Ledger::open(&spend.file).map_err(told)?;
    let (dataset, basis) = (&spend.dataset, spend.basis.into());
    let receipt = ledger
        .spend(dataset, spend.epsilon, spend.delta, spend.rho, basis)
        .map_err(told)?;
    let (id, over) = (receipt.id(), receipt.over_budget());
    let shown = ledger
        .account(dataset)
        .map_err(told)
        .and_then(|account| terminal.show(&Spent { receipt, account }));
    // What was recorded stays recorded, whatever becomes of the words about it.
    if over {
        return Err(Failure::over_budget(format!(
            "over budget: the spend is recorded as charge {id}, and dataset {dataset:?} has now spent more than its budget\n  help: every later charge against it is refused; `conveil ledger show` has the totals"
        )));
    }
    shown.map_err(|failure| failure.after(&format!("the spend is recorded as charge {id}")))
}

fn verify(verify: &Verify, terminal: &Terminal) -> Result<(), Failure> {
    let head = verify.head.as_deref().map(str::parse::<Head>).transpose();
    let head = head.map_err(told)?;
    let card = verify.dataset.as_deref().zip(head.as_ref());
    let accounts = open(&verify.file)?.verify(card).map_err(told)?;
    terminal.show(&Sound {
        sound: true,
        head_found: card.map(|_| true),
        accounts,
    })
}
