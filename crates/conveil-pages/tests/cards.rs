//! The page of a card: all of the card, and nothing else.

mod places;

use conveil_pages::card;
use conveil_workbench::{Account, Answer, Releasing, Silent};
use places::example;
use serde_json::Value;

/// The card of an example, drawn with a seed: such a card is stamped as not private.
fn drawn(name: &str) -> String {
    let releasing = Releasing {
        account: Account::NotPrivate { seed: Some(7) },
        ..Releasing::default()
    };
    let mut answers: Vec<Answer> = Vec::new();
    let bench = example(name);
    bench.release(&releasing, &mut answers, &Silent).unwrap();
    answers[0].card.to_json()
}

/// Text as a browser shows it: without tags, style and figures.
fn shown(page: &str) -> String {
    let mut page = page.to_string();
    for (open, close) in [("<style>", "</style>"), ("<svg", "</svg>")] {
        while let Some(start) = page.find(open) {
            let end = page[start..].find(close).unwrap() + start + close.len();
            page.replace_range(start..end, " ");
        }
    }
    let mut text = String::new();
    let mut is_tag = false;
    for letter in page.chars() {
        match letter {
            '<' => (is_tag, text) = (true, text + " "),
            '>' => is_tag = false,
            letter if !is_tag => text.push(letter),
            _ => {}
        }
    }
    for (entity, letter) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
    ] {
        text = text.replace(entity, letter);
    }
    text.replace("&amp;", "&")
}

/// The numbers of a text that have at least four digits: shorter ones are counts, indices and dates.
fn long_numbers(text: &str) -> Vec<f64> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == 'e' || c == '-';
    let words = text.split(|c| !is_part(c));
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_ascii_digit()));
    let long = words.filter(|word| word.chars().filter(char::is_ascii_digit).count() >= 4);
    long.filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn a_card_page_has_all_of_the_card() {
    for name in ["scalar-lp", "svm-machines", "wind-curve"] {
        let json = drawn(name);
        let text = shown(&card("card.json", &json).unwrap());
        for line in json.lines() {
            assert!(text.contains(line.trim_end()), "{name}: {line}");
        }
        let value: Value = serde_json::from_str(&json).unwrap();
        for stamp in value["stamps"].as_array().unwrap() {
            let stamp = stamp.as_str().unwrap();
            assert!(text.matches(stamp).count() >= 2, "{name}: {stamp}");
        }
    }
}

/// Noisy data without an answer are a card too.
#[test]
fn a_card_page_says_that_noisy_data_have_no_answer() {
    let mut value: Value = serde_json::from_str(&drawn("scalar-lp")).unwrap();
    let noisy = std::mem::replace(&mut value["answer"], Value::Array(Vec::new()));
    value["before_projection"] = noisy;
    let refused = card("card.json", &value.to_string())
        .unwrap_err()
        .to_string();
    assert!(refused.contains("no answer"), "{refused}");
    value["no_answer"] = Value::String("these rows exclude each other".into());
    value["strategy"] = Value::String("input".into());
    let text = shown(&card("card.json", &value.to_string()).unwrap());
    for part in [
        "None: the program has no answer at the noisy data: these rows exclude each other",
        "The noisy data",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

/// Every number in the text is one of the card's, in percent, or a simple multiple of one: an error bar, a reach.
#[test]
fn a_card_page_has_no_number_of_its_own() {
    for name in ["scalar-lp", "svm-machines", "wind-curve"] {
        let json = drawn(name);
        let own = long_numbers(&json);
        let page = card("card.json", &json).unwrap();
        let text = shown(&page).replace(json.trim_end(), "");
        let factors = [1.0, 2.0, 100.0];
        let is_own = |found: f64| {
            let near = |own: &f64| {
                let scaled = factors.iter().map(|factor| factor * own.abs());
                scaled
                    .into_iter()
                    .any(|own| (own - found.abs()).abs() <= 1e-4 * own)
            };
            own.iter().any(near)
        };
        let foreign: Vec<f64> = long_numbers(&text)
            .into_iter()
            .filter(|f| !is_own(*f))
            .collect();
        assert!(foreign.is_empty(), "{name}: {foreign:?}\n{text}");
        // The page is a function of the text alone.
        assert_eq!(page, card("card.json", &json).unwrap());
    }
}

#[test]
fn a_private_document_is_no_card() {
    for text in [
        "{\"private\": true, \"answer\": []}",
        "[]",
        "nothing",
        "{\"cards\": []}",
    ] {
        assert!(card("file.json", text).is_err(), "{text}");
    }
    let hostile = drawn("scalar-lp").replace("cost", "</title><script>alert(1)</script>");
    let page = card("<script>", &hostile).unwrap();
    assert!(!page.contains("<script"));
}

/// The page shows the whole text, so that nothing may stand in it that no release has put there.
#[test]
fn what_no_release_puts_on_a_card_is_refused() {
    let json = drawn("scalar-lp");
    let smuggled = json.replacen('{', "{\"mean_decision\": [[\"x\", 424242.5]],", 1);
    let refused = card("card.json", &smuggled).unwrap_err().to_string();
    assert!(
        refused.contains("a card has no `mean_decision`"),
        "{refused}"
    );
    let later = json.replace("conveil-card/2", "conveil-card/9");
    let refused = card("card.json", &later).unwrap_err().to_string();
    assert!(refused.contains("of a later version"), "{refused}");
    assert!(
        card(
            "card.json",
            &json.replace("conveil-card/2", "conveil-card/1")
        )
        .is_ok()
    );
}

/// A bias that is a bound has its condition on the page, as on the card.
#[test]
fn a_bias_that_is_a_bound_keeps_its_condition() {
    let mut value: Value = serde_json::from_str(&drawn("scalar-lp")).unwrap();
    value["uncertainty"]["bias"] =
        serde_json::json!({"amount": 460.97790824742503, "at_most": true});
    let bound = shown(&card("card.json", &value.to_string()).unwrap());
    let said = "at most 460.978 worse than the optimum, unless data are clipped or corrected";
    assert!(bound.contains(said), "{bound}");
    value["uncertainty"]["bias"]["at_most"] = false.into();
    let exact = shown(&card("card.json", &value.to_string()).unwrap());
    assert!(
        exact.contains("the number is 460.978 worse than the optimum."),
        "{exact}"
    );
}
