//! Data outside the universe of a sampled sensitivity: what is released, what the card says, and what the curator is told;
//! and what the card of a certificate says of its universe.

mod running;

use running::{directory, ended, examples, text, write};

/// The scalar example under a sensitivity sampled around 10, with this private value.
fn spec(value: &str) -> String {
    let spec = text(&examples().join("scalar-lp.toml"));
    let declared = spec.lines().find(|line| line.starts_with("sensitivity ="));
    spec.replace(
        declared.unwrap_or_default(),
        "sensitivity = { by = \"sampled\", gamma = 0.1, beta = 0.1 }",
    )
    .replace("value = 100.0", &format!("value = {value}"))
    .replace(
        "[query]",
        "[private.universe]\nkind = \"box\"\ncenter = [10.0]\nhalf_width = [1.0]\n\n[query]",
    )
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn a_card_for_data_outside_the_universe_is_that_of_the_nearest_member() {
    let place = directory("outside-the-universe");
    let problem = text(&examples().join("scalar-lp.json"));
    write(&place.join("scalar-lp.json"), problem);
    write(&place.join("spec.toml"), spec("90.0"));
    let words = [
        "release",
        "spec.toml",
        "-q",
        "--no-ledger",
        "--json",
        "--decision",
        "d.json",
    ];
    let (code, stdout, stderr) = ended(&place, &words);
    assert_eq!(code, 0, "{stderr}");
    let card = json(&stdout);
    // 1.5 times the member 11, the room for the noise, and noise of scale 1.5: 90 would be 118 higher.
    let answer = card["answer"][0]["value"].as_f64().unwrap_or(f64::NAN);
    assert!((answer - 23.4).abs() < 40.0, "{card}");
    assert_eq!(card["notion"], "random differential privacy");
    assert_eq!(
        card["universe"],
        serde_json::json!({ "kind": "box", "center": [10.0], "half_width": [1.0] })
    );
    let privacy = card["privacy"].as_str().unwrap_or_default();
    assert!(
        privacy.starts_with("random differential privacy with ε = 1"),
        "{privacy}"
    );
    assert!(
        privacy.contains("over the universe of the interval 10 ± 1"),
        "{privacy}"
    );
    // The card tells nothing of it: the answer is all that differs from the card of a member.
    write(&place.join("member.toml"), spec("11.0"));
    let (_, other, _) = ended(
        &place,
        &["release", "member.toml", "-q", "--no-ledger", "--json"],
    );
    let masked = |text: &str| {
        let mut card = json(text);
        card["answer"] = serde_json::Value::Null;
        card
    };
    assert_eq!(masked(&stdout), masked(&other));
    let warning = "warning: the value of `l` lies outside the stated universe and counts as 11, that of its nearest member\n";
    assert!(stderr.contains(warning), "{stderr}");
    let decision = json(&text(&place.join("d.json")));
    assert_eq!(
        decision["clipped"],
        serde_json::json!([{ "name": "l", "datum": 90.0, "counted_as": 11.0 }])
    );

    // A universe around the private value itself is not public.
    write(&place.join("centre.toml"), spec("10.0"));
    let (code, _, stderr) = ended(&place, &["solve", "centre.toml", "-q"]);
    assert_eq!(code, 0, "{stderr}");
    let warning = "warning: the centre of the universe is the private dataset itself";
    assert!(stderr.contains(warning), "{stderr}");
}

/// A certificate proves its claim for all data between the public bounds, whatever the stated universe is: the card says so
/// wherever it speaks of neighbours.
#[test]
fn a_certified_card_between_members_of_a_universe_speaks_of_the_public_bounds() {
    let place = directory("certified-universe");
    let problem = text(&examples().join("envelope-dispatch.json"));
    write(&place.join("envelope-dispatch.json"), problem);
    let spec = text(&examples().join("envelope-dispatch.toml"))
        .replace(
            "{ kind = \"one-entry\", alpha = 0.5 }",
            "{ kind = \"universe\", unit = \"MW\" }",
        )
        .replace(
            "[query]",
            "[private.universe]\nkind = \"box\"\ncenter = [-50.0, 550.0, 700.0]\nhalf_width = 0.5\n\n[query]",
        )
        .replace("eta = 0.01", "eta = 0.01\nstrategy = \"output\"");
    write(&place.join("spec.toml"), spec);
    let words = ["release", "spec.toml", "-q", "--no-ledger", "--json"];
    let (code, stdout, stderr) = ended(&place, &words);
    assert_eq!(code, 0, "{stderr}");
    let card = json(&stdout);
    let between = "any two datasets within the public bounds";
    assert_eq!(card["adjacency"]["text"], between);
    assert_eq!(card["adjacency"]["neighbourhood"]["kind"], "universe");
    assert_eq!(
        card["universe"],
        serde_json::json!({ "kind": "box", "center": [-50.0, 550.0, 700.0], "half_width": [150.0, 250.0, 300.0] })
    );
    let privacy = card["privacy"].as_str().unwrap_or_default();
    assert!(
        privacy.starts_with(&format!(
            "differential privacy with ε = 1 between {between}; "
        )),
        "{privacy}"
    );
}
