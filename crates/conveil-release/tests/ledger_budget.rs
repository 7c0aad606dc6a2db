//! What fits a budget, what an account says, and what the file hands out.

mod neighbours;
mod scratch;

use conveil_release::ledger::{
    Amount, Basis, Budget, Charge, Charges, Composition, Error, Head, Ledger, NotDurable,
};
use neighbours::{claim, demands};
use proptest::prelude::*;
use scratch::Scratch;
use sha2::{Digest, Sha256};

const NAME: &str = "loads-2026";

fn laplace(epsilon: f64) -> Charge {
    Charge::laplace(epsilon, &claim(Basis::Certificate)).unwrap()
}

fn elsewhere(epsilon: f64, delta: f64, rho: Option<f64>, basis: Basis) -> Charge {
    let charge = Charge::elsewhere(epsilon, delta, rho, &claim(basis));
    charge.unwrap().planned()
}

fn memory(epsilon: f64, delta: f64) -> NotDurable {
    let mut ledger = NotDurable::default();
    let budget = Budget::new(epsilon, delta, &demands()).unwrap();
    ledger.init(NAME, &budget).unwrap();
    ledger
}

#[test]
fn ten_charges_of_a_tenth_fit_a_budget_of_one_and_not_one_more() {
    let mut ledger = memory(1.0, 0.0);
    for id in 1..=10 {
        assert_eq!(ledger.charge(NAME, &laplace(0.1)).unwrap().id(), id);
    }
    let account = ledger.account(NAME).unwrap();
    assert_eq!(account.spent.unwrap().epsilon, Amount::new(1.0).unwrap());
    assert_eq!(account.fits, 0.0);
    let error = ledger.charge(NAME, &laplace(5e-324)).unwrap_err();
    assert!(error.is_over_budget());
    assert_eq!(ledger.account(NAME).unwrap().charges, 10);
}

#[test]
fn a_pure_budget_refuses_every_delta() {
    let mut ledger = memory(10.0, 0.0);
    for charge in [
        Charge::gaussian(0.1, 1e-9, 1e-3, &claim(Basis::Certificate)).unwrap(),
        Charge::truncated_laplace(0.1, 1e-300, &claim(Basis::Certificate)).unwrap(),
    ] {
        let error = ledger.charge(NAME, &charge).unwrap_err();
        assert!(matches!(error, Error::PureOnly { .. }) && error.is_over_budget());
    }
    assert_eq!(ledger.account(NAME).unwrap().charges, 0);
}

#[test]
fn a_gaussian_charge_of_the_whole_budget_fits_once() {
    let mut ledger = memory(1.0, 1e-5);
    let gaussian = Charge::gaussian(1.0, 1e-5, 0.0325, &claim(Basis::Certificate)).unwrap();
    ledger.charge(NAME, &gaussian).unwrap();
    assert!(ledger.charge(NAME, &gaussian).unwrap_err().is_over_budget());
}

/// n charges of 0.1 are n/200-zCDP: at δ = 1e-6, ε = 5.98070 for n = 127 and 6.00752 for n = 128 (computed elsewhere).
#[test]
fn zcdp_admits_more_than_basic_composition_and_stops_at_the_budget() {
    let mut ledger = memory(6.0, 1e-6);
    let admitted = (0..200)
        .take_while(|_| ledger.charge(NAME, &laplace(0.1)).is_ok())
        .count();
    assert_eq!(admitted, 127);
    let account = ledger.account(NAME).unwrap();
    assert_eq!(account.composition, Some("zcdp"));
    assert!(account.fits < 0.1);
    if account.fits > 0.0 {
        ledger.charge(NAME, &laplace(account.fits)).unwrap();
    }

    let mut basic = NotDurable::default();
    let budget = Budget::new(6.0, 1e-6, &demands()).unwrap().basic();
    assert_eq!(budget.composition(), Composition::Basic);
    basic.init(NAME, &budget).unwrap();
    let admitted = (0..200)
        .take_while(|_| basic.charge(NAME, &laplace(0.1)).is_ok())
        .count();
    assert_eq!(admitted, 60);
}

#[test]
fn a_total_is_named_by_its_weakest_basis() {
    let mut ledger = memory(10.0, 0.0);
    assert_eq!(ledger.account(NAME).unwrap().basis, None);
    // Paper mode claims nothing: `paper_mode_bounds_no_total`.
    for (i, basis) in Basis::ALL.into_iter().take(3).enumerate() {
        let charge = Charge::laplace(0.5 + i as f64, &claim(basis))
            .unwrap()
            .planned();
        ledger.charge(NAME, &charge).unwrap();
        let strong = Charge::laplace(0.25, &claim(Basis::Certificate)).unwrap();
        ledger.charge(NAME, &strong).unwrap();
        let account = ledger.account(NAME).unwrap();
        assert_eq!(account.basis, Some(basis));
        assert_eq!(account.all.unwrap().basis, basis);
    }
    let account = ledger.account(NAME).unwrap();
    let apart: Vec<_> = account
        .by_basis
        .iter()
        .chain(&account.all)
        .map(|row| (row.basis, row.charges, row.basic.epsilon.up()))
        .collect();
    let expected = [
        (Basis::Certificate, 4, 1.25),
        (Basis::Declared, 1, 1.5),
        (Basis::Sampled, 1, 2.5),
        (Basis::Sampled, 6, 5.25),
    ];
    assert_eq!(apart, expected);
    assert!(
        account
            .to_string()
            .contains("ε = 5.25, δ = 0 by basic composition, basis: sampled")
    );
}

/// A claimed ε of paper mode can be many times smaller than the true one: no total counts it, and its budget refuses.
#[test]
fn paper_mode_bounds_no_total() {
    let scratch = Scratch::new();
    let budget = Budget::new(10.0, 0.0, &demands()).unwrap();
    let mut ledger = Ledger::init(scratch.file("b.sqlite"), NAME, &budget).unwrap();
    ledger
        .spend(NAME, &elsewhere(0.5, 0.0, None, Basis::PaperMode))
        .unwrap();
    let account = ledger.account(NAME).unwrap();
    assert!(account.spent.is_none(), "{account}");
    assert!(account.to_string().contains("paper mode"), "{account}");
    let refused = ledger.charge(NAME, &laplace(0.1)).unwrap_err();
    assert!(refused.to_string().contains("paper mode"), "{refused}");
}

#[test]
fn a_spend_made_elsewhere_is_recorded_even_over_budget() {
    let scratch = Scratch::new();
    let budget = Budget::new(1.0, 0.0, &demands()).unwrap();
    let mut ledger = Ledger::init(scratch.file("b.sqlite"), NAME, &budget).unwrap();
    let within = ledger
        .spend(NAME, &elsewhere(0.75, 0.0, None, Basis::Declared))
        .unwrap();
    assert!(!within.over_budget());
    let over = ledger
        .spend(NAME, &elsewhere(0.5, 1e-7, Some(0.01), Basis::Sampled))
        .unwrap();
    assert!(over.over_budget() && over.id() == 2);
    assert!(
        ledger
            .charge(NAME, &laplace(1e-9))
            .unwrap_err()
            .is_over_budget()
    );
    let account = ledger.verify(Some((NAME, over.head()))).unwrap().remove(0);
    assert_eq!(account.spent.unwrap().epsilon, Amount::new(1.25).unwrap());
    assert_eq!((account.basis, account.fits), (Some(Basis::Sampled), 0.0));
}

#[test]
fn memory_and_file_agree_on_every_charge() {
    let scratch = Scratch::fast();
    let budget = Budget::new(3.0, 1e-5, &demands()).unwrap();
    let mut file = Ledger::init(scratch.file("b.sqlite"), NAME, &budget).unwrap();
    let mut memory = memory(3.0, 1e-5);
    let (mut admitted, mut refused) = (0, 0);
    for i in 0..60u32 {
        let epsilon = f64::from(i * 37 % 11 + 1) / 40.0;
        let charge = match i % 3 {
            0 => laplace(epsilon),
            1 => Charge::gaussian(
                epsilon,
                1e-6,
                epsilon * epsilon / 40.0,
                &claim(Basis::Sampled),
            )
            .unwrap()
            .planned(),
            _ => Charge::truncated_laplace(epsilon, 1e-6, &claim(Basis::Declared)).unwrap(),
        };
        match (file.charge(NAME, &charge), memory.charge(NAME, &charge)) {
            (Ok(one), Ok(other)) => {
                assert!(one.durable() && !other.durable());
                assert_eq!(one.id(), other.id());
                assert_ne!(one.head(), other.head(), "each has its own nonce");
                admitted += 1;
            }
            (Err(one), Err(other)) => {
                assert_eq!(one.to_string(), other.to_string());
                refused += 1;
            }
            (one, other) => panic!("{one:?} {other:?}"),
        }
    }
    assert!(admitted > 5 && refused > 5, "{admitted} {refused}");
    let (mut one, other) = (file.account(NAME).unwrap(), memory.account(NAME).unwrap());
    one.head = other.head;
    assert_eq!(one.to_string(), other.to_string());
}

#[test]
fn accounts_and_exports_read_as_json() {
    let scratch = Scratch::new();
    let path = scratch.file("b.sqlite");
    let budget = Budget::new(1.0, 1e-6, &demands()).unwrap();
    Ledger::init(&path, "other", &budget).unwrap();
    let mut ledger = Ledger::init(&path, NAME, &budget).unwrap();
    let gaussian = Charge::gaussian(0.3, 1e-7, 0.002, &claim(Basis::Declared)).unwrap();
    let first = ledger.charge(NAME, &gaussian).unwrap();
    ledger.charge(NAME, &laplace(0.1)).unwrap();
    let account: serde_json::Value = serde_json::to_value(ledger.account(NAME).unwrap()).unwrap();
    assert_eq!(account["budget"]["composition"], "smaller");
    assert_eq!(account["basis"], "declared");
    assert_eq!(account["all"]["basic"]["epsilon"], 0.4);
    let lines = ledger.export(Some(NAME)).unwrap();
    let lines: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[1]["charge"]["head"], first.head().to_string());
    assert_eq!(lines[1]["charge"]["mechanism"], "gaussian");
    assert_eq!(lines[2]["charge"]["rho"], serde_json::Value::Null);
    let mut keys: Vec<&String> = lines[2]["charge"].as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(
        keys,
        [
            "basis",
            "day",
            "delta",
            "epsilon",
            "head",
            "holds",
            "id",
            "mechanism",
            "neighbourhood",
            "nonce",
            "part",
            "planned",
            "rho",
            "series"
        ],
        "charges and nothing else"
    );
    assert_eq!(ledger.export(None).unwrap().lines().count(), 4);
    assert_eq!(ledger.datasets().unwrap(), [NAME, "other"]);
    assert_eq!(ledger.accounts().unwrap().len(), 2);
}

/// SHA-256 over the fields, each after its length.
fn recipe(fields: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for field in fields {
        hasher.update((field.len() as u64).to_be_bytes());
        hasher.update(field);
    }
    let hash = hasher.finalize();
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn heads_follow_the_written_recipe() {
    let scratch = Scratch::new();
    let budget = Budget::new(1.0, 1e-6, &demands()).unwrap();
    let mut ledger = Ledger::init(scratch.file("b.sqlite"), NAME, &budget).unwrap();
    let neighbourhood = r#"{"adjacency":"one-entry","alpha":"1e1","unit":"MW","numbers":17,"called":"demand","universe":"the winter days"}"#;
    let genesis = recipe(&[
        "conveil ledger 2 budget",
        NAME,
        "1e0",
        "1e-6",
        "smaller",
        neighbourhood,
    ]);
    assert_eq!(ledger.account(NAME).unwrap().head.to_string(), genesis);
    let receipt = ledger
        .charge(
            NAME,
            &Charge::gaussian(0.3, 1e-7, 0.002, &claim(Basis::Sampled)).unwrap(),
        )
        .unwrap();
    let export = ledger.export(None).unwrap();
    let charge: serde_json::Value = serde_json::from_str(export.lines().last().unwrap()).unwrap();
    let day = charge["charge"]["day"].as_str().unwrap();
    let nonce = charge["charge"]["nonce"].as_str().unwrap();
    assert_eq!(nonce.len(), 32);
    let terms = format!(
        r#"{{"scope":{{"neighbourhood":{neighbourhood},"holds":"sampled","gamma":"1e-6","beta":"1e-6","pairs":"uniform, then a neighbour by the adjacency"}},"planned":false}}"#
    );
    let expected = recipe(&[
        "conveil ledger 2 charge",
        &genesis,
        NAME,
        "1",
        day,
        "gaussian",
        "3e-1",
        "1e-7",
        "2e-3",
        "sampled",
        nonce,
        &terms,
    ]);
    assert_eq!(receipt.head().to_string(), expected);
    assert_eq!(expected.parse::<Head>().unwrap(), *receipt.head());
    for wrong in ["", "00", &"g".repeat(64), &"é".repeat(32)] {
        assert!(wrong.parse::<Head>().is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whole numbers of millionths are the second road: a charge is admitted exactly where they say so.
    #[test]
    fn rounding_never_lets_a_total_exceed_the_budget(
        budget in 1..3_000_000i64, parts in prop::collection::vec(1..400_000i64, 1..40)
    ) {
        let mut ledger = memory(budget as f64 / 1e6, 0.0);
        let mut spent = 0;
        for part in parts {
            let admitted = ledger.charge(NAME, &laplace(part as f64 / 1e6)).is_ok();
            prop_assert_eq!(admitted, spent + part <= budget);
            spent += if admitted { part } else { 0 };
        }
        let left = ledger.account(NAME).unwrap().fits;
        prop_assert_eq!(left, (budget - spent) as f64 / 1e6);
    }

    /// Whatever was admitted, the account's own total stays within the budget, and what it says fits does fit.
    #[test]
    fn what_is_admitted_stays_within_the_budget_and_what_fits_fits(
        epsilon in 0.1..5.0f64, delta in prop_oneof![Just(0.0), 1e-9..1e-3],
        parts in prop::collection::vec((0..3, 1e-3..1.0f64, 1e-10..1e-4f64), 1..40)
    ) {
        let mut ledger = memory(epsilon, delta);
        for (kind, e, d) in parts {
            let charge = match kind {
                0 => laplace(e),
                1 => Charge::gaussian(e, d, e * e / 30.0, &claim(Basis::Sampled)).unwrap().planned(),
                _ => Charge::truncated_laplace(e, d, &claim(Basis::Declared)).unwrap(),
            };
            let _ = ledger.charge(NAME, &charge);
            let account = ledger.account(NAME).unwrap();
            let spent = account.spent.unwrap();
            prop_assert!(spent.epsilon <= Amount::new(epsilon).unwrap());
            prop_assert!(spent.delta <= Amount::new(delta).unwrap());
        }
        let fits = ledger.account(NAME).unwrap().fits;
        if fits > 0.0 {
            prop_assert!(ledger.clone().charge(NAME, &laplace(fits)).is_ok());
            prop_assert!(ledger.charge(NAME, &laplace(fits * 1.001)).is_err());
        }
    }
}
