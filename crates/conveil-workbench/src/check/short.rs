//! What `check` prints unasked: the answer in a few lines, then the numbers behind it. The rest is for `--details`.

use std::fmt;

use conveil::curator::{Fit, Movement, Moves};
use conveil_models::{digits, exact};
use conveil_text::spelling::{counted, quoted};

use super::Check;
use crate::answer::{some, some_of};
use crate::lines::{Entry, fitted};
use crate::outlook::Prospect;

/// Lines of a small terminal.
const LINES: usize = 25;

/// Names of a list that are written out.
const NAMED: usize = 3;

impl Check {
    /// A line of the guarantee in words.
    fn guaranteed(&self, label: &str) -> Option<&str> {
        let of = |line: &'_ str| line.strip_prefix(label)?.strip_prefix(": ").map(str::len);
        (self.text.lines()).find_map(|line| of(line).map(|len| &line[line.len() - len..]))
    }

    /// Everything that a careful reader should know, in the order of the detailed text.
    fn all_warnings(&self) -> Vec<String> {
        let tuning = self.tuning.iter().filter_map(|tuning| tuning.poor.clone());
        let outlook = self.outlook.iter().flat_map(Prospect::poor);
        let own = self.warnings.iter().cloned();
        tuning.chain(outlook).chain(own).collect()
    }

    pub(super) fn fmt_short(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let warnings = self.all_warnings();
        let opening = [
            Entry::whole("released", &self.what_is_released()),
            Entry::whole("guaranteed", &self.promise.guaranteed()),
            Entry::whole("costs", &self.what_it_costs()),
            Entry::whole("next", &self.what_is_next(warnings.len())),
        ];
        let opening = fitted(&opening, usize::MAX);
        // An empty line and the stamp stand between.
        let rest = fitted(
            &self.facts_in_short(&warnings),
            LINES.saturating_sub(opening.len() + 2),
        );
        for line in opening {
            writeln!(f, "{line}")?;
        }
        writeln!(f, "\nCHECK: public, no private value was used")?;
        for line in rest {
            writeln!(f, "{line}")?;
        }
        Ok(())
    }

    /// The numbers behind the answer. Promises, and what they leave out, are whole.
    fn facts_in_short(&self, warnings: &[String]) -> Vec<Entry> {
        let mut entries = Vec::new();
        entries.extend(self.promise.below());
        entries.push(Entry::within("problem", &self.size(), 1));
        entries.push(Entry::within("private", &self.private_numbers(), 1));
        if let Some(universe) = &self.universe {
            entries.push(Entry::within("universe", universe, 1));
        }
        if let Some(label) = &self.label {
            let text = format!("the column {} names the rows; it is public", quoted(label));
            entries.push(Entry::whole("labels", &text));
        }
        entries.push(Entry::whole("noise", &self.noise()));
        if let Some(text) = self.guaranteed("strategy") {
            let name = text.split_once(": ").map_or(text, |(name, _)| name);
            entries.push(Entry::whole("strategy", name));
        }
        if let Some(text) = self.guaranteed("feasibility") {
            entries.push(Entry::whole("feasibility", text));
        }
        for setting in &self.settings {
            entries.push(Entry::within("chosen", &setting.text, 1));
        }
        if let Some(objective) = self.objective.as_ref().filter(|o| !o.is_the_cost()) {
            entries.push(Entry::within("objective", &objective.to_string(), 1));
        }
        if let Some(tuning) = &self.tuning {
            entries.push(Entry::within("tuning", &format!("λ is chosen {tuning}"), 2));
        }
        // The costs above have the first number of it.
        if let Some(Prospect::Found(outlook)) = &self.outlook
            && outlook.expect.contains([';', '('])
        {
            entries.push(Entry::within("outlook", &outlook.expect, 1));
        }
        if self.fit != Fit::NotNeeded {
            entries.push(Entry::within("fit", &self.fit.to_string(), 1));
        }
        if self.movement != Movement::NotNeeded {
            entries.push(Entry::within("movement", &moved(&self.movement), 1));
        }
        let warnings = warnings
            .iter()
            .map(|text| Entry::within("warning", text, 2));
        entries.extend(warnings);
        entries.extend(self.notes.iter().map(|note| Entry::within("note", note, 2)));
        entries
    }

    fn noise(&self) -> String {
        let line = &self.guarantee;
        format!(
            "{}, scale {}, for a sensitivity of {} ({})",
            line.mechanism,
            digits(line.scale),
            digits(line.sensitivity),
            self.norm
        )
    }

    /// Where λ is chosen at the release, so are the error bars.
    fn what_is_released(&self) -> String {
        let bars = self.tuning.as_ref().and_then(|tuning| {
            let (first, last) = (tuning.grid.first()?, tuning.grid.last()?);
            Some(format!(
                "± {} (λ = {}) to {} (λ = {})",
                digits(last.error_bar),
                last.lambda,
                digits(first.error_bar),
                first.lambda
            ))
        });
        match bars {
            None => self.promise.released(""),
            Some(bars) => format!("{} numbers with noise, {bars}", self.released.len()),
        }
    }

    fn what_it_costs(&self) -> String {
        match (&self.outlook, &self.promise.bias) {
            (Some(Prospect::Found(outlook)), _) => outlook.in_short.clone(),
            (_, Some(bias)) => bias.clone(),
            (
                Some(Prospect::None {
                    none,
                    is_odd: false,
                }),
                None,
            ) => {
                format!("no loss is known: {none}")
            }
            (Some(_), None) => "no loss is known: see the warning about the public data".into(),
            (None, None) => "no loss is known before λ is chosen".into(),
        }
    }

    fn what_is_next(&self, warnings: usize) -> String {
        let details = "`conveil check --details` shows everything";
        match (warnings, self.guarantee.basis.is_private()) {
            (0, true) => {
                format!("{details}; `conveil release --dry-run` charges nothing")
            }
            (0, false) => format!("{details}; state a basis that makes the release private"),
            (count, _) => {
                let see = counted(count, "warning", "warnings");
                format!("see to the {see} below; {details}")
            }
        }
    }

    fn size(&self) -> String {
        let cost = if self.quadratic {
            "quadratic"
        } else {
            "linear"
        };
        format!(
            "{}: {} and {}, {cost} cost",
            self.problem,
            counted(self.columns, "variable", "variables"),
            counted(self.rows, "constraint row", "constraint rows"),
        )
    }

    /// How many, the range that they are clipped to, and the first of them.
    fn private_numbers(&self) -> String {
        let word = self.private_word.unwrap_or("number");
        let count = counted(self.parameters.len(), word, &format!("{word}s"));
        let shown = self.parameters.names().take(NAMED);
        let names: Vec<String> = shown.map(|name| quoted(&name)).collect();
        let kinds = self.parameters.kinds().count();
        let bounds: Vec<(f64, f64)> = (self.parameters.kinds())
            .filter_map(|p| p.bounds())
            .collect();
        let low = bounds.iter().fold(f64::INFINITY, |low, b| low.min(b.0));
        let high = bounds
            .iter()
            .fold(f64::NEG_INFINITY, |high, b| high.max(b.1));
        let range = match bounds.len() {
            0 => ", without public bounds".into(),
            all if all == kinds => {
                format!(", clipped within [{}, {}]", exact(low), exact(high))
            }
            // Of records that are alike each kind stands for one number in each.
            bounded => {
                let all = bounded * self.parameters.len() / kinds;
                format!(", {all} with public bounds")
            }
        };
        let nominal = match self.parameters.kinds().all(|p| p.nominal_value().is_some()) {
            true => ", with nominal values",
            false => "",
        };
        let unit = (self.unit.as_ref()).map_or(String::new(), |unit| format!(" (in {unit})"));
        let names = some_of(&names, self.parameters.len());
        format!("{count}{unit}{range}{nominal}: {names}")
    }
}

/// The decisions that carry most of the noise, in a line.
fn moved(movement: &Movement) -> String {
    let (decisions, on) = match movement {
        Movement::AllData { decisions } => (decisions, "whatever the data"),
        Movement::NominalData { decisions } => (decisions, "at the nominal data"),
        other => return other.to_string(),
    };
    let mut sorted: Vec<&Moves> = decisions.iter().collect();
    sorted.sort_by(|a, b| {
        let carried = b.carries.abs().total_cmp(&a.carries.abs());
        carried.then(b.moves.total_cmp(&a.moves))
    });
    // The last digits are the solver's.
    let percent = |carries: f64| digits((1e3 * carries).round() / 10.0);
    let names: Vec<String> = (sorted.iter())
        .map(|one| format!("{} {}%", quoted(&one.name), percent(one.carries)))
        .collect();
    format!("shares of the noise, {on}: {}", some(&names, NAMED))
}
