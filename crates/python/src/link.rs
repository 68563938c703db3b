//! Chat logs: who answers whom.

use std::path::PathBuf;

use consonant::conversations::{Linker, LinkerOptions};
use consonant::draw::svg::Svg;
use consonant::learn::model::Model;
use consonant::registry::Given;
use consonant::task::Task as _;
use consonant::text::chat;
use consonant::text::jsonl::{Record as _, Thread};
use consonant::{Error, Models};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::errors::usage;
use crate::run::run;

/// Letters of a message in a picture.
const PICTURE: usize = 100;

/// Links the messages of a log, or of a conversation as a record of JSON: the record with its links, and a picture of it.
#[pyfunction]
#[pyo3(signature = (log, options, *, model=None, threads=None))]
pub fn link(
    py: Python<'_>,
    log: PyBackedStr,
    options: &str,
    model: Option<PathBuf>,
    threads: Option<usize>,
) -> PyResult<(String, String)> {
    let values = serde_json::from_str(options).map_err(|error| usage(error.to_string()))?;
    let given = Given { values, ..Given::default() };
    run(py, threads, move || {
        let options: LinkerOptions = given.settings()?;
        let model = match &model {
            Some(path) => Model::open(path)?,
            None => Models::embedded()?.expect(Linker::NAME, "link")?,
        };
        let linker = Linker::open(&model).map_err(Error::task)?;
        let mut thread = match log.trim_start().starts_with('{') {
            true => Thread::parse(&log).map_err(Error::task)?,
            false => chat::read(&log, "log"),
        };
        linker.link_log(&mut thread, &options).map_err(Error::task)?;
        let mut svg = Svg::default();
        svg.conversation(&thread, PICTURE);
        Ok((serde_json::to_string(&thread).map_err(Error::task)?, svg.finish()))
    })
}
