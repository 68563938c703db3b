//! A group as a graph: vertices for the words that are not settled, with the labels that they may have.

use super::links::{EQUAL_PHRASE, GroupLinks, Layout};
use crate::scores::SentenceScores;

/// A group as decoders see it. Tokens are counted through its sentences.
pub(crate) struct GroupProblem<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) links: &'a GroupLinks,
    pub(crate) scores: &'a [&'a SentenceScores],
    /// Scores by previous label and label.
    pub(crate) transitions: &'a [f32],
    pub(crate) weights: &'a [f32],
    /// The labels that each token may have; `None`: all of them.
    pub(crate) candidates: Option<&'a [Vec<u32>]>,
}

impl<'a> GroupProblem<'a> {
    /// The sentences that something is linked in.
    pub(super) fn linked(&self) -> impl Iterator<Item = (usize, &'a SentenceScores)> + use<'a> {
        let all = self.scores.iter().copied().enumerate().zip(&self.links.linked);
        all.filter(|(_, linked)| **linked).map(|(sentence, _)| sentence)
    }

    /// The score of labels for all sentences of the group.
    pub(crate) fn value(&self, paths: &[Vec<u32>]) -> f64 {
        let all: Vec<u32> = paths.iter().flatten().copied().collect();
        let sentences = self.scores.iter().zip(paths);
        let mut value: f64 = sentences.map(|(scores, path)| scores.score(path, self.transitions)).sum();
        self.links.features(self.layout, &all, |weight| value += f64::from(self.weights[weight]));
        value
    }
}

/// A vertex: a token with more than one possible label.
pub(super) struct Vertex {
    pub(super) labels: Vec<u32>,
    pub(super) unary: Vec<f64>,
}

/// A row, a column and their score.
pub(super) type Cell = (usize, usize, f64);

/// What a group leaves to be decided. Tokens with one possible label are settled: what they say to others
/// stands in these tokens' scores.
pub(super) struct Network {
    pub(super) vertices: Vec<Vertex>,
    /// For each vertex that follows the one before it in a sentence, a table of scores.
    pub(super) steps: Vec<(usize, Vec<f64>)>,
    /// Two vertices and the scores of their labels, those that are not zero.
    pub(super) skips: Vec<(usize, usize, Vec<Cell>)>,
    /// Vertices with states, and a weight.
    pub(super) patterns: Vec<(Vec<(usize, usize)>, f64)>,
    /// For each token its vertex, or [`SETTLED`].
    vertex_of: Vec<usize>,
    /// For settled tokens, their label.
    settled: Vec<u32>,
    /// Whether something that scores is not in it.
    pub(super) is_cut: bool,
}

const SETTLED: usize = usize::MAX;
/// Phrases that may have more sequences of labels in both places have no pattern.
const MOST_SEQUENCES: usize = 4096;

impl Network {
    pub(super) fn new(problem: &GroupProblem<'_>) -> Self {
        let (labels, starts) = (problem.layout.labels, &problem.links.starts);
        let tokens = starts[problem.scores.len()];
        let mut network = Self {
            vertices: Vec::new(),
            steps: Vec::new(),
            skips: Vec::new(),
            patterns: Vec::new(),
            vertex_of: vec![SETTLED; tokens],
            settled: vec![0; tokens],
            is_cut: false,
        };
        let every: Vec<u32> = (0..labels as u32).collect();
        for (sentence, scores) in problem.linked() {
            for (word, row) in scores.nodes.chunks_exact(labels).enumerate() {
                let token = starts[sentence] + word;
                let allowed = problem.candidates.map_or(&every, |candidates| &candidates[token]);
                if let [label] = allowed[..] {
                    network.settled[token] = label;
                    continue;
                }
                network.vertex_of[token] = network.vertices.len();
                let unary = allowed.iter().map(|&label| f64::from(row[label as usize])).collect();
                network.vertices.push(Vertex { labels: allowed.clone(), unary });
            }
        }
        for (sentence, scores) in problem.linked() {
            for token in starts[sentence] + 1..starts[sentence + 1] {
                let table = scores.table(token - starts[sentence], problem.transitions);
                network.join_neighbours(token, |one, other| {
                    f64::from(table[one as usize * labels + other as usize])
                });
            }
        }
        for &(one, other, case) in &problem.links.skips {
            network.skip(problem, one as usize, other as usize, case.into());
        }
        for &(one, other, length) in &problem.links.phrases {
            network.phrase(problem, [one as usize, other as usize], length as usize);
        }
        network
    }

    /// The vertices of two tokens that both are open. Where one is settled, what the two score goes to the
    /// other.
    fn open(&mut self, one: usize, other: usize, score: impl Fn(u32, u32) -> f64) -> Option<(usize, usize)> {
        match (self.vertex_of[one], self.vertex_of[other]) {
            (SETTLED, SETTLED) => {}
            (SETTLED, v) => {
                let label = self.settled[one];
                self.vertices[v].add(|other| score(label, other));
            }
            (u, SETTLED) => {
                let label = self.settled[other];
                self.vertices[u].add(|one| score(one, label));
            }
            both => return Some(both),
        }
        None
    }

    fn join_neighbours(&mut self, token: usize, score: impl Fn(u32, u32) -> f64) {
        let Some((u, v)) = self.open(token - 1, token, &score) else { return };
        let (one, other) = (&self.vertices[u].labels, &self.vertices[v].labels);
        let table = one.iter().flat_map(|&a| other.iter().map(move |&b| (a, b)));
        let table = table.map(|(a, b)| score(a, b)).collect();
        self.steps.push((v, table));
    }

    fn skip(&mut self, problem: &GroupProblem<'_>, one: usize, other: usize, case: usize) {
        let score = |one: u32, other: u32| {
            let weight = problem.layout.skip(case, one as usize, other as usize);
            weight.map_or(0.0, |weight| f64::from(problem.weights[weight]))
        };
        let Some((u, v)) = self.open(one, other, score) else { return };
        let mut cells = Vec::new();
        for (row, &one) in self.vertices[u].labels.iter().enumerate() {
            for (column, &other) in self.vertices[v].labels.iter().enumerate() {
                let score = score(one, other);
                if score != 0.0 {
                    cells.push((row, column, score));
                }
            }
        }
        if !cells.is_empty() {
            self.skips.push((u, v, cells));
        }
    }

    /// The patterns of a phrase: for each type, both places are an entity of it.
    fn phrase(&mut self, problem: &GroupProblem<'_>, places: [usize; 2], length: usize) {
        if problem.layout.equal {
            return self.equal_phrase(problem, places, length);
        }
        'types: for kind in 0..problem.layout.types {
            let weight = f64::from(problem.weights[problem.layout.phrase(kind)]);
            if weight == 0.0 {
                continue;
            }
            let mut members = Vec::new();
            for from in places {
                for word in 0..length {
                    let (Some(label), token) = (problem.layout.label_in(kind, word, length), from + word)
                    else {
                        continue 'types;
                    };
                    match self.vertex_of[token] {
                        SETTLED if self.settled[token] == label => {}
                        SETTLED => continue 'types,
                        vertex => match self.vertices[vertex].labels.iter().position(|&other| other == label)
                        {
                            Some(state) => members.push((vertex, state)),
                            None => continue 'types,
                        },
                    }
                }
            }
            match members[..] {
                [] => {}
                [(vertex, state)] => self.vertices[vertex].unary[state] += weight,
                _ => self.patterns.push((members, weight)),
            }
        }
    }

    /// As [`phrase`](Self::phrase) where any equal labels agree: a pattern for each sequence that both places may have.
    fn equal_phrase(&mut self, problem: &GroupProblem<'_>, places: [usize; 2], length: usize) {
        let weight = f64::from(problem.weights[EQUAL_PHRASE]);
        if weight == 0.0 {
            return;
        }
        let labels_of = |token: usize| match self.vertex_of[token] {
            SETTLED => std::slice::from_ref(&self.settled[token]),
            vertex => &self.vertices[vertex].labels[..],
        };
        let both: Vec<Vec<u32>> = (0..length)
            .map(|word| {
                let other = labels_of(places[1] + word);
                labels_of(places[0] + word).iter().copied().filter(|label| other.contains(label)).collect()
            })
            .collect();
        let sequences = both.iter().fold(1usize, |product, labels| product.saturating_mul(labels.len()));
        if sequences > MOST_SEQUENCES {
            self.is_cut = true;
            return;
        }
        for mut number in 0..sequences {
            let mut members = Vec::new();
            for (word, labels) in both.iter().enumerate() {
                let label = labels[number % labels.len()];
                number /= labels.len();
                for place in places {
                    let vertex = self.vertex_of[place + word];
                    if vertex != SETTLED {
                        let states = &self.vertices[vertex].labels;
                        members.extend(
                            states.iter().position(|&other| other == label).map(|state| (vertex, state)),
                        );
                    }
                }
            }
            match members[..] {
                [] => {}
                [(vertex, state)] => self.vertices[vertex].unary[state] += weight,
                _ => self.patterns.push((members, weight)),
            }
        }
    }

    /// Writes the labels of an assignment of states to vertices, and those of settled tokens, into the paths
    /// of the group's sentences.
    pub(super) fn write(&self, problem: &GroupProblem<'_>, states: &[u32], paths: &mut [Vec<u32>]) {
        for (sentence, scores) in problem.linked() {
            let start = problem.links.starts[sentence];
            paths[sentence].clear();
            paths[sentence].extend((start..start + scores.path.len()).map(|token| {
                match self.vertex_of[token] {
                    SETTLED => self.settled[token],
                    vertex => self.vertices[vertex].labels[states[vertex] as usize],
                }
            }));
        }
    }

    /// The states of vertices under labels of the group's sentences; nothing where a token has a label that it may
    /// not have.
    pub(super) fn read(&self, problem: &GroupProblem<'_>, paths: &[Vec<u32>]) -> Option<Vec<u32>> {
        let mut states = vec![0; self.vertices.len()];
        for (sentence, _) in problem.linked() {
            for (token, label) in (problem.links.starts[sentence]..).zip(&paths[sentence]) {
                if let Some(vertex) = self.vertices.get(self.vertex_of[token]) {
                    let state = vertex.labels.iter().position(|other| other == label)?;
                    states[self.vertex_of[token]] = state as u32;
                }
            }
        }
        Some(states)
    }
}

impl Vertex {
    fn add(&mut self, score: impl Fn(u32) -> f64) {
        self.unary.iter_mut().zip(&self.labels).for_each(|(sum, &label)| *sum += score(label));
    }
}
