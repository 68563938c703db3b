//! The tasks of the registry: trained, opened, applied and looked into by name, so that a new task costs nothing here.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use consonant::learn::LearnError;
use consonant::learn::model::Model as ModelFile;
use consonant::learn::settings::{Arity, Field};
use consonant::learn::trainer::{self, Courier, Place, Trip};
use consonant::registry::{AnyModel, AnyTask, Given, Jackknife, Prediction, Registry, TrainingFiles};
use consonant::task::{Annotate, Event, Reads, Trained, Usage, Watch};
use consonant::{Error, Tagging, TopicAnnotator};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use serde_json::{Value, json};

use crate::doc::Certificate;
use crate::errors::{raise, usage, warn};
use crate::run::{pool, run, start};

fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(Registry::default)
}

/// The tasks as JSON: names, what they learn from, their settings and options with help and defaults.
#[pyfunction]
pub fn tasks() -> String {
    let fields = |fields: Vec<(&'static Field, Option<String>)>| -> Vec<Value> {
        let shown = |(field, default): (&Field, Option<String>)| {
            let arity = match field.arity {
                Arity::Switch => "switch",
                Arity::One => "one",
                Arity::Many => "many",
            };
            let help = field.help.split_whitespace().collect::<Vec<_>>().join(" ");
            json!({"name": field.name, "value": field.value, "help": help, "default": default, "arity": arity, "research": field.research})
        };
        fields.into_iter().map(shown).collect()
    };
    let task = |task: &dyn AnyTask| {
        let sources: Vec<Value> =
            task.sources().iter().map(|source| json!({"name": source.name, "help": source.help})).collect();
        json!({
            "name": task.name(), "plural": task.plural(), "about": task.about(), "sources": sources,
            "reads": match task.reads() { Reads::Tokens => "tokens", Reads::Tags => "tags", Reads::Trees => "trees" },
            "settings": fields(task.settings()), "options": fields(task.options()),
        })
    };
    Value::from_iter(registry().tasks().map(task)).to_string()
}

fn given(settings: &str) -> PyResult<Given> {
    let values = serde_json::from_str(settings).map_err(|error| usage(format!("settings: {error}")))?;
    Ok(Given { values, ..Given::default() })
}

/// A trained model.
#[pyclass(frozen, module = "consonant")]
pub struct Model {
    file: ModelFile,
    bytes: Arc<[u8]>,
    own: Arc<dyn AnyModel>,
    /// How its training went, if it was trained here.
    #[pyo3(get)]
    summary: Option<String>,
}

impl Model {
    fn of(bytes: Vec<u8>, name: &str, summary: Option<String>) -> Result<Self, Error> {
        let file = ModelFile::from_bytes(&bytes)?;
        let own = registry().open(&file, name)?.into();
        Ok(Self { file, bytes: bytes.into(), own, summary })
    }
}

/// What a training learns from and how, as Python gives it.
struct Lesson {
    task: &'static dyn AnyTask,
    given: Given,
    sources: Vec<Vec<PathBuf>>,
    dev: Vec<PathBuf>,
    initial: Option<ModelFile>,
    tagger: Option<PathBuf>,
    jackknife: Option<usize>,
    models: Option<PathBuf>,
}

impl Lesson {
    fn new(task: &str, settings: &str, sources: Vec<Vec<PathBuf>>) -> PyResult<Self> {
        let Some(task) = registry().get(task) else {
            return Err(usage(format!("there is no task `{task}`")));
        };
        let given = given(settings)?;
        task.check(&given).map_err(raise)?;
        let (dev, initial, tagger, jackknife, models) = (Vec::new(), None, None, None, None);
        Ok(Self { task, given, sources, dev, initial, tagger, jackknife, models })
    }

    fn train(self, watch: &mut Watch<'_>) -> Result<Trained, Error> {
        let Self { task, given, sources, dev, initial, tagger, jackknife, models } = self;
        let tagger = tagger.map(|path| Tagging::open(&path)).transpose()?;
        let pipeline = match task.reads() {
            Reads::Trees => Some(TopicAnnotator::open(models.as_deref())?),
            _ => None,
        };
        let jackknife = jackknife.zip(tagger.as_ref());
        let jackknife = jackknife.map(|(parts, tagger)| Jackknife { tagger: &tagger.0, parts, seed: 1 });
        let annotator = tagger.as_ref().map(|tagger| tagger as &dyn Annotate);
        let annotator = annotator.or(pipeline.as_ref().map(|pipeline| pipeline as &dyn Annotate));
        let files = TrainingFiles { sources, dev, initial, max_unpacked: None, annotator, jackknife };
        task.train(&files, &given, watch)
    }
}

/// Trains a model for a task. `sources` and `dev` are lists of files; the listener hears every event. `carry` takes the shares of
/// shards to workers: called with stage, number of shares, their common state and the outcomes of earlier stages, it returns an answer for each.
#[pyfunction]
#[pyo3(signature = (task, sources, dev, settings, *, init=None, tagger=None, jackknife=None, models=None, checkpoint=None, listener=None, threads=None, carry=None))]
#[allow(clippy::too_many_arguments)]
pub fn train(
    py: Python<'_>,
    task: &str,
    sources: Vec<Vec<PathBuf>>,
    dev: Vec<PathBuf>,
    settings: &str,
    init: Option<&Bound<'_, Model>>,
    tagger: Option<PathBuf>,
    jackknife: Option<usize>,
    models: Option<PathBuf>,
    checkpoint: Option<PathBuf>,
    listener: Option<&Bound<'_, PyAny>>,
    threads: Option<usize>,
    carry: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let initial = init.map(|model| model.get().file.clone());
    let lesson = Lesson { dev, initial, tagger, jackknife, models, ..Lesson::new(task, settings, sources)? };
    let running = start(&*pool(threads)?, move |told, stop| {
        let courier = carry.map(|carry| Courier::new(move |trip: Trip<'_>| carried(&carry, &trip)));
        let mut hear = |event: Event| told.tell(event.to_string());
        let mut watch = Watch::with(&mut hear);
        watch.stop = Some(&**stop);
        watch.checkpoint = checkpoint;
        watch.place = courier.as_ref().map_or(Place::Here, Place::Elsewhere);
        let trained = lesson.train(&mut watch)?;
        Model::of(trained.model.to_bytes(), "the model", Some(trained.summary))
    });
    running.wait(py, listener)
}

/// Has shares worked on by whatever Python calls workers.
fn carried(carry: &Py<PyAny>, trip: &Trip<'_>) -> Result<Vec<Vec<u8>>, LearnError> {
    let answers = Python::attach(|py| {
        let state = PyBytes::new(py, trip.state);
        let finished: Vec<_> = trip.finished.iter().map(|outcome| PyBytes::new(py, outcome)).collect();
        let answers = carry.call1(py, (trip.stage, trip.shares, state, finished))?;
        answers.extract::<Vec<PyBackedBytes>>(py)
    });
    let answers = answers.map_err(LearnError::worker)?;
    Ok(answers.iter().map(|answer| answer.to_vec()).collect())
}

/// Works on shares of a training, for a process that calls `train` with the same files and settings.
#[pyclass(frozen, module = "consonant")]
pub struct Worker(trainer::Worker);

#[pymethods]
impl Worker {
    /// Begins to read the data; errors come with the first share.
    #[new]
    #[pyo3(signature = (task, sources, settings, *, init=None, tagger=None, jackknife=None, models=None, threads=1))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        task: &str,
        sources: Vec<Vec<PathBuf>>,
        settings: &str,
        init: Option<&Bound<'_, Model>>,
        tagger: Option<PathBuf>,
        jackknife: Option<usize>,
        models: Option<PathBuf>,
        threads: usize,
    ) -> PyResult<Self> {
        let initial = init.map(|model| model.get().file.clone());
        let lesson = Lesson { initial, tagger, jackknife, models, ..Lesson::new(task, settings, sources)? };
        let pool = pool(Some(threads))?;
        Ok(Self(trainer::Worker::start(move |desk| {
            pool.install(|| {
                let mut watch = Watch::none();
                watch.place = Place::Worker(desk);
                lesson.train(&mut watch)
            })
        })))
    }

    /// The answer for one share.
    fn work<'py>(
        &self,
        py: Python<'py>,
        stage: usize,
        share: usize,
        shares: usize,
        state: &[u8],
        finished: Vec<PyBackedBytes>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let finished: Vec<Vec<u8>> = finished.iter().map(|outcome| outcome.to_vec()).collect();
        let trip = Trip { stage, shares, state, finished: &finished };
        let answer = py.detach(|| self.0.work(&trip, share)).map_err(|error| raise(error.into()))?;
        Ok(PyBytes::new(py, &answer))
    }
}

#[pymethods]
impl Model {
    /// Opens a model file.
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        let name = path.display().to_string();
        // The library's reader says what is wrong with a file that is none.
        let file = ModelFile::open(&path).map_err(|error| raise(error.into()))?;
        let own = registry().open(&file, &name).map_err(raise)?.into();
        Ok(Self { file, bytes: std::fs::read(&path)?.into(), own, summary: None })
    }

    /// Opens a model from bytes.
    #[staticmethod]
    fn from_bytes(bytes: Vec<u8>) -> PyResult<Self> {
        Self::of(bytes, "the model", None).map_err(raise)
    }

    /// The model as it would stand in a file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    /// Writes the model; the file appears when it is complete.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        Ok(consonant::learn::file::write(path, &self.bytes)?)
    }

    /// The name of its task.
    #[getter]
    fn task(&self) -> &'static str {
        self.own.task()
    }

    /// What the task wrote about itself, as JSON.
    #[getter]
    fn metadata(&self) -> String {
        self.file.metadata().to_string()
    }

    /// The settings file that would train it again, in TOML.
    fn settings(&self) -> PyResult<String> {
        let task = registry().get(self.own.task()).ok_or_else(|| usage("the task is not known"))?;
        task.stored_settings(&self.file).map_err(raise)
    }

    /// Decodes files: the output in the input's format, and a certificate for each unit.
    #[pyo3(signature = (inputs, options, *, tagger=None, models=None, threads=None))]
    fn predict(
        &self,
        py: Python<'_>,
        inputs: Vec<PathBuf>,
        options: &str,
        tagger: Option<PathBuf>,
        models: Option<PathBuf>,
        threads: Option<usize>,
    ) -> PyResult<(String, Vec<Certificate>)> {
        let (own, given) = (Arc::clone(&self.own), given(options)?);
        let predict = move || {
            let annotator: Option<Box<dyn Annotate>> = match (tagger, own.reads()) {
                (Some(path), Reads::Tags) => Some(Box::new(Tagging::open(&path)?)),
                (Some(_), _) => {
                    return Err(Usage(
                        "the model does not read tags, so a tagger is of no use to it".to_owned(),
                    )
                    .into());
                }
                (None, Reads::Trees) => Some(Box::new(TopicAnnotator::open(models.as_deref())?)),
                (None, _) => None,
            };
            let (mut out, mut certificates, mut notes) = (Vec::new(), Vec::new(), Vec::new());
            own.predict(Prediction {
                inputs: &inputs,
                out: &mut out,
                given: &given,
                annotator: annotator.as_deref(),
                problems: None,
                done: &mut |_, units, _| certificates.extend(units.iter().map(Certificate::from)),
                note: &mut |text| notes.push(text),
            })?;
            Ok((String::from_utf8_lossy(&out).into_owned(), certificates, notes))
        };
        let (out, certificates, notes) = run(py, threads, predict)?;
        for note in notes {
            warn(py, note.trim_start_matches("warning: "))?;
        }
        Ok((out, certificates))
    }

    /// What it is and has learned, for people.
    #[pyo3(signature = (top=20))]
    fn inspect(&self, top: usize) -> String {
        self.own.inspect(top).to_string()
    }

    /// What decided each choice for the items of a file, for people.
    #[pyo3(signature = (path, top=20))]
    fn explain(&self, py: Python<'_>, path: PathBuf, top: usize) -> PyResult<String> {
        let own = Arc::clone(&self.own);
        run(py, None, move || {
            let mut text = String::new();
            own.explain(&path, &mut |explanations| {
                text.extend(explanations.iter().map(|explanation| explanation.to_text(top)));
                text.push('\n');
                Ok(())
            })?;
            Ok(text)
        })
    }

    fn __repr__(&self) -> String {
        format!("<Model for {}, {} bytes>", self.own.task(), self.bytes.len())
    }
}
