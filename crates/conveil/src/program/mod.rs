//! The program min ½x'Px + q'x s.t. b − Ax ∈ K (M1), with named blocks and their stages (M2).

mod ball;
mod blocks;
mod builder;
mod coefficients;
mod cone;
mod cost_rows;
mod data;
mod definite;
mod expression;
mod frame;
mod limits;
mod meaning;
mod objective;
mod parameter;
mod parameters;
mod saved;
mod sparse;
mod validate;

pub use ball::RecordBall;
pub use blocks::{ConstraintBlock, Holds, NewConstraint, NewVariables, Stage, VariableBlock};
pub use builder::Builder;
pub use coefficients::PrivateCoefficients;
pub(crate) use cone::norm;
pub use cone::{Against, Cone};
pub use cost_rows::CostRows;
pub(crate) use data::clip_entries;
pub use data::{AffineMap, DataMap, GeneralMap, PrivateParts};
pub(crate) use definite::smallest_eigenvalue_is_nonnegative;
pub use expression::{Affine, ParameterHandle, VariableHandle};
pub use frame::Frame;
pub(crate) use frame::power_of_two;
pub use meaning::{
    Decision, HeldTo, Meaning, Part, Quantity, Reading, Setting, Subject, Sum, Term,
};
pub use objective::{Objective, Sense};
pub use parameter::{Location, Parameter, Place};
pub use parameters::Parameters;
pub use saved::SavedConstraint;
pub use sparse::{Rows, Sparse};

use crate::error::{Error, Result};
use conveil_text::naming::fault_of_text;
use conveil_text::spelling::quoted;
use std::ops::Range;

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
                entries: v.entries,
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

    /// Its blocks, to build a larger program from.
    pub fn blocks(&self) -> (Vec<NewVariables>, Vec<NewConstraint>) {
        let variables = self.variables.iter().map(|v| NewVariables {
            name: v.name.clone(),
            len: v.len,
            stage: v.stage,
            entries: v.entries.clone(),
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

    /// The same program with another q, of as many entries.
    pub(crate) fn with_linear_cost(&self, q: Vec<f64>) -> Self {
        debug_assert_eq!(q.len(), self.q.len());
        Program { q, ..self.clone() }
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
            entries: Vec::new(),
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

    /// The entry's own name, `name` for a block of one entry, `name[i]` otherwise.
    pub fn variable_name(&self, j: usize) -> String {
        let block = self.variable_block(j);
        let offset = j - block.start;
        if let Some(name) = block.entries.get(offset) {
            name.clone()
        } else if block.len == 1 {
            block.name.clone()
        } else {
            format!("{}[{offset}]", block.name)
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

    /// The columns that `name`, `name[index]` or an entry's own name stands for.
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
            if let (None, Some(j)) = (index, self.entry_column(name)) {
                return Ok(j..j + 1);
            }
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

    /// The column whose own name this is.
    fn entry_column(&self, name: &str) -> Option<usize> {
        self.variables.iter().find_map(|block| {
            let offset = block.entries.iter().position(|entry| entry == name)?;
            Some(block.start + offset)
        })
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
