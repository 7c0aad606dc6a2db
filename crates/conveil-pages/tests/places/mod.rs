//! Example specs in folders of their own, where their files can be edited.
#![allow(dead_code)] // each test file uses a part of it

use std::path::{Path, PathBuf};

use conveil_workbench::Workbench;

/// Where the example specs stand.
pub fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/specs")
}

/// An empty folder of this name.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// A copy of an example with its files; `edit` may change the text of each.
pub fn copied(example: &str, folder_name: &str, edit: impl Fn(&str, String) -> String) -> PathBuf {
    let folder = folder(folder_name);
    for entry in std::fs::read_dir(examples()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if path
            .file_stem()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with(example)
        {
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(folder.join(&name), edit(&name, text)).unwrap();
        }
    }
    folder.join(format!("{example}.toml"))
}

/// The example itself.
pub fn example(name: &str) -> Workbench {
    Workbench::open(&examples().join(format!("{name}.toml"))).unwrap()
}
