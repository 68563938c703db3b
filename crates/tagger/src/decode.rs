//! How a tagger decodes: sentences to features, features to scores, scores to the best labels.

use std::sync::Mutex;
use std::time::Instant;

use consonant_sequence::features::{FeatureBuffer, FeatureWorkspace};
use consonant_sequence::inference::{Candidates, ScoredPath};
use consonant_sequence::{ChainDecoder, SentenceKeys};
use consonant_text::Sentence;
use rayon::prelude::*;

use crate::{Tagger, TaggerError};

/// Sentences that one thread takes at a time.
const BLOCK: usize = 32;

/// What is wanted beside the labels.
#[derive(Debug, Clone, Copy, Default)]
pub struct Request {
    /// The probability of each label, into MISC as `Prob=0.987`.
    pub marginals: bool,
    /// So many best sequences; those after the first go to comments `# tags_2 = score label label …`.
    pub n_best: usize,
}

/// How the decoding of a sentence went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decoded {
    /// The score of the labels; chains are decoded exactly, so it is also the bound.
    pub value: f64,
    /// The number of words.
    pub tokens: usize,
    /// Time taken.
    pub seconds: f64,
}

/// Tags sentences with buffers that are reused: one set for each thread of rayon's pool.
pub struct Decoder<'t> {
    workers: Vec<Mutex<Worker<'t>>>,
}

impl<'t> Decoder<'t> {
    pub(crate) fn new(tagger: &'t Tagger) -> Result<Self, TaggerError> {
        // One more for a caller outside of the pool.
        let worker = Worker::new(tagger)?;
        let workers = (0..=rayon::current_num_threads()).map(|_| worker.fresh().map(Mutex::new));
        Ok(Self { workers: workers.collect::<Result<_, _>>()? })
    }

    /// Tags sentences in place. The outcome is the same for any number of threads.
    pub fn tag(&self, sentences: &mut [Sentence], request: &Request) -> Result<Vec<Decoded>, TaggerError> {
        let blocks: Result<Vec<Vec<Decoded>>, TaggerError> = sentences
            .par_chunks_mut(BLOCK)
            .map(|block| {
                let own = rayon::current_thread_index().unwrap_or(self.workers.len() - 1);
                let mut worker = self.workers[own].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                block.iter_mut().map(|sentence| worker.tag(sentence, request)).collect()
            })
            .collect();
        Ok(blocks?.into_iter().flatten().collect())
    }
}

/// All that one thread needs.
struct Worker<'t> {
    tagger: &'t Tagger,
    chain: ChainDecoder<'t>,
    features: FeatureWorkspace,
    buffer: FeatureBuffer,
    pairs: Vec<u64>,
    keys: SentenceKeys,
    candidates: Candidates,
    path: Vec<u32>,
    paths: Vec<ScoredPath>,
}

impl<'t> Worker<'t> {
    fn new(tagger: &'t Tagger) -> Result<Self, TaggerError> {
        Ok(Self {
            tagger,
            chain: tagger.chain().decoder(None)?,
            features: tagger.extractor().workspace(),
            buffer: FeatureBuffer::default(),
            pairs: Vec::new(),
            keys: SentenceKeys::new(),
            candidates: Candidates::new(),
            path: Vec::new(),
            paths: Vec::new(),
        })
    }

    fn fresh(&self) -> Result<Self, TaggerError> {
        let chain = self.chain.clone();
        Ok(Self { chain, ..Self::new(self.tagger)? })
    }

    fn tag(&mut self, sentence: &mut Sentence, request: &Request) -> Result<Decoded, TaggerError> {
        let start = Instant::now();
        let tokens = sentence.len();
        if tokens == 0 {
            return Ok(Decoded { value: 0.0, tokens, seconds: 0.0 });
        }
        self.score(sentence);
        let candidates = self.tagger.dictionary().map(|_| &self.candidates);
        let value = self.chain.best(candidates, &mut self.path)?;
        let (labels, column) = (self.tagger.chain().labels(), self.tagger.column());
        for (word, &label) in self.path.iter().enumerate() {
            column.write(sentence, word, labels.name(label))?;
        }
        if request.marginals {
            let path = &self.path;
            let probabilities: Vec<f64> = self.chain.marginals(candidates, |posterior| {
                path.iter().enumerate().map(|(word, &label)| posterior.node(word)[label as usize]).collect()
            })?;
            for (word, probability) in probabilities.iter().enumerate() {
                sentence.set_misc(word, "Prob", Some(&format!("{probability:.4}")))?;
            }
        }
        if request.n_best > 1 {
            self.chain.k_best(candidates, request.n_best, &mut self.paths)?;
            for (rank, path) in self.paths.iter().enumerate().skip(1) {
                let names: Vec<&str> = path.labels.iter().map(|&label| labels.name(label)).collect();
                sentence.set_comment(
                    &format!("tags_{}", rank + 1),
                    Some(&format!("{:.4} {}", path.score, names.join(" "))),
                )?;
            }
        }
        Ok(Decoded { value, tokens, seconds: start.elapsed().as_secs_f64() })
    }

    fn score(&mut self, sentence: &Sentence) {
        let extractor = self.tagger.extractor();
        extractor.load(&mut self.features, sentence.len(), |word, _| sentence.form(word));
        self.keys.clear();
        self.candidates.clear();
        for word in 0..sentence.len() {
            self.keys.token();
            extractor.node_features(&self.features, word, &mut self.buffer);
            if self.buffer.values.is_empty() {
                self.keys.keys(&self.buffer.keys);
            } else {
                self.buffer.iter().for_each(|(key, value)| self.keys.key(key, value));
            }
            extractor.pair_features(&self.features, word, &mut self.pairs);
            self.pairs.iter().for_each(|&key| self.keys.pair_key(key));
            if let Some(dictionary) = self.tagger.dictionary() {
                dictionary.push(sentence.form(word), &mut self.candidates);
            }
        }
        self.chain.score(&self.keys);
    }
}
