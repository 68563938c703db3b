//! Whole topics, written here: what the summarizer does with documents as people have them.

use consonant_learn::model::Model;
use consonant_learn::trainer::{Method, Parameter, Training};
use consonant_map::Status;
use consonant_summarizer::{
    Baseline, Empty, Mode, Request, Summarizer, TrainingData, TrainingSettings, TrainingTopic,
    summarize_by_baseline, train,
};
use consonant_text::{Document, Sentence};

/// A document of sentences without trees; words are separated by spaces, the last one is followed by a full stop.
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

/// "The old mayor opened the bridge on Monday." with its tree.
fn parsed() -> Document {
    let rows = "\
1\tThe\t_\tDET\t_\t_\t3\tdet\t_\t_
2\told\t_\tADJ\t_\t_\t3\tamod\t_\t_
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

fn request(words: usize) -> Request {
    Request { words, ..Request::default() }
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
    assert_eq!(summary.text(), "The old mayor opened the bridge.\n");
    assert_eq!(
        summary.sentences[0].marked(|x| format!("[{x}]")),
        "The old mayor opened the bridge [on Monday]."
    );
    let shorter = summarizer.summarize(&documents[..1], &request(5)).unwrap();
    assert_eq!(shorter.text(), "The mayor opened the bridge.\n");
    let whole = Request { mode: Mode::Extractive, ..request(6) };
    assert_eq!(summarizer.summarize(&documents[..1], &whole).unwrap().empty, Some(Empty::Budget(8)));
    // A copy of a document says nothing new.
    let twice = summarizer.summarize(&documents, &request(100)).unwrap();
    assert_eq!((twice.sentences.len(), &twice.copies[..]), (1, &[(1, 0)][..]));
}

/// "People depend on a boat after noon." with its tree; the phrase after the verb is `first`, then `second`.
fn depends(first: &str, second: &str) -> Document {
    let rows = format!(
        "\
1\tPeople\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tdepend\t_\tVERB\t_\t_\t0\troot\t_\t_
3\t{first}\t_\tADP\t_\t_\t4\tcase\t_\t_
4\tboats\t_\tNOUN\t_\t_\t2\tobl\t_\t_
5\t{second}\t_\tADP\t_\t_\t6\tcase\t_\t_
6\tstorms\t_\tNOUN\t_\t_\t2\tobl\t_\tSpaceAfter=No
7\t.\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_

"
    );
    Document::from_sentences(vec![Sentence::from_conllu(&rows).unwrap()])
}

#[test]
fn what_a_verb_asks_for_stays_with_it() {
    let summarizer = Summarizer::built_in().unwrap();
    let text = |document: Document| summarizer.summarize(&[document], &request(4)).unwrap().text();
    assert_eq!(text(depends("on", "after")), "People depend on boats.\n");
    let shortest = |document: Document| summarizer.summarize(&[document], &request(1)).unwrap().empty;
    assert_eq!(shortest(depends("on", "after")), Some(Empty::Budget(4)));
    assert_eq!(shortest(depends("during", "after")), Some(Empty::Budget(2)));
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
    let topic = |n: usize| TrainingTopic {
        documents: vec![document(&[
            &format!("Heavy rain{n} reached quiet town{n} before evening{n}"),
            &format!("About 1{n} boats{n} lost 2{n} sails{n} yesterday{n}"),
        ])],
        references: vec![format!("About 1{n} boats{n} lost 2{n} sails{n} yesterday{n}.")],
    };
    let topics: Vec<TrainingTopic> = (0..20).map(topic).collect();
    let data = TrainingData { compressive: &topics, ..TrainingData::default() };
    let summary = |ridge: f64| {
        let settings = TrainingSettings {
            ridge,
            min_count: 1,
            epochs: 1,
            // Whole summaries teach next to nothing here.
            training: Training::new(Method::Pegasos).with(Parameter::C, 1e-9).unwrap(),
            ..TrainingSettings::default()
        };
        let trained = train(data, None, &settings, &mut |_| {}, None).unwrap();
        let summarizer = Summarizer::open(&Model::from_bytes(&trained.model.to_bytes()).unwrap()).unwrap();
        summarizer.summarize(&topic(77).documents, &request(8)).unwrap().text()
    };
    assert!(summary(f64::INFINITY).starts_with("Heavy rain77"));
    assert!(summary(1.0).starts_with("About 177 boats77"));
}
