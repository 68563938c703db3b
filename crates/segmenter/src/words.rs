//! Tokens that stand for several words: `don't` is `do` and `n't`, Portuguese `do` is `de` and `o`.

use consonant_learn::model::{Model, ModelWriter};
use consonant_text::Sentence;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::SegmenterError;

/// A suffix becomes a rule when this many different tokens were split before it.
const LEAST_TYPES: usize = 3;

/// Which tokens are several words, and which.
#[derive(Debug, Clone, Default)]
pub(crate) struct Multiwords {
    /// A token in lower case and its words, joined by blanks; a token that is one word in spite of its suffix
    /// has itself.
    forms: FxHashMap<String, String>,
    /// Last words that are split off from any token, longest first.
    suffixes: Vec<String>,
}

impl Multiwords {
    /// English contractions.
    pub fn english() -> Self {
        let forms = [
            ("cannot", "can not"),
            ("gimme", "gim me"),
            ("gonna", "gon na"),
            ("gotta", "got ta"),
            ("lemme", "lem me"),
            ("wanna", "wan na"),
            ("o'clock", "o'clock"),
        ];
        let suffixes =
            ["n't", "n’t", "'ll", "’ll", "'re", "’re", "'ve", "’ve", "'s", "’s", "'d", "’d", "'m", "’m"];
        let mut words = Self {
            forms: forms.map(|(form, words)| (form.to_owned(), words.to_owned())).into_iter().collect(),
            suffixes: suffixes.map(str::to_owned).to_vec(),
        };
        words.sort_suffixes();
        words
    }

    /// Learns from a treebank: tokens that are mostly split, and suffixes before which most tokens are.
    pub fn learn(sentences: &[Sentence]) -> Self {
        // For each token in lower case: how often it is one word, and how often it is which words.
        let mut whole: FxHashMap<String, usize> = FxHashMap::default();
        let mut split: FxHashMap<String, FxHashMap<String, usize>> = FxHashMap::default();
        for sentence in sentences {
            for token in sentence.surface_tokens() {
                let form = token.form.to_lowercase();
                if token.words.len() < 2 || form.contains(' ') {
                    *whole.entry(form).or_default() += 1;
                    continue;
                }
                let words: Vec<String> = token.words.map(|word| sentence.form(word).to_lowercase()).collect();
                *split.entry(form).or_default().entry(words.join(" ")).or_default() += 1;
            }
        }
        let mut multiwords = Self::default();
        for (form, ways) in &split {
            let often: usize = ways.values().sum();
            if often <= whole.get(form).copied().unwrap_or(0) {
                continue;
            }
            if let Some((words, _)) = ways.iter().max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0))) {
                multiwords.forms.insert(form.clone(), words.clone());
            }
        }
        multiwords.learn_suffixes(&whole);
        multiwords
    }

    /// With what an older table knows and this one does not.
    pub fn after(mut self, older: &Self) -> Self {
        for (form, words) in &older.forms {
            self.forms.entry(form.clone()).or_insert_with(|| words.clone());
        }
        self.suffixes.extend_from_slice(&older.suffixes);
        self.sort_suffixes();
        self.suffixes.dedup();
        self
    }

    fn learn_suffixes(&mut self, whole: &FxHashMap<String, usize>) {
        let mut types: FxHashMap<&str, usize> = FxHashMap::default();
        for (form, words) in &self.forms {
            if let [first, last] = words.split(' ').collect::<Vec<_>>()[..]
                && form.len() == first.len() + last.len()
                && form.ends_with(last)
            {
                *types.entry(last).or_default() += 1;
            }
        }
        let candidates: FxHashSet<&str> =
            types.iter().filter(|&(_, &count)| count >= LEAST_TYPES).map(|(&suffix, _)| suffix).collect();
        let mut against: FxHashMap<&str, usize> = FxHashMap::default();
        for form in whole.keys().filter(|form| !self.forms.contains_key(*form)) {
            for (at, _) in form.char_indices().skip(1) {
                if candidates.contains(&form[at..]) {
                    *against.entry(&form[at..]).or_default() += 1;
                }
            }
        }
        let kept = |suffix: &&&str| types[**suffix] > against.get(**suffix).copied().unwrap_or(0);
        let suffixes: Vec<String> = candidates.iter().filter(kept).map(|&suffix| suffix.to_owned()).collect();
        self.suffixes = suffixes;
        self.sort_suffixes();
        // Exceptions are remembered, and what the suffixes say need not be.
        let mut exceptions = Vec::new();
        for form in whole.keys().filter(|form| !self.forms.contains_key(*form)) {
            // A single occurrence may be a slip of the annotator.
            if whole[form] > 1 && self.suffix_of(form).is_some() {
                exceptions.push(form.clone());
            }
        }
        self.forms.extend(exceptions.into_iter().map(|form| (form.clone(), form)));
        let suffixes = std::mem::take(&mut self.suffixes);
        self.forms.retain(|form, words| {
            let by_suffix = suffixes.iter().find(|suffix| is_proper_suffix(form, suffix));
            by_suffix
                .is_none_or(|suffix| *words != format!("{} {suffix}", &form[..form.len() - suffix.len()]))
        });
        self.suffixes = suffixes;
    }

    fn sort_suffixes(&mut self) {
        self.suffixes.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    }

    fn suffix_of(&self, form: &str) -> Option<&str> {
        self.suffixes.iter().map(String::as_str).find(|suffix| is_proper_suffix(form, suffix))
    }

    /// Whether no token is ever split.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty() && self.suffixes.is_empty()
    }

    /// Splits a token into words, written as the token writes them; `lower` is a buffer. Says whether there
    /// are several.
    pub fn split(&self, token: &str, lower: &mut String, words: &mut Vec<String>) -> bool {
        words.clear();
        if self.is_empty() || token.len() < 2 {
            return false;
        }
        lower.clear();
        if token.is_ascii() {
            lower.push_str(token);
            lower.make_ascii_lowercase();
        } else {
            lower.extend(token.chars().flat_map(char::to_lowercase));
        }
        let same_length = lower.len() == token.len();
        if let Some(form) = self.forms.get(lower.as_str()) {
            let spelled = same_length && form.split(' ').map(str::len).sum::<usize>() == token.len();
            let mut at = 0;
            for word in form.split(' ') {
                match token.get(at..at + word.len()) {
                    Some(written) if spelled => words.push(written.to_owned()),
                    _ => words.push(recase(word, token, words.is_empty())),
                }
                at += word.len();
            }
        } else if same_length
            && let Some(suffix) = self.suffix_of(lower)
            && let Some((first, last)) = token.split_at_checked(token.len() - suffix.len())
        {
            words.extend([first.to_owned(), last.to_owned()]);
        }
        words.len() > 1
    }

    /// Puts the table into a model.
    pub fn store(&self, writer: &mut ModelWriter) {
        let mut forms: Vec<String> =
            self.forms.iter().map(|(form, words)| format!("{form}\t{words}\n")).collect();
        forms.sort_unstable();
        let suffixes: String = self.suffixes.iter().map(|suffix| format!("{suffix}\n")).collect();
        writer.text("multiwords", &forms.concat()).text("suffixes", &suffixes);
    }

    /// Reads the table of a model.
    pub fn open(model: &Model) -> Result<Self, SegmenterError> {
        let mut forms = FxHashMap::default();
        for line in model.text("multiwords")?.lines() {
            let (form, words) = line
                .split_once('\t')
                .ok_or_else(|| model.damaged(format!("`{line}` in its multiword tokens has no words")))?;
            forms.insert(form.to_owned(), words.to_owned());
        }
        let suffixes =
            model.text("suffixes")?.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
        let mut multiwords = Self { forms, suffixes };
        multiwords.sort_suffixes();
        Ok(multiwords)
    }
}

fn is_proper_suffix(form: &str, suffix: &str) -> bool {
    form.len() > suffix.len() && form.ends_with(suffix)
}

/// Writes a word that the token does not spell with the token's capitals.
fn recase(word: &str, token: &str, first: bool) -> String {
    let mut letters = token.chars().filter(|c| c.is_alphabetic());
    let capital = letters.next().is_some_and(char::is_uppercase);
    let all = capital && letters.clone().next().is_some() && letters.all(char::is_uppercase);
    if all {
        return word.to_uppercase();
    }
    let mut characters = word.chars();
    match characters.next() {
        Some(initial) if capital && first => initial.to_uppercase().chain(characters).collect(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(multiwords: &Multiwords, token: &str) -> String {
        let mut words = Vec::new();
        if multiwords.split(token, &mut String::new(), &mut words) {
            words.join(" ")
        } else {
            token.to_owned()
        }
    }

    #[test]
    fn english_contractions() {
        let english = Multiwords::english();
        for (token, words) in [
            ("Don't", "Do n't"),
            ("CAN’T", "CA N’T"),
            ("Ann's", "Ann 's"),
            ("we'll", "we 'll"),
            ("Cannot", "Can not"),
            ("'s", "'s"),
            ("o'clock", "o'clock"),
            ("gonna", "gon na"),
        ] {
            assert_eq!(split(&english, token), words);
        }
    }

    #[test]
    fn splits_are_learned() {
        let mut text = String::new();
        for form in ["ann", "joe", "dog"] {
            text += &format!(
                "1-2\t{form}'s\t_\t_\t_\t_\t_\t_\t_\t_\n1\t{form}\t_\t_\t_\t_\t_\t_\t_\t_\n2\t's\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
            );
        }
        text += "1-2\tdo\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\t_\t_\t_\t_\t_\t_\t_\t_\n2\to\t_\t_\t_\t_\t_\t_\t_\t_\n\n";
        let sentences: Vec<Sentence> =
            consonant_text::SentenceReader::conllu(text.as_bytes(), "x").collect::<Result<_, _>>().unwrap();
        let learned = Multiwords::learn(&sentences);
        assert_eq!(learned.suffixes, ["'s"]);
        assert_eq!(learned.forms.len(), 1);
        for (token, words) in [("Cat's", "Cat 's"), ("Do", "De o"), ("DO", "DE O"), ("cats", "cats")] {
            assert_eq!(split(&learned, token), words);
        }
        let mut writer = ModelWriter::new("x", serde_json::json!({}));
        learned.store(&mut writer);
        let read = Multiwords::open(&Model::from_bytes(&writer.to_bytes()).unwrap()).unwrap();
        assert_eq!((read.forms, read.suffixes), (learned.forms, learned.suffixes));
    }
}
