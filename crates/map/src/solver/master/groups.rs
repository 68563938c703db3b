//! Slaves of larger factors: each has all patterns over the same vertices.

use crate::flat::Refill;
use crate::pattern::best_of;
use std::ops::Range;

/// Where one group's parts begin.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    vertices: u32,
    patterns: u32,
    states: u32,
}

/// Groups of patterns, each over one list of vertices and solved on its own. At most one pattern of a group
/// can hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    starts: Vec<Start>,
    /// Where the scores of each vertex end, within its group.
    score_ends: Vec<u32>,
    /// As many states for each pattern as its group has vertices; patterns in the order of their states.
    states: Vec<u32>,
    weights: Vec<f64>,
    /// The heaviest pattern of each group, or zero if all are lighter.
    heaviest: Vec<f64>,
    apart: Vec<u32>,
    suffix: Vec<f64>,
    prefix: Vec<u32>,
}

impl Groups {
    pub(crate) fn clear(&mut self) {
        self.starts.clear();
        self.starts.push(Start::default());
        self.score_ends.clear();
        self.states.clear();
        self.weights.clear();
        self.heaviest.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Adds a group over vertices with the given numbers of states. Patterns come as (states, weight), in the
    /// order of their states; equal ones add up. Returns the sum of the largest absolute finite weight.
    pub(crate) fn push<S: Iterator<Item = u32>>(
        &mut self,
        sizes: impl Iterator<Item = usize>,
        patterns: impl Iterator<Item = (S, f64)>,
    ) -> f64 {
        let begin = self.starts[self.len()];
        let mut end = 0;
        for size in sizes {
            end += size as u32;
            self.score_ends.push(end);
        }
        let width = self.score_ends.len() - begin.vertices as usize;
        let mut largest = 0.0f64;
        for (states, weight) in patterns {
            let start = self.states.len();
            self.states.extend(states);
            if start > begin.states as usize && self.states[start - width..start] == self.states[start..] {
                self.states.truncate(start);
                if let Some(last) = self.weights.last_mut() {
                    *last += weight;
                }
            } else {
                self.weights.push(weight);
            }
            if weight.is_finite() {
                largest = largest.max(weight.abs());
            }
        }
        let own = &self.weights[begin.patterns as usize..];
        self.heaviest.push(own.iter().copied().fold(0.0, f64::max));
        self.starts.push(Start {
            vertices: self.score_ends.len() as u32,
            patterns: self.weights.len() as u32,
            states: self.states.len() as u32,
        });
        largest
    }

    fn group(&self, index: usize) -> Group<'_> {
        let (from, to) = (self.starts[index], self.starts[index + 1]);
        Group {
            score_ends: &self.score_ends[from.vertices as usize..to.vertices as usize],
            states: &self.states[from.states as usize..to.states as usize],
            weights: &self.weights[from.patterns as usize..to.patterns as usize],
            heaviest: self.heaviest[index],
        }
    }

    /// The number of vertices of a group.
    pub(crate) fn vertices(&self, index: usize) -> usize {
        self.group(index).score_ends.len()
    }

    /// The best labelling of a group under scores (those of its vertices one after another); returns its
    /// value.
    pub(crate) fn solve(&mut self, index: usize, scores: &[f64], labels: &mut [u32]) -> f64 {
        let (mut apart, mut suffix, mut prefix) = (
            std::mem::take(&mut self.apart),
            std::mem::take(&mut self.suffix),
            std::mem::take(&mut self.prefix),
        );
        let group = self.group(index);
        let mut best = group.best_pattern(scores, labels);
        group.split(scores, &mut apart, &mut suffix);
        // Without any pattern a labelling scores at most what the best states apart do. Only if those are a
        // pattern, and a bad one, is there something to search.
        if suffix[0] > best && !group.is_complete() {
            if group.has(&apart) {
                prefix.refill(group.score_ends.len(), 0);
                let (apart, suffix, prefix) = (&apart, &suffix, &mut prefix);
                let mut search = Search { group, scores, apart, suffix, prefix, labels, best };
                search.descend(0..group.weights.len(), 0, 0.0);
                best = search.best;
            } else {
                best = suffix[0];
                labels.copy_from_slice(&apart);
            }
        }
        (self.apart, self.suffix, self.prefix) = (apart, suffix, prefix);
        best
    }

    /// Writes for each state of each vertex, one vertex after another, the best weight that goes with it:
    /// that of a pattern, or zero if the state can be had without any.
    pub(crate) fn best_weights(&self, index: usize, best: &mut Vec<f64>) {
        let group = self.group(index);
        let all = group.ways();
        best.clear();
        for i in 0..group.score_ends.len() {
            let size = group.scores(i).len();
            let first = best.len();
            for state in 0..size as u32 {
                let with_it = group.weights.iter().zip(group.states.chunks_exact(group.score_ends.len()));
                let (mut most, mut count) = (f64::NEG_INFINITY, 0);
                for (&weight, _) in with_it.filter(|(_, states)| states[i] == state) {
                    most = most.max(weight);
                    count += 1;
                }
                // Zero is out of reach only if patterns take every way to label the others.
                best.push(if all.is_some_and(|all| count == all / size) { most } else { most.max(0.0) });
            }
            debug_assert_eq!(best.len(), first + size);
        }
    }
}

#[derive(Clone, Copy)]
struct Group<'a> {
    score_ends: &'a [u32],
    states: &'a [u32],
    weights: &'a [f64],
    heaviest: f64,
}

impl Group<'_> {
    fn scores(&self, vertex: usize) -> Range<usize> {
        let start = if vertex == 0 { 0 } else { self.score_ends[vertex - 1] as usize };
        start..self.score_ends[vertex] as usize
    }

    /// The number of labellings, if it is not enormous.
    fn ways(&self) -> Option<usize> {
        (0..self.score_ends.len()).try_fold(1usize, |ways, i| ways.checked_mul(self.scores(i).len()))
    }

    /// Whether every labelling is a pattern.
    fn is_complete(&self) -> bool {
        self.ways() == Some(self.weights.len())
    }

    /// Whether a labelling is a pattern.
    fn has(&self, labels: &[u32]) -> bool {
        let width = labels.len();
        let (mut low, mut high) = (0, self.weights.len());
        while low < high {
            let middle = (low + high) / 2;
            match self.states[middle * width..(middle + 1) * width].cmp(labels) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        false
    }

    /// The best labelling that is a pattern, if there is one.
    fn best_pattern(&self, scores: &[f64], labels: &mut [u32]) -> f64 {
        let width = self.score_ends.len();
        let mut best = (f64::NEG_INFINITY, 0);
        for (p, (&weight, states)) in self.weights.iter().zip(self.states.chunks_exact(width)).enumerate() {
            let mut value = weight;
            let mut start = 0;
            for (&state, &end) in states.iter().zip(self.score_ends) {
                value += scores[start + state as usize];
                start = end as usize;
            }
            if value > best.0 {
                best = (value, p);
            }
        }
        match self.states.get(best.1 * width..(best.1 + 1) * width) {
            Some(states) => labels.copy_from_slice(states),
            None => labels.fill(0),
        }
        best.0
    }

    /// The best states of the vertices apart, and the sums of their scores from each vertex on.
    fn split(&self, scores: &[f64], apart: &mut Vec<u32>, suffix: &mut Vec<f64>) {
        let width = self.score_ends.len();
        apart.refill(width, 0);
        suffix.refill(width + 1, 0.0);
        for i in (0..width).rev() {
            let (state, score) = best_of(scores[self.scores(i)].iter().copied().enumerate());
            apart[i] = state;
            suffix[i] = suffix[i + 1] + score;
        }
    }
}

/// A walk through a group's patterns as a trie: wherever a labelling leaves all of them, the rest is free.
struct Search<'a> {
    group: Group<'a>,
    scores: &'a [f64],
    apart: &'a [u32],
    suffix: &'a [f64],
    prefix: &'a mut [u32],
    labels: &'a mut [u32],
    best: f64,
}

impl Search<'_> {
    /// Visits the patterns in `range`, which agree with the prefix on the first `depth` vertices, whose
    /// scores sum to `score`.
    fn descend(&mut self, range: Range<usize>, depth: usize, score: f64) {
        let width = self.group.score_ends.len();
        if depth == width {
            self.offer(score + self.group.weights[range.start], depth);
            return;
        }
        let states = self.group.states;
        let state_of = |p: usize| states[p * width + depth];
        let own = &self.scores[self.group.scores(depth)];
        let mut used = range.clone().map(state_of).peekable();
        let outside = own.iter().copied().enumerate().filter(|&(s, _)| {
            while used.peek().is_some_and(|&u| (u as usize) < s) {
                used.next();
            }
            used.peek().is_none_or(|&u| u as usize != s)
        });
        let (state, free) = best_of(outside);
        self.prefix[depth] = state;
        self.offer(score + free + self.suffix[depth + 1], depth + 1);
        let mut start = range.start;
        while start < range.end {
            let state = state_of(start);
            let end = (start + 1..range.end).find(|&p| state_of(p) != state).unwrap_or(range.end);
            let score = score + own[state as usize];
            // Nothing below this branch is better than the best rest with the heaviest pattern.
            if score + self.suffix[depth + 1] + self.group.heaviest > self.best {
                self.prefix[depth] = state;
                self.descend(start..end, depth + 1, score);
            }
            start = end;
        }
    }

    /// Takes the first `known` states of the prefix, and the best ones apart for the rest, if that is better.
    fn offer(&mut self, value: f64, known: usize) {
        if value > self.best {
            self.best = value;
            self.labels[..known].copy_from_slice(&self.prefix[..known]);
            self.labels[known..].copy_from_slice(&self.apart[known..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::PatternModel;
    use consonant_testing::{Random, best_of_all};

    #[test]
    fn groups_against_enumeration() {
        let mut groups = Groups::default();
        for seed in 0..800 {
            let mut random = Random::new(seed);
            let size = 2 + random.below(3);
            let states = 2 + random.below(2);
            let mut model = PatternModel::new();
            let scores: Vec<f64> = (0..size * states).map(|_| random.uniform()).collect();
            for own in scores.chunks(states) {
                model.add_vertex(own).unwrap();
            }
            let mut patterns: Vec<(Vec<u32>, f64)> = (0..random.below(20))
                .map(|_| ((0..size).map(|_| random.below(states) as u32).collect(), random.uniform()))
                .collect();
            patterns.sort_by(|a, b| a.0.cmp(&b.0));
            for (members, weight) in &patterns {
                let members: Vec<_> = members.iter().enumerate().map(|(v, &s)| (v, s as usize)).collect();
                model.add_pattern(&members, *weight).unwrap();
            }
            groups.clear();
            groups.push(
                std::iter::repeat_n(states, size),
                patterns.iter().map(|(m, w)| (m.iter().copied(), *w)),
            );
            let mut labels = vec![0; size];
            let value = groups.solve(0, &scores, &mut labels);
            let best = best_of_all(&vec![states; size], |states| model.value(states));
            assert!((value - best).abs() < 1e-12, "seed {seed}");
            assert!((value - model.value(&labels)).abs() < 1e-12, "seed {seed}");
        }
    }
}
