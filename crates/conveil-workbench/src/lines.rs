//! Lines of 100 columns: labelled entries with a hanging indent, and lines of a table that are too long.

/// Characters of a line.
pub(crate) const WIDTH: usize = 100;

/// What follows the first line of an entry.
const INDENT: &str = "  ";

/// Ends an entry that is cut.
const CUT: &str = "… (see --details)";

/// A label and its text.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    text: String,
    /// Lines that it keeps where there is no room for all; none where it is never cut.
    fewest: Option<usize>,
}

impl Entry {
    /// An entry that is shown whole: a claim, a promise, and what they leave out.
    pub(crate) fn whole(label: &str, text: &str) -> Self {
        // A text of several lines is a list: it is one here.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Entry {
            text: format!("{label}: {text}"),
            fewest: None,
        }
    }

    /// An entry that may be cut to so many lines.
    pub(crate) fn within(label: &str, text: &str, fewest: usize) -> Self {
        Entry {
            fewest: Some(fewest.max(1)),
            ..Entry::whole(label, text)
        }
    }

    /// How many lines it takes.
    pub(crate) fn lines(&self) -> usize {
        wrapped(&self.text, usize::MAX).len()
    }
}

/// The entries in at most so many lines: the longest that may be cut is cut first. More where none may be.
pub(crate) fn fitted(entries: &[Entry], most: usize) -> Vec<String> {
    let mut counts: Vec<usize> = entries.iter().map(Entry::lines).collect();
    while counts.iter().sum::<usize>() > most {
        let spare = |(index, entry): (usize, &Entry)| {
            let spare = counts[index].checked_sub(entry.fewest?)?;
            (spare > 0).then_some((counts[index], index))
        };
        // Of equally long ones the last.
        let Some((_, index)) = entries.iter().enumerate().filter_map(spare).max() else {
            break;
        };
        counts[index] -= 1;
    }
    let each = entries.iter().zip(counts);
    each.flat_map(|(entry, most)| wrapped(&entry.text, most))
        .collect()
}

/// Words in lines of the width with a hanging indent; at most so many lines, and a word where they are cut.
pub(crate) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let is_new = line.trim().is_empty();
        if is_new || length(&line) + 1 + length(word) <= WIDTH {
            if !is_new {
                line.push(' ');
            }
            line.push_str(word);
            continue;
        }
        let full = std::mem::replace(&mut line, format!("{INDENT}{word}"));
        if lines.len() + 1 == most {
            line = with_cut(full);
            break;
        }
        lines.push(full);
    }
    lines.push(line);
    for line in &mut lines {
        // One word alone can be too long.
        if length(line) > WIDTH {
            let room = WIDTH - length(CUT);
            *line = line.chars().take(room).chain(CUT.chars()).collect();
        }
    }
    lines
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// The words of a line that leave room for the word about the cut.
fn with_cut(mut line: String) -> String {
    let room = WIDTH - length(CUT);
    while length(&line) > room {
        match line.rfind(' ').filter(|at| *at > INDENT.len()) {
            Some(at) => line.truncate(at),
            None => line = line.chars().take(room).collect(),
        }
    }
    let kept = line.trim_end_matches([',', ';', ':', ' ']).len();
    line.truncate(kept);
    line + CUT
}

/// A line of a report or a table, over several lines where it is too long; nothing is cut, spaces stay.
pub(crate) fn folded(line: &str) -> Vec<String> {
    let own: usize = line.chars().take_while(|c| *c == ' ').count();
    let hanging = " ".repeat(own + 4);
    let mut lines = Vec::new();
    let mut rest = line.to_owned();
    while length(&rest) > WIDTH {
        let indent = rest.chars().take_while(|c| *c == ' ').count();
        let ends = rest.char_indices().take(WIDTH + 1);
        let at = ends.filter(|(at, c)| *c == ' ' && *at > indent).last();
        let Some((at, _)) = at else {
            // One word alone: a terminal breaks it.
            break;
        };
        let next = format!("{hanging}{}", rest[at..].trim_start());
        rest.truncate(at);
        lines.push(std::mem::replace(&mut rest, next).trim_end().to_owned());
    }
    lines.push(rest);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_wrapped_with_a_hanging_indent_and_cut_with_a_word_about_it() {
        assert_eq!(wrapped("a: b", 1), ["a: b"]);
        let long = "word ".repeat(50);
        let lines = wrapped(long.trim(), 2);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].starts_with("  word") && lines[1].ends_with(CUT));
        let three = wrapped(long.trim(), 3);
        assert_eq!(three.concat().matches("word").count(), 50);
        for line in wrapped(&format!("a: {}", "x".repeat(500)), 2)
            .iter()
            .chain(&lines)
        {
            assert!(length(line) <= WIDTH, "{line}");
        }
    }

    #[test]
    fn only_what_may_be_cut_is_cut_and_the_longest_first() {
        let words = |count: usize| "word ".repeat(count);
        let entries = [
            Entry::whole("promise", &words(80)),
            Entry::within("long", &words(80), 1),
            Entry::within("short", &words(30), 1),
        ];
        let all: usize = entries.iter().map(Entry::lines).sum();
        assert_eq!(fitted(&entries, all).len(), all);
        let text = fitted(&entries, all - 1).join("\n");
        assert_eq!(text.lines().count(), all - 1);
        assert_eq!(
            text.matches("word").count(),
            fitted(&entries, all).join("\n").matches("word").count() - 80
                + text
                    .split("long:")
                    .nth(1)
                    .unwrap()
                    .split("short:")
                    .next()
                    .unwrap()
                    .matches("word")
                    .count()
        );
        let least = fitted(&entries, 1);
        let promise = entries[0].lines();
        assert_eq!(least.len(), promise + 2);
        assert_eq!(least[..promise].concat().matches("word").count(), 80);
        assert!(least[promise].ends_with(CUT) && least[promise + 1].ends_with(CUT));
    }

    #[test]
    fn a_line_of_a_table_is_folded_and_keeps_every_word_and_space() {
        let line = format!("  input    –   {}", "reason ".repeat(30).trim_end());
        let lines = folded(&line);
        assert!(lines.iter().all(|line| length(line) <= WIDTH));
        assert!(lines[0].starts_with("  input    –   reason"));
        assert!(lines[1].starts_with("      reason"));
        assert_eq!(lines.concat().matches("reason").count(), 30);
        assert_eq!(folded("a  b"), ["a  b"]);
        assert_eq!(folded(&"x".repeat(300)), ["x".repeat(300)]);
    }
}
