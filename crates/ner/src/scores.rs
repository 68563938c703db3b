//! The scores of a sentence's labels, with the sums of features that depend on one word alone kept by word.

use std::sync::Arc;

use consonant_learn::table::Table;
use consonant_sequence::features::FeatureBuffer;

use crate::features::FeatureReader;

/// Numbers that are kept at most.
const MOST_SUMS: usize = 1 << 24;

/// Sums of the weights of features that recur with every occurrence of a word: affixes, n-grams, shape.
///
/// They are always made apart and then added, kept or not: scores have the same bits whatever was met before.
#[derive(Debug, Default)]
pub(crate) struct Scorer {
    labels: usize,
    groups: usize,
    /// For type and feature group, a row of scores, if it was computed.
    rows: Vec<f32>,
    known: Vec<bool>,
    most: usize,
    epoch: u64,
    sum: Vec<f32>,
    buffer: FeatureBuffer,
}

impl Scorer {
    pub(crate) fn new(reader: &FeatureReader<'_>, labels: usize) -> Self {
        let groups = reader.features.extractor.type_groups();
        Self {
            labels,
            groups,
            most: MOST_SUMS / (labels * groups.max(1)).max(1),
            sum: vec![0.0; labels],
            ..Self::default()
        }
    }

    /// Adds the scores of all features of a word. Sums are kept for one table only, the one with `keep`.
    pub(crate) fn add(
        &mut self,
        reader: &FeatureReader<'_>,
        table: &Table,
        keep: bool,
        word: usize,
        scores: &mut [f32],
    ) {
        let (extractor, workspace) = (&reader.features.extractor, &reader.workspace);
        if self.epoch != workspace.epoch() {
            self.epoch = workspace.epoch();
            self.known.clear();
            self.rows.clear();
        }
        for group in 0..self.groups {
            let kind = extractor.type_at(workspace, group, word);
            let place = kind as usize * self.groups + group;
            let keep = keep && (kind as usize) < self.most;
            if keep && self.known.get(place).is_some_and(|&known| known) {
                add_row(&self.rows[place * self.labels..][..self.labels], scores);
                continue;
            }
            self.sum.fill(0.0);
            self.buffer.clear();
            extractor.type_features(workspace, group, kind, &mut self.buffer);
            self.buffer.iter().for_each(|(key, value)| {
                table.add(key, value, &mut self.sum);
            });
            add_row(&self.sum, scores);
            if keep {
                if self.known.len() <= place {
                    let places = extractor.types(workspace).min(self.most) * self.groups;
                    self.known.resize(places, false);
                    self.rows.resize(places * self.labels, 0.0);
                }
                self.known[place] = true;
                self.rows[place * self.labels..][..self.labels].copy_from_slice(&self.sum);
            }
        }
        self.buffer.clear();
        extractor.context_features(workspace, word, &mut self.buffer);
        reader.add_evidence(word, &mut self.buffer);
        self.buffer.iter().for_each(|(key, value)| {
            table.add(key, value, scores);
        });
    }
}

#[inline]
fn add_row(row: &[f32], scores: &mut [f32]) {
    scores.iter_mut().zip(row).for_each(|(score, &sum)| *score += sum);
}

/// What the chain says about one sentence.
#[derive(Debug, Clone, Default)]
pub(crate) struct SentenceScores {
    /// A row of scores for each word; labels that may not begin or end a sentence are at minus infinity there.
    pub(crate) nodes: Vec<f32>,
    /// For each word but the first, scores by previous label and label, if they differ from word to word; else nothing. Words of equal
    /// shapes share a table.
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
        let words = self.path.len();
        if words == 0 {
            return;
        }
        let labels = self.nodes.len() / words;
        let table = |word: usize| self.table(word, transitions);
        let mut forward = self.nodes.clone();
        for word in 1..words {
            let table = table(word);
            for label in 0..labels {
                let before = (0..labels).map(|previous| {
                    forward[(word - 1) * labels + previous] + table[previous * labels + label]
                });
                forward[word * labels + label] += before.fold(f32::NEG_INFINITY, f32::max);
            }
        }
        let mut backward = vec![0.0; labels];
        let best = forward[(words - 1) * labels..].iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let first = candidates.len();
        candidates.resize(first + words, Vec::new());
        for word in (0..words).rev() {
            if word + 1 < words {
                let table = table(word + 1);
                let after: Vec<f32> =
                    (0..labels).map(|next| backward[next] + self.nodes[(word + 1) * labels + next]).collect();
                for label in 0..labels {
                    let ways = (0..labels).map(|next| table[label * labels + next] + after[next]);
                    backward[label] = ways.fold(f32::NEG_INFINITY, f32::max);
                }
            }
            let through = |label: usize| forward[word * labels + label] + backward[label];
            let kept = (0..labels).filter(|&label| through(label) >= best - slack).map(|label| label as u32);
            candidates[first + word].extend(kept);
            // Rounding must not leave a word without a label.
            if candidates[first + word].is_empty() {
                candidates[first + word].push(self.path[word]);
            }
        }
    }
}
