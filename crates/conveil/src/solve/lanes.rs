//! Long vectors by formulas for their entries, in lanes that threads share. A lane is always as long, so that no result depends
//! on how many threads there are; short vectors stay on the thread that asks.

use rayon::prelude::*;

/// Entries of a lane.
pub(super) const LANE: usize = 8192;

/// The entries of each lane of a vector so long.
fn lanes(len: usize) -> Vec<std::ops::Range<usize>> {
    let starts = (0..len).step_by(LANE);
    starts.map(|start| start..(start + LANE).min(len)).collect()
}

/// What a function makes of each lane, in order.
pub(super) fn of_each<T: Send>(
    len: usize,
    make: impl Fn(std::ops::Range<usize>) -> T + Send + Sync,
) -> Vec<T> {
    match len <= LANE {
        true => lanes(len).into_iter().map(make).collect(),
        false => lanes(len).into_par_iter().map(make).collect(),
    }
}

/// Changes each lane of a vector, told where it starts.
pub(super) fn change(values: &mut [f64], work: impl Fn(usize, &mut [f64]) + Sync) {
    match values.len() <= LANE {
        true => work(0, values),
        false => (values.par_chunks_mut(LANE).enumerate())
            .for_each(|(lane, part)| work(lane * LANE, part)),
    }
}

/// A vector, entry by entry.
pub(super) fn filled(len: usize, entry: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
    let mut values = vec![0.0; len];
    change(&mut values, |start, part| {
        for (i, value) in part.iter_mut().enumerate() {
            *value = entry(start + i);
        }
    });
    values
}

/// Two vectors, entry by entry.
pub(super) fn filled_twice(
    len: usize,
    entry: impl Fn(usize) -> (f64, f64) + Sync,
) -> (Vec<f64>, Vec<f64>) {
    let (mut first, mut second) = (vec![0.0; len], vec![0.0; len]);
    let work = |lane: usize, (one, two): (&mut [f64], &mut [f64])| {
        for (i, (one, two)) in one.iter_mut().zip(two).enumerate() {
            (*one, *two) = entry(lane * LANE + i);
        }
    };
    match len <= LANE {
        true => work(0, (&mut first, &mut second)),
        false => (first.par_chunks_mut(LANE).zip(second.par_chunks_mut(LANE)))
            .enumerate()
            .for_each(|(lane, parts)| work(lane, parts)),
    }
    (first, second)
}

/// The sum of the entries.
pub(super) fn summed(len: usize, entry: impl Fn(usize) -> f64 + Send + Sync) -> f64 {
    let sums = of_each(len, |lane| lane.map(&entry).sum::<f64>());
    sums.into_iter().sum()
}

/// The least of the entries, and of `most`.
pub(super) fn least(len: usize, most: f64, entry: impl Fn(usize) -> f64 + Send + Sync) -> f64 {
    let each = of_each(len, |lane| lane.map(&entry).fold(most, f64::min));
    each.into_iter().fold(most, f64::min)
}
