//! Makes the built-in networks from a folder of PGLib's case files:
//! `cargo run --package conveil-grid --example import_networks -- DIR`.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use conveil_grid::{builtin, compact, matpower};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args()
        .nth(1)
        .ok_or("the folder of PGLib's .m files is missing")?;
    let networks = Path::new(env!("CARGO_MANIFEST_DIR")).join("networks");
    for name in builtin::names() {
        let case = format!("pglib_opf_case{name}");
        let path = Path::new(&folder).join(format!("{case}.m"));
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let network = matpower::read(&path.display().to_string(), &text)?;
        let written = compact::to_text(&network, &comment(&case, &text)?);
        if compact::read(name, &written)? != network {
            return Err(format!("{case} is not the same after writing").into());
        }
        fs::write(networks.join(format!("{name}.txt")), written)?;
        println!("{name}: {} buses", network.buses().len());
    }
    Ok(())
}

/// Where the network is from: the case, the library with its version, who holds the copyright, and
/// the licence.
fn comment(case: &str, text: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let comments = || {
        text.lines()
            .map(|line| line.trim_matches(['%', ' ', '\t', '\r']))
    };
    let title = comments().find(|line| line.contains("Power Grid Library"));
    let title = title.ok_or_else(|| format!("{case} does not name its library"))?;
    // From the copyright to the licence, which may start in the middle of a line.
    let holder: Vec<&str> = comments()
        .skip_while(|line| !line.starts_with("Copyright"))
        .take_while(|line| !line.is_empty())
        .collect();
    let (holder, licence) = holder
        .join(" ")
        .split_once(" Licensed under ")
        .map_or_else(
            || Err(format!("{case} does not name its licence")),
            |(holder, licence)| Ok((holder.to_string(), licence.to_string())),
        )?;
    if !licence.contains("creativecommons.org/licenses/by/4.0/") {
        return Err(format!("{case} has another licence: {licence}").into());
    }
    Ok(vec![
        format!("{case} of the {title}"),
        holder,
        "Licensed under the Creative Commons Attribution 4.0 International license (CC BY 4.0),".into(),
        "http://creativecommons.org/licenses/by/4.0/. Changed: reduced to the data of the DC power flow.".into(),
    ])
}
