//! Feature keys: 64-bit hashes, made once and used everywhere.
//!
//! A feature is known by its key alone. Tables take their slot from the upper bits of a key and verify it
//! with the lower ones, so every bit must be well mixed: make keys only with [`key`] and [`combine`].

use xxhash_rust::xxh3::xxh3_64;

/// The key of a feature that is written as bytes.
#[inline]
pub fn key(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// The key of an ordered pair of keys: `combine(a, b)` differs from `combine(b, a)`.
///
/// A folded 64×64→128 bit multiplication, the mixing step of wyhash: one multiplication, all bits depend on
/// all bits.
#[inline]
pub fn combine(a: u64, b: u64) -> u64 {
    let product =
        u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b.rotate_left(23) ^ 0xa076_1d64_78bd_642f);
    (product as u64) ^ ((product >> 64) as u64)
}

/// A number that other training data will not have: built from all that was read, in its order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Adds a number.
    pub fn number(&mut self, number: u64) {
        self.0 = combine(self.0, number);
    }

    /// Adds numbers, and how many they are.
    pub fn numbers(&mut self, numbers: impl IntoIterator<Item = u32>) {
        let mut count = 0;
        for number in numbers {
            self.number(u64::from(number));
            count += 1;
        }
        self.number(count);
    }

    /// Adds a text.
    pub fn text(&mut self, text: &str) {
        self.number(key(text.as_bytes()));
    }

    /// The fingerprint of everything so far.
    pub fn get(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_small_numbers_do_not_collide_in_either_half() {
        let mut keys: Vec<u64> = (0..300)
            .flat_map(|a| (0..300).map(move |b| combine(key(&[a as u8, (a >> 8) as u8]), b)))
            .collect();
        for shift in [0, 16] {
            let mut halves: Vec<u64> = keys.iter().map(|k| (k >> shift) & 0xffff_ffff_ffff).collect();
            halves.sort_unstable();
            halves.dedup();
            assert_eq!(halves.len(), 90_000, "48 bits must tell 90,000 pairs apart");
        }
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 90_000);
        assert_ne!(combine(1, 2), combine(2, 1));
    }

    #[test]
    fn fingerprints_tell_orders_and_borders_apart() {
        let of = |texts: &[&str]| {
            let mut fingerprint = Fingerprint::default();
            texts.iter().for_each(|text| fingerprint.text(text));
            fingerprint.get()
        };
        let all = [of(&[]), of(&["ab"]), of(&["a", "b"]), of(&["b", "a"]), of(&["ab", ""])];
        assert!((0..all.len()).all(|at| !all[..at].contains(&all[at])));
    }
}
