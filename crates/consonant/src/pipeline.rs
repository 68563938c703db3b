//! From raw text to annotated sentences: segmenter, then names, tagger, lemmatizer and parser.

use std::io::Read;
use std::sync::Arc;

use consonant_lemmatizer::LemmatizerOptions;
use consonant_ner::NerOptions;
use consonant_parser::ParserOptions;
use consonant_segmenter::{Rules, SegmenterOptions, Start};
use consonant_tagger::TaggerOptions;
use consonant_task::{Annotate, Answered, Failure, Reads, Task, Unit};
use consonant_text::plain::{Passage, PassageReader};
use consonant_text::{Document, Sentence};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use crate::{Error, Lemmatizer, Models, Ner, Parser, Segmenter, Tagger};

/// What is put on top of sentences and tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layers {
    /// Parts of speech, and features if there is a model for them.
    pub tags: bool,
    /// Lemmas.
    pub lemmas: bool,
    /// Names.
    pub entities: bool,
    /// Dependency trees; parsers read tags, so these come with them.
    pub tree: bool,
}

/// A text with its layers.
#[derive(Debug)]
pub struct Annotated {
    /// Text, sentences, tokens and layers.
    pub document: Document,
    /// What is proven of each layer.
    pub certificates: Certificates,
}

/// How the decoding of each layer went; empty for layers that were not asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Certificates {
    /// A unit for each sentence.
    pub tags: Vec<Unit>,
    /// A unit for each sentence.
    pub lemmas: Vec<Unit>,
    /// A unit for each sentence, or for each group of sentences whose names agree.
    pub entities: Vec<Unit>,
    /// A unit for each sentence.
    pub tree: Vec<Unit>,
}

/// The models of a pipeline, opened. Weights stay where they lie: opening takes milliseconds. Annotates on
/// rayon's threads; the outcome is the same for any number of them.
#[derive(Debug)]
pub struct Pipeline {
    segmenter: Segmenter,
    pub(crate) tagger: Option<Tagger>,
    lemmatizer: Option<(Lemmatizer, LemmatizerOptions)>,
    pub(crate) names: Option<Ner>,
    parser: Option<Parser>,
    /// Whether the layers say how sure they are.
    confidence: bool,
    head_confidence: bool,
    /// Whether sentences say what is proven of them.
    certified: bool,
}

/// Bytes of text that are annotated together, at least, if there are as many.
const BATCH: usize = 1 << 18;
/// Models that look beyond a sentence look at so many bytes of a document at least, and at all of one that is not
/// longer.
const DOCUMENT: usize = 1 << 17;

impl Pipeline {
    /// The embedded English models, all layers.
    pub fn english() -> Result<Self, Error> {
        let models = Models::embedded()?;
        Self::open(&models, Self::layers_of(&models)?)
    }

    /// Opens what the layers need. Without a model the segmenter works by rules; any other model must be
    /// there.
    pub fn open(models: &Models, layers: Layers) -> Result<Self, Error> {
        /// A model, if it is wanted.
        fn open<T: Task>(models: &Models, is_wanted: bool, layer: &'static str) -> Result<Option<T>, Error> {
            let model = is_wanted.then(|| models.expect(T::NAME, layer)).transpose()?;
            model.as_ref().map(T::open).transpose().map_err(Error::task)
        }
        let open_tagger = |is_wanted| open::<Tagger>(models, is_wanted, "the layer `tags`");
        // Features come from the model of lemmas.
        let features = layers.tags && models.has(Lemmatizer::NAME);
        // Whoever asks for one word waits for the models above all. A thread of its own, and not a pool's: those
        // do not survive a fork, and a child would wait for them.
        let ((segmenter, names), rest) = std::thread::scope(|scope| {
            let rest = scope.spawn(|| {
                let tagger = open_tagger(layers.tags || layers.tree || layers.lemmas)?;
                let parser = open::<Parser>(models, layers.tree, "the layer `tree`")?;
                let is_read = models.has(Lemmatizer::NAME)
                    && parser.as_ref().is_some_and(|parser| !parser.reads().is_empty());
                let wanted = layers.lemmas || features || is_read;
                let lemmatizer = open::<Lemmatizer>(models, wanted, "the layer `lemmas`")?;
                Ok::<_, Error>((tagger, lemmatizer, parser, is_read))
            });
            let segmenter = match models.open(Segmenter::NAME) {
                Ok(Some(model)) => Segmenter::open(&model).map_err(Error::task),
                Ok(None) => Ok(Segmenter::rules(Rules::english())),
                Err(error) => Err(error),
            };
            let names = open::<Ner>(models, layers.entities, "the layer `entities`");
            ((segmenter, names), rest.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        // Of several errors the one that would come first in a row is told.
        let (segmenter, names) = (segmenter?, names?);
        let (mut tagger, lemmatizer, parser, is_read) = rest?;
        if tagger.is_none() && names.as_ref().is_some_and(|names| names.reads() == Reads::Tags) {
            tagger = open_tagger(true)?;
        }
        let kept = LemmatizerOptions::new()
            .keep_lemmas(!layers.lemmas && !is_read)
            .keep_feats(!layers.tags && !is_read);
        let lemmatizer = lemmatizer.map(|lemmatizer| (lemmatizer, kept));
        Ok(Self {
            segmenter,
            tagger,
            lemmatizer,
            names,
            parser,
            confidence: false,
            head_confidence: false,
            certified: false,
        })
    }

    /// The same pipeline for texts whose sentences or tokens are known.
    #[must_use]
    pub fn knowing(mut self, options: SegmenterOptions) -> Self {
        self.segmenter = self.segmenter.knowing(options);
        self
    }

    /// The same pipeline with numbers that say how sure the models are of tags, names and heads (in MISC, and beside
    /// them in JSON): of all answers with a confidence of 0.9, nine in ten are right on text like the dev data.
    #[must_use]
    pub fn with_confidence(mut self) -> Self {
        self.confidence = true;
        self
    }

    /// The same pipeline with these numbers for heads alone, which cost next to nothing; without any, if its parser
    /// does not know them.
    #[must_use]
    pub fn with_head_confidence(mut self) -> Self {
        self.head_confidence = self.parser.as_ref().is_some_and(Parser::has_confidence);
        self
    }

    /// The same pipeline whose sentences say what is proven of their names and trees (a comment `certificate`, and a field in
    /// JSON). Names that agree are found together, and all sentences of a group have the same certificate.
    #[must_use]
    pub fn with_certificates(mut self) -> Self {
        self.certified = true;
        self
    }

    /// The layers that a set of models can give; an error if a folder has no model for any, or one that reads tags and
    /// no tagger.
    pub fn layers_of(models: &Models) -> Result<Layers, Error> {
        let layers = Self::layers_if_any(models)?;
        match models {
            Models::Folder(folder) if layers == Layers::default() && !models.has(Segmenter::NAME) => {
                Err(Error::EmptyFolder(folder.clone()))
            }
            _ => Ok(layers),
        }
    }

    /// The same for who can work without any: a server has problems to solve, and summaries sentences by rules.
    pub fn layers_if_any(models: &Models) -> Result<Layers, Error> {
        let [tags, lemmas, entities, tree] =
            [Tagger::NAME, Lemmatizer::NAME, Ner::NAME, Parser::NAME].map(|task| models.has(task));
        if tree {
            models.check(Tagger::NAME, "parser.model")?;
        } else if lemmas {
            models.check(Tagger::NAME, "lemmatizer.model")?;
        }
        Ok(Layers { tags, lemmas, entities, tree })
    }

    /// What the parser learned from and nobody here gives it, in words: with it trees are worse than they could be.
    pub fn misfit(&self) -> Option<String> {
        let reads = self.parser.as_ref().filter(|_| self.lemmatizer.is_none())?.reads();
        (!reads.is_empty()).then(|| {
            format!(
                "parser.model reads {}, which no model here finds: trees will be worse than they could be. Add the lemmatizer.model of its treebank, or train the \
                 parser with `--ignore lemmas,features`",
                reads.join(" and ")
            )
        })
    }

    /// Who finds parts of speech, if anybody does.
    pub fn tagger(&self) -> Option<&Tagger> {
        self.tagger.as_ref()
    }

    /// Who finds names, if anybody does.
    pub fn names(&self) -> Option<&Ner> {
        self.names.as_ref()
    }

    /// Who finds trees, if anybody does.
    pub fn parser(&self) -> Option<&Parser> {
        self.parser.as_ref()
    }

    /// Finds the sentences of one text and annotates them.
    pub fn annotate(&self, text: &str) -> Result<Annotated, Error> {
        let mut document = self.segmenter.segment(text).map_err(Error::task)?;
        mark_documents(document.sentences_mut());
        let certificates = self.annotate_sentences(document.sentences_mut())?;
        Ok(Annotated { document, certificates })
    }

    /// The same as sentences alone, whose tokens carry their place in the text.
    pub fn sentences(&self, text: &str) -> Result<Vec<Sentence>, Error> {
        let segments = self.segmenter.passage(text, Start::Document, Some(0)).map_err(Error::task)?;
        let mut sentences = segments.sentences;
        mark_documents(&mut sentences);
        self.annotate_sentences(&mut sentences)?;
        Ok(sentences)
    }

    /// Annotates several texts, each a document of its own, side by side.
    pub fn annotate_all<T: AsRef<str> + Sync>(&self, texts: &[T]) -> Result<Vec<Annotated>, Error> {
        texts.par_iter().map(|text| self.annotate(text.as_ref())).collect()
    }

    /// Annotates sentences that have their tokens already.
    pub fn annotate_sentences(&self, sentences: &mut [Sentence]) -> Result<Certificates, Error> {
        let mut certificates = Certificates::default();
        let names_first = self.names.as_ref().is_some_and(|names| names.reads() != Reads::Tags);
        // Taggers see names, unless the recognizer sees tags.
        if names_first {
            self.find_names(sentences, &mut certificates)?;
        }
        if let Some(tagger) = &self.tagger {
            let options = TaggerOptions::new().confidence(self.confidence);
            certificates.tags = tagger.decode(sentences, &options).map_err(Error::task)?;
        }
        if !names_first {
            self.find_names(sentences, &mut certificates)?;
        }
        if let Some((lemmatizer, options)) = &self.lemmatizer {
            certificates.lemmas = lemmatizer.decode(sentences, options).map_err(Error::task)?;
        }
        if let Some(parser) = &self.parser {
            let options = ParserOptions::new().confidence(self.confidence || self.head_confidence);
            certificates.tree = parser.decode(sentences, &options).map_err(Error::task)?;
        }
        if self.certified {
            self.write_certificates(sentences, &certificates)?;
        }
        Ok(certificates)
    }

    fn write_certificates(
        &self,
        sentences: &mut [Sentence],
        certificates: &Certificates,
    ) -> Result<(), Error> {
        let groups = self.names.as_ref().map_or_else(Vec::new, |names| names.groups(sentences));
        let entities = groups.iter().zip(&certificates.entities);
        let entities = entities.flat_map(|(group, unit)| group.iter().map(move |&number| (number, unit)));
        let mut told = vec![Map::new(); sentences.len()];
        for (layer, number, unit) in entities
            .map(|(number, unit)| ("entities", number, unit))
            .chain(certificates.tree.iter().enumerate().map(|(number, unit)| ("tree", number, unit)))
        {
            let of = &unit.certificate;
            let certificate = json!({"status": of.status(), "value": of.value(), "bound": of.bound()});
            told[number].insert(layer.to_owned(), certificate);
        }
        for (sentence, told) in sentences.iter_mut().zip(told).filter(|(_, told)| !told.is_empty()) {
            sentence
                .set_comment("certificate", Some(&Value::Object(told).to_string()))
                .map_err(Error::task)?;
        }
        Ok(())
    }

    fn find_names(&self, sentences: &mut [Sentence], certificates: &mut Certificates) -> Result<(), Error> {
        if let Some(names) = &self.names {
            let options = NerOptions::new().confidence(self.confidence);
            certificates.entities = names.decode(sentences, &options).map_err(Error::task)?;
        }
        Ok(())
    }

    /// The problems that the engine solves to annotate these sentences, with their answers, and the name of the task that
    /// each list is of. The sentences are those that [`annotate_sentences`](Self::annotate_sentences) had together, before
    /// or after it.
    pub fn problems(&self, sentences: &[Sentence]) -> Result<Vec<(&'static str, Vec<Answered>)>, Error> {
        let names = self.names.as_ref().and_then(|names| names.problems(sentences, &NerOptions::new()));
        let trees = self.parser.as_ref().and_then(|parser| parser.problems(sentences, &ParserOptions::new()));
        let names = names.transpose().map_err(Error::task)?.map(|found| (Ner::NAME, found));
        let trees = trees.transpose().map_err(Error::task)?.map(|found| (Parser::NAME, found));
        Ok(names.into_iter().chain(trees).collect())
    }

    /// Annotates a stream of raw text, one document, in memory that does not grow with it. Sentences come in
    /// order, a batch at a time; tokens carry their white space and their place in the text.
    pub fn stream<E: From<Error>>(
        &self,
        stream: impl Read,
        name: &Arc<str>,
        mut each: impl FnMut(&mut [Sentence], Certificates) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut reader = PassageReader::new(stream, Arc::clone(name));
        let (mut passages, mut document) = (Vec::new(), 0);
        loop {
            let (mut filled, mut bytes) = (0, 0);
            while bytes < BATCH {
                if filled == passages.len() {
                    passages.push((Passage::default(), false));
                }
                let (passage, starts) = &mut passages[filled];
                if !reader.read(passage).map_err(Error::from)? {
                    break;
                }
                *starts = passage.byte == 0 || document >= DOCUMENT;
                document = if *starts { 0 } else { document } + passage.text.len();
                bytes += passage.text.len();
                filled += 1;
            }
            if filled == 0 {
                return Ok(());
            }
            let pieces: Result<Vec<Vec<Sentence>>, Error> = passages[..filled]
                .par_iter()
                .map(|(passage, starts)| self.segment(passage, *starts))
                .collect();
            let mut sentences: Vec<Sentence> = pieces?.into_iter().flatten().collect();
            let certificates = self.annotate_sentences(&mut sentences)?;
            each(&mut sentences, certificates)?;
        }
    }

    /// The sentences of a passage. For models that look beyond a sentence a document may start with it, in the
    /// middle of a long text.
    fn segment(&self, passage: &Passage, starts: bool) -> Result<Vec<Sentence>, Error> {
        let start = if passage.byte == 0 { Start::Document } else { Start::Paragraph };
        let segments = self.segmenter.passage(&passage.text, start, Some(passage.character));
        let mut sentences = segments.map_err(Error::task)?.sentences;
        sentences.first_mut().into_iter().filter(|_| starts).for_each(Sentence::mark_document);
        Ok(sentences)
    }
}

/// Tells models that look beyond a sentence that a text is one document, or, where it is longer than they can look,
/// several in a row.
fn mark_documents(sentences: &mut [Sentence]) {
    let mut bytes = DOCUMENT;
    for sentence in sentences {
        if bytes >= DOCUMENT {
            sentence.mark_document();
            bytes = 0;
        }
        bytes += (0..sentence.len()).map(|word| sentence.form(word).len() + 1).sum::<usize>();
    }
}

impl Annotate for Pipeline {
    fn document(&self, text: &str) -> Result<Document, Failure> {
        Ok(Pipeline::annotate(self, text)?.document)
    }

    fn annotate(&self, sentences: &mut [Sentence]) -> Result<(), Failure> {
        self.annotate_sentences(sentences)?;
        Ok(())
    }
}
