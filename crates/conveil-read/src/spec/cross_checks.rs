//! What the sections of a spec must agree on.

use std::collections::HashMap;

use super::{
    Adjacency, BlockEta, ConstraintBlock, Ellipsoid, Factor, GridCosts, Mechanism, Method, Model,
    NormalsSource, OffsetsSource, Place, Release, Sensitivity, Shape, Spec, Stage, VariableBlock,
    VariableRef,
};
use conveil_text::spelling::{counted, nearest, quoted};
use conveil_text::{Located, ReadError};

/// Refuses a spec whose sections contradict each other.
pub(super) fn check(spec: &Spec, name: &str) -> Result<(), ReadError> {
    match &spec.problem.model {
        Model::Conic { .. } => {
            check_parameters(spec, name)?;
            check_universe(spec, name)?;
            check_variables(spec, name)?;
        }
        // Which variables there are, the network knows.
        Model::Opf(_) => check_demands(spec, name)?,
        // And here, the basis functions.
        Model::Regression(_) => super::regression::check(spec, name)?,
        Model::Ellipsoid(ellipsoid) => check_offsets(spec, ellipsoid, name)?,
        Model::Svm(_) => check_records(spec, name)?,
    }
    check_shape(spec, name)?;
    check_sensitivity(spec, name)?;
    check_methods(spec, name)?;
    check_blocks(spec, name)
}

/// What is asked about demands must make sense for demands.
fn check_demands(spec: &Spec, name: &str) -> Result<(), ReadError> {
    let adjacency = &spec.private.adjacency;
    if adjacency.value.alpha().is_none() {
        return Err(adjacency
            .error(name, "the adjacency of demands needs an alpha, in MW")
            .with_help("`one-entry`, `l1` and `l2` have one"));
    }
    if let Some(unit) = &spec.private.unit
        && unit.value != "MW"
    {
        let found = quoted(&unit.value);
        return Err(unit
            .error(
                name,
                format!("demands and their alpha are in MW, and `unit` is {found}"),
            )
            .with_help("unit = \"MW\", or no `unit`; alpha is then a number of MW"));
    }
    // The released cost is the objective; this term would be part of it.
    if let Model::Opf(grid) = &spec.problem.model
        && let Some(curvature) = &grid.curvature
        && spec.query.release == Release::Cost
    {
        return Err(curvature
            .error(
                name,
                "`curvature` changes the objective, and release `cost` is the objective",
            )
            .with_help("it is for release `generation`, which it makes unique"));
    }
    let bounded = spec
        .private
        .demands
        .as_ref()
        .is_some_and(|d| d.bounds.is_some());
    let sensitivity = &spec.privacy.sensitivity;
    match sensitivity.value {
        Sensitivity::Envelope { .. } | Sensitivity::Sampled { .. } if !bounded => Err(sensitivity
            .error(
                name,
                format!(
                    "sensitivity by `{}` needs public `bounds` on the demands",
                    sensitivity.value.by()
                ),
            )
            .with_help("in [private]: bounds = { relative = 0.3 }, or { within = 50.0 } in MW")),
        Sensitivity::Envelope { .. } if spec.query.release != Release::Cost => Err(sensitivity
            .error(name, "sensitivity by `envelope` is proven for the cost only")
            .with_help("declare a bound on the generation, or sample one")),
        Sensitivity::Radius | Sensitivity::StrongConvexity | Sensitivity::RegularisedErm => {
            Err(sensitivity
                .error(
                    name,
                    format!(
                        "sensitivity by `{}` makes no sense for demands, which stand in the right-hand side",
                        sensitivity.value.by()
                    ),
                )
                .with_help("`envelope` is proven for them"))
        }
        _ => Ok(()),
    }
}

/// Offsets, universe and records must fit the facets, as far as the spec alone tells.
fn check_offsets(spec: &Spec, ellipsoid: &Ellipsoid, name: &str) -> Result<(), ReadError> {
    let facets = match &ellipsoid.normals {
        NormalsSource::Rows(rows) => Some(rows.value.len()),
        NormalsSource::File(_) => None,
    };
    if let (Some(facets), Some(OffsetsSource::Numbers(offsets))) = (facets, &spec.private.offsets)
        && offsets.value.len() != facets
    {
        let found = counted(offsets.value.len(), "offset", "offsets");
        return Err(offsets.error(
            name,
            format!("{found} for {facets} facets: give one for each"),
        ));
    }
    check_universe_for(spec, facets, "facets", name)?;
    match spec.private.adjacency.value {
        Adjacency::OneRecord { record } if facets.is_some_and(|f| !f.is_multiple_of(record)) => {
            let message = format!("the facets cannot be split into records of {record}");
            Err(spec.private.adjacency.error(name, message))
        }
        _ => Ok(()),
    }
}

/// A record enters with all its numbers, in the coefficients of its own loss.
fn check_records(spec: &Spec, name: &str) -> Result<(), ReadError> {
    let adjacency = &spec.private.adjacency;
    if adjacency.value.alpha().is_some() {
        return Err(adjacency
            .error(name, "datasets of records differ in whole records")
            .with_help("adjacency = { kind = \"one-record\" }"));
    }
    if adjacency.value == Adjacency::Universe {
        return Err(adjacency
            .error(name, "adjacency `universe` is not part of model `svm`")
            .with_help("adjacency = { kind = \"one-record\" }"));
    }
    let sensitivity = &spec.privacy.sensitivity;
    match sensitivity.value {
        Sensitivity::Envelope { .. } | Sensitivity::Radius | Sensitivity::StrongConvexity => {
            Err(sensitivity
                .error(
                    name,
                    format!(
                        "sensitivity by `{}` makes no sense for records of a classifier",
                        sensitivity.value.by()
                    ),
                )
                .with_help("`erm` is proven for them"))
        }
        _ => Ok(()),
    }
}

fn check_parameters(spec: &Spec, name: &str) -> Result<(), ReadError> {
    let private = &spec.private;
    let count = private.parameters.len();
    if let Adjacency::OneRecord { record } = private.adjacency.value
        && !count.is_multiple_of(record)
    {
        return Err(private.adjacency.error(
            name,
            format!(
                "{} cannot be split into records of {record}",
                parameters(count)
            ),
        ));
    }
    // A shared entry is the sum of its parameters: the file's number cannot tell them apart.
    let mut users: HashMap<Place, usize> = HashMap::new();
    for entry in private.parameters.iter().flat_map(|p| &p.at) {
        *users.entry(entry.value.place).or_default() += 1;
    }
    for parameter in private.parameters.iter().filter(|p| p.value.is_none()) {
        if let Some(first) = parameter.at.first()
            && users
                .get(&first.value.place)
                .is_some_and(|&count| count > 1)
        {
            return Err(first
                .error(
                    name,
                    format!(
                        "parameter {} has no `value`, and shares {} with another parameter",
                        quoted(&parameter.name.value),
                        first.value.place
                    ),
                )
                .with_help("the file holds one number for both: give each a `value`"));
        }
    }
    Ok(())
}

fn parameters(count: usize) -> String {
    counted(count, "parameter", "parameters")
}

fn check_universe(spec: &Spec, name: &str) -> Result<(), ReadError> {
    let count = spec.private.parameters.len();
    check_universe_for(spec, Some(count), "parameters", name)
}

/// A universe must be there where it is needed, and have a number for each of so many private numbers.
fn check_universe_for(
    spec: &Spec,
    count: Option<usize>,
    of: &str,
    name: &str,
) -> Result<(), ReadError> {
    let private = &spec.private;
    let Some(universe) = &private.universe else {
        let sampled = matches!(spec.privacy.sensitivity.value, Sensitivity::Sampled { .. });
        if private.adjacency.value == Adjacency::Universe {
            return Err(private
                .adjacency
                .error(name, "adjacency `universe` needs [private.universe]"));
        } else if sampled {
            return Err(spec
                .privacy
                .sensitivity
                .error(name, "sensitivity by `sampled` needs [private.universe]"));
        }
        return Ok(());
    };
    let numbers = universe.value.center().len();
    match count {
        Some(count) if count != numbers => Err(universe.error(
            name,
            format!(
                "`center` has {}, but the spec has {}",
                counted(numbers, "number", "numbers"),
                counted(count, of.trim_end_matches('s'), of)
            ),
        )),
        _ => Ok(()),
    }
}

/// Every variable that the spec names must be one that it has.
fn check_variables(spec: &Spec, name: &str) -> Result<(), ReadError> {
    let blocks: HashMap<&str, &VariableBlock> = spec
        .problem
        .variables
        .iter()
        .map(|block| (block.name.value.as_str(), block))
        .collect();
    for variable in variables_of(spec) {
        let VariableRef { block, index } = &variable.value;
        let size = if blocks.is_empty() && block == UNNAMED {
            // All columns of the file: how many, the file knows.
            None
        } else if let Some(block) = blocks.get(block.as_str()) {
            Some(block.size)
        } else {
            return Err(no_variable(spec, variable, name));
        };
        if let (Some(index), Some(size)) = (index, size)
            && *index >= size
        {
            return Err(variable.error(
                name,
                format!(
                    "{} has indexes 0 to {}, found {index}",
                    quoted(block),
                    size - 1
                ),
            ));
        }
    }
    if let Release::AtMost { epigraph, .. } = &spec.query.release
        && epigraph.value.index.is_none()
        && let Some(block) = blocks.get(epigraph.value.block.as_str())
        && block.size != 1
    {
        return Err(epigraph.error(
            name,
            format!(
                "the epigraph must be one variable, but {} has {}",
                quoted(&block.name.value),
                block.size
            ),
        ));
    }
    Ok(())
}

/// The block of a spec that names none.
const UNNAMED: &str = "x";

fn no_variable(spec: &Spec, variable: &Located<VariableRef>, name: &str) -> ReadError {
    let block = &variable.value.block;
    let error = variable.error(name, format!("no variable {}", quoted(block)));
    if spec.problem.variables.is_empty() {
        return error.with_help(
            "without [[problem.variable]] there is one block, `x`, of all columns of the file",
        );
    }
    let names = spec.problem.variables.iter().map(|v| v.name.value.as_str());
    match nearest(block, names) {
        Some(word) => error.with_help(format!("did you mean `{word}`?")),
        None => error,
    }
}

fn variables_of(spec: &Spec) -> Vec<&Located<VariableRef>> {
    let mut variables = Vec::new();
    match &spec.query.release {
        Release::Cost | Release::Weights | Release::Generation { .. } => {}
        Release::Identity { variables: named } | Release::Sum { variables: named } => {
            variables.extend(named.iter().flatten());
        }
        Release::Weighted { weights } => variables.extend(weights.iter().map(|w| &w.variable)),
        Release::Rows { rows } => {
            variables.extend(rows.iter().flatten().map(|weight| &weight.variable));
        }
        Release::AtMost { epigraph, slope } => {
            variables.push(epigraph);
            variables.extend(slope.iter().map(|weight| &weight.variable));
        }
    }
    variables.extend(spec.risk.variances.iter().flat_map(|term| &term.variables));
    variables
}

/// T has as many rows as the answer has numbers.
fn check_shape(spec: &Spec, name: &str) -> Result<(), ReadError> {
    let Some(shape) = &spec.query.shape else {
        return Ok(());
    };
    // The curvature fits any answer.
    let Shape::Rows(rows) = &shape.value else {
        return Ok(());
    };
    match answer_size(spec) {
        Some(size) if size != rows.len() => Err(shape.error(
            name,
            format!(
                "`shape` is {rows}×{rows}, but the answer has {}",
                counted(size, "number", "numbers"),
                rows = rows.len()
            ),
        )),
        _ => Ok(()),
    }
}

/// How many numbers are released, if the spec alone tells.
fn answer_size(spec: &Spec) -> Option<usize> {
    let blocks = &spec.problem.variables;
    let sizes: HashMap<&str, usize> = blocks
        .iter()
        .map(|block| (block.name.value.as_str(), block.size))
        .collect();
    match &spec.query.release {
        Release::Cost | Release::Sum { .. } | Release::Weighted { .. } | Release::AtMost { .. } => {
            Some(1)
        }
        Release::Rows { rows } => Some(rows.len()),
        Release::Generation { groups } => Some(groups.value.len()),
        Release::Weights => match &spec.problem.model {
            Model::Svm(svm) => Some(svm.numbers()),
            _ => None,
        },
        Release::Identity { variables: None } if blocks.is_empty() => None,
        // Neither a witness nor an epigraph is part of it.
        Release::Identity { variables: None } => blocks
            .iter()
            .filter(|block| !matches!(block.stage, Stage::Witness | Stage::Epigraph))
            .try_fold(0_usize, |sum, b| sum.checked_add(b.size)),
        Release::Identity {
            variables: Some(variables),
        } => variables.iter().try_fold(0_usize, |sum, variable| {
            let VariableRef { block, index } = &variable.value;
            match index {
                Some(_) => sum.checked_add(1),
                None => sum.checked_add(*sizes.get(block.as_str())?),
            }
        }),
    }
}

fn check_sensitivity(spec: &Spec, name: &str) -> Result<(), ReadError> {
    let sensitivity = &spec.privacy.sensitivity;
    if let Sensitivity::DeclaredPerAlpha { .. } = sensitivity.value
        && spec.private.adjacency.value.alpha().is_none()
    {
        return Err(sensitivity
            .error(name, "`per_alpha` needs an adjacency with an alpha")
            .with_help("declare the sensitivity itself: value = 1.0"));
    }
    if sensitivity.value == Sensitivity::DeclaredLargestCost {
        check_largest_cost(spec, name)?;
    }
    check_private_places(spec, name)?;
    // The envelope looks for data within public bounds (M8a).
    let parameters = &spec.private.parameters;
    if let Sensitivity::Envelope { .. } = sensitivity.value
        && let Some(parameter) = parameters.iter().find(|p| p.bounds.is_none())
    {
        return Err(parameter
            .name
            .error(
                name,
                format!(
                    "sensitivity by `envelope` needs `bounds` on every parameter, and {} has none",
                    quoted(&parameter.name.value)
                ),
            )
            .with_help("the bounds must hold every admissible value, of either sign"));
    }
    Ok(())
}

/// The paper's bound is about linear costs.
fn check_largest_cost(spec: &Spec, name: &str) -> Result<(), ReadError> {
    let refuse = |message: &str| {
        let help = "declare a number and its reason: per_alpha = 40.0, reason = \"…\"";
        Err(spec
            .privacy
            .sensitivity
            .error(name, message)
            .with_help(help))
    };
    match &spec.problem.model {
        Model::Conic { .. } | Model::Svm(_) | Model::Regression(_) | Model::Ellipsoid(_) => {
            refuse(&format!(
                "`largest-cost` makes no sense with model `{}`",
                spec.problem.model.name()
            ))
        }
        Model::Opf(_) if spec.query.release != Release::Cost => {
            refuse("`largest-cost` is about the cost, not about generation")
        }
        Model::Opf(grid) if grid.costs == GridCosts::Full => {
            refuse("`largest-cost` is about linear costs, and `costs` is `full`")
        }
        // Under ℓ₂ the prices of all loads count together, and their norm exceeds the largest one.
        Model::Opf(_) if matches!(spec.private.adjacency.value, Adjacency::L2 { .. }) => refuse(
            "`largest-cost` bounds the price of one load, and adjacency `l2` moves all of them",
        ),
        Model::Opf(_) => Ok(()),
    }
}

/// A certificate is a theorem about one part of the problem: only that part may be private.
fn check_private_places(spec: &Spec, name: &str) -> Result<(), ReadError> {
    let sensitivity = &spec.privacy.sensitivity.value;
    let part = match sensitivity {
        Sensitivity::Envelope { .. } => "b",
        Sensitivity::Radius | Sensitivity::StrongConvexity => "q",
        _ => return Ok(()),
    };
    let covered = |place: Place| match place {
        Place::B { .. } => part == "b",
        Place::Q { .. } => part == "q",
        Place::A { .. } => false,
    };
    let mut entries = spec.private.parameters.iter().flat_map(|p| &p.at);
    match entries.find(|entry| !covered(entry.value.place)) {
        None => Ok(()),
        Some(entry) => Err(entry.error(
            name,
            format!(
                "sensitivity by `{}` is proven for private numbers in {part} only, found {}",
                sensitivity.by(),
                entry.value.place
            ),
        )),
    }
}

/// Methods and factors must be proven for the noise, and factors have rows to serve.
fn check_methods(spec: &Spec, name: &str) -> Result<(), ReadError> {
    let feasibility = &spec.feasibility;
    let blocks = &feasibility.blocks;
    let mechanism = spec.privacy.mechanism;
    let methods = blocks.iter().filter_map(|block| block.method.as_ref());
    for method in std::iter::once(&feasibility.method).chain(methods) {
        let (word, needed) = match (method.value, mechanism) {
            (Method::Ball, Mechanism::Laplace | Mechanism::TruncatedLaplace { .. }) => {
                ("ball", "gaussian")
            }
            (Method::Bounded, Mechanism::Laplace | Mechanism::Gaussian { .. }) => {
                ("bounded", "truncated-laplace")
            }
            _ => continue,
        };
        return Err(method.error(name, format!("method `{word}` needs mechanism `{needed}`")));
    }
    let factors = blocks.iter().filter_map(|block| block.factor.as_ref());
    for factor in std::iter::once(&feasibility.factor).chain(factors) {
        let gaussian = matches!(mechanism, Mechanism::Gaussian { .. });
        let (word, needed) = match factor.value {
            Factor::Gaussian if !gaussian => ("gaussian", "`gaussian`"),
            Factor::Chernoff if gaussian => ("chernoff", "`laplace` or `truncated-laplace`"),
            Factor::OneLaplace if gaussian => ("one-laplace", "`laplace` or `truncated-laplace`"),
            _ => continue,
        };
        return Err(factor.error(name, format!("factor `{word}` needs mechanism {needed}")));
    }
    let has_rows = |method: Method| matches!(method, Method::Auto | Method::RowByRow);
    for block in blocks {
        let method = block.method.as_ref().unwrap_or(&feasibility.method).value;
        if let Some(factor) = &block.factor
            && !has_rows(method)
        {
            return Err(factor.error(name, "`factor` needs method `row-by-row`"));
        }
    }
    let mut methods = blocks.iter().filter_map(|block| block.method.as_ref());
    if feasibility.factor.value != Factor::Best
        && !has_rows(feasibility.method.value)
        && !methods.any(|method| has_rows(method.value))
    {
        let factor = &feasibility.factor;
        return Err(factor.error(name, "`factor` needs method `row-by-row`"));
    }
    Ok(())
}

/// Blocks must exist, and their shares of η fit into it.
fn check_blocks(spec: &Spec, name: &str) -> Result<(), ReadError> {
    let constraints: HashMap<&str, &ConstraintBlock> = spec
        .problem
        .constraints
        .iter()
        .map(|block| (block.name.value.as_str(), block))
        .collect();
    let eta = spec.feasibility.eta;
    for block in &spec.feasibility.blocks {
        let constraint = constraints.get(block.name.value.as_str());
        if constraint.is_none() && !constraints.is_empty() {
            let shown = quoted(&block.name.value);
            let error = block.name.error(name, format!("no constraint {shown}"));
            let names = spec
                .problem
                .constraints
                .iter()
                .map(|c| c.name.value.as_str());
            return Err(match nearest(&block.name.value, names) {
                Some(word) => error.with_help(format!("did you mean `{word}`?")),
                None => error,
            });
        }
        let Some(share) = &block.eta else {
            continue;
        };
        let total: f64 = match &share.value {
            BlockEta::Whole(share) => *share,
            BlockEta::Rows(shares) => shares.iter().sum(),
        };
        // Shares that were computed as fractions of η may exceed it by a rounding.
        if let Some(eta) = eta
            && total > eta * (1.0 + 1e-9)
        {
            return Err(share.error(
                name,
                format!("the block's eta, {total:?}, exceeds that of [feasibility], {eta:?}"),
            ));
        }
        if let (BlockEta::Rows(shares), Some(constraint)) = (&share.value, constraint)
            && !constraint.rows.is_empty()
            && constraint.rows.len() != shares.len()
        {
            return Err(share.error(
                name,
                format!(
                    "`eta` has {}, but {} has {}",
                    counted(shares.len(), "number", "numbers"),
                    quoted(&block.name.value),
                    counted(constraint.rows.len(), "row", "rows")
                ),
            ));
        }
    }
    Ok(())
}
