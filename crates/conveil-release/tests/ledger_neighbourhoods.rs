//! Accounting between neighbours (M16): what converts, what does not, and that each false shortcut is false.

mod models;
mod neighbours;

use conveil::ask::{Adjacency, Privacy};
use conveil::plan::Plan;
use conveil_release::ledger::{
    Account, Amount, Basis, Budget, Charge, Charges, Claim, Equal, Holds, Neighbourhood,
    NotDurable, Part, Relation, Scope, Total, optimal_epsilon,
};
use conveil_release::{Stating, charge, charge_series, charge_stating};
use neighbours::{between, everywhere};

const NAME: &str = "loads-2026";

fn entry(alpha: f64) -> Neighbourhood {
    between(Relation::OneEntry { alpha })
}

fn l2(alpha: f64) -> Neighbourhood {
    between(Relation::L2 { alpha })
}

fn records() -> Neighbourhood {
    Neighbourhood::new(Relation::OneRecord { record: 3 }, 300, "patients").unwrap()
}

fn laplace(epsilon: f64, neighbourhood: Neighbourhood) -> Charge {
    Charge::laplace(epsilon, &everywhere(neighbourhood)).unwrap()
}

fn amount(x: f64) -> Amount {
    Amount::new(x).unwrap()
}

fn ledger(epsilon: f64, delta: f64, about: &Neighbourhood) -> NotDurable {
    let mut ledger = NotDurable::default();
    let budget = Budget::new(epsilon, delta, about).unwrap();
    ledger.init(NAME, &budget).unwrap();
    ledger
}

fn spent(account: &Account) -> f64 {
    account.spent.as_ref().unwrap().epsilon.up()
}

/// The three charges that once read "spent ε = 3": no neighbourhood makes that true but the smallest.
#[test]
fn totals_are_per_neighbourhood_and_follow_the_conversions() {
    let charges = [
        laplace(1.0, entry(1000.0)),
        laplace(1.0, entry(0.001)),
        laplace(1.0, l2(0.001)),
    ];
    for (asked, total) in [
        (entry(0.001), 3.0),
        (entry(1000.0), 2_000_001.0),
        // One entry to ℓ₂ over 17 numbers: 16 + ⌈√17·0.001/1000⌉, 16 + ⌈√17⌉, and itself.
        (l2(0.001), 17.0 + 21.0 + 1.0),
        // One entry to ℓ₁: 16 + 1, 16 + 1, and itself.
        (between(Relation::L1 { alpha: 0.001 }), 17.0 + 17.0 + 1.0),
    ] {
        let found = Total::of(&asked, &charges).unwrap();
        assert_eq!(found.basic().epsilon, amount(total), "{asked}");
        let mut ledger = ledger(1e7, 0.0, &asked);
        for charge in &charges {
            ledger.charge(NAME, charge).unwrap();
        }
        let account = ledger.account(NAME).unwrap();
        assert_eq!(spent(&account), total);
        // Every other line is there too.
        assert_eq!(account.neighbourhoods.len(), 3);
        assert_eq!(
            account.neighbourhoods[1].spent.as_ref().unwrap().epsilon,
            amount(3.0)
        );
        let shown = account.to_string();
        assert!(shown.contains(&format!("between  {asked}")), "{shown}");
    }
    // **False: adding ε across adjacencies.** One number, released three times with Laplace noise of scale α'/ε: at a
    // distance of 1000 the loss is the sum of 1000/α', not 3.
    let loss: f64 = [1000.0, 0.001, 0.001]
        .iter()
        .map(|alpha| 1000.0 / alpha)
        .sum();
    let naive: f64 = charges.iter().map(Charge::epsilon).sum();
    assert!(naive < loss);
    let total = Total::of(&entry(1000.0), &charges).unwrap().basic();
    assert!(total.epsilon >= amount(loss));
}

/// The loss of Laplace noise at m steps is mε with certainty: m charges of ε, composed, would promise less.
#[test]
fn a_wider_neighbourhood_counts_as_one_larger_charge() {
    let (epsilon, m, delta) = (0.1, 40u64, 1e-6);
    let charge = laplace(epsilon, entry(1.0));
    let total = Total::of(&entry(m as f64), [&charge]).unwrap();
    assert_eq!(total.basic().epsilon, amount(4.0));
    // zCDP of one charge of 4, not of 40 charges of 0.1.
    assert!((total.rho().up() - 8.0).abs() < 1e-9, "{:?}", total.rho());
    let (found, composition) = total.smaller(delta);
    assert_eq!((composition, found.epsilon), ("basic", amount(4.0)));
    // **False: m separate charges.**
    let many = optimal_epsilon(&[Equal { epsilon, count: m }], delta);
    let far = epsilon * m as f64;
    // Laplace noise: δ(ε_g) = 1 − e^{(ε_g − mε)/2} at a distance of m steps.
    let truth = -(0.5 * (many - far)).exp_m1();
    assert!(many < far && truth > 1000.0 * delta, "{many} {truth}");
    // A declared series over m steps: each release is one larger charge.
    let series = Charge::series(&vec![charge; 3], Some(delta)).unwrap();
    let total = Total::of(&entry(m as f64), [&series]).unwrap();
    let right = optimal_epsilon(
        &[Equal {
            epsilon: far,
            count: 3,
        }],
        delta,
    );
    assert!(total.optimal().epsilon.up() >= right.min(3.0 * far) * (1.0 - 1e-9));
}

/// (ε, δ) over m steps, against truncated Laplace noise on a lattice, which attains it.
#[test]
fn an_approximate_charge_over_m_steps_is_attained_by_truncated_noise() {
    let (epsilon, reach) = (0.5f64, 30i64);
    let weight = |j: i64| {
        if j.abs() <= reach {
            (-epsilon * j.abs() as f64).exp()
        } else {
            0.0
        }
    };
    let whole: f64 = (-reach..=reach).map(weight).sum();
    let delta_at = |steps: i64| -> f64 {
        let far = (epsilon * steps as f64).exp();
        let cells = -reach..=reach + steps;
        // Where both have mass the difference is 0 or below, up to rounding.
        let excess = |j: i64| match weight(j) - far * weight(j + steps) {
            over if over > 1e-9 * weight(j) => over / whole,
            _ => 0.0,
        };
        cells.map(excess).sum()
    };
    let delta = delta_at(1);
    let charge = Charge::truncated_laplace(epsilon, delta, &everywhere(entry(1.0))).unwrap();
    for m in [2u64, 3, 7, 20] {
        let counted = Total::of(&entry(m as f64), [&charge]).unwrap().basic();
        assert_eq!(counted.epsilon, amount(epsilon).times(m));
        let truth = delta_at(m as i64);
        let found = counted.delta.up();
        assert!(
            found >= truth * (1.0 - 1e-12) && found <= truth * (1.0 + 1e-9),
            "{m}: {found} {truth}"
        );
        // **False: δ as it was, or m times δ.**
        assert!(truth > m as f64 * delta);
    }
}

/// Gaussian noise over m steps: ρ counts m² times, and the (ε, δ) that follows covers the exact curve.
#[test]
fn a_gaussian_charge_over_m_steps_counts_m_squared_rho() {
    let (rho, delta) = (0.02f64, 1e-6);
    let claim = everywhere(entry(1.0));
    let charge = Charge::gaussian(1.0, delta, rho, &claim).unwrap();
    let total = Total::of(&entry(3.0), [&charge]).unwrap();
    assert_eq!(total.rho(), amount(0.02).times(9));
    let basic = total.basic();
    assert!(basic.epsilon < amount(3.0) && basic.delta == amount(delta));
    // Bun and Steinke's ρ + 2√(ρ ln 1/δ) is above it, the exact Gaussian curve below.
    let nine = 9.0 * rho;
    assert!(basic.epsilon.up() <= nine + 2.0 * (nine * (1.0 / delta).ln()).sqrt());
    let exact =
        conveil::noise::gaussian_delta((2.0 * nine).sqrt(), 1.0, basic.epsilon.up()).unwrap();
    assert!(exact <= delta, "{exact}");
}

#[test]
fn sampled_and_conditional_charges_are_never_stretched() {
    let inside = |n: Neighbourhood| n.inside("the winter days").unwrap();
    let claim = |basis, holds, neighbourhood| {
        Claim::stated(
            basis,
            Scope {
                neighbourhood,
                holds,
            },
        )
        .unwrap()
    };
    let given = claim(Basis::Declared, Holds::GivenAnAnswer, entry(1.0));
    let sampled = claim(
        Basis::Sampled,
        Holds::sampled(0.1, 0.05).unwrap(),
        inside(entry(1.0)),
    );
    let charge = |claim: &Claim| Charge::laplace(0.1, claim).unwrap();
    // Themselves, and for a conditional one every smaller neighbourhood.
    assert!(Total::of(&entry(1.0), [&charge(&given)]).is_ok());
    assert!(Total::of(&entry(0.5), [&charge(&given)]).is_ok());
    assert!(Total::of(&inside(entry(1.0)), [&charge(&sampled)]).is_ok());
    // **False: converting them.**
    for (asked, claim) in [
        (entry(2.0), &given),
        (l2(1.0), &given),
        (inside(entry(2.0)), &sampled),
        (inside(entry(0.5)), &sampled),
        (entry(1.0), &sampled),
        (entry(1.0).inside("the summer days").unwrap(), &sampled),
    ] {
        let why = Total::of(&asked, [&charge(claim)]).unwrap_err();
        assert!(
            why.contains("answer was produced")
                || why.contains("sampled")
                || why.contains("universe"),
            "{why}"
        );
        let mut ledger = ledger(10.0, 0.0, &asked);
        let error = ledger.charge(NAME, &charge(claim)).unwrap_err();
        assert!(
            error.is_over_budget() && error.to_string().contains("not bounded"),
            "{error}"
        );
        assert!(
            error.to_string().contains("this charge: it holds"),
            "{error}"
        );
    }
    // γ's and β's add up, for charges that were planned; one that may follow an answer is refused.
    let mut ledger = ledger(10.0, 0.0, &inside(entry(1.0)));
    ledger.charge(NAME, &charge(&sampled)).unwrap();
    let error = ledger
        .charge(NAME, &charge(&sampled))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("may have been chosen after an answer was seen"),
        "{error}"
    );
    ledger.charge(NAME, &charge(&sampled).planned()).unwrap();
    let left_out = ledger.account(NAME).unwrap().left_out.unwrap();
    assert_eq!((left_out.gamma, left_out.beta), (amount(0.2), amount(0.1)));
    for _ in 0..7 {
        ledger.charge(NAME, &charge(&sampled).planned()).unwrap();
    }
    let error = ledger
        .charge(NAME, &charge(&sampled).planned())
        .unwrap_err();
    assert!(error.to_string().contains("add up to 1 or more"), "{error}");
}

/// One charge that cannot be counted makes the whole line not bounded, and the budget refuses all that follows.
#[test]
fn a_line_with_a_charge_that_does_not_convert_is_not_bounded() {
    let asked = entry(1.0);
    let mut memory = ledger(10.0, 0.0, &asked);
    memory.charge(NAME, &laplace(0.5, asked.clone())).unwrap();
    let other = Neighbourhood::new(Relation::OneEntry { alpha: 1.0 }, 5, "price").unwrap();
    let refused = memory
        .charge(NAME, &laplace(0.1, other.clone()))
        .unwrap_err();
    assert!(
        refused.to_string().contains("other private numbers"),
        "{refused}"
    );
    assert!(
        refused.to_string().contains("--called 'price'"),
        "{refused}"
    );
    // A spend made elsewhere is recorded all the same: it happened.
    let scratch = std::env::temp_dir().join(format!("conveil-mixed-{}", std::process::id()));
    let _ = std::fs::remove_file(&scratch);
    let budget = Budget::new(10.0, 0.0, &asked).unwrap();
    let mut file = conveil_release::ledger::Ledger::init(&scratch, NAME, &budget).unwrap();
    file.charge(NAME, &laplace(0.5, asked.clone())).unwrap();
    let elsewhere = Charge::elsewhere(0.1, 0.0, None, &everywhere(other)).unwrap();
    assert!(file.spend(NAME, &elsewhere).unwrap().over_budget());
    let account = file.account(NAME).unwrap();
    assert!(account.spent.is_none() && account.fits == 0.0);
    assert_eq!(account.not_bounded.as_ref().unwrap().charge, Some(2));
    assert!(
        account
            .to_string()
            .contains("spent    not bounded; charge 2: "),
        "{account}"
    );
    let error = file.charge(NAME, &laplace(1e-9, asked)).unwrap_err();
    assert!(
        error.is_over_budget() && error.to_string().contains("charge 2: "),
        "{error}"
    );
    std::fs::remove_file(&scratch).unwrap();
}

#[test]
fn disjoint_parts_count_by_the_largest_and_only_for_one_entry_or_record() {
    let part = |name: &str| Part::fixed(name).unwrap();
    let hour = |epsilon: f64, name: &str| laplace(epsilon, entry(1.0)).in_part(part(name)).unwrap();
    let charges = [
        hour(0.3, "hour 1"),
        hour(0.5, "hour 2"),
        hour(0.4, "hour 1"),
        laplace(0.1, entry(1.0)),
    ];
    // Inside a part they add up, the largest part counts, and what has no part counts in all.
    let total = Total::of(&entry(1.0), &charges).unwrap();
    assert_eq!(total.basic().epsilon, amount(0.8));
    assert!(total.has_parts());
    assert_eq!(
        Total::of(&entry(2.0), &charges).unwrap().basic().epsilon,
        amount(1.6)
    );
    // **False: the maximum for ℓ₁ and ℓ₂.** Neighbours differ in all parts at once, so all of them add up: two hours that
    // move by 1/√2 each, Laplace noise of scale 1/ε on either, have a loss of √2·ε together.
    let two = [hour(0.5, "hour 1"), hour(0.5, "hour 2")];
    let loss = 2.0 * 0.5 / 2.0f64.sqrt();
    assert!(loss > 0.5, "the maximum is no bound");
    for asked in [l2(1.0), between(Relation::L1 { alpha: 1.0 })] {
        let total = Total::of(&asked, &two).unwrap();
        assert!(!total.has_parts() && total.basic().epsilon >= amount(loss));
        assert!(total.basic().epsilon >= amount(1.0));
    }
    // Records: the same, and the two largest where a replaced record may leave its part.
    let region = |epsilon: f64, part: Part| laplace(epsilon, records()).in_part(part).unwrap();
    let stay = ["north", "south", "west"].map(part);
    let leave = ["north", "south", "west"].map(|n| Part::that_records_may_leave(n).unwrap());
    for (parts, expected) in [(stay, 0.5), (leave, 0.9)] {
        let amounts = [0.5, 0.2, 0.4];
        let charges: Vec<Charge> = parts
            .into_iter()
            .zip(amounts)
            .map(|(part, e)| region(e, part))
            .collect();
        let total = Total::of(&records(), &charges).unwrap();
        assert_eq!(total.basic().epsilon, amount(expected));
    }
}

#[test]
fn parts_are_for_one_entry_and_one_record_only() {
    let any = Neighbourhood::new(Relation::Universe, 17, "demand").unwrap();
    for neighbourhood in [
        between(Relation::L1 { alpha: 1.0 }),
        l2(1.0),
        any.inside("the winter days").unwrap(),
    ] {
        let charge = laplace(0.1, neighbourhood);
        let why = charge
            .in_part(Part::fixed("hour 1").unwrap())
            .unwrap_err()
            .to_string();
        assert!(why.contains("differ in several parts at once"), "{why}");
    }
    let why = laplace(0.1, entry(1.0)).in_part(Part::fixed("hour {row}").unwrap());
    assert!(why.unwrap_err().to_string().contains("and this is none"));
}

/// Every outcome of randomised responses with these ε's, as a pair of a loss and its probability.
fn losses(epsilons: &[f64]) -> Vec<(f64, f64)> {
    let mut all = vec![(0.0, 1.0)];
    for e in epsilons {
        let (truth, lie) = (1.0 / (1.0 + (-e).exp()), 1.0 / (1.0 + e.exp()));
        all = all
            .iter()
            .flat_map(|(loss, p)| [(loss + e, p * truth), (loss - e, p * lie)])
            .collect();
    }
    all
}

fn delta_of(losses: &[(f64, f64)], epsilon: f64) -> f64 {
    losses
        .iter()
        .map(|(loss, p)| f64::max(0.0, p * -(epsilon - loss).exp_m1()))
        .sum()
}

/// **False: optimal composition for amounts chosen along the way.** A first answer at ε = 0.1, then either 3 answers or 6,
/// as the first one tells. Either plan, fixed in advance, keeps ε = 1 at δ = 0.01; the choice between them does not.
#[test]
fn optimal_composition_is_false_for_amounts_chosen_along_the_way() {
    let (first, three, six) = (0.1, 0.333_749_385, 0.227_863_150);
    for (epsilon, count) in [(three, 3), (six, 6)] {
        let amounts = [
            Equal {
                epsilon: first,
                count: 1,
            },
            Equal { epsilon, count },
        ];
        let mut all = vec![first];
        all.extend(vec![epsilon; count as usize]);
        assert!(delta_of(&losses(&all), 1.0) <= 0.01);
        // Promised, but for the grid.
        assert!(optimal_epsilon(&amounts, 0.01) < 1.0 + 0.01);
    }
    let truth = 1.0 / (1.0 + (-first).exp());
    let after = |loss: f64, epsilon: f64, count: usize| {
        delta_of(&losses(&vec![epsilon; count]), 1.0 - loss)
    };
    let delta = truth * after(first, three, 3) + (1.0 - truth) * after(-first, six, 6);
    assert!((delta - 0.0133).abs() < 1e-4, "{delta}");
    // So a ledger composes optimally inside one declared series only; two series add up.
    let series = Charge::series(&vec![laplace(0.1, entry(1.0)); 24], Some(1e-6)).unwrap();
    let once = Total::of(&entry(1.0), [&series]).unwrap().optimal();
    let twice = Total::of(&entry(1.0), [&series, &series])
        .unwrap()
        .optimal();
    assert_eq!(twice.epsilon, once.epsilon.times(2));
    assert_eq!(twice.delta, once.delta.times(2));
    let loose: Vec<Charge> = vec![laplace(0.1, entry(1.0)); 24];
    let loose = Total::of(&entry(1.0), &loose).unwrap();
    assert_eq!(loose.optimal(), loose.basic());
}

/// A day of 24 hours at ε = 0.1 with δ = 1e-6: its sum is 2.4, and the smallest of sum, zCDP and optimum is charged.
#[test]
fn a_day_of_24_hours_is_charged_whole_and_costs_less() {
    let map = models::limit();
    let plan = models::plan(&map, limit_ask(0.1));
    let about = Neighbourhood::of(&plan).unwrap();
    let plans = vec![&plan; 24];
    let mut ledger = ledger(2.0, 1e-6, &about);
    // 2.4 by the sum and 2.37 by zCDP are over; the optimum, 1.9961 (computed elsewhere), is not.
    let summed = charge_series(&plans, None, &Stating::default(), &mut ledger, NAME);
    assert!(is_over_budget(&summed.unwrap_err()));
    charge_series(&plans, Some(1e-6), &Stating::default(), &mut ledger, NAME).unwrap();
    let account = ledger.account(NAME).unwrap();
    assert!((spent(&account) - 1.996_143_096).abs() < 1e-8, "{account}");
    assert_eq!(account.composition, Some("optimal"));
    // Each hour in its own part: the day costs one hour.
    let mut parts = self::ledger(0.1, 0.0, &about);
    let stating = Stating {
        part: Some(Part::fixed("day 1, hour {row}").unwrap()),
        planned: false,
    };
    let charged = charge_series(&plans, None, &stating, &mut parts, NAME).unwrap();
    assert_eq!(charged.len(), 24);
    let account = parts.account(NAME).unwrap();
    assert_eq!((spent(&account), account.by_parts), (0.1, true));
    // Hour 7 again is over; the next day is not.
    let again = |name: &str| Stating {
        part: Some(Part::fixed(name).unwrap()),
        planned: false,
    };
    let over = charge_stating(&plan, &again("day 1, hour 7"), &mut parts, NAME);
    assert!(is_over_budget(&over.unwrap_err()));
    let next = charge_stating(&plan, &again("day 2, hour 7"), &mut parts, NAME);
    assert!(next.is_ok());
    // And a release without a part counts in all of them.
    assert!(is_over_budget(
        &charge(&plan, &mut parts, NAME).unwrap_err()
    ));
}

fn is_over_budget(error: &conveil_release::Error) -> bool {
    matches!(error, conveil_release::Error::Ledger(error) if error.is_over_budget())
}

fn limit_ask(epsilon: f64) -> conveil::ask::Ask {
    conveil::ask::Ask::cost()
        .adjacency(Adjacency::one_entry(1.0))
        .privacy(Privacy::laplace(epsilon))
        .declared(0.05, "for the test")
        .feasible(0.9)
}

/// What is not released of a series stays charged, and each card says that its charge is for all.
#[test]
fn an_interrupted_series_stays_charged_whole() {
    let map = models::limit();
    let plan = models::plan(&map, limit_ask(0.5));
    let scratch = std::env::temp_dir().join(format!("conveil-series-{}", std::process::id()));
    let _ = std::fs::remove_file(&scratch);
    let budget = Budget::new(2.0, 0.0, &Neighbourhood::of(&plan).unwrap()).unwrap();
    let mut file = conveil_release::ledger::Ledger::init(&scratch, NAME, &budget).unwrap();
    let plans = vec![&plan; 3];
    let mut charged = charge_series(&plans, None, &Stating::default(), &mut file, NAME).unwrap();
    let released = charged.remove(0).without_report().release(&[5.0]).unwrap();
    drop(charged);
    let card = released.card().to_string();
    assert!(
        card.contains(
            "series: release 1 of 3, declared in advance; its charge is for all 3 together"
        ),
        "{card}"
    );
    let json: serde_json::Value = serde_json::from_str(&released.card().to_json()).unwrap();
    assert_eq!(json["ledger"]["series"]["of"], 3);
    assert_eq!(json["adjacency"]["neighbourhood"]["kind"], "one-entry");
    assert_eq!(json["adjacency"]["neighbourhood"]["called"], "l");
    let account = file.account(NAME).unwrap();
    assert_eq!((spent(&account), account.charges), (1.5, 1));
    // Read back from the file, word for word.
    let again = conveil_release::ledger::Ledger::open(&scratch).unwrap();
    again.verify(None).unwrap();
    assert_eq!(spent(&again.account(NAME).unwrap()), 1.5);
    std::fs::remove_file(&scratch).unwrap();
}

#[test]
fn a_charge_carries_the_neighbourhood_of_its_plan() {
    let map = models::follower(2);
    for (adjacency, relation) in [
        (
            Adjacency::OneEntry { alpha: 3.0 },
            Relation::OneEntry { alpha: 3.0 },
        ),
        (Adjacency::L1 { alpha: 3.0 }, Relation::L1 { alpha: 3.0 }),
        (Adjacency::L2 { alpha: 3.0 }, Relation::L2 { alpha: 3.0 }),
        (
            Adjacency::OneRecord { len: 2 },
            Relation::OneRecord { record: 2 },
        ),
    ] {
        let ask = models::ask(Privacy::laplace(1.0), 1.0, None)
            .adjacency(adjacency)
            .unit("EUR");
        let plan = models::plan(&map, ask);
        let charge = conveil_release::charge_of(&plan).unwrap();
        let scope = charge.claim().scope().unwrap();
        assert_eq!(*scope.neighbourhood.relation(), relation);
        assert_eq!(scope.neighbourhood.numbers(), 2);
        assert_eq!(scope.neighbourhood.called(), "a0, a1");
        assert_eq!(scope.neighbourhood.unit(), Some("EUR"));
        // A declared bound says nothing of datasets without an answer.
        assert_eq!(scope.holds, Holds::GivenAnAnswer);
        assert_eq!(charge.basis(), Basis::Declared);
    }
    // An envelope has an answer for every dataset.
    let map = models::supply();
    let plan = Plan::new(&map, models::enveloped(Privacy::laplace(1.0))).unwrap();
    let charge = conveil_release::charge_of(&plan).unwrap();
    assert_eq!(charge.claim().scope().unwrap().holds, Holds::Everywhere);
    assert_eq!(charge.basis(), Basis::Certificate);
    // Many names are listed by a few and a hash of all.
    let many = models::follower(60);
    let plan = models::plan(&many, models::ask(Privacy::laplace(1.0), 1.0, None));
    let called = Neighbourhood::of(&plan).unwrap().called().to_string();
    assert!(
        called.starts_with("a0 … a59 (sha256 ") && called.len() < 120,
        "{called}"
    );
}

/// The ε that a refusal offers is one of the refused release, between its own neighbours: it fits, and hardly more does.
#[test]
fn what_fits_is_counted_as_the_release_counts() {
    for (own, text, left) in [
        (
            entry(0.1),
            "a pure charge of at most ε = 0.1 (which counts 10 times: α = 0.1 here, 1 in the budget) fits",
            0.1,
        ),
        (entry(1.0), "a pure charge of at most ε = 1 fits", 1.0),
        (entry(9.0), "a pure charge of at most ε = 1 fits", 1.0),
    ] {
        let mut ledger = ledger(1.0, 0.0, &entry(1.0));
        let refused = ledger.charge(NAME, &laplace(1.5, own.clone()));
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(&format!("instead: {text}")), "{refused}");
        let more = laplace(left * (1.0 + 1e-9), own.clone());
        assert!(ledger.charge(NAME, &more).is_err());
        ledger.charge(NAME, &laplace(left, own)).unwrap();
    }
    // From one entry to ℓ₂ over 17 numbers it is 16 + ⌈√17⌉ = 21 steps.
    let mut ledger = ledger(4.2, 0.0, &l2(1.0));
    let refused = ledger.charge(NAME, &laplace(1.0, entry(1.0)));
    let refused = refused.unwrap_err().to_string();
    let text = "at most ε = 0.2 (which counts 21 times: one-entry here, l2 in the budget) fits";
    assert!(refused.contains(text), "{refused}");
    ledger.charge(NAME, &laplace(0.2, entry(1.0))).unwrap();
}

/// Where one part is spent, another is not; what counts in all is taken from every part.
#[test]
fn an_unspent_part_has_what_the_whole_leaves() {
    let hour = |epsilon: f64, name: &str| {
        let part = Part::fixed(name).unwrap();
        laplace(epsilon, entry(1.0)).in_part(part).unwrap()
    };
    let mut ledger = ledger(1.0, 0.0, &entry(1.0));
    ledger.charge(NAME, &laplace(0.3, entry(1.0))).unwrap();
    ledger.charge(NAME, &hour(0.5, "hour 1")).unwrap();
    let said = |ledger: &mut NotDurable, charge: &Charge| {
        let refused = ledger.charge(NAME, charge).unwrap_err().to_string();
        refused.split("instead: ").nth(1).unwrap().to_string()
    };
    let text = said(&mut ledger, &hour(0.4, "hour 1"));
    assert_eq!(
        text,
        "a pure charge of at most ε = 0.2 fits in part `hour 1`"
    );
    ledger.charge(NAME, &hour(0.2, "hour 1")).unwrap();
    let unspent = "in a part that has not spent, a pure charge of at most ε = 0.7 fits";
    assert_eq!(
        said(&mut ledger, &hour(0.1, "hour 1")),
        format!("nothing more can be released from part `hour 1` under its budget; {unspent}")
    );
    assert_eq!(
        said(&mut ledger, &laplace(0.1, entry(1.0))),
        format!(
            "nothing more can be released from all of this dataset together under its budget; {unspent}"
        )
    );
    let account = ledger.account(NAME).unwrap();
    assert_eq!((account.fits, account.fits_in_new_part), (0.0, Some(0.7)));
    assert!(ledger.charge(NAME, &hour(0.7 + 1e-9, "hour 2")).is_err());
    ledger.charge(NAME, &hour(0.7, "hour 2")).unwrap();

    // A record that may leave its part for another meets both.
    let leaving = |epsilon: f64, name: &str| {
        let part = Part::that_records_may_leave(name).unwrap();
        laplace(epsilon, records()).in_part(part).unwrap()
    };
    let mut ledger = self::ledger(1.0, 0.0, &records());
    ledger.charge(NAME, &leaving(1.0, "region A")).unwrap();
    assert_eq!(
        said(&mut ledger, &leaving(0.1, "region B")),
        "nothing more can be released from this dataset under its budget"
    );
}

/// A name or a unit that differs is told as that: nothing is over, and both units can be seen.
#[test]
fn other_numbers_or_units_are_told_by_what_differs() {
    let of = |unit: Option<&str>, called: &str| {
        let own = Neighbourhood::new(Relation::OneRecord { record: 3 }, 300, called).unwrap();
        match unit {
            Some(unit) => own.in_unit(unit).unwrap(),
            None => own,
        }
    };
    let asked = of(Some("mg"), "patients");
    assert!(
        asked.to_string().contains("300 private numbers in mg"),
        "{asked}"
    );
    for (other, own) in [
        (
            of(None, "patients"),
            "300 numbers called 'patients', no unit",
        ),
        (
            of(Some("g"), "patients"),
            "300 numbers called 'patients', unit g",
        ),
        (
            of(Some("mg"), "visits"),
            "300 numbers called 'visits', unit mg",
        ),
    ] {
        assert_ne!(other.to_string(), asked.to_string());
        let mut ledger = ledger(1.0, 0.0, &asked);
        let refused = ledger.charge(NAME, &laplace(0.1, other)).unwrap_err();
        let text = refused.to_string();
        let budget = "300 numbers called 'patients', unit mg";
        assert!(
            refused.is_over_budget() && !text.contains("over budget"),
            "{text}"
        );
        assert!(
            text.contains(&format!("unit: {own}, not {budget}\n")),
            "{text}"
        );
        assert!(
            text.contains(&format!("if these are the numbers of the budget, give them its names and unit in the spec ({budget})")),
            "{text}"
        );
    }
}
