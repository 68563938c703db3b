//! Maximum spanning arborescences: dependency trees over candidate arcs.

mod columns;
mod heaps;
mod lists;

use super::Oracle;
use crate::model::{ModelError, check_index};
use lists::{Lists, NONE};

/// With more nodes than this, sparse graphs are left to the heaps. Below it the columns win at any density:
/// one step in a heap costs as much as dozens of entries of a column.
const MANY_NODES: usize = 2000;

/// How many arcs may leave the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RootChildren {
    /// One or more.
    #[default]
    Any,
    /// Exactly one.
    One,
}

/// A factor whose configurations are the arborescences of a directed graph: every node but the root, node 0,
/// has one head, and following heads leads to the root.
///
/// The links are the candidate arcs, each from a head to a modifier. A configuration holds the chosen link of
/// modifier 1, 2, … . The best arborescence is found by contracting cycles along a growing path (Tarjan 1977;
/// Gabow, Galil, Spencer & Tarjan 1986), in O(n²), or in O(m log n) where few of very many arcs are
/// candidates. Calls are fastest when the links are sorted by modifier, then by head, as those of
/// [`complete`](Self::complete) are.
///
/// *One child of the root* is a lexicographic objective: as few root arcs as possible, then the best score.
/// An ever larger penalty on all root arcs leads to it (Gabow & Tarjan 1984; for dependency trees Zmigrod et
/// al. 2020), and in the limit the contraction simply takes a root arc into a node only when no other arc
/// enters. So the constraint costs no more than one further run, no precision is lost to a large constant,
/// and a second forced root arc proves that there is no such tree. The further run is skipped when the
/// unconstrained optimum has one root arc.
///
/// ```
/// use consonant_map::oracle::{Oracle, arborescence::{Arborescence, RootChildren}};
///
/// let arcs = [(0, 1), (0, 2), (1, 2), (2, 1)];
/// let tree = Arborescence::new(3, &arcs, RootChildren::One)?;
/// let mut best = Vec::new();
/// let value = tree.maximize(&[5.0, 4.0, 1.0, 1.0], &mut Default::default(), &mut best);
/// assert_eq!((value, tree.heads(&best).collect::<Vec<_>>()), (6.0, vec![0, 1]));
/// # Ok::<(), consonant_map::ModelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Arborescence {
    /// Head and modifier of each link.
    arcs: Vec<(u32, u32)>,
    root_children: RootChildren,
    /// Nothing where fewer arcs than nodes show that there is no arborescence: nodes without arcs could be
    /// any number.
    lists: Option<Lists>,
    has_heaps: bool,
}

/// Buffers of the two methods.
#[derive(Debug, Default)]
pub struct Workspace {
    scores: Vec<f64>,
    columns: columns::Workspace,
    heaps: heaps::Workspace,
}

impl Arborescence {
    /// Arborescences over `nodes` nodes, the root included, that use only the given arcs (head, modifier).
    ///
    /// A graph without any arborescence is no error here: its best value is minus infinity.
    pub fn new(
        nodes: usize,
        arcs: &[(usize, usize)],
        root_children: RootChildren,
    ) -> Result<Self, ModelError> {
        let mut own = Self::nothing();
        own.rebuild(nodes, arcs.iter().copied(), root_children)?;
        Ok(own)
    }

    /// Makes these the arborescences over other nodes and arcs, in the same memory. After an error they are
    /// no use.
    pub fn rebuild(
        &mut self,
        nodes: usize,
        arcs: impl IntoIterator<Item = (usize, usize)>,
        root_children: RootChildren,
    ) -> Result<(), ModelError> {
        self.fill(nodes, arcs, root_children, None)
    }

    /// Arborescences that may use every arc. The links are ordered by modifier, then by head: arcs 0→1, 2→1,
    /// …, 0→2, 1→2, 3→2, … .
    pub fn complete(nodes: usize, root_children: RootChildren) -> Result<Self, ModelError> {
        let mut own = Self::nothing();
        own.rebuild_complete(nodes, root_children)?;
        Ok(own)
    }

    /// Makes these the arborescences that may use every arc, in the same memory.
    pub fn rebuild_complete(&mut self, nodes: usize, root_children: RootChildren) -> Result<(), ModelError> {
        if nodes.checked_mul(nodes).is_none_or(|arcs| arcs >= NONE as usize) {
            return Err(too_large());
        }
        let arcs = (1..nodes).flat_map(|modifier| {
            (0..nodes).filter(move |&head| head != modifier).map(move |head| (head, modifier))
        });
        self.rebuild(nodes, arcs, root_children)
    }

    fn nothing() -> Self {
        let root_children = RootChildren::default();
        Self { arcs: Vec::new(), root_children, lists: None, has_heaps: false }
    }

    fn fill(
        &mut self,
        nodes: usize,
        arcs: impl IntoIterator<Item = (usize, usize)>,
        root_children: RootChildren,
        has_heaps: Option<bool>,
    ) -> Result<(), ModelError> {
        if nodes < 2 {
            return Err(ModelError::Empty("the arborescence besides its root".into()));
        }
        if nodes >= NONE as usize / 2 {
            return Err(too_large());
        }
        self.arcs.clear();
        for (link, (head, modifier)) in arcs.into_iter().enumerate() {
            check_index("node of the arborescence", head.max(modifier), 0..nodes)?;
            let reason = match (head, modifier) {
                (_, 0) => "enters the root: node 0 has no head",
                _ if head == modifier => "is a loop: a node cannot be its own head",
                _ => {
                    self.arcs.push((head as u32, modifier as u32));
                    continue;
                }
            };
            return Err(unfit(link, (head, modifier), reason));
        }
        let arcs = &self.arcs;
        if arcs.len() >= NONE as usize {
            return Err(too_large());
        }
        self.has_heaps =
            has_heaps.unwrap_or(nodes > MANY_NODES && arcs.len() < nodes.saturating_mul(nodes) / 8);
        let duplicate = |link: u32| {
            let (head, modifier) = arcs[link as usize];
            let arc = (head as usize, modifier as usize);
            unfit(link as usize, arc, "is given twice: merge the two links")
        };
        let mut lists = self.lists.take().unwrap_or_default();
        if arcs.len() >= nodes - 1 {
            lists.rebuild(nodes, arcs).map_err(duplicate)?;
            self.lists = Some(lists);
        }
        self.root_children = root_children;
        Ok(())
    }

    /// Head and modifier of each link.
    pub fn arcs(&self) -> &[(u32, u32)] {
        &self.arcs
    }

    /// The heads of nodes 1, 2, … in a configuration.
    pub fn heads<'a>(&'a self, configuration: &'a [u32]) -> impl Iterator<Item = usize> + 'a {
        configuration.iter().map(|&link| self.arcs[link as usize].0 as usize)
    }

    /// Writes the links of the best arborescence; false if there is none.
    fn search(&self, scores: &[f64], workspace: &mut Workspace, best: &mut Vec<u32>) -> bool {
        let Some(lists) = &self.lists else { return false };
        let Workspace { scores: buffer, columns, heaps } = workspace;
        let scores = lists.sort(scores, buffer);
        let mut contract = |root_last: bool, best: &mut Vec<u32>| match self.has_heaps {
            false => columns::maximize(lists, scores, root_last, columns, best),
            true => heaps::maximize(lists, scores, root_last, heaps, best),
        };
        let is_found = contract(false, best);
        if is_found && self.root_children == RootChildren::One {
            let root_arcs = self.heads(best).filter(|&head| head == 0).count();
            return root_arcs == 1 || contract(true, best);
        }
        is_found
    }
}

fn too_large() -> ModelError {
    ModelError::too_large("links of the arborescence", NONE as usize)
}

fn unfit(link: usize, (head, modifier): (usize, usize), reason: &str) -> ModelError {
    ModelError::unfit(format_args!("arc {link} ({head} -> {modifier}) of the arborescence"), reason)
}

impl Oracle for Arborescence {
    type Configuration = Vec<u32>;
    type Workspace = Workspace;

    fn links(&self) -> usize {
        self.arcs.len()
    }

    fn magnitude(&self) -> Option<f64> {
        Some(0.0)
    }

    fn maximize(&self, scores: &[f64], workspace: &mut Workspace, best: &mut Vec<u32>) -> f64 {
        if !self.search(scores, workspace, best) {
            best.clear();
            return f64::NEG_INFINITY;
        }
        self.score(scores, best)
    }

    fn score(&self, scores: &[f64], links: &Vec<u32>) -> f64 {
        links.iter().map(|&link| scores[link as usize]).sum()
    }

    fn add_marginals(&self, links: &Vec<u32>, weight: f64, marginals: &mut [f64]) {
        for &link in links {
            marginals[link as usize] += weight;
        }
    }

    fn overlap(&self, a: &Vec<u32>, b: &Vec<u32>) -> usize {
        a.iter().zip(b).filter(|(a, b)| a == b).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in 0..limit, by a linear congruence.
    fn random(seed: &mut u64, limit: u64) -> u64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) % limit
    }

    fn value(nodes: usize, arcs: &[(usize, usize)], scores: &[f64], one: RootChildren, heaps: bool) -> f64 {
        let mut oracle = Arborescence::nothing();
        oracle.fill(nodes, arcs.iter().copied(), one, Some(heaps)).unwrap();
        let mut best = Vec::new();
        let value = oracle.maximize(scores, &mut Workspace::default(), &mut best);
        if value > f64::NEG_INFINITY {
            // Following heads from any node must reach the root.
            let heads: Vec<_> = std::iter::once(0).chain(oracle.heads(&best)).collect();
            for start in 1..nodes {
                let end = (0..nodes).fold(start, |node, _| heads[node]);
                assert_eq!(end, 0, "no tree: {heads:?}");
                assert_eq!(arcs[best[start - 1] as usize].1, start);
            }
        }
        value
    }

    #[test]
    fn both_methods_agree_on_larger_graphs() {
        let mut seed = 7;
        for round in 0..300 {
            let nodes = 2 + random(&mut seed, 40) as usize;
            let percent = [100, 60, 20, 8][round % 4];
            let grain = [3, 1_000_000][round / 4 % 2];
            let mut arcs = Vec::new();
            for modifier in 1..nodes {
                for head in (0..nodes).filter(|&head| head != modifier) {
                    if random(&mut seed, 100) < percent {
                        arcs.push((head, modifier));
                    }
                }
            }
            let scores: Vec<_> =
                arcs.iter().map(|_| random(&mut seed, grain) as f64 / grain as f64 * 8.0).collect();
            for one in [RootChildren::Any, RootChildren::One] {
                let [a, b] = [false, true].map(|heaps| value(nodes, &arcs, &scores, one, heaps));
                assert!(a == b || (a - b).abs() < 1e-9 * a.abs(), "{a} and {b}");
            }

            // One child of the root: the best over all choices of that child.
            let best = (1..nodes)
                .map(|child| {
                    let kept = |link: &usize| arcs[*link].0 > 0 || arcs[*link].1 == child;
                    let links: Vec<_> = (0..arcs.len()).filter(kept).collect();
                    let arcs: Vec<_> = links.iter().map(|&link| arcs[link]).collect();
                    let scores: Vec<_> = links.iter().map(|&link| scores[link]).collect();
                    value(nodes, &arcs, &scores, RootChildren::Any, false)
                })
                .fold(f64::NEG_INFINITY, f64::max);
            let found = value(nodes, &arcs, &scores, RootChildren::One, true);
            assert!(found == best || (found - best).abs() < 1e-9 * best.abs(), "{found} and {best}");
        }
    }

    /// Each node prefers the one just before it, which makes the contractions nest as deep as they can.
    #[test]
    fn nested_cycles_are_contracted_and_opened() {
        let nodes = 60;
        let mut arcs = vec![(0, 1)];
        let mut scores = vec![0.0];
        for node in 2..nodes {
            arcs.extend([(node, node - 1), (node - 1, node), (node, 1)]);
            scores.extend([1.0, 1.0, 1.0 - 0.01 * node as f64]);
        }
        arcs.remove(3);
        scores.remove(3);
        for heaps in [false, true] {
            assert_eq!(value(nodes, &arcs, &scores, RootChildren::One, heaps), (nodes - 2) as f64);
        }
    }
}
