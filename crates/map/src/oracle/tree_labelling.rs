//! Trees and forests of multi-valued variables.

use std::ops::Range;

use super::Oracle;
use super::lanes::{first_best, first_maximum, largest, max_plus, maximum_of_sums};
use crate::flat::Refill;
use crate::model::{ModelError, check_index, check_length, check_scores, link_offsets};

const FACTOR: &str = "tree labelling";
/// No node, where a node could stand.
const NONE: u32 = u32::MAX;

/// A factor that gives every node of a tree or forest one state, with scores for the states at the ends of
/// each edge.
///
/// The links are the states of node 0, then those of node 1, and so on; their scores are the scores of the
/// nodes. A configuration holds the state of each node. The best labelling is found by max-sum messages from
/// the leaves to the root of each tree, in time linear in the total size of the edge tables.
///
/// ```
/// use consonant_map::oracle::{Oracle, tree_labelling::TreeLabelling};
///
/// // A star of three nodes around node 0; an edge earns 1 when its ends differ.
/// let differ = [0.0, 1.0, 1.0, 0.0];
/// let star = TreeLabelling::new(&[2; 4], &[(0, 1), (0, 2), (3, 0)], &differ.repeat(3))?;
/// let mut best = Vec::new();
/// let scores = [0.0, 0.0, 0.5, 0.0, 0.5, 0.0, 0.0, 0.0];
/// assert_eq!(star.maximize(&scores, &mut Default::default(), &mut best), 4.0);
/// assert_eq!(best, [1, 0, 0, 0]);
/// # Ok::<(), consonant_map::ModelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct TreeLabelling {
    /// The first link of each node; the number of links at the end.
    offsets: Box<[u32]>,
    /// The nodes, each after its parent, children of one parent in a row.
    order: Vec<Node>,
    edges: Vec<Edge>,
    /// The edge tables, with a row for each state of the child and a column for each state of the parent.
    tables: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    node: u32,
    /// The place of the parent in `order`, or none.
    parent: u32,
    /// Where the table of the edge to the parent starts.
    table: usize,
    /// Where the message to the parent starts.
    message: usize,
}

/// Where an edge of the caller went.
#[derive(Debug, Clone, Copy)]
struct Edge {
    /// The place in `order` of its lower end.
    lower: u32,
    /// Whether the caller's table has a row for each state of the parent.
    parent_first: bool,
}

/// Sums and messages of the nodes.
#[derive(Debug, Default)]
pub struct Workspace {
    /// For each link, its score and the messages of the children.
    inside: Vec<f64>,
    /// For each node, one value for each state of its parent.
    messages: Vec<f64>,
    /// For each message, the sum of everything else that the parent knows.
    others: Vec<f64>,
    around: Vec<f64>,
}

impl TreeLabelling {
    /// A forest over nodes with the given numbers of states. `tables` holds one table for each edge, one
    /// after the other, with a row for each state of the edge's first node and a column for each of its
    /// second; minus infinity forbids a pair of states. Edges may be given in any order and direction.
    pub fn new(states: &[usize], edges: &[(usize, usize)], tables: &[f64]) -> Result<Self, ModelError> {
        if states.is_empty() {
            return Err(ModelError::Empty("the tree".into()));
        }
        let offsets = link_offsets(FACTOR, states.iter().copied())?;
        let mut expected = 0usize;
        for &(a, b) in edges {
            check_index("node of the tree", a.max(b), 0..states.len())?;
            let size = states[a].checked_mul(states[b]).and_then(|size| size.checked_add(expected));
            expected =
                size.ok_or_else(|| ModelError::too_large("entries of the tree's tables", usize::MAX))?;
        }
        check_length("the edge tables of the tree", tables.len(), expected)?;

        let (order, edges) = orient(states, edges)?;
        let mut factor = Self { offsets, order, edges, tables: vec![0.0; expected] };
        let mut rest = tables;
        for edge in 0..factor.edges.len() {
            let (table, others) = rest.split_at(factor.table_of(factor.edges[edge].lower as usize).len());
            factor.set_table(edge, table)?;
            rest = others;
        }
        Ok(factor)
    }

    /// Replaces the table of an edge, in the layout of [`new`](Self::new).
    pub fn set_table(&mut self, edge: usize, table: &[f64]) -> Result<(), ModelError> {
        check_index("edge of the tree", edge, 0..self.edges.len())?;
        let Edge { lower, parent_first } = self.edges[edge];
        let (start, size) = (self.order[lower as usize].table, self.table_of(lower as usize).len());
        check_length(format_args!("the table of edge {edge}"), table.len(), size)?;
        check_scores(format_args!("the table of edge {edge}"), table)?;
        let child_states = self.links_of(lower as usize).len();
        let stored = &mut self.tables[start..start + size];
        if parent_first {
            let parent_states = size / child_states;
            for (parent, row) in table.chunks_exact(child_states).enumerate() {
                for (child, &score) in row.iter().enumerate() {
                    stored[child * parent_states + parent] = score;
                }
            }
        } else {
            stored.copy_from_slice(table);
        }
        Ok(())
    }

    /// Writes, for each link, the best value of a labelling that switches it on; minus infinity if there is
    /// none.
    pub fn max_marginals(&self, scores: &[f64], workspace: &mut Workspace, marginals: &mut [f64]) {
        self.gather(scores, workspace);
        let Workspace { inside, messages, others, around } = workspace;
        // First the messages of the later siblings. Summing what is needed, instead of subtracting what is
        // not, keeps minus infinity exact.
        others.refill(messages.len(), 0.0);
        for pair in self.order.windows(2).rev().filter(|pair| pair[0].parent == pair[1].parent) {
            let (this, next) = (pair[0].message, pair[1].message);
            for state in 0..next - this {
                others[this + state] = others[next + state] + messages[next + state];
            }
        }
        // Then those of the earlier siblings and what lies around the parent. Until the end, the marginals
        // hold what lies around each node: all but its own score and its children.
        for (place, node) in self.order.iter().enumerate() {
            if place == 0 || self.order[place - 1].parent != node.parent {
                around.clear();
                if node.parent == NONE {
                    around.push(0.0);
                } else {
                    let parent = self.links_of(node.parent as usize);
                    around.extend(marginals[parent.clone()].iter().zip(&scores[parent]).map(|(a, b)| a + b));
                }
            }
            let message = node.message..node.message + around.len();
            add(&mut others[message.clone()], around);
            let (links, others) = (self.links_of(place), &others[message.clone()]);
            if node.parent == NONE {
                marginals[links].fill(others[0]);
            } else {
                let rows = self.table_of(place).chunks_exact(others.len());
                for (marginal, row) in marginals[links].iter_mut().zip(rows) {
                    *marginal = maximum_of_sums(row, others);
                }
            }
            add(around, &messages[message]);
        }
        add(marginals, inside);
    }

    /// Messages from the leaves to the roots.
    fn gather(&self, scores: &[f64], workspace: &mut Workspace) {
        let Workspace { inside, messages, .. } = workspace;
        inside.clear();
        inside.extend_from_slice(scores);
        messages.refill(self.order.iter().map(|node| self.width(node)).sum(), f64::NEG_INFINITY);
        for (place, node) in self.order.iter().enumerate().rev() {
            let message = &mut messages[node.message..][..self.width(node)];
            let links = self.links_of(place);
            if node.parent == NONE {
                message[0] = first_maximum(&inside[links]).1;
            } else {
                max_plus(message, self.table_of(place), message.len(), &inside[links]);
                add(&mut inside[self.links_of(node.parent as usize)], message);
            }
        }
    }

    /// The number of values in a node's message: one for each state of its parent. All roots send to the
    /// forest, which has one state.
    fn width(&self, node: &Node) -> usize {
        if node.parent == NONE { 1 } else { self.links_of(node.parent as usize).len() }
    }

    fn links_of(&self, place: usize) -> Range<usize> {
        let node = self.order[place].node as usize;
        self.offsets[node] as usize..self.offsets[node + 1] as usize
    }

    /// For every edge, the links of its lower and of its upper end, and its table with a row for each state
    /// of the lower.
    pub(crate) fn edge_tables(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>, &[f64])> {
        let edges = (0..self.order.len()).filter(|&place| self.order[place].parent != NONE);
        edges.map(|place| {
            (self.links_of(place), self.links_of(self.order[place].parent as usize), self.table_of(place))
        })
    }

    /// The scores of the edge from the node at `place` (rows) to its parent (columns).
    fn table_of(&self, place: usize) -> &[f64] {
        let node = &self.order[place];
        &self.tables[node.table..][..self.links_of(place).len() * self.width(node)]
    }

    /// The score of the edge from the node at `place` to its parent.
    fn edge_score(&self, place: usize, states: &[u32]) -> f64 {
        let node = &self.order[place];
        if node.parent == NONE {
            return 0.0;
        }
        let parent = self.order[node.parent as usize].node;
        let cell = states[node.node as usize] as usize * self.width(node) + states[parent as usize] as usize;
        self.tables[node.table + cell]
    }
}

fn add(sums: &mut [f64], values: &[f64]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}

/// Hangs every tree from its lowest node. Refuses cycles.
fn orient(states: &[usize], edges: &[(usize, usize)]) -> Result<(Vec<Node>, Vec<Edge>), ModelError> {
    let nodes = states.len();
    // The lowest node of each tree, by joining the ends of each edge.
    let mut tree: Vec<usize> = (0..nodes).collect();
    let mut degrees = vec![0usize; nodes + 1];
    for &(a, b) in edges {
        let (tree_a, tree_b) = (lowest(&mut tree, a), lowest(&mut tree, b));
        if tree_a == tree_b {
            return Err(ModelError::Cycle { factor: FACTOR, node: a });
        }
        tree[tree_a.max(tree_b)] = tree_a.min(tree_b);
        degrees[a] += 1;
        degrees[b] += 1;
    }

    // The edges of each node, one node after the other.
    let mut ends = degrees;
    for node in 1..=nodes {
        ends[node] += ends[node - 1];
    }
    let mut incident = vec![0usize; 2 * edges.len()];
    for (edge, &(a, b)) in edges.iter().enumerate().rev() {
        for node in [a, b] {
            ends[node] -= 1;
            incident[ends[node]] = edge;
        }
    }
    let starts = ends;

    // All roots, then breadth first, so that siblings stand in a row.
    let mut oriented = vec![Edge { lower: NONE, parent_first: false }; edges.len()];
    let (mut table, mut message) = (0, 0);
    let mut order = Vec::with_capacity(nodes);
    for node in (0..nodes).filter(|&node| tree[node] == node) {
        order.push(Node { node: node as u32, parent: NONE, table, message });
        message += 1;
    }
    let mut place = 0;
    while place < order.len() {
        let node = order[place].node as usize;
        for &edge in &incident[starts[node]..starts[node + 1]] {
            if oriented[edge].lower == NONE {
                let (a, b) = edges[edge];
                let child = a + b - node;
                oriented[edge] = Edge { lower: order.len() as u32, parent_first: a == node };
                order.push(Node { node: child as u32, parent: place as u32, table, message });
                table += states[child] * states[node];
                message += states[node];
            }
        }
        place += 1;
    }
    Ok((order, oriented))
}

/// The lowest node of a node's tree, by halving the way there.
fn lowest(tree: &mut [usize], mut node: usize) -> usize {
    while tree[node] != node {
        tree[node] = tree[tree[node]];
        node = tree[node];
    }
    node
}

impl Oracle for TreeLabelling {
    type Configuration = Vec<u32>;
    type Workspace = Workspace;

    fn links(&self) -> usize {
        self.offsets[self.order.len()] as usize
    }

    fn magnitude(&self) -> Option<f64> {
        Some(self.order.len() as f64 * largest(&self.tables))
    }

    fn maximize(&self, scores: &[f64], workspace: &mut Workspace, best: &mut Vec<u32>) -> f64 {
        self.gather(scores, workspace);
        best.refill(self.order.len(), 0);
        for (place, node) in self.order.iter().enumerate() {
            let inside = &workspace.inside[self.links_of(place)];
            let state = if node.parent == NONE {
                first_maximum(inside).0
            } else {
                let parent = self.order[node.parent as usize].node;
                let (parent_state, width) = (best[parent as usize] as usize, self.width(node));
                let table = self.table_of(place);
                first_best(inside.len(), |state| inside[state] + table[state * width + parent_state])
            };
            best[node.node as usize] = state as u32;
        }
        self.score(scores, best)
    }

    fn score(&self, scores: &[f64], states: &Vec<u32>) -> f64 {
        let nodes =
            states.iter().zip(&self.offsets).map(|(&state, &offset)| scores[(offset + state) as usize]);
        let edges = (0..self.order.len()).map(|place| self.edge_score(place, states));
        nodes.chain(edges).sum()
    }

    fn add_marginals(&self, states: &Vec<u32>, weight: f64, marginals: &mut [f64]) {
        for (&state, &offset) in states.iter().zip(&self.offsets) {
            marginals[(offset + state) as usize] += weight;
        }
    }

    fn overlap(&self, a: &Vec<u32>, b: &Vec<u32>) -> usize {
        a.iter().zip(b).filter(|(a, b)| a == b).count()
    }
}
