//! A sentence as text: arcs of box characters above the words, tags and names below them.

use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::arcs::heights;
use super::{Columns, Sketch};

const UP: u8 = 1;
const DOWN: u8 = 2;
const LEFT: u8 = 4;
const RIGHT: u8 = 8;
/// Box characters by the directions in which lines leave.
const BOXES: [char; 16] = [' ', '│', '│', '│', '─', '┘', '┐', '┤', '─', '└', '┌', '├', '─', '┴', '┬', '┼'];

/// What is in a place of the arcs' field.
#[derive(Clone, Copy)]
enum Cell {
    Lines(u8),
    Arrow,
    /// A letter of a label.
    Letter(char),
    /// The second column of a wide letter.
    Covered,
}

/// Draws sentences for a terminal.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    /// Columns of a line.
    pub width: usize,
    /// Whether colours are wanted.
    pub colour: bool,
}

impl Terminal {
    /// The picture, ending with a blank line.
    pub fn draw(&self, sketch: &Sketch) -> String {
        let columns = Columns::new(sketch, self.width.max(20));
        let field = field(sketch, &columns);
        let mut out = String::new();
        for &(start, end) in &columns.lines {
            self.arcs(&field, start, end, &mut out);
            let words: Vec<usize> = (0..sketch.words.len())
                .filter(|&word| (start..end).contains(&columns.starts[word]))
                .collect();
            self.row(sketch, &columns, start, &words, &mut out, |word| {
                let style = sketch.kind_of(word).map_or("1", colour_of);
                (sketch.words[word].form.as_str(), style)
            });
            if words.iter().any(|&word| !sketch.words[word].tag.is_empty()) {
                self.row(sketch, &columns, start, &words, &mut out, |word| {
                    (sketch.words[word].tag.as_str(), "32")
                });
            }
            self.names(sketch, &columns, start, &words, &mut out);
            out.push('\n');
        }
        out
    }

    fn paint(&self, text: &str, style: &str, out: &mut String) {
        // Writing to a string cannot fail.
        let _ = if self.colour { write!(out, "\x1b[{style}m{text}\x1b[0m") } else { write!(out, "{text}") };
    }

    fn arcs(&self, field: &[Vec<Cell>], start: usize, end: usize, out: &mut String) {
        // Where a sentence is broken, a line may have nothing to say at the heights of other lines' arcs.
        let idle = |row: &Vec<Cell>| {
            row[start..end].iter().all(|cell| matches!(cell, Cell::Lines(mask) if mask & (LEFT | RIGHT) == 0))
        };
        for row in field.iter().filter(|row| !idle(row)) {
            let mut line = String::new();
            let mut lines = String::new();
            let mut label = String::new();
            for cell in &row[start..end] {
                match cell {
                    Cell::Letter(letter) => {
                        self.flush(&mut lines, "2", &mut line);
                        label.push(*letter);
                    }
                    Cell::Covered => {}
                    Cell::Lines(mask) => {
                        self.flush(&mut label, "36", &mut line);
                        lines.push(BOXES[usize::from(*mask)]);
                    }
                    Cell::Arrow => {
                        self.flush(&mut label, "36", &mut line);
                        lines.push('▼');
                    }
                }
            }
            lines.truncate(lines.trim_end().len());
            self.flush(&mut lines, "2", &mut line);
            self.flush(&mut label, "36", &mut line);
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }

    fn flush(&self, text: &mut String, style: &str, out: &mut String) {
        if text.trim().is_empty() {
            out.push_str(text);
        } else {
            self.paint(text, style, out);
        }
        text.clear();
    }

    /// A line with one text below the middle of each word.
    fn row<'s>(
        &self,
        sketch: &Sketch,
        columns: &Columns,
        start: usize,
        words: &[usize],
        out: &mut String,
        text: impl Fn(usize) -> (&'s str, &'s str),
    ) {
        let mut at = start;
        for &word in words {
            let (text, style) = text(word);
            let place = columns.starts[word] + (sketch.words[word].width - text.width()) / 2;
            if text.is_empty() {
                continue;
            }
            out.extend(std::iter::repeat_n(' ', place.saturating_sub(at)));
            self.paint(text, style, out);
            at = place + text.width();
        }
        out.push('\n');
    }

    /// Brackets under names, with their types.
    fn names(&self, sketch: &Sketch, columns: &Columns, start: usize, words: &[usize], out: &mut String) {
        let (Some(&first), Some(&last)) = (words.first(), words.last()) else { return };
        let mut at = start;
        for (from, to, kind) in &sketch.spans {
            let (from, to) = ((*from).max(first), (*to).min(last + 1));
            if from >= to {
                continue;
            }
            let place = columns.starts[from];
            let width = columns.starts[to - 1] + sketch.words[to - 1].width - place;
            out.extend(std::iter::repeat_n(' ', place.saturating_sub(at)));
            let spare = width.saturating_sub(kind.width());
            let bracket = match spare {
                0 | 1 => kind.clone(),
                _ => {
                    let (left, right) = ((spare - 2) / 2, (spare - 1) / 2);
                    format!("└{}{kind}{}┘", "─".repeat(left), "─".repeat(right))
                }
            };
            self.paint(&bracket, colour_of(kind), out);
            at = place + bracket.width();
        }
        if at > start {
            out.push('\n');
        }
    }
}

/// The colour of a type of names: the usual ones have their own.
fn colour_of(kind: &str) -> &'static str {
    match kind {
        "PER" | "person" => "1;35",
        "LOC" | "location" => "1;34",
        "ORG" | "group" | "corporation" => "1;33",
        _ => "1;31",
    }
}

/// The arcs of the whole sentence as if lines were never broken; the last row has the arrows.
fn field(sketch: &Sketch, columns: &Columns) -> Vec<Vec<Cell>> {
    let heights = heights(&sketch.arcs);
    let Some(&highest) = heights.iter().max() else { return Vec::new() };
    let width = columns.lines.last().map_or(0, |line| line.1);
    let mut field = vec![vec![Cell::Lines(0); width]; highest + 1];
    let mut connect = |row: usize, column: usize, directions: u8| {
        if let Cell::Lines(mask) = &mut field[row][column] {
            *mask |= directions;
        }
    };
    let middle = |word: usize| columns.starts[word] + sketch.words[word].width / 2;
    let mut labels = Vec::new();
    for (arc, height) in sketch.arcs.iter().zip(heights) {
        let (row, child) = (highest - height, middle(arc.child));
        let Some(head) = arc.head else {
            (row..highest).for_each(|row| connect(row, child, UP | DOWN));
            labels.push((row, child + 2, child + 2 + arc.label.width(), arc));
            continue;
        };
        let head = if head < arc.child { middle(head) + 1 } else { middle(head) - 1 };
        let (left, right) = (head.min(child), head.max(child));
        connect(row, left, RIGHT | DOWN);
        connect(row, right, LEFT | DOWN);
        (left + 1..right).for_each(|column| connect(row, column, LEFT | RIGHT));
        for column in [head, child] {
            (row + 1..highest).for_each(|row| connect(row, column, UP | DOWN));
        }
        connect(highest, head, UP | DOWN);
        labels.push((row, left + 1, right, arc));
    }
    for arc in &sketch.arcs {
        field[highest][middle(arc.child)] = Cell::Arrow;
    }
    for (row, left, right, arc) in labels {
        let parts = columns.lines.iter().map(|&(start, end)| (left.max(start), right.min(end)));
        let widest = parts.max_by_key(|&(from, to)| to.saturating_sub(from));
        if let Some((from, to)) = widest.filter(|(from, to)| from < to) {
            let label = shorten(&arc.label, to - from);
            let mut column = from + (to - from - label.width()) / 2;
            for letter in label.chars() {
                field[row][column] = Cell::Letter(letter);
                for _ in 1..letter.width().unwrap_or(1) {
                    column += 1;
                    field[row][column] = Cell::Covered;
                }
                column += letter.width().unwrap_or(1).min(1);
            }
        }
    }
    field
}

/// A label that fits.
fn shorten(label: &str, width: usize) -> String {
    if label.width() <= width {
        return label.to_owned();
    }
    let mut short = String::new();
    for letter in label.chars() {
        if short.width() + letter.width().unwrap_or(0) + 1 > width {
            break;
        }
        short.push(letter);
    }
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use consonant_text::Sentence;

    use super::*;
    use crate::draw::example;

    fn plain(width: usize) -> Terminal {
        Terminal { width, colour: false }
    }

    #[test]
    fn arcs_above_tags_and_names_below() {
        let expected = r"
           │ root
           │┌──────────────────punct──────────────────┐
           │├────────────obl────────────┐             │
           │├─────obj──────┐            │             │
           ││  ┌───det────┐│            │             │
  ┌─nsubj─┐││  │   ┌─amod─┤│    ┌─case─┐│┌─flat─┐     │
  ▼       │▼│  ▼   ▼      │▼    ▼      │▼│      ▼     ▼
 Ann     saw  the old   houses in      New    York    .
PROPN    VERB DET ADJ    NOUN  ADP    PROPN   PROPN PUNCT
└PER┘                                 └────LOC────┘

";
        assert_eq!(plain(100).draw(&example()), expected[1..]);
    }

    #[test]
    fn long_sentences_are_broken_with_arcs_that_go_on() {
        let expected = r"
           │ root
           │┌───────────────────────
           │├──────────obl──────────
           │├─────obj──────┐
           ││  ┌───det────┐│
  ┌─nsubj─┐││  │   ┌─amod─┤│
  ▼       │▼│  ▼   ▼      │▼
 Ann     saw  the old   houses
PROPN    VERB DET ADJ    NOUN
└PER┘

────────────punct────────────┐
───────────────┐             │
       ┌─case─┐│┌─flat─┐     │
       ▼      │▼│      ▼     ▼
      in      New    York    .
      ADP    PROPN   PROPN PUNCT
             └────LOC────┘

";
        assert_eq!(plain(50).draw(&example()), expected[1..]);
    }

    #[test]
    fn colours_add_nothing_but_colours() {
        let mut drawn = Terminal { width: 50, colour: true }.draw(&example());
        for style in ["0", "1", "2", "32", "36", "1;34", "1;35"] {
            let code = format!("\x1b[{style}m");
            assert!(drawn.contains(&code), "{style}");
            drawn = drawn.replace(&code, "");
        }
        assert_eq!(drawn, plain(50).draw(&example()));
    }

    #[test]
    fn anything_can_be_drawn() {
        let forms = ["\u{1b}[31mred", "漢字漢字", "👩‍👩‍👧", "e\u{301}", "supercalifragilisticexpialidocious"];
        for count in [0, 1, 2, 40] {
            let rows = (1..=count).map(|id| {
                let head = if id == 1 { 0 } else { (id * 7) % (id - 1) + 1 };
                format!("{id}\t{}\t_\t_\t_\t_\t{head}\tverylonglabel\t_\tNER=B-漢\n", forms[id % forms.len()])
            });
            let text = format!("# text = x\n{}\n", rows.collect::<String>());
            let Ok(sentence) = Sentence::from_conllu(&text) else { continue };
            for width in [0, 10, 33, 200] {
                let drawn = plain(width).draw(&Sketch::of(&sentence));
                assert!(!drawn.contains('\x1b'));
            }
        }
    }
}
