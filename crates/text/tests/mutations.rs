//! Broken files: random changes to small valid ones must give sentences or errors, never a panic or a hang,
//! and whatever is read must be written back as it was.

use std::io::{Cursor, Read};

use consonant_text::check::{Check, check};
use consonant_text::convert::{Conversion, convert};
use consonant_text::input::Input;
use consonant_text::jsonl::{AnyRecord, JsonlReader, write_record};
use consonant_text::plain::ParagraphReader;
use consonant_text::{Columns, ErrorList, Format, Layer, Scheme, Sentence, SentenceReader};
use proptest::prelude::*;

const CONLLU: &str = "\u{feff}# newdoc id = 1\n# text = Ça va, l'ami?\n1\tÇa\tça\tPRON\t_\tNumber=Sing\t2\tnsubj\t2:nsubj\t_\n\
2\tva\taller\tVERB\tV\t_\t0\troot\t0:root|3.1:conj\tSpaceAfter=No|NER=B-X\n3\t,\t,\tPUNCT\t_\t_\t2\tpunct\t_\t_\n\
3.1\tva\t_\t_\t_\t_\t_\t_\t2:conj\tCopyOf=2\n4-5\tl'ami\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n4\tl'\tle\tDET\t_\t_\t5\tdet\t_\t_\n\
5\tami\tami\tNOUN\t_\t_\t2\tvocative\t_\t_\n6\t?\t?\tPUNCT\t_\t_\t2\tpunct\t_\t_\n\n# sent_id = 2\r\n1\tOui\toui\tINTJ\t_\t_\t0\troot\t_\tNER=O\r\n\r\n\n";
const COLUMNS: &str =
    "-DOCSTART- -X- O\n\nEU NNP B-ORG\nrejects  VBZ O\n\n\nÇa\tX I-PER\n-DOCSTART-\n\n \na b c";
const TABS: &str = "# id = 1\nEU\tB-ORG\nre jects\tE-ORG\n\n-DOCSTART-\tO\n\n#\tS-X\r\n\r\n";
const JSONL: &str = "{\"id\":\"1\",\"tokens\":[\"é\",\"b\"],\"keep\":[1,0],\"z\":null}\n\n{\"id\":\"t\",\"units\":[{\"author\":null,\
\"text\":\"a\"},{\"text\":\"b\"}],\"links\":[[1,0]]}\n{\"id\":\"s\",\"documents\":[{\"id\":\"1\",\"text\":\"x\\ny\"}],\"summaries\":[\"s\"]}\n\
{\"text\":\"a b\",\"tokens\":[{\"id\":\"1\",\"form\":\"a\",\"head\":2},{\"id\":\"2\",\"form\":\"b\",\"head\":0}],\"entities\":[{\"start\":0,\"end\":2,\"type\":\"X\"}]}\n";

#[derive(Clone, Debug)]
enum Mutation {
    Replace(usize, u8),
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
    Repeat(usize, usize),
    Truncate(usize),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let telling = prop::sample::select(vec![
        &b"\n"[..],
        b"\n\n",
        b"\r",
        b"\r\n",
        b"\t",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b" ",
        b"#",
        b"-",
        b".",
        b"|",
        b"=",
        b"0",
        b"99999999999",
        b"-1",
        b"_",
        b"\"",
        b"{",
        b"]",
        b",",
        b"\\u",
        b"O",
        b"-DOCSTART-",
        b"4-3",
        b"1:x",
        b"\xe2\x80",
    ]);
    let at = any::<u16>().prop_map(usize::from);
    prop_oneof![
        (at.clone(), any::<u8>()).prop_map(|(at, byte)| Mutation::Replace(at, byte)),
        (at.clone(), telling).prop_map(|(at, bytes)| Mutation::Insert(at, bytes.to_vec())),
        (at.clone(), 0usize..40).prop_map(|(at, length)| Mutation::Remove(at, length)),
        (at.clone(), 0usize..200).prop_map(|(at, length)| Mutation::Repeat(at, length)),
        at.prop_map(Mutation::Truncate),
    ]
}

fn mutate(text: &str, mutations: &[Mutation]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for mutation in mutations {
        let place = |at: usize| if bytes.is_empty() { 0 } else { at % bytes.len() };
        match mutation {
            Mutation::Replace(at, byte) => {
                let at = place(*at);
                if let Some(old) = bytes.get_mut(at) {
                    *old = *byte;
                }
            }
            Mutation::Insert(at, new) => {
                let at = place(*at);
                bytes.splice(at..at, new.iter().copied());
            }
            Mutation::Remove(at, length) => {
                let at = place(*at);
                bytes.drain(at..(at + length).min(bytes.len()));
            }
            Mutation::Repeat(at, length) => {
                let at = place(*at);
                let piece = bytes[at..(at + length).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            Mutation::Truncate(at) => bytes.truncate(place(*at)),
        }
    }
    bytes
}

/// Hands out a few bytes at a time.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.len().min(buffer.len()).min(7);
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

fn open<R: Read>(stream: R, format: Format) -> SentenceReader<R> {
    match format {
        Format::Conllu => SentenceReader::conllu(stream, "fuzz"),
        _ => SentenceReader::columns(stream, "fuzz", Columns::default()),
    }
}

/// Reads everything in both ways; a file without errors must come out as it was.
fn sentences(bytes: &[u8], format: Format) {
    let mut errors = ErrorList::with_limit(5);
    let mut reader = open(bytes, format).max_length(4000);
    let mut sentence = Sentence::new();
    let mut written = Vec::new();
    let mut count = 0;
    while reader.read_valid(&mut sentence, &mut errors).unwrap() {
        count += 1;
        sentence.write(&mut written).unwrap();
        exercise(&mut sentence);
    }
    written.extend(reader.trailer().as_bytes());
    if errors.total == 0 {
        assert_eq!(written, bytes);
    }
    for error in &errors.errors {
        assert!(error.line >= 1 && error.column >= 1, "{error}");
    }
    let slow = open(Slow(bytes), format).max_length(4000).filter(Result::is_ok).count();
    assert_eq!(slow, count);
    open(bytes, format).documents().for_each(drop);
}

/// Asks a sentence everything, and edits it.
fn exercise(sentence: &mut Sentence) {
    let (text, places) = sentence.aligned_text();
    places.into_iter().for_each(|place| assert!(text.get(place).is_some()));
    if let Some(tree) = sentence.tree() {
        let _ = (tree.cycle(), tree.is_projective(), tree.nonprojective_words());
    }
    for word in 0..sentence.len() {
        let _ = (sentence.enhanced(word), sentence.entity_label(word).len(), sentence.line_of_word(word));
        let _ = sentence.set(word, Layer::Entity, "B-Z");
        let _ = sentence.set_head(word, Some(0));
    }
    let mut written = Vec::new();
    sentence.write(&mut written).unwrap();
    let again = if sentence.layout().is_conllu() {
        SentenceReader::conllu(&written[..], "again").next().unwrap().unwrap()
    } else {
        // Alone, a sentence may look as if other separators were meant; that is settled by the first row of a
        // file.
        match SentenceReader::columns(&written[..], "again", Columns::default()).next() {
            Some(Ok(again)) if again.layout() == sentence.layout() => again,
            _ => return,
        }
    };
    assert_eq!(again.len(), sentence.len());
    assert!((0..again.len()).all(|word| again.entity_label(word) == "B-Z"));
}

fn everything(bytes: &[u8]) {
    sentences(bytes, Format::Conllu);
    sentences(bytes, Format::Columns);

    let mut reader = JsonlReader::<_, AnyRecord>::new(bytes, "fuzz");
    let mut errors = ErrorList::with_limit(5);
    let mut written = Vec::new();
    while let Some((_, record)) = reader.read_valid(&mut errors).unwrap() {
        write_record(&record, &mut written).unwrap();
        if let AnyRecord::Sentence(record) = record {
            record.to_sentence().unwrap();
        }
    }
    written.extend(reader.trailer().as_bytes());
    if errors.total == 0 {
        assert_eq!(written, bytes);
    }
    ParagraphReader::new(bytes, "fuzz").for_each(drop);

    let input = || Input::new(Cursor::new(bytes.to_vec()), "fuzz");
    let formats = [Format::Conllu, Format::Columns, Format::Jsonl, Format::Text];
    for from in formats {
        for to in formats {
            let scheme = Some(Scheme::Bioes);
            let _ = convert(
                [input()],
                &Conversion { scheme, repair: true, ..Conversion::new(from, to) },
                &mut Vec::new(),
            );
        }
        let report =
            check([input(), input()], &Check { format: Some(from), error_limit: 3, ..Check::default() });
        if let Ok(report) = report {
            assert!(!report.to_string().is_empty());
        }
    }
    let _ = check([input()], &Check::default());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_conllu(mutations in prop::collection::vec(mutation(), 1..6)) {
        everything(&mutate(CONLLU, &mutations));
    }

    #[test]
    fn mutated_columns(mutations in prop::collection::vec(mutation(), 1..6)) {
        everything(&mutate(COLUMNS, &mutations));
        everything(&mutate(TABS, &mutations));
    }

    #[test]
    fn mutated_jsonl(mutations in prop::collection::vec(mutation(), 1..6)) {
        everything(&mutate(JSONL, &mutations));
    }

    #[test]
    fn mutated_compression(mutations in prop::collection::vec(mutation(), 1..4), zst in any::<bool>()) {
        let mut packed = Vec::new();
        if zst {
            zstd::stream::copy_encode(CONLLU.as_bytes(), &mut packed, 1).unwrap();
        } else {
            flate2::bufread::GzEncoder::new(CONLLU.as_bytes(), flate2::Compression::fast()).read_to_end(&mut packed).unwrap();
        }
        for mutation in &mutations {
            if let Mutation::Replace(at, byte) = mutation {
                let at = at % packed.len();
                packed[at] = *byte;
            }
        }
        let mut out = Vec::new();
        // Broken or not, it must end; the checksum of gzip tells most changes, Zstandard's frames some.
        if let Ok(input) = Input::new(Cursor::new(packed), "fuzz") {
            let _ = input.take(1 << 20).read_to_end(&mut out);
        }
    }

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        everything(&bytes);
    }
}

#[test]
fn valid_files_are_valid() {
    for (text, format) in [(CONLLU, Format::Conllu), (TABS, Format::Columns), (JSONL, Format::Jsonl)] {
        everything(text.as_bytes());
        let input = Input::new(Cursor::new(text.to_owned()), "valid").unwrap();
        let report = check([Ok(input)], &Check::default()).unwrap();
        assert_eq!((report.files[0].format, report.files[0].errors.total), (format, 0), "{report}");
    }
}
