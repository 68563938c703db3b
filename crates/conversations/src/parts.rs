//! The parts of a conversation: possible links, pairs of neighbouring links, and triples.
//!
//! Links lie on a grid, sources down and targets across. A part is a product: its score counts when all of
//! its links are there. Every function of neighbouring links is a sum of such products, so nothing is lost by
//! having no parts for links that are absent.

consonant_task::names! {
    /// Which parts are scored.
    #[derive(Default)]
    pub enum GraphKind {
        /// Each link for itself.
        Pairs = "pairs",
        /// Links and pairs of neighbours on the grid (Qu & Liu 2012).
        Grid = "grid",
        /// Also patterns over two adjacent edges of the grid (after Qian & Liu 2014), three links in a column.
        #[default]
        Triples = "triples",
        /// All patterns over two adjacent edges, as the paper has them: in a column, in a row and around a corner.
        AllTriples = "all-triples",
    }
}

consonant_task::names! {
    /// How many links a source has.
    #[derive(Default)]
    pub enum Constraint {
        /// Any number.
        #[default]
        Any = "any",
        /// None or one.
        AtMostOne = "at-most-one",
        /// One or more.
        AtLeastOne = "at-least-one",
        /// One.
        ExactlyOne = "exactly-one",
    }
}

impl Constraint {
    /// Whether a source may have two links.
    pub fn allows_many(self) -> bool {
        matches!(self, Self::Any | Self::AtLeastOne)
    }

    /// Whether a source may have no link.
    pub fn allows_none(self) -> bool {
        matches!(self, Self::Any | Self::AtMostOne)
    }

    /// Whether a source may have this many links.
    pub fn allows(self, links: usize) -> bool {
        (links > 0 || self.allows_none()) && (links < 2 || self.allows_many())
    }
}

/// How the two links of a pair lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairShape {
    /// One source, neighbouring targets.
    Row,
    /// Neighbouring sources, one target.
    Column,
    /// The ends of two edges around a corner: sources and targets are neighbours, the later source has the
    /// later target.
    Diagonal,
    /// The same, but the later source has the earlier target.
    Crossing,
    /// The ends of two edges in a column: two sources with one between, one target.
    ColumnEnds,
    /// The ends of two edges in a row: one source, two targets with one between.
    RowEnds,
}

/// Two links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The links, by index; the first has the earlier source or, in a row, the earlier target.
    pub links: [usize; 2],
    /// How they lie.
    pub shape: PairShape,
}

/// How the three links of a triple lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TripleShape {
    /// The sources of one target that follow each other.
    Column,
    /// The targets of one source that follow each other.
    Row,
    /// Around a corner: where the neighbour with the same target is, and the one with the same source.
    Corner {
        /// It has the source after, not before.
        below: bool,
        /// It has the target after, not before.
        right: bool,
    },
}

/// Three links of two edges with a common end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Triple {
    /// The links, by index, ascending.
    pub links: [usize; 3],
    /// How they lie.
    pub shape: TripleShape,
}

/// The parts of one conversation; parts are counted from 0: links, then pairs, then triples.
#[derive(Debug, Clone, Default)]
pub struct LinkParts {
    units: usize,
    window: usize,
    constraint: Constraint,
    /// First link of each source; one more than there are units.
    rows: Vec<usize>,
    links: Vec<(usize, usize)>,
    pairs: Vec<Pair>,
    triples: Vec<Triple>,
}

impl LinkParts {
    /// The parts of a conversation of this many units, whose links reach back `window` units at most. Parts
    /// that the constraint makes impossible are left out.
    pub fn new(units: usize, window: usize, kind: GraphKind, constraint: Constraint) -> Self {
        let mut parts = Self::default();
        parts.rebuild(units, window, kind, constraint);
        parts
    }

    /// Makes these the parts of another conversation, in the same memory.
    pub fn rebuild(&mut self, units: usize, window: usize, kind: GraphKind, constraint: Constraint) {
        (self.units, self.window, self.constraint) = (units, window.max(1), constraint);
        self.rows.clear();
        self.links.clear();
        self.pairs.clear();
        self.triples.clear();
        for source in 0..units {
            self.rows.push(self.links.len());
            self.links.extend((self.first_target(source)..source).map(|target| (source, target)));
        }
        self.rows.push(self.links.len());
        if kind != GraphKind::Pairs {
            self.add_neighbours();
        }
        if matches!(kind, GraphKind::Triples | GraphKind::AllTriples) {
            self.add_triples();
        }
        if kind == GraphKind::AllTriples && self.constraint.allows_many() {
            self.add_rows_and_corners();
        }
    }

    fn add_neighbours(&mut self) {
        let many = self.constraint.allows_many();
        for at in 0..self.links.len() {
            let (source, target) = self.links[at];
            let mut add = |other: Option<usize>, shape| {
                self.pairs.extend(other.map(|other| Pair { links: [at, other], shape }));
            };
            if many {
                add(at_link(&self.rows, self.window, source, target + 1), PairShape::Row);
            }
            add(at_link(&self.rows, self.window, source + 1, target), PairShape::Column);
        }
    }

    /// Two edges with a common end: their outer ends as a pair and, where both lie in a column, all three
    /// together.
    ///
    /// Three links at a corner or in a row need two links of one source, which are rare enough that such
    /// patterns only make decoding harder.
    fn add_triples(&mut self) {
        let (rows, window) = (&self.rows, self.window);
        for at in 0..self.links.len() {
            let (source, target) = self.links[at];
            let link = |source, target| at_link(rows, window, source, target);
            let (right, below) = (link(source, target + 1), link(source + 1, target));
            if let (Some(below), Some(last)) = (below, link(source + 2, target)) {
                self.pairs.push(Pair { links: [at, last], shape: PairShape::ColumnEnds });
                self.triples.push(Triple { links: [at, below, last], shape: TripleShape::Column });
            }
            if let Some(across) = link(source + 1, target + 1) {
                self.pairs.push(Pair { links: [at, across], shape: PairShape::Diagonal });
            }
            if let (Some(right), Some(below)) = (right, below) {
                self.pairs.push(Pair { links: [right, below], shape: PairShape::Crossing });
            }
        }
    }

    /// The other triples: together with pairs and links their products span all functions of the eight states of three
    /// links.
    fn add_rows_and_corners(&mut self) {
        let (rows, window) = (&self.rows, self.window);
        for at in 0..self.links.len() {
            let (source, target) = self.links[at];
            let link = |source, target: Option<usize>| at_link(rows, window, source, target?);
            let right = link(source, Some(target + 1));
            if let (Some(right), Some(last)) = (right, link(source, Some(target + 2))) {
                self.pairs.push(Pair { links: [at, last], shape: PairShape::RowEnds });
                self.triples.push(Triple { links: [at, right, last], shape: TripleShape::Row });
            }
            let beside = [(false, link(source, target.checked_sub(1))), (true, right)];
            let above = source.checked_sub(1).and_then(|source| link(source, Some(target)));
            for (below, vertical) in [(false, above), (true, link(source + 1, Some(target)))] {
                for (right, horizontal) in beside {
                    let (Some(vertical), Some(horizontal)) = (vertical, horizontal) else { continue };
                    let mut links = [at, vertical, horizontal];
                    links.sort_unstable();
                    self.triples.push(Triple { links, shape: TripleShape::Corner { below, right } });
                }
            }
        }
    }

    /// The first unit that a source may answer.
    pub fn first_target(&self, source: usize) -> usize {
        source.saturating_sub(self.window)
    }

    /// The number of units.
    pub fn units(&self) -> usize {
        self.units
    }

    /// How many links a source has.
    pub fn constraint(&self) -> Constraint {
        self.constraint
    }

    /// The number of parts.
    pub fn len(&self) -> usize {
        self.links.len() + self.pairs.len() + self.triples.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// The possible links as (source, target), ordered.
    pub fn links(&self) -> &[(usize, usize)] {
        &self.links
    }

    /// The links of one source, by index.
    pub fn row(&self, source: usize) -> std::ops::Range<usize> {
        self.rows[source]..self.rows[source + 1]
    }

    /// The index of a link, if it is possible.
    pub fn link(&self, source: usize, target: usize) -> Option<usize> {
        at_link(&self.rows, self.window, source, target)
    }

    /// The pairs; the first of them is part `links().len()`.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The triples, the last parts.
    pub fn triples(&self) -> &[Triple] {
        &self.triples
    }

    /// The links of every part that has several: of pairs, then of triples.
    pub fn members(&self) -> impl Iterator<Item = &[usize]> {
        let pairs = self.pairs.iter().map(|pair| pair.links.as_slice());
        pairs.chain(self.triples.iter().map(|triple| triple.links.as_slice()))
    }

    /// Calls `visit` with every part whose links are all among those given.
    pub fn of_links(&self, present: &[bool], mut visit: impl FnMut(usize)) {
        (0..self.links.len()).filter(|&link| present[link]).for_each(&mut visit);
        let is_there = |members: &[usize]| members.iter().all(|&link| present[link]);
        let first = self.links.len();
        let there = self.members().enumerate().filter(|(_, members)| is_there(members));
        there.for_each(|(at, _)| visit(first + at));
    }

    /// The score of a set of links.
    pub fn value(&self, scores: &[f32], present: &[bool]) -> f64 {
        let mut value = 0.0;
        self.of_links(present, |part| value += f64::from(scores[part]));
        value
    }

    /// Whether every source has as many links as it should. A source that nothing comes before has none.
    pub fn satisfies(&self, present: &[bool]) -> bool {
        (0..self.units).all(|source| {
            let row = self.row(source);
            let count = present[row.clone()].iter().filter(|&&on| on).count();
            row.is_empty() || self.constraint.allows(count)
        })
    }
}

fn at_link(rows: &[usize], window: usize, source: usize, target: usize) -> Option<usize> {
    let row = *rows.get(source)?..*rows.get(source + 1)?;
    let first = source.saturating_sub(window);
    (first..source).contains(&target).then(|| row.start + target - first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_has_its_neighbours_and_triples() {
        let parts = LinkParts::new(4, 99, GraphKind::Triples, Constraint::Any);
        assert_eq!(parts.links(), [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]);
        let count = |shape| parts.pairs().iter().filter(|pair| pair.shape == shape).count();
        assert_eq!(count(PairShape::Row), 3);
        assert_eq!(count(PairShape::Column), 3);
        assert_eq!((count(PairShape::Diagonal), count(PairShape::Crossing)), (3, 1));
        // Every two edges in a column with a common end.
        assert_eq!((count(PairShape::ColumnEnds), parts.triples().len()), (1, 1));
        assert_eq!(parts.triples()[0].links.map(|link| parts.links()[link]), [(1, 0), (2, 0), (3, 0)]);
        assert!(parts.pairs().iter().all(|pair| pair.links[0] < pair.links[1]));
        // A thread of forty units, as in the papers' experiments.
        let large = LinkParts::new(40, 99, GraphKind::Triples, Constraint::Any);
        assert_eq!(large.links().len(), 780);
        assert_eq!((large.pairs().len(), large.triples().len()), (2 * 741 + 703 + 741 + 703, 703));
    }

    #[test]
    fn all_triples_are_those_of_every_two_adjacent_edges() {
        let parts = LinkParts::new(9, 5, GraphKind::AllTriples, Constraint::Any);
        let places = parts.links();
        let adjacent = |a: usize, b: usize| {
            let ((s, t), (u, v)) = (places[a], places[b]);
            s.abs_diff(u) + t.abs_diff(v) == 1
        };
        let all = 0..places.len();
        // Two of the three pairs are edges; three never are.
        let mut expected = Vec::new();
        for a in all.clone() {
            for b in a + 1..places.len() {
                for c in b + 1..places.len() {
                    if [adjacent(a, b), adjacent(b, c), adjacent(a, c)].iter().filter(|&&edge| edge).count()
                        == 2
                    {
                        expected.push([a, b, c]);
                    }
                }
            }
        }
        let mut found: Vec<[usize; 3]> = parts.triples().iter().map(|triple| triple.links).collect();
        found.sort_unstable();
        assert_eq!(found, expected);
        // Each triple's three pairs are there once, so that all its states can be told apart.
        let pairs: Vec<[usize; 2]> = parts.pairs().iter().map(|pair| pair.links).collect();
        for [a, b, c] in found {
            for pair in [[a, b], [b, c], [a, c]] {
                assert_eq!(pairs.iter().filter(|&&other| other == pair).count(), 1, "{pair:?}");
            }
        }
    }

    #[test]
    fn windows_and_constraints_leave_parts_out() {
        let parts = LinkParts::new(5, 2, GraphKind::Triples, Constraint::ExactlyOne);
        assert_eq!(parts.links().len(), 1 + 2 + 2 + 2);
        assert_eq!(parts.link(4, 1), None);
        assert_eq!(parts.link(4, 2).map(|link| parts.links()[link]), Some((4, 2)));
        assert!(parts.pairs().iter().all(|pair| pair.shape != PairShape::Row));
        for kind in [GraphKind::Pairs, GraphKind::Grid, GraphKind::Triples] {
            let single = LinkParts::new(1, 9, kind, Constraint::AtLeastOne);
            assert!(single.is_empty() && single.satisfies(&[]));
            assert_eq!(LinkParts::new(0, 9, kind, Constraint::Any).len(), 0);
        }
    }
}
