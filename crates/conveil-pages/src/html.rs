//! Fragments of HTML: text goes in, and comes out escaped. A page is a title and fragments under one style.

/// Text as HTML shows it, in an element or in a quoted attribute.
///
/// # Guarantee
/// What comes out has no tag, no end of an attribute, no entity of its own, no control character, and no mark that turns
/// the direction of the text around it. Test: `hostile_names_are_inert`.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(letter),
            _ if letter.is_control() || turns(letter) => safe.push('\u{fffd}'),
            _ => safe.push(letter),
        }
    }
    safe
}

/// Marks, embeddings, overrides and isolates of direction: what follows them would be read in another order.
fn turns(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The style of every page. A front end that shows fragments puts it into its own head; it styles `main` and what is in it.
pub const STYLE: &str = include_str!("style.css");

/// What a page may load: nothing. Its own style is known by its hash.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// A whole document: `title` is text, `body` is HTML made of fragments.
pub fn document(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}

/// A section: its heading, an anchor to it, and a fragment.
pub fn section(heading: &str, anchor: &str, fragment: &str) -> String {
    let heading = escaped(heading);
    format!(
        "<section aria-labelledby=\"{anchor}\">\n<h2 id=\"{anchor}\">{heading}</h2>\n{fragment}</section>\n"
    )
}

/// HTML that grows. Every method takes plain text, but [`Fragment::figure`], which takes an SVG of this crate.
#[derive(Debug, Default)]
pub struct Fragment(String);

impl Fragment {
    /// Nothing yet.
    pub fn new() -> Self {
        Fragment::default()
    }

    /// What must be seen first: red where it is bad to overlook, else green.
    #[must_use]
    pub fn stamp(mut self, is_bad: bool, text: &str) -> Self {
        let class = if is_bad { "bad" } else { "good" };
        let text = escaped(text);
        self.0 += &format!("<p class=\"stamp {class}\">{text}</p>\n");
        self
    }

    /// The one first heading of a page.
    #[must_use]
    pub fn title(mut self, text: &str) -> Self {
        self.0 += &format!("<h1>{}</h1>\n", escaped(text));
        self
    }

    /// The heading of a part of a section.
    #[must_use]
    pub fn part(mut self, text: &str) -> Self {
        self.0 += &format!("<h3>{}</h3>\n", escaped(text));
        self
    }

    /// A paragraph.
    #[must_use]
    pub fn say(mut self, text: &str) -> Self {
        self.0 += &format!("<p>{}</p>\n", escaped(text));
        self
    }

    /// A remark, in a softer ink.
    #[must_use]
    pub fn remark(mut self, text: &str) -> Self {
        self.0 += &format!("<p class=\"soft\">{}</p>\n", escaped(text));
        self
    }

    /// Text whose lines stay as they are; `is_table` where its columns are aligned by spaces.
    #[must_use]
    pub fn words(mut self, text: &str, is_table: bool) -> Self {
        let class = if is_table { "words fixed" } else { "words" };
        let text = escaped(text.trim_end());
        self.0 += &format!("<div class=\"{class}\" tabindex=\"0\">{text}</div>\n");
        self
    }

    /// Why something is not shown.
    #[must_use]
    pub fn why_not(mut self, text: &str) -> Self {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let text = escaped(&lines.join("; "));
        self.0 += &format!("<p class=\"why\">{text}</p>\n");
        self
    }

    /// A list; nothing where it is empty.
    #[must_use]
    pub fn list(mut self, items: &[String]) -> Self {
        if items.is_empty() {
            return self;
        }
        self.0 += "<ul>";
        for item in items {
            self.0 += &format!("<li>{}</li>", escaped(item));
        }
        self.0 += "</ul>\n";
        self
    }

    /// A few numbers in large letters: what each is, and the number with its unit.
    #[must_use]
    pub fn tiles(mut self, tiles: &[(&str, String)]) -> Self {
        self.0 += "<dl class=\"tiles\">";
        for (name, value) in tiles {
            let (name, value) = (escaped(name), escaped(value));
            self.0 += &format!("<div><dt>{name}</dt><dd>{value}</dd></div>");
        }
        self.0 += "</dl>\n";
        self
    }

    /// Facts: a name and a text each, whose lines stay as they are.
    #[must_use]
    pub fn facts<N: AsRef<str>>(self, facts: &[(N, String)]) -> Self {
        let rows = facts
            .iter()
            .map(|f| vec![f.0.as_ref().to_string(), f.1.clone()]);
        self.rows("text", &[], rows.collect())
    }

    /// A table; the first column names the rows.
    #[must_use]
    pub fn table<C: AsRef<str>>(self, columns: &[C], rows: Vec<Vec<String>>) -> Self {
        let columns: Vec<&str> = columns.iter().map(AsRef::as_ref).collect();
        self.rows("numbers", &columns, rows)
    }

    fn rows(mut self, class: &str, columns: &[&str], rows: Vec<Vec<String>>) -> Self {
        self.0 += &format!("<div class=\"scroll\" tabindex=\"0\"><table class=\"{class}\">");
        if !columns.is_empty() {
            self.0 += "<thead><tr>";
            for column in columns {
                self.0 += &format!("<th scope=\"col\">{}</th>", escaped(column));
            }
            self.0 += "</tr></thead>";
        }
        self.0 += "<tbody>";
        for row in rows {
            self.0 += "<tr>";
            for (place, cell) in row.iter().enumerate() {
                let cell = escaped(cell);
                self.0 += &match place {
                    0 => format!("<th scope=\"row\">{cell}</th>"),
                    _ => format!("<td>{cell}</td>"),
                };
            }
            self.0 += "</tr>";
        }
        self.0 += "</tbody></table></div>\n";
        self
    }

    /// What is long is folded away on a screen; `inside` is HTML made of fragments.
    #[must_use]
    pub fn folded(mut self, summary: &str, inside: &str) -> Self {
        let summary = escaped(summary);
        self.0 += &format!("<details><summary>{summary}</summary>\n{inside}</details>\n");
        self
    }

    /// A figure with its caption: an SVG that a function of [`figures`](crate::figures) has made.
    #[must_use]
    pub fn figure(mut self, svg: &str, caption: &str) -> Self {
        // Figures of one page must not share the names of their parts.
        let own = format!("f{:016x}-", hash(svg));
        let caption = escaped(caption);
        let svg = svg
            .replace("id=\"", &format!("id=\"{own}"))
            .replace("url(#", &format!("url(#{own}"))
            .replacen(
                "<svg ",
                &format!("<svg role=\"img\" aria-label=\"{caption}\" "),
                1,
            );
        self.0 +=
            &format!("<figure tabindex=\"0\">{svg}<figcaption>{caption}</figcaption></figure>\n");
        self
    }

    /// More HTML made of fragments.
    #[must_use]
    pub fn then(mut self, fragment: &str) -> Self {
        self.0 += fragment;
        self
    }

    /// As HTML.
    pub fn html(self) -> String {
        self.0
    }
}

/// FNV-1a.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_are_inert() {
        let name = "<script>alert(1)</script>\"><img src=x onerror='x'>]]>&\u{202e}\u{0}";
        let html = Fragment::new()
            .title(name)
            .stamp(true, name)
            .tiles(&[(name, name.into())])
            .facts(&[(name, name.into())])
            .table(&[name], vec![vec![name.into(), name.into()]])
            .figure("<svg width=\"1\"></svg>", name)
            .folded(name, "")
            .list(&[name.into()])
            .html();
        let html = document(name, &section(name, "one", &html));
        assert!(!html.contains("<script") && !html.contains("<img"));
        assert!(!html.contains("\"><img") && !html.contains("]]>"));
        assert!(!html.contains('\u{202e}') && !html.contains('\u{0}'));
        let shown = "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&gt;&lt;img src=x onerror=&#39;x&#39;&gt;]]&gt;&amp;\u{fffd}\u{fffd}";
        // The caption of a figure is its label too.
        assert_eq!(html.matches(shown).count(), 15);
    }
}
