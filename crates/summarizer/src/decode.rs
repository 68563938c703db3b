//! How a summary is decoded, with value, bound and status: by a search over the tighter dual, by AD3 and the
//! paper's rounding, or exactly.

use std::ops::Bound;
use std::time::Instant;

use consonant_map::solver::{self, Method, solve};
use consonant_map::{Ad3, Ad3Options, Certificate, Gap, ModelError};
use consonant_text::Document;

use crate::SummarizerError;
use crate::dual::Dual;
use crate::graph::{ProblemGraph, Relaxed};
use crate::parts::{Limits, Mode};
use crate::problem::{Problem, Scores};
use crate::rounding::Rounding;

consonant_task::names! {
    /// How a summary is found.
    pub enum Search {
        /// A relaxation, rounded, with a bound.
        Ad3 = "ad3",
        /// The same relaxation by subgradient steps, for comparison.
        Subgradient = "subgradient",
        /// Branch and bound to the end.
        Exact = "exact",
    }
}

consonant_task::settings! {
    /// What summary is wanted, and how it is found.
    pub struct SummarizerOptions {
        /// Words of the summary at most, split at white space (default: as many as a topic's own summaries
        /// have, or 100).
        words: Option<usize> = None, "N" in 1.0..=60_000.0;
        /// Words of the summary at most, as a share of the documents' words; of single sentences, of theirs.
        ratio: Option<f64> = None, "R" in (Bound::Excluded(0.0), Bound::Included(1.0));
        /// Sentences of the summary at most (default: 6 for 100 words, and in proportion).
        sentences: Option<usize> = None, "K" in 1.0..;
        /// What the reader asks: sentences that have its words, and what they say, count more.
        query: Option<String> = None, "TEXT";
        /// What the reader has read: what it says counts nothing.
        known: Option<String> = None, "TEXT" as "known-text", research;
        /// Chooses whole sentences, without compressing any.
        extractive: bool = false, "";
        /// What each cut gains besides its words: sentences are cut more where it is higher.
        brevity: f64 = 0.03, "GAIN" in -10.0..=10.0, research;
        /// Considers only the best-scored sentences, up to so many words in all (default: 1000, or 8 times
        /// the words of the summary).
        candidates: Option<usize> = None, "WORDS" in 1.0.., research;
        /// ad3: relaxes and rounds, with a bound; exact: branch and bound to the end; subgradient: AD3's relaxation by steps of subgradient,
        /// for comparison.
        decoder: Search = Search::Ad3, "ad3|exact|subgradient";
        /// Steps of the search and iterations of AD3 at most, together.
        max_iterations: usize = 1000, "N" in 1.0.., research;
        /// A proven distance to the best summary, relative to its value, that is good enough.
        gap: f64 = 0.005, "G" in 0.0.., research;
        /// Searches for better summaries over a tighter bound; without it, AD3's relaxation is rounded as the
        /// paper does.
        search: bool = true, "on|off", research;
        /// Seconds of decoding at most (default: 60 for exact).
        time_limit: Option<f64> = None, "S" in (Bound::Excluded(0.0), Bound::Unbounded);
    }
}

/// Words of a summary if nothing says how many.
const WORDS: usize = 100;

/// Words of a sentence, if a summary is to have so many sentences and nothing says how many words.
const LONG: usize = 50;

impl SummarizerOptions {
    /// The limits of the problem: 1,000 words of candidates and six sentences for 100 words, as in the paper,
    /// and in proportion.
    pub fn limits(&self) -> Limits {
        // Of so many sentences, whatever their length.
        let long = self.sentences.map(|sentences| sentences.saturating_mul(LONG));
        let words = self.words.or(long).unwrap_or(WORDS);
        Limits {
            words,
            sentences: self.sentences.unwrap_or((6 * words).div_ceil(100)).max(1),
            candidate_words: self.candidates.unwrap_or(1000.max(8 * words)),
            // They are no sentences of their own to the budget.
            followers: self.sentences.is_none(),
        }
    }

    /// These options with a share of these documents' words as a number of words.
    pub fn for_documents(&self, documents: &[Document]) -> Self {
        let Some(ratio) = self.ratio else { return self.clone() };
        let all: usize = documents.iter().map(|document| document.text().split_whitespace().count()).sum();
        let share = (ratio * all as f64).ceil() as usize;
        Self { words: Some(self.words.unwrap_or(usize::MAX).min(share).max(1)), ..self.clone() }
    }

    /// Whether sentences are compressed.
    pub fn mode(&self) -> Mode {
        if self.extractive { Mode::Extractive } else { Mode::Compressive }
    }

    /// A bound that makes `value` good enough.
    fn enough(&self, value: f64) -> f64 {
        value + Gap::from(self.gap).at_scale(1e-9).slack(value)
    }

    fn seconds(&self) -> Option<f64> {
        self.time_limit.or((self.decoder == Search::Exact).then_some(60.0))
    }

    fn is_late(&self, start: Instant) -> bool {
        self.seconds().is_some_and(|limit| start.elapsed().as_secs_f64() >= limit)
    }
}

/// A decoded problem with its certificate.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// For each unit, whether it is in the summary.
    pub chosen: Vec<bool>,
    /// What is known about it, after this many steps of the dual and iterations of AD3, or nodes of exact
    /// branch and bound.
    pub certificate: Certificate,
}

/// Iterations of AD3 between two roundings.
const ROUND_EVERY: usize = 20;

/// Rounds in which the gap hardly closes, after which it is given up: what is left is the relaxation's own.
const IDLE_ROUNDS: usize = 4;

/// Steps of the dual after which a branch goes on, is split, or waits for its turn.
const DUAL_STEPS: usize = 10;

/// A branch is split when these steps closed less than this much of what is open.
const PROGRESS: f64 = 0.4;

/// Cells of the knapsack that all steps of the dual may fill together: about a second's work. Where the text
/// or the budget is so large that this is too little, AD3 is left to itself.
const MOST_CELLS: usize = 2_000_000_000;

/// Decodes a problem.
pub fn decode(
    problem: &Problem,
    scores: &Scores,
    options: &SummarizerOptions,
) -> Result<Decoded, SummarizerError> {
    let start = Instant::now();
    if problem.sentences() == 0 {
        return Ok(Decoded { chosen: Vec::new(), certificate: Certificate::exact(0.0) });
    }
    check(problem, scores)?;
    let mut rounding = Rounding::new(problem, scores);
    let (bound, iterations) = match options.decoder {
        Search::Ad3 => {
            let (bound, steps) = match options.search {
                true => search(problem, &mut rounding, options, start),
                false => (f64::INFINITY, 0),
            };
            let stop = steps >= options.max_iterations || (steps > 0 && options.is_late(start));
            if stop || bound <= options.enough(rounding.value) {
                (bound, steps)
            } else {
                let built = ProblemGraph::new(problem, scores)?;
                relax(&built, &mut rounding, options, start, (bound, steps))
            }
        }
        Search::Subgradient => {
            let limits = solver::Limits {
                max_iterations: Some(options.max_iterations),
                time_limit: options.seconds(),
                gap: options.gap,
                ..solver::Limits::default()
            };
            let built = ProblemGraph::new(problem, scores)?;
            let solution = solve(&built.graph, Method::Subgradient, &limits)?;
            if solution.assignment().is_some() {
                rounding.consider(&built.chosen(&solution));
            }
            rounding.round(&built.relaxed(&solution), false);
            (solution.certificate.bound(), solution.certificate.iterations)
        }
        Search::Exact => {
            let limits = solver::Limits {
                max_iterations: None,
                time_limit: options.seconds(),
                // The value is computed anew below, and may differ in its last digits.
                gap: 5e-7,
                ..solver::Limits::default()
            };
            let built = ProblemGraph::new(problem, scores)?;
            let solution = solve(&built.graph, Method::Exact, &limits)?;
            if solution.assignment().is_some() {
                rounding.best = built.chosen(&solution);
                rounding.value = problem.value(scores, &rounding.best).max(0.0);
            }
            (solution.certificate.bound(), solution.certificate.iterations)
        }
    };
    let Rounding { best: chosen, value, .. } = rounding;
    // Sums of scores carry rounding errors of the scores' size, also where the best summary is the empty one.
    let scale = scores.concepts.iter().fold(1e-9, |scale: f64, score| scale.max(score.abs()));
    let certificate = Certificate::judge(Some(value), bound, Gap::default().at_scale(scale));
    Ok(Decoded { chosen, certificate: certificate.after(iterations, start.elapsed().as_secs_f64()) })
}

/// Scores are finite numbers; only what a unit would gain as a lead that it may not be is never looked at.
fn check(problem: &Problem, scores: &Scores) -> Result<(), ModelError> {
    let leads =
        scores.leads.iter().zip(&problem.units).filter(|(_, unit)| unit.may_lead).map(|(score, _)| score);
    let parts = scores.concepts.iter().chain(&scores.deletions).chain(&scores.sentences).chain(leads);
    let parts = parts.chain(&scores.followers);
    match parts.copied().find(|score| !score.is_finite()) {
        Some(score) => Err(ModelError::Score { what: "a part of a summary".to_owned(), score }),
        None => Ok(()),
    }
}

/// Branch and bound over the [dual](crate::dual), the branch with the highest bound first; most problems need
/// one branch. From each choice of the knapsack that is better than all before it, better ones are looked
/// for. Returns the bound and the number of steps.
fn search(
    problem: &Problem,
    rounding: &mut Rounding<'_>,
    options: &SummarizerOptions,
    start: Instant,
) -> (f64, usize) {
    let length = problem.total_length();
    let most_steps = options.max_iterations.min(MOST_CELLS / (length * problem.words.min(length)).max(1));
    let mut dual = Dual::new(problem, rounding.scores);
    let mut branches = vec![dual.all()];
    let (mut steps, mut best_choice) = (0, f64::NEG_INFINITY);
    loop {
        let highest = (0..branches.len()).max_by(|&a, &b| branches[a].bound.total_cmp(&branches[b].bound));
        let mut branch = branches.swap_remove(highest.unwrap_or(0));
        if branch.bound <= options.enough(rounding.value)
            || steps + DUAL_STEPS > most_steps
            || options.is_late(start)
        {
            return (branch.bound, steps);
        }
        let before = branch.bound;
        for _ in 0..DUAL_STEPS {
            dual.step(&mut branch, rounding.value, options.enough(rounding.value));
            steps += 1;
            let value = rounding.consider(&dual.chosen);
            if value > best_choice && branch.bound > options.enough(rounding.value) {
                best_choice = value;
                rounding.search(&dual.chosen, &branch.sentences);
            }
            if branch.bound <= options.enough(rounding.value) {
                break;
            }
        }
        let open = branch.bound - rounding.value;
        if branch.bound <= options.enough(rounding.value) || before - branch.bound > PROGRESS * open {
            branches.push(branch);
            continue;
        }
        let bound = branch.bound;
        let Some(halves) = dual.split(branch) else { return (bound, steps) };
        branches.extend(halves);
    }
}

/// AD3 until the gap is closed or stays, from what is known already.
fn relax(
    built: &ProblemGraph,
    rounding: &mut Rounding<'_>,
    options: &SummarizerOptions,
    start: Instant,
    (mut bound, mut iterations): (f64, usize),
) -> (f64, usize) {
    let mut ad3 = Ad3::new(Ad3Options { round: false, ..Ad3Options::default() });
    let (mut last_gap, mut idle) = (f64::INFINITY, 0);
    loop {
        ad3.options.max_iterations = ROUND_EVERY.min(options.max_iterations - iterations);
        let solution = ad3.solve(&built.graph);
        bound = bound.min(solution.certificate.bound());
        iterations += solution.certificate.iterations;
        rounding.round(&built.relaxed(&solution), options.search);
        let gap = bound - rounding.value;
        idle = if gap < 0.99 * last_gap { 0 } else { idle + 1 };
        last_gap = last_gap.min(gap);
        if bound <= options.enough(rounding.value)
            || solution.certificate.iterations < ad3.options.max_iterations
            || (options.search && idle >= IDLE_ROUNDS)
            || options.is_late(start)
            || iterations >= options.max_iterations
        {
            return (bound, iterations);
        }
    }
}

/// The relaxed solution alone, for learning (§4, footnote 7).
pub(crate) fn relaxed(
    problem: &Problem,
    scores: &Scores,
    iterations: usize,
) -> Result<Relaxed, SummarizerError> {
    let built = ProblemGraph::new(problem, scores)?;
    let options =
        Ad3Options { max_iterations: iterations, residual: 1e-3, round: false, ..Ad3Options::default() };
    Ok(built.relaxed(&Ad3::new(options).solve(&built.graph)))
}
