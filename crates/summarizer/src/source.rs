//! Text as it comes from files: remains of HTML, entities, wrapped lines. What is cleaned still knows where
//! it stood.

use std::ops::Range;

use consonant_text::input::Input;
use consonant_text::{Document, Format, SentenceReader};

use crate::SummarizerError;
use crate::layout::{Role, dateline, role};

/// A document as it was given: raw text, or sentences that were annotated before.
#[derive(Debug, Clone)]
pub struct Source {
    /// Where it comes from.
    pub name: String,
    text: String,
    clean: CleanText,
    /// Its sentences, if it came with them.
    annotated: Option<Document>,
}

impl Source {
    /// The documents of a file: one of raw text, or one or more of CoNLL-U, whose tags and trees are then used.
    pub fn read(mut input: Input) -> Result<Vec<Self>, SummarizerError> {
        let name = input.name().to_string();
        match input.format()? {
            Format::Jsonl => Err(SummarizerError::Jsonl(name)),
            Format::Conllu => {
                let documents = SentenceReader::conllu(input, name.as_str()).documents();
                documents.map(|document| Ok(Self::annotated(&name, document?))).collect()
            }
            _ => Ok(vec![Self::from_text(name, input.into_text()?)]),
        }
    }

    /// A document of raw text.
    pub fn from_text(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { name: name.into(), clean: CleanText::new(&text), text, annotated: None }
    }

    /// A document whose lines are sentences or paragraphs, as in JSONL.
    pub fn of_lines(name: impl Into<String>, text: &str) -> Self {
        Self::from_text(name, text.replace('\n', "\n\n"))
    }

    /// A document that has its sentences; `name` is for one without an id.
    pub fn annotated(name: &str, document: Document) -> Self {
        let text = document.text().to_owned();
        let name = document.id.clone().unwrap_or_else(|| name.to_owned());
        Self { name, clean: CleanText::verbatim(&text), text, annotated: Some(document) }
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What a summarizer reads: the sentences, or the cleaned text, which is still to be
    /// [annotated](crate::Summarizer::annotate_documents).
    pub fn document(&self) -> Document {
        let of_text = || Document::from_text(Some(self.name.clone()), self.clean.text().to_owned());
        self.annotated.clone().unwrap_or_else(of_text)
    }

    /// Where a place of the document's text stood in the text that was given, both in bytes.
    pub fn place(&self, place: Range<usize>) -> Range<usize> {
        self.clean.place_in_source(place)
    }
}

/// A cleaned text and where its parts stood in the source.
///
/// ```
/// use consonant_summarizer::CleanText;
///
/// let clean = CleanText::new("<p>Rain &amp; wind.</p>\n<p>Then sun.</p>");
/// assert_eq!(clean.text().split_whitespace().collect::<Vec<_>>().join(" "), "Rain & wind. Then sun.");
/// let sun = clean.text().find("sun").unwrap();
/// assert_eq!(clean.place_in_source(sun..sun + 3), 32..35);
/// ```
#[derive(Debug, Clone, Default)]
pub struct CleanText {
    text: String,
    /// Pairs of a place in the text and its place in the source: what follows runs along in both.
    anchors: Vec<(usize, usize)>,
}

impl CleanText {
    /// Cleans a text. Blocks of HTML, and lines that were not merely wrapped, become paragraphs.
    pub fn new(source: &str) -> Self {
        let mut clean = CleanText::default();
        let html = looks_like_html(source);
        let markdown = !html && looks_like_markdown(source);
        let breaks = if html { Vec::new() } else { hard_breaks(source) };
        let mut next_break = 0;
        let mut at = 0;
        while let Some(c) = source[at..].chars().next() {
            let rest = &source[at..];
            if (at == 0 || source[..at].ends_with('\n'))
                && let Some(length) = dateline(rest)
            {
                clean.push(at, &rest[..length]);
                at += length;
                clean.push(at, "\n\n");
            } else if markdown && let Some((length, shown)) = markup(rest) {
                clean.push(at + shown.start, &rest[shown]);
                at += length;
            } else if html
                && c == '<'
                && let Some((length, is_block)) = tag(rest)
            {
                if is_block {
                    clean.push(at, "\n\n");
                }
                at += length;
            } else if c == '&'
                && let Some((length, decoded)) = entity(rest)
            {
                clean.push(at, decoded.encode_utf8(&mut [0; 4]));
                at += length;
            } else if c == '\n' {
                while breaks.get(next_break).is_some_and(|&place| place < at) {
                    next_break += 1;
                }
                clean.push(at, if breaks.get(next_break) == Some(&at) { "\n\n" } else { "\n" });
                at += 1;
            } else {
                // Soft hyphens, zero-width spaces and byte order marks are no part of words.
                if !matches!(c, '\u{ad}' | '\u{200b}' | '\u{feff}' | '\r' | '\0') {
                    clean.push(at, &rest[..c.len_utf8()]);
                }
                at += c.len_utf8();
            }
        }
        clean
    }

    /// A text that is clean already.
    pub fn verbatim(text: &str) -> Self {
        CleanText { text: text.to_string(), anchors: vec![(0, 0)] }
    }

    fn push(&mut self, source: usize, text: &str) {
        let runs_along = self
            .anchors
            .last()
            .is_some_and(|&(clean, from)| self.text.len() - clean == source.wrapping_sub(from));
        if !runs_along {
            self.anchors.push((self.text.len(), source));
        }
        self.text.push_str(text);
    }

    /// The cleaned text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where a place of the cleaned text stood in the source, both in bytes.
    pub fn place_in_source(&self, place: Range<usize>) -> Range<usize> {
        if place.is_empty() {
            let at = self.source_of(place.start);
            return at..at;
        }
        let last = self.text[place.clone()]
            .char_indices()
            .next_back()
            .map_or(place.start, |(at, _)| place.start + at);
        let width = self.text[last..place.end].len();
        self.source_of(place.start)..self.source_of(last) + width
    }

    fn source_of(&self, place: usize) -> usize {
        let index = self.anchors.partition_point(|&(clean, _)| clean <= place);
        match index.checked_sub(1).map(|index| self.anchors[index]) {
            Some((clean, source)) => source + (place - clean),
            None => place,
        }
    }
}

fn looks_like_html(text: &str) -> bool {
    text.match_indices('<').take(1000).any(|(at, _)| {
        let rest = &text[at + 1..];
        rest.starts_with('/') && rest[1..].starts_with(|c: char| c.is_ascii_alphabetic())
            || ["br>", "br/>", "br />", "p>", "!DOCTYPE", "!doctype", "!--"]
                .iter()
                .any(|tag| rest.starts_with(tag))
    })
}

/// Elements whose content is not text.
const SKIPPED: [&str; 7] = ["script", "style", "head", "noscript", "nav", "footer", "svg"];

/// Elements that stand within a paragraph.
const INLINE: [&str; 17] = [
    "a", "b", "i", "em", "strong", "span", "u", "s", "sub", "sup", "small", "font", "mark", "abbr", "cite",
    "q", "code",
];

/// The length of the tag at the start of a text, with its element where that is skipped, and whether it ends
/// a paragraph.
fn tag(text: &str) -> Option<(usize, bool)> {
    if text.starts_with("<!--") {
        return Some((text.find("-->").map_or(text.len(), |end| end + 3), false));
    }
    let inner = &text[1..];
    let name_start = inner.strip_prefix('/').unwrap_or(inner);
    if !name_start.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!' || c == '?') {
        return None;
    }
    let end = text.char_indices().take(5000).find(|&(_, c)| c == '>')?.0 + 1;
    let name: String =
        name_start.chars().take_while(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    if !inner.starts_with('/') && SKIPPED.contains(&name.as_str()) {
        let close = format!("</{name}");
        // Without an end, only the tag itself goes.
        let after =
            text[end..].char_indices().filter(|&(_, c)| c == '<').map(|(at, _)| end + at).find(|&at| {
                text[at..].get(..close.len()).is_some_and(|head| head.eq_ignore_ascii_case(&close))
            });
        let length = after.and_then(|at| text[at..].find('>').map(|close| at + close + 1)).unwrap_or(end);
        return Some((length, true));
    }
    Some((end, !INLINE.contains(&name.as_str())))
}

/// The length of the entity at the start of a text, and what it stands for.
fn entity(text: &str) -> Option<(usize, char)> {
    let end = text.char_indices().take(10).find(|&(_, c)| c == ';')?.0;
    let name = &text[1..end];
    let decoded = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "ndash" => '–',
        "mdash" => '—',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "hellip" => '…',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|c| !c.is_control())?
        }
    };
    Some((end + 1, decoded))
}

/// Whether a text has headings or links as Markdown writes them.
fn looks_like_markdown(text: &str) -> bool {
    text.contains("](") || text.lines().any(|line| role(line) == Role::Heading && line.starts_with('#'))
}

/// The length of the markup of Markdown at the start of a text, and what of it is shown: emphasis, code between
/// words, links, pictures.
fn markup(text: &str) -> Option<(usize, Range<usize>)> {
    if text.starts_with("**") || text.starts_with("__") {
        return Some((2, 0..0));
    }
    if text.starts_with('`') && !text.starts_with("```") {
        return Some((1, 0..0));
    }
    if text.starts_with("![") {
        let end = text[..].find(')').filter(|&end| text[..end].contains("]("))?;
        return Some((end + 1, 0..0));
    }
    if text.starts_with('[') {
        let line = &text[..text.find('\n').unwrap_or(text.len())];
        let close = line.find("](")?;
        let end = close + line[close..].find(')')?;
        return Some((end + 1, 1..close));
    }
    None
}

/// Lines longer than this are paragraphs.
const WIDEST: usize = 130;

/// Line ends that separate, in bytes. A line was merely wrapped if the next one's first word would not have
/// fitted on it.
fn hard_breaks(text: &str) -> Vec<usize> {
    let width = text.lines().map(|line| line.trim_end().chars().count()).max().unwrap_or(0);
    let mut breaks = Vec::new();
    let mut at = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        at += line.len();
        let Some(next) = lines.peek() else { break };
        let length = line.trim_end().chars().count();
        let word = next.split_whitespace().next().map_or(0, |word| word.chars().count());
        let indented = next.starts_with([' ', '\t', '*', '-', '•']);
        let special = role(line) != Role::Text || role(next) != Role::Text;
        if width > WIDEST || indented || special || length + 1 + word <= width * 9 / 10 {
            breaks.push(at - 1);
        }
    }
    breaks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_lines_stay_together_and_headings_apart() {
        let source = "A heading\nThis line was wrapped at the margin because it is\nlonger than the page is wide, and it is not over\nyet.\n";
        let clean = CleanText::new(source);
        assert_eq!(clean.text().matches("\n\n").count(), 1);
        assert!(clean.text().starts_with("A heading\n\nThis"));
    }

    #[test]
    fn scripts_and_comments_vanish_and_comparisons_stay() {
        let clean = CleanText::new(
            "<html><head><title>x</title></head><body><script>if (a<b) {}</script>One<!-- no -->.<br/>Two < three.</body></html>",
        );
        assert_eq!(clean.text().split_whitespace().collect::<Vec<_>>(), ["One.", "Two", "<", "three."]);
        assert_eq!(CleanText::new("a < b and c > d &unknown; &amp;").text(), "a < b and c > d &unknown; &");
        assert_eq!(CleanText::new("<p>never closed <script> x").text().trim(), "never closed \n\n x");
    }

    #[test]
    fn datelines_stand_apart_and_markdown_is_read_as_shown() {
        let clean = CleanText::new("PORT ALDER, Sept. 12 — A quake struck.\nThe quake was *strong*.\n");
        assert!(clean.text().starts_with("PORT ALDER, Sept. 12 —\n\n A quake struck."));
        let source = "# The plan\n\nWe **move** to [the new tool](http://x.y/z) with `make`. ![a](b.png)\n";
        let clean = CleanText::new(source);
        assert_eq!(clean.text().trim(), "# The plan\n\n\n\nWe move to the new tool with make.");
        let tool = clean.text().find("new tool").unwrap();
        assert_eq!(&source[clean.place_in_source(tool..tool + 8)], "new tool");
    }

    #[test]
    fn every_letter_knows_where_it_stood() {
        let source = "<p>R\u{ad}ain &#8212; né</p>\r\n<div>Sun</div>";
        let clean = CleanText::new(source);
        for (at, c) in clean.text().char_indices().filter(|(_, c)| c.is_alphabetic()) {
            let place = clean.place_in_source(at..at + c.len_utf8());
            assert_eq!(&source[place], c.to_string());
        }
    }
}
