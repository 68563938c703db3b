//! Consonant over HTTP: an API for programs, and a page that shows what agreement and proof mean.
//!
//! [`Server::bind`] opens the models and listens, on this machine alone unless somebody says otherwise; [`Server::run`] serves. Requests wait for
//! their turn in a queue with an end, work on the library's own threads, and stop at [`Limits`] that are told in plain words. The page and the
//! OpenAPI document are part of the program.
//!
//! ```
//! use std::io::{Read, Write};
//! use consonant_serve::{Server, ServerOptions};
//!
//! let mut options = ServerOptions::default();
//! options.port = 0;
//! let server = Server::bind(options)?;
//! let (address, handle) = (server.address(), server.handle());
//! let running = std::thread::spawn(|| server.run());
//!
//! let mut client = std::net::TcpStream::connect(address)?;
//! client.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
//! let mut answer = String::new();
//! client.read_to_string(&mut answer)?;
//! assert!(answer.starts_with("HTTP/1.1 200"));
//!
//! handle.stop();
//! running.join().unwrap()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod api;
mod assets;
mod connection;
mod gate;
mod guard;
mod limits;
mod loaded;
mod metrics;
mod openapi;
mod problem;
mod routes;
mod server;
mod shared;

pub use limits::Limits;
pub use server::{Event, Handle, ServeError, Server, ServerOptions};

/// The OpenAPI document of the server, as it is served at `/openapi.json`.
pub fn openapi() -> String {
    String::from_utf8_lossy(&openapi::document()).into_owned()
}
