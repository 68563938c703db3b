use super::{EditError, Layer, Sentence};
use crate::entity::{Entity, LabelError, Scheme};

impl Sentence {
    /// The entities that its labels in a scheme say.
    ///
    /// ```
    /// use consonant_text::{Columns, Entity, Scheme, SentenceReader};
    ///
    /// let text = "New\tB-LOC\nYork\tI-LOC\nwins\tO\n\n";
    /// let mut sentence = SentenceReader::columns(text.as_bytes(), "a", Columns::default()).next().unwrap()?;
    /// assert_eq!(sentence.entities(Scheme::Iob2)?, [Entity { words: 0..2, kind: "LOC" }]);
    /// sentence.set_entities(&[Entity { words: 0..2, kind: "ORG" }], Scheme::Bioes)?;
    /// assert_eq!(sentence.to_string(), "New\tB-ORG\nYork\tE-ORG\nwins\tO\n\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The first label that is not of the scheme or may not stand where it stands.
    pub fn entities(&self, scheme: Scheme) -> Result<Vec<Entity<'_>>, LabelError> {
        let labels: Vec<&str> = (0..self.len()).map(|word| self.entity_label(word)).collect();
        let kind = |word: usize| self.entity_label(word).split_once('-').map_or("", |(_, kind)| kind);
        let entities = scheme.decode(&labels)?;
        Ok(entities
            .into_iter()
            .map(|found| Entity { kind: kind(found.words.start), words: found.words })
            .collect())
    }

    /// Replaces the labels of all words by those of entities, which must not overlap.
    ///
    /// In CoNLL-U a word outside that had no label gets none.
    ///
    /// # Errors
    /// If a type does not fit the format.
    ///
    /// # Panics
    /// If entities overlap, are empty or out of range.
    pub fn set_entities(&mut self, entities: &[Entity<'_>], scheme: Scheme) -> Result<(), EditError> {
        scheme.encode_each(entities, self.len(), |word, label| {
            if label != "O" || self.get(word, Layer::Entity).is_some() {
                self.set(word, Layer::Entity, label)?;
            }
            Ok(())
        })
    }
}
