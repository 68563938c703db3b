//! What a client is told when something cannot be done: `application/problem+json` (RFC 9457), with the library's own text.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

/// Why a request was refused or failed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Problem {
    /// What kind of problem it is; `about:blank` says that the title is the status's own.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The status in words.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// What is wrong, and what to do.
    pub detail: String,
    #[serde(skip)]
    retry_after: Option<u64>,
}

/// The content type of problems.
pub const CONTENT_TYPE: &str = "application/problem+json";

impl Problem {
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Problem"),
            status: status.as_u16(),
            detail: detail.into(),
            retry_after: None,
        }
    }

    /// The request makes no sense.
    pub fn bad(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    /// The request can be read, but what it holds is wrong.
    pub fn wrong(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
    }

    /// The request is larger than this server takes.
    pub fn too_large(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
    }

    /// There is no model for it.
    pub fn missing(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_IMPLEMENTED, detail)
    }

    /// Too many wait already.
    pub fn busy() -> Self {
        let detail = "as many requests wait as may wait (--queue); try again later";
        Self { retry_after: Some(1), ..Self::new(StatusCode::TOO_MANY_REQUESTS, detail) }
    }

    /// It took longer than a request may take.
    pub fn late(seconds: f64) -> Self {
        let detail =
            format!("the request took longer than {seconds} s (--time-limit); send less, or raise the limit");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, detail)
    }

    /// The same problem in this line of a stream.
    pub fn in_line(mut self, line: usize) -> Self {
        self.detail = format!("line {line}: {}", self.detail);
        self
    }
}

impl From<consonant::Error> for Problem {
    fn from(error: consonant::Error) -> Self {
        use consonant::Error;
        let detail = error.to_string();
        match error {
            Error::Usage(_) => Self::bad(detail),
            Error::NoModel { .. } | Error::NoModels | Error::NoFolder(_) | Error::UnknownTask { .. } => {
                Self::missing(detail)
            }
            Error::Model(_) | Error::Write(_) => Self::new(StatusCode::INTERNAL_SERVER_ERROR, detail),
            _ => Self::wrong(detail),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}
