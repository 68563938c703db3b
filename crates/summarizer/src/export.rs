//! A summarization problem as data, with its summary, for proofs and other people's solvers: the graph of
//! [`ProblemGraph`](crate::graph::ProblemGraph), with the trees of sentences said in logic.

use consonant_map::problem::{self, Kind, Literal};
use consonant_map::proof::Answered;
use rustc_hash::FxHashMap;

use crate::problem::{Compression, Problem, Scores};

impl Problem {
    /// The problem under scores as data, and a choice of units as its answer.
    pub fn answered(&self, scores: &Scores, chosen: &[bool]) -> Answered {
        let problem = self;
        let mut export = Export { problem: problem::Problem::new(), answer: Vec::new() };
        let (unit_scores, lead_scores) = scores.linear(problem);
        let (mut sentences, mut units) = (Vec::new(), Vec::with_capacity(problem.units.len()));
        for sentence in 0..problem.sentences() {
            let range = problem.units_of(sentence);
            let score = scores.sentences[sentence];
            let is_used = problem.uses(sentence, chosen);
            if range.len() == 1 {
                let only =
                    export.binary(format!("unit{}", range.start), score + unit_scores[range.start], is_used);
                sentences.push(only);
                units.push(only);
                continue;
            }
            let used = export.binary(format!("sentence{sentence}"), score, is_used);
            sentences.push(used);
            units.extend(
                range
                    .clone()
                    .map(|unit| export.binary(format!("unit{unit}"), unit_scores[unit], chosen[unit])),
            );
            let own = &units[range.start..];
            let top = problem.top_of(sentence, chosen);
            let mut tops = vec![own[0]];
            for (local, unit) in problem.units[range.clone()].iter().enumerate().skip(1) {
                let parent = own[unit.parent as usize];
                let mut reasons = vec![!own[local], parent];
                if unit.may_lead {
                    let is_top = top == Compression::Under(local);
                    let number = range.start + local;
                    let lead = export.binary(format!("lead{number}"), lead_scores[number], is_top);
                    export.problem.constrain(Kind::Implies, vec![lead, own[local]]);
                    export.problem.constrain(Kind::AtMostOne, vec![lead, parent]);
                    reasons.push(lead);
                    tops.push(lead);
                }
                export.problem.constrain(Kind::AtLeastOne, reasons);
                if !unit.deletable {
                    export.problem.constrain(Kind::Implies, vec![parent, own[local]]);
                }
            }
            // One of them is at the top wherever anything is chosen.
            tops.push(used);
            export.problem.constrain(Kind::XorWithOutput, tops);
        }
        export.add_concepts(problem, scores, &units);
        let costs: Vec<f64> = problem.units.iter().map(|unit| f64::from(unit.length)).collect();
        export.problem.constrain(Kind::Knapsack { costs, limit: problem.words as f64 }, units);
        if problem.most_sentences < problem.sentences() {
            export.problem.constrain(Kind::Budget { limit: problem.most_sentences }, sentences);
        }
        Answered { problem: export.problem, answer: Some(export.answer) }
    }
}

struct Export {
    problem: problem::Problem,
    answer: Vec<u32>,
}

impl Export {
    fn binary(&mut self, name: String, score: f64, is_true: bool) -> Literal {
        self.answer.push(u32::from(is_true));
        self.problem.binary(name, score)
    }

    fn is_true(&self, literal: Literal) -> bool {
        literal.holds(self.answer[literal.variable as usize])
    }

    /// What is gained by the concepts that the units cover.
    fn add_concepts(&mut self, problem: &Problem, scores: &Scores, units: &[Literal]) {
        let mut together: FxHashMap<&[u32], Literal> = FxHashMap::default();
        for concept in 0..problem.concepts() {
            let mut occurrences: Vec<Literal> = Vec::new();
            for occurrence in problem.occurrences_of(concept) {
                let needed = problem.units_of_occurrence(occurrence);
                let literal = match needed {
                    [unit] => units[*unit as usize],
                    _ => *together.entry(needed).or_insert_with(|| {
                        let mut all: Vec<Literal> = needed.iter().map(|&unit| units[unit as usize]).collect();
                        let name = format!("occurrence{occurrence}");
                        let both = self.binary(name, 0.0, all.iter().all(|&unit| self.is_true(unit)));
                        all.push(both);
                        self.problem.constrain(Kind::AndWithOutput, all);
                        both
                    }),
                };
                if !occurrences.contains(&literal) {
                    occurrences.push(literal);
                }
            }
            let score = scores.concepts[concept];
            if let [only] = occurrences[..] {
                self.problem.variables[only.variable as usize].scores[1] += score;
                continue;
            }
            let is_covered = occurrences.iter().any(|&occurrence| self.is_true(occurrence));
            let covered = self.binary(format!("concept{concept}"), score, is_covered);
            occurrences.push(covered);
            self.problem.constrain(Kind::OrWithOutput, occurrences);
        }
    }
}
