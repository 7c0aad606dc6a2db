//! The paper's α·c_max and where it fails, and a cost that must not be an epigraph.

use conveil::Error;
use conveil::ask::{Adjacency, Ask, Privacy, Query};
use conveil::noise::Sampler;
use conveil::plan::Plan;
use conveil::program::{
    AffineMap, Cone, DataMap, Holds, NewConstraint, NewVariables, Place, Program, Sparse, Stage,
};
use conveil::solve::{Settings, solve_checked};
use conveil_grid::Network;
use conveil_models::grid::Opf;

#[test]
fn congestion_breaks_the_largest_cost_as_a_bound() {
    // 89_pegase, demands within ±10% of nominal: one more MWh at one load costs more than five times the dearest unit.
    let opf = Opf::of(Network::builtin("89_pegase").unwrap())
        .build()
        .unwrap();
    let largest = opf.largest_cost();
    let optimum = |theta: &[f64]| {
        let program = opf.at(theta).ok()?;
        solve_checked(&program, &Settings::default()).ok()
    };
    let mut worst = 0.0f64;
    for index in 0..400 {
        let mut sampler = Sampler::new(21, index);
        let theta: Vec<f64> = opf
            .nominal()
            .iter()
            .map(|d| d * (0.9 + 0.2 * sampler.uniform()))
            .collect();
        let Some(solution) = optimum(&theta) else {
            continue;
        };
        let prices = opf.parameters().iter().map(|p| {
            let each = p.locations().iter().map(|l| match l.place {
                Place::B(row) => -l.coef * solution.z[row],
                _ => 0.0,
            });
            each.sum::<f64>()
        });
        let (load, price) = prices
            .enumerate()
            .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
            .unwrap();
        if price.abs() <= worst {
            continue;
        }
        // The multiplier is no rounding: a tenth of a MWh more moves the optimum by as much.
        let mut more = theta.clone();
        more[load] += 0.1 * price.signum();
        let Some(moved) = optimum(&more) else {
            continue;
        };
        let slope = (moved.objective - solution.objective).abs() / 0.1;
        if slope > 0.9 * price.abs() {
            worst = price.abs();
        }
    }
    println!(
        "the largest price found is {:.2} times c_max",
        worst / largest
    );
    assert!(worst > 5.0 * largest, "{worst} against {largest}");
}

/// 14_ieee at its nominal demand with the cost as a free variable t ≥ c'x: what must not be queried.
fn through_an_epigraph(opf: &Opf, stage: Stage) -> AffineMap {
    let base = opf.template();
    let (m, n) = (base.rows(), base.columns());
    let mut triplets: Vec<(usize, usize, f64)> = base.a().entries().collect();
    triplets.extend(base.q().iter().enumerate().map(|(j, c)| (m, j, *c)));
    triplets.push((m, n, -1.0));
    let mut b = base.b().to_vec();
    b.push(0.0);
    let mut q = vec![0.0; n];
    q.push(1.0);
    let (mut variables, mut constraints) = base.blocks();
    variables.push(NewVariables {
        name: "t".into(),
        len: 1,
        stage,
        entries: Vec::new(),
    });
    constraints.push(NewConstraint {
        name: "epigraph".into(),
        cone: Cone::Nonnegative(1),
        holds: Holds::WithNoise,
        rows: Vec::new(),
    });
    let a = Sparse::from_triplets(m + 1, n + 1, &triplets).unwrap();
    let p = Sparse::zeros(n + 1, n + 1);
    let program = Program::new(p, q, a, b, variables, constraints).unwrap();
    AffineMap::new(program, opf.parameters().clone()).unwrap()
}

#[test]
fn a_cost_as_an_epigraph_carries_no_decision() {
    let opf = Opf::of(Network::builtin("14_ieee").unwrap())
        .build()
        .unwrap();
    let ask = |query: Query| {
        Ask::new(query)
            .adjacency(Adjacency::one_entry(10.0))
            .privacy(Privacy::laplace(1.0))
            .declared(10.0 * opf.largest_cost(), "the paper's bound")
            .feasible(0.99)
    };
    // At α = 10 the noise does not fit; a free epigraph of the cost would make it fit, and is refused.
    let plan = Plan::new(&opf, ask(Query::Cost)).unwrap();
    let found = plan.released().at(&opf.nominal());
    assert!(matches!(found, Err(Error::NoiseDoesNotFit(_))), "{found:?}");
    let hollow = through_an_epigraph(&opf, Stage::Epigraph);
    for query in [Query::Cost, Query::Variables(vec!["t".into()])] {
        let refusal = Plan::new(&hollow, ask(query)).unwrap_err().to_string();
        assert!(refusal.contains("it is declared an epigraph"), "{refusal}");
    }
    // Declared to be what it is not, it takes the noise, and a warning names it.
    let hollow = through_an_epigraph(&opf, Stage::Decision);
    let plan = Plan::new(&hollow, ask(Query::Cost)).unwrap();
    assert!(plan.released().at(&opf.nominal()).is_ok());
    let warned = |w: &String| w.contains("they look like epigraphs: `t` ");
    assert!(plan.warnings().iter().any(warned), "{:?}", plan.warnings());
}
