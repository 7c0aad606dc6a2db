//! The flags, each documented once: what clap reads is what `--help` shows.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use conveil::curator::{About, Axis};
use conveil_text::naming::printable;

use crate::ledger::Book;
use crate::study::Studied;

/// Exit code of a command line that cannot be read: bad input, like a bad spec.
pub(crate) const USAGE: u8 = 2;

/// Lines of a usage error are cut after this many characters.
const LONGEST_LINE: usize = 2000;

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  2  bad command line, spec or input
  3  the program itself is infeasible or unbounded
  4  feasible, but not with this noise or privacy; an audit that flags the claim
  5  over budget
  6  the solver failed, or was interrupted
  7  the answer is charged, but its card or decision could not be delivered: it is kept in a private file

A first example:
  conveil init svm --dir first";

/// Releases answers from convex optimization models without giving away the data behind them.
///
/// A spec file (TOML) says which program is solved, which of its numbers are private, what would be released and with
/// which promises. Conveil makes the decision a linear function of the privacy noise, so that the answer is
/// differentially private and still feasible. Results go to standard output, progress and warnings to standard error.
#[derive(Debug, Parser)]
#[command(name = "conveil", version, after_help = EXIT_CODES, subcommand_required = false)]
struct Line {
    #[command(subcommand)]
    command: Option<Command>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a first spec: with sample data, or with blanks for a file of yours
    #[command(
        after_help = "Without MODEL and --from it asks on a terminal, and elsewhere lists the models. No file is ever overwritten.\n\n\
        Of the file of --from the names of the columns are looked at, and no value. The spec is written beside it; what\n\
        only you can say stands there as \"FILL IN: …\", and `conveil check` names the next such place. --set fills it in,\n\
        and --set KEY=- deletes a line that may be left out, such as that of a column which does not predict.\n\n\
        Examples:\n  conveil init\n  conveil init opf --dir first --epsilon 0.5\n  conveil init --from patients.csv --model svm\n  \
        conveil init --from rents.csv --model regression --epsilon 1 --set response=rent"
    )]
    Init(Init),
    /// Show what a spec would release and guarantee, without using the private values
    #[command(after_help = "Example:\n  conveil check examples/specs/two-generators.toml")]
    Check(Checked),
    /// Solve on the private data and report to the curator; nothing is released
    #[command(after_help = "Example:\n  conveil solve examples/specs/two-generators.toml")]
    Solve(Answering),
    /// Show the private values beside their public bounds and nominal values, and what is odd; for the curator alone
    #[command(after_help = "Example:\n  conveil inspect examples/specs/opf-24.toml")]
    Inspect(Curating),
    /// Compare all strategies side by side on the same noise
    #[command(
        after_help = "Example:\n  conveil compare examples/specs/scalar-lp.toml --draws 10000 --seed 7"
    )]
    Compare(Study),
    /// Explain what holds the program back, and how far epsilon, alpha and eta can go
    #[command(after_help = "Example:\n  conveil explain examples/specs/portfolio.toml")]
    Explain(Answering),
    /// Tabulate the loss against epsilon, alpha, eta, or a public number of the certificate: width, curvature, price
    #[command(
        after_help = "Example:\n  conveil frontier examples/specs/scalar-lp.toml --over epsilon --values 0.3,1,3"
    )]
    Frontier(Sweep),
    /// Charge the ledger, solve, draw the noise once and print the public card
    #[command(
        after_help = "The card is the only public document. Standard error and the exit code are the curator's.\n\n\
        Example:\n  conveil release dispatch.toml --decision dispatch.json"
    )]
    Release(Releasing),
    /// Show how far neighbouring datasets move the answer, beside the sensitivity in use; for the curator
    #[command(
        after_help = "Example:\n  conveil sensitivity examples/specs/sampled-dispatch.toml --pairs 50"
    )]
    Sensitivity(Probe),
    /// Look for neighbouring datasets that the noise hides less well than claimed; for the curator
    #[command(
        after_help = "A pair above the claim is flagged: exit code 4. No pair found is no proof.\n\nExample:\n  conveil audit examples/specs/sampled-dispatch.toml --pairs 50"
    )]
    Audit(Audited),
    /// Write the curator's report as one HTML file, with figures; nothing is released
    #[command(
        after_help = "With --studies it needs no spec, and writes the paper's tables and figures beside ours: public, and a few minutes\nof work.\n\nExamples:\n  conveil report examples/specs/two-generators.toml -o report.html\n  conveil report --studies --only opf,cvar -o studies.html"
    )]
    Report(Reported),
    /// Write a released card as one HTML file; public, nothing but what the card says
    #[command(after_help = "Example:\n  conveil card card.json -o card.html")]
    Card(Carded),
    /// Serve a local page: move settings, look, compare, audit and release
    #[command(
        after_help = "It prints the address to open, which holds a token: keep it to yourself. Only this machine can reach it. The page\n\
        runs at public data until you switch to the private ones; settings moved after that are marked on every card.\n\n\
        Example:\n  conveil studio examples/specs/opf-24.toml --folder examples/specs"
    )]
    Studio(Served),
    /// Keep a privacy budget per dataset, and the account of what was spent
    #[command(
        subcommand,
        after_help = "Example:\n  conveil ledger init ledger.db --dataset loads-2026 --epsilon 1 --spec spec.toml"
    )]
    Ledger(Book),
    /// Reproduce a table or figure of the paper; seeded noise, nothing is released
    #[command(
        subcommand,
        after_help = "Example:\n  conveil study opf --networks 5_pjm --alpha 1,3"
    )]
    Study(Studied),
    /// Look whether this machine, a spec and its ledger are in order; charges nothing, reads no private value
    #[command(
        after_help = "Something broken: exit code 2. Warnings alone: 0.\n\nExample:\n  conveil doctor examples/specs/opf-24.toml"
    )]
    Doctor(Examined),
    /// Print the completions of a shell
    #[command(
        after_help = "Example:\n  conveil completions bash > ~/.local/share/bash-completion/completions/conveil"
    )]
    Completions(Completions),
    /// Print the manual page of conveil, or of one of its verbs
    #[command(after_help = "Example:\n  conveil man > conveil.1\n  man ./conveil.1")]
    Man(Manual),
}

/// `doctor`.
#[derive(Debug, Args)]
pub(crate) struct Examined {
    /// A spec file: its plan, who may read its private files, and its ledger
    #[arg(value_name = "SPEC.toml")]
    pub(crate) spec: Option<PathBuf>,
    /// A ledger file
    #[arg(long, value_name = "FILE")]
    pub(crate) ledger: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// `completions`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

/// `man`.
#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// A verb [default: the page of conveil itself]
    #[arg(value_name = "VERB")]
    pub(crate) verb: Option<String>,
}

/// `init`.
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The model; its spec comes with sample data, which are made up
    #[arg(value_name = "MODEL", conflicts_with_all = ["from", "of"])]
    pub(crate) model: Option<String>,
    /// The directory to write to; made if there is none [default: the current one]
    #[arg(long, value_name = "DIR", conflicts_with = "from")]
    pub(crate) dir: Option<PathBuf>,
    /// Write a spec with blanks for this file of private data, beside it
    #[arg(long, value_name = "DATA.csv")]
    pub(crate) from: Option<PathBuf>,
    /// The model of --from [default: where the names of the columns tell]
    #[arg(id = "of", long = "model", value_name = "MODEL", requires = "from")]
    pub(crate) of: Option<String>,
    /// ε, the privacy: smaller hides more and needs more noise
    #[arg(long, value_name = "E")]
    pub(crate) epsilon: Option<String>,
    /// α, the change of one private number to hide, where the model has one
    #[arg(long, value_name = "A")]
    pub(crate) alpha: Option<String>,
    /// η, how often a decision may break a limit at most
    #[arg(long, value_name = "H")]
    pub(crate) eta: Option<String>,
    /// Write a value into the spec: a number, a word, or TOML such as [0, 100]; once for each value
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) output: Output,
}

impl Init {
    /// What to write into the spec: keys and values.
    pub(crate) fn answers(&self) -> Vec<(String, String)> {
        let named = [
            ("privacy.epsilon", &self.epsilon),
            ("private.adjacency.alpha", &self.alpha),
            ("feasibility.eta", &self.eta),
        ];
        let named = named.into_iter();
        let mut answers = self.set.clone();
        answers.extend(named.filter_map(|(key, value)| Some((key.into(), value.clone()?))));
        answers
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
            Ok((key.trim().into(), value.trim().into()))
        }
        _ => Err("must be KEY=VALUE, such as epsilon=1.0".into()),
    }
}

/// What every verb takes.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// The spec file; paths in it are relative to its directory
    #[arg(value_name = "SPEC.toml")]
    pub(crate) spec: PathBuf,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// What `check` takes.
#[derive(Debug, Args)]
pub(crate) struct Checked {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Fail where public data show that the answer would be poor [exit code 4]
    #[arg(long)]
    pub(crate) strict: bool,
    /// Show everything: the guarantee in full, every private number with every row it enters, every block and decision
    #[arg(long)]
    pub(crate) details: bool,
}

/// How the result is shown.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Output {
    /// Print JSON instead of text: one document; of a series it has all `cards`
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress, notes and timings on standard error; warnings stay
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What the verbs that use the private data take.
#[derive(Debug, Args)]
pub(crate) struct Curating {
    #[command(flatten)]
    pub(crate) common: Common,
    /// The dataset of a series of demands, counted from 1 [default: the first]
    #[arg(long, value_name = "N", value_parser = row)]
    pub(crate) row: Option<usize>,
    /// Use public data instead of the private ones: what is shown is then public, and may be chosen by
    #[arg(long, value_enum, value_name = "DATA")]
    pub(crate) at: Option<At>,
}

/// `solve` and `explain`.
#[derive(Debug, Args)]
pub(crate) struct Answering {
    #[command(flatten)]
    pub(crate) curating: Curating,
    #[command(flatten)]
    pub(crate) depth: Depth,
}

/// How much is shown below the answer.
#[derive(Debug, Args)]
pub(crate) struct Depth {
    /// Show everything below the answer, as it is: the guarantee in full, lines of any length
    #[arg(long)]
    pub(crate) details: bool,
}

/// Public data that stand in for the private ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum At {
    /// The nominal values of the spec or the network
    Nominal,
    /// The public dataset that the spec names as `twin`
    Twin,
}

/// `report`.
#[derive(Debug, Args)]
pub(crate) struct Reported {
    /// The spec file; paths in it are relative to its directory
    #[arg(value_name = "SPEC.toml", required_unless_present = "studies")]
    pub(crate) spec: Option<PathBuf>,
    /// The dataset of a series of demands, counted from 1 [default: the first]
    #[arg(long, value_name = "N", value_parser = row)]
    pub(crate) row: Option<usize>,
    /// Use public data instead of the private ones: what is shown is then public, and may be chosen by
    #[arg(long, value_enum, value_name = "DATA")]
    pub(crate) at: Option<At>,
    /// The new file [default: the name of the spec with -report.html, or studies.html, in the current directory]
    #[arg(long, short, value_name = "FILE.html")]
    pub(crate) out: Option<PathBuf>,
    /// Write the paper's tables and figures beside ours, without any spec: public
    #[arg(long, conflicts_with_all = ["spec", "row", "at"])]
    pub(crate) studies: bool,
    /// These studies alone, as `conveil study --help` lists them
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        requires = "studies"
    )]
    pub(crate) only: Vec<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// `card`.
#[derive(Debug, Args)]
pub(crate) struct Carded {
    /// The card, as `conveil release … --json` prints it
    #[arg(value_name = "CARD.json")]
    pub(crate) card: PathBuf,
    /// The new file
    #[arg(long, short, value_name = "FILE.html", default_value = "card.html")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// `studio`.
#[derive(Debug, Args)]
pub(crate) struct Served {
    /// The spec to open first
    #[arg(value_name = "SPEC.toml")]
    pub(crate) spec: Option<PathBuf>,
    /// The folder of specs and data; no file outside of it is opened. The spec's own, or this one
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// The port on 127.0.0.1; any that is free where none is named
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// `compare`.
#[derive(Debug, Args)]
pub(crate) struct Study {
    #[command(flatten)]
    pub(crate) curating: Curating,
    /// How many draws of the noise [default: the spec's, 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub(crate) draws: Option<u64>,
    /// The seed of the draws [default: the spec's, 1]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) depth: Depth,
}

/// `frontier`.
#[derive(Debug, Args)]
pub(crate) struct Sweep {
    #[command(flatten)]
    pub(crate) curating: Curating,
    /// What varies
    #[arg(long, value_enum, default_value = "epsilon")]
    pub(crate) over: Over,
    /// Its values, separated by commas [default: 1/8 to 8 times the spec's own]
    #[arg(long, value_name = "V,V,…", value_delimiter = ',', value_parser = positive)]
    pub(crate) values: Option<Vec<f64>>,
}

/// `release`.
#[derive(Debug, Args)]
pub(crate) struct Releasing {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Release one dataset of a series of demands, counted from 1 [default: all, one answer and one charge each]
    #[arg(long, value_name = "N", value_parser = row)]
    pub(crate) row: Option<usize>,
    /// Write the private decision that carries the answer out to a new file: JSON if it ends in .json, else text; of a
    /// series to FILE-1, FILE-2, …, with the labels of the rows behind the numbers where they have labels
    #[arg(long, value_name = "FILE")]
    pub(crate) decision: Option<PathBuf>,
    /// Write the private curator report to a new file: JSON if it ends in .json, else text; of a series to FILE-1, …
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Of a series, release as many rows as the budget takes [default: a series that does not fit whole is refused]
    #[arg(long, conflicts_with = "row")]
    pub(crate) until_spent: bool,
    /// Refuse a release that public data show to be poor; nothing is charged [exit code 4]
    #[arg(long)]
    pub(crate) strict: bool,
    /// Do all that comes before the charge and stop: says what would be charged and what would be left; nothing is charged,
    /// solved or written
    #[arg(long, conflicts_with = "not_private")]
    pub(crate) dry_run: bool,
    /// Release without a ledger; the card says so
    #[arg(long)]
    pub(crate) no_ledger: bool,
    /// Allow a run that is not private (paper mode, or --seed); the card says so, and nothing is charged
    #[arg(long, conflicts_with = "no_ledger")]
    pub(crate) not_private: bool,
    /// Draw the noise from this seed, for a study that must repeat
    #[arg(long, value_name = "N", requires = "not_private")]
    pub(crate) seed: Option<u64>,
}

/// `sensitivity`, and the part of `audit` that finds pairs.
#[derive(Debug, Args)]
pub(crate) struct Probe {
    #[command(flatten)]
    pub(crate) curating: Curating,
    /// How many random pairs
    #[arg(long, value_name = "N", default_value_t = conveil_workbench::Probe::default().pairs, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub(crate) pairs: u64,
    /// The seed of the pairs and of the search [default: the spec's, 1]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The adversarial search climbs from this many of the worst pairs; 0 for none
    #[arg(long, value_name = "N", default_value_t = conveil_workbench::Probe::default().climbs, value_parser = clap::value_parser!(u64).range(0..=1000))]
    pub(crate) climbs: u64,
    /// The adversarial search solves about this many programs
    #[arg(long, value_name = "N", default_value_t = conveil_workbench::Probe::default().solves, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub(crate) solves: u64,
    /// Study noise calibrated to the map without noise, around the private data: nothing that comes of it may be called
    /// private
    #[arg(long)]
    pub(crate) not_private: bool,
}

/// `audit`.
#[derive(Debug, Args)]
pub(crate) struct Audited {
    #[command(flatten)]
    pub(crate) probe: Probe,
    /// Save the worst pair to this new file
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub(crate) witness: Option<PathBuf>,
    /// Do not search: solve the pair in this file again
    #[arg(long, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,
    /// Then draw this many answers from each side of the worst pair, as a release would, and bound ε from below
    #[arg(long, value_name = "N", conflicts_with = "replay", value_parser = clap::value_parser!(u64).range(4..=100_000_000))]
    pub(crate) blackbox: Option<u64>,
}

/// The axis of a frontier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Over {
    /// The privacy parameter ε
    Epsilon,
    /// The distance α between neighbouring datasets
    Alpha,
    /// The probability η of an infeasible decision
    Eta,
    /// The width of a certificate: by how much data may be corrected
    Width,
    /// The quadratic cost that a certificate adds on what is released
    Curvature,
    /// The price of a certificate for one unit beside the data
    Price,
}

impl Probe {
    /// As the workbench takes it.
    pub(crate) fn probe(&self) -> conveil_workbench::Probe {
        conveil_workbench::Probe {
            pairs: self.pairs,
            seed: self.seed,
            climbs: self.climbs,
            solves: self.solves,
            not_private: self.not_private,
            row: self.curating.row,
        }
    }
}

impl Curating {
    /// Whose numbers are used.
    pub(crate) fn about(&self) -> About {
        about(self.at)
    }
}

/// Whose numbers are used.
pub(crate) fn about(at: Option<At>) -> About {
    match at {
        None => About::Private,
        Some(At::Nominal) => About::Nominal,
        Some(At::Twin) => About::Twin,
    }
}

impl Over {
    pub(crate) fn axis(self) -> Axis {
        match self {
            Over::Epsilon => Axis::Epsilon,
            Over::Alpha => Axis::Alpha,
            Over::Eta => Axis::Eta,
            Over::Width => Axis::Width,
            Over::Curvature => Axis::Curvature,
            Over::Price => Axis::Price,
        }
    }
}

impl Command {
    /// How its result is shown.
    pub(crate) fn output(&self) -> Output {
        match self {
            Command::Init(init) => init.output,
            Command::Check(checked) => checked.common.output,
            Command::Solve(answering) | Command::Explain(answering) => {
                answering.curating.common.output
            }
            Command::Inspect(curating) => curating.common.output,
            Command::Compare(study) => study.curating.common.output,
            Command::Frontier(sweep) => sweep.curating.common.output,
            Command::Release(releasing) => releasing.common.output,
            Command::Sensitivity(probe) => probe.curating.common.output,
            Command::Audit(audited) => audited.probe.curating.common.output,
            Command::Report(reported) => reported.output,
            Command::Card(carded) => carded.output,
            Command::Studio(served) => served.output,
            Command::Ledger(book) => book.output(),
            Command::Study(study) => study.output,
            Command::Doctor(examined) => examined.output,
            // Texts for other programs, as they are.
            Command::Completions(_) | Command::Man(_) => Output {
                json: false,
                quiet: true,
            },
        }
    }
}

fn row(text: &str) -> Result<usize, String> {
    match text.trim().parse::<usize>() {
        Ok(row) if row > 0 => Ok(row),
        _ => Err("must be a whole number from 1".into()),
    }
}

pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("must be a positive number".into()),
    }
}

/// The command, or the exit code after help or a usage error was printed.
pub(crate) fn read() -> Result<Command, ExitCode> {
    let line = Line::try_parse().map_err(|error| {
        // Neither a closed pipe nor anything else about the terminal is worth a panic.
        let _ = match error.use_stderr() {
            // It repeats what was typed, or what a script put there.
            true => write!(
                std::io::stderr(),
                "{}",
                printable(&error.render().to_string(), LONGEST_LINE)
            ),
            false => error.print(),
        };
        ExitCode::from(if error.use_stderr() { USAGE } else { 0 })
    })?;
    line.command.ok_or_else(|| {
        let help = Line::command().render_long_help();
        let _ = write!(std::io::stdout(), "{help}");
        ExitCode::SUCCESS
    })
}

/// What the shell needs to complete this command line.
pub(crate) fn completions(shell: clap_complete::Shell) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Line::command(), "conveil", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The manual page of conveil, or of this verb; none where there is no such verb.
pub(crate) fn manual(verb: Option<&str>) -> std::io::Result<Option<String>> {
    let mut line = Line::command();
    line.build();
    let page = match verb {
        None => Some(line),
        Some(verb) => line.find_subcommand(verb).cloned(),
    };
    let Some(page) = page else { return Ok(None) };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    Ok(Some(String::from_utf8_lossy(&text).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_are_consistent() {
        Line::command().debug_assert();
    }
}
