//! Damage done to good inputs, by chance, for the tests that try many bad ones.

use conveil_text::ReadError;

use crate::seeded::Seeded;

/// Pieces that are likely to matter.
const TOKENS: &[&str] = &[
    "0",
    "-1",
    "1e999",
    "-0.0",
    "1e-400",
    "18446744073709551615",
    "18446744073709551616",
    "nan",
    "inf",
    "null",
    "true",
    "\"\"",
    "\"x\"",
    "\"x[0]\"",
    "\"x[",
    "[]",
    "{}",
    "[",
    "]",
    "{",
    "}",
    "[[",
    "]]",
    ",",
    ":",
    "=",
    ".",
    "\n",
    "\r\n",
    "\\u0000",
    "\\",
    "\"",
    "'''",
    "#",
    "é",
    "𝜂",
    "\u{feff}",
    "2026-01-01",
    "a.b.c = 1\n",
    "[a.b]\n",
    "[[a]]\n",
    "0x_",
    "1_0",
];

/// One to four random edits of bytes, lines or words.
pub fn damaged(random: &mut Seeded, seeds: &[&str]) -> String {
    let mut bytes = seeds[random.below(seeds.len())].as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        let to = (at + random.below(12)).min(bytes.len());
        match random.below(8) {
            0 if at < bytes.len() => bytes[at] = random.bits() as u8,
            1 => bytes.insert(at, random.bits() as u8),
            2 => drop(bytes.drain(at..to)),
            3 => bytes.truncate(at),
            4 => {
                let token = TOKENS[random.below(TOKENS.len())];
                bytes.splice(at..to, token.bytes());
            }
            5 => replace_word(random, &mut bytes),
            6 => move_line(random, &mut bytes, false),
            _ => move_line(random, &mut bytes, true),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Replaces a whole word by a token, or by a word from elsewhere in the text.
fn replace_word(random: &mut Seeded, bytes: &mut Vec<u8>) {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.+".contains(byte);
    let words: Vec<(usize, usize)> = bytes
        .chunk_by(|a, b| is_word(a) == is_word(b))
        .scan(0, |offset, chunk| {
            *offset += chunk.len();
            Some((*offset - chunk.len(), *offset))
        })
        .filter(|&(start, _)| is_word(&bytes[start]))
        .collect();
    if words.is_empty() {
        return;
    }
    let (start, end) = words[random.below(words.len())];
    let new = if random.below(2) == 0 {
        TOKENS[random.below(TOKENS.len())].as_bytes().to_vec()
    } else {
        let (from, to) = words[random.below(words.len())];
        bytes[from..to].to_vec()
    };
    bytes.splice(start..end, new);
}

/// Moves a line elsewhere, or copies it.
fn move_line(random: &mut Seeded, bytes: &mut Vec<u8>, copy: bool) {
    let mut lines: Vec<Vec<u8>> = bytes.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
    let from = random.below(lines.len());
    let line = if copy {
        lines[from].clone()
    } else {
        lines.remove(from)
    };
    lines.insert(random.below(lines.len() + 1), line);
    *bytes = lines.join(&b'\n');
}

/// The place of a complaint must be one that an editor can go to.
pub fn assert_in_text(error: &ReadError, text: &str) {
    let lines: Vec<&str> = text.split('\n').collect();
    assert!((1..=lines.len()).contains(&error.line), "{error}\n{text}");
    let characters = lines[error.line - 1].chars().count();
    assert!(
        (1..=characters + 1).contains(&error.column),
        "{error}\n{text}"
    );
}
