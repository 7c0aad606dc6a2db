//! Rows with private numbers that may be exceeded at a public price (M15b, M15c), and the public bounds of the variables that
//! meet private numbers: what both saddle certificates stand on.

use super::certificate::Site;
use super::deviation::{Deviation, Slack};
use crate::ask::Strategy;
use crate::error::{Error, Result};
use crate::program::{
    AffineMap, Cone, DataMap, Holds, Location, NewConstraint, NewVariables, Parameter, Place,
    Program, Sparse, Stage,
};
use crate::proof::{Intervals, Limits};
use conveil_text::spelling::nearest;
use std::collections::HashMap;
use std::ops::Range;

/// What refusals call it.
pub(super) const WHAT: &str = "a saddle certificate";

pub(super) fn refuse<T>(why: impl Into<String>, instead: impl Into<String>) -> Result<T> {
    Err(Error::refused(WHAT, why, instead))
}

/// A row, or a whole block of a cone that is not linear, that holds private numbers.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub(super) name: String,
    pub(super) rows: Range<usize>,
    pub(super) form: Form,
    /// π.
    pub(super) price: f64,
}

/// How a unit gives way.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    /// a'x ≤ b + s.
    Inequality,
    /// a'x = b + s⁺ − s⁻.
    Equality,
    /// b − Ax + se ∈ K, e the axis of the cone.
    Block(Cone),
}

/// The units of a program with their prices, and how large its variables can be.
#[derive(Clone, Debug)]
pub(super) struct Elastic<'a> {
    pub(super) affine: &'a AffineMap,
    pub(super) units: Vec<Unit>,
    /// The unit of each row that stands in one.
    of_row: Vec<Option<usize>>,
    /// Intervals that the public rows imply.
    intervals: Intervals,
}

impl<'a> Elastic<'a> {
    /// Every row with private numbers has a cone that can give way and a stated price. Nothing of the data is looked at.
    pub(super) fn new(site: &Site<'a>) -> Result<Self> {
        let Some(affine) = site.map.affine() else {
            return refuse(
                "the program depends on the data in a way that cannot be inspected",
                "a map that is affine in the data, or a declared or sampled sensitivity",
            );
        };
        let units = units(affine, site)?;
        let mut of_row = vec![None; affine.template().rows()];
        for (index, unit) in units.iter().enumerate() {
            of_row[unit.rows.clone()].fill(Some(index));
        }
        // What holds at the mean only says nothing of a decision that carries noise.
        let with_noise = site.ask.strategy == Strategy::Program;
        let public = public_rows(affine, &of_row, with_noise);
        let mut intervals = Intervals::unbounded(affine.template().columns());
        intervals.propagate(&public, Vec::new());
        Ok(Elastic {
            affine,
            units,
            of_row,
            intervals,
        })
    }

    /// The price of a row with private numbers: a bound on its multiplier, and on every multiplier of its block.
    pub(super) fn price(&self, row: usize) -> f64 {
        self.of_row[row].map_or(0.0, |unit| self.units[unit].price)
    }

    /// X_j, refused where public rows do not bound a variable that meets this number.
    pub(super) fn size(&self, j: usize, parameter: &Parameter, place: Place) -> Result<f64> {
        if self.intervals.is_bounded(j) {
            return Ok(self.intervals.size(j));
        }
        let name = self.affine.template().variable_name(j);
        refuse(
            format!(
                "`{}` stands at {place} with `{name}`, and no public row bounds `{name}` on both sides",
                parameter.name()
            ),
            format!(
                "public bounds on `{name}`, as rows without private numbers that hold with noise"
            ),
        )
    }

    /// The block that this row stands in, where it is no row of its own.
    pub(super) fn block_of(&self, row: usize) -> Option<&Unit> {
        let unit = &self.units[self.of_row[row]?];
        matches!(unit.form, Form::Block(_)).then_some(unit)
    }

    /// The first of the units that is an equality.
    pub(super) fn equality(&self) -> Option<&Unit> {
        self.units.iter().find(|unit| unit.form == Form::Equality)
    }

    /// With noise in the program an equality takes AX = 0: private coefficients there must stand on variables that do not move,
    /// or whether there is an answer would depend on the data.
    pub(super) fn refuse_moving_equations(&self) -> Result<()> {
        let program = self.affine.template();
        let mut binds = vec![false; program.rows()];
        for block in program.constraints() {
            let binding = matches!(block.cone(), Cone::Zero(_)) || block.holds() == Holds::Always;
            binds[block.range()].fill(binding);
        }
        for parameter in self.affine.parameters() {
            for location in parameter.locations() {
                if let Place::A(i, j) = location.place
                    && binds[i]
                    && program.variable_block(j).stage() != Stage::HereAndNow
                {
                    return refuse(
                        format!(
                            "`{}` is a coefficient of `{}` in `{}`, which holds for every noise: whether any rule does would depend on the data",
                            parameter.name(),
                            program.variable_name(j),
                            program.row_name(i)
                        ),
                        "strategy = output; or limits on both sides in the place of the equality",
                    );
                }
            }
        }
        Ok(())
    }

    /// The largest that optimal slacks of linear rows can be, up and down, over all data and all x within their public bounds.
    fn most(&self) -> Vec<(f64, f64)> {
        let program = self.affine.template();
        let mut limits: Vec<(f64, f64)> = program.b().iter().map(|b| (*b, *b)).collect();
        // By how much private coefficients can differ from the public ones.
        let mut wider: HashMap<(usize, usize), f64> = HashMap::new();
        for parameter in self.affine.parameters() {
            let (low, high) = parameter
                .bounds()
                .unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            for Location { place, coef } in parameter.locations() {
                let (a, b) = (coef * low, coef * high);
                match *place {
                    Place::B(i) => {
                        limits[i] = (limits[i].0 + a.min(b), limits[i].1 + a.max(b));
                    }
                    Place::A(i, j) => *wider.entry((i, j)).or_default() += a.abs().max(b.abs()),
                    Place::Q(_) | Place::P(..) => {}
                }
            }
        }
        let mut sizes = vec![0.0; program.rows()];
        for (i, j, a) in program.a().entries() {
            let a = a.abs() + wider.get(&(i, j)).copied().unwrap_or(0.0);
            // A variable that is fixed at 0 adds nothing, whatever its coefficient.
            let size = self.intervals.size(j);
            if self.of_row[i].is_some() && a > 0.0 && size > 0.0 {
                sizes[i] += a * size;
            }
        }
        let each = limits.iter().zip(&sizes);
        each.map(|((low, high), size)| ((size - low).max(0.0), (size + high).max(0.0)))
            .collect()
    }

    /// The program with slacks behind the user's variables. `width`: with quadratic slacks below them, and rows tightened by
    /// what these may take (M15c). `paid`: what one unit of the objective is in the answer; none where it holds no price.
    pub(super) fn build(
        &self,
        width: Option<f64>,
        paid: Option<f64>,
        strategy: Strategy,
    ) -> Result<Built> {
        let base = self.affine.template();
        if self.units.is_empty() {
            return Ok(Built {
                map: self.affine.clone(),
                // Added curvature is taken off the user's own objective there.
                deviation: width
                    .map(|_| Deviation::relaxed(self.affine, Vec::new(), false, base.columns())),
                priced: Vec::new(),
            });
        }
        let mut new = Growing {
            a: base.a().entries().collect(),
            b: base.b().to_vec(),
            p: base.p().entries().collect(),
            q: base.q().to_vec(),
        };
        let mut slacks = Vec::new();
        let mut names = Vec::new();
        let most = self.most();
        for unit in &self.units {
            let (signs, dim): (&[f64], usize) = match &unit.form {
                Form::Equality => (&[1.0, -1.0], 1),
                Form::Inequality => (&[1.0], 1),
                Form::Block(cone) => (&[1.0], cone.dim()),
            };
            let axis = match &unit.form {
                Form::Block(cone) => axis(cone),
                _ => vec![1.0],
            };
            let mut tightened = 0.0;
            if let Some(width) = width {
                tightened = width * unit.price * margin(&unit.form);
                for (i, e) in unit.rows.clone().zip(&axis) {
                    new.b[i] -= tightened * e;
                }
                // u ≥ 0 is optimal of itself: a smaller one would only tighten the row.
                for i in unit.rows.clone().take(dim) {
                    let u = new.column(0.0, Some(1.0 / width));
                    new.a.push((i, u, -1.0));
                    names.push(format!("smooth slack of {}", base.row_name(i)));
                }
            }
            for &sign in signs {
                let column = new.column(unit.price, None);
                for (i, e) in unit.rows.clone().zip(&axis) {
                    if *e != 0.0 {
                        new.a.push((i, column, -sign * e));
                    }
                }
                let direction = match (&unit.form, sign > 0.0) {
                    (Form::Equality, true) => " up",
                    (Form::Equality, false) => " down",
                    _ => "",
                };
                names.push(format!("slack of {}{direction}", unit.name));
                // Under noise a row is exceeded by its room too, which this bound does not count.
                let is_bounded = strategy != Strategy::Program && unit.rows.len() == 1;
                slacks.push(Slack {
                    name: unit.name.clone(),
                    row: unit.rows.start,
                    column,
                    sign,
                    paid: paid.map_or(0.0, |paid| paid * unit.price),
                    tightened,
                    high: match (is_bounded, most[unit.rows.start]) {
                        (true, (up, _)) if sign > 0.0 => up + tightened,
                        (true, (_, down)) => down,
                        (false, _) => f64::INFINITY,
                    },
                });
            }
        }
        let (mut variables, mut constraints) = base.blocks();
        let first = base.columns();
        let columns = new.q.len();
        variables.push(NewVariables {
            name: "slack of rows with private numbers".into(),
            len: columns - first,
            stage: Stage::HereAndNow,
            entries: unlike(names, &variables),
        });
        for slack in &slacks {
            new.a.push((new.b.len(), slack.column, -1.0));
            new.b.push(0.0);
        }
        constraints.push(NewConstraint {
            name: "slacks are not negative".into(),
            cone: Cone::Nonnegative(slacks.len()),
            holds: Holds::WithNoise,
            rows: Vec::new(),
        });
        let program = Program::new(
            Sparse::assemble(columns, columns, &new.p),
            new.q,
            Sparse::assemble(new.b.len(), columns, &new.a),
            new.b,
            variables,
            constraints,
        )?
        .with_constant(base.constant());
        let priced = slacks.iter().map(|s| (s.column, self.price(s.row)));
        Ok(Built {
            priced: priced.collect(),
            deviation: Some(Deviation::relaxed(
                self.affine,
                slacks,
                paid.is_some(),
                columns,
            )),
            // The user's rows and columns stand where they stood.
            map: AffineMap::new(program, self.affine.parameters().clone())?,
        })
    }
}

/// What `Elastic::build` makes.
pub(super) struct Built {
    pub(super) map: AffineMap,
    /// None where no row holds private numbers.
    pub(super) deviation: Option<Deviation>,
    /// Each linear slack with its price.
    pub(super) priced: Vec<(usize, f64)>,
}

/// What is known of optimal slacks.
pub(super) fn known(deviation: Option<&Deviation>) -> Vec<Limits> {
    deviation.map_or(Vec::new(), Deviation::known)
}

/// A program that grows by columns.
struct Growing {
    a: Vec<(usize, usize, f64)>,
    b: Vec<f64>,
    p: Vec<(usize, usize, f64)>,
    q: Vec<f64>,
}

impl Growing {
    fn column(&mut self, cost: f64, curvature: Option<f64>) -> usize {
        let j = self.q.len();
        self.q.push(cost);
        self.p.extend(curvature.map(|p| (j, j, p)));
        j
    }
}

/// Names of entries that no variable of the user has; else none.
fn unlike(names: Vec<String>, variables: &[NewVariables]) -> Vec<String> {
    let mut seen: std::collections::HashSet<&str> = std::collections::HashSet::new();
    for block in variables {
        seen.insert(&block.name);
        seen.extend(block.entries.iter().map(String::as_str));
    }
    let fits = |name: &String| !name.contains(['[', ']']);
    let all_fit = names.iter().all(fits) && {
        let mut seen = seen;
        names.iter().all(|name| seen.insert(name))
    };
    match all_fit {
        true => names,
        false => Vec::new(),
    }
}

/// By how many νπ a unit is tightened, along its axis: then it holds at the data themselves wherever its linear slack is 0. A
/// multiplier y with e'y ≤ π takes a smooth slack νy. Of a row it is at most νπ, and of a semidefinite matrix with trace
/// νπ the matrix νπ·I covers it. Of a second-order cone (2νπ − νy₀, −νy₁) must lie in the cone, with ‖y₁‖ ≤ y₀ ≤ π.
fn margin(form: &Form) -> f64 {
    match form {
        Form::Block(Cone::SecondOrder(_)) => 2.0,
        _ => 1.0,
    }
}

/// e with e'y ≥ |y_i| for every entry of every y of the dual cone.
fn axis(cone: &Cone) -> Vec<f64> {
    match cone {
        Cone::PsdTriangle(n) => {
            let mut e = vec![0.0; cone.dim()];
            for j in 0..*n {
                e[j * (j + 3) / 2] = 1.0;
            }
            e
        }
        _ => {
            let mut e = vec![0.0; cone.dim()];
            e[0] = 1.0;
            e
        }
    }
}

fn units(affine: &AffineMap, site: &Site<'_>) -> Result<Vec<Unit>> {
    let program = affine.template();
    let mut private: Vec<Option<(usize, Place)>> = vec![None; program.rows()];
    for (parameter, location) in affine.parameters().places() {
        if let Place::A(i, _) | Place::B(i) = location.place {
            private[i].get_or_insert((parameter, location.place));
        }
    }
    let mut units: Vec<Unit> = Vec::new();
    for block in program.constraints() {
        let mut rows = block.range().filter(|&i| private[i].is_some());
        match block.cone() {
            Cone::Zero(_) | Cone::Nonnegative(_) => {
                let form = match block.cone() {
                    Cone::Zero(_) => Form::Equality,
                    _ => Form::Inequality,
                };
                units.extend(rows.map(|i| Unit {
                    name: program.row_name(i),
                    rows: i..i + 1,
                    form: form.clone(),
                    price: 0.0,
                }));
            }
            cone @ (Cone::SecondOrder(_) | Cone::PsdTriangle(_)) => {
                if rows.next().is_some() {
                    units.push(Unit {
                        name: block.name().to_string(),
                        rows: block.range(),
                        form: Form::Block(cone.clone()),
                        price: 0.0,
                    });
                }
            }
            cone => {
                if let Some((parameter, place)) = rows.next().and_then(|i| private[i]) {
                    let parameter = affine.parameters().get(parameter);
                    let name = parameter.as_ref().map_or("".into(), |p| p.name());
                    return refuse(
                        format!(
                            "`{}` enters at {place} in `{}`, a cone of kind {}: no slack bounds all of its multipliers",
                            name,
                            block.name(),
                            cone.kind()
                        ),
                        "private numbers in linear, second-order or semidefinite rows, or a declared or sampled sensitivity",
                    );
                }
            }
        }
    }
    price(&mut units, program, site)?;
    Ok(units)
}

/// Each unit's own price, that of its block, or the one for all.
fn price(units: &mut [Unit], program: &Program, site: &Site<'_>) -> Result<()> {
    let terms = site.terms;
    let known = |name: &str| {
        units.iter().any(|unit| unit.name == name)
            || (program.constraints().iter()).any(|b| {
                b.name() == name && units.iter().any(|u| b.range().contains(&u.rows.start))
            })
    };
    for (name, price) in &terms.prices {
        if !known(name) {
            let names = units.iter().map(|unit| unit.name.as_str());
            let meant =
                nearest(name, names).map_or(String::new(), |n| format!("; did you mean `{n}`?"));
            return Err(Error::input(format!(
                "`prices` names `{name}`, but no row with private numbers is called so{meant}"
            )));
        }
        positive("price", *price)?;
    }
    if let Some(price) = terms.price {
        positive("price", price)?;
    }
    let stated = |name: &str| {
        let mut prices = terms.prices.iter();
        prices.find(|p| p.0 == name).map(|p| p.1)
    };
    for unit in units {
        let mut blocks = program.constraints().iter();
        let block = blocks.find(|b| b.range().contains(&unit.rows.start));
        let of_block = || stated(block?.name());
        let Some(price) = stated(&unit.name).or_else(of_block).or(terms.price) else {
            return refuse(
                format!(
                    "`{}` holds private numbers and has no price: what exceeding it by one unit costs is policy, and has no default",
                    unit.name
                ),
                format!(
                    "price = 1000.0 for all such rows, or prices = {{ \"{}\" = 1000.0 }} beside the certificate; with a width each is tightened by width times price",
                    unit.name
                ),
            );
        };
        unit.price = price;
    }
    Ok(())
}

/// A stated number that must be positive.
pub(super) fn positive(what: &str, number: f64) -> Result<f64> {
    match number.is_finite() && number > 0.0 {
        true => Ok(number),
        false => Err(Error::input(format!(
            "a saddle certificate's {what} must be positive and finite, found {number}"
        ))),
    }
}

/// The rows without private numbers; those that hold with noise, where that counts.
fn public_rows(affine: &AffineMap, of_row: &[Option<usize>], with_noise: bool) -> Program {
    let program = affine.template();
    let mut place = vec![None; program.rows()];
    let (mut b, mut cones) = (Vec::new(), Vec::new());
    for block in program.constraints() {
        if with_noise && block.holds() == Holds::AtTheMean {
            continue;
        }
        let rows: Vec<usize> = block.range().filter(|&i| of_row[i].is_none()).collect();
        if rows.is_empty() {
            continue;
        }
        for &i in &rows {
            place[i] = Some(b.len());
            b.push(program.b()[i]);
        }
        cones.push(match block.cone() {
            Cone::Zero(_) => Cone::Zero(rows.len()),
            Cone::Nonnegative(_) => Cone::Nonnegative(rows.len()),
            // Whole, since a private number makes a unit of all of it.
            cone => cone.clone(),
        });
    }
    let kept = program.a().entries();
    let kept = kept.filter_map(|(i, j, v)| Some((place[i]?, j, v)));
    let n = program.columns();
    let a = Sparse::assemble(b.len(), n, &kept.collect::<Vec<_>>());
    Program::assembled(Sparse::zeros(n, n), vec![0.0; n], a, b, 0.0, cones)
}
