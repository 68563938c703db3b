//! Features of single links, after Qu & Liu (2012) and the literature on chat: where, when, who, to whom, and
//! which words.

use consonant_learn::names::FeatureSink;

use super::{Features, LinkContext, bucket, put};
use crate::conversation::{Addressee, Conversation, Unit};
use crate::words::Cues;

/// Words of a message that are combined with the place of a target.
const MOST_WORDS: usize = 24;

pub(super) fn features(
    conversation: &Conversation,
    source: usize,
    target: usize,
    context: &LinkContext,
    out: &mut Features<'_, impl FeatureSink>,
) {
    let (own, its) = (&conversation.units[source], &conversation.units[target]);
    let LinkContext { distance, minutes, same_author, calls, called, rank, .. } = *context;
    let (relation, role) = (context.relation(), context.role());
    let (kind, its_kind) = (own.cues.kind(), its.cues.kind());
    let run = own.run.min(2);
    let is_start = target == 0;
    let addressed = addressed(own);
    let people = conversation.authors.min(4);
    let ends_run = conversation.units[target + 1].author != its.author;

    put!(out, "link");
    put!(out, "distance", distance);
    put!(out, "minutes", minutes);
    put!(out, "distance minutes", distance, minutes);
    put!(out, "distance same-author run", distance, same_author, run);
    put!(out, "minutes same-author run", minutes, same_author, run);
    put!(out, "relation", relation);
    put!(out, "relation distance", relation, distance);
    put!(out, "relation minutes", relation, minutes);
    put!(out, "relation run", relation, run);
    put!(out, "role", role);
    put!(out, "role run addressed", role, run, addressed);
    put!(out, "role called", role, called);
    put!(out, "role called its", role, called, context.its_between);
    put!(out, "role distance", role, distance);
    put!(out, "role minutes", role, minutes);
    put!(out, "role kind", role, kind);
    put!(out, "role its-kind", role, its_kind);
    put!(out, "role kinds", role, kind, its_kind);
    put!(out, "role ends-run", role, ends_run, its.run.min(2));
    put!(out, "role people", role, people);
    put!(out, "role answered", role, context.answered, context.calls_between);
    put!(out, "role questions", role, context.questions_between, its.cues.has(Cues::QUESTION));
    put!(out, "role voices", role, context.voices_between);
    put!(out, "calls its-rank", calls, context.its_between, distance);
    put!(out, "called own", called, context.own_between, context.calls_between);
    put!(out, "called own its", called, context.own_between, context.its_between, same_author);
    put!(out, "calls called answered", calls, called, context.answered);
    put!(out, "kinds", kind, its_kind, same_author);
    put!(out, "kinds distance", kind, its_kind, distance);
    put!(out, "lengths", length(own), length(its), same_author);
    put!(out, "length role", length(own), role);
    put!(out, "its-length role", length(its), role);
    put!(out, "start distance", is_start, distance);
    put!(out, "start role", is_start, role, its_kind);
    put!(out, "start called", is_start, called, calls);
    put!(out, "people distance", people, distance);
    put!(out, "same-addressee", context.same_addressee, same_author, distance);
    put!(out, "replied", context.replied, same_author, rank);
    put!(out, "similarity", context.similarity);
    put!(out, "similarity distance", context.similarity, distance);
    put!(out, "similarity role", context.similarity, role);
    put!(out, "most-similar", context.most_similar, context.similarity, rank, same_author);
    put!(out, "common", context.common, same_author);
    put!(out, "common rank", context.common, rank, same_author);
    cue_features(own, its, context, out);
    word_features(own, its, context, out);
}

fn cue_features(own: &Unit, its: &Unit, context: &LinkContext, out: &mut Features<'_, impl FeatureSink>) {
    const CUES: [u32; 14] = [
        Cues::QUESTION,
        Cues::ASKS,
        Cues::THANKS,
        Cues::GREETS,
        Cues::ADDRESS,
        Cues::COMMAND,
        Cues::GOES_ON,
        Cues::UNFINISHED,
        Cues::ACTION,
        Cues::LAUGHS,
        Cues::ADVICE,
        Cues::POINTS,
        Cues::SORRY,
        Cues::TROUBLE,
    ];
    let place = u32::from(context.rank.min(2)) * 2 + u32::from(context.same_author);
    for cue in CUES {
        if own.cues.has(cue) {
            put!(out, "cue", cue, place, context.distance.min(3));
            put!(out, "cue its-kind", cue, its.cues.kind(), context.same_author);
        }
        if its.cues.has(cue) {
            put!(out, "its-cue", cue, place, context.distance.min(3));
            put!(out, "its-cue kind", cue, own.cues.kind(), context.same_author);
        }
    }
}

fn word_features(own: &Unit, its: &Unit, context: &LinkContext, out: &mut Features<'_, impl FeatureSink>) {
    let place = u32::from(context.rank.min(2)) * 2 + u32::from(context.same_author);
    let near = u32::from(context.distance.min(2)) * 2 + u32::from(context.same_author);
    put!(out, "opening role", own.opening[0], context.role());
    put!(out, "opening near", own.opening[0], near);
    put!(out, "openings place", own.opening[0], own.opening[1], place);
    put!(out, "its-opening place", its.opening[0], place);
    put!(out, "its-opening near", its.opening[0], near);
    put!(out, "both openings", own.opening[0], its.opening[0], context.same_author);
    put!(out, "ending place", own.ending, place);
    put!(out, "its-ending place", its.ending, place);
    put!(out, "opening its-ending", own.opening[0], its.ending, context.same_author);
    for word in own.words.iter().take(MOST_WORDS) {
        put!(out, "word place", word.0, place);
    }
    for word in its.words.iter().take(MOST_WORDS) {
        put!(out, "its-word place", word.0, place);
    }
}

fn length(unit: &Unit) -> u8 {
    bucket(unit.length, &[0, 1, 3, 7, 15])
}

fn addressed(unit: &Unit) -> u8 {
    match unit.addressee {
        Addressee::Nobody => 0,
        Addressee::Author(_) => 1,
        Addressee::Stranger => 2,
    }
}
