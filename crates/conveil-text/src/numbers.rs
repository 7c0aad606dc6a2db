//! Plain tables of numbers (CSV): a line for each row, commas between the numbers, `#` before remarks.

use crate::ReadError;
use crate::position::Source;
use crate::spelling::{counted, quoted};

/// The byte order mark.
const MARK: char = '\u{feff}';

/// Reads a table of finite numbers, all rows of one length, from `text`; `name` is how messages call it.
///
/// ```
/// let rows = conveil_text::numbers::read("normals.csv", "# x, y\n1, 0\n-1, 0.5\n").unwrap();
/// assert_eq!(rows, [[1.0, 0.0], [-1.0, 0.5]]);
/// let error = conveil_text::numbers::read("normals.csv", "1, 0\n1, x\n").unwrap_err();
/// assert_eq!(error.to_string(), "normals.csv:2:4: not a number: `x`");
/// ```
pub fn read(name: &str, text: &str) -> Result<Vec<Vec<f64>>, ReadError> {
    let source = Source::new(name, text);
    let mut rows: Vec<Vec<f64>> = Vec::new();
    // Some programs begin a file with a mark that is no character.
    let mut start = if text.starts_with(MARK) {
        MARK.len_utf8()
    } else {
        0
    };
    for line in text[start..].split_inclusive('\n') {
        let offset = start;
        start += line.len();
        let content = line.split('#').next().unwrap_or("");
        if content.trim().is_empty() {
            continue;
        }
        let row = read_row(&source, offset, content).map_err(|error| match () {
            () if content.contains(';') => error.with_help("commas stand between the numbers"),
            () if rows.is_empty() && is_words(content) => {
                error.with_help("names of columns go behind a `#`")
            }
            () => error,
        })?;
        if let Some(first) = rows.first()
            && first.len() != row.len()
        {
            return Err(source.error(
                offset,
                format!(
                    "this row has {}, the first has {}",
                    counted(row.len(), "number", "numbers"),
                    first.len()
                ),
            ));
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(source.error(0, "there are no numbers"));
    }
    Ok(rows)
}

/// Whether no cell is a number.
fn is_words(content: &str) -> bool {
    let mut cells = content.split(',').map(str::trim);
    cells.all(|cell| !cell.is_empty() && cell.parse::<f64>().is_err())
}

fn read_row(source: &Source, offset: usize, content: &str) -> Result<Vec<f64>, ReadError> {
    let mut row = Vec::new();
    let mut start = offset;
    for cell in content.split(',') {
        let blank = cell.len() - cell.trim_start().len();
        let word = cell.trim();
        match word.parse::<f64>() {
            Ok(value) if value.is_finite() => row.push(value),
            Ok(_) => {
                let message = format!("a number must be finite, found {}", quoted(word));
                return Err(source.error(start + blank, message));
            }
            Err(_) if word.is_empty() => {
                return Err(source.error(start, "a number is missing between commas"));
            }
            Err(_) => {
                let message = format!("not a number: {}", quoted(word));
                return Err(source.error(start + blank, message));
            }
        }
        start += cell.len() + 1;
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn every_mistake_has_its_place() {
        let message = |text: &str| match read("t.csv", text) {
            Ok(rows) => panic!("read as {rows:?}"),
            Err(error) => error.to_string(),
        };
        assert_eq!(message(""), "t.csv:1:1: there are no numbers");
        assert_eq!(
            message("# only this\n\n"),
            "t.csv:1:1: there are no numbers"
        );
        assert_eq!(
            message("1,2\n3\n"),
            "t.csv:2:1: this row has 1 number, the first has 2"
        );
        assert_eq!(
            message("1,,2"),
            "t.csv:1:3: a number is missing between commas"
        );
        assert_eq!(
            message("1, inf"),
            "t.csv:1:4: a number must be finite, found `inf`"
        );
        let helped = |text: &str| format!("t.csv:{text}");
        assert_eq!(
            message("a,b\n1,2\n"),
            helped("1:1: not a number: `a`\n  help: names of columns go behind a `#`")
        );
        assert_eq!(
            message("1,2\n1;2\n"),
            helped("2:1: not a number: `1;2`\n  help: commas stand between the numbers")
        );
    }

    #[test]
    fn marks_blanks_and_other_line_ends_are_no_mistakes() {
        let rows = read("t.csv", "\u{feff}# x, y\r\n 1 ,\t2 \r\n\r\n3,4");
        assert_eq!(rows.ok(), Some(vec![vec![1.0, 2.0], vec![3.0, 4.0]]));
        let marked = read("t.csv", "\u{feff}1, 2\n");
        assert_eq!(marked.ok(), Some(vec![vec![1.0, 2.0]]));
    }
}
