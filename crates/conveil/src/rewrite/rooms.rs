//! κ of each loss, the room that its row needs for the noise (M9): exact, or a bound of it where no answer hangs on it.
//!
//! Beyond ±κ a loss does not see κ: it is 0 where the margin is larger, and the margin itself where it is smaller. So a bound
//! serves every row whose margin lies beyond the bound, and a quantile of a sum of Laplace terms is found for the others alone.
//! Such a row is solved with κ = 0: its loss is nowhere larger than with its own κ, so that the dual bounds the true optimum from
//! below, and at the answer it is the same.

use crate::chance::Room;
use crate::error::Result;
use crate::noise::{self, LatticeLaw};
use crate::program::norm;
use rayon::prelude::*;

/// Fewer different rows get their quantiles at once.
const MANY: usize = 4_000;

/// Rows that tell how far bounds are from rooms.
const TYPICAL: usize = 100;

/// A bound from the norm is this much above what rounding makes of it.
const ABOVE: f64 = 1.0 + 1e-9;

/// The rooms of all losses.
#[derive(Clone)]
pub(super) struct Rooms {
    noises: usize,
    kappa: Vec<f64>,
    /// Empty where all are exact.
    is_bound: Vec<bool>,
}

/// v of loss i for R of these columns: −X'r.
pub(super) fn carried_noise(
    columns: &[f64],
    carried: &[Vec<(usize, f64)>],
    i: usize,
    v: &mut [f64],
) {
    let n = columns.len() / carried.len().max(1);
    v.fill(0.0);
    for (column, carried) in columns.chunks_exact(n).zip(carried) {
        for &(noise, x) in carried {
            v[noise] -= column[i] * x;
        }
    }
}

impl Rooms {
    /// Of rows R, given by columns: exact where there are few different ones.
    pub(super) fn new(
        rooms: &[Room],
        columns: &[f64],
        carried: &[Vec<(usize, f64)>],
        noises: usize,
        law: &LatticeLaw,
    ) -> Result<Self> {
        // A quantile for each run of equal records: public datasets repeat one.
        let (mut v, mut last) = (vec![0.0; noises], vec![0.0; noises]);
        let mut firsts = Vec::new();
        for i in 0..rooms.len() {
            carried_noise(columns, carried, i, &mut v);
            if i == 0 || rooms[i] != rooms[i - 1] || v != last {
                firsts.push(i);
            }
            std::mem::swap(&mut v, &mut last);
        }
        let is_cheap = |room: &Room| matches!(room, Room::Norm(_));
        if firsts.len() >= MANY && !rooms.iter().all(is_cheap) {
            return Self::bounded(rooms, columns, carried, noises, law);
        }
        let found = exact(&firsts, rooms, columns, carried, noises, law)?;
        let ends = firsts.iter().skip(1).copied().chain([rooms.len()]);
        let runs = firsts.iter().zip(ends).zip(found);
        let kappa = runs
            .flat_map(|((first, end), kappa)| std::iter::repeat_n(kappa, end - first))
            .collect();
        Ok(Rooms {
            noises,
            kappa,
            is_bound: Vec::new(),
        })
    }

    fn bounded(
        rooms: &[Room],
        columns: &[f64],
        carried: &[Vec<(usize, f64)>],
        noises: usize,
        law: &LatticeLaw,
    ) -> Result<Self> {
        let mut v = vec![0.0; noises];
        let mut known: Option<(f64, f64)> = None;
        let mut kappa = Vec::with_capacity(rooms.len());
        for (i, room) in rooms.iter().enumerate() {
            carried_noise(columns, carried, i, &mut v);
            kappa.push(match *room {
                Room::Norm(multiplier) => multiplier * norm(&v),
                Room::Quantile(eta) => {
                    let multiplier = match known {
                        Some((of, multiplier)) if of == eta => multiplier,
                        _ => noise::safe_multiplier(law.law(), noises, eta)?,
                    };
                    known = Some((eta, multiplier));
                    ABOVE * (multiplier * norm(&v) + lattice(&v, law))
                }
            });
        }
        Ok(Rooms {
            noises,
            kappa,
            is_bound: rooms
                .iter()
                .map(|room| matches!(room, Room::Quantile(_)))
                .collect(),
        })
    }

    #[cfg(test)]
    pub(super) fn scaled(&self, factor: f64) -> Self {
        Rooms {
            kappa: self.kappa.iter().map(|kappa| factor * kappa).collect(),
            ..self.clone()
        }
    }

    #[cfg(test)]
    pub(super) fn exactly(
        &self,
        rooms: &[Room],
        columns: &[f64],
        carried: &[Vec<(usize, f64)>],
        law: &LatticeLaw,
    ) -> Self {
        let places: Vec<usize> = (0..rooms.len()).collect();
        Rooms {
            noises: self.noises,
            kappa: exact(&places, rooms, columns, carried, self.noises, law).unwrap(),
            is_bound: Vec::new(),
        }
    }

    /// κ, or a bound of it.
    pub(super) fn of(&self, i: usize) -> f64 {
        self.kappa[i]
    }

    /// Where the two hinges of a loss bend: at ±κ; at 0, below which κ makes them no less, where κ is a bound.
    pub(super) fn bend(&self, i: usize) -> f64 {
        match self.is_exact(i) {
            true => self.kappa[i],
            false => 0.0,
        }
    }

    pub(super) fn is_exact(&self, i: usize) -> bool {
        self.is_bound.is_empty() || !self.is_bound[i]
    }

    pub(super) fn are_exact(&self) -> bool {
        self.is_bound.is_empty()
    }

    pub(super) fn are_zero(&self) -> bool {
        self.kappa.iter().all(|kappa| *kappa == 0.0)
    }

    /// About what they are: bounds are too large by about the same factor everywhere, which a few rows tell.
    pub(super) fn typical(
        &self,
        columns: &[f64],
        carried: &[Vec<(usize, f64)>],
        rooms: &[Room],
        law: &LatticeLaw,
    ) -> Result<Self> {
        let apart = self.kappa.len().div_ceil(TYPICAL);
        let few: Vec<usize> = (0..self.kappa.len())
            .step_by(apart)
            .filter(|&i| self.is_bound[i])
            .collect();
        let found = exact(&few, rooms, columns, carried, self.noises, law)?;
        let of_few: f64 = few.iter().map(|&i| self.kappa[i]).sum();
        let factor = match of_few > 0.0 {
            true => found.iter().sum::<f64>() / of_few,
            false => 1.0,
        };
        let scaled = |i: usize| if self.is_bound[i] { factor } else { 1.0 } * self.kappa[i];
        Ok(Rooms {
            noises: self.noises,
            kappa: (0..self.kappa.len()).map(scaled).collect(),
            is_bound: Vec::new(),
        })
    }

    /// Exact rooms for the rows whose margins lie within their bounds, and for so many more that are nearest to that.
    pub(super) fn sharpen_nearest(
        &mut self,
        rows: usize,
        margin: impl Fn(usize) -> f64 + Sync,
        columns: &[f64],
        carried: &[Vec<(usize, f64)>],
        rooms: &[Room],
        law: &LatticeLaw,
    ) -> Result<()> {
        let beyond = |i: usize| margin(i).abs() - self.kappa[i];
        let mut sizes: Vec<f64> = (0..self.kappa.len())
            .map(beyond)
            .filter(|beyond| *beyond > 0.0)
            .collect();
        let near = match rows < sizes.len() {
            true => *sizes.select_nth_unstable_by(rows, f64::total_cmp).1,
            false => f64::INFINITY,
        };
        let chosen = (0..self.kappa.len()).filter(|&i| self.is_bound[i] && beyond(i) <= near);
        let chosen = chosen.collect();
        self.sharpen(chosen, columns, carried, rooms, law)
    }

    /// Exact rooms for the rows whose margins lie within their bounds; whether there were some.
    pub(super) fn sharpen_within(
        &mut self,
        margin: impl Fn(usize) -> f64,
        columns: &[f64],
        carried: &[Vec<(usize, f64)>],
        rooms: &[Room],
        law: &LatticeLaw,
    ) -> Result<bool> {
        if self.are_exact() {
            return Ok(false);
        }
        // Also where it is neither, which no margins that are numbers are.
        let is_within = |i: &usize| self.is_bound[*i] && !(margin(*i).abs() > self.kappa[*i]);
        let chosen: Vec<usize> = (0..self.kappa.len()).filter(is_within).collect();
        let were_some = !chosen.is_empty();
        self.sharpen(chosen, columns, carried, rooms, law)?;
        Ok(were_some)
    }

    fn sharpen(
        &mut self,
        chosen: Vec<usize>,
        columns: &[f64],
        carried: &[Vec<(usize, f64)>],
        rooms: &[Room],
        law: &LatticeLaw,
    ) -> Result<()> {
        let found = exact(&chosen, rooms, columns, carried, self.noises, law)?;
        for (&i, found) in chosen.iter().zip(found) {
            self.kappa[i] = found;
            self.is_bound[i] = false;
        }
        Ok(())
    }
}

/// κ of some losses.
fn exact(
    places: &[usize],
    rooms: &[Room],
    columns: &[f64],
    carried: &[Vec<(usize, f64)>],
    noises: usize,
    law: &LatticeLaw,
) -> Result<Vec<f64>> {
    (places.par_iter())
        .map(|&i| {
            let mut v = vec![0.0; noises];
            carried_noise(columns, carried, i, &mut v);
            room(rooms[i], &v, law)
        })
        .collect()
}

/// κ of a loss with noise v.
fn room(room: Room, v: &[f64], law: &LatticeLaw) -> Result<f64> {
    Ok(match room {
        Room::Norm(multiplier) => multiplier * norm(v),
        Room::Quantile(eta) => noise::weighted_upper_quantile(law.law(), v, eta)? + lattice(v, law),
    })
}

/// What the lattice adds.
fn lattice(v: &[f64], law: &LatticeLaw) -> f64 {
    law.displacement() * v.iter().map(|x| x.abs()).sum::<f64>()
}
