//! A trained chain in a model file, and its use.

use std::sync::Arc;

use consonant_learn::LearnError;
use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::table::{Precision, Table, TableBuilder};
use serde_json::json;

use crate::corpus::Corpus;
use crate::decoding::{Assembly, Rule};
use crate::diagram::Decoding;
use crate::inference::{Candidates, Chain, Posterior, ScoredPath, TransitionMask, Workspace};
use crate::narrowing::GramBounds;
use crate::ngrams::LabelGrams;
use crate::normalization::Side;
use crate::parts::LabelParts;
use crate::{Labels, SequenceError};

/// More groups of parameters than any diagram has.
const MOST_GROUPS: usize = 64;

/// A chain model: labels, weights and how to decode with them. Cheap to clone; the clones share the weights.
#[derive(Debug, Clone)]
pub struct ChainModel {
    labels: Labels,
    parts: LabelParts,
    grams: LabelGrams,
    rule: Rule,
    groups: Vec<Group>,
    /// What all scores are multiplied by.
    scale: f32,
}

#[derive(Debug, Clone)]
struct Group {
    nodes: Table,
    pairs: Option<Table>,
    grams: Vec<f32>,
}

impl ChainModel {
    /// Reads the chain that [`TrainedChain::store`](crate::TrainedChain::store) wrote.
    pub fn open(model: &Model) -> Result<Self, SequenceError> {
        let json = |section: &str| -> Result<serde_json::Value, LearnError> {
            serde_json::from_str(&model.text(section)?)
                .map_err(|error| model.damaged(format!("section `{section}`: {error}")))
        };
        let damaged = |problem: &str| SequenceError::from(model.damaged(problem.to_string()));
        let names: Vec<String> = serde_json::from_value(json("chain.labels")?)
            .map_err(|_| damaged("the labels are no list of names"))?;
        let labels: Labels = names.iter().collect();
        let shape = json("chain.shape")?;
        let number = |name: &str| shape[name].as_u64().map(|number| number as usize);
        let (order, group_count) =
            number("order").zip(number("groups")).ok_or_else(|| damaged("the chain has no order"))?;
        if labels.len() != names.len()
            || labels.is_empty()
            || !(1..=MOST_GROUPS).contains(&group_count)
            || order > 64
        {
            return Err(damaged("the labels or the shape of the chain make no sense"));
        }
        let decoding = shape["decoding"].as_str().and_then(|name| name.parse().ok());
        let decoding: Decoding = decoding.ok_or_else(|| damaged("the chain does not say how to decode"))?;
        let sides = (0..group_count)
            .map(|at| if shape["sides"][at] == "after" { Side::After } else { Side::Before })
            .collect();
        let parts: LabelParts = match model.has("chain.parts") {
            true => serde_json::from_value(json("chain.parts")?)
                .map_err(|_| damaged("the parts of labels make no sense"))?,
            false => LabelParts::new(&labels, None),
        };
        if !parts.fits(labels.len()) {
            return Err(damaged("the parts do not fit the labels"));
        }
        let mut grams: Vec<Box<[u32]>> = Vec::new();
        let stored = model.array::<u32>("chain.grams")?;
        let mut rest = &stored[..];
        while let Some((&length, after)) = rest.split_first() {
            let gram = after
                .get(..length as usize)
                .filter(|gram| gram.len() > 1 && gram.iter().all(|&label| (label as usize) < labels.len()));
            grams.push(gram.ok_or_else(|| damaged("the label n-grams make no sense"))?.into());
            rest = &after[length as usize..];
        }
        let grams = LabelGrams::restore(labels.len(), order, shape["dense"] == true, grams)
            .ok_or_else(|| damaged("the label n-grams do not fit the order"))?;
        let mut groups = Vec::new();
        for group in 0..group_count {
            let prefix = format!("chain.{group}");
            let pairs = if model.has(&format!("{prefix}.pairs.shape")) {
                Some(Table::open(model, &format!("{prefix}.pairs"))?)
            } else {
                None
            };
            let weights = model.array::<f32>(&format!("{prefix}.grams"))?.to_vec();
            let nodes = Table::open(model, &format!("{prefix}.nodes"))?;
            let pairs_fit =
                pairs.as_ref().is_none_or(|table| table.dimension() == labels.len() * labels.len());
            if weights.len() != grams.len() || nodes.dimension() != parts.entries() || !pairs_fit {
                return Err(damaged("the weights do not fit the labels"));
            }
            groups.push(Group { nodes, pairs, grams: weights });
        }
        let scales = if decoding == Decoding::Scaled {
            model.array::<f32>("chain.scales")?.to_vec()
        } else {
            Vec::new()
        };
        if decoding == Decoding::Scaled && scales.len() != labels.len() + 1 {
            return Err(damaged("there is not one scale for each label"));
        }
        Ok(Self { labels, parts, grams, rule: Rule { decoding, sides, scales }, groups, scale: 1.0 })
    }

    /// The same model with all scores multiplied: the best labels stay, and their probabilities are more alike the
    /// smaller the number is.
    #[must_use]
    pub fn scaled(&self, scale: f32) -> Self {
        let mut model = Self { scale: self.scale * scale, ..self.clone() };
        model.groups.iter_mut().flat_map(|group| &mut group.grams).for_each(|weight| *weight *= scale);
        model
    }

    /// The labels.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// How many labels back the chain looks.
    pub fn order(&self) -> usize {
        self.grams.order()
    }

    /// The label n-grams with a weight.
    pub fn grams(&self) -> &LabelGrams {
        &self.grams
    }

    /// What labels are made of.
    pub(crate) fn parts(&self) -> &LabelParts {
        &self.parts
    }

    /// Whether labels are sums of parts.
    pub fn has_parts(&self) -> bool {
        !self.parts.is_empty()
    }

    /// The name of an entry of a weight row: a label, or a part of labels.
    pub fn entry_name(&self, entry: u32) -> &str {
        self.parts.name(entry).unwrap_or_else(|| self.labels.name(entry))
    }

    /// The weights of features by entry (labels first, then their parts), of the first parameter group.
    pub fn node_table(&self) -> &Table {
        &self.groups[0].nodes
    }

    /// The weights of features by pair of labels (previous · labels + label), if there are any.
    pub fn pair_table(&self) -> Option<&Table> {
        self.groups[0].pairs.as_ref()
    }

    /// What a feature says about the labels: its weights, summed over parameter groups.
    pub fn explain(&self, key: u64) -> Vec<(u32, f32)> {
        let mut entries = vec![0.0; self.parts.entries()];
        self.groups.iter().for_each(|group| {
            group.nodes.add(key, 1.0, &mut entries);
        });
        let mut scores = vec![0.0; self.labels.len()];
        self.parts.gather(&entries, &mut scores);
        scores
            .into_iter()
            .enumerate()
            .filter(|&(_, weight)| weight != 0.0)
            .map(|(label, weight)| (label as u32, weight))
            .collect()
    }

    /// The weight of a label n-gram, summed over parameter groups; zero where it has none.
    pub fn gram_weight(&self, gram: &[u32]) -> f32 {
        let Some(number) = self.grams.number(gram) else { return 0.0 };
        self.groups.iter().map(|group| group.grams.get(number as usize).copied().unwrap_or(0.0)).sum()
    }

    /// A decoder for one thread; `mask` forbids label pairs.
    pub fn decoder(self: &Arc<Self>, mask: Option<&TransitionMask>) -> Result<ChainDecoder, SequenceError> {
        let weights: Vec<&[f32]> = self.groups.iter().map(|group| group.grams.as_slice()).collect();
        let assembly = Assembly::new(&self.grams, self.labels.len(), &self.rule, &weights, mask)?;
        // Normalized pieces, forbidden pairs and scores of pairs by position are not in the weights of the
        // grams.
        let plain = self.rule.decoding == Decoding::Global
            && mask.is_none()
            && self.groups.iter().all(|group| group.pairs.is_none());
        let total = |gram: usize| weights.iter().map(|weights| weights[gram]).sum();
        let total: Vec<f32> = (0..self.grams.len()).map(total).collect();
        let bounds = if plain { GramBounds::new(&self.grams, self.labels.len(), &total) } else { None };
        let model = Arc::clone(self);
        let (entries, found) = (Vec::new(), Vec::new());
        Ok(ChainDecoder { model, assembly, workspace: Workspace::new(), bounds, entries, found })
    }

    /// Weights for a corpus that continues this model; weights of new features and labels begin at zero.
    pub(crate) fn initial_weights(&self, corpus: &Corpus, groups: usize) -> Vec<f32> {
        let (space, old_labels) = (&corpus.space, self.labels.len() as u32);
        let entries = space.parts.translation(&self.parts);
        let mut weights = vec![0.0; groups * space.group_size()];
        for (group, weights) in self.groups.iter().zip(weights.chunks_exact_mut(space.group_size())) {
            for (number, &key) in corpus.keys.iter().enumerate() {
                for (entry, weight) in group.nodes.row(key).into_iter().flatten() {
                    let entry = entries[entry as usize];
                    if let Some(index) = entry.and_then(|entry| space.nodes.parameter(number as u32, entry)) {
                        weights[index] = weight;
                    }
                }
            }
            for (number, &key) in corpus.pair_keys.iter().enumerate() {
                for (pair, weight) in group.pairs.iter().filter_map(|table| table.row(key)).flatten() {
                    let pair = pair / old_labels * space.labels() as u32 + pair % old_labels;
                    if let Some(index) = space.pairs.parameter(number as u32, pair) {
                        weights[space.pair_start() + index] = weight;
                    }
                }
            }
            for (gram, &weight) in self.grams.grams().iter().zip(&group.grams) {
                if let Some(number) = space.grams.number(gram) {
                    weights[space.gram_start() + number as usize] = weight;
                }
            }
        }
        weights
    }
}

/// Writes a chain's sections; `weights` are those of all groups.
pub(crate) fn store(
    writer: &mut ModelWriter,
    corpus: &Corpus,
    rule: &Rule,
    weights: &[f32],
    precision: Precision,
) {
    let space = &corpus.space;
    let sides: Vec<&str> =
        rule.sides.iter().map(|side| if *side == Side::After { "after" } else { "before" }).collect();
    let decoding = rule.decoding.name();
    let dense = space.grams.is_dense();
    let shape = json!({"order": space.grams.order(), "groups": sides.len(), "decoding": decoding, "sides": sides, "dense": dense});
    writer
        .text("chain.labels", &json!(corpus.labels.names()).to_string())
        .text("chain.shape", &shape.to_string());
    if !space.parts.is_empty() {
        writer.text("chain.parts", &json!(space.parts).to_string());
    }
    let mut grams = Vec::new();
    if !dense {
        for gram in space.grams.grams() {
            grams.push(gram.len() as u32);
            grams.extend_from_slice(gram);
        }
    }
    writer.array("chain.grams", &grams);
    if rule.decoding == Decoding::Scaled {
        writer.array("chain.scales", &rule.scales);
    }
    for (group, weights) in weights.chunks_exact(space.group_size()).enumerate() {
        let mut table = TableBuilder::new(space.parts.entries(), precision);
        for (number, &key) in corpus.keys.iter().enumerate() {
            table.row(key, space.nodes.pairs(number as u32).map(|(label, index)| (label, weights[index])));
        }
        table.store(writer, &format!("chain.{group}.nodes"));
        if space.has_pairs() {
            let mut table = TableBuilder::new(space.labels() * space.labels(), precision);
            for (number, &key) in corpus.pair_keys.iter().enumerate() {
                table.row(
                    key,
                    space
                        .pairs
                        .pairs(number as u32)
                        .map(|(pair, index)| (pair, weights[space.pair_start() + index])),
                );
            }
            table.store(writer, &format!("chain.{group}.pairs"));
        }
        writer.array(format!("chain.{group}.grams"), &weights[space.gram_start()..]);
    }
}

/// The feature keys of one sentence, in buffers that are reused.
#[derive(Debug, Clone, Default)]
pub struct SentenceKeys {
    starts: Vec<u32>,
    keys: Vec<u64>,
    values: Vec<f32>,
    pair_starts: Vec<u32>,
    pair_keys: Vec<u64>,
}

impl SentenceKeys {
    /// No tokens.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all tokens and keeps the memory.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.keys.clear();
        self.values.clear();
        self.pair_starts.clear();
        self.pair_keys.clear();
    }

    /// Begins a token.
    #[inline]
    pub fn token(&mut self) {
        self.starts.push(self.keys.len() as u32);
        self.pair_starts.push(self.pair_keys.len() as u32);
    }

    /// Adds a feature to the token last begun.
    #[inline]
    pub fn key(&mut self, key: u64, value: f32) {
        self.keys.push(key);
        self.values.push(value);
    }

    /// Adds features with the value 1 to the token last begun.
    #[inline]
    pub fn keys(&mut self, keys: &[u64]) {
        self.keys.extend_from_slice(keys);
        self.values.resize(self.keys.len(), 1.0);
    }

    /// Adds a feature that looks at the label of the token last begun and the one before.
    #[inline]
    pub fn pair_key(&mut self, key: u64) {
        self.pair_keys.push(key);
    }

    /// The number of features of all tokens.
    pub fn features_of_all(&self) -> usize {
        self.keys.len()
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The keys and values of a token.
    pub fn features(&self, token: usize) -> (&[u64], &[f32]) {
        let range = span(&self.starts, token, self.keys.len());
        (&self.keys[range.clone()], &self.values[range])
    }

    /// The keys of a token that look at pairs of labels.
    pub fn pair_features(&self, token: usize) -> &[u64] {
        &self.pair_keys[span(&self.pair_starts, token, self.pair_keys.len())]
    }
}

fn span(starts: &[u32], token: usize, end: usize) -> std::ops::Range<usize> {
    starts[token] as usize..starts.get(token + 1).map_or(end, |&start| start as usize)
}

/// Decodes sentences with a model; one for each thread, with buffers that are reused.
#[derive(Debug, Clone)]
pub struct ChainDecoder {
    model: Arc<ChainModel>,
    assembly: Assembly,
    workspace: Workspace,
    bounds: Option<GramBounds>,
    entries: Vec<f32>,
    found: Vec<(u32, f32)>,
}

impl ChainDecoder {
    /// Scores a sentence; everything else here speaks of the sentence scored last.
    pub fn score(&mut self, sentence: &SentenceKeys) {
        let mut found = std::mem::take(&mut self.found);
        self.score_with(sentence, |table, _, token, scores| {
            let (keys, values) = sentence.features(token);
            table.add_all(keys.iter().copied().zip(values.iter().copied()), &mut found, scores);
        });
        self.found = found;
    }

    /// Scores a sentence whose node scores the caller sums: `row(table, group, token, scores)` is called with
    /// zeros for each parameter group and token, as many as a row of the table has entries. Who keeps sums
    /// that recur, such as those of a word's own features, saves most of the work.
    pub fn score_with(
        &mut self,
        sentence: &SentenceKeys,
        mut row: impl FnMut(&Table, usize, usize, &mut [f32]),
    ) {
        let labels = self.model.labels.len();
        for (number, (group, (nodes, edges))) in self
            .model
            .groups
            .iter()
            .zip(self.assembly.nodes.iter_mut().zip(&mut self.assembly.edges))
            .enumerate()
        {
            nodes.clear();
            nodes.resize(sentence.len() * labels, 0.0);
            for (token, scores) in nodes.chunks_exact_mut(labels).enumerate() {
                if self.model.parts.is_empty() {
                    row(&group.nodes, number, token, scores);
                } else {
                    self.entries.clear();
                    self.entries.resize(self.model.parts.entries(), 0.0);
                    row(&group.nodes, number, token, &mut self.entries);
                    self.model.parts.gather(&self.entries, scores);
                }
            }
            if self.model.scale != 1.0 {
                nodes.iter_mut().for_each(|score| *score *= self.model.scale);
            }
            edges.clear();
            if let Some(pairs) = &group.pairs {
                edges.resize(sentence.len().saturating_sub(1) * labels * labels, 0.0);
                for (token, scores) in edges.chunks_exact_mut(labels * labels).enumerate() {
                    for &key in sentence.pair_features(token + 1) {
                        pairs.add(key, self.model.scale, scores);
                    }
                }
            }
        }
        self.assembly.assemble();
    }

    /// Narrows the candidates of each position to labels that the best sequence can have, so that
    /// [`best`](Self::best) searches less; the best sequence stays. `allowed` are the labels to begin with,
    /// all if there is none.
    pub fn narrow(&mut self, allowed: Option<&Candidates>, narrowed: &mut Candidates) {
        narrowed.clear();
        let nodes = self.assembly.all_nodes();
        if let Some(bounds) = &mut self.bounds {
            bounds.narrow(nodes, allowed, narrowed);
            return;
        }
        for position in 0..nodes.len() / self.model.labels.len() {
            match allowed.and_then(|allowed| allowed.at(position)) {
                Some(given) => narrowed.push(given),
                None => narrowed.push_all(),
            }
        }
    }

    /// The sentence as a chain of scores, for any question that [`inference`](crate::inference) answers.
    pub fn chain(&self) -> Result<Chain<'_>, SequenceError> {
        self.assembly.chain()
    }

    /// The best labels, and their score; with candidates, among these.
    pub fn best(
        &mut self,
        candidates: Option<&Candidates>,
        path: &mut Vec<u32>,
    ) -> Result<f64, SequenceError> {
        let chain = self.assembly.chain()?.among(candidates)?;
        Ok(self.workspace.viterbi(&chain, path)?)
    }

    /// The k best sequences, best first.
    pub fn k_best(
        &mut self,
        candidates: Option<&Candidates>,
        k: usize,
        paths: &mut Vec<ScoredPath>,
    ) -> Result<(), SequenceError> {
        let chain = self.assembly.chain()?.among(candidates)?;
        Ok(self.workspace.k_best(&chain, k, paths)?)
    }

    /// Calls `read` with the probabilities of labels, pairs and spans.
    pub fn marginals<R>(
        &mut self,
        candidates: Option<&Candidates>,
        read: impl FnOnce(&mut Posterior<'_>) -> R,
    ) -> Result<R, SequenceError> {
        self.assembly.prepare_potentials();
        let Some(potentials) = self.assembly.potentials() else {
            unreachable!("potentials were just prepared")
        };
        let chain = self.assembly.chain()?.among(candidates)?;
        let mut posterior = self.workspace.forward_backward(&chain, potentials)?;
        Ok(read(&mut posterior))
    }
}
