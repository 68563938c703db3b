//! One sentence as inference sees it.

use super::constraints::Candidates;
use super::error::{InferenceError, Result, check_label, check_length, check_scores};
use super::transitions::{Kind, Transitions};

/// One sentence: scores of labels at positions, transitions between them, and the labels that each position
/// may take.
///
/// Everything is borrowed. Scores are `f32`: a score is the sum of few weights, and half the memory means
/// twice the labels in a vector. Sums over a sentence (path scores, partition functions, counts) are `f64`.
///
/// Scores for the start or the end of a sentence belong in the first or last row of `nodes`.
#[derive(Debug, Clone, Copy)]
pub struct Chain<'a> {
    nodes: &'a [f32],
    pub(crate) transitions: &'a Transitions,
    candidates: Option<&'a Candidates>,
    pub(crate) edges: Option<&'a [f32]>,
}

/// The labels that one position may take.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Allowed<'a> {
    All(usize),
    Listed(&'a [u32]),
}

impl<'a> Allowed<'a> {
    pub(crate) fn iter(self) -> impl Iterator<Item = u32> + Clone + 'a {
        let (range, list) = match self {
            Allowed::All(labels) => (0..labels as u32, &[][..]),
            Allowed::Listed(list) => (0..0, list),
        };
        range.chain(list.iter().copied())
    }

    pub(crate) fn len(self) -> usize {
        match self {
            Allowed::All(labels) => labels,
            Allowed::Listed(list) => list.len(),
        }
    }
}

impl<'a> Chain<'a> {
    /// A chain of `nodes.len() / L` positions; `nodes` has a row of L scores for each position.
    ///
    /// Minus infinity forbids a label at a position.
    pub fn new(nodes: &'a [f32], transitions: &'a Transitions) -> Result<Self> {
        let labels = transitions.labels();
        if !nodes.len().is_multiple_of(labels) {
            let expected = nodes.len().next_multiple_of(labels);
            return Err(InferenceError::Shape {
                what: "node scores (a whole row of labels for each position)",
                expected,
                found: nodes.len(),
            });
        }
        Ok(Self { nodes, transitions, candidates: None, edges: None })
    }

    /// Restricts each position to its candidates; node scores of other labels are never read.
    pub fn with_candidates(self, candidates: &'a Candidates) -> Result<Self> {
        check_length("positions with candidates", self.len(), candidates.len())?;
        candidates.check(self.labels())?;
        Ok(Self { candidates: Some(candidates), ..self })
    }

    /// Adds edge scores that depend on the position: L·L of them for each step, row-major by previous label,
    /// where step 0 joins positions 0 and 1.
    pub fn with_edges(self, edges: &'a [f32]) -> Result<Self> {
        if self.transitions.has_grams() {
            return Err(InferenceError::EdgesWithGrams);
        }
        check_length(
            "edge scores",
            self.len().saturating_sub(1) * self.labels() * self.labels(),
            edges.len(),
        )?;
        check_scores("edge scores", edges)?;
        Ok(Self { edges: Some(edges), ..self })
    }

    /// As [`with_edges`](Self::with_edges), unless there are none.
    pub(crate) fn with_any_edges(self, edges: &'a [f32]) -> Result<Self> {
        if edges.is_empty() { Ok(self) } else { self.with_edges(edges) }
    }

    /// As [`with_candidates`](Self::with_candidates), if they are given.
    pub(crate) fn among(self, candidates: Option<&'a Candidates>) -> Result<Self> {
        candidates.map_or(Ok(self), |candidates| self.with_candidates(candidates))
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.nodes.len() / self.labels()
    }

    /// Whether the sentence has no positions.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Size of the label set.
    pub fn labels(&self) -> usize {
        self.transitions.labels()
    }

    /// The scores of labels, a row for each position.
    pub fn nodes(&self) -> &'a [f32] {
        self.nodes
    }

    /// The score of `label` at `position` after `previous`, without the node's; minus infinity if it is
    /// forbidden. For chains of order 1, by which other models can take a chain's place.
    pub fn step(&self, position: usize, previous: u32, label: u32) -> f64 {
        self.arc(position, previous, label).1
    }

    /// Score of a labelling, or minus infinity when the chain forbids it.
    pub fn score(&self, path: &[u32]) -> Result<f64> {
        check_length("labels of the path", self.len(), path.len())?;
        let (Some(&first), Some(&last)) = (path.first(), path.last()) else { return Ok(0.0) };
        for (position, &label) in path.iter().enumerate() {
            check_label("path", label, self.labels())?;
            if !self.is_candidate(position, label) {
                return Ok(f64::NEG_INFINITY);
            }
        }
        if !self.transitions.allows_start(first) || !self.transitions.allows_end(last) {
            return Ok(f64::NEG_INFINITY);
        }
        Ok(self.prefix_score(path))
    }

    /// Score of an allowed prefix.
    pub(crate) fn prefix_score(&self, path: &[u32]) -> f64 {
        let mut state = path[0];
        let mut score = self.node(0, path[0]);
        for (position, &label) in path.iter().enumerate().skip(1) {
            let (next, arc) = self.arc(position, state, label);
            score += arc + self.node(position, label);
            state = next;
        }
        score
    }

    pub(crate) fn is_candidate(&self, position: usize, label: u32) -> bool {
        self.candidates
            .and_then(|lists| lists.at(position))
            .is_none_or(|list| list.binary_search(&label).is_ok())
    }

    pub(crate) fn candidates(&self) -> Option<&'a Candidates> {
        self.candidates
    }

    pub(crate) fn allowed(&self, position: usize) -> Allowed<'a> {
        match self.candidates.and_then(|lists| lists.at(position)) {
            Some(list) => Allowed::Listed(list),
            None => Allowed::All(self.labels()),
        }
    }

    pub(crate) fn row(&self, position: usize) -> &'a [f32] {
        let labels = self.labels();
        &self.nodes[position * labels..(position + 1) * labels]
    }

    pub(crate) fn node(&self, position: usize, label: u32) -> f64 {
        self.row(position)[label as usize] as f64
    }

    /// Refuses scores that are not numbers among those that inference will read.
    pub(crate) fn check_nodes(&self) -> Result<()> {
        if self.candidates.is_none() {
            return check_scores("node scores", self.nodes);
        }
        for position in 0..self.len() {
            match self.allowed(position) {
                Allowed::All(_) => check_scores("node scores", self.row(position))?,
                Allowed::Listed(list) => {
                    for &label in list {
                        let value = self.row(position)[label as usize];
                        if value.is_nan() || value == f32::INFINITY {
                            let index = position * self.labels() + label as usize;
                            return Err(InferenceError::NotANumber { what: "node scores", index, value });
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Edge scores of the step that enters `position` after label `previous`.
    pub(crate) fn edge_row(&self, position: usize, previous: usize) -> Option<&'a [f32]> {
        let labels = self.labels();
        let start = ((position - 1) * labels + previous) * labels;
        self.edges.map(|edges| &edges[start..start + labels])
    }

    /// The state entered from `state` on `label` at `position`, and the score of the step without the node's.
    ///
    /// States are numbered so that a label alone is the state of its own number.
    pub(crate) fn arc(&self, position: usize, state: u32, label: u32) -> (u32, f64) {
        match &self.transitions.kind {
            Kind::Dense(dense) => {
                let edge =
                    self.edge_row(position, state as usize).map_or(0.0, |row| row[label as usize] as f64);
                (label, dense.row(state as usize)[label as usize] as f64 + edge)
            }
            Kind::Grams(grams) => {
                let arc = grams.resolve(state, label);
                (grams.arc_target(arc), grams.arc_score(arc))
            }
        }
    }

    /// The last label of a state.
    pub(crate) fn label_of(&self, state: u32) -> u32 {
        match &self.transitions.kind {
            Kind::Dense(_) => state,
            Kind::Grams(grams) => grams.last_label(state),
        }
    }
}
