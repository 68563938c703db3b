//! Every algorithm on generated sentences: it learns, its model comes back from a file, it can be continued.

use consonant_learn::LearnError;
use consonant_learn::hash::{combine, key};
use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::table::Precision;
use consonant_learn::trainer::{EpochReport, Run, TrainingAlgorithm};
use consonant_sequence::inference::TransitionMask;
use consonant_sequence::{
    Algorithm, ChainModel, Corpus, CorpusBuilder, CorpusOptions, Dev, Diagram, Pairs, Plan, ScoredSentence,
    SentenceKeys, Sentences, SequenceError, Ties, TrainedChain, Training, train, train_jointly,
};

type Sentence = Vec<(u64, &'static str)>;

/// Words of ten kinds; `x` and `y` words have a label that depends on the label before.
fn generate(count: usize, seed: u64) -> Vec<Sentence> {
    let mut state = seed;
    let mut next = |bound: usize| {
        state = combine(state, 11);
        ((u128::from(state) * bound as u128) >> 64) as usize
    };
    (0..count)
        .map(|_| {
            let mut before = "N";
            (0..3 + next(6))
                .map(|_| {
                    let word = next(10);
                    let label = match word {
                        0..3 => "D",
                        3..6 => "N",
                        6..8 => "V",
                        _ if before == "D" => "N",
                        _ => "V",
                    };
                    before = label;
                    (key(&[word as u8]), label)
                })
                .collect()
        })
        .collect()
}

fn corpus(sentences: &[Sentence], options: CorpusOptions) -> Corpus {
    fill(CorpusBuilder::new(options), sentences).finish().unwrap()
}

fn fill(mut builder: CorpusBuilder, sentences: &[Sentence]) -> CorpusBuilder {
    for sentence in sentences {
        builder.begin(1.0);
        sentence.iter().for_each(|&(word, label)| {
            builder.token(Some(label), &[word, key(b"bias")], &[], &[combine(word, 1)][..0])
        });
        builder.end();
    }
    builder
}

fn encode(corpus: &Corpus, sentences: &[Sentence]) -> Sentences {
    let mut encoder = corpus.encoder();
    for sentence in sentences {
        encoder.begin(1.0);
        sentence
            .iter()
            .for_each(|&(word, label)| encoder.token(Some(label), &[word, key(b"bias")], &[], &[]));
        encoder.end();
    }
    encoder.finish().unwrap()
}

fn accuracy(sentences: &Sentences, paths: &[Vec<u32>]) -> f64 {
    let pairs = || paths.iter().enumerate().flat_map(|(at, path)| path.iter().zip(sentences.gold(at)));
    pairs().filter(|(found, gold)| found == gold).count() as f64 / pairs().count() as f64
}

fn plain(name: &str, parameters: &[(&str, f64)]) -> Plan {
    Training::from_names(name, parameters.iter().copied()).unwrap().into()
}

fn predict_from_file(
    trained: &TrainedChain<'_>,
    sentences: &[Sentence],
    precision: Precision,
) -> Vec<Vec<u32>> {
    let mut writer = ModelWriter::new("test", serde_json::Value::Null);
    trained.store(&mut writer, precision);
    let model =
        std::sync::Arc::new(ChainModel::open(&Model::from_bytes(&writer.to_bytes()).unwrap()).unwrap());
    let mut decoder = model.decoder(None).unwrap();
    let mut keys = SentenceKeys::new();
    let decode = |sentence: &Sentence| {
        keys.clear();
        for &(word, _) in sentence {
            keys.token();
            keys.keys(&[word, key(b"bias")]);
        }
        decoder.score(&keys);
        let mut path = Vec::new();
        decoder.best(None, &mut path).unwrap();
        path
    };
    sentences.iter().map(decode).collect()
}

#[test]
fn all_pairs_have_weights_up_to_a_limit() {
    // Forty words, each with a label of its own.
    let names: Vec<String> = (0..40).map(|label| label.to_string()).collect();
    let weights = |pairs, most_for_all| {
        let options =
            CorpusOptions { pairs, most_for_all, fill: false, order: 0, ..CorpusOptions::default() };
        let mut builder = CorpusBuilder::new(options);
        builder.begin(1.0);
        for name in &names {
            builder.token(Some(name), &[key(name.as_bytes())], &[], &[]);
        }
        builder.end();
        builder.finish().unwrap().space().group_size()
    };
    let (all, observed) = (weights(Pairs::All, usize::MAX), weights(Pairs::Observed, usize::MAX));
    assert!(all >= 1600 && observed < 200, "{all} {observed}");
    assert_eq!((weights(Pairs::All, 1600), weights(Pairs::All, 1599)), (all, observed));
}

#[test]
fn every_algorithm_learns_and_its_model_predicts_the_same_from_a_file() {
    let (training_set, dev_set) = (generate(150, 1), generate(60, 2));
    for algorithm in Algorithm::ALL {
        for order in 0..=2 {
            let local = ["memm", "bidirectional-cmm"].contains(&algorithm.name());
            if (local && order == 2) || (algorithm.name().ends_with("-nota") && order != 1) {
                continue;
            }
            let corpus = corpus(&training_set, CorpusOptions { order, ..CorpusOptions::default() });
            let dev = encode(&corpus, &dev_set);
            let training = plain(algorithm.name(), &[]);
            let run = Run { epochs: 25, shuffle: true, patience: Some(10), ..Run::default() };
            let trained =
                train(&corpus, &training, Some(Dev { sentences: &dev, candidates: None, metric: None }), run)
                    .unwrap();
            let paths = trained.predict(&dev, None, None).unwrap();
            let reached = accuracy(&dev, &paths);
            let wanted = if order == 0 { 0.85 } else { 0.95 };
            assert!(reached >= wanted, "{} of order {order}: {reached}", algorithm.name());
            assert_eq!(
                predict_from_file(&trained, &dev_set, Precision::Single),
                paths,
                "{} of order {order}",
                algorithm.name()
            );
            let halved = accuracy(&dev, &predict_from_file(&trained, &dev_set, Precision::Half));
            assert!((halved - reached).abs() < 0.02, "{}: {halved} {reached}", algorithm.name());
        }
    }
}

/// `D` and `N` share a part, `N` and `V` another.
fn nominal_and_lexical(label: &str, parts: &mut Vec<String>) {
    let shared = [("nominal", ["D", "N"]), ("lexical", ["N", "V"])];
    parts.extend(
        shared.iter().filter(|(_, labels)| labels.contains(&label)).map(|(part, _)| part.to_string()),
    );
}

#[test]
fn labels_with_parts_are_learned_by_every_algorithm_and_come_back_from_a_file() {
    let (training_set, dev_set) = (generate(150, 1), generate(60, 2));
    let options = CorpusOptions { parts_of: Some(nominal_and_lexical), ..CorpusOptions::default() };
    let corpus = corpus(&training_set, options);
    let dev = encode(&corpus, &dev_set);
    for algorithm in Algorithm::ALL {
        let of_threads = |threads| {
            let run = Run { epochs: 25, shuffle: true, threads, ..Run::default() };
            train(&corpus, &plain(algorithm.name(), &[]), None, run).unwrap()
        };
        let trained = of_threads(1);
        let paths = trained.predict(&dev, None, None).unwrap();
        let reached = accuracy(&dev, &paths);
        assert!(reached >= 0.95, "{}: {reached}", algorithm.name());
        assert_eq!(predict_from_file(&trained, &dev_set, Precision::Single), paths, "{}", algorithm.name());
        let bits = |trained: &TrainedChain<'_>| -> Vec<u32> {
            trained.weights.iter().map(|weight| weight.to_bits()).collect()
        };
        assert_eq!(bits(&trained), bits(&of_threads(2)), "{}", algorithm.name());
    }
}

#[test]
fn nota_trains_with_every_choice_of_negatives_and_decoding() {
    let (training_set, dev_set) = (generate(120, 5), generate(50, 6));
    let corpus = corpus(&training_set, CorpusOptions::default());
    let dev = encode(&corpus, &dev_set);
    for negatives in 0..3 {
        for decode in 0..3 {
            let training = plain(
                "piecewise-nota",
                &[
                    ("negatives", f64::from(negatives)),
                    ("decode", f64::from(decode)),
                    ("samples", 1.0),
                    ("after", 5.0),
                    ("c2", 0.1),
                ],
            );
            let trained = train(&corpus, &training, None, Run { epochs: 30, ..Run::default() }).unwrap();
            let paths = trained.predict(&dev, None, None).unwrap();
            // Pieces have scales of their own, so that global decoding without learned scales is the poorest
            // choice.
            let wanted = if decode == 2 { 0.8 } else { 0.95 };
            assert!(
                accuracy(&dev, &paths) > wanted,
                "negatives {negatives}, decode {decode}: {}",
                accuracy(&dev, &paths)
            );
            assert_eq!(predict_from_file(&trained, &dev_set, Precision::Single), paths);
        }
    }
}

#[test]
fn pseudo_likelihood_learns_with_every_choice_of_negatives() {
    let (training_set, dev_set) = (generate(120, 5), generate(50, 6));
    let corpus = corpus(&training_set, CorpusOptions::default());
    let dev = encode(&corpus, &dev_set);
    for negatives in 0..3 {
        let parameters = [
            ("negatives", f64::from(negatives)),
            ("samples", 2.0),
            ("draws", 3.0),
            ("after", 5.0),
            ("c2", 0.1),
        ];
        let training = plain("pseudo-likelihood-nota", &parameters);
        let trained = train(&corpus, &training, None, Run { epochs: 30, ..Run::default() }).unwrap();
        let paths = trained.predict(&dev, None, None).unwrap();
        assert!(accuracy(&dev, &paths) > 0.9, "negatives {negatives}: {}", accuracy(&dev, &paths));
        assert_eq!(predict_from_file(&trained, &dev_set, Precision::Single), paths);
    }
}

#[test]
fn samples_are_drawn_anew_and_all_draws_count_as_one_training() {
    let training_set = generate(60, 5);
    let corpus = corpus(&training_set, CorpusOptions::default());
    let trained = |draws: f64| {
        let parameters =
            [("negatives", 1.0), ("samples", 1.0), ("draws", draws), ("delta", 0.0), ("epsilon", 0.0)];
        let training = plain("piecewise-nota", &parameters);
        let mut heard = Vec::new();
        let listen = |report: &EpochReport| heard.push(report.epoch);
        let run = Run { epochs: 12, progress: Some(Box::new(listen)), ..Run::default() };
        let trained = train(&corpus, &training, None, run).unwrap();
        let weights = trained.weights.clone();
        assert_eq!(
            trained.history.iter().map(|report| report.epoch).collect::<Vec<_>>(),
            (1..=12).collect::<Vec<_>>()
        );
        drop(trained);
        assert_eq!(heard, (1..=12).collect::<Vec<_>>());
        weights
    };
    assert_ne!(trained(1.0), trained(4.0));
}

#[test]
fn both_stages_of_nota_count_as_one_training_and_dev_is_measured_however_short_it_is() {
    let (training_set, dev_set) = (generate(150, 1), generate(60, 2));
    let corpus = corpus(&training_set, CorpusOptions { order: 1, ..CorpusOptions::default() });
    let dev = encode(&corpus, &dev_set);
    let after = |epochs: usize, after: f64| {
        let mut heard = Vec::new();
        let listen = |report: &EpochReport| heard.push((report.epoch, report.dev.is_some()));
        let run = Run { epochs, progress: Some(Box::new(listen)), ..Run::default() };
        let measured = Dev { sentences: &dev, candidates: None, metric: None };
        let training = plain("piecewise-nota", &[("after", after), ("delta", 0.0), ("epsilon", 0.0)]);
        let trained = train(&corpus, &training, Some(measured), run).unwrap();
        let history: Vec<(usize, bool)> =
            trained.history.iter().map(|report| (report.epoch, report.dev.is_some())).collect();
        assert!(trained.best.is_some() && history.iter().any(|&(epoch, _)| epoch == trained.epoch));
        assert!(trained.history.is_sorted_by(|one, next| one.seconds <= next.seconds));
        drop(trained);
        assert_eq!(heard, history);
        history
    };
    let stages = |first: usize, all: usize| (1..=all).map(|epoch| (epoch, epoch > first)).collect::<Vec<_>>();
    assert_eq!(after(12, 4.0), stages(4, 12));
    assert_eq!(after(12, 20.0), stages(6, 12));
    assert_eq!(after(1, 20.0), stages(0, 1));
}

#[test]
fn pseudo_perceptrons_visit_labels_at_random_or_as_they_stand_in_the_text() {
    let training_set = generate(40, 1);
    let corpus = corpus(&training_set, CorpusOptions { order: 1, ..CorpusOptions::default() });
    for name in ["pseudo-perceptron", "piecewise-pseudo-perceptron", "beam-early-update"] {
        let weights = |parameters: &[(&str, f64)], shuffle: bool, seed: u64| {
            let run = Run { epochs: 2, shuffle, seed, ..Run::default() };
            train(&corpus, &plain(name, parameters), None, run).unwrap().weights
        };
        let text = weights(&[("shuffle", 0.0)], true, 1);
        assert_eq!(text, weights(&[], false, 1), "{name}");
        assert_eq!(text, weights(&[("shuffle", 0.0)], true, 2), "{name}");
        assert_ne!(text, weights(&[], true, 1), "{name}");
    }
}

#[test]
fn threads_change_nothing() {
    let training_set = generate(100, 3);
    let corpus = corpus(&training_set, CorpusOptions::default());
    for name in ["likelihood", "pseudo-likelihood", "sgd", "averaged-perceptron"] {
        let weights = |threads| {
            train(&corpus, &plain(name, &[]), None, Run { epochs: 6, threads, batch: 4, ..Run::default() })
                .unwrap()
                .weights
        };
        assert_eq!(weights(1), weights(3), "{name}");
    }
}

#[test]
fn a_model_is_continued_with_new_labels_and_features_and_keeps_the_old_ones() {
    let old = generate(100, 7);
    let first = corpus(&old, CorpusOptions::default());
    let trained =
        train(&first, &plain("averaged-perceptron", &[]), None, Run { epochs: 10, ..Run::default() })
            .unwrap();
    let mut writer = ModelWriter::new("test", serde_json::Value::Null);
    trained.store(&mut writer, Precision::Single);
    let model = ChainModel::open(&Model::from_bytes(&writer.to_bytes()).unwrap()).unwrap();

    let new: Vec<Sentence> = vec![vec![(key(b"hello"), "I"), (key(&[0]), "D"), (key(&[8]), "N")]; 5];
    let continued = fill(CorpusBuilder::continuing(CorpusOptions::default(), &model), &new).finish().unwrap();
    assert_eq!(&continued.labels().names()[..3], model.labels().names());
    let dev = encode(&continued, &old);
    let untouched =
        train(&continued, &plain("averaged-perceptron", &[]), None, Run { epochs: 0, ..Run::default() })
            .unwrap();
    let before =
        accuracy(&encode(&first, &old), &trained.predict(&encode(&first, &old), None, None).unwrap());
    let after = accuracy(&dev, &untouched.predict(&dev, None, None).unwrap());
    assert!((before - after).abs() < 0.02, "{before} {after}");
    let trained =
        train(&continued, &plain("averaged-perceptron", &[]), None, Run { epochs: 5, ..Run::default() })
            .unwrap();
    let paths = trained.predict(&encode(&continued, &new), None, None).unwrap();
    assert_eq!(accuracy(&encode(&continued, &new), &paths), 1.0);
    assert!(accuracy(&dev, &trained.predict(&dev, None, None).unwrap()) > 0.9);
}

#[test]
fn user_diagrams_train_and_masks_hold() {
    let (training_set, dev_set) = (generate(120, 8), generate(40, 9));
    let corpus = corpus(&training_set, CorpusOptions::default());
    let dev = encode(&corpus, &dev_set);
    let pieces = "diagram pairs\npiece two\nvariables 0 1\nfactor 0\nfactor 1\nfactor 0 1\ndecode global";
    for name in ["likelihood", "averaged-perceptron", "sgd"] {
        let training = Plan { diagram: Some(Diagram::parse(pieces).unwrap()), ..plain(name, &[]) };
        let trained = train(&corpus, &training, None, Run { epochs: 30, ..Run::default() }).unwrap();
        assert!(accuracy(&dev, &trained.predict(&dev, None, None).unwrap()) > 0.95, "{name}");
    }
    let labels = corpus.labels();
    let (d, v) = (labels.get("D").unwrap(), labels.get("V").unwrap());
    let mut mask = TransitionMask::all_allowed(labels.len());
    mask.forbid(d, v).unwrap();
    let training = Plan { mask: Some(mask.clone()), ..plain("likelihood", &[]) };
    let trained = train(&corpus, &training, None, Run { epochs: 10, ..Run::default() }).unwrap();
    let paths = trained.predict(&dev, None, Some(&mask)).unwrap();
    assert!(paths.iter().all(|path| path.windows(2).all(|pair| pair != [d, v])));
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let message = |result: Result<Corpus, SequenceError>| result.unwrap_err().to_string();
    assert!(message(CorpusBuilder::new(CorpusOptions::default()).finish()).contains("no labelled token"));
    let with = |label, keys: &[u64], values: &[f32], weight| {
        let mut builder = CorpusBuilder::new(CorpusOptions::default());
        builder.begin(weight);
        builder.token(label, keys, values, &[]);
        builder.end();
        builder.finish()
    };
    assert!(message(with(None, &[1], &[], 1.0)).contains("no labelled token"));
    assert!(message(with(Some("A"), &[1], &[f32::NAN], 1.0)).contains("token 1 of sentence 1"));
    assert!(message(with(Some("A"), &[1, 2], &[1.0], 1.0)).contains("2 features but 1 values"));
    assert!(message(with(Some("A"), &[1], &[], -1.0)).contains("weight -1"));
    let unknown = CorpusBuilder::new(CorpusOptions {
        class_weights: vec![("Z".into(), 2.0)],
        ..CorpusOptions::default()
    });
    assert!(message(fill(unknown, &generate(3, 1)).finish()).contains("`Z`"));
    assert!(Algorithm::from_name("magic").unwrap_err().to_string().contains("piecewise-nota"));
    let error = Training::from_names("likelihood", [("width", 2.0)]).unwrap_err();
    assert!(error.to_string().contains("c1, c2"), "{error}");

    // One label only, and sentences without tokens, are fine.
    let mut builder = CorpusBuilder::new(CorpusOptions::default());
    for length in [0, 2, 0] {
        builder.begin(1.0);
        (0..length).for_each(|_| builder.token(Some("A"), &[1], &[], &[]));
        builder.end();
    }
    let corpus = builder.finish().unwrap();
    for algorithm in Algorithm::ALL {
        let trained =
            train(&corpus, &plain(algorithm.name(), &[]), None, Run { epochs: 3, ..Run::default() }).unwrap();
        assert_eq!(
            trained.predict(corpus.sentences(), None, None).unwrap(),
            [vec![], vec![0, 0], vec![]],
            "{}",
            algorithm.name()
        );
    }
}

/// Groups of so many sentences that nothing ties but a constant.
struct Loose {
    groups: Vec<Vec<usize>>,
}

impl Ties for Loose {
    type Workspace = ();

    fn workspace(&self) {}

    fn parameters(&self) -> usize {
        1
    }

    fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    fn decode(
        &self,
        _: usize,
        sentences: Vec<ScoredSentence>,
        weights: &[f32],
        (): &mut (),
    ) -> Result<Vec<Vec<u32>>, LearnError> {
        assert_eq!(weights, [0.0]);
        // The scores are those of the path, step by step.
        for sentence in &sentences {
            let labels = sentence.nodes.len() / sentence.path.len();
            let mut value = 0.0;
            for (word, &label) in sentence.path.iter().enumerate() {
                value += sentence.nodes[word * labels + label as usize];
                if word > 0 {
                    value +=
                        sentence.steps[word - 1][sentence.path[word - 1] as usize * labels + label as usize];
                }
            }
            assert!((f64::from(value) - sentence.value).abs() < 1e-3 * sentence.value.abs().max(1.0));
        }
        Ok(sentences.into_iter().map(|sentence| sentence.path).collect())
    }

    fn features(&self, _: usize, _: &[Vec<u32>], each: &mut dyn FnMut(usize, f32)) {
        each(0, 1.0);
    }
}

#[test]
fn without_ties_a_joint_training_is_that_of_the_chain() {
    let training_set = generate(60, 1);
    let corpus = corpus(&training_set, CorpusOptions { order: 1, ..CorpusOptions::default() });
    let plan: Plan = plain("averaged-perceptron", &[("margin", 1.0)]);
    let run = || Run { epochs: 3, seed: 5, ..Run::default() };
    let alone = train(&corpus, &plan, None, run()).unwrap();
    let groups = (0..corpus.sentences().len()).map(|sentence| vec![sentence]).collect();
    let (joint, own) = train_jointly(&corpus, &plan, &Loose { groups }, run()).unwrap();
    assert_eq!((joint.weights, own), (alone.weights, vec![0.0]));
    let pairs = (0..corpus.sentences().len() / 2).map(|pair| vec![2 * pair, 2 * pair + 1]).collect();
    let (joint, _) = train_jointly(&corpus, &plan, &Loose { groups: pairs }, run()).unwrap();
    let dev_set = generate(50, 6);
    let dev = encode(&corpus, &dev_set);
    assert!(accuracy(&dev, &joint.predict(&dev, None, None).unwrap()) > 0.9);
    let likelihood = plain("likelihood", &[]);
    assert!(train_jointly(&corpus, &likelihood, &Loose { groups: Vec::new() }, run()).is_err());
}

#[test]
fn groups_of_features_are_trained_independently() {
    let training_set = generate(60, 1);
    let mut corpus = corpus(&training_set, CorpusOptions { order: 0, ..CorpusOptions::default() });
    let bias = key(b"bias");
    let names: Vec<(u64, String)> =
        corpus.keys().iter().map(|&key| (key, if key == bias { "B:x" } else { "W:y" }.to_owned())).collect();
    corpus.name_lines(names.iter().map(|(key, name)| (*key, name.as_str())));
    let trained = |text: &str, algorithm: &str| {
        let diagram = Diagram::parse(text).unwrap();
        let plan = Plan { diagram: Some(diagram), ..plain(algorithm, &[]) };
        let trained = train(&corpus, &plan, None, Run { epochs: 20, ..Run::default() })?;
        let mut writer = ModelWriter::new("test", serde_json::Value::Null);
        trained.store(&mut writer, Precision::Single);
        Ok::<_, SequenceError>(ChainModel::open(&Model::from_bytes(&writer.to_bytes()).unwrap()).unwrap())
    };
    let words = "piece words\n variables 0\n factor 0 in words of W\n";
    let both = format!("{words}piece bias\n variables 0\n factor 0 in bias of B\n");
    for algorithm in ["likelihood", "averaged-perceptron"] {
        let (alone, both) = (trained(words, algorithm).unwrap(), trained(&both, algorithm).unwrap());
        assert!(alone.explain(bias).iter().all(|(_, weight)| *weight == 0.0), "{algorithm}");
        assert!(both.explain(bias).iter().any(|(_, weight)| *weight != 0.0), "{algorithm}");
        if algorithm == "likelihood" {
            let word = *corpus.keys().iter().find(|&&key| key != bias).unwrap();
            for (one, other) in alone.explain(word).iter().zip(both.explain(word)) {
                assert!(one.0 == other.0 && (one.1 - other.1).abs() < 0.05, "{one:?} {other:?}");
            }
        }
    }
    assert!(trained("piece a\n factor 0 in a of X\n", "likelihood").is_err());
}
