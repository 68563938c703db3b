//! Taggers from end to end on small data made here.

use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::settings::{InputFile, Named};
use consonant_learn::trainer::TrainingAlgorithm;
use consonant_sequence::Algorithm;
use consonant_tagger::{Column, Tagger, TaggerError, TaggerOptions, TaggerSettings};
use consonant_task::{Data, Task, Trained, Watch};
use consonant_text::{Sentence, SentenceReader};

/// Sentences of a language where the ending tells the tag, but for one word that only the word before
/// decides.
fn corpus(sentences: usize, seed: u64) -> Vec<Sentence> {
    let mut state = seed;
    let mut below = |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % most
    };
    let stems = ["bal", "tor", "min", "kes", "lup", "gar", "vod", "fis"];
    let mut text = String::new();
    for _ in 0..sentences {
        let mut rows = vec![("un".to_owned(), "DET", "_")];
        let noun = format!("{}o", stems[below(stems.len())]);
        rows.push(if below(4) == 0 {
            ("para".to_owned(), "NOUN", "Number=Sing")
        } else {
            (noun, "NOUN", "Number=Sing")
        });
        if below(2) == 0 {
            rows.push((format!("{}ica", stems[below(stems.len())]), "ADJ", "_"));
        }
        rows.push(if below(4) == 0 {
            ("para".to_owned(), "VERB", "Mood=Ind")
        } else {
            (format!("{}ar", stems[below(stems.len())]), "VERB", "Mood=Inf")
        });
        rows.push((".".to_owned(), "PUNCT", "_"));
        for (at, (word, upos, feats)) in rows.iter().enumerate() {
            text.push_str(&format!("{}\t{word}\t_\t{upos}\t{}\t{feats}\t_\t_\t_\t_\n", at + 1, &upos[..1]));
        }
        text.push('\n');
    }
    SentenceReader::conllu(text.as_bytes(), "made").collect::<Result<_, _>>().unwrap()
}

fn train(
    sentences: &[Sentence],
    dev: Option<&[Sentence]>,
    settings: TaggerSettings,
) -> Result<Trained, TaggerError> {
    let mut data = Data::new(sentences);
    data.dev = dev;
    Tagger::train(&data, &settings, &mut Watch::none())
}

/// Goes on from a tagger.
fn continued(
    initial: &Trained,
    sentences: &[Sentence],
    settings: TaggerSettings,
) -> Result<Trained, TaggerError> {
    let initial = initial.open()?;
    let mut data = Data::new(sentences);
    data.initial = Some(&initial);
    Tagger::train(&data, &settings, &mut Watch::none())
}

fn open(trained: &Trained) -> Tagger {
    Tagger::open(&trained.open().unwrap()).unwrap()
}

fn accuracy(tagger: &Tagger, gold: &[Sentence]) -> f64 {
    let mut tagged = gold.to_vec();
    tagger.decode(&mut tagged, &TaggerOptions::new()).unwrap();
    let (mut right, mut all) = (0, 0);
    let (mut one, mut other) = (String::new(), String::new());
    for (gold, tagged) in gold.iter().zip(&tagged) {
        for word in 0..gold.len() {
            let column = tagger.column();
            right +=
                usize::from(column.label(gold, word, &mut one) == column.label(tagged, word, &mut other));
            all += 1;
        }
    }
    right as f64 / all as f64
}

fn quick(column: Column) -> TaggerSettings {
    TaggerSettings::new().column(column).epochs(8)
}

#[test]
fn every_algorithm_trains_and_predicts() {
    let (sentences, dev) = (corpus(60, 1), corpus(30, 2));
    for &algorithm in Algorithm::ALL {
        let settings = quick(Column::Upos).training(algorithm).epochs(30);
        let trained = train(&sentences, Some(&dev), settings).unwrap();
        let found = accuracy(&open(&trained), &dev);
        assert!(found > 0.97, "{}: {found}", algorithm.name());
        let reported = trained.score.unwrap();
        assert!(
            (found - reported).abs() < 1e-9,
            "{}: the stored model scores {found}, training said {reported}",
            algorithm.name()
        );
    }
}

#[test]
fn every_column_and_order_is_learned() {
    let (sentences, dev) = (corpus(60, 1), corpus(30, 2));
    for &column in Column::ALL.iter().filter(|&&column| column != Column::Lemma) {
        for order in 0..4 {
            let settings = quick(column).order(order);
            let tagger = open(&train(&sentences, Some(&dev), settings).unwrap());
            assert_eq!(tagger.chain().order(), order);
            let found = accuracy(&tagger, &dev);
            assert!(found > 0.95, "{column} {order}: {found}");
        }
    }
}

#[test]
fn labels_made_of_parts_are_shared_explained_and_continued() {
    let (sentences, dev) = (corpus(60, 1), corpus(30, 2));
    let settings = || quick(Column::UposFeats).parts(true);
    let trained = train(&sentences, Some(&dev), settings()).unwrap();
    let first = open(&trained);
    assert_eq!(trained.score, Some(accuracy(&first, &dev)));
    let strongest = first.strongest(1000);
    assert!(strongest.iter().any(|strength| strength.label == "Number=Sing"), "{strongest:?}");
    assert!(strongest.iter().any(|strength| strength.label == "NOUN Number=Sing"), "{strongest:?}");
    // A new label of known parts, beside a new part.
    let text =
        "1\tbalor\t_\tNOUN\t_\tNumber=Plur\t_\t_\t_\t_\n2\ttoror\t_\tADJ\t_\tNumber=Plur\t_\t_\t_\t_\n\n";
    let more = [Sentence::from_conllu(text).unwrap()];
    let second = open(&continued(&trained, &more, quick(Column::UposFeats)).unwrap());
    assert!(second.chain().has_parts());
    assert_eq!(accuracy(&second, &more), 1.0);
    assert!(accuracy(&second, &dev) > 0.9, "what was known is not forgotten");
}

/// Documents of two styles that differ in the tag of full stops alone, and in words that only some of their
/// sentences have.
fn documents(count: usize) -> Vec<Sentence> {
    let mut text = String::new();
    for document in 0..count {
        let (stop, hint) = [("DOT", "thus"), ("END", "well")][document % 2];
        text.push_str(&format!("# newdoc id = {document}\n"));
        for sentence in 0..5 {
            let hint = if sentence < 3 { hint } else { "so" };
            let rows = [(hint, "ADV"), ("it", "PRON"), ("ends", "VERB"), (".", stop)];
            for (at, (word, tag)) in rows.iter().enumerate() {
                text.push_str(&format!("{}\t{word}\t_\t{tag}\t_\t_\t_\t_\t_\t_\n", at + 1));
            }
            text.push('\n');
        }
    }
    SentenceReader::conllu(text.as_bytes(), "made").collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_document_speaks_with_one_voice() {
    let (sentences, dev) = (documents(120), documents(8));
    let tagger = |documents: bool| {
        let settings = quick(Column::Upos).documents(documents);
        let trained = train(&sentences, Some(&dev), settings).unwrap();
        let tagger = open(&trained);
        assert_eq!(trained.score, Some(accuracy(&tagger, &dev)));
        tagger
    };
    let alone = tagger(false);
    assert!(alone.constant_words().is_empty() && accuracy(&alone, &dev) < 1.0);
    let together = tagger(true);
    assert!(together.constant_words().contains(".") && together.constant_words().len() == 1);
    assert_eq!(accuracy(&together, &dev), 1.0);
}

#[test]
fn small_weights_can_be_left_out_of_the_file() {
    let (sentences, dev) = (corpus(60, 1), corpus(30, 2));
    let size_and_loss = |prune: f32| {
        let settings = quick(Column::Upos).prune(prune).half(true);
        let trained = train(&sentences, Some(&dev), settings).unwrap();
        let loss = 100.0 * (trained.score.unwrap() - accuracy(&open(&trained), &dev));
        assert!(trained.summary.contains(&format!("costs {loss:.3} points")), "{}", trained.summary);
        trained.model.to_bytes().len()
    };
    assert!(size_and_loss(1.0) < size_and_loss(0.0));
}

#[test]
fn threads_and_what_was_tagged_before_change_nothing() {
    let (sentences, text) = (corpus(60, 1), corpus(300, 5));
    let pool = |threads: usize| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    // Opened in a smaller pool than it works in.
    let tagger = pool(1).install(|| open(&train(&sentences, None, quick(Column::Upos)).unwrap()));
    let request = TaggerOptions::new().marginals(true).n_best(3usize);
    let tag = |threads: usize| {
        pool(threads).install(|| {
            let mut tagged = text.clone();
            let decoded = tagger.decode(&mut tagged, &request).unwrap();
            let values: Vec<u64> =
                decoded.iter().map(|decoded| decoded.certificate.value().unwrap().to_bits()).collect();
            (values, tagged.iter().map(ToString::to_string).collect::<Vec<_>>())
        })
    };
    let one = tag(1);
    assert_eq!(one, tag(3));
    let alone: Vec<String> = text
        .iter()
        .map(|sentence| {
            let mut tagged = [sentence.clone()];
            tagger.decode(&mut tagged, &request).unwrap();
            tagged[0].to_string()
        })
        .collect();
    assert_eq!(one.1, alone);
    assert!(alone[0].contains("# tags_2 = ") && alone[0].contains("Prob="), "{}", alone[0]);
}

#[test]
fn a_dictionary_limits_labels_and_half_precision_keeps_them() {
    let (sentences, dev) = (corpus(80, 1), corpus(30, 2));
    let settings = quick(Column::Upos).dictionary(2u32).half(true);
    let trained = train(&sentences, Some(&dev), settings).unwrap();
    let tagger = open(&trained);
    assert!((trained.score.unwrap() - accuracy(&tagger, &dev)).abs() < 0.02);
    let labels: Vec<&str> = tagger
        .dictionary()
        .unwrap()
        .get(consonant_learn::hash::key(b"para"))
        .unwrap()
        .iter()
        .map(|&label| tagger.chain().labels().name(label))
        .collect();
    assert_eq!(labels.len(), 2, "{labels:?}");
    assert!(accuracy(&tagger, &dev) > 0.97);
}

#[test]
fn training_continues_with_new_labels() {
    let first = train(&corpus(40, 1), None, quick(Column::Upos)).unwrap();
    let more =
        Sentence::from_conllu("1\tuf\t_\tINTJ\t_\t_\t_\t_\t_\t_\n2\t!\t_\tPUNCT\t_\t_\t_\t_\t_\t_\n\n")
            .unwrap();
    let second = open(&continued(&first, std::slice::from_ref(&more), quick(Column::Upos)).unwrap());
    assert!(second.chain().labels().get("INTJ").is_some());
    assert!(accuracy(&second, &[more]) > 0.99);
    assert!(accuracy(&second, &corpus(30, 2)) > 0.9, "what was known is not forgotten");
    let error = continued(&first, &corpus(2, 1), quick(Column::Xpos)).unwrap_err();
    assert!(error.to_string().contains("column upos"), "{error}");
}

#[test]
fn resources_travel_in_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        InputFile(path)
    };
    let (sentences, dev) = (corpus(60, 1), corpus(20, 2));
    let settings = quick(Column::Upos)
        .clusters(file("c", "010\tpara\n011\tun\n"))
        .gazetteers(vec![Named("articles".to_owned(), file("g", "un\nun balo\n"))])
        .vectors(file("v", "un 0.5 1\npara -1 0.25\n"));
    let tagger = open(&train(&sentences, Some(&dev), settings).unwrap());
    let names: Vec<String> = tagger.explain(&sentences[0]).unwrap().unwrap()[0]
        .contributions
        .iter()
        .map(|part| part.feature.clone())
        .collect();
    for expected in ["U53:011", "U60:", "U70:0"] {
        assert!(names.iter().any(|name| name.starts_with(expected)), "{expected} not in {names:?}");
    }
    assert!(accuracy(&tagger, &dev) > 0.97);
}

#[test]
fn explanations_add_up_and_strong_weights_have_names() {
    let sentences = corpus(60, 1);
    let tagger = open(&train(&sentences, None, quick(Column::Upos)).unwrap());
    for word in tagger.explain(&sentences[0]).unwrap().unwrap() {
        let margin: f32 = word.contributions.iter().map(|part| part.chosen - part.rival).sum();
        assert!(margin > 0.0, "{word:?}");
    }
    let strongest = tagger.strongest(10);
    assert_eq!(strongest.len(), 10);
    assert!(strongest.iter().all(|strength| !strength.feature.starts_with('#')), "{strongest:?}");
    assert!(strongest.windows(2).all(|pair| pair[0].weight.abs() >= pair[1].weight.abs()));
}

#[test]
fn partly_labelled_and_weighted_sentences_count_for_what_they_say() {
    let text = "# weight = 0\n1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n\n1\ta\t_\tNOUN\t_\t_\t_\t_\t_\t_\n2\tb\t_\t_\t_\t_\t_\t_\t_\t_\n3\tc\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n";
    let sentences: Vec<Sentence> =
        SentenceReader::conllu(text.as_bytes(), "t").collect::<Result<_, _>>().unwrap();
    let tagger = open(&train(&sentences, None, quick(Column::Upos)).unwrap());
    let mut tagged = vec![sentences[1].clone()];
    tagger.decode(&mut tagged, &TaggerOptions::new()).unwrap();
    assert_eq!((tagged[0].upos(0), tagged[0].upos(2)), ("NOUN", "VERB"));
    let bad = text.replace("weight = 0", "weight = much");
    let sentences: Vec<Sentence> =
        SentenceReader::conllu(bad.as_bytes(), "t").collect::<Result<_, _>>().unwrap();
    assert!(matches!(train(&sentences, None, quick(Column::Upos)), Err(TaggerError::Weight { .. })));
}

#[test]
fn odd_inputs_are_refused_or_done() {
    assert!(matches!(train(&[], None, quick(Column::Upos)), Err(TaggerError::NoLabels { .. })));
    let other = ModelWriter::new("parser", serde_json::Value::Null);
    let error = Tagger::open(&Model::from_bytes(&other.to_bytes()).unwrap()).unwrap_err().to_string();
    assert!(error.contains("parser"), "{error}");
    let single = vec![Sentence::from_conllu("1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n\n").unwrap()];
    let tagger = open(&train(&single, Some(&single), quick(Column::Upos)).unwrap());
    assert_eq!(accuracy(&tagger, &single), 1.0);
    // A sentence of 50,000 words, labels that training has not seen, and none at all.
    let rows: String =
        (1..=50_000).map(|at| format!("{at}\tw{}\t_\tZ\t_\t_\t_\t_\t_\t_\n", at % 977)).collect();
    let tagger = open(&train(&corpus(20, 1), None, quick(Column::Upos)).unwrap());
    let long = vec![Sentence::from_conllu(&format!("{rows}\n")).unwrap()];
    assert_eq!(accuracy(&tagger, &long), 0.0);
    assert!(tagger.decode(&mut [], &TaggerOptions::new()).unwrap().is_empty());
}

#[test]
fn flipped_bits_are_noticed() {
    let bytes = train(&corpus(10, 1), None, quick(Column::Upos)).unwrap().model.to_bytes();
    for at in (0..bytes.len()).step_by(bytes.len() / 97) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 16;
        // Padding between sections is the one place where a bit may flip unnoticed, and then nothing changes.
        if let Ok(model) = Model::from_bytes(&damaged) {
            assert!(Tagger::open(&model).is_ok());
        }
        assert!(Model::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
    }
}

/// Words that nobody saw in training and that look like others are names where a layer of names says so, and what names say is stored only if
/// it sets words of dev right.
#[test]
fn words_in_names_are_proper_nouns_where_dev_data_shows_it() {
    let text = |word: &str, upos: &str, misc: &str| {
        let row = |id: u8, form: &str, upos: &str, misc: &str| {
            format!("{id}\t{form}\t_\t{upos}\t_\t_\t_\t_\t_\t{misc}\n")
        };
        row(1, "un", "DET", "_") + &row(2, word, upos, misc) + &row(3, "balar", "VERB", "_") + "\n"
    };
    let read = |text: String| -> Vec<Sentence> {
        SentenceReader::conllu(text.as_bytes(), "made").collect::<Result<_, _>>().unwrap()
    };
    let mut training = corpus(200, 3);
    let endings = ["bal", "tor", "min", "kes"];
    training.extend(read(endings.map(|stem| text(&format!("{stem}or"), "PROPN", "_")).concat().repeat(10)));
    let named = ["pelo", "rodo", "zilo", "dubo"].map(|word| text(word, "PROPN", "NER=B-PER")).concat();
    let mut dev = corpus(40, 4);
    dev.extend(read(named.repeat(2)));
    let tagger = |dev: &[Sentence]| {
        let trained = train(&training, Some(dev), TaggerSettings::new().column(Column::Upos)).unwrap();
        (trained.summary.clone(), Tagger::open(&trained.open().unwrap()).unwrap())
    };
    let tag = |tagger: &Tagger, misc: &str| {
        let mut sentences = read(text("vedo", "_", misc));
        tagger.decode(&mut sentences, &TaggerOptions::new()).unwrap();
        sentences[0].upos(1).to_owned()
    };
    let (summary, with_names) = tagger(&dev);
    assert!(summary.contains("names set"), "{summary}");
    assert_eq!(tag(&with_names, "NER=B-LOC"), "PROPN");
    assert_eq!(tag(&with_names, "_"), "NOUN");
    let (summary, without) = tagger(&corpus(40, 4));
    assert!(!summary.contains("names set"), "{summary}");
    assert_eq!(tag(&without, "NER=B-LOC"), "NOUN");
}
