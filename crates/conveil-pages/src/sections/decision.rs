//! What was decided at these data: from `solve`.

use conveil::ask::Strategy;
use conveil_workbench::Report;
use conveil_workbench::picture::{Grid, GridBranch, Picture};

use crate::figures::{self, Bar};
use crate::html::Fragment;
use crate::numbers::{maybe, percent, short};

/// Entries that one figure shows.
const DRAWN: usize = 60;

/// Rows of a table that stand open; the others are folded away.
const OPEN: usize = 20;

/// Rows that a table has at most.
const LISTED: usize = 1000;

/// An error bar is so many standard deviations of the noise to each side.
const DEVIATIONS: f64 = 2.0;

/// What the decision costs, and why.
pub fn cost(report: &Report) -> String {
    let report = report.engine();
    let mut rows = vec![("optimum without noise".to_string(), Some(report.optimum))];
    if report.carried {
        rows.push((report.objective_kind.clone(), Some(report.objective)));
        rows.push(("cost of privacy".into(), Some(report.loss)));
        rows.push((
            "cost of privacy, in % of the optimum".into(),
            report.loss_percent,
        ));
    }
    if let Some(costs) = &report.costs {
        let causes = [
            ("of it: public bounds", costs.bounds),
            ("of it: added curvature", costs.curvature),
            ("of it: corrections of the data", costs.corrections),
            ("of it: room for the noise", costs.noise),
        ];
        rows.extend(causes.map(|(name, value)| (name.to_string(), value)));
    }
    if let Some(optimum) = report.optimum_at_the_data {
        rows.push(("optimum at the data as they are".into(), Some(optimum)));
    }
    let rows = rows
        .into_iter()
        .map(|(name, value)| vec![name, maybe(value)]);
    let mut fragment = Fragment::new().table(&["what", "in the objective's unit"], rows.collect());
    fragment = match report.strategy {
        _ if !report.carried => {
            fragment.remark("The cost of privacy is not measured: no decision carries the noise.")
        }
        Strategy::Projected => fragment
            .remark("The cost is that before the projection; the comparison shows what it saves."),
        Strategy::LinearTerm => fragment.remark(
            "The cost is that without the constraints; the comparison shows what they save.",
        ),
        _ => fragment,
    };
    if let Some(correction) = report.correction.as_ref().filter(|c| !c.at_the_data) {
        let what = match correction.relaxes {
            true => "Rows with private data are exceeded",
            false => "The decision is for data that are moved",
        };
        fragment = fragment.say(&format!("{what} by {} in all.", short(correction.distance)));
    }
    if !report.clipped.is_empty() {
        let rows = report
            .clipped
            .iter()
            .take(LISTED)
            .map(|c| vec![c.name.clone(), short(c.datum), short(c.counted_as)]);
        fragment = fragment
            .part("Values that count as others")
            .table(&["value", "in the data", "counts as"], rows.collect());
    }
    fragment.html()
}

/// How η is divided, what is certified, and what was measured.
pub fn budget(report: &Report) -> String {
    let report = report.engine();
    let budget = &report.budget;
    let measured = report.empirical.to_string();
    if !budget.is_promised() {
        let why = match report.strategy {
            strategy if strategy.is_always_feasible() => {
                "the released decision is feasible always, so there is no budget to divide"
            }
            Strategy::Shifted => {
                "η is for the room that the value is moved by, and no decision is carried out, so there is no budget to divide"
            }
            _ => "nothing is promised of a decision's feasibility, so there is no budget to divide",
        };
        let fragment = Fragment::new().why_not(why);
        return match report.carried {
            true => fragment
                .say(&format!(
                    "Infeasible as a decision, before anything is done about it: {measured}."
                ))
                .html(),
            false => fragment.html(),
        };
    }
    let rows = budget.lines().iter().map(|line| {
        vec![
            line.method.clone(),
            line.serves.clone(),
            line.rows.to_string(),
            percent(line.share),
            percent(line.certified),
            line.detail.clone(),
        ]
    });
    let mut fragment = Fragment::new().table(
        &["method", "serves", "rows", "share of η", "certified", "how"],
        rows.collect(),
    );
    fragment = fragment.facts(&[
        ("η, as asked", percent(budget.eta())),
        (
            "Certified",
            match budget.is_for_each_row() {
                true => format!(
                    "at most {} for each row by itself",
                    percent(report.certified)
                ),
                false => format!("at most {}", percent(report.certified)),
            },
        ),
        (
            "Measured",
            format!("{measured}{}", report.empirical.beside(report.certified)),
        ),
    ]);
    if let Some(found) = &report.infeasible_at_the_data {
        fragment = fragment.say(&format!("Infeasible for the data as they are: {found}."));
    }
    fragment.html()
}

/// The mean decision with error bars of two standard deviations of the noise.
pub fn decision(report: &Report) -> String {
    let report = report.engine();
    let bars: Vec<Bar> = report
        .mean
        .iter()
        .zip(&report.deviation)
        .map(|(mean, deviation)| Bar {
            value: mean.1,
            half_width: DEVIATIONS * deviation.1,
        })
        .collect();
    if bars.is_empty() {
        return Fragment::new()
            .why_not("there is no decision to show")
            .html();
    }
    let drawn = &bars[..bars.len().min(DRAWN)];
    let more = match bars.len() > DRAWN {
        true => format!(" The first {DRAWN} of {} are drawn.", bars.len()),
        false => String::new(),
    };
    let fragment = Fragment::new().figure(
        &figures::bars("Mean decision", "value", 1, drawn),
        &format!(
            "The mean decision; bars reach two standard deviations of the noise to each side.{more}"
        ),
    );
    let rows = report.mean.iter().zip(&bars).enumerate();
    let rows = rows.map(|(i, (mean, bar))| {
        vec![
            mean.0.clone(),
            (i + 1).to_string(),
            short(bar.value),
            format!("± {}", short(bar.half_width)),
        ]
    });
    let columns = ["decision", "number", "mean", "two deviations"];
    long_table(fragment, &columns, rows.collect()).html()
}

/// Prices of the constraints that bind.
pub fn prices(report: &Report) -> String {
    let prices = &report.engine().prices;
    if prices.is_empty() {
        return Fragment::new().why_not("no constraint binds").html();
    }
    let rows = prices
        .iter()
        .map(|(name, price)| vec![name.clone(), short(*price)]);
    let columns = ["binding constraint", "price per unit of its limit"];
    long_table(Fragment::new(), &columns, rows.collect()).html()
}

/// What the model says of the decision in its own words; nothing where it says nothing.
pub fn model(report: &Report) -> String {
    let words = report.model().map(|model| model.text.trim_end());
    match words.filter(|words| !words.is_empty()) {
        Some(words) => Fragment::new().words(words, true).html(),
        None => String::new(),
    }
}

/// The picture of the model's own.
pub fn picture(picture: &Picture) -> String {
    let (svg, caption) = match picture {
        Picture::Grid(grid) => return network(grid),
        Picture::Curves(curves) => (
            figures::curves(curves),
            "The fitted curve, and what the noise makes of it. The draws are simulated: none was released.",
        ),
        Picture::Scores(scores) => (
            figures::scores(scores),
            "How many records of each class have which score before the noise. In the grey band the noise often turns the sign.",
        ),
        Picture::Body(body) => (
            figures::body(body),
            "The body inside its limits, and what the noise makes of it. The draws are simulated: none was released.",
        ),
    };
    Fragment::new().figure(&svg, caption).html()
}

/// Branches that are listed beside the drawing.
const LOADED: usize = 8;

/// The network, and its most loaded lines in numbers.
fn network(grid: &Grid) -> String {
    let mut fragment = match figures::network(grid) {
        Ok(svg) => Fragment::new().figure(
            &svg,
            "Lines are as thick as their mean flow; arrows show its direction. The load of a line is its flow and two standard deviations of it, over its limit. The ring around a disc is as wide as the deviations of the units there, added up.",
        ),
        Err(why) => return Fragment::new().why_not(&why).html(),
    };
    let mut loaded: Vec<(&GridBranch, f64)> = (grid.branches.iter())
        .filter_map(|branch| Some((branch, figures::loading(branch)?)))
        .collect();
    loaded.sort_by(|a, b| b.1.total_cmp(&a.1));
    loaded.truncate(LOADED);
    if !loaded.is_empty() {
        let rows = loaded.into_iter().map(|(branch, share)| {
            vec![
                branch.name.clone(),
                short(branch.flow_mw),
                format!("± {}", short(figures::DEVIATIONS * branch.deviation_mw)),
                branch.limit_mw.map_or(String::new(), short),
                format!("{:.1}%", 100.0 * share),
            ]
        });
        fragment = fragment.part("The most loaded lines").table(
            &["line", "mean flow in MW", "two deviations", "limit", "load"],
            rows.collect(),
        );
    }
    fragment.html()
}

/// A table whose later rows are folded away.
fn long_table(fragment: Fragment, columns: &[&str], mut rows: Vec<Vec<String>>) -> Fragment {
    let left_out = rows.len().saturating_sub(LISTED);
    rows.truncate(LISTED);
    let rest = rows.split_off(rows.len().min(OPEN));
    let mut fragment = fragment.table(columns, rows);
    if !rest.is_empty() {
        let count = rest.len();
        let rest = Fragment::new().table(columns, rest).html();
        fragment = fragment.folded(&format!("{count} more"), &rest);
    }
    match left_out {
        0 => fragment,
        more => fragment.remark(&format!("… and {more} that are not listed.")),
    }
}
