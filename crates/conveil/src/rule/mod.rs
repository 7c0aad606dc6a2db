//! The linear decision rule x(ζ) = x̄ + Xζ (M2): which rows of X are constants, which are free, and what binds them.
//!
//! All conditions on X (QX = T, A_eq X = 0, A_always X = 0, stages) act on whole rows of X, so a row is either
//! a constant vector or k free variables. Constants are never variables.

mod elimination;
mod lift;
mod shape;
mod slack_absorption;

pub use lift::Lifted;
pub(crate) use lift::{Lift, RowNoise};
pub use shape::Shape;
pub(crate) use slack_absorption::slack_absorption;

use crate::error::{Error, Result};
use crate::program::{Cone, Holds, Program, Stage};
use crate::solve::Cancel;
use elimination::{Elimination, Pivots, Reduced};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The rows that the query puts on X: each row of Q and the noise it must carry (a row of T).
#[derive(Clone, Debug)]
pub struct NoiseRow {
    /// What the user calls it.
    pub label: String,
    /// Its entries (column, weight).
    pub terms: Vec<(usize, f64)>,
    /// Its row of T.
    pub carries: Vec<f64>,
}

/// One row of X.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RowRule {
    /// Constant entries (noise, value); empty when the variable does not move.
    Fixed(Vec<(usize, f64)>),
    /// Free recourse, the given number among the free rows.
    Free(usize),
}

#[derive(Clone, Debug)]
struct Equation {
    of: Origin,
    /// Whether its coefficients are private and must be read at θ.
    is_private: bool,
    terms: Vec<(usize, f64)>,
    /// Entries (noise, value) that it must carry; none for a row of the program.
    rhs: Vec<(usize, f64)>,
}

/// What an equation comes from.
#[derive(Clone, Debug)]
enum Origin {
    /// A row of the program.
    Row(usize),
    /// A row of the query, by this name.
    Query(String),
}

impl Equation {
    fn row(&self) -> Option<usize> {
        match self.of {
            Origin::Row(row) => Some(row),
            Origin::Query(_) => None,
        }
    }
}

/// The rule's structure: public, the same for every dataset.
///
/// # Guarantee
/// Every X that meets the rule's equations has QX = T and A X = 0 on equalities and on blocks that hold always,
/// moves no here-and-now variable, and moves no variable that occurs at the mean only (M2, M4). The rule of noise on the
/// answer has none of it: it says what the noise does to a decision, and nothing about constraints.
#[derive(Clone, Debug)]
pub struct Rule {
    noises: usize,
    rows: Vec<RowRule>,
    free: Vec<usize>,
    /// Variables whose stage lets them move; the equations may still fix how.
    moves: Vec<bool>,
    /// Variables that stand in constraints that hold at the mean and in no other, without being here-and-now.
    only_at_mean: Vec<bool>,
    equations: Vec<Equation>,
    has_private_equations: bool,
}

impl Rule {
    /// Fixes what the public rows fix and runs the rank test on them. `private_rows` marks rows of A with private
    /// coefficients: they never fix anything and are tested at the data.
    pub fn new(
        program: &Program,
        query: &[NoiseRow],
        noises: usize,
        private_rows: &[bool],
    ) -> Result<Self> {
        Self::watched(program, query, noises, private_rows, &Cancel::default())
    }

    /// The same, stopped by this flag.
    pub(crate) fn watched(
        program: &Program,
        query: &[NoiseRow],
        noises: usize,
        private_rows: &[bool],
        cancel: &Cancel,
    ) -> Result<Self> {
        let n = program.columns();
        let by_rows = program.a().by_rows();
        let mut fixed: Vec<Option<Vec<(usize, f64)>>> = vec![None; n];
        let mut occurs_at_mean = vec![false; n];
        let mut occurs_elsewhere = vec![false; n];
        let mut equations = Vec::new();
        for block in program.constraints() {
            for i in block.range() {
                let mark = if block.holds() == Holds::AtTheMean {
                    &mut occurs_at_mean
                } else {
                    &mut occurs_elsewhere
                };
                by_rows.row(i).iter().for_each(|&(j, _)| mark[j] = true);
                let binds = matches!(block.cone(), Cone::Zero(_)) || block.holds() == Holds::Always;
                if binds {
                    equations.push(Equation {
                        of: Origin::Row(i),
                        is_private: private_rows[i],
                        terms: by_rows.row(i).to_vec(),
                        rhs: Vec::new(),
                    });
                }
            }
        }
        for row in query {
            let carries = row.carries.iter().copied().enumerate();
            equations.push(Equation {
                of: Origin::Query(row.label.clone()),
                is_private: false,
                terms: row.terms.clone(),
                rhs: carries.filter(|t| t.1 != 0.0).collect(),
            });
        }
        let is_here_and_now = |j: usize| program.variable_block(j).stage() == Stage::HereAndNow;
        let only_at_mean: Vec<bool> = (0..n)
            .map(|j| occurs_at_mean[j] && !occurs_elsewhere[j] && !is_here_and_now(j))
            .collect();
        for j in 0..n {
            if is_here_and_now(j) || only_at_mean[j] {
                fixed[j] = Some(Vec::new());
            }
        }
        let moves = fixed.iter().map(Option::is_none).collect();
        fix_singletons(&equations, &mut fixed);
        let mut free = Vec::new();
        let rows = fixed
            .into_iter()
            .enumerate()
            .map(|(j, value)| match value {
                Some(entries) => RowRule::Fixed(entries),
                None => {
                    free.push(j);
                    RowRule::Free(free.len() - 1)
                }
            })
            .collect();
        let has_private_equations = equations.iter().any(|e| e.is_private);
        let rule = Rule {
            noises,
            rows,
            free,
            moves,
            only_at_mean,
            equations,
            has_private_equations,
        };
        if !has_private_equations {
            rule.rank_test(program, cancel)?;
        }
        Ok(rule)
    }

    /// The rule of noise on the answer. Where that is the whole decision, `places` has the column and the weight of each
    /// released number, and every variable shows the noise of its own; else nothing does. No equation binds it: equalities
    /// are missed like any other constraint.
    pub(crate) fn on_the_answer(
        variables: usize,
        query: &[NoiseRow],
        places: Option<Vec<(usize, f64)>>,
        noises: usize,
    ) -> Self {
        let mut rows = vec![RowRule::Fixed(Vec::new()); variables];
        for (row, (j, weight)) in query.iter().zip(places.unwrap_or_default()) {
            let carried = row.carries.iter().enumerate().filter(|c| *c.1 != 0.0);
            rows[j] = RowRule::Fixed(carried.map(|(i, t)| (i, t / weight)).collect());
        }
        Rule {
            noises,
            rows,
            free: Vec::new(),
            moves: vec![false; variables],
            only_at_mean: vec![false; variables],
            equations: Vec::new(),
            has_private_equations: false,
        }
    }

    /// The rule with private coefficients read from the program at θ; runs the rank test where the public one could not.
    pub(crate) fn at(&self, program: &Program, cancel: &Cancel) -> Result<Cow<'_, Rule>> {
        if !self.has_private_equations {
            return Ok(Cow::Borrowed(self));
        }
        let mut rule = self.clone();
        let by_rows = program.a().by_rows();
        for equation in rule.equations.iter_mut().filter(|e| e.is_private) {
            if let Some(row) = equation.row() {
                equation.terms = by_rows.row(row).to_vec();
            }
        }
        rule.rank_test(program, cancel)?;
        Ok(Cow::Owned(rule))
    }

    /// M2: QX = T and AX = 0 must have a solution on the columns that may move. The equations are taken as they stand,
    /// not with the rows of X that they fix put in: so a refusal can name every row behind it.
    fn rank_test(&self, program: &Program, cancel: &Cancel) -> Result<()> {
        match self.tested(program, Pivots::Forced, cancel)? {
            true => Ok(()),
            // A refusal, and what is close to one, is for sound pivots to say.
            false => self.tested(program, Pivots::Sound, cancel).map(|_| ()),
        }
    }

    /// Whether the rows of the query are independent, as far as these pivots tell.
    fn tested(&self, program: &Program, pivots: Pivots, cancel: &Cancel) -> Result<bool> {
        let moving = |equation: &Equation| -> Vec<(usize, f64)> {
            let terms = equation.terms.iter().copied();
            terms.filter(|&(j, _)| self.moves[j]).collect()
        };
        let each = || self.equations.iter();
        let bound: Vec<&Equation> = each().filter(|e| e.row().is_some()).collect();
        let rows = bound.iter().map(|equation| moving(equation)).collect();
        let mut elimination = Elimination::new(self.rows.len(), rows, pivots, cancel)?;
        for equation in each() {
            let Origin::Query(label) = &equation.of else {
                continue;
            };
            match elimination.reduce_and_add(moving(equation), equation.rhs.clone())? {
                Reduced::Consistent => {}
                Reduced::Unclear => return Ok(false),
                Reduced::Contradiction(rows) => {
                    let rows = rows.iter().filter_map(|&index| bound.get(index)?.row());
                    let mut names: Vec<String> = rows.map(|row| program.row_name(row)).collect();
                    names.dedup();
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    return Err(self.impossible(label, &equation.terms, &names));
                }
            }
        }
        Ok(true)
    }

    fn impossible(&self, label: &str, terms: &[(usize, f64)], rows: &[&str]) -> Error {
        let what = format!("noise on the query `{label}`");
        if rows.is_empty() {
            let is_any = |marked: &[bool]| terms.iter().any(|&(j, _)| marked[j]);
            if is_any(&self.moves) {
                return Error::refused(
                    what,
                    "it repeats another row of the query, or is a combination of other rows, which carry noise of their own",
                    "each combination once",
                );
            }
            if is_any(&self.only_at_mean) {
                return Error::refused(
                    what,
                    "its variables stand in the objective, or in constraints that hold at the mean, and in no constraint that holds with noise: nothing would limit how far the noise moves them, so a rule does not move them",
                    "a limit on them that holds with noise, as wide as you like",
                );
            }
            return Error::refused(
                what,
                "it has no variable that may respond to the noise: what stands in it is decided before the noise",
                "a query of variables that are declared decisions",
            );
        }
        Error::refused(
            what,
            format!(
                "its value is fixed by {}: no decision can carry noise in it",
                crate::program::list_some(rows)
            ),
            "query something that these rows leave free, or add the slack that would make them inequalities",
        )
    }

    /// The equation with fixed rows of X moved to the right-hand side.
    fn reduced(&self, equation: &Equation) -> (Vec<(usize, f64)>, Vec<f64>) {
        let mut rhs = vec![0.0; self.noises];
        equation.rhs.iter().for_each(|&(noise, v)| rhs[noise] = v);
        let mut terms = Vec::new();
        for &(j, a) in &equation.terms {
            match &self.rows[j] {
                RowRule::Fixed(entries) => {
                    for &(noise, value) in entries {
                        rhs[noise] -= a * value;
                    }
                }
                RowRule::Free(f) => terms.push((*f, a)),
            }
        }
        (terms, rhs)
    }

    /// Whether some equation has private coefficients, so that the rank test is decided at the data.
    pub(crate) fn has_private_equations(&self) -> bool {
        self.has_private_equations
    }

    /// Number of noises k.
    pub fn noises(&self) -> usize {
        self.noises
    }

    /// Number of variables.
    pub fn variables(&self) -> usize {
        self.rows.len()
    }

    /// The rule of variable `j`.
    pub(crate) fn row(&self, j: usize) -> &RowRule {
        &self.rows[j]
    }

    /// The variables with free recourse.
    pub fn free(&self) -> &[usize] {
        &self.free
    }

    /// Number of free entries of X.
    pub(crate) fn free_entries(&self) -> usize {
        self.free.len() * self.noises
    }

    /// The equations that still bind free rows.
    pub(crate) fn binding(&self) -> Vec<Binding> {
        let is_free = |t: &(usize, f64)| matches!(self.rows[t.0], RowRule::Free(_));
        let each = self.equations.iter();
        each.filter(|e| e.terms.iter().any(is_free))
            .map(|e| {
                let (terms, rhs) = self.reduced(e);
                (terms, rhs, e.row())
            })
            .collect()
    }
}

/// Terms over free rows of X, the right-hand side by noise, and the program row it stems from.
pub(crate) type Binding = (Vec<(usize, f64)>, Vec<f64>, Option<usize>);

/// A public row with one unfixed column fixes it: identity rows, and what follows from them.
fn fix_singletons(equations: &[Equation], fixed: &mut [Option<Vec<(usize, f64)>>]) {
    let is_open = |fixed: &[Option<_>], t: &&(usize, f64)| fixed[t.0].is_none() && t.1 != 0.0;
    let open_terms = |equation: &Equation, fixed: &[Option<_>]| {
        let terms = equation.terms.iter();
        terms.filter(|t| is_open(fixed, t)).count()
    };
    let mut open: Vec<usize> = equations.iter().map(|e| open_terms(e, fixed)).collect();
    let mut ready: Vec<usize> = (0..equations.len())
        .rev()
        .filter(|&e| open[e] == 1)
        .collect();
    if ready.is_empty() {
        return;
    }
    let mut by_column: Vec<Vec<usize>> = vec![Vec::new(); fixed.len()];
    for (index, equation) in equations.iter().enumerate() {
        for &(j, _) in equation.terms.iter().filter(|t| is_open(fixed, t)) {
            by_column[j].push(index);
        }
    }
    while let Some(index) = ready.pop() {
        let equation = &equations[index];
        if equation.is_private || open[index] != 1 {
            continue;
        }
        let mut rhs: BTreeMap<usize, f64> = equation.rhs.iter().copied().collect();
        let mut pivot = None;
        for &(j, a) in &equation.terms {
            match &fixed[j] {
                Some(entries) => entries
                    .iter()
                    .for_each(|&(noise, v)| *rhs.entry(noise).or_insert(0.0) -= a * v),
                None if a != 0.0 => pivot = Some((j, a)),
                None => {}
            }
        }
        let Some((j, a)) = pivot else { continue };
        let entries = rhs.into_iter().filter(|(_, v)| *v != 0.0);
        fixed[j] = Some(entries.map(|(noise, v)| (noise, v / a)).collect());
        for &other in &by_column[j] {
            open[other] -= 1;
            if open[other] == 1 {
                ready.push(other);
            }
        }
    }
}
