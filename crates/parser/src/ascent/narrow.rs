//! The scores of a problem with fewer arcs.

use crate::parts::{Side, TreeParts};
use crate::score::Part;

/// Writes the scores of `narrow`, whose arcs are some of those of `wide`.
pub(super) fn scores<S: Copy + Into<f64>>(
    wide: &TreeParts,
    wide_scores: &[S],
    narrow: &TreeParts,
    scores: &mut Vec<f64>,
) {
    scores.clear();
    let at = |part: Option<usize>| part.map_or(0.0, |part| wide_scores[part].into());
    // The side at hand in `wide`, and the numbers there of its modifiers and of the arcs into its head.
    let (mut sides, mut modifiers, mut incoming) = (wide.sides().iter(), Vec::new(), Vec::new());
    let mut known: Option<(&Side, &Side)> = None;
    narrow.for_each(|part| {
        let side = match &part {
            Part::Sibling(side, ..)
            | Part::Grandparent(side, ..)
            | Part::GrandSibling(side, ..)
            | Part::TriSibling(side, ..)
            | Part::ArbitrarySibling(side, ..) => Some(*side),
            Part::Arc(..) | Part::HeadBigram { .. } => None,
        };
        if let Some(side) = side
            && known.is_none_or(|(last, _)| !std::ptr::eq(last, side))
            && let Some(own) = sides.find(|own| own.head == side.head && own.is_right == side.is_right)
        {
            modifiers.clear();
            modifiers.push(0);
            let mut arcs = wide.arcs_of(own).iter().zip(1..);
            for j in 1..=side.modifiers() {
                let modifier = narrow.modifier(side, j);
                modifiers
                    .extend(arcs.find(|&(&arc, _)| wide.arcs()[arc as usize].1 == modifier).map(|(_, j)| j));
            }
            modifiers.push(own.modifiers() + 1);
            incoming.clear();
            incoming.extend(side.incoming.clone().filter_map(|arc| {
                let (head, modifier) = narrow.arcs()[arc];
                wide.arc(head, modifier).map(|arc| arc - own.incoming.start)
            }));
            known = Some((side, own));
        }
        let own = known.map(|(_, own)| own);
        let m = |j: usize| modifiers[j];
        scores.push(match part {
            Part::Arc(head, modifier) => at(wide.arc(head, modifier)),
            Part::Sibling(_, i, j) => at(own.and_then(|own| own.sibling(m(i), m(j)))),
            Part::Grandparent(_, g, j) => at(own.and_then(|own| own.grandparent(incoming[g], m(j)))),
            Part::GrandSibling(_, g, i, j) => {
                at(own.and_then(|own| own.grand_sibling(incoming[g], m(i), m(j))))
            }
            Part::TriSibling(_, i, j, k) => at(own.and_then(|own| own.tri_sibling(m(i), m(j), m(k)))),
            Part::ArbitrarySibling(_, i, j) => at(own.and_then(|own| own.arbitrary_sibling(m(i), m(j)))),
            Part::HeadBigram { word, before, own } => {
                let number = |head: usize, word: usize| {
                    wide.arc(head, word).map(|arc| arc - wide.arcs_into(word).start)
                };
                let (before, own) = (number(before, word - 1), number(own, word));
                at(before.zip(own).and_then(|(before, own)| wide.head_bigram(word, before, own)))
            }
        });
    });
    // A side that has lost all its candidates is worth what it is without modifiers, which may depend on the
    // arc into its head.
    let mut kept = narrow.sides().iter().peekable();
    for side in wide.sides() {
        if kept.next_if(|own| own.head == side.head && own.is_right == side.is_right).is_some() {
            continue;
        }
        let end = side.modifiers() + 1;
        for arc in narrow.arcs_into(side.head) {
            let own = wide
                .arc(narrow.arcs()[arc].0, side.head)
                .map_or(0, |arc| arc - wide.arcs_into(side.head).start);
            scores[arc] += at(side.sibling(0, end)) + at(side.grand_sibling(own, 0, end));
        }
    }
}
