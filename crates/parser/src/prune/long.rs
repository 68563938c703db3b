//! Trees of very long sentences by the model of single arcs alone: probabilities over all trees take cubic
//! time, and all arcs quadratic memory.
//!
//! A word's head is the root or stands within a window around it. Of these heads a few are kept, and always the
//! neighbours, so that the candidates hold a tree with one child of the root. Time is O(n log n), memory O(n).

use consonant_map::oracle::Oracle;
use consonant_map::oracle::arborescence::{self, Arborescence};
use consonant_map::{Certificate, Gap};

use super::Pruner;
use crate::ParserError;
use crate::features::{Encoded, Features};

/// Sentences with more words are decoded in this way.
pub(crate) const LONGEST: usize = 500;
/// How far away a head may stand there.
pub(crate) const WINDOW: usize = 50;
/// Candidate heads of a word there, besides the root and the neighbours.
const HEADS: usize = 6;

/// Buffers of one thread.
#[derive(Debug, Default)]
pub(crate) struct LongWorkspace {
    features: Features,
    numbers: Vec<u32>,
    weights: Vec<f32>,
    /// Heads of a word, and where their features end.
    ends: Vec<(usize, usize)>,
    row: Vec<(usize, f32)>,
    arcs: Vec<(usize, usize)>,
    scores: Vec<f64>,
    /// The probability of each candidate among the heads of its word.
    probabilities: Vec<f32>,
    tree: arborescence::Workspace,
    links: Vec<u32>,
}

impl Pruner {
    /// Writes the heads of the best tree over few candidates, and how probable they are. The certificate has no
    /// bound: parts of the model beside arcs were not looked at.
    pub(crate) fn parse_long(
        &self,
        sentence: &Encoded,
        workspace: &mut LongWorkspace,
        heads: &mut Vec<usize>,
        beliefs: &mut Vec<f32>,
    ) -> Result<Certificate, ParserError> {
        let LongWorkspace { features, numbers, weights, ends, row, arcs, scores, probabilities, tree, links } =
            workspace;
        let words = sentence.words();
        features.load_for_pruning(sentence);
        arcs.clear();
        scores.clear();
        probabilities.clear();
        for modifier in 1..=words {
            numbers.clear();
            let near = modifier.saturating_sub(WINDOW).max(1)..=(modifier + WINDOW).min(words);
            for head in std::iter::once(0).chain(near).filter(|&head| head != modifier) {
                features.pruning(sentence, head, modifier, numbers);
                ends.push((head, numbers.len()));
            }
            weights.clear();
            self.weights.gather(numbers, weights);
            row.clear();
            let mut start = 0;
            for (head, end) in ends.drain(..) {
                row.push((head, weights[start..end].iter().sum()));
                start = end;
            }
            let best = row.iter().map(|&(_, score)| score).fold(f32::NEG_INFINITY, f32::max);
            let total: f32 = row.iter().map(|&(_, score)| (score - best).exp()).sum();
            let is_kept = |head: usize| head == 0 || head.abs_diff(modifier) == 1;
            let order = |a: &(usize, f32), b: &(usize, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
            row.sort_unstable_by(|a, b| is_kept(b.0).cmp(&is_kept(a.0)).then_with(|| order(a, b)));
            let kept = row.partition_point(|&(head, _)| is_kept(head));
            row.truncate(kept + HEADS);
            row.sort_unstable_by_key(|&(head, _)| head);
            for &(head, score) in row.iter() {
                arcs.push((head, modifier));
                scores.push(score.into());
                probabilities.push((score - best).exp() / total);
            }
        }
        let candidates = Arborescence::new(words + 1, arcs, self.root_children)?;
        let value = candidates.maximize(scores, tree, links);
        heads.clear();
        heads.extend(candidates.heads(links));
        beliefs.clear();
        beliefs.extend(links.iter().map(|&link| probabilities[link as usize]));
        match heads.len() == words {
            true => Ok(Certificate::judge(Some(value), f64::INFINITY, Gap::default())),
            false => Err(ParserError::NoTree { words }),
        }
    }
}
