//! How long a bare solve takes beside a slider move: opening the moved spec, planning and solving, without a server. Prints the
//! milliseconds for each value of ε.
//!
//! `bare_solve FOLDER SPEC nominal|twin ε…`

use std::path::Path;
use std::time::Instant;

use conveil::curator::About;
use conveil_workbench::settings::{self, Value};
use conveil_workbench::{Failure, Silent, Workbench};

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, spec, about, values @ ..] = words.as_slice() else {
        return Err(Failure::input("bare_solve FOLDER SPEC nominal|twin ε…"));
    };
    let about = match about.as_str() {
        "twin" => About::Twin,
        _ => About::Nominal,
    };
    let folder = Path::new(folder);
    let folder = (folder.canonicalize()).map_err(|why| Failure::input(why.to_string()))?;
    let path = folder.join(spec);
    let text = std::fs::read_to_string(&path).map_err(|why| Failure::input(why.to_string()))?;
    for value in values {
        let value = (value.parse()).map_err(|_| Failure::input(format!("no number: {value}")))?;
        let to = ("epsilon", &Value::Number(value));
        let (moved, _) = settings::moved((&path, &folder), (&text, &text), to, &Silent)?;
        let since = Instant::now();
        let bench = Workbench::open_text(&path, &moved, &folder, &Silent)?;
        bench.at(about)?.solve(None, &Silent)?;
        println!("{:.3}", since.elapsed().as_secs_f64() * 1e3);
    }
    Ok(())
}
