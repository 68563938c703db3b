//! Tables through the program: Parquet and JSONL in and out, in shards that are complete or absent, and a second run that does the rest.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_consonant"));
    command.current_dir(folder).args(["annotate", "--layers", "tags,entities"]).args(args);
    command
}

fn run(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn done(folder: &Path, args: &[&str]) -> String {
    let output = run(folder, args);
    assert!(output.status.success(), "{args:?}: {}", said(&output));
    said(&output)
}

/// A folder with so many rows in `posts.jsonl`.
fn posts(count: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let row = |n| match n % 10 {
        3 => format!("{{\"key\": {n}, \"body\": null}}\n"),
        _ => format!(
            "{{\"key\": {n}, \"body\": \"Ann Smith met {n} people in Kiel. They can't row.\", \"more\": 1}}\n"
        ),
    };
    std::fs::write(folder.path().join("posts.jsonl"), (0..count).map(row).collect::<String>()).unwrap();
    folder
}

const NAMED: [&str; 4] = ["--text-column", "body", "--id-column", "key"];

#[test]
fn a_table_is_the_same_by_every_way() {
    let folder = posts(300);
    let folder = folder.path();
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let with = |more: &[&str]| done(folder, &[&NAMED[..], more].concat());
    with(&["posts.jsonl", "-o", "a.parquet"]);
    with(&["posts.jsonl", "-o", "b.parquet", "--threads", "1"]);
    assert!(read("a.parquet").starts_with(b"PAR1") && read("a.parquet") == read("b.parquet"));
    with(&["posts.jsonl", "-o", "a.jsonl"]);
    // What `a.parquet` has beside the texts does not stand in the way of other formats.
    with(&["a.parquet", "-o", "b.jsonl"]);
    assert!(read("a.jsonl") == read("b.jsonl"));
    let lines = String::from_utf8(read("a.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 2 * 270);
    assert!(
        lines.lines().all(|line| line.contains("\"doc\":") && line.contains("\"start_char\":")
            || !line.contains("\"type\":"))
    );
    with(&["a.parquet", "-o", "a.conllu"]);
    let trees = String::from_utf8(read("a.conllu")).unwrap();
    assert!(
        trees.starts_with("# newdoc id = 0\n# newpar\n# sent_id = 0-1\n# text = Ann Smith met 0 people"),
        "{}",
        &trees[..80]
    );
    assert_eq!(trees.matches("# newdoc").count(), 270);
    std::fs::write(folder.join("story.txt"), "Ann rows. Bob sings.").unwrap();
    done(folder, &["story.txt", "-o", "story.parquet"]);
    assert!(read("story.parquet").ends_with(b"PAR1"));
}

#[test]
fn a_second_run_does_the_rest() {
    let folder = posts(400);
    let folder = folder.path();
    let shard = |place: &str, n: usize| folder.join(format!("{place}/posts-{n:05}.parquet"));
    let args = |place| {
        [
            &NAMED[..],
            &[
                "posts.jsonl",
                "--format",
                "parquet",
                "--rows-per-file",
                "25",
                "--threads",
                "1",
                "--output-dir",
                place,
            ],
        ]
        .concat()
    };
    done(folder, &args("whole"));
    assert!(shard("whole", 15).exists() && !shard("whole", 16).exists());
    let mut child = command(folder, &args("parts")).spawn().unwrap();
    let begun = Instant::now();
    while !shard("parts", 1).exists() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let there: Vec<usize> = (0..16).filter(|&n| shard("parts", n).exists()).collect();
    assert!(there.len() >= 2, "{there:?}");
    let time = |n| std::fs::metadata(shard("parts", n)).unwrap().modified().unwrap();
    let first = time(0);
    for n in there {
        assert!(std::fs::read(shard("parts", n)).unwrap().ends_with(b"PAR1"));
    }
    done(folder, &args("parts"));
    for n in 0..16 {
        assert!(
            std::fs::read(shard("parts", n)).unwrap() == std::fs::read(shard("whole", n)).unwrap(),
            "{n}"
        );
    }
    assert!(!shard("parts", 16).exists() && time(0) == first);
    assert!(done(folder, &args("parts")).contains("16 files are in parts already"));
    // Other work under the same names begins anew.
    done(folder, &[&args("parts")[..], &["--lines"]].concat());
    assert!(time(0) != first);
}

#[test]
fn folders_are_taken_up_again() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    std::fs::create_dir(place("in")).unwrap();
    for name in ["a", "b", "c"] {
        std::fs::write(place(&format!("in/{name}.txt")), format!("Ann rows {name}.")).unwrap();
    }
    let args = ["in", "--output-dir", "out"];
    assert_eq!(done(folder.path(), &args), "");
    std::fs::remove_file(place("out/b.conllu")).unwrap();
    let kept = std::fs::metadata(place("out/a.conllu")).unwrap().modified().unwrap();
    assert_eq!(done(folder.path(), &args), "2 files are in out already\n");
    assert!(place("out/b.conllu").exists());
    assert_eq!(std::fs::metadata(place("out/a.conllu")).unwrap().modified().unwrap(), kept);
    // What changed is annotated again.
    std::thread::sleep(Duration::from_millis(20));
    std::fs::write(place("in/a.txt"), "Eve rows.").unwrap();
    assert_eq!(done(folder.path(), &args), "2 files are in out already\n");
    assert!(std::fs::read_to_string(place("out/a.conllu")).unwrap().contains("Eve"));
}

#[test]
fn what_is_wrong_is_named() {
    let folder = posts(5);
    let folder = folder.path();
    for (args, code, message) in [
        (&["posts.jsonl"][..], 1, "posts.jsonl: line 1: there is no `text`; the fields are key, body, more"),
        (&["posts.jsonl", "--text-column", "key"], 1, "line 1: `key` is not text"),
        (&["posts.jsonl", "--rows-per-file", "3"], 2, "--output-dir"),
    ] {
        let output = run(folder, args);
        assert!(
            output.status.code() == Some(code) && said(&output).contains(message),
            "{args:?}: {}",
            said(&output)
        );
    }
    done(folder, &[&NAMED[..], &["posts.jsonl", "-o", "p.parquet"]].concat());
    let output = run(folder, &["p.parquet"]);
    assert!(
        said(&output)
            .contains("p.parquet: there is no column `text`; the columns are key, body, sentences, entities")
    );
    let output = run(folder, &["p.parquet", "--text-column", "body", "-o", "q.parquet"]);
    assert!(said(&output).contains("there is a column `sentences` already"), "{}", said(&output));
    assert!(!folder.join("q.parquet").exists());
}
