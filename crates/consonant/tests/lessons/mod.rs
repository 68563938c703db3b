//! A small training for each task, the same every time.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};

use consonant::registry::{Given, Prediction, Registry, TrainingFiles};
use consonant::segmenter::{Rules, Segmenter};
use consonant::task::{Annotate, Failure, Trained, Watch};
use consonant::text::{Document, Sentence};
use consonant::{Error, learn::model::Model};
use serde_json::{Value, json};

/// A task, its settings, and what it learns from: items that may stand in any order.
pub struct Lesson {
    pub task: &'static str,
    pub settings: Value,
    pub items: Vec<String>,
    extension: &'static str,
}

/// Texts are cut by rules, which no model changes.
struct ByRules;

impl Annotate for ByRules {
    fn document(&self, text: &str) -> Result<Document, Failure> {
        Ok(Segmenter::rules(Rules::default()).segment(text)?)
    }

    fn annotate(&self, _: &mut [Sentence]) -> Result<(), Failure> {
        Ok(())
    }
}

fn sentences() -> Vec<String> {
    let (people, verbs, things) =
        (["Ann", "Mr.", "Eve", "A.B."], ["sees", "likes", "buys"], [("dogs", "dog"), ("cats", "cat")]);
    let sentence = |at: usize| {
        let (who, does, (what, one)) = (people[at % 4], verbs[at / 4 % 3], things[at / 3 % 2]);
        let lemma = &does[..does.len() - 1];
        let (article, head) = if at % 5 < 2 { (true, 4) } else { (false, 3) };
        let the = if article { "the " } else { "" };
        let mut text = format!("# newdoc\n# text = {who} {does} {the}{what}.\n");
        text += &format!("1\t{who}\t{who}\tPROPN\tNNP\tNumber=Sing\t2\tnsubj\t_\tNER=B-PER\n");
        text += &format!("2\t{does}\t{lemma}\tVERB\tVBZ\t_\t0\troot\t_\t_\n");
        if article {
            text += "3\tthe\tthe\tDET\tDT\t_\t4\tdet\t_\t_\n";
        }
        text += &format!("{head}\t{what}\t{one}\tNOUN\tNNS\tNumber=Plur\t2\tobj\t_\tSpaceAfter=No\n");
        text + &format!("{}\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_\n\n", head + 1)
    };
    (0..48).map(sentence).collect()
}

fn topics() -> Vec<String> {
    let topic = |at: usize| {
        let thing = ["ferry", "bridge", "tower", "market"][at % 4];
        let rain = " It rained in the valley.".repeat(at % 5);
        let text = |day: &str| {
            format!(
                "The {thing} was closed on {day}.{rain} Nobody was hurt. The {thing} opens again in spring."
            )
        };
        let documents =
            [json!({"id": "a", "text": text("Monday")}), json!({"id": "b", "text": text("Tuesday")})];
        let summary = format!("The {thing} was closed on Monday.");
        format!("{}\n", json!({"id": thing, "documents": documents, "summaries": [summary]}))
    };
    (0..8).map(topic).collect()
}

fn conversations() -> Vec<String> {
    let people = ["ann", "bob", "eve"];
    let conversation = |at: usize| {
        let (asks, answers, other) = (people[at % 3], people[(at + 1) % 3], people[(at + 2) % 3]);
        let unit = |author: &str, text: String| json!({"author": author, "text": text});
        let mut units = vec![
            unit(asks, "does the printer work?".to_owned()),
            unit(other, "the wifi is down again".to_owned()),
            unit(answers, format!("{asks}: yes, the printer works")),
            unit(answers, format!("{other}: the wifi will be back")),
        ];
        units.extend((0..at % 4).map(|_| unit(other, "thank you all".to_owned())));
        format!("{}\n", json!({"id": at.to_string(), "units": units, "links": [[2, 0], [3, 1]]}))
    };
    (0..9).map(conversation).collect()
}

fn texts() -> Vec<String> {
    (0..60)
        .map(|at| format!("The {} saw a {}.\n\n", ["dog", "cat", "cow"][at % 3], ["man", "boy"][at % 2]))
        .collect()
}

pub fn all() -> Vec<Lesson> {
    let lesson = |task, settings, items, extension| Lesson { task, settings, items, extension };
    vec![
        lesson("tagger", json!({"epochs": 4}), sentences(), "conllu"),
        lesson("ner", json!({"epochs": 4}), sentences(), "conllu"),
        lesson("segmenter", json!({"epochs": 4}), sentences(), "conllu"),
        lesson("lemmatizer", json!({"epochs": 4}), sentences(), "conllu"),
        lesson(
            "parser",
            json!({"epochs": 4, "bits": 12, "label_bits": 10, "pruner_bits": 10}),
            sentences(),
            "conllu",
        ),
        lesson("summarizer", json!({"epochs": 4}), topics(), "jsonl"),
        lesson("threads", json!({"epochs": 4, "bits": 12}), conversations(), "jsonl"),
        lesson("clusters", json!({"epochs": 4, "count": 4, "min_count": 1}), texts(), "txt"),
    ]
}

impl Lesson {
    /// Writes items to a file.
    pub fn write<'i>(&self, folder: &Path, name: &str, items: impl Iterator<Item = &'i String>) -> PathBuf {
        let path = folder.join(format!("{name}.{}", self.extension));
        fs::write(&path, items.cloned().collect::<String>()).unwrap();
        path
    }

    /// Something for its model to answer.
    pub fn question(&self, folder: &Path) -> PathBuf {
        match self.task {
            "segmenter" => {
                let path = folder.join("question.txt");
                fs::write(&path, texts().concat()).unwrap();
                path
            }
            _ => self.write(folder, "question", self.items.iter()),
        }
    }

    /// Trains with some of the settings changed.
    pub fn train(
        &self,
        train: &Path,
        dev: Option<&Path>,
        changed: &Value,
        watch: &mut Watch<'_>,
    ) -> Result<Trained, Error> {
        self.train_from(None, train, dev, changed, watch)
    }

    /// The same, going on from a model.
    pub fn train_from(
        &self,
        initial: Option<&[u8]>,
        train: &Path,
        dev: Option<&Path>,
        changed: &Value,
        watch: &mut Watch<'_>,
    ) -> Result<Trained, Error> {
        let mut values = self.settings.as_object().unwrap().clone();
        values.extend(changed.as_object().unwrap().clone());
        let source = vec![train.to_path_buf()];
        // Summaries are learned as extractive ones.
        let sources = if self.task == "summarizer" { vec![Vec::new(), source] } else { vec![source] };
        let files = TrainingFiles {
            sources,
            dev: dev.map(Path::to_path_buf).into_iter().collect(),
            initial: initial.map(Model::from_bytes).transpose()?,
            annotator: (self.task == "summarizer").then_some(&ByRules as &dyn Annotate),
            ..TrainingFiles::default()
        };
        let given = Given { values, ..Given::default() };
        Registry::default().get(self.task).unwrap().train(&files, &given, watch)
    }

    /// What a model says of a file, or why it does not.
    pub fn predict(&self, model: &Path, input: &Path) -> Result<String, Error> {
        let name = model.display().to_string();
        let model = Registry::default().open(&Model::open(model)?, &name)?;
        let mut out = Vec::new();
        model.predict(Prediction {
            inputs: &[input.to_path_buf()],
            out: &mut out,
            given: &Given::default(),
            annotator: (self.task == "summarizer").then_some(&ByRules as &dyn Annotate),
            problems: None,
            done: &mut |_, _, _| {},
            note: &mut |_| {},
        })?;
        Ok(String::from_utf8(out).unwrap())
    }
}
