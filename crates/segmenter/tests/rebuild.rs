//! Nothing of a text is lost: what segments say of white space and places gives the text back.

use consonant_learn::model::Model;
use consonant_segmenter::{Contractions, Piece, Rules, Segmenter, SegmenterError, SegmenterSettings, Start};
use consonant_task::{Data, Task, Trained, Watch};
use consonant_text::{Document, Sentence, SentenceReader};
use proptest::prelude::*;

fn train(sentences: Vec<Sentence>, settings: &SegmenterSettings) -> Result<Trained, SegmenterError> {
    let pieces: Vec<Piece> = sentences.into_iter().map(Piece::from).collect();
    Segmenter::train(&Data::new(&pieces), settings, &mut Watch::none())
}

/// A small treebank: tokens after `_` have no blank before them, `=` splits a multiword token.
fn treebank() -> Vec<Sentence> {
    let sentences = [
        "# newpar|The dog barks _.",
        "I do=n't know Mr. Smith _.",
        "Where is St. Mary _?",
        "The dog knows Mr. Smith _.",
        "Where is he _?",
        "The end _.",
        "# newpar|He ca=n't come _, she is=n't there _!",
        "Call 5 _- 6 or see Mr. Jones _.",
        "The cat sleeps",
        "# newpar|Mr. Smith knows Mr. Jones _.",
        "He does=n't bark _.",
    ];
    let mut text = String::new();
    for sentence in sentences {
        let words = match sentence.split_once('|') {
            Some((mark, words)) => {
                text += &format!("{mark}\n");
                words
            }
            None => sentence,
        };
        let tokens: Vec<&str> = words.split(' ').collect();
        let mut id = 0;
        for (at, token) in tokens.iter().enumerate() {
            let misc = if tokens.get(at + 1).is_some_and(|next| next.starts_with('_')) {
                "SpaceAfter=No"
            } else {
                "_"
            };
            let token = token.trim_start_matches('_');
            let mut row = |id: String, form: &str, misc: &str| {
                text += &format!("{id}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{misc}\n")
            };
            match token.split_once('=') {
                Some((first, second)) => {
                    row(format!("{}-{}", id + 1, id + 2), &format!("{first}{second}"), misc);
                    row((id + 1).to_string(), first, "_");
                    row((id + 2).to_string(), second, "_");
                    id += 2;
                }
                None => {
                    id += 1;
                    row(id.to_string(), token, misc);
                }
            }
        }
        text.push('\n');
    }
    SentenceReader::conllu(text.as_bytes(), "treebank").collect::<Result<_, _>>().expect("good CoNLL-U")
}

fn learned() -> Segmenter {
    let settings = SegmenterSettings::new().epochs(10);
    let trained = train(treebank(), &settings).expect("trains");
    Segmenter::open(&Model::from_bytes(&trained.model.to_bytes()).expect("reads")).expect("opens")
}

/// The text that the rows of the sentences spell, white space from MISC.
fn spelled(document: &Document) -> String {
    let unescape =
        |text: &str| text.replace("\\s", " ").replace("\\t", "\t").replace("\\n", "\n").replace("\\r", "\r");
    let mut text = String::new();
    for sentence in document.sentences() {
        let mut covered = 0;
        for row in sentence.rows() {
            use consonant_text::sentence::RowId;
            match row.id() {
                RowId::Word(id) if id <= covered => continue,
                RowId::Multiword(_, last) => covered = last,
                _ => {}
            }
            let misc = row.field(9).to_owned();
            let entry = |key: &str| misc.split('|').find_map(|entry| entry.strip_prefix(key));
            text += &entry("SpacesBefore=").map_or(String::new(), unescape);
            text += row.field(1);
            match (entry("SpaceAfter=No"), entry("SpacesAfter=")) {
                (Some(_), _) => {}
                (None, Some(spaces)) => text += &unescape(spaces),
                (None, None) => text.push(' '),
            }
        }
    }
    text
}

fn check(segmenter: &Segmenter, text: &str) {
    let document = segmenter.segment(text).expect("segments");
    if document.sentences().is_empty() {
        assert!(text.trim().is_empty(), "{text:?} has no sentences");
        return;
    }
    assert_eq!(document.text(), text);
    let spelled = spelled(&document);
    // NUL cannot stand in CoNLL-U.
    assert_eq!(spelled, text.replace('\0', "\u{fffd}"));
    let mut end = 0;
    for sentence in 0..document.sentences().len() {
        let place = document.sentence_place(sentence);
        assert!(text[end..place.start].trim().is_empty());
        end = place.end;
    }
    assert!(text[end..].trim().is_empty());
}

fn words(document: &Document) -> String {
    let sentences = document.sentences().iter();
    let words = sentences.map(|s| (0..s.len()).map(|word| s.form(word)).collect::<Vec<_>>().join(" "));
    words.collect::<Vec<_>>().join(" | ")
}

#[test]
fn a_small_model_learns_what_it_saw() {
    let segmenter = learned();
    let document = segmenter
        .segment("Where is Mr. Smith? The cat barks.\n\nHe doesn't know St. Mary!")
        .expect("segments");
    assert_eq!(words(&document), "Where is Mr. Smith ? | The cat barks . | He does n't know St. Mary !");
    let wrapped =
        segmenter.segment(&document.text().replace(" Mr. Smith", "\nMr.\nSmith")).expect("segments");
    assert_eq!(words(&wrapped), words(&document), "lines may break anywhere");
    assert!(document.sentences()[0].starts_document() && document.sentences()[2].starts_paragraph());
    assert!(document.sentences()[2].to_string().contains("2-3\tdoesn't\t"));
    check(&segmenter, document.text());
}

#[test]
fn units_keep_their_periods_and_headings_end() {
    let segmenter = learned();
    for (text, expected) in [
        ("Add 12 lb. cat and 1 tsp.\nmilk.", "Add 12 lb. cat and 1 tsp. milk ."),
        ("THE CAT\nThe cat barks.", "THE CAT | The cat barks ."),
        ("<ann> The cat barks\n<bob> He knows", "< ann > The cat barks | < bob > He knows"),
    ] {
        assert_eq!(words(&segmenter.segment(text).expect("segments")), expected);
    }
}

/// A treebank with a blank between any two tokens teaches text as people write it, too.
#[test]
fn blanks_between_all_tokens_are_not_needed() {
    let spaced = treebank().into_iter().map(|sentence| sentence.to_string().replace("SpaceAfter=No", "_"));
    let spaced: String = spaced.collect();
    let spaced = SentenceReader::conllu(spaced.as_bytes(), "x").collect::<Result<_, _>>().expect("reads");
    let trained = train(spaced, &SegmenterSettings::new().epochs(10)).expect("trains");
    let segmenter =
        Segmenter::open(&Model::from_bytes(&trained.model.to_bytes()).expect("reads")).expect("opens");
    for text in ["The cat barks.", "The cat barks ."] {
        assert_eq!(words(&segmenter.segment(text).expect("segments")), "The cat barks .");
    }
}

#[test]
fn the_same_data_give_the_same_bytes() {
    let settings = SegmenterSettings::new().epochs(2);
    let model = || train(treebank(), &settings).expect("trains").model.to_bytes();
    assert_eq!(model(), model());
}

#[test]
fn data_without_boundaries_are_an_error() {
    let error = train(Vec::new(), &SegmenterSettings::new()).expect_err("nothing to learn");
    assert!(error.to_string().contains("no boundaries"));
}

#[test]
fn contractions_are_cut_or_kept() {
    let cut = |contractions| {
        let rules = Segmenter::rules(Rules { contractions, ..Rules::default() });
        let document = rules.segment("I can't.").expect("segments");
        check(&rules, "I can't.  \tOk ");
        (words(&document), document.sentences()[0].surface_tokens().count())
    };
    assert_eq!(cut(Contractions::Keep), ("I can't .".to_owned(), 3));
    assert_eq!(cut(Contractions::Cut), ("I ca n't .".to_owned(), 4));
    assert_eq!(cut(Contractions::Multiword), ("I ca n't .".to_owned(), 3));
}

#[test]
fn paragraphs_longer_than_a_window_are_kept_whole() {
    for segmenter in [Segmenter::rules(Rules::english()), learned()] {
        for piece in ["word ", "The dog barks. ", "漢", "a.", "((", "\u{600} "] {
            let text = piece.repeat(30_000);
            check(&segmenter, &text);
            let document = segmenter.segment(&text).expect("segments");
            let longest = document.sentences().iter().map(|sentence| sentence.surface_tokens().count()).max();
            assert!(longest <= Some(300), "{piece:?} {longest:?}");
        }
    }
}

#[test]
fn tokens_say_their_places_in_characters() {
    let segmenter = Segmenter::rules(Rules::english());
    let (first, second) = ("né can't\n\n", "Étude: cannot.");
    let decoder = &segmenter;
    let mut conllu = String::new();
    for (text, start, characters) in [(first, Start::Document, 0), (second, Start::Paragraph, 10)] {
        let segments = decoder.passage(text, start, Some(characters)).expect("segments");
        conllu.extend(segments.sentences.iter().map(Sentence::to_string));
    }
    let text: Vec<char> = format!("{first}{second}").chars().collect();
    let mut places = 0;
    for line in conllu.lines().filter(|line| line.contains("TokenRange=")) {
        let fields: Vec<&str> = line.split('\t').collect();
        let (_, place) = fields[9].split_once("TokenRange=").expect("a place");
        let (start, end) = place.split_once(':').expect("two numbers");
        let place = start.parse::<usize>().expect("a number")..end.parse().expect("a number");
        assert_eq!(text[place].iter().collect::<String>(), fields[1]);
        places += 1;
    }
    assert_eq!(places, 6, "{conllu}");
}

#[test]
fn nothing_in_nothing_out() {
    for segmenter in [Segmenter::rules(Rules::default()), learned()] {
        for text in ["", " ", "\n\n\n"] {
            assert!(segmenter.segment(text).expect("segments").sentences().is_empty());
        }
    }
}

#[test]
fn segmenters_are_shared_by_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Segmenter>();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn rules_keep_every_character(text in any::<String>()) {
        check(&Segmenter::rules(Rules::english()), &text);
        check(&Segmenter::rules(Rules::default()), &text);
    }

    #[test]
    fn rules_keep_every_character_of_likely_text(
        text in "([a-zA-Z]{1,4}|[0-9]{1,4}|[.!?…'’\"()@:/#&_-]|://|www\\.|n't|[ \n\t\r\u{a0}\u{600}]|é|e\u{301}|漢|👩‍👧|🇩🇪|\u{0}){0,40}"
    ) {
        check(&Segmenter::rules(Rules::english()), &text);
    }
}

#[test]
fn a_model_keeps_every_character() {
    let segmenter = learned();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(200));
    let likely = "([a-zA-Z]{1,4}|[0-9]{1,4}|[.!?'\"()@:/-]|n't|Mr\\.|[ \n\t\u{a0}]|é|漢|👩‍👧|\\PC){0,40}";
    runner
        .run(&likely, |text| {
            check(&segmenter, &text);
            Ok(())
        })
        .expect("every text is kept");
}

/// Who goes on from a model keeps its contractions and what it knows of words, and learns what the new data have.
#[test]
fn a_segmenter_can_be_gone_on_from() {
    let row = |id: &str, form: &str, misc: &str| format!("{id}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{misc}\n");
    let one = |verb: &str| {
        let verb = row("1", verb, "_") + &row("2", "at", "_") + &row("3", "#home", "_");
        verb + &row("4-5", "delle", "_") + &row("4", "di", "_") + &row("5", "le", "_") + "\n"
    };
    let text: String =
        ["stay", "sleep", "eat", "sing"].map(|verb| format!("# newpar\n{}", one(verb))).concat();
    let more: Vec<Piece> = SentenceReader::conllu(text.repeat(3).as_bytes(), "more")
        .map(|sentence| Piece::from(sentence.expect("good CoNLL-U")))
        .collect();
    let settings = SegmenterSettings::new().epochs(10);
    let first = train(treebank(), &settings).unwrap().open().unwrap();
    let mut data = Data::new(&more);
    data.initial = Some(&first);
    let second = Segmenter::train(&data, &settings, &mut Watch::none()).unwrap();
    let segmenter = Segmenter::open(&second.open().unwrap()).unwrap();
    let words = |text: &str| -> Vec<Vec<String>> {
        let document = segmenter.segment(text).unwrap();
        let words =
            |sentence: &Sentence| (0..sentence.len()).map(|word| sentence.form(word).to_owned()).collect();
        document.sentences().iter().map(words).collect()
    };
    assert_eq!(words("He does't know Mr. Jones. Where is he?").len(), 2);
    assert_eq!(words("She isn't there!"), [["She", "is", "n't", "there", "!"]]);
    assert_eq!(words("sleep at #home delle"), [["sleep", "at", "#home", "di", "le"]]);
    let refused = Segmenter::train(&data, &settings.order(2usize), &mut Watch::none()).unwrap_err();
    assert!(refused.to_string().contains("--order 1"), "{refused}");
}
