//! Releases of the scalar example that are charged to a ledger.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{directory, ended, examples, text, write};

pub const NAME: &str = "limits-2026";

/// `few` by default, `many` with CONVEIL_FULL=1.
pub fn rounds(few: usize, many: usize) -> usize {
    match std::env::var("CONVEIL_FULL") {
        Ok(value) if value == "1" => many,
        _ => few,
    }
}

/// A directory with the spec, whose releases cost ε = 1, and a ledger with this budget. Its path is the one that messages
/// show.
pub fn place(name: &str, epsilon: &str) -> PathBuf {
    let place = directory(name);
    let place = place.canonicalize().unwrap_or(place);
    specs(&place, "ledger.db");
    init(&place, "ledger.db", epsilon);
    place
}

/// The spec, charged to this file, and its problem.
pub fn specs(place: &Path, ledger: &str) {
    let example = text(&examples().join("scalar-lp.toml"));
    let section = format!("\n[ledger]\nfile = \"{ledger}\"\ndataset = \"{NAME}\"\n");
    write(&place.join("spec.toml"), example + &section);
    let problem = text(&examples().join("scalar-lp.json"));
    write(&place.join("scalar-lp.json"), problem);
}

pub fn init(place: &Path, ledger: &str, epsilon: &str) {
    let line = [
        "ledger",
        "init",
        ledger,
        "--dataset",
        NAME,
        "--epsilon",
        epsilon,
        "--spec",
        "spec.toml",
    ];
    let (code, _, stderr) = ended(place, &line);
    assert_eq!(code, 0, "{stderr}");
}

/// The charges in the ledger's export, in a file that every reader finds sound.
pub fn charges(place: &Path) -> Vec<Value> {
    let mut exported = String::new();
    for verb in ["show", "verify", "export"] {
        let (code, stdout, stderr) = ended(place, &["ledger", verb, "ledger.db"]);
        assert_eq!((code, stderr.as_str()), (0, ""), "{verb}");
        exported = stdout;
    }
    let lines = exported
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .filter_map(|line| Some(line.get("charge")?.clone()))
        .collect()
}

/// The head on a card in JSON or text.
pub fn head(card: &str) -> Option<String> {
    let line = card
        .lines()
        .find(|line| line.starts_with("ledger: ") || line.trim_start().starts_with("\"head\""))?;
    let mut words = line.split(|c: char| !c.is_ascii_hexdigit());
    words.rfind(|word| word.len() == 64).map(Into::into)
}
