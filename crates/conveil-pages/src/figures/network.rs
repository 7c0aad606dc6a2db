//! A power network as a drawing.

use conveil_workbench::picture::Grid;

/// The network with flows, limits and where the noise goes.
pub fn network(_grid: &Grid) -> String {
    String::new()
}
