//! How a problem is solved, and what people ask of it beside its best assignment.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use consonant::Error;
use consonant::map::problem::Problem;
use consonant::map::questions::{conflict, otherwise};
use consonant::map::solver::{Limits, Method, Stop, solve};
use consonant::map::{Graph, Solution, Status};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

use crate::errors::usage;
use crate::run::{pool, start};

/// How a problem is solved.
pub struct Way {
    pub method: Method,
    pub gap: f64,
    max_iterations: Option<usize>,
    time_limit: Option<f64>,
    trace: bool,
    threads: Option<usize>,
}

impl Way {
    pub fn new(
        method: &str,
        time_limit: Option<f64>,
        max_iterations: Option<usize>,
        gap: f64,
        trace: bool,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let found = Method::NAMES.iter().find(|(name, _)| *name == method);
        let Some(&(_, method)) = found else {
            let names: Vec<&str> = Method::NAMES.iter().map(|(name, _)| *name).collect();
            return Err(usage(format!(
                "there is no method `{method}`; the methods are {}",
                names.join(", ")
            )));
        };
        if !(gap >= 0.0 && time_limit.is_none_or(|limit| limit >= 0.0)) {
            return Err(usage("time_limit and gap take numbers that are zero or more"));
        }
        let time_limit = time_limit.or((method == Method::Exact).then_some(60.0));
        Ok(Self { method, gap, max_iterations, time_limit, trace, threads })
    }

    /// Does work under the limits, away from the interpreter.
    fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(Method, &Limits) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let &Self { method, gap, max_iterations, time_limit, trace, threads } = self;
        let running = start(&*pool(threads)?, move |_, stop: &Arc<AtomicBool>| {
            let stop = Stop::from(Arc::clone(stop));
            let parallel = threads != Some(1);
            let limits =
                Limits { max_iterations, time_limit, gap, parallel, trace, stop, ..Limits::default() };
            work(method, &limits)
        });
        running.wait(py, None)
    }

    /// The best assignment.
    pub fn solve(&self, py: Python<'_>, problem: &Arc<Problem>) -> PyResult<Solution> {
        let problem = Arc::clone(problem);
        self.run(py, move |method, limits| {
            let graph = Graph::from_problem(&problem).map_err(Error::task)?;
            solve(&graph, method, limits).map_err(Error::task)
        })
    }

    /// Several assignments, the best first, each with the problem that it is the best of.
    pub fn n_best(
        &self,
        py: Python<'_>,
        problem: &Arc<Problem>,
        count: usize,
        different_by: usize,
    ) -> PyResult<Vec<(Arc<Problem>, Solution)>> {
        if count == 0 || different_by == 0 {
            return Err(usage("count and different_by take numbers from 1"));
        }
        let mut found = Vec::new();
        let mut left = Arc::clone(problem);
        while found.len() < count {
            let solution = self.solve(py, &left)?;
            let Some(states) = solution.assignment() else { break };
            let mut rest = (*left).clone();
            let more = rest.exclude(&states[..problem.variables.len()], different_by);
            found.push((std::mem::replace(&mut left, Arc::new(rest)), solution));
            if !more {
                break;
            }
        }
        Ok(found)
    }

    /// What each variable's state is worth, or which constraints contradict each other, as JSON.
    pub fn explain(&self, py: Python<'_>, problem: &Arc<Problem>) -> PyResult<String> {
        let problem = Arc::clone(problem);
        self.run(py, move |method, limits| {
            let graph = Graph::from_problem(&problem).map_err(Error::task)?;
            let best = solve(&graph, method, limits).map_err(Error::task)?;
            let mut told = json!({"status": best.certificate.status().name()});
            if let Some(states) = best.assignment() {
                let value = best.certificate.value().unwrap_or_default();
                let mut found = Map::new();
                for other in otherwise(&problem, states, method, limits).map_err(Error::task)? {
                    found.insert(
                        problem.variables[other.variable].name.clone(),
                        worth(&problem, other.variable, states, value, &other.solution),
                    );
                }
                told["otherwise"] = Value::Object(found);
            } else if let Some(conflict) = conflict(&problem, limits).map_err(Error::task)? {
                let verified = conflict.confirm(limits).map_err(Error::task)?;
                told["conflict"] = json!({
                    "constraints": conflict.describe(&problem), "smallest": conflict.smallest, "verified": verified,
                });
            }
            Ok(told.to_string())
        })
    }
}

/// What is lost at least where a variable is in another state, and in which it then is.
fn worth(problem: &Problem, variable: usize, states: &[u32], value: f64, other: &Solution) -> Value {
    let name = |states: &[u32]| problem.variables[variable].state_name(states[variable] as usize);
    let loss = value - other.certificate.bound();
    let possible = other.certificate.status() != Status::Infeasible;
    json!({
        "state": name(states),
        "instead": other.assignment().filter(|_| possible).map(name),
        "loss": (possible && loss.is_finite()).then_some(loss.max(0.0)),
        "status": other.certificate.status().name(),
    })
}
