//! Pictures of sentences: words, tags, names and tree arcs, as text for a terminal or as SVG.

mod arcs;
pub mod svg;
pub mod terminal;

use consonant_text::entity::decode_any;
use consonant_text::{Layer, Sentence};
use unicode_width::UnicodeWidthStr;

use self::arcs::Arc;

/// A sentence as it is drawn.
#[derive(Debug)]
pub struct Sketch {
    words: Vec<Word>,
    arcs: Vec<Arc>,
    /// Names: the first word, the one behind the last, the type.
    spans: Vec<(usize, usize, String)>,
}

#[derive(Debug)]
struct Word {
    form: String,
    tag: String,
    /// Columns that it takes in a terminal.
    width: usize,
}

/// Fewest columns of a word: an arrow comes down in the middle, arcs leave on both sides of it.
const NARROWEST: usize = 3;

impl Sketch {
    /// What a sentence says.
    pub fn of(sentence: &Sentence) -> Self {
        let words: Vec<Word> = (0..sentence.len())
            .map(|word| {
                let tag = [Layer::Upos, Layer::Xpos].iter().find_map(|&layer| sentence.get(word, layer));
                let (form, tag) = (printable(sentence.form(word)), printable(tag.unwrap_or("")));
                let width = form.width().max(tag.width()).max(NARROWEST);
                Word { form, tag, width }
            })
            .collect();
        let arcs = (0..sentence.len()).filter_map(|word| {
            let head = sentence.head(word)?;
            let label = printable(sentence.get(word, Layer::Deprel).unwrap_or(""));
            Some(Arc { head: (head as usize).checked_sub(1), child: word, label })
        });
        let labels: Vec<&str> = (0..sentence.len()).map(|word| sentence.entity_label(word)).collect();
        let spans = decode_any(&labels)
            .into_iter()
            .map(|entity| (entity.words.start, entity.words.end, printable(entity.kind)))
            .collect();
        Self { words, arcs: arcs.collect(), spans }
    }

    /// The name that a word is part of: its type.
    fn kind_of(&self, word: usize) -> Option<&str> {
        let span = self.spans.iter().find(|(start, end, _)| (*start..*end).contains(&word));
        span.map(|(_, _, kind)| kind.as_str())
    }
}

/// Text without characters that would move the cursor or change colours.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Where words stand side by side, and where lines break.
struct Columns {
    /// The first column of each word.
    starts: Vec<usize>,
    /// For each line its first column and the one behind its last.
    lines: Vec<(usize, usize)>,
}

/// Columns at both sides of a broken line, for arcs that go on.
const MARGIN: usize = 6;

impl Columns {
    /// Puts words side by side, wide enough apart for the labels of arcs, in as few lines of at most `width`
    /// columns as they need, all about as long.
    fn new(sketch: &Sketch, width: usize) -> Self {
        let widest = Self::broken(sketch, width);
        if widest.lines.len() == 1 {
            return widest;
        }
        // The least width that needs no more lines.
        let (mut low, mut high) = (0, width);
        while low + 1 < high {
            let middle = low.midpoint(high);
            let more = Self::broken(sketch, middle).lines.len() > widest.lines.len();
            if more { low = middle } else { high = middle }
        }
        Self::broken(sketch, high)
    }

    fn broken(sketch: &Sketch, width: usize) -> Self {
        let mut starts: Vec<usize> = Vec::with_capacity(sketch.words.len());
        let mut lines = Vec::new();
        let (mut line, mut end) = (0, 0);
        for (number, word) in sketch.words.iter().enumerate() {
            let mut start = if number == 0 { 0 } else { end + 1 };
            for arc in &sketch.arcs {
                if let Some((left, right)) = arc.ends()
                    && right == number
                {
                    let middle = starts[left] + sketch.words[left].width / 2;
                    // A line on both sides of the label, and the two ends of the arc.
                    let room = arc.label.width() + 4;
                    start = start.max((middle + room).saturating_sub(word.width / 2));
                }
            }
            if start > line && (start + word.width + MARGIN).saturating_sub(line) > width {
                lines.push((line, end + MARGIN));
                line = end + MARGIN;
                start = line + MARGIN;
            }
            starts.push(start);
            end = start + word.width;
        }
        // The root's label stands beside its arrow.
        for arc in sketch.arcs.iter().filter(|arc| arc.head.is_none()) {
            end = end.max(starts[arc.child] + sketch.words[arc.child].width / 2 + 2 + arc.label.width());
        }
        lines.push((line, end));
        Self { starts, lines }
    }
}

/// A sentence with all layers, for tests.
#[cfg(test)]
fn example() -> Sketch {
    let rows = [
        "1\tAnn\t_\tPROPN\t_\t_\t2\tnsubj\t_\tNER=B-PER",
        "2\tsaw\t_\tVERB\t_\t_\t0\troot\t_\t_",
        "3\tthe\t_\tDET\t_\t_\t5\tdet\t_\t_",
        "4\told\t_\tADJ\t_\t_\t5\tamod\t_\t_",
        "5\thouses\t_\tNOUN\t_\t_\t2\tobj\t_\t_",
        "6\tin\t_\tADP\t_\t_\t7\tcase\t_\t_",
        "7\tNew\t_\tPROPN\t_\t_\t2\tobl\t_\tNER=B-LOC",
        "8\tYork\t_\tPROPN\t_\t_\t7\tflat\t_\tNER=I-LOC",
        "9\t.\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_",
    ];
    let sentence = Sentence::from_conllu(&format!("{}\n\n", rows.join("\n"))).expect("good CoNLL-U");
    Sketch::of(&sentence)
}
