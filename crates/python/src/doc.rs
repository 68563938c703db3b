//! Annotated texts: documents, sentences, words, names, and what is proven of them.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use consonant::draw::Sketch;
use consonant::draw::svg::Svg;
use consonant::draw::terminal::Terminal;
use consonant::task::Unit;
use consonant::text::columns::Column;
use consonant::text::document::CharOffsets;
use consonant::text::jsonl::SentenceRecord;
use consonant::text::{Columns, Document, Format, Layer, SentenceReader};
use consonant::{Annotated, Certificates};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::{raise, raise_task, usage};

/// A document and where its words stand, in characters.
pub struct Text {
    annotated: Annotated,
    places: OnceLock<Vec<Places>>,
}

struct Places {
    sentence: Range<usize>,
    words: Vec<Range<usize>>,
}

impl Text {
    fn document(&self) -> &Document {
        &self.annotated.document
    }

    fn places(&self) -> &[Places] {
        self.places.get_or_init(|| {
            let document = self.document();
            let mut offsets = CharOffsets::new(document.text());
            let sentences = 0..document.sentences().len();
            sentences
                .map(|sentence| {
                    let place = document.sentence_place(sentence);
                    let start = offsets.at(place.start);
                    let words = document.word_spans(sentence);
                    let words = words.into_iter().map(|word| offsets.range(word)).collect();
                    Places { sentence: start..offsets.at(place.end), words }
                })
                .collect()
        })
    }
}

/// A text with its sentences, words, names and trees.
#[pyclass(frozen, module = "consonant")]
pub struct Doc {
    text: Arc<Text>,
}

impl From<Annotated> for Doc {
    fn from(annotated: Annotated) -> Self {
        Self { text: Arc::new(Text { annotated, places: OnceLock::new() }) }
    }
}

impl Doc {
    fn sentence(&self, number: usize) -> Sentence {
        Sentence { text: Arc::clone(&self.text), number }
    }
}

/// Words of a picture's line.
const PICTURE: usize = 100;

#[pymethods]
impl Doc {
    /// A document of sentences in CoNLL-U, or of columns whose last is the label.
    #[staticmethod]
    fn parse(text: &str) -> PyResult<Self> {
        let format = Format::from_content(text.as_bytes());
        let reader = match format {
            Some(Format::Conllu) => SentenceReader::conllu(text.as_bytes(), "the text"),
            _ => {
                let columns = Columns { label: Column::LAST, ..Columns::default() };
                SentenceReader::columns(text.as_bytes(), "the text", columns)
            }
        };
        let sentences = reader.collect::<Result<Vec<_>, _>>().map_err(|error| raise(error.into()))?;
        let document = Document::from_sentences(sentences);
        Ok(Annotated { document, certificates: Certificates::default() }.into())
    }

    /// The text, as it was given.
    #[getter]
    fn text(&self) -> &str {
        self.text.document().text()
    }

    /// The sentences, in order.
    #[getter]
    fn sents(&self) -> Vec<Sentence> {
        (0..self.text.document().sentences().len()).map(|number| self.sentence(number)).collect()
    }

    /// The names, in order.
    #[getter]
    fn ents(&self) -> Vec<Entity> {
        let mentions = self.text.document().mentions();
        let mut offsets = CharOffsets::new(self.text.document().text());
        let entity = |mention: consonant::text::document::Mention<'_>| Entity {
            text: self.text.document().text()[mention.place.clone()].to_owned(),
            label: mention.kind.to_owned(),
            place: offsets.range(mention.place),
            sentence: mention.sentence,
            words: mention.words,
        };
        mentions.into_iter().map(entity).collect()
    }

    /// All words, in order.
    #[getter]
    fn tokens(&self) -> Vec<Token> {
        self.sents().iter().flat_map(Sentence::tokens).collect()
    }

    /// What is proven of each layer: lists of certificates under `tags`, `entities` and `tree`.
    #[getter]
    fn certificates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let known = &self.text.annotated.certificates;
        let layers = [("tags", &known.tags), ("entities", &known.entities), ("tree", &known.tree)];
        let found = PyDict::new(py);
        for (name, units) in layers {
            found.set_item(name, units.iter().map(Certificate::from).collect::<Vec<_>>())?;
        }
        Ok(found)
    }

    /// The document in CoNLL-U, names in MISC.
    fn to_conllu(&self) -> String {
        self.text.document().sentences().iter().map(ToString::to_string).collect()
    }

    /// The document as JSON, an object a sentence, one a line.
    fn to_jsonl(&self) -> PyResult<String> {
        let mut lines = String::new();
        for sentence in self.text.document().sentences() {
            lines += &serde_json::to_string(&SentenceRecord::from(sentence)).map_err(raise_task)?;
            lines.push('\n');
        }
        Ok(lines)
    }

    /// The document as a picture in text.
    fn to_text(&self) -> String {
        let terminal = Terminal { width: PICTURE, colour: false };
        let sentences = self.text.document().sentences().iter();
        sentences.map(|sentence| terminal.draw(&Sketch::of(sentence))).collect()
    }

    fn _repr_svg_(&self) -> String {
        let mut svg = Svg::default();
        self.text.document().sentences().iter().for_each(|sentence| svg.sentence(&Sketch::of(sentence)));
        svg.finish()
    }

    fn __len__(&self) -> usize {
        self.text.document().sentences().iter().map(|sentence| sentence.len()).sum()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyList::new(py, self.tokens())?.try_iter()?.into_any())
    }

    fn __str__(&self) -> &str {
        self.text()
    }

    fn __repr__(&self) -> String {
        format!(
            "<Doc of {} words in {} sentences: {}>",
            self.__len__(),
            self.sents().len(),
            short(self.text())
        )
    }
}

/// The beginning of a text, in quotes.
fn short(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// A sentence of a document.
#[pyclass(frozen, module = "consonant")]
#[derive(Clone)]
pub struct Sentence {
    text: Arc<Text>,
    number: usize,
}

impl Sentence {
    fn own(&self) -> &consonant::text::Sentence {
        &self.text.document().sentences()[self.number]
    }

    fn tokens(&self) -> Vec<Token> {
        (0..self.own().len()).map(|word| Token { sentence: self.clone(), word }).collect()
    }
}

#[pymethods]
impl Sentence {
    /// The text of the sentence.
    #[getter]
    fn text(&self) -> &str {
        &self.text.document().text()[self.text.document().sentence_place(self.number)]
    }

    /// The first character in the document's text.
    #[getter]
    fn start_char(&self) -> usize {
        self.text.places()[self.number].sentence.start
    }

    /// The character behind the last.
    #[getter]
    fn end_char(&self) -> usize {
        self.text.places()[self.number].sentence.end
    }

    /// The words.
    #[getter]
    #[pyo3(name = "tokens")]
    fn words(&self) -> Vec<Token> {
        self.tokens()
    }

    /// A layer of all words: `form`, `lemma`, `upos`, `xpos`, `feats`, `deprel`, `misc`, `entity`.
    fn layer(&self, name: &str) -> PyResult<Vec<Option<&str>>> {
        let layer = Layer::ALL.into_iter().find(|layer| layer.name() == name);
        let layer = layer.ok_or_else(|| usage(format!("there is no layer `{name}`")))?;
        Ok((0..self.own().len()).map(|word| self.own().get(word, layer)).collect())
    }

    /// The heads of all words, counted from 1; 0 for the root.
    #[getter]
    fn heads(&self) -> Vec<Option<u32>> {
        (0..self.own().len()).map(|word| self.own().head(word)).collect()
    }

    /// The sentence in CoNLL-U.
    fn to_conllu(&self) -> String {
        self.own().to_string()
    }

    fn _repr_svg_(&self) -> String {
        let mut svg = Svg::default();
        svg.sentence(&Sketch::of(self.own()));
        svg.finish()
    }

    fn __len__(&self) -> usize {
        self.own().len()
    }

    fn __getitem__(&self, word: isize) -> PyResult<Token> {
        let length = self.own().len();
        let place = if word < 0 { word + length as isize } else { word };
        match usize::try_from(place).ok().filter(|&word| word < length) {
            Some(word) => Ok(Token { sentence: self.clone(), word }),
            None => Err(PyIndexError::new_err(format!("there is no word {word} in a sentence of {length}"))),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyList::new(py, self.tokens())?.try_iter()?.into_any())
    }

    fn __str__(&self) -> &str {
        self.text()
    }

    fn __repr__(&self) -> String {
        format!("<Sentence of {} words: {}>", self.own().len(), short(self.text()))
    }
}

/// A word of a sentence. What nobody has said is `None`.
#[pyclass(frozen, module = "consonant")]
#[derive(Clone)]
pub struct Token {
    sentence: Sentence,
    word: usize,
}

impl Token {
    fn layer(&self, layer: Layer) -> Option<&str> {
        self.sentence.own().get(self.word, layer)
    }

    fn place(&self) -> Range<usize> {
        self.sentence.text.places()[self.sentence.number].words[self.word].clone()
    }
}

#[pymethods]
impl Token {
    /// The word.
    #[getter]
    fn text(&self) -> &str {
        self.sentence.own().form(self.word)
    }

    /// The lemma.
    #[getter]
    fn lemma(&self) -> Option<&str> {
        self.layer(Layer::Lemma)
    }

    /// The universal part of speech.
    #[getter]
    fn upos(&self) -> Option<&str> {
        self.layer(Layer::Upos)
    }

    /// The language's own tag.
    #[getter]
    fn xpos(&self) -> Option<&str> {
        self.layer(Layer::Xpos)
    }

    /// The features, as in CoNLL-U: `Number=Sing|Person=3`.
    #[getter]
    fn feats(&self) -> Option<&str> {
        self.layer(Layer::Feats)
    }

    /// The relation to the head.
    #[getter]
    fn deprel(&self) -> Option<&str> {
        self.layer(Layer::Deprel)
    }

    /// Everything else, as in CoNLL-U.
    #[getter]
    fn misc(&self) -> Option<&str> {
        self.layer(Layer::Misc)
    }

    /// The head in the sentence, counted from 1; 0 for the root.
    #[getter]
    fn head(&self) -> Option<u32> {
        self.sentence.own().head(self.word)
    }

    /// The place in the sentence, counted from 1, as heads count.
    #[getter]
    fn id(&self) -> usize {
        self.word + 1
    }

    /// The label of the name that the word is part of, such as `B-LOC`; `O` outside.
    #[getter]
    fn ent(&self) -> &str {
        self.sentence.own().entity_label(self.word)
    }

    /// The first character in the document's text.
    #[getter]
    fn start_char(&self) -> usize {
        self.place().start
    }

    /// The character behind the last.
    #[getter]
    fn end_char(&self) -> usize {
        self.place().end
    }

    fn __str__(&self) -> &str {
        self.text()
    }

    fn __repr__(&self) -> String {
        let tag = self.upos().map(|tag| format!(" {tag}")).unwrap_or_default();
        let head =
            self.head().map(|head| format!(" {}→{head}", self.deprel().unwrap_or(""))).unwrap_or_default();
        format!("<Token {:?}{tag}{head}>", self.text())
    }
}

/// A name in a document.
#[pyclass(frozen, module = "consonant")]
pub struct Entity {
    /// The name, as it is written.
    #[pyo3(get)]
    text: String,
    /// Its type: `PER`, `LOC`, `ORG`.
    #[pyo3(get)]
    label: String,
    /// The number of its sentence.
    #[pyo3(get)]
    sentence: usize,
    words: Range<usize>,
    place: Range<usize>,
}

#[pymethods]
impl Entity {
    /// The first character in the document's text.
    #[getter]
    fn start_char(&self) -> usize {
        self.place.start
    }

    /// The character behind the last.
    #[getter]
    fn end_char(&self) -> usize {
        self.place.end
    }

    /// The first word in its sentence, counted from 0.
    #[getter]
    fn start(&self) -> usize {
        self.words.start
    }

    /// The word behind the last.
    #[getter]
    fn end(&self) -> usize {
        self.words.end
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<Entity {:?} {}>", self.text, self.label)
    }
}

/// What is known of an answer: no answer is worth more than `bound`, and this one is worth `value`.
#[pyclass(frozen, subclass, module = "consonant")]
#[derive(Clone)]
pub struct Certificate(pub consonant::Certificate);

impl From<&Unit> for Certificate {
    fn from(unit: &Unit) -> Self {
        Self(unit.certificate)
    }
}

#[pymethods]
impl Certificate {
    /// The value of the answer; `None` if there is none.
    #[getter]
    fn value(&self) -> Option<f64> {
        self.0.value()
    }

    /// No answer is worth more; minus infinity if there is none.
    #[getter]
    fn bound(&self) -> f64 {
        self.0.bound()
    }

    /// `optimal`, `feasible`, `infeasible` or `stopped`.
    #[getter]
    fn status(&self) -> &'static str {
        self.0.status().name()
    }

    /// Iterations, or nodes of a search.
    #[getter]
    fn iterations(&self) -> usize {
        self.0.iterations
    }

    /// Seconds that it took.
    #[getter]
    fn seconds(&self) -> f64 {
        self.0.seconds
    }

    fn __repr__(&self) -> String {
        let value = self.0.value().map_or("None".to_owned(), |value| value.to_string());
        format!("<Certificate {}: value {value}, bound {}>", self.0.status(), self.0.bound())
    }
}
