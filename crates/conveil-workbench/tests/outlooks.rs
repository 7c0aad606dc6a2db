//! How a classifier would do on a dataset: what is written into the spec is what was measured.

use conveil::curator::About;
use conveil::plan::Plan;
use conveil_models::files::Files;
use conveil_models::model::{Compared, Outlook};
use conveil_workbench::{Silent, Text, Workbench};

const COUNT: usize = 60;

/// Two overlapping classes, a third of the records positive; the same for everybody.
fn records() -> String {
    let mut text = String::from("wind,load,class\n");
    for i in 0..COUNT {
        let label = i % 3 == 0;
        let shift = if label { 4.0 } else { -4.0 };
        let wind = 12.5 + shift + 7.0 * (i as f64 * 1.7).sin();
        let load = 50.0 + 5.0 * shift + 60.0 * (i as f64 * 0.9).cos();
        text += &format!("{wind},{load},{}\n", u8::from(label));
    }
    text
}

fn spec(lambda: &str, feasibility: &str) -> String {
    format!(
        r#"
        version = 2
        [problem]
        model = "svm"
        records = {COUNT}
        label = {{ column = "class", positive = 1, negative = 0 }}
        {lambda}
        [problem.features]
        wind = [0.0, 25.0]
        load = [-50.0, 150.0]
        [private]
        data = "records.csv"
        adjacency = {{ kind = "one-record" }}
        [query]
        release = "weights"
        [privacy]
        mechanism = "gaussian"
        epsilon = 4.0
        delta = 1e-3
        [feasibility]
        {feasibility}
    "#
    )
}

/// The plan of a spec, and its outlook on the records.
fn outlook(text: &str, draws: usize) -> (Plan<'static>, Vec<f64>, Outlook) {
    let records = records();
    let private = [Text {
        name: "records.csv",
        text: &records,
    }];
    let spec = Text { name: "plan", text };
    let bench = Workbench::from_files(spec, &[]).unwrap();
    let bench = bench.with_private(&private).unwrap();
    let plan = bench.plan(&Silent).unwrap();
    let theta = bench.dataset(None, &Silent).unwrap();
    let files = Files::in_memory("plan", &[]).unwrap();
    let files = files.with_private(&private).unwrap();
    let model = bench.spec().model.open(bench.spec(), &files).unwrap();
    let datasets = model.datasets(&files).unwrap();
    let case = Compared {
        plan: &plan,
        theta: &theta,
        draws,
        seed: 3,
        about: About::Twin,
    };
    let outlook = datasets.outlook(&case).unwrap().unwrap();
    (plan, theta, outlook)
}

/// Whoever follows an alternative gets its error.
#[test]
fn an_alternative_written_into_the_spec_has_the_error_that_was_told() {
    for strategy in [
        "strategy = \"output\"",
        "strategy = \"program\"\neta = 0.05",
    ] {
        let own = "lambda = 0.2";
        let (_, _, found) = outlook(&spec(own, strategy), 200);
        assert_eq!(found.others.len(), 9, "{found:?}");
        for other in &found.others {
            let text = match other.name.strip_prefix("lambda") {
                Some(_) => spec(&other.name, strategy),
                None => spec(own, &other.name.replace(", ", "\n")),
            };
            let (_, _, followed) = outlook(&text, 200);
            assert_eq!(followed.chosen, other.error, "{strategy}: {}", other.name);
        }
    }
}

/// The exact share for Gaussian noise: the mean of Φ(−margin/(σ‖a‖)). Accuracy of one draw lies in [0, 1], so that by
/// Hoeffding's inequality the mean of 20 000 draws is off by more than 0.0191 once in a million times.
#[test]
fn the_error_is_the_expected_share_of_records_on_the_wrong_side() {
    let (plan, theta, found) = outlook(&spec("lambda = 0.2", "strategy = \"output\""), 20_000);
    let weights = plan.released().at(&theta).unwrap().answer;
    let sigma = plan.law().std_dev();
    let misses = theta.chunks(3).map(|record| {
        // A record is y·(x, 1), the hyperplane w'x = b.
        let a = [record[0], record[1], -record[2]];
        let margin: f64 = a.iter().zip(&weights).map(|(a, w)| a * w).sum();
        let length = a.iter().map(|a| a * a).sum::<f64>().sqrt();
        normal_tail(margin / (sigma * length))
    });
    let exact = misses.sum::<f64>() / COUNT as f64;
    assert!(
        (found.chosen - exact).abs() < 0.0191,
        "{} {exact}",
        found.chosen
    );
    // Without the noise it would be something else.
    assert!(exact > 0.2, "{exact}");
}

/// 1 − Φ, by Simpson's rule.
fn normal_tail(from: f64) -> f64 {
    let (end, steps) = (from.max(0.0) + 12.0, 4_000);
    let h = (end - from) / f64::from(steps);
    let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let weight = |k: i32| match k {
        0 => 1.0,
        k if k == steps => 1.0,
        k if k % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let sum: f64 = (0..=steps)
        .map(|k| weight(k) * density(from + f64::from(k) * h))
        .sum();
    sum * h / 3.0
}

/// Both ways: a λ that drowns in noise is to be raised, one that trains nothing is to be lowered.
#[test]
fn a_lambda_too_small_and_one_too_large_are_both_told() {
    let best = |found: &Outlook| {
        let each = found.others.iter();
        let lambdas = each.filter(|other| other.name.starts_with("lambda"));
        let best = lambdas.min_by(|a, b| a.error.total_cmp(&b.error)).unwrap();
        let lambda: f64 = best.name["lambda = ".len()..].parse().unwrap();
        (lambda, best.error)
    };
    let (_, _, small) = outlook(&spec("lambda = 0.003", ""), 400);
    let (lambda, error) = best(&small);
    assert!(lambda > 0.003 && error < small.chosen - 0.05, "{small:?}");
    let (_, _, large) = outlook(&spec("lambda = 2.0", ""), 400);
    let (lambda, error) = best(&large);
    assert!(lambda < 2.0 && error < large.chosen - 0.02, "{large:?}");
    for found in [&small, &large] {
        assert_eq!(found.measure, "the share of records on the wrong side");
        let trivial = found.trivial.as_ref().unwrap();
        assert_eq!(trivial.name, "always the larger class");
        assert!((trivial.error - 1.0 / 3.0).abs() < 1e-12, "{trivial:?}");
    }
}

/// The λ that nobody stated stands on the check with what it follows from, the strategy is noise on the answer.
#[test]
fn a_check_says_which_lambda_the_rule_chose() {
    let text = spec("", "").replace("[feasibility]", "");
    let bench = Workbench::from_files(
        Text {
            name: "plan",
            text: &text,
        },
        &[],
    )
    .unwrap();
    let check = bench.check(&Silent).unwrap();
    let said = "λ = 0.0708, by the rule for 60 records, 2 features, ε = 4, δ = 0.001";
    let shown = check.to_string();
    assert!(shown.contains(&format!("\nchosen: {said}\n")), "{shown}");
    let json = serde_json::to_value(&check).unwrap();
    assert_eq!(json["settings"][0]["name"], "lambda");
    assert_eq!(json["settings"][0]["text"], said);
    assert_eq!(json["strategy"], "output");
    // A λ that is stated is nobody's rule.
    let text = spec("lambda = 0.2", "");
    let bench = Workbench::from_files(
        Text {
            name: "plan",
            text: &text,
        },
        &[],
    )
    .unwrap();
    let check = serde_json::to_value(bench.check(&Silent).unwrap()).unwrap();
    assert!(check.get("settings").is_none(), "{check}");
}
