//! Pictures as SVG, readable on light and dark ground: trees with names, texts from which words were deleted,
//! and conversations.

use std::fmt::Write as _;

use consonant_text::jsonl::Thread;
use unicode_width::UnicodeWidthStr;

use super::arcs::{Arc, heights};
use super::{Columns, Sketch};
use crate::plot::escape;

/// Width of a letter; the font has letters of one width, so that all places are known.
const LETTER: f64 = 8.4;
const LINE: f64 = 20.0;
/// Between one height of arcs and the next: a label fits.
const STOREY: f64 = 22.0;
const PADDING: f64 = 16.0;
/// Between one arrow and the next at the side of a conversation.
const LANE: f64 = 9.0;

/// Colours are plain rules, with others for dark pages: variables of CSS would be shorter, but outside of
/// browsers (librsvg, Inkscape, LaTeX) they are not known, and all would be black.
const STYLE: &str = "<style>\
.ground{fill:#fff}text{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:14px;fill:#1f2328}\
.tag{font-size:12px;fill:#116329}.label{font-size:12px;fill:#0550ae}.arc{fill:none;stroke:#818b98;stroke-width:1.3}\
.arrow{fill:#818b98}.gone{fill:#59636e;text-decoration:line-through}.note{fill:#59636e;font-size:12px}\
rect.name{fill-opacity:.18}text.name{font-size:12px;font-weight:bold}\
.per{fill:#8250df}.loc{fill:#0969da}.org{fill:#9a6700}.other{fill:#bc4c00}\
@media(prefers-color-scheme:dark){.ground{fill:#0d1117}text{fill:#e6edf3}.tag{fill:#7ee787}.label{fill:#79c0ff}\
.arc{stroke:#6e7681}.arrow{fill:#6e7681}.gone,.note{fill:#9198a1}.per{fill:#d2a8ff}.loc{fill:#58a6ff}.org{fill:#e3b341}.other{fill:#ffa657}}\
</style>";

/// A picture that grows downward.
#[derive(Debug, Default)]
pub struct Svg {
    body: String,
    width: f64,
    height: f64,
}

impl Svg {
    /// The file.
    pub fn finish(self) -> String {
        let (width, height) = ((self.width + 2.0 * PADDING).ceil(), (self.height + 2.0 * PADDING).ceil());
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
             {STYLE}\n<rect class=\"ground\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>\n{}</svg>\n",
            self.body
        )
    }

    fn text(&mut self, class: &str, x: f64, y: f64, anchor: &str, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" xml:space=\"preserve\">{}</text>",
            x + PADDING,
            y + PADDING,
            escape(text)
        );
    }

    /// Adds a sentence: its tree above the words, tags and names below.
    pub fn sentence(&mut self, sketch: &Sketch) {
        if sketch.words.is_empty() {
            return;
        }
        if self.height > 0.0 {
            self.height += LINE;
        }
        let columns = Columns::new(sketch, usize::MAX);
        let left = |word: usize| columns.starts[word] as f64 * LETTER;
        let right = |word: usize| left(word) + sketch.words[word].width as f64 * LETTER;
        let middle = |word: usize| (left(word) + right(word)) / 2.0;
        let heights = heights(&sketch.arcs);
        let highest = heights.iter().max().copied().unwrap_or(0);
        // Where arrows end; words stand below.
        let floor = self.height + highest as f64 * STOREY + if highest > 0 { 10.0 } else { 0.0 };
        for (arc, &height) in sketch.arcs.iter().zip(&heights) {
            let top = floor - height as f64 * STOREY + 4.0;
            self.arc(arc.head.map(middle), middle(arc.child), top, floor, &arc.label);
        }
        for (start, end, kind) in &sketch.spans {
            let (x, width) = (left(*start) - 3.0, right(end - 1) - left(*start) + 6.0);
            let class = class_of(kind);
            let _ = writeln!(
                self.body,
                "<rect class=\"name {class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\" rx=\"4\"/>",
                x + PADDING,
                floor + 3.0 + PADDING,
                LINE * 3.0 - 3.0
            );
            self.text(&format!("name {class}"), x + width / 2.0, floor + 2.75 * LINE, "middle", kind);
        }
        for (number, word) in sketch.words.iter().enumerate() {
            self.text("word", middle(number), floor + 0.9 * LINE, "middle", &word.form);
            if !word.tag.is_empty() {
                self.text("tag", middle(number), floor + 1.8 * LINE, "middle", &word.tag);
            }
        }
        self.width = self.width.max(right(sketch.words.len() - 1));
        self.height = floor + LINE * if sketch.spans.is_empty() { 2.0 } else { 3.0 };
    }

    fn arc(&mut self, head: Option<f64>, child: f64, top: f64, floor: f64, label: &str) {
        let (child, top, floor) = (child + PADDING, top + PADDING, floor + PADDING);
        let tip = floor - 6.0;
        match head.map(|head| head + PADDING) {
            None => {
                let _ =
                    writeln!(self.body, "<path class=\"arc\" d=\"M{child:.1} {:.1}V{tip:.1}\"/>", top - 6.0);
                self.text("label", child + 5.0 - PADDING, top - PADDING, "start", label);
            }
            Some(head) => {
                // Arcs leave beside the arrow that comes in.
                let way = if head < child { 1.0 } else { -1.0 };
                let (head, bend) = (head + 5.0 * way, 7.0 * way);
                let _ = writeln!(
                    self.body,
                    "<path class=\"arc\" d=\"M{head:.1} {floor:.1}V{:.1}Q{head:.1} {top:.1} {:.1} {top:.1}H{:.1}Q{child:.1} {top:.1} {child:.1} {:.1}V{tip:.1}\"/>",
                    top + 7.0,
                    head + bend,
                    child - bend,
                    top + 7.0,
                );
                self.text("label", (head + child) / 2.0 - PADDING, top - 4.0 - PADDING, "middle", label);
            }
        }
        let _ = writeln!(self.body, "<path class=\"arrow\" d=\"M{child:.1} {floor:.1}l-3.5 -7h7z\"/>");
    }

    /// Adds a paragraph of words of which some were deleted, broken into lines of `columns` letters; a note
    /// may stand under it.
    pub fn marked<'w>(
        &mut self,
        words: impl IntoIterator<Item = (&'w str, bool)>,
        note: &str,
        columns: usize,
    ) {
        if self.height > 0.0 {
            self.height += LINE / 2.0;
        }
        let mut lines: Vec<Vec<(String, bool)>> = vec![Vec::new()];
        let mut column = 0;
        for (word, kept) in words {
            if column > 0 && column + word.trim_end().width() > columns {
                lines.push(Vec::new());
                column = 0;
            }
            column += word.width();
            let Some(line) = lines.last_mut() else { continue };
            match line.last_mut() {
                Some((text, same)) if *same == kept => text.push_str(word),
                _ => line.push((word.to_owned(), kept)),
            }
        }
        for line in lines {
            let mut column = 0;
            for (text, kept) in line {
                let shown = text.trim_end();
                let class = if kept { "word" } else { "gone" };
                self.text(class, column as f64 * LETTER, self.height + 0.75 * LINE, "start", shown);
                self.width = self.width.max((column + shown.width()) as f64 * LETTER);
                column += text.width();
            }
            self.height += LINE;
        }
        if !note.is_empty() {
            self.text("note", 0.0, self.height + 0.75 * LINE, "start", note);
            self.width = self.width.max(note.width() as f64 * LETTER * 12.0 / 14.0);
            self.height += LINE;
        }
    }
}

impl Svg {
    /// Adds a conversation, a message a line; arrows at the left go from an answer to what it answers. Messages
    /// are cut at `columns` letters.
    pub fn conversation(&mut self, thread: &Thread, columns: usize) {
        if self.height > 0.0 {
            self.height += LINE;
        }
        let arcs: Vec<Arc> = (thread.links.iter())
            .map(|&(source, target)| Arc { head: Some(source), child: target, label: String::new() })
            .collect();
        let heights = heights(&arcs);
        let margin = (heights.iter().max().copied().unwrap_or(0) as f64 + 1.0) * LANE;
        let middle = |unit: usize| self.height + (unit as f64 + 0.55) * LINE;
        let mut drawn = String::new();
        for (&(source, target), &height) in thread.links.iter().zip(&heights) {
            let (from, to) = (middle(source) + PADDING - 3.0, middle(target) + PADDING + 3.0);
            let (right, left) = (margin + PADDING - 8.0, margin + PADDING - 8.0 - height as f64 * LANE);
            let _ = writeln!(
                drawn,
                "<path class=\"arc\" d=\"M{right:.1} {from:.1}H{:.1}Q{left:.1} {from:.1} {left:.1} {:.1}V{:.1}Q{left:.1} {to:.1} {:.1} {to:.1}H{right:.1}\"/>\n\
                 <path class=\"arrow\" d=\"M{:.1} {to:.1}l-7 -3.5v7z\"/>",
                left + 5.0,
                from - 5.0,
                to + 5.0,
                left + 5.0,
                right + 4.0,
            );
        }
        self.body += &drawn;
        for unit in &thread.units {
            let y = self.height + 0.75 * LINE;
            let mut column = 0;
            for (class, text) in [("note", unit.time.as_deref()), ("tag", unit.author.as_deref())] {
                let Some(text) = text else { continue };
                self.text(class, margin + column as f64 * LETTER, y, "start", text);
                column += text.width() + 1;
            }
            let shown: String = match unit.text.chars().count() > columns {
                true => unit.text.chars().take(columns.saturating_sub(1)).chain(['…']).collect(),
                false => unit.text.clone(),
            };
            self.text("word", margin + column as f64 * LETTER, y, "start", &shown);
            self.width = self.width.max(margin + (column + shown.width()) as f64 * LETTER);
            self.height += LINE;
        }
    }
}

fn class_of(kind: &str) -> &'static str {
    match kind {
        "PER" | "person" => "per",
        "LOC" | "location" => "loc",
        "ORG" | "group" | "corporation" => "org",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::example;

    #[test]
    fn no_text_breaks_the_file() {
        assert_eq!(
            escape("a\u{1b}[31m\u{fffe}\0 <&>\tb\n"),
            "a\u{fffd}[31m\u{fffd}\u{fffd} &lt;&amp;&gt;\tb\n"
        );
    }

    #[test]
    fn every_word_tag_label_and_name_is_there_once() {
        let mut svg = Svg::default();
        svg.sentence(&example());
        let file = svg.finish();
        for (class, texts) in [
            ("word", &["Ann", "saw", "the", "old", "houses", "in", "New", "York", "."][..]),
            ("tag", &["PROPN", "VERB", "DET", "ADJ", "NOUN", "ADP", "PROPN", "PROPN", "PUNCT"]),
            ("label", &["nsubj", "root", "det", "amod", "obj", "case", "obl", "flat", "punct"]),
            ("name per", &["PER"]),
            ("name loc", &["LOC"]),
        ] {
            let lines = file.lines().filter(|line| line.contains(&format!("<text class=\"{class}\"")));
            let found: Vec<&str> = lines
                .filter_map(|line| line.strip_suffix("</text>")?.rsplit_once('>').map(|(_, text)| text))
                .collect();
            assert_eq!(found, texts, "{class}");
        }
        assert_eq!(file.matches("class=\"arrow\"").count(), 9);
        // Programs that know no variables of CSS would draw everything black.
        assert!(!file.contains("var("));
        // Dot, quote and angle brackets of XML stay balanced.
        assert!(file.starts_with("<svg ") && file.ends_with("</svg>\n"));
        assert_eq!(file.matches('<').count(), file.matches('>').count());
    }

    #[test]
    fn a_conversation_has_an_arrow_for_each_link_and_its_messages_escaped() {
        let mut thread =
            consonant_text::chat::read("[10:03] <anna> a < b?\n<bob> yes\n<eve> no, and long", "x");
        thread.links = vec![(1, 0), (2, 0)];
        let mut svg = Svg::default();
        svg.conversation(&thread, 8);
        let file = svg.finish();
        assert_eq!((file.matches("class=\"arc\"").count(), file.matches("class=\"arrow\"").count()), (2, 2));
        assert!(file.contains("a &lt; b?") && file.contains("no, and…") && file.contains(">10:03<"));
    }

    #[test]
    fn deleted_words_are_struck_out_and_lines_are_broken() {
        let mut svg = Svg::default();
        svg.marked(
            [("The ", true), ("old & ", false), ("grey ", false), ("house ", true), ("fell.", true)],
            "a.txt",
            13,
        );
        let file = svg.finish();
        let rows: Vec<&str> = file.lines().filter(|line| line.starts_with("<text")).collect();
        assert!(rows[0].contains("class=\"word\"") && rows[0].ends_with(">The</text>"));
        assert!(rows[1].contains("class=\"gone\"") && rows[1].ends_with(">old &amp;</text>"));
        assert!(rows[2].contains("class=\"gone\"") && rows[2].ends_with(">grey</text>"));
        assert!(
            rows[3].ends_with(">house</text>")
                && rows[4].ends_with(">fell.</text>")
                && rows[5].ends_with(">a.txt</text>")
        );
    }
}
