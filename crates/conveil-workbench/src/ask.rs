//! What a spec asks of its model, as the engine takes it. All of it public.

use conveil::ask::{
    Adjacency, Ask, MapKind, NoiseShape, Query, Request, Sampled, Strategy, Universe,
};
use conveil::chance::{BlockChoice, BlockEta, Feasibility};
use conveil::plan::Choice;
use conveil::program::{DataMap, Program};
use conveil::solve::{Cancel, Settings};
use conveil_models::model::Model;
use conveil_models::spec::{Block, Sensitivity, Spec, StrategyChoice, VariableRef};
use conveil_text::Located;

use crate::failure::Failure;
use crate::tuning::refuse_grid;

/// What the spec asks of this model. Raising `cancel` stops the engine's work on it. Refuses a spec whose λ is chosen
/// privately: its ε is for several maps and a choice among them.
pub fn ask_from_spec(spec: &Spec, model: &dyn Model, cancel: &Cancel) -> Result<Ask, Failure> {
    refuse_grid(model.candidates(), &spec.name, "this")?;
    ask_of(spec, model, cancel)
}

/// The same, also of one map of a grid.
pub(crate) fn ask_of(spec: &Spec, model: &dyn Model, cancel: &Cancel) -> Result<Ask, Failure> {
    let map = model.map();
    let engine = |error: conveil::Error| Failure::engine(&spec.name, &error);
    check_variables(spec, map)?;
    let settings = Settings::default()
        .with_tolerance(spec.solver.tolerance)
        .map_err(engine)?
        .with_cancel(cancel.clone());
    let mut ask = Ask::new(model.query(spec)?)
        .adjacency(spec.private.adjacency.value)
        .privacy(spec.privacy.mechanism)
        .sensitivity(sensitivity(spec, model)?)
        .strategy(spec.feasibility.strategy.value)
        .feasibility(feasibility(spec, map.template())?)
        .risk(spec.risk.risk.clone())
        .settings(settings);
    if let StrategyChoice::ByRule { why } = &spec.feasibility.choice {
        ask = ask.chosen_because(why);
    }
    let unit = spec.private.unit.as_ref().map(|unit| unit.value.as_str());
    if let Some(unit) = unit.or(model.unit()) {
        ask = ask.unit(unit);
    }
    if let Some(protects) = &spec.private.protects {
        ask = ask.protecting(&protects.value.text());
    }
    if let Some(universe) = &spec.private.universe {
        ask = ask.within(universe.value.clone());
    }
    let shape = spec.query.shape.as_ref().map(|shape| shape.value.clone());
    ask = shaped(ask, shape.unwrap_or_else(|| model.shape(spec)));
    if let Some(step) = spec.lattice.step {
        ask = ask.lattice(step);
    }
    if let Some(threads) = spec.solver.threads {
        ask = ask.threads(threads);
    }
    Ok(ask)
}

fn shaped(ask: Ask, shape: NoiseShape) -> Ask {
    match shape {
        NoiseShape::Rows(rows) => ask.shape(rows),
        NoiseShape::Curvature => ask.shaped_by_curvature(),
        NoiseShape::Identity => ask,
    }
}

/// The strategy of a spec that leaves the choice to the rule: the model's own, or the engine's on public structure. Raising
/// `cancel` stops the engine's work on it.
pub(crate) fn choose_strategy(
    spec: &mut Spec,
    model: &dyn Model,
    cancel: &Cancel,
) -> Result<(), Failure> {
    if spec.feasibility.choice != StrategyChoice::Open {
        return Ok(());
    }
    let carry_out = (spec.feasibility.carry_out.as_ref()).is_some_and(|stated| stated.value);
    let Choice { strategy, why } = match model.strategy(spec) {
        Some(choice) if !carry_out => choice,
        _ => {
            let ask = Ask::new(model.query(spec)?).sensitivity(sensitivity(spec, model)?);
            let ask = match &spec.query.shape {
                Some(shape) => shaped(ask, shape.value.clone()),
                None => ask,
            };
            let ask = ask.settings(Settings::default().with_cancel(cancel.clone()));
            Choice::by_rule(model.map(), &ask, carry_out)
                .map_err(|error| Failure::engine(&spec.name, &error))?
        }
    };
    let feasibility = &mut spec.feasibility;
    if strategy == Strategy::Program && feasibility.eta.is_none() {
        let message =
            format!("strategy `auto` takes program perturbation here, which needs `eta`: {why}");
        let error = feasibility.strategy.error(&spec.name, message);
        let help = format!("in [feasibility]: {}", spec.model.kind().eta);
        return Err(error.with_help(help).into());
    }
    feasibility.strategy.value = strategy;
    feasibility.choice = StrategyChoice::ByRule { why };
    Ok(())
}

/// Whether the spec asks for the paper's calibration: to the map without noise, where another one is released.
pub(crate) fn is_calibrated_as_in_the_paper(spec: &Spec) -> bool {
    let on_the_map_without_noise = matches!(
        spec.privacy.sensitivity.value,
        Sensitivity::Sampled {
            on: MapKind::Deterministic,
            ..
        }
    );
    on_the_map_without_noise && spec.feasibility.strategy.value == Strategy::Program
}

/// The stated universe, where the claim is about it: under a sampled sensitivity outside paper mode, and under a declared
/// one with adjacency by universe.
pub(crate) fn claimed_universe(spec: &Spec) -> Option<&Universe> {
    let sensitivity = &spec.privacy.sensitivity.value;
    let is_claimed = match spec.private.adjacency.value {
        _ if sensitivity.is_sampled() => !is_calibrated_as_in_the_paper(spec),
        Adjacency::Universe => sensitivity.is_declared(),
        _ => false,
    };
    let stated = spec.private.universe.as_ref().filter(|_| is_claimed);
    stated.map(|universe| &universe.value)
}

/// All datasets between the public bounds.
fn between_bounds(map: &dyn DataMap) -> conveil::Result<Universe> {
    if map.parameters().iter().any(|p| p.bounds().is_none()) {
        return Err(conveil::Error::Input(
            "sensitivity by `sampled` needs [private.universe], or public bounds on all demands"
                .into(),
        ));
    }
    Universe::between_bounds(map.parameters())
}

/// Complains about single variables where they stand; what they do together is for the plan.
fn check_variables(spec: &Spec, map: &dyn DataMap) -> Result<(), Failure> {
    let (program, strategy) = (map.template(), spec.feasibility.strategy.value);
    let placed = |variable: &Located<VariableRef>, e| Failure::located(&spec.name, variable, &e);
    let exists = |variable: &Located<VariableRef>| {
        let found = program.find_variables(&variable.value.to_string());
        found.map(|_| ()).map_err(|e| placed(variable, e))
    };
    let named = &spec.query.variables;
    match (&spec.query.query, named.as_slice()) {
        (Some(Query::AtMost { .. }), _) => named.iter().try_for_each(exists)?,
        // The one variable is the whole query.
        (Some(query @ Query::Variables(_)), [only]) => {
            let resolved = query.resolve(map, strategy);
            resolved.map_err(|e| placed(only, e))?;
        }
        _ => {
            for variable in named {
                let name = variable.value.to_string();
                conveil::ask::may_be_queried(program, &name, strategy)
                    .map_err(|e| placed(variable, e))?;
            }
        }
    }
    spec.risk.variables.iter().try_for_each(exists)
}

fn sensitivity(spec: &Spec, model: &dyn Model) -> Result<Request, Failure> {
    Ok(match &spec.privacy.sensitivity.value {
        Sensitivity::By(request) => request.clone(),
        Sensitivity::PerAlpha(word) => model.per_alpha(spec, word)?,
        Sensitivity::Sampled {
            gamma,
            beta,
            seed,
            size,
            on,
        } => Request::Sampled(Sampled {
            universe: match &spec.private.universe {
                Some(universe) => universe.value.clone(),
                None => between_bounds(model.map()).map_err(|e| Failure::engine(&spec.name, &e))?,
            },
            gamma: *gamma,
            beta: *beta,
            seed: *seed,
            size: *size,
            on: *on,
        }),
    })
}

fn feasibility(spec: &Spec, program: &Program) -> Result<Feasibility, Failure> {
    let blocks = spec.feasibility.blocks.iter();
    let mut promise = spec.feasibility.promise.clone();
    for block in blocks {
        promise = promise.block(block_choice(&spec.name, block, program)?);
    }
    Ok(promise)
}

/// A block's choice, if the program has the block and as many rows as shares.
fn block_choice(name: &str, block: &Block, program: &Program) -> Result<BlockChoice, Failure> {
    let mut constraints = program.constraints().iter();
    let Some(constraint) = constraints.find(|c| c.name() == block.name.value) else {
        let known = program.constraints().iter().take(8);
        let known: Vec<String> = known.map(|c| format!("`{}`", c.name())).collect();
        let message = format!("no constraint `{}`", block.name.value);
        let error = block.name.error(name, message);
        let help = format!("there are: {}", known.join(", "));
        return Err(error.with_help(help).into());
    };
    let rows = constraint.cone().dim();
    if let (Some(place), Some(BlockEta::Rows(etas))) = (&block.eta, &block.choice.eta)
        && etas.len() != rows
    {
        let message = format!(
            "`eta` has {} numbers, but `{}` has {rows} rows",
            etas.len(),
            block.name.value
        );
        return Err(place.error(name, message).into());
    }
    Ok(block.choice.clone())
}
