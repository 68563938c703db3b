//! What a sequence may not do: forbidden transitions and candidate labels.

use super::error::{Result, check_label};

/// Which labels may start a sequence, follow one another, and end it.
///
/// A mask is compiled into [`Transitions`](super::Transitions) when they are built. It takes one bit a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransitionMask {
    labels: usize,
    forbidden: Vec<u64>,
    forbidden_start: Vec<bool>,
    forbidden_end: Vec<bool>,
}

impl TransitionMask {
    /// A mask that forbids nothing.
    pub fn all_allowed(labels: usize) -> Self {
        Self {
            labels,
            forbidden: vec![0; (labels * labels).div_ceil(64)],
            forbidden_start: vec![false; labels],
            forbidden_end: vec![false; labels],
        }
    }

    /// A mask from three predicates: may this label start, may the second label follow the first, may this
    /// label end?
    ///
    /// ```
    /// use consonant_sequence::inference::TransitionMask;
    /// // O, B, I: an entity's inside needs a beginning before it.
    /// let bio = TransitionMask::from_fn(3, |first| first != 2, |previous, label| label != 2 || previous != 0, |_| true);
    /// assert!(!bio.allows(0, 2) && bio.allows(1, 2) && !bio.allows_start(2));
    /// ```
    pub fn from_fn(
        labels: usize,
        start: impl Fn(u32) -> bool,
        pair: impl Fn(u32, u32) -> bool,
        end: impl Fn(u32) -> bool,
    ) -> Self {
        let mut mask = Self::all_allowed(labels);
        for label in 0..labels as u32 {
            mask.forbidden_start[label as usize] = !start(label);
            mask.forbidden_end[label as usize] = !end(label);
            for next in 0..labels as u32 {
                if !pair(label, next) {
                    mask.set(label, next);
                }
            }
        }
        mask
    }

    fn set(&mut self, previous: u32, label: u32) {
        let bit = previous as usize * self.labels + label as usize;
        self.forbidden[bit / 64] |= 1 << (bit % 64);
    }

    /// Forbids `label` directly after `previous`.
    pub fn forbid(&mut self, previous: u32, label: u32) -> Result<()> {
        check_label("forbidden transition", previous, self.labels)?;
        check_label("forbidden transition", label, self.labels)?;
        self.set(previous, label);
        Ok(())
    }

    /// Forbids `label` at the first position.
    pub fn forbid_start(&mut self, label: u32) -> Result<()> {
        check_label("forbidden start", label, self.labels)?;
        self.forbidden_start[label as usize] = true;
        Ok(())
    }

    /// Forbids `label` at the last position.
    pub fn forbid_end(&mut self, label: u32) -> Result<()> {
        check_label("forbidden end", label, self.labels)?;
        self.forbidden_end[label as usize] = true;
        Ok(())
    }

    /// Whether `label` may follow `previous`; a label outside the set is never allowed.
    pub fn allows(&self, previous: u32, label: u32) -> bool {
        let (previous, label) = (previous as usize, label as usize);
        if previous >= self.labels || label >= self.labels {
            return false;
        }
        let bit = previous * self.labels + label;
        self.forbidden[bit / 64] >> (bit % 64) & 1 == 0
    }

    /// Whether `label` may stand first.
    pub fn allows_start(&self, label: u32) -> bool {
        self.forbidden_start.get(label as usize) == Some(&false)
    }

    /// Whether `label` may stand last.
    pub fn allows_end(&self, label: u32) -> bool {
        self.forbidden_end.get(label as usize) == Some(&false)
    }

    /// Size of the label set.
    pub fn labels(&self) -> usize {
        self.labels
    }
}

/// The labels each position may take: a tag dictionary (Ratnaparkhi 1996), labels known beforehand, or
/// everything.
///
/// A buffer to clear and fill for each sentence. Cost of inference falls from L² to the product of
/// neighbouring lists.
#[derive(Debug, Clone, Default)]
pub struct Candidates {
    labels: Vec<u32>,
    /// Range of each position within `labels`; `None` stands for every label.
    ranges: Vec<Option<(usize, usize)>>,
}

impl Candidates {
    /// An empty list of positions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all positions and keeps the memory.
    pub fn clear(&mut self) {
        self.labels.clear();
        self.ranges.clear();
    }

    /// Appends a position that may take every label.
    pub fn push_all(&mut self) {
        self.ranges.push(None);
    }

    /// Appends a position that may take these labels only; one label fixes it, none makes the sentence
    /// impossible.
    pub fn push(&mut self, labels: &[u32]) {
        let start = self.labels.len();
        self.labels.extend_from_slice(labels);
        self.labels[start..].sort_unstable();
        let mut end = start;
        for index in start..self.labels.len() {
            if end == start || self.labels[end - 1] != self.labels[index] {
                self.labels[end] = self.labels[index];
                end += 1;
            }
        }
        self.labels.truncate(end);
        self.ranges.push(Some((start, end)));
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The labels of a position in ascending order, or `None` when it may take every label.
    pub fn at(&self, position: usize) -> Option<&[u32]> {
        self.ranges[position].map(|(start, end)| &self.labels[start..end])
    }

    /// Refuses labels outside the set.
    pub(crate) fn check(&self, labels: usize) -> Result<()> {
        for position in 0..self.len() {
            if let Some(&largest) = self.at(position).and_then(|list| list.last()) {
                check_label("candidate", largest, labels)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_sorted_without_repeats() {
        let mut candidates = Candidates::new();
        candidates.push(&[3, 1, 3, 2, 1]);
        candidates.push_all();
        candidates.push(&[]);
        assert_eq!(candidates.at(0), Some(&[1, 2, 3][..]));
        assert_eq!(candidates.at(1), None);
        assert_eq!(candidates.at(2), Some(&[][..]));
        assert!(candidates.check(3).is_err() && candidates.check(4).is_ok());
    }

    #[test]
    fn labels_outside_the_set_are_refused() {
        let mut mask = TransitionMask::all_allowed(2);
        assert!(mask.forbid(0, 2).is_err() && mask.forbid_start(2).is_err() && mask.forbid_end(9).is_err());
        assert!(!mask.allows(2, 0) && !mask.allows_start(2));
        mask.forbid(1, 0).unwrap();
        assert!(!mask.allows(1, 0) && mask.allows(0, 1));
    }
}
