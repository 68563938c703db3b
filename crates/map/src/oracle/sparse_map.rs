//! SparseMAP: a soft answer that is a mixture of few configurations (Niculae et al. 2018).
//!
//! Where MAP takes the one best configuration and marginal inference spreads over all of them, SparseMAP takes the point u of the factor's polytope
//! that maximizes  scores·u + own score(u) − ½ ‖u‖².  It is the quadratic step that AD3 asks of every factor, solved to the end, so the active set
//! gives it; and it has a derivative, which makes it a layer of a network. With the configurations S of the answer, their marginals M and K = MᵀM,
//! the weights move by  dv = K⁻¹ (b − τ 1)  for b = Mᵀ d(scores), with τ such that Σ dv = 0; the matrix is symmetric, so the same formula carries a gradient back.

use super::Oracle;
use super::active_set::{ActiveSet, MAX_CHANGES};
use crate::group::OracleScratch;

/// Times that the active set may take up its work again before the point is accepted as it is.
const ROUNDS: usize = 1000;

/// The sparse answer of one factor; its memory serves the next one too.
///
/// ```
/// use consonant_map::oracle::sequence::Sequence;
/// use consonant_map::oracle::sparse_map::SparseMap;
///
/// // Two positions, two states; staying in the same state earns 0.5.
/// let chain = Sequence::uniform(2, 2, vec![0.5, 0.0, 0.0, 0.5])?;
/// let (mut sparse, mut marginals) = (SparseMap::default(), [0.0; 4]);
/// assert!(sparse.solve(&chain, &[0.25, 0.0, 0.0, 0.0], &mut marginals));
/// assert_eq!(sparse.support().count(), 2); // both ways to stay, none of the others
/// assert!((marginals[0] - marginals[2]).abs() < 1e-9 && marginals[0] > 0.5);
/// # Ok::<(), consonant_map::ModelError>(())
/// ```
pub struct SparseMap<O: Oracle> {
    set: ActiveSet<O::Configuration>,
    scratch: OracleScratch<O>,
}

impl<O: Oracle> Default for SparseMap<O> {
    fn default() -> Self {
        SparseMap { set: ActiveSet::default(), scratch: OracleScratch::default() }
    }
}

impl<O: Oracle> std::fmt::Debug for SparseMap<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SparseMap").field("support", &self.support().count()).finish_non_exhaustive()
    }
}

impl<O: Oracle> SparseMap<O> {
    /// Writes the answer under `scores`, one for each link, to `marginals`; `false` if the factor allows nothing.
    ///
    /// # Panics
    /// If there are not as many scores and marginals as links.
    pub fn solve(&mut self, oracle: &O, scores: &[f64], marginals: &mut [f64]) -> bool {
        assert_eq!((scores.len(), marginals.len()), (oracle.links(), oracle.links()));
        // Configurations of another factor would be no start for this one.
        self.set.clear();
        for _ in 0..ROUNDS {
            if self.set.project(oracle, scores, marginals, 1.0, MAX_CHANGES, &mut self.scratch) {
                break;
            }
        }
        self.set.weighted().next().is_some()
    }

    /// The configurations of the last answer with their weights, which sum to one.
    pub fn support(&self) -> impl Iterator<Item = (&O::Configuration, f64)> {
        self.set.weighted()
    }

    /// Carries a gradient with respect to the last marginals back: adds that with respect to the scores to `scores`, and returns how much each
    /// configuration of the [`support`](Self::support) counts in that with respect to the factor's own scores.
    pub fn gradient(&self, oracle: &O, marginals: &[f64], scores: &mut [f64]) -> Vec<f64> {
        let changes = self.set.weight_changes(oracle, marginals);
        for ((configuration, _), &change) in self.support().zip(&changes) {
            oracle.add_marginals(configuration, change, scores);
        }
        changes
    }
}
