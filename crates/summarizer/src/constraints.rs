//! Which arcs of a dependency tree may be cut: a table of cuts that leave a sentence whole, each with an
//! example, and of what forbids any cut.
//!
//! Almeida & Martins (2013, §3.5, after Clarke & Lapata 2008) say what must stay and let everything else go.
//! Here it is the other way round, because a tree has errors: only what a rule of [`CUTS`] names may go, and
//! nothing that one of [`VETOES`] holds. Relations are those of Universal Dependencies as in the English Web
//! Treebank, where prepositions, complementizers and auxiliaries are dependents.

mod cut;
mod lexicon;
mod veto;

use cut::Cut;
use lexicon::{CIRCUMSTANCE, FRONTED, FUNCTION, NEEDED, PLACE, RELATIVE, REPORTING, WORD_PARTS};

use crate::syntax::Tree;
use crate::words::is_negation;

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

/// A kind of cut, or a reason against any.
#[derive(Debug)]
pub struct Rule {
    /// What it is called where a cut is explained.
    pub name: &'static str,
    /// What goes, in brackets; of a reason against cuts, what would be wrong.
    pub example: &'static str,
    holds: fn(&Cut<'_, '_>) -> bool,
}

const fn rule(name: &'static str, example: &'static str, holds: fn(&Cut<'_, '_>) -> bool) -> Rule {
    Rule { name, example, holds }
}

/// Longer appositions are often what an earlier word governs: "inspected, by an order of 1907, a ship that …".
const LONGEST_APPOSITION: usize = 12;

/// Cuts that leave a sentence whole. The first that holds gives its name.
pub const CUTS: &[Rule] = &[
    rule("brackets", "the coast guard [(RNLI)] said", |cut| cut.in_brackets()),
    rule("apposition", "Ines Marlow[, the captain,] said so", |cut| {
        cut.is("appos")
            && cut.is_enclosed()
            && cut.length() <= LONGEST_APPOSITION
            && !cut.is_place_or_date()
            && !cut.is_of_a_list()
    }),
    rule("age", "Shahzad Tanweer[, 22,] attended a school", |cut| cut.is_age()),
    rule("relative clause", "the boat[, which carries twelve,] will sail", |cut| {
        cut.is_full("acl:relcl") && cut.is_enclosed() && cut.begins_with(RELATIVE) && !cut.is_narrated()
    }),
    rule("participle", "The quake struck[, killing 14 people]", |cut| {
        cut.is_participle() && cut.is_enclosed() && cut.clause_stays_past()
    }),
    rule("subordinate clause", "[When the fog rose,] the tug left", |cut| cut.is_subordinate()),
    rule("attribution", "No one was hurt[, the coast guard said]", |cut| cut.is_attribution()),
    rule("aside", "The plan[, he thinks,] will work", |cut| cut.is("parataxis") && cut.between_dashes()),
    rule("address", "[Well,] it works", |cut| {
        (cut.is("discourse") || cut.is("vocative"))
            && cut.is_enclosed()
            // "nice [, well ,] appointed" is a word with its hyphen lost.
            && (cut.lower() != "well" || cut.phrase.is_some_and(|(first, _)| first == 0))
    }),
    rule("connective", "[Meanwhile,] the council met", |cut| {
        cut.is("advmod") && cut.opens_sentence() && !cut.is_hedge()
    }),
    rule("fronted phrase", "[In a statement,] the company apologized", |cut| {
        cut.is("obl") && cut.opens_sentence() && cut.has_case(FRONTED) && cut.is_of_one_piece()
    }),
    rule("time", "A tug arrived [on Tuesday]", |cut| cut.is_time()),
    rule("circumstance", "They met the mayor [during a visit]", |cut| {
        cut.is("obl") && cut.has_case(CIRCUMSTANCE) && cut.follows_complete_verb()
    }),
    rule("place", "Police searched six houses [in Leeds]", |cut| {
        cut.is("obl")
            && cut.has_case(PLACE)
            && cut.follows_complete_verb()
            && !cut.head_needs_place()
            && !cut.is_of_a_kind()
    }),
    rule("noun's place", "a house [in the old town] burned", |cut| cut.is_noun_place()),
    rule("adverb", "The tug [quickly] towed it", |cut| cut.is_loose_adverb()),
    rule("adjective", "a [strong] earthquake struck", |cut| cut.is_loose_adjective()),
];

/// The name and an example of what else may be done: a clause that somebody is said to have said stands for the
/// whole sentence.
pub const REPORTED: (&str, &str) = ("reported clause", "[The company said that] the ferry was safe");

/// What no cut may do. Signs of a wrong tree are among them.
pub const VETOES: &[Rule] = &[
    rule("no clause on top", "[killing 14 people] in a headline", |cut| !cut.tree.stands()),
    rule("a verb that no clause has", "the answer [which he received was late]", |cut| {
        cut.tree.has_stray_verb() || cut.takes_a_verb()
    }),
    rule("words between", "a phrase that is torn apart", |cut| cut.phrase.is_none()),
    rule("what the verb needs", "left thousands [homeless]; asked the army [to come]", |cut| {
        NEEDED.contains(&cut.relation)
    }),
    rule("a part of a word or name", "New [York]; take [off]; 14 [people]", |cut| {
        WORD_PARTS.contains(&cut.full) || cut.breaks_name()
    }),
    rule("half of a coordination", "rain [and wind]", |cut| {
        cut.relation == "conj" || cut.splits_coordination()
    }),
    rule("negation", "did [not] come", |cut| {
        is_negation(&cut.lower())
            || cut.tree.sentence.upos(cut.word) == "DET"
            || cut.tree.sentence.upos(cut.word) == "NUM" && !cut.is_age()
    }),
    rule("under a negation, a condition or a question", "did not go [because of rain]", |cut| {
        cut.is_bound() && !cut.stands_apart()
    }),
    rule("a comparison or a first", "the largest city [in Europe]", |cut| {
        cut.is_compared() && !cut.stands_apart()
    }),
    rule("inside quotation marks", "\"the [only] way\"", |cut| cut.touches_quotation()),
    rule("a word left hanging", "the [old] of; an [old] mayor", |cut| cut.leaves_hanging()),
    rule("a comma that others need", "Held in Rome[, which he knew,] Osman agreed", |cut| cut.shares_comma()),
    rule("what a sentence is there to say", "A lien is a claim [on a property]", |cut| {
        cut.is_of_predicate() && !cut.stands_apart()
    }),
    rule("a cleft", "It was the crew [who sang]", |cut| cut.is_cleft()),
    rule("an uncertain tree", "where something hangs, the parser is not sure", |cut| cut.is_uncertain()),
];

impl<'s> Tree<'s> {
    /// Whether the arc to a word may be cut, so that the word goes with everything below it.
    pub fn may_cut(&self, word: usize, constraints: Constraints) -> bool {
        match constraints {
            Constraints::Grammatical => self.cut_rule(word).is_some(),
            // Words written as several belong together.
            Constraints::Free => {
                self.heads[word].is_some()
                    && !FUNCTION.contains(&self.relation(word))
                    && self.sentence.deprel(word) != "compound:prt"
            }
        }
    }

    /// The rule by which the arc to a word may be cut.
    pub fn cut_rule(&self, word: usize) -> Option<&'static Rule> {
        let cut = Cut::new(self, word)?;
        let rule = CUTS.iter().find(|rule| (rule.holds)(&cut))?;
        (!VETOES.iter().any(|veto| (veto.holds)(&cut))).then_some(rule)
    }

    /// The reason why the arc to a word may not be cut, if one of [`VETOES`] is.
    #[cfg(test)]
    fn veto(&self, word: usize) -> Option<&'static str> {
        let cut = Cut::new(self, word)?;
        VETOES.iter().find(|veto| (veto.holds)(&cut)).map(|veto| veto.name)
    }

    /// Whether the root is a clause that can carry a sentence: finite, with a subject.
    fn stands(&self) -> bool {
        let root = self.order[0];
        self.is_clause(root)
            && self.is_finite(root)
            && self.has(root, &["nsubj", "csubj", "expl"])
            // "With Ann sent home[, we wait]".
            && !self.has(root, &["mark", "case"])
    }

    /// Whether a verb with tense hangs where no clause hangs.
    fn has_stray_verb(&self) -> bool {
        (0..self.sentence.len()).any(|word| {
            matches!(self.tag(word), "VBD" | "VBZ" | "VBP")
                && !matches!(
                    self.relation(word),
                    "root"
                        | "conj"
                        | "ccomp"
                        | "xcomp"
                        | "advcl"
                        | "acl"
                        | "parataxis"
                        | "csubj"
                        | "aux"
                        | "cop"
                )
        })
    }

    /// Whether what hangs from a word can stand as a sentence in place of the whole: a clause with a subject
    /// that somebody is said to have said.
    pub fn may_lead(&self, word: usize, constraints: Constraints) -> bool {
        let relation = self.relation(word);
        let Some(head) = self.heads[word] else { return false };
        if constraints == Constraints::Free {
            return self.is_clause(word)
                && matches!(relation, "ccomp" | "parataxis" | "conj" | "advcl" | "acl" | "xcomp" | "csubj")
                || matches!(
                    relation,
                    "nsubj" | "obj" | "obl" | "nmod" | "appos" | "conj" | "parataxis" | "dep" | "list"
                ) && self.children(word).len() > 1;
        }
        let is_subject = |&&child: &&usize| matches!(self.relation(child), "nsubj" | "csubj" | "expl");
        // Who "he" is stood in what goes.
        let names_its_subject = |&child: &usize| {
            !matches!(
                self.lower(child).as_str(),
                "he" | "she" | "it" | "they" | "this" | "that" | "these" | "those"
            ) && !self
                .dependents(child, "nmod")
                .any(|owner| matches!(self.lower(owner).as_str(), "his" | "her" | "its" | "their"))
        };
        relation == "ccomp"
            && self.stands()
            && !self.has_stray_verb()
            && self.is_clause(word)
            && self.is_finite(word)
            && !(self.quoted[word] || self.quoted[self.span(word).0] || self.quoted[self.span(word).1])
            && self.phrase(word).is_some()
            // "[He said] the data flows [have improved]": the clause is longer than the tree has it.
            && (self.span(word).1 + 1..self.sentence.len())
                .all(|after| !matches!(self.tag(after), "VBD" | "VBZ" | "VBP" | "MD"))
            // "[They said] it sank, adding that …" would have the ship speak.
            && !self.dependents(word, "advcl").any(|at| self.tag(at) == "VBG")
            && self.confidence(word).min(self.confidence(head)) >= cut::SURE
            && self.children(word).iter().filter(is_subject).count() == 1
            && self.children(word).iter().filter(is_subject).all(names_its_subject)
            && self.dependents(word, "mark").all(|mark| self.lower(mark) == "that")
            && self.heads[head].is_none()
            && REPORTING.contains(&self.lower(head).as_str())
            // "did not say that", "may say that", "has said that, and denied it".
            && !self.has(head, &["aux", "conj", "obj", "advcl"])
            && !self.descendants(head).iter().any(|&below| {
                let inside = (self.span(word).0..=self.span(word).1).contains(&below);
                !inside && (is_negation(&self.lower(below)) || self.sentence.form(below) == "?")
            })
            && self.children(word).iter().all(|&child| !is_question_word(&self.lower(child)))
    }
}

fn is_question_word(word: &str) -> bool {
    matches!(word, "what" | "who" | "which" | "when" | "where" | "why" | "how" | "whether" | "if")
}

#[cfg(test)]
mod tests;
