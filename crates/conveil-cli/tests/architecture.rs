//! ARCHITECTURE.md draws the crates as they are: every line `name → what it depends on` is that crate's manifest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

type Graph = BTreeMap<String, BTreeSet<String>>;

/// Our own crates below `crates/`, with those of ours that each is built on.
fn built() -> Graph {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut graph = Graph::new();
    for folder in std::fs::read_dir(crates).unwrap() {
        let manifest = folder.unwrap().path().join("Cargo.toml");
        let Ok(text) = std::fs::read_to_string(manifest) else {
            continue;
        };
        let (mut name, mut section) = (String::new(), String::new());
        let mut needs = BTreeSet::new();
        for line in text.lines() {
            if let Some(title) = line.strip_prefix('[') {
                section = title.trim_end_matches(']').to_string();
                continue;
            }
            let key = line.split(['=', '.', ' ']).next().unwrap_or_default();
            match section.as_str() {
                "package" if key == "name" => name = line.split('"').nth(1).unwrap().to_string(),
                "dependencies" if key == "conveil" || key.starts_with("conveil-") => {
                    needs.insert(key.to_string());
                }
                _ => {}
            }
        }
        graph.insert(name, needs);
    }
    graph
}

/// The lines of the drawing.
fn drawn() -> Graph {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let page = std::fs::read_to_string(page).unwrap();
    let lines = page.lines().filter_map(|line| line.split_once(" → "));
    let lines = lines.filter(|(name, _)| name.trim().starts_with("conveil"));
    lines
        .map(|(name, needs)| {
            let needs = needs.split(['—', ';']).next().unwrap_or_default();
            let needs = needs.split(',').map(|need| need.trim().to_string());
            let needs = needs.filter(|need| need.starts_with("conveil"));
            (name.trim().to_string(), needs.collect())
        })
        .collect()
}

#[test]
fn the_crates_depend_on_each_other_as_drawn() {
    assert_eq!(drawn(), built());
}

#[test]
fn no_crate_depends_on_itself_by_a_detour() {
    let mut left = built();
    // A crate that needs none of those that are left can be built; none can where there is a cycle.
    while !left.is_empty() {
        let names: BTreeSet<String> = left.keys().cloned().collect();
        let before = left.len();
        left.retain(|_, needs| needs.iter().any(|need| names.contains(need)));
        assert!(left.len() < before, "a cycle among {names:?}");
    }
}

#[test]
fn models_build_without_the_ledger_and_its_noise() {
    let graph = built();
    let mut seen = BTreeSet::new();
    let mut open = vec!["conveil-models".to_string()];
    while let Some(name) = open.pop() {
        if seen.insert(name.clone()) {
            open.extend(graph[&name].iter().cloned());
        }
    }
    assert!(!seen.contains("conveil-release"), "{seen:?}");
}

/// The walks of the page: their titles, and the types that they meet.
fn walks() -> BTreeMap<String, Vec<String>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut walks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut walk = None;
    for line in page.lines() {
        let Some(line) = line.strip_prefix("    ") else {
            walk = None;
            continue;
        };
        match (line.strip_prefix("Walk: "), &walk) {
            (Some(title), _) => walk = Some(title.to_string()),
            (None, Some(title)) => {
                let (_step, types) = line.split_once("  ").unwrap();
                let types = types.split(',').map(|name| name.trim().to_string());
                walks.entry(title.clone()).or_default().extend(types);
            }
            (None, None) => {}
        }
    }
    walks
}

/// Every type below `crates/*/src`, by name.
fn types() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("..")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_source = path.components().any(|part| part.as_os_str() == "src");
            if path.is_dir() {
                open.push(path);
            } else if is_source && path.extension().is_some_and(|end| end == "rs") {
                let text = std::fs::read_to_string(path).unwrap();
                let words: Vec<&str> = text.split_whitespace().collect();
                let declared = words
                    .windows(2)
                    .filter(|pair| ["struct", "enum", "trait"].contains(&pair[0]));
                let name = |word: &str| {
                    let end = word.find(|c: char| !c.is_alphanumeric());
                    word[..end.unwrap_or(word.len())].to_string()
                };
                found.extend(declared.map(|pair| name(pair[1])));
            }
        }
    }
    found
}

#[test]
fn the_walks_meet_few_types_and_all_of_them_exist() {
    let (walks, types) = (walks(), types());
    assert_eq!(walks.len(), 3);
    for (title, met) in walks {
        let distinct: BTreeSet<&String> = met.iter().collect();
        assert_eq!(distinct.len(), met.len(), "{title}: a type twice");
        assert!((20..=30).contains(&met.len()), "{title}: {}", met.len());
        for name in met {
            assert!(types.contains(&name), "{title}: there is no type `{name}`");
        }
    }
}
