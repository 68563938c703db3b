//! Tags for training data from taggers that have not seen it.

use std::any::Any;

use consonant_task::{Data, Task as _, Usage, Watch};
use consonant_text::Sentence;

use crate::{Error, Tagger};

/// Splits training data into parts and tags each by a tagger that was trained on the others, so that a model
/// that learns from the tags meets tags as wrong as those it will see in prediction.
#[derive(Debug, Clone, Copy)]
pub struct Jackknife<'t> {
    /// A tagger of the column that is wanted.
    pub tagger: &'t Tagger,
    /// Into how many parts the data are split.
    pub parts: usize,
    /// The seed of the taggers' trainings.
    pub seed: u64,
}

impl Jackknife<'_> {
    /// Tags sentences; other items have no tags.
    pub(crate) fn tag(&self, items: &mut dyn Any, watch: &mut Watch<'_>) -> Result<(), Error> {
        let Some(sentences) = items.downcast_mut::<Vec<Sentence>>() else { return Ok(()) };
        let parts = self.parts;
        if sentences.len() < parts {
            let count = sentences.len();
            let problem =
                format!("{count} sentences cannot be split into {parts} parts; give a smaller --jackknife");
            return Err(Usage(problem).into());
        }
        let settings = crate::tagger::TaggerSettings::new().column(self.tagger.column()).seed(self.seed);
        let gold = sentences.clone();
        for part in 0..parts {
            let others = gold.iter().enumerate().filter(|(number, _)| number % parts != part);
            let others: Vec<Sentence> = others.map(|(_, sentence)| sentence.clone()).collect();
            let trained =
                Tagger::train(&Data::new(&others), &settings, &mut Watch::none()).map_err(Error::task)?;
            let tagger = Tagger::open(&trained.open()?).map_err(Error::task)?;
            let mut own: Vec<Sentence> = gold.iter().skip(part).step_by(parts).cloned().collect();
            tagger.decode(&mut own, &Default::default()).map_err(Error::task)?;
            sentences
                .iter_mut()
                .skip(part)
                .step_by(parts)
                .zip(own)
                .for_each(|(place, tagged)| *place = tagged);
            watch.note(format!("tagged part {} of {parts} with a tagger trained on the others", part + 1));
        }
        Ok(())
    }
}
