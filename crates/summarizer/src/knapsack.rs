//! The best compressions of several sentences that fit a budget together: one table for each sentence, and a
//! knapsack over them. Exact, in time O(units × budget + words × budget).

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
    /// A row of totals by budget for no sentence, for the first, for the first two, and so on.
    totals: Vec<f64>,
    width: usize,
    sentences: usize,
}

impl Knapsack {
    /// Chooses compressions of the given sentences with the greatest total score within the problem's budget
    /// of words; returns that score. The first `required` sentences must be in: the total is minus infinity
    /// if they do not fit. All other sentences stay out.
    pub fn fit(
        &mut self,
        problem: &Problem,
        scores: &LinearScores,
        sentences: &[usize],
        required: usize,
        chosen: &mut [bool],
    ) -> f64 {
        // Budgets beyond the text change nothing.
        let budget = problem.words.min(problem.total_length());
        let width = budget + 1;
        (self.width, self.sentences) = (width, sentences.len());
        self.tables.resize_with(self.tables.len().max(sentences.len()), BudgetTable::default);
        self.totals.clear();
        self.totals.resize(width, 0.0);
        self.totals.resize(width * (sentences.len() + 1), f64::NEG_INFINITY);
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
            let (before, after) = self.totals[index * width..].split_at_mut(width);
            let after = &mut after[..width];
            if index >= required {
                after.copy_from_slice(before);
            }
            let mut last = if index < required { f64::NEG_INFINITY } else { 0.0 };
            for (words, &value) in table.values.iter().enumerate() {
                if value > last {
                    last = value;
                    for (after, &before) in after[words..].iter_mut().zip(&*before) {
                        let total = before + value;
                        *after = if total > *after { total } else { *after };
                    }
                }
            }
        }
        chosen.fill(false);
        let best = self.totals[sentences.len() * width + budget];
        if best > f64::NEG_INFINITY {
            self.trace_back(problem, scores, sentences, required, chosen);
        }
        best
    }

    fn trace_back(
        &self,
        problem: &Problem,
        scores: &LinearScores,
        sentences: &[usize],
        required: usize,
        chosen: &mut [bool],
    ) {
        let mut left = self.width - 1;
        for (index, &sentence) in sentences.iter().enumerate().rev() {
            let (before, after) = self.totals[index * self.width..].split_at(self.width);
            let total = after[left];
            if index >= required && total == before[left] {
                continue;
            }
            let values = &self.tables[index].values;
            let own = (0..values.len().min(left + 1)).find(|&own| before[left - own] + values[own] == total);
            let own = own.expect("a total comes from one of its summands");
            left -= own;
            let range = problem.units_of(sentence);
            let tree = &problem.units[range.clone()];
            self.tables[index].choose(tree, &scores.units[range.clone()], own, &mut chosen[range]);
        }
    }

    /// A bound, after a fit, on the total of what has the sentence at this index in it: as if the others
    /// could use the sentence once more. For sentences that stayed out it is hardly ever too high.
    pub fn total_with(&self, index: usize) -> f64 {
        let all = &self.totals[self.sentences * self.width..][..self.width];
        let rest = all.iter().rev();
        self.tables[index]
            .values
            .iter()
            .zip(rest)
            .fold(f64::NEG_INFINITY, |best, (value, rest)| best.max(value + rest))
    }
}
