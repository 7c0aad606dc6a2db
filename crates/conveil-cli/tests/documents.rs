//! The documents show what the command prints, and call it by one name.

mod running;

use std::path::{Path, PathBuf};

use running::{directory, ended, text, write};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// README.md and all that is in `docs`, by path.
fn documents() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(root().join("docs")).unwrap();
    let docs = docs.map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> = docs
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    all.push(root().join("README.md"));
    all
}

/// A fenced block: what stands behind the fence, and its lines.
struct Block {
    fence: String,
    lines: Vec<String>,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for line in document.lines() {
        match (line.strip_prefix("```"), open) {
            (Some(fence), false) => blocks.push(Block {
                fence: fence.into(),
                lines: Vec::new(),
            }),
            (None, true) => blocks.last_mut().unwrap().lines.push(line.into()),
            _ => {}
        }
        open ^= line.starts_with("```");
    }
    assert!(!open, "a fence is not closed");
    blocks
}

/// The words of a command behind its name, as a shell reads them, without a comment and without where the output goes.
fn words_of(line: &str) -> Vec<String> {
    let line = line.split(" #").next().unwrap_or_default();
    let line = line.split(" > ").next().unwrap_or_default();
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in line.trim().chars() {
        match (c, quote) {
            (' ', None) => words.push(String::new()),
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (c, _) => words.last_mut().unwrap().push(c),
        }
    }
    assert_eq!(quote, None, "{line}");
    words.retain(|word| !word.is_empty());
    words.split_off(1)
}

/// Runs a command of a document.
fn obeyed(place: &Path, line: &str) -> (i32, String, String) {
    let words = words_of(line);
    // The first command of the README runs what is not installed yet.
    let words = match line.starts_with("cargo run -- ") {
        true => &words[2..],
        false => &words[..],
    };
    ended(place, &words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A new directory with the examples in it, as a clone has them.
fn clone(name: &str) -> PathBuf {
    let place = directory(name);
    let specs = place.join("examples/specs");
    std::fs::create_dir_all(&specs).unwrap();
    for file in std::fs::read_dir(root().join("examples/specs")).unwrap() {
        let path = file.unwrap().path();
        std::fs::copy(&path, specs.join(path.file_name().unwrap())).unwrap();
    }
    place
}

/// Whether the long commands run too.
fn is_full() -> bool {
    std::env::var_os("CONVEIL_FULL").is_some()
}

/// After the install step the command has one name; only the first one of the README runs on a machine without it.
#[test]
fn documents_call_the_command_by_one_name() {
    let first = "cargo run -- report examples/specs/scalar-lp.toml";
    for path in documents() {
        let document = text(&path);
        let found: Vec<&str> = document
            .lines()
            .filter(|line| line.contains("cargo run -- "))
            .collect();
        match path.ends_with("README.md") {
            true => assert!(found.len() == 1 && found[0].starts_with(first), "{found:?}"),
            false => assert!(found.is_empty(), "{}: {found:?}", path.display()),
        }
        for other in [
            "target/debug/conveil",
            "./conveil ",
            "cargo run --bin",
            "cargo run -p conveil-cli",
        ] {
            assert!(!document.contains(other), "{}: {other}", path.display());
        }
    }
}

/// Every command of a document is one that there is.
#[test]
fn documents_name_verbs_that_there_are() {
    let (_, help, _) = ended(&root(), &["--help"]);
    let mut commands = 0;
    for path in documents() {
        let blocks = blocks(&text(&path));
        let lines = blocks
            .iter()
            .filter(|block| block.fence == "sh")
            .flat_map(|block| &block.lines);
        for line in lines.filter(|line| line.starts_with("conveil ")) {
            let verb = &words_of(line)[0];
            assert!(
                help.contains(&format!("\n  {verb} ")),
                "{}: {line}",
                path.display()
            );
            commands += 1;
        }
    }
    // A fence that is no longer recognised must not pass unseen.
    assert!(commands > 20, "{commands}");
}

/// All of it, to the letter: the first command ends with the file to open, and three others lead from a clone to a page about
/// a table of the reader's own.
#[test]
fn the_readme_shows_what_its_commands_print() {
    let place = clone("readme");
    let readme = text(&root().join("README.md"));
    let (mut printed, mut shown, mut pages) = (None, 0, 0);
    for block in blocks(&readme) {
        match block.fence.split_once(' ').unwrap_or((&block.fence, "")) {
            ("csv", name) => write(&place.join(name), block.lines.join("\n") + "\n"),
            ("sh", "") => {
                let is_ours =
                    |line: &&String| line.starts_with("conveil ") || line.starts_with("cargo run ");
                for line in block.lines.iter().filter(is_ours) {
                    let (code, stdout, stderr) = obeyed(&place, line);
                    assert_eq!(code, 0, "{line}: {stderr}");
                    if let Some(file) = stdout.lines().last().and_then(|l| l.strip_prefix("open "))
                    {
                        let page = text(&place.join(file));
                        assert!(page.starts_with("<!"), "{line}");
                        pages += 1;
                    }
                    printed = Some(stdout);
                }
            }
            ("text", "") => {
                let printed = printed.take().unwrap();
                assert_eq!(printed.lines().collect::<Vec<_>>(), block.lines);
                shown += 1;
            }
            _ => {}
        }
    }
    assert_eq!((shown, pages), (2, 2));
    // Three commands, one below the other.
    let three = "cargo install --path crates/conveil-cli";
    let install = readme.lines().skip_while(|line| !line.starts_with(three));
    let next: Vec<&str> = install.skip(1).take(2).collect();
    assert!(
        next[0].starts_with("conveil init --from rents.csv "),
        "{next:?}"
    );
    assert!(next[1].starts_with("conveil report rents.toml"), "{next:?}");
}

/// Commands that take long, each with its reason: they run with the long tests.
const LONG: &[(&str, &str)] = &[
    ("conveil study classifier", "a minute and more on two cores"),
    ("conveil study ellipsoid", "a minute on two cores"),
    (
        "conveil study regression --seeds 100 --records 400 --json",
        "a hundred fits of 400 records",
    ),
    ("conveil study wind", "the figure's test runs it"),
    ("conveil study svm", "the figure's test runs it"),
    ("conveil study opf", "the figure's test runs it"),
    ("conveil study regression", "the figure's test runs it"),
    (
        "conveil study opf --figure losses.svg",
        "the figure's test runs it",
    ),
    (
        "conveil study regression --figure curves.svg",
        "the figure's test runs it",
    ),
];

/// What serves until it is stopped: the browser's tests drive it.
const SERVES: &str = "conveil studio ";

/// A network of a reader's own: two units, a load far from the cheap one.
const CASE: &str = "\
function mpc = mine
mpc.version = '2';
mpc.baseMVA = 100;
mpc.bus = [
 1 3 0 0 0 0 1 1 0 230 1 1.1 0.9;
 2 1 90 0 0 0 1 1 0 230 1 1.1 0.9;
 3 2 60 0 0 0 1 1 0 230 1 1.1 0.9;
];
mpc.gen = [
 1 0 0 100 -100 1 100 1 300 0;
 3 0 0 100 -100 1 100 1 300 0;
];
mpc.branch = [
 1 2 0 0.1 0 250 250 250 0 0 1 -30 30;
 2 3 0 0.1 0 250 250 250 0 0 1 -30 30;
 1 3 0 0.1 0 250 250 250 0 0 1 -30 30;
];
mpc.gencost = [
 2 0 0 2 10 0;
 2 0 0 2 30 0;
];
";

/// What a document takes for granted: files of the reader's own.
fn provide(place: &Path) {
    let specs = place.join("examples/specs");
    let spec = text(&specs.join("two-generators.toml"));
    let ledger = "\n[ledger]\nfile = \"ledger.db\"\ndataset = \"loads-2026\"\n";
    let stated = spec.contains("[ledger]");
    assert!(!stated, "two-generators.toml has a ledger of its own");
    for name in ["two-generators.toml", "dispatch.toml"] {
        write(&place.join(name), format!("{spec}{ledger}"));
    }
    let problem = "two-generators.json";
    std::fs::copy(specs.join(problem), place.join(problem)).unwrap();
    write(&place.join("mine.m"), CASE);
    let records = |count: usize, seed: usize| {
        let mut csv = String::from("heat,shake,failed\n");
        for k in 0..count {
            let failed = (k + seed) % 2;
            let (heat, shake) = (
                40 + 30 * failed + (7 * k) % 23,
                3 + 4 * failed + (3 * k) % 5,
            );
            csv += &format!("{heat},{shake},{failed}\n");
        }
        csv
    };
    write(&place.join("train.csv"), records(120, 0));
    write(&place.join("test.csv"), records(60, 1));
    let mut curve = String::from("speed,power\n");
    for k in 0..=120 {
        let speed = 3.0 + 0.1 * f64::from(k);
        let power = 1.0 / (1.0 + (-(speed - 8.5)).exp());
        curve += &format!("{speed:.1},{power:.4}\n");
    }
    write(&place.join("mine.csv"), curve);
}

/// Every command of every document runs; the README and the first page have tests of their own, which compare what is printed.
#[test]
fn every_command_of_the_documents_runs() {
    let (mut ran, mut left) = (0, Vec::new());
    for path in documents() {
        if path.ends_with("README.md") || path.ends_with("start.md") {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let commands: Vec<Vec<String>> = blocks(&text(&path))
            .into_iter()
            .filter(|block| block.fence == "sh")
            .map(|block| {
                let lines = block.lines.into_iter();
                lines.filter(|line| line.starts_with("conveil ")).collect()
            })
            .filter(|lines: &Vec<String>| !lines.is_empty())
            .collect();
        if commands.is_empty() {
            continue;
        }
        let place = clone(&format!("commands-{name}"));
        provide(&place);
        for lines in commands {
            // A block that makes a ledger begins without one.
            if lines[0].starts_with("conveil ledger init ") {
                let _ = std::fs::remove_file(place.join("ledger.db"));
            }
            for line in lines.into_iter().filter(|l| !l.starts_with(SERVES)) {
                if !is_full() && LONG.iter().any(|(long, _)| *long == line) {
                    left.push(line);
                    continue;
                }
                let (code, _, stderr) = obeyed(&place, &line);
                assert_eq!(code, 0, "{}: {line}\n{stderr}", path.display());
                ran += 1;
            }
        }
    }
    assert!(ran > 30, "{ran}");
    // What is listed as long is a command of a document.
    for (long, why) in LONG {
        let found = is_full() || left.iter().any(|line| line == long);
        assert!(found, "{long} ({why})");
    }
}

/// The stored figures and the commands that made them.
const FIGURES: &[(&str, &str, bool)] = &[
    ("leakage.svg", "study leakage", false),
    ("example2.svg", "study example", false),
    ("density.svg", "study density", false),
    ("opf.svg", "study opf", false),
    ("regression.svg", "study regression", false),
    (
        "ellipsoid.svg",
        "study ellipsoid --polytopes octagon --universe 1",
        true,
    ),
    ("svm.svg", "study svm", true),
    ("wind.svg", "study wind", true),
];

/// A figure of the library's example: `cargo run --package conveil --example two_densities`.
const OTHERS: &[&str] = &["example1.svg"];

/// A text between its numbers, and the numbers.
fn numbers_of(svg: &str) -> (String, Vec<f64>) {
    let (mut between, mut numbers, mut number) = (String::new(), Vec::new(), String::new());
    for c in svg.chars().chain(['\n']) {
        if c.is_ascii_digit() || c == '.' || (c == '-' && number.is_empty()) {
            number.push(c);
            continue;
        }
        match number.parse() {
            Ok(value) => {
                numbers.push(value);
                between.push('0');
            }
            Err(_) => between.push_str(&number),
        }
        number.clear();
        between.push(c);
    }
    (between, numbers)
}

/// Every figure of the documents is what its command draws, to a hundredth of a unit.
#[test]
fn every_stored_figure_is_made_by_its_command() {
    let place = directory("figures");
    let stored = root().join("docs/figures");
    let mut known: Vec<&str> = FIGURES.iter().map(|(file, ..)| *file).collect();
    known.extend(OTHERS);
    for file in std::fs::read_dir(&stored).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(
            known.contains(&name.as_str()) || !name.ends_with(".svg"),
            "{name}: which command makes it?"
        );
    }
    for (file, command, is_long) in FIGURES {
        if *is_long && !is_full() {
            continue;
        }
        let line = format!("conveil {command} --figure {file} -q");
        let (code, _, stderr) = obeyed(&place, &line);
        assert_eq!(code, 0, "{line}: {stderr}");
        let (was, before) = numbers_of(&text(&stored.join(file)));
        let (is, now) = numbers_of(&text(&place.join(file)));
        assert!(was == is, "{file}: the drawing has other parts");
        let far = before.iter().zip(&now).map(|(a, b)| (a - b).abs());
        let far = far.fold(0.0, f64::max);
        assert!(before.len() == now.len() && far <= 0.01, "{file}: {far}");
    }
}

/// A line without its numbers and hashes.
fn without_numbers(line: &str) -> String {
    let mut words = Vec::new();
    for word in line.split(' ') {
        let hash = word.len() == 64 && word.chars().all(|c| c.is_ascii_hexdigit());
        words.push(if hash {
            "<hash>".into()
        } else {
            word.replace(|c: char| c.is_ascii_digit(), "")
        });
    }
    words.join(" ")
}

/// Whether the lines are those shown, where `…` stands for any lines.
fn shows(shown: &[String], printed: &[String]) -> bool {
    match (shown, printed) {
        ([], []) => true,
        ([dots, rest @ ..], _) if dots == "…" => {
            (0..=printed.len()).any(|skipped| shows(rest, &printed[skipped..]))
        }
        ([first, shown @ ..], [line, printed @ ..]) => first == line && shows(shown, printed),
        _ => false,
    }
}

/// The first result in five minutes: every command is run, in order, and prints what the page shows below it. In a block
/// fenced as `text drawn` numbers may differ; where a command fails, its complaint is shown.
#[test]
fn the_first_page_is_what_happens() {
    let place = directory("first-page");
    let page = text(&root().join("docs/start.md"));
    let (mut printed, mut compared) = (String::new(), 0);
    for block in blocks(&page) {
        match block.fence.split_once(' ').unwrap_or((&block.fence, "")) {
            ("csv", name) => write(&place.join(name), block.lines.join("\n") + "\n"),
            ("sh", "") => {
                for line in block
                    .lines
                    .iter()
                    .filter(|line| !line.starts_with("cargo install "))
                {
                    assert!(line.starts_with("conveil "), "{line}");
                    let (code, stdout, stderr) = obeyed(&place, line);
                    printed = if code == 0 { stdout } else { stderr };
                }
            }
            ("text", how) => {
                let mask = |line: &str| match how {
                    "drawn" => without_numbers(line),
                    _ => line.into(),
                };
                let shown: Vec<String> = block.lines.iter().map(|line| mask(line)).collect();
                let lines: Vec<String> = printed.lines().map(mask).collect();
                assert!(
                    shows(&shown, &lines),
                    "shown:\n{}\nprinted:\n{printed}",
                    block.lines.join("\n")
                );
                compared += 1;
            }
            ("toml", "spec") => {
                // What the blanks become; `check` takes it.
                write(&place.join("filled.toml"), block.lines.join("\n"));
                let (code, _, stderr) = ended(&place, &["check", "filled.toml"]);
                assert_eq!(code, 0, "{stderr}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(compared, 10);
    assert!(page.contains("cargo install --path crates/conveil-cli "));
}
