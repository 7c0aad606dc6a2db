//! What is open, for all tabs together: a spec, its settings, which data are looked at, and what was released.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use conveil::curator::About;
use conveil::solve::Cancel;
use conveil_text::naming::printable;
use conveil_workbench::settings::{self, Setting, Value};
use conveil_workbench::starter::{self, Draft};
use conveil_workbench::{Failure, Workbench};
use serde::Serialize;
use tokio::sync::watch;
use toml_edit::{DocumentMut, Item, TableLike};

use crate::jobs::Jobs;
use crate::release::{Issued, Tickets};
use crate::view::Kept;

/// Specs that the page lists, and how deep it looks for them.
const LISTED: usize = 200;
const DEPTH: usize = 4;

/// How long a list of specs is taken for the folder's.
const LOOK_AGAIN: Duration = Duration::from_secs(3);

/// Longer specs are not read.
const SPEC_BYTES: u64 = 16 << 20;

/// The desk.
pub(crate) struct Desk {
    folder: PathBuf,
    held: Mutex<Held>,
    /// Held by whoever changes what is open: a change that was begun on one state never ends on another.
    turn: Mutex<()>,
    /// The revision, for those who wait for changes.
    changes: watch::Sender<u64>,
    /// The newest view, and who makes one.
    pub(crate) views: Mutex<Option<Kept>>,
    /// The specs of the folder, and when they were looked for.
    listed: Mutex<Option<(Instant, Vec<String>)>>,
    pub(crate) jobs: Jobs,
    pub(crate) tickets: Tickets,
}

#[derive(Default)]
struct Held {
    revision: u64,
    /// Counts what changes the numbers: another spec, other settings, other data.
    asked: u64,
    open: Option<Opened>,
    /// By spec: its settings when its private data were looked at, and what was moved since. It stays so until the studio ends.
    looked: BTreeMap<PathBuf, Looked>,
    /// Private files that were looked at, through whichever spec.
    seen: BTreeSet<PathBuf>,
    /// Settings of specs whose private data nobody has looked at, as their files had them last.
    known: BTreeMap<PathBuf, Values>,
    /// By spec: what was released from it.
    cards: BTreeMap<PathBuf, Vec<Issued>>,
    /// Raised when what is computed is no longer of use.
    working: Cancel,
}

/// Settings by name.
type Values = BTreeMap<&'static str, Value>;

/// What a look at private data leaves behind.
#[derive(Clone)]
struct Looked {
    /// The settings then; none where the spec was not known then.
    at: Values,
    /// What has differed from them since.
    moved: BTreeSet<&'static str>,
}

impl Looked {
    fn at(at: Values) -> Self {
        Looked {
            at,
            moved: BTreeSet::new(),
        }
    }

    /// Marks what differs now.
    fn mark(&mut self, now: &Values) {
        self.moved.extend(differing(&self.at, now));
    }
}

fn values(bench: &Workbench) -> Values {
    let settings = bench.movable().into_iter();
    settings
        .map(|setting| (setting.name, setting.value))
        .collect()
}

/// The names of what is in one only, or is another value there.
fn differing(one: &Values, other: &Values) -> Vec<&'static str> {
    let names: BTreeSet<_> = one.keys().chain(other.keys()).copied().collect();
    let differs = |name: &&'static str| one.get(name) != other.get(name);
    names.into_iter().filter(differs).collect()
}

/// Every setting that there is, whether or not a spec states it.
const SETTINGS: [&str; 7] = [
    "epsilon",
    "delta",
    "alpha",
    "eta",
    "method",
    "certificate",
    "strategy",
];

impl Held {
    /// Somebody has seen something of the private data of this spec. The first look is the one that counts.
    fn look(&mut self, path: &Path, bench: &Workbench) {
        let now = values(bench);
        let looked = self.looked.entry(path.into());
        looked.or_insert_with(|| Looked::at(now));
        self.seen.extend(bench.private_files());
    }
}

/// A spec on the desk.
#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    pub(crate) shown: String,
    original: String,
    pub(crate) text: String,
    /// As the file has them.
    base: Vec<Setting>,
    /// Which data can be looked at: no setting changes that.
    choices: Vec<Choice>,
    about: About,
    /// Of the private data.
    pub(crate) bench: Workbench,
    /// Of the data that are looked at; none where there are no public ones and nobody asked for the private ones.
    pub(crate) at: Option<Workbench>,
}

impl Opened {
    /// Which data are looked at.
    pub(crate) fn about(&self) -> &'static str {
        word(self.about)
    }
}

/// What is looked at now.
pub(crate) struct Now {
    pub(crate) revision: u64,
    pub(crate) asked: u64,
    pub(crate) opened: Opened,
    pub(crate) private: bool,
    pub(crate) cancel: Cancel,
}

/// The state as a tab sees it.
#[derive(Serialize)]
pub(crate) struct State {
    revision: u64,
    asked: u64,
    folder: String,
    specs: Vec<String>,
    models: Vec<String>,
    open: Option<Shown>,
}

#[derive(Serialize)]
struct Shown {
    path: String,
    /// Without private numbers until somebody has looked at them.
    text: String,
    /// Whether the text has private numbers.
    text_private: bool,
    about: &'static str,
    choices: Vec<Choice>,
    looked: bool,
    settings: Vec<Moved>,
    moved_after: Vec<String>,
    ledger: bool,
    cards: Vec<Issued>,
}

#[derive(Clone, Serialize)]
struct Choice {
    about: &'static str,
    refused: Option<String>,
}

#[derive(Serialize)]
struct Moved {
    #[serde(flatten)]
    setting: Setting,
    original: Value,
    covered: bool,
}

const ABOUTS: [(About, &str); 3] = [
    (About::Nominal, "nominal"),
    (About::Twin, "twin"),
    (About::Private, "private"),
];

fn word(about: About) -> &'static str {
    let found = ABOUTS.iter().find(|(of, _)| *of == about);
    found.map_or("private", |(_, word)| word)
}

impl Desk {
    pub(crate) fn new(folder: &Path) -> Result<Self, Failure> {
        let found = match folder.as_os_str().is_empty() {
            true => Path::new(".").canonicalize(),
            false => folder.canonicalize(),
        };
        let folder = found
            .map_err(|why| Failure::input(format!("cannot open {}: {why}", folder.display())))?;
        if !folder.is_dir() {
            return Err(Failure::input(format!("{} is no folder", folder.display())));
        }
        Ok(Desk {
            folder,
            held: Mutex::default(),
            turn: Mutex::default(),
            changes: watch::Sender::new(0),
            views: Mutex::default(),
            listed: Mutex::default(),
            jobs: Jobs::default(),
            tickets: Tickets::default(),
        })
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// One change at a time.
    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells every tab that something is new; what is being computed goes on.
    pub(crate) fn tell(&self) {
        let mut held = self.held();
        held.revision += 1;
        self.changes.send_replace(held.revision);
    }

    /// What was asked before is of no use any more.
    fn changed(&self, held: &mut Held) {
        held.asked += 1;
        held.working.raise();
        held.working = Cancel::default();
        held.revision += 1;
        self.changes.send_replace(held.revision);
    }

    /// A path inside the folder.
    fn inside(&self, written: &str) -> Result<PathBuf, Failure> {
        let outside = || Failure::input(format!("{written:?} is not inside the folder"));
        let path = Path::new(written);
        if !path
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
        {
            return Err(outside());
        }
        let path = self.folder.join(path);
        let found = path
            .canonicalize()
            .map_err(|why| Failure::input(format!("cannot open {written:?}: {why}")))?;
        match found.starts_with(&self.folder) {
            true => Ok(found),
            false => Err(outside()),
        }
    }

    /// Opens a spec by its path, as the command line has it.
    pub(crate) fn open_at(&self, path: &Path) -> Result<(), Failure> {
        let shown = path.display();
        let found = path
            .canonicalize()
            .map_err(|why| Failure::input(format!("cannot open {shown}: {why}")))?;
        let inside = found.strip_prefix(&self.folder).map_err(|_| {
            Failure::input(format!(
                "{shown} is not inside {}\n  help: start the studio in a folder that holds both",
                self.folder.display()
            ))
        })?;
        self.open(&inside.to_string_lossy())
    }

    pub(crate) fn open(&self, written: &str) -> Result<(), Failure> {
        let _turn = self.turn();
        self.opened_in_turn(written)
    }

    fn opened_in_turn(&self, written: &str) -> Result<(), Failure> {
        let path = self.inside(written)?;
        let text = conveil_workbench::text_of(&path, SPEC_BYTES)
            .map_err(|why| Failure::input(format!("{written}: {why}")))?;
        let shown = PathBuf::from(written);
        let cancel = self.held().working.clone();
        let bench = Workbench::open_text(&path, &text, &self.folder, &cancel)?;
        // Public data first; for private ones somebody has to ask.
        let public = [About::Twin, About::Nominal].into_iter();
        let mut found = public.filter_map(|about| Some((about, bench.at(about).ok()?)));
        let (about, at) = match found.next() {
            Some((about, at)) => (about, Some(at)),
            None => (About::Nominal, None),
        };
        let choices = ABOUTS.iter().map(|(about, word)| Choice {
            about: word,
            refused: (bench.at(*about).err()).map(|why| self.without_folder(&why.to_string())),
        });
        let choices = choices.collect();
        self.jobs.stop();
        let files = bench.private_files();
        let mut held = self.held();
        let now = values(&bench);
        let is_seen = files.iter().any(|file| held.seen.contains(file));
        // Whoever looked at a file through another spec has looked at it. A spec that was not known then may have been written since.
        if is_seen && !held.looked.contains_key(&path) {
            let at = held.known.get(&path).cloned().unwrap_or_default();
            held.looked.insert(path.clone(), Looked::at(at));
        }
        // The file may have been changed.
        match held.looked.get_mut(&path) {
            Some(looked) => looked.mark(&now),
            None => {
                held.known.insert(path.clone(), now);
            }
        }
        held.open = Some(Opened {
            path,
            shown: shown.display().to_string(),
            base: bench.movable(),
            choices,
            original: text.clone(),
            text,
            about,
            bench,
            at,
        });
        self.changed(&mut held);
        Ok(())
    }

    /// A starter spec with sample data in a new folder.
    pub(crate) fn create(&self, model: &str, name: &str) -> Result<(), Failure> {
        let _turn = self.turn();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > 60 || !name.chars().all(is_plain) {
            return Err(Failure::input(
                "a name has up to 60 letters, digits, `-` and `_`",
            ));
        }
        let folder = self.folder.join(name);
        if folder.symlink_metadata().is_ok() {
            return Err(Failure::input(format!("{name} is there already")));
        }
        let draft = Draft::sample(model, &folder)?;
        let spec = draft.files().next().map(|(file, _)| file.to_string());
        draft.write()?;
        self.forget_specs();
        match spec {
            Some(spec) => self.opened_in_turn(&format!("{name}/{spec}")),
            None => Err(Failure::input("the starter has no spec")),
        }
    }

    /// Moves a setting.
    pub(crate) fn set(&self, name: &str, to: &Value) -> Result<(), Failure> {
        let _turn = self.turn();
        let (opened, cancel) = self.opened()?;
        let texts = (opened.original.as_str(), opened.text.as_str());
        let place = (opened.path.as_path(), self.folder.as_path());
        let (text, bench) = settings::moved(place, texts, (name, to), &cancel)?;
        // By its own name: the file may not state it.
        let moved = SETTINGS.into_iter().find(|known| *known == name);
        self.replace(&opened, text, bench, moved)
    }

    /// The settings of the file again.
    pub(crate) fn reset(&self) -> Result<(), Failure> {
        let _turn = self.turn();
        let (opened, cancel) = self.opened()?;
        let bench = Workbench::open_text(&opened.path, &opened.original, &self.folder, &cancel)?;
        self.replace(&opened, opened.original.clone(), bench, None)
    }

    /// Another text of the spec that is open. What moves after a look stays marked.
    fn replace(
        &self,
        before: &Opened,
        text: String,
        bench: Workbench,
        moved: Option<&'static str>,
    ) -> Result<(), Failure> {
        // Never private data in place of public ones.
        let at = bench.at(before.about).ok();
        let now = values(&bench);
        let mut held = self.held();
        if let Some(looked) = held.looked.get_mut(&before.path) {
            looked.moved.extend(moved);
            looked.moved.extend(differing(&values(&before.bench), &now));
            looked.mark(&now);
        }
        if let Some(open) = &mut held.open {
            open.text = text;
            open.bench = bench;
            open.at = at;
        }
        self.changed(&mut held);
        Ok(())
    }

    /// Which data are looked at.
    pub(crate) fn look(&self, about: &str) -> Result<(), Failure> {
        let _turn = self.turn();
        let found = ABOUTS.iter().find(|(_, word)| *word == about);
        let (about, _) = *found.ok_or_else(|| Failure::input(format!("no data {about:?}")))?;
        let (opened, _) = self.opened()?;
        let at = opened.bench.at(about)?;
        let mut held = self.held();
        if about == About::Private {
            held.look(&opened.path, &opened.bench);
        }
        if let Some(open) = &mut held.open {
            open.about = about;
            open.at = Some(at);
        }
        self.changed(&mut held);
        Ok(())
    }

    /// The spec with its moved settings as a new file beside it.
    pub(crate) fn save(&self, name: &str) -> Result<(), Failure> {
        let _turn = self.turn();
        let (opened, _) = self.opened()?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if !name.ends_with(".toml") || name.starts_with('.') || !name.chars().all(is_plain) {
            return Err(Failure::input(
                "the name of a spec has letters, digits, `-` and `_`, and ends with .toml",
            ));
        }
        let path = opened.path.with_file_name(name);
        let moved = moved_after(&self.held(), &opened);
        let mut text = opened.text.clone();
        if !moved.is_empty() {
            let moved = moved.join(", ");
            text.insert_str(0, &format!("# Settings moved after the private data were looked at: {moved}. A release from this file is not covered by the guarantee.\n"));
        }
        write_new(&path, text.as_bytes())
            .map_err(|why| Failure::input(format!("cannot write {name}: {why}")))?;
        self.forget_specs();
        let mut held = self.held();
        // Whoever looked through one spec has looked through its copy.
        match held.looked.get(&opened.path).cloned() {
            Some(looked) => {
                held.looked.insert(path, looked);
            }
            None => {
                held.known.insert(path, values(&opened.bench));
            }
        }
        drop(held);
        self.tell();
        Ok(())
    }

    /// The spec on the desk.
    fn opened(&self) -> Result<(Opened, Cancel), Failure> {
        let held = self.held();
        let opened = held
            .open
            .clone()
            .ok_or_else(|| Failure::input("open a spec first"))?;
        Ok((opened, held.working.clone()))
    }

    /// What is looked at now, with its settings marked.
    pub(crate) fn now(&self) -> Result<Now, Failure> {
        let held = self.held();
        let mut opened = held
            .open
            .clone()
            .ok_or_else(|| Failure::input("open a spec first"))?;
        let moved: Vec<String> = moved_after(&held, &opened);
        opened.bench = opened.bench.moved_after_looking(&moved);
        Ok(Now {
            revision: held.revision,
            asked: held.asked,
            private: opened.about == About::Private,
            opened,
            cancel: held.working.clone(),
        })
    }

    /// The specs of the folder, as they were a moment ago: a slider asks often.
    fn specs(&self) -> Vec<String> {
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        match &*listed {
            Some((when, specs)) if when.elapsed() < LOOK_AGAIN => specs.clone(),
            _ => {
                let mut specs = Vec::new();
                found_specs(&self.folder, &self.folder, DEPTH, &mut specs);
                specs.sort();
                *listed = Some((Instant::now(), specs.clone()));
                specs
            }
        }
    }

    /// The folder was changed by us.
    fn forget_specs(&self) {
        *self.listed.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// A message with paths as the page has them: inside the folder.
    pub(crate) fn without_folder(&self, message: &str) -> String {
        let folder = format!("{}{}", self.folder.display(), std::path::MAIN_SEPARATOR);
        printable(&message.replace(&folder, ""), usize::MAX)
    }

    /// What came of a release. One that was charged and failed tells something about the private data: it is a look at them.
    pub(crate) fn released_from(
        &self,
        (path, bench): (&Path, &Workbench),
        cards: &[Issued],
        is_look: bool,
    ) {
        let mut held = self.held();
        let kept = held.cards.entry(path.into()).or_default();
        kept.extend_from_slice(cards);
        if is_look {
            // What was moved while it was released was moved before anybody saw its end.
            let open = held.open.as_ref().filter(|open| open.path == path);
            let now = open.map_or_else(|| bench.clone(), |open| open.bench.clone());
            held.look(path, &now);
        }
        drop(held);
        self.tell();
    }

    pub(crate) fn state(&self) -> State {
        let (specs, models) = (self.specs(), starter::words());
        let held = self.held();
        let folder = self.folder.file_name().unwrap_or_default();
        State {
            revision: held.revision,
            asked: held.asked,
            folder: folder.to_string_lossy().into_owned(),
            specs,
            models: models.iter().map(|word| word.to_string()).collect(),
            open: held.open.as_ref().map(|open| shown(&held, open)),
        }
    }
}

fn moved_after(held: &Held, open: &Opened) -> Vec<String> {
    let looked = held.looked.get(&open.path);
    let names = looked.into_iter().flat_map(|looked| &looked.moved);
    names.map(|name| name.to_string()).collect()
}

fn shown(held: &Held, open: &Opened) -> Shown {
    let moved_after = moved_after(held, open);
    let settings = open.bench.movable().into_iter().map(|setting| {
        let base = open.base.iter().find(|base| base.name == setting.name);
        let ends = base.and_then(|base| base.ends).or(setting.ends);
        Moved {
            original: base.map_or(setting.value.clone(), |base| base.value.clone()),
            covered: !moved_after.iter().any(|name| name == setting.name),
            setting: Setting { ends, ..setting },
        }
    });
    let looked = held.looked.contains_key(&open.path);
    let public = public_text(&open.text);
    Shown {
        path: open.shown.clone(),
        text_private: looked && public != open.text,
        text: match looked {
            true => open.text.clone(),
            false => public,
        },
        about: word(open.about),
        choices: open.choices.clone(),
        looked,
        settings: settings.collect(),
        moved_after,
        ledger: open.bench.spec().ledger.is_some(),
        cards: held.cards.get(&open.path).cloned().unwrap_or_default(),
    }
}

/// The spec with a word in place of its private numbers: values of parameters, and offsets.
fn public_text(text: &str) -> String {
    const HIDDEN: &str = "(private)";
    fn hide(table: &mut dyn TableLike, key: &str) {
        if let Some(item) = table.get_mut(key).and_then(Item::as_value_mut) {
            let decor = item.decor().clone();
            *item = HIDDEN.into();
            *item.decor_mut() = decor;
        }
    }
    let Ok(mut document) = text.parse::<DocumentMut>() else {
        return HIDDEN.into();
    };
    let Some(private) = document.get_mut("private") else {
        return text.into();
    };
    let Some(private) = private.as_table_like_mut() else {
        return HIDDEN.into();
    };
    for key in ["value", "values", "offsets"] {
        // A text names a file.
        if !private.get(key).is_some_and(Item::is_str) {
            hide(private, key);
        }
    }
    let keys = ["value", "values"];
    match private.get_mut("parameter") {
        Some(Item::ArrayOfTables(tables)) => {
            for table in tables.iter_mut() {
                keys.iter().for_each(|key| hide(table, key));
            }
        }
        Some(Item::Value(toml_edit::Value::Array(array))) => {
            for table in array
                .iter_mut()
                .filter_map(|item| item.as_inline_table_mut())
            {
                keys.iter().for_each(|key| hide(table, key));
            }
        }
        _ => {}
    }
    document.to_string()
}

/// Specs below a folder: files that end with `.toml` and have a `version` and a `[problem]`. Links are not followed.
fn found_specs(root: &Path, folder: &Path, depth: usize, specs: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else {
            continue;
        };
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        if specs.len() >= LISTED || is_hidden {
            continue;
        }
        if kind.is_dir() && depth > 1 && entry.file_name() != "target" {
            found_specs(root, &path, depth - 1, specs);
        } else if kind.is_file() && path.extension().is_some_and(|end| end == "toml") {
            let text = conveil_workbench::text_of(&path, SPEC_BYTES).unwrap_or_default();
            if let (true, Ok(inside)) = (text.contains("[problem]"), path.strip_prefix(root)) {
                specs.push(inside.to_string_lossy().into_owned());
            }
        }
    }
}

/// A new file; one that is there is not touched.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
