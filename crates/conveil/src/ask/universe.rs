//! Universes (M1): public sets of datasets around a public centre, with a sampler.

use super::Adjacency;
use crate::digits::counted;
use crate::error::{Error, Result};
use crate::noise::Sampler;
use crate::program::Parameters;
use serde::Serialize;
use std::fmt;

/// A public set of datasets. The centre is public; a universe around the private data is paper mode.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(into = "Description")]
pub struct Universe {
    centre: Vec<f64>,
    radius: Vec<f64>,
    /// Entries that share a disc; 1 for a box.
    dimension: usize,
    /// Entries of a box that lie at one of their two ends, such as labels; none of a product of discs does.
    two_valued: Vec<bool>,
}

/// A universe as documents hold it: every number, in the order of the private parameters.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Description {
    Box {
        center: Vec<f64>,
        half_width: Vec<f64>,
        /// Entries, by number, that take the two ends only.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        two_valued: Vec<usize>,
    },
    Discs {
        center: Vec<f64>,
        radius: Vec<f64>,
        dimension: usize,
    },
}

impl From<Universe> for Description {
    fn from(universe: Universe) -> Self {
        match universe.dimension {
            1 => Description::Box {
                two_valued: (0..universe.len())
                    .filter(|i| universe.two_valued[*i])
                    .collect(),
                center: universe.centre,
                half_width: universe.radius,
            },
            dimension => Description::Discs {
                center: universe.centre,
                radius: universe.radius,
                dimension,
            },
        }
    }
}

/// Parts of a universe that a sentence lists; a document holds all of them.
const LISTED: usize = 8;

/// All digits of a number that the user chose.
fn exact(value: f64) -> String {
    crate::digits::short(value, 17)
}

impl Universe {
    /// Every entry within its half-width of the centre, independently.
    pub fn around(centre: Vec<f64>, half_width: Vec<f64>) -> Result<Self> {
        Self::new(centre, half_width, 1)
    }

    /// Runs of `dimension` entries, each run within a Euclidean disc (ball) of its radius around the centre.
    pub fn discs(centre: Vec<f64>, radius: Vec<f64>, dimension: usize) -> Result<Self> {
        Self::new(centre, radius, dimension)
    }

    /// All datasets between the public bounds of these parameters; those with two values take one of them.
    pub fn between_bounds(parameters: &Parameters) -> Result<Self> {
        let mut ends = Vec::with_capacity(parameters.len());
        for parameter in parameters {
            ends.push(parameter.bounds().ok_or_else(|| {
                Error::input(format!("`{}` has no public bounds", parameter.name()))
            })?);
        }
        let half = |(low, high): &(f64, f64)| 0.5 * (high - low);
        let mut universe = Self::around(
            ends.iter().map(|e| e.0 + half(e)).collect(),
            ends.iter().map(half).collect(),
        )?;
        universe.two_valued = parameters.iter().map(|p| p.is_two_valued()).collect();
        Ok(universe)
    }

    fn new(centre: Vec<f64>, radius: Vec<f64>, dimension: usize) -> Result<Self> {
        if dimension == 0 || centre.is_empty() || !centre.len().is_multiple_of(dimension) {
            return Err(Error::input(format!(
                "a universe of {} entries cannot be split into discs of dimension {dimension}",
                centre.len()
            )));
        }
        if radius.len() != centre.len() / dimension {
            return Err(Error::input(format!(
                "the universe has {} parts, but {} sizes are given",
                centre.len() / dimension,
                radius.len()
            )));
        }
        if let Some(v) = centre.iter().find(|v| !v.is_finite()) {
            return Err(Error::input(format!(
                "the universe's centre holds {v}: it must be finite"
            )));
        }
        if let Some(v) = radius.iter().find(|v| !(v.is_finite() && **v >= 0.0)) {
            return Err(Error::input(format!(
                "the universe's sizes must be finite and not negative, found {v}"
            )));
        }
        Ok(Universe {
            two_valued: vec![false; centre.len()],
            centre,
            radius,
            dimension,
        })
    }

    /// Number of entries of a dataset.
    pub fn len(&self) -> usize {
        self.centre.len()
    }

    /// Whether it has no entries (never, by construction).
    pub fn is_empty(&self) -> bool {
        self.centre.is_empty()
    }

    /// The public centre.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// The same universe, larger or smaller around its centre; entries with two values keep them.
    pub fn scaled(&self, factor: f64) -> Self {
        let mut other = self.clone();
        for (part, radius) in other.radius.iter_mut().enumerate() {
            if !self.two_valued[part * self.dimension] {
                *radius *= factor;
            }
        }
        other
    }

    /// The same sizes around another centre: paper mode only. Entries with two values keep them.
    pub(crate) fn recentred(&self, centre: &[f64]) -> Result<Self> {
        let mut centre = centre.to_vec();
        if centre.len() == self.len() {
            let own = self.two_valued.iter().zip(&self.centre);
            let kept = centre.iter_mut().zip(own).filter(|(_, (two, _))| **two);
            kept.for_each(|(to, (_, own))| *to = *own);
        }
        let mut other = Self::new(centre, self.radius.clone(), self.dimension)?;
        other.two_valued = self.two_valued.clone();
        Ok(other)
    }

    /// Whether the dataset is a member, up to the rounding of numbers as large as the centre's.
    pub fn contains(&self, theta: &[f64]) -> bool {
        self.holds(theta, 2.0 * f64::EPSILON)
    }

    fn holds(&self, theta: &[f64], rounding: f64) -> bool {
        theta.len() == self.len()
            && (0..self.radius.len()).all(|part| {
                let range = part * self.dimension..(part + 1) * self.dimension;
                let offset: Vec<f64> = (range.clone()).map(|i| theta[i] - self.centre[i]).collect();
                let rounding = rounding * crate::program::norm(&self.centre[range.clone()]);
                let (size, radius) = (crate::program::norm(&offset), self.radius[part]);
                let is_far =
                    !self.two_valued[range.start] || size >= radius * (1.0 - 1e-12) - rounding;
                is_far && size <= radius * (1.0 + 1e-12) + rounding
            })
    }

    /// The end of a two-valued entry on this side of its centre.
    fn end(&self, i: usize, is_upper: bool) -> f64 {
        let radius = self.radius[i];
        self.centre[i] + if is_upper { radius } else { -radius }
    }

    /// The largest ‖θ − θ'‖₁ and ‖θ − θ'‖₂ between members.
    pub fn diameter(&self) -> (f64, f64) {
        let d = self.dimension as f64;
        let l1: f64 = self.radius.iter().map(|r| 2.0 * r * d.sqrt()).sum();
        let l2 = 2.0 * crate::program::norm(&self.radius);
        (l1, l2)
    }

    /// The size of the largest number that a member can hold.
    pub(crate) fn largest(&self) -> f64 {
        let ends = self.centre.iter().enumerate();
        ends.fold(0.0, |most, (i, centre)| {
            most.max(centre.abs() + self.radius[i / self.dimension])
        })
    }

    /// The same between members that differ in one record of `len` entries, over the worst record. Of a disc that the
    /// record cuts, only the entries inside the record count.
    pub fn record_diameter(&self, len: usize) -> (f64, f64) {
        let mut worst = (0.0f64, 0.0f64);
        let len = len.max(1);
        for start in (0..self.len()).step_by(len) {
            let end = (start + len).min(self.len());
            let parts = start / self.dimension..end.div_ceil(self.dimension);
            let l1 = parts.clone().map(|part| {
                let first = start.max(part * self.dimension);
                let last = end.min((part + 1) * self.dimension);
                2.0 * self.radius[part] * ((last - first) as f64).sqrt()
            });
            let l1: f64 = l1.sum();
            let l2 = 2.0 * crate::program::norm(&self.radius[parts]);
            worst = (worst.0.max(l1), worst.1.max(l2));
        }
        worst
    }

    /// A uniformly drawn member.
    pub fn sample(&self, sampler: &mut Sampler) -> Vec<f64> {
        let mut theta = self.centre.clone();
        for (part, radius) in self.radius.iter().enumerate() {
            let range = part * self.dimension..(part + 1) * self.dimension;
            if self.two_valued[range.start] {
                theta[range.start] = self.end(range.start, sampler.uniform() < 0.5);
                continue;
            }
            if self.dimension == 1 {
                theta[range.start] += radius * (2.0 * sampler.uniform() - 1.0);
                continue;
            }
            let direction: Vec<f64> = range.clone().map(|_| sampler.unit_normal()).collect();
            let size = crate::program::norm(&direction).max(f64::MIN_POSITIVE);
            let length = radius * sampler.uniform().powf(1.0 / self.dimension as f64);
            for (i, d) in range.zip(&direction) {
                theta[i] += length * d / size;
            }
        }
        theta
    }

    /// How far entry `i` may lie from its centre.
    pub(crate) fn reach(&self, i: usize) -> f64 {
        self.radius[i / self.dimension]
    }

    /// Entries that share a disc; 1 for a box.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Half-widths of a box, radii of discs.
    pub fn sizes(&self) -> &[f64] {
        &self.radius
    }

    /// Which entries lie at one of their two ends.
    pub fn two_valued(&self) -> &[bool] {
        &self.two_valued
    }

    /// The member nearest to a dataset, part by part.
    pub fn nearest(&self, mut theta: Vec<f64>) -> Vec<f64> {
        for (part, radius) in self.radius.iter().enumerate() {
            let range = part * self.dimension..(part + 1) * self.dimension;
            if self.two_valued[range.start] {
                let is_upper = theta[range.start] >= self.centre[range.start];
                theta[range.start] = self.end(range.start, is_upper);
                continue;
            }
            if self.dimension == 1 {
                let centre = self.centre[range.start];
                theta[range.start] = theta[range.start].clamp(centre - radius, centre + radius);
                continue;
            }
            // Half of each number: the difference of two finite ones may not be finite.
            let offset: Vec<f64> = (range.clone())
                .map(|i| 0.5 * theta[i] - 0.5 * self.centre[i])
                .collect();
            let largest = offset.iter().fold(0.0f64, |m, o| m.max(o.abs()));
            let unit: Vec<f64> = offset.iter().map(|o| o / largest).collect();
            let size = crate::program::norm(&unit);
            if largest > 0.0 && 2.0 * largest * size > *radius {
                for (i, o) in range.zip(&unit) {
                    theta[i] = self.centre[i] + o * (radius / size);
                }
            }
        }
        theta
    }

    /// Whether the nearest members of neighbours are neighbours, so that data outside may count as the nearest member
    /// (M1). Entry by entry they always are. A disc moves all its entries at once: that keeps Euclidean distances, and
    /// records that hold whole discs, but neither one entry nor ℓ₁. A value between the two ends of an entry goes to
    /// either, however close two such values are.
    pub(crate) fn keeps_neighbours(&self, adjacency: &Adjacency) -> bool {
        let has_two_valued = self.two_valued.contains(&true);
        match adjacency {
            Adjacency::Universe => true,
            Adjacency::OneRecord { len } => len.is_multiple_of(self.dimension),
            Adjacency::L2 { .. } => !has_two_valued,
            Adjacency::OneEntry { .. } | Adjacency::L1 { .. } => {
                self.dimension == 1 && !has_two_valued
            }
        }
    }

    /// Its members, by centre and width: what a privacy claim about it must say.
    pub fn members(&self) -> String {
        let d = self.dimension;
        let part = |part: usize| {
            let centre = &self.centre[part * d..(part + 1) * d];
            let radius = self.radius[part];
            match centre {
                [centre] if self.two_valued[part] => {
                    format!("{} or {}", exact(centre - radius), exact(centre + radius))
                }
                [centre] => format!("{} ± {}", exact(*centre), exact(radius)),
                _ => {
                    let centre: Vec<String> = centre.iter().map(|c| exact(*c)).collect();
                    format!("radius {} around ({})", exact(radius), centre.join(", "))
                }
            }
        };
        let parts = self.radius.len();
        let is_same = |i: usize| {
            self.centre[i * d..(i + 1) * d] == self.centre[..d]
                && self.radius[i] == self.radius[0]
                && self.two_valued[i * d] == self.two_valued[0]
        };
        let each = match parts {
            1 => part(0),
            _ if (1..parts).all(is_same) => format!("each {}", part(0)),
            _ => {
                let mut listed: Vec<String> = (0..parts.min(LISTED)).map(part).collect();
                if parts > LISTED {
                    listed.push(format!("… and {} more", parts - LISTED));
                }
                listed.join(", ")
            }
        };
        match d {
            1 if parts == 1 => format!("the interval {each}"),
            1 => format!("the box of {parts} entries: {each}"),
            _ => format!("{} of dimension {d}: {each}", counted(parts, "disc")),
        }
    }

    /// The member that lies farthest in this direction; parts without a direction stay at the centre, or at their upper
    /// end where they have two values.
    pub(crate) fn extreme(&self, direction: &[f64]) -> Vec<f64> {
        let mut theta = self.centre.clone();
        for (part, radius) in self.radius.iter().enumerate() {
            let range = part * self.dimension..(part + 1) * self.dimension;
            if self.two_valued[range.start] {
                theta[range.start] = self.end(range.start, direction[range.start] >= 0.0);
                continue;
            }
            let size = crate::program::norm(&direction[range.clone()]);
            if size > 0.0 && size.is_finite() {
                for i in range {
                    theta[i] += radius * (direction[i] / size);
                }
            }
        }
        theta
    }

    /// `to`, moved back along the segment from the member `from` until it is a member. An entry with two values goes all
    /// the way or not at all.
    pub(crate) fn pull_inside(&self, from: &[f64], mut to: Vec<f64>) -> Vec<f64> {
        let mut kept = from.to_vec();
        for i in (0..to.len()).filter(|i| self.two_valued[*i]) {
            if to[i] == self.end(i, true) || to[i] == self.end(i, false) {
                kept[i] = to[i];
            } else {
                to[i] = from[i];
            }
        }
        let from = &kept;
        if self.holds(&to, 0.0) {
            return to;
        }
        let (mut low, mut high) = (0.0, 1.0);
        let at =
            |t: f64| -> Vec<f64> { from.iter().zip(&to).map(|(a, b)| a + t * (b - a)).collect() };
        for _ in 0..50 {
            let mid = 0.5 * (low + high);
            if self.holds(&at(mid), 0.0) {
                low = mid;
            } else {
                high = mid;
            }
        }
        at(low)
    }
}

impl fmt::Display for Universe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (l1, l2) = self.diameter();
        let shown = |size: f64| match size < 1e-2 {
            true => crate::digits::short(size, 4),
            false => format!("{size:.4}"),
        };
        let kind = if self.dimension == 1 {
            "a box"
        } else {
            "a product of discs"
        };
        write!(
            f,
            "{kind} of {} entries around a public centre (diameter {} in ℓ₁, {} in ℓ₂)",
            self.len(),
            shown(l1),
            shown(l2)
        )?;
        match self.two_valued.iter().filter(|two| **two).count() {
            0 => Ok(()),
            count => write!(f, ", {count} of them at one of two values"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Parameter;

    #[test]
    fn the_ends_of_a_small_universe_around_large_numbers_are_members() {
        for dimension in [1, 2] {
            let centre = vec![1e6, 1e6 / 3.0, -7e5, 1e2];
            let universe = Universe::discs(centre, vec![0.01; 4 / dimension], dimension).unwrap();
            for direction in [[1.0, 1.0, 1.0, 1.0], [-1.0, 0.3, 0.7, 1.0]] {
                let end = universe.extreme(&direction);
                assert!(universe.contains(&end));
                assert_eq!(universe.nearest(end.clone()).len(), 4);
                let beyond: Vec<f64> = end.iter().zip(&direction).map(|(e, d)| e + d).collect();
                assert!(!universe.contains(&beyond));
                assert!(universe.contains(&universe.nearest(beyond)));
            }
        }
    }

    #[test]
    fn an_entry_with_two_values_takes_no_other_and_takes_both() {
        let features = Parameter::new("x").clipped(-1.0, 1.0);
        let label = Parameter::new("y").either(-1.0, 1.0);
        let parameters = vec![features.clone(), label.clone(), features, label];
        let universe = Universe::between_bounds(&parameters.into()).unwrap();
        let is_label = |y: f64| y == 1.0 || y == -1.0;
        let mut sampler = Sampler::new(5, 0);
        let mut flips = 0;
        let adjacency = crate::ask::Adjacency::OneRecord { len: 2 };
        for _ in 0..200 {
            let a = universe.sample(&mut sampler);
            let b = adjacency.neighbour(&a, &universe, &mut sampler);
            for theta in [&a, &b, &universe.scaled(0.5).sample(&mut sampler)] {
                assert!(is_label(theta[1]) && is_label(theta[3]), "{theta:?}");
                assert!(universe.contains(theta));
            }
            flips += usize::from(a[1] != b[1] || a[3] != b[3]);
            // A step that is no flip leaves the label, a flip is taken whole, and the rest is pulled back alone.
            let to = vec![3.0, 0.5 * a[1], a[2], -a[3]];
            let pulled = universe.pull_inside(&a, to);
            assert_eq!((pulled[1], pulled[3]), (a[1], -a[3]));
            assert!(universe.contains(&pulled));
        }
        // Half of the drawn labels are flips: below 60 or above 140 of 200 has a probability under 1e-7.
        assert!((60..=140).contains(&flips), "{flips}");
        assert!(!universe.contains(&[0.0, 0.5, 0.0, 1.0]));
        assert_eq!(
            universe.nearest(vec![2.0, 0.2, 0.0, -9.0]),
            [1.0, 1.0, 0.0, -1.0]
        );
        assert_eq!(
            universe.extreme(&[0.0, -1.0, 1.0, 0.0]),
            [0.0, -1.0, 1.0, 1.0]
        );
        let around = universe.recentred(&[0.5, 1.0, 0.0, -1.0]).unwrap();
        assert!(is_label(around.sample(&mut sampler)[1]));
    }

    #[test]
    fn the_nearest_members_of_neighbours_are_neighbours_where_it_says_so() {
        let adjacencies = [
            Adjacency::one_entry(0.7),
            Adjacency::L1 { alpha: 0.1 },
            Adjacency::L2 { alpha: 0.7 },
            Adjacency::OneRecord { len: 2 },
            Adjacency::OneRecord { len: 3 },
            Adjacency::Universe,
        ];
        // Datasets anywhere, members or not.
        let anywhere = Universe::around(vec![0.5; 6], vec![2.0; 6]).unwrap();
        let mut sampler = Sampler::new(3, 0);
        let mut broken = Vec::new();
        for dimension in [1, 2, 3] {
            let universe =
                Universe::discs(vec![0.5; 6], vec![1.0; 6 / dimension], dimension).unwrap();
            for adjacency in adjacencies {
                // In ℓ₁ a step along one entry is the one that a disc lengthens.
                let step = match adjacency {
                    Adjacency::L1 { alpha } => Adjacency::one_entry(alpha),
                    other => other,
                };
                let breaks = (0..2000).any(|_| {
                    let a = anywhere.sample(&mut sampler);
                    let b = step.neighbour(&a, &anywhere, &mut sampler);
                    assert!(adjacency.relates(&a, &b));
                    let (a, b) = (universe.nearest(a), universe.nearest(b));
                    assert!(universe.contains(&a) && universe.contains(&b));
                    !adjacency.relates(&a, &b)
                });
                assert!(!breaks || !universe.keeps_neighbours(&adjacency));
                broken.extend(breaks.then_some((dimension, adjacency)));
            }
        }
        // The refusals are not idle: each kind that may break does break.
        assert_eq!(broken.len(), 6, "{broken:?}");
    }

    #[test]
    fn a_universe_is_described_by_centre_and_width() {
        let said = |universe: Universe| universe.members();
        let around = |centre: &[f64], half: &[f64]| {
            said(Universe::around(centre.to_vec(), half.to_vec()).unwrap())
        };
        assert_eq!(around(&[10.0], &[1.0]), "the interval 10 ± 1");
        let (centre, half) = ([0.1 + 0.2, 2.0], [0.5, 1e-7]);
        assert_eq!(
            around(&centre, &half),
            "the box of 2 entries: 0.30000000000000004 ± 0.5, 2 ± 1e-7"
        );
        assert_eq!(
            around(&[3.0; 99], &[1.0; 99]),
            "the box of 99 entries: each 3 ± 1"
        );
        let many: Vec<f64> = (0..20).map(f64::from).collect();
        assert!(around(&many, &[1.0; 20]).ends_with("7 ± 1, … and 12 more"));
        let discs = Universe::discs(vec![0.0, 1.0, 2.0, 3.0], vec![1.0, 2.0], 2).unwrap();
        assert_eq!(
            said(discs.clone()),
            "2 discs of dimension 2: radius 1 around (0, 1), radius 2 around (2, 3)"
        );
        assert_eq!(
            serde_json::to_string(&discs).unwrap(),
            r#"{"kind":"discs","center":[0.0,1.0,2.0,3.0],"radius":[1.0,2.0],"dimension":2}"#
        );
    }
}
