//! A walk over the assignments of a graph, whatever its factors: moves of single variables and chains of them
//! that mend what the first one breaks, under falling temperatures.
//!
//! Constraints may be broken on the way, at a price that rises while a round ends with broken ones and falls
//! while none does. An exactly-one over binary variables is one variable here, and a variable that is the OR
//! of others follows them, so that no move breaks either. The best assignment that breaks nothing is kept.

mod build;

use super::{Chain, Dice, Position, Record};
use crate::group::{Group, Warm};
use crate::model::{Graph, Literal};
use crate::solver::lowering::{Site, assignment, enter};

/// Lists of different lengths, one after the other.
#[derive(Default)]
struct Lists<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy + Default> Lists<T> {
    /// Sorts (list, item) pairs into lists; their order in a list stays.
    fn new(count: usize, pairs: &[(u32, T)]) -> Self {
        let mut starts = vec![0u32; count + 1];
        pairs.iter().for_each(|&(list, _)| starts[list as usize + 1] += 1);
        (0..count).for_each(|list| starts[list + 1] += starts[list]);
        let (mut next, mut items) = (starts.clone(), vec![T::default(); pairs.len()]);
        for &(list, item) in pairs {
            items[next[list as usize] as usize] = item;
            next[list as usize] += 1;
        }
        Self { starts, items }
    }

    fn range(&self, list: usize) -> std::ops::Range<usize> {
        self.starts[list] as usize..self.starts[list + 1] as usize
    }

    fn of(&self, list: usize) -> &[T] {
        &self.items[self.range(list)]
    }
}

/// What depends on how much of it holds: the *load*, a sum over the literals that hold.
#[derive(Clone, Copy)]
struct Term {
    load: f64,
    /// The load while no variable is in a state that a literal names: negated literals hold then.
    start: f64,
    /// What breaking it counts: the more, the more often it was found broken (the breakout method, Morris 1993).
    weight: f64,
    rule: Rule,
}

#[derive(Clone, Copy)]
enum Rule {
    /// A score that counts from this load on.
    Step { from: f64, score: f64 },
    /// The load has to lie between two numbers; how far it is off is counted in units.
    Range { least: f64, most: f64, unit: f64 },
    /// A binary variable is in state 1 exactly if the load is (not) zero.
    Defines { variable: u32, negated: bool },
    /// The whole part of the load counts inputs; the fraction is the output, which has to be their OR.
    Or,
}

impl Term {
    /// Score, and how much is broken.
    fn worth(&self) -> (f64, f64) {
        let load = self.load;
        match self.rule {
            Rule::Step { from, score } => (if load >= from - 0.5 { score } else { 0.0 }, 0.0),
            Rule::Range { least, most, unit } => {
                let off = (least - load).max(load - most);
                let broken = if off > 1e-12 * load.abs() { (off / unit).max(0.1) } else { 0.0 };
                (0.0, self.weight * broken)
            }
            Rule::Defines { .. } => (0.0, 0.0),
            Rule::Or => {
                let broken = (load >= 0.75) != (load.fract() > 0.25);
                (0.0, if broken { self.weight } else { 0.0 })
            }
        }
    }
}

/// A literal of a term: what the load gains when the slot turns on.
#[derive(Clone, Copy, Default)]
struct Share {
    term: u32,
    load: f64,
}

/// A literal of a term, seen from there.
#[derive(Clone, Copy, Default)]
struct Member {
    variable: u32,
    state: u32,
    negated: bool,
}

/// A table that a variable is in, and how far apart its states are there.
#[derive(Clone, Copy, Default)]
struct Place {
    table: u32,
    stride: u32,
}

/// A factor that only its oracle knows.
struct Structured {
    group: u32,
    factor: u32,
    /// Its own score; minus infinity where it does not allow what holds.
    value: f64,
    is_stale: bool,
}

/// An assignment on its way.
pub(crate) struct Walk<'a> {
    graph: &'a Graph,
    sites: Vec<Site>,
    /// Where the states of each variable begin among all.
    first: Vec<u32>,
    states: Vec<u32>,
    unary: Vec<f64>,
    /// Where each table's entries begin, and the entry that holds.
    tables: Vec<(u32, u32)>,
    entries: Vec<f64>,
    places: Lists<Place>,
    terms: Vec<Term>,
    shares: Lists<Share>,
    members: Lists<Member>,
    /// The terms that are broken, and for each term its place among those.
    broken_terms: Vec<u32>,
    broken_at: Vec<u32>,
    structured: Vec<Structured>,
    structured_of: Lists<u32>,
    stale: Vec<u32>,
    warm: Vec<Warm>,
    on: Vec<bool>,
    /// A score larger than any the factors hold.
    large: f64,
    /// The variables that do not follow from others.
    free: Vec<u32>,
    is_free: Vec<bool>,
    /// The term that a variable follows from, where there is one.
    definer: Vec<u32>,
    /// Terms whose variable may have to follow.
    pending: Vec<u32>,
    /// The sum of all scores that can be had, and of all that is broken.
    score: f64,
    broken: f64,
    /// What one unit of what is broken costs.
    price: f64,
    /// Links, and how many of them were visited.
    links: usize,
    work: usize,
    record: Record,
    scores: Vec<f64>,
    dice: Dice,
    /// The state of each variable of which no slot is on.
    off: Vec<u32>,
    /// The typical size of a score.
    scale: f64,
}

/// Literals and terms that a move looks at to find one that mends what it broke.
const MOST_LOOKED_AT: usize = 64;

/// Definitions that a move looks through.
const MOST_STEPS: usize = 4;

/// What a term that is found broken weighs more.
const HEAVIER: f64 = 0.02;

/// The place of a term that is not broken.
const WHOLE: u32 = u32::MAX;

/// A sum to which a forbidden score adds one thing that is broken.
fn add(score: &mut f64, broken: &mut f64, x: f64, sign: f64) {
    if x == f64::NEG_INFINITY {
        *broken += sign;
    } else {
        *score += sign * x;
    }
}

impl Walk<'_> {
    fn size(&self, variable: usize) -> usize {
        (self.first[variable + 1] - self.first[variable]) as usize
    }

    fn holds(&self, member: Member) -> bool {
        (self.states[member.variable as usize] == member.state) != member.negated
    }

    /// Turns a state on or off in all terms that look at it.
    fn turn(&mut self, slot: usize, sign: f64) {
        for index in self.shares.range(slot) {
            let Share { term: number, load } = self.shares.items[index];
            let term = &mut self.terms[number as usize];
            let before = term.worth();
            term.load += sign * load;
            let after = term.worth();
            self.score += after.0 - before.0;
            self.broken += after.1 - before.1;
            if (before.1 > 0.0) != (after.1 > 0.0) {
                self.book(number, after.1 > 0.0);
            }
            let term = &self.terms[number as usize];
            if let Rule::Defines { .. } = term.rule {
                self.pending.push(number);
            }
        }
        self.work += self.shares.range(slot).len();
    }

    /// Books that a term is broken, or whole again.
    fn book(&mut self, term: u32, is_broken: bool) {
        if is_broken {
            self.broken_at[term as usize] = self.broken_terms.len() as u32;
            self.broken_terms.push(term);
            return;
        }
        let at = std::mem::replace(&mut self.broken_at[term as usize], WHOLE) as usize;
        self.broken_terms.swap_remove(at);
        if let Some(&moved) = self.broken_terms.get(at) {
            self.broken_at[moved as usize] = at as u32;
        }
    }

    /// Gives a variable a state, and nothing follows from it.
    fn put(&mut self, variable: usize, state: u32) {
        let (old, first) = (self.states[variable], self.first[variable]);
        if old == state {
            return;
        }
        let (before, after) = ((first + old) as usize, (first + state) as usize);
        add(&mut self.score, &mut self.broken, self.unary[before], -1.0);
        add(&mut self.score, &mut self.broken, self.unary[after], 1.0);
        for place in self.places.of(variable) {
            let (start, entry) = &mut self.tables[place.table as usize];
            add(&mut self.score, &mut self.broken, self.entries[(*start + *entry) as usize], -1.0);
            *entry = *entry + place.stride * state - place.stride * old;
            add(&mut self.score, &mut self.broken, self.entries[(*start + *entry) as usize], 1.0);
        }
        for &index in self.structured_of.of(variable) {
            if !std::mem::replace(&mut self.structured[index as usize].is_stale, true) {
                self.stale.push(index);
            }
        }
        self.states[variable] = state;
        self.work += 1 + self.places.range(variable).len();
        self.turn(before, -1.0);
        self.turn(after, 1.0);
    }

    /// Asks the oracles again that looked at something else.
    fn refresh(&mut self) {
        while let Some(index) = self.stale.pop() {
            let Structured { group, factor, value, .. } = self.structured[index as usize];
            let g: &dyn Group = &*self.graph.groups[group as usize];
            let links = &g.links()[g.range(factor as usize)];
            let (sites, states) = (&self.sites, &self.states);
            let holds = |link: &Literal| {
                let site = sites[link.slot()];
                (states[site.variable] as usize == site.state) != link.is_negated()
            };
            self.on.clear();
            self.on.extend(links.iter().map(holds));
            self.work += 8 * links.len();
            let now = g.score(&mut self.warm[group as usize], factor as usize, &self.on, self.large);
            add(&mut self.score, &mut self.broken, value, -1.0);
            add(&mut self.score, &mut self.broken, now, 1.0);
            let structured = &mut self.structured[index as usize];
            (structured.value, structured.is_stale) = (now, false);
        }
    }

    /// Lets variables follow that are defined by others.
    fn follow(&mut self) {
        while let Some(number) = self.pending.pop() {
            let Term { load, rule, .. } = self.terms[number as usize];
            if let Rule::Defines { variable, negated } = rule {
                self.put(variable as usize, ((load > 0.5) != negated) as u32);
            }
        }
    }

    /// Goes to an assignment of the graph, but for variables that follow from others.
    fn go(&mut self, assignment: &[u32]) {
        self.states.copy_from_slice(&self.off);
        enter(self.graph, &self.sites, assignment, |variable, state| self.states[variable] = state as u32);
        self.recount();
    }

    /// Adds up everything anew: what was added and taken away a million times has drifted.
    fn recount(&mut self) {
        (self.score, self.broken) = (self.graph.offset, 0.0);
        self.tables.iter_mut().for_each(|(_, entry)| *entry = 0);
        self.terms.iter_mut().for_each(|term| term.load = term.start);
        for variable in 0..self.states.len() {
            let state = self.states[variable];
            let slot = (self.first[variable] + state) as usize;
            add(&mut self.score, &mut self.broken, self.unary[slot], 1.0);
            for place in self.places.of(variable) {
                self.tables[place.table as usize].1 += place.stride * state;
            }
            for share in self.shares.of(slot) {
                self.terms[share.term as usize].load += share.load;
            }
        }
        for &(start, entry) in &self.tables {
            add(&mut self.score, &mut self.broken, self.entries[(start + entry) as usize], 1.0);
        }
        self.broken_terms.clear();
        self.broken_at.fill(WHOLE);
        for number in 0..self.terms.len() {
            let (score, broken) = self.terms[number].worth();
            self.score += score;
            self.broken += broken;
            if broken > 0.0 {
                self.book(number as u32, true);
            }
        }
        self.pending.extend(0..self.terms.len() as u32);
        self.follow();
        for (index, structured) in self.structured.iter_mut().enumerate() {
            // As if nothing had been asked yet.
            (structured.value, structured.is_stale) = (0.0, true);
            self.stale.push(index as u32);
        }
        self.refresh();
    }

    /// A move of another variable that mends a term which this one broke.
    fn remedy(&self, variable: usize, from: usize, dice: &mut Dice) -> Option<(usize, usize)> {
        let first = self.first[variable] as usize;
        let here = first + self.states[variable] as usize;
        // What it entered may be too much, what it left too little.
        for slot in [here, first + from] {
            let shares = self.shares.of(slot);
            let start = dice.below(shares.len());
            for at in (0..shares.len().min(MOST_LOOKED_AT)).map(|step| (start + step) % shares.len()) {
                let number = shares[at].term as usize;
                if self.is_broken(number) {
                    return self.mend(number, Some((variable, from)), dice);
                }
            }
        }
        None
    }

    fn is_broken(&self, term: usize) -> bool {
        self.broken_at[term] != WHOLE
    }

    /// A move that mends a broken term, or brings it nearer to that. With `after`, another variable moves than
    /// the one that just came from a state, into that state where it can: they exchange theirs.
    fn mend(&self, term: usize, after: Option<(usize, usize)>, dice: &mut Dice) -> Option<(usize, usize)> {
        let Term { load, rule, .. } = self.terms[term];
        // Whether a literal has to be one that holds; either will do for an OR.
        let holding = match rule {
            Rule::Range { most, .. } => Some(load > most),
            _ => None,
        };
        let mut member = self.any_member(term, holding, after, dice)?;
        // What follows from others changes when one of those does.
        for _ in 0..MOST_STEPS {
            let variable = member.variable as usize;
            if self.is_free[variable] {
                break;
            }
            let Rule::Defines { negated, .. } = self.terms[self.definer[variable] as usize].rule else {
                return None;
            };
            let any_input_holds = (self.states[variable] == 1) != negated;
            member = self.any_member(self.definer[variable] as usize, Some(any_input_holds), after, dice)?;
        }
        let (other, state) = (member.variable as usize, member.state as usize);
        if !self.is_free[other] {
            return None;
        }
        if self.states[other] as usize != state {
            return Some((other, state));
        }
        let size = self.size(other);
        match after {
            Some((_, from)) if from < size && from != state => Some((other, from)),
            _ => Some((other, (state + 1 + dice.below(size - 1)) % size)),
        }
    }

    /// A literal of a term, one that holds or one that does not if that is asked for, of a variable that did
    /// not just move.
    fn any_member(
        &self,
        term: usize,
        holding: Option<bool>,
        after: Option<(usize, usize)>,
        dice: &mut Dice,
    ) -> Option<Member> {
        let members = self.members.of(term);
        let start = dice.below(members.len());
        let mut looked_at =
            (0..members.len().min(MOST_LOOKED_AT)).map(|step| members[(start + step) % members.len()]);
        looked_at.find(|&member| {
            let variable = member.variable as usize;
            self.size(variable) > 1
                && after.is_none_or(|(moved, _)| variable != moved)
                && holding.is_none_or(|holding| self.holds(member) == holding)
        })
    }
}

impl Position for Walk<'_> {
    fn state(&self, variable: usize) -> usize {
        self.states[variable] as usize
    }

    fn set(&mut self, variable: usize, state: usize) {
        self.put(variable, state as u32);
        self.follow();
    }

    fn scores(&mut self, variable: usize) -> &[f64] {
        let now = self.states[variable] as usize;
        let mut scores = std::mem::take(&mut self.scores);
        scores.clear();
        for state in 0..self.size(variable) {
            self.set(variable, state);
            scores.push(self.worth());
        }
        self.set(variable, now);
        self.refresh();
        self.scores = scores;
        &self.scores
    }
}

impl Chain for Walk<'_> {
    fn worth(&mut self) -> f64 {
        self.refresh();
        self.score - self.price * self.broken
    }

    fn states(&self, variable: usize) -> usize {
        self.size(variable)
    }

    fn propose(&mut self, variables: &[u32], dice: &mut Dice) -> (usize, usize) {
        if !self.broken_terms.is_empty() && dice.below(2) == 0 {
            let term = self.broken_terms[dice.below(self.broken_terms.len())] as usize;
            let before = self.terms[term].worth().1;
            self.terms[term].weight += HEAVIER;
            self.broken += self.terms[term].worth().1 - before;
            if let Some(found) = self.mend(term, None, dice) {
                return found;
            }
        }
        let variable = variables[dice.below(variables.len())] as usize;
        let size = self.size(variable);
        (variable, (self.state(variable) + 1 + dice.below(size - 1)) % size)
    }

    fn next(&mut self, variable: usize, from: usize, dice: &mut Dice) -> Option<(usize, usize)> {
        if self.broken > 1e-9 { self.remedy(variable, from, dice) } else { None }
    }

    fn is_sound(&self) -> bool {
        self.broken < 1e-9
    }

    fn work(&self) -> usize {
        self.work
    }
}

impl<'a> Walk<'a> {
    /// Walks on from an assignment, or from anywhere, until so many links were visited or `expired` says so.
    /// Returns the best assignment that was ever seen, if one broke nothing.
    pub(crate) fn improve(
        &mut self,
        start: Option<&[u32]>,
        effort: usize,
        expired: impl Fn() -> bool,
    ) -> Option<Vec<u32>> {
        let mut record = std::mem::take(&mut self.record);
        if let Some(start) = start {
            self.go(start);
        }
        record.forget_moves();
        if self.is_sound() {
            record.keep(self.score, |variable| self.state(variable));
        }
        let (free, mut dice) = (std::mem::take(&mut self.free), std::mem::take(&mut self.dice));
        let end = self.work.saturating_add(effort);
        let least = 64 * (self.links / free.len().max(1)).max(1);
        let mut length = (effort / 8).max(least);
        let mut round = 0;
        while !free.is_empty() && self.work < end && !expired() {
            // From high heat first, then from less: what is good stays together.
            let gain = self.typical_gain(&free, &mut dice);
            let heat = gain * [0.5, 0.15, 0.3][round % 3];
            if round > 0 && round % 2 == 0 && record.worth.is_some() {
                self.states.copy_from_slice(&record.states);
                self.recount();
            }
            let rest = end.saturating_sub(self.work);
            self.anneal(&free, heat, length.min(rest), &mut record, &mut dice, &expired);
            self.price *= if self.is_sound() { 0.8 } else { 1.25 };
            self.price = self.price.clamp(0.5 * gain, 8.0 * gain);
            self.recount();
            record.forget_moves();
            length += length / 2;
            round += 1;
        }
        (self.free, self.dice, self.record) = (free, dice, record);
        self.record.worth?;
        // Variables that follow from others follow once more.
        self.states.copy_from_slice(&self.record.states);
        self.recount();
        Some(assignment(self.graph, &self.sites, |variable| self.states[variable] as usize))
    }

    /// The mean size of what a move gains or loses.
    fn typical_gain(&mut self, free: &[u32], dice: &mut Dice) -> f64 {
        let (mut sum, mut count) = (0.0, 0);
        for _ in 0..64 {
            let variable = free[dice.below(free.len())] as usize;
            let (now, size) = (self.states[variable] as usize, self.size(variable));
            if size < 2 {
                continue;
            }
            let score = self.score;
            self.set(variable, (now + 1 + dice.below(size - 1)) % size);
            self.refresh();
            let gain = (self.score - score).abs();
            if gain > 0.0 {
                sum += gain;
                count += 1;
            }
            self.set(variable, now);
            self.refresh();
        }
        if count > 0 { sum / count as f64 } else { self.scale }
    }
}

#[cfg(test)]
mod tests;
