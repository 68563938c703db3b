//! From a relaxed solution to a summary: the paper's rounding, and a search from there.

use crate::graph::Relaxed;
use crate::knapsack::{Knapsack, LinearScores};
use crate::problem::{Compression, Problem, Scores};
use crate::tree::BudgetTable;

/// Looks for good summaries of one problem; buffers are kept from one call to the next.
pub struct Rounding<'p> {
    problem: &'p Problem,
    pub(crate) scores: &'p Scores,
    unit_scores: Vec<f64>,
    lead_scores: Vec<f64>,
    /// For each sentence, the concepts with an occurrence there, and that occurrence.
    occurrences: Vec<Vec<(u32, u32)>>,
    knapsack: Knapsack,
    table: BudgetTable,
    gains: Vec<f64>,
    buffer: Vec<bool>,
    /// The best summary so far: which units are chosen.
    pub best: Vec<bool>,
    /// Its value.
    pub value: f64,
}

/// A summary under change: what is chosen, and how often each concept is covered.
struct Draft {
    chosen: Vec<bool>,
    sentences: Vec<usize>,
    covered: Vec<u32>,
    words: usize,
    value: f64,
}

impl<'p> Rounding<'p> {
    /// Begins with the empty summary.
    pub fn new(problem: &'p Problem, scores: &'p Scores) -> Self {
        let (unit_scores, lead_scores) = scores.linear(problem);
        let mut occurrences = vec![Vec::new(); problem.sentences()];
        for concept in 0..problem.concepts() {
            for occurrence in problem.occurrences_of(concept) {
                let sentence = problem.sentence_of(problem.units_of_occurrence(occurrence)[0]);
                occurrences[sentence].push((concept as u32, occurrence as u32));
            }
        }
        Rounding {
            problem,
            scores,
            unit_scores,
            lead_scores,
            occurrences,
            knapsack: Knapsack::default(),
            table: BudgetTable::default(),
            gains: Vec::new(),
            buffer: Vec::new(),
            best: vec![false; problem.units.len()],
            value: 0.0,
        }
    }

    /// Rounds as in §3.4: takes the sentences with the highest relaxed values and finds, among their compressions that fit the
    /// budget together, the one closest to the relaxed solution; then looks for better ones nearby.
    pub fn round(&mut self, relaxed: &Relaxed, search: bool) {
        let problem = self.problem;
        let mut order: Vec<usize> =
            (0..problem.sentences()).filter(|&s| relaxed.sentences[s] > 1e-6).collect();
        order.sort_by(|&a, &b| relaxed.sentences[b].total_cmp(&relaxed.sentences[a]).then(a.cmp(&b)));
        order.truncate(problem.most_sentences);
        // ‖z − z*‖² = Σ words · z (1 − 2 z*) + constant, for z of zeros and ones.
        let nearness: Vec<f64> = problem
            .units
            .iter()
            .zip(&relaxed.units)
            .map(|(unit, z)| f64::from(unit.length.max(1)) * (2.0 * z - 1.0))
            .collect();
        let scores = LinearScores {
            units: nearness,
            leads: self.lead_scores.iter().map(|score| score.min(0.0)).collect(),
            sentences: vec![0.0; problem.sentences()],
        };
        let mut chosen = vec![false; problem.units.len()];
        self.knapsack.fit(problem, &scores, &order, &mut chosen);
        self.consider(&chosen, search);
    }

    /// Takes a summary into account, and, if wished, what can be reached from it.
    pub fn consider(&mut self, chosen: &[bool], search: bool) {
        let mut draft = self.draft(chosen.to_vec());
        self.keep(&draft);
        if search {
            self.improve(&mut draft);
        }
    }

    fn draft(&self, chosen: Vec<bool>) -> Draft {
        let problem = self.problem;
        let sentences: Vec<usize> =
            (0..problem.sentences()).filter(|&s| problem.units_of(s).any(|unit| chosen[unit])).collect();
        let words = (0..chosen.len()).filter(|&u| chosen[u]).map(|u| problem.units[u].length as usize).sum();
        let mut covered = vec![0; problem.concepts()];
        for &sentence in &sentences {
            for &(concept, occurrence) in &self.occurrences[sentence] {
                covered[concept as usize] += problem.is_covered(occurrence as usize, &chosen) as u32;
            }
        }
        let value = problem.value(self.scores, &chosen);
        Draft { chosen, sentences, covered, words, value }
    }

    fn keep(&mut self, draft: &Draft) {
        if draft.value > self.value {
            self.value = draft.value;
            self.best.copy_from_slice(&draft.chosen);
        }
    }

    /// Takes a sentence out of a draft.
    fn remove(&self, draft: &mut Draft, sentence: usize) {
        let range = self.problem.units_of(sentence);
        for &(concept, occurrence) in &self.occurrences[sentence] {
            let count = &mut draft.covered[concept as usize];
            *count -= self.problem.is_covered(occurrence as usize, &draft.chosen) as u32;
        }
        for unit in range {
            if std::mem::take(&mut draft.chosen[unit]) {
                draft.words -= self.problem.units[unit].length as usize;
            }
        }
        draft.sentences.retain(|&s| s != sentence);
    }

    /// Puts a compression, which stands in the draft's units already, on the draft's books.
    fn add(&self, draft: &mut Draft, sentence: usize) {
        for &(concept, occurrence) in &self.occurrences[sentence] {
            let count = &mut draft.covered[concept as usize];
            *count += self.problem.is_covered(occurrence as usize, &draft.chosen) as u32;
        }
        let range = self.problem.units_of(sentence);
        draft.words +=
            range.filter(|&u| draft.chosen[u]).map(|u| self.problem.units[u].length as usize).sum::<usize>();
        draft.sentences.push(sentence);
    }

    /// The gain of the best compression of a sentence within `budget`, given what the draft covers; the compression is left in
    /// the draft's units. An occurrence over several units counts at the last of them, which makes the tree's dynamic
    /// program a guess; the gain that is returned is the true one.
    fn best_addition(&mut self, draft: &mut Draft, sentence: usize, budget: usize) -> f64 {
        let problem = self.problem;
        let range = problem.units_of(sentence);
        self.gains.clear();
        self.gains.extend_from_slice(&self.unit_scores[range.clone()]);
        let mut last = u32::MAX;
        let mut hope = self.scores.sentences[sentence].max(0.0);
        for &(concept, occurrence) in &self.occurrences[sentence] {
            let score = self.scores.concepts[concept as usize];
            if draft.covered[concept as usize] > 0 || concept == last {
                continue;
            }
            last = concept;
            let units = problem.units_of_occurrence(occurrence as usize);
            let at = units.iter().copied().max().unwrap_or(0) as usize - range.start;
            self.gains[at] += score;
            hope += score.max(0.0);
        }
        if hope <= 0.0 {
            return 0.0;
        }
        let tree = &problem.units[range.clone()];
        let table = &mut self.table;
        table.fill(
            tree,
            &self.gains,
            &self.lead_scores[range.clone()],
            self.scores.sentences[sentence],
            budget,
        );
        table.choose(tree, &self.gains, budget, &mut draft.chosen[range.clone()]);
        self.addition_value(draft, sentence)
    }

    fn addition_value(&self, draft: &Draft, sentence: usize) -> f64 {
        let Compression::Under(top) = self.problem.top_of(sentence, &draft.chosen) else { return 0.0 };
        let mut gain = self.problem.compression_value(self.scores, sentence, top, &draft.chosen);
        let mut last = u32::MAX;
        for &(concept, occurrence) in &self.occurrences[sentence] {
            if concept != last
                && draft.covered[concept as usize] == 0
                && self.problem.is_covered(occurrence as usize, &draft.chosen)
            {
                gain += self.scores.concepts[concept as usize];
                last = concept;
            }
        }
        gain
    }

    /// Adds sentences while they gain, the best for its length first.
    fn fill_up(&mut self, draft: &mut Draft) {
        while draft.sentences.len() < self.problem.most_sentences && draft.words < self.problem.words {
            let left = self.problem.words - draft.words;
            let mut best: Option<(f64, usize, Vec<bool>, f64)> = None;
            for sentence in 0..self.problem.sentences() {
                if draft.sentences.contains(&sentence) {
                    continue;
                }
                let gain = self.best_addition(draft, sentence, left);
                let range = self.problem.units_of(sentence);
                if gain > 1e-9 {
                    let length: usize = range
                        .clone()
                        .filter(|&u| draft.chosen[u])
                        .map(|u| self.problem.units[u].length as usize)
                        .sum();
                    let rate = gain / length.max(1) as f64;
                    if best.as_ref().is_none_or(|b| rate > b.0) {
                        best = Some((rate, sentence, draft.chosen[range.clone()].to_vec(), gain));
                    }
                }
                draft.chosen[range].fill(false);
            }
            let Some((_, sentence, units, gain)) = best else { break };
            draft.chosen[self.problem.units_of(sentence)].copy_from_slice(&units);
            self.add(draft, sentence);
            draft.value += gain;
        }
    }

    /// Climbs: fills the budget, then takes one sentence out at a time (or compresses it anew) and fills again, as long as that
    /// gains.
    fn improve(&mut self, draft: &mut Draft) {
        if draft.value == f64::NEG_INFINITY {
            return;
        }
        self.fill_up(draft);
        draft.value = self.problem.value(self.scores, &draft.chosen);
        self.keep(draft);
        let mut improved = true;
        while improved {
            improved = false;
            for sentence in draft.sentences.clone() {
                if !draft.sentences.contains(&sentence) {
                    continue;
                }
                let mut trial = Draft {
                    chosen: draft.chosen.clone(),
                    sentences: draft.sentences.clone(),
                    covered: draft.covered.clone(),
                    words: draft.words,
                    value: 0.0,
                };
                self.remove(&mut trial, sentence);
                trial.value = self.problem.value(self.scores, &trial.chosen);
                self.swap_in(&mut trial);
                trial.value = self.problem.value(self.scores, &trial.chosen);
                if trial.value > draft.value + 1e-9 {
                    *draft = trial;
                    self.keep(draft);
                    improved = true;
                }
            }
        }
    }

    /// Adds the sentence with the greatest gain, whatever its length, then fills up; or fills up at once, if that is better.
    fn swap_in(&mut self, draft: &mut Draft) {
        let left = self.problem.words - draft.words;
        let mut best: (f64, usize) = (1e-9, usize::MAX);
        self.buffer.clear();
        for sentence in 0..self.problem.sentences() {
            if draft.sentences.contains(&sentence) {
                continue;
            }
            let gain = self.best_addition(draft, sentence, left);
            let range = self.problem.units_of(sentence);
            if gain > best.0 {
                best = (gain, sentence);
                self.buffer.clear();
                self.buffer.extend_from_slice(&draft.chosen[range.clone()]);
            }
            draft.chosen[range].fill(false);
        }
        if best.1 != usize::MAX {
            draft.chosen[self.problem.units_of(best.1)].copy_from_slice(&self.buffer);
            self.add(draft, best.1);
            draft.value += best.0;
        }
        self.fill_up(draft);
    }
}
