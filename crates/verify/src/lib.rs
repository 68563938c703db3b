//! An independent checker of proofs about factor graphs.
//!
//! An engine that says "this assignment is the best" hands over a [`Proof`]; this crate checks it against the
//! [`Problem`] and trusts nothing else. It knows no solver. It does three things, each in one file:
//!
//! - the assignment is evaluated: every constraint holds, and the scores sum to the claimed value (`value`);
//! - the tree of cases is walked: splits hold every state, and each leaf has a dual solution whose bound is
//!   computed anew (this file), factor by factor (`factor`, `structure`) or by maximizing variables out
//!   (`eliminate`);
//! - all sums are rounded up, to twice the precision of the scores (`number`).
//!
//! Why a dual solution bounds: each factor f has a number λ for each of its literals. Give every factor what
//! its literals that hold are worth, and take it from their variables: the total of no assignment changes.
//! The maximum of a sum is at most the sum of the maxima.
//!
//! ```
//! use consonant_problem::{Format, read};
//! use consonant_verify::{Proof, verify};
//!
//! let problem = r#"{"variables": [{"name": "a", "score": 1}, {"name": "b", "score": 2}],
//!                   "factors": [{"kind": "at-most-one", "over": ["a", "b"]}]}"#;
//! let problem = read(problem, Format::Json)?;
//! // The factor takes both scores: at most one of them counts.
//! let proof = r#"{"consonant_proof": 1, "assignment": [0, 1], "value": 2, "bound": 2,
//!                 "steps": [{"bound": {"multipliers": [[0, [1, 2]]]}}]}"#;
//! assert_eq!(verify(&problem, &Proof::read(proof)?)?.bound, 2.0);
//! let lie = proof.replace("\"bound\": 2", "\"bound\": 1.9").replace("[0, 1]", "[1, 0]");
//! assert!(verify(&problem, &Proof::read(&lie)?).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod eliminate;
mod factor;
mod number;
mod proof;
mod structure;
mod value;

pub use number::Up;
pub use proof::{Bound, Proof, Step, VERSION, Witness};
pub use value::value;

use consonant_problem::{Factor, Kind, LARGEST_SUM, Literal, Problem};
use eliminate::Pool;
use factor::Link;

/// What a proof proves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verified {
    /// The value of the assignment, rounded down; nothing when there is none.
    pub value: Option<f64>,
    /// No assignment is worth more; minus infinity when none is allowed.
    pub bound: f64,
}

/// Where a proof fails, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
#[non_exhaustive]
pub struct Refusal {
    /// The part of the proof or of the problem.
    pub place: String,
    /// What is wrong with it.
    pub problem: String,
}

impl Refusal {
    pub(crate) fn new(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Refusal { place: place.into(), problem: problem.into() }
    }
}

/// Checks a proof. What comes back is what holds of the problem, whoever wrote the proof.
pub fn verify(problem: &Problem, proof: &Proof) -> Result<Verified, Refusal> {
    if proof.consonant_proof != VERSION {
        let problem = format!("version {}; this checker reads version {VERSION}", proof.consonant_proof);
        return Err(Refusal::new("the proof", problem));
    }
    let value = match &proof.assignment {
        Some(assignment) => Some(value(problem, assignment)?),
        None => None,
    };
    if value != proof.value {
        let claim = |value: Option<f64>| value.map_or("none".to_string(), |value| value.to_string());
        let problem = format!("claimed {}, but it is {}", claim(proof.value), claim(value));
        return Err(Refusal::new("value", problem));
    }
    let bound = Checker::new(problem)?.bound(&proof.steps, proof.unit)?;
    if bound != proof.bound.unwrap_or(f64::NEG_INFINITY) {
        let claimed = proof.bound.map_or("that there is no solution".to_string(), |b| b.to_string());
        return Err(Refusal::new("bound", format!("claimed {claimed}, but the steps prove {bound}")));
    }
    if value.is_some_and(|value| value > bound) {
        return Err(Refusal::new("bound", "below the value, which cannot be"));
    }
    Ok(Verified { value, bound })
}

/// The states of each variable that are allowed in the case at hand.
pub type Domains = Vec<Vec<bool>>;

/// A problem with a dual solution, as far as the proof has built it up. Also what writes proofs asks it what
/// a dual solution proves.
pub struct Checker<'a> {
    problem: &'a Problem,
    /// The literals of each factor.
    links: Vec<Vec<Literal>>,
    multipliers: Vec<Vec<f64>>,
    witnesses: Vec<Option<Witness>>,
    /// The factors of each variable, with the places of its literals there.
    factors_of: Vec<Vec<(usize, usize)>>,
}

impl std::fmt::Debug for Checker<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Checker of {} factors", self.links.len())
    }
}

impl<'a> Checker<'a> {
    /// Nothing is known but the problem, which is checked to be one.
    pub fn new(problem: &'a Problem) -> Result<Self, Refusal> {
        problem.check().map_err(|e| Refusal::new("the problem", e.to_string()))?;
        let links: Vec<Vec<Literal>> = problem.factors.iter().map(|f| problem.links(f).collect()).collect();
        let mut factors_of = vec![Vec::new(); problem.variables.len()];
        for (factor, links) in links.iter().enumerate() {
            for (place, link) in links.iter().enumerate() {
                factors_of[link.variable as usize].push((factor, place));
            }
        }
        let multipliers = links.iter().map(|links| vec![0.0; links.len()]).collect();
        Ok(Checker { problem, witnesses: vec![None; links.len()], links, multipliers, factors_of })
    }

    /// What the steps prove of every assignment.
    pub fn bound(&mut self, steps: &[Step], unit: Option<f64>) -> Result<f64, Refusal> {
        let mut cases: Vec<Domains> = vec![self.all_states()];
        let mut most = Up::NEVER;
        for (index, step) in steps.iter().enumerate() {
            let refuse = |problem: String| Refusal::new(format!("step {index}"), problem);
            let mut case = cases.pop().ok_or_else(|| refuse("every case is proven already".into()))?;
            match step {
                Step::Split { variable, parts } => {
                    let allowed = case
                        .get(*variable as usize)
                        .cloned()
                        .ok_or_else(|| refuse(format!("there is no variable {variable}")))?;
                    let mut missing = allowed.clone();
                    for part in parts.iter().rev() {
                        let states = &mut case[*variable as usize];
                        states.fill(false);
                        for &state in part {
                            let there = allowed.get(state as usize).copied();
                            states[state as usize] =
                                there.ok_or_else(|| refuse(format!("there is no state {state}")))?;
                            missing[state as usize] = false;
                        }
                        cases.push(case.clone());
                    }
                    if let Some(state) = missing.iter().position(|&missing| missing) {
                        return Err(refuse(format!("the split of variable {variable} leaves out {state}")));
                    }
                }
                Step::Prune(pruned) => {
                    for &(variable, state, factor) in pruned {
                        self.prune(&mut case, variable as usize, state as usize, factor as usize)
                            .map_err(refuse)?;
                    }
                    cases.push(case);
                }
                Step::Bound(bound) => most = most.max(self.leaf(&case, bound).map_err(refuse)?),
            }
        }
        if !cases.is_empty() {
            return Err(Refusal::new("steps", format!("{} cases are left without a proof", cases.len())));
        }
        round_down(self.problem, most.ceiling(), unit)
    }

    /// Every state of every variable.
    pub fn all_states(&self) -> Domains {
        self.problem
            .variables
            .iter()
            .map(|v| v.scores.iter().map(|&s| s > f64::NEG_INFINITY).collect())
            .collect()
    }

    /// A factor under some domains, with multipliers or without.
    fn links(&self, case: &Domains, factor: usize) -> Vec<Link> {
        let link = |(literal, &multiplier): (&Literal, &f64)| {
            let states = &case[literal.variable as usize];
            let holds = |on: bool| (0..states.len()).any(|s| states[s] && literal.holds(s as u32) == on);
            Link { multiplier, can_hold: holds(true), can_fail: holds(false) }
        };
        self.links[factor].iter().zip(&self.multipliers[factor]).map(link).collect()
    }

    /// The multipliers as they are now, factor by factor.
    pub fn multipliers(&self) -> &[Vec<f64>] {
        &self.multipliers
    }

    /// Whether a factor alone does not allow a state.
    pub fn rules_out(&self, case: &mut Domains, variable: usize, state: usize, factor: usize) -> bool {
        let before = case[variable].clone();
        let ruled_out = self.prune(case, variable, state, factor).is_ok();
        case[variable] = before;
        ruled_out
    }

    /// Rules a state out that a factor does not allow.
    fn prune(&self, case: &mut Domains, variable: usize, state: usize, factor: usize) -> Result<(), String> {
        let states = case.get(variable).cloned().ok_or(format!("there is no variable {variable}"))?;
        if state >= states.len() || factor >= self.links.len() {
            return Err(format!("there is no state {state} or no factor {factor}"));
        }
        case[variable].fill(false);
        case[variable][state] = states[state];
        let allowed = states[state] && !self.maximum(case, factor, true)?.is_never();
        case[variable] = states;
        case[variable][state] = false;
        if allowed {
            return Err(format!("factor {factor} allows state {state} of variable {variable}"));
        }
        Ok(())
    }

    /// The most that a factor can be worth; without its own scores if they do not count.
    fn maximum(&self, case: &Domains, factor: usize, scores: bool) -> Result<Up, String> {
        let data = &self.problem.factors[factor];
        let place = |problem: String| format!("factor {factor} ({}): {problem}", data.kind.name());
        if data.scope.is_empty() {
            let links = self.links(case, factor);
            return factor::maximum(&data.kind, &links, scores, self.witnesses[factor].as_ref())
                .map_err(place);
        }
        let mut pool = Pool::new(case);
        pool.add_factor(data, &self.multipliers[factor], scores).map_err(place)?;
        for &variable in structure::order(&data.kind, data.scope.len()).iter() {
            pool.eliminate(data.scope[variable] as usize).map_err(place)?;
        }
        Ok(pool.maximum())
    }

    /// The scores of a variable's states after it has paid its factors.
    fn reduced(&self, case: &Domains, variable: usize, scores: bool) -> Vec<Up> {
        let own = &self.problem.variables[variable].scores;
        let score = |&score: &f64| if scores || score == f64::NEG_INFINITY { score } else { 0.0 };
        let mut reduced: Vec<Up> = own.iter().map(score).map(Up::from).collect();
        for &(factor, place) in &self.factors_of[variable] {
            let multiplier = self.multipliers[factor][place];
            if multiplier != 0.0 {
                let literal = self.links[factor][place];
                for (state, sum) in reduced.iter_mut().enumerate() {
                    if literal.holds(state as u32) {
                        *sum = *sum + Up::from(-multiplier);
                    }
                }
            }
        }
        reduced.iter_mut().zip(&case[variable]).filter(|(_, ok)| !**ok).for_each(|(sum, _)| *sum = Up::NEVER);
        reduced
    }

    /// The bound of one case.
    pub fn leaf(&mut self, case: &Domains, bound: &Bound) -> Result<Up, String> {
        for (factor, multipliers) in &bound.multipliers {
            let own = self.multipliers.get_mut(*factor as usize);
            let own = own.ok_or_else(|| format!("there is no factor {factor}"))?;
            if own.len() != multipliers.len() {
                return Err(format!("factor {factor} has {} literals, not {}", own.len(), multipliers.len()));
            }
            own.clone_from(multipliers);
        }
        for (factor, witness) in &bound.witnesses {
            let own = self.witnesses.get_mut(*factor as usize);
            *own.ok_or_else(|| format!("there is no factor {factor}"))? = Some(witness.clone());
        }
        let sizes = self.multipliers.iter().flatten().map(|m| m.abs());
        if sizes.sum::<f64>().is_nan()
            || self.multipliers.iter().flatten().map(|m| m.abs()).sum::<f64>() > LARGEST_SUM
        {
            return Err(format!("the multipliers sum to more than {LARGEST_SUM:e}"));
        }
        let scores = !bound.impossible;
        let mut total = Up::from(if scores { self.problem.constant } else { 0.0 });
        let mut pool = Pool::new(case);
        let mut pooled = vec![false; self.links.len()];
        let mut gone = vec![false; case.len()];
        for &variable in &bound.eliminate {
            let seen = gone.get_mut(variable as usize).ok_or(format!("there is no variable {variable}"))?;
            if std::mem::replace(seen, true) {
                return Err(format!("variable {variable} is eliminated twice"));
            }
            pool.add(vec![variable as usize], self.reduced(case, variable as usize, scores))?;
            for &(factor, _) in &self.factors_of[variable as usize] {
                if !std::mem::replace(&mut pooled[factor], true) {
                    let data = &self.problem.factors[factor];
                    pool.add_factor(data, &self.multipliers[factor], scores)
                        .map_err(|problem| format!("factor {factor} ({}): {problem}", data.kind.name()))?;
                }
            }
            pool.eliminate(variable as usize)?;
        }
        total = total + pool.maximum();
        for variable in (0..case.len()).filter(|&v| !gone[v]) {
            total = total + self.reduced(case, variable, scores).into_iter().fold(Up::NEVER, Up::max);
        }
        for factor in (0..pooled.len()).filter(|&f| !pooled[f]) {
            if total.is_never() {
                break;
            }
            total = total + self.maximum(case, factor, scores)?;
        }
        match scores {
            true => Ok(total),
            false if total < Up::ZERO => Ok(Up::NEVER),
            false => {
                Err(format!("claimed to be impossible, but the bound without scores is {}", total.ceiling()))
            }
        }
    }
}

/// The largest multiple of `unit` up to `bound`, if every score is a multiple of it. Remainders of
/// floating-point numbers are exact.
fn round_down(problem: &Problem, bound: f64, unit: Option<f64>) -> Result<f64, Refusal> {
    let Some(unit) = unit.filter(|_| bound.is_finite()) else { return Ok(bound) };
    let refuse = |problem: String| Err(Refusal::new("unit", problem));
    if !(unit > 0.0 && unit.is_finite()) {
        return refuse(format!("{unit} is not a number above zero"));
    }
    let mut scores = problem.scores().filter(|score| score.is_finite());
    if let Some(score) = scores.find(|score| score % unit != 0.0) {
        return refuse(format!("{score} is not a multiple of {unit}"));
    }
    let rest = bound % unit;
    let rounded = bound - if rest < 0.0 { rest + unit } else { rest };
    // Where the difference had to be rounded, nothing is gained.
    let exact =
        rounded <= bound && rounded % unit == 0.0 && Up::from(rounded) + Up::from(unit) > Up::from(bound);
    Ok(if exact { rounded } else { bound })
}

/// Whether the checker can maximize over a factor jointly with others.
pub fn is_table(kind: &Kind) -> bool {
    !matches!(kind, Kind::Arborescence { .. } | Kind::TreeBudget { .. } | Kind::Cut { .. })
}

/// The variables of each table that a factor is made of.
pub fn table_scopes(problem: &Problem, factor: &Factor) -> Vec<Vec<u32>> {
    if factor.scope.is_empty() {
        return vec![factor.literals.iter().map(|literal| literal.variable).collect()];
    }
    let sizes: Vec<usize> =
        factor.scope.iter().map(|&v| problem.variables[v as usize].scores.len()).collect();
    let tables = structure::tables(&factor.kind, &sizes).into_iter();
    tables.map(|(places, _)| places.iter().map(|&place| factor.scope[place]).collect()).collect()
}
