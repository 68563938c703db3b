//! Labels as sums of parts.
//!
//! A label of a rich tag set, `NOUN Case=Gen|Number=Plur`, is rare, and its parts are not. A weight row then
//! has an entry for each part beside those for whole labels, and the score of a label is the sum over itself
//! and its parts: what is learned about the genitive serves all labels that have it (Müller, Schmid & Schütze
//! 2013, Efficient higher-order CRFs for morphological tagging, EMNLP, do the same).

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::Labels;

/// Writes the names of a label's parts into a list.
pub type PartsOfLabel = fn(&str, &mut Vec<String>);

/// Which parts each label has. The entries of a weight row are numbered labels first, then parts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct LabelParts {
    labels: usize,
    names: Vec<String>,
    /// Where the parts of each label begin in `list`; one more at the end.
    starts: Vec<u32>,
    list: Vec<u32>,
}

impl LabelParts {
    /// Without a rule, labels have no parts but themselves.
    pub(crate) fn new(labels: &Labels, parts_of: Option<PartsOfLabel>) -> Self {
        let mut parts = Self { labels: labels.len(), starts: vec![0], ..Self::default() };
        let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
        let mut found = Vec::new();
        for label in labels.names() {
            if let Some(parts_of) = parts_of {
                found.clear();
                parts_of(label, &mut found);
                found.sort_unstable();
                found.dedup();
                for name in found.drain(..) {
                    let next = (labels.len() + parts.names.len()) as u32;
                    let number = *numbers.entry(name.clone()).or_insert(next);
                    if number == next {
                        parts.names.push(name);
                    }
                    parts.list.push(number);
                }
            }
            parts.starts.push(parts.list.len() as u32);
        }
        parts
    }

    /// Whether these could come from a file for this many labels.
    pub(crate) fn fits(&self, labels: usize) -> bool {
        let entries = labels + self.names.len();
        self.labels == labels
            && self.starts.len() == labels + 1
            && self.starts.windows(2).all(|pair| pair[0] <= pair[1])
            && self.starts.first() == Some(&0)
            && self.starts.last().is_some_and(|&end| end as usize == self.list.len())
            && self.list.iter().all(|&part| (labels..entries).contains(&(part as usize)))
    }

    /// The number of labels.
    #[inline]
    pub(crate) fn labels(&self) -> usize {
        self.labels
    }

    /// The number of entries of a full weight row.
    pub(crate) fn entries(&self) -> usize {
        self.labels + self.names.len()
    }

    /// Whether labels have no parts but themselves.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The parts of a label, without itself.
    #[inline]
    pub(crate) fn of(&self, label: u32) -> &[u32] {
        &self.list[self.starts[label as usize] as usize..self.starts[label as usize + 1] as usize]
    }

    /// The name of a part, given the number of its entry.
    pub(crate) fn name(&self, entry: u32) -> Option<&str> {
        (entry as usize).checked_sub(self.labels).and_then(|part| self.names.get(part)).map(String::as_str)
    }

    /// The entry here of an entry of other parts: labels keep their numbers, parts their names.
    pub(crate) fn translation(&self, from: &Self) -> Vec<Option<u32>> {
        let own: FxHashMap<&str, u32> = self
            .names
            .iter()
            .zip(self.labels as u32..)
            .map(|(name, number)| (name.as_str(), number))
            .collect();
        let labels = (0..from.labels as u32).map(Some);
        labels.chain(from.names.iter().map(|name| own.get(name.as_str()).copied())).collect()
    }

    /// Turns a row of scores by entry into scores by label.
    pub(crate) fn gather(&self, entries: &[f32], labels: &mut [f32]) {
        let bounds = self.starts.iter().zip(&self.starts[1..]);
        for ((score, &own), (&start, &end)) in labels.iter_mut().zip(entries).zip(bounds) {
            // Nearly all labels of most tag sets have two parts.
            *score = match self.list[start as usize..end as usize] {
                [a, b] => own + entries[a as usize] + entries[b as usize],
                ref parts => parts.iter().fold(own, |sum, &part| sum + entries[part as usize]),
            };
        }
    }

    /// Extends numbers by label to numbers by entry, where a part has the sum over its labels.
    pub(crate) fn spread<'v>(&self, labels: &'v [f32], scratch: &'v mut Vec<f32>) -> &'v [f32] {
        if self.is_empty() {
            return labels;
        }
        scratch.clear();
        scratch.extend_from_slice(labels);
        scratch.resize(self.entries(), 0.0);
        for (label, &number) in labels.iter().enumerate().filter(|&(_, &number)| number != 0.0) {
            self.of(label as u32).iter().for_each(|&part| scratch[part as usize] += number);
        }
        scratch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(label: &str, parts: &mut Vec<String>) {
        parts.extend(label.chars().map(String::from));
    }

    #[test]
    fn scores_are_gathered_and_gradients_spread_by_the_same_parts() {
        let labels: Labels = ["ab", "b", "ca"].iter().collect();
        let parts = LabelParts::new(&labels, Some(letters));
        assert_eq!((parts.labels(), parts.entries()), (3, 6));
        assert!(parts.fits(3) && !parts.fits(2));
        assert_eq!(parts.name(3), Some("a"));
        assert_eq!(parts.name(2), None);
        let mut scores = [0.0; 3];
        parts.gather(&[1.0, 2.0, 3.0, 10.0, 20.0, 30.0], &mut scores);
        assert_eq!(scores, [31.0, 22.0, 43.0]);
        let mut scratch = Vec::new();
        assert_eq!(parts.spread(&[1.0, 2.0, 4.0], &mut scratch), [1.0, 2.0, 4.0, 5.0, 3.0, 4.0]);
        let whole = LabelParts::new(&labels, None);
        assert_eq!(whole.spread(&[1.0, 2.0, 4.0], &mut scratch), [1.0, 2.0, 4.0]);
        let more: Labels = ["ab", "b", "ca", "d"].iter().collect();
        let grown = LabelParts::new(&more, Some(letters));
        assert_eq!(grown.translation(&parts), [Some(0), Some(1), Some(2), Some(4), Some(5), Some(6)]);
    }
}
