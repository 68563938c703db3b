//! Tables in files: rows that have a text, from Parquet or JSONL, and Parquet that is written batch by batch.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use consonant_text::input::{Input, LARGEST_MAX_LENGTH};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::{known, strings, texts};
use crate::Error;

/// Rows that are read together, and bytes of JSONL after which they are enough.
const BATCH: (usize, usize) = (128, 1 << 22);
/// Bytes of encoded columns after which a row group is written: what a writer holds in memory.
const GROUP: usize = 8 << 20;
/// How a file of Parquet begins.
const MAGIC: &[u8] = b"PAR1";

/// A table that cannot be read or written: what is wrong, with the file and the place in it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TableError(String);

impl From<TableError> for Error {
    fn from(error: TableError) -> Self {
        Self::task(error)
    }
}

/// Which columns of a table matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// The one that has the texts.
    pub text: String,
    /// The one that names the rows, if one does.
    pub id: Option<String>,
}

impl Columns {
    /// What each row of a batch is called and says. Where no column names rows, the file's name and a number do, which is `first` for the first
    /// row.
    pub fn rows<'a>(&self, batch: &'a RecordBatch, name: &str, first: u64) -> Result<Vec<Row<'a>>, Error> {
        let at = |column: &str| known(&batch.schema(), column).map(|at| batch.column(at));
        let texts = texts(batch, &self.text)?;
        let ids = match &self.id {
            Some(column) => ids(at(column)?, column)?,
            None => (first..).take(texts.len()).map(|row| Some(format!("{name}:{row}"))).collect(),
        };
        Ok(texts.into_iter().zip(ids).map(|(text, id)| Row { id, text }).collect())
    }
}

/// Whether a file is Parquet, whatever its name says.
pub fn is_parquet(path: &Path) -> bool {
    let mut head = [0; MAGIC.len()];
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok()
        && head == *MAGIC
}

/// Reads the rows of a file, batch by batch, in memory that does not grow with it. Parquet keeps all of its columns; of JSONL, an
/// object a line, only the text and the id are kept, as text.
#[derive(Debug)]
pub struct TableReader {
    name: Arc<str>,
    columns: Columns,
    rows: Rows,
    /// How many the file has given so far.
    read: u64,
    /// What was read and not yet asked for.
    ahead: Option<RecordBatch>,
    schema: SchemaRef,
    started: bool,
}

enum Rows {
    Parquet(Box<ParquetRecordBatchReader>),
    /// With the number of lines that were read.
    Jsonl(BufReader<Input>, u64),
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Parquet(_) => "Parquet",
            Self::Jsonl(..) => "Jsonl",
        })
    }
}

impl TableReader {
    /// Opens a file of Parquet.
    ///
    /// # Errors
    /// If it cannot be read, or has no such columns.
    pub fn parquet(path: &Path, columns: Columns) -> Result<Self, Error> {
        let name: Arc<str> = path.to_string_lossy().into();
        let placed = |error: &dyn std::fmt::Display| Error::from(TableError(format!("{name}: {error}")));
        let file = File::open(path).map_err(|error| placed(&error))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| placed(&error))?;
        let schema = Arc::clone(builder.schema());
        for column in [Some(&columns.text), columns.id.as_ref()].into_iter().flatten() {
            known(&schema, column).map_err(|error| placed(&error))?;
        }
        let rows = builder.with_batch_size(BATCH.0).build().map_err(|error| placed(&error))?;
        let rows = Rows::Parquet(Box::new(rows));
        Ok(Self { name, columns, rows, read: 0, ahead: None, schema, started: false })
    }

    /// Reads JSONL.
    pub fn jsonl(input: Input, columns: Columns) -> Self {
        let fields = columns.id.iter().chain([&columns.text]);
        let fields: Vec<Field> = fields.map(|name| Field::new(name, DataType::Utf8, true)).collect();
        let (name, schema) = (Arc::clone(input.name()), Arc::new(Schema::new(fields)));
        let rows = Rows::Jsonl(BufReader::new(input), 0);
        Self { name, columns, rows, read: 0, ahead: None, schema, started: false }
    }

    /// The next rows, `most` of them or fewer, and the number of the first; nothing at the end. There is one batch at least, so that
    /// the columns are known.
    pub fn read(&mut self, most: usize) -> Result<Option<(u64, RecordBatch)>, Error> {
        if self.is_done()? && self.started {
            return Ok(None);
        }
        self.started = true;
        let Some(batch) = self.ahead.take() else {
            let empty = RecordBatch::new_empty(Arc::clone(&self.schema));
            return Ok(Some((0, self.decoded(empty)?)));
        };
        let (first, count) = (self.read - batch.num_rows() as u64, batch.num_rows().min(most));
        if count < batch.num_rows() {
            self.ahead = Some(batch.slice(count, batch.num_rows() - count));
        }
        Ok(Some((first, batch.slice(0, count))))
    }

    /// Passes over rows.
    pub fn skip(&mut self, mut rows: usize) -> Result<(), Error> {
        while rows > 0
            && let Some((_, batch)) = self.read(rows)?
        {
            rows -= batch.num_rows();
        }
        Ok(())
    }

    /// Whether there are no more rows.
    pub fn is_done(&mut self) -> Result<bool, Error> {
        while self.ahead.is_none() {
            let Some(batch) = self.batch()? else { return Ok(true) };
            self.read += batch.num_rows() as u64;
            self.ahead = Some(batch).filter(|batch| batch.num_rows() > 0);
        }
        Ok(false)
    }

    /// The name that appears in messages.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    fn batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        match &mut self.rows {
            Rows::Parquet(rows) => {
                let batch = rows.next().transpose();
                let batch = batch.map_err(|error| TableError(format!("{}: {error}", self.name)))?;
                batch.map(|batch| self.decoded(batch)).transpose()
            }
            Rows::Jsonl(..) => self.lines(),
        }
    }

    /// The batch with its bytes read as text.
    fn decoded(&self, batch: RecordBatch) -> Result<RecordBatch, Error> {
        let at = known(&batch.schema(), &self.columns.text)?;
        let column = batch.column(at);
        let bytes: Vec<Option<&[u8]>> = match column.data_type() {
            DataType::Binary => column.as_binary::<i32>().iter().collect(),
            DataType::LargeBinary => column.as_binary::<i64>().iter().collect(),
            DataType::BinaryView => column.as_binary_view().iter().collect(),
            _ => return Ok(batch),
        };
        let mut texts = StringBuilder::new();
        for (row, bytes) in bytes.into_iter().enumerate() {
            texts.append_option(bytes.map(std::str::from_utf8).transpose().map_err(|error| {
                let (name, row, byte) = (&self.name, self.read + row as u64, error.valid_up_to());
                TableError(format!("{name}: row {row}: `{}` is not UTF-8 (byte {byte})", self.columns.text))
            })?);
        }
        let (mut fields, mut columns) = (batch.schema().fields().to_vec(), batch.columns().to_vec());
        fields[at] = Arc::new(Field::new(&self.columns.text, DataType::Utf8, true));
        columns[at] = Arc::new(texts.finish());
        let schema = Schema::new_with_metadata(fields, batch.schema().metadata().clone());
        RecordBatch::try_new(Arc::new(schema), columns).map_err(Error::task)
    }

    fn lines(&mut self) -> Result<Option<RecordBatch>, Error> {
        let Rows::Jsonl(lines, read) = &mut self.rows else { return Ok(None) };
        let (mut ids, mut texts) = (StringBuilder::new(), StringBuilder::new());
        let (mut line, mut bytes, mut count) = (Vec::new(), 0, 0);
        while count < BATCH.0 && bytes < BATCH.1 {
            line.clear();
            let most = LARGEST_MAX_LENGTH as u64;
            let length = lines
                .take(most)
                .read_until(b'\n', &mut line)
                .map_err(|error| TableError(format!("{}: {error}", self.name)))?;
            if length == 0 {
                break;
            }
            *read += 1;
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let number = *read;
            let placed = |error: String| TableError(format!("{}: line {number}: {error}", self.name));
            let record: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&line)
                .map_err(|error| placed(format!("expected an object: {error}")))?;
            let field = |column: &str| match record.get(column) {
                None => {
                    let names: Vec<&str> = record.keys().map(String::as_str).collect();
                    Err(placed(format!("there is no `{column}`; the fields are {}", names.join(", "))))
                }
                Some(serde_json::Value::Null) => Ok(None),
                Some(serde_json::Value::String(text)) => Ok(Some(text.clone())),
                Some(other) if column != self.columns.text => Ok(Some(other.to_string())),
                Some(_) => Err(placed(format!("`{column}` is not text"))),
            };
            texts.append_option(field(&self.columns.text)?);
            if let Some(id) = &self.columns.id {
                ids.append_option(field(id)?);
            }
            (bytes, count) = (bytes + length, count + 1);
        }
        if count == 0 {
            return Ok(None);
        }
        let mut columns: Vec<ArrayRef> = vec![Arc::new(texts.finish())];
        if self.columns.id.is_some() {
            columns.insert(0, Arc::new(ids.finish()));
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map(Some).map_err(Error::task)
    }
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row<'a> {
    /// What it is called; nothing, where the table says nothing.
    pub id: Option<String>,
    /// What it says.
    pub text: Option<&'a str>,
}

/// Text, or whole numbers in digits.
fn ids(column: &ArrayRef, name: &str) -> Result<Vec<Option<String>>, Error> {
    macro_rules! digits {
        ($($kind:ident => $values:ty),*) => {
            match column.data_type() {
                $(DataType::$kind => {
                    column.as_primitive::<$values>().iter().map(|id| id.map(|id| id.to_string())).collect()
                })*
                _ => strings(column, name)?.into_iter().map(|id| id.map(str::to_owned)).collect(),
            }
        };
    }
    Ok(digits!(Int8 => Int8Type, Int16 => Int16Type, Int32 => Int32Type, Int64 => Int64Type,
        UInt8 => UInt8Type, UInt16 => UInt16Type, UInt32 => UInt32Type, UInt64 => UInt64Type))
}

/// Writes batches as Parquet, compressed by Zstandard; a row group is written when it has 8 MB.
pub struct TableWriter<W: Write + Send> {
    state: State<W>,
}

enum State<W: Write + Send> {
    /// Until the columns are known.
    New(W),
    Open(Box<ArrowWriter<W>>, SchemaRef),
    Lost,
}

impl<W: Write + Send> std::fmt::Debug for TableWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableWriter").finish_non_exhaustive()
    }
}

impl<W: Write + Send> TableWriter<W> {
    /// Begins a file.
    pub fn new(out: W) -> Self {
        Self { state: State::New(out) }
    }

    /// Adds rows; the first batch says which columns there are, and who made them.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        if let State::New(_) = self.state
            && let State::New(out) = std::mem::replace(&mut self.state, State::Lost)
        {
            let level = ZstdLevel::try_new(3).map_err(Error::task)?;
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(level))
                .set_created_by(format!("consonant {}", env!("CARGO_PKG_VERSION")))
                .build();
            let writer = ArrowWriter::try_new(out, batch.schema(), Some(properties)).map_err(Error::task)?;
            self.state = State::Open(Box::new(writer), batch.schema());
        }
        let State::Open(writer, schema) = &mut self.state else { return Err(lost()) };
        if schema.fields() != batch.schema().fields() {
            return Err(
                TableError("its columns are not those of what was written before it".to_owned()).into()
            );
        }
        writer.write(batch).map_err(Error::task)?;
        if writer.in_progress_size() > GROUP {
            writer.flush().map_err(Error::task)?;
        }
        Ok(())
    }

    /// Ends the file and gives its place back.
    pub fn finish(self) -> Result<W, Error> {
        match self.state {
            State::New(_) => {
                Err(TableError("a file of Parquet has columns, and no input said which".to_owned()).into())
            }
            State::Open(writer, _) => writer.into_inner().map_err(Error::task),
            State::Lost => Err(lost()),
        }
    }
}

fn lost() -> Error {
    TableError("writing has failed before".to_owned()).into()
}
