//! Questions to ask after forward-backward.

use super::Sums;
use super::grams::goes_directly;
use crate::inference::chain::Chain;
use crate::inference::error::{InferenceError, Result, check_label, check_length};
use crate::inference::grams::Grams;
use crate::inference::kernels::{self, log_sum_exp};
use crate::inference::potentials::Potentials;
use crate::inference::transitions::{Dense, Kind};

/// The distribution over labellings of one sentence.
#[derive(Debug)]
pub struct Posterior<'w> {
    pub(crate) sums: &'w mut Sums,
    pub(crate) chain: Chain<'w>,
    pub(crate) potentials: &'w Potentials,
}

/// A stretch of labels and what may not stand next to it.
///
/// The entity "B-LOC I-LOC and nothing more" is `labels: [B-LOC, I-LOC]`, `not_after: [I-LOC]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span<'a> {
    /// First position.
    pub start: usize,
    /// The labels, one for each position from `start`.
    pub labels: &'a [u32],
    /// Labels that must not stand just before the span.
    pub not_before: &'a [u32],
    /// Labels that must not stand just after the span.
    pub not_after: &'a [u32],
}

/// A small seeded source of randomness (SplitMix64; Steele, Lea & Flood 2014), the same on every machine.
#[derive(Debug, Clone)]
pub struct Generator(u64);

impl Generator {
    /// A source that depends on the seed alone.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        (mixed >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl Posterior<'_> {
    /// ln of the sum of exp(score) over all allowed labellings.
    pub fn log_partition(&self) -> f64 {
        self.sums.log_partition
    }

    /// Probability of each label at each position, row-major.
    pub fn nodes(&self) -> &[f64] {
        &self.sums.nodes
    }

    /// Probability of each label at one position.
    pub fn node(&self, position: usize) -> &[f64] {
        let labels = self.chain.labels();
        &self.sums.nodes[position * labels..(position + 1) * labels]
    }

    /// Probability that `previous` stands at `position − 1` and `label` at `position` (which is at least 1).
    pub fn pair(&self, position: usize, previous: u32, label: u32) -> Result<f64> {
        check_label("pair", previous, self.chain.labels())?;
        check_label("pair", label, self.chain.labels())?;
        if position == 0 || position >= self.chain.len() {
            return Err(InferenceError::Shape {
                what: "position of a pair (from 1 to the last)",
                expected: self.chain.len().saturating_sub(1),
                found: position,
            });
        }
        let mut probability = 0.0;
        for index in self.sums.trellis.column(position - 1) {
            let state = self.sums.trellis.state[index];
            if self.chain.label_of(state) == previous {
                probability += (self.log_alpha(index) + self.log_onward(position, state, label)).exp();
            }
        }
        Ok(probability)
    }

    /// Probability that exactly these labels stand at these positions, with the neighbours that the span
    /// excludes excluded.
    pub fn span(&self, span: &Span) -> Result<f64> {
        let (chain, sums) = (&self.chain, &*self.sums);
        for &label in span.labels.iter().chain(span.not_before).chain(span.not_after) {
            check_label("span", label, chain.labels())?;
        }
        let end = span.start.saturating_add(span.labels.len());
        let Some(&first) = span.labels.first() else {
            return Err(InferenceError::Zero { what: "the number of labels in a span" });
        };
        if end > chain.len() {
            return Err(InferenceError::Shape { what: "end of a span", expected: chain.len(), found: end });
        }
        // The few states that agree with the span so far, with ln α of the prefixes that agree.
        let mut here: Vec<(u32, f64)> = Vec::new();
        if span.start == 0 {
            here.extend(self.find(0, first).map(|index| (first, self.log_alpha(index))));
        } else {
            for index in sums.trellis.column(span.start - 1) {
                let state = sums.trellis.state[index];
                if !span.not_before.contains(&chain.label_of(state)) {
                    here.push((state, self.log_alpha(index)));
                }
            }
            here = self.follow(span.start, first, &here);
        }
        for (offset, &label) in span.labels.iter().enumerate().skip(1) {
            here = self.follow(span.start + offset, label, &here);
        }
        let mut probability = 0.0;
        for (state, value) in here {
            let future = if end == chain.len() || span.not_after.is_empty() {
                self.find(end - 1, state).map_or(f64::NEG_INFINITY, |index| self.log_beta(index))
            } else {
                let onward = chain.allowed(end).iter().filter(|label| !span.not_after.contains(label));
                log_sum_exp(onward.map(|label| self.log_onward(end, state, label)))
            };
            probability += (value + future).exp();
        }
        Ok(probability.min(1.0))
    }

    /// One step of a restricted forward pass: the states after `label` at `position`, merged.
    fn follow(&self, position: usize, label: u32, from: &[(u32, f64)]) -> Vec<(u32, f64)> {
        let mut steps: Vec<(u32, f64)> = from
            .iter()
            .map(|&(state, value)| {
                let (target, score) = self.chain.arc(position, state, label);
                (target, value + score + self.chain.node(position, label) - self.sums.costs[position])
            })
            .filter(|&(target, value)| value > f64::NEG_INFINITY && self.find(position, target).is_some())
            .collect();
        steps.sort_by_key(|&(target, _)| target);
        steps
            .chunk_by(|a, b| a.0 == b.0)
            .map(|group| (group[0].0, log_sum_exp(group.iter().map(|&(_, value)| value))))
            .collect()
    }

    fn find(&self, position: usize, state: u32) -> Option<usize> {
        let column = self.sums.trellis.column(position);
        let offset = self.sums.trellis.state[column.clone()].binary_search(&state).ok()?;
        Some(column.start + offset)
    }

    fn logarithm(&self, value: f64) -> f64 {
        if self.sums.log_space { value } else { value.ln() }
    }

    fn log_alpha(&self, index: usize) -> f64 {
        self.logarithm(self.sums.trellis.value[index])
    }

    fn log_beta(&self, index: usize) -> f64 {
        self.logarithm(self.sums.beta[index])
    }

    /// ln of what a state's α is to be multiplied by for the marginal of the step to `label` at `position`.
    fn log_onward(&self, position: usize, state: u32, label: u32) -> f64 {
        let (target, score) = self.chain.arc(position, state, label);
        let Some(index) = self.find(position, target) else { return f64::NEG_INFINITY };
        let node = self.chain.node(position, label);
        score + node + self.log_beta(index) - self.sums.costs[position]
    }

    /// Adds `scale` times the expected count of every transition score to `counts`, in the order of
    /// [`Transitions::load`](crate::inference::Transitions::load).
    ///
    /// Needs no table of pairs for each position.
    pub fn add_transition_counts(&mut self, scale: f64, counts: &mut [f64]) -> Result<()> {
        check_length("transition counts", self.chain.transitions.score_count(), counts.len())?;
        match &self.chain.transitions.kind {
            Kind::Dense(dense) if dense.row_step == 0 => {}
            Kind::Dense(dense) => self.add_pair_counts(dense, scale, counts),
            Kind::Grams(grams) => self.add_gram_counts(grams, scale, counts),
        }
        Ok(())
    }

    /// Adds `scale` times the probability of every pair at every step to `counts`, laid out as the edge
    /// scores of [`Chain::with_edges`].
    pub fn add_edge_counts(&mut self, scale: f64, counts: &mut [f64]) -> Result<()> {
        let labels = self.chain.labels();
        check_length("edge counts", self.chain.len().saturating_sub(1) * labels * labels, counts.len())?;
        if let Kind::Dense(dense) = &self.chain.transitions.kind {
            for position in 1..self.chain.len() {
                let step = &mut counts[(position - 1) * labels * labels..position * labels * labels];
                self.add_step(dense, position, scale, step);
            }
            Ok(())
        } else {
            Err(InferenceError::EdgesWithGrams)
        }
    }

    fn add_pair_counts(&mut self, dense: &Dense, scale: f64, counts: &mut [f64]) {
        let labels = self.chain.labels();
        if self.chain.len() < 2 {
            return;
        }
        let full = self.sums.trellis.state.len() == self.chain.len() * labels;
        if self.sums.log_space || self.chain.edges.is_some() || !full {
            for position in 1..self.chain.len() {
                self.add_step(dense, position, scale, counts);
            }
            return;
        }
        // Σ_t α_{t−1}(i) · φ(i, j) · inflow_t(j): the potential φ is the same at every step and waits outside
        // the sum.
        let products = &mut self.sums.scratch;
        products.clear();
        products.resize(labels * labels, 0.0);
        let steps = self.sums.inflow.len() - labels;
        kernels::add_outer_products(
            labels,
            &self.sums.trellis.value[..steps],
            &self.sums.inflow[labels..],
            products,
        );
        for previous in 0..labels {
            let row = &self.potentials.values[previous * self.potentials.stride..];
            let range = previous * labels..(previous + 1) * labels;
            for ((count, product), potential) in
                counts[range.clone()].iter_mut().zip(&products[range]).zip(row)
            {
                *count += scale * product * potential;
            }
        }
    }

    /// Adds the pair marginals of one step.
    fn add_step(&mut self, dense: &Dense, position: usize, scale: f64, counts: &mut [f64]) {
        let labels = self.chain.labels();
        let sums = &mut *self.sums;
        let (from, to) = (sums.trellis.column(position - 1), sums.trellis.column(position));
        let step = sums.matrix.step(&self.chain, dense, self.potentials, position);
        for source in from {
            let previous = sums.trellis.state[source];
            let alpha = sums.trellis.value[source];
            for target in to.clone() {
                let label = sums.trellis.state[target];
                let marginal = if sums.log_space {
                    (alpha + self.chain.arc(position, previous, label).1 + sums.inflow[target]).exp()
                } else {
                    alpha * step.potential(previous, label) * sums.inflow[target]
                };
                counts[previous as usize * labels + label as usize] += scale * marginal;
            }
        }
    }

    fn add_gram_counts(&mut self, grams: &Grams, scale: f64, counts: &mut [f64]) {
        let (sums, potentials) = (&mut *self.sums, self.potentials);
        let (log_space, nothing) = (sums.log_space, if sums.log_space { f64::NEG_INFINITY } else { 0.0 });
        sums.grams.prepare(grams);
        sums.grams.inflow.fill(nothing);
        // For each arc, what ends in it; and what it takes from the arc that it overrides.
        sums.scratch.clear();
        sums.scratch.resize(2 * grams.arc_count(), 0.0);
        let (ends, overridden) = sums.scratch.split_at_mut(grams.arc_count());
        for position in 1..self.chain.len() {
            let (from, to) = (sums.trellis.column(position - 1), sums.trellis.column(position));
            for index in to.clone() {
                sums.grams.inflow[sums.trellis.state[index] as usize] = sums.inflow[index];
            }
            let allowed = self.chain.allowed(position);
            let (states, alpha) = (&sums.trellis.state[from.clone()], &sums.trellis.value[from]);
            if log_space || goes_directly(grams, potentials, allowed, states.len()) {
                let mut arcs = std::mem::take(&mut sums.grams.arcs);
                for (&state, &alpha) in states.iter().zip(alpha) {
                    grams.visit_arcs(state, allowed, &mut arcs, |arc| {
                        let inflow = sums.grams.inflow[grams.arc_target(arc) as usize];
                        ends[arc] += if log_space {
                            (alpha + grams.arc_score(arc) + inflow).exp()
                        } else {
                            alpha * potentials.values[arc] * inflow
                        };
                    });
                }
                sums.grams.arcs = arcs;
            } else {
                sums.grams.fill_suffixes(grams, states, alpha);
                for state in 0..grams.root() {
                    let mass = sums.grams.sub[state as usize];
                    let arcs = grams.arcs_of(state);
                    let (targets, shorter) = grams.targets(arcs.clone());
                    for (offset, arc) in arcs.enumerate() {
                        ends[arc] +=
                            mass * potentials.values[arc] * sums.grams.inflow[targets[offset] as usize];
                        let default =
                            potentials.counterpart[arc] * sums.grams.inflow[shorter[offset] as usize];
                        overridden[arc] += mass * default;
                    }
                }
            }
            for index in to {
                sums.grams.inflow[sums.trellis.state[index] as usize] = nothing;
            }
        }
        // An arc stands for its gram and for every suffix of it. What it overrides was counted there already.
        for arc in (grams.labels() + 1..grams.arc_count()).rev() {
            if let Some(gram) = grams.arc_gram(arc) {
                counts[gram] += scale * ends[arc].max(0.0);
            }
            ends[grams.arc_shorter(arc)] += ends[arc] - overridden[arc];
        }
    }

    /// The most probable label of each position on its own, the smallest on ties: the fewest expected errors,
    /// though neighbours may not fit. See
    /// [`Workspace::minimum_risk`](crate::inference::Workspace::minimum_risk).
    pub fn max_marginal(&self, path: &mut Vec<u32>) {
        path.clear();
        for row in self.sums.nodes.chunks_exact(self.chain.labels()) {
            let mut best = 0;
            for (label, &marginal) in row.iter().enumerate() {
                if marginal > row[best] {
                    best = label;
                }
            }
            path.push(best as u32);
        }
    }

    /// Draws a labelling with its posterior probability.
    pub fn sample(&mut self, generator: &mut Generator, path: &mut Vec<u32>) {
        path.clear();
        let mut next: Option<usize> = None;
        for position in (0..self.chain.len()).rev() {
            let column = self.sums.trellis.column(position);
            let mut weights = std::mem::take(&mut self.sums.scratch);
            weights.clear();
            weights.extend(column.clone().map(|index| {
                let Some(next) = next else { return self.log_alpha(index) + self.log_beta(index) };
                let entered = self.sums.trellis.state[next];
                let label = self.chain.label_of(entered);
                let (target, score) = self.chain.arc(position + 1, self.sums.trellis.state[index], label);
                if target == entered { self.log_alpha(index) + score } else { f64::NEG_INFINITY }
            }));
            let index = column.start + draw(&mut weights, generator.uniform());
            self.sums.scratch = weights;
            path.push(self.chain.label_of(self.sums.trellis.state[index]));
            next = Some(index);
        }
        path.reverse();
    }

    /// Whether scores left the range of probabilities, so that the sums were made on logarithms: slower, and
    /// as exact.
    pub fn in_log_space(&self) -> bool {
        self.sums.log_space
    }
}

/// Picks an index with probability proportional to exp(weight).
fn draw(weights: &mut [f64], uniform: f64) -> usize {
    let most = weights.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    let mut total = 0.0;
    for weight in weights.iter_mut() {
        total += (*weight - most).exp();
        *weight = total;
    }
    let wanted = uniform * total;
    // The first cumulated weight above the wanted one belongs to an index of positive weight.
    weights.partition_point(|&cumulated| cumulated <= wanted).min(weights.len() - 1)
}
