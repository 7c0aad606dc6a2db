//! What may depend on what inside the engine points one way.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

type Graph = BTreeMap<String, BTreeSet<String>>;

/// Top-level modules of `src` and the ones that each names, tests apart.
fn graph() -> Graph {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut graph = Graph::new();
    for entry in std::fs::read_dir(&root).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        if name != "lib" {
            collect(&path, graph.entry(name).or_default());
        }
    }
    let modules: BTreeSet<String> = graph.keys().cloned().collect();
    for (module, named) in &mut graph {
        named.retain(|name| name != module && modules.contains(name));
    }
    graph
}

fn collect(path: &Path, named: &mut BTreeSet<String>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            collect(&entry.unwrap().path(), named);
        }
        return;
    }
    let text = std::fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    assert!(
        !code.contains("use crate::{"),
        "{}: name the module in each `use crate::…`",
        path.display()
    );
    let lines = code.lines().filter(|line| !line.trim().starts_with("//"));
    for line in lines {
        named.extend(line.split("crate::").skip(1).map(|rest| {
            let is_name = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
            rest.chars().take_while(is_name).collect::<String>()
        }));
    }
}

#[test]
fn the_engine_has_no_cycle_of_modules() {
    let mut graph = graph();
    assert!(graph.len() > 10, "{graph:?}");
    // Modules that depend on nothing that is left, one layer after the other.
    while !graph.is_empty() {
        let layer: Vec<String> = (graph.iter())
            .filter(|(_, named)| named.iter().all(|name| !graph.contains_key(name)))
            .map(|(module, _)| module.clone())
            .collect();
        assert!(!layer.is_empty(), "a cycle among {graph:?}");
        layer.iter().for_each(|module| {
            graph.remove(module);
        });
    }
}

#[test]
fn a_plan_knows_neither_curator_nor_audit_and_a_rule_no_chance() {
    let graph = graph();
    let names = |module: &str, other: &str| graph[module].contains(other);
    for (module, other) in [
        ("plan", "curator"),
        ("plan", "audit"),
        ("certify", "plan"),
        ("rule", "chance"),
        ("chance", "ask"),
        ("noise", "error"),
        ("program", "solve"),
    ] {
        assert!(!names(module, other), "{module} depends on {other}");
    }
}
