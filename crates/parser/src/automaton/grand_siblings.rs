//! Neighbouring modifiers together with the head's own head.

use consonant_map::oracle::Oracle;

use super::{maximum_of_sums, overlap, place_of_sum};
use crate::parts::pairs_below;

/// A head chooses one head of its own and a sequence of modifiers on one side.
///
/// The links are the arcs into the head, if there are any, then the arcs to the candidate modifiers, outwards. With
/// incoming arc g and modifiers m₁ < … < m_p, the value is the sum over k = 1 … p + 1 of `table[g][C(m_k,2) + m_{k−1}]`, with
/// m₀ the start, number 0, and m_{p+1} the end: sibling, grandparent and grand-sibling scores in one table (Koo et al. 2010;
/// Martins, Almeida & Smith 2013). The best configuration takes O(g p²).
#[derive(Debug, Clone, Default)]
pub struct GrandSiblings {
    incoming: usize,
    modifiers: usize,
    table: Vec<f64>,
}

impl GrandSiblings {
    /// An automaton over `incoming` arcs into the head (none for a root) and `modifiers` candidates. The table has C(modifiers +
    /// 2, 2) scores for each incoming arc; without incoming arcs, that many.
    ///
    /// # Panics
    /// If the table has another length.
    pub fn new(incoming: usize, modifiers: usize, table: &[f64]) -> Self {
        let mut automaton = Self::default();
        automaton.rebuild(incoming, modifiers, table);
        automaton
    }

    /// Makes this another automaton, in the same memory; panics as [`new`](Self::new) does.
    pub fn rebuild(&mut self, incoming: usize, modifiers: usize, table: &[f64]) {
        assert_eq!(table.len(), incoming.max(1) * pairs_below(modifiers + 2), "scores of a head automaton");
        (self.incoming, self.modifiers) = (incoming, modifiers);
        self.table.clear();
        self.table.extend_from_slice(table);
    }

    fn rows(&self, g: usize) -> &[f64] {
        let size = pairs_below(self.modifiers + 2);
        &self.table[g * size..(g + 1) * size]
    }

    /// The best value of each prefix of modifiers that ends with modifier j, all but the incoming arc's own score.
    fn prefixes(&self, g: usize, scores: &[f64], values: &mut [f64]) -> f64 {
        let rows = self.rows(g);
        values[0] = 0.0;
        for j in 1..=self.modifiers {
            let start = pairs_below(j);
            values[j] =
                scores[self.incoming + j - 1] + maximum_of_sums(&values[..j], &rows[start..start + j]);
        }
        let end = self.modifiers + 1;
        maximum_of_sums(&values[..end], &rows[pairs_below(end)..])
    }
}

impl Oracle for GrandSiblings {
    type Configuration = Vec<u32>;
    type Workspace = Vec<f64>;

    fn links(&self) -> usize {
        self.incoming + self.modifiers
    }

    fn maximize(&self, scores: &[f64], workspace: &mut Vec<f64>, best: &mut Vec<u32>) -> f64 {
        let width = self.modifiers + 1;
        workspace.clear();
        workspace.resize(2 * width, 0.0);
        let (current, kept) = workspace.split_at_mut(width);
        let (mut value, mut choice, mut end) = (f64::NEG_INFINITY, 0, f64::NEG_INFINITY);
        for g in 0..self.incoming.max(1) {
            let last = self.prefixes(g, scores, current);
            let own = if self.incoming > 0 { scores[g] } else { 0.0 };
            if last + own > value {
                (value, choice, end) = (last + own, g, last);
                kept.copy_from_slice(current);
            }
        }
        best.clear();
        if value == f64::NEG_INFINITY {
            return value;
        }
        let rows = self.rows(choice);
        let mut j = self.modifiers + 1;
        let mut maximum = end;
        while j > 0 {
            let start = pairs_below(j);
            j = place_of_sum(&kept[..j], &rows[start..start + j], maximum);
            if j > 0 {
                let link = self.incoming + j - 1;
                best.push(link as u32);
                let start = pairs_below(j);
                maximum = maximum_of_sums(&kept[..j], &rows[start..start + j]);
            }
        }
        if self.incoming > 0 {
            best.push(choice as u32);
        }
        best.reverse();
        self.score(scores, best)
    }

    fn score(&self, scores: &[f64], links: &Vec<u32>) -> f64 {
        let (g, outgoing) = match links.split_first() {
            Some((&g, outgoing)) if self.incoming > 0 => (g as usize, outgoing),
            _ => (0, &links[..]),
        };
        let rows = self.rows(g);
        let mut value = if self.incoming > 0 { scores[g] } else { 0.0 };
        let mut back = 0;
        for &link in outgoing {
            let j = link as usize + 1 - self.incoming;
            value += scores[link as usize] + rows[pairs_below(j) + back];
            back = j;
        }
        value + rows[pairs_below(self.modifiers + 1) + back]
    }

    fn add_marginals(&self, links: &Vec<u32>, weight: f64, marginals: &mut [f64]) {
        links.iter().for_each(|&link| marginals[link as usize] += weight);
    }

    fn overlap(&self, a: &Vec<u32>, b: &Vec<u32>) -> usize {
        overlap(a, b)
    }
}
