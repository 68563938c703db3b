//! Features of parts: templates over a few small numbers, hashed.

mod context;
mod higher;
mod link;

pub(crate) use context::LinkContext;

use consonant_learn::hash::{combine, key};
use consonant_learn::names::FeatureSink;
use rustc_hash::FxHashMap;

use crate::conversation::Conversation;
use crate::parts::LinkParts;

/// A template of features: its name, and the key that its features begin with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Template {
    name: &'static str,
    seed: u64,
}

impl Template {
    /// Meant for constants: the name is hashed (FNV-1a) by the compiler.
    pub(crate) const fn new(name: &'static str) -> Self {
        let bytes = name.as_bytes();
        let mut seed = 0xcbf2_9ce4_8422_2325u64;
        let mut at = 0;
        while at < bytes.len() {
            seed = (seed ^ bytes[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            at += 1;
        }
        Self { name, seed }
    }

    #[inline]
    fn key(self, values: &[u64]) -> u64 {
        // One round more than there are values: the table takes the lower bits, which must depend on all.
        combine(values.iter().fold(self.seed, |state, &value| combine(state, value)), 1)
    }

    fn name(self, values: &[u64], words: &WordNames) -> String {
        let mut name = self.name.to_owned();
        for (at, value) in values.iter().enumerate() {
            name.push(if at == 0 { ' ' } else { ',' });
            match words.0.get(value) {
                Some(word) => name.push_str(word),
                None if *value > u64::from(u32::MAX) => name.push('?'),
                None => name.push_str(&value.to_string()),
            }
        }
        name
    }
}

/// Writes one feature: `put!(out, "name", value, value)`, with numbers below 2^32 or keys of words as
/// values.
macro_rules! put {
    ($out:expr, $name:literal $(, $value:expr)* $(,)?) => {
        $out.put(const { crate::features::Template::new($name) }, &[$(u64::from($value)),*])
    };
}
pub(super) use put;

/// Words by their keys, for the names of features.
#[derive(Debug, Default)]
pub(crate) struct WordNames(FxHashMap<u64, String>);

impl WordNames {
    /// Learns the words of a text, so that their keys can be told.
    pub(crate) fn read(&mut self, text: &str) {
        let mut buffer = String::new();
        crate::words::for_each_word(text, &mut buffer, |word, _| {
            self.0.entry(key(word.as_bytes())).or_insert_with(|| word.to_owned());
        });
    }
}

/// Writes features into a sink; names, where the sink wants them, have the words that are known.
struct Features<'a, S> {
    sink: &'a mut S,
    words: &'a WordNames,
}

impl<S: FeatureSink> Features<'_, S> {
    #[inline]
    fn put(&mut self, template: Template, values: &[u64]) {
        self.sink.put(template.key(values), 1.0, &|| template.name(values, self.words));
    }
}

/// Calls `done` with each part, in their order, and a sink with its features, which `done` takes out. Words
/// are for sinks that want names.
pub(crate) fn for_each_part<S: FeatureSink>(
    conversation: &Conversation,
    contexts: &[LinkContext],
    parts: &LinkParts,
    words: &WordNames,
    sink: &mut S,
    mut done: impl FnMut(usize, &mut S),
) {
    let (links, pairs) = (parts.links().len(), parts.pairs().len());
    let mut features = Features { sink, words };
    for (part, (&(source, target), context)) in parts.links().iter().zip(contexts).enumerate() {
        link::features(conversation, source, target, context, &mut features);
        done(part, features.sink);
    }
    for (at, pair) in parts.pairs().iter().enumerate() {
        higher::pair_features(conversation, contexts, parts, pair, &mut features);
        done(links + at, features.sink);
    }
    for (at, triple) in parts.triples().iter().enumerate() {
        higher::triple_features(conversation, contexts, parts, triple, &mut features);
        done(links + pairs + at, features.sink);
    }
}

/// The lower end of the bucket that a number falls into, as its index.
#[inline]
fn bucket(value: u32, ends: &[u32]) -> u8 {
    ends.iter().take_while(|&&end| value > end).count() as u8
}
