//! Lemmas and morphological features of words whose tags are known.
//!
//! A lemma is an edit of its form: how it is capitalized, what goes in front and behind, what comes there. Edits are labels like any
//! others, so a word never seen before has a lemma too; a word that was seen has one of the lemmas it was seen with. Features follow from
//! form and tag in the same way. Both are chains without a memory, of the tagger's machinery. Data that have only one of the two train
//! only that one.
//!
//! ```
//! use consonant_lemmatizer::{Lemmatizer, LemmatizerOptions, LemmatizerSettings};
//! use consonant_task::{Data, Task, Watch};
//! use consonant_text::{Sentence, SentenceReader};
//!
//! let text = "1\tdogs\tdog\tNOUN\tNNS\tNumber=Plur\t_\t_\t_\t_\n2\tbark\tbark\tVERB\tVBP\t_\t_\t_\t_\t_\n\n";
//! let sentences: Vec<Sentence> = SentenceReader::conllu(text.as_bytes(), "dogs").collect::<Result<_, _>>()?;
//! let trained = Lemmatizer::train(&Data::new(&sentences), &LemmatizerSettings::new(), &mut Watch::none())?;
//!
//! let lemmatizer = Lemmatizer::open(&trained.open()?)?;
//! let mut unknown = vec![Sentence::from_conllu("1\tCats\t_\tNOUN\tNNS\t_\t_\t_\t_\t_\n\n")?];
//! lemmatizer.decode(&mut unknown, &LemmatizerOptions::new())?;
//! assert_eq!((unknown[0].lemma(0), unknown[0].feats(0)), ("cat", "Number=Plur"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

use consonant_learn::LearnError;
use consonant_learn::model::{Model, ModelWriter};
use consonant_sequence::{Algorithm, Training};
use consonant_tagger::{Column, Tagger, TaggerError, TaggerOptions, TaggerSettings};
use consonant_task::{
    Certificate, Data, Explanation, Inspection, Reads, Source, Task, Trained, Unit, Usage, Watch,
};
use consonant_text::{Format, Sentence};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The name of the task in model files.
pub const TASK: &str = "lemmatizer";

consonant_task::settings! {
    /// How to train a lemmatizer.
    pub struct LemmatizerSettings {
        algorithm training: Training = Algorithm::AveragedPerceptron;
        /// The tags that are read: upos, upos+xpos or upos+feats (default: what the training data have; with upos+feats, features are
        /// not learned).
        given: Option<Column> = None, "COLUMN";
        /// Also learns FEATS from forms and tags (default: on where the data have them and they are not read).
        feats: Option<bool> = None, "on|off";
        /// Passes over the data.
        epochs: usize = 8, "N" in 1.0..;
        /// Stops after so many epochs without a better dev accuracy.
        patience: usize = 3, "N";
        /// Leaves out features that occur less often.
        min_count: u32 = 1, "N", research;
        /// Stores weights in half precision.
        half: bool = false, "";
        /// Leaves out weights closer to zero than this when the model is stored.
        prune: f32 = 0.0, "WEIGHT" in 0.0..;
        /// Seed of the random order of sentences.
        seed: u64 = 1, "N";
    }
}

consonant_task::settings! {
    /// What is filled in.
    pub struct LemmatizerOptions {
        /// Leaves LEMMA as it is.
        keep_lemmas: bool = false, "";
        /// Leaves FEATS as they are.
        keep_feats: bool = false, "";
    }
}

/// A lemmatizer that cannot be trained, opened or applied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LemmatizerError {
    /// From the model file.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// From one of its two chains.
    #[error(transparent)]
    Tagger(#[from] TaggerError),
    /// Settings that the data do not allow.
    #[error(transparent)]
    Usage(#[from] Usage),
    /// Words without tags.
    #[error(
        "the sentences have no tags, from which lemmas follow; name a --tagger, or use data with parts of speech"
    )]
    NoTags,
}

/// How a lemmatizer was made; the metadata of its file.
#[derive(Debug, Serialize, Deserialize)]
struct Description {
    #[serde(flatten)]
    settings: LemmatizerSettings,
    epoch: usize,
    accuracy: Option<f64>,
    feats_accuracy: Option<f64>,
}

/// A trained lemmatizer.
#[derive(Debug)]
pub struct Lemmatizer {
    lemmas: Option<Tagger>,
    feats: Option<Tagger>,
    description: Description,
}

impl Lemmatizer {
    /// Whether it fills in features too.
    pub fn has_feats(&self) -> bool {
        self.feats.is_some()
    }

    /// The tags that it reads.
    pub fn given(&self) -> Column {
        self.description.settings.given.unwrap_or_default()
    }
}

impl Task for Lemmatizer {
    const NAME: &'static str = TASK;
    const PLURAL: &'static str = "lemmatizers";
    const ABOUT: &'static str =
        "Trains a lemmatizer, which fills in LEMMA and, where tags do not have them, FEATS.";
    const EXAMPLE: &'static str =
        "consonant train lemmatizer --train train.conllu --dev dev.conllu --model lemmatizer.model";
    const SOURCES: &'static [Source] = &[Source {
        name: "train",
        help: "Training data in CoNLL-U with tags and lemmas.",
        formats: &[Format::Conllu],
    }];
    const FORMATS: &'static [Format] = &[Format::Conllu];
    const READS: Reads = Reads::Tags;
    const CONTINUES: bool = true;

    type Item = Sentence;
    type Settings = LemmatizerSettings;
    type Options = LemmatizerOptions;
    type Error = LemmatizerError;

    fn algorithms() -> String {
        Tagger::algorithms()
    }

    fn check(settings: &LemmatizerSettings) -> Result<(), Usage> {
        match settings.given {
            None | Some(Column::Upos | Column::UposXpos | Column::UposFeats) => Ok(()),
            Some(other) => Err(Usage(format!("--given wants upos, upos+xpos or upos+feats, not {other}"))),
        }
    }

    fn train(
        data: &Data<'_, Sentence>,
        settings: &LemmatizerSettings,
        watch: &mut Watch<'_>,
    ) -> Result<Trained, LemmatizerError> {
        let words =
            || data.items().iter().flat_map(|sentence| (0..sentence.len()).map(move |word| (sentence, word)));
        let most = |has: &dyn Fn(&Sentence, usize) -> bool| {
            2 * words().filter(|&(sentence, word)| has(sentence, word)).count() > words().count()
        };
        let has_feats = words().any(|(sentence, word)| sentence.feats(word) != "_");
        let given =
            settings.given.unwrap_or_else(|| match most(&|sentence, word| sentence.xpos(word) != "_") {
                true => Column::UposXpos,
                false if has_feats && settings.feats == Some(false) => Column::UposFeats,
                false => Column::Upos,
            });
        let feats = settings.feats.unwrap_or(has_feats && given != Column::UposFeats);
        if let Some(initial) = data.initial {
            let theirs = Self::open(initial)?;
            if theirs.given() != given {
                let (theirs, ours) = (theirs.given(), given);
                return Err(Usage(format!(
                    "the model to go on from reads {theirs}, not {ours}; give --given {theirs}"
                ))
                .into());
            }
        }
        // Each chain goes on from its own.
        let one = |column: Column, section: &str, watch: &mut Watch<'_>| {
            let initial = data.initial.filter(|model| model.has(section));
            let initial = initial.map(|model| model.inner(section)).transpose()?;
            let data = &data.going_on_from(initial.as_ref());
            let mut chain = TaggerSettings::new()
                .column(column)
                .given(given)
                .epochs(settings.epochs)
                .patience(settings.patience)
                .min_count(settings.min_count)
                .half(settings.half)
                .prune(settings.prune)
                .seed(settings.seed)
                .dictionary(1u32)
                .documents(false)
                .parts(column == Column::Feats);
            chain.training = settings.training.clone();
            watch.note(format!("{column}:"));
            Ok::<_, LemmatizerError>(Tagger::train(data, &chain, watch)?)
        };
        let has_lemmas = words().any(|(sentence, word)| sentence.lemma(word) != "_");
        let lemmas = (has_lemmas || !feats).then(|| one(Column::Lemma, "lemmas", watch)).transpose()?;
        // A checkpoint belongs to one chain.
        if lemmas.is_some() {
            watch.checkpoint = None;
        }
        let feats = feats.then(|| one(Column::Feats, "feats", watch)).transpose()?;
        let settings =
            LemmatizerSettings { given: Some(given), feats: Some(feats.is_some()), ..settings.clone() };
        let feats_accuracy = feats.as_ref().and_then(|feats| feats.score);
        let accuracy = lemmas.as_ref().and_then(|lemmas| lemmas.score);
        let chains = [("lemmas", "lemmas", &lemmas), ("feats", "features", &feats)];
        let chains =
            || chains.iter().filter_map(|(section, name, chain)| Some((section, name, chain.as_ref()?)));
        let (epoch, score) = chains().next().map_or((0, None), |(_, _, first)| (first.epoch, first.score));
        let description = Description { settings, epoch, accuracy, feats_accuracy };
        let mut model = ModelWriter::new(TASK, json!(description));
        for (section, _, chain) in chains() {
            model.array(*section, &chain.model.to_bytes());
        }
        let told: Vec<String> =
            chains().map(|(_, name, chain)| format!("{name}: {}", chain.summary)).collect();
        Ok(Trained { model, epoch, score, summary: told.join("; ") })
    }

    fn open(model: &Model) -> Result<Self, LemmatizerError> {
        let description = model.settings(TASK)?;
        let chain = |section: &str| -> Result<Option<Tagger>, LemmatizerError> {
            let inner = model.has(section).then(|| model.inner(section)).transpose()?;
            Ok(inner.as_ref().map(Tagger::open).transpose()?)
        };
        let (lemmas, feats) = (chain("lemmas")?, chain("feats")?);
        if lemmas.is_none() && feats.is_none() {
            // The error of a model that lacks the section which it cannot be without.
            model.inner("lemmas")?;
        }
        Ok(Self { lemmas, feats, description })
    }

    fn decode(
        &self,
        items: &mut [Sentence],
        options: &LemmatizerOptions,
    ) -> Result<Vec<Unit>, LemmatizerError> {
        let tagged = |sentence: &Sentence| (0..sentence.len()).any(|word| sentence.upos(word) != "_");
        if !items.is_empty() && !items.iter().any(tagged) {
            return Err(LemmatizerError::NoTags);
        }
        let lemmas = self.lemmas.as_ref().filter(|_| !options.keep_lemmas);
        let feats = self.feats.as_ref().filter(|_| !options.keep_feats);
        let nothing =
            |sentence: &Sentence| Unit { certificate: Certificate::exact(0.0), tokens: sentence.len() };
        let mut units: Vec<Unit> = items.iter().map(nothing).collect();
        for chain in [lemmas, feats].into_iter().flatten() {
            for (unit, more) in units.iter_mut().zip(chain.decode(items, &TaggerOptions::default())?) {
                let (one, other) = (&unit.certificate, &more.certificate);
                let value = one.value().unwrap_or_default() + other.value().unwrap_or_default();
                unit.certificate = Certificate::exact(value).after(1, one.seconds + other.seconds);
            }
        }
        Ok(units)
    }

    fn inspect(&self, top: usize) -> Inspection {
        let shown = match (&self.lemmas, &self.feats) {
            (Some(chain), _) | (None, Some(chain)) => chain.inspect(top),
            (None, None) => Inspection::default(),
        };
        match &self.feats {
            Some(feats) => shown.fact("labels of features", feats.chain().labels().len()),
            None => shown,
        }
    }

    fn explain(&self, item: &Sentence) -> Option<Result<Vec<Explanation>, LemmatizerError>> {
        let chain = self.lemmas.as_ref().or(self.feats.as_ref())?;
        chain.explain(item).map(|explained| explained.map_err(Into::into))
    }
}
