//! Exact methods on a single active row: violated with probability η, neither more nor less; and mutants that are
//! violated with probability 2η are caught by the very checker that the table of all methods uses.
//!
//! False alarm: every interval is Clopper–Pearson at 1e-6/40, and there are fewer than 40.

mod common;

use common::{Moving, Noise, SENSITIVITY, ask, keeps};
use conveil::ask::{Query, SampleSize};
use conveil::chance::{BoxSet, Choice, Feasibility, Split};
use conveil::noise::{Factor, Law, Sampler, clopper_pearson, weighted_upper_quantile};
use conveil::plan::Plan;
use conveil::program::{AffineMap, Builder};

const ETA: f64 = 0.05;
const ALARM: f64 = 1e-6 / 40.0;
const DRAWS: u64 = 1_000_000;

/// The draws and the alarm of the table of all methods.
const TABLE_DRAWS: u64 = 100_000;
const TABLE_ALARM: f64 = 1e-6 / 2500.0;

/// One row with its decided rule, the law, the certified η, and the slack at the mean that would double it.
struct Row {
    rule: Moving,
    law: Law,
    certified: f64,
    mutant: Vec<f64>,
}

impl Row {
    /// The violation is η within the interval, the checker accepts the rule, and it rejects the mutant.
    fn assert_exact_and_guarded(self, label: &str) {
        let violations = self.rule.violations(&self.law, DRAWS, 3);
        let (low, high) = clopper_pearson(violations, DRAWS, ALARM).unwrap();
        let rate = violations as f64 / DRAWS as f64;
        println!("{label:<44} η = {:.6}, measured {rate:.6}", self.certified);
        assert!(
            low <= self.certified && self.certified <= high,
            "{label}: measured {rate}, certified {}",
            self.certified
        );
        self.assert_guarded(label);
    }

    fn assert_guarded(self, label: &str) {
        let found = self.rule.violations(&self.law, TABLE_DRAWS, 4);
        assert!(
            keeps(found, TABLE_DRAWS, self.certified, TABLE_ALARM),
            "{label}"
        );
        let mutant = self.rule.with_slack(self.mutant);
        let found = mutant.violations(&self.law, TABLE_DRAWS, 4);
        assert!(
            !keeps(found, TABLE_DRAWS, self.certified, TABLE_ALARM),
            "{label}: the mutant passes with {found} violations"
        );
    }
}

/// min x, low ≤ x ≤ low + length; the lower bound is private (0 here).
fn two_sided(length: f64) -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let theta = m.parameter("theta");
    m.minimize(x.at(0));
    m.between("range", theta, x.at(0), length);
    m.build_map().unwrap()
}

/// A two-sided row exactly as long as the method's own set: both ends bind.
fn filled(noise: Noise, wish: Feasibility, length: f64) -> (Moving, Law, f64, Vec<BoxSet>) {
    // A millionth of the noise's scale is left as an interior for the solver.
    let map = two_sided(length + 1e-6 * SENSITIVITY);
    let plan = Plan::new(&map, ask(Query::Identity, noise, wish)).unwrap();
    let decided = plan.released().at(&[0.0]).unwrap();
    let certified = plan.guarantee().budget().certified();
    let boxes = plan.released().design().boxes().to_vec();
    (Moving::new(&decided), *plan.law(), certified, boxes)
}

fn plan_box(noise: Noise, wish: &Feasibility) -> BoxSet {
    let map = two_sided(100.0);
    let plan = Plan::new(&map, ask(Query::Identity, noise, wish.clone())).unwrap();
    plan.released().design().boxes()[0]
}

/// The box of the same centre of gravity, shrunk by one factor until twice as much lies outside.
fn shrunk(set: BoxSet, law: &Law, outside: f64) -> Vec<f64> {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let t = 0.5 * (low + high);
        if law.outside(t * set.lower, t * set.upper) > outside {
            low = t;
        } else {
            high = t;
        }
    }
    vec![-high * set.lower, high * set.upper]
}

#[test]
fn boxes_on_a_row_of_their_own_length_are_violated_with_probability_eta() {
    for noise in Noise::ALL {
        for share in [0.5, 0.8] {
            let wish = Feasibility::eta(ETA)
                .method(Choice::MASS_BOX)
                .split(Split::LowerShare(share));
            let set = plan_box(noise, &wish);
            let (rule, law, certified, _) = filled(noise, wish, set.upper - set.lower);
            assert_eq!(certified, ETA);
            // Both tails doubled: the split of the mutant is the plan's.
            let mutant = vec![
                law.upper_quantile(2.0 * ETA * share).unwrap(),
                law.upper_quantile(2.0 * ETA * (1.0 - share)).unwrap(),
            ];
            let row = Row {
                rule,
                law,
                certified,
                mutant,
            };
            row.assert_exact_and_guarded(&format!("mass box, {noise:?}, {share} below"));
        }
        let wish =
            Feasibility::eta(ETA)
                .method(Choice::SAMPLED_BOX)
                .sampling(SampleSize::Exact, 1e-8, 21);
        let set = plan_box(noise, &wish);
        let (rule, law, certified, boxes) = filled(noise, wish, set.upper - set.lower);
        assert!(certified < ETA);
        let row = Row {
            rule,
            law,
            certified,
            mutant: shrunk(boxes[0], &law, 2.0 * certified),
        };
        row.assert_exact_and_guarded(&format!("sampled box, {noise:?}"));
    }
}

#[test]
fn the_ball_of_one_noise_is_violated_with_probability_eta() {
    let wish = Feasibility::eta(ETA).method(Choice::BALL);
    let probe = two_sided(100.0);
    let plan = Plan::new(&probe, ask(Query::Identity, Noise::Gaussian, wish.clone())).unwrap();
    let radius = plan.law().upper_quantile(ETA / 2.0).unwrap() + 1.5 * plan.guarantee().step();
    let (rule, law, certified, _) = filled(Noise::Gaussian, wish, 2.0 * radius);
    let mutant = vec![law.upper_quantile(ETA).unwrap(); 2];
    let row = Row {
        rule,
        law,
        certified,
        mutant,
    };
    row.assert_exact_and_guarded("ball, k = 1");
}

#[test]
fn bounded_noise_is_exactly_zero_and_a_smaller_box_is_caught() {
    let wish = Feasibility::eta(ETA).method(Choice::BOUNDED);
    let set = plan_box(Noise::Truncated, &wish);
    let (rule, law, certified, _) = filled(Noise::Truncated, wish, set.upper - set.lower);
    assert_eq!(certified, 0.0);
    assert_eq!(rule.violations(&law, DRAWS, 5), 0);
    let row = Row {
        rule,
        law,
        certified,
        mutant: vec![-0.95 * set.lower, 0.95 * set.upper],
    };
    row.assert_guarded("bounded noise");
}

/// max a'x s.t. a'x ≤ 1 (+ θ): one row, active, whose noise is v = X'a.
enum Shape {
    /// x queried: v = a constant.
    Fixed(Vec<f64>),
    /// k sums of two variables each queried, the row their sum: v = (1, …, 1), by equations on free X.
    Forced(usize),
}

fn one_row(shape: Shape, noise: Noise, choice: Choice) -> Row {
    let mut m = Builder::new();
    let (query, expression, v) = match shape {
        Shape::Fixed(a) => {
            let x = m.variable("x", a.len());
            (Query::Identity, x.dot(&a), a)
        }
        Shape::Forced(k) => {
            let x = m.variable("x", 2 * k);
            let pair = |j: usize| {
                vec![
                    (format!("x[{}]", 2 * j), 1.0),
                    (format!("x[{}]", 2 * j + 1), 1.0),
                ]
            };
            (
                Query::Rows((0..k).map(pair).collect()),
                x.sum(),
                vec![1.0; k],
            )
        }
    };
    let theta = m.parameter("theta");
    m.minimize(-expression.clone());
    m.at_most("row", expression, 1.0 * theta + 1.0);
    let map = m.build_map().unwrap();
    let wish = Feasibility::eta(ETA).method(choice);
    let plan = Plan::new(&map, ask(query, noise, wish)).unwrap();
    let decided = plan.released().at(&[0.0]).unwrap();
    let law = *plan.law();
    Row {
        rule: Moving::new(&decided),
        law,
        certified: plan.guarantee().budget().certified(),
        mutant: vec![weighted_upper_quantile(&law, &v, 2.0 * ETA).unwrap()],
    }
}

#[test]
fn fixed_recourse_is_violated_with_probability_eta() {
    let weights = [vec![1.0], vec![1.0, -2.0, 0.5], vec![1.0, 1.0, 1.0, 1.0]];
    for a in weights {
        for noise in Noise::ALL {
            if noise == Noise::Truncated && a.len() > 1 {
                continue; // a bound, not a quantile, for sums of truncated terms
            }
            let label = format!("fixed recourse, {noise:?}, k = {}", a.len());
            one_row(Shape::Fixed(a.clone()), noise, Choice::FIXED_RECOURSE)
                .assert_exact_and_guarded(&label);
        }
    }
}

#[test]
fn gaussian_row_by_row_is_violated_with_probability_eta() {
    for factor in [None, Some(Factor::Gaussian)] {
        let choice = Choice::ROW_BY_ROW.with(factor);
        for a in [vec![2.0], vec![1.0, -2.0, 0.5]] {
            let label = format!("row by row, Gaussian, fixed, k = {}", a.len());
            one_row(Shape::Fixed(a), Noise::Gaussian, choice).assert_exact_and_guarded(&label);
        }
        for k in [1, 2, 3] {
            let label = format!("row by row, Gaussian, free, k = {k}");
            one_row(Shape::Forced(k), Noise::Gaussian, choice).assert_exact_and_guarded(&label);
        }
    }
}

#[test]
fn one_laplace_row_by_row_is_violated_with_probability_eta() {
    for factor in [None, Some(Factor::OneLaplace)] {
        let choice = Choice::ROW_BY_ROW.with(factor);
        one_row(Shape::Fixed(vec![3.0]), Noise::Laplace, choice)
            .assert_exact_and_guarded("row by row, one Laplace, fixed");
        one_row(Shape::Forced(1), Noise::Laplace, choice)
            .assert_exact_and_guarded("row by row, one Laplace, free");
    }
    one_row(
        Shape::Fixed(vec![3.0]),
        Noise::Truncated,
        Choice::ROW_BY_ROW,
    )
    .assert_exact_and_guarded("row by row, one truncated Laplace");
}

/// Cantelli is attained by a two-point law: mass p at t and 1−p at −tp/(1−p), p = σ²/(σ²+t²). The enforced margin
/// must hold against the one with t just past it, and a margin for 2η must not.
#[test]
fn cantelli_holds_against_its_own_worst_law_and_a_smaller_margin_is_caught() {
    let choice = Choice::ROW_BY_ROW.with(Factor::Cantelli);
    for shape in [Shape::Fixed(vec![1.0, -2.0, 0.5]), Shape::Forced(2)] {
        let size: f64 = match &shape {
            Shape::Fixed(a) => a.iter().map(|v| v * v).sum::<f64>().sqrt(),
            Shape::Forced(k) => (*k as f64).sqrt(),
        };
        let row = one_row(shape, Noise::Laplace, choice);
        let sigma = row.law.std_dev() * size;
        let violations = |margin: f64| {
            let t = margin * (1.0 + 1e-9);
            let p = sigma * sigma / (sigma * sigma + t * t);
            let mut sampler = Sampler::new(6, 0);
            let mut draw = || {
                if sampler.uniform() <= p {
                    t
                } else {
                    -t * p / (1.0 - p)
                }
            };
            (0..DRAWS).filter(|_| draw() > margin).count() as u64
        };
        let margin = row.rule.slack()[0];
        let found = violations(margin);
        let (low, high) = clopper_pearson(found, DRAWS, ALARM).unwrap();
        assert!(low <= ETA && ETA <= high, "{found}");
        assert!(keeps(found, DRAWS, ETA, TABLE_ALARM));
        let mutant = sigma * ((1.0 - 2.0 * ETA) / (2.0 * ETA)).sqrt();
        assert!(mutant < margin && !keeps(violations(mutant), DRAWS, ETA, TABLE_ALARM));
    }
}

/// The released noise lives on a lattice of step h, and rounding moves the answer by up to h/2. With a coarse h the
/// exact probability that lattice noise leaves the plan's box is at most η wherever the rounding falls; without the
/// widening by 3h/2 it is not.
#[test]
fn the_widened_box_covers_coarse_lattice_noise_and_the_plain_one_does_not() {
    for noise in Noise::ALL {
        let wish = Feasibility::eta(ETA).method(Choice::MASS_BOX);
        let map = two_sided(100.0);
        let mut plain_fails = false;
        for divisor in [2.0, 3.0, 7.0, 20.0] {
            let step = SENSITIVITY / divisor;
            let plan = Plan::new(
                &map,
                ask(Query::Identity, noise, wish.clone()).lattice(step),
            )
            .unwrap();
            let law = *plan.law();
            let set = plan.released().design().boxes()[0];
            let plain = BoxSet {
                lower: set.lower + 1.5 * step,
                upper: set.upper - 1.5 * step,
            };
            assert!((law.outside(plain.lower, plain.upper) - ETA).abs() < 1e-12);
            for part in -10..=10 {
                let shift = f64::from(part) / 20.0 * step;
                let outside = |set: &BoxSet| lattice_outside(&law, step, shift, set);
                assert!(outside(&set) <= ETA, "{noise:?}, h = s/{divisor}");
                plain_fails |= outside(&plain) > ETA;
            }
        }
        assert!(plain_fails, "{noise:?}");
    }
}

/// Pr[h·K + shift ∉ box] for K with probability ∝ density(h·K).
fn lattice_outside(law: &Law, step: f64, shift: f64, set: &BoxSet) -> f64 {
    let weight = |z: f64| match law {
        Law::Gaussian(_) => (-0.5 * (z / law.scale()).powi(2)).exp(),
        _ if law.support_bound().is_some_and(|b| z.abs() > b) => 0.0,
        _ => (-z.abs() / law.scale()).exp(),
    };
    let (mut all, mut out) = (0.0, 0.0);
    for k in -4000..=4000 {
        let z = f64::from(k) * step;
        all += weight(z);
        if z + shift < set.lower || z + shift > set.upper {
            out += weight(z);
        }
    }
    out / all
}
