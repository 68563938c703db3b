//! The graph as an iterative solver sees it: groups of links one after the other, and for each slot the links
//! that meet there.

use crate::factor::{Closed, ClosedGroup};
use crate::flat::Refill;
use crate::group::Group;
use crate::model::{Graph, Literal};

/// Index arrays derived from a graph's structure; they stay valid while only scores change.
#[derive(Default)]
pub(crate) struct Layout {
    pub structure: u64,
    /// One exactly-one factor for each choice that no other factor makes consistent.
    implicit: ClosedGroup,
    /// Where each group's links begin in the flat arrays, and the end.
    pub group_start: Vec<usize>,
    /// `slot_links[slot_start[s]..slot_start[s + 1]]` are the links of slot s.
    pub slot_start: Vec<u32>,
    /// Link indices; the lowest bit says whether the link is negated.
    pub slot_links: Vec<u32>,
    /// For each link, its factor's index in the group.
    pub link_factor: Vec<u32>,
}

impl Layout {
    /// Makes this the layout of another graph, in the same memory.
    pub(crate) fn rebuild(&mut self, graph: &Graph) {
        let Layout { structure, implicit, group_start, slot_start, slot_links, link_factor } = self;
        *structure = graph.structure;
        implicit.clear();
        for variable in (0..graph.variables()).filter(|&v| !graph.covered[v]) {
            let slots = graph.first_slot[variable]..graph.first_slot[variable + 1];
            let literals: Vec<Literal> = slots.map(|slot| Literal::new(slot, false)).collect();
            implicit.push(Closed::ExactlyOne, &literals);
        }
        let implicit = &*implicit;
        let groups = || graph.groups.iter().map(|g| &**g).chain([implicit as &dyn Group]);
        group_start.clear();
        group_start.push(0);
        slot_start.refill(graph.slots() + 1, 0);
        for group in groups() {
            group_start.push(group_start[group_start.len() - 1] + group.links().len());
            for literal in group.links() {
                slot_start[literal.slot()] += 1;
            }
        }
        // Where each slot's links end; filled from the last to the first, these become where they begin.
        let mut total = 0;
        for end in slot_start.iter_mut() {
            total += *end;
            *end = total;
        }
        slot_links.refill(total as usize, 0);
        let last = group_start[group_start.len() - 1];
        let mut index = last as u32;
        for literal in groups().rev().flat_map(|group| group.links().iter().rev()) {
            index -= 1;
            let place = &mut slot_start[literal.slot()];
            *place -= 1;
            slot_links[*place as usize] = index << 1 | literal.is_negated() as u32;
        }
        link_factor.clear();
        for group in groups() {
            for (factor, range) in group.offsets().windows(2).enumerate() {
                link_factor.extend(std::iter::repeat_n(factor as u32, (range[1] - range[0]) as usize));
            }
        }
    }

    pub(crate) fn links(&self) -> usize {
        *self.group_start.last().expect("there is always an end")
    }

    /// The number of groups, the implicit one included.
    pub(crate) fn groups(&self) -> usize {
        self.group_start.len() - 1
    }

    /// A group of the graph, or, last, the implicit one.
    pub(crate) fn group<'a>(&'a self, graph: &'a Graph, group: usize) -> &'a (dyn Group + 'static) {
        match graph.groups.get(group) {
            Some(group) => &**group,
            None => &self.implicit,
        }
    }

    /// The links of a slot: index times two, plus one if negated.
    pub(crate) fn links_of(&self, slot: usize) -> &[u32] {
        &self.slot_links[self.slot_start[slot] as usize..self.slot_start[slot + 1] as usize]
    }

    pub(crate) fn degree(&self, slot: usize) -> usize {
        self.links_of(slot).len()
    }
}
