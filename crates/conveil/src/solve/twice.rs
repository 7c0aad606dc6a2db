//! Numbers in twice the digits: what tests hold plain arithmetic against.

/// high + low.
pub(super) type Twice = (f64, f64);

pub(super) fn plus(a: Twice, b: Twice) -> Twice {
    let sum = a.0 + b.0;
    let added = sum - a.0;
    let lost = (a.0 - (sum - added)) + (b.0 - added) + a.1 + b.1;
    let high = sum + lost;
    (high, lost - (high - sum))
}

/// The product of two plain numbers, exactly.
pub(super) fn product(a: f64, b: f64) -> Twice {
    (a * b, a.mul_add(b, -(a * b)))
}

pub(super) fn times(a: Twice, b: Twice) -> Twice {
    let (high, low) = product(a.0, b.0);
    plus((high, 0.0), (low + a.0 * b.1 + a.1 * b.0, 0.0))
}

pub(super) fn over(a: Twice, b: Twice) -> Twice {
    let first = (a.0 / b.0, 0.0);
    let left = plus(a, times((-first.0, 0.0), b));
    let second = (left.0 / b.0, 0.0);
    let left = plus(left, times((-second.0, 0.0), b));
    plus(plus(first, second), (left.0 / b.0, 0.0))
}

/// By its series at x/4096, squared twelve times.
pub(super) fn exp(x: Twice) -> Twice {
    let small = (x.0 / 4096.0, x.1 / 4096.0);
    let (mut sum, mut term) = ((1.0, 0.0), (1.0, 0.0));
    for k in 1..20 {
        term = over(times(term, small), (k as f64, 0.0));
        sum = plus(sum, term);
    }
    (0..12).fold(sum, |power, _| times(power, power))
}
