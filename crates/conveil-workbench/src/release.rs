//! The release: the only verb that lets anything out, and that is the card.
//!
//! The order is that of M7: everything public first (spec, plan, recipient, ledger), then the charge, and only then the
//! private values. What fails after the charge leaves it spent, and says so. Files of demands and records are read before
//! the charge, because their rows are counted: one that cannot be read is no dataset. A series is one release after the
//! other; one that the spec declares is charged whole before the first.

use std::cell::OnceCell;
use std::fmt;

use conveil::ask::{Adjacency, Strategy};
use conveil::curator::About;
use conveil::plan::Plan;
use conveil_models::document::Annex;
use conveil_models::model::{Curated, Datasets};
use conveil_models::spec::{self, Protects, Reach};
use conveil_release::ledger::{self, Charges, Part, Receipt};
use conveil_release::{
    Charged, ChargedTuned, Released, Stating, charge_series, charge_stating, not_private, rehearse,
    rehearse_series,
};

use crate::ask::is_calibrated_as_in_the_paper;
use crate::book::Book;
use crate::data;
use crate::dry_run::{DryRun, Standing, WouldCharge};
use crate::failure::{Failure, Kind};
use crate::inputs::Inputs;
use crate::objective::Restating;
use crate::observer::{Observer, Stage, staged};
use crate::recipient::{Answer, Delivery, Recipient, Row, Spent};
use crate::report::Report;
use crate::tuning::Grid;
use crate::workbench::Workbench;

/// What [`Workbench::release`] does.
#[derive(Debug, Clone, Copy, Default)]
pub struct Releasing {
    /// One dataset of a series, counted from 1; all where none is named, one answer and one charge each.
    pub row: Option<usize>,
    /// Hand over the private decision beside the card.
    pub decision: bool,
    /// Hand over the private report beside the card; it costs a second solve.
    pub report: bool,
    /// Who keeps count.
    pub account: Account,
    /// Release as many rows of a series as the budget takes; without it, a series that does not fit whole is refused before
    /// its first charge.
    pub until_spent: bool,
    /// Refuse a release that public data show to be poor, before it is charged.
    pub strict: bool,
}

/// Who keeps count of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Account {
    /// The ledger that the spec names.
    #[default]
    Ledger,
    /// Nobody, and the card says so. The spec must name no ledger.
    WithoutLedger,
    /// Nobody, because the run is **not private** (paper mode, or noise from a seed), and the card says so.
    NotPrivate {
        /// The seed of the noise, for a study that must repeat.
        seed: Option<u64>,
    },
}

/// Why a release failed, and what was drawn and charged but did not reach its recipient.
#[derive(Debug)]
pub struct Unreleased {
    /// Why.
    pub failure: Failure,
    /// The documents of the failed row, where its noise was drawn: its budget is spent, so deliver them in another way. What
    /// the recipient took of them before it failed, it knows.
    pub answer: Option<Box<Answer>>,
}

impl Unreleased {
    fn told(self, tell: impl FnOnce(Failure) -> Failure) -> Self {
        Unreleased {
            failure: tell(self.failure),
            ..self
        }
    }
}

impl From<Failure> for Unreleased {
    fn from(failure: Failure) -> Self {
        Unreleased {
            failure,
            answer: None,
        }
    }
}

impl From<Unreleased> for Failure {
    fn from(unreleased: Unreleased) -> Self {
        unreleased.failure
    }
}

impl fmt::Display for Unreleased {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.failure.fmt(f)
    }
}

impl std::error::Error for Unreleased {}

impl Workbench {
    /// Charges the ledger, solves on the private data, draws the noise once and hands the documents to the recipient, row
    /// by row. Only the card is public.
    ///
    /// # Guarantee
    /// Nothing is charged before the spec, the plan, the data files and the recipient are known to be in order, and no
    /// private value reaches the solver before the charge. What was charged stays charged whatever happens then. Tests:
    /// `a_recipient_that_is_not_ready_costs_nothing`, `a_failed_solve_stays_charged`,
    /// `what_cannot_be_delivered_stays_charged_and_comes_back`.
    pub fn release(
        &self,
        releasing: &Releasing,
        recipient: &mut dyn Recipient,
        observer: &dyn Observer,
    ) -> Result<(), Unreleased> {
        self.refuse_public_data()?;
        self.refuse_decision(releasing)?;
        let road = Road {
            bench: self,
            releasing,
            observer,
        };
        match releasing.account {
            Account::NotPrivate { seed } => road.study(seed, recipient),
            Account::Ledger | Account::WithoutLedger => road.release(recipient),
        }
    }

    /// All that [`Workbench::release`] does before its charge, and nothing more: the spec, the plan, the data files, the
    /// recipient and the ledger are looked at, and the whole series is held against the budget.
    ///
    /// # Guarantee
    /// Nothing is charged, nothing is solved on private data, and no file is made. Where it fails, a release would fail in the
    /// same way. Test: `a_dry_run_leaves_no_trace_and_fails_as_the_release_does`.
    pub fn dry_run(
        &self,
        releasing: &Releasing,
        recipient: &mut dyn Recipient,
        observer: &dyn Observer,
    ) -> Result<DryRun, Failure> {
        self.refuse_public_data()?;
        self.refuse_decision(releasing)?;
        if let Account::NotPrivate { .. } = releasing.account {
            return Err(Failure::input(format!(
                "{}: a dry run is of a release, and a run that is not private charges nothing\n  help: make the run itself",
                self.name()
            )));
        }
        let road = Road {
            bench: self,
            releasing,
            observer,
        };
        road.dry_run(recipient)
    }

    /// Public data need no release, and a card about them would pass for one about private data.
    fn refuse_public_data(&self) -> Result<(), Failure> {
        match self.about {
            About::Private => Ok(()),
            About::Nominal | About::Twin => Err(Failure::input(format!(
                "{}: a release is of the private data, and these are public",
                self.name()
            ))),
        }
    }

    /// Noise on the answer has no decision to write.
    fn refuse_decision(&self, releasing: &Releasing) -> Result<(), Failure> {
        let strategy = &self.inputs.spec.feasibility.strategy;
        if releasing.decision {
            self.refuse_grid("`--decision`")?;
        }
        if !releasing.decision || strategy.value == Strategy::Program {
            return Ok(());
        }
        let error = strategy.error(
            self.name(),
            "`--decision` needs strategy `program`: here the noise is on the answer, and no decision carries it",
        );
        Err(error.with_help("the card has the whole answer").into())
    }

    /// Parts are for claims about all pairs, and for neighbours that differ in one part.
    pub(crate) fn refuse_part(&self) -> Result<(), Failure> {
        let spec = &self.inputs.spec;
        let Some(ledger) = &spec.ledger else {
            return Ok(());
        };
        let (Some(part), name) = (&ledger.part, &ledger.source) else {
            return Ok(());
        };
        if spec.privacy.sensitivity.value.is_sampled() {
            let error = part.error(
                name,
                "`part` does not go with a sampled sensitivity, whose claim leaves out pairs",
            );
            let help = "remove `part`, or use a certificate or a declared bound";
            return Err(error.with_help(help).into());
        }
        if let Some(Protects {
            who,
            reach: Reach::Entries { count, .. },
        }) = spec
            .private
            .protects
            .as_ref()
            .map(|protects| &protects.value)
            && *count > 1
        {
            let message = format!(
                "`part` does not go with [private.protects] where one of them, {who}, changes {count} private numbers: they may lie in several parts"
            );
            let help =
                "remove `part`; or entries = 1, if nobody is in more than one private number";
            return Err(part.error(name, message).with_help(help).into());
        }
        let kind = match spec.private.adjacency.value {
            // The name of the part is looked at too.
            Adjacency::OneEntry { .. } | Adjacency::OneRecord { .. } => {
                return stating(&self.inputs, Some(1)).map(|_| ());
            }
            Adjacency::L1 { .. } => "l1",
            Adjacency::L2 { .. } => "l2",
            Adjacency::Universe => "universe",
        };
        let error = part.error(
            name,
            format!(
                "`part` does not go with adjacency `{kind}`, whose neighbours differ in several parts at once"
            ),
        );
        let help = "remove `part`, or use adjacency `one-entry` or `one-record`";
        Err(error.with_help(help).into())
    }

    /// A declared series is charged and released whole.
    fn refuse_row_of_series(&self, row: Option<usize>) -> Result<(), Failure> {
        let Some(ledger) = &self.inputs.spec.ledger else {
            return Ok(());
        };
        let (Some(series), Some(_)) = (&ledger.series, row) else {
            return Ok(());
        };
        let error = series.error(
            &ledger.source,
            "`--row` does not go with `series`: a declared series is released in one run, whole",
        );
        let help = "leave out `--row`; or remove `series`, and each release is charged by itself";
        Err(error.with_help(help).into())
    }
}

/// What stands before a charge.
struct Before<'s> {
    book: Book,
    planned: Planned,
    series: Series<'s>,
}

/// What is to be released.
enum Planned {
    /// The plan of the spec.
    One(Plan<'static>),
    /// One of a grid, chosen privately; and what is charged, whichever it is.
    Grid(Grid, Plan<'static>),
}

impl Planned {
    /// What is claimed and charged.
    fn claim(&self) -> &Plan<'static> {
        match self {
            Planned::One(plan) | Planned::Grid(_, plan) => plan,
        }
    }
}

/// A charge that was made, for a plan or for a choice among plans and its release.
enum Paid<'p> {
    One(&'p Plan<'static>, Box<Charged<'p, 'static>>),
    Grid(ChargedTuned<'p, 'static>),
}

impl<'p> Paid<'p> {
    fn receipt(&self) -> &Receipt {
        match self {
            Paid::One(_, charged) => charged.receipt(),
            Paid::Grid(charged) => charged.receipt(),
        }
    }

    fn without_report(self) -> Self {
        match self {
            Paid::One(plan, charged) => Paid::One(plan, Box::new(charged.without_report())),
            Paid::Grid(charged) => Paid::Grid(charged.without_report()),
        }
    }

    /// The plan that was released, and what came of it.
    fn release(self, theta: &[f64]) -> conveil_release::Result<(&'p Plan<'static>, Released)> {
        match self {
            Paid::One(plan, charged) => Ok((plan, charged.release(theta)?)),
            Paid::Grid(charged) => charged.release(theta),
        }
    }
}

/// The road of one release.
#[derive(Clone, Copy)]
struct Road<'r> {
    bench: &'r Workbench,
    releasing: &'r Releasing,
    observer: &'r dyn Observer,
}

impl Road<'_> {
    /// All that comes before a charge, whoever the recipient is.
    fn before(&self) -> Result<Before<'_>, Failure> {
        let (bench, observer) = (self.bench, self.observer);
        let cancel = observer.cancel();
        bench.model.refuse_release().map_err(Failure::from)?;
        bench.refuse_part()?;
        bench.refuse_row_of_series(self.releasing.row)?;
        let book = Book::open(self.releasing, &bench.inputs, &cancel)?;
        let planned = self.planned()?;
        if let Planned::One(_) = planned {
            self.say_what_to_expect()?;
        }
        let series = Series::open(self)?;
        Ok(Before {
            book,
            planned,
            series,
        })
    }

    /// Says what public data show to be poor, and refuses it where the caller wants no such release.
    fn say_what_to_expect(&self) -> Result<(), Failure> {
        let (bench, observer) = (self.bench, self.observer);
        let outlook = bench
            .outlook(observer)
            .map_err(|failure| match failure.kind() {
                Kind::Interrupted => Failure::interrupted(),
                _ => failure,
            })?;
        for poor in outlook.poor() {
            observer.warning(&poor);
        }
        match self.releasing.strict {
            true => bench.refuse_poor(&outlook),
            false => Ok(()),
        }
    }

    /// The plan, or the plans of a grid, their warnings said.
    fn planned(&self) -> Result<Planned, Failure> {
        let (bench, observer) = (self.bench, self.observer);
        let Some(grid) = bench.grid(observer)? else {
            return Ok(Planned::One(bench.planned(observer)?));
        };
        let dearest = grid.tuned.dearest();
        let dearest = dearest.map_err(|error| Failure::release(bench.name(), &error))?;
        let dearest = dearest.clone();
        for warning in dearest.warnings().iter().chain(&grid.tuning().poor) {
            observer.warning(warning);
        }
        if self.releasing.strict {
            grid.refuse_poor(bench.name())?;
        }
        Ok(Planned::Grid(grid, dearest))
    }

    fn dry_run(&self, recipient: &mut dyn Recipient) -> Result<DryRun, Failure> {
        let Before {
            mut book,
            planned,
            series,
        } = self.before()?;
        let plan = planned.claim();
        let after = self.rehearse(plan, &series, &mut book)?;
        recipient.rehearse(&series.rows)?;
        self.ready(recipient)?;
        let section = self.bench.inputs.spec.ledger.as_ref();
        let charged = match (book.ledger(), section) {
            (Some((ledger, dataset)), Some(section)) => {
                let now = ledger.account(dataset);
                let now = now.map_err(|error| Failure::ledger(&error))?;
                Some(WouldCharge {
                    dataset: dataset.into(),
                    budget: now.budget.to_string(),
                    whole: section.series.is_some(),
                    part: section.part.as_ref().map(|part| part.value.clone()),
                    now: Standing::of(&now),
                    after: Standing::of(&after),
                })
            }
            _ => None,
        };
        Ok(DryRun::new(plan, series.rows.len(), charged))
    }

    fn release(&self, recipient: &mut dyn Recipient) -> Result<(), Unreleased> {
        let Before {
            mut book,
            planned,
            series,
        } = self.before()?;
        let plan = planned.claim();
        let (bench, cancel) = (self.bench, self.observer.cancel());
        // A single charge is its own rehearsal, and without a ledger there is no budget.
        if (series.is_long() && !self.releasing.until_spent && book.ledger().is_some())
            || self.declared(&series)?.is_some()
        {
            self.rehearse(plan, &series, &mut book)?;
        }
        recipient.prepare(&series.rows)?;
        let mut declared = self
            .charge_declared(plan, &series, &mut book, recipient)?
            .into_iter();
        for (done, row) in series.rows.iter().enumerate() {
            let charged = declared.next();
            // What is charged already is not charged again: only an interruption stops it.
            let go_on = match &charged {
                None => self.ready(recipient),
                Some(charged) if cancel.is_raised() => {
                    let failure = bench.engine(&conveil::Error::Cancelled);
                    Err(failure.after(&format!(
                        "the budget stays spent for the whole series (charge {} of dataset {:?})",
                        charged.receipt().id(),
                        charged.receipt().dataset()
                    )))
                }
                Some(_) => Ok(()),
            };
            go_on
                .map_err(Unreleased::from)
                .and_then(|()| {
                    self.release_row(row, &planned, charged, &series, &mut book, recipient)
                })
                .map_err(|unreleased| series.unreleased(done, row, unreleased))?;
        }
        Ok(())
    }

    /// The account as it would be; or the refusal of what does not fit the budget whole. A declared series is one charge.
    fn rehearse(
        &self,
        plan: &Plan<'_>,
        series: &Series<'_>,
        book: &mut Book,
    ) -> Result<ledger::Account, Failure> {
        let inputs = &self.bench.inputs;
        let dataset = book.dataset(plan)?;
        let (declared, is_recorded) = (self.declared(series)?, book.ledger().is_some());
        let rehearsed = match declared {
            Some(declared) => {
                let plans = vec![plan; series.rows.len()];
                let stating = stating(inputs, None)?;
                rehearse_series(&plans, declared.delta, &stating, book.charges(), &dataset)
            }
            None => {
                // Without a ledger every row has a budget of its own.
                let rows = series.rows.iter().take(match is_recorded {
                    true => usize::MAX,
                    false => 1,
                });
                let each = rows.map(|row| stating(inputs, Some(row.number)));
                let each = each.collect::<Result<Vec<Stating>, Failure>>()?;
                rehearse(plan, &each, book.charges(), &dataset)
            }
        };
        rehearsed.map_err(|error| {
            let failure = Failure::release(self.bench.name(), &error);
            let is_over = failure.kind() == Kind::OverBudget && series.is_long();
            let until = match declared {
                None => "; `--until-spent` releases as many rows as fit",
                Some(_) => "",
            };
            failure.with_help(is_over.then(|| {
                format!("`conveil ledger plan` shows what each release may spend{until}; nothing was charged")
            }))
        })
    }

    /// The series that the spec declares, if this run has as many rows.
    fn declared(&self, series: &Series<'_>) -> Result<Option<spec::Series>, Failure> {
        let Some(ledger) = &self.bench.inputs.spec.ledger else {
            return Ok(None);
        };
        let Some(declared) = &ledger.series else {
            return Ok(None);
        };
        let (count, rows) = (declared.value.count, series.rows.len());
        if count != rows {
            let error = declared.error(
                &ledger.source,
                format!("a series of {count} releases is declared, and this run has {rows}"),
            );
            let help = "a declared series is released in one run, whole; without `series`, each release is charged by itself";
            return Err(error.with_help(help).into());
        }
        Ok(Some(declared.value))
    }

    /// The last look before a charge: whether anybody still waits for the card.
    fn ready(&self, recipient: &mut dyn Recipient) -> Result<(), Failure> {
        if self.observer.cancel().is_raised() {
            return Err(Failure::interrupted());
        }
        recipient.ready()
    }

    /// The releases of a series that the spec declares, charged whole; none where it declares none.
    fn charge_declared<'p, 'm>(
        &self,
        plan: &'p Plan<'m>,
        series: &Series<'_>,
        book: &mut Book,
        recipient: &mut dyn Recipient,
    ) -> Result<Vec<Charged<'p, 'm>>, Failure> {
        let Some(declared) = self.declared(series)? else {
            return Ok(Vec::new());
        };
        let (name, rows) = (self.bench.name(), series.rows.len());
        self.ready(recipient)?;
        staged(self.observer, Stage::Charge, || {
            let dataset = book.dataset(plan)?;
            let stating = stating(&self.bench.inputs, None)?;
            let (plans, delta) = (vec![plan; rows], declared.delta);
            charge_series(&plans, delta, &stating, book.charges(), &dataset)
                .map_err(|error| Failure::release(name, &error))
        })
    }

    /// One charge, one answer; of a declared series the charge was made before.
    fn release_row<'p>(
        &self,
        row: &Row,
        planned: &'p Planned,
        declared: Option<Charged<'p, 'static>>,
        series: &Series<'_>,
        book: &mut Book,
        recipient: &mut dyn Recipient,
    ) -> Result<(), Unreleased> {
        let paid = match declared {
            Some(charged) => Paid::One(planned.claim(), Box::new(charged)),
            None => staged(self.observer, Stage::Charge, || {
                let dataset = book.dataset(planned.claim())?;
                let stating = stating(&self.bench.inputs, Some(row.number))?;
                let paid = match planned {
                    Planned::One(plan) => charge_stating(plan, &stating, book.charges(), &dataset)
                        .map(|charged| Paid::One(plan, Box::new(charged))),
                    Planned::Grid(grid, _) => (grid.tuned)
                        .charge(&stating, book.charges(), &dataset)
                        .map(Paid::Grid),
                };
                paid.map_err(|error| Failure::release(self.bench.name(), &error))
            })?,
        };
        let paid = match self.releasing.report {
            true => paid,
            false => paid.without_report(),
        };
        let spent = book.spent(paid.receipt());
        let rest = || {
            let theta = series.theta(row.number)?;
            let released = staged(self.observer, Stage::SolveAndDraw, || paid.release(&theta));
            let (plan, released) = released.map_err(|error| series.failure(&theta, &error))?;
            let released = self.restated(released, row);
            let drawn = Drawn {
                row,
                plan,
                theta: &theta,
                released: &released,
                spent: spent.clone(),
            };
            series.hand_over(&drawn, recipient)
        };
        rest().map_err(|unreleased: Unreleased| unreleased.told(|failure| spent.before(failure)))
    }

    /// In the terms of the modeller's own objective, where the spec states one, and with the label of its row.
    fn restated(&self, released: Released, row: &Row) -> Released {
        let released = match &row.label {
            None => released,
            Some(label) => released.labelled(label),
        };
        match Restating::of(self.bench) {
            None => released,
            Some(restating) => restating.released(released),
        }
    }

    /// What is not private: paper mode, or noise from a seed. It charges nothing.
    fn study(&self, seed: Option<u64>, recipient: &mut dyn Recipient) -> Result<(), Unreleased> {
        self.bench.refuse_grid("a run that is not private")?;
        let series = Series::open(self)?;
        recipient.prepare(&series.rows)?;
        for (done, row) in series.rows.iter().enumerate() {
            // Further rows have noise of their own.
            let seed = seed.map(|seed| seed.wrapping_add(done as u64));
            self.study_row(row, seed, &series, recipient)
                .map_err(|unreleased| series.unreleased(done, row, unreleased))?;
        }
        Ok(())
    }

    fn study_row(
        &self,
        row: &Row,
        seed: Option<u64>,
        series: &Series<'_>,
        recipient: &mut dyn Recipient,
    ) -> Result<(), Unreleased> {
        let (bench, observer) = (self.bench, self.observer);
        let theta = series.theta(row.number)?;
        let plan = match is_calibrated_as_in_the_paper(&bench.inputs.spec) {
            true => bench.paper_mode(&theta, observer)?,
            false => bench.planned(observer)?,
        };
        let released = staged(observer, Stage::SolveAndDraw, || {
            not_private(&plan, &theta, seed)
        });
        let released = released.map_err(|error| series.failure(&theta, &error))?;
        let released = self.restated(released, row);
        let drawn = Drawn {
            row,
            plan: &plan,
            theta: &theta,
            released: &released,
            spent: Spent::Nothing,
        };
        series.hand_over(&drawn, recipient)
    }
}

/// One row whose noise is drawn. Private.
struct Drawn<'d> {
    row: &'d Row,
    plan: &'d Plan<'d>,
    theta: &'d [f64],
    released: &'d Released,
    spent: Spent,
}

/// The datasets to release, one after the other: all rows of a series, or the one that was asked for.
struct Series<'s> {
    bench: &'s Workbench,
    releasing: &'s Releasing,
    observer: &'s dyn Observer,
    datasets: Box<dyn Datasets + 's>,
    rows: Vec<Row>,
}

impl<'s> Series<'s> {
    fn open(road: &Road<'s>) -> Result<Self, Failure> {
        let Road {
            bench,
            releasing,
            observer,
        } = *road;
        let datasets = bench.model.datasets(&bench.inputs.files)?;
        let rows = match releasing.row {
            None => 1..=datasets.count(),
            Some(row) => {
                data::require(&*datasets, row)?;
                row..=row
            }
        };
        let rows = rows.map(|row| data::row_called(&*datasets, row)).collect();
        data::note(&*bench.model, &*datasets, observer);
        Ok(Series {
            bench,
            releasing,
            observer,
            datasets,
            rows,
        })
    }

    fn is_long(&self) -> bool {
        self.rows.len() > 1
    }

    fn theta(&self, row: usize) -> Result<Vec<f64>, Failure> {
        data::row_of(self.bench, &*self.datasets, row, self.observer)
    }

    fn hand_over(
        &self,
        drawn: &Drawn<'_>,
        recipient: &mut dyn Recipient,
    ) -> Result<(), Unreleased> {
        let delivery = Delivery {
            row: drawn.row,
            spent: drawn.spent.clone(),
            released: drawn.released,
            with_decision: self.releasing.decision,
            make_report: &|| {
                let mut annex = self.datasets.annex(&Curated {
                    plan: drawn.plan,
                    theta: drawn.theta,
                    decided: drawn.released.decided(),
                    report: drawn.released.report().filter(|_| self.releasing.report),
                    about: self.bench.about,
                });
                let warning = annex.warning.take();
                let report = self.report(drawn, annex);
                self.warn(drawn.row, warning);
                report
            },
            report: OnceCell::new(),
        };
        match recipient.deliver(&delivery) {
            Ok(()) => {
                // The curator is warned whether or not the recipient has taken the report.
                delivery.report();
                Ok(())
            }
            Err(failure) => Err(Unreleased {
                failure: match drawn.spent {
                    Spent::Nothing => failure,
                    Spent::Charge { .. } | Spent::WithoutLedger => failure.undelivered(),
                },
                answer: Some(Box::new(delivery.into_answer())),
            }),
        }
    }

    /// The curator's report where it is wanted. Whether there is a card must not hang on it.
    fn report(&self, drawn: &Drawn<'_>, annex: Annex) -> Option<Report> {
        if !self.releasing.report {
            return None;
        }
        let engine = drawn.released.report();
        let warning = match engine.map(|engine| Report::new(engine, annex, self.bench)) {
            Some(Ok(report)) => return Some(report),
            Some(Err(failure)) => format!("no curator report could be made of it: {failure}"),
            None => "no curator report could be made of it".into(),
        };
        self.observer.warning(&warning);
        None
    }

    /// What the curator should be warned of.
    fn warn(&self, row: &Row, warning: Option<String>) {
        if let Some(warning) = warning {
            self.observer.warning(&match self.is_long() {
                true => format!("{row}: {warning}"),
                false => warning,
            });
        }
    }

    /// What a release says about these data, for the curator.
    fn failure(&self, theta: &[f64], error: &conveil_release::Error) -> Failure {
        match error {
            conveil_release::Error::Engine(error) => {
                self.bench.engine_on(&*self.datasets, theta, error)
            }
            other => Failure::release(self.bench.name(), other),
        }
    }

    /// In a series, a failure says how far it came.
    fn unreleased(&self, done: usize, row: &Row, unreleased: Unreleased) -> Unreleased {
        if !self.is_long() {
            return unreleased;
        }
        let before = match done {
            0 => "nothing was released".into(),
            1 => "1 answer was released before it".into(),
            _ => format!("{done} answers were released before it"),
        };
        unreleased.told(|failure| failure.of_row(row, &before))
    }
}

/// What the spec states beside the plan; `{row}` in the part is this row, or is left for the series to fill.
fn stating(inputs: &Inputs, row: Option<usize>) -> Result<Stating, Failure> {
    let Some(section) = &inputs.spec.ledger else {
        return Ok(Stating::default());
    };
    let part = section.part.as_ref().map(|part| {
        let name = match row {
            Some(row) => part.value.replace("{row}", &row.to_string()),
            None => part.value.clone(),
        };
        let made = match section.part_moves {
            true => Part::that_records_may_leave(&name),
            false => Part::fixed(&name),
        };
        made.map_err(|error| Failure::from(part.error(&section.source, error.to_string())))
    });
    Ok(Stating {
        part: part.transpose()?,
        planned: section.planned,
    })
}
