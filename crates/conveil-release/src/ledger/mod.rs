//! The privacy ledger: what each dataset may spend, and what has been spent.
//!
//! A release charges first and touches private data afterwards (M7, "Order"); a charge is never taken back, whatever
//! becomes of the release. The history holds charges alone: number, day, nonce, mechanism, amounts, basis and
//! neighbourhood. It holds no answer, outcome, duration or hash of the data, because the head of its hash chain goes on
//! public cards.
//!
//! A charge is a statement about one neighbourhood relation, and so is a budget (M16): what was charged is counted between
//! the budget's neighbours where that can be proved, and refused where it cannot.
//!
//! ```
//! use conveil_release::ledger::{
//!     Basis, Budget, Charge, Charges, Claim, Holds, Neighbourhood, NotDurable, Relation, Scope,
//! };
//!
//! let neighbourhood = Neighbourhood::new(Relation::OneEntry { alpha: 10.0 }, 17, "demand")?.in_unit("MW")?;
//! let mut ledger = NotDurable::default(); // tests and audits; a release takes `Ledger`, a file
//! ledger.init("loads-2026", &Budget::new(1.0, 0.0, &neighbourhood)?)?;
//! let scope = Scope { neighbourhood, holds: Holds::Everywhere };
//! let claim = Claim::stated(Basis::Declared, scope)?; // a release has `Claim::of(&plan)`
//! for _ in 0..10 {
//!     ledger.charge("loads-2026", &Charge::laplace(0.1, &claim)?)?;
//! }
//! let refused = ledger.charge("loads-2026", &Charge::laplace(1e-9, &claim)?);
//! assert!(refused.unwrap_err().is_over_budget());
//! # Ok::<(), conveil_release::ledger::Error>(())
//! ```
//!
//! # Scope
//! The ledger adds up what it is told. It cannot see a release that was not charged, nor check that a mechanism spends
//! what its charge says. The chain has no key: whoever can write the file can rewrite all of it, or put an old copy in its
//! place, and only a head printed on an earlier card shows that ([`Ledger::verify`]): every charge has a nonce, so that no
//! other history has its head. File locks are as good as the file system's; keep the file on a
//! local disk.

mod account;
mod amount;
mod budget;
mod chain;
mod charge;
mod claim;
mod compose;
mod convert;
mod error;
mod file;
mod history;
mod identity;
mod left;
mod memory;
mod names;
mod neighbourhood;
mod nonce;
mod optimal;
mod part;
mod place;
mod planner;
mod rows;
mod schema;
mod series;
mod statement;
mod stored;
mod terms;

pub use account::{Account, BasisTotal, LeftOut, Listed, NeighbourhoodTotal};
pub use amount::Amount;
pub use budget::{Budget, Composition};
pub use chain::Head;
pub use charge::{Basis, Charge, Mechanism};
pub use claim::{Claim, Holds, Scope};
pub use compose::{Pair, Total, zcdp_epsilon};
pub use error::{Error, Result};
pub use file::Ledger;
pub use history::{NotBounded, Receipt};
pub use memory::NotDurable;
pub use neighbourhood::{Neighbourhood, Relation};
pub use optimal::{Equal, optimal_epsilon};
pub use part::Part;
pub use place::Settings;
pub use planner::{BudgetPlan, Group, Way};
pub use series::{Each, Series};
pub use statement::{About, Statement};
pub use terms::Adoption;

/// Where charges go: the file of a real release ([`Ledger`]), or memory for tests and audits ([`NotDurable`]).
pub trait Charges {
    /// Records a charge against the budget of `dataset`, or refuses and records nothing.
    fn charge(&mut self, dataset: &str, charge: &Charge) -> Result<Receipt>;

    /// The account of `dataset` after all of these charges, in this order, or why its budget does not take them together;
    /// nothing is recorded.
    fn rehearse(&self, dataset: &str, charges: &[Charge]) -> Result<Account>;

    /// What `dataset` may spend and has spent.
    fn account(&self, dataset: &str) -> Result<Account>;
}
