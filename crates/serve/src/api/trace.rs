//! `POST /v1/trace`: several methods on one problem, value and bound as they move.

use std::sync::Arc;

use consonant::Error;
use consonant::map::problem::Problem as Graphical;
use consonant::map::solver::{Method, solve};
use consonant::map::verify::Step;
use consonant::map::{Graph, Solution};
use consonant::ner::NerOptions;
use consonant::task::Task as _;
use consonant::text::Sentence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choice::Choice;
use super::solve::{GivenProblem, Point, Proven, graph_of, limits, points, proof_of};
use super::{Lane, NoQuery, Operation, Work};
use crate::problem::Problem;

/// The operation.
pub struct Trace;

/// A problem: that of a sentence's tree, that of names which agree, or one's own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceRequest {
    /// A text, whose problem is solved.
    #[serde(default)]
    text: Option<String>,
    /// Which problem of the text.
    #[serde(default)]
    of: Of,
    /// The number of the sentence whose tree is sought, counted from 0.
    #[serde(default)]
    sentence: usize,
    /// A problem of one's own instead.
    #[serde(default)]
    problem: Option<GivenProblem>,
    /// How to solve it: each method in turn.
    methods: Vec<Choice<Method>>,
    /// Iterations at most (search nodes for exact).
    #[serde(default)]
    max_iterations: Option<usize>,
}

/// Which problem of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Of {
    /// The tree of a sentence.
    #[default]
    Tree,
    /// The names of the text, which agree.
    Names,
}

/// What each method did.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TraceAnswer {
    /// Variables of the problem.
    variables: usize,
    /// Factors of the problem.
    factors: usize,
    /// The words of the sentence, for a tree.
    words: Vec<String>,
    /// How many sentences the text has.
    sentences: usize,
    /// A run for each method.
    runs: Vec<Run>,
}

/// What one method did.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Run {
    method: Choice<Method>,
    /// What is proven at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proven: Option<Proven>,
    /// Value and bound as they moved.
    trace: Vec<Point>,
    /// Variables on which the method's parts did not agree at the end, with what the relaxation believes of them.
    disputed: Vec<Disputed>,
    /// What the branches of exact search fix, in the order in which its proof goes through them; the first case fixes nothing. Trees have no such
    /// proof.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    cases: Vec<Case>,
    /// What the answer switches on: names of variables with their states, for a tree its arcs.
    chosen: Vec<String>,
    /// Why the method cannot be applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

/// A case of a proof.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Case {
    /// Below how many others it stands.
    depth: usize,
    /// What it fixes: a variable, with the states that are left to it.
    fixed: String,
    /// States of variables that factors rule out then.
    ruled_out: usize,
}

/// A variable that is neither true nor false in the relaxation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Disputed {
    /// The variable, with its state.
    name: String,
    /// Between 0 and 1.
    belief: f64,
}

/// Disputes and choices that are told.
const MOST: usize = 400;

/// A graph and what its variables are called: one name for a binary one, a name for each state of others.
struct Named {
    problem: Option<Arc<Graphical>>,
    graph: Graph,
    names: Vec<Vec<String>>,
    words: Vec<String>,
    sentences: usize,
}

impl Operation for Trace {
    const PATH: &'static str = "/v1/trace";
    const SUMMARY: &'static str =
        "Several methods on one problem: value and bound as they move toward each other";
    const ABOUT: &'static str = "The problem is that of a sentence's tree, that of the names of a text, or one's own. What a method cannot do is said in `refused`.";
    const LANE: Lane = Lane::Solvers;
    type Query = NoQuery;
    type Request = TraceRequest;
    type Answer = TraceAnswer;

    fn run(work: &Work, _: NoQuery, request: TraceRequest) -> Result<TraceAnswer, Problem> {
        if request.methods.is_empty() || request.methods.len() > Method::NAMES.len() {
            return Err(Problem::wrong("name each method once at most, and one at least"));
        }
        let named = match (request.text, request.problem) {
            (Some(text), None) => of_text(work, &text, request.of, request.sentence)?,
            (None, Some(problem)) => of_problem(problem.read(work, None)?)?,
            _ => return Err(Problem::wrong("give either `text` or `problem`")),
        };
        let (variables, factors) = (named.graph.variables(), named.graph.factors());
        let share = work.seconds_left() / request.methods.len() as f64;
        let mut runs = Vec::new();
        for &method in &request.methods {
            work.check_time()?;
            let mut limits = limits(work, request.max_iterations, Some(share), true)?;
            let branches = method.0 == Method::Exact && named.problem.is_some();
            if branches {
                // Finding and proving share the time.
                limits.time_limit = limits.time_limit.map(|limit| 0.5 * limit);
            }
            runs.push(match solve(&named.graph, method.0, &limits) {
                Ok(solution) => match &named.problem {
                    None => Run::new(method, &named, &solution),
                    Some(problem) => {
                        let mut cases = Vec::new();
                        if branches {
                            let (proof, _) = proof_of(problem, solution.clone(), method.0, &limits)?;
                            cases = cases_of(problem, &proof.steps);
                        }
                        Run { cases, ..Run::new(method, &named, &solution.stated(problem)) }
                    }
                },
                Err(refused) => Run {
                    method,
                    proven: None,
                    trace: Vec::new(),
                    disputed: Vec::new(),
                    cases: Vec::new(),
                    chosen: Vec::new(),
                    refused: Some(refused.to_string()),
                },
            });
        }
        Ok(TraceAnswer { variables, factors, words: named.words, sentences: named.sentences, runs })
    }
}

impl Run {
    fn new(method: Choice<Method>, named: &Named, solution: &Solution) -> Self {
        let fractional = |belief: &f64| (1e-3..=1.0 - 1e-3).contains(belief);
        let beliefs = named.names.iter().flatten().zip(&solution.marginals);
        let disputed = beliefs.filter(|(_, belief)| fractional(belief)).take(MOST);
        let states = solution.assignment().unwrap_or_default();
        let chosen = named.names.iter().zip(states).filter_map(|(names, &state)| match names.as_slice() {
            [name] => Some(name).filter(|_| state == 1),
            names => names.get(state as usize),
        });
        Self {
            method,
            proven: Some(solution.certificate.into()),
            trace: points(solution),
            disputed: disputed.map(|(name, &belief)| Disputed { name: name.clone(), belief }).collect(),
            cases: Vec::new(),
            chosen: chosen.take(MOST).cloned().collect(),
            refused: None,
        }
    }
}

/// The cases of a proof's steps, which are a tree in preorder.
fn cases_of(problem: &Graphical, steps: &[Step]) -> Vec<Case> {
    let mut open = vec![(0, String::new())];
    let mut cases: Vec<Case> = Vec::new();
    let mut goes_on = false;
    for step in steps {
        if !goes_on {
            if cases.len() == MOST {
                break;
            }
            let Some((depth, fixed)) = open.pop() else { break };
            cases.push(Case { depth, fixed, ruled_out: 0 });
        }
        let Some(case) = cases.last_mut() else { break };
        goes_on = matches!(step, Step::Prune(_));
        match step {
            Step::Prune(states) => case.ruled_out += states.len(),
            Step::Split { variable, parts } => {
                let variable = &problem.variables[*variable as usize];
                let fixed = |part: &Vec<u32>| {
                    let states: Vec<String> =
                        part.iter().map(|&state| variable.state_name(state as usize)).collect();
                    (case.depth + 1, format!("{} = {}", variable.name, states.join(" or ")))
                };
                open.extend(parts.iter().rev().map(fixed));
            }
            Step::Bound(_) => {}
        }
    }
    cases
}

fn of_text(work: &Work, text: &str, of: Of, number: usize) -> Result<Named, Problem> {
    work.check_words(std::iter::once(text))?;
    let pipeline = work.models.whole()?;
    let mut sentences = pipeline.annotate(text)?.document.into_sentences();
    let count = sentences.len();
    if of == Of::Names {
        let names =
            pipeline.names().ok_or_else(|| Problem::missing("there is no ner.model among the models"))?;
        sentences.first_mut().into_iter().for_each(Sentence::mark_document);
        let problems = names.agreeing(names.strength()).problems(&sentences, &NerOptions::new());
        let problems = problems.transpose().map_err(Error::task)?.unwrap_or_default();
        let problem = problems.into_iter().next().ok_or_else(|| {
            Problem::wrong("no word of the text occurs twice, so that nothing has to agree; repeat a name")
        })?;
        return Ok(Named { sentences: count, ..of_problem(problem.problem.into())? });
    }
    let parser =
        pipeline.parser().ok_or_else(|| Problem::missing("there is no parser.model among the models"))?;
    let sentence = sentences.get(number).ok_or_else(|| {
        Problem::wrong(format!("there is no sentence {number}; the text has {count}, counted from 0"))
    })?;
    let found = parser.graph(sentence).map_err(Error::task)?;
    let parse = found.ok_or_else(|| Problem::wrong("the sentence has no words, or more than 500"))?;
    let word = |number: usize| if number == 0 { "root" } else { sentence.form(number - 1) };
    let name = |head, modifier| format!("{} {head} → {} {modifier}", word(head), word(modifier));
    Ok(Named {
        problem: None,
        names: parse.arcs.iter().map(|&(head, modifier)| vec![name(head, modifier)]).collect(),
        graph: parse.graph,
        words: (0..sentence.len()).map(|word| sentence.form(word).to_owned()).collect(),
        sentences: count,
    })
}

fn of_problem(problem: Arc<Graphical>) -> Result<Named, Problem> {
    let names = problem.variables.iter().map(|variable| match variable.binary {
        true => vec![variable.name.clone()],
        false => (0..variable.scores.len())
            .map(|state| format!("{} = {}", variable.name, variable.state_name(state)))
            .collect(),
    });
    let (names, graph) = (names.collect(), graph_of(&problem)?);
    Ok(Named { names, graph, problem: Some(problem), words: Vec::new(), sentences: 0 })
}

#[cfg(test)]
mod tests {
    use consonant::map::problem::{Format, read};
    use consonant::map::verify::{Bound, Step};

    use super::{Case, cases_of};

    #[test]
    fn cases_are_told_in_the_order_of_the_proof() {
        let text = r#"{"variables": [{"name": "a", "score": 1},
            {"name": "x", "states": ["p", "q", "r"], "scores": [0, 0, 0]}], "factors": []}"#;
        let problem = read(text, Format::Json).unwrap();
        let bound = || Step::Bound(Bound::default());
        let steps = [
            Step::Prune(vec![(1, 0, 0)]),
            Step::Split { variable: 1, parts: vec![vec![1], vec![0, 2]] },
            Step::Split { variable: 0, parts: vec![vec![0], vec![1]] },
            bound(),
            bound(),
            Step::Prune(vec![(0, 0, 0), (1, 0, 0)]),
            bound(),
        ];
        let case = |depth, fixed: &str, ruled_out| Case { depth, fixed: fixed.to_owned(), ruled_out };
        let expected = [
            case(0, "", 1),
            case(1, "x = q", 0),
            case(2, "a = 0", 0),
            case(2, "a = 1", 0),
            case(1, "x = p or r", 2),
        ];
        assert_eq!(cases_of(&problem, &steps), expected);
    }
}
