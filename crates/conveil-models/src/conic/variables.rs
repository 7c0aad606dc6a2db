//! `[[problem.variable]]`: names for the columns of a saved problem, and what they are.

use std::collections::HashMap;

use conveil::program::{NewVariables, Stage};
use conveil_text::spelling::{counted, quoted};
use conveil_text::tables::{Item, MAX_COUNT, Names, Table};
use conveil_text::{Located, ReadError};

use crate::spec::VariableRef;

/// What the word for a block of variables may be, and what each says.
const STAGES: &str = "`decision` for a real quantity that somebody carries out, `here-and-now` for one that is decided before the noise, `witness` for a slack or another variable of which only the existence is claimed, `epigraph` for one that bounds a convex cost from above";

/// The blocks in order, and the public bounds of those that have some. No two blocks or entries of the problem have one name.
pub(super) fn read(item: Item) -> Result<(Vec<Located<NewVariables>>, Bounds), ReadError> {
    let mut names = Names::default();
    let (mut blocks, mut bounds) = (Vec::new(), Vec::new());
    let mut tables = item.tables("problem.variable")?.into_iter();
    while let Some(mut table) = tables.next() {
        table.known(&["name", "size", "stage", "names", "bounds"])?;
        let name = table.required("name", "name = \"x\"")?;
        if table.peek("stage").is_none() {
            return Err(without_stage(&name, tables.as_slice()));
        }
        let mut block = NewVariables {
            name: plain(names.add(&name)?, &name)?,
            len: match table.optional("size") {
                None => 1,
                Some(size) => size.count(1, MAX_COUNT)?,
            },
            stage: read_stage(&mut table, &name)?,
            entries: Vec::new(),
        };
        if let Some(list) = table.optional("names") {
            block.entries = read_entries(list, &block, &mut names)?;
        }
        if let Some(pair) = table.optional("bounds") {
            bounds.push((block.name.clone(), read_bounds(&pair)?));
        }
        blocks.push(name.locate(block));
    }
    Ok((blocks, bounds))
}

/// Public bounds by block.
pub(super) type Bounds = Vec<(String, (f64, f64))>;

/// `bounds = [low, high]`.
fn read_bounds(pair: &Item) -> Result<(f64, f64), ReadError> {
    let items = pair.filled_array()?;
    let [low, high] = items.as_slice() else {
        let message = "`bounds` of a variable are two numbers";
        return Err(pair.error(message).with_help("bounds = [0.0, 100.0]"));
    };
    let (low, high) = (low.number()?, high.number()?);
    match low < high {
        true => Ok((low, high)),
        false => Err(pair
            .error(format!(
                "the lower bound comes first and is below the upper one, found {low} and {high}"
            ))
            .with_help("a variable that is fixed needs an equality in the problem")),
    }
}

/// `names`: one for each entry of the block.
fn read_entries(
    list: Item,
    block: &NewVariables,
    names: &mut Names,
) -> Result<Vec<String>, ReadError> {
    let items = list.filled_array()?;
    if items.len() != block.len {
        let message = format!(
            "{} has {}, but {} in `names`",
            quoted(&block.name),
            counted(block.len, "entry", "entries"),
            counted(items.len(), "name", "names")
        );
        let help = "`size` says how many entries the block has; name each of them, or none";
        return Err(list.error(message).with_help(help));
    }
    let entries = items.iter().map(|item| plain(names.add(item)?, item));
    entries.collect()
}

/// A name that no index can be mistaken for.
fn plain(name: Located<String>, item: &Item) -> Result<String, ReadError> {
    match name.value.contains(['[', ']']) {
        false => Ok(name.value),
        true => Err(item.error(format!(
            "the variable name {} must not contain brackets",
            quoted(&name.value)
        ))),
    }
}

/// Where each entry that has a name of its own stands.
pub(super) fn entries(blocks: &[Located<NewVariables>]) -> HashMap<String, VariableRef> {
    let blocks = blocks.iter().map(|block| &block.value);
    let each = blocks.flat_map(|block| {
        let entry = |(index, name): (usize, &String)| {
            let of = VariableRef {
                block: block.name.clone(),
                index: Some(index),
            };
            (name.clone(), of)
        };
        block.entries.iter().enumerate().map(entry)
    });
    each.collect()
}

/// The refusal of a block without a stage, which names those after it that have none either: one reading finds them all.
fn without_stage(name: &Item, later: &[Table]) -> ReadError {
    let block = match name.words() {
        Ok(word) => quoted(&word.value),
        Err(error) => return error,
    };
    let open = later.iter().filter(|table| table.peek("stage").is_none());
    let open = open.filter_map(|table| table.peek("name")?.words().ok());
    let open: Vec<String> = open.map(|word| quoted(&word.value)).collect();
    let others = match open.len() {
        0 => String::new(),
        more @ 1..=NAMED => format!("; nor {} {}", verb(more), open.join(", ")),
        more => format!(
            "; nor {} {} and {} more",
            verb(more),
            open[..NAMED].join(", "),
            more - NAMED
        ),
    };
    let message = format!("the variable {block} does not say what it is{others}");
    name.error(message).with_help(line_to_write(&block))
}

/// Blocks that a refusal names.
const NAMED: usize = 8;

fn verb(count: usize) -> &'static str {
    match count {
        1 => "does",
        _ => "do",
    }
}

fn line_to_write(block: &str) -> String {
    format!("for {block} write one line: stage = \"decision\" ({STAGES})")
}

/// The word for what a block is. Specs of former releases could leave it out, or say `recourse`, which left open whether
/// somebody carries it out: both are refused with the line to write.
fn read_stage(table: &mut Table, name: &Item) -> Result<Stage, ReadError> {
    let word = name.words()?.value;
    let block = quoted(&word);
    let Some(stage) = table.optional("stage") else {
        return Err(without_stage(name, &[]));
    };
    if stage.text()? == "recourse" {
        let message =
            format!("`recourse` does not say whether somebody carries out the variable {block}");
        return Err(stage.error(message).with_help(line_to_write(&block)));
    }
    let words = [
        Stage::Decision,
        Stage::HereAndNow,
        Stage::Witness,
        Stage::Epigraph,
    ];
    stage.choice(&words.map(|stage| (stage.word(), stage)))
}
