//! Top parts of a tree within a budget: sentence compression and its relatives.

use std::ops::Range;

use super::Oracle;
use super::lanes::raise;
use super::subset::Subset;
use crate::model::{ModelError, check_index, check_length};

const FACTOR: &str = "tree with budget";
/// The most cells of the dynamic program: 1 GiB of them.
const MOST_CELLS: usize = 1 << 27;
/// No node, where a node could stand.
const NONE: u32 = u32::MAX;

/// A factor that selects nodes of a tree or forest: a node only together with its parent, and within a limit
/// on the total length of the selected nodes. Nothing selected is a valid selection.
///
/// The links are the nodes. In a tree the selection is a connected top part, or nothing; in a forest, one
/// such part of each tree. Without a budget this is the tree of sentence compression, solved in linear time.
/// With one it is a knapsack along the tree in depth-first order: a node is taken and the next one decided
/// on, or its whole subtree is skipped (O(nodes × budget), as in the budgeted compression of Almeida &
/// Martins 2013). The knapsack is only solved when the best selection without a budget exceeds it.
///
/// ```
/// use consonant_map::oracle::{Oracle, tree_budget::BudgetedTree};
///
/// // Node 0 has the children 1 and 2; each node has length 1, and two of them fit.
/// let tree = BudgetedTree::new(&[None, Some(0), Some(0)], &[1, 1, 1], 2)?;
/// let mut best = Default::default();
/// let value = tree.maximize(&[-1.0, 2.0, 3.0], &mut Default::default(), &mut best);
/// assert_eq!((value, best.iter().collect::<Vec<_>>()), (2.0, vec![0, 2]));
/// # Ok::<(), consonant_map::ModelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct BudgetedTree {
    /// Depth-first, each node right before its descendants.
    order: Vec<Node>,
    budget: usize,
    /// Where the rows of the knapsack's table start, by the number of places left to decide on; the size of
    /// the table at the end. Empty if all nodes together fit the budget.
    rows: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    link: u32,
    /// The place of the parent, or none.
    parent: u32,
    /// The place after the last descendant.
    end: u32,
    length: usize,
}

/// Values of subtrees, and of the knapsack.
#[derive(Debug, Default)]
pub struct Workspace {
    gains: Vec<f64>,
    table: Vec<f64>,
}

impl BudgetedTree {
    /// Selections of total length at most `budget`. Roots have no parent; lengths and budget must not be
    /// negative.
    pub fn new(parents: &[Option<usize>], lengths: &[i64], budget: i64) -> Result<Self, ModelError> {
        check_length("the lengths of the nodes", lengths.len(), parents.len())?;
        let lengths = lengths
            .iter()
            .enumerate()
            .map(|(node, &length)| not_negative(length, || format!("the length of node {node}")))
            .collect::<Result<Vec<_>, _>>()?;
        let mut tree = Self { order: depth_first(parents, &lengths)?, budget: 0, rows: Vec::new() };
        tree.set_budget(budget)?;
        Ok(tree)
    }

    /// Selections of any length.
    pub fn unlimited(parents: &[Option<usize>]) -> Result<Self, ModelError> {
        Self::new(parents, &vec![0; parents.len()], 0)
    }

    /// The nodes that have a parent, with it.
    pub(crate) fn parents(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let with_parent = self.order.iter().filter(|node| node.parent != NONE);
        with_parent.map(|node| (node.link as usize, self.order[node.parent as usize].link as usize))
    }

    /// The length of each node, and the limit on their sum.
    pub(crate) fn lengths(&self) -> (impl Iterator<Item = (usize, usize)> + Clone + '_, usize) {
        (self.order.iter().map(|node| (node.link as usize, node.length)), self.budget)
    }

    /// Changes the limit on the total length.
    pub fn set_budget(&mut self, budget: i64) -> Result<(), ModelError> {
        let budget = not_negative(budget, || "the budget".into())?;
        // A row has a cell for every budget up to what the places left could use.
        let (mut rows, mut rest) = (vec![0, 1usize], 0usize);
        for (left, node) in self.order.iter().rev().enumerate() {
            rest = rest.saturating_add(node.length);
            rows.push(rows[left + 1].saturating_add(rest.min(budget) + 1));
        }
        if rest <= budget {
            rows.clear();
        } else if rows[self.order.len() + 1] > MOST_CELLS {
            return Err(ModelError::too_large("nodes times budget of the tree with budget", MOST_CELLS));
        }
        (self.budget, self.rows) = (budget, rows);
        Ok(())
    }

    /// The best selection without a budget: a subtree is worth taking if its node and the subtrees worth
    /// taking below gain together. Returns its length.
    fn select_any(&self, scores: &[f64], gains: &mut Vec<f64>, best: &mut Subset) -> usize {
        gains.clear();
        gains.extend(self.order.iter().map(|node| scores[node.link as usize]));
        for (place, node) in self.order.iter().enumerate().rev() {
            if gains[place] > 0.0 && node.parent != NONE {
                gains[node.parent as usize] += gains[place];
            }
        }
        let (mut place, mut used) = (0, 0usize);
        while let Some(node) = self.order.get(place) {
            if gains[place] > 0.0 {
                best.insert(node.link as usize);
                used = used.saturating_add(node.length);
                place += 1;
            } else {
                place = node.end as usize;
            }
        }
        used
    }

    /// The best selection within the budget. Cell `b` of a place's row is the best value of that place and
    /// all later ones with `b` to spend, given that the parent is taken; the last cell holds for larger
    /// budgets, too.
    fn select_within_budget(&self, scores: &[f64], table: &mut Vec<f64>, best: &mut Subset) {
        table.resize(self.rows[self.rows.len() - 1], 0.0);
        table[0] = 0.0;
        for (place, node) in self.order.iter().enumerate().rev() {
            let (later, row) = table.split_at_mut(self.row(place).start);
            let row = &mut row[..self.row(place).len()];
            let (taken, skipped) = (&later[self.row(place + 1)], &later[self.row(node.end as usize)]);
            let (known, beyond) = row.split_at_mut(skipped.len());
            known.copy_from_slice(skipped);
            beyond.fill(skipped[skipped.len() - 1]);
            if let Some(affordable) = row.get_mut(node.length..) {
                raise(affordable, taken, scores[node.link as usize]);
            }
        }

        let (mut place, mut left) = (0, self.budget);
        while let Some(node) = self.order.get(place) {
            let value = |place: usize, budget: usize| {
                let row = &table[self.row(place)];
                row[budget.min(row.len() - 1)]
            };
            let skipped = value(node.end as usize, left);
            if left >= node.length
                && value(place + 1, left - node.length) + scores[node.link as usize] > skipped
            {
                best.insert(node.link as usize);
                left -= node.length;
                place += 1;
            } else {
                place = node.end as usize;
            }
        }
    }

    fn row(&self, place: usize) -> Range<usize> {
        let left = self.order.len() - place;
        self.rows[left]..self.rows[left + 1]
    }
}

fn not_negative(value: i64, what: impl FnOnce() -> String) -> Result<usize, ModelError> {
    usize::try_from(value).map_err(|_| ModelError::Negative { what: what(), value: value as f64 })
}

/// Each node right before its descendants, siblings in the order of their numbers. Refuses cycles.
fn depth_first(parents: &[Option<usize>], lengths: &[usize]) -> Result<Vec<Node>, ModelError> {
    let nodes = parents.len();
    if nodes == 0 {
        return Err(ModelError::Empty("the tree with budget".into()));
    }
    if nodes >= NONE as usize {
        return Err(ModelError::too_large("nodes of the tree with budget", NONE as usize));
    }
    // The children of each node as a linked list; the last entry lists the roots.
    let mut first_child = vec![NONE; nodes + 1];
    let mut sibling = vec![NONE; nodes];
    for (node, &parent) in parents.iter().enumerate().rev() {
        if let Some(parent) = parent {
            check_index("node of the tree with budget", parent, 0..nodes)?;
        }
        let list = &mut first_child[parent.unwrap_or(nodes)];
        sibling[node] = std::mem::replace(list, node as u32);
    }

    let mut order: Vec<Node> = Vec::with_capacity(nodes);
    let mut parent = NONE;
    let mut next = first_child[nodes];
    loop {
        if next != NONE {
            let link = next;
            next = first_child[link as usize];
            let place = order.len() as u32;
            order.push(Node { link, parent, end: NONE, length: lengths[link as usize] });
            parent = place;
        } else if parent != NONE {
            // All below the node are placed: go on with its sibling.
            let end = order.len() as u32;
            let node = &mut order[parent as usize];
            node.end = end;
            (parent, next) = (node.parent, sibling[node.link as usize]);
        } else {
            break;
        }
    }
    if order.len() < nodes {
        return Err(ModelError::Cycle { factor: FACTOR, node: node_on_cycle(parents, &order) });
    }
    Ok(order)
}

/// Given that some nodes hang from no root: going up from one of them for as many steps as there are nodes
/// ends on a cycle.
fn node_on_cycle(parents: &[Option<usize>], reached: &[Node]) -> usize {
    let mut is_reached = vec![false; parents.len()];
    reached.iter().for_each(|node| is_reached[node.link as usize] = true);
    let start = is_reached.iter().position(|reached| !reached).unwrap_or(0);
    (0..parents.len()).fold(start, |node, _| parents[node].unwrap_or(node))
}

impl Oracle for BudgetedTree {
    type Configuration = Subset;
    type Workspace = Workspace;

    fn links(&self) -> usize {
        self.order.len()
    }

    fn magnitude(&self) -> Option<f64> {
        Some(0.0)
    }

    fn maximize(&self, scores: &[f64], workspace: &mut Workspace, best: &mut Subset) -> f64 {
        best.reset(self.links());
        if self.select_any(scores, &mut workspace.gains, best) > self.budget {
            best.reset(self.links());
            self.select_within_budget(scores, &mut workspace.table, best);
        }
        self.score(scores, best)
    }

    fn score(&self, scores: &[f64], selection: &Subset) -> f64 {
        selection.iter().fold(0.0, |total, link| total + scores[link])
    }

    fn add_marginals(&self, selection: &Subset, weight: f64, marginals: &mut [f64]) {
        selection.iter().for_each(|link| marginals[link] += weight);
    }

    fn overlap(&self, a: &Subset, b: &Subset) -> usize {
        a.overlap(b)
    }
}
