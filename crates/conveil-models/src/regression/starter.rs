//! How somebody starts with a regression.

use crate::files::Text;
use crate::starter::{self, DataFile, FromData, Starter, blank};

pub(super) static STARTER: Starter = Starter {
    about: "a curve fitted to private responses, with conditions on its shape",
    files: &[
        Text {
            name: "regression.toml",
            text: include_str!("starter/regression.toml"),
        },
        Text {
            name: "regression.csv",
            text: include_str!("starter/regression.csv"),
        },
        Text {
            name: "regression-twin.csv",
            text: include_str!("starter/regression-twin.csv"),
        },
    ],
    at: "twin",
    budget: (3.0, 1e-4),
    from: Some(FromData {
        holds: "a line for each record: public columns, and one with private numbers",
        names_columns: true,
        recognises: |_| false,
        spec,
    }),
};

fn spec(data: &DataFile) -> String {
    let columns: Vec<String> = data.columns().iter().map(|c| starter::text(c)).collect();
    format!(
        "{heading}
[problem]
model = \"regression\"
regressors = {file}          # its columns are public but the response
response = {response}

[[problem.basis]]
kind = \"constant\"

[[problem.basis]]
kind = \"linear\"
features = {features}

# [[problem.condition]]               # what the fitted function must do, if anything
# kind = \"increasing\"
# feature = \"…\"
# at = [0.0]

[private]
bounds = {bounds}
{twin}adjacency = {{ kind = \"one-record\" }} # hide any one response

[query]
release = \"weights\"

{privacy}
{promises}",
        heading = starter::heading("A regression", data),
        file = data.file(),
        response = blank(&format!(
            "the private column to explain, {}",
            data.alternatives()
        )),
        features = blank(&format!(
            "the public columns that explain it, a list of some of [{}]",
            columns.join(", ")
        )),
        bounds = blank("[low, high], public bounds of every response"),
        twin = starter::TWIN,
        privacy = starter::privacy("gaussian", true),
        promises = starter::promises(),
    )
}
