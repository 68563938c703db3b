//! A dependency tree as rules and features ask about it.

use std::ops::RangeInclusive;

use consonant_text::Sentence;

use crate::words::is_punctuation;

/// A sentence's tree, checked, with children and quotations at hand.
#[derive(Debug)]
pub struct Tree<'s> {
    /// The sentence.
    pub sentence: &'s Sentence,
    /// The head of each word, or nothing for the root.
    pub heads: Vec<Option<usize>>,
    /// For each word, whether it stands in quotation marks.
    pub quoted: Vec<bool>,
    /// Words in depth-first order, children from left to right.
    pub order: Vec<usize>,
    children: Vec<Vec<usize>>,
    /// For each word, the first and the last word of its subtree.
    spans: Vec<(usize, usize)>,
}

impl<'s> Tree<'s> {
    /// Reads the tree of a sentence; nothing if it has none, or several roots.
    pub fn new(sentence: &'s Sentence) -> Option<Self> {
        let count = sentence.len();
        let mut heads = Vec::with_capacity(count);
        let mut children = vec![Vec::new(); count];
        let mut root = None;
        for word in 0..count {
            let head = sentence.head(word)? as usize;
            if head > count {
                return None;
            }
            if head == 0 {
                if root.replace(word).is_some() {
                    return None;
                }
            } else {
                children[head - 1].push(word);
            }
            heads.push(head.checked_sub(1));
        }
        let mut order = Vec::with_capacity(count);
        let mut open = vec![root?];
        while let Some(word) = open.pop() {
            order.push(word);
            open.extend(children[word].iter().rev());
        }
        // Words on a cycle hang from no root.
        if order.len() < count {
            return None;
        }
        let mut spans: Vec<(usize, usize)> = (0..count).map(|word| (word, word)).collect();
        for &word in order.iter().rev() {
            if let Some(head) = heads[word] {
                let (first, last) = spans[word];
                spans[head] = (spans[head].0.min(first), spans[head].1.max(last));
            }
        }
        Some(Tree { quoted: quoted(sentence), sentence, heads, order, children, spans })
    }

    /// The relation of a word to its head, without its subtype.
    pub fn relation(&self, word: usize) -> &'s str {
        self.sentence.deprel(word).split(':').next().unwrap_or("_")
    }

    /// How sure the parser is of a word's head, if it says so; trees that people made are right.
    pub fn confidence(&self, word: usize) -> f32 {
        self.sentence.misc_entry(word, "HeadConfidence").and_then(|told| told.parse().ok()).unwrap_or(1.0)
    }

    /// The dependents of a word.
    pub fn children(&self, word: usize) -> &[usize] {
        &self.children[word]
    }

    /// A word in lower case.
    pub fn lower(&self, word: usize) -> String {
        self.sentence.form(word).to_lowercase()
    }

    /// Whether a word has a dependent with one of these relations.
    pub fn has(&self, word: usize, relations: &[&str]) -> bool {
        self.children[word].iter().any(|&child| relations.contains(&self.relation(child)))
    }

    /// Whether a word is the predicate of a clause: a verb, or something with a copula.
    pub fn is_clause(&self, word: usize) -> bool {
        matches!(self.sentence.upos(word), "VERB" | "AUX") || self.has(word, &["cop"])
    }

    /// The word and everything below it.
    pub fn descendants(&self, word: usize) -> Vec<usize> {
        let mut found = vec![word];
        let mut next = 0;
        while let Some(&word) = found.get(next) {
            found.extend(&self.children[word]);
            next += 1;
        }
        found
    }

    /// The first and the last word of a word's subtree.
    pub fn span(&self, word: usize) -> (usize, usize) {
        self.spans[word]
    }

    /// Whether a word is a mark of punctuation.
    pub fn is_mark(&self, word: usize) -> bool {
        is_punctuation(self.sentence.form(word))
    }

    /// The words of a subtree without the marks at its ends; nothing, if other words stand between them.
    pub fn phrase(&self, word: usize) -> Option<RangeInclusive<usize>> {
        let mut inside = vec![false; self.sentence.len()];
        self.descendants(word).into_iter().for_each(|below| inside[below] = true);
        let (first, last) = self.span(word);
        let words = || (first..=last).filter(|&at| !self.is_mark(at));
        let (first, last) = (words().next()?, words().next_back()?);
        (first..=last).all(|at| inside[at] || self.is_mark(at)).then_some(first..=last)
    }

    /// Whether a comma, dash or bracket stands right before the word's subtree.
    pub fn is_set_off(&self, word: usize) -> bool {
        let (first, _) = self.span(word);
        let mark = |at: usize| {
            let form = self.sentence.form(at);
            is_punctuation(form) && !matches!(form, "." | "'" | "-")
        };
        first > 0 && mark(first - 1) || mark(first)
    }

    /// The dependents of a word with a relation, by its name without subtype.
    pub fn dependents<'t>(&'t self, word: usize, relation: &'t str) -> impl Iterator<Item = usize> + 't {
        self.children[word].iter().copied().filter(move |&child| self.relation(child) == relation)
    }

    /// The predicate of the clause that a word belongs to: itself or the nearest above it.
    pub fn clause_of(&self, mut word: usize) -> usize {
        while !self.is_clause(word)
            && let Some(head) = self.heads[word]
        {
            word = head;
        }
        word
    }

    /// Whether a word carries tense, or an auxiliary does for it.
    pub fn is_finite(&self, word: usize) -> bool {
        let finite = |at: usize| matches!(self.tag(at), "VBD" | "VBZ" | "VBP" | "MD");
        finite(word)
            || self.children[word]
                .iter()
                .any(|&child| matches!(self.relation(child), "aux" | "cop") && finite(child))
    }

    /// A word's tag of the Penn Treebank. Where trees come without such tags, verbs without features count as
    /// told in the past.
    pub fn tag(&self, word: usize) -> &'s str {
        let sentence = self.sentence;
        match sentence.xpos(word) {
            "_" if matches!(sentence.upos(word), "VERB" | "AUX") => {
                let feature = |feature: &str| sentence.feats(word).split('|').any(|of| of == feature);
                match () {
                    () if feature("VerbForm=Inf") => "VB",
                    () if feature("VerbForm=Ger") => "VBG",
                    () if feature("VerbForm=Part") => "VBN",
                    () if feature("Tense=Pres") => "VBZ",
                    () => "VBD",
                }
            }
            tag => tag,
        }
    }
}

/// Which words stand between quotation marks.
fn quoted(sentence: &Sentence) -> Vec<bool> {
    let mut inside = false;
    (0..sentence.len())
        .map(|word| match sentence.form(word) {
            "\"" => {
                inside = !inside;
                true
            }
            "“" | "``" | "«" | "„" => {
                inside = true;
                true
            }
            "”" | "''" | "»" => {
                inside = false;
                true
            }
            _ => inside,
        })
        .collect()
}
