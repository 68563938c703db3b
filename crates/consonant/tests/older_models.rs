//! Models of every version that was released, one for each task, in `tests/models/VERSION`: this version reads them and
//! answers as they did, or refuses them by name.
//!
//! `MODELS=record cargo test -p consonant --test older_models` adds those of the version in `Cargo.toml`, once, before it
//! is released.

mod lessons;

use std::fs;
use std::path::{Path, PathBuf};

use consonant::task::Watch;
use serde_json::json;

/// Models that this version cannot read any more, with what it says: `("0.1.0/tagger.model", "train the model again")`.
const REFUSED: &[(&str, &str)] = &[];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models")
}

/// Trains the models of this version and writes what they say.
fn record() {
    let place = folder().join(env!("CARGO_PKG_VERSION"));
    fs::create_dir(&place).expect("the models of this version are not there yet");
    let scratch = tempfile::tempdir().unwrap();
    for lesson in lessons::all() {
        let train = lesson.write(scratch.path(), "train", lesson.items.iter());
        let trained = lesson.train(&train, Some(&train), &json!({}), &mut Watch::none()).unwrap();
        let model = place.join(format!("{}.model", lesson.task));
        trained.model.write(&model).unwrap();
        fs::write(
            model.with_extension("answer"),
            lesson.predict(&model, &lesson.question(scratch.path())).unwrap(),
        )
        .unwrap();
    }
}

#[test]
fn models_of_every_version_are_read_or_refused_by_name() {
    if std::env::var("MODELS").is_ok_and(|wish| wish == "record") {
        record();
    }
    let scratch = tempfile::tempdir().unwrap();
    let versions = fs::read_dir(folder()).unwrap();
    let versions: Vec<PathBuf> = versions.map(|entry| entry.unwrap().path()).collect();
    assert!(!versions.is_empty());
    for version in versions {
        for lesson in lessons::all() {
            let model = version.join(format!("{}.model", lesson.task));
            let name = model.strip_prefix(folder()).unwrap().display().to_string();
            let answer = lesson.predict(&model, &lesson.question(scratch.path()));
            match REFUSED.iter().find(|(refused, _)| *refused == name) {
                Some((_, reason)) => {
                    let message = answer.map(|_| name.clone()).unwrap_err().to_string();
                    assert!(message.contains(&name) && message.contains(reason), "{message}");
                }
                None => {
                    let expected = fs::read_to_string(model.with_extension("answer")).unwrap();
                    assert!(answer.unwrap_or_else(|error| panic!("{error}")) == expected, "{name}");
                }
            }
        }
    }
}
