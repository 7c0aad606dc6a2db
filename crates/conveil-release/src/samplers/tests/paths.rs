//! All the ways that a draw can go, one after the other, in the place of chance.

use super::between::Between;
use super::law;
use crate::error::{Error, Result};
use crate::randomness::Bits;
use crate::samplers::{Sample, exponential_coin};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use std::collections::BTreeMap;

/// A path of less is not followed further.
const LEAST: f64 = 1e-7;

/// What is one decision on a path, because another test shows that what it is made of has its law: integers below n and
/// coins of a/n always are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shown {
    /// Nothing else.
    Bits,
    /// Coins of e^{−a/b} too, and integers of the discrete Laplace law.
    Exponentials,
}

/// One path through a draw after the other: every integer and every coin in turn.
pub(super) struct Paths {
    /// The decisions of this path: the way that is taken, and the probability of each.
    decisions: Vec<(usize, Vec<Between>)>,
    next: usize,
    /// Of the decisions so far.
    probability: Between,
    shown: Shown,
    /// The probabilities that were met.
    exponentials: BTreeMap<(UBig, UBig), Between>,
    laplaces: BTreeMap<RBig, Vec<Between>>,
}

impl Paths {
    /// Which way the path goes here: the first, where it has not been before.
    fn way(&mut self, ways: impl FnOnce() -> Vec<Between>) -> Result<usize> {
        if self.next == self.decisions.len() {
            self.decisions.push((0, ways()));
        }
        let (way, ways) = &self.decisions[self.next];
        self.probability = self.probability.times(&ways[*way]);
        self.next += 1;
        match self.probability.high() < LEAST {
            true => Err(Error::Noise("hardly ever taken".into())),
            false => Ok(*way),
        }
    }

    /// True with this probability, which is neither 0 nor 1.
    fn is_true(&mut self, probability: Between) -> Result<bool> {
        Ok(self.way(|| vec![probability.rest(), probability])? == 1)
    }

    /// The next path, if there is one: the last decision that can go another way does.
    fn turn(&mut self) -> bool {
        (self.next, self.probability) = (0, Between::one());
        while let Some((way, ways)) = self.decisions.last_mut() {
            *way += 1;
            if *way < ways.len() {
                return true;
            }
            self.decisions.pop();
        }
        false
    }
}

impl Bits for Paths {
    fn next(&mut self, _: usize) -> Result<u64> {
        unreachable!("samplers draw integers and coins")
    }

    fn below(&mut self, n: &UBig) -> Result<UBig> {
        let ways = || vec![Between::of(UBig::ONE, n); usize::try_from(n).unwrap()];
        Ok(UBig::from(self.way(ways)?))
    }

    fn coin(&mut self, a: &UBig, n: &UBig) -> Result<bool> {
        match a.is_zero() || a == n {
            true => Ok(a == n),
            false => self.is_true(Between::of(a.clone(), n)),
        }
    }
}

impl Sample for Paths {
    fn exponential_coin(&mut self, a: &UBig, b: &UBig) -> Result<bool> {
        if self.shown == Shown::Bits {
            return exponential_coin(a, b, self);
        }
        if a.is_zero() {
            return Ok(true);
        }
        let known = self.exponentials.entry((a.clone(), b.clone()));
        let probability = known.or_insert_with(|| Between::exponential(a, b)).clone();
        self.is_true(probability)
    }

    fn discrete_laplace(&mut self, scale: &RBig) -> Result<IBig> {
        let known = self.laplaces.entry(scale.clone());
        let ways = known.or_insert_with(|| laplace_ways(scale)).clone();
        let beyond = ways.len() - 1;
        let way = self.way(|| ways)?;
        if way == beyond {
            return Err(Error::Noise("hardly ever drawn".into()));
        }
        let way = way as i64;
        Ok(IBig::from((way + 1) / 2 * (1 - way % 2 * 2)))
    }
}

/// 0, −1, 1, −2, 2, … and all of those that are hardly ever drawn, of the discrete Laplace law.
fn laplace_ways(scale: &RBig) -> Vec<Between> {
    let t = u64::try_from(scale.numerator()).unwrap();
    let s = u64::try_from(scale.denominator()).unwrap();
    let half = law(|j| j * s, t);
    let often = half.iter().filter(|p| p.high() > LEAST);
    let both: Vec<&Between> = often.flat_map(|p| [p, p]).skip(1).collect();
    let rest = both.iter().fold(Between::ZERO, |sum, p| sum.plus(p)).rest();
    both.into_iter().cloned().chain([rest]).collect()
}

/// The probability of each outcome along the paths that were followed, and that of all others.
pub(super) struct Found<T> {
    outcomes: BTreeMap<T, Between>,
    pub(super) unfinished: Between,
}

impl<T: Ord> Found<T> {
    /// By all paths of a draw.
    pub(super) fn by(shown: Shown, draw: impl Fn(&mut Paths) -> Result<T>) -> Found<T> {
        let mut found = Found {
            outcomes: BTreeMap::new(),
            unfinished: Between::ZERO,
        };
        let mut paths = Paths {
            decisions: Vec::new(),
            next: 0,
            probability: Between::one(),
            shown,
            exponentials: BTreeMap::new(),
            laplaces: BTreeMap::new(),
        };
        loop {
            let sum = match draw(&mut paths) {
                Ok(outcome) => found.outcomes.entry(outcome).or_insert(Between::ZERO),
                Err(_) => &mut found.unfinished,
            };
            *sum = sum.plus(&paths.probability);
            if !paths.turn() {
                break;
            }
        }
        let each = found.outcomes.values();
        let all = each.fold(found.unfinished.clone(), |sum, p| sum.plus(p));
        assert!(all.overlaps(&Between::one()), "each path once: {all:?}");
        found
    }

    pub(super) fn outcomes(&self) -> impl Iterator<Item = &T> {
        self.outcomes.keys()
    }

    /// From what was found to the same and all that was not followed.
    pub(super) fn probability(&self, outcome: &T) -> Between {
        let found = self.outcomes.get(outcome).cloned();
        let found = found.unwrap_or(Between::ZERO);
        found.or(&found.plus(&self.unfinished))
    }

    /// The same, given that it is not the other outcome.
    pub(super) fn probability_without(&self, outcome: &T, other: &T) -> Between {
        self.probability(outcome)
            .over(&self.probability(other).rest())
    }
}
