//! Who fills in the layers that a task reads and does not make.

use std::path::Path;

use consonant_learn::model::Model;
use consonant_segmenter::{Rules, Segmenter};
#[cfg(feature = "summarizer")]
use consonant_summarizer::{Summarizer, looks_english};
use consonant_task::{Annotate, Failure, Task as _};
use consonant_text::{Document, Sentence};

use crate::{Error, Tagger};
#[cfg(feature = "summarizer")]
use crate::{Layers, Models, Pipeline};

/// Parts of speech by a tagger.
#[derive(Debug, Clone)]
pub struct Tagging(pub Tagger);

impl Tagging {
    /// Opens a tagger whose tags another model reads.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Ok(Self(Tagger::open(&Model::open(path)?).map_err(Error::task)?))
    }
}

impl Annotate for Tagging {
    fn document(&self, text: &str) -> Result<Document, Failure> {
        let mut document = Segmenter::rules(Rules::default()).segment(text)?;
        self.annotate(document.sentences_mut())?;
        Ok(document)
    }

    fn annotate(&self, sentences: &mut [Sentence]) -> Result<(), Failure> {
        self.0.decode(sentences, &Default::default())?;
        Ok(())
    }
}

/// Annotates topics as far as there are models and the language is theirs: tags for all sentences, and trees
/// for those that are asked for, which take most of the time.
#[cfg(feature = "summarizer")]
#[derive(Debug)]
pub struct TopicAnnotator {
    models: Option<Models>,
    segmenting: Option<Pipeline>,
    parsing: Option<Pipeline>,
    /// Whether the models are the embedded ones, which know English.
    english_only: bool,
}

#[cfg(feature = "summarizer")]
impl TopicAnnotator {
    /// Opens the models of a folder, or the embedded ones; without any, texts are segmented by rules.
    pub fn open(folder: Option<&Path>) -> Result<Self, Error> {
        let english_only = folder.is_none();
        let models = match folder {
            Some(folder) => Some(Models::folder(folder)?),
            None => Models::embedded().ok(),
        };
        let Some(models) = models else {
            return Ok(Self { models: None, segmenting: None, parsing: None, english_only });
        };
        let layers = Pipeline::layers_if_any(&models)?;
        let open = |tree| Pipeline::open(&models, Layers { tags: layers.tags, tree, ..Layers::default() });
        // Where the parser is not sure of a tree, a summarizer does not cut it.
        let parsing = layers.tree.then(|| open(true)).transpose()?.map(Pipeline::with_head_confidence);
        Ok(Self { segmenting: Some(open(false)?), parsing, models: Some(models), english_only })
    }

    /// Whether there are trees, without which sentences can only be taken whole.
    pub fn has_trees(&self) -> bool {
        self.parsing.is_some()
    }

    /// The summarizer among the models, or one with weights set by hand.
    pub fn summarizer(&self) -> Result<Summarizer, Error> {
        let model = self.models.as_ref().map(|models| models.open(Summarizer::NAME)).transpose()?.flatten();
        match model {
            Some(model) => Summarizer::open(&model),
            None => Summarizer::built_in(),
        }
        .map_err(Error::task)
    }
}

#[cfg(feature = "summarizer")]
impl Annotate for TopicAnnotator {
    fn understands(&self, text: &str) -> bool {
        self.parsing.is_some() && (!self.english_only || looks_english(text))
    }

    fn document(&self, text: &str) -> Result<Document, Failure> {
        match &self.segmenting {
            Some(pipeline) if !self.english_only || looks_english(text) => pipeline.document(text),
            _ => Ok(Segmenter::rules(Rules::default()).segment(text)?),
        }
    }

    fn annotate(&self, sentences: &mut [Sentence]) -> Result<(), Failure> {
        if let Some(parsing) = &self.parsing {
            parsing.annotate_sentences(sentences)?;
        }
        Ok(())
    }
}
