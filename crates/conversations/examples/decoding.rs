//! Decodes a conversation of random scores with every decoder and tells how that went, as JSON: for `bench/run`.
//!
//! `cargo run --release -p consonant-conversations --example decoding -- generate UNITS SEED OUT.json` makes
//! the conversation, writes it as a problem for `consonant solve`, and decodes it.

use std::error::Error;

use consonant_conversations::{Constraint, GraphKind, LinkDecoder, LinkMethod, LinkParts};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let answer = match words[..] {
        ["generate", units, seed, out] => generate(units.parse()?, seed.parse()?, out)?,
        _ => return Err("expected generate UNITS SEED OUT.json".into()),
    };
    println!("{answer}");
    Ok(())
}

/// Links around -1.5, one of each row around 1; pairs and triples a fifth and a tenth as strong.
fn generate(units: usize, seed: u64, out: &str) -> Result<Value, Box<dyn Error>> {
    let mut state = seed;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let parts = LinkParts::new(units, units, GraphKind::Triples, Constraint::AtLeastOne);
    let (links, pairs) = (parts.links().len(), parts.pairs().len());
    let mut scores: Vec<f32> = (0..parts.len())
        .map(|part| {
            let noise: f32 = (0..6).map(|_| below(1001) as f32 / 500.0 - 1.0).sum::<f32>() / 2f32.sqrt();
            if part < links {
                noise - 1.5
            } else if part < links + pairs {
                0.2 * noise
            } else {
                0.1 * noise
            }
        })
        .collect();
    for source in 1..units {
        let target = source - 1 - below(source).min(below(source)).min(below(source));
        scores[parts.link(source, target).ok_or("every link is possible")?] += 2.5;
    }
    std::fs::write(out, problem(&parts, &scores).to_string())?;
    let mut answers = serde_json::Map::new();
    for &method in LinkMethod::ALL {
        for reduce in [true, false] {
            let mut decoder = LinkDecoder::new(method);
            (decoder.reduce, decoder.finish) = (reduce, reduce);
            let mut present = Vec::new();
            // The first round makes the buffers.
            decoder.decode(&parts, &scores, &mut present)?;
            let certificate = decoder.decode(&parts, &scores, &mut present)?;
            let name = if reduce { method.to_string() } else { format!("{method}, whole") };
            answers.insert(name, json!(certificate));
        }
    }
    Ok(json!({"variables": links, "pairs": pairs, "triples": parts.triples().len(), "decoders": answers}))
}

/// The problem in the form that `consonant solve` reads.
fn problem(parts: &LinkParts, scores: &[f32]) -> Value {
    let name = |link: usize| format!("{}-{}", parts.links()[link].0, parts.links()[link].1);
    let variables = (0..parts.links().len()).map(|link| json!({"name": name(link), "score": scores[link]}));
    let rows = (1..parts.units()).map(
        |source| json!({"kind": "at-least-one", "over": parts.row(source).map(name).collect::<Vec<_>>()}),
    );
    let pairs = parts.pairs().iter().map(|pair| ("pair", pair.links.map(name).to_vec()));
    let triples = parts.triples().iter().map(|triple| ("pattern", triple.links.map(name).to_vec()));
    let products = pairs
        .chain(triples)
        .zip(&scores[parts.links().len()..])
        .map(|((kind, over), score)| json!({"kind": kind, "over": over, "score": score}));
    json!({"variables": variables.collect::<Vec<_>>(), "factors": rows.chain(products).collect::<Vec<_>>()})
}
