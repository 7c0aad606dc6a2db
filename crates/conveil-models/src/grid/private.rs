//! The private demands of a power flow, row by row, and what their curator should know. Private, all of it.

use std::collections::HashSet;
use std::fmt;

use conveil::ask::Query;
use conveil::curator::CuratorReport;
use conveil::plan::Decided;
use conveil::program::DataMap;
use conveil_grid::{Network, Unit, demand};
use conveil_text::Labels;

use super::Opf;
use super::picture;
use super::public::{DeclaredPrice, OpfModel};
use crate::document::{Annex, Document, Fields, Help, Value};
use crate::failure::Failure;
use crate::files::{Files, Named};
use crate::model::{Curated, Datasets, nth_row};
use crate::picture::Picture;

/// One dataset for each row of the demand file; without a file, the demands of the network.
#[derive(Debug)]
pub(super) struct Demands<'m> {
    of: &'m OpfModel,
    rows: Vec<Vec<f64>>,
    labels: Option<Labels>,
    /// Which private loads the file leaves at the network's own demand.
    note: Option<String>,
}

impl<'m> Demands<'m> {
    pub(super) fn open(of: &'m OpfModel, files: &Files) -> Result<Self, Failure> {
        let opf = &of.opf;
        let Some(file) = of.stated.demand.as_ref().filter(|_| !of.stated.at_nominal) else {
            let rows = vec![opf.nominal()];
            return Ok(Demands {
                of,
                rows,
                labels: None,
                note: None,
            });
        };
        let named = Named {
            file,
            what: "demands",
            key: "demand",
        };
        let (name, text) = files.private_text(named)?;
        let demand = demand::read_labelled(&name, &text, opf.network(), of.label.as_deref())?;
        let odd = demand.listed().iter();
        if let Some(&bus) = odd.clone().find(|bus| !opf.private_buses().contains(bus)) {
            let number = opf.network().buses()[bus].number;
            return Err(Failure::Input(format!(
                "{name}: bus {number} is listed, but its load is not private\n  help: `loads` in [private] says which are: \"all\", or a list with {number} in it"
            )));
        }
        let rows = demand.datasets_mw().iter();
        let rows = rows
            .map(|row| opf.dataset(row))
            .collect::<conveil::Result<_>>()
            .map_err(|e| Failure::engine(&name, e))?;
        Ok(Demands {
            of,
            rows,
            labels: demand.labels().cloned(),
            note: unlisted(&name, demand.listed(), opf),
        })
    }
}

impl Datasets for Demands<'_> {
    fn count(&self) -> usize {
        self.rows.len()
    }

    fn rows_hold(&self) -> &'static str {
        "demands"
    }

    fn labels(&self) -> Option<&Labels> {
        self.labels.as_ref()
    }

    fn row(&self, row: usize) -> Result<Vec<f64>, Failure> {
        nth_row(self.rows.iter(), row)
    }

    fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    fn annex(&self, curated: &Curated<'_>) -> Annex {
        let declared = self.of.declared_price.as_ref();
        Annex {
            picture: (curated.report)
                .and_then(|_| picture::of(self.of, curated))
                .map(Picture::Grid),
            warning: declared.and_then(|d| broken_bound(d, &self.of.opf, curated.decided)),
            report: curated
                .report
                .map(|report| Ok(report_of(self.of, curated.decided, report))),
            clipped: None,
        }
    }

    /// How the demands compare with what the units can generate, where nothing is feasible.
    fn help(&self, theta: &[f64], error: &conveil::Error) -> Option<Help> {
        let conveil::Error::Infeasible(_) = error else {
            return None;
        };
        Some(Help {
            meaning: None,
            help: shortage(&self.of.opf, theta),
        })
    }
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

/// The prices at the loads, what the epigraph adds to the cost, and what the curvature does.
fn report_of(of: &OpfModel, decided: &Decided, report: &CuratorReport) -> Document {
    let opf = &of.opf;
    let prices = opf.load_prices(decided);
    let gap = CostGap::new(opf, decided, report).filter(|_| of.stated.groups.is_none());
    // ½κΣp².
    let curvature = of.stated.curvature.as_ref().map(|kappa| {
        let squares = mean_outputs(opf, decided).map(|(_, p)| p * p);
        0.5 * kappa.value * squares.sum::<f64>()
    });
    let mut text = String::new();
    if let Some(gap) = &gap {
        text += &gap.to_string();
    }
    if let Some(cost) = curvature {
        text += &format!("curvature: adds {cost:.6} to the objective at the mean decision\n");
    }
    text += "price of one more MWh at the private loads:\n";
    for (name, price) in prices.iter().take(SHOWN) {
        text += &format!("  {name:<28} {price:>16.6}\n");
    }
    if prices.len() > SHOWN {
        let more = prices.len() - SHOWN;
        text += &format!("  … and {more} more (see --json)\n");
    }
    let pair = |(name, price): (String, f64)| Value::List(vec![name.into(), price.into()]);
    Document {
        fields: Fields::default()
            .with(
                "load_prices",
                prices.into_iter().map(pair).collect::<Vec<_>>(),
            )
            .with("cost_gap", gap.map(|gap| gap.fields()))
            .with("curvature_cost", curvature),
        text,
        summary: None,
    }
}

/// Prices shown of a long list.
const SHOWN: usize = 20;

/// The released cost before noise, in its parts: at most = cost + epigraph gap + correction price.
struct CostGap {
    at_most: f64,
    cost_of_the_mean_decision: f64,
    /// What the epigraph lies above that cost: room for the noise along a slope that is not that of the cost.
    epigraph_gap: f64,
    /// π‖θ − θ̃‖, what the envelope's correction costs; 0 without one.
    correction_price: f64,
}

impl CostGap {
    /// Where the cost is released as "at most".
    fn new(opf: &Opf, decided: &Decided, report: &CuratorReport) -> Option<Self> {
        let Query::AtMost { .. } = opf.cost_query() else {
            return None;
        };
        let at_most = report.answer.first()?.1;
        let cost: f64 = mean_outputs(opf, decided)
            .map(|(unit, p)| unit.cost.at(p))
            .sum();
        let correction_price = decided.correction.as_ref().map_or(0.0, |c| c.paid);
        Some(CostGap {
            at_most,
            cost_of_the_mean_decision: cost,
            epigraph_gap: at_most - correction_price - cost,
            correction_price,
        })
    }

    fn fields(&self) -> Fields {
        Fields::default()
            .with("at_most", self.at_most)
            .with("cost_of_the_mean_decision", self.cost_of_the_mean_decision)
            .with("epigraph_gap", self.epigraph_gap)
            .with("correction_price", self.correction_price)
    }
}

impl fmt::Display for CostGap {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(
            f,
            "cost: at most {:.6} before noise: the mean decision costs {:.6}, the epigraph lies {:.6} above, the envelope's correction costs {:.6}",
            self.at_most, self.cost_of_the_mean_decision, self.epigraph_gap, self.correction_price
        )
    }
}

/// The units, which are the first variables, and their mean output.
fn mean_outputs<'a>(opf: &'a Opf, decided: &'a Decided) -> impl Iterator<Item = (&'a Unit, f64)> {
    opf.network()
        .units()
        .iter()
        .zip(decided.mean.iter().copied())
}

/// Rounding of a price.
const PRICE_SLIP: f64 = 1e-6;

/// A price at these data that breaks a bound declared for the cost, if there is one.
fn broken_bound(declared: &DeclaredPrice, opf: &Opf, decided: &Decided) -> Option<String> {
    let DeclaredPrice {
        bound,
        whose,
        declared,
    } = declared;
    let prices = opf.load_prices(decided).into_iter();
    let (name, price) = prices.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    (price.abs() > bound.abs() * (1.0 + PRICE_SLIP)).then(|| {
        format!(
            "the price of one more MWh at `{name}` is {price:.4}, beyond {whose} {bound}: adjacent demands can move the cost by more than the declared {declared}, and the privacy claim fails around these data; a sensitivity by `envelope` holds for all data"
        )
    })
}

fn shortage(opf: &Opf, theta: &[f64]) -> String {
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
    match (short, parts.len()) {
        (Some(_), 1) => parts[0].to_string(),
        (Some(k), _) => format!(
            "in the island of bus {}, {}",
            network.buses()[network.islands()[k].buses[0]].number,
            parts[k]
        ),
        (None, _) => {
            let all: Vec<usize> = (0..demand.len()).collect();
            let all = Balance::of(network, &all, &demand);
            let cut_off = cut_off(network, &demand);
            format!("{all}: the limits of lines or angles are in the way{cut_off}")
        }
    }
}

/// The bus that its own lines leave shortest, if there is one: what it draws beyond its units is more than they carry.
fn cut_off(network: &Network, demand: &[f64]) -> String {
    let at = |bus: usize| {
        let own = Balance::of(network, &[bus], demand);
        let needed = match own.drawn > own.most {
            true => own.drawn - own.most,
            false => own.least - own.drawn,
        };
        let lines = network.branches().iter();
        let lines = lines.filter(|line| line.from == bus || line.to == bus);
        // A line without a limit carries anything.
        let carried: Option<f64> = lines.clone().map(|line| line.rate_mw).sum();
        let rows: Vec<String> = lines.map(|line| line.row.to_string()).collect();
        Some((needed - carried?, own, carried?, rows, bus))
    };
    let each = (0..network.buses().len()).filter_map(at);
    let worst = each.max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((missing, own, carried, rows, bus)) = worst.filter(|worst| worst.0 > 0.0) else {
        return String::new();
    };
    let (number, rows) = (network.buses()[bus].number, rows.join(", "));
    let what = match own.drawn > own.most {
        true => format!(
            "draws {:.1} MW and generates at most {:.1} MW",
            own.drawn, own.most
        ),
        false => format!(
            "draws {:.1} MW and generates at least {:.1} MW",
            own.drawn, own.least
        ),
    };
    format!(
        "; bus {number} {what}, and its lines (branches {rows}) carry {carried:.1} MW together: {missing:.1} MW too little"
    )
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
            // The sum of nothing is −0.
            least: units.clone().map(|unit| unit.pmin_mw).sum::<f64>() + 0.0,
            most: units.map(|unit| unit.pmax_mw).sum::<f64>() + 0.0,
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
        )?;
        match (self.drawn - self.most, self.least - self.drawn) {
            (missing, _) if missing > 0.0 => write!(f, ": {missing:.1} MW are missing"),
            (_, surplus) if surplus > 0.0 => write!(f, ": {surplus:.1} MW are too many"),
            _ => Ok(()),
        }
    }
}
