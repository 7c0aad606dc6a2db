//! A query on a program, with the shape of its noise and the rule that carries it: fixed before the noise scale.

use crate::ask::{Ask, NoiseShape, ResolvedQuery, Strategy};
use crate::certify::{SYNTHETIC_SEED, shape_of_curvature};
use crate::error::{Error, Result};
use crate::noise::Sampler;
use crate::program::{DataMap, Parameter};
use crate::proof::Curvature;
use crate::rule::{NoiseRow, Rule, Shape};
use crate::solve::Cancel;
use std::sync::Arc;

/// Q, T and the rule.
#[derive(Clone, Debug)]
pub(crate) struct Posed {
    pub(crate) query: ResolvedQuery,
    pub(crate) shape: Shape,
    /// Shared: of a million records it is long.
    pub(crate) rule: Arc<Rule>,
}

impl Posed {
    /// The query that is asked of the user's model.
    pub(super) fn of_model(ask: &Ask, map: &dyn DataMap) -> Result<Self> {
        let query = ask.query.resolve(map, ask.strategy)?;
        let shape = shape_of(ask, map, Some(&query), query.rows().len())?;
        Self::new(ask, map, query, shape)
    }

    /// A query of a map, refused where no decision can carry its noise.
    pub(super) fn new(
        ask: &Ask,
        map: &dyn DataMap,
        query: ResolvedQuery,
        shape: Shape,
    ) -> Result<Self> {
        let rule = rule_of(ask, map, &query, &shape)?;
        Ok(Posed {
            query,
            shape,
            rule: Arc::new(rule),
        })
    }
}

/// T, as asked.
pub(super) fn shape_of(
    ask: &Ask,
    map: &dyn DataMap,
    query: Option<&ResolvedQuery>,
    r: usize,
) -> Result<Shape> {
    match &ask.shape {
        NoiseShape::Identity => Shape::new(None, r),
        NoiseShape::Rows(rows) => Shape::new(Some(rows), r),
        NoiseShape::Curvature => {
            let refuse = |why: &str| {
                Err(Error::refused(
                    "noise shaped by curvature",
                    why,
                    "a quadratic cost that is public and positive definite on what is released, or a shape by rows",
                ))
            };
            if query.is_some_and(ResolvedQuery::is_objective) {
                return refuse("what is released is the value, one number without a direction");
            }
            if map.private_parts().p {
                return refuse("the quadratic cost is private, and the shape would tell it");
            }
            let Some(curvature) = Curvature::of(map.template().p()) else {
                return refuse(
                    "the quadratic cost is not positive definite on the variables it names",
                );
            };
            match query.and_then(|query| shape_of_curvature(&curvature, query)) {
                Some(rows) => Shape::new(Some(&rows), r),
                None => refuse("the query names a variable without a quadratic cost"),
            }
        }
    }
}

/// The rule for a query, refused where synthetic data show that no decision can carry its noise.
fn rule_of(ask: &Ask, map: &dyn DataMap, query: &ResolvedQuery, shape: &Shape) -> Result<Rule> {
    let rows = noise_rows(query, shape);
    if ask.strategy != Strategy::Program {
        let n = map.template().columns();
        let places = query.whole_decision(n);
        return Ok(Rule::on_the_answer(n, &rows, places, shape.noises()));
    }
    let (template, private_rows) = (map.template(), map.private_rows());
    let cancel = ask.settings.cancel();
    let rule = Rule::watched(template, &rows, shape.noises(), &private_rows, cancel)?;
    refuse_without_recourse(map, &rule, cancel)?;
    Ok(rule)
}

/// Where private coefficients keep the rank test from being decided in public, it runs on synthetic data: a query that
/// fails there fails for almost every dataset, and is refused before anything is charged.
fn refuse_without_recourse(map: &dyn DataMap, rule: &Rule, cancel: &Cancel) -> Result<()> {
    if !rule.has_private_equations() {
        return Ok(());
    }
    let mut verdicts = (0..2).filter_map(|stream| {
        let mut sampler = Sampler::new(SYNTHETIC_SEED, stream);
        let draw = |p: &Parameter, u: f64| match p.bounds() {
            Some((low, high)) => low + u * (high - low),
            None => 1.0 + u,
        };
        let theta: Vec<f64> = map
            .parameters()
            .iter()
            .map(|p| draw(&p, sampler.uniform()))
            .collect();
        map.at(&theta)
            .ok()
            .map(|program| rule.at(&program, cancel).map(|_| ()))
    });
    match (verdicts.next(), verdicts.next()) {
        (Some(Err(first)), Some(Err(_))) => Err(first),
        _ => Ok(()),
    }
}

/// QX = T, and c̃'X = T for an at-most query.
fn noise_rows(query: &ResolvedQuery, shape: &Shape) -> Vec<NoiseRow> {
    let mut rows: Vec<NoiseRow> = query
        .rows
        .iter()
        .zip(&query.labels)
        .enumerate()
        .map(|(i, (terms, label))| NoiseRow {
            label: label.clone(),
            terms: terms.clone(),
            carries: shape.row(i).to_vec(),
        })
        .collect();
    if let Some(slope) = &query.slope {
        rows.push(NoiseRow {
            label: "the slope of the at-most query".into(),
            terms: slope.clone(),
            carries: shape.row(0).to_vec(),
        });
    }
    rows
}
