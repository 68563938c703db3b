//! From raw text to annotated sentences: segmenter, then tagger, names and parser.
//!
//! ```text
//! let pipeline = Pipeline::open(&Models::of(None)?, Layers::ALL)?;     // or Models::of(Some(folder))
//! let annotator = pipeline.annotator()?;                               // buffers for each thread
//! let document = annotator.document("Ann lives in Kiel. She rows.")?;  // one text → consonant_text::Document
//! annotator.annotate(&mut sentences)?;                                 // sentences that have their tokens already
//! ```

mod models;

use std::io::Read;
use std::sync::Arc;

use anyhow::Result;
use consonant_parser::Parser;
use consonant_segmenter::{Rules, Segmenter, Start};
use consonant_tagger::{Request, Tagger};
use consonant_text::plain::{Passage, PassageReader};
use consonant_text::{Document, Sentence, SentenceReader};
use rayon::prelude::*;

pub use models::Models;

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

impl Layers {
    /// Everything.
    pub const ALL: Self = Self { tags: true, entities: true, tree: true };
}

/// The models of a pipeline, opened. Weights stay where they lie: opening takes milliseconds.
pub struct Pipeline {
    segmenter: Segmenter,
    tagger: Option<Tagger>,
    parser: Option<Parser>,
}

impl Pipeline {
    /// Opens what the layers need. Without a model the segmenter works by rules; any other model must be there.
    pub fn open(models: &Models, layers: Layers) -> Result<Self> {
        let segmenter = match models.open(consonant_segmenter::TASK)? {
            Some(model) => Segmenter::open(&model)?,
            None => Segmenter::rules(Rules::english()),
        };
        let open = |wanted: bool, task, layer| wanted.then(|| models.expect(task, layer)).transpose();
        let tagger = open(layers.tags || layers.tree, consonant_tagger::TASK, "the layer `tags`")?;
        let parser = open(layers.tree, consonant_parser::TASK, "the layer `tree`")?;
        Ok(Self {
            segmenter,
            tagger: tagger.as_ref().map(Tagger::open).transpose()?,
            parser: parser.as_ref().map(Parser::open).transpose()?,
        })
    }

    /// The layers that a set of models can give.
    pub fn layers_of(models: &Models) -> Result<Layers> {
        let tags = models.open(consonant_tagger::TASK)?.is_some();
        let tree = tags && models.open(consonant_parser::TASK)?.is_some();
        Ok(Layers { tags, entities: false, tree })
    }

    /// Annotates with buffers that are reused.
    pub fn annotator(&self) -> Result<Annotator<'_>> {
        let tagger = self.tagger.as_ref().map(Tagger::decoder).transpose()?;
        Ok(Annotator { pipeline: self, tagger })
    }
}

/// Passages that are annotated together. Names agree within such a batch, so it is the same for any number of threads.
const BATCH: usize = 8;

/// Annotates texts, on rayon's threads; the outcome is the same for any number of them.
pub struct Annotator<'p> {
    pipeline: &'p Pipeline,
    tagger: Option<consonant_tagger::Decoder<'p>>,
}

impl Annotator<'_> {
    /// Finds the sentences of one text and annotates them.
    pub fn document(&self, text: &str) -> Result<Document> {
        let mut document = self.pipeline.segmenter.segment(text)?;
        self.annotate(document.sentences_mut())?;
        Ok(document)
    }

    /// Annotates sentences that have their tokens already.
    pub fn annotate(&self, sentences: &mut [Sentence]) -> Result<()> {
        if let Some(tagger) = &self.tagger {
            tagger.tag(sentences, &Request::default())?;
        }
        if let Some(parser) = &self.pipeline.parser {
            parser.parse(sentences, parser.algorithm())?;
        }
        Ok(())
    }

    /// Annotates a stream of raw text, one document, in memory that does not grow with it. Sentences come in order, a batch at
    /// a time; tokens carry their white space and their place in the text.
    pub fn stream(
        &self,
        stream: impl Read,
        name: &Arc<str>,
        mut each: impl FnMut(&[Sentence]) -> Result<()>,
    ) -> Result<()> {
        let mut reader = PassageReader::new(stream, Arc::clone(name));
        let mut passages = vec![Passage::default(); BATCH];
        loop {
            let mut filled = 0;
            while filled < passages.len() && reader.read(&mut passages[filled])? {
                filled += 1;
            }
            if filled == 0 {
                return Ok(());
            }
            let pieces: Result<Vec<Vec<Sentence>>> =
                passages[..filled].par_iter().map(|passage| self.segment(passage)).collect();
            let mut sentences: Vec<Sentence> = pieces?.into_iter().flatten().collect();
            self.annotate(&mut sentences)?;
            each(&sentences)?;
        }
    }

    fn segment(&self, passage: &Passage) -> Result<Vec<Sentence>> {
        let start = if passage.byte == 0 { Start::Document } else { Start::Paragraph };
        let mut decoder = self.pipeline.segmenter.decoder()?;
        let conllu = decoder.conllu(&passage.text, start, Some(passage.character))?;
        let reader = SentenceReader::conllu(conllu.as_bytes(), "<segmenter>").max_length(usize::MAX);
        Ok(reader.collect::<Result<_, _>>()?)
    }
}
