//! What privacy costs in time, as ratios within one run: lifting against solving, a lifted solve against the same
//! solve without noise, one thread against two. `cargo xtask bench` prints the table; nothing is asserted.

use conveil::ask::{Adjacency, Ask, Privacy, Query};
use conveil::chance::{Choice, Feasibility};
use conveil::noise::Sampler;
use conveil::plan::{Plan, ReleasedMap};
use conveil::program::{AffineMap, Builder};
use conveil::solve::{Batch, Settings, solve_checked};
use std::time::Instant;

/// Runs of each measurement; the median counts.
const RUNS: usize = 5;

/// Variables in a coupling row.
const ROW_LENGTH: usize = 5;

/// Coupling rows reach this far, as in a network: random rows of this sparsity would fill the solver's factors.
const NEIGHBOURHOOD: f64 = 10.0;

/// A sparse covering program: `n` variables with bounds of their own below, and `n` coupling rows of five variables,
/// in turn a private demand that they cover and a public capacity that they share. 2n rows in all.
fn covering(n: usize) -> conveil::Result<(AffineMap, Vec<f64>)> {
    let mut sampler = Sampler::new(7, 0);
    let mut m = Builder::new();
    let x = m.variable("x", n);
    let costs: Vec<f64> = (0..n).map(|_| 1.0 + sampler.uniform()).collect();
    m.minimize(x.dot(&costs));
    let mut demands = Vec::new();
    for i in 0..n {
        m.at_most(&format!("bound {i}"), 0.0, x.at(i));
        let terms = (1..ROW_LENGTH).fold(x.at(i), |sum, _| {
            sum + x.at((i + (sampler.uniform() * NEIGHBOURHOOD) as usize) % n)
        });
        if i % 2 == 0 {
            let demand = m.parameter(&format!("demand {i}"));
            m.at_most(&format!("cover {i}"), demand, terms);
            demands.push(1.0 + sampler.uniform());
        } else {
            m.at_most(&format!("capacity {i}"), terms, 50.0);
        }
    }
    Ok((m.build_map()?, demands))
}

fn ask(query: Query) -> Ask {
    Ask::new(query)
        .adjacency(Adjacency::one_entry(0.1))
        .privacy(Privacy::laplace(1.0))
        .declared(0.2, "a benchmark's number: nothing is released")
        .threads(1)
}

fn seconds<T>(work: impl FnOnce() -> conveil::Result<T>) -> conveil::Result<f64> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// One line of the table.
fn report(what: &str, ratios: Vec<f64>, target: &str) {
    let (low, high) = ratios
        .iter()
        .fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(*v), h.max(*v)));
    let middle = median(ratios);
    println!("  {what:<62} {middle:>9.3} {low:>9.3} {high:>9.3}  {target}");
}

/// Lifting and the whole map against the solve inside it, and that solve against the one without noise.
fn lifted(
    label: &str,
    released: &ReleasedMap<'_>,
    theta: &[f64],
    targets: [&str; 3],
) -> conveil::Result<()> {
    let program = released.map().at(theta)?;
    // Once for nothing: the first solve of a process pays for what the others find ready.
    solve_checked(&program, &Settings::default())?;
    let mut ratios = [const { Vec::new() }; 3];
    let mut size = (0, 0);
    for _ in 0..RUNS {
        let plain = seconds(|| solve_checked(&program, &Settings::default()))?;
        let start = Instant::now();
        let decided = released.at(theta)?;
        let all = start.elapsed().as_secs_f64();
        let (lift, solve) = (decided.lift_seconds, decided.solve_seconds);
        size = decided.lifted_size;
        ratios[0].push(lift / solve);
        ratios[1].push((all - solve) / solve);
        ratios[2].push(solve / plain);
    }
    let [lift, around, lifted] = ratios;
    println!(
        "{label}: {} × {} lifted to {} × {} (variables × rows)",
        program.columns(),
        program.rows(),
        size.0,
        size.1
    );
    report("lift / solve", lift, targets[0]);
    report("everything but the solve / solve", around, targets[1]);
    report("solve with noise / solve without", lifted, targets[2]);
    Ok(())
}

/// A batch of datasets on one thread against the same batch on two, beside what the machine gives to plain arithmetic:
/// on a busy machine neither gains.
fn batch(released: &ReleasedMap<'_>, theta: &[f64]) -> conveil::Result<()> {
    const JOBS: usize = 4;
    let solves = |index: usize| {
        let moved: Vec<f64> = theta.iter().map(|t| t + 0.01 * index as f64).collect();
        released.at(&moved).map(|decided| decided.objective)
    };
    let arithmetic = |index: usize| {
        let end = 50_000_000 + index as u64;
        Ok((0..end).fold(0.0, |sum, i| std::hint::black_box(sum + i as f64)))
    };
    println!("{JOBS} datasets, cost query");
    report(
        "one thread / two threads",
        speed_up(JOBS, solves)?,
        "> 0.8 of the next line",
    );
    report(
        "the same for plain arithmetic",
        speed_up(JOBS, arithmetic)?,
        "",
    );
    Ok(())
}

/// Seconds on one thread over seconds on two, for each run.
fn speed_up(
    jobs: usize,
    job: impl Fn(usize) -> conveil::Result<f64> + Send + Sync,
) -> conveil::Result<Vec<f64>> {
    let run = |threads: usize| {
        seconds(|| {
            let results = Batch::new().threads(threads).run(jobs, &job)?;
            results.into_iter().collect::<conveil::Result<Vec<f64>>>()
        })
    };
    (0..RUNS).map(|_| Ok(run(1)? / run(2)?)).collect()
}

fn main() -> conveil::Result<()> {
    println!(
        "  {:<62} {:>9} {:>9} {:>9}  target",
        "ratio", "median", "least", "most"
    );
    let (map, theta) = covering(2000)?;
    let boxed = Feasibility::eta(0.01).method(Choice::MASS_BOX);
    let plan = Plan::new(&map, ask(Query::Cost).feasibility(boxed.clone()))?;
    lifted(
        "cost query, mass box",
        plan.released(),
        &theta,
        ["< 0.10", "< 0.20", ""],
    )?;
    batch(plan.released(), &theta)?;

    let (map, theta) = covering(60)?;
    let names = (0..20).map(|i| format!("x[{i}]")).collect();
    let ask = ask(Query::Variables(names));
    let plan = Plan::new(&map, ask.clone())?;
    lifted(
        "20 variables, row by row",
        plan.released(),
        &theta,
        ["< 0.10", "", ""],
    )?;
    let plan = Plan::new(&map, ask.feasibility(boxed))?;
    lifted(
        "20 variables, mass box",
        plan.released(),
        &theta,
        ["< 0.10", "", ""],
    )?;
    Ok(())
}
