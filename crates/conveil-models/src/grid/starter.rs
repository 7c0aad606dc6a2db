//! How somebody starts with a power grid.

use crate::files::Text;
use crate::starter::{self, DataFile, FromData, Starter, blank};

pub(super) static STARTER: Starter = Starter {
    about: "the cost of meeting private demands in a power grid, or what its units generate",
    files: &[
        Text {
            name: "opf.toml",
            text: include_str!("starter/opf.toml"),
        },
        Text {
            name: "opf.csv",
            text: include_str!("starter/opf.csv"),
        },
    ],
    at: "nominal",
    budget: (3.0, 0.0),
    from: Some(FromData {
        holds: "private demands in MW: `bus,demand` and a line for each bus, or a line of bus numbers and a line for each hour",
        names_columns: false,
        recognises: |columns| columns == ["bus", "demand"],
        spec,
    }),
};

fn spec(data: &DataFile) -> String {
    format!(
        "{heading}
[problem]
model = \"opf\"
network = {network}

[private]
demand = {file}
{label}bounds = {bounds}
adjacency = {{ kind = \"one-entry\", alpha = {alpha} }}

[query]
release = \"cost\"

{privacy}sensitivity = {{ by = \"envelope\", price = {price} }}

{promises}",
        heading = starter::heading("The cost of generation in a power grid", data),
        network = blank(
            "a built-in network, such as 24_ieee_rts; or write file = \"case.m\" instead, a MATPOWER case"
        ),
        file = data.file(),
        label = starter::LABEL,
        bounds = blank(
            "public bounds around the network's own demands, such as { relative = 0.3 } for 30%"
        ),
        alpha = blank("the change of one demand to hide, in MW, such as 1.0"),
        privacy = starter::privacy("laplace", false),
        price = blank("a public price cap, per MWh: more than any unit costs, such as 500.0"),
        promises = starter::promises(),
    )
}
