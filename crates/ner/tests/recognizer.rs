//! The whole way: text to model to predictions, with and without agreement.

use std::sync::atomic::{AtomicBool, Ordering};

use consonant_learn::model::Model;
use consonant_learn::trainer::{EpochReport, Stop};
use consonant_map::solver::Method;
use consonant_ner::{Consistency, NerError, NerModel, NerSettings, Request, Scope, train};
use consonant_sequence::Algorithm;
use consonant_text::entity::Scheme;
use consonant_text::{Columns, Sentence, SentenceReader};

const PEOPLE: [&str; 8] = ["Ann", "Bob", "Cy", "Dora", "Ed", "Fay", "Gus", "Hal"];
const PLACES: [&str; 8] = ["Accra", "Bonn", "Cairo", "Delhi", "Essen", "Fargo", "Graz", "Hanoi"];

fn read(text: &str) -> Vec<Sentence> {
    SentenceReader::columns(text.as_bytes(), "test", Columns::default()).collect::<Result<_, _>>().unwrap()
}

/// Documents in which each name is clear once, and then stands alone.
fn documents(count: usize, seed: u64, marked: bool) -> String {
    let mut state = seed;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut text = String::new();
    for _ in 0..count {
        if marked {
            text.push_str("-DOCSTART-\tO\n\n");
        }
        let person = PEOPLE[below(8)];
        let place = PLACES[below(8)];
        text.push_str(&format!("Mr.\tO\n{person}\tB-PER\nSmith\tI-PER\nspoke\tO\n.\tO\n\n"));
        text.push_str(&format!("He\tO\nlives\tO\nin\tO\n{place}\tB-LOC\n.\tO\n\n"));
        match below(2) {
            0 => text.push_str(&format!("Then\tO\n{person}\tB-PER\nSmith\tI-PER\nleft\tO\n.\tO\n\n")),
            _ => text.push_str(&format!("Then\tO\n{place}\tB-LOC\nwas\tO\nquiet\tO\n.\tO\n\n")),
        }
    }
    text
}

fn settings(consistency: Consistency) -> NerSettings {
    NerSettings { consistency, epochs: Some(6), ..NerSettings::default() }
}

fn trained(settings: NerSettings, marked: bool) -> NerModel {
    let (text, dev) = (read(&documents(30, 1, marked)), read(&documents(10, 2, marked)));
    let trained = train(&text, Some(&dev), settings, &mut |_| {}, None).unwrap();
    assert!(trained.f1.unwrap() > 0.9, "{:?}", trained.f1);
    NerModel::open(&Model::from_bytes(&trained.model.to_bytes()).unwrap()).unwrap()
}

fn decode(model: &NerModel, text: &str, method: Option<Method>) -> String {
    let mut sentences = read(text);
    let request = Request { method, ..Request::default() };
    model.decoder().unwrap().decode(&mut sentences, &request).unwrap();
    sentences.iter().map(ToString::to_string).collect()
}

#[test]
fn every_kind_of_agreement_learns_and_labels() {
    let text = documents(10, 3, true);
    let blank: String = text
        .lines()
        .map(|line| {
            line.split('\t').next().map_or(String::new(), |word| {
                if word.is_empty() { "\n".into() } else { format!("{word}\tO\n") }
            })
        })
        .collect();
    for consistency in Consistency::ALL {
        for scheme in [Scheme::Iob2, Scheme::Bioes] {
            let model = trained(NerSettings { scheme, strength: Some(1.0), ..settings(consistency) }, true);
            assert_eq!(model.consistency(), consistency);
            assert_eq!(model.types(), ["PER", "LOC"]);
            assert_eq!(decode(&model, &blank, None), text, "{consistency:?} {scheme}");
        }
    }
}

#[test]
fn units_carry_certificates() {
    let model = trained(settings(Consistency::Patterns), true);
    let mut sentences = read(&documents(5, 4, true));
    let decoder = model.decoder().unwrap();
    let mut values = Vec::new();
    for method in [Method::TwoSlave, Method::SpanningTrees, Method::Ad3, Method::Exact] {
        let units =
            decoder.decode(&mut sentences, &Request { method: Some(method), ..Request::default() }).unwrap();
        assert_eq!(units.len(), 5);
        assert_eq!(units.iter().map(|unit| unit.tokens).sum::<usize>(), 75);
        assert!(units.iter().all(|unit| unit.certificate.value() <= Some(unit.certificate.bound())));
        values.push(units.iter().filter_map(|unit| unit.certificate.value()).sum::<f64>());
    }
    assert!(values.iter().all(|value| (value - values[3]).abs() < 1e-3 * values[3].abs()), "{values:?}");
    let refused = decoder
        .decode(&mut sentences, &Request { method: Some(Method::Subgradient), ..Request::default() })
        .unwrap_err();
    assert!(refused.to_string().contains("two-slave"), "{refused}");
}

#[test]
fn words_agree_by_document_or_over_the_set() {
    for scope in [Scope::Document, Scope::Set] {
        let strength = Some(1.0);
        let model =
            trained(NerSettings { scope: Some(scope), strength, ..settings(Consistency::Words) }, true);
        let mut sentences = read(&documents(5, 4, true));
        let decoder = model.decoder().unwrap();
        for method in [None, Some(Method::Ad3)] {
            let units = decoder.decode(&mut sentences, &Request { method, ..Request::default() }).unwrap();
            assert_eq!(units.len(), if scope == Scope::Set { 1 } else { 5 });
            assert!(units.iter().all(|unit| unit.certificate.value() <= Some(unit.certificate.bound())));
        }
    }
}

#[test]
fn threads_change_nothing() {
    for consistency in Consistency::ALL {
        let outcome = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let text = read(&documents(20, 1, true));
                let settings = NerSettings { threads, ..settings(consistency) };
                let model = train(&text, Some(&text), settings, &mut |_| {}, None).unwrap().model.to_bytes();
                let mut sentences = read(&documents(10, 5, true));
                let decoder = NerModel::from_bytes(&model).unwrap();
                let units = decoder.decoder().unwrap().decode(&mut sentences, &Request::default()).unwrap();
                let units: Vec<(Option<f64>, f64)> =
                    units.iter().map(|unit| (unit.certificate.value(), unit.certificate.bound())).collect();
                (model, units, sentences.iter().map(ToString::to_string).collect::<String>())
            })
        };
        assert!(outcome(1) == outcome(3), "{consistency:?}");
    }
}

#[test]
fn odd_input_is_labelled_all_the_same() {
    let odd = [
        "",
        "-DOCSTART-\tO\n\n",
        "-DOCSTART-\tO\n\nAnn\tO\n\n-DOCSTART-\tO\n\n-DOCSTART-\tO\n\nBonn\tO\n\n",
        // Unknown classes, labels of no scheme, an entity that crosses sentences.
        "Ann\tB-ANIMAL\nBonn\tI-LOC\n\nBonn\tI-LOC\n.\tquite\n\n",
    ];
    for consistency in Consistency::ALL {
        let model = trained(NerSettings { strength: Some(1.0), ..settings(consistency) }, true);
        for text in odd {
            let labelled = decode(&model, text, None);
            let again = read(&labelled);
            assert_eq!(again.len(), read(text).len(), "{labelled}");
            assert!(again.iter().all(|sentence| sentence.entities(Scheme::Iob2).is_ok()), "{labelled}");
        }
        // One name, again and again.
        let many = "in\tO\nBonn\tO\n.\tO\n\n".repeat(3000);
        assert_eq!(decode(&model, &many, None).matches("B-LOC").count(), 3000);
    }
}

#[test]
fn data_without_marks_is_grouped_by_shared_words() {
    for consistency in [Consistency::Words, Consistency::Patterns] {
        let model = trained(settings(consistency), false);
        let text = documents(5, 6, false);
        assert_eq!(decode(&model, &text, None), text);
    }
}

/// What is there when training is interrupted is the chain, so that is what the model has: to the byte the one that was never to
/// agree.
#[test]
fn an_interrupted_training_leaves_agreement_out_and_says_so() {
    let (text, dev) = (read(&documents(50, 1, true)), read(&documents(10, 2, true)));
    let interrupted = |consistency, dev| {
        let stop = AtomicBool::new(false);
        let mut at_the_second = |epoch: &EpochReport| stop.store(epoch.epoch == 2, Ordering::Relaxed);
        train(&text, dev, settings(consistency), &mut at_the_second, Some(&stop)).unwrap()
    };
    for (dev, bias) in [(Some(&dev[..]), None), (None, Some("the choice of a bias"))] {
        let alone = interrupted(Consistency::None, dev);
        assert!(alone.stop == Stop::Interrupted && alone.epoch <= 2);
        assert_eq!(alone.left_out, bias.as_slice());
        for consistency in [Consistency::Words, Consistency::Patterns] {
            let trained = interrupted(consistency, dev);
            assert_eq!((trained.stop, trained.consistency), (Stop::Interrupted, Consistency::None));
            assert_eq!(trained.left_out.last(), Some(&"the agreement of labels"));
            assert_eq!(trained.left_out.len(), 1 + bias.iter().len());
            assert!(trained.model.to_bytes() == alone.model.to_bytes(), "{consistency:?}");
        }
    }
}

#[test]
fn templates_with_pairs_of_labels_and_other_algorithms_work() {
    let templates = "U0:%x[0,0]\nU1:%x[-1,0]\nU2:%h[0,0]\nB0:%h[-1,0]/%h[0,0]\n".to_owned();
    for (algorithm, consistency) in [
        (Algorithm::AveragedPerceptron, Consistency::Patterns),
        (Algorithm::Likelihood, Consistency::Words),
        (Algorithm::Memm, Consistency::None),
    ] {
        let mut settings = settings(consistency);
        settings.training = algorithm.into();
        settings.templates = Some(templates.clone());
        settings.epochs = None;
        trained(settings, true);
    }
}

#[test]
fn what_cannot_be_learned_is_an_error() {
    let text = read("Ann\tO\n\n");
    assert!(matches!(
        train(&text, None, NerSettings::default(), &mut |_| {}, None),
        Err(NerError::NoEntities)
    ));
    assert!(matches!(train(&[], None, NerSettings::default(), &mut |_| {}, None), Err(NerError::NoEntities)));
    let text = read(&documents(3, 1, true));
    let wrong = NerSettings { templates: Some("%x".to_owned()), ..NerSettings::default() };
    assert!(train(&text, None, wrong, &mut |_| {}, None).is_err());
}

#[test]
fn damaged_models_are_refused() {
    let text = read(&documents(5, 1, true));
    let trained = train(&text, None, settings(Consistency::Patterns), &mut |_| {}, None).unwrap();
    let bytes = trained.model.to_bytes();
    for cut in [0, 10, bytes.len() / 2, bytes.len() - 1] {
        assert!(NerModel::from_bytes(&bytes[..cut]).is_err());
    }
}
