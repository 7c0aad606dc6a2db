//! Islands: the connected parts of a network.

use super::{Branch, Bus};

/// Buses that branches connect to one another, and to no other bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Island {
    /// The indices of its buses, increasing.
    pub buses: Vec<usize>,
    /// The index of its reference bus, if it has one.
    pub reference: Option<usize>,
}

/// The islands, by their first bus.
pub(super) fn islands(buses: &[Bus], branches: &[Branch]) -> Vec<Island> {
    // Union-find; the root of a set is its first bus.
    let mut parent: Vec<usize> = (0..buses.len()).collect();
    for branch in branches {
        let (from, to) = (root(&mut parent, branch.from), root(&mut parent, branch.to));
        parent[from.max(to)] = from.min(to);
    }
    let mut island_of_root = vec![0; buses.len()];
    let mut islands: Vec<Island> = Vec::new();
    for (index, bus) in buses.iter().enumerate() {
        let first = root(&mut parent, index);
        if first == index {
            island_of_root[first] = islands.len();
            islands.push(Island {
                buses: Vec::new(),
                reference: None,
            });
        }
        let island = &mut islands[island_of_root[first]];
        island.buses.push(index);
        if bus.is_reference && island.reference.is_none() {
            island.reference = Some(index);
        }
    }
    islands
}

/// The root of a bus; halves the path to it on the way.
fn root(parent: &mut [usize], mut bus: usize) -> usize {
    while parent[bus] != bus {
        parent[bus] = parent[parent[bus]];
        bus = parent[bus];
    }
    bus
}
