//! The black-box audit (M10): run the release on two adjacent datasets many times, and see what tells them apart.
//!
//! Half of the answers choose an event, the other half test it: two Clopper–Pearson bounds that share the false-alarm
//! rate give a lower bound on the ε that the release really has. It knows nothing of how the noise is made, so it catches
//! a scale, a shape or a lattice that is not what the guarantee says. It finds nothing that happens to few pairs or with
//! small probability.

use std::fmt;

use conveil::noise::{clopper_pearson_lower, clopper_pearson_upper};
use conveil::plan::Plan;
use conveil::rule::Shape;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::noise::{Lattice, Source};
use crate::release::Solved;

/// How much is drawn, and how rarely it may err.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Settings {
    draws: u64,
    false_alarm: f64,
}

impl Settings {
    /// So many draws from each dataset (at least 4), and a bound that is wrong with at most this probability.
    pub fn new(draws: u64, false_alarm: f64) -> Result<Settings> {
        if draws >= 4 && false_alarm > 0.0 && false_alarm < 1.0 {
            return Ok(Settings { draws, false_alarm });
        }
        Err(Error::refused(
            &format!("an audit of {draws} draws with a false-alarm rate of {false_alarm}"),
            "half of the draws choose an event and the other half test it, with an error that has a rate",
            "at least 4 draws, and a rate between 0 and 1, such as 100000 and 1e-6",
        ))
    }
}

impl Default for Settings {
    /// 100 000 draws from each dataset, one false alarm in a million audits.
    fn default() -> Settings {
        Settings {
            draws: 100_000,
            false_alarm: 1e-6,
        }
    }
}

/// What a black-box audit found. Private: it was made on the curator's data.
///
/// # Guarantee
/// With probability at least 1 − `false_alarm`, no (ε, δ) with ε below `epsilon_at_least` holds for the draws at this
/// pair of datasets and this δ: the event was fixed before the answers that test it. (M10.) Tests:
/// `no_mechanism_is_caught_spending_more_than_it_claims`, `a_halved_scale_is_caught`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BlackBox {
    /// Always true: this document must not be published.
    pub private: bool,
    /// Draws from each dataset.
    pub draws: u64,
    /// The probability that the bound is wrong.
    pub false_alarm: f64,
    /// The ε that is claimed.
    pub claimed_epsilon: f64,
    /// The δ that is claimed, and granted.
    pub delta: f64,
    /// What told the datasets apart best.
    pub event: String,
    /// How often it happened at the dataset where it is likelier, of the draws that tested it.
    pub seen: u64,
    /// How often at the other.
    pub seen_other: u64,
    /// The draws that tested it, from each dataset.
    pub tested: u64,
    /// The lower bound on ε.
    pub epsilon_at_least: f64,
    /// Whether that is more than what is claimed.
    pub violated: bool,
}

impl fmt::Display for BlackBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.violated {
            "VIOLATED: the claim is false"
        } else {
            "not violated"
        };
        writeln!(f, "BLACK-BOX AUDIT: PRIVATE, made on the curator's data")?;
        writeln!(
            f,
            "claimed ε = {}, δ = {}: {verdict}",
            self.claimed_epsilon, self.delta
        )?;
        writeln!(
            f,
            "measured ε ≥ {:.4} (false alarm {:e}), {} draws from each dataset",
            self.epsilon_at_least, self.false_alarm, self.draws
        )?;
        writeln!(
            f,
            "event: {}; seen {} against {} times in {}",
            self.event, self.seen, self.seen_other, self.tested
        )
    }
}

/// Draws from the release at two datasets, which the caller says are adjacent, and bounds from below the ε between them.
/// One solve each; every draw goes through the function that a release draws with. Nothing is charged, and nothing but
/// the bound comes back.
pub fn audit(
    plan: &Plan<'_>,
    theta: &[f64],
    neighbour: &[f64],
    settings: &Settings,
) -> Result<BlackBox> {
    let lattice = Lattice::of(plan)?;
    let solved = |theta| Solved::new(plan, lattice.clone(), theta, false);
    compare(plan, &[solved(theta)?, solved(neighbour)?], settings)
}

/// The audit of two solves.
pub(crate) fn compare(
    plan: &Plan<'_>,
    solved: &[Solved; 2],
    settings: &Settings,
) -> Result<BlackBox> {
    // Two lists of answers, and the statistics of each.
    let numbers = plan.released().shape().noises();
    conveil::memory::refuse_beyond_memory(
        &format!("a black-box audit of {} draws", settings.draws),
        2.0 * settings.draws as f64 * (64 + 24 * numbers) as f64,
        "fewer draws",
    )
    .map_err(Error::Engine)?;
    let draw = |solved: &Solved| -> Result<Vec<Vec<f64>>> {
        let mut source = Source::System;
        (0..settings.draws)
            .map(|_| solved.draw(&mut source))
            .collect()
    };
    let answers = [draw(&solved[0])?, draw(&solved[1])?];
    bound(plan, &answers, settings.false_alarm)
}

/// The lower bound on ε that two equally long lists of answers give: those of the release at a dataset, and those at its
/// neighbour, in the order in which they were drawn. For audits of a whole command line.
pub fn bound(plan: &Plan<'_>, answers: &[Vec<Vec<f64>>; 2], false_alarm: f64) -> Result<BlackBox> {
    let draws = answers[0].len().min(answers[1].len());
    Settings::new(draws as u64, false_alarm)?;
    let numbers = plan.released().shape().noises();
    if answers
        .iter()
        .flatten()
        .any(|answer| answer.len() != numbers)
    {
        return Err(Error::refused(
            "these answers",
            &format!("the plan releases {numbers} numbers"),
            "as many in each answer",
        ));
    }
    let half = draws / 2;
    let (shape, step) = (plan.released().shape(), plan.released().step());
    let privacy = plan.guarantee().privacy();
    let (epsilon, delta) = (privacy.epsilon(), privacy.delta());
    let choosing = [&answers[0][..half], &answers[1][..half]];
    let testing = [&answers[0][half..draws], &answers[1][half..draws]];
    let event = Event::choose(shape, step, choosing, (epsilon, delta));
    let count = |answers: &[Vec<f64>]| answers.iter().filter(|a| event.holds(shape, a)).count();
    let (seen, other) = if event.swapped {
        (count(testing[1]) as u64, count(testing[0]) as u64)
    } else {
        (count(testing[0]) as u64, count(testing[1]) as u64)
    };
    let tested = (draws - half) as u64;
    let share = false_alarm / 2.0;
    let engine = |error| Error::Engine(conveil::Error::from(error));
    let low = clopper_pearson_lower(seen, tested, share).map_err(engine)?;
    let high = clopper_pearson_upper(other, tested, share).map_err(engine)?;
    let least = if low > delta {
        ((low - delta) / high).ln().max(0.0)
    } else {
        0.0
    };
    Ok(BlackBox {
        private: true,
        draws: draws as u64,
        false_alarm,
        claimed_epsilon: epsilon,
        delta,
        event: event.name(plan),
        seen,
        seen_other: other,
        tested,
        epsilon_at_least: least,
        violated: least > epsilon,
    })
}

/// A number made of an answer.
#[derive(Clone, Debug)]
enum Statistic {
    /// Entry i of the answer.
    Entry(usize),
    /// w'T⁻¹(answer).
    Direction(Vec<f64>),
    /// How much nearer, in ℓ₁, T⁻¹(answer) lies to the first centre than to the second: the likelihood ratio of
    /// Laplace noise.
    Nearer(Vec<f64>, Vec<f64>),
    /// Where entry i of T⁻¹(answer) lies between two points of the lattice.
    OffLattice(usize, f64),
}

impl Statistic {
    fn of(&self, shape: &Shape, answer: &[f64]) -> f64 {
        let value = match self {
            Statistic::Entry(i) => answer[*i],
            Statistic::Direction(weights) => {
                let y = shape.unshape(answer);
                weights.iter().zip(&y).map(|(w, y)| w * y).sum()
            }
            Statistic::Nearer(first, second) => {
                let y = shape.unshape(answer);
                let centres = first.iter().zip(second);
                let nearer = y
                    .iter()
                    .zip(centres)
                    .map(|(y, (a, b))| (y - b).abs() - (y - a).abs());
                nearer.sum()
            }
            Statistic::OffLattice(i, step) => {
                let steps = shape.unshape(answer)[*i] / step;
                steps - steps.round()
            }
        };
        value + 0.0 // −0 is 0
    }
}

/// What is counted.
#[derive(Clone, Debug)]
enum Test {
    /// The statistic is at least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
    /// One of these values exactly: for coarse lattices.
    OneOf(std::collections::HashSet<u64>),
}

impl Test {
    fn holds(&self, value: f64) -> bool {
        match self {
            Test::AtLeast(threshold) => value >= *threshold,
            Test::AtMost(threshold) => value <= *threshold,
            Test::OneOf(values) => values.contains(&value.to_bits()),
        }
    }

    /// How many of these sorted values it holds for.
    fn count(&self, sorted: &[f64]) -> f64 {
        let count = match self {
            Test::AtLeast(threshold) => sorted.len() - sorted.partition_point(|v| v < threshold),
            Test::AtMost(threshold) => sorted.partition_point(|v| v <= threshold),
            Test::OneOf(_) => sorted.iter().filter(|v| self.holds(**v)).count(),
        };
        count as f64
    }
}

/// An event, chosen on answers that do not test it.
#[derive(Clone, Debug)]
struct Event {
    statistic: Statistic,
    test: Test,
    /// Likelier at the second dataset.
    swapped: bool,
}

/// Thresholds tried for each statistic: evenly spaced ranks of both samples together.
const THRESHOLDS: usize = 400;

/// A value that is seen this often, in the mean, is worth counting by itself.
const OFTEN: usize = 10;

impl Event {
    fn holds(&self, shape: &Shape, answer: &[f64]) -> bool {
        self.test.holds(self.statistic.of(shape, answer))
    }

    fn name(&self, plan: &Plan<'_>) -> String {
        let statistic = match &self.statistic {
            Statistic::Entry(i) => plan.released().query().labels()[*i].clone(),
            Statistic::Direction(weights) => format!("{weights:?} · T⁻¹(answer)"),
            Statistic::Nearer(..) => "likelihood ratio of Laplace noise".into(),
            Statistic::OffLattice(i, _) => format!("place of noise {i} between lattice points"),
        };
        let test = match &self.test {
            Test::AtLeast(threshold) => format!("at least {threshold}"),
            Test::AtMost(threshold) => format!("at most {threshold}"),
            Test::OneOf(values) => format!("one of {} values", values.len()),
        };
        let dataset = if self.swapped { "second" } else { "first" };
        format!("{statistic} {test}, likelier at the {dataset} dataset")
    }

    /// The event that promises the largest bound. One half of these answers proposes events, the other half judges them:
    /// a set of values that is picked and judged on the same answers looks better than it is.
    fn choose(
        shape: &Shape,
        step: f64,
        answers: [&[Vec<f64>]; 2],
        (epsilon, delta): (f64, f64),
    ) -> Event {
        let half = answers[0].len() / 2;
        let proposing = answers.map(|answers| &answers[..half]);
        let judging = answers.map(|answers| &answers[half..]);
        let total = (answers[0].len() - half) as f64;
        let mut best = (
            f64::NEG_INFINITY,
            Event {
                statistic: Statistic::Entry(0),
                test: Test::AtLeast(0.0),
                swapped: false,
            },
        );
        for statistic in statistics(shape, step, proposing) {
            let sorted = |answers: [&[Vec<f64>]; 2]| {
                answers.map(|answers| {
                    let values = answers.iter().map(|answer| statistic.of(shape, answer));
                    let mut values: Vec<f64> = values.collect();
                    values.sort_by(f64::total_cmp);
                    values
                })
            };
            let judges = sorted(judging);
            for test in tests(&sorted(proposing), epsilon) {
                let counts = judges.each_ref().map(|values| test.count(values));
                for swapped in [false, true] {
                    let (seen, other) = if swapped {
                        (counts[1], counts[0])
                    } else {
                        (counts[0], counts[1])
                    };
                    // What the final bounds will take off, about: five standard errors, and a few for rare events.
                    let error = |count: f64| 5.0 * (count * (1.0 - count / total)).sqrt();
                    let low = seen - error(seen) - 3.0;
                    let high = other + error(other) + 12.0;
                    let gain = ((low / total - delta) / (high / total)).ln();
                    // NaN, the logarithm of a negative number, gains nothing.
                    if gain > best.0 {
                        let (statistic, test) = (statistic.clone(), test.clone());
                        best = (
                            gain,
                            Event {
                                statistic,
                                test,
                                swapped,
                            },
                        );
                    }
                }
            }
        }
        best.1
    }
}

/// What may tell two lists of answers apart.
fn statistics(shape: &Shape, step: f64, answers: [&[Vec<f64>]; 2]) -> Vec<Statistic> {
    let numbers = shape.noises();
    let centres = answers.map(|answers| {
        let unshaped: Vec<Vec<f64>> = answers.iter().map(|a| shape.unshape(a)).collect();
        let median = |i: usize| {
            let mut values: Vec<f64> = unshaped.iter().map(|y| y[i]).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or(0.0)
        };
        (0..numbers).map(median).collect::<Vec<f64>>()
    });
    let apart: Vec<f64> = centres[0]
        .iter()
        .zip(&centres[1])
        .map(|(a, b)| a - b)
        .collect();
    let mut all: Vec<Statistic> = (0..numbers).map(Statistic::Entry).collect();
    all.extend((0..numbers).map(|i| Statistic::OffLattice(i, step)));
    if numbers > 1 {
        let unit = |i: usize| (0..numbers).map(|j| f64::from(u8::from(i == j))).collect();
        all.extend((0..numbers).map(|i| Statistic::Direction(unit(i))));
        all.push(Statistic::Direction(
            apart.iter().map(|d| d.signum()).collect(),
        ));
        all.push(Statistic::Direction(apart));
    }
    let [first, second] = centres;
    all.push(Statistic::Nearer(first, second));
    all
}

/// Half-lines, and single values where they repeat.
fn tests(sorted: &[Vec<f64>; 2], epsilon: f64) -> Vec<Test> {
    let mut pooled: Vec<f64> = sorted.concat();
    pooled.sort_by(f64::total_cmp);
    let every = (pooled.len() / THRESHOLDS).max(1);
    let mut found: Vec<Test> = pooled
        .iter()
        .step_by(every)
        .flat_map(|&threshold| [Test::AtLeast(threshold), Test::AtMost(threshold)])
        .collect();
    pooled.dedup();
    if pooled.len() * OFTEN <= sorted[0].len() {
        // The likeliest set of values: all that are more than e^ε times as frequent.
        let times = |i: usize, value: f64| {
            let start = sorted[i].partition_point(|v| *v < value);
            (sorted[i].partition_point(|v| *v <= value) - start) as f64
        };
        for (i, j) in [(0, 1), (1, 0)] {
            let likelier = |v: &&f64| times(i, **v) > epsilon.exp() * times(j, **v);
            let values = pooled.iter().filter(likelier).map(|v| v.to_bits());
            found.push(Test::OneOf(values.collect()));
        }
    }
    found
}

#[cfg(test)]
mod tests;
