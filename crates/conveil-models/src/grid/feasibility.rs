//! Demands around nominal that a network can meet, or cannot: labelled datasets for classifiers.
//!
//! Every load is its nominal value times a factor, uniform between 1 − t/2 and 1 + t. The demands that a network can meet
//! form a convex set with the nominal ones in it, so a record stays feasible up to one width t and never again beyond.
//! One linear program for each record finds that width, and with it the labels at every width.

use super::Opf;
use conveil::noise::Sampler;
use conveil::program::{
    AffineMap, Cone, DataMap, Holds, Location, NewConstraint, NewVariables, Parameter, Place,
    Program, Sparse, Stage,
};
use conveil::solve::{self, Batch, Settings};
use conveil::{Error, Result};

/// Factors spread so much upwards for each unit downwards: falling loads alone would rarely be infeasible.
const DOWN: f64 = 0.5;

/// No width beyond this: loads would change their sign.
const WIDEST: f64 = 2.0;

/// Records come from streams of their own.
const STREAM: u64 = 11 << 40;

/// Directions away from the nominal demands, and how far each can be followed.
#[derive(Clone, Debug)]
pub struct DemandRays {
    nominal: Vec<f64>,
    /// Between −½ and 1 for each load of each record.
    directions: Vec<Vec<f64>>,
    /// The largest feasible width of each record, at most [`WIDEST`].
    widths: Vec<f64>,
}

/// Demand vectors in MW, each feasible or not.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledDemands {
    /// The factors of the loads lie within [1 − width/2, 1 + width].
    pub width: f64,
    /// The private loads of each record.
    pub demands_mw: Vec<Vec<f64>>,
    /// Whether the network can meet them.
    pub feasible: Vec<bool>,
}

impl DemandRays {
    /// Draws so many directions and solves a program for each.
    pub fn draw(opf: &Opf, records: usize, seed: u64, batch: &Batch<'_>) -> Result<Self> {
        let nominal = opf.nominal();
        let map = stretched(opf)?;
        let settings = Settings::default().with_cancel(batch.cancel_flag().clone());
        let direction = |i: usize| -> Vec<f64> {
            let mut sampler = Sampler::new(seed, STREAM + i as u64);
            let spread = 1.0 + DOWN;
            nominal
                .iter()
                .map(|_| spread * sampler.uniform() - DOWN)
                .collect()
        };
        let widths = batch.run(records, |i| -> Result<f64> {
            let program = map.at(&direction(i))?;
            let found = solve::solve_checked(&program, &settings)?;
            Ok(-found.objective)
        })?;
        Ok(DemandRays {
            directions: (0..records).map(direction).collect(),
            widths: widths.into_iter().collect::<Result<_>>()?,
            nominal,
        })
    }

    /// The records at the width that makes this share of them infeasible.
    pub fn with_infeasible_share(&self, share: f64) -> Result<LabelledDemands> {
        let mut sorted = self.widths.clone();
        sorted.sort_by(f64::total_cmp);
        let count = (share * sorted.len() as f64).round() as usize;
        let ends = match (count.checked_sub(1), sorted.get(count)) {
            (Some(last), Some(next)) => (sorted[last], *next),
            _ => {
                return Err(Error::Input(format!(
                    "a share of {share} of {} records leaves one class empty",
                    sorted.len()
                )));
            }
        };
        if ends.1 >= WIDEST * (1.0 - 1e-6) {
            return Err(Error::Input(format!(
                "no width of the demands below {WIDEST} makes a share of {share} infeasible"
            )));
        }
        Ok(self.at(0.5 * (ends.0 + ends.1)))
    }

    /// The records at this width.
    pub fn at(&self, width: f64) -> LabelledDemands {
        let record = |u: &Vec<f64>| {
            let each = self.nominal.iter().zip(u);
            each.map(|(d, u)| d * (1.0 + width * u)).collect()
        };
        LabelledDemands {
            width,
            demands_mw: self.directions.iter().map(record).collect(),
            feasible: self.widths.iter().map(|most| width <= *most).collect(),
        }
    }

    /// The public bounds of the loads at a width, in order.
    pub fn bounds(&self, width: f64) -> Vec<(f64, f64)> {
        let ends = |d: &f64| {
            let (a, b) = (d * (1.0 - DOWN * width), d * (1.0 + width));
            (a.min(b), a.max(b))
        };
        self.nominal.iter().map(ends).collect()
    }
}

/// max t with demands nominal·(1 + t·u): the program of the network with one more column, which is affine in u.
fn stretched(opf: &Opf) -> Result<AffineMap> {
    let nominal = opf.nominal();
    let program = opf.at(&nominal)?;
    let (rows, t) = (program.rows(), program.columns());
    let mut triplets: Vec<_> = program.a().entries().collect();
    // A row for t ≤ WIDEST keeps the program bounded.
    triplets.push((rows, t, 1.0));
    let mut parameters = Vec::new();
    let mut columns = std::collections::BTreeSet::new();
    for (parameter, d) in opf.parameters().iter().zip(&nominal) {
        let mut places = Vec::new();
        for location in parameter.locations() {
            let Place::B(i) = location.place else {
                return Err(Error::Input(
                    "demands stand in right-hand sides alone".into(),
                ));
            };
            columns.insert(i);
            // b + t·coef·d·u − a'x ∈ K
            places.push(Location::new(Place::A(i, t), -location.coef * d));
        }
        parameters.push(Parameter::new(parameter.name()).at_all(places));
    }
    triplets.extend(columns.into_iter().map(|i| (i, t, 0.0)));
    let mut b = program.b().to_vec();
    b.push(WIDEST);
    let mut q = vec![0.0; t + 1];
    q[t] = -1.0;
    let variable = |name: &str, len: usize| NewVariables {
        name: name.into(),
        len,
        stage: Stage::Recourse,
        decision: false,
    };
    let block = |name: String, cone: Cone| NewConstraint {
        name,
        cone,
        holds: Holds::WithNoise,
        rows: Vec::new(),
    };
    let own = program.constraints().iter();
    let mut blocks: Vec<NewConstraint> = own
        .map(|c| block(c.name().into(), c.cone().clone()))
        .collect();
    blocks.push(block("widest".into(), Cone::Nonnegative(1)));
    let stretched = Program::new(
        Sparse::zeros(t + 1, t + 1),
        q,
        Sparse::from_triplets(rows + 1, t + 1, &triplets)?,
        b,
        vec![variable("dispatch", t), variable("width", 1)],
        blocks,
    )?;
    AffineMap::new(stretched, parameters)
}
