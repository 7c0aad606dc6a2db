//! The datasets: demands labelled by a network at several class balances, or a user's records.

use conveil::solve::Batch;
use conveil::{Error, Result};
use conveil_grid::Network;
use conveil_models::grid::DemandRays;

use super::{Settings, Source};
use crate::learning::Examples;

/// One dataset.
pub(super) struct Dataset {
    pub(super) name: String,
    pub(super) balanced: bool,
    pub(super) features: Vec<String>,
    /// Public bounds of the features: the range that demands are drawn from; of a user's records those that are stated.
    pub(super) bounds: Option<Vec<(f64, f64)>>,
    pub(super) training: Examples,
    pub(super) test: Examples,
}

/// The datasets of a source.
pub(super) fn of(source: &Source, settings: &Settings, batch: &Batch<'_>) -> Result<Vec<Dataset>> {
    match source {
        Source::Network(network) => generated(network, settings, batch),
        Source::Records {
            name,
            features,
            bounds,
            training,
            test,
        } => {
            let dataset = Dataset {
                name: name.clone(),
                balanced: true,
                features: features.clone(),
                bounds: bounds.clone(),
                training: training.clone(),
                test: test.clone(),
            };
            check(&dataset)?;
            Ok(vec![dataset])
        }
    }
}

fn generated(network: &Network, settings: &Settings, batch: &Batch<'_>) -> Result<Vec<Dataset>> {
    let count = settings.records + settings.test_records;
    let rays = DemandRays::draw(network, count, settings.seed, batch)?;
    let most = settings.infeasible_shares.iter();
    let most = most.fold(0.0, |m: f64, s| m.max(*s));
    let buses = network.buses();
    let names = rays.opf().private_buses().iter();
    let features: Vec<String> = names
        .map(|&i| format!("load {}", buses[i].number))
        .collect();
    let shares = settings.infeasible_shares.iter();
    shares
        .map(|&share| {
            let drawn = rays.with_infeasible_share(share).map_err(|e| match e {
                Error::Input(why) => Error::Input(format!("{}: {why}", network.name())),
                other => other,
            })?;
            let part = |range: std::ops::Range<usize>| Examples {
                features: drawn.demands_mw[range.clone()].to_vec(),
                labels: drawn.feasible[range].to_vec(),
            };
            let dataset = Dataset {
                name: network.name().to_string(),
                balanced: share == most,
                features: features.clone(),
                bounds: Some(rays.bounds(drawn.width)),
                training: part(0..settings.records),
                test: part(settings.records..count),
            };
            check(&dataset)?;
            Ok(dataset)
        })
        .collect()
}

/// Both classes to learn from, and features that vary.
fn check(dataset: &Dataset) -> Result<()> {
    let name = &dataset.name;
    let bad = |text: String| Err(Error::Input(format!("{name}: {text}")));
    if dataset.training.majority() >= 1.0 {
        return bad("the training records are of one class only".into());
    }
    if let Some(bounds) = &dataset.bounds
        && bounds.len() != dataset.features.len()
    {
        return bad(format!(
            "{} bounds for {} features",
            bounds.len(),
            dataset.features.len()
        ));
    }
    let ranges = dataset.training.ranges();
    if let Some(j) = ranges.iter().position(|(low, high)| !(low < high)) {
        return bad(format!(
            "`{}` is {} in every training record: leave it out",
            dataset.features[j], ranges[j].0
        ));
    }
    Ok(())
}
