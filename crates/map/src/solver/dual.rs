//! The dual function of a graph: multipliers on links, and the bound they prove.

use super::layout::Layout;
use crate::flat::Refill;
use crate::group::{GRAIN, Warm, join};
use crate::model::{Graph, Literal};
use std::sync::Arc;

/// Factors with more links are not asked link by link what a decision costs them.
const MOST_FORCED: usize = 512;

/// How fast an average forgets: of n multipliers the last counts as much as DECAY + 1 of n.
const DECAY: f64 = 5.0;

/// Multipliers and buffers of one graph. The multipliers of a slot's links sum to zero; whatever they are,
/// the sum of the factors' maxima under `share + multiplier` is an upper bound on the value of every
/// assignment.
#[derive(Default)]
pub(crate) struct Dual {
    /// Shared while assignments are looked for beside the iterations.
    pub layout: Arc<Layout>,
    pub warm: Vec<Warm>,
    pub multipliers: Vec<f64>,
    /// Multipliers averaged over iterations, see [`average`](Self::average).
    average: Vec<f64>,
    /// How many went into it.
    averaged: usize,
    /// Whether the average proves more than the multipliers themselves.
    average_leads: bool,
    /// For each slot, its score divided by the number of its links.
    pub share: Vec<f64>,
    /// Each link's maximizer after the last [`bound`](Dual::bound), in the literal's sense.
    pub best: Vec<f64>,
    /// The typical size of a score.
    pub scale: f64,
    /// A score that outweighs all others together.
    pub large: f64,
    link_scores: Vec<f64>,
    offset: f64,
    /// What was kept for groups that this graph does not have.
    spare: Vec<Warm>,
    /// The largest sum of sizes of what a bound was added up from.
    added: f64,
}

impl Dual {
    pub(crate) fn new(graph: &Graph) -> Self {
        let mut dual = Self::default();
        dual.rebuild(graph);
        dual
    }

    /// Makes this the dual of another graph, with multipliers of zero, in the same memory.
    pub(crate) fn rebuild(&mut self, graph: &Graph) {
        if Arc::get_mut(&mut self.layout).is_none() {
            self.layout = Arc::default();
        }
        Arc::get_mut(&mut self.layout).expect("nobody else has it").rebuild(graph);
        self.spare.append(&mut self.warm);
        for group in 0..self.layout.groups() {
            self.warm.push(self.layout.group(graph, group).warm(&mut self.spare));
        }
        let links = self.layout.links();
        for (values, count) in [
            (&mut self.multipliers, links),
            (&mut self.share, graph.slots()),
            (&mut self.best, links),
            (&mut self.link_scores, links),
        ] {
            values.refill(count, 0.0);
        }
    }

    /// Reads the graph's scores and which slots are fixed (an empty slice fixes none). A forbidden slot gets
    /// a score that outweighs all others.
    pub(crate) fn read_scores(&mut self, graph: &Graph, fixed: &[Option<bool>]) {
        self.scale = self.typical_score(graph);
        self.large = self.scale * 1e3 * (graph.slots() + graph.factors() + 1) as f64;
        self.offset = graph.offset;
        self.added = 0.0;
        (self.averaged, self.average_leads) = (0, false);
        for slot in 0..graph.slots() {
            let mut score = graph.scores[slot].max(-self.large);
            match fixed.get(slot).copied().flatten() {
                Some(false) => score = -self.large,
                // Being on counts as before, being off costs `large`.
                Some(true) => {
                    score += self.large;
                    self.offset -= self.large;
                }
                None => {}
            }
            self.share[slot] = score / self.layout.degree(slot).max(1) as f64;
        }
    }

    /// Typical size of a score, from slots and factors alike: what step sizes are measured in.
    fn typical_score(&mut self, graph: &Graph) -> f64 {
        let finite = graph.scores.iter().filter(|s| s.is_finite());
        let (sum, count) = finite.fold((0.0, 0usize), |(sum, count), s| (sum + s.abs(), count + 1));
        let slots = if count > 0 { sum / count as f64 } else { 0.0 };
        // What factors add of their own, seen at scores of zero.
        self.link_scores.fill(0.0);
        let mut factors: f64 = 0.0;
        for group in 0..self.layout.groups() {
            let range = self.layout.group_start[group]..self.layout.group_start[group + 1];
            let g = self.layout.group(graph, group);
            let scores = &self.link_scores[range.clone()];
            let value = g.maximize(&mut self.warm[group], scores, &mut self.best[range], false);
            if g.factors() > 0 && value.is_finite() {
                factors = factors.max(value.abs() / g.factors() as f64);
            }
        }
        let scale = slots.max(factors);
        if scale > 0.0 { scale } else { 1.0 }
    }

    /// The dual function at the current multipliers: an upper bound on every assignment's value.
    pub(crate) fn bound(&mut self, graph: &Graph, parallel: bool) -> f64 {
        let mut bound = Sum::from(self.offset);
        let mut magnitude = self.offset.abs();
        let (slots, size) = leftovers(&self.layout, &self.multipliers, &self.share, 0, parallel);
        bound += slots;
        magnitude += size;
        for group in 0..self.layout.groups() {
            let range = self.layout.group_start[group]..self.layout.group_start[group + 1];
            let g = self.layout.group(graph, group);
            let scores = &mut self.link_scores[range.clone()];
            let multipliers = &self.multipliers[range.clone()];
            let (constant, size) = score_links(g.links(), multipliers, &self.share, scores, parallel);
            bound += constant;
            magnitude += size;
            bound += g.maximize(&mut self.warm[group], scores, &mut self.best[range], parallel);
        }
        self.added = self.added.max(magnitude);
        bound.value() + 1e-15 * magnitude
    }

    /// Takes the multipliers into their average, late ones more than early ones. Iterates circle around where they go to, so
    /// that their average proves more than any of them.
    pub(crate) fn average(&mut self) {
        self.averaged += 1;
        if self.averaged == 1 {
            self.average.clone_from(&self.multipliers);
            return;
        }
        let weight = (DECAY + 1.0) / (self.averaged as f64 + DECAY);
        for (average, multiplier) in self.average.iter_mut().zip(&self.multipliers) {
            *average += weight * (multiplier - *average);
        }
    }

    /// The smaller of the bounds at the multipliers and at their average, where there is one.
    pub(crate) fn better_bound(&mut self, graph: &Graph, parallel: bool) -> f64 {
        let bound = self.bound(graph, parallel);
        if self.averaged == 0 {
            return bound;
        }
        std::mem::swap(&mut self.multipliers, &mut self.average);
        let averaged = self.bound(graph, parallel);
        std::mem::swap(&mut self.multipliers, &mut self.average);
        self.average_leads = averaged < bound;
        bound.min(averaged)
    }

    /// Of the multipliers and their average those that prove more.
    pub(crate) fn best_multipliers(&self) -> &[f64] {
        if self.average_leads { &self.average } else { &self.multipliers }
    }

    /// How far rounding can have brought any bound of this solve below the sum that it stands for. Sums are
    /// compensated, or over as many terms as a factor has links, or as one piece of work has.
    pub(crate) fn rounding(&self, graph: &Graph) -> f64 {
        let groups = (0..self.layout.groups()).map(|group| self.layout.group(graph, group));
        let (mut terms, mut size) = (0, self.added);
        for group in groups {
            let longest = group.offsets().windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
            terms = terms.max(longest as usize + group.links().len().min(GRAIN));
            size += group.magnitude().unwrap_or(0.0);
        }
        f64::EPSILON * (terms + 8) as f64 * size
    }

    /// Decides open slots by the best bound: where one value would press it to `needed` or below, the slot has the
    /// other (reduced-cost fixing). Each factor is asked by how much its maximum falls when a link is forced;
    /// falls of several factors add up, since every factor is maximized alone. `false`: nothing exceeds
    /// `needed`.
    pub(crate) fn decide(&mut self, graph: &Graph, needed: f64, fixed: &mut [Option<bool>]) -> bool {
        if !self.average_leads {
            return self.decide_here(graph, needed, fixed);
        }
        std::mem::swap(&mut self.multipliers, &mut self.average);
        let goes_on = self.decide_here(graph, needed, fixed);
        std::mem::swap(&mut self.multipliers, &mut self.average);
        goes_on
    }

    fn decide_here(&mut self, graph: &Graph, needed: f64, fixed: &mut [Option<bool>]) -> bool {
        let bound = self.bound(graph, false);
        let mut falls = vec![[0.0f64; 2]; graph.slots()];
        let (mut scores, mut best, mut other) = (Vec::new(), Vec::new(), Vec::new());
        for group in 0..self.layout.groups() {
            let g = self.layout.group(graph, group);
            let warm = &mut self.warm[group];
            for factor in 0..g.factors() {
                let range = g.range(factor);
                let links = &g.links()[range.clone()];
                if links.len() > MOST_FORCED || links.iter().all(|link| fixed[link.slot()].is_some()) {
                    continue;
                }
                let start = self.layout.group_start[group];
                scores.clear();
                scores.extend_from_slice(&self.link_scores[start + range.start..start + range.end]);
                best.resize(links.len(), 0.0);
                other.resize(links.len(), 0.0);
                let most = g.maximize_one(warm, factor, &scores, &mut best);
                // The two states of a binary variable are two links, side by side, of one slot. Forcing the
                // one forces the other: the larger fall counts, not both.
                let mut last = (usize::MAX, [0.0f64; 2]);
                for (i, link) in links.iter().enumerate() {
                    if fixed[link.slot()].is_some() {
                        continue;
                    }
                    let own = scores[i];
                    if last.0 != link.slot() {
                        last = (link.slot(), [0.0; 2]);
                    }
                    for on in [false, true] {
                        if best[i] == on as u8 as f64 {
                            continue;
                        }
                        scores[i] = if on { own + self.large } else { -self.large };
                        let forced = g.maximize_one(warm, factor, &scores, &mut other);
                        let forced = if on { forced - self.large } else { forced };
                        let side = (on != link.is_negated()) as usize;
                        let fall = (most - forced).max(last.1[side]);
                        falls[link.slot()][side] += fall - last.1[side];
                        last.1[side] = fall;
                    }
                    scores[i] = own;
                }
            }
        }
        let slack = bound - needed + 1e-12 * self.large + 1e-9 * bound.abs();
        for (slot, fixed) in fixed.iter_mut().enumerate().filter(|(_, fixed)| fixed.is_none()) {
            match falls[slot].map(|fall| fall > slack) {
                [true, true] => return false,
                [true, false] => *fixed = Some(true),
                [false, true] => *fixed = Some(false),
                [false, false] => {}
            }
        }
        true
    }

    /// Whether a bound this low proves that nothing is feasible: an assignment that breaks no constraint
    /// cannot score below minus the sizes of all scores together.
    pub(crate) fn proves_infeasible(&self, graph: &Graph, bound: f64) -> bool {
        if bound >= -0.5 * self.large {
            return false;
        }
        let slots: f64 = graph.scores.iter().filter(|s| s.is_finite()).map(|s| s.abs()).sum();
        let factors: Option<f64> = graph.groups.iter().map(|group| group.magnitude()).sum();
        let least = factors.map(|factors| -(slots + factors + graph.offset.abs()) * (1.0 + 1e-9));
        least.is_some_and(|least| bound + self.rounding(graph) < least)
    }
}

/// What slots from `first` on without links add to the bound, and what is left over of the others; and the size of it. Added
/// up in the same pieces for any number of threads.
fn leftovers(
    layout: &Layout,
    multipliers: &[f64],
    share: &[f64],
    first: usize,
    parallel: bool,
) -> (Sum, f64) {
    if share.len() > GRAIN {
        let (left, right) = share.split_at(share.len() / 2);
        let (before, after) = join(
            parallel,
            || leftovers(layout, multipliers, left, first, parallel),
            || leftovers(layout, multipliers, right, first + left.len(), parallel),
        );
        return (before.0 + after.0, before.1 + after.1);
    }
    let (mut bound, mut magnitude) = (Sum::from(0.0), 0.0);
    for (slot, &share) in (first..).zip(share) {
        let links = layout.links_of(slot);
        if links.is_empty() {
            bound += share.max(0.0);
            magnitude += share.abs();
            continue;
        }
        // Multipliers of a slot sum to zero but for rounding; what is left over is counted at its most
        // useful.
        let sum: f64 = links.iter().map(|&link| multipliers[(link >> 1) as usize]).sum();
        bound += (-sum).max(0.0);
    }
    (bound, magnitude)
}

/// Writes the score of each link in its literal's sense; what that leaves out, and the size of all. Added up in the same
/// pieces for any number of threads.
fn score_links(
    links: &[Literal],
    multipliers: &[f64],
    share: &[f64],
    scores: &mut [f64],
    parallel: bool,
) -> (Sum, f64) {
    if links.len() > GRAIN {
        let middle = links.len() / 2;
        let (left, right) = scores.split_at_mut(middle);
        let (before, after) = join(
            parallel,
            || score_links(&links[..middle], &multipliers[..middle], share, left, parallel),
            || score_links(&links[middle..], &multipliers[middle..], share, right, parallel),
        );
        return (before.0 + after.0, before.1 + after.1);
    }
    let (mut constant, mut magnitude) = (Sum::from(0.0), 0.0);
    for ((literal, multiplier), own) in links.iter().zip(multipliers).zip(scores) {
        let score = share[literal.slot()] + multiplier;
        if literal.is_negated() {
            // score·x = score − score·(1 − x)
            constant += score;
            *own = -score;
        } else {
            *own = score;
        }
        magnitude += score.abs();
    }
    (constant, magnitude)
}

/// A sum that keeps what rounding leaves out (Neumaier 1974).
#[derive(Clone, Copy)]
pub(crate) struct Sum {
    sum: f64,
    rest: f64,
}

impl From<f64> for Sum {
    fn from(sum: f64) -> Self {
        Sum { sum, rest: 0.0 }
    }
}

impl Sum {
    pub(crate) fn value(self) -> f64 {
        // Beyond all numbers there is nothing to keep.
        if self.rest.is_finite() { self.sum + self.rest } else { self.sum }
    }
}

impl std::ops::Add for Sum {
    type Output = Sum;

    fn add(mut self, other: Sum) -> Sum {
        self += other;
        self
    }
}

impl std::ops::AddAssign for Sum {
    fn add_assign(&mut self, other: Sum) {
        *self += other.sum;
        self.rest += other.rest;
    }
}

impl std::ops::AddAssign<f64> for Sum {
    fn add_assign(&mut self, term: f64) {
        let sum = self.sum + term;
        let (large, small) = if self.sum.abs() >= term.abs() { (self.sum, term) } else { (term, self.sum) };
        self.rest += (large - sum) + small;
        self.sum = sum;
    }
}
