//! Training on made-up conversations, and what is refused.

use consonant_conversations::{
    Algorithm, Constraint, DecoderOptions, GraphKind, Linker, Progress, ThreadsError, ThreadsSettings, train,
};
use consonant_learn::model::Model;
use consonant_learn::trainer::Method;
use consonant_text::evaluate::LinkScores;
use consonant_text::jsonl::{Thread, ThreadUnit};

/// Three people: questions are answered by name some units later, answers are thanked for, and remarks go on where their
/// author left off.
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

fn small(graph: GraphKind) -> ThreadsSettings {
    ThreadsSettings { graph, bits: 16, epochs: 6, ..ThreadsSettings::default() }
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
    for graph in [GraphKind::Pairs, GraphKind::Grid, GraphKind::Triples] {
        let mut epochs = 0;
        let trained = train(
            &data,
            Some(&dev),
            &small(graph),
            &mut |step| match step {
                Progress::Data { constraint, share, out_of_window } => {
                    assert_eq!((constraint, share, out_of_window), (Constraint::ExactlyOne, 1.0, 0));
                }
                Progress::Epoch(_) => epochs += 1,
            },
            None,
        )
        .unwrap();
        assert!((1..=6).contains(&epochs));
        let linker = trained.open().unwrap();
        assert_eq!((linker.graph(), linker.constraint()), (graph, Constraint::ExactlyOne));
        let mut found = dev.clone();
        let linked = linker.link(&mut found, &DecoderOptions::default()).unwrap();
        let score = f1(&dev, &found);
        assert!(score > 0.9, "{graph:?}: {score}");
        assert_eq!(Some(score), trained.f1, "the file says what training saw");
        assert!(linked.iter().all(|unit| unit.certificate.status().name() == "optimal"));
        for (_, algorithm) in Algorithm::NAMES {
            let mut others = dev.clone();
            linker.link(&mut others, &DecoderOptions { algorithm, ..DecoderOptions::default() }).unwrap();
            assert!(f1(&dev, &others) > score - 0.05, "{graph:?}, {algorithm:?}");
        }
        assert_eq!(linker.strongest(7).len(), 7);
        let explained = linker.explain(&dev[0]).unwrap();
        assert_eq!(explained.len(), found[0].links.len());
        assert!(explained[0].contributions.iter().any(|part| part.feature.starts_with("role")));
    }
}

#[test]
fn threads_change_nothing() {
    let data = chats(20, 3);
    let model = |threads| {
        let settings = ThreadsSettings { threads, epochs: 2, ..small(GraphKind::Triples) };
        train(&data, None, &settings, &mut |_| {}, None).unwrap().model.to_bytes()
    };
    assert!(model(1) == model(3));
}

#[test]
fn odd_conversations_are_borne() {
    let data = chats(20, 4);
    let settings =
        ThreadsSettings { window: 3, constraint: Some(Constraint::Any), ..small(GraphKind::Triples) };
    let linker = train(&data, None, &settings, &mut |_| {}, None).unwrap().open().unwrap();
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
    let linked = linker.link(&mut threads, &DecoderOptions::default()).unwrap();
    assert_eq!(linked.iter().map(|unit| unit.units).collect::<Vec<_>>(), [0, 1, 3, 300]);
    assert!(threads[0].links.is_empty() && threads[1].links.is_empty());
    assert!(threads[3].links.iter().all(|&(source, target)| target < source && source - target <= 3));
}

#[test]
fn mistakes_are_named() {
    let mut data = chats(3, 5);
    data.iter_mut().for_each(|thread| thread.links.clear());
    let error = train(&data, None, &small(GraphKind::Grid), &mut |_| {}, None).unwrap_err();
    assert!(matches!(error, ThreadsError::NoLinks { conversations: 3 }));
    data[1].links.push((2, 5));
    let error = train(&data, None, &small(GraphKind::Grid), &mut |_| {}, None).unwrap_err();
    assert!(matches!(&error, ThreadsError::Link { conversation, .. } if conversation == "1"), "{error}");
    let settings = ThreadsSettings { training: Method::Sgd.into(), ..small(GraphKind::Grid) };
    assert!(train(&chats(3, 5), None, &settings, &mut |_| {}, None).is_err());
    let other = consonant_learn::model::ModelWriter::new("tagger", serde_json::json!({})).to_bytes();
    assert!(Linker::open(&Model::from_bytes(&other).unwrap()).is_err());
}
