//! What the settings mean: guarantee, cost, densities and feasibility, as the command line prints them, and in figures.

use std::sync::PoisonError;
use std::time::Instant;

use conveil_pages::sections;
use conveil_text::naming::printable;
use conveil_workbench::{Answers, Failure, Kind, Observer};
use serde::Serialize;

use crate::desk::{Desk, Now};

/// What may be published, in a word.
pub(crate) const PUBLIC: &str = "PUBLIC: nothing private was read";

/// What may not.
pub(crate) const PRIVATE: &str = "PRIVATE: depends on the data, not to be published";

/// A view of the desk.
#[derive(Clone, Serialize)]
pub(crate) struct View {
    pub(crate) revision: u64,
    private: bool,
    stamp: &'static str,
    answer: Vec<String>,
    check: String,
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

/// The head of a short answer, line by line: a line that goes on in the next one is joined. What a page does by its buttons is
/// left out, and `costs` stands in the place of what is said of public data.
fn head(short: &str, costs: Option<String>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in short.lines().take_while(|line| !line.trim().is_empty()) {
        match lines.last_mut() {
            Some(last) if line.starts_with(' ') => {
                last.push(' ');
                last.push_str(line.trim());
            }
            _ => lines.push(line.trim_end().into()),
        }
    }
    lines.retain(|line| !line.starts_with("next: "));
    if let Some(costs) = costs {
        lines.retain(|line| !line.starts_with("costs: "));
        lines.push(format!("costs: {costs}"));
    }
    lines
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
        check: String::new(),
        solve: None,
        error: None,
        figures: Vec::new(),
        milliseconds: 0.0,
    };
    let (mut short, mut costs) = (String::new(), None);
    match opened.bench.check(observer) {
        Ok(check) => {
            let check = check.with_details();
            view.check = text(&check);
            short = text(&check.in_short());
        }
        Err(failure) => view.error = Some(Trouble::of(&failure)),
    }
    let solved = opened.at.as_ref().map(|at| (at, at.solve(None, observer)));
    match solved {
        None => {}
        Some((_, Err(failure))) => view.error = view.error.or(Some(Trouble::of(&failure))),
        Some((at, Ok(report))) => {
            view.solve = Some(text(&report));
            costs = Some(text(&report.costs()));
            if let Some(picture) = report.picture() {
                let html = sections::picture(picture);
                view.figures
                    .extend(figures("The decision as a picture", private, &html));
            }
            if let Ok(plan) = at.plan(observer) {
                let html = sections::neighbours(&plan, &report);
                view.figures
                    .extend(figures("Answers for neighbouring data", private, &html));
            }
            let html = sections::decision(&report);
            view.figures
                .extend(figures("The decision, with error bars", private, &html));
            let html = sections::budget(&report);
            view.figures
                .extend(figures("How η is divided", private, &html));
        }
    }
    view.answer = head(&short, costs);
    view.milliseconds = since.elapsed().as_secs_f64() * 1e3;
    view
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
