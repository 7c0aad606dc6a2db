//! Model `opf`: the spec's network as a power flow, its demands as datasets, and what its curator should know.

use std::fmt;

use conveil::ask::Query;
use conveil::plan::{CuratorReport, Decided};
use conveil_grid::{Network, Susceptance, demand};
use conveil_models::grid::{Costs, Form, LoadBounds, Loads, Opf};
use conveil_read::Located;
use conveil_read::spec::{
    DemandBounds, Demands, Grid, GridCosts, GridForm, GridSusceptance, Model, PrivateLoads,
    Release, Sensitivity, UnitGroup,
};
use serde::Serialize;

use crate::failure::Failure;
use crate::inputs::{Inputs, text_of};

/// Longer demand files are refused.
const DEMAND_BYTES: u64 = 1 << 30;

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
        ..
    } = grid;
    Opf::of(network.clone())
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
        .loads(loads)
        .bounds(match demands.bounds {
            None => LoadBounds::None,
            Some(DemandBounds::Relative(share)) => LoadBounds::Relative(share),
            Some(DemandBounds::Within(mw)) => LoadBounds::Within(mw),
        })
        .build()
        .map_err(|e| Failure::engine(&inputs.spec_name, &e))
}

fn loads(inputs: &Inputs, network: &Network, demands: &Demands) -> Result<Loads, Failure> {
    Ok(match &demands.loads {
        PrivateLoads::WithDemand => Loads::WithDemand,
        PrivateLoads::All => Loads::All,
        PrivateLoads::Only(numbers) => {
            for number in numbers {
                if network.bus_index(number.value).is_none() {
                    let message =
                        format!("the network {} has no bus {}", network.name(), number.value);
                    return Err(number.error(&inputs.spec_name, message).into());
                }
            }
            Loads::Only(numbers.iter().map(|number| number.value).collect())
        }
    })
}

/// The private demands of each row of the demand file; without one, those of the network.
pub(crate) fn datasets(inputs: &Inputs, opf: &Opf) -> Result<Vec<Vec<f64>>, Failure> {
    let file = inputs.spec.private.demands.as_ref();
    let Some(file) = file.and_then(|demands| demands.file.as_ref()) else {
        return Ok(vec![opf.nominal()]);
    };
    let path = inputs.folder.join(file.value.as_str());
    let name = path.display().to_string();
    let text = text_of(&path, DEMAND_BYTES).map_err(|why| {
        file.error(
            &inputs.spec_name,
            format!("cannot read the demands {name}: {why}"),
        )
        .with_help("`demand` is a path relative to the spec's directory")
    })?;
    let demand = demand::read(&name, &text, opf.network())?;
    let odd = demand.listed().iter();
    if let Some(&bus) = odd.clone().find(|bus| !opf.private_buses().contains(bus)) {
        let number = opf.network().buses()[bus].number;
        return Err(Failure::input(format!(
            "{name}: bus {number} is listed, but its load is not private\n  help: `loads` in [private] says which are: \"all\", or a list with {number} in it"
        )));
    }
    let rows = demand.datasets_mw().iter();
    rows.map(|row| opf.dataset(row))
        .collect::<conveil::Result<_>>()
        .map_err(|e| Failure::engine(&name, &e))
}

/// What stands in for private demands where the spec names none.
pub(crate) fn no_demands(inputs: &Inputs, model: &crate::model::Model) -> Option<String> {
    let demands = inputs.spec.private.demands.as_ref()?;
    let is_tried = model.opf().is_some() && demands.file.is_none();
    is_tried.then(|| {
        "no `demand` file is named: the network's own demands, which are public, stand in for private ones".into()
    })
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

/// The reason of the paper's declared bound.
pub(crate) fn largest_cost_reason(opf: &Opf) -> String {
    format!(
        "the paper's α·c_max: no load's price exceeds the largest linear cost coefficient, {}",
        opf.largest_cost()
    )
}

/// Rounding of a price.
const PRICE_SLIP: f64 = 1e-6;

/// A price at these data that breaks the paper's declared bound, if there is one. Private.
pub(crate) fn broken_bound(inputs: &Inputs, opf: &Opf, decided: &Decided) -> Option<String> {
    if inputs.spec.privacy.sensitivity.value != Sensitivity::DeclaredLargestCost {
        return None;
    }
    let bound = opf.largest_cost();
    let prices = opf.load_prices(decided).into_iter();
    let (name, price) = prices.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    (price.abs() > bound.abs() * (1.0 + PRICE_SLIP)).then(|| {
        format!(
            "the price of one more MWh at `{name}` is {price:.4}, beyond the largest cost coefficient {bound}: adjacent demands can move the cost by more than the declared α·c_max, and the privacy claim fails around these data; a sensitivity by `envelope` holds for all data"
        )
    })
}

/// The curator report of a power flow: the engine's, the prices at the loads, and what the epigraph adds to the cost.
#[derive(Debug, Serialize)]
pub(crate) struct GridReport<'r> {
    #[serde(flatten)]
    report: &'r CuratorReport,
    /// The price of one more MWh at each private load.
    load_prices: Vec<(String, f64)>,
    /// Where the cost is released as "at most".
    cost_gap: Option<CostGap>,
}

/// The released cost before noise beside the true one.
#[derive(Debug, Serialize)]
struct CostGap {
    at_most: f64,
    cost_of_the_mean_decision: f64,
    gap: f64,
}

impl<'r> GridReport<'r> {
    pub(crate) fn new(
        inputs: &Inputs,
        opf: &Opf,
        decided: &Decided,
        report: &'r CuratorReport,
    ) -> Self {
        let is_cost = inputs.spec.query.release == Release::Cost;
        GridReport {
            report,
            load_prices: opf.load_prices(decided),
            cost_gap: CostGap::new(opf, decided, report).filter(|_| is_cost),
        }
    }
}

impl CostGap {
    fn new(opf: &Opf, decided: &Decided, report: &CuratorReport) -> Option<Self> {
        let Query::AtMost { .. } = opf.cost_query() else {
            return None;
        };
        // With an envelope, the price of its correction included.
        let at_most = report.answer.first()?.1;
        // The units are the first variables.
        let units = opf.network().units().iter().zip(&decided.mean);
        let cost: f64 = units.map(|(unit, p)| unit.cost.at(*p)).sum();
        Some(CostGap {
            at_most,
            cost_of_the_mean_decision: cost,
            gap: at_most - cost,
        })
    }
}

/// Prices shown of a long list.
const SHOWN: usize = 20;

impl fmt::Display for GridReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "{}", self.report)?;
        if let Some(gap) = &self.cost_gap {
            writeln!(
                f,
                "cost: at most {:.6} before noise; the mean decision costs {:.6}, {:.6} less",
                gap.at_most, gap.cost_of_the_mean_decision, gap.gap
            )?;
        }
        writeln!(f, "price of one more MWh at the private loads:")?;
        for (name, price) in self.load_prices.iter().take(SHOWN) {
            writeln!(f, "  {name:<28} {price:>16.6}")?;
        }
        if self.load_prices.len() > SHOWN {
            let more = self.load_prices.len() - SHOWN;
            writeln!(f, "  … and {more} more (see --json)")?;
        }
        Ok(())
    }
}
