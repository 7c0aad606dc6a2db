//! Queries (M1, M2): linear maps Q on the decision, by name.

use super::phantom::Suspicion;
use crate::error::{Error, Result};
use crate::program::{DataMap, Part, Program, Stage, Sum};

/// What is released.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// Every variable but the witnesses.
    Identity,
    /// Every entry of these variables (`name` or `name[i]`).
    Variables(Vec<String>),
    /// The linear cost q'x.
    Cost,
    /// The sum over these variables; over all but the witnesses when empty.
    Sum(Vec<String>),
    /// A weighted sum.
    Weighted(Vec<(String, f64)>),
    /// Several weighted sums.
    Rows(Vec<Vec<(String, f64)>>),
    /// Several weighted sums, each with a name of its own.
    Named(Vec<(String, Vec<(String, f64)>)>),
    /// A convex cost through its epigraph, released as "at most": a public slope makes the decision carry the noise too.
    AtMost {
        /// The epigraph variable.
        epigraph: String,
        /// The public slope c̃.
        slope: Vec<(String, f64)>,
    },
}

/// A query as rows over columns.
#[derive(Clone, Debug)]
pub struct ResolvedQuery {
    pub(crate) rows: Vec<Vec<(usize, f64)>>,
    pub(crate) labels: Vec<String>,
    /// The second row of an at-most query.
    pub(crate) slope: Option<Vec<(usize, f64)>>,
    /// The query is the cost row itself, up to a factor, and P = 0: a value, single-valued whatever the argmin.
    pub(crate) value_factor: Option<f64>,
}

impl ResolvedQuery {
    /// The rows of Q.
    pub fn rows(&self) -> &[Vec<(usize, f64)>] {
        &self.rows
    }

    /// What each released number is called.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// The released numbers, as sums of the program's variables.
    pub fn sums(&self, program: &Program) -> Vec<Sum> {
        let part = |&(j, coefficient): &(usize, f64)| Part {
            weight: program.variable_name(j),
            coefficient,
        };
        let named = self.labels.iter().zip(&self.rows);
        named
            .map(|(name, row)| Sum {
                name: name.clone(),
                parts: row.iter().map(part).collect(),
            })
            .collect()
    }

    /// The column and the weight of each released number, where together they are the whole decision: each of the n
    /// variables, once, by itself.
    pub(crate) fn whole_decision(&self, n: usize) -> Option<Vec<(usize, f64)>> {
        let mut is_named = vec![false; n];
        let mut places = Vec::with_capacity(n);
        for row in &self.rows {
            let [(j, weight)] = row[..] else { return None };
            let usual = weight.is_normal() && weight.recip().is_normal();
            if j >= n || !usual || std::mem::replace(&mut is_named[j], true) {
                return None;
            }
            places.push((j, weight));
        }
        (places.len() == n).then_some(places)
    }

    /// Qx.
    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        self.rows
            .iter()
            .map(|row| row.iter().map(|&(j, w)| w * x[j]).sum())
            .collect()
    }
}

impl Query {
    /// Reads the query against the model's public structure; refuses what M2 refuses.
    pub fn resolve(&self, map: &dyn DataMap) -> Result<ResolvedQuery> {
        let program = map.template();
        let moving = || {
            (0..program.columns())
                .filter(|&j| program.variable_block(j).stage() != Stage::Witness)
                .collect::<Vec<usize>>()
        };
        let single = |columns: Vec<usize>| {
            let labels = columns.iter().map(|&j| program.variable_name(j)).collect();
            let rows = columns.into_iter().map(|j| vec![(j, 1.0)]).collect();
            (rows, labels)
        };
        let mut slope_row = None;
        let (rows, labels): (Vec<Vec<(usize, f64)>>, Vec<String>) = match self {
            Query::Identity => single(moving()),
            Query::Variables(names) => {
                let mut columns = Vec::new();
                for name in names {
                    columns.extend(program.find_variables(name)?);
                }
                single(columns)
            }
            Query::Cost => (vec![cost_row(map)?], vec!["cost".into()]),
            Query::Sum(names) => {
                let weights: Vec<(String, f64)> = names.iter().map(|n| (n.clone(), 1.0)).collect();
                let row = if names.is_empty() {
                    moving().into_iter().map(|j| (j, 1.0)).collect()
                } else {
                    weighted(program, &weights)?
                };
                let label = if names.is_empty() {
                    "sum of all variables".into()
                } else {
                    format!("sum of {}", names.join(", "))
                };
                (vec![row], vec![label])
            }
            Query::Weighted(weights) => (
                vec![weighted(program, weights)?],
                vec!["weighted sum".into()],
            ),
            Query::Rows(rows) => {
                let resolved: Result<Vec<_>> = rows.iter().map(|r| weighted(program, r)).collect();
                let labels = (0..rows.len()).map(|i| format!("row {i}")).collect();
                (resolved?, labels)
            }
            Query::Named(rows) => {
                let resolved: Result<Vec<_>> =
                    rows.iter().map(|(_, r)| weighted(program, r)).collect();
                (resolved?, rows.iter().map(|r| r.0.clone()).collect())
            }
            Query::AtMost { epigraph, slope } => {
                let columns = program.find_variables(epigraph)?;
                if columns.len() != 1 {
                    return Err(Error::input(format!(
                        "an at-most query takes one epigraph variable, but `{epigraph}` has {} entries",
                        columns.len()
                    )));
                }
                let row = weighted(program, slope)?;
                if row.iter().all(|t| t.0 == columns.start) {
                    return Err(Error::refused(
                        format!("an at-most query on `{epigraph}`"),
                        "its slope names no other variable, so the decision would carry none of the noise",
                        "state a public slope over the decision variables: the linear part of the cost, or its marginal cost at a public point",
                    ));
                }
                slope_row = Some(row);
                (
                    vec![vec![(columns.start, 1.0)]],
                    vec![format!("{epigraph} (the cost is at most this)")],
                )
            }
        };
        let query = ResolvedQuery {
            value_factor: value_factor(map, &rows),
            rows,
            labels,
            slope: slope_row,
        };
        query.validate(map)?;
        Ok(query)
    }
}

/// Whether a query may name this variable (`name` or `name[i]`) at all: it exists and is not a witness.
pub fn may_be_queried(program: &Program, reference: &str) -> Result<()> {
    program
        .find_variables(reference)?
        .try_for_each(|j| refuse_witness(program, j))
}

fn refuse_witness(program: &Program, j: usize) -> Result<()> {
    if program.variable_block(j).stage() == Stage::Witness {
        return Err(Error::refused(
            format!("a query on `{}`", program.variable_name(j)),
            "it is a witness: only the existence of a value is claimed, so no value of it can be released",
            "make it recourse if it has a meaning of its own, or leave it out of the query",
        ));
    }
    Ok(())
}

impl ResolvedQuery {
    pub(crate) fn validate(&self, map: &dyn DataMap) -> Result<()> {
        let program = map.template();
        if self.rows.is_empty() || self.rows.iter().any(|r| r.is_empty()) {
            return Err(Error::input(
                "the query releases nothing: it has no entries",
            ));
        }
        for &(j, w) in self.rows.iter().chain(&self.slope).flatten() {
            if !w.is_finite() {
                return Err(Error::input(format!(
                    "the query's weight of `{}` is {w}: it must be a finite number",
                    program.variable_name(j)
                )));
            }
            refuse_witness(program, j)?;
        }
        Suspicion::new(map, &self.rows, self.slope.as_deref()).refuse()
    }
}

fn cost_row(map: &dyn DataMap) -> Result<Vec<(usize, f64)>> {
    let program = map.template();
    if map.private_parts().q {
        return Err(Error::refused(
            "a query of the cost",
            "the cost coefficients are private, so the query itself would depend on the data",
            "query public combinations of the variables",
        ));
    }
    if program.p().nnz() > 0 {
        return Err(Error::refused(
            "a query of the cost",
            "the cost is quadratic, and a query is linear",
            "write the cost through an epigraph variable and release it as `at-most` with a public slope",
        ));
    }
    let row: Vec<(usize, f64)> = nonzero(program.q());
    if row.is_empty() {
        return Err(Error::input("there is no cost to query: q is zero"));
    }
    Ok(row)
}

fn nonzero(q: &[f64]) -> Vec<(usize, f64)> {
    q.iter()
        .copied()
        .enumerate()
        .filter(|(_, v)| *v != 0.0)
        .collect()
}

fn weighted(program: &Program, weights: &[(String, f64)]) -> Result<Vec<(usize, f64)>> {
    let mut row = std::collections::BTreeMap::new();
    for (name, weight) in weights {
        for j in program.find_variables(name)? {
            *row.entry(j).or_insert(0.0) += weight;
        }
    }
    Ok(row.into_iter().filter(|(_, w)| *w != 0.0).collect())
}

/// The factor f with query = f·q, where the query is one row, P = 0 and q is public.
fn value_factor(map: &dyn DataMap, rows: &[Vec<(usize, f64)>]) -> Option<f64> {
    let program = map.template();
    let [row] = rows else { return None };
    if program.p().nnz() > 0 || map.private_parts().q || map.private_parts().p {
        return None;
    }
    let cost = nonzero(program.q());
    if cost.len() != row.len() || cost.is_empty() {
        return None;
    }
    let factor = row[0].1 / cost[0].1;
    let proportional = cost
        .iter()
        .zip(row)
        .all(|(c, r)| c.0 == r.0 && (r.1 - factor * c.1).abs() <= 1e-12 * r.1.abs());
    (proportional && factor > 0.0).then_some(factor)
}
