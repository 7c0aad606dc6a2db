//! `conveil study`: the paper's tables and figures. A study brings its name, flags, text and JSON along.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use conveil::solve::Cancel;
use conveil_studies::study::{self, Entry, STUDIES};
use conveil_workbench::Failure;

use crate::arguments::Output;
use crate::new_file::{refuse_existing, write_new};
use crate::terminal::Terminal;

/// Pixels of a PNG for each unit of the figure.
const PIXELS: f32 = 2.0;

/// Which study, with its flags.
pub(crate) struct Studied {
    study: &'static Entry,
    flags: ArgMatches,
    csv: Option<PathBuf>,
    figure: Option<PathBuf>,
    pub(crate) output: Output,
}

/// Where the curves of a study go.
#[derive(Args)]
struct Curves {
    /// Write the curves to this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

/// Where the figure of a study goes.
#[derive(Args)]
struct Drawn {
    /// Draw the result to this file; its ending says how
    #[arg(long, value_name = "FILE.svg|FILE.png", value_parser = figure_file)]
    figure: Option<PathBuf>,
}

fn figure_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|end| end.to_str()) {
        Some("svg" | "png") => Ok(path),
        _ => Err("must end in .svg or .png".into()),
    }
}

impl Subcommand for Studied {
    fn augment_subcommands(command: Command) -> Command {
        command.subcommands(STUDIES.iter().map(|study| {
            let flags = match study.has_csv {
                true => Curves::augment_args(study.command()),
                false => study.command(),
            };
            // Each group of flags brings an about of its own: the study's is the last word.
            Output::augment_args(Drawn::augment_args(flags)).about(study.about)
        }))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        STUDIES.iter().any(|study| study.name == name)
    }
}

impl FromArgMatches for Studied {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let named = matches.subcommand().and_then(|(name, flags)| {
            let study = STUDIES.iter().find(|study| study.name == name)?;
            Some((study, flags.clone()))
        });
        let (study, flags) =
            named.ok_or_else(|| clap::Error::new(clap::error::ErrorKind::MissingSubcommand))?;
        Ok(Studied {
            csv: match study.has_csv {
                true => Curves::from_arg_matches(&flags)?.csv,
                false => None,
            },
            figure: Drawn::from_arg_matches(&flags)?.figure,
            output: Output::from_arg_matches(&flags)?,
            study,
            flags,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl std::fmt::Debug for Studied {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "study {}", self.study.name)
    }
}

/// Runs a study.
pub(crate) fn run(wanted: &Studied, terminal: &Terminal, cancel: &Cancel) -> Result<(), Failure> {
    if let Some(figure) = &wanted.figure {
        refuse_existing(figure, "figure")?;
    }
    if let Some(csv) = &wanted.csv {
        refuse_existing(csv, "table")?;
    }
    let name = format!("study {}", wanted.study.name);
    let found = {
        let progress = terminal.progress(name.clone());
        let batch = progress.batch(None, cancel);
        terminal.stage("study", || wanted.study.run(&wanted.flags, &batch))
    };
    let table = found.map_err(|failure| match failure {
        study::Failure::Engine(error) => Failure::engine(&name, &error),
        study::Failure::Input(message) => Failure::input(message),
    })?;
    if let Some(path) = &wanted.csv {
        write_new(path, "table", table.csv().as_bytes())?;
    }
    if let Some(path) = &wanted.figure {
        let figure = table.figure();
        let bytes = if path.extension().is_some_and(|end| end == "png") {
            let drawn = figure.to_png(PIXELS);
            drawn.map_err(|why| Failure::input(format!("{}: {why}", path.display())))?
        } else {
            figure.to_svg().into_bytes()
        };
        write_new(path, "figure", &bytes)?;
    }
    terminal.show_document(&*table)?;
    terminal.say_timings();
    Ok(())
}
