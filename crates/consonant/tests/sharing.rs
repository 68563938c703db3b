//! Training in shards through the registry: with its shares at workers, a task's model is the same to the bit, and what
//! was interrupted goes on from its checkpoint.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use consonant::learn::trainer::{Courier, Place, Trip, Worker};
use consonant::registry::{Given, Registry, TrainingFiles};
use consonant::task::{Event, Trained, Watch};
use serde_json::{Map, Value, json};

/// Who does what to whom, with tags and names.
fn treebank(sentences: usize) -> String {
    let (people, verbs, things) = (["Ann", "Bob", "Eve", "Kim"], ["sees", "likes", "buys"], ["dogs", "cats"]);
    let mut text = String::new();
    for at in 0..sentences {
        let (who, does, what) = (people[at % 4], verbs[at / 4 % 3], things[at / 3 % 2]);
        text += &format!("1\t{who}\t_\tPROPN\tNNP\t_\t2\tnsubj\t_\tNER=B-PER\n");
        text += &format!("2\t{does}\t_\tVERB\tVBZ\t_\t0\troot\t_\t_\n");
        if at % 5 < 2 {
            text +=
                &format!("3\tthe\t_\tDET\tDT\t_\t4\tdet\t_\t_\n4\t{what}\t_\tNOUN\tNNS\t_\t2\tobj\t_\t_\n\n");
        } else {
            text += &format!("3\t{what}\t_\tNOUN\tNNS\t_\t2\tobj\t_\t_\n\n");
        }
    }
    text
}

struct Lesson {
    task: &'static str,
    settings: Map<String, Value>,
    path: PathBuf,
}

impl Lesson {
    fn all(folder: &Path) -> Vec<Self> {
        let path = folder.join("train.conllu");
        std::fs::write(&path, treebank(60)).unwrap();
        let lesson = |task, settings: Value| {
            let Value::Object(settings) = settings else { unreachable!("settings are objects") };
            Self { task, settings, path: path.clone() }
        };
        vec![
            lesson("tagger", json!({"column": "xpos", "epochs": 4, "shards": 3})),
            lesson("tagger", json!({"algorithm": "likelihood", "epochs": 6, "shards": 3})),
            lesson("tagger", json!({"algorithm": "sgd", "epochs": 4, "shards": 3})),
            lesson("ner", json!({"epochs": 4, "shards": 3})),
            lesson(
                "parser",
                json!({"order": 2, "epochs": 3, "bits": 14, "label_bits": 12, "pruner_bits": 12, "shards": 3}),
            ),
        ]
    }

    fn train(&self, dev: bool, watch: &mut Watch<'_>) -> Result<Trained, consonant::Error> {
        let files = vec![self.path.clone()];
        let dev = if dev { files.clone() } else { Vec::new() };
        let files = TrainingFiles { sources: vec![files], dev, ..TrainingFiles::default() };
        let given = Given { values: self.settings.clone(), ..Given::default() };
        Registry::default().get(self.task).unwrap().train(&files, &given, watch)
    }

    fn worker(&self) -> Worker {
        let Self { task, settings, path } = self;
        let lesson = Self { task, settings: settings.clone(), path: path.clone() };
        Worker::start(move |desk| {
            let mut watch = Watch::none();
            watch.place = Place::Worker(desk);
            lesson.train(false, &mut watch)
        })
    }

    /// Trains with the shares at two workers, of which one is replaced again and again.
    fn train_elsewhere(&self) -> Trained {
        let team = [Mutex::new(self.worker()), Mutex::new(self.worker())];
        let courier = Courier::new(|trip: Trip<'_>| {
            let work = |share: usize| {
                let mut worker = team[share % 2].lock().unwrap();
                if share == 1 {
                    *worker = self.worker();
                }
                worker.work(&trip, share)
            };
            (0..trip.shares).map(work).collect()
        });
        let mut watch = Watch::none();
        watch.place = Place::Elsewhere(&courier);
        self.train(true, &mut watch).unwrap()
    }
}

#[test]
fn workers_make_the_model_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    for lesson in Lesson::all(folder.path()) {
        let here = lesson.train(true, &mut Watch::none()).unwrap();
        let there = lesson.train_elsewhere();
        assert!(here.model.to_bytes() == there.model.to_bytes(), "{} {:?}", lesson.task, lesson.settings);
        assert!(here.score.unwrap() > 0.97, "{} {:?}: {:?}", lesson.task, lesson.settings, here.score);
    }
}

#[test]
fn an_interrupted_training_goes_on_with_other_workers() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = folder.path().join("checkpoint");
    for lesson in Lesson::all(folder.path()) {
        let whole = lesson.train(false, &mut Watch::none()).unwrap();
        let stop = AtomicBool::new(false);
        let mut end = |event: Event| {
            if matches!(event, Event::Epoch { .. }) {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let mut watch = Watch::with(&mut end);
        (watch.stop, watch.checkpoint) = (Some(&stop), Some(checkpoint.clone()));
        let part = lesson.train(false, &mut watch).unwrap();
        assert!(checkpoint.exists() && part.model.to_bytes() != whole.model.to_bytes(), "{}", lesson.task);
        let worker = lesson.worker();
        let courier =
            Courier::new(|trip: Trip<'_>| (0..trip.shares).map(|share| worker.work(&trip, share)).collect());
        let mut watch = Watch::none();
        (watch.place, watch.checkpoint) = (Place::Elsewhere(&courier), Some(checkpoint.clone()));
        let resumed = lesson.train(false, &mut watch).unwrap();
        assert!(resumed.model.to_bytes() == whole.model.to_bytes(), "{} {:?}", lesson.task, lesson.settings);
        assert!(!checkpoint.exists());
    }
}
