//! From one neighbourhood to another: how many steps of a charge's own relation lead from any neighbour to the other,
//! and what a charge costs over that many (M16).

use super::{
    Amount, Basis, Charge, Holds, Neighbourhood, Pair, Part, Relation, Series, optimal_epsilon,
    zcdp_epsilon,
};
use dashu_int::UBig;
use dashu_int::ops::SquareRoot;

/// How many steps between `charged` neighbours lead from any dataset to any of its `asked` neighbours, or why none do.
///
/// # Guarantee
/// Any two neighbours by `asked` are the ends of a path of at most this many steps, each between neighbours by
/// `charged`. 1 is returned only where every `asked` pair is itself a `charged` pair, so that no dataset between them
/// matters. The counts are exact for α's as people write them (0.3 is three times 0.1):
/// - the same kind, or a smaller one (ℓ₂ ⊇ ℓ₁ ⊇ one entry): ⌈α/α'⌉;
/// - from ℓ₁ to ℓ₂: ⌈√p·α/α'⌉, since ‖·‖₁ ≤ √p‖·‖₂;
/// - from one entry to ℓ₁: p − 1 + ⌈α/α'⌉, which p tiny changes and a large one attain; to ℓ₂ through ℓ₁;
/// - a charge for any two members of a universe covers every pair inside it.
///
/// Records are replaced whole: only the same record length converts. Test:
/// `steps_are_those_of_the_longest_shortest_path`.
pub(super) fn steps(charged: &Neighbourhood, asked: &Neighbourhood) -> Result<u64, String> {
    if !charged.is_about_the_numbers_of(asked) {
        return Err(format!(
            "it is about other private numbers or another unit: {}, not {}",
            charged.whose(),
            asked.whose()
        ));
    }
    let (from, to) = (*charged.relation(), *asked.relation());
    let inside = charged.universe();
    if inside.is_some() && inside != asked.universe() {
        return Err(format!(
            "it holds inside a universe, and pairs outside it count here too ({charged})"
        ));
    }
    let (p, out) = (charged.numbers(), || {
        format!("its α is so much smaller that the steps cannot be counted ({charged})")
    });
    use Relation::{L1, L2, OneEntry, OneRecord, Universe};
    match (from, to) {
        (Universe, _) => match inside {
            Some(_) => Ok(1),
            None => Err(format!("it does not name its universe ({charged})")),
        },
        (OneRecord { record: from }, OneRecord { record: to }) if from == to => Ok(1),
        (OneEntry { alpha: from }, OneEntry { alpha: to })
        | (L1 { alpha: from }, OneEntry { alpha: to } | L1 { alpha: to })
        | (L2 { alpha: from }, OneEntry { alpha: to } | L1 { alpha: to } | L2 { alpha: to }) => {
            ceiling(1, to, from).ok_or_else(out)
        }
        (L1 { alpha: from }, L2 { alpha: to }) => ceiling(p, to, from).ok_or_else(out),
        (OneEntry { alpha: from }, L1 { alpha: to }) => {
            let most = ceiling(1, to, from).and_then(|steps| steps.checked_add(p - 1));
            most.ok_or_else(out)
        }
        (OneEntry { alpha: from }, L2 { alpha: to }) => {
            let most = ceiling(p, to, from).and_then(|steps| steps.checked_add(p - 1));
            most.ok_or_else(out)
        }
        _ => Err(format!(
            "its neighbours ({charged}) say nothing about these ({asked})"
        )),
    }
}

/// ⌈√p·a/b⌉, exact for the decimals of a and b; none past 64 bits.
fn ceiling(p: u64, a: f64, b: f64) -> Option<u64> {
    let ((a, a_places), (b, b_places)) = (decimal(a)?, decimal(b)?);
    // Both over the same power of ten.
    let places = a_places.min(b_places);
    let scaled = |digits: UBig, at: i32| -> Option<UBig> {
        let power = usize::try_from(at - places).ok()?;
        Some(digits * UBig::from(10u8).pow(power))
    };
    let (a, b) = (scaled(a, a_places)?, scaled(b, b_places)?);
    let (above, below) = (UBig::from(p) * &a * &a, &b * &b);
    // The smallest m with m² ≥ p·a²/b².
    let square = (above + &below - UBig::ONE) / below;
    let root = square.sqrt();
    let root = if &root * &root < square {
        root + UBig::ONE
    } else {
        root
    };
    u64::try_from(root).ok()
}

/// A positive number as digits · 10^place, as its shortest text has it.
fn decimal(x: f64) -> Option<(UBig, i32)> {
    let text = format!("{x:e}");
    let (digits, exponent) = text.split_once('e')?;
    let whole: String = digits.chars().filter(char::is_ascii_digit).collect();
    let behind = whole.len().checked_sub(1)?;
    let place = exponent.parse::<i32>().ok()? - i32::try_from(behind).ok()?;
    Some((whole.parse().ok()?, place))
}

/// What one charge adds to a total, in the total's neighbourhood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    /// ε and δ.
    pub(super) basic: Pair,
    /// The same, a declared series by its optimal composition.
    pub(super) planned: Pair,
    /// ρ of zCDP, where there is one.
    pub(super) rho: Option<Amount>,
    /// The share of pairs that a sampled charge leaves out, and the risk that this is wrong.
    pub(super) gamma: Amount,
    pub(super) beta: Amount,
}

/// A charge's share in one part of the dataset, or in all of it.
pub(super) struct Share {
    /// The part; none where it counts in all.
    pub(super) part: Option<Part>,
    pub(super) counted: Counted,
}

/// What a charge counts in the neighbourhood that a total is about, or why it cannot be counted there.
///
/// # Guarantee
/// Over m steps ([`steps`]) a release counts as **one** charge: pure ε as mε, (ε, δ) as (mε, δ(e^{mε}−1)/(e^ε−1)), which
/// truncated Laplace noise attains, and ρ of zCDP as m²ρ; everything is rounded up. More than one step needs a map that is
/// defined along the way: a claim that is sampled, or given that an answer was produced, says nothing of the datasets
/// between. A sampled claim counts only where neighbourhood and universe are the same. (M16.) Tests:
/// `a_wider_neighbourhood_counts_as_one_larger_charge`, `sampled_and_conditional_charges_are_never_stretched`.
pub(super) fn shares(charge: &Charge, asked: &Neighbourhood) -> Result<Vec<Share>, String> {
    let Some(scope) = charge.claim().scope() else {
        return Err("its neighbourhood is not stated".into());
    };
    if charge.basis() == Basis::PaperMode {
        return Err(
            "it was made in paper mode, which claims no privacy: its ε bounds nothing".into(),
        );
    }
    let charged = &scope.neighbourhood;
    let m = steps(charged, asked)?;
    let mut left_out = (Amount::ZERO, Amount::ZERO);
    match &scope.holds {
        Holds::Everywhere => {}
        Holds::GivenAnAnswer if m == 1 => {}
        Holds::GivenAnAnswer => {
            return Err(format!(
                "it holds given that an answer was produced: nothing is known of the datasets between two that are farther apart ({charged})"
            ));
        }
        Holds::Sampled { gamma, beta, .. } if charged == asked => {
            let count = charge.releases().map_or(1, Series::count);
            left_out = (
                decimal_amount(*gamma).times(count),
                decimal_amount(*beta).times(count),
            );
        }
        Holds::Sampled { .. } => {
            return Err(format!(
                "it holds for a share of sampled pairs, and these are other pairs ({charged})"
            ));
        }
    }
    let whole = || {
        let mut counted = stretched((charge.epsilon(), charge.delta()), charge.zcdp_rho(), m);
        (counted.gamma, counted.beta) = left_out;
        counted.planned = optimal(charge, m, &counted.basic);
        Share {
            part: charge.part().cloned(),
            counted,
        }
    };
    let each = charge
        .part()
        .zip(charge.releases())
        .filter(|(part, _)| part.is_one_for_each());
    let Some((part, series)) = each else {
        return Ok(vec![whole()]);
    };
    let releases = series.releases().iter();
    let releases = releases.flat_map(|each| (0..each.count).map(move |_| each));
    Ok((1..)
        .zip(releases)
        .map(|(row, each)| Share {
            part: Some(part.of_row(row)),
            counted: stretched((each.epsilon, each.delta), each.zcdp_rho(), m),
        })
        .collect())
}

/// A declared series by its optimal composition, where that is less than its sum.
fn optimal(charge: &Charge, m: u64, basic: &Pair) -> Pair {
    let series = charge.releases();
    let composed = series.and_then(|series| {
        let delta = series.delta()?;
        let epsilon = optimal_epsilon(&series.equals(m)?, delta.next_down());
        let epsilon = Amount::at_least(epsilon)?;
        let delta = Amount::new(delta)?;
        Some(Pair { epsilon, delta })
    });
    composed
        .filter(|composed| composed.epsilon < basic.epsilon)
        .unwrap_or_else(|| basic.clone())
}

fn decimal_amount(x: f64) -> Amount {
    Amount::new(x).unwrap_or(Amount::MOST)
}

/// ε, δ and ρ over m steps, as one charge.
fn stretched((epsilon, delta): (f64, f64), rho: Option<Amount>, m: u64) -> Counted {
    let rho = rho.map(|rho| rho.times(m).times(m));
    let mut basic = Pair {
        epsilon: decimal_amount(epsilon).times(m),
        delta: match delta > 0.0 && m > 1 {
            true => group_delta(epsilon, delta, m),
            false => decimal_amount(delta),
        },
    };
    if let (Some(rho), true, true) = (&rho, m > 1, delta > 0.0) {
        // The same δ by zCDP is never worse where its ε is not.
        let by_zcdp = zcdp_epsilon(rho.up().next_up(), delta.next_down());
        if let Some(by_zcdp) = Amount::at_least(by_zcdp).filter(|e| *e <= basic.epsilon) {
            basic = Pair {
                epsilon: by_zcdp,
                delta: decimal_amount(delta),
            };
        }
    }
    Counted {
        planned: basic.clone(),
        basic,
        rho,
        gamma: Amount::ZERO,
        beta: Amount::ZERO,
    }
}

/// δ(e^{mε} − 1)/(e^ε − 1), rounded up.
fn group_delta(epsilon: f64, delta: f64, m: u64) -> Amount {
    let far = epsilon * m as f64;
    let ratio = match far > 1.0 {
        // e^{mε} may overflow where the ratio does not.
        true => ((far - epsilon) + (-(-far).exp_m1()).ln() - (-(-epsilon).exp_m1()).ln()).exp(),
        false => far.exp_m1() / epsilon.exp_m1(),
    };
    // Each of the few operations is off by a few steps; an error in the exponent counts as often as it is large.
    let over = delta * ratio * (1.0 + 64.0 * f64::EPSILON * (1.0 + far));
    Amount::at_least(over).unwrap_or(Amount::MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(relation: Relation, p: u64) -> Neighbourhood {
        Neighbourhood::new(relation, p, "demand").unwrap()
    }

    #[test]
    fn ceilings_are_exact_for_decimals() {
        for (p, a, b, m) in [
            (1, 0.3, 0.1, 3),
            (1, 0.30000000000000004, 0.1, 4),
            (1, 1000.0, 0.001, 1_000_000),
            (1, 0.001, 1000.0, 1),
            (4, 1.0, 1.0, 2),
            (4, 0.7, 0.1, 14),
            (2, 1.0, 1.0, 2),
            (17, 10.0, 10.0, 5),
            (16, 2.5, 5.0, 2),
            (1, 5e-324, 5e-324, 1),
        ] {
            assert_eq!(ceiling(p, a, b), Some(m), "{p} {a} {b}");
        }
        assert_eq!(ceiling(1, f64::MAX, 5e-324), None);
    }

    /// By hand: the worst change between neighbours, walked in the largest steps allowed.
    #[test]
    fn steps_are_those_of_the_longest_shortest_path() {
        use Relation::{L1, L2, OneEntry, OneRecord, Universe};
        for (from, to, m) in [
            (OneEntry { alpha: 1.0 }, OneEntry { alpha: 0.5 }, 1),
            (OneEntry { alpha: 1.0 }, OneEntry { alpha: 2.5 }, 3),
            (L1 { alpha: 1.0 }, OneEntry { alpha: 1.0 }, 1),
            (L1 { alpha: 1.0 }, OneEntry { alpha: 2.0 }, 2),
            (L2 { alpha: 1.0 }, OneEntry { alpha: 1.0 }, 1),
            (L2 { alpha: 1.0 }, L1 { alpha: 1.0 }, 1),
            (L2 { alpha: 1.0 }, L1 { alpha: 3.0 }, 3),
            (L2 { alpha: 2.0 }, L2 { alpha: 3.0 }, 2),
            // p = 6: √6 = 2.449…
            (L1 { alpha: 1.0 }, L2 { alpha: 1.0 }, 3),
            (OneEntry { alpha: 1.0 }, L1 { alpha: 1.0 }, 6),
            (OneEntry { alpha: 1.0 }, L1 { alpha: 2.0 }, 7),
            (OneEntry { alpha: 1.0 }, L2 { alpha: 1.0 }, 8),
            (OneRecord { record: 2 }, OneRecord { record: 2 }, 1),
        ] {
            let found = steps(&of(from, 6), &of(to, 6));
            assert_eq!(found, Ok(m), "{from:?} {to:?}");
        }
        for (from, to) in [
            (OneEntry { alpha: 1.0 }, OneRecord { record: 2 }),
            (OneRecord { record: 2 }, OneRecord { record: 3 }),
            (OneRecord { record: 2 }, L1 { alpha: 1.0 }),
            (Universe, OneEntry { alpha: 1.0 }),
            (OneEntry { alpha: 1.0 }, Universe),
            (L2 { alpha: 1.0 }, Universe),
        ] {
            assert!(steps(&of(from, 6), &of(to, 6)).is_err(), "{from:?} {to:?}");
        }
        let inside = |relation, universe| of(relation, 6).inside(universe).unwrap();
        let any = inside(Universe, "the first");
        assert_eq!(steps(&any, &inside(L2 { alpha: 9.0 }, "the first")), Ok(1));
        assert!(steps(&any, &inside(L2 { alpha: 9.0 }, "the second")).is_err());
        assert!(steps(&any, &of(L2 { alpha: 9.0 }, 6)).is_err());
        // A claim for all pairs covers those inside a universe.
        let (all, some) = (OneEntry { alpha: 1.0 }, OneEntry { alpha: 2.0 });
        assert_eq!(steps(&of(all, 6), &inside(some, "the first")), Ok(2));
    }

    /// The change of p entries that takes the most steps: p − 1 tiny ones and a large one.
    #[test]
    fn one_entry_steps_to_l1_are_attained() {
        let (p, alpha, small) = (5u64, 3.3, 1.0);
        let tiny = 1e-9;
        let change = [tiny, tiny, tiny, tiny, alpha - 4.0 * tiny];
        let walked: f64 = change.iter().map(|c: &f64| (c / small).ceil()).sum();
        let from = of(Relation::OneEntry { alpha: small }, p);
        let to = of(Relation::L1 { alpha }, p);
        assert_eq!(steps(&from, &to), Ok(walked as u64));
    }

    #[test]
    fn different_numbers_or_units_never_mix() {
        let relation = Relation::OneEntry { alpha: 1.0 };
        let own = of(relation, 6);
        let others = [
            of(relation, 5),
            Neighbourhood::new(relation, 6, "prices").unwrap(),
            of(relation, 6).in_unit("MW").unwrap(),
        ];
        for other in &others {
            assert!(steps(&own, other).is_err() && steps(other, &own).is_err());
            assert_eq!(steps(other, other), Ok(1));
        }
    }

    /// Against the sum δ(1 + e^ε + … + e^{(m−1)ε}).
    #[test]
    fn the_delta_of_a_group_is_its_geometric_sum() {
        for (epsilon, delta, m) in [
            (0.1f64, 1e-6, 7u64),
            (1.0, 1e-9, 12),
            (1e-4, 1e-5, 2000),
            (3.0, 1e-12, 5),
        ] {
            let sum: f64 = (0..m).map(|i| delta * (epsilon * i as f64).exp()).sum();
            let found = group_delta(epsilon, delta, m).up();
            assert!(
                found >= sum * (1.0 - 1e-13) && found <= sum * (1.0 + 1e-9),
                "{found} {sum}"
            );
        }
        assert!(group_delta(1.0, 1e-9, 1_000_000).up() > 1.0);
    }
}
