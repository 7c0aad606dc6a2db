//! What the settings mean: guarantee, cost, densities and feasibility, as the command line prints them, and in figures.

use std::sync::PoisonError;
use std::time::Instant;

use conveil_pages::sections;
use conveil_text::naming::printable;
use conveil_workbench::{Failure, Kind, Observer, Report, Workbench};
use serde::Serialize;

use crate::desk::{Desk, Now};

/// What may be published, in a word.
pub(crate) const PUBLIC: &str = "PUBLIC: nothing private was read";

/// What may not.
pub(crate) const PRIVATE: &str = "PRIVATE: depends on the data, not to be published";

/// The lines of a head that the page shows.
const HEAD: [&str; 3] = ["released: ", "guaranteed: ", "costs: "];

/// A view of the desk.
#[derive(Clone, Serialize)]
pub(crate) struct View {
    pub(crate) revision: u64,
    private: bool,
    stamp: &'static str,
    answer: Vec<String>,
    solve: Option<String>,
    error: Option<Trouble>,
    figures: Vec<Picture>,
    milliseconds: f64,
}

#[derive(Clone, Serialize)]
struct Trouble {
    message: String,
    infeasible: bool,
}

/// A figure, or a part of the page with tables and figures: both are made by our own pages.
#[derive(Clone, Serialize)]
pub(crate) struct Picture {
    pub(crate) title: &'static str,
    pub(crate) svg: String,
    /// What it shows, in a sentence; empty where nobody says.
    pub(crate) caption: String,
    pub(crate) private: bool,
}

/// What a verb prints.
pub(crate) fn text(of: &dyn std::fmt::Display) -> String {
    printable(&of.to_string(), usize::MAX)
}

pub(crate) fn stamp(private: bool) -> &'static str {
    match private {
        true => PRIVATE,
        false => PUBLIC,
    }
}

/// The figures of a section, by themselves.
pub(crate) fn figures(title: &'static str, private: bool, html: &str) -> Vec<Picture> {
    let mut found = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find("<svg") {
        let Some(end) = rest[start..].find("</svg>") else {
            break;
        };
        let end = start + end + "</svg>".len();
        let (svg, after) = (rest[start..end].to_string(), &rest[end..]);
        // The caption of this figure, not of the next one.
        let own = after.split("<svg").next().unwrap_or_default();
        let caption = own.split_once("<figcaption>");
        let caption = caption.and_then(|(_, more)| more.split_once("</figcaption>"));
        found.push(Picture {
            title,
            svg,
            caption: caption.map_or(String::new(), |(caption, _)| plain(caption)),
            private,
        });
        rest = after;
    }
    found
}

/// Text that was escaped for a document.
fn plain(html: &str) -> String {
    const ESCAPES: [(&str, &str); 5] = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        // Last: what it makes is not looked at again.
        ("&amp;", "&"),
    ];
    let mut text = html.to_string();
    for (escape, letter) in ESCAPES {
        text = text.replace(escape, letter);
    }
    text
}

/// The head of an answer, line by line: a line that goes on in the next one is joined. The stamp is the frame's, and what a page does
/// by its buttons is left out.
fn head(answer: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in answer.lines().take_while(|line| !line.trim().is_empty()) {
        match lines.last_mut() {
            Some(last) if line.starts_with(' ') => {
                last.push(' ');
                last.push_str(line.trim());
            }
            _ => lines.push(line.trim_end().replacen("nothing yet; planned: ", "", 1)),
        }
    }
    lines.retain(|line| HEAD.iter().any(|word| line.starts_with(word)));
    lines.extend(unprotected(answer));
    lines
}

/// What is not protected, where the head had no room for it: it stands below then.
fn unprotected(answer: &str) -> Option<String> {
    let mut below = answer
        .lines()
        .skip_while(|line| !line.starts_with("public: "));
    let mut said = below.next()?.trim_end().to_string();
    for more in below.take_while(|line| line.starts_with(' ')) {
        said.push(' ');
        said.push_str(more.trim());
    }
    Some(said)
}

impl Desk {
    /// The view of what is on the desk now. Tabs that ask for the same share it; what is superseded while it is made is made anew.
    pub(crate) fn view(&self) -> Result<View, Failure> {
        let mut kept = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let now = self.now()?;
            if let Some(view) = kept.as_ref().filter(|view| view.of == now.identity()) {
                return Ok(View {
                    revision: now.revision,
                    ..view.view.clone()
                });
            }
            let mut view = seen(&now);
            if let Some(trouble) = &mut view.error {
                trouble.message = self.without_folder(&trouble.message);
            }
            let texts = view.answer.iter_mut().chain(&mut view.solve);
            texts.for_each(|text| *text = self.without_folder(text));
            if now.cancel.is_raised() {
                continue;
            }
            *kept = Some(Kept {
                of: now.identity(),
                view: view.clone(),
            });
            return Ok(view);
        }
    }
}

/// What `check --details` prints. Public; it tries every strategy on public data, so that it takes longer than a view.
#[derive(Serialize)]
pub(crate) struct Checked {
    asked: u64,
    text: String,
}

impl Desk {
    /// The guarantee in full, of what is on the desk now.
    pub(crate) fn checked(&self) -> Result<Checked, Failure> {
        let now = self.now()?;
        let check = now.opened.bench.check(&now.cancel)?;
        Ok(Checked {
            asked: now.asked,
            text: self.without_folder(&text(&check.with_details())),
        })
    }
}

/// A view and what it is of.
pub(crate) struct Kept {
    of: (std::path::PathBuf, String, bool, Vec<String>),
    view: View,
}

impl Now {
    /// The same where the view is the same: the revision also counts cards and jobs.
    fn identity(&self) -> (std::path::PathBuf, String, bool, Vec<String>) {
        let about = self.opened.about().to_string();
        (
            self.opened.path.clone(),
            self.opened.text.clone(),
            self.private,
            vec![about],
        )
    }
}

fn seen(now: &Now) -> View {
    let since = Instant::now();
    let observer: &dyn Observer = &now.cancel;
    let (opened, private) = (&now.opened, now.private);
    let mut view = View {
        revision: now.revision,
        private,
        stamp: stamp(private),
        answer: Vec::new(),
        solve: None,
        error: None,
        figures: Vec::new(),
        milliseconds: 0.0,
    };
    match opened.at.as_ref().map(|at| (at, at.solve(None, observer))) {
        Some((at, Ok(report))) => {
            // As `solve --details` prints it. The plan is the one that was solved with.
            let answered = at.answered(report, true, observer);
            let said = text(&answered);
            view.answer = head(&said);
            view.solve = Some(said);
            view.figures = drawn(at, answered.document(), now);
        }
        // Without a decision, what is known of the spec alone.
        unsolved => {
            let failure = unsolved.and_then(|(_, found)| found.err());
            match opened.bench.check(observer) {
                Ok(check) => view.answer = head(&text(&check.in_short())),
                Err(refused) => view.error = Some(Trouble::of(&refused)),
            }
            view.error = view.error.or(failure.as_ref().map(Trouble::of));
        }
    }
    view.milliseconds = since.elapsed().as_secs_f64() * 1e3;
    view
}

/// The figures of a solve.
fn drawn(at: &Workbench, report: &Report, now: &Now) -> Vec<Picture> {
    let private = now.private;
    let mut found = Vec::new();
    if let Some(picture) = report.picture() {
        let html = sections::picture(picture);
        found.extend(figures("The decision as a picture", private, &html));
    }
    if let Ok(plan) = at.plan(&now.cancel) {
        let html = sections::neighbours(&plan, report);
        found.extend(figures("Answers for neighbouring data", private, &html));
    }
    let html = sections::decision(report);
    found.extend(figures("The decision, with error bars", private, &html));
    found
}

impl Trouble {
    fn of(failure: &Failure) -> Self {
        Trouble {
            message: text(failure),
            infeasible: matches!(
                failure.kind(),
                Kind::NotWithThisNoise | Kind::NotWithTheseData | Kind::NoSolution
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::head;

    #[test]
    fn the_head_keeps_what_is_not_protected() {
        let said = "released: x, ± 1\nguaranteed: ε = 1 for\n  everybody\ncosts: 2\nnext: go on\n\nPRIVATE\npublic: names and\n  bounds are public and not protected\nsize: 3\n";
        let lines = [
            "released: x, ± 1",
            "guaranteed: ε = 1 for everybody",
            "costs: 2",
            "public: names and bounds are public and not protected",
        ];
        assert_eq!(head(said), lines);
    }
}
