//! What a name may hold: the one check of every name, unit, reason and label that a card or a message can show.
//!
//! A reader of a card trusts that it says what it shows. Characters that do not show, that turn the direction of what is
//! written, or that pile up on other lines break that, wherever they come from.

use std::fmt;

/// Names, labels and units are at most this many characters long.
pub const LONGEST_NAME: usize = 200;

/// Reasons and paths are at most this many characters long.
pub const LONGEST_TEXT: usize = 2000;

/// Marks above or below one letter, at most: no language needs more.
const MOST_MARKS: usize = 4;

/// Why a text may not stand on a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing to read.
    Empty,
    /// A character that does not show, or that turns the direction of the text.
    Hidden(char),
    /// A combining mark without a letter to stand on.
    Bare(char),
    /// A letter with too many combining marks.
    Stacked,
    /// More characters than this.
    Long(usize),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Empty => write!(f, "is empty"),
            Fault::Hidden(character) => write!(
                f,
                "holds U+{:04X}, which does not show: the card would not read as it is written",
                *character as u32
            ),
            Fault::Bare(character) => write!(
                f,
                "holds U+{:04X}, a mark without a letter to stand on: it would change what stands before it",
                *character as u32
            ),
            Fault::Stacked => write!(f, "has more than {MOST_MARKS} marks on one letter"),
            Fault::Long(longest) => write!(f, "is longer than {longest} characters"),
        }
    }
}

impl Fault {
    /// What would be right.
    pub fn help(&self) -> &'static str {
        match self {
            Fault::Empty => "write a name that can be read aloud",
            Fault::Hidden(_) | Fault::Bare(_) | Fault::Stacked => {
                "write it with letters, digits and blanks that show"
            }
            Fault::Long(_) => "write a shorter one",
        }
    }
}

/// What is wrong with a name, a label or a unit.
pub fn fault(name: &str) -> Option<Fault> {
    fault_within(name, LONGEST_NAME)
}

/// What is wrong with a longer text, such as a reason.
pub fn fault_of_text(text: &str) -> Option<Fault> {
    fault_within(text, LONGEST_TEXT)
}

fn fault_within(text: &str, longest: usize) -> Option<Fault> {
    if text.trim().is_empty() {
        return Some(hidden(text).map_or(Fault::Empty, Fault::Hidden));
    }
    let mut marks = 0;
    let mut stands_on_a_letter = false;
    for (count, character) in text.chars().enumerate() {
        if count == longest {
            return Some(Fault::Long(longest));
        }
        if is_hidden(character) {
            return Some(Fault::Hidden(character));
        }
        if !is_mark(character) {
            marks = 0;
            stands_on_a_letter = !character.is_whitespace();
            continue;
        }
        marks += 1;
        if !stands_on_a_letter {
            return Some(Fault::Bare(character));
        }
        if marks > MOST_MARKS {
            return Some(Fault::Stacked);
        }
    }
    None
}

/// The first character of a text that no reader sees: controls, zero widths, fillers, and those that turn the direction
/// of what is written.
pub fn hidden(text: &str) -> Option<char> {
    text.chars().find(|c| is_hidden(*c))
}

/// Whether a character does not show, or changes how its neighbours show.
pub(crate) fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            // Soft hyphen, joiners, marks of direction, fillers.
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
                // Variation selectors, annotations and replacements.
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{fff0}'..='\u{fffc}'
                | '\u{fffe}' | '\u{ffff}'
                // Private use: nobody knows what shows.
                | '\u{e000}'..='\u{f8ff}'
                | '\u{f0000}'..='\u{10ffff}'
                // Formats of notations that nobody writes names in.
                | '\u{13430}'..='\u{1345f}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                // Tags and further variation selectors.
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Combining marks that belong to no script alone.
fn is_mark(character: char) -> bool {
    matches!(
        character,
        '\u{300}'..='\u{36f}'
            | '\u{483}'..='\u{489}'
            | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}'
            | '\u{20d0}'..='\u{20ff}'
            | '\u{fe20}'..='\u{fe2f}'
    )
}

/// A text that may come from anywhere, for people: what does not show is written by its number, and lines longer than
/// `longest` characters are cut.
pub fn printable(text: &str, longest: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(longest.saturating_mul(4)));
    let mut column = 0;
    for character in text.chars() {
        if character == '\n' {
            column = 0;
            shown.push('\n');
            continue;
        }
        column += 1;
        match column.cmp(&longest.saturating_add(1)) {
            std::cmp::Ordering::Less if is_hidden(character) => {
                shown.extend(character.escape_default());
            }
            std::cmp::Ordering::Less => shown.push(character),
            std::cmp::Ordering::Equal => shown.push('…'),
            std::cmp::Ordering::Greater => {}
        }
    }
    shown
}

/// A JSON document in which what does not show is written by its number: in JSON such characters stand in strings alone,
/// where `\u202e` means the same.
pub fn printable_json(document: &str) -> String {
    let mut shown = String::with_capacity(document.len());
    let mut units = [0u16; 2];
    for character in document.chars() {
        match character != '\n' && is_hidden(character) {
            true => {
                for unit in character.encode_utf16(&mut units) {
                    shown.push_str(&format!("\\u{unit:04x}"));
                }
            }
            false => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_reader_sees_is_a_fault() {
        for text in [
            "a\u{202e}b",
            "\u{2066}a",
            "a\u{200f}",
            "a\u{200b}",
            "a\u{2028}b",
            "a\u{e0041}",
            "a\u{ad}b",
            "a\u{fe0f}",
            "a\u{e0100}",
            "\u{feff}",
            "\u{feff}a",
            "a\tb",
            "a\u{1b}[31m",
            "a\u{9b}m",
            "\u{2800}",
            "\u{e000}",
        ] {
            assert!(matches!(fault(text), Some(Fault::Hidden(_))), "{text:?}");
            assert!(hidden(text).is_some(), "{text:?}");
        }
        for text in [
            "größe, cm",
            "湿度",
            "دما",
            "a – b",
            "x̄",
            "Ç",
            "²⁄₃ km/h",
            "ẍ̱",
        ] {
            assert_eq!((fault(text), hidden(text)), (None, None), "{text}");
        }
    }

    #[test]
    fn marks_need_a_letter_and_do_not_pile_up() {
        assert_eq!(fault("\u{301}"), Some(Fault::Bare('\u{301}')));
        assert_eq!(fault("a \u{301}"), Some(Fault::Bare('\u{301}')));
        let piled = format!("a{}", "\u{301}".repeat(5));
        assert_eq!(fault(&piled), Some(Fault::Stacked));
    }

    #[test]
    fn names_have_a_length() {
        assert_eq!(fault(""), Some(Fault::Empty));
        assert_eq!(fault("  "), Some(Fault::Empty));
        assert_eq!(fault(&"ä".repeat(LONGEST_NAME)), None);
        let long = "ä".repeat(LONGEST_NAME + 1);
        assert_eq!(fault(&long), Some(Fault::Long(LONGEST_NAME)));
        assert_eq!(fault_of_text(&long), None);
    }

    #[test]
    fn what_is_printed_shows_and_is_cut() {
        assert_eq!(printable("a\u{1b}[31m\nb", 80), "a\\u{1b}[31m\nb");
        assert_eq!(printable(&"x".repeat(90), 80).chars().count(), 81);
        assert_eq!(printable("\u{202e}", 1), "\\u{202e}");
        assert_eq!(
            printable_json("{\n\"a\": \"\u{202e}\u{e0041}ü\"}"),
            "{\n\"a\": \"\\u202e\\udb40\\udc41ü\"}"
        );
    }
}
