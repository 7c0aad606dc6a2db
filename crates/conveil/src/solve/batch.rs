//! Many independent solves in parallel: results in order, whatever the number of threads.

use crate::error::{Error, Result};
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A flag that stops running and waiting work; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks everything that watches the flag to stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// What an error is: the interruption, once it was asked for. What fails then may be what was cut short.
    pub(crate) fn or(&self, error: Error) -> Error {
        match self.is_raised() {
            true => Error::Cancelled,
            false => error,
        }
    }
}

type Progress<'a> = dyn Fn(usize, usize) + Send + Sync + 'a;

/// How to run a batch.
#[derive(Default)]
pub struct Batch<'a> {
    threads: Option<usize>,
    cancel: Cancel,
    progress: Option<Box<Progress<'a>>>,
}

impl<'a> Batch<'a> {
    /// All cores, no progress.
    pub fn new() -> Self {
        Self::default()
    }

    /// At most this many threads (at least one).
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// Watches this flag.
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Calls back with (done, total) as jobs end.
    pub fn progress(mut self, progress: impl Fn(usize, usize) + Send + Sync + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// The flag this batch watches.
    pub fn cancel_flag(&self) -> &Cancel {
        &self.cancel
    }

    /// `job(0), …, job(count − 1)`, in this order. Each job depends on its index alone, so the results do not
    /// depend on the number of threads.
    pub fn run<T: Send>(
        &self,
        count: usize,
        job: impl Fn(usize) -> T + Send + Sync,
    ) -> Result<Vec<T>> {
        let done = AtomicUsize::new(0);
        let work = || -> Result<Vec<T>> {
            (0..count)
                .into_par_iter()
                .map(|index| {
                    if self.cancel.is_raised() {
                        return Err(Error::Cancelled);
                    }
                    let value = job(index);
                    let finished = done.fetch_add(1, Ordering::Relaxed) + 1;
                    if let Some(progress) = &self.progress {
                        progress(finished, count);
                    }
                    Ok(value)
                })
                .collect()
        };
        match self.threads {
            None => work(),
            Some(threads) => rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .map_err(|e| Error::Numerical(format!("cannot start threads: {e}")))?
                .install(work),
        }
    }
}
