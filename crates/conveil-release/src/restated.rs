//! A released cost in the terms of the modeller's own objective.

use conveil::program::Objective;
use serde::Serialize;

use crate::card::Named;

/// The one released number, said as the modeller's objective: constant ± cost.
///
/// # Guarantee
/// The stated number is a public function of the released one alone, so that it is as private; its slope is ±1 and every
/// law of the noise is symmetric, so that the noise around it has the scale, the step and the bound of the card. Test:
/// `a_restated_number_is_a_function_of_the_released_one`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Restated {
    /// What the number is called.
    #[serde(skip)]
    name: String,
    #[serde(flatten)]
    objective: Objective,
}

impl Restated {
    /// The released cost under this name.
    pub fn new(name: &str, objective: Objective) -> Self {
        Restated {
            name: name.into(),
            objective,
        }
    }

    /// What the number is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is in terms of the cost.
    pub fn objective(&self) -> &Objective {
        &self.objective
    }

    pub(crate) fn all(&self, numbers: &mut [Named]) {
        for number in numbers {
            number.value = self.objective.at(number.value);
            number.name = self.name.clone();
        }
    }
}
