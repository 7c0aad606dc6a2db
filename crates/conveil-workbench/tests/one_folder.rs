//! A workbench that may open files of one folder opens no others, whatever its spec names.

mod places;

use std::fs;
use std::path::PathBuf;

use conveil_workbench::{Answer, Failure, Releasing, Silent, Workbench};
use places::{FEASIBLE, PROBLEM, spec};

/// `outside.json` beside the folder `desk`, which has a problem and a spec.
struct Desk(PathBuf);

impl Desk {
    fn new(name: &str) -> Self {
        let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("one_folder_{name}"));
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(place.join("desk")).unwrap();
        fs::write(place.join("outside.json"), PROBLEM).unwrap();
        fs::write(place.join("desk/scalar-lp.json"), PROBLEM).unwrap();
        Desk(place.canonicalize().unwrap())
    }

    /// The spec with this file as its problem.
    fn opened(&self, file: &str, more: &str) -> Result<Workbench, Failure> {
        let text = spec(FEASIBLE).replace("scalar-lp.json", file) + more;
        assert!(text.contains(file));
        let desk = self.0.join("desk");
        Workbench::open_text(&desk.join("spec.toml"), &text, &desk, &Silent)
    }
}

const OUTSIDE: &str = "not inside the folder that was opened";

#[test]
fn no_file_outside_of_the_folder_is_opened() {
    let desk = Desk::new("files");
    desk.opened("scalar-lp.json", "").unwrap();
    let absolute = desk.0.join("outside.json").display().to_string();
    let through = "../desk/../outside.json".to_string();
    for file in ["../outside.json".to_string(), absolute, through] {
        let refused = desk.opened(&file, "").unwrap_err().to_string();
        assert!(refused.contains(OUTSIDE), "{file}: {refused}");
    }
    // Whether there is such a file is not told either.
    let missing = desk.opened("../missing.json", "").unwrap_err().to_string();
    assert!(missing.contains(OUTSIDE), "{missing}");
}

#[test]
#[cfg(unix)]
fn no_link_leads_out_of_the_folder() {
    use std::os::unix::fs::symlink;
    let desk = Desk::new("links");
    symlink(desk.0.join("outside.json"), desk.0.join("desk/link.json")).unwrap();
    symlink(&desk.0, desk.0.join("desk/up")).unwrap();
    symlink("scalar-lp.json", desk.0.join("desk/same.json")).unwrap();
    for file in ["link.json", "up/outside.json"] {
        let refused = desk.opened(file, "").unwrap_err().to_string();
        assert!(refused.contains(OUTSIDE), "{file}: {refused}");
    }
    desk.opened("same.json", "").unwrap();
}

#[test]
fn no_ledger_outside_of_the_folder_is_used() {
    let desk = Desk::new("ledger");
    let ledger = "\n[ledger]\nfile = \"../ledger.db\"\ndataset = \"limits\"\n";
    let bench = desk.opened("scalar-lp.json", ledger).unwrap();
    let refused = bench.ledger_file().unwrap_err().to_string();
    assert!(refused.contains(OUTSIDE), "{refused}");
    let mut nobody: Vec<Answer> = Vec::new();
    let unreleased = bench.release(&Releasing::default(), &mut nobody, &Silent);
    let refused = unreleased.unwrap_err().failure.to_string();
    assert!(refused.contains(OUTSIDE), "{refused}");
    assert!(nobody.is_empty() && !desk.0.join("ledger.db").exists());
}
