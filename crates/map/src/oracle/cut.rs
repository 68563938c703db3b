//! Supermodular quadratic functions of binary variables, maximized by a minimum cut.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Oracle;
use super::subset::Subset;
use crate::cut::{Cut, PseudoBoolean};
use crate::model::{ModelError, check_index};

/// A factor over binary variables that rewards pairs which are on together: `Σ a_ij x_i x_j` with
/// `a_ij >= 0`.
///
/// Linear terms come as the scores of the links; every set of links is a configuration. However large and
/// however loopy the graph of pairs, one minimum cut finds the best set, and of several the smallest.
///
/// The flow belongs to the factor, not to a thread's workspace, and is kept from call to call: between two
/// iterations of a solver only linear terms move, mostly by little. Calls from several threads take turns.
///
/// ```
/// use consonant_map::oracle::{Oracle, cut::MinimumCut};
///
/// let friends = MinimumCut::new(3, &[(0, 1, 3.0), (1, 2, 1.0)])?;
/// let mut best = Default::default();
/// let value = friends.maximize(&[-1.0, -1.0, -2.0], &mut (), &mut best);
/// assert_eq!((value, best.iter().collect::<Vec<_>>()), (1.0, vec![0, 1]));
/// # Ok::<(), consonant_map::ModelError>(())
/// ```
#[derive(Debug)]
pub struct MinimumCut {
    pairs: Vec<(u32, u32, f64)>,
    /// For each link, a score beyond which its state is certain whatever the others do.
    decisive: Vec<f64>,
    flow: Mutex<Cut>,
}

impl MinimumCut {
    /// Pairs of links, each with a weight that counts when both are on. The weights must not be negative.
    pub fn new(links: usize, pairs: &[(usize, usize, f64)]) -> Result<Self, ModelError> {
        if links == 0 {
            return Err(ModelError::Empty("the minimum cut".into()));
        }
        // The flow addresses nodes and two arcs for each pair by 32 bits and marks.
        let limit = (u32::MAX / 4) as usize;
        if links > limit || pairs.len() > limit {
            return Err(ModelError::too_large("links or pairs of the minimum cut", limit));
        }
        for (pair, &(first, second, weight)) in pairs.iter().enumerate() {
            check_index("link of the minimum cut", first.max(second), 0..links)?;
            if first == second {
                let reason = "must be two links that differ: what one link earns alone is its score";
                return Err(ModelError::unfit(format_args!("pair {pair} of the minimum cut"), reason));
            }
            check_weight(pair, weight)?;
        }
        let mut factor = Self {
            pairs: pairs
                .iter()
                .map(|&(first, second, weight)| (first as u32, second as u32, weight))
                .collect(),
            decisive: vec![0.0; links],
            flow: Mutex::default(),
        };
        factor.rebuild();
        Ok(factor)
    }

    /// Replaces the weight of a pair. The flow starts anew.
    pub fn set_weight(&mut self, pair: usize, weight: f64) -> Result<(), ModelError> {
        check_index("pair of the minimum cut", pair, 0..self.pairs.len())?;
        check_weight(pair, weight)?;
        self.pairs[pair].2 = weight;
        self.rebuild();
        Ok(())
    }

    /// The pairs with their weights.
    pub fn pairs(&self) -> &[(u32, u32, f64)] {
        &self.pairs
    }

    fn rebuild(&mut self) {
        let mut function = PseudoBoolean::new(self.decisive.len());
        let largest = self.pairs.iter().fold(0.0, |largest: f64, pair| largest.max(pair.2));
        self.decisive.fill(if largest > 0.0 { largest } else { 1.0 });
        for &(first, second, weight) in &self.pairs {
            function.add_pair(first as usize, second as usize, weight).expect("pairs were checked");
            self.decisive[first as usize] += 2.0 * weight;
            self.decisive[second as usize] += 2.0 * weight;
        }
        self.lock().rebuild(&function);
    }

    fn lock(&self) -> MutexGuard<'_, Cut> {
        self.flow.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check_weight(pair: usize, weight: f64) -> Result<(), ModelError> {
    // The upper limit keeps the sum of any number of weights finite. NaN lies in no range.
    if (0.0..=1e290).contains(&weight) {
        return Ok(());
    }
    let reason = format_args!(
        "has weight {weight}; expected one in 0..=1e290, for minimum cuts know no pairs that repel"
    );
    Err(ModelError::unfit(format_args!("pair {pair} of the minimum cut"), reason))
}

impl Clone for MinimumCut {
    fn clone(&self) -> Self {
        let flow = Mutex::new(self.lock().clone());
        Self { pairs: self.pairs.clone(), decisive: self.decisive.clone(), flow }
    }
}

impl Oracle for MinimumCut {
    type Configuration = Subset;
    type Workspace = ();

    fn links(&self) -> usize {
        self.decisive.len()
    }

    fn magnitude(&self) -> Option<f64> {
        Some(self.pairs.iter().map(|pair| pair.2).sum())
    }

    fn maximize(&self, scores: &[f64], _: &mut (), best: &mut Subset) -> f64 {
        let mut flow = self.lock();
        for (link, (&score, &decisive)) in scores.iter().zip(&self.decisive).enumerate() {
            // Nothing changes beyond the decisive score, and a huge one would drown the others in rounding.
            flow.set_unary(link, score.clamp(-decisive, decisive));
        }
        flow.solve();
        best.reset(self.links());
        (0..self.links()).filter(|&link| flow.is_one(link)).for_each(|link| best.insert(link));
        drop(flow);
        self.score(scores, best)
    }

    fn score(&self, scores: &[f64], set: &Subset) -> f64 {
        let linear = set.iter().fold(0.0, |total, link| total + scores[link]);
        let both = |pair: &&(u32, u32, f64)| set.contains(pair.0 as usize) && set.contains(pair.1 as usize);
        self.pairs.iter().filter(both).fold(linear, |total, pair| total + pair.2)
    }

    fn add_marginals(&self, set: &Subset, weight: f64, marginals: &mut [f64]) {
        set.iter().for_each(|link| marginals[link] += weight);
    }

    fn overlap(&self, a: &Subset, b: &Subset) -> usize {
        a.overlap(b)
    }
}
