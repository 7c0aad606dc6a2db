//! Certificates, bounds and nominal values in every combination: accepted exactly where the rules say so.

#[path = "../../conveil-text/tests/seeded/mod.rs"]
mod seeded;

use conveil::ask::Request;
use conveil_models::conic::Conic;
use conveil_models::spec::{Sensitivity, Spec, read};
use seeded::Seeded;

/// A spec with these lines for its one parameter and this sensitivity.
fn text(parameter: &str, sensitivity: &str) -> String {
    format!(
        r#"[problem]
model = "conic"
file = "problem.json"
[private]
adjacency = {{ kind = "one-entry", alpha = 1.0 }}
[[private.parameter]]
name = "d"
{parameter}
[query]
release = "cost"
[privacy]
mechanism = "laplace"
epsilon = 1.0
sensitivity = {{ {sensitivity} }}
[feasibility]
eta = 0.01
"#
    )
}

fn refusal(text: &str) -> Option<String> {
    read("spec.toml", text).err().map(|e| e.to_string())
}

fn good(text: &str) -> Spec {
    match read("spec.toml", text) {
        Ok(spec) => spec,
        Err(error) => panic!("{error}\n{text}"),
    }
}

const NUMBERS: [&str; 9] = [
    "-1e300", "-2.5", "-1", "-0.0", "0", "1e-9", "1", "2.5", "1e300",
];

#[test]
fn a_nominal_value_is_read_exactly_where_the_bounds_hold_it() {
    let mut random = Seeded(3);
    for _ in 0..4000 {
        let [low, high, nominal] = [0; 3].map(|_| NUMBERS[random.below(NUMBERS.len())]);
        let number = |word: &str| word.parse::<f64>().unwrap_or(f64::NAN);
        let mut lines = [
            String::from("at = [{ in = \"b\", row = 0 }]"),
            format!("bounds = [{low}, {high}]"),
            format!("nominal = {nominal}"),
        ];
        // The order of keys means nothing.
        let first = random.below(3);
        lines.swap(0, first);
        let line = |key: &str| 8 + lines.iter().position(|l| l.starts_with(key)).unwrap_or(9);
        let text = text(&lines.join("\n"), "by = \"envelope\", price = 1.0");
        let found = refusal(&text);
        if number(low) >= number(high) {
            let place = format!("spec.toml:{}:10: `bounds` must increase", line("bounds"));
            assert!(found.is_some_and(|e| e.starts_with(&place)), "{text}");
        } else if !(number(low)..=number(high)).contains(&number(nominal)) {
            let place = format!(
                "spec.toml:{}:11: `nominal` must lie within `bounds`",
                line("nominal")
            );
            assert!(found.is_some_and(|e| e.starts_with(&place)), "{text}");
        } else {
            let spec = good(&text);
            let problem: &Conic = spec.model.is().unwrap();
            let parameter = &problem.parameters[0];
            assert_eq!(parameter.bounds, Some((number(low), number(high))));
            assert_eq!(parameter.nominal, Some(number(nominal)));
        }
    }
}

#[test]
fn a_price_is_any_positive_number_and_nothing_else() {
    let parameter = "at = [{ in = \"b\", row = 0 }]\nbounds = [-1, 1]";
    for price in NUMBERS.iter().chain(&["inf", "nan", "-inf", "1e999"]) {
        let text = text(parameter, &format!("by = \"envelope\", price = {price}"));
        let value: f64 = price.parse().unwrap_or(f64::NAN);
        if value > 0.0 && value.is_finite() {
            let found = good(&text).privacy.sensitivity.value;
            assert_eq!(found, Sensitivity::By(Request::envelope(value)));
        } else {
            let start = "spec.toml:15:42: `price` must be ";
            assert!(
                refusal(&text).is_some_and(|e| e.starts_with(start)),
                "{price}"
            );
        }
    }
}

/// A certificate: its words, and the parts of the problem in which private numbers may stand.
const CERTIFICATES: [(&str, &str, &[&str]); 5] = [
    ("envelope", ", price = 1.0", &["b"]),
    ("radius", "", &["q"]),
    ("strong-convexity", "", &["q"]),
    ("erm", "", &["b", "q", "A"]),
    ("range", "", &["b", "q", "A"]),
];

#[test]
fn a_certificate_is_read_exactly_where_its_theorem_speaks_of_the_private_numbers() {
    let places = [
        ("b", "{ in = \"b\", row = 0 }"),
        ("q", "{ in = \"q\", column = 1 }"),
        ("A", "{ in = \"A\", row = 0, column = 1 }"),
    ];
    for (word, keys, covered) in CERTIFICATES {
        for chosen in 1..8usize {
            let entries: Vec<_> = (0..3)
                .filter(|i| chosen >> i & 1 == 1)
                .map(|i| places[i])
                .collect();
            let at: Vec<&str> = entries.iter().map(|entry| entry.1).collect();
            for bounds in ["", "bounds = [0, 1]"] {
                let text = text(
                    &format!("at = [{}]\n{bounds}", at.join(", ")),
                    &format!("by = \"{word}\"{keys}"),
                );
                let speaks = entries.iter().all(|(part, _)| covered.contains(part));
                let bounded = word != "envelope" || !bounds.is_empty();
                match refusal(&text) {
                    None => assert!(speaks && bounded, "{text}"),
                    Some(e) if !speaks => {
                        assert!(e.contains("is proven for private numbers in"), "{e}");
                    }
                    Some(e) => assert!(!bounded && e.contains("and `d` has none"), "{e}"),
                }
            }
        }
    }
}

#[test]
fn a_certificate_refuses_the_keys_of_the_others() {
    let foreign = [
        "value = 1.0",
        "per_alpha = 1.0",
        "reason = \"so\"",
        "gamma = 0.1",
        "beta = 0.1",
        "seed = 1",
        "size = \"exact\"",
        "on = \"released\"",
        "price = 1.0",
    ];
    for (word, keys, covered) in CERTIFICATES {
        let entry = if covered[0] == "b" {
            "{ in = \"b\", row = 0 }"
        } else {
            "{ in = \"q\", column = 0 }"
        };
        let parameter = format!("at = [{entry}]\nbounds = [0, 1]");
        let own = format!("by = \"{word}\"{keys}");
        good(&text(&parameter, &own));
        for key in foreign.iter().filter(|key| !own.contains(*key)) {
            let name = key.split(' ').next().unwrap_or_default();
            let expected = format!("`{name}` makes no sense in a sensitivity by `{word}`");
            let found = refusal(&text(&parameter, &format!("{own}, {key}")));
            assert!(
                found.is_some_and(|e| e.ends_with(&expected)),
                "{own}, {key}"
            );
        }
    }
}

#[test]
fn the_largest_cost_is_no_bound_where_all_loads_move() {
    let text = |kind: &str| {
        format!(
            "version = 1\n[problem]\nmodel = \"opf\"\nnetwork = \"5_pjm\"\n[private]\nadjacency = {{ kind = \"{kind}\", alpha = 1.0 }}\n[query]\nrelease = \"cost\"\n[privacy]\nmechanism = \"laplace\"\nepsilon = 1.0\nsensitivity = {{ by = \"declared\", per_alpha = \"largest-cost\" }}\n[feasibility]\neta = 0.01\n"
        )
    };
    for kind in ["one-entry", "l1"] {
        assert!(
            conveil_models::spec::read("spec.toml", &text(kind)).is_ok(),
            "{kind}"
        );
    }
    let refused = conveil_models::spec::read("spec.toml", &text("l2")).unwrap_err();
    let message = refused.to_string();
    assert!(
        message.contains(
            "`largest-cost` bounds the price of one load, and adjacency `l2` moves all of them"
        ),
        "{message}"
    );
}
