//! The whole way: text to model to predictions, with and without agreement.

use std::sync::atomic::{AtomicBool, Ordering};

use consonant_learn::model::Model;
use consonant_map::proof::ProofOptions;
use consonant_map::solver::Method;
use consonant_ner::{Consistency, LabelScheme, Ner, NerError, NerOptions, NerSettings, Scope};
use consonant_sequence::Algorithm;
use consonant_task::{Batch, Data, Event, Reads, Settings as _, Solver, Task, Trained, Watch};
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
    NerSettings::new().consistency(consistency).epochs(6)
}

fn train(text: &[Sentence], settings: &NerSettings) -> Result<Trained, NerError> {
    Ner::train(&Data::new(text), settings, &mut Watch::none())
}

fn trained(settings: NerSettings, marked: bool) -> Ner {
    let (text, dev) = (read(&documents(30, 1, marked)), read(&documents(10, 2, marked)));
    let trained = Ner::train(&Data::new(&text).with_dev(&dev), &settings, &mut Watch::none()).unwrap();
    assert!(trained.score.unwrap() > 0.9, "{}", trained.summary);
    Ner::open(&trained.open().unwrap()).unwrap()
}

fn by(method: Method) -> NerOptions {
    NerOptions::new().decoder(Some(Solver(method)))
}

fn decode(model: &Ner, text: &str) -> String {
    let mut sentences = read(text);
    model.decode(&mut sentences, &NerOptions::new()).unwrap();
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
    for &consistency in Consistency::ALL {
        for scheme in [LabelScheme::Bio, LabelScheme::Bioes, LabelScheme::Io] {
            let model = trained(settings(consistency).scheme(scheme).strength(1.0), true);
            assert_eq!(model.consistency(), consistency);
            let batch = match consistency {
                Consistency::None => Batch::Documents(4096),
                _ => Batch::MarkedDocuments(4096),
            };
            assert_eq!(model.batch(), batch);
            assert_eq!(model.reads(), Reads::Tokens);
            assert_eq!(model.types(), ["PER", "LOC"]);
            assert_eq!(decode(&model, &blank), text, "{consistency} {scheme:?}");
        }
    }
}

#[test]
fn chains_and_ties_are_learned_together() {
    let text = documents(10, 3, true);
    for consistency in [Consistency::Patterns, Consistency::Equal] {
        let model = trained(settings(consistency).joint(true), true);
        assert_eq!((model.consistency(), model.strength()), (consistency, 1.0));
        assert_eq!(decode(&model, &text), text, "{consistency}");
    }
    let settings = settings(Consistency::Equal).joint(true).training(Algorithm::Likelihood);
    let error = train(&read(&text), &settings).unwrap_err();
    assert!(error.to_string().contains("averaged-perceptron"), "{error}");
}

#[test]
fn the_strength_of_a_prediction_can_be_given() {
    let model = trained(settings(Consistency::Words).strength(1.0), true);
    let text = documents(10, 3, true);
    let at = |model: &Ner, options: NerOptions| {
        let mut sentences = read(&text);
        let units = model.decode(&mut sentences, &options).unwrap();
        units.iter().map(|unit| unit.certificate.value().unwrap()).sum::<f64>()
    };
    let alone = at(&model.alone(), NerOptions::new());
    let none = at(&model, NerOptions::new().strength(0.0));
    assert!((alone - none).abs() < 1e-3 * alone.abs(), "{alone} {none}");
    let own = at(&model, NerOptions::new());
    assert_eq!(own, at(&model, NerOptions::new().strength(1.0)));
    assert!((own - none).abs() > 1e-3 * own.abs(), "words have scores: {own} {none}");
}

#[test]
fn units_carry_certificates() {
    let model = trained(settings(Consistency::Patterns), true);
    let mut sentences = read(&documents(5, 4, true));
    let mut values = Vec::new();
    for method in [Method::TwoSlave, Method::SpanningTrees, Method::Ad3, Method::Exact, Method::TreeCut] {
        let units = model.decode(&mut sentences, &by(method)).unwrap();
        assert_eq!(units.len(), 5);
        assert_eq!(units.iter().map(|unit| unit.tokens).sum::<usize>(), 75);
        assert!(units.iter().all(|unit| unit.certificate.bound() >= unit.certificate.value().unwrap()));
        values.push(units.iter().filter_map(|unit| unit.certificate.value()).sum::<f64>());
    }
    assert!(values.iter().all(|value| (value - values[3]).abs() < 1e-3 * values[3].abs()), "{values:?}");
    let refused = model.decode(&mut sentences, &by(Method::Subgradient)).unwrap_err();
    assert!(matches!(&refused, NerError::Usage(usage) if usage.0.contains("two-slave")), "{refused}");
    let problems = model.problems(&sentences, &by(Method::Exact)).unwrap().unwrap();
    assert_eq!(problems.len(), 5);
    let proven = problems.iter().map(|answered| answered.prove(&ProofOptions::default()).unwrap().1);
    let total: f64 = proven.filter(|proven| proven.is_optimal()).filter_map(|proven| proven.value()).sum();
    assert!((total - values[3]).abs() < 1e-3 * values[3].abs(), "{total} {values:?}");
}

#[test]
fn words_agree_by_document_or_over_the_set() {
    for scope in [Scope::Document, Scope::Set] {
        let model = trained(settings(Consistency::Words).scope(scope).strength(1.0), true);
        let mut sentences = read(&documents(5, 4, true));
        for options in [NerOptions::new(), by(Method::Ad3)] {
            let units = model.decode(&mut sentences, &options).unwrap();
            assert_eq!(units.len(), if scope == Scope::Set { 1 } else { 5 });
            assert!(units.iter().all(|unit| unit.certificate.bound() >= unit.certificate.value().unwrap()));
        }
    }
}

#[test]
fn threads_change_nothing() {
    for &consistency in Consistency::ALL {
        let outcome = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let text = read(&documents(20, 1, true));
                let data = Data::new(&text).with_dev(&text);
                let trained = Ner::train(&data, &settings(consistency), &mut Watch::none()).unwrap();
                let mut sentences = read(&documents(10, 5, true));
                let model = Ner::open(&trained.open().unwrap()).unwrap();
                let units = model.decode(&mut sentences, &NerOptions::new()).unwrap();
                let certificates = units.iter().map(|unit| unit.certificate);
                let bits: Vec<(Option<u64>, u64)> = certificates
                    .map(|certificate| (certificate.value().map(f64::to_bits), certificate.bound().to_bits()))
                    .collect();
                (
                    trained.model.to_bytes(),
                    bits,
                    sentences.iter().map(ToString::to_string).collect::<String>(),
                )
            })
        };
        assert!(outcome(1) == outcome(3), "{consistency}");
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
    for &consistency in Consistency::ALL {
        let model = trained(settings(consistency).strength(1.0), true);
        for text in odd {
            let labelled = decode(&model, text);
            let again = read(&labelled);
            assert_eq!(again.len(), read(text).len(), "{labelled}");
            assert!(again.iter().all(|sentence| sentence.entities(Scheme::Iob2).is_ok()), "{labelled}");
        }
        // One name, again and again.
        let many = "in\tO\nBonn\tO\n.\tO\n\n".repeat(3000);
        assert_eq!(decode(&model, &many).matches("B-LOC").count(), 3000);
    }
}

/// Every label of every word would stay open in agreement.
#[test]
fn words_of_very_long_sentences_are_not_tied_and_the_certificate_says_so() {
    let model = trained(settings(Consistency::Patterns).strength(1.0), true);
    let long = "in\tO\nBonn\tO\nMr.\tO\nAnn\tO\nSmith\tO\n,\tO\n".repeat(20_000);
    let short = "in\tO\nBonn\tO\n.\tO\n\n".repeat(2);
    let text = format!("-DOCSTART-\tO\n\n{long}\n{short}-DOCSTART-\tO\n\n{short}");
    let mut sentences = read(&text);
    let units = model.decode(&mut sentences, &NerOptions::new()).unwrap();
    let bounds: Vec<f64> = units.iter().map(|unit| unit.certificate.bound()).collect();
    assert_eq!(bounds[0], f64::INFINITY);
    assert!(!units[0].certificate.is_optimal() && units[1].certificate.is_optimal(), "{bounds:?}");
    let ties = model.ties(&sentences);
    assert!(!ties.is_empty() && ties.iter().flat_map(|tie| &tie.places).all(|place| place.0 > 0));
}

#[test]
fn data_without_marks_is_grouped_by_shared_words() {
    for consistency in [Consistency::Words, Consistency::Patterns] {
        let model = trained(settings(consistency), false);
        let text = documents(5, 6, false);
        assert_eq!(decode(&model, &text), text);
    }
}

/// What is there when training is interrupted is the chain, so that is what the model has: to the byte the
/// one that was never to agree.
#[test]
fn an_interrupted_training_leaves_agreement_out_and_says_so() {
    let (text, dev) = (read(&documents(50, 1, true)), read(&documents(10, 2, true)));
    let interrupted = |consistency, dev: Option<&[Sentence]>| {
        let stop = AtomicBool::new(false);
        let mut at_the_second = |event: Event| {
            if let Event::Epoch { report, metric: "F", .. } = event {
                stop.store(report.epoch == 2, Ordering::Relaxed);
            }
        };
        let mut watch = Watch::with(&mut at_the_second);
        watch.stop = Some(&stop);
        let mut data = Data::new(&text);
        data.dev = dev;
        Ner::train(&data, &settings(consistency), &mut watch).unwrap()
    };
    for (dev, bias) in [(Some(&dev[..]), ""), (None, "the choice of a bias")] {
        let alone = interrupted(Consistency::None, dev);
        assert!(alone.epoch <= 2 && alone.summary.contains("interrupted"), "{}", alone.summary);
        assert!(alone.summary.ends_with(&format!("{bias})")), "{}", alone.summary);
        for consistency in [Consistency::Words, Consistency::Patterns] {
            let Trained { model, summary, .. } = interrupted(consistency, dev);
            let joined = if bias.is_empty() { String::new() } else { format!("{bias} and ") };
            assert!(summary.ends_with(&format!("but for {joined}the agreement of labels)")), "{summary}");
            assert!(model.to_bytes() == alone.model.to_bytes(), "{consistency}");
        }
    }
}

#[test]
fn templates_with_pairs_of_labels_and_other_algorithms_work() {
    let file = std::env::temp_dir().join(format!("consonant-ner-{}.templates", std::process::id()));
    std::fs::write(&file, "U0:%x[0,0]\nU1:%x[-1,0]\nU2:%h[0,0]\nB0:%h[-1,0]/%h[0,0]\n").unwrap();
    for (algorithm, consistency) in [
        (Algorithm::AveragedPerceptron, Consistency::Patterns),
        (Algorithm::Likelihood, Consistency::Words),
        (Algorithm::Memm, Consistency::None),
    ] {
        let settings = NerSettings::new().consistency(consistency).training(algorithm);
        trained(settings.template(Some(file.clone().into())), true);
    }
    std::fs::write(&file, "%x").unwrap();
    let wrong = NerSettings::new().template(Some(file.clone().into()));
    let refused = train(&read(&documents(3, 1, true)), &wrong);
    std::fs::remove_file(&file).unwrap();
    assert!(matches!(refused, Err(NerError::Feature(_))), "{refused:?}");
}

#[test]
fn what_cannot_be_learned_is_an_error() {
    let settings = NerSettings::new();
    assert!(matches!(train(&read("Ann\tO\n\n"), &settings), Err(NerError::NoEntities)));
    assert!(matches!(train(&[], &settings), Err(NerError::NoEntities)));
    let text = read(&documents(3, 1, true));
    let mut data = Data::new(&text);
    data.tagged = true;
    assert!(matches!(Ner::train(&data, &settings, &mut Watch::none()), Err(NerError::NoTags)));
    assert!(NerSettings::new().bias(f32::NAN).check().is_err());
}

#[test]
fn a_model_of_tags_wants_tags() {
    let conllu = |tag: &str, label: &str| {
        let text =
            format!("1\tAnn\t_\t{tag}\t_\t_\t_\t_\t_\tNER={label}\n2\tleft\t_\t_\t_\t_\t_\t_\t_\t_\n\n");
        vec![Sentence::from_conllu(&text).unwrap()]
    };
    let text = conllu("PROPN", "B-PER");
    let mut data = Data::new(&text);
    data.tagged = true;
    let settings = NerSettings::new().min_count(1u32);
    let trained = Ner::train(&data, &settings, &mut Watch::none()).unwrap();
    let model = Ner::open(&trained.open().unwrap()).unwrap();
    assert_eq!(model.reads(), Reads::Tags);
    data.tagged = false;
    let file = std::env::temp_dir().join(format!("consonant-tags-{}.template", std::process::id()));
    std::fs::write(&file, "U00:%x[0,0]\nU01:%m[0,tag,\"^[^|]*\"]\n").unwrap();
    let given = Ner::train(&data, &settings.template(Some(file.clone().into())), &mut Watch::none()).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(Ner::open(&given.open().unwrap()).unwrap().reads(), Reads::Tags);
    let options = NerOptions::new().marginals(true).n_best(2usize);
    let refused = model.decode(&mut conllu("_", "O"), &options).unwrap_err();
    assert!(refused.to_string().contains("--tagger MODEL"), "{refused}");
    let mut tagged = conllu("PROPN", "O");
    model.decode(&mut tagged, &options).unwrap();
    let tagged = tagged[0].to_string();
    assert!(
        tagged.contains("NER=B-PER") && tagged.contains("Prob=") && tagged.contains("# entities_2 = "),
        "{tagged}"
    );
}

/// As files had them before settings were stored whole.
#[test]
fn settings_of_older_models_are_read() {
    let stored = r#"{"consistency":"words","scheme":"iob2","bias":1.5,"strength":0.5,"scope":"set","evidence":false,
        "algorithm":"averaged-perceptron","parameters":[["margin",14.0]],"written":"bilou","tags":true,"margin":14.0}"#;
    let settings: NerSettings = serde_json::from_str(stored).unwrap();
    let expected =
        settings.clone().consistency(Consistency::Words).scheme(LabelScheme::Bio).scope(Scope::Set);
    assert_eq!(settings, expected.bias(1.5).strength(0.5).evidence(false));
    assert_eq!(settings.shown("scheme").as_deref(), Some("bio"));
}

#[test]
fn damaged_models_are_refused() {
    let trained = train(&read(&documents(5, 1, true)), &settings(Consistency::Patterns)).unwrap();
    let bytes = trained.model.to_bytes();
    for cut in [0, 10, bytes.len() / 2, bytes.len() - 1] {
        assert!(Model::from_bytes(&bytes[..cut]).is_err());
    }
}

#[test]
fn any_recognizer_can_be_made_to_agree_or_to_stand_alone() {
    let text = documents(6, 5, true);
    let (none, patterns) =
        (trained(settings(Consistency::None), true), trained(settings(Consistency::Patterns), true));
    assert_eq!(decode(&none.agreeing(0.0), &text), decode(&none, &text));
    assert_eq!(decode(&patterns.alone(), &text), decode(&patterns.agreeing(0.0), &text));
    assert_eq!(
        (none.agreeing(1.0).consistency(), patterns.alone().consistency()),
        (Consistency::Patterns, Consistency::None)
    );
    let mut sentences =
        read("-DOCSTART-\tO\n\nMr.\tO\nXu\tO\nSmith\tO\nspoke\tO\n\nXu\tO\nSmith\tO\nleft\tO\n");
    let strong = none.agreeing(50.0);
    let ties = strong.ties(&sentences);
    assert_eq!(ties[0].places, [(0, 1..3), (1, 0..2)], "the phrase comes first");
    assert_eq!(ties.len(), 3);
    assert!(none.ties(&sentences).is_empty());
    let units = strong.decode(&mut sentences, &NerOptions::new()).unwrap();
    assert!(units.iter().all(|unit| unit.certificate.is_optimal()));
    let labels = |sentence: usize, word: usize| sentences[sentence].entity_label(word);
    assert_eq!([labels(0, 1), labels(0, 2)], [labels(1, 0), labels(1, 1)]);
    assert_ne!(labels(0, 1), "O");
}

#[test]
fn a_hyphen_without_blanks_joins_names_as_the_data_do() {
    // Without blanks a hyphen stands inside of a name, with blanks between two.
    let row = |number: usize, form: &str, touches: bool, label: &str| {
        let space = if touches { "SpaceAfter=No|" } else { "" };
        format!("{number}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{space}NER={label}\n")
    };
    let pair = |first: &str, second: &str, touches: bool| {
        let (hyphen, last) = if touches { ("I-PER", "I-PER") } else { ("O", "B-PER") };
        let rows =
            [row(1, first, touches, "B-PER"), row(2, "-", touches, hyphen), row(3, second, false, last)];
        rows.concat() + &row(4, "spoke", false, "O") + "\n"
    };
    let text = |skip: usize| -> Vec<Sentence> {
        let pairs = PEOPLE.iter().flat_map(|first| PLACES.iter().map(move |second| (first, second)));
        let both = pairs.skip(skip).step_by(2).flat_map(|(a, b)| [pair(a, b, true), pair(a, b, false)]);
        let text: String = both.collect();
        SentenceReader::conllu(text.as_bytes(), "test").collect::<Result<_, _>>().unwrap()
    };
    let model = train(&text(0), &settings(Consistency::None)).unwrap();
    let model = Ner::open(&model.open().unwrap()).unwrap();
    let mut found = text(1);
    model.decode(&mut found, &NerOptions::new()).unwrap();
    let labels = |sentences: &[Sentence]| -> Vec<String> {
        let words =
            sentences.iter().flat_map(|sentence| (0..sentence.len()).map(|word| sentence.entity_label(word)));
        words.map(str::to_owned).collect()
    };
    let (found, gold) = (labels(&found), labels(&text(1)));
    let right = found.iter().zip(&gold).filter(|(found, gold)| found == gold).count();
    assert!(right * 20 >= gold.len() * 19, "{right} of {}", gold.len());
}

#[test]
fn a_recognizer_is_gone_on_from() {
    let more = "Zork\tB-ORG\nsells\tO\nnets\tO\n\nShe\tO\nlives\tO\nthere\tO\n\nThen\tO\nhe\tO\nleft\tO\n\n"
        .repeat(12);
    let first = train(&read(&documents(30, 1, true)), &settings(Consistency::None)).unwrap().open().unwrap();
    let new = read(&more);
    let mut data = Data::new(&new);
    data.initial = Some(&first);
    let second = Ner::train(&data, &settings(Consistency::None), &mut Watch::none()).unwrap();
    let second = Ner::open(&second.open().unwrap()).unwrap();
    assert_eq!(decode(&second, "Zork\tO\nsells\tO\nnets\tO\n\n"), "Zork\tB-ORG\nsells\tO\nnets\tO\n\n");
    let known = "He\tO\nlives\tO\nin\tO\nBonn\tB-LOC\n.\tO\n\n";
    assert_eq!(decode(&second, &known.replace("B-LOC", "O")), known, "what it knew, it still knows");
    let other = settings(Consistency::None).scheme(LabelScheme::Bio);
    let refused = Ner::train(&data, &other, &mut Watch::none()).unwrap_err().to_string();
    assert!(refused.contains("another scheme of labels"), "{refused}");
}

#[test]
fn the_mean_of_several_orders_is_a_recognizer_of_its_own() {
    let text = read(&documents(20, 4, true));
    let bytes =
        |orders: usize| train(&text, &settings(Consistency::None).orders(orders)).unwrap().model.to_bytes();
    let (one, three) = (bytes(1), bytes(3));
    assert_eq!(three, bytes(3));
    let open = |bytes: &[u8]| Ner::open(&Model::from_bytes(bytes).unwrap()).unwrap();
    let blank = "He\tO\nlives\tO\nin\tO\nBonn\tO\n.\tO\n\n";
    assert_eq!(decode(&open(&three), blank), blank.replace("Bonn\tO", "Bonn\tB-LOC"));
    assert_eq!(decode(&open(&one), blank), decode(&open(&three), blank));
    assert_ne!(one, three);
}
