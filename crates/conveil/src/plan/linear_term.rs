//! Noise on the linear term (M17c): the private linear cost q gets noise, and the program is solved with it.
//!
//! With P ≻ 0 on the columns that q touches, noise P^{1/2}ζ on q is noise P^{-1/2}ζ on the minimiser −P⁻¹q without the
//! constraints. So what gets noise is that minimiser, through the same released map as every other answer; the solve under
//! the constraints comes after it, and looks at the noisy minimiser and at public numbers alone.

use super::Projection;
use crate::ask::{Ask, NoiseShape, Query, Request, Strategy};
use crate::error::{Error, Result};
use crate::program::{AffineMap, DataMap, Location, NewVariables, Place, Program, Sparse, Stage};
use crate::proof::Curvature;

/// A program whose private linear cost gets noise.
///
/// # Guarantee
/// The released numbers are a function of the noisy minimiser and of public numbers: they are as private as it is, and meet
/// every constraint to the tolerance of the solver. Only q is private, affine in the data, and P is public and positive
/// definite on the columns that it touches: checked when it is made. Tests:
/// `noise_on_the_linear_term_is_the_program_with_a_noisy_cost`, `answers_of_the_linear_term_meet_every_constraint`.
#[derive(Clone, Debug)]
pub(super) struct LinearTerm {
    /// θ ↦ min ½x'Px + q'x over the curved columns, without constraints: what gets noise.
    pub(super) minimiser: AffineMap,
    /// What is asked of it: the whole minimiser, with noise shaped by the curvature.
    pub(super) ask: Ask,
    /// From the noisy minimiser to the released numbers.
    pub(super) solving: Projection,
}

impl LinearTerm {
    /// Checks the assumptions on public structure alone, or refuses with the reason.
    pub(super) fn new(map: &dyn DataMap, ask: &Ask) -> Result<Self> {
        let refuse = |why: String| {
            let instead = "strategy = projected, where the whole decision is released; or strategy = program, or output";
            Error::refused("strategy = linear-term", why, instead)
        };
        let (affine, curvature) = curved_costs(map).map_err(&refuse)?;
        if let NoiseShape::Rows(_) = ask.shape {
            return Err(refuse(
                "its noise is shaped by the curvature of the cost, and another shape is stated"
                    .into(),
            ));
        }
        let certificate = Request::strong_convexity();
        if ask
            .sensitivity
            .as_ref()
            .is_some_and(|stated| *stated != certificate)
        {
            return Err(refuse(
                "its noise covers the costs as the certificate `strong-convexity` proves it, and another sensitivity is stated".into(),
            ));
        }
        let template = affine.template();
        let query = ask.query.resolve(map, Strategy::LinearTerm)?;
        let solving =
            Projection::of_linear_term(template, &curvature.columns, query, &ask.settings)?;
        let mut of_minimiser = ask.clone();
        of_minimiser.query = Query::Identity;
        of_minimiser.shape = NoiseShape::Curvature;
        Ok(LinearTerm {
            minimiser: without_constraints(affine, &curvature)?,
            ask: of_minimiser,
            solving,
        })
    }
}

/// The map and its curvature, where only linear costs of curved columns are private.
fn curved_costs(map: &dyn DataMap) -> std::result::Result<(&AffineMap, Curvature), String> {
    let Some(affine) = map.affine() else {
        return Err("the program depends on the data in a way that cannot be inspected".into());
    };
    if affine.ball().is_some() {
        return Err(
            "records are scaled to a public length, which its certificate does not cover".into(),
        );
    }
    let is_elsewhere = |location: &&Location| !matches!(location.place, Place::Q(_));
    for parameter in affine.parameters() {
        if let Some(location) = parameter.locations().iter().find(is_elsewhere) {
            return Err(format!(
                "it is for private linear costs, but `{}` enters at {}",
                parameter.name(),
                location.place
            ));
        }
    }
    let Some(curvature) = Curvature::of(affine.template().p()) else {
        return Err("the quadratic cost is not positive definite on the variables it names".into());
    };
    for parameter in affine.parameters() {
        for location in parameter.locations() {
            if let Place::Q(j) = location.place
                && curvature.place(j).is_none()
            {
                return Err(format!(
                    "`{}` is a cost of `{}`, which has no quadratic cost",
                    parameter.name(),
                    affine.template().variable_name(j)
                ));
            }
        }
    }
    Ok((affine, curvature))
}

/// The same costs on the curved columns, and no constraint.
fn without_constraints(affine: &AffineMap, curvature: &Curvature) -> Result<AffineMap> {
    let (template, columns) = (affine.template(), &curvature.columns);
    let n = columns.len();
    let entries = template.p().entries();
    let triplets: Vec<(usize, usize, f64)> = entries
        .filter_map(|(i, j, v)| Some((curvature.place(i)?, curvature.place(j)?, v)))
        .collect();
    let decision = |name: String, len: usize, entries: &[String]| NewVariables {
        name,
        len,
        stage: Stage::Decision,
        entries: entries.to_vec(),
    };
    let mut variables = Vec::new();
    for block in template.variables() {
        let curved: Vec<usize> = (block.range())
            .filter(|j| curvature.place(*j).is_some())
            .collect();
        match curved.len() == block.range().len() {
            true => {
                let (name, len) = (block.name().into(), curved.len());
                variables.push(decision(name, len, block.entries()));
            }
            false => variables.extend(curved.iter().map(|j| {
                let entry = j - block.range().start;
                let name = match block.entries().get(entry) {
                    Some(own) => own.clone(),
                    None => format!("{} {entry}", block.name()),
                };
                decision(name, 1, &[])
            })),
        }
    }
    let base = Program::new(
        Sparse::from_triplets(n, n, &triplets)?,
        columns.iter().map(|&j| template.q()[j]).collect(),
        Sparse::zeros(0, n),
        Vec::new(),
        variables,
        Vec::new(),
    )?;
    let parameters = affine.parameters().iter().map(|parameter| {
        let places = parameter.locations().iter();
        let moved = places.filter_map(|location| match location.place {
            Place::Q(j) => Some(Location::new(Place::Q(curvature.place(j)?), location.coef)),
            _ => None,
        });
        parameter.moved_to(moved.collect())
    });
    let frame = (n == template.columns()).then(|| template.frame().cloned());
    AffineMap::new(
        base.solved_in(frame.flatten()),
        parameters.collect::<Vec<_>>(),
    )
}
