//! The texts that a user hands over: the spec, and where the files are that it names.

use std::path::Path;

use conveil_models::files::{Files, Text, text_of};
use conveil_models::spec::{self, Spec};

use crate::failure::Failure;

/// A spec that is consistent in itself, and the files that it names.
#[derive(Debug, Clone)]
pub(crate) struct Inputs {
    pub(crate) spec: Spec,
    pub(crate) files: Files,
}

/// Longer specs are not read to their end; the reader refuses them.
const SPEC_BYTES: u64 = 16 << 20;

impl Inputs {
    /// Reads the spec at `path`; the files that it names stand relative to its directory.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let text = text_of(path, SPEC_BYTES).map_err(|why| {
            Failure::input(format!(
                "{name}: {why}\n  help: give the path of a spec file; `conveil check --help` shows how"
            ))
        })?;
        Self::of_text(path, &text)
    }

    /// The same, with this text in place of the file's.
    pub(crate) fn of_text(path: &Path, text: &str) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let folder = path.parent().unwrap_or(Path::new(""));
        Ok(Inputs {
            spec: spec::read(&name, text)?,
            files: Files::in_folder(&name, folder),
        })
    }

    /// The same, where no file outside of the folder `within` is opened.
    pub(crate) fn of_text_within(path: &Path, text: &str, within: &Path) -> Result<Self, Failure> {
        let inputs = Self::of_text(path, text)?;
        Ok(Inputs {
            files: inputs.files.within(within)?,
            ..inputs
        })
    }

    /// The same from texts: the spec, and the public files that it names.
    pub(crate) fn from_files(spec: Text<'_>, files: &[Text<'_>]) -> Result<Self, Failure> {
        Ok(Inputs {
            spec: spec::read(spec.name, spec.text)?,
            files: Files::in_memory(spec.name, files)?,
        })
    }
}
