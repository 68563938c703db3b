//! Beam search with early update: the perceptron stops at the first position where the gold prefix leaves the
//! beam; or with updates later in the sentence, which learn from longer prefixes.

use consonant_learn::LearnError;
use consonant_learn::problem::{Problem, Separate, Separation, Weights};
use consonant_learn::sparse::SparseVector;

use super::chain::{ChainPiece, ChainWorkspace, chain};
use super::local::{LocalPieces, LocalWorkspace};
use super::separation_of;
use crate::corpus::Corpus;
use crate::diagram::Diagram;
use crate::inference::{Chain, TransitionMask, Update};
use crate::{SequenceError, UNKNOWN};

/// Sentences decoded by a beam (Collins & Roark 2004; Huang, Fayong & Guo 2012).
///
/// With a beam of one, every label before the first error is the gold one. So the search is that of a model
/// that predicts each label given the gold labels before it, and stops at its first error: no label is scored
/// behind it.
pub(crate) struct EarlyUpdate<'a> {
    corpus: &'a Corpus,
    width: usize,
    update: Update,
    greedy: LocalPieces<'a>,
    whole: ChainPiece<'a>,
}

pub(crate) struct EarlyWorkspace {
    greedy: LocalWorkspace,
    whole: ChainWorkspace,
    path: Vec<u32>,
}

impl<'a> EarlyUpdate<'a> {
    pub(crate) fn new(
        corpus: &'a Corpus,
        (width, update): (usize, Update),
        mask: Option<&TransitionMask>,
    ) -> Result<Self, SequenceError> {
        let order = corpus.space.grams.order();
        let mut greedy = LocalPieces::new(corpus);
        greedy.add(&Diagram::memm(order).pieces[0], 0, |_| 0);
        let whole = ChainPiece::new(corpus, &Diagram::likelihood(order).pieces[0], None, 0, mask)?;
        Ok(Self { corpus, width, update, greedy, whole })
    }

    pub(super) fn beam(
        &self,
        sentence: usize,
        weights: Weights<'_>,
        workspace: &mut EarlyWorkspace,
        difference: &mut SparseVector,
    ) -> Result<Separation, SequenceError> {
        let EarlyWorkspace { whole, path, .. } = workspace;
        let gold = self.corpus.sentences.gold(sentence);
        let mut outcome =
            Separation { weight: self.corpus.sentences.weight(sentence), ..Separation::CORRECT };
        if gold.contains(&UNKNOWN) {
            return Ok(outcome);
        }
        whole.score(self.corpus, sentence, weights.values, weights.scale)?;
        match self.update {
            Update::Early => {
                whole.inference.beam(&chain!(whole), self.width, Some(gold), path)?;
            }
            _ => {
                let chain = chain!(whole);
                if whole.inference.violation(&chain, self.width, gold, self.update, path)?.is_none() {
                    return Ok(outcome);
                }
            }
        }
        let prefix = &gold[..path.len()];
        outcome.cost = path.iter().zip(prefix).filter(|(found, gold)| found != gold).count() as f32;
        if outcome.cost > 0.0 {
            self.whole.push_difference(sentence, prefix, path, difference);
            let dot = |&(index, value): &(u32, f32)| value * weights.values[index as usize];
            outcome.violation = -weights.scale * difference.pairs().iter().map(dot).sum::<f32>();
        }
        Ok(outcome)
    }
}

impl Problem for EarlyUpdate<'_> {
    type Workspace = EarlyWorkspace;

    fn workspace(&self) -> EarlyWorkspace {
        EarlyWorkspace { greedy: self.greedy.workspace(), whole: self.whole.workspace(), path: Vec::new() }
    }

    fn parameters(&self) -> usize {
        self.corpus.space.group_size()
    }

    fn examples(&self) -> usize {
        self.corpus.sentences.len()
    }

    fn fingerprint(&self) -> Result<u64, LearnError> {
        Ok(self.corpus.sentences.fingerprint())
    }
}

impl Separate for EarlyUpdate<'_> {
    fn separate(
        &self,
        sentence: usize,
        weights: Weights<'_>,
        cost: f32,
        workspace: &mut EarlyWorkspace,
        difference: &mut SparseVector,
    ) -> Result<Separation, LearnError> {
        if self.width > 1 || self.update != Update::Early {
            return separation_of(self.beam(sentence, weights, workspace, difference));
        }
        for token in self.corpus.sentences.range(sentence) {
            let outcome = self.greedy.separate(token, weights, cost, &mut workspace.greedy, difference);
            if outcome.cost > 0.0 {
                return Ok(outcome);
            }
        }
        Ok(Separation::CORRECT)
    }
}
