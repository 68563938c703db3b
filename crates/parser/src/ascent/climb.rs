//! A tree made better word by word.

use consonant_map::oracle::arborescence::RootChildren;

use crate::parts::{Side, TreeParts};

/// Sweeps over the words at most.
const SWEEPS: usize = 8;

/// Buffers of [`climb`](Climber::climb).
#[derive(Debug, Default)]
pub(crate) struct Climber {
    /// Where the sides of each head begin among all sides; then the number of sides.
    first_side: Vec<u32>,
}

impl Climber {
    /// Gives words other heads by hopeful arcs, one at a time, as long as the tree gets better.
    pub(crate) fn climb<S: Copy + Into<f64>>(
        &mut self,
        parts: &TreeParts,
        scores: &[S],
        is_hopeful: impl Fn(usize) -> bool,
        heads: &mut [usize],
    ) {
        let has_one_root = parts.root_children() == RootChildren::One;
        let sides = parts.sides();
        self.first_side.clear();
        self.first_side.extend(
            (0..=parts.words() + 1).map(|head| sides.partition_point(|side| side.head < head) as u32),
        );
        let sides_of =
            |head: usize| &sides[self.first_side[head] as usize..self.first_side[head + 1] as usize];
        // What a word adds where it is, under a head of which it is a modifier.
        let worth = |heads: &mut [usize], word: usize, head: usize| -> f64 {
            let side = sides_of(head).iter().find(|side| side.is_right == (word > head));
            let around = |heads: &[usize]| side.map_or(0.0, |side| side_value(parts, scores, heads, side));
            heads[word - 1] = usize::MAX;
            let without = around(heads);
            heads[word - 1] = head;
            let own = own_value(parts, scores, heads, word);
            let below = sides_of(word).iter().map(|side| side_value(parts, scores, heads, side));
            own + below.sum::<f64>() + around(heads) - without
        };
        for _ in 0..SWEEPS {
            let mut is_better = false;
            for word in 1..=parts.words() {
                let old = heads[word - 1];
                let head = |arc: usize| parts.arcs()[arc].0;
                let mut others = parts
                    .arcs_into(word)
                    .filter(|&arc| head(arc) != old && (head(arc) != 0 || !has_one_root) && is_hopeful(arc))
                    .map(head)
                    .filter(|_| old != 0 || !has_one_root)
                    .peekable();
                if others.peek().is_none() {
                    continue;
                }
                let (mut best, mut most) = (old, worth(heads, word, old) + 1e-9);
                for head in others {
                    if !is_below(heads, head, word) {
                        let value = worth(heads, word, head);
                        if value > most {
                            (best, most) = (head, value);
                        }
                    }
                }
                heads[word - 1] = best;
                is_better |= best != old;
            }
            if !is_better {
                break;
            }
        }
    }
}

/// Whether a head stands below a word.
fn is_below(heads: &[usize], mut head: usize, word: usize) -> bool {
    while head != 0 && head != word {
        head = heads[head - 1];
    }
    head == word
}

/// The arc into a word, and its bigrams with the neighbours' heads.
fn own_value<S: Copy + Into<f64>>(parts: &TreeParts, scores: &[S], heads: &[usize], word: usize) -> f64 {
    let arc = |word: usize| parts.arc(heads[word - 1], word);
    let Some(own) = arc(word) else { return 0.0 };
    let mut value: f64 = scores[own].into();
    if parts.has_head_bigrams() {
        for second in [word, word + 1] {
            if second >= 2
                && second <= parts.words()
                && let (Some(a), Some(b)) = (arc(second - 1), arc(second))
                && let Some(part) = parts.head_bigram(
                    second,
                    a - parts.arcs_into(second - 1).start,
                    b - parts.arcs_into(second).start,
                )
            {
                value += scores[part].into();
            }
        }
    }
    value
}

/// The parts of one side of a head.
fn side_value<S: Copy + Into<f64>>(parts: &TreeParts, scores: &[S], heads: &[usize], side: &Side) -> f64 {
    let incoming = match side.incoming.is_empty() {
        true => None,
        false => parts.arc(heads[side.head - 1], side.head).map(|arc| arc - side.incoming.start),
    };
    let mut value = 0.0;
    parts.of_side(side, incoming, heads, |part| value += scores[part].into());
    value
}
