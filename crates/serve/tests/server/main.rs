//! The server over real sockets.

mod api;
mod arrow;
mod client;
mod hostile;
mod limits;
mod openapi;
mod schema;
