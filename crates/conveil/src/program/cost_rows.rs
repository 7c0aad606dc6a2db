//! Parameters that enter the linear cost with the coefficients of a row each: the responses of a regression, q = −Φ'y.
//!
//! A million rows of seven coefficients follow from a million records; none of them is held.

use super::{Location, Parameter, Place};
use crate::error::{Error, Result};
use std::fmt;
use std::sync::Arc;

/// The coefficients in q, a row for each parameter.
pub trait CostRows: Send + Sync + fmt::Debug {
    /// How many rows there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many entries of q, from the first, a row has coefficients of.
    fn width(&self) -> usize;

    /// Writes one row.
    fn row(&self, index: usize, coefficients: &mut [f64]);
}

/// See [`super::Parameters::of_costs`].
#[derive(Clone, Debug)]
pub(super) struct Costs {
    name: Arc<str>,
    /// At the places of the first row.
    model: Parameter,
    rows: Arc<dyn CostRows>,
}

impl Costs {
    pub(super) fn new(name: &str, model: Parameter, rows: Arc<dyn CostRows>) -> Result<Self> {
        let mut coefficients = vec![0.0; rows.width()];
        for index in 0..rows.len() {
            rows.row(index, &mut coefficients);
            let is_odd = coefficients.iter().any(|c| !c.is_finite());
            if is_odd || coefficients.iter().all(|c| *c == 0.0) {
                return Err(Error::input(format!(
                    "the costs of parameter `{name} {}` must be finite numbers, and not all 0",
                    index + 1
                )));
            }
        }
        if rows.is_empty() {
            return Err(Error::input("there are no rows of costs"));
        }
        let mut costs = Costs {
            name: name.into(),
            model,
            rows,
        };
        costs.model = costs.made(0);
        Ok(costs)
    }

    pub(super) fn rows(&self) -> &dyn CostRows {
        &*self.rows
    }

    pub(super) fn model(&self) -> &Parameter {
        &self.model
    }

    pub(super) fn name(&self, index: usize) -> String {
        format!("{} {}", self.name, index + 1)
    }

    /// Where a parameter enters.
    pub(super) fn places(&self, index: usize) -> Vec<Location> {
        let mut coefficients = vec![0.0; self.rows.width()];
        self.rows.row(index, &mut coefficients);
        let entries = coefficients.iter().enumerate().filter(|(_, c)| **c != 0.0);
        entries
            .map(|(j, c)| Location::new(Place::Q(j), *c))
            .collect()
    }

    pub(super) fn made(&self, index: usize) -> Parameter {
        self.model
            .numbered(&self.name, index)
            .at_all(self.places(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{Adjacency, Ask, Privacy, Query, Request};
    use crate::plan::Plan;
    use crate::program::{AffineMap, DataMap, NewVariables, Parameters, Program, Sparse, Stage};

    const COUNT: usize = 13;

    /// The second coefficient of every third row is 0.
    #[derive(Debug)]
    struct Powers;

    impl CostRows for Powers {
        fn len(&self) -> usize {
            COUNT
        }

        fn width(&self) -> usize {
            2
        }

        fn row(&self, index: usize, coefficients: &mut [f64]) {
            let x = 0.3 * index as f64 - 1.7;
            coefficients[0] = -1.0 - 1e-9 * x;
            coefficients[1] = if index % 3 == 2 { 0.0 } else { -x };
        }
    }

    fn program() -> Program {
        let entries = [(0, 0, 7.0), (0, 1, 1.0), (1, 1, 5.0)];
        let weights = NewVariables {
            name: "w".into(),
            len: 2,
            stage: Stage::Decision,
            entries: Vec::new(),
        };
        Program::new(
            Sparse::from_triplets(2, 2, &entries).unwrap(),
            vec![0.25, -3.0],
            Sparse::zeros(0, 2),
            Vec::new(),
            vec![weights],
            Vec::new(),
        )
        .unwrap()
    }

    /// The same, row by row in a list.
    fn listed() -> Vec<Parameter> {
        let of = |index: usize| {
            let mut row = [0.0; 2];
            Powers.row(index, &mut row);
            let entries = row.iter().enumerate().filter(|(_, c)| **c != 0.0);
            let places = entries.map(|(j, c)| Location::new(Place::Q(j), *c));
            Parameter::new(format!("power {}", index + 1))
                .at_all(places.collect())
                .clipped(-2.0, 3.0)
        };
        (0..COUNT).map(of).collect()
    }

    fn maps() -> [AffineMap; 2] {
        let model = Parameter::new("power").clipped(-2.0, 3.0);
        let made = Parameters::of_costs("power", model, Arc::new(Powers)).unwrap();
        [made, listed().into()].map(|parameters| AffineMap::new(program(), parameters).unwrap())
    }

    #[test]
    fn costs_made_on_demand_are_those_of_a_list() {
        let [made, list] = maps();
        let (one, other) = (made.parameters(), list.parameters());
        assert!(one.iter().eq(other.iter()) && one.places().eq(other.places()));
        assert_eq!((one.len(), one.get(COUNT)), (COUNT, None));
        assert_eq!(one.longest_name(), other.longest_name());
        let names = |parameters: &Parameters| {
            let mut names = Vec::new();
            parameters.each_name(|name| names.push(String::from(name)));
            names
        };
        assert_eq!(names(one), names(other));
        assert_eq!(made.private_costs(), list.private_costs());
        assert_eq!(made.private_parts(), list.private_parts());
        assert_eq!(made.private_rows(), list.private_rows());
        // To the last digit, with numbers of very different sizes, and clipped.
        let theta: Vec<f64> = (0..COUNT)
            .map(|i| (i as f64 - 6.0) * 10f64.powi(i as i32 % 5 - 4))
            .collect();
        for theta in [theta, vec![1e17; COUNT]] {
            let [one, other] = [&made, &list].map(|map| map.unclipped(&theta).unwrap());
            assert_eq!(one.q(), other.q());
            let [one, other] = [&made, &list].map(|map| map.at(&theta).unwrap());
            assert_eq!(one.q(), other.q());
        }
    }

    #[test]
    fn costs_made_on_demand_move_the_answer_as_those_of_a_list_do() {
        let sensitivity = |map: &AffineMap, adjacency: &Adjacency, privacy: Privacy| {
            let ask = Ask::new(Query::Variables(vec!["w".into()]))
                .adjacency(*adjacency)
                .privacy(privacy)
                .sensitivity(Request::strong_convexity())
                .feasible(0.99);
            Plan::new(map, ask).unwrap().guarantee().sensitivity()
        };
        let [made, list] = maps();
        for adjacency in [
            Adjacency::one_entry(0.5),
            Adjacency::L1 { alpha: 0.5 },
            Adjacency::L2 { alpha: 0.5 },
            Adjacency::OneRecord { len: 1 },
            Adjacency::Universe,
        ] {
            for privacy in [Privacy::laplace(1.0), Privacy::gaussian(1.0, 0.01)] {
                let found = sensitivity(&made, &adjacency, privacy);
                assert_eq!(
                    found,
                    sensitivity(&list, &adjacency, privacy),
                    "{adjacency:?}"
                );
            }
        }
    }

    #[test]
    fn rows_that_are_no_costs_are_refused() {
        #[derive(Debug)]
        struct Row(f64);
        impl CostRows for Row {
            fn len(&self) -> usize {
                1
            }
            fn width(&self) -> usize {
                1
            }
            fn row(&self, _index: usize, coefficients: &mut [f64]) {
                coefficients[0] = self.0;
            }
        }
        let of = |c: f64| Parameters::of_costs("y", Parameter::new("y"), Arc::new(Row(c)));
        assert!(of(-2.0).is_ok());
        for odd in [0.0, f64::NAN, f64::INFINITY] {
            let refused = of(odd).unwrap_err().to_string();
            assert!(refused.contains("`y 1`"), "{refused}");
        }
    }
}
