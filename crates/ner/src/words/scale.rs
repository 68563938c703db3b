//! Two models on one scale.
//!
//! The scores of models that were trained apart are added, so a point of one must be worth a point of the other. Each
//! is measured by the number α that makes its probabilities, exp(α · score) normalized, most likely to be right on text
//! that it has not seen. For likelihoods α is about 1, less the more they have learned by heart; a perceptron's
//! scores have no unit at all.

use crate::choice::Trial;
use crate::decode::{pair_scores, token_starts};
use crate::model::{Agreement, Scope};
use crate::occurrences::Occurrences;
use crate::parts::gold_labels;
use consonant_text::Sentence;
use consonant_text::document::ranges;

/// Tokens of each model that are enough to know α.
const TOKENS: usize = 8000;
/// The least and the largest α, as logarithms, and how often the interval becomes shorter.
const BETWEEN: (f64, f64) = (-9.0, 4.0);
const CUTS: usize = 24;

/// A chain of scores with its right labels.
struct Scored<'s> {
    nodes: &'s [f32],
    /// Scores by previous label and label, for each step.
    steps: Vec<&'s [f32]>,
    gold: Vec<u32>,
}

/// What the word models' scores are to be multiplied with beside those of the sentence models, by trials that come
/// with a word model whose scale is 1. Nothing where there is nothing to see.
pub(crate) fn scale(trials: &[Trial<'_>]) -> Option<f32> {
    let (mut sentences, mut words) = (0.0, 0.0);
    let mut seen = 0.0;
    for trial in trials {
        let Agreement::Words { ordinary, chain, scope, .. } = &trial.model.agreement else { continue };
        let labels = trial.model.labels.len();
        let gold = numbers(trial);
        let readings = trial.readings();
        let own = readings.scores.iter().zip(&gold).filter_map(|(scores, gold)| {
            let steps = (1..gold.as_ref()?.len()).map(|word| scores.table(word, &trial.model.transitions));
            Some(Scored { nodes: &scores.nodes, steps: steps.collect(), gold: gold.clone()? })
        });
        let starts = token_starts(&trial.sentences);
        let flat: Vec<Option<u32>> = gold
            .iter()
            .zip(trial.sentences.iter())
            .flat_map(|(gold, sentence)| (0..sentence.len()).map(|word| gold.as_ref().map(|gold| gold[word])))
            .collect();
        let groups = match scope {
            Scope::Document => ranges(&trial.sentences),
            Scope::Set => std::iter::once(0..trial.sentences.len()).collect(),
        };
        let transitions = pair_scores(chain, None);
        let mut chains: Vec<Vec<usize>> = Vec::new();
        for group in groups {
            let first = starts[group.start];
            let occurrences = Occurrences::read(trial.sentences[group].iter(), ordinary);
            let tokens = |&token: &u32| first + token as usize;
            chains
                .extend((0..occurrences.len()).map(|of| occurrences.chain(of).iter().map(tokens).collect()));
        }
        let nodes: Vec<Vec<f32>> = chains
            .iter()
            .map(|chain| {
                chain
                    .iter()
                    .flat_map(|&token| &readings.words.rows[token * labels..][..labels])
                    .copied()
                    .collect()
            })
            .collect();
        let others = chains.iter().zip(&nodes).filter_map(|(chain, nodes)| {
            let table =
                |&token: &usize| readings.words.tables.get(token).map_or(&transitions[..], |table| table);
            let gold: Option<Vec<u32>> = chain.iter().map(|&token| flat[token]).collect();
            Some(Scored { nodes, steps: chain[1..].iter().map(table).collect(), gold: gold? })
        });
        let (Some(one), Some(other)) =
            (likeliest(labels, own.collect()), likeliest(labels, others.collect()))
        else {
            continue;
        };
        (sentences, words, seen) = (sentences + one, words + other, seen + 1.0);
    }
    // The mean of logarithms: of factors.
    (seen > 0.0).then(|| ((words - sentences) / seen).exp() as f32)
}

/// The gold labels of sentences by number, where all are known.
fn numbers(trial: &Trial<'_>) -> Vec<Option<Vec<u32>>> {
    let labels = trial.model.chain.labels();
    let of = |sentence: &Sentence| {
        let gold = gold_labels(sentence, trial.model.description.settings.scheme);
        gold.iter().map(|name| labels.get(name)).collect()
    };
    trial.sentences.iter().map(of).collect()
}

/// The logarithm of the α under which the right labels are likeliest. Their likelihood is concave in α, so thirds tell where
/// it is largest.
fn likeliest(labels: usize, mut chains: Vec<Scored<'_>>) -> Option<f64> {
    let tokens: usize = chains.iter().map(|chain| chain.gold.len()).sum();
    let each = tokens.div_ceil(TOKENS).max(1);
    let mut number = 0;
    chains.retain(|_| {
        number += 1;
        (number - 1) % each == 0
    });
    chains.retain(|chain| !chain.gold.is_empty() && chain.score(labels).is_finite());
    if chains.is_empty() {
        return None;
    }
    let likelihood =
        |log: f64| chains.iter().map(|chain| chain.log_likelihood(labels, log.exp())).sum::<f64>();
    let (mut low, mut high) = BETWEEN;
    for _ in 0..CUTS {
        let third = (high - low) / 3.0;
        if likelihood(low + third) < likelihood(high - third) {
            low += third;
        } else {
            high -= third;
        }
    }
    Some((low + high) / 2.0)
}

impl Scored<'_> {
    /// The score of the right labels.
    fn score(&self, labels: usize) -> f64 {
        let nodes = self.gold.iter().zip(self.nodes.chunks_exact(labels));
        let nodes = nodes.map(|(&label, row)| f64::from(row[label as usize]));
        let pairs = self.gold.windows(2).zip(&self.steps);
        let pairs = pairs.map(|(pair, step)| f64::from(step[pair[0] as usize * labels + pair[1] as usize]));
        nodes.sum::<f64>() + pairs.sum::<f64>()
    }

    /// The log-probability of the right labels with all scores times α.
    fn log_likelihood(&self, labels: usize, alpha: f64) -> f64 {
        let scaled = |score: f32| alpha * f64::from(score);
        let mut rows = self.nodes.chunks_exact(labels);
        let mut sums: Vec<f64> = rows.next().unwrap_or_default().iter().copied().map(scaled).collect();
        for (row, step) in rows.zip(&self.steps) {
            let next = |label: usize| {
                let from = (0..labels).map(|before| sums[before] + scaled(step[before * labels + label]));
                log_sum(from) + scaled(row[label])
            };
            sums = (0..labels).map(next).collect();
        }
        alpha * self.score(labels) - log_sum(sums.into_iter())
    }
}

/// log Σ exp.
fn log_sum(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = values.clone().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return most;
    }
    most + values.map(|value| (value - most).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels that are drawn by a chain are likeliest under the scores that they were drawn by: multiplied by some
    /// number, these come back by its inverse.
    #[test]
    fn what_was_multiplied_comes_back() {
        let labels = 3;
        let mut state = 7u64;
        let mut uniform = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let step: Vec<f32> = (0..9).map(|_| 4.0 * uniform() as f32 - 2.0).collect();
        let mut drawn = Vec::new();
        for _ in 0..3000 {
            let nodes: Vec<f32> = (0..2 * labels).map(|_| 4.0 * uniform() as f32 - 2.0).collect();
            let score = |one: usize, other: usize| {
                f64::from(nodes[one] + nodes[labels + other] + step[one * labels + other]).exp()
            };
            let all: Vec<(usize, usize)> =
                (0..3).flat_map(|one| (0..3).map(move |other| (one, other))).collect();
            let mut rest = uniform() * all.iter().map(|&(one, other)| score(one, other)).sum::<f64>();
            let chosen = all.iter().find(|&&(one, other)| {
                rest -= score(one, other);
                rest <= 0.0
            });
            let &(one, other) = chosen.unwrap_or(&all[8]);
            drawn.push((nodes, vec![one as u32, other as u32]));
        }
        for factor in [0.1f32, 1.0, 20.0] {
            let times = |scores: &[f32]| scores.iter().map(|score| factor * score).collect::<Vec<f32>>();
            let step = times(&step);
            let nodes: Vec<Vec<f32>> = drawn.iter().map(|(nodes, _)| times(nodes)).collect();
            let chains = drawn.iter().zip(&nodes).map(|((_, gold), nodes)| Scored {
                nodes,
                steps: vec![&step],
                gold: gold.clone(),
            });
            let found = likeliest(labels, chains.collect()).unwrap().exp();
            assert!((found * f64::from(factor) - 1.0).abs() < 0.1, "{found} for {factor}");
        }
    }
}
