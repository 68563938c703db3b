//! How sure a recognizer is of names: what its chain gives the least sure word of each, in numbers that were measured.

use std::ops::Range;
use std::sync::Arc;

use consonant_sequence::ChainModel;
use consonant_task::{Calibration, NO_CONFIDENCE, Usage, log_odds};
use consonant_text::Sentence;

use crate::decode::{NerOptions, Worker};
use crate::parts::{gold_entities, gold_labels, written_labels};
use crate::{Ner, NerError};

/// The words of a name, and the log-odds that it is one.
struct Belief {
    words: Range<usize>,
    odds: f32,
}

impl Ner {
    /// Writes how sure the model is of each name.
    pub(crate) fn add_confidence(
        &self,
        sentences: &mut [Sentence],
        options: &NerOptions,
    ) -> Result<(), NerError> {
        if !options.confidence {
            return Ok(());
        }
        let calibration = self.calibration.as_deref().ok_or_else(|| Usage(NO_CONFIDENCE.to_owned()))?;
        let chain = Arc::new(self.chain.scaled(calibration.scale()));
        self.over_texts(sentences, |worker, text| {
            for (sentence, beliefs) in worker.beliefs(self, text, &chain)?.into_iter().enumerate() {
                for Belief { words, odds } in beliefs {
                    let confidence = format!("{:.3}", calibration.confidence(odds));
                    for word in words {
                        text[sentence].set_misc(word, "NameConfidence", Some(&confidence))?;
                    }
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    /// How sure it may be of names, by those of sentences that it did not learn from.
    pub(crate) fn learn_confidence(&self, sentences: &[Sentence]) -> Result<Option<Calibration>, NerError> {
        let mut labelled = sentences.to_vec();
        self.label(&mut labelled, &NerOptions::new())?;
        // A margin is as much as a right label was made to stand out by.
        let scale = (4.0 / self.description.margin.max(1e-3)).min(1.0) as f32;
        let chain = Arc::new(self.chain.scaled(scale));
        let beliefs = self.over_texts(&mut labelled, |worker, text| worker.beliefs(self, text, &chain))?;
        let mut answers = Vec::new();
        for ((sentence, labelled), beliefs) in
            sentences.iter().zip(&labelled).zip(beliefs.into_iter().flatten())
        {
            let (gold, own) = (written_labels(sentence), written_labels(labelled));
            let gold = gold_entities(&gold);
            for (entity, belief) in gold_entities(&own).iter().zip(beliefs) {
                answers.push((belief.odds, gold.contains(entity)));
            }
        }
        Ok(Calibration::fit(scale, answers))
    }
}

impl Worker {
    /// The log-odds of each name of labelled sentences, by a chain of the same labels: those of its least sure word.
    fn beliefs(
        &mut self,
        model: &Ner,
        text: &[Sentence],
        chain: &Arc<ChainModel>,
    ) -> Result<Vec<Vec<Belief>>, NerError> {
        let mut soft = chain.decoder(Some(&model.mask))?;
        self.reader.document(text);
        let mut all = Vec::with_capacity(text.len());
        for (number, sentence) in text.iter().enumerate() {
            let labels = written_labels(sentence);
            let entities = gold_entities(&labels);
            if entities.is_empty() {
                all.push(Vec::new());
                continue;
            }
            std::mem::swap(&mut self.chain, &mut soft);
            self.score(model, number, sentence);
            std::mem::swap(&mut self.chain, &mut soft);
            let own = gold_labels(sentence, model.description.settings.scheme);
            let own: Vec<Option<u32>> = own.iter().map(|name| model.chain.labels().get(name)).collect();
            let beliefs = soft.marginals(None, |posterior| {
                let mut belief = |word: usize| {
                    log_odds(own[word].map_or(0.0, |label| posterior.node(word)[label as usize]))
                };
                let entities = entities.iter().map(|entity| {
                    let least = entity.words.clone().map(&mut belief).fold(f32::INFINITY, f32::min);
                    Belief { words: entity.words.clone(), odds: least }
                });
                entities.collect()
            })?;
            all.push(beliefs);
        }
        Ok(all)
    }
}
