//! Structured prediction in language: models that agree, and prove it.

#![forbid(unsafe_code)]

pub mod draw;
mod error;
mod models;
pub mod pipeline;
pub mod plot;

pub use error::Error;
pub use models::Models;
pub use pipeline::{Annotator, Layers, Pipeline};
