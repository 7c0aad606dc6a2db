//! What every front end of Conveil sits on: a spec in, plain values out.
//!
//! A [`Workbench`] is a spec, opened: the public model, what is asked of it, and where its private data are. Its verbs
//! return values that serialise (the JSON of the command line) and display (its text). There is no terminal, no printing
//! and no exit code here: an [`Observer`] hears notes, warnings and progress and may interrupt; a [`Recipient`] takes the
//! documents of a release; a [`Failure`] has a message for people and a [`Kind`] for programs. Nothing is global: several
//! workbenches work at once, and one can be shared between threads.
//!
//! ```
//! use conveil_workbench::{Account, Answer, Releasing, Silent, Text, Workbench};
//!
//! // min 1.5 x  s.t.  l ≤ x ≤ 160, the lower limit l = 100 is private.
//! let problem = r#"{
//!     "P": {"m": 1, "n": 1, "colptr": [0, 0], "rowval": [], "nzval": []},
//!     "q": [1.5],
//!     "A": {"m": 2, "n": 1, "colptr": [0, 2], "rowval": [0, 1], "nzval": [-1.0, 1.0]},
//!     "b": [-100.0, 160.0],
//!     "cones": [{"NonnegativeConeT": 2}]
//! }"#;
//! let spec = r#"
//!     version = 1
//!     [problem]
//!     model = "conic"
//!     file = "scalar.json"
//!     [[problem.variable]]
//!     name = "x"
//!     stage = "decision"
//!     [private]
//!     adjacency = { kind = "one-entry", alpha = 1.0 }
//!     [[private.parameter]]
//!     name = "l"
//!     at = [{ in = "b", row = 0, coef = -1.0 }]
//!     [query]
//!     release = "cost"
//!     [privacy]
//!     mechanism = "laplace"
//!     epsilon = 1.0
//!     sensitivity = { by = "declared", per_alpha = 1.5, reason = "x follows l one to one, and the cost is 1.5 x" }
//!     [feasibility]
//!     eta = 0.01
//! "#;
//! let bench = Workbench::from_files(
//!     Text { name: "scalar.toml", text: spec },
//!     &[Text { name: "scalar.json", text: problem }],
//! )?;
//!
//! let check = bench.check(&Silent)?; // public: l is not even looked up
//! assert_eq!(check.guarantee.epsilon, 1.0);
//! let report = bench.solve(None, &Silent)?; // private, the curator's
//! println!("{report}");
//!
//! // The release: charged, solved, drawn once. This spec names no ledger, and the card says so.
//! let releasing = Releasing { account: Account::WithoutLedger, decision: true, ..Releasing::default() };
//! let mut answers: Vec<Answer> = Vec::new();
//! bench.release(&releasing, &mut answers, &Silent)?;
//! println!("{}", answers[0].card); // the only public document
//! assert!(answers[0].decision.is_some()); // private: the x that has the released cost
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The road inside: `inputs` reads the spec, its model opens the public files and, separately, the private datasets,
//! [`ask_from_spec`] says what is asked of the engine. [`ledger`] keeps budgets.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod answer;
mod ask;
mod audit;
mod book;
mod cells;
mod check;
mod data;
pub mod doctor;
mod dry_run;
mod effort;
pub mod failure;
mod inputs;
mod inspect;
pub mod ledger;
mod lines;
mod mapping;
mod objective;
mod observer;
mod outlook;
mod recipient;
mod release;
mod report;
mod rule;
pub mod settings;
pub mod starter;
mod tuning;
mod workbench;

pub use answer::{Answered, Answers};
pub use ask::ask_from_spec;
pub use audit::{Findings, Judged, Probe, read_witness};
pub use cells::Cells;
pub use check::Check;
pub use conveil_models::files::{Text, text_of};
pub use conveil_models::picture;
pub use dry_run::{DryRun, Standing, WouldCharge};
pub use failure::{Cause, Failure, Kind};
pub use inspect::{Inspection, Value};
pub use mapping::Enters;
pub use observer::{Observer, Silent, Stage};
pub use outlook::{Outlook, Prospect};
pub use recipient::{Answer, Delivery, Recipient, Row, Spent};
pub use release::{Account, Releasing, Unreleased};
pub use report::Report;
pub use rule::DecidedRule;
pub use tuning::{Candidate, Tuning};
pub use workbench::{Comparing, Comparison, Sweep, Workbench};
