//! Compressed sentences as text: which punctuation stays, spacing, and the capital at the beginning.

use consonant_text::Sentence;

use crate::units::{Chunk, is_bullet};
use crate::words::is_punctuation;

/// Decides on punctuation, given which words are kept: it stays where what it separates stays.
pub fn keep_punctuation(sentence: &Sentence, keep: &mut [bool]) {
    let count = sentence.len();
    let is_mark: Vec<bool> = (0..count).map(|word| is_punctuation(sentence.form(word))).collect();
    let kept_before = |keep: &[bool], at: usize| (0..at).rev().find(|&w| !is_mark[w]).map(|w| keep[w]);
    let kept_after = |keep: &[bool], at: usize| (at + 1..count).find(|&w| !is_mark[w]).map(|w| keep[w]);
    // "In the cities [of the coast], it rained": what went had no comma of its own before it.
    let closes_more = |keep: &[bool], mark: usize| {
        let gone = (0..mark).rev().take_while(|&w| !keep[w]).last().unwrap_or(mark);
        gone > 0 && gone < mark && !is_mark[gone] && !is_mark[gone - 1]
    };
    if !(0..count).any(|word| keep[word] && !is_mark[word]) {
        keep.fill(false);
        return;
    }
    let last_word = (0..count).rev().find(|&word| !is_mark[word]).unwrap_or(0);
    for mark in (0..count).filter(|&word| is_mark[word]) {
        let form = sentence.form(mark);
        keep[mark] = if mark > last_word {
            // What ends the sentence stays; a bracket or quotation mark only with its partner, below.
            true
        } else {
            let before = kept_before(keep, mark);
            let after = kept_after(keep, mark);
            match form {
                "(" | "[" | "{" | "“" | "``" | "‘" | "«" => after == Some(true),
                ")" | "]" | "}" | "”" | "''" | "’" | "»" => before == Some(true),
                _ => after == Some(true) && (before.unwrap_or(true) || closes_more(keep, mark)),
            }
        };
    }
    keep_pairs(sentence, keep);
}

/// Brackets and quotation marks stay in pairs, and only around something.
fn keep_pairs(sentence: &Sentence, keep: &mut [bool]) {
    let mut open: Vec<usize> = Vec::new();
    let mut straight: Option<usize> = None;
    for word in 0..sentence.len() {
        let form = sentence.form(word);
        match form {
            "(" | "[" | "{" | "“" | "``" | "«" => open.push(word),
            ")" | "]" | "}" | "”" | "''" | "»" => {
                let partner = open.pop();
                settle(keep, partner, word);
            }
            "\"" => match straight.take() {
                Some(first) => settle(keep, Some(first), word),
                None => straight = Some(word),
            },
            _ => {}
        }
    }
    open.into_iter().chain(straight).for_each(|word| keep[word] = false);
}

/// A pair stays whole around whatever is kept between its two marks; a mark without a partner goes.
fn settle(keep: &mut [bool], first: Option<usize>, last: usize) {
    match first {
        Some(first) => {
            let filled = keep[first + 1..last].iter().any(|&keep| keep);
            (keep[first], keep[last]) = (filled, filled);
        }
        None => keep[last] = false,
    }
}

/// Drops "that" where its clause now begins the sentence, and marks of the start that lead nothing.
pub fn trim_start(sentence: &Sentence, keep: &mut [bool]) {
    let cut = keep.iter().position(|&keep| keep).is_some_and(|first| first > 0);
    if !cut {
        return;
    }
    for (word, keep) in keep.iter_mut().enumerate().filter(|(_, keep)| **keep) {
        let form = sentence.form(word);
        let lower = form.to_lowercase();
        let dangling = matches!(sentence.deprel(word), "mark" | "cc")
            && matches!(lower.as_str(), "that" | "and" | "but" | "or")
            || matches!(form, "," | ";" | ":" | "-" | "–" | "—" | "." | "…");
        if !dangling {
            break;
        }
        *keep = false;
    }
}

/// The text of the kept words. `text` is the document's; neighbours keep the spacing that they had.
pub fn text_of(
    text: &str,
    sentence: &Sentence,
    chunks: &[Chunk],
    places: &[std::ops::Range<usize>],
    keep: &[bool],
) -> String {
    let mut out = String::new();
    for chunk in chunks.iter().filter(|chunk| !is_bullet(sentence, chunk)) {
        let mut glued = false;
        let mut last = usize::MAX;
        for word in chunk.words.clone().filter(|&word| keep[word]) {
            let place = &places[word];
            // Words of one written token share its place.
            if place.start == last {
                continue;
            }
            last = place.start;
            let written = if place.is_empty() { sentence.form(word) } else { &text[place.clone()] };
            let opens_more = chunk.words.end > word + 1 && keep[word + 1];
            let joins = joins_before(written) && !opens_more || both_unspaced(&out, written);
            if !glued && !out.is_empty() && !joins && !joins_after(&out) {
                out.push(' ');
            }
            out.extend(written.chars().map(|c| if c.is_whitespace() { ' ' } else { c }));
            glued = true;
        }
    }
    mend_marks(&mut out);
    capitalize(&mut out);
    out
}

/// Marks and clitics that tokenized text sets apart join the word before them.
pub fn joins_before(written: &str) -> bool {
    JOINING.contains(&written)
}

#[rustfmt::skip]
const JOINING: &[&str] = &[
    ",", ".", ";", ":", "!", "?", ")", "]", "}", "…", "%", "”", "''", "»", "'s", "’s", "n't", "n’t", "'",
    "’", "'re", "'ve", "'ll", "'d", "'m", "。", "，", "、", "！", "？",
];

fn both_unspaced(before: &str, after: &str) -> bool {
    let unspaced = |c: Option<char>| c.is_some_and(crate::words::is_unspaced);
    unspaced(before.chars().next_back()) && unspaced(after.chars().next())
}

fn joins_after(before: &str) -> bool {
    before.ends_with(['(', '[', '{', '“', '«', '$', '£', '€'])
}

/// Cleans runs of marks that deletions left side by side: ",." and ", ,".
fn mend_marks(text: &mut String) {
    let mut mended = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        let weak = matches!(c, ',' | ';' | ':');
        if weak && next.is_some_and(|n| matches!(n, '.' | '!' | '?' | ',' | ';' | ':')) {
            continue;
        }
        mended.push(c);
    }
    let start = mended.trim_start_matches([',', ';', ':', ' ']);
    *text = start.trim_end().to_string();
}

fn capitalize(text: &mut String) {
    let Some((at, first)) = text.char_indices().find(|(_, c)| c.is_alphanumeric()) else { return };
    let word_has_inner_capital =
        text[at..].split_whitespace().next().is_some_and(|word| word.chars().skip(1).any(char::is_uppercase));
    if first.is_lowercase() && !word_has_inner_capital {
        let upper: String = first.to_uppercase().collect();
        text.replace_range(at..at + first.len_utf8(), &upper);
    }
}
