//! Small linear and quadratic programs: a predictor and a corrector on the central path, on Newton systems that `border` keeps
//! small. Datasets of one plan are solved thousands of times; a general solver spends most of such a solve on its setting up
//! and on indices. A pure function of the program: no number of another dataset is kept.
//!
//! min ½x'Px + q'x s.t. Ax + s = b, s = 0 on equalities and s ≥ 0 elsewhere; z are the multipliers.

use super::border::{Border, Factors};
use super::check::{Measured, Sizes};
use super::dense::dot;
use super::{Outcome, Residuals, Settings, Solution};
use crate::program::Program;

/// Iterations at most: such programs take about ten.
const ITERATIONS: u32 = 50;

/// An answer counts from this share of the tolerance on, as with the conic solver's first attempt, and at these limits.
const SHARE: f64 = 0.1;
const CLOSEST: (f64, f64) = (1e-12, 1e-8);

/// What is aimed at beyond: the last steps leave far less, and what is proven of an answer is the closer for it.
const BEYOND: f64 = 0.01;

/// Of the way to the boundary at most this is taken.
const FRACTION: f64 = 0.995;

/// The optimum, or that the solve was cancelled; `None` where the program is of another kind, or no point passes the check:
/// what it has is then for the conic solver to say.
pub(super) fn solve(program: &Program, settings: &Settings) -> Option<Outcome> {
    let border = Border::of(program)?;
    Path::new(program, &border).follow(settings)
}

/// The iterate, its residuals and the room for a step.
struct Path<'p> {
    program: &'p Program,
    border: &'p Border,
    factors: Factors<'p>,
    sizes: Sizes,
    /// Inequalities.
    limits: Vec<usize>,
    x: Vec<f64>,
    s: Vec<f64>,
    z: Vec<f64>,
    px: Vec<f64>,
    /// Px + q + A'z.
    dual: Vec<f64>,
    /// Ax + s − b.
    primal: Vec<f64>,
    /// D = z/s on inequalities.
    weight: Vec<f64>,
    /// What is left of z·s, by row.
    centring: Vec<f64>,
    dx: Vec<f64>,
    ds: Vec<f64>,
    dz: Vec<f64>,
}

impl<'p> Path<'p> {
    fn new(program: &'p Program, border: &'p Border) -> Self {
        let (m, n) = (program.rows(), program.columns());
        Path {
            limits: (0..m).filter(|&i| !border.is_equality[i]).collect(),
            factors: Factors::new(border),
            sizes: Sizes::of(program),
            program,
            border,
            x: vec![0.0; n],
            s: vec![0.0; m],
            z: vec![0.0; m],
            px: vec![0.0; n],
            dual: vec![0.0; n],
            primal: vec![0.0; m],
            weight: vec![1.0; m],
            centring: vec![0.0; m],
            dx: vec![0.0; n],
            ds: vec![0.0; m],
            dz: vec![0.0; m],
        }
    }

    fn follow(mut self, settings: &Settings) -> Option<Outcome> {
        let enough = (settings.tolerance() * SHARE).clamp(CLOSEST.0, CLOSEST.1);
        self.start()?;
        let mut before = f64::INFINITY;
        for iteration in 1..=ITERATIONS {
            if settings.cancel().is_raised() {
                return Some(Outcome::Cancelled);
            }
            let worst = self.measure();
            if !worst.is_finite() {
                return None;
            }
            // Past what is needed as long as a step still pays.
            if worst <= enough * BEYOND || (worst <= enough && worst > 0.5 * before) {
                return self.checked(enough, settings, iteration);
            }
            before = worst;
            if self.step().is_none() {
                return (worst <= enough)
                    .then(|| self.checked(enough, settings, iteration))
                    .flatten();
            }
        }
        None
    }

    /// The point, if it passes our own check of the program.
    fn checked(self, enough: f64, settings: &Settings, iterations: u32) -> Option<Outcome> {
        let residuals = Residuals::of(self.program, &self.x, &self.z);
        let passes = residuals.worst() <= enough && residuals.pass(settings.tolerance());
        passes.then(|| {
            Outcome::Optimal(Solution {
                objective: self.program.objective(&self.x),
                x: self.x,
                z: self.z,
                residuals,
                iterations,
            })
        })
    }

    /// The least ½x'Px + q'x + ½‖s‖², and from there into the cone (Mehrotra).
    fn start(&mut self) -> Option<()> {
        self.factors.factor(self.program, &self.weight)?;
        let b = self.program.b();
        self.dual.copy_from_slice(self.program.q());
        (self.primal.iter_mut().zip(b)).for_each(|(primal, b)| *primal = -b);
        self.direction();
        std::mem::swap(&mut self.x, &mut self.dx);
        std::mem::swap(&mut self.z, &mut self.dz);
        let ax = self.program.a().times(&self.x);
        let (mut low_s, mut low_z) = (0.0f64, 0.0f64);
        for &i in &self.limits {
            self.s[i] = b[i] - ax[i];
            low_s = low_s.min(self.s[i]);
            low_z = low_z.min(self.z[i]);
        }
        let (mut product, mut sum_s, mut sum_z) = (0.0, 0.0, 0.0);
        for &i in &self.limits {
            self.s[i] -= 1.5 * low_s;
            self.z[i] -= 1.5 * low_z;
            product += self.s[i] * self.z[i];
            sum_s += self.s[i];
            sum_z += self.z[i];
        }
        // Where s or z is 0 throughout, 1 is as good as any.
        let more = |sum: f64| match product > 0.0 {
            true => 0.5 * product / sum,
            false => 1.0,
        };
        let (more_s, more_z) = (more(sum_z), more(sum_s));
        for &i in &self.limits {
            self.s[i] += more_s;
            self.z[i] += more_z;
        }
        Some(())
    }

    /// Residuals at the point; the largest relative one, by our check's own measure.
    fn measure(&mut self) -> f64 {
        let Path {
            program, border, ..
        } = self;
        let (p, a) = (program.p(), program.a());
        self.px.fill(0.0);
        for (i, j, v) in p.entries() {
            self.px[i] += v * self.x[j];
            if i != j {
                self.px[j] += v * self.x[i];
            }
        }
        let mut worst_dual = 0.0f64;
        for j in 0..self.x.len() {
            let atz: f64 = a.column(j).map(|(i, v)| v * self.z[i]).sum();
            self.dual[j] = self.px[j] + program.q()[j] + atz;
            worst_dual = largest(worst_dual, self.dual[j]);
        }
        let mut worst_primal = 0.0f64;
        for i in 0..self.s.len() {
            let row = border.by_rows.row(i);
            let ax: f64 = row.iter().map(|&(j, v)| v * self.x[j]).sum();
            self.primal[i] = ax + self.s[i] - program.b()[i];
            worst_primal = largest(worst_primal, self.primal[i]);
        }
        let (quadratic, linear) = (dot(&self.px, &self.x), dot(program.q(), &self.x));
        let of = |v: &[f64]| v.iter().copied().fold(0.0, largest);
        let measured = Measured {
            primal: worst_primal,
            dual: worst_dual,
            gap: quadratic + linear + dot(program.b(), &self.z),
            px: of(&self.px),
            objective: 0.5 * quadratic + linear,
            x: of(&self.x),
            sizes: self.sizes,
        };
        self.worst_of(&measured)
    }

    /// By our check's own measure, without its room for numbers that are small all together: a program in billions is solved as
    /// closely as the same one in units.
    fn worst_of(&self, measured: &Measured) -> f64 {
        let found = measured.scaled();
        let Sizes { b, q, p, .. } = self.sizes;
        let slope = q.max(b * p);
        let share = |residual: f64, scale: f64, size: f64| {
            residual / if size > 0.0 { scale.min(size) } else { scale }
        };
        share(found.primal, found.primal_scale, b)
            .max(share(found.dual, found.dual_scale, slope + measured.px))
            .max(share(
                found.gap,
                found.gap_scale,
                slope * b + measured.objective.abs(),
            ))
    }

    /// The Newton direction for these residuals, with z∘ds + s∘dz = −`centring`.
    fn direction(&mut self) {
        let border = self.border;
        for (dx, dual) in self.dx.iter_mut().zip(&self.dual) {
            *dx = -dual;
        }
        for i in 0..self.s.len() {
            if self.factors.is_wide(i) {
                // With S·dz taken to the left: A dx − dz/D = −(Ax + s − b) + centring/z.
                let centring = match border.is_equality[i] {
                    true => 0.0,
                    false => self.centring[i],
                };
                self.dz[i] = centring - self.primal[i];
            } else {
                let pull = self.weight[i] * (self.primal[i] - self.centring[i]);
                for &(j, a) in border.by_rows.row(i) {
                    self.dx[j] -= a * pull;
                }
            }
        }
        self.factors.solve(&mut self.dx, &mut self.dz);
        for &i in &self.limits {
            let row = border.by_rows.row(i);
            let moved: f64 = row.iter().map(|&(j, a)| a * self.dx[j]).sum();
            self.ds[i] = -self.primal[i] - moved;
            if !self.factors.is_wide(i) {
                self.dz[i] = self.weight[i] * (moved + self.primal[i] - self.centring[i]);
            }
        }
    }

    /// A predictor, a corrector and the step; `None` where the system is singular.
    fn step(&mut self) -> Option<()> {
        let count = self.limits.len().max(1) as f64;
        for &i in &self.limits {
            self.weight[i] = self.z[i] / self.s[i];
            // In units of z: (z∘s)/z.
            self.centring[i] = self.s[i];
        }
        self.factors.factor(self.program, &self.weight)?;
        self.direction();
        let mu = self.complementarity(0.0) / count;
        let reach = self.reach().min(1.0);
        let ahead = self.complementarity(reach) / count;
        let centre = (ahead / mu).max(0.0).powi(3) * mu;
        for &i in &self.limits {
            let second = self.ds[i] * self.dz[i];
            self.centring[i] = self.s[i] + (second - centre) / self.z[i];
        }
        if !self.limits.is_empty() {
            self.direction();
        }
        let share = FRACTION * self.reach();
        let moves = [
            (&mut self.x, &self.dx),
            (&mut self.s, &self.ds),
            (&mut self.z, &self.dz),
        ];
        for (point, towards) in moves {
            (point.iter_mut().zip(towards)).for_each(|(point, d)| *point += share * d);
        }
        Some(())
    }

    /// s'z after this share of the step.
    fn complementarity(&self, share: f64) -> f64 {
        let product =
            |&i: &usize| (self.s[i] + share * self.ds[i]) * (self.z[i] + share * self.dz[i]);
        self.limits.iter().map(product).sum()
    }

    /// How far the step can be followed: to the boundary, or as a whole and a little more.
    fn reach(&self) -> f64 {
        let limit = |value: f64, change: f64| match change < 0.0 {
            true => -value / change,
            false => f64::INFINITY,
        };
        let each = self.limits.iter();
        each.fold(1.0 / FRACTION, |reach, &i| {
            let (s, z) = (limit(self.s[i], self.ds[i]), limit(self.z[i], self.dz[i]));
            reach.min(s).min(z)
        })
    }
}

/// The larger size of the two; NaN counts as infinite.
fn largest(most: f64, value: f64) -> f64 {
    match value.is_nan() {
        true => f64::INFINITY,
        false => most.max(value.abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Sampler;
    use crate::program::Builder;
    use crate::solve::{solve_by_cones, solve_checked};

    /// Some variables in boxes under rows of few and of many entries, with or without equalities and curvature.
    fn random(seed: u64) -> Program {
        let mut sampler = Sampler::new(seed, 9);
        let n = 2 + (seed % 11) as usize;
        let mut m = Builder::new();
        let x = m.variable("x", n);
        let mut draw = || sampler.unit_normal();
        let cost: Vec<f64> = (0..n).map(|_| 3.0 * draw()).collect();
        m.minimize(x.dot(&cost));
        let curvature = seed % 3;
        if curvature > 0 {
            (0..n).for_each(|j| m.quadratic(j, j, 0.5 + draw().abs()));
        }
        if curvature > 1 {
            (1..n).for_each(|j| m.quadratic(j - 1, j, 0.2));
        }
        for j in 0..n {
            m.between(&format!("box {j}"), -1.0 - draw().abs(), x.at(j), 1.0);
        }
        for j in 1..n {
            m.at_most(&format!("step {j}"), x.at(j) - x.at(j - 1), 0.8);
        }
        for i in 0..(seed % 4) {
            let row: Vec<f64> = (0..n).map(|_| draw()).collect();
            m.at_most(&format!("row {i}"), x.dot(&row), 0.5);
        }
        if seed % 2 == 1 {
            m.equal("sum", x.sum(), 0.1);
        }
        m.build().unwrap()
    }

    #[test]
    fn a_small_program_has_the_optimum_of_the_conic_solver_as_closely() {
        let settings = Settings::default();
        let (mut solvable, mut solved, mut bordered, mut closer) = (0, 0, 0, 0);
        for seed in 0..240 {
            let program = random(seed);
            let cones = match solve_by_cones(&program, &settings) {
                Outcome::Optimal(cones) => cones,
                other => {
                    let here = solve(&program, &settings);
                    assert!(here.is_none(), "{seed}: {other:?} and {here:?}");
                    continue;
                }
            };
            solvable += 1;
            let Some(Outcome::Optimal(here)) = solve(&program, &settings) else {
                println!("{seed} is left to the conic solver");
                continue;
            };
            solved += 1;
            let border = Border::of(&program).unwrap();
            bordered += usize::from((0..program.rows()).any(|i| Factors::new(&border).is_wide(i)));
            let apart = (here.objective - cones.objective).abs();
            assert!(
                apart <= 1e-7 * (1.0 + cones.objective.abs()),
                "{seed}: {apart}"
            );
            assert!(here.residuals.worst() <= 1e-8, "{seed}: {}", here.residuals);
            closer += usize::from(here.residuals.worst() <= cones.residuals.worst());
            if program.p().nnz() > 0 {
                // One optimum, from which a gap allows a distance: P's eigenvalues are 0.1 or more.
                let off = here.x.iter().zip(&cones.x).map(|(a, b)| (a - b).abs());
                let off = off.fold(0.0, f64::max);
                let gaps = here.residuals.gap + cones.residuals.gap;
                assert!(off <= 1e-6 + (20.0 * gaps).sqrt(), "{seed}: {off}");
            }
            // It is what a solve returns, the same each time.
            let again = solve_checked(&program, &settings).unwrap();
            assert_eq!(again.x, here.x);
        }
        println!("{solved} of {solvable} solved, {bordered} with a border, {closer} more closely");
        assert!(solvable >= 200 && 100 * solved >= 98 * solvable && bordered >= 100);
        assert!(10 * closer >= 9 * solved, "{closer} of {solved}");
    }

    #[test]
    fn what_has_no_optimum_is_left_to_the_conic_solver() {
        let settings = Settings::default();
        let none = |m: Builder| assert!(solve(&m.build().unwrap(), &settings).is_none());
        let mut m = Builder::new();
        let x = m.variable("x", 2);
        m.minimize(x.at(0));
        m.within(&x, 0.0, 1.0);
        m.at_most("beyond", 3.0, x.sum());
        none(m);
        let mut m = Builder::new();
        let x = m.variable("x", 2);
        m.minimize(-1.0 * x.at(0));
        m.at_most("below", 0.0, x.at(0));
        m.at_most("beside", 0.0, x.at(1));
        none(m);
        // A cone, or a variable that one long row alone holds.
        let mut m = Builder::new();
        let x = m.variable("x", 2);
        m.minimize(x.at(0));
        m.norm_at_most("ball", vec![x.at(0), x.at(1)], 1.0);
        none(m);
    }

    #[test]
    fn the_newton_systems_are_solved_whatever_the_blocks() {
        let mut sampler = Sampler::new(5, 10);
        for seed in 0..60 {
            let program = random(seed);
            let (m, n) = (program.rows(), program.columns());
            let border = Border::of(&program).unwrap();
            let mut factors = Factors::new(&border);
            let weight: Vec<f64> = (0..m).map(|_| 0.1 + sampler.uniform()).collect();
            factors.factor(&program, &weight).unwrap();
            let f: Vec<f64> = (0..n).map(|_| sampler.unit_normal()).collect();
            let g: Vec<f64> = (0..m).map(|_| sampler.unit_normal()).collect();
            let (mut x, mut y) = (f.clone(), g.clone());
            factors.solve(&mut x, &mut y);
            // (P + L'DL)x + W'y = f and Wx − Sy = g, by products.
            let ax = program.a().times(&x);
            let pull: Vec<f64> = (0..m)
                .map(|i| match factors.is_wide(i) {
                    true => y[i],
                    false => weight[i] * ax[i],
                })
                .collect();
            let px = program.p().symmetric_times(&x);
            let atz = program.a().transpose_times(&pull);
            for j in 0..n {
                assert!((px[j] + atz[j] - f[j]).abs() < 1e-10, "{seed}: column {j}");
            }
            for i in (0..m).filter(|&i| factors.is_wide(i)) {
                let own = match border.is_equality[i] {
                    true => 0.0,
                    false => y[i] / weight[i],
                };
                assert!((ax[i] - own - g[i]).abs() < 1e-10, "{seed}: row {i}");
            }
        }
    }
}
