//! How a tagger decodes: sentences to features, features to scores, scores to the best labels.

use std::sync::Arc;
use std::time::Instant;

use consonant_sequence::features::{FeatureWorkspace, TypeSums};
use consonant_sequence::inference::{Candidates, ScoredPath};
use consonant_sequence::{ChainDecoder, SentenceKeys};
use consonant_task::{Calibration, Certificate, Unit, log_odds};
use consonant_text::Sentence;
use consonant_text::document::ranges;
use rayon::prelude::*;

use crate::{Tagger, TaggerError};

/// Sentences that one thread takes at a time.
const BLOCK: usize = 32;

consonant_task::settings! {
    /// What is wanted beside the labels.
    pub struct TaggerOptions {
        /// Adds the probability of each label, in MISC as `Prob=0.987`.
        marginals: bool = false, "";
        /// Adds how sure the model is of each label, in MISC as `TagConfidence=0.98`: of all labels with this number,
        /// so many are right. Known from the dev data of the training, or from `consonant calibrate`.
        confidence: bool = false, "";
        /// Adds the K best outputs of each sentence, as comments `# tags_2 = score label label …`.
        n_best: usize = 1, "K" in 1.0..=1000.0;
    }
}

/// Scales at which probabilities are looked at: those of perceptrons say nothing at their own.
const SCALES: [f32; 9] = [1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625];
/// Sentences by which a scale is chosen.
const SAMPLE: usize = 400;

impl Tagger {
    /// How sure it may be of its labels, by those of sentences that it did not learn from.
    pub(crate) fn learn_confidence(
        &self,
        sentences: &[Sentence],
    ) -> Result<Option<Calibration>, TaggerError> {
        let mut tagged = sentences.to_vec();
        self.tag(&mut tagged, &TaggerOptions::new())?;
        let answers = |scale: f32, count: usize| -> Result<Vec<(f32, bool)>, TaggerError> {
            let mut worker = Worker::new(self)?;
            let mut soft = Arc::new(self.chain().scaled(scale)).decoder(None)?;
            let (mut answers, mut gold, mut own) = (Vec::new(), String::new(), String::new());
            for (sentence, tagged) in sentences.iter().zip(&tagged).take(count) {
                let beliefs = worker.beliefs(self, tagged, &mut soft)?;
                for (word, belief) in beliefs.into_iter().enumerate() {
                    if let Some(gold) = self.column().label(sentence, word, &mut gold) {
                        answers.push((belief, self.column().label(tagged, word, &mut own) == Some(gold)));
                    }
                }
            }
            Ok(answers)
        };
        // The scale under which what came out is likeliest.
        let mut best = (f64::NEG_INFINITY, 1.0);
        for scale in SCALES {
            let answers = answers(scale, SAMPLE)?;
            let likelihood = answers.iter().map(|&(belief, right)| {
                let odds = if right { f64::from(-belief) } else { f64::from(belief) };
                -odds.exp().ln_1p()
            });
            let likelihood: f64 = likelihood.sum();
            if likelihood > best.0 {
                best = (likelihood, scale);
            }
        }
        Ok(Calibration::fit(best.1, answers(best.1, sentences.len())?))
    }

    /// Tags sentences in place. The outcome is the same for any number of threads.
    ///
    /// Where the tagger has [constant words](crate::ConstantWords), sentences of a document should come in
    /// one call: these words get the label that most of their occurrences in it have.
    pub(crate) fn tag(
        &self,
        sentences: &mut [Sentence],
        options: &TaggerOptions,
    ) -> Result<Vec<Unit>, TaggerError> {
        let blocks: Result<Vec<Vec<Unit>>, TaggerError> = sentences
            .par_chunks_mut(BLOCK)
            .map(|block| {
                let mut worker = self.workers.try_take(|| Worker::new(self))?;
                block.iter_mut().map(|sentence| worker.tag(self, sentence, &[], options)).collect()
            })
            .collect();
        let mut units: Vec<Unit> = blocks?.into_iter().flatten().collect();
        if !self.constant_words().is_empty() {
            self.agree(sentences, options, &mut units)?;
        }
        Ok(units)
    }

    /// Gives the constant words of each document one label, and tags the sentences again in which that
    /// changes something.
    fn agree(
        &self,
        sentences: &mut [Sentence],
        options: &TaggerOptions,
        units: &mut [Unit],
    ) -> Result<(), TaggerError> {
        let (labels, column) = (self.chain().labels(), self.column());
        let fixed: Vec<Vec<(usize, u32)>> = ranges(sentences)
            .into_par_iter()
            .flat_map_iter(|document| self.constant_words().dissenters(&sentences[document], column, labels))
            .collect();
        sentences
            .par_iter_mut()
            .zip(fixed)
            .zip(units)
            .filter(|((_, fixed), _)| !fixed.is_empty())
            .try_for_each(|((sentence, fixed), unit)| {
                let mut worker = self.workers.try_take(|| Worker::new(self))?;
                let before = unit.certificate.seconds;
                *unit = worker.tag(self, sentence, &fixed, options)?;
                unit.certificate.seconds += before;
                Ok(())
            })
    }
}

/// All that one thread needs.
pub(crate) struct Worker {
    chain: ChainDecoder,
    features: FeatureWorkspace,
    sums: TypeSums,
    pairs: Vec<u64>,
    keys: SentenceKeys,
    allowed: Candidates,
    narrowed: Candidates,
    path: Vec<u32>,
    paths: Vec<ScoredPath>,
    /// The chain at the scale of the confidences.
    soft: Option<ChainDecoder>,
}

impl Worker {
    fn new(tagger: &Tagger) -> Result<Self, TaggerError> {
        Ok(Self {
            chain: tagger.chain().decoder(None)?,
            features: tagger.extractor().workspace(),
            sums: TypeSums::new(tagger.extractor(), tagger.chain().node_table().dimension()),
            pairs: Vec::new(),
            keys: SentenceKeys::new(),
            allowed: Candidates::new(),
            narrowed: Candidates::new(),
            path: Vec::new(),
            paths: Vec::new(),
            soft: None,
        })
    }

    /// The log-odds of each label of a tagged sentence, by a chain of the same labels.
    fn beliefs(
        &mut self,
        tagger: &Tagger,
        sentence: &Sentence,
        soft: &mut ChainDecoder,
    ) -> Result<Vec<f32>, TaggerError> {
        if sentence.is_empty() {
            return Ok(Vec::new());
        }
        let limited = self.limit(tagger, sentence, &[]);
        self.score(tagger, sentence, limited, Some(&mut *soft));
        let (labels, column) = (tagger.chain().labels(), tagger.column());
        let allowed = limited.then_some(&self.allowed);
        let mut name = String::new();
        let own: Vec<Option<u32>> = (0..sentence.len())
            .map(|word| column.label(sentence, word, &mut name).and_then(|name| labels.get(name)))
            .collect();
        Ok(soft.marginals(allowed, |posterior| {
            let probability = |(word, label): (usize, &Option<u32>)| {
                label.map_or(0.0, |label| posterior.node(word)[label as usize])
            };
            own.iter().enumerate().map(probability).map(log_odds).collect()
        })?)
    }

    /// Writes how sure the model is of the labels of a sentence.
    fn add_confidence(&mut self, tagger: &Tagger, sentence: &mut Sentence) -> Result<(), TaggerError> {
        let calibration = tagger.calibration()?;
        let mut soft = match self.soft.take() {
            Some(soft) => soft,
            None => Arc::new(tagger.chain().scaled(calibration.scale())).decoder(None)?,
        };
        let beliefs = self.beliefs(tagger, sentence, &mut soft)?;
        self.soft = Some(soft);
        for (word, belief) in beliefs.into_iter().enumerate() {
            let confidence = calibration.confidence(belief);
            sentence.set_misc(word, "TagConfidence", Some(&format!("{confidence:.3}")))?;
        }
        Ok(())
    }

    /// Tags a sentence; the words in `fixed` have the labels given there.
    fn tag(
        &mut self,
        tagger: &Tagger,
        sentence: &mut Sentence,
        fixed: &[(usize, u32)],
        options: &TaggerOptions,
    ) -> Result<Unit, TaggerError> {
        let start = Instant::now();
        let tokens = sentence.len();
        if tokens == 0 {
            return Ok(Unit { certificate: Certificate::exact(0.0), tokens });
        }
        let limited = self.limit(tagger, sentence, fixed);
        self.score(tagger, sentence, limited, None);
        let allowed = limited.then_some(&self.allowed);
        self.chain.narrow(allowed, &mut self.narrowed);
        let value = self.chain.best(Some(&self.narrowed), &mut self.path)?;
        let (labels, column) = (tagger.chain().labels(), tagger.column());
        for (word, &label) in self.path.iter().enumerate() {
            column.write(sentence, word, labels.name(label))?;
        }
        if options.marginals {
            let path = &self.path;
            let probabilities: Vec<f64> = self.chain.marginals(allowed, |posterior| {
                path.iter().enumerate().map(|(word, &label)| posterior.node(word)[label as usize]).collect()
            })?;
            for (word, probability) in probabilities.iter().enumerate() {
                sentence.set_misc(word, "Prob", Some(&format!("{probability:.4}")))?;
            }
        }
        if options.n_best > 1 {
            self.chain.k_best(allowed, options.n_best, &mut self.paths)?;
            for (rank, path) in self.paths.iter().enumerate().skip(1) {
                let names: Vec<&str> = path.labels.iter().map(|&label| labels.name(label)).collect();
                let text = format!("{:.4} {}", path.score, names.join(" "));
                sentence.set_comment(&format!("tags_{}", rank + 1), Some(&text))?;
            }
        }
        if options.confidence {
            self.add_confidence(tagger, sentence)?;
        }
        let certificate = Certificate::exact(value).after(1, start.elapsed().as_secs_f64());
        Ok(Unit { certificate, tokens })
    }

    /// Lists the labels that each word may have; says whether there is any limit.
    fn limit(&mut self, tagger: &Tagger, sentence: &Sentence, fixed: &[(usize, u32)]) -> bool {
        self.allowed.clear();
        let (dictionary, known) = (tagger.dictionary(), tagger.known());
        if dictionary.is_none() && fixed.is_empty() && known.is_empty() {
            return false;
        }
        let known = known.of(sentence);
        let mut fixed = fixed.iter().peekable();
        for word in 0..sentence.len() {
            let fixed = fixed.next_if(|(at, _)| *at == word);
            match (known.get(word).copied().flatten(), fixed, dictionary) {
                (Some(labels), ..) => self.allowed.push(labels),
                (None, Some((_, label)), _) => self.allowed.push(&[*label]),
                (None, None, Some(dictionary)) => {
                    dictionary.push(tagger.view().key(sentence, word), &mut self.allowed)
                }
                (None, None, None) => self.allowed.push_all(),
            }
        }
        true
    }

    /// Scores a sentence, by another chain of the same labels if there is one.
    fn score(
        &mut self,
        tagger: &Tagger,
        sentence: &Sentence,
        limited: bool,
        other: Option<&mut ChainDecoder>,
    ) {
        let (extractor, view) = (tagger.extractor(), tagger.view());
        let text = |word: usize, column: usize| view.text(sentence, word, column);
        extractor.load(&mut self.features, sentence.len(), text);
        // Where labels do not depend on each other, a word with one label has nothing to score.
        let settled = limited && tagger.chain().order() == 0;
        let allowed = &self.allowed;
        self.keys.clear();
        for word in 0..sentence.len() {
            self.keys.token();
            if extractor.templates().has_pairs() {
                extractor.pair_features(&self.features, word, &mut self.pairs);
                self.pairs.iter().for_each(|&key| self.keys.pair_key(key));
            }
        }
        let (features, sums) = (&self.features, &mut self.sums);
        let chain = other.unwrap_or(&mut self.chain);
        chain.score_with(&self.keys, |table, group, word, scores| {
            if settled && allowed.at(word).is_some_and(|labels| labels.len() == 1) {
                return;
            }
            // Only the first parameter group is kept: nearly all models have no other.
            sums.add((extractor, features), (table, group == 0), word, |_| {}, scores);
            if group == 0 {
                tagger.name_hint().add(sentence, word, scores);
            }
        });
    }
}
