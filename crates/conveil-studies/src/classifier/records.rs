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
    let words = match (&settings.positive, &settings.negative) {
        (Some(positive), Some(negative)) => Some(Words::new(positive, negative)?),
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
    if features.is_empty() {
        return bad(format!(
            "{name}: the label `{label}` is the only column: there are no features"
        ));
    }
    let bounds = bounds_of(&name, &features, &settings.bounds)?;
    let training = labelled(train, &features, &label, words.as_ref())?;
    let classes = two_values(&name, &label, words.as_ref(), &training)?;
    let testing = labelled(test, &features, &label, words.as_ref())?;
    Ok(Source::Records {
        training: examples(&name, training, classes)?,
        test: examples(&test.display().to_string(), testing, classes)?,
        name: train
            .file_stem()
            .map_or(name, |s| s.to_string_lossy().into()),
        features,
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

/// Labels in words.
struct Words {
    positive: String,
    negative: String,
}

impl Words {
    fn new(positive: &str, negative: &str) -> Result<Self, Failure> {
        if is_same(positive.trim(), negative.trim()) {
            return bad(format!(
                "--positive and --negative must differ, found {} for both",
                quoted(positive)
            ));
        }
        Ok(Words {
            positive: positive.trim().into(),
            negative: negative.trim().into(),
        })
    }

    /// 1 for the positive word, 0 for the negative one.
    fn number(&self, label: &str, field: &str) -> Coded {
        let Words { positive, negative } = self;
        match field {
            found if is_same(found, positive) => Ok(1.0),
            found if is_same(found, negative) => Ok(0.0),
            found => Err((
                format!(
                    "the label {} must be {} or {}, found {}",
                    quoted(label),
                    quoted(positive),
                    quoted(negative),
                    shown(found)
                ),
                "--positive WORD and --negative WORD say what the two labels are, to the letter"
                    .into(),
            )),
        }
    }
}

/// The same word to the letter, or the same number: 1.0 is 1.
fn is_same(one: &str, other: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    one == other || number(one).is_some_and(|n| number(other) == Some(n))
}

/// The number that a label is.
fn number(label: &str, field: &str) -> Coded {
    match field.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err((
            format!(
                "the label {} must be a number, found {}",
                quoted(label),
                shown(field)
            ),
            "for labels in words: --positive WORD --negative WORD, both of them".into(),
        )),
    }
}

fn shown(field: &str) -> String {
    match field {
        "" => "nothing".into(),
        field => quoted(field),
    }
}

/// Records of a file: features, labels as numbers, and the line of the first.
struct Table {
    features: Vec<Vec<f64>>,
    labels: Vec<f64>,
    first_line: usize,
}

fn labelled(
    path: &Path,
    features: &[String],
    label: &str,
    words: Option<&Words>,
) -> Result<Table, Failure> {
    let mut wanted: Vec<&str> = features.iter().map(String::as_str).collect();
    wanted.push(label);
    let code = Code {
        column: label,
        number: &|field| match words {
            Some(words) => words.number(label, field),
            None => number(label, field),
        },
    };
    let mut table = Table {
        features: Vec::new(),
        labels: Vec::new(),
        first_line: 0,
    };
    let name = path.display().to_string();
    Records::each_coded(&name, opened(path)?, &wanted, &code, |line, row| {
        if table.labels.is_empty() {
            table.first_line = line;
        }
        if let Some((label, features)) = row.split_last() {
            table.features.push(features.to_vec());
            table.labels.push(*label);
        }
    })
    .map_err(|error| match error.help {
        None if error.message.contains("must be a number") => {
            error.with_help("all columns but the label's are features: leave it out of the file")
        }
        _ => error,
    })?;
    Ok(table)
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
    let parts = text.rsplit_once('=');
    let ends = parts.and_then(|(_, ends)| ends.split_once(':'));
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|v| v.is_finite());
    match (
        parts.map(|(name, _)| name.trim()),
        ends.and_then(|(low, _)| number(low)),
        ends.and_then(|(_, high)| number(high)),
    ) {
        (Some(name), Some(low), Some(high)) if low < high && (high - low).is_finite() => {
            Ok(Bound {
                name: name.into(),
                low,
                high,
            })
        }
        _ => Err("must be NAME=LOW:HIGH with LOW below HIGH, for example wind=0:25".into()),
    }
}

/// The bounds in the order of the features: of all of them or of none.
fn bounds_of(
    name: &str,
    features: &[String],
    bounds: &[Bound],
) -> Result<Option<Vec<(f64, f64)>>, Failure> {
    for (i, bound) in bounds.iter().enumerate() {
        if !features.contains(&bound.name) {
            return bad(format!(
                "{name}: --bound names `{}`, which is no feature\n  help: the features are all columns but the label's: {}",
                bound.name,
                features.join(", ")
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
    features.iter().map(of).collect::<Result<_, _>>().map(Some)
}

/// The two values of the label, −1 first.
fn two_values(
    name: &str,
    label: &str,
    words: Option<&Words>,
    records: &Table,
) -> Result<(f64, f64), Failure> {
    let mut values = records.labels.clone();
    values.sort_by(f64::total_cmp);
    values.dedup();
    match values[..] {
        [low, high] => Ok((low, high)),
        [only] => {
            let only = match words {
                None => only.to_string(),
                Some(words) if only > 0.0 => quoted(&words.positive),
                Some(words) => quoted(&words.negative),
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

fn examples(name: &str, records: Table, (low, high): (f64, f64)) -> Result<Examples, Failure> {
    let other = |label: &f64| *label != low && *label != high;
    if let Some(i) = records.labels.iter().position(other) {
        return bad(format!(
            "{name}: record {} (line {}) has the label {}, the training records have {low} and {high}",
            i + 1,
            records.first_line + i,
            records.labels[i]
        ));
    }
    Ok(Examples {
        labels: records.labels.iter().map(|label| *label == high).collect(),
        features: records.features,
    })
}
