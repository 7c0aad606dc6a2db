//! Truncated perturbation (M17e): bounded noise on the private numbers, each moved to its strict side by what the noise may
//! reach, so that the program at the noisy data asks for no less than the data themselves do.

use crate::digits::short;
use crate::error::{Error, Result};
use crate::noise::{LatticeLaw, Law};
use crate::program::{AffineMap, Cone, DataMap, Location, Parameter, Place, Program};
use crate::solve::{self, Settings};

/// On which side of a private number fewer decisions are feasible.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Strict {
    /// A limit: less is stricter.
    Below,
    /// What counts against a limit: more is stricter.
    Above,
    /// A cost: no limit hangs on it.
    Neither,
}

/// How noisy data are made stricter than the data.
///
/// # Guarantee
/// Every number with noise in [−B, B] on the data's own nearest lattice point, moved by `room` ≥ B + h to its strict side and
/// clipped to its public bounds, is at least as strict as the data between those bounds. So what is feasible at the moved
/// numbers is feasible at the data: private numbers stand in inequalities and costs only, those on coefficients with variables
/// that public rows keep from being negative, and no number is stricter upwards in one place and downwards in another. At the
/// strictest bounds something is feasible, so something is at all data. All of it is checked on public structure. Tests:
/// `answers_at_tightened_data_meet_every_constraint_of_the_data`, `what_cannot_be_tightened_is_refused`.
#[derive(Clone, Debug)]
pub(super) struct Tightening {
    /// By private number, with its bounds.
    numbers: Vec<(Strict, f64, f64)>,
    room: f64,
    /// Columns with private coefficients, which are never negative.
    coefficients_of: Vec<usize>,
}

fn refuse<T>(why: String, instead: &str) -> Result<T> {
    let instead = format!("{instead}; or strategy = program, or input");
    Err(Error::refused("strategy = truncated", why, instead))
}

impl Tightening {
    /// Checks the assumptions, or refuses with the reason.
    pub(super) fn new(
        model: &dyn DataMap,
        noise: &LatticeLaw,
        settings: &Settings,
    ) -> Result<Self> {
        let Law::TruncatedLaplace(law) = noise.law() else {
            return refuse(
                "it makes room for all the noise that there can be, and this noise has no bound"
                    .into(),
                "mechanism = \"truncated-laplace\", which takes a δ",
            );
        };
        let Some(map) = model.affine() else {
            return refuse(
                "the program depends on the data in a way that cannot be inspected".into(),
                "private numbers that enter the program linearly",
            );
        };
        if map.ball().is_some() {
            return refuse(
                "records are scaled to a public length, which moves several numbers with one"
                    .into(),
                "public bounds on every number",
            );
        }
        let structure = Structure::of(map);
        let numbers: Result<Vec<_>> = (map.parameters().iter())
            .map(|parameter| structure.strict(&parameter))
            .collect();
        let numbers = numbers?;
        // Half a step is the data's own rounding, half one that of the bound in steps; what rounds on the way is far below.
        let room = (law.bound() + noise.step()) * (1.0 + 8.0 * f64::EPSILON);
        let mut coefficients_of: Vec<usize> = (map.parameters().places())
            .filter_map(|(_, location)| location.place.in_a().map(|(_, column)| column))
            .collect();
        coefficients_of.sort_unstable();
        coefficients_of.dedup();
        let tightening = Tightening {
            numbers,
            room,
            coefficients_of,
        };
        tightening.check_the_strictest(model, settings)?;
        Ok(tightening)
    }

    /// The data at least as strict as those behind these noisy ones.
    pub(super) fn apply(&self, noisy: &[f64]) -> Vec<f64> {
        let strict = |(value, (side, low, high)): (&f64, &(Strict, f64, f64))| {
            let slip = 2.0 * f64::EPSILON * (value.abs() + self.room);
            match side {
                Strict::Below => (value - self.room - slip).max(*low),
                Strict::Above => (value + self.room + slip).min(*high),
                Strict::Neither => *value,
            }
        };
        noisy.iter().zip(&self.numbers).map(strict).collect()
    }

    /// What the solver leaves below 0 is 0, where a private coefficient would multiply it.
    pub(super) fn clamp(&self, x: &mut [f64]) {
        for &j in &self.coefficients_of {
            x[j] = x[j].max(0.0);
        }
    }

    /// What is done, in words.
    pub(super) fn text(&self) -> String {
        let has_costs = self
            .numbers
            .iter()
            .any(|number| number.0 == Strict::Neither);
        let unbounded = match has_costs {
            true => "; where no cost is least at the noisy data, there is no answer",
            false => "",
        };
        format!(
            "every noisy number that a limit hangs on is moved by {} to the strict side before the solve{unbounded}",
            short(self.room, 6)
        )
    }

    /// Something is feasible where every number is as strict as its public bounds let it be.
    fn check_the_strictest(&self, model: &dyn DataMap, settings: &Settings) -> Result<()> {
        let strictest = self.numbers.iter().map(|(side, low, high)| match side {
            Strict::Below => *low,
            Strict::Above => *high,
            Strict::Neither => 0.0f64.clamp(*low, *high),
        });
        let program = model.at(&strictest.collect::<Vec<f64>>())?;
        let free = program.with_linear_cost(vec![0.0; program.columns()]);
        match solve::solve_checked(&free, settings) {
            Ok(_) => Ok(()),
            Err(Error::Cancelled) => Err(Error::Cancelled),
            Err(why) => refuse(
                format!(
                    "no decision is feasible where all private numbers are at the strict ends of their public bounds: {why}"
                ),
                "narrower public bounds",
            ),
        }
    }
}

/// What of a program's public structure the strict sides hang on.
struct Structure<'p> {
    program: &'p Program,
    /// Rows that only ask b − Ax not to be negative.
    inequalities: Vec<bool>,
    /// Columns that a public row of their own keeps from being negative.
    never_negative: Vec<bool>,
}

impl<'p> Structure<'p> {
    fn of(map: &'p AffineMap) -> Self {
        let program = map.template();
        let mut inequalities = vec![false; program.rows()];
        for block in program.constraints() {
            if matches!(block.cone(), Cone::Nonnegative(_)) {
                inequalities[block.range()].fill(true);
            }
        }
        let mut is_public = vec![true; program.rows()];
        for (_, location) in map.parameters().places() {
            if let Place::A(row, _) | Place::B(row) = location.place {
                is_public[row] = false;
            }
        }
        let rows = program.a().by_rows();
        let mut never_negative = vec![false; program.columns()];
        for row in (0..program.rows()).filter(|row| inequalities[*row] && is_public[*row]) {
            let mut terms = rows.row(row).iter().filter(|term| term.1 != 0.0);
            if let (Some((column, coefficient)), None) = (terms.next(), terms.next())
                && *coefficient < 0.0
                && program.b()[row] <= 0.0
            {
                never_negative[*column] = true;
            }
        }
        Structure {
            program,
            inequalities,
            never_negative,
        }
    }

    /// The strict side of a private number, and its public bounds.
    fn strict(&self, parameter: &Parameter) -> Result<(Strict, f64, f64)> {
        let mut side = Strict::Neither;
        for location in parameter.locations() {
            side = match (side, self.strict_at(location, parameter)?) {
                (one, other) if one == other => one,
                (one, Strict::Neither) => one,
                (Strict::Neither, other) => other,
                _ => {
                    return refuse(
                        format!(
                            "more of `{}` is stricter in one place and less of it in another",
                            parameter.name()
                        ),
                        "a program in which every private number has one strict side",
                    );
                }
            };
        }
        match (side, parameter.bounds()) {
            (_, Some((low, high))) => Ok((side, low, high)),
            (Strict::Neither, None) => Ok((side, f64::NEG_INFINITY, f64::INFINITY)),
            (_, None) => refuse(
                format!("`{}` has no public bounds", parameter.name()),
                "public bounds on every private number that a limit hangs on",
            ),
        }
    }

    /// The strict side of one place.
    fn strict_at(&self, location: &Location, parameter: &Parameter) -> Result<Strict> {
        let (row, where_more_is) = match location.place {
            Place::Q(_) => return Ok(Strict::Neither),
            Place::B(row) => (row, [Strict::Above, Strict::Below]),
            Place::A(row, _) => (row, [Strict::Below, Strict::Above]),
            Place::P(..) => {
                return refuse(
                    format!("`{}` enters the quadratic cost", parameter.name()),
                    "a public quadratic cost",
                );
            }
        };
        if !self.inequalities[row] {
            return refuse(
                format!(
                    "`{}` enters `{}`, which is no linear inequality: no side of it is stricter",
                    parameter.name(),
                    self.program.row_name(row)
                ),
                "private numbers in linear inequalities and linear costs",
            );
        }
        if let Place::A(_, column) = location.place
            && !self.never_negative[column]
        {
            return refuse(
                format!(
                    "`{}` is a coefficient of `{}`, which no public row of its own keeps from being negative",
                    parameter.name(),
                    self.program.variable_name(column)
                ),
                "a public lower bound of 0 or more on it",
            );
        }
        Ok(where_more_is[usize::from(location.coef > 0.0)])
    }
}
