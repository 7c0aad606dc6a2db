//! Where each private number enters the program, in words: the row that it bounds, its coefficient and sign, and what the
//! row reads at the nominal values. Public: it is made of the spec, the public numbers of the problem and the nominal ones.
//!
//! A wrong sign or a wrong row changes nothing that a guarantee is about, so nobody else would notice it.

use conveil::program::{Cone, DataMap, Parameters, Place, Program};
use conveil_models::exact;
use serde::Serialize;
use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// One place that a private number enters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Enters {
    /// The entry of the program: `b[42]`, `q[3]`, `A[1, 2]`, `P[0, 1]`.
    pub place: String,
    /// The row by its name, where it is in one.
    pub row: Option<String>,
    /// What stands before the private number there.
    pub coefficient: f64,
    /// What it means: the row as an inequality or equality, or the price of a variable.
    pub reads: String,
    /// The same with every term of a long row, at the first place in that row.
    #[serde(skip)]
    pub whole: Option<String>,
    /// Whether `reads` has the nominal values in it; else the names of the private numbers.
    pub at_nominal: bool,
}

/// Terms of a row that are written out.
const TERMS: usize = 6;

/// Where every parameter enters, in order.
pub(crate) fn of(map: &dyn DataMap) -> Vec<Vec<Enters>> {
    let parameters = map.parameters();
    let nominal: Option<Vec<f64>> = parameters.iter().map(|p| p.nominal_value()).collect();
    let at_nominal = nominal.and_then(|theta| map.at(&theta).ok());
    let names = match at_nominal {
        Some(_) => HashMap::new(),
        None => names(parameters),
    };
    let words = Words {
        program: at_nominal.as_ref().unwrap_or(map.template()),
        rows: map.template().a().by_rows(),
        names,
        at_nominal: at_nominal.is_some(),
        said: RefCell::default(),
    };
    let each = parameters.iter().map(|parameter| {
        let locations = parameter.locations().iter();
        locations
            .map(|location| words.enters(location.place, location.coef))
            .collect()
    });
    each.collect()
}

/// coef·name of all parameters that enter a place.
fn names(parameters: &Parameters) -> HashMap<Place, Vec<(f64, String)>> {
    let mut names: HashMap<Place, Vec<(f64, String)>> = HashMap::new();
    for parameter in parameters {
        for location in parameter.locations() {
            let entry = names.entry(location.place).or_default();
            entry.push((location.coef, parameter.name().into()));
        }
    }
    names
}

struct Words<'p> {
    /// At the nominal values, where there are any.
    program: &'p Program,
    rows: conveil::program::Rows,
    /// The private numbers by place, where they stand for themselves.
    names: HashMap<Place, Vec<(f64, String)>>,
    at_nominal: bool,
    /// Rows that were said before: many private numbers may stand in one.
    said: RefCell<HashMap<usize, String>>,
}

impl Words<'_> {
    fn enters(&self, place: Place, coefficient: f64) -> Enters {
        let row = match place {
            Place::B(i) | Place::A(i, _) => Some(i),
            Place::Q(_) | Place::P(..) => None,
        };
        let (reads, whole) = match place {
            Place::Q(j) => (self.price(j), None),
            Place::P(i, j) => (self.curvature(i, j), None),
            Place::B(i) | Place::A(i, _) => match self.said.borrow_mut().entry(i) {
                Entry::Occupied(said) => (said.get().clone(), None),
                Entry::Vacant(new) => {
                    let is_long = self.rows.row(i).len() > TERMS;
                    let whole = is_long.then(|| self.row(i, usize::MAX));
                    (new.insert(self.row(i, TERMS)).clone(), whole)
                }
            },
        };
        Enters {
            place: place.to_string(),
            row: row.map(|i| self.program.row_name(i)),
            coefficient,
            reads,
            whole,
            at_nominal: self.at_nominal,
        }
    }

    /// What a number in P multiplies: half of it on the diagonal, all of it off it.
    fn curvature(&self, i: usize, j: usize) -> String {
        let place = Place::P(i, j);
        let mut number = self.number(place, self.program.p().get(i, j), 1.0);
        if self.names.contains_key(&place) {
            number = format!("({number})");
        }
        let (x, y) = (self.program.variable_name(i), self.program.variable_name(j));
        match i == j {
            true => format!("objective: ½ · {number} · {x}²"),
            false => format!("objective: {number} · {x} · {y}"),
        }
    }

    fn price(&self, j: usize) -> String {
        let name = self.program.variable_name(j);
        let number = self.number(Place::Q(j), self.program.q()[j], 1.0);
        format!("a unit of {name} costs {number}")
    }

    /// Σ a·x ≤ b with so many terms written out, turned around where every coefficient is negative.
    fn row(&self, i: usize, written: usize) -> String {
        let blocks = self.program.constraints();
        let place = blocks.partition_point(|block| block.range().end <= i);
        let cone = blocks.get(place).map(|block| block.cone());
        let terms = self.rows.row(i);
        let value = |j: usize| self.program.a().get(i, j);
        let is_private = |j: usize| self.names.contains_key(&Place::A(i, j));
        let turned = !terms.is_empty()
            && terms
                .iter()
                .all(|&(j, _)| !is_private(j) && value(j) <= 0.0)
            && matches!(cone, Some(Cone::Nonnegative(_) | Cone::Zero(_)));
        let sign = if turned { -1.0 } else { 1.0 };
        let mut sum = String::new();
        for (k, &(j, _)) in terms.iter().take(written).enumerate() {
            let name = self.program.variable_name(j);
            let own = self.names.get(&Place::A(i, j));
            let (negative, number) = match own {
                Some(_) => (
                    false,
                    format!("({})", self.number(Place::A(i, j), value(j), sign)),
                ),
                None => (sign * value(j) < 0.0, exact((sign * value(j)).abs())),
            };
            sum += match (k, negative) {
                (0, false) => "",
                (0, true) => "−",
                (_, false) => " + ",
                (_, true) => " − ",
            };
            if number != "1" {
                sum += &format!("{number}·");
            }
            sum += &name;
        }
        if let more @ 1.. = terms.len().saturating_sub(written) {
            sum += &format!(" + {more} more terms");
        }
        if terms.is_empty() {
            sum += "0";
        }
        let relation = match cone {
            Some(Cone::Zero(_)) => "=",
            Some(Cone::Nonnegative(_)) if turned => "≥",
            Some(Cone::Nonnegative(_)) => "≤",
            _ => {
                let bound = self.number(Place::B(i), self.program.b()[i], 1.0);
                return format!("{bound} − ({sum}) is a row of its cone");
            }
        };
        let bound = self.number(Place::B(i), self.program.b()[i], sign);
        format!("{sum} {relation} {bound}")
    }

    /// The public part of a number, and the private numbers in it by name.
    fn number(&self, place: Place, public: f64, sign: f64) -> String {
        let public = sign * public;
        let mut text = match self.names.get(&place) {
            // No rounding shows, and no −0.
            None => return shown(public),
            Some(_) if public == 0.0 => String::new(),
            Some(_) => shown(public),
        };
        for (coef, name) in self.names.get(&place).into_iter().flatten() {
            let coef = sign * coef;
            text += match (text.is_empty(), coef < 0.0) {
                (true, false) => "",
                (true, true) => "−",
                (false, false) => " + ",
                (false, true) => " − ",
            };
            if coef.abs() != 1.0 {
                text += &format!("{}·", exact(coef.abs()));
            }
            text += &format!("`{name}`");
        }
        text
    }
}

fn shown(value: f64) -> String {
    match value == 0.0 {
        true => "0".into(),
        false => exact(value).replace('-', "−"),
    }
}
