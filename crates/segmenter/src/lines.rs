//! Lines that begin something new: items of lists, fields of forms, what somebody said, quoted mail.

/// Lines below this many bytes are no wrapped prose.
const SHORT: usize = 40;

/// Whether a line that begins with `after` begins something new behind `before`, all text until the end of the line before it. Prose that is wrapped
/// goes on; so a dash or a number counts only where the line before is short, ends with a mark, or is an item itself.
pub(crate) fn begins_anew(before: &str, after: &str) -> bool {
    let previous = before.rsplit(['\n', '\r']).next().unwrap_or_default().trim();
    let next = after.split(['\n', '\r']).next().unwrap_or_default().trim();
    let is_free = previous.len() < SHORT || previous.ends_with(['.', '!', '?', ':', ';', ',']);
    match (kind(previous), kind(next)) {
        (_, Kind::Bullet | Kind::Stamp) => true,
        (before, Kind::Dash | Kind::Number) => is_free || matches!(before, Kind::Dash | Kind::Number),
        (Kind::Quote, Kind::Quote) => false,
        (Kind::Quote, _) | (_, Kind::Quote) | (Kind::Field, Kind::Field) => true,
        (Kind::Quantity, Kind::Quantity) => previous.len() < SHORT && next.len() < SHORT,
        (_, Kind::Quantity) => previous.len() < SHORT && previous.ends_with(':'),
        _ => false,
    }
}

/// How many bytes a mark at the beginning of a line has that is no sentence by itself, but opens one: `[10:03]`, `>`.
pub(crate) fn mark_length(line: &str) -> usize {
    match line.as_bytes() {
        [b'>', ..] => {
            let marks = &line[..line.len() - line.trim_start_matches(['>', ' ']).len()];
            marks.trim_end().len()
        }
        [b'[', ..] if is_stamp(&line[1..]) => line.find(']').map_or(0, |end| end + 1),
        _ => 0,
    }
}

/// What a line looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    /// `• two eggs`
    Bullet,
    /// `- two eggs`
    Dash,
    /// `1. Open the door.`, `b) the other`
    Number,
    /// `200 g flour`
    Quantity,
    /// `[10:03] anna: are you there?`
    Stamp,
    /// `> are you coming?`
    Quote,
    /// `Date: 12 May 2020`
    Field,
}

fn kind(line: &str) -> Kind {
    let mut characters = line.chars();
    let Some(first) = characters.next() else { return Kind::Plain };
    let rest = characters.as_str();
    match first {
        '•' | '‣' | '◦' | '▪' | '●' | '*' if rest.starts_with(' ') => Kind::Bullet,
        '-' | '–' | '—' if rest.starts_with(' ') => Kind::Dash,
        '>' => Kind::Quote,
        '[' if is_stamp(rest) => Kind::Stamp,
        '0'..='9' => numbered(line),
        'a'..='z' if rest.starts_with(") ") => Kind::Number,
        _ if first.is_uppercase() && is_field(line) => Kind::Field,
        _ => Kind::Plain,
    }
}

/// A number of an item, or of things.
fn numbered(line: &str) -> Kind {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match line.len() - rest.len() {
        1 | 2 if rest.starts_with(". ") || rest.starts_with(") ") => Kind::Number,
        1..=4 if rest.starts_with(' ') => Kind::Quantity,
        _ => Kind::Plain,
    }
}

/// Digits and colons up to a bracket.
fn is_stamp(rest: &str) -> bool {
    rest.find(']').is_some_and(|end| {
        let inside = &rest[..end];
        (4..=24).contains(&end)
            && inside.contains(':')
            && inside.bytes().all(|byte| byte.is_ascii_digit() || b":-/. APMTapm".contains(&byte))
    })
}

/// A name of one to three words, a colon, and something.
fn is_field(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(name, value)| {
        name.len() <= 24
            && name.split(' ').count() <= 3
            && name.chars().all(|c| c.is_alphabetic() || c == ' ' || c == '-')
            && !value.trim().is_empty()
    })
}

#[cfg(test)]
mod tests {
    use super::{begins_anew, mark_length};

    #[test]
    fn a_mark_opens_a_line() {
        for (line, mark) in [
            ("> are you coming?", ">"),
            ("> > no", "> >"),
            ("[10:03] anna: hi", "[10:03]"),
            ("[sic] it says", ""),
            ("10:03 it rang", ""),
        ] {
            assert_eq!(&line[..mark_length(line)], mark);
        }
    }

    #[test]
    fn items_begin_anew_and_prose_goes_on() {
        for text in [
            "Shopping list\n- two eggs",
            "- two eggs\n- a loaf of bread that somebody baked this morning\n- some butter",
            "Wash the rice, which takes longer than one would think\n* Boil the water",
            "1. Open the door.\n2. Press the button",
            "Ingredients:\n200 g flour\n2 eggs",
            "[10:03] anna: are you there?\n[10:04:11] ben: yes",
            "> are you coming?\nNo.",
            "Name: Ann Smith\nDate of birth: 12 May 2020",
            "a) one\nb) two",
        ] {
            let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
            assert!(ends.iter().all(|&at| begins_anew(&text[..at], &text[at + 1..])), "{text:?}");
        }
        for text in [
            "The ferry lost power on Monday evening when a net\ncaught in its propeller",
            "The ferry, which had been late on all of the days before\n- nobody knew why - sank",
            "It happened in the night from the eleventh to the twelfth of May\n12. Nobody was hurt",
            "In the harbour of Kiel there were on that day at least\n200 boats",
            "> are you coming tonight or do you have to\n> work?",
            "She said what all of them had thought: that it was late.\nHowever: nobody left",
            "[1] Lee\n[2] Smith",
        ] {
            let at = text.find('\n').unwrap();
            assert!(!begins_anew(&text[..at], &text[at + 1..]), "{text:?}");
        }
    }
}
