//! Features of parts: templates over a few small numbers, hashed.

mod context;
mod higher;
mod link;

pub(crate) use context::LinkContext;

use consonant_learn::hash::{combine, key};
use rustc_hash::FxHashMap;

use crate::conversation::Conversation;
use crate::parts::LinkParts;

/// Where features go: into a list of keys, or into one with names.
pub(crate) trait Sink {
    fn push(&mut self, template: Template, values: &[u64]);
}

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
}

/// Pushes one feature: `put!(sink, "name", value, value)`, with numbers below 2^32 or keys of words as
/// values.
macro_rules! put {
    ($sink:expr, $name:literal $(, $value:expr)* $(,)?) => {
        $sink.push(const { crate::features::Template::new($name) }, &[$(u64::from($value)),*])
    };
}
pub(super) use put;

/// Keys alone, for scoring and training.
#[derive(Debug, Default)]
pub(crate) struct Keys(pub Vec<u64>);

impl Sink for Keys {
    #[inline]
    fn push(&mut self, template: Template, values: &[u64]) {
        self.0.push(template.key(values));
    }
}

/// Keys with names that people can read.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub features: Vec<(u64, String)>,
    words: FxHashMap<u64, String>,
}

impl Names {
    /// Learns the words of a text, so that their keys can be told.
    pub(crate) fn read(&mut self, text: &str) {
        let mut buffer = String::new();
        crate::words::for_each_word(text, &mut buffer, |word, _| {
            self.words.entry(key(word.as_bytes())).or_insert_with(|| word.to_owned());
        });
    }
}

impl Sink for Names {
    fn push(&mut self, template: Template, values: &[u64]) {
        let mut name = template.name.to_owned();
        for (at, value) in values.iter().enumerate() {
            name.push(if at == 0 { ' ' } else { ',' });
            match self.words.get(value) {
                Some(word) => name.push_str(word),
                None if *value > u64::from(u32::MAX) => name.push('?'),
                None => name.push_str(&value.to_string()),
            }
        }
        self.features.push((template.key(values), name));
    }
}

/// Calls `done` with each part, in their order, and a sink with its features, which `done` takes out.
pub(crate) fn for_each_part<S: Sink>(
    conversation: &Conversation,
    contexts: &[LinkContext],
    parts: &LinkParts,
    sink: &mut S,
    mut done: impl FnMut(usize, &mut S),
) {
    let (links, pairs) = (parts.links().len(), parts.pairs().len());
    for (part, (&(source, target), context)) in parts.links().iter().zip(contexts).enumerate() {
        link::features(conversation, source, target, context, sink);
        done(part, sink);
    }
    for (at, pair) in parts.pairs().iter().enumerate() {
        higher::pair_features(conversation, contexts, parts, pair, sink);
        done(links + at, sink);
    }
    for (at, triple) in parts.triples().iter().enumerate() {
        higher::triple_features(conversation, contexts, parts, triple, sink);
        done(links + pairs + at, sink);
    }
}

/// The lower end of the bucket that a number falls into, as its index.
#[inline]
fn bucket(value: u32, ends: &[u32]) -> u8 {
    ends.iter().take_while(|&&end| value > end).count() as u8
}
