//! What is left of a problem as a factor graph, for AD3.

use std::ops::Range;

use consonant_map::oracle::arborescence::RootChildren;
use consonant_map::oracle::sequence::Sequence;
use consonant_map::{Binary, FactorId, Graph};

use super::core::{Automaton, Core};
use super::dual::{CHAIN, INCOMING, OUTGOING, SIBLINGS, TREE, arcs_of};
use super::tree::Nodes;
use crate::ParserError;
use crate::automaton::Head;

/// A link of a factor: which kind of factor looks at the arc, and the arc (for pairs of siblings, the place among their links).
pub(crate) type Link = (usize, u32);

/// The factor graph of one core after the other, in the same memory: a binary variable for each arc.
#[derive(Default)]
pub(crate) struct CoreGraph {
    pub graph: Graph,
    /// All factors, and where their links stand among all.
    factors: Vec<(FactorId, Range<usize>)>,
    links: Vec<Link>,
    arcs: Vec<Binary>,
    states: Vec<usize>,
    /// For each node, whether it may be in a cycle, and its number among those.
    cyclic: Vec<u32>,
}

impl CoreGraph {
    /// The factors with their links.
    pub(crate) fn factors(&self) -> impl Iterator<Item = (FactorId, &[Link])> {
        self.factors.iter().map(|(id, range)| (*id, &self.links[range.clone()]))
    }

    pub(crate) fn rebuild(&mut self, core: &Core) -> Result<(), ParserError> {
        self.graph.clear();
        self.factors.clear();
        self.links.clear();
        self.arcs.clear();
        for &score in &core.scores {
            self.arcs.push(self.graph.binary(score)?);
        }
        self.add_tree(&core.nodes)?;
        for Automaton { head, links, incoming } in core.automata() {
            let mut own: Head = self.graph.spare_oracle().unwrap_or_default();
            own.copy(head);
            let id = self.graph.oracle(own, links.iter().map(|&arc| self.arcs[arc as usize]))?;
            let kind = |link: usize| if link < *incoming { INCOMING } else { OUTGOING };
            self.add(id, links.iter().enumerate().map(|(link, &arc)| (kind(link), arc)));
        }
        for (at, pair) in core.siblings().iter().enumerate() {
            let [a, b] = pair.arcs.map(|arc| self.arcs[arc as usize]);
            let id = self.graph.pair(a, b, pair.score)?;
            self.add(id, [2 * at, 2 * at + 1].into_iter().map(|link| (SIBLINGS, link as u32)));
        }
        for chain in core.chains() {
            self.states.clear();
            self.states.extend(chain.nodes.clone().map(|node| core.nodes.arcs_into(node).len()));
            let mut pairs = self.graph.spare_oracle().map_or_else(Vec::new, Sequence::into_pairs);
            pairs.clear();
            pairs.extend_from_slice(core.pairs(chain));
            let arcs = arcs_of(core, chain);
            let sequence = Sequence::first_order(&self.states, pairs)?;
            let id = self.graph.oracle(sequence, self.arcs[arcs.clone()].iter().copied())?;
            self.add(id, arcs.map(|arc| (CHAIN, arc as u32)));
        }
        Ok(())
    }

    fn add(&mut self, id: FactorId, links: impl Iterator<Item = Link>) {
        let start = self.links.len();
        self.links.extend(links);
        self.factors.push((id, start..self.links.len()));
    }

    /// One head each for nodes that are in no cycle whatever is chosen, and a tree over the others, on which the
    /// former are as good as the root. Where one child of the root is still to be found, a tree over all.
    fn add_tree(&mut self, nodes: &Nodes) -> Result<(), ParserError> {
        let is_one = nodes.root_children == RootChildren::One;
        self.find_cyclic(nodes, is_one);
        let mut tree: Nodes = self.graph.spare_oracle().unwrap_or_default();
        tree.clear();
        tree.root_children = nodes.root_children;
        let start = self.links.len();
        for node in (1..=nodes.len()).filter(|&node| self.cyclic[node] > 0) {
            self.links.extend(nodes.arcs_into(node).map(|arc| (TREE, arc as u32)));
            let head = |arc: usize| self.cyclic[nodes.heads[arc] as usize];
            tree.heads.extend(nodes.arcs_into(node).map(head));
            tree.close();
        }
        if tree.len() > 0 {
            let links = self.links[start..].iter();
            let id = self.graph.oracle(tree, links.map(|&(_, arc)| self.arcs[arc as usize]))?;
            self.factors.push((id, start..self.links.len()));
        }
        for node in 1..=nodes.len() {
            if self.cyclic[node] > 0 {
                continue;
            }
            let arcs = nodes.arcs_into(node);
            let id = self.graph.exactly_one(self.arcs[arcs.clone()].iter().copied())?;
            self.add(id, arcs.map(|arc| (TREE, arc as u32)));
        }
        Ok(())
    }

    /// Numbers the nodes that are left when those go, again and again, that have no head or no modifier among
    /// the others; all if all are wanted.
    fn find_cyclic(&mut self, nodes: &Nodes, is_all: bool) {
        self.cyclic.clear();
        self.cyclic.resize(nodes.len() + 1, 1);
        self.cyclic[0] = 0;
        let mut is_changed = !is_all;
        while is_changed {
            is_changed = false;
            // 1: there; 2: there, and the head of another. One whose modifier goes later is found next time.
            for node in 1..=nodes.len() {
                if self.cyclic[node] == 0 {
                    continue;
                }
                let mut has_head = false;
                for arc in nodes.arcs_into(node) {
                    let head = nodes.heads[arc] as usize;
                    if self.cyclic[head] > 0 {
                        has_head = true;
                        self.cyclic[head] = 2;
                    }
                }
                if !has_head {
                    self.cyclic[node] = 0;
                    is_changed = true;
                }
            }
            for own in &mut self.cyclic {
                match *own {
                    2 => *own = 1,
                    1 => {
                        *own = 0;
                        is_changed = true;
                    }
                    _ => {}
                }
            }
        }
        let mut number = 0;
        for own in self.cyclic.iter_mut().filter(|own| **own > 0) {
            number += 1;
            *own = number;
        }
    }
}
