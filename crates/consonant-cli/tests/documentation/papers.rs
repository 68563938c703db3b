//! docs/papers.md keeps its word, too: each row names a command that knows what it is asked for, and the commands run.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{check_flags, faults_of, material, root};

const PAPERS: [&str; 6] = [
    "two-slave",
    "compressive-summaries",
    "third-order-parsing",
    "piecewise",
    "sentence-and-word-crfs",
    "pseudo-perceptrons",
];

/// The rows of tables and figures, and the commands in them.
fn rows() -> Vec<(String, Vec<String>)> {
    let page = fs::read_to_string(root().join("docs/papers.md")).expect("the page");
    let rows = page.lines().filter(|line| line.starts_with("| Table ") || line.starts_with("| Figure "));
    let commands =
        |row: &str| row.split('`').filter(|text| text.starts_with("bench/")).map(str::to_owned).collect();
    rows.map(|row| (row.to_owned(), commands(row))).collect()
}

#[test]
fn every_row_has_a_command_that_knows_it() {
    let rows = rows();
    assert!(rows.len() >= 34, "{} rows", rows.len());
    for (row, commands) in &rows {
        let what =
            row.trim_start_matches("| ").split(" |").next().expect("a cell").to_lowercase().replace(' ', "-");
        assert!(commands.iter().any(|command| command.ends_with(&what)), "{row}");
        for command in commands {
            assert_eq!(check_flags(command), Ok(()), "{row}");
        }
    }
    for paper in PAPERS {
        let named = |command: &String| command.starts_with(&format!("bench/reproduce/{paper} "));
        assert!(rows.iter().any(|(_, commands)| commands.iter().any(named)), "{paper}");
    }
}

/// A data folder with a little of everything, under the names of sets that the commands look for first.
fn lay_out(data: &Path) {
    let made = data.join("made");
    material::lay_out("papers", &made);
    let put = |from: &str, to: &str, times: usize| {
        let text = fs::read_to_string(made.join(from)).expect("material");
        let path = data.join(to);
        fs::create_dir_all(path.parent().expect("its folder")).expect("a folder");
        // Each conversation has a name of its own.
        let copies = (0..times).map(|copy| text.replacen("\"id\": \"", &format!("\"id\": \"{to}{copy}"), 1));
        fs::write(path, copies.collect::<String>()).expect("a file");
    };
    for part in ["train", "dev"] {
        put(&format!("{part}.conllu"), &format!("ud/English-EWT/{part}.conllu"), 1);
        for set in ["english-ewt", "wikigold", "msm2013", "portuguese-bosque", "btc", "turku-fi"] {
            put(&format!("{part}.tsv"), &format!("ner/{set}/{part}.tsv"), 2);
        }
        put("examples/thread.jsonl", &format!("threads/molweni-{part}.jsonl"), 6);
        put("pairs.jsonl", &format!("compression/{part}.jsonl"), 2);
        put("pairs.jsonl", &format!("compression/{part}-clarke.jsonl"), 2);
        put("topics.jsonl", &format!("summarization/bc3/{part}.jsonl"), 2);
    }
}

#[test]
fn every_paper_runs() {
    let there =
        Command::new("python3").args(["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]).status();
    if !there.is_ok_and(|status| status.success()) {
        eprintln!("skipped: the commands of bench/reproduce want Python 3.9 or later");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    lay_out(folder.path());
    let faults = faults_of(&PAPERS, |paper| {
        let own = tempfile::tempdir().expect("a folder");
        let output = Command::new(root().join("bench/reproduce").join(paper))
            .args(["--quick", "--figures", "figures", "--binary", env!("CARGO_BIN_EXE_consonant"), "--data"])
            .arg(folder.path())
            .current_dir(own.path())
            .output()
            .expect("a script");
        let text = String::from_utf8_lossy(&output.stdout);
        let missing = rows().into_iter().flat_map(|(_, commands)| commands).filter_map(|command| {
            let asked = command.strip_prefix(&format!("bench/reproduce/{paper} "))?;
            let part = asked.split(' ').next()?;
            // What follows a heading, up to the next one, is what was made.
            let made = text
                .split("## ")
                .any(|section| section.strip_prefix(part).is_some_and(|rest| !rest.trim().is_empty()));
            (!made).then(|| format!("{paper} does not make {part}"))
        });
        let mut faults: Vec<String> = missing.collect();
        if !output.status.success() {
            faults.push(format!("{paper}: {}", String::from_utf8_lossy(&output.stderr)));
        }
        faults
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
