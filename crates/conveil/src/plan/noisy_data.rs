//! Input perturbation (M17a): noise on the private numbers themselves, then the program at the noisy ones.
//!
//! What gets noise is the identity on the data, a released map like every other, with nothing to solve. The solve comes
//! after the noise, and looks at the noisy numbers and at public ones alone.

use super::posed::Posed;
use super::tighten::Tightening;
use super::{Basis, Decided, ReleasedMap, within};
use crate::ask::{
    Adjacency, Ask, NoiseShape, Norm, Query, ResolvedQuery, Stated, Strategy, Universe,
};
use crate::error::{Error, Result};
use crate::program::{
    DataMap, NewVariables, Parameters, PrivateParts, Program, Sparse, Stage, clip_entries,
};
use crate::solve::{self, Cancel, Settings};
use std::collections::HashMap;
use std::sync::Arc;

/// Private numbers that a card holds with their noise, at most.
const MOST: usize = 2_000;

/// The private numbers as the map that gets noise, and the program that is solved at the noisy ones.
///
/// # Guarantee
/// Neighbouring datasets are at most `sensitivity` apart once every number is clipped to its public bounds, in the norm of
/// the mechanism: by the adjacency itself where it has an α, else by the public bounds, without which it is refused. No
/// solver comes before the noise, so there is neither solver error nor a dataset without a value. Where the places of the
/// private numbers are known, they are nowhere in P: noise could make the quadratic cost indefinite. Tests: `clipped_neighbours_are_no_farther_apart_than_the_noise_covers`,
/// `input_perturbation_is_the_program_at_noisy_data`.
#[derive(Clone, Debug)]
pub(super) struct NoisyData<'m> {
    /// θ ↦ θ.
    pub(super) data: Arc<DataItself>,
    /// What is asked of it: every number, with noise of its own.
    pub(super) ask: Ask,
    /// From the noisy data to the released numbers.
    pub(super) solving: Solving<'m>,
    /// How far apart neighbours are.
    sensitivity: f64,
    /// In how many numbers: the lattice rounds the others alike.
    moved: usize,
    /// Why.
    statement: String,
    /// The universe whose members the data count as, where the claim is about one.
    pub(super) universe: Option<Universe>,
}

impl<'m> NoisyData<'m> {
    /// Checks the assumptions on public structure alone, or refuses with the reason.
    pub(super) fn new(model: &Arc<dyn DataMap + 'm>, ask: &Ask, stated: &Stated) -> Result<Self> {
        let what = format!("strategy = {}", ask.strategy.key());
        let refuse = |why: &str, instead: &str| Err(Error::refused(what.clone(), why, instead));
        if let NoiseShape::Rows(_) = ask.shape {
            return refuse(
                "a shape of the noise is stated, which is for the answer; the noise is on the data here",
                "leave out the shape",
            );
        }
        let parameters = model.parameters();
        if parameters.records().is_some() {
            return refuse(
                "the private numbers are those of records, and a card would hold every record with noise on it",
                "strategy = output",
            );
        }
        if parameters.len() > MOST {
            return refuse(
                &format!(
                    "there are {} private numbers, and a card would hold all of them with their noise: {MOST} at most",
                    parameters.len()
                ),
                "strategy = output",
            );
        }
        if model.private_parts().p && model.affine().is_some() {
            return refuse(
                "private numbers enter the quadratic cost, which noise could make indefinite",
                "strategy = output or program",
            );
        }
        let adjacency = &stated.adjacency;
        // An adjacency with an α says all that is needed.
        let universe = match adjacency.alpha() {
            Some(_) => None,
            None => within::claimed(&**model, ask, stated, false)?,
        };
        if let Some(universe) = &universe {
            within::refuse_other_neighbours(&**model, universe, adjacency)?;
        }
        let Some((apart, why)) = distance(adjacency, model.parameters(), universe.as_ref()) else {
            return refuse(
                "some private number has no public bounds, and the adjacency says nothing of how far it may move",
                "public bounds on every private number, or an adjacency with an α",
            );
        };
        let sensitivity = match stated.privacy.norm() {
            Norm::L1 => apart.0,
            Norm::L2 => apart.1,
        };
        let moved = moved_at_once(adjacency, parameters.len(), universe.is_some());
        let tightening = match ask.strategy {
            Strategy::Truncated if universe.is_some() => {
                return refuse(
                    "data count as the nearest member of a universe, and the noise leaves it on the strict side too",
                    "an adjacency with an α, or of records, and public bounds",
                );
            }
            Strategy::Truncated => {
                let noise = (stated.privacy).lattice_law(sensitivity, moved, ask.lattice)?;
                Some(Tightening::new(&**model, &noise, &ask.settings)?)
            }
            _ => None,
        };
        let mut of_data = ask.clone();
        of_data.query = Query::Identity;
        of_data.shape = NoiseShape::Identity;
        Ok(NoisyData {
            data: Arc::new(DataItself::of(model.parameters(), universe.clone())?),
            ask: of_data,
            solving: Solving {
                query: ask.query.resolve(&**model, ask.strategy)?,
                model: model.clone(),
                settings: ask.settings.clone(),
                tightening,
            },
            sensitivity,
            moved,
            statement: format!(
                "input: the noise is on the private numbers themselves, and {why}; no solve comes before it"
            ),
            universe,
        })
    }

    /// The map at its noise scale, why that suffices, and Δ.
    pub(super) fn scaled(&self, stated: &Stated) -> Result<(ReleasedMap<'m>, Basis, f64)> {
        stated.privacy.validate()?;
        stated.adjacency.validate(self.data.len())?;
        let posed = Posed::of_model(&self.ask, &*self.data)?;
        let noise = (stated.privacy).lattice_law(self.sensitivity, self.moved, self.ask.lattice)?;
        let data: Arc<dyn DataMap + 'm> = self.data.clone();
        let released = ReleasedMap::new(data, posed, &self.ask, noise)?.without_a_solve();
        let basis = Basis::by_definition("input", self.statement.clone());
        Ok((released, basis, self.sensitivity))
    }
}

/// How far apart neighbours are in ℓ₁ and ℓ₂ once they count as members of the universe or as clipped to the public bounds,
/// and why; none where nothing bounds it.
fn distance(
    adjacency: &Adjacency,
    parameters: &Parameters,
    universe: Option<&Universe>,
) -> Option<((f64, f64), &'static str)> {
    if let Some(reach) = adjacency.reach(parameters.len()) {
        return Some((reach, "the adjacency says how far neighbours are apart"));
    }
    if let Some(universe) = universe {
        let (apart, why) = match adjacency {
            Adjacency::OneRecord { len } => (
                universe.record_diameter(*len),
                "replacing a record moves it by at most its width in the universe",
            ),
            _ => (
                universe.diameter(),
                "no two members of the universe are farther apart",
            ),
        };
        // A member is as near to the edge as its own rounding allows.
        let slip = 4.0 * f64::EPSILON * universe.largest();
        let entries = match adjacency {
            Adjacency::OneRecord { len } => *len,
            _ => parameters.len(),
        } as f64;
        let apart = (apart.0 + entries * slip, apart.1 + entries.sqrt() * slip);
        return Some((rounded_up(apart, parameters.len()), why));
    }
    let widths: Option<Vec<f64>> = (0..parameters.len())
        .map(|i| parameters.bounds(i).map(|(low, high)| high - low))
        .collect();
    let widths = widths?;
    let size = |widths: &[f64]| (widths.iter().sum::<f64>(), crate::program::norm(widths));
    let (apart, why) = match adjacency {
        Adjacency::OneRecord { len } => {
            let records = widths.chunks((*len).max(1)).map(size);
            let largest = records.fold((0.0f64, 0.0f64), |worst, found| {
                (worst.0.max(found.0), worst.1.max(found.1))
            });
            (
                largest,
                "replacing a record moves each of its numbers by at most the width of its public bounds",
            )
        }
        _ => (
            size(&widths),
            "each number moves by at most the width of its public bounds",
        ),
    };
    Some((rounded_up(apart, widths.len()), why))
}

/// In how many numbers neighbours differ at most. Of two datasets with a nearest member of a universe all may.
fn moved_at_once(adjacency: &Adjacency, numbers: usize, in_universe: bool) -> usize {
    match adjacency {
        Adjacency::OneEntry { .. } => 1,
        Adjacency::OneRecord { len } if !in_universe => (*len).min(numbers),
        _ => numbers,
    }
}

/// A sum of so many rounded numbers, never below the exact one.
fn rounded_up((l1, l2): (f64, f64), terms: usize) -> (f64, f64) {
    let up = 1.0 + f64::EPSILON * (terms + 4) as f64;
    (l1 * up, l2 * up)
}

/// θ ↦ θ, as a map to programs: min ½‖x‖² − θ'x, whose minimum is known without a solve.
#[derive(Debug)]
pub(super) struct DataItself {
    parameters: Parameters,
    universe: Option<Universe>,
    template: Program,
}

impl DataItself {
    fn of(parameters: &Parameters, universe: Option<Universe>) -> Result<Self> {
        let n = parameters.len();
        let identity: Vec<(usize, usize, f64)> = (0..n).map(|j| (j, j, 1.0)).collect();
        let template = Program::new(
            Sparse::assemble(n, n, &identity),
            vec![0.0; n],
            Sparse::zeros(0, n),
            Vec::new(),
            variables_named_as(parameters),
            Vec::new(),
        )?;
        Ok(DataItself {
            parameters: parameters.clone(),
            universe,
            template,
        })
    }
}

impl DataMap for DataItself {
    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn template(&self) -> &Program {
        &self.template
    }

    fn private_parts(&self) -> PrivateParts {
        PrivateParts {
            q: true,
            ..PrivateParts::default()
        }
    }

    fn private_rows(&self) -> Vec<bool> {
        Vec::new()
    }

    /// Entry by entry, and onto the nearest member of the universe: never by records, which moves several numbers with one.
    fn clipped(&self, theta: &[f64]) -> Result<Vec<f64>> {
        let counted = clip_entries(&self.parameters, theta)?;
        match &self.universe {
            None => Ok(counted),
            Some(universe) => Ok(universe.nearest(counted)),
        }
    }

    fn at(&self, theta: &[f64]) -> Result<Program> {
        let costs = self.clipped(theta)?.into_iter().map(|value| -value);
        Ok(self.template.with_linear_cost(costs.collect()))
    }
}

/// A variable for every private number, under its name: `load[0]`, `load[1]` are a block, others are named one by one.
fn variables_named_as(parameters: &Parameters) -> Vec<NewVariables> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut unlike = |name: String| {
        let times = seen.entry(name.clone()).or_insert(0);
        *times += 1;
        match *times {
            1 => name,
            times => format!("{name} ({times})"),
        }
    };
    let mut blocks: Vec<NewVariables> = Vec::new();
    for parameter in parameters.iter() {
        let name = parameter.name();
        let (block, index) = match name.strip_suffix(']').and_then(|n| n.rsplit_once('[')) {
            Some((block, index)) => (block, index.parse::<usize>().ok()),
            None => (&*name, None),
        };
        let is_indexed = index.is_some() && !block.is_empty() && !block.contains(['[', ']']);
        match blocks.last_mut() {
            Some(last) if is_indexed && last.name == block && index == Some(last.len) => {
                last.len += 1;
            }
            Some(last) if !is_indexed && !last.entries.is_empty() => {
                last.len += 1;
                last.entries.push(unlike(without_brackets(&name)));
            }
            _ => blocks.push(match is_indexed && index == Some(0) {
                true => NewVariables {
                    name: unlike(block.to_owned()),
                    len: 1,
                    stage: Stage::Decision,
                    entries: Vec::new(),
                },
                false => NewVariables {
                    name: unlike("private numbers".to_owned()),
                    len: 1,
                    stage: Stage::Decision,
                    entries: vec![unlike(without_brackets(&name))],
                },
            }),
        }
    }
    blocks
}

/// As a name of an entry may be.
fn without_brackets(name: &str) -> String {
    name.replace('[', "(").replace(']', ")")
}

/// The user's program at noisy data.
#[derive(Clone, Debug)]
pub(super) struct Solving<'m> {
    model: Arc<dyn DataMap + 'm>,
    query: ResolvedQuery,
    settings: Settings,
    /// What is done to the noisy data first, so that what is feasible at them is feasible at the data.
    tightening: Option<Tightening>,
}

impl Solving<'_> {
    /// The program at noisy data; an error where they make none.
    pub(super) fn program_at(&self, noisy: &[f64]) -> Result<Program> {
        match &self.tightening {
            None => self.model.at(noisy),
            Some(tightening) => self.model.at(&tightening.apply(noisy)),
        }
    }

    /// The released numbers; an error where the program has no answer at these noisy data.
    pub(super) fn apply(&self, noisy: &[f64]) -> Result<Vec<f64>> {
        let program = self.program_at(noisy)?;
        let x = self.solved(&program)?;
        Ok(self.query.answer(&program, &x))
    }

    /// The optimum at these noisy data.
    pub(super) fn decision_of(&self, noisy: &[f64]) -> Result<Vec<f64>> {
        self.solved(&self.program_at(noisy)?)
    }

    fn solved(&self, program: &Program) -> Result<Vec<f64>> {
        let mut x = solve::solve_checked(program, &self.settings)?.x;
        if let Some(tightening) = &self.tightening {
            tightening.clamp(&mut x);
        }
        Ok(x)
    }

    /// What is done to noisy data before the solve, in words; none where nothing is.
    pub(super) fn tightening(&self) -> Option<String> {
        self.tightening.as_ref().map(Tightening::text)
    }

    /// The optimum at the data themselves in the place of the data: what the answer would be without noise. Private.
    pub(super) fn without_noise(&self, decided: Decided, theta: &[f64]) -> Result<Decided> {
        let program = self.model.at(theta)?;
        let solution = solve::solve_checked(&program, &self.settings)?;
        let answer = self.query.answer(&program, &solution.x);
        Ok(decided.in_place_of(program, solution, answer))
    }

    /// What is released of it.
    pub(super) fn query(&self) -> &ResolvedQuery {
        &self.query
    }

    /// The same, whose solves this flag stops.
    pub(super) fn watching(mut self, cancel: &Cancel) -> Self {
        self.settings = self.settings.with_cancel(cancel.clone());
        self
    }
}
