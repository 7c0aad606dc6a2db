//! How somebody starts with a saved problem.

use crate::files::Text;
use crate::starter::{self, DataFile, FromData, Starter, blank};

pub(super) static STARTER: Starter = Starter {
    about: "any saved convex program with private numbers in it, such as a linear program",
    files: &[
        Text {
            name: "conic.toml",
            text: include_str!("starter/conic.toml"),
        },
        Text {
            name: "conic.json",
            text: include_str!("starter/conic.json"),
        },
        Text {
            name: "conic.csv",
            text: include_str!("starter/conic.csv"),
        },
    ],
    at: "nominal",
    budget: (3.0, 0.0),
    from: Some(FromData {
        holds: "private numbers of a saved problem: `parameter,value` and a line for each, or a column for each",
        names_columns: true,
        recognises: |columns| columns == ["parameter", "value"],
        spec,
    }),
};

/// Names stand in the first column, where they are not looked at, or are those of the columns.
fn spec(data: &DataFile) -> String {
    let parameters: String = match data.columns() {
        [first, second] if first == "parameter" && second == "value" => {
            let name = blank(
                "the name of a parameter, as the file writes it; one such section for each of its lines",
            );
            parameter(&name)
        }
        columns => columns
            .iter()
            .map(|c| parameter(&starter::text(c)))
            .collect(),
    };
    format!(
        "{heading}
[problem]
model = \"conic\"
file = {problem}

[[problem.variable]]                # one such section for each block of columns of the problem, in order
name = {name}
size = {size}
stage = {stage}

[private]
data = {file}
{twin}adjacency = {{ kind = \"one-entry\", alpha = {alpha} }}

{parameters}[query]
release = \"cost\"

{privacy}sensitivity = {{ by = \"envelope\", price = {price} }}

{promises}",
        heading = starter::heading("A saved convex program", data),
        problem = blank("the problem as Clarabel's save_to_file writes it, such as problem.json"),
        name = blank("a name for the first columns of the problem, such as x"),
        size = blank("how many columns, such as 3"),
        stage = blank("what they are: decision, here-and-now, witness or epigraph (docs/spec.md)"),
        file = data.file(),
        twin = starter::TWIN,
        alpha = blank("the change of one number to hide, such as 1.0"),
        privacy = starter::privacy("laplace", false),
        price = blank("what a unit of a private number may cost at most; public, such as 500.0"),
        promises = starter::promises(),
    )
}

fn parameter(name: &str) -> String {
    format!(
        "[[private.parameter]]\nname = {name}\nat = {}\nbounds = {}\nnominal = {}\n\n",
        blank("where it enters the problem, such as [{ in = \"b\", row = 0 }]"),
        blank("[low, high], public bounds of the number"),
        blank("a public value within the bounds, for --at nominal; or delete the line"),
    )
}
