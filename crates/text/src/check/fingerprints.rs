use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Most sentences of a file that are remembered: 64 MiB of fingerprints.
const MOST_SENTENCES: usize = 8 << 20;

/// Most different forms of a file that are remembered: about 20 MiB.
const MOST_FORMS: usize = 1 << 20;

/// How many fingerprints are gathered before they are merged into the sorted list.
const RECENT: usize = 1 << 16;

/// Which sentences were seen, eight bytes for each.
///
/// Two different sentences share a fingerprint with probability 2⁻⁶⁴; among eight million, some two do with
/// probability 2·10⁻⁶.
#[derive(Default)]
pub(super) struct Fingerprints {
    sorted: Vec<u64>,
    recent: FxHashSet<u64>,
}

impl Fingerprints {
    pub fn contains(&self, fingerprint: u64) -> bool {
        self.recent.contains(&fingerprint) || self.sorted.binary_search(&fingerprint).is_ok()
    }

    /// Remembers a sentence; says whether it is new. When there is no more room, it is not remembered.
    pub fn insert(&mut self, fingerprint: u64) -> bool {
        if self.contains(fingerprint) {
            return false;
        }
        if !self.is_full() {
            self.recent.insert(fingerprint);
            if self.recent.len() == RECENT {
                self.merge();
            }
        }
        true
    }

    pub fn is_full(&self) -> bool {
        self.sorted.len() + self.recent.len() >= MOST_SENTENCES
    }

    /// Merges from the back, within the list, so that at no time there are two of it.
    fn merge(&mut self) {
        let mut recent: Vec<u64> = self.recent.drain().collect();
        recent.sort_unstable();
        let mut old = self.sorted.len();
        self.sorted.reserve_exact(recent.len().max(old / 4));
        self.sorted.resize(old + recent.len(), 0);
        for place in (0..self.sorted.len()).rev() {
            let Some(&candidate) = recent.last() else {
                break;
            };
            if old > 0 && self.sorted[old - 1] > candidate {
                old -= 1;
                self.sorted[place] = self.sorted[old];
            } else {
                self.sorted[place] = candidate;
                recent.pop();
            }
        }
    }
}

/// Which forms were seen.
#[derive(Default)]
pub(super) struct Forms(FxHashSet<u64>);

impl Forms {
    pub fn insert(&mut self, form: u64) {
        if self.0.len() < MOST_FORMS {
            self.0.insert(form);
        }
    }

    pub fn contains(&self, form: u64) -> bool {
        self.0.contains(&form)
    }

    pub fn len(&self) -> u64 {
        self.0.len() as u64
    }
}

/// The fingerprint of a sentence from its forms.
#[derive(Default)]
pub(super) struct SentenceHash(Xxh3);

impl SentenceHash {
    /// Adds a form, and gives its own fingerprint.
    pub fn add(&mut self, form: &str) -> u64 {
        let hash = xxh3_64(form.as_bytes());
        self.0.update(&hash.to_le_bytes());
        hash
    }

    pub fn finish(self) -> u64 {
        self.0.digest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_or_not_everything_is_found() {
        let mut fingerprints = Fingerprints::default();
        let value = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let count = RECENT as u64 * 3 + 17;
        for i in 0..count {
            assert!(fingerprints.insert(value(i)));
        }
        assert!(fingerprints.sorted.is_sorted());
        assert_eq!(fingerprints.sorted.len(), RECENT * 3);
        for i in 0..count {
            assert!(!fingerprints.insert(value(i)));
        }
        assert!(!fingerprints.contains(value(count)));
    }
}
