//! The program min ½x'Px + q'x s.t. b − Ax ∈ K (M1), with named blocks and their stages (M2).

mod builder;
mod cone;
mod data;
mod definite;
mod expression;
mod frame;
mod meaning;
mod objective;
mod parameter;
mod saved;
mod sparse;

pub use builder::Builder;
pub(crate) use cone::norm;
pub use cone::{Against, Cone};
pub use data::{AffineMap, DataMap, GeneralMap, PrivateParts};
pub(crate) use definite::smallest_eigenvalue_is_nonnegative;
pub use expression::{Affine, ParameterHandle, VariableHandle};
pub use frame::Frame;
pub(crate) use frame::power_of_two;
pub use meaning::{Decision, HeldTo, Meaning, Part, Quantity, Reading, Subject, Sum, Term};
pub use objective::{Objective, Sense};
pub use parameter::{Location, Parameter, Place};
pub use saved::SavedConstraint;
pub use sparse::{Rows, Sparse};

use crate::error::{Error, Result};
use conveil_text::naming::fault_of_text;
use conveil_text::spelling::quoted;
use std::collections::HashMap;
use std::ops::Range;

/// What a variable is, as whoever built the model declares it (M2). Structure cannot tell an epigraph from a purchase, so
/// it is said and not guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A real quantity that somebody carries out. It responds to the noise, and it alone may carry the noise of a query.
    Decision,
    /// It is decided before the noise: its rows of X are 0. It may stand in a query and carries no noise of it.
    HereAndNow,
    /// Only the existence of a value is claimed; it responds freely and may not be queried.
    Witness,
    /// It bounds a convex cost from above; it responds freely and may be released by an at-most query only.
    Epigraph,
}

impl Stage {
    /// The word that a spec has for it.
    pub fn word(self) -> &'static str {
        match self {
            Stage::Decision => "decision",
            Stage::HereAndNow => "here-and-now",
            Stage::Witness => "witness",
            Stage::Epigraph => "epigraph",
        }
    }
}

/// When a constraint holds (M2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// In the chance constraint.
    WithNoise,
    /// Whatever the noise: A_block X = 0.
    Always,
    /// At x̄ only (an objective's epigraph). Never a zero cone.
    AtTheMean,
}

/// A named run of variables.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableBlock {
    name: String,
    start: usize,
    len: usize,
    stage: Stage,
}

impl VariableBlock {
    /// The block's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The columns it takes.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.len
    }

    /// Its stage.
    pub fn stage(&self) -> Stage {
        self.stage
    }
}

/// A named cone constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintBlock {
    name: String,
    start: usize,
    cone: Cone,
    holds: Holds,
    rows: Vec<String>,
}

impl ConstraintBlock {
    /// The block's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its cone.
    pub fn cone(&self) -> &Cone {
        &self.cone
    }

    /// The rows it takes.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.cone.dim()
    }

    /// When it holds.
    pub fn holds(&self) -> Holds {
        self.holds
    }
}

/// A convex program in conic form. Built by [`Builder`], [`Program::new`] or from a saved problem; always validated.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    p: Sparse,
    q: Vec<f64>,
    a: Sparse,
    b: Vec<f64>,
    constant: f64,
    variables: Vec<VariableBlock>,
    constraints: Vec<ConstraintBlock>,
    frame: Option<Frame>,
}

/// A variable block to be: name, length and stage.
#[derive(Clone, Debug, PartialEq)]
pub struct NewVariables {
    /// Name, unique among the blocks.
    pub name: String,
    /// Number of entries, at least 1.
    pub len: usize,
    /// Stage.
    pub stage: Stage,
}

/// A constraint block to be.
#[derive(Clone, Debug)]
pub struct NewConstraint {
    /// Name, unique among the blocks.
    pub name: String,
    /// Cone.
    pub cone: Cone,
    /// When it holds.
    pub holds: Holds,
    /// Names of its rows; empty for `name[i]`.
    pub rows: Vec<String>,
}

impl Program {
    /// Validates the parts: dimensions, finite numbers, unique names, stages, P upper triangular and positive semidefinite.
    pub fn new(
        p: Sparse,
        q: Vec<f64>,
        a: Sparse,
        b: Vec<f64>,
        variables: Vec<NewVariables>,
        constraints: Vec<NewConstraint>,
    ) -> Result<Self> {
        let mut start = 0usize;
        let mut blocks = Vec::new();
        for v in variables {
            if v.len == 0 {
                return Err(Error::input(format!(
                    "variable `{}` has no entries",
                    v.name
                )));
            }
            blocks.push(VariableBlock {
                name: v.name,
                start,
                len: v.len,
                stage: v.stage,
            });
            start = start.saturating_add(v.len);
        }
        let columns = start;
        start = 0;
        let mut rows = Vec::new();
        for c in constraints {
            c.cone
                .validate()
                .map_err(|e| Error::input(format!("constraint `{}`: {e}", c.name)))?;
            let dim = c.cone.dim();
            rows.push(ConstraintBlock {
                name: c.name,
                start,
                cone: c.cone,
                holds: c.holds,
                rows: c.rows,
            });
            start = start.saturating_add(dim);
        }
        let program = Program {
            p,
            q,
            a,
            b,
            constant: 0.0,
            variables: blocks,
            constraints: rows,
            frame: None,
        };
        program.validate(columns, start)?;
        Ok(program)
    }

    fn validate(&self, columns: usize, rows: usize) -> Result<()> {
        if columns == 0 {
            return Err(Error::input("the program has no variables"));
        }
        let dims = [
            ("q", self.q.len(), columns, "variables"),
            ("P, in rows,", self.p.rows(), columns, "variables"),
            ("P, in columns,", self.p.columns(), columns, "variables"),
            ("A, in columns,", self.a.columns(), columns, "variables"),
            ("b", self.b.len(), rows, "constraint rows"),
            ("A, in rows,", self.a.rows(), rows, "constraint rows"),
        ];
        for (what, found, right, of) in dims {
            if found != right {
                return Err(Error::input(format!(
                    "{what} has {found} entries, but there are {right} {of}"
                )));
            }
        }
        self.validate_names()?;
        self.validate_numbers()
    }

    fn validate_names(&self) -> Result<()> {
        let mut seen = HashMap::new();
        for v in &self.variables {
            check_name("variable", &v.name)?;
            if seen.insert(v.name.as_str(), ()).is_some() {
                return Err(Error::input(format!(
                    "two variables are named `{}`",
                    v.name
                )));
            }
        }
        seen.clear();
        for c in &self.constraints {
            check_name("constraint", &c.name)?;
            if seen.insert(c.name.as_str(), ()).is_some() {
                return Err(Error::input(format!(
                    "two constraints are named `{}`",
                    c.name
                )));
            }
            for row in &c.rows {
                readable("row", row)?;
            }
            if !c.rows.is_empty() && c.rows.len() != c.cone.dim() {
                return Err(Error::input(format!(
                    "constraint `{}` has {} rows, but {} row names",
                    c.name,
                    c.cone.dim(),
                    c.rows.len()
                )));
            }
            if c.holds == Holds::AtTheMean && matches!(c.cone, Cone::Zero(_)) {
                return Err(Error::input(format!(
                    "constraint `{}` is an equality and cannot hold at the mean only",
                    c.name
                )));
            }
        }
        Ok(())
    }

    /// Checks every number: the part of validation that data can fail.
    fn validate_numbers(&self) -> Result<()> {
        for (j, v) in self.q.iter().enumerate() {
            if !v.is_finite() {
                return Err(Error::input(format!(
                    "the cost of `{}` is {v}: it must be a finite number",
                    self.variable_name(j)
                )));
            }
        }
        for (i, v) in self.b.iter().enumerate() {
            if !v.is_finite() || v.abs() >= NO_BOUND {
                return Err(Error::input(format!(
                    "the right-hand side of `{}` is {}: it must be a finite number below 1e20 (leave the row out for no bound)",
                    self.row_name(i),
                    crate::digits::short(*v, 9)
                )));
            }
        }
        for (i, j, v) in self.a.entries() {
            if !v.is_finite() {
                return Err(Error::input(format!(
                    "the coefficient of `{}` in `{}` is {v}: it must be a finite number",
                    self.variable_name(j),
                    self.row_name(i)
                )));
            }
        }
        for (i, j, v) in self.p.entries() {
            let pair = || (self.variable_name(i), self.variable_name(j));
            if !v.is_finite() {
                let (x, y) = pair();
                return Err(Error::input(format!(
                    "P at (`{x}`, `{y}`) is {v}: it must be a finite number"
                )));
            }
            if i > j {
                let (x, y) = pair();
                return Err(Error::input(format!(
                    "P has an entry below the diagonal at (`{x}`, `{y}`): give the upper triangle only"
                )));
            }
        }
        if let Some(direction) = definite::indefinite_part(&self.p) {
            let names: Vec<String> = direction
                .iter()
                .take(4)
                .map(|&j| format!("`{}`", self.variable_name(j)))
                .collect();
            return Err(Error::input(format!(
                "P is not positive semidefinite: the objective is not convex in {}",
                names.join(", ")
            )));
        }
        Ok(())
    }

    /// Its blocks, to build a larger program from.
    pub fn blocks(&self) -> (Vec<NewVariables>, Vec<NewConstraint>) {
        let variables = self.variables.iter().map(|v| NewVariables {
            name: v.name.clone(),
            len: v.len,
            stage: v.stage,
        });
        let constraints = self.constraints.iter().map(|c| NewConstraint {
            name: c.name.clone(),
            cone: c.cone.clone(),
            holds: c.holds,
            rows: c.range().map(|i| self.row_name(i)).collect(),
        });
        (variables.collect(), constraints.collect())
    }

    /// The same with this constant in the objective.
    pub(crate) fn with_constant(mut self, constant: f64) -> Self {
        self.constant = constant;
        self
    }

    /// The same program with another b, of as many entries.
    pub(crate) fn with_right_hand_side(&self, b: Vec<f64>) -> Self {
        debug_assert_eq!(b.len(), self.b.len());
        Program { b, ..self.clone() }
    }

    /// The same program, to be solved in these coordinates: around a point that the solution is near, in units of its
    /// size. The solution does not depend on them but for rounding.
    pub fn in_frame(mut self, frame: Frame) -> Result<Self> {
        if frame.columns() != self.columns() {
            return Err(Error::input(format!(
                "the frame has {} coordinates, but the program has {} variables",
                frame.columns(),
                self.columns()
            )));
        }
        self.frame = Some(frame);
        Ok(self)
    }

    /// The same, with a frame that is known to fit.
    pub(crate) fn solved_in(mut self, frame: Option<Frame>) -> Self {
        self.frame = frame;
        self
    }

    /// The coordinates that it is solved in.
    pub fn frame(&self) -> Option<&Frame> {
        self.frame.as_ref()
    }

    /// The program without the blocks that hold at the mean only: no single draw has to meet those.
    pub(crate) fn held_with_noise(&self) -> Program {
        let mut place = vec![None; self.rows()];
        let (mut b, mut cones) = (Vec::new(), Vec::new());
        for block in self.constraints() {
            if block.holds() == Holds::AtTheMean {
                continue;
            }
            cones.push(block.cone().clone());
            for i in block.range() {
                place[i] = Some(b.len());
                b.push(self.b[i]);
            }
        }
        let entries = self.a.entries();
        let triplets: Vec<(usize, usize, f64)> = entries
            .filter_map(|(i, j, v)| Some((place[i]?, j, v)))
            .collect();
        let a = Sparse::assemble(b.len(), self.columns(), &triplets);
        Program::assembled(self.p.clone(), self.q.clone(), a, b, self.constant, cones)
    }

    /// A program whose parts are known to fit: what lifting produces.
    pub(crate) fn assembled(
        p: Sparse,
        q: Vec<f64>,
        a: Sparse,
        b: Vec<f64>,
        constant: f64,
        cones: Vec<Cone>,
    ) -> Self {
        let mut start = 0;
        let constraints = cones
            .into_iter()
            .enumerate()
            .map(|(index, cone)| {
                let block = ConstraintBlock {
                    name: format!("lifted {index}"),
                    start,
                    cone,
                    holds: Holds::AtTheMean,
                    rows: Vec::new(),
                };
                start += block.cone.dim();
                block
            })
            .collect();
        let variables = vec![VariableBlock {
            name: "lifted".into(),
            start: 0,
            len: q.len(),
            stage: Stage::HereAndNow,
        }];
        Program {
            p,
            q,
            a,
            b,
            constant,
            variables,
            constraints,
            frame: None,
        }
    }

    /// Number of variables.
    pub fn columns(&self) -> usize {
        self.q.len()
    }

    /// Number of constraint rows.
    pub fn rows(&self) -> usize {
        self.b.len()
    }

    /// The upper triangle of P.
    pub fn p(&self) -> &Sparse {
        &self.p
    }

    /// The linear cost.
    pub fn q(&self) -> &[f64] {
        &self.q
    }

    /// The constraint matrix.
    pub fn a(&self) -> &Sparse {
        &self.a
    }

    /// The right-hand side.
    pub fn b(&self) -> &[f64] {
        &self.b
    }

    /// The constant of the objective.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    /// The variable blocks, in column order.
    pub fn variables(&self) -> &[VariableBlock] {
        &self.variables
    }

    /// The constraint blocks, in row order.
    pub fn constraints(&self) -> &[ConstraintBlock] {
        &self.constraints
    }

    /// The names of the blocks that are declared decisions.
    pub fn decisions(&self) -> impl Iterator<Item = &str> {
        let declared = |v: &&VariableBlock| v.stage == Stage::Decision;
        self.variables.iter().filter(declared).map(|v| v.name())
    }

    /// The block that holds column `j`.
    pub fn variable_block(&self, j: usize) -> &VariableBlock {
        let index = self.variables.partition_point(|v| v.start + v.len <= j);
        &self.variables[index.min(self.variables.len() - 1)]
    }

    /// `name` for a block of one entry, `name[i]` otherwise.
    pub fn variable_name(&self, j: usize) -> String {
        let block = self.variable_block(j);
        if block.len == 1 {
            block.name.clone()
        } else {
            format!("{}[{}]", block.name, j - block.start)
        }
    }

    /// The row's own name, `name` for a block of one row, `name[i]` otherwise.
    pub fn row_name(&self, i: usize) -> String {
        let index = self
            .constraints
            .partition_point(|c| c.start + c.cone.dim() <= i);
        let block = &self.constraints[index.min(self.constraints.len() - 1)];
        let offset = i - block.start;
        if let Some(name) = block.rows.get(offset) {
            name.clone()
        } else if block.cone.dim() == 1 {
            block.name.clone()
        } else {
            format!("{}[{offset}]", block.name)
        }
    }

    /// The columns that `name` or `name[index]` stands for.
    pub fn find_variables(&self, reference: &str) -> Result<Range<usize>> {
        let (name, index) = match reference.split_once('[') {
            None => (reference, None),
            Some((name, rest)) => {
                let index = rest
                    .strip_suffix(']')
                    .and_then(|digits| digits.parse::<usize>().ok())
                    .ok_or_else(|| {
                        Error::input(format!(
                            "`{reference}` is not a variable: write `name` or `name[index]`"
                        ))
                    })?;
                (name, Some(index))
            }
        };
        let Some(block) = self.variables.iter().find(|v| v.name == name) else {
            let known: Vec<&str> = self.variables.iter().map(|v| v.name.as_str()).collect();
            return Err(Error::input(format!(
                "there is no variable `{name}`; there are: {}",
                list_some(&known)
            )));
        };
        match index {
            None => Ok(block.range()),
            Some(i) if i < block.len => Ok(block.start + i..block.start + i + 1),
            Some(i) => Err(Error::input(format!(
                "`{name}` has {}, counted from 0: there is no `{name}[{i}]`",
                match block.len {
                    1 => "1 entry".to_string(),
                    len => format!("{len} entries"),
                }
            ))),
        }
    }

    /// ½x'Px + q'x + constant.
    pub fn objective(&self, x: &[f64]) -> f64 {
        let px = self.p.symmetric_times(x);
        let quadratic: f64 = px.iter().zip(x).map(|(a, b)| a * b).sum();
        let linear: f64 = self.q.iter().zip(x).map(|(a, b)| a * b).sum();
        0.5 * quadratic + linear + self.constant
    }

    /// b − Ax.
    pub fn slack(&self, x: &[f64]) -> Vec<f64> {
        let ax = self.a.times(x);
        self.b.iter().zip(&ax).map(|(b, a)| b - a).collect()
    }

    /// The largest violation over all blocks at the slack `s`, and the block it stands in.
    pub fn worst_violation(&self, s: &[f64]) -> (f64, Option<usize>) {
        let mut worst = (0.0, None);
        for (index, block) in self.constraints.iter().enumerate() {
            let violation = block.cone.violation(&s[block.range()], Against::Primal);
            if violation > worst.0 {
                worst = (violation, Some(index));
            }
        }
        worst
    }

    /// Whether the pattern, cones, names and stages agree: what must not depend on the data.
    pub fn same_structure(&self, other: &Program) -> bool {
        self.variables == other.variables
            && self.constraints == other.constraints
            && self.a.colptr() == other.a.colptr()
            && self.a.rowval() == other.a.rowval()
            && self.p.colptr() == other.p.colptr()
            && self.p.rowval() == other.p.rowval()
    }
}

/// Clarabel reads larger numbers as "no bound".
pub(crate) const NO_BOUND: f64 = 1e20;

fn check_name(what: &str, name: &str) -> Result<()> {
    if name.is_empty() || name.contains(['[', ']']) {
        return Err(Error::input(format!(
            "{} cannot name a {what}: names are not empty and hold no brackets",
            quoted(name)
        )));
    }
    readable(what, name)
}

/// Refuses a text that would not show on a card as it is written; `what` it is.
pub(crate) fn readable(what: &str, text: &str) -> Result<()> {
    match fault_of_text(text) {
        None => Ok(()),
        Some(fault) => Err(Error::input(format!(
            "the {what} {} {fault}; {}",
            quoted(text),
            fault.help()
        ))),
    }
}

pub(crate) fn list_some(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    let mut text: Vec<String> = names.iter().take(SHOWN).map(|n| format!("`{n}`")).collect();
    if names.len() > SHOWN {
        text.push(format!("and {} more", names.len() - SHOWN));
    }
    text.join(", ")
}
