//! Decodes conversations with every decoder and tells how that went, as JSON: for benchmarks and for
//! docs/threads.md.
//!
//! `cargo run --release -p consonant-conversations --example decoding -- MODEL FILE DECODER ITERATIONS
//! [whole] [unfinished]` links the conversations of a file; `whole` keeps links that need no search,
//! `unfinished` leaves open what two-slave does.
//!
//! `… -- generate UNITS SEED OUT.json` makes a conversation of random scores, writes it as a problem for
//! `consonant solve`, and decodes it with all decoders.

use std::error::Error;

use consonant_conversations::{Constraint, GraphKind, LinkDecoder, LinkMethod, LinkParts, Linker};
use consonant_learn::model::Model;
use consonant_task::Task as _;
use consonant_text::evaluate::LinkScores;
use consonant_text::jsonl::{JsonlReader, Thread};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let answer = match words[..] {
        ["generate", units, seed, out] => generate(units.parse()?, seed.parse()?, out)?,
        [model, file, method, iterations, ref more @ ..] => {
            let mut decoder = LinkDecoder::new(method.parse()?);
            decoder.max_iterations = iterations.parse()?;
            (decoder.reduce, decoder.finish) = (!more.contains(&"whole"), !more.contains(&"unfinished"));
            link(model, file, decoder)?
        }
        _ => return Err("expected MODEL FILE DECODER ITERATIONS, or generate UNITS SEED OUT.json".into()),
    };
    println!("{answer}");
    Ok(())
}

fn link(model: &str, file: &str, mut decoder: LinkDecoder) -> Result<Value, Box<dyn Error>> {
    let linker = Linker::open(&Model::open(model)?)?;
    let gold: Vec<Thread> = JsonlReader::<_, Thread>::open(file)?.collect::<Result<_, _>>()?;
    let mut scores = LinkScores::default();
    let (mut value, mut bound, mut seconds, mut slowest, mut certified, mut iterations) =
        (0.0, 0.0, 0.0, 0.0f64, 0, 0);
    let mut present = Vec::new();
    for thread in &gold {
        let (parts, part_scores) = linker.score(thread);
        let certificate = decoder.decode(&parts, &part_scores, &mut present)?;
        let links = parts.links().iter().zip(&present).filter(|(_, on)| **on).map(|(&link, _)| link);
        scores.conversation(thread.links.iter().copied(), links);
        value += certificate.value().unwrap_or(f64::NEG_INFINITY);
        bound += certificate.bound();
        seconds += certificate.seconds;
        slowest = slowest.max(certificate.seconds);
        iterations += certificate.iterations;
        certified += usize::from(certificate.is_optimal());
    }
    Ok(json!({
        "f1": scores.score().f1,
        "conversations": gold.len(),
        "certified": certified,
        "value": value,
        "bound": bound,
        "seconds": seconds,
        "slowest": slowest,
        "iterations": iterations,
    }))
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
