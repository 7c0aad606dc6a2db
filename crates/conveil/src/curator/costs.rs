//! What a decision costs, one cause after another: public bounds, added curvature, corrections of the data, noise. Private.

use crate::digits::decimals;
use crate::error::{Error, Result};
use crate::plan::{Decided, Plan, ReleasedMap};
use crate::program::{Cone, Program, Sparse};
use crate::solve::{self, Settings};
use serde::Serialize;
use std::fmt;

/// What a decision costs beside the optimum of the user's own program, by cause. A cost is what the objective is worse by:
/// one below 0 makes it better, as a correction to data that are cheaper to serve does. None where a program on the way has
/// no answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Costs {
    /// The optimum of the user's own program without noise, for the data as they are.
    pub optimum: Option<f64>,
    /// What it costs that data outside their public bounds count as the nearest ones inside.
    pub bounds: Option<f64>,
    /// What the quadratic cost that the certificate adds makes the decision cost more; the added cost itself is not counted.
    pub curvature: Option<f64>,
    /// What it costs that the data may be corrected at public prices, or that rows with private numbers have a margin and may be
    /// exceeded: the price of that is counted where the answer holds it.
    pub corrections: Option<f64>,
    /// The objective with all of the certificate's terms and without noise.
    pub without_noise: Option<f64>,
    /// What the noise costs. None too where no decision carries it.
    pub noise: Option<f64>,
    /// How far the certificate's terms move the answer before noise: the largest difference of a released number from that of the
    /// optimum of the user's own program at the data as they count. 0 without such terms.
    pub answer_moved: Option<f64>,
}

/// Answers that differ by less than this share are the same.
const ROUNDING: f64 = 1e-6;

/// The objectives between which the costs lie, in the engine's terms, with the constant of the objective.
pub(super) struct Levels {
    /// The user's own program at the data as they are.
    pub(super) own: Option<f64>,
    /// At the data as they count.
    pub(super) counted: Option<f64>,
    /// With the added curvature, where there is one.
    pub(super) curved: Option<f64>,
    /// With corrections.
    pub(super) corrected: Option<f64>,
    /// With noise.
    pub(super) noisy: Option<f64>,
    /// How far the terms move the answer.
    pub(super) answer_moved: Option<f64>,
}

/// What the certificate's terms do without noise.
pub(super) struct UnderTheTerms {
    /// The user's own optimum at the data as they count.
    pub(super) counted: Option<f64>,
    /// The user's own objective with the added curvature alone.
    pub(super) curved: Option<f64>,
    /// With corrections too.
    pub(super) corrected: Option<f64>,
    pub(super) answer_moved: Option<f64>,
}

impl Levels {
    pub(super) fn costs(&self) -> Costs {
        let step = |from: Option<f64>, to: Option<f64>| Some(to? - from?);
        Costs {
            optimum: self.own,
            bounds: step(self.own, self.counted),
            curvature: step(self.counted, self.curved),
            corrections: step(self.curved, self.corrected),
            without_noise: self.corrected,
            noise: step(self.corrected, self.noisy),
            answer_moved: self.answer_moved,
        }
    }
}

/// A solve's answer, or none where the program has none.
pub(super) fn found<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::Cancelled) => Err(Error::Cancelled),
        Err(_) => Ok(None),
    }
}

/// What the user's own objective is without noise, where a program with corrections stands in the place of the user's own.
pub(super) fn under_the_terms(
    plan: &Plan<'_>,
    decided: &Decided,
    theta: &[f64],
) -> Result<UnderTheTerms> {
    let released = plan.released();
    let settings = released.settings();
    let own = found(solve::optimum(&plan.model().at(theta)?, settings))?;
    let counted = own.as_ref().map(|own| own.objective);
    let mut under = UnderTheTerms {
        counted,
        curved: counted,
        corrected: counted,
        answer_moved: Some(0.0),
    };
    let (Some(plain), Some(users)) = (released.plain(), released.users()) else {
        return Ok(under);
    };
    let (users, curved) = (users.at(theta)?, plain.map().at(theta)?);
    if released.adds_curvature() {
        let solution = found(solve::optimum(&curved, settings))?;
        under.curved = solution.map(|solution| users.objective(&solution.x));
    }
    let Some(solution) = found(solve::optimum(&decided.program, settings))? else {
        (under.corrected, under.answer_moved) = (None, None);
        return Ok(under);
    };
    let answer = released.query().answer(&decided.program, &solution.x);
    under.answer_moved = own.map(|own| {
        let before = plain.query().answer(&users, &own.x);
        let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let moved = largest(&mut answer.iter().zip(&before).map(|(a, b)| (a - b).abs()));
        // The difference of two solves.
        match moved <= ROUNDING * largest(&mut before.iter().map(|b| b.abs())) {
            true => 0.0,
            false => moved,
        }
    });
    let x = &solution.x[..users.columns()];
    under.corrected = Some(match released.beside_the_answer() {
        // What is beside the curved objective is the price that the answer holds.
        None => solution.objective - curved.objective(x) + users.objective(x),
        // Rows with a margin: the decision is as it is.
        Some(deviation) if deviation.relaxes() => users.objective(x),
        // A decision for the data themselves with the same answer is taken where there is one, as with noise.
        Some(_) => {
            let same = with_the_answer(&curved, plain, &answer);
            match found(solve::optimum(&same, settings))? {
                Some(exact) => users.objective(&exact.x),
                None => users.objective(x),
            }
        }
    });
    Ok(under)
}

/// The program with Qx fixed.
fn with_the_answer(program: &Program, plain: &ReleasedMap<'_>, answer: &[f64]) -> Program {
    let rows = plain.query().rows();
    let mut entries: Vec<(usize, usize, f64)> = program.a().entries().collect();
    for (i, row) in rows.iter().enumerate() {
        entries.extend(row.iter().map(|&(j, v)| (program.rows() + i, j, v)));
    }
    let mut b = program.b().to_vec();
    b.extend_from_slice(answer);
    let mut cones: Vec<Cone> = (program.constraints().iter())
        .map(|block| block.cone().clone())
        .collect();
    cones.push(Cone::Zero(rows.len()));
    Program::assembled(
        program.p().clone(),
        program.q().to_vec(),
        Sparse::assemble(b.len(), program.columns(), &entries),
        b,
        program.constant(),
        cones,
    )
}

/// The optimum of a program of the user's own.
pub(super) fn optimum_of(program: &Program, settings: &Settings) -> Result<Option<f64>> {
    Ok(found(solve::optimum(program, settings))?.map(|solution| solution.objective))
}

impl Costs {
    /// Lines for people; numbers below `rounding` are zero.
    pub(super) fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        rounding: f64,
        relaxes: bool,
    ) -> fmt::Result {
        let shown = |value: f64| match value.abs() <= rounding {
            true => decimals(0.0, 0.0),
            false => decimals(value, 0.0),
        };
        match self.optimum {
            Some(optimum) => writeln!(
                f,
                "what it costs, beside the optimum {} of your program for the data as they are:",
                shown(optimum)
            )?,
            None => writeln!(
                f,
                "what it costs (your program has no answer for the data as they are):"
            )?,
        }
        for (what, cost) in [
            ("public bounds of the data", self.bounds),
            ("added curvature", self.curvature),
            (
                match relaxes {
                    false => "corrections at public prices",
                    true => "rows with private numbers",
                },
                self.corrections,
            ),
            ("noise", self.noise),
        ] {
            // A cause that is not there costs exactly nothing.
            if cost == Some(0.0) && what != "noise" {
                continue;
            }
            let cost = cost.map_or("not known".into(), shown);
            writeln!(f, "  {what:<28} {cost:>16}")?;
        }
        match self.answer_moved {
            Some(moved) if moved > 0.0 => writeln!(
                f,
                "  without noise its terms move the answer by {}",
                decimals(moved, 0.0)
            )?,
            _ => {}
        }
        Ok(())
    }
}
