//! Specs whose files are texts in memory: what is read, and what never is.

use std::path::Path;

use conveil_workbench::ledger::{Between, LedgerFile, NewBudget};
use conveil_workbench::{Account, Answer, Comparing, Kind, Releasing, Silent, Text, Workbench};

const SPEC: &str = include_str!("../../../examples/specs/mean-variance.toml");
const RETURNS: &str = include_str!("../../../examples/specs/mean-variance.csv");
const COVARIANCE: &str = "stocks,bonds\n0.04,0.006\n0.006,0.0225\n";

fn text<'t>(name: &'t str, text: &'t str) -> Text<'t> {
    Text { name, text }
}

fn portfolio() -> Workbench {
    Workbench::from_files(text("plan", SPEC), &[]).unwrap()
}

/// The portfolio of a public file.
fn with_public_file(
    spec: &str,
    files: &[Text<'_>],
) -> Result<Workbench, conveil_workbench::Failure> {
    Workbench::from_files(text("plan", spec), files)
}

fn spec_of_file(file: &str) -> String {
    let (before, _) = SPEC.split_once("[problem.covariance]").unwrap();
    let (_, after) = SPEC.split_once("[private]").unwrap();
    format!("{before}file = {file:?}\n[private]{after}")
}

#[test]
fn private_files_are_handed_over_with_the_call() {
    let bench = portfolio();
    // Public verbs need none.
    assert!(bench.plan(&Silent).is_ok() && bench.check(&Silent).is_ok());
    let error = bench.solve(None, &Silent).unwrap_err();
    assert_eq!(error.kind(), Kind::Input);
    let said = "plan:20:11: cannot read the returns mean-variance.csv: no such file among those in memory: there are none\n  help: `returns` is the name of a file in memory; nothing is read from disk beside such a spec";
    assert_eq!(error.to_string(), said);
    let own = bench
        .with_private(&[text("mean-variance.csv", RETURNS)])
        .unwrap();
    assert_eq!(own.dataset(None, &Silent).unwrap(), [0.052, 0.031, 0.042]);
    assert!(own.solve(None, &Silent).is_ok());
    // The workbench itself has not changed, and further files replace the first.
    assert!(bench.dataset(None, &Silent).is_err());
    let series = "property,stocks,bonds\n0.04,0.05,0.03\n0.01,0.02,0.03\n";
    let other = own
        .with_private(&[text("mean-variance.csv", series)])
        .unwrap();
    assert_eq!(other.dataset(Some(2), &Silent).unwrap(), [0.02, 0.03, 0.01]);
    let draws = Comparing {
        draws: Some(10),
        row: Some(2),
        ..Comparing::default()
    };
    assert!(other.compare(&draws, &Silent).is_ok());
    let mut answers: Vec<Answer> = Vec::new();
    let releasing = Releasing {
        account: Account::WithoutLedger,
        ..Releasing::default()
    };
    other.release(&releasing, &mut answers, &Silent).unwrap();
    assert_eq!(answers.len(), 2);
}

/// Files that are there on disk, by every kind of path.
#[test]
fn files_in_memory_open_no_path() {
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/specs");
    let there = specs.join("mean-variance.csv");
    assert!(there.exists() && Path::new("../../examples/specs/mean-variance.csv").exists());
    for path in [
        "../../etc/passwd",
        "/etc/passwd",
        "../../examples/specs/mean-variance.csv",
        "./mean-variance.csv",
        there.to_str().unwrap(),
    ] {
        let spec = SPEC.replace("mean-variance.csv", path);
        let files = [text("mean-variance.csv", RETURNS)];
        let bench = with_public_file(&spec, &[])
            .unwrap()
            .with_private(&files)
            .unwrap();
        let error = bench.solve(None, &Silent).unwrap_err().to_string();
        assert!(
            error.contains("no such file among those in memory: `mean-variance.csv`"),
            "{error}"
        );
        let error =
            with_public_file(&spec_of_file(path), &[text("sigma.csv", COVARIANCE)]).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("no such file among those in memory: `sigma.csv`"),
            "{error}"
        );
    }
    let spec = include_str!("../../../examples/specs/scalar-lp.toml");
    let spec = spec.replace("scalar-lp.json", "../../examples/specs/scalar-lp.json");
    let error = with_public_file(&spec, &[]).unwrap_err().to_string();
    assert!(
        error.contains("no such file among those in memory: there are none"),
        "{error}"
    );
}

#[test]
fn no_public_file_is_looked_for_among_the_private_ones() {
    let spec = spec_of_file("sigma.csv");
    let returns = text("mean-variance.csv", "stocks,bonds\n0.05,0.03\n");
    let bench = with_public_file(&spec, &[text("sigma.csv", COVARIANCE)]).unwrap();
    assert!(
        bench
            .with_private(&[returns])
            .unwrap()
            .solve(None, &Silent)
            .is_ok()
    );
    // What is private under the name of a public file is neither.
    let error = bench
        .with_private(&[returns, text("sigma.csv", COVARIANCE)])
        .unwrap_err();
    assert_eq!(error.kind(), Kind::Input);
    assert_eq!(
        error.to_string(),
        "`sigma.csv` is among the public files and among the private ones: a file is one or the other"
    );
    assert!(with_public_file(&spec, &[returns]).is_err());
}

#[test]
fn mistakes_in_files_are_said() {
    let files = |name, returns| portfolio().with_private(&[text(name, returns)]).unwrap();
    let said = |bench: &Workbench| bench.solve(None, &Silent).unwrap_err().to_string();
    assert!(said(&files("returns.csv", RETURNS)).contains("among those in memory: `returns.csv`"));
    assert!(
        said(&files("mean-variance.csv", " \n")).contains("mean-variance.csv: the file is empty")
    );
    let error = said(&files(
        "mean-variance.csv",
        "stocks,bonds,property\n0.05,x,0.03\n",
    ));
    assert_eq!(
        error,
        "mean-variance.csv:2:6: `bonds` must be a number, found `x`"
    );
    let twice = [text("a.csv", RETURNS), text("a.csv", RETURNS)];
    let error = portfolio().with_private(&twice).unwrap_err().to_string();
    assert_eq!(error, "the file `a.csv` is handed over twice");
    assert!(Workbench::from_files(text("plan", SPEC), &twice).is_err());
}

/// The ledger alone stands on disk; its section may come with the release.
#[test]
fn a_ledger_is_stated_beside_the_spec() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("in-memory.db");
    let _ = std::fs::remove_file(&file);
    let ledger = LedgerFile::at(&file);
    let bench = portfolio()
        .with_private(&[text("mean-variance.csv", RETURNS)])
        .unwrap();
    let budget = NewBudget {
        dataset: "forecasts".into(),
        epsilon: 1.5,
        delta: 0.0,
        basic: false,
        between: Some(Between::Bench(Box::new(bench.clone()))),
    };
    ledger.init(&budget, &Silent).unwrap();
    let section = format!("[ledger]\nfile = {file:?}\ndataset = \"forecasts\"\n");
    let charged = bench.with_ledger(text("the ledger", &section)).unwrap();
    let mut answers: Vec<Answer> = Vec::new();
    charged
        .release(&Releasing::default(), &mut answers, &Silent)
        .unwrap();
    let over = charged
        .release(&Releasing::default(), &mut answers, &Silent)
        .unwrap_err();
    assert_eq!(over.failure.kind(), Kind::OverBudget);
    assert_eq!(
        (
            answers.len(),
            ledger.show(None).unwrap().accounts[0].charges
        ),
        (1, 1)
    );
    let error = charged
        .with_ledger(text("the ledger", &section))
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "the ledger:2:8: there is a ledger already\n  help: leave out one of the two"
    );
    let error = bench
        .with_ledger(text("the ledger", "[ledger]\nfile = \"x.db\"\n"))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the ledger:1:1: [ledger] needs `dataset`"),
        "{error}"
    );
    let missing = bench
        .with_ledger(text(
            "the ledger",
            "[ledger]\nfile = \"nowhere.db\"\ndataset = \"d\"\n",
        ))
        .unwrap();
    let error = missing
        .release(&Releasing::default(), &mut answers, &Silent)
        .unwrap_err();
    assert!(error.to_string().starts_with("the ledger:2:8: "), "{error}");
}
