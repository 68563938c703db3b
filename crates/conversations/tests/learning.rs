//! Training on made-up conversations, and what is refused.

use consonant_conversations::{
    Constraint, GraphKind, LinkMethod, Linker, LinkerError, LinkerOptions, LinkerSettings, Links,
};
use consonant_learn::model::Model;
use consonant_learn::trainer::Method;
use consonant_task::{Data, Event, Task, Trained, Watch};
use consonant_text::evaluate::LinkScores;
use consonant_text::jsonl::{Thread, ThreadUnit};

/// Three people: questions are answered by name some units later, answers are thanked for, and remarks go on
/// where their author left off.
fn chats(count: usize, seed: u64) -> Vec<Thread> {
    let mut state = seed;
    let mut random = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let names = ["ann", "bob", "cid"];
    let things = ["modem", "printer", "kernel", "sound", "screen", "mouse"];
    (0..count)
        .map(|number| {
            let mut units: Vec<ThreadUnit> = Vec::new();
            let mut links = Vec::new();
            let mut say = |units: &mut Vec<ThreadUnit>, who: usize, text: String, target: Option<usize>| {
                links.extend(target.map(|target| (units.len(), target)));
                let time = Some(format!("{:02}:{:02}", number % 24, units.len()));
                units.push(ThreadUnit { author: Some(names[who].into()), time, text });
                units.len() - 1
            };
            let asker = random(3);
            let first = say(&mut units, asker, "hello, who can help?".into(), None);
            for _ in 0..2 + random(3) {
                let thing = things[random(things.len())];
                let question = say(&mut units, asker, format!("how do I fix the {thing}?"), Some(first));
                let more = say(&mut units, asker, "and it is a new one".into(), Some(question));
                let helper = (asker + 1 + random(2)) % 3;
                let target = if random(2) == 0 { question } else { more };
                let word = if target == question { thing } else { "new" };
                let answer =
                    say(&mut units, helper, format!("{}: try another {word}", names[asker]), Some(target));
                if random(2) == 0 {
                    say(&mut units, asker, format!("thanks, {}", names[helper]), Some(answer));
                }
            }
            let mut thread = Thread::default();
            (thread.id, thread.units, thread.links) = (number.to_string(), units, links);
            thread
        })
        .collect()
}

fn small(graph: GraphKind) -> LinkerSettings {
    LinkerSettings::new().graph(graph).bits(16u32).epochs(6usize)
}

fn train(threads: &[Thread], settings: &LinkerSettings) -> Result<Trained, LinkerError> {
    Linker::train(&Data::new(threads), settings, &mut Watch::none())
}

fn f1(gold: &[Thread], found: &[Thread]) -> f64 {
    let mut scores = LinkScores::default();
    for (gold, found) in gold.iter().zip(found) {
        scores.conversation(gold.links.iter().copied(), found.links.iter().copied());
    }
    scores.score().f1
}

#[test]
fn links_are_learned_with_every_graph_and_survive_the_file() {
    let (data, dev) = (chats(40, 1), chats(15, 2));
    for &graph in GraphKind::ALL {
        let (mut notes, mut epochs) = (Vec::new(), 0);
        let mut listener = |event: Event| match event {
            Event::Note(text) => notes.push(text),
            _ => epochs += 1,
        };
        let data = Data::new(&data).with_dev(&dev);
        let trained = Linker::train(&data, &small(graph), &mut Watch::with(&mut listener)).unwrap();
        assert_eq!(notes, ["exactly one link a message, as 100.00% of the training data have"]);
        assert!((1..=6).contains(&epochs));
        let linker = Linker::open(&trained.open().unwrap()).unwrap();
        assert_eq!((linker.graph(), linker.constraint()), (graph, Constraint::ExactlyOne));
        let mut found = dev.clone();
        let units = linker.decode(&mut found, &LinkerOptions::default()).unwrap();
        let score = f1(&dev, &found);
        assert!(score > 0.9, "{graph}: {score}");
        assert_eq!(Some(score), trained.score, "the file says what training saw");
        assert!(units.iter().all(|unit| unit.certificate.is_optimal()));
        for &method in LinkMethod::ALL {
            for shortcuts in [true, false] {
                let options =
                    LinkerOptions::new().decoder(method).shortcuts(shortcuts).max_iterations(100usize);
                let mut others = dev.clone();
                linker.decode(&mut others, &options).unwrap();
                assert!(f1(&dev, &others) > score - 0.05, "{graph}, {method}, {shortcuts}");
            }
        }
        assert_eq!(linker.inspect(7).tables[0].rows.len(), 7);
        let explained = linker.explain(&dev[0]).unwrap().unwrap();
        assert_eq!(explained.len(), found[0].links.len());
        assert_eq!((explained[0].subject.as_str(), explained[0].chosen.as_str()), ("0", "1 answers 0"));
        assert!(explained[0].contributions.iter().any(|part| part.feature.starts_with("role")));
    }
}

#[test]
fn threads_change_nothing() {
    let data = chats(20, 3);
    let model = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let settings = small(GraphKind::Triples).epochs(2usize);
        pool.install(|| train(&data, &settings)).unwrap().model.to_bytes()
    };
    assert!(model(1) == model(3));
}

#[test]
fn files_of_before_are_read_and_settings_train_the_model_again() {
    let trained = train(&chats(20, 6), &small(GraphKind::Grid)).unwrap();
    let model = trained.open().unwrap();
    let settings: LinkerSettings = model.settings(Linker::NAME).unwrap();
    assert_eq!(settings, small(GraphKind::Grid).constraint(Constraint::ExactlyOne));
    let again = train(&chats(20, 6), &settings).unwrap();
    assert!(again.model.to_bytes() == trained.model.to_bytes());
    // As the metadata was when there was no more in it.
    let before: LinkerSettings = serde_json::from_value(serde_json::json!({
        "graph": "grid", "constraint": "at-most-one", "window": 9, "algorithm": "passive-aggressive", "parameters": [["c", 0.5]],
        "epoch": 3, "f1": null, "conversations": 2, "units": 5, "links": 4, "fingerprint": 7,
    }))
    .unwrap();
    assert_eq!((before.constraint, before.window, before.bits), (Links::AtMostOne, 9, 21));
}

#[test]
fn odd_conversations_are_borne() {
    let settings = small(GraphKind::Triples).window(3usize).constraint(Constraint::Any);
    let trained = train(&chats(20, 4), &settings).unwrap();
    let linker = Linker::open(&trained.open().unwrap()).unwrap();
    let unit = |author: Option<&str>, text: &str| ThreadUnit {
        author: author.map(str::to_owned),
        time: Some("25:99".into()),
        text: text.into(),
    };
    let with = |units: Vec<ThreadUnit>| {
        let mut thread = Thread::default();
        thread.units = units;
        thread
    };
    let mut threads = vec![
        with(vec![]),
        with(vec![unit(None, "")]),
        with(vec![unit(None, ""), unit(None, "   "), unit(Some(""), ":")]),
        with((0..300).map(|i| unit(Some(["a", "b", "🦀"][i % 3]), "b: ¿qué? 🦀🦀 ...")).collect()),
    ];
    let units = linker.decode(&mut threads, &LinkerOptions::default()).unwrap();
    assert_eq!(units.iter().map(|unit| unit.tokens).collect::<Vec<_>>(), [0, 1, 3, 300]);
    assert!(threads[0].links.is_empty() && threads[1].links.is_empty());
    assert!(threads[3].links.iter().all(|&(source, target)| target < source && source - target <= 3));
}

#[test]
fn mistakes_are_named() {
    let mut data = chats(3, 5);
    data.iter_mut().for_each(|thread| thread.links.clear());
    let error = train(&data, &small(GraphKind::Grid)).unwrap_err();
    assert!(matches!(error, LinkerError::NoLinks { conversations: 3 }));
    data[1].links.push((2, 5));
    let error = train(&data, &small(GraphKind::Grid)).unwrap_err();
    assert!(matches!(&error, LinkerError::Link { conversation, .. } if conversation == "1"), "{error}");
    let settings = small(GraphKind::Grid).training(Method::Sgd);
    assert!(train(&chats(3, 5), &settings).is_err());
    let other = consonant_learn::model::ModelWriter::new("tagger", serde_json::json!({})).to_bytes();
    assert!(Linker::open(&Model::from_bytes(&other).unwrap()).is_err());
}
