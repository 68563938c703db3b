//! The factor graph of a problem (Almeida & Martins 2013, §2.2 and §3.3).
//!
//! One tree factor for each sentence with more than one unit; an AND-with-output for each occurrence that
//! needs several units; an OR-with-output for each concept with several occurrences; a knapsack over words; a
//! budget over sentences. Variables that would only repeat another one are not made: a concept with one
//! occurrence puts its score where the occurrence is.

use consonant_map::{Binary, Graph, ModelError, Solution};
use rustc_hash::FxHashMap;

use crate::problem::{Problem, Scores};
use crate::tree::CompressionTree;

/// A problem as a factor graph, and where its parts stand there.
pub struct ProblemGraph {
    /// The graph.
    pub graph: Graph,
    sentences: Vec<Binary>,
    units: Vec<Binary>,
    leads: Vec<Option<Binary>>,
    /// For each concept, the variable that says whether it is covered.
    concepts: Vec<Binary>,
}

/// The relaxed solution, part by part.
#[derive(Debug, Clone, Default)]
pub struct Relaxed {
    /// How much of each sentence is in.
    pub sentences: Vec<f64>,
    /// How much of each unit is in.
    pub units: Vec<f64>,
    /// How much each unit leads.
    pub leads: Vec<f64>,
    /// How much of each concept is covered.
    pub concepts: Vec<f64>,
}

impl ProblemGraph {
    /// Builds the graph.
    pub fn new(problem: &Problem, scores: &Scores) -> Result<Self, ModelError> {
        let mut graph = Graph::new();
        let (unit_scores, lead_scores) = scores.linear(problem);
        let mut sentences = Vec::with_capacity(problem.sentences());
        let mut units = Vec::with_capacity(problem.units.len());
        let mut leads = vec![None; problem.units.len()];
        for sentence in 0..problem.sentences() {
            let range = problem.units_of(sentence);
            if range.len() == 1 {
                let only = graph.binary(scores.sentences[sentence] + unit_scores[range.start])?;
                sentences.push(only);
                units.push(only);
                continue;
            }
            let mut links = vec![graph.binary(scores.sentences[sentence])?];
            sentences.push(links[0]);
            links.extend(graph.binaries(&unit_scores[range.clone()])?);
            units.extend_from_slice(&links[1..]);
            let tree = CompressionTree::new(&problem.units[range.clone()]);
            for &unit in tree.leads() {
                let unit = range.start + unit as usize;
                let lead = graph.binary(lead_scores[unit])?;
                leads[unit] = Some(lead);
                links.push(lead);
            }
            graph.oracle(tree, links)?;
        }
        let mut concepts = Vec::with_capacity(problem.concepts());
        let mut together: FxHashMap<Vec<u32>, Binary> = FxHashMap::default();
        for concept in 0..problem.concepts() {
            let score = scores.concepts[concept];
            let mut occurrences: Vec<Binary> = Vec::new();
            for occurrence in problem.occurrences_of(concept) {
                let needed = problem.units_of_occurrence(occurrence);
                let variable = match needed {
                    [unit] => units[*unit as usize],
                    _ => match together.get(needed) {
                        Some(&variable) => variable,
                        None => {
                            let both = graph.binary(0.0)?;
                            graph.and_with_output(needed.iter().map(|&unit| units[unit as usize]), both)?;
                            together.insert(needed.to_vec(), both);
                            both
                        }
                    },
                };
                if !occurrences.contains(&variable) {
                    occurrences.push(variable);
                }
            }
            let covered = match occurrences[..] {
                [only] => {
                    graph.add_score(only, score)?;
                    only
                }
                _ => {
                    let covered = graph.binary(score)?;
                    graph.or_with_output(occurrences, covered)?;
                    covered
                }
            };
            concepts.push(covered);
        }
        let costs: Vec<f64> = problem.units.iter().map(|unit| f64::from(unit.length)).collect();
        graph.knapsack(&units, &costs, problem.words as f64)?;
        if problem.most_sentences < problem.sentences() {
            graph.budget(&sentences, problem.most_sentences)?;
        }
        Ok(ProblemGraph { graph, sentences, units, leads, concepts })
    }

    /// The relaxed value of every part.
    pub fn relaxed(&self, solution: &Solution) -> Relaxed {
        let of = |variables: &[Binary]| variables.iter().map(|&v| solution.marginal(v)).collect();
        Relaxed {
            sentences: of(&self.sentences),
            units: of(&self.units),
            leads: self.leads.iter().map(|lead| lead.map_or(0.0, |lead| solution.marginal(lead))).collect(),
            concepts: of(&self.concepts),
        }
    }

    /// The units that an assignment chooses.
    pub fn chosen(&self, solution: &Solution) -> Vec<bool> {
        self.units.iter().map(|&unit| solution.is_true(unit)).collect()
    }
}
