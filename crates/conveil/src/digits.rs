//! Numbers for people: as many digits as mean something, and no digits that are rounding.

/// A derived number with at most `digits` significant digits: 0.15, not 0.15000000000000002.
pub(crate) fn short(value: f64, digits: usize) -> String {
    let rounded = format!("{value:.*e}", digits.saturating_sub(1))
        .parse::<f64>()
        .unwrap_or(value);
    let size = rounded.abs();
    if size != 0.0 && !(1e-4..1e9).contains(&size) && size.is_finite() {
        format!("{rounded:e}")
    } else {
        format!("{rounded}")
    }
}

/// A number for a column of six decimals; in powers of ten where those would hardly show a digit and it is more than
/// rounding, or where nobody counts the places before the point.
pub(crate) fn decimals(value: f64, rounding: f64) -> String {
    let size = value.abs();
    if size < 1e-3 && size > rounding {
        return format!("{value:.5e}");
    }
    if size >= 1e9 {
        return format!("{value:.9e}");
    }
    // No −0.
    format!("{:.6}", if size < 5e-7 { 0.0 } else { value })
}

/// A number with four digits, or as many more as tell it from another that is shown with six.
pub(crate) fn apart(value: f64, other: f64) -> String {
    let told = short(other, 6);
    (4..=17)
        .map(|digits| short(value, digits))
        .find(|text| value == other || *text != told)
        .unwrap_or_else(|| value.to_string())
}

/// "1 row", "2 rows".
pub(crate) fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_not_shown() {
        assert_eq!(short(0.1 + 0.05, 9), "0.15");
        assert_eq!(short(0.500_000_254_39, 9), "0.500000254");
        assert_eq!(short(9.1e-14, 6), "9.1e-14");
        assert_eq!(short(-3.0, 6), "-3");
        assert_eq!(short(0.0, 6), "0");
        assert_eq!(short(f64::INFINITY, 6), "inf");
        assert_eq!(short(1.0 - 0.05, 9), "0.95");
    }

    #[test]
    fn a_column_shows_small_numbers_and_no_rounding() {
        assert_eq!(decimals(1.5, 0.0), "1.500000");
        assert_eq!(decimals(-0.001, 0.0), "-0.001000");
        assert_eq!(decimals(-999_999_999.5, 0.0), "-999999999.500000");
        assert_eq!(decimals(1.25e99, 0.0), "1.250000000e99");
        assert_eq!(decimals(5.123_456_78e-5, 1e-9), "5.12346e-5");
        assert_eq!(decimals(-1e-13, 1e-9), "0.000000");
        assert_eq!(decimals(5e-4, 1e-3), "0.000500");
        assert_eq!(decimals(0.5, 1.0), "0.500000");
        assert_eq!(decimals(-0.0, 0.0), "0.000000");
        assert_eq!(decimals(f64::NAN, 0.0), "NaN");
    }

    #[test]
    fn numbers_that_differ_look_different() {
        assert_eq!(apart(2.00025, 1.0), "2");
        assert_eq!(apart(1.00025, 1.0), "1.0003");
        assert_eq!(apart(1.000_000_4, 1.0), "1.0000004");
        assert_eq!(apart(1.0, 1.0), "1");
    }
}
