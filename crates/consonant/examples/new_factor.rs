//! A factor of one's own: what is chosen of a row must stand side by side. The engine needs to know the best run
//! under given scores, and derives the rest.

use consonant::map::Graph;
use consonant::map::oracle::family::Family;
use consonant::map::solver::{Limits, Method, solve};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut graph = Graph::new();
    let row = graph.binaries(&[2.0, -1.0, 1.5, -4.0, 3.0])?;
    let side_by_side = Family::new(row.len(), |scores, best| {
        let runs = (0..scores.len()).flat_map(|start| (start..=scores.len()).map(move |end| (start, end)));
        let sum = |(start, end): (usize, usize)| scores[start..end].iter().sum::<f64>();
        let (start, end) = runs.max_by(|&a, &b| sum(a).total_cmp(&sum(b))).unwrap_or_default();
        (start..end).for_each(|place| best.insert(place));
    });
    graph.oracle(side_by_side, &row)?;
    graph.at_least_one(&row[..2])?;
    let solution = solve(&graph, Method::Exact, &Limits::default())?;
    let chosen: Vec<usize> = (0..row.len()).filter(|&place| solution.is_true(row[place])).collect();
    println!("{chosen:?}: {:?}", solution.certificate);
    Ok(())
}
