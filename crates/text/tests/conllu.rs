//! CoNLL-U: round trips, edits and errors.

use consonant_text::error::{ErrorList, Kind};
use consonant_text::{Layer, RowId, Sentence, SentenceReader};

const RICH: &str = "# newdoc id = d1\n# sent_id = s1\n# text = Vámonos al mar.\n\
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_\n\
1\tVamos\tir\tVERB\t_\tMood=Imp|Number=Plur\t0\troot\t0:root\t_\n\
2\tnos\tnosotros\tPRON\t_\tCase=Acc\t1\tobj\t1:obj\t_\n\
2.1\tallá\tallá\tADV\t_\t_\t_\t_\t1:advmod|4:ref\tCopyOf=4\n\
3-4\tal\t_\t_\t_\t_\t_\t_\t_\tLang=es\n\
3\ta\ta\tADP\t_\t_\t5\tcase\t5:case\t_\n\
4\tel\tel\tDET\t_\t_\t5\tdet\t5:det\t_\n\
5\tmar\tmar\tNOUN\t_\tNumber=Sing\t1\tobl\t1:obl:a\tSpaceAfter=No|NER=B-LOC\n\
6\t.\t.\tPUNCT\t_\t_\t1\tpunct\t1:punct\t_\n\n";

fn copy(text: &str) -> String {
    let mut reader = SentenceReader::conllu(text.as_bytes(), "test");
    let mut out = Vec::new();
    let mut sentence = Sentence::new();
    while reader.read(&mut sentence).unwrap() {
        sentence.write(&mut out).unwrap();
    }
    out.extend(reader.trailer().as_bytes());
    String::from_utf8(out).unwrap()
}

fn word(id: &str, form: &str) -> String {
    format!("{id}\t{form}\t_\t_\t_\t_\t_\t_\t_\t_\n")
}

#[test]
fn copies_are_identical() {
    let plain = word("1", "a");
    let crlf = RICH.replace('\n', "\r\n");
    for text in [
        String::new(),
        "\n".into(),
        "\u{feff}".into(),
        "\u{feff}\n\n".into(),
        RICH.into(),
        crlf.clone(),
        RICH.trim_end().into(),
        crlf.trim_end_matches('\n').into(),
        format!("\u{feff}{RICH}\n\n\n{RICH}\r\n"),
        "1\ta\t\t\t\t\t_\t\t\t\n\n".into(),
        format!("\n\n#no space\n#\n{plain}\n{plain}"),
    ] {
        assert_eq!(copy(&text), text, "{text:?}");
    }
}

#[test]
fn layers() {
    let sentence = Sentence::from_conllu(RICH).unwrap();
    assert_eq!(sentence.len(), 6);
    assert_eq!(sentence.id(), Some("s1"));
    assert_eq!(sentence.document_id(), Some("d1"));
    assert!(sentence.starts_document() && sentence.starts_paragraph());
    assert_eq!(sentence.lemma(1), "nosotros");
    assert_eq!(sentence.feature(0, "Number"), Some("Plur"));
    assert_eq!(sentence.get(4, Layer::Entity), Some("B-LOC"));
    assert_eq!(sentence.entity_label(0), "O");
    assert_eq!(sentence.heads(), [0, 1, 5, 5, 1, 1]);
    assert!(sentence.tree().unwrap().is_projective());
    assert_eq!(sentence.enhanced(4), Some(vec![(RowId::Word(1), "obl:a")]));
    assert_eq!(sentence.rows().filter(|row| matches!(row.id(), RowId::Empty(2, 1))).count(), 1);
    assert_eq!(sentence.line_of_word(0), 5);
    let (text, places) = sentence.aligned_text();
    let tokens: Vec<&str> = places.into_iter().map(|place| &text[place]).collect();
    assert_eq!(tokens, ["Vámonos", "al", "mar", "."]);
    let words: Vec<_> = sentence.surface_tokens().map(|token| token.words).collect();
    assert_eq!(words, [0..2, 2..4, 4..5, 5..6]);
}

#[test]
fn text_is_rebuilt_without_its_comment() {
    let sentence = Sentence::from_conllu(&RICH.replace("# text = Vámonos al mar.\n", "")).unwrap();
    assert_eq!(sentence.text(), "Vámonos al mar.");
    let wrong = Sentence::from_conllu(&RICH.replace("# text = Vámonos", "# text = Vamos")).unwrap();
    assert_eq!(wrong.text(), "Vamos al mar.");
    assert_eq!(wrong.aligned_text().0, "Vámonos al mar.");
}

#[test]
fn edits_touch_nothing_else() {
    for line_end in ["\n", "\r\n"] {
        let text = RICH.replace('\n', line_end);
        let mut sentence = Sentence::from_conllu(&text).unwrap();
        sentence.set(4, Layer::Upos, "PROPN").unwrap();
        sentence.set(4, Layer::Upos, "X").unwrap();
        sentence.set_head(4, Some(6)).unwrap();
        sentence.set_misc(4, "NER", Some("I-ORG")).unwrap();
        sentence.set_misc(5, "Note", Some("a=b")).unwrap();
        sentence.set(3, Layer::Entity, "O").unwrap();
        sentence.set_comment("text", None).unwrap();
        sentence.set_comment("by", Some("me")).unwrap();
        let expected = RICH
            .replace("5\tmar\tmar\tNOUN", "5\tmar\tmar\tX")
            .replace(
                "\t1\tobl\t1:obl:a\tSpaceAfter=No|NER=B-LOC",
                "\t6\tobl\t1:obl:a\tSpaceAfter=No|NER=I-ORG",
            )
            .replace("1:punct\t_", "1:punct\tNote=a=b")
            .replace("5:det\t_", "5:det\tNER=O")
            .replace("# text = Vámonos al mar.\n", "# by = me\n")
            .replace('\n', line_end);
        assert_eq!(sentence.to_string(), expected);
        assert_eq!(sentence.head(4), Some(6));
        sentence.set_misc(3, "NER", None).unwrap();
        assert_eq!(sentence.misc(3), "_");
    }
}

#[test]
fn edits_that_would_break_the_file_are_refused() {
    let mut sentence = Sentence::from_conllu(RICH).unwrap();
    for value in ["", "a\tb", "a\nb", "a\r", "a\0"] {
        assert!(sentence.set(0, Layer::Upos, value).is_err(), "{value:?}");
    }
    assert!(sentence.set_misc(0, "NER", Some("B|C")).is_err());
    assert!(sentence.set_head(0, Some(7)).is_err());
    assert!(sentence.set_comment("a", Some("b\n1")).is_err());
    assert!(!sentence.is_edited());
}

fn errors(text: &str) -> (usize, Vec<(u64, u64, Kind)>) {
    let mut reader = SentenceReader::conllu(text.as_bytes(), "test");
    let mut errors = ErrorList::with_limit(100);
    let mut sentence = Sentence::new();
    let mut valid = 0;
    while reader.read_valid(&mut sentence, &mut errors).unwrap() {
        valid += 1;
    }
    (valid, errors.errors.into_iter().map(|error| (error.line, error.column, error.kind)).collect())
}

#[test]
fn every_error_has_its_place() {
    let good = word("1", "a");
    let cases: Vec<(String, u64, u64, Kind)> = vec![
        ("1 a b\n".into(), 1, 1, Kind::ColumnCount),
        (format!("{good} \n"), 2, 1, Kind::ColumnCount),
        (word("2", "a"), 1, 1, Kind::Id),
        (word("x", "a"), 1, 1, Kind::Id),
        (word("01", "a"), 1, 1, Kind::Id),
        (word("1-2", "ab") + &good, 1, 1, Kind::Id),
        (word("1-1", "ab") + &word("1-1", "ab") + &good, 2, 1, Kind::Id),
        (word("0.2", "ab") + &good, 1, 1, Kind::Id),
        (word("0.1", "ab"), 1, 1, Kind::Id),
        (word("1", ""), 1, 3, Kind::EmptyField),
        ("1\té\t_\t_\t_\t_\t2\t_\t_\t_\n".into(), 1, 13, Kind::Head),
        ("1\té\t_\t_\t_\t_\t-1\t_\t_\t_\n".into(), 1, 13, Kind::Head),
        (format!("{good}# late\n{}", word("2", "b")), 2, 1, Kind::Comment),
        ("# alone\n".into(), 1, 1, Kind::Comment),
        ("1\ta\0\n".into(), 1, 4, Kind::Nul),
    ];
    for (text, line, column, kind) in cases {
        let whole = format!("{good}\n{text}\n{good}");
        assert_eq!(errors(&whole), (2, vec![(line + 2, column, kind)]), "{text:?}");
    }
    let mut bytes = format!("{good}\n").into_bytes();
    bytes.extend(b"1\t\xc3\xa9\xff\n\n");
    let error = SentenceReader::conllu(&bytes[..], "f.conllu").nth(1).unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "f.conllu:3:4: expected UTF-8, came byte 0xff; convert the file to UTF-8, for example with iconv"
    );
}

#[test]
fn all_errors_of_a_sentence_are_listed() {
    let (valid, found) = errors("1\ta\n2\tb\nx\tc\t_\t_\t_\t_\t\t_\t\t_\n");
    assert_eq!(valid, 0);
    assert_eq!(
        found,
        [(1, 1, Kind::ColumnCount), (2, 1, Kind::ColumnCount), (3, 13, Kind::EmptyField), (3, 1, Kind::Id)]
    );
}

#[test]
fn batches_keep_order_and_errors() {
    let text = format!("{0}\n{0}\n{0}\nbad\n\n{0}", word("1", "a"));
    let found: Vec<_> = SentenceReader::conllu(text.as_bytes(), "test")
        .batches(2)
        .map(|batch| batch.map(|sentences| sentences.len()).map_err(|_| ()))
        .collect();
    assert_eq!(found, [Ok(2), Ok(1), Err(()), Ok(1)]);
}

#[test]
fn too_long_a_sentence_is_passed_over() {
    let text = format!("{0}\n{1}\n{0}\n", word("1", "a"), word("1", &"a".repeat(1000)));
    let mut reader = SentenceReader::conllu(text.as_bytes(), "test").max_length(500);
    let mut sentence = Sentence::new();
    assert!(reader.read(&mut sentence).unwrap());
    assert_eq!(reader.read(&mut sentence).unwrap_err().as_format().unwrap().kind, Kind::TooLong);
    assert!(reader.read(&mut sentence).unwrap());
    assert_eq!(sentence.line(), 5);
    assert!(!reader.read(&mut sentence).unwrap());
}
