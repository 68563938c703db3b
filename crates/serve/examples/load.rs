//! A bounded load generator for `consonant serve`, and the library's own speed on the same texts to compare with.
//!
//! `load library TEXTS SECONDS` annotates texts (a line each) in this process, over and over. `load HOST:PORT TEXTS CONNECTIONS REQUESTS [RATE]`
//! sends them to a server: as fast as it answers, or at a rate, when each request's time counts from when it should have been sent. Both print
//! a line of JSON.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use consonant::Pipeline;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match given.as_slice() {
        ["library", texts, seconds] => library(&read(texts)?, Duration::from_secs_f64(seconds.parse()?)),
        [address, texts, connections, requests, rest @ ..] => {
            let rate = rest.first().map(|rate| rate.parse()).transpose()?;
            let load = Load::new(address, &read(texts)?, requests.parse()?, rate);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(load.run(connections.parse()?))
        }
        _ => Err("load library TEXTS SECONDS, or load HOST:PORT TEXTS CONNECTIONS REQUESTS [RATE]".into()),
    }
}

fn read(path: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let lines: Vec<String> = std::fs::read_to_string(path)?.lines().map(str::to_owned).collect();
    if lines.is_empty() { Err(format!("{path} is empty").into()) } else { Ok(lines) }
}

fn words(texts: &[String]) -> usize {
    texts.iter().map(|text| text.split_ascii_whitespace().count()).sum()
}

/// The library alone: all texts, each a document, on all threads.
fn library(texts: &[String], limit: Duration) -> Result<(), Box<dyn Error>> {
    let pipeline = Pipeline::english()?;
    pipeline.annotate_all(texts)?;
    let start = Instant::now();
    let mut rounds = 0;
    while start.elapsed() < limit {
        pipeline.annotate_all(texts)?;
        rounds += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{}", json!({"words_per_second": (rounds * words(texts)) as f64 / seconds, "seconds": seconds}));
    Ok(())
}

/// What is sent, and how far it has come.
struct Load {
    address: String,
    requests: Vec<Vec<u8>>,
    words: Vec<usize>,
    total: usize,
    rate: Option<f64>,
    next: AtomicUsize,
}

/// What one connection saw.
#[derive(Default)]
struct Seen {
    milliseconds: Vec<f64>,
    words: usize,
    busy: usize,
    errors: usize,
}

impl Load {
    fn new(address: &str, texts: &[String], total: usize, rate: Option<f64>) -> Self {
        let request = |text: &String| {
            let body = json!({"text": text}).to_string();
            let length = body.len();
            format!("POST /v1/annotate HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")
                .into_bytes()
        };
        Self {
            address: address.to_owned(),
            requests: texts.iter().map(request).collect(),
            words: texts.iter().map(|text| words(std::slice::from_ref(text))).collect(),
            total,
            rate,
            next: AtomicUsize::new(0),
        }
    }

    async fn run(self, connections: usize) -> Result<(), Box<dyn Error>> {
        let load = Arc::new(self);
        let start = Instant::now();
        let tasks: Vec<_> =
            (0..connections).map(|_| tokio::spawn(Arc::clone(&load).connection(start))).collect();
        let mut all = Seen::default();
        for task in tasks {
            let seen = task.await?;
            all.milliseconds.extend(seen.milliseconds);
            all.words += seen.words;
            all.busy += seen.busy;
            all.errors += seen.errors;
        }
        let seconds = start.elapsed().as_secs_f64();
        all.milliseconds.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = (share * all.milliseconds.len() as f64) as usize;
            all.milliseconds.get(place.min(all.milliseconds.len().saturating_sub(1))).copied()
        };
        println!(
            "{}",
            json!({
                "answered": all.milliseconds.len(), "busy": all.busy, "errors": all.errors, "seconds": seconds,
                "requests_per_second": all.milliseconds.len() as f64 / seconds, "words_per_second": all.words as f64 / seconds,
                "p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "most": at(1.0),
            })
        );
        Ok(())
    }

    /// Sends requests over one connection until all are sent; a connection that breaks is opened anew.
    async fn connection(self: Arc<Self>, start: Instant) -> Seen {
        let mut seen = Seen::default();
        let mut stream = None;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.total {
                return seen;
            }
            let mut begun = Instant::now();
            if let Some(rate) = self.rate {
                begun = start + Duration::from_secs_f64(number as f64 / rate);
                tokio::time::sleep_until(begun.into()).await;
            }
            match self.ask(&mut stream, number % self.requests.len()).await {
                Ok(200) => {
                    seen.milliseconds.push(1e3 * begun.elapsed().as_secs_f64());
                    seen.words += self.words[number % self.words.len()];
                }
                Ok(429) => seen.busy += 1,
                Ok(_) | Err(_) => {
                    seen.errors += 1;
                    stream = None;
                }
            }
        }
    }

    async fn ask(
        &self,
        stream: &mut Option<BufReader<TcpStream>>,
        text: usize,
    ) -> Result<u16, Box<dyn Error>> {
        if stream.is_none() {
            let fresh = TcpStream::connect(&self.address).await?;
            fresh.set_nodelay(true)?;
            *stream = Some(BufReader::new(fresh));
        }
        let Some(stream) = stream else { return Err("no connection".into()) };
        stream.get_mut().write_all(&self.requests[text]).await?;
        let (mut status, mut length, mut line) = (0, 0, String::new());
        loop {
            line.clear();
            if stream.read_line(&mut line).await? == 0 {
                return Err("the connection was closed".into());
            }
            let lower = line.trim().to_ascii_lowercase();
            if lower.is_empty() {
                break;
            }
            if let Some(code) = lower.strip_prefix("http/1.1 ") {
                status = code[..3].parse()?;
            }
            if let Some(given) = lower.strip_prefix("content-length:") {
                length = given.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        Ok(status)
    }
}
