//! `POST /v1/annotate` with a stream of NDJSON: a document a line in, its sentences out, in memory that does not grow. Each batch waits
//! for its turn like a request, so that a slow client holds nobody up.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use futures_util::stream;
use http_body_util::BodyExt as _;
use tokio::sync::mpsc::{self, Sender};
use tokio::time::timeout;

use super::annotate::{GivenDocument, annotate, records, write_lines};
use super::{Lane, Work};
use crate::problem::Problem;
use crate::shared::Shared;

/// Bytes that are annotated together.
const BATCH: usize = 64 << 10;
/// How long a batch that has something waits for more.
const LULL: Duration = Duration::from_millis(20);
/// Batches of answers that may wait for the client to take them.
const AHEAD: usize = 4;

/// Answers a stream with a stream.
pub fn respond(shared: Arc<Shared>, body: Body) -> Response {
    let (sender, receiver) = mpsc::channel::<Result<Bytes, std::convert::Infallible>>(AHEAD);
    tokio::spawn(pump(shared, body, sender));
    let lines = stream::unfold(receiver, |mut receiver| async { Some((receiver.recv().await?, receiver)) });
    let mut response = Response::new(Body::from_stream(lines));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    response
}

/// Reads lines and sends answers until either side ends. What goes wrong is the last line.
async fn pump(shared: Arc<Shared>, mut body: Body, sender: Sender<Result<Bytes, std::convert::Infallible>>) {
    let mut lines = Lines { most: shared.limits.max_bytes, ..Lines::default() };
    loop {
        let outcome = match lines.fill(&mut body, shared.limits.silence()).await {
            Ok(None) => return,
            Ok(Some(batch)) => annotate_lines(&shared, batch).await,
            Err(problem) => Err(problem),
        };
        let (bytes, ends) = match outcome {
            Ok(bytes) => (bytes, false),
            Err(problem) => (serde_json::to_vec(&problem).unwrap_or_default(), true),
        };
        if sender.send(Ok(bytes.into())).await.is_err() || ends {
            return;
        }
    }
}

async fn annotate_lines(shared: &Arc<Shared>, batch: Batch) -> Result<Vec<u8>, Problem> {
    let work = move |work: &Work| {
        let mut given = Vec::with_capacity(batch.lines.len());
        for (number, line) in &batch.lines {
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
    };
    shared.work(Lane::Sentences, work).await
}

/// Lines with their numbers, counted from 1.
struct Batch {
    lines: Vec<(usize, Vec<u8>)>,
}

/// The lines of a body, as its pieces come.
#[derive(Default)]
struct Lines {
    most: usize,
    rest: Vec<u8>,
    count: usize,
    is_over: bool,
}

impl Lines {
    /// The next lines; none at the end.
    async fn fill(&mut self, body: &mut Body, patience: Duration) -> Result<Option<Batch>, Problem> {
        let mut batch = Batch { lines: Vec::new() };
        let mut bytes = 0;
        while !self.is_over && bytes < BATCH {
            let wait = if batch.lines.is_empty() { patience } else { LULL };
            let frame = match timeout(wait, body.frame()).await {
                Ok(frame) => frame,
                Err(_) if batch.lines.is_empty() => {
                    return Err(Problem::new(
                        axum::http::StatusCode::REQUEST_TIMEOUT,
                        "no more of the body came (--patience)",
                    ));
                }
                Err(_) => break,
            };
            match frame {
                None => self.is_over = true,
                Some(Err(error)) => return Err(Problem::bad(format!("the body ended early: {error}"))),
                Some(Ok(frame)) => {
                    let Ok(data) = frame.into_data() else { continue };
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
        Ok(if batch.lines.is_empty() && self.is_over { None } else { Some(batch) })
    }

    fn cut(&mut self, batch: &mut Batch) -> Result<(), Problem> {
        let mut start = 0;
        while let Some(length) = self.rest[start..].iter().position(|&byte| byte == b'\n') {
            self.count += 1;
            let line = &self.rest[start..start + length];
            if !line.iter().all(u8::is_ascii_whitespace) {
                batch.lines.push((self.count, line.to_vec()));
            }
            start += length + 1;
        }
        self.rest.drain(..start);
        if self.rest.len() > self.most {
            let most = self.most;
            return Err(Problem::too_large(format!("the line has more than {most} bytes (--max-bytes)"))
                .in_line(self.count + 1));
        }
        Ok(())
    }
}
