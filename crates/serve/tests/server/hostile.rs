//! Clients that do what they should not: nothing is lost, nothing breaks, others are served.

use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use consonant_serve::Limits;

use crate::client::Running;

fn alive(server: &Running) {
    assert_eq!(server.post("/v1/annotate", r#"{"text": "Ann sleeps."}"#).status, 200);
}

#[test]
fn broken_json_is_answered_with_its_place() {
    let server = Running::plain();
    for (body, status, word) in [
        ("{broken", 400, "line 1 column 2"),
        ("", 400, "no JSON"),
        ("[]", 422, "either `text` or `documents`"),
        ("7", 422, "not as expected"),
        (r#"{"text": 5}"#, 422, "expected a string"),
        (r#"{"txet": "a"}"#, 422, "unknown field `txet`"),
        (r#"{"text": "a", "documents": [{"text": "b"}]}"#, 422, "either `text` or `documents`"),
        ("\u{0}\u{1}", 400, "no JSON"),
        ("{\"text\": \"\\ud800\"}", 400, "no JSON"),
    ] {
        let answer = server.post("/v1/annotate", body);
        assert_eq!(answer.status, status, "{body}: {answer:?}");
        assert!(answer.problem().contains(word), "{body}: {}", answer.problem());
    }
    let deep = "[".repeat(100_000);
    assert_eq!(server.post("/v1/solve", &deep).status, 400);
    assert_eq!(server.post_as("/v1/annotate", "text/html", "", "{}").status, 415);
    let bytes = b"POST /v1/annotate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"text\":\"\xff\xfe\"}";
    assert_eq!(server.send(bytes).status, 400);
    alive(&server);
}

#[test]
fn paths_lead_nowhere_but_to_routes() {
    let server = Running::plain();
    for path in [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fetc/passwd",
        "//etc/passwd",
        "/page/../Cargo.toml",
        "/index.html",
        "/main.js/",
        "/v1/annotate/x",
        "/%00",
        "/v1",
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, 404, "{path}");
        answer.problem();
    }
    assert_eq!(server.get("/v1/annotate").status, 405);
    assert_eq!(server.send(b"DELETE / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").status, 405);
}

#[test]
fn other_sites_cannot_use_a_visitors_browser() {
    let server = Running::plain();
    let ask = |host: &str, origin: &str| {
        let body = r#"{"text": "Ann."}"#;
        let request = format!(
            "POST /v1/annotate HTTP/1.1\r\nHost: {host}\r\n{origin}Connection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        server.send(request.as_bytes()).status
    };
    assert_eq!(ask("evil.example", ""), 421);
    assert_eq!(ask("localhost", "Origin: https://evil.example\r\n"), 403);
    assert_eq!(ask("localhost", "Origin: null\r\n"), 403);
    assert_eq!(ask("localhost:80", "Origin: http://localhost:80\r\n"), 200);
}

#[test]
fn floods_of_headers_are_cut_off() {
    let server = Running::plain();
    let many: String = (0..1000).map(|i| format!("X-{i}: y\r\n")).collect();
    let answer = server.send(format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n{many}\r\n").as_bytes());
    assert_eq!(answer.status, 431, "{answer:?}");
    let long = "x".repeat(1 << 20);
    let answer =
        server.send(format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: {long}\r\n\r\n").as_bytes());
    assert!([431, 0].contains(&answer.status), "{}", answer.status);
    assert!([400, 0].contains(&server.send(b"\x16\x03\x01\x02\x00\x01\x00\x01").status));
    alive(&server);
}

#[test]
fn slow_clients_are_given_up() {
    let server = Running::with(Limits::new().patience(0.5));
    let start = Instant::now();
    // Heads that never end, bodies that never end, and connections that say nothing.
    let mut slow: Vec<_> = (0..50).map(|_| server.connect()).collect();
    for (number, stream) in slow.iter_mut().enumerate() {
        let piece: &[u8] = match number % 3 {
            0 => b"GET /healthz HTTP/1.1\r\nHost: local",
            1 => b"POST /v1/annotate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"te",
            _ => b"",
        };
        stream.write_all(piece).unwrap();
    }
    alive(&server);
    for mut stream in slow {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    alive(&server);
}

#[test]
fn a_client_that_takes_nothing_of_its_answer_is_given_up() {
    let server = Running::with(Limits::new().patience(0.5));
    let text = "Ann Smith lives in Kiel. ".repeat(4000);
    let body = serde_json::json!({"text": text, "layers": []}).to_string();
    let mut stream = server.connect();
    stream.write_all(crate::client::post("/v1/annotate", "application/json", "", &body).as_bytes()).unwrap();
    let open = || server.get("/metrics").text().contains("consonant_connections 1\n");
    let start = Instant::now();
    // The connection of the question itself is the only one left.
    while !open() {
        assert!(start.elapsed() < Duration::from_secs(30), "the connection is still there");
        thread::sleep(Duration::from_millis(100));
    }
    drop(stream);
}

#[test]
fn clients_that_leave_take_nothing_with_them() {
    let server = Running::plain();
    let text = "Ann Smith lives in Kiel. ".repeat(50);
    let body = serde_json::json!({"text": text}).to_string();
    for number in 0..20 {
        let mut stream = server.connect();
        let request = crate::client::post("/v1/annotate", "application/json", "", &body);
        let written = if number % 2 == 0 { request.len() } else { request.len() / 2 };
        stream.write_all(&request.as_bytes()[..written]).unwrap();
        if number % 4 == 0 {
            let _ = stream.read(&mut [0; 20]);
        }
    }
    let start = Instant::now();
    loop {
        let metrics = server.get("/metrics").text();
        if metrics.contains("consonant_running{lane=\"sentences\"} 0\n")
            && metrics.contains("consonant_waiting{lane=\"sentences\"} 0\n")
            && metrics.contains("consonant_connections 1\n")
        {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{metrics}");
        thread::sleep(Duration::from_millis(100));
    }
    alive(&server);
}
