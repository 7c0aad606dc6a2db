//! Noise: its laws, their exact probabilities, and the scale that privacy asks for.
//!
//! Everything here is a pure function of numbers; the only state is the studies' [`Sampler`].
//! A claim about a probability is rounded to its safe side and names its section of the
//! mathematics (M3, M5, M6, M7) under `# Guarantee`.

// The laws, one file each, and the type that unites them.
mod gaussian;
mod laplace;
mod lattice;
mod law;
mod truncated;

// Weighted sums Σ aⱼζⱼ: exact quantiles (M5e) and factors for any weights (M5d).
mod factor;
mod laplace_quantile;
mod laplace_sum;
mod weighted;

// From (ε, δ) and a sensitivity to a scale (M7, M5g), and the Gaussian ball (M5f).
mod ball;
mod calibrate;

// Counting: sample sizes (M5b, M5c, M8), confidence intervals, p-values.
mod binomial;
mod counting;

// Seeded draws for studies.
mod sampler;

mod error;

pub use ball::ball_radius;
pub use calibrate::{gaussian_delta, gaussian_sigma_analytic, gaussian_sigma_classic};
pub(crate) use calibrate::{laplace_scale, truncated_bound};
pub use counting::{
    SampleSize, binomial_lower_tail, binomial_upper_pvalue, clopper_pearson, clopper_pearson_lower,
    clopper_pearson_upper, exact_samples, pair_samples_exact, pair_samples_paper,
    paper_box_samples, paper_scenario_samples,
};
pub use error::NoiseError;
pub use factor::{Factor, named_multiplier, safe_multiplier};
pub use gaussian::Gaussian;
pub use laplace::Laplace;
pub use lattice::LatticeLaw;
pub use law::Law;
pub use sampler::Sampler;
pub use truncated::TruncatedLaplace;
pub use weighted::{weighted_tail, weighted_upper_quantile};
