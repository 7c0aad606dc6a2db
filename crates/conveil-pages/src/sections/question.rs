//! What is asked, and what is guaranteed: from `check` and `solve`.

use conveil_workbench::{Check, Report};

use crate::html::Fragment;
use crate::numbers::{percent, short};

/// Names that are written out.
const NAMED: usize = 12;

/// The answer first: what is released at which ε, how far off it is, and what that costs. Without a report, what is public.
pub fn glance(check: &Check, report: Option<&Report>) -> String {
    let line = &check.guarantee;
    let mut privacy = format!("ε = {}", short(line.epsilon));
    if line.delta > 0.0 {
        privacy += &format!(", δ = {}", short(line.delta));
    }
    let mut tiles = vec![
        ("released", names(&check.released, 3)),
        ("privacy", privacy),
        ("basis", line.basis.name().to_string()),
    ];
    if let Some(report) = report.map(Report::engine) {
        if report.carried {
            let share = report.loss_percent.map_or(String::new(), |share| {
                format!(" ({}% of the optimum)", short(share))
            });
            let loss = format!("{}{share}", short(report.loss));
            tiles.push(("cost of privacy", loss));
        }
        // A promise that no row is behind says nothing.
        if report.budget.is_promised() && report.certified > 0.0 {
            let each = if report.budget.is_for_each_row() {
                " in each row"
            } else {
                ""
            };
            tiles.push((
                "infeasible",
                format!(
                    "at most {}{each}, measured {}{}",
                    percent(report.certified),
                    percent(report.empirical.probability()),
                    report.empirical.beside(report.certified)
                ),
            ));
        }
    }
    let mut fragment = Fragment::new().tiles(&tiles);
    if let Some(outlook) = &check.outlook {
        fragment = fragment.remark(&format!("Outlook, on public data: {outlook}"));
    }
    fragment.html()
}

/// What is asked of which model, about which private numbers.
pub fn question(check: &Check) -> String {
    let private: Vec<String> = check.parameters.iter().map(|p| p.name.clone()).collect();
    let mut facts = vec![
        ("Released", names(&check.released, NAMED)),
        ("Model", check.problem.clone()),
        (
            "Size",
            format!(
                "{} variables, {} constraint rows, {} cost",
                check.columns,
                check.rows,
                if check.quadratic {
                    "quadratic"
                } else {
                    "linear"
                }
            ),
        ),
        ("Private numbers", names(&private, NAMED)),
        (
            "Neighbouring data",
            match check.unit() {
                Some(unit) => format!("{} (in {unit})", check.adjacency),
                None => check.adjacency.clone(),
            },
        ),
    ];
    if let Some(protects) = &check.protects {
        facts.push(("Protected", protects.clone()));
    }
    if let Some(universe) = &check.universe {
        facts.push(("Universe", universe.clone()));
    }
    if let Some(objective) = check.objective.as_ref().filter(|o| !o.is_the_cost()) {
        facts.push(("Objective", objective.to_string()));
    }
    if let Some(label) = &check.label {
        facts.push(("Label of a row", label.clone()));
    }
    if let Some(tuning) = &check.tuning {
        facts.push(("λ is chosen", tuning.to_string()));
    }
    Fragment::new().facts(&facts).html()
}

/// The guarantee in words, with its assumptions and warnings.
pub fn guarantee(check: &Check) -> String {
    let mut fragment = Fragment::new().facts(&worded(&check.text));
    if !check.warnings.is_empty() {
        fragment = fragment.part("Warnings").list(&check.warnings);
    }
    if !check.notes.is_empty() {
        fragment = fragment.part("Notes").list(&check.notes);
    }
    fragment.html()
}

/// The lines `label: words` of a guarantee, with what is indented below them. The table of η is left out: it has a section.
fn worded(text: &str) -> Vec<(String, String)> {
    let mut facts: Vec<(String, String)> = Vec::new();
    let mut in_table = false;
    for line in text.lines() {
        if line.starts_with("  method ") {
            in_table = true;
        } else if in_table && line.starts_with("  ") {
            in_table = !line.starts_with("  together ");
        } else if let Some(more) = line.strip_prefix("  ") {
            if let Some((_, words)) = facts.last_mut() {
                *words += &format!("\n{more}");
            }
        } else {
            in_table = false;
            let (label, words) = line.split_once(": ").unwrap_or(("", line));
            let mut label = label.to_string();
            if let Some(first) = label.get(..1) {
                label = first.to_uppercase() + &label[1..];
            }
            facts.push((label, words.to_string()));
        }
    }
    facts
}

/// The first few, and how many there are.
fn names(all: &[String], most: usize) -> String {
    match all.len() {
        n if n > most => format!("{}, … ({n} in all)", all[..most].join(", ")),
        _ => all.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guarantee_is_told_line_by_line_without_its_table() {
        let text = "released: `a: b`\nprivacy: ε = 1\n  basis: declared\nfeasibility: 0.9\n  method  rows\n  box  2\n  together  1%\ndecisions: x\nno label";
        let told = worded(text);
        let told: Vec<(&str, &str)> = told.iter().map(|f| (&*f.0, &*f.1)).collect();
        let expected = [
            ("Released", "`a: b`"),
            ("Privacy", "ε = 1\nbasis: declared"),
            ("Feasibility", "0.9"),
            ("Decisions", "x"),
            ("", "no label"),
        ];
        assert_eq!(told, expected);
    }
}
