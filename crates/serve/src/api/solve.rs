//! `POST /v1/solve`: a factor graph to its best assignment.

use std::sync::Arc;

use axum::body::Bytes;
use consonant::map::problem::{self, Format, Problem as Graphical};
use consonant::map::proof::{ProofOptions, prove};
use consonant::map::solver::{Limits, Method, solve};
use consonant::map::verify::Proof;
use consonant::map::{Graph, Solution, TracePoint};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::choice::Choice;
use super::{Lane, Operation, Work};
use crate::problem::Problem;

/// The operation.
pub struct Solve;

/// A problem as it came: our JSON, or UAI, log-UAI or AD3's form as text.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub struct GivenProblem(Value);

impl JsonSchema for GivenProblem {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FactorGraph".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "A factor graph: an object as in docs/map.md, or a text in UAI, log-UAI or AD3's .fg",
            "type": ["object", "string"],
            "properties": {
                "variables": {"type": "array", "items": {"type": "object"}},
                "factors": {"type": "array", "items": {"type": "object"}}
            }
        })
    }
}

/// How it is solved.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SolveQuery {
    /// How to solve it (exact without it).
    #[serde(default)]
    method: Option<Choice<Method>>,
    /// How a problem of text is written; told from its beginning without it.
    #[serde(default)]
    from: Option<Choice<Format>>,
    /// Iterations at most (search nodes for exact).
    #[serde(default)]
    max_iterations: Option<usize>,
    /// Seconds at most; never more than the server's limit.
    #[serde(default)]
    time_limit: Option<f64>,
    /// Adds value and bound over time.
    #[serde(default)]
    trace: bool,
    /// Adds a proof, for `/v1/verify`.
    #[serde(default)]
    proof: bool,
}

/// The best assignment that was found, and what is proven of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SolveAnswer {
    /// What is proven.
    #[serde(flatten)]
    proven: Proven,
    /// The state of each variable by its name: `true`-ish numbers for binary ones, names or numbers for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    assignment: Option<Map<String, Value>>,
    /// Value and bound over time, if asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    trace: Vec<Point>,
    /// The proof, if asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proof: Option<Value>,
}

/// Value, bound and status.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Proven {
    /// The score of the assignment.
    value: Option<f64>,
    /// No assignment scores more; none where there is no solution.
    bound: Option<f64>,
    /// optimal, feasible, infeasible or stopped.
    status: &'static str,
    /// Iterations, or nodes of branch and bound.
    iterations: usize,
    /// By the clock.
    seconds: f64,
}

impl From<consonant::Certificate> for Proven {
    fn from(certificate: consonant::Certificate) -> Self {
        Self {
            value: certificate.value(),
            bound: Some(certificate.bound()).filter(|bound| bound.is_finite()),
            status: certificate.status().name(),
            iterations: certificate.iterations,
            seconds: certificate.seconds,
        }
    }
}

/// Value and bound at one moment.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Point {
    iteration: usize,
    seconds: f64,
    bound: Option<f64>,
    value: Option<f64>,
}

impl From<&TracePoint> for Point {
    fn from(point: &TracePoint) -> Self {
        let finite = |number: f64| Some(number).filter(|number| number.is_finite());
        Self {
            iteration: point.iteration,
            seconds: point.seconds,
            bound: finite(point.bound),
            value: finite(point.value),
        }
    }
}

impl GivenProblem {
    /// Reads the problem, and refuses one that is larger than the server takes.
    pub fn read(self, work: &Work, format: Option<Choice<Format>>) -> Result<Arc<Graphical>, Problem> {
        let (text, format) = match self.0 {
            Value::String(text) => {
                let format = format.map(|choice| choice.0).or_else(|| Format::guess("", &text));
                (text, format)
            }
            value => (value.to_string(), Some(Format::Json)),
        };
        let format = format.ok_or_else(|| {
            Problem::wrong("cannot tell the format of the problem; say from=uai, loguai, fg or json")
        })?;
        let problem = problem::read(&text, format).map_err(|error| Problem::wrong(error.to_string()))?;
        let (count, most) = (problem.variables.len(), work.limits().max_variables);
        if count > most {
            return Err(Problem::too_large(format!(
                "the problem has {count} variables; this server takes {most} (--max-variables)"
            )));
        }
        Ok(Arc::new(problem))
    }
}

/// Limits that never go beyond the request's time.
pub fn limits(
    work: &Work,
    max_iterations: Option<usize>,
    time_limit: Option<f64>,
    trace: bool,
) -> Result<Limits, Problem> {
    if time_limit.is_some_and(|limit| !(0.0..=1e9).contains(&limit)) {
        return Err(Problem::bad("time_limit is a number of seconds, zero or more"));
    }
    // Some is left for writing the answer.
    let left = (work.seconds_left() * 0.95).max(0.001);
    Ok(Limits {
        max_iterations,
        time_limit: Some(time_limit.map_or(left, |limit| limit.min(left))),
        trace,
        ..Limits::default()
    })
}

/// Builds the graph of a problem.
pub fn graph_of(problem: &Graphical) -> Result<Graph, Problem> {
    Graph::from_problem(problem).map_err(|error| Problem::wrong(error.to_string()))
}

/// The points of a trace, few enough to be drawn.
pub fn points(solution: &Solution) -> Vec<Point> {
    const MOST: usize = 2000;
    let step = solution.trace.len().div_ceil(MOST).max(1);
    let last = solution.trace.len().saturating_sub(1);
    let kept = solution.trace.iter().enumerate().filter(|(number, _)| number % step == 0 || *number == last);
    kept.map(|(_, point)| point.into()).collect()
}

impl Operation for Solve {
    const PATH: &'static str = "/v1/solve";
    const SUMMARY: &'static str = "The best assignment of a factor graph, with value, bound and status";
    const ABOUT: &'static str = "The body is the problem itself, as JSON or, with `text/plain`, in UAI, log-UAI or AD3's form. A problem without a solution is an answer, too: `infeasible`.";
    const LANE: Lane = Lane::Solvers;
    type Query = SolveQuery;
    type Request = GivenProblem;
    type Answer = SolveAnswer;

    fn read(body: &Bytes, kind: &str) -> Result<GivenProblem, Problem> {
        if kind == "text/plain" {
            let text = String::from_utf8(body.to_vec()).map_err(|error| Problem::bad(error.to_string()))?;
            return Ok(GivenProblem(Value::String(text)));
        }
        super::read_json(body, kind)
    }

    fn run(work: &Work, query: SolveQuery, request: GivenProblem) -> Result<SolveAnswer, Problem> {
        let problem = request.read(work, query.from)?;
        let graph = graph_of(&problem)?;
        let method = query.method.map_or(Method::Exact, |choice| choice.0);
        let mut limits = limits(work, query.max_iterations, query.time_limit, query.trace)?;
        if query.proof {
            // Finding and proving share the time.
            limits.time_limit = limits.time_limit.map(|limit| 0.5 * limit);
        }
        let mut solution =
            solve(&graph, method, &limits).map_err(|error| Problem::wrong(error.to_string()))?;
        let mut proof = None;
        if query.proof {
            let (found, proven) = proof_of(&problem, solution, method, &limits)?;
            let text = found.write().map_err(|error| Problem::wrong(error.to_string()))?;
            proof = serde_json::from_str(&text).ok();
            solution = proven;
        }
        let solution = solution.stated(&problem);
        Ok(SolveAnswer {
            proven: solution.certificate.into(),
            assignment: solution.assignment().map(|states| problem.named(states)),
            trace: points(&solution),
            proof,
        })
    }
}

/// A proof of an answer, in as much time as the answer was given; with cases if the method has them.
pub fn proof_of(
    problem: &Graphical,
    solution: Solution,
    method: Method,
    limits: &Limits,
) -> Result<(Proof, Solution), Problem> {
    let mut options = ProofOptions::default();
    options.time_limit = limits.time_limit.unwrap_or_default();
    options.branch = method == Method::Exact;
    prove(problem, solution, &options).map_err(|error| Problem::wrong(error.to_string()))
}
