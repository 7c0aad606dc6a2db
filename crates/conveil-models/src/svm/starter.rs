//! How somebody starts with a classifier.

use crate::files::Text;
use crate::starter::{self, DataFile, FromData, Starter, blank};

pub(super) static STARTER: Starter = Starter {
    about: "a linear classifier from private records: who leaves, who comes back, what fails",
    files: &[
        Text {
            name: "svm.toml",
            text: include_str!("starter/svm.toml"),
        },
        Text {
            name: "svm.csv",
            text: include_str!("starter/svm.csv"),
        },
        Text {
            name: "svm-twin.csv",
            text: include_str!("starter/svm-twin.csv"),
        },
    ],
    at: "twin",
    budget: (3.0, 1e-4),
    from: Some(FromData {
        holds: "a line for each private record, with a column of two classes",
        names_columns: true,
        recognises: |columns| {
            let is_label =
                |name: &&String| matches!(name.to_lowercase().as_str(), "class" | "label");
            columns.iter().filter(is_label).count() == 1
        },
        spec,
    }),
};

fn spec(data: &DataFile) -> String {
    let bounds = blank("[low, high], public bounds of the column; or delete the line");
    let features = data.columns().iter();
    let features: String = features
        .map(|name| format!("{} = {bounds}\n", starter::text(name)))
        .collect();
    format!(
        "{heading}
[problem]
model = \"svm\"
records = {records}
[problem.label]
column = {column}
positive = {positive}
negative = {negative}

[problem.features]                  # the columns that predict; their bounds are known without the records
{features}
[private]
data = {file}
{twin}adjacency = {{ kind = \"one-record\" }} # hide any one record

[query]
release = \"weights\"

{privacy}
{promises}",
        heading = starter::heading("A linear classifier", data),
        records = blank("how many records the file has, such as 500; public, because the noise follows from it"),
        column = blank(&format!(
            "the column to predict, {}; then delete its line in [problem.features]",
            data.alternatives()
        )),
        positive = blank("one of its two values, such as 1 or \"yes\""),
        negative = blank("the other one, such as 0 or \"no\""),
        file = data.file(),
        twin = starter::TWIN,
        privacy = starter::privacy("gaussian", true),
        promises = starter::promises(),
    )
}
