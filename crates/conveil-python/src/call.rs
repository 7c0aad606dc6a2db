//! One call from Python: the work on threads of its own, without the interpreter's lock, and stopped by Ctrl-C.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use conveil_workbench::{Failure, Kind};
use pyo3::prelude::*;

use crate::errors::raised;
use crate::observer::Heard;

/// How often Python is asked whether a signal has come.
const POLL: Duration = Duration::from_millis(50);

/// The stack of a thread: that of a program's main thread on Linux, on which the engine is tested.
const STACK_BYTES: usize = 8 << 20;

/// Runs a verb. Python's lock is free meanwhile; a signal whose handler raises, or an exception of the observer, stops the
/// work, and is raised with the failure as its cause.
///
/// The threads are made for this call and end with it. They are not shared, for two reasons: a forked child has none of its
/// parent's threads, so a pool that it inherits never answers; and in a shared pool a call that waits may take up another
/// call's work, and cannot be stopped before that has ended.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    observer: Option<Bound<'_, PyAny>>,
    work: impl FnOnce(&Heard) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    run_on(py, None, observer, work)
}

/// The same on so many threads: a cell beside others needs one.
pub(crate) fn run_on<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    observer: Option<Bound<'_, PyAny>>,
    work: impl FnOnce(&Heard) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let outcome = observed_on(py, threads, observer, work)?;
    match (outcome.done, outcome.stopped) {
        (Ok(value), None) => Ok(value),
        (Err(failure), None) => Err(raised(py, &failure)),
        (Ok(_), Some(exception)) => Err(exception),
        (Err(failure), Some(exception)) => {
            exception.set_cause(py, Some(raised(py, &failure)));
            Err(exception)
        }
    }
}

/// How a call has ended.
pub(crate) struct Outcome<T, E> {
    /// What the work returned.
    pub(crate) done: Result<T, E>,
    /// The exception that asked it to stop, whether or not it came too late.
    pub(crate) stopped: Option<PyErr>,
}

/// The same, where both ends are for the caller to put together.
pub(crate) fn observed<T: Send, E: Send + From<Failure>>(
    py: Python<'_>,
    observer: Option<Bound<'_, PyAny>>,
    work: impl FnOnce(&Heard) -> Result<T, E> + Send,
) -> PyResult<Outcome<T, E>> {
    observed_on(py, None, observer, work)
}

fn observed_on<T: Send, E: Send + From<Failure>>(
    py: Python<'_>,
    threads: Option<usize>,
    observer: Option<Bound<'_, PyAny>>,
    work: impl FnOnce(&Heard) -> Result<T, E> + Send,
) -> PyResult<Outcome<T, E>> {
    let heard = Heard::new(observer)?;
    // Without a number, 0: as many as there are processors.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .stack_size(STACK_BYTES)
        .thread_name(|index| format!("conveil-{index}"))
        .build();
    let pool = match pool {
        Ok(pool) => pool,
        Err(error) => {
            let failure = Failure::new(Kind::Solver, format!("cannot start threads: {error}"));
            return Err(raised(py, &failure));
        }
    };
    let ended = Mutex::new(None);
    let mut stopped = None;
    let caller = thread::current();
    pool.in_place_scope(|scope| {
        scope.spawn(|_| {
            let done = catch_unwind(AssertUnwindSafe(|| work(&heard)));
            *ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
            caller.unpark();
        });
        let is_running = || {
            let ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
            ended.is_none()
        };
        while py.detach(|| {
            if is_running() {
                thread::park_timeout(POLL);
            }
            is_running()
        }) {
            if stopped.is_none()
                && let Err(exception) = py.check_signals()
            {
                heard.stop();
                stopped = Some(exception);
            }
        }
    });
    let ended = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
    let done = match ended {
        Some(Ok(done)) => done,
        Some(Err(panic)) => Err(E::from(broken(&*panic, &heard))),
        None => Err(E::from(broken(&"the work did not end", &heard))),
    };
    let stopped = stopped.or_else(|| heard.into_exception());
    Ok(Outcome { done, stopped })
}

/// A panic is a mistake of the engine: said in plain words. What was charged before it stays charged.
fn broken(panic: &(dyn Any + Send), heard: &Heard) -> Failure {
    let said = (panic.downcast_ref::<&str>().copied())
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    let message = format!(
        "the engine stopped at a mistake of its own: {said}\n  help: please report it with the plan that shows it"
    );
    let failure = Failure::new(Kind::Solver, message);
    match heard.has_charged() {
        true => failure.after("the budget may be spent: the ledger says"),
        false => failure,
    }
}
