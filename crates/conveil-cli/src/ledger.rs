//! `conveil ledger`: budgets, spends made elsewhere, and their account. The rules are the library's; this is its voice.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use conveil::solve::Cancel;
use conveil_release::ledger::{
    self, Account, Budget, Charge, Charges, Claim, Head, Holds, Ledger, Neighbourhood, Part,
    Receipt, Relation, Scope, Statement,
};
use serde::Serialize;

use crate::arguments::Output;
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::model::Model;
use crate::terminal::Terminal;
use crate::verbs::planned;

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
    /// The neighbourhood that is stated.
    fn neighbourhood(
        &self,
        terminal: &Terminal,
        cancel: &Cancel,
    ) -> Result<Neighbourhood, Failure> {
        Ok(self.found(terminal, cancel)?.neighbourhood)
    }

    /// The neighbourhood that is stated, and for which pairs the claim of the spec holds, if there is one.
    fn found(&self, terminal: &Terminal, cancel: &Cancel) -> Result<Found, Failure> {
        if let Some(spec) = &self.spec {
            let inputs = Inputs::open(spec)?;
            let model = Model::new(&inputs)?;
            let plan = planned(&inputs, &model, terminal, cancel)?;
            let claim = Claim::of(&plan).map_err(told)?;
            let holds = claim.scope().map(|scope| scope.holds.clone());
            return Ok(Found {
                neighbourhood: Neighbourhood::of(&plan).map_err(told)?,
                of_spec: holds,
            });
        }
        let (Some(kind), Some(numbers), Some(called)) =
            (&self.adjacency, self.numbers, &self.called)
        else {
            return Err(Failure::input(
                "between which datasets? An ε without that says nothing\n  help: --spec SPEC.toml takes it from the spec of a release; by flags, --adjacency, --numbers and --called must be as on its card",
            ));
        };
        let relation = Relation::new(kind, self.alpha, self.record);
        if matches!(relation, Ok(Relation::Universe)) && self.universe.is_none() {
            return Err(Failure::input(
                "adjacency universe needs --universe NAME: any two members of which universe?\n  help: --spec SPEC.toml takes it from the spec of a release",
            ));
        }
        let mut found = relation.and_then(|relation| Neighbourhood::new(relation, numbers, called));
        if let Some(unit) = &self.unit {
            found = found.and_then(|found| found.in_unit(unit));
        }
        if let Some(universe) = &self.universe {
            found = found.and_then(|found| found.inside(universe));
        }
        let neighbourhood = found.map_err(told)?;
        Ok(Found {
            neighbourhood,
            of_spec: None,
        })
    }

    /// Says what a name that was typed must agree with.
    fn warn(&self, terminal: &Terminal) {
        if let Some(called) = &self.called
            && !terminal.is_quiet()
        {
            terminal.say(&format!(
                "warning: a release counts between these datasets only if the `neighbourhood` on its card has the same names, count and unit: called {called:?}; --spec SPEC.toml takes them from its spec"
            ));
        }
    }
}

/// What is stated about neighbours.
struct Found {
    neighbourhood: Neighbourhood,
    /// For which pairs the claim of the spec holds.
    of_spec: Option<Holds>,
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
    /// As the flags say; γ and β of a claim that is sampled are those of its spec where no flag has them.
    fn holds(&self, is_sampled: bool, of_spec: Option<Holds>) -> Result<Holds, Failure> {
        match (self.gamma, self.beta, of_spec) {
            (Some(gamma), Some(beta), _) => Holds::sampled(gamma, beta).map_err(told),
            (_, _, Some(holds @ Holds::Sampled { .. })) if is_sampled => Ok(holds),
            _ if self.everywhere => Ok(Holds::Everywhere),
            _ => Ok(Holds::GivenAnAnswer),
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

/// Accounts, one after the other, and what is to be stated about them.
#[derive(Serialize)]
#[serde(transparent)]
struct Accounts {
    accounts: Vec<Account>,
    #[serde(skip)]
    file: PathBuf,
}

impl fmt::Display for Accounts {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (i, account) in self.accounts.iter().enumerate() {
            let gap = if i > 0 { "\n" } else { "" };
            write!(f, "{gap}{account}")?;
            let lines = account.to_state(&self.file);
            if !lines.is_empty() {
                writeln!(
                    f,
                    "\nto be stated, each with the spec that its release had:"
                )?;
            }
            for line in lines {
                writeln!(f, "  {line}")?;
            }
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
pub(crate) fn run(book: &Book, terminal: &Terminal, cancel: &Cancel) -> Result<(), Failure> {
    match book {
        Book::Init(init) => begin(init, terminal, cancel),
        Book::Show(show) => self::show(show, terminal),
        Book::Spend(spend) => self::spend(spend, terminal, cancel),
        Book::Adopt(adopt) => self::adopt(adopt, terminal, cancel),
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

fn begin(init: &Init, terminal: &Terminal, cancel: &Cancel) -> Result<(), Failure> {
    let neighbourhood = init.between.neighbourhood(terminal, cancel)?;
    let mut budget = Budget::new(init.epsilon, init.delta, &neighbourhood).map_err(told)?;
    if init.basic {
        budget = budget.basic();
    }
    let ledger = Ledger::init(&init.file, &init.dataset, &budget).map_err(told)?;
    init.between.warn(terminal);
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
    terminal.show(&Accounts {
        accounts: accounts.map_err(told)?,
        file: show.file.clone(),
    })
}

fn spend(spend: &Spend, terminal: &Terminal, cancel: &Cancel) -> Result<(), Failure> {
    let mut ledger = Ledger::open(&spend.file).map_err(told)?;
    let (dataset, basis) = (&spend.dataset, spend.basis.into());
    let Found {
        neighbourhood,
        of_spec,
    } = match spend.like_budget {
        false => spend.between.found(terminal, cancel)?,
        true => Found {
            neighbourhood: neighbours_of_budget(&ledger, dataset, &spend.file)?,
            of_spec: None,
        },
    };
    let holds = spend
        .pairs
        .holds(basis == ledger::Basis::Sampled, of_spec)?;
    let claim = Claim::stated(
        basis,
        Scope {
            neighbourhood,
            holds,
        },
    );
    let mut charge = claim
        .and_then(|claim| Charge::elsewhere(spend.epsilon, spend.delta, spend.rho, &claim))
        .map_err(told)?;
    if let Some(part) = &spend.part {
        let part = Part::fixed(part).map_err(told)?;
        charge = charge.in_part(part).map_err(told)?;
    }
    if spend.planned {
        charge = charge.planned();
    }
    let receipt = ledger.spend(dataset, &charge).map_err(told)?;
    spend.between.warn(terminal);
    let (id, over) = (receipt.id(), receipt.over_budget());
    let shown = ledger
        .account(dataset)
        .map_err(told)
        .and_then(|account| terminal.show(&Spent { receipt, account }));
    // What was recorded stays recorded, whatever becomes of the words about it.
    if over {
        return Err(Failure::over_budget(format!(
            "over budget: the spend is recorded as charge {id}, and dataset {dataset:?} has now spent more than its budget, or what cannot be bounded\n  help: every later charge against it is refused; `conveil ledger show` has the totals"
        )));
    }
    shown.map_err(|failure| failure.after(&format!("the spend is recorded as charge {id}")))
}

/// The neighbourhood of a budget, or the line that states it.
fn neighbours_of_budget(
    ledger: &Ledger,
    dataset: &str,
    file: &Path,
) -> Result<Neighbourhood, Failure> {
    let account = ledger.account(dataset).map_err(told)?;
    let own = account.budget.neighbourhood().cloned();
    own.ok_or_else(|| {
        let lines = account.to_state(file).join("\n  ");
        Failure::input(format!(
            "the budget of dataset {dataset:?} does not say between which datasets it holds\n  help: state it first, or --spec SPEC.toml for this spend\n  {lines}"
        ))
    })
}

fn adopt(adopt: &Adopt, terminal: &Terminal, cancel: &Cancel) -> Result<(), Failure> {
    let Found {
        neighbourhood,
        of_spec,
    } = adopt.between.found(terminal, cancel)?;
    let mut ledger = Ledger::open(&adopt.file).map_err(told)?;
    let listed = ledger.account(&adopt.dataset).map_err(told)?.listed;
    let is_named = adopt.charges.is_some() || adopt.budget;
    let charges = adopt.charges.as_deref().unwrap_or_default();
    let is_sampled = listed.iter().any(|charge| {
        let is_meant = match is_named {
            true => charges.contains(&charge.number),
            false => charge.neighbourhood.is_none(),
        };
        is_meant && charge.basis == ledger::Basis::Sampled
    });
    let scope = Scope {
        neighbourhood,
        holds: adopt.pairs.holds(is_sampled, of_spec)?,
    };
    let mut statement = match is_named {
        true => Statement::of_these(&scope, charges, adopt.budget),
        false => Statement::of_all(&scope),
    };
    if adopt.planned {
        statement = statement.planned();
    }
    let account = ledger.adopt(&adopt.dataset, &statement).map_err(told)?;
    adopt.between.warn(terminal);
    terminal
        .show(&account)
        .map_err(|failure| failure.after("the statement is recorded"))
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
