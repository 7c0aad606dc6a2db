//! What `check` prints: long lists are cut, unless details are asked for.

use std::fmt;

use conveil::plan::Considered;
use conveil_models::{digits, exact};
use conveil_text::spelling::{counted, quoted};

use super::Check;
use crate::mapping::Enters;

/// Places of a private number that are written out.
const PLACES: usize = 4;

/// Lines shown of a long list.
const SHOWN: usize = 12;

/// Entries of the program that the line of a private number names.
const NAMED: usize = 6;

/// Released numbers that the guarantee names.
const RELEASED: usize = 8;

/// Characters of a reason that are written out.
const REASON: usize = 120;

/// How much of each list is written out.
struct Shown {
    lines: usize,
    places: usize,
    named: usize,
    is_all: bool,
}

impl Shown {
    fn of(check: &Check) -> Self {
        match check.is_detailed {
            true => Shown {
                lines: usize::MAX,
                places: usize::MAX,
                named: usize::MAX,
                is_all: true,
            },
            false => Shown {
                lines: SHOWN,
                places: PLACES,
                named: NAMED,
                is_all: false,
            },
        }
    }

    fn list<T>(
        &self,
        f: &mut fmt::Formatter,
        title: &str,
        items: &[T],
        line: impl Fn(&T) -> String,
    ) -> fmt::Result {
        self.lines(f, title, (items.iter(), items.len()), line)
    }

    /// The same of items that are made one by one, and how many they are.
    fn lines<T>(
        &self,
        f: &mut fmt::Formatter,
        title: &str,
        (items, all): (impl Iterator<Item = T>, usize),
        line: impl Fn(T) -> String,
    ) -> fmt::Result {
        writeln!(f, "{title}:")?;
        for item in items.take(self.lines) {
            writeln!(f, "  {}", line(item))?;
        }
        match all.saturating_sub(self.lines) {
            0 => Ok(()),
            more => writeln!(f, "  … and {more} more (see --details)"),
        }
    }

    /// The places that a private number enters, a line each.
    fn reads(&self, places: &[Enters]) -> String {
        let line = |place: &Enters| {
            let row = (place.row.as_ref()).map_or(String::new(), |row| format!(" in `{row}`"));
            let at = match place.at_nominal {
                true => ", at the nominal values",
                false => "",
            };
            let coefficient = exact(place.coefficient);
            let reads = match (self.is_all, &place.whole) {
                (true, Some(whole)) => whole,
                _ => &place.reads,
            };
            format!("\n    coefficient {coefficient}{row}: {reads}{at}")
        };
        let mut text: String = places.iter().take(self.places).map(line).collect();
        if let more @ 1.. = places.len().saturating_sub(self.places) {
            text += &format!("\n    and in {more} more places (see --details)");
        }
        text
    }

    /// A certificate that `auto` looked at: what it proves, or why it does not apply.
    fn considered(&self, one: &Considered) -> String {
        let by = match one.without_width {
            true => format!("{} without width", one.by),
            false => one.by.into(),
        };
        if let Some(why) = &one.why_not {
            let is_long = !self.is_all && why.chars().count() > REASON;
            return match is_long {
                true => {
                    let head: String = why.chars().take(REASON).collect();
                    format!("{by}: does not apply: {}… (see --details)", head.trim_end())
                }
                false => format!("{by}: does not apply: {why}"),
            };
        }
        let mut line = format!("{by}: ");
        line += &(one.sensitivity).map_or("applies".into(), |sensitivity| {
            format!("sensitivity {}", digits(sensitivity))
        });
        if let Some(score) = one.noise_and_correction {
            line += &format!(", noise plus correction {}", digits(score));
        }
        if one.chosen {
            line += ", chosen";
        }
        line
    }

    fn enters(&self, places: &[String]) -> String {
        let shown: Vec<&str> = (places.iter().take(self.named).map(String::as_str)).collect();
        let more = if places.len() > self.named {
            ", …"
        } else {
            ""
        };
        format!("{}{more}", shown.join(", "))
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.is_short {
            return self.fmt_short(f);
        }
        let shown = Shown::of(self);
        writeln!(f, "CHECK: public, no private value was used")?;
        let cost = if self.quadratic {
            "quadratic"
        } else {
            "linear"
        };
        writeln!(
            f,
            "problem: {}: {} and {}, {cost} cost",
            self.problem,
            counted(self.columns, "variable", "variables"),
            counted(self.rows, "constraint row", "constraint rows"),
        )?;
        let names = |names: &mut dyn Iterator<Item = &str>| {
            names.map(|n| n.chars().count()).max().unwrap_or(0).min(28)
        };
        let width = names(
            &mut (self.variables.iter().map(|v| v.name.as_str()))
                .chain(self.constraints.iter().map(|c| c.name.as_str())),
        )
        .max(self.parameters.longest_name().min(28));
        if let Some(line) = &self.line {
            writeln!(f, "{line}")?;
        }
        if self.line.is_none() || shown.is_all {
            shown.list(f, "variables", &self.variables, |v| {
                let entries = counted(v.size, "entry", "entries");
                format!("{:<width$}  {entries:<12} {}", v.name, v.stage)
            })?;
        }
        shown.list(f, "constraints", &self.constraints, |c| {
            let kind = format!("{}, {}", c.cone, counted(c.rows, "row", "rows"));
            let from = match self.line {
                None => String::new(),
                Some(_) => format!("  from `{}`", c.first),
            };
            format!("{:<width$}  {kind:<24} {}{from}", c.name, c.holds)
        })?;
        let private = match self.private_word {
            None => "private".into(),
            Some(word) => {
                let count = counted(self.parameters.len(), word, &format!("{word}s"));
                format!("private, {count}")
            }
        };
        let (lines, all) = (self.parameters.iter(), self.parameters.len());
        shown.lines(f, &private, (lines, all), |p| {
            let enters = shown.enters(&p.enters);
            let bounds = p.bounds.map_or(String::new(), |(low, high)| {
                format!(
                    ", clipped to [{}, {}]",
                    exact(rounded(low)),
                    exact(rounded(high))
                )
            });
            let nominal = p
                .nominal
                .map_or(String::new(), |v| format!(", nominal {v}"));
            let reads = shown.reads(&p.reads);
            format!(
                "{:<width$}  enters {enters}{bounds}{nominal}{reads}",
                p.name
            )
        })?;
        if let Some(universe) = &self.universe {
            writeln!(f, "universe: {universe}")?;
        }
        if let Some(label) = &self.label {
            writeln!(
                f,
                "labels: the column {} of the private file names its rows; it is public: each card has the label of its row",
                quoted(label)
            )?;
        }
        writeln!(f)?;
        writeln!(f, "{}", self.text)?;
        let considered = self.guarantee.basis.considered();
        if !considered.is_empty() {
            let title = "considered by auto, at the stated numbers";
            shown.list(f, title, considered, |one| shown.considered(one))?;
        }
        if shown.is_all && self.released.len() > RELEASED {
            shown.list(f, "all released numbers", &self.released, |name| {
                format!("`{name}`")
            })?;
        }
        if let Some(objective) = &self.objective
            && !objective.is_the_cost()
        {
            let released = match self.is_restated {
                true => "; the released number is stated so, with the same noise",
                false => "",
            };
            writeln!(
                f,
                "objective: {objective}, the cost being what the program minimises{released}"
            )?;
        }
        writeln!(f, "fit: {}", self.fit)?;
        match shown.is_all {
            true => writeln!(f, "movement: {:#}", self.movement)?,
            false => writeln!(f, "movement: {}", self.movement)?,
        }
        if let Some(tuning) = &self.tuning {
            writeln!(f, "tuning: λ is chosen {tuning}")?;
            if let (Some(first), Some(last)) = (tuning.grid.first(), tuning.grid.last()) {
                writeln!(
                    f,
                    "  error bar: ± {} at λ = {} to ± {} at λ = {}",
                    digits(first.error_bar),
                    first.lambda,
                    digits(last.error_bar),
                    last.lambda
                )?;
            }
            writeln!(
                f,
                "  of two λ the better one is chosen nine times as often where their mean losses are {} apart",
                digits(tuning.tells_apart)
            )?;
            if let Some(poor) = &tuning.poor {
                writeln!(f, "warning: {poor}")?;
            }
        }
        if let Some(outlook) = &self.outlook {
            if !outlook.is_odd() {
                writeln!(f, "outlook: {outlook}")?;
            }
            for poor in outlook.poor() {
                writeln!(f, "warning: {poor}")?;
            }
        }
        for warning in &self.warnings {
            writeln!(f, "warning: {warning}")?;
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        Ok(())
    }
}

/// Without the digits of a rounding.
fn rounded(value: f64) -> f64 {
    let rounded = (value * 1e6).round() / 1e6;
    if (rounded - value).abs() <= 1e-12 * value.abs() {
        rounded
    } else {
        value
    }
}
