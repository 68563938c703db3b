//! The pipeline: texts in, documents out, one by one or as a stream; summaries; columns.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use consonant::registry::Given;
use consonant::summarizer::{Source, Summarizer, SummarizerOptions};
use consonant::task::Usage;
use consonant::{Annotated, Error, Layers, Models, Pipeline, TopicAnnotator};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyIterator, PyType};
use rayon::ThreadPool;

use crate::arrow::{Batch, import};
use crate::doc::{Certificate, Doc};
use crate::errors::{raise, usage, warn};
use crate::run::{Running, pool, run, start};

/// Models that turn text into documents.
#[pyclass(frozen, subclass, module = "consonant._consonant")]
pub struct Nlp {
    pipeline: Arc<Pipeline>,
    folder: Option<PathBuf>,
    layers: Layers,
    /// Opened when the first summary is wanted.
    topics: Arc<OnceLock<Topics>>,
}

struct Topics {
    annotator: TopicAnnotator,
    summarizer: Summarizer,
}

fn open_topics(folder: Option<&PathBuf>) -> Result<Topics, Error> {
    let annotator = TopicAnnotator::open(folder.map(PathBuf::as_path))?;
    Ok(Topics { summarizer: annotator.summarizer()?, annotator })
}

#[pymethods]
impl Nlp {
    #[new]
    #[pyo3(signature = (folder=None, layers=None))]
    fn new(py: Python<'_>, folder: Option<PathBuf>, layers: Option<Vec<String>>) -> PyResult<Self> {
        let models = Models::of(folder.as_deref()).map_err(raise)?;
        let layers = match layers {
            None => Pipeline::layers_of(&models).map_err(raise)?,
            Some(names) => {
                if let Some(name) = names
                    .iter()
                    .find(|name| !["tokens", "tags", "lemmas", "entities", "tree"].contains(&name.as_str()))
                {
                    return Err(usage(format!(
                        "there is no layer `{name}`; the layers are tokens, tags, lemmas, entities, tree"
                    )));
                }
                let has = |name: &str| names.iter().any(|given| given == name);
                Layers {
                    tags: has("tags"),
                    lemmas: has("lemmas"),
                    entities: has("entities"),
                    tree: has("tree"),
                }
            }
        };
        let pipeline = Arc::new(Pipeline::open(&models, layers).map_err(raise)?);
        if let Some(misfit) = pipeline.misfit() {
            warn(py, &misfit)?;
        }
        Ok(Self { pipeline, folder, layers, topics: Arc::default() })
    }

    /// Annotates a text.
    #[pyo3(signature = (text, *, threads=None))]
    fn __call__(&self, py: Python<'_>, text: PyBackedStr, threads: Option<usize>) -> PyResult<Doc> {
        let pipeline = Arc::clone(&self.pipeline);
        run(py, threads, move || pipeline.annotate(&text)).map(Doc::from)
    }

    /// Annotates texts as they are asked for, in order and in bounded memory.
    #[pyo3(signature = (texts, *, threads=None, batch_size=128))]
    fn pipe(
        &self,
        texts: &Bound<'_, PyAny>,
        threads: Option<usize>,
        batch_size: usize,
    ) -> PyResult<DocStream> {
        if batch_size == 0 {
            return Err(usage("batch_size must be 1 or more"));
        }
        Ok(DocStream {
            texts: Some(texts.try_iter()?.unbind()),
            pipeline: Arc::clone(&self.pipeline),
            pool: pool(threads)?,
            size: batch_size,
            running: VecDeque::new(),
            ready: VecDeque::new(),
            failed: None,
        })
    }

    /// Annotates sentences in CoNLL-U that have their tokens.
    #[pyo3(signature = (conllu, *, threads=None))]
    fn annotate_conllu(&self, py: Python<'_>, conllu: PyBackedStr, threads: Option<usize>) -> PyResult<Doc> {
        use consonant::text::{Document, SentenceReader};
        let pipeline = Arc::clone(&self.pipeline);
        let annotated = run(py, threads, move || {
            let sentences: Result<Vec<_>, _> =
                SentenceReader::conllu(conllu.as_bytes(), "the text").collect();
            let mut document = Document::from_sentences(sentences?);
            let certificates = pipeline.annotate_sentences(document.sentences_mut())?;
            Ok(Annotated { document, certificates })
        });
        annotated.map(Doc::from)
    }

    /// A summary as JSON, its sentences with what was deleted in brackets, and its certificate.
    #[pyo3(signature = (texts, names, options, threads=None))]
    fn summarize(
        &self,
        py: Python<'_>,
        texts: Vec<PyBackedStr>,
        names: Vec<String>,
        options: &str,
        threads: Option<usize>,
    ) -> PyResult<(String, Vec<String>, Option<Certificate>)> {
        let values = serde_json::from_str(options).map_err(|error| usage(error.to_string()))?;
        let given = Given { values, ..Given::default() };
        let (topics, folder) = (Arc::clone(&self.topics), self.folder.clone());
        let summarize = move || -> Result<_, Error> {
            let options: SummarizerOptions = given.settings()?;
            let topics = match topics.get() {
                Some(topics) => topics,
                None => {
                    let opened = open_topics(folder.as_ref())?;
                    topics.get_or_init(|| opened)
                }
            };
            let named = texts.iter().zip(&names);
            let sources: Vec<Source> = named.map(|(text, name)| Source::from_text(name, &**text)).collect();
            let mut documents: Vec<_> = sources.iter().map(Source::document).collect();
            let Topics { annotator, summarizer } = topics;
            summarizer.annotate_documents(&mut documents, &options, annotator).map_err(Error::boxed)?;
            let summary = summarizer.assemble(&documents, &options).summary(&options).map_err(Error::task)?;
            let marked =
                summary.sentences.iter().map(|sentence| sentence.marked(|deleted| format!("[{deleted}]")));
            Ok((
                summary.to_json(&sources).to_string(),
                marked.collect(),
                summary.certificate.map(Certificate),
            ))
        };
        run(py, threads, summarize)
    }

    /// Adds the columns `sentences` and `entities` to a batch of columns.
    #[pyo3(signature = (batch, text="text", *, threads=None))]
    fn annotate_batch(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, PyAny>,
        text: &str,
        threads: Option<usize>,
    ) -> PyResult<Batch> {
        let given = import(batch)?;
        let (pipeline, text) = (Arc::clone(&self.pipeline), text.to_owned());
        let annotating = start(&*pool(threads)?, move |_, stop| {
            let given = consonant::arrow::concatenate(&given)?
                .ok_or_else(|| Usage("there is no batch to annotate".to_owned()))?;
            consonant::arrow::annotate_batch(&pipeline, &given, &text, Some(stop))
        });
        annotating.wait(py, None).map(Batch)
    }

    fn __repr__(&self) -> String {
        let models =
            self.folder.as_ref().map_or("the embedded English models".into(), |f| f.display().to_string());
        format!("<Nlp by {models}: {}>", self.layer_names().join(", "))
    }

    /// Pipelines are opened again by whoever unpickles them.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, Opening) {
        (slf.get_type(), (slf.get().folder.clone(), slf.get().layer_names()))
    }
}

/// What a pipeline is opened with.
type Opening = (Option<PathBuf>, Vec<&'static str>);

impl Nlp {
    fn layer_names(&self) -> Vec<&'static str> {
        let Layers { tags, lemmas, entities, tree } = self.layers;
        let layers = [("tags", tags), ("lemmas", lemmas), ("entities", entities), ("tree", tree)];
        layers.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect()
    }
}

/// Batches that are worked on while documents are handed out.
const AHEAD: usize = 2;
/// Bytes of text after which a batch is full, however few texts it has.
const FULL: usize = 1 << 18;

/// Documents as they are asked for.
#[pyclass(module = "consonant")]
pub struct DocStream {
    texts: Option<Py<PyIterator>>,
    pipeline: Arc<Pipeline>,
    pool: Arc<ThreadPool>,
    size: usize,
    running: VecDeque<Running<Vec<Annotated>>>,
    ready: VecDeque<Annotated>,
    /// What the iterator of texts raised; raised again when the texts before it are done.
    failed: Option<PyErr>,
}

impl DocStream {
    /// Starts the next batch, if there are texts.
    fn start(&mut self, py: Python<'_>) {
        let Some(texts) = &self.texts else { return };
        let mut texts = texts.bind(py).clone();
        let (mut batch, mut bytes) = (Vec::<PyBackedStr>::new(), 0);
        while batch.len() < self.size && bytes < FULL {
            match texts.next().map(|text| text.and_then(|text| text.extract::<PyBackedStr>())) {
                Some(Ok(text)) => {
                    bytes += text.len();
                    batch.push(text);
                }
                end => {
                    self.failed = end.and_then(Result::err);
                    self.texts = None;
                    break;
                }
            }
        }
        if !batch.is_empty() {
            let pipeline = Arc::clone(&self.pipeline);
            self.running.push_back(start(&self.pool, move |_, _| pipeline.annotate_all(&batch)));
        }
    }
}

#[pymethods]
impl DocStream {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Doc>> {
        loop {
            if let Some(annotated) = self.ready.pop_front() {
                return Ok(Some(annotated.into()));
            }
            while self.running.len() < AHEAD && self.texts.is_some() {
                self.start(py);
            }
            match self.running.pop_front() {
                Some(running) => self.ready.extend(running.wait(py, None)?),
                None => return self.failed.take().map_or(Ok(None), Err),
            }
        }
    }
}
