//! The paper's tables and figures beside ours, as one page: each study's text, figure and legend.

use conveil::solve::Batch;
use conveil_studies::study::{self, Entry, STUDIES};
use conveil_workbench::{Failure, Kind};

use crate::html::{Fragment, document, section};
use crate::sections;

/// The studies of these names, in the order of the list; all of them where none is named.
pub fn chosen_studies(only: &[String]) -> Result<Vec<&'static Entry>, Failure> {
    let is_known = |name: &&String| STUDIES.iter().any(|study| study.name == **name);
    if let Some(name) = only.iter().find(|name| !is_known(name)) {
        let known: Vec<&str> = STUDIES.iter().map(|study| study.name).collect();
        return Err(Failure::input(format!(
            "there is no study {name:?}\n  help: the studies are {}",
            known.join(", ")
        )));
    }
    let wanted = |study: &&Entry| only.is_empty() || only.iter().any(|name| name == study.name);
    Ok(STUDIES.iter().filter(wanted).collect())
}

/// A study at its default settings, as a section of the page. A study that fails says why; an interruption is a failure.
pub fn study(study: &Entry, batch: &Batch<'_>) -> Result<String, Failure> {
    let name = format!("study {}", study.name);
    let flags = study.command().no_binary_name(true);
    let flags = flags.try_get_matches_from([""; 0]);
    let flags = flags.map_err(|error| Failure::input(format!("{name}: {error}")))?;
    let found = study.run(&flags, batch).map_err(|failure| match failure {
        study::Failure::Engine(error) => Failure::engine(&name, &error),
        study::Failure::Input(message) => Failure::input(message),
    });
    let fragment = match found {
        Ok(table) => {
            let text = table.to_string();
            let headline = text.lines().next().unwrap_or_default();
            // The legend is prose: its lines may be broken, those of the table not.
            let (rows, legend) = text.trim_end().rsplit_once("\n\n").unwrap_or((&text, ""));
            let fragment = Fragment::new()
                .figure(&table.figure().to_svg(), headline)
                .words(rows, true);
            match legend {
                "" => fragment.html(),
                legend => fragment.words(legend, false).html(),
            }
        }
        Err(failure) if failure.kind() == Kind::Interrupted => return Err(failure),
        Err(failure) => sections::failed(&failure),
    };
    let command = format!("conveil study {}", study.name);
    let told = Fragment::new().remark(&format!("{}. By itself: {command}", study.about));
    let heading = format!("Study {}", study.name);
    Ok(section(&heading, study.name, &told.then(&fragment).html()))
}

/// The page of studies, from their sections.
pub fn studies(sections: &[String]) -> String {
    let title = "The paper's tables and figures, beside ours";
    let head = Fragment::new()
        .stamp(
            false,
            "PUBLIC: seeded noise on public or synthetic data; nothing here is private, nothing is released",
        )
        .title(title)
        .say("Every study ran at its default settings. Numbers that the paper prints stand beside ours where it prints any.");
    document(title, &(head.html() + &sections.concat()))
}
