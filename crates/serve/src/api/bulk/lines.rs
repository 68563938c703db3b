//! Lines of JSON, a document each; sentences as lines of JSON.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};

use super::super::annotate::{GivenDocument, annotate, records, write_lines};
use super::super::{Lane, Work};
use super::{BATCH, Came, Source, more, silent};
use crate::problem::Problem;
use crate::shared::Shared;

/// How long a batch that has something waits for more.
const LULL: Duration = Duration::from_millis(20);

/// The lines of a body, as its pieces come.
#[derive(Debug)]
pub struct Lines {
    shared: Arc<Shared>,
    body: Body,
    rest: Vec<u8>,
    count: usize,
    is_over: bool,
}

/// Lines with their numbers, counted from 1.
type Batch = Vec<(usize, Vec<u8>)>;

impl Source for Lines {
    const KIND: &'static str = "application/x-ndjson";

    async fn next(&mut self) -> Result<Option<Vec<u8>>, Problem> {
        let Some(batch) = self.fill().await? else { return Ok(None) };
        self.shared.work(Lane::Sentences, move |work| annotate_lines(work, &batch)).await.map(Some)
    }

    /// What goes wrong is the last line.
    fn farewell(problem: Problem) -> io::Result<Bytes> {
        Ok(serde_json::to_vec(&problem).unwrap_or_default().into())
    }
}

fn annotate_lines(work: &Work, batch: &Batch) -> Result<Vec<u8>, Problem> {
    let mut given = Vec::with_capacity(batch.len());
    for (number, line) in batch {
        let mut document: GivenDocument = serde_json::from_slice(line)
            .map_err(|error| Problem::wrong(error.to_string()).in_line(*number))?;
        document.id.get_or_insert_with(|| number.to_string());
        given.push(document);
    }
    let pipeline = work.models.whole()?;
    let annotated = annotate(work, &pipeline, &given)?;
    let mut bytes = Vec::new();
    for (annotated, given) in annotated.iter().zip(&given) {
        write_lines(&records(&annotated.document, given.id.as_deref()), &mut bytes)?;
    }
    Ok(bytes)
}

impl Lines {
    pub fn new(shared: Arc<Shared>, body: Body) -> Self {
        Self { shared, body, rest: Vec::new(), count: 0, is_over: false }
    }

    /// The next lines; none at the end.
    async fn fill(&mut self) -> Result<Option<Batch>, Problem> {
        let mut batch = Batch::new();
        let mut bytes = 0;
        while !self.is_over && bytes < BATCH {
            let wait = if batch.is_empty() { self.shared.limits.silence() } else { LULL };
            match more(&mut self.body, wait).await? {
                Came::Nothing if batch.is_empty() => return Err(silent()),
                Came::Nothing => break,
                Came::End => self.is_over = true,
                Came::Data(data) => {
                    bytes += data.len();
                    self.rest.extend_from_slice(&data);
                    self.cut(&mut batch)?;
                }
            }
        }
        if self.is_over && !self.rest.is_empty() {
            self.rest.push(b'\n');
            self.cut(&mut batch)?;
        }
        Ok(if batch.is_empty() && self.is_over { None } else { Some(batch) })
    }

    fn cut(&mut self, batch: &mut Batch) -> Result<(), Problem> {
        let mut start = 0;
        while let Some(length) = self.rest[start..].iter().position(|&byte| byte == b'\n') {
            self.count += 1;
            let line = &self.rest[start..start + length];
            if !line.iter().all(u8::is_ascii_whitespace) {
                batch.push((self.count, line.to_vec()));
            }
            start += length + 1;
        }
        self.rest.drain(..start);
        let most = self.shared.limits.max_bytes;
        if self.rest.len() > most {
            return Err(Problem::too_large(format!("the line has more than {most} bytes (--max-bytes)"))
                .in_line(self.count + 1));
        }
        Ok(())
    }
}
