//! What rules ask about a cut.

use super::lexicon::{
    DESCRIPTIVE, GOVERNING, HEDGES, LOOSE_ADVERBS, NOUN_PLACE, PLACED, QUANTIFIERS, REPORTING, SUBORDINATORS,
    TIMELY,
};
use crate::syntax::Tree;
use crate::words::is_temporal;

/// What hangs from a head that the parser is less sure of stays, and so does all of a sentence with such a root.
pub const SURE: f32 = 0.65;

/// The cut of one arc, with what rules ask about it.
#[derive(Debug)]
pub struct Cut<'t, 's> {
    /// The tree.
    pub tree: &'t Tree<'s>,
    /// The word that goes with everything below it.
    pub word: usize,
    /// Its head, which stays.
    pub head: usize,
    /// The relation, without its subtype.
    pub relation: &'s str,
    /// The same with its subtype.
    pub full: &'s str,
    /// The first and the last word that would go, marks at the ends aside.
    pub phrase: Option<(usize, usize)>,
}

impl<'t, 's> Cut<'t, 's> {
    /// The cut of the arc to a word; nothing for the root.
    pub fn new(tree: &'t Tree<'s>, word: usize) -> Option<Self> {
        let phrase = tree.phrase(word).map(|phrase| (*phrase.start(), *phrase.end()));
        let (relation, full) = (tree.relation(word), tree.sentence.deprel(word));
        Some(Self { tree, word, head: tree.heads[word]?, relation, full, phrase })
    }

    /// The word in lower case.
    pub fn lower(&self) -> String {
        self.tree.lower(self.word)
    }

    /// Whether the relation is this one, whatever its subtype.
    pub fn is(&self, relation: &str) -> bool {
        self.relation == relation
    }

    /// Whether the relation is this one, with its subtype.
    pub fn is_full(&self, relation: &str) -> bool {
        self.full == relation
    }

    /// The number of tokens that would go.
    pub fn length(&self) -> usize {
        self.phrase.map_or(0, |(first, last)| last + 1 - first)
    }

    /// The tokens that would go.
    pub(super) fn words(&self) -> impl Iterator<Item = usize> {
        self.phrase.map_or(0..0, |(first, last)| first..last + 1)
    }

    /// Whether a phrase has a verb with tense that no relative clause explains: then it is likely the verb of
    /// the clause that stays.
    pub fn takes_a_verb(&self) -> bool {
        let tree = self.tree;
        let mut relative = false;
        let finite = |at: usize| matches!(tree.tag(at), "VBD" | "VBZ" | "VBP" | "MD");
        // "Ann[, who had friends, died,] they said".
        self.words().any(|at| tree.is_mark(at) && self.words().any(|next| next == at + 1 && finite(next)))
            || matches!(self.relation, "obl" | "nmod" | "advmod" | "appos")
                && self.words().any(|at| {
                    relative |=
                        matches!(tree.tag(at), "WDT" | "WP" | "WP$" | "WRB") || tree.lower(at) == "that";
                    !relative && finite(at)
                })
    }

    /// The tokens right before and right after what would go.
    pub fn neighbours(&self) -> (Option<usize>, Option<usize>) {
        let Some((first, last)) = self.phrase else { return (None, None) };
        (first.checked_sub(1), Some(last + 1).filter(|&next| next < self.tree.sentence.len()))
    }

    /// A token as it is written; nothing, if there is none.
    pub fn form(&self, word: Option<usize>) -> &'s str {
        word.map_or("", |word| self.tree.sentence.form(word))
    }

    /// Whether what would go stands in brackets of its own.
    pub fn in_brackets(&self) -> bool {
        let (before, after) = self.neighbours();
        matches!((self.form(before), self.form(after)), ("(", ")") | ("[", "]"))
    }

    /// Whether dashes stand before and after it.
    pub fn between_dashes(&self) -> bool {
        let (before, after) = self.neighbours();
        let dash = |form: &str| matches!(form, "-" | "–" | "—" | "--");
        dash(self.form(before)) && dash(self.form(after))
    }

    /// Whether a comma or dash stands before what would go, and another, or the end of the sentence, after.
    pub fn is_enclosed(&self) -> bool {
        let (before, after) = self.neighbours();
        let mark = |form: &str| matches!(form, "," | "–" | "—" | "--" | "(" | ")");
        let opens = before.is_none() || mark(self.form(before));
        opens && (before.is_some() || after.is_some()) && (self.ends_sentence() || mark(self.form(after)))
    }

    /// Whether only closing marks stand after what would go.
    pub fn ends_sentence(&self) -> bool {
        self.phrase.is_some_and(|(_, last)| {
            let mut rest = last + 1..self.tree.sentence.len();
            rest.clone().next().is_none_or(|next| matches!(self.tree.sentence.form(next), "." | "!" | ";"))
                && rest.all(|at| self.tree.is_mark(at))
        })
    }

    /// Whether what would go opens the sentence, up to a comma.
    pub fn opens_sentence(&self) -> bool {
        let (before, after) = self.neighbours();
        before.is_none() && self.form(after) == "," && self.tree.heads[self.head].is_none()
    }

    /// Whether marks set it off, so that nothing else in the sentence depends on it.
    pub fn stands_apart(&self) -> bool {
        self.in_brackets() || self.is_enclosed()
    }

    /// Whether one of its first two words is one of these.
    pub fn begins_with(&self, words: &[&str]) -> bool {
        self.phrase.is_some_and(|(first, last)| {
            (first..=last.min(first + 1)).any(|at| words.contains(&self.tree.lower(at).as_str()))
        })
    }

    /// Whether it begins with one of these prepositions, and has no other.
    pub fn has_case(&self, words: &[&str]) -> bool {
        let cases: Vec<usize> = self.tree.dependents(self.word, "case").collect();
        cases.len() == 1
            && self.phrase.is_some_and(|(first, _)| first == cases[0])
            && words.contains(&self.tree.lower(cases[0]).as_str())
            && !self.tree.has(cases[0], &["fixed", "advmod"])
    }

    /// "Leeds, England" and "July 7, 2005" are one name.
    pub fn is_place_or_date(&self) -> bool {
        self.length() <= 2
            && self.phrase.is_some_and(|(first, last)| {
                (first..=last).all(|at| matches!(self.tree.sentence.upos(at), "PROPN" | "NUM"))
            })
    }

    /// "Ann Lee[, cellist Bob Roe and bassist Jim Poe,]" are three; "[, as mayor of Leeds]" says what for.
    pub fn is_of_a_list(&self) -> bool {
        let sentence = self.tree.sentence;
        let joined = self.words().any(|at| sentence.upos(at) == "CCONJ");
        let named = self.words().next().is_some_and(|first| sentence.upos(first) != "DET");
        // "Ann Lee[, Vice President,] Production, Leeds Radio".
        let next = self.neighbours().1.map(|after| after + 1).filter(|&next| next < sentence.len());
        let goes_on = next.is_some_and(|next| matches!(sentence.upos(next), "NOUN" | "PROPN"));
        joined && named || goes_on || self.tree.has(self.word, &["case"])
    }

    /// A number after a name, between commas.
    pub fn is_age(&self) -> bool {
        let sentence = self.tree.sentence;
        matches!(self.relation, "appos" | "nmod" | "nummod")
            && self.length() == 1
            && self.is_enclosed()
            && sentence.upos(self.head) == "PROPN"
            && sentence.form(self.word).parse::<u32>().is_ok_and(|age| (5..110).contains(&age))
            && self.word > self.head
    }

    /// A participle without a subject: "killing 14 people".
    pub fn is_participle(&self) -> bool {
        let tree = self.tree;
        matches!(self.full, "acl" | "advcl")
            && matches!(tree.tag(self.word), "VBG" | "VBN")
            && !tree.has(self.word, &["mark", "nsubj", "aux", "case"])
            && self.phrase.is_some_and(|(first, _)| first == self.word || tree.relation(first) == "advmod")
    }

    /// Whether the clause that stays is told as past, or the cut is a noun's own.
    pub fn clause_stays_past(&self) -> bool {
        self.is("acl") || self.is_past(self.head)
    }

    /// A clause of the past tells of an event, which is as true without its circumstances; of what is, will be
    /// or may be, they can be conditions.
    pub fn is_past(&self, clause: usize) -> bool {
        let past = |at: usize| matches!(self.tree.tag(at), "VBD" | "VBN");
        let auxiliaries: Vec<usize> = self
            .tree
            .children(clause)
            .iter()
            .copied()
            .filter(|&child| matches!(self.tree.relation(child), "aux" | "cop"))
            .collect();
        match auxiliaries.is_empty() {
            true => past(clause),
            false => auxiliaries
                .iter()
                .all(|&aux| past(aux) || matches!(self.tree.lower(aux).as_str(), "has" | "have" | "'ve")),
        }
    }

    /// A clause with its own subject and a harmless subordinator.
    pub fn is_subordinate(&self) -> bool {
        let tree = self.tree;
        let marks: Vec<usize> = tree.dependents(self.word, "mark").collect();
        let adverbs = tree.dependents(self.word, "advmod").filter(|&at| tree.lower(at) == "when");
        let mark = marks.iter().copied().chain(adverbs).next();
        self.is_full("advcl")
            && marks.len() <= 1
            && tree.is_finite(self.word)
            && tree.has(self.word, &["nsubj", "expl", "csubj"])
            && self.is_past(self.head)
            && tree.is_clause(self.head)
            && !self.is_narrated()
            && !self.is_all_that_a_noun_is_told_by()
            && mark.is_some_and(|mark| {
                SUBORDINATORS.contains(&tree.lower(mark).as_str())
                    && self.phrase.is_some_and(|(first, _)| first == mark)
            })
            && (self.is_enclosed() || self.ends_sentence() || self.opens_sentence())
    }

    /// "They were waiting [when the wave hit]": what happened stands in the clause, and around it only what went on.
    /// Nor does "Iraqi waters[, when they were caught]" tell of the waters.
    pub fn is_narrated(&self) -> bool {
        let tree = self.tree;
        let goes_on = |at: usize| {
            tree.dependents(at, "aux").any(|aux| {
                tree.lower(aux) == "had" || tree.tag(at) == "VBG" && matches!(tree.tag(aux), "VBD" | "VBN")
            })
        };
        let around = |at: &usize| goes_on(*at);
        self.phrase.is_some_and(|(first, _)| first > 0 && tree.lower(first) == "when")
            && (self.is("acl") && !is_temporal(&tree.lower(self.head))
                || std::iter::successors(Some(self.head), |&at| tree.heads[at]).any(|at| around(&at)))
    }

    /// Who said so, set beside what was said.
    pub fn is_attribution(&self) -> bool {
        let tree = self.tree;
        self.is("parataxis")
            && self.is_enclosed()
            && REPORTING.contains(&self.lower().as_str())
            && tree.has(self.word, &["nsubj"])
            && !tree.has(self.word, &["obj", "ccomp", "aux", "advcl", "conj"])
            && self.length() <= 12
    }

    /// A word or phrase that says when, where an event can do without.
    pub fn is_time(&self) -> bool {
        let tree = self.tree;
        let temporal = is_temporal(&self.lower()) || is_year(&self.lower());
        let bare = tree.dependents(self.word, "case").next().is_none();
        let kind = match self.relation {
            "obl" if bare => self.is_full("obl:unmarked") || self.is_full("obl:tmod"),
            "obl" => self.has_case(&[
                "on", "in", "at", "during", "since", "before", "after", "this", "around", "about",
            ]),
            _ => false,
        };
        // "cleaned [each day]", "7,000 issued [a day]" say how often.
        let often = tree
            .dependents(self.word, "det")
            .any(|of| matches!(tree.lower(of).as_str(), "each" | "every" | "a" | "an"));
        kind && temporal
            && !often
            && tree.is_clause(self.head)
            && !tree.has(self.head, &["cop"])
            && self.is_past(self.head)
            && !PLACED.contains(&tree.lower(self.head).as_str())
            && !tree.has(self.word, &["acl", "nmod", "conj", "advcl"])
            && !self.is_all_that_a_noun_is_told_by()
            && tree.dependents(self.word, "amod").all(|of| TIMELY.contains(&tree.lower(of).as_str()))
            && (self.word > self.head || self.opens_sentence())
    }

    /// "a robbery that occurred [on Monday]": without it, the clause says nothing of its noun.
    fn is_all_that_a_noun_is_told_by(&self) -> bool {
        let tree = self.tree;
        let says = |&child: &usize| {
            child != self.word
                && matches!(tree.relation(child), "obj" | "obl" | "xcomp" | "ccomp" | "advcl" | "advmod")
        };
        tree.relation(self.head) == "acl" && !tree.children(self.head).iter().any(says)
    }

    /// Whether the verb has its object, or is a passive, before what would go.
    pub fn follows_complete_verb(&self) -> bool {
        let tree = self.tree;
        let complete = tree.children(self.head).iter().any(|&child| {
            child < self.word
                && (tree.relation(child) == "obj" || tree.sentence.deprel(child) == "nsubj:pass")
        });
        complete && self.word > self.head && tree.is_clause(self.head) && self.is_past(self.head)
    }

    /// "tested it [in mice]": what several things are called, without an article, is seldom a place.
    pub fn is_of_a_kind(&self) -> bool {
        self.tree.tag(self.word) == "NNS" && !self.tree.has(self.word, &["det", "nmod:poss", "nummod"])
    }

    /// Whether its verb says little without a place.
    pub fn head_needs_place(&self) -> bool {
        let lower = self.tree.lower(self.head);
        let lemma = self.tree.sentence.lemma(self.head);
        let stem = lower.strip_suffix("ed").unwrap_or(&lower);
        [lower.as_str(), lemma, stem, lower.strip_suffix('d').unwrap_or(&lower)]
            .iter()
            .any(|form| PLACED.contains(form))
    }

    /// A place after a noun that does not need it, in a clause about something else.
    pub fn is_noun_place(&self) -> bool {
        let (tree, sentence) = (self.tree, self.tree.sentence);
        self.is_full("nmod")
            && self.has_case(NOUN_PLACE)
            && self.word > self.head
            && sentence.upos(self.head) == "NOUN"
            && matches!(sentence.upos(self.word), "NOUN" | "PROPN")
            && matches!(tree.relation(self.head), "nsubj" | "obl" | "nmod" | "obj")
            // One that its noun begs for: "interest in", "a third in", "nothing in".
            && !tree.has(self.head, &["nummod", "acl"])
            && !matches!(tree.relation(self.head), "obj" if self.verb_above_needs_place())
            && ![Some(self.head), tree.heads[self.head]]
                .iter()
                .flatten()
                .any(|&noun| GOVERNING.contains(&tree.lower(noun).as_str()))
            && self.is_of_one_piece()
            && !(tree.lower(self.head).ends_with("ing") || tree.lower(self.head).ends_with("ion"))
            && self.words().all(|at| sentence.upos(at) != "VERB")
            && !self.says_which()
            && !self.is_of_one_of_several()
    }

    /// "turns at the top, the speed and the time of arrival [at the bottom]": one of several is placed among them.
    fn is_of_one_of_several(&self) -> bool {
        let tree = self.tree;
        let above = std::iter::successors(Some(self.head), |&at| tree.heads[at]);
        let mut within = above.take_while(|&at| !tree.is_clause(at));
        within.any(|at| tree.relation(at) == "conj" || tree.has(at, &["conj"]))
    }

    /// Whether it says of which there are all, many or some: "all students [at the school]", "Prices [in Leeds] are high".
    fn says_which(&self) -> bool {
        let tree = self.tree;
        let quantified =
            tree.children(self.head).iter().any(|&of| QUANTIFIERS.contains(&tree.lower(of).as_str()));
        let told = tree.children(self.head).iter().any(|&of| {
            of < self.head && matches!(tree.relation(of), "det" | "nmod" | "amod" | "nummod" | "compound")
        });
        quantified
            || !(told || tree.relation(self.head) == "nsubj" && self.is_past(tree.clause_of(self.head)))
    }

    /// Whether the verb above its noun does.
    pub fn verb_above_needs_place(&self) -> bool {
        Cut::new(self.tree, self.head).is_some_and(|above| above.head_needs_place())
    }

    /// Whether its absence would claim more.
    pub fn is_hedge(&self) -> bool {
        HEDGES.contains(&self.lower().as_str())
    }

    /// An adverb before its verb that adds nothing to argue about.
    pub fn is_loose_adverb(&self) -> bool {
        let (tree, lower) = (self.tree, self.lower());
        self.is_full("advmod")
            && self.length() == 1
            && LOOSE_ADVERBS.contains(&lower.as_str())
            && !self.is_hedge()
            && !(lower == "also" && (0..self.word).any(|at| tree.lower(at) == "only"))
            // "more a find [then] a list" is misspelled.
            && !(lower == "then"
                && (0..self.word).any(|at| {
                    tree.tag(at) == "JJR" || matches!(tree.lower(at).as_str(), "more" | "less" | "rather" | "other")
                }))
            && !self.joins_clauses()
            // "Personally Yours" is a name.
            && !(self.word == 0 && self.form(self.neighbours().1).starts_with(char::is_uppercase))
            && matches!(tree.sentence.upos(self.head), "VERB")
            && !tree.has(self.head, &["cop"])
            && tree.relation(self.head) != "amod"
            && self.neighbours().0.is_none_or(|before| !tree.is_mark(before))
            // After the verb an adverb may be its complement.
            && (self.word < self.head || is_temporal(&lower) && tree.has(self.head, &["obj"]))
    }

    /// Whether an adverb stands between two clauses, and only it: "we left [then] they came"; "[Thus] (so they say) it
    /// is"; "it was empty but [quickly] filled".
    fn joins_clauses(&self) -> bool {
        let (tree, (before, after)) = (self.tree, self.neighbours());
        let subject = tree.dependents(self.head, "nsubj").any(|subject| self.word < tree.span(subject).0);
        let joined = before.is_none_or(|at| tree.is_mark(at) || tree.sentence.upos(at) == "CCONJ");
        let contrasts = matches!(self.form(before), "but" | "yet" | "though");
        let opens_badly = before.is_none()
            && after.is_none_or(|at| tree.is_mark(at) || matches!(tree.tag(at), "WP" | "WDT" | "WRB"));
        subject && !joined || contrasts && !subject || opens_badly
    }

    /// An adjective before its noun that only adds weight.
    pub fn is_loose_adjective(&self) -> bool {
        let tree = self.tree;
        self.is_full("amod")
            && self.length() == 1
            && DESCRIPTIVE.contains(&self.lower().as_str())
            && self.word < self.head
            && tree.sentence.upos(self.head) == "NOUN"
            && matches!(tree.relation(self.head), "nsubj" | "obj" | "obl" | "nmod")
            // "[major] supermarkets and large shops".
            && !tree.has(self.head, &["conj"])
            && !matches!(
                tree.heads[self.head].map(|above| tree.lower(above)).as_deref(),
                Some("have" | "has" | "had" | "with")
            )
    }
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && word.parse::<u32>().is_ok_and(|year| (1800..2100).contains(&year))
}
