//! Times the decoders of pattern models on generated problems of the two kinds in Qian & Liu (2014): a thread
//! of 40 units with triples on a grid, and a group of short texts with skip edges and phrase patterns.
//!
//! `cargo run --release --example pattern_decoding [thread|grid|names] [seed] [strength] [iterations]`

use consonant_map::Solution;
use consonant_map::pattern::PatternModel;
use consonant_map::solver::master::{MasterOptions, StepRule};
use consonant_map::solver::spanning_trees::SpanningTrees;
use consonant_map::solver::two_slave::{Reduction, TwoSlave};

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (((self.0 ^ (self.0 >> 29)) >> 8) % n as u64) as usize
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.below(1 << 20) as f64 / (1 << 20) as f64).sum::<f64>() - 6.0
    }
}

/// A binary vertex for each pair (source, earlier target), edges to neighbours, and eight patterns for each
/// two adjacent edges.
fn thread(random: &mut Random, units: usize, triples: bool, strength: f64) -> (PatternModel, Vec<usize>) {
    let mut model = PatternModel::new();
    let index = |i: usize, j: usize| i * (i - 1) / 2 + j;
    for i in 1..units {
        let answered = random.below(i).max(random.below(i));
        for j in 0..i {
            let link = if j == answered { 1.0 } else { -1.5 } + random.normal();
            model.add_vertex(&[0.0, link]).unwrap();
        }
    }
    let mut tree = Vec::new();
    let mut neighbours = vec![Vec::new(); model.vertices()];
    for i in 1..units {
        for j in 0..i {
            let here = index(i, j);
            for (there, row) in [
                (j + 1 < i).then(|| (index(i, j + 1), true)),
                (i + 1 < units).then(|| (index(i + 1, j), false)),
            ]
            .into_iter()
            .flatten()
            {
                let values: Vec<f64> = (0..4)
                    .map(|at| strength * random.normal() + if at == 0 || at == 3 { strength } else { 0.0 })
                    .collect();
                let table = model.add_table(2, 2, &values).unwrap();
                let edge = model.add_edge(here, there, table).unwrap();
                if row {
                    tree.push(edge)
                }
                neighbours[here].push(there);
                neighbours[there].push(here);
            }
        }
    }
    if triples {
        // Weights of features are shared: four classes of triples, each with its own preferences.
        let classes: Vec<f64> = (0..32).map(|_| 0.3 * strength * random.normal()).collect();
        for (v, around) in neighbours.iter().enumerate() {
            for (k, &a) in around.iter().enumerate() {
                for &b in &around[..k] {
                    let class = random.below(4);
                    for states in 0..8 {
                        let members = [(v, states & 1), (a, states >> 1 & 1), (b, states >> 2)];
                        model
                            .add_pattern(
                                &members,
                                classes[8 * class + states] + 0.1 * strength * random.normal(),
                            )
                            .unwrap();
                    }
                }
            }
        }
    }
    (model, tree)
}

/// Texts of words drawn from a small vocabulary; equal words are joined, equal phrases of two words get
/// patterns.
fn names(random: &mut Random, texts: usize, states: usize, strength: f64) -> (PatternModel, Vec<usize>) {
    let mut model = PatternModel::new();
    let transitions: Vec<f64> = (0..states * states)
        .map(|at| {
            if at % 7 == 3 && at / states != at % states { f64::NEG_INFINITY } else { 0.5 * random.normal() }
        })
        .collect();
    let chain = model.add_table(states, states, &transitions).unwrap();
    let cells: Vec<_> = (0..states).map(|s| (s, s, strength * (0.5 + random.normal().abs()))).collect();
    let same = model.add_sparse_table(states, states, &cells).unwrap();
    let mut tree = Vec::new();
    let mut words: Vec<usize> = Vec::new();
    for _ in 0..texts {
        for at in 0..14 {
            // Names of two words, 0 1, 2 3, 4 5, among many other words.
            let word = match words.last() {
                Some(&last) if at > 0 && last < 6 && last % 2 == 0 => last + 1,
                _ if at < 13 && random.below(4) == 0 => 2 * random.below(3),
                _ => 6 + random.below(400),
            };
            let mut scores: Vec<f64> = (0..states).map(|_| random.normal()).collect();
            scores[0] += 1.5;
            let v = model.add_vertex(&scores).unwrap();
            if at > 0 {
                tree.push(model.add_edge(v - 1, v, chain).unwrap());
            }
            words.push(word);
        }
    }
    let mut last_seen: Vec<Vec<usize>> = vec![Vec::new(); 406];
    for (v, &word) in words.iter().enumerate() {
        for &u in last_seen[word].iter().rev().take(4) {
            model.add_edge(u, v, same).unwrap();
            if v + 1 < words.len() && words[u + 1] == words[v + 1] && u + 1 < v {
                for s in 0..states {
                    for t in 0..states {
                        if random.below(4) == 0 {
                            model
                                .add_pattern(
                                    &[(u, s), (v, s), (u + 1, t), (v + 1, t)],
                                    0.5 * strength * random.normal(),
                                )
                                .unwrap();
                        }
                    }
                }
            }
        }
        last_seen[word].push(v);
    }
    (model, tree)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let kind = arguments.first().map_or("thread", String::as_str);
    let seed: u64 = arguments.get(1).and_then(|s| s.parse().ok()).unwrap_or(1);
    let strength: f64 = arguments.get(2).and_then(|s| s.parse().ok()).unwrap_or(0.5);
    let iterations: usize = arguments.get(3).and_then(|s| s.parse().ok()).unwrap_or(1000);
    let mut random = Random(seed);
    let (model, tree) = match kind {
        "names" => names(&mut random, 12, 13, strength),
        _ => thread(&mut random, 40, kind == "thread", strength),
    };
    println!("{kind}: {} vertices, {} edges, {} patterns", model.vertices(), model.edges(), model.patterns());
    for (name, step) in [("level", StepRule::Level), ("Rush", StepRule::Rush { first: 1.0 })] {
        let options = MasterOptions {
            max_iterations: iterations,
            step,
            trace: true,
            tree: tree.clone(),
            ..Default::default()
        };
        report(&format!("naive, {name}"), SpanningTrees::new(options).solve(&model));
    }
    for (name, reduction, step, given) in [
        ("tight, level", Reduction::Tight, StepRule::Level, false),
        ("tight, level, given tree", Reduction::Tight, StepRule::Level, true),
        ("tight, Rush", Reduction::Tight, StepRule::Rush { first: 1.0 }, false),
        ("lifted, level", Reduction::Lifted, StepRule::Level, true),
    ] {
        let options = MasterOptions {
            max_iterations: iterations,
            step,
            trace: true,
            tree: if given { tree.clone() } else { vec![] },
            ..Default::default()
        };
        let mut solver = TwoSlave::new(options);
        solver.reduction = reduction;
        report(&format!("two-slave, {name}"), solver.solve(&model));
    }
}

fn report(name: &str, s: Solution) {
    println!(
        "{name}: {} value {:.4} bound {:.4} after {} iterations, {:.1} ms ({:.3} ms each)",
        s.certificate.status(),
        s.certificate.value().unwrap_or(f64::NEG_INFINITY),
        s.certificate.bound(),
        s.certificate.iterations,
        1e3 * s.certificate.seconds,
        1e3 * s.certificate.seconds / s.certificate.iterations as f64
    );
    for at in [1, 10, 30, 100, 300] {
        if let Some(t) = s.trace.get(at - 1) {
            print!("   {at}: {:.4}/{:.4} {:.1}ms", t.bound, t.value, 1e3 * t.seconds);
        }
    }
    println!();
}
