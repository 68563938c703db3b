//! Sentences of CoNLL-U files as columns, batch by batch.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, StringBuilder};
use arrow_array::{Array as _, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use consonant_text::input::Input;
use consonant_text::{Layer, RowId, Sentence, SentenceReader};

use super::{Words, list};
use crate::Error;

/// Reads files of CoNLL-U, compressed or not, in memory that does not grow with them. A row is a sentence:
///
/// - `doc` and `id`: what its comments call its document and it; `text`;
/// - `tokens`: a list of `{text, lemma, upos, xpos, feats, head, deprel, deps, misc, entity}`, one for each word;
/// - `multiword`: a list of `{start, end, text}` over words, counted from 0, end exclusive.
///
/// What nobody has said is null.
#[derive(Debug)]
pub struct ConlluReader {
    files: VecDeque<PathBuf>,
    open: Option<SentenceReader<Input>>,
    doc: Option<String>,
    size: usize,
    schema: SchemaRef,
}

impl ConlluReader {
    /// Opens the first of the files; batches have `size` sentences at most.
    ///
    /// # Errors
    /// If it cannot be opened. The others are opened when it is their turn, and what is wrong with them stands in the stream.
    pub fn open(files: impl IntoIterator<Item = PathBuf>, size: usize) -> Result<Self, Error> {
        let mut files: VecDeque<PathBuf> = files.into_iter().collect();
        let open = files.pop_front().map(SentenceReader::open_conllu).transpose()?;
        let schema = Rows::default().finish().map_err(Error::task)?.schema();
        Ok(Self { files, open, doc: None, size: size.max(1), schema })
    }

    fn read(&mut self) -> Result<Option<RecordBatch>, Error> {
        let (mut rows, mut sentence) = (Rows::default(), Sentence::new());
        while rows.words.lengths.len() < self.size {
            let Some(open) = &mut self.open else { break };
            if open.read(&mut sentence)? {
                if sentence.starts_document() {
                    self.doc = sentence.document_id().map(str::to_owned);
                }
                rows.sentence(&sentence, self.doc.as_deref());
            } else {
                self.doc = None;
                self.open = self.files.pop_front().map(SentenceReader::open_conllu).transpose()?;
            }
        }
        if rows.words.lengths.is_empty() {
            return Ok(None);
        }
        rows.finish().map(Some).map_err(Error::task)
    }
}

impl Iterator for ConlluReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.read();
        if read.is_err() {
            // A stream of columns ends with its first error.
            (self.open, self.files) = (None, VecDeque::new());
        }
        read.map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose()
    }
}

impl RecordBatchReader for ConlluReader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Sentences in the columns of [`ConlluReader`].
pub fn sentence_batch(sentences: &[Sentence], doc: Option<&str>) -> Result<RecordBatch, Error> {
    let mut rows = Rows::default();
    sentences.iter().for_each(|sentence| rows.sentence(sentence, doc));
    rows.finish().map_err(Error::task)
}

const MORE: [(&str, Layer); 3] = [("deps", Layer::Deps), ("misc", Layer::Misc), ("entity", Layer::Entity)];

#[derive(Default)]
struct Rows {
    doc: StringBuilder,
    id: StringBuilder,
    text: StringBuilder,
    words: Words,
    more: [StringBuilder; MORE.len()],
    multiwords: Vec<usize>,
    start: Int32Builder,
    end: Int32Builder,
    written: StringBuilder,
}

impl Rows {
    fn sentence(&mut self, sentence: &Sentence, doc: Option<&str>) {
        self.doc.append_option(doc);
        self.id.append_option(sentence.id());
        self.text.append_value(sentence.text());
        self.words.sentence(sentence);
        for ((_, layer), column) in MORE.iter().zip(&mut self.more) {
            (0..sentence.len()).for_each(|word| column.append_option(sentence.get(word, *layer)));
        }
        let mut count = 0;
        for row in sentence.rows() {
            if let RowId::Multiword(first, last) = row.id() {
                self.start.append_value(first as i32 - 1);
                self.end.append_value(last as i32);
                self.written.append_value(row.layer(Layer::Form));
                count += 1;
            }
        }
        self.multiwords.push(count);
    }

    fn finish(mut self) -> Result<RecordBatch, ArrowError> {
        let column = |column: &mut StringBuilder| Arc::new(column.finish()) as ArrayRef;
        let more =
            MORE.iter().zip(&mut self.more).map(|((name, _), builder)| (*name, column(builder))).collect();
        let multiword: Vec<(&str, ArrayRef)> = vec![
            ("start", Arc::new(self.start.finish())),
            ("end", Arc::new(self.end.finish())),
            ("text", column(&mut self.written)),
        ];
        let columns: [(&str, ArrayRef); 5] = [
            ("doc", column(&mut self.doc)),
            ("id", column(&mut self.id)),
            ("text", column(&mut self.text)),
            ("tokens", self.words.finish(more)),
            ("multiword", Arc::new(list(self.multiwords, multiword, None))),
        ];
        let fields = columns.iter().map(|(name, column)| Field::new(*name, column.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<Field>>()));
        RecordBatch::try_new(schema, columns.into_iter().map(|(_, column)| column).collect())
    }
}
