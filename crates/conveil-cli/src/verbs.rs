//! The verbs check, solve, compare, explain, frontier. None of them releases anything.

use conveil::curator;
use conveil::plan::Plan;
use conveil::program::Parameter;
use conveil::solve::Cancel;
use conveil_read::spec::Strategy;

use crate::arguments::{Common, Curating, Over, Study, Sweep};
use crate::check::Check;
use crate::failure::Failure;
use crate::grid;
use crate::inputs::Inputs;
use crate::model::{self, Datasets, Model, Report};
use crate::outside::{exact, is_clipped};
use crate::svm_compare::SvmComparison;
use crate::terminal::Terminal;
use crate::{audit, wishes};

/// Factors of the default grid of a frontier: powers of two, so that its values are round where the spec's is.
const GRID: [f64; 7] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];

/// Values outside their bounds that are named one by one.
const CLIPPED_SHOWN: usize = 12;

/// η must stay below one half.
const ETA_END: f64 = 0.5;

/// Public facts only: the private values are not even looked up. No timings either, so that nothing but public
/// differences shows.
pub(crate) fn check(common: &Common, terminal: &Terminal, cancel: &Cancel) -> Result<(), Failure> {
    let inputs = Inputs::open(&common.spec)?;
    let model = Model::new(&inputs)?;
    let plan = planned(&inputs, &model, terminal, cancel)?;
    let mut check = Check::new(&inputs, &plan);
    check
        .notes
        .extend(audit::beside_sampled(&plan, &inputs, terminal, cancel)?);
    check.notes.extend(grid::notes(&inputs, &model));
    terminal.show(&check)
}

/// The curator report.
pub(crate) fn solve(
    curating: &Curating,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let (inputs, model, theta) = opened(curating, terminal)?;
    let plan = terminal.stage("plan", || planned(&inputs, &model, terminal, cancel))?;
    warn(&plan, terminal);
    if !terminal.is_quiet()
        && let Some(remark) = audit::beside_sampled(&plan, &inputs, terminal, cancel)?
    {
        terminal.say(&format!("note: {remark}"));
    }
    let curated = {
        let _spinner = terminal.progress("solving");
        terminal.stage("solve", || plan.curate(&theta))
    };
    let curated = curated.map_err(|e| model::failure(&inputs, &model, &theta, &e))?;
    let (decided, report) = (curated.decided(), curated.report());
    if let Some(warning) = model::warning(&inputs, (&model, &theta), &plan, decided) {
        terminal.say(&format!("warning: {warning}"));
    }
    terminal.show(&Report::new(
        &inputs,
        (&model, &theta),
        &plan,
        decided,
        report,
    )?)?;
    terminal.say_timings();
    Ok(())
}

/// All strategies on the same noise.
pub(crate) fn compare(study: &Study, terminal: &Terminal, cancel: &Cancel) -> Result<(), Failure> {
    let (mut inputs, model, theta) = opened(&study.curating, terminal)?;
    promised(&inputs, "a comparison with program perturbation")?;
    // Every strategy is compared, whichever the spec has chosen.
    let chosen = std::mem::take(&mut inputs.spec.feasibility.strategy.value);
    let plan = terminal.stage("plan", || planned(&inputs, &model, terminal, cancel));
    let plan = plan.map_err(|failure| match chosen {
        Strategy::Program => failure,
        Strategy::Output | Strategy::Projected => failure.with_help(Some(
            "a comparison is with program perturbation, which is not to be had here; `solve` measures the strategy of the spec".into(),
        )),
    })?;
    warn(&plan, terminal);
    let draws = study.draws.unwrap_or(inputs.spec.study.draws as u64);
    let seed = study.seed.unwrap_or(inputs.spec.study.seed);
    if let Model::Svm(svm) = &model {
        let comparison = terminal.stage("compare", || {
            SvmComparison::new(&inputs, svm, &plan, &theta, (draws as usize, seed), cancel)
        })?;
        terminal.show(&comparison)?;
        terminal.say_timings();
        return Ok(());
    }
    let comparison = {
        let progress = terminal.progress("comparing");
        let batch = progress.batch(inputs.spec.solver.threads, cancel);
        terminal.stage("compare", || {
            curator::compare(&plan, &theta, draws, seed, &batch)
        })
    };
    let comparison = comparison.map_err(|e| model::failure(&inputs, &model, &theta, &e))?;
    terminal.show(&comparison)?;
    terminal.say_timings();
    Ok(())
}

/// What holds it back, and how far it can go.
pub(crate) fn explain(
    curating: &Curating,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let (inputs, model, theta) = opened(curating, terminal)?;
    let ask = wishes::ask(&inputs, &model, cancel)?;
    let explanation = {
        let _spinner = terminal.progress("explaining");
        terminal.stage("explain", || curator::explain(model.map(), &ask, &theta))
    };
    let explanation = explanation.map_err(|e| model::failure(&inputs, &model, &theta, &e))?;
    terminal.show(&explanation)?;
    terminal.say_timings();
    Ok(())
}

/// Loss against ε, α or η.
pub(crate) fn frontier(sweep: &Sweep, terminal: &Terminal, cancel: &Cancel) -> Result<(), Failure> {
    let (inputs, model, theta) = opened(&sweep.curating, terminal)?;
    let values = match &sweep.values {
        Some(values) => values.clone(),
        None => grid(&inputs, sweep.over)?,
    };
    let ask = wishes::ask(&inputs, &model, cancel)?;
    let frontier = {
        let progress = terminal.progress("frontier");
        let batch = progress.batch(inputs.spec.solver.threads, cancel);
        terminal.stage("frontier", || {
            curator::frontier(
                model.map(),
                &ask,
                &theta,
                sweep.over.axis(),
                &values,
                &batch,
            )
        })
    };
    let frontier = frontier.map_err(|e| model::failure(&inputs, &model, &theta, &e))?;
    terminal.show(&frontier)?;
    terminal.say_timings();
    Ok(())
}

/// The inputs, the public model and the private θ.
pub(crate) fn opened(
    curating: &Curating,
    terminal: &Terminal,
) -> Result<(Inputs, Model, Vec<f64>), Failure> {
    let inputs = Inputs::open(&curating.common.spec)?;
    let model = Model::new(&inputs)?;
    let theta = dataset(&inputs, &model, curating.row, terminal)?;
    Ok((inputs, model, theta))
}

/// The private θ of this row, or of the first, with remarks on it for the curator.
pub(crate) fn dataset(
    inputs: &Inputs,
    model: &Model,
    row: Option<usize>,
    terminal: &Terminal,
) -> Result<Vec<f64>, Failure> {
    let datasets = Datasets::open(inputs, model)?;
    note(inputs, model, &datasets, terminal);
    if row.is_none() && datasets.count() > 1 && !terminal.is_quiet() {
        let count = datasets.count();
        terminal.say(&format!(
            "note: the first of {count} rows of demands; --row N takes another"
        ));
    }
    row_of(&datasets, row.unwrap_or(1), inputs, model, terminal)
}

/// The private θ of this row, with remarks on it for the curator.
pub(crate) fn row_of(
    datasets: &Datasets,
    row: usize,
    inputs: &Inputs,
    model: &Model,
    terminal: &Terminal,
) -> Result<Vec<f64>, Failure> {
    let theta = datasets.row(row)?;
    let own = remarks(inputs, model, &theta);
    for warning in datasets.remarks().iter().chain(&own) {
        let place = match datasets.count() {
            1 => String::new(),
            _ => format!("row {row}: "),
        };
        terminal.say(&format!("warning: {place}{warning}"));
    }
    Ok(theta)
}

/// What the curator should know about the network and the list of demands.
pub(crate) fn note(inputs: &Inputs, model: &Model, datasets: &Datasets, terminal: &Terminal) {
    if terminal.is_quiet() {
        return;
    }
    for note in grid::notes(inputs, model).iter().chain(datasets.note()) {
        terminal.say(&format!("note: {note}"));
    }
}

/// What the curator should know about the private values.
fn remarks(inputs: &Inputs, model: &Model, theta: &[f64]) -> Vec<String> {
    let mut remarks = Vec::new();
    // Files of records have remarks of their own, in their units and by their lines.
    let parameters: &[Parameter] = match model {
        Model::Svm(_) | Model::Regression(_) => &[],
        other => other.map().parameters(),
    };
    let universe = wishes::claimed_universe(&inputs.spec).filter(|u| u.len() == theta.len());
    let nearest = (universe.as_ref()).map_or(theta.to_vec(), |u| u.nearest(theta.to_vec()));
    for (parameter, (&value, &counted)) in parameters.iter().zip(theta.iter().zip(&nearest)) {
        let name = parameter.name();
        match parameter.bounds() {
            _ if is_clipped(value, (counted, counted)) => remarks.push(format!(
                "the value of `{name}` lies outside the stated universe and counts as {}, that of its nearest member",
                exact(counted)
            )),
            Some((low, high)) if is_clipped(value, (low, high)) => remarks.push(format!(
                "the value of `{name}` lies outside its public bounds and is clipped to [{}, {}]",
                exact(low),
                exact(high)
            )),
            _ => {}
        }
    }
    // Loads come by the thousand.
    if let Some(more) = remarks
        .len()
        .checked_sub(CLIPPED_SHOWN)
        .filter(|more| *more > 0)
    {
        remarks.truncate(CLIPPED_SHOWN);
        let values = parameters.len();
        remarks.push(format!(
            "{} of {values} values in all lie outside and are clipped",
            more + CLIPPED_SHOWN
        ));
    }
    if universe.is_some_and(|universe| universe.centre() == theta) {
        remarks.push(
            "the centre of the universe is the private dataset itself: a universe must be public, so its centre must be chosen without looking at the data".into(),
        );
    }
    remarks
}

/// The plan that the spec asks for.
pub(crate) fn planned<'m>(
    inputs: &Inputs,
    model: &'m Model,
    terminal: &Terminal,
    cancel: &Cancel,
) -> Result<Plan<'m>, Failure> {
    let ask = wishes::ask(inputs, model, cancel)?;
    let progress = terminal.progress("planning");
    let batch = progress.batch(inputs.spec.solver.threads, cancel);
    Plan::with_batch(model.map(), ask, &batch).map_err(|e| Failure::engine(&inputs.spec_name, &e))
}

/// The plan's warnings, on standard error.
pub(crate) fn warn(plan: &Plan<'_>, terminal: &Terminal) {
    for warning in plan.warnings() {
        terminal.say(&format!("warning: {warning}"));
    }
}

/// η, which a spec for noise on the answer may leave out.
fn promised(inputs: &Inputs, what: &str) -> Result<f64, Failure> {
    let feasibility = &inputs.spec.feasibility;
    feasibility.eta.ok_or_else(|| {
        let error = (feasibility.strategy).error(&inputs.spec_name, format!("{what} needs `eta`"));
        let help = "add it to [feasibility]: the release leaves it alone";
        error.with_help(help).into()
    })
}

/// A geometric grid around the spec's own value.
fn grid(inputs: &Inputs, over: Over) -> Result<Vec<f64>, Failure> {
    let spec = &inputs.spec;
    let centre = match over {
        Over::Epsilon => spec.privacy.epsilon,
        Over::Eta => promised(inputs, "a frontier over eta")?,
        Over::Alpha => {
            let adjacency = &spec.private.adjacency;
            adjacency.value.alpha().ok_or_else(|| {
                adjacency
                    .error(
                        &inputs.spec_name,
                        "a frontier over alpha needs an adjacency with an alpha",
                    )
                    .with_help("one-entry, l1 and l2 have one")
            })?
        }
    };
    let end = match over {
        Over::Eta => ETA_END,
        _ => f64::MAX,
    };
    Ok(GRID
        .iter()
        .map(|factor| factor * centre)
        .filter(|value| *value > 0.0 && *value < end)
        .collect())
}
