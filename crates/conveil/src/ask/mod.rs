//! What the user asks: a query, an adjacency, privacy, feasibility. All of it public, none of it data.

mod adjacency;
mod lattice;
mod query;
mod strategy;
mod terms;
mod universe;
pub(crate) mod value;

pub use crate::noise::SampleSize;
pub use adjacency::Adjacency;
pub use query::{Query, ResolvedQuery, may_be_queried};
pub use strategy::Strategy;
pub use terms::{Around, Offset, Term, Terms};
pub use universe::Universe;

use crate::error::{Error, Result};
use crate::noise::{self, Law};
use crate::risk::Risk;

/// How the Gaussian scale follows from (ε, δ) (M7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calibration {
    /// The analytic Gaussian mechanism: the smallest σ that works.
    Analytic,
    /// √(2 ln(1.25/δ))·Δ/ε: a theorem for ε < 1 only.
    Classic,
}

/// The mechanism and its privacy parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Privacy {
    /// ε-differential privacy by Laplace noise.
    Laplace {
        /// ε.
        epsilon: f64,
    },
    /// (ε, δ)-differential privacy by Gaussian noise.
    Gaussian {
        /// ε.
        epsilon: f64,
        /// δ.
        delta: f64,
        /// How σ is found.
        calibration: Calibration,
    },
    /// (ε, δ)-differential privacy by bounded noise (M5g).
    TruncatedLaplace {
        /// ε.
        epsilon: f64,
        /// δ ≤ ½.
        delta: f64,
    },
}

impl Privacy {
    /// Laplace noise.
    pub fn laplace(epsilon: f64) -> Self {
        Privacy::Laplace { epsilon }
    }

    /// Gaussian noise with the analytic scale.
    pub fn gaussian(epsilon: f64, delta: f64) -> Self {
        Privacy::Gaussian {
            epsilon,
            delta,
            calibration: Calibration::Analytic,
        }
    }

    /// Truncated Laplace noise.
    pub fn truncated_laplace(epsilon: f64, delta: f64) -> Self {
        Privacy::TruncatedLaplace { epsilon, delta }
    }

    /// ε.
    pub fn epsilon(&self) -> f64 {
        match self {
            Privacy::Laplace { epsilon }
            | Privacy::Gaussian { epsilon, .. }
            | Privacy::TruncatedLaplace { epsilon, .. } => *epsilon,
        }
    }

    /// δ, 0 for pure differential privacy.
    pub fn delta(&self) -> f64 {
        match self {
            Privacy::Laplace { .. } => 0.0,
            Privacy::Gaussian { delta, .. } | Privacy::TruncatedLaplace { delta, .. } => *delta,
        }
    }

    /// The same with another ε.
    pub fn with_epsilon(mut self, new: f64) -> Self {
        match &mut self {
            Privacy::Laplace { epsilon }
            | Privacy::Gaussian { epsilon, .. }
            | Privacy::TruncatedLaplace { epsilon, .. } => *epsilon = new,
        }
        self
    }

    /// The norm in which this mechanism needs the sensitivity.
    pub fn norm(&self) -> Norm {
        match self {
            Privacy::Gaussian { .. } => Norm::L2,
            _ => Norm::L1,
        }
    }

    /// The mechanism's word in a spec.
    pub fn word(&self) -> &'static str {
        match self {
            Privacy::Laplace { .. } => "laplace",
            Privacy::Gaussian { .. } => "gaussian",
            Privacy::TruncatedLaplace { .. } => "truncated-laplace",
        }
    }

    /// The mechanism's name.
    pub fn mechanism(&self) -> &'static str {
        match self {
            Privacy::Laplace { .. } => "Laplace",
            Privacy::Gaussian {
                calibration: Calibration::Analytic,
                ..
            } => "Gaussian (analytic)",
            Privacy::Gaussian { .. } => "Gaussian (classic)",
            Privacy::TruncatedLaplace { .. } => "truncated Laplace",
        }
    }

    /// The noise law for a sensitivity in [`Privacy::norm`].
    ///
    /// # Guarantee
    /// If ‖T^{-1}(Qx̄(θ) − Qx̄(θ'))‖ ≤ sensitivity for adjacent θ, θ', adding T·ζ with independent entries of this law
    /// is (ε, δ)-differentially private (M7; truncated: M5g).
    pub fn law(&self, sensitivity: f64) -> Result<Law> {
        match *self {
            Privacy::Laplace { epsilon } => {
                Ok(Law::laplace(noise::laplace_scale(sensitivity, epsilon)?)?)
            }
            Privacy::Gaussian {
                epsilon,
                delta,
                calibration,
            } => {
                let sigma = match calibration {
                    Calibration::Analytic => {
                        noise::gaussian_sigma_analytic(sensitivity, epsilon, delta)?
                    }
                    Calibration::Classic => {
                        noise::gaussian_sigma_classic(sensitivity, epsilon, delta)?
                    }
                };
                Ok(Law::gaussian(sigma)?)
            }
            Privacy::TruncatedLaplace { epsilon, delta } => {
                let scale = noise::laplace_scale(sensitivity, epsilon)?;
                let bound = noise::truncated_bound(scale, epsilon, delta)?;
                Ok(Law::truncated_laplace(scale, bound)?)
            }
        }
    }

    /// The exact privacy loss of a pair at distance `moved` under noise of this scale: the smallest ε (at this δ) that holds.
    pub fn loss_of(&self, law: &Law, moved: f64) -> Result<f64> {
        match self {
            Privacy::Laplace { .. } => Ok(moved / law.scale()),
            // Inside the bound the ratio is e^{moved/s}; the δ of M5g was fixed for distance s·ε.
            Privacy::TruncatedLaplace { .. } => Ok(moved / law.scale()),
            Privacy::Gaussian { delta, .. } => {
                if moved == 0.0 {
                    return Ok(0.0);
                }
                let over = |epsilon: f64| -> Result<bool> {
                    Ok(noise::gaussian_delta(moved, law.scale(), epsilon)? > *delta)
                };
                if !over(0.0)? {
                    return Ok(0.0);
                }
                let mut high = 1.0;
                while over(high)? {
                    high *= 2.0;
                    if high > 1e9 {
                        return Ok(f64::INFINITY);
                    }
                }
                let mut low = 0.0;
                for _ in 0..60 {
                    let mid = 0.5 * (low + high);
                    if over(mid)? {
                        low = mid;
                    } else {
                        high = mid;
                    }
                }
                Ok(high)
            }
        }
    }

    pub(crate) fn validate(&self) -> Result<()> {
        let (epsilon, delta) = (self.epsilon(), self.delta());
        if !(epsilon.is_finite() && epsilon > 0.0) {
            return Err(Error::input(format!(
                "ε must be positive and finite, found {epsilon}"
            )));
        }
        match self {
            Privacy::Laplace { .. } => Ok(()),
            Privacy::Gaussian { .. } if !(delta > 0.0 && delta < 1.0) => Err(Error::input(
                format!("δ must lie strictly between 0 and 1, found {delta}"),
            )),
            Privacy::Gaussian {
                calibration: Calibration::Classic,
                ..
            } if epsilon >= 1.0 => Err(Error::refused(
                format!("the classic Gaussian scale at ε = {epsilon}"),
                "its proof needs ε < 1",
                "the analytic scale, which holds for every ε and is smaller",
            )),
            Privacy::TruncatedLaplace { .. } if !(delta > 0.0 && delta <= 0.5) => Err(
                Error::input(format!("δ must lie in (0, 1/2], found {delta}")),
            ),
            _ => Ok(()),
        }
    }
}

/// The norm of a sensitivity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// Σ|·|.
    L1,
    /// Euclidean.
    L2,
}

impl Norm {
    /// The norm of a vector.
    pub fn of(&self, v: &[f64]) -> f64 {
        match self {
            Norm::L1 => v.iter().map(|x| x.abs()).sum(),
            Norm::L2 => crate::program::norm(v),
        }
    }

    /// ℓ₁ or ℓ₂.
    pub fn symbol(&self) -> &'static str {
        match self {
            Norm::L1 => "ℓ₁",
            Norm::L2 => "ℓ₂",
        }
    }
}

/// How the sensitivity of the released map is known (M8).
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// A bound that the user states, with its reason.
    Declared {
        /// The bound.
        bound: Bound,
        /// Why it holds, in the user's words.
        reason: String,
    },
    /// The largest of sampled pairs from a public universe: holds for a share 1−γ of pairs, with confidence 1−β.
    Sampled(Sampled),
    /// Proven by a certificate, on public structure. [`Request::envelope`] and its like make them.
    Certificate {
        /// The word of one of [`certificates`](crate::certify::certificates).
        word: &'static str,
        /// Its public numbers.
        terms: Terms,
    },
}

impl Request {
    /// Whether a certificate is asked for.
    pub(crate) fn is_certificate(&self) -> bool {
        matches!(self, Request::Certificate { .. })
    }

    /// Whether its terms add a quadratic cost.
    pub(crate) fn adds_curvature(&self) -> bool {
        matches!(self, Request::Certificate { terms, .. } if terms.curvature.is_some())
    }
}

/// The public shape T of the noise: the answer is Qx̄ + Tζ.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum NoiseShape {
    /// T = I: every released number gets the same noise.
    #[default]
    Identity,
    /// T by rows.
    Rows(Vec<Vec<f64>>),
    /// T = (QP⁻¹Q')^½: as wide in every direction as the quadratic cost lets the answer move (M8c).
    Curvature,
}

/// A declared bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// This number, for the stated adjacency.
    Total(f64),
    /// This number times α.
    PerAlpha(f64),
}

/// How pairs are sampled.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    /// Where pairs come from.
    pub universe: Universe,
    /// The share of pairs that may move more.
    pub gamma: f64,
    /// The risk that the claim is wrong.
    pub beta: f64,
    /// Public seed.
    pub seed: u64,
    /// How many pairs.
    pub size: SampleSize,
    /// The map that is sampled. Calibrating to the deterministic map is the paper's way; program perturbation
    /// is then refused outside paper mode, because another map is released.
    pub on: MapKind,
}

/// Which map a sensitivity is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapKind {
    /// x̄(θ) of the chance-constrained program: what is released.
    Released,
    /// x(θ) of the program without noise.
    Deterministic,
}

/// What every claim needs of an ask. A plan has nothing of it left open.
#[derive(Clone, Debug)]
pub(crate) struct Stated {
    pub(crate) adjacency: Adjacency,
    pub(crate) privacy: Privacy,
    pub(crate) sensitivity: Request,
}

/// Everything the user asks for, as it is stated bit by bit. Public.
#[derive(Clone, Debug)]
pub struct Ask {
    pub(crate) query: Query,
    pub(crate) shape: NoiseShape,
    pub(crate) adjacency: Option<Adjacency>,
    pub(crate) unit: Option<String>,
    pub(crate) protects: Option<String>,
    pub(crate) privacy: Option<Privacy>,
    pub(crate) sensitivity: Option<Request>,
    pub(crate) universe: Option<Universe>,
    pub(crate) strategy: Strategy,
    pub(crate) chosen: Option<String>,
    pub(crate) feasibility: crate::chance::Feasibility,
    pub(crate) risk: Risk,
    pub(crate) lattice: Option<f64>,
    pub(crate) settings: crate::solve::Settings,
    pub(crate) threads: Option<usize>,
}

impl Ask {
    /// An ask for this query; feasible with probability 99%, expected objective, unless said otherwise.
    pub fn new(query: Query) -> Self {
        Ask {
            query,
            shape: NoiseShape::Identity,
            adjacency: None,
            unit: None,
            protects: None,
            privacy: None,
            sensitivity: None,
            universe: None,
            strategy: Strategy::default(),
            chosen: None,
            feasibility: crate::chance::Feasibility::default(),
            risk: Risk::expectation(),
            lattice: None,
            settings: crate::solve::Settings::default(),
            threads: None,
        }
    }

    /// What is released.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// The optimal cost q'x.
    pub fn cost() -> Self {
        Self::new(Query::Cost)
    }

    /// Whom the adjacency protects, in the words of who owns the data: for the guarantee's text. That the adjacency covers
    /// what one of them can change is whoever says so's to know.
    pub fn protecting(mut self, whom: &str) -> Self {
        self.protects = Some(whom.into());
        self
    }

    /// The public shape T of the noise, by rows.
    pub fn shape(mut self, rows: Vec<Vec<f64>>) -> Self {
        self.shape = NoiseShape::Rows(rows);
        self
    }

    /// Noise shaped by the curvature of the cost: T = (QP⁻¹Q')^½.
    pub fn shaped_by_curvature(mut self) -> Self {
        self.shape = NoiseShape::Curvature;
        self
    }

    /// Which datasets must be indistinguishable.
    pub fn adjacency(mut self, adjacency: Adjacency) -> Self {
        self.adjacency = Some(adjacency);
        self
    }

    /// The unit of the private numbers and of α, for the account of what is released: amounts in different units are not
    /// added.
    pub fn unit(mut self, unit: &str) -> Self {
        self.unit = Some(unit.into());
        self
    }

    /// The mechanism and ε (δ).
    pub fn privacy(mut self, privacy: Privacy) -> Self {
        self.privacy = Some(privacy);
        self
    }

    /// How the sensitivity is known.
    pub fn sensitivity(mut self, request: Request) -> Self {
        self.sensitivity = Some(request);
        self
    }

    /// A declared bound on the sensitivity, with its reason.
    pub fn declared(self, bound: f64, reason: &str) -> Self {
        self.sensitivity(Request::Declared {
            bound: Bound::Total(bound),
            reason: reason.into(),
        })
    }

    /// The universe that a declared bound under [`Adjacency::Universe`] is about; a sampled one brings its own. Data
    /// outside count as its nearest member.
    pub fn within(mut self, universe: Universe) -> Self {
        self.universe = Some(universe);
        self
    }

    /// What is done with the noise: program perturbation unless said otherwise.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// The strategy was chosen by a public rule, and why: for the guarantee's text.
    pub fn chosen_because(mut self, why: &str) -> Self {
        self.chosen = Some(why.into());
        self
    }

    /// Feasible with at least this probability: 1 − η.
    pub fn feasible(mut self, probability: f64) -> Self {
        // 1 − 0.95 is 0.05 and a rounding error: η is what the user would have written.
        self.feasibility.eta = ((1.0 - probability) * 1e15).round() / 1e15;
        self
    }

    /// The chance constraint in detail.
    pub fn feasibility(mut self, feasibility: crate::chance::Feasibility) -> Self {
        self.feasibility = feasibility;
        self
    }

    /// What is minimised.
    pub fn risk(mut self, risk: Risk) -> Self {
        self.risk = risk;
        self
    }

    /// The public lattice step h of released noise; by default a power of two about 10⁻⁶ of the scale.
    pub fn lattice(mut self, step: f64) -> Self {
        self.lattice = Some(step);
        self
    }

    /// Solver tolerance and interruption.
    pub fn settings(mut self, settings: crate::solve::Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Threads for batches of solves; all cores by default.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// What every claim needs, or what of it is missing.
    pub(crate) fn stated(&self) -> Result<Stated> {
        let missing = |what: &str| Error::input(format!("the ask states no {what}"));
        Ok(Stated {
            privacy: (self.privacy).ok_or_else(|| missing("privacy: a mechanism and its ε"))?,
            adjacency: self
                .adjacency
                .ok_or_else(|| missing("adjacency: which datasets must be indistinguishable"))?,
            sensitivity: self.sensitivity.clone().ok_or_else(|| {
                missing("sensitivity: declare a bound with its reason, or ask for a sampled one")
            })?,
        })
    }

    /// The batch of solves that its threads and its interruption flag make.
    pub(crate) fn batch(&self) -> crate::solve::Batch<'static> {
        let batch = crate::solve::Batch::new().cancel(self.settings.cancel().clone());
        match self.threads {
            None => batch,
            Some(threads) => batch.threads(threads),
        }
    }

    /// The unit of the private numbers.
    pub fn stated_unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }

    /// The same ask at another ε.
    pub fn with_epsilon(mut self, epsilon: f64) -> Self {
        self.privacy = self.privacy.map(|p| p.with_epsilon(epsilon));
        self
    }

    /// The same ask at another η.
    pub fn with_eta(mut self, eta: f64) -> Self {
        self.feasibility = self.feasibility.with_eta(eta);
        self
    }

    /// The same ask at another α; only where the adjacency has one.
    pub(crate) fn with_alpha(mut self, alpha: f64) -> Self {
        self.adjacency = self.adjacency.map(|a| a.with_alpha(alpha));
        self
    }
}
