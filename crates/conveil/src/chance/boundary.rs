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

/// No noise at all is tolerated.
const NOTHING: FeasibleInterval = FeasibleInterval {
    low: f64::INFINITY,
    high: f64::NEG_INFINITY,
};

/// The interval for slack s − ζ·v, where `s` is b − Ax̄ and `v` is AX, on blocks that hold with noise or always, within
/// |ζ| ≤ `bound`. A violation of at most `slip` counts as none. The mean itself may be infeasible.
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
        let range = block.range();
        if let Cone::Nonnegative(_) = block.cone() {
            for i in range {
                // s_i − ζ v_i ≥ −slip
                let room = s[i] + slip;
                if v[i] > 0.0 {
                    high = high.min(room / v[i]);
                } else if v[i] < 0.0 {
                    low = low.max(room / v[i]);
                } else if room < 0.0 {
                    return NOTHING;
                }
            }
            continue;
        }
        let violation = |zeta: f64| {
            let point: Vec<f64> = range.clone().map(|i| s[i] - zeta * v[i]).collect();
            block.cone().violation(&point, Against::Primal)
        };
        if low > high {
            return NOTHING;
        }
        let mut start = 0f64.clamp(low, high);
        if violation(start) > slip {
            start = least(&violation, low, high);
            if violation(start) > slip {
                return NOTHING;
            }
        }
        let inside = |zeta: f64| violation(zeta) <= slip;
        (low, high) = (edge(&inside, start, low), edge(&inside, start, high));
    }
    FeasibleInterval { low, high }
}

/// Where a convex function on [low, high] is least, by ternary search.
fn least(function: &dyn Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..200 {
        let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if function(left) <= function(right) {
            high = right;
        } else {
            low = left;
        }
    }
    0.5 * (low + high)
}

/// The last point inside on the way from `start`, which is inside, to `end`, by bisection.
fn edge(inside: &dyn Fn(f64) -> bool, start: f64, end: f64) -> f64 {
    if inside(end) {
        return end;
    }
    let (mut last, mut out) = (start, end);
    for _ in 0..100 {
        let mid = 0.5 * (last + out);
        if inside(mid) {
            last = mid;
        } else {
            out = mid;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Builder;

    /// 0 ≤ x ≤ 4 and |y| ≤ 1 with (x, y) = (1, 0) + ζ·(1, slope), shifted by `moved`.
    fn interval(moved: (f64, f64), slope: f64) -> FeasibleInterval {
        let mut m = Builder::new();
        let x = m.variable("x", 2);
        m.between("range", 0.0, x.at(0), 4.0);
        m.norm_at_most("disc", vec![x.at(1)], 1.0);
        let program = m.build().unwrap();
        let start = [1.0 + moved.0, moved.1];
        let v = program.a().times(&[1.0, slope]);
        feasible_interval(&program, &program.slack(&start), &v, 0.0, 100.0)
    }

    fn close(found: FeasibleInterval, low: f64, high: f64) -> bool {
        (found.low - low).abs() < 1e-9 && (found.high - high).abs() < 1e-9
    }

    #[test]
    fn the_interval_ends_where_rows_and_cones_end() {
        assert!(close(interval((0.0, 0.0), 0.0), -1.0, 3.0));
        assert!(close(interval((0.0, 0.0), 0.5), -1.0, 2.0));
    }

    #[test]
    fn an_infeasible_mean_is_measured_as_it_is() {
        // x = −1: feasible from ζ = 1 on. y = 3: feasible for ζ/2 in [−4, −2], never together with x ≥ 0.
        assert!(close(interval((-2.0, 0.0), 0.0), 1.0, 5.0));
        assert!(close(interval((9.0, 3.0), 0.5), -8.0, -6.0));
        let law = Law::laplace(1.0).unwrap();
        assert_eq!(interval((0.0, 3.0), 0.5).violation(&law), 1.0);
        assert_eq!(interval((0.0, 3.0), 0.0).violation(&law), 1.0);
    }
}
