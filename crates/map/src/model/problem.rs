//! A graph from a problem as data.

use super::{FactorId, Graph, Literal, ModelError, Variable};
use crate::factor::Closed;
use crate::oracle::arborescence::{Arborescence, RootChildren};
use crate::oracle::cut::MinimumCut;
use crate::oracle::sequence::Sequence;
use crate::oracle::tree_budget::BudgetedTree;
use crate::oracle::tree_labelling::TreeLabelling;
use consonant_problem::{Factor, FormatError, Kind, Problem};
use std::any::TypeId;

/// A list of factors that are taken out gives memory back after so many.
const RETURNED: usize = 1 << 16;

impl Graph {
    /// The graph of a problem. Variables have the problem's numbers; a pattern over three or more literals
    /// adds a variable of its own after them.
    ///
    /// ```
    /// use consonant_map::Graph;
    /// use consonant_map::problem::{Format, read};
    ///
    /// let problem = read(r#"{"variables": [{"name": "a", "score": 1.5}]}"#, Format::Json)?;
    /// assert_eq!(Graph::from_problem(&problem)?.value(&[1]), 1.5);
    /// # Ok::<(), consonant_map::problem::FormatError>(())
    /// ```
    pub fn from_problem(problem: &Problem) -> Result<Graph, FormatError> {
        Self::with_factors(problem).map(|(graph, _)| graph)
    }

    /// The graph of a problem, from which it takes scores and factors as it goes, so that large ones are not there
    /// twice. Names stay.
    pub fn take_problem(problem: &mut Problem) -> Result<Graph, FormatError> {
        if problem.check().is_err() {
            // What is wrong is told in the words of the other way.
            return Graph::from_problem(problem);
        }
        let mut graph = Graph::new();
        graph.add_constant(problem.constant).map_err(|e| FormatError::new(format!("constant: {e}")))?;
        for index in 0..problem.variables.len() {
            let scores = std::mem::take(&mut problem.variables[index].scores);
            let added = graph.stated_variable(problem.variables[index].binary, &scores);
            added.map_err(|e| problem.variable_error(index, e))?;
        }
        // Backwards, so that the list can give back what is done.
        problem.factors.reverse();
        for index in 0.. {
            let Some(factor) = problem.factors.pop() else { break };
            if let Err(error) = graph.factor(&factor) {
                problem.factors = vec![factor; index + 1];
                return Err(problem.factor_error(index, error));
            }
            if problem.factors.len().is_multiple_of(RETURNED) {
                problem.factors.shrink_to_fit();
            }
        }
        Ok(graph)
    }

    /// The graph, and what became of each of the problem's factors: none is left of a pattern over one
    /// literal.
    pub(crate) fn with_factors(problem: &Problem) -> Result<(Graph, Vec<Option<FactorId>>), FormatError> {
        let mut graph = Graph::new();
        let constant = graph.add_constant(problem.constant);
        constant.map_err(|e| FormatError::new(format!("constant: {e}")))?;
        for (index, variable) in problem.variables.iter().enumerate() {
            let added = graph.stated_variable(variable.binary, &variable.scores);
            added.map_err(|e| problem.variable_error(index, e))?;
        }
        let mut factors = Vec::with_capacity(problem.factors.len());
        for (index, factor) in problem.factors.iter().enumerate() {
            factors.push(graph.factor(factor).map_err(|e| problem.factor_error(index, e))?);
        }
        // What the checker of proofs would refuse is no problem here either.
        problem.check().map_err(|e| FormatError::new(e.to_string()))?;
        Ok((graph, factors))
    }

    fn stated_variable(&mut self, binary: bool, scores: &[f64]) -> Result<(), ModelError> {
        match (binary, scores) {
            (true, &[off, on]) => self.scored_binary(off, on),
            (_, scores) => self.choice(scores).map(drop),
        }
    }

    /// A binary variable with a score for either state.
    fn scored_binary(&mut self, off: f64, on: f64) -> Result<(), ModelError> {
        if off == 0.0 {
            return self.binary(on).map(drop);
        }
        let binary = self.binary(on)?;
        self.add_score(!binary, off)
    }

    /// The literal of a problem as one of this graph.
    pub(crate) fn literal(&self, literal: consonant_problem::Literal) -> Literal {
        let holds = self.variable(literal.variable as usize).is(literal.state as usize);
        if literal.negated { !holds } else { holds }
    }

    fn factor(&mut self, factor: &Factor) -> Result<Option<FactorId>, ModelError> {
        let over: Vec<Literal> = factor.literals.iter().map(|&l| self.literal(l)).collect();
        let scope: Vec<Variable> = factor.scope.iter().map(|&v| self.variable(v as usize)).collect();
        let output = || over.split_last().ok_or(ModelError::Empty("a factor with output".into()));
        let added = match &factor.kind {
            Kind::ExactlyOne => self.exactly_one(&over),
            Kind::AtMostOne => self.at_most_one(&over),
            Kind::AtLeastOne => self.at_least_one(&over),
            Kind::OrWithOutput => output().and_then(|(output, inputs)| self.or_with_output(inputs, output)),
            Kind::AndWithOutput => output().and_then(|(output, inputs)| self.and_with_output(inputs, output)),
            Kind::XorWithOutput => output().and_then(|(output, inputs)| self.xor_with_output(inputs, output)),
            Kind::Budget { limit } => self.budget(&over, *limit),
            Kind::Knapsack { costs, limit } => self.knapsack(&over, costs, *limit),
            Kind::Implies | Kind::Pair { .. } => match (&over[..], &factor.kind) {
                (&[a, b], Kind::Pair { score }) => self.pair(a, b, *score),
                (&[a, b], _) => self.implies(a, b),
                _ => {
                    Err(ModelError::Length { what: "links of a PAIR".into(), expected: 2, came: over.len() })
                }
            },
            Kind::Pattern { score } => {
                let before = self.factors();
                self.pattern(&over, *score)?;
                let closed = self.group_of.get(&TypeId::of::<Closed>()).filter(|_| self.factors() > before);
                let last = |group: u32| self.groups[group as usize].factors() as u32 - 1;
                return Ok(closed.map(|&group| FactorId { group, index: last(group) }));
            }
            Kind::Table { scores } => self.table(&scope, scores),
            Kind::Sequence { pairs, triples } => {
                let sizes: Vec<usize> = scope.iter().map(Variable::states).collect();
                // One table for all positions, or one for each.
                let uniform = sizes.windows(2).all(|w| w[0] == w[1])
                    && sizes.first().is_some_and(|&states| pairs.len() == states * states);
                let pairs = pairs.clone();
                let chain = match (uniform, triples.clone()) {
                    (true, None) => Sequence::uniform(sizes.len(), sizes[0], pairs),
                    (true, Some(triples)) => {
                        Sequence::uniform_second_order(sizes.len(), sizes[0], pairs, triples)
                    }
                    (false, None) => Sequence::first_order(&sizes, pairs),
                    (false, Some(triples)) => Sequence::second_order(&sizes, pairs, triples),
                };
                self.oracle_over(chain?, &scope)
            }
            Kind::TreeLabelling { edges, tables } => {
                let sizes: Vec<usize> = scope.iter().map(Variable::states).collect();
                self.oracle_over(TreeLabelling::new(&sizes, edges, tables)?, &scope)
            }
            Kind::Arborescence { nodes, arcs, single_root } => {
                let roots = if *single_root { RootChildren::One } else { RootChildren::Any };
                self.oracle(Arborescence::new(*nodes, arcs, roots)?, &over)
            }
            Kind::TreeBudget { parents, budget } => {
                let tree = match budget {
                    None => BudgetedTree::unlimited(parents),
                    Some((lengths, limit)) => {
                        let lengths: Vec<i64> = lengths.iter().map(|&n| n as i64).collect();
                        BudgetedTree::new(parents, &lengths, *limit as i64)
                    }
                };
                self.oracle(tree?, &over)
            }
            Kind::Cut { pairs } => self.oracle(MinimumCut::new(over.len(), pairs)?, &over),
            other => return Err(ModelError::unfit(other.name(), "is not known to the engine")),
        };
        added.map(Some)
    }
}
