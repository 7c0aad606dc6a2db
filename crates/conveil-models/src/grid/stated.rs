//! What a spec says of a power flow: its network, which demands are private, which units are released.

use std::collections::HashSet;
use std::sync::Arc;

use conveil::ask::{Adjacency, Request};
use conveil_grid::Susceptance;
use conveil_text::naming::fault;
use conveil_text::spelling::quoted;
use conveil_text::tables::{Item, Table};
use conveil_text::{Located, ReadError};

use super::public::OpfModel;
use super::{Costs, Form, KIND, LoadBounds, Loads};
use crate::failure::Failure;
use crate::files::Files;
use crate::model::{Kind, Missing, Model, StandIn, Stated};
use crate::spec::agreement::DECLARE;
use crate::spec::private::check_label;
use crate::spec::{QuerySection, Sensitivity, Spec};

/// The power flow of a public network.
#[derive(Debug, Clone, PartialEq)]
pub struct OpfSpec {
    /// `network` or `file`.
    pub network: NetworkSource,
    /// `form` (`angles`).
    pub form: Form,
    /// `susceptance` (`standard`).
    pub susceptance: Susceptance,
    /// `angle_limits` (false): whether limits on angle differences count.
    pub angle_limits: bool,
    /// `costs` (`linear`).
    pub costs: Costs,
    /// `curvature`: κ > 0 of a public term ½κp² for every unit.
    pub curvature: Option<Located<f64>>,
    /// `demand` of `[private]`: the path of a CSV file, as written; without it the demands of the network itself.
    pub demand: Option<Located<String>>,
    /// Whether the network's own demands, the nominal ones, stand in for the private ones.
    pub at_nominal: bool,
    /// `loads` (`with-demand`): which demands are private.
    pub loads: Loads,
    /// The places of the buses that `loads` lists.
    pub listed: Vec<Located<u32>>,
    /// `bounds`: public bounds on the private demands.
    pub bounds: LoadBounds,
    /// `bounds`, load by load: the path of a CSV file of buses, low and high, as written.
    pub bounds_file: Option<Located<String>>,
    /// `units`, one group, or `groups` of `[query]`; at least one where the generation is released.
    pub groups: Option<Located<Vec<UnitGroup>>>,
}

/// Where the network comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum NetworkSource {
    /// `network`: a built-in one, by name.
    Builtin(Located<String>),
    /// `file`: a MATPOWER case, its path as written.
    File(Located<String>),
}

/// A group of generating units.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitGroup {
    /// Its name, where `groups` is a table.
    pub name: Option<String>,
    /// Units as `generator 7`, or `bus 23` for all that stand there; all different, at least one.
    pub units: Vec<Located<String>>,
}

impl OpfSpec {
    /// Reads the keys of `[problem]` beside `model`.
    pub(super) fn read(table: &mut Table) -> Result<Self, ReadError> {
        let network = match (table.optional("network"), table.optional("file")) {
            (Some(name), None) => NetworkSource::Builtin(name.words()?),
            (None, Some(file)) => NetworkSource::File(file.words()?),
            (Some(_), Some(file)) => return Err(file.error("give `network` or `file`, not both")),
            (None, None) => {
                return Err(table
                    .error("[problem] needs `network` or `file`")
                    .with_help("for example: network = \"24_ieee_rts\", or file = \"case.m\""));
            }
        };
        Ok(OpfSpec {
            network,
            form: match table.optional("form") {
                None => Form::default(),
                Some(form) => form.choice(&[("angles", Form::Angles), ("ptdf", Form::Ptdf)])?,
            },
            susceptance: match table.optional("susceptance") {
                None => Susceptance::Standard,
                Some(item) => item.choice(&[
                    ("standard", Susceptance::Standard),
                    ("full", Susceptance::Full),
                ])?,
            },
            angle_limits: match table.optional("angle_limits") {
                None => false,
                Some(item) => item.boolean()?,
            },
            costs: match table.optional("costs") {
                None => Costs::default(),
                Some(item) => item.choice(&[("linear", Costs::Linear), ("full", Costs::Full)])?,
            },
            curvature: match table.optional("curvature") {
                None => None,
                Some(item) => Some(item.locate(item.positive()?)),
            },
            demand: None,
            at_nominal: false,
            loads: Loads::default(),
            listed: Vec::new(),
            bounds: LoadBounds::default(),
            bounds_file: None,
            groups: None,
        })
    }

    fn read_loads(&mut self, item: Item) -> Result<(), ReadError> {
        if item.is_text() {
            let all = item.choice(&[("with-demand", false), ("all", true)]);
            let all = all.map_err(|error| match error.help {
                Some(_) => error,
                None => error.with_help("or list bus numbers: loads = [3, 14, 15]"),
            });
            self.loads = match all? {
                true => Loads::All,
                false => Loads::WithDemand,
            };
            return Ok(());
        }
        if !item.is_array() {
            return Err(item
                .must("be `with-demand`, `all` or bus numbers")
                .with_help("for example: loads = [3, 14, 15]"));
        }
        let mut seen = HashSet::new();
        for entry in item.filled_array()? {
            let number = entry.count(0, MAX_NUMBER as usize)? as u32;
            if !seen.insert(number) {
                return Err(entry.error(format!("bus {number} is listed twice")));
            }
            self.listed.push(entry.locate(number));
        }
        self.loads = Loads::Only(self.listed.iter().map(|number| number.value).collect());
        Ok(())
    }

    fn read_bounds(&mut self, item: Item) -> Result<(), ReadError> {
        let example = "for example: bounds = { relative = 0.3 }, { within = 50.0 } in MW, or { each = \"bounds.csv\" }";
        let mut table = match item.table("`bounds`") {
            Ok(table) => table,
            Err(error) => return Err(error.with_help(example)),
        };
        table.known(&["relative", "within", "each", "wide"])?;
        let wide = table.optional("wide");
        let is_wide = wide.as_ref().map_or(Ok(false), Item::boolean)?;
        let ways = ["relative", "within", "each"].map(|key| table.optional(key));
        if let Some(second) = ways.iter().flatten().nth(1) {
            return Err(second.error("give one of `relative`, `within` and `each`"));
        }
        match ways {
            [Some(share), ..] => {
                let value = share.positive()?;
                refuse_percent(&share, value, is_wide)?;
                self.bounds = LoadBounds::Relative(value);
            }
            [_, Some(mw), _] => self.bounds = LoadBounds::Within(mw.positive()?),
            [.., Some(file)] => self.bounds_file = Some(file.words()?),
            [None, None, None] => {
                return Err(item
                    .error("`bounds` needs `relative`, `within` or `each`")
                    .with_help(example));
            }
        }
        Ok(())
    }
}

/// Refuses a share above 1 that nobody says is meant: it is probably a percentage.
fn refuse_percent(share: &Item, value: f64, is_wide: bool) -> Result<(), ReadError> {
    if value <= 1.0 || is_wide {
        return Ok(());
    }
    Err(share
        .error(format!(
            "`relative` is a share, and {value} of them is {}%",
            100.0 * value
        ))
        .with_help(format!(
            "{}% is relative = {}; if {value} times the demand is meant, write bounds = {{ relative = {value}, wide = true }}",
            value,
            value / 100.0
        )))
}

/// Bus numbers are at most this.
const MAX_NUMBER: u32 = u32::MAX;

impl Stated for OpfSpec {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn read_private(&mut self, table: &mut Table<'_>) -> Result<(), ReadError> {
        if let Some(file) = table.optional("demand") {
            self.demand = Some(file.words()?);
        }
        if let Some(loads) = table.optional("loads") {
            self.read_loads(loads)?;
        }
        if let Some(bounds) = table.optional("bounds") {
            self.read_bounds(bounds)?;
        }
        Ok(())
    }

    fn read_query(&mut self, _release: &str, table: &mut Table<'_>) -> Result<(), ReadError> {
        self.groups = Some(read_groups(table)?);
        Ok(())
    }

    fn answer_len(&self, query: &QuerySection) -> Option<usize> {
        match &self.groups {
            Some(groups) => Some(groups.value.len()),
            None => query.answer_len(),
        }
    }

    /// What is asked about demands must make sense for demands.
    fn check(&self, spec: &Spec) -> Result<(), ReadError> {
        let (name, adjacency) = (&spec.name, &spec.private.adjacency);
        if adjacency.value.alpha().is_none() {
            return Err(adjacency
                .error(name, "the adjacency of demands needs an alpha, in MW")
                .with_help("`one-entry`, `l1` and `l2` have one"));
        }
        if let Some(unit) = &spec.private.unit
            && unit.value != "MW"
        {
            let found = quoted(&unit.value);
            let message = format!("demands and their alpha are in MW, and `unit` is {found}");
            return Err(unit
                .error(name, message)
                .with_help("unit = \"MW\", or no `unit`; alpha is then a number of MW"));
        }
        check_label(spec, self.demand.as_ref(), "demand", |label| {
            label.parse::<u32>().is_ok()
        })?;
        let is_cost = self.groups.is_none();
        // The released cost is the objective; this term would be part of it.
        if let Some(curvature) = &self.curvature
            && is_cost
        {
            return Err(curvature
                .error(
                    name,
                    "`curvature` changes the objective, and release `cost` is the objective",
                )
                .with_help("it is for release `generation`, which it makes unique"));
        }
        let is_bounded = self.bounds != LoadBounds::None || self.bounds_file.is_some();
        let sensitivity = &spec.privacy.sensitivity;
        let by = sensitivity.value.by();
        let kind = sensitivity.value.certificate();
        let is_corrected = kind.is_some_and(|kind| kind.private_part() == Some("b"));
        let is_open = kind.is_some_and(|kind| kind.stands_for_others());
        let is_of_values = kind.is_some_and(|kind| kind.covers_the_objective());
        if (is_corrected || is_open || sensitivity.value.is_sampled()) && !is_bounded {
            let message = format!("sensitivity by `{by}` needs public `bounds` on the demands");
            return Err(sensitivity.error(name, message).with_help(
                "in [private]: bounds = { relative = 0.3 }, or { within = 50.0 } in MW",
            ));
        }
        match &sensitivity.value {
            _ if is_corrected && !is_cost && is_of_values => Err(sensitivity
                .error(
                    name,
                    format!("sensitivity by `{by}` is proven for the cost only"),
                )
                .with_help(
                    "by = \"moreau\" is proven for generation; or declare a bound, or sample one",
                )),
            _ if is_corrected && is_cost && !is_of_values => Err(sensitivity
                .error(
                    name,
                    format!("sensitivity by `{by}` is for generation, and the cost is released"),
                )
                .with_help("by = \"envelope\" is proven for the cost")),
            Sensitivity::By(Request::Certificate { .. }) if !is_corrected && !is_open => {
                let message = format!(
                    "sensitivity by `{by}` makes no sense for demands, which stand in the right-hand side"
                );
                Err(sensitivity
                    .error(name, message)
                    .with_help("`envelope` is proven for their cost, `moreau` for generation"))
            }
            Sensitivity::PerAlpha(_) => self.check_largest_cost(spec, is_cost),
            _ => Ok(()),
        }
    }

    fn private_files(&self) -> Vec<&Located<String>> {
        self.demand.iter().collect()
    }

    fn with_public(&self, _spec: &Spec, data: StandIn<'_>) -> Result<Arc<dyn Stated>, Missing> {
        let mut stated = self.clone();
        match data {
            StandIn::Nominal => stated.at_nominal = true,
            StandIn::Twin(file) => stated.demand = Some(file.clone()),
        }
        Ok(Arc::new(stated))
    }

    fn open(&self, spec: &Spec, files: &Files) -> Result<Box<dyn Model>, Failure> {
        Ok(Box::new(OpfModel::open(self, spec, files)?))
    }
}

impl OpfSpec {
    /// The paper's bound is about linear costs.
    fn check_largest_cost(&self, spec: &Spec, is_cost: bool) -> Result<(), ReadError> {
        let message = if !is_cost {
            "`largest-cost` is about the cost, not about generation"
        } else if self.costs == Costs::Full {
            "`largest-cost` is about linear costs, and `costs` is `full`"
        } else if let Adjacency::L2 { .. } = spec.private.adjacency.value {
            // Under ℓ₂ the prices of all loads count together, and their norm exceeds the largest one.
            "`largest-cost` bounds the price of one load, and adjacency `l2` moves all of them"
        } else {
            return Ok(());
        };
        let sensitivity = &spec.privacy.sensitivity;
        Err(sensitivity.error(&spec.name, message).with_help(DECLARE))
    }
}

fn read_groups(table: &mut Table) -> Result<Located<Vec<UnitGroup>>, ReadError> {
    let nameless = |item: &Item| {
        Ok(UnitGroup {
            name: None,
            units: read_units(item)?,
        })
    };
    match (table.optional("units"), table.optional("groups")) {
        (Some(units), None) => Ok(units.locate(vec![nameless(&units)?])),
        (None, Some(groups)) if groups.is_array() => {
            let each = groups.filled_array()?;
            let each = each.iter().map(nameless).collect::<Result<_, _>>()?;
            Ok(groups.locate(each))
        }
        (None, Some(groups)) => {
            let mut each = Vec::new();
            for (name, offset, item) in groups.table("`groups`")?.entries() {
                if let Some(fault) = fault(name) {
                    let message = format!("the name of the group {} {fault}", quoted(name));
                    let error = groups.source().error(offset, message);
                    return Err(error.with_help(fault.help()));
                }
                each.push(UnitGroup {
                    name: Some(name.into()),
                    units: read_units(&item)?,
                });
            }
            match each.is_empty() {
                true => Err(groups.error("`groups` must not be empty")),
                false => Ok(groups.locate(each)),
            }
        }
        (Some(_), Some(groups)) => Err(groups.error("give `units` or `groups`, not both")),
        (None, None) => Err(table
            .error("release `generation` needs `units` or `groups`")
            .with_help("for example: units = [\"generator 7\", \"bus 23\"]")),
    }
}

fn read_units(item: &Item) -> Result<Vec<Located<String>>, ReadError> {
    let mut names = HashSet::new();
    let mut units = Vec::new();
    for entry in item.filled_array()? {
        let unit = entry.name()?;
        if !names.insert(unit.value.clone()) {
            return Err(entry.error(format!("{} is named twice", quoted(&unit.value))));
        }
        units.push(unit);
    }
    Ok(units)
}
