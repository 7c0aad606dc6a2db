//! Specs in directories of their own, with a ledger beside them.
#![allow(dead_code)] // each test file uses a part of it

use std::path::{Path, PathBuf};

use conveil_workbench::ledger::{Between, LedgerFile, NewBudget};
use conveil_workbench::{Silent, Workbench};

/// A private limit that leaves room for the noise.
pub const FEASIBLE: f64 = 100.0;

/// A private limit above the public one: the program itself is infeasible.
pub const INFEASIBLE: f64 = 200.0;

/// The smallest private program: min 1.5 x, l ≤ x ≤ 160, l private.
pub const PROBLEM: &str = include_str!("../../../../examples/specs/scalar-lp.json");

const LEDGER: &str = "\n[ledger]\nfile = \"ledger.db\"\ndataset = \"limits\"\n";

/// Its spec with this private limit.
pub fn spec(limit: f64) -> String {
    let example = include_str!("../../../../examples/specs/scalar-lp.toml");
    assert!(example.contains("value = 100.0"));
    example.replace("value = 100.0", &format!("value = {limit:?}"))
}

/// A directory with `spec.toml`, and a ledger with a budget for dataset `limits`.
pub struct Place(PathBuf);

impl Place {
    /// The smallest private program.
    pub fn with_ledger(name: &str, limit: f64) -> Place {
        let place = Place::new(name);
        place.write("scalar-lp.json", PROBLEM);
        place.write("spec.toml", &(spec(limit) + LEDGER));
        place.init()
    }

    /// A power flow with this many rows of demands.
    pub fn with_series(name: &str, rows: usize) -> Place {
        let place = Place::new(name);
        let spec = "version = 1
[problem]
model = \"opf\"
network = \"5_pjm\"
[private]
demand = \"demands.csv\"
adjacency = { kind = \"one-entry\", alpha = 1.0 }
[query]
release = \"cost\"
[privacy]
mechanism = \"laplace\"
epsilon = 1.0
sensitivity = { by = \"declared\", per_alpha = \"largest-cost\" }
[feasibility]
eta = 0.01
";
        place.write("spec.toml", &(spec.to_owned() + LEDGER));
        let rows = "300.0,300.0,400.0\n".repeat(rows);
        place.write("demands.csv", &format!("2,3,4\n{rows}"));
        place.init()
    }

    fn new(name: &str) -> Place {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Place(path)
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.0.join(file), text).unwrap();
    }

    fn init(self) -> Place {
        let budget = NewBudget {
            dataset: "limits".into(),
            epsilon: 10.0,
            delta: 0.0,
            basic: false,
            between: Some(Between::Spec(self.spec())),
        };
        self.ledger().init(&budget, &Silent).unwrap();
        self
    }

    pub fn spec(&self) -> PathBuf {
        self.0.join("spec.toml")
    }

    pub fn ledger(&self) -> LedgerFile {
        LedgerFile::at(&self.0.join("ledger.db"))
    }

    pub fn bench(&self) -> Workbench {
        Workbench::open(&self.spec()).unwrap()
    }

    /// How often the dataset was charged.
    pub fn charges(&self) -> u64 {
        self.ledger().show(Some("limits")).unwrap().accounts[0].charges
    }
}
