//! How somebody starts with a portfolio.

use crate::files::Text;
use crate::starter::{self, DataFile, FromData, Starter, blank};

pub(super) static STARTER: Starter = Starter {
    about: "how a fund is divided among assets, with private forecasts of their returns",
    files: &[
        Text {
            name: "portfolio.toml",
            text: include_str!("starter/portfolio.toml"),
        },
        Text {
            name: "portfolio.csv",
            text: include_str!("starter/portfolio.csv"),
        },
        Text {
            name: "portfolio-twin.csv",
            text: include_str!("starter/portfolio-twin.csv"),
        },
    ],
    at: "twin",
    budget: (3.0, 0.0),
    from: Some(FromData {
        holds: "private forecasts of returns: a column for each asset",
        names_columns: true,
        recognises: |_| false,
        spec,
    }),
};

fn spec(data: &DataFile) -> String {
    let row = blank(&format!(
        "its row of the public covariance matrix, {} numbers in the order of these lines",
        data.columns().len()
    ));
    let assets = data.columns().iter();
    let covariance: String = assets
        .map(|name| format!("{} = {row}\n", starter::text(name)))
        .collect();
    format!(
        "{heading}
[problem]
model = \"portfolio\"
aversion = {aversion}
cap = {cap}

[problem.covariance]
{covariance}
[private]
returns = {file}
{label}{twin}bounds = {bounds}
adjacency = {{ kind = \"one-entry\", alpha = {alpha} }}

[query]
release = \"weights\"

{privacy}
{promises}",
        heading = starter::heading("A portfolio", data),
        aversion = blank("what a unit of variance costs, such as 4.0"),
        cap = blank("the largest weight of an asset, such as 0.6; 1.0 for no cap"),
        file = data.file(),
        label = starter::LABEL,
        twin = starter::TWIN,
        bounds =
            blank("[low, high], public bounds of every return, as shares, such as [-0.2, 0.3]"),
        alpha = blank("the change of one forecast to hide, as a share, such as 0.0005"),
        privacy = starter::privacy("laplace", false),
        promises = starter::promises(),
    )
}
