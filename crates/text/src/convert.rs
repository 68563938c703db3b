//! Between formats, as a stream.
//!
//! ```
//! use consonant_text::convert::{Conversion, convert};
//! use consonant_text::{Format, Scheme, input::Input};
//!
//! let input = Input::new("EU\tB-ORG\nrejects\tO\n\n".as_bytes(), "a.tsv")?;
//! let conversion = Conversion { scheme: Some(Scheme::Bioes), ..Conversion::new(Format::Columns, Format::Conllu) };
//! let mut out = Vec::new();
//! convert([Ok(input)], &conversion, &mut out)?;
//! assert!(String::from_utf8(out)?.starts_with("1\tEU\t_\t_\t_\t_\t_\t_\t_\tNER=S-ORG\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;

use crate::columns::{Columns, DOCUMENT_MARK};
use crate::entity::{Entity, Scheme, SchemeEvidence, decode_any};
use crate::error::{Error, Fault, Kind, excerpt};
use crate::format::Format;
use crate::input::{DEFAULT_MAX_LENGTH, Input};
use crate::jsonl::{AnyRecord, JsonlReader, SentenceRecord, write_record};
use crate::plain::ParagraphReader;
use crate::reader::SentenceReader;
use crate::sentence::{EditError, Layer, Sentence, SentenceBuilder};

/// From which format to which, and how.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The format that comes in; each input is told by name and content if not given.
    pub from: Option<Format>,
    /// The format that goes out.
    pub to: Format,
    /// The scheme that entity labels come in; if not given, what the first thousand sentences of a file look
    /// like.
    pub source_scheme: Option<Scheme>,
    /// The scheme that entity labels go out in; they are not touched if not given.
    pub scheme: Option<Scheme>,
    /// Whether to repair labels that break the source's scheme rather than refuse them.
    pub repair: bool,
    /// Which column holds what, in columns that come in.
    pub columns: Columns,
    /// The longest line or sentence in bytes.
    pub max_length: usize,
}

impl Conversion {
    /// From one format to another, with nothing else changed.
    pub fn new(from: impl Into<Option<Format>>, to: Format) -> Self {
        Conversion {
            from: from.into(),
            to,
            source_scheme: None,
            scheme: None,
            repair: false,
            columns: Columns::default(),
            max_length: DEFAULT_MAX_LENGTH,
        }
    }

    fn impossible(&self, reason: &'static str) -> Error {
        self.failed(reason.into())
    }

    fn failed(&self, reason: Cow<'static, str>) -> Error {
        Error::Convert { from: self.from.map_or("data", Format::name), to: self.to.name(), reason }
    }
}

/// Converts inputs, one after the other; says how many sentences, records or paragraphs there were.
///
/// From a format to itself it is the identity, byte for byte, but for labels if a scheme is asked for.
///
/// # Errors
/// The first thing that is wrong with the inputs, a conversion that cannot be made, or a failure to write.
pub fn convert(
    inputs: impl IntoIterator<Item = Result<Input, Error>>,
    conversion: &Conversion,
    out: &mut impl Write,
) -> Result<u64, Error> {
    let mut sink = Sink { out, ends: [b'\n'; 2], format: conversion.to, paragraph_open: false };
    let mut count = 0;
    for input in inputs {
        let mut input = input?;
        let name = Arc::clone(input.name());
        let from = conversion.from.map_or_else(|| input.format(), Ok)?;
        let conversion = &Conversion { from: Some(from), ..conversion.clone() };
        if from == Format::Text && matches!(conversion.to, Format::Conllu | Format::Columns) {
            let reason = "raw text must be cut into tokens first, as `consonant annotate` does";
            return Err(conversion.impossible(reason));
        }
        sink.separate().map_err(output_error)?;
        count += match from {
            Format::Conllu => sentences(SentenceReader::conllu(input, name), conversion, &mut sink)?,
            Format::Columns => {
                let reader = SentenceReader::columns(input, name, conversion.columns.clone());
                sentences(reader, conversion, &mut sink)?
            }
            Format::Jsonl => records(JsonlReader::new(input, name), conversion, &mut sink)?,
            Format::Text => paragraphs(input, name, conversion, &mut sink)?,
        };
    }
    sink.finish().map_err(output_error)?;
    Ok(count)
}

fn output_error(error: io::Error) -> Error {
    Error::io(&"<output>".into(), error)
}

/// The output, with enough memory to keep what follows apart from what came before.
struct Sink<'a, W> {
    out: &'a mut W,
    ends: [u8; 2],
    format: Format,
    /// In text, whether a sentence may follow on the same line.
    paragraph_open: bool,
}

impl<W: Write> Write for Sink<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        match bytes[..count] {
            [] => {}
            [last] => self.ends = [self.ends[1], last],
            [.., before, last] => self.ends = [before, last],
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Sink<'_, W> {
    /// Ends a file that lacks its last line end or blank line, before another follows.
    fn separate(&mut self) -> io::Result<()> {
        if self.ends[1] != b'\n' && !self.paragraph_open {
            self.write_all(b"\n")?;
        }
        if matches!(self.format, Format::Conllu | Format::Columns)
            && !matches!(self.ends, [b'\n' | b'\r', b'\n'])
        {
            self.write_all(b"\n")?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.paragraph_open {
            self.write_all(b"\n")?;
        }
        self.flush()
    }

    /// Writes a sentence's text: after a space, or after a blank line where a paragraph starts.
    fn text(&mut self, text: &str, starts_paragraph: bool, space_before: bool) -> io::Result<()> {
        if self.paragraph_open {
            self.write_all(match (starts_paragraph, space_before) {
                (true, _) => b"\n\n",
                (false, true) => b" ",
                (false, false) => b"",
            })?;
        }
        self.paragraph_open = true;
        self.write_all(text.as_bytes())
    }
}

fn sentences<W: Write>(
    reader: SentenceReader<Input>,
    conversion: &Conversion,
    sink: &mut Sink<'_, W>,
) -> Result<u64, Error> {
    let mut reader = reader.max_length(conversion.max_length);
    let name = Arc::clone(reader.name());
    let mut first = Vec::new();
    let mut failed = None;
    let mut schemes = None;
    if conversion.scheme.is_some() || conversion.source_scheme.is_some() {
        let source = match conversion.source_scheme {
            Some(scheme) => scheme,
            None => {
                failed = reader.read_batch(&mut first, SENTENCES_TO_DETECT).err();
                detect(&first)
            }
        };
        schemes = Some((source, conversion.scheme.unwrap_or(source)));
    }
    let mut count = 0;
    let mut space_before = true;
    let mut write = |sentence: &mut Sentence| {
        count += 1;
        if let Some((source, target)) = schemes {
            relabel(sentence, &name, source, target, conversion)?;
        }
        if conversion.to == Format::Text {
            sink.text(&sentence.text(), sentence.starts_paragraph(), space_before).map_err(output_error)?;
            space_before = sentence.surface_tokens().last().is_none_or(|token| token.space_after);
            return Ok(());
        }
        emit(sentence, conversion, sink)
    };
    first.iter_mut().try_for_each(&mut write)?;
    if let Some(error) = failed {
        return Err(error);
    }
    let mut sentence = Sentence::new();
    while reader.read(&mut sentence)? {
        write(&mut sentence)?;
    }
    if conversion.from == Some(conversion.to) {
        sink.write_all(reader.trailer().as_bytes()).map_err(output_error)?;
    }
    Ok(count)
}

/// How many sentences are looked at to tell the scheme of their labels.
const SENTENCES_TO_DETECT: usize = 1000;

fn detect(sentences: &[Sentence]) -> Scheme {
    let mut evidence = SchemeEvidence::default();
    for sentence in sentences {
        let labels: Vec<&str> = (0..sentence.len()).map(|word| sentence.entity_label(word)).collect();
        evidence.add(&labels);
    }
    evidence.scheme()
}

/// Writes a sentence in any format but text.
fn emit<W: Write>(sentence: &Sentence, conversion: &Conversion, sink: &mut Sink<'_, W>) -> Result<(), Error> {
    let in_conllu;
    let sentence =
        if !sentence.layout().is_conllu() && matches!(conversion.to, Format::Conllu | Format::Jsonl) {
            in_conllu = to_conllu(sentence).map_err(|error| edit_error(&error, conversion))?;
            &in_conllu
        } else {
            sentence
        };
    match conversion.to {
        Format::Conllu => sentence.write(sink),
        Format::Columns if !sentence.layout().is_conllu() => sentence.write(sink),
        Format::Columns => write_columns(sentence, sink),
        Format::Jsonl => write_record(&SentenceRecord::from(sentence), sink),
        Format::Text => sink.text(&sentence.text(), sentence.starts_paragraph(), true),
    }
    .map_err(output_error)
}

/// Rewrites the entity labels of a sentence in the scheme that is asked for.
fn relabel(
    sentence: &mut Sentence,
    file: &Arc<str>,
    source: Scheme,
    target: Scheme,
    conversion: &Conversion,
) -> Result<(), Error> {
    let labels: Vec<&str> = (0..sentence.len()).map(|word| sentence.entity_label(word)).collect();
    let entities: Vec<Entity<'_>> = if conversion.repair {
        decode_any(&labels)
    } else {
        source.decode(&labels).map_err(|error| {
            let place = (sentence.line_of_word(error.word), label_column(sentence, error.word));
            let came = format!("{} {}", excerpt(&error.label), error.after);
            Fault::new(Kind::LabelSequence, format!("labels in {source}"), came, error.hint).at(file, place)
        })?
    };
    let mut new = target.encode(&entities, labels.len());
    for (label, old) in new.iter_mut().zip(&labels) {
        if label == old {
            label.clear();
        }
    }
    for (word, label) in new.iter().enumerate().filter(|(_, label)| !label.is_empty()) {
        sentence.set(word, Layer::Entity, label).map_err(|error| edit_error(&error, conversion))?;
    }
    Ok(())
}

/// The character of its line at which a word's label stands.
fn label_column(sentence: &Sentence, word: usize) -> u64 {
    let layout = sentence.layout();
    let column = layout.column(Layer::Entity).or_else(|| layout.column(Layer::Misc));
    sentence.row_of_word(word).character(column.unwrap_or(0))
}

fn edit_error(error: &EditError, conversion: &Conversion) -> Error {
    conversion.failed(error.to_string().into())
}

/// A columns sentence as CoNLL-U; labels other than `O` go to MISC.
///
/// # Errors
/// If a value cannot stand in CoNLL-U.
pub fn to_conllu(sentence: &Sentence) -> Result<Sentence, EditError> {
    let mut builder = SentenceBuilder::new();
    if sentence.starts_document() {
        builder.comment("newdoc", "");
    }
    for comment in sentence.comments() {
        builder.raw_comment(comment);
    }
    for word in 0..sentence.len() {
        builder.word(sentence.form(word), true);
    }
    let mut converted = builder.finish();
    for word in 0..sentence.len() {
        for layer in Layer::ALL.into_iter().filter(|layer| !matches!(layer, Layer::Form | Layer::Misc)) {
            match sentence.get(word, layer) {
                None => {}
                Some("O") if layer == Layer::Entity => {}
                Some(value) => converted.set(word, layer, value)?,
            }
        }
        converted.set_head(word, sentence.head(word))?;
    }
    Ok(converted)
}

fn write_columns(sentence: &Sentence, out: &mut impl Write) -> io::Result<()> {
    if sentence.starts_document() {
        writeln!(out, "{DOCUMENT_MARK}\tO\n")?;
    }
    for word in 0..sentence.len() {
        writeln!(out, "{}\t{}", sentence.form(word), sentence.entity_label(word))?;
    }
    writeln!(out)
}

fn records<W: Write>(
    reader: JsonlReader<Input, AnyRecord>,
    conversion: &Conversion,
    sink: &mut Sink<'_, W>,
) -> Result<u64, Error> {
    let mut reader = reader.max_length(conversion.max_length);
    let mut count = 0;
    while let Some((_, record)) = reader.read()? {
        count += 1;
        if conversion.to == Format::Jsonl {
            write_record(&record, sink).map_err(output_error)?;
            continue;
        }
        match (&record, conversion.to) {
            (AnyRecord::Sentence(record), _) => emit(&record.to_sentence()?, conversion, sink)?,
            (AnyRecord::Compression(pair), Format::Text) => {
                sink.text(&pair.tokens.join(" "), true, true).map_err(output_error)?;
            }
            (AnyRecord::Compression(pair), _) => {
                // Deletion is a label of two values: every word says whether it is kept.
                let mut builder = SentenceBuilder::new();
                builder.comment("sent_id", &pair.id);
                pair.tokens.iter().for_each(|token| builder.word(token, true));
                let mut sentence = builder.finish();
                for (word, keep) in pair.keep.iter().enumerate() {
                    let label = if *keep == 1 { "KEEP" } else { "O" };
                    sentence
                        .set(word, Layer::Entity, label)
                        .map_err(|error| edit_error(&error, conversion))?;
                }
                emit(&sentence, conversion, sink)?;
            }
            (AnyRecord::Topic(topic), Format::Text) => {
                for document in &topic.documents {
                    sink.text(document.text.trim_end(), true, true).map_err(output_error)?;
                }
            }
            (AnyRecord::Text(record), Format::Text) => {
                for text in record.title.iter().chain([&record.text]).map(|text| text.trim()) {
                    sink.text(text, true, true).map_err(output_error)?;
                }
            }
            (AnyRecord::Thread(thread), Format::Text) => {
                for unit in &thread.units {
                    sink.text(&unit.text, true, true).map_err(output_error)?;
                }
            }
            (AnyRecord::Topic(_) | AnyRecord::Thread(_) | AnyRecord::Text(_), _) => {
                return Err(conversion.impossible(
                    "documents and conversations are raw text: convert them to text, or annotate them",
                ));
            }
        }
    }
    if conversion.to == Format::Jsonl {
        sink.write_all(reader.trailer().as_bytes()).map_err(output_error)?;
    }
    Ok(count)
}

fn paragraphs<W: Write>(
    mut input: Input,
    name: Arc<str>,
    conversion: &Conversion,
    sink: &mut Sink<'_, W>,
) -> Result<u64, Error> {
    if conversion.to == Format::Text {
        return io::copy(&mut input, sink).map(|_| 0).map_err(|error| Error::io(&name, error));
    }
    let mut count = 0;
    for paragraph in ParagraphReader::new(input, name).max_length(conversion.max_length) {
        let paragraph = paragraph?;
        count += 1;
        let end = paragraph.character + paragraph.text.chars().count() as u64;
        let line = serde_json::json!({
            "id": count.to_string(),
            "text": paragraph.text,
            "start": paragraph.character,
            "end": end,
        });
        writeln!(sink, "{line}").map_err(output_error)?;
    }
    Ok(count)
}
