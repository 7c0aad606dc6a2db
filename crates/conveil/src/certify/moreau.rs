//! M15a. Moreau envelope: any linear query of the solution with private right-hand sides b = b₀ + Eθ.
//!
//! The program may choose data θ̃ in the place of θ at a smooth public price H: min ½x'Px + q'x + H(θ − θ̃), with
//! H(d) = p₀'d + ‖d‖²/(2ν), or capped, p₀'d + min over w of ‖w‖²/(2ν) + π‖d − w‖₁. In (x̄, X, θ̃) the feasible set is
//! public, and the data stand in a linear cost alone: ‖θ − u‖²/(2ν) = ‖u‖²/(2ν) − θ'u/ν + a constant, with u = θ̃, or u = θ − w
//! under a cap. So it is a strongly convex program with private linear costs (M8c).

use super::certificate::{
    Certificate, Kind, Need, Rewrite, Site, Takes, Tolerance, limited, solver_text,
};
use super::corrected::{Corrected, nominal_or_middle, right_hand_sides};
use super::deviation::{Deviation, Toll};
use super::metric::CurvedBound;
use super::strong_convexity::{OF_A_DISTANCE, moved_by_costs};
use crate::ask::{Around, Norm, Offset, Request, ResolvedQuery, Terms};
use crate::digits::short;
use crate::error::{Error, Result};
use crate::program::{AffineMap, Cone, DataMap, Location, Place};
use crate::solve;

/// What refusals call it.
const WHAT: &str = "a Moreau envelope";

impl Request {
    /// Certified for any linear query with private right-hand sides, under these public terms (M15a): a width, prices at
    /// which no correction is made, a cap on prices, added curvature.
    pub fn moreau(terms: Terms) -> Self {
        Request::Certificate {
            word: MoreauKind.word(),
            terms,
        }
    }
}

/// The kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct MoreauKind;

impl Kind for MoreauKind {
    fn word(&self) -> &'static str {
        "moreau"
    }

    fn covers(&self) -> &'static str {
        "any linear query of a curved program with private right-hand sides, which may be corrected at a smooth public price"
    }

    fn takes(&self) -> Takes {
        Takes {
            price: Need::Optional,
            width: Need::Required,
            offset: Need::Optional,
            curvature: Need::Optional,
            ..Takes::default()
        }
    }

    fn follows_alpha(&self) -> bool {
        true
    }

    fn private_part(&self) -> Option<&'static str> {
        Some("b")
    }

    fn needs_bounds(&self) -> bool {
        true
    }

    fn prove(&self, site: &Site<'_>) -> Result<Box<dyn Certificate>> {
        Ok(Box::new(Moreau::new(site)?))
    }
}

/// A curved program that may deviate from its right-hand sides at a smooth price.
///
/// # Guarantee
/// ‖x̄ − x̄'‖_P ≤ ‖θ − θ'‖₂/(2√ν) for the released map at any noise scale, under any tightening, with X fixed or free (M15a): in
/// the coordinates of diag(P, I/ν)^½ the point (x̄, u) is the proximal point of a public convex function at −P^{-1/2}(q, −θ/ν), so
/// it moves by a y with ‖y − g/2‖ ≤ ‖g‖/2, and g = (θ' − θ)/√ν stands on u alone. It needs P positive definite on what is
/// released. The map is defined for every dataset as soon as it is for one (M8c).
#[derive(Clone, Debug)]
struct Moreau {
    map: AffineMap,
    query: ResolvedQuery,
    bound: CurvedBound,
    deviation: Deviation,
    terms: Terms,
}

impl Moreau {
    /// Checks on public structure that only b is private and bounded, and that the cost has curvature on what is released.
    fn new(site: &Site<'_>) -> Result<Self> {
        let terms = site.terms;
        let (Some(width), Some((query, _))) = (terms.width, site.posed) else {
            return Err(Error::input("a Moreau envelope needs its width"));
        };
        for (what, number) in [("width", Some(width)), ("price", terms.price)] {
            if let Some(number) = number
                && !(number.is_finite() && number > 0.0)
            {
                return Err(Error::input(format!(
                    "the Moreau envelope's {what} must be positive and finite, found {number}"
                )));
            }
        }
        if site.ask.risk.has_limit() {
            return Err(limited(WHAT));
        }
        let affine = right_hand_sides(site, WHAT)?;
        if site.curvature().is_none_or(|c| site.metric(&c).is_none()) {
            return Err(no_curvature(site, query));
        }
        let offset = offset(affine, site)?;
        let (map, capped) = smooth(affine, width, &offset, terms.price)?;
        let deviation = Deviation::corrected(
            affine,
            Norm::L1,
            Toll::BesideTheAnswer { capped },
            map.template().columns(),
        );
        let moved = Site {
            map: &map,
            posed: site.posed,
            ..*site
        };
        let bound = moved_by_costs(&moved, &map)?;
        Ok(Moreau {
            query: query.clone(),
            bound,
            deviation,
            terms: terms.clone(),
            map,
        })
    }
}

/// Which released variable lacks curvature, and what gives it.
fn no_curvature(site: &Site<'_>, query: &ResolvedQuery) -> Error {
    let program = site.map.template();
    let flat = query.rows().iter().flatten();
    let flat = flat.map(|t| t.0).find(|&j| !(program.p().get(j, j) > 0.0));
    let why = match flat {
        Some(j) => format!(
            "`{}` is released, and the cost has no curvature on it: its optimal value may jump",
            program.variable_name(j)
        ),
        None => "the quadratic cost is not positive definite on the variables it names: some combination of them may jump".into(),
    };
    Error::refused(
        WHAT,
        why,
        "`curvature` beside the width: a small quadratic cost on what is released, for example curvature = 0.1",
    )
}

/// p₀ by parameter.
fn offset(affine: &AffineMap, site: &Site<'_>) -> Result<Vec<f64>> {
    let parameters = affine.parameters();
    match &site.terms.offset {
        Offset::Each(price) => finite(*price).map(|price| vec![price; parameters.len()]),
        Offset::Named(prices) => {
            let mut offset = vec![0.0; parameters.len()];
            for (name, price) in prices {
                let Some(i) = parameters.iter().position(|p| p.name() == name.as_str()) else {
                    return Err(Error::input(format!(
                        "the offset names `{name}`, but no private number is called so"
                    )));
                };
                offset[i] = finite(*price)?;
            }
            Ok(offset)
        }
        Offset::Nominal => marginal_prices(affine, site),
    }
}

fn finite(price: f64) -> Result<f64> {
    match price.is_finite() {
        true => Ok(price),
        false => Err(Error::input(format!(
            "an offset must be a finite number, found {price}"
        ))),
    }
}

/// What one unit more of each datum costs at public data: −E'z, z the multipliers of the rows.
fn marginal_prices(affine: &AffineMap, site: &Site<'_>) -> Result<Vec<f64>> {
    let program = affine.at(&nominal_or_middle(affine))?;
    let solution = solve::solve_checked(&program, &site.ask.settings).map_err(|error| {
        Error::refused(
            "offset = nominal",
            format!("the program has no answer at the nominal data: {error}"),
            "nominal values for which there is one, or a stated offset, such as offset = 0.0",
        )
    })?;
    let price = |location: &Location| match location.place {
        Place::B(row) => -location.coef * solution.z[row],
        _ => 0.0,
    };
    let parameters = affine.parameters().iter();
    Ok(parameters
        .map(|p| p.locations().iter().map(price).sum())
        .collect())
}

/// The program with θ̃ and its smooth price, and the first column of sizes under a cap.
fn smooth(
    affine: &AffineMap,
    width: f64,
    offset: &[f64],
    cap: Option<f64>,
) -> Result<(AffineMap, Option<usize>)> {
    let (theta, p) = (affine.template().columns(), affine.len());
    let mut corrected = Corrected::new(affine);
    // p₀'(θ − θ̃) without its constant.
    let mut costs: Vec<(usize, f64)> = (0..p).map(|i| (theta + i, -offset[i])).collect();
    let (near, capped) = match cap {
        None => (theta, None),
        Some(price) => {
            let near = corrected.here_and_now("data at the smooth price", p);
            let sizes = corrected.here_and_now("correction at the cap", p);
            // size ≥ |u − θ̃|.
            let names = corrected.of_each(&["cap up", "cap down"]);
            let zeros = vec![0.0; 2 * p];
            let up = corrected.rows("cap", Cone::Nonnegative(2 * p), names, &zeros);
            for i in 0..p {
                for (row, sign) in [(up + i, 1.0), (up + p + i, -1.0)] {
                    corrected.entries(&[
                        (row, near + i, sign),
                        (row, theta + i, -sign),
                        (row, sizes + i, -1.0),
                    ]);
                }
            }
            costs.extend((0..p).map(|i| (sizes + i, price)));
            (near, Some(sizes))
        }
    };
    // ‖u‖²/(2ν) − θ'u/ν.
    let quadratic: Vec<(usize, usize, f64)> =
        (near..near + p).map(|j| (j, j, 1.0 / width)).collect();
    let place = |i: usize| vec![Location::new(Place::Q(near + i), -1.0 / width)];
    let map = corrected.map(&quadratic, &costs, (0..p).map(place).collect())?;
    Ok((map, capped))
}

impl Certificate for Moreau {
    fn name(&self) -> &'static str {
        "Moreau envelope"
    }

    fn statement(&self) -> String {
        let terms = &self.terms;
        let offset = match &terms.offset {
            Offset::Nominal => "the public one, that of the nominal data".to_string(),
            Offset::Each(price) => short(*price, 9),
            Offset::Named(_) => "the public one, stated for each".to_string(),
        };
        let cap = terms.price.map_or(String::new(), |price| {
            format!("; at most {} per unit is paid beyond it", short(price, 9))
        });
        let curvature = terms.curvature.map_or(String::new(), |kappa| {
            format!(
                "; a quadratic cost of {} is added on what is released{}",
                short(kappa, 9),
                match terms.around {
                    Around::Zero => "",
                    Around::Nominal => ", around its optimum at the nominal data",
                }
            )
        });
        format!(
            "Moreau envelope: the data may be corrected at a smooth price of width {}; no correction is made where the price is {offset}{cap}{curvature}; so {} moves by at most {} in the {} norm between neighbours{}; it covers the private right-hand sides; it assumes that width, prices, curvature, the public bounds and the program were fixed without the data",
            short(terms.width.unwrap_or(0.0), 9),
            self.bound.of,
            short(self.bound.bound, 9),
            self.bound.norm.symbol(),
            solver_text(self.bound.solver)
        )
    }

    fn bound(&self) -> f64 {
        self.bound.total()
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
        let mut tolerance = Tolerance::of_a_distance(&self.bound, OF_A_DISTANCE);
        tolerance.known = self.deviation.known();
        Some(tolerance)
    }

    fn counting(&self, tolerance: f64) -> Box<dyn Certificate> {
        Box::new(Moreau {
            bound: self.bound.counting(tolerance),
            ..self.clone()
        })
    }

    fn public_data(&self, map: &dyn DataMap) -> Vec<f64> {
        nominal_or_middle(map)
    }
}
