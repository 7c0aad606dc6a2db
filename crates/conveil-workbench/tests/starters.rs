//! `init`: specs for those who begin. What is written for a file of private data depends on no value in it, and nothing is
//! overwritten.

use std::path::{Path, PathBuf};

use conveil_models::KINDS;
use conveil_models::spec;
use conveil_text::tables::BLANK;
use conveil_workbench::Failure;
use conveil_workbench::starter::{Asker, Draft, Given, converse};

/// A new empty directory.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// A fixed stream of numbers.
struct Stream(u64);

impl Stream {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % below
    }

    /// A field: a number, a word, nothing, or what a careless export leaves.
    fn field(&mut self) -> String {
        match self.next(6) {
            0 => format!("{}", self.next(1_000_000)),
            1 => format!("-{}.{}", self.next(1000), self.next(1000)),
            2 => ["yes", "no", "FILL IN: a trap", "\"a, quoted\""][self.next(4) as usize].into(),
            3 => String::new(),
            4 => "1e308".into(),
            _ => "NaN".into(),
        }
    }

    /// Lines below a header of so many columns; now and then one that no reader would take.
    fn lines(&mut self, columns: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..self.next(20) {
            let fields: Vec<String> = (0..columns).map(|_| self.field()).collect();
            bytes.extend(fields.join(",").into_bytes());
            bytes.push(b'\n');
        }
        if self.next(4) == 0 {
            bytes.extend([0xff, 0x00, b'"', b'\n']);
        }
        bytes
    }
}

/// The claim of `Draft::from_data`, on every model and on headers of several shapes.
#[test]
fn a_proposed_spec_is_the_same_whatever_the_values() {
    let place = directory("proposed");
    let data = place.join("data.csv");
    let headers = [
        "age,stay,class",
        "bus,demand",
        "parameter,value",
        "\"a \"\"b\"\"\",x\\y,ä",
        "one",
    ];
    let mut stream = Stream(20);
    let mut proposed = 0;
    for header in headers {
        for model in KINDS.iter().map(|kind| Some(kind.word)).chain([None]) {
            let mut first: Option<Result<Vec<(String, String)>, String>> = None;
            for _ in 0..40 {
                let mut bytes = format!("{header}\n").into_bytes();
                bytes.extend(stream.lines(header.split(',').count()));
                std::fs::write(&data, bytes).unwrap();
                let draft = Draft::from_data(&data, model);
                let files = draft.map(|d| d.files().map(|(n, t)| (n.into(), t.into())).collect());
                let files = files.map_err(|failure| failure.to_string());
                let first = first.get_or_insert_with(|| files.clone());
                assert_eq!(*first, files, "{header} {model:?}");
            }
            proposed += usize::from(first.is_some_and(|files| files.is_ok()));
        }
    }
    // Six models with a proposal on every header, and three headers that tell their model.
    assert_eq!(proposed, 6 * headers.len() + 3);
}

/// Whatever columns are called, a proposal is TOML, and what it says is that something is to be filled in.
#[test]
fn every_proposal_is_refused_for_its_first_blank_and_for_nothing_else() {
    let place = directory("blanks");
    let data = place.join("data.csv");
    std::fs::write(&data, "\"a \"\"b\"\"\",x\\y,ä = [1]\n").unwrap();
    for kind in KINDS.iter().filter(|kind| kind.starter.from.is_some()) {
        let draft = Draft::from_data(&data, Some(kind.word)).unwrap();
        let (name, text) = draft.files().next().unwrap();
        let error = spec::read(name, text).unwrap_err();
        let line = text.lines().nth(error.line - 1).unwrap();
        assert!(line.contains(BLANK), "{}: {error}", kind.word);
        let first = text
            .lines()
            .position(|l| !l.starts_with('#') && l.contains(BLANK));
        assert_eq!(first, Some(error.line - 1), "{}: {error}", kind.word);
        assert!(
            error.message.contains("is still to be filled in: "),
            "{error}"
        );
        let count = text
            .lines()
            .filter(|l| !l.starts_with('#'))
            .map(|l| l.matches(BLANK).count());
        let help = format!("{} places are", count.sum::<usize>());
        assert!(
            error.help.unwrap_or_default().starts_with(&help),
            "{help}\n{text}"
        );
    }
}

/// A value where a name should be is not written down: the file probably has no header.
#[test]
fn a_file_without_names_is_refused() {
    let place = directory("headerless");
    let data = place.join("data.csv");
    std::fs::write(&data, "61.25,3\n58,4\n").unwrap();
    for model in [
        None,
        Some("svm"),
        Some("regression"),
        Some("conic"),
        Some("portfolio"),
    ] {
        let failure = Draft::from_data(&data, model).unwrap_err().to_string();
        assert!(
            failure.contains("the first line names the columns"),
            "{failure}"
        );
    }
    // A line of bus numbers is a header, and no name of it stands in the spec.
    let draft = Draft::from_data(&data, Some("opf")).unwrap();
    assert!(draft.files().all(|(_, text)| !text.contains("61.25")));
}

#[test]
fn all_files_are_written_or_none() {
    let place = directory("all-or-none");
    for kind in KINDS {
        let draft = Draft::sample(kind.word, &place).unwrap();
        let last = draft.files().last().unwrap().0.to_string();
        std::fs::write(place.join(&last), "mine").unwrap();
        let failure = draft.write().unwrap_err().to_string();
        assert!(
            failure.contains(&last) && failure.contains("nothing was written"),
            "{failure}"
        );
        let there = |name: &str| place.join(name).exists();
        assert!(draft.files().all(|(name, _)| name == last || !there(name)));
        assert_eq!(std::fs::read_to_string(place.join(&last)).unwrap(), "mine");
        std::fs::remove_file(place.join(&last)).unwrap();
        let begun = draft.write().unwrap();
        assert_eq!(begun.files.len(), kind.starter.files.len());
        assert!(draft.files().all(|(name, _)| there(name)));
    }
}

#[test]
fn a_folder_that_cannot_be_made_leaves_nothing() {
    let place = directory("no-folder");
    std::fs::write(place.join("file"), "").unwrap();
    let failure = Draft::sample("svm", &place.join("file/below"))
        .unwrap()
        .write();
    let failure = failure.unwrap_err().to_string();
    assert!(failure.starts_with("cannot write "), "{failure}");
}

/// Answers in order; what was asked and said.
struct Script {
    answers: std::collections::VecDeque<&'static str>,
    heard: String,
}

impl Script {
    fn of(answers: &[&'static str]) -> Self {
        Script {
            answers: answers.iter().copied().collect(),
            heard: String::new(),
        }
    }
}

impl Asker for Script {
    fn say(&mut self, text: &str) {
        self.heard += &format!("{text}\n");
    }

    fn ask(&mut self, question: &str) -> Result<Option<String>, Failure> {
        self.heard += &format!("{question}\n");
        Ok(self.answers.pop_front().map(String::from))
    }
}

fn spec_of(draft: &Draft) -> String {
    draft.files().next().unwrap().1.into()
}

#[test]
fn enter_takes_the_starter_as_it_is_for_every_model() {
    for (k, kind) in KINDS.iter().enumerate() {
        let place = directory(&format!("enter-{}", kind.word));
        let given = Given {
            folder: Some(place.clone()),
            ..Given::default()
        };
        let number: &'static str = ["1", "2", "3", "4", "5", "6", "7"][k];
        let mut script = Script::of(&[number, "", "", "", ""]);
        let draft = converse(&given, &mut script).unwrap();
        let flags = Draft::sample(kind.word, &place).unwrap();
        assert!(draft.files().eq(flags.files()), "{}", kind.word);
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
        assert!(script.heard.contains(kind.starter.about));
    }
}

#[test]
fn answers_make_the_files_that_flags_make() {
    let place = directory("as-flags");
    let folder: &'static str = place.join("first").display().to_string().leak();
    let mut script = Script::of(&["opf", "", folder, "0.5", "2", "0.02"]);
    let draft = converse(&Given::default(), &mut script).unwrap();
    let mut flags = Draft::sample("opf", Path::new(folder)).unwrap();
    for (key, answer) in [("epsilon", "0.5"), ("alpha", "2"), ("eta", "0.02")] {
        flags.fill(key, answer).unwrap();
    }
    assert!(draft.files().eq(flags.files()));
    let spec = spec_of(&draft);
    assert!(spec.contains("\nepsilon = 0.5\n"), "{spec}");
    assert!(spec.contains("alpha = 2.0 }\n"), "{spec}");
    // A comment about the old value goes with it.
    assert!(spec.contains("\neta = 0.02\n"), "{spec}");
    assert!(flags.verify().is_ok());
}

#[test]
fn what_does_not_fit_is_asked_again() {
    let place = directory("again");
    let taken = place.join("taken");
    std::fs::create_dir(&taken).unwrap();
    std::fs::write(taken.join("opf.csv"), "mine").unwrap();
    let taken: &'static str = taken.display().to_string().leak();
    let free: &'static str = place.join("free").display().to_string().leak();
    let mut script = Script::of(&[
        "9",
        "opff",
        "2",
        "nowhere.csv",
        "sample",
        taken,
        free,
        "0",
        "much",
        "-",
        "1e999",
        "1",
        "",
        "0.5",
        "0.1",
    ]);
    let draft = converse(&Given::default(), &mut script).unwrap();
    for fault in [
        "a number from 1 to 7, found `9`",
        "did you mean `opf`?",
        "cannot read nowhere.csv",
        "opf.csv: there already",
        "`epsilon` must be a number above 0, found `0`",
        "`epsilon` must be a number above 0, found `much`",
        "`epsilon` cannot be left out",
        "`epsilon` must be a number above 0, found `1e999`",
        "`eta` must be a number between 0 and 0.5, found `0.5`",
    ] {
        assert!(script.heard.contains(fault), "{fault}:\n{}", script.heard);
    }
    assert!(spec_of(&draft).contains("\neta = 0.1\n"));
    assert_eq!(script.answers.len(), 0);
}

#[test]
fn a_file_of_ones_own_is_asked_through_until_no_blank_is_left() {
    let place = directory("own-file");
    let data = place.join("patients.csv");
    std::fs::write(&data, "age,ward,back\n71,A,yes\n").unwrap();
    let data: &'static str = data.display().to_string().leak();
    let mut script = Script::of(&[
        "svm", data, "many", "500", "back", "yes", "no", "0", "[0, 100]", "-", "", "", "", "",
    ]);
    let draft = converse(&Given::default(), &mut script).unwrap();
    let spec = spec_of(&draft);
    assert!(draft.verify().is_ok());
    assert!(spec.contains("\"age\" = [0, 100]\n"), "{spec}");
    assert!(
        !spec.contains("\"ward\"") && !spec.contains("\"back\" ="),
        "{spec}"
    );
    for line in [
        "records = 500",
        "positive = \"yes\"",
        "epsilon = 1.0",
        "delta = 1e-5",
        "eta = 0.05",
        "dataset = \"patients\"",
    ] {
        assert!(spec.contains(&format!("\n{line}\n")), "{line}:\n{spec}");
    }
    // Flags make the same.
    let mut flags = Draft::from_data(Path::new(data), Some("svm")).unwrap();
    for (key, answer) in [
        ("epsilon", "1.0"),
        ("records", "500"),
        ("column", "back"),
        ("positive", "yes"),
        ("negative", "no"),
        ("age", "[0, 100]"),
        ("ward", "-"),
        ("delta", "1e-5"),
        ("eta", "0.05"),
        ("dataset", "patients"),
    ] {
        flags.fill(key, answer).unwrap();
    }
    assert!(draft.files().eq(flags.files()));
}

#[test]
fn what_the_reader_refuses_is_asked_again() {
    let place = directory("read-again");
    let data = place.join("rents.csv");
    std::fs::write(&data, "size,rent\n50,700\n").unwrap();
    let data: &'static str = data.display().to_string().leak();
    let mut script = Script::of(&[
        "regression",
        data,
        "rent",
        "[\"size\"]",
        "[2000, 0]",
        "",
        "",
        "",
        "",
        "[0, 2000]",
    ]);
    let draft = converse(&Given::default(), &mut script).unwrap();
    assert!(
        spec_of(&draft).contains("bounds = [0, 2000]\n"),
        "{}",
        script.heard
    );
    assert!(script.heard.contains("rents.toml:"), "{}", script.heard);
}

#[test]
fn where_the_answers_end_nothing_is_written() {
    let place = directory("ended");
    let given = Given {
        folder: Some(place.join("first")),
        ..Given::default()
    };
    let all = ["portfolio", "", "", "", ""];
    for count in 0..all.len() {
        let mut script = Script::of(&all[..count]);
        let failure = converse(&given, &mut script).unwrap_err().to_string();
        assert!(failure.contains("; nothing was written"), "{failure}");
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
    }
}

/// Answers are texts of somebody: whatever they are, they make a TOML value or are refused.
#[test]
fn no_answer_makes_a_spec_that_is_no_toml() {
    let place = directory("odd-answers");
    let data = place.join("data.csv");
    std::fs::write(&data, "age,back\n").unwrap();
    let odd = [
        "\"", "'", "\\", "]", "[", "{", "}", "a\nb", "\u{7f}", "# x", "= 1", "\"\"\"", "[1, 2", "",
        " ", "-", "1 # c", "ä", "\u{202e}", "x\", [y]",
    ];
    for kind in KINDS.iter().filter(|kind| kind.starter.from.is_some()) {
        let blank = Draft::from_data(&data, Some(kind.word)).unwrap();
        for key in [
            "records", "column", "network", "bounds", "age", "response", "epsilon", "dataset",
            "price",
        ] {
            for answer in odd {
                let mut draft = blank.clone();
                if draft.fill(key, answer).is_ok() {
                    let text = spec_of(&draft);
                    let read = spec::read("spec.toml", &text).unwrap_err();
                    assert!(
                        !read.message.contains("not valid TOML"),
                        "{answer:?}: {read}"
                    );
                } else {
                    assert_eq!(spec_of(&draft), spec_of(&blank));
                }
            }
        }
    }
}
