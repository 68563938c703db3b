//! Configurations that are any set of links.

use crate::flat::Refill;

/// A set of links, one bit for each.
///
/// Two sets are equal when they hold the same links of a factor of the same size.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subset {
    words: Vec<u64>,
}

impl Subset {
    /// Empties the set and makes room for links `0..links`.
    pub fn reset(&mut self, links: usize) {
        self.words.refill(links.div_ceil(64), 0);
    }

    /// Adds a link, which must lie in the range of the last [`reset`](Self::reset).
    pub fn insert(&mut self, link: usize) {
        self.words[link / 64] |= 1 << (link % 64);
    }

    /// Adds a link that is not in the set, and takes away one that is.
    pub fn toggle(&mut self, link: usize) {
        self.words[link / 64] ^= 1 << (link % 64);
    }

    /// Whether the link is in the set.
    pub fn contains(&self, link: usize) -> bool {
        self.words.get(link / 64).is_some_and(|word| word >> (link % 64) & 1 == 1)
    }

    /// The number of links in the set.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether no link is in the set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The links in the set, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            std::iter::successors((word != 0).then_some(word), |&rest| {
                let rest = rest & (rest - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |rest| index * 64 + rest.trailing_zeros() as usize)
        })
    }

    /// The number of links in both sets.
    pub fn overlap(&self, other: &Self) -> usize {
        self.words.iter().zip(&other.words).map(|(a, b)| (a & b).count_ones() as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_was_inserted() {
        let (mut a, mut b) = (Subset::default(), Subset::default());
        a.reset(130);
        b.reset(130);
        assert!(a.is_empty() && a.iter().next().is_none());
        for link in [0, 5, 63, 64, 129] {
            a.insert(link);
        }
        b.insert(63);
        b.insert(100);
        assert_eq!(a.iter().collect::<Vec<_>>(), [0, 5, 63, 64, 129]);
        assert_eq!((a.len(), a.overlap(&b), b.overlap(&b)), (5, 1, 2));
        assert!(a.contains(129) && !a.contains(128) && !a.contains(1000));
        a.reset(3);
        assert!(a.is_empty() && !a.contains(0));
    }
}
