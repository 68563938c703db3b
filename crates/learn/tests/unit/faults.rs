//! Every call that touches a file fails once, and every byte may be the last that fits on the disk: what was
//! there before is still there, or what was written is there as a whole.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::faults;
use crate::LearnError;
use crate::file::remove_orphans;
use crate::model::{Model, ModelWriter};
use crate::trainer::{Method, Outcome, Run};

#[path = "../classes/mod.rs"]
#[allow(dead_code)]
mod classes;

fn model(number: u64) -> ModelWriter {
    let mut writer = ModelWriter::new("test", Value::Null);
    writer.array("numbers", &[number; 20]);
    writer
}

/// The number of the model that lies there, and that nothing else does.
fn found(path: &Path) -> u64 {
    let names: Vec<_> =
        fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, [path.file_name().unwrap()]);
    Model::open(path).unwrap().array::<u64>("numbers").unwrap()[0]
}

#[test]
fn a_model_is_written_as_a_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    let length = model(0).to_bytes().len();
    model(0).write(&path).unwrap();
    let mut last = 0;
    for call in 0.. {
        let (written, failed) = faults::with(Some(call), None, || model(call as u64 + 1).write(&path));
        let now = found(&path);
        match written {
            Ok(()) => assert_eq!(now, call as u64 + 1),
            // The folder could not be flushed after the rename: the new one is there, but may not last.
            Err(LearnError::Io { .. }) => assert!(now == last || now == call as u64 + 1),
            Err(other) => panic!("{other}"),
        }
        last = now;
        if !failed {
            // Creating, writing, permissions, flushing, renaming, the folder.
            assert!(call >= 6, "{call} calls");
            break;
        }
    }
    for room in 0..length {
        let (written, _) = faults::with(None, Some(room), || model(99).write(&path));
        let error = written.unwrap_err().to_string();
        assert!(error.contains("/m"), "{error}");
        assert_eq!(found(&path), last, "{room} bytes");
    }
    faults::with(None, Some(length), || model(99).write(&path)).0.unwrap();
    assert_eq!(found(&path), 99);
}

type Open = fn(&Path) -> Result<Model, LearnError>;

#[test]
fn a_model_is_read_as_a_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    model(7).write(&path).unwrap();
    // SAFETY: nobody changes the file of this test.
    #[allow(unsafe_code)]
    let ways: [Open; 2] = [|path| Model::open(path), |path| unsafe { Model::map(path) }];
    for open in ways {
        for call in 0.. {
            let (opened, failed) = faults::with(Some(call), None, || open(&path));
            if !failed {
                assert!(opened.is_ok() && call >= 4, "{call} calls");
                break;
            }
            assert!(matches!(opened, Err(LearnError::Io { .. })), "call {call}");
        }
    }
}

/// Trains for a few epochs, with a checkpoint after each.
fn train(task: &classes::Classes, method: Method, path: &Path) -> Result<Outcome, LearnError> {
    let run =
        Run { epochs: 4, threads: 1, shuffle: true, checkpoint: Some(path.to_path_buf()), ..Run::default() };
    classes::run_with(task, method, &[], run)
}

#[test]
fn a_training_that_a_disk_ended_goes_on_to_the_same_bits() {
    let task = classes::Classes::generate(40, true);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c");
    for method in [Method::AveragedPerceptron, Method::Lbfgs] {
        let straight = train(&task, method, &path).unwrap().weights;
        let again = |what: &str| {
            assert_eq!(train(&task, method, &path).unwrap().weights, straight, "{what}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{what}");
        };
        for call in 0.. {
            let (trained, failed) = faults::with(Some(call), None, || train(&task, method, &path));
            if !failed {
                assert_eq!(trained.unwrap().weights, straight);
                assert!(call >= 20, "{call} calls");
                break;
            }
            if let Ok(trained) = trained {
                assert_eq!(trained.weights, straight);
            }
            again(&format!("call {call}"));
        }
        let mut room = 0;
        while faults::with(None, Some(room), || train(&task, method, &path)).0.is_err() {
            again(&format!("{room} bytes"));
            // A checkpoint has some thousand bytes, and each of them is written in the same way.
            room += 997;
        }
    }
}

/// A process of its own trains, and ends without a word at each of its calls in turn: creating, writing, flushing and
/// renaming a checkpoint, and reading and removing it.
#[test]
fn a_training_that_was_killed_at_any_call_goes_on_to_the_same_bits() {
    let task = classes::Classes::generate(40, true);
    if let (Ok(folder), Ok(call)) = (env::var("CONSONANT_TEST_FOLDER"), env::var("CONSONANT_TEST_CALL")) {
        faults::kill_at(call.parse().unwrap());
        train(&task, Method::AveragedPerceptron, &Path::new(&folder).join("c")).unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c");
    let straight = train(&task, Method::AveragedPerceptron, &path).unwrap().weights;
    let mut left = 0;
    for call in 0.. {
        let mut child = Command::new(env::current_exe().unwrap());
        child.args([
            "--exact",
            "disk::tests::a_training_that_was_killed_at_any_call_goes_on_to_the_same_bits",
        ]);
        child.env("CONSONANT_TEST_FOLDER", folder.path()).env("CONSONANT_TEST_CALL", call.to_string());
        let ended = child.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        if ended.success() {
            assert!(call >= 20 && left > 10, "{call} calls, {left} checkpoints");
            break;
        }
        left += usize::from(path.exists());
        assert_eq!(train(&task, Method::AveragedPerceptron, &path).unwrap().weights, straight, "call {call}");
        // What the dead process was writing is in nobody's way.
        remove_orphans(&path);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "call {call}");
    }
}
