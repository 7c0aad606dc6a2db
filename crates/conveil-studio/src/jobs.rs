//! Work that takes long: frontier, comparison, explanation, audit. It shows how far it is, and can be stopped.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use conveil::curator::Axis;
use conveil::solve::Cancel;
use conveil_pages::sections;
use conveil_workbench::{Comparing, Failure, Kind, Observer, Probe, Stage, Sweep, Workbench};
use serde::Serialize;

use crate::desk::Desk;
use crate::view::{Picture, figures, stamp, text};

/// Finished jobs that are kept.
const KEPT: usize = 16;

/// Jobs at a time.
const RUNNING: usize = 4;

/// The jobs of a desk.
#[derive(Default)]
pub(crate) struct Jobs(Mutex<BTreeMap<u64, Arc<Job>>>);

/// One piece of work.
struct Job {
    id: u64,
    kind: String,
    over: Option<String>,
    asked: u64,
    spec: String,
    private: bool,
    cancel: Cancel,
    stage: Mutex<&'static str>,
    done: AtomicUsize,
    total: AtomicUsize,
    ended: Mutex<Option<Ended>>,
}

#[derive(Clone)]
struct Ended {
    state: &'static str,
    text: String,
    figures: Vec<Picture>,
}

/// A job as a tab sees it.
#[derive(Serialize)]
pub(crate) struct Shown {
    id: u64,
    kind: String,
    over: Option<String>,
    asked: u64,
    spec: String,
    state: &'static str,
    stage: &'static str,
    done: usize,
    total: usize,
    private: bool,
    stamp: &'static str,
    text: String,
    figures: Vec<Picture>,
}

impl Observer for Job {
    fn hears_notes(&self) -> bool {
        false
    }

    fn begin(&self, stage: Stage) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage.name();
        self.done.store(0, Ordering::Relaxed);
        self.total.store(0, Ordering::Relaxed);
    }

    fn progress(&self, done: usize, total: usize) {
        self.done.fetch_max(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }
}

impl Job {
    fn shown(&self) -> Shown {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = ended.clone();
        let state = ended.as_ref().map_or("running", |ended| ended.state);
        let (text, figures) = ended.map_or_else(Default::default, |end| (end.text, end.figures));
        Shown {
            id: self.id,
            kind: self.kind.clone(),
            over: self.over.clone(),
            asked: self.asked,
            spec: self.spec.clone(),
            state,
            stage: *self.stage.lock().unwrap_or_else(PoisonError::into_inner),
            done: self.done.load(Ordering::Relaxed),
            total: self.total.load(Ordering::Relaxed),
            private: self.private,
            stamp: stamp(self.private),
            text,
            figures,
        }
    }

    fn is_running(&self) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.is_none()
    }

    fn work(&self, bench: &Workbench, work: &Work, desk: &Desk) {
        let found = match work {
            Work::Compare => bench.compare(&Comparing::default(), self).map(|found| {
                let html = sections::comparison(&found);
                (text(&found), figures("Strategies", self.private, &html))
            }),
            Work::Explain => bench.explain(None, self).map(|found| {
                let html = sections::explanation(&found);
                (
                    text(&found),
                    figures("What holds it back", self.private, &html),
                )
            }),
            Work::Audit => bench.audit(&Probe::default(), None, self).map(|found| {
                let verdict = match &found.verdict {
                    Ok(()) => String::new(),
                    Err(failure) => format!("{}\n", text(failure)),
                };
                let html = sections::audit(&found);
                let figures = figures("Audit", self.private, &html);
                (format!("{verdict}{}", text(&found.report)), figures)
            }),
            Work::Frontier(over) => {
                let sweep = Sweep {
                    row: None,
                    over: *over,
                    values: None,
                };
                bench.frontier(&sweep, self).map(|found| {
                    let html = sections::frontier(&found, chosen(bench, *over));
                    (text(&found), figures("Loss", self.private, &html))
                })
            }
        };
        let ended = match found {
            Ok((text, figures)) => Ended {
                state: "done",
                text: desk.without_folder(&text),
                figures,
            },
            Err(failure) => Ended {
                state: match failure.kind() {
                    Kind::Interrupted => "cancelled",
                    _ if self.cancel.is_raised() => "cancelled",
                    _ => "failed",
                },
                text: desk.without_folder(&text(&failure)),
                figures: Vec::new(),
            },
        };
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
    }
}

/// What the spec has chosen.
fn chosen(bench: &Workbench, over: Axis) -> Option<f64> {
    let spec = bench.spec();
    match over {
        Axis::Epsilon => Some(spec.privacy.mechanism.epsilon()),
        Axis::Eta => spec.feasibility.eta,
        Axis::Alpha => spec.private.adjacency.value.alpha(),
        _ => None,
    }
}

enum Work {
    Compare,
    Explain,
    Audit,
    Frontier(Axis),
}

impl Work {
    fn read(kind: &str, over: Option<&str>) -> Result<Self, Failure> {
        Ok(match (kind, over) {
            ("compare", _) => Work::Compare,
            ("explain", _) => Work::Explain,
            ("audit", _) => Work::Audit,
            ("frontier", None | Some("epsilon")) => Work::Frontier(Axis::Epsilon),
            ("frontier", Some("alpha")) => Work::Frontier(Axis::Alpha),
            ("frontier", Some("eta")) => Work::Frontier(Axis::Eta),
            _ => return Err(Failure::input("no such work")),
        })
    }
}

impl Jobs {
    fn find(&self, id: u64) -> Result<Arc<Job>, Failure> {
        let jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = jobs.get(&id).cloned();
        found.ok_or_else(|| Failure::input("there is no such job"))
    }

    pub(crate) fn shown(&self, id: u64) -> Result<Shown, Failure> {
        Ok(self.find(id)?.shown())
    }

    /// Stops all of them: another spec is opened, whose page does not show them.
    pub(crate) fn stop(&self) {
        let jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for job in jobs.values() {
            job.cancel.raise();
        }
    }

    pub(crate) fn cancel(&self, id: u64) -> Result<Shown, Failure> {
        let job = self.find(id)?;
        job.cancel.raise();
        Ok(job.shown())
    }
}

impl Desk {
    /// Starts a job on what is looked at now.
    pub(crate) fn start(
        self: &Arc<Self>,
        kind: &str,
        over: Option<&str>,
    ) -> Result<Shown, Failure> {
        let work = Work::read(kind, over)?;
        let now = self.now()?;
        let no_data = || Failure::input("choose the data to look at first");
        let bench = now.opened.at.clone().ok_or_else(no_data)?;
        let job = {
            let mut jobs = self.jobs.0.lock().unwrap_or_else(PoisonError::into_inner);
            if jobs.values().filter(|job| job.is_running()).count() >= RUNNING {
                return Err(Failure::input("wait for a job to end, or stop one"));
            }
            let ended: Vec<u64> = jobs
                .values()
                .filter(|job| !job.is_running())
                .map(|job| job.id)
                .collect();
            for id in ended.iter().rev().skip(KEPT) {
                jobs.remove(id);
            }
            let id = jobs.keys().next_back().map_or(1, |id| id + 1);
            let job = Arc::new(Job {
                id,
                kind: kind.into(),
                over: over.map(String::from),
                asked: now.asked,
                spec: now.opened.shown.clone(),
                private: now.private,
                cancel: Cancel::default(),
                stage: Mutex::new("plan"),
                done: AtomicUsize::new(0),
                total: AtomicUsize::new(0),
                ended: Mutex::new(None),
            });
            jobs.insert(id, job.clone());
            job
        };
        let (working, desk) = (job.clone(), self.clone());
        let thread = std::thread::Builder::new().name("job".into());
        let started = thread.spawn(move || {
            working.work(&bench, &work, &desk);
            desk.tell();
        });
        match started {
            Ok(_) => Ok(job.shown()),
            Err(why) => Err(Failure::input(format!("cannot start the work: {why}"))),
        }
    }
}
