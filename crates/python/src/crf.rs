//! Chains over feature dictionaries, as users of CRFsuite know them.

use std::sync::Arc;

use consonant::Error;
use consonant::learn::model::Model as ModelFile;
use consonant::learn::trainer::{EpochReport, Parameter, Run, TrainingAlgorithm as _};
use consonant::sequence::{
    Algorithm, AttributeCorpus, AttributeModel, CorpusOptions, Pairs, SentenceKeys, Training,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::errors::{raise, raise_task, usage};
use crate::run::{pool, run, start};

/// Calls `each` with the name and value of each attribute of an item: a dictionary, or a list of names.
fn attributes(item: &Bound<'_, PyAny>, name: &mut String, each: &mut impl FnMut(&str, f32)) -> PyResult<()> {
    name.clear();
    match item.cast::<PyDict>() {
        Ok(dictionary) => of_dictionary(dictionary, name, each),
        Err(_) => of_names(item, name, each),
    }
}

fn of_dictionary(
    item: &Bound<'_, PyDict>,
    name: &mut String,
    each: &mut impl FnMut(&str, f32),
) -> PyResult<()> {
    let start = name.len();
    for (key, value) in item {
        name.truncate(start);
        match key.cast::<PyString>() {
            Ok(key) => name.push_str(key.to_str()?),
            Err(_) => name.push_str(key.str()?.to_str()?),
        }
        if let Ok(text) = value.cast::<PyString>() {
            name.push(':');
            name.push_str(text.to_str()?);
            each(name, 1.0);
        } else if value.is_instance_of::<PyBool>()
            || value.is_instance_of::<PyFloat>()
            || value.is_instance_of::<PyInt>()
        {
            each(name, number(&value)?);
        } else if let Ok(inner) = value.cast::<PyDict>() {
            name.push(':');
            of_dictionary(inner, name, each)?;
        } else if let Ok(number) = value.extract::<f64>() {
            // NumPy's numbers.
            each(name, number as f32);
        } else {
            name.push(':');
            of_names(&value, name, each)?;
        }
    }
    name.truncate(start);
    Ok(())
}

fn number(value: &Bound<'_, PyAny>) -> PyResult<f32> {
    match value.cast::<PyBool>() {
        Ok(truth) => Ok(f32::from(u8::from(truth.is_true()))),
        Err(_) => Ok(value.extract::<f64>()? as f32),
    }
}

fn of_names(item: &Bound<'_, PyAny>, name: &mut String, each: &mut impl FnMut(&str, f32)) -> PyResult<()> {
    let start = name.len();
    let names = item.try_iter().map_err(|_| {
        PyTypeError::new_err(format!(
            "expected a string, a number, a dictionary or a list of strings, found {}",
            item.get_type()
        ))
    })?;
    for entry in names {
        name.truncate(start);
        name.push_str(entry?.str()?.to_str()?);
        each(name, 1.0);
    }
    name.truncate(start);
    Ok(())
}

/// Sequences of feature dictionaries, as prediction reads them.
fn sequences(x: &Bound<'_, PyAny>) -> PyResult<Vec<SentenceKeys>> {
    let mut name = String::new();
    let mut all = Vec::with_capacity(x.len().unwrap_or(0));
    for sequence in x.try_iter()? {
        x.py().check_signals()?;
        let mut keys = SentenceKeys::new();
        for item in sequence?.try_iter()? {
            keys.token();
            attributes(&item?, &mut name, &mut |name, value| {
                if value != 0.0 {
                    keys.named(name, value);
                }
            })?;
        }
        all.push(keys);
    }
    Ok(all)
}

/// A trained chain over feature dictionaries.
#[pyclass(frozen, module = "consonant")]
pub struct Crf {
    own: Arc<AttributeModel>,
    bytes: Arc<[u8]>,
    history: Vec<EpochReport>,
}

impl Crf {
    fn of(bytes: Vec<u8>, history: Vec<EpochReport>) -> Result<Self, Error> {
        let own = Arc::new(AttributeModel::open(&ModelFile::from_bytes(&bytes)?).map_err(Error::task)?);
        Ok(Self { own, bytes: bytes.into(), history })
    }
}

#[pymethods]
impl Crf {
    /// Trains a chain. `parameters` are the algorithm's own, by name.
    #[staticmethod]
    #[pyo3(signature = (x, y, algorithm, parameters, *, order=1, min_count=1, all_states=false, epochs=100, seed=1, listener=None, threads=1))]
    #[allow(clippy::too_many_arguments)]
    fn train(
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        algorithm: &str,
        parameters: Vec<(String, f64)>,
        order: usize,
        min_count: u32,
        all_states: bool,
        epochs: usize,
        seed: u64,
        listener: Option<&Bound<'_, PyAny>>,
        threads: usize,
    ) -> PyResult<Self> {
        let chosen = Algorithm::ALL.iter().find(|known| known.name() == algorithm);
        let Some(&chosen) = chosen else {
            let names: Vec<&str> = Algorithm::ALL.iter().map(|known| known.name()).collect();
            return Err(usage(format!(
                "there is no algorithm `{algorithm}`; the algorithms are {}",
                names.join(", ")
            )));
        };
        let mut training = Training::new(chosen);
        for (name, value) in parameters {
            let info = chosen.info();
            let Some(known) = info.parameters.iter().find(|known| known.parameter.name() == name) else {
                return Err(usage(format!("`{algorithm}` has no parameter `{name}`")));
            };
            let parameter: Parameter = known.parameter;
            training.set(parameter, value).map_err(raise_task)?;
        }
        let pairs = if all_states { Pairs::All } else { Pairs::Observed };
        // The likelihood has CRFsuite's weights and no others; perceptrons do better with those of full rows.
        let fill = !chosen.is_batch();
        let mut corpus =
            AttributeCorpus::new(CorpusOptions { order, min_count, pairs, fill, ..CorpusOptions::default() });
        let (mut name, mut labels) = (String::new(), y.try_iter()?);
        for (number, sequence) in x.try_iter()?.enumerate() {
            py.check_signals()?;
            let unequal = || usage(format!("sequence {number}: X and y are not equally long"));
            let mut own = labels.next().ok_or_else(unequal)??.try_iter()?;
            for item in sequence?.try_iter()? {
                attributes(&item?, &mut name, &mut |name, value| corpus.attribute(name, value))?;
                let label = own.next().ok_or_else(unequal)??;
                match label.cast::<PyString>() {
                    Ok(label) => corpus.item(label.to_str()?),
                    Err(_) => corpus.item(label.str()?.to_str()?),
                }
            }
            if own.next().is_some() {
                return Err(unequal());
            }
            corpus.end();
        }
        let running = start(&*pool(Some(threads))?, move |told, stop| {
            let hear = |report: &EpochReport| {
                told.tell(format!(
                    "epoch {:3}  loss {:.4}  {:.1} s",
                    report.epoch, report.loss, report.seconds
                ));
            };
            let run = Run {
                epochs,
                seed,
                threads,
                shuffle: true,
                progress: Some(Box::new(hear)),
                interrupt: Some(&**stop),
                ..Run::default()
            };
            let (bytes, history) = corpus.train(&training.into(), run).map_err(Error::task)?;
            Self::of(bytes, history)
        });
        running.wait(py, listener)
    }

    /// Opens a chain from the bytes of its file.
    #[staticmethod]
    fn from_bytes(bytes: Vec<u8>) -> PyResult<Self> {
        Self::of(bytes, Vec::new()).map_err(raise)
    }

    /// The model as it would stand in a file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    /// The labels, in the order of their first occurrence.
    #[getter]
    fn labels(&self) -> Vec<String> {
        self.own.chain().labels().names().to_vec()
    }

    /// How the training went: epoch, loss and seconds.
    #[getter]
    fn history(&self) -> Vec<(usize, f64, f64)> {
        self.history.iter().map(|report| (report.epoch, report.loss, report.seconds)).collect()
    }

    /// The best labels of each sequence.
    #[pyo3(signature = (x, threads=1))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let (own, sequences) = (Arc::clone(&self.own), sequences(x)?);
        let paths = run(py, Some(threads), move || own.predict(&sequences).map_err(Error::task))?;
        let names: Vec<Bound<'py, PyString>> =
            self.labels().iter().map(|name| PyString::new(py, name)).collect();
        let named =
            paths.iter().map(|path| PyList::new(py, path.iter().map(|&label| &names[label as usize])));
        PyList::new(py, named.collect::<PyResult<Vec<_>>>()?)
    }

    /// The probability of each label at each item, as dictionaries.
    #[pyo3(signature = (x, threads=1))]
    fn marginals<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let (own, sequences) = (Arc::clone(&self.own), sequences(x)?);
        let marginals = run(py, Some(threads), move || own.marginals(&sequences).map_err(Error::task))?;
        let names: Vec<Bound<'py, PyString>> =
            self.labels().iter().map(|name| PyString::new(py, name)).collect();
        let all = PyList::empty(py);
        for sequence in marginals {
            let items = PyList::empty(py);
            for item in sequence.chunks_exact(names.len()) {
                let item_marginals = PyDict::new(py);
                names
                    .iter()
                    .zip(item)
                    .try_for_each(|(name, probability)| item_marginals.set_item(name, probability))?;
                items.append(item_marginals)?;
            }
            all.append(items)?;
        }
        Ok(all)
    }

    /// The weight of each attribute for each label.
    fn state_features(&self) -> Vec<(&str, &str, f32)> {
        self.own.state_features().collect()
    }

    /// The weight of each pair of neighbouring labels.
    fn transition_features(&self) -> Vec<(&str, &str, f32)> {
        self.own.transition_features().collect()
    }
}
