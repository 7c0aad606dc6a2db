//! The system's bits are used once; integers and coins have their probabilities on every string of bits up to a length.

use super::*;
use std::collections::{BTreeMap, HashSet};

/// 10⁵ words of 64 bits: two of them are equal with probability below 3e-10. A buffer that is read twice, or that two
/// draws share, repeats them.
#[test]
fn bits_are_used_once() {
    let mut seen = HashSet::new();
    for _ in 0..2_000 {
        let mut bits = SystemBits::for_one_draw();
        for _ in 0..50 {
            assert!(seen.insert(bits.next(64).unwrap()), "a word came twice");
            // The next word begins elsewhere in the buffer.
            bits.next(7).unwrap();
        }
    }
}

/// Each bit of each length: out of 4 000 it is set fewer than 1 500 or more than 2 500 times with probability 2e-56.
#[test]
fn each_bit_of_each_length_is_fair() {
    let mut bits = SystemBits::for_one_draw();
    for count in 0..=64 {
        let mut set = [0u32; 64];
        for _ in 0..4_000 {
            let word = bits.next(count).unwrap();
            for (place, set) in set.iter_mut().enumerate() {
                *set += (word >> place & 1) as u32;
            }
        }
        let (low, high) = set.split_at(count);
        assert!(low.iter().all(|s| (1_500..=2_500).contains(s)), "{count}");
        assert!(high.iter().all(|s| *s == 0), "{count}");
    }
}

/// Bits that are written down, until they end.
pub(crate) struct Tape<'a> {
    bits: &'a [bool],
    read: usize,
    /// How many more would have been read.
    missing: usize,
}

impl Tape<'_> {
    pub(crate) fn of(bits: &[bool]) -> Tape<'_> {
        Tape {
            bits,
            read: 0,
            missing: 0,
        }
    }
}

impl Bits for Tape<'_> {
    fn next(&mut self, count: usize) -> Result<u64> {
        let end = self.read + count;
        let Some(bits) = self.bits.get(self.read..end) else {
            self.missing = end - self.bits.len();
            return Err(Error::Noise("the tape ends".into()));
        };
        self.read = end;
        Ok(bits.iter().fold(0, |word, bit| word << 1 | u64::from(*bit)))
    }
}

/// How many of all strings of `depth` bits make each outcome, and how many do not suffice for any.
pub(crate) struct Outcomes<T> {
    pub(crate) made: BTreeMap<T, u64>,
    pub(crate) unfinished: u64,
    depth: usize,
}

impl<T: Ord> Outcomes<T> {
    pub(crate) fn of(depth: usize, draw: impl Fn(&mut Tape<'_>) -> Result<T>) -> Outcomes<T> {
        let mut outcomes = Outcomes {
            made: BTreeMap::new(),
            unfinished: 0,
            depth,
        };
        outcomes.descend(&mut Vec::new(), &draw);
        let counted = outcomes.made.values().sum::<u64>() + outcomes.unfinished;
        assert_eq!(counted, 1 << depth, "every string is counted once");
        outcomes
    }

    /// All strings that begin with these bits, where fewer do not suffice.
    fn descend(&mut self, bits: &mut Vec<bool>, draw: &impl Fn(&mut Tape<'_>) -> Result<T>) {
        let strings = 1 << (self.depth - bits.len());
        let mut tape = Tape::of(bits);
        let drawn = draw(&mut tape);
        let (read, missing) = (tape.read, tape.missing);
        if let Ok(outcome) = drawn {
            assert_eq!(read, bits.len(), "no bit is asked for and not used");
            *self.made.entry(outcome).or_default() += strings;
            return;
        }
        assert!(missing > 0, "no other error");
        if bits.len() + missing > self.depth {
            self.unfinished += strings;
            return;
        }
        for continued in 0..1u64 << missing {
            let length = bits.len();
            bits.extend((0..missing).map(|place| continued >> place & 1 == 1));
            self.descend(bits, draw);
            bits.truncate(length);
        }
    }
}

/// At every length of the strings each of the n is made by as many.
#[test]
fn integers_below_n_are_all_as_likely() {
    for n in 1..=17u32 {
        for depth in [5, 10, 15] {
            let outcomes = Outcomes::of(depth, |tape| tape.below(&n.into()));
            let each = outcomes.made[&UBig::ZERO];
            assert_eq!(outcomes.made.len(), n as usize);
            assert!(outcomes.made.values().all(|made| *made == each), "{n}");
            assert!(outcomes.made.keys().all(|u| *u < n.into()), "{n}");
            // Fewer than half of the tries fail, of at most five bits each.
            assert!(outcomes.unfinished <= (1 << depth) >> (depth / 5), "{n}");
        }
    }
}

/// Beyond a machine's word: each of 130 bits has a place of its own in the integer, and a power of two takes them all.
#[test]
fn long_integers_use_every_bit_once() {
    let length = 130;
    let n = UBig::ONE << length;
    let mut sum = UBig::ZERO;
    for place in 0..length {
        let bits: Vec<bool> = (0..length).map(|k| k == place).collect();
        let mut tape = Tape::of(&bits);
        let drawn = tape.below(&n).unwrap();
        assert!(drawn.count_ones() == 1 && tape.read == length);
        sum += drawn;
    }
    assert_eq!(sum, n - UBig::ONE);
}

/// a strings say yes for every n − a that say no, at every length.
#[test]
fn coins_are_true_with_the_stated_probability() {
    for n in 1..=9u32 {
        for a in 0..=n {
            let outcomes = Outcomes::of(12, |tape| tape.coin(&a.into(), &n.into()));
            let made = |outcome| outcomes.made.get(&outcome).copied().unwrap_or(0);
            let (yes, no) = (made(true), made(false));
            assert!(
                yes + no > 0 && yes * u64::from(n - a) == no * u64::from(a),
                "{a}/{n}"
            );
        }
    }
}
