//! Words in messages: quoting what was found, and guessing what was meant.

use crate::naming::is_hidden;

/// At most this many characters of a found text are shown in a message.
const SHOWN: usize = 60;

/// A found text as a message shows it: in backquotes, on one line, and not too long.
pub fn quoted(text: &str) -> String {
    format!("`{}`", shortened(text))
}

/// A found text on one line, and not too long.
pub fn shortened(text: &str) -> String {
    let mut shown = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == SHOWN {
            shown.push('…');
            break;
        }
        if is_hidden(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// `a`, `b` or `c`.
pub fn listed(words: &[&str]) -> String {
    match words {
        [] => String::from("nothing"),
        [only] => format!("`{only}`"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(|word| format!("`{word}`")).collect();
            format!("{} or `{last}`", first.join(", "))
        }
    }
}

/// "1 row", "2 rows".
pub fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The known word that was probably meant: within two edits of the found one, upper or lower case;
/// one edit for words of up to three letters, none for single letters. Of equally near ones the
/// first.
pub fn nearest<'k>(found: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let found = lower_case(found);
    let mut best: Option<(usize, &str)> = None;
    for word in known {
        let letters = lower_case(word);
        let allowed = match letters.len() {
            0 | 1 => 0,
            2 | 3 => 1,
            _ => 2,
        };
        if letters.len() > MAX_WORD || letters.len().abs_diff(found.len()) > allowed {
            continue;
        }
        let distance = edit_distance(&found, &letters);
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, word));
        }
    }
    best.map(|(_, word)| word)
}

/// Words longer than this are not compared: a guess must stay cheap on any input.
const MAX_WORD: usize = 48;

/// The letters of a word, as many as it takes to see that it is too long.
fn lower_case(word: &str) -> Vec<char> {
    let letters = word.chars().flat_map(char::to_lowercase);
    letters.take(MAX_WORD + 3).collect()
}

/// Levenshtein distance: insertions, deletions and substitutions.
fn edit_distance(left: &[char], right: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let substitute = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_edits_are_forgiven_three_are_not() {
        let known = ["epsilon", "delta", "in"];
        assert_eq!(nearest("epsilonn", known), Some("epsilon"));
        assert_eq!(nearest("epzillon", known), Some("epsilon"));
        assert_eq!(nearest("epsi", known), None);
        assert_eq!(nearest("xy", known), None);
        assert_eq!(nearest("im", known), Some("in"));
        assert_eq!(nearest("Delta", known), Some("delta"));
        assert_eq!(nearest("c", ["b", "q"]), None);
        assert_eq!(nearest(&"e".repeat(1_000_000), known), None);
    }

    #[test]
    fn found_text_is_shown_on_one_short_line() {
        assert_eq!(quoted("a\nb"), "`a\\nb`");
        assert_eq!(quoted("ok\u{202e}"), "`ok\\u{202e}`");
        assert_eq!(shortened(&"x".repeat(100)).chars().count(), SHOWN + 1);
        assert_eq!(listed(&["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
