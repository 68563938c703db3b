//! The models of a server. A reload opens them anew; requests that run keep those that they began with.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use consonant::task::Task as _;
use consonant::text::Document;
use consonant::{
    Error, Layers, Lemmatizer, Linker, Models, Ner, Parser, Pipeline, Segmenter, Summarizer, Tagger,
    TopicAnnotator,
};
use serde_json::Value;

use crate::problem::Problem;

#[derive(Debug)]
pub struct Loaded {
    pub models: Option<Models>,
    pub layers: Layers,
    /// Pipelines by what they give; opening one takes milliseconds, and there are thirty-two at most.
    pipelines: Mutex<Vec<(Kind, Arc<Pipeline>)>>,
    pub annotator: TopicAnnotator,
    pub summarizer: Summarizer,
    linker: Option<Linker>,
    topics: Mutex<Vec<Topic>>,
    described: OnceLock<Vec<(&'static str, Value)>>,
}

/// Layers, and whether their confidence is wanted.
type Kind = (Layers, bool);

const TASKS: [&str; 7] = [
    Segmenter::NAME,
    Tagger::NAME,
    Lemmatizer::NAME,
    Ner::NAME,
    Parser::NAME,
    Summarizer::NAME,
    Linker::NAME,
];

/// Documents that were summarized lately, annotated: who moves a slider sends the same ones again.
#[derive(Debug)]
struct Topic {
    texts: Vec<String>,
    documents: Vec<Document>,
}

/// Topics that are kept, and the bytes of text that they may have together.
const TOPICS: usize = 8;
const TOPIC_BYTES: usize = 1 << 20;

impl Loaded {
    /// Opens the models of a folder, or the embedded ones; a library without any still solves problems.
    pub fn open(folder: Option<&Path>) -> Result<Self, Error> {
        let models = match folder {
            Some(folder) => Some(Models::folder(folder)?),
            None => Models::embedded().ok(),
        };
        let layers = models.as_ref().map(Pipeline::layers_if_any).transpose()?.unwrap_or_default();
        let annotator = TopicAnnotator::open(folder)?;
        let linker = models.as_ref().map(|models| models.open(Linker::NAME)).transpose()?.flatten();
        let loaded = Self {
            summarizer: annotator.summarizer()?,
            linker: linker.as_ref().map(Linker::open).transpose().map_err(Error::task)?,
            models,
            layers,
            pipelines: Mutex::default(),
            annotator,
            topics: Mutex::default(),
            described: OnceLock::new(),
        };
        // A model that cannot be opened is told at the start, not to the first client.
        if loaded.models.is_some() {
            loaded.open_pipeline((layers, false))?;
        }
        Ok(loaded)
    }

    /// The pipeline that gives these layers, with how sure it is of them if that is wanted.
    pub fn pipeline(&self, layers: Layers, confidence: bool) -> Result<Arc<Pipeline>, Problem> {
        Ok(self.open_pipeline((layers, confidence))?)
    }

    fn open_pipeline(&self, kind: Kind) -> Result<Arc<Pipeline>, Error> {
        let models = self.models.as_ref().ok_or(Error::NoModels)?;
        let find = |pipelines: &Vec<(Kind, Arc<Pipeline>)>| {
            pipelines.iter().find(|(known, _)| *known == kind).map(|(_, pipeline)| Arc::clone(pipeline))
        };
        if let Some(pipeline) = find(&self.pipelines.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(pipeline);
        }
        let (layers, confidence) = kind;
        let opened = Pipeline::open(models, layers)?;
        let opened = Arc::new(if confidence { opened.with_confidence() } else { opened });
        let mut pipelines = self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(find(&pipelines).unwrap_or_else(|| {
            pipelines.push((kind, Arc::clone(&opened)));
            opened
        }))
    }

    /// The pipeline of all layers.
    pub fn whole(&self) -> Result<Arc<Pipeline>, Problem> {
        self.pipeline(self.layers, false)
    }

    pub fn linker(&self) -> Result<&Linker, Problem> {
        let text = "there is no threads.model among the models: train one (`consonant train threads`) and name its folder (--models DIR)";
        self.linker.as_ref().ok_or_else(|| Problem::missing(text))
    }

    /// Documents of these texts that were annotated before, taken out so that nobody waits for them.
    pub fn take_topic(&self, texts: &[String]) -> Option<Vec<Document>> {
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        let place = topics.iter().position(|topic| topic.texts == texts)?;
        Some(topics.remove(place).documents)
    }

    /// Keeps annotated documents for the next time.
    pub fn keep_topic(&self, texts: Vec<String>, documents: Vec<Document>) {
        let bytes = |texts: &[String]| texts.iter().map(String::len).sum::<usize>();
        let mut sum = bytes(&texts);
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        topics.insert(0, Topic { texts, documents });
        topics.truncate(TOPICS);
        let first = topics.iter().skip(1).position(|topic| {
            sum += bytes(&topic.texts);
            sum > TOPIC_BYTES
        });
        if let Some(first) = first {
            topics.truncate(first + 1);
        }
        if sum > TOPIC_BYTES && topics.len() == 1 {
            topics.clear();
        }
    }

    /// The tasks that there are models for, with what the models say of themselves.
    pub fn described(&self) -> &[(&'static str, Value)] {
        let describe = |task| {
            let model = self.models.as_ref()?.open(task).ok().flatten()?;
            Some((task, model.metadata().clone()))
        };
        self.described.get_or_init(|| TASKS.into_iter().filter_map(describe).collect())
    }

    /// Where the models come from.
    pub fn place(&self) -> Option<PathBuf> {
        match &self.models {
            Some(Models::Folder(folder)) => Some(folder.clone()),
            _ => None,
        }
    }
}
