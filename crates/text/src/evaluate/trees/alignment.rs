//! Which gold word is which predicted word, where the two sides may cut the text differently.

use super::treebank::{Treebank, Word};
use crate::evaluate::EvaluationError;

/// Cells of the largest table of a multiword span; beyond it the files do not belong together.
const LARGEST_TABLE: usize = 1 << 26;

/// Pairs of a gold and a predicted word.
#[derive(Debug)]
pub(super) struct Alignment {
    pairs: Vec<(usize, usize)>,
    /// For each predicted word, the gold word it is aligned with.
    gold_of: Vec<Option<usize>>,
}

impl Alignment {
    pub(super) fn of(gold: &Treebank, predicted: &Treebank) -> Result<Alignment, EvaluationError> {
        let (gold, predicted) = (gold.words(), predicted.words());
        let mut alignment = Alignment { pairs: Vec::new(), gold_of: vec![None; predicted.len()] };
        let mut table = Vec::new();
        let (mut g, mut p) = (0, 0);
        while g < gold.len() && p < predicted.len() {
            let (left, right) = (&gold[g], &predicted[p]);
            if left.in_multiword || right.in_multiword {
                let span = MultiwordSpan::find(gold, predicted, g, p);
                span.align(gold, predicted, &mut table, &mut alignment)?;
                (g, p) = (span.gold.end, span.predicted.end);
            } else if (left.start, left.end) == (right.start, right.end) {
                alignment.add(g, p);
                (g, p) = (g + 1, p + 1);
            } else if left.start <= right.start {
                g += 1;
            } else {
                p += 1;
            }
        }
        Ok(alignment)
    }

    fn add(&mut self, gold: usize, predicted: usize) {
        self.pairs.push((gold, predicted));
        self.gold_of[predicted] = Some(gold);
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.pairs.iter().copied()
    }

    pub(super) fn gold_of(&self, predicted: usize) -> Option<usize> {
        self.gold_of[predicted]
    }
}

/// The smallest stretch of text with a multiword token that cuts none on either side.
struct MultiwordSpan {
    gold: std::ops::Range<usize>,
    predicted: std::ops::Range<usize>,
}

impl MultiwordSpan {
    /// Grows the span from words `g` and `p`, one of which is in a multiword token.
    fn find(gold: &[Word], predicted: &[Word], mut g: usize, mut p: usize) -> MultiwordSpan {
        let mut end;
        if gold[g].in_multiword {
            end = gold[g].end;
            p += usize::from(!predicted[p].in_multiword && predicted[p].start < gold[g].start);
        } else {
            end = predicted[p].end;
            g += usize::from(!gold[g].in_multiword && gold[g].start < predicted[p].start);
        }
        let (gold_start, predicted_start) = (g, p);
        while !is_beyond(gold, g, end) || !is_beyond(predicted, p, end) {
            let gold_first =
                g < gold.len() && predicted.get(p).is_none_or(|right| gold[g].start <= right.start);
            let word = if gold_first { &gold[g] } else { &predicted[p] };
            if word.in_multiword {
                end = end.max(word.end);
            }
            g += usize::from(gold_first);
            p += usize::from(!gold_first);
        }
        MultiwordSpan { gold: gold_start..g, predicted: predicted_start..p }
    }

    /// Aligns the words inside by the longest common subsequence of their forms in lower case.
    fn align(
        &self,
        gold: &[Word],
        predicted: &[Word],
        table: &mut Vec<u32>,
        alignment: &mut Alignment,
    ) -> Result<(), EvaluationError> {
        let (height, width) = (self.gold.len(), self.predicted.len());
        if height.saturating_mul(width) > LARGEST_TABLE {
            return Err(EvaluationError::MultiwordSpanTooLong { gold: height, predicted: width });
        }
        let same = |g: usize, p: usize| {
            gold[self.gold.start + g].form_in_lower_case
                == predicted[self.predicted.start + p].form_in_lower_case
        };
        // table[g, p] is the length of the longest common subsequence of what follows g and p.
        let stride = width + 1;
        table.clear();
        table.resize((height + 1) * stride, 0);
        for g in (0..height).rev() {
            for p in (0..width).rev() {
                let skip = table[(g + 1) * stride + p].max(table[g * stride + p + 1]);
                let take = if same(g, p) { 1 + table[(g + 1) * stride + p + 1] } else { 0 };
                table[g * stride + p] = skip.max(take);
            }
        }
        let (mut g, mut p) = (0, 0);
        while g < height && p < width {
            if same(g, p) {
                alignment.add(self.gold.start + g, self.predicted.start + p);
                (g, p) = (g + 1, p + 1);
            } else if table[g * stride + p] == table[(g + 1) * stride + p] {
                g += 1;
            } else {
                p += 1;
            }
        }
        Ok(())
    }
}

/// Is the word outside a span that ends at `end`? A multiword token that begins inside belongs to it; a plain
/// word must also end inside.
fn is_beyond(words: &[Word], index: usize, end: usize) -> bool {
    words.get(index).is_none_or(|word| if word.in_multiword { word.start >= end } else { word.end > end })
}
