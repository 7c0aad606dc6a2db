//! The road of a release: check, charge, solve, draw, hand over; and the same without a charge for what is not private.

use conveil::plan::Plan;
use conveil_release::ledger::Receipt;
use conveil_release::{
    Charged, ChargedTuned, Released, charge_series, charge_stating, not_private,
};

use super::charging::stating;
use super::series::{Drawn, Series};
use super::{Releasing, Unreleased};
use crate::ask::is_calibrated_as_in_the_paper;
use crate::book::Book;
use crate::failure::{Failure, Kind};
use crate::objective::Restating;
use crate::observer::{Observer, Stage, staged};
use crate::recipient::{Recipient, Row, Spent};
use crate::tuning::Grid;
use crate::workbench::Workbench;

/// The road of one release.
#[derive(Clone, Copy)]
pub(super) struct Road<'r> {
    pub(super) bench: &'r Workbench,
    pub(super) releasing: &'r Releasing,
    pub(super) observer: &'r dyn Observer,
}

/// What stands before a charge.
pub(super) struct Before<'s> {
    pub(super) book: Book,
    pub(super) planned: Planned,
    pub(super) series: Series<'s>,
}

/// What is to be released.
pub(super) enum Planned {
    /// The plan of the spec.
    One(Plan<'static>),
    /// One of a grid, chosen privately; and what is charged, whichever it is.
    Grid(Grid, Plan<'static>),
}

impl Planned {
    /// What is claimed and charged.
    pub(super) fn claim(&self) -> &Plan<'static> {
        match self {
            Planned::One(plan) | Planned::Grid(_, plan) => plan,
        }
    }
}

impl Road<'_> {
    /// All that comes before a charge, whoever the recipient is.
    pub(super) fn before(&self) -> Result<Before<'_>, Failure> {
        self.uncharged().map_err(|failure| match failure.kind() {
            Kind::Interrupted => Failure::interrupted(),
            _ => failure,
        })
    }

    fn uncharged(&self) -> Result<Before<'_>, Failure> {
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
        let outlook = bench.outlook(observer)?;
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

    pub(super) fn release(&self, recipient: &mut dyn Recipient) -> Result<(), Unreleased> {
        let Before {
            mut book,
            planned,
            series,
        } = self.before()?;
        let plan = planned.claim();
        let (bench, cancel) = (self.bench, self.observer.cancel());
        // A single charge is its own rehearsal, and without a ledger there is no budget.
        if (series.is_long() && !self.releasing.until_spent && book.ledger().is_some())
            || self.bench.declared_series(series.rows.len())?.is_some()
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

    /// The last look before a charge: whether anybody still waits for the card.
    pub(super) fn ready(&self, recipient: &mut dyn Recipient) -> Result<(), Failure> {
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
        let Some(declared) = self.bench.declared_series(series.rows.len())? else {
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
        let released = released.moved_after_looking(&self.bench.moved);
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
    pub(super) fn study(
        &self,
        seed: Option<u64>,
        recipient: &mut dyn Recipient,
    ) -> Result<(), Unreleased> {
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
