//! Whole topics, written here: what the summarizer does with documents as people have them.

use consonant_learn::model::Model;
use consonant_learn::trainer::{Method, Parameter, Training};
use consonant_map::Status;
use consonant_summarizer::{
    Baseline, Content, Empty, Source, Summarizer, SummarizerItem, SummarizerOptions, SummarizerSettings,
    Topic, summarize_by_baseline,
};
use consonant_task::{Annotate, Batch, Data, Failure, Item, Settings as _, Task, Watch};
use consonant_text::{Document, Layer, Sentence};

/// A document of sentences without trees; words are separated by spaces, the last one is followed by a full
/// stop.
fn document(sentences: &[&str]) -> Document {
    let sentence = |text: &&str| {
        let mut rows = String::new();
        let words: Vec<&str> = text.split(' ').collect();
        for (number, word) in words.iter().enumerate() {
            let glue = if number + 1 == words.len() { "SpaceAfter=No" } else { "_" };
            rows += &format!("{}\t{word}\t_\t_\t_\t_\t_\t_\t_\t{glue}\n", number + 1);
        }
        rows += &format!("{}\t.\t_\t_\t_\t_\t_\t_\t_\t_\n\n", words.len() + 1);
        Sentence::from_conllu(&rows).unwrap()
    };
    Document::from_sentences(sentences.iter().map(sentence).collect())
}

/// "The famous mayor opened the bridge on Monday." with its tree.
fn parsed() -> Document {
    let rows = "\
1\tThe\t_\tDET\t_\t_\t3\tdet\t_\t_
2\tfamous\t_\tADJ\t_\t_\t3\tamod\t_\t_
3\tmayor\t_\tNOUN\t_\t_\t4\tnsubj\t_\t_
4\topened\t_\tVERB\t_\t_\t0\troot\t_\t_
5\tthe\t_\tDET\t_\t_\t6\tdet\t_\t_
6\tbridge\t_\tNOUN\t_\t_\t4\tobj\t_\t_
7\ton\t_\tADP\t_\t_\t8\tcase\t_\t_
8\tMonday\t_\tPROPN\t_\t_\t4\tobl\t_\tSpaceAfter=No
9\t.\t_\tPUNCT\t_\t_\t4\tpunct\t_\t_

";
    Document::from_sentences(vec![Sentence::from_conllu(rows).unwrap()])
}

fn topic() -> Vec<Document> {
    vec![
        document(&["The harbour bridge was opened on Monday morning", "Rain fell on the town all day long"]),
        document(&[
            "Crowds saw how the harbour bridge was opened",
            "A band played songs for the happy children",
        ]),
        document(&[
            "The harbour bridge cost nine million in all",
            "It was opened on Monday morning by many people",
        ]),
    ]
}

fn request(words: usize) -> SummarizerOptions {
    SummarizerOptions::new().words(words)
}

#[test]
fn what_several_documents_say_comes_first_and_budgets_hold() {
    let summarizer = Summarizer::built_in().unwrap();
    for words in 1..60 {
        let summary = summarizer.summarize(&topic(), &request(words)).unwrap();
        assert!(summary.words <= words);
        let certificate = summary.certificate.unwrap();
        assert!(certificate.bound() >= certificate.value().unwrap());
    }
    let summary = summarizer.summarize(&topic(), &request(9)).unwrap();
    assert_eq!(summary.text(), "The harbour bridge was opened on Monday morning.\n");
    assert_eq!(summary.sentences[0].words[1].place, 4..11);
    assert!(summary.concepts[0].covered && summary.concepts[0].documents >= 2);
}

#[test]
fn compressions_obey_grammar_and_are_put_in_order() {
    let summarizer = Summarizer::built_in().unwrap();
    let documents = [parsed(), parsed()];
    let summary = summarizer.summarize(&documents[..1], &request(6)).unwrap();
    assert_eq!(summary.text(), "The famous mayor opened the bridge.\n");
    assert_eq!(
        summary.sentences[0].marked(|x| format!("[{x}]")),
        "The famous mayor opened the bridge [on Monday]."
    );
    let shorter = summarizer.summarize(&documents[..1], &request(5)).unwrap();
    assert_eq!(shorter.text(), "The mayor opened the bridge.\n");
    let whole = request(6).extractive(true);
    assert_eq!(summarizer.summarize(&documents[..1], &whole).unwrap().empty, Some(Empty::Budget(8)));
    // A copy of a document says nothing new.
    let twice = summarizer.summarize(&documents, &request(100)).unwrap();
    assert_eq!((twice.sentences.len(), &twice.copies[..]), (1, &[(1, 0)][..]));
}

#[test]
fn what_one_document_says_counts_where_documents_are_long() {
    let summarizer = Summarizer::built_in().unwrap();
    let topic = |words: usize| -> Vec<Document> {
        (0..4)
            .map(|number| {
                let lead = format!("The mayor of town{number} opened bridge{number}");
                let letter = |word: usize| char::from(b'a' + (word % 26) as u8);
                let rest: Vec<String> = (0..words)
                    .map(|word| {
                        format!(
                            "{}{}{}",
                            ["one", "two", "three", "four"][number],
                            letter(word),
                            letter(word / 26)
                        )
                    })
                    .collect();
                document(&[lead.as_str(), rest.join(" ").as_str()])
            })
            .collect()
    };
    let weight = |documents: &[Document], concept: &str| {
        let summary = summarizer.summarize(documents, &request(20)).unwrap();
        summary.concepts.iter().find(|c| c.text.starts_with(concept)).map_or(0.0, |c| c.weight)
    };
    let (brief, long) = (topic(10), topic(90));
    assert!(weight(&brief, "The mayor") > 0.5 && weight(&long, "The mayor") > 0.5);
    assert_eq!(weight(&brief, "opened bridge0"), 0.0);
    let (first, later) = (weight(&long, "opened bridge0"), weight(&long, "oneda oneea"));
    assert!(first > later && later > 0.0, "{first} {later}");
}

#[test]
fn a_small_share_of_many_documents_counts() {
    let summarizer = Summarizer::built_in().unwrap();
    let documents: Vec<Document> = (0..60)
        .map(|n| {
            let letter = |number: usize| char::from(b'a' + (number % 26) as u8);
            let rest: Vec<String> =
                (0..70).map(|word| format!("own{}{}{}", letter(n), letter(n / 26), letter(word))).collect();
            let said = if n % 20 == 0 { "Heavy floods hit" } else { "Nothing at all happened in" };
            document(&[rest.join(" ").as_str(), &format!("{said} the valley of {}", rest[0])])
        })
        .collect();
    let summary = summarizer.summarize(&documents, &request(10)).unwrap();
    let floods = summary.concepts.iter().find(|concept| concept.text == "Heavy floods").unwrap();
    assert!(floods.documents == 3 && floods.weight > 0.0);
}

#[test]
fn the_strongest_weights_come_first_by_name() {
    let summarizer = Summarizer::built_in().unwrap();
    let strongest = summarizer.strongest(5);
    assert_eq!(strongest.len(), 5);
    assert!(strongest.windows(2).all(|pair| pair[0].0[0].abs() >= pair[1].0[0].abs()));
    for (weights, name) in strongest {
        assert_eq!(weights, summarizer.weight(name));
    }
}

#[test]
fn odd_inputs_get_honest_answers() {
    let summarizer = Summarizer::built_in().unwrap();
    let none = summarizer.summarize(&[], &request(100)).unwrap();
    assert_eq!((none.empty, none.words), (Some(Empty::NoText), 0));
    let empty = summarizer.summarize(&[Document::default(), Document::default()], &request(100)).unwrap();
    assert_eq!((empty.empty, empty.certificate.unwrap().status()), (Some(Empty::NoText), Status::Optimal));
    let small = summarizer.summarize(&[parsed()], &request(3)).unwrap();
    assert_eq!(small.empty, Some(Empty::Budget(5)));
    let heading = summarizer.summarize(&[document(&["Weather"])], &request(10)).unwrap();
    assert_eq!(heading.words, 1);
    let huge = summarizer.summarize(&topic(), &request(50_000)).unwrap();
    assert!(huge.sentences.len() >= 3);
}

#[test]
fn baselines_fit_the_budget_and_differ() {
    let lead = summarize_by_baseline(Baseline::Lead, &topic(), 17);
    assert_eq!(lead.sentences.iter().map(|s| (s.document, s.sentence)).collect::<Vec<_>>(), [(0, 0), (1, 0)]);
    for baseline in [Baseline::Lead, Baseline::Centroid, Baseline::Mmr] {
        for words in [0, 7, 16, 100] {
            let summary = summarize_by_baseline(baseline, &topic(), words);
            assert!(summary.words <= words && summary.certificate.is_none());
        }
    }
}

#[test]
fn five_hundred_documents_are_no_trouble() {
    let summarizer = Summarizer::built_in().unwrap();
    let documents: Vec<Document> = (0..500)
        .map(|n| {
            let first =
                format!("The harbour bridge number {n} was opened on Monday by guest {}", n * 7 % 101);
            let second = format!("Visitor {n} brought {} cakes from the town of place{}", n % 13, n % 37);
            document(&[first.as_str(), second.as_str()])
        })
        .collect();
    let summary = summarizer.summarize(&documents, &request(100)).unwrap();
    assert!(summary.words > 50 && summary.words <= 100);
}

#[test]
fn every_run_gives_the_same_summary() {
    let summarizer = Summarizer::built_in().unwrap();
    let first = summarizer.summarize(&topic(), &request(20)).unwrap();
    for _ in 0..5 {
        let again = summarizer.summarize(&topic(), &request(20)).unwrap();
        assert_eq!(again.text(), first.text());
        assert_eq!(
            again.certificate.unwrap().bound().to_bits(),
            first.certificate.unwrap().bound().to_bits()
        );
    }
}

/// Of sentences that open their documents, the one that says most of what the others say is read first.
#[test]
fn the_sentence_that_says_most_opens_the_summary() {
    let mut documents = topic();
    documents.reverse();
    let summary = Summarizer::built_in().unwrap().summarize(&documents, &request(60)).unwrap();
    assert!(summary.sentences.len() > 2);
    assert_eq!(summary.sentences[0].text, "The harbour bridge was opened on Monday morning.");
}

#[test]
fn what_people_keep_is_learned_concept_by_concept() {
    // People keep what has numbers; by itself, the first sentence would win.
    let topic = |n: usize| Topic {
        documents: vec![document(&[
            &format!("Heavy rain{n} reached quiet town{n} before evening{n}"),
            &format!("About 1{n} boats{n} lost 2{n} sails{n} yesterday{n}"),
        ])],
        references: vec![format!("About 1{n} boats{n} lost 2{n} sails{n} yesterday{n}.")],
        ..Topic::default()
    };
    let topics: Vec<SummarizerItem> = (0..20).map(|n| topic(n).into()).collect();
    let summary = |ridge: f64| {
        // Whole summaries teach next to nothing here.
        let training = Training::new(Method::Pegasos).with(Parameter::C, 1e-9).unwrap();
        let settings =
            SummarizerSettings::new().ridge(ridge).min_count(1u32).epochs(1usize).training(training);
        settings.check().unwrap();
        let trained = Summarizer::train(&Data::new(&topics), &settings, &mut Watch::none()).unwrap();
        let summarizer = Summarizer::open(&trained.open().unwrap()).unwrap();
        assert_eq!(summarizer.settings().ridge, ridge.min(f64::MAX));
        summarizer.summarize(&topic(77).documents, &request(8)).unwrap().text()
    };
    assert!(summary(f64::INFINITY).starts_with("Heavy rain77"));
    assert!(summary(1.0).starts_with("About 177 boats77"));
}

/// Segments at full stops, and knows texts with the letter e; gives every sentence a tree under its first
/// word.
struct Toy;

impl Annotate for Toy {
    fn understands(&self, text: &str) -> bool {
        text.contains('e')
    }

    fn document(&self, text: &str) -> Result<Document, Failure> {
        let sentences: Vec<&str> = text.split('.').map(str::trim).filter(|text| !text.is_empty()).collect();
        Ok(document(&sentences))
    }

    fn annotate(&self, sentences: &mut [Sentence]) -> Result<(), Failure> {
        for sentence in sentences {
            for word in 0..sentence.len() {
                let (head, relation) = if word == 0 { (0, "root") } else { (1, "dep") };
                sentence.set_head(word, Some(head))?;
                sentence.set(word, Layer::Deprel, relation)?;
            }
        }
        Ok(())
    }
}

/// Reads all items of a text, as `predict` would.
fn items(lines: &str) -> Result<Vec<SummarizerItem>, String> {
    let file = tempfile::Builder::new().suffix(".jsonl").tempfile().unwrap();
    std::fs::write(file.path(), lines).unwrap();
    let mut items = Vec::new();
    let mut reader =
        SummarizerItem::open(file.path(), Summarizer::FORMATS).map_err(|error| error.to_string())?;
    reader.read(&mut items, Batch::File).map_err(|error| error.to_string())?;
    Ok(items)
}

const LINES: &str = concat!(
    r#"{"id":"b","room":7,"documents":[{"text":"The bridge was opened. It rained."},{"text":"Rain, rain."}],"#,
    r#""summaries":["","The bridge was opened."]}"#,
    "\n\n",
    r#"{"tokens":["The",{"form":"bridge"}],"keep":null,"note":"x"}"#,
    "\n"
);

#[test]
fn lines_keep_their_keys_and_get_what_is_predicted() {
    let mut items = items(LINES).unwrap();
    let summarizer = Summarizer::built_in().unwrap();
    let options = SummarizerOptions::new();
    summarizer.annotate(&mut items, &options, &Toy).unwrap();
    let Content::Topic(topic) = &items[0].content else { panic!("a topic") };
    // The blank summary says nothing of the length.
    assert_eq!((topic.foreign, topic.references.len(), topic.options(&options).words), (1, 1, Some(4)));
    let has_tree = |document: usize| topic.documents[document].sentences()[0].tree().is_some();
    assert!(has_tree(0) && !has_tree(1));
    let units = summarizer.decode(&mut items, &options).unwrap();
    assert_eq!((units[0].tokens, units[1].tokens), (11, 2));
    let mut out = Vec::new();
    items.iter().for_each(|item| item.write(&mut out).unwrap());
    let first = LINES.lines().next().unwrap().trim_end_matches('}');
    let expected = format!(
        "{first},\"summary\":\"The bridge was opened.\\n\"}}\n{}\n",
        r#"{"tokens":["The",{"form":"bridge"}],"keep":[1,1],"note":"x"}"#
    );
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn lines_that_are_no_items_are_named() {
    for (line, message) in [
        (r#"{"id": "b"}"#, "record 3: expected `documents` or `tokens` among the keys, which are: id"),
        (r#"{"documents": 5}"#, "record 3: expected `documents` to be a list"),
        (r#"{"documents": [{"text": 5}]}"#, "record 3: document 0: expected a string `text`"),
        (r#"{"documents": [], "summaries": [5]}"#, "record 3: expected `summaries` to be a list of strings"),
        (r#"{"tokens": [5]}"#, "record 3: expected tokens to be strings"),
        (r#"{"tokens": ["a"], "keep": [2]}"#, "record 3: expected `keep` to be 0 or 1 for each of 1 tokens"),
        ("[]", ":4:1: expected a map"),
    ] {
        let error = items(&format!("{LINES}{line}\n")).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
    // What can be decoded need not teach anything.
    let mut untaught = items(r#"{"id": "t", "documents": [{"text": "Rain."}]}"#).unwrap();
    let error = Summarizer::prepare(&mut untaught, &Toy).unwrap_err().to_string();
    assert!(error.ends_with("record 1: topic `t` has no summaries to learn from"), "{error}");
    let pairs = items(r#"{"tokens": ["a"], "keep": [1]}"#).unwrap();
    let error =
        Summarizer::train(&Data::new(&pairs), &SummarizerSettings::new(), &mut Watch::none()).unwrap_err();
    assert!(error.to_string().ends_with("record 1: expected a topic (`documents`, `summaries`)"), "{error}");
}

#[test]
fn a_summary_for_programs_says_where_its_words_stood() {
    let sources = [Source::from_text("a.html", "<p>The bridge &amp; road opened.</p>")];
    let mut documents: Vec<Document> = sources.iter().map(Source::document).collect();
    let summarizer = Summarizer::built_in().unwrap();
    summarizer.annotate_documents(&mut documents, &request(9), &Toy).unwrap();
    let json = summarizer.summarize(&documents, &request(9)).unwrap().to_json(&sources);
    assert_eq!((json["status"].as_str(), json["word_count"].as_u64()), (Some("optimal"), Some(5)));
    let sentence = &json["sentences"][0];
    assert_eq!(sentence["document"], "a.html");
    assert_eq!(sentence["words"][0]["text"], "The");
}

/// Metadata of models that were made before settings were stored whole.
#[test]
fn older_models_are_read() {
    let built_in = Summarizer::built_in().unwrap();
    let metadata = serde_json::json!({
        "concept_size": 3, "compression": "free", "threshold": null, "training": ["2 compressed sentences"]
    });
    let mut writer = consonant_learn::model::ModelWriter::new("summarizer", metadata);
    let mut table = consonant_learn::table::TableBuilder::new(3, consonant_learn::table::Precision::Single);
    table.row(consonant_learn::hash::key(b"c:share:t0"), [(0, 2.0)]);
    table.store(&mut writer, "weights");
    let summarizer = Summarizer::open(&Model::from_bytes(&writer.to_bytes()).unwrap()).unwrap();
    assert_eq!((summarizer.settings().concept_size, summarizer.settings().threshold), (3, None));
    assert_eq!(summarizer.settings().constraints, consonant_summarizer::Constraints::Free);
    assert_eq!(summarizer.weight("c:share:t0"), [2.0, 0.0, 0.0]);
    assert_eq!(built_in.settings(), &SummarizerSettings::new());
}

#[test]
fn what_reports_say_in_words_of_one_family_counts_once_and_is_known_once() {
    let summarizer = Summarizer::built_in().unwrap();
    // Reports are long.
    let report = |first: &str, town: &str| {
        let rest: Vec<String> =
            (0..8).map(|day| format!("In {town} a market was held on day{day} of that week")).collect();
        let sentences: Vec<&str> = std::iter::once(first).chain(rest.iter().map(String::as_str)).collect();
        document(&sentences)
    };
    let documents = [
        report("Sailors said that harbour mines exploded there", "Leeds"),
        report("Sailors heard a harbour mine explosion", "York"),
    ];
    let of = |options: &SummarizerOptions| {
        let summary = summarizer.summarize(&documents, options).unwrap();
        let concepts = summary.concepts.into_iter().filter(|concept| concept.text.contains("mine"));
        concepts.map(|concept| concept.text).collect::<Vec<_>>()
    };
    assert_eq!(of(&request(8)), ["harbour mines", "mines exploded"]);
    assert_eq!(of(&request(8).known("a mine explosion".to_owned())), ["harbour mines"]);
}
