//! What `check` finds.

use consonant_text::check::{Check, Report, check};
use consonant_text::error::Kind;
use consonant_text::input::Input;
use consonant_text::{Format, Scheme};

fn run(files: &[(&str, &str)], options: &Check) -> Report {
    let inputs = files.iter().map(|(name, text)| Input::new(std::io::Cursor::new(text.to_string()), *name));
    check(inputs, options).unwrap()
}

fn sentence(words: &[(&str, &str, &str)]) -> String {
    let rows = words
        .iter()
        .enumerate()
        .map(|(i, (form, upos, head))| format!("{}\t{form}\t_\t{upos}\t_\t_\t{head}\tdep\t_\t_\n", i + 1));
    rows.collect::<String>() + "\n"
}

#[test]
fn trees() {
    let text = [
        sentence(&[("a", "X", "2"), ("b", "X", "0"), ("c", "X", "2")]),
        sentence(&[("a", "X", "3"), ("b", "X", "0"), ("c", "X", "2"), ("d", "X", "1")]),
        sentence(&[("a", "X", "2"), ("b", "X", "1"), ("c", "X", "0")]),
        sentence(&[("a", "X", "0"), ("b", "X", "0")]),
        sentence(&[("z", "X", "_")]),
    ]
    .concat();
    let report = run(&[("a.conllu", &text)], &Check::default());
    let file = &report.files[0];
    let trees = file.trees.as_ref().unwrap();
    assert_eq!((trees.sentences, trees.without), (4, 1));
    assert_eq!((trees.nonprojective, trees.cyclic, trees.several_roots), (1, 1, 1));
    assert_eq!(file.errors.total, 1);
    assert_eq!(
        (file.errors.errors[0].kind, file.errors.errors[0].line, file.errors.errors[0].column),
        (Kind::Tree, 10, 13)
    );
    assert_eq!((file.warnings.errors[0].kind, file.warnings.errors[0].line), (Kind::Tree, 15));
}

#[test]
fn fields_that_the_reader_passes() {
    let row =
        "1\ta\t\tX\t_\tBad\t0\troot\t7:x\t_\n\n# text = ab\n1\ta\t_\tX\t_\tA=B\t0\troot\t0:root|0.1:x\t_\n\n";
    let report = run(&[("a.conllu", row)], &Check::default());
    let found: Vec<_> = report.files[0].errors.errors.iter().map(|e| (e.line, e.column, e.kind)).collect();
    assert_eq!(
        found,
        [
            (1, 5, Kind::EmptyField),
            (1, 10, Kind::Attribute),
            (1, 21, Kind::EnhancedDependency),
            (4, 22, Kind::EnhancedDependency)
        ]
    );
    assert_eq!(report.files[0].warnings.errors[0].kind, Kind::Text);
}

#[test]
fn errors_are_listed_up_to_a_limit_and_counted_beyond() {
    let text = "bad\n\n".repeat(30) + &sentence(&[("a", "X", "0")]);
    let options = Check { error_limit: 4, format: Some(Format::Conllu), ..Check::default() };
    let report = run(&[("a.conllu", &text)], &options);
    assert_eq!((report.files[0].errors.errors.len(), report.files[0].errors.total), (4, 30));
    assert_eq!(report.files[0].sentences, 1);
    assert!(report.has_errors());
    assert!(report.to_string().contains("error: … 26 more"));
}

#[test]
fn labels_and_dev_against_train() {
    let train = sentence(&[("a", "NOUN", "0")]).repeat(5) + &sentence(&[("b", "VERB", "0")]);
    let dev = sentence(&[("b", "VERB", "0")]) + &sentence(&[("c", "INTJ", "0")]);
    let report =
        run(&[("train.conllu", &train), ("dev.conllu", &dev)], &Check { rare: 1, ..Check::default() });
    let upos = &report.files[0].layers[0];
    assert_eq!((upos.name.as_str(), upos.distinct, upos.rare[0].label.as_str()), ("upos", 2, "VERB"));
    assert_eq!((upos.labels[0].label.as_str(), upos.labels[0].count), ("NOUN", 5));
    assert_eq!(
        (report.files[0].duplicates.count, &report.files[0].duplicates.lines[..]),
        (4, &[3, 5, 7, 9][..])
    );
    let against = &report.against[0];
    assert_eq!((against.duplicates.count, &against.duplicates.lines[..]), (1, &[1][..]));
    assert_eq!((against.unknown_words, against.words), (1, 2));
    assert_eq!(
        (against.unseen[0].name.as_str(), against.unseen[0].labels[0].label.as_str()),
        ("upos", "INTJ")
    );
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["against"][0]["unseen"][0]["labels"][0]["label"], "INTJ");
}

#[test]
fn illegal_transitions_by_the_scheme_of_the_file() {
    let iob1 = "a\tI-X\nb\tB-X\n\nc\tO\nd\tI-Y\n\n";
    let report = run(&[("a.tsv", iob1)], &Check::default());
    let entities = report.files[0].entities.as_ref().unwrap();
    assert_eq!(
        (entities.scheme, entities.entities, entities.illegal_transitions),
        (Some(Scheme::Iob1), 3, 0)
    );
    let forced = run(&[("a.tsv", iob1)], &Check { scheme: Some(Scheme::Iob2), ..Check::default() });
    let lines: Vec<_> = forced.files[0].errors.errors.iter().map(|e| (e.line, e.column)).collect();
    assert_eq!(lines, [(1, 3), (5, 3)]);
    let tags = run(&[("a.tsv", "a\tNN\nb\tVB\n\n")], &Check::default());
    assert_eq!(tags.files[0].errors.total, 0);
    assert_eq!(tags.files[0].layers[0].distinct, 2);
}

#[test]
fn records() {
    let text = "{\"id\":\"1\",\"tokens\":[\"a\",\"b\"],\"keep\":[1,0]}\n{\"id\":\"2\",\"tokens\":[\"a\"],\"keep\":[]}\n";
    let report = run(&[("a.jsonl", text)], &Check::default());
    let counts = report.files[0].records.as_ref().unwrap();
    assert_eq!((counts.compressions, counts.tokens, counts.kept_tokens), (1, 2, 1));
    assert_eq!(report.files[0].errors.errors[0].kind, Kind::UnequalLists);
}
