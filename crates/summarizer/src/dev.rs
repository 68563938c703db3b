//! How good weights are: ROUGE-2 of summaries, and which words of sentences are kept.

use consonant_text::Document;
use consonant_text::evaluate::Rouge;
use rayon::prelude::*;

use crate::SummarizerError;
use crate::constraints::Constraints;
use crate::decode::SummarizerOptions;
use crate::item::{Content, Pair, SummarizerItem, Topic};
use crate::model::Summarizer;
use crate::parts::Mode;
use crate::references::nearest_compression;
use crate::summarize::finish_compression;
use crate::syntax::Tree;
use crate::units::{chunks, compressible};

/// Data to judge weights on.
#[derive(Debug, Default, Clone)]
pub struct Dev<'a> {
    /// Topics: the ROUGE-2 recall of compressive summaries as long as the references.
    pub topics: Vec<&'a Topic>,
    /// Sentences: F1 of kept words.
    pub pairs: Vec<&'a Pair>,
}

impl<'a> Dev<'a> {
    /// The topics and sentences among items.
    pub fn new(items: &'a [SummarizerItem]) -> Self {
        let mut dev = Self::default();
        for item in items {
            match &item.content {
                Content::Topic(topic) => dev.topics.push(topic),
                Content::Pair(pair) => dev.pairs.push(pair),
            }
        }
        dev
    }

    /// What [`score`](Self::score) measures.
    pub(crate) fn metric(&self) -> &'static str {
        match (self.topics.is_empty(), self.pairs.is_empty()) {
            (false, false) => "mean of ROUGE-2 recall and F1",
            (true, false) => "F1 of kept words",
            _ => "ROUGE-2 recall",
        }
    }

    /// How good a summarizer is, for people; begins with a comma.
    pub(crate) fn describe(&self, summarizer: &Summarizer) -> Result<String, SummarizerError> {
        let mut text = String::new();
        if !self.topics.is_empty() {
            let [compressive, extractive] =
                [Mode::Compressive, Mode::Extractive].map(|mode| self.rouge_2(summarizer, mode));
            let (compressive, extractive) = (compressive?, extractive?);
            text += &format!(", dev ROUGE-2 recall {compressive:.4} compressive, {extractive:.4} extractive");
        }
        if !self.pairs.is_empty() {
            let kept = self.kept_words(summarizer);
            let (predicted, gold) = kept.rates();
            let (f1, predicted, gold) = (kept.f1(), 100.0 * predicted, 100.0 * gold);
            text += &format!(", dev F1 of kept words {f1:.4} (keeps {predicted:.1}%, people {gold:.1}%)");
        }
        Ok(text)
    }

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
                let options = SummarizerOptions::new().extractive(mode == Mode::Extractive);
                let summary = summarizer.summarize(&topic.documents, &topic.options(&options))?;
                Ok(Rouge::default().score(&summary.text(), &topic.references).rouge_2.recall)
            })
            .collect::<Result<Vec<f64>, SummarizerError>>()?;
        Ok(recalls.iter().sum::<f64>() / recalls.len().max(1) as f64)
    }

    /// The same for the best compressions that the trees allow: what no model can exceed.
    pub fn reachable_words(&self, constraints: Constraints) -> KeptWords {
        let reach = |pair: &&Pair| {
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
    #[must_use]
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
