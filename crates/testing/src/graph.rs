//! Random small graphs, and the truth about them by enumeration.

use consonant_map::oracle::sequence::Sequence;
use consonant_map::{Graph, Literal, Solution, Status, Variable};

use crate::{Random, best_of_all};

/// What a factor demands, kept beside the graph so that the truth does not rest on the code under test.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum Rule {
    Count { literals: Vec<Literal>, least: usize, most: usize },
    Or { inputs: Vec<Literal>, output: Literal },
    And { inputs: Vec<Literal>, output: Literal },
    Pair { a: Literal, b: Literal, score: f64 },
    Cost { literals: Vec<Literal>, costs: Vec<f64>, limit: f64 },
    Table { variables: Vec<usize>, sizes: Vec<usize>, scores: Vec<f64> },
    Chain { variables: Vec<usize>, sizes: Vec<usize>, pairs: Vec<f64> },
}

/// A random graph, and what it means.
#[derive(Debug)]
pub struct Sample {
    /// The graph.
    pub graph: Graph,
    /// Its variables, in order.
    pub variables: Vec<Variable>,
    /// What its factors demand.
    pub rules: Vec<Rule>,
    /// Scores as the slots were made with: tables over two binary variables are folded into the graph's own.
    scores: Vec<f64>,
}

/// What random graphs contain.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// How many variables.
    pub variables: usize,
    /// How many factors.
    pub factors: usize,
    /// Whether factors of logic are among them.
    pub logic: bool,
    /// Whether tables are.
    pub tables: bool,
    /// Whether chains known by an oracle are.
    pub oracles: bool,
    /// The chance that a score is minus infinity.
    pub forbidden: f64,
    /// What scores are multiplied by.
    pub scale: f64,
    /// Whether scores are whole numbers.
    pub whole: bool,
}

impl Default for Recipe {
    fn default() -> Self {
        Recipe {
            variables: 6,
            factors: 6,
            logic: true,
            tables: true,
            oracles: true,
            forbidden: 0.0,
            scale: 1.0,
            whole: false,
        }
    }
}

impl Sample {
    /// The graph of a seed.
    pub fn new(seed: u64, recipe: &Recipe) -> Sample {
        let mut random = Random::new(seed);
        let mut graph = Graph::new();
        let mut variables: Vec<Variable> = Vec::new();
        let whole = |score: f64| if recipe.whole { score.round() } else { score };
        let score = |random: &mut Random| {
            let score = whole(random.uniform() * recipe.scale);
            if random.chance(recipe.forbidden) { f64::NEG_INFINITY } else { score }
        };
        for _ in 0..recipe.variables {
            if random.chance(0.5) {
                variables.push(graph.binary(score(&mut random)).unwrap().into());
            } else {
                let states = 1 + random.below(3);
                let scores: Vec<f64> = (0..states).map(|_| score(&mut random)).collect();
                variables.push(graph.choice(&scores).unwrap().into());
            }
        }
        let scores = graph.scores().to_vec();
        let mut rules = Vec::new();
        for _ in 0..recipe.factors {
            let mut kinds = Vec::new();
            if recipe.logic {
                kinds.extend(0..8);
            }
            if recipe.tables {
                kinds.extend([8, 9]);
            }
            if recipe.oracles {
                kinds.extend([10, 10]);
            }
            let kind = kinds[random.below(kinds.len())];
            let mut chosen: Vec<Variable> = Vec::new();
            let wanted = 2 + random.below(3);
            while chosen.len() < wanted.min(recipe.variables) {
                let variable = variables[random.below(variables.len())];
                if !chosen.contains(&variable) {
                    chosen.push(variable);
                }
            }
            let literals: Vec<Literal> = chosen
                .iter()
                .map(|v| {
                    let literal = v.is(random.below(v.states()));
                    if random.chance(0.3) { !literal } else { literal }
                })
                .collect();
            let n = literals.len();
            let indices: Vec<usize> = chosen.iter().map(Variable::variable).collect();
            let sizes: Vec<usize> = chosen.iter().map(Variable::states).collect();
            rules.push(match kind {
                0 => {
                    graph.exactly_one(&literals).unwrap();
                    Rule::Count { literals, least: 1, most: 1 }
                }
                1 => {
                    graph.at_most_one(&literals).unwrap();
                    Rule::Count { literals, least: 0, most: 1 }
                }
                2 => {
                    graph.at_least_one(&literals).unwrap();
                    Rule::Count { literals, least: 1, most: n }
                }
                3 => {
                    let limit = random.below(n + 1);
                    graph.budget(&literals, limit).unwrap();
                    Rule::Count { literals, least: 0, most: limit }
                }
                4 => {
                    let (&output, inputs) = literals.split_last().unwrap();
                    graph.or_with_output(inputs, output).unwrap();
                    Rule::Or { inputs: inputs.to_vec(), output }
                }
                5 => {
                    let (&output, inputs) = literals.split_last().unwrap();
                    graph.and_with_output(inputs, output).unwrap();
                    Rule::And { inputs: inputs.to_vec(), output }
                }
                6 => {
                    let score = whole(random.uniform() * 2.0 * recipe.scale);
                    graph.pair(literals[0], literals[1], score).unwrap();
                    Rule::Pair { a: literals[0], b: literals[1], score }
                }
                7 => {
                    let costs: Vec<f64> = (0..n).map(|_| random.below(4) as f64).collect();
                    let limit = random.below(6) as f64;
                    graph.knapsack(&literals, &costs, limit).unwrap();
                    Rule::Cost { literals, costs, limit }
                }
                8 | 9 => {
                    let size = sizes.iter().product();
                    let scores: Vec<f64> = (0..size).map(|_| score(&mut random)).collect();
                    graph.table(&chosen, &scores).unwrap();
                    Rule::Table { variables: indices, sizes, scores }
                }
                _ => {
                    let size = sizes.windows(2).map(|w| w[0] * w[1]).sum();
                    let pairs: Vec<f64> = (0..size).map(|_| score(&mut random)).collect();
                    graph
                        .oracle_over(Sequence::first_order(&sizes, pairs.clone()).unwrap(), &chosen)
                        .unwrap();
                    Rule::Chain { variables: indices, sizes, pairs }
                }
            });
        }
        Sample { graph, variables, rules, scores }
    }

    fn holds(&self, literal: Literal, states: &[u32]) -> bool {
        let on = self.variables.iter().any(|v| {
            let state = states[v.variable()] as usize;
            match v {
                Variable::Binary(b) => Literal::from(*b).slot() == literal.slot() && state == 1,
                Variable::Choice(c) => c.is(state).slot() == literal.slot(),
            }
        });
        on != literal.is_negated()
    }

    /// The value of an assignment, from the rules and not from the graph's factors.
    pub fn value(&self, states: &[u32]) -> f64 {
        let mut value = 0.0;
        for v in &self.variables {
            let state = states[v.variable()] as usize;
            match v {
                Variable::Binary(b) if state == 1 => value += self.scores[Literal::from(*b).slot()],
                Variable::Binary(_) => {}
                Variable::Choice(c) => value += self.scores[c.is(state).slot()],
            }
        }
        for rule in &self.rules {
            let count = |literals: &[Literal]| literals.iter().filter(|&&l| self.holds(l, states)).count();
            let check = |allowed: bool| if allowed { 0.0 } else { f64::NEG_INFINITY };
            value += match rule {
                Rule::Count { literals, least, most } => check((*least..=*most).contains(&count(literals))),
                Rule::Or { inputs, output } => check((count(inputs) > 0) == self.holds(*output, states)),
                Rule::And { inputs, output } => {
                    check((count(inputs) == inputs.len()) == self.holds(*output, states))
                }
                Rule::Pair { a, b, score } => {
                    if self.holds(*a, states) && self.holds(*b, states) {
                        *score
                    } else {
                        0.0
                    }
                }
                Rule::Cost { literals, costs, limit } => {
                    let held = literals.iter().zip(costs).filter(|(l, _)| self.holds(**l, states));
                    check(held.map(|(_, c)| c).sum::<f64>() <= *limit)
                }
                Rule::Table { variables, sizes, scores } => {
                    scores[variables
                        .iter()
                        .zip(sizes)
                        .fold(0, |index, (&v, &size)| index * size + states[v] as usize)]
                }
                Rule::Chain { variables, sizes, pairs } => {
                    let (mut start, mut sum) = (0, 0.0);
                    for i in 1..variables.len() {
                        let (left, right) =
                            (states[variables[i - 1]] as usize, states[variables[i]] as usize);
                        sum += pairs[start + left * sizes[i] + right];
                        start += sizes[i - 1] * sizes[i];
                    }
                    sum
                }
            };
        }
        value
    }

    /// The best value over all assignments.
    pub fn optimum(&self) -> f64 {
        let sizes: Vec<usize> = self.variables.iter().map(Variable::states).collect();
        best_of_all(&sizes, |states| self.value(states))
    }

    /// What a certificate must keep: bound ≥ optimum ≥ value, a status that is true, a value that the
    /// assignment has.
    pub fn check(&self, solution: &Solution, context: &str) {
        let optimum = self.optimum();
        let tolerance = 1e-6 * (1.0 + optimum.abs().min(1e6));
        let certificate = &solution.certificate;
        let context = format!("{context}: {certificate:?}, optimum {optimum}");
        assert!(certificate.bound() >= optimum - tolerance, "{context}");
        assert_eq!(certificate.value().is_some(), solution.assignment().is_some(), "{context}");
        if let Some((value, states)) = certificate.value().zip(solution.assignment()) {
            assert!(value <= optimum + tolerance, "{context}");
            assert!((self.value(states) - value).abs() <= tolerance, "{context}");
        }
        match certificate.status() {
            Status::Optimal => {
                let value = certificate.value().unwrap();
                assert!((value - optimum).abs() <= 2.0 * tolerance, "{context}");
            }
            Status::Infeasible => assert_eq!(optimum, f64::NEG_INFINITY, "{context}"),
            Status::Feasible | Status::Stopped => {}
        }
    }
}
