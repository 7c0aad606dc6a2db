//! What each of several releases may spend, so that together they keep a budget: every way that the ledger can count them.

use conveil::noise::gaussian_sigma_analytic;
use conveil_text::spelling::counted;
use serde::Serialize;
use std::fmt;

use super::{
    Basis, Budget, Charge, Claim, Each, Error, Holds, Neighbourhood, Pair, Part, Relation, Result,
    Scope, Total,
};

/// Releases of the same size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Group {
    /// How many.
    pub releases: u64,
    /// Their ε beside that of the other groups.
    pub weight: f64,
}

/// What releases may spend under one way of counting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Way {
    /// In words.
    pub name: &'static str,
    /// ε of each release, group by group.
    pub epsilon: Vec<f64>,
    /// δ of each release; 0 for pure ones.
    pub delta: f64,
    /// Standard deviation of the noise on a release of the first size, in units of its sensitivity.
    pub deviation: f64,
    /// What the ledger counts for all of them.
    pub total: Pair,
    /// What a spec needs for it.
    pub how: String,
}

/// Releases that are to come, and what each may spend.
///
/// # Guarantee
/// A ledger with this budget and no charges takes just these releases: each amount is tried, by the ledger's own rules,
/// before it is told. Test: `a_ledger_takes_what_was_planned_and_no_release_more`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BudgetPlan {
    /// The total ε.
    pub epsilon: f64,
    /// The total δ.
    pub delta: f64,
    /// What is to be released.
    pub groups: Vec<Group>,
    /// The ways to count it, the plainest first.
    pub ways: Vec<Way>,
}

/// More releases are not planned at once.
const MOST_RELEASES: u64 = 2_000;

/// Halvings of the interval of ε: more than a number has digits.
const HALVINGS: usize = 60;

/// What is told has so many digits, rounded down.
const DIGITS: i32 = 4;

impl BudgetPlan {
    /// Plans releases against a budget; δ = 0 admits pure ones only.
    pub fn new(groups: &[Group], epsilon: f64, delta: f64) -> Result<BudgetPlan> {
        let releases = groups
            .iter()
            .fold(0u64, |sum, group| sum.saturating_add(group.releases));
        if groups.iter().any(|g| g.releases == 0) || !(1..=MOST_RELEASES).contains(&releases) {
            return Err(Error::input(format!(
                "a plan is for 1 to {MOST_RELEASES} releases, at least one of each size, found {releases}"
            )));
        }
        if groups
            .iter()
            .any(|g| !(g.weight.is_finite() && g.weight > 0.0))
        {
            return Err(Error::input("the weight of a release is positive".into()));
        }
        let asked = Neighbourhood::new(Relation::OneEntry { alpha: 1.0 }, 1, "planned")?;
        let scope = Scope {
            neighbourhood: asked.clone(),
            holds: Holds::Everywhere,
        };
        let claim = Claim::stated(Basis::Declared, scope)?;
        let budget = Budget::new(epsilon, delta, &asked)?;
        let planning = Planning {
            groups,
            releases,
            claim,
            asked,
            budget,
        };
        Ok(BudgetPlan {
            epsilon,
            delta,
            groups: groups.to_vec(),
            ways: planning.ways()?,
        })
    }
}

struct Planning<'g> {
    groups: &'g [Group],
    releases: u64,
    claim: Claim,
    asked: Neighbourhood,
    budget: Budget,
}

impl Planning<'_> {
    fn ways(&self) -> Result<Vec<Way>> {
        let pure = |epsilon: f64| Charge::laplace(epsilon, &self.claim);
        let basic = self.budget.clone().basic();
        let nothing = String::from("nothing to write");
        let mut ways = vec![
            self.way("one by one, added up", 0.0, nothing, &basic, |each| {
                self.each(each, pure)
            })?,
        ];
        let delta = self.budget.delta();
        if delta > 0.0 {
            let smaller = self.way(
                "one by one, counted by zCDP",
                0.0,
                "nothing to write; the ε's must be fixed before the first answer".into(),
                &self.budget,
                |each| self.each(each, pure),
            )?;
            if smaller.epsilon[0] > ways[0].epsilon[0] {
                ways.push(smaller);
            }
            ways.push(self.way(
                "one declared series",
                0.0,
                format!(
                    "in [ledger]: series = {{ count = {}, delta = {delta:e} }}; all in one run",
                    self.releases
                ),
                &self.budget,
                |each| Ok(vec![Charge::series(&self.each(each, pure)?, Some(delta))?]),
            )?);
            let own = delta / self.releases as f64;
            ways.push(self.way(
                "one by one, Gaussian noise",
                own,
                format!("in [privacy]: mechanism = \"gaussian\", delta = {own:e}"),
                &self.budget,
                |each| {
                    self.each(each, |epsilon| {
                        Charge::gaussian(epsilon, own, gaussian_rho(epsilon, own)?, &self.claim)
                    })
                },
            )?);
        }
        ways.push(self.way(
            "each about a part of its own",
            0.0,
            "in [ledger]: part = \"hour {row}\"; only where no private number is in two parts, and adjacency is one-entry or one-record".into(),
            &basic,
            |each| {
                let charges = self.each(each, pure)?;
                let parts = charges.into_iter().enumerate();
                parts
                    .map(|(k, charge)| charge.in_part(Part::fixed(&format!("part {k}"))?))
                    .collect()
            },
        )?);
        Ok(ways)
    }

    /// A charge for every release, where one of weight 1 has this ε.
    fn each(&self, epsilon: f64, charge: impl Fn(f64) -> Result<Charge>) -> Result<Vec<Charge>> {
        let mut charges = Vec::new();
        for group in self.groups {
            let one = charge(epsilon * group.weight)?;
            charges.extend(std::iter::repeat_n(one, group.releases as usize));
        }
        Ok(charges)
    }

    fn way(
        &self,
        name: &'static str,
        delta: f64,
        how: String,
        budget: &Budget,
        charges: impl Fn(f64) -> Result<Vec<Charge>>,
    ) -> Result<Way> {
        let nothing = Total::nothing(&self.asked);
        let heaviest = self.groups.iter().fold(0.0f64, |m, g| m.max(g.weight));
        // No release spends more than all may.
        let most = budget.epsilon() / heaviest;
        let unit = largest_each(&nothing, budget, most, &charges);
        let total = match unit > 0.0 {
            true => total_with(&nothing, &charges(unit)?),
            false => None,
        };
        let total = total.map_or(Pair::NOTHING, |total| total.against(budget).0);
        let epsilon: Vec<f64> = self.groups.iter().map(|g| unit * g.weight).collect();
        let sigma = gaussian_sigma_analytic(1.0, epsilon[0], delta);
        Ok(Way {
            name,
            deviation: match delta > 0.0 {
                true => sigma.unwrap_or(f64::INFINITY),
                false => std::f64::consts::SQRT_2 / epsilon[0],
            },
            epsilon,
            delta,
            total,
            how,
        })
    }
}

/// What one release would spend with another ε and the same δ. Gaussian noise is counted as the analytic calibration has it,
/// which needs the least noise.
pub(super) fn at_epsilon(each: &Each, epsilon: f64) -> Result<Each> {
    let rho = match each.rho {
        Some(_) if each.delta > 0.0 => Some(gaussian_rho(epsilon, each.delta)?),
        // That of a pure release follows from its ε.
        _ => None,
    };
    Ok(Each {
        epsilon,
        rho,
        ..*each
    })
}

/// ρ of a Gaussian release that spends (ε, δ).
fn gaussian_rho(epsilon: f64, delta: f64) -> Result<f64> {
    let sigma = gaussian_sigma_analytic(1.0, epsilon, delta);
    let sigma = sigma.map_err(|error| Error::input(error.to_string()))?;
    // A release rounds to its lattice first, which adds a little.
    Ok(0.5 / (sigma * sigma) * (1.0 + 1e-5))
}

/// The largest ε, of few digits, of the largest of these releases at which they fit what a budget has left, charged one by
/// one or as a series; 0 where none is found. The others keep their share of it.
///
/// # Guarantee
/// Releases of just this ε fit: the answer is tried before it is told. Test:
/// `a_series_over_budget_says_which_epsilon_would_fit`.
pub(super) fn largest_alike(total: &Total, budget: &Budget, charges: &[Charge]) -> f64 {
    let epsilons = charges.iter().map(|charge| match charge.releases() {
        Some(series) => (series.releases().iter()).fold(0.0f64, |m, each| m.max(each.epsilon)),
        None => charge.epsilon(),
    });
    let most = epsilons.fold(0.0f64, f64::max);
    largest_each(total, budget, most, |epsilon| {
        let each = charges.iter().map(|charge| charge.scaled(epsilon / most));
        each.collect()
    })
}

/// The total with further charges; none where one of them cannot be counted.
fn total_with(total: &Total, charges: &[Charge]) -> Option<Total> {
    let mut total = total.clone();
    for charge in charges {
        total.add(charge).ok()?;
    }
    Some(total)
}

/// The largest ε up to `most`, of few digits, at which these charges fit what a budget has left; 0 where none does.
fn largest_each(
    total: &Total,
    budget: &Budget,
    most: f64,
    charges: impl Fn(f64) -> Result<Vec<Charge>>,
) -> f64 {
    let fits = |epsilon: f64| {
        let charges = charges(epsilon).ok();
        let with = charges.and_then(|charges| total_with(total, &charges));
        with.is_some_and(|with| with.fits(budget))
    };
    if fits(most) {
        return most;
    }
    let (mut low, mut high) = (0.0, most);
    for _ in 0..HALVINGS {
        let middle = low + (high - low) / 2.0;
        let end = if fits(middle) { &mut low } else { &mut high };
        *end = middle;
    }
    if !(low > 0.0) {
        return 0.0;
    }
    let unit = 10f64.powi(DIGITS - 1 - low.log10().floor() as i32);
    // A decimal end, such as 0.1 of a sum of 24, is met by rounding to nearest, and anything else from below.
    let nearest = (low * unit).round() / unit;
    let below = (low * unit).floor() / unit;
    [nearest, below]
        .into_iter()
        .find(|&told| told > 0.0 && fits(told))
        .unwrap_or(0.0)
}

impl fmt::Display for BudgetPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let releases: u64 = self.groups.iter().map(|g| g.releases).sum();
        let releases = counted(releases as usize, "release", "releases");
        write!(f, "BUDGET PLAN: {releases} within ε = {}", self.epsilon)?;
        if self.delta > 0.0 {
            write!(f, ", δ = {:e}", self.delta)?;
        }
        writeln!(f)?;
        if self.groups.len() > 1 {
            let each: Vec<String> = self
                .groups
                .iter()
                .map(|g| format!("{} of weight {}", g.releases, g.weight))
                .collect();
            writeln!(f, "sizes: {}", each.join(", "))?;
        }
        let column = |way: &Way| {
            let each: Vec<String> = way.epsilon.iter().map(|e| number(*e)).collect();
            each.join(", ")
        };
        let names = self.ways.iter().map(|way| way.name.chars().count());
        let names = names.max().unwrap_or(0);
        let widths = self.ways.iter().map(|way| column(way).chars().count());
        let width = widths.max().unwrap_or(0).max("ε each".chars().count());
        writeln!(
            f,
            "  {:<names$}  {:>width$}  {:>8}  {:>10}",
            "counted", "ε each", "noise", "total ε"
        )?;
        for way in &self.ways {
            let total = number(way.total.epsilon.up());
            writeln!(
                f,
                "  {:<names$}  {:>width$}  {:>8.1}  {total:>10}",
                way.name,
                column(way),
                way.deviation
            )?;
            writeln!(f, "  {:<names$}  {}", "", way.how)?;
        }
        writeln!(
            f,
            "noise: standard deviation on one release, in units of its sensitivity"
        )
    }
}

/// Six digits.
fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    rounded.to_string()
}
