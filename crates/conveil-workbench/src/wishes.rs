//! The spec's wishes as the engine's ask: query, adjacency, privacy, feasibility, risk. All of it public.

use conveil::ask::{self, Ask, Bound, Privacy, Query, Request, Sampled};
use conveil::chance::{self, BlockChoice, Choice};
use conveil::noise;
use conveil::program::{DataMap, Program};
use conveil::risk::{self, Cvar, CvarForm};
use conveil::solve::{Cancel, Settings};
use conveil_read::spec::{
    Adjacency, BlockEta, Calibration, Factor, Feasibility, FeasibilityBlock, Mechanism, Method,
    Objective, Private, Release, Risk, RiskForm, SampleSize, SampledMap, Sensitivity, Shape, Spec,
    Split, Strategy, Universe, VariableRef, VarianceControl, Weight,
};
use conveil_text::Located;

use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::model::Model;
use crate::{grid, regression};

/// What the spec asks of this model. Raising `cancel` stops the engine's work on it.
pub fn ask(inputs: &Inputs, model: &Model, cancel: &Cancel) -> Result<Ask, Failure> {
    let (name, spec, map) = (inputs.spec_name.as_str(), &inputs.spec, model.map());
    let engine = |error: conveil::Error| Failure::engine(name, &error);
    check_variables(name, spec, map)?;
    let settings = Settings::default()
        .with_tolerance(spec.solver.tolerance)
        .map_err(engine)?
        .with_cancel(cancel.clone());
    let mut ask = Ask::new(query_of(name, spec, model)?)
        .adjacency(match model {
            // A classifier knows how many numbers make a record.
            Model::Svm(svm) => svm.adjacency(),
            // A regression has one private number for each.
            Model::Regression(_) => match spec.private.adjacency.value {
                Adjacency::OneRecord { .. } => ask::Adjacency::OneRecord { len: 1 },
                other => adjacency(other),
            },
            _ => adjacency(spec.private.adjacency.value),
        })
        .privacy(privacy(spec))
        .sensitivity(sensitivity(name, spec, model)?)
        .strategy(strategy(spec))
        .feasibility(feasibility(name, &spec.feasibility, map.template())?)
        .risk(risk(&spec.risk))
        .settings(settings);
    if let Some(unit) = unit(spec) {
        ask = ask.unit(unit);
    }
    if let Some(universe) = universe(&spec.private) {
        ask = ask.within(universe.map_err(engine)?);
    }
    if let Some(shape) = &spec.query.shape {
        ask = match &shape.value {
            Shape::Rows(rows) => ask.shape(rows.clone()),
            Shape::Curvature => ask.shaped_by_curvature(),
            Shape::Isotropic => ask,
        };
    } else if regression::is_shaped_by_default(spec) {
        ask = ask.shaped_by_curvature();
    }
    if let Some(step) = spec.lattice.step {
        ask = ask.lattice(step);
    }
    if let Some(threads) = spec.solver.threads {
        ask = ask.threads(threads);
    }
    Ok(ask)
}

/// The unit of the private numbers: as stated, or as the model has it.
fn unit(spec: &Spec) -> Option<&str> {
    if let Some(unit) = &spec.private.unit {
        return Some(&unit.value);
    }
    match &spec.problem.model {
        conveil_read::spec::Model::Opf(_) => Some("MW"),
        conveil_read::spec::Model::Regression(regression) => {
            let own =
                |(column, _): &&(String, Located<String>)| *column == regression.response.value;
            let unit = regression.units.iter().find(own);
            unit.map(|(_, unit)| unit.value.as_str())
        }
        _ => None,
    }
}

/// Whether the spec asks for the paper's calibration: to the map without noise, where another one is released.
pub fn is_calibrated_as_in_the_paper(spec: &Spec) -> bool {
    let on_the_map_without_noise = matches!(
        spec.privacy.sensitivity.value,
        Sensitivity::Sampled {
            on: SampledMap::Deterministic,
            ..
        }
    );
    on_the_map_without_noise && spec.feasibility.strategy.value == Strategy::Program
}

/// The universe that the spec states, if any.
pub fn universe(private: &Private) -> Option<conveil::Result<ask::Universe>> {
    private
        .universe
        .as_ref()
        .map(|universe| match &universe.value {
            Universe::Box { center, half_width } => {
                ask::Universe::around(center.clone(), half_width.clone())
            }
            Universe::Discs {
                center,
                radius,
                dimension,
            } => ask::Universe::discs(center.clone(), radius.clone(), *dimension),
        })
}

/// The stated universe, where the claim is about it: under a sampled sensitivity outside paper mode, and under a declared
/// one with adjacency by universe.
pub fn claimed_universe(spec: &Spec) -> Option<ask::Universe> {
    let is_claimed = match spec.privacy.sensitivity.value {
        Sensitivity::Sampled { .. } => !is_calibrated_as_in_the_paper(spec),
        Sensitivity::Declared { .. }
        | Sensitivity::DeclaredPerAlpha { .. }
        | Sensitivity::DeclaredLargestCost => spec.private.adjacency.value == Adjacency::Universe,
        _ => false,
    };
    let stated = is_claimed.then(|| universe(&spec.private)).flatten();
    stated.and_then(Result::ok)
}

/// All datasets between the public bounds.
fn between_bounds(map: &dyn DataMap) -> conveil::Result<ask::Universe> {
    if map.parameters().iter().any(|p| p.bounds().is_none()) {
        return Err(conveil::Error::Input(
            "sensitivity by `sampled` needs [private.universe], or public bounds on all demands"
                .into(),
        ));
    }
    ask::Universe::between_bounds(map.parameters())
}

/// Complains about single variables where they stand; what they do together is for the plan.
fn check_variables(name: &str, spec: &Spec, map: &dyn DataMap) -> Result<(), Failure> {
    let exists = |variable: &Located<VariableRef>| {
        let found = map.template().find_variables(&variable.value.to_string());
        found.map_err(|e| Failure::located(name, variable, &e))
    };
    let may_be_released = |variable: &Located<VariableRef>| {
        ask::may_be_queried(map.template(), &variable.value.to_string(), strategy(spec))
            .map_err(|e| Failure::located(name, variable, &e))
    };
    match &spec.query.release {
        Release::Cost | Release::Weights | Release::Generation { .. } => {}
        // The one variable is the whole query.
        Release::Identity {
            variables: Some(list),
        } if list.len() == 1 => {
            let resolved = query(&spec.query.release).resolve(map, strategy(spec));
            resolved.map_err(|e| Failure::located(name, &list[0], &e))?;
        }
        Release::Identity { variables } | Release::Sum { variables } => {
            for variable in variables.iter().flatten() {
                may_be_released(variable)?;
            }
        }
        Release::Weighted { weights } => {
            for weight in weights {
                may_be_released(&weight.variable)?;
            }
        }
        Release::Rows { rows } => {
            for weight in rows.iter().flatten() {
                may_be_released(&weight.variable)?;
            }
        }
        Release::AtMost { epigraph, slope } => {
            exists(epigraph)?;
            for weight in slope {
                exists(&weight.variable)?;
            }
        }
    }
    for variable in spec.risk.variances.iter().flat_map(|term| &term.variables) {
        exists(variable)?;
    }
    Ok(())
}

/// A power flow has queries of its own, and so has a regression: its weights.
fn query_of(name: &str, spec: &Spec, model: &Model) -> Result<Query, Failure> {
    Ok(match (&spec.query.release, model) {
        (Release::Cost, Model::Opf(opf)) => grid::cost(name, spec, opf, strategy(spec))?,
        (Release::Generation { groups }, Model::Opf(opf)) => grid::generation(name, opf, groups)?,
        (release, Model::Regression(model)) => {
            regression::query(spec, model).unwrap_or_else(|| query(release))
        }
        (Release::Weights, Model::Svm(svm)) => svm.query(),
        (Release::Identity { variables: None }, Model::Ellipsoid(model)) => model.query(),
        (release, _) => query(release),
    })
}

fn query(release: &Release) -> Query {
    match release {
        // Groups of units are for a power flow, weights for a classifier; the reader has seen to that.
        Release::Cost | Release::Weights | Release::Generation { .. } => Query::Cost,
        Release::Identity { variables: None } => Query::Identity,
        Release::Identity {
            variables: Some(list),
        } => Query::Variables(names(list)),
        Release::Sum { variables } => Query::Sum(names(variables.as_deref().unwrap_or(&[]))),
        Release::Weighted { weights } => Query::Weighted(weighted(weights)),
        Release::Rows { rows } => Query::Rows(rows.iter().map(|row| weighted(row)).collect()),
        Release::AtMost { epigraph, slope } => Query::AtMost {
            epigraph: epigraph.value.to_string(),
            slope: weighted(slope),
        },
    }
}

fn names(variables: &[Located<VariableRef>]) -> Vec<String> {
    variables.iter().map(|v| v.value.to_string()).collect()
}

fn weighted(weights: &[Weight]) -> Vec<(String, f64)> {
    weights
        .iter()
        .map(|w| (w.variable.value.to_string(), w.weight))
        .collect()
}

/// The adjacency that the spec states.
pub fn adjacency(adjacency: Adjacency) -> ask::Adjacency {
    match adjacency {
        Adjacency::OneEntry { alpha } => ask::Adjacency::OneEntry { alpha },
        Adjacency::L1 { alpha } => ask::Adjacency::L1 { alpha },
        Adjacency::L2 { alpha } => ask::Adjacency::L2 { alpha },
        Adjacency::OneRecord { record } => ask::Adjacency::OneRecord { len: record },
        Adjacency::Universe => ask::Adjacency::Universe,
    }
}

fn strategy(spec: &Spec) -> ask::Strategy {
    match spec.feasibility.strategy.value {
        Strategy::Program => ask::Strategy::Program,
        Strategy::Output => ask::Strategy::Output,
        Strategy::Projected => ask::Strategy::Projected,
    }
}

fn privacy(spec: &Spec) -> Privacy {
    let epsilon = spec.privacy.epsilon;
    match spec.privacy.mechanism {
        Mechanism::Laplace => Privacy::Laplace { epsilon },
        Mechanism::Gaussian { delta, calibration } => Privacy::Gaussian {
            epsilon,
            delta,
            calibration: match calibration {
                Calibration::Analytic => ask::Calibration::Analytic,
                Calibration::Classic => ask::Calibration::Classic,
            },
        },
        Mechanism::TruncatedLaplace { delta } => Privacy::TruncatedLaplace { epsilon, delta },
    }
}

fn sensitivity(name: &str, spec: &Spec, model: &Model) -> Result<Request, Failure> {
    let stated = &spec.privacy.sensitivity;
    let engine = |error: conveil::Error| Failure::engine(name, &error);
    Ok(match &spec.privacy.sensitivity.value {
        Sensitivity::Declared { value, reason } => Request::Declared {
            bound: Bound::Total(*value),
            reason: reason.clone(),
        },
        Sensitivity::DeclaredPerAlpha { per_alpha, reason } => Request::Declared {
            bound: Bound::PerAlpha(*per_alpha),
            reason: reason.clone(),
        },
        Sensitivity::DeclaredLargestCost => {
            let Some(opf) = model.opf() else {
                let message = "`largest-cost` needs model `opf`";
                return Err(stated.error(name, message).into());
            };
            grid::largest_cost(name, stated, opf)?
        }
        Sensitivity::Sampled {
            gamma,
            beta,
            seed,
            size,
            on,
        } => Request::Sampled(Sampled {
            universe: match universe(&spec.private) {
                Some(universe) => universe.map_err(engine)?,
                None => between_bounds(model.map()).map_err(engine)?,
            },
            gamma: *gamma,
            beta: *beta,
            seed: *seed,
            size: sample_size(*size),
            on: match on {
                SampledMap::Released => ask::MapKind::Released,
                SampledMap::Deterministic => ask::MapKind::Deterministic,
            },
        }),
        Sensitivity::Envelope { price } => Request::envelope(*price),
        Sensitivity::Radius => Request::radius(),
        Sensitivity::StrongConvexity => Request::strong_convexity(),
        Sensitivity::RegularisedErm => Request::regularised_erm(),
    })
}

fn sample_size(size: SampleSize) -> ask::SampleSize {
    match size {
        SampleSize::Exact => ask::SampleSize::Exact,
        SampleSize::Paper => ask::SampleSize::Paper,
    }
}

fn feasibility(
    name: &str,
    wish: &Feasibility,
    program: &Program,
) -> Result<chance::Feasibility, Failure> {
    let split = match wish.split {
        Split::Symmetric => chance::Split::Symmetric,
        Split::Optimise => chance::Split::Optimise,
        Split::LowerShare(share) => chance::Split::LowerShare(share),
    };
    let promise = match (wish.eta, wish.each) {
        // Noise on the answer promises nothing.
        (None, _) => chance::Feasibility::default(),
        (Some(eta), true) => chance::Feasibility::each(eta),
        (Some(eta), false) => chance::Feasibility::eta(eta),
    };
    let mut feasibility = promise
        .method(choice(wish.method.value, wish.factor.value))
        .split(split)
        .sampling(sample_size(wish.size), wish.beta, wish.seed);
    for block in &wish.blocks {
        feasibility = feasibility.block(block_choice(name, wish, block, program)?);
    }
    Ok(feasibility)
}

fn block_choice(
    name: &str,
    wish: &Feasibility,
    block: &FeasibilityBlock,
    program: &Program,
) -> Result<BlockChoice, Failure> {
    let found = program
        .constraints()
        .iter()
        .find(|c| c.name() == block.name.value);
    let Some(constraint) = found else {
        let known: Vec<String> = program
            .constraints()
            .iter()
            .take(8)
            .map(|c| format!("`{}`", c.name()))
            .collect();
        return Err(Failure::from(
            block
                .name
                .error(name, format!("no constraint `{}`", block.name.value))
                .with_help(format!("there are: {}", known.join(", "))),
        ));
    };
    let rows = constraint.cone().dim();
    let eta = match &block.eta {
        None => None,
        Some(share) => Some(match &share.value {
            BlockEta::Whole(eta) => chance::BlockEta::Whole(*eta),
            BlockEta::Rows(etas) if etas.len() != rows => {
                return Err(Failure::from(share.error(
                    name,
                    format!(
                        "`eta` has {} numbers, but `{}` has {rows} rows",
                        etas.len(),
                        block.name.value
                    ),
                )));
            }
            BlockEta::Rows(etas) => chance::BlockEta::Rows(etas.clone()),
        }),
    };
    let states_method = block.method.is_some() || block.factor.is_some();
    let method = block.method.as_ref().unwrap_or(&wish.method).value;
    let factor = block.factor.as_ref().unwrap_or(&wish.factor).value;
    Ok(BlockChoice {
        block: block.name.value.clone(),
        method: states_method.then(|| choice(method, factor)),
        weight: block.weight,
        eta,
    })
}

fn choice(method: Method, factor: Factor) -> Choice {
    let factor = match factor {
        Factor::Best => None,
        Factor::Gaussian => Some(noise::Factor::Gaussian),
        Factor::Cantelli => Some(noise::Factor::Cantelli),
        Factor::Gauss => Some(noise::Factor::Gauss),
        Factor::Chernoff => Some(noise::Factor::Chernoff),
        Factor::OneLaplace => Some(noise::Factor::OneLaplace),
    };
    match method {
        Method::Auto => Choice::AUTO.with(factor),
        Method::MassBox => Choice::MASS_BOX,
        Method::SafeBox => Choice::SAFE_BOX,
        Method::SampledBox => Choice::SAMPLED_BOX,
        Method::Scenario => Choice::SCENARIO,
        Method::RowByRow => Choice::ROW_BY_ROW.with(factor),
        Method::NoiseAwareHinge => Choice::NOISE_AWARE_HINGE,
        Method::FixedRecourse => Choice::FIXED_RECOURSE,
        Method::Ball => Choice::BALL,
        Method::Bounded => Choice::BOUNDED,
    }
}

fn risk(wish: &Risk) -> risk::Risk {
    let cvar = |tail: f64| Cvar {
        tail,
        form: match wish.form {
            RiskForm::Exact => CvarForm::Exact,
            RiskForm::Sampled { samples, seed } => CvarForm::Sampled { samples, seed },
        },
    };
    let mut risk = match wish.objective {
        Objective::Expectation => risk::Risk::expectation(),
        Objective::Cvar { tail } => risk::Risk::cvar(cvar(tail)),
        Objective::Mix { tail, weight } => risk::Risk::mix(weight, cvar(tail)),
    };
    if let Some(limit) = &wish.limit {
        risk = risk.with_cvar_at_most(cvar(limit.tail), limit.at_most);
    }
    for term in &wish.variances {
        risk = risk.with_variance(risk::VarianceTerm {
            variables: names(&term.variables),
            limit: match term.control {
                VarianceControl::Weight(weight) => risk::VarianceLimit::Weight(weight),
                VarianceControl::AtMost(bound) => risk::VarianceLimit::AtMost(bound),
            },
        });
    }
    risk
}
