//! What is too much, too long, too many or not allowed is refused with a plain word.

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use consonant_serve::{Limits, ServeError, Server, ServerOptions};
use serde_json::json;

use crate::client::{Answer, Running, post};

#[test]
fn too_large_bodies_words_and_problems_are_refused() {
    let server =
        Running::with(Limits::new().max_bytes(2000_usize).max_words(50_usize).max_variables(3_usize));
    let long = json!({"text": "a".repeat(3000)}).to_string();
    let told = server.post("/v1/annotate", &long);
    assert_eq!(told.status, 413);
    assert!(told.problem().contains("--max-bytes"));
    // A body that does not say how long it is.
    let chunk = format!("{:x}\r\n{long}\r\n0\r\n\r\n", long.len());
    let untold = server.send(
        format!("POST /v1/annotate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}").as_bytes(),
    );
    assert_eq!(untold.status, 413);
    let words = server.post("/v1/annotate", &json!({"text": "a ".repeat(51)}).to_string());
    assert_eq!(words.status, 413);
    assert!(words.problem().contains("51 words"));
    let variables: Vec<_> = (0..4).map(|i| json!({"name": i.to_string(), "score": 1})).collect();
    let graph = server.post("/v1/solve", &json!({"variables": variables, "factors": []}).to_string());
    assert_eq!(graph.status, 413);
    assert!(graph.problem().contains("4 variables"));
    let line = server.post_as("/v1/annotate", "application/x-ndjson", "", &"x".repeat(70_000));
    assert!(line.text().contains("--max-bytes"), "{line:?}");
}

/// A problem that takes exact search long: an odd grid of exclusions with scores that nearly tie.
fn hard() -> String {
    let side = 40;
    let name = |i: usize, j: usize| format!("{i},{j}");
    let mut variables = Vec::new();
    let mut factors = Vec::new();
    for i in 0..side {
        for j in 0..side {
            variables
                .push(json!({"name": name(i, j), "score": 1.0 + 0.001 * ((i * 7 + j * 13) % 17) as f64}));
            for (k, l) in [(i + 1, j), (i, j + 1), (i + 1, j + 1)] {
                if k < side && l < side {
                    factors.push(json!({"kind": "at-most-one", "over": [name(i, j), name(k, l)]}));
                }
            }
        }
    }
    json!({"variables": variables, "factors": factors}).to_string()
}

#[test]
fn solvers_stop_at_the_time_limit_with_their_bound() {
    let server = Running::with(Limits::new().time_limit(2.0));
    let start = Instant::now();
    let answer = server.post("/v1/solve?method=subgradient&max_iterations=100000000", &hard());
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.json()["bound"].as_f64().is_some());
    assert!(answer.json()["seconds"].as_f64().unwrap() <= 2.5);
}

#[test]
fn the_queue_has_an_end() {
    let server = Running::with(Limits::new().queue(1_usize).time_limit(3.0));
    let turns = rayon::current_num_threads();
    let problem = hard();
    let statuses: Vec<(u16, String)> = thread::scope(|scope| {
        let ask = || {
            let answer = server.post("/v1/solve?method=subgradient&max_iterations=100000000", &problem);
            (answer.status, answer.head)
        };
        let asked: Vec<_> = (0..turns + 6).map(|_| scope.spawn(ask)).collect();
        asked.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let busy: Vec<_> = statuses.iter().filter(|(status, _)| *status == 429).collect();
    assert!(busy.len() >= 4, "{statuses:?}");
    assert!(busy.iter().all(|(_, head)| head.contains("retry-after: ")), "{busy:?}");
    assert!(statuses.iter().all(|(status, _)| [200, 429, 503].contains(status)), "{statuses:?}");
    // Nobody is left behind.
    assert_eq!(server.post("/v1/solve", r#"{"variables": [], "factors": []}"#).status, 200);
}

#[test]
fn others_need_a_token() {
    let mut options = ServerOptions::default();
    options.host = "0.0.0.0".parse().unwrap();
    options.port = 0;
    assert!(matches!(Server::bind(options), Err(ServeError::Open(_))));
    let server = Running::start(|options| options.token = Some("secret".to_owned()));
    let body = r#"{"text": "Ann."}"#;
    let ask = |headers: &str| server.post_as("/v1/annotate", "application/json", headers, body).status;
    assert_eq!(ask(""), 401);
    assert_eq!(ask("Authorization: Bearer wrong\r\n"), 401);
    assert_eq!(ask("Authorization: Bearer secret\r\n"), 200);
    assert_eq!(server.get("/metrics").status, 401);
    assert_eq!((server.get("/healthz").status, server.get("/").status), (200, 200));
    let reload = |headers: &str| server.post_as("/v1/models/reload", "application/json", headers, "").status;
    assert_eq!((reload(""), reload("Authorization: Bearer secret\r\n")), (401, 200));
    assert_eq!(Running::plain().post("/v1/models/reload", "").status, 403);
}

#[test]
fn models_are_reloaded_while_requests_run() {
    let server = Running::plain();
    thread::scope(|scope| {
        let asking = scope.spawn(|| {
            (0..20).all(|_| server.post("/v1/annotate", r#"{"text": "Ann lives in Kiel."}"#).status == 200)
        });
        for _ in 0..5 {
            server.handle.reload().unwrap();
        }
        assert!(asking.join().unwrap());
    });
    assert!(server.get("/metrics").text().contains("consonant_model_reloads_total 5"));
}

#[test]
fn an_end_finishes_what_runs() {
    let server = Running::with(Limits::new().time_limit(2.0));
    let mut stream = server.connect();
    stream
        .write_all(
            post("/v1/solve?method=subgradient&max_iterations=100000000", "application/json", "", &hard())
                .as_bytes(),
        )
        .unwrap();
    thread::sleep(Duration::from_millis(300));
    let address = server.address;
    server.stop();
    let answer = Answer::read(&mut stream);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(std::net::TcpStream::connect(address).is_err());
}
