//! Texts of golden files: what is masked, how JSON is folded, and when two lines say the same.

use std::path::Path;

use super::case::Said;

/// Numbers may differ by this part of themselves, …
const RELATIVE: f64 = 1e-6;
/// … by this much, …
const ABSOLUTE: f64 = 1e-9;
/// … or by a unit in the last printed place. JSON numbers keep this many digits.
const DIGITS: usize = 9;
/// Hexadecimal words from this length on are nonces, hashes and identities.
const HEX: usize = 32;
/// Folded JSON fits in this many characters.
const WIDTH: usize = 110;
/// How far the rest of a solve is from zero: its noise, and nobody's promise.
const RESIDUALS: &[&str] = &["primal", "dual", "gap", "proven_error"];
/// Lists of JSON longer than this are cut …
const LONGEST_LIST: usize = 24;
/// … after this many lines.
const LIST_HEAD: usize = 6;
/// Stands for a number that changes from run to run.
const ANY: &str = "<any>";

/// A piece of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Token<'a> {
    /// Everything else.
    Text(&'a str),
    /// With its digits as printed.
    Number(&'a str, f64),
    Any,
}

/// The lines of a text with timings, dates, hashes and paths masked, and JSON folded.
pub fn tidied(text: &str, place: &Path) -> Vec<String> {
    let text = text.replace(&*place.to_string_lossy(), "<dir>");
    let lines: Vec<String> = text
        .lines()
        .map(|line| hex_masked(&timings_masked(line)))
        .collect();
    match text.starts_with(['{', '[']) {
        true => cut(&folded(&json_masked(lines))),
        false => lines,
    }
}

/// `plan 0.01 s, solve 0.20 s` without the seconds, dates without their digits.
fn timings_masked(line: &str) -> String {
    for (start, mask) in [
        ("seconds: ", "<time>"),
        ("check: primal residual ", "<residual>"),
    ] {
        if let Some(at) = line.find(start).map(|at| at + start.len()) {
            return format!("{}{}", &line[..at], numbers_masked(&line[at..], mask));
        }
    }
    let stages: Vec<&str> = line.split(", ").collect();
    let timed = |stage: &&str| {
        let seconds = stage
            .strip_suffix(" s")
            .and_then(|stage| stage.rsplit_once(' '));
        seconds.is_some_and(|(_, seconds)| seconds.len() >= 4 && seconds.parse::<f64>().is_ok())
    };
    if !stages.iter().all(timed) {
        return dates_masked(line);
    }
    let name = |stage: &&str| {
        let (name, _) = stage
            .trim_end_matches(" s")
            .rsplit_once(' ')
            .unwrap_or_default();
        format!("{name} <time> s")
    };
    stages.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn numbers_masked(text: &str, mask: &str) -> String {
    let piece = |token: &Token<'_>| match token {
        Token::Text(text) => text.to_string(),
        Token::Number(..) | Token::Any => mask.into(),
    };
    tokens(text).iter().map(piece).collect()
}

/// `2026-11-16T19:19:31.123Z`, `2026-11-16` and the like.
fn dates_masked(line: &str) -> String {
    let fits = |pattern: &str, at: usize| {
        let found = line.as_bytes().get(at..at + pattern.len());
        found.is_some_and(|found| {
            let mut each = pattern.bytes().zip(found);
            each.all(|(want, found)| match want {
                b'd' => found.is_ascii_digit(),
                b' ' => matches!(found, b' ' | b'T'),
                want => want == *found,
            })
        })
    };
    let patterns = ["dddd-dd-dd dd:dd:dd", "dddd-dd-dd"];
    let found = (0..line.len())
        .find_map(|at| Some((at, patterns.iter().find(|pattern| fits(pattern, at))?)));
    match found {
        None => line.into(),
        Some((at, pattern)) => {
            let rest = line[at + pattern.len()..]
                .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            format!("{}<date>{}", &line[..at], dates_masked(rest))
        }
    }
}

fn hex_masked(line: &str) -> String {
    let mut masked = String::new();
    let mut rest = line;
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !c.is_alphanumeric())
            .unwrap_or(rest.len());
        let (word, more) = rest.split_at(end);
        let hex = word.len() >= HEX
            && word.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
            && word.bytes().any(|c| c.is_ascii_lowercase());
        masked += if hex { "<hex>" } else { word };
        let other = more.chars().next().map_or(0, char::len_utf8);
        masked += &more[..other];
        rest = &more[other..];
    }
    masked
}

/// JSON, printed line by line, without timings and residuals, and with no more digits than are compared.
fn json_masked(lines: Vec<String>) -> Vec<String> {
    let mut masked = Vec::new();
    let mut inside_seconds = false;
    for line in lines {
        let trimmed = line.trim();
        if inside_seconds {
            inside_seconds = !trimmed.starts_with([']', '}']);
            if inside_seconds {
                continue;
            }
        }
        if trimmed.starts_with("\"seconds\": [") || trimmed.starts_with("\"seconds\": {") {
            inside_seconds = !trimmed.trim_end_matches(',').ends_with([']', '}']);
        }
        let Some((key, value)) = line.split_once("\": ") else {
            masked.push(rounded(&line));
            continue;
        };
        let (number, comma) = match value.strip_suffix(',') {
            Some(number) => (number, ","),
            None => (value, ""),
        };
        let word = key.trim_start().trim_start_matches('"');
        let hidden = match word {
            "seconds" => Some("<time>"),
            _ if RESIDUALS.contains(&word) => Some("<residual>"),
            _ => None,
        };
        match (number.parse::<f64>(), hidden) {
            (Ok(_), Some(hidden)) => masked.push(format!("{key}\": {hidden}{comma}")),
            (Ok(_), None) => masked.push(format!("{key}\": {}{comma}", rounded(number))),
            (Err(_), _) => masked.push(line.clone()),
        }
    }
    masked
}

/// A line that is a number, with fewer digits.
fn rounded(line: &str) -> String {
    let number = line.trim().trim_end_matches(',');
    let long = number.bytes().filter(u8::is_ascii_digit).count() > DIGITS;
    match number.parse::<f64>() {
        Ok(value) if long && number.contains(['.', 'e']) => {
            let short: f64 = format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value);
            line.replacen(number, &format!("{short:?}"), 1)
        }
        _ => line.into(),
    }
}

/// JSON with every list and table that fits on one line.
fn folded(lines: &[String]) -> Vec<String> {
    let mut folded = Vec::new();
    let mut k = 0;
    while k < lines.len() {
        let line = &lines[k];
        let depth = line.len() - line.trim_start().len();
        let closes = |other: &String| {
            let trimmed = other.trim_start();
            other.len() - trimmed.len() == depth && trimmed.starts_with([']', '}'])
        };
        let opens = depth > 0 && line.ends_with(['[', '{']);
        if let Some(length) = opens.then(|| lines[k..].iter().position(closes)).flatten() {
            let inner: Vec<&str> = lines[k + 1..k + length].iter().map(|l| l.trim()).collect();
            let one = format!("{line}{}{}", inner.join(" "), lines[k + length].trim());
            if width(&one) <= WIDTH {
                folded.push(one);
                k += length + 1;
                continue;
            }
        }
        folded.push(line.clone());
        k += 1;
    }
    folded
}

/// JSON with the beginning of long lists; the sum of their numbers' sizes stands for the rest.
fn cut(lines: &[String]) -> Vec<String> {
    let depth = |line: &String| line.len() - line.trim_start().len();
    let closes = |line: &String| line.trim_start().starts_with([']', '}']);
    let mut kept = Vec::new();
    let mut k = 0;
    while k < lines.len() {
        kept.push(lines[k].clone());
        k += 1;
        let outer = depth(&lines[k - 1]);
        let inside = |line: &&String| depth(line) > outer || !closes(line);
        let length = match lines[k - 1].ends_with('[') {
            true => lines[k..].iter().take_while(inside).count(),
            false => 0,
        };
        let list = &lines[k..k + length];
        let starts = |(at, line): (usize, &String)| {
            (depth(line) == outer + 2 && !closes(line)).then_some(at)
        };
        let entries: Vec<usize> = list.iter().enumerate().filter_map(starts).collect();
        if entries.len() <= LONGEST_LIST {
            continue;
        }
        let (head, rest) = list.split_at(entries[LIST_HEAD]);
        kept.extend(cut(head));
        let size = |token: Token<'_>| match token {
            Token::Number(_, value) => value.abs(),
            _ => 0.0,
        };
        let sum: f64 = rest.iter().flat_map(|line| tokens(line)).map(size).sum();
        let more = entries.len() - LIST_HEAD;
        let blanks = " ".repeat(outer + 2);
        kept.push(format!(
            "{blanks}… {more} more, with numbers that add up to {sum:.8e}"
        ));
        k += length;
    }
    kept
}

/// The characters of a line, every number counted as equally long.
fn width(line: &str) -> usize {
    let width = |token: &Token<'_>| match token {
        Token::Text(text) => text.chars().count(),
        Token::Number(..) | Token::Any => DIGITS,
    };
    tokens(line).iter().map(width).sum()
}

/// The pieces of a line: numbers apart from the rest.
fn tokens(line: &str) -> Vec<Token<'_>> {
    let bytes = line.as_bytes();
    let (mut tokens, mut start, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        if line[at..].starts_with(ANY) {
            tokens.push(Token::Text(&line[start..at]));
            tokens.push(Token::Any);
            at += ANY.len();
            start = at;
            continue;
        }
        let before = line[..at].chars().next_back();
        let free = !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.');
        let length = if free { number_length(&line[at..]) } else { 0 };
        let value = line[at..at + length].parse::<f64>();
        match value {
            Ok(value) if length > 0 => {
                tokens.push(Token::Text(&line[start..at]));
                tokens.push(Token::Number(&line[at..at + length], value));
                at += length;
                start = at;
            }
            _ => at += line[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    tokens.push(Token::Text(&line[start..]));
    tokens
}

/// How many bytes of a text are a number at its start.
fn number_length(text: &str) -> usize {
    let digits = |from: usize| {
        let rest = &text.as_bytes()[from.min(text.len())..];
        rest.iter().take_while(|c| c.is_ascii_digit()).count()
    };
    let sign = usize::from(text.starts_with('-'));
    let whole = digits(sign);
    if whole == 0 {
        return 0;
    }
    let mut end = sign + whole;
    if text[end..].starts_with('.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    for start in ["e-", "e+", "e"] {
        if text[end..].starts_with(start) && digits(end + start.len()) > 0 {
            return end + start.len() + digits(end + start.len());
        }
    }
    end
}

/// A unit in the last printed place; whole numbers are exact.
fn last_place(printed: &str) -> f64 {
    let (mantissa, power) = printed.split_once('e').unwrap_or((printed, "0"));
    let places = match (mantissa.split_once('.'), power) {
        (None, "0") => return 0.0,
        (None, _) => 0,
        (Some((_, decimals)), _) => decimals.len() as i32,
    };
    10f64.powi(power.parse::<i32>().unwrap_or(0) - places)
}

fn same_number((a, x): (&str, f64), (b, y): (&str, f64)) -> bool {
    let whole = !a.contains(['.', 'e']) && !b.contains(['.', 'e']);
    if whole {
        return a == b;
    }
    let unit = last_place(a).max(last_place(b)) * (1.0 + RELATIVE);
    (x - y).abs() <= unit.max(ABSOLUTE).max(RELATIVE * x.abs().max(y.abs()))
}

/// Blanks beside a number that changes change with it.
fn same_text(a: &str, b: &str, loose: bool) -> bool {
    match loose {
        true => a.split_whitespace().eq(b.split_whitespace()),
        false => a == b,
    }
}

fn same_line(kept: &str, now: &str) -> bool {
    if kept == now {
        return true;
    }
    let (kept, now) = (tokens(kept), tokens(now));
    let loose = kept.contains(&Token::Any);
    kept.len() == now.len()
        && kept.iter().zip(&now).all(|pair| match pair {
            (Token::Text(a), Token::Text(b)) => same_text(a, b, loose),
            (Token::Number(a, x), Token::Number(b, y)) => same_number((a, *x), (b, *y)),
            (Token::Any, Token::Any | Token::Number(..)) => true,
            _ => false,
        })
}

/// The first lines that differ, the kept one first.
pub fn compared(kept: &[String], now: &[String]) -> Result<(), String> {
    let line = |lines: &[String], k: usize| lines.get(k).cloned().unwrap_or("(nothing)".into());
    let differs = |k: &usize| match (kept.get(*k), now.get(*k)) {
        (Some(kept), Some(now)) => !same_line(kept, now),
        _ => true,
    };
    match (0..kept.len().max(now.len())).find(differs) {
        None => Ok(()),
        Some(k) => Err(format!(
            "    kept: {}\n    now:  {}\n",
            line(kept, k),
            line(now, k)
        )),
    }
}

/// What several runs said, with `<any>` for the numbers in which they differ.
pub fn masked(runs: &[&Said; 3]) -> Result<Said, String> {
    let [first, others @ ..] = runs;
    let mut said = (*first).clone();
    for other in others {
        if said.exit != other.exit {
            return Err(format!("{} and {}", said.exit, other.exit));
        }
        said.stdout = masked_lines(&said.stdout, &other.stdout)?;
        said.stderr = masked_lines(&said.stderr, &other.stderr)?;
    }
    Ok(said)
}

fn masked_lines(kept: &[String], other: &[String]) -> Result<Vec<String>, String> {
    match kept.len() == other.len() {
        false => Err(format!("{} and {} lines", kept.len(), other.len())),
        true => kept
            .iter()
            .zip(other)
            .map(|(a, b)| masked_line(a, b))
            .collect(),
    }
}

fn masked_line(kept: &str, other: &str) -> Result<String, String> {
    if same_line(kept, other) {
        return Ok(kept.into());
    }
    let (a, b) = (tokens(kept), tokens(other));
    let unlike = || format!("two lines\n  {kept}\n  {other}");
    let piece = |(a, b): (&Token<'_>, &Token<'_>)| match (a, b) {
        (Token::Number(a, x), Token::Number(b, y)) if same_number((a, *x), (b, *y)) => {
            Ok(a.to_string())
        }
        (Token::Number(..) | Token::Any, Token::Number(..)) => Ok(ANY.into()),
        (Token::Text(a), Token::Text(b)) if same_text(a, b, true) => Ok(a.to_string()),
        _ => Err(unlike()),
    };
    match a.len() == b.len() {
        true => a.iter().zip(&b).map(piece).collect(),
        false => Err(unlike()),
    }
}
