//! The library's errors as Python's exceptions, with the same texts.

use std::error::Error as StdError;
use std::ffi::CString;

use consonant::Error;
use pyo3::exceptions::PyUserWarning;
use pyo3::import_exception;
use pyo3::prelude::*;

import_exception!(consonant.errors, DataError);
import_exception!(consonant.errors, ModelError);
import_exception!(consonant.errors, ProblemError);
import_exception!(consonant.errors, TaskError);
import_exception!(consonant.errors, UsageError);

/// The exception for an error of the library.
pub fn raise(error: Error) -> PyErr {
    let text = explain(&error);
    match error {
        Error::Usage(_) => UsageError::new_err(text),
        Error::Text(_) | Error::Item(_) | Error::Score(_) => DataError::new_err(text),
        Error::Model(_)
        | Error::NoModel { .. }
        | Error::NoModels
        | Error::NoFolder(_)
        | Error::EmptyFolder(_)
        | Error::UnknownTask { .. } => ModelError::new_err(text),
        _ => TaskError::new_err(text),
    }
}

/// An error of a room of the library.
pub fn raise_task(error: impl StdError + Send + Sync + 'static) -> PyErr {
    raise(Error::task(error))
}

/// What cannot be asked for.
pub fn usage(text: impl Into<String>) -> PyErr {
    UsageError::new_err(text.into())
}

/// A warning of the program's, as one of Python's.
pub fn warn(py: Python<'_>, text: &str) -> PyResult<()> {
    let text = CString::new(text.replace('\0', ""))?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)
}

/// An error and its causes on one line; a cause that the text already repeats is left out.
fn explain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.ends_with(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}
