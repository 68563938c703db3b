//! Files of text and data: converted, checked, read as columns.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use consonant::Error;
use consonant::arrow::ConlluReader;
use consonant::learn::file::AtomicFile;
use consonant::task::Usage;
use consonant::text::check::{Check, check};
use consonant::text::convert::{Conversion, convert};
use consonant::text::input::Input;
use consonant::text::{Format, Scheme};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow::{Batch, schema_capsule, stream_capsule};
use crate::errors::{raise, raise_task, usage};
use crate::run::run;

fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(name: Option<&str>) -> PyResult<Option<T>> {
    name.map(str::parse).transpose().map_err(|error: T::Err| usage(error.to_string()))
}

/// Files in another format: written to `output`, or returned as text.
#[pyfunction]
#[pyo3(signature = (files, to, *, source=None, scheme=None, source_scheme=None, repair=false, output=None))]
#[allow(clippy::too_many_arguments)]
pub fn convert_files(
    py: Python<'_>,
    files: Vec<PathBuf>,
    to: &str,
    source: Option<&str>,
    scheme: Option<&str>,
    source_scheme: Option<&str>,
    repair: bool,
    output: Option<PathBuf>,
) -> PyResult<Option<String>> {
    let to = parsed::<Format>(Some(to))?.ok_or_else(|| usage("name the format that goes out"))?;
    let conversion = Conversion {
        scheme: parsed::<Scheme>(scheme)?,
        source_scheme: parsed::<Scheme>(source_scheme)?,
        repair,
        ..Conversion::new(parsed::<Format>(source)?, to)
    };
    run(py, Some(1), move || {
        let inputs = files.iter().map(Input::open);
        match output {
            Some(path) => {
                let mut file = AtomicFile::create(&path)?;
                convert(inputs, &conversion, &mut file)?;
                file.commit()?;
                Ok(None)
            }
            None => {
                let mut text = Vec::new();
                convert(inputs, &conversion, &mut text)?;
                let text = String::from_utf8(text);
                text.map(Some).map_err(|_| Usage("the data are not in UTF-8".to_owned()).into())
            }
        }
    })
}

/// What is wrong with files, as JSON and for people, and whether anything is.
#[pyfunction]
#[pyo3(signature = (files, *, source=None, scheme=None, limit=None))]
pub fn check_files(
    py: Python<'_>,
    files: Vec<PathBuf>,
    source: Option<&str>,
    scheme: Option<&str>,
    limit: Option<usize>,
) -> PyResult<(String, String, bool)> {
    let mut settings = Check { format: parsed(source)?, scheme: parsed(scheme)?, ..Check::default() };
    settings.error_limit = limit.unwrap_or(settings.error_limit);
    run(py, Some(1), move || {
        let report = check(files.iter().map(Input::open), &settings)?;
        let json = serde_json::to_string(&report).map_err(Error::task)?;
        Ok((json, report.to_string(), report.has_errors()))
    })
}

/// Files of CoNLL-U as a stream of columns, read when somebody asks for them.
#[pyclass(frozen, module = "consonant")]
pub struct ConlluStream {
    files: Vec<PathBuf>,
    size: usize,
}

impl ConlluStream {
    fn open(&self) -> PyResult<ConlluReader> {
        ConlluReader::open(self.files.clone(), self.size).map_err(raise)
    }
}

#[pymethods]
impl ConlluStream {
    #[new]
    #[pyo3(signature = (files, batch_size=1024))]
    fn new(files: Vec<PathBuf>, batch_size: usize) -> PyResult<Self> {
        if batch_size == 0 {
            return Err(usage("batch_size must be 1 or more"));
        }
        let stream = Self { files, size: batch_size };
        // What cannot be opened is told now, not when the stream is read.
        stream.open()?;
        Ok(stream)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &arrow_array::RecordBatchReader::schema(&self.open()?))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A request that cannot be met may be passed over: the receiver looks at the schema.
        let _ = requested_schema;
        stream_capsule(py, self.open()?)
    }

    fn __iter__(&self) -> PyResult<ConlluBatches> {
        Ok(ConlluBatches(Mutex::new(self.open()?)))
    }

    fn __repr__(&self) -> String {
        let names: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
        format!("<ConlluStream of {}>", names.join(", "))
    }
}

/// The batches of a stream, one by one. Locked by nobody: Python's classes must be such as could be shared.
#[pyclass(module = "consonant")]
pub struct ConlluBatches(Mutex<ConlluReader>);

#[pymethods]
impl ConlluBatches {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let reader = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        let read = py.detach(|| reader.next()).transpose();
        read.map(|batch| batch.map(Batch)).map_err(raise_arrow)
    }
}

/// An error of a stream: what our readers said, where they said it.
fn raise_arrow(error: arrow_schema::ArrowError) -> PyErr {
    match error {
        arrow_schema::ArrowError::ExternalError(own) => match own.downcast::<Error>() {
            Ok(own) => raise(*own),
            Err(other) => raise(Error::boxed(other)),
        },
        other => raise_task(other),
    }
}
