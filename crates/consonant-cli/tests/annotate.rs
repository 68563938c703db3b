//! `consonant annotate` keeps every character of any text, for any number of threads, and refuses what is no
//! text.
//!
//! Most tests take the models of an empty folder, none, and ask for tokens alone. So sentences and tokens are found by rules,
//! and the tests say nothing of quality.

mod schema;

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use proptest::prelude::*;

fn annotate(text: &[u8], arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let mut without_models =
        vec!["--layers", "tokens", "--models", folder.path().to_str().expect("a name in UTF-8")];
    without_models.extend(arguments);
    run(text, &without_models)
}

fn run(text: &[u8], arguments: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_consonant"))
        .arg("annotate")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    let text = text.to_vec();
    let writer = std::thread::spawn(move || {
        // The program may stop reading at a fault.
        let _ = input.write_all(&text);
    });
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the writer ends");
    output
}

fn conllu(text: &str, arguments: &[&str]) -> String {
    let output = annotate(text.as_bytes(), arguments);
    assert!(output.status.success(), "{text:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The text that rows spell, with white space from MISC; each token must stand where it says.
fn rebuilt(conllu: &str) -> String {
    let mut text = String::new();
    let mut characters = 0;
    let mut covered = 0;
    let append = |text: &mut String, characters: &mut usize, piece: &str| {
        text.push_str(piece);
        *characters += piece.chars().count();
    };
    for line in conllu.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [id, form, .., misc] = fields[..] else {
            covered = 0;
            continue;
        };
        match id.split_once('-') {
            Some((_, last)) => covered = last.parse().expect("a number"),
            None if id.parse::<usize>().expect("a number") <= covered => continue,
            None => {}
        }
        let entry = |key: &str| misc.split('|').find_map(|entry| entry.strip_prefix(key));
        let spaces = |text: &str| {
            text.replace("\\s", " ").replace("\\t", "\t").replace("\\n", "\n").replace("\\r", "\r")
        };
        append(&mut text, &mut characters, &entry("SpacesBefore=").map_or(String::new(), spaces));
        let start = characters;
        append(&mut text, &mut characters, form);
        assert_eq!(entry("TokenRange="), Some(format!("{start}:{characters}").as_str()), "{line}");
        match (entry("SpaceAfter=No"), entry("SpacesAfter=")) {
            (Some(_), _) => {}
            (None, Some(after)) => append(&mut text, &mut characters, &spaces(after)),
            (None, None) => append(&mut text, &mut characters, " "),
        }
    }
    text
}

fn check(text: &str) {
    let spelled = rebuilt(&conllu(text, &[]));
    if text.trim().is_empty() {
        assert_eq!(spelled, "");
    } else {
        assert_eq!(spelled, text);
    }
}

/// Places in JSONL must be those of the forms in the file, and all but white space has one.
fn check_places(text: &str) {
    let letters: Vec<char> = text.chars().collect();
    let count = |value: &serde_json::Value| value.as_u64().map(|count| count as usize);
    let mut covered = 0;
    for line in conllu(text, &["--format", "jsonl"]).lines() {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        schema::check(&record);
        let empty = Vec::new();
        let several = record["multiword"].as_array().unwrap_or(&empty);
        for (word, token) in record["tokens"].as_array().expect("tokens").iter().enumerate() {
            let whole = several
                .iter()
                .find(|whole| (count(&whole["start"])..count(&whole["end"])).contains(&Some(word)));
            let place =
                count(&token["start_char"]).expect("a start")..count(&token["end_char"]).expect("an end");
            // A word has its own letters; where the words of a token do not spell it, they have all of its place.
            let spelled = letters[place.clone()].iter().collect::<String>();
            let is_form = |of: &serde_json::Value, key: &str| of[key].as_str() == Some(&spelled);
            assert!(is_form(token, "form") || whole.is_some_and(|whole| is_form(whole, "text")), "{spelled}");
            if place.start >= covered {
                assert!(letters[covered..place.start].iter().all(|letter| letter.is_whitespace()));
            } else {
                assert!(whole.is_some() && place.end == covered, "{spelled}");
            }
            covered = place.end;
        }
        for entity in record["entities"].as_array().unwrap_or(&empty) {
            let place =
                count(&entity["start_char"]).expect("a start")..count(&entity["end_char"]).expect("an end");
            assert_eq!(letters[place].iter().collect::<String>(), entity["text"].as_str().expect("a text"));
        }
    }
    assert!(letters[covered..].iter().all(|letter| letter.is_whitespace()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_character_is_kept(text in any::<String>()) {
        let text = text.replace(['\0', '\u{feff}'], "");
        check(&text);
        check_places(&text);
    }

    #[test]
    fn every_character_of_likely_text_is_kept(
        text in "([a-zA-Z]{1,5}|[0-9]{1,3}|[.!?…'’\"()@:/#&_|\\\\-]|://|n't|[ \n\t\r\u{a0}\u{2029}]|\r\n|\n\n|é|e\u{301}|漢字|שלום|👩‍👧|\u{1b}|\u{7f}){0,60}"
    ) {
        check(&text);
    }
}

#[test]
fn long_texts_are_kept_for_any_number_of_threads() {
    let mut text = String::from("\n \n");
    for number in 0..9000 {
        text += &format!("Line {number} isn't long.  It's «{}»!", number * number);
        text += ["\r\n", "\n\n", "\n\n\n\t", " "][number % 4];
    }
    let one = conllu(&text, &["--threads", "1"]);
    assert_eq!(rebuilt(&one), text);
    assert_eq!(one, conllu(&text, &["--threads", "3"]));
}

#[test]
fn paragraphs_without_end_are_kept() {
    for text in [
        "word ".repeat(100_000),
        "字".repeat(50_000),
        "a.b".repeat(30_000),
        "(".repeat(100_000),
        "x".repeat(1 << 20),
        format!("{}word{}", " ".repeat(5 << 20), "\n".repeat(5 << 20)),
    ] {
        check(&text);
    }
}

#[test]
fn white_space_alone_gives_nothing() {
    for text in ["", " ", "\r\n\r\n\t", "\u{feff}"] {
        assert_eq!(conllu(text, &[]), "");
    }
}

#[test]
fn what_is_no_text_is_refused_with_its_place() {
    for (bytes, message) in [
        (&b"Good.\n\nB\xffd."[..], "error: <stdin>:3:2: expected UTF-8, came byte 0xff"),
        (b"a\0b", "error: <stdin>:1:2: expected text, came a NUL byte"),
        (b"\xff\xfeH\0i\0", "UTF-16"),
    ] {
        let output = annotate(bytes, &[]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(message), "{said}");
    }
}

/// Sentences and tokens of CoNLL-U stay as they are, comments and all.
#[test]
fn conllu_keeps_its_tokens_and_gets_layers() {
    let given = "# sent_id = x\n1\tAnn\t_\t_\t_\t_\t_\t_\t_\t_\n2\trows-home\t_\t_\t_\t_\t_\t_\t_\t_\n\n";
    let output = run(given.as_bytes(), &["--layers", "tags,tree"]);
    let filled = String::from_utf8(output.stdout).unwrap();
    let words: Vec<&str> = filled.lines().filter_map(|line| line.split('\t').nth(1)).collect();
    assert!(filled.starts_with("# sent_id = x\n") && words == ["Ann", "rows-home"], "{filled}");
    assert!(filled.contains("PROPN") && filled.contains("root"), "{filled}");
}

/// So do those of a file that has a token and its label a line.
#[test]
fn columns_keep_their_tokens_and_get_layers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens.tsv");
    std::fs::write(&file, "Ann\tO\nrows-home\tO\n\nBob\tB-PER\n").unwrap();
    let output = run(b"", &["--layers", "tags", "--format", "conllu", file.to_str().unwrap()]);
    let filled = String::from_utf8(output.stdout).unwrap();
    let words: Vec<&str> = filled.lines().filter_map(|line| line.split('\t').nth(1)).collect();
    assert_eq!(words, ["Ann", "rows-home", "Bob"], "{filled}");
    assert_eq!((filled.matches("\n\n").count(), filled.matches("PROPN").count()), (2, 2), "{filled}");
    assert!(output.stderr.is_empty());
    let output = annotate(b"Ann\tO\nrows\tO\n", &[]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("*.tsv"));
}

/// Who gives records to `annotate` hardly wants their braces taken for words; but a text may look like
/// anything.
#[test]
fn text_that_looks_like_records_is_annotated_with_a_warning() {
    for (text, warns) in [("{\"id\": 1}\n", true), ("Ann rows.\n", false)] {
        let output = annotate(text.as_bytes(), &[]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && !output.stdout.is_empty(), "{said}");
        assert_eq!(said.contains("<stdin> looks like data with a format"), warns, "{text}: {said}");
    }
}

#[test]
fn a_text_in_another_language_is_noticed() {
    let german = "Der Hund lief über die Straße, und die Katze saß auf dem Dach und sah ihm zu, bis er hinter den Häusern verschwunden war. \
                  Danach schlief sie wieder ein und träumte von Fischen, die im Garten schwammen.";
    let contracted = "Der Hund ist nicht im Haus, sondern im Garten.\n\n".repeat(6);
    let list = "Alan Turing, mathematician, Manchester University; Ada Lovelace, Countess of Lovelace, London; Grace Hopper, rear admiral, \
                Arlington, Virginia; Kurt Gödel, logician, Princeton; notes for the meeting on Tuesday, budget, any other business, tea.";
    let english = "The dog ran over the street, and the cat sat on the roof and watched him until he was gone behind the houses. \
                   Then she fell asleep again and dreamt of fish that swam in the garden.";
    let chat = "[10:03] anna: hey bob, are you coming to the lab?\n[10:04] bob: nope, gotta work #sad\n[10:05] anna: 410 U.S. 113 (1973), 12(b)(6), \
                Smith v. Jones, Deloitte, KPMG, Acme Widgets, Kate Olsen, Van Damme, Xi Jinping, Biden\n";
    for (text, warns) in [
        (german, true),
        (&contracted, true),
        (english, false),
        (list, false),
        (chat, false),
        ("Guten Morgen!", false),
    ] {
        let said = run(text.as_bytes(), &["--layers", "tags"]).stderr;
        let said = String::from_utf8_lossy(&said);
        assert_eq!(said.contains("does not look English"), warns, "{said}");
    }
}

/// A folder without models, or a parser without its tagger, is a mistake, and silence about it would be another one.
#[cfg(feature = "embedded-models")]
#[test]
fn models_that_are_missing_or_do_not_fit_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let annotate = |more: &[&str]| {
        let mut arguments = vec!["--models", folder.path().to_str().unwrap()];
        arguments.extend(more);
        let output = run(b"Ann rows home.\n", &arguments);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = annotate(&[]);
    assert!(code == Some(1) && said.contains("has none of segmenter.model"), "{said}");
    assert_eq!(annotate(&["--layers", "tokens"]).0, Some(0));

    // A parser that reads tags, lemmas and features.
    let gold = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/trees/gold.conllu");
    let train = |task: &str, more: &[&str]| {
        let model = folder.path().join(format!("{task}.model"));
        let trained = Command::new(env!("CARGO_BIN_EXE_consonant"))
            .args(["train", task, "--train", gold, "--epochs", "1", "--model", model.to_str().unwrap()])
            .args(more)
            .output()
            .unwrap();
        assert!(trained.status.success(), "{}", String::from_utf8_lossy(&trained.stderr));
    };
    train("parser", &["--bits", "10", "--label-bits", "10", "--pruner-bits", "10"]);
    let (code, said) = annotate(&[]);
    assert!(code == Some(1) && said.contains("parser.model needs tagger.model"), "{said}");
    train("tagger", &["--column", "upos"]);
    let (code, said) = annotate(&[]);
    assert!(code == Some(0) && said.contains("parser.model reads lemmas and features"), "{said}");
    train("lemmatizer", &[]);
    let (code, said) = annotate(&["--layers", "tree"]);
    assert!(code == Some(0) && !said.contains("parser.model reads"), "{said}");
}

/// Folders are read with all below them, and their files are written under the same names.
#[test]
fn folders_patterns_and_names_of_outputs_mean_what_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(place("in/more")).unwrap();
    for (name, text) in [("in/a.txt", "Ann rows."), ("in/more/b.txt", "Bob sings."), ("in/.hidden", "No.")] {
        std::fs::write(place(name), text).unwrap();
    }
    let run = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_consonant"))
            .current_dir(folder.path())
            .args(["annotate", "--layers", "tags"])
            .args(args)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(run(&["in", "--output-dir", "out", "--format", "jsonl", "--quiet"]), (Some(0), String::new()));
    assert!(std::fs::read_to_string(place("out/a.jsonl")).unwrap().contains("Ann"));
    assert!(std::fs::read_to_string(place("out/more/b.jsonl")).unwrap().contains("sings"));
    let hidden = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with('.');
    let written = std::fs::read_dir(place("out")).unwrap().map(Result::unwrap);
    assert_eq!(written.filter(|entry| !hidden(entry)).count(), 2);
    let (code, said) = run(&["in/a.txt", "in/a.txt", "--output-dir", "out"]);
    assert!(code == Some(2) && said.contains("would both be written to"), "{said}");
    let (code, said) = run(&["in/*.nothing"]);
    assert!(code == Some(2) && said.contains("no file is called in/*.nothing"), "{said}");
    for (name, start) in [
        ("x.jsonl", &b"{\"schema\""[..]),
        ("x.svg", b"<svg"),
        ("x.conllu.gz", b"\x1f\x8b"),
        ("x.conllu.zst", b"\x28\xb5\x2f\xfd"),
    ] {
        assert_eq!(run(&["in/*.txt", "-o", name, "--quiet"]).0, Some(0));
        assert!(std::fs::read(place(name)).unwrap().starts_with(start), "{name}");
    }
    assert_eq!(run(&["x.conllu.gz", "-o", "again.conllu", "--quiet"]).0, Some(0));
    assert!(std::fs::read_to_string(place("again.conllu")).unwrap().contains("\tAnn\t"));
    let (code, said) = run(&["in/a.txt", "-o", "x.pdf"]);
    assert!(code == Some(0) && said.contains("`.pdf` names none of the formats"), "{said}");
}

/// `embedded:TASK` stands for a model wherever a model is read.
#[test]
fn embedded_models_have_names() {
    let run = |args: &[&str]| Command::new(env!("CARGO_BIN_EXE_consonant")).args(args).output().unwrap();
    let described = run(&["inspect", "embedded:tagger", "--top", "1"]);
    assert!(String::from_utf8_lossy(&described.stdout).contains("upos+xpos"), "{described:?}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.conllu");
    std::fs::write(&file, "1\tAnn\t_\t_\t_\t_\t_\t_\t_\t_\n2\trows\t_\t_\t_\t_\t_\t_\t_\t_\n\n").unwrap();
    let tagged = run(&["predict", "--model", "embedded:tagger", file.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&tagged.stdout).contains("Ann\t_\tPROPN\tNNP"), "{tagged:?}");
    let unknown = run(&["predict", "--model", "embedded:cook", file.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(unknown.status.code() == Some(2) && said.contains("no model of this name"), "{said}");
}

#[test]
fn every_format_is_written() {
    let text = "Ann can't row. Bob <can>!";
    let records = conllu(text, &["--format", "jsonl"]);
    assert_eq!(records.lines().count(), 2);
    assert!(
        records.starts_with("{\"schema\":2,\"doc\":\"<stdin>\",\"id\":\"1\",\"text\":\"Ann can't row.\""),
        "{records}"
    );
    let picture = conllu(text, &["--format", "pretty"]);
    assert!(picture.contains("row") && !picture.contains('\u{1b}'), "{picture}");
    assert!(conllu(text, &["--format", "pretty", "--color", "always"]).contains("\u{1b}[1m"));
    let svg = conllu(text, &["--format", "svg"]);
    assert!(svg.starts_with("<svg ") && svg.contains("&lt;") && svg.ends_with("</svg>\n"), "{svg}");
}

#[test]
fn lines_and_blanks_are_what_the_user_says() {
    let text = "Ann can't row .\nDr. Who\n";
    let forms = |flags: &[&str]| {
        let lines = conllu(text, flags);
        let rows = lines.lines().filter(|line| !line.starts_with('#'));
        rows.map(|row| row.split('\t').nth(1).unwrap_or("|").to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(forms(&["--lines", "--tokenized"]), "Ann can't row . | Dr. Who |");
    assert!(forms(&["--lines"]).starts_with("Ann can't ca n't row . | Dr. Who |"), "{}", forms(&["--lines"]));
    assert!(forms(&["--tokenized"]).starts_with("Ann can't row ."), "{}", forms(&["--tokenized"]));
}

/// The rows of words, with a field of each.
fn column(output: &Output, field: usize) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let rows = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let fields = rows.map(|row| row.split('\t').map(str::to_owned).collect::<Vec<_>>());
    fields.map(|fields| (fields[1].clone(), fields[field].clone())).collect()
}

#[test]
fn what_a_user_knows_holds() {
    let folder = tempfile::tempdir().unwrap();
    let known = folder.path().join("known.tsv");
    let text = b"Zorblax Widgets hired May in Kiel. The gurgle Zorblax Widgets sells is May's.";
    let names = |output: &Output| -> Vec<(String, String)> {
        let label =
            |misc: &str| misc.split('|').find_map(|entry| entry.strip_prefix("NER=").map(str::to_owned));
        let rows = column(output, 9).into_iter();
        rows.filter_map(|(form, misc)| label(&misc).map(|label| (form, label))).collect()
    };
    std::fs::write(&known, "# ours\nZorblax Widgets\tPER\n\nKiel\tO\nMay\tLOC\ngurgle\tVERB\n").unwrap();
    let output = run(
        text,
        &["--layers", "tags,entities", "--format", "conllu", "--override", known.to_str().unwrap()],
    );
    let found = names(&output);
    let of = |word: &str| {
        found.iter().filter(|(form, _)| form == word).map(|(_, label)| &label[..]).collect::<Vec<_>>()
    };
    assert_eq!((of("Zorblax"), of("Widgets")), (vec!["B-PER"; 2], vec!["I-PER"; 2]), "{found:?}");
    assert_eq!(of("May"), ["B-LOC", "B-LOC"], "{found:?}");
    assert!(of("Kiel").is_empty(), "{found:?}");
    let tags = column(&output, 3);
    assert!(tags.contains(&("gurgle".to_owned(), "VERB".to_owned())), "{tags:?}");

    let list = folder.path().join("orgs.txt");
    std::fs::write(&list, "Zorblax Widgets\n").unwrap();
    let listed = format!("ORG={}", list.display());
    let output = run(text, &["--layers", "entities", "--format", "conllu", "--gazetteer", &listed]);
    let found = names(&output);
    assert_eq!(found.iter().filter(|(_, label)| label.ends_with("ORG")).count(), 4, "{found:?}");

    std::fs::write(&known, "Kiel\tPLANET\n").unwrap();
    for (flags, expected, code) in [
        (["--override", known.to_str().unwrap()], "known.tsv:1: `PLANET` is no type", 2),
        (["--gazetteer", "PLANET=orgs.txt"], "orgs.txt", 1),
        (["--gazetteer", "orgs.txt"], "TYPE=FILE", 2),
    ] {
        let output = run(b"Kiel.", &flags);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(code) && said.contains(expected), "{said}");
    }
}

#[test]
fn sentences_have_ids_and_say_what_is_proven_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a story.txt");
    std::fs::write(&file, "Ann Smith lives in Kiel. Smith likes it.\n\nBob, too.\n").unwrap();
    let (path, clean) = (file.to_str().unwrap(), file.to_str().unwrap().replace(['/', ' '], "_"));
    let output = run(b"", &[path, "--certificate", "--format", "jsonl"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    for (number, line) in lines.lines().enumerate() {
        let sentence: serde_json::Value = serde_json::from_str(line).unwrap();
        schema::check(&sentence);
        assert_eq!(sentence["id"], format!("{clean}-{}", number + 1));
        for layer in ["entities", "tree"] {
            let certificate = &sentence["certificate"][layer];
            assert_eq!(certificate["status"], "optimal", "{line}");
            assert!(certificate["value"].as_f64() <= certificate["bound"].as_f64(), "{line}");
        }
    }
    // CoNLL-U says the same, in this order, and makes the same JSON.
    let rows = run(b"", &[path, "--certificate", "--format", "conllu"]).stdout;
    let rows = String::from_utf8(rows).unwrap();
    let keys: Vec<&str> = rows
        .lines()
        .take_while(|line| line.starts_with('#'))
        .map(|line| line[2..].split(" = ").next().unwrap())
        .collect();
    assert_eq!(keys, ["newdoc id", "newpar", "sent_id", "text", "certificate"], "{rows}");
    let read: Vec<_> = consonant::text::SentenceReader::conllu(rows.as_bytes(), "rows")
        .map(|sentence| consonant::text::jsonl::SentenceRecord::from(&sentence.unwrap()))
        .collect();
    let told = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["certificate"].clone();
    assert!(lines.lines().zip(&read).all(|(line, read)| told(line) == serde_json::json!(read.certificate)));
    assert_eq!(read.len(), 3);
}

#[test]
fn the_embedded_models_say_how_sure_they_are() {
    let output = run(
        b"Ann Smith lives in Kiel. Colorless green ideas sleep furiously.",
        &["--confidence", "--format", "jsonl"],
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut names = 0;
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let sentence: serde_json::Value = serde_json::from_str(line).unwrap();
        schema::check(&sentence);
        let is_share =
            |value: &serde_json::Value| value.as_f64().is_some_and(|share| share > 0.0 && share <= 1.0);
        for token in sentence["tokens"].as_array().unwrap() {
            assert!(is_share(&token["tag_confidence"]) && is_share(&token["head_confidence"]), "{token}");
        }
        for entity in sentence["entities"].as_array().into_iter().flatten() {
            assert!(is_share(&entity["confidence"]), "{entity}");
            names += 1;
        }
    }
    assert!(names > 0);
}

/// A toy tagger that is trained with dev data, and one that is calibrated later, say the same of themselves.
#[test]
fn confidence_comes_from_dev_data() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let words = |seed: usize| {
        (0..60).map(move |number| {
            let (noun, verb) = [("dog", "barks"), ("bark", "rots"), ("saw", "cuts")][(seed + number) % 3];
            // A share of the verbs is called a noun, so that nobody can be sure.
            let tag = if (seed + number).is_multiple_of(4) { "NOUN" } else { "VERB" };
            format!("1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\t{noun}\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_\n3\t{verb}\t_\t{tag}\t_\t_\t0\troot\t_\t_\n\n")
        })
    };
    std::fs::write(place("train"), words(0).collect::<String>()).unwrap();
    std::fs::write(place("dev"), words(1).collect::<String>()).unwrap();
    let program = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_consonant")).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output
    };
    let (train, dev) = (place("train"), place("dev"));
    for task in ["tagger", "parser"] {
        let (with, without, later) = (place("with"), place("without"), place("later"));
        let common = ["train", task, "--train", &train, "--epochs", "3", "--quiet", "--model"];
        program(&[&common[..], &[&with, "--dev", &dev]].concat());
        program(&[&common[..], &[&without]].concat());
        program(&["calibrate", &without, "--dev", &dev, "--output", &later, "--quiet"]);
        for model in [&with, &later] {
            let output = program(&["predict", "--model", model, "--confidence", &dev]);
            let column = column(&output, 9);
            let key = if task == "tagger" { "TagConfidence=" } else { "HeadConfidence=" };
            let numbers: Vec<f32> =
                column.iter().map(|(_, misc)| misc.strip_prefix(key).unwrap().parse().unwrap()).collect();
            assert_eq!(numbers.len(), 180);
            assert!(numbers.iter().all(|number| (0.0..=1.0).contains(number)), "{numbers:?}");
            if task == "tagger" {
                // Three quarters of the verbs are right, and all of the other words.
                let mean = |word: usize| numbers.iter().skip(word).step_by(3).sum::<f32>() / 60.0;
                assert!(mean(0) > 0.95 && (0.6..0.9).contains(&mean(2)), "{} {}", mean(0), mean(2));
            }
        }
        let refused = Command::new(env!("CARGO_BIN_EXE_consonant"))
            .args(["predict", "--model", &without, "--confidence", &dev])
            .output()
            .unwrap();
        assert!(String::from_utf8_lossy(&refused.stderr).contains("consonant calibrate"));
    }
}

#[test]
fn a_layer_without_its_model_is_refused() {
    let output = annotate(b"Hi.", &["--layers", "tree"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("tagger.model"), "{said}");
}

/// Text that is nothing like what the embedded models were trained on.
#[cfg(feature = "embedded-models")]
#[test]
fn the_embedded_models_keep_every_character_of_odd_text() {
    let texts = [
        "fn main() {\n    println!(\"{:?}\", a[0] && !b); // why?\n}\n",
        "lol\tOMG!!! :-) <3 #yolo @me http://a.b/c?d=e&f=g\r\n\r\n...",
        "これは日本語の文です。二つ目の文。\n\nЭто предложение. שלום עולם! สวัสดีชาวโลก",
        "\u{1}\u{7f}\u{200b}\u{fffd}e\u{301}\u{301}\u{301} 👩‍👩‍👧🇩🇪",
        "| a | b |\n|---|--:|\n| 1 | 2.5e-3 |",
        "x",
    ];
    let text = texts.join("\n\n");
    for threads in ["1", "2"] {
        let output = run(text.as_bytes(), &["--threads", threads, "--format", "conllu"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let conllu = String::from_utf8(output.stdout).expect("UTF-8");
        assert_eq!(rebuilt(&conllu), text);
        let words = conllu.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
        let bare = |line: &&str| {
            !line.split('\t').next().is_some_and(|id| id.contains('-'))
                && line.split('\t').nth(7) == Some("_")
        };
        assert_eq!(words.filter(bare).count(), 0, "every word has a place in its tree: {conllu}");
    }
}
