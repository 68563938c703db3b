//! Three neighbouring modifiers.

use consonant_map::oracle::Oracle;

use super::{maximum_of_sums, overlap, place_of_sum};
use crate::parts::{pairs_below, triples_below};

/// A head chooses a sequence of modifiers on one side, with scores for three neighbours.
///
/// The links are the arcs to the candidate modifiers, outwards. With modifiers m₁ < … < m_p, the value is the sum over k = 2 …
/// p + 1 of `table[C(m_k,3) + C(m_{k−1},2) + m_{k−2}]`, with m₀ the start, number 0, and m_{p+1} the end (Koo & Collins
/// 2010; Martins, Almeida & Smith 2013). The best configuration takes O(p³).
#[derive(Debug, Clone, Default)]
pub struct TriSiblings {
    modifiers: usize,
    table: Vec<f64>,
}

impl TriSiblings {
    /// An automaton over `modifiers` candidates, with C(modifiers + 2, 3) scores.
    ///
    /// # Panics
    /// If the table has another length.
    pub fn new(modifiers: usize, table: &[f64]) -> Self {
        let mut automaton = Self::default();
        automaton.rebuild(modifiers, table);
        automaton
    }

    /// Makes this another automaton, in the same memory; panics as [`new`](Self::new) does.
    pub fn rebuild(&mut self, modifiers: usize, table: &[f64]) {
        assert_eq!(table.len(), triples_below(modifiers + 2), "scores of a tri-sibling automaton");
        self.modifiers = modifiers;
        self.table.clear();
        self.table.extend_from_slice(table);
    }

    fn row(&self, j: usize, k: usize) -> &[f64] {
        let start = triples_below(k) + pairs_below(j);
        &self.table[start..start + j]
    }
}

impl Oracle for TriSiblings {
    type Configuration = Vec<u32>;
    type Workspace = Vec<f64>;

    fn links(&self) -> usize {
        self.modifiers
    }

    fn maximize(&self, scores: &[f64], values: &mut Vec<f64>, best: &mut Vec<u32>) -> f64 {
        // values[C(k,2) + j]: the best prefix whose last two modifiers are j and k.
        let end = self.modifiers + 1;
        values.clear();
        values.resize(pairs_below(end + 1), 0.0);
        for k in 1..=end {
            let (before, row) = values.split_at_mut(pairs_below(k));
            let own = if k < end { scores[k - 1] } else { 0.0 };
            row[0] = own;
            for j in 1..k {
                let start = pairs_below(j);
                row[j] = own + maximum_of_sums(&before[start..start + j], self.row(j, k));
            }
        }
        let last = &values[pairs_below(end)..];
        let mut j = (1..end).fold(0, |best, j| if last[j] > last[best] { j } else { best });
        best.clear();
        if last[j] == f64::NEG_INFINITY {
            return f64::NEG_INFINITY;
        }
        let mut k = end;
        while j > 0 {
            best.push(j as u32 - 1);
            let prefixes = &values[pairs_below(j)..pairs_below(j) + j];
            let row = self.row(j, k);
            (j, k) = (place_of_sum(prefixes, row, maximum_of_sums(prefixes, row)), j);
        }
        best.reverse();
        self.score(scores, best)
    }

    fn score(&self, scores: &[f64], links: &Vec<u32>) -> f64 {
        let mut value = 0.0;
        let (mut two_back, mut back) = (None, 0);
        for k in links.iter().map(|&link| link as usize + 1).chain([self.modifiers + 1]) {
            if k <= self.modifiers {
                value += scores[k - 1];
            }
            if let Some(i) = two_back {
                value += self.row(back, k)[i];
            }
            two_back = Some(back);
            back = k;
        }
        value
    }

    fn add_marginals(&self, links: &Vec<u32>, weight: f64, marginals: &mut [f64]) {
        links.iter().for_each(|&link| marginals[link as usize] += weight);
    }

    fn overlap(&self, a: &Vec<u32>, b: &Vec<u32>) -> usize {
        overlap(a, b)
    }
}
