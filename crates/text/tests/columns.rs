//! Columns: round trips, edits and errors.

use consonant_text::columns::{Column, Columns};
use consonant_text::error::{ErrorList, Kind};
use consonant_text::{Layer, Sentence, SentenceReader};

fn reader(text: &str) -> SentenceReader<&[u8]> {
    SentenceReader::columns(text.as_bytes(), "test", Columns::default())
}

fn copy(text: &str) -> String {
    let mut reader = reader(text);
    let mut out = Vec::new();
    let mut sentence = Sentence::new();
    while reader.read(&mut sentence).unwrap() {
        sentence.write(&mut out).unwrap();
    }
    out.extend(reader.trailer().as_bytes());
    String::from_utf8(out).unwrap()
}

#[test]
fn copies_are_identical() {
    for text in [
        "",
        "\n\n",
        "\u{feff}a\tO\n\n",
        "-DOCSTART-\tO\n\na\tO\nb\tB-X\n\n-DOCSTART-\tO\n\n",
        "-DOCSTART- -X- O O\n\nEU NNP I-NP B-ORG\n rejects  VBZ\tI-VP O \n \t\nx y z w",
        "-DOCSTART-\r\n\r\na\tO\r\n\r\n\r\n\r\n",
        "# id = 1\n#\tO\n\n# id = 2\nb\tO",
        "-DOCSTART- O\na O\n",
    ] {
        assert_eq!(copy(text), text, "{text:?}");
    }
}

#[test]
fn layers_and_documents() {
    let text = "-DOCSTART-\tO\n\na b\tX\tO\n\n#\tX\tB-LOC\n\n-DOCSTART-\tO\n\nc\tX\tO\n";
    let columns = Columns { others: vec![(Layer::Upos, "2".parse().unwrap())], ..Columns::default() };
    let sentences: Vec<Sentence> =
        SentenceReader::columns(text.as_bytes(), "test", columns.clone()).collect::<Result<_, _>>().unwrap();
    assert_eq!(sentences.iter().map(Sentence::starts_document).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(sentences.iter().map(Sentence::line).collect::<Vec<_>>(), [3, 5, 9]);
    assert_eq!(sentences[0].form(0), "a b");
    assert_eq!(sentences[0].upos(0), "X");
    assert_eq!(sentences[1].get(0, Layer::Entity), Some("B-LOC"));
    assert_eq!(sentences[1].lemma(0), "_");
    let documents = SentenceReader::columns(text.as_bytes(), "test", columns).documents().count();
    assert_eq!(documents, 2);
}

#[test]
fn edits_keep_odd_spacing() {
    let mut sentence = reader("a  X \t O \nb\tX  O\n").next().unwrap().unwrap();
    // A tab in the first row means that tabs separate.
    assert_eq!(sentence.layout().width(), 2);
    let text = " a  X   O \nb X O\n";
    sentence = reader(text).next().unwrap().unwrap();
    sentence.set(0, Layer::Entity, "B-LOC").unwrap();
    assert_eq!(sentence.to_string(), " a  X   B-LOC \nb X O\n");
    assert!(sentence.set(0, Layer::Entity, "B LOC").is_err());
    // Layers without a column are kept beside the text; what is only there to be written is refused.
    sentence.set(0, Layer::Upos, "X").unwrap();
    sentence.set_head(0, Some(1)).unwrap();
    assert_eq!((sentence.upos(0), sentence.head(0)), ("X", Some(1)));
    assert!(sentence.set_misc(0, "Prob", Some("1")).is_err());
    assert!(sentence.set_comment("tags_2", Some("X")).is_err());
    assert!(sentence.set_head(0, Some(3)).is_err());
}

#[test]
fn every_error_has_its_place() {
    let cases: [(&str, u64, u64, Kind); 6] = [
        ("b\n", 3, 1, Kind::ColumnCount),
        ("b\tX\tY\n", 3, 1, Kind::ColumnCount),
        ("\tO\n", 3, 1, Kind::EmptyField),
        ("b\t\n", 3, 3, Kind::EmptyField),
        ("b\tO\n-DOCSTART-\tO\n", 4, 1, Kind::Comment),
        ("# alone\n", 3, 1, Kind::Comment),
    ];
    for (text, line, column, kind) in cases {
        let whole = format!("a\tO\n\n{text}\nc\tO\n");
        let mut reader = reader(&whole);
        let mut errors = ErrorList::with_limit(10);
        let mut sentence = Sentence::new();
        let mut valid = 0;
        while reader.read_valid(&mut sentence, &mut errors).unwrap() {
            valid += 1;
        }
        let found: Vec<_> =
            errors.errors.iter().map(|error| (error.line, error.column, error.kind)).collect();
        assert_eq!((valid, found), (2, vec![(line, column, kind)]), "{text:?}");
    }
    let narrow = Columns { label: Column::FromStart(3), ..Columns::default() };
    assert!(SentenceReader::columns("a\tO\n".as_bytes(), "test", narrow).next().unwrap().is_err());
}

#[test]
fn a_flood_of_document_marks_is_an_error_and_not_the_end() {
    let text = "-DOCSTART- O\n\n".repeat(100) + "a O\n";
    let found: Vec<bool> = SentenceReader::columns(text.as_bytes(), "test", Columns::default())
        .max_length(1000)
        .map(|sentence| sentence.is_ok())
        .collect();
    assert_eq!(found, [false, true]);
}
