//! Models whose checksums are right and whose contents are not.

use std::path::PathBuf;
use std::sync::OnceLock;

use consonant::learn::model::{Model, ModelWriter};
use consonant::registry::{Given, Prediction, Registry, TrainingFiles};
use consonant::task::Watch;
use consonant_testing::Random;
use serde_json::{Value, json};

use crate::mutate::mutate;

/// Models of every task that learns from sentences, and what they are asked.
struct Material {
    registry: Registry,
    models: Vec<Model>,
    input: PathBuf,
    _folder: tempfile::TempDir,
}

fn treebank() -> String {
    let people = ["Ann", "Bob", "Eve", "Kim"];
    let words = |at: usize| [people[at % 4], ["sees", "likes", "buys"][at % 3], ["dogs", "cats"][at % 2]];
    let sentence = |at: usize| {
        let [who, does, what] = words(at);
        format!(
            "# text = {who} {does} {what}\n1\t{who}\t{who}\tPROPN\tNNP\tNumber=Sing\t2\tnsubj\t_\tNER=B-PER\n\
             2\t{does}\tsee\tVERB\tVBZ\t_\t0\troot\t_\t_\n3\t{what}\t{what}\tNOUN\tNNS\t_\t2\tobj\t_\t_\n\n"
        )
    };
    (0..24).map(sentence).collect()
}

fn material() -> &'static Material {
    static MATERIAL: OnceLock<Material> = OnceLock::new();
    MATERIAL.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let (train, input) = (folder.path().join("train.conllu"), folder.path().join("input.conllu"));
        std::fs::write(&train, treebank()).unwrap();
        std::fs::write(&input, treebank().split_inclusive("\n\n").take(4).collect::<String>()).unwrap();
        let registry = Registry::default();
        let lessons = [
            ("tagger", json!({"epochs": 2})),
            ("tagger", json!({"epochs": 2, "column": "xpos", "algorithm": "likelihood"})),
            ("ner", json!({"epochs": 2, "consistency": "patterns"})),
            ("ner", json!({"epochs": 2, "consistency": "words"})),
            ("parser", json!({"epochs": 1, "order": 3, "bits": 10, "label_bits": 10, "pruner_bits": 10})),
            ("lemmatizer", json!({"epochs": 2})),
            ("segmenter", json!({"epochs": 2})),
        ];
        let models = lessons.into_iter().map(|(task, settings)| {
            let Value::Object(values) = settings else { unreachable!("settings are objects") };
            let files = TrainingFiles {
                sources: vec![vec![train.clone()]],
                dev: vec![train.clone()],
                ..Default::default()
            };
            let given = Given { values, ..Given::default() };
            let trained = registry.get(task).unwrap().train(&files, &given, &mut Watch::none());
            Model::from_bytes(&trained.unwrap_or_else(|error| panic!("{task}: {error}")).model.to_bytes())
                .unwrap()
        });
        let models = models.collect();
        Material { registry, models, input, _folder: folder }
    })
}

/// Names of the models, as seeds.
pub fn seeds() -> Vec<Vec<u8>> {
    (0..material().models.len() as u8).map(|number| vec![number, 0]).collect()
}

/// The first byte chooses a model, the others are the seed of what is changed in it.
pub fn open_and_use(bytes: &[u8]) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let Material { registry, models, input, .. } = material();
    let model = &models[first as usize % models.len()];
    let seed = rest.iter().fold(0u64, |seed, &byte| seed.wrapping_mul(257).wrapping_add(byte.into()));
    let changed = change(model, &mut Random::new(seed));
    let changed = Model::from_bytes(&changed).expect("lengths and checksums are right");
    let Ok(opened) = registry.open(&changed, "fuzz") else { return };
    let _ = opened.inspect(20).to_string();
    let _ = opened.explain(input, &mut |explanations| {
        explanations.iter().for_each(|explanation| drop(explanation.to_text(3)));
        Ok(())
    });
    let _ = opened.predict(Prediction {
        inputs: std::slice::from_ref(input),
        out: &mut std::io::sink(),
        given: &Given::default(),
        annotator: None,
        problems: None,
        done: &mut |_, _, _| {},
        note: &mut |_| {},
    });
}

/// The model with one to three things changed.
fn change(model: &Model, random: &mut Random) -> Vec<u8> {
    let mut metadata = model.metadata().clone();
    let mut sections: Vec<(String, Vec<u8>)> = model
        .sections()
        .map(|(name, _)| (name.to_owned(), model.array::<u8>(name).unwrap().to_vec()))
        .collect();
    for _ in 0..1 + random.below(3) {
        let at = random.below(sections.len());
        let other = sections[random.below(sections.len())].1.clone();
        let bytes = &mut sections[at].1;
        match random.below(8) {
            0 => change_value(&mut metadata, random),
            1 => mutate(bytes, &other, random, 1 << 20),
            2 => drop(sections.remove(at)),
            3 => *bytes = other,
            4 => bytes.truncate(random.below(bytes.len() + 1) / 8 * 8),
            // A number of four or eight bytes.
            _ if bytes.len() >= 8 => {
                let width = [4, 8][random.below(2)];
                let place = random.below(bytes.len() / width) * width;
                let number = [
                    0,
                    1,
                    2,
                    3,
                    7,
                    255,
                    65_535,
                    u64::from(u32::MAX),
                    u64::MAX,
                    1 << 31,
                    1 << 63,
                    0x7fc0_0000,
                    0x7f80_0000,
                ];
                let number = number[random.below(number.len())].to_le_bytes();
                bytes[place..place + width].copy_from_slice(&number[..width]);
            }
            _ => bytes.extend([0; 8]),
        }
        if sections.is_empty() {
            break;
        }
    }
    let mut writer = ModelWriter::new(model.task(), metadata);
    for (name, bytes) in &sections {
        writer.array(name.as_str(), bytes);
    }
    writer.to_bytes()
}

fn change_value(value: &mut Value, random: &mut Random) {
    let odd = [
        json!(null),
        json!(0),
        json!(1),
        json!(-1),
        json!(65_535),
        json!(1e300),
        json!(u64::MAX),
        json!(""),
        json!("x"),
        json!([]),
        json!({}),
    ];
    match value {
        Value::Object(map) if !map.is_empty() && random.chance(0.9) => {
            let name = map.keys().nth(random.below(map.len())).cloned().unwrap_or_default();
            if random.chance(0.2) {
                map.remove(&name);
            } else if let Some(inner) = map.get_mut(&name) {
                change_value(inner, random);
            }
        }
        Value::Array(items) if !items.is_empty() && random.chance(0.9) => {
            let at = random.below(items.len());
            match random.below(3) {
                0 => drop(items.remove(at)),
                1 => items.push(items[at].clone()),
                _ => change_value(&mut items[at], random),
            }
        }
        other => *other = odd[random.below(odd.len())].clone(),
    }
}
