//! One side of the comparison in flat arrays: characters, tokens, sentences, words with interned columns.

use rustc_hash::FxHashMap;

use super::TreeSentence;
use crate::evaluate::EvaluationError;

/// Marks the head of a root.
pub(super) const NO_WORD: u32 = u32::MAX;

const CONTENT_RELATIONS: [&str; 29] = [
    "nsubj",
    "obj",
    "iobj",
    "csubj",
    "ccomp",
    "xcomp",
    "obl",
    "vocative",
    "expl",
    "dislocated",
    "advcl",
    "advmod",
    "discourse",
    "nmod",
    "appos",
    "nummod",
    "acl",
    "amod",
    "conj",
    "fixed",
    "flat",
    "compound",
    "list",
    "parataxis",
    "orphan",
    "goeswith",
    "reparandum",
    "root",
    "dep",
];

const FUNCTION_RELATIONS: [&str; 7] = ["aux", "cop", "mark", "det", "clf", "case", "cc"];

const UNIVERSAL_FEATURES: [&str; 21] = [
    "PronType", "NumType", "Poss", "Reflex", "Foreign", "Abbr", "Gender", "Animacy", "Number", "Case",
    "Definite", "Degree", "VerbForm", "Mood", "Tense", "Aspect", "Voice", "Evident", "Polarity", "Person",
    "Polite",
];

/// Numbers for strings, the same on both sides.
#[derive(Debug)]
pub(super) struct Symbols {
    ids: FxHashMap<String, u32>,
}

impl Default for Symbols {
    fn default() -> Symbols {
        let mut symbols = Symbols { ids: FxHashMap::default() };
        symbols.intern("_");
        symbols
    }
}

impl Symbols {
    /// The symbol of `_`.
    pub(super) const NOTHING: u32 = 0;

    /// The texts of all symbols.
    pub(super) fn texts(&self) -> Vec<&str> {
        let mut texts = vec![""; self.ids.len()];
        self.ids.iter().for_each(|(text, id)| texts[*id as usize] = text);
        texts
    }

    fn intern(&mut self, text: &str) -> u32 {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = self.ids.len() as u32;
        self.ids.insert(text.to_owned(), id);
        id
    }
}

/// A word; strings are symbols.
#[derive(Debug)]
pub(super) struct Word {
    /// Where its token begins and ends; the words of a multiword token share its span.
    pub start: usize,
    pub end: usize,
    pub in_multiword: bool,
    pub is_content: bool,
    pub form_in_lower_case: u32,
    pub lemma: u32,
    pub upos: u32,
    pub xpos: u32,
    /// Universal features, sorted.
    pub feats: u32,
    /// Without subtype.
    pub deprel: u32,
    /// Index in the treebank, or [`NO_WORD`].
    pub head: u32,
}

/// The sentences of one side.
#[derive(Debug)]
pub(super) struct Treebank {
    side: &'static str,
    /// All tokens without white space, one after the other.
    text: String,
    tokens: Vec<(usize, usize)>,
    sentences: Vec<(usize, usize)>,
    words: Vec<Word>,
    words_with_head: usize,
    /// Function words of each word: `function_words[function_starts[w]..function_starts[w + 1]]`.
    function_starts: Vec<u32>,
    function_words: Vec<u32>,
}

impl Treebank {
    pub(super) fn new(side: &'static str) -> Treebank {
        Treebank {
            side,
            text: String::new(),
            tokens: Vec::new(),
            sentences: Vec::new(),
            words: Vec::new(),
            words_with_head: 0,
            function_starts: vec![0],
            function_words: Vec::new(),
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn tokens(&self) -> &[(usize, usize)] {
        &self.tokens
    }

    pub(super) fn sentences(&self) -> &[(usize, usize)] {
        &self.sentences
    }

    pub(super) fn words(&self) -> &[Word] {
        &self.words
    }

    pub(super) fn function_words(&self, word: usize) -> &[u32] {
        &self.function_words[self.function_starts[word] as usize..self.function_starts[word + 1] as usize]
    }

    pub(super) fn has_trees(&self) -> bool {
        self.words_with_head == self.words.len()
    }

    /// Checks a sentence and adds it.
    pub(super) fn push(
        &mut self,
        sentence: &TreeSentence,
        symbols: &mut Symbols,
    ) -> Result<(), EvaluationError> {
        let number = self.sentences.len() + 1;
        self.check_heads(sentence, number)?;
        let base = self.words.len();
        let start = self.text.len();
        let mut multiword = sentence.multiword.iter().peekable();
        let mut next = 0;
        while next < sentence.words.len() {
            let in_multiword = multiword.next_if(|token| token.first == next + 1);
            let (form, last) = match in_multiword {
                Some(token) if token.last > next && token.last <= sentence.words.len() => {
                    (token.form, token.last)
                }
                Some(token) => return Err(self.multiword_error(token, sentence, number)),
                None => (sentence.words[next].form, next + 1),
            };
            let span = self.push_token(form, number)?;
            for index in next..last {
                self.push_word(sentence, index, span, in_multiword.is_some(), base, symbols);
            }
            next = last;
        }
        if let Some(token) = multiword.next() {
            return Err(self.multiword_error(token, sentence, number));
        }
        self.sentences.push((start, self.text.len()));
        self.attach_function_words(base, sentence);
        Ok(())
    }

    fn push_token(&mut self, form: &str, sentence: usize) -> Result<(usize, usize), EvaluationError> {
        let start = self.text.len();
        self.text.extend(form.chars().filter(|c| !is_space_separator(*c)));
        if self.text.len() == start {
            return Err(EvaluationError::EmptyForm { side: self.side, sentence });
        }
        self.tokens.push((start, self.text.len()));
        Ok((start, self.text.len()))
    }

    fn push_word(
        &mut self,
        sentence: &TreeSentence,
        index: usize,
        (start, end): (usize, usize),
        in_multiword: bool,
        base: usize,
        symbols: &mut Symbols,
    ) {
        let word = &sentence.words[index];
        let relation = base_relation(word.deprel);
        self.words_with_head += usize::from(word.head.is_some());
        self.words.push(Word {
            start,
            end,
            in_multiword,
            is_content: CONTENT_RELATIONS.contains(&relation),
            form_in_lower_case: symbols.intern(&aligned_form(word.form, in_multiword)),
            lemma: symbols.intern(word.lemma),
            upos: symbols.intern(word.upos),
            xpos: symbols.intern(word.xpos),
            feats: symbols.intern(&universal_features(word.feats)),
            deprel: symbols.intern(relation),
            head: word.head.and_then(|head| head.checked_sub(1)).map_or(NO_WORD, |head| (base + head) as u32),
        });
    }

    /// Lists, for each word of the sentence just added, the function words that hang on it, in order.
    fn attach_function_words(&mut self, base: usize, sentence: &TreeSentence) {
        let is_function =
            |index: &usize| FUNCTION_RELATIONS.contains(&base_relation(sentence.words[*index].deprel));
        let mut edges: Vec<(u32, u32)> = (0..sentence.words.len())
            .filter(is_function)
            .map(|index| (self.words[base + index].head, (base + index) as u32))
            .filter(|(head, _)| *head != NO_WORD)
            .collect();
        edges.sort_unstable();
        let mut edges = edges.into_iter().peekable();
        for word in base..self.words.len() {
            while let Some((_, child)) = edges.next_if(|(head, _)| *head as usize == word) {
                self.function_words.push(child);
            }
            self.function_starts.push(self.function_words.len() as u32);
        }
    }

    /// Heads must be in the sentence, all there or none in the whole file, and without a cycle.
    fn check_heads(&self, sentence: &TreeSentence, number: usize) -> Result<(), EvaluationError> {
        let words = sentence.words.len();
        let file_has_heads = match self.words.len() {
            0 => sentence.words.first().is_some_and(|word| word.head.is_some()),
            _ => self.words_with_head > 0,
        };
        for (index, word) in sentence.words.iter().enumerate() {
            match word.head {
                Some(head) if head > words => {
                    let (side, sentence, word) = (self.side, number, index + 1);
                    return Err(EvaluationError::HeadOutOfRange { side, sentence, word, head, words });
                }
                None if file_has_heads => {
                    return Err(EvaluationError::HeadMissing {
                        side: self.side,
                        sentence: number,
                        word: index + 1,
                    });
                }
                _ => {}
            }
        }
        // Walk up from every word; a walk that meets itself has found a cycle, one that meets another's path
        // ends.
        let mut walk = vec![0; words];
        for start in 0..words {
            let mut at = start;
            while walk[at] == 0 {
                walk[at] = start + 1;
                match sentence.words[at].head.and_then(|head| head.checked_sub(1)) {
                    Some(head) if walk[head] == start + 1 => {
                        let (side, word) = (self.side, head + 1);
                        return Err(EvaluationError::Cycle { side, sentence: number, word });
                    }
                    Some(head) => at = head,
                    None => break,
                }
            }
        }
        Ok(())
    }

    fn multiword_error(
        &self,
        token: &super::MultiwordToken,
        sentence: &TreeSentence,
        number: usize,
    ) -> EvaluationError {
        EvaluationError::MultiwordRange {
            side: self.side,
            sentence: number,
            form: token.form.to_owned(),
            first: token.first,
            last: token.last,
            words: sentence.words.len(),
        }
    }
}

/// Words outside multiword tokens lose their spaces, as their tokens do.
fn aligned_form(form: &str, in_multiword: bool) -> String {
    if in_multiword {
        form.to_lowercase()
    } else {
        form.chars().filter(|c| !is_space_separator(*c)).collect::<String>().to_lowercase()
    }
}

fn base_relation(deprel: &str) -> &str {
    deprel.split(':').next().unwrap_or(deprel)
}

fn universal_features(feats: &str) -> String {
    let universal = |feature: &&str| {
        let name = feature.split('=').next().unwrap_or(feature);
        UNIVERSAL_FEATURES.contains(&name)
    };
    let mut kept: Vec<&str> = feats.split('|').filter(universal).collect();
    kept.sort_unstable();
    kept.join("|")
}

/// Unicode's category Zs, which a form may contain and the alignment ignores.
fn is_space_separator(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}
