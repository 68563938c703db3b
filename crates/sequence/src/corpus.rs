//! Training data as flat arrays, and the weights that follow from it.

use consonant_learn::layout::{Row, RowLayout};
use consonant_learn::trainer::Parameter;
use rustc_hash::FxHashMap;

use crate::model::ChainModel;
use crate::ngrams::LabelGrams;
use crate::parts::{LabelParts, PartsOfLabel};
use crate::space::Space;
use crate::{Labels, Sentences, SequenceError, Training, UNKNOWN};

/// A gold label of evaluation data that no training sentence has: every prediction is wrong there.
pub const UNSEEN: u32 = u32::MAX - 1;

const MOST_LABELS: usize = 65_535;
/// Weight numbers take 32 bits, with room for several parameter groups.
const MOST_WEIGHTS: usize = 1 << 30;

consonant_learn::names! {
    /// Which pairs of feature and label get a weight.
    #[derive(Default)]
    pub enum Pairs {
        /// Those that occur together in the training data.
        #[default]
        Observed = "observed",
        /// Every label for every feature: larger, and able to learn what speaks against a label.
        All = "all",
    }
}

/// How a corpus becomes a model.
#[derive(Debug, Clone)]
pub struct CorpusOptions {
    /// How many labels back the chain looks.
    pub order: usize,
    /// Features that occur less often get no weight.
    pub min_count: u32,
    /// Which pairs of feature and label get a weight.
    pub pairs: Pairs,
    /// With all pairs, the most weights that there may be: beyond, observed pairs have one.
    pub most_for_all: usize,
    /// Whether a feature that occurs with a quarter of all labels gets a weight for each, too.
    pub fill: bool,
    /// Labels whose tokens count more or less than 1.
    pub class_weights: Vec<(String, f32)>,
    /// What labels are made of: the score of a label is then the sum over itself and its parts.
    pub parts_of: Option<PartsOfLabel>,
}

impl Default for CorpusOptions {
    fn default() -> Self {
        Self {
            order: 1,
            min_count: 1,
            pairs: Pairs::Observed,
            most_for_all: usize::MAX,
            fill: true,
            class_weights: Vec::new(),
            parts_of: None,
        }
    }
}

/// Feature keys in the order of their first occurrence.
#[derive(Debug, Clone, Default)]
struct Interner {
    numbers: FxHashMap<u64, u32>,
    keys: Vec<u64>,
    counts: Vec<u32>,
}

impl Interner {
    #[inline]
    fn intern(&mut self, key: u64) -> u32 {
        let next = self.keys.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.keys.push(key);
            self.counts.push(0);
        }
        number
    }

    #[inline]
    fn count(&mut self, key: u64) -> u32 {
        let number = self.intern(key);
        self.counts[number as usize] = self.counts[number as usize].saturating_add(1);
        number
    }
}

/// Gives labels and features their numbers: new ones as they come, or those that a corpus has.
pub trait Numbering {
    /// The number of a label.
    fn label(&mut self, name: &str) -> u32;

    /// The number of a feature; `None` if it is left out.
    fn feature(&mut self, key: u64) -> Option<u32>;

    /// The number of a feature that looks at pairs of labels.
    fn pair_feature(&mut self, key: u64) -> Option<u32>;
}

/// Reads sentences token by token.
#[derive(Debug, Default)]
pub struct TokenReader<N> {
    pub(crate) numbering: N,
    pub(crate) sentences: Sentences,
    pub(crate) error: Option<SequenceError>,
}

impl<N: Numbering> TokenReader<N> {
    /// Begins a sentence that counts `weight` times.
    pub fn begin(&mut self, weight: f32) {
        if !(weight.is_finite() && weight >= 0.0) {
            let sentence = self.sentences.len() + 1;
            self.error.get_or_insert(SequenceError::BadWeight { sentence, weight });
        }
        self.sentences.weights.push(weight);
    }

    /// Adds a token. `label`: `None` if it is not known. `values`: one for each key, or nothing if all are 1.
    /// `pair_keys`: features that look at this label and the one before.
    pub fn token(&mut self, label: Option<&str>, keys: &[u64], values: &[f32], pair_keys: &[u64]) {
        let label = label.map_or(UNKNOWN, |label| self.numbering.label(label));
        if let Err(error) = self.sentences.push(label, keys, values, pair_keys, &mut self.numbering) {
            self.error.get_or_insert(error);
        }
    }

    /// Ends the sentence.
    pub fn end(&mut self) {
        self.sentences.starts.push(self.sentences.gold.len() as u32);
    }
}

/// Reads training sentences.
pub type CorpusBuilder = TokenReader<Growing>;

/// Turns evaluation sentences into the feature numbers of a corpus.
pub type Encoder<'a> = TokenReader<Known<'a>>;

/// Numbers of a corpus that is being made.
#[derive(Debug, Default)]
pub struct Growing {
    options: CorpusOptions,
    labels: Labels,
    features: Interner,
    pair_features: Interner,
    base: Option<ChainModel>,
}

impl Growing {
    /// No labels and features yet.
    pub(crate) fn new(options: CorpusOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// The keys of the features, by number.
    pub(crate) fn keys(&self) -> &[u64] {
        &self.features.keys
    }
}

impl Numbering for Growing {
    #[inline]
    fn label(&mut self, name: &str) -> u32 {
        self.labels.intern(name)
    }

    #[inline]
    fn feature(&mut self, key: u64) -> Option<u32> {
        Some(self.features.count(key))
    }

    #[inline]
    fn pair_feature(&mut self, key: u64) -> Option<u32> {
        Some(self.pair_features.count(key))
    }
}

/// Numbers of a corpus; features without a weight have none.
#[derive(Debug)]
pub struct Known<'a>(&'a Corpus);

impl Numbering for Known<'_> {
    fn label(&mut self, name: &str) -> u32 {
        self.0.labels.get(name).unwrap_or(UNSEEN)
    }

    #[inline]
    fn feature(&mut self, key: u64) -> Option<u32> {
        self.0.number(key)
    }

    #[inline]
    fn pair_feature(&mut self, key: u64) -> Option<u32> {
        self.0.pair_numbers.get(&key).copied()
    }
}

impl Encoder<'_> {
    /// The sentences; bad values met on the way are errors.
    pub fn finish(self) -> Result<Sentences, SequenceError> {
        self.error.map_or(Ok(self.sentences), Err)
    }
}

impl CorpusBuilder {
    /// An empty corpus.
    pub fn new(options: CorpusOptions) -> Self {
        Self { numbering: Growing::new(options), ..Self::default() }
    }

    /// A corpus that continues a model: its labels keep their numbers, and its features keep their weights,
    /// also those that do not occur here.
    pub fn continuing(options: CorpusOptions, model: &ChainModel) -> Self {
        let (labels, base) = (model.labels().clone(), Some(model.clone()));
        Self { numbering: Growing { options, labels, base, ..Growing::default() }, ..Self::default() }
    }

    /// Decides which weights there are. Data without any label, and bad values met on the way, are errors.
    pub fn finish(self) -> Result<Corpus, SequenceError> {
        let Self { numbering, mut sentences, error } = self;
        let Growing { options, labels, mut features, mut pair_features, base } = numbering;
        if let Some(error) = error {
            return Err(error);
        }
        if labels.is_empty() || sentences.gold.iter().all(|&label| label == UNKNOWN) {
            return Err(SequenceError::NoLabels);
        }
        let size = labels.len();
        if size > MOST_LABELS {
            return Err(SequenceError::TooManyLabels { found: size, most: MOST_LABELS });
        }
        let most_pairs = (1usize << 16) - 1;
        if !pair_features.keys.is_empty() && size * size > most_pairs {
            return Err(SequenceError::Unsupported(format!(
                "features over label pairs need at most 255 labels, and there are {size}; leave them out of the templates"
            )));
        }
        let all = features.keys.len().saturating_mul(size);
        let has_all = options.pairs == Pairs::All && all <= options.most_for_all;
        if has_all && all > MOST_WEIGHTS {
            let (features, most) = (features.keys.len(), MOST_WEIGHTS);
            return Err(SequenceError::Unsupported(format!(
                "{features} features with a weight for each of {size} labels are more than the {most} weights that are possible; give weights to observed pairs only"
            )));
        }
        let features_per_token = sentences.features_per_token();
        let mut class_weights = vec![1.0; size];
        for (name, weight) in &options.class_weights {
            let label = labels.get(name).ok_or_else(|| SequenceError::UnknownClass(name.clone()))?;
            class_weights[label as usize] = *weight;
        }

        let parts = LabelParts::new(&labels, options.parts_of);
        if parts.entries() > MOST_LABELS {
            return Err(SequenceError::TooManyLabels { found: parts.entries(), most: MOST_LABELS });
        }
        let old = base.as_ref().map(ChainModel::node_table);
        let old_pairs = base.as_ref().and_then(ChainModel::pair_table);
        let old_size = base.as_ref().map_or(size, |model| model.labels().len()) as u32;
        let mut rows = vec![Vec::new(); features.keys.len()];
        let mut pair_rows = vec![Vec::new(); pair_features.keys.len()];
        observe(&sentences, &parts, &mut rows, &mut pair_rows);
        if let Some(table) = old {
            let entries = base.as_ref().map_or_else(Vec::new, |model| parts.translation(model.parts()));
            merge(table.rows(), &mut features, &mut rows, |entry| entries[entry as usize]);
        }
        if let Some(table) = old_pairs {
            merge(table.rows(), &mut pair_features, &mut pair_rows, |pair| {
                Some(pair / old_size * size as u32 + pair % old_size)
            });
        }
        if has_all {
            rows.iter_mut().for_each(|row| *row = (0..parts.entries() as u32).collect());
        }
        let (keys, nodes, numbers) = lay_out(features, rows, parts.entries(), &options, old.is_some());
        sentences.renumber_features(&numbers);
        sentences.write_out(&nodes);
        let (pair_keys, pairs, numbers) =
            lay_out(pair_features, pair_rows, size * size, &options, old.is_some());
        sentences.renumber_pair_features(&numbers);
        let known = base.as_ref().map_or(&[][..], |model| model.grams().grams());
        let grams = LabelGrams::observe(size, options.order, &sentences, known);
        let space = Space { nodes, parts, pairs, grams };
        let numbers = keys.iter().enumerate().map(|(number, &key)| (key, number as u32)).collect();
        let pair_numbers = pair_keys.iter().enumerate().map(|(number, &key)| (key, number as u32)).collect();
        Ok(Corpus {
            labels,
            space,
            sentences,
            keys,
            pair_keys,
            numbers,
            pair_numbers,
            class_weights,
            base,
            features_per_token,
            lines: Vec::new(),
        })
    }
}

/// Collects, for each feature, the sorted labels with their parts (or label pairs) that it occurs with.
fn observe(sentences: &Sentences, parts: &LabelParts, rows: &mut [Vec<u32>], pair_rows: &mut [Vec<u32>]) {
    let labels = parts.labels() as u32;
    for sentence in 0..sentences.len() {
        let range = sentences.range(sentence);
        for token in range.clone() {
            let label = sentences.gold[token];
            if label == UNKNOWN {
                continue;
            }
            sentences.features(token, |feature, _| {
                let row = &mut rows[feature as usize];
                insert(row, label);
                parts.of(label).iter().for_each(|&part| insert(row, part));
            });
            let previous = if token > range.start { sentences.gold[token - 1] } else { UNKNOWN };
            if previous != UNKNOWN {
                for &feature in sentences.pair_features(token) {
                    insert(&mut pair_rows[feature as usize], previous * labels + label);
                }
            }
        }
    }
}

fn insert(row: &mut Vec<u32>, label: u32) {
    if let Err(at) = row.binary_search(&label) {
        row.insert(at, label);
    }
}

/// Adds the rows of an earlier model.
fn merge<R: Iterator<Item = (u32, f32)>>(
    old: impl Iterator<Item = (u64, R)>,
    features: &mut Interner,
    rows: &mut Vec<Vec<u32>>,
    renumber: impl Fn(u32) -> Option<u32>,
) {
    for (key, row) in old {
        let number = features.intern(key) as usize;
        rows.resize(rows.len().max(number + 1), Vec::new());
        row.filter_map(|(label, _)| renumber(label)).for_each(|label| insert(&mut rows[number], label));
    }
}

/// Drops rare features and lays out the rows of the others; returns their keys, the layout and the new number
/// of each old one, or [`UNKNOWN`]. Features of an earlier model (count zero here) stay when `keep_old`.
fn lay_out(
    features: Interner,
    rows: Vec<Vec<u32>>,
    dimension: usize,
    options: &CorpusOptions,
    keep_old: bool,
) -> (Vec<u64>, RowLayout, Vec<u32>) {
    let kept = |number: usize| {
        features.counts[number] >= options.min_count || (keep_old && features.counts[number] == 0)
    };
    let kept: Vec<usize> =
        (0..features.keys.len()).filter(|&number| kept(number) && !rows[number].is_empty()).collect();
    let mut rows = rows;
    let kept_rows: Vec<Vec<u32>> = kept.iter().map(|&number| std::mem::take(&mut rows[number])).collect();
    let counts: Vec<u32> = kept.iter().map(|&number| features.counts[number]).collect();
    let (layout, places) = RowLayout::new(dimension, &kept_rows, &counts, options.fill);
    let mut numbers = vec![UNKNOWN; features.keys.len()];
    let mut keys = vec![0; kept.len()];
    for (&number, &place) in kept.iter().zip(&places) {
        numbers[number] = place;
        keys[place as usize] = features.keys[number];
    }
    (keys, layout, numbers)
}

/// Training sentences with the weights they call for.
#[derive(Debug, Clone)]
pub struct Corpus {
    pub(crate) labels: Labels,
    pub(crate) space: Space,
    pub(crate) sentences: Sentences,
    pub(crate) keys: Vec<u64>,
    pub(crate) pair_keys: Vec<u64>,
    numbers: FxHashMap<u64, u32>,
    pair_numbers: FxHashMap<u64, u32>,
    pub(crate) class_weights: Vec<f32>,
    pub(crate) base: Option<ChainModel>,
    features_per_token: f64,
    /// The template line that each feature comes from, where somebody asked.
    lines: Vec<String>,
}

impl Corpus {
    /// The features that have weights.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Says what features are called, for diagrams whose factors have those of some template lines alone. What stands before
    /// the first colon is the line.
    pub fn name_lines<'n>(&mut self, names: impl Iterator<Item = (u64, &'n str)>) {
        self.lines = vec![String::new(); self.keys.len()];
        for (key, name) in names {
            if let Some(number) = self.numbers.get(&key) {
                self.lines[*number as usize] = name.split(':').next().unwrap_or(name).to_owned();
            }
        }
    }

    /// The weights of features that are not of some lines, from the beginning of a group; those of label pairs are of none.
    pub(crate) fn outside_of(&self, lines: &[String]) -> Result<Vec<usize>, SequenceError> {
        if let Some(line) = lines.iter().find(|line| !self.lines.contains(line)) {
            let message =
                format!("no feature comes from a template line `{line}`, or this task does not tell");
            return Err(SequenceError::Unsupported(message));
        }
        let others = (0..self.keys.len()).filter(|&feature| !lines.contains(&self.lines[feature]));
        let weights = others.flat_map(|feature| match self.space.nodes.row(feature as u32) {
            Row::Dense(start) => start..start + self.space.nodes.dimension(),
            Row::Sparse(start, labels) => start..start + labels.len(),
        });
        Ok(weights.chain(self.space.pair_start()..self.space.gram_start()).collect())
    }

    /// The labels.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The training sentences.
    pub fn sentences(&self) -> &Sentences {
        &self.sentences
    }

    /// The weights.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The number of a feature that has a weight.
    #[inline]
    pub(crate) fn number(&self, key: u64) -> Option<u32> {
        self.numbers.get(&key).copied()
    }

    /// Begins evaluation data in the terms of this corpus: features without a weight are dropped.
    pub fn encoder(&self) -> Encoder<'_> {
        TokenReader { numbering: Known(self), sentences: Sentences::default(), error: None }
    }

    /// A training whose margin, where it has one that was not given, is that of this many updates. An update
    /// moves a score by as much as a token has features. Without a margin, perceptrons learn no more once the
    /// training data is right, however closely.
    pub fn with_margin(&self, training: Training, updates: f64) -> Result<Training, SequenceError> {
        Ok(training.or(Parameter::MARGIN, (updates * self.features_per_token).round())?)
    }
}
