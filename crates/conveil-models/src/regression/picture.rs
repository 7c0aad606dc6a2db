//! A fit as a picture: the curve over one regressor, and what the noise makes of it. Private, all of it.

use conveil::noise::Sampler;
use conveil::program::DataMap;
use conveil::solve::solve_checked;

use super::Regression;
use crate::model::Curated;
use crate::picture::Curves;

/// Places at which curves are evaluated.
const PLACES: usize = 161;

/// Curves under noise.
const DRAWS: usize = 24;

/// Records in a picture, at most.
const PICTURED: usize = 400;

/// Seed and stream of the simulated noise: any numbers serve. Released noise never comes from here.
const NOISE: (u64, u64) = (0x0F17, 0xE3);

/// The curve over the first regressor that has a basis function, all others at their means; none where there is no such
/// regressor, where it has one value alone, or where the engine fails.
pub(super) fn of(model: &Regression, curated: &Curated<'_>) -> Option<Curves> {
    let input = model.reading.inputs.first()?;
    let names = model.design.regressors.names();
    let column = names.iter().position(|name| *name == input.name)?;
    let count = model.records().max(1) as f64;
    let mut means = vec![0.0; names.len()];
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for row in model.design.regressors.rows() {
        means
            .iter_mut()
            .zip(row)
            .for_each(|(m, value)| *m += value / count);
        low = low.min(row[column]);
        high = high.max(row[column]);
    }
    if !(low < high) {
        return None;
    }
    let step = (high - low) / (PLACES - 1) as f64;
    let at: Vec<f64> = (0..PLACES).map(|i| low + i as f64 * step).collect();
    let curve = |weights: &[f64]| -> Vec<f64> {
        let mut x = means.clone();
        let value = |place: &f64| {
            x[column] = *place;
            model.fitted(weights, &x)
        };
        at.iter().map(value).collect()
    };
    let columns = model.columns().ok()?;
    let weights = |x: &[f64]| columns.iter().map(|&j| x[j]).collect::<Vec<f64>>();
    let settings = curated.plan.released().settings();
    let plain = solve_checked(&curated.decided.program, settings).ok();
    let responses = model.clipped(curated.theta).ok()?;
    let points = || {
        let places = model.design.regressors.rows().map(|row| row[column]);
        places.zip(responses.iter().copied())
    };
    let every = model.records().div_ceil(PICTURED).max(1);
    let is_alone = model.reading.inputs.len() == 1;
    let others = if is_alone {
        ""
    } else {
        ", the others at their means"
    };
    let named = |name: &str, unit: Option<&str>| match unit {
        Some(unit) => format!("{name} ({unit})"),
        None => name.to_string(),
    };
    let (response, unit) = model.response();
    Some(Curves {
        x: named(&input.name, input.unit.as_deref()) + others,
        y: named(response, unit),
        mean: curve(&weights(&curated.decided.mean)),
        without_noise: plain.map(|plain| curve(&weights(&plain.x))),
        noisy: (noisy(model, &columns, curated).iter())
            .map(|weights| curve(weights))
            .collect(),
        // At other values of the others, records lie on no curve.
        records: match is_alone {
            true => points().step_by(every).collect(),
            false => Vec::new(),
        },
        records_in_all: model.records(),
        at,
    })
}

/// Weights under simulated noise: as they would be published where all of them are released, else the decision under the
/// rule; none where neither is.
fn noisy(model: &Regression, columns: &[usize], curated: &Curated<'_>) -> Vec<Vec<f64>> {
    let (plan, decided) = (curated.plan, curated.decided);
    let shape = plan.released().shape();
    let is_whole = plan.labels() == model.weights();
    let carries = columns.iter().any(|&j| !decided.recourse.row(j).is_empty());
    if !is_whole && !carries {
        return Vec::new();
    }
    let (seed, stream) = NOISE;
    let mut sampler = Sampler::new(seed, stream);
    let mut zeta = vec![0.0; shape.noises()];
    let mut drawn = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        sampler.fill(plan.law(), &mut zeta);
        let weights = match is_whole {
            true => {
                let noisy = decided.answer.iter().zip(shape.apply(&zeta));
                let noisy: Vec<f64> = noisy.map(|(w, z)| w + z).collect();
                plan.published(&noisy).ok()
            }
            false => Some(
                (columns.iter())
                    .map(|&j| {
                        let row = decided.recourse.row(j);
                        decided.mean[j] + row.iter().map(|&(i, v)| v * zeta[i]).sum::<f64>()
                    })
                    .collect(),
            ),
        };
        drawn.extend(weights);
    }
    drawn
}
