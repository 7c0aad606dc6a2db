//! θ ↦ program (M1): the affine map with sparse places for θ, and any function with a public template.

use super::{Meaning, Parameter, Place, Program, RecordBall, Sparse};
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
    fn parameters(&self) -> &[Parameter];

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
    fn private_coefficients(&self) -> HashSet<(usize, usize)> {
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
    fn parameters(&self) -> &[Parameter] {
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

    fn private_coefficients(&self) -> HashSet<(usize, usize)> {
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
    base: Program,
    parameters: Vec<Parameter>,
    parts: PrivateParts,
    ball: Option<RecordBall>,
}

impl AffineMap {
    /// Checks that every place exists and, in A, stands in the pattern.
    pub fn new(base: Program, parameters: Vec<Parameter>) -> Result<Self> {
        let mut parts = PrivateParts::default();
        let mut names = HashSet::new();
        for parameter in &parameters {
            let name = &parameter.name;
            if !names.insert(&**name) {
                return Err(Error::input(format!("two parameters are named `{name}`")));
            }
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
                let place = location.place;
                if !(location.coef.is_finite() && location.coef != 0.0) {
                    return Err(Error::input(format!(
                        "parameter `{name}` at {place} has coefficient {}: it must be finite and not 0",
                        location.coef
                    )));
                }
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
        }
        Ok(AffineMap {
            base,
            parameters,
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
}

impl AffineMap {
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

/// Checks the length and the numbers of θ.
fn checked(parameters: &[Parameter], theta: &[f64]) -> Result<()> {
    if theta.len() != parameters.len() {
        return Err(Error::input(format!(
            "the data have {} entries, but the model has {} private parameters",
            theta.len(),
            parameters.len()
        )));
    }
    for (parameter, &value) in parameters.iter().zip(theta) {
        if !value.is_finite() {
            return Err(Error::input(format!(
                "the value of `{}` is {value}: it must be a finite number",
                parameter.name
            )));
        }
    }
    Ok(())
}

/// Clips θ to the public bounds of its entries, after checking its length and numbers; then scales its records.
fn clip(parameters: &[Parameter], ball: Option<&RecordBall>, theta: &[f64]) -> Result<Vec<f64>> {
    checked(parameters, theta)?;
    let each = parameters.iter().zip(theta);
    let mut clipped: Vec<f64> = each
        .map(|(parameter, &value)| {
            (parameter.bounds).map_or(value, |(low, high)| value.clamp(low, high))
        })
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

    fn parameters(&self) -> &[Parameter] {
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
        for location in self.parameters.iter().flat_map(|p| p.at.iter()) {
            if let Place::A(i, _) = location.place {
                rows[i] = true;
            }
        }
        rows
    }

    fn private_coefficients(&self) -> HashSet<(usize, usize)> {
        let places = self.parameters.iter().flat_map(|p| p.at.iter());
        places
            .filter_map(|location| match location.place {
                Place::A(i, j) => Some((i, j)),
                _ => None,
            })
            .collect()
    }

    fn private_costs(&self) -> Vec<bool> {
        let mut costs = vec![false; self.base.columns()];
        for location in self.parameters.iter().flat_map(|p| p.at.iter()) {
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
        let mut program = self.base.clone();
        // A cost sums over all records: what rounding takes from each product and addition is carried along, so that q is
        // off by a rounding of its own size, however many and however large its terms.
        let mut lost = vec![0.0; program.q.len()];
        for (parameter, &value) in self.parameters.iter().zip(theta) {
            for location in parameter.at.iter() {
                let change = location.coef * value;
                match location.place {
                    Place::B(i) => program.b[i] += change,
                    Place::Q(j) => {
                        let (before, sum) = (program.q[j], program.q[j] + change);
                        let added = sum - before;
                        lost[j] += (before - (sum - added))
                            + (change - added)
                            + location.coef.mul_add(value, -change);
                        program.q[j] = sum;
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
        for (q, lost) in program.q.iter_mut().zip(lost) {
            if lost.is_finite() {
                *q += lost;
            }
        }
        program.validate_numbers()?;
        Ok(program)
    }
}

type ProgramOf = dyn Fn(&[f64]) -> Result<Program> + Send + Sync;

/// Any function θ ↦ program with the structure of a public template.
#[derive(Clone)]
pub struct GeneralMap {
    template: Program,
    parameters: Vec<Parameter>,
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
        parameters: Vec<Parameter>,
        parts: PrivateParts,
        program: impl Fn(&[f64]) -> Result<Program> + Send + Sync + 'static,
    ) -> Self {
        GeneralMap {
            template,
            parameters,
            parts,
            program: Arc::new(program),
        }
    }
}

impl DataMap for GeneralMap {
    fn parameters(&self) -> &[Parameter] {
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
