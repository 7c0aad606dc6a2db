//! A ledger with one bit changed: a release is refused, or the change did not matter.

mod running;

use std::collections::BTreeMap;

use conveil::noise::Sampler;
use running::charged::{charges, place, rounds};
use running::{ended, write};

/// Flips on the pages in use, most of them among the charges. The budget is spent, so no release may come out; and of
/// those that fit, the history must hold every charge afterwards.
#[test]
fn no_flipped_bit_lets_a_release_over_budget() {
    let flips = rounds(60, 4000);
    let place = place("flipped-bits", "2");
    for _ in 0..2 {
        assert_eq!(ended(&place, &["release", "spec.toml", "-q"]).0, 0);
    }
    let path = place.join("ledger.db");
    let sound = std::fs::read(&path).unwrap();
    let used: Vec<usize> = (0..sound.len()).filter(|at| sound[*at] != 0).collect();
    let first = first_of_the_charges(&sound);
    let charged: Vec<usize> = used.iter().copied().filter(|at| *at >= first).collect();
    let mut bits = Sampler::new(0xB17, 0);
    let mut codes = BTreeMap::new();
    for flip in 0..flips {
        let among = if flip % 4 == 0 { &used } else { &charged };
        let at = among[(bits.uniform() * among.len() as f64) as usize];
        let bit = (bits.uniform() * 8.0) as u32;
        let mut flipped = sound.clone();
        flipped[at] ^= 1 << bit;
        write(&path, &flipped);
        let (code, stdout, stderr) = ended(&place, &["release", "spec.toml", "-q"]);
        assert!(
            stdout.is_empty() && (code == 2 || code == 5),
            "byte {at}, bit {bit}: exit code {code}, {stdout}{stderr}"
        );
        let _ = std::fs::remove_file(place.join("ledger.db-journal"));
        *codes.entry(code).or_insert(0) += 1;
    }
    println!("{flips} flips: {codes:?} by exit code");
    assert!(codes.contains_key(&2));
    write(&path, &sound);
    assert_eq!(charges(&place).len(), 2);
}

/// Where the page of the charges begins: the last that names the dataset.
fn first_of_the_charges(bytes: &[u8]) -> usize {
    const PAGE: usize = 4096;
    let name = running::charged::NAME.as_bytes();
    let places = bytes.windows(name.len()).enumerate();
    let found = places.filter(|(_, window)| *window == name);
    let last = found.map(|(at, _)| at).max();
    last.unwrap_or(0) / PAGE * PAGE
}
