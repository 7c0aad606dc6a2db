//! A mean-variance portfolio with private forecasts: maximise μ'w − ½γw'Σw over 0 ≤ w ≤ cap, Σwᵢ ≤ 1. What is not
//! invested is cash, and μ are the expected returns above that of cash.
//!
//! The private μ stand in the linear cost, while the covariance Σ and all limits are public: strong convexity certifies the
//! weights, with noise shaped by γΣ (M8c). The weight of an asset is the variable `weight of NAME`, its forecast the
//! parameter `return of NAME`.
//!
//! ```
//! use conveil::ask::{Adjacency, Privacy};
//! use conveil::plan::Plan;
//! use conveil_models::portfolio::Portfolio;
//!
//! let covariance = vec![vec![0.04, 0.006], vec![0.006, 0.01]];
//! let portfolio = Portfolio::of(vec!["stocks".into(), "bonds".into()], covariance)
//!     .aversion(4.0)
//!     .build()?;
//! let plan = Plan::new(
//!     &portfolio,
//!     portfolio.ask()
//!         .adjacency(Adjacency::one_entry(0.0005))
//!         .privacy(Privacy::laplace(1.0))
//!         .feasible(0.95),
//! )?; // no forecast yet
//! let curated = plan.curate(&[0.05, 0.015])?;
//! assert!(curated.decided().answer.iter().sum::<f64>() < 1.0);
//! # Ok::<(), conveil::Error>(())
//! ```

mod private;
mod public;
mod starter;
mod stated;

pub use stated::{CovarianceSource, PortfolioSpec};

use conveil::ask::{Ask, Query, Request};
use conveil::program::{Affine, AffineMap, Builder, Cone, DataMap, Parameters, Program};
use conveil::{Error, Result};
use conveil_text::spelling::counted;

use crate::model::Kind;
use crate::spec::private::LABEL;

/// `model = "portfolio"`.
pub(crate) static KIND: Kind = Kind {
    word: "portfolio",
    problem: &["covariance", "file", "aversion", "cap"],
    private: &["returns", LABEL, "bounds"],
    query: &[],
    releases: &["identity", "value", "sum", "weighted", "rows", "weights"],
    releases_help: "a portfolio releases its `weights`; or what groups of assets weigh together: `sum`, `weighted` and `rows`; or its `value`, the return less the price of the risk",
    per_alpha: &[],
    facts: &[],
    eta: "eta = 0.05",
    read: |table| Ok(Box::new(PortfolioSpec::read(table)?)),
    starter: &starter::STARTER,
};

/// A portfolio to be. All of it public.
#[derive(Clone, Debug)]
pub struct PortfolioBuilder {
    assets: Vec<String>,
    covariance: Vec<Vec<f64>>,
    aversion: f64,
    cap: f64,
    bounds: Option<(f64, f64)>,
}

impl PortfolioBuilder {
    /// γ: what a unit of variance costs.
    pub fn aversion(mut self, gamma: f64) -> Self {
        self.aversion = gamma;
        self
    }

    /// The largest weight of an asset, at most 1.
    pub fn cap(mut self, cap: f64) -> Self {
        self.cap = cap;
        self
    }

    /// Public bounds, to which every expected return is clipped.
    pub fn within(mut self, low: f64, high: f64) -> Self {
        self.bounds = Some((low, high));
        self
    }

    /// The model, or what is wrong with it.
    pub fn build(self) -> Result<Portfolio> {
        self.check()?;
        let mut m = Builder::new();
        let mut weights: Vec<Affine> = Vec::new();
        for asset in &self.assets {
            weights.push(m.variable(&weight_of(asset), 1).at(0));
        }
        for (asset, weight) in self.assets.iter().zip(&weights) {
            let name = format!("return of {asset}");
            let forecast = match self.bounds {
                None => m.parameter(&name),
                Some((low, high)) => m.parameter_within(&name, low, high),
            };
            m.minimize(-(forecast * weight.clone()));
        }
        for (i, row) in self.covariance.iter().enumerate() {
            for (j, covariance) in row.iter().enumerate().skip(i) {
                m.quadratic(i, j, self.aversion * covariance);
            }
        }
        let n = weights.len();
        m.cone("long only", Cone::Nonnegative(n), weights.clone());
        let room = weights.iter().map(|w| self.cap - w.clone());
        m.cone("cap", Cone::Nonnegative(n), room.collect());
        let invested = weights.iter().fold(Affine::from(0.0), |a, w| a + w.clone());
        m.at_most("budget", invested, 1.0);
        Ok(Portfolio {
            map: m.build_map()?,
            parts: self,
        })
    }

    fn check(&self) -> Result<()> {
        let bad = |text: String| Err(Error::Input(text));
        let n = self.assets.len();
        if n == 0 || self.covariance.len() != n || self.covariance.iter().any(|r| r.len() != n) {
            return bad(format!(
                "a portfolio of {n} assets needs a covariance of {n} rows with {n} numbers each"
            ));
        }
        for i in 0..n {
            for j in 0..n {
                let (a, b) = (self.covariance[i][j], self.covariance[j][i]);
                if !((a - b).abs() <= SYMMETRIC * a.abs().max(b.abs())) {
                    return bad(format!(
                        "the covariance of `{}` and `{}` is {a}, and the other way round {b}: it must be symmetric and finite",
                        self.assets[i], self.assets[j]
                    ));
                }
            }
        }
        if let Some(k) = dependent(&self.covariance) {
            return bad(format!(
                "the covariance must be positive definite, and is not from `{}` on: some portfolio of the first {} would have no variance, or a negative one",
                self.assets[k],
                counted(k + 1, "asset", "assets")
            ));
        }
        if !(self.aversion.is_finite() && self.aversion > 0.0) {
            return bad(format!(
                "the aversion to risk must be positive and finite, found {}",
                self.aversion
            ));
        }
        if !(self.cap > 0.0 && self.cap <= 1.0) {
            return bad(format!(
                "the largest weight of an asset must lie above 0 and be at most 1, found {}",
                self.cap
            ));
        }
        Ok(())
    }
}

/// Entries of the covariance on two sides of its diagonal may differ by this share, which is rounding.
const SYMMETRIC: f64 = 1e-9;

/// The variance of an asset that is left when those before it are known must be more than this share of its variance:
/// less is rounding.
const INDEPENDENT: f64 = 1e-12;

/// The first asset with no variance of its own beside those before it, by Cholesky factors Σ = LL'; none where Σ is
/// positive definite.
fn dependent(covariance: &[Vec<f64>]) -> Option<usize> {
    let mut factor: Vec<Vec<f64>> = Vec::new();
    for (i, row) in covariance.iter().enumerate() {
        let mut of_row: Vec<f64> = Vec::with_capacity(i + 1);
        for (j, before) in factor.iter().enumerate() {
            of_row.push((row[j] - dot(&of_row, &before[..j])) / before[j]);
        }
        let left = row[i] - dot(&of_row, &of_row);
        if !(left.is_finite() && left > INDEPENDENT * row[i]) {
            return Some(i);
        }
        of_row.push(left.sqrt());
        factor.push(of_row);
    }
    None
}

/// The variable of an asset.
fn weight_of(asset: &str) -> String {
    format!("weight of {asset}")
}

/// A portfolio whose expected returns are private.
#[derive(Clone, Debug)]
pub struct Portfolio {
    parts: PortfolioBuilder,
    map: AffineMap,
}

impl Portfolio {
    /// Of these assets with this covariance of returns; γ = 1, no asset is capped, forecasts have no bounds.
    pub fn of(assets: Vec<String>, covariance: Vec<Vec<f64>>) -> PortfolioBuilder {
        PortfolioBuilder {
            assets,
            covariance,
            aversion: 1.0,
            cap: 1.0,
            bounds: None,
        }
    }

    /// The ask for all weights, certified by strong convexity, the noise shaped by γΣ. Privacy and adjacency are for the
    /// caller to add.
    pub fn ask(&self) -> Ask {
        Ask::new(self.query())
            .sensitivity(Request::strong_convexity())
            .shaped_by_curvature()
    }

    /// The query of all weights.
    pub fn query(&self) -> Query {
        let assets = self.parts.assets.iter();
        Query::Variables(assets.map(|asset| weight_of(asset)).collect())
    }

    /// The names of the assets.
    pub fn assets(&self) -> &[String] {
        &self.parts.assets
    }

    /// w'Σw.
    pub fn variance(&self, weights: &[f64]) -> f64 {
        let rows = self.parts.covariance.iter().zip(weights);
        rows.map(|(row, w)| w * dot(row, weights)).sum()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl DataMap for Portfolio {
    fn parameters(&self) -> &Parameters {
        self.map.parameters()
    }

    fn template(&self) -> &Program {
        self.map.template()
    }

    fn affine(&self) -> Option<&AffineMap> {
        Some(&self.map)
    }
}
