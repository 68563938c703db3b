//! How a tagger decodes: sentences to features, features to scores, scores to the best labels.

use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use consonant_map::Certificate;
use consonant_sequence::features::{FeatureWorkspace, TypeSums};
use consonant_sequence::inference::{Candidates, ScoredPath};
use consonant_sequence::{ChainDecoder, SentenceKeys};
use consonant_text::Sentence;
use consonant_text::document::ranges;
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
    /// What is known about the labels: chains are decoded exactly.
    pub certificate: Certificate,
    /// The number of words.
    pub tokens: usize,
}

/// Tags sentences with buffers that are reused: one set for each thread of rayon's pool.
pub struct Decoder<'t> {
    tagger: &'t Tagger,
    workers: Vec<Mutex<Worker<'t>>>,
}

impl<'t> Decoder<'t> {
    pub(crate) fn new(tagger: &'t Tagger) -> Result<Self, TaggerError> {
        // One more for a caller outside of the pool.
        let chain = tagger.chain().decoder(None)?;
        let workers =
            (0..=rayon::current_num_threads()).map(|_| Mutex::new(Worker::new(tagger, chain.clone())));
        Ok(Self { tagger, workers: workers.collect() })
    }

    /// Tags sentences in place. The outcome is the same for any number of threads.
    ///
    /// Where the tagger has [constant words](crate::ConstantWords), sentences of a document should come in one call: these
    /// words get the label that most of their occurrences in it have.
    pub fn tag(&self, sentences: &mut [Sentence], request: &Request) -> Result<Vec<Decoded>, TaggerError> {
        let blocks: Result<Vec<Vec<Decoded>>, TaggerError> = sentences
            .par_chunks_mut(BLOCK)
            .map(|block| {
                let mut worker = self.worker();
                block.iter_mut().map(|sentence| worker.tag(sentence, &[], request)).collect()
            })
            .collect();
        let mut decoded: Vec<Decoded> = blocks?.into_iter().flatten().collect();
        if !self.tagger.constant_words().is_empty() {
            self.agree(sentences, request, &mut decoded)?;
        }
        Ok(decoded)
    }

    /// Gives the constant words of each document one label, and tags the sentences again in which that changes something.
    fn agree(
        &self,
        sentences: &mut [Sentence],
        request: &Request,
        decoded: &mut [Decoded],
    ) -> Result<(), TaggerError> {
        let (labels, column) = (self.tagger.chain().labels(), self.tagger.column());
        let fixed: Vec<Vec<(usize, u32)>> = ranges(sentences)
            .into_par_iter()
            .flat_map_iter(|document| {
                self.tagger.constant_words().dissenters(&sentences[document], column, labels)
            })
            .collect();
        sentences
            .par_iter_mut()
            .zip(fixed)
            .zip(decoded)
            .filter(|((_, fixed), _)| !fixed.is_empty())
            .try_for_each(|((sentence, fixed), decoded)| {
                let again = self.worker().tag(sentence, &fixed, request)?;
                let before = std::mem::replace(decoded, again);
                decoded.certificate.seconds += before.certificate.seconds;
                Ok(())
            })
    }

    fn worker(&self) -> MutexGuard<'_, Worker<'t>> {
        let own = rayon::current_thread_index().unwrap_or(self.workers.len() - 1);
        self.workers[own].lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// All that one thread needs.
struct Worker<'t> {
    tagger: &'t Tagger,
    chain: ChainDecoder<'t>,
    features: FeatureWorkspace,
    sums: TypeSums,
    pairs: Vec<u64>,
    keys: SentenceKeys,
    allowed: Candidates,
    narrowed: Candidates,
    path: Vec<u32>,
    paths: Vec<ScoredPath>,
}

impl<'t> Worker<'t> {
    fn new(tagger: &'t Tagger, chain: ChainDecoder<'t>) -> Self {
        Self {
            tagger,
            chain,
            features: tagger.extractor().workspace(),
            sums: TypeSums::new(tagger.extractor(), tagger.chain().node_table().dimension()),
            pairs: Vec::new(),
            keys: SentenceKeys::new(),
            allowed: Candidates::new(),
            narrowed: Candidates::new(),
            path: Vec::new(),
            paths: Vec::new(),
        }
    }

    /// Tags a sentence; the words in `fixed` have the labels given there.
    fn tag(
        &mut self,
        sentence: &mut Sentence,
        fixed: &[(usize, u32)],
        request: &Request,
    ) -> Result<Decoded, TaggerError> {
        let start = Instant::now();
        let tokens = sentence.len();
        if tokens == 0 {
            return Ok(Decoded { certificate: Certificate::exact(0.0).after(1, 0.0), tokens });
        }
        self.score(sentence);
        let limited = self.limit(sentence, fixed);
        let allowed = limited.then_some(&self.allowed);
        self.chain.narrow(allowed, &mut self.narrowed);
        let value = self.chain.best(Some(&self.narrowed), &mut self.path)?;
        let (labels, column) = (self.tagger.chain().labels(), self.tagger.column());
        for (word, &label) in self.path.iter().enumerate() {
            column.write(sentence, word, labels.name(label))?;
        }
        if request.marginals {
            let path = &self.path;
            let probabilities: Vec<f64> = self.chain.marginals(allowed, |posterior| {
                path.iter().enumerate().map(|(word, &label)| posterior.node(word)[label as usize]).collect()
            })?;
            for (word, probability) in probabilities.iter().enumerate() {
                sentence.set_misc(word, "Prob", Some(&format!("{probability:.4}")))?;
            }
        }
        if request.n_best > 1 {
            self.chain.k_best(allowed, request.n_best, &mut self.paths)?;
            for (rank, path) in self.paths.iter().enumerate().skip(1) {
                let names: Vec<&str> = path.labels.iter().map(|&label| labels.name(label)).collect();
                let text = format!("{:.4} {}", path.score, names.join(" "));
                sentence.set_comment(&format!("tags_{}", rank + 1), Some(&text))?;
            }
        }
        let certificate = Certificate::exact(value).after(1, start.elapsed().as_secs_f64());
        Ok(Decoded { certificate, tokens })
    }

    /// Lists the labels that each word may have; says whether there is any limit.
    fn limit(&mut self, sentence: &Sentence, fixed: &[(usize, u32)]) -> bool {
        self.allowed.clear();
        let dictionary = self.tagger.dictionary();
        if dictionary.is_none() && fixed.is_empty() {
            return false;
        }
        let mut fixed = fixed.iter().peekable();
        for word in 0..sentence.len() {
            match (fixed.next_if(|(at, _)| *at == word), dictionary) {
                (Some((_, label)), _) => self.allowed.push(&[*label]),
                (None, Some(dictionary)) => dictionary.push(sentence.form(word), &mut self.allowed),
                (None, None) => self.allowed.push_all(),
            }
        }
        true
    }

    fn score(&mut self, sentence: &Sentence) {
        let extractor = self.tagger.extractor();
        extractor.load(&mut self.features, sentence.len(), |word, _| sentence.form(word));
        self.keys.clear();
        for word in 0..sentence.len() {
            self.keys.token();
            if extractor.templates().has_pairs() {
                extractor.pair_features(&self.features, word, &mut self.pairs);
                self.pairs.iter().for_each(|&key| self.keys.pair_key(key));
            }
        }
        let (features, sums) = (&self.features, &mut self.sums);
        self.chain.score_with(&self.keys, |table, group, word, scores| {
            // Only the first parameter group is kept: nearly all models have no other.
            sums.add((extractor, features), (table, group == 0), word, |_| {}, scores);
        });
    }
}
