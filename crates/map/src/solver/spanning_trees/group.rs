//! The slave of one larger factor: all patterns over the same vertices.

/// Patterns over one list of vertices, sorted by their states; at most one of them can hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    /// The vertices, by their position among the slave's vertices.
    pub(super) size: usize,
    /// `size` states for each pattern.
    states: Vec<u32>,
    weights: Vec<f64>,
    /// Best states of the vertices apart, and the sum of their scores from each vertex on.
    apart: Vec<u32>,
    suffix: Vec<f64>,
    prefix: Vec<u32>,
}

impl Group {
    /// Starts anew over `size` vertices.
    pub(super) fn reset(&mut self, size: usize) {
        self.size = size;
        self.states.clear();
        self.weights.clear();
    }

    /// Adds a pattern. Patterns must come in the order of their states; equal ones add up.
    pub(super) fn push(&mut self, states: impl Iterator<Item = u32>, weight: f64) {
        let start = self.states.len();
        self.states.extend(states);
        if start > 0 && self.states[start - self.size..start] == self.states[start..] {
            self.states.truncate(start);
            *self.weights.last_mut().expect("an equal pattern stands before") += weight;
        } else {
            self.weights.push(weight);
        }
    }

    /// The best labelling under scores by vertex (`scores[i]` are those of the i-th); writes it and returns its value.
    pub(super) fn solve(&mut self, scores: &[&[f64]], labels: &mut [u32]) -> f64 {
        self.apart.clear();
        self.suffix.clear();
        self.suffix.resize(self.size + 1, 0.0);
        for i in (0..self.size).rev() {
            let (state, score) = best_of(scores[i].iter().copied().enumerate());
            self.apart.push(state);
            self.suffix[i] = self.suffix[i + 1] + score;
        }
        self.apart.reverse();
        self.prefix.clear();
        self.prefix.resize(self.size, 0);
        let mut best = f64::NEG_INFINITY;
        labels.copy_from_slice(&self.apart);
        let mut prefix = std::mem::take(&mut self.prefix);
        self.search(scores, 0..self.weights.len(), 0, 0.0, &mut prefix, labels, &mut best);
        self.prefix = prefix;
        best
    }

    /// Walks the patterns in `range`, which agree with `prefix` on the first `depth` vertices, as a trie: wherever the
    /// labelling leaves all of them, the rest is free.
    #[allow(clippy::too_many_arguments)] // the state of a recursion
    fn search(
        &self,
        scores: &[&[f64]],
        range: std::ops::Range<usize>,
        depth: usize,
        score: f64,
        prefix: &mut [u32],
        labels: &mut [u32],
        best: &mut f64,
    ) {
        let mut offer = |value: f64, prefix: &[u32], known: usize| {
            if value > *best {
                *best = value;
                labels[..known].copy_from_slice(&prefix[..known]);
                labels[known..].copy_from_slice(&self.apart[known..]);
            }
        };
        if depth == self.size {
            offer(score + self.weights[range.start], prefix, depth);
            return;
        }
        let state_of = |p: usize| self.states[p * self.size + depth];
        let mut used = range.clone().map(state_of).peekable();
        let outside = scores[depth].iter().copied().enumerate().filter(|&(s, _)| {
            while used.peek().is_some_and(|&u| (u as usize) < s) {
                used.next();
            }
            used.peek().is_none_or(|&u| u as usize != s)
        });
        let (state, own) = best_of(outside);
        prefix[depth] = state;
        offer(score + own + self.suffix[depth + 1], prefix, depth + 1);
        let mut start = range.start;
        while start < range.end {
            let state = state_of(start);
            let mut end = start + 1;
            while end < range.end && state_of(end) == state {
                end += 1;
            }
            prefix[depth] = state;
            let score = score + scores[depth][state as usize];
            self.search(scores, start..end, depth + 1, score, prefix, labels, best);
            start = end;
        }
    }

    /// The largest absolute finite weight.
    pub(super) fn magnitude(&self) -> f64 {
        self.weights.iter().filter(|w| w.is_finite()).fold(0.0, |most, w| most.max(w.abs()))
    }
}

fn best_of(scores: impl Iterator<Item = (usize, f64)>) -> (u32, f64) {
    scores.fold(
        (0, f64::NEG_INFINITY),
        |best, (state, score)| if score > best.1 { (state as u32, score) } else { best },
    )
}
