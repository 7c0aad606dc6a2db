//! What public rules choose, what is to be expected of it, and how poor answers are announced before they are published.

use std::fmt::Write;

use conveil::ask::Strategy;
use conveil::curator::About;
use conveil::solve::Cancel;
use conveil_workbench::{Account, Answer, Kind, Releasing, Silent, Text, Workbench};

/// A straight line of `x` against `y`, never falling, between public bounds.
const LINE: &str = r#"
version = 2
[problem]
model = "regression"
regressors = "x.csv"
response = "y"
[[problem.basis]]
kind = "polynomial"
feature = "x"
degree = 3
[[problem.basis]]
kind = "constant"
[[problem.condition]]
kind = "increasing"
feature = "x"
from = 0.0
to = 1.0
points = 11
[private]
data = "y.csv"
twin = "twin.csv"
adjacency = { kind = "one-record" }
bounds = [0.0, 10.0]
[query]
release = "weights"
[privacy]
mechanism = "laplace"
epsilon = 1.0
"#;

/// Responses of 400 records: a slope in x and something like noise.
fn responses(slope: f64, phase: f64) -> String {
    let mut text = String::from("y\n");
    for i in 0..400 {
        let x = i as f64 / 399.0;
        let noise = (12.9898 * i as f64 + phase).sin() * 0.8;
        writeln!(text, "{}", 4.0 + slope * x + noise).unwrap();
    }
    text
}

fn regressors() -> String {
    let mut text = String::from("x\n");
    (0..400).for_each(|i| writeln!(text, "{}", i as f64 / 399.0).unwrap());
    text
}

fn text<'t>(name: &'t str, text: &'t str) -> Text<'t> {
    Text { name, text }
}

/// The spec with this twin and these private responses.
fn line(spec: &str, twin: &str, private: &str) -> Workbench {
    let x = regressors();
    let public = [text("x.csv", &x), text("twin.csv", twin)];
    let bench = Workbench::from_files(text("line.toml", spec), &public).unwrap();
    bench.with_private(&[text("y.csv", private)]).unwrap()
}

fn released(bench: &Workbench, strict: bool) -> Result<String, (Kind, String)> {
    let releasing = Releasing {
        account: Account::WithoutLedger,
        strict,
        ..Releasing::default()
    };
    let mut answers: Vec<Answer> = Vec::new();
    match bench.release(&releasing, &mut answers, &Silent) {
        Ok(()) => Ok(answers[0].card.to_string()),
        Err(unreleased) => {
            assert!(answers.is_empty());
            Err((unreleased.failure.kind(), unreleased.to_string()))
        }
    }
}

#[test]
fn a_regression_of_version_2_has_noise_on_its_linear_term_and_says_why() {
    let twin = responses(2.0, 0.0);
    let bench = line(LINE, &twin, &twin);
    let check = bench.check(&Silent).unwrap();
    assert_eq!(check.strategy, Strategy::LinearTerm);
    let why = "strategy: noise on the linear term, chosen by the public rule: only linear costs are private, beside a public quadratic cost and public constraints";
    assert!(check.to_string().contains(why), "{check}");
    let card = released(&bench, true).unwrap();
    assert!(card.contains(why), "{card}");
    // Version 1 keeps its meaning: program perturbation, which needs η.
    let old = LINE.replace("version = 2", "version = 1");
    let x = regressors();
    let public = [text("x.csv", &x), text("twin.csv", &twin)];
    let refused = Workbench::from_files(text("line.toml", &old), &public).unwrap_err();
    assert!(
        refused.to_string().contains("[feasibility] is missing"),
        "{refused}"
    );
    let old = old + "[feasibility]\neta = 0.05\n";
    let check = line(&old, &twin, &twin).check(&Silent).unwrap();
    assert_eq!(check.strategy, Strategy::Program);
    assert!(!check.to_string().contains("public rule"), "{check}");
}

#[test]
fn whoever_carries_the_decision_out_says_so_and_gets_room_for_the_noise() {
    let twin = responses(2.0, 0.0);
    let carried = LINE.to_string() + "[feasibility]\ncarry_out = true\neta = 0.05\n";
    let check = line(&carried, &twin, &twin).check(&Silent).unwrap();
    assert_eq!(check.strategy, Strategy::Program);
    let x = regressors();
    let public = [text("x.csv", &x), text("twin.csv", &twin)];
    let without = LINE.to_string() + "[feasibility]\ncarry_out = true\n";
    let refused = Workbench::from_files(text("line.toml", &without), &public).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "line.toml:29:1: strategy `auto` takes program perturbation here, which needs `eta`: the decision is to be carried out, so that it must move with the noise\n  help: in [feasibility]: eta = 0.01"
    );
    let stated = LINE.to_string() + "[feasibility]\nstrategy = \"output\"\ncarry_out = true\n";
    let refused = Workbench::from_files(text("line.toml", &stated), &public).unwrap_err();
    assert!(
        refused.to_string().contains("and one is stated"),
        "{refused}"
    );
}

#[test]
fn a_better_strategy_is_announced_before_the_charge_and_strict_refuses() {
    // The responses fall, so that the condition presses: room for the noise costs most there.
    let twin = responses(-1.0, 0.0);
    let program = LINE.to_string() + "[feasibility]\nstrategy = \"program\"\neta = 0.05\n";
    let bench = line(&program, &twin, &responses(-1.5, 1.0));
    let check = bench.check(&Silent).unwrap();
    let outlook = check.outlook.as_ref().unwrap();
    let [.., poor] = &outlook.poor()[..] else {
        panic!("{check}");
    };
    assert!(
        poor.starts_with("on the twin, stated to be public, the root mean square"),
        "{poor}"
    );
    assert!(
        poor.contains("with strategy = \"linear-term\" it would be"),
        "{poor}"
    );
    assert!(poor.contains("times better at equal privacy"), "{poor}");
    let (kind, refused) = released(&bench, true).unwrap_err();
    assert_eq!(kind, Kind::NotWithThisNoise);
    assert!(refused.contains("refused by --strict"), "{refused}");
    assert!(refused.contains("nothing was charged"), "{refused}");
    assert!(released(&bench, false).is_ok());
    // Where there is something to fit, the default is fine, and says nothing.
    let twin = responses(2.0, 0.0);
    let check = line(LINE, &twin, &twin).check(&Silent).unwrap();
    let outlook = check.outlook.unwrap();
    assert_eq!(outlook.poor(), Vec::<String>::new(), "{outlook:?}");
}

#[test]
fn an_answer_that_is_worth_less_than_a_constant_is_announced() {
    let tiny = LINE.replace("epsilon = 1.0", "epsilon = 0.002");
    let twin = responses(2.0, 0.0);
    let check = line(&tiny, &twin, &twin).check(&Silent).unwrap();
    let poor = &check.outlook.unwrap().poor()[0];
    assert!(poor.contains("for a constant it is"), "{poor}");
    assert!(poor.contains("worth less than that"), "{poor}");
}

#[test]
fn the_outlook_is_the_same_whatever_the_private_data() {
    let twin = responses(2.0, 0.0);
    let of = |private: &str| {
        let bench = line(LINE, &twin, private);
        let public = bench.at(About::Twin).unwrap();
        let compared = public.compare(&Default::default(), &Silent).unwrap();
        (
            bench.check(&Silent).unwrap().to_string(),
            compared.to_string(),
        )
    };
    let all_clipped = "y\n".to_string() + &"99\n".repeat(400);
    let first = of(&twin);
    assert!(first.0.contains("outlook: on the twin"), "{}", first.0);
    for private in [responses(-3.0, 2.0), all_clipped] {
        assert_eq!(of(&private), first);
    }
    // A private file that is not even one changes nothing.
    assert_eq!(of("nothing"), first);
}

/// min x₁ + 3x₂ subject to x₁ + x₂ = d, with the demand d private and of a nominal value.
const DISPATCH: &str = r#"
version = 2
[problem]
model = "conic"
file = "dispatch.json"
[[problem.variable]]
name = "x"
size = 2
stage = "decision"
[[problem.constraint]]
name = "balance"
[[problem.constraint]]
name = "limits"
[private]
adjacency = { kind = "one-entry", alpha = 1.0 }
data = "d.csv"
[[private.parameter]]
name = "d"
bounds = [0.0, 60.0]
nominal = 30.0
at = [{ in = "b", row = 0 }]
[query]
release = "cost"
[privacy]
mechanism = "laplace"
epsilon = 1.0
sensitivity = { by = "envelope", price = 3.0 }
[feasibility]
eta = 0.01
"#;

fn dispatch(spec: &str) -> Result<Workbench, String> {
    let problem = r#"{"P":{"m":2,"n":2,"colptr":[0,0,0],"rowval":[],"nzval":[]},"q":[1.0,3.0],
        "A":{"m":5,"n":2,"colptr":[0,3,6],"rowval":[0,1,3,0,2,4],"nzval":[1.0,-1.0,1.0,1.0,-1.0,1.0]},
        "b":[0.0,0.0,0.0,40.0,40.0],"cones":[{"ZeroConeT":1},{"NonnegativeConeT":4}]}"#;
    Workbench::from_files(text("d.toml", spec), &[text("dispatch.json", problem)])
        .map_err(|failure| failure.to_string())
}

#[test]
fn private_constraints_need_room_for_the_noise_and_a_cost_says_what_to_expect() {
    let bench = dispatch(DISPATCH).unwrap();
    let check = bench.check(&Silent).unwrap();
    assert_eq!(check.strategy, Strategy::Program);
    // 3·ln(100) above the optimum: the room that a box of 99% leaves below.
    let outlook = check.outlook.unwrap();
    let expected = "on the public nominal values the released cost is about 13.8";
    assert!(outlook.to_string().starts_with(expected), "{outlook}");
    assert!(
        outlook.to_string().contains("worse than the optimum (46"),
        "{outlook}"
    );
    assert!(outlook.poor().is_empty(), "{outlook:?}");
    let refused = dispatch(DISPATCH.split("[feasibility]").next().unwrap()).unwrap_err();
    assert!(
        refused.contains("strategy `auto` takes program perturbation here, which needs `eta`: the constraints are private"),
        "{refused}"
    );
    // An error beyond the cost itself.
    let noisy = DISPATCH.replace("epsilon = 1.0", "epsilon = 0.4");
    let poor = dispatch(&noisy)
        .unwrap()
        .check(&Silent)
        .unwrap()
        .outlook
        .unwrap()
        .poor();
    assert!(
        poor.iter()
            .any(|poor| poor.contains("the release would tell next to nothing")),
        "{poor:?}"
    );
}

#[test]
fn a_price_below_what_the_data_cost_is_announced() {
    for strategy in ["program", "output"] {
        let section = format!("[feasibility]\nstrategy = \"{strategy}\"");
        let cheap = DISPATCH
            .replace("price = 3.0", "price = 0.5")
            .replace("[feasibility]", &section);
        let outlook = dispatch(&cheap)
            .unwrap()
            .check(&Silent)
            .unwrap()
            .outlook
            .unwrap();
        let poor = outlook.poor();
        assert!(
            poor[0].contains("the price is below what the data, or the room for the noise, cost"),
            "{strategy}: {poor:?}"
        );
        let dear = cheap.replace("price = 0.5", "price = 3.0");
        let outlook = dispatch(&dear)
            .unwrap()
            .check(&Silent)
            .unwrap()
            .outlook
            .unwrap();
        assert!(outlook.poor().is_empty(), "{strategy}: {outlook}");
    }
}

#[test]
fn a_twin_that_is_no_dataset_is_said_and_strict_does_not_pass_without_one() {
    let twin = responses(2.0, 0.0);
    let broken = line(LINE, "nothing\n", &twin);
    let check = broken.check(&Silent).unwrap().to_string();
    assert!(
        check.contains("warning: there is no answer on the twin, stated to be public: "),
        "{check}"
    );
    assert_eq!(
        released(&broken, true).unwrap_err().0,
        Kind::NotWithThisNoise
    );
    let without = LINE.replace("twin = \"twin.csv\"\n", "");
    let (kind, refused) = released(&line(&without, &twin, &twin), true).unwrap_err();
    assert_eq!(kind, Kind::NotWithThisNoise);
    assert!(
        refused.contains("nothing public tells how good it is"),
        "{refused}"
    );
    assert!(released(&line(&without, &twin, &twin), false).is_ok());
}

/// The residuals are compared with a constant's, without the penalty of a ridge.
#[test]
fn a_ridge_is_no_residual() {
    let twin = responses(2.0, 0.0);
    let ridge = LINE.replace("response = \"y\"", "response = \"y\"\nridge = 30.0");
    let outlook = line(&ridge, &twin, &twin)
        .check(&Silent)
        .unwrap()
        .outlook
        .unwrap();
    let json = serde_json::to_value(&outlook).unwrap();
    let report = line(&ridge, &twin, &twin)
        .at(About::Twin)
        .unwrap()
        .solve(None, &Silent)
        .unwrap();
    let report = serde_json::to_value(&report).unwrap();
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let without = number(&report["rmse"]["without_noise"]);
    assert!((number(&json["without_noise"]) - without).abs() < 1e-9 * without);
    let under = number(&report["rmse"]["under_noise"]);
    assert!(
        (number(&json["chosen"]) / under - 1.0).abs() < 0.1,
        "{json} {under}"
    );
}

/// The rule may solve the public program: whoever waits for it can stop it, and no other strategy comes of that.
#[test]
fn a_spec_whose_rule_is_interrupted_does_not_open() {
    let stated = include_str!("../../../examples/specs/mean-variance.toml");
    let open: String = (stated.lines())
        .filter(|line| !line.starts_with("strategy"))
        .map(|line| format!("{line}\n"))
        .collect();
    let open = open.replace("version = 1", "version = 2");
    let cancel = Cancel::default();
    let bench = Workbench::from_files_watched(text("plan", &open), &[], &cancel).unwrap();
    let chosen = bench.spec().feasibility.strategy.value;
    assert_eq!(chosen, Strategy::LinearTerm);
    cancel.raise();
    let failure = Workbench::from_files_watched(text("plan", &open), &[], &cancel).unwrap_err();
    assert_eq!(failure.kind(), Kind::Interrupted);
    // A stated strategy needs no solve.
    assert!(Workbench::from_files_watched(text("plan", stated), &[], &cancel).is_ok());
}

const NETWORK: &str = r#"
version = 1
[problem]
model = "opf"
network = "24_ieee_rts"
[private]
adjacency = { kind = "one-entry", alpha = 10.0 }
[query]
release = "cost"
[privacy]
mechanism = "laplace"
epsilon = 1.0
sensitivity = { by = "declared", per_alpha = "largest-cost" }
[feasibility]
eta = 0.01
"#;

#[test]
fn a_check_of_a_network_solves_nothing_that_takes_many_times_what_reading_it_does() {
    let outlook = |network: &str| {
        let spec = NETWORK.replace("24_ieee_rts", network);
        let bench = Workbench::from_files(text("n.toml", &spec), &[]).unwrap();
        let check = bench.check(&Silent).unwrap();
        check.outlook.unwrap().to_string()
    };
    for small in ["5_pjm", "24_ieee_rts", "73_ieee_rts"] {
        let found = outlook(small);
        assert!(
            found.starts_with("on the public nominal values"),
            "{small}: {found}"
        );
    }
    let dear = outlook("118_ieee");
    assert!(
        dear.contains("more than is done unasked; `compare --at` tries them"),
        "{dear}"
    );
}
