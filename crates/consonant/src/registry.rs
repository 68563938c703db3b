//! The tasks that there are, one line each, and what every client does with any of them.

use std::any::Any;
use std::fmt::{self, Debug};
use std::io::Write;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::Instant;

use consonant_learn::hash::{self, Fingerprint};
use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::settings::Field;
use consonant_task::{
    Annotate, Answered, Batch, Data, Explanation, Inspection, Item, ItemError, Reads, Settings, Source, Task,
    Trained, Unit, Usage, Watch,
};
use serde_json::{Map, Value};

use crate::Error;
#[cfg(feature = "tagger")]
pub use crate::jackknife::Jackknife;

/// The tasks that a client knows.
#[derive(Debug)]
pub struct Registry {
    tasks: Vec<Box<dyn AnyTask>>,
}

impl Default for Registry {
    fn default() -> Self {
        let registry = Self::new();
        #[cfg(feature = "segmenter")]
        let registry = registry.with::<crate::Segmenter>();
        #[cfg(feature = "tagger")]
        let registry = registry.with::<crate::Tagger>();
        #[cfg(feature = "lemmatizer")]
        let registry = registry.with::<crate::Lemmatizer>();
        #[cfg(feature = "ner")]
        let registry = registry.with::<crate::Ner>();
        #[cfg(feature = "parser")]
        let registry = registry.with::<crate::Parser>();
        #[cfg(feature = "summarizer")]
        let registry = registry.with::<crate::Summarizer>();
        #[cfg(feature = "conversations")]
        let registry = registry.with::<crate::Linker>();
        #[cfg(feature = "clusters")]
        let registry = registry.with::<crate::WordClusters>();
        registry
    }
}

impl Registry {
    /// Without any task.
    pub fn new() -> Self {
        Self { tasks: Vec::new() }
    }

    /// With another task.
    #[must_use]
    pub fn with<T: Task>(mut self) -> Self {
        self.tasks.push(Box::new(Entry::<T>(PhantomData)));
        self
    }

    /// All tasks, in order.
    pub fn tasks(&self) -> impl Iterator<Item = &dyn AnyTask> {
        self.tasks.iter().map(AsRef::as_ref)
    }

    /// The task of this name.
    pub fn get(&self, name: &str) -> Option<&dyn AnyTask> {
        self.tasks().find(|task| task.name() == name)
    }

    /// The task that a model names; `name` is for messages.
    pub fn task_of(&self, model: &Model, name: &str) -> Result<&dyn AnyTask, Error> {
        self.get(model.task()).ok_or_else(|| Error::UnknownTask {
            name: name.to_owned(),
            task: model.task().to_owned(),
            known: self.tasks().map(AnyTask::name).collect::<Vec<_>>().join(", "),
        })
    }

    /// Opens a model by the task that it names; `name` is for messages.
    pub fn open(&self, model: &Model, name: &str) -> Result<Box<dyn AnyModel>, Error> {
        self.task_of(model, name)?.open(model)
    }
}

/// Settings as a client gives them: the values of a file, and flags, which win.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// From a settings file or another language.
    pub values: Map<String, Value>,
    /// Names of fields and what stands behind their flags.
    pub flags: Vec<(String, Vec<String>)>,
}

impl Given {
    /// The settings that were given, checked; all others have their defaults.
    pub fn settings<S: Settings>(&self) -> Result<S, Usage> {
        let mut settings = S::default().overlaid(self.values.clone())?;
        for field in S::FIELDS {
            for (_, texts) in self.flags.iter().filter(|(name, _)| name == field.name) {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                settings.set(field.name, &texts)?;
            }
        }
        settings.check()?;
        Ok(settings)
    }
}

/// The files that a training reads, and what surrounds it.
#[derive(Default)]
pub struct TrainingFiles<'f> {
    /// For each of the task's sources, its files.
    pub sources: Vec<Vec<PathBuf>>,
    /// Files on which the best epoch is chosen.
    pub dev: Vec<PathBuf>,
    /// A model to go on from.
    pub initial: Option<Model>,
    /// How many bytes may come out of each compressed file that settings name; nothing: 1 GiB.
    pub max_unpacked: Option<u64>,
    /// Who fills in the layers that the task reads.
    pub annotator: Option<&'f dyn Annotate>,
    /// Tags training data by taggers that have not seen it.
    #[cfg(feature = "tagger")]
    pub jackknife: Option<Jackknife<'f>>,
}

impl fmt::Debug for TrainingFiles<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrainingFiles")
            .field("sources", &self.sources)
            .field("dev", &self.dev)
            .finish_non_exhaustive()
    }
}

/// What a prediction reads and writes.
pub struct Prediction<'p> {
    /// The input files; `-` is standard input.
    pub inputs: &'p [PathBuf],
    /// Where items go.
    pub out: &'p mut dyn Write,
    /// Decode options.
    pub given: &'p Given,
    /// Who fills in the layers that the model reads.
    pub annotator: Option<&'p dyn Annotate>,
    /// Called with the problems of each batch that the engine solves, and their answers.
    pub problems: Option<&'p mut dyn FnMut(Vec<Answered>) -> Result<(), Error>>,
    /// Called after each batch: how many items, the units that were decoded, the seconds it took by the
    /// clock.
    pub done: &'p mut dyn FnMut(usize, Vec<Unit>, f64),
    /// Called with what a person may want to know of the input.
    pub note: &'p mut dyn FnMut(String),
}

impl fmt::Debug for Prediction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prediction")
            .field("inputs", &self.inputs)
            .field("given", &self.given)
            .finish_non_exhaustive()
    }
}

/// A task whose type is known only at run time.
pub trait AnyTask: Debug + Send + Sync {
    /// [`Task::NAME`].
    fn name(&self) -> &'static str;
    /// [`Task::PLURAL`].
    fn plural(&self) -> &'static str;
    /// [`Task::ABOUT`].
    fn about(&self) -> &'static str;
    /// [`Task::EXAMPLE`].
    fn example(&self) -> &'static str;
    /// [`Task::SOURCES`].
    fn sources(&self) -> &'static [Source];
    /// [`Task::READS`].
    fn reads(&self) -> Reads;
    /// [`Task::CONTINUES`].
    fn continues(&self) -> bool;
    /// [`Task::DRAWS`].
    fn draws(&self) -> bool;
    /// Its settings, and each one's default as a flag would say it.
    fn settings(&self) -> Vec<(&'static Field, Option<String>)>;
    /// Its decode options likewise.
    fn options(&self) -> Vec<(&'static Field, Option<String>)>;
    /// [`Task::algorithms`].
    fn algorithms(&self) -> String;
    /// Whether the settings make sense, before any data are read.
    fn check(&self, given: &Given) -> Result<(), Error>;
    /// [`Task::diagram`].
    fn diagram(&self, given: &Given) -> Result<Option<String>, Error>;
    /// Trains from files.
    fn train(
        &self,
        files: &TrainingFiles<'_>,
        given: &Given,
        watch: &mut Watch<'_>,
    ) -> Result<Trained, Error>;
    /// Opens a model.
    fn open(&self, model: &Model) -> Result<Box<dyn AnyModel>, Error>;
    /// A model that knows how sure it may be of its answers, from files with gold answers; `None` where
    /// [`Task::calibrate`] learns nothing.
    fn calibrate(
        &self,
        model: &Model,
        files: &[PathBuf],
        annotator: Option<&dyn Annotate>,
    ) -> Result<Option<ModelWriter>, Error>;
    /// The settings that a model was trained with, as a file that would train it again.
    fn stored_settings(&self, model: &Model) -> Result<String, Error>;
}

/// A model whose task is known only at run time.
pub trait AnyModel: Debug + Send + Sync {
    /// The name of its task.
    fn task(&self) -> &'static str;
    /// The layers that it reads.
    fn reads(&self) -> Reads;
    /// Decodes files.
    fn predict(&self, prediction: Prediction<'_>) -> Result<(), Error>;
    /// [`Task::inspect`].
    fn inspect(&self, top: usize) -> Inspection;
    /// Says for each item of a file what decided.
    fn explain(
        &self,
        path: &Path,
        each: &mut dyn FnMut(Vec<Explanation>) -> Result<(), Error>,
    ) -> Result<(), Error>;
    /// The model itself.
    fn as_any(&self) -> &dyn Any;
}

#[derive(Debug)]
struct Entry<T>(PhantomData<fn() -> T>);

/// The settings of a struct, and each one's default as a flag would say it.
pub fn fields<S: Settings>() -> Vec<(&'static Field, Option<String>)> {
    let defaults = S::default();
    S::FIELDS.iter().map(|field| (field, defaults.shown(field.name))).collect()
}

/// All items of files, in order. Where some files mark documents, the items of those that do not are
/// documents of their own, instead of the end of another file's last one.
fn read_all<T: Task>(paths: &[PathBuf], formats: &[consonant_text::Format]) -> Result<Vec<T::Item>, Error> {
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        let mut reader = T::Item::open(path, formats)?;
        let mut items = Vec::new();
        reader.read(&mut items, Batch::File)?;
        if items.is_empty() {
            let expected = format!("{} for {} to learn from", T::Item::EXPECTED, T::PLURAL);
            return Err(ItemError::Empty { name: reader.name().clone(), expected }.into());
        }
        files.push(items);
    }
    let is_marked = |file: &Vec<T::Item>| file.iter().any(Item::begins_document);
    let some_are = files.iter().any(is_marked);
    for file in files.iter_mut().filter(|file| some_are && !is_marked(file)) {
        file.iter_mut().for_each(Item::begin_document);
    }
    Ok(files.into_iter().flatten().collect())
}

/// What a checkpoint belongs to: every setting but those that say how long to train, the data for dev, and the model to
/// go on from. The training data are known to the trainer.
fn bound_to<T: Task>(data: &Data<'_, T::Item>, settings: &T::Settings) -> Result<Vec<String>, Error> {
    let stored = serde_json::to_value(settings).map_err(Error::task)?;
    let settings = stored.as_object().into_iter().flatten();
    let mut bound: Vec<String> = settings
        .filter(|(name, _)| !matches!(name.as_str(), "epochs" | "patience"))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    if let Some(dev) = data.dev {
        let (mut fingerprint, mut bytes) = (Fingerprint::default(), Vec::new());
        for item in dev {
            bytes.clear();
            item.write(&mut bytes).map_err(Error::task)?;
            fingerprint.number(hash::key(&bytes));
        }
        bound.push(format!("dev={:016x}", fingerprint.get()));
    }
    if let Some(initial) = data.initial {
        bound.push(format!("init={:016x}", fingerprint_of(initial)?));
    }
    Ok(bound)
}

/// A number that no other model has.
fn fingerprint_of(model: &Model) -> Result<u64, Error> {
    Ok(hash::key(&ModelWriter::from_model(model)?.to_bytes()))
}

/// Adds to a model how sure it may be of its answers; says whether anything was learned.
fn calibrate<T: Task>(model: &Model, writer: &mut ModelWriter, items: &[T::Item]) -> Result<bool, Error> {
    let calibration = T::open(model).map_err(Error::task)?.calibrate(items).map_err(Error::task)?;
    Ok(calibration.map(|calibration| calibration.store(writer)).is_some())
}

impl<T: Task> AnyTask for Entry<T> {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn plural(&self) -> &'static str {
        T::PLURAL
    }

    fn about(&self) -> &'static str {
        T::ABOUT
    }

    fn example(&self) -> &'static str {
        T::EXAMPLE
    }

    fn sources(&self) -> &'static [Source] {
        T::SOURCES
    }

    fn reads(&self) -> Reads {
        T::READS
    }

    fn continues(&self) -> bool {
        T::CONTINUES
    }

    fn draws(&self) -> bool {
        T::DRAWS
    }

    fn settings(&self) -> Vec<(&'static Field, Option<String>)> {
        fields::<T::Settings>()
    }

    fn options(&self) -> Vec<(&'static Field, Option<String>)> {
        fields::<T::Options>()
    }

    fn algorithms(&self) -> String {
        T::algorithms()
    }

    fn check(&self, given: &Given) -> Result<(), Error> {
        Ok(T::check(&given.settings()?)?)
    }

    fn diagram(&self, given: &Given) -> Result<Option<String>, Error> {
        T::diagram(&given.settings()?).transpose().map_err(Error::task)
    }

    fn train(
        &self,
        files: &TrainingFiles<'_>,
        given: &Given,
        watch: &mut Watch<'_>,
    ) -> Result<Trained, Error> {
        let settings: T::Settings = given.settings()?;
        // Sources of the same files share their items: annotating them may take most of the time.
        let first = |number: usize| files.sources.iter().position(|paths| *paths == files.sources[number]);
        let mut sources = Vec::with_capacity(files.sources.len());
        for (number, (paths, source)) in files.sources.iter().zip(T::SOURCES).enumerate() {
            let is_first = first(number) == Some(number);
            sources.push(if is_first { read_all::<T>(paths, source.formats)? } else { Vec::new() });
        }
        let mut dev = match files.dev.is_empty() {
            true => None,
            false => Some(read_all::<T>(&files.dev, T::SOURCES[0].formats)?),
        };
        if let Some(annotator) = files.annotator {
            for (number, items) in sources.iter_mut().enumerate() {
                #[cfg(feature = "tagger")]
                if let Some(jackknife) = files.jackknife.as_ref().filter(|_| number == 0) {
                    jackknife.tag(items, watch)?;
                    continue;
                }
                let _ = number;
                T::prepare(items, annotator).map_err(Error::boxed)?;
            }
            if let Some(dev) = &mut dev {
                T::prepare(dev, annotator).map_err(Error::boxed)?;
            }
        }
        let mut data = Data::new(&[]);
        data.sources =
            (0..sources.len()).map(|number| &sources[first(number).unwrap_or(number)][..]).collect();
        data.dev = dev.as_deref();
        data.initial = files.initial.as_ref();
        data.max_unpacked = files.max_unpacked.unwrap_or(data.max_unpacked);
        data.tagged = files.annotator.is_some() && T::READS == Reads::Tags;
        T::check(&settings)?;
        if files.initial.is_some() && !T::CONTINUES {
            return Err(Usage(format!("{} cannot go on from a model; leave out --init", T::PLURAL)).into());
        }
        if watch.checkpoint.is_some() {
            watch.bound_to = bound_to::<T>(&data, &settings)?;
        }
        let names: Vec<String> =
            files.sources.iter().flatten().map(|path| path.display().to_string()).collect();
        let trained = T::train(&data, &settings, watch).map_err(|error| match Error::task(error) {
            Error::Task(source) => Error::Training { files: names.join(", "), source },
            other => other,
        });
        let mut trained = trained?;
        if let Some(initial) = data.initial {
            trained.model.note("initial", format!("{:016x}", fingerprint_of(initial)?));
        }
        if data.sources.iter().flat_map(|items| *items).any(Item::begins_document) {
            trained.model.note(MARKED, true);
        }
        if let Some(dev) = data.dev {
            calibrate::<T>(&Model::from_bytes(&trained.model.to_bytes())?, &mut trained.model, dev)?;
        }
        Ok(trained)
    }

    fn calibrate(
        &self,
        model: &Model,
        files: &[PathBuf],
        annotator: Option<&dyn Annotate>,
    ) -> Result<Option<ModelWriter>, Error> {
        let mut items = read_all::<T>(files, T::SOURCES[0].formats)?;
        if let Some(annotator) = annotator {
            T::prepare(&mut items, annotator).map_err(Error::boxed)?;
        }
        let mut writer = ModelWriter::from_model(model)?;
        Ok(calibrate::<T>(model, &mut writer, &items)?.then_some(writer))
    }

    fn open(&self, model: &Model) -> Result<Box<dyn AnyModel>, Error> {
        let marked = model.metadata().get(MARKED).and_then(Value::as_bool).unwrap_or(false);
        Ok(Box::new(Opened { task: T::open(model).map_err(Error::task)?, marked }))
    }

    fn stored_settings(&self, model: &Model) -> Result<String, Error> {
        let settings = T::Settings::stored(model.expect_task(T::NAME)?.metadata())?;
        toml::to_string(&settings).map_err(Error::task)
    }
}

/// The metadata of a model say so where its training data marked documents.
const MARKED: &str = "documents_marked";

#[derive(Debug)]
struct Opened<T> {
    task: T,
    /// Whether the data that it was trained on marked documents.
    marked: bool,
}

impl<T: Task> Opened<T> {
    /// What to know of a file that begins with these items: marks that are missing cost accuracy in silence.
    fn missing_marks(&self, name: &str, items: &[T::Item]) -> Option<String> {
        let reads_documents = !matches!(self.task.batch(), Batch::Items(_));
        let is_missing =
            self.marked && reads_documents && items.len() > 1 && !items.iter().any(Item::begins_document);
        is_missing.then(|| {
            format!(
                "warning: {name} marks no documents, and the model was trained on data that does; it may find less. \
                 Begin each document with a line `-DOCSTART-` in columns, or `# newdoc` in CoNLL-U"
            )
        })
    }
}

impl<T: Task> AnyModel for Opened<T> {
    fn task(&self) -> &'static str {
        T::NAME
    }

    fn reads(&self) -> Reads {
        self.task.reads()
    }

    fn predict(&self, prediction: Prediction<'_>) -> Result<(), Error> {
        let Prediction { inputs, out, given, annotator, mut problems, done, note } = prediction;
        let options: T::Options = given.settings()?;
        for path in inputs {
            let mut reader = T::Item::open(path, T::FORMATS)?;
            let mut batch = Vec::new();
            for number in 0.. {
                reader.read(&mut batch, self.task.batch())?;
                if batch.is_empty() {
                    break;
                }
                if number == 0 {
                    self.missing_marks(reader.name(), &batch).into_iter().for_each(&mut *note);
                }
                let start = Instant::now();
                if let Some(annotator) = annotator {
                    self.task.annotate(&mut batch, &options, annotator).map_err(Error::boxed)?;
                }
                if let Some(hear) = &mut problems {
                    let Some(found) = self.task.problems(&batch, &options) else {
                        return Err(
                            Usage(format!("{} solve no problems that could be written", T::PLURAL)).into()
                        );
                    };
                    hear(found.map_err(Error::task)?)?;
                }
                let units = self.task.decode(&mut batch, &options).map_err(Error::task)?;
                done(batch.len(), units, start.elapsed().as_secs_f64());
                for item in &batch {
                    item.write(out)?;
                }
            }
            out.write_all(reader.trailer().as_bytes())?;
        }
        Ok(())
    }

    fn inspect(&self, top: usize) -> Inspection {
        self.task.inspect(top)
    }

    fn explain(
        &self,
        path: &Path,
        each: &mut dyn FnMut(Vec<Explanation>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut reader = T::Item::open(path, T::FORMATS)?;
        let mut batch = Vec::new();
        loop {
            reader.read(&mut batch, Batch::Items(256))?;
            if batch.is_empty() {
                return Ok(());
            }
            for item in &batch {
                let Some(explained) = self.task.explain(item) else {
                    return Err(Usage(format!("{} give no explanations", T::PLURAL)).into());
                };
                each(explained.map_err(Error::task)?)?;
            }
        }
    }

    fn as_any(&self) -> &dyn Any {
        &self.task
    }
}
