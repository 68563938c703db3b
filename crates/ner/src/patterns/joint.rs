//! All weights learned together: groups of sentences for a perceptron that decodes them as prediction does (Qian & Liu 2014).

use consonant_learn::LearnError;
use consonant_map::solver::Method;
use consonant_sequence::{ScoredSentence, Ties};
use consonant_text::Sentence;

use super::learn::MOST_ITERATIONS;
use super::{GroupLinks, GroupProblem, Layout, PatternDecoder, reachable};
use crate::occurrences::OrdinaryWords;
use crate::scores::SentenceScores;

/// Groups of training sentences with what is tied in them.
#[derive(Default)]
pub(crate) struct TiedGroups {
    layout: Layout,
    sentences: Vec<Vec<usize>>,
    links: Vec<GroupLinks>,
    /// The value of a tie's feature. Its square is what an update moves a score by; a feature of the chain has 1.
    value: f32,
}

impl TiedGroups {
    pub(crate) fn read(sentences: &[Sentence], ordinary: &OrdinaryWords, layout: Layout, rate: f32) -> Self {
        let groups = layout.groups(sentences);
        let links = groups.iter().map(|group| {
            let members: Vec<&Sentence> = group.iter().map(|&number| &sentences[number]).collect();
            GroupLinks::read(&members, ordinary, &layout)
        });
        Self { links: links.collect(), sentences: groups, value: rate.sqrt(), layout }
    }

    /// Weights of features of value 1.
    pub(crate) fn weights(&self, learned: &[f32]) -> Vec<f32> {
        learned.iter().map(|weight| weight * self.value).collect()
    }
}

impl Ties for TiedGroups {
    type Workspace = PatternDecoder;

    fn workspace(&self) -> PatternDecoder {
        PatternDecoder::new(Method::TwoSlave, Some(MOST_ITERATIONS))
    }

    fn parameters(&self) -> usize {
        self.layout.parameters()
    }

    fn groups(&self) -> &[Vec<usize>] {
        &self.sentences
    }

    fn decode(
        &self,
        group: usize,
        sentences: Vec<ScoredSentence>,
        weights: &[f32],
        decoder: &mut PatternDecoder,
    ) -> Result<Vec<Vec<u32>>, LearnError> {
        let (layout, links, weights) = (&self.layout, &self.links[group], self.weights(weights));
        let scores = sentences
            .into_iter()
            .map(|ScoredSentence { nodes, steps, path, value }| SentenceScores { nodes, steps, path, value });
        let scores: Vec<SentenceScores> = scores.collect();
        let scores: Vec<&SentenceScores> = scores.iter().collect();
        // Every sentence has steps of its own.
        let transitions = &[];
        let candidates = match links.is_empty() {
            true => None,
            false => Some(reachable(layout, links, &weights, &scores, transitions)),
        };
        let candidates = candidates.as_deref();
        let problem =
            GroupProblem { layout, links, scores: &scores, transitions, weights: &weights, candidates };
        Ok(decoder.decode(&problem).map_err(LearnError::task)?.0)
    }

    fn features(&self, group: usize, labels: &[Vec<u32>], each: &mut dyn FnMut(usize, f32)) {
        let all: Vec<u32> = labels.iter().flatten().copied().collect();
        self.links[group].features(&self.layout, &all, |weight| each(weight, self.value));
    }
}
