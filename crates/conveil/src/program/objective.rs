//! The modeller's own objective, where it is not the one that a program minimises.

use std::fmt;

use serde::Serialize;

/// What the modeller wants of the objective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sense {
    /// The least, as every program does.
    #[default]
    Minimize,
    /// The most: the program minimises its negative.
    Maximize,
}

/// The modeller's own objective in terms of the cost f that the program minimises: constant + f, or constant − f where it
/// is maximised. A public fact about the model: it changes a number that was released, and neither the program nor the
/// noise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Objective {
    /// Which of the two.
    pub sense: Sense,
    /// The constant, finite.
    pub constant: f64,
}

impl Objective {
    /// Whether it is the cost itself, so that there is nothing to say of it.
    pub fn is_the_cost(&self) -> bool {
        self.sense == Sense::Minimize && self.constant == 0.0
    }

    /// The modeller's number for a cost.
    pub fn at(&self, cost: f64) -> f64 {
        self.constant + self.signed(cost)
    }

    /// The same without the constant: for numbers that have it already.
    pub fn signed(&self, cost: f64) -> f64 {
        match self.sense {
            Sense::Minimize => cost,
            Sense::Maximize => -cost,
        }
    }

    /// What must be added to the cost so that it is the modeller's number, up to the sign.
    pub fn constant_of_cost(&self) -> f64 {
        self.signed(self.constant)
    }
}

/// In terms of the cost: `12.5 − cost`.
impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.sense, self.constant == 0.0) {
            (Sense::Minimize, true) => write!(f, "cost"),
            (Sense::Minimize, false) => write!(f, "{} + cost", self.constant),
            (Sense::Maximize, true) => write!(f, "−cost"),
            (Sense::Maximize, false) => write!(f, "{} − cost", self.constant),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maximised_objective_is_the_constant_less_the_cost() {
        let (sense, constant) = (Sense::Maximize, 12.5);
        let profit = Objective { sense, constant };
        assert_eq!(profit.at(2.0), 10.5);
        assert_eq!(profit.signed(2.0 + profit.constant_of_cost()), 10.5);
        assert_eq!(profit.to_string(), "12.5 − cost");
        let cost = Objective {
            constant,
            ..Objective::default()
        };
        assert_eq!(cost.at(2.0), 14.5);
        assert_eq!(cost.signed(2.0 + cost.constant_of_cost()), 14.5);
        assert_eq!(Objective::default().at(-2.0), -2.0);
    }
}
