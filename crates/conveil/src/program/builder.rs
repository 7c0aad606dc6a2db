//! A small builder that reads like the mathematics. It yields a [`Program`], or an [`AffineMap`] when parameters are private.

use super::{
    Affine, AffineMap, Cone, Holds, Location, NewConstraint, NewVariables, Parameter,
    ParameterHandle, Place, Program, Sparse, Stage, VariableHandle,
};
use crate::error::{Error, Result};

/// Collects variables, an objective and constraints.
///
/// ```
/// use conveil::program::Builder;
/// let mut m = Builder::new();
/// let x = m.variable("x", 2);
/// let demand = m.parameter("demand");
/// m.minimize(x.at(0) + 3.0 * x.at(1));
/// m.equal("balance", x.sum(), demand);
/// m.between("first", 0.0, x.at(0), 10.0);
/// m.between("second", 0.0, x.at(1), 2.0);
/// let map = m.build_map()?;
/// # use conveil::program::DataMap;
/// assert_eq!(map.at(&[10.0])?.b()[0], 10.0);
/// # Ok::<(), conveil::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    variables: Vec<NewVariables>,
    columns: usize,
    parameters: Vec<Parameter>,
    objective: Affine,
    quadratic: Vec<(usize, usize, f64)>,
    private_quadratic: Vec<(usize, usize, usize, f64)>,
    constraints: Vec<(NewConstraint, Vec<Affine>)>,
}

impl Builder {
    /// An empty model.
    pub fn new() -> Self {
        Self::default()
    }

    fn block(&mut self, name: &str, len: usize, stage: Stage) -> VariableHandle {
        self.variables.push(NewVariables {
            name: name.into(),
            len,
            stage,
            entries: Vec::new(),
        });
        let range = self.columns..self.columns + len;
        self.columns += len;
        VariableHandle { range }
    }

    /// Decisions: real quantities that somebody carries out. They respond to the noise, and they alone may carry the
    /// noise of a query. Calling a slack or an epigraph a variable is a false declaration: it would take up the noise
    /// while the decision stays where it is, and nothing that is said about feasibility would be worth anything.
    pub fn variable(&mut self, name: &str, len: usize) -> VariableHandle {
        self.block(name, len, Stage::Decision)
    }

    /// Variables that only help to write the model down, such as slacks and auxiliary bounds: witnesses, of which only
    /// the existence is claimed. They respond to the noise and may not be queried.
    pub fn auxiliary(&mut self, name: &str, len: usize) -> VariableHandle {
        self.block(name, len, Stage::Witness)
    }

    /// Variables decided before the noise.
    pub fn here_and_now(&mut self, name: &str, len: usize) -> VariableHandle {
        self.block(name, len, Stage::HereAndNow)
    }

    /// A variable that bounds a convex cost from above, to be released as `at-most` with a public slope.
    pub fn epigraph(&mut self, name: &str) -> VariableHandle {
        self.block(name, 1, Stage::Epigraph)
    }

    /// A private parameter.
    pub fn parameter(&mut self, name: &str) -> ParameterHandle {
        self.parameters.push(Parameter::new(name));
        ParameterHandle(self.parameters.len() - 1)
    }

    /// A private parameter with public bounds, to which its value is clipped.
    pub fn parameter_within(&mut self, name: &str, low: f64, high: f64) -> ParameterHandle {
        self.parameters
            .push(Parameter::new(name).clipped(low, high));
        ParameterHandle(self.parameters.len() - 1)
    }

    /// A public value that the private one is expected to be near.
    pub fn nominal(&mut self, parameter: ParameterHandle, value: f64) {
        if let Some(own) = self.parameters.get_mut(parameter.0) {
            *own = own.clone().nominal(value);
        }
    }

    /// The linear part of the objective; parts add up.
    pub fn minimize(&mut self, expression: impl Into<Affine>) {
        self.objective += expression.into();
    }

    /// Adds ½·weight·‖expression‖² for a list of expressions without parameters and constants.
    pub fn minimize_half_square(&mut self, weight: f64, expressions: &[Affine]) {
        for e in expressions {
            for &(i, a) in &e.terms {
                for &(j, b) in &e.terms {
                    if i <= j {
                        self.quadratic.push((i, j, weight * a * b));
                    }
                }
            }
            if e.constant != 0.0 || !e.parameters.is_empty() || !e.products.is_empty() {
                self.quadratic.push((usize::MAX, 0, 0.0));
            }
        }
    }

    /// Adds to P at (i, j) and (j, i), by column.
    pub fn quadratic(&mut self, i: usize, j: usize, value: f64) {
        self.quadratic.push((i.min(j), i.max(j), value));
    }

    /// Adds `value` times a private parameter to P at (i, j) and (j, i), by column. A square θ·½(v'x)² is v_i·v_j at every (i, j).
    pub fn private_quadratic(
        &mut self,
        parameter: ParameterHandle,
        i: usize,
        j: usize,
        value: f64,
    ) {
        let (i, j) = (i.min(j), i.max(j));
        self.private_quadratic.push((parameter.0, i, j, value));
        self.quadratic.push((i, j, 0.0));
    }

    /// The vector of expressions lies in the cone.
    pub fn cone(&mut self, name: &str, cone: Cone, expressions: Vec<Affine>) -> &mut Self {
        self.constraints.push((
            NewConstraint {
                name: name.into(),
                cone,
                holds: Holds::WithNoise,
                rows: Vec::new(),
            },
            expressions,
        ));
        self
    }

    /// The last constraint holds always, whatever the noise.
    pub fn always(&mut self) {
        self.last_holds(Holds::Always);
    }

    /// The last constraint holds at the mean only.
    pub fn at_the_mean(&mut self) {
        self.last_holds(Holds::AtTheMean);
    }

    fn last_holds(&mut self, holds: Holds) {
        if let Some((block, _)) = self.constraints.last_mut() {
            block.holds = holds;
        }
    }

    /// left = right.
    pub fn equal(
        &mut self,
        name: &str,
        left: impl Into<Affine>,
        right: impl Into<Affine>,
    ) -> &mut Self {
        let row = right.into() - left.into();
        self.cone(name, Cone::Zero(1), vec![row])
    }

    /// left ≤ right.
    pub fn at_most(
        &mut self,
        name: &str,
        left: impl Into<Affine>,
        right: impl Into<Affine>,
    ) -> &mut Self {
        let row = right.into() - left.into();
        self.cone(name, Cone::Nonnegative(1), vec![row])
    }

    /// low ≤ middle ≤ high: rows `name lower` and `name upper`.
    pub fn between(
        &mut self,
        name: &str,
        low: impl Into<Affine>,
        middle: impl Into<Affine>,
        high: impl Into<Affine>,
    ) -> &mut Self {
        let middle = middle.into();
        let rows = vec![middle.clone() - low.into(), high.into() - middle];
        self.cone(name, Cone::Nonnegative(2), rows);
        if let Some((block, _)) = self.constraints.last_mut() {
            block.rows = vec![format!("{name} lower"), format!("{name} upper")];
        }
        self
    }

    /// low ≤ x ≤ high for every entry of a block, with public numbers: certificates bound a solver's error by such limits. With
    /// noise where they are decisions, at the mean where they only help to write the model down (see [`Program::within`]).
    pub fn within(&mut self, block: &VariableHandle, low: f64, high: f64) -> &mut Self {
        let mut start = 0;
        let found = self.variables.iter().find(|variables| {
            start += variables.len;
            start == block.range.end
        });
        let (name, stage) = found.map_or(("", Stage::Decision), |v| (v.name.as_str(), v.stage));
        let (name, rows) = (format!("bounds of {name}"), block.range.len());
        let each = |i: usize| [high - block.at(i), block.at(i) - low];
        let rows: Vec<Affine> = (0..rows).flat_map(each).collect();
        self.cone(&name, Cone::Nonnegative(rows.len()), rows);
        if stage != Stage::Decision {
            self.at_the_mean();
        }
        self
    }

    /// ‖entries‖ ≤ bound.
    pub fn norm_at_most(
        &mut self,
        name: &str,
        entries: Vec<Affine>,
        bound: impl Into<Affine>,
    ) -> &mut Self {
        let mut rows = vec![bound.into()];
        rows.extend(entries);
        self.cone(name, Cone::SecondOrder(rows.len()), rows)
    }

    /// The symmetric matrix with this upper triangle (by columns, unscaled) is positive semidefinite.
    pub fn semidefinite(&mut self, name: &str, order: usize, upper: Vec<Affine>) -> &mut Self {
        let mut rows = Vec::with_capacity(upper.len());
        let mut entries = upper.into_iter();
        for j in 0..order {
            for i in 0..=j {
                let Some(entry) = entries.next() else {
                    continue;
                };
                rows.push(if i == j {
                    entry
                } else {
                    std::f64::consts::SQRT_2 * entry
                });
            }
        }
        rows.extend(entries);
        self.cone(name, Cone::PsdTriangle(order), rows)
    }

    /// The program; an error if it has parameters.
    pub fn build(self) -> Result<Program> {
        if let Some(parameter) = self.parameters.first() {
            return Err(Error::input(format!(
                "`{}` is a private parameter: build the map from data to programs instead",
                parameter.name()
            )));
        }
        Ok(self.assemble()?.0)
    }

    /// The affine map from the parameters to programs.
    pub fn build_map(self) -> Result<AffineMap> {
        let parameters = self.parameters.clone();
        let (program, places) = self.assemble()?;
        let mut of: Vec<Vec<Location>> = vec![Vec::new(); parameters.len()];
        // A public coefficient of 0 makes no place private.
        for (index, at) in places.into_iter().filter(|place| place.1.coef != 0.0) {
            of[index].push(at);
        }
        let each = parameters.into_iter().zip(of);
        let parameters: Vec<Parameter> = each.map(|(p, places)| p.at_all(places)).collect();
        AffineMap::new(program, parameters)
    }

    /// The program at θ = 0 with the full pattern, and where each parameter stands.
    fn assemble(self) -> Result<(Program, Vec<(usize, Location)>)> {
        let n = self.columns;
        let mut places = Vec::new();
        let mut q = vec![0.0; n];
        let column = |j: usize, name: &str| -> Result<usize> {
            if j < n {
                return Ok(j);
            }
            Err(Error::input(format!(
                "{name} uses an entry that its variable does not have, or a product of parameters"
            )))
        };
        for &(j, v) in &self.objective.terms {
            q[column(j, "the objective")?] += v;
        }
        for &(p, j, v) in &self.objective.products {
            places.push((p, Location::new(Place::Q(column(j, "the objective")?), v)));
        }
        if !self.objective.parameters.is_empty() {
            return Err(Error::input(
                "the objective has a private constant: it would shift the cost by the data itself",
            ));
        }
        let mut triplets = Vec::new();
        let mut b = Vec::new();
        let mut blocks = Vec::new();
        for (block, rows) in self.constraints {
            if rows.len() != block.cone.dim() {
                return Err(Error::input(format!(
                    "constraint `{}` has {} rows, but its {} cone takes {}",
                    block.name,
                    rows.len(),
                    block.cone.kind(),
                    block.cone.dim()
                )));
            }
            let name = format!("constraint `{}`", block.name);
            for row in rows {
                // row = b − Ax
                let i = b.len();
                b.push(row.constant);
                for (j, v) in row.terms {
                    triplets.push((i, column(j, &name)?, -v));
                }
                for (p, v) in row.parameters {
                    places.push((p, Location::new(Place::B(i), v)));
                }
                for (p, j, v) in row.products {
                    let j = column(j, &name)?;
                    triplets.push((i, j, 0.0));
                    places.push((p, Location::new(Place::A(i, j), -v)));
                }
            }
            blocks.push(block);
        }
        if self.quadratic.iter().any(|t| t.0 >= n || t.1 >= n) {
            return Err(Error::input(
                "the quadratic objective takes existing variables only, without constants and parameters",
            ));
        }
        for &(p, i, j, v) in &self.private_quadratic {
            places.push((p, Location::new(Place::P(i, j), v)));
        }
        let p = Sparse::from_triplets(n, n, &self.quadratic)?;
        let a = Sparse::from_triplets(b.len(), n, &triplets)?;
        let mut program = Program::new(p, q, a, b, self.variables, blocks)?;
        program.constant = self.objective.constant;
        Ok((program, places))
    }
}
