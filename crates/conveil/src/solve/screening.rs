//! Very many hinges, of which few decide: away from its kink a hinge is a line, and a solve needs to see those near it alone.
//!
//! A sample of the rows says about where the optimum is. Hinges far from their kink there are taken for lines: those above it
//! for their slope, the others for 0. What is left is a small problem, whose optimum tells on which side of its kink every
//! hinge of the large one truly stands. A hinge that has changed its side comes back, and the rest is solved again, until none
//! does. Then the multipliers of the small problem, c of a slope and 0 of the others are a dual point of the large one, and
//! its gap over all hinges is what is proven: nothing of the answer rests on the sample.

use super::Cancel;
use super::dense::{Factor, PART};
use super::hinge::{Hinge, HingeProblem, HingeSolution};
use super::lanes;
use super::sum::compensated;

/// Fewer rows are solved as they are.
pub(super) const MANY: usize = 4_000;

/// Of N rows (SPREAD·N)^⅔ are a sample: its optimum is off by about the square root of its size, and so are the shares of
/// hinges between the two optima. With this constant the hinges that are kept are as many as the sample's.
const SPREAD: f64 = 12.0;

/// The gap of the sample's optimum, relative: what a sample cannot tell is more.
const ROUGH: f64 = 1e-4;

/// The rest is solved to this share of the gap that is asked for: one step more of a small problem.
const CLOSER: f64 = 0.1;

/// Rounds in which hinges may come back.
const ROUNDS: usize = 8;

/// Solves with hinges taken for lines where that can be; `None` where too many stand near their kinks.
pub(super) fn solve(
    problem: &HingeProblem,
    tolerance: f64,
    cancel: &Cancel,
) -> Option<HingeSolution> {
    let p = Factor::of(&problem.p, problem.weights)?;
    let places = sample(problem.records());
    let rough = sampled(problem, &places).solve_whole(ROUGH, cancel)?;
    let mut steps = rough.steps;
    let mut lines = Lines::around(problem, &rough.w, places.len())?;
    for _ in 0..ROUNDS {
        if cancel.is_raised() || 2 * lines.kept.len() > problem.hinges.len() {
            return None;
        }
        let found = lines
            .rest(problem)
            .solve_whole(CLOSER * tolerance, cancel)?;
        steps += found.steps;
        if !lines.take_back(problem, &found.w) {
            let alpha = lines.multipliers(problem, &found.alpha);
            return Some(problem.judged(&p, &found.w, &alpha).of(alpha, steps));
        }
    }
    None
}

impl HingeProblem {
    /// About where the optimum is, on a sample, and how many rows that has.
    pub(crate) fn rough(&self, cancel: &Cancel) -> Option<(Vec<f64>, usize)> {
        let places = sample(self.records());
        let found = sampled(self, &places).solve_whole(ROUGH, cancel)?;
        Some((found.w, places.len()))
    }
}

/// Rows of a sample, one of each of as many equal parts, at a place that no order of the records is likely to follow. Always
/// the same: an answer is a function of the data.
fn sample(rows: usize) -> Vec<usize> {
    let count = (SPREAD * rows as f64).powf(2.0 / 3.0).ceil() as usize;
    let count = count.min(rows);
    let mut state = 0u64;
    (0..count)
        .map(|part| {
            // Weyl's sequence, mixed: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut mixed = state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            let (start, end) = (part * rows / count, (part + 1) * rows / count);
            start + (mixed >> 33) as usize % (end - start)
        })
        .collect()
}

/// The problem of these rows alone, each for as many as there are.
fn sampled(problem: &HingeProblem, places: &[usize]) -> HingeProblem {
    let each = problem.records() as f64 / places.len() as f64;
    let mut hinges = Vec::new();
    for (row, &place) in places.iter().enumerate() {
        let first = problem.hinges.partition_point(|h| h.row < place);
        let own = problem.hinges[first..]
            .iter()
            .take_while(|h| h.row == place);
        hinges.extend(own.map(|h| Hinge {
            row,
            cost: each * h.cost,
            ..*h
        }));
    }
    HingeProblem {
        weights: problem.weights,
        p: problem.p.clone(),
        q: problem.q.clone(),
        columns: problem.rows(places),
        hinges,
        constant: 0.0,
    }
}

/// Hinges that are taken for lines, and those that are kept.
struct Lines {
    /// Whether a hinge is above 0, where it is taken for a line.
    is_slope: Vec<bool>,
    /// The others, in order.
    kept: Vec<usize>,
    is_kept: Vec<bool>,
}

impl Lines {
    /// Keeps the hinges nearest to their kinks at these weights, those of about so many rows.
    fn around(problem: &HingeProblem, w: &[f64], rows: usize) -> Option<Self> {
        let short = problem.short(w);
        let count = rows * problem.hinges.len() / problem.records();
        let mut sizes: Vec<f64> = short.iter().map(|short| short.abs()).collect();
        let (_, width, _) =
            sizes.select_nth_unstable_by(count.min(short.len() - 1), f64::total_cmp);
        let width = *width;
        if !width.is_finite() {
            return None;
        }
        let mut lines = Lines {
            is_slope: short.iter().map(|short| *short > 0.0).collect(),
            is_kept: short.iter().map(|short| short.abs() <= width).collect(),
            kept: Vec::new(),
        };
        lines.list();
        Some(lines)
    }

    fn list(&mut self) {
        let kept = self.is_kept.iter().enumerate();
        self.kept = kept.filter_map(|(k, kept)| kept.then_some(k)).collect();
    }

    /// The problem of the hinges that are kept, beside the lines.
    fn rest(&self, problem: &HingeProblem) -> HingeProblem {
        let slopes = self.multipliers(problem, &vec![0.0; self.kept.len()]);
        let pulled = problem.pulled(&slopes);
        let mut rows: Vec<usize> = Vec::with_capacity(self.kept.len());
        let hinges = (self.kept.iter())
            .map(|&k| {
                let hinge = problem.hinges[k];
                if rows.last() != Some(&hinge.row) {
                    rows.push(hinge.row);
                }
                Hinge {
                    row: rows.len() - 1,
                    ..hinge
                }
            })
            .collect();
        HingeProblem {
            weights: problem.weights,
            p: problem.p.clone(),
            q: (problem.q.iter().zip(&pulled))
                .map(|(q, r)| q - r)
                .collect(),
            columns: problem.rows(&rows),
            hinges,
            constant: problem.constant + problem.weighted_targets(&slopes),
        }
    }

    /// Keeps the lines whose hinges stand on the other side at these weights; whether there are some.
    fn take_back(&mut self, problem: &HingeProblem, w: &[f64]) -> bool {
        let short = problem.short(w);
        let before = self.kept.len();
        for (k, short) in short.iter().enumerate() {
            // Also where it is neither, which no weights that are numbers are.
            let has_moved = match self.is_slope[k] {
                true => !(*short >= 0.0),
                false => !(*short <= 0.0),
            };
            self.is_kept[k] |= has_moved;
        }
        self.list();
        self.kept.len() > before
    }

    /// α of all hinges: c of a slope, 0 of the other lines, and these of the rest.
    fn multipliers(&self, problem: &HingeProblem, of_kept: &[f64]) -> Vec<f64> {
        let mut alpha = lanes::filled(problem.hinges.len(), |k| match self.is_slope[k] {
            true => problem.hinges[k].cost,
            false => 0.0,
        });
        for (&k, of_kept) in self.kept.iter().zip(of_kept) {
            alpha[k] = *of_kept;
        }
        alpha
    }
}

impl HingeProblem {
    /// t − r'w of each hinge.
    fn short(&self, w: &[f64]) -> Vec<f64> {
        let margins = self.margins(w);
        lanes::filled(self.hinges.len(), |k| {
            self.hinges[k].target - margins[self.hinges[k].row]
        })
    }

    /// R of these rows alone.
    fn rows(&self, places: &[usize]) -> Vec<f64> {
        let columns = self.columns.chunks_exact(self.records());
        columns
            .flat_map(|column| places.iter().map(|&i| column[i]))
            .collect()
    }

    /// Σαt.
    pub(super) fn weighted_targets(&self, alpha: &[f64]) -> f64 {
        let of_lanes = lanes::of_each(alpha.len(), |lane| {
            let parts = (self.hinges[lane.clone()].chunks(PART)).zip(alpha[lane].chunks(PART));
            compensated(parts.map(|(hinges, alpha)| {
                let each = hinges.iter().zip(alpha);
                each.map(|(h, a)| h.target * a).sum::<f64>()
            }))
        });
        compensated(of_lanes.into_iter())
    }
}

#[cfg(test)]
mod tests {
    use super::super::hinge::CLOSE;
    use super::*;
    use crate::noise::Sampler;

    const RECORDS: usize = 20_000;

    /// Two hinges a row at t = 1 ± room, with P = 2λI.
    fn problem(
        lambda: f64,
        room: f64,
        record: impl Fn(&mut Sampler, usize) -> [f64; 3],
    ) -> HingeProblem {
        let mut sampler = Sampler::new(23, 0);
        let mut columns = vec![0.0; 3 * RECORDS];
        for i in 0..RECORDS {
            for (j, x) in record(&mut sampler, i).into_iter().enumerate() {
                columns[j * RECORDS + i] = x;
            }
        }
        let mut p = vec![0.0; 9];
        (0..3).for_each(|j| p[4 * j] = 2.0 * lambda);
        let hinge = |k: usize| Hinge {
            row: k / 2,
            target: [1.0 + room, 1.0 - room][k % 2],
            cost: 0.5 / RECORDS as f64,
        };
        HingeProblem {
            weights: 3,
            p,
            q: vec![0.0; 3],
            columns,
            hinges: (0..2 * RECORDS).map(hinge).collect(),
            constant: 0.0,
        }
    }

    fn uniform(sampler: &mut Sampler) -> f64 {
        2.0 * sampler.uniform() - 1.0
    }

    /// Overlapping classes, an intercept, and how much the classes are apart.
    fn classes(sampler: &mut Sampler, i: usize, apart: f64) -> [f64; 3] {
        let label = [1.0, -1.0][i % 2];
        let of = |x: f64| label * x;
        [
            of(uniform(sampler)) + apart,
            of(uniform(sampler)) - 0.5 * apart,
            label,
        ]
    }

    /// As close as the optimum of all hinges at once, on whatever data.
    fn agrees(what: &str, problem: &HingeProblem) {
        let cancel = Cancel::default();
        let whole = problem.solve_whole(CLOSE, &cancel).unwrap();
        let found = problem.solve(CLOSE, &cancel).unwrap();
        let proven = |f: &HingeSolution| (f.factor * (f.gap + problem.rounding(f))).sqrt();
        let away: f64 = (found.w.iter().zip(&whole.w).enumerate())
            .map(|(j, (a, b))| problem.p[4 * j] * (a - b).powi(2))
            .sum();
        assert!(
            away.sqrt() <= proven(&found) + proven(&whole),
            "{what}: {away:e}"
        );
        let size = problem.objective(&whole.w).abs();
        assert!(
            found.gap <= whole.gap.max(CLOSE * size),
            "{what}: {:e} {:e}",
            found.gap,
            whole.gap
        );
    }

    #[test]
    fn a_screened_solve_is_as_close_as_one_of_all_hinges() {
        let cases: [(&str, HingeProblem); 8] = [
            (
                "overlapping",
                problem(1e-3, 0.05, |s, i| classes(s, i, 0.3)),
            ),
            (
                "weakly regularised",
                problem(1e-7, 0.01, |s, i| classes(s, i, 0.2)),
            ),
            ("separable", problem(1e-3, 0.02, |s, i| classes(s, i, 1.5))),
            (
                "one class",
                problem(1e-2, 0.1, |s, _| [uniform(s), uniform(s), 1.0]),
            ),
            (
                "no class at all",
                problem(1e-3, 0.0, |s, _| [uniform(s), uniform(s), uniform(s)]),
            ),
            (
                "three records, again and again",
                problem(1e-2, 0.05, |_, i| {
                    [[0.3, -0.7, 1.0], [0.9, 0.2, -1.0], [-0.1, 0.6, 1.0]][i % 3]
                }),
            ),
            ("one record", problem(1e-2, 0.05, |_, _| [0.3, -0.7, 1.0])),
            (
                "sorted",
                problem(1e-3, 0.05, |s, i| {
                    classes(s, 2 * (i / 2) + i / (RECORDS / 2), 0.3)
                }),
            ),
        ];
        for (what, problem) in &cases {
            agrees(what, problem);
        }
    }

    /// The sample's records are shorter than all others: the lines that follow from it are wrong at first.
    #[test]
    fn hinges_that_a_sample_misplaces_come_back() {
        let places = sample(RECORDS);
        let odd = |i: usize| places.binary_search(&i).is_ok();
        let cancel = Cancel::default();
        let (mut came_back, mut solved) = (0, 0);
        for factor in [0.95, 0.9, 0.85, 0.8, 0.7, 0.6] {
            let problem = problem(1e-3, 0.05, |s, i| {
                classes(s, i, 0.3).map(|x| if odd(i) { factor * x } else { x })
            });
            let rough = sampled(&problem, &places);
            let rough = rough.solve_whole(ROUGH, &cancel).unwrap();
            let mut lines = Lines::around(&problem, &rough.w, places.len()).unwrap();
            let first = lines.rest(&problem).solve_whole(CLOSE, &cancel).unwrap();
            let has_moved = lines.take_back(&problem, &first.w);
            if let Some(found) = solve(&problem, CLOSE, &cancel) {
                let size = problem.objective(&found.w);
                assert!(found.gap <= CLOSE * size, "{factor}: {:e}", found.gap);
                solved += 1;
                came_back += usize::from(has_moved);
            }
        }
        println!("of {solved} solves, hinges came back in {came_back}");
        assert!(came_back > 0, "the test has no teeth");
    }

    #[test]
    fn a_sample_has_one_row_of_each_part_and_is_always_the_same() {
        for rows in [MANY, 12_345, 1_000_000] {
            let places = sample(rows);
            assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(places.iter().all(|&i| i < rows) && places.len() < rows);
            assert_eq!(places, sample(rows));
        }
    }
}
