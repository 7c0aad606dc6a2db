//! What the readers of a regression's card are told: what is protected, and what it takes to use the numbers.

mod running;

use running::regression::{RECORDS, SPEC, json, placed};
use running::{ended, text};
use serde_json::{Value, json as document};

/// Σ weight·function from the card's JSON alone, in the formulas that its kinds stand for.
fn evaluated(card: &Value, x: &[(&str, f64)]) -> f64 {
    let terms = card["reading"]["terms"].as_array().unwrap();
    let weight = |name: &Value| {
        let answers = card["answer"].as_array().unwrap();
        let found = answers.iter().find(|answer| answer["name"] == *name);
        found.unwrap()["value"].as_f64().unwrap()
    };
    let each = terms.iter().map(|term| {
        let number = |key: &str| term[key].as_f64().unwrap();
        let input = || {
            let name = term["input"].as_str().unwrap();
            x.iter().find(|known| known.0 == name).unwrap().1
        };
        let function = match term["kind"].as_str().unwrap() {
            "constant" => 1.0,
            "power" => number("scale") * (input() - number("center")).powf(number("degree")),
            "radial" => (1.0 + ((input() - number("center")) / number("width")).powi(2)).sqrt(),
            other => panic!("{other}"),
        };
        weight(&term["weight"]) * function
    });
    each.sum()
}

#[test]
fn a_card_says_what_is_protected_and_what_it_takes_to_use_the_weights() {
    let spec = SPEC
        .replace(
            "ridge = 0.1",
            "ridge = 0.1\nunits = { speed = \"m/s\", power = \"share\" }",
        )
        .replace(
            "[[problem.condition]]",
            "[[problem.basis]]\nkind = \"power\"\nfeature = \"speed\"\ndegree = 3\ncenter = 5.0\nscale = 0.5\n\n[[problem.basis]]\nkind = \"radial\"\nfeature = \"speed\"\ncenters = [7.0]\nwidth = 2.0\n\n[[problem.condition]]",
        );
    let place = placed("card", &spec, RECORDS);
    let card = json(
        &place,
        &["release", "spec.toml", "--no-ledger", "--json", "-q"],
    );
    let protects = "the response of one record (power), up to a change of 0.5; the regressors and the number of records are public and not protected";
    assert_eq!(card["protects"], protects);
    let quantity = |name: &str, unit: &str, bounds: Value| document!({ "name": name, "unit": unit, "bounds": bounds });
    let reading = &card["reading"];
    assert_eq!(
        reading["value"],
        quantity("power", "share", document!([0.0, 1.0]))
    );
    assert_eq!(
        reading["inputs"],
        document!([quantity("speed", "m/s", Value::Null)])
    );
    // Second road: the formulas as the spec has them.
    let w: Vec<f64> = (card["answer"].as_array().unwrap().iter())
        .map(|answer| answer["value"].as_f64().unwrap())
        .collect();
    for x in [3.0, 6.5, 20.0f64] {
        let expected = w[0]
            + w[1] * x
            + w[2] * 0.5 * (x - 5.0) * (x - 5.0) * (x - 5.0)
            + w[3] * (1.0 + (x - 7.0) * (x - 7.0) / 4.0).sqrt();
        let found = evaluated(&card, &[("speed", x)]);
        assert!(
            (found - expected).abs() < 1e-9 * (1.0 + expected.abs()),
            "{found} {expected}"
        );
    }
    let (_, text, _) = ended(&place, &["release", "spec.toml", "--no-ledger", "-q"]);
    let used = "use: power is fitted by the sum of weight × function:\n  constant: 1\n  speed: speed\n  0.5·(speed − 5)^3: 0.5·(speed − 5)^3\n  radial(speed, 7, 2): √(1 + ((speed − 7)/2)^2)\n  conditions (see feasibility): increasing along speed at 3\n  speed in m/s; power in share, clipped to [0, 1] before the fit\n";
    for said in [&format!("protects: {protects}\n"), used] {
        assert!(text.contains(said), "{text}");
    }
    // `check` says the same before anything is charged.
    let check = json(&place, &["check", "spec.toml", "--json"]);
    assert_eq!(check["protects"], card["protects"]);
    assert_eq!(check["reading"], card["reading"]);
    let (_, text, _) = ended(&place, &["check", "spec.toml", "-q", "--details"]);
    assert!(text.contains(&format!("protects: {protects}\n")), "{text}");
    assert!(text.contains(used), "{text}");
    // A seed protects nothing, and so does paper mode.
    let seeded = ["release", "spec.toml", "--not-private", "--seed", "1", "-q"];
    let (_, text, stderr) = ended(&place, &seeded);
    assert!(text.contains("protects: nothing\n"), "{text}{stderr}");
}

#[test]
fn what_is_protected_follows_from_the_adjacency() {
    let rest = "the regressors and the number of records are public and not protected";
    for (adjacency, expected) in [
        (
            "kind = \"one-record\"",
            "the response of one record (power), whatever it is within its public bounds",
        ),
        (
            "kind = \"l2\", alpha = 0.25",
            "the responses of all records (power), up to changes of 0.25 together (Euclidean norm)",
        ),
        (
            "kind = \"l1\", alpha = 0.25",
            "the responses of all records (power), up to changes of 0.25 in all (ℓ₁ norm)",
        ),
    ] {
        let spec = SPEC.replace("kind = \"one-entry\", alpha = 0.5", adjacency);
        let place = placed("protects", &spec, RECORDS);
        let check = json(&place, &["check", "spec.toml", "--json"]);
        assert_eq!(check["protects"], format!("{expected}; {rest}"));
    }
    // Some weights alone are no curve.
    let declared =
        "delta = 1e-6\nsensitivity = { by = \"declared\", value = 1.0, reason = \"for the test\" }";
    let spec = SPEC
        .replace(
            "release = \"identity\"",
            "release = \"identity\"\nvariables = [\"speed\"]",
        )
        .replace("delta = 1e-6", declared);
    let place = placed("part", &spec, RECORDS);
    let check = json(&place, &["check", "spec.toml", "--json"]);
    assert_eq!(check["reading"]["missing"], document!(["constant"]));
    assert_eq!(check["reading"]["terms"].as_array().unwrap().len(), 1);
    let text = check["text"].as_str().unwrap();
    assert!(
        text.contains("of which 1 weight is not released (`constant`):"),
        "{text}"
    );
}

/// Four weights, of which sums can be released.
fn cubic(query: &str) -> String {
    SPEC.replace(
        "kind = \"linear\"",
        "kind = \"polynomial\"\ndegree = 3\ncenter = 7.0",
    )
    .replace("release = \"identity\"", query)
}

/// The prediction at 9 m/s, and the weight of the cube.
const ROWS: &str = "release = \"rows\"\nrows = [{ constant = 1.0, \"(speed − 7)\" = 2.0, \"(speed − 7)^2\" = 4.0, \"(speed − 7)^3\" = 8.0 }, { \"(speed − 7)^3\" = -0.1 }]";

#[test]
fn a_card_says_what_released_sums_are_made_of() {
    let place = placed("rows", &cubic(ROWS), RECORDS);
    let words = [
        "release",
        "spec.toml",
        "--no-ledger",
        "--json",
        "-q",
        "--decision",
        "d.json",
    ];
    let card = json(&place, &words);
    let part = |weight: &str, coefficient: f64| document!({ "weight": weight, "coefficient": coefficient });
    let expected = document!([
        { "name": "row 0", "parts": [part("constant", 1.0), part("(speed − 7)", 2.0), part("(speed − 7)^2", 4.0), part("(speed − 7)^3", 8.0)] },
        { "name": "row 1", "parts": [part("(speed − 7)^3", -0.1)] },
    ]);
    let reading = &card["reading"];
    assert_eq!(reading["sums"], expected);
    assert_eq!(reading["terms"].as_array().unwrap().len(), 4);
    assert_eq!(reading["missing"].as_array().unwrap().len(), 4);
    // Second road: the decision has the weights that go with the answer, and the card's sums of them are the answer.
    let decision: Value = serde_json::from_str(&text(&place.join("d.json"))).unwrap();
    let named = |list: &Value, name: &Value| {
        let each = list.as_array().unwrap().iter();
        each.filter(|e| e["name"] == *name)
            .map(|e| e["value"].as_f64().unwrap())
            .sum::<f64>()
    };
    for sum in reading["sums"].as_array().unwrap() {
        let parts = sum["parts"].as_array().unwrap().iter();
        let found: f64 = parts
            .map(|p| {
                p["coefficient"].as_f64().unwrap() * named(&decision["decision"], &p["weight"])
            })
            .sum();
        let released = named(&card["answer"], &sum["name"]);
        assert!(
            (found - released).abs() < 1e-9 * (1.0 + released.abs()),
            "{found} {released}"
        );
    }
    let used = "use: power is fitted by the sum of weight × function:\n  constant: 1\n  (speed − 7): (speed − 7)\n  (speed − 7)^2: (speed − 7)^2\n  (speed − 7)^3: (speed − 7)^3\n  conditions (see feasibility): increasing along speed at 3\n  released are sums of these weights; one whose coefficients are the values of the functions at a point is the sum above at that point:\n  row 0 = 1 × `constant` + 2 × `(speed − 7)` + 4 × `(speed − 7)^2` + 8 × `(speed − 7)^3`\n  row 1 = −0.1 × `(speed − 7)^3`\n  speed, in the unit of the records; power, in the unit of the records, clipped to [0, 1] before the fit\n";
    let (_, card, _) = ended(&place, &["release", "spec.toml", "--no-ledger", "-q"]);
    assert!(card.contains(used), "{card}");
    let (_, check, _) = ended(&place, &["check", "spec.toml", "-q", "--details"]);
    assert!(check.contains(used), "{check}");
    // One weighted sum is told in the same way, beside the functions that it leaves out: it is no prediction.
    let query = "release = \"weighted\"\nweights = { constant = 0.5, \"(speed − 7)\" = -1.0 }";
    let place = placed("weighted", &cubic(query), RECORDS);
    let check = json(&place, &["check", "spec.toml", "--json"]);
    let expected = document!([{ "name": "weighted sum", "parts": [part("constant", 0.5), part("(speed − 7)", -1.0)] }]);
    assert_eq!(check["reading"]["sums"], expected);
    assert_eq!(check["reading"]["terms"].as_array().unwrap().len(), 4);
}

/// Whoever has the card alone must know what the curve is promised to do, and where; and nothing where nothing is.
#[test]
fn a_card_says_which_conditions_are_kept() {
    let more = "at = [3.0]\n\n[[problem.condition]]\nkind = \"increasing\"\nfeature = \"speed\"\nfrom = 3.0\nto = 10.5\npoints = 16\n\n[[problem.condition]]\nkind = \"nonnegative-weights\"\n";
    let spec = SPEC.replace("at = [3.0]\n", more);
    let points: Vec<f64> = (0..16).map(|i| 3.0 + 0.5 * f64::from(i)).collect();
    let conditions = document!([
        { "behaviour": "increasing", "input": "speed", "points": [3.0] },
        { "behaviour": "increasing", "input": "speed", "points": points },
        { "behaviour": "nonnegative" },
    ]);
    let line = "  conditions (see feasibility): increasing along speed at 3; increasing along speed at 16 points from 3 to 10.5; nonnegative weights\n";
    for (strategy, kept) in [("program", true), ("projected", true), ("output", false)] {
        let spec = spec.replace(
            "eta = 0.05",
            &format!("strategy = \"{strategy}\"\neta = 0.05"),
        );
        let place = placed(&format!("kept-{strategy}"), &spec, RECORDS);
        let release = ["release", "spec.toml", "--no-ledger", "-q"];
        let card = json(&place, &[&release[..], &["--json"]].concat());
        let expected = if kept { &conditions } else { &Value::Null };
        assert_eq!(card["reading"]["conditions"], *expected, "{strategy}");
        let (_, text, _) = ended(&place, &release);
        assert_eq!(text.contains(line), kept, "{strategy}: {text}");
        assert_eq!(text.contains("conditions (see"), kept, "{text}");
        let (_, check, _) = ended(&place, &["check", "spec.toml", "-q", "--details"]);
        assert_eq!(check.contains(line), kept, "{strategy}: {check}");
    }
}

#[test]
fn weights_released_in_part_are_refused_with_advice_that_helps() {
    let part = "release = \"identity\"\nvariables = [\"constant\", \"(speed − 7)\"]";
    let place = placed("part-refused", &cubic(part), RECORDS);
    let (code, _, stderr) = ended(&place, &["check", "spec.toml"]);
    assert_eq!(code, 2, "{stderr}");
    let expected = "error: spec.toml: refused: a certificate by strong convexity\n  because the solver's error cannot be bounded: `constant` has no public bounds\n  instead: release all weights, of which anyone can form any sum, or as many independent rows as there are weights; or strategy = output, under which the other weights need not give way to the noise\n";
    assert_eq!(stderr, expected);
    // Each of them is accepted.
    let every = "release = \"rows\"\nrows = [{ constant = 1.0 }, { \"(speed − 7)\" = 1.0, constant = 2.0 }, { \"(speed − 7)^2\" = 1.0 }, { \"(speed − 7)^3\" = 1.0 }]";
    let output = cubic(part).replace("eta = 0.05", "strategy = \"output\"");
    for spec in [cubic("release = \"weights\""), cubic(every), output] {
        let place = placed("part-helped", &spec, RECORDS);
        let (code, _, stderr) = ended(&place, &["check", "spec.toml"]);
        assert_eq!(code, 0, "{stderr}");
    }
}
