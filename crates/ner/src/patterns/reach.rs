//! Which labels agreement can bring about: all others are settled before anything is solved.
//!
//! A sentence that left its own best labels for others would lose what its chain says against them. If that is more
//! than all its links can give, going back is better, whatever the rest of the group does: no best assignment has
//! such a label. Where labels fall, links can give less, so this goes in rounds.

use super::links::{EQUAL_PHRASE, GroupLinks, Layout};
use crate::scores::SentenceScores;

/// More rounds seldom settle more.
const ROUNDS: usize = 4;
/// Rounding of sums of single precision, relative to their size.
const ROUNDING: f32 = 1e-4;

/// For each token of a group, the labels that it may have in a best assignment.
pub(crate) fn reachable(
    layout: &Layout,
    links: &GroupLinks,
    weights: &[f32],
    scores: &[&SentenceScores],
    transitions: &[f32],
) -> Vec<Vec<u32>> {
    let every: Vec<u32> = (0..layout.labels as u32).collect();
    let mut candidates: Vec<Vec<u32>> = Vec::with_capacity(links.starts[scores.len()]);
    let mut losses = Vec::with_capacity(scores.len());
    for (scores, &linked) in scores.iter().zip(&links.linked) {
        let settled = scores.path.iter().map(|&label| if linked { every.clone() } else { vec![label] });
        candidates.extend(settled);
        losses.push(if linked { scores.losses(transitions) } else { Vec::new() });
    }
    let sentence_of = |token: u32| links.starts.partition_point(|&start| start <= token as usize) - 1;
    for _ in 0..ROUNDS {
        // What the links of each sentence can give at most.
        let mut gains = vec![0f32; scores.len()];
        let mut give = |one: u32, other: u32, gain: f32| {
            let (one, other) = (sentence_of(one), sentence_of(other));
            gains[one] += gain;
            if other != one {
                gains[other] += gain;
            }
        };
        for &(one, other, case) in &links.skips {
            let (mut most, mut least) = (0f32, 0f32);
            for &a in &candidates[one as usize] {
                for &b in &candidates[other as usize] {
                    if let Some(weight) = layout.skip(case.into(), a as usize, b as usize) {
                        (most, least) = (most.max(weights[weight]), least.min(weights[weight]));
                    }
                }
            }
            give(one, other, most - least);
        }
        for &(one, other, length) in &links.phrases {
            if layout.equal {
                give(one, other, weights[EQUAL_PHRASE].abs());
                continue;
            }
            let possible = |from: u32, kind: usize| {
                (0..length as usize).all(|word| {
                    let label = layout.label_in(kind, word, length as usize);
                    label.is_some_and(|label| candidates[from as usize + word].contains(&label))
                })
            };
            for kind in (0..layout.types).filter(|&kind| possible(one, kind) && possible(other, kind)) {
                give(one, other, weights[layout.phrase(kind)].abs());
            }
        }
        let mut changed = false;
        for (sentence, scores) in scores.iter().enumerate().filter(|(sentence, _)| links.linked[*sentence]) {
            let gain = gains[sentence] + ROUNDING * (gains[sentence] + scores.value.abs() as f32);
            let words = links.starts[sentence]..links.starts[sentence + 1];
            for ((word, of_word), candidates) in
                losses[sentence].chunks_exact(layout.labels).enumerate().zip(&mut candidates[words])
            {
                let before = candidates.len();
                candidates.retain(|&label| label == scores.path[word] || of_word[label as usize] <= gain);
                changed |= candidates.len() < before;
            }
        }
        if !changed {
            break;
        }
    }
    candidates
}
