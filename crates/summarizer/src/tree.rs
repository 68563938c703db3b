//! The compressions of one sentence: the best one by dynamic programming, free or within a budget.

use consonant_map::oracle::Oracle;
use consonant_map::oracle::subset::Subset;

use crate::problem::{NONE, Unit};

/// A factor over one sentence that allows exactly its compressions.
///
/// The links are: whether anything is chosen, each unit, and, for each unit that may lead, whether it does.
/// The best compression takes linear time: a subtree is worth what its top and the subtrees below that gain
/// are worth, and the best of the tops that may lead is taken.
#[derive(Debug, Clone)]
pub struct CompressionTree {
    units: Vec<Unit>,
    leads: Vec<u32>,
}

impl CompressionTree {
    /// For the units of a sentence, in depth-first order.
    pub fn new(units: &[Unit]) -> Self {
        let leads = (1..units.len() as u32).filter(|&unit| units[unit as usize].may_lead).collect();
        CompressionTree { units: units.to_vec(), leads }
    }

    /// The units that may lead besides the root, in the order of their links.
    pub fn leads(&self) -> &[u32] {
        &self.leads
    }

    fn gains(&self, scores: &[f64], gains: &mut Vec<f64>) {
        gains.clear();
        gains.extend_from_slice(&scores[1..=self.units.len()]);
        for unit in (1..self.units.len()).rev() {
            if gains[unit] > 0.0 || !self.units[unit].deletable {
                gains[self.units[unit].parent as usize] += gains[unit];
            }
        }
    }
}

impl Oracle for CompressionTree {
    type Configuration = Subset;
    type Workspace = Vec<f64>;

    fn links(&self) -> usize {
        1 + self.units.len() + self.leads.len()
    }

    fn maximize(&self, scores: &[f64], gains: &mut Vec<f64>, best: &mut Subset) -> f64 {
        best.reset(self.links());
        self.gains(scores, gains);
        let (mut top, mut lead, mut value) = (0, NONE, gains[0]);
        for (index, &unit) in self.leads.iter().enumerate() {
            let link = 1 + self.units.len() + index;
            let with_lead = gains[unit as usize] + scores[link];
            if with_lead > value {
                (top, lead, value) = (unit as usize, link as u32, with_lead);
            }
        }
        if value + scores[0] <= 0.0 {
            return 0.0;
        }
        best.insert(0);
        best.insert(1 + top);
        if lead != NONE {
            best.insert(lead as usize);
        }
        let mut unit = top + 1;
        while unit < self.units[top].end as usize {
            if gains[unit] > 0.0 || !self.units[unit].deletable {
                best.insert(1 + unit);
                unit += 1;
            } else {
                unit = self.units[unit].end as usize;
            }
        }
        self.score(scores, best)
    }

    fn score(&self, scores: &[f64], configuration: &Subset) -> f64 {
        configuration.iter().fold(0.0, |total, link| total + scores[link])
    }

    fn add_marginals(&self, configuration: &Subset, weight: f64, marginals: &mut [f64]) {
        configuration.iter().for_each(|link| marginals[link] += weight);
    }

    fn overlap(&self, a: &Subset, b: &Subset) -> usize {
        a.overlap(b)
    }
}

/// The best compressions of one sentence for every budget, by a knapsack along the tree: a unit is taken and
/// the next one decided on, or its subtree is skipped. O(units × budget) for each unit that may lead.
#[derive(Debug, Default)]
pub struct BudgetTable {
    /// The best value for each budget, the empty compression aside; the last holds for all larger ones.
    pub values: Vec<f64>,
    tops: Vec<Top>,
    cells: Vec<f64>,
    choice: Vec<u32>,
    width: usize,
}

#[derive(Debug, Clone, Copy)]
struct Top {
    unit: usize,
    /// Where the rows of the units below begin.
    first_cell: usize,
}

impl BudgetTable {
    /// Fills the table. `units` and `leads` are the linear scores of the sentence's units; `sentence` counts
    /// once.
    pub fn fill(&mut self, tree: &[Unit], units: &[f64], leads: &[f64], sentence: f64, budget: usize) {
        let length: usize = tree.iter().map(|unit| unit.length as usize).sum();
        let width = length.min(budget) + 1;
        self.width = width;
        self.values.clear();
        self.values.resize(width, f64::NEG_INFINITY);
        self.choice.clear();
        self.choice.resize(width, NONE);
        self.tops.clear();
        self.cells.clear();
        for top in (0..tree.len()).filter(|&unit| unit == 0 || tree[unit].may_lead) {
            let end = tree[top].end as usize;
            let first_cell = self.cells.len();
            // One row for each unit below the top, and one of zeros after the last.
            self.cells.resize(first_cell + (end - top) * width, 0.0);
            for unit in (top + 1..end).rev() {
                let (row, later) = self.cells[first_cell + (unit - top - 1) * width..].split_at_mut(width);
                let taken = &later[..width];
                let skipped = &later[(tree[unit].end as usize - unit - 1) * width..][..width];
                let (length, score) = (tree[unit].length as usize, units[unit]);
                let (short, long) = row.split_at_mut(length.min(width));
                if tree[unit].deletable {
                    short.copy_from_slice(&skipped[..short.len()]);
                    for ((best, &taken), &skipped) in long.iter_mut().zip(taken).zip(&skipped[short.len()..])
                    {
                        let value = taken + score;
                        *best = if value > skipped { value } else { skipped };
                    }
                } else {
                    short.fill(f64::NEG_INFINITY);
                    for (best, &taken) in long.iter_mut().zip(taken) {
                        *best = taken + score;
                    }
                }
            }
            let own = sentence + units[top] + if top > 0 { leads[top] } else { 0.0 };
            let best = self.values.iter_mut().zip(&mut self.choice).skip(tree[top].length as usize);
            for ((best, choice), below) in best.zip(&self.cells[first_cell..]) {
                if below + own > *best {
                    (*best, *choice) = (below + own, self.tops.len() as u32);
                }
            }
            self.tops.push(Top { unit: top, first_cell });
        }
    }

    /// Writes the best compression within a budget; nothing, if none fits.
    pub fn choose(&self, tree: &[Unit], units: &[f64], budget: usize, chosen: &mut [bool]) {
        chosen.fill(false);
        let mut left = budget.min(self.width - 1);
        if self.choice[left] == NONE {
            return;
        }
        let Top { unit: top, first_cell } = self.tops[self.choice[left] as usize];
        chosen[top] = true;
        left -= tree[top].length as usize;
        let cell =
            |unit: usize, budget: usize| self.cells[first_cell + (unit - top - 1) * self.width + budget];
        let mut unit = top + 1;
        while unit < tree[top].end as usize {
            let Unit { length, end, deletable, .. } = tree[unit];
            let (length, end) = (length as usize, end as usize);
            let taken = left >= length
                && (!deletable || cell(unit + 1, left - length) + units[unit] > cell(end, left));
            if taken {
                chosen[unit] = true;
                left -= length;
                unit += 1;
            } else {
                unit = end;
            }
        }
    }
}
