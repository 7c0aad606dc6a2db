//! The lifted program, row by row, against the formulas of M5 by hand: one row whose noise is fixed, one whose noise is
//! free, a second-order block, for every method. A row with a margin one percent smaller is not accepted.

mod common;

use common::{Noise, SENSITIVITY, ask};
use conveil::ask::{Query, SampleSize};
use conveil::chance::{Choice, Feasibility, Split};
use conveil::noise::{Factor, Law, Sampler, exact_samples};
use conveil::plan::Plan;
use conveil::program::{AffineMap, Builder, Cone, DataMap, Program};
use std::collections::BTreeMap;

const ETA: f64 = 0.06;

/// Columns of the lifted program: x̄ = (x₀, x₁, y), then the free row Y of X, then auxiliaries.
const X0: usize = 0;
const X1: usize = 1;
const Y: usize = 2;
const Y0: usize = 3;
const Y1: usize = 4;
const AUX: usize = 5;

/// Rows of the program: 2x₀ − x₁ ≤ 3 + θ with v = (2, −1); x₀ + y ≤ 5 with v = (1 + Y₀, Y₁).
const FIXED: usize = 0;
const FREE: usize = 1;

/// x queried (k = 2), y free; with `disc` also ‖(x₀, y)‖ ≤ 4.
fn model(disc: bool) -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let y = m.variable("y", 1);
    let theta = m.parameter("theta");
    m.minimize(x.at(1) - x.at(0) - y.at(0));
    m.at_most("fixed", 2.0 * x.at(0) - x.at(1), 1.0 * theta + 3.0);
    m.at_most("free", x.at(0) + y.at(0), 5.0);
    if disc {
        m.norm_at_most("disc", vec![x.at(0), y.at(0)], 4.0);
    }
    m.build_map().unwrap()
}

/// The lifted program with its row origins, and what the plan knows.
struct Read {
    program: Program,
    origins: Vec<Option<usize>>,
    law: Law,
    h: f64,
    shares: Vec<f64>,
}

impl Read {
    fn new(map: &AffineMap, noise: Noise, wish: Feasibility) -> Self {
        let plan = Plan::new(map, ask(Query::Variables(vec!["x".into()]), noise, wish)).unwrap();
        let lifted = plan.released().lifted(&map.at(&[0.0]).unwrap(), 0).unwrap();
        let budget = plan.guarantee().budget();
        assert!(budget.lines().iter().map(|l| l.share).sum::<f64>() <= ETA * (1.0 + 1e-12));
        let served = plan.released().design().served();
        Read {
            program: lifted.program().clone(),
            origins: lifted.origins().to_vec(),
            law: *plan.law(),
            h: plan.guarantee().step(),
            shares: served.iter().flat_map(|s| s.etas().to_vec()).collect(),
        }
    }

    fn row(&self, i: usize) -> Row {
        let rows = self.program.a().by_rows();
        let mut terms = BTreeMap::new();
        for &(j, v) in rows.row(i).iter().filter(|t| t.1 != 0.0) {
            terms.insert(j, v);
        }
        Row {
            terms,
            right: self.program.b()[i],
        }
    }

    /// The lifted rows that hold b of this row.
    fn of(&self, origin: usize) -> Vec<Row> {
        (0..self.program.rows())
            .filter(|&i| self.origins[i] == Some(origin))
            .map(|i| self.row(i))
            .collect()
    }

    /// All rows of the cones of this kind, cone by cone.
    fn cones(&self, kind: &Cone) -> Vec<Vec<Row>> {
        let blocks = self.program.constraints().iter();
        blocks
            .filter(|b| b.cone() == kind)
            .map(|b| b.range().map(|i| self.row(i)).collect())
            .collect()
    }

    fn all(&self) -> Vec<Row> {
        (0..self.program.rows()).map(|i| self.row(i)).collect()
    }

    /// 2x₀ − x₁ ≤ 3 − margin, and nothing with another margin.
    fn assert_fixed(&self, margin: f64) {
        let row = |margin: f64| Row::new(&[(X0, 2.0), (X1, -1.0)], 3.0 - margin);
        let found = self.of(FIXED);
        assert_eq!(found.len(), 1);
        assert!(found[0].is(&row(margin)), "{:?} {margin}", found[0]);
        assert!(!found[0].is(&row(0.99 * margin)));
    }

    /// (5 − x₀ − y, m(1 + Y₀), mY₁) ∈ second-order cone, and with no other m.
    fn assert_free_norm(&self, m: f64) {
        let rows = |m: f64| {
            [
                Row::new(&[(X0, 1.0), (Y, 1.0)], 5.0),
                Row::new(&[(Y0, -m)], m),
                Row::new(&[(Y1, -m)], 0.0),
            ]
        };
        let found = self.cones(&Cone::SecondOrder(3));
        assert_eq!(found.len(), 1);
        let same = |m: f64| found[0].iter().zip(rows(m)).all(|(a, b)| a.is(&b));
        assert!(same(m), "{:?} {m}", found[0]);
        assert!(!same(0.99 * m));
        assert_eq!(self.of(FREE).len(), 1); // the head alone holds b
    }

    /// e_j ≥ l v_j, e_j ≥ u v_j and x₀ + y + e₀ + e₁ ≤ 5.
    fn assert_free_box(&self, ends: [(f64, f64); 2]) {
        let sum = Row::new(&[(X0, 1.0), (Y, 1.0), (AUX, 1.0), (AUX + 1, 1.0)], 5.0);
        assert!(self.of(FREE)[0].is(&sum));
        let all = self.all();
        let holds = |row: Row| all.iter().any(|r| r.is(&row));
        let (v0, v1) = (
            |end: f64| Row::new(&[(Y0, end), (AUX, -1.0)], -end),
            |end: f64| Row::new(&[(Y1, end), (AUX + 1, -1.0)], 0.0),
        );
        for end in [ends[0].0, ends[0].1] {
            assert!(holds(v0(end)) && !holds(v0(0.99 * end)));
        }
        for end in [ends[1].0, ends[1].1] {
            assert!(holds(v1(end)) && !holds(v1(0.99 * end)));
        }
    }
}

/// right − Σ terms.
#[derive(Debug)]
struct Row {
    terms: BTreeMap<usize, f64>,
    right: f64,
}

impl Row {
    fn new(terms: &[(usize, f64)], right: f64) -> Self {
        Row {
            terms: terms.iter().copied().collect(),
            right,
        }
    }

    /// Equal to nine digits, the rounding up of factors included.
    fn is(&self, other: &Row) -> bool {
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (a.abs() + b.abs()) + 1e-15;
        let keys = |row: &Row| row.terms.keys().copied().collect::<Vec<_>>();
        keys(self) == keys(other)
            && close(self.right, other.right)
            && self.terms.iter().all(|(j, v)| close(*v, other.terms[j]))
    }
}

/// The root of a falling function.
fn root(low: f64, high: f64, falling: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..200 {
        let mid = 0.5 * (low + high);
        if falling(mid) > 0.0 {
            low = mid;
        } else {
            high = mid;
        }
    }
    0.5 * (low + high)
}

/// z(η) of M5d, written out.
fn factor(factor: Factor, eta: f64) -> f64 {
    match factor {
        Factor::Cantelli => ((1.0 - eta) / eta).sqrt(),
        Factor::Gauss => (2.0 / (9.0 * eta)).sqrt(),
        Factor::Chernoff => {
            let u = root(1e-9, 1.0 - 1e-12, |u| {
                (-2.0 * u * u / (1.0 - u * u)).exp() / (1.0 - u * u) - eta
            });
            2f64.sqrt() * u / (1.0 - u * u)
        }
        Factor::Gaussian => Law::gaussian(1.0).unwrap().upper_quantile(eta).unwrap(),
        Factor::OneLaplace => (1.0 / (2.0 * eta)).ln() / 2f64.sqrt(),
    }
}

#[test]
fn mass_box_rows_are_those_of_m5a() {
    for share in [0.5, 0.7] {
        let wish = Feasibility::eta(ETA)
            .method(Choice::MASS_BOX)
            .split(Split::LowerShare(share));
        let outside = 1.0 - (1.0 - ETA).sqrt();
        let laplace = Read::new(&model(false), Noise::Laplace, wish.clone());
        let s = laplace.law.scale();
        let l = -s * (1.0 / (2.0 * outside * share)).ln() - 1.5 * laplace.h;
        let u = s * (1.0 / (2.0 * outside * (1.0 - share))).ln() + 1.5 * laplace.h;
        laplace.assert_fixed(2.0 * u - l);
        laplace.assert_free_box([(l, u); 2]);
        let gaussian = Read::new(&model(false), Noise::Gaussian, wish);
        let sigma = gaussian.law.scale();
        let l = -sigma * factor(Factor::Gaussian, outside * share) - 1.5 * gaussian.h;
        let u = sigma * factor(Factor::Gaussian, outside * (1.0 - share)) + 1.5 * gaussian.h;
        gaussian.assert_fixed(2.0 * u - l);
        gaussian.assert_free_box([(l, u); 2]);
    }
}

#[test]
fn bounded_rows_are_those_of_m5g() {
    let wish = Feasibility::eta(ETA).method(Choice::BOUNDED);
    let read = Read::new(&model(false), Noise::Truncated, wish);
    // ε = 1, δ = 0.05; the lattice adds 2h to the sensitivity.
    let s = SENSITIVITY + 2.0 * read.h;
    let continuous = s * (1.0 + (1f64.exp() - 1.0) / 0.1).ln();
    // On the lattice the bound is M steps, M the least with Σ_{M−d<j≤M} q^j ≤ δ·Σ_{|j|≤M} q^|j|, two geometric sums.
    let (q, d) = ((-read.h / s).exp(), (s / read.h).floor());
    let lost = |m: f64| (q.powf(m - d + 1.0) - q.powf(m + 1.0)) / (1.0 + q - 2.0 * q.powf(m + 1.0));
    let mut steps = (continuous / read.h).ceil();
    while lost(steps) > 0.05 {
        steps += 1.0;
    }
    let b = steps * read.h + 1.5 * read.h;
    assert!(b < continuous + 4.0 * read.h);
    read.assert_fixed(3.0 * b);
    read.assert_free_box([(-b, b); 2]);
}

/// The hull of the S draws of the public seed, wider by 3h/2.
#[test]
fn sampled_box_rows_are_those_of_m5b() {
    let (beta, seed) = (1e-8, 77);
    let wish =
        Feasibility::eta(ETA)
            .method(Choice::SAMPLED_BOX)
            .sampling(SampleSize::Exact, beta, seed);
    let read = Read::new(&model(false), Noise::Laplace, wish);
    let mut hull = [(0f64, 0f64); 2];
    let mut sampler = Sampler::new(seed, 0xB0);
    for _ in 0..exact_samples(4, ETA, beta).unwrap() {
        for ends in &mut hull {
            let z = sampler.draw(&read.law);
            *ends = (ends.0.min(z), ends.1.max(z));
        }
    }
    let hull = hull.map(|(l, u)| (l - 1.5 * read.h, u + 1.5 * read.h));
    read.assert_fixed(2.0 * hull[0].1 - hull[1].0);
    read.assert_free_box(hull);
}

/// d = 3 + 2 decision variables; the fixed row needs its worst sample only, the free row all of them.
#[test]
fn scenario_rows_are_those_of_m5c() {
    let (beta, seed) = (1e-4, 5);
    let wish =
        Feasibility::eta(ETA)
            .method(Choice::SCENARIO)
            .sampling(SampleSize::Exact, beta, seed);
    let read = Read::new(&model(false), Noise::Laplace, wish);
    let mut sampler = Sampler::new(seed, 0x5C);
    let count = exact_samples(5, ETA, beta).unwrap() as usize;
    let samples: Vec<[f64; 2]> = (0..count)
        .map(|_| [sampler.draw(&read.law), sampler.draw(&read.law)])
        .collect();
    let worst = samples
        .iter()
        .map(|z| 2.0 * z[0] - z[1])
        .fold(0.0, f64::max);
    read.assert_fixed(worst + 1.5 * read.h * 3.0);
    let margin = 1.5 * read.h;
    let row = |z: &[f64; 2], shift: f64| {
        let terms = [(X0, 1.0), (Y, 1.0), (Y0, z[0]), (Y1, z[1])];
        let lattice = [(AUX, margin), (AUX + 1, margin)];
        Row::new(&[terms.as_slice(), &lattice].concat(), 5.0 - shift * z[0])
    };
    let found = read.of(FREE);
    assert_eq!(found.len(), count);
    for (found, z) in found.iter().zip(&samples) {
        assert!(found.is(&row(z, 1.0)) && !found.is(&row(z, 0.99)));
    }
    // e₀ ≥ |1 + Y₀|, e₁ ≥ |Y₁|.
    let all = read.all();
    for sign in [1.0, -1.0] {
        let first = Row::new(&[(Y0, sign), (AUX, -1.0)], -sign);
        let second = Row::new(&[(Y1, sign), (AUX + 1, -1.0)], 0.0);
        assert!([first, second].iter().all(|e| all.iter().any(|r| r.is(e))));
    }
}

#[test]
fn row_by_row_rows_are_those_of_m5d() {
    let proven = [
        (
            Noise::Laplace,
            vec![Factor::Cantelli, Factor::Gauss, Factor::Chernoff],
        ),
        (
            Noise::Gaussian,
            vec![Factor::Cantelli, Factor::Gauss, Factor::Gaussian],
        ),
        (
            Noise::Truncated,
            vec![Factor::Cantelli, Factor::Gauss, Factor::Chernoff],
        ),
    ];
    for (noise, factors) in proven {
        for named in factors {
            let wish = Feasibility::eta(ETA).method(Choice::ROW_BY_ROW.with(named));
            let read = Read::new(&model(false), noise, wish);
            assert_eq!(read.shares, [ETA / 2.0; 2]); // two rows
            let sigma = match named {
                Factor::Chernoff => 2f64.sqrt() * read.law.scale(),
                _ => read.law.std_dev(),
            };
            let z = factor(named, ETA / 2.0);
            read.assert_fixed(z * sigma * 5f64.sqrt() + 1.5 * read.h * 3.0);
            read.assert_free_norm(z * sigma + 1.5 * read.h * 2f64.sqrt());
        }
    }
}

/// The default for several noises: the fixed row by its exact quantile, the free one by the smallest proven factor.
#[test]
fn fixed_recourse_rows_are_those_of_m5e() {
    let laplace = Read::new(&model(false), Noise::Laplace, Feasibility::eta(ETA));
    // Pr[2ζ₀ − ζ₁ > t] = ½(4/3·e^{−t/2s} − 1/3·e^{−t/s}).
    let s = laplace.law.scale();
    let kappa = root(0.0, 100.0 * s, |t| {
        0.5 * (4.0 / 3.0 * (-t / (2.0 * s)).exp() - 1.0 / 3.0 * (-t / s).exp()) - ETA / 2.0
    });
    let fixed = laplace.of(FIXED);
    let expected = Row::new(&[(X0, 2.0), (X1, -1.0)], 3.0 - kappa - 4.5 * laplace.h);
    assert!(fixed[0].is(&expected), "{:?} {expected:?}", fixed[0]);
    laplace.assert_fixed(kappa + 4.5 * laplace.h);
    let z = factor(Factor::Gauss, ETA / 2.0).min(factor(Factor::Chernoff, ETA / 2.0));
    laplace.assert_free_norm(z * 2f64.sqrt() * s + 1.5 * laplace.h * 2f64.sqrt());
    let gaussian = Read::new(&model(false), Noise::Gaussian, Feasibility::eta(ETA));
    let z = factor(Factor::Gaussian, ETA / 2.0) * gaussian.law.scale();
    gaussian.assert_fixed(z * 5f64.sqrt() + 4.5 * gaussian.h);
    gaussian.assert_free_norm(z + 1.5 * gaussian.h * 2f64.sqrt());
}

#[test]
fn ball_rows_are_those_of_m5f() {
    let wish = Feasibility::eta(ETA).method(Choice::BALL);
    let read = Read::new(&model(false), Noise::Gaussian, wish);
    // χ²₂ is exponential: √χ²₂(1−η) = √(2 ln 1/η).
    let radius = read.law.scale() * (2.0 * (1.0 / ETA).ln()).sqrt() + 1.5 * read.h * 2f64.sqrt();
    read.assert_fixed(radius * 5f64.sqrt());
    read.assert_free_norm(radius);
}

/// ‖(x₀, y)‖ ≤ 4 at the four vertices of the box.
#[test]
fn a_box_meets_other_cones_at_its_vertices() {
    let wish = Feasibility::eta(ETA).method(Choice::MASS_BOX);
    let read = Read::new(&model(true), Noise::Laplace, wish);
    let u = read.law.scale() * (1.0 / (1.0 - (1.0 - ETA).sqrt())).ln() + 1.5 * read.h;
    let found = read.cones(&Cone::SecondOrder(3));
    assert_eq!(found.len(), 4);
    for (a, b) in [(-u, -u), (-u, u), (u, -u), (u, u)] {
        let rows = |a: f64| {
            [
                Row::new(&[], 4.0),
                Row::new(&[(X0, -1.0)], a),
                Row::new(&[(Y, -1.0), (Y0, -a), (Y1, -b)], 0.0),
            ]
        };
        let has = |a: f64| {
            let same = |cone: &&Vec<Row>| cone.iter().zip(rows(a)).all(|(x, y)| x.is(&y));
            found.iter().filter(same).count()
        };
        assert_eq!((has(a), has(0.99 * a)), (1, 0));
    }
}
