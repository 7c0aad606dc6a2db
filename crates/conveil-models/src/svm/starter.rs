//! How somebody starts with a support vector machine.

use crate::classifier::starter;
use crate::files::Text;
use crate::starter::{DataFile, FromData, Starter};

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
        holds: starter::HOLDS,
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
    starter::spec("svm", "A linear classifier", data)
}
