//! Which arcs of a dependency tree may be cut, stated for Universal Dependencies.
//!
//! Almeida & Martins (2013, §3.5, after Clarke & Lapata 2008) name relations of another scheme, in which
//! prepositions, complementizers and auxiliaries are heads. `docs/summarizer.md` says how each of their rules
//! maps to the relations here, where such words are dependents.

use consonant_text::Sentence;

use crate::words::{is_negation, is_punctuation, is_temporal};

consonant_task::names! {
    /// How strictly trees are kept whole.
    pub enum Constraints {
        /// Only arcs that can be cut without breaking the sentence: subjects, objects, negations, numbers,
        /// names, … stay.
        Grammatical = "grammatical",
        /// All arcs but those to function words, and every clause or phrase may lead: for data where people
        /// cut freely, such as headlines.
        Free = "free",
    }
}

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
        (order.len() == count).then(|| Tree { quoted: quoted(sentence), sentence, heads, order, children })
    }

    /// The relation of a word to its head, without its subtype.
    pub fn relation(&self, word: usize) -> &'s str {
        self.sentence.deprel(word).split(':').next().unwrap_or("_")
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

    /// Whether the root is a predicate that can carry a sentence: a clause, and no bare participle.
    fn has_predicate(&self) -> bool {
        let root = self.order[0];
        self.is_clause(root)
            && (!self.sentence.form(root).ends_with("ing") || self.has(root, &["aux", "cop"]))
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
        let below = self.descendants(word);
        below.iter().fold((word, word), |(first, last), &at| (first.min(at), last.max(at)))
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

    /// Whether the arc to a word may be cut, so that the word goes with everything below it.
    pub fn may_cut(&self, word: usize, constraints: Constraints) -> bool {
        let Some(head) = self.heads[word] else { return false };
        let sentence = self.sentence;
        let relation = self.relation(word);
        if constraints == Constraints::Grammatical && !self.has_predicate() {
            // A sentence without a predicate on top is a fragment, or its tree is wrong.
            return false;
        }
        // Function words go with what they belong to, and words written as several belong together.
        if FUNCTION.contains(&relation) || sentence.deprel(word) == "compound:prt" {
            return false;
        }
        if constraints == Constraints::Free {
            return true;
        }
        let full = sentence.deprel(word);
        let form = self.lower(word);
        if is_negation(&form) || matches!(sentence.upos(word), "NUM" | "DET") {
            return false;
        }
        if self.quoted[word] && self.quoted[head] {
            return false;
        }
        if sentence.upos(word) == "PROPN" && sentence.upos(head) == "PROPN" {
            return false;
        }
        if self.leaves_a_stub(word, head) {
            return false;
        }
        match relation {
            // A noun's own modifiers: adjectives go, unless they are compared with something.
            "amod" => !self.has(word, &["obl", "advcl", "nmod"]),
            "advmod" => {
                // "more than", "how many", "very good": only adverbs of verbs and of whole clauses go.
                self.is_clause(head)
                    && !KEPT_ADVERBS.contains(&form.as_str())
                    && !self.has(word, &["obl", "advcl", "fixed"])
            }
            "obl" => full != "obl:agent" && self.is_clause(head) && !self.completes(word, head),
            "nmod" => {
                full != "nmod:poss"
                    && !self.children[word]
                        .iter()
                        .any(|&c| self.relation(c) == "case" && self.lower(c) == "of")
            }
            // A clause with an auxiliary but nothing that joins it to its noun is more likely the sentence's
            // own predicate.
            "acl" => !self.has(word, &["aux", "cop"]) || self.is_joined(word),
            "appos" | "parataxis" => self.is_enclosed(word),
            "vocative" | "discourse" | "dislocated" => true,
            // With a subordinator they were deletable before; bare participles only where a comma sets them
            // off.
            "advcl" => self.has(word, &["mark"]) || self.is_set_off(word),
            // The last of two clauses with a subject of its own can go; lists stay whole.
            "conj" => {
                let conjuncts = self.children[head].iter().filter(|&&c| self.relation(c) == "conj").count();
                conjuncts == 1
                    && self.is_clause(word)
                    && self.has(word, &["nsubj", "csubj"])
                    && self.is_clause(head)
            }
            _ => false,
        }
    }

    /// Whether cutting a word's subtree would leave something before it hanging (an article, a preposition, a
    /// possessive), would take its noun's article away, or begins with "of"; all are signs of a wrong tree,
    /// too.
    fn leaves_a_stub(&self, word: usize, head: usize) -> bool {
        let sentence = self.sentence;
        let (first, last) = self.span(word);
        let hanging = |at: usize| {
            matches!(sentence.upos(at), "ADP" | "DET" | "PART" | "SCONJ" | "CCONJ")
                && sentence.form(at) != "'s"
                || matches!(self.lower(at).as_str(), "its" | "his" | "her" | "their" | "our" | "my" | "your")
        };
        let modifies = matches!(self.relation(word), "amod" | "advmod");
        let stub = first > 0 && hanging(first - 1) && !modifies;
        let takes_article = last < head
            && matches!(sentence.upos(head), "NOUN" | "PROPN")
            && self.descendants(word).iter().any(|&w| sentence.upos(w) == "DET");
        stub || takes_article || self.lower(first) == "of"
    }

    /// Whether a phrase right after a verb that has nothing else is likely what the verb asks for: "depend on
    /// a boat".
    fn completes(&self, word: usize, head: usize) -> bool {
        let (first, _) = self.span(word);
        first == head + 1
            && matches!(self.lower(first).as_str(), "on" | "upon" | "to" | "into" | "for" | "with" | "from")
            && !is_temporal(&self.lower(word))
            && !self.has(head, &["obj", "xcomp", "ccomp", "cop"])
    }

    /// Whether punctuation, or the edge of the sentence, stands on both sides of a word's subtree.
    fn is_enclosed(&self, word: usize) -> bool {
        let (first, last) = self.span(word);
        let mark = |at: usize| is_punctuation(self.sentence.form(at));
        (first == 0 || mark(first) || mark(first - 1))
            && (last + 1 >= self.sentence.len() || mark(last) || mark(last + 1))
    }

    /// Whether a clause begins with a word that joins it to its head, or is set off by a comma.
    fn is_joined(&self, word: usize) -> bool {
        let (first, _) = self.span(word);
        self.is_set_off(word)
            || matches!(
                self.lower(first).as_str(),
                "who" | "which" | "that" | "whom" | "whose" | "where" | "when"
            )
    }

    /// Whether what hangs from a word can stand as a sentence in place of the whole: a clause with a subject
    /// that somebody said, or that was added beside.
    pub fn may_lead(&self, word: usize, constraints: Constraints) -> bool {
        let relation = self.relation(word);
        if self.heads[word].is_none() {
            return false;
        }
        if constraints == Constraints::Free {
            return self.is_clause(word)
                && matches!(relation, "ccomp" | "parataxis" | "conj" | "advcl" | "acl" | "xcomp" | "csubj")
                || matches!(
                    relation,
                    "nsubj" | "obj" | "obl" | "nmod" | "appos" | "conj" | "parataxis" | "dep" | "list"
                ) && self.children[word].len() > 1;
        }
        let marks = |c: &&usize| self.relation(**c) == "mark";
        matches!(relation, "ccomp" | "parataxis")
            && self.is_clause(word)
            && !self.quoted[word]
            && self.has(word, &["nsubj", "csubj", "expl"])
            && self.children[word].iter().filter(marks).all(|&c| self.lower(c) == "that")
            && self.heads[word].is_some_and(|head| REPORTING.contains(&self.lower(head).as_str()))
            && self.children[word].iter().all(|&c| !is_question_word(&self.lower(c)))
    }
}

/// Verbs after which the clause says what the sentence is about. Belief and doubt stay with their clause.
#[rustfmt::skip]
const REPORTING: &[&str] = &[
    "said", "says", "say", "announced", "announces", "reported", "reports", "added", "adds", "confirmed",
    "confirms", "stated", "states", "noted", "notes", "told", "tells", "revealed", "shows", "showed",
    "found", "explained", "saying", "adding",
];

/// Relations of words that go with what they belong to.
#[rustfmt::skip]
const FUNCTION: &[&str] = &[
    "case", "mark", "aux", "cop", "cc", "det", "fixed", "flat", "goeswith", "clf", "expl", "orphan",
    "reparandum",
];

/// Adverbs that their verbs need.
#[rustfmt::skip]
const KEPT_ADVERBS: &[&str] = &[
    "how", "why", "when", "where", "so", "as", "up", "out", "down", "off", "away", "back", "only",
];

fn is_question_word(word: &str) -> bool {
    matches!(word, "what" | "who" | "which" | "when" | "where" | "why" | "how" | "whether" | "if")
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
