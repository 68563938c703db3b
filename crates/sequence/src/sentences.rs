use std::ops::Range;

use consonant_learn::hash::Fingerprint;
use consonant_learn::layout::{Row, RowLayout};

use crate::corpus::Numbering;
use crate::{SequenceError, UNKNOWN};

/// Sentences in flat arrays: for each token its feature numbers and its gold label.
#[derive(Debug, Clone)]
pub struct Sentences {
    /// The first token of each sentence; one more at the end.
    pub(crate) starts: Vec<u32>,
    /// The first feature of each token; one more at the end.
    pub(crate) feature_starts: Vec<u32>,
    pub(crate) features: Vec<u32>,
    /// A value for each feature, or nothing when all are 1.
    pub(crate) values: Vec<f32>,
    short: ShortRows,
    /// The first pair feature of each token; one more at the end.
    pub(crate) pair_starts: Vec<u32>,
    pub(crate) pair_features: Vec<u32>,
    /// Label numbers, or [`UNKNOWN`](crate::UNKNOWN).
    pub(crate) gold: Vec<u32>,
    /// How much each sentence counts.
    pub(crate) weights: Vec<f32>,
}

/// Rows of a few weights, written out token by token: there are many of them, and a loop over each would cost more
/// than what it does.
#[derive(Debug, Clone, Default)]
struct ShortRows {
    /// For each token the end of the features whose rows are not written out; nothing where none is.
    long_ends: Vec<u32>,
    /// The first weight of each token; one more at the end.
    starts: Vec<usize>,
    weights: Vec<u32>,
    /// For each weight the number that it is added to, counted over the rows of all tokens from the first one on; it may
    /// wrap around.
    places: Vec<u32>,
}

/// The most weights of a row that is written out.
const SHORT: usize = 8;

impl Default for Sentences {
    fn default() -> Self {
        Self {
            starts: vec![0],
            feature_starts: vec![0],
            features: Vec::new(),
            values: Vec::new(),
            short: ShortRows::default(),
            pair_starts: vec![0],
            pair_features: Vec::new(),
            gold: Vec::new(),
            weights: Vec::new(),
        }
    }
}

impl Sentences {
    /// The number of sentences.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The number of tokens of all sentences.
    pub fn tokens(&self) -> usize {
        self.gold.len()
    }

    /// The tokens of a sentence.
    #[inline]
    pub fn range(&self, sentence: usize) -> Range<usize> {
        self.starts[sentence] as usize..self.starts[sentence + 1] as usize
    }

    /// The gold labels of a sentence.
    #[inline]
    pub fn gold(&self, sentence: usize) -> &[u32] {
        &self.gold[self.range(sentence)]
    }

    /// How much a sentence counts.
    pub fn weight(&self, sentence: usize) -> f32 {
        self.weights[sentence]
    }

    /// Calls `each` with the number and value of every feature of a token.
    #[inline]
    pub(crate) fn features(&self, token: usize, mut each: impl FnMut(u32, f32)) {
        let range = self.feature_starts[token] as usize..self.feature_starts[token + 1] as usize;
        if self.values.is_empty() {
            self.features[range].iter().for_each(|&feature| each(feature, 1.0));
        } else {
            self.features[range.clone()]
                .iter()
                .zip(&self.values[range])
                .for_each(|(&feature, &value)| each(feature, value));
        }
    }

    /// The features of a token and their values, or none if all are 1, without the features whose rows
    /// [`short_rows`](Self::short_rows) has. Slices instead of a call for each: a call may not be compiled for the vectors that the
    /// caller is compiled for.
    #[inline(always)]
    pub(crate) fn long_rows(&self, token: usize) -> (&[u32], &[f32]) {
        let end = *self.short.long_ends.get(token).unwrap_or(&self.feature_starts[token + 1]);
        let range = self.feature_starts[token] as usize..end as usize;
        (&self.features[range.clone()], self.values.get(range).unwrap_or(&[]))
    }

    /// Where the weights of the short rows of some tokens stand, and for each the place that it speaks of in a table with
    /// a row of `width` numbers for each of these tokens. One list for all of them: there are so few of a token that a
    /// processor could not foresee its end.
    #[inline(always)]
    pub(crate) fn short_rows(
        &self,
        tokens: Range<usize>,
        width: usize,
    ) -> impl Iterator<Item = (usize, usize)> + '_ {
        let bound = |token: usize| *self.short.starts.get(token).unwrap_or(&0);
        let range = bound(tokens.start)..bound(tokens.end);
        let first = (tokens.start * width) as u32;
        let places = self.short.places[range.clone()].iter().map(move |place| place.wrapping_sub(first));
        self.short.weights[range].iter().zip(places).map(|(&weight, place)| (weight as usize, place as usize))
    }

    /// Writes out the short rows of features whose value is 1; these features, and those that are worth nothing, come
    /// last in the list of a token.
    pub(crate) fn write_out(&mut self, rows: &RowLayout) {
        let (short, plain) = (&mut self.short, self.values.is_empty());
        short.starts.push(0);
        let (mut others, mut other_values) = (Vec::new(), Vec::new());
        for (token, bounds) in self.feature_starts.windows(2).enumerate() {
            let first = (token * rows.dimension()) as u32;
            let range = bounds[0] as usize..bounds[1] as usize;
            let features = &mut self.features[range.clone()];
            let values = if plain { &mut [] } else { &mut self.values[range] };
            others.clear();
            other_values.clear();
            let mut long = 0;
            for at in 0..features.len() {
                let feature = features[at];
                let value = if plain { 1.0 } else { values[at] };
                let is_written = match rows.row(feature) {
                    Row::Sparse(start, labels) if value == 1.0 && labels.len() <= SHORT => {
                        short.weights.extend((start as u32..).take(labels.len()));
                        short.places.extend(labels.iter().map(|&label| first.wrapping_add(label)));
                        true
                    }
                    _ => value == 0.0,
                };
                if is_written {
                    others.push(feature);
                } else {
                    features[long] = feature;
                    long += 1;
                }
                if !plain {
                    if is_written { other_values.push(value) } else { values[long - 1] = value }
                }
            }
            features[long..].copy_from_slice(&others);
            if !plain {
                values[long..].copy_from_slice(&other_values);
            }
            short.long_ends.push(bounds[0] + long as u32);
            short.starts.push(short.weights.len());
        }
    }

    /// The features of a token that look at its label and the one before.
    #[inline]
    pub(crate) fn pair_features(&self, token: usize) -> &[u32] {
        &self.pair_features[self.pair_starts[token] as usize..self.pair_starts[token + 1] as usize]
    }

    /// A number that other sentences do not have, nor the same ones in another order.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut fingerprint = Fingerprint::default();
        for numbers in [&self.starts, &self.feature_starts, &self.features, &self.pair_features, &self.gold] {
            fingerprint.numbers(numbers.iter().copied());
        }
        fingerprint.numbers(self.values.iter().chain(&self.weights).map(|number| number.to_bits()));
        fingerprint.get()
    }

    /// The memory that the arrays take, in bytes.
    pub fn bytes(&self) -> usize {
        let words = self.starts.len() + self.feature_starts.len() + self.pair_starts.len() + self.gold.len();
        let short = 4 * self.short.long_ends.len() + 8 * (self.short.starts.len() + self.short.weights.len());
        short
            + 4 * (words
                + self.features.len()
                + self.values.len()
                + self.pair_features.len()
                + self.weights.len())
    }

    /// How many features a token has, among those that have any.
    pub(crate) fn features_per_token(&self) -> f64 {
        let tokens = self.feature_starts.windows(2).filter(|pair| pair[0] < pair[1]).count();
        self.features.len() as f64 / tokens.max(1) as f64
    }

    /// Whether any label is not known.
    pub fn has_unknown(&self) -> bool {
        self.gold.contains(&crate::UNKNOWN)
    }

    /// Adds a token to the sentence that was begun; features that have no number are left out.
    pub(crate) fn push(
        &mut self,
        label: u32,
        keys: &[u64],
        values: &[f32],
        pair_keys: &[u64],
        numbering: &mut impl Numbering,
    ) -> Result<(), SequenceError> {
        let place = || (self.weights.len(), self.gold.len() - *self.starts.last().unwrap_or(&0) as usize + 1);
        if !values.is_empty() && values.len() != keys.len() {
            let (sentence, token) = place();
            return Err(SequenceError::ValueCount {
                sentence,
                token,
                keys: keys.len(),
                values: values.len(),
            });
        }
        if let Some(&value) = values.iter().find(|value| !value.is_finite()) {
            let (sentence, token) = place();
            return Err(SequenceError::BadValue { sentence, token, value });
        }
        if !values.is_empty() && self.values.is_empty() {
            self.values = vec![1.0; self.features.len()];
        }
        let valued = !values.is_empty() || !self.values.is_empty();
        for (at, &key) in keys.iter().enumerate() {
            if let Some(feature) = numbering.feature(key) {
                self.features.push(feature);
                if valued {
                    self.values.push(values.get(at).copied().unwrap_or(1.0));
                }
            }
        }
        self.feature_starts.push(self.features.len() as u32);
        self.pair_features.extend(pair_keys.iter().filter_map(|&key| numbering.pair_feature(key)));
        self.pair_starts.push(self.pair_features.len() as u32);
        self.gold.push(label);
        Ok(())
    }

    /// Gives features new numbers and drops those whose number is [`UNKNOWN`], and those whose value is 0:
    /// they have said which weights there are, and neither a score nor a gradient hears of them.
    pub(crate) fn renumber_features(&mut self, numbers: &[u32]) {
        renumber(&mut self.feature_starts, &mut self.features, &mut self.values, numbers);
        if self.values.iter().all(|&value| value == 1.0) {
            self.values = Vec::new();
        }
    }

    /// As [`renumber_features`](Self::renumber_features), for pair features.
    pub(crate) fn renumber_pair_features(&mut self, numbers: &[u32]) {
        renumber(&mut self.pair_starts, &mut self.pair_features, &mut Vec::new(), numbers);
    }
}

fn renumber(starts: &mut [u32], features: &mut Vec<u32>, values: &mut Vec<f32>, numbers: &[u32]) {
    let (mut kept, mut first) = (0, 0);
    for start in &mut starts[1..] {
        let end = *start as usize;
        for at in first..end {
            let number = numbers[features[at] as usize];
            if number != UNKNOWN && values.get(at) != Some(&0.0) {
                features[kept] = number;
                if !values.is_empty() {
                    values[kept] = values[at];
                }
                kept += 1;
            }
        }
        first = end;
        *start = kept as u32;
    }
    features.truncate(kept);
    values.truncate(kept);
}
