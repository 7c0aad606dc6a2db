//! `[feasibility]`: the promise about the constraints.

use conveil::ask::{Privacy, SampleSize, Strategy};
use conveil::chance::{BlockChoice, BlockEta, Choice, Feasibility, Split, methods};
use conveil::noise::Factor;
use conveil_text::tables::{Item, Names, Table};
use conveil_text::{Located, ReadError};

use super::Version;

/// The chance constraint, Pr(feasible) ≥ 1 − η, and how it is kept (M5).
#[derive(Debug, Clone)]
pub struct FeasibilitySection {
    /// `strategy` (`program`; from version 2 on `auto`): the one stated, or the one that the rule chose. While the choice is
    /// open it is the default of version 1.
    pub strategy: Located<Strategy>,
    /// Who chooses the strategy.
    pub choice: StrategyChoice,
    /// `carry_out`: somebody carries out the decision behind the answer, so that it must be feasible.
    pub carry_out: Option<Located<bool>>,
    /// `eta`: η in (0, ½). Not needed where the noise is on the answer: `compare` alone reads it there.
    pub eta: Option<f64>,
    /// All that is common to the constraint blocks: `eta`, `rows`, `method`, `factor`, `split`, `size`, `beta`, `seed`.
    pub promise: Feasibility,
    /// `[[feasibility.block]]`: what differs for single constraint blocks.
    pub blocks: Vec<Block>,
}

/// Who chooses the strategy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StrategyChoice {
    /// The spec.
    Stated,
    /// The rule, on the public structure of the model; it was not asked yet.
    Open,
    /// The rule chose, and says why.
    ByRule {
        /// Why, in public words.
        why: String,
    },
}

/// The settings of one constraint block; what is not given follows [`FeasibilitySection`].
#[derive(Debug, Clone)]
pub struct Block {
    /// `name`: the constraint block, named once.
    pub name: Located<String>,
    /// `method`, `factor`, and `weight` or `eta`.
    pub choice: BlockChoice,
    /// Where `eta` stands, if it does.
    pub eta: Option<Located<()>>,
}

/// The keys that say how η is kept.
const KEPT_BY: [&str; 8] = [
    "rows", "method", "split", "factor", "size", "beta", "seed", "block",
];

/// How a block, or all of them, keep η: the method without its factor, and the factor, where each was stated.
#[derive(Default)]
struct Stated {
    method: Option<Located<Choice>>,
    factor: Option<Located<Option<Factor>>>,
}

impl Stated {
    fn read(table: &mut Table) -> Result<Self, ReadError> {
        Ok(Stated {
            method: read_method(table)?,
            factor: read_factor(table)?,
        })
    }

    /// The method with its factor; what is not stated is that of all blocks.
    fn choice(&self, of_all: &Stated) -> Choice {
        let factor = self.factor.as_ref().or(of_all.factor.as_ref());
        let method = self.method_or(of_all);
        match takes_factor(method) {
            true => method.with(factor.and_then(|factor| factor.value)),
            false => method,
        }
    }

    fn method_or(&self, of_all: &Stated) -> Choice {
        let method = self.method.as_ref().or(of_all.method.as_ref());
        method.map_or(Choice::AUTO, |method| method.value)
    }
}

fn takes_factor(method: Choice) -> bool {
    method.kind().is_none_or(|kind| kind.takes_factor())
}

/// What a spec says that leaves `[feasibility]` out: all of it follows from rules.
pub(super) fn by_rules(top: &Table) -> FeasibilitySection {
    FeasibilitySection {
        strategy: top.locate(Strategy::default()),
        choice: StrategyChoice::Open,
        carry_out: None,
        eta: None,
        promise: Feasibility::default(),
        blocks: Vec::new(),
    }
}

/// Reads `[feasibility]`; methods and factors must be proven for the noise.
pub(super) fn read(
    mut table: Table,
    privacy: &Privacy,
    version: Version,
    rows_each: bool,
) -> Result<FeasibilitySection, ReadError> {
    table.known(&[
        "strategy",
        "eta",
        "rows",
        "method",
        "split",
        "factor",
        "size",
        "beta",
        "seed",
        "block",
        "carry_out",
    ])?;
    let (strategy, choice) = read_strategy(&mut table, version)?;
    let carry_out = match table.optional("carry_out") {
        None => None,
        Some(item) if choice == StrategyChoice::Stated => {
            return Err(item
                .error("`carry_out` is for the rule that chooses a strategy, and one is stated")
                .with_help("leave it out, or strategy = \"auto\""));
        }
        Some(item) => Some(item.locate(item.boolean()?)),
    };
    let eta = match (strategy.value, &choice) {
        (strategy, StrategyChoice::Stated) if strategy.needs_eta() => {
            Some(table.required("eta", "eta = 0.01")?)
        }
        _ => table.optional("eta"),
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
    let eta = eta.map(|eta| eta.below_half()).transpose()?;
    let each = match table.optional("rows") {
        None => rows_each,
        Some(rows) => rows.choice(&[("joint", false), ("each", true)])?,
    };
    let of_all = Stated::read(&mut table)?;
    let split = match table.optional("split") {
        None => Split::Symmetric,
        Some(item) => read_split(item)?,
    };
    let size = read_sample_size(&mut table)?;
    let beta = match table.optional("beta") {
        None => 1e-6,
        Some(beta) => beta.proper_fraction()?,
    };
    let seed = match table.optional("seed") {
        None => 1,
        Some(seed) => seed.whole()?,
    };
    let (blocks, stated) = match table.optional("block") {
        None => Default::default(),
        Some(item) => read_blocks(item, &of_all)?,
    };
    check_methods(&table, &of_all, &stated, privacy)?;
    let promise = match (eta, each) {
        // Noise on the answer promises nothing.
        (None, _) => Feasibility::default(),
        (Some(eta), true) => Feasibility::each(eta),
        (Some(eta), false) => Feasibility::eta(eta),
    };
    Ok(FeasibilitySection {
        strategy,
        choice,
        carry_out,
        eta,
        promise: promise
            .method(of_all.choice(&of_all))
            .split(split)
            .sampling(size, beta, seed),
        blocks,
    })
}

/// The strategy, and who chooses it.
fn read_strategy(
    table: &mut Table,
    version: Version,
) -> Result<(Located<Strategy>, StrategyChoice), ReadError> {
    let Some(item) = table.optional("strategy") else {
        let choice = match version {
            Version::One => StrategyChoice::Stated,
            Version::Two => StrategyChoice::Open,
        };
        return Ok((table.locate(Strategy::default()), choice));
    };
    let mut words: Vec<(&str, Option<Strategy>)> = vec![("auto", None)];
    words.extend(Strategy::ALL.map(|strategy| (strategy.key(), Some(strategy))));
    Ok(match item.choice(&words)? {
        None => (item.locate(Strategy::default()), StrategyChoice::Open),
        Some(stated) => (item.locate(stated), StrategyChoice::Stated),
    })
}

fn read_blocks(item: Item, of_all: &Stated) -> Result<(Vec<Block>, Vec<Stated>), ReadError> {
    let mut names = Names::default();
    let (mut blocks, mut each) = (Vec::new(), Vec::new());
    for mut table in item.tables("feasibility.block")? {
        table.known(&["name", "method", "factor", "weight", "eta"])?;
        let name = names.add(&table.required("name", "name = \"limits\"")?)?;
        let stated = Stated::read(&mut table)?;
        let weight = match table.optional("weight") {
            None => None,
            Some(weight) => Some(weight.positive()?),
        };
        let eta = match table.optional("eta") {
            None => None,
            Some(eta) if weight.is_some() => {
                return Err(eta.error("give `weight` or `eta`, not both"));
            }
            Some(eta) => Some((eta.locate(()), read_block_eta(eta)?)),
        };
        let (place, eta) = eta.unzip();
        let is_stated = stated.method.is_some() || stated.factor.is_some();
        blocks.push(Block {
            choice: BlockChoice {
                block: name.value.clone(),
                method: is_stated.then(|| stated.choice(of_all)),
                weight,
                eta,
            },
            name,
            eta: place,
        });
        each.push(stated);
    }
    Ok((blocks, each))
}

/// Methods and factors must be proven for the noise, and factors have rows to serve.
fn check_methods(
    table: &Table,
    of_all: &Stated,
    blocks: &[Stated],
    privacy: &Privacy,
) -> Result<(), ReadError> {
    let stated = || std::iter::once(of_all).chain(blocks);
    for method in stated().filter_map(|stated| stated.method.as_ref()) {
        let only = method.value.kind().and_then(|kind| kind.only_mechanism());
        let Some(needed) = only.filter(|word| *word != privacy.word()) else {
            continue;
        };
        let word = method.value.word();
        let message = format!("method `{word}` needs mechanism `{needed}`");
        return Err(table.complain(method, message));
    }
    for factor in stated().filter_map(|stated| stated.factor.as_ref()) {
        let gaussian = matches!(privacy, Privacy::Gaussian { .. });
        let (word, needed) = match factor.value {
            Some(Factor::Gaussian) if !gaussian => ("gaussian", "`gaussian`"),
            Some(Factor::Chernoff) if gaussian => ("chernoff", "`laplace` or `truncated-laplace`"),
            Some(Factor::OneLaplace) if gaussian => {
                ("one-laplace", "`laplace` or `truncated-laplace`")
            }
            _ => continue,
        };
        let message = format!("factor `{word}` needs mechanism {needed}");
        return Err(table.complain(factor, message));
    }
    for block in blocks {
        if let Some(factor) = &block.factor
            && !takes_factor(block.method_or(of_all))
        {
            return Err(table.complain(factor, "`factor` needs method `row-by-row`"));
        }
    }
    let mut methods = stated().filter(|stated| stated.method.is_some());
    if let Some(factor) = &of_all.factor
        && factor.value.is_some()
        && !takes_factor(of_all.method_or(of_all))
        && !methods.any(|stated| takes_factor(stated.method_or(of_all)))
    {
        return Err(table.complain(factor, "`factor` needs method `row-by-row`"));
    }
    Ok(())
}

fn read_block_eta(item: Item) -> Result<BlockEta, ReadError> {
    if !item.is_array() {
        return Ok(BlockEta::Whole(item.below_half()?));
    }
    let rows = item.filled_array()?;
    let etas: Result<Vec<f64>, ReadError> = rows.iter().map(Item::below_half).collect();
    Ok(BlockEta::Rows(etas?))
}

fn read_method(table: &mut Table) -> Result<Option<Located<Choice>>, ReadError> {
    let Some(item) = table.optional("method") else {
        return Ok(None);
    };
    let mut words = vec![(Choice::AUTO.word(), Choice::AUTO)];
    words.extend(
        methods()
            .iter()
            .map(|kind| (kind.word(), Choice::by(*kind))),
    );
    let method = item.choice(&words)?;
    Ok(Some(item.locate(method)))
}

fn read_factor(table: &mut Table) -> Result<Option<Located<Option<Factor>>>, ReadError> {
    let Some(item) = table.optional("factor") else {
        return Ok(None);
    };
    let factor = item.choice(&[
        ("best", None),
        ("gaussian", Some(Factor::Gaussian)),
        ("cantelli", Some(Factor::Cantelli)),
        ("gauss", Some(Factor::Gauss)),
        ("chernoff", Some(Factor::Chernoff)),
        ("one-laplace", Some(Factor::OneLaplace)),
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
        None => Ok(SampleSize::Exact),
        Some(item) => item.choice(&[("exact", SampleSize::Exact), ("paper", SampleSize::Paper)]),
    }
}
