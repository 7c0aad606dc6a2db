//! What else could be chosen: from `plan`, `frontier`, `compare` and `explain`.

use conveil::curator::{Explanation, Frontier, FrontierRow};
use conveil::plan::Plan;
use conveil_workbench::{Comparison, Report};

use crate::figures;
use crate::html::Fragment;
use crate::numbers::{maybe, short};

/// The law of the answer for neighbouring data.
pub fn neighbours(plan: &Plan<'_>, report: &Report) -> String {
    let guarantee = plan.guarantee();
    let (law, step, sensitivity) = (plan.law(), guarantee.step(), guarantee.sensitivity());
    let is_direct =
        plan.released().shape().is_identity() && !guarantee.strategy().is_solved_after_noise();
    let answer = &report.engine().answer;
    let (centre, unit, what) = match answer.as_slice() {
        [(_, answer)] if is_direct => (*answer, "released number", String::new()),
        _ if is_direct => (
            0.0,
            "released number, from where it is without noise",
            format!(
                " One of the {} released numbers is drawn: the others get noise of the same law, and together the numbers of a neighbour differ by no more.",
                answer.len()
            ),
        ),
        _ => (
            0.0,
            "number that gets noise, from where it is without",
            " The answer is made of such numbers after the noise.".into(),
        ),
    };
    let caption = format!(
        "What may be released: the noise around the answer, and around that of a neighbour that differs by the whole sensitivity, {}. Numbers lie on a lattice of step {}.{what}",
        short(sensitivity),
        short(step)
    );
    let svg = figures::density(law, centre, sensitivity, step, unit);
    let mut fragment = Fragment::new().figure(&svg, &caption);
    if let Some(odds) = guarantee.odds_text() {
        fragment = fragment.say(&format!("In words: {odds}."));
    }
    fragment.html()
}

/// A cell of a frontier's row.
type Cell = fn(&FrontierRow) -> Option<f64>;

/// Loss against one of ε, α, η or a certificate's number; `chosen` is what the spec has.
pub fn frontier(found: &Frontier, chosen: Option<f64>) -> String {
    let symbol = found.axis.symbol();
    let has = |cell: Cell| found.rows.iter().any(|row| cell(row).is_some());
    // Where a rule makes another program at each value there is an error, and no loss.
    let (name, cell): (&str, Cell) = match (has(|r| r.loss), has(|r| r.error)) {
        (true, _) => ("loss, in the objective's unit", |r| r.loss),
        (false, true) => ("error under the noise", |r| r.error),
        _ => ("error bar of the answer (95%)", |r| r.error_bar),
    };
    let points: Vec<(f64, f64)> = found
        .rows
        .iter()
        .filter_map(|row| Some((row.value, cell(row)?)))
        .collect();
    let mut fragment = Fragment::new();
    if points.len() > 1 {
        let what = name.split(',').next().unwrap_or(name);
        let title = format!("{} against {symbol}", capital(what));
        let svg = figures::against(&title, (symbol, name), &points, chosen);
        let caption = match chosen {
            Some(chosen) => format!("{title}; the spec asks for {symbol} = {}.", short(chosen)),
            None => format!("{title}."),
        };
        fragment = fragment.figure(&svg, &caption);
    }
    if let Some(measure) = &found.measure {
        fragment = fragment.remark(&format!("error: {measure}, under the noise"));
    }
    let mut columns = vec![
        symbol.to_string(),
        "noise scale".into(),
        "error bar (95%)".into(),
    ];
    let optional: [(&str, Cell); 5] = [
        ("objective", |r| r.objective),
        ("loss", |r| r.loss),
        ("loss in %", |r| r.loss_percent),
        ("error", |r| r.error),
        ("correction", |r| r.correction),
    ];
    let optional: Vec<_> = optional.into_iter().filter(|o| has(o.1)).collect();
    columns.extend(optional.iter().map(|o| o.0.to_string()));
    columns.push("status".into());
    let rows = found.rows.iter().map(|row| {
        let is_chosen = chosen.is_some_and(|c| (c - row.value).abs() <= 1e-9 * c.abs());
        let mark = if is_chosen { " (as asked)" } else { "" };
        let bar = row
            .error_bar
            .map_or("–".into(), |bar| format!("± {}", short(bar)));
        let mut cells = vec![format!("{}{mark}", short(row.value)), maybe(row.scale), bar];
        cells.extend(optional.iter().map(|o| maybe(o.1(row))));
        cells.push(row.status.clone());
        cells
    });
    fragment.table(&columns, rows.collect()).html()
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// Strategies side by side, in cost or by the model's own measure.
pub fn comparison(found: &Comparison) -> String {
    let found = match found {
        Comparison::Cost(found) => found,
        Comparison::Model(words) => return Fragment::new().words(&words.text, true).html(),
    };
    let either = |exact: Option<f64>, drawn: Option<f64>| match (exact, drawn) {
        (Some(exact), _) => short(exact),
        (None, Some(drawn)) => format!("≈ {}", short(drawn)),
        (None, None) => "–".into(),
    };
    let rows = found.rows.iter().map(|r| {
        vec![
            r.strategy.into(),
            either(r.loss, r.sampled_loss),
            either(r.loss_percent, r.sampled_loss_percent),
            either(r.infeasible_percent, r.sampled_infeasible_percent),
            r.status.clone(),
        ]
    });
    let columns = ["strategy", "loss", "loss in %", "infeasible in %", "status"];
    let draws = found.rows.iter().map(|r| r.draws).max().unwrap_or(0);
    let mut fragment = Fragment::new()
        .table(&columns, rows.collect())
        .remark(&format!(
            "Optimum without noise: {}. ≈ is an average over {draws} simulated draws; the other numbers are exact.",
            short(found.optimum)
        ));
    if let Some((low, high)) = found.feasible_answers {
        fragment = fragment.remark(&format!(
            "Answers that some feasible decision has: from {} to {}.",
            short(low),
            short(high)
        ));
    }
    fragment
        .list(&found.advice)
        .say(&format!("{}.", capital(&found.summary())))
        .html()
}

/// What holds the program back, and how far ε, α and η can go.
pub fn explanation(found: &Explanation) -> String {
    let mut fragment = Fragment::new();
    if let Some(why) = &found.unattainable {
        fragment = fragment.say(&format!("Not attainable: {why}"));
    }
    fragment = match (&found.obstacle, found.feasible) {
        (Some(obstacle), _) => fragment.say(&format!("Infeasible with this noise: {obstacle}")),
        (None, true) => fragment.say("Feasible as asked."),
        (None, false) => fragment.say("Infeasible with this noise."),
    };
    if found.has_elastic_losses {
        fragment = fragment.say("Feasible at any ε and η: losses give way to the noise.");
    }
    if !found.thresholds.is_empty() {
        let rows = found.thresholds.iter().map(|t| {
            let edge = match (t.edge, t.everything_tried, t.feasible_above) {
                (None, ..) => "none found".into(),
                (Some(edge), true, true) => format!("{} and below", short(edge)),
                (Some(edge), true, false) => format!("{} and above", short(edge)),
                (Some(edge), false, true) => format!("from {} on", short(edge)),
                (Some(edge), false, false) => format!("up to {}", short(edge)),
            };
            let note = t.note.clone().unwrap_or_default();
            vec![t.what.into(), short(t.now), edge, note]
        });
        fragment = fragment.table(&["setting", "now", "feasible", "note"], rows.collect());
    }
    if !found.levers.is_empty() {
        let rows = found.levers.iter().map(|lever| {
            let pair = |values: Option<[f64; 2]>| {
                values.map_or("–".into(), |v| {
                    format!("{} to {}", short(v[0]), short(v[1]))
                })
            };
            vec![
                lever.what.into(),
                short(lever.now),
                maybe(lever.instead),
                format!("× {}", short(lever.noise)),
                pair(lever.correction),
                pair(lever.cost),
            ]
        });
        let columns = [
            "public number",
            "now",
            "instead",
            "noise",
            "corrections",
            "cost",
        ];
        fragment = fragment
            .part("Which public number makes the noise smaller")
            .table(&columns, rows.collect());
    }
    fragment.html()
}
