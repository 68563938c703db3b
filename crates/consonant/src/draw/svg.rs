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
/// Letters of a line; longer sentences are broken as they are on a terminal.
const COLUMNS: usize = 110;
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

/// Where an arc ends, in the line that is drawn.
#[derive(Clone, Copy)]
enum End {
    /// Over the middle of a word.
    Word(f64),
    /// At an edge: it goes on in another line.
    Edge(f64),
}

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

    /// Adds a sentence: its tree above the words, tags and names below. A long one is broken into lines, with arcs that
    /// go on in the next.
    pub fn sentence(&mut self, sketch: &Sketch) {
        if sketch.words.is_empty() {
            return;
        }
        if self.height > 0.0 {
            self.height += LINE;
        }
        let columns = Columns::new(sketch, COLUMNS);
        let heights = heights(&sketch.arcs);
        for number in 0..columns.lines.len() {
            if number > 0 {
                self.height += LINE;
            }
            self.line(sketch, &columns, &heights, number);
        }
    }

    /// Adds one of the lines of a sentence.
    fn line(&mut self, sketch: &Sketch, columns: &Columns, heights: &[usize], number: usize) {
        let (start, end) = columns.lines[number];
        let place = |column: usize| (column - start) as f64 * LETTER;
        let left = |word: usize| place(columns.starts[word]);
        let right = |word: usize| left(word) + sketch.words[word].width as f64 * LETTER;
        let middle = |word: usize| (left(word) + right(word)) / 2.0;
        let words: Vec<usize> =
            (0..sketch.words.len()).filter(|&word| (start..end).contains(&columns.starts[word])).collect();
        let (Some(&first), Some(&last)) = (words.first(), words.last()) else { return };
        let is_here = |word: usize| (first..=last).contains(&word);
        // How many columns of an arc a line shows.
        let shown = |arc: &Arc, (from, to): (usize, usize)| {
            let column = |word: usize| columns.starts[word] + sketch.words[word].width / 2;
            arc.ends().map_or(0, |(left, right)| column(right).min(to).saturating_sub(column(left).max(from)))
        };
        let is_shown = |arc: &Arc| match arc.head {
            Some(_) => shown(arc, (start, end)) > 0,
            None => is_here(arc.child),
        };
        // Heights at which this line has nothing to show are left out.
        let mut storeys: Vec<usize> = (sketch.arcs.iter().zip(heights))
            .filter(|(arc, _)| is_shown(arc))
            .map(|(_, height)| *height)
            .collect();
        storeys.sort_unstable();
        storeys.dedup();
        // Where arrows end; words stand below.
        let floor = self.height + storeys.len() as f64 * STOREY + if storeys.is_empty() { 0.0 } else { 10.0 };
        for (arc, height) in sketch.arcs.iter().zip(heights).filter(|(arc, _)| is_shown(arc)) {
            let storey = storeys.partition_point(|below| below <= height);
            let top = floor - storey as f64 * STOREY + 4.0;
            let Some(head) = arc.head else {
                self.root(middle(arc.child), top, floor, &arc.label);
                continue;
            };
            let end_of = |word: usize| match word {
                word if is_here(word) => End::Word(middle(word)),
                word if word < first => End::Edge(0.0),
                _ => End::Edge(place(end)),
            };
            // The label stands once, where there is most room for it.
            let widest = (0..columns.lines.len()).rev().max_by_key(|&line| shown(arc, columns.lines[line]));
            let label = if widest == Some(number) { arc.label.as_str() } else { "" };
            self.arc((end_of(head), end_of(arc.child)), head < arc.child, top, floor, label);
        }
        for (from, to, kind) in &sketch.spans {
            let (from, to) = ((*from).max(first), (*to).min(last + 1));
            if from >= to {
                continue;
            }
            let (x, width) = (left(from) - 3.0, right(to - 1) - left(from) + 6.0);
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
        for &number in &words {
            let word = &sketch.words[number];
            self.text("word", middle(number), floor + 0.9 * LINE, "middle", &word.form);
            if !word.tag.is_empty() {
                self.text("tag", middle(number), floor + 1.8 * LINE, "middle", &word.tag);
            }
        }
        let is_last = last + 1 == sketch.words.len();
        self.width = self.width.max(if is_last { right(last) } else { place(end) });
        self.height = floor + LINE * if sketch.spans.is_empty() { 2.0 } else { 3.0 };
    }

    /// The arrow to a root.
    fn root(&mut self, child: f64, top: f64, floor: f64, label: &str) {
        let (at, top, floor) = (child + PADDING, top + PADDING, floor + PADDING);
        let _ =
            writeln!(self.body, "<path class=\"arc\" d=\"M{at:.1} {:.1}V{:.1}\"/>", top - 6.0, floor - 6.0);
        self.text("label", child + 5.0, top - PADDING, "start", label);
        self.arrow(at, floor);
    }

    /// An arc from a head to a child.
    fn arc(&mut self, (head, child): (End, End), to_right: bool, top: f64, floor: f64, label: &str) {
        let (top, floor) = (top + PADDING, floor + PADDING);
        let way = if to_right { 1.0 } else { -1.0 };
        let bend = 7.0 * way;
        let (from, begin) = match head {
            End::Edge(at) => (at + PADDING, format!("M{:.1} {top:.1}", at + PADDING)),
            End::Word(at) => {
                // Arcs leave beside the arrow that comes in.
                let at = at + PADDING + 5.0 * way;
                (
                    at,
                    format!(
                        "M{at:.1} {floor:.1}V{:.1}Q{at:.1} {top:.1} {:.1} {top:.1}",
                        top + 7.0,
                        at + bend
                    ),
                )
            }
        };
        let (to, end) = match child {
            End::Edge(at) => (at + PADDING, format!("H{:.1}", at + PADDING)),
            End::Word(at) => {
                let (at, tip) = (at + PADDING, floor - 6.0);
                (at, format!("H{:.1}Q{at:.1} {top:.1} {at:.1} {:.1}V{tip:.1}", at - bend, top + 7.0))
            }
        };
        let _ = writeln!(self.body, "<path class=\"arc\" d=\"{begin}{end}\"/>");
        if !label.is_empty() {
            self.text("label", (from + to) / 2.0 - PADDING, top - 4.0 - PADDING, "middle", label);
        }
        if let End::Word(_) = child {
            self.arrow(to, floor);
        }
    }

    fn arrow(&mut self, at: f64, floor: f64) {
        let _ = writeln!(self.body, "<path class=\"arrow\" d=\"M{at:.1} {floor:.1}l-3.5 -7h7z\"/>");
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
    fn long_sentences_are_broken_with_arcs_that_go_on() {
        // Each word hangs on the one before it, and the last on the first: an arc over all lines.
        let rows = (1..=40).map(|id| {
            let (head, label) = match id {
                1 => (0, "root"),
                40 => (1, "far"),
                id => (id - 1, "dep"),
            };
            format!(
                "{id}\tword{id}\t_\tNOUN\t_\t_\t{head}\t{label}\t_\tNER={}-LOC\n",
                if id == 1 { 'B' } else { 'I' }
            )
        });
        let sentence = consonant_text::Sentence::from_conllu(&(rows.collect::<String>() + "\n")).unwrap();
        let mut svg = Svg::default();
        svg.sentence(&Sketch::of(&sentence));
        assert!(svg.width <= COLUMNS as f64 * LETTER, "{}", svg.width);
        let file = svg.finish();
        let count = |text: &str| file.matches(text).count();
        let lines = count(">LOC<");
        assert!(lines > 2, "a name has its type in every line");
        assert_eq!((count("class=\"word\""), count("class=\"arrow\"")), (40, 40));
        assert_eq!((count(">dep<"), count(">far<")), (38, 1));
        // The root, one for each other word, and for each break one more of the far arc and of the one between neighbours.
        assert_eq!(count("class=\"arc\""), 40 + 2 * (lines - 1));
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
