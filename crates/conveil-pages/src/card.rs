//! The page of released cards: what stands in their JSON, and nothing else.

use conveil::noise::Law;
use conveil_workbench::Failure;
use serde_json::Value;

use crate::figures::{self, Bar};
use crate::html::{Fragment, document, section};
use crate::numbers::{list, number, percent, short, text};

/// Numbers that one figure shows.
const DRAWN: usize = 60;

/// The page of a card, or of the cards of a series, from their JSON; `name` is what messages call the file.
///
/// # Guarantee
/// The page is a function of the JSON alone, and has all of it: its text stands at the end as it was given. A document that
/// says that it is private is refused. Tests: `a_card_page_has_all_of_the_card`, `a_card_page_has_no_number_of_its_own`.
pub fn card(name: &str, json: &str) -> Result<String, Failure> {
    let refused = |why: &str| {
        Failure::input(format!(
            "{name}: {why}\n  help: a card is what `conveil release … --json` prints"
        ))
    };
    let given: Value =
        serde_json::from_str(json).map_err(|e| refused(&format!("not JSON: {e}")))?;
    let cards = match given.get("cards").and_then(Value::as_array) {
        Some(cards) if given.get("private").is_none() => cards.as_slice(),
        _ => std::slice::from_ref(&given),
    };
    let cards: Vec<Card<'_>> = cards
        .iter()
        .map(Card::read)
        .collect::<Result<_, _>>()
        .map_err(|why| refused(&why))?;
    let (title, body) = match cards.as_slice() {
        [] => return Err(refused("it has no cards")),
        [card] => {
            let title = match card.label() {
                Some(label) => format!("Release card of {label}"),
                None => "Release card".into(),
            };
            let head = Fragment::new().then(&card.stamps()).title(&title).html();
            let parts = card.parts();
            let parts = parts
                .iter()
                .map(|(title, id, html)| section(title, id, html));
            (title, head + &parts.collect::<String>())
        }
        cards => (format!("{} release cards", cards.len()), series(cards)),
    };
    let whole = Fragment::new()
        .folded(
            "Show the JSON",
            &Fragment::new().words(json.trim_end(), true).html(),
        )
        .html();
    let whole = section("The card itself", "json", &whole);
    Ok(document(&title, &(body + &whole)))
}

/// The cards of a series: the answers beside each other, then each card by itself.
fn series(cards: &[Card<'_>]) -> String {
    let mut page = Fragment::new().title(&format!("{} release cards", cards.len()));
    let named = |(i, card): (usize, &Card<'_>)| match card.label() {
        Some(label) => label,
        None => format!("card {}", i + 1),
    };
    let mut overview = Fragment::new();
    if cards.len() <= DRAWN && cards.iter().all(|card| card.answer.len() == 1) {
        let bars: Vec<Bar> = cards
            .iter()
            .filter_map(|card| card.bars().first().copied())
            .collect();
        overview = overview.figure(
            &figures::bars("Released numbers", "released number", 1, &bars),
            "The released numbers, card by card, with their error bars.",
        );
    }
    let rows = cards.iter().enumerate().flat_map(|(i, card)| {
        let name = named((i, card));
        let numbers = card.answer.iter().zip(card.bars());
        numbers.map(move |((of, value), bar)| {
            vec![name.clone(), of.clone(), value.to_string(), half(bar)]
        })
    });
    overview = overview.table(&["card", "name", "value", "error bar"], rows.collect());
    page = page.then(&section("The answers", "answers", &overview.html()));
    for (i, card) in cards.iter().enumerate() {
        let mut own = Fragment::new().then(&card.stamps());
        for (title, _, html) in card.parts() {
            own = own.part(title).then(&html);
        }
        let heading = format!("Card {} of {}: {}", i + 1, cards.len(), named((i, card)));
        page = page.then(&section(&heading, &format!("card-{}", i + 1), &own.html()));
    }
    page.html()
}

fn half(bar: Bar) -> String {
    match bar.half_width > 0.0 {
        true => format!("± {}", short(bar.half_width)),
        false => "–".into(),
    }
}

/// The formats of cards that there have been.
const FORMATS: [&str; 2] = ["conveil-card/1", "conveil-card/2"];

/// What a card may hold.
const KEYS: [&str; 35] = [
    "adjacency",
    "answer",
    "assumes",
    "basis",
    "basis_statement",
    "before_projection",
    "bound",
    "chosen_because",
    "conveil",
    "decisions",
    "delta",
    "differentially_private",
    "epsilon",
    "feasibility",
    "format",
    "label",
    "lattice_step",
    "ledger",
    "mechanism",
    "no_answer",
    "norm",
    "notion",
    "objective",
    "odds",
    "privacy",
    "protects",
    "reading",
    "scale",
    "sensitivity",
    "settings",
    "shape",
    "stamps",
    "strategy",
    "uncertainty",
    "universe",
];

/// A card with its answer, which is empty where the program has none at noisy data.
struct Card<'v> {
    json: &'v Value,
    answer: Vec<(String, f64)>,
}

impl<'v> Card<'v> {
    fn read(json: &'v Value) -> Result<Self, String> {
        if json.get("private").and_then(Value::as_bool) == Some(true) {
            return Err("this document is private, and is not a card".into());
        }
        match text(json, "format") {
            Some(format) if FORMATS.contains(&format) => {}
            Some(format) if format.starts_with("conveil-card/") => {
                return Err("this card is of a later version than this program".into());
            }
            _ => return Err("this is not a card".into()),
        }
        // The page shows the whole text: nothing may stand in it that no release has put there.
        let keys = json.as_object().into_iter().flatten().map(|(key, _)| key);
        if let Some(key) = keys.into_iter().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(format!(
                "a card has no `{key}`: take it out, or publish the card as it was released"
            ));
        }
        let says_none = text(json, "no_answer").is_some();
        let answer = named(json, "answer").filter(|answer| says_none || !answer.is_empty());
        let answer = answer.ok_or("this card has no answer")?;
        Ok(Card { json, answer })
    }

    fn at(&self, place: &str) -> Option<&Value> {
        self.json.pointer(place).filter(|value| !value.is_null())
    }

    fn label(&self) -> Option<String> {
        self.at("/label").map(plain)
    }

    /// What must be seen first.
    fn stamps(&self) -> String {
        let is_private = self.at("/differentially_private") == Some(&Value::Bool(true));
        let stamps = list(self.json, "stamps").iter().filter_map(Value::as_str);
        let stamps: Vec<&str> = stamps.collect();
        let mut fragment = Fragment::new();
        if !is_private && !stamps.iter().any(|stamp| stamp.contains("NOT PRIVATE")) {
            fragment = fragment.stamp(true, "NOT PRIVATE");
        }
        for stamp in stamps {
            fragment = fragment.stamp(true, stamp);
        }
        fragment.html()
    }

    /// Half of the error bar of a number that got noise.
    fn half_width(&self, place: usize) -> f64 {
        let widths = self
            .at("/uncertainty/half_widths")
            .and_then(Value::as_array);
        let width = match widths.map(Vec::as_slice) {
            Some([one]) => Some(one),
            Some(all) => all.get(place),
            None => None,
        };
        width.and_then(Value::as_f64).unwrap_or(0.0)
    }

    /// The answer with its error bars: none where it is made of the numbers that got noise.
    fn bars(&self) -> Vec<Bar> {
        let is_direct = self.at("/before_projection").is_none();
        let bar = |(place, (_, value)): (usize, &(String, f64))| Bar {
            value: *value,
            half_width: if is_direct {
                self.half_width(place)
            } else {
                0.0
            },
        };
        self.answer.iter().enumerate().map(bar).collect()
    }

    /// Headings, anchors and fragments.
    fn parts(&self) -> Vec<(&'static str, &'static str, String)> {
        vec![
            ("The answer", "answer", self.numbers()),
            ("The guarantee", "guarantee", self.guarantee()),
            ("The noise", "noise", self.noise()),
            ("What may be done with it", "use", self.using()),
            (
                "Assumptions",
                "assumptions",
                self.facts(&[("Assumed", "/assumes")]),
            ),
            ("Ledger", "ledger", self.ledger()),
            (
                "Made by",
                "made",
                self.facts(&[("Conveil", "/conveil"), ("Format", "/format")]),
            ),
        ]
    }

    fn numbers(&self) -> String {
        let bars = self.bars();
        let mut fragment = match self.answer.as_slice() {
            [] => Fragment::new().say(&format!(
                "None: the program has no answer at the noisy data: {}",
                text(self.json, "no_answer").unwrap_or_default()
            )),
            [(name, value)] => Fragment::new().tiles(&[(
                name,
                match bars.first().filter(|bar| bar.half_width > 0.0) {
                    Some(bar) => format!("{value} {}", half(*bar)),
                    None => value.to_string(),
                },
            )]),
            _ => self.table(&self.answer, &bars, "Released numbers"),
        };
        if let Some(noisy) = named(self.json, "before_projection") {
            let bars = noisy.iter().enumerate().map(|(place, (_, value))| Bar {
                value: *value,
                half_width: self.half_width(place),
            });
            let before = match text(self.json, "strategy") {
                Some("linear-term") => "The noisy minimum without the constraints",
                Some("input" | "truncated") => "The noisy data",
                _ => "Before it was projected onto the constraints",
            };
            let noisy = self.table(&noisy, &bars.collect::<Vec<Bar>>(), "Noisy numbers");
            fragment = fragment
                .remark("Error bars are those of the noisy numbers behind the answer.")
                .part(before)
                .then(&noisy.html());
        }
        if let Some(share) = self.at("/uncertainty/share").and_then(Value::as_f64) {
            let share = percent(share);
            fragment = fragment.remark(&format!(
                "± holds the noise on each number by itself in {share} of draws."
            ));
        }
        if let Some(amount) = self.at("/uncertainty/bias/amount") {
            let most = self.at("/uncertainty/bias/at_most") == Some(&Value::Bool(true));
            let (most, unless) = match most {
                true => ("at most ", ", unless data are clipped or corrected"),
                false => ("", ""),
            };
            let amount = amount.as_f64().map_or_else(|| plain(amount), short);
            fragment = fragment.say(&format!(
                "Bias: on average the number is {most}{amount} worse than the optimum{unless}."
            ));
        }
        fragment.html()
    }

    fn table(&self, numbers: &[(String, f64)], bars: &[Bar], title: &str) -> Fragment {
        let mut fragment = Fragment::new();
        if numbers.len() > 1 && numbers.len() <= DRAWN {
            fragment = fragment.figure(
                &figures::bars(title, "value", 1, bars),
                &format!("{title} with their error bars."),
            );
        }
        let rows = numbers.iter().zip(bars).enumerate();
        let rows = rows.map(|(i, ((name, value), bar))| {
            vec![
                name.clone(),
                (i + 1).to_string(),
                value.to_string(),
                half(*bar),
            ]
        });
        fragment.table(&["name", "number", "value", "error bar"], rows.collect())
    }

    fn guarantee(&self) -> String {
        self.facts(&[
            ("Privacy", "/privacy"),
            ("In words", "/odds"),
            ("Notion", "/notion"),
            ("Protects", "/protects"),
            ("Neighbouring data", "/adjacency/text"),
            ("Private numbers", "/adjacency/numbers"),
            ("Called", "/adjacency/called"),
            ("Unit", "/adjacency/unit"),
            ("Universe", "/universe"),
            ("Basis", "/basis"),
            ("Because", "/basis_statement"),
        ])
    }

    fn noise(&self) -> String {
        let facts = self.facts(&[
            ("Law", "/mechanism"),
            ("ε", "/epsilon"),
            ("δ", "/delta"),
            ("Sensitivity", "/sensitivity"),
            ("Norm", "/norm"),
            ("Scale", "/scale"),
            ("Never beyond ±", "/bound"),
            ("Lattice step", "/lattice_step"),
            ("Times T =", "/shape"),
        ]);
        let drawn = self.law().map(|(law, sensitivity, step)| {
            let unit = match self.at("/shape").is_some() || self.at("/before_projection").is_some() {
                true => "number that gets noise, from where it is without",
                false => "released number, from where it is without noise",
            };
            Fragment::new()
                .figure(
                    &figures::density(&law, 0.0, sensitivity, step, unit),
                    "What may be released from these data, and from a neighbour that differs by the whole sensitivity: the more the two overlap, the less a reader can tell them apart.",
                )
                .html()
        });
        drawn.unwrap_or_default() + &facts
    }

    /// The law, as the card states it.
    fn law(&self) -> Option<(Law, f64, f64)> {
        let size = |key: &str| number(self.json, key).filter(|size| *size > 0.0);
        let (scale, sensitivity, step) =
            (size("scale")?, size("sensitivity")?, size("lattice_step")?);
        let mechanism = text(self.json, "mechanism")?;
        let law = match size("bound") {
            Some(bound) => Law::truncated_laplace(scale, bound),
            None if mechanism.starts_with("Laplace") => Law::laplace(scale),
            None if mechanism.starts_with("Gaussian") => Law::gaussian(scale),
            None => return None,
        };
        Some((law.ok()?, sensitivity, step))
    }

    fn using(&self) -> String {
        let settings = list(self.json, "settings").iter();
        let settings = settings.filter_map(|setting| text(setting, "text").map(String::from));
        let mut facts = self.pairs(&[
            ("Feasibility", "/feasibility"),
            ("Strategy", "/strategy"),
            ("Chosen because", "/chosen_because"),
            ("Decisions", "/decisions"),
            ("Objective", "/objective"),
            ("How to read it", "/reading"),
        ]);
        facts.extend(settings.map(|text| ("Chosen", text)));
        told(&facts)
    }

    fn ledger(&self) -> String {
        self.facts(&[
            ("Dataset", "/ledger/dataset"),
            ("Charge", "/ledger/charge"),
            ("Head", "/ledger/head"),
            ("Part", "/ledger/part"),
            ("Release of the series", "/ledger/series/release"),
            ("Releases declared in advance", "/ledger/series/of"),
        ])
    }

    fn pairs(&self, keys: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
        let facts = keys.iter().filter_map(|(name, place)| {
            let value = plain(self.at(place)?);
            (!value.is_empty()).then_some((*name, value))
        });
        facts.collect()
    }

    fn facts(&self, keys: &[(&'static str, &str)]) -> String {
        told(&self.pairs(keys))
    }
}

fn told(facts: &[(&str, String)]) -> String {
    match facts.is_empty() {
        true => Fragment::new()
            .why_not("the card says nothing of it")
            .html(),
        false => Fragment::new().facts(facts).html(),
    }
}

/// Numbers by name.
fn named(json: &Value, key: &str) -> Option<Vec<(String, f64)>> {
    let numbers = json.get(key)?.as_array()?.iter();
    numbers
        .map(|n| Some((text(n, "name")?.to_string(), number(n, "value")?)))
        .collect()
}

/// A value as people read it: the entries of a list one after the other, those of an object line by line.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(all) if all.iter().all(Value::is_string) => {
            let all: Vec<String> = all.iter().map(plain).collect();
            all.join(", ")
        }
        Value::Object(entries) => {
            let lines = entries.iter().filter(|(_, value)| !value.is_null());
            let lines = lines.map(|(key, value)| format!("{key}: {}", plain(value)));
            lines.collect::<Vec<String>>().join("\n")
        }
        other => other.to_string(),
    }
}
