//! θ ↦ program (M1): the affine map with sparse places for θ, and any function with a public template.

use super::{
    CostRows, Meaning, Parameter, Parameters, Place, PrivateCoefficients, Program, RecordBall,
    Sparse,
};
use crate::error::{Error, Result};
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Which parts of the program depend on the private data: public knowledge, stated and never inferred from values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrivateParts {
    /// The quadratic cost.
    pub p: bool,
    /// The linear cost.
    pub q: bool,
    /// The constraint matrix.
    pub a: bool,
    /// The right-hand side.
    pub b: bool,
}

/// The curator's model: a map from datasets to programs of one fixed structure.
///
/// The template is public. Its numbers at places that depend on θ mean nothing. A model around an affine map states its
/// parameters, its template and the map; what is private and the program at θ follow from the map. Without one, all of
/// the program counts as private unless the model says otherwise.
pub trait DataMap: Send + Sync {
    /// Names of the entries of θ.
    fn parameters(&self) -> &Parameters;

    /// The public structure, and every number that does not depend on θ.
    fn template(&self) -> &Program;

    /// Which parts depend on θ.
    fn private_parts(&self) -> PrivateParts {
        self.affine().map_or(
            PrivateParts {
                p: true,
                q: true,
                a: true,
                b: true,
            },
            |affine| affine.parts,
        )
    }

    /// Rows of A that hold a private coefficient.
    fn private_rows(&self) -> Vec<bool> {
        match self.affine() {
            Some(affine) => affine.private_rows(),
            None => vec![true; self.template().rows()],
        }
    }

    /// Coefficients (row, column) of A that are private; without an affine map every stored entry of a private row.
    fn private_coefficients(&self) -> PrivateCoefficients {
        if let Some(affine) = self.affine() {
            return affine.private_coefficients();
        }
        let rows = self.private_rows();
        let entries = self.template().a().entries();
        entries
            .filter(|&(i, _, _)| rows[i])
            .map(|(i, j, _)| (i, j))
            .collect()
    }

    /// Entries of q that are private.
    fn private_costs(&self) -> Vec<bool> {
        match self.affine() {
            Some(affine) => affine.private_costs(),
            None => vec![true; self.template().columns()],
        }
    }

    /// The program at θ, validated.
    fn at(&self, theta: &[f64]) -> Result<Program> {
        match self.affine() {
            Some(affine) => affine.at(theta),
            None => Err(Error::input(
                "this model says neither which program belongs to a dataset nor that it is affine",
            )),
        }
    }

    /// The program at θ as it is, not clipped to its public bounds: what a decision for clipped data is measured
    /// against. Nothing that is released may come from it.
    fn unclipped(&self, theta: &[f64]) -> Result<Program> {
        match self.affine() {
            Some(affine) => affine.unclipped(theta),
            None => self.at(theta),
        }
    }

    /// θ as the map counts it, after checking its length and numbers: every entry clipped to its public bounds, and every
    /// record scaled to its public length where the affine map states one.
    fn clipped(&self, theta: &[f64]) -> Result<Vec<f64>> {
        let ball = self.affine().and_then(AffineMap::ball);
        clip(self.parameters(), ball, theta)
    }

    /// The map itself where it is affine: certificates inspect it.
    fn affine(&self) -> Option<&AffineMap> {
        None
    }

    /// Columns whose optimal values are unique by a theorem about the model, with every tightening that chance
    /// constraints make while the query fixes how all of these columns move: such queries are single-valued (M1).
    fn unique_columns(&self) -> Range<usize> {
        0..0
    }

    /// What the model tells the readers of a release: public, and by default nothing.
    fn meaning(&self) -> Meaning {
        Meaning::default()
    }

    /// What the objective leaves out of the user's loss at θ: a constant of the data, such as ½‖y‖² of squared
    /// residuals. Reports count it in, so that a loss in percent means something. For the curator alone.
    fn objective_constant(&self, _theta: &[f64]) -> f64 {
        0.0
    }

    /// Length of θ.
    fn len(&self) -> usize {
        self.parameters().len()
    }

    /// Whether nothing is private.
    fn is_empty(&self) -> bool {
        self.parameters().is_empty()
    }
}

impl<T: DataMap + ?Sized> DataMap for &T {
    fn parameters(&self) -> &Parameters {
        (**self).parameters()
    }

    fn template(&self) -> &Program {
        (**self).template()
    }

    fn private_parts(&self) -> PrivateParts {
        (**self).private_parts()
    }

    fn private_rows(&self) -> Vec<bool> {
        (**self).private_rows()
    }

    fn private_coefficients(&self) -> PrivateCoefficients {
        (**self).private_coefficients()
    }

    fn private_costs(&self) -> Vec<bool> {
        (**self).private_costs()
    }

    fn at(&self, theta: &[f64]) -> Result<Program> {
        (**self).at(theta)
    }

    fn unclipped(&self, theta: &[f64]) -> Result<Program> {
        (**self).unclipped(theta)
    }

    fn clipped(&self, theta: &[f64]) -> Result<Vec<f64>> {
        (**self).clipped(theta)
    }

    fn affine(&self) -> Option<&AffineMap> {
        (**self).affine()
    }

    fn unique_columns(&self) -> Range<usize> {
        (**self).unique_columns()
    }

    fn meaning(&self) -> Meaning {
        (**self).meaning()
    }

    fn objective_constant(&self, theta: &[f64]) -> f64 {
        (**self).objective_constant(theta)
    }
}

/// Each of P, q, A, b affine in θ: entry = base + Σ coef·θ.
#[derive(Clone, Debug)]
pub struct AffineMap {
    base: Arc<Program>,
    parameters: Parameters,
    /// Of records that are alike, by parameter of the first: where it stands among A's entries, and how far the next one is.
    entries: Arc<[(usize, usize)]>,
    parts: PrivateParts,
    ball: Option<RecordBall>,
}

impl AffineMap {
    /// Checks that every place exists and, in A, stands in the pattern.
    pub fn new(base: Program, parameters: impl Into<Parameters>) -> Result<Self> {
        let parameters = parameters.into();
        let mut names = HashSet::new();
        for parameter in parameters.kinds() {
            if !names.insert(parameter.name()) {
                return Err(Error::input(format!(
                    "two parameters are named `{}`",
                    parameter.name()
                )));
            }
            check_values(parameter)?;
        }
        drop(names);
        let mut parts = PrivateParts::default();
        let entries = match (parameters.records(), parameters.costs()) {
            (Some(_), _) => {
                parts.a = true;
                entries_of_records(&base, &parameters)?
            }
            (None, Some(costs)) => {
                parts.q = true;
                if costs.width() > base.columns() {
                    return Err(Error::input(format!(
                        "rows of {} costs for a program of {} columns",
                        costs.width(),
                        base.columns()
                    )));
                }
                Vec::new()
            }
            (None, None) => {
                for parameter in parameters.kinds() {
                    check_places(&base, parameter, &mut parts)?;
                }
                Vec::new()
            }
        };
        Ok(AffineMap {
            base: Arc::new(base),
            parameters,
            entries: entries.into(),
            parts,
            ball: None,
        })
    }

    /// The same map of records that are scaled to a public length, after their entries were clipped.
    pub fn with_ball(mut self, ball: RecordBall) -> Result<Self> {
        if !self.parameters.len().is_multiple_of(ball.record_len()) {
            return Err(Error::input(format!(
                "{} private parameters are no whole number of records of {} entries",
                self.parameters.len(),
                ball.record_len()
            )));
        }
        self.ball = Some(ball);
        Ok(self)
    }

    /// The ball that records are scaled onto.
    pub fn ball(&self) -> Option<&RecordBall> {
        self.ball.as_ref()
    }

    /// The numbers of records that are alike, into their entries of A.
    fn put_records(&self, program: &mut Program, theta: &[f64]) {
        let values = program.a.nzval_mut();
        let width = self.entries.len();
        let coefs = self
            .parameters
            .kinds()
            .map(|parameter| parameter.at[0].coef);
        for (field, (coef, &(start, stride))) in coefs.zip(self.entries.iter()).enumerate() {
            for (record, numbers) in theta.chunks_exact(width).enumerate() {
                values[start + stride * record] += coef * numbers[field];
            }
        }
    }
}

impl AffineMap {
    /// Whether its parameters are those of records that are alike, which enter A alone.
    fn are_records(&self) -> bool {
        self.parameters.records().is_some()
    }

    /// The same with ½κ(x − x₀)² on these columns, each with its x₀.
    pub(crate) fn with_curvature(&self, columns: &[(usize, f64)], kappa: f64) -> Result<Self> {
        let base = &self.base;
        let mut p: Vec<(usize, usize, f64)> = base.p().entries().collect();
        p.extend(columns.iter().map(|&(j, _)| (j, j, kappa)));
        let (mut q, mut constant) = (base.q().to_vec(), base.constant());
        for &(j, centre) in columns {
            q[j] -= kappa * centre;
            constant += 0.5 * kappa * centre * centre;
        }
        let n = base.columns();
        let (variables, constraints) = base.blocks();
        let program = Program::new(
            Sparse::assemble(n, n, &p),
            q,
            base.a().clone(),
            base.b().to_vec(),
            variables,
            constraints,
        )?
        .with_constant(constant);
        Ok(AffineMap {
            ball: self.ball,
            ..AffineMap::new(program, self.parameters.clone())?
        })
    }
}

/// Refuses bounds and nominal values that are none.
fn check_values(parameter: &Parameter) -> Result<()> {
    let name = parameter.name();
    if parameter.at.is_empty() {
        return Err(Error::input(format!(
            "parameter `{name}` enters nowhere in the program"
        )));
    }
    if let Some((low, high)) = parameter.bounds
        && !(low.is_finite() && high.is_finite() && low < high)
    {
        return Err(Error::input(format!(
            "the bounds of parameter `{name}` must be finite and in order, found [{low}, {high}]"
        )));
    }
    if let Some(nominal) = parameter.nominal {
        let outside = |(low, high): (f64, f64)| !(low..=high).contains(&nominal);
        if !nominal.is_finite() || parameter.bounds.is_some_and(outside) {
            return Err(Error::input(format!(
                "the nominal value {nominal} of parameter `{name}` lies outside its public bounds {}: the bounds must hold every admissible value, of either sign",
                parameter
                    .bounds
                    .map_or("(-∞, ∞)".into(), |(low, high)| format!(
                        "[{low}, {high}]"
                    ))
            )));
        }
    }
    for location in parameter.at.iter() {
        if !(location.coef.is_finite() && location.coef != 0.0) {
            return Err(Error::input(format!(
                "parameter `{name}` at {} has coefficient {}: it must be finite and not 0",
                location.place, location.coef
            )));
        }
    }
    Ok(())
}

/// Where records that are alike stand among A's entries, by parameter of the first: they must be evenly far apart there.
fn entries_of_records(base: &Program, parameters: &Parameters) -> Result<Vec<(usize, usize)>> {
    let Some((count, step)) = parameters.records() else {
        return Ok(Vec::new());
    };
    let a = base.a();
    let each = parameters.kinds().map(|parameter| {
        let (row, column) = parameter.at[0].place.in_a()?;
        let start = a.position(row, column)?;
        let stride = match count {
            1 => 0,
            _ => a.position(row + step, column)? - start,
        };
        let end = a.colptr()[column + 1];
        let is_there = |r: usize| {
            let entry = start + stride * r;
            entry < end && a.rowval()[entry] == row + step * r
        };
        (0..count).all(is_there).then_some((start, stride))
    });
    let found: Option<Vec<(usize, usize)>> = each.collect();
    found.ok_or_else(|| {
        Error::input(
            "records that are alike need an entry of A for each of their numbers, evenly far apart: store explicit zeros there",
        )
    })
}

/// Refuses places that do not exist, and notes which parts of the program the others are in.
fn check_places(base: &Program, parameter: &Parameter, parts: &mut PrivateParts) -> Result<()> {
    let name = parameter.name();
    for location in parameter.at.iter() {
        let place = location.place;
        let exists = match place {
            Place::B(i) => i < base.rows(),
            Place::Q(j) => j < base.columns(),
            Place::A(i, j) => i < base.rows() && j < base.columns(),
            Place::P(i, j) => i < base.columns() && j < base.columns(),
        };
        if !exists {
            return Err(Error::input(format!(
                "parameter `{name}` enters at {place}, but the program has {} rows and {} columns",
                base.rows(),
                base.columns()
            )));
        }
        match place {
            Place::B(_) => parts.b = true,
            Place::Q(_) => parts.q = true,
            Place::A(i, j) => {
                parts.a = true;
                if base.a().position(i, j).is_none() {
                    return Err(Error::input(format!(
                        "parameter `{name}` enters at {place}, which is not in A's pattern: store an explicit zero there"
                    )));
                }
            }
            Place::P(i, j) => {
                parts.p = true;
                if i > j {
                    return Err(Error::input(format!(
                        "parameter `{name}` enters at {place}, below the diagonal: give the upper triangle only, P[{j}, {i}]"
                    )));
                }
                if base.p().position(i, j).is_none() {
                    return Err(Error::input(format!(
                        "parameter `{name}` enters at {place}, which is not in P's pattern: store an explicit zero there"
                    )));
                }
            }
        }
    }
    Ok(())
}

/// Checks the length and the numbers of θ.
fn checked(parameters: &Parameters, theta: &[f64]) -> Result<()> {
    if theta.len() != parameters.len() {
        return Err(Error::input(format!(
            "the data have {} entries, but the model has {} private parameters",
            theta.len(),
            parameters.len()
        )));
    }
    let odd = theta.iter().position(|value| !value.is_finite());
    match odd.and_then(|i| Some((parameters.get(i)?, theta[i]))) {
        None => Ok(()),
        Some((parameter, value)) => Err(Error::input(format!(
            "the value of `{}` is {value}: it must be a finite number",
            parameter.name()
        ))),
    }
}

/// θ with every entry clipped to its public bounds, after its length and numbers were checked. No entry moves another.
pub(crate) fn clip_entries(parameters: &Parameters, theta: &[f64]) -> Result<Vec<f64>> {
    clip(parameters, None, theta)
}

/// Clips θ to the public bounds of its entries, after checking its length and numbers; then scales its records.
fn clip(parameters: &Parameters, ball: Option<&RecordBall>, theta: &[f64]) -> Result<Vec<f64>> {
    checked(parameters, theta)?;
    // Records that are alike have the bounds of the first, over and over.
    let bounds: Vec<Option<(f64, f64)>> = parameters.kinds().map(|p| p.bounds).collect();
    let each = bounds.iter().cycle().zip(theta);
    let mut clipped: Vec<f64> = each
        .map(|(bounds, &value)| bounds.map_or(value, |(low, high)| value.clamp(low, high)))
        .collect();
    if let Some(ball) = ball {
        ball.scale(&mut clipped);
    }
    Ok(clipped)
}

impl DataMap for AffineMap {
    fn affine(&self) -> Option<&AffineMap> {
        Some(self)
    }

    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn template(&self) -> &Program {
        &self.base
    }

    fn private_parts(&self) -> PrivateParts {
        self.parts
    }

    fn private_rows(&self) -> Vec<bool> {
        let mut rows = vec![false; self.base.rows()];
        if self.parameters.costs().is_some() {
            return rows;
        }
        for (i, _) in (self.parameters.places()).filter_map(|(_, at)| at.place.in_a()) {
            rows[i] = true;
        }
        rows
    }

    fn private_coefficients(&self) -> PrivateCoefficients {
        PrivateCoefficients::of(&self.parameters)
    }

    fn private_costs(&self) -> Vec<bool> {
        let mut costs = vec![false; self.base.columns()];
        if self.are_records() {
            return costs;
        }
        if let Some(rows) = self.parameters.costs() {
            let mut row = vec![0.0; rows.width()];
            for index in 0..rows.len() {
                rows.row(index, &mut row);
                (costs.iter_mut().zip(&row)).for_each(|(is_private, c)| *is_private |= *c != 0.0);
                if costs[..row.len()].iter().all(|is_private| *is_private) {
                    break;
                }
            }
            return costs;
        }
        for (_, location) in self.parameters.places() {
            if let Place::Q(j) = location.place {
                costs[j] = true;
            }
        }
        costs
    }

    fn at(&self, theta: &[f64]) -> Result<Program> {
        self.unclipped(&clip(&self.parameters, self.ball.as_ref(), theta)?)
    }

    fn unclipped(&self, theta: &[f64]) -> Result<Program> {
        checked(&self.parameters, theta)?;
        let mut program = (*self.base).clone();
        let Some(listed) = self.parameters.listed() else {
            match self.parameters.costs() {
                Some(costs) => put_costs(costs, &mut program.q, theta),
                None => self.put_records(&mut program, theta),
            }
            program.validate_numbers()?;
            return Ok(program);
        };
        let mut lost = vec![0.0; program.q.len()];
        for (parameter, &value) in listed.iter().zip(theta) {
            for location in parameter.at.iter() {
                let change = location.coef * value;
                match location.place {
                    Place::B(i) => program.b[i] += change,
                    Place::Q(j) => {
                        let entry = (&mut program.q[j], &mut lost[j]);
                        add_cost(entry, location.coef, value);
                    }
                    Place::A(i, j) => {
                        if let Some(e) = program.a.position(i, j) {
                            program.a.nzval_mut()[e] += change;
                        }
                    }
                    Place::P(i, j) => {
                        if let Some(e) = program.p.position(i, j) {
                            program.p.nzval_mut()[e] += change;
                        }
                    }
                }
            }
        }
        give_back(&mut program.q, &lost);
        program.validate_numbers()?;
        if self.parts.p {
            program.validate_curvature()?;
        }
        Ok(program)
    }
}

/// A cost sums over all records: what rounding takes from each product and addition is carried along, so that q is off by a
/// rounding of its own size, however many and however large its terms.
fn add_cost((sum, lost): (&mut f64, &mut f64), coef: f64, value: f64) {
    let change = coef * value;
    let (before, after) = (*sum, *sum + change);
    let added = after - before;
    *lost += (before - (after - added)) + (change - added) + coef.mul_add(value, -change);
    *sum = after;
}

/// Adds what was lost, where that is a number.
fn give_back(sums: &mut [f64], lost: &[f64]) {
    for (sum, lost) in sums.iter_mut().zip(lost) {
        if lost.is_finite() {
            *sum += lost;
        }
    }
}

/// Adds every row of costs times its parameter to q.
fn put_costs(costs: &dyn CostRows, q: &mut [f64], theta: &[f64]) {
    let (mut row, mut lost) = (vec![0.0; costs.width()], vec![0.0; q.len()]);
    for (index, value) in theta.iter().enumerate() {
        costs.row(index, &mut row);
        for (j, coef) in row.iter().enumerate().filter(|(_, coef)| **coef != 0.0) {
            add_cost((&mut q[j], &mut lost[j]), *coef, *value);
        }
    }
    give_back(q, &lost);
}

type ProgramOf = dyn Fn(&[f64]) -> Result<Program> + Send + Sync;

/// Any function θ ↦ program with the structure of a public template.
#[derive(Clone)]
pub struct GeneralMap {
    template: Program,
    parameters: Parameters,
    parts: PrivateParts,
    program: Arc<ProgramOf>,
}

impl fmt::Debug for GeneralMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GeneralMap")
            .field("parameters", &self.parameters.len())
            .field("parts", &self.parts)
            .finish_non_exhaustive()
    }
}

impl GeneralMap {
    /// `parts` states what depends on θ; where a part is private, all of it counts as private.
    pub fn new(
        template: Program,
        parameters: impl Into<Parameters>,
        parts: PrivateParts,
        program: impl Fn(&[f64]) -> Result<Program> + Send + Sync + 'static,
    ) -> Self {
        GeneralMap {
            template,
            parameters: parameters.into(),
            parts,
            program: Arc::new(program),
        }
    }
}

impl DataMap for GeneralMap {
    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn template(&self) -> &Program {
        &self.template
    }

    fn private_parts(&self) -> PrivateParts {
        self.parts
    }

    fn private_rows(&self) -> Vec<bool> {
        vec![self.parts.a; self.template.rows()]
    }

    fn private_costs(&self) -> Vec<bool> {
        vec![self.parts.q; self.template.columns()]
    }

    fn at(&self, theta: &[f64]) -> Result<Program> {
        self.unclipped(&clip(&self.parameters, None, theta)?)
    }

    fn unclipped(&self, theta: &[f64]) -> Result<Program> {
        checked(&self.parameters, theta)?;
        let program = (self.program)(theta)?;
        if !program.same_structure(&self.template) {
            return Err(Error::input(
                "the program at this dataset has another structure than the public template: blocks, cones and patterns must not depend on the data",
            ));
        }
        let kept = [
            (self.parts.q, program.q == self.template.q, "q"),
            (self.parts.b, program.b == self.template.b, "b"),
            (self.parts.a, program.a == self.template.a, "A"),
            (self.parts.p, program.p == self.template.p, "P"),
            (
                false,
                program.constant == self.template.constant,
                "the objective's constant",
            ),
        ];
        for (private, same, part) in kept {
            if !private && !same {
                return Err(Error::input(format!(
                    "{part} is public, but differs from the template at this dataset"
                )));
            }
        }
        Ok(program)
    }
}
