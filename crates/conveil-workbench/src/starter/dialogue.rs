//! `init` as a conversation: which model, whose data, where to, and the choices that only the user can make. The answers
//! make the same files as flags would.

use std::path::{Path, PathBuf};

use conveil_models::KINDS;
use conveil_models::starter;
use conveil_text::spelling::quoted;

use super::places::{LEAVE_OUT, Place, places};
use super::{About, Draft, words};
use crate::failure::Failure;

/// Who answers: a terminal, or a list in a test.
pub trait Asker {
    /// Shows these lines.
    fn say(&mut self, text: &str);

    /// Asks, and waits for a line. None is the end of the input.
    fn ask(&mut self, question: &str) -> Result<Option<String>, Failure>;
}

/// What was said already, so that it is not asked.
#[derive(Debug, Default)]
pub struct Given {
    /// The folder for a spec with sample data.
    pub folder: Option<PathBuf>,
    /// Keys of the spec and what to write there, as [`Draft::fill`] takes them.
    pub answers: Vec<(String, String)>,
}

/// What is asked about a spec with sample data; the values that it has are proposed.
const CHOICES: &[(&str, &str)] = &[
    (
        "privacy.epsilon",
        "ε, the privacy: smaller hides more and needs more noise",
    ),
    (
        "private.adjacency.alpha",
        "α, the change of one private number to hide",
    ),
    (
        "feasibility.eta",
        "η, how often a decision may break a limit at most",
    ),
];

/// Keys of a spec with blanks whose example is a default.
const HAVE_DEFAULTS: &[&str] = &["epsilon", "delta", "alpha", "eta"];

/// Asks until there is a draft that can be written. An answer that does not fit is asked for again; where the input ends, that
/// is an error, and nothing is written.
pub fn converse(given: &Given, asker: &mut dyn Asker) -> Result<Draft, Failure> {
    asker.say(
        "A spec says which program is solved, which numbers are private, and what is promised.",
    );
    asker.say("Which model?");
    for (k, kind) in KINDS.iter().enumerate() {
        asker.say(&format!(
            "  {}  {:10}  {}",
            k + 1,
            kind.word,
            kind.starter.about
        ));
    }
    let model = until(asker, "model, by number or name", None, |answer| {
        let by_number = answer.parse::<usize>().ok();
        match by_number.map(|number| number.checked_sub(1).and_then(|k| words().get(k).copied())) {
            Some(Some(word)) => Ok(word),
            Some(None) => Err(Failure::input(format!(
                "a number from 1 to {}, found {}",
                KINDS.len(),
                quoted(answer)
            ))),
            None => Ok(starter::kind(answer)?.word),
        }
    })?;
    let kind = starter::kind(model)?;
    let data = match &kind.starter.from {
        None => {
            asker.say("This model comes with sample data; put yours in their place later.");
            None
        }
        Some(from) => {
            asker.say(&format!(
                "Your own data would be a CSV file with {}.",
                from.holds
            ));
            let question = "sample data, or your CSV file";
            Some(until(asker, question, Some("sample"), |answer| {
                from_answer(answer, model)
            })?)
        }
    };
    let mut draft = match data.flatten() {
        Some(draft) => draft,
        None => sample(given, model, asker)?,
    };
    for (key, answer) in &given.answers {
        draft.fill(key, answer)?;
    }
    let said = |place: &Place| {
        let is = |(key, _): &(String, String)| *key == place.path || *key == place.key;
        given.answers.iter().any(is)
    };
    match draft.about {
        About::Sample => {
            for (path, what) in CHOICES {
                let all = places(draft.spec())?;
                let place = all.iter().find(|place| place.path == *path);
                if let Some(place) = place.filter(|place| !said(place)) {
                    let now = place.value(draft.spec()).to_string();
                    choose(&mut draft, path, what, Some(&now), asker)?;
                }
            }
        }
        About::OwnData => {
            asker.say(
                "What only you can say, from what is known without the data; all of it is public.",
            );
            while let Some(place) = draft.next_blank()? {
                ask_blank(&mut draft, &place, asker)?;
            }
        }
    }
    mended(draft, asker)
}

/// No draft where sample data are wanted, or one for the file that is named.
fn from_answer(answer: &str, model: &str) -> Result<Option<Draft>, Failure> {
    if answer == "sample" {
        return Ok(None);
    }
    let draft = Draft::from_data(Path::new(answer), Some(model))?;
    draft.refuse_existing()?;
    Ok(Some(draft))
}

fn sample(given: &Given, model: &str, asker: &mut dyn Asker) -> Result<Draft, Failure> {
    let in_folder = |folder: &Path| {
        let draft = Draft::sample(model, folder)?;
        draft.refuse_existing()?;
        Ok(draft)
    };
    match &given.folder {
        Some(folder) => in_folder(folder),
        None => until(asker, "folder to write to", Some("first"), |answer| {
            in_folder(Path::new(answer))
        }),
    }
}

/// Asks for what a blank stands for.
fn ask_blank(draft: &mut Draft, place: &Place, asker: &mut dyn Asker) -> Result<(), Failure> {
    let mut what = place.blank.clone().unwrap_or_default();
    if place.may_go() {
        what += &format!("; {LEAVE_OUT} deletes it");
    }
    let default = match place.path.as_str() {
        "ledger.dataset" => draft.stem(),
        _ if HAVE_DEFAULTS.contains(&place.key.as_str()) => example(&what),
        _ => None,
    };
    asker.say(&format!("{}: {what}", place.key));
    choose(draft, &place.path, &place.key, default.as_deref(), asker)
}

/// What stands behind "such as".
fn example(what: &str) -> Option<String> {
    let (_, rest) = what.split_once("such as ")?;
    let end = rest.find([' ', ';', ',']).unwrap_or(rest.len());
    Some(rest[..end].into())
}

fn choose(
    draft: &mut Draft,
    path: &str,
    question: &str,
    default: Option<&str>,
    asker: &mut dyn Asker,
) -> Result<(), Failure> {
    let filled = until(asker, question, default, |answer| {
        let mut filled = draft.clone();
        filled.fill(path, answer)?;
        Ok(filled)
    })?;
    *draft = filled;
    Ok(())
}

/// Asks again for values that the reader of specs refuses together with the others.
fn mended(mut draft: Draft, asker: &mut dyn Asker) -> Result<Draft, Failure> {
    while let Err((line, failure)) = draft.read() {
        let all = places(draft.spec())?;
        let found = all
            .iter()
            .find(|place| Some(place.line(draft.spec())) == line);
        let Some(place) = found else {
            return Err(failure);
        };
        asker.say(&failure.to_string());
        choose(&mut draft, &place.path, &place.key, None, asker)?;
    }
    Ok(draft)
}

/// Asks until the answer fits. An empty one is the default.
fn until<T>(
    asker: &mut dyn Asker,
    question: &str,
    default: Option<&str>,
    take: impl Fn(&str) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let shown = match default {
        Some(default) => format!("{question} [{default}]: "),
        None => format!("{question}: "),
    };
    loop {
        let answer = asker.ask(&shown)?.ok_or_else(|| {
            Failure::input(format!(
                "the input ended at the question `{question}`; nothing was written\n  help: `conveil init --help` lists flags for all answers"
            ))
        })?;
        let answer = match (answer.trim(), default) {
            ("", Some(default)) => default,
            (answer, _) => answer,
        };
        match take(answer) {
            Ok(taken) => return Ok(taken),
            Err(failure) => asker.say(&format!("{failure}")),
        }
    }
}
