//! `data` of `[private]` for a saved problem: the private values in a CSV of their own.

use std::sync::Mutex;

use conveil_workbench::{
    Account, Answer, Failure, Kind, Observer, Releasing, Silent, Text, Workbench,
};

/// min 2x₀ + 3x₁ subject to x₀ ≥ d0, x₁ ≥ d1, x ≤ 50, with d0 = 77 and d1 = 88 in the file.
const PROBLEM: &str = r#"{
    "P": {"m": 2, "n": 2, "colptr": [0, 0, 0], "rowval": [], "nzval": []},
    "q": [2.0, 3.0],
    "A": {"m": 4, "n": 2, "colptr": [0, 2, 4], "rowval": [0, 2, 1, 3], "nzval": [-1.0, 1.0, -1.0, 1.0]},
    "b": [-77.0, -88.0, 50.0, 50.0],
    "cones": [{"NonnegativeConeT": 4}]
}"#;

const SPEC: &str = r#"version = 1
[problem]
model = "conic"
file = "problem.json"
[[problem.variable]]
name = "x"
size = 2
stage = "decision"
[private]
data = "theta.csv"
adjacency = { kind = "one-entry", alpha = 1.0 }
[[private.parameter]]
name = "d0"
at = [{ in = "b", row = 0, coef = -1.0 }]
bounds = [0.0, 30.0]
[[private.parameter]]
name = "demand, second"
at = [{ in = "b", row = 1, coef = -1.0 }]
[query]
release = "cost"
[privacy]
mechanism = "laplace"
epsilon = 1.0
sensitivity = { by = "declared", per_alpha = 3.0, reason = "each x follows its demand, at a cost of 2 or 3" }
[feasibility]
eta = 0.05
"#;

fn text<'t>(name: &'t str, text: &'t str) -> Text<'t> {
    Text { name, text }
}

fn opened(spec: &str) -> Result<Workbench, Failure> {
    Workbench::from_files(text("plan", spec), &[text("problem.json", PROBLEM)])
}

fn with(values: &str) -> Workbench {
    let bench = opened(SPEC).unwrap();
    bench.with_private(&[text("theta.csv", values)]).unwrap()
}

fn dataset(values: &str, row: usize) -> Result<Vec<f64>, Failure> {
    with(values).dataset(Some(row), &Silent)
}

#[test]
fn values_come_by_name_in_either_form() {
    let table = "Parameter, Value\n\"demand, second\", 12.5\nd0,10\n\n";
    assert_eq!(dataset(table, 1).unwrap(), [10.0, 12.5]);
    let series = "\"demand, second\",d0\n12.5,10\n-1e1,11\n";
    assert_eq!(dataset(series, 1).unwrap(), [10.0, 12.5]);
    assert_eq!(dataset(series, 2).unwrap(), [11.0, -10.0]);
    let error = dataset(series, 3).unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no row 3: there are 2 rows of private values"
    );
    let report = with(table).solve(None, &Silent).unwrap();
    let json = serde_json::to_value(&report).unwrap();
    let optimum = json["optimum"].as_f64().unwrap();
    assert!(
        (optimum - (2.0 * 10.0 + 3.0 * 12.5)).abs() < 1e-6,
        "{optimum}"
    );
}

/// The file's numbers at private places, 77 and 88, are infeasible: nobody reads them.
#[test]
fn a_plan_needs_no_values_and_the_problem_file_has_none() {
    let bench = opened(SPEC).unwrap();
    let check = bench.check(&Silent).unwrap().to_string();
    assert!(!check.contains("77") && !check.contains("88"), "{check}");
    let error = bench.solve(None, &Silent).unwrap_err();
    assert!(error.to_string().starts_with("plan:10:8: cannot read the private values theta.csv: no such file among those in memory"), "{error}");
    let zeros = PROBLEM.replace("-77.0", "0.0").replace("-88.0", "0.0");
    let other = Workbench::from_files(text("plan", SPEC), &[text("problem.json", &zeros)]).unwrap();
    assert_eq!(other.check(&Silent).unwrap().to_string(), check);
    assert!(
        with("d0,\"demand, second\"\n1,2\n")
            .solve(None, &Silent)
            .is_ok()
    );
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_the_file_of_values() {
    for (values, expected) in [
        ("parameter,value\nd0,10\n",
            "theta.csv: there is no line for the parameter `demand, second`"),
        ("parameter,value\nd0,10\nd0,11\n\"demand, second\",1\n",
            "theta.csv:3: the parameter `d0` is there twice"),
        ("parameter,value\nd0,10\nd1,11\n",
            "theta.csv:3:1: there is no parameter `d1`\n  help: did you mean `d0`?"),
        ("parameter,value\nwind,10\n",
            "theta.csv:2:1: there is no parameter `wind`\n  help: the [[private.parameter]] blocks of the spec name the parameters"),
        ("parameter,value\nd0,ten\n",
            "theta.csv:2:4: `value` must be a number, found `ten`"),
        ("parameter,value\nd0,inf\n",
            "theta.csv:2:4: `value` must be finite, found `inf`"),
        ("parameter,value\nd0,10,5\n",
            "theta.csv:2:1: this line has 3 fields, the header has 2"),
        ("parameter,value\n",
            "theta.csv:1:1: there is a header, but no record below it"),
        ("d0,d0\n1,2\n",
            "theta.csv:1:4: column `d0` is there twice"),
        ("d0\n1\n",
            "theta.csv:1:1: there is no column `demand, second`\n  help: the columns are `d0`"),
        ("d0,\"demand, second\",wind\n1,2,3\n",
            "theta.csv: there is no parameter `wind`\n  help: the [[private.parameter]] blocks of the spec name the parameters\n  help: if the column names the rows, write label = \"wind\" in [private]: labels are public, and stand on the cards"),
        ("d0,\"demand, second\"\n1,2\n3\n",
            "theta.csv:3:1: this line has 1 field, the header has 2"),
        ("10,12.5\n",
            "theta.csv:1:1: expected the name of a column, found `10`\n  help: the first line names the columns"),
    ] {
        match dataset(values, 1) {
            Ok(_) => panic!("{values} was accepted"),
            Err(error) => assert_eq!((error.kind(), error.to_string().as_str()), (Kind::Input, expected), "{values}"),
        }
    }
    let with_value = SPEC.replace("name = \"d0\"", "name = \"d0\"\nvalue = 3.0");
    assert_eq!(opened(&with_value).unwrap_err().to_string(),
        "plan:14:9: `value` makes no sense with `data` in [private]\n  help: the file of `data` has the values of all parameters");
}

/// Two parameters in one place need no `value` where a file has both.
#[test]
fn a_shared_place_is_no_hindrance() {
    let shared = SPEC.replace("row = 1, coef", "row = 0, coef");
    let files = [text("theta.csv", "d0,\"demand, second\"\n4,5\n")];
    let bench = opened(&shared).unwrap().with_private(&files).unwrap();
    assert_eq!(bench.dataset(None, &Silent).unwrap(), [4.0, 5.0]);
    assert!(opened(&shared.replace("data = \"theta.csv\"\n", "")).is_err());
}

/// Keeps what is said.
#[derive(Default)]
struct Said(Mutex<Vec<String>>);

impl Observer for Said {
    fn warning(&self, text: &str) {
        self.0.lock().unwrap().push(text.into());
    }
}

/// The curator hears of a value outside its bounds and of a mistake in the file; the card is the same without.
#[test]
fn what_is_said_of_the_data_is_not_on_the_card() {
    let card = |values: &str, said: &Said| {
        let releasing = Releasing {
            account: Account::NotPrivate { seed: Some(5) },
            ..Releasing::default()
        };
        let mut answers: Vec<Answer> = Vec::new();
        with(values)
            .release(&releasing, &mut answers, said)
            .unwrap();
        let mut json = serde_json::to_value(&answers[0].card).unwrap();
        json["answer"] = serde_json::Value::Null;
        json
    };
    let (inside, outside) = (Said::default(), Said::default());
    let plain = card("d0,\"demand, second\"\n10,12\n", &inside);
    assert_eq!(card("d0,\"demand, second\"\n31,12\n", &outside), plain);
    assert!(inside.0.lock().unwrap().is_empty());
    let said = outside.0.lock().unwrap().concat();
    assert!(
        said.contains("the value of `d0` lies outside its public bounds"),
        "{said}"
    );
    // A file with a mistake is no dataset: nothing is charged, drawn or shown.
    let mut answers: Vec<Answer> = Vec::new();
    let releasing = Releasing {
        account: Account::WithoutLedger,
        ..Releasing::default()
    };
    let error = with("d0\n1\n")
        .release(&releasing, &mut answers, &Silent)
        .unwrap_err();
    assert!(answers.is_empty() && !error.failure.is_recorded());
}

#[test]
fn a_series_is_released_row_by_row() {
    let mut answers: Vec<Answer> = Vec::new();
    let releasing = Releasing {
        account: Account::WithoutLedger,
        decision: true,
        ..Releasing::default()
    };
    let series = with("d0,\"demand, second\"\n10,12\n11,13\n12,14\n");
    series.release(&releasing, &mut answers, &Silent).unwrap();
    let rows: Vec<usize> = answers.iter().map(|answer| answer.row).collect();
    assert_eq!(rows, [1, 2, 3]);
}
