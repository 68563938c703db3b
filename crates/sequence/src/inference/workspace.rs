//! One place for the buffers of all algorithms.

use super::beam::{BeamOutcome, BeamSearch, Update};
use super::chain::Chain;
use super::error::Result;
use super::k_best::{KBestSearch, ScoredPath};
use super::marginals::{Posterior, Sums};
use super::potentials::Potentials;
use super::transitions::{Kind, Transitions};
use super::trellis::Trellis;
use super::viterbi::dense::DenseSearch;
use super::viterbi::grams::GramSearch;

/// Buffers that grow to the longest sentence and are reused; one for each thread.
///
/// Answers depend on the chain alone, never on what the workspace was used for before.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    dense: DenseSearch,
    grams: GramSearch,
    trellis: Trellis,
    beam: BeamSearch,
    k_best: KBestSearch,
    sums: Sums,
    risk: Vec<f32>,
}

impl Workspace {
    /// A workspace without memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Finds a best sequence and returns its score; ties are broken the same way every time.
    pub fn viterbi(&mut self, chain: &Chain, path: &mut Vec<u32>) -> Result<f64> {
        chain.check_nodes()?;
        path.clear();
        if chain.is_empty() {
            return Ok(0.0);
        }
        match &chain.transitions.kind {
            Kind::Dense(dense) => self.dense.run(chain, dense, path)?,
            Kind::Grams(grams) => {
                self.grams.run(chain, grams, true, &mut self.trellis)?;
                self.trellis.trace(chain, self.trellis.best_end(chain)?, path);
            }
        }
        Ok(chain.prefix_score(path))
    }

    /// Finds the `k` best sequences, best first; fewer when fewer are allowed.
    pub fn k_best(&mut self, chain: &Chain, k: usize, paths: &mut Vec<ScoredPath>) -> Result<()> {
        chain.check_nodes()?;
        self.k_best.run(chain, &mut self.grams, k, paths)
    }

    /// Searches with the `width` best states of each position; a trainer with early update passes the gold
    /// labels.
    ///
    /// When the gold prefix falls off the beam, the search stops there and `path` is the best prefix up to
    /// that position. Width 1 is greedy search; a width of all states is Viterbi.
    pub fn beam(
        &mut self,
        chain: &Chain,
        width: usize,
        gold: Option<&[u32]>,
        path: &mut Vec<u32>,
    ) -> Result<BeamOutcome> {
        chain.check_nodes()?;
        self.beam.run(chain, width, gold, path)
    }

    /// The best prefix of a beam at which a perceptron is to be updated.
    pub(crate) fn violation(
        &mut self,
        chain: &Chain,
        width: usize,
        gold: &[u32],
        update: Update,
        path: &mut Vec<u32>,
    ) -> Result<Option<BeamOutcome>> {
        chain.check_nodes()?;
        self.beam.violation(chain, width, gold, update, path)
    }

    /// Sums over all allowed sequences; the answer is asked of the [`Posterior`].
    ///
    /// `potentials` must be those of the chain's transitions.
    pub fn forward_backward<'w>(
        &'w mut self,
        chain: &Chain<'w>,
        potentials: &'w Potentials,
    ) -> Result<Posterior<'w>> {
        chain.check_nodes()?;
        potentials.check(chain.transitions)?;
        self.sums.run(chain, potentials)?;
        Ok(Posterior { sums: &mut self.sums, chain: *chain, potentials })
    }

    /// Finds the allowed sequence with the most expected correct labels and returns that expectation.
    ///
    /// Maximizes the sum of marginals under the chain's candidates and `constraints`, which are the
    /// [`constraints_only`](super::Transitions::constraints_only) of its transitions, made once for many
    /// sentences.
    pub fn minimum_risk(
        &mut self,
        chain: &Chain,
        potentials: &Potentials,
        constraints: &Transitions,
        path: &mut Vec<u32>,
    ) -> Result<f64> {
        let mut nodes = std::mem::take(&mut self.risk);
        nodes.clear();
        // A label that is ruled out has probability 0; a sequence through it must not pass as a poor one.
        let score = |&p: &f64| if p > 0.0 { p as f32 } else { f32::NEG_INFINITY };
        nodes.extend(self.forward_backward(chain, potentials)?.nodes().iter().map(score));
        let risk = Chain::new(&nodes, constraints)?.among(chain.candidates())?;
        let answer = self.viterbi(&risk, path);
        self.risk = nodes;
        answer
    }
}
