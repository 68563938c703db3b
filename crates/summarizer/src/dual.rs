//! A bound that knows whole words: the Lagrangian dual in which the budget is solved exactly.
//!
//! AD3 relaxes the budget like everything else, and a summary's last sentence may then be chosen by a third.
//! Here only the concepts are relaxed: a concept m that is worth c sells λ ≤ c of it to its occurrences, each
//! of which passes its share on to the units it needs,
//!
//! ```text
//! D(λ) = Σ_m (c_m − λ_m) + max over compressions that fit the budget of Σ units (own score + shares of λ)
//! ```
//!
//! and the maximum is found by the [knapsack](crate::knapsack) over all sentences. D is an upper bound for
//! every λ; steps along its subgradient lower it, with the length that Polyak (1969) proposed given the best
//! known value. What the knapsack chooses is itself a summary, and often a good one. The same tables bound
//! what can be reached with a sentence: one that cannot be part of anything better than what is good enough
//! is left out from then on, and soon few are left. What gap remains is the dual's own; there a sentence in
//! doubt splits the summaries into those with and without it, and each branch goes on with multipliers of its
//! own. The engine's branch and bound cannot take this over: it bounds by AD3, for which budget and trees are
//! factors apart, where one table is the point here.

use crate::knapsack::{Knapsack, LinearScores};
use crate::problem::{Problem, Scores};

/// The dual of a problem, for all summaries or some.
pub struct Dual<'p> {
    problem: &'p Problem,
    scores: &'p Scores,
    /// Concepts with a price that can move: the others sell all to their only unit.
    traded: Vec<u32>,
    own: LinearScores,
    priced: LinearScores,
    knapsack: Knapsack,
    /// What the knapsack chose last.
    pub chosen: Vec<bool>,
}

/// Some of the summaries, with the multipliers that bound them.
#[derive(Debug, Clone)]
pub struct Branch {
    /// Sentences that may be chosen, those that must be first.
    pub sentences: Vec<usize>,
    /// How many must be.
    required: usize,
    /// None of the summaries is worth more.
    pub bound: f64,
    /// What summaries with the sentences that were left out can be worth.
    left_out: f64,
    /// For each sentence, how often it was chosen lately.
    usage: Vec<f64>,
    /// What each traded concept sells, between zero and its score.
    sold: Vec<f64>,
    direction: Vec<f64>,
    /// For each entry of `occurrence_units`, the share of the concept's price that the unit gets.
    shares: Vec<f64>,
    /// The price of a sentence, for the limit on their number.
    toll: f64,
    step: f64,
    stalled: usize,
}

/// Steps without a better bound after which they get shorter.
const PATIENCE: usize = 8;

/// How much of the last direction is kept: it damps the zigzag of subgradients.
const MEMORY: f64 = 0.5;

/// The factor of steps after a split: the multipliers need not go far.
const STEP_OF_BRANCH: f64 = 0.5;

/// How much the last choice counts in the usage of sentences.
const RECENCY: f64 = 0.2;

impl<'p> Dual<'p> {
    /// For a problem.
    pub fn new(problem: &'p Problem, scores: &'p Scores) -> Self {
        let (units, leads) = scores.linear(problem);
        let mut own = LinearScores { units, leads, sentences: scores.sentences.clone() };
        let mut traded = Vec::new();
        for concept in 0..problem.concepts() {
            let mut occurrences = problem.occurrences_of(concept).map(|o| problem.units_of_occurrence(o));
            match (occurrences.next(), occurrences.next()) {
                (None, _) => {}
                (Some(&[unit]), None) => own.units[unit as usize] += scores.concepts[concept],
                _ => traded.push(concept as u32),
            }
        }
        Dual {
            problem,
            scores,
            traded,
            priced: own.clone(),
            own,
            knapsack: Knapsack::default(),
            chosen: vec![false; problem.units.len()],
        }
    }

    /// All summaries. Concepts begin by selling what they would if their occurrences nearly excluded one
    /// another.
    pub fn all(&self) -> Branch {
        let problem = self.problem;
        let sold = self
            .traded
            .iter()
            .map(|&concept| {
                let alone = problem.occurrences_of(concept as usize).len() == 1;
                self.score(concept) * if alone { 1.0 } else { 0.7 }
            })
            .collect();
        let shares = (0..problem.occurrence_starts.len() - 1)
            .flat_map(|occurrence| {
                let count = problem.units_of_occurrence(occurrence).len();
                std::iter::repeat_n(1.0 / count as f64, count)
            })
            .collect();
        Branch {
            sentences: (0..problem.sentences()).collect(),
            required: 0,
            bound: f64::INFINITY,
            left_out: f64::NEG_INFINITY,
            usage: vec![0.0; problem.sentences()],
            sold,
            direction: vec![0.0; self.traded.len()],
            shares,
            toll: 0.0,
            step: 1.0,
            stalled: 0,
        }
    }

    /// What a traded concept can sell: a negative score is nothing to sell, and leaving it out keeps the
    /// bound one.
    fn score(&self, concept: u32) -> f64 {
        self.scores.concepts[concept as usize].max(0.0)
    }

    /// Evaluates the dual at the branch's multipliers, leaves out sentences that cannot lead to more than
    /// `enough`, and takes one step towards `value`, the best that is known.
    pub fn step(&mut self, branch: &mut Branch, value: f64, enough: f64) {
        let constant = self.price(branch);
        let total = self.knapsack.fit(
            self.problem,
            &self.priced,
            &branch.sentences,
            branch.required,
            &mut self.chosen,
        );
        if total == f64::NEG_INFINITY {
            // What is required does not fit.
            branch.bound = branch.bound.min(branch.left_out);
            return;
        }
        // A little slack for rounding errors of sums in another order.
        let constant = constant + 1e-9 * (constant.abs() + total.abs());
        let bound = constant + total;
        if bound < branch.bound - 1e-6 * bound.abs() {
            branch.stalled = 0;
        } else {
            branch.stalled += 1;
            if branch.stalled >= PATIENCE {
                (branch.step, branch.stalled) = (0.5 * branch.step, 0);
            }
        }
        branch.bound = branch.bound.min(bound.max(branch.left_out));
        if bound <= value {
            return;
        }
        let mut index = 0;
        let (knapsack, required, left_out) = (&self.knapsack, branch.required, &mut branch.left_out);
        branch.sentences.retain(|_| {
            index += 1;
            let reach = constant + knapsack.total_with(index - 1);
            let stays = index <= required || reach > enough;
            if !stays {
                *left_out = left_out.max(reach);
            }
            stays
        });
        for &sentence in &branch.sentences {
            let used = self.problem.uses(sentence, &self.chosen);
            branch.usage[sentence] += RECENCY * (f64::from(u8::from(used)) - branch.usage[sentence]);
        }
        self.descend(branch, bound - value);
    }

    /// Splits a branch at the sentence on which the last choices agree least, into summaries with and without
    /// it; nothing, if no sentence is open.
    pub fn split(&self, mut branch: Branch) -> Option<[Branch; 2]> {
        let open = branch.required..branch.sentences.len();
        let doubt = |index: &usize| (branch.usage[branch.sentences[*index]] - 0.5).abs();
        let at = open.min_by(|a, b| doubt(a).total_cmp(&doubt(b)))?;
        (branch.step, branch.stalled) = (STEP_OF_BRANCH, 0);
        let (mut with, mut without) = (branch.clone(), branch);
        with.sentences.swap(with.required, at);
        with.required += 1;
        if with.required >= self.problem.most_sentences {
            with.sentences.truncate(with.required);
        }
        without.sentences.remove(at);
        Some([with, without])
    }

    /// Puts prices on units and sentences; returns what is not sold.
    fn price(&mut self, branch: &Branch) -> f64 {
        let problem = self.problem;
        self.priced.units.copy_from_slice(&self.own.units);
        let mut unsold = 0.0;
        for (&concept, &sold) in self.traded.iter().zip(&branch.sold) {
            unsold += self.score(concept) - sold;
            let entries = problem.entries_of(concept as usize);
            for (&unit, share) in
                problem.occurrence_units[entries.clone()].iter().zip(&branch.shares[entries])
            {
                self.priced.units[unit as usize] += share * sold;
            }
        }
        for (priced, own) in self.priced.sentences.iter_mut().zip(&self.own.sentences) {
            *priced = own - branch.toll;
        }
        unsold + branch.toll * problem.most_sentences as f64
    }

    /// A step along a subgradient: a concept whose occurrences are bought more than once is too cheap to
    /// sell, one that nobody buys too dear; of two units that only count together, one that was bought alone
    /// has too high a share.
    fn descend(&mut self, branch: &mut Branch, gap: f64) {
        let problem = self.problem;
        let mut norm = 0.0;
        for (index, &concept) in self.traded.iter().enumerate() {
            if problem.occurrences_of(concept as usize).len() == 1 {
                continue;
            }
            let entries = problem.entries_of(concept as usize);
            let units = &problem.occurrence_units[entries.clone()];
            let bought: f64 = units
                .iter()
                .zip(&branch.shares[entries])
                .map(|(&unit, share)| share * f64::from(u8::from(self.chosen[unit as usize])))
                .sum();
            let mut direction = bought - 1.0 + MEMORY * branch.direction[index];
            // No step leads out of the box.
            let sold = branch.sold[index];
            if (sold <= 0.0 && direction > 0.0) || (sold >= self.score(concept) && direction < 0.0) {
                direction = 0.0;
            }
            branch.direction[index] = direction;
            norm += direction * direction;
        }
        let used = branch.sentences.iter().filter(|&&s| problem.uses(s, &self.chosen)).count();
        let surplus = used as f64 - problem.most_sentences as f64;
        let toll_moves = surplus > 0.0 || branch.toll > 0.0;
        if toll_moves {
            norm += surplus * surplus;
        }
        self.for_pairs(|index, _, _| norm += branch.sold[index] * branch.sold[index]);
        if norm <= 0.0 {
            return;
        }
        let length = branch.step * gap / norm;
        for (index, &concept) in self.traded.iter().enumerate() {
            branch.sold[index] =
                (branch.sold[index] - length * branch.direction[index]).clamp(0.0, self.score(concept));
        }
        if toll_moves {
            branch.toll = (branch.toll + length * surplus).max(0.0);
        }
        // Shares are relative: the step in prices is divided by the price.
        let most = length.min(0.5);
        self.for_pairs(|index, start, first_alone| {
            if branch.sold[index] > 0.0 {
                let moved = branch.shares[start] + if first_alone { -most } else { most };
                branch.shares[start] = moved.clamp(0.0, 1.0);
                branch.shares[start + 1] = 1.0 - branch.shares[start];
            }
        });
    }

    /// Visits occurrences that need two units of which one was bought alone: the concept's place among the
    /// traded ones, the occurrence's first entry, and whether it was the first unit.
    fn for_pairs(&self, mut visit: impl FnMut(usize, usize, bool)) {
        let problem = self.problem;
        for (index, &concept) in self.traded.iter().enumerate() {
            for occurrence in problem.occurrences_of(concept as usize) {
                if let [a, b] = *problem.units_of_occurrence(occurrence) {
                    let (a, b) = (self.chosen[a as usize], self.chosen[b as usize]);
                    if a != b {
                        visit(index, problem.occurrence_starts[occurrence] as usize, a);
                    }
                }
            }
        }
    }
}
