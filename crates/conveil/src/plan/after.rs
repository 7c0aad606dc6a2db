//! What is made of a noisy answer before it is published: a function of it and of public numbers alone.

use super::{Projection, Shift, Solving};
use crate::error::{Error, Result};
use crate::solve::Cancel;

/// What follows the noise.
///
/// # Guarantee
/// It looks at the noisy numbers and at public ones only, so what it makes is as private as they are.
#[derive(Clone, Debug)]
pub(super) enum After<'m> {
    /// Onto the constraints, or the program with the noisy linear cost.
    Projection(Box<Projection>),
    /// A public room is added.
    Shift(Shift),
    /// The program at the noisy data.
    Solving(Solving<'m>),
}

impl After<'_> {
    /// The same, whose solves this flag stops.
    pub(super) fn watching(self, cancel: &Cancel) -> Self {
        match self {
            After::Projection(projection) => {
                After::Projection(Box::new(projection.watching(cancel)))
            }
            After::Shift(shift) => After::Shift(shift),
            After::Solving(solving) => After::Solving(solving.watching(cancel)),
        }
    }

    /// What is published of noisy numbers.
    pub(super) fn published(&self, noisy: &[f64]) -> Result<Published> {
        match self {
            After::Projection(projection) => projection.apply(noisy).map(Published::Answer),
            After::Shift(shift) => {
                let moved = noisy.iter().map(|value| value + shift.amount);
                Ok(Published::Answer(moved.collect()))
            }
            After::Solving(solving) => match solving.apply(noisy) {
                Ok(answer) => Ok(Published::Answer(answer)),
                Err(Error::Cancelled) => Err(Error::Cancelled),
                // Noisy data may have none; that they have none is a function of them, and may be told.
                Err(why) => Ok(Published::NoAnswer(why.to_string())),
            },
        }
    }

    /// The decision that noisy numbers stand for, where one is solved for.
    pub(super) fn decision_of(&self, noisy: &[f64]) -> Option<Result<Vec<f64>>> {
        match self {
            After::Projection(projection) => Some(projection.decision_of(noisy)),
            After::Solving(solving) => Some(solving.decision_of(noisy)),
            After::Shift(_) => None,
        }
    }

    /// The room that is added, where one is.
    pub(super) fn shift(&self) -> Option<&Shift> {
        match self {
            After::Shift(shift) => Some(shift),
            After::Projection(_) | After::Solving(_) => None,
        }
    }
}

/// What is published of noisy numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Published {
    /// The released numbers.
    Answer(Vec<f64>),
    /// The program has no answer at the noisy data; why, in words. A function of the noisy data, and as public as they are.
    NoAnswer(String),
}
