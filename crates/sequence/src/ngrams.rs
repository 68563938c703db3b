//! Label n-grams with weights, and how they look from one of their positions.

use consonant_learn::sparse::Gradient;
use rustc_hash::FxHashMap;

use crate::inference::{InferenceError, TransitionMask, Transitions};
use crate::{Sentences, UNKNOWN};

/// Above this many label pairs only those that occur get a weight.
const MOST_DENSE_PAIRS: usize = 1 << 16;

/// The label n-grams of a chain of some order, each with one weight.
///
/// A chain of order n scores all n-grams of 2 to n + 1 labels. With order 1 and few labels, every pair has a
/// weight; otherwise those seen in training.
#[derive(Debug, Clone)]
pub struct LabelGrams {
    labels: usize,
    order: usize,
    /// Every pair, numbered previous · labels + label.
    dense: bool,
    grams: Vec<Box<[u32]>>,
    numbers: FxHashMap<Box<[u32]>, u32>,
}

impl LabelGrams {
    /// The grams of a chain of order `order` over these sentences, and `known` ones from an earlier model.
    pub(crate) fn observe(labels: usize, order: usize, sentences: &Sentences, known: &[Box<[u32]>]) -> Self {
        if order == 1 && labels * labels <= MOST_DENSE_PAIRS {
            return Self::dense(labels);
        }
        let mut grams =
            Self { labels, order, dense: false, grams: Vec::new(), numbers: FxHashMap::default() };
        known.iter().filter(|gram| gram.len() <= order + 1).for_each(|gram| grams.intern(gram));
        for sentence in 0..sentences.len() {
            let gold = sentences.gold(sentence);
            for length in 2..=order + 1 {
                gold.windows(length)
                    .filter(|gram| !gram.contains(&UNKNOWN))
                    .for_each(|gram| grams.intern(gram));
            }
        }
        grams
    }

    fn dense(labels: usize) -> Self {
        let pairs = (0..labels as u32)
            .flat_map(|previous| (0..labels as u32).map(move |label| Box::from([previous, label])));
        Self { labels, order: 1, dense: true, grams: pairs.collect(), numbers: FxHashMap::default() }
    }

    /// Grams as they were stored: `dense` pairs, or a list; `None` if no chain of this order has them.
    pub(crate) fn restore(labels: usize, order: usize, dense: bool, grams: Vec<Box<[u32]>>) -> Option<Self> {
        if dense {
            let fits = order == 1 && labels * labels <= MOST_DENSE_PAIRS && grams.is_empty();
            return fits.then(|| Self::dense(labels));
        }
        let count = grams.len();
        let short = grams.iter().all(|gram| gram.len() <= order + 1);
        let numbers: FxHashMap<_, _> = grams.iter().cloned().zip(0..).collect();
        (short && numbers.len() == count).then_some(Self { labels, order, dense, grams, numbers })
    }

    fn intern(&mut self, gram: &[u32]) {
        if !self.numbers.contains_key(gram) {
            self.numbers.insert(gram.into(), self.grams.len() as u32);
            self.grams.push(gram.into());
        }
    }

    /// The number of grams, and so of weights.
    pub fn len(&self) -> usize {
        self.grams.len()
    }

    /// Whether there are none: a chain of order 0.
    pub fn is_empty(&self) -> bool {
        self.grams.is_empty()
    }

    /// How many labels back the chain looks.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Whether every pair has a weight.
    pub(crate) fn is_dense(&self) -> bool {
        self.dense
    }

    /// All grams in the order of their weights.
    pub fn grams(&self) -> &[Box<[u32]>] {
        &self.grams
    }

    /// The number of a gram.
    #[inline]
    pub fn number(&self, gram: &[u32]) -> Option<u32> {
        match (self.dense, gram) {
            (true, &[previous, label]) => Some(previous * self.labels as u32 + label),
            (true, _) => None,
            (false, _) => self.numbers.get(gram).copied(),
        }
    }

    /// Calls `each` with the number of every gram with a weight that ends at a position of the path.
    #[inline]
    pub(crate) fn ending_at(&self, path: &[u32], position: usize, mut each: impl FnMut(u32)) {
        for length in 2..=(self.order + 1).min(position + 1) {
            if let Some(number) = self.number(&path[position + 1 - length..=position]) {
                each(number);
            }
        }
    }

    /// The weights of the grams of a chain of order 1 as a full matrix, rows by previous label.
    pub(crate) fn matrix(&self, weights: &[f32]) -> Vec<f32> {
        let mut matrix = vec![0.0; self.labels * self.labels];
        for (gram, &weight) in self.grams.iter().zip(weights) {
            matrix[gram[0] as usize * self.labels + gram[1] as usize] = weight;
        }
        matrix
    }

    /// Transitions for inference, ready to take the weights of the grams.
    pub fn transitions(&self, mask: Option<&TransitionMask>) -> Result<Transitions, InferenceError> {
        if self.dense {
            return Transitions::dense(self.labels, &vec![0.0; self.labels * self.labels], mask);
        }
        if self.order == 0 && mask.is_none() {
            return Transitions::none(self.labels);
        }
        Transitions::grams(self.labels, self.order.max(1), &self.grams, mask)
    }
}

/// For each way to fix all labels of a gram but one, the labels that may stand in the open place and their
/// weights.
///
/// Training that looks at one label at a time (pseudo-likelihood and its kin) adds one such row for each gram
/// around the label: time linear in the number of labels, whatever the order.
#[derive(Debug, Clone)]
pub(crate) struct ContextRows {
    starts: Vec<u32>,
    /// (label, number of the gram).
    entries: Vec<(u32, u32)>,
    /// Rows that hold every label with consecutive gram numbers: the number of the first.
    runs: Vec<Option<u32>>,
    labels: usize,
    /// Rows by gram, with [`UNKNOWN`] in the open place.
    numbers: FxHashMap<Box<[u32]>, u32>,
}

/// No row: no gram with a weight fits the context.
pub(crate) const NO_CONTEXT: u32 = u32::MAX;

impl ContextRows {
    pub(crate) fn new(grams: &LabelGrams) -> Self {
        let mut numbers: FxHashMap<Box<[u32]>, u32> = FxHashMap::default();
        let mut rows: Vec<Vec<(u32, u32)>> = Vec::new();
        for (number, gram) in grams.grams.iter().enumerate() {
            for open in 0..gram.len() {
                let mut fixed = gram.clone();
                fixed[open] = UNKNOWN;
                let row = *numbers.entry(fixed).or_insert_with(|| {
                    rows.push(Vec::new());
                    rows.len() as u32 - 1
                });
                rows[row as usize].push((gram[open], number as u32));
            }
        }
        let mut starts = vec![0];
        let mut runs = Vec::with_capacity(rows.len());
        let mut entries = Vec::new();
        for row in &mut rows {
            row.sort_unstable();
            let first = row[0].1;
            let run = row.len() == grams.labels
                && row.iter().enumerate().all(|(at, &entry)| entry == (at as u32, first + at as u32));
            runs.push(run.then_some(first));
            entries.extend_from_slice(row);
            starts.push(entries.len() as u32);
        }
        Self { starts, entries, runs, labels: grams.labels, numbers }
    }

    /// The row for a gram whose place `open` may vary; [`NO_CONTEXT`] if there is none.
    pub(crate) fn row(&self, gram: &[u32], open: usize) -> u32 {
        let mut short = [UNKNOWN; 4];
        let row = if let Some(fixed) = short.get_mut(..gram.len()) {
            fixed.copy_from_slice(gram);
            fixed[open] = UNKNOWN;
            self.numbers.get(&*fixed)
        } else {
            let mut fixed = gram.to_vec();
            fixed[open] = UNKNOWN;
            self.numbers.get(&fixed[..])
        };
        row.copied().unwrap_or(NO_CONTEXT)
    }

    /// Adds the weights of a row to the scores of the labels; `weights` are those of the grams.
    #[inline]
    pub(crate) fn add_scores(&self, row: u32, weights: &[f32], scores: &mut [f32]) {
        if row == NO_CONTEXT {
            return;
        }
        if let Some(first) = self.runs[row as usize] {
            let weights = &weights[first as usize..first as usize + self.labels];
            scores.iter_mut().zip(weights).for_each(|(score, weight)| *score += weight);
            return;
        }
        for &(label, number) in self.entries(row) {
            scores[label as usize] += weights[number as usize];
        }
    }

    /// Adds `scale * by_label[label]` at the weights of a row; the grams begin at `start`.
    #[inline]
    pub(crate) fn add_gradient<G: Gradient + ?Sized>(
        &self,
        row: u32,
        scale: f32,
        by_label: &[f32],
        start: usize,
        gradient: &mut G,
    ) {
        if row == NO_CONTEXT {
            return;
        }
        match self.runs[row as usize] {
            Some(first) => gradient.add_run(start + first as usize, scale, by_label),
            None => self.entries(row).iter().for_each(|&(label, number)| {
                gradient.add(start + number as usize, scale * by_label[label as usize])
            }),
        }
    }

    /// The labels of a row with the numbers of their grams.
    #[inline]
    fn entries(&self, row: u32) -> &[(u32, u32)] {
        if row == NO_CONTEXT {
            return &[];
        }
        &self.entries[self.starts[row as usize] as usize..self.starts[row as usize + 1] as usize]
    }

    /// The number of the gram that a row has for a label.
    #[inline]
    pub(crate) fn number(&self, row: u32, label: u32) -> Option<u32> {
        if row != NO_CONTEXT
            && let Some(first) = self.runs[row as usize]
        {
            return Some(first + label);
        }
        let entries = self.entries(row);
        entries.binary_search_by_key(&label, |&(label, _)| label).ok().map(|at| entries[at].1)
    }
}
