//! The network of a spec as a power flow. Everything about it is public, its own demands included: they are the nominal ones.

use std::sync::Arc;

use conveil::ask::{Bound, Query, Request};
use conveil::program::{DataMap, Place};
use conveil_grid::{Network, bounds, matpower};
use conveil_text::Located;

use super::private::Demands;
use super::stated::{NetworkSource, OpfSpec, UnitGroup};
use super::{LoadBounds, Opf};
use crate::document::{Facts, Fields};
use crate::failure::Failure;
use crate::files::{Files, Named};
use crate::model::{Datasets, Model};
use crate::spec::agreement::DECLARE;
use crate::spec::private::label_of;
use crate::spec::{Sensitivity, Spec};
use crate::words::row_name;

/// Numbers that the solves of a `check` may go through: a network of some eighty buses, of which a case is read within a
/// millisecond, is compared by a few solves.
const SOLVES_WORTH: f64 = 2_400.0;

/// The power flow of a spec.
#[derive(Debug)]
pub(super) struct OpfModel {
    /// How messages call the network.
    name: String,
    pub(super) spec_name: String,
    pub(super) stated: OpfSpec,
    /// The column that names the rows of a series.
    pub(super) label: Option<String>,
    pub(super) opf: Arc<Opf>,
    /// The price that a declared bound claims no load exceeds, where the cost is released.
    pub(super) declared_price: Option<DeclaredPrice>,
}

/// A bound on prices that a spec declares.
#[derive(Debug)]
pub(super) struct DeclaredPrice {
    pub(super) bound: f64,
    pub(super) whose: &'static str,
    pub(super) declared: &'static str,
}

impl OpfModel {
    pub(super) fn open(stated: &OpfSpec, spec: &Spec, files: &Files) -> Result<Self, Failure> {
        let (name, network) = match &stated.network {
            NetworkSource::File(file) => {
                let (name, text) = files.public_text(Named {
                    file,
                    what: "network",
                    key: "file",
                })?;
                let network = matpower::read(&name, &text)?;
                (name, network)
            }
            NetworkSource::Builtin(wanted) => {
                let network = Network::builtin(&wanted.value)
                    .map_err(|error| wanted.error(&spec.name, error.to_string()))?;
                (network.name().into(), network)
            }
        };
        let opf = opf(stated, spec, files, network)?;
        Ok(OpfModel {
            label: label_of(spec),
            name,
            spec_name: spec.name.clone(),
            stated: stated.clone(),
            declared_price: declared_price(stated, spec, &opf),
            opf: Arc::new(opf),
        })
    }
}

fn opf(stated: &OpfSpec, spec: &Spec, files: &Files, network: Network) -> Result<Opf, Failure> {
    for number in &stated.listed {
        let (name, bus) = (network.name(), number.value);
        if network.bus_index(bus).is_none() {
            let message = match network.omitted().buses.contains(&bus) {
                true => format!("bus {bus} of the network {name} is isolated"),
                false => format!("the network {name} has no bus {bus}"),
            };
            return Err(number.error(&spec.name, message).into());
        }
    }
    let model = Opf::of(network)
        .form(stated.form)
        .susceptance(stated.susceptance)
        .angle_limits(stated.angle_limits)
        .costs(stated.costs)
        .curvature(stated.curvature.as_ref().map_or(0.0, |kappa| kappa.value))
        .loads(stated.loads.clone());
    let engine = |e| Failure::engine(&spec.name, e);
    let Some(file) = &stated.bounds_file else {
        return model.bounds(stated.bounds.clone()).build().map_err(engine);
    };
    // Which loads are private, and in which order, the model knows.
    let unbounded = model.clone().build().map_err(engine)?;
    let named = Named {
        file,
        what: "bounds",
        key: "each",
    };
    let (name, text) = files.public_text(named)?;
    let each = bounds::read(&name, &text, unbounded.network(), unbounded.private_buses())?;
    let bounded = model.bounds(LoadBounds::Each(each));
    bounded.build().map_err(engine)
}

fn declared_price(stated: &OpfSpec, spec: &Spec, opf: &Opf) -> Option<DeclaredPrice> {
    match &spec.privacy.sensitivity.value {
        Sensitivity::PerAlpha(_) => Some(DeclaredPrice {
            bound: opf.largest_cost(),
            whose: "the largest cost coefficient",
            declared: "α·c_max",
        }),
        Sensitivity::By(Request::Declared {
            bound: Bound::PerAlpha(per_alpha),
            ..
        }) if stated.groups.is_none() => Some(DeclaredPrice {
            bound: *per_alpha,
            whose: "the declared `per_alpha`",
            declared: "bound",
        }),
        _ => None,
    }
}

impl Model for OpfModel {
    fn map(&self) -> &dyn DataMap {
        &*self.opf
    }

    fn shared(&self) -> Arc<dyn DataMap> {
        self.opf.clone()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn solves_worth(&self) -> Option<f64> {
        Some(SOLVES_WORTH)
    }

    fn query(&self, spec: &Spec) -> Result<Query, Failure> {
        match &self.stated.groups {
            Some(groups) => generation(&spec.name, &self.opf, groups),
            None => {
                let query = self.opf.cost_query();
                let resolved = query.resolve(&*self.opf, spec.feasibility.strategy.value);
                resolved.map_err(|e| Failure::located(&spec.name, &spec.query.release, e))?;
                Ok(query)
            }
        }
    }

    fn unit(&self) -> Option<&str> {
        Some("MW")
    }

    /// The paper's declared bound; complaints stand where it does.
    fn per_alpha(&self, spec: &Spec, _word: &str) -> Result<Request, Failure> {
        let largest = self.opf.largest_cost();
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
            self.opf.network().name()
        );
        let sensitivity = &spec.privacy.sensitivity;
        Err(sensitivity
            .error(&spec.name, message)
            .with_help(DECLARE)
            .into())
    }

    fn place_name(&self, place: &Place) -> String {
        row_name(self.map().template(), place)
    }

    fn facts(&self) -> Option<Facts> {
        let network = self.opf.network();
        let counts = |count: usize, one: &str, many: &str| {
            format!("{count} {}", if count == 1 { one } else { many })
        };
        let (buses, units) = (network.buses().len(), network.units().len());
        let lines = network.branches().len();
        Some(Facts {
            fields: Fields::default().with(
                "network",
                Fields::default()
                    .with("buses", buses)
                    .with("units", units)
                    .with("lines", lines),
            ),
            line: format!(
                "network: {}, {}, {}",
                counts(buses, "bus", "buses"),
                counts(units, "unit", "units"),
                counts(lines, "line", "lines")
            ),
            private: "load",
        })
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.stated.demand.is_none() {
            notes.push(
                "no `demand` file is named: the network's own demands, which are public, stand in for private ones".into(),
            );
        }
        let isolated = &self.opf.network().omitted().buses;
        if let Some(first) = isolated.first() {
            notes.push(match isolated.len() {
                1 => format!("bus {first} is isolated and left out of the network"),
                count => {
                    format!("{count} isolated buses are left out of the network, first bus {first}")
                }
            });
        }
        if self.stated.groups.is_some() && self.stated.curvature.is_none() {
            notes.push(
                "`curvature` in [problem] adds a small strongly convex term, with which the generation is unique".into(),
            );
        }
        notes
    }

    /// The demands of a public network are not private.
    fn refuse_release(&self) -> Result<(), Failure> {
        match self.stated.demand {
            Some(_) => Ok(()),
            None => Err(Failure::Input(format!(
                "{}: no `demand` file is named, and the network's own demands are public: there is nothing private to release\n  help: in [private]: demand = \"loads.csv\"; `--not-private` runs with the network's own demands",
                self.spec_name
            ))),
        }
    }

    fn how_to_bound(&self) -> &'static str {
        "add `bounds` to [private]: { relative = 0.3 }, or { within = 50.0 } in MW"
    }

    fn datasets(&self, files: &Files) -> Result<Box<dyn Datasets + '_>, Failure> {
        Ok(Box::new(Demands::open(self, files)?))
    }
}

/// The query of groups of units; complaints stand where the unit does.
fn generation(
    spec_name: &str,
    opf: &Opf,
    groups: &Located<Vec<UnitGroup>>,
) -> Result<Query, Failure> {
    for unit in groups.value.iter().flat_map(|group| &group.units) {
        // Alone, a unit can only be unknown, or the only one.
        if let Err(error @ conveil::Error::Input(_)) =
            opf.generation_query(&[vec![unit.value.clone()]])
        {
            return Err(Failure::located(spec_name, unit, error));
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
    query.map_err(|e| Failure::located(spec_name, groups, e))
}
