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
        // Once all were looked at since the last change, nothing changes any more.
        let (count, mut settled) = (variables.clone().count(), 0);
        for variable in variables.cycle() {
            if settled == count {
                break;
            }
            settled += 1;
            let Some(cost) = self.cost(variable) else { continue };
            if effort < cost {
                break;
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
                (ever, settled) = (true, 1);
            }
        }
        ever
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

/// A position that knows what it is worth, and which move may mend what another one broke.
pub(crate) trait Chain: Position {
    /// What the whole is worth, what is broken included.
    fn worth(&mut self) -> f64;

    /// What a move of one variable gains, where that is known without making it and breaks nothing.
    fn gain(&self, _variable: usize, _state: usize) -> Option<f64> {
        None
    }

    /// Whether nothing is broken.
    fn is_sound(&self) -> bool;

    /// The number of states of a variable.
    fn states(&self, variable: usize) -> usize;

    /// A move to try: any, or one that may mend something.
    fn propose(&mut self, variables: &[u32], dice: &mut Dice) -> (usize, usize) {
        let variable = variables[dice.below(variables.len())] as usize;
        let count = self.states(variable);
        (variable, (self.state(variable) + 1 + dice.below(count - 1)) % count)
    }

    /// A move that may mend what a variable broke that was in state `from` before.
    fn next(&mut self, variable: usize, from: usize, dice: &mut Dice) -> Option<(usize, usize)>;

    /// Work done so far.
    fn work(&self) -> usize;

    /// Simulated annealing (Kirkpatrick et al. 1983) over some variables of two states or more, by chains of up to four moves of
    /// which each mends what the one before broke. The temperature falls from `heat` to a two-hundredth of it
    /// while the effort is spent. The best that breaks nothing is recorded.
    fn anneal(
        &mut self,
        variables: &[u32],
        heat: f64,
        effort: usize,
        record: &mut Record,
        dice: &mut Dice,
        expired: impl Fn() -> bool,
    ) {
        let (start, mut temperature) = (self.work(), heat);
        let mut undo = [(0, 0); 4];
        for step in 0.. {
            if step % 64 == 0 {
                let spent = (self.work() - start) as f64 / effort.max(1) as f64;
                if spent >= 1.0 || step > effort || (step % 1024 == 0 && expired()) {
                    return;
                }
                temperature = heat * 0.005f64.powf(spent);
            }
            let (variable, state) = self.propose(variables, dice);
            let luck = dice.uniform();
            // The logarithm is the dear part, and only losses between these two need it.
            let accepts = |gain: f64| {
                gain >= 0.0 || gain >= temperature * Dice::LEAST_LOG && gain >= temperature * luck.ln()
            };
            if self.gain(variable, state).is_some_and(|gain| !accepts(gain)) {
                continue;
            }
            let before = self.worth();
            let (mut moves, mut next) = (0, Some((variable, state)));
            while let Some((variable, state)) = next.take() {
                undo[moves] = (variable, self.state(variable));
                self.set(variable, state);
                moves += 1;
                if moves < undo.len() {
                    next = self.next(variable, undo[moves - 1].1, dice);
                }
            }
            let worth = self.worth();
            if accepts(worth - before) {
                record.moved.extend(undo[..moves].iter().map(|&(variable, _)| variable as u32));
                if self.is_sound() {
                    record.keep(worth, |variable| self.state(variable));
                }
            } else {
                undo[..moves].iter().rev().for_each(|&(variable, state)| self.set(variable, state));
            }
        }
    }
}

/// The best position seen, brought up to date only where something moved since.
#[derive(Default)]
pub(crate) struct Record {
    /// What it is worth, if there is one.
    pub worth: Option<f64>,
    pub states: Vec<u32>,
    /// Variables that may have moved since.
    moved: Vec<u32>,
}

impl Record {
    /// A record of so many variables, all of which are still to be looked at.
    pub(crate) fn new(variables: usize) -> Self {
        Record { worth: None, states: vec![0; variables], moved: (0..variables as u32).collect() }
    }

    /// Says that all may have moved.
    pub(crate) fn forget_moves(&mut self) {
        self.moved.clear();
        self.moved.extend(0..self.states.len() as u32);
    }

    /// Keeps a position that is worth more than the best one.
    pub(crate) fn keep(&mut self, worth: f64, state: impl Fn(usize) -> usize) {
        if self.worth.is_none_or(|best| worth > best + 1e-12 * best.abs()) {
            self.worth = Some(worth);
            for variable in self.moved.drain(..) {
                self.states[variable as usize] = state(variable as usize) as u32;
            }
        } else if self.moved.len() > 4 * self.states.len() {
            self.moved.sort_unstable();
            self.moved.dedup();
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

impl Default for Dice {
    fn default() -> Self {
        Self::new(1)
    }
}

impl Dice {
    /// Below the logarithm of the smallest number that [`Dice::uniform`] gives, 2⁻³¹.
    const LEAST_LOG: f64 = -21.5;

    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }

    /// A number above zero and up to one.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.next() + 1) as f64 / (1u64 << 31) as f64
    }
}
