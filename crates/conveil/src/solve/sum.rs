//! Sums of many terms without loss: what rounding takes from each addition is carried along (Knuth, Neumaier).
//! The error is two roundings of the result, however many terms there are: at most ε|Σx| + (nε)²Σ|x|, nε < 1e-8.

/// The sum of the terms.
pub(super) fn compensated(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut lost) = (0.0f64, 0.0f64);
    for term in terms {
        let next = total + term;
        let added = next - total;
        lost += (total - (next - added)) + (term - added);
        total = next;
    }
    total + lost
}

#[cfg(test)]
mod tests {
    use super::compensated;

    #[test]
    fn a_million_small_terms_beside_a_large_one_are_not_lost() {
        let terms = || [1.0].into_iter().chain((0..1_000_000).map(|_| 1e-17));
        assert_eq!(compensated(terms()), 1.0 + 1e-11);
        // What it is better than.
        assert_eq!(terms().sum::<f64>(), 1.0);
    }

    #[test]
    fn terms_that_cancel_leave_what_is_left() {
        assert_eq!(compensated([1e16, 3.0, -1e16, 0.25].into_iter()), 3.25);
        assert!(!compensated([f64::INFINITY, 1.0].into_iter()).is_finite());
    }
}
