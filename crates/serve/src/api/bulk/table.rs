//! Arrow's record batches with a column of text; the same with the columns `sentences` and `entities` besides.

use std::sync::Arc;
use std::{fmt, io};

use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;
use axum::body::{Body, Bytes};
use consonant::arrow::{Batch, annotate_batch, texts};

use super::super::{Lane, Work};
use super::{BATCH, Came, Source, more, silent};
use crate::problem::Problem;
use crate::shared::Shared;

/// The record batches of a body, as its pieces come.
pub struct Table {
    shared: Arc<Shared>,
    body: Body,
    /// The column of text.
    text: String,
    decoder: StreamDecoder,
    /// Bytes that came and were not looked at, and how many came since the last batch.
    rest: Buffer,
    came: usize,
    /// Rows of a batch that wait for their turn.
    rows: Option<Batch>,
    /// What writes the answer, once its columns are known.
    writer: Option<StreamWriter<Vec<u8>>>,
    is_over: bool,
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("text", &self.text).finish_non_exhaustive()
    }
}

impl Source for Table {
    const KIND: &'static str = "application/vnd.apache.arrow.stream";

    async fn next(&mut self) -> Result<Option<Vec<u8>>, Problem> {
        if self.is_over {
            return Ok(None);
        }
        let (piece, text, writer) = (self.piece().await?, self.text.clone(), self.writer.take());
        let (writer, bytes) = self
            .shared
            .work(Lane::Sentences, move |work| annotate_rows(work, piece.as_ref(), &text, writer))
            .await?;
        self.writer = Some(writer);
        Ok(Some(bytes))
    }

    /// The format has no place for an error: the answer breaks off.
    fn farewell(problem: Problem) -> io::Result<Bytes> {
        Err(io::Error::other(problem.detail))
    }
}

/// Annotates and writes rows; without any the end.
fn annotate_rows(
    work: &Work,
    rows: Option<&Batch>,
    text: &str,
    writer: Option<StreamWriter<Vec<u8>>>,
) -> Result<(StreamWriter<Vec<u8>>, Vec<u8>), Problem> {
    let mut writer = writer;
    if let Some(rows) = rows {
        work.check_words(texts(rows, text)?.into_iter().flatten())?;
        let annotated = annotate_batch(&*work.models.whole()?, rows, text, None)?;
        let into = match writer.take() {
            Some(writer) => writer,
            None => StreamWriter::try_new(Vec::new(), &annotated.schema()).map_err(broken)?,
        };
        writer.insert(into).write(&annotated).map_err(broken)?;
    }
    let mut writer =
        writer.ok_or_else(|| Problem::bad("the body has no columns: it is no stream of Arrow"))?;
    if rows.is_none() {
        writer.finish().map_err(broken)?;
    }
    let bytes = std::mem::take(writer.get_mut());
    Ok((writer, bytes))
}

impl Table {
    pub fn new(shared: Arc<Shared>, body: Body, text: String) -> Self {
        Self {
            shared,
            body,
            text,
            decoder: StreamDecoder::new(),
            rest: Buffer::default(),
            came: 0,
            rows: None,
            writer: None,
            is_over: false,
        }
    }

    /// The next rows, about as many as are annotated together; none at the end. A stream without rows has one piece without rows, so that its columns
    /// are known.
    async fn piece(&mut self) -> Result<Option<Batch>, Problem> {
        while self.rows.is_none() {
            if !self.rest.is_empty() {
                self.rows = self.decoder.decode(&mut self.rest).map_err(broken)?;
                continue;
            }
            match more(&mut self.body, self.shared.limits.silence()).await? {
                Came::Nothing => return Err(silent()),
                Came::End => {
                    self.decoder.finish().map_err(broken)?;
                    if self.writer.is_none()
                        && let Some(schema) = self.decoder.schema()
                    {
                        return Ok(Some(Batch::new_empty(schema)));
                    }
                    self.is_over = true;
                    return Ok(None);
                }
                Came::Data(data) => {
                    self.came += data.len();
                    let most = self.shared.limits.max_bytes;
                    if self.came > most {
                        let text = format!(
                            "a record batch has more than {most} bytes (--max-bytes); send smaller ones"
                        );
                        return Err(Problem::too_large(text));
                    }
                    self.rest = Buffer::from(&data[..]);
                }
            }
        }
        let rows = self.rows.take().expect("the loop ends with rows");
        self.came = self.rest.len();
        let mut bytes = 0;
        let full = |text: &Option<&str>| {
            bytes += text.map_or(0, str::len);
            bytes >= BATCH
        };
        let count = texts(&rows, &self.text)?.iter().position(full).map_or(rows.num_rows(), |last| last + 1);
        self.rows = (count < rows.num_rows()).then(|| rows.slice(count, rows.num_rows() - count));
        Ok(Some(rows.slice(0, count)))
    }
}

fn broken(error: ArrowError) -> Problem {
    Problem::bad(format!("the body is no stream of Arrow that can be read: {error}"))
}
