//! Pieces that predict several labels jointly: all of a sentence, which is the conditional random field and
//! its perceptrons, or a window of neighbours, given the gold labels at its borders.

use consonant_learn::problem::{Separation, Weights};
use consonant_learn::sparse::{Gradient, SparseVector};
use consonant_learn::vectorized;

use super::single_sums::SingleSums;
use super::{Offset, node_scores, sentence_scores, token_weights};
use crate::corpus::Corpus;
use crate::diagram::Piece;
use crate::inference::{Candidates, Chain, Potentials, TransitionMask, Transitions, Workspace};
use crate::ngrams::{ContextRows, NO_CONTEXT};
use crate::{SequenceError, UNKNOWN};

pub(crate) struct ChainPiece<'a> {
    corpus: &'a Corpus,
    transitions: Transitions,
    group: usize,
    locked_nodes: bool,
    locked_grams: bool,
    /// Every label pair is scored and allowed.
    plain: bool,
    /// How much each example counts, class weights included: a sentence, or the window at a token.
    weights: Vec<f32>,
    window: Option<Window>,
}

/// What a window has that a sentence has not.
struct Window {
    rows: ContextRows,
    /// For each variable whether its node is in the piece.
    nodes: Vec<bool>,
    first: i32,
    /// Whether the edges over the left and the right border are in the piece.
    borders: [bool; 2],
    /// The sentence of each token.
    sentences: Vec<u32>,
}

/// Where a piece stands: its first token, its gold labels, and the context rows at its borders.
#[derive(Clone, Copy)]
struct Place<'a> {
    start: usize,
    gold: &'a [u32],
    contexts: [u32; 2],
}

impl Window {
    fn new(corpus: &Corpus, piece: &Piece, offsets: &[i32]) -> Result<Self, SequenceError> {
        if corpus.space.grams.order() != 1 || corpus.space.has_pairs() {
            let message = format!(
                "piece `{}` predicts several labels at once, which is possible for chains of order 1 without features over label pairs",
                piece.name
            );
            return Err(SequenceError::Unsupported(message));
        }
        let has = |span: &[i32]| piece.factors.iter().any(|factor| factor.offsets == span);
        let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
        let sentences = 0..corpus.sentences.len();
        Ok(Self {
            rows: ContextRows::new(&corpus.space.grams),
            nodes: offsets.iter().map(|&offset| has(&[offset])).collect(),
            first,
            borders: [has(&[first - 1, first]), has(&[last, last + 1])],
            sentences: sentences.flat_map(|at| corpus.sentences.range(at).map(move |_| at as u32)).collect(),
        })
    }

    /// The window at a token, if all of it is inside the sentence and labelled. A sentence shorter than the
    /// window is one window.
    fn place<'a>(&self, corpus: &'a Corpus, token: usize) -> Option<Place<'a>> {
        let sentence = self.sentences[token] as usize;
        let base = corpus.sentences.range(sentence).start;
        let gold = corpus.sentences.gold(sentence);
        let position = (token - base) as i64;
        let (from, to) = if gold.len() < self.nodes.len() {
            (position == 0).then_some((0, gold.len()))?
        } else {
            let from = usize::try_from(position + i64::from(self.first)).ok()?;
            (from, from + self.nodes.len())
        };
        let inside = gold.get(from..to).filter(|labels| !labels.contains(&UNKNOWN))?;
        let label =
            |at: Option<usize>| at.and_then(|at| gold.get(at)).copied().filter(|&label| label != UNKNOWN);
        let before = label(from.checked_sub(1)).filter(|_| self.borders[0]);
        let after = label(Some(to)).filter(|_| self.borders[1]);
        let contexts = [
            before.map_or(NO_CONTEXT, |before| self.rows.row(&[before, 0], 1)),
            after.map_or(NO_CONTEXT, |after| self.rows.row(&[0, after], 0)),
        ];
        Some(Place { start: base + from, gold: inside, contexts })
    }

    /// Writes the scores of the labels of a window; `border` is scratch space.
    fn score(
        &self,
        corpus: &Corpus,
        place: &Place<'_>,
        (group, scale): (&[f32], f32),
        chain: &mut ChainWorkspace,
    ) {
        let labels = corpus.space.labels();
        let ChainWorkspace { nodes, entries, scaled: border, .. } = chain;
        nodes.clear();
        nodes.resize(place.gold.len() * labels, 0.0);
        for (at, scores) in nodes.chunks_exact_mut(labels).enumerate().filter(|(at, _)| self.nodes[*at]) {
            let token = place.start + at..place.start + at + 1;
            node_scores(corpus, &corpus.sentences, token, group, scale, entries, scores);
        }
        for (context, start) in place.contexts.into_iter().zip([0, nodes.len() - labels]) {
            border.clear();
            border.resize(labels, 0.0);
            self.rows.add_scores(context, corpus.space.gram_weights(group), border);
            let scores = nodes[start..start + labels].iter_mut().zip(border.iter());
            scores.for_each(|(score, border)| *score += scale * border);
        }
    }
}

/// Buffers for scoring and decoding whole sentences.
pub(crate) struct ChainWorkspace {
    pub(crate) transitions: Transitions,
    pub(crate) potentials: Potentials,
    /// The gram scores last loaded, and whether the potentials follow them.
    loaded: Vec<f32>,
    scaled: Vec<f32>,
    potentials_fresh: bool,
    single_fresh: bool,
    single_usable: bool,
    pub(crate) nodes: Vec<f32>,
    pub(crate) edges: Vec<f32>,
    pub(crate) inference: Workspace,
    known: Candidates,
    path: Vec<u32>,
    gold: Vec<u32>,
    /// Expected minus true counts: of labels at each position, and of grams.
    excess: Vec<f32>,
    gram_excess: Vec<f32>,
    counts: Vec<f64>,
    edge_counts: Vec<f64>,
    single: SingleSums,
    /// Scratch space for labels that are sums of parts.
    pub(crate) entries: Vec<f32>,
}

impl ChainWorkspace {
    pub(crate) fn new(transitions: Transitions) -> Self {
        Self {
            potentials: Potentials::new(&transitions),
            loaded: vec![0.0; transitions.score_count()],
            transitions,
            scaled: Vec::new(),
            potentials_fresh: true,
            single_fresh: false,
            single_usable: false,
            nodes: Vec::new(),
            edges: Vec::new(),
            inference: Workspace::new(),
            known: Candidates::new(),
            path: Vec::new(),
            gold: Vec::new(),
            excess: Vec::new(),
            gram_excess: Vec::new(),
            counts: Vec::new(),
            edge_counts: Vec::new(),
            single: SingleSums::default(),
            entries: Vec::new(),
        }
    }

    /// Takes the scores of the grams, if they changed since the last sentence.
    pub(crate) fn load(&mut self, grams: &[f32], scale: f32) -> Result<(), SequenceError> {
        let grams = if scale == 1.0 {
            grams
        } else {
            self.scaled.clear();
            self.scaled.extend(grams.iter().map(|weight| scale * weight));
            &self.scaled
        };
        if !same_bits(&self.loaded, grams) {
            self.transitions.load(grams)?;
            self.loaded.clear();
            self.loaded.extend_from_slice(grams);
            self.potentials_fresh = false;
            self.single_fresh = false;
        }
        Ok(())
    }

    /// Leaves each position its known label, or all.
    fn restrict(&mut self, gold: &[u32]) {
        self.known.clear();
        gold.iter().for_each(|&label| {
            if label == UNKNOWN { self.known.push_all() } else { self.known.push(&[label]) }
        });
    }

    /// Brings the potentials up to date, before sums over sequences.
    pub(crate) fn refresh(&mut self) {
        if !self.potentials_fresh {
            self.potentials.reload(&self.transitions);
            self.potentials_fresh = true;
        }
    }

    /// Scores a sentence with the weights of one group.
    pub(crate) fn score(
        &mut self,
        corpus: &Corpus,
        sentence: usize,
        group: &[f32],
        scale: f32,
    ) -> Result<(), SequenceError> {
        self.load(corpus.space.gram_weights(group), scale)?;
        let Self { entries, nodes, edges, .. } = self;
        sentence_scores(corpus, (&corpus.sentences, sentence), (group, scale), entries, nodes, edges);
        Ok(())
    }
}

vectorized! {
    /// Adds the gradient of the weights of features; `entries` is scratch space.
    fn add_node_gradient[G: Gradient](
        piece: &ChainPiece<'_>,
        start: usize,
        weight: f32,
        excess: &[f32],
        entries: &mut Vec<f32>,
        gradient: &mut G,
    ) {
        let (space, sentences) = (&piece.corpus.space, &piece.corpus.sentences);
        let (labels, width) = (space.labels(), space.nodes.dimension());
        // Short rows of all tokens at once, where the numbers of all of them lie in one table.
        let at_once = space.parts.is_empty() && piece.window.is_none() && !piece.locked_nodes;
        for (at, excess) in excess.chunks_exact(labels).enumerate().filter(|(at, _)| piece.trains_node(*at)) {
            let (token, excess) = (start + at, space.parts.spread(excess, entries));
            let (features, values) = sentences.long_rows(token);
            for (place, &feature) in features.iter().enumerate() {
                let value = weight * values.get(place).unwrap_or(&1.0);
                space.nodes.add_gradient(feature, value, excess, gradient);
            }
            if !at_once {
                for (index, place) in sentences.short_rows(token..token + 1, width) {
                    gradient.add(index, weight * excess[place]);
                }
            }
        }
        if at_once {
            for (index, place) in sentences.short_rows(start..start + excess.len() / labels, width) {
                gradient.add(index, weight * excess[place]);
            }
        }
    }
}

/// Whether two vectors are the same, bit by bit; block by block, so that it runs in vector registers.
pub(crate) fn same_bits(a: &[f32], b: &[f32]) -> bool {
    let differ = |(a, b): (&[f32], &[f32])| {
        a.iter().zip(b).fold(0, |bits, (a, b)| bits | (a.to_bits() ^ b.to_bits())) != 0
    };
    a.len() == b.len() && !a.chunks(512).zip(b.chunks(512)).any(differ)
}

/// The chain that was scored last; a macro, because the borrows of its fields must stay apart.
macro_rules! chain {
    ($workspace:ident) => {
        Chain::new(&$workspace.nodes, &$workspace.transitions)?.with_any_edges(&$workspace.edges)?
    };
}
pub(crate) use chain;

impl<'a> ChainPiece<'a> {
    /// For all labels of a sentence, or for those at some offsets.
    pub(crate) fn new(
        corpus: &'a Corpus,
        piece: &Piece,
        offsets: Option<&[i32]>,
        group: usize,
        mask: Option<&TransitionMask>,
    ) -> Result<Self, SequenceError> {
        let mean = |labels: &[u32]| {
            let known = labels.iter().filter(|&&label| label != UNKNOWN);
            let (sum, count) = known.fold((0.0, 0.0f32), |(sum, count), &label| {
                (sum + corpus.class_weights[label as usize], count + 1.0)
            });
            if count > 0.0 { sum / count } else { 1.0 }
        };
        let (sentences, space) = (&corpus.sentences, &corpus.space);
        let window = offsets.map(|offsets| Window::new(corpus, piece, offsets)).transpose()?;
        // What may follow what is a matter of whole sentences.
        let mask = mask.filter(|_| window.is_none());
        Ok(Self {
            corpus,
            transitions: space.grams.transitions(mask)?,
            group,
            plain: space.grams.is_dense() && mask.is_none() && !space.has_pairs() && window.is_none(),
            locked_nodes: piece.factors.iter().any(|factor| factor.offsets.len() == 1 && factor.locked),
            locked_grams: piece.factors.iter().any(|factor| factor.offsets.len() > 1 && factor.locked),
            weights: match window {
                Some(_) => token_weights(corpus),
                None => {
                    (0..sentences.len()).map(|at| sentences.weight(at) * mean(sentences.gold(at))).collect()
                }
            },
            window,
        })
    }

    pub(crate) fn workspace(&self) -> ChainWorkspace {
        ChainWorkspace::new(self.transitions.clone())
    }

    /// The number of examples.
    pub(crate) fn examples(&self) -> usize {
        self.weights.len()
    }

    /// A measure of the work that an example takes.
    pub(crate) fn size(&self, example: usize) -> usize {
        1 + if self.window.is_none() { self.corpus.sentences.range(example).len() } else { 0 }
    }

    fn place(&self, example: usize) -> Option<Place<'a>> {
        let sentences = &self.corpus.sentences;
        match &self.window {
            Some(window) => window.place(self.corpus, example),
            None => {
                let (start, gold) = (sentences.range(example).start, sentences.gold(example));
                Some(Place { start, gold, contexts: [NO_CONTEXT; 2] })
            }
        }
    }

    fn score(
        &self,
        example: usize,
        place: &Place<'_>,
        weights: Weights<'_>,
        workspace: &mut ChainWorkspace,
    ) -> Result<(), SequenceError> {
        let (corpus, group) = (self.corpus, self.group(weights));
        let Some(window) = &self.window else {
            return workspace.score(corpus, example, group, weights.scale);
        };
        workspace.load(corpus.space.gram_weights(group), weights.scale)?;
        window.score(corpus, place, (group, weights.scale), workspace);
        Ok(())
    }

    /// Whether the node at a place of the piece is trained.
    fn trains_node(&self, at: usize) -> bool {
        !self.locked_nodes && self.window.as_ref().is_none_or(|window| window.nodes[at])
    }

    fn group<'w>(&self, weights: Weights<'w>) -> &'w [f32] {
        let size = self.corpus.space.group_size();
        &weights.values[self.group * size..(self.group + 1) * size]
    }

    pub(crate) fn separate(
        &self,
        example: usize,
        weights: Weights<'_>,
        cost: f32,
        workspace: &mut ChainWorkspace,
        difference: &mut SparseVector,
    ) -> Result<Separation, SequenceError> {
        let labels = self.corpus.space.labels();
        let mut outcome = Separation { weight: self.weights[example], ..Separation::CORRECT };
        let Some(place) = self.place(example) else { return Ok(outcome) };
        let gold = place.gold;
        self.score(example, &place, weights, workspace)?;
        if cost != 0.0 {
            for (scores, &label) in workspace.nodes.chunks_exact_mut(labels).zip(gold) {
                if label != UNKNOWN {
                    scores[label as usize] -= cost;
                }
            }
        }
        let mut path = std::mem::take(&mut workspace.path);
        let best = workspace.inference.viterbi(&chain!(workspace), &mut path)?;
        workspace.path = path;
        let partial = gold.contains(&UNKNOWN);
        let errors = workspace
            .path
            .iter()
            .zip(gold)
            .filter(|&(found, gold)| *gold != UNKNOWN && found != gold)
            .count();
        if errors == 0 {
            return Ok(outcome);
        }
        // The gold sequence: as given, or the best one that agrees with the known labels.
        let mut truth = std::mem::take(&mut workspace.gold);
        let score = if partial {
            workspace.restrict(gold);
            workspace.inference.viterbi(&chain!(workspace).with_candidates(&workspace.known)?, &mut truth)?
        } else {
            truth.clear();
            truth.extend_from_slice(gold);
            chain!(workspace).score(&truth)?
        };
        if !score.is_finite() {
            workspace.gold = truth;
            return Ok(outcome);
        }
        outcome.cost = errors as f32;
        outcome.violation = (best - score) as f32 - cost * errors as f32;
        self.push(&place, &truth, &workspace.path, difference);
        workspace.gold = truth;
        Ok(outcome)
    }

    /// Writes the features of a true beginning of a sentence minus those of a found one.
    pub(crate) fn push_difference(
        &self,
        sentence: usize,
        truth: &[u32],
        found: &[u32],
        difference: &mut SparseVector,
    ) {
        if let Some(place) = self.place(sentence) {
            self.push(&place, truth, found, difference);
        }
    }

    fn push(&self, place: &Place<'_>, truth: &[u32], found: &[u32], difference: &mut SparseVector) {
        let (space, sentences, base) = (&self.corpus.space, &self.corpus.sentences, place.start);
        let start = self.group * space.group_size();
        let grams = (start + space.gram_start()) as u32;
        for position in 0..truth.len() {
            let (right, wrong) = (truth[position], found[position]);
            if right != wrong && self.trains_node(position) {
                sentences.features(base + position, |feature, value| {
                    space.node_parameters(feature, right, wrong, |index| {
                        difference.push((start + index) as u32, value)
                    });
                    space.node_parameters(feature, wrong, right, |index| {
                        difference.push((start + index) as u32, -value)
                    });
                });
            }
            let reach = position.saturating_sub(space.grams.order());
            if truth[reach..=position] != found[reach..=position] && !self.locked_grams {
                space.grams.ending_at(truth, position, |number| difference.push(grams + number, 1.0));
                space.grams.ending_at(found, position, |number| difference.push(grams + number, -1.0));
            }
            if position > 0
                && space.has_pairs()
                && truth[position - 1..=position] != found[position - 1..=position]
            {
                let pair = |path: &[u32]| path[position - 1] * space.labels() as u32 + path[position];
                for &feature in sentences.pair_features(base + position) {
                    for (pair, value) in [(pair(truth), 1.0), (pair(found), -1.0)] {
                        if let Some(index) = space.pairs.parameter(feature, pair) {
                            difference.push((start + space.pair_start() + index) as u32, value);
                        }
                    }
                }
            }
        }
        if let (Some(window), false) = (&self.window, self.locked_grams) {
            for (context, at) in place.contexts.into_iter().zip([0, truth.len() - 1]) {
                for (label, value) in [(truth[at], 1.0), (found[at], -1.0)] {
                    if let Some(number) = window.rows.number(context, label) {
                        difference.push(grams + number, value);
                    }
                }
            }
        }
    }

    pub(crate) fn differentiate<G: Gradient + ?Sized>(
        &self,
        example: usize,
        weights: Weights<'_>,
        workspace: &mut ChainWorkspace,
        gradient: &mut G,
    ) -> Result<f64, SequenceError> {
        let (corpus, labels) = (self.corpus, self.corpus.space.labels());
        let Some(place) = self.place(example) else { return Ok(0.0) };
        let (gold, weight) = (place.gold, self.weights[example]);
        if gold.is_empty() || weight == 0.0 || gold.iter().all(|&label| label == UNKNOWN) {
            return Ok(0.0);
        }
        self.score(example, &place, weights, workspace)?;
        workspace.edge_counts.clear();
        workspace.edge_counts.resize(workspace.edges.len(), 0.0);
        let free = self.sum_over_sequences(workspace)?;
        let truth = if gold.contains(&UNKNOWN) {
            workspace.restrict(gold);
            workspace.refresh();
            let mut posterior = workspace.inference.forward_backward(
                &chain!(workspace).with_candidates(&workspace.known)?,
                &workspace.potentials,
            )?;
            workspace.excess.iter_mut().zip(posterior.nodes()).for_each(|(excess, &p)| *excess -= p as f32);
            workspace.counts.clear();
            workspace.counts.resize(workspace.gram_excess.len(), 0.0);
            posterior.add_transition_counts(-1.0, &mut workspace.counts)?;
            let counts = workspace.gram_excess.iter_mut().zip(&workspace.counts);
            counts.for_each(|(excess, &count)| *excess += count as f32);
            if !workspace.edges.is_empty() {
                posterior.add_edge_counts(-1.0, &mut workspace.edge_counts)?;
            }
            posterior.log_partition()
        } else {
            for (position, &label) in gold.iter().enumerate() {
                workspace.excess[position * labels + label as usize] -= 1.0;
                corpus
                    .space
                    .grams
                    .ending_at(gold, position, |number| workspace.gram_excess[number as usize] -= 1.0);
                if position > 0 && !workspace.edges.is_empty() {
                    workspace.edge_counts[((position - 1) * labels + gold[position - 1] as usize)
                        * labels
                        + label as usize] -= 1.0;
                }
            }
            chain!(workspace).score(gold)?
        };
        if !truth.is_finite() {
            return Ok(0.0);
        }
        self.add_gradient(&place, weight, workspace, gradient);
        Ok(f64::from(weight) * (free - truth))
    }

    /// The logarithm of the sum over all sequences; writes marginals to `excess` and expected counts to
    /// `gram_excess`.
    fn sum_over_sequences(&self, workspace: &mut ChainWorkspace) -> Result<f64, SequenceError> {
        let labels = self.corpus.space.labels();
        if self.plain && !workspace.single_fresh {
            workspace.single_usable = workspace.single.load(labels, &workspace.loaded);
            workspace.single_fresh = true;
        }
        if self.plain && workspace.single_usable {
            let ChainWorkspace { single, nodes, excess, gram_excess, .. } = workspace;
            if let Some(sum) = single.run(nodes, excess, gram_excess) {
                return Ok(sum);
            }
        }
        workspace.counts.clear();
        workspace.counts.resize(workspace.transitions.score_count(), 0.0);
        workspace.refresh();
        let mut posterior =
            workspace.inference.forward_backward(&chain!(workspace), &workspace.potentials)?;
        workspace.excess.clear();
        workspace.excess.extend(posterior.nodes().iter().map(|&p| p as f32));
        posterior.add_transition_counts(1.0, &mut workspace.counts)?;
        workspace.gram_excess.clear();
        workspace.gram_excess.extend(workspace.counts.iter().map(|&count| count as f32));
        if !workspace.edges.is_empty() {
            posterior.add_edge_counts(1.0, &mut workspace.edge_counts)?;
        }
        Ok(posterior.log_partition())
    }

    fn add_gradient<G: Gradient + ?Sized>(
        &self,
        place: &Place<'_>,
        weight: f32,
        workspace: &mut ChainWorkspace,
        gradient: &mut G,
    ) {
        let (space, sentences, labels) =
            (&self.corpus.space, &self.corpus.sentences, self.corpus.space.labels());
        let range = place.start..place.start + place.gold.len();
        let mut gradient = Offset { gradient, start: self.group * space.group_size() };
        add_node_gradient(
            self,
            place.start,
            weight,
            &workspace.excess,
            &mut workspace.entries,
            &mut gradient,
        );
        if let (Some(window), false) = (&self.window, self.locked_grams) {
            let (excess, last) = (&workspace.excess, workspace.excess.len() - labels);
            for (context, excess) in place.contexts.into_iter().zip([&excess[..labels], &excess[last..]]) {
                window.rows.add_gradient(context, weight, excess, space.gram_start(), &mut gradient);
            }
        }
        if !self.locked_grams {
            gradient.add_run(space.gram_start(), weight, &workspace.gram_excess);
        }
        if !workspace.edges.is_empty() {
            gradient.start += space.pair_start();
            workspace.scaled.clear();
            workspace.scaled.extend(workspace.edge_counts.iter().map(|&count| count as f32));
            for (token, excess) in range.skip(1).zip(workspace.scaled.chunks_exact(labels * labels)) {
                sentences
                    .pair_features(token)
                    .iter()
                    .for_each(|&feature| space.pairs.add_gradient(feature, weight, excess, &mut gradient));
            }
        }
    }
}
