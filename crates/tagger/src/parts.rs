//! What a tagger predicts: one label for each word, from one or two columns of CoNLL-U.

use consonant_sequence::PartsOfLabel;
use consonant_text::sentence::EditError;
use consonant_text::{Layer, Sentence};

use crate::script;

/// Separates the two halves of a joint label; no tag has it.
pub(crate) const JOINT: char = ' ';

consonant_task::names! {
    /// The column that is predicted.
    #[derive(Default)]
    pub enum Column {
        /// Universal parts of speech.
        #[default]
        Upos = "upos",
        /// The treebank's own tags.
        Xpos = "xpos",
        /// Universal part of speech and the treebank's own tag as one label.
        UposXpos = "upos+xpos",
        /// Part of speech and features as one label.
        UposFeats = "upos+feats",
        /// Morphological features.
        Feats = "feats",
        /// Lemmas, as edits of the forms.
        Lemma = "lemma",
    }
}

impl Column {
    /// The gold label of a word, built in `buffer`; `None` if it has none. No features (`_`) are a label
    /// where a part of speech stands beside them.
    pub fn label<'b>(self, sentence: &Sentence, word: usize, buffer: &'b mut String) -> Option<&'b str> {
        buffer.clear();
        // Files have fields with nothing in them, which stands for nothing, too.
        let field = |layer| sentence.get(word, layer).filter(|value| !value.is_empty()).unwrap_or("_");
        match self {
            Self::Upos => buffer.push_str(field(Layer::Upos)),
            Self::Xpos => buffer.push_str(field(Layer::Xpos)),
            Self::Lemma => {
                let lemma = field(Layer::Lemma);
                // An underscore is a lemma where it is the word.
                let known = lemma != "_" || sentence.form(word) == "_";
                script::edit(sentence.form(word), lemma, buffer);
                return known.then_some(buffer);
            }
            Self::Feats => {
                buffer.push_str(field(Layer::Feats));
                return (buffer != "_" || field(Layer::Upos) != "_").then_some(buffer);
            }
            Self::UposFeats | Self::UposXpos => {
                buffer.push_str(field(Layer::Upos));
                if buffer != "_" {
                    buffer.push(JOINT);
                    let second = if self == Self::UposXpos { Layer::Xpos } else { Layer::Feats };
                    buffer.push_str(field(second));
                }
            }
        }
        (buffer != "_").then_some(buffer)
    }

    /// The parts of a label of a rich tag set: part of speech, features, letters at their places.
    pub fn parts(self) -> PartsOfLabel {
        match self {
            Self::Upos | Self::Xpos | Self::Lemma => parts_of_tag,
            Self::Feats | Self::UposFeats | Self::UposXpos => parts_of_features,
        }
    }

    /// The columns that a model reads which takes these tags as given, after the form.
    pub(crate) fn layers(self) -> &'static [Layer] {
        match self {
            Self::Upos => &[Layer::Upos],
            Self::Xpos => &[Layer::Xpos],
            Self::UposXpos => &[Layer::Upos, Layer::Xpos],
            Self::UposFeats => &[Layer::Upos, Layer::Feats],
            Self::Feats => &[Layer::Feats],
            Self::Lemma => &[Layer::Lemma],
        }
    }

    /// Writes a label into a sentence.
    pub fn write(self, sentence: &mut Sentence, word: usize, label: &str) -> Result<(), EditError> {
        match self {
            Self::Upos => sentence.set(word, Layer::Upos, label),
            Self::Xpos => sentence.set(word, Layer::Xpos, label),
            Self::Feats => sentence.set(word, Layer::Feats, label),
            Self::Lemma => {
                let lemma = script::apply(label, sentence.form(word));
                sentence.set(word, Layer::Lemma, &lemma)
            }
            Self::UposFeats | Self::UposXpos => {
                let (upos, second) = label.split_once(JOINT).unwrap_or((label, "_"));
                sentence.set(word, Layer::Upos, upos)?;
                let layer = if self == Self::UposXpos { Layer::Xpos } else { Layer::Feats };
                sentence.set(word, layer, second)
            }
        }
    }
}

/// `NOUN Case=Gen|Number=Plur`: the part of speech and each feature (or the treebank's own tag).
fn parts_of_features(label: &str, parts: &mut Vec<String>) {
    parts.extend(label.split([JOINT, '|']).map(str::to_owned));
}

/// Compound tags (`N|SIN|NEU`) by field; positional ones (`SSns1`) by the first letter, by each other letter
/// given the first, and by each other letter alone: gender, number and case are written alike in all parts of
/// speech.
fn parts_of_tag(label: &str, parts: &mut Vec<String>) {
    if label.contains('|') {
        parts.extend(label.split('|').map(str::to_owned));
        return;
    }
    let mut letters = label.chars();
    let Some(first) = letters.next() else { return };
    parts.push(first.to_string());
    for (place, letter) in letters.enumerate() {
        parts.push(format!("{first}{place}{letter}"));
        parts.push(format!("-{letter}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_and_written_back() {
        let text = "1\tdogs\tdog\tNOUN\tNNS\tNumber=Plur\t_\t_\t_\t_\n2\t.\t.\tPUNCT\t.\t_\t_\t_\t_\t_\n3\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n";
        let gold = Sentence::from_conllu(text).unwrap();
        let mut buffer = String::new();
        for &column in Column::ALL {
            let mut copy = Sentence::from_conllu(text).unwrap();
            for word in 0..2 {
                let label = column.label(&gold, word, &mut buffer).unwrap().to_owned();
                column.write(&mut copy, word, &label).unwrap();
            }
            assert_eq!(copy.to_string(), text, "{column}");
            assert_eq!(column.label(&gold, 2, &mut buffer), None);
            assert_eq!(column.name().parse(), Ok(column));
        }
        let empty =
            Sentence::from_conllu("1\tx\t\t\t\t\t_\t_\t_\t_\n2\t_\t\tX\tY\t\t_\t_\t_\t_\n\n").unwrap();
        for &column in Column::ALL {
            assert_eq!(column.label(&empty, 0, &mut buffer), None, "{column}");
            let label = column.label(&empty, 1, &mut buffer).unwrap().to_owned();
            column.write(&mut gold.clone(), 1, &label).unwrap();
        }
        let mut parts = Vec::new();
        Column::UposFeats.parts()("NOUN Case=Gen|Number=Plur", &mut parts);
        assert_eq!(parts, ["NOUN", "Case=Gen", "Number=Plur"]);
        parts.clear();
        Column::Xpos.parts()("Sn1", &mut parts);
        assert_eq!(parts, ["S", "S0n", "-n", "S11", "-1"]);
        assert!("pos".parse::<Column>().unwrap_err().0.contains("upos, xpos"));
    }
}
