//! A document: its text, the sentences in it, and, for a conversation, its units and links.

use std::io::Read;
use std::ops::Range;

use crate::entity::decode_any;
use crate::error::Error;
use crate::reader::SentenceReader;
use crate::sentence::{Sentence, SurfaceToken};

/// A text with the sentences found in it, and the units and links of a conversation if it is one.
///
/// Places are in bytes of [`text`](Document::text), as Rust slices strings; [`CharOffsets`] turns them into
/// characters, as other languages count.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Its id, if it has one.
    pub id: Option<String>,
    text: String,
    sentences: Vec<Sentence>,
    places: Vec<Range<usize>>,
    /// The messages of a conversation, in order.
    pub units: Vec<Unit>,
    /// Which unit answers which.
    pub links: Vec<Link>,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Who wrote it; nobody for a line of the server.
    pub author: Option<String>,
    /// When, as it is written in the data.
    pub time: Option<String>,
    /// Its place in the document's text, in bytes.
    pub place: Range<usize>,
}

/// A unit that answers an earlier one, both counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Link {
    /// The unit that answers.
    pub source: usize,
    /// The unit that is answered, before the source.
    pub target: usize,
}

/// A name in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention<'d> {
    /// The sentence that it is in.
    pub sentence: usize,
    /// Its words there.
    pub words: Range<usize>,
    /// Its type, such as `LOC`.
    pub kind: &'d str,
    /// Its place in the document's text, in bytes.
    pub place: Range<usize>,
}

impl Document {
    /// A document of which only the text is known.
    pub fn from_text(id: Option<String>, text: String) -> Self {
        Document { id, text, ..Document::default() }
    }

    /// Puts sentences together to a document; its text is theirs, with a blank line between paragraphs and a
    /// space between sentences.
    ///
    /// ```
    /// use consonant_text::{Document, Sentence};
    ///
    /// let one = Sentence::from_conllu("# text = Ja!\n1\tJa\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\t!\t_\t_\t_\t_\t_\t_\t_\t_\n\n")?;
    /// let document = Document::from_sentences(vec![one.clone(), one]);
    /// assert_eq!(document.text(), "Ja! Ja!");
    /// assert_eq!(document.word_places(1), [4..6, 6..7]);
    /// # Ok::<(), consonant_text::Error>(())
    /// ```
    pub fn from_sentences(sentences: Vec<Sentence>) -> Self {
        let mut document = Document::default();
        for sentence in sentences {
            if document.sentences.is_empty() {
                document.id = sentence.document_id().map(str::to_owned);
            } else {
                document.text.push_str(if sentence.starts_paragraph() { "\n\n" } else { " " });
            }
            let start = document.text.len();
            document.text.push_str(&sentence.aligned_text().0);
            document.places.push(start..document.text.len());
            document.sentences.push(sentence);
        }
        document
    }

    /// Adds a sentence found at a place of the text.
    ///
    /// # Panics
    /// If the place is not in the text or cuts a character.
    pub fn push_sentence(&mut self, sentence: Sentence, place: Range<usize>) {
        assert!(self.text.get(place.clone()).is_some(), "{place:?} is no place in the text");
        self.sentences.push(sentence);
        self.places.push(place);
    }

    /// Adds a message and its text, on a line of its own.
    pub fn push_unit(&mut self, author: Option<String>, time: Option<String>, text: &str) {
        if !self.units.is_empty() {
            self.text.push('\n');
        }
        let start = self.text.len();
        self.text.push_str(text);
        self.units.push(Unit { author, time, place: start..self.text.len() });
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The sentences, in order.
    pub fn sentences(&self) -> &[Sentence] {
        &self.sentences
    }

    /// The sentences, to be annotated.
    pub fn sentences_mut(&mut self) -> &mut [Sentence] {
        &mut self.sentences
    }

    /// Gives the sentences away.
    pub fn into_sentences(self) -> Vec<Sentence> {
        self.sentences
    }

    /// The place of a sentence in the text, in bytes.
    pub fn sentence_place(&self, sentence: usize) -> Range<usize> {
        self.places[sentence].clone()
    }

    /// The places of a sentence's words in the text, in bytes; words written as one token share its place.
    ///
    /// A word that is not spelled in the text has an empty place where it would stand.
    pub fn word_places(&self, sentence: usize) -> Vec<Range<usize>> {
        let mut places = Vec::with_capacity(self.sentences[sentence].len());
        self.each_token(sentence, |token, place| places.extend(token.words.clone().map(|_| place.clone())));
        places
    }

    /// As [`word_places`](Document::word_places), but words that spell their token one behind the other, as *ca* and *n't* spell
    /// *can't*, have each their own part of it.
    pub fn word_spans(&self, sentence: usize) -> Vec<Range<usize>> {
        let words = &self.sentences[sentence];
        let mut spans: Vec<Range<usize>> = Vec::with_capacity(words.len());
        self.each_token(sentence, |token, place| {
            let first = spans.len();
            words.word_parts(token, &mut spans);
            for span in &mut spans[first..] {
                // A token that is not spelled in the text has no letters there.
                *span = if place.is_empty() {
                    place.clone()
                } else {
                    place.start + span.start..place.start + span.end
                };
            }
        });
        spans
    }

    /// Visits the tokens of a sentence with their places in the text.
    fn each_token(&self, sentence: usize, mut visit: impl FnMut(&SurfaceToken<'_>, Range<usize>)) {
        let place = self.places[sentence].clone();
        let (sentence, text) = (&self.sentences[sentence], &self.text[place.clone()]);
        let mut position = 0;
        for token in sentence.surface_tokens() {
            let rest = &text[position..];
            let start = position + (rest.len() - rest.trim_start().len());
            let found = text[start..].starts_with(token.form);
            let (start, end) = if found { (start, start + token.form.len()) } else { (position, position) };
            position = end;
            visit(&token, place.start + start..place.start + end);
        }
    }

    /// The names that the labels of its sentences say, in the order of the text.
    ///
    /// ```
    /// use consonant_text::{Document, Sentence};
    ///
    /// let name = "1\tKiel\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|NER=B-LOC\n2\t.\t_\t_\t_\t_\t_\t_\t_\t_\n\n";
    /// let document = Document::from_sentences(vec![Sentence::from_conllu(name)?; 2]);
    /// let second = &document.mentions()[1];
    /// assert_eq!((second.kind, &document.text()[second.place.clone()]), ("LOC", "Kiel"));
    /// # Ok::<(), consonant_text::Error>(())
    /// ```
    pub fn mentions(&self) -> Vec<Mention<'_>> {
        let mut mentions = Vec::new();
        for (number, sentence) in self.sentences.iter().enumerate() {
            let labels: Vec<&str> = (0..sentence.len()).map(|word| sentence.entity_label(word)).collect();
            if labels.iter().all(|label| *label == "O") {
                continue;
            }
            let places = self.word_spans(number);
            mentions.extend(decode_any(&labels).into_iter().map(|entity| {
                let words = entity.words;
                let kind = labels[words.start].split_once('-').map_or("", |(_, kind)| kind);
                let place = places[words.start].start..places[words.end - 1].end;
                Mention { sentence: number, words, kind, place }
            }));
        }
        mentions
    }

    /// The text of a unit.
    pub fn unit_text(&self, unit: usize) -> &str {
        &self.text[self.units[unit].place.clone()]
    }
}

/// Turns places in bytes into places in characters, for positions that come in rising order.
///
/// ```
/// let mut offsets = consonant_text::document::CharOffsets::new("né à");
/// assert_eq!(offsets.range(0..3), 0..2);
/// assert_eq!(offsets.range(4..6), 3..4);
/// ```
#[derive(Clone, Debug)]
pub struct CharOffsets<'a> {
    text: &'a str,
    byte: usize,
    character: usize,
}

impl<'a> CharOffsets<'a> {
    /// Starts at the beginning of a text.
    pub fn new(text: &'a str) -> Self {
        CharOffsets { text, byte: 0, character: 0 }
    }

    /// The characters before a byte; fast if not before the byte asked for last.
    ///
    /// # Panics
    /// If the byte is not in the text or cuts a character.
    pub fn at(&mut self, byte: usize) -> usize {
        if byte < self.byte {
            (self.byte, self.character) = (0, 0);
        }
        self.character += self.text[self.byte..byte].chars().count();
        self.byte = byte;
        self.character
    }

    /// A place in characters.
    pub fn range(&mut self, bytes: Range<usize>) -> Range<usize> {
        self.at(bytes.start)..self.at(bytes.end)
    }
}

/// The documents among sentences, in order: from one [mark](Sentence::starts_document) to the next. Sentences
/// before the first mark are a document of their own; without any mark, each sentence is one.
///
/// ```
/// use consonant_text::document::ranges;
/// use consonant_text::{Columns, SentenceReader};
///
/// let text = "a O\n\nb O\n\n-DOCSTART- O\n\nc O\n\nd O\n\n";
/// let sentences: Vec<_> =
///     SentenceReader::columns(text.as_bytes(), "a", Columns::default()).collect::<Result<_, _>>()?;
/// assert_eq!(ranges(&sentences), [0..2, 2..4]);
/// assert_eq!(ranges(&sentences[..2]), [0..1, 1..2]);
/// # Ok::<(), consonant_text::Error>(())
/// ```
pub fn ranges(sentences: &[Sentence]) -> Vec<Range<usize>> {
    let starts: Vec<bool> = sentences.iter().map(Sentence::starts_document).collect();
    let is_marked = starts.contains(&true);
    let mut documents: Vec<Range<usize>> = Vec::new();
    for (number, starts) in starts.into_iter().enumerate() {
        match documents.last_mut() {
            Some(last) if is_marked && !starts => last.end = number + 1,
            _ => documents.push(number..number + 1),
        }
    }
    documents
}

/// An iterator of documents: sentences from one document mark to the next.
///
/// A file without marks is one document, however long.
#[derive(Debug)]
pub struct Documents<R> {
    reader: SentenceReader<R>,
    next: Option<Sentence>,
    failed: Option<Error>,
}

impl<R: Read> SentenceReader<R> {
    /// Puts sentences together to documents.
    pub fn documents(self) -> Documents<R> {
        Documents { reader: self, next: None, failed: None }
    }
}

impl<R: Read> Iterator for Documents<R> {
    type Item = Result<Document, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failed.take() {
            return Some(Err(error));
        }
        let mut sentences: Vec<Sentence> = self.next.take().into_iter().collect();
        for sentence in self.reader.by_ref() {
            match sentence {
                Ok(sentence) if sentence.starts_document() && !sentences.is_empty() => {
                    self.next = Some(sentence);
                    break;
                }
                Ok(sentence) => sentences.push(sentence),
                Err(error) if sentences.is_empty() => return Some(Err(error)),
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
        }
        (!sentences.is_empty()).then(|| Ok(Document::from_sentences(sentences)))
    }
}
