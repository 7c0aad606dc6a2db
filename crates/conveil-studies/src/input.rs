//! What the settings of a study name: networks, power curves, polytopes, files.

use std::path::Path;

use conveil_grid::{Network, matpower};
use conveil_models::ellipsoid::{self, Polytope};
use conveil_models::files;
use conveil_models::records::Records;
use conveil_models::wind::{POWER, PowerCurve, SPEED};

use crate::study::Failure;

/// Longer case files are refused: a hundred thousand buses need a fifth of it.
const CASE_BYTES: u64 = 256 << 20;

/// A built-in network, or one from a MATPOWER file.
pub(crate) fn network(name: &str) -> Result<Network, Failure> {
    let name = name.trim();
    let path = Path::new(name);
    if path.extension().is_some_and(|end| end == "m") {
        let text = files::text_of(path, CASE_BYTES)
            .map_err(|why| Failure::Input(format!("cannot read {name}: {why}")))?;
        return Ok(matpower::read(name, &text)?);
    }
    Network::builtin(name).map_err(|unknown| {
        Failure::Input(format!(
            "{unknown}\n  help: a file is read where the name ends in .m"
        ))
    })
}

/// The networks with these names, or the paper's.
pub(crate) fn networks(names: Option<&[String]>, paper: &[&str]) -> Result<Vec<Network>, Failure> {
    match names {
        Some(names) => names.iter().map(|name| network(name)).collect(),
        None => paper.iter().map(|name| network(name)).collect(),
    }
}

/// A built-in turbine.
pub(crate) fn turbine(name: &str) -> Result<PowerCurve, Failure> {
    PowerCurve::builtin(name.trim()).map_err(|unknown| {
        Failure::Input(format!(
            "{unknown}\n  help: --curve FILE.csv reads the curve of another turbine"
        ))
    })
}

/// A power curve from a file; the turbine has the file's name without its ending.
pub(crate) fn power_curve(file: &str) -> Result<PowerCurve, Failure> {
    let path = Path::new(file.trim());
    let file = file.trim();
    let input = files::records_of(path)
        .map_err(|why| Failure::Input(format!("cannot read {file}: {why}")))?;
    let records = Records::read_columns(file, input, &[SPEED, POWER])?;
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    PowerCurve::from_records(stem.unwrap_or(file), &records)
        .map_err(|why| Failure::Input(format!("{file}: {why}")))
}

/// The built-in polytopes with these names, or all.
pub(crate) fn polytopes(names: Option<&[String]>) -> Result<Vec<Polytope>, Failure> {
    let mut polytopes = ellipsoid::builtin();
    let Some(names) = names else {
        return Ok(polytopes);
    };
    let known: Vec<&str> = polytopes.iter().map(|p| p.name).collect();
    if let Some(odd) = names.iter().find(|name| !known.contains(&name.trim())) {
        return Err(Failure::Input(format!(
            "there is no built-in polytope `{odd}`; there are: {}",
            known.join(", ")
        )));
    }
    polytopes.retain(|p| names.iter().any(|name| name.trim() == p.name));
    Ok(polytopes)
}
