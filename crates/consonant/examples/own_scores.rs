//! Somebody's scores under constraints: tags of three words, of which at most one is a verb.

use consonant::map::Graph;
use consonant::map::solver::{Limits, Method, solve};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Scores of NOUN, VERB and DET for "the cook books", as a neural model might give them.
    let scores = [[0.1, -1.0, 2.5], [1.0, 1.2, -2.0], [0.9, 1.1, -2.0]];
    let mut graph = Graph::new();
    let words: Vec<_> = scores.iter().map(|row| graph.choice(row)).collect::<Result<_, _>>()?;
    graph.at_most_one(words.iter().map(|word| word.is(1)))?;
    let solution = solve(&graph, Method::Exact, &Limits::default())?;
    for (word, choice) in ["the", "cook", "books"].iter().zip(&words) {
        println!("{word}\t{}", ["NOUN", "VERB", "DET"][solution.state(choice).unwrap_or_default()]);
    }
    let certificate = solution.certificate;
    println!(
        "{}: worth {:?}, nothing is worth more than {}",
        certificate.status(),
        certificate.value(),
        certificate.bound()
    );
    Ok(())
}
