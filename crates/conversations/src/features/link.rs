//! Features of single links, after Qu & Liu (2012) and the literature on chat: where, when, who, to whom, and
//! which words.

use super::{LinkContext, Sink, bucket, put};
use crate::conversation::{Addressee, Conversation, Unit};
use crate::words::Cues;

/// Words of a message that are combined with the place of a target.
const MOST_WORDS: usize = 24;

pub(super) fn features(
    conversation: &Conversation,
    source: usize,
    target: usize,
    context: &LinkContext,
    sink: &mut impl Sink,
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

    put!(sink, "link");
    put!(sink, "distance", distance);
    put!(sink, "minutes", minutes);
    put!(sink, "distance minutes", distance, minutes);
    put!(sink, "distance same-author run", distance, same_author, run);
    put!(sink, "minutes same-author run", minutes, same_author, run);
    put!(sink, "relation", relation);
    put!(sink, "relation distance", relation, distance);
    put!(sink, "relation minutes", relation, minutes);
    put!(sink, "relation run", relation, run);
    put!(sink, "role", role);
    put!(sink, "role run addressed", role, run, addressed);
    put!(sink, "role called", role, called);
    put!(sink, "role called its", role, called, context.its_between);
    put!(sink, "role distance", role, distance);
    put!(sink, "role minutes", role, minutes);
    put!(sink, "role kind", role, kind);
    put!(sink, "role its-kind", role, its_kind);
    put!(sink, "role kinds", role, kind, its_kind);
    put!(sink, "role ends-run", role, ends_run, its.run.min(2));
    put!(sink, "role people", role, people);
    put!(sink, "role answered", role, context.answered, context.calls_between);
    put!(sink, "role questions", role, context.questions_between, its.cues.has(Cues::QUESTION));
    put!(sink, "role voices", role, context.voices_between);
    put!(sink, "calls its-rank", calls, context.its_between, distance);
    put!(sink, "called own", called, context.own_between, context.calls_between);
    put!(sink, "called own its", called, context.own_between, context.its_between, same_author);
    put!(sink, "calls called answered", calls, called, context.answered);
    put!(sink, "kinds", kind, its_kind, same_author);
    put!(sink, "kinds distance", kind, its_kind, distance);
    put!(sink, "lengths", length(own), length(its), same_author);
    put!(sink, "length role", length(own), role);
    put!(sink, "its-length role", length(its), role);
    put!(sink, "start distance", is_start, distance);
    put!(sink, "start role", is_start, role, its_kind);
    put!(sink, "start called", is_start, called, calls);
    put!(sink, "people distance", people, distance);
    put!(sink, "same-addressee", context.same_addressee, same_author, distance);
    put!(sink, "replied", context.replied, same_author, rank);
    put!(sink, "similarity", context.similarity);
    put!(sink, "similarity distance", context.similarity, distance);
    put!(sink, "similarity role", context.similarity, role);
    put!(sink, "most-similar", context.most_similar, context.similarity, rank, same_author);
    put!(sink, "common", context.common, same_author);
    put!(sink, "common rank", context.common, rank, same_author);
    cue_features(own, its, context, sink);
    word_features(own, its, context, sink);
}

fn cue_features(own: &Unit, its: &Unit, context: &LinkContext, sink: &mut impl Sink) {
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
            put!(sink, "cue", cue, place, context.distance.min(3));
            put!(sink, "cue its-kind", cue, its.cues.kind(), context.same_author);
        }
        if its.cues.has(cue) {
            put!(sink, "its-cue", cue, place, context.distance.min(3));
            put!(sink, "its-cue kind", cue, own.cues.kind(), context.same_author);
        }
    }
}

fn word_features(own: &Unit, its: &Unit, context: &LinkContext, sink: &mut impl Sink) {
    let place = u32::from(context.rank.min(2)) * 2 + u32::from(context.same_author);
    let near = u32::from(context.distance.min(2)) * 2 + u32::from(context.same_author);
    put!(sink, "opening role", own.opening[0], context.role());
    put!(sink, "opening near", own.opening[0], near);
    put!(sink, "openings place", own.opening[0], own.opening[1], place);
    put!(sink, "its-opening place", its.opening[0], place);
    put!(sink, "its-opening near", its.opening[0], near);
    put!(sink, "both openings", own.opening[0], its.opening[0], context.same_author);
    put!(sink, "ending place", own.ending, place);
    put!(sink, "its-ending place", its.ending, place);
    put!(sink, "opening its-ending", own.opening[0], its.ending, context.same_author);
    for word in own.words.iter().take(MOST_WORDS) {
        put!(sink, "word place", word.0, place);
    }
    for word in its.words.iter().take(MOST_WORDS) {
        put!(sink, "its-word place", word.0, place);
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
