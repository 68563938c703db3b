//! A server in this process, and a client that says exactly what it is told to.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use consonant_serve::{Handle, Limits, ServeError, Server, ServerOptions};
use serde_json::Value;

/// A server that ends with its test.
pub struct Running {
    pub address: SocketAddr,
    pub handle: Handle,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

impl Running {
    pub fn start(change: impl FnOnce(&mut ServerOptions)) -> Self {
        let mut options = ServerOptions::default();
        options.port = 0;
        change(&mut options);
        let server = Server::bind(options).expect("the server starts");
        let (address, handle) = (server.address(), server.handle());
        Self { address, handle, thread: Some(std::thread::spawn(|| server.run())) }
    }

    pub fn with(limits: Limits) -> Self {
        Self::start(|options| options.limits = limits)
    }

    pub fn plain() -> Self {
        Self::start(|_| {})
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
        stream
    }

    /// Sends a request as it stands and reads the answer to its end.
    pub fn send(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that refuses early may close before all is written.
        let _ = stream.write_all(request);
        Answer::read(&mut stream)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes())
    }

    pub fn post(&self, path: &str, body: &str) -> Answer {
        self.post_as(path, "application/json", "", body)
    }

    pub fn post_as(&self, path: &str, kind: &str, headers: &str, body: &str) -> Answer {
        self.send(post(path, kind, headers, body).as_bytes())
    }

    pub fn post_bytes(&self, path: &str, kind: &str, body: &[u8]) -> Answer {
        let length = format!("Content-Length: {}\r\n", body.len());
        let head = post(path, kind, "", "").replace("Content-Length: 0\r\n", &length);
        self.send(&[head.as_bytes(), body].concat())
    }

    /// Asks for an end and waits for it.
    pub fn stop(mut self) {
        self.handle.stop();
        self.thread.take().expect("it runs").join().expect("no panic").expect("a good end");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.handle.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

pub fn post(path: &str, kind: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    )
}

/// What came back; status 0 where nothing did.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn read(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let mut body = bytes.split_off((end + 4).min(bytes.len()));
        if head.contains("transfer-encoding: chunked") {
            body = unchunk(&body);
        }
        let status = head.split(' ').nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
        Self { status, head, body }
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The text of a problem, which must be one.
    pub fn problem(&self) -> String {
        assert!(self.head.contains("content-type: application/problem+json"), "{self:?}");
        assert_eq!(self.json()["status"], self.status);
        self.json()["detail"].as_str().expect("a detail").to_owned()
    }
}

fn unchunk(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let Ok(length) = usize::from_str_radix(&String::from_utf8_lossy(&bytes[..end]), 16) else { break };
        let rest = &bytes[end + 2..];
        if length == 0 || rest.len() < length {
            break;
        }
        body.extend_from_slice(&rest[..length]);
        bytes = rest.get(length + 2..).unwrap_or_default();
    }
    body
}
