//! A sum of hinges over a million records that are alike, in a few: public datasets repeat a few records over and over, and
//! runs of equal records are one hinge each. What planning finds on the few is what it would find on all.

use super::local::LocalRecourse;
use super::{LossForm, Solved};
use crate::error::Result;
use crate::noise::LatticeLaw;
use crate::program::{AffineMap, Cone, DataMap, Location, Parameters, Place, Program, Sparse};
use crate::solve::{HingeForm, Settings};

/// The first records of such a map, each as dear as the run that it stands for.
pub(crate) struct Miniature {
    map: AffineMap,
    local: LocalRecourse,
}

impl Miniature {
    /// Of so many records at most; `None` where there are no more anyway, or where the records of the map are not alike.
    pub(crate) fn of(map: &AffineMap, form: &LossForm, most: usize) -> Option<Self> {
        let LossForm::Hinges(local) = form else {
            return None;
        };
        let (count, step) = map.parameters().records()?;
        let run = count.div_ceil(most);
        let few = count.div_ceil(run);
        let (template, losses) = (map.template(), &local.form.losses);
        if few == count || losses.len() != count {
            return None;
        }
        let first = losses[0];
        let alike = losses.iter().enumerate().all(|(i, loss)| {
            loss.row == first.row + step * i
                && template.b()[loss.row] == template.b()[first.row]
                && template.q()[loss.slack] == template.q()[first.slack]
                && local.rooms[i] == local.rooms[0]
        });
        let d = local.form.weights.len();
        let mut entries = Vec::new();
        for (place, &j) in local.form.weights.iter().enumerate() {
            let mut column = template.a().column(j);
            let Some((_, base)) = column.next() else {
                continue;
            };
            // Of every record or of none: rows rise, and no others have entries there.
            let rest = column.try_fold(1, |found, (_, v)| (v == base).then_some(found + 1));
            if rest != Some(count) {
                return None;
            }
            entries.extend((0..few).map(|i| (i, place, base)));
        }
        if !alike {
            return None;
        }
        entries.extend((0..few).flat_map(|i| [(i, d + i, -1.0), (few + i, d + i, -1.0)]));
        let place = |j: usize| local.form.weights.binary_search(&j).ok();
        let p: Option<Vec<_>> = (template.p().entries())
            .map(|(i, j, v)| Some((place(i)?, place(j)?, v)))
            .collect();
        let mut q: Vec<f64> = (local.form.weights.iter())
            .map(|&j| template.q()[j])
            .collect();
        q.extend((0..few).map(|i| {
            let stands_for = run.min(count - run * i);
            stands_for as f64 * template.q()[first.slack]
        }));
        let mut b = vec![template.b()[first.row]; few];
        b.resize(2 * few, 0.0);
        let columns = d + few;
        let program = Program::assembled(
            Sparse::assemble(columns, columns, &p?),
            q,
            Sparse::assemble(2 * few, columns, &entries),
            b,
            template.constant(),
            vec![Cone::Nonnegative(2 * few)],
        );
        let kinds: Option<Vec<_>> = (map.parameters().kinds())
            .map(|kind| match kind.locations() {
                &[
                    Location {
                        place: Place::A(row, j),
                        coef,
                    },
                ] if row == first.row => {
                    let there = Location::new(Place::A(0, place(j)?), coef);
                    Some(kind.moved_to(vec![there]))
                }
                _ => None,
            })
            .collect();
        let local = LocalRecourse {
            form: HingeForm::of(&program)?,
            rooms: vec![local.rooms[0]; few],
            carried: local.carried.clone(),
            noises: local.noises,
        };
        let parameters = Parameters::of_records(few, 1, kinds?).ok()?;
        let mut few = AffineMap::new(program, parameters).ok()?;
        if let Some(ball) = map.ball() {
            few = few.with_ball(*ball).ok()?;
        }
        Some(Miniature { map: few, local })
    }

    /// The map of the few.
    pub(crate) fn map(&self) -> &AffineMap {
        &self.map
    }

    /// What a solve finds at a dataset of the few, checked.
    pub(crate) fn decide(
        &self,
        theta: &[f64],
        noise: &LatticeLaw,
        settings: &Settings,
    ) -> Result<Solved> {
        self.local.decide(&self.map.at(theta)?, noise, settings)
    }
}
