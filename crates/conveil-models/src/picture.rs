//! What a model shows of a decision as a picture: plain numbers, which a front end draws. As private as the decision.

use serde::Serialize;

/// A picture of a decision, by the kind of its model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Picture {
    /// A power network with its flows.
    Grid(Grid),
    /// A fit over one regressor.
    Curves(Curves),
    /// Scores of a classifier.
    Scores(Scores),
    /// A body inside a polytope.
    Body(Body),
}

/// A power network: what its units generate, what its branches carry, and where the noise goes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Grid {
    /// The buses.
    pub buses: Vec<GridBus>,
    /// The units; none where the network is too large to be drawn.
    pub units: Vec<GridUnit>,
    /// The branches; none where the network is too large to be drawn.
    pub branches: Vec<GridBranch>,
}

/// A node of the network.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GridBus {
    /// Its number in the case file.
    pub number: u32,
    /// What it draws, in MW, shunts included: what the decision is for.
    pub load_mw: f64,
    /// Whether its load is private.
    pub is_private: bool,
}

/// A generating unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GridUnit {
    /// The index of its bus.
    pub bus: usize,
    /// What it generates on average, in MW.
    pub mean_mw: f64,
    /// The standard deviation of that due to the noise, in MW.
    pub deviation_mw: f64,
    /// Its greatest output, in MW.
    pub greatest_mw: f64,
}

/// A line or a transformer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GridBranch {
    /// Its name.
    pub name: String,
    /// The index of the bus where it starts.
    pub from: usize,
    /// The index of the bus where it ends.
    pub to: usize,
    /// What it carries on average from its start to its end, in MW.
    pub flow_mw: f64,
    /// The standard deviation of that due to the noise, in MW.
    pub deviation_mw: f64,
    /// The limit of the flow in either direction, in MW.
    pub limit_mw: Option<f64>,
}

/// A fit over one regressor, at the places `at`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curves {
    /// The regressor, with its unit.
    pub x: String,
    /// The response, with its unit.
    pub y: String,
    /// Where the curves are evaluated.
    pub at: Vec<f64>,
    /// The curve of the mean decision.
    pub mean: Vec<f64>,
    /// The fit without noise, where it is known.
    pub without_noise: Option<Vec<f64>>,
    /// Curves under simulated noise of a fixed seed.
    pub noisy: Vec<Vec<f64>>,
    /// Records: regressor and response. Some of them, evenly apart, where there are many.
    pub records: Vec<(f64, f64)>,
    /// How many records there are.
    pub records_in_all: usize,
}

/// Scores of the records of two classes, before the noise; of some of them, evenly apart, where there are many.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scores {
    /// What the class with scores below 0 is called.
    pub first_name: String,
    /// Its scores.
    pub first: Vec<f64>,
    /// What the class with scores above 0 is called.
    pub second_name: String,
    /// Its scores.
    pub second: Vec<f64>,
    /// The standard deviation of a score under the noise, averaged over the records.
    pub deviation: f64,
}

/// A body in two dimensions, or the shadow of one that has more, as outlines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Body {
    /// The first axis.
    pub x: String,
    /// The second axis.
    pub y: String,
    /// The corners of the polytope, in order.
    pub limits: Vec<(f64, f64)>,
    /// The body of the mean decision.
    pub mean: Vec<(f64, f64)>,
    /// The largest body without noise, where it is known.
    pub without_noise: Option<Vec<(f64, f64)>>,
    /// Bodies under simulated noise of a fixed seed.
    pub noisy: Vec<Vec<(f64, f64)>>,
}
