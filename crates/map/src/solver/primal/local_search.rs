//! Local search, the same for assignments of graphs, of pattern models and of networks.

/// An assignment of some problem, changed one variable at a time.
pub(crate) trait Position {
    /// The state of a variable.
    fn state(&self, variable: usize) -> usize;

    /// Gives a variable another state.
    fn set(&mut self, variable: usize, state: usize);

    /// For each state of a variable, what everything around it would be worth, the other variables as they
    /// are. What is forbidden costs a finite penalty, or is minus infinity where another state breaks fewer
    /// constraints.
    fn scores(&mut self, variable: usize) -> &[f64];

    /// What it costs to ask for the scores of a variable; nothing where it has to stay as it is.
    fn cost(&self, _variable: usize) -> Option<usize> {
        Some(1)
    }

    /// Iterated conditional modes: gives each variable in turn its best state, the others fixed, until
    /// nothing changes or the effort is spent. Returns whether anything changed.
    fn climb(&mut self, variables: impl Iterator<Item = usize> + Clone, mut effort: usize) -> bool {
        let mut ever = false;
        loop {
            let mut changed = false;
            for variable in variables.clone() {
                let Some(cost) = self.cost(variable) else { continue };
                if effort < cost {
                    return ever | changed;
                }
                effort -= cost;
                let now = self.state(variable);
                let mut best = now;
                let scores = self.scores(variable);
                for (state, &score) in scores.iter().enumerate() {
                    // Rounding alone makes no state better.
                    if score - scores[best] > 1e-12 * score.abs() {
                        best = state;
                    }
                }
                if best != now {
                    self.set(variable, best);
                    changed = true;
                }
            }
            ever |= changed;
            if !changed {
                return ever;
            }
        }
    }

    /// Tabu search over variables `0..count`: always the best move of a variable that did not move lately.
    /// Ends at the best assignment seen, or where it is when `expired` says so.
    fn tabu(&mut self, count: usize, moves: usize, dice: &mut Dice, expired: impl Fn() -> bool) {
        let mut states: Vec<usize> = (0..count).map(|variable| self.state(variable)).collect();
        let mut best_states = states.clone();
        let (mut current, mut best) = (0.0, 0.0);
        let mut free_from = vec![0; count];
        for step in 0..moves {
            if step % 256 == 0 && expired() {
                break;
            }
            let (mut chosen, mut chosen_gain) = (None, f64::NEG_INFINITY);
            for variable in 0..count {
                let scores = self.scores(variable);
                let here = scores[states[variable]];
                for (state, &score) in scores.iter().enumerate() {
                    let gain = score - here;
                    if gain > chosen_gain
                        && state != states[variable]
                        && (free_from[variable] <= step || current + gain > best + 1e-9)
                    {
                        (chosen, chosen_gain) = (Some((variable, state)), gain);
                    }
                }
            }
            let Some((variable, state)) = chosen else { break };
            self.set(variable, state);
            states[variable] = state;
            current += chosen_gain;
            free_from[variable] = step + 2 + count.min(40) / 4 + dice.below(count.min(40) / 4 + 1);
            if current > best + 1e-9 {
                best = current;
                best_states.copy_from_slice(&states);
            }
        }
        for (variable, state) in best_states.into_iter().enumerate().filter(|&(v, state)| state != states[v])
        {
            self.set(variable, state);
        }
    }
}

/// A position that knows which variables have a part of the problem in common.
pub(crate) trait Connected: Position {
    /// Calls `visit` with every variable that shares a part with this one.
    fn around(&self, variable: usize, visit: impl FnMut(usize));

    /// Takes over from `other` every connected group of differing variables that is worth more there, the
    /// rest fixed. Returns whether anything was taken over.
    fn fuse(
        &mut self,
        variables: impl Iterator<Item = usize>,
        other: impl Fn(usize) -> usize,
        buffers: &mut Fusion,
    ) -> bool {
        let Fusion { seen, round, group } = buffers;
        *round += 1;
        let mut taken = false;
        for start in variables {
            if seen.get(start) == Some(round) || self.state(start) == other(start) {
                continue;
            }
            group.clear();
            let mut enter = |variable: usize, own: usize, group: &mut Vec<(usize, usize)>| {
                if seen.len() <= variable {
                    seen.resize(variable + 1, 0);
                }
                if seen[variable] != *round && own != other(variable) {
                    seen[variable] = *round;
                    group.push((variable, own));
                }
            };
            enter(start, self.state(start), group);
            let mut next = 0;
            while next < group.len() {
                self.around(group[next].0, |variable| enter(variable, self.state(variable), group));
                next += 1;
            }
            let mut gain = 0.0;
            for &(variable, own) in group.iter() {
                let scores = self.scores(variable);
                gain += scores[other(variable)] - scores[own];
                self.set(variable, other(variable));
            }
            if gain > 0.0 {
                taken = true;
            } else {
                group.iter().for_each(|&(variable, own)| self.set(variable, own));
            }
        }
        taken
    }
}

/// Buffers of [`Connected::fuse`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Fusion {
    /// The call in which a variable was last part of a group, and the number of the present one.
    seen: Vec<u32>,
    round: u32,
    /// The variables of a group, with the states that they have.
    group: Vec<(usize, usize)>,
}

/// A small generator (xorshift64*), so that results repeat.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % count.max(1) as u64) as usize
    }
}
