//! How somebody starts with a classifier of their own records.

use crate::starter::{self, DataFile, blank};

/// What such a file holds.
pub(crate) const HOLDS: &str = "a line for each private record, with a column of two classes";

/// A spec with blanks for a file of private records.
pub(crate) fn spec(model: &str, title: &str, data: &DataFile) -> String {
    let bounds = blank("[low, high], public bounds of the column; or delete the line");
    let features = data.columns().iter();
    let features: String = features
        .map(|name| format!("{} = {bounds}\n", starter::text(name)))
        .collect();
    format!(
        "{heading}
[problem]
model = \"{model}\"
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
        heading = starter::heading(title, data),
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
