//! Damaged specs and problems through the whole public road, text to plan: refused or planned, never a panic.
//!
//! `CONVEIL_MUTATION_SECONDS` (2) is the time to spend.

mod running;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use conveil::solve::Cancel;
use conveil_workbench::{Failure, Kind, Text, Workbench};
use running::{EXAMPLES, GRID_EXAMPLES, examples, text};

/// A network in a file.
const CASE: &str = include_str!("../../../fuzz/seeds/matpower/five-buses.m");

/// SplitMix64.
struct Seeded(u64);

impl Seeded {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.bits() % end.max(1) as u64) as usize
    }
}

/// Values that are likely to matter; most keep the syntax whole, so that damage reaches the engine.
const TOKENS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "-1",
    "0.5",
    "1e-300",
    "1e300",
    "-0.0",
    "1e19",
    "1e-9",
    "0.499999",
    "nan",
    "true",
    "\"x\"",
    "\"x[0]\"",
    "\"identity\"",
    "\"sum\"",
    "\"cost\"",
    "\"gaussian\"",
    "\"truncated-laplace\"",
    "\"scenario\"",
    "\"row-by-row\"",
    "\"mass-box\"",
    "\"sampled-box\"",
    "\"ball\"",
    "\"fixed-recourse\"",
    "\"bounded\"",
    "\"witness\"",
    "\"here-and-now\"",
    "\"decision\"",
    "\"always\"",
    "\"at-the-mean\"",
    "\"universe\"",
    "\"l2\"",
    "\"l1\"",
    "\"q\"",
    "\"A\"",
    "\"b\"",
    "\"paper\"",
    "\"optimise\"",
    "\"deterministic\"",
    "\"envelope\"",
    "\"radius\"",
    "\"strong-convexity\"",
    "\"erm\"",
    "\"curvature\"",
    "\"generation\"",
    "\"largest-cost\"",
    "\"full\"",
    "\"ptdf\"",
    "\"all\"",
    "\"bus 7\"",
    "\"generator 1\"",
    "\"5_pjm\"",
    "[1, 2]",
    "[]",
    "{}",
];

/// Lines that sections may have; inserted after a line of their section or anywhere.
const LINES: &[&str] = &[
    "method = \"scenario\"",
    "method = \"sampled-box\"",
    "method = \"row-by-row\"",
    "factor = \"cantelli\"",
    "split = 0.25",
    "size = \"paper\"",
    "beta = 0.5",
    "delta = 0.01",
    "size = 2",
    "holds = \"always\"",
    "holds = \"at-the-mean\"",
    "stage = \"witness\"",
    "stage = \"here-and-now\"",
    "stage = \"decision\"",
    "stage = \"epigraph\"",
    "bounds = [0.0, 1.0]",
    "shape = [[2.0]]",
    "shape = [[0.0]]",
    "shape = \"curvature\"",
    "nominal = 0.5",
    "sensitivity = { by = \"envelope\", price = 10.0 }",
    "sensitivity = { by = \"strong-convexity\" }",
    "costs = \"full\"",
    "form = \"ptdf\"",
    "angle_limits = true",
    "loads = \"all\"",
    "bounds = { within = 5.0 }",
    "units = [\"generator 1\", \"bus 7\"]",
    "groups = { a = [\"generator 1\"], b = [\"bus 7\"] }",
    "sensitivity = { by = \"declared\", per_alpha = \"largest-cost\" }",
    "[lattice]\nstep = 1e-3",
    "[solver]\nthreads = 1\ntolerance = 1e-3",
    "[risk]\nobjective = \"cvar\"\ntail = 0.1",
    "[risk]\nlimit = { tail = 0.1, at_most = 1e6 }",
    "[[risk.variance]]\nvariables = [\"x\"]\nweight = 1.0",
    "[[feasibility.block]]\nname = \"limits\"\neta = 0.001",
    "[[feasibility.block]]\nname = \"c0\"\nweight = 2.0",
];

/// One to three random edits of words, lines or bytes.
fn damaged(random: &mut Seeded, good: &str) -> String {
    let mut text = String::from(good);
    for _ in 0..=random.below(3) {
        match random.below(6) {
            0..=2 => replace_word(random, &mut text),
            3 => {
                let mut lines: Vec<&str> = text.lines().collect();
                lines.insert(
                    random.below(lines.len() + 1),
                    LINES[random.below(LINES.len())],
                );
                text = lines.join("\n");
            }
            4 => {
                let mut lines: Vec<&str> = text.lines().collect();
                if !lines.is_empty() {
                    let line = lines.remove(random.below(lines.len()));
                    if random.below(2) == 0 {
                        lines.insert(random.below(lines.len() + 1), line);
                    }
                }
                text = lines.join("\n");
            }
            _ => {
                let mut bytes = text.into_bytes();
                let at = random.below(bytes.len());
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.bits() as u8;
                }
                text = String::from_utf8_lossy(&bytes).into_owned();
            }
        }
    }
    text
}

fn replace_word(random: &mut Seeded, text: &mut String) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_-.+\"".contains(c);
    let mut words = Vec::new();
    let mut start = None;
    for (offset, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (is_word(c), start) {
            (true, None) => start = Some(offset),
            (false, Some(first)) => {
                words.push(first..offset);
                start = None;
            }
            _ => {}
        }
    }
    if !words.is_empty() {
        let word = words[random.below(words.len())].clone();
        let new = if random.below(3) > 0 {
            String::from(TOKENS[random.below(TOKENS.len())])
        } else {
            text[words[random.below(words.len())].clone()].to_string()
        };
        text.replace_range(word, &new);
    }
}

/// Text to plan to the document that `check` shows.
fn planned(spec: &str, problem: &str, cancel: &Cancel) -> Result<String, Failure> {
    let named = |name, text| Text { name, text };
    // Whatever file the spec names, it gets the problem.
    let names: BTreeSet<&str> = spec.split('"').skip(1).step_by(2).collect();
    let files: Vec<Text> = names.iter().map(|name| named(name, problem)).collect();
    let bench = Workbench::from_files(named("spec.toml", spec), &files)?;
    // Not used, but they must not fail badly either.
    let _ = bench.dataset(None, cancel);
    Ok(bench.check(cancel)?.to_string())
}

fn seconds() -> Duration {
    let seconds = std::env::var("CONVEIL_MUTATION_SECONDS")
        .ok()
        .and_then(|text| text.parse::<f64>().ok())
        .filter(|seconds| (0.0..=1e6).contains(seconds))
        .unwrap_or(2.0);
    Duration::from_secs_f64(seconds)
}

/// A damaged sampled sensitivity may ask for days of solving: the curator would interrupt it, and so does this.
const PATIENCE: Duration = Duration::from_millis(100);

#[test]
fn damaged_inputs_are_planned_or_refused() {
    let file = |name: &str, end: &str| text(&examples().join(format!("{name}.{end}")));
    let saved = EXAMPLES.iter();
    let mut seeds: Vec<(String, String)> = saved
        .map(|name| (file(name, "toml"), file(name, "json")))
        .collect();
    for name in GRID_EXAMPLES {
        let builtin = file(name, "toml");
        let from_file = builtin.replace("network = \"24_ieee_rts\"", "file = \"case.m\"");
        seeds.push((builtin, String::new()));
        seeds.push((from_file, CASE.into()));
    }
    let current: Arc<Mutex<Option<(Instant, Cancel)>>> = Arc::default();
    let finished = Arc::new(AtomicBool::new(false));
    let watchdog = {
        let (current, finished) = (Arc::clone(&current), Arc::clone(&finished));
        std::thread::spawn(move || {
            while !finished.load(Ordering::Relaxed) {
                if let Ok(case) = current.lock()
                    && let Some((start, cancel)) = case.as_ref()
                    && start.elapsed() > PATIENCE
                {
                    cancel.raise();
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        })
    };
    let mut random = Seeded(3);
    let (mut tried, mut good, mut engine) = (0u64, 0u64, 0u64);
    let mut slowest = (Duration::ZERO, String::new());
    let end = Instant::now() + seconds();
    while Instant::now() < end {
        let (spec, problem) = &seeds[random.below(seeds.len())];
        let (spec, problem) = match random.below(4) {
            0 => (spec.clone(), damaged(&mut random, problem)),
            _ => (damaged(&mut random, spec), problem.clone()),
        };
        let cancel = Cancel::default();
        let start = Instant::now();
        if let Ok(mut case) = current.lock() {
            *case = Some((start, cancel.clone()));
        }
        let outcome = std::panic::catch_unwind(|| planned(&spec, &problem, &cancel));
        let outcome = outcome.unwrap_or_else(|_| panic!("panic on\n{spec}\n{problem}"));
        tried += 1;
        match outcome {
            Ok(shown) => {
                good += 1;
                assert!(!shown.is_empty());
            }
            Err(failure) => {
                let of_a_plan = [
                    Kind::Input,
                    Kind::NoSolution,
                    Kind::NotWithThisNoise,
                    Kind::Solver,
                    Kind::Interrupted,
                ];
                assert!(of_a_plan.contains(&failure.kind()), "{failure}");
                assert!(!failure.to_string().is_empty());
                engine += u64::from(!failure.to_string().contains("toml:"));
            }
        }
        if start.elapsed() > slowest.0 {
            slowest = (start.elapsed(), spec.clone());
        }
    }
    finished.store(true, Ordering::Relaxed);
    let _ = watchdog.join();
    println!("{tried} damaged inputs: {good} planned, {engine} refused past the reader");
    println!("slowest {:?}", slowest.0);
    assert!(slowest.0 < Duration::from_secs(10), "{}", slowest.1);
}
