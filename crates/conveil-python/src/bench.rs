//! `Bench`: a spec with its public files, and the verbs.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use conveil::audit::Witness;
use conveil::curator::{About, Axis};
use conveil_text::naming::{printable, printable_json};
use conveil_workbench::{
    Account, Answer, Comparing, Failure, Judged, Kind, Probe, Releasing, Sweep, Text, Unreleased,
    Workbench,
};
use pyo3::prelude::*;
use serde::Serialize;

use crate::call::{self, Outcome};
use crate::errors::{raised, verdict};

/// Texts by the name that the spec calls them.
pub(crate) type Files = BTreeMap<String, String>;

/// A document as JSON and as text for people.
pub(crate) type Document = (String, String);

/// A document, and the exception that it amounts to.
pub(crate) type JudgedDocument = (String, String, Option<Py<PyAny>>);

/// The same of an audit, and its worst pair.
pub(crate) type Audited = (String, String, Option<Py<PyAny>>, Option<String>);

/// The documents of a row: card as JSON and as text, decision as JSON, report as JSON and as text.
type Documents = (
    String,
    String,
    Option<String>,
    Option<String>,
    Option<String>,
);

/// A spec with its public files, all of them texts: nothing is read from disk. Private files are given to each call.
#[pyclass(frozen, module = "conveil._core")]
pub(crate) struct Bench {
    name: String,
    spec: String,
    files: Files,
    opened: Workbench,
}

/// Both forms of a document; what does not show is written by its number.
pub(crate) fn document<D: Serialize + fmt::Display>(document: &D) -> Result<Document, Failure> {
    let json = json(document)?;
    Ok((json, printable(&document.to_string(), usize::MAX)))
}

fn json<D: Serialize>(document: &D) -> Result<String, Failure> {
    match serde_json::to_string(document) {
        Ok(json) => Ok(printable_json(&json)),
        Err(error) => Err(Failure::new(Kind::NotWritten, error.to_string())),
    }
}

/// A report, whatever its verdict is.
pub(crate) fn judged<R: Serialize + fmt::Display>(
    py: Python<'_>,
    judged: &Judged<R>,
) -> PyResult<JudgedDocument> {
    let (json, text) = document(&judged.report).map_err(|failure| raised(py, &failure))?;
    Ok((json, text, verdict(py, &judged.verdict)?))
}

fn texts(files: &Files) -> Vec<Text<'_>> {
    let texts = files.iter().map(|(name, text)| Text { name, text });
    texts.collect()
}

impl Bench {
    pub(crate) fn workbench(&self) -> &Workbench {
        &self.opened
    }

    /// The workbench that has these private files.
    pub(crate) fn with(&self, data: &Files) -> Result<Workbench, Failure> {
        self.opened.with_private(&texts(data))
    }

    /// The same, or with public data in their place: "nominal" or "twin".
    pub(crate) fn on(&self, data: &Files, at: Option<&str>) -> Result<Workbench, Failure> {
        match at {
            None => self.with(data),
            Some(at) => self.opened.at(about(at)?),
        }
    }
}

#[pymethods]
impl Bench {
    #[new]
    #[pyo3(signature = (spec, files, name="plan"))]
    fn new(py: Python<'_>, spec: String, files: Files, name: &str) -> PyResult<Self> {
        let opened = call::run(py, None, |heard| {
            let text = &spec;
            Workbench::from_files_watched(Text { name, text }, &texts(&files), heard)
        })?;
        Ok(Bench {
            name: name.into(),
            spec,
            files,
            opened,
        })
    }

    /// What makes the same bench again; it holds nothing private.
    fn __getnewargs__(&self) -> (String, Files, String) {
        (self.spec.clone(), self.files.clone(), self.name.clone())
    }

    fn __repr__(&self) -> String {
        format!("<conveil._core.Bench {:?}>", self.name)
    }

    /// Public facts: the plan, its guarantee, warnings and notes. The text has every line of its lists with `details`.
    #[pyo3(signature = (observer=None, *, details=false))]
    fn check(
        &self,
        py: Python<'_>,
        observer: Option<Bound<'_, PyAny>>,
        details: bool,
    ) -> PyResult<Document> {
        call::run(py, observer, |heard| {
            let check = self.opened.check(heard)?;
            match details {
                true => document(&check.with_details()),
                false => document(&check),
            }
        })
    }

    /// Solves on the private data and reports to the curator. Private, unless `at` names public data in their place: "nominal"
    /// or "twin"; so in the verbs below.
    #[pyo3(signature = (data, row=None, observer=None, *, at=None))]
    fn solve(
        &self,
        py: Python<'_>,
        data: Files,
        row: Option<usize>,
        observer: Option<Bound<'_, PyAny>>,
        at: Option<&str>,
    ) -> PyResult<Document> {
        call::run(py, observer, |heard| {
            document(&self.on(&data, at)?.solve(row, heard)?)
        })
    }

    /// The linear rule x̄ + Xζ that the plan decides on the private data, as JSON and as text. Private.
    #[pyo3(signature = (data, row=None, observer=None))]
    fn rule(
        &self,
        py: Python<'_>,
        data: Files,
        row: Option<usize>,
        observer: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Document> {
        call::run(py, observer, |heard| {
            document(&self.with(&data)?.rule(row, heard)?)
        })
    }

    /// All strategies on the same noise. Private.
    #[pyo3(signature = (data, row=None, draws=None, seed=None, observer=None, *, at=None))]
    #[allow(
        clippy::too_many_arguments,
        reason = "each is an argument with a name in Python"
    )]
    fn compare(
        &self,
        py: Python<'_>,
        data: Files,
        row: Option<usize>,
        draws: Option<u64>,
        seed: Option<u64>,
        observer: Option<Bound<'_, PyAny>>,
        at: Option<&str>,
    ) -> PyResult<Document> {
        let comparing = Comparing { row, draws, seed };
        call::run(py, observer, |heard| {
            document(&self.on(&data, at)?.compare(&comparing, heard)?)
        })
    }

    /// What holds the program back, and how far ε, α and η can go. Private.
    #[pyo3(signature = (data, row=None, observer=None, *, at=None))]
    fn explain(
        &self,
        py: Python<'_>,
        data: Files,
        row: Option<usize>,
        observer: Option<Bound<'_, PyAny>>,
        at: Option<&str>,
    ) -> PyResult<Document> {
        call::run(py, observer, |heard| {
            document(&self.on(&data, at)?.explain(row, heard)?)
        })
    }

    /// The curator's report as a self-contained page. Private.
    #[pyo3(signature = (data, row=None, observer=None, *, at=None))]
    fn report_page(
        &self,
        py: Python<'_>,
        data: Files,
        row: Option<usize>,
        observer: Option<Bound<'_, PyAny>>,
        at: Option<&str>,
    ) -> PyResult<String> {
        call::run(py, observer, |heard| {
            let (bench, about) = match at {
                None => (self.with(&data)?, About::Private),
                Some(at) => (self.opened.clone(), about(at)?),
            };
            conveil_pages::report(&bench, about, row, heard)
        })
    }

    /// The loss against `over`: "epsilon", "alpha", "eta", "width", "curvature" or "price". Private.
    #[pyo3(signature = (data, over, values=None, row=None, observer=None, *, at=None))]
    #[allow(
        clippy::too_many_arguments,
        reason = "each is an argument with a name in Python"
    )]
    fn frontier(
        &self,
        py: Python<'_>,
        data: Files,
        over: &str,
        values: Option<Vec<f64>>,
        row: Option<usize>,
        observer: Option<Bound<'_, PyAny>>,
        at: Option<&str>,
    ) -> PyResult<Document> {
        let over = axis(over).map_err(|failure| raised(py, &failure))?;
        let sweep = Sweep { row, over, values };
        call::run(py, observer, |heard| {
            document(&self.on(&data, at)?.frontier(&sweep, heard)?)
        })
    }

    /// How far neighbouring datasets move the answer, beside the sensitivity in use. Private.
    #[pyo3(signature = (*, pairs=None, seed=None, climbs=None, solves=None, observer=None))]
    fn sensitivity(
        &self,
        py: Python<'_>,
        pairs: Option<u64>,
        seed: Option<u64>,
        climbs: Option<u64>,
        solves: Option<u64>,
        observer: Option<Bound<'_, PyAny>>,
    ) -> PyResult<JudgedDocument> {
        let probe = probe(pairs, seed, climbs, solves);
        let found = call::run(py, observer, |heard| self.opened.sensitivity(&probe, heard))?;
        judged(py, &found)
    }

    /// Looks for neighbouring datasets that the noise hides less well than claimed; with `draws`, from drawn answers too.
    /// The last value is the worst pair, to be saved for `replay`. Private.
    #[pyo3(signature = (*, pairs=None, seed=None, climbs=None, solves=None, draws=None, observer=None))]
    #[allow(
        clippy::too_many_arguments,
        reason = "each is an argument with a name in Python"
    )]
    fn audit(
        &self,
        py: Python<'_>,
        pairs: Option<u64>,
        seed: Option<u64>,
        climbs: Option<u64>,
        solves: Option<u64>,
        draws: Option<u64>,
        observer: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Audited> {
        let probe = probe(pairs, seed, climbs, solves);
        let found = call::run(py, observer, |heard| {
            self.opened.audit(&probe, draws, heard)
        })?;
        let witness = found.report.white_box.witness().map(Witness::to_json);
        let (json, text, verdict) = judged(py, &found)?;
        Ok((json, text, verdict, witness))
    }

    /// Solves a pair again that an audit has found. Private.
    #[pyo3(signature = (witness, observer=None))]
    fn replay(
        &self,
        py: Python<'_>,
        witness: &str,
        observer: Option<Bound<'_, PyAny>>,
    ) -> PyResult<JudgedDocument> {
        let found = call::run(py, observer, |heard| {
            let witness = Witness::from_json(witness)
                .map_err(|error| Failure::engine("the witness", &error))?;
            self.opened.replay(&Probe::default(), &witness, heard)
        })?;
        judged(py, &found)
    }

    /// All that a release does before its charge: what would be charged, and what would be left. Nothing is charged or solved.
    #[pyo3(signature = (data, *, ledger=None, dataset=None, part=None, part_moves=false, series=None, planned=false,
        not_recorded=false, row=None, observer=None))]
    #[allow(
        clippy::too_many_arguments,
        reason = "each is an argument with a name in Python"
    )]
    fn dry_run(
        &self,
        py: Python<'_>,
        data: Files,
        ledger: Option<PathBuf>,
        dataset: Option<String>,
        part: Option<String>,
        part_moves: bool,
        series: Option<(usize, Option<f64>)>,
        planned: bool,
        not_recorded: bool,
        row: Option<usize>,
        observer: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Document> {
        let releasing = Releasing {
            row,
            account: match not_recorded {
                true => Account::WithoutLedger,
                false => Account::Ledger,
            },
            ..Releasing::default()
        };
        let charged = Charged {
            ledger,
            dataset,
            part,
            part_moves,
            series,
            planned,
        };
        call::run(py, observer, |heard| {
            let mut bench = self.with(&data)?;
            if let Some(text) = charged.section()? {
                let name = "ledger";
                bench = bench.with_ledger(Text { name, text: &text })?;
            }
            let mut nobody: Vec<Answer> = Vec::new();
            document(&bench.dry_run(&releasing, &mut nobody, heard)?)
        })
    }

    /// Charges the ledger, solves, draws the noise once: a list with a tuple for each row (card as JSON and as text, decision
    /// as JSON, report as JSON and as text). Only the card is public.
    ///
    /// `ledger` and `dataset` say where it is charged; `not_recorded` that nobody keeps count; `not_private` that it is a
    /// study, `seed` with the same noise again; `strict` refuses what public data show to be poor.
    #[pyo3(signature = (data, *, ledger=None, dataset=None, part=None, part_moves=false, series=None, planned=false,
        not_recorded=false, not_private=false, seed=None, row=None, decision=true, report=false, strict=false, observer=None))]
    #[allow(
        clippy::too_many_arguments,
        reason = "each is an argument with a name in Python"
    )]
    fn release(
        &self,
        py: Python<'_>,
        data: Files,
        ledger: Option<PathBuf>,
        dataset: Option<String>,
        part: Option<String>,
        part_moves: bool,
        series: Option<(usize, Option<f64>)>,
        planned: bool,
        not_recorded: bool,
        not_private: bool,
        seed: Option<u64>,
        row: Option<usize>,
        decision: bool,
        report: bool,
        strict: bool,
        observer: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Documents>> {
        let account = match (not_private, not_recorded) {
            (true, _) => Account::NotPrivate { seed },
            (false, true) => Account::WithoutLedger,
            (false, false) => Account::Ledger,
        };
        let releasing = Releasing {
            row,
            decision,
            report,
            account,
            until_spent: false,
            strict,
        };
        let charged = Charged {
            ledger,
            dataset,
            part,
            part_moves,
            series,
            planned,
        };
        let mut answers: Vec<Answer> = Vec::new();
        let Outcome { done, stopped } = call::observed(py, observer, |heard| {
            if account != Account::Ledger {
                heard.charges_no_ledger();
            }
            let mut bench = self.with(&data)?;
            if let Some(text) = charged.section()? {
                let name = "ledger";
                bench = bench.with_ledger(Text { name, text: &text })?;
            }
            bench.release(&releasing, &mut answers, heard)
        })?;
        let failure = match done {
            Ok(()) => None,
            Err(Unreleased { failure, answer }) => {
                answers.extend(answer.map(|answer| *answer));
                Some(failure)
            }
        };
        let documents: Result<Vec<Documents>, Failure> = answers.iter().map(documents).collect();
        let documents = documents.map_err(|failure| raised(py, &failure))?;
        let failure = match (failure, &stopped) {
            (None, None) => return Ok(documents),
            (Some(failure), _) => failure,
            // What was drawn must reach the caller: its budget is spent.
            (None, Some(_)) => {
                let complete = Failure::new(
                    Kind::Interrupted,
                    "interrupted when the release was complete: its documents are in `answers` of this exception",
                );
                match account {
                    Account::Ledger => complete.after("the budget stays spent"),
                    Account::WithoutLedger => {
                        complete.after_unrecorded("the attempt counts as a release")
                    }
                    Account::NotPrivate { .. } => complete,
                }
            }
        };
        let exception = raised(py, &failure);
        exception.value(py).setattr("answers", documents)?;
        match stopped {
            None => Err(exception),
            Some(stopped) => {
                stopped.set_cause(py, Some(exception));
                Err(stopped)
            }
        }
    }
}

/// A card as a self-contained page, from its JSON. Public, as the card is.
#[pyfunction]
pub(crate) fn card_page(py: Python<'_>, json: String) -> PyResult<String> {
    call::run(py, None, |_| conveil_pages::card("the card", &json))
}

/// Which public data stand in for the private ones.
fn about(at: &str) -> Result<About, Failure> {
    match at {
        "nominal" => Ok(About::Nominal),
        "twin" => Ok(About::Twin),
        other => Err(Failure::input(format!(
            "public data are \"nominal\" or \"twin\", found {other:?}"
        ))),
    }
}

/// What a frontier varies.
pub(crate) fn axis(over: &str) -> Result<Axis, Failure> {
    Axis::named(over).map_err(|error| Failure::input(error.to_string()))
}

pub(crate) fn probe(
    pairs: Option<u64>,
    seed: Option<u64>,
    climbs: Option<u64>,
    solves: Option<u64>,
) -> Probe {
    let default = Probe::default();
    Probe {
        pairs: pairs.unwrap_or(default.pairs),
        seed,
        climbs: climbs.unwrap_or(default.climbs),
        solves: solves.unwrap_or(default.solves),
        ..default
    }
}

fn documents(answer: &Answer) -> Result<Documents, Failure> {
    let (card, card_text) = document(&answer.card)?;
    let decision = answer.decision.as_ref().map(json).transpose()?;
    let (report, report_text) = answer.report.as_ref().map(document).transpose()?.unzip();
    Ok((card, card_text, decision, report, report_text))
}

/// Where a release is charged: the spec's `[ledger]`.
struct Charged {
    ledger: Option<PathBuf>,
    dataset: Option<String>,
    part: Option<String>,
    part_moves: bool,
    series: Option<(usize, Option<f64>)>,
    planned: bool,
}

impl Charged {
    /// The section of the spec, if a ledger is named.
    fn section(&self) -> Result<Option<String>, Failure> {
        let (ledger, dataset) = match (&self.ledger, &self.dataset) {
            (Some(ledger), Some(dataset)) => (ledger, dataset),
            (None, None) => return Ok(None),
            (Some(_), None) => {
                return Err(Failure::input(
                    "a ledger has several datasets: say which with `dataset`",
                ));
            }
            (None, Some(_)) => {
                return Err(Failure::input(
                    "`dataset` names the account of a ledger: say which ledger with `ledger`",
                ));
            }
        };
        let file = std::path::absolute(ledger).unwrap_or_else(|_| ledger.clone());
        let Some(file) = file.to_str() else {
            let file = file.display();
            return Err(Failure::input(format!(
                "the path of the ledger is no text: {file}"
            )));
        };
        let mut section = format!(
            "[ledger]\nfile = {}\ndataset = {}\n",
            quoted(file)?,
            quoted(dataset)?
        );
        if let Some(part) = &self.part {
            section += &format!("part = {}\n", quoted(part)?);
        }
        if self.part_moves {
            section += "part_moves = true\n";
        }
        match self.series {
            None => {}
            Some((count, None)) => section += &format!("series = {{ count = {count} }}\n"),
            Some((count, Some(delta))) => {
                section += &format!("series = {{ count = {count}, delta = {delta:e} }}\n");
            }
        }
        if self.planned {
            section += "planned = true\n";
        }
        Ok(Some(section))
    }
}

/// A string of TOML: JSON's escapes are among its own, and it wants one more.
fn quoted(text: &str) -> Result<String, Failure> {
    Ok(json(&text)?.replace('\u{7f}', "\\u007f"))
}
