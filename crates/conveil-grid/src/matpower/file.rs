//! The statements of a case file.

use conveil_text::spelling::{nearest, quoted};

use super::matrix::{Matrix, number};
use super::scan::Text;
use crate::ReadError;

/// The fields a network is made of.
const SECTIONS: [&str; 5] = ["baseMVA", "bus", "gen", "branch", "gencost"];

/// What changes the optimal dispatch and is not read.
const REFUSED: [(&str, &str); 2] = [
    ("A", "user-defined constraints"),
    ("N", "user-defined costs"),
];

/// A case file: its fields with their places.
pub(super) struct File<'t> {
    pub(super) text: Text<'t>,
    /// The function's name.
    pub(super) name: &'t str,
    pub(super) base_mva: f64,
    pub(super) base_at: usize,
    pub(super) bus: Matrix<'t>,
    pub(super) generators: Matrix<'t>,
    pub(super) branch: Matrix<'t>,
    pub(super) costs: Matrix<'t>,
    pub(super) dc_lines: Option<Matrix<'t>>,
}

impl<'t> File<'t> {
    pub(super) fn read(text: Text<'t>) -> Result<Self, ReadError> {
        let (structure, name, at) = header(text)?;
        let mut statements = Statements {
            text,
            structure,
            version: false,
            base: None,
            matrices: Vec::new(),
            passed_over: Vec::new(),
        };
        statements.read(at)?;
        statements.finish(name)
    }
}

/// `function mpc = NAME`: the struct's name, the function's name, and the offset past them.
fn header(text: Text<'_>) -> Result<(&str, &str, usize), ReadError> {
    const RIGHT: &str = "a case file starts with `function mpc = NAME`";
    // Some editors put a byte order mark first.
    let start = if text.slice(0, 3) == "\u{feff}" { 3 } else { 0 };
    let at = text.skip_to_statement(start);
    let expected = |at: usize, what: &str| {
        let message = format!("expected {what}, found {}", text.found(at));
        text.error(at, message).with_help(RIGHT)
    };
    let end = text.word_end(at);
    if text.slice(at, end) != "function" {
        return Err(expected(at, "`function`"));
    }
    let at = text.skip_blanks(end);
    if text.byte(at) == Some(b'[') {
        return Err(text
            .error(
                at,
                "this is a case file of version 1, which returns several matrices",
            )
            .with_help("version 2 is read: MATPOWER's `savecase` converts"));
    }
    let end = text.word_end(at);
    let structure = text.slice(at, end);
    if structure.is_empty() {
        return Err(expected(at, "the name of the struct"));
    }
    let at = text.skip_blanks(end);
    if text.byte(at) != Some(b'=') {
        return Err(expected(at, "`=`"));
    }
    let at = text.skip_blanks(at + 1);
    let mut end = text.word_end(at);
    let name = text.slice(at, end);
    if name.is_empty() {
        return Err(expected(at, "the name of the case"));
    }
    // Empty parentheses may follow.
    let after = text.skip_blanks(end);
    if text.slice(after, after + 2) == "()" {
        end = after + 2;
    }
    Ok((structure, name, statement_end(text, end)?))
}

/// Past the `;`, the comment or the end of the line that must follow a statement.
fn statement_end(text: Text, at: usize) -> Result<usize, ReadError> {
    let at = text.skip_blanks(at);
    match text.byte(at) {
        None => Ok(at),
        Some(b';' | b',' | b'\n') => Ok(at + 1),
        Some(b'%') => Ok(text.line_end(at)),
        Some(_) => {
            let message = format!(
                "expected the end of the statement, found {}",
                text.found(at)
            );
            Err(text.error(at, message))
        }
    }
}

/// What has been read so far.
struct Statements<'t> {
    text: Text<'t>,
    structure: &'t str,
    version: bool,
    base: Option<(f64, usize)>,
    matrices: Vec<Matrix<'t>>,
    /// Other fields with their places.
    passed_over: Vec<(&'t str, usize)>,
}

impl<'t> Statements<'t> {
    fn read(&mut self, mut at: usize) -> Result<(), ReadError> {
        let text = self.text;
        loop {
            at = text.skip_to_statement(at);
            if text.byte(at).is_none() {
                return Ok(());
            }
            let end = text.word_end(at);
            at = match text.slice(at, end) {
                "end" | "return" => statement_end(text, end)?,
                word if word == self.structure => self.assignment(at, end)?,
                _ => return Err(self.not_plain(at)),
            };
        }
    }

    fn not_plain(&self, at: usize) -> ReadError {
        let message = format!(
            "expected an assignment to a field of `{}`, found {}",
            self.structure,
            self.text.found(at)
        );
        self.text.error(at, message).with_help(format!(
            "only plain assignments such as `{}.baseMVA = 100;` are read; run a case that computes in MATPOWER and save it with `savecase`",
            self.structure
        ))
    }

    /// One statement `mpc.FIELD = VALUE`, from its start and the end of the struct's name.
    fn assignment(&mut self, start: usize, end: usize) -> Result<usize, ReadError> {
        let text = self.text;
        if text.byte(end) != Some(b'.') {
            return Err(self.not_plain(start));
        }
        let name_at = end + 1;
        let mut name_end = text.word_end(name_at);
        let mut field = text.slice(name_at, name_end);
        // `mpc.reserves.zones` and the like.
        while text.byte(name_end) == Some(b'.') && !field.is_empty() {
            name_end = text.word_end(name_end + 1);
            field = text.slice(name_at, name_end);
        }
        let equals = text.skip_blanks(name_end);
        if field.is_empty()
            || text.byte(equals) != Some(b'=')
            || text.byte(equals + 1) == Some(b'=')
        {
            return Err(self.not_plain(start));
        }
        let value = text.skip_blanks(equals + 1);
        let after = match field {
            "version" => self.version(value)?,
            "baseMVA" => self.base(name_at, value)?,
            "bus" | "gen" | "branch" | "gencost" | "dcline" => {
                self.matrix(field, name_at, value)?
            }
            _ => {
                if let Some((_, what)) = REFUSED.iter().find(|(name, _)| *name == field) {
                    let message = format!("the case has {what} in `{field}`");
                    return Err(text
                        .error(name_at, message)
                        .with_help("the DC dispatch knows none; take them out to go without"));
                }
                self.passed_over.push((field, name_at));
                pass_over(text, value)?
            }
        };
        statement_end(text, after)
    }

    fn version(&mut self, value: usize) -> Result<usize, ReadError> {
        let text = self.text;
        let end = match text.byte(value) {
            Some(b'\'' | b'"') => text.string_end(value)?,
            _ => text.entry_end(value),
        };
        match text.slice(value, end).trim_matches(['\'', '"']) {
            "2" => {
                self.version = true;
                Ok(end)
            }
            other => Err(text
                .error(value, format!("the version is {}", quoted(other)))
                .with_help("case files of version '2' are read; MATPOWER's `savecase` converts")),
        }
    }

    fn base(&mut self, name_at: usize, value: usize) -> Result<usize, ReadError> {
        self.once("baseMVA", name_at, self.base.map(|(_, at)| at))?;
        let end = self.text.entry_end(value);
        let base = number(self.text, value, end, || String::from("`baseMVA`"))?;
        self.base = Some((base, value));
        Ok(end)
    }

    fn matrix(&mut self, field: &'t str, name_at: usize, value: usize) -> Result<usize, ReadError> {
        let text = self.text;
        let earlier = self.matrices.iter().find(|matrix| matrix.field == field);
        self.once(field, name_at, earlier.map(|matrix| matrix.start))?;
        if text.byte(value) != Some(b'[') {
            let message = format!("`{field}` must be a matrix, found {}", text.found(value));
            return Err(text
                .error(value, message)
                .with_help("a matrix starts with `[`"));
        }
        let (matrix, end) = Matrix::read(text, field, value)?;
        self.matrices.push(matrix);
        Ok(end)
    }

    /// Refuses a second assignment to a field.
    fn once(&self, field: &str, at: usize, earlier: Option<usize>) -> Result<(), ReadError> {
        match earlier {
            None => Ok(()),
            Some(earlier) => {
                let line = self.text.line(earlier);
                let message = format!("`{field}` is assigned twice, first on line {line}");
                Err(self.text.error(at, message))
            }
        }
    }

    fn finish(mut self, name: &'t str) -> Result<File<'t>, ReadError> {
        let Some((base_mva, base_at)) = self.base else {
            return Err(self.missing("baseMVA"));
        };
        if !self.version {
            return Err(self
                .missing("version")
                .with_help(format!("write `{}.version = '2';`", self.structure)));
        }
        Ok(File {
            text: self.text,
            name,
            base_mva,
            base_at,
            bus: self.take("bus")?,
            generators: self.take("gen")?,
            branch: self.take("branch")?,
            costs: self.take("gencost")?,
            dc_lines: self.take("dcline").ok(),
        })
    }

    fn take(&mut self, field: &str) -> Result<Matrix<'t>, ReadError> {
        let place = self
            .matrices
            .iter()
            .position(|matrix| matrix.field == field);
        match place {
            Some(place) => Ok(self.matrices.swap_remove(place)),
            None => Err(self.missing(field)),
        }
    }

    fn missing(&self, field: &str) -> ReadError {
        let structure = self.structure;
        let message = format!("`{structure}.{field}` is missing");
        for &(other, at) in &self.passed_over {
            if nearest(other, SECTIONS) == Some(field) {
                let help = format!("did you mean `{structure}.{field}` by `{structure}.{other}`?");
                return self.text.error(at, message).with_help(help);
            }
        }
        self.text
            .error(self.text.end(), message)
            .with_help("the file may be cut off")
    }
}

/// Past a value that nobody asks for: brackets and quotes must close, nothing else matters.
fn pass_over(text: Text, start: usize) -> Result<usize, ReadError> {
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut at = text.skip_blanks(start);
    // A quote right after a word or a bracket is a transposition.
    let mut after_operand = false;
    loop {
        let Some(byte) = text.byte(at) else {
            return match open.pop() {
                Some((_, at)) => Err(text.error(at, "this bracket is not closed")),
                None => Ok(at),
            };
        };
        match byte {
            b'%' => at = text.comment_end(at),
            b'\n' | b';' | b',' if open.is_empty() => return Ok(at),
            b'\'' if after_operand => at += 1,
            b'\'' | b'"' => at = text.string_end(at)?,
            b'[' | b'{' | b'(' => {
                open.push((byte, at));
                at += 1;
            }
            b']' | b'}' | b')' => {
                let shown = char::from(byte);
                match open.pop() {
                    Some((b'[', _)) if byte == b']' => {}
                    Some((b'{', _)) if byte == b'}' => {}
                    Some((b'(', _)) if byte == b')' => {}
                    Some((bracket, opened)) => {
                        let (bracket, line) = (char::from(bracket), text.line(opened));
                        let message =
                            format!("`{shown}` does not close the `{bracket}` of line {line}");
                        return Err(text.error(at, message));
                    }
                    None => return Err(text.error(at, format!("`{shown}` closes no bracket"))),
                }
                at += 1;
            }
            _ => at += 1,
        }
        after_operand = byte.is_ascii_alphanumeric() || b"_])}".contains(&byte);
        // A continuation; blanks also part a quote from what it would transpose.
        let next = text.skip_blanks(at);
        if next > at {
            (at, after_operand) = (next, false);
        }
    }
}
