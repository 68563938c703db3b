//! The English pipeline inside a program: `cargo run --example pipeline`.

use consonant::{Error, Pipeline};

fn main() -> Result<(), Error> {
    let annotated = Pipeline::english()?.annotate("Ann Smith lives in Kiel. She works for Google.")?;
    for sentence in annotated.document.sentences() {
        for word in 0..sentence.len() {
            let (form, tag) = (sentence.form(word), sentence.upos(word));
            println!("{form}\t{tag}\t{}\t{}", sentence.entity_label(word), sentence.deprel(word));
        }
        println!();
    }
    let trees = annotated.certificates.tree;
    println!(
        "{} of {} trees are proven best",
        trees.iter().filter(|unit| unit.certificate.is_optimal()).count(),
        trees.len()
    );
    Ok(())
}
