//! The page: files that are part of the program.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

macro_rules! files {
    ($($path:literal = $file:literal: $kind:literal,)+) => {
        const FILES: &[(&str, &str, &[u8])] =
            &[$(($path, $kind, include_bytes!(concat!("../page/", $file))),)+];
    };
}

files! {
    "/" = "index.html": "text/html; charset=utf-8",
    "/style.css" = "style.css": "text/css; charset=utf-8",
    "/icon.svg" = "icon.svg": "image/svg+xml",
    "/main.js" = "main.js": "text/javascript; charset=utf-8",
    "/page.js" = "page.js": "text/javascript; charset=utf-8",
    "/api.js" = "api.js": "text/javascript; charset=utf-8",
    "/tree.js" = "tree.js": "text/javascript; charset=utf-8",
    "/chart.js" = "chart.js": "text/javascript; charset=utf-8",
    "/examples.js" = "examples.js": "text/javascript; charset=utf-8",
    "/text.js" = "text.js": "text/javascript; charset=utf-8",
    "/agreement.js" = "agreement.js": "text/javascript; charset=utf-8",
    "/proof.js" = "proof.js": "text/javascript; charset=utf-8",
    "/summary.js" = "summary.js": "text/javascript; charset=utf-8",
    "/threads.js" = "threads.js": "text/javascript; charset=utf-8",
    "/solve.js" = "solve.js": "text/javascript; charset=utf-8",
    "/train.js" = "train.js": "text/javascript; charset=utf-8",
}

/// The addresses of the page's files.
pub fn paths() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(path, ..)| *path)
}

/// A file, unless the browser has it already.
pub fn respond(path: &str, headers: &HeaderMap) -> Response {
    let Some((_, kind, bytes)) = FILES.iter().find(|(known, ..)| *known == path) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let tag = format!("\"{:016x}\"", fingerprint(bytes));
    let has = headers.get(header::IF_NONE_MATCH).is_some_and(|given| given.as_bytes() == tag.as_bytes());
    let mut response =
        if has { StatusCode::NOT_MODIFIED.into_response() } else { Response::new(Body::from(*bytes)) };
    let own = response.headers_mut();
    own.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    own.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    own.extend(HeaderValue::from_str(&tag).ok().map(|tag| (header::ETAG, tag)));
    response
}

/// FNV-1a, which is short and good enough to tell versions of a file apart.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_is_light_and_needs_nobody_else() {
        let weight: usize = super::FILES.iter().map(|(.., bytes)| bytes.len()).sum();
        assert!(weight < 300_000, "the page weighs {weight} bytes");
        for (path, _, bytes) in super::FILES {
            let text = String::from_utf8_lossy(bytes).replace("http://www.w3.org/", "");
            assert!(!text.contains("http://") && !text.contains("https://"), "{path} refers to elsewhere");
        }
    }
}
