//! How a recognizer decodes: texts to features, features to scores, scores to the best labels, and labels
//! that agree.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use consonant_learn::hash;
use consonant_map::solver::Method;
use consonant_sequence::Algorithm;
use consonant_sequence::features::TypeSums;
use consonant_sequence::inference::{ScoredPath, TransitionMask};
use consonant_sequence::{ChainDecoder, ChainModel, SentenceKeys};
use consonant_task::{Answered, Certificate, Solver, Unit, Usage};
use consonant_text::Sentence;
use consonant_text::document::ranges;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::features::FeatureReader;
use crate::model::{Agreement, Scope};
use crate::occurrences::{Occurrences, OrdinaryWords};
use crate::parts::{has_tags, write};
use crate::patterns::{GroupLinks, GroupProblem, Layout, PatternDecoder, answered, reachable};
use crate::scores::SentenceScores;
use crate::words::{self, WordProblem};
use crate::{Ner, NerError};

/// The most tables of label pairs that a thread keeps.
const MOST_TABLES: usize = 1 << 14;

consonant_task::settings! {
    /// What is wanted beside the names, and how they are found.
    pub struct NerOptions {
        /// How models that must agree are decoded: two-slave, tree-cut, spanning-trees, ad3, subgradient or
        /// exact.
        decoder: Option<Solver> = None, "NAME";
        /// How much agreement counts beside the sentence's own chain (default: as much as was found in training).
        strength: Option<f32> = None, "NUMBER" in 0.0..;
        /// Adds the probability of each label by the sentence's chain, in MISC as `Prob=0.987`.
        marginals: bool = false, "";
        /// Adds how sure the model is of each name, in MISC of its words as `NameConfidence=0.91`: of all names with
        /// this number, so many are right. Known from the dev data of the training, or from `consonant calibrate`.
        confidence: bool = false, "";
        /// Adds the K best outputs of each sentence's chain, as comments `# entities_2 = score label label
        /// …`.
        n_best: usize = 1, "K" in 1.0..=1000.0;
    }
}

/// Two places that should be labelled alike: occurrences of a word, or of a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tie {
    /// The sentence of each place, and its words there.
    pub places: [(usize, Range<usize>); 2],
}

/// What the models say about sentences, before their labels agree.
#[derive(Debug)]
pub(crate) struct Readings {
    /// What the chain says about each sentence.
    pub(crate) scores: Vec<SentenceScores>,
    /// What the word model says, if there is one.
    pub(crate) words: WordReadings,
}

/// What the word model says about the words of sentences, on the scale of the sentence model.
#[derive(Debug, Clone, Default)]
pub(crate) struct WordReadings {
    /// A row of scores for each word of all sentences; zeros for those that are no names.
    pub(crate) rows: Vec<f32>,
    /// For each word its scores by the label of the occurrence before and its own, where features make them
    /// differ; else nothing. Words of equal features share a table.
    pub(crate) tables: Vec<Arc<[f32]>>,
}

/// Which labels of a group are looked at.
#[derive(Clone, Copy)]
enum Look {
    /// All.
    Every,
    /// Those that a best assignment can have.
    Reachable,
    /// Those that the chain scores so much below its best at most.
    Near(f32),
}

/// The labels of a group's sentences and how they were found.
struct Answer {
    sentences: Vec<usize>,
    paths: Vec<Vec<u32>>,
    unit: Unit,
}

impl Ner {
    /// Finds the entities of sentences, in order and with their document marks, and writes them in place.
    /// Labels agree among the sentences that are decoded together.
    pub(crate) fn label(
        &self,
        sentences: &mut [Sentence],
        options: &NerOptions,
    ) -> Result<Vec<Unit>, NerError> {
        if let Some(strength) = options.strength {
            let options = NerOptions { strength: None, ..options.clone() };
            return self.agreeing(strength).label(sentences, &options);
        }
        if self.description.tags && !has_tags(sentences) {
            return Err(NerError::NoTags);
        }
        let method = options.decoder.map(|Solver(method)| method);
        if matches!(self.agreement, Agreement::None) {
            if let Some(method) = method.filter(|&method| method != Method::Exact) {
                return Err(self.refuse(method, "exact alone: there is nothing to agree"));
            }
            let units = self.over_texts(sentences, |worker, text| worker.label(self, text, options))?;
            self.add_confidence(sentences, options)?;
            return Ok(units.into_iter().flatten().collect());
        }
        let answers = self.agree(sentences, &self.read(sentences)?, method, None)?;
        let mut units = Vec::with_capacity(answers.len());
        for answer in answers {
            for (&number, path) in answer.sentences.iter().zip(&answer.paths) {
                write(&mut sentences[number], &self.labels, path, self.description.written)?;
            }
            units.push(answer.unit);
        }
        if options.marginals || options.n_best > 1 {
            self.over_texts(sentences, |worker, text| worker.add_extras(self, text, options))?;
        }
        self.add_confidence(sentences, options)?;
        Ok(units)
    }

    /// Calls `work` for each text, on all threads; the results are in the order of the texts.
    pub(crate) fn over_texts<R: Send>(
        &self,
        sentences: &mut [Sentence],
        work: impl Fn(&mut Worker, &mut [Sentence]) -> Result<R, NerError> + Sync,
    ) -> Result<Vec<R>, NerError> {
        let mut texts = Vec::new();
        let ranges = ranges(sentences);
        let mut rest = sentences;
        for range in ranges {
            let (text, after) = rest.split_at_mut(range.len());
            texts.push(text);
            rest = after;
        }
        texts.into_par_iter().map(|text| work(&mut *self.worker()?, text)).collect()
    }

    fn worker(&self) -> Result<consonant_task::Worker<'_, Worker>, NerError> {
        self.workers.try_take(|| Worker::new(self))
    }

    fn refuse(&self, method: Method, possible: &'static str) -> NerError {
        let (consistency, decoder) = (self.consistency(), Solver(method).name());
        let text = format!(
            "the model was trained with consistency `{consistency}`, which is decoded by {possible}; came `{decoder}`"
        );
        Usage(text).into()
    }

    /// The labels of sentences, one list of label numbers each, from what the models say about them. With
    /// `slack`, labels that the chain scores so much below its best are not looked at in patterns: nearly the
    /// same answer in a tenth of the time, without a certificate.
    pub(crate) fn paths_of(
        &self,
        sentences: &[Sentence],
        readings: &Readings,
        slack: Option<f32>,
    ) -> Result<Vec<Vec<u32>>, NerError> {
        if matches!(self.agreement, Agreement::None) {
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
        Ok(Readings { scores: self.scores(sentences)?, words: self.read_words(sentences) })
    }

    /// What the word model, if there is one, says about the words that may be names.
    pub(crate) fn read_words(&self, sentences: &[Sentence]) -> WordReadings {
        let Agreement::Words { ordinary, chain, readers, scale, .. } = &self.agreement else {
            return WordReadings::default();
        };
        let (labels, scale) = (self.labels.len(), *scale);
        let scaled = |scores: &[f32]| scores.iter().map(|score| scale * score).collect::<Vec<f32>>();
        let common: Arc<[f32]> = scaled(&pair_scores(chain, None)).into();
        let read = |text: Range<usize>| {
            let (reader, sums) = &mut *readers
                .take(|| (self.features.reader(), TypeSums::new(&self.features.extractor, labels)));
            let text = &sentences[text];
            reader.document(text);
            let mut found = WordReadings::default();
            let (mut known, mut keys) = (FxHashMap::<u64, Arc<[f32]>>::default(), Vec::new());
            let mut row = vec![0.0; labels];
            for (number, sentence) in text.iter().enumerate() {
                reader.sentence(number, sentence);
                for word in 0..sentence.len() {
                    let may_be_name = ordinary.may_be_name(sentence.form(word));
                    row.fill(0.0);
                    if may_be_name {
                        reader.add_scores(sums, (chain.node_table(), true), word, &mut row);
                    }
                    found.rows.extend(row.iter().map(|score| scale * score));
                    let Some(pairs) = chain.pair_table() else { continue };
                    if !may_be_name {
                        found.tables.push(common.clone());
                        continue;
                    }
                    reader.features.extractor.pair_features(&reader.workspace, word, &mut keys);
                    let all = keys.iter().fold(0, |all, &key| hash::combine(all, key));
                    let table = known.entry(all).or_insert_with(|| {
                        let mut own = vec![0.0; labels * labels];
                        keys.iter().for_each(|&key| {
                            pairs.add(key, scale, &mut own);
                        });
                        own.iter().zip(&*common).map(|(own, common)| own + common).collect()
                    });
                    found.tables.push(table.clone());
                }
            }
            found
        };
        let texts: Vec<WordReadings> = ranges(sentences).into_par_iter().map(read).collect();
        let mut all = WordReadings::default();
        for text in texts {
            all.rows.extend_from_slice(&text.rows);
            all.tables.extend(text.tables);
        }
        all
    }

    /// What the chain says about each sentence.
    fn scores(&self, sentences: &[Sentence]) -> Result<Vec<SentenceScores>, NerError> {
        let scores: Result<Vec<Vec<SentenceScores>>, NerError> = ranges(sentences)
            .into_par_iter()
            .map(|text| self.worker()?.scores(self, &sentences[text]))
            .collect();
        Ok(scores?.into_iter().flatten().collect())
    }

    /// The problem of each group of sentences in which something has to agree, with its labels; none unless labels
    /// agree by patterns. Groups so large that some of their ties are not looked at have none either.
    pub(crate) fn answered(
        &self,
        sentences: &[Sentence],
        options: &NerOptions,
    ) -> Result<Vec<Answered>, NerError> {
        let Agreement::Patterns { ordinary, layout, weights } = &self.agreement else {
            return Ok(Vec::new());
        };
        let readings = self.read(sentences)?;
        let weights = self.strengthened(weights);
        let answers = self.agree(sentences, &readings, options.decoder.map(|Solver(method)| method), None)?;
        let answered = answers.into_iter().filter_map(|Answer { sentences: group, paths, .. }| {
            let parts = (ordinary, layout, &weights[..]);
            self.with_group(sentences, &readings.scores, &group, parts, Look::Every, |problem| {
                let is_whole = !problem.links.is_empty() && !problem.links.is_cut;
                is_whole.then(|| answered(problem, &self.labels, &paths))
            })
        });
        Ok(answered.collect())
    }

    /// What is tied together in sentences, in order and with their document marks; nothing unless labels agree
    /// by patterns.
    pub fn ties(&self, sentences: &[Sentence]) -> Vec<Tie> {
        let Agreement::Patterns { ordinary, layout, .. } = &self.agreement else { return Vec::new() };
        let mut ties = Vec::new();
        for group in layout.groups(sentences) {
            let members: Vec<&Sentence> = group.iter().map(|&number| &sentences[number]).collect();
            let links = GroupLinks::read(&members, ordinary, layout);
            ties.extend(
                links.pairs().map(|pair| Tie { places: pair.map(|(member, words)| (group[member], words)) }),
            );
        }
        ties
    }

    /// The sentences that are decoded together, in the order of the units of decoding.
    pub fn groups(&self, sentences: &[Sentence]) -> Vec<Vec<usize>> {
        match &self.agreement {
            Agreement::Words { scope: Scope::Document, .. } => {
                ranges(sentences).into_iter().map(Iterator::collect).collect()
            }
            Agreement::Words { scope: Scope::Set, .. } => vec![(0..sentences.len()).collect()],
            Agreement::Patterns { layout, .. } => layout.groups(sentences),
            Agreement::None => (0..sentences.len()).map(|sentence| vec![sentence]).collect(),
        }
    }

    /// Scores of what agrees, as much as agreement counts.
    fn strengthened(&self, scores: &[f32]) -> Vec<f32> {
        scores.iter().map(|score| self.strength * score).collect()
    }

    /// Calls `work` with the problem of a group of sentences whose labels agree by patterns.
    fn with_group<R>(
        &self,
        sentences: &[Sentence],
        scores: &[SentenceScores],
        group: &[usize],
        (ordinary, layout, weights): (&OrdinaryWords, &Layout, &[f32]),
        look: Look,
        work: impl FnOnce(&GroupProblem<'_>) -> R,
    ) -> R {
        let members: Vec<&Sentence> = group.iter().map(|&number| &sentences[number]).collect();
        let scores: Vec<&SentenceScores> = group.iter().map(|&number| &scores[number]).collect();
        let links = &GroupLinks::read(&members, ordinary, layout);
        let transitions = &self.transitions;
        let candidates = match look {
            _ if links.is_empty() => None,
            Look::Every => None,
            Look::Near(slack) => {
                let mut all = Vec::new();
                scores.iter().for_each(|of| of.candidates(transitions, slack, &mut all));
                Some(all)
            }
            Look::Reachable => Some(reachable(layout, links, weights, &scores, transitions)),
        };
        let candidates = candidates.as_deref();
        work(&GroupProblem { layout, links, scores: &scores, transitions, weights, candidates })
    }

    fn agree(
        &self,
        sentences: &[Sentence],
        readings: &Readings,
        method: Option<Method>,
        slack: Option<f32>,
    ) -> Result<Vec<Answer>, NerError> {
        match &self.agreement {
            Agreement::None => Ok(Vec::new()),
            Agreement::Words { ordinary, chain, scale, .. } => {
                let method = method.unwrap_or(Method::Subgradient);
                let groups = self.groups(sentences);
                let transitions: Vec<f32> =
                    pair_scores(chain, None).iter().map(|score| scale * score).collect();
                self.agree_by_words(sentences, readings, groups, (ordinary, &transitions), method)
            }
            Agreement::Patterns { ordinary, layout, weights } => {
                let method = method.unwrap_or(Method::TwoSlave);
                if method == Method::Subgradient {
                    return Err(self.refuse(method, "two-slave, tree-cut, spanning-trees, ad3 or exact"));
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
        let weights = self.strengthened(weights);
        let parts = (ordinary, layout, &weights[..]);
        let look = slack.map_or(Look::Reachable, Look::Near);
        layout
            .groups(sentences)
            .into_par_iter()
            .map_init(
                || PatternDecoder::new(method, None),
                |decoder, group| {
                    let start = Instant::now();
                    let (paths, mut certificate) =
                        self.with_group(sentences, scores, &group, parts, look, |problem| {
                            decoder.decode(problem)
                        })?;
                    certificate.seconds = start.elapsed().as_secs_f64();
                    let tokens = paths.iter().map(Vec::len).sum();
                    Ok(Answer { sentences: group, paths, unit: Unit { certificate, tokens } })
                },
            )
            .collect()
    }

    fn agree_by_words(
        &self,
        sentences: &[Sentence],
        readings: &Readings,
        groups: Vec<Vec<usize>>,
        (ordinary, transitions): (&OrdinaryWords, &[f32]),
        method: Method,
    ) -> Result<Vec<Answer>, NerError> {
        let solve = match method {
            Method::Subgradient => words::subgradient,
            Method::Ad3 => words::ad3,
            other => return Err(self.refuse(other, "subgradient or ad3")),
        };
        let labels = self.labels.len();
        let word_transitions = self.strengthened(transitions);
        // For each sentence a row for each word.
        let rows = self.strengthened(&readings.words.rows);
        let starts = token_starts(sentences);
        groups
            .into_par_iter()
            .map(|group| {
                let start = Instant::now();
                let occurrences = Occurrences::read(group.iter().map(|&number| &sentences[number]), ordinary);
                let scores: Vec<&SentenceScores> =
                    group.iter().map(|&number| &readings.scores[number]).collect();
                let tokens: Vec<usize> =
                    group.iter().flat_map(|&number| starts[number]..starts[number + 1]).collect();
                let (mut word_nodes, mut word_tables) = (Vec::new(), Vec::new());
                let mut known = FxHashMap::<*const f32, Arc<[f32]>>::default();
                for number in 0..occurrences.len() {
                    for &token in occurrences.chain(number) {
                        let token = tokens[token as usize];
                        word_nodes.extend_from_slice(&rows[token * labels..][..labels]);
                        if let Some(table) = readings.words.tables.get(token) {
                            let stronger = known.entry(table.as_ptr());
                            let stronger = stronger.or_insert_with(|| self.strengthened(table).into());
                            word_tables.push(stronger.clone());
                        }
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
                    word_tables: &word_tables,
                    // Algorithm 1's first step of 0.5 is for likelihoods.
                    step: 0.1 * self.description.margin,
                };
                let (paths, mut certificate) = solve(&problem)?;
                certificate.seconds = start.elapsed().as_secs_f64();
                let tokens = tokens.len();
                Ok(Answer { sentences: group, paths, unit: Unit { certificate, tokens } })
            })
            .collect()
    }
}

/// The number of the first word of each sentence, and of all words.
pub(crate) fn token_starts(sentences: &[Sentence]) -> Vec<usize> {
    let ends = sentences.iter().scan(0, |sum, sentence| {
        *sum += sentence.len();
        Some(*sum)
    });
    std::iter::once(0).chain(ends).collect()
}

/// The weights of pairs of labels, forbidden ones at minus infinity.
pub(crate) fn pair_scores(chain: &ChainModel, mask: Option<&TransitionMask>) -> Vec<f32> {
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
pub(crate) struct Worker {
    pub(crate) chain: ChainDecoder,
    pub(crate) reader: FeatureReader,
    sums: TypeSums,
    pairs: Vec<u64>,
    keys: SentenceKeys,
    /// Scores of label pairs by the features of pairs that they come from.
    tables: FxHashMap<u64, Arc<[f32]>>,
    path: Vec<u32>,
    paths: Vec<ScoredPath>,
}

impl Worker {
    fn new(model: &Ner) -> Result<Self, NerError> {
        Ok(Self {
            chain: model.chain.decoder(Some(&model.mask))?,
            reader: model.features.reader(),
            sums: TypeSums::new(&model.features.extractor, model.labels.len()),
            pairs: Vec::new(),
            keys: SentenceKeys::new(),
            tables: FxHashMap::default(),
            path: Vec::new(),
            paths: Vec::new(),
        })
    }

    fn label(
        &mut self,
        model: &Ner,
        text: &mut [Sentence],
        options: &NerOptions,
    ) -> Result<Vec<Unit>, NerError> {
        self.reader.document(text);
        let mut units = Vec::with_capacity(text.len());
        for (number, sentence) in text.iter_mut().enumerate() {
            let start = Instant::now();
            let value = self.best(model, number, sentence)?;
            write(sentence, &model.labels, &self.path, model.description.written)?;
            self.extras(model, sentence, options)?;
            let certificate = Certificate::exact(value).after(1, start.elapsed().as_secs_f64());
            units.push(Unit { certificate, tokens: sentence.len() });
        }
        Ok(units)
    }

    /// What the chain says about the sentences of a text.
    fn scores(&mut self, model: &Ner, text: &[Sentence]) -> Result<Vec<SentenceScores>, NerError> {
        self.reader.document(text);
        let (labels, mask) = (model.labels.len(), &model.mask);
        // Learned scales of pieces also make every step different.
        let is_scaled = model.description.settings.training.algorithm() == Algorithm::PiecewiseNota;
        let mut all = Vec::with_capacity(text.len());
        for (number, sentence) in text.iter().enumerate() {
            let value = self.best(model, number, sentence)?;
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
            } else if model.chain.pair_table().is_some() {
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

    /// The best labels of a sentence of the text read last, into `path`.
    fn best(&mut self, model: &Ner, number: usize, sentence: &Sentence) -> Result<f64, NerError> {
        self.path.clear();
        if sentence.is_empty() {
            return Ok(0.0);
        }
        self.score(model, number, sentence);
        Ok(self.chain.best(None, &mut self.path)?)
    }

    pub(crate) fn score(&mut self, model: &Ner, number: usize, sentence: &Sentence) {
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
        let (outside, bias) = (model.labels.outside(), model.bias);
        let mut known = Vec::new();
        model.known.of(sentence, &mut known);
        self.chain.score_with(&self.keys, |table, group, word, scores| {
            reader.add_scores(sums, (table, group == 0), word, scores);
            if let Some(outside) = outside.filter(|_| group == 0) {
                scores[outside as usize] -= bias;
            }
            if group == 0 {
                let first = known.partition_point(|&(at, _)| at < word);
                for (_, changes) in known[first..].iter().take_while(|&&(at, _)| at == word) {
                    scores.iter_mut().zip(*changes).for_each(|(score, change)| *score += change);
                }
            }
        });
    }

    fn add_extras(
        &mut self,
        model: &Ner,
        text: &mut [Sentence],
        options: &NerOptions,
    ) -> Result<(), NerError> {
        self.reader.document(text);
        for (number, sentence) in text.iter_mut().enumerate() {
            self.best(model, number, sentence)?;
            self.extras(model, sentence, options)?;
        }
        Ok(())
    }

    fn extras(&mut self, model: &Ner, sentence: &mut Sentence, options: &NerOptions) -> Result<(), NerError> {
        if sentence.is_empty() {
            return Ok(());
        }
        if options.marginals {
            let path = &self.path;
            let probabilities: Vec<f64> = self.chain.marginals(None, |posterior| {
                path.iter().enumerate().map(|(word, &label)| posterior.node(word)[label as usize]).collect()
            })?;
            for (word, probability) in probabilities.iter().enumerate() {
                sentence.set_misc(word, "Prob", Some(&format!("{probability:.4}")))?;
            }
        }
        if options.n_best > 1 {
            self.chain.k_best(None, options.n_best, &mut self.paths)?;
            for (rank, path) in self.paths.iter().enumerate().skip(1) {
                let names: Vec<&str> = path.labels.iter().map(|&label| model.labels.name(label)).collect();
                let text = format!("{:.4} {}", path.score, names.join(" "));
                sentence.set_comment(&format!("entities_{}", rank + 1), Some(&text))?;
            }
        }
        Ok(())
    }
}
