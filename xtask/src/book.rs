//! The book: README.md, docs/ and what they link to, as a site in target/book. It loads nothing from elsewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::python;

/// What the site is built with, with a hash for each file.
const REQUIREMENTS: &str = "docs/book/requirements.txt";

/// The order of the chapters, and the look.
const SETTINGS: &str = "docs/book/mkdocs.yml";

/// What the pages load beside their text.
const ASSETS: [&str; 2] = ["docs/book/book.css", "docs/book/book.js"];

/// Where the pages are put before they are built.
const PAGES: &str = "target/book-pages";

/// The built site.
const SITE: &str = "target/book";

/// The pages outside docs/, and their names in the book.
const OUTSIDE: [(&str, &str); 4] = [
    ("README.md", "index.md"),
    ("ARCHITECTURE.md", "ARCHITECTURE.md"),
    ("CONTRIBUTING.md", "CONTRIBUTING.md"),
    ("CHANGELOG.md", "CHANGELOG.md"),
];

/// What makes a browser load something, in HTML and in style sheets.
const LOADS: [&str; 5] = ["src=\"", "srcset=\"", "@import \"", "url(", "<link "];

/// Builds the book.
pub fn build(root: &Path) -> Result<(), String> {
    let environment = python::environment_with(root, "book-python", REQUIREMENTS)?;
    put_pages(root)?;
    // Not with --quiet: a warning that is not logged does not fail a strict build.
    let words = ["mkdocs", "build", "--strict", "--clean"];
    let words = [&words[..], &["--config-file", SETTINGS]].concat();
    python::run(
        environment
            .module(root, &words)?
            .env("NO_MKDOCS_2_WARNING", "1"),
    )?;
    let pages = loads_nothing(&root.join(SITE))?;
    println!("{pages} pages, none of which loads anything from elsewhere");
    println!("open {SITE}/index.html");
    Ok(())
}

/// Pages, figures, and the files that pages link to, below [`PAGES`].
fn put_pages(root: &Path) -> Result<(), String> {
    let place = root.join(PAGES);
    let _ = fs::remove_dir_all(&place);
    let mut sources: Vec<(String, String)> = OUTSIDE
        .iter()
        .map(|(from, to)| (from.to_string(), to.to_string()))
        .collect();
    for name in names_in(&root.join("docs"))? {
        if name.ends_with(".md") {
            sources.push((format!("docs/{name}"), name));
        }
    }
    let mut linked = BTreeSet::new();
    for (from, to) in &sources {
        let page = page(&read(&root.join(from))?, from, &mut linked);
        write(&place.join(to), page.as_bytes())?;
    }
    for file in linked {
        let (from, to) = (root.join(&file), place.join(in_the_book(&file)));
        if !to.exists() && from.is_file() {
            // A link to a file that is not there is left to the strict build, which names the page.
            write(&to, &fs::read(&from).map_err(|why| said(&from, &why))?)?;
        }
    }
    for file in ASSETS {
        let name = file.rsplit('/').next().unwrap_or(file);
        write(&place.join(name), read(&root.join(file))?.as_bytes())?;
    }
    Ok(())
}

/// A page as the book has it: links from its new place, fences without what only tests read.
fn page(text: &str, path: &str, linked: &mut BTreeSet<String>) -> String {
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    let mut made = String::with_capacity(text.len());
    let mut fenced = false;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(info) => {
                let word = info.split(|c: char| !c.is_alphanumeric()).next();
                made += "```";
                made += word.unwrap_or_default();
                fenced = !fenced;
            }
            None if fenced => made += line,
            None => made += &with_links(line, folder, linked),
        }
        made.push('\n');
    }
    made
}

/// The line with the targets of its links as they are in the book.
fn with_links(line: &str, folder: &Path, linked: &mut BTreeSet<String>) -> String {
    let mut made = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("](") {
        let (before, after) = rest.split_at(at + 2);
        made += before;
        let end = after.find(')').unwrap_or(after.len());
        let (target, behind) = after.split_at(end);
        rest = behind;
        if target.contains("://") || target.starts_with('#') {
            made += target;
            continue;
        }
        let (file, anchor) = match target.find('#') {
            Some(at) => target.split_at(at),
            None => (target, ""),
        };
        let file = joined(folder, file);
        made += &in_the_book(&file);
        made += anchor;
        linked.insert(file);
    }
    made + rest
}

/// A path from the root of the workspace, without `..`.
fn joined(folder: &Path, file: &str) -> String {
    let mut path = PathBuf::new();
    for part in folder.join(file).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::Normal(part) => path.push(part),
            _ => {}
        }
    }
    path.to_string_lossy().replace('\\', "/")
}

/// Where the book has a file of the workspace.
fn in_the_book(file: &str) -> String {
    match OUTSIDE.iter().find(|(from, _)| *from == file) {
        Some((_, to)) => to.to_string(),
        None => file.strip_prefix("docs/").unwrap_or(file).to_string(),
    }
}

/// That no page and no style sheet of the site loads anything from elsewhere; the number of pages.
fn loads_nothing(site: &Path) -> Result<usize, String> {
    let mut pages = 0;
    for name in names_in(site)? {
        let path = site.join(&name);
        if path.is_dir() {
            pages += loads_nothing(&path)?;
            continue;
        }
        let page = name.ends_with(".html");
        pages += usize::from(page);
        if !page && !name.ends_with(".css") && !name.ends_with(".svg") {
            continue;
        }
        if let Some(loaded) = foreign(&read(&path)?) {
            return Err(format!("{}: loads {loaded}", path.display()));
        }
    }
    Ok(pages)
}

/// What a text loads from elsewhere, if anything: an address with a host.
fn foreign(text: &str) -> Option<String> {
    LOADS.iter().find_map(|start| {
        text.split(start).skip(1).find_map(|after| {
            let end = after.find(['>', ')', '\n']).unwrap_or(after.len());
            let value = match *start {
                "src=\"" | "srcset=\"" | "@import \"" => after.split('"').next().unwrap_or(""),
                _ => &after[..end],
            };
            let canonical = *start == "<link " && value.contains("rel=\"canonical\"");
            let host = value.contains("https://") || value.contains("http://") || {
                let value = value.trim_start_matches(['"', '\'']);
                value.starts_with("//") || value.contains("href=\"//")
            };
            // What stands in the page itself may name the language of a picture.
            let inline = value.trim_start_matches(['"', '\'']).starts_with("data:");
            (host && !canonical && !inline).then(|| value.chars().take(80).collect())
        })
    })
}

fn names_in(folder: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|why| said(folder, &why))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|why| said(folder, &why))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|why| said(path, &why))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|why| said(folder, &why))?;
    }
    fs::write(path, bytes).map_err(|why| said(path, &why))
}

fn said(path: &Path, why: &std::io::Error) -> String {
    format!("{}: {why}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str, path: &str) -> (String, Vec<String>) {
        let mut linked = BTreeSet::new();
        let page = page(text, path, &mut linked);
        (page, linked.into_iter().collect())
    }

    #[test]
    fn links_lead_to_the_same_files_from_their_new_place() {
        let line = "[a](docs/spec.md#keys), ![b](docs/figures/opf.svg) and [c](https://example.org/d.md)\n";
        let (page, linked) = made(line, "README.md");
        assert_eq!(
            page,
            "[a](spec.md#keys), ![b](figures/opf.svg) and [c](https://example.org/d.md)\n"
        );
        assert_eq!(linked, ["docs/figures/opf.svg", "docs/spec.md"]);
        let (page, linked) = made(
            "[a](../README.md), [b](../x/y.toml), [c](#d)\n",
            "docs/a.md",
        );
        assert_eq!(page, "[a](index.md), [b](x/y.toml), [c](#d)\n");
        assert_eq!(linked, ["README.md", "x/y.toml"]);
    }

    #[test]
    fn fences_lose_what_tests_read_and_what_they_hold_stays() {
        let text = "```toml spec\na = \"[x](../y)\"\n```\n```rust,no_run\n```\n";
        let (page, linked) = made(text, "docs/a.md");
        assert_eq!(page, "```toml\na = \"[x](../y)\"\n```\n```rust\n```\n");
        assert!(linked.is_empty());
    }

    #[test]
    fn what_is_loaded_from_elsewhere_is_found() {
        for text in [
            "<script src=\"https://example.org/a.js\">",
            "<img alt=\"\" src=\"//example.org/a.png\">",
            "<link rel=\"stylesheet\" href=\"https://example.org/a.css\">",
            "<link rel=\"preconnect\" href=\"//example.org\">",
            "a { background: url('http://example.org/a.png') }",
            "@import \"https://example.org/a.css\";",
        ] {
            assert!(foreign(text).is_some(), "{text}");
        }
        for text in [
            "<a href=\"https://example.org\">a link is not loaded</a>",
            "<script src=\"assets/a.js\">",
            "<link rel=\"stylesheet\" href=\"assets/a.css\">",
            "a { background: url(\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'>\") }",
        ] {
            assert_eq!(foreign(text), None, "{text}");
        }
    }
}
