//! Names of datasets: which may be given, and which was probably meant.

use super::{Error, Result};
use conveil_text::naming::fault;
use conveil_text::spelling::quoted;
use std::path::Path;

/// A dataset's name: something to read aloud.
pub(super) fn check_name(dataset: &str) -> Result<()> {
    if let Some(fault) = fault(dataset) {
        let name = quoted(dataset);
        return Err(Error::input(format!(
            "a dataset name cannot be {name}: it {fault}; {}",
            fault.help()
        )));
    }
    if dataset.trim() != dataset {
        let message = format!("a dataset name cannot be with spaces around it: {dataset:?}");
        return Err(Error::input(message));
    }
    Ok(())
}

/// The error for a name that has no budget, with the known name that is nearest.
pub(super) fn unknown(file: &Path, dataset: &str, known: &[String]) -> Error {
    let nearest = known.iter().min_by_key(|name| distance(name, dataset));
    let near = match nearest {
        Some(name) if distance(name, dataset) <= 2.max(dataset.chars().count() / 3) => {
            format!("; did you mean {name:?}?")
        }
        Some(_) => format!("; it has {}", known.join(", ")),
        None => "; `init` gives it a budget".into(),
    };
    Error::UnknownDataset {
        file: file.into(),
        dataset: dataset.into(),
        near,
    }
}

/// Edits (insert, delete, replace) between two words.
fn distance(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.chars().count()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = i;
        let mut before = i + 1;
        for (b, cell) in right.chars().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal + usize::from(a != b);
            diagonal = *cell;
            before = replaced.min(before + 1).min(diagonal + 1);
            *cell = before;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_counted_by_hand() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("loads", "loads"), 0);
    }
}
