//! What it says of a word's tag that it stands in a name.
//!
//! Tags and names are found by models that were trained apart, and each sees things that the other misses: *india* is a place for the one and a
//! common noun for the other. Where a layer of names is there, the score of a proper noun rises by one number at each word of a name, and the
//! chain is decoded with these scores, so its labels are the best that go with the names. The number is chosen on dev data with names. A number
//! for each pair of tag and type of name is too many to learn from so few words: it lost on text of another kind what it had gained on dev.

use consonant_learn::model::{Model, ModelWriter};
use consonant_text::Sentence;

use crate::{Tagger, TaggerError};

const SECTION: &str = "names.hint";
/// The tag of names.
const PROPER: &str = "PROPN";
/// What is tried, in margins of the training.
const STEPS: [f32; 5] = [0.25, 0.5, 1.0, 2.0, 3.0];

/// By how much the labels of proper nouns gain at the words of names.
#[derive(Debug, Clone, Default)]
pub(crate) struct NameHint {
    labels: Vec<u32>,
    strength: f32,
}

impl NameHint {
    pub(crate) fn new(tagger: &Tagger, strength: f32) -> Self {
        Self { labels: tagger.labels_of(PROPER), strength }
    }

    pub(crate) fn add(&self, sentence: &Sentence, word: usize, scores: &mut [f32]) {
        if self.strength != 0.0 && sentence.entity_label(word) != "O" {
            self.labels.iter().for_each(|&label| scores[label as usize] += self.strength);
        }
    }

    /// Writes it, if it says anything.
    pub(crate) fn store(&self, writer: &mut ModelWriter) {
        if self.strength != 0.0 {
            writer.array(SECTION, &[self.strength]);
        }
    }

    /// How strong that of a model is, if it has one.
    pub(crate) fn strength(model: &Model) -> Result<f32, TaggerError> {
        if !model.has(SECTION) {
            return Ok(0.0);
        }
        match *model.array::<f32>(SECTION)? {
            [strength] if strength.is_finite() => Ok(strength),
            _ => Err(model.damaged("what names say of tags makes no sense").into()),
        }
    }
}

/// The hint under which most labels of the sentences with names are right, on each half of them no fewer than without, and how many more those are than without; the weakest of equals.
pub(crate) fn learn(
    tagger: &Tagger,
    sentences: &[Sentence],
    margin: f32,
) -> Result<(NameHint, usize), TaggerError> {
    let is_named = |sentence: &&Sentence| (0..sentence.len()).any(|word| sentence.entity_label(word) != "O");
    let named: Vec<Sentence> = sentences.iter().filter(is_named).cloned().collect();
    if named.is_empty() || tagger.labels_of(PROPER).is_empty() {
        return Ok(Default::default());
    }
    let right = |strength: f32| -> Result<[usize; 2], TaggerError> {
        let hinted = tagger.hinted(NameHint::new(tagger, strength));
        let half = |first: usize| {
            let half: Vec<Sentence> = named.iter().skip(first).step_by(2).cloned().collect();
            hinted.count_right(&half).map(|(right, _)| right)
        };
        Ok([half(0)?, half(1)?])
    };
    let without = right(0.0)?;
    let mut best = (without[0] + without[1], 0.0);
    for strength in STEPS.map(|step| step * margin) {
        let found = right(strength)?;
        let loses = found.iter().zip(without).any(|(&found, without)| found < without);
        if !loses && found[0] + found[1] > best.0 {
            best = (found[0] + found[1], strength);
        }
    }
    Ok((NameHint::new(tagger, best.1), best.0 - without[0] - without[1]))
}
