//! Demands around nominal that a network can meet, or cannot: labelled datasets for classifiers.
//!
//! Every load grows by a share of its size, uniform between −t/4 and t; of an injection, which is a negative load, less
//! is left then. The demands that a network can meet
//! form a convex set with the nominal ones in it, so a record stays feasible up to one width t and never again beyond.
//! One linear program for each record finds that width, and with it the labels at every width.

use super::{Form, Opf};
use conveil::noise::Sampler;
use conveil::program::{
    AffineMap, Cone, DataMap, Holds, Location, NewConstraint, NewVariables, Parameter, Place,
    Program, Sparse, Stage,
};
use conveil::solve::{self, Batch, Settings};
use conveil::{Error, Result};
use conveil_grid::Network;

/// Factors spread so far downwards for each unit upwards: a network that has room to spare is short of it in half of
/// the records only where loads grow on the whole.
const DOWN: f64 = 0.25;

/// No width beyond this: loads would change their sign.
const WIDEST: f64 = 4.0;

/// Tolerances to try in turn; a label needs no more digits.
const TOLERANCES: [f64; 3] = [1e-7, 1e-6, 1e-5];

/// A width lies so far from every record's own, relative to it: ten times what the solver may be off.
const CLEAR: f64 = 1e-4;

/// The share of infeasible records is met within this.
const NEAR: f64 = 0.002;

/// Records come from streams of their own.
const STREAM: u64 = 11 << 40;

/// Directions away from the nominal demands, and how far each can be followed.
#[derive(Clone, Debug)]
pub struct DemandRays {
    opf: Opf,
    nominal: Vec<f64>,
    /// Between −¼ and 1 for each load of each record.
    directions: Vec<Vec<f64>>,
    /// The largest feasible width of each record, at most [`WIDEST`].
    widths: Vec<f64>,
}

/// Demand vectors in MW, each feasible or not.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledDemands {
    /// Loads grew by between −width/4 and width of their size.
    pub width: f64,
    /// The private loads of each record.
    pub demands_mw: Vec<Vec<f64>>,
    /// Whether the network can meet them.
    pub feasible: Vec<bool>,
}

impl DemandRays {
    /// Draws so many directions and solves a program for each.
    pub fn draw(network: &Network, records: usize, seed: u64, batch: &Batch<'_>) -> Result<Self> {
        let opf = Opf::of(network.clone()).build()?;
        let nominal = opf.nominal();
        // Where the solver has trouble with one form, the other may serve.
        let dense = Opf::of(network.clone()).form(Form::Ptdf).build()?;
        let forms = [stretched(&opf)?, stretched(&dense)?];
        let direction = |i: usize| -> Vec<f64> {
            let mut sampler = Sampler::new(seed, STREAM + i as u64);
            let spread = 1.0 + DOWN;
            nominal
                .iter()
                .map(|_| spread * sampler.uniform() - DOWN)
                .collect()
        };
        let widths = batch.run(records, |i| widest(&forms, &direction(i), batch))?;
        Ok(DemandRays {
            directions: (0..records).map(direction).collect(),
            widths: widths.into_iter().collect::<Result<_>>()?,
            nominal,
            opf,
        })
    }

    /// The power flow, in angles.
    pub fn opf(&self) -> &Opf {
        &self.opf
    }

    /// The records at the width that makes this share of them infeasible.
    pub fn with_infeasible_share(&self, share: f64) -> Result<LabelledDemands> {
        let mut sorted = self.widths.clone();
        sorted.sort_by(f64::total_cmp);
        let records = sorted.len();
        let count = (share * records as f64).round() as usize;
        if count == 0 || count >= records {
            return Err(Error::Input(format!(
                "a share of {share} of {records} records leaves one class empty"
            )));
        }
        // The widest gap near the share: no record is labelled by the solver's last digits.
        let near = (NEAR * records as f64) as usize;
        let gaps = count.saturating_sub(near).max(1)..=(count + near).min(records - 1);
        let size = |k: &usize| sorted[*k] - sorted[*k - 1];
        let Some(best) = gaps.max_by(|a, b| size(a).total_cmp(&size(b))) else {
            return Err(Error::Input("there are no records".into()));
        };
        let width = 0.5 * (sorted[best] + sorted[best - 1]);
        if sorted[best] >= WIDEST * (1.0 - CLEAR) {
            return Err(Error::Input(format!(
                "loads up to {} times as large do not make a share of {share} infeasible",
                1.0 + WIDEST
            )));
        }
        if size(&best) < 2.0 * CLEAR * width {
            return Err(Error::Numerical(format!(
                "near a share of {share} the records' widths lie too close together to be told apart"
            )));
        }
        Ok(self.at(width))
    }

    /// The records at this width.
    pub fn at(&self, width: f64) -> LabelledDemands {
        let record = |u: &Vec<f64>| {
            let each = self.nominal.iter().zip(u);
            each.map(|(d, u)| d + width * u * d.abs()).collect()
        };
        LabelledDemands {
            width,
            demands_mw: self.directions.iter().map(record).collect(),
            feasible: self.widths.iter().map(|most| width <= *most).collect(),
        }
    }

    /// The public bounds of the loads at a width.
    pub fn bounds(&self, width: f64) -> Vec<(f64, f64)> {
        let ends = |d: &f64| (d - DOWN * width * d.abs(), d + width * d.abs());
        self.nominal.iter().map(ends).collect()
    }
}

/// The largest t in this direction.
fn widest(forms: &[AffineMap], direction: &[f64], batch: &Batch<'_>) -> Result<f64> {
    let mut failure = Error::Cancelled;
    for tolerance in TOLERANCES {
        let settings = Settings::default()
            .with_tolerance(tolerance)?
            .with_cancel(batch.cancel_flag().clone());
        for form in forms {
            match solve::solve_checked(&form.at(direction)?, &settings) {
                Ok(found) => return Ok(-found.objective),
                Err(again @ (Error::Inaccurate { .. } | Error::Numerical(_))) => failure = again,
                Err(other) => return Err(other),
            }
        }
    }
    Err(failure)
}

/// max t with demands nominal + t·u·|nominal|: the program of the network with one more column, affine in u.
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
            // b + t·coef·|d|·u − a'x ∈ K
            places.push(Location::new(Place::A(i, t), -location.coef * d.abs()));
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
        stage: Stage::Decision,
        entries: Vec::new(),
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
