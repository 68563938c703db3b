//! Files that people write: sentences, records, texts, chats, templates, lists.

use std::io::{Cursor, Read};

use consonant::sequence::Diagram;
use consonant::sequence::features::{Clusters, Gazetteer, Resources, Templates, Vectors};
use consonant::text::check::{Check, check};
use consonant::text::convert::{Conversion, convert};
use consonant::text::input::Input;
use consonant::text::jsonl::{AnyRecord, JsonlReader, write_record};
use consonant::text::plain::ParagraphReader;
use consonant::text::{Columns, ErrorList, Format, Layer, Scheme, Sentence, SentenceReader, chat};

fn sentences(bytes: &[u8], reader: SentenceReader<&[u8]>) {
    let mut errors = ErrorList::with_limit(5);
    let mut reader = reader.max_length(1 << 14);
    let (mut sentence, mut written) = (Sentence::new(), Vec::new());
    while reader.read_valid(&mut sentence, &mut errors).unwrap() {
        sentence.write(&mut written).unwrap();
        let (text, places) = sentence.aligned_text();
        places.into_iter().for_each(|place| assert!(text.get(place).is_some()));
        if let Some(tree) = sentence.tree() {
            let _ = (tree.cycle(), tree.is_projective(), tree.nonprojective_words());
        }
        for word in 0..sentence.len() {
            let _ = (sentence.enhanced(word), sentence.line_of_word(word));
            let _ = (sentence.set(word, Layer::Entity, "B-Z"), sentence.set_head(word, Some(0)));
        }
    }
    written.extend(reader.trailer().as_bytes());
    assert!(errors.total > 0 || written == bytes, "what was read is not written back as it was");
}

/// CoNLL-U, and all that is made of it.
pub fn conllu(bytes: &[u8]) {
    sentences(bytes, SentenceReader::conllu(bytes, "fuzz"));
    converted(bytes, Format::Conllu);
}

/// Columns.
pub fn columns(bytes: &[u8]) {
    sentences(bytes, SentenceReader::columns(bytes, "fuzz", Columns::default()));
    converted(bytes, Format::Columns);
}

/// Records.
pub fn jsonl(bytes: &[u8]) {
    let mut reader = JsonlReader::<_, AnyRecord>::new(bytes, "fuzz");
    let (mut errors, mut written) = (ErrorList::with_limit(5), Vec::new());
    while let Some((_, record)) = reader.read_valid(&mut errors).unwrap() {
        write_record(&record, &mut written).unwrap();
        if let AnyRecord::Sentence(record) = record {
            record.to_sentence().unwrap();
        }
    }
    written.extend(reader.trailer().as_bytes());
    assert!(errors.total > 0 || written == bytes, "what was read is not written back as it was");
    converted(bytes, Format::Jsonl);
}

fn converted(bytes: &[u8], from: Format) {
    let input = || Input::new(Cursor::new(bytes.to_vec()), "fuzz");
    for to in [Format::Conllu, Format::Columns, Format::Jsonl, Format::Text] {
        let conversion =
            Conversion { scheme: Some(Scheme::Bioes), repair: true, ..Conversion::new(from, to) };
        let _ = convert([input()], &conversion, &mut Vec::new());
    }
    if let Ok(report) = check([input()], &Check { format: Some(from), error_limit: 3, ..Check::default() }) {
        assert!(!report.to_string().is_empty());
    }
}

/// Raw text and chats, packed or not.
pub fn plain(bytes: &[u8]) {
    ParagraphReader::new(bytes, "fuzz").for_each(drop);
    if let Ok(text) = std::str::from_utf8(bytes) {
        chat::read(text, "fuzz");
    }
    if let Ok(input) = Input::new(Cursor::new(bytes.to_vec()), "fuzz") {
        let _ = input.take(1 << 20).read_to_end(&mut Vec::new());
    }
}

/// Templates of features, diagrams, clusters, lists of names, vectors.
pub fn lists(bytes: &[u8]) {
    let _ = Clusters::read("fuzz", bytes);
    let _ = Gazetteer::read("fuzz", bytes);
    let _ = Vectors::read("fuzz", bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = Templates::compile(text, &["word", "tag"], &Resources::default());
        let _ = Diagram::parse(text);
    }
}
