//! The template language: what a line says.
//!
//! The language is that of CRF++ and Wapiti, with a few functions more; `docs/templates.md` is its manual.

use std::ops::RangeInclusive;

use regex::Regex;

use super::FeatureError;

/// Longest affix, n-gram or cluster prefix, and farthest neighbour, that a template may ask for.
const MOST: usize = 64;
/// Most templates after ranges are written out.
const MOST_TEMPLATES: usize = 4096;

/// What the feature looks at beside the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The label of the token (`U`).
    Node,
    /// The label of the token and the one before (`B`).
    Pair,
    /// Both (`*`).
    Both,
}

/// What is taken from a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// `%x`: the value as it stands.
    Value,
    /// `%X`: the value in lower case.
    Lower,
    /// `%p`: the first characters.
    Prefix(u8),
    /// `%P`: the first characters in lower case.
    LowerPrefix(u8),
    /// `%s`: the last characters.
    Suffix(u8),
    /// `%S`: the last characters in lower case.
    LowerSuffix(u8),
    /// `%h`: word shape, runs of more than three cut to three.
    Shape,
    /// `%H`: word shape, runs cut to one.
    ShortShape,
    /// `%n`: every n-gram of characters, ends marked.
    NGrams(u8),
    /// `%N`: every n-gram of characters in lower case, ends marked.
    LowerNGrams(u8),
    /// `%c`: the word's cluster, or its first bits.
    Cluster(Option<u8>),
    /// `%C`: the same, of the word in any case.
    AnyCaseCluster(Option<u8>),
    /// `%g`: place in a phrase of this gazetteer.
    Gazetteer(u16),
    /// `%v`: the word's vector, one real-valued feature for each dimension.
    Vector,
    /// `%t`, `%T`: whether this pattern matches.
    Test(u16),
    /// `%m`, `%M`: what this pattern matches.
    Match(u16),
}

impl Function {
    /// Whether one token has several values at once: such a function stands alone in its template.
    pub fn is_plural(self) -> bool {
        matches!(self, Self::NGrams(_) | Self::LowerNGrams(_) | Self::Vector)
    }
}

/// A regular expression of the templates, and whether it sees lower case.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// The compiled expression.
    pub regex: Regex,
    /// As it was written.
    pub source: String,
    /// Whether the value is lower-cased first.
    pub lower: bool,
}

/// A function of one token near the current one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// How many tokens to the right.
    pub offset: i32,
    /// Column of the input.
    pub column: usize,
    /// What is taken.
    pub function: Function,
}

/// One template, ranges written out.
#[derive(Debug, Clone)]
pub struct Template {
    /// Where its features look.
    pub scope: Scope,
    /// Text before, between and after the pieces: one more than there are pieces.
    pub literals: Vec<String>,
    /// What is put between the literals.
    pub pieces: Vec<Piece>,
}

/// What a template file may refer to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Vocabulary<'a> {
    /// Names of the input's columns.
    pub columns: &'a [&'a str],
    /// Names of the gazetteers.
    pub gazetteers: &'a [String],
    /// Whether there are clusters.
    pub clusters: bool,
    /// Whether there are vectors.
    pub vectors: bool,
}

/// Reads a template file.
pub fn parse(text: &str, vocabulary: Vocabulary<'_>) -> Result<(Vec<Template>, Vec<Pattern>), FeatureError> {
    let mut templates = Vec::new();
    let mut patterns = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut parser = LineParser { line, rest: line, vocabulary, patterns: &mut patterns };
        parser.template(&mut templates).map_err(|(what, remedy)| FeatureError::Template {
            line: number + 1,
            text: line.to_owned(),
            what,
            remedy,
        })?;
    }
    if templates.iter().all(|template| template.scope == Scope::Pair) {
        return Err(FeatureError::NoTemplates);
    }
    Ok((templates, patterns))
}

type Fault = (String, String);

fn fault<T>(what: impl Into<String>, remedy: impl Into<String>) -> Result<T, Fault> {
    Err((what.into(), remedy.into()))
}

struct LineParser<'a, 'p> {
    line: &'a str,
    rest: &'a str,
    vocabulary: Vocabulary<'a>,
    patterns: &'p mut Vec<Pattern>,
}

impl<'a> LineParser<'a, '_> {
    fn template(&mut self, templates: &mut Vec<Template>) -> Result<(), Fault> {
        let scope = match self.line.as_bytes()[0] {
            b'U' | b'u' => Scope::Node,
            b'B' | b'b' => Scope::Pair,
            b'*' => Scope::Both,
            _ => return fault("a line begins with U, B or *", "write for example `U00:%x[0,0]`"),
        };
        // Each macro is a list of alternatives (a range, the gazetteers); the template stands for all
        // combinations.
        let mut literals = Vec::new();
        let mut macros: Vec<Vec<Piece>> = Vec::new();
        while let Some(at) = self.rest.find('%') {
            literals.push(self.rest[..at].to_owned());
            self.rest = &self.rest[at + 1..];
            macros.push(self.macro_call()?);
        }
        literals.push(self.rest.to_owned());
        if macros.is_empty() && scope == Scope::Pair {
            // CRF++ writes `B` for the pairs of labels, which every chain of order 1 and more has.
            return Ok(());
        }
        if macros.len() > 1 && macros.iter().flatten().any(|piece| piece.function.is_plural()) {
            return fault(
                "n-grams or a vector beside another macro",
                "give `%n`, `%N` and `%v` a line of their own",
            );
        }
        if scope != Scope::Node && macros.iter().flatten().any(|piece| piece.function.is_plural()) {
            return fault("n-grams or a vector for pairs of labels", "begin the line with U");
        }
        let combinations = macros.iter().map(Vec::len).try_fold(1usize, usize::checked_mul);
        if combinations.is_none_or(|count| templates.len() + count > MOST_TEMPLATES) {
            return fault(
                format!("more than {MOST_TEMPLATES} templates once the ranges are written out"),
                "use fewer or shorter ranges",
            );
        }
        let mut chosen = vec![0; macros.len()];
        loop {
            let pieces = macros.iter().zip(&chosen).map(|(choices, &choice)| choices[choice]).collect();
            templates.push(Template { scope, literals: literals.clone(), pieces });
            let mut place = macros.len();
            loop {
                if place == 0 {
                    return Ok(());
                }
                place -= 1;
                chosen[place] += 1;
                if chosen[place] < macros[place].len() {
                    break;
                }
                chosen[place] = 0;
            }
        }
    }

    /// `x[offset,column,arguments]`, after the percent sign.
    fn macro_call(&mut self) -> Result<Vec<Piece>, Fault> {
        let Some(letter) = self.rest.chars().next() else {
            return fault("a percent sign at the end", "write a macro such as `%x[0,0]`");
        };
        if !"xXpPsShHnNcCgvtTmM".contains(letter) {
            return fault(
                format!("unknown macro `%{letter}`"),
                "the macros are %x %X %p %P %s %S %h %H %n %N %c %C %g %v %t %T %m %M",
            );
        }
        self.rest = &self.rest[letter.len_utf8()..];
        if !self.take('[') {
            return fault(format!("`%{letter}` without `[`"), format!("write `%{letter}[offset,column]`"));
        }
        let word = self.word();
        let offset = match word.strip_prefix('+').unwrap_or(word).parse::<i32>() {
            Ok(offset) if offset.unsigned_abs() as usize <= MOST => offset,
            _ => {
                return fault(
                    format!("offset `{word}`"),
                    format!("the offset is a number from -{MOST} to {MOST}"),
                );
            }
        };
        let column = if self.take(',') { self.column()? } else { 0 };
        let functions = match letter {
            'x' => vec![Function::Value],
            'X' => vec![Function::Lower],
            'h' => vec![Function::Shape],
            'H' => vec![Function::ShortShape],
            'p' => self.sizes(letter)?.into_iter().map(Function::Prefix).collect(),
            'P' => self.sizes(letter)?.into_iter().map(Function::LowerPrefix).collect(),
            's' => self.sizes(letter)?.into_iter().map(Function::Suffix).collect(),
            'S' => self.sizes(letter)?.into_iter().map(Function::LowerSuffix).collect(),
            'n' => self.sizes(letter)?.into_iter().map(Function::NGrams).collect(),
            'N' => self.sizes(letter)?.into_iter().map(Function::LowerNGrams).collect(),
            'c' | 'C' if !self.vocabulary.clusters => {
                return fault(
                    format!("`%{letter}` without clusters"),
                    "give a file of clusters, or drop this line",
                );
            }
            'c' if self.rest.starts_with(',') => {
                self.sizes(letter)?.into_iter().map(|size| Function::Cluster(Some(size))).collect()
            }
            'c' => vec![Function::Cluster(None)],
            'C' if self.rest.starts_with(',') => {
                self.sizes(letter)?.into_iter().map(|size| Function::AnyCaseCluster(Some(size))).collect()
            }
            'C' => vec![Function::AnyCaseCluster(None)],
            'g' if self.vocabulary.gazetteers.is_empty() => {
                return fault("`%g` without gazetteers", "give a gazetteer, or drop this line");
            }
            'g' => (0..self.vocabulary.gazetteers.len() as u16).map(Function::Gazetteer).collect(),
            'v' if !self.vocabulary.vectors => {
                return fault("`%v` without vectors", "give a file of vectors, or drop this line");
            }
            'v' => vec![Function::Vector],
            't' | 'T' => vec![Function::Test(self.pattern(letter == 'T')?)],
            _ => vec![Function::Match(self.pattern(letter == 'M')?)],
        };
        if !self.take(']') {
            return fault(format!("`%{letter}[` without `]`"), "close the macro with `]`");
        }
        Ok(functions.into_iter().map(|function| Piece { offset, column, function }).collect())
    }

    fn take(&mut self, wanted: char) -> bool {
        let trimmed = self.rest.trim_start();
        match trimmed.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Up to the next comma or bracket.
    fn word(&mut self) -> &'a str {
        let end = self.rest.find([',', ']']).unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        self.rest = &self.rest[end..];
        word.trim()
    }

    fn column(&mut self) -> Result<usize, Fault> {
        let word = self.word();
        let columns = self.vocabulary.columns;
        if let Some(column) = columns.iter().position(|name| *name == word) {
            return Ok(column);
        }
        match word.parse::<usize>() {
            Ok(column) if column < columns.len() => Ok(column),
            _ => {
                let known: Vec<String> =
                    columns.iter().enumerate().map(|(number, name)| format!("{number} ({name})")).collect();
                fault(format!("column `{word}`"), format!("the columns are {}", known.join(", ")))
            }
        }
    }

    /// `,3` or `,1-5` or `,2,4,6`.
    fn sizes(&mut self, letter: char) -> Result<Vec<u8>, Fault> {
        let mut sizes = Vec::new();
        while self.take(',') {
            let word = self.word();
            let Some(range) = range(word) else {
                return fault(
                    format!("size `{word}`"),
                    format!("a size is a number from 1 to {MOST} or a range such as 1-5"),
                );
            };
            sizes.extend(range);
        }
        if sizes.is_empty() {
            return fault(
                format!("`%{letter}` without a size"),
                format!("write for example `%{letter}[0,0,3]` or `%{letter}[0,0,1-5]`"),
            );
        }
        Ok(sizes)
    }

    /// `,"expression"`; a quote inside is written `\"`.
    fn pattern(&mut self, lower: bool) -> Result<u16, Fault> {
        if !(self.take(',') && self.take('"')) {
            return fault("a pattern is missing", "write for example `%t[0,0,\"^\\u\"]`");
        }
        let mut source = String::new();
        let mut characters = self.rest.char_indices();
        let end = loop {
            match characters.next() {
                None => return fault("a pattern without its closing quote", "close the pattern with `\"`"),
                Some((at, '"')) => break at,
                Some((_, '\\')) => match characters.next() {
                    Some((_, '"')) => source.push('"'),
                    Some((_, other)) => source.extend(['\\', other]),
                    None => source.push('\\'),
                },
                Some((_, other)) => source.push(other),
            }
        };
        self.rest = &self.rest[end + 1..];
        if let Some(known) =
            self.patterns.iter().position(|pattern| pattern.source == source && pattern.lower == lower)
        {
            return Ok(known as u16);
        }
        let regex = Regex::new(&with_unicode_classes(&source)).map_err(|error| {
            (
                format!("pattern `{source}` ({})", first_line(&error.to_string())),
                "correct the expression".to_owned(),
            )
        })?;
        self.patterns.push(Pattern { regex, source, lower });
        Ok((self.patterns.len() - 1) as u16)
    }
}

fn range(word: &str) -> Option<RangeInclusive<u8>> {
    let (first, last) = match word.split_once('-') {
        Some((first, last)) => (first.trim().parse().ok()?, last.trim().parse().ok()?),
        None => {
            let size = word.parse().ok()?;
            (size, size)
        }
    };
    (1 <= first && first <= last && usize::from(last) <= MOST).then_some(first..=last)
}

/// Wapiti's classes `\l \u \a \p` in the terms of Unicode; all else is the common language of expressions.
fn with_unicode_classes(source: &str) -> String {
    let mut expression = String::with_capacity(source.len() + 16);
    let mut characters = source.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '\\' {
            expression.push(character);
            continue;
        }
        match characters.next() {
            Some('l') => expression.push_str(r"\p{Lowercase}"),
            Some('u') => expression.push_str(r"\p{Uppercase}"),
            Some('a') => expression.push_str(r"\p{Alphabetic}"),
            Some('p') if characters.peek() != Some(&'{') => expression.push_str(r"[\p{P}\p{S}]"),
            Some(other) => expression.extend(['\\', other]),
            None => expression.push('\\'),
        }
    }
    expression
}

fn first_line(text: &str) -> &str {
    text.lines().next_back().unwrap_or_default().trim()
}
