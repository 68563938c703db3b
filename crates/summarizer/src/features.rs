//! The features of parts, by name: concepts (coverage), cut arcs and leading clauses (compression),
//! sentences.
//!
//! Names are written into a buffer and hashed; training keeps them as well.

use std::fmt::{self, Write};

use consonant_learn::hash;
use consonant_learn::names::FeatureSink;
use consonant_text::Sentence;

use crate::fitness::points_back;
use crate::material::{Kind, Material, Profile, SourceSentence, Word};
use crate::syntax::Tree;
use crate::words::{is_negation, is_punctuation, is_temporal};

/// Writes features into a sink, one after the other.
pub struct Features<'a> {
    buffer: String,
    sink: &'a mut dyn FeatureSink,
}

impl fmt::Debug for Features<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Features").finish_non_exhaustive()
    }
}

macro_rules! feature {
    ($features:expr, $($part:tt)*) => {
        $features.emit(1.0, format_args!($($part)*))
    };
}

impl<'a> Features<'a> {
    /// Writes every feature into `sink`.
    pub fn new(sink: &'a mut dyn FeatureSink) -> Self {
        Features { buffer: String::new(), sink }
    }

    fn emit(&mut self, value: f32, name: fmt::Arguments<'_>) {
        self.buffer.clear();
        // Writing to a string cannot fail.
        let _ = self.buffer.write_fmt(name);
        self.sink.put(hash::key(self.buffer.as_bytes()), value, &|| self.buffer.clone());
    }

    /// The paper's features of a concept: document count, stop words, earliest position and their
    /// conjunctions. The share of documents (of sentences, if there is only one document) makes counts
    /// comparable between topics of different sizes.
    pub fn concept(&mut self, material: &Material, profile: &Profile) {
        let Profile { count, earliest, stops, .. } = *profile;
        let (kind, documents) = (material.kind, material.documents.max(1) as f32);
        let (counted, early) = (counted(kind, profile), early(profile));
        let (share, general) = match kind {
            _ if kind.is_one() => ((count as f32 / 10.0).min(1.0), 'o'),
            Kind::Brief => (count as f32 / documents, 'b'),
            _ => (count as f32 / documents, 'm'),
        };
        feature!(self, "c:bias");
        // Of many documents, a smaller share is enough to be more than one document's own affair.
        self.emit((10.0 / documents).min(1.0), format_args!("c:{general}"));
        self.conjunctions("c", &counted, stops, early);
        feature!(self, "c:{counted}:t{stops}:p{early}");
        self.emit(share, format_args!("c:share:t{stops}"));
        let place = if earliest == 0 { "first" } else { "later" };
        self.emit(share, format_args!("c:share:t{stops}:{place}"));
        self.concept_of_kind(material, profile);
    }

    /// Count, stop words and place of a concept, and their conjunctions of two.
    fn conjunctions(&mut self, prefix: &str, counted: &str, stops: u32, early: u32) {
        feature!(self, "{prefix}:{counted}");
        feature!(self, "{prefix}:t{stops}");
        feature!(self, "{prefix}:p{early}");
        feature!(self, "{prefix}:{counted}:t{stops}");
        feature!(self, "{prefix}:{counted}:p{early}");
        feature!(self, "{prefix}:t{stops}:p{early}");
    }

    /// What people keep of reports, letters and reviews differs, so each [kind](Kind) of topics has features
    /// of its own: the paper's without conjunctions of three, the looks of the words, stop words by name,
    /// headings.
    pub fn concept_of_kind(&mut self, material: &Material, profile: &Profile) {
        let Profile { stops, heading, words, .. } = *profile;
        let (counted, early) = (counted(material.kind, profile), early(profile));
        let (mut looks, mut pattern) = (String::new(), String::new());
        for word in words {
            let (look, written) = match word {
                Word::None => break,
                Word::Stop(stem) => ('s', material.stem(stem)),
                Word::Number => ('9', "_"),
                Word::Name => ('N', "_"),
                Word::Short => ('h', "_"),
                Word::Other => ('w', "_"),
            };
            looks.push(look);
            pattern.push(' ');
            pattern.push_str(written);
        }
        let kind = material.kind.name();
        feature!(self, "c:{kind}");
        self.conjunctions(&format!("c:{kind}"), &counted, stops, early);
        feature!(self, "c:{kind}:{looks}");
        feature!(self, "c:{kind}:{looks}:{counted}");
        feature!(self, "c:{kind}:={pattern}");
        if heading {
            feature!(self, "c:{kind}:heading");
            feature!(self, "c:{kind}:heading:t{stops}");
        }
    }

    /// Features of choosing anything of a sentence. How much its place tells is another matter in reports
    /// than in letters.
    pub fn sentence(&mut self, kind: Kind, sentence: &SourceSentence, tokens: &Sentence) {
        let position = bucket(sentence.position as u32, &[0, 1, 2, 3, 5, 9, 17]);
        feature!(self, "s:bias");
        feature!(self, "s:position:{position}");
        feature!(self, "s:{}:position:{position}", kind.name());
        feature!(self, "s:length:{}", bucket(sentence.length as u32, &[1, 6, 11, 16, 21, 31, 41]));
        if points_back(tokens) && !sentence.follows {
            feature!(self, "s:points-back");
        }
        if (0..tokens.len()).any(|word| matches!(tokens.form(word), "?" | "!")) {
            feature!(self, "s:question-or-cry");
        }
        if sentence.speaks {
            feature!(self, "s:speaker");
        }
        if (0..tokens.len()).any(|word| matches!(tokens.form(word), "\"" | "“" | "”" | "''" | "``")) {
            feature!(self, "s:quotes");
        }
    }

    /// Features of cutting the arc to a word (§3.5), with a few more: prepositions, sizes, places and forms.
    /// In a topic, its kind tells how much there is to cut.
    pub fn deletion(&mut self, tree: &Tree<'_>, word: usize, kind: Option<Kind>) {
        let sentence = tree.sentence;
        let Some(head) = tree.heads[word] else { return };
        let label = sentence.deprel(word);
        let (tag, head_tag) = (sentence.upos(word), sentence.upos(head));
        let above = sentence.deprel(head);
        let below = tree.descendants(word);
        feature!(self, "x:bias");
        if let Some(kind) = kind {
            feature!(self, "x:{}", kind.name());
        }
        feature!(self, "x:{label}");
        feature!(self, "x:{label}:h{head_tag}");
        feature!(self, "x:{label}:m{tag}");
        feature!(self, "x:{label}:h{head_tag}:m{tag}");
        feature!(self, "x:{label}:a{above}");
        if matches!(head_tag, "VERB" | "AUX")
            && matches!(tag, "ADP" | "ADV" | "AUX" | "CCONJ" | "DET" | "PART" | "PRON" | "SCONJ")
        {
            feature!(self, "x:function:{tag}");
        }
        if below.iter().any(|&w| is_negation(&tree.lower(w))) {
            feature!(self, "x:negation");
            feature!(self, "x:negation:{label}");
        }
        if is_temporal(&tree.lower(word)) {
            let case = if tree.has(word, &["case"]) { "case" } else { "bare" };
            feature!(self, "x:temporal:{case}");
        }
        let side = if word < head { 'l' } else { 'r' };
        let size = bucket(below.len() as u32, &[1, 2, 3, 4, 6, 9, 13, 20]);
        feature!(self, "x:{label}:{side}");
        feature!(self, "x:{label}:n{size}");
        feature!(self, "x:n{size}");
        let case = tree.children(word).iter().find(|&&c| matches!(tree.relation(c), "case" | "mark"));
        if let Some(&case) = case {
            let case = tree.lower(case);
            feature!(self, "x:{label}:c{case}");
            feature!(self, "x:{label}:c{case}:w{}", tree.lower(head));
            feature!(self, "x:c{case}:h{head_tag}:n{size}");
        }
        let lower = tree.lower(word);
        feature!(self, "x:w{lower}");
        feature!(self, "x:{label}:w{lower}");
        feature!(self, "x:{label}:hw{}", tree.lower(head));
        let depth = depth(tree, word);
        feature!(self, "x:{label}:d{}", depth.min(5));
        feature!(self, "x:d{}:n{size}", depth.min(5));
        let (first, last) = tree.span(word);
        let quarter = 4 * first / sentence.len().max(1);
        feature!(self, "x:{label}:q{quarter}");
        if tree.is_set_off(word) {
            feature!(self, "x:{label}:comma");
        }
        if below.iter().any(|&w| sentence.upos(w) == "PROPN") {
            feature!(self, "x:{label}:name");
        }
        if below.iter().any(|&w| sentence.upos(w) == "NUM") {
            feature!(self, "x:{label}:number");
        }
        let siblings = tree.children(head);
        let at = siblings.iter().position(|&c| c == word).unwrap_or(0);
        let next = siblings[at + 1..].iter().find(|&&c| !is_punctuation(sentence.form(c)));
        let previous = siblings[..at].iter().rev().find(|&&c| !is_punctuation(sentence.form(c)));
        let length = bucket(sentence.len() as u32, &[1, 12, 18, 24, 30, 38]);
        feature!(self, "x:L{length}");
        feature!(self, "x:{label}:L{length}");
        feature!(self, "x:{label}:L{length}:n{size}");
        let left = first.checked_sub(1).map_or(String::from("^"), |at| tree.lower(at));
        let right = if last + 1 < sentence.len() { tree.lower(last + 1) } else { "$".into() };
        feature!(self, "x:{label}:before:{left}");
        feature!(self, "x:{label}:after:{right}");
        feature!(self, "x:first:{}", tree.lower(first));
        feature!(self, "x:{label}:first:{}", tree.lower(first));
        if first < last {
            feature!(self, "x:first:{}:{}", tree.lower(first), tree.lower(first + 1));
        }
        let rank = siblings
            .iter()
            .filter(|&&c| (c < head) == (word < head) && c != word && sentence.deprel(c) == label);
        let rank = rank.filter(|&&c| c.abs_diff(head) < word.abs_diff(head)).count().min(3);
        feature!(self, "x:{label}:{side}:r{rank}");
        feature!(self, "x:{label}:{side}:r{rank}:L{length}");
        let object =
            siblings.iter().any(|&c| c != word && matches!(tree.relation(c), "obj" | "ccomp" | "xcomp"));
        feature!(self, "x:{label}:object:{object}:d{}", depth.min(3));
        feature!(self, "x:{label}:a{above}:d{}", depth.min(3));
        feature!(self, "x:{label}:last:{}", siblings.last() == Some(&word));
        let distance = bucket(word.abs_diff(head) as u32, &[1, 2, 3, 5, 8, 13]);
        feature!(self, "x:{label}:{side}:o{distance}");
        if below.iter().any(|&w| sentence.upos(w) == "VERB") {
            feature!(self, "x:{label}:verb:n{size}");
        }
        let (fine, head_fine) = (sentence.xpos(word), sentence.xpos(head));
        feature!(self, "x:{label}:X{fine}");
        feature!(self, "x:{label}:hX{head_fine}");
        feature!(self, "x:{label}:X{fine}:hX{head_fine}:d{}", depth.min(3));
        feature!(self, "x:{label}:X{fine}:n{size}");
        feature!(self, "x:{label}:X{fine}:L{length}");
        let capital = sentence.form(word).starts_with(char::is_uppercase);
        let head_capital = sentence.form(head).starts_with(char::is_uppercase);
        feature!(self, "x:{label}:capital:{capital}:{head_capital}:d{}", depth.min(3));
        let alike = siblings.iter().filter(|&&c| c != word && sentence.deprel(c) == label).count().min(3);
        feature!(self, "x:{label}:alike:{alike}:d{}", depth.min(3));
        feature!(self, "x:{label}:children:{}", siblings.len().min(8));
        feature!(self, "x:w{lower}:hw{}", tree.lower(head));
        feature!(self, "x:{label}:k{}", (first / 3).min(8));
        let third = 6 * first / sentence.len().max(1);
        feature!(self, "x:{label}:d{}:k{third}", depth.min(3));
        feature!(self, "x:{label}:next:{}", next.map_or("_", |&c| sentence.deprel(c)));
        feature!(self, "x:{label}:previous:{}", previous.map_or("_", |&c| sentence.deprel(c)));
    }

    /// Features of a clause that stands for the whole sentence.
    pub fn lead(&mut self, tree: &Tree<'_>, word: usize) {
        let sentence = tree.sentence;
        let Some(head) = tree.heads[word] else { return };
        let label = sentence.deprel(word);
        let below = tree.descendants(word);
        let share = 5 * below.len() / sentence.len().max(1);
        let (first, _) = tree.span(word);
        let quarter = 4 * first / sentence.len().max(1);
        let depth = depth(tree, word).min(5);
        feature!(self, "l:bias");
        feature!(self, "l:{label}");
        feature!(self, "l:{label}:m{}", sentence.upos(word));
        feature!(self, "l:{label}:h{}", sentence.upos(head));
        feature!(self, "l:{label}:hw{}", tree.lower(head));
        feature!(self, "l:hw{}", tree.lower(head));
        feature!(self, "l:{label}:n{share}");
        feature!(self, "l:{label}:q{quarter}");
        feature!(self, "l:{label}:d{depth}");
        feature!(self, "l:w{}", tree.lower(word));
        let subject = tree.has(word, &["nsubj", "csubj"]);
        feature!(self, "l:{label}:subject:{subject}");
        if let Some(&mark) = tree.children(word).iter().find(|&&c| tree.relation(c) == "mark") {
            feature!(self, "l:{label}:mark:{}", tree.lower(mark));
        }
        if let Some(&subject) = tree.children(word).iter().find(|&&c| tree.relation(c) == "nsubj") {
            feature!(self, "l:subject:{}", sentence.upos(subject));
        }
        let root = tree.order[0];
        let length = bucket(sentence.len() as u32, &[1, 12, 18, 24, 30, 38]);
        let root_word = tree.lower(root);
        let root_subject = tree.children(root).iter().find(|&&c| tree.relation(c) == "nsubj");
        let side = if word < root { 'l' } else { 'r' };
        feature!(self, "l:root:{root_word}");
        feature!(self, "l:root:{}:{}:{label}", sentence.upos(root), sentence.upos(word));
        feature!(self, "l:root-subject:{}", root_subject.map_or("_", |&c| sentence.upos(c)));
        feature!(self, "l:root-subject:{}:{label}:{side}", root_subject.map_or("_", |&c| sentence.upos(c)));
        feature!(self, "l:{label}:{side}:n{share}");
        feature!(self, "l:{label}:L{length}");
        feature!(self, "l:{label}:a{}:d{depth}", sentence.deprel(head));
        feature!(self, "l:first:{}", tree.lower(first));
        feature!(self, "l:starts:{}:{label}", first == 0);
        feature!(self, "l:set-off:{}:{label}", tree.is_set_off(word));
        feature!(self, "l:{label}:m{}:subject:{subject}:{side}", sentence.upos(word));
        let before = first.checked_sub(1).map_or(String::from("^"), |at| tree.lower(at));
        feature!(self, "l:{label}:before:{before}");
        let finite = |word: usize| {
            matches!(sentence.xpos(word), "VBD" | "VBZ" | "VBP" | "MD") || tree.has(word, &["aux", "cop"])
        };
        let (lead_finite, root_finite) = (finite(word), finite(root));
        let (fine, root_fine) = (sentence.xpos(word), sentence.xpos(root));
        feature!(self, "l:{label}:X{fine}:{lead_finite}:{root_finite}");
        feature!(self, "l:X{fine}:X{root_fine}");
        feature!(self, "l:{label}:finite:{lead_finite}:{subject}:{share}");
        feature!(self, "l:finite:{lead_finite}:{root_finite}:{subject}:{}", root_subject.is_some());
        feature!(self, "l:{label}:object:{}:{}", tree.has(word, &["obj"]), tree.has(root, &["obj"]));
        feature!(self, "l:root:{root_word}:{label}");
        let pronoun =
            tree.children(word).iter().any(|&c| tree.relation(c) == "nsubj" && sentence.upos(c) == "PRON");
        feature!(self, "l:{label}:pronoun:{pronoun}");
        let words_left = bucket(below.len() as u32, &[1, 4, 7, 10, 14, 20]);
        feature!(self, "l:{label}:w{words_left}");
        feature!(self, "l:{label}:w{words_left}:L{length}");
        if let Some(&subject) = tree.children(head).iter().find(|&&c| tree.relation(c) == "nsubj") {
            feature!(self, "l:head-subject:{}:{label}", sentence.upos(subject));
        }
    }
}

/// How many sentences or documents have a concept, as features say it.
fn counted(kind: Kind, profile: &Profile) -> String {
    match kind.is_one() {
        true => format!("s{}", bucket(profile.count, &[1, 2, 3, 4, 6, 10, 20])),
        false => format!("d{}", bucket(profile.count, &[1, 2, 3, 4, 5, 6, 8, 12])),
    }
}

/// How early a concept occurs, as features say it.
fn early(profile: &Profile) -> u32 {
    bucket(profile.earliest, &[0, 1, 2, 3, 5, 9, 17])
}

fn depth(tree: &Tree<'_>, mut word: usize) -> usize {
    let mut depth = 0;
    while let Some(head) = tree.heads[word] {
        word = head;
        depth += 1;
    }
    depth
}

/// The last threshold that a number reaches; the first, if it reaches none.
fn bucket(number: u32, thresholds: &[u32]) -> u32 {
    thresholds.iter().copied().take_while(|&threshold| threshold <= number).last().unwrap_or(thresholds[0])
}
