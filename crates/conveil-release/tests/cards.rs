//! What a card shows, and what it does not: for adjacent datasets everything but the answer is the same, and nothing in the
//! ledger tells how the last release ended.

mod models;
mod scratch;

use conveil::ask::{Adjacency, Ask, Privacy, Query, Request, Strategy as Place};
use conveil::plan::Plan;
use conveil::program::{AffineMap, Builder, DataMap, Objective, Sense};
use conveil_release::ledger::{
    Budget, Charges, Error as LedgerError, Ledger, Neighbourhood, NotDurable,
};
use conveil_release::{Card, Error, Released, Restated, charge, not_private, release};
use models::{T, ball, capped, enveloped, follower, limit, shape, supply};
use proptest::prelude::*;
use scratch::Scratch;

const NAME: &str = "loads-2026";

/// A budget for this plan's releases.
fn budget(epsilon: f64, plan: &Plan<'_>) -> Budget {
    Budget::new(epsilon, 0.9, &Neighbourhood::of(plan).unwrap()).unwrap()
}

fn memory(plan: &Plan<'_>) -> NotDurable {
    let mut ledger = NotDurable::default();
    ledger.init(NAME, &budget(1e6, plan)).unwrap();
    ledger
}

fn file(scratch: &Scratch, name: &str, plan: &Plan<'_>) -> Ledger {
    Ledger::init(scratch.file(name), NAME, &budget(1000.0, plan)).unwrap()
}

/// What a ledger holds, without what its nonces bring about.
fn history(ledger: &Ledger) -> Vec<serde_json::Value> {
    let lines = ledger.export(None).unwrap();
    let lines = lines.lines().map(|line| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        for field in ["nonce", "head"] {
            line["charge"]
                .as_object_mut()
                .map(|charge| charge.remove(field));
        }
        line
    });
    lines.collect()
}

/// Text and JSON of a card with the answers taken out, and the head, whose nonce depends on nothing.
fn masked(card: &Card) -> (String, String) {
    let mut text = card.to_string();
    let mut json: serde_json::Value = serde_json::from_str(&card.to_json()).unwrap();
    let noisy = card.before_projection().unwrap_or_default();
    for (field, numbers) in [("answer", card.answer()), ("before_projection", noisy)] {
        for (i, named) in numbers.iter().enumerate() {
            // The error bar behind it is part of what must not differ.
            let line = format!("  {} = {}", named.name, named.value);
            assert!(text.contains(&line), "{text}");
            text = text.replacen(&line, &format!("  {} = …", named.name), 1);
            let value = &mut json[field][i]["value"];
            // The shortest text that reads back as the same number.
            assert_eq!(value.as_f64(), Some(named.value));
            *value = serde_json::Value::Null;
        }
    }
    // That there is no answer is one.
    if let Some(why) = card.no_answer() {
        let line = format!("  none: the program has no answer at the noisy data: {why}\n");
        assert!(text.contains(&line), "{text}");
        text = text.replacen(&line, "  cost = …\n", 1);
        json["answer"] = serde_json::json!([{"name": "cost", "value": null}]);
        json.as_object_mut().unwrap().remove("no_answer");
    }
    if let Some(charge) = card.ledger() {
        text = text.replace(&charge.head.to_string(), "…");
        json["ledger"]["head"] = serde_json::Value::Null;
    }
    (text, json.to_string())
}

fn privacies() -> impl Strategy<Value = Privacy> {
    prop_oneof![
        Just(Privacy::laplace(1.0)),
        Just(Privacy::laplace(0.3)),
        Just(Privacy::gaussian(1.0, 0.01)),
        Just(Privacy::truncated_laplace(2.0, 0.05)),
    ]
}

/// A linear, a quadratic and a second-order cone program, with and without a shape.
#[derive(Clone, Copy, Debug)]
enum Model {
    Linear,
    Quadratic,
    Shaped,
    Cone,
    /// Certified: an envelope, and strong convexity with shaped noise.
    Envelope,
    Curved,
    /// Noise on the answer, plain and projected.
    Output,
    Projected,
    /// Noise on the linear term, of which one number is released.
    LinearTerm,
    /// Noise on the data, and a public room beside noise on the value.
    Input,
    Truncated,
    Shifted,
}

impl Model {
    fn map(self) -> AffineMap {
        match self {
            Model::Linear => limit(),
            Model::Quadratic
            | Model::Shaped
            | Model::Curved
            | Model::Output
            | Model::Projected
            | Model::LinearTerm => follower(2),
            Model::Cone => ball(),
            Model::Envelope | Model::Input | Model::Shifted => supply(),
            Model::Truncated => capped(),
        }
    }

    fn ask(self, privacy: Privacy) -> Ask {
        let ask = match self {
            Model::Linear => Ask::cost(),
            Model::Quadratic => Ask::new(Query::Variables(vec!["x".into()])),
            Model::Shaped => Ask::new(Query::Variables(vec!["x".into()])).shape(shape(T)),
            Model::Cone => Ask::new(Query::Sum(vec!["x".into()])),
            Model::Envelope => return enveloped(privacy),
            Model::Input => return enveloped(privacy).strategy(Place::Input),
            Model::Truncated => {
                // Whatever the mechanism, its own has a bound.
                let bounded = Privacy::truncated_laplace(privacy.epsilon(), 1e-3);
                return enveloped(bounded).strategy(Place::Truncated);
            }
            Model::Shifted => return enveloped(privacy).strategy(Place::Shifted),
            Model::Output => return Model::Curved.ask(privacy).strategy(Place::Output),
            Model::Projected => return Model::Curved.ask(privacy).strategy(Place::Projected),
            Model::LinearTerm => {
                return Ask::new(Query::Variables(vec!["x[1]".into()]))
                    .adjacency(Adjacency::one_entry(1.0))
                    .privacy(privacy)
                    .sensitivity(Request::strong_convexity())
                    .strategy(Place::LinearTerm);
            }
            Model::Curved => {
                return Ask::new(Query::Variables(vec!["x".into()]))
                    .shaped_by_curvature()
                    .adjacency(Adjacency::one_entry(1.0))
                    .privacy(privacy)
                    .sensitivity(Request::strong_convexity())
                    .feasible(0.9);
            }
        };
        ask.adjacency(Adjacency::one_entry(1.0))
            .privacy(privacy)
            .declared(0.2, "for the test")
            .feasible(0.9)
    }

    /// A dataset that may be harmless, infeasible in itself or too tight for the noise.
    fn theta(self, share: f64) -> Vec<f64> {
        match self {
            Model::Linear => vec![100.0 * share - 20.0],
            Model::Quadratic
            | Model::Shaped
            | Model::Curved
            | Model::Output
            | Model::Projected
            | Model::LinearTerm => {
                vec![1100.0 * share - 550.0, 3.0]
            }
            Model::Envelope | Model::Input | Model::Truncated | Model::Shifted => {
                vec![100.0 * share - 20.0]
            }
            Model::Cone => vec![4.0 * share - 0.5],
        }
    }
}

/// How a release ends, without private words.
fn outcome(released: &Result<Released, Error>) -> &'static str {
    match released {
        Ok(_) => "card",
        Err(Error::Engine(conveil::Error::Infeasible(_))) => "infeasible",
        Err(Error::Engine(conveil::Error::NoiseDoesNotFit(_))) => "does not fit",
        Err(error) => panic!("{error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Two datasets, each through its own ledger: the cards are the same but for the answers and the nonces in their heads,
    /// and so is the history, whether there was a card or not.
    #[test]
    fn cards_of_adjacent_datasets_differ_in_the_answer_alone(
        model in prop_oneof![
            Just(Model::Linear), Just(Model::Quadratic), Just(Model::Shaped), Just(Model::Cone),
            Just(Model::Envelope), Just(Model::Curved), Just(Model::Output), Just(Model::Projected),
            Just(Model::LinearTerm), Just(Model::Input), Just(Model::Truncated), Just(Model::Shifted)
        ],
        privacy in privacies(),
        first in 0.0..1.0f64,
        second in 0.0..1.0f64,
    ) {
        let scratch = Scratch::fast();
        let map = model.map();
        let plan = Plan::new(&map, model.ask(privacy)).unwrap();
        let ended = [("a", first), ("b", second)].map(|(name, share)| {
            let mut ledger = file(&scratch, name, &plan);
            let theta = model.theta(share);
            let charged = charge(&plan, &mut ledger, NAME).unwrap();
            let released = charged.without_report().release(&theta);
            let head = history(&ledger);
            let safe = model.theta(0.6);
            let next = charge(&plan, &mut ledger, NAME).unwrap();
            let next = next.without_report().release(&safe).unwrap();
            (released, head, masked(next.card()))
        });
        let [(a, head_a, next_a), (b, head_b, next_b)] = ended;
        let statuses = [outcome(&a), outcome(&b)];
        if plan.guarantee().basis().is_defined_everywhere() {
            prop_assert_eq!(statuses, ["card", "card"]);
        }
        prop_assert_eq!(head_a, head_b);
        prop_assert_eq!(&next_a, &next_b);
        if let (Ok(a), Ok(b)) = (&a, &b) {
            prop_assert_eq!(masked(a.card()), masked(b.card()));
            prop_assert_ne!(masked(a.card()), next_a);
        }
    }
}

/// Data without an answer and data with one make the same kind of card: whether there is an answer is a function of the noisy
/// data, which stand on the card.
#[test]
fn a_card_of_noisy_data_says_that_they_have_no_answer() {
    let map = supply();
    let plan = Plan::new(&map, Model::Input.ask(Privacy::laplace(1.0))).unwrap();
    // Above 40 there is none.
    for (need, has_answer) in [(10.0, true), (60.0, false)] {
        let charged = charge(&plan, &mut memory(&plan), NAME).unwrap();
        let released = charged.without_report().release(&[need]).unwrap();
        let card = released.card();
        let noisy = card.before_projection().unwrap()[0].value;
        // Noise of scale 1 moves by 20 once in 10⁸.
        assert!((noisy - need).abs() < 20.0);
        assert_eq!(card.answer().len(), usize::from(has_answer));
        assert_eq!(card.no_answer().is_some(), !has_answer);
        assert!(released.decision().is_none());
        let text = card.to_string();
        assert!(text.contains("the noisy data:\n  need = "), "{text}");
        assert_eq!(
            text.contains("none: the program has no answer"),
            !has_answer
        );
    }
}

/// Limits of ±500 and optima at ±550: noise on the answer leaves them, its projection never does, and neither has a
/// decision beside the answer.
#[test]
fn a_projected_card_keeps_the_limits() {
    let privacy = Privacy::gaussian(1.0, 0.01);
    let map = follower(2);
    let mut beyond = 0;
    for model in [Model::Output, Model::Projected] {
        let plan = Plan::new(&map, model.ask(privacy)).unwrap();
        for _ in 0..40 {
            let charged = charge(&plan, &mut memory(&plan), NAME).unwrap();
            let released = charged.without_report().release(&[550.0, -550.0]).unwrap();
            assert!(released.decision().is_none());
            let card = released.card();
            let inside = card.answer().iter().all(|n| n.value.abs() <= 500.0 + 1e-5);
            match card.before_projection() {
                None => beyond += usize::from(!inside),
                Some(noisy) => {
                    assert!(inside, "{card}");
                    for (n, p) in noisy.iter().zip(card.answer()) {
                        let nearest = n.value.clamp(-500.0, 500.0);
                        assert!((p.value - nearest).abs() < 1e-5, "{card}");
                    }
                }
            }
        }
    }
    // Inside with probability ¼ each time: 40 of 40 once in 10²⁴, 12 or fewer outside once in 10⁶ at most.
    assert!(beyond > 12, "{beyond}");
}

/// One number of two is released, and the noise is on two: the card has both noisy ones.
#[test]
fn a_card_of_the_linear_term_has_the_noisy_minimum_behind_its_answer() {
    let (privacy, map) = (Privacy::gaussian(1.0, 0.01), follower(2));
    let plan = Plan::new(&map, Model::LinearTerm.ask(privacy)).unwrap();
    assert_eq!(plan.released().shape().noises(), 2);
    let charged = charge(&plan, &mut memory(&plan), NAME).unwrap();
    let released = charged.without_report().release(&[550.0, -550.0]).unwrap();
    let card = released.card();
    assert_eq!(card.answer().len(), 1);
    let noisy = card.before_projection().unwrap();
    assert_eq!(noisy.len(), 2);
    assert!((card.answer()[0].value - noisy[1].value.clamp(-500.0, 500.0)).abs() < 1e-5);
    assert!(released.decision().is_none());
    let text = card.to_string();
    assert!(
        text.contains("the noisy minimum without the constraints:"),
        "{text}"
    );
}

/// Infeasible data, data that leave no room for the noise, data that are no numbers: charged like any other, and the
/// chain does not show it.
#[test]
fn failures_stay_charged() {
    let scratch = Scratch::fast();
    let map = limit();
    let plan = Plan::new(&map, Model::Linear.ask(Privacy::laplace(0.3))).unwrap();
    let heads: Vec<_> = [5.0, 80.0, 59.5, f64::NAN]
        .iter()
        .enumerate()
        .map(|(i, l)| {
            let mut ledger = file(&scratch, &format!("{i}"), &plan);
            let released = release(&plan, &[*l], &mut ledger, NAME);
            let ended = match &released {
                Err(Error::Engine(conveil::Error::Input(_))) => "not a number",
                other => outcome(other),
            };
            let expected = ["card", "infeasible", "does not fit", "not a number"];
            assert_eq!(ended, expected[i]);
            let account = ledger.account(NAME).unwrap();
            assert_eq!(account.charges, 1);
            history(&ledger)
        })
        .collect();
    assert!(heads.iter().all(|head| *head == heads[0]), "{heads:?}");
}

/// Clipped data: a value beyond its public bounds looks like the bound.
#[test]
fn clipped_data_make_the_same_card() {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let l = m.parameter("l");
    m.minimize(x.at(0));
    m.between("limits", l, x.at(0), 60.0);
    let map = m.build_map().unwrap();
    let bounded = AffineMap::new(
        map.template().clone(),
        map.parameters()
            .iter()
            .map(|p| p.into_owned().clipped(0.0, 20.0))
            .collect::<Vec<_>>(),
    )
    .unwrap();
    let plan = Plan::new(&bounded, Model::Linear.ask(Privacy::laplace(1.0))).unwrap();
    let cards = [20.0, 1e9].map(|l| release(&plan, &[l], &mut memory(&plan), NAME).unwrap());
    assert_eq!(masked(cards[0].card()), masked(cards[1].card()));
    let answers = cards.map(|released| released.card().answer()[0].value);
    assert!(
        answers.iter().all(|a| (a - 20.0).abs() < 10.0),
        "{answers:?}"
    );
}

/// A dataset's name goes on the card: nothing is charged under one that does not show.
#[test]
fn a_dataset_that_does_not_show_is_not_charged() {
    let map = Model::Linear.map();
    let plan = Plan::new(&map, Model::Linear.ask(Privacy::laplace(1.0))).unwrap();
    for name in ["loads\u{202e}", "loads\u{200b}", "loads\u{e0041}", ""] {
        let refused = charge(&plan, &mut memory(&plan), name)
            .map(|_| ())
            .unwrap_err();
        let text = refused.to_string();
        assert!(
            text.starts_with("refused: a release from the dataset `"),
            "{text}"
        );
        assert!(
            !text.contains(['\u{202e}', '\u{200b}', '\u{e0041}']),
            "{text:?}"
        );
    }
}

/// Demand 10 with bounds [0, 8]: 8 is dispatched, and whoever carries it out is told.
#[test]
fn a_decision_for_clipped_data_says_so() {
    let mut m = Builder::new();
    let x = m.variable("x", 1);
    let demand = m.parameter_within("demand", 0.0, 8.0);
    m.minimize(x.at(0));
    m.between("limits", demand, x.at(0), 60.0);
    let map = m.build_map().unwrap();
    let plan = Plan::new(&map, Model::Linear.ask(Privacy::laplace(1.0))).unwrap();
    for (demand, is_clipped) in [(7.5, false), (10.0, true)] {
        for with_report in [true, false] {
            let charged = charge(&plan, &mut memory(&plan), NAME).unwrap();
            let charged = match with_report {
                true => charged,
                false => charged.without_report(),
            };
            let released = charged.release(&[demand]).unwrap();
            let decision = released.decision().unwrap();
            let (text, json) = (decision.to_string(), decision.to_json());
            let words = "NOT for the data as they are: values outside their public bounds";
            assert_eq!(text.contains(words), is_clipped, "{text}");
            assert_eq!(json.contains("\"clipped\""), is_clipped, "{json}");
            if is_clipped {
                let made_for = "  made for demand = 8.000000, not 10.000000\n";
                assert!(text.contains(made_for), "{text}");
                let json: serde_json::Value = serde_json::from_str(&json).unwrap();
                let expected = serde_json::json!(
                    [{ "name": "demand", "datum": 10.0, "counted_as": 8.0 }]
                );
                assert_eq!(json["clipped"], expected);
            }
            // The card knows nothing of it.
            assert!(!released.card().to_string().contains("10.0"));
            assert!(!released.card().to_json().contains("counted_as"));
        }
    }
}

#[test]
fn the_decision_carries_the_released_number() {
    for model in [Model::Linear, Model::Quadratic, Model::Shaped, Model::Cone] {
        for privacy in [Privacy::laplace(1.0), Privacy::gaussian(1.0, 0.01)] {
            let map = model.map();
            let plan = Plan::new(&map, model.ask(privacy)).unwrap();
            for _ in 0..5 {
                let charged = charge(&plan, &mut memory(&plan), NAME).unwrap();
                let released = charged.without_report().release(&model.theta(0.6)).unwrap();
                let x: Vec<f64> = released
                    .decision()
                    .unwrap()
                    .values()
                    .iter()
                    .map(|n| n.value)
                    .collect();
                let carried = plan.released().query().apply(&x);
                for (found, answer) in carried.iter().zip(released.card().answer()) {
                    let off = (found - answer.value).abs();
                    assert!(
                        off <= 1e-9 * answer.value.abs().max(1.0),
                        "{model:?}: {off}"
                    );
                }
                assert!(released.decision().unwrap().to_string().contains("PRIVATE"));
                assert!(
                    released
                        .decision()
                        .unwrap()
                        .to_json()
                        .contains("\"private\": true")
                );
                assert!(released.report().is_none());
            }
        }
    }
}

#[test]
fn an_enveloped_decision_carries_the_released_number_too() {
    // Above 0 the second source is marginal, and its price above the envelope's: the data are corrected. Below they are
    // not, but for the noise's own room.
    let map = supply();
    let plan = Plan::new(&map, enveloped(Privacy::laplace(1.0))).unwrap();
    let card = plan.guarantee().feasibility_text();
    assert!(card.contains("within the envelope's correction"), "{card}");
    assert!(
        card.contains("data outside their public bounds count as clipped to them"),
        "{card}"
    );
    let open = limit();
    let unbounded = Plan::new(&open, Model::Linear.ask(Privacy::laplace(1.0))).unwrap();
    assert!(!unbounded.guarantee().feasibility_text().contains("clipped"));
    for (need, at_the_data) in [(-8.0, true), (25.0, false)] {
        for _ in 0..20 {
            let released = release(&plan, &[need], &mut memory(&plan), NAME).unwrap();
            let correction = released.report().unwrap().correction.clone().unwrap();
            assert_eq!(
                correction.at_the_data, at_the_data,
                "{need}: {correction:?}"
            );
            let x: Vec<f64> = released
                .decision()
                .unwrap()
                .values()
                .iter()
                .map(|v| v.value)
                .collect();
            assert_eq!(x.len(), 2, "the model's own variables alone");
            let answer = released.card().answer()[0].value;
            let paid = x[0] + 3.0 * x[1] + 2.5 * correction.distance;
            assert!(
                (paid - answer).abs() <= 1e-6 * answer.abs().max(1.0),
                "{paid} {answer}"
            );
            let carried = x[0] + x[1];
            let off = if at_the_data {
                0.0
            } else {
                correction.distance
            };
            assert!((carried - need + off).abs() < 1e-6, "{carried}");
            // Who carries it out is told what it is for, and why it costs less than the answer.
            let (text, json) = (
                released.decision().unwrap().to_string(),
                released.decision().unwrap().to_json(),
            );
            assert_eq!(text.contains("NOT for the data as they are"), !at_the_data);
            assert_eq!(json.contains("\"correction\""), !at_the_data, "{json}");
            if !at_the_data {
                assert!((correction.paid - 2.5 * correction.distance).abs() < 1e-9);
                assert!(text.contains("made for need = "), "{text}");
                assert!(text.contains("not 25.000000"), "{text}");
                let report = released.report().unwrap().to_string();
                assert!(
                    report.contains("the answer holds the price of it"),
                    "{report}"
                );
            }
            let card = released.card().to_string();
            assert!(card.contains("holds the price of a correction"), "{card}");
        }
    }
}

#[test]
fn a_card_says_what_it_stands_on() {
    let scratch = Scratch::fast();
    let map = limit();
    let plan = Plan::new(&map, Model::Linear.ask(Privacy::laplace(1.0))).unwrap();
    let released = release(&plan, &[5.0], &mut file(&scratch, "l", &plan), NAME).unwrap();
    let card = released.card();
    assert!(card.is_private() && card.stamps().is_empty());
    let head = card.ledger().unwrap().head;
    let text = card.to_string();
    for part in [
        "differential privacy with ε = 1 between datasets in which one entry differs by at most 1, given that an answer was produced",
        "basis: declared: the user states",
        "private numbers: 1, called l",
        "Laplace on a lattice of step ",
        "with probability at least 0.9",
        &format!("ledger: {NAME}, charge 1, head {head}"),
        "conveil-card/2",
    ] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    // The report and the decision are the curator's.
    assert!(released.report().is_some_and(|report| report.private));

    let released = release(&plan, &[5.0], &mut memory(&plan), NAME).unwrap();
    assert!(released.card().to_string().contains("no durable ledger"));
    assert!(released.card().is_private() && released.card().ledger().is_none());

    let seeded = |seed| not_private(&plan, &[5.0], Some(seed)).unwrap();
    let card = seeded(7).card().clone();
    assert_eq!(card, *seeded(7).card());
    assert_ne!(card.answer(), seeded(8).card().answer());
    assert!(!card.is_private());
    assert!(
        card.to_string()
            .contains("NOT PRIVATE: the noise was drawn from seed 7")
    );
    assert!(!card.to_string().contains("differential privacy"));
    assert!(!card.to_json().contains("differential privacy"));
    assert!(matches!(
        not_private(&plan, &[5.0], None),
        Err(Error::Refused { .. })
    ));
}

#[test]
fn paper_mode_is_refused_and_stamped() {
    let map = limit();
    let ask = Model::Linear.ask(Privacy::laplace(1.0));
    let plan = Plan::paper_mode(&map, ask, &[5.0]).unwrap();
    let mut ledger = memory(&plan);
    let refused = release(&plan, &[5.0], &mut ledger, NAME).unwrap_err();
    assert!(matches!(refused, Error::Refused { .. }), "{refused}");
    assert!(refused.to_string().contains("paper mode"), "{refused}");
    assert_eq!(ledger.account(NAME).unwrap().charges, 0);
    let card = not_private(&plan, &[5.0], None).unwrap().card().to_string();
    assert!(card.contains("NOT PRIVATE") && card.contains("NO privacy guarantee"));
}

#[test]
fn what_is_public_is_checked_before_the_charge() {
    let map = limit();
    let plan = Plan::new(&map, Model::Linear.ask(Privacy::laplace(1.0))).unwrap();
    let mut ledger = memory(&plan);
    let refused = release(&plan, &[5.0, 6.0], &mut ledger, NAME).unwrap_err();
    assert!(refused.to_string().contains("a dataset of 2 numbers"));
    assert_eq!(ledger.account(NAME).unwrap().charges, 0);
    let unknown = release(&plan, &[5.0], &mut ledger, "other").unwrap_err();
    let is_unknown =
        |error: &Error| matches!(error, Error::Ledger(LedgerError::UnknownDataset { .. }));
    assert!(is_unknown(&unknown), "{unknown}");
    let mut small = NotDurable::default();
    let about = Neighbourhood::of(&plan).unwrap();
    small
        .init(NAME, &Budget::new(0.5, 0.0, &about).unwrap())
        .unwrap();
    let over = release(&plan, &[f64::NAN], &mut small, NAME).unwrap_err();
    assert!(matches!(over, Error::Ledger(over) if over.is_over_budget()));
}

/// ε, δ and ρ of each mechanism reach the ledger; truncated noise has no ρ.
#[test]
fn charges_are_those_of_the_mechanism() {
    let map = limit();
    for (privacy, rho) in [
        (Privacy::laplace(0.5), None),
        (Privacy::gaussian(0.5, 0.01), Some(())),
        (Privacy::truncated_laplace(0.5, 0.01), None),
    ] {
        let plan = Plan::new(&map, Model::Linear.ask(privacy)).unwrap();
        let scratch = Scratch::fast();
        let mut ledger = file(&scratch, "l", &plan);
        let charged = charge(&plan, &mut ledger, NAME).unwrap();
        assert_eq!(charged.receipt().id(), 1);
        let line = ledger.export(None).unwrap();
        let line = line.lines().last().unwrap().to_string();
        let entry: serde_json::Value = serde_json::from_str(&line).unwrap();
        let entry = &entry["charge"];
        assert_eq!(entry["epsilon"], 0.5);
        assert_eq!(entry["delta"], privacy.delta());
        assert_eq!(entry["basis"], "declared");
        let expected = rho.map(|()| {
            let g = plan.guarantee();
            0.5 * ((g.sensitivity() + g.step()) / g.scale()).powi(2)
        });
        match (entry["rho"].as_f64(), expected) {
            (None, None) => {}
            (Some(found), Some(rho)) => assert!(found >= rho && found < rho * (1.0 + 1e-12)),
            other => panic!("{other:?}"),
        }
    }
}

/// Twice the cost is released: the price of the correction counts twice as well.
#[test]
fn the_price_of_a_correction_is_in_the_unit_of_the_answer() {
    let map = supply();
    let twice = Query::Weighted(vec![("x[0]".into(), 2.0), ("x[1]".into(), 6.0)]);
    let ask = Ask::new(twice)
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(1.0))
        .sensitivity(Request::envelope(2.5))
        .feasible(0.9);
    let plan = Plan::new(&map, ask).unwrap();
    assert!((plan.guarantee().sensitivity() - 5.0).abs() < 0.05);
    let released = release(&plan, &[25.0], &mut memory(&plan), NAME).unwrap();
    let correction = released.report().unwrap().correction.clone().unwrap();
    assert!(correction.priced > 1.0, "{correction:?}");
    assert!((correction.paid - 5.0 * correction.priced).abs() < 1e-9);
    let x = released.decision().unwrap().values();
    let cost = 2.0 * x[0].value + 6.0 * x[1].value;
    let answer = released.card().answer()[0].value;
    assert!(
        (cost + correction.paid - answer).abs() < 1e-5,
        "{cost} {answer}"
    );
}

/// Whatever the law: the stated number is constant ± the released one, and nothing else on card or decision changes.
#[test]
fn a_restated_number_is_a_function_of_the_released_one() {
    let model = limit();
    let (sense, constant) = (Sense::Maximize, 12.5);
    for objective in [
        Objective { sense, constant },
        Objective {
            sense: Sense::Minimize,
            constant,
        },
    ] {
        for privacy in [
            Privacy::laplace(1.0),
            Privacy::gaussian(1.0, 0.01),
            Privacy::truncated_laplace(2.0, 0.05),
        ] {
            let ask = Ask::cost()
                .adjacency(Adjacency::one_entry(1.0))
                .privacy(privacy)
                .declared(1.0, "x = l")
                .feasible(0.9);
            let plan = Plan::new(&model, ask).unwrap();
            let seeded = not_private(&plan, &[20.0], Some(3)).unwrap();
            let stated = seeded.clone().restated(&Restated::new("profit", objective));
            let (card, before) = (stated.card(), seeded.card());
            let [answer] = card.answer() else {
                panic!("{card}")
            };
            assert_eq!(answer.name, "profit");
            assert_eq!(answer.value, objective.at(before.answer()[0].value));
            let sign = if objective.sense == sense { -1.0 } else { 1.0 };
            assert_eq!(answer.value, constant + sign * before.answer()[0].value);
            let json = |card: &Card| -> serde_json::Value {
                let mut json: serde_json::Value = serde_json::from_str(&card.to_json()).unwrap();
                json["answer"] = serde_json::Value::Null;
                json.as_object_mut().map(|card| card.remove("objective"));
                json
            };
            assert_eq!(json(card), json(before));
            assert!(
                card.to_string()
                    .contains(&format!("objective: {objective};")),
                "{card}"
            );
            let (decision, plain) = (stated.decision().unwrap(), seeded.decision().unwrap());
            assert_eq!(
                (decision.values(), decision.noise()),
                (plain.values(), plain.noise())
            );
            assert!(decision.to_json().contains("\"profit\""));
            // The modeller's own expression at the decision is the stated number.
            let own = constant + sign * decision.values()[0].value;
            assert!((own - answer.value).abs() < 1e-9);
        }
    }
}
