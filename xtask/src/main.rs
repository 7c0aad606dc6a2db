//! Development commands: `cargo xtask <command>`.

mod book;
mod browser;
mod names;
mod peers;
mod pglib;
mod python;
mod stage;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use stage::{Failure, Stage};

const HELP: &str = "\
Development commands of the workspace.

Usage: cargo xtask <command>

Commands:
  test          everything that must pass: names, formatting, lints, tests, Python, browser, book, documentation
  test --full   the same with the long studies (CONVEIL_FULL=1) and with PGLib's networks, which
                python3 installs below target/
  bench [ARGS]  the benchmarks; ARGS go to `cargo bench`
  bench --against-peers [--only NAME,…] [--full] [--json FILE] [--binary FILE]
                Conveil beside other solvers: CPU time, memory, growth, and whether all solve the same
                problem. --full takes large sizes too, --binary a conveil that is built already
  names         that no tracked file names a machine's paths or a package registry's host
  python        installs the Python package below target/, runs its tests, makes the wheel and tries it
  browser       drives reports, cards and the studio in Chromium, which it installs where it may; needs npm
  browser --measure
                how long a slider move of the studio takes beside the bare solve, and what memory it needs
  book          builds README.md and docs/ as a site, target/book; a broken link fails
  wheel         makes the wheel in target/wheels, and tries it without Rust
  pglib         installs PGLib's networks below target/, as `test --full` does
  import-networks DIR
                makes the built-in networks from a folder of PGLib's case files
  import-turbines FILE
                makes the built-in power curves from windpowerlib's oedb/power_curves.csv
  help          this text

Environment:
  CONVEIL_MUTATION_SECONDS  how long the tests mutate inputs, in `test`; 60 when not set
";

/// How long the tests mutate inputs, unless the environment says otherwise.
const MUTATION_SECONDS: (&str, &str) = ("CONVEIL_MUTATION_SECONDS", "60");

/// The exit code of a command line that cannot be read, as of the usual tools.
const USAGE: u8 = 2;

/// What the command line asks for.
#[derive(Debug, PartialEq)]
enum Command {
    Test { full: bool },
    Bench { arguments: Vec<String> },
    Peers(peers::Options),
    Names,
    Python,
    Browser { measure: bool },
    Wheel,
    Book,
    Pglib,
    ImportNetworks { folder: String },
    ImportTurbines { file: String },
    Help,
}

impl Command {
    fn read(arguments: &[String]) -> Result<Self, String> {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match words.as_slice() {
            [] | ["help" | "--help" | "-h"] | [_, "--help" | "-h"] => Ok(Command::Help),
            ["test"] => Ok(Command::Test { full: false }),
            ["test", "--full"] => Ok(Command::Test { full: true }),
            ["bench", rest @ ..] if rest.contains(&peers::FLAG) => {
                peers::Options::read(rest).map(Command::Peers)
            }
            ["bench", ..] => Ok(Command::Bench {
                arguments: arguments[1..].to_vec(),
            }),
            ["names"] => Ok(Command::Names),
            ["python"] => Ok(Command::Python),
            ["browser"] => Ok(Command::Browser { measure: false }),
            ["browser", "--measure"] => Ok(Command::Browser { measure: true }),
            ["wheel"] => Ok(Command::Wheel),
            ["book"] => Ok(Command::Book),
            ["pglib"] => Ok(Command::Pglib),
            ["import-networks"] => Err("import-networks needs a folder".to_string()),
            ["import-networks", folder] => Ok(Command::ImportNetworks {
                folder: folder.to_string(),
            }),
            ["import-turbines"] => Err("import-turbines needs a file".to_string()),
            ["import-turbines", file] => Ok(Command::ImportTurbines {
                file: file.to_string(),
            }),
            ["import-networks" | "import-turbines", _, rest @ ..]
            | [
                "test" | "names" | "python" | "browser" | "wheel" | "book" | "pglib",
                rest @ ..,
            ] => Err(format!("unexpected: {}", rest.join(" "))),
            [other, ..] => Err(format!("unknown command: {other}")),
        }
    }

    fn stages(&self) -> Vec<Stage> {
        match self {
            Command::Test { full } => test_stages(*full),
            Command::Bench { arguments } => {
                // The bench profile has a directory of its own, in which every dependency would build once more.
                let bench = ["bench", "--workspace", "--profile", "dev"].into_iter();
                let arguments = bench.chain(arguments.iter().map(String::as_str));
                vec![Stage::cargo("bench", arguments)]
            }
            Command::Peers(options) => {
                let mut stages = Vec::new();
                if options.builds() {
                    stages.push(Stage::cargo("build", ["build", "--package", "conveil-cli"]));
                    stages.push(Stage::cargo("build", peers::READERS));
                }
                let options = options.clone();
                let run = move |root: &Path| options.run(root);
                stages.push(Stage::check("bench --against-peers", run));
                stages
            }
            Command::Names => vec![Stage::check("names", names::check)],
            Command::Python => vec![Stage::check("python", python::test)],
            Command::Browser { measure: false } => {
                vec![Stage::check("browser", browser::test)]
            }
            Command::Browser { measure: true } => {
                vec![Stage::check("browser --measure", browser::measure)]
            }
            Command::Wheel => vec![Stage::check("wheel", python::wheel)],
            Command::Book => vec![Stage::check("book", book::build)],
            Command::Pglib => vec![Stage::check("pglib", pglib::install)],
            Command::ImportNetworks { folder } => {
                let example = "run --quiet --package conveil-grid --example import_networks --";
                vec![import("import-networks", example, folder)]
            }
            Command::ImportTurbines { file } => {
                let example = "run --quiet --package conveil-models --example import_turbines --";
                vec![import("import-turbines", example, file)]
            }
            Command::Help => Vec::new(),
        }
    }
}

/// An example that imports from a file or folder. Stages run at the root of the workspace, the user may be elsewhere.
fn import(name: &'static str, example: &str, path: &str) -> Stage {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
    let path = path.to_string_lossy();
    Stage::cargo(name, example.split(' ').chain([path.as_ref()]))
}

/// Cheap before dear. Lints stand before the tests, since the documentation needs the dependencies
/// checked too and finds them so.
fn test_stages(full: bool) -> Vec<Stage> {
    let mut tests = Stage::cargo("tests", ["test", "--workspace"]);
    if env::var_os(MUTATION_SECONDS.0).is_none() {
        tests = tests.with_env(MUTATION_SECONDS.0, MUTATION_SECONDS.1);
    }
    let mut stages = vec![
        Stage::check("names", names::check),
        Stage::cargo("format", ["fmt", "--all", "--check"]),
    ];
    if full {
        let cases = pglib::cases(&workspace_root());
        tests = tests
            .with_env("CONVEIL_FULL", "1")
            .with_env(pglib::VARIABLE, cases)
            .with_env(pglib::PYTHON, pglib::python(&workspace_root()));
        stages.push(Stage::check("pglib", pglib::install));
    }
    let lints = "clippy --workspace --all-targets -- -D warnings";
    stages.extend([
        Stage::cargo("lints", lints.split(' ')),
        tests,
        // After the tests: the extension module is built on what they have built.
        Stage::check("python", python::test),
        Stage::check("browser", browser::test),
        Stage::check("book", book::build),
        Stage::cargo("docs", ["doc", "--workspace", "--no-deps"])
            .with_env("RUSTDOCFLAGS", "-D warnings"),
    ]);
    stages
}

/// The workspace, seen from this package's own place in it.
fn workspace_root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_path_buf()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let command = match Command::read(&arguments) {
        Ok(Command::Help) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Ok(command) => command,
        Err(message) => {
            eprintln!("xtask: {message}\n\n{HELP}");
            return ExitCode::from(USAGE);
        }
    };
    match stage::run_all(&command.stages(), &workspace_root()) {
        Ok(summary) => {
            println!("xtask: {summary}");
            ExitCode::SUCCESS
        }
        Err(Failure { message, code }) => {
            eprintln!("xtask: {message}");
            ExitCode::from(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Command, String> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        Command::read(&words)
    }

    #[test]
    fn imports_run_examples_that_exist() {
        let crates = workspace_root().join("crates");
        for example in [
            "conveil-grid/examples/import_networks.rs",
            "conveil-models/examples/import_turbines.rs",
        ] {
            assert!(crates.join(example).is_file(), "{example}");
        }
    }

    #[test]
    fn commands_are_read_and_nothing_is_ignored() {
        assert_eq!(read("test"), Ok(Command::Test { full: false }));
        assert_eq!(read("test --full"), Ok(Command::Test { full: true }));
        assert_eq!(read("names"), Ok(Command::Names));
        assert_eq!(read("python"), Ok(Command::Python));
        assert_eq!(read("browser"), Ok(Command::Browser { measure: false }));
        assert_eq!(
            read("browser --measure"),
            Ok(Command::Browser { measure: true })
        );
        assert!(
            read("browser --fast")
                .unwrap_err()
                .contains("unexpected: --fast")
        );
        assert_eq!(read("wheel"), Ok(Command::Wheel));
        assert_eq!(read("book"), Ok(Command::Book));
        assert_eq!(read(""), Ok(Command::Help));
        assert_eq!(read("test --help"), Ok(Command::Help));
        let arguments = vec!["--bench".to_string(), "solve".to_string()];
        assert_eq!(
            read("bench --bench solve"),
            Ok(Command::Bench { arguments })
        );
        let peers = read("bench --against-peers --full").unwrap();
        assert!(matches!(&peers, Command::Peers(_)));
        assert_eq!(peers.stages().len(), 3);
        let built = read("bench --against-peers --binary conveil").unwrap();
        assert_eq!(built.stages().len(), 1);
        assert!(read("bench --against-peers --onl").is_err());
        let folder = "cases".to_string();
        assert_eq!(
            read("import-networks cases"),
            Ok(Command::ImportNetworks { folder })
        );
        let file = "curves.csv".to_string();
        assert_eq!(
            read("import-turbines curves.csv"),
            Ok(Command::ImportTurbines { file })
        );
        assert!(read("import-turbines").unwrap_err().contains("file"));
        assert!(read("import-turbines a b").unwrap_err().contains("b"));
        assert!(read("import-networks").unwrap_err().contains("folder"));
        assert!(read("import-networks a b").unwrap_err().contains("b"));
        assert!(read("test --ful").unwrap_err().contains("--ful"));
        assert!(read("tset").unwrap_err().contains("tset"));
    }

    #[test]
    fn the_browser_is_part_of_the_test_and_comes_after_what_it_stands_on() {
        let stages = test_stages(false);
        let place = |name| {
            stages
                .iter()
                .position(|stage| stage.name() == name)
                .unwrap()
        };
        assert!(place("tests") < place("browser") && place("python") < place("browser"));
        assert!(
            stages
                .iter()
                .all(|stage| stage.name() != "browser --measure")
        );
    }

    #[test]
    fn only_the_full_test_asks_for_the_long_studies_and_for_pglib() {
        for variable in ["CONVEIL_FULL", pglib::VARIABLE, pglib::PYTHON] {
            let asks = |full| {
                let stages = test_stages(full);
                stages.iter().any(|stage| stage.sets(variable))
            };
            assert!(asks(true) && !asks(false));
        }
    }
}
