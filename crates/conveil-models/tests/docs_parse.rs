//! The TOML in the documents is read by the reader itself. A block fenced as `toml spec` is a whole spec; a block
//! fenced as `toml` holds sections, which take the place of those of a whole one.

use std::fs;
use std::path::{Path, PathBuf};

use conveil_models::spec;

/// What the fragments are put into: three variables, two constraint blocks, two parameters.
const WHOLE: &str = r#"
[problem]
model = "conic"
file = "problem.json"
variable = [{ name = "x", size = 3, stage = "decision" }]
constraint = [{ name = "balance" }, { name = "limits" }]
[private]
adjacency = { kind = "one-entry", alpha = 1.0 }
parameter = [
  { name = "a", value = 1.0, at = [{ in = "b", row = 0 }] },
  { name = "b", value = 1.0, at = [{ in = "b", row = 1 }] },
]
[query]
release = "cost"
[privacy]
mechanism = "laplace"
epsilon = 1.0
sensitivity = { by = "declared", value = 1.0, reason = "for the test" }
[feasibility]
eta = 0.1
"#;

struct Block {
    /// `file:line` of the fence.
    place: String,
    whole: bool,
    text: String,
}

fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("README.md")];
    for entry in fs::read_dir(root.join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "md") {
            files.push(path);
        }
    }
    files
}

fn blocks(path: &Path) -> Vec<Block> {
    let text = fs::read_to_string(path).unwrap();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in text.lines().enumerate() {
        match (&mut open, line.trim_end()) {
            (None, fence @ ("```toml" | "```toml spec")) => {
                open = Some(Block {
                    place: format!("{name}:{}", number + 1),
                    whole: fence.ends_with("spec"),
                    text: String::new(),
                });
            }
            (None, fence) => assert!(
                !fence.starts_with("```toml"),
                "{name}:{}: fence a spec as `toml spec`, sections as `toml`",
                number + 1
            ),
            (Some(_), "```") => found.extend(open.take()),
            (Some(block), line) => {
                block.text += line;
                block.text.push('\n');
            }
        }
    }
    assert!(open.is_none(), "{name}: a fence is not closed");
    found
}

#[test]
fn every_toml_block_of_the_documents_is_read() {
    let mut whole = 0;
    let mut parts = 0;
    for block in documents().iter().flat_map(|path| blocks(path)) {
        let text = if block.whole {
            whole += 1;
            block.text
        } else {
            parts += 1;
            let mut table: toml::Table = WHOLE.parse().unwrap();
            let sections: toml::Table = match block.text.parse() {
                Ok(sections) => sections,
                Err(error) => panic!("{}: {error}", block.place),
            };
            table.extend(sections);
            table.to_string()
        };
        if let Err(error) = spec::read(&block.place, &text) {
            panic!("{error}\n{text}");
        }
    }
    // A fence that is no longer recognised must not pass unseen.
    assert!(
        whole >= 2 && parts >= 7,
        "{whole} specs and {parts} sections"
    );
}
