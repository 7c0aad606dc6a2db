//! What Conveil lets out, and the account it keeps of it.
//!
//! A [`release`] begins with a charge: [`ledger`] keeps, per dataset, a budget that is fixed once and a history of charges
//! that is only ever appended to. Then the plan's program is solved on the private data, noise is drawn once, exactly, on
//! a lattice, and two documents are made: the public [`Card`], and the private [`Decision`] that carries the released
//! number out.
//!
//! ```
//! use conveil::ask::{Adjacency, Ask, Privacy};
//! use conveil::plan::Plan;
//! use conveil::program::Builder;
//! use conveil_release::ledger::{Budget, Neighbourhood, NotDurable};
//!
//! // min x  s.t.  l ≤ x ≤ 40, the lower limit l is private.
//! let mut m = Builder::new();
//! let x = m.variable("x", 1);
//! let l = m.parameter("l");
//! m.minimize(x.at(0));
//! m.between("limits", l, x.at(0), 40.0);
//! let model = m.build_map()?;
//! let plan = Plan::new(
//!     &model,
//!     Ask::cost()
//!         .adjacency(Adjacency::one_entry(1.0))
//!         .privacy(Privacy::laplace(1.0))
//!         .declared(1.0, "x* = l, so the cost moves as much as l does")
//!         .feasible(0.95),
//! )?;
//!
//! let mut ledger = NotDurable::default(); // for the example; a real release takes `ledger::Ledger`, a file
//! ledger.init("limits-2026", &Budget::new(1.0, 0.0, &Neighbourhood::of(&plan)?)?)?;
//! let released = conveil_release::release(&plan, &[5.0], &mut ledger, "limits-2026")?;
//! println!("{}", released.card()); // public
//! let decision = released.decision().unwrap(); // private: x(ζ̂), and its cost is the released number
//! assert!((decision.values()[0].value - released.card().answer()[0].value).abs() < 1e-9);
//! // The budget is spent: no second answer.
//! assert!(conveil_release::release(&plan, &[5.0], &mut ledger, "limits-2026").is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod blackbox;
mod card;
mod decision;
mod error;
pub mod ledger;
#[cfg(test)]
#[path = "../tests/models/mod.rs"]
mod models;
mod noise;
mod randomness;
mod release;
mod restated;
mod samplers;
mod selection;
mod tuned;

pub use card::{Card, CardAdjacency, CardCharge, InSeries, Named};
pub use decision::Decision;
pub use error::{Error, Result};
pub use release::{
    Charged, Released, Stating, charge, charge_of, charge_series, charge_stating, not_private,
    rehearse, rehearse_series, release,
};
pub use restated::Restated;
pub use selection::Selection;
pub use tuned::{ChargedTuned, LossScores, Tuned};
