//! What was spent of a budget, charge by charge.

use conveil_studies::plot::{Axis, Colour, Figure, Panel, Series, Shape};

/// Names that fit below the axis.
const NAMED: usize = 10;

/// A charge.
#[derive(Debug, Clone, PartialEq)]
pub struct Charged {
    /// Its day.
    pub day: String,
    /// Its ε.
    pub epsilon: f64,
}

/// The sum of the charges after each of them, below the budget. `counted` is what all of them count as together, where a
/// composition counts them as less than their sum.
pub fn spent(title: &str, charges: &[Charged], budget: f64, counted: Option<f64>) -> String {
    let end = charges.len() as f64 + 0.7;
    let (mut total, mut steps) = (0.0, vec![(0.3, 0.0)]);
    let mut after = Vec::new();
    for (i, charge) in charges.iter().enumerate() {
        let place = (i + 1) as f64;
        steps.push((place, total));
        total += charge.epsilon;
        steps.push((place, total));
        after.push((place, total));
    }
    steps.push((end, total));
    let every = charges.len().div_ceil(NAMED).max(1);
    let names = (0..=charges.len() + 1).map(|i| match i.checked_sub(1) {
        Some(place) if place % every == 0 => {
            (charges.get(place)).map_or(String::new(), |charge| charge.day.clone())
        }
        _ => String::new(),
    });
    let top = budget.max(total) * 1.15;
    let mut panel = Panel::new(
        "",
        Axis::categories("charge, by its day", names.collect()),
        Axis::linear("ε").range(0.0, if top > 0.0 { top } else { 1.0 }),
    )
    .with(Series::line(Colour::Blue, steps).label("sum of the charges"))
    .with(Series::points(Colour::Blue, Shape::Disc, after))
    .with(Series::dashed(Colour::Vermilion, vec![(0.3, budget), (end, budget)]).label("budget"));
    // As far as it shows.
    if let Some(counted) = counted.filter(|counted| *counted < 0.995 * total) {
        let point = Series::points(Colour::Green, Shape::Ring, vec![(end, counted)]);
        panel = panel.with(point.label("what they count as together"));
    }
    Figure::new(title)
        .panel_size(620.0, 200.0)
        .panel(panel)
        .to_svg()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charges(epsilons: &[f64]) -> Vec<Charged> {
        let day = || "2026-01-01".to_string();
        let of = |epsilon: &f64| Charged {
            day: day(),
            epsilon: *epsilon,
        };
        epsilons.iter().map(of).collect()
    }

    #[test]
    fn a_timeline_has_the_budget_the_sum_and_what_counts_together() {
        let svg = spent("Spent", &charges(&[1.0, 0.5]), 3.0, Some(1.2));
        for said in [
            "budget",
            "sum of the charges",
            "what they count as together",
        ] {
            assert!(svg.contains(said), "{said}");
        }
        let svg = spent("Spent", &charges(&[1.0, 0.5]), 3.0, Some(1.5));
        assert!(!svg.contains("what they count as together"));
    }

    #[test]
    fn a_step_of_twice_the_charge_is_twice_as_high() {
        let heights = |epsilons: &[f64]| spent("Spent", &charges(epsilons), 8.0, None);
        assert_ne!(heights(&[1.0, 2.0]), heights(&[2.0, 1.0]));
        assert_ne!(heights(&[1.0]), heights(&[2.0]));
    }

    #[test]
    fn numbers_out_of_order_are_drawn_without_a_panic() {
        for epsilon in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
            let svg = spent("Spent", &charges(&[epsilon]), epsilon, Some(epsilon));
            assert!(svg.starts_with("<svg"));
        }
        assert!(spent("Spent", &[], 0.0, None).starts_with("<svg"));
    }
}
