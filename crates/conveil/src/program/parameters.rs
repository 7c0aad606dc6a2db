//! The private parameters of a map, in order: listed one by one, or those of records that are alike, made when asked for.
//!
//! A million records of ten numbers have ten million names and places. All of them follow from those of the first record.

use super::cost_rows::{CostRows, Costs};
use super::{Location, Parameter, Place};
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::sync::Arc;

/// The private parameters of a map. Cloning it copies nothing.
#[derive(Clone, Debug)]
pub struct Parameters(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Listed(Arc<[Parameter]>),
    Records(Arc<Records>),
    Costs(Costs),
}

/// Records that are alike: the numbers of the first one stand for those of all.
#[derive(Debug)]
struct Records {
    count: usize,
    /// How many rows further the next record's numbers stand.
    step: usize,
    /// The parameters of the first record, each at one entry of A.
    first: Vec<InRecord>,
    /// Field by the column of its entry, as far as there are some.
    of_column: Vec<Option<usize>>,
}

/// A parameter of the first record.
#[derive(Debug)]
struct InRecord {
    name: Arc<str>,
    row: usize,
    column: usize,
    coef: f64,
    model: Parameter,
}

impl From<Vec<Parameter>> for Parameters {
    fn from(listed: Vec<Parameter>) -> Self {
        Parameters(Kind::Listed(listed.into()))
    }
}

impl Parameters {
    /// Those of so many records that are alike: the first one's, each at one entry of A in a column of its own, and `step` rows
    /// further for each later one. Parameter `name` of the record r is called `record r name`, r from 1.
    pub fn of_records(count: usize, step: usize, first: Vec<Parameter>) -> Result<Self> {
        if count == 0 || step == 0 || first.is_empty() {
            return Err(Error::input(
                "records need a number of their own, rows of their own, and parameters",
            ));
        }
        let mut of_column: Vec<Option<usize>> = Vec::new();
        let mut fields = Vec::with_capacity(first.len());
        for model in first {
            let &[
                Location {
                    place: Place::A(row, column),
                    coef,
                },
            ] = model.locations()
            else {
                return Err(Error::input(format!(
                    "parameter `{}` of a record enters one entry of A",
                    model.name()
                )));
            };
            if of_column.len() <= column {
                of_column.resize(column + 1, None);
            }
            if row >= step || of_column[column].replace(fields.len()).is_some() {
                return Err(Error::input(format!(
                    "parameter `{}` of a record needs a column of its own in the {step} rows of the first record",
                    model.name()
                )));
            }
            fields.push(InRecord {
                name: model.name().as_ref().into(),
                row,
                column,
                coef,
                model,
            });
        }
        Ok(Parameters(Kind::Records(Arc::new(Records {
            count,
            step,
            first: fields,
            of_column,
        }))))
    }

    /// One for each row of costs, as `model` is but for its places: the first is called `name 1`. Each enters q with the
    /// coefficients of its row.
    pub fn of_costs(name: &str, model: Parameter, rows: Arc<dyn CostRows>) -> Result<Self> {
        Ok(Parameters(Kind::Costs(Costs::new(name, model, rows)?)))
    }

    /// The rows of costs, where these are what the parameters enter.
    pub(crate) fn costs(&self) -> Option<&dyn CostRows> {
        match &self.0 {
            Kind::Costs(costs) => Some(costs.rows()),
            _ => None,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Kind::Costs(costs) => costs.rows().len(),
            Kind::Listed(listed) => listed.len(),
            Kind::Records(records) => records.count * records.first.len(),
        }
    }

    /// Whether nothing is private.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them; none behind the last.
    pub fn get(&self, index: usize) -> Option<Cow<'_, Parameter>> {
        match &self.0 {
            Kind::Listed(listed) => listed.get(index).map(Cow::Borrowed),
            Kind::Records(records) => (index < self.len()).then(|| records.made(index)),
            Kind::Costs(costs) => (index < self.len()).then(|| Cow::Owned(costs.made(index))),
        }
    }

    /// The public bounds of one of them.
    pub(crate) fn bounds(&self, index: usize) -> Option<(f64, f64)> {
        match &self.0 {
            Kind::Listed(listed) => listed.get(index)?.bounds(),
            Kind::Records(records) => records.first[index % records.first.len()].model.bounds(),
            Kind::Costs(costs) => costs.model().bounds(),
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> Iter<'_> {
        Iter {
            of: self,
            next: 0,
            end: self.len(),
        }
    }

    /// Shows their names, in order, as they are wanted: of records each is written over the one before it.
    pub fn each_name(&self, mut show: impl FnMut(&str)) {
        match &self.0 {
            Kind::Listed(listed) => listed.iter().for_each(|p| show(&p.name())),
            Kind::Costs(costs) => (0..self.len()).for_each(|index| show(&costs.name(index))),
            Kind::Records(records) => {
                let mut name = String::new();
                for record in 1..=records.count {
                    name.clear();
                    name.push_str(&format!("record {record} "));
                    let start = name.len();
                    for field in &records.first {
                        name.truncate(start);
                        name.push_str(&field.name);
                        show(&name);
                    }
                }
            }
        }
    }

    /// Where they enter: the index of the parameter, and the place.
    pub fn places(&self) -> impl Iterator<Item = (usize, Location)> + '_ {
        (0..self.len()).flat_map(move |i| {
            let (listed, one, made) = match &self.0 {
                Kind::Listed(listed) => (listed[i].locations(), None, Vec::new()),
                Kind::Records(records) => (&[][..], Some(records.place(i)), Vec::new()),
                Kind::Costs(costs) => (&[][..], None, costs.places(i)),
            };
            let listed = listed.iter().copied().chain(one).chain(made);
            listed.map(move |at| (i, at))
        })
    }

    /// Those that stand for all of them where something about names, bounds or nominal values is asked: of records the first
    /// one's, which all others are like.
    pub fn kinds(&self) -> impl Iterator<Item = &Parameter> {
        let (listed, records) = match &self.0 {
            Kind::Listed(listed) => (&listed[..], None),
            Kind::Costs(costs) => (std::slice::from_ref(costs.model()), None),
            Kind::Records(records) => (&[][..], Some(records)),
        };
        let firsts = records.into_iter().flat_map(|records| &records.first);
        listed.iter().chain(firsts.map(|field| &field.model))
    }

    /// Characters of the longest name.
    pub fn longest_name(&self) -> usize {
        let longest = match &self.0 {
            Kind::Listed(listed) => listed.iter().map(|p| p.name().chars().count()).max(),
            Kind::Costs(costs) => Some(costs.name(self.len() - 1).chars().count()),
            // The last record has the longest number.
            Kind::Records(records) => {
                let last = self.len() - records.first.len()..self.len();
                last.map(|i| records.made(i).name().chars().count()).max()
            }
        };
        longest.unwrap_or(0)
    }

    /// The same list, where it is one.
    pub(super) fn listed(&self) -> Option<&[Parameter]> {
        match &self.0 {
            Kind::Listed(listed) => Some(listed),
            Kind::Records(_) | Kind::Costs(_) => None,
        }
    }

    /// Of records that are alike: how many there are, and by how many rows they are apart.
    pub(crate) fn records(&self) -> Option<(usize, usize)> {
        match &self.0 {
            Kind::Listed(_) | Kind::Costs(_) => None,
            Kind::Records(records) => Some((records.count, records.step)),
        }
    }

    /// The parameter of records that are alike that enters A there, and its coefficient, if one does.
    pub(crate) fn in_records(&self, row: usize, column: usize) -> Option<(usize, f64)> {
        let Kind::Records(records) = &self.0 else {
            return None;
        };
        let field = (*records.of_column.get(column)?)?;
        let (record, within) = (row / records.step, row % records.step);
        let is_there = record < records.count && within == records.first[field].row;
        let index = record * records.first.len() + field;
        is_there.then(|| (index, records.first[field].coef))
    }
}

impl Records {
    fn place(&self, index: usize) -> Location {
        let (record, field) = (index / self.first.len(), index % self.first.len());
        let field = &self.first[field];
        Location::new(
            Place::A(field.row + self.step * record, field.column),
            field.coef,
        )
    }

    fn made(&self, index: usize) -> Cow<'_, Parameter> {
        let field = &self.first[index % self.first.len()];
        let record = index / self.first.len();
        let place = self.place(index);
        Cow::Owned(field.model.of_record(record, &field.name, place))
    }
}

/// See [`Parameters::iter`].
#[derive(Clone, Debug)]
pub struct Iter<'p> {
    of: &'p Parameters,
    next: usize,
    end: usize,
}

impl<'p> Iterator for Iter<'p> {
    type Item = Cow<'p, Parameter>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.end {
            return None;
        }
        self.next += 1;
        self.of.get(self.next - 1)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end - self.next;
        (left, Some(left))
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        self.next = self.next.saturating_add(n).min(self.end);
        self.next()
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'p> IntoIterator for &'p Parameters {
    type Item = Cow<'p, Parameter>;
    type IntoIter = Iter<'p>;

    fn into_iter(self) -> Iter<'p> {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{AffineMap, Cone, DataMap, Holds, NewConstraint, NewVariables, Program};
    use crate::program::{Sparse, Stage};

    const RECORDS: usize = 5;

    /// Rows 3r + 1 hold two numbers of record r, beside a public row and a row of slacks.
    fn program(entries: impl Fn(usize) -> bool) -> Program {
        let mut triplets = Vec::new();
        for row in 0..3 * RECORDS {
            triplets.push((row, 2, 1.0));
            if row % 3 == 1 && entries(row) {
                triplets.extend([(row, 0, 0.5), (row, 1, 0.0)]);
            }
        }
        let a = Sparse::from_triplets(3 * RECORDS, 3, &triplets).unwrap();
        let variables = NewVariables {
            name: "x".into(),
            len: 3,
            stage: Stage::Decision,
            entries: Vec::new(),
        };
        let rows = NewConstraint {
            name: "rows".into(),
            cone: Cone::Nonnegative(3 * RECORDS),
            holds: Holds::WithNoise,
            rows: Vec::new(),
        };
        let b = vec![1.0; 3 * RECORDS];
        Program::new(
            Sparse::zeros(3, 3),
            vec![1.0; 3],
            a,
            b,
            vec![variables],
            vec![rows],
        )
        .unwrap()
    }

    fn first() -> Vec<Parameter> {
        let at = |column, coef| vec![Location::new(Place::A(1, column), coef)];
        vec![
            Parameter::new("size")
                .at_all(at(1, -2.0))
                .clipped(-1.0, 3.0),
            Parameter::new("label")
                .at_all(at(0, 0.25))
                .either(-1.0, 1.0),
        ]
    }

    /// The same, each by itself.
    fn listed() -> Vec<Parameter> {
        let of = |r: usize| {
            first().into_iter().map(move |p| {
                let place = p.locations()[0];
                let (row, column) = place.place.in_a().unwrap();
                let moved = Location::new(Place::A(row + 3 * r, column), place.coef);
                let named = Parameter::new(format!("record {} {}", r + 1, p.name()));
                let bounds = p.bounds().unwrap();
                match p.is_two_valued() {
                    true => named.at_all(vec![moved]).either(bounds.0, bounds.1),
                    false => named.at_all(vec![moved]).clipped(bounds.0, bounds.1),
                }
            })
        };
        (0..RECORDS).flat_map(of).collect()
    }

    #[test]
    fn records_made_on_demand_are_those_of_a_list() {
        let records = Parameters::of_records(RECORDS, 3, first()).unwrap();
        let list = Parameters::from(listed());
        assert_eq!(records.len(), list.len());
        assert!(records.iter().eq(list.iter()));
        assert!(records.places().eq(list.places()));
        assert_eq!(records.iter().nth(7), list.get(7));
        assert_eq!(records.get(2 * RECORDS), None);
        assert_eq!(records.longest_name(), list.longest_name());
        let [one, other] = [&records, &list].map(|parameters| {
            let mut names = Vec::new();
            parameters.each_name(|name| names.push(String::from(name)));
            names
        });
        assert_eq!(one, other);
        let names: Vec<String> = list.iter().map(|p| p.name().into_owned()).collect();
        assert_eq!(one, names);
        let maps = [
            AffineMap::new(program(|_| true), records).unwrap(),
            AffineMap::new(program(|_| true), list).unwrap(),
        ];
        let theta: Vec<f64> = (0..2 * RECORDS).map(|i| 0.7 * i as f64 - 2.0).collect();
        let [one, other] = maps.each_ref().map(|map| map.at(&theta).unwrap());
        assert_eq!(one.a(), other.a());
        assert_eq!(one.a().get(4, 1), -2.0 * (0.7 * 2.0 - 2.0));
        let [one, other] = maps.each_ref().map(|map| map.clipped(&theta).unwrap());
        assert_eq!(one, other);
        assert_eq!(maps[0].private_rows(), maps[1].private_rows());
        let [one, other] = maps.each_ref().map(|map| map.private_coefficients());
        assert_eq!(one.len(), other.len());
        for (i, j) in (0..3 * RECORDS + 3).flat_map(|i| (0..4).map(move |j| (i, j))) {
            assert_eq!(one.contains(i, j), other.contains(i, j), "({i}, {j})");
        }
        let odd = |map: &AffineMap| {
            let mut theta = theta.clone();
            theta[3] = f64::NAN;
            map.at(&theta).unwrap_err().to_string()
        };
        assert_eq!(odd(&maps[0]), odd(&maps[1]));
        assert!(odd(&maps[0]).contains("`record 2 label`"));
    }

    #[test]
    fn records_that_are_not_alike_are_refused() {
        let records = |first| Parameters::of_records(RECORDS, 3, first);
        let map = |entries: fn(usize) -> bool| {
            AffineMap::new(program(entries), records(first()).unwrap()).map(|_| ())
        };
        assert!(map(|_| true).is_ok());
        // An entry is missing: of the last record, of one between others.
        assert!(map(|row| row < 12).is_err() && map(|row| row != 4).is_err());
        let twice = vec![first()[0].clone(), first()[0].clone()];
        assert!(records(twice).is_err());
        let beside = first()[0].moved_to(vec![Location::new(Place::A(3, 1), 1.0)]);
        assert!(records(vec![beside]).is_err());
        let cost = first()[0].moved_to(vec![Location::new(Place::Q(1), 1.0)]);
        assert!(records(vec![cost]).is_err());
        assert!(Parameters::of_records(0, 3, first()).is_err());
    }
}
