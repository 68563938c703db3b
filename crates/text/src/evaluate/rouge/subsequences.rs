//! ROUGE-L: unions of longest common subsequences.

use rustc_hash::FxHashSet;

use super::{Bag, Tokens, single};
use crate::evaluate::score::Counts;

/// Longer sentences are cut for ROUGE-L, whose time and memory grow with the product of two sentences' lengths.
pub(super) const LONGEST: usize = 1 << 14;

/// The predicted sentences of ROUGE-L, and in which of them each word stands.
pub(super) struct Lines<'t> {
    lines: Vec<&'t [u32]>,
    /// Words with the numbers of their lines, sorted; a line once for each word.
    places: Vec<(u32, u32)>,
}

impl<'t> Lines<'t> {
    pub(super) fn of(predicted: &'t Tokens) -> Self {
        let lines: Vec<&[u32]> = predicted.lines().collect();
        let words = (0..).zip(&lines).flat_map(|(line, words)| words.iter().map(move |word| (*word, line)));
        let mut places: Vec<(u32, u32)> = words.collect();
        places.sort_unstable();
        places.dedup();
        Self { lines, places }
    }

    /// The lines with a word.
    fn with(&self, word: u32) -> impl Iterator<Item = usize> {
        let first = self.places.partition_point(|&(other, _)| other < word);
        self.places[first..]
            .iter()
            .take_while(move |(other, _)| *other == word)
            .map(|&(_, line)| line as usize)
    }

    /// ROUGE-L of whole summaries: for each reference sentence, the union of its longest common subsequences with
    /// all predicted sentences; a word counts at most as often as it occurs on both sides, whatever the
    /// subsequences say.
    ///
    /// A predicted sentence is looked at only if it has a word whose place in the reference is not in the union
    /// yet, and which counts: others change nothing. Frequent words are soon in the union and rare ones stand in
    /// few sentences, so that most pairs of sentences are never compared.
    pub(super) fn longest_common_subsequences(&self, gold: &Tokens, unigrams: &Bag) -> Counts {
        let mut left = unigrams.counts.clone();
        let mut correct = 0;
        let (mut hits, mut seen) = (Vec::new(), FxHashSet::default());
        let mut subsequences = Subsequences::default();
        for sentence in gold.lines() {
            hits.clear();
            hits.resize(sentence.len(), false);
            seen.clear();
            for (at, word) in sentence.iter().enumerate() {
                if left.get(&single(*word)).is_none_or(|left| *left == 0) {
                    continue;
                }
                for line in self.with(*word) {
                    if hits[at] {
                        break;
                    }
                    if seen.insert(line) {
                        subsequences.mark(sentence, self.lines[line], &mut hits);
                    }
                }
            }
            for (id, _) in sentence.iter().zip(&hits).filter(|(_, hit)| **hit) {
                if let Some(left) = left.get_mut(&single(*id)).filter(|left| **left > 0) {
                    *left -= 1;
                    correct += 1;
                }
            }
        }
        Counts { correct, gold: gold.ids.len() as u64, predicted: unigrams.total }
    }
}

/// Where one longest common subsequence after the other is looked for: a bit for each cell of the table.
#[derive(Default)]
struct Subsequences {
    /// Words of the prediction with their places, sorted.
    places: Vec<(u32, usize)>,
    /// For each prefix of the gold words a row of bits: zero where one more predicted word makes the subsequence longer.
    rows: Vec<u64>,
    blocks: usize,
}

impl Subsequences {
    /// Marks the words of `gold` on one longest common subsequence; of several it takes the one that the original
    /// takes, which goes back along `gold` first. Sixty-four cells are found at once (Hyyrö 2004).
    fn mark(&mut self, gold: &[u32], predicted: &[u32], hits: &mut [bool]) {
        let Self { places, rows, blocks } = self;
        places.clear();
        places.extend(predicted.iter().copied().zip(0..));
        places.sort_unstable();
        *blocks = predicted.len().div_ceil(64);
        rows.clear();
        rows.resize(*blocks, u64::MAX);
        for word in gold {
            let start = rows.len();
            rows.extend_from_within(start - *blocks..);
            let (before, row) = rows.split_at_mut(start);
            let before = &before[start - *blocks..];
            let first = places.partition_point(|(other, _)| other < word);
            let mut same = places[first..].iter().take_while(|(other, _)| other == word).peekable();
            let mut carry = false;
            for (block, (row, &before)) in row.iter_mut().zip(before).enumerate() {
                let mut mask = 0;
                while let Some((_, place)) = same.next_if(|(_, place)| place / 64 == block) {
                    mask |= 1 << (place % 64);
                }
                let (sum, one) = before.overflowing_add(before & mask);
                let (sum, other) = sum.overflowing_add(carry.into());
                carry = one || other;
                *row = sum | (before & !mask);
            }
        }
        let (mut i, mut j) = (gold.len(), predicted.len());
        // The length of the subsequence with all and with all but the last of the gold words.
        let (mut all, mut but_last) = (self.length(i, j), self.length(i.saturating_sub(1), j));
        while i > 0 && j > 0 {
            let is_same = gold[i - 1] == predicted[j - 1];
            if is_same || all - but_last <= self.step(i, j) {
                j -= usize::from(is_same);
                i -= 1;
                hits[i] |= is_same;
                (all, but_last) = (self.length(i, j), self.length(i.saturating_sub(1), j));
            } else {
                (all, but_last) = (all - self.step(i, j), but_last - self.step(i - 1, j));
                j -= 1;
            }
        }
    }

    /// By how much predicted word `j` makes the subsequence with the first `i` gold words longer.
    fn step(&self, i: usize, j: usize) -> usize {
        usize::from(self.rows[i * self.blocks + (j - 1) / 64] >> ((j - 1) % 64) & 1 == 0)
    }

    /// The length of the subsequence of the first `i` gold and the first `j` predicted words.
    fn length(&self, i: usize, j: usize) -> usize {
        let row = &self.rows[i * self.blocks..];
        let whole: u32 = row[..j / 64].iter().map(|block| block.count_zeros()).sum();
        let rest = if j.is_multiple_of(64) { 0 } else { (!row[j / 64] & ((1 << (j % 64)) - 1)).count_ones() };
        (whole + rest) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::rouge::{Rouge, Vocabulary};

    const PLAIN: Rouge = Rouge { stemming: false, words: None };

    /// Random numbers below a limit.
    fn numbers(mut state: u64) -> impl FnMut(u64) -> u64 {
        move |limit| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % limit
        }
    }

    /// The table cell by cell, and the way back through it.
    fn by_table(gold: &[u32], predicted: &[u32], hits: &mut [bool]) {
        let width = predicted.len() + 1;
        let mut table = vec![0; (gold.len() + 1) * width];
        for i in 1..=gold.len() {
            for j in 1..=predicted.len() {
                table[i * width + j] = match gold[i - 1] == predicted[j - 1] {
                    true => table[(i - 1) * width + j - 1] + 1,
                    false => u32::max(table[(i - 1) * width + j], table[i * width + j - 1]),
                };
            }
        }
        let (mut i, mut j) = (gold.len(), predicted.len());
        while i > 0 && j > 0 {
            if gold[i - 1] == predicted[j - 1] {
                (i, j) = (i - 1, j - 1);
                hits[i] = true;
            } else if table[(i - 1) * width + j] >= table[i * width + j - 1] {
                i -= 1;
            } else {
                j -= 1;
            }
        }
    }

    #[test]
    fn bits_find_the_subsequence_of_the_table() {
        let mut below = numbers(1);
        let mut subsequences = Subsequences::default();
        for round in 0..2000 {
            let words = 1 + below(12);
            let [gold, predicted] = [(); 2]
                .map(|()| (0..below([8, 150][round % 2])).map(|_| below(words) as u32).collect::<Vec<_>>());
            let (mut hits, mut expected) = (vec![false; gold.len()], vec![false; gold.len()]);
            subsequences.mark(&gold, &predicted, &mut hits);
            by_table(&gold, &predicted, &mut expected);
            assert_eq!(hits, expected, "{gold:?} {predicted:?}");
        }
    }

    /// Every pair of sentences, whatever is known before.
    fn by_pairs(summary: &str, reference: &str) -> u64 {
        let mut vocabulary = Vocabulary::default();
        let [gold, predicted] = [reference, summary].map(|text| Tokens::read(text, &PLAIN, &mut vocabulary));
        let mut left = predicted.unigrams().counts;
        let mut correct = 0;
        for sentence in gold.lines() {
            let mut hits = vec![false; sentence.len()];
            predicted.lines().for_each(|other| by_table(sentence, other, &mut hits));
            for (id, _) in sentence.iter().zip(hits).filter(|(_, hit)| *hit) {
                let left = left.get_mut(&single(*id)).filter(|left| **left > 0);
                correct += left.map_or(0, |left| {
                    *left -= 1;
                    1
                });
            }
        }
        correct
    }

    #[test]
    fn sentences_that_are_passed_over_change_nothing() {
        let mut below = numbers(7);
        for _ in 0..1000 {
            let words = 1 + below(15);
            let [summary, reference] = [(); 2].map(|()| {
                let line = |length| (0..length).map(|_| format!("w{} ", below(words))).collect::<String>();
                let lengths: Vec<u64> = [3, 7, 5, 9, 1, 4].into_iter().take(1 + words as usize % 6).collect();
                lengths.into_iter().map(line).collect::<Vec<_>>().join("\n")
            });
            let expected = by_pairs(&summary, &reference);
            let recall = PLAIN.score(&summary, &[&reference]).rouge_l.recall;
            let all = reference.split_whitespace().count() as f64;
            assert_eq!((recall * all).round() as u64, expected, "{summary}\n--\n{reference}");
        }
    }
}
