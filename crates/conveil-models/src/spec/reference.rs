//! References to variables: `x`, or one coordinate of it, `x[2]` or by its own name.

use std::collections::{HashMap, HashSet};
use std::fmt;

use conveil_text::Source;
use conveil_text::spelling::quoted;
use conveil_text::tables::Item;
use conveil_text::{Located, ReadError};

use crate::model::Stated;

/// A variable block, or one coordinate of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VariableRef {
    /// The name of the block.
    pub block: String,
    /// The coordinate, counted from 0; none means the whole block.
    pub index: Option<usize>,
}

impl fmt::Display for VariableRef {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.index {
            None => write!(f, "{}", self.block),
            Some(index) => write!(f, "{}[{index}]", self.block),
        }
    }
}

/// A name without brackets, optionally followed by a bracketed index.
fn parse(text: &str) -> Option<VariableRef> {
    let (block, index) = match text.strip_suffix(']') {
        None => (text, None),
        Some(rest) => {
            let (block, digits) = rest.split_once('[')?;
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            (block, Some(digits.parse().ok()?))
        }
    };
    let plain = !block.is_empty() && !block.contains(['[', ']']);
    plain.then(|| VariableRef {
        block: String::from(block),
        index,
    })
}

/// The variable of `model` that `text`, at `offset`, names. An entry's own name stands for its block and place, so that it
/// counts as named however it is written.
fn read_at(
    source: &Source,
    offset: usize,
    text: &str,
    model: &dyn Stated,
) -> Result<Located<VariableRef>, ReadError> {
    match model.entry(text).or_else(|| parse(text)) {
        Some(reference) => Ok(source.locate(offset, reference)),
        None => Err(source
            .error(offset, format!("{} is not a variable", quoted(text)))
            .with_help("write a name, `x`, or a name and an index from 0, `x[2]`")),
    }
}

/// One variable.
pub(super) fn read(item: &Item, model: &dyn Stated) -> Result<Located<VariableRef>, ReadError> {
    read_at(item.source(), item.offset(), item.text()?, model)
}

/// A list of variables, none named twice.
pub(super) fn read_list(
    item: &Item,
    model: &dyn Stated,
) -> Result<Vec<Located<VariableRef>>, ReadError> {
    let mut seen = Overlaps::default();
    let mut variables = Vec::new();
    for entry in item.filled_array()? {
        let variable = read(&entry, model)?;
        seen.add(&variable.value)
            .map_err(|fault| entry.error(fault))?;
        variables.push(variable);
    }
    Ok(variables)
}

/// A table from variables to coefficients, not all of them 0; a block without an index gives its own to all its
/// coordinates. The variables are added to `named`.
pub(super) fn read_weights(
    item: &Item,
    model: &dyn Stated,
    named: &mut Vec<Located<VariableRef>>,
) -> Result<Vec<(String, f64)>, ReadError> {
    let table = item.own_table()?;
    let mut seen = Overlaps::default();
    let mut weights = Vec::new();
    for (key, offset, value) in table.entries() {
        let variable = read_at(table.source(), offset, key, model)?;
        seen.add(&variable.value)
            .map_err(|fault| table.source().error(offset, fault))?;
        weights.push((variable.value.to_string(), value.number()?));
        named.push(variable);
    }
    if weights.iter().all(|(_, weight)| *weight == 0.0) {
        return Err(item.error(format!("{item} needs at least one weight that is not 0")));
    }
    Ok(weights)
}

/// How the engine calls these variables.
pub(super) fn names(variables: &[Located<VariableRef>]) -> Vec<String> {
    variables.iter().map(|v| v.value.to_string()).collect()
}

/// Finds a coordinate that is named twice, alone or with its block.
#[derive(Default)]
struct Overlaps {
    whole: HashSet<String>,
    single: HashMap<String, HashSet<usize>>,
}

impl Overlaps {
    fn add(&mut self, variable: &VariableRef) -> Result<(), String> {
        let shown = quoted(&variable.to_string());
        if self.whole.contains(&variable.block) {
            return Err(match variable.index {
                None => format!("{shown} is named twice"),
                Some(_) => format!("{shown} is already part of {}", quoted(&variable.block)),
            });
        }
        match variable.index {
            None if self.single.contains_key(&variable.block) => {
                Err(format!("a part of {shown} is already named"))
            }
            None => {
                self.whole.insert(variable.block.clone());
                Ok(())
            }
            Some(index) => {
                let singles = self.single.entry(variable.block.clone()).or_default();
                if singles.insert(index) {
                    Ok(())
                } else {
                    Err(format!("{shown} is named twice"))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_a_name_and_an_optional_index() {
        let good = |block: &str, index| {
            Some(VariableRef {
                block: String::from(block),
                index,
            })
        };
        assert_eq!(parse("x"), good("x", None));
        assert_eq!(parse("flow to b[12]"), good("flow to b", Some(12)));
        for bad in [
            "",
            "[0]",
            "x[",
            "x]",
            "x[]",
            "x[-1]",
            "x[+1]",
            "x[0][1]",
            "x[99999999999999999999999]",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
