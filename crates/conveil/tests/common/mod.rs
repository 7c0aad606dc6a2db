//! Random programs, an independent membership test, and the one statistical checker of the chance tests.
#![allow(dead_code)] // every test crate uses its own part

use conveil::ask::{Adjacency, Ask, Privacy, Query};
use conveil::chance::Feasibility;
use conveil::noise::{Law, Sampler, binomial_upper_pvalue};
use conveil::plan::Decided;
use conveil::program::{Affine, AffineMap, Builder, Cone, Holds};

/// The laws of the study, each with unit sensitivity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    Laplace,
    Gaussian,
    Truncated,
}

impl Noise {
    pub const ALL: [Noise; 3] = [Noise::Laplace, Noise::Gaussian, Noise::Truncated];

    pub fn privacy(self) -> Privacy {
        match self {
            Noise::Laplace => Privacy::laplace(1.0),
            Noise::Gaussian => Privacy::gaussian(1.0, 0.1),
            Noise::Truncated => Privacy::truncated_laplace(1.0, 0.05),
        }
    }
}

/// The kinds of cones that noise can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Nonnegative,
    SecondOrder,
    Exponential,
    Power,
    GeneralizedPower,
    Semidefinite,
}

impl Kind {
    pub const ALL: [Kind; 6] = [
        Kind::Nonnegative,
        Kind::SecondOrder,
        Kind::Exponential,
        Kind::Power,
        Kind::GeneralizedPower,
        Kind::Semidefinite,
    ];
}

/// A program around an interior point, its query and its private datum.
pub struct Case {
    pub map: AffineMap,
    pub query: Query,
    pub theta: Vec<f64>,
}

impl Case {
    pub fn ask(&self, noise: Noise, wish: Feasibility) -> Ask {
        ask(self.query.clone(), noise, wish)
    }
}

pub fn ask(query: Query, noise: Noise, wish: Feasibility) -> Ask {
    Ask::new(query)
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(noise.privacy())
        .declared(
            SENSITIVITY,
            "a study of feasibility: the sensitivity is given",
        )
        .feasibility(wish)
}

/// The noise's scale: constraints stand about 1 from the interior point.
pub const SENSITIVITY: f64 = 1.0 / 40.0;

/// A uniform number in (low, high].
pub fn between(sampler: &mut Sampler, low: f64, high: f64) -> f64 {
    low + (high - low) * sampler.uniform()
}

fn unit_vector(sampler: &mut Sampler, n: usize) -> Vec<f64> {
    let v: Vec<f64> = (0..n).map(|_| sampler.unit_normal()).collect();
    let size = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    v.iter().map(|x| x / size).collect()
}

/// Which noises a random program has: free recourse in one (k = 1, 2, 3), none in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Sums, and identities on some of the variables: X has free entries.
    Free,
    /// The other variables are decided before the noise: v = X'a is constant.
    Fixed,
}

/// Program number `index` of a family: 3 to 5 variables, k = 1, 2, 3 in turn, two blocks of the kind (ten rows of a
/// linear one), bounds far out, an equality in every fourth, a cost that pushes against the blocks, curvature in
/// every program (so that the optimum is unique, as the scenario method assumes).
pub fn random_case(kind: Kind, rows: Rows, index: u64) -> Case {
    let mut sampler = Sampler::new(0xCA5E + index, kind as u64 * 2 + rows as u64);
    let k = 1 + (index % 3) as usize;
    let n = if k == 3 { 5 } else { 3 + (index % 2) as usize };
    let mut m = Builder::new();
    let x = match rows {
        Rows::Free => m.variable("x", n).entries(),
        Rows::Fixed => {
            let mut all = m.variable("x", k).entries();
            all.extend(m.here_and_now("y", n - k).entries());
            all
        }
    };
    let theta = m.parameter("theta");
    let centre: Vec<f64> = (0..n).map(|_| between(&mut sampler, -1.0, 1.0)).collect();
    let frame = Frame {
        x: x.clone(),
        centre: centre.clone(),
    };
    let mut push = vec![0.0; n];
    // The minimum without constraints lies far outside; linear programs end near a vertex.
    let (blocks, far) = match kind {
        Kind::Nonnegative => (10, 20.0),
        _ => (2, 3.0),
    };
    for block in 0..blocks {
        let (cone, mut entries, normal) = frame.block(kind, &mut sampler);
        if block == 0 {
            entries[0] = entries[0].clone() + 0.1 * theta;
        }
        m.cone(&format!("block {block}"), cone, entries);
        (0..n).for_each(|j| push[j] += normal[j]);
    }
    for j in 0..n {
        let (low, high) = (centre[j] - 4.0, centre[j] + 4.0);
        m.between(&format!("bounds {j}"), low, x[j].clone(), high);
    }
    if index % 4 == 3 && n > k + 1 && rows == Rows::Free {
        let weights = unit_vector(&mut sampler, n);
        let value: f64 = weights.iter().zip(&centre).map(|(w, c)| w * c).sum();
        m.equal("plane", dot(&weights, &x), value);
    }
    let noise = unit_vector(&mut sampler, n);
    let size = push.iter().map(|v| v * v).sum::<f64>().sqrt();
    let cost: Vec<f64> = (0..n).map(|j| 0.4 * noise[j] - push[j] / size).collect();
    m.minimize(dot(&cost, &x));
    let curvature = 1.0 / far;
    m.minimize_half_square(curvature, &x);
    let pull: Vec<f64> = centre.iter().map(|c| -curvature * c).collect();
    m.minimize(dot(&pull, &x));
    Case {
        map: m.build_map().unwrap(),
        query: query(rows, k, n, index, &mut sampler),
        theta: vec![between(&mut sampler, -1.0, 1.0)],
    }
}

fn query(rows: Rows, k: usize, n: usize, index: u64, sampler: &mut Sampler) -> Query {
    let names = |count: usize| (0..count).map(|j| format!("x[{j}]"));
    if rows == Rows::Fixed {
        return Query::Variables(vec!["x".into()]);
    }
    match (k, index % 2) {
        (1, 0) => Query::Sum(vec!["x".into()]),
        (2, 0) | (3, _) => Query::Variables(names(k).collect()),
        _ => Query::Rows(
            (0..k)
                .map(|_| {
                    names(n)
                        .map(|name| (name, between(sampler, 0.5, 1.5)))
                        .collect()
                })
                .collect(),
        ),
    }
}

fn dot(weights: &[f64], x: &[Affine]) -> Affine {
    weights
        .iter()
        .zip(x)
        .fold(Affine::constant(0.0), |sum, (w, x)| sum + *w * x.clone())
}

/// Expressions in ξ = x − centre.
struct Frame {
    x: Vec<Affine>,
    centre: Vec<f64>,
}

impl Frame {
    /// constant + size·g'ξ for a random unit g, and g itself.
    fn random(&self, constant: f64, size: f64, sampler: &mut Sampler) -> (Affine, Vec<f64>) {
        let g = unit_vector(sampler, self.centre.len());
        (self.along(constant, size, &g), g)
    }

    fn along(&self, constant: f64, size: f64, g: &[f64]) -> Affine {
        let weights: Vec<f64> = g.iter().map(|v| size * v).collect();
        let shift: f64 = weights.iter().zip(&self.centre).map(|(w, c)| w * c).sum();
        dot(&weights, &self.x) + (constant - shift)
    }

    /// A block that holds strictly at the centre, with a direction that leads out of it.
    fn block(&self, kind: Kind, sampler: &mut Sampler) -> (Cone, Vec<Affine>, Vec<f64>) {
        match kind {
            Kind::Nonnegative => {
                let room = between(sampler, 1.0, 2.0);
                let (entry, g) = self.random(room, -1.0, sampler);
                (Cone::Nonnegative(1), vec![entry], g)
            }
            Kind::SecondOrder => {
                let (bound, _) = self.random(1.0, 0.2, sampler);
                let (first, g) = self.random(0.1, 1.0, sampler);
                let (second, _) = self.random(-0.1, 1.0, sampler);
                (Cone::SecondOrder(3), vec![bound, first, second], g)
            }
            Kind::Exponential => {
                let (exponent, g) = self.random(0.0, 1.0, sampler);
                let (scale, _) = self.random(1.0, 0.1, sampler);
                let (bound, _) = self.random(2.5, 0.3, sampler);
                (Cone::Exponential, vec![exponent, scale, bound], g)
            }
            Kind::Power => {
                let (mean, g) = self.random(1.0, -0.5, sampler);
                let (other, _) = self.random(1.0, 0.2, sampler);
                let (size, _) = self.random(0.1, 0.5, sampler);
                (Cone::Power(0.4), vec![mean, other, size], g)
            }
            Kind::GeneralizedPower => {
                let (mean, g) = self.random(1.0, -0.5, sampler);
                let mut entries = vec![mean];
                entries.extend((0..2).map(|_| self.random(1.0, 0.2, sampler).0));
                entries.extend((0..2).map(|_| self.random(0.0, 0.4, sampler).0));
                let cone = Cone::GeneralizedPower(vec![0.5, 0.25, 0.25], 2);
                (cone, entries, g)
            }
            Kind::Semidefinite => {
                let (corner, g) = self.random(1.0, -0.6, sampler);
                let mut small = |constant| self.random(constant, 0.3, sampler).0;
                let root = std::f64::consts::SQRT_2;
                let (a, b, c) = (small(0.0), small(0.1), small(0.0));
                let (second, third) = (small(1.0), small(1.0));
                let upper = vec![corner, root * a, second, root * b, root * c, third];
                (Cone::PsdTriangle(3), upper, g)
            }
        }
    }
}

/// Membership in K after a shift by slip·e (e interior), by each cone's own formula.
pub fn inside(cone: &Cone, s: &[f64], slip: f64) -> bool {
    match cone {
        Cone::Zero(_) => s.iter().all(|v| v.abs() <= slip),
        Cone::Nonnegative(_) => s.iter().all(|v| *v >= -slip),
        Cone::SecondOrder(_) => {
            let t = s[0] + slip;
            t >= 0.0 && s[1..].iter().map(|v| v * v).sum::<f64>() <= t * t
        }
        Cone::Exponential => {
            let (x, y, z) = (s[0], s[1] + slip, s[2] + 2.0 * slip);
            if y > 0.0 {
                y * (x / y).exp() <= z
            } else {
                y == 0.0 && x <= 0.0 && z >= 0.0
            }
        }
        Cone::Power(a) => {
            let (x, y) = (s[0] + slip, s[1] + slip);
            x >= 0.0 && y >= 0.0 && x.powf(*a) * y.powf(1.0 - a) >= s[2].abs()
        }
        Cone::GeneralizedPower(alpha, _) => {
            let (x, w) = s.split_at(alpha.len());
            let product: f64 = alpha
                .iter()
                .zip(x)
                .map(|(a, v)| (v + slip).max(0.0).powf(*a))
                .product();
            x.iter().all(|v| v + slip >= 0.0)
                && product * product >= w.iter().map(|v| v * v).sum::<f64>()
        }
        Cone::PsdTriangle(n) => positive_semidefinite(*n, s, slip),
    }
}

/// All principal minors of a matrix of order at most 3 are non-negative.
fn positive_semidefinite(n: usize, s: &[f64], slip: f64) -> bool {
    assert!(n <= 3, "written out for orders up to 3");
    let h = std::f64::consts::FRAC_1_SQRT_2;
    let (a, b, c) = (s[0] + slip, s.get(1).map_or(0.0, |v| h * v), s.get(2));
    let c = c.map_or(0.0, |v| v + slip);
    let (d, e) = (s.get(3).map_or(0.0, |v| h * v), s.get(4));
    let e = e.map_or(0.0, |v| h * v);
    let f = s.get(5).map_or(0.0, |v| v + slip);
    a >= 0.0
        && c >= 0.0
        && f >= 0.0
        && a * c >= b * b
        && a * f >= d * d
        && c * f >= e * e
        && a * (c * f - e * e) - b * (b * f - d * e) + d * (b * e - c * d) >= 0.0
}

/// A decided rule as dense numbers: slack s(ζ) = start − V·ζ, block by block.
pub struct Moving {
    blocks: Vec<(Cone, Vec<f64>, Vec<Vec<f64>>)>,
    noises: usize,
    slip: f64,
}

impl Moving {
    /// b − Ax̄ and AX, multiplied out here; blocks that hold at the mean only are left out.
    pub fn new(decided: &Decided) -> Self {
        // The solve's own primal residual, which the curator's report allows, too, and rounding.
        let residuals = &decided.residuals;
        let slip = residuals.primal + 1e-12 * residuals.primal_scale;
        let program = &decided.program;
        let k = decided.recourse.noises();
        let mut start = program.b().to_vec();
        let mut moves = vec![vec![0.0; k]; program.rows()];
        for (i, j, a) in program.a().entries() {
            start[i] -= a * decided.mean[j];
            for &(noise, v) in decided.recourse.row(j).iter() {
                moves[i][noise] += a * v;
            }
        }
        let blocks = program
            .constraints()
            .iter()
            .filter(|b| b.holds() == Holds::WithNoise)
            .map(|b| {
                let range = b.range();
                (
                    b.cone().clone(),
                    start[range.clone()].to_vec(),
                    moves[range].to_vec(),
                )
            })
            .collect();
        Moving {
            blocks,
            noises: k,
            slip,
        }
    }

    /// The slack of the first block at the mean.
    pub fn slack(&self) -> &[f64] {
        &self.blocks[0].1
    }

    /// The same rule with another slack in the first block: a mutant.
    pub fn with_slack(mut self, slack: Vec<f64>) -> Self {
        self.blocks[0].1 = slack;
        self
    }

    /// Whether every block holds at this noise.
    pub fn holds_at(&self, zeta: &[f64], point: &mut Vec<f64>) -> bool {
        self.blocks.iter().all(|(cone, start, moves)| {
            point.clear();
            point.extend(
                start
                    .iter()
                    .zip(moves)
                    .map(|(s, v)| s - v.iter().zip(zeta).map(|(v, z)| v * z).sum::<f64>()),
            );
            inside(cone, point, self.slip)
        })
    }

    /// Violations among fresh draws.
    pub fn violations(&self, law: &Law, draws: u64, seed: u64) -> u64 {
        let mut sampler = Sampler::new(seed, 0xD4A3);
        let mut zeta = vec![0.0; self.noises];
        let mut point = Vec::new();
        let bad = |_: &u64| {
            sampler.fill(law, &mut zeta);
            !self.holds_at(&zeta, &mut point)
        };
        (0..draws).filter(bad).count() as u64
    }
}

/// The checker of every claim "violated with probability at most η": passes unless so many violations have
/// probability below `alarm` under η.
pub fn keeps(violations: u64, draws: u64, eta: f64, alarm: f64) -> bool {
    binomial_upper_pvalue(violations, draws, eta).unwrap() >= alarm
}

/// Whether a noisy row binds: it moves and has a price.
pub fn has_active_noise(decided: &Decided) -> bool {
    let moves = decided.program.a().by_rows();
    let largest = decided.prices.iter().fold(0.0f64, |m, p| m.max(p.abs()));
    (0..decided.program.rows()).any(|i| {
        let v = decided.recourse.of_row(moves.row(i));
        decided.prices[i].abs() > 1e-3 * largest && v.iter().any(|e| e.1.abs() > 1e-3)
    })
}
