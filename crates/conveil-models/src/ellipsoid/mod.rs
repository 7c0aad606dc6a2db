//! The largest ellipsoid inside a polytope {x : aᵢ'x ≤ bᵢ} with public normals a and private offsets b (M12).
//!
//! The ellipsoid is {z + Yu : ‖u‖ ≤ 1}, Y symmetric and positive semidefinite: `centre` is z, `shape` holds the upper
//! triangle of Y by columns, Y₀₀, Y₀₁, Y₁₁, Y₀₂, … Facets, coordinates and entries count from 0.
//!
//! ```
//! use conveil::ask::{Adjacency, Ask, MapKind, Privacy, Request, Sampled, SampleSize, Universe};
//! use conveil::plan::Plan;
//! use conveil_models::ellipsoid::Ellipsoid;
//!
//! // The square |x|, |y| ≤ 1, its four offsets private.
//! let square = vec![vec![1.0, 0.0], vec![-1.0, 0.0], vec![0.0, 1.0], vec![0.0, -1.0]];
//! let model = Ellipsoid::inside(square).build()?;
//! let plan = Plan::new(
//!     &model,
//!     Ask::new(model.query())
//!         .adjacency(Adjacency::Universe)
//!         .privacy(Privacy::gaussian(1.0, 0.1))
//!         .sensitivity(Request::Sampled(Sampled {
//!             universe: Universe::around(vec![1.0; 4], vec![0.01; 4])?,
//!             gamma: 0.1,
//!             beta: 0.1,
//!             seed: 1,
//!             size: SampleSize::Exact,
//!             on: MapKind::Released,
//!         }))
//!         .feasible(0.9),
//! )?; // no private offset yet
//! let curated = plan.curate(&[1.0; 4])?;
//! let mean = model.inscribed(&curated.decided().answer)?;
//! assert!(mean.volume() < std::f64::consts::PI);
//! # Ok::<(), conveil::Error>(())
//! ```

mod assembly;
mod builtin;
mod inscribed;
mod normals;
mod picture;
mod public;
mod room;
mod starter;
mod stated;
mod vertex;

pub use builtin::{Polytope, builtin};
pub use inscribed::Inscribed;
pub use normals::Normals;
pub use room::radius;
pub use stated::{EllipsoidSpec, NormalsSource, OffsetsSource};

use crate::model::Kind;
use crate::spec::private::UNIVERSE;
use room::Room;

use conveil::ask::Query;
use conveil::program::{AffineMap, DataMap, Parameter, Parameters, Place, Program};
use conveil::{Error, Result};
use std::ops::Range;

/// `model = "ellipsoid"`.
pub(crate) static KIND: Kind = Kind {
    word: "ellipsoid",
    problem: &["normals", "file", "determinant"],
    private: &["offsets", UNIVERSE],
    query: &[],
    releases: &["identity", "sum", "weighted", "rows"],
    releases_help: "`identity` releases the whole ellipsoid; its size alone is the value of the objective, which carries no noise",
    per_alpha: &[],
    facts: &[],
    eta: "eta = 0.01",
    read: |table| Ok(Box::new(EllipsoidSpec::read(table)?)),
    starter: &starter::STARTER,
};

/// Memory of a plan for each entry of A, about.
const BYTES_PER_ENTRY: f64 = 250.0;

/// When the determinant, which is the objective, holds (M12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Determinant {
    /// At the mean: the largest mean ellipsoid, an upper bound on the expected det^{1/n} (Jensen).
    #[default]
    AtTheMean,
    /// In the chance constraint, as in the paper: the largest t with t ≤ det(Y(ζ))^{1/n} for the noise that counts.
    WithNoise,
}

/// How det^{1/n} is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// [Y K; K' diag K] ⪰ 0 with K lower triangular, and the geometric mean of its diagonal by a tower of second-order
    /// cones: any dimension. All its cones are symmetric, which the solver repays with accuracy: the default.
    Tower,
    /// The same K, and a generalised power cone for the geometric mean, as in the paper: any dimension. The solver
    /// stalls on some larger programs.
    PowerCone,
    /// ‖(2y₀₁, 2t, y₀₀ − y₁₁)‖ ≤ y₀₀ + y₁₁: two dimensions only. With noise it is exact, where a K that is affine in
    /// the noise gives something away: the default there.
    SecondOrder,
}

/// An ellipsoid model to be.
#[derive(Clone, Debug)]
pub struct EllipsoidBuilder {
    normals: Vec<Vec<f64>>,
    determinant: Determinant,
    form: Option<Form>,
    bounds: Option<Vec<(f64, f64)>>,
    nominal: Option<Vec<f64>>,
}

impl EllipsoidBuilder {
    /// When the determinant holds.
    pub fn determinant(mut self, determinant: Determinant) -> Self {
        self.determinant = determinant;
        self
    }

    /// How det^{1/n} is written.
    pub fn form(mut self, form: Form) -> Self {
        self.form = Some(form);
        self
    }

    /// Public bounds on the offsets, one pair for each facet, to which they are clipped.
    pub fn bounds(mut self, bounds: Vec<(f64, f64)>) -> Self {
        self.bounds = Some(bounds);
        self
    }

    /// Public offsets that the private ones are expected to be near.
    pub fn nominal(mut self, offsets: Vec<f64>) -> Self {
        self.nominal = Some(offsets);
        self
    }

    /// The model, or what is wrong with the normals or the options. No private number is looked at.
    pub fn build(self) -> Result<Ellipsoid> {
        let normals = Normals::new(self.normals)?;
        let form = self.form.unwrap_or(match self.determinant {
            Determinant::WithNoise if normals.dimension() == 2 => Form::SecondOrder,
            _ => Form::Tower,
        });
        if form == Form::SecondOrder && normals.dimension() != 2 {
            return Err(Error::Input(format!(
                "the second-order form of the determinant is for 2 dimensions, and the normals have {}: take the tower or the power cone",
                normals.dimension()
            )));
        }
        let (facets, n) = (normals.facets(), normals.dimension());
        // ‖Yaᵢ‖ ≤ bᵢ − aᵢ'z has n rows of n entries for each facet, the determinant a cone of order 2n; what a plan makes of
        // an entry is a few copies of it.
        let entries = facets as f64 * (n * n) as f64 + 2.0 * (n * n) as f64;
        conveil::memory::refuse_beyond_memory(
            &format!("an ellipsoid of {n} dimensions in a polytope of {facets} facets"),
            entries * BYTES_PER_ENTRY,
            "fewer dimensions",
        )?;
        let fits = |what: &str, len: usize| match len == facets {
            true => Ok(()),
            false => Err(Error::Input(format!(
                "{len} {what} for {facets} facets: give one for each"
            ))),
        };
        if let Some(bounds) = &self.bounds {
            fits("pairs of bounds", bounds.len())?;
        }
        if let Some(nominal) = &self.nominal {
            fits("nominal offsets", nominal.len())?;
        }
        let parameter = |i: usize| {
            let mut parameter = Parameter::new(offset_name(i));
            if let Some(bounds) = &self.bounds {
                parameter = parameter.clipped(bounds[i].0, bounds[i].1);
            }
            if let Some(nominal) = &self.nominal {
                parameter = parameter.nominal(nominal[i]);
            }
            parameter
        };
        let parameters = (0..facets).map(parameter).collect();
        let map = assembly::map(&normals, parameters, self.determinant, form)?;
        let is_exact = self.determinant == Determinant::AtTheMean
            || form == Form::SecondOrder
            || normals.dimension() == 1;
        Ok(Ellipsoid {
            normals,
            map,
            is_exact,
        })
    }
}

/// What facet `i`'s offset is called.
fn offset_name(i: usize) -> String {
    format!("offset {i}")
}

/// What facet `i`'s constraint is called.
fn facet_name(i: usize) -> String {
    format!("facet {i}")
}

/// The largest ellipsoid inside a polytope with private offsets.
#[derive(Clone, Debug)]
pub struct Ellipsoid {
    normals: Normals,
    map: AffineMap,
    /// t is det^{1/n} itself wherever the determinant holds.
    is_exact: bool,
}

impl Ellipsoid {
    /// A model for these normals, a row for each facet: determinant at the mean, no bounds.
    pub fn inside(normals: Vec<Vec<f64>>) -> EllipsoidBuilder {
        EllipsoidBuilder {
            normals,
            determinant: Determinant::default(),
            form: None,
            bounds: None,
            nominal: None,
        }
    }

    /// n.
    pub fn dimension(&self) -> usize {
        self.normals.dimension()
    }

    /// The public normals.
    pub fn normals(&self) -> &Normals {
        &self.normals
    }

    /// The affine map itself.
    pub fn map(&self) -> &AffineMap {
        &self.map
    }

    /// The whole ellipsoid: z, and the upper triangle of Y by columns, under names with two indices.
    pub fn query(&self) -> Query {
        let n = self.dimension();
        let centre = (0..n).map(|j| format!("centre[{j}]")).map(|name| {
            let row = vec![(name.clone(), 1.0)];
            (name, row)
        });
        let pairs = (0..n).flat_map(|j| (0..=j).map(move |i| (i, j)));
        let shape = pairs.enumerate().map(|(at, (i, j))| {
            let row = vec![(format!("shape[{at}]"), 1.0)];
            (format!("shape[{i},{j}]"), row)
        });
        Query::Named(centre.chain(shape).collect())
    }

    /// The offsets in a program of this model, in the units of the normals.
    pub fn offsets(&self, program: &Program) -> Vec<f64> {
        let places = self.map.parameters().places().map(|(_, at)| at);
        let offsets = places.filter_map(|location| match location.place {
            Place::B(row) => program.b().get(row).map(|b| b / location.coef),
            _ => None,
        });
        offsets.collect()
    }

    /// Numbers in the answer to [`Ellipsoid::query`]: k = n + n(n+1)/2.
    pub fn answer_len(&self) -> usize {
        let n = self.dimension();
        n + n * (n + 1) / 2
    }

    /// The ellipsoid that an answer to [`Ellipsoid::query`], or the start of a decision, describes.
    pub fn inscribed(&self, answer: &[f64]) -> Result<Inscribed> {
        if answer.len() < self.answer_len() {
            return Err(Error::Input(format!(
                "an ellipsoid in {} dimensions has {} numbers, found {}",
                self.dimension(),
                self.answer_len(),
                answer.len()
            )));
        }
        Ok(Inscribed::new(self.dimension(), answer))
    }
}

impl DataMap for Ellipsoid {
    fn parameters(&self) -> &Parameters {
        self.map.parameters()
    }

    fn template(&self) -> &Program {
        self.map.template()
    }

    /// The program at private offsets, if their polytope has an interior. What is wrong with it is the curator's to
    /// know: it depends on the data. So do the coordinates that it is solved in, but not the solution.
    fn at(&self, theta: &[f64]) -> Result<Program> {
        let offsets = self.clipped(theta)?;
        let room = Room::of(&self.normals, &offsets)?;
        let near = room.without_far_facets(&self.normals, &offsets);
        // Clipped already, and a far facet may have moved out of its bounds.
        let program = self.map.unclipped(&near)?;
        let frame = room.frame(program.columns())?;
        program.in_frame(frame)
    }

    fn affine(&self) -> Option<&AffineMap> {
        Some(&self.map)
    }

    /// z and Y. Y because det^{1/n} is strictly quasiconcave; z because, of two centres a distance d apart with the same
    /// Y, the one between leaves slack on every facet with a'd ≠ 0, and Y + εdd' is larger and the same on all others.
    /// A tightening by fixed noise on Y and z is a bound on (Y + ΔY)a and a'z, so the argument stands. With the
    /// determinant under noise it needs det itself at every vertex, not the bound that an affine K gives.
    fn unique_columns(&self) -> Range<usize> {
        match self.is_exact {
            true => 0..self.answer_len(),
            false => 0..0,
        }
    }
}
