//! Trains a parser on a treebank and parses with it: `cargo run --release --example train_parser TRAIN DEV`.

use consonant::parser::{Parser, ParserOptions, ParserSettings};
use consonant::task::{Data, Task, Watch};
use consonant::text::{Sentence, SentenceReader};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let read = |path: String| -> Result<Vec<Sentence>, Failure> {
        Ok(SentenceReader::open_conllu(path)?.collect::<Result<_, _>>()?)
    };
    let mut files = std::env::args().skip(1);
    let (Some(train), Some(dev)) = (files.next(), files.next()) else { return Err("TRAIN DEV".into()) };
    let (train, mut dev) = (read(train)?, read(dev)?);
    let settings = ParserSettings::new().order(2usize).epochs(5usize);
    let mut listener = |event| println!("{event}");
    let trained =
        Parser::train(&Data::new(&train).with_dev(&dev), &settings, &mut Watch::with(&mut listener))?;
    let parser = Parser::open(&trained.open()?)?;
    let units = parser.decode(&mut dev, &ParserOptions::new())?;
    println!("{}; first tree worth {:?}", trained.summary, units[0].certificate.value());
    Ok(())
}
