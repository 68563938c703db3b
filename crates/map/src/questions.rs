//! What people ask of a problem beside its best assignment: the next best ones, why there is none, and what it
//! would cost to have something else.

use crate::problem::{FormatError, Kind, Literal, Problem};
use crate::proof::{ProofError, ProofOptions, prove};
use crate::solver::{Limits, Method, Unsupported, solve};
use crate::verify::{Proof, verify};
use crate::{Graph, Solution, Status};

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// The problem is not well formed.
    #[error(transparent)]
    Problem(#[from] FormatError),
    /// The method cannot solve it.
    #[error(transparent)]
    Method(#[from] Unsupported),
    /// It cannot be proven.
    #[error(transparent)]
    Proof(#[from] ProofError),
}

fn answer(problem: &Problem, method: Method, limits: &Limits) -> Result<Solution, QuestionError> {
    Ok(solve(&Graph::from_problem(problem)?, method, limits)?)
}

/// Up to `count` assignments, the best first, any two of which differ in the states of at least `different_by`
/// variables; those that say that a constraint is broken do not count. The certificate of each says whether it is the best of those that are left; the last one may
/// say that there is no other.
///
/// ```
/// use consonant_map::{problem::Problem, questions::n_best, solver::{Limits, Method}};
///
/// let mut problem = Problem::new();
/// problem.binary("a", 2.0);
/// problem.binary("b", 1.0);
/// let best = n_best(&problem, 3, 1, Method::Exact, &Limits::default())?;
/// let values: Vec<_> = best.iter().map(|solution| solution.certificate.value()).collect();
/// assert_eq!(values, [Some(3.0), Some(2.0), Some(1.0)]);
/// # Ok::<(), consonant_map::questions::QuestionError>(())
/// ```
pub fn n_best(
    problem: &Problem,
    count: usize,
    different_by: usize,
    method: Method,
    limits: &Limits,
) -> Result<Vec<Solution>, QuestionError> {
    in_turn(problem, count, different_by, |rest| answer(rest, method, limits), |solution| solution)
}

/// The same with a proof of each, of the problem in which those before it are [excluded](Problem::exclude). A
/// certificate says what its proof proves. `proof_seconds` is for each proof.
pub fn proven_n_best(
    problem: &Problem,
    count: usize,
    different_by: usize,
    method: Method,
    limits: &Limits,
    proof_seconds: f64,
) -> Result<Vec<(Proof, Solution)>, QuestionError> {
    let mut options = ProofOptions::default();
    (options.time_limit, options.gap) = (proof_seconds, limits.gap);
    options.branch = method == Method::Exact;
    let proven = |rest: &Problem| Ok(prove(rest, answer(rest, method, limits)?, &options)?);
    in_turn(problem, count, different_by, proven, |(_, solution)| solution)
}

/// Finds something, leaves it out, and finds again.
fn in_turn<T>(
    problem: &Problem,
    count: usize,
    different_by: usize,
    mut find: impl FnMut(&Problem) -> Result<T, QuestionError>,
    solution: impl Fn(&T) -> &Solution,
) -> Result<Vec<T>, QuestionError> {
    let mut rest = problem.clone();
    let mut found: Vec<T> = Vec::new();
    while found.len() < count {
        let next = find(&rest)?;
        let states = solution(&next).assignment().map(|states| states[..problem.variables.len()].to_vec());
        found.push(next);
        let Some(states) = states else { break };
        if !rest.exclude(&states, different_by) {
            break;
        }
    }
    Ok(found)
}

fn is(variable: u32, state: u32) -> Literal {
    Literal { variable, state, negated: false }
}

/// A part of a problem that nothing satisfies, such that each piece of it is needed for that.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// The factors, by number.
    pub factors: Vec<usize>,
    /// The variables whose forbidden states matter, by number.
    pub variables: Vec<usize>,
    /// The part by itself: all variables, and scores of zero where nothing is forbidden.
    pub problem: Problem,
    /// Whether every piece is known to be needed; a limit may have left some undecided.
    pub smallest: bool,
}

impl Conflict {
    /// The pieces in words, for a person who knows the problem that it is a part of.
    pub fn describe(&self, whole: &Problem) -> Vec<String> {
        let factors = self.factors.iter().map(|&factor| whole.describe_factor(factor));
        let variables = self.variables.iter().map(|&variable| {
            let variable = &whole.variables[variable];
            let left = (0..variable.scores.len()).filter(|&state| variable.scores[state] > f64::NEG_INFINITY);
            let left: Vec<String> = left.map(|state| variable.state_name(state)).collect();
            format!("{}: only {} is allowed", variable.name, left.join(" or "))
        });
        factors.chain(variables).collect()
    }

    /// Whether the checker of proofs, which knows no solver, says the same.
    pub fn confirm(&self, limits: &Limits) -> Result<bool, QuestionError> {
        let solution = answer(&self.problem, Method::Exact, limits)?;
        let Ok((proof, _)) = prove(&self.problem, solution, &ProofOptions::default()) else {
            return Ok(false);
        };
        Ok(verify(&self.problem, &proof).is_ok_and(|seen| seen.bound == f64::NEG_INFINITY))
    }
}

/// Why nothing satisfies all constraints of a problem; nothing, if something does or if a limit was reached
/// before that was known. `limits` hold for each of the many problems that are solved for it.
pub fn conflict(problem: &Problem, limits: &Limits) -> Result<Option<Conflict>, QuestionError> {
    let forbids = |number: usize| problem.variables[number].scores.contains(&f64::NEG_INFINITY);
    let factors = (0..problem.factors.len()).filter(|&factor| restricts(&problem.factors[factor].kind));
    let mut pieces: Vec<Piece> = factors.map(Piece::Factor).collect();
    pieces.extend((0..problem.variables.len()).filter(|&v| forbids(v)).map(Piece::Variable));
    let status = |pieces: &[Piece]| -> Result<Status, QuestionError> {
        Ok(answer(&part(problem, pieces), Method::Exact, limits)?.certificate.status())
    };
    if status(&pieces)? != Status::Infeasible {
        return Ok(None);
    }
    // Large shares are tried first, so that most of what is not needed goes in a few steps.
    let mut smallest = true;
    let mut share = pieces.len().div_ceil(2);
    while share > 0 {
        let mut start = 0;
        while start < pieces.len() {
            let end = (start + share).min(pieces.len());
            let without = [&pieces[..start], &pieces[end..]].concat();
            match status(&without)? {
                Status::Infeasible => pieces = without,
                told => {
                    smallest &= share > 1 || told != Status::Stopped;
                    start = end;
                }
            }
        }
        share = if share == 1 { 0 } else { share.div_ceil(2) };
    }
    let mut conflict =
        Conflict { factors: Vec::new(), variables: Vec::new(), problem: part(problem, &pieces), smallest };
    for piece in pieces {
        match piece {
            Piece::Factor(factor) => conflict.factors.push(factor),
            Piece::Variable(variable) => conflict.variables.push(variable),
        }
    }
    Ok(Some(conflict))
}

#[derive(Clone, Copy)]
enum Piece {
    Factor(usize),
    Variable(usize),
}

/// Whether a factor can forbid anything.
fn restricts(kind: &Kind) -> bool {
    let forbids = |scores: &[f64]| scores.contains(&f64::NEG_INFINITY);
    match kind {
        Kind::Pair { score } | Kind::Pattern { score } => *score == f64::NEG_INFINITY,
        Kind::Table { scores } => forbids(scores),
        Kind::Sequence { pairs, triples } => forbids(pairs) || triples.as_deref().is_some_and(forbids),
        Kind::TreeLabelling { tables, .. } => forbids(tables),
        Kind::Cut { .. } => false,
        _ => true,
    }
}

/// Some pieces of a problem, and all of its variables, without scores.
fn part(problem: &Problem, pieces: &[Piece]) -> Problem {
    let mut part = problem.clone();
    part.constant = 0.0;
    let clear = |scores: &mut [f64], keep: bool| {
        scores.iter_mut().filter(|score| !keep || score.is_finite()).for_each(|score| *score = 0.0);
    };
    let mut kept = vec![false; problem.variables.len()];
    part.factors.clear();
    for &piece in pieces {
        match piece {
            Piece::Variable(variable) => kept[variable] = true,
            Piece::Factor(factor) => {
                let mut factor = problem.factors[factor].clone();
                match &mut factor.kind {
                    Kind::Table { scores } => clear(scores, true),
                    Kind::TreeLabelling { tables, .. } => clear(tables, true),
                    Kind::Sequence { pairs, triples } => {
                        clear(pairs, true);
                        triples.iter_mut().for_each(|triples| clear(triples, true));
                    }
                    _ => {}
                }
                part.factors.push(factor);
            }
        }
    }
    for (variable, kept) in part.variables.iter_mut().zip(kept) {
        clear(&mut variable.scores, kept);
    }
    part
}

/// The best that can be had when one variable is not in the state that it has in an assignment.
#[derive(Clone, Debug)]
pub struct Otherwise {
    /// The variable, by number.
    pub variable: usize,
    /// The best assignment in which its state is another; its certificate may say that there is none.
    pub solution: Solution,
}

/// For each variable, the best assignment in which it is not in the state that `states` gives it: the difference
/// of the values is what that state is worth. `limits` hold for each variable.
pub fn otherwise(
    problem: &Problem,
    states: &[u32],
    method: Method,
    limits: &Limits,
) -> Result<Vec<Otherwise>, QuestionError> {
    let one = |(variable, &state): (usize, &u32)| {
        let mut other = problem.clone();
        other.require(!is(variable as u32, state));
        Ok(Otherwise { variable, solution: answer(&other, method, limits)? })
    };
    states[..problem.variables.len()].iter().enumerate().map(one).collect()
}
