//! What the envelope v_π(θ) = min v(θ̃) + π‖θ − θ̃‖₁ promises (M8a), and two shortcuts that break it, on programs
//! written out by hand.

mod structure_common;

use conveil::ask::Query;
use conveil::chance::{Feasibility, Split};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::{Affine, AffineMap, Builder, DataMap};
use conveil::solve::{Settings, solve, solve_checked};
use structure_common::{laplace, uniform};

/// A public price that nobody would deviate at without need.
const PRICE: f64 = 10.0;

fn settings() -> Settings {
    Settings::default().with_tolerance(1e-9).unwrap()
}

/// Adds θ̃ in [low, high] with π·|θ − θ̃| in the objective.
fn corrected(m: &mut Builder, name: &str, price: f64, range: (f64, f64)) -> Affine {
    let theta = m.parameter(name);
    let corrected = m.here_and_now(&format!("corrected {name}"), 1);
    let t = m.here_and_now(&format!("correction of {name}"), 1);
    m.between(
        &format!("range of {name}"),
        range.0,
        corrected.at(0),
        range.1,
    );
    m.at_most(&format!("{name} down"), theta - corrected.at(0), t.at(0));
    m.at_most(&format!("{name} up"), corrected.at(0) - theta, t.at(0));
    m.minimize(price * t.at(0));
    corrected.at(0)
}

// ---- The penalty is part of the answer ----

/// How fast the cost without its penalty moves, in units of π.
const STEEP: f64 = 13.0;

/// v(θ) = 10·θ₂ + 5·|13θ₁ − θ₂|: a purchase x = θ₂ and a plan 13θ₁ that it should meet, missed by u or w.
/// Columns: x, u, w, then θ̃ and its correction, twice.
fn purchase() -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let (over, under) = (m.variable("u", 1), m.variable("w", 1));
    let first = corrected(&mut m, "first", PRICE, (-100.0, 100.0));
    let second = corrected(&mut m, "second", PRICE, (-100.0, 100.0));
    m.minimize(PRICE * x.at(0));
    m.minimize(5.0 * (over.at(0) + under.at(0)));
    m.equal("purchase", x.at(0), second.clone());
    m.equal("plan", over.at(0) - under.at(0), STEEP * first - second);
    m.at_most("u ≥ 0", 0.0, over.at(0));
    m.at_most("w ≥ 0", 0.0, under.at(0));
    m.build_map().unwrap()
}

/// v_π and its part c'x at θ.
fn purchase_at(map: &AffineMap, theta: [f64; 2]) -> (f64, f64) {
    let solution = solve_checked(&map.at(&theta).unwrap(), &settings()).unwrap();
    let x = &solution.x;
    (solution.objective, PRICE * x[0] + 5.0 * (x[1] + x[2]))
}

/// θ̃ = (θ₁, 13θ₁) is the only optimum for 13θ₁ < θ₂: its cost follows 13θ₁, while the penalty makes up for it.
#[test]
fn the_cost_without_the_penalty_moves_thirteen_times_the_price() {
    let map = purchase();
    let (value, cost) = purchase_at(&map, [0.1, 20.0]);
    let (near_value, near_cost) = purchase_at(&map, [1.1, 20.0]);
    println!(
        "|θ − θ'|₁ = 1, π = {PRICE}: c'x moves {:.4}, v_π {:.1e}",
        (near_cost - cost).abs(),
        (near_value - value).abs()
    );
    assert!(((near_cost - cost).abs() / (STEEP * PRICE) - 1.0).abs() < 1e-5);
    assert!((near_value - value).abs() < 1e-5);
    assert!((value - PRICE * 20.0).abs() < 1e-5);
}

#[test]
fn the_enveloped_value_never_moves_more_than_the_price() {
    let map = purchase();
    let mut sampler = Sampler::new(8, 1);
    let (mut value_ratio, mut cost_ratio) = (0.0f64, 0.0f64);
    for _ in 0..300 {
        let theta = [
            uniform(&mut sampler, -2.0, 2.0),
            uniform(&mut sampler, -30.0, 30.0),
        ];
        let step = [
            uniform(&mut sampler, -0.5, 0.5),
            uniform(&mut sampler, -0.5, 0.5),
        ];
        let distance = step[0].abs() + step[1].abs();
        let (value, cost) = purchase_at(&map, theta);
        let (other, other_cost) = purchase_at(&map, [theta[0] + step[0], theta[1] + step[1]]);
        assert!((value - other).abs() <= PRICE * distance + 1e-6);
        value_ratio = value_ratio.max((value - other).abs() / (PRICE * distance));
        cost_ratio = cost_ratio.max((cost - other_cost).abs() / (PRICE * distance));
        // A minorant: deviating is never dearer than not deviating.
        let plain = PRICE * theta[1] + 5.0 * (STEEP * theta[0] - theta[1]).abs();
        assert!(value <= plain + 1e-6);
    }
    println!("random pairs: v_π moves up to {value_ratio:.3}·π, c'x up to {cost_ratio:.2}·π");
    assert!(cost_ratio > 5.0);
}

// ---- The split is chosen outside the envelope ----

/// Laplace noise of this scale on the cost, infeasible in 1% of cases.
const SCALE: f64 = 0.25;
const ETA: f64 = 0.01;
/// Above the slope 3 of the cost: the envelope corrects only where there is no feasible answer.
const CAP: f64 = 5.0;
const RANGE: (f64, f64) = (0.0, 12.0);

/// The mass box [l, u] with this share of η in the lower tail.
fn mass_box(lower_share: f64) -> (f64, f64) {
    let l = SCALE * (2.0 * ETA * lower_share).ln();
    let u = -SCALE * (2.0 * ETA * (1.0 - lower_share)).ln();
    (l, u)
}

/// min x₁ + 3x₂, x₁ + x₂ = θ, 0 ≤ x₁ ≤ 10, 0 ≤ x₂ ≤ 2, and the same at both ends of the box: c'X = 1 and X₁ + X₂ = 0
/// leave X = (−½, ½) only.
fn two_sources(lower_share: f64, enveloped: bool) -> AffineMap {
    let (l, u) = mass_box(lower_share);
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let demand = if enveloped {
        corrected(&mut m, "demand", CAP, RANGE)
    } else {
        m.parameter("demand").into()
    };
    m.minimize(x.dot(&[1.0, 3.0]));
    m.equal("balance", x.sum(), demand);
    for (end, zeta) in [("l", l), ("u", u)] {
        m.between(&format!("x1 at {end}"), 0.0, x.at(0) - 0.5 * zeta, 10.0);
        m.between(&format!("x2 at {end}"), 0.0, x.at(1) + 0.5 * zeta, 2.0);
    }
    m.build_map().unwrap()
}

/// The value, ∞ where the noise does not fit.
fn value(map: &AffineMap, theta: f64) -> f64 {
    let program = map.at(&[theta]).unwrap();
    match solve(&program, &settings()) {
        conveil::solve::Outcome::Infeasible(_) => f64::INFINITY,
        outcome => {
            outcome
                .into_solution(&program, settings().tolerance())
                .unwrap()
                .objective
        }
    }
}

const SHARES: [f64; 2] = [0.5, 0.9];

struct Splits {
    plain: Vec<AffineMap>,
    enveloped: Vec<AffineMap>,
}

impl Splits {
    fn new() -> Self {
        let all = |enveloped| SHARES.map(|share| two_sources(share, enveloped)).into();
        Splits {
            plain: all(false),
            enveloped: all(true),
        }
    }

    /// The shortcut: the best split of the plain program, then its envelope.
    fn chosen_first(&self, theta: f64) -> f64 {
        let plain: Vec<f64> = self.plain.iter().map(|map| value(map, theta)).collect();
        let best = if plain[1] < plain[0] { 1 } else { 0 };
        value(&self.enveloped[best], theta)
    }

    /// M5a: the envelope inside, the minimum outside.
    fn chosen_last(&self, theta: f64) -> f64 {
        let values = self.enveloped.iter().map(|map| value(map, theta));
        values.fold(f64::INFINITY, f64::min)
    }
}

/// c'x̄ = c'x* − l where the box fits, with R = 2(12 − θ) above θ = 10; the engine's own plan says the same.
#[test]
fn the_two_sources_pay_the_lower_end_of_the_box_where_it_fits() {
    let theta = 10.5;
    for share in SHARES {
        let (l, _) = mass_box(share);
        let by_hand = value(&two_sources(share, false), theta);
        assert!((by_hand - (theta + 2.0 * 0.5 - l)).abs() < 1e-6);
        let mut m = Builder::new();
        let x = m.variable("x", 2);
        let demand = m.parameter("demand");
        m.minimize(x.dot(&[1.0, 3.0]));
        m.equal("balance", x.sum(), demand);
        m.between("x1", 0.0, x.at(0), 10.0);
        m.between("x2", 0.0, x.at(1), 2.0);
        let map = m.build_map().unwrap();
        let ask = laplace(Query::Cost, 1.0 / SCALE)
            .feasibility(Feasibility::eta(ETA).split(Split::LowerShare(share)));
        let plan = Plan::new(&map, ask).unwrap();
        let decided = plan.released().at(&[theta]).unwrap();
        // The lattice widens the box by a step and a half.
        assert!((decided.objective - by_hand).abs() < 1e-5);
    }
}

/// The wider box stops fitting at R(θ) = u − l: there the shortcut falls back to the other split with a jump.
#[test]
fn a_split_chosen_on_the_plain_program_breaks_the_envelope() {
    let splits = Splits::new();
    let (l, u) = mass_box(SHARES[1]);
    let edge = 12.0 - 0.5 * (u - l);
    let jump = |rule: &dyn Fn(f64) -> f64, alpha: f64| {
        (rule(edge + 0.5 * alpha) - rule(edge - 0.5 * alpha)).abs() / (CAP * alpha)
    };
    for alpha in [0.02, 0.01, 0.001] {
        let first = jump(&|theta| splits.chosen_first(theta), alpha);
        let last = jump(&|theta| splits.chosen_last(theta), alpha);
        println!("α = {alpha}: split chosen first moves {first:.2}·πα, chosen last {last:.3}·πα");
        assert!(first > 1.5, "{first}");
        assert!(last <= 1.0 + 1e-4, "{last}");
    }
}

#[test]
fn the_minimum_over_enveloped_splits_never_moves_more_than_the_price() {
    let splits = Splits::new();
    let grid: Vec<f64> = (0..=60).map(|i| 9.0 + 0.05 * f64::from(i)).collect();
    let values: Vec<f64> = grid
        .iter()
        .map(|&theta| splits.chosen_last(theta))
        .collect();
    for (i, value) in values.iter().enumerate() {
        // Finite where no split fits as well: the status tells nothing.
        assert!(value.is_finite());
        for (j, other) in values.iter().enumerate().take(i) {
            assert!((value - other).abs() <= CAP * (grid[i] - grid[j]) + 1e-6);
        }
    }
}
