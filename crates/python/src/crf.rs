//! Chains over feature dictionaries, as users of CRFsuite know them.

use std::sync::Arc;

use consonant::Error;
use consonant::learn::model::Model as ModelFile;
use consonant::learn::trainer::{EpochReport, Parameter, Run, TrainingAlgorithm as _};
use consonant::sequence::{
    Algorithm, AttributeCorpus, AttributeModel, ChainDecoder, CorpusOptions, Pairs, SentenceKeys,
    SequenceError, Training,
};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::errors::{raise, raise_task, usage};
use crate::run::{pool, start};

/// Reads the attributes of items, which are dictionaries or lists of names.
struct Attributes {
    /// Whether attributes of value 0 are told of: they say which weights there are, and change no score.
    zeros: bool,
    name: String,
    /// The keys of the first dictionary, in its order: others mostly have the same.
    keys: Vec<Key>,
}

/// A key that is expected again.
struct Key {
    object: Py<PyString>,
    /// The key and a colon, and behind them the value that came last.
    name: String,
    /// How long the key is with its colon.
    length: usize,
}

impl Key {
    /// Whether a key is this one: the very same object, or the same text.
    fn is(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let same = |key: &Bound<'_, PyString>| Ok(key.to_str()? == &self.name[..self.length - 1]);
        let text = || key.cast_exact::<PyString>().map_or(Ok(false), same);
        if self.object.as_ptr() == key.as_ptr() { Ok(true) } else { text() }
    }
}

/// More keys of a dictionary are not remembered.
const MOST_KEYS: usize = 256;

impl Attributes {
    fn new(zeros: bool) -> Self {
        Self { zeros, name: String::new(), keys: Vec::new() }
    }

    /// Calls `each` with the name and value of each attribute of an item.
    fn read(&mut self, item: &Bound<'_, PyAny>, each: &mut impl FnMut(&str, f32)) -> PyResult<()> {
        self.name.clear();
        match item.cast::<PyDict>() {
            Ok(dictionary) => self.dictionary(dictionary, each),
            Err(_) => self.names(item, each),
        }
    }

    fn dictionary(&mut self, item: &Bound<'_, PyDict>, each: &mut impl FnMut(&str, f32)) -> PyResult<()> {
        let (start, size, mut place) = (self.name.len(), item.len(), 0);
        for at in 0.. {
            let Some((key, value)) = next_entry(item, &mut place) else { break };
            // Nothing of Python's runs for texts and truths, so that they need not be owned.
            if start == 0
                && let Some(known) = self.keys.get_mut(at)
                && known.is(&key)?
            {
                if let Ok(text) = value.cast_exact::<PyString>() {
                    known.name.truncate(known.length);
                    known.name.push_str(text.to_str()?);
                    each(&known.name, 1.0);
                    continue;
                }
                if let Ok(truth) = value.cast::<PyBool>() {
                    let number = f32::from(u8::from(truth.is_true()));
                    if number != 0.0 || self.zeros {
                        each(&known.name[..known.length - 1], number);
                    }
                    continue;
                }
            }
            self.name.truncate(start);
            let (key, value) = (key.to_owned(), value.to_owned());
            self.push(&key)?;
            self.name.push(':');
            if start == 0
                && at == self.keys.len()
                && at < MOST_KEYS
                && let Ok(object) = key.cast::<PyString>()
            {
                let (object, name) = (object.clone().unbind(), self.name.clone());
                self.keys.push(Key { object, length: name.len(), name });
            }
            if let Ok(text) = value.cast::<PyString>() {
                self.name.push_str(text.to_str()?);
                each(&self.name, 1.0);
            } else if let Some(number) = number(&value)? {
                self.number(number, each);
            } else {
                match value.cast::<PyDict>() {
                    Ok(inner) => self.dictionary(inner, each)?,
                    Err(_) => self.names(&value, each)?,
                }
            }
            if item.len() != size {
                return Err(PyRuntimeError::new_err("a dictionary changed while it was read"));
            }
        }
        self.name.truncate(start);
        Ok(())
    }

    /// Tells of a number, whose name goes without the colon.
    fn number(&mut self, number: f32, each: &mut impl FnMut(&str, f32)) {
        if number != 0.0 || self.zeros {
            self.name.pop();
            each(&self.name, number);
        }
    }

    fn names(&mut self, item: &Bound<'_, PyAny>, each: &mut impl FnMut(&str, f32)) -> PyResult<()> {
        let start = self.name.len();
        let names = item.try_iter().map_err(|_| {
            PyTypeError::new_err(format!(
                "expected a string, a number, a dictionary or a list of strings, found {}",
                item.get_type()
            ))
        })?;
        for entry in names {
            self.name.truncate(start);
            self.push(&entry?)?;
            each(&self.name, 1.0);
        }
        self.name.truncate(start);
        Ok(())
    }

    fn push(&mut self, text: &Bound<'_, PyAny>) -> PyResult<()> {
        match text.cast::<PyString>() {
            Ok(text) => self.name.push_str(text.to_str()?),
            Err(_) => self.name.push_str(text.str()?.to_str()?),
        }
        Ok(())
    }
}

/// The entry of a dictionary at a place, which moves on. Counting references would be a tenth of all work.
#[allow(unsafe_code)]
fn next_entry<'a, 'py>(
    item: &'a Bound<'py, PyDict>,
    place: &mut isize,
) -> Option<(Borrowed<'a, 'py, PyAny>, Borrowed<'a, 'py, PyAny>)> {
    let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the pointers are those of a dictionary and of places to write to, and what is written there lives as
    // long as the dictionary has it. Who lets Python run must own key and value before.
    unsafe {
        (ffi::PyDict_Next(item.as_ptr(), place, &mut key, &mut value) != 0)
            .then(|| (Borrowed::from_ptr(item.py(), key), Borrowed::from_ptr(item.py(), value)))
    }
}

/// A truth, a number of Python's or one of NumPy's; nothing if it is something else.
fn number(value: &Bound<'_, PyAny>) -> PyResult<Option<f32>> {
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Some(f32::from(u8::from(truth.is_true()))));
    }
    if value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>() {
        return Ok(Some(value.extract::<f64>()? as f32));
    }
    if value.is_instance_of::<PyDict>() {
        return Ok(None);
    }
    Ok(value.extract::<f64>().ok().map(|number| number as f32))
}

/// Sequences that are read before they are decoded, for each thread: few, so that what was read is still in the
/// cache and Ctrl-C need not wait.
const BLOCK: usize = 64;
/// A block ends earlier where its sequences have so many attributes.
const MOST_ATTRIBUTES: usize = 1 << 17;

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

    fn names<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyString>> {
        self.own.chain().labels().names().iter().map(|name| PyString::new(py, name)).collect()
    }

    /// Reads sequences block by block, asks the decoder of each, with the GIL released, and gives the answers in order.
    fn decode<'py, T: Send>(
        &self,
        x: &Bound<'py, PyAny>,
        threads: usize,
        answer: impl Fn(&mut ChainDecoder) -> Result<T, SequenceError> + Sync,
        mut give: impl FnMut(T) -> PyResult<()>,
    ) -> PyResult<()> {
        let pool = if threads == 1 { None } else { Some(pool(Some(threads))?) };
        let (mut decoder, mut attributes) = (self.own.decoder(), Attributes::new(false));
        let (mut rest, mut block) = (x.try_iter()?, Vec::new());
        loop {
            let (mut read, mut size) = (0, 0);
            while read < BLOCK * threads && size < MOST_ATTRIBUTES {
                let Some(sequence) = rest.next() else { break };
                if read == block.len() {
                    block.push(SentenceKeys::new());
                }
                let keys: &mut SentenceKeys = &mut block[read];
                keys.clear();
                for item in sequence?.try_iter()? {
                    keys.token();
                    attributes.read(&item?, &mut |name, value| keys.named(name, value))?;
                }
                (read, size) = (read + 1, size + keys.features_of_all());
            }
            if read == 0 {
                return Ok(());
            }
            let sequences = &block[..read];
            let answers: Result<Vec<T>, _> = x.py().detach(|| match &pool {
                Some(pool) => pool.install(|| self.own.each(sequences, &answer)),
                None => {
                    let mut one = |keys: &SentenceKeys| {
                        decoder.score(keys);
                        answer(&mut decoder)
                    };
                    sequences.iter().map(&mut one).collect()
                }
            });
            x.py().check_signals()?;
            answers.map_err(raise_task)?.into_iter().try_for_each(&mut give)?;
        }
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
        let (mut attributes, mut labels) = (Attributes::new(true), y.try_iter()?);
        for (number, sequence) in x.try_iter()?.enumerate() {
            py.check_signals()?;
            let unequal = || usage(format!("sequence {number}: X and y are not equally long"));
            let mut own = labels.next().ok_or_else(unequal)??.try_iter()?;
            for item in sequence?.try_iter()? {
                attributes.read(&item?, &mut |name, value| corpus.attribute(name, value))?;
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
        let (names, all) = (self.names(py), PyList::empty(py));
        let best = |decoder: &mut ChainDecoder| {
            let mut path = Vec::new();
            decoder.best(None, &mut path)?;
            Ok(path)
        };
        self.decode(x, threads, best, |path: Vec<u32>| {
            all.append(PyList::new(py, path.iter().map(|&label| &names[label as usize]))?)
        })?;
        Ok(all)
    }

    /// The probability of each label at each item, as dictionaries.
    #[pyo3(signature = (x, threads=1))]
    fn marginals<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let (names, all) = (self.names(py), PyList::empty(py));
        let nodes = |decoder: &mut ChainDecoder| decoder.marginals(None, |found| found.nodes().to_vec());
        self.decode(x, threads, nodes, |sequence: Vec<f64>| {
            let items = PyList::empty(py);
            for item in sequence.chunks_exact(names.len()) {
                let item_marginals = PyDict::new(py);
                names
                    .iter()
                    .zip(item)
                    .try_for_each(|(name, probability)| item_marginals.set_item(name, probability))?;
                items.append(item_marginals)?;
            }
            all.append(items)
        })?;
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
