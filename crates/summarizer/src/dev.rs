//! How good weights are: ROUGE-2 of summaries, and which words of sentences are kept.

use consonant_text::Document;
use consonant_text::evaluate::Rouge;
use rayon::prelude::*;

use crate::SummarizerError;
use crate::constraints::{Constraints, Tree};
use crate::learn::{TrainingPair, TrainingTopic};
use crate::model::Summarizer;
use crate::parts::Mode;
use crate::references::nearest_compression;
use crate::summarize::{Request, finish_compression};
use crate::units::{chunks, compressible};

/// Data to judge weights on.
#[derive(Debug, Default, Clone, Copy)]
pub struct Dev<'a> {
    /// Topics: the ROUGE-2 recall of compressive summaries as long as the references.
    pub topics: &'a [TrainingTopic],
    /// Sentences: F1 of kept words.
    pub pairs: &'a [TrainingPair],
}

impl Dev<'_> {
    /// The mean of what there is.
    pub fn score(&self, summarizer: &Summarizer) -> Result<f64, SummarizerError> {
        let mut scores = Vec::new();
        if !self.topics.is_empty() {
            scores.push(self.rouge_2(summarizer, Mode::Compressive)?);
        }
        if !self.pairs.is_empty() {
            scores.push(self.kept_words(summarizer).f1());
        }
        Ok(if scores.is_empty() { 0.0 } else { scores.iter().sum::<f64>() / scores.len() as f64 })
    }

    /// Mean ROUGE-2 recall of summaries as long as the references are on average.
    pub fn rouge_2(&self, summarizer: &Summarizer, mode: Mode) -> Result<f64, SummarizerError> {
        let recalls = self
            .topics
            .par_iter()
            .map(|topic| {
                let request =
                    Request { words: reference_length(&topic.references), mode, ..Request::default() };
                let summary = summarizer.summarize(&topic.documents, &request)?;
                Ok(Rouge::default().score(&summary.text(), &topic.references).rouge_2.recall)
            })
            .collect::<Result<Vec<f64>, SummarizerError>>()?;
        Ok(recalls.iter().sum::<f64>() / recalls.len().max(1) as f64)
    }

    /// The same for the best compressions that the trees allow: what no model can exceed.
    pub fn reachable_words(&self, constraints: Constraints) -> KeptWords {
        let reach = |pair: &TrainingPair| {
            let keep = match Tree::new(&pair.sentence) {
                Some(tree) => {
                    let document = Document::from_sentences(vec![pair.sentence.clone()]);
                    let places = document.word_places(0);
                    let units = compressible(&tree, &chunks(&document, 0, &places), constraints);
                    let (_, chosen) = nearest_compression(&units, &pair.keep);
                    finish_compression(&pair.sentence, &units, &chosen)
                }
                None => vec![true; pair.keep.len()],
            };
            KeptWords::of(&keep, &pair.keep)
        };
        self.pairs.par_iter().map(reach).reduce(KeptWords::default, KeptWords::plus)
    }

    /// How the words that the summarizer keeps compare with those that people kept.
    pub fn kept_words(&self, summarizer: &Summarizer) -> KeptWords {
        self.pairs
            .par_iter()
            .map(|pair| KeptWords::of(&summarizer.compress(&pair.sentence), &pair.keep))
            .reduce(KeptWords::default, KeptWords::plus)
    }
}

/// Words kept by people, by a summarizer, and by both.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct KeptWords {
    /// Kept by people.
    pub gold: usize,
    /// Kept by the summarizer.
    pub predicted: usize,
    /// Kept by both.
    pub both: usize,
    /// All words.
    pub words: usize,
}

impl KeptWords {
    /// Counts one sentence.
    pub fn of(predicted: &[bool], gold: &[bool]) -> Self {
        let count = |keep: &[bool]| keep.iter().filter(|&&keep| keep).count();
        KeptWords {
            gold: count(gold),
            predicted: count(predicted),
            both: predicted.iter().zip(gold).filter(|(p, g)| **p && **g).count(),
            words: gold.len(),
        }
    }

    /// Adds up.
    pub fn plus(self, other: Self) -> Self {
        KeptWords {
            gold: self.gold + other.gold,
            predicted: self.predicted + other.predicted,
            both: self.both + other.both,
            words: self.words + other.words,
        }
    }

    /// F1 of kept words.
    pub fn f1(&self) -> f64 {
        let sum = self.gold + self.predicted;
        if sum == 0 { 0.0 } else { 2.0 * self.both as f64 / sum as f64 }
    }

    /// The share of words that the summarizer keeps, and that people keep.
    pub fn rates(&self) -> (f64, f64) {
        let rate = |kept: usize| kept as f64 / self.words.max(1) as f64;
        (rate(self.predicted), rate(self.gold))
    }
}

/// The mean length of summaries, in words; at least one.
pub fn reference_length(references: &[String]) -> usize {
    let words: usize = references.iter().map(|reference| reference.split_whitespace().count()).sum();
    (words as f64 / references.len().max(1) as f64).round().max(1.0) as usize
}
