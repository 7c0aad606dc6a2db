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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{Adjacency, Ask, Privacy, Query, Request};
    use crate::chance::{Choice, Feasibility};
    use crate::plan::Plan;
    use crate::program::{Holds, NewConstraint, NewVariables, Parameter, Stage};
    use crate::risk::Risk;

    /// `count` records of two features and a label, all alike but for the cost of one.
    fn map(count: usize, dear: Option<usize>) -> AffineMap {
        let column = |j: usize| {
            let rows = if j < 3 { count } else { 0 };
            let slack = j.checked_sub(3);
            let slack = slack.map(|i| [(i, -1.0), (count + i, -1.0)]);
            let weights = (0..rows).map(|i| (i, 0.0));
            weights.chain(slack.into_iter().flatten())
        };
        let a = Sparse::by_columns(2 * count, 5 * count, (0..3 + count).map(column)).unwrap();
        let mut q = vec![1.0 / count as f64; 3 + count];
        q[..3].fill(0.0);
        dear.into_iter().for_each(|i| q[3 + i] *= 2.0);
        let mut b = vec![-1.0; count];
        b.resize(2 * count, 0.0);
        let curvature = [(0, 0, 0.2), (1, 1, 0.2), (2, 2, 0.2)];
        let block = |name: &str, len, stage| NewVariables {
            name: name.into(),
            len,
            stage,
            entries: Vec::new(),
        };
        let rows = |name: &str| NewConstraint {
            name: name.into(),
            cone: Cone::Nonnegative(count),
            holds: Holds::WithNoise,
            rows: Vec::new(),
        };
        let program = Program::new(
            Sparse::from_triplets(3 + count, 3 + count, &curvature).unwrap(),
            q,
            a,
            b,
            vec![
                block("w", 3, Stage::Decision),
                block("loss", count, Stage::Witness),
            ],
            vec![rows("margin"), rows("not negative")],
        )
        .unwrap();
        let at = |j: usize| {
            Parameter::new(format!("x{j}")).at_all(vec![Location::new(Place::A(0, j), -1.0)])
        };
        let first = vec![
            at(0).clipped(-1.0, 1.0),
            at(1).clipped(-1.0, 1.0),
            at(2).either(-1.0, 1.0),
        ];
        AffineMap::new(program, Parameters::of_records(count, 1, first).unwrap()).unwrap()
    }

    fn plan(map: &AffineMap) -> Plan<'_> {
        let ask = Ask::new(Query::Variables(vec!["w".into()]))
            .adjacency(Adjacency::OneRecord { len: 3 })
            .privacy(Privacy::laplace(1.0))
            .sensitivity(Request::regularised_erm())
            .feasibility(Feasibility::each(0.05).method(Choice::NOISE_AWARE_HINGE));
        Plan::new(map, ask).unwrap()
    }

    fn form(map: &AffineMap) -> (LossForm, LatticeLaw) {
        let plan = plan(map);
        let released = plan.released();
        let (rule, design, noise) = (released.rule(), released.design(), released.noise());
        let form = LossForm::new(map, rule, design, &Risk::expectation(), noise);
        (form.unwrap().expect("a sum of hinges"), *noise)
    }

    #[test]
    fn few_records_stand_for_the_runs_of_many() {
        // Runs of 4, the last of 3.
        let (count, most) = (59, 16);
        let map = map(count, None);
        let (form, noise) = form(&map);
        let few = Miniature::of(&map, &form, most).unwrap();
        let width = 3;
        assert_eq!(few.map().len(), 15 * width);
        let mut sampler = crate::noise::Sampler::new(24, 0);
        let distinct: Vec<f64> = (0..15 * width)
            .map(|_| 2.0 * sampler.uniform() - 1.0)
            .collect();
        let all: Vec<f64> = (0..count)
            .flat_map(|i| distinct[width * (i / 4)..width * (i / 4 + 1)].to_vec())
            .collect();
        let settings = Settings::default();
        let small = few.decide(&distinct, &noise, &settings).unwrap();
        let large = form
            .decide(&map.at(&all).unwrap(), &noise, &settings)
            .unwrap();
        assert!((small.objective - large.objective).abs() < 1e-12);
        for j in 0..3 {
            assert!((small.mean[j] - large.mean[j]).abs() < 1e-7);
            assert_eq!(small.recourse.row(j), large.recourse.row(j));
        }
        let (one, other) = (small.error.unwrap(), large.error.unwrap());
        assert!(one < 1e-5 && other < 1e-5, "{one:e} {other:e}");
    }

    /// Records that are alike are looked at once, and the one that is not is not taken for another.
    #[test]
    fn one_dear_record_among_many_counts_in_the_certificate() {
        let bound = |dear| plan(&map(40, dear)).guarantee().sensitivity();
        let plain = bound(None);
        for dear in [0, 1, 17, 39] {
            let found = bound(Some(dear));
            assert!(
                (found / plain - 2.0).abs() < 1e-2,
                "{dear}: {found} {plain}"
            );
        }
    }

    #[test]
    fn records_that_are_not_alike_or_few_have_no_miniature() {
        let whole = map(40, None);
        assert!(Miniature::of(&whole, &form(&whole).0, 10).is_some());
        assert!(Miniature::of(&whole, &form(&whole).0, 40).is_none());
        let dear = map(40, Some(17));
        assert!(Miniature::of(&dear, &form(&dear).0, 10).is_none());
    }
}
