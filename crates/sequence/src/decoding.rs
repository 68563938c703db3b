//! From the scores of the parameter groups to one chain, by the diagram's way of decoding.

use crate::SequenceError;
use crate::diagram::{Decoding, Diagram};
use crate::inference::{Chain, Potentials, TransitionMask, Transitions};
use crate::ngrams::LabelGrams;
use crate::normalization::{EdgeSums, Side};
use crate::objective::scale_scores;

/// How groups become a chain.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rule {
    pub(crate) decoding: Decoding,
    /// For each group, on which side of a label its condition stands.
    pub(crate) sides: Vec<Side>,
    /// For scaled decoding, a scale for each previous label and one for the first position.
    pub(crate) scales: Vec<f32>,
}

impl Rule {
    pub(crate) fn of(diagram: &Diagram) -> Self {
        let side = |group: &str| {
            let factors =
                diagram.pieces.iter().flat_map(|piece| &piece.factors).filter(|factor| factor.group == group);
            if factors.flat_map(|factor| &factor.offsets).any(|&offset| offset > 0) {
                Side::After
            } else {
                Side::Before
            }
        };
        Self {
            decoding: diagram.decoding,
            sides: diagram.groups().into_iter().map(side).collect(),
            scales: Vec::new(),
        }
    }
}

/// Buffers that turn the node and edge scores of each group into one chain.
#[derive(Debug, Clone)]
pub(crate) struct Assembly {
    labels: usize,
    rule: Rule,
    transitions: Transitions,
    potentials: Option<Potentials>,
    /// For each group, its pair scores as a full matrix; only where the rule needs them.
    matrices: Vec<Vec<f32>>,
    sums: Vec<EdgeSums>,
    /// Node and edge scores of each group, to be filled before [`assemble`](Self::assemble).
    pub(crate) nodes: Vec<Vec<f32>>,
    pub(crate) edges: Vec<Vec<f32>>,
    all_nodes: Vec<f32>,
    all_edges: Vec<f32>,
}

impl Assembly {
    /// For weights of the grams, group by group.
    pub(crate) fn new(
        grams: &LabelGrams,
        labels: usize,
        rule: &Rule,
        gram_weights: &[&[f32]],
        mask: Option<&TransitionMask>,
    ) -> Result<Self, SequenceError> {
        let groups = rule.sides.len();
        let mut transitions = if rule.decoding == Decoding::Scaled {
            Transitions::dense(labels, &vec![0.0; labels * labels], mask)?
        } else {
            grams.transitions(mask)?
        };
        let mut assembly = Self {
            labels,
            rule: rule.clone(),
            potentials: None,
            matrices: Vec::new(),
            sums: vec![EdgeSums::default(); groups],
            nodes: vec![Vec::new(); groups],
            edges: vec![Vec::new(); groups],
            all_nodes: Vec::new(),
            all_edges: Vec::new(),
            transitions: transitions.clone(),
        };
        if rule.decoding != Decoding::Global {
            assembly.matrices = gram_weights.iter().map(|weights| grams.matrix(weights)).collect();
            for (sums, matrix) in assembly.sums.iter_mut().zip(&assembly.matrices) {
                sums.load(labels, matrix);
            }
        }
        if rule.decoding != Decoding::Scaled {
            let total: Vec<f32> =
                (0..grams.len()).map(|gram| gram_weights.iter().map(|weights| weights[gram]).sum()).collect();
            if transitions.score_count() == total.len() {
                transitions.load(&total)?;
            }
            assembly.transitions = transitions;
        }
        Ok(assembly)
    }

    /// Combines what was filled into `nodes` and `edges`.
    pub(crate) fn assemble(&mut self) {
        let labels = self.labels;
        if self.rule.decoding == Decoding::Local {
            for group in 0..self.nodes.len() {
                let side = self.rule.sides[group];
                self.sums[group].normalize(side, &self.edges[group], &mut self.nodes[group]);
            }
        }
        if self.rule.decoding == Decoding::Scaled {
            scale_scores(
                labels,
                &self.nodes[0],
                &self.matrices[0],
                &self.edges[0],
                &self.rule.scales,
                &mut self.all_nodes,
                &mut self.all_edges,
            );
            return;
        }
        let (first, others) = self.nodes.split_first_mut().expect("at least one group");
        std::mem::swap(&mut self.all_nodes, first);
        others
            .iter()
            .for_each(|nodes| self.all_nodes.iter_mut().zip(nodes).for_each(|(sum, node)| *sum += node));
        let (first, others) = self.edges.split_first_mut().expect("at least one group");
        std::mem::swap(&mut self.all_edges, first);
        others
            .iter()
            .for_each(|edges| self.all_edges.iter_mut().zip(edges).for_each(|(sum, edge)| *sum += edge));
    }

    /// The node scores of the sentence assembled last.
    pub(crate) fn all_nodes(&self) -> &[f32] {
        &self.all_nodes
    }

    /// The chain of the sentence assembled last.
    pub(crate) fn chain(&self) -> Result<Chain<'_>, SequenceError> {
        Ok(Chain::new(&self.all_nodes, &self.transitions)?.with_any_edges(&self.all_edges)?)
    }

    /// The exponentials of the transitions, made when they are first asked for.
    pub(crate) fn prepare_potentials(&mut self) {
        self.potentials.get_or_insert_with(|| Potentials::new(&self.transitions));
    }

    pub(crate) fn potentials(&self) -> Option<&Potentials> {
        self.potentials.as_ref()
    }
}
