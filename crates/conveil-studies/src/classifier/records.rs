//! Records of the user: features, labels in numbers or words, public bounds from flags.

use std::io::BufRead;
use std::path::Path;

use conveil_models::files;
use conveil_models::records::{Code, Coded, Records};
use conveil_text::spelling::quoted;

use super::{Settings, Source};
use crate::learning::Examples;
use crate::study::Failure;

/// The records of two files: all columns but the label's are features.
pub(super) fn read(train: &Path, test: &Path, settings: &Settings) -> Result<Source, Failure> {
    let columns = Columns::new(train, settings)?;
    let name = train.display().to_string();
    let bounds = columns.bounds(&name, &settings.bounds)?;
    let training = columns.read(train)?;
    let values = columns.two_values(&name, &training)?;
    let test_name = test.display().to_string();
    let testing = columns.read(test)?;
    Ok(Source::Records {
        training: training.examples(&name, values)?,
        test: testing.examples(&test_name, values)?,
        name: train
            .file_stem()
            .map_or(name, |s| s.to_string_lossy().into()),
        features: columns.features,
        bounds,
    })
}

fn bad<T>(message: String) -> Result<T, Failure> {
    Err(Failure::Input(message))
}

fn opened(path: &Path) -> Result<impl BufRead, Failure> {
    files::records_of(path)
        .map_err(|why| Failure::Input(format!("cannot read {}: {why}", path.display())))
}

/// What the columns of both files are.
struct Columns {
    features: Vec<String>,
    label: String,
    /// The labels of +1 and −1, if they are words.
    words: Option<(String, String)>,
}

impl Columns {
    /// By the header of the training records.
    fn new(train: &Path, settings: &Settings) -> Result<Self, Failure> {
        let words = match (&settings.positive, &settings.negative) {
            (Some(positive), Some(negative)) if is_same(positive.trim(), negative.trim()) => {
                return bad(format!(
                    "--positive and --negative must differ, found {} for both",
                    quoted(positive)
                ));
            }
            (Some(positive), Some(negative)) => {
                Some((positive.trim().to_string(), negative.trim().to_string()))
            }
            _ => None,
        };
        let name = train.display().to_string();
        let names = Records::header(&name, opened(train)?)?;
        let label = match &settings.label {
            Some(label) if !names.contains(label) => {
                return bad(format!("{name}: there is no column `{label}`"));
            }
            Some(label) => label.clone(),
            None => names.last().cloned().unwrap_or_default(),
        };
        let features: Vec<String> = names.into_iter().filter(|n| *n != label).collect();
        match features.is_empty() {
            true => bad(format!(
                "{name}: the label `{label}` is the only column: there are no features"
            )),
            false => Ok(Columns {
                features,
                label,
                words,
            }),
        }
    }

    /// A label as a number; of words 1 and 0.
    fn number(&self, field: &str) -> Coded {
        let refused = |expected: String, help: &str| {
            let found = match field {
                "" => "nothing".into(),
                field => quoted(field),
            };
            let label = quoted(&self.label);
            let message = format!("the label {label} must be {expected}, found {found}");
            Err((message, help.to_string()))
        };
        match (&self.words, field.parse::<f64>()) {
            (Some((positive, _)), _) if is_same(field, positive) => Ok(1.0),
            (Some((_, negative)), _) if is_same(field, negative) => Ok(0.0),
            (Some((positive, negative)), _) => refused(
                format!("{} or {}", quoted(positive), quoted(negative)),
                "--positive WORD and --negative WORD say what the two labels are, to the letter",
            ),
            (None, Ok(number)) if number.is_finite() => Ok(number),
            (None, _) => refused(
                "a number".into(),
                "for labels in words: --positive WORD --negative WORD, both of them",
            ),
        }
    }

    fn read(&self, path: &Path) -> Result<Labelled, Failure> {
        let features = self.features.iter().map(String::as_str);
        let wanted: Vec<&str> = features.chain([self.label.as_str()]).collect();
        let code = Code {
            column: &self.label,
            number: &|field| self.number(field),
        };
        let mut found = Labelled::default();
        let name = path.display().to_string();
        Records::each_coded(&name, opened(path)?, &wanted, &code, |line, row| {
            if found.labels.is_empty() {
                found.first_line = line;
            }
            if let Some((label, features)) = row.split_last() {
                found.features.push(features.to_vec());
                found.labels.push(*label);
            }
        })
        .map_err(|error| match error.help {
            None if error.message.contains("must be a number") => error
                .with_help("all columns but the label's are features: leave it out of the file"),
            _ => error,
        })?;
        Ok(found)
    }

    /// The bounds in the order of the features: of all of them or of none.
    fn bounds(&self, name: &str, bounds: &[Bound]) -> Result<Option<Vec<(f64, f64)>>, Failure> {
        for (i, bound) in bounds.iter().enumerate() {
            if !self.features.contains(&bound.name) {
                return bad(format!(
                    "{name}: --bound names `{}`, which is no feature\n  help: the features are all columns but the label's: {}",
                    bound.name,
                    self.features.join(", ")
                ));
            }
            if bounds[..i].iter().any(|other| other.name == bound.name) {
                return bad(format!("--bound names `{}` twice", bound.name));
            }
        }
        if bounds.is_empty() {
            return Ok(None);
        }
        let of = |feature: &String| {
            let found = bounds.iter().find(|bound| bound.name == *feature);
            found.map(|b| (b.low, b.high)).ok_or_else(|| {
                Failure::Input(format!(
                    "{name}: `{feature}` has no public bounds\n  help: --bound {feature}=LOW:HIGH, for every feature or for none"
                ))
            })
        };
        let found = self.features.iter().map(of).collect::<Result<_, _>>();
        found.map(Some)
    }

    /// The two values of the label, −1 first.
    fn two_values(&self, name: &str, records: &Labelled) -> Result<(f64, f64), Failure> {
        let mut values = records.labels.clone();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let label = &self.label;
        match values[..] {
            [low, high] => Ok((low, high)),
            [only] => {
                let only = match &self.words {
                    None => only.to_string(),
                    Some((positive, _)) if only > 0.0 => quoted(positive),
                    Some((_, negative)) => quoted(negative),
                };
                bad(format!(
                    "{name}: the label `{label}` is {only} in every record: there is nothing to tell apart"
                ))
            }
            _ => bad(format!(
                "{name}: the label `{label}` has {} values, expected two\n  help: --label COLUMN names another column",
                values.len()
            )),
        }
    }
}

/// The same word to the letter, or the same number: 1.0 is 1.
fn is_same(one: &str, other: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    one == other || number(one).is_some_and(|n| number(other) == Some(n))
}

/// Records of a file: features, labels as numbers, and the line of the first.
#[derive(Default)]
struct Labelled {
    features: Vec<Vec<f64>>,
    labels: Vec<f64>,
    first_line: usize,
}

impl Labelled {
    /// With one of two labels each.
    fn examples(self, name: &str, (low, high): (f64, f64)) -> Result<Examples, Failure> {
        let other = |label: &f64| *label != low && *label != high;
        if let Some(i) = self.labels.iter().position(other) {
            return bad(format!(
                "{name}: record {} (line {}) has the label {}, the training records have {low} and {high}",
                i + 1,
                self.first_line + i,
                self.labels[i]
            ));
        }
        Ok(Examples {
            labels: self.labels.iter().map(|label| *label == high).collect(),
            features: self.features,
        })
    }
}

/// Public bounds of a feature.
#[derive(Debug, Clone)]
pub struct Bound {
    /// The feature.
    pub name: String,
    /// Its least value.
    pub low: f64,
    /// Its largest value.
    pub high: f64,
}

pub(super) fn bound(text: &str) -> Result<Bound, String> {
    let read = || {
        let (name, ends) = text.rsplit_once('=')?;
        let (low, high) = ends.split_once(':')?;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|v| v.is_finite());
        Some(Bound {
            name: name.trim().into(),
            low: number(low)?,
            high: number(high)?,
        })
    };
    read()
        .filter(|bound| bound.low < bound.high && (bound.high - bound.low).is_finite())
        .ok_or_else(|| "must be NAME=LOW:HIGH with LOW below HIGH, for example wind=0:25".into())
}
