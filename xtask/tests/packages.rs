//! Every crate that can be published says what a registry shows of it, and packs what belongs to it.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// All but the development commands and Python's extension module, which belongs to a package of Python.
const PRIVATE: [&str; 2] = ["conveil-python", "xtask"];

/// The limits of the standard registry.
const KEYWORDS: std::ops::RangeInclusive<usize> = 1..=5;
const KEYWORD_LETTERS: usize = 20;

/// What a package holds beside its sources: what cargo writes, licences and the workspace's README.
const ADDED: [&str; 8] = [
    ".cargo_vcs_info.json",
    "build.rs",
    "Cargo.lock",
    "Cargo.toml",
    "Cargo.toml.orig",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
];

/// The folders of a package.
const FOLDERS: [&str; 7] = [
    "benches", "examples", "networks", "page", "src", "tests", "turbines",
];

/// Standard output and standard error of cargo at the root of the workspace; it must succeed.
fn cargo(words: &[&str]) -> [String; 2] {
    let output = Command::new(env!("CARGO"))
        .args(words)
        .arg("--offline")
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .output()
        .unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|b| String::from_utf8(b).unwrap());
    assert!(output.status.success(), "{words:?}: {stderr}");
    [stdout, stderr]
}

fn packages() -> Vec<Value> {
    let [metadata, _] = cargo(&["metadata", "--no-deps", "--format-version=1"]);
    let mut metadata: Value = serde_json::from_str(&metadata).unwrap();
    let Value::Array(mut packages) = metadata["packages"].take() else {
        panic!("cargo metadata lists no packages");
    };
    let all = packages.len();
    // `publish = false` is an empty list of registries.
    packages.retain(|package| package["publish"].is_null());
    assert_eq!(packages.len() + PRIVATE.len(), all);
    packages
}

fn texts(list: &Value) -> Vec<&str> {
    let entries = list.as_array().map(Vec::as_slice).unwrap_or_default();
    entries.iter().filter_map(Value::as_str).collect()
}

#[test]
fn metadata_is_complete() {
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        for field in ["description", "license", "readme", "rust_version"] {
            assert!(package[field].is_string(), "{name} has no {field}");
        }
        let keywords = texts(&package["keywords"]);
        assert!(KEYWORDS.contains(&keywords.len()), "{name}: {keywords:?}");
        assert!(
            keywords.iter().all(|k| k.len() <= KEYWORD_LETTERS),
            "{name}: {keywords:?}"
        );
        assert!(
            !texts(&package["categories"]).is_empty(),
            "{name} has no category"
        );
        for field in ["repository", "homepage"] {
            assert!(package[field].is_null(), "{name} names a {field}");
        }
        for dependency in package["dependencies"].as_array().unwrap() {
            let (to, version) = (&dependency["name"], &dependency["req"]);
            assert_ne!(
                version, "*",
                "{name}: the dependency on {to} has no version"
            );
        }
    }
}

#[test]
fn a_package_holds_what_belongs_to_it() {
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let [list, said] = cargo(&["package", "--list", "--allow-dirty", "--package", name]);
        // The one thing that it misses: where the project lives is not the project's to say.
        let warnings: Vec<&str> = said
            .lines()
            .filter(|line| line.starts_with("warning"))
            .collect();
        assert_eq!(
            warnings,
            ["warning: manifest has no documentation, homepage or repository"]
        );
        let files: Vec<&str> = list.lines().collect();
        for needed in [
            "Cargo.toml",
            "LICENSE-APACHE",
            "LICENSE-MIT",
            "README.md",
            "src/lib.rs",
        ] {
            assert!(files.contains(&needed), "{name} has no {needed}");
        }
        for file in files {
            let folder = file.split('/').next().unwrap_or_default();
            let belongs = ADDED.contains(&file) || file.contains('/') && FOLDERS.contains(&folder);
            assert!(belongs, "{name} packs {file}");
        }
    }
}

/// The extension module of Python is built alone, by maturin. Features that differ from those of the whole workspace would
/// build every package above them once more.
#[test]
fn the_extension_module_is_built_on_what_the_tests_have_built() {
    let tree = |words: &[&str]| {
        let common = ["tree", "--prefix=none", "--no-dedupe", "--format={p} [{f}]"];
        let [listed, _] = cargo(&[&common, words].concat());
        let lines = listed.lines().map(String::from);
        lines.collect::<std::collections::BTreeSet<String>>()
    };
    let all = tree(&["--workspace"]);
    let alone = tree(&["--package", "conveil-python", "--edges=normal,build"]);
    let other: Vec<&String> = alone.difference(&all).collect();
    assert!(alone.len() > 50 && other.is_empty(), "{other:?}");
}

/// What bundles the page of the studio is packed with it: a published crate has nothing beside its own folder.
#[test]
fn the_studio_is_packed_with_the_sources_of_its_page() {
    let name = "conveil-studio";
    let [list, _] = cargo(&["package", "--list", "--allow-dirty", "--package", name]);
    for needed in ["build.rs", "page/package-lock.json", "page/src/main.tsx"] {
        assert!(list.lines().any(|file| file == needed), "{needed}");
    }
    let builder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/conveil-studio/build.rs");
    let text = std::fs::read_to_string(builder).unwrap();
    assert!(!text.contains(".."), "build.rs looks outside of its crate");
}
