//! Training on a small made-up language, and what is refused.

use consonant_learn::model::Model;
use consonant_learn::settings::InputFile;
use consonant_learn::trainer::{Method, Visit};
use consonant_map::solver;
use consonant_parser::{
    Column, Parser, ParserError, ParserOptions, ParserSettings, PartKind, PartKinds, Switches,
};
use consonant_task::{Data, Event, Solver, Task, Trained, Unit, Watch};
use consonant_text::sentence::Layer;
use consonant_text::{Sentence, SentenceReader};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Subject, verb and object in any order; nouns may have an article before and an adjective after them, and
/// the verb an adverb at the very end, which crosses the arcs of a late subject's adjective.
fn treebank(count: usize) -> Vec<Sentence> {
    let mut seed = 9u64;
    let mut random = |limit: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % limit
    };
    let mut text = String::new();
    for _ in 0..count {
        // (form, tag, phrase: 0 verb, 1 subject, 2 object; role)
        let mut words: Vec<(&str, &str, usize, &str)> = Vec::new();
        let order = [[1, 0, 2], [0, 1, 2], [2, 0, 1]][random(3)];
        for phrase in order {
            if phrase == 0 {
                words.push((["sees", "hears", "finds"][random(3)], "VERB", 0, "root"));
                continue;
            }
            if random(2) == 0 {
                words.push(("the", "DET", phrase, "det"));
            }
            let noun =
                if phrase == 1 { ["cat-u", "dog-u"][random(2)] } else { ["bird-o", "tree-o"][random(2)] };
            words.push((noun, "NOUN", phrase, if phrase == 1 { "nsubj" } else { "obj" }));
            if random(3) == 0 {
                words.push((["small", "green"][random(2)], "ADJ", phrase, "amod"));
            }
        }
        if random(2) == 0 {
            words.push(("today", "ADV", 0, "advmod"));
        }
        let position = |tag: &str, phrase: Option<usize>| {
            1 + words.iter().position(|word| word.1 == tag && phrase.is_none_or(|p| word.2 == p)).unwrap()
        };
        let verb = position("VERB", None);
        for (i, word) in words.iter().enumerate() {
            let head = match word.3 {
                "root" => 0,
                "det" | "amod" => position("NOUN", Some(word.2)),
                _ => verb,
            };
            text += &format!("{}\t{}\t_\t{}\t_\t_\t{head}\t{}\t_\t_\n", i + 1, word.0, word.1, word.3);
        }
        text.push('\n');
    }
    SentenceReader::conllu(text.as_bytes(), "made up").collect::<Result<_, _>>().unwrap()
}

fn small(order: usize) -> ParserSettings {
    let kinds = if order == 3 { [PartKind::ArbitrarySiblings].into() } else { Switches::default() };
    ParserSettings::new().order(order).kinds(kinds).epochs(4usize).bits(16u32).label_bits(14u32)
}

fn train(sentences: &[Sentence], settings: &ParserSettings) -> Result<Trained, ParserError> {
    Parser::train(&Data::new(sentences), settings, &mut Watch::none())
}

fn trained(sentences: &[Sentence], settings: &ParserSettings) -> Vec<u8> {
    train(sentences, settings).unwrap().model.to_bytes()
}

fn parser(sentences: &[Sentence], settings: &ParserSettings) -> Parser {
    Parser::open(&Model::from_bytes(&trained(sentences, settings)).unwrap()).unwrap()
}

fn parse(parser: &Parser, sentences: &mut [Sentence]) -> Vec<Unit> {
    parser.decode(sentences, &ParserOptions::new()).unwrap()
}

#[test]
fn every_order_learns_and_comes_back_from_its_file() {
    let sentences = treebank(80);
    for order in 1..=3 {
        let parser = parser(&sentences[..60], &small(order));
        let mut parsed = sentences[60..].to_vec();
        let units = parse(&parser, &mut parsed);
        let proven = units.iter().filter(|unit| unit.certificate.is_optimal()).count();
        assert!(proven * 10 >= units.len() * 9, "{proven} of {} proven", units.len());
        let (mut right, mut all) = (0, 0);
        for (gold, found) in sentences[60..].iter().zip(&parsed) {
            for word in 0..gold.len() {
                all += 1;
                right += usize::from(
                    gold.head(word) == found.head(word) && gold.deprel(word) == found.deprel(word),
                );
            }
        }
        assert!(right * 100 >= all * 95, "order {order}: {right} of {all} right");
    }
}

#[test]
fn threads_change_neither_the_model_nor_the_trees() {
    let sentences = treebank(30);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let model = trained(&sentences, &small(2));
            let parser = Parser::open(&Model::from_bytes(&model).unwrap()).unwrap();
            let mut parsed = sentences.clone();
            let first = parse(&parser, &mut parsed);
            // Workers that have seen other sentences decode as new ones do.
            let mut again = sentences.clone();
            again.reverse();
            let mut second = parse(&parser, &mut again);
            second.reverse();
            let values = |units: Vec<Unit>| -> Vec<(u64, u64)> {
                let bits = |unit: &Unit| {
                    (unit.certificate.value().unwrap().to_bits(), unit.certificate.bound().to_bits())
                };
                units.iter().map(bits).collect()
            };
            let first = values(first);
            assert_eq!(first, values(second));
            (model, parsed.iter().map(Sentence::to_string).collect::<String>(), first)
        })
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn projective_models_and_comparison_decoders_work() {
    let sentences = treebank(30);
    let settings = small(1).projective(true);
    let data = Data::new(&sentences).with_dev(&sentences);
    let model = Parser::train(&data, &settings, &mut Watch::none()).unwrap();
    assert!(model.score.unwrap() > 0.9 && model.summary.contains("right heads on dev"));
    let parser = Parser::open(&model.open().unwrap()).unwrap();
    assert!(parse(&parser, &mut sentences.clone()).iter().all(|unit| unit.certificate.is_optimal()));
    for settings in [small(2).projective(true), small(1).training(Method::Sgd)] {
        assert!(matches!(train(&sentences, &settings), Err(ParserError::Usage(_))));
    }
    let parser = self::parser(&sentences, &small(2));
    for method in [solver::Method::Subgradient, solver::Method::Exact] {
        let mut parsed = sentences.clone();
        let units = parser.decode(&mut parsed, &ParserOptions::new().decoder(Solver(method))).unwrap();
        assert!(units.iter().all(|unit| Some(unit.certificate.bound()) >= unit.certificate.value()));
        let all = units.iter().all(|unit| unit.certificate.is_optimal());
        assert!(all || method == solver::Method::Subgradient);
    }
    let refused = ParserOptions::new().decoder(Solver(solver::Method::TwoSlave));
    assert!(matches!(parser.decode(&mut sentences.clone(), &refused), Err(ParserError::Usage(_))));
}

fn with_heads(heads: &[&str]) -> Sentence {
    let word = |(i, head): (usize, &&str)| format!("{}\tw{i}\t_\tX\t_\t_\t{head}\tdep\t_\t_\n", i + 1);
    let text: String = heads.iter().enumerate().map(word).collect();
    Sentence::from_conllu(&(text + "\n")).unwrap()
}

#[test]
fn broken_trees_are_named_or_left_out() {
    for (heads, expected) in
        [(&["2", "1"][..], "cycle"), (&["0", "_"], "no head"), (&["0", "0"], "depend on the root")]
    {
        let mut sentences = treebank(5);
        sentences.push(with_heads(heads));
        let error = train(&sentences, &small(1)).unwrap_err().to_string();
        assert!(error.starts_with("line ") && error.contains(expected), "{error}");
        assert!(error.contains("--skip-broken") && error.contains("--single-root false"), "{error}");
        let mut skipped = 0;
        let mut listener =
            |event: Event| skipped += usize::from(event.to_string().starts_with("left out: line "));
        let settings = small(1).skip_broken(true);
        let _ = Parser::train(&Data::new(&sentences), &settings, &mut Watch::with(&mut listener)).unwrap();
        assert_eq!(skipped, 1);
    }
}

#[test]
fn long_short_and_bare_sentences_are_parsed() {
    let parser = parser(&treebank(20), &small(3));
    let bare = |words: usize| {
        let text: String = (1..=words).map(|i| format!("{i}\tw\t_\t_\t_\t_\t_\t_\t_\t_\n")).collect();
        Sentence::from_conllu(&(text + "\n")).unwrap()
    };
    let mut sentences = vec![bare(1), bare(2), bare(120)];
    parse(&parser, &mut sentences);
    for sentence in &sentences {
        assert!(sentence.tree().unwrap().is_tree());
        assert_eq!(sentence.heads().iter().filter(|&&head| head == 0).count(), 1);
    }
}

/// Trees over all pairs of words would take minutes and gigabytes here.
#[test]
fn very_long_sentences_have_trees_without_a_bound() {
    let parser = parser(&treebank(60), &small(3));
    let joined = |count: usize| {
        let words = treebank(count)
            .iter()
            .flat_map(|sentence| {
                (0..sentence.len())
                    .map(|i| (sentence.form(i).to_owned(), sentence.upos(i).to_owned()))
                    .collect::<Vec<_>>()
            })
            .collect::<Vec<_>>();
        let lines = words
            .iter()
            .zip(1..)
            .map(|((form, upos), i)| format!("{i}\t{form}\t_\t{upos}\t_\t_\t_\t_\t_\t_\n"));
        Sentence::from_conllu(&(lines.collect::<String>() + "\n")).unwrap()
    };
    let mut sentences = vec![joined(3000), joined(80)];
    assert!(sentences[0].len() > 12_000 && sentences[1].len() < 500);
    let units = parse(&parser, &mut sentences);
    let status = |unit: &Unit| unit.certificate.status();
    assert_eq!(status(&units[0]), consonant_map::Status::Feasible);
    assert_eq!(units[0].certificate.bound(), f64::INFINITY);
    assert!(units[1].certificate.bound() < f64::INFINITY);
    for sentence in &sentences {
        assert!(sentence.tree().unwrap().is_tree());
        assert_eq!(sentence.heads().iter().filter(|&&head| head == 0).count(), 1);
    }
    assert!(parser.graph(&sentences[0]).unwrap().is_none());
    // Articles still belong to the noun that follows.
    let long = &sentences[0];
    let articles = (0..long.len()).filter(|&i| long.upos(i) == "DET").collect::<Vec<_>>();
    let right = articles.iter().filter(|&&i| long.head(i) == Some(i as u32 + 2)).count();
    assert!(right * 10 > articles.len() * 9, "{right} of {}", articles.len());
}

#[test]
fn several_roots_are_learned_where_allowed() {
    let mut sentences = treebank(10);
    sentences.extend((0..20).map(|_| with_heads(&["0", "0"])));
    let parser = parser(&sentences, &small(2).single_root(false));
    let mut found = vec![with_heads(&["_", "_"])];
    parse(&parser, &mut found);
    assert_eq!(found[0].heads(), [0, 0]);
}

#[test]
fn strongest_weights_have_names() {
    let parser = parser(&treebank(40), &small(3));
    let strongest = parser.strongest(30);
    assert_eq!(strongest.len(), 30);
    assert!(strongest.windows(2).all(|pair| pair[0].0.abs() >= pair[1].0.abs()));
    assert!(strongest.iter().all(|&(weight, _)| weight != 0.0));
    let kinds = [
        "arc ",
        "siblings ",
        "any siblings ",
        "grandparent ",
        "grand-siblings ",
        "tri-siblings ",
        "head bigram",
    ];
    for (_, feature) in &strongest {
        assert!(kinds.iter().any(|kind| feature.starts_with(kind)), "{feature}");
    }
    assert!(parser.strongest(0).is_empty());
    let shown = parser.inspect(5).to_string();
    assert!(shown.starts_with("   weight  part and feature\n") && shown.lines().count() == 6, "{shown}");
}

#[test]
fn ignored_columns_change_nothing() {
    let sentences = treebank(30);
    let parser = parser(&sentences, &small(2).ignored([Column::Lemmas, Column::Features]));
    let mut plain = sentences.clone();
    let mut rich = sentences.clone();
    for sentence in &mut rich {
        for word in 0..sentence.len() {
            sentence.set(word, Layer::Lemma, "some").unwrap();
            sentence.set(word, Layer::Feats, "Case=Nom|Number=Sing").unwrap();
        }
    }
    let values = |units: Vec<Unit>| -> Vec<Option<f64>> {
        units.iter().map(|unit| unit.certificate.value()).collect()
    };
    assert_eq!(values(parse(&parser, &mut plain)), values(parse(&parser, &mut rich)));
    assert!(plain.iter().zip(&rich).all(|(a, b)| a.heads() == b.heads()));
}

#[test]
fn training_goes_on_from_its_checkpoint() {
    let sentences = treebank(30);
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    // Interrupted after the first epoch, then run again.
    let stop = AtomicBool::new(false);
    let mut after_first = |event: Event| {
        if matches!(event, Event::Epoch { stage: None, .. }) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let mut watch = Watch::with(&mut after_first);
    (watch.stop, watch.checkpoint) = (Some(&stop), Some(state.clone()));
    drop(Parser::train(&Data::new(&sentences), &small(2), &mut watch).unwrap());
    assert!(state.exists());
    let mut watch = Watch::none();
    watch.checkpoint = Some(state.clone());
    let whole = Parser::train(&Data::new(&sentences), &small(2), &mut watch).unwrap();
    assert_eq!(whole.model.to_bytes(), trained(&sentences, &small(2)));
    assert!(!state.exists());
}

#[test]
fn the_graph_of_a_sentence_is_what_decoding_solves() {
    let sentences = treebank(40);
    let parser = Parser::open(&train(&sentences, &small(2)).unwrap().open().unwrap()).unwrap();
    let exact = ParserOptions::new().decoder(Some(Solver(solver::Method::Exact)));
    for sentence in &sentences[..5] {
        let parse = parser.graph(sentence).unwrap().unwrap();
        assert_eq!(parse.graph.variables(), parse.arcs.len());
        let found = solver::solve(&parse.graph, solver::Method::Exact, &solver::Limits::default()).unwrap();
        let mut decoded = [sentence.clone()];
        let unit = parser.decode(&mut decoded, &exact).unwrap()[0];
        let [value, same] =
            [found.certificate, unit.certificate].map(|certificate| certificate.value().unwrap());
        assert!((value - same).abs() < 1e-4, "{value} {same}");
        let on = found.assignment().unwrap().iter().zip(&parse.arcs).filter(|(on, _)| **on == 1);
        let heads: Vec<u32> = on.map(|(_, &(head, _))| head as u32).collect();
        assert_eq!(heads, decoded[0].heads());
    }
    assert!(parser.graph(&Sentence::new()).unwrap().is_none());
}

/// The tags say nothing, and the words at the end were never seen: only clusters tell what they are.
#[test]
fn clusters_stand_in_for_morphology() {
    let nouns = ["ra", "ri", "ro", "ru", "sa", "si"];
    let verbs = ["ka", "ki", "ko", "ku", "ta", "ti"];
    let sentence = |noun: &str, verb: &str, swapped: bool| {
        let (first, second) = if swapped { (verb, noun) } else { (noun, verb) };
        let [one, other] = if swapped { [(0, "root"), (1, "obj")] } else { [(2, "nsubj"), (0, "root")] };
        format!(
            "1\t{first}\t_\tX\t_\t_\t{}\t{}\t_\t_\n2\t{second}\t_\tX\t_\t_\t{}\t{}\t_\t_\n\n",
            one.0, one.1, other.0, other.1
        )
    };
    let read = |text: &str| -> Vec<Sentence> {
        SentenceReader::conllu(text.as_bytes(), "made up").collect::<Result<_, _>>().unwrap()
    };
    let mut text = String::new();
    for (number, noun) in nouns.iter().enumerate() {
        for (other, verb) in verbs.iter().enumerate() {
            text += &sentence(noun, verb, (number + other) % 2 == 0);
        }
    }
    let held_out = read(&(sentence("wo", "pu", false) + &sentence("we", "pe", true)));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("words.clusters");
    let list = |bits: &str, words: &[&str]| -> String {
        words.iter().map(|word| format!("{bits}\t{word}\n")).collect()
    };
    let words = list("0101011", &nouns) + &list("0101011", &["wo", "we"]);
    std::fs::write(&path, words + &list("1101011", &verbs) + &list("1101011", &["pu", "pe"])).unwrap();
    let right = |settings: &ParserSettings| {
        let mut parsed = held_out.clone();
        parse(&parser(&read(&text), settings), &mut parsed);
        let same = |(gold, found): (&Sentence, &Sentence)| gold.heads() == found.heads();
        held_out.iter().zip(&parsed).filter(|pair| same((pair.0, pair.1))).count()
    };
    let settings = small(1).epochs(8usize);
    assert_eq!(right(&settings.clone().clusters(InputFile::from(path.clone()))), 2);
    assert!(right(&settings) < 2);
    let missing =
        train(&held_out, &settings.clusters(InputFile::from(folder.path().join("none")))).unwrap_err();
    assert!(missing.to_string().contains("none"), "{missing}");
}

#[test]
fn every_stage_tells_how_far_it_is() {
    let heard = Mutex::new(BTreeSet::new());
    let follow = |visit: Visit| {
        heard.lock().unwrap().insert((visit.stage, visit.visited < visit.examples));
    };
    let mut watch = Watch::none();
    watch.follower = Some(&follow);
    drop(Parser::train(&Data::new(&treebank(60)), &small(1), &mut watch).unwrap());
    let inside = [None, Some("labels"), Some("pruner")].map(|stage| (stage, true));
    assert!(inside.iter().all(|stage| heard.lock().unwrap().contains(stage)), "{heard:?}");
}

/// Who goes on from a parser keeps its weights, words and labels, and learns those of the new data.
#[test]
fn a_parser_can_be_gone_on_from() {
    let first_text = treebank(120);
    let first = train(&first_text, &small(2)).unwrap().open().unwrap();
    // The same language, with a label of another name.
    let mut more = treebank(40);
    for sentence in &mut more {
        for word in 0..sentence.len() {
            if sentence.deprel(word) == "amod" {
                sentence.set(word, Layer::Deprel, "adj").unwrap();
            }
        }
    }
    let mut data = Data::new(&more);
    data.initial = Some(&first);
    let go_on = |settings: &ParserSettings| Parser::train(&data, settings, &mut Watch::none());
    let second =
        Parser::open(&go_on(&ParserSettings::new().epochs(1usize)).unwrap().open().unwrap()).unwrap();
    assert!(second.labels().iter().any(|label| label == "amod"));
    assert_eq!(second.labels().last().map(String::as_str), Some("adj"));
    assert_eq!(second.kinds(), PartKinds::of_order(2));
    let gold = treebank(150).split_off(120);
    let mut parsed = gold.clone();
    second.decode(&mut parsed, &ParserOptions::new()).unwrap();
    let right = gold.iter().zip(&parsed).filter(|(gold, parsed)| gold.heads() == parsed.heads()).count();
    assert!(right >= 28, "{right} of 30");
    let refused = go_on(&ParserSettings::new().order(1usize)).unwrap_err().to_string();
    assert!(refused.contains("order: the model to go on from has 2"), "{refused}");
}
