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
    /// For each sentence, what its best compression can be worth at most, concepts aside.
    ceilings: Vec<f64>,
    /// For each sentence, the words of its shortest compression.
    shortest: Vec<usize>,
    /// For each sentence, the concepts with an occurrence there, and that occurrence.
    occurrences: Vec<Vec<(u32, u32)>>,
    /// For each sentence, its concepts, and the last unit of their first occurrence.
    counted_at: Vec<Vec<(u32, u32)>>,
    knapsack: Knapsack,
    table: BudgetTable,
    gains: Vec<f64>,
    /// Sentences that a search may use.
    candidates: Vec<usize>,
    tries_left: usize,
    buffer: Vec<bool>,
    /// The best summary so far: which units are chosen.
    pub best: Vec<bool>,
    /// Its value.
    pub value: f64,
}

/// Sentences that one search may try to add: it ends within a blink also on a whole book.
const MOST_TRIES: usize = 100_000;

/// A summary under change: what is chosen, and how often each concept is covered.
#[derive(Clone)]
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
        let mut counted_at: Vec<Vec<(u32, u32)>> = vec![Vec::new(); problem.sentences()];
        for concept in 0..problem.concepts() as u32 {
            for occurrence in problem.occurrences_of(concept as usize) {
                let units = problem.units_of_occurrence(occurrence);
                let sentence = problem.sentence_of(units[0]);
                occurrences[sentence].push((concept, occurrence as u32));
                if counted_at[sentence].last().is_none_or(|&(last, _)| last != concept) {
                    counted_at[sentence].push((concept, units.iter().fold(0, |last, &unit| last.max(unit))));
                }
            }
        }
        let ceilings = (0..problem.sentences())
            .map(|sentence| {
                let below = problem.units_of(sentence).skip(1);
                let gain = |unit: usize| scores.deletions[unit].max(0.0) + scores.followers[unit].max(0.0);
                let deletions: f64 = below.clone().map(gain).sum();
                let may_lead = below.filter(|&unit| problem.units[unit].may_lead);
                let lead = may_lead.fold(0.0, |most: f64, unit| most.max(scores.leads[unit]));
                scores.sentences[sentence] + deletions + lead
            })
            .collect();
        Rounding {
            problem,
            ceilings,
            shortest: (0..problem.sentences()).map(|s| problem.shortest_compression(s)).collect(),
            scores,
            unit_scores,
            lead_scores,
            occurrences,
            counted_at,
            knapsack: Knapsack::default(),
            table: BudgetTable::default(),
            gains: Vec::new(),
            candidates: Vec::new(),
            tries_left: 0,
            buffer: Vec::new(),
            best: vec![false; problem.units.len()],
            value: 0.0,
        }
    }

    /// Rounds as in §3.4: takes the sentences with the highest relaxed values and finds, among their
    /// compressions that fit the budget together, the one closest to the relaxed solution; then, if wished,
    /// looks for better ones nearby.
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
        self.knapsack.fit(problem, &scores, &order, 0, &mut chosen);
        self.consider(&chosen);
        if search {
            self.search(&chosen, &(0..problem.sentences()).collect::<Vec<_>>());
        }
    }

    /// Takes a summary into account, and returns its value.
    pub fn consider(&mut self, chosen: &[bool]) -> f64 {
        let value = self.problem.value(self.scores, chosen);
        if value > self.value {
            self.value = value;
            self.best.copy_from_slice(chosen);
        }
        value
    }

    /// Takes what can be reached from a summary into account, with these sentences.
    pub fn search(&mut self, chosen: &[bool], sentences: &[usize]) {
        let mut draft = self.draft(chosen.to_vec());
        self.candidates.clear();
        self.candidates.extend_from_slice(sentences);
        self.tries_left = MOST_TRIES;
        self.improve(&mut draft);
    }

    fn draft(&self, chosen: Vec<bool>) -> Draft {
        let problem = self.problem;
        let sentences: Vec<usize> = (0..problem.sentences()).filter(|&s| problem.uses(s, &chosen)).collect();
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

    /// Takes a sentence out of a draft.
    fn remove(&self, draft: &mut Draft, sentence: usize) {
        for &(concept, occurrence) in &self.occurrences[sentence] {
            let count = &mut draft.covered[concept as usize];
            *count -= self.problem.is_covered(occurrence as usize, &draft.chosen) as u32;
        }
        draft.value -= self.addition_value(draft, sentence);
        for unit in self.problem.units_of(sentence) {
            if std::mem::take(&mut draft.chosen[unit]) {
                draft.words -= self.problem.units[unit].length as usize;
            }
        }
        draft.sentences.retain(|&s| s != sentence);
    }

    /// Puts a compression, which stands in the draft's units already, on the draft's books.
    fn add(&self, draft: &mut Draft, sentence: usize) {
        draft.value += self.addition_value(draft, sentence);
        for &(concept, occurrence) in &self.occurrences[sentence] {
            let count = &mut draft.covered[concept as usize];
            *count += self.problem.is_covered(occurrence as usize, &draft.chosen) as u32;
        }
        let range = self.problem.units_of(sentence);
        draft.words +=
            range.filter(|&u| draft.chosen[u]).map(|u| self.problem.units[u].length as usize).sum::<usize>();
        draft.sentences.push(sentence);
    }

    /// The gain of the best compression of a sentence within `budget`, given what the draft covers, if it can
    /// be more than `least`; the compression is left in the draft's units. An occurrence over several units
    /// counts at the last of them, which makes the tree's dynamic program a guess; the gain that is returned
    /// is the true one.
    fn best_addition(
        &mut self,
        draft: &mut Draft,
        sentence: usize,
        budget: usize,
        least: f64,
    ) -> Option<f64> {
        let problem = self.problem;
        if self.shortest[sentence] > budget {
            return None;
        }
        let news =
            self.counted_at[sentence].iter().filter(|(concept, _)| draft.covered[*concept as usize] == 0);
        let score = |concept: u32| self.scores.concepts[concept as usize];
        let hope = news.clone().map(|&(concept, _)| score(concept).max(0.0)).sum::<f64>();
        if hope + self.ceilings[sentence] <= least {
            return None;
        }
        let range = problem.units_of(sentence);
        self.gains.clear();
        self.gains.extend_from_slice(&self.unit_scores[range.clone()]);
        for &(concept, unit) in news {
            self.gains[unit as usize - range.start] += score(concept);
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
        let gain = self.addition_value(draft, sentence);
        (gain > least).then_some(gain)
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

    /// Adds sentences while they gain, the one that gains most first.
    fn fill_up(&mut self, draft: &mut Draft) {
        while draft.sentences.len() < self.problem.most_sentences
            && draft.words < self.problem.words
            && self.tries_left > 0
        {
            self.tries_left = self.tries_left.saturating_sub(self.candidates.len());
            let left = self.problem.words - draft.words;
            let (mut most, mut best) = (1e-9, None);
            for index in 0..self.candidates.len() {
                let sentence = self.candidates[index];
                if draft.sentences.contains(&sentence) {
                    continue;
                }
                let range = self.problem.units_of(sentence);
                if let Some(gain) = self.best_addition(draft, sentence, left, most) {
                    (most, best) = (gain, Some(sentence));
                    self.buffer.clear();
                    self.buffer.extend_from_slice(&draft.chosen[range.clone()]);
                }
                draft.chosen[range].fill(false);
            }
            let Some(sentence) = best else { break };
            draft.chosen[self.problem.units_of(sentence)].copy_from_slice(&self.buffer);
            self.add(draft, sentence);
        }
        // The draft's sum of gains is off by rounding errors; what is kept is not.
        if draft.value > self.value {
            self.consider(&draft.chosen);
        }
    }

    /// Climbs: fills the budget, then takes one sentence out at a time (or compresses it anew) and fills
    /// again, as long as that gains.
    fn improve(&mut self, draft: &mut Draft) {
        if draft.value == f64::NEG_INFINITY {
            return;
        }
        self.fill_up(draft);
        let mut improved = true;
        while improved {
            improved = false;
            for sentence in draft.sentences.clone() {
                if self.tries_left == 0 || !draft.sentences.contains(&sentence) {
                    continue;
                }
                let mut trial = draft.clone();
                self.remove(&mut trial, sentence);
                self.fill_up(&mut trial);
                if trial.value > draft.value + 1e-9 {
                    *draft = trial;
                    improved = true;
                }
            }
        }
    }
}
