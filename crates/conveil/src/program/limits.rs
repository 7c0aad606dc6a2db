//! Public limits on a block of variables, as rows of the program: what certificates know of its variables then rests on no
//! word of the user's.

use super::{Cone, Holds, NewConstraint, Program, Sparse, Stage};
use crate::error::{Error, Result};

impl Program {
    /// The same program with low ≤ x ≤ high for every entry of a block of variables, enforced: with noise where they are
    /// decisions, and at the mean where they only help to write the model down. The rows stand behind all others.
    pub fn within(self, block: &str, low: f64, high: f64) -> Result<Self> {
        if !(low.is_finite() && high.is_finite() && low < high) {
            return Err(Error::input(format!(
                "the bounds of `{block}` must be two finite numbers, the lower one first, found [{low}, {high}]"
            )));
        }
        let found = self.variables().iter().find(|b| b.name() == block);
        let Some((columns, stage)) = found.map(|b| (b.range(), b.stage())) else {
            return Err(Error::input(format!(
                "no block of variables is called `{block}`"
            )));
        };
        let first = self.rows();
        let mut entries: Vec<(usize, usize, f64)> = self.a().entries().collect();
        let (mut b, mut rows) = (self.b().to_vec(), Vec::new());
        for j in columns {
            for (end, sign, what) in [(high, 1.0, "upper"), (low, -1.0, "lower")] {
                entries.push((b.len(), j, sign));
                b.push(sign * end);
                rows.push(format!("{} {what} bound", self.variable_name(j)));
            }
        }
        let (variables, mut constraints) = self.blocks();
        constraints.push(NewConstraint {
            name: format!("bounds of {block}"),
            cone: Cone::Nonnegative(b.len() - first),
            holds: match stage {
                Stage::Decision => Holds::WithNoise,
                _ => Holds::AtTheMean,
            },
            rows,
        });
        let program = Program::new(
            self.p().clone(),
            self.q().to_vec(),
            Sparse::assemble(b.len(), self.columns(), &entries),
            b,
            variables,
            constraints,
        )?;
        Ok(program.with_constant(self.constant()))
    }
}
