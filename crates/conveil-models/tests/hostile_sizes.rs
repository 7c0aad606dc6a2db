//! Inputs made to exhaust time or memory are refused, or read in time linear in their length.

use std::time::{Duration, Instant};

use conveil_models::conic::Conic;
use conveil_models::spec;
use conveil_text::problem;

const SMALLEST: &str = include_str!("../../../fuzz/seeds/spec/smallest.toml");

/// Far above what linear work needs, far below what quadratic work takes.
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn deep_nesting_is_refused() {
    const DEPTH: usize = 200_000;
    for text in [
        format!("{}a = 1", "a.".repeat(DEPTH)),
        format!("[{}a]", "a.".repeat(DEPTH)),
        format!("a = {}", "[".repeat(DEPTH)),
        format!("a = {}", "{a = ".repeat(DEPTH)),
        format!("a = {}{}", "[".repeat(DEPTH), "]".repeat(DEPTH)),
    ] {
        assert!(spec::read("spec.toml", &text).is_err());
    }
    for text in [
        "[".repeat(DEPTH),
        format!("{{\"P\":{}{}}}", "[".repeat(DEPTH), "]".repeat(DEPTH)),
        format!("{{\"q\":{}", "{\"a\":".repeat(DEPTH)),
    ] {
        assert!(problem::read("p.json", &text).is_err());
    }
}

#[test]
fn many_references_on_one_line_take_linear_time() {
    let started = Instant::now();
    let mut names = String::new();
    for index in 0..200_000 {
        names.push_str(&format!("\"x[{index}]\", "));
    }
    let query = format!("release = \"sum\"\nvariables = [\"x[300000]\", {names}]");
    let text = SMALLEST.replace("release = \"cost\"", &query);
    let spec = spec::read("spec.toml", &text);
    assert!(spec.is_ok());
    assert!(started.elapsed() < PATIENCE);
}

#[test]
fn many_parameters_and_blocks_take_linear_time() {
    let started = Instant::now();
    let mut text = String::from(SMALLEST);
    for index in 0..50_000 {
        text.push_str(&format!(
            "[[private.parameter]]\nname = \"p{index}\"\nat = [{{ in = \"q\", column = {index} }}]\n"
        ));
        text.push_str(&format!(
            "[[problem.variable]]\nname = \"v{index}\"\nstage = \"witness\"\n"
        ));
        text.push_str(&format!("[[problem.constraint]]\nname = \"c{index}\"\n"));
        text.push_str(&format!(
            "[[feasibility.block]]\nname = \"c{index}\"\nweight = 1\n"
        ));
    }
    let spec = spec::read("spec.toml", &text);
    let count = |spec: spec::Spec| spec.model.is().map(|m: &Conic| m.parameters.len());
    assert_eq!(spec.map(count), Ok(Some(50_001)));
    assert!(started.elapsed() < PATIENCE);
}

#[test]
fn long_specs_are_refused_unread() {
    let text = "#".repeat((16 << 20) + 1);
    let message = spec::read("spec.toml", &text).map_err(|error| error.to_string());
    assert_eq!(
        message.err().as_deref(),
        Some("spec.toml:1:1: the spec has 16777217 bytes; at most 16777216 are read")
    );
}

#[test]
fn long_arrays_are_read_in_linear_time() {
    let started = Instant::now();
    let numbers = vec!["0.1"; 1_000_000].join(",");
    let bad = format!("{{\"P\":1,\"q\":[{numbers}],\"A\":1,\"b\":[{numbers},null],\"cones\":[]}}");
    assert!(problem::read("p.json", &bad).is_err());
    let n = 300_000;
    let zeros = vec!["0"; n].join(",");
    let empty = format!("\"n\":{n},\"colptr\":[0,{zeros}],\"rowval\":[],\"nzval\":[]");
    let cones = vec!["{\"ZeroConeT\":1}"; n].join(",");
    let text = format!(
        "{{\"P\":{{\"m\":{n},{empty}}},\"q\":[{zeros}],\"A\":{{\"m\":{n},{empty}}},\"b\":[{zeros}],\"cones\":[{cones}]}}"
    );
    assert_eq!(problem::read("p.json", &text).map(|p| p.cones.len()), Ok(n));
    assert!(started.elapsed() < PATIENCE);
}
