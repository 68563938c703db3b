//! Model files of every version are read, and contents that make no sense are refused on opening or do no
//! harm later.

use std::path::PathBuf;

use consonant_learn::hash::key;
use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::table::Precision;
use consonant_learn::trainer::Run;
use consonant_sequence::{
    Algorithm, ChainModel, CorpusBuilder, CorpusOptions, PartsOfLabel, SentenceKeys, SequenceError, Training,
    train,
};
use proptest::prelude::*;

const WORDS: [&str; 4] = ["the", "dog", "they", "run"];

fn letters(label: &str, parts: &mut Vec<String>) {
    parts.extend(label.chars().map(String::from));
}

/// A small chain with all that a file can hold: sparse and full rows, features of pairs, parts of labels, or
/// n-grams in a list.
fn example(order: usize, parts_of: Option<PartsOfLabel>, precision: Precision) -> ModelWriter {
    let mut builder = CorpusBuilder::new(CorpusOptions { order, parts_of, ..CorpusOptions::default() });
    for sentence in
        [[("the", "DT"), ("dog", "NN")], [("they", "PRP"), ("run", "VB")], [("the", "DT"), ("run", "NN")]]
    {
        builder.begin(1.0);
        for (word, label) in sentence {
            let pair: &[u64] = if order == 1 { &[7] } else { &[] };
            builder.token(Some(label), &[key(word.as_bytes()), 1], &[], pair);
        }
        builder.end();
    }
    let corpus = builder.finish().unwrap();
    let plan = Training::new(Algorithm::AveragedPerceptron).into();
    let trained = train(&corpus, &plan, None, Run { epochs: 5, ..Run::default() }).unwrap();
    let mut writer = ModelWriter::new("chain", serde_json::Value::Null);
    trained.store(&mut writer, precision);
    writer
}

/// Everything that reads a model, the reader of an inspection included.
fn use_all(model: &Model) -> Result<Vec<String>, SequenceError> {
    let chain = std::sync::Arc::new(ChainModel::open(model)?);
    chain.strongest(None, 100);
    chain.strongest_features(100);
    chain.node_table().parameters();
    let mut keys = SentenceKeys::new();
    for word in WORDS {
        chain.explain(key(word.as_bytes()));
        keys.token();
        keys.keys(&[key(word.as_bytes()), 1]);
        keys.pair_key(7);
    }
    let mut decoder = chain.decoder(None)?;
    decoder.score(&keys);
    let mut path = Vec::new();
    decoder.best(None, &mut path)?;
    Ok(path.iter().map(|&label| chain.labels().name(label).to_owned()).collect())
}

fn stored(version: u32) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/models/version-{version}.model"))
}

#[test]
fn files_of_every_version_are_read() {
    let labels = use_all(&Model::open(stored(1)).unwrap()).unwrap();
    assert_eq!(labels, ["DT", "NN", "PRP", "VB"]);
}

/// Run with `--ignored` after the format has got a new version, and once only: files of a version stay as
/// they are.
#[test]
#[ignore = "writes a file of the current version"]
fn a_file_of_the_current_version_is_written() {
    assert!(!stored(1).exists(), "the files of a version stay as they are");
    example(1, Some(letters), Precision::Half).write(stored(1)).unwrap();
}

#[test]
fn other_versions_are_refused_by_their_number() {
    let mut bytes = example(1, None, Precision::Single).to_bytes();
    bytes[8] = 2;
    let message = Model::from_bytes(&bytes).unwrap_err().to_string();
    assert!(message.contains("format 2") && message.contains("format 1"), "{message}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Contents are changed and written with checksums that are right: no panic may follow.
    #[test]
    fn contents_without_sense_are_an_error_or_harmless(
        kind in 0..4usize,
        section in any::<prop::sample::Index>(),
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), prop_oneof![any::<u32>(), 0..10u32, Just(u32::MAX)], any::<bool>()),
            1..4,
        ),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let (order, parts, precision) = [
            (1, None, Precision::Single),
            (1, Some(letters as PartsOfLabel), Precision::Half),
            (2, None, Precision::Half),
            (0, None, Precision::Single),
        ][kind];
        let model = Model::from_bytes(&example(order, parts, precision).to_bytes()).unwrap();
        let names: Vec<String> = model.sections().map(|(name, _)| name.to_owned()).collect();
        let chosen = section.index(names.len());
        let mut writer = ModelWriter::new("chain", serde_json::Value::Null);
        for (at, name) in names.iter().enumerate() {
            let mut bytes = model.array::<u8>(name).unwrap().to_vec();
            if at == chosen && !bytes.is_empty() {
                for (place, value, whole) in &changes {
                    let place = place.index(bytes.len());
                    match bytes.get_mut(place / 4 * 4..place / 4 * 4 + 4) {
                        Some(word) if *whole => word.copy_from_slice(&value.to_le_bytes()),
                        _ => bytes[place] = *value as u8,
                    }
                }
                if let Some(cut) = cut {
                    bytes.truncate(cut.index(bytes.len()));
                }
            }
            writer.array(name, &bytes);
        }
        let _ = use_all(&Model::from_bytes(&writer.to_bytes()).unwrap());
    }
}
