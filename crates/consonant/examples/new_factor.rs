//! A factor of one's own: what is chosen of a row must stand side by side. The engine needs its best run, and
//! derives the rest.

use std::ops::Range;

use consonant::map::Graph;
use consonant::map::oracle::Oracle;
use consonant::map::solver::{Limits, Method, solve};

struct Run(usize);

#[rustfmt::skip]
impl Oracle for Run {
    type Configuration = Range<usize>;
    type Workspace = ();
    fn links(&self) -> usize { self.0 }
    fn maximize(&self, scores: &[f64], _: &mut (), best: &mut Range<usize>) -> f64 {
        let runs = (0..self.0).flat_map(|start| (start..=self.0).map(move |end| start..end));
        *best = runs.max_by(|one, other| self.score(scores, one).total_cmp(&self.score(scores, other))).unwrap_or_default();
        self.score(scores, best)
    }
    fn score(&self, scores: &[f64], run: &Range<usize>) -> f64 { scores[run.clone()].iter().sum() }
    fn add_marginals(&self, run: &Range<usize>, weight: f64, marginals: &mut [f64]) {
        marginals[run.clone()].iter_mut().for_each(|marginal| *marginal += weight);
    }
    fn overlap(&self, a: &Range<usize>, b: &Range<usize>) -> usize { a.end.min(b.end).saturating_sub(a.start.max(b.start)) }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut graph = Graph::new();
    let row = graph.binaries(&[2.0, -1.0, 1.5, -4.0, 3.0])?;
    graph.oracle(Run(5), row.iter().copied())?;
    let solution = solve(&graph, Method::Exact, &Limits::default())?;
    println!(
        "{:?}: {:?}",
        row.iter().map(|&place| solution.is_true(place)).collect::<Vec<_>>(),
        solution.certificate
    );
    Ok(())
}
