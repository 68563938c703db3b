//! What cannot be recorded as a session: pipes that close early, interrupts, standard input, folders of
//! pages.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const WORD: &str = "1\tword\tword\tNOUN\t_\t_\t0\troot\t_\t_\n\n";

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_consonant"))
}

/// Runs a command to its end with `bytes` on its standard input.
fn fed(command: &mut Command, bytes: &[u8]) -> Output {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.conllu");
    std::fs::write(&path, WORD.repeat(100_000)).unwrap();
    let mut child = program()
        .args(["convert", "--from", "conllu", "--to", "conllu"])
        .arg(&path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success(), "{}", output.status);
}

#[test]
fn standard_input_is_the_default() {
    let output = fed(program().args(["convert", "--from", "conllu", "--to", "conllu"]), WORD.as_bytes());
    assert_eq!(output.stdout, WORD.as_bytes());
}

#[test]
fn every_command_refuses_what_is_no_text() {
    for command in [&["annotate"][..], &["summarize"], &["check"], &["solve"]] {
        for (bytes, message) in [
            (
                &b"One.\na\0b"[..],
                "<stdin>:2:2: expected text, came a NUL byte; is this a binary file or UTF-16?",
            ),
            (b"a\xffb", "<stdin>:1:2: expected UTF-8, came byte 0xff"),
        ] {
            let output = fed(program().args(command), bytes);
            // What `check` finds is its result.
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            assert_eq!(output.status.code(), Some(1), "{command:?}: {said}");
            assert!(said.contains(message), "{command:?}: {said}");
        }
    }
}

#[test]
fn a_topic_that_is_none_is_named() {
    let topic =
        r#"{"id": "a", "documents": [{"text": "The bridge was opened. It rained."}], "summaries": [""]}"#;
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/summarizer.model");
    for (line, message) in [
        ("", None),
        (r#"{"id": "b"}"#, Some("record 2: expected `documents` or `tokens` among the keys, which are: id")),
        (r#"{"documents": 5}"#, Some("record 2: expected `documents` to be a list")),
        (r#"{"documents": [{"text": 5}]}"#, Some("record 2: document 0: expected a string `text`")),
        (
            r#"{"documents": [], "summaries": [5]}"#,
            Some("record 2: expected `summaries` to be a list of strings"),
        ),
        (r#"{"tokens": [5]}"#, Some("record 2: expected tokens to be strings")),
    ] {
        let output =
            fed(program().args(["predict", "--model", model]), format!("{topic}\n{line}\n").as_bytes());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), message.is_none(), "{said}");
        assert!(said.contains(message.unwrap_or_default()), "{said}");
        // The gold summary is empty: it says nothing of how long this one should be.
        let summary = String::from_utf8_lossy(&output.stdout).contains("bridge was opened.\\n");
        assert_eq!(summary, message.is_none(), "{said}");
    }
}

#[test]
fn training_does_not_write_a_model_over_other_files() {
    let folder = tempfile::tempdir().unwrap();
    let (train, model) = (folder.path().join("train.conllu"), folder.path().join("tagger.model"));
    std::fs::write(&train, WORD).unwrap();
    let into = |out| {
        let mut command = program();
        command.args(["train", "tagger", "--epochs", "1", "--train"]).arg(&train).arg("--model").arg(out);
        command.output().unwrap()
    };
    let refused = into(&train);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("is there and is no model"));
    let other = folder.path().join("tagger.model.gz");
    let compressed = into(&other);
    assert_eq!(compressed.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&compressed.stderr).contains("a model is not compressed"));
    assert!(!refused.status.success() && std::fs::read_to_string(&train).unwrap() == WORD);
    // A new file, an empty one, and an older model are taken.
    assert!(into(&model).status.success());
    assert!(into(&model).status.success());
    std::fs::write(&model, "").unwrap();
    assert!(into(&model).status.success());
}

#[test]
fn what_is_read_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let [model, gold, tagged, problem] =
        ["m", "gold.conllu", "tagged.conllu", "p.json"].map(|name| folder.path().join(name));
    std::fs::write(&gold, WORD).unwrap();
    std::fs::write(&problem, r#"{"variables":[{"name":"x","score":1}],"factors":[]}"#).unwrap();
    let [m, g, t, p] = [&model, &gold, &tagged, &problem].map(|path| path.as_os_str());
    let command = |before: &str, rest: &[&std::ffi::OsStr]| {
        program().args(before.split(' ')).args(rest).arg("--quiet").output().unwrap()
    };
    let to = std::ffi::OsStr::new("--output");
    assert!(command("train tagger --epochs 1 --train", &[g, "--model".as_ref(), m]).status.success());
    assert!(command("predict --model", &[m, g, to, t]).status.success());
    let read = [&model, &gold, &tagged, &problem].map(|path| std::fs::read(path).unwrap());
    for (refused, code) in [
        (command("predict --model", &[m, g, to, m]), 1),
        (command("predict --model", &[m, g, "--report".as_ref(), m]), 1),
        (command("predict --model", &[m, g, "--report".as_ref(), g]), 2),
        (command("inspect", &[m, to, m]), 1),
        (command("evaluate tags", &[g, t, to, g]), 2),
        (command("evaluate tags", &[g, t, to, t]), 2),
        (command("check", &[g, to, g]), 2),
        (command("solve", &[p, to, p]), 2),
    ] {
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(code), "{said}");
        assert!(said.contains("name another file"), "{said}");
    }
    assert_eq!([&model, &gold, &tagged, &problem].map(|path| std::fs::read(path).unwrap()), read);
    // Models replace models, and data of a kind its like.
    assert!(command("train tagger --epochs 1 --train", &[g, "--model".as_ref(), m]).status.success());
    assert!(command("predict --model", &[m, t, to, t]).status.success());
}

#[test]
fn an_interrupted_training_keeps_its_model() {
    let folder = tempfile::tempdir().unwrap();
    let train = folder.path().join("train.conllu");
    // The same words in two ways: there is always something left to learn.
    let one = "1\ta\t_\tD\t_\t_\t2\tdep\t_\t_\n2\tb\t_\tN\t_\t_\t0\troot\t_\t_\n\n";
    let other = "1\ta\t_\tN\t_\t_\t0\troot\t_\t_\n2\tb\t_\tD\t_\t_\t1\tdep\t_\t_\n\n";
    let both = (one.to_owned() + other).repeat(20);
    for task in [
        &["tagger"][..],
        &["parser", "--order", "1", "--bits", "10", "--label-bits", "10", "--pruner-bits", "10"],
        &["ner", "--consistency", "words"],
        &["ner", "--consistency", "patterns"],
    ] {
        let model = folder.path().join(task.concat());
        let tells = match task[0] {
            "parser" => both.replace("\tD\t", "\tN\t"),
            "ner" => both.replace("root\t_\t_", "root\t_\tNER=B-PER"),
            _ => both.clone(),
        };
        std::fs::write(&train, tells).unwrap();
        let mut child = program()
            .arg("train")
            .args(task)
            .args(["--epochs", "100000000", "--train"])
            .arg(&train)
            .arg("--model")
            .arg(&model)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let epoch = said.by_ref().find(|line| line.as_ref().is_ok_and(|line| line.starts_with("epoch")));
        assert!(epoch.is_some() && !model.exists());
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let said: Vec<String> = said.map(Result::unwrap).collect();
        assert!(said.iter().any(|line| line.starts_with("interrupted: the model is written")), "{said:?}");
        // Ner has stages after its epochs.
        let tells_what_is_missing = said.iter().any(|line| line.contains("but for the agreement of labels"));
        assert_eq!(tells_what_is_missing, task[0] == "ner", "{said:?}");
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let inspected = program().arg("inspect").arg(&model).output().unwrap();
        assert!(inspected.status.success(), "{task:?}");
        assert!(String::from_utf8_lossy(&inspected.stdout).contains("\ninterrupted true\n"), "{task:?}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 5, "no other file stays");
}

#[test]
fn an_interrupt_before_the_first_epoch_says_that_there_is_no_model() {
    let folder = tempfile::tempdir().unwrap();
    // Its training data never end.
    let mut child = program()
        .args(["train", "parser", "--train", "-", "--model"])
        .arg(folder.path().join("parser.model"))
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    while files() == 0 {
        std::thread::sleep(Duration::from_millis(5));
        assert!(child.try_wait().unwrap().is_none(), "the program ended before its input did");
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    // Waiting would end the input, and the program could see that before the signal.
    let input = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(input);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said, "interrupted before the first epoch was done: no model was written\n");
    assert_eq!((output.status.code(), files()), (Some(130), 0));
}

#[test]
fn an_interrupt_leaves_no_half_written_file() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        leaves_nothing(signal, code);
    }
}

fn leaves_nothing(signal: &str, code: i32) {
    let folder = tempfile::tempdir().unwrap();
    let mut child = program()
        .args(["convert", "--from", "conllu", "--to", "conllu", "--output"])
        .arg(folder.path().join("out.conllu"))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(WORD.repeat(1000).as_bytes()).unwrap();
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    while files() == 0 {
        std::thread::sleep(Duration::from_millis(5));
        assert!(child.try_wait().unwrap().is_none(), "the program ended before its input did");
    }
    assert!(!folder.path().join("out.conllu").exists());
    assert!(Command::new("kill").arg(signal).arg(child.id().to_string()).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(code));
    assert_eq!(files(), 0);
    drop(stdin);
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let output = program().args(["man", "--quiet"]).arg(folder.path().join("pages")).output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for page in ["consonant.1", "consonant-evaluate-trees.1", "consonant-check.1"] {
        let text = std::fs::read_to_string(folder.path().join("pages").join(page)).expect(page);
        assert!(text.contains(".SH"), "{page}");
    }
}
