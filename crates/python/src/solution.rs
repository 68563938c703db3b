//! Answers to problems, and their proofs.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use consonant::Error;
use consonant::map::Status;
use consonant::map::problem;
use consonant::map::proof::{ProofOptions, prove};
use consonant::map::solver::Method;
use consonant::map::verify::{Proof, verify};
use consonant::task::Usage;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::doc::Certificate;
use crate::errors::raise;
use crate::problem::{Literal, Variable};
use crate::run::run;

/// An assignment, where one was found, and what is proven of it.
#[pyclass(frozen, module = "consonant")]
pub struct Solution {
    pub problem: Arc<problem::Problem>,
    pub id: u64,
    pub own: Arc<consonant::map::Solution>,
    pub method: Method,
    pub gap: f64,
}

#[pymethods]
impl Solution {
    /// The value of the assignment, or what it costs; minus infinity, or infinity for costs, if there is none.
    #[getter]
    fn value(&self) -> f64 {
        self.stated().value().unwrap_or(self.problem.stated(f64::NEG_INFINITY))
    }

    /// No assignment is worth more, or costs less.
    #[getter]
    fn bound(&self) -> f64 {
        self.stated().bound()
    }

    /// `optimal`, `feasible`, `infeasible` or `stopped`.
    #[getter]
    fn status(&self) -> &'static str {
        self.own.certificate.status().name()
    }

    /// What is known of the answer; `certificate.verify()` has it checked.
    #[getter]
    fn certificate(&self, py: Python<'_>) -> PyResult<Py<ProvenCertificate>> {
        let proven = ProvenCertificate {
            problem: Arc::clone(&self.problem),
            solution: Arc::clone(&self.own),
            branch: self.method == Method::Exact,
            gap: self.gap,
            proof: Mutex::new(None),
        };
        Py::new(py, (proven, Certificate(self.stated())))
    }

    /// The state of each variable by name; `None` if no assignment was found.
    #[getter]
    fn assignment<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(states) = self.own.assignment() else { return Ok(None) };
        let found = PyDict::new(py);
        for (variable, &state) in self.problem.variables.iter().zip(states) {
            match (variable.binary, variable.states.get(state as usize)) {
                (true, _) => found.set_item(&variable.name, state == 1)?,
                (_, Some(name)) => found.set_item(&variable.name, name)?,
                (_, None) => found.set_item(&variable.name, state)?,
            }
        }
        Ok(Some(found))
    }

    /// The state of a variable, or whether a literal holds.
    fn __getitem__(&self, py: Python<'_>, what: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let states = self.own.assignment().ok_or_else(|| PyKeyError::new_err("there is no assignment"))?;
        if let Ok(variable) = what.cast::<Variable>()
            && variable.get().problem == self.id
        {
            return variable.get().state(py, states[variable.get().number as usize] as usize);
        }
        if let Ok(literal) = what.cast::<Literal>()
            && literal.get().problem == self.id
        {
            let own = literal.get().own;
            let holds = own.holds(states[own.variable as usize]);
            return Ok(holds.into_pyobject(py)?.to_owned().into_any().unbind());
        }
        Err(PyKeyError::new_err(format!("{what} is no variable or literal of this problem")))
    }

    /// The relaxed solution: for each binary variable, and each state of each other variable, a number between 0 and 1.
    #[getter]
    fn marginals<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.own.marginals)
    }

    /// Value and bound over time, a row of iteration, seconds, bound, value for each look; empty unless asked for.
    #[getter]
    fn trace<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let points = self.own.trace.iter();
        let stated = |number| self.problem.stated(number);
        let rows = points.flat_map(|point| {
            [point.iteration as f64, point.seconds, stated(point.bound), stated(point.value)]
        });
        let array = PyArray1::from_vec(py, rows.collect()).reshape([self.own.trace.len(), 4])?;
        array.call_method1("view", (py.import("consonant.plots")?.getattr("Trace")?,))
    }

    /// Plots value and bound over time with matplotlib, on `axes` if given; returns the axes.
    #[pyo3(signature = (axes=None))]
    fn plot<'py>(&self, py: Python<'py>, axes: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let title = PyDict::new(py);
        title.set_item("title", self.status())?;
        self.trace(py)?.call_method("plot", (axes,), Some(&title))
    }

    /// Value and bound over time, if they were recorded.
    fn _repr_svg_(&self) -> Option<String> {
        (!self.own.trace.is_empty()).then(|| self.chart())
    }

    fn __repr__(&self) -> String {
        format!("<Solution {}: value {}, bound {}>", self.status(), self.value(), self.bound())
    }
}

impl Solution {
    fn stated(&self) -> consonant::Certificate {
        self.own.certificate.stated(&self.problem)
    }

    fn chart(&self) -> String {
        use consonant::plot::{Chart, Series};
        let series = |name: &str, y: fn(&consonant::map::TracePoint) -> f64| Series {
            name: name.into(),
            points: (self.own.trace.iter())
                .map(|point| (point.seconds, self.problem.stated(y(point))))
                .collect(),
            steps: true,
        };
        Chart {
            title: self.status().to_owned(),
            x_label: "seconds".into(),
            y_label: "score".into(),
            series: vec![series("bound", |point| point.bound), series("value", |point| point.value)],
        }
        .to_svg()
    }
}

/// A certificate that can be proven: the engine writes a proof, and a checker that knows no solver reads it.
#[pyclass(frozen, extends = Certificate, name = "ProvenCertificate", module = "consonant")]
pub struct ProvenCertificate {
    problem: Arc<problem::Problem>,
    solution: Arc<consonant::map::Solution>,
    branch: bool,
    gap: f64,
    proof: Mutex<Option<Arc<(Proof, Status)>>>,
}

impl ProvenCertificate {
    /// The proof, written once.
    fn proven(&self, py: Python<'_>, time_limit: f64) -> PyResult<Arc<(Proof, Status)>> {
        let known = self.proof.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(known) = known {
            return Ok(known);
        }
        let (problem, solution) = (Arc::clone(&self.problem), Arc::clone(&self.solution));
        let mut options = ProofOptions::default();
        (options.time_limit, options.gap, options.branch) = (time_limit, self.gap, self.branch);
        let written = run(py, None, move || {
            let (proof, proven) = prove(&problem, (*solution).clone(), &options).map_err(Error::task)?;
            Ok(Arc::new((proof, proven.certificate.status())))
        })?;
        *self.proof.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&written));
        Ok(written)
    }
}

#[pymethods]
impl ProvenCertificate {
    /// Has the answer proven and the proof checked; `True` if what it proves is what the certificate says.
    #[pyo3(signature = (*, time_limit=60.0))]
    fn verify(&self, py: Python<'_>, time_limit: f64) -> PyResult<bool> {
        let proven = self.proven(py, time_limit)?;
        let (problem, proof) = (Arc::clone(&self.problem), Arc::clone(&proven));
        run(py, None, move || {
            verify(&problem, &proof.0).map_err(|refusal| Usage(refusal.to_string()).into())
        })?;
        let claimed = self.solution.certificate.status();
        Ok(claimed == proven.1 || !matches!(claimed, Status::Optimal | Status::Infeasible))
    }

    /// The proof, as `consonant verify` reads it.
    #[pyo3(signature = (*, time_limit=60.0))]
    fn proof(&self, py: Python<'_>, time_limit: f64) -> PyResult<String> {
        self.proven(py, time_limit)?.0.write().map_err(|error| raise(Error::task(error)))
    }

    /// Writes the proof into a file, for `consonant verify`.
    #[pyo3(signature = (path, *, time_limit=60.0))]
    fn save(&self, py: Python<'_>, path: PathBuf, time_limit: f64) -> PyResult<()> {
        Ok(consonant::learn::file::write(path, self.proof(py, time_limit)?)?)
    }
}
