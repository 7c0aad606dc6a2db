//! A Python object that hears how far the work is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use conveil::solve::Cancel;
use conveil_text::naming::printable;
use conveil_workbench::{Observer, Stage};
use pyo3::prelude::*;

/// Progress is not told more often: each time takes Python's lock.
const BETWEEN: Duration = Duration::from_millis(50);

/// What a call says while it works goes to the methods that the object has: `note`, `warning`, `begin`, `progress`, `end`.
/// One that raises stops the work.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    methods: Methods,
    cancel: Cancel,
    exception: Mutex<Option<PyErr>>,
    /// When progress was told last.
    told: Mutex<Option<Instant>>,
    /// Whether a charge has begun.
    charged: AtomicBool,
    /// Whether there is no ledger that it could be recorded in.
    without_ledger: AtomicBool,
}

#[derive(Debug, Default)]
struct Methods {
    note: Option<Py<PyAny>>,
    warning: Option<Py<PyAny>>,
    begin: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
    end: Option<Py<PyAny>>,
}

impl Heard {
    pub(crate) fn new(observer: Option<Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(observer) = observer else {
            return Ok(Heard::default());
        };
        let method = |name: &str| -> PyResult<Option<Py<PyAny>>> {
            Ok(observer.getattr_opt(name)?.map(Bound::unbind))
        };
        Ok(Heard {
            methods: Methods {
                note: method("note")?,
                warning: method("warning")?,
                begin: method("begin")?,
                progress: method("progress")?,
                end: method("end")?,
            },
            ..Heard::default()
        })
    }

    /// Asks the work to stop.
    pub(crate) fn stop(&self) {
        self.cancel.raise();
    }

    /// Whether something may be charged.
    pub(crate) fn has_charged(&self) -> bool {
        self.charged.load(Ordering::Relaxed) && !self.without_ledger.load(Ordering::Relaxed)
    }

    /// Says that the work records nothing.
    pub(crate) fn charges_no_ledger(&self) {
        self.without_ledger.store(true, Ordering::Relaxed);
    }

    /// What a method has raised.
    pub(crate) fn into_exception(self) -> Option<PyErr> {
        let exception = self.exception.into_inner();
        exception.unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(
        &self,
        method: Option<&Py<PyAny>>,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>,
    ) {
        let Some(method) = method else { return };
        if let Err(exception) = Python::attach(|py| call(method.bind(py))) {
            self.stop();
            let mut first = locked(&self.exception);
            first.get_or_insert(exception);
        }
    }
}

impl Observer for Heard {
    fn note(&self, text: &str) {
        self.tell(self.methods.note.as_ref(), |note| {
            note.call1((printable(text, usize::MAX),)).map(|_| ())
        });
    }

    fn hears_notes(&self) -> bool {
        self.methods.note.is_some()
    }

    fn warning(&self, text: &str) {
        self.tell(self.methods.warning.as_ref(), |warning| {
            warning.call1((printable(text, usize::MAX),)).map(|_| ())
        });
    }

    fn begin(&self, stage: Stage) {
        *locked(&self.told) = None;
        if stage == Stage::Charge {
            self.charged.store(true, Ordering::Relaxed);
        }
        self.tell(self.methods.begin.as_ref(), |begin| {
            begin.call1((stage.name(),)).map(|_| ())
        });
    }

    fn progress(&self, done: usize, total: usize) {
        if self.methods.progress.is_none() {
            return;
        }
        {
            let mut told = locked(&self.told);
            if done < total && told.is_some_and(|told| told.elapsed() < BETWEEN) {
                return;
            }
            *told = Some(Instant::now());
        }
        self.tell(self.methods.progress.as_ref(), |progress| {
            progress.call1((done, total)).map(|_| ())
        });
    }

    fn end(&self, stage: Stage) {
        self.tell(self.methods.end.as_ref(), |end| {
            end.call1((stage.name(),)).map(|_| ())
        });
    }

    fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }
}

/// What is kept is whole even where a thread has panicked.
fn locked<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
