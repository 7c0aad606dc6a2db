//! M8a. Envelope: the optimal value with a private right-hand side b = b₀ + Eθ.
//!
//! The program may deviate from the data at a public price: v_π(θ) = min over θ̃ of v(θ̃) + π‖θ − θ̃‖. That is the same
//! conic program with θ̃ and the norm's epigraph t as here-and-now variables, and it moves by at most π per unit of θ,
//! whatever the noise scale. The released number is the whole of it, c'x̄ + π‖θ − θ̃‖, and with `release = "value"`
//! ½x̄'Px̄ + c'x̄ + π‖θ − θ̃‖.

use super::certificate::{Certificate, Kind, Need, Rewrite, Site, Takes, Tolerance, solver_text};
use super::corrected::{Corrected, nominal_or_middle, right_hand_sides, widths};
use super::deviation::{Deviation, Toll};
use crate::ask::{Adjacency, Norm, Request, ResolvedQuery, Terms};
use crate::digits::short;
use crate::error::{Error, Result};
use crate::program::{AffineMap, Cone, DataMap, Location, Place};

/// The name of t in reports.
const CORRECTION: &str = "size of the correction";

impl Request {
    /// Certified for the optimal value with a private right-hand side: deviating from the data is allowed at a public
    /// price per unit (the value of lost load, a price cap), so that the released value moves by at most that price (M8a).
    pub fn envelope(price: f64) -> Self {
        Request::Certificate {
            word: EnvelopeKind.word(),
            terms: Terms::priced(price),
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

    fn takes(&self) -> Takes {
        Takes {
            price: Need::Required,
            ..Takes::default()
        }
    }

    fn follows_alpha(&self) -> bool {
        true
    }

    fn covers_the_objective(&self) -> bool {
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
/// |v_π(θ) − v_π(θ')| ≤ π‖θ − θ'‖, for the chance-constrained value at any noise scale, for the smallest of several such
/// values (M8a, M5a), and for the value of a quadratic program with noise on the answer. The program is feasible for every
/// dataset or for none, since θ̃ stays where it is and t takes up the difference; its value is then finite for every dataset
/// or for none, by the bound itself. Test: `envelope_values_of_quadratic_programs_move_by_at_most_the_price`.
#[derive(Clone, Debug)]
struct Envelope {
    map: AffineMap,
    query: ResolvedQuery,
    price: f64,
    bound: f64,
    solver: f64,
    /// What one unit of the objective is in T⁻¹ times the answer.
    unit: f64,
    norm: Norm,
    deviation: Deviation,
}

impl Envelope {
    /// Checks on public structure that the released number is the whole objective, that only b is private, and that
    /// every parameter has public bounds; builds the program with θ̃.
    fn new(site: &Site<'_>) -> Result<Self> {
        let (Some(price), Some((query, _))) = (site.terms.price, site.posed) else {
            return Err(Error::input("an envelope needs its price"));
        };
        if !(price.is_finite() && price > 0.0) {
            return Err(Error::input(format!(
                "the envelope's price must be positive and finite, found {price}"
            )));
        }
        let refuse = |why: String, instead: &str| Err(Error::refused("an envelope", why, instead));
        let affine = right_hand_sides(site, "an envelope")?;
        let base = affine.template();
        if base.p().nnz() > 0 && !query.is_objective {
            return refuse(
                "the objective is quadratic, and the released number must be the whole objective"
                    .into(),
                "release = \"value\" with strategy = output; or write the cost through an epigraph variable and release it as `at-most` with a public slope",
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
        let widths = widths(affine);
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
            bound: factor.abs() * price * reach / scale,
            solver: 0.0,
            unit: factor.abs() / scale,
            norm,
            deviation: Deviation::corrected(
                affine,
                norm,
                Toll::InTheAnswer(factor.abs() * price),
                map.template().columns(),
            ),
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
            self.norm.symbol(),
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

    fn public_data(&self, map: &dyn DataMap) -> Vec<f64> {
        nominal_or_middle(map)
    }
}

/// The size t of the correction, above the norm of θ̃ − θ; cost ½x'Px + q'x + πt.
fn deviating(
    affine: &AffineMap,
    query: &ResolvedQuery,
    norm: Norm,
    price: f64,
    factor: f64,
) -> Result<(AffineMap, ResolvedQuery)> {
    let (theta, p) = (affine.template().columns(), affine.len());
    let mut corrected = Corrected::new(affine);
    let sizes = match norm {
        Norm::L1 => p,
        Norm::L2 => 1,
    };
    let t = corrected.here_and_now(CORRECTION, sizes);
    let places = match norm {
        Norm::L1 => {
            // t − (θ̃ − θ) ≥ 0 and t + (θ̃ − θ) ≥ 0.
            let names = corrected.of_each(&["correction up", "correction down"]);
            let zeros = vec![0.0; 2 * p];
            let up = corrected.rows(CORRECTION, Cone::Nonnegative(2 * p), names, &zeros);
            let down = up + p;
            for i in 0..p {
                corrected.entries(&[
                    (up + i, theta + i, 1.0),
                    (up + i, t + i, -1.0),
                    (down + i, theta + i, -1.0),
                    (down + i, t + i, -1.0),
                ]);
            }
            let both = |i: usize| {
                vec![
                    Location::new(Place::B(up + i), 1.0),
                    Location::new(Place::B(down + i), -1.0),
                ]
            };
            (0..p).map(both).collect()
        }
        Norm::L2 => {
            // (t, θ − θ̃) in the cone.
            let zeros = vec![0.0; p + 1];
            let first = corrected.rows(CORRECTION, Cone::SecondOrder(p + 1), Vec::new(), &zeros);
            corrected.entries(&[(first, t, -1.0)]);
            for i in 0..p {
                corrected.entries(&[(first + 1 + i, theta + i, 1.0)]);
            }
            let place = |i: usize| vec![Location::new(Place::B(first + 1 + i), 1.0)];
            (0..p).map(place).collect()
        }
    };
    let costs: Vec<(usize, f64)> = (0..sizes).map(|i| (t + i, price)).collect();
    let map = corrected.map(&[], &costs, places)?;
    let mut query = query.clone();
    // The objective of this program has the price in it.
    if !query.is_objective {
        query.rows[0].extend((0..sizes).map(|i| (t + i, factor * price)));
    }
    Ok((map, query))
}
