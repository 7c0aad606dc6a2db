//! The public numbers of a certificate: keys of `sensitivity` beside `by`.

use conveil::ask::{Around, Offset, Terms};
use conveil::certify::{Kind, Need};
use conveil_text::ReadError;
use conveil_text::tables::{Item, Table};

/// Reads what this kind of certificate takes.
pub(super) fn read(table: &mut Table, kind: &dyn Kind) -> Result<Terms, ReadError> {
    let takes = kind.takes();
    let by = kind.word();
    Ok(Terms {
        price: positive(table, "price", takes.price, by, PRICE)?,
        prices: match takes.prices {
            Need::None => Vec::new(),
            _ => match table.optional("prices") {
                Some(item) => named(&item, Item::positive)?,
                None => Vec::new(),
            },
        },
        width: positive(table, "width", takes.width, by, WIDTH)?,
        offset: match takes.offset {
            Need::None => Offset::default(),
            _ => match table.optional("offset") {
                Some(item) => read_offset(&item)?,
                None => Offset::default(),
            },
        },
        around: match (takes.curvature, table.peek("curvature")) {
            (Need::None, _) | (_, None) => Around::default(),
            _ => match table.optional("around") {
                Some(item) => {
                    item.choice(&[("zero", Around::Zero), ("nominal", Around::Nominal)])?
                }
                None => Around::default(),
            },
        },
        curvature: positive(table, "curvature", takes.curvature, by, CURVATURE)?,
    })
}

/// A price is policy: it has no default that could be right.
const PRICE: &str = "price = 1000.0 is what deviating from the data by one unit costs, a public number: the value of lost load, a price cap";

const WIDTH: &str = "width = 1.0 is by how much a datum may be corrected for each unit by which its price differs from the public one; a larger one means less noise and larger corrections";

const CURVATURE: &str = "curvature = 0.1 adds a small quadratic cost on what is released";

fn positive(
    table: &mut Table,
    key: &'static str,
    need: Need,
    by: &str,
    help: &str,
) -> Result<Option<f64>, ReadError> {
    let item = match need {
        Need::None => return Ok(None),
        Need::Optional | Need::Required => table.optional(key),
    };
    match (item, need) {
        (Some(item), _) => item.positive().map(Some),
        (None, Need::Required) => Err(table
            .error(format!("sensitivity by `{by}` needs `{key}`"))
            .with_help(help)),
        (None, _) => Ok(None),
    }
}

fn read_offset(item: &Item) -> Result<Offset, ReadError> {
    if item.is_text() {
        return item.choice(&[("nominal", ())]).map(|()| Offset::Nominal);
    }
    if item.is_number() {
        return item.number().map(Offset::Each);
    }
    named(item, Item::number).map(Offset::Named)
}

/// Numbers by name.
fn named<'d>(
    item: &Item<'d>,
    read: fn(&Item<'d>) -> Result<f64, ReadError>,
) -> Result<Vec<(String, f64)>, ReadError> {
    let mut numbers = Vec::new();
    for (name, _, item) in item.table("numbers by name")?.entries() {
        numbers.push((name.to_string(), read(&item)?));
    }
    Ok(numbers)
}
