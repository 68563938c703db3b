//! A summarization problem in numbers: units of text in trees, concepts that they cover, budgets, and scores.
//!
//! A *unit* is a group of words that stand or fall together. The units of a sentence form a tree; a unit is
//! chosen only together with its parent (Almeida & Martins 2013, Eq. 8), except that a unit which *may lead*
//! can be the top of what is chosen in place of the root, as the clause that somebody is said to have said.
//! An extractive problem has one unit a sentence, so both of the paper's problems (Eq. 3 and 4) are this one.

use std::ops::Range;

/// No unit, where a unit could stand.
pub const NONE: u32 = u32::MAX;

/// Words that stand or fall together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    /// The unit above, counted within the sentence; [`NONE`] for the root, which comes first.
    pub parent: u32,
    /// The place after the last descendant, counted within the sentence: units stand in depth-first order.
    pub end: u32,
    /// Words, as they count against the budget.
    pub length: u32,
    /// Whether the unit may be deleted while its parent stays.
    pub deletable: bool,
    /// Whether the unit may be the top of a compression.
    pub may_lead: bool,
}

/// Units, concepts and budgets of one decoding problem.
#[derive(Debug, Clone, Default)]
pub struct Problem {
    /// Units of all sentences, one sentence after the other.
    pub units: Vec<Unit>,
    /// The first unit of each sentence, and the number of units at the end.
    pub starts: Vec<u32>,
    /// The first occurrence of each concept, and the number of occurrences at the end.
    pub concept_starts: Vec<u32>,
    /// The first unit of each occurrence, and the number of entries at the end.
    pub occurrence_starts: Vec<u32>,
    /// For each occurrence, the units (of all sentences) that must be chosen for it to count.
    pub occurrence_units: Vec<u32>,
    /// Words at most.
    pub words: usize,
    /// Sentences at most.
    pub most_sentences: usize,
}

/// What the chosen units of a sentence form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// No unit is chosen.
    Nothing,
    /// This unit, counted within the sentence, and units below it, each with its parent.
    Under(usize),
    /// No compression: a unit without its parent, or without a child that must stay.
    Broken,
}

/// How much is gained by what.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scores {
    /// For each concept, when it is covered.
    pub concepts: Vec<f64>,
    /// For each unit, when it is deleted while its parent stays.
    pub deletions: Vec<f64>,
    /// For each unit, when it leads a compression without being the root; counts only for units that may.
    pub leads: Vec<f64>,
    /// For each sentence, when anything of it is chosen.
    pub sentences: Vec<f64>,
    /// For each unit, when it is chosen: what the top of a sentence is worth that goes only with the one before
    /// it, as a part of which it stands.
    pub followers: Vec<f64>,
}

impl Problem {
    /// A problem without sentences.
    pub fn new(words: usize, most_sentences: usize) -> Self {
        Problem {
            starts: vec![0],
            concept_starts: vec![0],
            occurrence_starts: vec![0],
            words,
            most_sentences,
            ..Problem::default()
        }
    }

    /// Adds a sentence; its units are in depth-first order, the root first.
    pub fn push_sentence(&mut self, units: &[Unit]) {
        debug_assert!(!units.is_empty() && units[0].parent == NONE && units[0].end as usize == units.len());
        self.units.extend_from_slice(units);
        self.starts.push(self.units.len() as u32);
    }

    /// Adds an occurrence to the concept that is being made.
    pub fn push_occurrence(&mut self, units: impl IntoIterator<Item = u32>) {
        self.occurrence_units.extend(units);
        self.occurrence_starts.push(self.occurrence_units.len() as u32);
    }

    /// Ends the concept that is being made.
    pub fn end_concept(&mut self) {
        self.concept_starts.push(self.occurrence_starts.len() as u32 - 1);
    }

    /// The number of sentences.
    pub fn sentences(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of concepts.
    pub fn concepts(&self) -> usize {
        self.concept_starts.len() - 1
    }

    /// The units of a sentence.
    pub fn units_of(&self, sentence: usize) -> Range<usize> {
        self.starts[sentence] as usize..self.starts[sentence + 1] as usize
    }

    /// Whether any unit of a sentence is chosen.
    pub fn uses(&self, sentence: usize, chosen: &[bool]) -> bool {
        chosen[self.units_of(sentence)].contains(&true)
    }

    /// The occurrences of a concept.
    pub fn occurrences_of(&self, concept: usize) -> Range<usize> {
        self.concept_starts[concept] as usize..self.concept_starts[concept + 1] as usize
    }

    /// The units of an occurrence.
    pub fn units_of_occurrence(&self, occurrence: usize) -> &[u32] {
        let range = self.occurrence_starts[occurrence]..self.occurrence_starts[occurrence + 1];
        &self.occurrence_units[range.start as usize..range.end as usize]
    }

    /// The sentence of a unit.
    pub fn sentence_of(&self, unit: u32) -> usize {
        self.starts.partition_point(|&start| start <= unit) - 1
    }

    /// The length of the whole text.
    pub fn total_length(&self) -> usize {
        self.units.iter().map(|unit| unit.length as usize).sum()
    }

    /// The fewest words that a sentence can be compressed to.
    pub fn shortest_compression(&self, sentence: usize) -> usize {
        let units = &self.units[self.units_of(sentence)];
        let mut lengths: Vec<usize> = units.iter().map(|unit| unit.length as usize).collect();
        for (index, unit) in units.iter().enumerate().skip(1).rev() {
            if !unit.deletable {
                lengths[unit.parent as usize] += lengths[index];
            }
        }
        let leads = (1..units.len()).filter(|&unit| units[unit].may_lead).map(|unit| lengths[unit]);
        leads.fold(lengths[0], usize::min)
    }

    /// The entries of `occurrence_units` of all occurrences of a concept.
    pub fn entries_of(&self, concept: usize) -> Range<usize> {
        let occurrences = self.occurrences_of(concept);
        self.occurrence_starts[occurrences.start] as usize..self.occurrence_starts[occurrences.end] as usize
    }

    /// Whether an occurrence counts, given the chosen units.
    pub fn is_covered(&self, occurrence: usize, chosen: &[bool]) -> bool {
        self.units_of_occurrence(occurrence).iter().all(|&unit| chosen[unit as usize])
    }

    /// What the chosen units of a sentence form.
    pub fn top_of(&self, sentence: usize, chosen: &[bool]) -> Compression {
        let range = self.units_of(sentence);
        let Some(top) = range.clone().position(|unit| chosen[unit]) else { return Compression::Nothing };
        let units = &self.units[range.clone()];
        if top > 0 && !units[top].may_lead {
            return Compression::Broken;
        }
        for (local, unit) in units.iter().enumerate().skip(top + 1) {
            let inside = local < units[top].end as usize;
            let (own, parent) = (chosen[range.start + local], chosen[range.start + unit.parent as usize]);
            if (own && !(inside && parent)) || (inside && parent && !own && !unit.deletable) {
                return Compression::Broken;
            }
        }
        Compression::Under(top)
    }

    /// The value of a choice of units; minus infinity if it breaks a rule or a budget.
    pub fn value(&self, scores: &Scores, chosen: &[bool]) -> f64 {
        let (mut value, mut words, mut sentences) = (0.0, 0usize, 0usize);
        for sentence in 0..self.sentences() {
            match self.top_of(sentence, chosen) {
                Compression::Broken => return f64::NEG_INFINITY,
                Compression::Nothing => {}
                Compression::Under(top) => {
                    sentences += 1;
                    value += self.compression_value(scores, sentence, top, chosen);
                    words += self
                        .units_of(sentence)
                        .filter(|&u| chosen[u])
                        .map(|u| self.units[u].length as usize)
                        .sum::<usize>();
                }
            }
        }
        if words > self.words || sentences > self.most_sentences {
            return f64::NEG_INFINITY;
        }
        for concept in 0..self.concepts() {
            if self.occurrences_of(concept).any(|occurrence| self.is_covered(occurrence, chosen)) {
                value += scores.concepts[concept];
            }
        }
        value
    }

    /// What a sentence's compression is worth, concepts aside.
    pub fn compression_value(&self, scores: &Scores, sentence: usize, top: usize, chosen: &[bool]) -> f64 {
        let start = self.starts[sentence] as usize;
        let mut value = scores.sentences[sentence];
        if top > 0 {
            value += scores.leads[start + top];
        }
        for local in top + 1..self.units[start + top].end as usize {
            let unit = start + local;
            if chosen[unit] {
                value += scores.followers[unit];
            } else if chosen[start + self.units[unit].parent as usize] {
                value += scores.deletions[unit];
            }
        }
        value
    }
}

impl Scores {
    /// Scores of nothing, for a problem.
    pub fn zeros(problem: &Problem) -> Self {
        Scores {
            concepts: vec![0.0; problem.concepts()],
            deletions: vec![0.0; problem.units.len()],
            leads: vec![0.0; problem.units.len()],
            sentences: vec![0.0; problem.sentences()],
            followers: vec![0.0; problem.units.len()],
        }
    }

    /// The scores as a sum over chosen units and leads. In a tree, a unit is deleted under its parent exactly
    /// when (parent chosen) − (unit chosen) + (unit leads) is 1; so a deletion's score goes to the parent,
    /// against the unit, and to its lead, and no pair of units is left.
    pub fn linear(&self, problem: &Problem) -> (Vec<f64>, Vec<f64>) {
        let mut units = self.followers.clone();
        let mut leads = vec![f64::NEG_INFINITY; problem.units.len()];
        for sentence in 0..problem.sentences() {
            let range = problem.units_of(sentence);
            for unit in range.clone().skip(1) {
                let score = self.deletions[unit];
                units[unit] -= score;
                units[range.start + problem.units[unit].parent as usize] += score;
                if problem.units[unit].may_lead {
                    leads[unit] = self.leads[unit] + score;
                }
            }
        }
        (units, leads)
    }
}
