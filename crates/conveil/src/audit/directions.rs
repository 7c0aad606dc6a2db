//! Directions in which many entries of a dataset move together: classes, records, coordinates of points, halves.
//! A random pair moves its entries every way at once, and what they do to the answer cancels; an adversary's does not.

use crate::ask::{Adjacency, Universe};
use crate::program::{DataMap, Parameter, Place};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A grouping with at most this many groups is tried with every pattern of signs.
const ALL_SIGNS: usize = 5;

/// A grouping with more groups than this says nothing that single entries do not say.
const MOST_GROUPS: usize = 64;

/// Directions with entries in {−1, 0, 1}, each up to its sign, most structured first.
pub(super) fn structured(
    map: &dyn DataMap,
    universe: &Universe,
    adjacency: Adjacency,
) -> Vec<Vec<f64>> {
    let mut found: Vec<Vec<f64>> = Vec::new();
    let mut add = |direction: Vec<f64>| {
        let opposite: Vec<f64> = direction.iter().map(|v| -v).collect();
        let moves = direction.iter().any(|v| *v != 0.0);
        if moves && !found.contains(&direction) && !found.contains(&opposite) {
            found.push(direction);
        }
    };
    for groups in groupings(map, universe, adjacency) {
        let count = 1 + groups.iter().max().copied().unwrap_or(0);
        if count > MOST_GROUPS {
            continue;
        }
        let signed = |sign: &dyn Fn(usize) -> f64| groups.iter().map(|g| sign(*g)).collect();
        if count <= ALL_SIGNS {
            for pattern in 0..1usize << (count - 1) {
                add(signed(&|g| if pattern >> g & 1 == 1 { -1.0 } else { 1.0 }));
            }
        }
        for chosen in 0..count {
            add(signed(&|g| if g == chosen { 1.0 } else { -1.0 }));
            add(signed(&|g| if g == chosen { 1.0 } else { 0.0 }));
        }
    }
    found
}

/// Ways to divide the entries, as the number of each entry's group.
fn groupings(map: &dyn DataMap, universe: &Universe, adjacency: Adjacency) -> Vec<Vec<usize>> {
    let entries = map.len();
    let parameters = map.parameters();
    let by = |key: &dyn Fn(usize) -> Vec<i64>| -> Vec<usize> {
        let mut numbers: BTreeMap<Vec<i64>, usize> = BTreeMap::new();
        (0..entries)
            .map(|i| {
                let next = numbers.len();
                *numbers.entry(key(i)).or_insert(next)
            })
            .collect()
    };
    let record = match adjacency {
        Adjacency::OneRecord { len } => len.max(1),
        _ => 1,
    };
    let disc = universe.dimension();
    let mut block = vec![-1; map.template().rows()];
    for (number, constraint) in map.template().constraints().iter().enumerate() {
        block[constraint.range()].fill(number as i64);
    }
    let mut all = vec![
        by(&|_| vec![]),
        // Classes enter with coefficients of different signs.
        by(&|i| pattern(parameters.get(i), &|_| 0)),
        // The same variable's coefficients, and the same constraints' limits, move together.
        by(&|i| {
            pattern(parameters.get(i), &|place| match place {
                Place::A(_, column) | Place::Q(column) => column as i64,
                Place::P(_, column) => column as i64,
                Place::B(row) => block[row],
            })
        }),
        by(&|i| {
            pattern(parameters.get(i), &|place| match place {
                Place::A(row, _) | Place::B(row) => block[row],
                Place::Q(_) | Place::P(..) => -1,
            })
        }),
        by(&|i| vec![i64::from(2 * i >= entries)]),
        by(&|i| vec![(i % 2) as i64]),
    ];
    for length in [disc, record] {
        if length > 1 {
            all.push(by(&|i| vec![(i % length) as i64]));
            all.push(by(&|i| vec![(i / length) as i64]));
        }
    }
    all.dedup();
    all
}

/// Where a parameter enters: the kind of place, its key, the sign of the coefficient.
fn pattern(parameter: Option<Cow<'_, Parameter>>, key: &dyn Fn(Place) -> i64) -> Vec<i64> {
    let mut places: Vec<[i64; 3]> = parameter
        .iter()
        .flat_map(|parameter| parameter.locations())
        .map(|location| {
            let kind = match location.place {
                Place::A(..) => 0,
                Place::B(_) => 1,
                Place::Q(_) => 2,
                Place::P(..) => 3,
            };
            [kind, key(location.place), location.coef.signum() as i64]
        })
        .collect();
    places.sort_unstable();
    places.dedup();
    places.concat()
}
