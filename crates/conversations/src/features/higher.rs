//! Features of pairs and triples of links: kinds of messages, who wrote them, how they lie (Qian & Liu 2014).

use consonant_learn::names::FeatureSink;

use super::{Features, LinkContext, put};
use crate::conversation::{Conversation, Unit};
use crate::parts::{LinkParts, Pair, PairShape, Triple, TripleShape};
use crate::words::Cues;

pub(super) fn pair_features(
    conversation: &Conversation,
    contexts: &[LinkContext],
    parts: &LinkParts,
    pair: &Pair,
    out: &mut Features<'_, impl FeatureSink>,
) {
    let [(s, t), (u, v)] = pair.links.map(|link| parts.links()[link]);
    let [a, b] = pair.links.map(|link| &contexts[link]);
    let units = &conversation.units;
    let author = |unit: usize| units[unit].author;
    // On a diagonal the second may answer the first source: a chain, which is another thing than two parallel
    // answers.
    let shape = pair.shape as u32 * 2 + u32::from(v == s);
    let same = u32::from(author(s) == author(u)) * 2 + u32::from(author(t) == author(v));
    let roles = u32::from(a.same_author) * 2 + u32::from(b.same_author);
    let across = u32::from(author(s) == author(v)) * 2 + u32::from(author(u) == author(t));
    let shape_same = (shape * 4 + same) * 4 + roles;
    let kind = |unit: usize| units[unit].cues.kind();
    let asks = |unit: usize| units[unit].cues.has(Cues::QUESTION);

    put!(out, "pair", shape);
    put!(out, "pair authors", shape_same);
    put!(out, "pair across", shape_same, across);
    put!(out, "pair distance", shape, a.distance, b.distance);
    put!(out, "pair distance authors", shape_same, a.distance);
    put!(out, "pair calls", shape_same, a.calls, b.calls);
    put!(out, "pair called", shape_same, a.called, b.called);
    put!(out, "pair ranks", shape_same, a.rank, b.rank);
    put!(out, "pair minutes", shape_same, a.minutes, b.minutes);
    put!(out, "pair questions", shape_same, asks(s), asks(t), asks(u), asks(v));
    put!(out, "pair source kinds", shape, kind(s), kind(u), same);
    put!(out, "pair target kinds", shape, kind(t), kind(v), same);
    put!(out, "pair kinds", shape, kind(u), kind(v), same);
    put!(out, "pair similarity", shape, a.similarity, b.similarity);
    if matches!(pair.shape, PairShape::Row | PairShape::RowEnds) {
        put!(out, "row opening", shape, units[s].opening[0]);
        put!(out, "row thanks", shape, units[s].cues.has(Cues::THANKS), same, a.distance);
    } else {
        put!(out, "column opening", shape_same, units[u].opening[0]);
    }
}

pub(super) fn triple_features(
    conversation: &Conversation,
    contexts: &[LinkContext],
    parts: &LinkParts,
    triple: &Triple,
    out: &mut Features<'_, impl FeatureSink>,
) {
    if triple.shape != TripleShape::Column {
        return other_triple_features(conversation, contexts, parts, triple, out);
    }
    let links = triple.links.map(|link| parts.links()[link]);
    let [a, b, c] = triple.links.map(|link| &contexts[link]);
    let units = &conversation.units;
    let [first, middle, last] = links.map(|(source, _)| &units[source]);
    let target = &units[links[0].1];
    let same = |x: &Unit, y: &Unit| u32::from(x.author == y.author);
    let own = [a, b, c].iter().fold(0, |code, context| code * 2 + u32::from(context.same_author));
    let authors = (own * 2 + same(first, middle)) * 4 + same(middle, last) * 2 + same(first, last);
    let [kind, next, final_kind] = [first, middle, last].map(|unit| unit.cues.kind());

    put!(out, "triple");
    put!(out, "triple authors", authors);
    put!(out, "triple distance", authors, a.distance);
    put!(out, "triple source kinds", kind, next, final_kind);
    put!(out, "triple target kind", target.cues.kind(), authors);
    put!(out, "triple calls", authors, a.calls, b.calls, c.calls);
}

/// Triples in a row and around corners: kinds of messages, and which of them one author wrote, as in the paper.
fn other_triple_features(
    conversation: &Conversation,
    contexts: &[LinkContext],
    parts: &LinkParts,
    triple: &Triple,
    out: &mut Features<'_, impl FeatureSink>,
) {
    let shape = match triple.shape {
        TripleShape::Column => 0,
        TripleShape::Row => 1,
        TripleShape::Corner { below, right } => 2 + u32::from(below) * 2 + u32::from(right),
    };
    let [(s, t), (u, v), (w, x)] = triple.links.map(|link| parts.links()[link]);
    let [a, b, c] = triple.links.map(|link| &contexts[link]);
    let units = &conversation.units;
    let kind = |unit: usize| units[unit].cues.kind();
    let same = |one: usize, other: usize| u32::from(units[one].author == units[other].author);
    let own = [a, b, c].iter().fold(shape, |code, context| code * 2 + u32::from(context.same_author));
    let authors = (own * 4 + same(s, u) * 2 + same(u, w)) * 4 + same(t, v) * 2 + same(v, x);

    put!(out, "other triple", shape);
    put!(out, "other triple authors", authors);
    put!(out, "other triple source kinds", shape, kind(s), kind(u), kind(w));
    put!(out, "other triple target kinds", shape, kind(t), kind(v), kind(x));
}
