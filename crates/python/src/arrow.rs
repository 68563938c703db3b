//! Columns by the Arrow PyCapsule interface, in and out without a copy.

use std::ffi::CStr;

use arrow_array::cast::AsArray as _;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray, make_array};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::errors::{raise_task, usage};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// The batches of anything that speaks the interface: a record batch, a table, a data frame.
pub fn import(object: &Bound<'_, PyAny>) -> PyResult<Vec<RecordBatch>> {
    if object.hasattr("__arrow_c_array__")? {
        let pair = object.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
        let (schema, array) = (pair.get_item(0)?, pair.get_item(1)?);
        // SAFETY: the names say what the capsules hold, and `from_raw` leaves them empty, as the interface asks.
        let data = unsafe {
            let schema = FFI_ArrowSchema::from_raw(pointer(&schema, SCHEMA)?);
            let array = FFI_ArrowArray::from_raw(pointer(&array, ARRAY)?);
            from_ffi(array, &schema).map_err(raise_task)?
        };
        let array = make_array(data);
        return match array.as_struct_opt().filter(|columns| columns.null_count() == 0) {
            Some(columns) => Ok(vec![RecordBatch::from(columns)]),
            None => Err(usage("expected columns with names: a record batch, a table or a data frame")),
        };
    }
    if object.hasattr("__arrow_c_stream__")? {
        let stream = object.call_method0("__arrow_c_stream__")?;
        // SAFETY: as above.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer(&stream, STREAM)?) };
        let reader = ArrowArrayStreamReader::try_new(stream).map_err(raise_task)?;
        let schema = reader.schema();
        let mut batches = reader.collect::<Result<Vec<_>, _>>().map_err(raise_task)?;
        if batches.is_empty() {
            batches.push(RecordBatch::new_empty(schema));
        }
        return Ok(batches);
    }
    let kind = object.get_type();
    Err(PyTypeError::new_err(format!(
        "{kind} does not speak Arrow (__arrow_c_array__ or __arrow_c_stream__)"
    )))
}

fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<*mut T> {
    Ok(capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))?.as_ptr().cast())
}

/// What columns are like, for anything that speaks Arrow.
pub fn schema_capsule<'py>(
    py: Python<'py>,
    schema: &arrow_schema::Schema,
) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(raise_task)?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

/// A stream of columns, for anything that speaks Arrow.
pub fn stream_capsule<'py>(
    py: Python<'py>,
    reader: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
}

/// Columns, for anything that speaks Arrow: `pyarrow.record_batch(batch)`, `polars.DataFrame(batch)`.
#[pyclass(frozen, name = "RecordBatch", module = "consonant")]
pub struct Batch(pub RecordBatch);

#[pymethods]
impl Batch {
    /// How many rows it has.
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.num_rows()
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.0.schema())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // A request that cannot be met may be passed over: the receiver looks at the schema.
        let _ = requested_schema;
        let (array, _) = to_ffi(&StructArray::from(self.0.clone()).to_data()).map_err(raise_task)?;
        Ok((self.__arrow_c_schema__(py)?, PyCapsule::new_with_value(py, array, ARRAY)?))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        stream_capsule(py, RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema()))
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("<RecordBatch of {} rows: {}>", self.0.num_rows(), self.column_names().join(", "))
    }
}
