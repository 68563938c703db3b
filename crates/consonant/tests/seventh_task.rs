//! A task that nobody has heard of goes through the registry like the others: trained from a file, saved,
//! opened, decoded with certificates, inspected and explained.

use std::collections::BTreeMap;
use std::path::PathBuf;

use consonant::learn::LearnError;
use consonant::learn::model::{Model, ModelWriter};
use consonant::registry::{Given, Prediction, Registry, TrainingFiles};
use consonant::task::{
    Certificate, Data, Explanation, Inspection, Source, Task, Trained, Unit, Usage, Watch,
};
use consonant::text::{Format, Layer, Sentence};
use serde::{Deserialize, Serialize};

consonant::task::settings! {
    /// How to learn capitals.
    pub struct CapitalsSettings {
        /// Words that occur less often stay as they are.
        min_count: usize = 1, "N" in 1.0..;
    }
}

consonant::task::settings! {
    /// What is wanted of capitals.
    pub struct CapitalsOptions {
        /// Writes the form into LEMMA instead of XPOS.
        lemma: bool = false, "";
    }
}

#[derive(Debug, thiserror::Error)]
enum CapitalsError {
    #[error(transparent)]
    Learn(#[from] LearnError),
    #[error("{0}")]
    Usage(#[from] Usage),
    #[error("the word cannot be written: {0}")]
    Edit(String),
}

/// Remembers how words are usually capitalized.
#[derive(Debug, Serialize, Deserialize)]
struct Capitals {
    #[serde(flatten)]
    settings: CapitalsSettings,
    /// The usual form of each word, and how often it was seen.
    forms: BTreeMap<String, (String, usize)>,
}

impl Task for Capitals {
    const NAME: &'static str = "capitals";
    const PLURAL: &'static str = "capitalizers";
    const ABOUT: &'static str = "Trains a model of how words are capitalized.";
    const EXAMPLE: &'static str = "consonant train capitals --train train.conllu --model capitals.model";
    const SOURCES: &'static [Source] =
        &[Source { name: "train", help: "Sentences in CoNLL-U.", formats: &[Format::Conllu] }];
    const FORMATS: &'static [Format] = &[Format::Conllu];

    type Item = Sentence;
    type Settings = CapitalsSettings;
    type Options = CapitalsOptions;
    type Error = CapitalsError;

    fn algorithms() -> String {
        "counting\n".to_owned()
    }

    fn train(
        data: &Data<'_, Sentence>,
        settings: &CapitalsSettings,
        watch: &mut Watch<'_>,
    ) -> Result<Trained, CapitalsError> {
        let mut counts: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
        for sentence in data.items() {
            for word in 0..sentence.len() {
                let form = sentence.form(word);
                *counts.entry(form.to_lowercase()).or_default().entry(form).or_default() += 1;
            }
        }
        watch.note(format!("{} words", counts.len()));
        let forms = counts
            .into_iter()
            .filter_map(|(word, forms)| Some((word, forms.into_iter().max_by_key(|&(_, count)| count)?)));
        let forms = forms.filter(|(_, (_, count))| *count >= settings.min_count);
        let forms = forms.map(|(word, (form, count))| (word, (form.to_owned(), count))).collect();
        let learned = Capitals { settings: settings.clone(), forms };
        let model = ModelWriter::new(Self::NAME, serde_json::json!(learned));
        Ok(Trained { model, epoch: 1, score: None, summary: format!("{} words", learned.forms.len()) })
    }

    fn open(model: &Model) -> Result<Self, CapitalsError> {
        Ok(model.settings(Self::NAME)?)
    }

    fn decode(&self, items: &mut [Sentence], options: &CapitalsOptions) -> Result<Vec<Unit>, CapitalsError> {
        let layer = if options.lemma { Layer::Lemma } else { Layer::Xpos };
        let mut units = Vec::new();
        for sentence in items {
            let mut value = 0.0;
            for word in 0..sentence.len() {
                let known = self.forms.get(&sentence.form(word).to_lowercase());
                let (form, count) = known.cloned().unwrap_or((sentence.form(word).to_owned(), 0));
                sentence.set(word, layer, &form).map_err(|error| CapitalsError::Edit(error.to_string()))?;
                value += count as f64;
            }
            units.push(Unit { certificate: Certificate::exact(value), tokens: sentence.len() });
        }
        Ok(units)
    }

    fn inspect(&self, top: usize) -> Inspection {
        let rows = self
            .forms
            .values()
            .take(top)
            .map(|(form, count)| vec![(*count as f32).into(), form.clone().into()]);
        Inspection::default().fact("words", self.forms.len()).table(&["count", "form"], rows)
    }

    fn explain(&self, item: &Sentence) -> Option<Result<Vec<Explanation>, CapitalsError>> {
        let explain = |word| {
            let subject = item.form(word).to_owned();
            let chosen =
                self.forms.get(&subject.to_lowercase()).map_or(String::new(), |(form, _)| form.clone());
            Explanation { subject, chosen, rival: None, contributions: Vec::new() }
        };
        Some(Ok((0..item.len()).map(explain).collect()))
    }
}

#[test]
fn a_seventh_task_costs_one_line() {
    let registry = Registry::default().with::<Capitals>(); // the line
    let task = registry.get("capitals").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, words: &[&str]| -> PathBuf {
        let row = |(at, word): (usize, &&str)| format!("{}\t{word}\t_\t_\t_\t_\t_\t_\t_\t_\n", at + 1);
        let rows: String = words.iter().enumerate().map(row).collect();
        let path = folder.path().join(name);
        std::fs::write(&path, rows + "\n").unwrap();
        path
    };
    let train = write("train.conllu", &["Kiel", "kiel", "Kiel", "and", "Ann", "And", "and"]);
    let files = TrainingFiles { sources: vec![vec![train.clone()]], ..TrainingFiles::default() };
    let mut heard = Vec::new();
    let mut listener = |event: consonant::task::Event| heard.push(event.to_string());
    let mut given = Given { flags: vec![("min_count".into(), vec!["0".into()])], ..Given::default() };
    let error = task.train(&files, &given, &mut Watch::none()).unwrap_err();
    assert!(matches!(error, consonant::Error::Usage(_)), "{error}");
    given.flags[0].1[0] = "2".into();
    let trained = task.train(&files, &given, &mut Watch::with(&mut listener)).unwrap();
    assert_eq!(heard, ["3 words"]);

    let path = folder.path().join("capitals.model");
    std::fs::write(&path, trained.model.to_bytes()).unwrap();
    let file = Model::open(&path).unwrap();
    assert_eq!(task.stored_settings(&file).unwrap(), "min_count = 2\n");
    let model = registry.open(&file, "capitals.model").unwrap();
    let mut out = Vec::new();
    let mut units = Vec::new();
    let text = write("text.conllu", &["KIEL", "AND", "Ann"]);
    let options = Given { flags: vec![("lemma".into(), Vec::new())], ..Given::default() };
    model
        .predict(Prediction {
            inputs: std::slice::from_ref(&text),
            out: &mut out,
            given: &options,
            annotator: None,
            problems: None,
            done: &mut |_, decoded, _| units.extend(decoded),
            note: &mut |_| {},
        })
        .unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(out.starts_with("1\tKIEL\tKiel\t") && out.contains("\n3\tAnn\tAnn\t"), "{out}");
    assert_eq!((units.len(), units[0].certificate.value()), (1, Some(4.0)));
    assert!(units[0].certificate.is_optimal());
    assert_eq!(model.inspect(1).to_string(), "words       2\n\n    count  form\n    2.000  and\n");
    let mut said = String::new();
    let mut hear = |all: Vec<Explanation>| {
        said.extend(all.iter().map(|one| one.to_text(1)));
        Ok(())
    };
    model.explain(&text, &mut hear).unwrap();
    assert!(said.starts_with("KIEL\tKiel\n"), "{said}");
    // A model of a task that nobody knows is refused by name.
    let error = Registry::default().open(&file, "capitals.model").unwrap_err().to_string();
    assert!(error.contains("`capitals`") && error.contains("tagger"), "{error}");
}
