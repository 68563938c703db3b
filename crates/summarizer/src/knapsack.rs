//! The best compressions of several sentences that fit a budget together: one table for each sentence, and a knapsack over
//! them. Exact, in time O(units × budget + words × budget).

use crate::problem::Problem;
use crate::tree::BudgetTable;

/// Linear scores: of units, of units as leads, and of sentences.
#[derive(Debug, Clone, Default)]
pub struct LinearScores {
    /// For each unit, when it is chosen.
    pub units: Vec<f64>,
    /// For each unit, when it leads; minus infinity for units that may not.
    pub leads: Vec<f64>,
    /// For each sentence, when anything of it is chosen.
    pub sentences: Vec<f64>,
}

/// Tables that are reused from one problem to the next.
#[derive(Debug, Default)]
pub struct Knapsack {
    tables: Vec<BudgetTable>,
    best: Vec<f64>,
    next: Vec<f64>,
    /// For each sentence and total budget, the words that the sentence gets.
    shares: Vec<u16>,
}

impl Knapsack {
    /// Chooses compressions of the given sentences with the greatest total score within the problem's budget of words; returns
    /// that score. All other sentences stay out.
    pub fn fit(
        &mut self,
        problem: &Problem,
        scores: &LinearScores,
        sentences: &[usize],
        chosen: &mut [bool],
    ) -> f64 {
        // Budgets beyond the text change nothing.
        let budget = problem.words.min(problem.total_length()).min(usize::from(u16::MAX));
        let width = budget + 1;
        self.tables.resize_with(self.tables.len().max(sentences.len()), BudgetTable::default);
        self.best.clear();
        self.best.resize(width, 0.0);
        self.shares.clear();
        self.shares.resize(width * sentences.len(), 0);
        for (index, &sentence) in sentences.iter().enumerate() {
            let range = problem.units_of(sentence);
            let table = &mut self.tables[index];
            table.fill(
                &problem.units[range.clone()],
                &scores.units[range.clone()],
                &scores.leads[range],
                scores.sentences[sentence],
                budget,
            );
            if table.values.last().is_none_or(|&best| best <= 0.0) {
                continue;
            }
            self.next.clear();
            self.next.extend_from_slice(&self.best);
            let shares = &mut self.shares[index * width..][..width];
            for own in 1..table.values.len() {
                let value = table.values[own];
                if value <= table.values[own - 1] {
                    continue;
                }
                let targets = self.next[own..].iter_mut().zip(&mut shares[own..]);
                for ((next, share), &before) in targets.zip(&self.best) {
                    let total = before + value;
                    let better = total > *next;
                    *next = if better { total } else { *next };
                    *share = if better { own as u16 } else { *share };
                }
            }
            std::mem::swap(&mut self.best, &mut self.next);
        }
        chosen.fill(false);
        let mut left = budget;
        for (index, &sentence) in sentences.iter().enumerate().rev() {
            let own = usize::from(self.shares[index * width + left]);
            if own > 0 {
                left -= own;
                let range = problem.units_of(sentence);
                let tree = &problem.units[range.clone()];
                self.tables[index].choose(tree, &scores.units[range.clone()], own, &mut chosen[range]);
            }
        }
        self.best[budget]
    }
}
