//! JSONL: round trips, changes and errors.

use consonant_text::error::Kind;
use consonant_text::jsonl::{
    AnyRecord, CompressionPair, JsonlReader, Record, SentenceRecord, Thread, Topic, write_record,
};
use consonant_text::{Document, Sentence};

fn copy<T: Record>(text: &str) -> String {
    let mut reader = JsonlReader::<_, T>::new(text.as_bytes(), "test");
    let mut out = Vec::new();
    while let Some((_, record)) = reader.read().unwrap() {
        write_record(&record, &mut out).unwrap();
    }
    out.extend(reader.trailer().as_bytes());
    String::from_utf8(out).unwrap()
}

fn error<T: Record>(text: &str) -> (Kind, String) {
    let error = JsonlReader::<_, T>::new(text.as_bytes(), "f").next().unwrap().err().unwrap();
    (error.as_format().unwrap().kind, error.to_string())
}

#[test]
fn unchanged_lines_come_out_as_they_were() {
    let text = "\u{feff}\n{\"keep\" :[1,0],\"x\":1.50, \"tokens\":[\"\\u00e9\",\"b\"],\"id\":\"1\"}\r\n\n\
        {\"id\":\"t\",\"units\":[{\"text\":\"a\"}]}\n{\"id\":\"s\",\"documents\":[{\"text\":\"a\",\"q\":[]}]}\n \n";
    assert_eq!(copy::<AnyRecord>(text), text);
    let joined = "{\"id\":\"1\",\"tokens\":[\"a\"],\"keep\":[1]}\n\n\u{feff}{\"id\":\"2\",\"tokens\":[\"b\"],\"keep\":[1]}\n";
    assert_eq!(copy::<AnyRecord>(joined), joined);
}

#[test]
fn changes_keep_unknown_fields_in_place() {
    let line = r#"{"id":"s","z":1,"documents":[{"id":"d","author":"x","text":"a"}],"summaries":[]}"#;
    let mut topic: Topic = JsonlReader::new(line.as_bytes(), "test").next().unwrap().unwrap();
    topic.documents[0].text = "b".into();
    topic.summaries.push("c".into());
    let mut out = Vec::new();
    write_record(&topic, &mut out).unwrap();
    let expected = r#"{"id":"s","z":1,"documents":[{"id":"d","author":"x","text":"b"}],"summaries":["c"]}"#;
    assert_eq!(String::from_utf8(out).unwrap(), format!("{expected}\n"));
}

#[test]
fn errors_say_what_and_where() {
    let unit = r#"{"text":"a"}"#;
    let thread = |links: &str| format!(r#"{{"id":"t","units":[{unit},{unit}],"links":{links}}}"#);
    for links in ["[[0,1]]", "[[1,1]]", "[[2,0]]", "[[1,9]]"] {
        assert_eq!(error::<Thread>(&thread(links)).0, Kind::Link, "{links}");
    }
    for links in ["[[1]]", "[[1,0,0]]", "[[1,-1]]", "[1,0]", "\"x\"", "null"] {
        assert_eq!(error::<Thread>(&thread(links)).0, Kind::Json, "{links}");
    }
    assert!(error::<Thread>(&thread("[[0,1]]")).1.contains("[0, 1]"));
    assert_eq!(error::<CompressionPair>(r#"{"id":"1","tokens":["a"],"keep":[1,0]}"#).0, Kind::UnequalLists);
    assert_eq!(error::<CompressionPair>(r#"{"id":"1","tokens":["a"],"keep":[2]}"#).0, Kind::Json);
    assert_eq!(
        error::<CompressionPair>(r#"{"id":"é","tokens":[1],"keep":[1]}"#).1,
        "f:1:21: expected a string, came integer `1`; correct the value"
    );
    assert!(error::<CompressionPair>(r#"{"id":"1","keep":[1]}"#).1.contains("expected a field `tokens`"));
    assert!(error::<CompressionPair>("7").1.contains("expected a JSON object, came integer `7`"));
    assert!(error::<CompressionPair>("no, not this").1.contains("came `no, not this` (expected ident)"));
    assert!(error::<Topic>(r#"{"id":"1","documents":[]}"#).1.contains("one document or more"));
    for broken in ["[]", "{", "{}", "nonsense", "{\"id\":\"1\"}{}", &"[".repeat(100_000)] {
        assert_eq!(error::<AnyRecord>(broken).0, Kind::Json, "{broken:.20}");
    }
}

#[test]
fn long_lines_are_passed_over() {
    let text = format!("{{\"id\":\"{}\"}}\n{{\"id\":\"1\",\"tokens\":[],\"keep\":[]}}\n", "x".repeat(2000));
    let mut reader = JsonlReader::<_, CompressionPair>::new(text.as_bytes(), "test").max_length(1000);
    assert!(reader.read().is_err());
    assert_eq!(reader.read().unwrap().unwrap().0, 2);
    assert!(reader.read().unwrap().is_none());
}

#[test]
fn threads_become_documents() {
    let line =
        r#"{"id":"t","units":[{"author":"a","time":"10:00","text":"hé"},{"text":"ho"}],"links":[[1,0]]}"#;
    let thread: Thread = JsonlReader::new(line.as_bytes(), "test").next().unwrap().unwrap();
    let document = Document::from(&thread);
    assert_eq!(document.text(), "hé\nho");
    assert_eq!(document.unit_text(1), "ho");
    assert_eq!((document.links[0].source, document.links[0].target), (1, 0));
}

#[test]
fn sentences_survive_json() {
    let text = "# newdoc\n# sent_id = 1\n# text = Zum Fluß\n1-2\tZum\t_\t_\t_\t_\t_\t_\t_\t_\n\
        1\tzu\t_\tADP\t_\t_\t3\tcase\t_\t_\n2\tdem\t_\tDET\t_\t_\t3\tdet\t_\t_\n2.1\tx\t_\t_\t_\t_\t_\t_\t3:dep\t_\n\
        3\tFluß\tFluß\tNOUN\tNN\tCase=Dat\t0\troot\t_\tNER=B-LOC\n\n";
    let sentence = Sentence::from_conllu(text).unwrap();
    let record = SentenceRecord::from(&sentence);
    assert_eq!(
        record.tokens.iter().map(|token| token.start_char).collect::<Vec<_>>(),
        [Some(0), Some(0), Some(4)]
    );
    assert_eq!((record.multiword[0].start, record.multiword[0].end), (0, 2));
    assert_eq!(record.empty.len(), 1);
    let entity = &record.entities[0];
    assert_eq!((&*entity.kind, &*entity.text, entity.start, entity.start_char), ("LOC", "Fluß", 2, Some(4)));
    let mut line = Vec::new();
    write_record(&record, &mut line).unwrap();
    let AnyRecord::Sentence(again) = JsonlReader::new(&line[..], "test").next().unwrap().unwrap() else {
        panic!("a sentence");
    };
    assert_eq!(again, record);
    assert_eq!(again.to_sentence().unwrap().to_string(), text);
    let broken = String::from_utf8(line).unwrap().replace("\"head\":3", "\"head\":9");
    assert_eq!(error::<AnyRecord>(&broken).0, Kind::Head);
}

#[test]
fn records_of_a_document_say_where_they_stand_in_it() {
    let sentence = "# text = Ja, Köln!\n1\tJa\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\t,\t_\t_\t_\t_\t_\t_\t_\t_\n\
                    3\tKöln\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|NER=B-LOC\n4\t!\t_\t_\t_\t_\t_\t_\t_\t_\n\n";
    let sentence = Sentence::from_conllu(sentence).unwrap();
    let document = Document::from_sentences(vec![sentence.clone(), sentence]);
    let text: Vec<char> = document.text().chars().collect();
    let records = document.records();
    assert_eq!(records[1].tokens[0].start_char, Some(10));
    for record in &records {
        for token in &record.tokens {
            let place = token.start_char.unwrap()..token.end_char.unwrap();
            assert_eq!(text[place].iter().collect::<String>(), token.form);
        }
        let [entity] = &record.entities[..] else { panic!("{record:?}") };
        assert_eq!(
            text[entity.start_char.unwrap()..entity.end_char.unwrap()].iter().collect::<String>(),
            "Köln"
        );
    }
}

#[test]
fn words_of_one_token_have_their_letters_where_they_spell_it() {
    let row = |id: &str, form: &str, misc: &str| format!("{id}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{misc}\n");
    let french: String = [
        row("1-2", "Zoë's", "SpaceAfter=No"),
        row("1", "Zoë", "NER=B-PER"),
        row("2", "'s", "_"),
        row("3", ",", "_"),
        row("4-5", "du", "_"),
        row("4", "de", "_"),
        row("5", "le", "NER=B-LOC"),
        row("6", "Mans", "NER=I-LOC"),
    ]
    .concat();
    let sentence = Sentence::from_conllu(&(french + "\n")).unwrap();
    let document = Document::from_sentences(vec![sentence.clone()]);
    let mut records = document.records();
    records.push(SentenceRecord::from(&sentence));
    for record in records {
        let words: Vec<_> =
            record.tokens.iter().map(|token| (token.start_char.unwrap(), token.end_char.unwrap())).collect();
        assert_eq!(words, [(0, 3), (3, 5), (5, 6), (7, 9), (7, 9), (10, 14)]);
        let names: Vec<_> =
            record.entities.iter().map(|name| (name.text.as_str(), name.start_char, name.end_char)).collect();
        assert_eq!(names, [("Zoë", Some(0), Some(3)), ("du Mans", Some(7), Some(14))]);
        assert_eq!((record.multiword[0].start_char, record.multiword[0].end_char), (Some(0), Some(5)));
    }
    let mentions: Vec<&str> =
        document.mentions().iter().map(|name| &document.text()[name.place.clone()]).collect();
    assert_eq!(mentions, ["Zoë", "du Mans"]);
    assert_eq!(document.word_places(0)[..2], [0..6, 0..6]);
}
