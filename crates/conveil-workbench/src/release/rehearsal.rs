//! What comes before a charge, without the charge: whether the budget takes the whole series, and the dry run.

use conveil::plan::Plan;
use conveil_release::ledger::{self, Charges};
use conveil_release::{Stating, rehearse, rehearse_series};

use super::charging::stating;
use super::road::{Before, Road};
use super::series::Series;
use crate::book::Book;
use crate::dry_run::{DryRun, Standing, WouldCharge};
use crate::failure::{Failure, Kind};
use crate::recipient::Recipient;

impl Road<'_> {
    pub(super) fn dry_run(&self, recipient: &mut dyn Recipient) -> Result<DryRun, Failure> {
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

    /// The account as it would be; or the refusal of what does not fit the budget whole. A declared series is one charge.
    pub(super) fn rehearse(
        &self,
        plan: &Plan<'_>,
        series: &Series<'_>,
        book: &mut Book,
    ) -> Result<ledger::Account, Failure> {
        let inputs = &self.bench.inputs;
        let dataset = book.dataset(plan)?;
        let (declared, is_recorded) = (
            self.bench.declared_series(series.rows.len())?,
            book.ledger().is_some(),
        );
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
}
