//! How a recognizer decodes: texts to features, features to scores, scores to the best labels, and labels that agree.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use consonant_learn::hash;
use consonant_learn::table::Table;
use consonant_map::Certificate;
use consonant_map::solver::Method;
use consonant_sequence::Algorithm;
use consonant_sequence::features::TypeSums;
use consonant_sequence::inference::{ScoredPath, TransitionMask};
use consonant_sequence::{ChainDecoder, ChainModel, SentenceKeys};
use consonant_text::Sentence;
use consonant_text::document::ranges;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::documents::groups;
use crate::features::FeatureReader;
use crate::model::{Agreement, Scope};
use crate::occurrences::{Occurrences, OrdinaryWords};
use crate::parts::write;
use crate::patterns::{GroupLinks, GroupProblem, Layout, PatternDecoder, to_json};
use crate::scores::SentenceScores;
use crate::words::{self, WordProblem};
use crate::{NerError, NerModel};

/// Tables of label pairs that a thread keeps at most.
const MOST_TABLES: usize = 1 << 14;

/// What is wanted beside the labels, and how they are found.
#[derive(Debug, Clone, Copy, Default)]
pub struct Request {
    /// The probability of each label by the sentence's chain, into MISC as `Prob=0.987`; for CoNLL-U only.
    pub marginals: bool,
    /// So many best sequences of the sentence's chain; those after the first go to comments `# entities_2 = score label label …`.
    pub n_best: usize,
    /// How labels are made to agree; `None`: two-slave for patterns, Algorithm 1 (subgradient) for words.
    pub method: Option<Method>,
}

/// How the decoding of a unit (a sentence, or a group of sentences whose labels agree) went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decoded {
    /// What is known about the labels. Its seconds are those it took to make labels agree, or, where nothing has to agree, for
    /// everything.
    pub certificate: Certificate,
    /// The number of words.
    pub tokens: usize,
}

/// Labels sentences with buffers that are reused: one set for each thread of rayon's pool.
pub struct Decoder<'m> {
    model: &'m NerModel,
    mask: TransitionMask,
    /// Scores of the chain by previous label and label, forbidden pairs at minus infinity.
    transitions: Vec<f32>,
    workers: Vec<Mutex<Worker<'m>>>,
}

/// What the models say about sentences, before their labels agree.
#[derive(Debug)]
pub(crate) struct Readings {
    /// What the chain says about each sentence.
    pub(crate) scores: Vec<SentenceScores>,
    /// A row of the word model's scores for each word of all sentences, if there is a word model.
    pub(crate) words: Vec<f32>,
}

/// The labels of a group's sentences and how they were found.
struct Answer {
    sentences: Vec<usize>,
    paths: Vec<Vec<u32>>,
    decoded: Decoded,
}

impl<'m> Decoder<'m> {
    pub(crate) fn new(model: &'m NerModel) -> Result<Self, NerError> {
        let mask = model.labels.mask();
        // One more for a caller outside of the pool.
        let workers = (0..=rayon::current_num_threads()).map(|_| Ok(Mutex::new(Worker::new(model, &mask)?)));
        let workers = workers.collect::<Result<_, NerError>>()?;
        Ok(Self { model, transitions: pair_scores(&model.chain, Some(&mask)), mask, workers })
    }

    /// Finds the entities of sentences, in order and with their document marks, and writes them in place. Labels agree among the
    /// sentences that are decoded together. The outcome is the same for any number of threads.
    pub fn decode(&self, sentences: &mut [Sentence], request: &Request) -> Result<Vec<Decoded>, NerError> {
        if matches!(self.model.agreement, Agreement::None) {
            return self.decode_alone(sentences, request);
        }
        let answers = self.agree(sentences, &self.read(sentences)?, request.method, None)?;
        let mut decoded = Vec::with_capacity(answers.len());
        for answer in answers {
            for (&number, path) in answer.sentences.iter().zip(&answer.paths) {
                write(&mut sentences[number], &self.model.labels, path, self.model.settings.written)?;
            }
            decoded.push(answer.decoded);
        }
        if request.marginals || request.n_best > 1 {
            self.over_texts(sentences, |worker, text| worker.add_extras(text, request))?;
        }
        Ok(decoded)
    }

    fn decode_alone(&self, sentences: &mut [Sentence], request: &Request) -> Result<Vec<Decoded>, NerError> {
        if let Some(method) = request.method.filter(|&method| method != Method::Exact) {
            return Err(self.refuse(method, "exact alone: there is nothing to agree"));
        }
        let decoded = self.over_texts(sentences, |worker, text| worker.decode(text, request))?;
        Ok(decoded.into_iter().flatten().collect())
    }

    /// Calls `work` for each text, on all threads; the results are in the order of the texts.
    fn over_texts<R: Send>(
        &self,
        sentences: &mut [Sentence],
        work: impl Fn(&mut Worker<'m>, &mut [Sentence]) -> Result<R, NerError> + Sync,
    ) -> Result<Vec<R>, NerError> {
        let mut texts = Vec::new();
        let ranges = ranges(sentences);
        let mut rest = sentences;
        for range in ranges {
            let (text, after) = rest.split_at_mut(range.len());
            texts.push(text);
            rest = after;
        }
        texts.into_par_iter().map(|text| self.with_worker(|worker| work(worker, text))).collect()
    }

    fn with_worker<R>(&self, work: impl FnOnce(&mut Worker<'m>) -> R) -> R {
        let last = self.workers.len() - 1;
        let own = rayon::current_thread_index().unwrap_or(last).min(last);
        let mut worker = self.workers[own].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        work(&mut worker)
    }

    fn refuse(&self, method: Method, possible: &'static str) -> NerError {
        let names = Method::NAMES.iter().find(|(_, other)| *other == method);
        let decoder = names.map_or("", |(name, _)| *name);
        NerError::Decoder { consistency: self.model.settings.consistency.name(), decoder, possible }
    }

    /// The labels of sentences, one list of label numbers each, from what the models say about them. With `slack`, labels that the chain
    /// scores so much below its best are not looked at in patterns: nearly the same answer in a tenth of the time, without a
    /// certificate.
    pub(crate) fn paths_of(
        &self,
        sentences: &[Sentence],
        readings: &Readings,
        slack: Option<f32>,
    ) -> Result<Vec<Vec<u32>>, NerError> {
        if matches!(self.model.agreement, Agreement::None) {
            return Ok(readings.scores.iter().map(|scores| scores.path.clone()).collect());
        }
        let mut paths = vec![Vec::new(); sentences.len()];
        for answer in self.agree(sentences, readings, None, slack)? {
            for (number, path) in answer.sentences.into_iter().zip(answer.paths) {
                paths[number] = path;
            }
        }
        Ok(paths)
    }

    /// What the models say about sentences.
    pub(crate) fn read(&self, sentences: &[Sentence]) -> Result<Readings, NerError> {
        Ok(Readings { scores: self.scores(sentences)?, words: self.read_words(sentences)? })
    }

    /// What the word model says, if there is one.
    pub(crate) fn read_words(&self, sentences: &[Sentence]) -> Result<Vec<f32>, NerError> {
        let Agreement::Words { ordinary, chain, .. } = &self.model.agreement else { return Ok(Vec::new()) };
        let rows: Result<Vec<Vec<f32>>, NerError> = ranges(sentences)
            .into_par_iter()
            .map(|text| self.with_worker(|worker| worker.word_scores(&sentences[text], ordinary, chain)))
            .collect();
        Ok(rows?.into_iter().flatten().collect())
    }

    /// What the chain says about each sentence.
    fn scores(&self, sentences: &[Sentence]) -> Result<Vec<SentenceScores>, NerError> {
        let scores: Result<Vec<Vec<SentenceScores>>, NerError> = ranges(sentences)
            .into_par_iter()
            .map(|text| self.with_worker(|worker| worker.scores(&sentences[text], &self.mask)))
            .collect();
        Ok(scores?.into_iter().flatten().collect())
    }

    /// Scores of the chain by previous label and label.
    pub(crate) fn transitions(&self) -> &[f32] {
        &self.transitions
    }

    /// The graph of each group of sentences in which something has to agree, as a problem in JSON for `consonant solve`; none unless
    /// labels agree by patterns.
    pub fn graphs(&self, sentences: &[Sentence]) -> Result<Vec<String>, NerError> {
        let Agreement::Patterns { ordinary, layout, weights } = &self.model.agreement else {
            return Ok(Vec::new());
        };
        let all = self.scores(sentences)?;
        let strength = self.model.settings.strength;
        let weights: Vec<f32> = weights.iter().map(|weight| strength * weight).collect();
        let mut graphs = Vec::new();
        for group in groups(sentences) {
            let members: Vec<&Sentence> = group.iter().map(|&number| &sentences[number]).collect();
            let scores: Vec<&SentenceScores> = group.iter().map(|&number| &all[number]).collect();
            let links = GroupLinks::read(&members, ordinary);
            let problem = GroupProblem {
                layout,
                links: &links,
                scores: &scores,
                transitions: &self.transitions,
                weights: &weights,
                candidates: None,
            };
            if !links.is_empty() {
                graphs.push(to_json(&problem, &self.model.labels));
            }
        }
        Ok(graphs)
    }

    fn agree(
        &self,
        sentences: &[Sentence],
        readings: &Readings,
        method: Option<Method>,
        slack: Option<f32>,
    ) -> Result<Vec<Answer>, NerError> {
        match &self.model.agreement {
            Agreement::None => Ok(Vec::new()),
            Agreement::Words { ordinary, chain, scope } => {
                let method = method.unwrap_or(Method::Subgradient);
                let groups = match scope {
                    Scope::Document => ranges(sentences).into_iter().map(Iterator::collect).collect(),
                    Scope::Set => vec![(0..sentences.len()).collect()],
                };
                self.agree_by_words(sentences, readings, groups, (ordinary, chain), method)
            }
            Agreement::Patterns { ordinary, layout, weights } => {
                let method = method.unwrap_or(Method::TwoSlave);
                if method == Method::Subgradient {
                    return Err(self.refuse(method, "two-slave, spanning-trees, ad3 or exact"));
                }
                self.agree_by_patterns(
                    sentences,
                    &readings.scores,
                    (ordinary, layout, weights),
                    method,
                    slack,
                )
            }
        }
    }

    fn agree_by_patterns(
        &self,
        sentences: &[Sentence],
        scores: &[SentenceScores],
        (ordinary, layout, weights): (&OrdinaryWords, &Layout, &[f32]),
        method: Method,
        slack: Option<f32>,
    ) -> Result<Vec<Answer>, NerError> {
        let strength = self.model.settings.strength;
        let weights: Vec<f32> = weights.iter().map(|weight| strength * weight).collect();
        groups(sentences)
            .into_par_iter()
            .map_init(
                || PatternDecoder::new(method, None),
                |decoder, group| {
                    let start = Instant::now();
                    let members: Vec<&Sentence> = group.iter().map(|&number| &sentences[number]).collect();
                    let scores: Vec<&SentenceScores> = group.iter().map(|&number| &scores[number]).collect();
                    let links = GroupLinks::read(&members, ordinary);
                    let candidates = slack.map(|slack| {
                        let mut all = Vec::new();
                        scores.iter().for_each(|of| of.candidates(&self.transitions, slack, &mut all));
                        all
                    });
                    let problem = GroupProblem {
                        layout,
                        links: &links,
                        scores: &scores,
                        transitions: &self.transitions,
                        weights: &weights,
                        candidates: candidates.as_deref(),
                    };
                    let (paths, mut certificate) = decoder.decode(&problem)?;
                    certificate.seconds = start.elapsed().as_secs_f64();
                    let tokens = members.iter().map(|sentence| sentence.len()).sum();
                    Ok(Answer { sentences: group, paths, decoded: Decoded { certificate, tokens } })
                },
            )
            .collect()
    }

    fn agree_by_words(
        &self,
        sentences: &[Sentence],
        readings: &Readings,
        groups: Vec<Vec<usize>>,
        (ordinary, chain): (&OrdinaryWords, &ChainModel),
        method: Method,
    ) -> Result<Vec<Answer>, NerError> {
        let solve = match method {
            Method::Subgradient => words::subgradient,
            Method::Ad3 => words::ad3,
            other => return Err(self.refuse(other, "subgradient or ad3")),
        };
        let strength = self.model.settings.strength;
        let labels = self.model.labels.len();
        let word_transitions: Vec<f32> =
            pair_scores(chain, None).into_iter().map(|score| strength * score).collect();
        // For each sentence a row for each word.
        let rows: Vec<f32> = readings.words.iter().map(|score| strength * score).collect();
        let starts: Vec<usize> = std::iter::once(0)
            .chain(sentences.iter().scan(0, |sum, sentence| {
                *sum += sentence.len();
                Some(*sum)
            }))
            .collect();
        groups
            .into_par_iter()
            .map(|group| {
                let start = Instant::now();
                let occurrences = Occurrences::read(group.iter().map(|&number| &sentences[number]), ordinary);
                let scores: Vec<&SentenceScores> =
                    group.iter().map(|&number| &readings.scores[number]).collect();
                let tokens: Vec<usize> =
                    group.iter().flat_map(|&number| starts[number]..starts[number + 1]).collect();
                let mut word_nodes = Vec::new();
                for number in 0..occurrences.len() {
                    for &token in occurrences.chain(number) {
                        let row = tokens[token as usize] * labels;
                        word_nodes.extend_from_slice(&rows[row..row + labels]);
                    }
                }
                let problem = WordProblem {
                    labels,
                    scores: &scores,
                    transitions: &self.transitions,
                    mask: &self.mask,
                    occurrences: &occurrences,
                    word_nodes: &word_nodes,
                    word_transitions: &word_transitions,
                    // Algorithm 1's first step of 0.5 is for likelihoods.
                    step: 0.1 * self.model.settings.margin,
                };
                let (paths, mut certificate) = solve(&problem)?;
                certificate.seconds = start.elapsed().as_secs_f64();
                let decoded = Decoded { certificate, tokens: tokens.len() };
                Ok(Answer { sentences: group, paths, decoded })
            })
            .collect()
    }
}

/// The weights of pairs of labels, forbidden ones at minus infinity.
fn pair_scores(chain: &ChainModel, mask: Option<&TransitionMask>) -> Vec<f32> {
    let labels = chain.labels().len() as u32;
    let pairs = (0..labels).flat_map(|previous| (0..labels).map(move |label| (previous, label)));
    pairs
        .map(|(previous, label)| match mask.is_none_or(|mask| mask.allows(previous, label)) {
            true => chain.gram_weight(&[previous, label]),
            false => f32::NEG_INFINITY,
        })
        .collect()
}

/// All that one thread needs.
struct Worker<'m> {
    model: &'m NerModel,
    chain: ChainDecoder<'m>,
    reader: FeatureReader<'m>,
    sums: TypeSums,
    word_sums: TypeSums,
    pairs: Vec<u64>,
    keys: SentenceKeys,
    /// Scores of label pairs by the features of pairs that they come from.
    tables: FxHashMap<u64, Arc<[f32]>>,
    path: Vec<u32>,
    paths: Vec<ScoredPath>,
}

impl<'m> Worker<'m> {
    fn new(model: &'m NerModel, mask: &TransitionMask) -> Result<Self, NerError> {
        let reader = model.features.reader();
        let labels = model.labels.len();
        Ok(Self {
            model,
            chain: model.chain.decoder(Some(mask))?,
            sums: TypeSums::new(&model.features.extractor, labels),
            word_sums: TypeSums::new(&model.features.extractor, labels),
            reader,
            pairs: Vec::new(),
            keys: SentenceKeys::new(),
            tables: FxHashMap::default(),
            path: Vec::new(),
            paths: Vec::new(),
        })
    }

    fn decode(&mut self, text: &mut [Sentence], request: &Request) -> Result<Vec<Decoded>, NerError> {
        self.reader.document(text);
        let model = self.model;
        let mut decoded = Vec::with_capacity(text.len());
        for (number, sentence) in text.iter_mut().enumerate() {
            let start = Instant::now();
            let value = self.best(number, sentence)?;
            write(sentence, &model.labels, &self.path, model.settings.written)?;
            self.extras(sentence, request)?;
            let certificate = Certificate::exact(value).after(1, start.elapsed().as_secs_f64());
            decoded.push(Decoded { certificate, tokens: sentence.len() });
        }
        Ok(decoded)
    }

    /// What the chain says about the sentences of a text.
    fn scores(&mut self, text: &[Sentence], mask: &TransitionMask) -> Result<Vec<SentenceScores>, NerError> {
        self.reader.document(text);
        let labels = self.model.labels.len();
        // Learned scales of pieces also make every step different.
        let is_scaled = self.model.settings.training.algorithm() == Algorithm::PiecewiseNota;
        let mut all = Vec::with_capacity(text.len());
        for (number, sentence) in text.iter().enumerate() {
            let value = self.best(number, sentence)?;
            if sentence.is_empty() {
                all.push(SentenceScores::default());
                continue;
            }
            let chain = self.chain.chain()?;
            let mut nodes = chain.nodes().to_vec();
            let last = nodes.len() - labels;
            for label in 0..labels {
                if !mask.allows_start(label as u32) {
                    nodes[label] = f32::NEG_INFINITY;
                }
                if !mask.allows_end(label as u32) {
                    nodes[last + label] = f32::NEG_INFINITY;
                }
            }
            let table = |word: usize| -> Arc<[f32]> {
                let pairs = (0..labels * labels).map(|pair| ((pair / labels) as u32, (pair % labels) as u32));
                pairs.map(|(previous, label)| chain.step(word, previous, label) as f32).collect()
            };
            let tables = &mut self.tables;
            let mut steps = Vec::new();
            if is_scaled {
                steps.extend((1..sentence.len()).map(table));
            } else if self.model.chain.pair_table().is_some() {
                steps.extend((1..sentence.len()).map(|word| {
                    let keys = self.keys.pair_features(word).iter();
                    let keys = keys.fold(0, |all, &key| hash::combine(all, key));
                    if tables.len() > MOST_TABLES {
                        tables.clear();
                    }
                    tables.entry(keys).or_insert_with(|| table(word)).clone()
                }));
            }
            all.push(SentenceScores { nodes, steps, path: self.path.clone(), value });
        }
        Ok(all)
    }

    /// What the word model says about the words of a text that may be names; a row of zeros for others.
    fn word_scores(
        &mut self,
        text: &[Sentence],
        ordinary: &OrdinaryWords,
        chain: &ChainModel,
    ) -> Result<Vec<f32>, NerError> {
        self.reader.document(text);
        let labels = self.model.labels.len();
        let table: &Table = chain.node_table();
        let mut rows = Vec::new();
        for (number, sentence) in text.iter().enumerate() {
            self.reader.sentence(number, sentence);
            for word in 0..sentence.len() {
                let start = rows.len();
                rows.resize(start + labels, 0.0);
                if ordinary.may_be_name(sentence.form(word)) {
                    self.reader.add_scores(&mut self.word_sums, (table, true), word, &mut rows[start..]);
                }
            }
        }
        Ok(rows)
    }

    /// The best labels of a sentence of the text read last, into `path`.
    fn best(&mut self, number: usize, sentence: &Sentence) -> Result<f64, NerError> {
        self.path.clear();
        if sentence.is_empty() {
            return Ok(0.0);
        }
        self.score(number, sentence);
        Ok(self.chain.best(None, &mut self.path)?)
    }

    fn score(&mut self, number: usize, sentence: &Sentence) {
        self.reader.sentence(number, sentence);
        self.keys.clear();
        let extractor = &self.reader.features.extractor;
        for word in 0..sentence.len() {
            self.keys.token();
            if extractor.templates().has_pairs() {
                extractor.pair_features(&self.reader.workspace, word, &mut self.pairs);
                self.pairs.iter().for_each(|&key| self.keys.pair_key(key));
            }
        }
        let (reader, sums) = (&self.reader, &mut self.sums);
        let (outside, bias) = (self.model.labels.outside(), self.model.settings.bias);
        self.chain.score_with(&self.keys, |table, group, word, scores| {
            reader.add_scores(sums, (table, group == 0), word, scores);
            if let Some(outside) = outside.filter(|_| group == 0) {
                scores[outside as usize] -= bias;
            }
        });
    }

    fn add_extras(&mut self, text: &mut [Sentence], request: &Request) -> Result<(), NerError> {
        self.reader.document(text);
        for (number, sentence) in text.iter_mut().enumerate() {
            self.best(number, sentence)?;
            self.extras(sentence, request)?;
        }
        Ok(())
    }

    fn extras(&mut self, sentence: &mut Sentence, request: &Request) -> Result<(), NerError> {
        if sentence.is_empty() {
            return Ok(());
        }
        if request.marginals {
            let path = &self.path;
            let probabilities: Vec<f64> = self.chain.marginals(None, |posterior| {
                path.iter().enumerate().map(|(word, &label)| posterior.node(word)[label as usize]).collect()
            })?;
            for (word, probability) in probabilities.iter().enumerate() {
                sentence.set_misc(word, "Prob", Some(&format!("{probability:.4}")))?;
            }
        }
        if request.n_best > 1 {
            self.chain.k_best(None, request.n_best, &mut self.paths)?;
            for (rank, path) in self.paths.iter().enumerate().skip(1) {
                let names: Vec<&str> =
                    path.labels.iter().map(|&label| self.model.labels.name(label)).collect();
                let text = format!("{:.4} {}", path.score, names.join(" "));
                sentence.set_comment(&format!("entities_{}", rank + 1), Some(&text))?;
            }
        }
        Ok(())
    }
}
