//! Columns of text, annotated: what Python, Spark, Ray and their like hand over and take back.
//!
//! To the columns of a record batch come two, both null where the text is:
//!
//! - `sentences`: a list of `{text, start, end, tokens}`, where `tokens` is a list of `{text, lemma, upos, xpos, feats, head, deprel, start, end}`;
//! - `entities`: a list of `{text, label, sentence, first, last, start, end}`.
//!
//! `start` and `end` are characters (Unicode code points) of the text, end exclusive; `head` is a token counted from 1, 0 for the
//! root; `sentence`, `first` and `last` count sentences and tokens from 0, `last` is the token behind the name. What nobody has said is null.
//!
//! [`ConlluReader`] reads files of CoNLL-U as a stream of such columns. [`table`], a feature, has files of Parquet and JSONL.

mod conllu;
#[cfg(feature = "parquet")]
pub mod table;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::builder::{Int32Builder, StringBuilder};
use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, ListArray, RecordBatch, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields, Schema};
use consonant_task::Usage;
use consonant_text::document::CharOffsets;
use consonant_text::{Document, Layer, Sentence};

pub use arrow_array::RecordBatch as Batch;
pub use conllu::{ConlluReader, sentence_batch};

use crate::{Error, Pipeline};

/// Texts, and bytes of them, that are annotated before their columns are written: memory does not grow with the batch.
const CHUNK: (usize, usize) = (256, 1 << 20);

/// Adds the columns `sentences` and `entities` to a batch that has a column of text. The text is read where it lies. Whoever raises
/// `stop` has no use for the columns any more: the work then ends soon, with an error.
pub fn annotate_batch(
    pipeline: &Pipeline,
    batch: &RecordBatch,
    text: &str,
    stop: Option<&AtomicBool>,
) -> Result<RecordBatch, Error> {
    let texts = texts(batch, text)?;
    let schema = batch.schema();
    if let Some(taken) = [SENTENCES, ENTITIES].into_iter().find(|name| schema.index_of(name).is_ok()) {
        return Err(Usage(format!("there is a column `{taken}` already; drop or rename it")).into());
    }
    let mut sentences = Sentences::default();
    let mut entities = Entities::default();
    for chunk in chunks(&texts) {
        if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(Usage("the work was stopped".to_owned()).into());
        }
        let given: Vec<&str> = chunk.iter().flatten().copied().collect();
        let mut annotated = pipeline.annotate_all(&given)?.into_iter();
        for text in chunk {
            let document = text.and_then(|_| annotated.next()).map(|annotated| annotated.document);
            sentences.document(document.as_ref());
            entities.document(document.as_ref());
        }
    }
    let present = NullBuffer::from_iter(texts.iter().map(Option::is_some));
    let added = [(SENTENCES, sentences.finish(present.clone())), (ENTITIES, entities.finish(present))];
    let fields = schema.fields().iter().cloned().chain(
        added.iter().map(|(name, column)| Arc::new(Field::new(*name, column.data_type().clone(), true))),
    );
    let wide = Schema::new_with_metadata(fields.collect::<Fields>(), schema.metadata().clone());
    let columns = batch.columns().iter().cloned().chain(added.into_iter().map(|(_, column)| column));
    RecordBatch::try_new(Arc::new(wide), columns.collect()).map_err(Error::task)
}

/// Texts in pieces that are annotated side by side.
fn chunks<'a, 'b>(mut texts: &'b [Option<&'a str>]) -> impl Iterator<Item = &'b [Option<&'a str>]> {
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let full = |text: &Option<&str>| {
            bytes += text.map_or(0, str::len);
            bytes > CHUNK.1
        };
        let count = texts.iter().take(CHUNK.0).position(full).map_or(CHUNK.0, |last| last + 1);
        let (chunk, rest) = texts.split_at(count.min(texts.len()));
        texts = rest;
        (!chunk.is_empty()).then_some(chunk)
    })
}

/// One batch of several that have the same columns.
pub fn concatenate(batches: &[RecordBatch]) -> Result<Option<RecordBatch>, Error> {
    let Some(first) = batches.first() else { return Ok(None) };
    if batches.len() == 1 {
        return Ok(Some(first.clone()));
    }
    arrow_select::concat::concat_batches(&first.schema(), batches).map(Some).map_err(Error::task)
}

const SENTENCES: &str = "sentences";
const ENTITIES: &str = "entities";

/// The texts of a column.
pub fn texts<'a>(batch: &'a RecordBatch, name: &str) -> Result<Vec<Option<&'a str>>, Error> {
    strings(batch.column(known(batch.schema_ref(), name)?), name)
}

/// Where a column stands.
fn known(schema: &Schema, column: &str) -> Result<usize, Usage> {
    schema.index_of(column).map_err(|_| {
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        Usage(format!("there is no column `{column}`; the columns are {}", names.join(", ")))
    })
}

fn strings<'a>(column: &'a ArrayRef, name: &str) -> Result<Vec<Option<&'a str>>, Error> {
    match column.data_type() {
        DataType::Utf8 => Ok(column.as_string::<i32>().iter().collect()),
        DataType::LargeUtf8 => Ok(column.as_string::<i64>().iter().collect()),
        DataType::Utf8View => Ok(column.as_string_view().iter().collect()),
        // A column of nothing but nulls has no type.
        DataType::Null => Ok(vec![None; column.len()]),
        other => Err(Usage(format!("the column `{name}` is {other}; expected text")).into()),
    }
}

/// A list of structs for each row, built flat.
fn list(
    lengths: Vec<usize>,
    columns: Vec<(&'static str, ArrayRef)>,
    present: Option<NullBuffer>,
) -> ListArray {
    let field = |(name, column): &(&str, ArrayRef)| Field::new(*name, column.data_type().clone(), true);
    let fields: Fields = columns.iter().map(field).collect();
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    let rows: ArrayRef = Arc::new(StructArray::new(fields, columns, None));
    let item = Arc::new(Field::new("item", rows.data_type().clone(), true));
    ListArray::new(item, OffsetBuffer::from_lengths(lengths), rows, present)
}

/// The layers of words as columns, and the number of words of each sentence.
#[derive(Default)]
struct Words {
    lengths: Vec<usize>,
    layers: [StringBuilder; LAYERS.len()],
    head: Int32Builder,
}

const LAYERS: [(&str, Layer); 6] = [
    ("text", Layer::Form),
    ("lemma", Layer::Lemma),
    ("upos", Layer::Upos),
    ("xpos", Layer::Xpos),
    ("feats", Layer::Feats),
    ("deprel", Layer::Deprel),
];

impl Words {
    fn sentence(&mut self, sentence: &Sentence) {
        self.lengths.push(sentence.len());
        for ((_, layer), column) in LAYERS.iter().zip(&mut self.layers) {
            (0..sentence.len()).for_each(|word| column.append_option(sentence.get(word, *layer)));
        }
        for word in 0..sentence.len() {
            self.head.append_option(sentence.head(word).map(|head| head as i32));
        }
    }

    /// A list of words for each sentence, with further columns beside the layers.
    fn finish(mut self, more: Vec<(&'static str, ArrayRef)>) -> ArrayRef {
        let layers = LAYERS.iter().zip(&mut self.layers);
        let mut columns: Vec<(&str, ArrayRef)> =
            layers.map(|((name, _), column)| (*name, Arc::new(column.finish()) as ArrayRef)).collect();
        columns.insert(LAYERS.len() - 1, ("head", Arc::new(self.head.finish())));
        columns.extend(more);
        Arc::new(list(self.lengths, columns, None))
    }
}

#[derive(Default)]
struct Sentences {
    sentences: Vec<usize>,
    text: StringBuilder,
    start: Int32Builder,
    end: Int32Builder,
    words: Words,
    word_start: Int32Builder,
    word_end: Int32Builder,
}

impl Sentences {
    fn document(&mut self, document: Option<&Document>) {
        let Some(document) = document else { return self.sentences.push(0) };
        self.sentences.push(document.sentences().len());
        let mut offsets = CharOffsets::new(document.text());
        for (number, sentence) in document.sentences().iter().enumerate() {
            let place = document.sentence_place(number);
            self.text.append_value(&document.text()[place.clone()]);
            self.start.append_value(offsets.at(place.start) as i32);
            self.words.sentence(sentence);
            for word in document.word_spans(number) {
                let word = offsets.range(word);
                self.word_start.append_value(word.start as i32);
                self.word_end.append_value(word.end as i32);
            }
            self.end.append_value(offsets.at(place.end) as i32);
        }
    }

    fn finish(mut self, present: NullBuffer) -> ArrayRef {
        let places: Vec<(&str, ArrayRef)> =
            vec![("start", Arc::new(self.word_start.finish())), ("end", Arc::new(self.word_end.finish()))];
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("text", Arc::new(self.text.finish())),
            ("start", Arc::new(self.start.finish())),
            ("end", Arc::new(self.end.finish())),
            ("tokens", self.words.finish(places)),
        ];
        Arc::new(list(self.sentences, columns, Some(present)))
    }
}

#[derive(Default)]
struct Entities {
    entities: Vec<usize>,
    text: StringBuilder,
    label: StringBuilder,
    numbers: [Int32Builder; 5],
}

impl Entities {
    fn document(&mut self, document: Option<&Document>) {
        let Some(document) = document else { return self.entities.push(0) };
        let mentions = document.mentions();
        self.entities.push(mentions.len());
        let mut offsets = CharOffsets::new(document.text());
        for mention in mentions {
            self.text.append_value(&document.text()[mention.place.clone()]);
            self.label.append_value(mention.kind);
            let place = offsets.range(mention.place);
            let numbers = [mention.sentence, mention.words.start, mention.words.end, place.start, place.end];
            self.numbers
                .iter_mut()
                .zip(numbers)
                .for_each(|(column, number)| column.append_value(number as i32));
        }
    }

    fn finish(mut self, present: NullBuffer) -> ArrayRef {
        let mut columns: Vec<(&str, ArrayRef)> =
            vec![("text", Arc::new(self.text.finish())), ("label", Arc::new(self.label.finish()))];
        let names = ["sentence", "first", "last", "start", "end"];
        columns.extend(
            names.iter().zip(&mut self.numbers).map(|(name, c)| (*name, Arc::new(c.finish()) as ArrayRef)),
        );
        Arc::new(list(self.entities, columns, Some(present)))
    }
}
