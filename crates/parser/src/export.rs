//! The problem of a sentence as data, with its tree, for proofs and other people's solvers.
//!
//! What automata know is said by variables: the variable of modifier number j on one side of a head is in state i where
//! i is the last of the modifiers 1…j that the head has (0: none), so that state j is the arc. Siblings are then a
//! sequence over the modifiers of a side, and every other part a pattern of a few states.

use consonant_map::oracle::arborescence::RootChildren;
use consonant_map::problem::{Factor, Kind, Literal, Problem, Variable};
use consonant_map::proof::Answered;

use crate::parts::{Side, TreeParts};

impl TreeParts {
    /// The problem over all candidate arcs under scores of all parts, and a tree, by the head of each word, as its answer.
    pub fn answered(&self, scores: &[f32], heads: &[usize]) -> Answered {
        let mut export = Export::new(self, scores);
        for side in self.sides() {
            export.add_side(side);
        }
        for word in 2..=self.words() {
            let (before, own) = (self.arcs_into(word - 1), self.arcs_into(word));
            for (one, other) in before.clone().flat_map(|one| own.clone().map(move |other| (one, other))) {
                let part = self.head_bigram(word, one - before.start, other - own.start);
                export.pattern(part, [Some(export.arcs[one]), Some(export.arcs[other])]);
            }
        }
        let kind = Kind::Arborescence {
            nodes: self.words() + 1,
            arcs: self.arcs().to_vec(),
            single_root: self.root_children() == RootChildren::One,
        };
        export.problem.constrain(kind, export.arcs.clone());
        Answered { answer: Some(export.states(heads)), problem: export.problem }
    }
}

struct Export<'p> {
    parts: &'p TreeParts,
    scores: &'p [f32],
    problem: Problem,
    /// For each arc, the literal that says that it is there.
    arcs: Vec<Literal>,
}

impl<'p> Export<'p> {
    /// A variable for each arc.
    fn new(parts: &'p TreeParts, scores: &'p [f32]) -> Self {
        let mut problem = Problem::new();
        let name = |&(head, modifier): &(usize, usize)| format!("{head}>{modifier}");
        let score = |arc: usize| f64::from(scores[arc]);
        let each = parts.arcs().iter().enumerate();
        let mut arcs: Vec<Literal> = each.map(|(arc, ends)| problem.binary(name(ends), score(arc))).collect();
        for side in parts.sides() {
            for (&arc, number) in parts.arcs_of(side).iter().zip(1..) {
                let mut own = vec![0.0; number + 1];
                own[number] = score(arc as usize);
                let (name, states) = (name(&parts.arcs()[arc as usize]), Vec::new());
                problem.variables[arc as usize] = Variable { name, states, scores: own, binary: false };
                arcs[arc as usize].state = number as u32;
            }
        }
        Self { parts, scores, problem, arcs }
    }

    fn score(&self, part: Option<usize>) -> f64 {
        part.map_or(0.0, |part| f64::from(self.scores[part]))
    }

    /// A part that counts when all of these hold.
    fn pattern(&mut self, part: Option<usize>, literals: impl IntoIterator<Item = Option<Literal>>) {
        let score = self.score(part);
        if score != 0.0 {
            self.problem.constrain(Kind::Pattern { score }, literals.into_iter().flatten().collect());
        }
    }

    /// The sequence of a side's modifiers, and what else is scored there.
    fn add_side(&mut self, side: &Side) {
        let scope: Vec<u32> = self.parts.arcs_of(side).to_vec();
        let end = scope.len() + 1;
        let arcs: Vec<Literal> = scope.iter().map(|&arc| self.arcs[arc as usize]).collect();
        // That modifier number j is there; the end always is.
        let is_on = |j: usize| (1..end).contains(&j).then(|| arcs[j - 1]);
        // That i is the last modifier before j; the start is it before the first.
        let is_last = |i: usize, j: usize| (j > 1).then(|| Literal { state: i as u32, ..arcs[j - 2] });
        self.problem.variables[scope[0] as usize].scores[1] += self.score(side.sibling(0, 1));
        for i in 0..end {
            let last = scope[end - 2] as usize;
            self.problem.variables[last].scores[i] += self.score(side.sibling(i, end));
        }
        let mut pairs = Vec::new();
        for j in 2..end {
            for i in 0..j {
                pairs.extend((0..=j).map(|state| match state {
                    _ if state == j => self.score(side.sibling(i, j)),
                    _ if state == i => 0.0,
                    _ => f64::NEG_INFINITY,
                }));
            }
        }
        if scope.len() > 1 {
            let kind = Kind::Sequence { pairs, triples: None };
            self.problem.factors.push(Factor { kind, literals: Vec::new(), scope });
        }
        for (g, arc) in side.incoming.clone().enumerate() {
            let incoming = Some(self.arcs[arc]);
            for j in 1..=end {
                if j < end {
                    self.pattern(side.grandparent(g, j), [incoming, is_on(j)]);
                }
                for i in 0..j {
                    self.pattern(side.grand_sibling(g, i, j), [incoming, is_last(i, j), is_on(j)]);
                }
            }
        }
        for k in 2..=end {
            for (j, i) in (1..k).flat_map(|j| (0..j).map(move |i| (j, i))) {
                self.pattern(side.tri_sibling(i, j, k), [is_last(i, j), is_last(j, k), is_on(k)]);
                if i > 0 && k == end {
                    self.pattern(side.arbitrary_sibling(i, j), [is_on(i), is_on(j)]);
                }
            }
        }
    }

    /// The states of all variables under a tree.
    fn states(&self, heads: &[usize]) -> Vec<u32> {
        let is_on = |arc: usize| {
            let (head, modifier) = self.parts.arcs()[arc];
            heads[modifier - 1] == head
        };
        let mut states: Vec<u32> = (0..self.arcs.len()).map(|arc| u32::from(is_on(arc))).collect();
        for side in self.parts.sides() {
            let mut last = 0;
            for (&arc, number) in self.parts.arcs_of(side).iter().zip(1..) {
                last = if is_on(arc as usize) { number } else { last };
                states[arc as usize] = last;
            }
        }
        states
    }
}
