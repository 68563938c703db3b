//! What holds a cut back, whatever rule names it.

use super::cut::{Cut, SURE};
use super::lexicon::{BINDING, COMPARING, QUANTIFIERS, RELATIVE};
use crate::words::{is_negation, is_temporal};

impl Cut<'_, '_> {
    /// Whether two names, or a name and its title, would be torn apart.
    pub fn breaks_name(&self) -> bool {
        let sentence = self.tree.sentence;
        let name = |word: usize| sentence.upos(word) == "PROPN";
        name(self.word) && name(self.head) && !self.is("appos") && !self.in_brackets() && !self.is("obl")
            || matches!(sentence.upos(self.head), "NUM" | "SYM")
    }

    /// Whether a conjunction next to what would go joins it to what stays.
    pub fn splits_coordination(&self) -> bool {
        let (before, after) = self.neighbours();
        let sentence = self.tree.sentence;
        let joins = |word: Option<usize>| word.is_some_and(|at| sentence.upos(at) == "CCONJ");
        let more = |word: Option<usize>| {
            word.is_some_and(|at| {
                at + 1 < sentence.len()
                    && (matches!(sentence.upos(at + 1), "ADP" | "ADJ" | "ADV" | "SCONJ" | "PROPN" | "NUM")
                        // "[in its capital] and surrounding areas".
                        || self.tree.tag(at + 1) == "VBG")
            })
        };
        let has_verb = || self.words().any(|at| sentence.upos(at) == "VERB");
        joins(before) && !self.is("advmod")
            || self.words().next().is_some_and(|first| sentence.upos(first) == "CCONJ")
            || joins(after) && has_verb() && !self.stands_apart()
            || self.is("appos") && joins(after.map(|at| at + 1).filter(|&at| at < sentence.len()))
            || joins(after) && (more(after) || matches!(self.relation, "amod" | "advmod" | "appos"))
            || self.form(after) == "," && self.is("amod")
            || self.form(before) == "," && matches!(self.relation, "amod" | "nmod") && !self.is_enclosed()
    }

    /// Whether the clauses around it are negated, conditional, asked, or about few or all.
    pub fn is_bound(&self) -> bool {
        let tree = self.tree;
        let mut clause = Some(tree.clause_of(self.head));
        while let Some(at) = clause {
            let binds = |&child: &usize| {
                let lower = tree.lower(child);
                is_negation(&lower)
                    || BINDING.contains(&lower.as_str())
                    || matches!(tree.relation(child), "nsubj" | "obj")
                        && (tree.dependents(child, "det").chain(tree.dependents(child, "amod")).any(|of| {
                            let lower = tree.lower(of);
                            is_negation(&lower) || QUANTIFIERS.contains(&lower.as_str())
                        }))
            };
            if tree.children(at).iter().any(binds) {
                return true;
            }
            clause = tree.heads[at].map(|above| tree.clause_of(above)).filter(|&above| above != at);
        }
        (0..tree.sentence.len()).any(|word| tree.sentence.form(word) == "?")
    }

    /// Whether what stays counts or compares: then the rest says among what.
    pub fn is_compared(&self) -> bool {
        let tree = self.tree;
        let compares = |word: usize| {
            matches!(tree.tag(word), "JJS" | "RBS" | "JJR" | "RBR")
                || COMPARING.contains(&tree.lower(word).as_str())
                || is_ordinal(&tree.lower(word))
        };
        let near = |head: usize| {
            tree.children(head).iter().any(|&child| {
                child != self.word
                    && (compares(child) || tree.children(child).iter().any(|&below| compares(below)))
            })
        };
        // "the number of people that died [in Leeds] rose to 19".
        let mut above = std::iter::successors(Some(self.head), |&at| tree.heads[at]);
        let counted = matches!(self.relation, "nmod" | "obl")
            && above.any(|at| matches!(tree.lower(at).as_str(), "number" | "numbers" | "toll" | "amount"));
        counted
            || (compares(self.head) || near(self.head)) && !matches!(self.relation, "amod" | "advmod")
            || self.phrase.is_some_and(|(first, last)| {
                (first..=last).any(|at| matches!(tree.lower(at).as_str(), "than"))
            })
    }

    /// Whether it reaches into a quotation, or one into it.
    pub fn touches_quotation(&self) -> bool {
        let quoted = &self.tree.quoted;
        let inside =
            self.phrase.is_some_and(|(first, last)| quoted[first..=last].iter().any(|&quoted| quoted));
        quoted[self.word] && quoted[self.head]
            || inside
                && !self.phrase.is_some_and(|(first, last)| {
                    let marks = (first..=last)
                        .filter(|&at| matches!(self.tree.sentence.form(at), "\"" | "“" | "”" | "''" | "``"));
                    marks.count() == 2
                })
    }

    /// Whether an article, preposition or possessive would be left without its word, or an article before the
    /// wrong sound.
    pub fn leaves_hanging(&self) -> bool {
        let (before, after) = self.neighbours();
        let (tree, sentence) = (self.tree, self.tree.sentence);
        let modifies = matches!(self.relation, "amod" | "advmod");
        let hanging = |at: usize| {
            matches!(sentence.upos(at), "ADP" | "DET" | "PART" | "SCONJ" | "CCONJ")
                && sentence.form(at) != "'s"
                && tree.relation(at) != "compound"
                || matches!(tree.lower(at).as_str(), "its" | "his" | "her" | "their" | "our" | "my" | "your")
        };
        let phrase = matches!(self.relation, "obl" | "nmod") && !self.stands_apart();
        // "stalled shortly [after she was released]", "in a fire [at her Des Moines] home", "[at the meeting later] today".
        let adverb = self.is("advcl") && before.is_some_and(|at| sentence.upos(at) == "ADV");
        let noun = after.is_some_and(|at| {
            // "[at the polling station] No 29".
            matches!(sentence.upos(at), "NOUN" | "PROPN" | "ADJ" | "NUM") && !is_temporal(&tree.lower(at))
                || matches!(tree.lower(at).as_str(), "no" | "no." | "nos")
        });
        let last = self.words().last();
        let ends_early = last.is_some_and(|at| sentence.upos(at) == "ADV" && !is_temporal(&tree.lower(at)))
            || last
                .is_some_and(|at| matches!(tree.lower(at).as_str(), "later" | "earlier" | "early" | "late"));
        // "arrested late [last month]", "[in her finding] that he lied".
        let halved = before.is_some_and(|at| matches!(tree.lower(at).as_str(), "late" | "early"))
            || after.is_some_and(|at| matches!(tree.lower(at).as_str(), "that" | "of"))
            // "[after a contest] in which fans voted".
            || after.is_some_and(|at| {
                at + 1 < sentence.len() && sentence.upos(at) == "ADP" && matches!(tree.tag(at + 1), "WDT" | "WP")
            });
        // "threw stones [at a man] as he prayed".
        let meant = after.is_some_and(|at| {
            at + 1 < sentence.len()
                && matches!(sentence.upos(at), "SCONJ" | "ADV" | "ADP")
                && matches!(tree.lower(at + 1).as_str(), "he" | "she" | "it" | "they" | "his" | "her" | "its")
        });
        if adverb
            || phrase && (noun || ends_early || halved || meant)
            || self.follows_measure()
            || self.is_told_more_of()
        {
            return true;
        }
        let stub = !modifies && before.is_some_and(hanging) && !self.in_brackets();
        let article = match before.map(|at| tree.lower(at)).as_deref() {
            Some("a") => after.is_none_or(|at| begins_with_vowel(&tree.lower(at))),
            Some("an") => after.is_none_or(|at| !begins_with_vowel(&tree.lower(at))),
            _ => false,
        };
        let takes_article = self.phrase.is_some_and(|(first, last)| {
            last < self.head
                && matches!(sentence.upos(self.head), "NOUN" | "PROPN")
                && (first..=last).any(|at| sentence.upos(at) == "DET")
        });
        let repeats =
            before.zip(after).is_some_and(|(a, b)| tree.lower(a) == tree.lower(b) && !tree.is_mark(a));
        stub || article
            || takes_article
            || repeats
            || self.phrase.is_some_and(|(first, _)| tree.lower(first) == "of")
    }

    /// "two years [after it was built]".
    fn follows_measure(&self) -> bool {
        let tree = self.tree;
        let measured = |at: usize| {
            tree.lower(at) == "half"
                || is_temporal(&tree.lower(at))
                    && (tree.lower(at).ends_with('s')
                        || tree.has(at, &["nummod"])
                        || tree.dependents(at, "det").any(|of| matches!(tree.lower(of).as_str(), "a" | "an")))
        };
        matches!(self.relation, "advcl" | "obl" | "nmod")
            && self.begins_with(&["after", "before", "since"])
            && self.neighbours().0.is_some_and(measured)
    }

    /// "[in a move that angered Ann,] who left".
    fn is_told_more_of(&self) -> bool {
        let after = self.neighbours().1;
        let next = after.map(|at| at + 1).filter(|&at| at < self.tree.sentence.len());
        self.form(after) == ","
            && !self.opens_sentence()
            && next.is_some_and(|at| RELATIVE.contains(&self.tree.lower(at).as_str()))
    }

    /// Whether the comma after it closes a larger phrase, too, which needs it.
    pub fn shares_comma(&self) -> bool {
        let tree = self.tree;
        let Some((_, last)) = self.phrase.filter(|_| self.is_enclosed() && !self.ends_sentence()) else {
            return false;
        };
        // Who said so begins after it: "[, which will end soon,] police said".
        let next = (last + 1..tree.sentence.len()).find(|&at| !tree.is_mark(at));
        let mut beginning = next;
        while let Some(at) = beginning.filter(|&at| Some(tree.span(at).0) == next) {
            if tree.relation(at) == "parataxis" {
                return true;
            }
            beginning = tree.heads[at];
        }
        let mut above = self.head;
        while let Some(head) = tree.heads[above]
            && tree.phrase(above).is_some_and(|phrase| *phrase.end() == last)
        {
            // "Some, such as Ann[, who left,] were angry": the comma before the larger phrase has its other half here.
            let (first, _) = tree.span(above);
            let opened =
                matches!(tree.relation(above), "appos" | "nmod" | "obl" | "acl" | "advcl" | "parataxis")
                    && (first > 0 && tree.is_mark(first) || first > 1 && tree.is_mark(first - 1));
            if opened
                || above < head
                    && matches!(
                        tree.relation(above),
                        "advcl" | "obl" | "acl" | "advmod" | "parataxis" | "discourse" | "ccomp"
                    )
            {
                return true;
            }
            above = head;
        }
        false
    }

    /// Whether no comma stands inside, unless in a date: else what follows it may be the subject.
    pub fn is_of_one_piece(&self) -> bool {
        let Some((first, last)) = self.phrase else { return false };
        let Some(comma) = (first..=last).find(|&at| self.tree.is_mark(at)) else { return true };
        (comma..=last).all(|at| {
            let lower = self.tree.lower(at);
            self.tree.is_mark(at) || is_temporal(&lower) || lower.starts_with(|c: char| c.is_ascii_digit())
        })
    }

    /// Whether it belongs to what the sentence says of its subject: "is a term [in law]" would say nothing.
    pub fn is_of_predicate(&self) -> bool {
        let predicate = |word: usize| {
            self.tree.has(word, &["cop", "expl"])
                || matches!(
                    self.tree.lower(word).as_str(),
                    "have" | "has" | "had" | "become" | "became" | "mean" | "means" | "meant"
                )
        };
        let above = self.tree.heads[self.head];
        predicate(self.head)
            || matches!(self.tree.relation(self.head), "obj" | "xcomp") && above.is_some_and(predicate)
    }

    /// Whether the parser is not sure of what hangs where. In brackets and at the head of a sentence it does not
    /// matter what something hangs from.
    pub fn is_uncertain(&self) -> bool {
        let tree = self.tree;
        !self.in_brackets()
            && (tree.confidence(tree.order[0]) < SURE
                || tree.confidence(self.word) < SURE && !self.opens_sentence())
    }

    /// "It was … who": what looks like a modifier is the sentence.
    pub fn is_cleft(&self) -> bool {
        let subject = |child: usize| matches!(self.tree.lower(child).as_str(), "it" | "there");
        let top = self.tree.clause_of(self.head);
        matches!(self.relation, "acl" | "advcl" | "ccomp")
            && self.tree.has(top, &["cop"])
            && self.tree.children(top).iter().any(|&child| subject(child))
    }
}

fn is_ordinal(word: &str) -> bool {
    let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    !number.is_empty() && matches!(&word[number.len()..], "st" | "nd" | "rd" | "th")
}

fn begins_with_vowel(word: &str) -> bool {
    word.starts_with(['a', 'e', 'i', 'o', 'u', '8'])
}
