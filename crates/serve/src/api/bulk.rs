//! `POST /v1/annotate` with a stream: documents in, as lines of JSON or as Arrow's record batches, and their sentences out, in memory
//! that does not grow. Each batch waits for its turn like a request, so that a slow client holds nobody up.

mod lines;
mod table;

use std::io;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::stream;
use http_body_util::BodyExt as _;
use tokio::sync::mpsc::{self, Sender};
use tokio::time::timeout;

pub use lines::Lines;
pub use table::Table;

use crate::problem::Problem;

/// Bytes that are annotated together.
const BATCH: usize = 64 << 10;
/// Batches of answers that may wait for the client to take them.
const AHEAD: usize = 4;

/// A body that is answered piece by piece.
pub trait Source: Sized + Send + 'static {
    /// The content type of both.
    const KIND: &'static str;

    /// The next piece of the answer; none at the end.
    fn next(&mut self) -> impl Future<Output = Result<Option<Vec<u8>>, Problem>> + Send;

    /// How a client learns in mid-answer that no more comes: by a last piece, or by an answer that breaks off.
    fn farewell(problem: Problem) -> io::Result<Bytes>;
}

/// Answers a stream with a stream; `first` is what there is of the answer already.
pub fn respond<S: Source>(source: S, first: Option<Vec<u8>>) -> Response {
    let (sender, receiver) = mpsc::channel(AHEAD);
    tokio::spawn(pump(source, first, sender));
    let pieces = stream::unfold(receiver, |mut receiver| async { Some((receiver.recv().await?, receiver)) });
    let mut response = Response::new(Body::from_stream(pieces));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(S::KIND));
    response
}

/// Sends pieces until either side ends.
async fn pump<S: Source>(mut source: S, first: Option<Vec<u8>>, sender: Sender<io::Result<Bytes>>) {
    let mut piece = if first.is_some() { Ok(first) } else { source.next().await };
    loop {
        let (bytes, ends) = match piece {
            Ok(Some(bytes)) => (Ok(bytes.into()), false),
            Ok(None) => return,
            Err(problem) => (S::farewell(problem), true),
        };
        if sender.send(bytes).await.is_err() || ends {
            return;
        }
        piece = source.next().await;
    }
}

/// What comes next of a body.
enum Came {
    Data(Bytes),
    Nothing,
    End,
}

/// Waits for more of a body.
async fn more(body: &mut Body, patience: Duration) -> Result<Came, Problem> {
    loop {
        let Ok(frame) = timeout(patience, body.frame()).await else { return Ok(Came::Nothing) };
        match frame {
            None => return Ok(Came::End),
            Some(Err(error)) => return Err(Problem::bad(format!("the body ended early: {error}"))),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Came::Data(data));
                }
            }
        }
    }
}

fn silent() -> Problem {
    Problem::new(StatusCode::REQUEST_TIMEOUT, "no more of the body came (--patience)")
}
