//! A tagger on disk: the chain, its templates and resources, the tag dictionary, and how it came to be.

use std::sync::Arc;

use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::names::{FeatureNames, WantedNames};
use consonant_learn::trainer::TrainingAlgorithm as _;
use consonant_sequence::features::{Extractor, Resources, Templates};
use consonant_sequence::{Algorithm, ChainModel, Strength};
use consonant_task::{
    Calibration, Data, Explanation, Inspection, NO_CONFIDENCE, Source, Task, Trained, Unit, Usage, Watch,
    Workers,
};
use consonant_text::input::DEFAULT_MAX_UNPACKED;
use consonant_text::{Format, Sentence};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::decode::{TaggerOptions, Worker};
use crate::known::Knowledge;
use crate::learn::{self, TaggerSettings};
use crate::names::NameHint;
use crate::view::View;
use crate::{Column, ConstantWords, TagDictionary, TaggerError};

/// The name of the task in model files.
pub const TASK: &str = "tagger";
/// Names are kept for this many of the strongest weights.
const NAMED_WEIGHTS: usize = 2000;

/// How a tagger was made; the metadata of its file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Description {
    #[serde(flatten)]
    pub settings: TaggerSettings,
    pub epoch: usize,
    pub accuracy: Option<f64>,
    pub sentences: usize,
    pub tokens: usize,
    pub fingerprint: u64,
}

/// A trained tagger. Cheap to clone; the clones share the weights.
#[derive(Debug, Clone)]
pub struct Tagger {
    chain: Arc<ChainModel>,
    extractor: Extractor,
    dictionary: Option<Arc<TagDictionary>>,
    constant: Arc<ConstantWords>,
    description: Arc<Description>,
    known: Arc<Knowledge>,
    hint: Arc<NameHint>,
    calibration: Option<Arc<Calibration>>,
    names: Option<FeatureNames>,
    pub(crate) workers: Workers<Worker>,
}

impl Task for Tagger {
    const NAME: &'static str = TASK;
    const PLURAL: &'static str = "taggers";
    const ABOUT: &'static str = "Trains a part-of-speech or morphological tagger.";
    const EXAMPLE: &'static str =
        "consonant train tagger --train train.conllu --dev dev.conllu --model tagger.model --column xpos";
    const SOURCES: &'static [Source] = &[Source {
        name: "train",
        help: "Training data in CoNLL-U; words with `_` are not labelled.",
        formats: &[Format::Conllu],
    }];
    const FORMATS: &'static [Format] = &[Format::Conllu];
    const CONTINUES: bool = true;
    const DRAWS: bool = true;

    type Item = Sentence;
    type Settings = TaggerSettings;
    type Options = TaggerOptions;
    type Error = TaggerError;

    fn algorithms() -> String {
        Algorithm::ALL.iter().map(|algorithm| algorithm.info().to_string()).collect()
    }

    fn train(
        data: &Data<'_, Sentence>,
        settings: &TaggerSettings,
        watch: &mut Watch<'_>,
    ) -> Result<Trained, TaggerError> {
        learn::train(data, settings, watch)
    }

    fn open(model: &Model) -> Result<Self, TaggerError> {
        let description: Description = model.settings(TASK)?;
        let chain = Arc::new(ChainModel::open(model)?);
        let resources = Arc::new(Resources::open(model)?);
        let view = View::new(description.settings.given);
        let templates = Templates::compile(&model.text("templates")?, view.columns(), &resources)?;
        let dictionary = TagDictionary::open(model, chain.labels().len())?.map(Arc::new);
        let tagger = Self {
            extractor: Extractor::new(Arc::new(templates), resources),
            chain,
            dictionary,
            constant: Arc::new(ConstantWords::open(model)?),
            description: Arc::new(description),
            known: Arc::default(),
            hint: Arc::default(),
            calibration: Calibration::open(model)?.map(Arc::new),
            names: FeatureNames::open(model, TASK)?,
            workers: Workers::new(),
        };
        let hint = NameHint::new(&tagger, NameHint::strength(model)?);
        Ok(tagger.hinted(hint))
    }

    fn decode(&self, items: &mut [Sentence], options: &TaggerOptions) -> Result<Vec<Unit>, TaggerError> {
        self.tag(items, options)
    }

    fn calibrate(&self, items: &[Sentence]) -> Result<Option<Calibration>, TaggerError> {
        self.learn_confidence(items)
    }

    fn inspect(&self, top: usize) -> Inspection {
        let table = self.chain.node_table();
        let strongest = self.strongest(top).into_iter();
        let strongest = strongest
            .map(|Strength { weight, label, feature }| vec![weight.into(), label.into(), feature.into()]);
        Inspection::default()
            .fact("labels", self.chain.labels().len())
            .fact("order", self.chain.order())
            .fact("features", table.features())
            .fact("weights", table.parameters())
            .fact("templates", self.extractor.templates().len())
            .fact("dictionary", format!("{} words", self.dictionary().map_or(0, TagDictionary::len)))
            .table(&["weight", "label", "feature"], strongest)
    }

    fn explain(&self, item: &Sentence) -> Option<Result<Vec<Explanation>, TaggerError>> {
        Some(self.explain_sentence(item))
    }

    fn diagram(settings: &TaggerSettings) -> Option<Result<String, TaggerError>> {
        let diagram = learn::read_pieces(settings, DEFAULT_MAX_UNPACKED).map(|pieces| {
            pieces.unwrap_or_else(|| Algorithm::diagram(&settings.training, settings.order.unwrap_or(1)))
        });
        Some(diagram.map(|diagram| diagram.to_svg()))
    }
}

impl Tagger {
    /// The column that it predicts.
    pub fn column(&self) -> Column {
        self.description.settings.column
    }

    /// The tags that it reads beside the forms.
    pub(crate) fn given(&self) -> Option<Column> {
        self.description.settings.given
    }

    /// What it reads at a word.
    pub(crate) fn view(&self) -> View {
        View::new(self.given())
    }

    /// The chain.
    pub fn chain(&self) -> &Arc<ChainModel> {
        &self.chain
    }

    /// What makes its features.
    pub fn extractor(&self) -> &Extractor {
        &self.extractor
    }

    /// The tag dictionary, if there is one.
    pub fn dictionary(&self) -> Option<&TagDictionary> {
        self.dictionary.as_deref()
    }

    /// How sure it may be of its labels.
    pub(crate) fn calibration(&self) -> Result<&Calibration, Usage> {
        self.calibration.as_deref().ok_or_else(|| Usage(NO_CONFIDENCE.to_owned()))
    }

    pub(crate) fn known(&self) -> &Knowledge {
        &self.known
    }

    pub(crate) fn with_knowledge(&self, known: Arc<Knowledge>) -> Self {
        Self { known, ..self.clone() }
    }

    /// What names say of tags.
    pub(crate) fn name_hint(&self) -> &NameHint {
        &self.hint
    }

    pub(crate) fn hinted(&self, hint: NameHint) -> Self {
        Self { hint: Arc::new(hint), ..self.clone() }
    }

    /// How many words have the label that they have in these sentences, and how many have one there.
    pub(crate) fn count_right(&self, sentences: &[Sentence]) -> Result<(usize, usize), TaggerError> {
        let mut tagged = sentences.to_vec();
        self.tag(&mut tagged, &TaggerOptions::default())?;
        let column = self.column();
        let (mut gold, mut found) = (String::new(), String::new());
        let (mut right, mut all) = (0, 0);
        for (before, after) in sentences.iter().zip(&tagged) {
            for word in 0..before.len() {
                if let Some(gold) = column.label(before, word, &mut gold) {
                    right += usize::from(column.label(after, word, &mut found) == Some(gold));
                    all += 1;
                }
            }
        }
        Ok((right, all))
    }

    /// The words that keep one label through a document.
    pub fn constant_words(&self) -> &ConstantWords {
        &self.constant
    }

    /// The strongest weights, label n-grams included, strongest first. Features have their names if they are
    /// among those that were kept.
    pub fn strongest(&self, count: usize) -> Vec<Strength> {
        self.chain.strongest(self.names.as_ref(), count)
    }

    /// Keeps names for the strongest weights, found in the sentences that the tagger was trained on.
    pub(crate) fn store_names(&self, writer: &mut ModelWriter, sentences: &[Sentence]) {
        let mut wanted = WantedNames::new(self.chain.strongest_features(NAMED_WEIGHTS));
        name_features(&self.extractor, self.view(), sentences, &mut wanted);
        wanted.store(writer, TASK);
    }
}

/// Looks for the names of features in sentences.
pub(crate) fn name_features(
    extractor: &Extractor,
    view: View,
    sentences: &[Sentence],
    wanted: &mut WantedNames,
) {
    let mut workspace = extractor.workspace();
    for sentence in sentences {
        if wanted.is_complete() {
            break;
        }
        let text = |word: usize, column: usize| view.text(sentence, word, column);
        extractor.load(&mut workspace, sentence.len(), text);
        extractor.name_features(&workspace, sentence.len(), text, wanted);
    }
}

/// Begins a model file with all but the names.
pub(crate) fn store(
    description: &Description,
    extractor: &Extractor,
    dictionary: &TagDictionary,
    constant: &ConstantWords,
    chain: impl FnOnce(&mut ModelWriter),
) -> ModelWriter {
    let mut writer = ModelWriter::new(TASK, json!(description));
    writer.text("templates", extractor.templates().text());
    extractor.resources().store(&mut writer);
    if !dictionary.is_empty() {
        dictionary.store(&mut writer);
    }
    if !constant.is_empty() {
        constant.store(&mut writer);
    }
    chain(&mut writer);
    writer
}
