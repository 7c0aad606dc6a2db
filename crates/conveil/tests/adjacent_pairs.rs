//! Adjacent pairs over all certificates and strategies: no pair moves the released map by more than the claimed Δ, which
//! holds the solver's tolerance, and none has one answer only unless the card or the plan has the words for it.

mod certifying;
mod common;

use certifying::random::{curved, linear_program, priced};
use certifying::{classifier, neighbours};
use common::between;
use conveil::ask::{Adjacency, Ask, Privacy, Query, Request, Strategy};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::{AffineMap, DataMap};
use std::collections::BTreeMap;

const STRATEGIES: [Strategy; 3] = [Strategy::Program, Strategy::Output, Strategy::Projected];

/// A random model with the ask of one certificate, without strategy.
fn draw(kind: usize, index: usize, sampler: &mut Sampler) -> (AffineMap, Ask) {
    let privacy = match (index / 4) % 2 {
        0 => Privacy::laplace(1.0),
        _ => Privacy::gaussian(1.0, 0.01),
    };
    // Neighbours are apart by 10⁻⁴ to 10⁻² of the data's size.
    let share = 10f64.powf(between(sampler, -4.0, -2.0));
    let near = |size: f64, numbers: usize| match (index / 8) % 4 {
        0 => Adjacency::one_entry(share * size),
        1 => Adjacency::L1 {
            alpha: share * size,
        },
        2 => Adjacency::L2 {
            alpha: share * size,
        },
        _ => Adjacency::OneRecord { len: numbers },
    };
    match kind {
        0 => {
            let case = linear_program(sampler);
            // A whole record moves by all its width: noise for that fits no program that needs its data.
            let adjacency = match near(case.size, 1) {
                Adjacency::OneRecord { .. } => Adjacency::one_entry(share * case.size),
                stated => stated,
            };
            let ask = Ask::cost()
                .adjacency(adjacency)
                .privacy(Privacy::laplace(1.0));
            let price = case.price;
            (case.map, ask.sensitivity(Request::envelope(price)))
        }
        1 => {
            let size = 10f64.powf(between(sampler, -1.0, 3.0));
            let price = 10f64.powf(between(sampler, -1.0, 2.0));
            let map = priced(sampler, size, price);
            let ask = Ask::cost()
                .adjacency(near(price, 1))
                .privacy(Privacy::laplace(1.0));
            (map, ask.sensitivity(Request::radius()))
        }
        2 => {
            let size = 10f64.powf(between(sampler, -1.0, 3.0));
            let map = curved(sampler, size);
            let ask = Ask::new(Query::Identity)
                .adjacency(near(size, 1))
                .privacy(privacy);
            let ask = ask.sensitivity(Request::strong_convexity());
            let is_shaped = sampler.uniform() < 0.5;
            (
                map,
                if is_shaped {
                    ask.shaped_by_curvature()
                } else {
                    ask
                },
            )
        }
        _ => {
            let records = 3 + (20.0 * sampler.uniform()) as usize;
            let lambda = 10f64.powf(between(sampler, -3.0, 0.5));
            (
                classifier(records, lambda),
                certifying::classifier_ask(privacy),
            )
        }
    }
}

/// What became of the pairs of one certificate under one strategy.
#[derive(Default)]
struct Seen {
    pairs: usize,
    one_sided: usize,
    without: usize,
    refused: usize,
    tightest: f64,
}

/// About 400 pairs; with CONVEIL_FULL=1, more than 10⁴ of each of four seeds.
#[test]
fn no_pair_moves_farther_than_claimed_or_is_told_apart_by_its_status() {
    match std::env::var_os("CONVEIL_FULL") {
        None => hold_together(48, 0xAD7A),
        Some(_) => (0xAD7A..0xAD7E).for_each(|seed| hold_together(1_400, seed)),
    }
}

fn hold_together(models: usize, seed: u64) {
    let names = ["envelope", "radius", "strong convexity", "regularised risk"];
    let mut table: BTreeMap<(&str, &str), Seen> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut sampler = Sampler::new(seed, 0);
    for index in 0..models {
        let kind = index % 4;
        let (map, ask) = draw(kind, index, &mut sampler);
        let bounds: Vec<(f64, f64)> = (map.parameters().iter())
            .map(|p| p.bounds().unwrap())
            .collect();
        for strategy in STRATEGIES {
            let seen = table.entry((names[kind], strategy.name())).or_default();
            let Ok(plan) = Plan::new(&map, ask.clone().strategy(strategy).feasible(0.9)) else {
                seen.refused += 1;
                continue;
            };
            let guarantee = plan.guarantee();
            let adjacency = *certifying::plan_adjacency(&plan);
            let has_words = guarantee
                .privacy_text()
                .contains("given that an answer was produced")
                || (plan.warnings().iter())
                    .any(|w| w.contains("a solve may not be proven so closely"));
            for turn in 0..4 {
                let theta: Vec<f64> = (bounds.iter())
                    .map(|&(low, high)| match turn {
                        0 => [low, high][usize::from(sampler.uniform() < 0.5)],
                        _ => between(&mut sampler, low, high),
                    })
                    .collect();
                let others = neighbours(&theta, &bounds, &adjacency, &mut sampler);
                let other =
                    &others[(sampler.uniform() * others.len() as f64) as usize % others.len()];
                let both = [&theta, other].map(|theta| plan.released().at(theta));
                seen.pairs += 1;
                match both {
                    [Ok(a), Ok(b)] => {
                        let change: Vec<f64> = (a.answer.iter().zip(&b.answer))
                            .map(|(a, b)| a - b)
                            .collect();
                        let change = plan.released().shape().unshape(&change);
                        let share =
                            guarantee.privacy().norm().of(&change) / guarantee.sensitivity();
                        seen.tightest = seen.tightest.max(share);
                        if share > 1.0 {
                            wrong.push(format!("model {index}, {strategy:?}: {share} of Δ"));
                        }
                    }
                    [Err(why), Err(_)] => {
                        seen.without += 1;
                        if !has_words {
                            wrong.push(format!("model {index}, {strategy:?}: no answer: {why}"));
                        }
                    }
                    [Err(why), _] | [_, Err(why)] => {
                        seen.one_sided += 1;
                        if !has_words {
                            wrong
                                .push(format!("model {index}, {strategy:?}: one side only: {why}"));
                        }
                    }
                }
            }
        }
    }
    let mut pairs = 0;
    for ((name, strategy), seen) in &table {
        pairs += seen.pairs;
        println!(
            "{name}, {strategy}: {} pairs, largest movement {:.3} of Δ, one side only {}, neither {}, plans refused {}",
            seen.pairs, seen.tightest, seen.one_sided, seen.without, seen.refused
        );
    }
    println!("{pairs} pairs in all");
    assert!(
        wrong.is_empty(),
        "{} such as {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(8)]
    );
    // Every certificate was met under noise in the program and on the answer, and came near its bound.
    for name in names {
        for strategy in [Strategy::Program, Strategy::Output] {
            let seen = &table[&(name, strategy.name())];
            assert!(
                seen.pairs >= 12 && seen.tightest > 0.05,
                "{name}, {strategy:?}"
            );
        }
    }
}
