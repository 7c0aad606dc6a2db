//! Queries (M1, M2): linear maps Q on the decision, by name.

use super::{Strategy, value};
use crate::digits::short;
use crate::error::{Error, Result};
use crate::program::{Cone, DataMap, Part, Program, Stage, Sum};
use crate::rule::slack_absorption;
use std::collections::BTreeMap;

/// What is released.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// Every variable but the witnesses and the epigraphs.
    Identity,
    /// Every entry of these variables (`name`, `name[i]` or an entry's own name).
    Variables(Vec<String>),
    /// The linear cost q'x.
    Cost,
    /// The optimal value: the whole objective ½x'Px + q'x with its constant, curved or with private costs. Where it is a
    /// public linear cost it is that query; else no decision can carry noise in it, and the noise is on the answer.
    Value,
    /// The sum over these variables; over all but the witnesses and the epigraphs when empty.
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
///
/// # Guarantee
/// Where decisions carry the noise (strategy = program), every variable in a row and in the slope of an at-most query is
/// declared a decision or decided before the noise, and what an at-most query releases is declared an epigraph (M2). So no
/// slack, witness or epigraph takes the noise of a query, unless it was declared to be what it is not. Test:
/// `a_phantom_under_its_own_name_carries_no_noise_of_a_query`.
#[derive(Clone, Debug)]
pub struct ResolvedQuery {
    pub(crate) rows: Vec<Vec<(usize, f64)>>,
    pub(crate) labels: Vec<String>,
    /// The second row of an at-most query.
    pub(crate) slope: Option<Vec<(usize, f64)>>,
    /// What is released is this factor times the optimal value: a cost row with P = 0, or the objective itself.
    /// Single-valued whatever the argmin.
    pub(crate) value_factor: Option<f64>,
    /// The answer is the objective of the solved program, which is no sum of its variables: its one row is empty.
    pub(crate) is_objective: bool,
}

impl ResolvedQuery {
    /// The rows of Q.
    pub fn rows(&self) -> &[Vec<(usize, f64)>] {
        &self.rows
    }

    /// The factor f where what is released is f times the optimal value, whatever the argmin. Below 0 for a number that is
    /// maximised: the program minimises its negative.
    pub fn value_factor(&self) -> Option<f64> {
        self.value_factor
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

    /// What a careful reader should look at: declared decisions in the query that look like an epigraph or a slack. The
    /// work grows with the non-zeros of the program.
    pub fn slack_absorption(&self, map: &dyn DataMap) -> Vec<String> {
        match &self.slope {
            // The slope is what makes the decision carry the noise.
            Some(slope) => slack_absorption(map, std::slice::from_ref(slope)),
            None => slack_absorption(map, &self.rows),
        }
    }

    /// Whether the answer is the objective of the solved program itself, and no sum of its variables.
    pub fn is_objective(&self) -> bool {
        self.is_objective
    }

    /// The answer at a point of this program: Qx, or its objective.
    pub fn answer(&self, program: &Program, x: &[f64]) -> Vec<f64> {
        match self.is_objective {
            true => vec![program.objective(x)],
            false => self.apply(x),
        }
    }

    /// Qx. NaN where the answer is no sum of variables: such a query has [`ResolvedQuery::answer`] alone.
    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        if self.is_objective {
            return vec![f64::NAN];
        }
        self.rows
            .iter()
            .map(|row| row.iter().map(|&(j, w)| w * x[j]).sum())
            .collect()
    }
}

impl Query {
    /// Reads the query against the model's public structure; refuses what M2 refuses. Noise on the answer is carried by
    /// no decision: there every variable may be released.
    pub fn resolve(&self, map: &dyn DataMap, strategy: Strategy) -> Result<ResolvedQuery> {
        let program = map.template();
        let moving = || {
            let blocks = program.variables().iter();
            blocks
                .filter(|v| !matches!(v.stage(), Stage::Witness | Stage::Epigraph))
                .flat_map(|v| v.range())
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
            Query::Value => {
                if let Some(why) = value::beyond_a_cost(map)? {
                    return value::of_the_objective(strategy, why);
                }
                (vec![cost_row(map)?], vec![value::LABEL.into()])
            }
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
                    let names: Result<Vec<String>> =
                        names.iter().map(|name| called(program, name)).collect();
                    format!("sum of {}", names?.join(", "))
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
                let epigraph = program.variable_name(columns.start);
                (
                    vec![vec![(columns.start, 1.0)]],
                    vec![match strategy {
                        Strategy::Program => format!("{epigraph} (the cost is at most this)"),
                        // Noise on the answer falls below the cost as often as above it.
                        _ => format!("{epigraph} (the cost, with noise)"),
                    }],
                )
            }
        };
        checked(map, strategy, rows, labels, slope_row)
    }
}

/// The query with these rows, refused where M2 refuses it.
fn checked(
    map: &dyn DataMap,
    strategy: Strategy,
    rows: Vec<Vec<(usize, f64)>>,
    labels: Vec<String>,
    slope: Option<Vec<(usize, f64)>>,
) -> Result<ResolvedQuery> {
    let query = ResolvedQuery {
        value_factor: value_factor(map, &rows),
        rows,
        labels,
        slope,
        is_objective: false,
    };
    query.validate(map, strategy)?;
    Ok(query)
}

/// Whether a query may name this variable (`name` or `name[i]`) at all: it exists, and its stage lets it stand in a row.
pub fn may_be_queried(program: &Program, reference: &str, strategy: Strategy) -> Result<()> {
    let columns = program.find_variables(reference)?;
    match strategy {
        Strategy::Program => stands_in_a_row(program, columns.start, "a query on"),
        _ => Ok(()),
    }
}

/// M2: only declared decisions carry the noise of a query; what is decided before the noise may stand beside them.
fn stands_in_a_row(program: &Program, j: usize, what: &str) -> Result<()> {
    let name = program.variable_name(j);
    let block = program.variable_block(j).name();
    let or_declare = format!(
        "or, if `{block}` is a real quantity that somebody carries out, declare it a decision (`stage = \"decision\"` in a spec, `Builder::variable` in Rust)"
    );
    let (why, instead) = match program.variable_block(j).stage() {
        Stage::Decision | Stage::HereAndNow => return Ok(()),
        Stage::Witness => (
            "it is declared a witness: only the existence of a value is claimed, so no value of it can be released or carry noise",
            "leave it out of the query",
        ),
        Stage::Epigraph => (
            "it is declared an epigraph, which would take up the noise while the decision stays where it is",
            "release it as `at-most` with a public slope, or query the cost as a row over the decisions",
        ),
    };
    Err(Error::refused(
        format!("{what} `{name}`"),
        why,
        format!("{instead}; {or_declare}"),
    ))
}

/// What an at-most query releases is an epigraph, and says so.
fn is_an_epigraph(program: &Program, j: usize) -> Result<()> {
    let block = program.variable_block(j);
    let stage = block.stage();
    if stage == Stage::Epigraph {
        return Ok(());
    }
    let instead = match stage {
        Stage::Decision => "query it as a variable if it is a decision",
        _ => "query the cost as a row over the decisions",
    };
    let name = block.name();
    Err(Error::refused(
        format!("an at-most query on `{}`", program.variable_name(j)),
        format!(
            "`{name}` is declared `{}`, and an at-most query releases an epigraph",
            stage.word()
        ),
        format!(
            "declare `{name}` an epigraph (`stage = \"epigraph\"` in a spec, `Builder::epigraph` in Rust) if it bounds the cost from above; {instead}"
        ),
    ))
}

impl ResolvedQuery {
    pub(crate) fn validate(&self, map: &dyn DataMap, strategy: Strategy) -> Result<()> {
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
        }
        match strategy {
            Strategy::Program => self.refuse_roles(map),
            // Nothing has to carry the noise.
            _ => Ok(()),
        }
    }

    /// Refuses a query that something else than a declared decision would carry.
    fn refuse_roles(&self, map: &dyn DataMap) -> Result<()> {
        let program = map.template();
        let stands = |row: &[(usize, f64)], what: &str| {
            row.iter()
                .try_for_each(|&(j, _)| stands_in_a_row(program, j, what))
        };
        let Some(slope) = &self.slope else {
            return self.rows.iter().try_for_each(|r| stands(r, "a query on"));
        };
        let mut epigraph = self.rows.iter().flatten();
        epigraph.try_for_each(|&(j, _)| is_an_epigraph(program, j))?;
        stands(slope, "an at-most query whose slope names")?;
        match self.rows.first().and_then(|row| row.first()) {
            Some(&(t, _)) => refuse_steep(map, t, slope),
            None => Ok(()),
        }
    }
}

/// M2: a slope steeper than the cost itself lets the decision stay where it is while the epigraph takes up the noise.
/// Where only linear rows bound the epigraph t from below, the cost is max over rows of c'x + d, and no marginal cost lies
/// outside what these rows have. (Not looked at: a curved cost, whose marginal cost depends on the point, and one that
/// goes through further epigraphs or witnesses.)
fn refuse_steep(map: &dyn DataMap, t: usize, slope: &[(usize, f64)]) -> Result<()> {
    let program = map.template();
    let private = map.private_coefficients();
    let by_rows = program.a().by_rows();
    // By variable, the smallest and largest marginal cost, 0 among them: a smaller slope only moves the decision more.
    let mut range: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for block in program.constraints() {
        for i in block.range() {
            let row = by_rows.row(i);
            let Some(&(_, weight)) = row.iter().find(|e| e.0 == t) else {
                continue;
            };
            let is_open = |e: &(usize, f64)| {
                let stage = program.variable_block(e.0).stage();
                e.0 != t && !matches!(stage, Stage::Decision | Stage::HereAndNow)
                    || private.contains(i, e.0)
            };
            if !matches!(block.cone(), Cone::Nonnegative(_)) || row.iter().any(is_open) {
                return Ok(());
            }
            // a'x − t·|own| ≤ b bounds t from below; the other way round it is a cap.
            for &(j, a) in row.iter().filter(|e| e.0 != t && weight < 0.0) {
                let (low, high) = range.entry(j).or_default();
                (*low, *high) = (low.min(a / -weight), high.max(a / -weight));
            }
        }
    }
    for &(j, stated) in slope {
        let Some(&(low, high)) = range.get(&j) else {
            continue;
        };
        let room = 1e-6 * low.abs().max(high.abs());
        if stated < low - room || stated > high + room {
            let (t, name) = (program.variable_name(t), program.variable_name(j));
            return Err(Error::refused(
                format!(
                    "an at-most query whose slope has {} for `{name}`",
                    short(stated, 9)
                ),
                format!(
                    "in the rows that bound `{t}` from below, `{name}` costs {} to {}: with a steeper slope the decision would stay where it is while `{t}` takes up the noise",
                    short(low, 9),
                    short(high, 9)
                ),
                "a slope that is a marginal cost of these rows",
            ));
        }
    }
    Ok(())
}

fn cost_row(map: &dyn DataMap) -> Result<Vec<(usize, f64)>> {
    let program = map.template();
    if map.private_parts().q {
        return Err(Error::refused(
            "a query of the cost",
            "the cost coefficients are private, so the query itself would depend on the data",
            "query public combinations of the variables; or release = \"value\" with strategy = output",
        ));
    }
    if program.p().nnz() > 0 {
        return Err(Error::refused(
            "a query of the cost",
            "the cost is quadratic, and this query is linear",
            "release = \"value\" with strategy = output, which is the optimal value alone; or write the cost through an epigraph variable and release it as `at-most` with a public slope",
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

/// What a reference is called: a block by its name, an entry by its own.
fn called(program: &Program, reference: &str) -> Result<String> {
    let columns = program.find_variables(reference)?;
    Ok(match columns.len() {
        1 => program.variable_name(columns.start),
        _ => reference.into(),
    })
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

/// The factor f with query = f·q, where the query is one row, P = 0 and q is public; −1 for a profit that is maximised.
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
    (proportional && factor.is_finite() && factor != 0.0).then_some(factor)
}
