//! What one possible link looks like from outside of its words, in small numbers.

use super::bucket;
use crate::conversation::{Addressee, Conversation, Overlap};
use crate::parts::LinkParts;
use crate::words::Cues;

/// A possible link in small numbers; all features of links, pairs and triples are made of these.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LinkContext {
    /// Units from target to source, in buckets.
    pub distance: u8,
    /// Minutes from target to source, in buckets; 0: not known.
    pub minutes: u8,
    pub same_author: bool,
    /// Whom the source speaks to: 0 nobody, 1 the target's author, 2 names the target's author somewhere, 3
    /// another.
    pub calls: u8,
    /// Whom the target speaks to: 0 nobody, 1 the source's author, 2 names the source's author somewhere, 3
    /// another.
    pub called: u8,
    /// Messages between them by the source's author, up to 3.
    pub own_between: u8,
    /// Messages between them by the target's author, up to 3.
    pub its_between: u8,
    /// Messages between them that speak to the source's author, up to 2.
    pub calls_between: u8,
    /// Messages between them by the source's author that speak to the target's, up to 2.
    pub answered: u8,
    /// Authors who speak between them, up to 3.
    pub voices_between: u8,
    /// Place of the target among the messages before the source that others wrote (or, with the same author,
    /// that author's), up to 5.
    pub rank: u8,
    /// Cosine of rarities, in buckets.
    pub similarity: u8,
    /// Common words that are not frequent, up to 3.
    pub common: u8,
    /// Whether no other target has a higher similarity that is not zero.
    pub most_similar: bool,
    /// Whether both speak to the same person.
    pub same_addressee: bool,
    /// Questions between them, up to 2.
    pub questions_between: u8,
    /// Whether the target's author speaks to the source's soon after the source.
    pub replied: u8,
}

const DISTANCES: [u32; 9] = [1, 2, 3, 4, 5, 6, 8, 12, 20];
const MINUTES: [u32; 8] = [0, 1, 2, 4, 9, 19, 59, 179];
/// How many units after the source are looked at for a reply.
const SOON: usize = 3;

impl LinkContext {
    /// The contexts of all possible links, in their order.
    pub(crate) fn all(conversation: &Conversation, parts: &LinkParts, contexts: &mut Vec<Self>) {
        contexts.clear();
        contexts.resize(parts.links().len(), Self::default());
        let mut spoken = vec![0u32; conversation.authors as usize];
        for source in 1..parts.units() {
            let row = parts.row(source);
            spoken.fill(0);
            fill_row(conversation, source, parts.first_target(source), &mut spoken, &mut contexts[row]);
        }
    }

    /// A few facts in one number below 288, to be combined with others.
    #[inline]
    pub(crate) fn relation(&self) -> u32 {
        let mut code = u32::from(self.same_author);
        code = code * 4 + u32::from(self.calls);
        code = code * 4 + u32::from(self.called);
        code = code * 3 + u32::from(self.its_between.min(2));
        code * 3 + u32::from(self.own_between.min(2))
    }

    /// The place of the target as seen from the source, in one number below 48.
    #[inline]
    pub(crate) fn role(&self) -> u32 {
        (u32::from(self.same_author) * 6 + u32::from(self.rank)) * 4 + u32::from(self.calls)
    }
}

fn fill_row(
    conversation: &Conversation,
    source: usize,
    first: usize,
    spoken: &mut [u32],
    contexts: &mut [LinkContext],
) {
    let units = &conversation.units;
    let speaker = &units[source];
    let (mut own, mut others, mut calls, mut voices, mut questions) = (0u32, 0u32, 0u32, 0u32, 0u32);
    // Messages of the speaker between that speak to an author, by author, are few: kept as a list.
    let mut answered: Vec<u32> = Vec::new();
    let overlaps: Vec<Overlap> = units[first..source].iter().map(|unit| Overlap::of(speaker, unit)).collect();
    let best = overlaps.iter().map(|overlap| overlap.cosine).fold(f32::MIN_POSITIVE, f32::max);
    for target in (first..source).rev() {
        let unit = &units[target];
        let same_author = unit.author == speaker.author;
        let its = spoken[unit.author as usize];
        let overlap = overlaps[target - first];
        let next =
            (source + 1..units.len().min(source + 1 + SOON)).find(|&next| units[next].author == unit.author);
        contexts[target - first] = LinkContext {
            distance: bucket((source - target) as u32, &DISTANCES),
            minutes: conversation
                .minutes_between(target, source)
                .map_or(0, |minutes| 1 + bucket(minutes, &MINUTES)),
            same_author,
            calls: speaks_to(speaker.addressee, &speaker.named, unit.author),
            called: speaks_to(unit.addressee, &unit.named, speaker.author),
            own_between: own.min(3) as u8,
            its_between: its.min(3) as u8,
            calls_between: calls.min(2) as u8,
            answered: answered.iter().filter(|&&author| author == unit.author).count().min(2) as u8,
            voices_between: voices.min(3) as u8,
            rank: if same_author { own } else { others }.min(5) as u8,
            similarity: bucket((overlap.cosine * 100.0) as u32, &[0, 5, 10, 20, 35]),
            common: overlap.words.min(3) as u8,
            most_similar: overlap.cosine >= best,
            same_addressee: matches!(speaker.addressee, Addressee::Author(_))
                && speaker.addressee == unit.addressee,
            questions_between: questions.min(2) as u8,
            replied: match next {
                Some(next) if units[next].addressee == Addressee::Author(speaker.author) => 2,
                Some(_) => 1,
                None => 0,
            },
        };
        voices += u32::from(its == 0);
        spoken[unit.author as usize] += 1;
        if same_author {
            own += 1;
            if let Addressee::Author(author) = unit.addressee {
                answered.push(author);
            }
        } else {
            others += 1;
        }
        calls += u32::from(unit.addressee == Addressee::Author(speaker.author));
        questions += u32::from(unit.cues.has(Cues::QUESTION));
    }
}

fn speaks_to(addressee: Addressee, named: &[u32], author: u32) -> u8 {
    match addressee {
        Addressee::Author(other) if other == author => 1,
        _ if named.contains(&author) => 2,
        Addressee::Nobody => 0,
        Addressee::Author(_) | Addressee::Stranger => 3,
    }
}
