//! M8a. Envelope: the optimal value with a private right-hand side b = b₀ + Eθ.
//!
//! The program may deviate from the data at a public price: v_π(θ) = min over θ̃ of v(θ̃) + π‖θ − θ̃‖. That is the same
//! conic program with θ̃ and the norm's epigraph t as here-and-now variables, and it moves by at most π per unit of θ,
//! whatever the noise scale. The released number is the whole of it, c'x̄ + π‖θ − θ̃‖.

use super::certificate::{Certificate, Kind, Rewrite, Site, Tolerance, solver_text};
use crate::ask::{Adjacency, Norm, Request, ResolvedQuery};
use crate::digits::short;
use crate::error::{Error, Result};
use crate::program::{
    AffineMap, Cone, DataMap, Holds, Location, NewConstraint, NewVariables, Parameter, Place,
    Program, Sparse, Stage,
};
use crate::proof::Limits;

/// The name of θ̃ in reports.
const CORRECTED: &str = "corrected data";

/// The name of t in reports.
const CORRECTION: &str = "size of the correction";

impl Request {
    /// Certified for the optimal value with a private right-hand side: deviating from the data is allowed at a public
    /// price per unit (the value of lost load, a price cap), so that the released value moves by at most that price (M8a).
    pub fn envelope(price: f64) -> Self {
        Request::Certificate {
            word: EnvelopeKind.word(),
            price: Some(price),
        }
    }
}

/// The kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct EnvelopeKind;

impl Kind for EnvelopeKind {
    fn word(&self) -> &'static str {
        "envelope"
    }

    fn covers(&self) -> &'static str {
        "the optimal value with private right-hand sides, at a public price for deviating from the data"
    }

    fn takes_price(&self) -> bool {
        true
    }

    fn follows_alpha(&self) -> bool {
        true
    }

    fn private_part(&self) -> Option<&'static str> {
        Some("b")
    }

    /// It looks for data within them (M8a).
    fn needs_bounds(&self) -> bool {
        true
    }

    fn prove(&self, site: &Site<'_>) -> Result<Box<dyn Certificate>> {
        Ok(Box::new(Envelope::new(site)?))
    }
}

/// A program that may deviate from its data at a price.
///
/// # Guarantee
/// |v_π(θ) − v_π(θ')| ≤ π‖θ − θ'‖, for the chance-constrained value at any noise scale, and for the smallest of several
/// such values (M8a, M5a). The program is feasible for every dataset or for none, since θ̃ stays where it is and t takes
/// up the difference; its value is then finite for every dataset or for none, by the bound itself.
#[derive(Clone, Debug)]
struct Envelope {
    map: AffineMap,
    query: ResolvedQuery,
    price: f64,
    bound: f64,
    solver: f64,
    /// What one unit of the objective is in T⁻¹ times the answer.
    unit: f64,
    deviation: Deviation,
}

/// θ̃ and the size of the correction, behind the variables of the user's own program.
#[derive(Clone, Debug)]
pub struct Deviation {
    norm: Norm,
    /// π in the unit of the answer, which may be a multiple of the value.
    price: f64,
    /// Variables of the user's own program.
    users_columns: usize,
    /// Variables of the program with θ̃.
    columns: usize,
    /// Widths of the public bounds.
    widths: Vec<f64>,
}

impl Deviation {
    /// What a correction of this size adds to the answer.
    pub(crate) fn paid(&self, size: f64) -> f64 {
        self.price * size
    }

    /// The size of the correction from a dataset to θ̃.
    pub(crate) fn size(&self, from: &[f64], corrected: &[f64]) -> f64 {
        let change: Vec<f64> = from.iter().zip(corrected).map(|(a, b)| b - a).collect();
        self.norm.of(&change)
    }

    /// θ̃ in a decision of the program with θ̃.
    pub(crate) fn corrected<'x>(&self, x: &'x [f64]) -> &'x [f64] {
        &x[self.users_columns..self.users_columns + self.widths.len()]
    }

    /// A decision of the user's own program at θ, as one of the program with θ̃ = θ.
    pub(crate) fn at_the_data(&self, x: &[f64], theta: &[f64]) -> Vec<f64> {
        let mut whole = x.to_vec();
        whole.extend_from_slice(theta);
        whole.resize(self.columns, 0.0);
        whole
    }

    /// What is known of an optimal correction.
    fn known(&self) -> Vec<Limits> {
        let first = self.users_columns + self.widths.len();
        let up_to = |i: usize, high: f64| Limits {
            column: first + i,
            low: 0.0,
            high,
        };
        match self.norm {
            Norm::L1 => {
                let each = self.widths.iter().enumerate();
                each.map(|(i, w)| up_to(i, *w)).collect()
            }
            Norm::L2 => vec![up_to(0, crate::program::norm(&self.widths))],
        }
    }

    /// A point of the lifted program that lies inside every cone for some data, moved to where it does for all.
    pub(crate) fn inside_for_all(&self, mut x: Vec<f64>) -> Vec<f64> {
        for Limits { column, high, .. } in self.known() {
            x[column] = 2.0 * high + 1.0;
        }
        x
    }
}

impl Envelope {
    /// Checks on public structure that the released number is the whole objective, that only b is private, and that
    /// every parameter has public bounds; builds the program with θ̃.
    fn new(site: &Site<'_>) -> Result<Self> {
        let (Some(price), Some((query, _))) = (site.price, site.posed) else {
            return Err(Error::input("an envelope needs its price"));
        };
        if !(price.is_finite() && price > 0.0) {
            return Err(Error::input(format!(
                "the envelope's price must be positive and finite, found {price}"
            )));
        }
        let refuse = |why: String, instead: &str| Err(Error::refused("an envelope", why, instead));
        let Some(affine) = site.map.affine() else {
            return refuse(
                "the program depends on the data in a way that cannot be inspected".into(),
                "a map that is affine in the data, or a declared or sampled sensitivity",
            );
        };
        let base = affine.template();
        for parameter in affine.parameters() {
            let elsewhere = |l: &&Location| !matches!(l.place, Place::B(_));
            if let Some(location) = parameter.locations().iter().find(elsewhere) {
                return refuse(
                    format!(
                        "it covers private right-hand sides only, but `{}` enters at {}",
                        parameter.name(),
                        location.place
                    ),
                    "a certificate for that part, or a declared or sampled sensitivity",
                );
            }
            if parameter.bounds().is_none() {
                return refuse(
                    format!("`{}` has no public bounds", parameter.name()),
                    "public bounds on every parameter, wide enough for every admissible value of either sign",
                );
            }
        }
        if base.p().nnz() > 0 {
            return refuse(
                "the objective is quadratic, and the released number must be the whole objective"
                    .into(),
                "write the cost through an epigraph variable and release it as `at-most` with a public slope",
            );
        }
        let Some(factor) = query.value_factor else {
            return refuse(
                "what is released is not the optimal value: another combination of the variables can jump when the data move a little".into(),
                "release the cost, or use a declared or sampled sensitivity",
            );
        };
        let risk = &site.ask.risk;
        if risk.weighs_variance() || risk.has_limit() {
            return refuse(
                "the objective is not the released number alone: a variance weight or a limit on CVaR stands beside it".into(),
                "the expected cost, or its CVaR",
            );
        }
        let widths: Vec<f64> = affine
            .parameters()
            .iter()
            .map(|q| q.bounds().map_or(0.0, |(low, high)| high - low))
            .collect();
        let norm = match &site.adjacency {
            Adjacency::L2 { .. } => Norm::L2,
            _ => Norm::L1,
        };
        let reach = match &site.adjacency {
            Adjacency::OneEntry { alpha } | Adjacency::L1 { alpha } | Adjacency::L2 { alpha } => {
                *alpha
            }
            Adjacency::OneRecord { len } => widths
                .chunks((*len).max(1))
                .map(|record| record.iter().sum::<f64>())
                .fold(0.0, f64::max),
            Adjacency::Universe => widths.iter().sum(),
        };
        let scale = site.scale_of_answer();
        let (map, query) = deviating(affine, query, norm, price, factor)?;
        Ok(Envelope {
            price,
            bound: factor * price * reach / scale,
            solver: 0.0,
            unit: factor / scale,
            deviation: Deviation {
                norm,
                price: factor * price,
                users_columns: base.columns(),
                columns: map.template().columns(),
                widths,
            },
            map,
            query,
        })
    }
}

impl Certificate for Envelope {
    fn name(&self) -> &'static str {
        "envelope"
    }

    fn statement(&self) -> String {
        format!(
            "envelope: deviating from the data costs {} per unit in the {} norm; so the released value moves by at most {} between neighbours{}; it covers the private right-hand sides; it assumes that the price, the public bounds and the program were fixed without the data",
            short(self.price, 9),
            self.deviation.norm.symbol(),
            short(self.bound, 9),
            solver_text(self.solver)
        )
    }

    fn bound(&self) -> f64 {
        self.bound + self.solver
    }

    fn admits_optimised_split(&self) -> bool {
        true
    }

    fn defined_everywhere(&self) -> bool {
        true
    }

    fn rewrite(&self) -> Option<Rewrite<'_>> {
        Some(Rewrite {
            map: &self.map,
            query: &self.query,
            deviation: Some(&self.deviation),
        })
    }

    fn tolerance(&self) -> Option<Tolerance> {
        Some(Tolerance::of_a_value(
            self.bound(),
            self.unit,
            self.deviation.known(),
        ))
    }

    fn counting(&self, tolerance: f64) -> Box<dyn Certificate> {
        Box::new(Envelope {
            solver: 2.0 * self.unit * tolerance,
            ..self.clone()
        })
    }

    /// The nominal values, or the middle of the bounds.
    fn public_data(&self, map: &dyn DataMap) -> Vec<f64> {
        let middle = |q: &Parameter| q.bounds().map_or(0.0, |(low, high)| 0.5 * (low + high));
        let parameters = map.parameters().iter();
        parameters
            .map(|q| q.nominal_value().unwrap_or_else(|| middle(q)))
            .collect()
    }
}

/// Rows A x − Eθ̃ in place of b₀ + Eθ; low ≤ θ̃ ≤ high; t above the norm of θ̃ − θ; cost q'x + πt.
fn deviating(
    affine: &AffineMap,
    query: &ResolvedQuery,
    norm: Norm,
    price: f64,
    factor: f64,
) -> Result<(AffineMap, ResolvedQuery)> {
    let base = affine.template();
    let (m, n, p) = (base.rows(), base.columns(), affine.len());
    let sizes = match norm {
        Norm::L1 => p,
        Norm::L2 => 1,
    };
    let (theta, t) = (n, n + p);
    let mut triplets: Vec<(usize, usize, f64)> = base.a().entries().collect();
    let mut b = base.b().to_vec();
    let mut parameters = Vec::with_capacity(p);
    for (i, parameter) in affine.parameters().iter().enumerate() {
        for location in parameter.locations() {
            if let Place::B(row) = location.place {
                triplets.push((row, theta + i, -location.coef));
            }
        }
        // θ̃ ≤ high, −θ̃ ≤ −low.
        triplets.push((m + i, theta + i, 1.0));
        triplets.push((m + p + i, theta + i, -1.0));
        let first_new = m + 2 * p;
        let places = match norm {
            Norm::L1 => {
                // t − (θ̃ − θ) ≥ 0 and t + (θ̃ − θ) ≥ 0.
                triplets.extend([
                    (first_new + i, theta + i, 1.0),
                    (first_new + i, t + i, -1.0),
                    (first_new + p + i, theta + i, -1.0),
                    (first_new + p + i, t + i, -1.0),
                ]);
                vec![
                    Location::new(Place::B(first_new + i), 1.0),
                    Location::new(Place::B(first_new + p + i), -1.0),
                ]
            }
            Norm::L2 => {
                // (t, θ − θ̃) in the cone.
                triplets.push((first_new + 1 + i, theta + i, 1.0));
                vec![Location::new(Place::B(first_new + 1 + i), 1.0)]
            }
        };
        parameters.push(parameter.moved_to(places));
    }
    let bounds = |side: fn((f64, f64)) -> f64| {
        let each = affine.parameters().iter();
        each.map(|q| q.bounds().map_or(0.0, side))
            .collect::<Vec<f64>>()
    };
    b.extend(bounds(|(_, high)| high));
    b.extend(bounds(|(low, _)| -low));
    let names = affine.parameters().iter();
    let row_names = |what: &str| -> Vec<String> {
        names
            .clone()
            .map(|q| format!("{what} of {}", q.name()))
            .collect()
    };
    let (mut variables, mut constraints) = base.blocks();
    let both = [row_names("upper bound"), row_names("lower bound")].concat();
    constraints.push(NewConstraint {
        name: "public bounds of the data".into(),
        cone: Cone::Nonnegative(2 * p),
        holds: Holds::WithNoise,
        rows: both,
    });
    match norm {
        Norm::L1 => {
            b.extend(vec![0.0; 2 * p]);
            constraints.push(NewConstraint {
                name: CORRECTION.into(),
                cone: Cone::Nonnegative(2 * p),
                holds: Holds::WithNoise,
                rows: [row_names("correction up"), row_names("correction down")].concat(),
            });
        }
        Norm::L2 => {
            triplets.push((m + 2 * p, t, -1.0));
            b.extend(vec![0.0; p + 1]);
            constraints.push(NewConstraint {
                name: CORRECTION.into(),
                cone: Cone::SecondOrder(p + 1),
                holds: Holds::WithNoise,
                rows: Vec::new(),
            });
        }
    }
    for (name, len) in [(CORRECTED, p), (CORRECTION, sizes)] {
        variables.push(NewVariables {
            name: name.into(),
            len,
            stage: Stage::HereAndNow,
        });
    }
    let mut q = base.q().to_vec();
    q.resize(n + p, 0.0);
    q.resize(n + p + sizes, price);
    let columns = n + p + sizes;
    let a = Sparse::assemble(b.len(), columns, &triplets);
    let program = Program::new(
        Sparse::zeros(columns, columns),
        q,
        a,
        b,
        variables,
        constraints,
    )?
    .with_constant(base.constant());
    let mut query = query.clone();
    query.rows[0].extend((0..sizes).map(|i| (t + i, factor * price)));
    Ok((AffineMap::new(program, parameters)?, query))
}
