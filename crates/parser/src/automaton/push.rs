//! What an automaton knows about its arcs, handed over one arc after the other.

use consonant_learn::vectorized;

use super::{Head, LANES, Lanes, NOTHING, Tables, larger, pairs_below, plus, sum};

/// Buffers of [`Head::push`].
#[derive(Debug, Default)]
pub(crate) struct PushWorkspace {
    /// The scores of incoming arcs, and what they are worth with all but the side at hand.
    own: Vec<Lanes>,
    base: Vec<Lanes>,
    best: [Vec<Lanes>; 2],
    /// The best rest of a side from a modifier on (with triples: from two neighbours on), the modifier's own
    /// score in it; then the best prefix up to there, without that score.
    rests: [Vec<Lanes>; 2],
    prefixes: Vec<Lanes>,
}

#[inline(always)]
fn most(lanes: Lanes) -> f64 {
    lanes.into_iter().fold(f64::NEG_INFINITY, |a, b| if b > a { b } else { a })
}

#[inline(always)]
fn refill(values: &mut Vec<Lanes>, len: usize) {
    values.clear();
    values.resize(len, NOTHING);
}

vectorized! {
    fn push(head: &Head, share: f64, scores: &mut [f64], messages: &mut [f64], workspace: &mut PushWorkspace) -> f64 {
        head.hand_on(share, scores, messages, workspace)
    }
}

impl Head {
    /// Hands over what the automaton knows: moves score from each link to `messages` until being on and being
    /// off are worth the same for all links alike, and returns what the best configuration is worth then.
    ///
    /// Links come one after the other, each seen with what its predecessors have left: being on minus being
    /// off goes to the message of an outgoing arc; incoming arcs, of which one is on, get by how much each is
    /// below the best. The sum of this automaton and the messages is what it was, configuration by
    /// configuration, but for a constant, which is in the value. A link that cannot be on keeps its score.
    pub(crate) fn push(
        &self,
        share: f64,
        scores: &mut [f64],
        messages: &mut [f64],
        workspace: &mut PushWorkspace,
    ) -> f64 {
        push(self, share, scores, messages, workspace)
    }

    #[inline(always)]
    fn hand_on(
        &self,
        share: f64,
        scores: &mut [f64],
        messages: &mut [f64],
        workspace: &mut PushWorkspace,
    ) -> f64 {
        let blocks = self.incoming.max(1).div_ceil(LANES);
        let PushWorkspace { own, base, best, rests, prefixes } = workspace;
        refill(own, blocks);
        match self.incoming {
            0 => own[0][0] = 0.0,
            _ => (0..self.incoming).for_each(|g| own[g / LANES][g % LANES] = scores[g]),
        }
        let starts = self.starts();
        for (at, side) in self.sides.iter().enumerate() {
            best[at].clear();
            best[at].resize(blocks, [0.0; LANES]);
            if side.modifiers > 0 {
                refill(&mut rests[at], blocks * side.values());
                for (block, rests) in rests[at].chunks_exact_mut(side.values()).enumerate() {
                    best[at][block] = side.rests(block, &scores[starts[at]..], rests);
                }
            }
        }
        for (at, side) in self.sides.iter().enumerate() {
            if side.modifiers == 0 {
                continue;
            }
            let range = starts[at]..starts[at] + side.modifiers;
            base.clear();
            base.extend(own.iter().zip(&best[1 - at]).map(|(&own, &other)| sum(own, other)));
            refill(prefixes, blocks * side.values());
            let (scores, messages) = (&mut scores[range.clone()], &mut messages[range]);
            match side.triples.is_empty() {
                true => side.push_pairs(base, &rests[at], prefixes, scores, messages, share),
                false => side.push_triples(base, &rests[at], prefixes, scores, messages, share),
            }
            for (best, prefixes) in best[at].iter_mut().zip(prefixes.chunks_exact(side.values())) {
                *best = side.end(prefixes);
            }
        }
        let worth = |g: usize| {
            let at = |values: &[Lanes]| values[g / LANES][g % LANES];
            at(own) + at(&best[0]) + at(&best[1])
        };
        let value = (0..self.incoming.max(1)).map(worth).fold(f64::NEG_INFINITY, f64::max);
        for g in 0..self.incoming {
            let message = (worth(g) - value) * share;
            if message.is_finite() {
                messages[g] = message;
                scores[g] -= message;
            } else {
                messages[g] = 0.0;
            }
        }
        value
    }
}

impl Tables {
    /// How many values a block of prefixes or rests has: one for each modifier, start and end, or with triples for each two
    /// neighbours.
    fn values(&self) -> usize {
        if self.triples.is_empty() { self.modifiers + 2 } else { self.size() }
    }

    /// Fills `rests` for one block; returns the best values of the side.
    #[inline(always)]
    fn rests(&self, block: usize, scores: &[f64], rests: &mut [Lanes]) -> Lanes {
        let pairs = &self.pairs[block * self.size()..][..self.size()];
        let end = self.modifiers + 1;
        let own = |k: usize| if k < end { scores[k - 1] } else { 0.0 };
        if self.triples.is_empty() {
            rests[end] = [0.0; LANES];
            for j in (0..end).rev() {
                let mut best = NOTHING;
                for k in j + 1..=end {
                    best = larger(sum(pairs[pairs_below(k) + j], rests[k]), best);
                }
                rests[j] = if j > 0 { plus(best, own(j)) } else { best };
            }
            return rests[0];
        }
        rests[pairs_below(end)..].fill([0.0; LANES]);
        for k in (1..end).rev() {
            for j in 0..k {
                let mut best = NOTHING;
                for l in k + 1..=end {
                    let next = sum(pairs[pairs_below(l) + k], rests[pairs_below(l) + k]);
                    best = larger(plus(next, self.triples(k, l)[j]), best);
                }
                rests[pairs_below(k) + j] = plus(best, own(k));
            }
        }
        (1..=end).fold(NOTHING, |best, k| larger(sum(pairs[pairs_below(k)], rests[pairs_below(k)]), best))
    }

    /// The best values of the side, after prefixes were filled.
    #[inline(always)]
    fn end(&self, prefixes: &[Lanes]) -> Lanes {
        let end = self.modifiers + 1;
        match self.triples.is_empty() {
            true => prefixes[end],
            false => prefixes[pairs_below(end)..][..end].iter().fold(NOTHING, |best, &one| larger(one, best)),
        }
    }

    #[inline(always)]
    fn push_pairs(
        &self,
        base: &[Lanes],
        rests: &[Lanes],
        prefixes: &mut [Lanes],
        scores: &mut [f64],
        messages: &mut [f64],
        share: f64,
    ) {
        let (size, width, end) = (self.size(), self.values(), self.modifiers + 1);
        for (prefixes, pairs) in prefixes.chunks_exact_mut(width).zip(self.pairs.chunks_exact(size)) {
            for k in 1..=end {
                prefixes[k] = pairs[pairs_below(k)];
            }
        }
        for j in 1..end {
            let (mut on, mut off) = (NOTHING, NOTHING);
            for (block, &base) in base.iter().enumerate() {
                let (prefixes, rests) =
                    (&prefixes[block * width..][..width], &rests[block * width..][..width]);
                let mut best = NOTHING;
                for k in j + 1..=end {
                    best = larger(sum(prefixes[k], rests[k]), best);
                }
                on = larger(sum(sum(prefixes[j], rests[j]), base), on);
                off = larger(sum(best, base), off);
            }
            hand_over(share, most(on) - most(off), &mut scores[j - 1], &mut messages[j - 1]);
            for (prefixes, pairs) in prefixes.chunks_exact_mut(width).zip(self.pairs.chunks_exact(size)) {
                let here = plus(prefixes[j], scores[j - 1]);
                for (k, prefix) in (j + 1..).zip(&mut prefixes[j + 1..]) {
                    let pair = pairs[pairs_below(k) + j];
                    *prefix = larger(sum(here, pair), *prefix);
                }
            }
        }
    }

    #[inline(always)]
    fn push_triples(
        &self,
        base: &[Lanes],
        rests: &[Lanes],
        prefixes: &mut [Lanes],
        scores: &mut [f64],
        messages: &mut [f64],
        share: f64,
    ) {
        let (size, end) = (self.size(), self.modifiers + 1);
        for block in 0..base.len() {
            for k in 1..=end {
                let at = block * size + pairs_below(k);
                prefixes[at] = self.pairs[at];
            }
        }
        for j in 1..end {
            let (mut on, mut off) = (NOTHING, NOTHING);
            for (block, &base) in base.iter().enumerate() {
                let (prefixes, rests) = (&prefixes[block * size..][..size], &rests[block * size..][..size]);
                let mut best = NOTHING;
                for k in j + 1..=end {
                    let start = pairs_below(k);
                    for i in start..start + j {
                        best = larger(sum(prefixes[i], rests[i]), best);
                    }
                }
                off = larger(sum(best, base), off);
                let start = pairs_below(j);
                let mut best = NOTHING;
                for i in start..start + j {
                    best = larger(sum(prefixes[i], rests[i]), best);
                }
                on = larger(sum(best, base), on);
            }
            hand_over(share, most(on) - most(off), &mut scores[j - 1], &mut messages[j - 1]);
            for block in 0..base.len() {
                let prefixes = &mut prefixes[block * size..][..size];
                for k in j + 1..=end {
                    let triples = self.triples(j, k);
                    let mut best = NOTHING;
                    for i in 0..j {
                        best = larger(plus(prefixes[pairs_below(j) + i], triples[i]), best);
                    }
                    let at = pairs_below(k) + j;
                    prefixes[at] = plus(sum(best, self.pairs[block * size + at]), scores[j - 1]);
                }
            }
        }
    }
}

/// Moves `message` from a score to a message; one that is not finite stays.
#[inline(always)]
fn hand_over(share: f64, message: f64, score: &mut f64, slot: &mut f64) {
    *slot = 0.0;
    let message = message * share;
    if message.is_finite() {
        *slot = message;
        *score -= message;
    }
}
