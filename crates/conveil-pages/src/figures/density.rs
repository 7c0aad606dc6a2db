//! What may be released, for two neighbouring datasets.

use conveil::noise::Law;
use conveil_studies::plot::{Axis, Colour, Figure, Panel, Series};

/// The curves end this many scales beyond the outermost centre.
const REACH: f64 = 6.0;

/// Points of a curve.
const POINTS: usize = 400;

/// A lattice with fewer points than this in a scale is drawn point by point.
const COARSE: f64 = 24.0;

/// The law of a released number, and that of a neighbour whose number is as far away as the sensitivity allows.
///
/// `centre` is the number before the noise, 0 where only distances matter; `step` is that of the lattice of released
/// numbers: where it is coarse, the probability of each point is drawn in the place of a density. `unit` names the axis.
pub fn density(law: &Law, centre: f64, sensitivity: f64, step: f64, unit: &str) -> String {
    let scale = law.scale();
    let is_coarse = step * COARSE > scale;
    let (low, high) = (centre - REACH * scale, centre + sensitivity + REACH * scale);
    let height = if is_coarse { "probability" } else { "density" };
    let mut panel = Panel::new(
        "",
        Axis::linear(unit).range(low, high),
        Axis::linear(height),
    );
    let kinds = [
        (Colour::Blue, centre, "these data"),
        (
            Colour::Vermilion,
            centre + sensitivity,
            "a neighbour, as far away as can be",
        ),
    ];
    for (colour, mean, label) in kinds {
        if is_coarse {
            let points = on_lattice(law, mean, step, (low, high));
            let sticks = points.iter().map(|p| (p.0, 0.0, p.1)).collect();
            panel = panel.with(Series::intervals(colour, sticks).label(label));
            continue;
        }
        let curve = smooth(law, mean, (low, high));
        let area = curve.iter().map(|p| (p.0, 0.0, p.1)).collect();
        panel = panel
            .with(Series::band(colour, area))
            .with(Series::line(colour, curve).label(label));
    }
    Figure::new("What may be released from neighbouring data")
        .panel_size(620.0, 240.0)
        .panel(panel)
        .to_svg()
}

/// The density around a mean.
fn smooth(law: &Law, mean: f64, (low, high): (f64, f64)) -> Vec<(f64, f64)> {
    let step = (high - low) / (POINTS - 1) as f64;
    let mut places: Vec<f64> = (0..POINTS).map(|i| low + i as f64 * step).collect();
    // The peaks are sharp, and a truncated law ends with a step: a grid would miss them.
    places.push(mean);
    if let Some(end) = law.support_bound() {
        let near = 1e-6 * law.scale();
        places.extend([-end - near, -end + near, end - near, end + near].map(|d| mean + d));
    }
    places.retain(|x| (low..=high).contains(x));
    places.sort_by(f64::total_cmp);
    let density = |at: f64| (at, at_distance(law, at - mean));
    places.into_iter().map(density).collect()
}

/// The law's density, from its exact probability of a short interval.
fn at_distance(law: &Law, distance: f64) -> f64 {
    let half = 1e-4 * law.scale();
    let (from, to) = (distance - half, distance + half);
    match law.support_bound() {
        Some(end) if distance.abs() > end => 0.0,
        // Half of such an interval may lie outside.
        Some(end) => law.mass(from, to) / (to.min(end) - from.max(-end)),
        None => law.mass(from, to) / (to - from),
    }
}

/// The probabilities of the points of a lattice: as the density there, up to a factor (M7).
fn on_lattice(law: &Law, mean: f64, step: f64, (low, high): (f64, f64)) -> Vec<(f64, f64)> {
    let mean = (mean / step).round() * step;
    let reach = (2.0 * REACH * law.scale() / step).ceil() as i64;
    let weights: Vec<(f64, f64)> = (-reach..=reach)
        .map(|k| k as f64 * step)
        .map(|distance| (distance, at_distance(law, distance)))
        .collect();
    let whole: f64 = weights.iter().map(|w| w.1).sum();
    let points = weights.into_iter().map(|w| (mean + w.0, w.1 / whole));
    points.filter(|p| (low..=high).contains(&p.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_density_has_the_mass_of_its_law_and_a_lattice_sums_to_one() {
        let laws = [
            Law::laplace(2.0).unwrap(),
            Law::gaussian(2.0).unwrap(),
            Law::truncated_laplace(2.0, 5.0).unwrap(),
        ];
        for law in laws {
            let curve = smooth(&law, 1.0, (-11.0, 13.0));
            let area: f64 = curve
                .windows(2)
                .map(|p| 0.5 * (p[0].1 + p[1].1) * (p[1].0 - p[0].0))
                .sum();
            assert!(
                (area - law.mass(-12.0, 12.0)).abs() < 2e-3,
                "{law:?} {area}"
            );
            let points = on_lattice(&law, 0.9, 0.5, (-50.0, 50.0));
            let sum: f64 = points.iter().map(|p| p.1).sum();
            assert!((sum - 1.0).abs() < 1e-12);
            // The number before the noise is rounded to the lattice first.
            let top = points.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
            assert_eq!(top.0, 1.0);
        }
    }
}
