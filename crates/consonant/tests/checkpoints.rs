//! A checkpoint belongs to its data, their order, the settings and the data for dev: with the same ones training goes on
//! to the same bits, and with others it is refused by what differs.

mod lessons;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use consonant::Error;
use consonant::task::{Event, Trained, Watch};
use lessons::Lesson;
use serde_json::{Value, json};

/// Trains until the first epoch is done, which leaves a checkpoint.
fn interrupt(lesson: &Lesson, initial: Option<&[u8]>, train: &Path, dev: &Path, checkpoint: &Path) {
    let stop = AtomicBool::new(false);
    let mut end = |event: Event| {
        if matches!(event, Event::Epoch { .. }) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let mut watch = Watch::with(&mut end);
    (watch.stop, watch.checkpoint) = (Some(&stop), Some(checkpoint.to_path_buf()));
    drop(lesson.train_from(initial, train, Some(dev), &json!({}), &mut watch).unwrap());
    assert!(checkpoint.exists(), "{}", lesson.task);
}

#[test]
fn every_task_refuses_the_checkpoint_of_another_run_by_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = folder.path().join("checkpoint");
    for lesson in lessons::all().into_iter().filter(|lesson| lesson.task != "clusters") {
        let train = lesson.write(folder.path(), "train", lesson.items.iter());
        let turned = lesson.write(folder.path(), "turned", lesson.items.iter().rev());
        let dev = lesson.write(folder.path(), "dev", lesson.items.iter().take(6));
        let other = lesson.write(folder.path(), "other", lesson.items.iter().take(5));
        let whole = lesson.train(&train, Some(&dev), &json!({}), &mut Watch::none()).unwrap();
        interrupt(&lesson, None, &train, &dev, &checkpoint);
        let resume = |train: &Path, dev: Option<&Path>, changed: Value| {
            let mut watch = Watch::none();
            watch.checkpoint = Some(checkpoint.clone());
            lesson.train(train, dev, &changed, &mut watch)
        };
        for (refused, difference) in [
            (resume(&turned, Some(&dev), json!({})), "data="),
            (resume(&train, Some(&other), json!({})), "dev="),
            (resume(&train, None, json!({})), "dev="),
            (resume(&train, Some(&dev), json!({"seed": 2})), "seed=2"),
        ] {
            let Err(refused) = refused else { panic!("{}: {difference} was not looked at", lesson.task) };
            assert!(refused.to_string().contains(difference), "{}: {refused}", lesson.task);
            assert!(checkpoint.exists(), "what is refused is kept");
        }
        let resumed = resume(&train, Some(&dev), json!({})).unwrap();
        assert!(resumed.model.to_bytes() == whole.model.to_bytes(), "{}", lesson.task);
        assert!(!checkpoint.exists(), "{}", lesson.task);
    }
}

#[test]
fn settings_that_no_data_show_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = folder.path().join("checkpoint");
    let tagger = &lessons::all()[0];
    let train = tagger.write(folder.path(), "train", tagger.items.iter());
    interrupt(tagger, None, &train, &train, &checkpoint);
    for (changed, difference) in
        [(json!({"documents": false}), "documents=false"), (json!({"algorithm": "piecewise"}), "piecewise")]
    {
        let mut watch = Watch::none();
        watch.checkpoint = Some(checkpoint.clone());
        let refused = tagger.train(&train, Some(&train), &changed, &mut watch);
        let message = refused.map(|trained| trained.summary).unwrap_err().to_string();
        assert!(message.contains(difference), "{message}");
    }
    // More epochs are more of the same.
    let mut watch = Watch::none();
    watch.checkpoint = Some(checkpoint);
    let longer =
        tagger.train(&train, Some(&train), &json!({"epochs": 9, "patience": 20}), &mut watch).unwrap();
    assert!(longer.epoch >= 1);
}

#[test]
fn what_has_no_state_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let lessons = lessons::all();
    let clusters = lessons.iter().find(|lesson| lesson.task == "clusters").unwrap();
    let train = clusters.write(folder.path(), "train", clusters.items.iter());
    let mut watch = Watch::none();
    watch.checkpoint = Some(folder.path().join("checkpoint"));
    let refused = clusters.train(&train, None, &json!({}), &mut watch);
    assert!(refused.unwrap_err().to_string().contains("--checkpoint"));
}

#[test]
fn a_model_to_go_on_from_must_fit_and_belongs_to_the_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = folder.path().join("checkpoint");
    let lessons = lessons::all();
    let tagger = &lessons[0];
    let train = tagger.write(folder.path(), "train", tagger.items.iter());
    // Models that have much to learn.
    let few = tagger.write(folder.path(), "few", tagger.items.iter().take(2));
    let model = |seed: u64| {
        let trained = tagger.train(&few, None, &json!({"seed": seed, "epochs": 1}), &mut Watch::none());
        trained.unwrap().model.to_bytes()
    };
    let (first, second) = (model(1), model(2));
    let refusal = |refused: Result<Trained, Error>| refused.map(|it| it.summary).unwrap_err().to_string();
    for (changed, theirs, ours) in [
        (json!({"column": "xpos"}), "column upos", "column xpos"),
        (json!({"order": 3}), "order ", "order 3"),
        (json!({"given": "xpos"}), "no tags given", "xpos given"),
    ] {
        let refused = tagger.train_from(Some(&first), &train, None, &changed, &mut Watch::none());
        let message = refusal(refused);
        assert!(message.contains(theirs) && message.contains(ours), "{message}");
    }
    // A model of another task, and a task that cannot go on from any.
    let (names, threads) = (&lessons[1], &lessons[6]);
    let other = names.train(&train, None, &json!({}), &mut Watch::none()).unwrap().model.to_bytes();
    let message = refusal(tagger.train_from(Some(&other), &train, None, &json!({}), &mut Watch::none()));
    assert!(message.contains("ner") && message.contains("tagger"), "{message}");
    let chat = threads.write(folder.path(), "chat", threads.items.iter());
    let message = refusal(threads.train_from(Some(&first), &chat, None, &json!({}), &mut Watch::none()));
    assert!(message.contains("leave out --init"), "{message}");
    // A checkpoint knows the model that its training went on from.
    interrupt(tagger, Some(&first), &train, &train, &checkpoint);
    let resume = |initial: Option<&[u8]>| {
        let mut watch = Watch::none();
        watch.checkpoint = Some(checkpoint.clone());
        tagger.train_from(initial, &train, Some(&train), &json!({}), &mut watch)
    };
    for initial in [Some(&second[..]), None] {
        let message = refusal(resume(initial));
        assert!(message.contains("init="), "{message}");
        assert!(checkpoint.exists(), "what is refused is kept");
    }
    let resumed = resume(Some(&first)).unwrap();
    let whole = tagger.train_from(Some(&first), &train, Some(&train), &json!({}), &mut Watch::none());
    assert!(resumed.model.to_bytes() == whole.unwrap().model.to_bytes());
}
