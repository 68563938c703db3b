//! The scores of a sentence's labels.

use std::sync::Arc;

/// What the chain says about one sentence.
#[derive(Debug, Clone, Default)]
pub(crate) struct SentenceScores {
    /// A row of scores for each word; labels that may not begin or end a sentence are at minus infinity
    /// there.
    pub(crate) nodes: Vec<f32>,
    /// For each word but the first, scores by previous label and label, if they differ from word to word;
    /// else nothing. Words of equal shapes share a table.
    pub(crate) steps: Vec<Arc<[f32]>>,
    /// The best labels, and their score.
    pub(crate) path: Vec<u32>,
    pub(crate) value: f64,
}

impl SentenceScores {
    /// The score of other labels.
    pub(crate) fn score(&self, path: &[u32], transitions: &[f32]) -> f64 {
        let labels = self.nodes.len() / path.len().max(1);
        let nodes = path
            .iter()
            .enumerate()
            .map(|(word, &label)| f64::from(self.nodes[word * labels + label as usize]));
        let steps = path.windows(2).enumerate().map(|(word, pair)| {
            let cell = pair[0] as usize * labels + pair[1] as usize;
            f64::from(self.table(word + 1, transitions)[cell])
        });
        nodes.sum::<f64>() + steps.sum::<f64>()
    }

    /// The same with a bias taken from one label, and the labels that are then best.
    pub(crate) fn with_bias(&self, outside: usize, bias: f32, transitions: &[f32]) -> Self {
        let words = self.path.len();
        if bias == 0.0 || words == 0 {
            return self.clone();
        }
        let labels = self.nodes.len() / words;
        let mut nodes = self.nodes.clone();
        nodes.chunks_exact_mut(labels).for_each(|row| row[outside] -= bias);
        let mut best = nodes[..labels].to_vec();
        let mut from = vec![0u32; words * labels];
        for word in 1..words {
            let table = self.table(word, transitions);
            let next: Vec<f32> = (0..labels)
                .map(|label| {
                    let (mut score, mut before) = (f32::NEG_INFINITY, 0);
                    for previous in 0..labels {
                        let way = best[previous] + table[previous * labels + label];
                        if way > score {
                            (score, before) = (way, previous);
                        }
                    }
                    from[word * labels + label] = before as u32;
                    score + nodes[word * labels + label]
                })
                .collect();
            best = next;
        }
        let last = (0..labels).fold(0, |last, label| if best[label] > best[last] { label } else { last });
        let mut path = vec![last as u32; words];
        for word in (1..words).rev() {
            path[word - 1] = from[word * labels + path[word] as usize];
        }
        let mut biased = Self { nodes, steps: self.steps.clone(), path: Vec::new(), value: 0.0 };
        biased.value = biased.score(&path, transitions);
        biased.path = path;
        biased
    }

    /// The scores of a word's label by the label before.
    pub(crate) fn table<'t>(&'t self, word: usize, transitions: &'t [f32]) -> &'t [f32] {
        self.steps.get(word - 1).map_or(transitions, |table| table)
    }

    /// For each word, the labels whose best sequence scores at most `slack` less than the best of all.
    pub(crate) fn candidates(&self, transitions: &[f32], slack: f32, candidates: &mut Vec<Vec<u32>>) {
        let labels = self.nodes.len() / self.path.len().max(1);
        let losses = self.losses(transitions);
        for (&own, losses) in self.path.iter().zip(losses.chunks_exact(labels.max(1))) {
            // Rounding must not leave a word without a label.
            let near = |&label: &u32| losses[label as usize] <= slack || label == own;
            candidates.push((0..labels as u32).filter(near).collect());
        }
    }

    /// For each word and label, how much less than the best of all the best sequence scores that has it.
    pub(crate) fn losses(&self, transitions: &[f32]) -> Vec<f32> {
        let words = self.path.len();
        if words == 0 {
            return Vec::new();
        }
        let labels = self.nodes.len() / words;
        let table = |word: usize| self.table(word, transitions);
        let mut forward = self.nodes.clone();
        for word in 1..words {
            let (before, now) = forward.split_at_mut(word * labels);
            let before = &before[(word - 1) * labels..];
            let mut best = vec![f32::NEG_INFINITY; labels];
            for (from, row) in before.iter().zip(table(word).chunks_exact(labels)) {
                best.iter_mut().zip(row).for_each(|(best, step)| *best = best.max(from + step));
            }
            now.iter_mut().zip(best).for_each(|(score, best)| *score += best);
        }
        let mut backward = vec![0.0; labels];
        let best = forward[(words - 1) * labels..].iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mut losses = vec![0.0; words * labels];
        for word in (0..words).rev() {
            if word + 1 < words {
                let nodes = &self.nodes[(word + 1) * labels..][..labels];
                let after: Vec<f32> = backward.iter().zip(nodes).map(|(next, node)| next + node).collect();
                for (score, row) in backward.iter_mut().zip(table(word + 1).chunks_exact(labels)) {
                    *score = row
                        .iter()
                        .zip(&after)
                        .map(|(step, next)| step + next)
                        .fold(f32::NEG_INFINITY, f32::max);
                }
            }
            let through = forward[word * labels..][..labels].iter().zip(&backward);
            let row = losses[word * labels..][..labels].iter_mut();
            row.zip(through).for_each(|(loss, (before, after))| *loss = best - (before + after));
        }
        losses
    }
}
