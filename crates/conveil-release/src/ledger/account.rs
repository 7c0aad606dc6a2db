//! A dataset's account: budget, totals by basis, what still fits. For people a table, for machines JSON.

use super::history::History;
use super::{Amount, Basis, Budget, Charge, Composition, Head, Pair, Total};
use serde::Serialize;
use std::fmt;

/// What a dataset may spend and has spent.
///
/// # Guarantee
/// All totals are recomputed from the charges, whose chain was checked on the way. `spent` is an (ε, δ) that all charges
/// together keep, by the budget's composition; `basis` is the weakest among them, so no sum of certified and sampled
/// spends is called certified. Test: `a_total_is_named_by_its_weakest_basis`.
#[derive(Clone, Debug, Serialize)]
pub struct Account {
    /// The dataset.
    pub dataset: String,
    /// What it may spend.
    pub budget: Budget,
    /// How many charges it has.
    pub charges: u64,
    /// What it has spent, by `composition`.
    pub spent: Pair,
    /// The composition that gives `spent`: `basic` or `zcdp`.
    pub composition: &'static str,
    /// The basis of that total: the weakest of any charge.
    pub basis: Option<Basis>,
    /// The largest ε of one more Laplace charge that fits.
    pub fits: f64,
    /// The charges of each basis apart, strongest first. Only `spent` is held against the budget.
    pub by_basis: Vec<BasisTotal>,
    /// All charges together, on the weakest basis; none before the first.
    pub all: Option<BasisTotal>,
    /// The chain's head.
    pub head: Head,
}

/// The charges of one basis together.
#[derive(Clone, Debug, Serialize)]
pub struct BasisTotal {
    /// The basis; the weakest one for the total of all.
    pub basis: Basis,
    /// How many charges.
    pub charges: u64,
    /// By basic composition.
    pub basic: Pair,
    /// Σρ of the charges that have one.
    pub rho: Amount,
    /// By zCDP at the budget's δ, charges without ρ added on top; none where that says nothing.
    pub zcdp: Option<Pair>,
}

impl Account {
    pub(super) fn of(history: &History) -> Account {
        let (budget, total) = (history.budget(), history.total());
        let row = |total: &Total| {
            Some(BasisTotal {
                basis: total.weakest()?,
                charges: total.charges(),
                basic: total.basic().clone(),
                rho: total.rho().clone(),
                zcdp: total.zcdp(budget.delta()),
            })
        };
        let charges = || history.entries().iter().map(|entry| &entry.charge);
        let apart = Basis::ALL.map(|basis| Total::of(charges().filter(|c| c.basis() == basis)));
        let (spent, composition) = total.against(budget);
        Account {
            dataset: history.dataset().into(),
            budget: budget.clone(),
            charges: total.charges(),
            spent,
            composition,
            basis: total.weakest(),
            fits: Account::largest_pure_charge(&total, budget),
            by_basis: apart.iter().filter_map(row).collect(),
            all: row(&total),
            head: *history.head(),
        }
    }

    /// The largest ε of one more pure charge that fits a budget, rounded down; 0 where none does.
    pub(super) fn largest_pure_charge(total: &Total, budget: &Budget) -> f64 {
        let fits = |epsilon: f64| {
            Charge::laplace(epsilon, Basis::Certificate)
                .is_ok_and(|charge| total.with(&charge).fits(budget))
        };
        let exact = budget.amounts().0.minus(&total.basic().epsilon).down();
        let mut low = if fits(exact) { exact } else { 0.0 };
        if budget.composition() == Composition::Smaller {
            let mut high = budget.epsilon();
            for _ in 0..40 {
                let middle = low + (high - low) / 2.0;
                let end = if fits(middle) { &mut low } else { &mut high };
                *end = middle;
            }
            // Six digits are enough to read; 1e-5 is more than their rounding adds.
            let short = format!("{:.5e}", low * (1.0 - 1e-5)).parse().unwrap_or(0.0);
            low = if low > exact { short } else { low };
        }
        if fits(low) { low } else { 0.0 }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "dataset  {}", self.dataset)?;
        writeln!(f, "budget   {}", self.budget)?;
        let basis = match self.basis {
            Some(basis) => format!(", basis: {basis}"),
            None => String::new(),
        };
        let Pair { epsilon, delta } = &self.spent;
        writeln!(
            f,
            "spent    ε = {}, δ = {delta} by {} composition{basis}",
            short(epsilon),
            self.composition
        )?;
        writeln!(f, "left     a pure charge of ε = {}", self.fits)?;
        writeln!(f, "head     {}", self.head)?;
        let Some(all) = &self.all else {
            return Ok(());
        };
        let zcdp = format!("ε by zCDP at δ = {}", self.budget.amounts().1);
        writeln!(
            f,
            "\n{:<12} {:>7} {:>14} {:>12} {:>14} {zcdp:>26}",
            "basis", "charges", "Σε", "Σδ", "Σρ"
        )?;
        let rows = self.by_basis.iter().map(|row| (row.basis.name(), row));
        for (name, row) in rows.chain([("all", all)]) {
            let zcdp = row.zcdp.as_ref();
            writeln!(
                f,
                "{name:<12} {:>7} {:>14} {:>12} {:>14} {:>26}",
                row.charges,
                short(&row.basic.epsilon),
                short(&row.basic.delta),
                short(&row.rho),
                zcdp.map_or("-".into(), |pair| short(&pair.epsilon))
            )?;
        }
        Ok(())
    }
}

/// An amount for a table: exact where that is short, otherwise eight digits, rounded up.
fn short(amount: &Amount) -> String {
    let exact = amount.to_string();
    if exact.len() <= 12 {
        return exact;
    }
    let rounded = format!("{:.7e}", amount.up() * (1.0 + 1e-7)).parse().ok();
    rounded
        .and_then(Amount::new)
        .map_or(exact, |up| up.to_string())
}
