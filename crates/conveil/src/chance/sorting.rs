//! Which rows noise can reach, and which method serves them: the default table and the user's choices, on public
//! structure alone.

use super::{BlockChoice, Choice, Feasibility};
use crate::error::{Error, Result};
use crate::noise::{Factor, Law};
use crate::program::{Cone, Holds, Program};
use crate::rule::{RowRule, Rule};

/// Rows that wait for their share.
pub(super) struct Pending {
    pub(super) block: usize,
    pub(super) rows: Vec<usize>,
    pub(super) choice: Choice,
    pub(super) weight: f64,
    pub(super) etas: Option<Vec<f64>>,
}

/// Rows with their method, and silent ones by block.
pub(super) type Sorted = (Vec<Pending>, Vec<(usize, Vec<usize>)>);

/// Splits the program's rows into those that noise can reach, with their method, and silent ones.
pub(super) fn sort_rows(
    program: &Program,
    rule: &Rule,
    law: &Law,
    wish: &Feasibility,
) -> Result<Sorted> {
    for (index, choice) in wish.blocks.iter().enumerate() {
        check_choice(program, choice)?;
        if wish.blocks[..index].iter().any(|c| c.block == choice.block) {
            return Err(Error::input(format!(
                "the constraint `{}` is given two choices: state one",
                choice.block
            )));
        }
    }
    let by_rows = program.a().by_rows();
    let reaches = |i: usize| !reach(by_rows.row(i), rule).0.is_empty();
    let is_fixed = |i: usize| reach(by_rows.row(i), rule).1;
    let mut pending = Vec::new();
    let mut silent = Vec::new();
    for (index, block) in program.constraints().iter().enumerate() {
        let rows: Vec<usize> = block.range().collect();
        let holds_anyway =
            block.holds() != Holds::WithNoise || matches!(block.cone(), Cone::Zero(_));
        if holds_anyway || !rows.iter().any(|&i| reaches(i)) {
            silent.push((index, rows));
            continue;
        }
        let own = wish.blocks.iter().find(|c| c.block == block.name());
        let choice = own.and_then(|c| c.method).unwrap_or(wish.method);
        let weight = own.and_then(|c| c.weight).unwrap_or(1.0);
        let etas = own
            .and_then(|c| c.etas.as_ref())
            .map(|etas| match etas.as_slice() {
                [one] => vec![*one; rows.len()],
                _ => etas.clone(),
            });
        if !block.cone().is_linear() {
            let choice = choose(choice, law, rule.noises(), false, false);
            if matches!(
                choice,
                Choice::RowByRow(_)
                    | Choice::NoiseAwareHinge
                    | Choice::FixedRecourse
                    | Choice::Ball
            ) {
                return Err(Error::refused(
                    format!(
                        "{} on the {} block `{}`",
                        choice.name(),
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
            pending.push(Pending {
                block: index,
                rows,
                choice,
                weight,
                etas,
            });
            continue;
        }
        // Linear rows are sorted one by one: fixed and free noise may stand in one block.
        for (offset, i) in rows.into_iter().enumerate() {
            if !reaches(i) {
                push_row(&mut silent, index, i);
                continue;
            }
            let row_choice = choose(choice, law, rule.noises(), true, is_fixed(i));
            let eta = etas.as_ref().map(|e| e[offset]);
            if eta.is_some()
                && !matches!(
                    row_choice,
                    Choice::RowByRow(_) | Choice::NoiseAwareHinge | Choice::FixedRecourse
                )
            {
                return Err(Error::input(format!(
                    "`{}` is served by {}: it has no η per row",
                    block.name(),
                    row_choice.name()
                )));
            }
            match pending.last_mut() {
                Some(last) if last.block == index && last.choice == row_choice => {
                    last.rows.push(i);
                    if let (Some(list), Some(eta)) = (&mut last.etas, eta) {
                        list.push(eta);
                    }
                }
                _ => pending.push(Pending {
                    block: index,
                    rows: vec![i],
                    choice: row_choice,
                    weight,
                    etas: eta.map(|e| vec![e]),
                }),
            }
        }
    }
    Ok((pending, silent))
}

/// The noises that can reach a row, and whether its v = X'a is constant. By pattern: what the numbers happen to be
/// decides neither shares nor refusals.
pub(super) fn reach(terms: &[(usize, f64)], rule: &Rule) -> (Vec<usize>, bool) {
    let mut noises = Vec::new();
    for &(j, _) in terms {
        match rule.row(j) {
            RowRule::Free(_) => return ((0..rule.noises()).collect(), false),
            RowRule::Fixed(entries) => noises.extend(entries.iter().map(|e| e.0)),
        }
    }
    noises.sort_unstable();
    noises.dedup();
    (noises, true)
}

fn push_row(silent: &mut Vec<(usize, Vec<usize>)>, block: usize, row: usize) {
    match silent.last_mut() {
        Some((last, rows)) if *last == block => rows.push(row),
        _ => silent.push((block, vec![row])),
    }
}

/// The default table (see the module's documentation).
fn choose(choice: Choice, law: &Law, noises: usize, linear: bool, fixed: bool) -> Choice {
    let factor: Option<Factor> = match choice {
        Choice::Auto => None,
        Choice::AutoWith(factor) => Some(factor),
        stated => return stated,
    };
    if law.support_bound().is_some() {
        Choice::Bounded
    } else if noises == 1 || !linear {
        Choice::MassBox
    } else if fixed {
        Choice::FixedRecourse
    } else {
        Choice::RowByRow(factor)
    }
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
    if let Some(etas) = &choice.etas
        && etas.len() != 1
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
        let (laplace, auto) = (Law::laplace(1.0)?, Choice::AutoWith(Factor::Cantelli));
        let choose = |noises, linear, fixed| choose(auto, &laplace, noises, linear, fixed);
        let stated = Choice::RowByRow(Some(Factor::Cantelli));
        assert_eq!(choose(2, true, false), stated);
        assert_eq!(choose(2, true, true), Choice::FixedRecourse);
        assert_eq!(choose(2, false, false), Choice::MassBox);
        assert_eq!(choose(1, true, false), Choice::MassBox);
        Ok(())
    }
}
