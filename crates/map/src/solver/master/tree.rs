//! Spanning forests that carry the strongest pairs.

use super::find;
use crate::flat::{Refill, index};

/// Chooses a maximum spanning forest among offered pairs and walks it.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpanningTree {
    offers: Vec<Offer>,
    order: Vec<u32>,
    leader: Vec<u32>,
    chosen: Vec<bool>,
    /// Chosen pairs at each vertex: (neighbour, pair), in the order of `first`.
    first: Vec<u32>,
    links: Vec<(u32, u32)>,
    stack: Vec<(u32, Option<(u32, usize)>)>,
    visited: Vec<bool>,
}

#[derive(Clone, Copy, Debug)]
struct Offer {
    u: u32,
    v: u32,
    /// Classes in order of importance; any true one beats the strength.
    classes: [bool; 3],
    strength: f64,
}

impl SpanningTree {
    pub(crate) fn clear(&mut self) {
        self.offers.clear();
    }

    pub(crate) fn offer(&mut self, u: u32, v: u32, classes: [bool; 3], strength: f64) {
        self.offers.push(Offer { u, v, classes, strength });
    }

    /// Takes the strongest pairs that close no cycle (Kruskal).
    pub(crate) fn choose(&mut self, vertices: usize) {
        let SpanningTree { offers, order, leader, chosen, first, links, .. } = self;
        order.clear();
        order.extend(0..offers.len() as u32);
        let key = |&i: &u32| &offers[i as usize];
        order.sort_by(|a, b| {
            let (a, b) = (key(a), key(b));
            b.classes.cmp(&a.classes).then(b.strength.total_cmp(&a.strength))
        });
        leader.clear();
        leader.extend(0..vertices as u32);
        chosen.refill(offers.len(), false);
        for &i in order.iter() {
            let Offer { u, v, .. } = offers[i as usize];
            let (a, b) = (find(leader, u), find(leader, v));
            if a != b {
                leader[a.max(b) as usize] = a.min(b);
                chosen[i as usize] = true;
            }
        }
        let ends = |i: usize| {
            let (Offer { u, v, .. }, taken) = (offers[i], chosen[i]);
            [(u, (v, i as u32)), (v, (u, i as u32))].into_iter().filter(move |_| taken)
        };
        index(vertices, offers.len(), ends, first, links);
    }

    /// The number of chosen pairs at a vertex.
    pub(crate) fn degree(&self, vertex: u32) -> usize {
        (self.first[vertex as usize + 1] - self.first[vertex as usize]) as usize
    }

    /// Whether a pair, by the order of offers, is in the forest.
    pub(crate) fn has(&self, pair: usize) -> bool {
        self.chosen[pair]
    }

    /// Calls `each` with every vertex, parents before children, and with the parent and the pair that leads
    /// to it.
    pub(crate) fn visit(&mut self, vertices: usize, mut each: impl FnMut(u32, Option<(u32, usize)>)) {
        self.visited.refill(vertices, false);
        for root in 0..vertices as u32 {
            if self.visited[root as usize] {
                continue;
            }
            self.visited[root as usize] = true;
            self.stack.push((root, None));
            while let Some((v, above)) = self.stack.pop() {
                each(v, above);
                for at in self.first[v as usize]..self.first[v as usize + 1] {
                    let (w, pair) = self.links[at as usize];
                    if !self.visited[w as usize] {
                        self.visited[w as usize] = true;
                        self.stack.push((w, Some((v, pair as usize))));
                    }
                }
            }
        }
    }
}
