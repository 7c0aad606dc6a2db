//! A dataset's account: budget, totals by basis, what still fits. For people a table, for machines JSON.

use super::error::in_words;
use super::history::{Entry, History, NotBounded, Record};
use super::neighbourhood::in_shell;
use super::statement;
use super::{
    Amount, Basis, Budget, Claim, Head, Holds, Neighbourhood, Pair, Part, Scope, Total, left,
};
use serde::Serialize;
use std::fmt;
use std::path::Path;

/// What a dataset may spend and has spent.
///
/// # Guarantee
/// All totals are recomputed from the charges, whose chain was checked on the way. `spent` is an (ε, δ) that all charges
/// together keep between the neighbours of the budget, by the budget's composition; none where a charge cannot be counted
/// there (`not_bounded`). `basis` is the weakest among them, so no sum of certified and sampled spends is called certified.
/// Tests: `a_total_is_named_by_its_weakest_basis`, `totals_are_per_neighbourhood_and_follow_the_conversions`.
#[derive(Clone, Debug, Serialize)]
pub struct Account {
    /// The dataset.
    pub dataset: String,
    /// What it may spend, and between which datasets.
    pub budget: Budget,
    /// How many charges it has.
    pub charges: u64,
    /// What it has spent between the neighbours of the budget, by `composition`; none where that is not bounded.
    pub spent: Option<Pair>,
    /// The composition that gives `spent`: `basic`, `optimal` or `zcdp`.
    pub composition: Option<&'static str>,
    /// The first charge that cannot be counted between the neighbours of the budget.
    pub not_bounded: Option<NotBounded>,
    /// The basis of that total: the weakest of any charge.
    pub basis: Option<Basis>,
    /// The share of pairs that sampled charges leave out, and the risk that this is wrong; none without such charges.
    pub left_out: Option<LeftOut>,
    /// Whether charges of disjoint parts count by the largest part: `spent` is then between datasets that differ in one
    /// part.
    pub by_parts: bool,
    /// The largest ε of one more Laplace charge that fits.
    pub fits: f64,
    /// The same for a charge of a part that has not spent; none where no charge has a part.
    pub fits_in_new_part: Option<f64>,
    /// The charges of each basis apart, strongest first. Only `spent` is held against the budget.
    pub by_basis: Vec<BasisTotal>,
    /// All charges together, on the weakest basis; none before the first.
    pub all: Option<BasisTotal>,
    /// The total of all charges between the neighbours of each charge.
    pub neighbourhoods: Vec<NeighbourhoodTotal>,
    /// The charges one by one, where the total is not bounded or some were recorded without a neighbourhood; otherwise none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub listed: Vec<Listed>,
    /// The chain's head.
    pub head: Head,
}

/// A charge in a list.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// Its number in the history.
    pub number: u64,
    /// UTC day.
    pub day: String,
    /// How the noise was drawn.
    pub mechanism: &'static str,
    /// What its claim rests on.
    pub basis: Basis,
    /// ε.
    pub epsilon: f64,
    /// Between which datasets; none where that is not stated.
    pub neighbourhood: Option<Neighbourhood>,
}

/// What sampled charges leave open.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOut {
    /// γ.
    pub gamma: Amount,
    /// β.
    pub beta: Amount,
}

/// What all charges spend together between the neighbours of some of them.
#[derive(Clone, Debug, Serialize)]
pub struct NeighbourhoodTotal {
    /// Between which datasets.
    pub neighbourhood: Neighbourhood,
    /// How many charges were made for just these.
    pub charges: u64,
    /// What all charges together spend there; none where that is not bounded.
    pub spent: Option<Pair>,
    /// The composition that gives it.
    pub composition: Option<&'static str>,
    /// The first charge that cannot be counted there.
    pub not_bounded: Option<NotBounded>,
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
        let (budget, charges) = (history.budget(), history.charges());
        let row = |total: &Total| {
            Some(BasisTotal {
                basis: total.weakest()?,
                charges: total.charges(),
                basic: total.basic(),
                rho: total.rho(),
                zcdp: total.zcdp(budget.delta()),
            })
        };
        let total = match budget.neighbourhood() {
            Some(asked) => history.total(asked),
            None => Err(NotBounded {
                charge: None,
                why: "the budget does not say between which datasets it holds".into(),
            }),
        };
        let not_bounded = total.as_ref().err().cloned().filter(|found| {
            // Nothing was spent yet.
            found.charge.is_some() || !charges.is_empty()
        });
        let total = total.ok();
        let apart = |basis: Basis| {
            let own = charges.iter().map(|(_, charge)| charge);
            let own = own.filter(|charge| charge.basis() == basis);
            Total::of(budget.neighbourhood()?, own).ok()
        };
        let by_basis = match total {
            Some(_) => Basis::ALL.iter().filter_map(|b| row(&apart(*b)?)).collect(),
            None => Vec::new(),
        };
        let spent = total.as_ref().map(|total| total.against(&budget));
        let left_out = total.as_ref().map(Total::left_out);
        let is_sampled = charges.iter().any(|(_, charge)| is_sampled(charge.claim()));
        let is_old = |entry: &Entry| matches!(&entry.record, Record::Charge(charge) if charge.claim().scope().is_none());
        let listed = match not_bounded.is_some() || history.entries().iter().any(is_old) {
            true => listed(history),
            false => Vec::new(),
        };
        Account {
            listed,
            dataset: history.dataset().into(),
            charges: charges.len() as u64,
            composition: spent.as_ref().map(|(_, name)| *name),
            spent: spent.map(|(pair, _)| pair),
            not_bounded,
            basis: charges.iter().map(|(_, charge)| charge.basis()).max(),
            left_out: left_out
                .filter(|_| is_sampled)
                .map(|(gamma, beta)| LeftOut { gamma, beta }),
            by_parts: total.as_ref().is_some_and(Total::has_parts),
            fits: match &total {
                Some(total) => Account::largest_pure_charge(total, &budget, None),
                None => 0.0,
            },
            fits_in_new_part: total
                .as_ref()
                .filter(|total| total.has_parts())
                .map(|total| {
                    Account::largest_pure_charge(total, &budget, Some(&total.unspent_part(false)))
                }),
            by_basis,
            all: total.as_ref().and_then(row),
            neighbourhoods: between(history, &budget),
            head: *history.head(),
            budget,
        }
    }

    /// The largest ε of one more pure charge about all of the dataset, or about this part.
    fn largest_pure_charge(total: &Total, budget: &Budget, part: Option<&Part>) -> f64 {
        let scope = Scope {
            neighbourhood: total.neighbourhood().clone(),
            holds: Holds::Everywhere,
        };
        let claim = Claim::stated(Basis::Certificate, scope);
        claim.map_or(0.0, |claim| left::largest(total, budget, &claim, part))
    }
}

/// Every charge, with the neighbourhood that it has or was given since.
fn listed(history: &History) -> Vec<Listed> {
    let charges = history
        .charges()
        .into_iter()
        .map(|(number, charge)| Listed {
            number,
            day: history
                .numbered(number)
                .map_or(String::new(), |entry| entry.day.clone()),
            mechanism: charge.mechanism().name(),
            basis: charge.basis(),
            epsilon: charge.epsilon(),
            neighbourhood: charge.claim().scope().map(|s| s.neighbourhood.clone()),
        });
    charges.collect()
}

fn is_sampled(claim: &Claim) -> bool {
    let holds = claim.scope().map(|scope| &scope.holds);
    matches!(holds, Some(Holds::Sampled { .. }))
}

/// The totals between the neighbours of each charge, in the order in which they first occur.
fn between(history: &History, budget: &Budget) -> Vec<NeighbourhoodTotal> {
    let mut found: Vec<(Neighbourhood, u64)> = Vec::new();
    for (_, charge) in history.charges() {
        let Some(scope) = charge.claim().scope() else {
            continue;
        };
        match found
            .iter_mut()
            .find(|(own, _)| *own == scope.neighbourhood)
        {
            Some((_, count)) => *count += 1,
            None => found.push((scope.neighbourhood.clone(), 1)),
        }
    }
    let totals = found.into_iter().map(|(neighbourhood, charges)| {
        let total = history.total(&neighbourhood);
        let spent = total.as_ref().ok().map(|total| total.against(budget));
        NeighbourhoodTotal {
            neighbourhood,
            charges,
            composition: spent.as_ref().map(|(_, name)| *name),
            spent: spent.map(|(pair, _)| pair),
            not_bounded: total.err(),
        }
    });
    totals.collect()
}

/// What was spent, in words.
fn words(
    spent: Option<&Pair>,
    composition: Option<&str>,
    not_bounded: Option<&NotBounded>,
) -> String {
    match (spent, not_bounded) {
        (Some(Pair { epsilon, delta }), _) => format!(
            "ε = {}, δ = {delta} by {} composition",
            short(epsilon),
            in_words(composition.unwrap_or_default())
        ),
        (None, Some(found)) if found.charge.is_none() => format!("not bounded; {}", found.why),
        (None, Some(found)) => format!("not bounded; {found}"),
        (None, None) => "nothing".into(),
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "dataset  {}", self.dataset)?;
        writeln!(f, "budget   {}", self.budget)?;
        match self.budget.neighbourhood() {
            Some(neighbourhood) => writeln!(f, "between  {neighbourhood}")?,
            None => writeln!(
                f,
                "between  not stated: `conveil ledger adopt` states it, and until then nothing can be charged"
            )?,
        }
        let basis = match self.basis {
            Some(basis) => format!(", basis: {basis}"),
            None => String::new(),
        };
        let (spent, not_bounded) = (self.spent.as_ref(), self.not_bounded.as_ref());
        let spent = words(spent, self.composition, not_bounded);
        writeln!(f, "spent    {spent}{basis}")?;
        if self.by_parts {
            writeln!(
                f,
                "parts    disjoint, as the curator states: the part that spent most counts, the two that spent most where a replacement may move a record between parts"
            )?;
        }
        if let Some(LeftOut { gamma, beta }) = &self.left_out {
            writeln!(
                f,
                "pairs    for all but a share γ = {gamma} of sampled pairs, at a risk of β = {beta}"
            )?;
        }
        write!(f, "left     a pure charge of ε = {}", self.fits)?;
        match self.fits_in_new_part {
            Some(part) => writeln!(
                f,
                " about all of it, of ε = {part} about a part that has not spent"
            )?,
            None => writeln!(f)?,
        }
        writeln!(f, "head     {}", self.head)?;
        if let Some(all) = &self.all {
            self.table(all, f)?;
        }
        if self.spent.is_none() {
            self.list(f)?;
        }
        let asked = self.budget.neighbourhood();
        let mut others = self
            .neighbourhoods
            .iter()
            .filter(|n| Some(&n.neighbourhood) != asked)
            .peekable();
        if others.peek().is_some() {
            writeln!(f, "\nall charges together, between other neighbours:")?;
        }
        for other in others {
            let (spent, not_bounded) = (other.spent.as_ref(), other.not_bounded.as_ref());
            writeln!(
                f,
                "  {}\n    {}",
                other.neighbourhood,
                words(spent, other.composition, not_bounded)
            )?;
        }
        Ok(())
    }
}

impl Account {
    /// What was spent, in words.
    pub fn spent_in_words(&self) -> String {
        let (spent, not_bounded) = (self.spent.as_ref(), self.not_bounded.as_ref());
        match self.charges {
            0 => "nothing".into(),
            _ => words(spent, self.composition, not_bounded),
        }
    }

    /// The commands that state what is open, for the ledger at this path, each with what it is about.
    pub fn to_state(&self, ledger: &Path) -> Vec<String> {
        let command = statement::command(&in_shell(&ledger.display().to_string()), &self.dataset);
        let open = |is_sampled: bool| -> Vec<String> {
            let open = self.listed.iter().filter(|c| c.neighbourhood.is_none());
            let own = open.filter(|c| (c.basis == Basis::Sampled) == is_sampled);
            own.map(|c| c.number.to_string()).collect()
        };
        let mut lines = Vec::new();
        if self.budget.neighbourhood().is_none() {
            lines.push(format!("the budget: {command} --budget --spec SPEC.toml"));
        }
        for is_sampled in [false, true] {
            let numbers = open(is_sampled);
            if !numbers.is_empty() {
                let flags = match is_sampled {
                    true => "--spec SPEC.toml, or by flags with --gamma G --beta B",
                    false => "--spec SPEC.toml",
                };
                let (numbers, more) = (numbers.join(","), statement::if_it_is_so(is_sampled));
                lines.push(format!(
                    "charges {numbers}: {command} --charges {numbers} {flags}; {more}"
                ));
            }
        }
        lines
    }

    /// The charges one by one.
    fn list(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.listed.is_empty() {
            return Ok(());
        }
        writeln!(
            f,
            "\n{:>6} {:<10} {:<17} {:<11} {:>10}  between",
            "charge", "day", "mechanism", "basis", "ε"
        )?;
        for c in &self.listed {
            let between = c.neighbourhood.as_ref();
            writeln!(
                f,
                "{:>6} {:<10} {:<17} {:<11} {:>10}  {}",
                c.number,
                c.day,
                c.mechanism,
                c.basis,
                c.epsilon,
                between.map_or("not stated".into(), Neighbourhood::to_string)
            )?;
        }
        Ok(())
    }

    /// The charges of each basis, and all of them.
    fn table(&self, all: &BasisTotal, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
