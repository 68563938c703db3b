//! Who may ask, and what browsers are told.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::problem::Problem;
use crate::shared::Shared;

/// Lets a request through, or says why not.
pub async fn check(State(shared): State<Arc<Shared>>, request: Request<Body>, next: Next) -> Response {
    match allow(&shared, &request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

fn allow(shared: &Shared, request: &Request<Body>) -> Result<(), Problem> {
    let headers = request.headers();
    let host = text(headers, header::HOST).unwrap_or_default();
    // A page of another site can make a browser send requests here, by a name that resolves to this machine or straight away.
    if shared.local_only && !is_local(host) {
        let detail = format!("this server answers this machine alone, and not as `{host}`");
        return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, detail));
    }
    if let Some(origin) = text(headers, header::ORIGIN)
        && origin
            .parse::<Uri>()
            .ok()
            .and_then(|origin| origin.authority().map(|a| a.as_str().to_owned()))
            .as_deref()
            != Some(host)
    {
        return Err(Problem::new(
            StatusCode::FORBIDDEN,
            format!("pages of {origin} may not use this server"),
        ));
    }
    let path = request.uri().path();
    if let Some(token) = &shared.token
        && (path.starts_with("/v1/") || path == "/metrics")
    {
        let given = text(headers, header::AUTHORIZATION).and_then(|text| text.strip_prefix("Bearer "));
        if !given.is_some_and(|given| same(given.as_bytes(), token.as_bytes())) {
            let detail = "this server wants its token: `Authorization: Bearer …`";
            return Err(Problem::new(StatusCode::UNAUTHORIZED, detail));
        }
    }
    Ok(())
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Whether a host is this machine, with any port.
fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether two texts are the same, in a time that does not tell how much of them is.
fn same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// Nothing from elsewhere, nothing inline, no frames.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Puts on every answer what browsers must know.
pub fn harden(headers: &mut HeaderMap) {
    let rules = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    for (name, value) in rules {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_few_names() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:8765", "[::1]:80", "127.1.2.3"] {
            assert!(is_local(host), "{host}");
        }
        for host in ["", "example.org", "localhost.example.org:80", "[::2]", "0.0.0.0", "127.example.org"] {
            assert!(!is_local(host), "{host}");
        }
    }
}
