//! Names, labels and reasons that do not show as they are written make no plan.

mod structure_common;

use conveil::ask::{Adjacency, Ask, Privacy, Query};
use conveil::plan::Plan;
use conveil::program::{Builder, GeneralMap, Parameter, PrivateParts};
use structure_common::{interval_lp, laplace, message};

const HIDDEN: [&str; 6] = [
    "\u{202e}",
    "\u{200b}",
    "\u{2028}",
    "\u{e0041}",
    "\u{1b}c",
    "\u{feff}",
];

fn lp(
    variable: &str,
    limits: &str,
    parameter: &str,
) -> conveil::Result<conveil::program::AffineMap> {
    let mut m = Builder::new();
    let x = m.variable(variable, 1);
    let l = m.parameter(parameter);
    m.minimize(x.at(0));
    m.between(limits, l, x.at(0), 20.0);
    m.build_map()
}

#[test]
fn what_does_not_show_makes_no_plan() {
    assert!(Plan::new(&lp("x̄", "größe", "دما").unwrap(), laplace(Query::Cost, 1.0)).is_ok());
    for hidden in HIDDEN {
        let bad = format!("a{hidden}b");
        let number = format!("U+{:04X}", hidden.chars().next().unwrap() as u32);
        let refused = |text: String| {
            assert!(text.contains(&format!("holds {number}")), "{text}");
            assert!(!text.contains(hidden.chars().next().unwrap()), "{text:?}");
        };
        refused(message(lp(&bad, "limits", "l")));
        refused(message(lp("x", &bad, "l")));
        let plan =
            |map: &conveil::program::AffineMap| message(Plan::new(map, laplace(Query::Cost, 1.0)));
        refused(plan(&lp("x", "limits", &bad).unwrap()));
        let ask = Ask::cost()
            .adjacency(Adjacency::one_entry(1.0))
            .privacy(Privacy::laplace(1.0))
            .declared(1.0, &bad);
        refused(message(Plan::new(&interval_lp(1.0, 20.0), ask)));
        // Not an affine map, and so not checked where those are made.
        let good = interval_lp(1.0, 20.0);
        let template = conveil::program::DataMap::template(&good).clone();
        let parts = PrivateParts {
            b: true,
            ..PrivateParts::default()
        };
        let general = GeneralMap::new(
            template,
            vec![Parameter::new(bad.as_str())],
            parts,
            move |theta| conveil::program::DataMap::at(&good, theta),
        );
        refused(message(Plan::new(&general, laplace(Query::Cost, 1.0))));
    }
    let long = "x".repeat(3000);
    let text = message(lp(&long, "limits", "l"));
    assert!(
        text.contains("longer than 2000 characters") && text.len() < 400,
        "{text}"
    );
}
