//! Where an axis has its ticks, and what stands at them.

use super::{Axis, Scale};

/// About this many ticks on a linear axis.
const WANTED: f64 = 5.0;

/// An axis with its range settled.
#[derive(Clone, Debug)]
pub(super) struct Ruler {
    low: f64,
    high: f64,
    is_log: bool,
    pub(super) ticks: Vec<(f64, String)>,
}

impl Ruler {
    /// The range that covers the values, and ticks for it.
    pub(super) fn new(axis: &Axis, values: impl Iterator<Item = f64>) -> Self {
        let is_log = axis.scale == Scale::Log;
        let usable = values.filter(|v| v.is_finite() && (!is_log || *v > 0.0));
        let (mut low, mut high) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| {
            (l.min(v), h.max(v))
        });
        if let Some((a, b)) = axis.range.filter(|(a, b)| a < b && (!is_log || *a > 0.0)) {
            (low, high) = (a, b);
        }
        if let Scale::Categories(names) = &axis.scale {
            return Ruler {
                low: -0.5,
                high: names.len().max(1) as f64 - 0.5,
                is_log: false,
                ticks: names
                    .iter()
                    .enumerate()
                    .map(|(i, name)| (i as f64, name.clone()))
                    .collect(),
            };
        }
        if low > high {
            (low, high) = if is_log { (1.0, 10.0) } else { (0.0, 1.0) };
        }
        if is_log {
            Self::log(low, high, axis.range.is_some())
        } else {
            Self::linear(low, high, axis.range.is_some())
        }
    }

    fn linear(mut low: f64, mut high: f64, is_given: bool) -> Self {
        if high - low <= 1e-12 * high.abs().max(low.abs()) {
            let half = 0.5 * high.abs().max(1.0);
            (low, high) = (low - half, high + half);
        }
        let step = nice_step((high - low) / WANTED);
        if !is_given {
            low = (low / step + 1e-9).floor() * step;
            high = (high / step - 1e-9).ceil() * step;
        }
        let first = (low / step - 1e-9).ceil() as i64;
        let last = (high / step + 1e-9).floor() as i64;
        let digits = (-step.log10().floor()).max(0.0) as usize;
        // Steps of 2.5 need one digit more than their size tells.
        let shorter = (step * 10f64.powi(digits as i32)).fract().abs();
        let digits = digits + usize::from(shorter > 1e-6 && shorter < 1.0 - 1e-6);
        let ticks = (first..=last)
            .map(|i| {
                let value = i as f64 * step;
                (value, written(value, digits))
            })
            .collect();
        Ruler {
            low,
            high,
            is_log: false,
            ticks,
        }
    }

    fn log(mut low: f64, mut high: f64, is_given: bool) -> Self {
        if !is_given {
            // Room of a tenth on both sides.
            let room = (high / low).powf(0.08).max(1.15);
            (low, high) = (low / room, high * room);
        }
        let decades = (high / low).log10();
        let steps: &[f64] = match decades {
            d if d < 1.3 => &[1.0, 2.0, 3.0, 5.0],
            d if d < 3.2 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let stride = (decades / 8.0).ceil().max(1.0) as i32;
        let mut ticks = Vec::new();
        let mut decade = low.log10().floor() as i32;
        while f64::from(decade) <= high.log10() {
            for factor in steps {
                let value = factor * 10f64.powi(decade);
                if value >= low * (1.0 - 1e-9) && value <= high * (1.0 + 1e-9) {
                    ticks.push((value, written(value, (-decade).max(0) as usize)));
                }
            }
            decade += stride;
        }
        Ruler {
            low,
            high,
            is_log: true,
            ticks,
        }
    }

    /// The place of a value between 0 and 1, if it has one.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        if !value.is_finite() {
            return None;
        }
        if !self.is_log {
            return Some((value - self.low) / (self.high - self.low));
        }
        (value > 0.0).then(|| (value / self.low).ln() / (self.high / self.low).ln())
    }

    /// Where bars stand.
    pub(super) fn foot(&self) -> f64 {
        if self.is_log {
            self.low
        } else {
            0f64.clamp(self.low, self.high)
        }
    }
}

/// 1, 2, 2.5 or 5 times a power of ten, at least as large.
fn nice_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0]
        .into_iter()
        .find(|s| s * power >= rough * (1.0 - 1e-9));
    step.unwrap_or(10.0) * power
}

fn written(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !(1e-4..1e6).contains(&value.abs()) {
        return format!("{value:e}").replace('-', "−");
    }
    format!("{value:.digits$}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: Axis, values: &[f64]) -> Vec<String> {
        let ruler = Ruler::new(&axis, values.iter().copied());
        ruler.ticks.into_iter().map(|t| t.1).collect()
    }

    #[test]
    fn ticks_are_round() {
        let plain = Axis::linear("");
        assert_eq!(
            labels(plain.clone(), &[0.0, 9.7]),
            ["0", "2", "4", "6", "8", "10"]
        );
        assert_eq!(
            labels(plain.clone(), &[0.0, 1.1]),
            ["0", "0.25", "0.50", "0.75", "1.00", "1.25"]
        );
        assert_eq!(
            labels(plain, &[-3.0, 2.0]),
            ["−3", "−2", "−1", "0", "1", "2"]
        );
        assert_eq!(labels(Axis::log(""), &[0.2, 20.0]), ["0.3", "1", "3", "10"]);
    }

    #[test]
    fn nothing_to_show_is_no_panic() {
        for axis in [
            Axis::linear(""),
            Axis::log(""),
            Axis::categories("", Vec::new()),
        ] {
            for values in [
                &[][..],
                &[f64::NAN, f64::INFINITY],
                &[5.0, 5.0],
                &[-1.0, 0.0],
                &[1e300, -1e300],
            ] {
                let ruler = Ruler::new(&axis, values.iter().copied());
                assert!(ruler.ticks.len() < 30, "{axis:?} {values:?}");
            }
        }
    }
}
