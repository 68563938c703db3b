//! Labels that the best sequence cannot have, found before the search.

use crate::inference::{Candidates, kernels};
use crate::ngrams::LabelGrams;

/// With fewer labels the plain search is as fast.
const LEAST_LABELS: usize = 256;

/// The least and the most that all grams over a position can add, by the label there.
///
/// Dead-end elimination (Desmet, De Maeyer, Hazes & Lasters 1992, Nature 356): a label goes if another one in
/// its place would score more whatever the labels around are. The best sequence stays, and with a thousand
/// labels few others do.
#[derive(Debug, Clone)]
pub(crate) struct GramBounds {
    least: Vec<f32>,
    most: Vec<f32>,
    kept: Vec<u32>,
}

impl GramBounds {
    /// For chains where it pays.
    pub(crate) fn new(grams: &LabelGrams, labels: usize, weights: &[f32]) -> Option<Self> {
        (labels >= LEAST_LABELS && grams.order() > 0).then(|| Self::of(grams, labels, weights))
    }

    fn of(grams: &LabelGrams, labels: usize, weights: &[f32]) -> Self {
        // Extremes by label, length of the gram and place in it; a gram without weight adds nothing.
        let places = (grams.order() + 1) * (grams.order() + 2);
        let (mut least, mut most) = (vec![0.0f32; labels * places], vec![0.0f32; labels * places]);
        for (gram, &weight) in grams.grams().iter().zip(weights) {
            for (place, &label) in gram.iter().enumerate() {
                let at = label as usize * places + (gram.len() - 1) * (grams.order() + 1) + place;
                least[at] = least[at].min(weight);
                most[at] = most[at].max(weight);
            }
        }
        let sums = |extremes: &[f32]| extremes.chunks_exact(places).map(|row| row.iter().sum()).collect();
        Self { least: sums(&least), most: sums(&most), kept: Vec::new() }
    }

    /// Writes the labels that remain of the allowed ones (all if there is no list), position by position.
    pub(crate) fn narrow(&mut self, nodes: &[f32], allowed: Option<&Candidates>, narrowed: &mut Candidates) {
        for (position, scores) in nodes.chunks_exact(self.least.len()).enumerate() {
            let (least, most, kept) = (&self.least, &self.most, &mut self.kept);
            // Sums of single precision differ in their last digits by the order of their terms.
            let safe = |floor: f32| floor - 1e-4 * floor.abs().max(1.0);
            kept.clear();
            match allowed.and_then(|allowed| allowed.at(position)) {
                Some(given) => {
                    let reached = given.iter().map(|&label| scores[label as usize] + least[label as usize]);
                    let floor = safe(reached.fold(f32::NEG_INFINITY, f32::max));
                    let possible = |&&label: &&u32| scores[label as usize] + most[label as usize] >= floor;
                    kept.extend(given.iter().filter(possible));
                }
                None => {
                    let floor = safe(kernels::max_sum(scores, least));
                    let possible = scores.iter().zip(most).enumerate();
                    kept.extend(
                        possible
                            .filter(|(_, (score, most))| **score + **most >= floor)
                            .map(|(label, _)| label as u32),
                    );
                }
            }
            narrowed.push(kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::{Chain, Workspace};

    struct Random(u64);

    impl Random {
        fn below(&mut self, most: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % most
        }

        fn score(&mut self, scale: f32) -> f32 {
            (self.below(2001) as f32 / 1000.0 - 1.0) * scale
        }
    }

    fn random_grams(random: &mut Random, labels: usize, order: usize) -> LabelGrams {
        let mut grams: Vec<Box<[u32]>> = Vec::new();
        for length in 2..=order + 1 {
            for _ in 0..3 * labels {
                let gram: Box<[u32]> = (0..length).map(|_| random.below(labels as u64) as u32).collect();
                if !grams.contains(&gram) {
                    grams.push(gram);
                }
            }
        }
        LabelGrams::restore(labels, order, false, grams).unwrap()
    }

    #[test]
    fn the_search_finds_the_same_score_among_the_labels_that_remain() {
        let mut random = Random(3);
        let (mut kept, mut all) = (0, 0);
        for round in 0..400 {
            let (labels, order) = (2 + random.below(12) as usize, 1 + round % 3);
            let grams = random_grams(&mut random, labels, order);
            let weights: Vec<f32> = (0..grams.len()).map(|_| random.score(1.0)).collect();
            let mut transitions = grams.transitions(None).unwrap();
            transitions.load(&weights).unwrap();
            let length = 1 + random.below(7) as usize;
            let nodes: Vec<f32> = (0..length * labels).map(|_| random.score(12.0)).collect();
            let chain = Chain::new(&nodes, &transitions).unwrap();
            let allowed = (round % 2 == 0).then(|| {
                let mut allowed = Candidates::new();
                for _ in 0..length {
                    let first = random.below(labels as u64) as u32;
                    allowed.push(&[first, random.below(labels as u64) as u32]);
                }
                allowed
            });
            let mut narrowed = Candidates::new();
            GramBounds::of(&grams, labels, &weights).narrow(&nodes, allowed.as_ref(), &mut narrowed);
            kept += (0..length).map(|t| narrowed.at(t).map_or(labels, <[u32]>::len)).sum::<usize>();
            all += (0..length)
                .map(|t| allowed.as_ref().and_then(|allowed| allowed.at(t)).map_or(labels, <[u32]>::len))
                .sum::<usize>();
            let (mut workspace, mut path) = (Workspace::new(), Vec::new());
            let found = workspace.viterbi(&chain.with_candidates(&narrowed).unwrap(), &mut path).unwrap();
            let limited = allowed.as_ref().map_or(chain, |allowed| chain.with_candidates(allowed).unwrap());
            let best = workspace.viterbi(&limited, &mut path).unwrap();
            assert_eq!(found, best);
        }
        assert!(kept * 4 < all * 3, "some labels go: {kept} of {all} remain");
    }
}
