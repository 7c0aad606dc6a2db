//! The privacy ledger: what each dataset may spend, and what has been spent.
//!
//! A release charges first and touches private data afterwards (M7, "Order"); a charge is never taken back, whatever
//! becomes of the release. The history holds charges alone: number, day, mechanism, amounts and basis. It holds no
//! answer, outcome, duration or hash of the data, because the head of its hash chain goes on public cards.
//!
//! ```
//! use conveil_release::ledger::{Basis, Budget, Charge, Charges, NotDurable};
//!
//! let mut ledger = NotDurable::default(); // tests and audits; a release takes `Ledger`, a file
//! ledger.init("loads-2026", &Budget::new(1.0, 0.0)?)?;
//! for _ in 0..10 {
//!     ledger.charge("loads-2026", &Charge::laplace(0.1, Basis::Certificate)?)?;
//! }
//! let refused = ledger.charge("loads-2026", &Charge::laplace(1e-9, Basis::Certificate)?);
//! assert!(refused.unwrap_err().is_over_budget());
//! # Ok::<(), conveil_release::ledger::Error>(())
//! ```
//!
//! # Scope
//! The ledger adds up what it is told. It cannot see a release that was not charged, nor check that a mechanism spends
//! what its charge says. The chain has no key: whoever can write the file can rewrite all of it, and only a head printed
//! on an earlier card shows that ([`Ledger::verify`]). File locks are as good as the file system's; keep the file on a
//! local disk.

mod account;
mod amount;
mod budget;
mod chain;
mod charge;
mod compose;
mod error;
mod file;
mod history;
mod identity;
mod memory;
mod place;
mod rows;
mod schema;

pub use account::{Account, BasisTotal};
pub use amount::Amount;
pub use budget::{Budget, Composition};
pub use chain::Head;
pub use charge::{Basis, Charge, Mechanism};
pub use compose::{Pair, Total, zcdp_epsilon};
pub use error::{Error, Result};
pub use file::Ledger;
pub use history::Receipt;
pub use memory::NotDurable;
pub use place::Settings;

/// Where charges go: the file of a real release ([`Ledger`]), or memory for tests and audits ([`NotDurable`]).
pub trait Charges {
    /// Records a charge against the budget of `dataset`, or refuses and records nothing.
    fn charge(&mut self, dataset: &str, charge: &Charge) -> Result<Receipt>;

    /// What `dataset` may spend and has spent.
    fn account(&self, dataset: &str) -> Result<Account>;
}
