//! Makes the built-in power curves from windpowerlib's `oedb/power_curves.csv`:
//! `cargo run --package conveil-models --example import_turbines -- FILE`.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use conveil_models::wind::TURBINES;

/// What the licence asks to be kept with the figures.
const ORIGIN: &str = "\
# Power curves of wind turbines: a name, then speed:power in m/s and kW.
# From windpowerlib 0.2.2 (oedb/power_curves.csv), which has them from the wind turbine library of
# the OpenEnergy Platform, openenergy-platform.org. Changed: six turbines, in kW, without the cells
# that are empty. Their licence:
#
# MIT License
#
# Copyright (c) 2019-2021 oemof developer group
#
# Permission is hereby granted, free of charge, to any person obtaining a copy
# of this software and associated documentation files (the \"Software\"), to deal
# in the Software without restriction, including without limitation the rights
# to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
# copies of the Software, and to permit persons to whom the Software is
# furnished to do so, subject to the following conditions:
#
# The above copyright notice and this permission notice shall be included in all
# copies or substantial portions of the Software.
#
# THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
# IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
# FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
# AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
# LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
# OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
# SOFTWARE.
";

fn main() -> Result<(), Box<dyn Error>> {
    let file = env::args()
        .nth(1)
        .ok_or("windpowerlib's oedb/power_curves.csv is missing")?;
    let text = fs::read_to_string(&file).map_err(|e| format!("{file}: {e}"))?;
    let header = text.lines().next().ok_or("the file is empty")?;
    let speeds: Vec<f64> = header
        .split(',')
        .skip(1)
        .map(|speed| speed.trim().parse())
        .collect::<Result<_, _>>()
        .map_err(|e| format!("{file}: the first line must name speeds: {e}"))?;
    let mut written = String::from(ORIGIN);
    for name in TURBINES {
        let is_it = |line: &&str| line.split(',').next() == Some(name);
        let line = text.lines().find(is_it);
        let line = line.ok_or_else(|| format!("{file}: there is no turbine {name}"))?;
        let mut points = Vec::new();
        for (speed, cell) in speeds.iter().zip(line.split(',').skip(1)) {
            if !cell.trim().is_empty() {
                let watts: f64 = cell.trim().parse().map_err(|e| format!("{name}: {e}"))?;
                points.push(format!("{speed}:{}", watts / 1000.0));
            }
        }
        println!("{name}: {} points", points.len());
        written.push_str(&format!("{name} {}\n", points.join(" ")));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("turbines");
    fs::write(folder.join("power_curves.txt"), written)?;
    Ok(())
}
