//! `[feasibility]`: the promise about the constraints.

use super::problem::Model;
use conveil_text::tables::Item;
use conveil_text::tables::Names;
use conveil_text::tables::Table;
use conveil_text::{Located, ReadError};

/// The chance constraint, Pr(feasible) ≥ 1 − η, and how it is kept (M5).
#[derive(Debug, Clone, PartialEq)]
pub struct Feasibility {
    /// `strategy` (`program`).
    pub strategy: Located<Strategy>,
    /// `eta`: η in (0, ½). Not needed where the noise is on the answer: `compare` alone reads it there.
    pub eta: Option<f64>,
    /// `rows` (`joint`): whether η is for all rows together, or `each` for every row by itself.
    pub each: bool,
    /// `method` (`auto`).
    pub method: Located<Method>,
    /// `split` (`symmetric`): how a box divides η between its two tails.
    pub split: Split,
    /// `factor` (`best`): the safety factor of row-by-row constraints.
    pub factor: Located<Factor>,
    /// `size` (`exact`): how many samples the sampled methods draw.
    pub size: SampleSize,
    /// `beta` (1e-6): confidence parameter of the sampled methods, in (0, 1).
    pub beta: f64,
    /// `seed` (1): public seed of the sampled methods.
    pub seed: u64,
    /// `[[feasibility.block]]`: what differs for single constraint blocks.
    pub blocks: Vec<FeasibilityBlock>,
}

/// The settings of one constraint block; what is not given follows [`Feasibility`].
#[derive(Debug, Clone, PartialEq)]
pub struct FeasibilityBlock {
    /// `name`: the constraint block, named once.
    pub name: Located<String>,
    /// `method`.
    pub method: Option<Located<Method>>,
    /// `factor`.
    pub factor: Option<Located<Factor>>,
    /// `weight`: its weight > 0 in the division of η; not given together with `eta`.
    pub weight: Option<f64>,
    /// `eta`: its share of η.
    pub eta: Option<Located<BlockEta>>,
}

/// A block's share of η.
#[derive(Debug, Clone, PartialEq)]
pub enum BlockEta {
    /// One number in (0, ½) for the block.
    Whole(f64),
    /// One number in (0, ½) per row.
    Rows(Vec<f64>),
}

/// What is done with the noise (M13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// `program`: program perturbation.
    #[default]
    Program,
    /// `output`: noise on the answer.
    Output,
    /// `projected`: the same, projected onto the public feasible set.
    Projected,
}

/// A method of M5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// `auto`: chosen by the structure of the block.
    #[default]
    Auto,
    /// `mass-box`: a box of known mass (M5a).
    MassBox,
    /// `safe-box`: the same box by a safe bound, without vertices.
    SafeBox,
    /// `sampled-box`: a box around samples (M5b).
    SampledBox,
    /// `scenario`: the constraint at samples (M5c).
    Scenario,
    /// `row-by-row`: a safety factor per row (M5d).
    RowByRow,
    /// `noise-aware-hinge`: slacks of losses in closed form (M9).
    NoiseAwareHinge,
    /// `fixed-recourse`: exact quantiles of fixed rows (M5e).
    FixedRecourse,
    /// `ball`: a ball of Gaussian noise (M5f).
    Ball,
    /// `bounded`: the whole support of truncated noise (M5g).
    Bounded,
}

/// How a box divides η between its lower and upper tails.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Split {
    /// `symmetric`: equally.
    #[default]
    Symmetric,
    /// `optimise`: the best of a fixed public grid.
    Optimise,
    /// A number in (0, 1): the share of the lower tail.
    LowerShare(f64),
}

/// The safety factor z(η) of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Factor {
    /// `best`: the smallest that is proven for the noise.
    #[default]
    Best,
    /// `gaussian`: exact for Gaussian noise.
    Gaussian,
    /// `cantelli`: any law.
    Cantelli,
    /// `gauss`: symmetric unimodal laws.
    Gauss,
    /// `chernoff`: sums of Laplace terms.
    Chernoff,
    /// `one-laplace`: exact for a single Laplace term.
    OneLaplace,
}

/// How many samples a sampled method draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SampleSize {
    /// `exact`: the smallest number that the theorem allows.
    #[default]
    Exact,
    /// `paper`: the paper's explicit bound.
    Paper,
}

/// The keys that say how η is kept.
const KEPT_BY: [&str; 8] = [
    "rows", "method", "split", "factor", "size", "beta", "seed", "block",
];

/// What a missing section may say. A joint η over the losses of all records is dear, and means little for them.
pub(super) fn example(model: &Model) -> &'static str {
    match model {
        Model::Svm(_) => "eta = 0.05, rows = \"each\"",
        _ => "eta = 0.01",
    }
}

/// Reads `[feasibility]`.
pub(super) fn read(mut table: Table) -> Result<Feasibility, ReadError> {
    table.known(&[
        "strategy", "eta", "rows", "method", "split", "factor", "size", "beta", "seed", "block",
    ])?;
    let strategy = match table.optional("strategy") {
        None => table.locate(Strategy::default()),
        Some(item) => item.locate(item.choice(&[
            ("program", Strategy::Program),
            ("output", Strategy::Output),
            ("projected", Strategy::Projected),
        ])?),
    };
    let eta = match strategy.value {
        Strategy::Program => Some(table.required("eta", "eta = 0.01")?),
        Strategy::Output | Strategy::Projected => table.optional("eta"),
    };
    if eta.is_none() {
        for key in KEPT_BY {
            if let Some(item) = table.optional(key) {
                return Err(item
                    .error(format!("`{key}` says how η is kept, and there is no `eta`"))
                    .with_help("leave it out; or add `eta`, for `compare`"));
            }
        }
    }
    Ok(Feasibility {
        strategy,
        eta: eta.map(|eta| eta.below_half()).transpose()?,
        each: match table.optional("rows") {
            None => false,
            Some(rows) => rows.choice(&[("joint", false), ("each", true)])?,
        },
        method: read_method(&mut table)?.unwrap_or_else(|| table.locate(Method::default())),
        split: match table.optional("split") {
            None => Split::default(),
            Some(item) => read_split(item)?,
        },
        factor: read_factor(&mut table)?.unwrap_or_else(|| table.locate(Factor::default())),
        size: read_sample_size(&mut table)?,
        beta: match table.optional("beta") {
            None => 1e-6,
            Some(beta) => beta.proper_fraction()?,
        },
        seed: match table.optional("seed") {
            None => 1,
            Some(seed) => seed.whole()?,
        },
        blocks: match table.optional("block") {
            None => Vec::new(),
            Some(item) => read_blocks(item)?,
        },
    })
}

fn read_blocks(item: Item) -> Result<Vec<FeasibilityBlock>, ReadError> {
    let mut names = Names::default();
    let mut blocks = Vec::new();
    for mut table in item.tables("feasibility.block")? {
        table.known(&["name", "method", "factor", "weight", "eta"])?;
        let name = names.add(&table.required("name", "name = \"limits\"")?)?;
        let method = read_method(&mut table)?;
        let factor = read_factor(&mut table)?;
        let weight = match table.optional("weight") {
            None => None,
            Some(weight) => Some(weight.positive()?),
        };
        let eta = match table.optional("eta") {
            None => None,
            Some(eta) if weight.is_some() => {
                return Err(eta.error("give `weight` or `eta`, not both"));
            }
            Some(eta) => Some(eta.locate(read_block_eta(eta)?)),
        };
        blocks.push(FeasibilityBlock {
            name,
            method,
            factor,
            weight,
            eta,
        });
    }
    Ok(blocks)
}

fn read_block_eta(item: Item) -> Result<BlockEta, ReadError> {
    if !item.is_array() {
        return Ok(BlockEta::Whole(item.below_half()?));
    }
    let rows = item.filled_array()?;
    let etas: Result<Vec<f64>, ReadError> = rows.iter().map(Item::below_half).collect();
    Ok(BlockEta::Rows(etas?))
}

fn read_method(table: &mut Table) -> Result<Option<Located<Method>>, ReadError> {
    let Some(item) = table.optional("method") else {
        return Ok(None);
    };
    let method = item.choice(&[
        ("auto", Method::Auto),
        ("mass-box", Method::MassBox),
        ("safe-box", Method::SafeBox),
        ("sampled-box", Method::SampledBox),
        ("scenario", Method::Scenario),
        ("row-by-row", Method::RowByRow),
        ("noise-aware-hinge", Method::NoiseAwareHinge),
        ("fixed-recourse", Method::FixedRecourse),
        ("ball", Method::Ball),
        ("bounded", Method::Bounded),
    ])?;
    Ok(Some(item.locate(method)))
}

fn read_factor(table: &mut Table) -> Result<Option<Located<Factor>>, ReadError> {
    let Some(item) = table.optional("factor") else {
        return Ok(None);
    };
    let factor = item.choice(&[
        ("best", Factor::Best),
        ("gaussian", Factor::Gaussian),
        ("cantelli", Factor::Cantelli),
        ("gauss", Factor::Gauss),
        ("chernoff", Factor::Chernoff),
        ("one-laplace", Factor::OneLaplace),
    ])?;
    Ok(Some(item.locate(factor)))
}

fn read_split(item: Item) -> Result<Split, ReadError> {
    if item.is_number() {
        return Ok(Split::LowerShare(item.proper_fraction()?));
    }
    item.choice(&[
        ("symmetric", Split::Symmetric),
        ("optimise", Split::Optimise),
    ])
}

/// Reads `size`.
pub(super) fn read_sample_size(table: &mut Table) -> Result<SampleSize, ReadError> {
    match table.optional("size") {
        None => Ok(SampleSize::default()),
        Some(item) => item.choice(&[("exact", SampleSize::Exact), ("paper", SampleSize::Paper)]),
    }
}
