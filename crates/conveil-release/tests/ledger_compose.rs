//! Composition: against values by hand, against other formulas, and by its laws.

mod neighbours;

use conveil_release::ledger::{Amount, Basis, Charge, Total, zcdp_epsilon};
use neighbours::{claim, demands};
use proptest::prelude::*;

const BASIS: Basis = Basis::Certificate;

fn laplace(epsilon: f64) -> Charge {
    Charge::laplace(epsilon, &claim(BASIS)).unwrap()
}

/// What charges between the same neighbours spend together.
fn total<'c>(charges: impl IntoIterator<Item = &'c Charge>) -> Total {
    Total::of(&demands(), charges).unwrap()
}

fn amount(x: f64) -> Amount {
    Amount::new(x).unwrap()
}

#[test]
fn basic_composition_adds_epsilon_and_delta_exactly() {
    let charges = [
        laplace(0.1),
        laplace(0.2),
        Charge::gaussian(0.3, 1e-6, 0.004, &claim(BASIS)).unwrap(),
        Charge::truncated_laplace(0.4, 2e-6, &claim(BASIS)).unwrap(),
    ];
    let all = total(&charges);
    assert_eq!(all.basic().epsilon, amount(1.0));
    assert_eq!(all.basic().delta, amount(3e-6));
    assert_eq!(all.charges(), 4);
}

/// Exact Gaussian curve, optimum over a grid of 3·10⁵ orders, and ρ + 2√(ρ ln(1/δ)), computed elsewhere.
#[test]
fn zcdp_conversion_lies_between_the_exact_gaussian_and_bun_steinke() {
    for (rho, delta, gaussian, optimum, bun_steinke) in [
        (
            0.5,
            1e-6,
            4.886554117462212,
            5.2215344476959995,
            5.756521769756932,
        ),
        (
            0.005,
            1e-5,
            0.34066936468432574,
            0.3752612358414928,
            0.48485259121880814,
        ),
        (
            8.0,
            1e-9,
            31.381840071786645,
            32.6654594228008,
            33.751592315472166,
        ),
    ] {
        let epsilon = zcdp_epsilon(rho, delta);
        assert!(
            (epsilon / optimum - 1.0).abs() < 1e-8,
            "{epsilon} {optimum}"
        );
        assert!(gaussian < epsilon && epsilon < bun_steinke);
    }
    assert_eq!(zcdp_epsilon(1e-4, 0.01), 0.0);
    for (rho, delta) in [
        (0.0, 0.1),
        (f64::NAN, 0.1),
        (1.0, 0.0),
        (1.0, 1.0),
        (1.0, f64::NAN),
    ] {
        assert_eq!(zcdp_epsilon(rho, delta), f64::INFINITY);
    }
}

/// 100 × ε = 0.1 is ρ = 100 · 0.1²/2 = 0.5, hence 5.2215 at δ = 1e-6, where basic composition says 10.
#[test]
fn a_hundred_small_laplace_charges_cost_half_by_zcdp() {
    let all = total(&vec![laplace(0.1); 100]);
    assert_eq!(all.basic().epsilon, amount(10.0));
    assert!((all.rho().up() - 0.5).abs() < 1e-12 && all.rho() >= amount(0.5));
    let (spent, composition) = all.smaller(1e-6);
    assert_eq!(composition, "zcdp");
    assert!((spent.epsilon.up() - 5.2215344477).abs() < 1e-8);
    assert_eq!(spent.delta, amount(1e-6));
}

#[test]
fn charges_without_rho_are_added_on_top_of_zcdp() {
    let pure = total(&vec![laplace(0.1); 100]);
    let cut = Charge::truncated_laplace(0.25, 4e-7, &claim(BASIS)).unwrap();
    let both = pure.with(&cut).unwrap();
    let expected = zcdp_epsilon(0.5, 6e-7) + 0.25;
    let zcdp = both.zcdp(1e-6).unwrap();
    assert!((zcdp.epsilon.up() - expected).abs() < 1e-8);
    assert_eq!(both.zcdp(4e-7), None, "no δ is left for the conversion");
    assert_eq!(total([&cut]).zcdp(1e-6), None, "nothing has a ρ");
}

#[test]
fn a_stated_rho_counts_and_never_more_than_a_pure_charge_allows() {
    let gaussian = Charge::gaussian(1.0, 1e-6, 0.03, &claim(BASIS)).unwrap();
    assert_eq!(total([&gaussian]).rho(), amount(0.03));
    // Without δ the same ε is at most ε²/2-zCDP; far too large an ε has no usable ρ at all.
    assert!((total([&laplace(3.0)]).rho().up() - 4.5).abs() < 1e-12);
    assert_eq!(total([&laplace(1e200)]).zcdp(1e-6), None);
}

/// On every basis that claims something.
fn any_charge() -> impl Strategy<Value = Charge> {
    let epsilon = 1e-4..3.0;
    let delta = 1e-9..1e-5;
    (0..3, epsilon, delta, 0..3usize).prop_map(|(kind, epsilon, delta, basis)| {
        let basis = Basis::ALL[basis];
        match kind {
            0 => Charge::laplace(epsilon, &claim(basis)),
            1 => Charge::gaussian(epsilon, delta, epsilon * epsilon / 30.0, &claim(basis)),
            _ => Charge::truncated_laplace(epsilon, delta, &claim(basis)),
        }
        .unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn totals_do_not_depend_on_the_order(
        charges in prop::collection::vec(any_charge(), 1..40), seed in any::<u64>()
    ) {
        let mut shuffled = charges.clone();
        let mut state = seed;
        for i in (1..shuffled.len()).rev() {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            shuffled.swap(i, (state >> 33) as usize % (i + 1));
        }
        prop_assert_eq!(total(&charges), total(&shuffled));
    }

    #[test]
    fn the_smaller_of_basic_and_zcdp_is_reported(
        charges in prop::collection::vec(any_charge(), 1..40), delta in 1e-9..1e-3
    ) {
        let all = total(&charges);
        let (spent, composition) = all.smaller(delta);
        let basic = all.basic();
        let zcdp = all.zcdp(delta);
        if basic.delta <= amount(delta) {
            prop_assert!(spent.epsilon <= basic.epsilon);
            prop_assert!(spent.delta <= amount(delta));
        }
        if let Some(zcdp) = &zcdp {
            prop_assert!(spent.epsilon <= zcdp.epsilon || basic.delta <= amount(delta));
        }
        let expected = if composition == "basic" { &basic } else { zcdp.as_ref().unwrap() };
        prop_assert_eq!(&spent, expected);
    }

    /// To 1e-12: the conversion is minimised numerically, each value a valid bound.
    #[test]
    fn one_more_charge_never_lowers_a_total(
        charges in prop::collection::vec(any_charge(), 1..20), more in any_charge()
    ) {
        const DELTA: f64 = 1e-3;
        let all = total(&charges);
        let with = all.with(&more).unwrap();
        prop_assert!(with.basic().epsilon > all.basic().epsilon);
        prop_assert!(with.basic().delta >= all.basic().delta);
        prop_assert!(with.weakest() >= all.weakest());
        if let (Some(before), Some(after)) = (all.zcdp(DELTA), with.zcdp(DELTA)) {
            prop_assert!(after.epsilon.up() >= before.epsilon.up() * (1.0 - 1e-12));
        }
    }

    /// Every α is valid, so the minimum is below each; and a smaller δ costs more.
    #[test]
    fn the_conversion_is_a_minimum_over_orders_and_falls_with_delta(
        ln_rho in -14.0..4.0f64, ln_delta in -40.0..-1.0f64, ln_a in -8.0..8.0f64
    ) {
        let (rho, delta, a) = (ln_rho.exp(), ln_delta.exp(), ln_a.exp());
        let at = (1.0 + a) * rho + (-delta.ln() - a.ln_1p()) / a - (1.0 / a).ln_1p();
        prop_assert!(zcdp_epsilon(rho, delta) <= at.max(0.0) * (1.0 + 1e-12) + 1e-12);
        prop_assert!(zcdp_epsilon(rho, delta / 2.0) >= zcdp_epsilon(rho, delta) * (1.0 - 1e-12));
    }

    #[test]
    fn decimals_add_up_as_integers_do(parts in prop::collection::vec(1..10_000_000i64, 1..60)) {
        let decimal = |n: i64| Amount::new(n as f64 / 1e6).unwrap();
        let sum = parts.iter().fold(Amount::ZERO, |sum, &n| sum.plus(&decimal(n)));
        prop_assert_eq!(&sum, &decimal(parts.iter().sum()));
        let rest = parts[1..].iter().fold(sum, |sum, &n| sum.minus(&decimal(n)));
        prop_assert_eq!(rest, decimal(parts[0]));
    }

    #[test]
    fn every_f64_is_its_own_bound_from_both_sides(bits in any::<u64>(), more in 0.0..1e9f64) {
        let x = f64::from_bits(bits & !(1 << 63));
        prop_assume!(x.is_finite());
        prop_assert_eq!(amount(x).up(), x);
        prop_assert_eq!(amount(x).down(), x);
        let sum = amount(x).plus(&amount(more));
        prop_assert!(amount(sum.down()) <= sum);
        prop_assert!(sum.up().is_infinite() || amount(sum.up()) >= sum);
    }
}
