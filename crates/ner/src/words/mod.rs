//! Word agreement: a second chain over the occurrences of each word, and dual decomposition that makes both
//! models agree (Chieu & Teow 2012, Combining local and non-local information with dual decomposition for
//! named entity recognition from text).

mod learn;
mod scale;

use std::ops::Range;
use std::sync::Arc;

pub(crate) use learn::learn;
pub(crate) use scale::scale;

use consonant_map::oracle::sequence::Sequence;
use consonant_map::{Ad3, Ad3Options, Certificate, Choice, Gap, Graph, Variable};
use consonant_sequence::inference::{Chain, TransitionMask, Transitions, Workspace};

use crate::NerError;
use crate::occurrences::Occurrences;
use crate::scores::SentenceScores;

/// Steps end when they are shorter than this share of the first one (Algorithm 1's ε = 1e-6).
const SHORTEST: f64 = 1e-6;
/// A bound for inputs on which the dual keeps falling.
const MOST_ITERATIONS: usize = 500;

/// What both models say about a group of sentences. Tokens are counted through the group.
pub(crate) struct WordProblem<'a> {
    pub(crate) labels: usize,
    pub(crate) scores: &'a [&'a SentenceScores],
    /// Scores of the sentence model by previous label and label.
    pub(crate) transitions: &'a [f32],
    pub(crate) mask: &'a TransitionMask,
    pub(crate) occurrences: &'a Occurrences,
    /// A row of the word model's scores for each token in a chain, in the order of the chains.
    pub(crate) word_nodes: &'a [f32],
    /// Scores of the word model by previous label and label.
    pub(crate) word_transitions: &'a [f32],
    /// The same for each token in a chain, where features make them differ; else nothing.
    pub(crate) word_tables: &'a [Arc<[f32]>],
    /// The first step of the multipliers.
    pub(crate) step: f64,
}

/// For each sentence of a group its labels, with their certificate.
pub(crate) type WordAnswer = (Vec<Vec<u32>>, Certificate);

impl WordProblem<'_> {
    /// Scores of the word model by the label of the occurrence before and the one at a row.
    fn word_table(&self, row: usize) -> &[f32] {
        self.word_tables.get(row).map_or(self.word_transitions, |table| table)
    }

    /// The tables of a chain's steps behind one another, if they differ.
    fn word_steps(&self, rows: Range<usize>, steps: &mut Vec<f32>) {
        steps.clear();
        if !self.word_tables.is_empty() {
            rows.skip(1).for_each(|row| steps.extend_from_slice(self.word_table(row)));
        }
    }

    /// The score of labels in both models.
    fn value(&self, paths: &[Vec<u32>]) -> f64 {
        let all: Vec<u32> = paths.iter().flatten().copied().collect();
        let sentences: f64 =
            self.scores.iter().zip(paths).map(|(scores, path)| scores.score(path, self.transitions)).sum();
        let mut words = 0.0;
        let mut row = 0;
        for number in 0..self.occurrences.len() {
            let mut previous: Option<u32> = None;
            for &token in self.occurrences.chain(number) {
                let label = all[token as usize];
                words += f64::from(self.word_nodes[row * self.labels + label as usize]);
                if let Some(previous) = previous {
                    let cell = previous as usize * self.labels + label as usize;
                    words += f64::from(self.word_table(row)[cell]);
                }
                previous = Some(label);
                row += 1;
            }
        }
        sentences + words
    }
}

/// Algorithm 1: sentences are decoded with f − u and words with g + u; where their labels differ, u moves by
/// a step that shrinks as the dual goes up. Where they still differ at the end, the sentence model speaks.
/// The engine's subgradient moves all copies of a label towards their mean and decodes every chain again;
/// this one moves two labels of a token and decodes what was touched, and gives the paper's labels.
pub(crate) fn subgradient(problem: &WordProblem<'_>) -> Result<WordAnswer, NerError> {
    let labels = problem.labels;
    let tokens = problem.occurrences.tokens();
    // Where steps have scores of their own, these hold the transitions.
    let steps: Vec<Vec<f32>> = match problem.scores.iter().any(|scores| !scores.steps.is_empty()) {
        true => problem.scores.iter().map(|scores| scores.steps.concat()).collect(),
        false => Vec::new(),
    };
    let nothing = vec![0.0; labels * labels];
    let base = if steps.is_empty() { problem.transitions } else { &nothing };
    let sentence_transitions = Transitions::dense(labels, base, Some(problem.mask)).map_err(wrap)?;
    let word_base = if problem.word_tables.is_empty() { problem.word_transitions } else { &nothing };
    let word_transitions = Transitions::dense(labels, word_base, None).map_err(wrap)?;
    let mut word_steps = Vec::new();
    let mut nodes: Vec<Vec<f32>> = problem.scores.iter().map(|scores| scores.nodes.clone()).collect();
    let mut word_nodes = problem.word_nodes.to_vec();
    let mut paths: Vec<Vec<u32>> = problem.scores.iter().map(|scores| scores.path.clone()).collect();
    let mut values: Vec<f64> = problem.scores.iter().map(|scores| scores.value).collect();
    let chains = problem.occurrences.len();
    let mut word_values = vec![0.0; chains];
    let mut word_labels = vec![0u32; problem.word_nodes.len() / labels];
    // Only what the last step touched is decoded again.
    let mut stale_words = vec![true; chains];
    let mut stale_sentences = vec![false; problem.scores.len()];
    let sentence_of: Vec<u32> = sentence_numbers(problem.occurrences, tokens);
    let (mut step, mut rises, mut last) = (problem.step, 0.0, f64::INFINITY);
    let (mut bound, mut best) = (f64::INFINITY, (f64::NEG_INFINITY, paths.clone()));
    let (mut workspace, mut path) = (Workspace::new(), Vec::new());
    let mut iterations = 0;
    while step >= SHORTEST * problem.step && iterations < MOST_ITERATIONS {
        iterations += 1;
        for (number, nodes) in nodes.iter().enumerate().filter(|(number, _)| stale_sentences[*number]) {
            let chain = Chain::new(nodes, &sentence_transitions).map_err(wrap)?;
            let chain =
                if steps.is_empty() { chain } else { chain.with_edges(&steps[number]).map_err(wrap)? };
            values[number] = workspace.viterbi(&chain, &mut paths[number]).map_err(wrap)?;
        }
        let mut first = 0;
        for (number, &stale) in stale_words.iter().enumerate() {
            let length = problem.occurrences.chain(number).len();
            let rows = first..first + length;
            first = rows.end;
            if stale {
                let nodes = &word_nodes[rows.start * labels..rows.end * labels];
                let chain = Chain::new(nodes, &word_transitions).map_err(wrap)?;
                problem.word_steps(rows.clone(), &mut word_steps);
                let chain = match word_steps.is_empty() {
                    true => chain,
                    false => chain.with_edges(&word_steps).map_err(wrap)?,
                };
                word_values[number] = workspace.viterbi(&chain, &mut path).map_err(wrap)?;
                word_labels[rows].copy_from_slice(&path);
            }
        }
        stale_sentences.fill(false);
        stale_words.fill(false);
        let dual: f64 = values.iter().sum::<f64>() + word_values.iter().sum::<f64>();
        bound = bound.min(dual);
        let mut agreed = true;
        let mut row = 0;
        for (number, stale) in stale_words.iter_mut().enumerate() {
            for &token in problem.occurrences.chain(number) {
                let token = token as usize;
                let sentence = sentence_of[token] as usize;
                let word = token - problem.occurrences.sentences[sentence];
                let (y, z) = (paths[sentence][word] as usize, word_labels[row] as usize);
                if y != z {
                    agreed = false;
                    stale_sentences[sentence] = true;
                    *stale = true;
                    let step = step as f32;
                    nodes[sentence][word * labels + y] -= step;
                    nodes[sentence][word * labels + z] += step;
                    word_nodes[row * labels + y] += step;
                    word_nodes[row * labels + z] -= step;
                }
                row += 1;
            }
        }
        let value = problem.value(&paths);
        if value > best.0 {
            best = (value, paths.clone());
        }
        if agreed {
            break;
        }
        if dual > last {
            rises += 1.0;
        }
        last = dual;
        step /= 1.0 + rises;
    }
    // The sentence model's last word, unless an earlier one was worth more.
    let (value, paths) = best;
    Ok((paths, Certificate::judge(Some(value), bound, Gap::default()).after(iterations, 0.0)))
}

fn sentence_numbers(occurrences: &Occurrences, tokens: usize) -> Vec<u32> {
    let mut numbers = vec![0; tokens];
    for (number, range) in occurrences.sentences.windows(2).enumerate() {
        numbers[range[0]..range[1]].fill(number as u32);
    }
    numbers
}

fn wrap(error: consonant_sequence::inference::InferenceError) -> NerError {
    NerError::Sequence(error.into())
}

/// The same problem by AD3: a chain factor for each sentence and one for each word.
pub(crate) fn ad3(problem: &WordProblem<'_>) -> Result<WordAnswer, NerError> {
    let labels = problem.labels;
    let mut graph = Graph::new();
    let mut choices: Vec<Choice> = Vec::new();
    let double = |scores: &[f32]| -> Vec<f64> { scores.iter().map(|&score| score.into()).collect() };
    // The word model's scores are added to those of the sentence model: a choice has one score for each
    // label.
    let mut unary: Vec<f64> = problem.scores.iter().flat_map(|scores| double(&scores.nodes)).collect();
    let mut row = 0;
    for number in 0..problem.occurrences.len() {
        for &token in problem.occurrences.chain(number) {
            for label in 0..labels {
                unary[token as usize * labels + label] += f64::from(problem.word_nodes[row * labels + label]);
            }
            row += 1;
        }
    }
    for scores in unary.chunks_exact(labels) {
        choices.push(graph.choice(scores)?);
    }
    let transitions = double(problem.transitions);
    let word_transitions = double(problem.word_transitions);
    let mut add = |tokens: &[usize], steps: Vec<f64>| -> Result<(), NerError> {
        let variables: Vec<Variable> = tokens.iter().map(|&token| Variable::Choice(choices[token])).collect();
        let chain = Sequence::first_order(&vec![labels; tokens.len()], steps)?;
        graph.oracle_over(chain, &variables)?;
        Ok(())
    };
    let repeat = |table: &[f64], times: usize| -> Vec<f64> {
        table.iter().copied().cycle().take(times * labels * labels).collect()
    };
    for (scores, range) in problem.scores.iter().zip(problem.occurrences.sentences.windows(2)) {
        let tokens: Vec<usize> = (range[0]..range[1]).collect();
        if tokens.len() > 1 {
            let steps = match scores.steps.is_empty() {
                true => repeat(&transitions, tokens.len() - 1),
                false => double(&scores.steps.concat()),
            };
            add(&tokens, steps)?;
        }
    }
    let (mut first, mut word_steps) = (0, Vec::new());
    for number in 0..problem.occurrences.len() {
        let tokens: Vec<usize> =
            problem.occurrences.chain(number).iter().map(|&token| token as usize).collect();
        problem.word_steps(first..first + tokens.len(), &mut word_steps);
        first += tokens.len();
        let steps = match word_steps.is_empty() {
            true => repeat(&word_transitions, tokens.len() - 1),
            false => double(&word_steps),
        };
        add(&tokens, steps)?;
    }
    let solution = Ad3::new(Ad3Options::default()).solve(&graph);
    let mut paths: Vec<Vec<u32>> = problem.scores.iter().map(|scores| scores.path.clone()).collect();
    let local = problem.value(&paths);
    let mut value = local;
    if let Some((states, joint)) = solution.assignment().zip(solution.certificate.value())
        && joint >= local
    {
        value = joint;
        for (path, range) in paths.iter_mut().zip(problem.occurrences.sentences.windows(2)) {
            path.copy_from_slice(&states[range[0]..range[1]]);
        }
    }
    let certificate = Certificate::judge(Some(value), solution.certificate.bound(), Gap::default());
    Ok((paths, certificate.after(solution.certificate.iterations, 0.0)))
}

#[cfg(test)]
#[path = "../../tests/unit/words.rs"]
mod tests;
