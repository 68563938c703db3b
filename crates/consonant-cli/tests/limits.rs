//! What the program takes and gives, whatever the machine and the input are: memory, what comes out of compressed files,
//! and the same bits on any number of threads and with any vectors.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn program(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_consonant"));
    command.args(arguments.split(' ')).current_dir(folder).stdin(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &str) -> Output {
    program(folder, arguments).output().unwrap()
}

fn packed(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, zstd::stream::encode_all(text.as_bytes(), 1).unwrap()).unwrap();
    path
}

/// Who does what to whom, with tags, names and trees.
fn treebank(sentences: usize) -> String {
    let (people, verbs, things) = (["Ann", "Bob", "Eve", "Kim"], ["sees", "likes", "buys"], ["dogs", "cats"]);
    let mut text = String::new();
    for at in 0..sentences {
        let (who, does, what) = (people[at % 4], verbs[at / 4 % 3], things[at / 3 % 2]);
        if at % 8 == 0 {
            text += "# newdoc\n";
        }
        text += &format!("1\t{who}\t_\tPROPN\tNNP\t_\t2\tnsubj\t_\tNER=B-PER\n");
        text += &format!("2\t{does}\t_\tVERB\tVBZ\t_\t0\troot\t_\t_\n");
        text += &match at % 5 < 2 {
            true => {
                format!("3\tthe\t_\tDET\tDT\t_\t4\tdet\t_\t_\n4\t{what}\t_\tNOUN\tNNS\t_\t2\tobj\t_\t_\n\n")
            }
            false => format!("3\t{what}\t_\tNOUN\tNNS\t_\t2\tobj\t_\t_\n\n"),
        };
    }
    text
}

#[test]
fn one_option_limits_what_comes_out_of_compressed_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("train.conllu"), treebank(8)).unwrap();
    fs::write(folder.join("problem.json"), r#"{"variables":[{"name":"x","score":1}],"factors":[]}"#).unwrap();
    fs::write(folder.join("text.txt"), "Ann sees dogs.\n").unwrap();
    packed(folder, "much.zst", &"word\tPER\n".repeat(20_000));
    packed(folder, "vectors.zst", &"word 1 2\n".repeat(20_000));
    for command in [
        "solve much.zst",
        "solve problem.json --hint much.zst",
        "verify much.zst problem.json",
        "verify problem.json much.zst",
        "summarize much.zst",
        "summarize text.txt --known much.zst",
        "link much.zst",
        "annotate text.txt --gazetteer LOC=much.zst",
        "annotate text.txt --override much.zst",
        "train tagger --train train.conllu --model m --template much.zst",
        "train tagger --train train.conllu --model m --clusters much.zst",
        "train tagger --train train.conllu --model m --gazetteer a=much.zst",
        "train tagger --train train.conllu --model m --vectors vectors.zst",
        "train tagger --train train.conllu --model m --pieces much.zst",
        "train tagger --train train.conllu --model m --settings much.zst",
        "train ner --train train.conllu --model m --template much.zst",
        "train ner --train train.conllu --model m --clusters much.zst",
        "train parser --train train.conllu --model m --clusters much.zst",
    ] {
        let refused = run(folder, &format!("{command} --max-size 100K"));
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{command}: {said}");
        assert!(said.contains("--max-size"), "{command}: {said}");
        let taken = run(folder, &format!("{command} --max-size 1M"));
        let said = String::from_utf8_lossy(&taken.stderr);
        assert!(!said.contains("--max-size"), "{command}: {said}");
    }
    assert_eq!(run(folder, "solve much.zst --max-size 100X").status.code(), Some(2));
    // What is read bit by bit has no limit.
    assert!(run(folder, "convert --from columns --to conllu much.zst --max-size 100K").status.success());
}

/// Streams of any shape take less than this beside the models and the program, which are in memory as a whole.
const MOST_FOR_STREAMS: u64 = 200;

/// The megabytes that a command takes at most, or nothing where the system does not tell.
fn peak(folder: &Path, arguments: &str) -> Option<u64> {
    let output = program(folder, &format!("{arguments} --threads 2 --verbose"))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {said}");
    let line = said.lines().find_map(|line| line.strip_prefix("peak memory ")?.strip_suffix(" MB"));
    line.map(|megabytes| megabytes.parse().unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_follow_streams_of_any_shape() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let models = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models");
    let line =
        "The ferry lost power on Monday evening when a net caught in its propeller, and nobody was hurt. ";
    let (kilo, mega) = (1000, 1_000_000);
    let repeated = |text: &str, size: usize| text.repeat(size / text.len());
    for (name, text) in [
        ("paragraph.txt", repeated(line, mega)),
        ("lines.txt", repeated("word.\n", mega)),
        ("blank.txt", repeated("\n", 8 * mega)),
        ("word.txt", repeated("a", 8 * mega)),
        ("unstopped.txt", repeated("and the old dog saw a small cat ", 100 * kilo)),
        ("short.txt", repeated(line, 50 * kilo)),
        ("many.conllu", treebank(60_000)),
        ("long.conllu", treebank(4000).replace("\n\n", "\n")),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    packed(folder, "blank.txt.zst", &repeated("\n", 15 * mega));
    let idle = peak(folder, "annotate short.txt").expect("Linux tells");
    assert!(idle < 150, "an idle program takes {idle} MB");
    for command in [
        "annotate --layers tags paragraph.txt",
        "annotate --layers tags lines.txt",
        "annotate --layers tags unstopped.txt",
        "annotate blank.txt",
        "annotate blank.txt.zst",
        "annotate --layers tags word.txt",
        "convert --from text --to text paragraph.txt",
        "convert --from conllu --to jsonl many.conllu",
        "check many.conllu",
        "check paragraph.txt",
        "evaluate tags many.conllu many.conllu",
        "predict --model MODELS/tagger.model many.conllu",
        "predict --model MODELS/ner.model many.conllu",
    ] {
        let most = peak(folder, &command.replace("MODELS", models)).unwrap();
        assert!(most < MOST_FOR_STREAMS + 40, "{command}: {most} MB");
    }
}

#[test]
fn threads_and_vectors_change_no_bit() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("train.conllu"), treebank(120)).unwrap();
    for (task, settings) in [
        ("tagger", "--column xpos --epochs 3 --dev train.conllu"),
        ("tagger", "--algorithm likelihood --epochs 5"),
        ("ner", "--epochs 2 --consistency patterns --dev train.conllu"),
        ("parser", "--order 2 --epochs 2 --bits 14 --label-bits 12 --pruner-bits 12"),
    ] {
        let trained = |threads: usize, simd: &str| {
            let command =
                format!("train {task} --train train.conllu --model m {settings} --threads {threads} --quiet");
            let done = program(folder, &command).env("CONSONANT_SIMD", simd).output().unwrap();
            assert!(done.status.success(), "{command}: {}", String::from_utf8_lossy(&done.stderr));
            let model = fs::read(folder.join("m")).unwrap();
            let command = format!("predict --model m train.conllu --threads {threads}");
            (model, program(folder, &command).env("CONSONANT_SIMD", simd).output().unwrap().stdout)
        };
        let first = trained(1, "on");
        for (threads, simd) in [(1, "off"), (2, "on"), (3, "off"), (8, "on")] {
            assert!(trained(threads, simd) == first, "{task} {settings}: {threads} threads, vectors {simd}");
        }
    }
}
