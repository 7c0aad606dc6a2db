//! The verbs of a ledger: budgets, spends made elsewhere, and their account. The rules are those of
//! [`conveil_release::ledger`].

use std::fmt;
use std::path::{Path, PathBuf};

use conveil_release::ledger::{
    self, Account, Budget, Charge, Charges, Claim, Head, Holds, Ledger, Neighbourhood, Part,
    Receipt, Relation, Scope, Statement,
};
pub use conveil_release::ledger::{Basis, BudgetPlan, Group};
use serde::Serialize;

use crate::audit::Judged;
use crate::failure::{Failure, Kind};
use crate::observer::Observer;
use crate::workbench::Workbench;

/// A ledger's file, opened anew by every verb.
#[derive(Debug, Clone)]
pub struct LedgerFile {
    file: PathBuf,
}

/// Between which datasets something holds.
#[derive(Debug, Clone)]
pub enum Between {
    /// Between the neighbours of a release with the spec at this path.
    Spec(PathBuf),
    /// Between the neighbours of a release with this workbench.
    Bench(Box<Workbench>),
    /// As stated.
    Stated(Neighbours),
}

/// A neighbourhood as a card states it.
#[derive(Debug, Clone, Default)]
pub struct Neighbours {
    /// one-entry, l1, l2, one-record or universe.
    pub adjacency: String,
    /// α of one-entry, l1 and l2.
    pub alpha: Option<f64>,
    /// How many numbers make a record, for one-record.
    pub record: Option<u64>,
    /// The unit of α.
    pub unit: Option<String>,
    /// How many private numbers there are.
    pub numbers: u64,
    /// What they are called.
    pub called: String,
    /// The universe that holds the pairs, by its name on a card.
    pub universe: Option<String>,
}

impl Neighbours {
    /// What a name that was typed must agree with.
    pub fn caution(&self) -> String {
        format!(
            "a release counts between these datasets only if the `neighbourhood` on its card has the same names, count and unit: called {:?}; --spec SPEC.toml takes them from its spec",
            self.called
        )
    }

    fn neighbourhood(&self) -> Result<Neighbourhood, Failure> {
        let relation = Relation::new(&self.adjacency, self.alpha, self.record);
        if matches!(relation, Ok(Relation::Universe)) && self.universe.is_none() {
            return Err(Failure::input(
                "adjacency universe needs --universe NAME: any two members of which universe?\n  help: --spec SPEC.toml takes it from the spec of a release",
            ));
        }
        let mut found =
            relation.and_then(|relation| Neighbourhood::new(relation, self.numbers, &self.called));
        if let Some(unit) = &self.unit {
            found = found.and_then(|found| found.in_unit(unit));
        }
        if let Some(universe) = &self.universe {
            found = found.and_then(|found| found.inside(universe));
        }
        found.map_err(failed)
    }
}

/// For which pairs of neighbours a claim holds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pairs {
    /// For every pair, and there is an answer for every dataset; otherwise given that an answer was produced.
    pub everywhere: bool,
    /// The share of pairs that a sampled claim leaves out.
    pub gamma: Option<f64>,
    /// The risk that a sampled claim is wrong.
    pub beta: Option<f64>,
}

impl Pairs {
    /// As stated; γ and β of a claim that is sampled are those of its spec where none are stated.
    fn holds(&self, is_sampled: bool, of_spec: Option<Holds>) -> Result<Holds, Failure> {
        match (self.gamma, self.beta, of_spec) {
            (Some(gamma), Some(beta), _) => Holds::sampled(gamma, beta).map_err(failed),
            (_, _, Some(holds @ Holds::Sampled { .. })) if is_sampled => Ok(holds),
            _ if self.everywhere => Ok(Holds::Everywhere),
            _ => Ok(Holds::GivenAnAnswer),
        }
    }
}

/// What each of several releases may spend, so that together they keep a budget. No ledger is opened.
pub fn plan(groups: &[Group], epsilon: f64, delta: f64) -> Result<BudgetPlan, Failure> {
    BudgetPlan::new(groups, epsilon, delta).map_err(failed)
}

/// A budget to be fixed.
#[derive(Debug, Clone)]
pub struct NewBudget {
    /// The dataset.
    pub dataset: String,
    /// The total ε.
    pub epsilon: f64,
    /// The total δ; 0 admits pure charges only.
    pub delta: f64,
    /// Basic composition alone: for amounts chosen after seeing earlier answers.
    pub basic: bool,
    /// Between which datasets; refused where nothing is stated.
    pub between: Option<Between>,
}

/// A spend that was made elsewhere.
#[derive(Debug, Clone)]
pub struct Spend {
    /// The dataset.
    pub dataset: String,
    /// The ε that was spent.
    pub epsilon: f64,
    /// The δ that was spent.
    pub delta: f64,
    /// The ρ of zCDP, where the release has one.
    pub rho: Option<f64>,
    /// What the claim rests on.
    pub basis: Basis,
    /// It holds between the neighbours of the budget.
    pub like_budget: bool,
    /// Between which datasets, where not those of the budget.
    pub between: Option<Between>,
    /// For which pairs of them.
    pub pairs: Pairs,
    /// The part of the dataset that it was about.
    pub part: Option<String>,
    /// It was fixed before any answer about the dataset was seen.
    pub planned: bool,
}

/// A statement about a budget and charges of an earlier version.
#[derive(Debug, Clone)]
pub struct Adoption {
    /// The dataset.
    pub dataset: String,
    /// These charges, by number, and not the budget; all that is open where neither is named.
    pub charges: Option<Vec<u64>>,
    /// The budget, and no charges but those named.
    pub budget: bool,
    /// Between which datasets they hold.
    pub between: Option<Between>,
    /// For which pairs of them.
    pub pairs: Pairs,
    /// The charges were fixed before any answer about the dataset was seen.
    pub planned: bool,
}

/// Accounts, one after the other, and what is to be stated about them.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Accounts {
    /// The accounts.
    pub accounts: Vec<Account>,
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
#[derive(Debug, Serialize)]
pub struct Spent {
    /// The receipt.
    pub receipt: Receipt,
    /// The account.
    pub account: Account,
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "recorded as charge {}\n", self.receipt.id())?;
        write!(f, "{}", self.account)
    }
}

/// What [`LedgerFile::verify`] found in order.
#[derive(Debug, Serialize)]
pub struct Sound {
    /// Always true: what is not sound is an error.
    pub sound: bool,
    /// True where a head was given, and the history holds it.
    pub head_found: Option<bool>,
    /// The accounts.
    pub accounts: Vec<Account>,
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

fn failed(error: ledger::Error) -> Failure {
    Failure::ledger(&error)
}

impl LedgerFile {
    /// The ledger in this file, which [`LedgerFile::init`] makes where there is none.
    pub fn at(file: &Path) -> Self {
        LedgerFile { file: file.into() }
    }

    fn read(&self) -> Result<Ledger, Failure> {
        Ledger::open_read_only(&self.file).map_err(failed)
    }

    /// Gives a dataset its budget, once; makes the file where there is none.
    pub fn init(&self, new: &NewBudget, observer: &dyn Observer) -> Result<Account, Failure> {
        let neighbourhood = found(new.between.as_ref(), observer)?.neighbourhood;
        let mut budget = Budget::new(new.epsilon, new.delta, &neighbourhood).map_err(failed)?;
        if new.basic {
            budget = budget.basic();
        }
        let ledger = Ledger::init(&self.file, &new.dataset, &budget).map_err(failed)?;
        let account = ledger.account(&new.dataset).map_err(failed);
        account.map_err(|failure| failure.after("the budget is fixed"))
    }

    /// What each dataset, or this one, may spend and has spent.
    pub fn show(&self, dataset: Option<&str>) -> Result<Accounts, Failure> {
        let ledger = self.read()?;
        let accounts = match dataset {
            Some(dataset) => ledger.account(dataset).map(|account| vec![account]),
            None => ledger.accounts(),
        };
        Ok(Accounts {
            accounts: accounts.map_err(failed)?,
            file: self.file.clone(),
        })
    }

    /// Records a spend that was made elsewhere, even over budget: then the verdict says so.
    pub fn spend(&self, spend: &Spend, observer: &dyn Observer) -> Result<Judged<Spent>, Failure> {
        let mut ledger = Ledger::open(&self.file).map_err(failed)?;
        let dataset = &spend.dataset;
        let Found {
            neighbourhood,
            of_spec,
        } = match spend.like_budget {
            false => found(spend.between.as_ref(), observer)?,
            true => Found {
                neighbourhood: self.neighbours_of_budget(&ledger, dataset)?,
                of_spec: None,
            },
        };
        let is_sampled = spend.basis == Basis::Sampled;
        let scope = Scope {
            neighbourhood,
            holds: spend.pairs.holds(is_sampled, of_spec)?,
        };
        let mut charge = Claim::stated(spend.basis, scope)
            .and_then(|claim| Charge::elsewhere(spend.epsilon, spend.delta, spend.rho, &claim))
            .map_err(failed)?;
        if let Some(part) = &spend.part {
            let part = Part::fixed(part).map_err(failed)?;
            charge = charge.in_part(part).map_err(failed)?;
        }
        if spend.planned {
            charge = charge.planned();
        }
        let receipt = ledger.spend(dataset, &charge).map_err(failed)?;
        let id = receipt.id();
        let verdict = match receipt.over_budget() {
            false => Ok(()),
            true => Err(Failure::new(
                Kind::OverBudget,
                format!(
                    "over budget: the spend is recorded as charge {id}, and dataset {dataset:?} has now spent more than its budget, or what cannot be bounded\n  help: every later charge against it is refused; `conveil ledger show` has the totals"
                ),
            )
            .recorded()),
        };
        // What was recorded stays recorded, whatever becomes of the words about it.
        match (ledger.account(dataset), verdict) {
            (Ok(account), verdict) => Ok(Judged {
                report: Spent { receipt, account },
                verdict,
            }),
            (Err(_), Err(over)) => Err(over),
            (Err(error), Ok(())) => {
                Err(failed(error).after(&format!("the spend is recorded as charge {id}")))
            }
        }
    }

    /// The neighbourhood of a budget, or the line that states it.
    fn neighbours_of_budget(
        &self,
        ledger: &Ledger,
        dataset: &str,
    ) -> Result<Neighbourhood, Failure> {
        let account = ledger.account(dataset).map_err(failed)?;
        let stated = account.budget.neighbourhood().cloned();
        stated.ok_or_else(|| {
            let lines = account.to_state(&self.file).join("\n  ");
            Failure::input(format!(
                "the budget of dataset {dataset:?} does not say between which datasets it holds\n  help: state it first, or --spec SPEC.toml for this spend\n  {lines}"
            ))
        })
    }

    /// States between which datasets the budget and charges of an earlier version hold; nothing written before changes.
    pub fn adopt(&self, adoption: &Adoption, observer: &dyn Observer) -> Result<Account, Failure> {
        let Found {
            neighbourhood,
            of_spec,
        } = found(adoption.between.as_ref(), observer)?;
        let mut ledger = Ledger::open(&self.file).map_err(failed)?;
        let listed = ledger.account(&adoption.dataset).map_err(failed)?.listed;
        let is_named = adoption.charges.is_some() || adoption.budget;
        let charges = adoption.charges.as_deref().unwrap_or_default();
        let is_sampled = listed.iter().any(|charge| {
            let is_meant = match is_named {
                true => charges.contains(&charge.number),
                false => charge.neighbourhood.is_none(),
            };
            is_meant && charge.basis == Basis::Sampled
        });
        let scope = Scope {
            neighbourhood,
            holds: adoption.pairs.holds(is_sampled, of_spec)?,
        };
        let mut statement = match is_named {
            true => Statement::of_these(&scope, charges, adoption.budget),
            false => Statement::of_all(&scope),
        };
        if adoption.planned {
            statement = statement.planned();
        }
        ledger.adopt(&adoption.dataset, &statement).map_err(failed)
    }

    /// Checks the file and every hash chain; with a dataset and its head kept elsewhere, also that nothing was cut off.
    pub fn verify(&self, dataset: Option<&str>, head: Option<&str>) -> Result<Sound, Failure> {
        let head = head.map(str::parse::<Head>).transpose().map_err(failed)?;
        let card = dataset.zip(head.as_ref());
        let accounts = self.read()?.verify(card).map_err(failed)?;
        Ok(Sound {
            sound: true,
            head_found: card.map(|_| true),
            accounts,
        })
    }

    /// Budgets and charges as JSON lines, of all datasets or of this one.
    pub fn export(&self, dataset: Option<&str>) -> Result<String, Failure> {
        self.read()?.export(dataset).map_err(failed)
    }
}

/// What is stated about neighbours.
struct Found {
    neighbourhood: Neighbourhood,
    /// For which pairs the claim of the spec holds.
    of_spec: Option<Holds>,
}

fn found(between: Option<&Between>, observer: &dyn Observer) -> Result<Found, Failure> {
    match between {
        None => Err(Failure::input(
            "between which datasets? An ε without that says nothing\n  help: --spec SPEC.toml takes it from the spec of a release; by flags, --adjacency, --numbers and --called must be as on its card",
        )),
        Some(Between::Stated(stated)) => Ok(Found {
            neighbourhood: stated.neighbourhood()?,
            of_spec: None,
        }),
        Some(Between::Spec(spec)) => found_by(&Workbench::open_watched(spec, observer)?, observer),
        Some(Between::Bench(bench)) => found_by(bench, observer),
    }
}

/// What a release with this workbench claims.
fn found_by(bench: &Workbench, observer: &dyn Observer) -> Result<Found, Failure> {
    let plan = match bench.grid(observer)? {
        None => bench.plan(observer)?,
        Some(grid) => grid.undecided().map_err(|e| bench.engine(&e))?,
    };
    let claim = Claim::of(&plan).map_err(failed)?;
    Ok(Found {
        of_spec: claim.scope().map(|scope| scope.holds.clone()),
        neighbourhood: Neighbourhood::of(&plan).map_err(failed)?,
    })
}
