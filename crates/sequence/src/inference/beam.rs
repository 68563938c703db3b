//! Beam search at any order: time linear in the number of labels, without a promise of the best sequence.

use super::chain::{Allowed, Chain};
use super::error::{InferenceError, Result, check_length};
use super::transitions::Kind;
use super::trellis::Trellis;

/// What a beam search found besides its path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BeamOutcome {
    /// Score of the path that was returned.
    pub score: f64,
    /// First position at which the gold prefix was no longer in the beam; the path then ends with this
    /// position.
    pub fell_off: Option<usize>,
}

/// At which prefix a perceptron compares a beam with gold (Huang, Fayong & Guo 2012).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Update {
    /// The first that the gold prefix has fallen off.
    Early,
    /// The last that scores at least as much as the gold prefix.
    Latest,
    /// The one that scores most above the gold prefix.
    Most,
}

/// Buffers of the search.
#[derive(Debug, Clone, Default)]
pub(crate) struct BeamSearch {
    trellis: Trellis,
    best: Vec<f64>,
    back: Vec<u32>,
    touched: Vec<u32>,
    /// The arc of each label out of the state at hand.
    arcs: Vec<u32>,
    survivors: Vec<(f64, u32)>,
}

impl BeamSearch {
    /// Keeps the `width` best states of each position; histories that share a state share its best value.
    ///
    /// With `gold`, stops at the first position where the gold prefix is not among the kept histories
    /// (Collins & Roark 2004): its score is then no larger than that of the prefix returned, so an update is
    /// a valid one.
    pub(crate) fn run(
        &mut self,
        chain: &Chain,
        width: usize,
        gold: Option<&[u32]>,
        path: &mut Vec<u32>,
    ) -> Result<BeamOutcome> {
        if width == 0 {
            return Err(InferenceError::Zero { what: "the width of a beam" });
        }
        if let Some(gold) = gold {
            check_length("gold labels", chain.len(), gold.len())?;
        }
        path.clear();
        if chain.is_empty() {
            return Ok(BeamOutcome { score: 0.0, fell_off: None });
        }
        let states = if width == 1 { 0 } else { chain.transitions.states() };
        self.best.clear();
        self.best.resize(states, f64::NEG_INFINITY);
        self.back.resize(states, 0);
        self.trellis.clear();
        let mut gold_index = None;
        for position in 0..chain.len() {
            if width == 1 {
                self.step_greedily(chain, position)?;
            } else {
                self.expand(chain, position);
                self.select(chain, position, width)?;
            }
            if let Some(gold) = gold {
                gold_index = self.find_gold(chain, position, gold[position], gold_index);
                if gold_index.is_none() {
                    return Ok(self.finish(chain, self.trellis.column(position).start, Some(position), path));
                }
            }
        }
        let best = self
            .trellis
            .best_end(chain)
            .map_err(|_| InferenceError::BeamDeadEnd { position: chain.len(), width })?;
        Ok(self.finish(chain, best, None, path))
    }

    /// Goes on to the end whether the gold prefix stays in the beam or not, and returns the best prefix of the position that
    /// `update` chooses among those at which it scores at least as much as the gold prefix, and is another: an update
    /// there is a valid one. None where there is no such position.
    pub(crate) fn violation(
        &mut self,
        chain: &Chain,
        width: usize,
        gold: &[u32],
        update: Update,
        path: &mut Vec<u32>,
    ) -> Result<Option<BeamOutcome>> {
        check_length("gold labels", chain.len(), gold.len())?;
        self.run(chain, width, None, path)?;
        let (mut state, mut value, mut chosen) = (0, 0.0, None);
        for (position, &label) in gold.iter().enumerate() {
            let score = match position {
                0 => {
                    state = label;
                    0.0
                }
                _ => {
                    let (target, score) = chain.arc(position, state, label);
                    state = target;
                    score
                }
            };
            value += score + chain.node(position, label);
            let best = self.trellis.column(position).start;
            let violation = self.trellis.value[best] - value;
            let is_more = match (chosen, update) {
                (Some((_, most)), Update::Most) => violation > most,
                _ => true,
            };
            if violation >= 0.0 && is_more {
                self.trellis.trace_prefix(chain, position + 1, best, path);
                if path[..] != gold[..=position] {
                    chosen = Some((position, violation));
                }
            }
        }
        let Some((position, _)) = chosen else { return Ok(None) };
        let best = self.trellis.column(position).start;
        self.trellis.trace_prefix(chain, position + 1, best, path);
        Ok(Some(BeamOutcome { score: self.trellis.value[best], fell_off: Some(position) }))
    }

    fn finish(
        &self,
        chain: &Chain,
        index: usize,
        fell_off: Option<usize>,
        path: &mut Vec<u32>,
    ) -> BeamOutcome {
        self.trellis.trace(chain, index, path);
        BeamOutcome { score: self.trellis.value[index], fell_off }
    }

    /// A beam of one history: its best continuation, the smaller label on ties.
    fn step_greedily(&mut self, chain: &Chain, position: usize) -> Result<()> {
        let transitions = chain.transitions;
        let last = position + 1 == chain.len();
        let (mut best, mut found) = (f64::NEG_INFINITY, None);
        let mut offer = |label: u32, target: u32, score: f64| {
            let value = score + chain.node(position, label);
            if value > best && (!last || transitions.allows_end(label)) {
                (best, found) = (value, Some(target));
            }
        };
        if position == 0 {
            for label in chain.allowed(0).iter().filter(|&label| transitions.allows_start(label)) {
                offer(label, label, 0.0);
            }
        } else {
            let index = self.trellis.column(position - 1).start;
            let (state, value) = (self.trellis.state[index], self.trellis.value[index]);
            match (&transitions.kind, chain.allowed(position)) {
                (Kind::Grams(grams), Allowed::All(_)) => {
                    grams.arc_of_each_label(state, &mut self.arcs);
                    for (label, &arc) in self.arcs.iter().enumerate() {
                        offer(label as u32, arc, value + grams.arc_score(arc as usize));
                    }
                    found = found.map(|arc| grams.arc_target(arc as usize));
                }
                (_, allowed) => {
                    for label in allowed.iter() {
                        let (target, score) = chain.arc(position, state, label);
                        offer(label, target, value + score);
                    }
                }
            }
        }
        match (found, position) {
            (Some(state), _) => {
                self.trellis.push(state, best);
                self.trellis.back.push(0);
                self.trellis.close_column();
                Ok(())
            }
            (None, 0) => Err(InferenceError::NoAllowedSequence { position }),
            (None, _) => Err(InferenceError::BeamDeadEnd { position, width: 1 }),
        }
    }

    fn relax(&mut self, state: u32, value: f64, source: u32) {
        let best = &mut self.best[state as usize];
        if value > *best {
            if *best == f64::NEG_INFINITY {
                self.touched.push(state);
            }
            *best = value;
            self.back[state as usize] = source;
        }
    }

    fn expand(&mut self, chain: &Chain, position: usize) {
        let allowed = chain.allowed(position);
        if position == 0 {
            for label in allowed.iter().filter(|&label| chain.transitions.allows_start(label)) {
                self.relax(label, chain.node(0, label), 0);
            }
            return;
        }
        let previous = self.trellis.column(position - 1);
        for (rank, index) in previous.enumerate() {
            let (state, value) = (self.trellis.state[index], self.trellis.value[index]);
            match (&chain.transitions.kind, allowed) {
                (Kind::Grams(grams), Allowed::All(labels)) => {
                    grams.arc_of_each_label(state, &mut self.arcs);
                    for label in 0..labels {
                        let arc = self.arcs[label] as usize;
                        let score = grams.arc_score(arc) + chain.node(position, label as u32);
                        self.relax(grams.arc_target(arc), value + score, rank as u32);
                    }
                }
                _ => {
                    for label in allowed.iter() {
                        let (target, score) = chain.arc(position, state, label);
                        self.relax(target, value + (score + chain.node(position, label)), rank as u32);
                    }
                }
            }
        }
    }

    /// Closes the column with the best states, best first, the smaller state first on ties.
    fn select(&mut self, chain: &Chain, position: usize, width: usize) -> Result<()> {
        let last = position + 1 == chain.len();
        self.survivors.clear();
        for state in self.touched.drain(..) {
            let value = std::mem::replace(&mut self.best[state as usize], f64::NEG_INFINITY);
            // A state that may not end the sentence would only take another's place in the last column.
            if !last || chain.transitions.allows_end(chain.label_of(state)) {
                self.survivors.push((value, state));
            }
        }
        let order = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if self.survivors.len() > width {
            self.survivors.select_nth_unstable_by(width - 1, order);
            self.survivors.truncate(width);
        }
        self.survivors.sort_unstable_by(order);
        for &(value, state) in &self.survivors {
            self.trellis.push(state, value);
            self.trellis.back.push(self.back[state as usize]);
        }
        self.trellis.close_column();
        match (self.survivors.is_empty(), position) {
            (false, _) => Ok(()),
            (true, 0) => Err(InferenceError::NoAllowedSequence { position }),
            (true, _) => Err(InferenceError::BeamDeadEnd { position, width }),
        }
    }

    /// Index in the column of the history that is exactly the gold prefix.
    fn find_gold(&self, chain: &Chain, position: usize, label: u32, before: Option<u32>) -> Option<u32> {
        let mut column = self.trellis.column(position);
        let start = column.start;
        column
            .find(|&index| {
                chain.label_of(self.trellis.state[index]) == label
                    && (position == 0 || Some(self.trellis.back[index]) == before)
            })
            .map(|index| (index - start) as u32)
    }
}
