//! Words that stand or fall together: a dependency tree with its uncuttable arcs contracted.

use std::ops::Range;

use consonant_text::{Document, Sentence};

use crate::constraints::Constraints;
use crate::problem::{NONE, Unit};
use crate::render::joins_before;
use crate::syntax::Tree;
use crate::words::{is_punctuation, is_unspaced};

/// A word as it is written between spaces, with what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// The words of the sentence in it.
    pub words: Range<usize>,
    /// Its place in the document's text, in bytes.
    pub place: Range<usize>,
    /// What it counts against a budget: as many words as it has between spaces, or nothing if it joins the
    /// word before it when the text is put in order.
    pub length: u32,
}

/// Cuts a sentence into written words: at spaces, and at every token of a script without spaces.
pub fn chunks(document: &Document, sentence: usize, places: &[Range<usize>]) -> Vec<Chunk> {
    let text = document.text();
    let tokens = &document.sentences()[sentence];
    let mut chunks: Vec<Chunk> = Vec::new();
    for (word, place) in places.iter().enumerate() {
        let written = &text[place.clone()];
        let glued = chunks.last().is_some_and(|last| {
            place.start <= last.place.end
                && !text[last.place.clone()].chars().next_back().is_some_and(is_unspaced)
                && !written.chars().next().is_some_and(is_unspaced)
        });
        match chunks.last_mut() {
            Some(last) if glued => {
                last.words.end = word + 1;
                last.place.end = last.place.end.max(place.end);
            }
            _ => chunks.push(Chunk { words: word..word + 1, place: place.clone(), length: 0 }),
        }
    }
    for chunk in &mut chunks {
        let joins = chunk.words.len() == 1 && joins_before(tokens.form(chunk.words.start));
        if !joins && !is_bullet(tokens, chunk) {
            chunk.length = text[chunk.place.clone()].split_whitespace().count().max(1) as u32;
        }
    }
    chunks
}

/// The units of a sentence and where its words went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitTree {
    /// In depth-first order.
    pub units: Vec<Unit>,
    /// For each unit, its top word: the lower end of the arc that is cut when it is deleted.
    pub tops: Vec<usize>,
    /// For each word, its unit; punctuation has none.
    pub unit_of: Vec<u32>,
}

/// A whole sentence as one unit, for extraction.
pub fn whole(sentence: &Sentence, chunks: &[Chunk]) -> UnitTree {
    let length = chunks.iter().map(|chunk| chunk.length).sum();
    let unit_of =
        (0..sentence.len()).map(|word| if is_punctuation(sentence.form(word)) { NONE } else { 0 }).collect();
    UnitTree {
        units: vec![Unit { parent: NONE, end: 1, length, deletable: false, may_lead: false }],
        tops: vec![0],
        unit_of,
    }
}

/// Whether a written word is the sign at the beginning of a list's item.
pub fn is_bullet(sentence: &Sentence, chunk: &Chunk) -> bool {
    chunk.words == (0..1) && matches!(sentence.form(0), "*" | "•" | "·" | "-" | "–" | "—" | "o" | "▪" | "#")
}

/// The units of a sentence with a tree: arcs that may not be cut are contracted, and so are paths between
/// words that are written as one.
pub fn compressible(tree: &Tree<'_>, chunks: &[Chunk], constraints: Constraints) -> UnitTree {
    let sentence = tree.sentence;
    let count = sentence.len();
    let lone = |word: usize| is_punctuation(sentence.form(word)) && tree.children(word).is_empty();
    let mut depth = vec![0u32; count];
    for &word in &tree.order {
        if let Some(head) = tree.heads[word] {
            depth[word] = depth[head] + 1;
        }
    }
    let mut deletable: Vec<bool> = (0..count).map(|word| tree.may_cut(word, constraints)).collect();
    let mut may_lead: Vec<bool> = (0..count).map(|word| tree.may_lead(word, constraints)).collect();
    for chunk in chunks {
        let mut words = chunk.words.clone().filter(|&word| !lone(word));
        let Some(mut top) = words.next() else { continue };
        for mut other in words {
            while top != other {
                let lower = if depth[top] >= depth[other] { &mut top } else { &mut other };
                (deletable[*lower], may_lead[*lower]) = (false, false);
                *lower = tree.heads[*lower].expect("only the root has no head, and it is the highest");
            }
        }
    }
    // Number the units in depth-first order. Children that stay with their parent's unit must not come
    // between it and other units, so units are numbered by a walk over the contracted tree.
    let opens = |word: usize| tree.heads[word].is_none() || deletable[word] || may_lead[word];
    let mut top_of = vec![0usize; count];
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); count];
    for &word in &tree.order {
        match tree.heads[word] {
            _ if lone(word) => {}
            Some(head) if opens(word) => {
                top_of[word] = word;
                below[top_of[head]].push(word);
            }
            Some(head) => top_of[word] = top_of[head],
            None => top_of[word] = word,
        }
    }
    let mut units: Vec<Unit> = Vec::new();
    let mut tops: Vec<usize> = Vec::new();
    let mut number = vec![NONE; count];
    let mut open = vec![(tree.order[0], NONE)];
    while let Some((top, parent)) = open.pop() {
        number[top] = units.len() as u32;
        open.extend(below[top].iter().rev().map(|&child| (child, number[top])));
        units.push(Unit { parent, end: 0, length: 0, deletable: deletable[top], may_lead: may_lead[top] });
        tops.push(top);
    }
    for unit in (0..units.len()).rev() {
        units[unit].end = units[unit].end.max(unit as u32 + 1);
        let Unit { parent, end, .. } = units[unit];
        if parent != NONE {
            let above = &mut units[parent as usize];
            above.end = above.end.max(end);
        }
    }
    let unit_of: Vec<u32> =
        (0..count).map(|word| if lone(word) { NONE } else { number[top_of[word]] }).collect();
    // Lone punctuation that counts goes with the word after it, or before it at the end.
    for (at, chunk) in chunks.iter().enumerate() {
        let of = |chunk: &Chunk| chunk.words.clone().map(|word| unit_of[word]).find(|&unit| unit != NONE);
        let owner = of(chunk)
            .or_else(|| chunks[at..].iter().find_map(of))
            .or_else(|| chunks[..at].iter().rev().find_map(of));
        if let Some(unit) = owner {
            units[unit as usize].length += chunk.length;
        }
    }
    UnitTree { units, tops, unit_of }
}
