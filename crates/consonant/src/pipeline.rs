//! From raw text to annotated sentences: segmenter, then tagger, names and parser.
//!
//! ```
//! use consonant::Pipeline;
//!
//! let pipeline = Pipeline::english()?;
//! let document = pipeline.annotator()?.document("Ann lives in Kiel. She rows.")?;
//! assert_eq!(document.sentences().len(), 2);
//! # Ok::<(), consonant::Error>(())
//! ```

use std::io::Read;
use std::sync::Arc;

use consonant_ner::NerModel;
use consonant_parser::Parser;
use consonant_segmenter::{Rules, Segmenter, Start};
use consonant_tagger::Tagger;
use consonant_text::plain::{Passage, PassageReader};
use consonant_text::{Document, Sentence};
use rayon::prelude::*;

use crate::{Error, Models};

/// What is put on top of sentences and tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layers {
    /// Parts of speech.
    pub tags: bool,
    /// Names.
    pub entities: bool,
    /// Dependency trees; parsers read tags, so these come with them.
    pub tree: bool,
}

/// The models of a pipeline, opened. Weights stay where they lie: opening takes milliseconds.
#[derive(Debug)]
pub struct Pipeline {
    segmenter: Segmenter,
    tagger: Option<Tagger>,
    names: Option<NerModel>,
    parser: Option<Parser>,
}

impl Pipeline {
    /// The embedded English models, all layers.
    pub fn english() -> Result<Self, Error> {
        let models = Models::embedded()?;
        Self::open(&models, Self::layers_of(&models))
    }

    /// Opens what the layers need. Without a model the segmenter works by rules; any other model must be there.
    pub fn open(models: &Models, layers: Layers) -> Result<Self, Error> {
        let segmenter = match models.open(consonant_segmenter::TASK)? {
            Some(model) => Segmenter::open(&model).map_err(Error::task)?,
            None => Segmenter::rules(Rules::english()),
        };
        let open = |wanted: bool, task, layer| wanted.then(|| models.expect(task, layer)).transpose();
        let names = open(layers.entities, consonant_ner::TASK, "the layer `entities`")?;
        let names = names.as_ref().map(NerModel::open).transpose().map_err(Error::task)?;
        let reads_tags = layers.tree || names.as_ref().is_some_and(NerModel::reads_tags);
        let tagger = open(layers.tags || reads_tags, consonant_tagger::TASK, "the layer `tags`")?;
        let parser = open(layers.tree, consonant_parser::TASK, "the layer `tree`")?;
        Ok(Self {
            segmenter,
            tagger: tagger.as_ref().map(Tagger::open).transpose().map_err(Error::task)?,
            names,
            parser: parser.as_ref().map(Parser::open).transpose().map_err(Error::task)?,
        })
    }

    /// The layers that a set of models can give.
    pub fn layers_of(models: &Models) -> Layers {
        let tags = models.has(consonant_tagger::TASK);
        let entities = models.has(consonant_ner::TASK);
        Layers { tags, entities, tree: tags && models.has(consonant_parser::TASK) }
    }

    /// Annotates with buffers that are reused.
    pub fn annotator(&self) -> Result<Annotator<'_>, Error> {
        let tagger = self.tagger.as_ref().map(Tagger::decoder).transpose().map_err(Error::task)?;
        let names = self.names.as_ref().map(NerModel::decoder).transpose().map_err(Error::task)?;
        Ok(Annotator { segmenter: self.segmenter.decoder(), tagger, names, parser: self.parser.as_ref() })
    }
}

/// Passages that are annotated together.
const BATCH: usize = 8;

/// Annotates texts, on rayon's threads; the outcome is the same for any number of them.
pub struct Annotator<'p> {
    segmenter: consonant_segmenter::Decoder<'p>,
    tagger: Option<consonant_tagger::Decoder<'p>>,
    names: Option<consonant_ner::Decoder<'p>>,
    parser: Option<&'p Parser>,
}

impl Annotator<'_> {
    /// Finds the sentences of one text and annotates them.
    pub fn document(&self, text: &str) -> Result<Document, Error> {
        let mut document = self.segmenter.segment(text).map_err(Error::task)?;
        self.annotate(document.sentences_mut())?;
        Ok(document)
    }

    /// Annotates sentences that have their tokens already.
    pub fn annotate(&self, sentences: &mut [Sentence]) -> Result<(), Error> {
        if let Some(tagger) = &self.tagger {
            tagger.tag(sentences, &Default::default()).map_err(Error::task)?;
        }
        if let Some(names) = &self.names {
            names.decode(sentences, &Default::default()).map_err(Error::task)?;
        }
        if let Some(parser) = self.parser {
            parser.parse(sentences, parser.algorithm()).map_err(Error::task)?;
        }
        Ok(())
    }

    /// Annotates a stream of raw text, one document, in memory that does not grow with it. Sentences come in order, a batch at
    /// a time; tokens carry their white space and their place in the text.
    pub fn stream<E: From<Error>>(
        &self,
        stream: impl Read,
        name: &Arc<str>,
        mut each: impl FnMut(&[Sentence]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut reader = PassageReader::new(stream, Arc::clone(name));
        let mut passages = vec![Passage::default(); BATCH];
        loop {
            let mut filled = 0;
            while filled < passages.len() && reader.read(&mut passages[filled]).map_err(Error::from)? {
                filled += 1;
            }
            if filled == 0 {
                return Ok(());
            }
            let pieces: Result<Vec<Vec<Sentence>>, Error> =
                passages[..filled].par_iter().map(|passage| self.segment(passage)).collect();
            let mut sentences: Vec<Sentence> = pieces?.into_iter().flatten().collect();
            self.annotate(&mut sentences)?;
            each(&sentences)?;
        }
    }

    /// The sentences of a passage. For models that look beyond a sentence each passage is a document of its own, however long
    /// the text is.
    fn segment(&self, passage: &Passage) -> Result<Vec<Sentence>, Error> {
        let start = if passage.byte == 0 { Start::Document } else { Start::Paragraph };
        let segments = self.segmenter.passage(&passage.text, start, Some(passage.character));
        let mut sentences = segments.map_err(Error::task)?.sentences;
        sentences.first_mut().into_iter().for_each(Sentence::mark_document);
        Ok(sentences)
    }
}
