//! Scores and constraints of one's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use consonant::map::problem::{self, Factor, Format, Kind, Malformed, Relation};
use numpy::{AllowTypeChange, PyArrayLikeDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{ProblemError, usage};
use crate::questions::Way;
use crate::solution::Solution;

/// A state of a variable, or its negation.
#[pyclass(frozen, module = "consonant")]
pub struct Literal {
    pub problem: u64,
    pub own: problem::Literal,
    name: String,
}

#[pymethods]
impl Literal {
    fn __invert__(&self) -> Self {
        Self { own: !self.own, name: self.name.clone(), ..*self }
    }

    fn __hash__(&self) -> u64 {
        let problem::Literal { variable, state, negated } = self.own;
        self.problem.rotate_left(40)
            ^ (u64::from(variable) << 21)
            ^ (u64::from(state) << 1)
            ^ u64::from(negated)
    }

    fn __eq__(&self, other: &Self) -> bool {
        (self.problem, self.own) == (other.problem, other.own)
    }

    fn __repr__(&self) -> String {
        format!("{}{}", if self.own.negated { "~" } else { "" }, self.name)
    }
}

/// A variable with several states; `x["a"]` is the literal that it is in a state.
#[pyclass(frozen, module = "consonant")]
pub struct Variable {
    pub problem: u64,
    pub number: u32,
    /// Its name.
    #[pyo3(get)]
    name: String,
    states: Vec<String>,
    size: usize,
}

#[pymethods]
impl Variable {
    /// The names of its states; their numbers if they have none.
    #[getter]
    fn states(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        (0..self.size).map(|state| self.state(py, state)).collect()
    }

    fn __len__(&self) -> usize {
        self.size
    }

    fn __getitem__(&self, state: &Bound<'_, PyAny>) -> PyResult<Literal> {
        let number = match state.extract::<String>() {
            Ok(name) => self.states.iter().position(|known| *known == name),
            Err(_) => state.extract::<usize>().ok().filter(|&number| number < self.size),
        };
        let number =
            number.ok_or_else(|| PyKeyError::new_err(format!("`{}` has no state {state}", self.name)))?;
        let own = problem::Literal { variable: self.number, state: number as u32, negated: false };
        Ok(Literal { problem: self.problem, own, name: format!("{}[{}]", self.name, state.repr()?) })
    }

    fn __repr__(&self) -> String {
        format!("<Variable {} with {} states>", self.name, self.size)
    }
}

impl Variable {
    /// What a state is called.
    pub fn state(&self, py: Python<'_>, state: usize) -> PyResult<Py<PyAny>> {
        Ok(match self.states.get(state) {
            Some(name) => name.into_pyobject(py)?.into_any().unbind(),
            None => state.into_pyobject(py)?.into_any().unbind(),
        })
    }
}

/// A constraint that was added, to be softened.
#[pyclass(frozen, module = "consonant")]
pub struct Constraint {
    problem: u64,
    factor: usize,
}

/// Variables with scores and factors that tie them together; the sum of all scores is to be maximized.
#[pyclass(subclass, module = "consonant._consonant")]
pub struct Problem {
    id: u64,
    own: problem::Problem,
}

/// Numbers of problems, so that literals of one are not taken for another's.
static NEXT: AtomicU64 = AtomicU64::new(0);

fn malformed(error: Malformed) -> PyErr {
    ProblemError::new_err(error.to_string())
}

/// Numbers from anything that NumPy takes for an array, and their shape.
fn numbers(array: &Bound<'_, PyAny>) -> PyResult<(Vec<f64>, Vec<usize>)> {
    let array: PyArrayLikeDyn<'_, f64, AllowTypeChange> = array.extract()?;
    Ok((array.as_array().iter().copied().collect(), array.shape().to_vec()))
}

impl Problem {
    fn literal(&self, literal: &Bound<'_, PyAny>) -> PyResult<problem::Literal> {
        let Ok(literal) = literal.cast::<Literal>() else {
            let hint =
                if literal.is_instance_of::<Variable>() { "; say which state, as in x[\"a\"]" } else { "" };
            return Err(PyTypeError::new_err(format!(
                "expected a literal, found {}{hint}",
                literal.get_type()
            )));
        };
        match literal.get() {
            own if own.problem == self.id => Ok(own.own),
            other => Err(usage(format!("{} is of another problem", other.__repr__()))),
        }
    }

    /// Literals, given one by one or as one list.
    fn literals(&self, given: &[Bound<'_, PyAny>]) -> PyResult<Vec<problem::Literal>> {
        match given {
            [list] if !list.is_instance_of::<Literal>() && !list.is_instance_of::<Variable>() => {
                list.try_iter()?.map(|literal| self.literal(&literal?)).collect()
            }
            _ => given.iter().map(|literal| self.literal(literal)).collect(),
        }
    }

    fn scope(&self, variables: &[Bound<'_, PyAny>]) -> PyResult<Vec<u32>> {
        let number = |variable: &Bound<'_, PyAny>| {
            if let Ok(variable) = variable.cast::<Variable>()
                && variable.get().problem == self.id
            {
                return Ok(variable.get().number);
            }
            // A binary variable is its own literal.
            match self.literal(variable)? {
                literal if !literal.negated && self.own.variables[literal.variable as usize].binary => {
                    Ok(literal.variable)
                }
                _ => Err(PyTypeError::new_err("expected a variable of this problem")),
            }
        };
        variables.iter().map(number).collect()
    }

    fn add(&mut self, kind: Kind, literals: Vec<problem::Literal>, scope: Vec<u32>) -> PyResult<Constraint> {
        self.own.factors.push(Factor { kind, literals, scope });
        if let Err(error) = self.own.check_factor(self.own.factors.len() - 1) {
            self.own.factors.pop();
            return Err(malformed(error));
        }
        Ok(Constraint { problem: self.id, factor: self.own.factors.len() - 1 })
    }

    fn checked(&self) -> PyResult<Arc<problem::Problem>> {
        self.own.check().map_err(malformed)?;
        Ok(Arc::new(self.own.clone()))
    }

    /// Keeps to what is known.
    fn known(&mut self, given: &[Bound<'_, PyAny>], holds: bool) -> PyResult<()> {
        let literal = |given: &Bound<'_, PyAny>| match given.extract::<String>() {
            Ok(text) => self.own.literal(&text).map_err(malformed),
            Err(_) => self.literal(given),
        };
        let literals = given.iter().map(literal).collect::<PyResult<Vec<_>>>()?;
        literals.into_iter().for_each(|literal| self.own.require(if holds { literal } else { !literal }));
        Ok(())
    }

    fn logic(&mut self, kind: Kind, given: &[Bound<'_, PyAny>]) -> PyResult<Constraint> {
        let literals = self.literals(given)?;
        self.add(kind, literals, Vec::new())
    }
}

#[pymethods]
impl Problem {
    #[new]
    fn new() -> Self {
        Self { id: NEXT.fetch_add(1, Ordering::Relaxed), own: problem::Problem::new() }
    }

    /// Replaces the problem by one in UAI, log-UAI, AD3's .fg, or JSON, told by the file's name and the text.
    fn _load(&mut self, text: &str, name: &str) -> PyResult<()> {
        let format = Format::guess(name, text);
        let format = format.ok_or_else(|| {
            usage(format!("{name}: cannot tell the format; expected uai, loguai, fg or json"))
        })?;
        let own =
            problem::read(text, format).map_err(|error| ProblemError::new_err(format!("{name}: {error}")))?;
        *self = Self { own, ..Self::new() };
        Ok(())
    }

    /// A variable that is true or false; its score counts when it is true.
    #[pyo3(signature = (name=None, score=0.0))]
    fn binary(&mut self, name: Option<String>, score: f64) -> Literal {
        let name = name.unwrap_or_else(|| format!("b{}", self.own.variables.len()));
        Literal { problem: self.id, own: self.own.binary(name.as_str(), score), name }
    }

    /// Many binary variables, one for each score.
    #[pyo3(signature = (scores, prefix="b"))]
    fn binaries(&mut self, scores: &Bound<'_, PyAny>, prefix: &str) -> PyResult<Vec<Literal>> {
        let (scores, _) = numbers(scores)?;
        Ok(scores
            .into_iter()
            .enumerate()
            .map(|(i, score)| self.binary(Some(format!("{prefix}{i}")), score))
            .collect())
    }

    /// A variable that is in exactly one of several states, given by their names or their number.
    #[pyo3(signature = (name, states=None, scores=None))]
    fn variable(
        &mut self,
        name: String,
        states: Option<&Bound<'_, PyAny>>,
        scores: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Variable> {
        let scores = scores.map(numbers).transpose()?.map(|(scores, _)| scores);
        let (states, size) = match states {
            None => (Vec::new(), scores.as_ref().map_or(0, Vec::len)),
            Some(states) => match states.extract::<usize>() {
                Ok(size) => (Vec::new(), size),
                Err(_) => {
                    let names = states
                        .try_iter()?
                        .map(|name| name?.str()?.extract())
                        .collect::<PyResult<Vec<String>>>()?;
                    let size = names.len();
                    (names, size)
                }
            },
        };
        let scores = scores.unwrap_or_else(|| vec![0.0; size]);
        if scores.len() != size || size == 0 {
            return Err(usage(format!("variable {name}: {size} states, but {} scores", scores.len())));
        }
        self.own.variables.push(problem::Variable {
            name: name.clone(),
            states: states.clone(),
            scores,
            binary: false,
        });
        let number = self.own.variables.len() as u32 - 1;
        Ok(Variable { problem: self.id, number, name, states, size })
    }

    /// The variable of this name, as it was made: a literal if it is binary.
    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        let number = self.own.variables.iter().position(|variable| variable.name == name);
        let number = number.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        let known = &self.own.variables[number];
        let (name, variable) = (known.name.clone(), number as u32);
        if known.binary {
            let own = problem::Literal { variable, state: 1, negated: false };
            return Ok(Py::new(py, Literal { problem: self.id, own, name })?.into_any());
        }
        let (states, size) = (known.states.clone(), known.scores.len());
        Ok(Py::new(py, Variable { problem: self.id, number: variable, name, states, size })?.into_any())
    }

    /// Exactly one of the literals holds.
    #[pyo3(signature = (*literals))]
    fn exactly_one(&mut self, literals: Vec<Bound<'_, PyAny>>) -> PyResult<Constraint> {
        self.logic(Kind::ExactlyOne, &literals)
    }

    /// At most one of the literals holds.
    #[pyo3(signature = (*literals))]
    fn at_most_one(&mut self, literals: Vec<Bound<'_, PyAny>>) -> PyResult<Constraint> {
        self.logic(Kind::AtMostOne, &literals)
    }

    /// At least one of the literals holds.
    #[pyo3(signature = (*literals))]
    fn at_least_one(&mut self, literals: Vec<Bound<'_, PyAny>>) -> PyResult<Constraint> {
        self.logic(Kind::AtLeastOne, &literals)
    }

    /// If the first literal holds, so does the second.
    fn implies(&mut self, first: Bound<'_, PyAny>, second: Bound<'_, PyAny>) -> PyResult<Constraint> {
        self.logic(Kind::Implies, &[first, second])
    }

    /// The output holds exactly when some literal does.
    #[pyo3(signature = (*literals, output))]
    fn or_output<'py>(
        &mut self,
        mut literals: Vec<Bound<'py, PyAny>>,
        output: Bound<'py, PyAny>,
    ) -> PyResult<Constraint> {
        literals.push(output);
        self.logic(Kind::OrWithOutput, &literals)
    }

    /// The output holds exactly when all literals do.
    #[pyo3(signature = (*literals, output))]
    fn and_output<'py>(
        &mut self,
        mut literals: Vec<Bound<'py, PyAny>>,
        output: Bound<'py, PyAny>,
    ) -> PyResult<Constraint> {
        literals.push(output);
        self.logic(Kind::AndWithOutput, &literals)
    }

    /// At most one literal holds, and the output exactly when one does.
    #[pyo3(signature = (*literals, output))]
    fn xor_output<'py>(
        &mut self,
        mut literals: Vec<Bound<'py, PyAny>>,
        output: Bound<'py, PyAny>,
    ) -> PyResult<Constraint> {
        literals.push(output);
        self.logic(Kind::XorWithOutput, &literals)
    }

    /// A score that counts when both literals hold.
    fn pair(
        &mut self,
        first: Bound<'_, PyAny>,
        second: Bound<'_, PyAny>,
        score: f64,
    ) -> PyResult<Constraint> {
        self.logic(Kind::Pair { score }, &[first, second])
    }

    /// A score that counts when all literals hold.
    #[pyo3(signature = (*literals, score))]
    fn pattern(&mut self, literals: Vec<Bound<'_, PyAny>>, score: f64) -> PyResult<Constraint> {
        self.logic(Kind::Pattern { score }, &literals)
    }

    /// At most so many of the literals hold.
    #[pyo3(signature = (*literals, limit))]
    fn budget(&mut self, literals: Vec<Bound<'_, PyAny>>, limit: usize) -> PyResult<Constraint> {
        self.logic(Kind::Budget { limit }, &literals)
    }

    /// The costs of the literals that hold sum to at most a limit.
    fn knapsack(
        &mut self,
        literals: Bound<'_, PyAny>,
        costs: &Bound<'_, PyAny>,
        limit: f64,
    ) -> PyResult<Constraint> {
        let costs = numbers(costs)?.0;
        self.logic(Kind::Knapsack { costs, limit }, &[literals])
    }

    /// The coefficients of the literals that hold sum to at most (`<=`), at least (`>=`) or exactly (`==`) a limit.
    fn linear(&mut self, terms: &Bound<'_, PyDict>, relation: &str, limit: f64) -> PyResult<Constraint> {
        let relation: Relation = relation.parse().map_err(malformed)?;
        let term = |(literal, coefficient): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok((self.literal(&literal)?, coefficient.extract::<f64>()?))
        };
        let terms = terms.iter().map(term).collect::<PyResult<Vec<_>>>()?;
        let factor = self.own.factors.len();
        self.own.linear(&terms, relation, limit).map_err(malformed)?;
        Ok(Constraint { problem: self.id, factor })
    }

    /// A score for each joint state of variables.
    fn table(&mut self, variables: Vec<Bound<'_, PyAny>>, scores: &Bound<'_, PyAny>) -> PyResult<Constraint> {
        let scope = self.scope(&variables)?;
        let scores = numbers(scores)?.0;
        self.add(Kind::Table { scores }, Vec::new(), scope)
    }

    /// A chain of variables: `pairs` is one table for all neighbours, or one for each two; `triples` likewise.
    #[pyo3(signature = (variables, pairs, triples=None))]
    fn sequence(
        &mut self,
        variables: Vec<Bound<'_, PyAny>>,
        pairs: &Bound<'_, PyAny>,
        triples: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Constraint> {
        let scope = self.scope(&variables)?;
        let triples = triples.map(numbers).transpose()?.map(|(triples, _)| triples);
        self.add(Kind::Sequence { pairs: numbers(pairs)?.0, triples }, Vec::new(), scope)
    }

    /// A tree or forest of variables with a table for each edge; edges are pairs of places among the variables.
    fn tree_labelling(
        &mut self,
        variables: Vec<Bound<'_, PyAny>>,
        edges: Vec<(usize, usize)>,
        tables: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<Constraint> {
        let scope = self.scope(&variables)?;
        let mut all = Vec::new();
        for table in &tables {
            all.extend(numbers(table)?.0);
        }
        self.add(Kind::TreeLabelling { edges, tables: all }, Vec::new(), scope)
    }

    /// The arcs that hold form a tree that spans all nodes, with node 0 as its root: `{(head, modifier): literal}`.
    #[pyo3(signature = (arcs, *, single_root=false, nodes=None))]
    fn tree(
        &mut self,
        arcs: &Bound<'_, PyDict>,
        single_root: bool,
        nodes: Option<usize>,
    ) -> PyResult<Constraint> {
        let (mut ends, mut literals) = (Vec::new(), Vec::new());
        for (arc, literal) in arcs {
            ends.push(arc.extract::<(usize, usize)>()?);
            literals.push(self.literal(&literal)?);
        }
        let last = ends.iter().map(|&(head, modifier)| head.max(modifier)).max().unwrap_or(0);
        let kind = Kind::Arborescence { nodes: nodes.unwrap_or(last + 1), arcs: ends, single_root };
        self.add(kind, literals, Vec::new())
    }

    /// A literal holds only together with its parent (a place among the literals, or `None`), within a limit on the total length.
    #[pyo3(signature = (literals, parents, lengths=None, limit=None))]
    fn tree_budget(
        &mut self,
        literals: Bound<'_, PyAny>,
        parents: Vec<Option<usize>>,
        lengths: Option<Vec<usize>>,
        limit: Option<usize>,
    ) -> PyResult<Constraint> {
        let budget = match (lengths, limit) {
            (Some(lengths), Some(limit)) => Some((lengths, limit)),
            (None, None) => None,
            _ => return Err(usage("lengths and limit come together")),
        };
        self.logic(Kind::TreeBudget { parents, budget }, &[literals])
    }

    /// Scores, zero or more, for pairs of literals that hold together: `(first, second, score)` by places among the literals.
    fn cut(&mut self, literals: Bound<'_, PyAny>, pairs: Vec<(usize, usize, f64)>) -> PyResult<Constraint> {
        self.logic(Kind::Cut { pairs }, &[literals])
    }

    /// Lets a constraint be broken at a price; literals alone are a clause, of which one at least should hold.
    #[pyo3(signature = (*what, penalty))]
    fn soft(&mut self, what: Vec<Bound<'_, PyAny>>, penalty: f64) -> PyResult<Literal> {
        let constraint = match &what[..] {
            [one] => one
                .cast::<Constraint>()
                .ok()
                .map(|constraint| (constraint.get().problem, constraint.get().factor)),
            _ => None,
        };
        let factor = match constraint {
            Some((problem, factor)) if problem == self.id => factor,
            Some(_) => return Err(usage("the constraint is of another problem")),
            None => self.logic(Kind::AtLeastOne, &what)?.factor,
        };
        let own = self.own.soften(factor, penalty).map_err(malformed)?;
        Ok(Literal { problem: self.id, own, name: self.own.variables[own.variable as usize].name.clone() })
    }

    /// A number added to the value of every assignment.
    #[getter]
    fn constant(&self) -> f64 {
        self.own.constant
    }

    #[setter]
    fn set_constant(&mut self, constant: f64) {
        self.own.constant = constant;
    }

    /// Only assignments count in which all of these hold: literals, or text such as `x=a` and `!b`.
    #[pyo3(signature = (*literals))]
    fn fix(&mut self, literals: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
        self.known(&literals, true)
    }

    /// Only assignments count in which none of these holds.
    #[pyo3(signature = (*literals))]
    fn forbid(&mut self, literals: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
        self.known(&literals, false)
    }

    /// Finds the best assignment, a bound on every assignment, and what the two prove.
    #[pyo3(signature = (method="exact", *, time_limit=None, max_iterations=None, gap=1e-6, trace=false, threads=None))]
    #[allow(clippy::too_many_arguments)]
    fn solve(
        &self,
        py: Python<'_>,
        method: &str,
        time_limit: Option<f64>,
        max_iterations: Option<usize>,
        gap: f64,
        trace: bool,
        threads: Option<usize>,
    ) -> PyResult<Solution> {
        let way = Way::new(method, time_limit, max_iterations, gap, trace, threads)?;
        let problem = self.checked()?;
        let own = Arc::new(way.solve(py, &problem)?);
        Ok(Solution { problem, id: self.id, own, method: way.method, gap })
    }

    /// Several assignments, the best first, any two of which differ in `different_by` variables at least; each is certified as the best of those that are left.
    #[pyo3(signature = (count, *, different_by=1, method="exact", time_limit=None, max_iterations=None, gap=1e-6, threads=None))]
    #[allow(clippy::too_many_arguments)]
    fn n_best(
        &self,
        py: Python<'_>,
        count: usize,
        different_by: usize,
        method: &str,
        time_limit: Option<f64>,
        max_iterations: Option<usize>,
        gap: f64,
        threads: Option<usize>,
    ) -> PyResult<Vec<Solution>> {
        let way = Way::new(method, time_limit, max_iterations, gap, false, threads)?;
        let found = way.n_best(py, &self.checked()?, count, different_by)?.into_iter();
        let solution =
            |(problem, own)| Solution { problem, id: self.id, own: Arc::new(own), method: way.method, gap };
        Ok(found.map(solution).collect())
    }

    /// What each variable's state is worth, or which constraints contradict each other, as JSON.
    #[pyo3(signature = (method, time_limit, max_iterations, gap, threads))]
    fn _explain(
        &self,
        py: Python<'_>,
        method: &str,
        time_limit: Option<f64>,
        max_iterations: Option<usize>,
        gap: f64,
        threads: Option<usize>,
    ) -> PyResult<String> {
        Way::new(method, time_limit, max_iterations, gap, false, threads)?.explain(py, &self.checked()?)
    }

    fn __len__(&self) -> usize {
        self.own.variables.len()
    }

    fn __repr__(&self) -> String {
        format!("<Problem of {} variables and {} factors>", self.own.variables.len(), self.own.factors.len())
    }
}
