//! What the released map decides at one dataset: x̄ and X, with what is known of the solve. Private.

use super::correction::Correction;
use crate::program::Program;
use crate::rewrite::Rows;
use crate::solve::{Residuals, Solution};
use std::borrow::Cow;

/// X, sparse by rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Recourse {
    pub(super) noises: usize,
    pub(super) rows: Rows,
}

impl Recourse {
    /// Entries (noise, value) of the row of variable `j`.
    pub fn row(&self, j: usize) -> Cow<'_, [(usize, f64)]> {
        self.rows.row(j)
    }

    /// Whether no noise enters the row of variable `j`.
    pub(crate) fn is_still(&self, j: usize) -> bool {
        self.rows.is_still(j)
    }

    /// Number of noises.
    pub fn noises(&self) -> usize {
        self.noises
    }

    /// Xζ.
    pub fn apply(&self, zeta: &[f64]) -> Vec<f64> {
        let moved = |j: usize| self.row(j).iter().map(|&(k, v)| v * zeta[k]).sum();
        (0..self.rows.len()).map(moved).collect()
    }

    /// ½σ²ΣX_j'PX_j: what noise of this variance adds to the expected objective (M3).
    pub(crate) fn expected_extra(&self, program: &Program, variance: f64) -> f64 {
        let mut sum = 0.0;
        for (a, b, p) in program.p().entries() {
            let (one, other) = (self.row(a), self.row(b));
            let pairs = one.iter().flat_map(|x| {
                let other = other.iter().filter(move |y| x.0 == y.0);
                other.map(move |y| x.1 * y.1)
            });
            let product: f64 = pairs.sum();
            sum += if a == b {
                p * product
            } else {
                2.0 * p * product
            };
        }
        0.5 * variance * sum
    }

    /// The same for other variables: what a list of its rows is made into.
    pub(super) fn relisted(
        self,
        change: impl FnOnce(Vec<Vec<(usize, f64)>>) -> Vec<Vec<(usize, f64)>>,
    ) -> Self {
        Recourse {
            rows: Rows::Listed(change(self.rows.listed())),
            ..self
        }
    }

    /// X'a for a sparse row a: entries (noise, value).
    pub fn of_row(&self, terms: &[(usize, f64)]) -> Vec<(usize, f64)> {
        let mut sum = std::collections::BTreeMap::new();
        for &(j, a) in terms {
            for &(noise, v) in self.row(j).iter() {
                *sum.entry(noise).or_insert(0.0) += a * v;
            }
        }
        sum.into_iter().collect()
    }
}

/// The map at one dataset. Private.
#[derive(Clone, Debug)]
pub struct Decided {
    /// The program at θ.
    pub program: Program,
    /// x̄.
    pub mean: Vec<f64>,
    /// X.
    pub recourse: Recourse,
    /// Qx̄.
    pub answer: Vec<f64>,
    /// The minimised objective.
    pub objective: f64,
    /// Our check of the solve.
    pub residuals: Residuals,
    /// Multipliers by row of the deterministic program, summed over the lifted rows that stem from it.
    pub prices: Vec<f64>,
    /// Which split won.
    pub split: usize,
    /// Variables and rows of the lifted program.
    pub lifted_size: (usize, usize),
    /// Seconds to lift.
    pub lift_seconds: f64,
    /// Seconds to solve.
    pub solve_seconds: f64,
    /// How far the solve is proven to be from the optimum, where a certificate counts on it.
    pub proven_error: Option<f64>,
    /// Whether x̄ and X meet their equations to rounding.
    pub is_on_equalities: bool,
    /// How the envelope deviated from the data.
    pub correction: Option<Correction>,
}

impl Decided {
    /// What a constraint may be violated by without counting: the solve's own primal residual.
    pub(crate) fn slip(&self) -> f64 {
        let Residuals {
            primal,
            primal_scale,
            ..
        } = self.residuals;
        primal.max(1e-12 * primal_scale)
    }

    /// The decision without the envelope's own variables, against the program at the data themselves.
    pub(crate) fn without_deviation(mut self, program: Program) -> Self {
        let n = program.columns();
        self.mean.truncate(n);
        self.recourse = self.recourse.relisted(|mut rows| {
            rows.truncate(n);
            rows
        });
        self.prices.truncate(program.rows());
        self.program = program;
        self
    }

    /// A decision about these columns of a larger program: its noise on them, around another mean.
    pub(super) fn on_columns(
        self,
        columns: impl Iterator<Item = usize>,
        program: Program,
        mean: Vec<f64>,
        answer: Vec<f64>,
        variance: f64,
    ) -> Self {
        let recourse = self.recourse.relisted(|own| {
            let mut rows = vec![Vec::new(); program.columns()];
            for (j, row) in columns.zip(own) {
                rows[j] = row;
            }
            rows
        });
        Decided {
            objective: program.objective(&mean) + recourse.expected_extra(&program, variance),
            prices: vec![0.0; program.rows()],
            program,
            mean,
            answer,
            recourse,
            ..self
        }
    }

    /// Another program's optimum, which no noise moves, as it was solved.
    pub(super) fn in_place_of(self, program: Program, solved: Solution, answer: Vec<f64>) -> Self {
        Decided {
            recourse: Recourse {
                noises: self.recourse.noises,
                rows: Rows::Listed(vec![Vec::new(); program.columns()]),
            },
            lifted_size: (program.columns(), program.rows()),
            program,
            mean: solved.x,
            answer,
            objective: solved.objective,
            residuals: solved.residuals,
            prices: solved.z,
            proven_error: None,
            ..self
        }
    }

    /// The prices that are not zero, largest first: the multiplier of a linear row, the norm of the multipliers of any
    /// other cone.
    pub(crate) fn named_prices(&self) -> Vec<(String, f64)> {
        let mut prices: Vec<(String, f64)> = Vec::new();
        for block in self.program.constraints() {
            if block.cone().is_linear() {
                let rows = block.range();
                prices.extend(rows.map(|i| (self.program.row_name(i), self.prices[i])));
            } else {
                let price = crate::program::norm(&self.prices[block.range()]);
                prices.push((block.name().to_string(), price));
            }
        }
        let largest = prices.iter().fold(0.0f64, |m, p| m.max(p.1.abs()));
        // Where nothing binds, the largest price is rounding: it is judged against the costs.
        let floor = 1e-6 * largest.max(self.residuals.dual_scale);
        prices.retain(|p| p.1.abs() > floor);
        prices.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        prices
    }
}
