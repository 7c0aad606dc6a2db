//! A study in parts that different machines may run: one for each network, turbine or polytope, where its settings list
//! them. The parts are defined by the settings alone; a study that cannot be cut is one part.

use clap::ArgMatches;
use conveil::solve::Batch;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::study::{Document, Failure, Study};

type Result<T> = std::result::Result<T, Failure>;

/// How a study is cut, whatever its settings.
pub(crate) struct Parts {
    count: fn(&ArgMatches) -> Result<usize>,
    run: fn(&ArgMatches, usize, &Batch<'_>) -> Result<Box<dyn Document>>,
    files: fn(&ArgMatches) -> Result<Vec<String>>,
}

impl Parts {
    pub(crate) const fn of<S: Study + 'static>() -> Self {
        Parts {
            count: |flags| Ok(read::<S>(flags)?.parts().len()),
            run: |flags, index, batch| {
                let part = read::<S>(flags)?.parts().into_iter().nth(index);
                let part = part.ok_or_else(|| {
                    Failure::Input(format!("the study {} has no part {index}", S::NAME))
                })?;
                Ok(Box::new(part.run(batch)?))
            },
            files: |flags| Ok(read::<S>(flags)?.files()),
        }
    }

    /// How many there are.
    pub(crate) fn count(&self, flags: &ArgMatches) -> Result<usize> {
        (self.count)(flags)
    }

    /// The table of this part.
    pub(crate) fn run(
        &self,
        flags: &ArgMatches,
        index: usize,
        batch: &Batch<'_>,
    ) -> Result<Box<dyn Document>> {
        (self.run)(flags, index, batch)
    }

    /// Files of the user's that the study reads.
    pub(crate) fn files(&self, flags: &ArgMatches) -> Result<Vec<String>> {
        (self.files)(flags)
    }
}

/// The settings of these flags.
pub(crate) fn read<S: Study>(flags: &ArgMatches) -> Result<S> {
    let settings = S::from_arg_matches(flags);
    settings.map_err(|error| Failure::Input(error.to_string()))
}

/// The settings with each of these names alone.
pub(crate) fn one_by_one<S>(names: Vec<String>, with: impl Fn(Vec<String>) -> S) -> Vec<S> {
    names.into_iter().map(|name| with(vec![name])).collect()
}

/// Those named, or the usual ones.
pub(crate) fn named(names: Option<&[String]>, usual: &[&str]) -> Vec<String> {
    match names {
        Some(names) => names.to_vec(),
        None => usual.iter().map(|name| name.to_string()).collect(),
    }
}

/// The names of networks that are files.
pub(crate) fn case_files<'a>(names: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let files = names.into_iter().filter(|name| name.trim().ends_with(".m"));
    files.cloned().collect()
}

/// The table of a part: JSON and text.
pub type Written = (String, String);

/// What is alike in the tables of all studies.
#[derive(Deserialize, Serialize)]
struct Whole<'a> {
    study: String,
    #[serde(borrow)]
    settings: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    has_own_curves: Option<bool>,
    rows: Vec<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<Vec<String>>,
}

/// One document out of those of all parts, in their order: the rows of all, and their texts one below the other.
pub fn joined(parts: &[Written]) -> Result<Written> {
    let damaged =
        |e: serde_json::Error| Failure::Input(format!("a part of a study cannot be read: {e}"));
    let [(first, _), rest @ ..] = parts else {
        return Err(Failure::Input("a study has at least one part".into()));
    };
    let mut whole: Whole<'_> = serde_json::from_str(first).map_err(damaged)?;
    for (json, _) in rest {
        let part: Whole<'_> = serde_json::from_str(json).map_err(damaged)?;
        if part.study != whole.study || part.settings.get() != whole.settings.get() {
            return Err(Failure::Input(
                "the parts of a study have different settings: they are not of one study".into(),
            ));
        }
        whole.rows.extend(part.rows);
        if let (Some(notes), Some(more)) = (&mut whole.notes, part.notes) {
            notes.extend(more);
        }
        whole.has_own_curves = whole
            .has_own_curves
            .map(|own| own || part.has_own_curves == Some(true));
    }
    let texts: Vec<&str> = parts.iter().map(|(_, text)| text.trim_end()).collect();
    let json = serde_json::to_string(&whole).map_err(damaged)?;
    Ok((json, texts.join("\n\n") + "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::STUDIES;

    const FLAGS: [&str; 3] = ["--networks=5_pjm,14_ieee", "--alpha=1,3", "--draws=50"];

    #[test]
    fn the_parts_of_a_study_have_the_rows_of_the_whole() {
        let study = STUDIES.iter().find(|study| study.name == "opf").unwrap();
        let command = study.command().no_binary_name(true);
        let flags = command.try_get_matches_from(FLAGS).unwrap();
        let batch = Batch::new();
        let parts: Vec<Written> = (0..study.parts(&flags).unwrap())
            .map(|part| {
                let table = study.run_part(&flags, part, &batch).unwrap();
                (table.json().unwrap(), table.to_string())
            })
            .collect();
        assert_eq!(parts.len(), 2);
        let value = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
        let whole = study.run(&flags, &batch).unwrap().json().unwrap();
        let (json, text) = joined(&parts).unwrap();
        assert_eq!(value(&json), value(&whole));
        assert!(parts.iter().all(|part| text.contains(part.1.trim_end())));
        assert!(study.run_part(&flags, 2, &batch).is_err());
        assert!(joined(&[]).is_err());
    }

    #[test]
    fn every_study_says_its_parts_and_names_the_files_of_the_user() {
        for study in STUDIES {
            let flags = study.command().no_binary_name(true);
            let flags = flags.try_get_matches_from([""; 0]).unwrap();
            assert!(study.parts(&flags).unwrap() >= 1, "{}", study.name);
            assert!(study.files(&flags).unwrap().is_empty(), "{}", study.name);
        }
        let files = |name: &str, flags: &[&str]| {
            let study = STUDIES.iter().find(|study| study.name == name).unwrap();
            let command = study.command().no_binary_name(true);
            let flags = command.try_get_matches_from(flags).unwrap();
            study.files(&flags).unwrap()
        };
        assert_eq!(files("opf", &["--networks=5_pjm,own.m"]), ["own.m"]);
        assert_eq!(files("cvar", &["--network=own.m"]), ["own.m"]);
        assert_eq!(files("density", &["--network=own.m"]), ["own.m"]);
        assert_eq!(files("wind", &["--curve=a.csv,b.csv"]), ["a.csv", "b.csv"]);
        let records = ["--train=a.csv", "--test=b.csv"];
        assert_eq!(files("classifier", &records), ["a.csv", "b.csv"]);
        assert_eq!(files("classifier", &["--networks=own.m"]), ["own.m"]);
    }
}
