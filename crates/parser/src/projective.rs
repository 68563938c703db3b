//! The best projective tree of first order (Eisner 1996), in O(n³).

use consonant_map::oracle::arborescence::RootChildren;

use crate::parts::TreeParts;

/// Spans of words s..=t, of two kinds: *open* spans are about to be joined by an arc between their ends,
/// *closed* spans are complete at one end. Each with its head at the left or at the right.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    /// Scores of arcs, [head][modifier].
    arcs: Vec<f64>,
    /// [s][t] with head s, then with head t.
    open: [Vec<f64>; 2],
    closed: [Vec<f64>; 2],
}

const LEFT: usize = 0;
const RIGHT: usize = 1;

impl Workspace {
    /// Writes the heads of the best projective tree and returns its value; minus infinity if there is none.
    pub(crate) fn maximize(
        &mut self,
        parts: &TreeParts,
        scores: &[f32],
        root_children: RootChildren,
        heads: &mut Vec<usize>,
    ) -> f64 {
        let nodes = parts.words() + 1;
        self.arcs.clear();
        self.arcs.resize(nodes * nodes, f64::NEG_INFINITY);
        for (&(head, modifier), &score) in parts.arcs().iter().zip(scores) {
            self.arcs[head * nodes + modifier] = f64::from(score);
        }
        for table in self.open.iter_mut().chain(&mut self.closed) {
            table.clear();
            table.resize(nodes * nodes, f64::NEG_INFINITY);
        }
        for word in 0..nodes {
            self.closed[LEFT][word * nodes + word] = 0.0;
            self.closed[RIGHT][word * nodes + word] = 0.0;
        }
        // With one child of the root, the words are parsed without it, and the child is chosen at the end.
        let first = usize::from(root_children == RootChildren::One);
        for width in 1..nodes - first {
            for s in first..nodes - width {
                let t = s + width;
                let inside = (s..t)
                    .map(|r| self.closed[LEFT][s * nodes + r] + self.closed[RIGHT][(r + 1) * nodes + t])
                    .fold(f64::NEG_INFINITY, f64::max);
                self.open[LEFT][s * nodes + t] = inside + self.arcs[s * nodes + t];
                self.open[RIGHT][s * nodes + t] = inside + self.arcs[t * nodes + s];
                self.closed[LEFT][s * nodes + t] = (s + 1..=t)
                    .map(|r| self.open[LEFT][s * nodes + r] + self.closed[LEFT][r * nodes + t])
                    .fold(f64::NEG_INFINITY, f64::max);
                self.closed[RIGHT][s * nodes + t] = (s..t)
                    .map(|r| self.closed[RIGHT][s * nodes + r] + self.open[RIGHT][r * nodes + t])
                    .fold(f64::NEG_INFINITY, f64::max);
            }
        }
        heads.clear();
        heads.resize(nodes - 1, 0);
        if root_children == RootChildren::Any {
            self.open_span(0, nodes - 1, LEFT, nodes, heads);
            return self.closed[LEFT][nodes - 1];
        }
        let value = |child: usize| {
            self.arcs[child]
                + self.closed[RIGHT][nodes + child]
                + self.closed[LEFT][child * nodes + nodes - 1]
        };
        let Some(child) = (1..nodes).max_by(|&a, &b| value(a).total_cmp(&value(b))) else {
            return f64::NEG_INFINITY;
        };
        let best = value(child);
        self.open_span(1, child, RIGHT, nodes, heads);
        self.open_span(child, nodes - 1, LEFT, nodes, heads);
        best
    }

    /// Follows the best choices inside a closed span and writes its heads.
    fn open_span(&self, s: usize, t: usize, head_at: usize, nodes: usize, heads: &mut [usize]) {
        let mut stack = vec![(s, t, head_at)];
        let best = |range: std::ops::Range<usize>, value: &dyn Fn(usize) -> f64| {
            let start = range.start;
            range.fold(start, |best, r| if value(r) > value(best) { r } else { best })
        };
        while let Some((s, t, head_at)) = stack.pop() {
            if s == t {
                continue;
            }
            // The arc that the closed span was made of last, then what lies between its ends.
            let (left, right) = if head_at == LEFT {
                let r = best(s + 1..t + 1, &|r| {
                    self.open[LEFT][s * nodes + r] + self.closed[LEFT][r * nodes + t]
                });
                heads[r - 1] = s;
                stack.push((r, t, LEFT));
                (s, r)
            } else {
                let r = best(s..t, &|r| self.closed[RIGHT][s * nodes + r] + self.open[RIGHT][r * nodes + t]);
                if r > 0 {
                    heads[r - 1] = t;
                }
                stack.push((s, r, RIGHT));
                (r, t)
            };
            let middle = best(left..right, &|r| {
                self.closed[LEFT][left * nodes + r] + self.closed[RIGHT][(r + 1) * nodes + right]
            });
            stack.push((left, middle, LEFT));
            stack.push((middle + 1, right, RIGHT));
        }
    }
}
