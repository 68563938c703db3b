//! Branch and bound: best first between dives. The loop is the same whatever bounds the parts of a problem.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Numbers that waiting parts may hold together before the search goes depth-first.
const MOST_HELD: usize = 1 << 26;

/// What bounds parts of a problem, looks for assignments in them and splits them.
pub(super) trait Search {
    /// A part of the problem.
    type Part;

    /// Nothing at or below this is of interest.
    fn cut(&self) -> f64;

    /// Whether a limit is reached.
    fn is_stopped(&self) -> bool;

    /// Bounds a part that is worth at most `bound`, and splits it where that does not settle it. The whole
    /// has depth 0.
    fn expand(&mut self, part: Self::Part, bound: f64, depth: u32) -> Expansion<Self::Part>;

    /// Numbers that a part holds.
    fn held(part: &Self::Part) -> usize;

    /// Hears of a part that was left out, worth at most `bound`, because of the cut.
    fn leave_out(&mut self, bound: f64);

    /// Hears after every part how much those that are left can be worth.
    fn report(&mut self, bound: f64);
}

/// What became of a part.
pub(super) enum Expansion<P> {
    /// Solved, or nothing good inside.
    Closed,
    /// A limit struck; the bound of what is left.
    Interrupted(f64),
    /// Two parts, the more promising first, and the bound of both.
    Split(Box<[P; 2]>, f64),
}

/// A part that waits for its turn.
struct Node<P> {
    part: P,
    bound: f64,
    depth: u32,
    /// Zero while memory is plenty, else the depth: deeper nodes then go first.
    urgency: u32,
    /// Of equally good nodes the youngest goes first.
    serial: u64,
}

impl<P> Ord for Node<P> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_bound = || self.bound.total_cmp(&other.bound);
        self.urgency.cmp(&other.urgency).then_with(by_bound).then(self.serial.cmp(&other.serial))
    }
}

impl<P> PartialOrd for Node<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> PartialEq for Node<P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<P> Eq for Node<P> {}

/// Largest bound of a node that waits.
fn open_bound<P>(open: &BinaryHeap<Node<P>>) -> f64 {
    match open.peek() {
        Some(top) if top.urgency == 0 => top.bound,
        _ => open.iter().map(|node| node.bound).fold(f64::NEG_INFINITY, f64::max),
    }
}

/// Searches the whole; returns the bound of what limits left unexplored, minus infinity if nothing was.
pub(super) fn run<S: Search>(search: &mut S, whole: S::Part) -> f64 {
    let mut open = BinaryHeap::new();
    let (mut held, mut serial, mut unexplored) = (0, 0, f64::NEG_INFINITY);
    let mut next = Some(Node { part: whole, bound: f64::INFINITY, depth: 0, urgency: 0, serial });
    loop {
        let popped = || {
            let node: Node<S::Part> = open.pop()?;
            held -= S::held(&node.part);
            Some(node)
        };
        let Some(node) = next.take().or_else(popped) else { return unexplored };
        if node.bound <= search.cut() {
            search.leave_out(node.bound);
            continue;
        }
        if node.depth > 0 && search.is_stopped() {
            return unexplored.max(node.bound).max(open_bound(&open));
        }
        match search.expand(node.part, node.bound, node.depth) {
            Expansion::Closed => {}
            Expansion::Interrupted(bound) => unexplored = unexplored.max(bound),
            Expansion::Split(halves, bound) => {
                let ([dive, rest], depth) = (*halves, node.depth + 1);
                let urgency = if held > MOST_HELD { depth } else { 0 };
                serial += 1;
                held += S::held(&rest);
                open.push(Node { part: rest, bound, depth, urgency, serial });
                next = Some(Node { part: dive, bound, depth, urgency: 0, serial });
            }
        }
        let diving = next.as_ref().map_or(f64::NEG_INFINITY, |node| node.bound);
        search.report(unexplored.max(diving).max(open_bound(&open)));
    }
}
