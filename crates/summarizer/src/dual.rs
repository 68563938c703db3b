//! A bound that knows whole words: the Lagrangian dual in which the budget is solved exactly.
//!
//! AD3 relaxes the budget like everything else, and a summary's last sentence may then be chosen by a third. Here only the
//! concepts are relaxed: a concept m that is worth c sells λ ≤ c of it to its occurrences, each of which passes its share on to
//! the units it needs,
//!
//! ```text
//! D(λ) = Σ_m (c_m − λ_m) + max over compressions that fit the budget of Σ units (own score + shares of λ)
//! ```
//!
//! and the maximum is found by the [knapsack](crate::knapsack) over all sentences. D is an upper bound for every λ; steps along its
//! subgradient lower it, with the length that Polyak (1969) proposed given the best known value. What the knapsack chooses is itself
//! a summary, and often a good one.

use crate::knapsack::{Knapsack, LinearScores};
use crate::problem::{Problem, Scores};

/// Multipliers of one problem, and the best bound so far.
pub struct Dual<'p> {
    problem: &'p Problem,
    scores: &'p Scores,
    own: LinearScores,
    priced: LinearScores,
    knapsack: Knapsack,
    sentences: Vec<usize>,
    /// What each concept sells, between zero and its score.
    sold: Vec<f64>,
    /// For each entry of `occurrence_units`, the share of the concept's price that the unit gets.
    shares: Vec<f64>,
    /// The price of a sentence, for the limit on their number.
    toll: f64,
    direction: Vec<f64>,
    step: f64,
    stalled: usize,
    /// What the knapsack chose last.
    pub chosen: Vec<bool>,
    /// No choice is worth more.
    pub bound: f64,
}

/// Steps without a better bound after which they get shorter.
const PATIENCE: usize = 8;

/// How much of the last direction is kept: it damps the zigzag of subgradients.
const MEMORY: f64 = 0.5;

impl<'p> Dual<'p> {
    /// Begins with concepts that sell what they would if their occurrences excluded one another.
    pub fn new(problem: &'p Problem, scores: &'p Scores) -> Self {
        let (units, leads) = scores.linear(problem);
        let own = LinearScores { units, leads, sentences: scores.sentences.clone() };
        let sold = (0..problem.concepts())
            .map(|concept| {
                let score = scores.concepts[concept].max(0.0);
                if problem.occurrences_of(concept).len() == 1 { score } else { 0.7 * score }
            })
            .collect();
        let shares = (0..problem.occurrence_starts.len() - 1)
            .flat_map(|occurrence| {
                let count = problem.units_of_occurrence(occurrence).len();
                std::iter::repeat_n(1.0 / count as f64, count)
            })
            .collect();
        Dual {
            problem,
            scores,
            priced: own.clone(),
            own,
            knapsack: Knapsack::default(),
            sentences: (0..problem.sentences()).collect(),
            sold,
            shares,
            toll: 0.0,
            direction: vec![0.0; problem.concepts()],
            step: 1.0,
            stalled: 0,
            chosen: vec![false; problem.units.len()],
            bound: f64::INFINITY,
        }
    }

    /// Evaluates the dual at the current multipliers and takes one step towards `value`, the best that is known.
    pub fn step(&mut self, value: f64) {
        let bound = self.evaluate();
        // A little slack for rounding errors of sums in another order.
        let bound = bound + 1e-9 * bound.abs();
        if bound < self.bound - 1e-6 * bound.abs() {
            self.stalled = 0;
        } else {
            self.stalled += 1;
            if self.stalled >= PATIENCE {
                (self.step, self.stalled) = (0.5 * self.step, 0);
            }
        }
        self.bound = self.bound.min(bound);
        self.descend(bound, value);
    }

    fn evaluate(&mut self) -> f64 {
        let problem = self.problem;
        self.priced.units.copy_from_slice(&self.own.units);
        let mut unsold = 0.0;
        for concept in 0..problem.concepts() {
            unsold += self.scores.concepts[concept].max(0.0) - self.sold[concept];
            for occurrence in problem.occurrences_of(concept) {
                let entries = problem.occurrence_starts[occurrence] as usize
                    ..problem.occurrence_starts[occurrence + 1] as usize;
                for entry in entries {
                    self.priced.units[problem.occurrence_units[entry] as usize] +=
                        self.shares[entry] * self.sold[concept];
                }
            }
        }
        for (priced, own) in self.priced.sentences.iter_mut().zip(&self.own.sentences) {
            *priced = own - self.toll;
        }
        let best = self.knapsack.fit(problem, &self.priced, &self.sentences, &mut self.chosen);
        unsold + best + self.toll * problem.most_sentences as f64
    }

    /// A subgradient: a concept whose occurrences are bought more than once is too cheap to sell, one that nobody buys too
    /// dear.
    fn descend(&mut self, bound: f64, value: f64) {
        let problem = self.problem;
        let mut norm = 0.0;
        for concept in 0..problem.concepts() {
            let score = self.scores.concepts[concept].max(0.0);
            let mut bought = 0.0;
            for occurrence in problem.occurrences_of(concept) {
                let start = problem.occurrence_starts[occurrence] as usize;
                for (at, &unit) in problem.units_of_occurrence(occurrence).iter().enumerate() {
                    bought += self.shares[start + at] * self.chosen[unit as usize] as u8 as f64;
                }
            }
            let gradient = if problem.occurrences_of(concept).len() == 1 { 0.0 } else { bought - 1.0 };
            let mut direction = gradient + MEMORY * self.direction[concept];
            // No step leads out of the box.
            if (self.sold[concept] <= 0.0 && direction > 0.0)
                || (self.sold[concept] >= score && direction < 0.0)
            {
                direction = 0.0;
            }
            self.direction[concept] = direction;
            norm += direction * direction;
        }
        let used = (0..problem.sentences()).filter(|&s| problem.units_of(s).any(|u| self.chosen[u])).count();
        let surplus = used as f64 - problem.most_sentences as f64;
        let toll_moves = surplus > 0.0 || self.toll > 0.0;
        if toll_moves {
            norm += surplus * surplus;
        }
        let mut split = 0.0;
        self.for_pairs(|dual, _, concept, gradient| split += (dual.sold[concept] * gradient).powi(2));
        norm += split;
        if norm <= 0.0 {
            return;
        }
        let length = self.step * (bound - value).max(1e-6 * bound.abs()) / norm;
        for concept in 0..problem.concepts() {
            let score = self.scores.concepts[concept].max(0.0);
            self.sold[concept] = (self.sold[concept] - length * self.direction[concept]).clamp(0.0, score);
        }
        if toll_moves {
            self.toll = (self.toll + length * surplus).max(0.0);
        }
        self.for_pairs(|dual, start, concept, gradient| {
            // Shares are relative: the step in prices is divided by the price.
            let move_by =
                (length * gradient).clamp(-0.5, 0.5) * f64::from(u8::from(dual.sold[concept] > 0.0));
            let first = (dual.shares[start] - move_by).clamp(0.0, 1.0);
            (dual.shares[start], dual.shares[start + 1]) = (first, 1.0 - first);
        });
    }

    /// Visits occurrences that need two units of which one was bought alone: its share is too high.
    fn for_pairs(&mut self, mut visit: impl FnMut(&mut Self, usize, usize, f64)) {
        let problem = self.problem;
        for concept in 0..problem.concepts() {
            for occurrence in problem.occurrences_of(concept) {
                let start = problem.occurrence_starts[occurrence] as usize;
                if let [a, b] = *problem.units_of_occurrence(occurrence) {
                    let (a, b) = (self.chosen[a as usize], self.chosen[b as usize]);
                    if a != b {
                        visit(self, start, concept, if a { 1.0 } else { -1.0 });
                    }
                }
            }
        }
    }
}
