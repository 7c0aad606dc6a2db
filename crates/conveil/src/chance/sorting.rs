//! Which rows noise can reach, and which method serves them: the default table and the user's choices, on public
//! structure alone.

use super::{BlockChoice, BlockEta, Choice, Feasibility, Kind, NoisyRows, Scope, methods};
use crate::error::{Error, Result};
use crate::noise::{Factor, Law};
use crate::program::{Cone, Holds, Program};
use crate::rule::{RowRule, Rule};

/// Rows that wait for their share.
pub(super) struct Pending {
    pub(super) block: usize,
    pub(super) rows: Vec<usize>,
    pub(super) kind: &'static dyn Kind,
    pub(super) factor: Option<Factor>,
    pub(super) weight: f64,
    pub(super) etas: Option<Vec<f64>>,
}

impl Pending {
    fn is_served_by(&self, kind: &dyn Kind, factor: Option<Factor>) -> bool {
        self.kind.word() == kind.word() && self.factor == factor
    }
}

/// The rows of one block that no noise reaches, or that hold always or at the mean.
#[derive(Clone, Debug)]
pub(super) struct NoiseFree {
    pub(super) block: usize,
    pub(super) rows: Vec<usize>,
}

/// The rows of a program.
#[derive(Default)]
pub(super) struct Sorted {
    pub(super) pending: Vec<Pending>,
    pub(super) noise_free: Vec<NoiseFree>,
}

/// Splits the program's rows into those that noise can reach, with their method, and those that it does not.
pub(super) fn sort_rows(
    program: &Program,
    rule: &Rule,
    law: &Law,
    asked: &Feasibility,
) -> Result<Sorted> {
    for (index, choice) in asked.blocks.iter().enumerate() {
        check_choice(program, choice)?;
        if asked.blocks[..index]
            .iter()
            .any(|c| c.block == choice.block)
        {
            return Err(Error::input(format!(
                "the constraint `{}` is given two choices: state one",
                choice.block
            )));
        }
    }
    let reached = Reached::of(program, rule);
    let reaches = |i: usize| reached.is_reached(i);
    let is_fixed = |i: usize| reached.is_fixed(i);
    let mut sorted = Sorted::default();
    for (index, block) in program.constraints().iter().enumerate() {
        let rows: Vec<usize> = block.range().collect();
        let holds_anyway =
            block.holds() != Holds::WithNoise || matches!(block.cone(), Cone::Zero(_));
        if holds_anyway || !rows.iter().any(|&i| reaches(i)) {
            sorted.noise_free.push(NoiseFree { block: index, rows });
            continue;
        }
        let chosen = asked.blocks.iter().find(|c| c.block == block.name());
        let choice = chosen.and_then(|c| c.method).unwrap_or(asked.method);
        let weight = chosen.and_then(|c| c.weight).unwrap_or(1.0);
        let eta = chosen.and_then(|c| c.eta.as_ref());
        let etas = eta.map(|eta| eta.of_rows(rows.len()));
        let met = NoisyRows {
            law,
            noises: rule.noises(),
            is_linear: block.cone().is_linear(),
            is_fixed: false,
        };
        if !met.is_linear {
            let (kind, factor) = choose(choice, &met)?;
            if !kind.serves(block.cone()) {
                return Err(Error::refused(
                    format!(
                        "{} on the {} block `{}`",
                        kind.name(),
                        block.cone().kind(),
                        block.name()
                    ),
                    "that method serves linear rows only",
                    "mass-box, safe-box, sampled-box or scenario for this block",
                ));
            }
            if etas.is_some() {
                return Err(Error::input(format!(
                    "`{}` is a {} block: it has no η per row",
                    block.name(),
                    block.cone().kind()
                )));
            }
            sorted.pending.push(Pending {
                block: index,
                rows,
                kind,
                factor,
                weight,
                etas,
            });
            continue;
        }
        // Linear rows are sorted one by one: fixed and free noise may stand in one block.
        for (offset, i) in rows.into_iter().enumerate() {
            if !reaches(i) {
                match sorted.noise_free.last_mut() {
                    Some(last) if last.block == index => last.rows.push(i),
                    _ => sorted.noise_free.push(NoiseFree {
                        block: index,
                        rows: vec![i],
                    }),
                }
                continue;
            }
            let is_fixed = is_fixed(i);
            let (kind, factor) = choose(choice, &NoisyRows { is_fixed, ..met })?;
            let eta = etas.as_ref().map(|e| e[offset]);
            if eta.is_some() && kind.scope() != Scope::EachRow {
                return Err(Error::input(format!(
                    "`{}` is served by {}: it has no η per row",
                    block.name(),
                    kind.name()
                )));
            }
            match sorted.pending.last_mut() {
                Some(last) if last.block == index && last.is_served_by(kind, factor) => {
                    last.rows.push(i);
                    if let (Some(list), Some(eta)) = (&mut last.etas, eta) {
                        list.push(eta);
                    }
                }
                _ => sorted.pending.push(Pending {
                    block: index,
                    rows: vec![i],
                    kind,
                    factor,
                    weight,
                    etas: eta.map(|e| vec![e]),
                }),
            }
        }
    }
    Ok(sorted)
}

/// The noises that can reach each row, and whether its v = X'a is constant. By pattern: what the numbers happen to be
/// decides neither shares nor refusals.
pub(super) struct Reached {
    noises: usize,
    /// Whether a free row of X is in it: then all noises are.
    is_free: Vec<bool>,
    /// Of the other rows, by row.
    fixed: Vec<Vec<usize>>,
}

impl Reached {
    pub(super) fn of(program: &Program, rule: &Rule) -> Self {
        let a = program.a();
        let mut is_free = vec![false; program.rows()];
        let of_column = |j: usize| a.column(j).map(|e| e.0);
        for j in (0..program.columns()).filter(|&j| matches!(rule.row(j), RowRule::Free(_))) {
            of_column(j).for_each(|i| is_free[i] = true);
        }
        let mut fixed = vec![Vec::new(); program.rows()];
        for j in 0..program.columns() {
            if let RowRule::Fixed(entries) = rule.row(j) {
                for i in of_column(j).filter(|&i| !is_free[i]) {
                    fixed[i].extend(entries.iter().map(|e| e.0));
                }
            }
        }
        for noises in &mut fixed {
            noises.sort_unstable();
            noises.dedup();
        }
        Reached {
            noises: rule.noises(),
            is_free,
            fixed,
        }
    }

    fn is_reached(&self, i: usize) -> bool {
        match self.is_fixed(i) {
            true => !self.fixed[i].is_empty(),
            false => self.noises > 0,
        }
    }

    /// Whether v is constant.
    pub(super) fn is_fixed(&self, i: usize) -> bool {
        !self.is_free[i]
    }

    /// The noises.
    pub(super) fn noises(&self, i: usize) -> Vec<usize> {
        match self.is_fixed(i) {
            true => self.fixed[i].clone(),
            false => (0..self.noises).collect(),
        }
    }
}

/// What is stated, or what the default table has (see the module's documentation), and the factor where it takes one.
fn choose(choice: Choice, rows: &NoisyRows<'_>) -> Result<(&'static dyn Kind, Option<Factor>)> {
    let by_default = || methods().iter().copied().find(|k| k.is_default(rows));
    let Some(kind) = choice.kind.or_else(by_default) else {
        return Err(Error::input(
            "no chance method is the default for these rows",
        ));
    };
    Ok((kind, choice.factor.filter(|_| kind.takes_factor())))
}

fn check_choice(program: &Program, choice: &BlockChoice) -> Result<()> {
    let Some(block) = program
        .constraints()
        .iter()
        .find(|b| b.name() == choice.block)
    else {
        let known: Vec<&str> = program.constraints().iter().map(|b| b.name()).collect();
        return Err(Error::input(format!(
            "there is no constraint `{}`; there are: {}",
            choice.block,
            crate::program::list_some(&known)
        )));
    };
    if let Some(weight) = choice.weight
        && !(weight.is_finite() && weight > 0.0)
    {
        return Err(Error::input(format!(
            "the weight of `{}` must be positive, found {weight}",
            choice.block
        )));
    }
    if let Some(BlockEta::Rows(etas)) = &choice.eta
        && etas.len() != block.cone().dim()
    {
        return Err(Error::input(format!(
            "`{}` has {} rows, but {} values of η are given",
            choice.block,
            block.cone().dim(),
            etas.len()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_table_uses_a_stated_factor_row_by_row_only() -> Result<()> {
        let law = Law::laplace(1.0)?;
        let chosen = |noises, is_linear, is_fixed| -> Result<Choice> {
            let rows = NoisyRows {
                law: &law,
                noises,
                is_linear,
                is_fixed,
            };
            let (kind, factor) = choose(Choice::AUTO.with(Factor::Cantelli), &rows)?;
            let chosen = Choice::by(kind);
            Ok(factor.map_or(chosen, |factor| chosen.with(factor)))
        };
        let stated = Choice::ROW_BY_ROW.with(Factor::Cantelli);
        assert_eq!(chosen(2, true, false)?, stated);
        assert_eq!(chosen(2, true, true)?, Choice::FIXED_RECOURSE);
        assert_eq!(chosen(2, false, false)?, Choice::MASS_BOX);
        assert_eq!(chosen(1, true, false)?, Choice::MASS_BOX);
        Ok(())
    }
}
