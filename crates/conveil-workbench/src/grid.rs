//! Model `opf`: the spec's network as a power flow, its demands as datasets, and what its curator should know.

use std::collections::HashSet;
use std::fmt;

use conveil::ask::{Bound, Query, Request, Strategy};
use conveil::plan::Decided;
use conveil::program::DataMap;
use conveil_grid::{Network, Susceptance, bounds, demand};
use conveil_models::grid::{Costs, Form, LoadBounds, Loads, Opf, OpfBuilder};
use conveil_read::spec::{
    DemandBounds, Demands, Grid, GridCosts, GridForm, GridSusceptance, Model, PrivateLoads,
    Release, Sensitivity, Spec, UnitGroup,
};
use conveil_text::Located;

use crate::failure::Failure;
use crate::inputs::{Inputs, text_of};

/// Longer files of demands or bounds are refused.
const TABLE_BYTES: u64 = 1 << 30;

/// The power flow. Everything about the network is public, its own demands included: they are the nominal ones.
pub(crate) fn opf(inputs: &Inputs, network: &Network) -> Result<Opf, Failure> {
    let (Model::Opf(grid), Some(demands)) =
        (&inputs.spec.problem.model, &inputs.spec.private.demands)
    else {
        return Err(Failure::input(format!(
            "{}: a network needs model `opf`",
            inputs.spec_name
        )));
    };
    let loads = loads(inputs, network, demands)?;
    let Grid {
        form,
        susceptance,
        angle_limits,
        costs,
        curvature,
        ..
    } = grid;
    let model = Opf::of(network.clone())
        .form(match form {
            GridForm::Angles => Form::Angles,
            GridForm::Ptdf => Form::Ptdf,
        })
        .susceptance(match susceptance {
            GridSusceptance::Standard => Susceptance::Standard,
            GridSusceptance::Full => Susceptance::Full,
        })
        .angle_limits(*angle_limits)
        .costs(match costs {
            GridCosts::Linear => Costs::Linear,
            GridCosts::Full => Costs::Full,
        })
        .curvature(curvature.as_ref().map_or(0.0, |kappa| kappa.value))
        .loads(loads);
    let built = |model: OpfBuilder| {
        model
            .build()
            .map_err(|e| Failure::engine(&inputs.spec_name, &e))
    };
    built(match &demands.bounds {
        None => model,
        Some(DemandBounds::Relative(share)) => model.bounds(LoadBounds::Relative(*share)),
        Some(DemandBounds::Within(mw)) => model.bounds(LoadBounds::Within(*mw)),
        Some(DemandBounds::Each(file)) => {
            // Which loads are private, and in which order, the model knows.
            let private = built(model.clone())?.private_buses().to_vec();
            let (name, text) = table(inputs, file, "bounds", "each")?;
            let each = bounds::read(&name, &text, network, &private)?;
            model.bounds(LoadBounds::Each(each))
        }
    })
}

/// A table that the spec names: its name in messages, and its text.
fn table(
    inputs: &Inputs,
    file: &Located<String>,
    what: &str,
    key: &str,
) -> Result<(String, String), Failure> {
    let path = inputs.folder.join(file.value.as_str());
    let name = path.display().to_string();
    let text = text_of(&path, TABLE_BYTES).map_err(|why| {
        file.error(
            &inputs.spec_name,
            format!("cannot read the {what} {name}: {why}"),
        )
        .with_help(format!(
            "`{key}` is a path relative to the spec's directory"
        ))
    })?;
    Ok((name, text))
}

fn loads(inputs: &Inputs, network: &Network, demands: &Demands) -> Result<Loads, Failure> {
    Ok(match &demands.loads {
        PrivateLoads::WithDemand => Loads::WithDemand,
        PrivateLoads::All => Loads::All,
        PrivateLoads::Only(numbers) => {
            for number in numbers {
                let (name, bus) = (network.name(), number.value);
                if network.bus_index(bus).is_none() {
                    let message = match network.omitted().buses.contains(&bus) {
                        true => format!("bus {bus} of the network {name} is isolated"),
                        false => format!("the network {name} has no bus {bus}"),
                    };
                    return Err(number.error(&inputs.spec_name, message).into());
                }
            }
            Loads::Only(numbers.iter().map(|number| number.value).collect())
        }
    })
}

/// The private demands of each row of the demand file, and what it leaves out; without a file, those of the network.
pub(crate) fn datasets(
    inputs: &Inputs,
    opf: &Opf,
) -> Result<(Vec<Vec<f64>>, Option<String>), Failure> {
    let file = inputs.spec.private.demands.as_ref();
    let Some(file) = file.and_then(|demands| demands.file.as_ref()) else {
        return Ok((vec![opf.nominal()], None));
    };
    let (name, text) = table(inputs, file, "demands", "demand")?;
    let demand = demand::read(&name, &text, opf.network())?;
    let odd = demand.listed().iter();
    if let Some(&bus) = odd.clone().find(|bus| !opf.private_buses().contains(bus)) {
        let number = opf.network().buses()[bus].number;
        return Err(Failure::input(format!(
            "{name}: bus {number} is listed, but its load is not private\n  help: `loads` in [private] says which are: \"all\", or a list with {number} in it"
        )));
    }
    let rows = demand.datasets_mw().iter();
    let rows = rows
        .map(|row| opf.dataset(row))
        .collect::<conveil::Result<_>>()
        .map_err(|e| Failure::engine(&name, &e))?;
    Ok((rows, unlisted(&name, demand.listed(), opf)))
}

/// Which private loads a demand file leaves at the public demand.
fn unlisted(name: &str, listed: &[usize], opf: &Opf) -> Option<String> {
    let listed: HashSet<usize> = listed.iter().copied().collect();
    let private = opf.private_buses();
    let mut left = private.iter().filter(|bus| !listed.contains(bus));
    let first = opf.network().buses()[*left.next()?].number;
    let loads = match left.count() {
        0 => format!(
            "one of {} private loads, that of bus {first},",
            private.len()
        ),
        more => format!(
            "{} of {} private loads, first that of bus {first},",
            more + 1,
            private.len()
        ),
    };
    Some(format!(
        "{name} does not list {loads} and the network's public demand stands in"
    ))
}

/// What a reader of the spec should know: public.
pub fn notes(inputs: &Inputs, model: &crate::model::Model) -> Vec<String> {
    let mut notes = Vec::new();
    let (Some(opf), Model::Opf(grid)) = (model.opf(), &inputs.spec.problem.model) else {
        return notes;
    };
    if lacks_demands(inputs) {
        notes.push(
            "no `demand` file is named: the network's own demands, which are public, stand in for private ones".into(),
        );
    }
    let isolated = &opf.network().omitted().buses;
    if let Some(first) = isolated.first() {
        notes.push(match isolated.len() {
            1 => format!("bus {first} is isolated and left out of the network"),
            count => {
                format!("{count} isolated buses are left out of the network, first bus {first}")
            }
        });
    }
    let is_generation = matches!(inputs.spec.query.release, Release::Generation { .. });
    if is_generation && grid.curvature.is_none() {
        notes.push(
            "`curvature` in [problem] adds a small strongly convex term, with which the generation is unique".into(),
        );
    }
    notes
}

fn lacks_demands(inputs: &Inputs) -> bool {
    let demands = inputs.spec.private.demands.as_ref();
    demands.is_some_and(|demands| demands.file.is_none())
}

/// A release is about private data: the demands of a public network are none.
pub fn refuse_public_demands(inputs: &Inputs) -> Result<(), Failure> {
    if !lacks_demands(inputs) {
        return Ok(());
    }
    Err(Failure::input(format!(
        "{}: no `demand` file is named, and the network's own demands are public: there is nothing private to release\n  help: in [private]: demand = \"loads.csv\"; `--not-private` runs with the network's own demands",
        inputs.spec_name
    )))
}

/// The query of the cost; complaints stand where `release` does.
pub(crate) fn cost(
    spec_name: &str,
    spec: &Spec,
    opf: &Opf,
    strategy: Strategy,
) -> Result<Query, Failure> {
    let query = opf.cost_query();
    match query.resolve(opf, strategy) {
        Ok(_) => Ok(query),
        Err(error) => Err(Failure::located(spec_name, &spec.query.place, &error)),
    }
}

/// The query of groups of units; complaints stand where the unit does.
pub(crate) fn generation(
    spec_name: &str,
    opf: &Opf,
    groups: &Located<Vec<UnitGroup>>,
) -> Result<Query, Failure> {
    for unit in groups.value.iter().flat_map(|group| &group.units) {
        // Alone, a unit can only be unknown, or the only one.
        if let Err(error @ conveil::Error::Input(_)) =
            opf.generation_query(&[vec![unit.value.clone()]])
        {
            return Err(Failure::located(spec_name, unit, &error));
        }
    }
    let units = |group: &UnitGroup| group.units.iter().map(|u| u.value.clone()).collect();
    let query = if groups.value.iter().all(|group| group.name.is_none()) {
        opf.generation_query(&groups.value.iter().map(units).collect::<Vec<_>>())
    } else {
        let named = groups.value.iter();
        let named = named.map(|group| (group.name.clone().unwrap_or_default(), units(group)));
        opf.named_generation_query(&named.collect::<Vec<_>>())
    };
    query.map_err(|e| Failure::located(spec_name, groups, &e))
}

/// The paper's declared bound; complaints stand where it does.
pub(crate) fn largest_cost<T>(
    spec_name: &str,
    place: &Located<T>,
    opf: &Opf,
) -> Result<Request, Failure> {
    let largest = opf.largest_cost();
    if largest > 0.0 {
        return Ok(Request::Declared {
            bound: Bound::PerAlpha(largest),
            reason: format!(
                "the paper's α·c_max: no load's price exceeds the largest linear cost coefficient, {largest}"
            ),
        });
    }
    let message = format!(
        "the largest linear cost coefficient of {} is {largest}, and a sensitivity must be positive",
        opf.network().name()
    );
    Err(place
        .error(spec_name, message)
        .with_help("declare a number and its reason: per_alpha = 40.0, reason = \"…\"")
        .into())
}

/// Rounding of a price.
const PRICE_SLIP: f64 = 1e-6;

/// A price at these data that breaks a bound declared for the cost, if there is one. Private.
pub(crate) fn broken_bound(inputs: &Inputs, opf: &Opf, decided: &Decided) -> Option<String> {
    let is_cost = inputs.spec.query.release == Release::Cost;
    let (bound, whose, declared) = match &inputs.spec.privacy.sensitivity.value {
        Sensitivity::DeclaredLargestCost => (
            opf.largest_cost(),
            "the largest cost coefficient",
            "α·c_max",
        ),
        Sensitivity::DeclaredPerAlpha { per_alpha, .. } if is_cost => {
            (*per_alpha, "the declared `per_alpha`", "bound")
        }
        _ => return None,
    };
    let prices = opf.load_prices(decided).into_iter();
    let (name, price) = prices.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    (price.abs() > bound.abs() * (1.0 + PRICE_SLIP)).then(|| {
        format!(
            "the price of one more MWh at `{name}` is {price:.4}, beyond {whose} {bound}: adjacent demands can move the cost by more than the declared {declared}, and the privacy claim fails around these data; a sensitivity by `envelope` holds for all data"
        )
    })
}

/// How the demands compare with what the units can generate, where nothing is feasible. Private.
pub(crate) fn shortage(
    model: &crate::model::Model,
    theta: &[f64],
    error: &conveil::Error,
) -> Option<String> {
    let (Some(opf), conveil::Error::Infeasible(_)) = (model.opf(), error) else {
        return None;
    };
    let network = opf.network();
    let mut demand: Vec<f64> = network.buses().iter().map(|b| b.demand_mw).collect();
    let private = opf.private_buses().iter().zip(opf.parameters());
    for ((&bus, parameter), &value) in private.zip(theta) {
        demand[bus] = match parameter.bounds() {
            Some((low, high)) => value.clamp(low, high),
            None => value,
        };
    }
    let parts: Vec<Balance> = network
        .islands()
        .iter()
        .map(|island| Balance::of(network, &island.buses, &demand))
        .collect();
    let short = parts.iter().position(|part| !part.is_covered());
    Some(match (short, parts.len()) {
        (Some(_), 1) => parts[0].to_string(),
        (Some(k), _) => format!(
            "in the island of bus {}, {}",
            network.buses()[network.islands()[k].buses[0]].number,
            parts[k]
        ),
        (None, _) => {
            let all: Vec<usize> = (0..demand.len()).collect();
            let all = Balance::of(network, &all, &demand);
            format!("{all}: the limits of lines or angles are in the way")
        }
    })
}

/// What is drawn from some buses, and what their units can generate, in MW.
struct Balance {
    drawn: f64,
    least: f64,
    most: f64,
}

impl Balance {
    fn of(network: &Network, buses: &[usize], demand: &[f64]) -> Self {
        let drawn = |&bus: &usize| demand[bus] + network.buses()[bus].shunt_mw;
        let units = network.units().iter();
        let units = units.filter(|unit| buses.binary_search(&unit.bus).is_ok());
        Balance {
            drawn: buses.iter().map(drawn).sum(),
            least: units.clone().map(|unit| unit.pmin_mw).sum(),
            most: units.map(|unit| unit.pmax_mw).sum(),
        }
    }

    fn is_covered(&self) -> bool {
        (self.least..=self.most).contains(&self.drawn)
    }
}

impl fmt::Display for Balance {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "the demands add up to {:.1} MW, shunts included, and the units in service generate {:.1} to {:.1} MW",
            self.drawn, self.least, self.most
        )
    }
}
