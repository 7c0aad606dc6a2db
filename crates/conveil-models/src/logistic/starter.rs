//! How somebody starts with a logistic regression: on the records of the classifier's sample.

use crate::classifier::starter;
use crate::files::Text;
use crate::starter::{DataFile, FromData, Starter};

pub(super) static STARTER: Starter = Starter {
    about: "a logistic regression from private records: how likely somebody leaves, comes back, fails",
    files: &[
        Text {
            name: "logistic.toml",
            text: include_str!("starter/logistic.toml"),
        },
        Text {
            name: "logistic.csv",
            text: include_str!("../svm/starter/svm.csv"),
        },
        Text {
            name: "logistic-twin.csv",
            text: include_str!("../svm/starter/svm-twin.csv"),
        },
    ],
    at: "twin",
    budget: (3.0, 1e-4),
    from: Some(FromData {
        holds: starter::HOLDS,
        names_columns: true,
        // Such files are proposed for the support vector machine, unless the model is named.
        recognises: |_| false,
        spec,
    }),
};

fn spec(data: &DataFile) -> String {
    starter::spec("logistic", "A logistic regression", data)
}
