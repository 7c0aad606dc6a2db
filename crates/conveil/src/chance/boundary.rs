//! The noises that a decided rule tolerates. For one noise they form an interval (a line through a convex set), so the
//! probability of infeasibility is exact, from the law's own distribution.

use crate::noise::Law;
use crate::program::{Against, Cone, Program};

/// {ζ : x̄ + Xζ is feasible} for one noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FeasibleInterval {
    pub low: f64,
    pub high: f64,
}

impl FeasibleInterval {
    /// Pr[ζ outside].
    pub(crate) fn violation(&self, law: &Law) -> f64 {
        if self.low > self.high {
            return 1.0;
        }
        law.outside(self.low, self.high)
    }
}

/// The interval for slack s − ζ·v, where `s` is b − Ax̄ and `v` is AX, on blocks that hold with noise.
/// `slip` is the primal residual of the solve: a row violated by less at the mean counts as tight.
pub(crate) fn feasible_interval(
    program: &Program,
    s: &[f64],
    v: &[f64],
    slip: f64,
    bound: f64,
) -> FeasibleInterval {
    let (mut low, mut high) = (-bound, bound);
    for block in program.constraints() {
        if block.holds() == crate::program::Holds::AtTheMean
            || matches!(block.cone(), Cone::Zero(_))
        {
            continue;
        }
        if let Cone::Nonnegative(_) = block.cone() {
            for i in block.range() {
                // s_i − ζ v_i ≥ −slip
                let room = (s[i] + slip).max(0.0);
                if v[i] > 0.0 {
                    high = high.min(room / v[i]);
                } else if v[i] < 0.0 {
                    low = low.max(room / v[i]);
                }
            }
            continue;
        }
        let range = block.range();
        if v[range.clone()].iter().all(|x| *x == 0.0) {
            continue;
        }
        let inside = |zeta: f64| {
            let point: Vec<f64> = range.clone().map(|i| s[i] - zeta * v[i]).collect();
            block.cone().violation(&point, Against::Primal) <= slip
        };
        high = high.min(edge(&inside, high));
        low = low.max(-edge(&|z| inside(-z), -low));
    }
    FeasibleInterval { low, high }
}

/// The largest z in [0, end] with `inside`, by bisection; 0 if not even 0 is inside.
fn edge(inside: &dyn Fn(f64) -> bool, end: f64) -> f64 {
    if end <= 0.0 || inside(end) {
        return end;
    }
    let (mut low, mut high) = (0.0, end);
    for _ in 0..100 {
        let mid = 0.5 * (low + high);
        if inside(mid) {
            low = mid;
        } else {
            high = mid;
        }
    }
    low
}
