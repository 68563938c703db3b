//! Proofs of answers, for the independent checker.
//!
//! Whatever found an answer, its proof is built here from what can be written down: multipliers of AD3,
//! variables maximized out where the problem is narrow, and cases where neither closes the gap. The bound
//! that a proof claims is the one that the checker computes from it, so that no proof claims what it does not
//! prove.

mod elimination;
mod multipliers;
mod search;
mod witness;

use crate::solver::ad3::{Ad3, Ad3Options};
use crate::solver::exact::common_unit;
use crate::{Certificate, Gap, Graph, Solution};
use consonant_problem::{FormatError, Problem};
use consonant_verify::{Checker, Proof, VERSION};
use search::Search;
use std::time::{Duration, Instant};

/// How much effort to spend on a proof.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProofOptions {
    /// Seconds at most; the proof then claims the bound that was reached.
    pub time_limit: f64,
    /// The relative gap that counts as closed.
    pub gap: f64,
    /// Whether to look at cases where one dual solution leaves a gap.
    pub branch: bool,
}

impl Default for ProofOptions {
    fn default() -> Self {
        ProofOptions { time_limit: 60.0, gap: 1e-6, branch: true }
    }
}

/// Why there is no proof.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofError {
    /// The problem is malformed.
    #[error("{0}")]
    Problem(#[from] FormatError),
    /// The checker refuses the problem or the assignment.
    #[error("no proof can be written: {0}")]
    Refused(#[from] consonant_verify::Refusal),
}

/// A proof of a solution, and the solution with the bound and the status that it proves.
///
/// ```
/// use consonant_map::proof::{ProofOptions, prove};
/// use consonant_map::problem::{Format, read};
/// use consonant_map::solver::{Limits, Method, solve};
/// use consonant_map::{Graph, Status};
///
/// let text = r#"{"variables": [{"name": "a", "score": 1}, {"name": "b", "score": 1},
///                              {"name": "c", "score": 1}],
///                "factors": [{"kind": "at-most-one", "over": ["a", "b"]},
///                            {"kind": "at-most-one", "over": ["b", "c"]},
///                            {"kind": "at-most-one", "over": ["c", "a"]}]}"#;
/// let problem = read(text, Format::Json)?;
/// let solution = solve(&Graph::from_problem(&problem)?, Method::Exact, &Limits::default())?;
/// let (proof, solution) = prove(&problem, solution, &ProofOptions::default())?;
/// assert_eq!((solution.certificate.status(), proof.bound), (Status::Optimal, Some(1.0)));
/// assert_eq!(consonant_map::verify::verify(&problem, &proof)?.bound, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn prove(
    problem: &Problem,
    solution: Solution,
    options: &ProofOptions,
) -> Result<(Proof, Solution), ProofError> {
    let assignment = solution.assignment().map(|states| states[..problem.variables.len()].to_vec());
    let (proof, certificate) = prove_answer(problem, assignment, options)?;
    let effort = solution.certificate;
    let trace = solution.trace.clone();
    Ok((proof, solution.with(certificate.after(effort.iterations, effort.seconds), trace)))
}

/// A problem with the answer that somebody gives to it: what a decoder solved, as data.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The problem.
    pub problem: Problem,
    /// A state for each variable; nothing where no answer was found.
    pub answer: Option<Vec<u32>>,
}

impl Answered {
    /// A proof of how good the answer is, whoever found it and how, and what it proves.
    ///
    /// ```
    /// use consonant_map::problem::{Kind, Problem};
    /// use consonant_map::proof::{Answered, ProofOptions};
    ///
    /// let mut problem = Problem::new();
    /// let (a, b) = (problem.binary("a", 1.0), problem.binary("b", 2.0));
    /// problem.constrain(Kind::AtMostOne, vec![a, b]);
    /// let (proof, certificate) = Answered { problem, answer: Some(vec![0, 1]) }.prove(&ProofOptions::default())?;
    /// assert!(certificate.is_optimal() && proof.bound == Some(2.0));
    /// # Ok::<(), consonant_map::proof::ProofError>(())
    /// ```
    pub fn prove(&self, options: &ProofOptions) -> Result<(Proof, Certificate), ProofError> {
        prove_answer(&self.problem, self.answer.clone(), options)
    }
}

fn prove_answer(
    problem: &Problem,
    assignment: Option<Vec<u32>>,
    options: &ProofOptions,
) -> Result<(Proof, Certificate), ProofError> {
    let deadline = Instant::now() + Duration::from_secs_f64(options.time_limit.clamp(0.0, 1e9));
    let (graph, factors) = Graph::with_factors(problem)?;
    let value = match &assignment {
        Some(assignment) => Some(consonant_verify::value(problem, assignment)?),
        None => None,
    };
    let unit = common_unit(problem.scores());
    let unit = Some(unit).filter(|&unit| unit > 0.0);
    let gap = Gap::of(options.gap, &graph);
    // Half of the gap, so that rounding cannot spoil what is closed.
    let target = value
        .map_or(f64::NEG_INFINITY, |value| value + (0.5 * gap.slack(value)).max(0.5 * unit.unwrap_or(0.0)));
    let ad3 = Ad3::new(Ad3Options { round: false, gap: options.gap, ..Ad3Options::default() });
    let mut factors_of = vec![Vec::new(); problem.variables.len()];
    for (index, factor) in problem.factors.iter().enumerate() {
        search::variables_of(factor).into_iter().for_each(|variable| factors_of[variable].push(index));
    }
    let search = Search {
        factors_of,
        problem,
        graph: &graph,
        factors: &factors,
        checker: Checker::new(problem)?,
        ad3,
        target,
        deadline,
        branch: options.branch,
        written: Vec::new(),
        witnesses: vec![None; problem.factors.len()],
        steps: Vec::new(),
    };
    let steps = search.run();
    let bound = Checker::new(problem)?.bound(&steps, unit)?;
    let proof = Proof {
        consonant_proof: VERSION,
        assignment,
        value,
        bound: Some(bound).filter(|&bound| bound > f64::NEG_INFINITY),
        unit,
        steps,
    };
    let certificate = match bound {
        f64::NEG_INFINITY => Certificate::infeasible(),
        bound => Certificate::judge(value, bound, gap),
    };
    Ok((proof, certificate))
}
