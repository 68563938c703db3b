//! Files under the names that pages use, so that their commands can be run: small, and made from `examples/`,
//! mostly by the program itself.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::{copy, root, run};

/// Files that the program makes from `examples/`, in this order. What it finds itself stands for what people
/// marked.
const COMMANDS: &[&str] = &[
    "consonant annotate story.txt posts.txt a.txt b.txt --output train.conllu",
    "consonant annotate c.txt --output dev.conllu",
    "consonant convert --from conllu --to columns train.conllu --output train.tsv",
    "consonant convert --from conllu --to columns dev.conllu --output dev.tsv",
    "consonant train tagger --train train.conllu --model tagger.model --column upos --epochs 1 --quiet",
];

/// The same content under a second name.
const COPIES: &[(&str, &str)] = &[
    ("c.txt", "raw.txt"),
    ("c.txt", "text.txt"),
    ("dev.conllu", "text.conllu"),
    ("dev.conllu", "sentence.conllu"),
    ("dev.conllu", "gold.conllu"),
    ("dev.conllu", "predicted.conllu"),
    ("dev.conllu", "dev-with-names.conllu"),
    ("dev.tsv", "text.tsv"),
    ("dev.tsv", "gold.tsv"),
    ("dev.tsv", "names.tsv"),
    ("dev.tsv", "predicted.tsv"),
    ("dev.tsv", "baseline.tsv"),
    ("examples/solve/names.json", "problem.json"),
];

/// Two variables of two states, a table for each and one for both.
const GRID: &str = "MARKOV\n2\n2 2\n3\n1 0\n1 1\n2 0 1\n\n2\n 2 1\n2\n 1 3\n4\n 4 1\n 1 4\n";

static MATERIAL: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let made = tempfile::tempdir().expect("a folder");
    let folder = made.path();
    copy(&root().join("examples"), &folder.join("examples"));
    copy(&root().join("bench/templates"), &folder.join("bench/templates"));
    copy(&folder.join("examples/news"), folder);
    copy(&folder.join("examples/news"), &folder.join("news"));
    for name in ["story.txt", "posts.txt", "chat.log"] {
        fs::copy(folder.join("examples").join(name), folder.join(name)).expect("a copy");
    }
    for command in COMMANDS {
        run(command, folder).unwrap_or_else(|fault| panic!("{fault}"));
    }
    for (from, to) in COPIES {
        fs::copy(folder.join(from), folder.join(to)).expect("a copy");
    }
    fs::write(folder.join("grid.uai"), GRID).expect("a problem");
    write_lines(&folder.join("topics.jsonl"), &[topic(folder)]);
    let post = |id: i32, body: &str| json!({"id": id, "body": body});
    write_lines(&folder.join("posts.jsonl"), &[post(1, "Ann Smith lives in Kiel."), post(2, "Bob left.")]);
    for name in ["pairs.jsonl", "dev-pairs.jsonl"] {
        write_lines(&folder.join(name), &compressions());
    }
    made
});

/// Fills a folder for one page or command.
pub fn lay_out(page: &str, folder: &Path) {
    copy(MATERIAL.path(), folder);
    let conversations = fs::read_to_string(folder.join("examples/thread.jsonl")).expect("a conversation");
    // Conversations, topics and summaries are all JSON, and their pages have the same names for them.
    let of_page: &[(&str, String)] = match page {
        page if page.contains("threads") || page.contains("links") => {
            &["train", "dev", "chat", "gold", "predicted"].map(|name| (name, conversations.clone()))
        }
        page if page.contains("evaluate") => &[
            ("gold", json!({"id": "ferry", "summaries": ["The ferry drifted in fog."]}).to_string() + "\n"),
            ("predicted", json!({"id": "ferry", "summary": "A ferry drifted."}).to_string() + "\n"),
        ],
        _ => &[("dev", fs::read_to_string(folder.join("topics.jsonl")).expect("topics"))],
    };
    for (name, text) in of_page {
        fs::write(folder.join(format!("{name}.jsonl")), text).expect("a file");
    }
}

fn write_lines(path: &Path, values: &[Value]) {
    let lines: String = values.iter().map(|value| format!("{value}\n")).collect();
    fs::write(path, lines).expect("a file");
}

/// The three reports on one event with a summary that people might write.
fn topic(folder: &Path) -> Value {
    let documents: Vec<Value> = ["a", "b", "c"]
        .iter()
        .map(|id| {
            let text = fs::read_to_string(folder.join(format!("{id}.txt"))).expect("a report");
            json!({"id": id, "text": text})
        })
        .collect();
    let summary = "A net in its propeller stopped the ferry Northern Star on Monday evening. It drifted in fog with 84 \
                   passengers until a tug towed it. A smaller boat will serve Saint Orla.";
    json!({"id": "ferry", "documents": documents, "summaries": [summary]})
}

/// Sentences with the words that a short version keeps.
fn compressions() -> Vec<Value> {
    let marked = [
        "+The +ferry +drifted through the night +in +fog +.",
        "On Monday +a +net +stopped +the +ship near the old harbour +.",
        "+The +company +will +repay +all +fares , she said +.",
        "Until Friday +a smaller +boat +will +serve +the +island +.",
    ];
    let sentence = |(number, line): (usize, &&str)| {
        let words = line.split(' ');
        let tokens: Vec<&str> = words.clone().map(|word| word.trim_start_matches('+')).collect();
        let keep: Vec<u8> = words.map(|word| u8::from(word.starts_with('+'))).collect();
        json!({"id": number.to_string(), "tokens": tokens, "keep": keep})
    };
    marked.iter().enumerate().map(sentence).collect()
}
