//! Training on a small made-up language, and what is refused.

use consonant_learn::model::Model;
use consonant_parser::{
    Algorithm, IgnoredColumns, Parsed, Parser, ParserError, ParserSettings, PartKinds, Progress, train,
};
use consonant_text::sentence::Layer;
use consonant_text::{Sentence, SentenceReader};
use std::sync::atomic::{AtomicBool, Ordering};

/// Subject, verb and object in any order; nouns may have an article before and an adjective after them, and the verb an
/// adverb at the very end, which crosses the arcs of a late subject's adjective.
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
    ParserSettings {
        kinds: PartKinds { arbitrary_siblings: order == 3, ..PartKinds::of_order(order) },
        epochs: 4,
        bits: 16,
        label_bits: 14,
        ..ParserSettings::default()
    }
}

fn trained(sentences: &[Sentence], settings: &ParserSettings) -> Vec<u8> {
    train(sentences, None, settings, &mut |_| {}, None).unwrap().model.to_bytes()
}

#[test]
fn every_order_learns_and_comes_back_from_its_file() {
    let sentences = treebank(80);
    for order in 1..=3 {
        let parser =
            Parser::open(&Model::from_bytes(&trained(&sentences[..60], &small(order))).unwrap()).unwrap();
        let mut parsed = sentences[60..].to_vec();
        let units = parser.parse(&mut parsed, parser.algorithm()).unwrap();
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
fn threads_do_not_change_the_model() {
    let sentences = treebank(30);
    let one = trained(&sentences, &ParserSettings { threads: 1, ..small(2) });
    let three = trained(&sentences, &ParserSettings { threads: 3, ..small(2) });
    assert_eq!(one, three);
}

#[test]
fn projective_models_and_comparison_decoders_work() {
    let sentences = treebank(30);
    let settings = ParserSettings { projective: true, ..small(1) };
    let model = train(&sentences, Some(&sentences), &settings, &mut |_| {}, None).unwrap();
    assert!(model.accuracy.unwrap() > 0.9);
    assert!(matches!(
        train(&sentences, None, &ParserSettings { projective: true, ..small(2) }, &mut |_| {}, None),
        Err(ParserError::Projective)
    ));
    let parser = train(&sentences, None, &small(2), &mut |_| {}, None).unwrap().open().unwrap();
    for algorithm in [Algorithm::Subgradient, Algorithm::Exact] {
        let mut parsed = sentences.clone();
        let units = parser.parse(&mut parsed, algorithm).unwrap();
        assert!(units.iter().all(|unit| unit.certificate.bound() >= unit.certificate.value().unwrap()));
        let all = units.iter().all(|unit| unit.certificate.is_optimal());
        assert!(all || algorithm == Algorithm::Subgradient);
    }
    assert!(matches!(
        parser.parse(&mut sentences.clone(), Algorithm::Projective),
        Err(ParserError::Projective)
    ));
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
        let error = train(&sentences, None, &small(1), &mut |_| {}, None).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        let mut skipped = 0;
        let settings = ParserSettings { skip_broken: true, ..small(1) };
        train(
            &sentences,
            None,
            &settings,
            &mut |step| skipped += usize::from(matches!(step, Progress::Skipped(_))),
            None,
        )
        .unwrap();
        assert_eq!(skipped, 1);
    }
}

#[test]
fn long_short_and_bare_sentences_are_parsed() {
    let parser = train(&treebank(20), None, &small(3), &mut |_| {}, None).unwrap().open().unwrap();
    let bare = |words: usize| {
        let text: String = (1..=words).map(|i| format!("{i}\tw\t_\t_\t_\t_\t_\t_\t_\t_\n")).collect();
        Sentence::from_conllu(&(text + "\n")).unwrap()
    };
    let mut sentences = vec![bare(1), bare(2), bare(120)];
    parser.parse(&mut sentences, Algorithm::Ad3).unwrap();
    for sentence in &sentences {
        assert!(sentence.tree().unwrap().is_tree());
        assert_eq!(sentence.heads().iter().filter(|&&head| head == 0).count(), 1);
    }
}

#[test]
fn several_roots_are_learned_where_allowed() {
    let mut sentences = treebank(10);
    sentences.extend((0..20).map(|_| with_heads(&["0", "0"])));
    let settings = ParserSettings { single_root: false, ..small(2) };
    let parser = train(&sentences, None, &settings, &mut |_| {}, None).unwrap().open().unwrap();
    let mut found = vec![with_heads(&["_", "_"])];
    parser.parse(&mut found, Algorithm::Ad3).unwrap();
    assert_eq!(found[0].heads(), [0, 0]);
}

#[test]
fn strongest_weights_have_names() {
    let parser = train(&treebank(40), None, &small(3), &mut |_| {}, None).unwrap().open().unwrap();
    let strongest = parser.strongest(30);
    assert_eq!(strongest.len(), 30);
    assert!(strongest.windows(2).all(|pair| pair[0].weight.abs() >= pair[1].weight.abs()));
    assert!(strongest.iter().all(|strength| strength.weight != 0.0));
    let kinds = [
        "arc ",
        "siblings ",
        "any siblings ",
        "grandparent ",
        "grand-siblings ",
        "tri-siblings ",
        "head bigram",
    ];
    for strength in &strongest {
        assert!(kinds.iter().any(|kind| strength.feature.starts_with(kind)), "{}", strength.feature);
    }
    assert!(parser.strongest(0).is_empty());
}

#[test]
fn ignored_columns_change_nothing() {
    let settings = ParserSettings { ignored: IgnoredColumns { lemmas: true, features: true }, ..small(2) };
    let sentences = treebank(30);
    let parser = train(&sentences, None, &settings, &mut |_| {}, None).unwrap().open().unwrap();
    let mut plain = sentences.clone();
    let mut rich = sentences.clone();
    for sentence in &mut rich {
        for word in 0..sentence.len() {
            sentence.set(word, Layer::Lemma, "some").unwrap();
            sentence.set(word, Layer::Feats, "Case=Nom|Number=Sing").unwrap();
        }
    }
    let algorithm = parser.algorithm();
    let certificates = |units: Vec<Parsed>| -> Vec<f64> {
        units.iter().map(|unit| unit.certificate.value().unwrap()).collect()
    };
    let expected = certificates(parser.parse(&mut plain, algorithm).unwrap());
    assert_eq!(certificates(parser.parse(&mut rich, algorithm).unwrap()), expected);
    assert!(plain.iter().zip(&rich).all(|(a, b)| a.heads() == b.heads()));
}

#[test]
fn training_goes_on_from_its_checkpoint() {
    let sentences = treebank(30);
    let folder = std::env::temp_dir().join(format!("consonant-parser-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let whole = trained(&sentences, &small(2));
    let settings = ParserSettings { checkpoint: Some(folder.join("state")), ..small(2) };
    // Interrupted after the first epoch, then run again.
    let stop = AtomicBool::new(false);
    let mut after_first = |step: Progress<'_>| {
        if matches!(step, Progress::Epoch(_)) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    train(&sentences, None, &settings, &mut after_first, Some(&stop)).unwrap();
    assert!(folder.join("state").exists());
    assert_eq!(trained(&sentences, &settings), whole);
    assert!(!folder.join("state").exists());
    std::fs::remove_dir_all(&folder).unwrap();
}
