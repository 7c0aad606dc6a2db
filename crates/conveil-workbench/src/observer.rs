//! What a front end hears while a verb works, and how it stops the work.

use conveil::solve::{Batch, Cancel};
use serde::Serialize;

/// Hears what a verb has to say while it works. Everything is optional; nothing that is said here is part of a result.
///
/// What is said may depend on private data: it is the curator's. [`Observer::progress`] is called from several threads.
pub trait Observer: Sync {
    /// Something that is good to know. Private unless the verb is `check`.
    fn note(&self, text: &str) {
        let _ = text;
    }

    /// Whether notes are heard: where not, the searches that only make notes are left out.
    fn hears_notes(&self) -> bool {
        true
    }

    /// Something that the curator must know. Private.
    fn warning(&self, text: &str) {
        let _ = text;
    }

    /// A stage of the work begins. Stages follow each other; none is inside another.
    fn begin(&self, stage: Stage) {
        let _ = stage;
    }

    /// So many jobs of the stage are done, of so many.
    fn progress(&self, done: usize, total: usize) {
        let _ = (done, total);
    }

    /// The stage ends, with or without success.
    fn end(&self, stage: Stage) {
        let _ = stage;
    }

    /// The flag that stops the work. Clones share it, so that it can be raised from elsewhere.
    fn cancel(&self) -> Cancel {
        Cancel::default()
    }
}

/// Hears nothing and never interrupts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn hears_notes(&self) -> bool {
        false
    }
}

/// Hears nothing, and stops the work when it is raised.
impl Observer for Cancel {
    fn hears_notes(&self) -> bool {
        false
    }

    fn cancel(&self) -> Cancel {
        self.clone()
    }
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Stage {
    /// The plan: sensitivity, noise, budget. Public.
    Plan,
    /// A short search for the worst pair, beside a sampled sensitivity.
    Search,
    /// The charge to the ledger.
    Charge,
    /// A solve on the private data.
    Solve,
    /// The solve of a release, and the draw of its noise.
    SolveAndDraw,
    /// A comparison of strategies.
    Compare,
    /// An explanation.
    Explain,
    /// A frontier.
    Frontier,
    /// A measurement of the sensitivity.
    Measure,
    /// The white-box audit.
    Audit,
    /// The draws of the black-box audit.
    BlackBox,
    /// A recorded pair, solved again.
    Replay,
}

impl Stage {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Plan => "plan",
            Stage::Search => "search",
            Stage::Charge => "charge",
            Stage::Solve => "solve",
            Stage::SolveAndDraw => "solve and draw",
            Stage::Compare => "compare",
            Stage::Explain => "explain",
            Stage::Frontier => "frontier",
            Stage::Measure => "measure",
            Stage::Audit => "audit",
            Stage::BlackBox => "black box",
            Stage::Replay => "replay",
        }
    }
}

/// Runs a stage.
pub(crate) fn staged<T>(observer: &dyn Observer, stage: Stage, work: impl FnOnce() -> T) -> T {
    /// Ends the stage even where the work panics.
    struct Ending<'o>(&'o dyn Observer, Stage);
    impl Drop for Ending<'_> {
        fn drop(&mut self) {
            self.0.end(self.1);
        }
    }
    observer.begin(stage);
    let _ending = Ending(observer, stage);
    work()
}

/// A batch of solves that tells the observer how far it is, and stops when it says so.
pub(crate) fn batch<'o>(observer: &'o dyn Observer, threads: Option<usize>) -> Batch<'o> {
    let batch = Batch::new()
        .cancel(observer.cancel())
        .progress(|done, total| observer.progress(done, total));
    match threads {
        None => batch,
        Some(threads) => batch.threads(threads),
    }
}
