//! Words of messages: how they are cut, how rare they are, and what some of them give away.

use consonant_learn::LearnError;
use consonant_learn::hash::key;
use consonant_learn::model::{Model, ModelWriter};
use consonant_text::jsonl::Thread;
use rustc_hash::{FxHashMap, FxHashSet};

/// The words of a text in lower case, without the punctuation around them; `visit` also gets them as they
/// stood.
pub(crate) fn for_each_word<'a>(text: &'a str, buffer: &mut String, mut visit: impl FnMut(&str, &'a str)) {
    for raw in text.split_whitespace() {
        let word = raw.trim_matches(|c: char| !c.is_alphanumeric());
        if word.is_empty() {
            continue;
        }
        buffer.clear();
        buffer.extend(word.chars().flat_map(char::to_lowercase));
        visit(buffer, raw);
    }
}

/// How rare each word is among the messages of the training data.
#[derive(Debug, Clone, Default)]
pub(crate) struct Vocabulary {
    rarity: FxHashMap<u64, f32>,
    /// Of words that are not there.
    unknown: f32,
}

const KEYS: &str = "words";
const RARITY: &str = "word-rarity";

impl Vocabulary {
    /// Counts the messages with each word; the rarity is the logarithm of the inverse share.
    pub(crate) fn gather(threads: &[Thread]) -> Self {
        let mut counts: FxHashMap<u64, u32> = FxHashMap::default();
        let mut seen = FxHashSet::default();
        let mut buffer = String::new();
        let mut messages = 0u32;
        for unit in threads.iter().flat_map(|thread| &thread.units) {
            messages += 1;
            seen.clear();
            for_each_word(&unit.text, &mut buffer, |word, _| {
                seen.insert(key(word.as_bytes()));
            });
            seen.iter().for_each(|&word| *counts.entry(word).or_default() += 1);
        }
        let total = f64::from(messages.max(1));
        let rarity = |count: u32| (total / f64::from(count)).ln() as f32;
        counts.retain(|_, count| *count > 1);
        Self {
            rarity: counts.into_iter().map(|(word, count)| (word, rarity(count))).collect(),
            unknown: rarity(1),
        }
    }

    pub(crate) fn rarity(&self, word: u64) -> f32 {
        self.rarity.get(&word).copied().unwrap_or(self.unknown)
    }

    pub(crate) fn store(&self, writer: &mut ModelWriter) {
        let mut pairs: Vec<(u64, f32)> = self.rarity.iter().map(|(&word, &rarity)| (word, rarity)).collect();
        pairs.sort_unstable_by_key(|pair| pair.0);
        let keys: Vec<u64> = pairs.iter().map(|pair| pair.0).collect();
        let rarity: Vec<f32> = pairs.iter().map(|pair| pair.1).chain([self.unknown]).collect();
        writer.array(KEYS, &keys).array(RARITY, &rarity);
    }

    pub(crate) fn open(model: &Model) -> Result<Self, LearnError> {
        let (keys, rarity) = (model.array::<u64>(KEYS)?, model.array::<f32>(RARITY)?);
        match rarity.split_last() {
            Some((&unknown, rarity)) if rarity.len() == keys.len() => {
                Ok(Self { rarity: keys.iter().copied().zip(rarity.iter().copied()).collect(), unknown })
            }
            _ => Err(model.damaged("words and their rarity do not fit")),
        }
    }
}

/// What a message gives away about what it does, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Cues(u32);

impl Cues {
    pub(crate) const QUESTION: u32 = 1;
    pub(crate) const ASKS: u32 = 1 << 1;
    pub(crate) const AGREES: u32 = 1 << 2;
    pub(crate) const REFUSES: u32 = 1 << 3;
    pub(crate) const THANKS: u32 = 1 << 4;
    pub(crate) const GREETS: u32 = 1 << 5;
    pub(crate) const ADDRESS: u32 = 1 << 6;
    pub(crate) const COMMAND: u32 = 1 << 7;
    pub(crate) const GOES_ON: u32 = 1 << 8;
    pub(crate) const UNFINISHED: u32 = 1 << 9;
    pub(crate) const ACTION: u32 = 1 << 10;
    pub(crate) const LAUGHS: u32 = 1 << 11;
    pub(crate) const ADVICE: u32 = 1 << 12;
    pub(crate) const SPEAKER: u32 = 1 << 13;
    pub(crate) const POINTS: u32 = 1 << 14;
    pub(crate) const SORRY: u32 = 1 << 15;
    pub(crate) const TROUBLE: u32 = 1 << 16;

    pub(crate) fn has(self, cue: u32) -> bool {
        self.0 & cue != 0
    }

    /// The kind of message in one small number: the first cue of a fixed order that it has.
    pub(crate) fn kind(self) -> u64 {
        const ORDER: [u32; 10] = [
            Cues::QUESTION | Cues::ASKS,
            Cues::THANKS,
            Cues::GREETS,
            Cues::AGREES,
            Cues::REFUSES,
            Cues::LAUGHS,
            Cues::ADDRESS,
            Cues::COMMAND,
            Cues::ADVICE,
            Cues::SPEAKER,
        ];
        ORDER.iter().position(|&cue| self.has(cue)).map_or(0, |at| at as u64 + 1)
    }

    /// Looks for cues; `first` is the first word after a name that the message may begin with.
    pub(crate) fn of(text: &str, first: &str) -> Self {
        let mut cues = 0;
        let mut set = |cue: u32, holds: bool| cues |= if holds { cue } else { 0 };
        set(Self::QUESTION, text.contains('?'));
        set(Self::ASKS, ASKING.contains(&first));
        set(Self::AGREES, AGREEING.contains(&first));
        set(Self::REFUSES, REFUSING.contains(&first));
        set(Self::GREETS, GREETING.contains(&first));
        set(Self::GOES_ON, GOING_ON.contains(&first));
        set(Self::ADVICE, ADVISING.contains(&first));
        set(Self::SPEAKER, SPEAKING.contains(&first));
        set(Self::POINTS, POINTING.contains(&first));
        set(Self::ACTION, text.starts_with("* "));
        set(Self::ADDRESS, text.contains("://") || text.contains("www."));
        let end = text.trim_end();
        set(Self::UNFINISHED, end.ends_with("..") || end.ends_with([',', '-', ':']));
        let mut buffer = String::new();
        for_each_word(text, &mut buffer, |word, raw| {
            set(Self::THANKS, word.starts_with("thank") || matches!(word, "thx" | "ty" | "cheers" | "tnx"));
            set(Self::LAUGHS, matches!(word, "lol" | "haha" | "hehe" | "heh" | "hah" | "rofl"));
            set(Self::SORRY, matches!(word, "sorry" | "oops" | "pardon"));
            set(Self::TROUBLE, TROUBLED.contains(&word));
            let is_path = raw.len() > 2 && raw.starts_with('/');
            set(Self::COMMAND, matches!(word, "sudo" | "apt-get") || is_path || raw.starts_with("--"));
        });
        Self(cues)
    }
}

const ASKING: [&str; 32] = [
    "how", "what", "why", "where", "when", "who", "which", "is", "are", "do", "does", "did", "can", "could",
    "should", "would", "will", "has", "have", "anyone", "anybody", "whats", "what's", "hows", "wheres",
    "any", "was", "am", "isn't", "didn't", "someone", "somebody",
];
const AGREEING: [&str; 22] = [
    "yes", "yeah", "yep", "yup", "ok", "okay", "sure", "right", "ah", "oh", "ahh", "ohh", "k", "true",
    "exactly", "good", "great", "cool", "nice", "indeed", "alright", "aha",
];
const REFUSING: [&str; 9] = ["no", "nope", "not", "nah", "never", "nothing", "none", "don't", "dont"];
const GREETING: [&str; 9] =
    ["hi", "hello", "hey", "hiya", "morning", "welcome", "greetings", "howdy", "hullo"];
const GOING_ON: [&str; 16] = [
    "and", "but", "or", "so", "because", "then", "also", "cause", "since", "although", "though", "plus",
    "anyway", "well", "just", "if",
];
const ADVISING: [&str; 20] = [
    "try", "use", "check", "run", "type", "install", "look", "see", "go", "open", "read", "make", "add",
    "maybe", "you", "your", "you're", "just", "there", "there's",
];
const SPEAKING: [&str; 8] = ["i", "i'm", "im", "i've", "my", "i'll", "i'd", "we"];
const POINTING: [&str; 9] = ["it", "that", "this", "its", "it's", "that's", "thats", "they", "those"];
const TROUBLED: [&str; 13] = [
    "error", "errors", "problem", "problems", "fails", "failed", "broken", "doesn't", "can't", "cannot",
    "won't", "doesnt", "cant",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cues_are_found() {
        assert_eq!(Cues::of("how do I mount it", "how").kind(), 1);
        assert!(Cues::of("thanks, bob!", "thanks").has(Cues::THANKS));
        assert!(Cues::of("see http://example.org", "see").has(Cues::ADDRESS));
        assert_eq!(Cues::of("", ""), Cues::default());
    }

    #[test]
    fn rare_words_weigh_more() {
        let unit = |text: &str| consonant_text::jsonl::ThreadUnit { text: text.into(), ..Default::default() };
        let units = vec![unit("the modem, the router"), unit("The modem"), unit("the end")];
        let mut thread = Thread::default();
        thread.units = units;
        let vocabulary = Vocabulary::gather(&[thread]);
        let rarity = |word: &str| vocabulary.rarity(key(word.as_bytes()));
        assert_eq!(rarity("the"), 0.0);
        assert!(rarity("modem") > 0.0 && rarity("router") > rarity("modem"));
        assert_eq!(rarity("router"), rarity("never seen"));
    }
}
