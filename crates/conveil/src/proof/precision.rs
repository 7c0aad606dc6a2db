//! How far a solver's answer can be from the true optimum (M7): proven from its own primal-dual pair, whatever the
//! solver says. Certificates count on a public bound for it; a solve that is not proven to be within it is an error.

use super::curvature::Curvature;
use super::inside::{moved_inside, outside};
use super::intervals::{Intervals, Limits};
use crate::error::Result;
use crate::program::{Against, Cone, Program};
use crate::solve::{self, Outcome, Settings, Solution};
use std::sync::Arc;

/// What the public tolerance is about.
#[derive(Clone, Debug)]
pub(crate) enum Measure {
    /// The optimal value.
    Value,
    /// The variables with curvature, in the norm of P.
    Curved(Arc<Curvature>),
}

/// A solve counts if it is proven to lie within `tolerance` in `measure`.
#[derive(Clone, Debug)]
pub(crate) struct Precision {
    pub(crate) measure: Measure,
    /// What is counted, and what a solve must be proven to.
    pub(crate) tolerance: f64,
    /// What a solve is refined to, where that can be. Which of the two it met is private, and changes nothing.
    pub(crate) aim: f64,
    /// What is known of variables beside the rows.
    pub(crate) known: Vec<Limits>,
    /// A point that lies inside every cone, if one was found in public.
    pub(crate) inside: Option<Vec<f64>>,
}

/// How programs of one structure are solved: the best point, whatever its residuals.
pub(crate) struct Solver<'s> {
    pub(crate) solve: &'s dyn Fn(Program) -> Option<Solution>,
    pub(crate) settings: &'s Settings,
}

impl Solver<'_> {
    /// As it stands.
    pub(crate) fn plain(program: &Program, settings: &Settings) -> Option<Solution> {
        match solve::solve(program, settings) {
            Outcome::Optimal(solution) | Outcome::Inaccurate(solution) => Some(solution),
            _ => None,
        }
    }
}

/// A solve and what is proven of it.
pub(crate) struct Proven {
    /// Moved onto the feasible set.
    pub(crate) x: Vec<f64>,
    /// The proven error, in the measure.
    pub(crate) error: f64,
    /// Every variable without curvature has an interval.
    pub(crate) is_bounded: bool,
}

impl Precision {
    /// What is proven of a value is reported, whatever it is.
    pub(crate) fn of_any_value() -> Self {
        Precision {
            measure: Measure::Value,
            tolerance: f64::INFINITY,
            aim: f64::INFINITY,
            known: Vec::new(),
            inside: None,
        }
    }

    /// Bounds on an optimal point of a lifted program: from the rows of the mean program, where the mean decision meets
    /// them, from its own rows, and from its costing no more than `value`, which a feasible point costs.
    pub(crate) fn intervals(
        &self,
        lifted: &Program,
        mean: Option<&Program>,
        value: f64,
    ) -> Intervals {
        let mut intervals = Intervals::unbounded(mean.map_or(0, Program::columns));
        if let Some(mean) = mean {
            (self.known.iter()).for_each(|limits| intervals.restrict(limits));
            intervals.propagate(mean, Vec::new());
        }
        let mut intervals = intervals.widened(lifted.columns());
        (self.known.iter()).for_each(|limits| intervals.restrict(limits));
        // q'x ≤ value, since x'Px is not negative.
        let cost = lifted.q().iter().copied().enumerate();
        let cut = cost.filter(|c| c.1 != 0.0).collect();
        intervals.propagate(lifted, vec![(cut, value - lifted.constant())]);
        intervals
    }

    /// Proves how good the solution of this program is, moving its point inside first where it slips.
    pub(crate) fn prove(
        &self,
        program: &Program,
        solution: &Solution,
        mean: Option<&Program>,
        solver: &Solver<'_>,
    ) -> Result<Proven> {
        let stored = self.inside.as_ref();
        let x = moved_inside(program, &solution.x, stored, self.tolerance, solver)?;
        let intervals = self.intervals(program, mean, program.objective(&x));
        let z = into_the_dual_cone(program, &solution.z);
        let (z, absorbed) = self.absorb(program, &x, z, &intervals);
        let slack = program.slack(&x);
        let residual = residual(program, &x, &z);
        let rounding = Rounding::of(program, &x, &z);
        // z's, an equality's rounding counted in full.
        let mut gap = rounding.gap;
        for block in program.constraints() {
            let products = block.range().map(|i| z[i] * slack[i]);
            gap += match block.cone() {
                Cone::Zero(_) => products.map(f64::abs).sum::<f64>(),
                _ => products.sum::<f64>().max(0.0),
            };
        }
        // What was absorbed is rounding; what could not be is not bounded, whatever its residual happens to be here.
        let loose = |j: usize| match (intervals.is_bounded(j), absorbed[j]) {
            (true, _) => intervals.largest_gain(j, x[j], residual[j], rounding.residual[j]),
            (false, true) => 0.0,
            (false, false) => f64::INFINITY,
        };
        let error = match &self.measure {
            Measure::Value => {
                gap + (0..x.len()).map(loose).sum::<f64>() + objective_rounding(program, &x)
            }
            Measure::Curved(curvature) => {
                let curved: Vec<f64> = curvature.columns.iter().map(|&j| residual[j]).collect();
                let lost: Vec<f64> = (curvature.columns.iter())
                    .map(|&j| rounding.residual[j])
                    .collect();
                let r = crate::program::norm(&curvature.half_inverse(&curved))
                    + curvature.inverse_size() * crate::program::norm(&lost);
                let rest = (0..x.len()).filter(|&j| curvature.place(j).is_none());
                let gap = gap + rest.map(loose).sum::<f64>();
                0.5 * (r + (r * r + 4.0 * gap).sqrt())
            }
        };
        let bounded = |j: usize| self.is_curved(j) || intervals.is_bounded(j);
        Ok(Proven {
            is_bounded: (0..x.len()).all(bounded),
            x,
            error,
        })
    }

    fn is_curved(&self, j: usize) -> bool {
        match &self.measure {
            Measure::Curved(curvature) => curvature.place(j).is_some(),
            Measure::Value => false,
        }
    }

    /// Multipliers changed so that no residual stays on a variable without bounds: a row that holds it takes it over,
    /// the one with the fewest other variables whose multiplier may move that way. Returns which were taken over.
    fn absorb(
        &self,
        program: &Program,
        x: &[f64],
        mut z: Vec<f64>,
        intervals: &Intervals,
    ) -> (Vec<f64>, Vec<bool>) {
        let mut absorbed = vec![false; x.len()];
        let open: Vec<usize> = (0..x.len())
            .filter(|&j| !self.is_curved(j) && !intervals.is_bounded(j))
            .collect();
        if open.is_empty() {
            return (z, absorbed);
        }
        let curved = program.p().symmetric_times(x);
        let by_rows = program.a().by_rows();
        let mut kind = vec![None; program.rows()];
        for block in program.constraints() {
            if block.cone().is_linear() {
                let is_equality = matches!(block.cone(), Cone::Zero(_));
                block.range().for_each(|i| kind[i] = Some(is_equality));
            }
        }
        for j in open {
            // Earlier repairs may have moved this residual too.
            let left: f64 = curved[j]
                + program.q()[j]
                + program.a().column(j).map(|(i, v)| v * z[i]).sum::<f64>();
            let mut rows: Vec<(usize, f64)> = program
                .a()
                .column(j)
                .filter(|&(i, v)| v != 0.0 && kind[i].is_some())
                .collect();
            rows.sort_by_key(|&(i, _)| by_rows.row(i).len());
            let fits = rows
                .iter()
                .find(|&&(i, v)| kind[i] == Some(true) || z[i] - left / v >= 0.0);
            if let Some(&(i, v)) = fits {
                z[i] -= left / v;
                absorbed[j] = true;
            }
        }
        (z, absorbed)
    }
}

/// A refinement looks around a point at least this many times as far as it slips outside.
const BEYOND_THE_SLIP: f64 = 1e3;

/// The program in d = x − x₀: the numbers at its optimum are small, and a solver's relative tolerance goes further.
/// Returns the better point with its multipliers. `share`: linear rows farther from x₀ than this share of the largest
/// limit are moved there; what is feasible then is feasible, and the numbers of the right-hand side are small as well.
pub(crate) fn refined(
    program: &Program,
    solution: &Solution,
    solver: &Solver<'_>,
    share: f64,
) -> Option<Solution> {
    let x = &solution.x;
    let px = program.p().symmetric_times(x);
    let q = px.iter().zip(program.q()).map(|(p, q)| p + q).collect();
    let cones = program.constraints().iter().map(|c| c.cone().clone());
    let mut b = program.slack(x);
    if share < 1.0 {
        let limit = program.b().iter().fold(0.0f64, |m, b| m.max(b.abs()));
        let most = (share * limit).max(BEYOND_THE_SLIP * outside(program, x));
        for block in program.constraints() {
            if matches!(block.cone(), Cone::Nonnegative(_)) {
                (b[block.range()].iter_mut()).for_each(|v| *v = v.min(most));
            }
        }
    }
    let near = Program::assembled(
        program.p().clone(),
        q,
        program.a().clone(),
        b,
        0.0,
        cones.collect(),
    );
    let step = (solver.solve)(near)?;
    let x: Vec<f64> = x.iter().zip(&step.x).map(|(x, d)| x + d).collect();
    Some(Solution {
        objective: program.objective(&x),
        residuals: crate::solve::Residuals::of(program, &x, &step.z),
        x,
        z: step.z,
        iterations: solution.iterations + step.iterations,
    })
}

/// Px + q + A'z.
fn residual(program: &Program, x: &[f64], z: &[f64]) -> Vec<f64> {
    let px = program.p().symmetric_times(x);
    let atz = program.a().transpose_times(z);
    (0..x.len())
        .map(|j| px[j] + program.q()[j] + atz[j])
        .collect()
}

/// What rounding can hide: every number of the program, product and addition is off by at most half an ε of its size.
struct Rounding {
    /// In Px + q + A'z, by column.
    residual: Vec<f64>,
    /// In Σ z'(b − Ax), with b − Ax itself off by as much once more: on which side of a limit x lies is known to that.
    gap: f64,
}

/// Roundings of a term beside those of its sum: of its two numbers, and of their product.
const OF_A_TERM: f64 = 4.0;

impl Rounding {
    fn of(program: &Program, x: &[f64], z: &[f64]) -> Self {
        // Sizes and numbers of terms: |P||x| + |q| + |A|'|z| by column, |b| + |A||x| by row.
        let mut columns: Vec<(f64, f64)> = program.q().iter().map(|q| (q.abs(), 1.0)).collect();
        let mut rows: Vec<(f64, f64)> = program.b().iter().map(|b| (b.abs(), 1.0)).collect();
        let add = |sum: &mut (f64, f64), term: f64| *sum = (sum.0 + term.abs(), sum.1 + 1.0);
        for (i, j, p) in program.p().entries() {
            add(&mut columns[i], p * x[j]);
            if i != j {
                add(&mut columns[j], p * x[i]);
            }
        }
        for (i, j, a) in program.a().entries() {
            add(&mut columns[j], a * z[i]);
            add(&mut rows[i], a * x[j]);
        }
        let hidden = |(size, terms): (f64, f64)| 0.5 * f64::EPSILON * (terms + OF_A_TERM) * size;
        let gap = rows.iter().zip(z).map(|(row, z)| z.abs() * hidden(*row));
        Rounding {
            gap: 2.0 * gap.sum::<f64>(),
            residual: columns.into_iter().map(hidden).collect(),
        }
    }
}

/// By how much the objective that is computed at x can be off: that of a solve is a number, and not only a point.
fn objective_rounding(program: &Program, x: &[f64]) -> f64 {
    let linear = program.q().iter().zip(x).map(|(q, x)| (q * x).abs());
    // Entries off the diagonal count twice, halved; their products are sums of sums.
    let curved = program
        .p()
        .entries()
        .map(|(i, j, p)| (p * x[i] * x[j]).abs());
    let size = linear.sum::<f64>() + curved.sum::<f64>() + program.constant().abs();
    let terms = (2 * x.len() + program.p().nnz()) as f64;
    0.5 * f64::EPSILON * (terms + 2.0 * OF_A_TERM) * size
}

/// z moved into K* along its interior direction.
fn into_the_dual_cone(program: &Program, z: &[f64]) -> Vec<f64> {
    let mut z = z.to_vec();
    for block in program.constraints() {
        match block.cone() {
            Cone::Zero(_) => {}
            Cone::Nonnegative(_) => z[block.range()].iter_mut().for_each(|v| *v = v.max(0.0)),
            cone => {
                let part = &mut z[block.range()];
                let slip = cone.violation(part, Against::Dual);
                let size = part.iter().fold(0.0f64, |m, v| m.max(v.abs()));
                let step = slip + 1e-14 * size;
                let towards = cone.dual_interior();
                part.iter_mut()
                    .zip(&towards)
                    .for_each(|(v, e)| *v += step * e);
            }
        }
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Sampler;
    use crate::program::Builder;

    /// Four variables in a box, some rows, one cone; curved or not.
    fn random_program(sampler: &mut Sampler, curved: bool) -> Program {
        let mut m = Builder::new();
        let x = m.variable("x", 4);
        let mut draw = || sampler.unit_normal();
        m.minimize(x.dot(&[draw(), draw(), draw(), draw()]));
        if curved {
            for j in 0..3 {
                m.quadratic(j, j, 0.2 + draw().abs());
            }
            m.quadratic(0, 1, 0.05);
        }
        for j in 0..4 {
            m.between(&format!("box {j}"), -1.0, x.at(j), 1.0);
        }
        for i in 0..3 {
            let row = x.dot(&[draw(), draw(), draw(), draw()]);
            m.at_most(&format!("row {i}"), row, 0.5 + draw().abs());
        }
        m.equal("sum", x.at(0) + x.at(3), 0.3);
        m.norm_at_most("ball", vec![x.at(1), x.at(2)], 1.1);
        m.build().unwrap()
    }

    fn precision(program: &Program) -> Precision {
        let measure = Curvature::of(program.p()).map(Arc::new);
        Precision {
            measure: measure.map_or(Measure::Value, Measure::Curved),
            tolerance: f64::INFINITY,
            aim: f64::INFINITY,
            known: Vec::new(),
            inside: None,
        }
    }

    fn solved(program: &Program) -> Solution {
        let settings = Settings::default().tightened(1e-10);
        match solve::solve(program, &settings) {
            Outcome::Optimal(solution) | Outcome::Inaccurate(solution) => solution,
            other => panic!("{other:?}"),
        }
    }

    /// Costs of 10¹⁵ and an answer that is right to the last digit: the residual that is computed is 0 or a few roundings,
    /// the true distance is known in whole numbers, and what is proven is never below it.
    #[test]
    fn rounding_is_part_of_what_is_proven() {
        let mut sampler = Sampler::new(12, 0);
        let mut hidden = 0;
        for _ in 0..200 {
            let mut draw = || ((sampler.uniform() - 0.5) * 4e15).round();
            let (a, b) = (draw(), draw());
            let mut m = Builder::new();
            let x = m.variable("x", 2);
            m.minimize(x.dot(&[a, b]));
            for (i, j, p) in [(0, 0, 3.0), (0, 1, 1.0), (1, 1, 2.0)] {
                m.quadratic(i, j, p);
            }
            m.between("wide", -1e17, x.at(0), 1e17);
            let program = m.build().unwrap();
            // 5x = (−2a + b, a − 3b).
            let five = [-2 * a as i128 + b as i128, a as i128 - 3 * b as i128];
            let x = five.map(|v| v as f64 / 5.0);
            let solution = Solution {
                objective: program.objective(&x),
                x: x.to_vec(),
                z: vec![0.0; program.rows()],
                residuals: crate::solve::Residuals::of(&program, &x, &[0.0; 2]),
                iterations: 0,
            };
            let settings = Settings::default();
            let solve = |p: Program| Solver::plain(&p, &settings);
            let solver = Solver {
                solve: &solve,
                settings: &settings,
            };
            let precision = precision(&program);
            let proven = precision.prove(&program, &solution, None, &solver);
            let proven = proven.unwrap().error;
            // In units of 1/5120: exact, since x has ten binary digits behind the point at most.
            let off: Vec<f64> = (x.iter().zip(five))
                .map(|(x, five)| (5 * (x * 1024.0) as i128 - 1024 * five) as f64 / 5120.0)
                .collect();
            let square = 3.0 * off[0] * off[0] + 2.0 * off[0] * off[1] + 2.0 * off[1] * off[1];
            let truth = square.sqrt();
            assert!(truth <= proven, "{truth} is more than the proven {proven}");
            assert!(proven < 100.0, "{proven} says nothing");
            let seen = residual(&program, &x, &[0.0; 2]);
            let Measure::Curved(curvature) = &precision.measure else {
                panic!("it is curved");
            };
            hidden += usize::from(crate::program::norm(&curvature.half_inverse(&seen)) < truth);
        }
        println!("of 200: the residual as computed claims too much {hidden} times");
        assert!(hidden > 20, "the test has no teeth: {hidden}");
    }

    #[test]
    fn what_is_proven_of_a_spoilt_answer_is_true() {
        let mut sampler = Sampler::new(11, 0);
        // How often simpler formulas would have claimed too much.
        let (mut gap_alone, mut no_residual, mut cases) = (0, 0, 0);
        for index in 0..300 {
            let program = random_program(&mut sampler, index % 2 == 0);
            let best = solved(&program);
            let size = 10f64.powi(-((index / 2) % 6));
            let mut spoilt = best.clone();
            let slack = program.slack(&best.x);
            for v in &mut spoilt.x {
                *v += 0.1 * size * sampler.unit_normal();
            }
            // Stay on the equality: projections do that before.
            spoilt.x[3] = 0.3 - spoilt.x[0];
            for v in &mut spoilt.z {
                *v += 0.1 * size * sampler.unit_normal();
            }
            let precision = precision(&program);
            let settings = Settings::default();
            let solve = |p: Program| Solver::plain(&p, &settings);
            let solver = Solver {
                solve: &solve,
                settings: &settings,
            };
            let proven = precision.prove(&program, &spoilt, None, &solver).unwrap();
            assert!(outside(&program, &proven.x) <= 1e-12, "moved inside");
            let truth = match &precision.measure {
                Measure::Value => program.objective(&proven.x) - best.objective,
                Measure::Curved(curvature) => {
                    let d: Vec<f64> = (0..4).map(|j| proven.x[j] - best.x[j]).collect();
                    let pd = program.p().symmetric_times(&d);
                    let own = curvature.columns.iter().map(|&j| d[j] * pd[j]);
                    own.sum::<f64>().max(0.0).sqrt()
                }
            };
            assert!(
                truth <= proven.error + 1e-6,
                "{index}: {truth} is more than the proven {}",
                proven.error
            );
            // The gap of the point as it is, without its residual and without moving it inside.
            let gap: f64 = slack.iter().zip(&spoilt.z).map(|(s, z)| s * z).sum();
            cases += 1;
            gap_alone += usize::from((2.0 * gap.max(0.0)).sqrt() < truth);
            no_residual += usize::from(gap.max(0.0) < truth);
        }
        println!("of {cases}: the gap alone claims too much {gap_alone} and {no_residual} times");
        assert!(gap_alone > 10 && no_residual > 10);
    }

    #[test]
    fn a_good_answer_is_proven_good() {
        let mut sampler = Sampler::new(12, 0);
        for index in 0..60 {
            let program = random_program(&mut sampler, index % 2 == 0);
            let best = solved(&program);
            let precision = precision(&program);
            let settings = Settings::default();
            let solve = |p: Program| Solver::plain(&p, &settings);
            let solver = Solver {
                solve: &solve,
                settings: &settings,
            };
            let proven = precision.prove(&program, &best, None, &solver);
            let error = proven.unwrap().error;
            // A distance is the root of a gap.
            let limit = if index % 2 == 0 { 2e-4 } else { 1e-7 };
            assert!(error < limit, "{index}: {error}");
        }
    }

    #[test]
    fn a_residual_on_an_open_variable_is_absorbed() {
        // min z s.t. z ≥ x, z ≥ −x, x = 1: z is open above, and a wrong multiplier leaves a residual on it.
        let mut m = Builder::new();
        let x = m.variable("x", 1);
        let z = m.variable("z", 1);
        m.minimize(z.at(0));
        m.at_most("up", x.at(0), z.at(0));
        m.at_most("down", -1.0 * x.at(0), z.at(0));
        m.equal("fixed", x.at(0), 1.0);
        let program = m.build().unwrap();
        let mut solution = solved(&program);
        solution.z[0] += 1e-3;
        let precision = precision(&program);
        let mut bare = Intervals::unbounded(2);
        bare.propagate(&program, Vec::new());
        assert!(!bare.is_bounded(1));
        let (z, absorbed) = precision.absorb(&program, &solution.x, solution.z.clone(), &bare);
        assert_eq!(absorbed, [false, true]);
        let left = residual(&program, &solution.x, &z);
        assert!(left[1].abs() < 1e-15, "{left:?}");
    }
}
