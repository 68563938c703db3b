//! What the server does, one file an operation. An operation is declared once: its path, its request and its answer are types,
//! from which both the route and its part of the OpenAPI document are made.

pub mod agreement;
pub mod annotate;
pub mod bulk;
pub mod choice;
pub mod evaluate;
pub mod explain;
pub mod link;
pub mod models;
pub mod solve;
pub mod summarize;
pub mod trace;
pub mod training;
pub mod verify;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::body::Bytes;
use axum::http::{HeaderMap, header};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::loaded::Loaded;
use crate::problem::Problem;
use crate::shared::Shared;

/// Who does the work, so that no other waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// The library's own threads, on which sentences are decoded: as many requests at a time as there are threads.
    Sentences,
    /// A thread of its own, which may be busy until the time limit.
    Solvers,
}

/// Something that a client can ask for with a POST.
pub trait Operation: Send + 'static {
    const PATH: &'static str;
    const SUMMARY: &'static str;
    /// More of it, in Markdown.
    const ABOUT: &'static str = "";
    const LANE: Lane;
    /// Content types of the answer beside JSON.
    const OTHERS: &'static [&'static str] = &[];

    type Query: DeserializeOwned + JsonSchema + Send + 'static;
    type Request: DeserializeOwned + JsonSchema + Send + 'static;
    type Answer: Serialize + JsonSchema;

    /// Makes a request of a body; JSON unless an operation takes more.
    fn read(body: &Bytes, kind: &str) -> Result<Self::Request, Problem> {
        read_json(body, kind)
    }

    /// Does the work.
    fn run(work: &Work, query: Self::Query, request: Self::Request) -> Result<Self::Answer, Problem>;

    /// Does the work and writes the answer as the client wants it.
    fn answer(
        work: &Work,
        query: Self::Query,
        request: Self::Request,
        accept: &str,
    ) -> Result<Written, Problem> {
        let _ = accept;
        Written::json(&Self::run(work, query, request)?)
    }
}

/// An operation without parameters in its address.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoQuery {}

/// What surrounds a piece of work.
#[derive(Debug)]
pub struct Work {
    pub shared: Arc<Shared>,
    pub models: Arc<Loaded>,
    pub deadline: Instant,
}

impl Work {
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// Seconds that are left.
    pub fn seconds_left(&self) -> f64 {
        self.deadline.saturating_duration_since(Instant::now()).as_secs_f64()
    }

    /// Fails when the time is over.
    pub fn check_time(&self) -> Result<(), Problem> {
        if self.seconds_left() > 0.0 { Ok(()) } else { Err(Problem::late(self.limits().time_limit)) }
    }

    /// Fails when texts have more words than a request may have; counts them otherwise.
    pub fn check_words<'t>(&self, texts: impl Iterator<Item = &'t str>) -> Result<(), Problem> {
        let words = texts.map(|text| text.split_ascii_whitespace().count()).sum::<usize>();
        let most = self.limits().max_words;
        if words > most {
            return Err(Problem::too_large(format!(
                "the request has {words} words; this server takes {most} at a time (--max-words): send several requests, or a stream of NDJSON"
            )));
        }
        self.shared.metrics.words.fetch_add(words as u64, Ordering::Relaxed);
        Ok(())
    }
}

/// An answer, ready to be sent.
#[derive(Debug)]
pub struct Written {
    pub kind: &'static str,
    pub bytes: Vec<u8>,
}

impl Written {
    pub fn json(answer: &impl Serialize) -> Result<Self, Problem> {
        let bytes = serde_json::to_vec(answer).map_err(|error| Problem::wrong(error.to_string()))?;
        Ok(Self { kind: "application/json", bytes })
    }
}

/// The content type of a request, without its parameters.
pub fn content_type(headers: &HeaderMap) -> &str {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim()
}

/// Reads JSON of the right type.
pub fn read_json<T: DeserializeOwned>(body: &Bytes, kind: &str) -> Result<T, Problem> {
    if kind != "application/json" && !kind.ends_with("+json") {
        let came = if kind.is_empty() { "none" } else { kind };
        return Err(Problem::new(
            axum::http::StatusCode::UNSUPPORTED_MEDIA_TYPE,
            format!("expected the content type application/json, came {came}"),
        ));
    }
    serde_json::from_slice(body).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => {
            Problem::wrong(format!("the request is not as expected: {error}"))
        }
        _ => Problem::bad(format!("the request is no JSON: {error}")),
    })
}
