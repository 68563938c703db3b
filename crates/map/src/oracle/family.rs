//! Sets of links that are known by a function.

use super::Oracle;
use super::subset::Subset;

/// A factor without scores of its own that allows some sets of links: a function inserts the best of them.
///
/// The function is given the scores of the links and an empty set. It must find a set of the family whose
/// scores sum to the most, and the same one every time; a family has one set at least. A factor with scores
/// of its own, or with configurations that are cheaper to handle than sets, implements [`Oracle`].
#[derive(Clone)]
pub struct Family<F> {
    links: usize,
    best: F,
}

impl<F: Fn(&[f64], &mut Subset)> Family<F> {
    /// A factor over so many links.
    pub fn new(links: usize, best: F) -> Self {
        Family { links, best }
    }
}

impl<F> std::fmt::Debug for Family<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Family").field("links", &self.links).finish_non_exhaustive()
    }
}

impl<F: Fn(&[f64], &mut Subset) + Send + Sync + 'static> Oracle for Family<F> {
    type Configuration = Subset;
    type Workspace = ();

    fn links(&self) -> usize {
        self.links
    }

    fn maximize(&self, scores: &[f64], _: &mut (), best: &mut Subset) -> f64 {
        best.reset(self.links);
        (self.best)(scores, best);
        self.score(scores, best)
    }

    fn score(&self, scores: &[f64], set: &Subset) -> f64 {
        set.iter().map(|link| scores[link]).sum()
    }

    fn add_marginals(&self, set: &Subset, weight: f64, marginals: &mut [f64]) {
        set.iter().for_each(|link| marginals[link] += weight);
    }

    fn overlap(&self, a: &Subset, b: &Subset) -> usize {
        a.overlap(b)
    }

    fn magnitude(&self) -> Option<f64> {
        Some(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{Limits, Method, solve};
    use crate::{Graph, Status};

    /// An even number of links, as a function.
    #[test]
    fn agrees_with_enumeration_under_a_second_factor() {
        let even = |scores: &[f64], best: &mut Subset| {
            (0..scores.len()).filter(|&link| scores[link] > 0.0).for_each(|link| best.insert(link));
            let cheapest = (0..scores.len()).min_by(|&a, &b| scores[a].abs().total_cmp(&scores[b].abs()));
            if let (1, Some(link)) = (best.len() % 2, cheapest) {
                best.toggle(link);
            }
        };
        let mut state = 7u64;
        for _ in 0..200 {
            let scores: Vec<f64> = (0..6)
                .map(|_| {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    ((state >> 40) as f64 / 16777216.0 - 0.4) * 4.0
                })
                .collect();
            let mut graph = Graph::new();
            let row = graph.binaries(&scores).unwrap();
            graph.oracle(Family::new(6, even), &row).unwrap();
            graph.budget(&row, 3).unwrap();
            let solution = solve(&graph, Method::Exact, &Limits::default()).unwrap();
            let optimum = (0u32..64)
                .filter(|set| set.count_ones() % 2 == 0 && set.count_ones() <= 3)
                .map(|set| (0..6).filter(|i| set >> i & 1 == 1).map(|i| scores[i]).sum::<f64>())
                .fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(solution.certificate.status(), Status::Optimal);
            assert!((solution.certificate.value().unwrap() - optimum).abs() < 1e-9);
        }
    }
}
