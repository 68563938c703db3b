//! Annotates a file of any size in memory that does not grow with it:
//! `cargo run --release --example stream FILE`.

use std::io::{self, Write};
use std::sync::Arc;

use consonant::text::input::Input;
use consonant::{Error, Layers, Models, Pipeline};

fn main() -> Result<(), Error> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "-".to_owned());
    let layers = Layers { tags: true, entities: true, ..Layers::default() };
    let pipeline = Pipeline::open(&Models::embedded()?, layers)?;
    let input = Input::open(&path)?;
    let name = Arc::clone(input.name());
    let mut out = io::stdout().lock();
    pipeline.stream(input, &name, |sentences, _| -> Result<(), Error> {
        sentences.iter().try_for_each(|sentence| sentence.write(&mut out))?;
        Ok(out.flush()?)
    })
}
