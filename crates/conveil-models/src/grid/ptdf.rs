//! Flows as a dense function of injections: flow = H·(generation − demand), one balance for each island.

use super::assembly::{Assembly, Row};
use conveil::{Error, Result};
use conveil_grid::Susceptance;

/// The dense form is for networks up to this size.
const LARGEST: usize = 3_000;

/// Writes balances and limits.
pub(super) fn assemble(
    assembly: &mut Assembly<'_>,
    convention: Susceptance,
    angle_limits: bool,
) -> Result<()> {
    let network = assembly.network;
    let n = network.buses().len();
    if n > LARGEST {
        return Err(Error::Input(format!(
            "{}: distribution factors of {n} buses are dense, and offered up to {LARGEST}: use the form in angles",
            network.name()
        )));
    }
    let base = network.base_mva();
    let islands = network.islands().to_vec();
    for island in &islands {
        let mut row = Row {
            name: match island.reference {
                Some(bus) => network.balance_name(bus),
                None => "balance".into(),
            },
            terms: Vec::new(),
            right: 0.0,
            loads: Vec::new(),
        };
        for &bus in &island.buses {
            let (right, load) = assembly.demand(bus);
            row.right += right;
            row.loads.extend(load.map(|k| (k, 1.0)));
        }
        let units = network.units().iter().enumerate();
        let inside = units.filter(|(_, u)| island.buses.binary_search(&u.bus).is_ok());
        row.terms = inside.map(|(u, _)| (u, 1.0)).collect();
        assembly.balances.push(row);
    }
    // B ϑ = injections, with the reference rows and columns left out; ϑ in radians times the base power.
    let free: Vec<usize> = (0..n)
        .filter(|&i| !network.buses()[i].is_reference)
        .collect();
    let mut place = vec![None; n];
    for (k, &i) in free.iter().enumerate() {
        place[i] = Some(k);
    }
    let m = free.len();
    let mut laplacian = vec![vec![0.0; m]; m];
    // Phase shifts inject power of their own.
    let mut shifts = vec![0.0; n];
    for branch in network.branches() {
        let b = branch.susceptance(convention);
        for (i, j, sign) in [
            (branch.from, branch.from, 1.0),
            (branch.to, branch.to, 1.0),
            (branch.from, branch.to, -1.0),
            (branch.to, branch.from, -1.0),
        ] {
            if let (Some(r), Some(c)) = (place[i], place[j]) {
                laplacian[r][c] += sign * b;
            }
        }
        let offset = b * base * branch.shift;
        shifts[branch.from] += offset;
        shifts[branch.to] -= offset;
    }
    let inverse = inverse(laplacian).ok_or_else(|| {
        Error::Input(format!(
            "{}: the susceptances cancel, so that angles do not follow from injections",
            network.name()
        ))
    })?;
    for (index, branch) in network.branches().iter().enumerate() {
        let b = branch.susceptance(convention);
        // ϑ_from − ϑ_to per MW injected at each bus.
        let mut factor = vec![0.0; n];
        for (end, sign) in [(branch.from, 1.0), (branch.to, -1.0)] {
            if let Some(r) = place[end] {
                for (k, &i) in free.iter().enumerate() {
                    factor[i] += sign * inverse[r][k];
                }
            }
        }
        let mut limits = Vec::new();
        if let Some(rate) = branch.rate_mw {
            let offset = b * base * branch.shift;
            limits.push(("", b, (-rate + offset, rate + offset)));
        }
        if angle_limits {
            let low = branch.angle_min.map_or(f64::NEG_INFINITY, |v| base * v);
            let high = branch.angle_max.map_or(f64::INFINITY, |v| base * v);
            limits.push((" angle", 1.0, (low, high)));
        }
        for (what, weight, (low, high)) in limits {
            let units = network.units().iter().enumerate();
            let terms: Vec<(usize, f64)> = units
                .map(|(u, unit)| (u, weight * factor[unit.bus]))
                .filter(|t| t.1 != 0.0)
                .collect();
            let mut constant = 0.0;
            let mut loads = Vec::new();
            for bus in 0..n {
                let (right, load) = assembly.demand(bus);
                let h = weight * factor[bus];
                constant += h * (shifts[bus] - right);
                if let Some(k) = load
                    && h != 0.0
                {
                    loads.push((k, -h));
                }
            }
            let limits = (low - constant, high - constant);
            assembly.two_sided(index, what, &terms, limits, &loads);
        }
    }
    Ok(())
}

/// Gauss–Jordan with partial pivoting.
fn inverse(mut a: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let n = a.len();
    let largest = a.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
    let mut right: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    for column in 0..n {
        let pivot =
            (column..n).max_by(|x, y| a[*x][column].abs().total_cmp(&a[*y][column].abs()))?;
        if a[pivot][column].abs() <= 1e-12 * largest {
            return None;
        }
        a.swap(column, pivot);
        right.swap(column, pivot);
        let scale = 1.0 / a[column][column];
        a[column].iter_mut().for_each(|v| *v *= scale);
        right[column].iter_mut().for_each(|v| *v *= scale);
        let (source, own) = (a[column].clone(), right[column].clone());
        for i in 0..n {
            let factor = a[i][column];
            if i == column || factor == 0.0 {
                continue;
            }
            a[i].iter_mut()
                .zip(&source)
                .for_each(|(v, s)| *v -= factor * s);
            right[i]
                .iter_mut()
                .zip(&own)
                .for_each(|(v, s)| *v -= factor * s);
        }
    }
    Some(right)
}
