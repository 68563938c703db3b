//! Lines that begin something new: items of lists, fields of forms, what somebody said, quoted mail, and lines behind headings.

/// Lines below this many bytes are no wrapped prose.
const SHORT: usize = 40;

/// Lines on either side whose lengths say how wide a paragraph is.
const AROUND: usize = 4;

/// Whether a line that begins with `after` begins something new behind `before`, all text until the end of the line before it. Prose that is wrapped
/// goes on; so a dash or a number counts only where the line before is short, ends with a mark, or is an item itself.
pub(crate) fn begins_anew(before: &str, after: &str) -> bool {
    let previous = before.rsplit(['\n', '\r']).next().unwrap_or_default().trim();
    let next = after.split(['\n', '\r']).next().unwrap_or_default().trim();
    let is_free = previous.len() < SHORT || previous.ends_with(['.', '!', '?', ':', ';', ',']);
    match (kind(previous), kind(next)) {
        (_, Kind::Bullet | Kind::Speech) => true,
        (before, Kind::Dash | Kind::Number) => is_free || matches!(before, Kind::Dash | Kind::Number),
        (Kind::Quote, Kind::Quote) => false,
        (Kind::Quote, _) | (_, Kind::Quote) | (Kind::Field, Kind::Field) => true,
        (Kind::Quantity, Kind::Quantity) => previous.len() < SHORT && next.len() < SHORT,
        (_, Kind::Quantity) => previous.len() < SHORT && previous.ends_with(':'),
        _ => is_cut_short(previous, next, before, after),
    }
}

/// Whether `previous` was ended by who wrote it: who wraps prose goes on until the next word does not fit, and its lines begin with capitals by chance
/// alone. Hardly any heading ends in a short word in small letters; headings in capitals may have several lines; and what a period ends may be an
/// abbreviation, so that is left to the model.
fn is_cut_short(previous: &str, next: &str, before: &str, after: &str) -> bool {
    let begins = next.starts_with(char::is_uppercase) && previous.starts_with(|c: char| !c.is_lowercase());
    let last = previous.rsplit(' ').next().unwrap_or_default();
    let goes_on =
        last.ends_with(['-', '–', '—', '&', '.']) || last.len() <= 3 && last.starts_with(char::is_lowercase);
    if !begins || goes_on || previous.len() >= SHORT {
        return false;
    }
    let in_capitals = |line: &str| !line.contains(char::is_lowercase);
    if in_capitals(previous) != in_capitals(next) {
        return true;
    }
    let above = before.rsplit('\n').map(str::trim).take_while(|line| !line.is_empty()).take(AROUND);
    let below = after.split('\n').map(str::trim).take_while(|line| !line.is_empty()).take(AROUND);
    let width = above.chain(below).map(str::len).max().unwrap_or(0);
    let word = next.split(' ').next().map_or(0, str::len);
    !in_capitals(next) && previous.len() + 1 + word <= width
}

/// How many bytes a mark at the beginning of a line has that is no sentence by itself, but opens one: `[10:03]`, `<anna>`, `>`.
pub(crate) fn mark_length(line: &str) -> usize {
    match line.as_bytes() {
        [b'>', ..] => {
            let marks = &line[..line.len() - line.trim_start_matches(['>', ' ']).len()];
            marks.trim_end().len()
        }
        [b'[', ..] if is_stamp(&line[1..]) => line.find(']').map_or(0, |end| end + 1),
        [b'<', ..] if is_speaker(line) => line.find('>').map_or(0, |end| end + 1),
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
    /// `1. Open the door.`, `b) the other`, `(iii) a third`, `2.1 Scope`
    Number,
    /// `200 g flour`
    Quantity,
    /// `[10:03] anna: are you there?`, `<ben> yes`, `10:04 <ben> yes`, `12/03/24, 10:03 - Ann: yes`
    Speech,
    /// `> are you coming?`
    Quote,
    /// `Date: 12 May 2020`, `anna: are you there?`
    Field,
}

fn kind(line: &str) -> Kind {
    let mut characters = line.chars();
    let Some(first) = characters.next() else { return Kind::Plain };
    let rest = characters.as_str();
    match first {
        '•' | '‣' | '◦' | '▪' | '●' | '*' | '·' | '→' | '☐' | '☑' | '☒' | '✓' | '✔' | '✗' | '✘'
            if rest.starts_with(' ') =>
        {
            Kind::Bullet
        }
        '-' | '–' | '—' | '+' if rest.starts_with(' ') => Kind::Dash,
        '>' => Kind::Quote,
        '[' if is_stamp(rest) => Kind::Speech,
        '<' if is_speaker(line) => Kind::Speech,
        '0'..='9' if is_spoken(line) => Kind::Speech,
        '0'..='9' => numbered(line),
        'a'..='z' if rest.starts_with(") ") => Kind::Number,
        '(' if is_counted(rest) => Kind::Number,
        _ if is_field(line) => Kind::Field,
        _ => Kind::Plain,
    }
}

/// A number of an item, or of things.
fn numbered(line: &str) -> Kind {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match line.len() - rest.len() {
        1 | 2 if rest.starts_with(". ") || rest.starts_with(") ") => Kind::Number,
        1 | 2 if is_section(rest) => Kind::Number,
        1..=4 if rest.starts_with(' ') => Kind::Quantity,
        _ => Kind::Plain,
    }
}

/// The rest of `2.1 Scope`, `2.1.3. Terms` behind the first number.
fn is_section(rest: &str) -> bool {
    let behind = rest.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let numbers = rest[..rest.len() - behind.len()].trim_end_matches('.');
    numbers.starts_with('.')
        && numbers[1..].split('.').all(|number| (1..=2).contains(&number.len()))
        && behind.strip_prefix(' ').is_some_and(|title| title.starts_with(char::is_uppercase))
}

/// The rest of `(a) one`, `(12) one`, `(iii) one` behind the bracket.
fn is_counted(rest: &str) -> bool {
    rest.split_once(") ").is_some_and(|(count, _)| {
        let bytes = count.as_bytes();
        matches!(bytes, [b'a'..=b'z' | b'0'..=b'9'] | [b'0'..=b'9', b'0'..=b'9'])
            || (2..=5).contains(&bytes.len()) && bytes.iter().all(|byte| b"ivx".contains(byte))
    })
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

/// A name in angle brackets.
fn is_speaker(line: &str) -> bool {
    line.strip_prefix('<').and_then(|rest| rest.split_once("> ")).is_some_and(|(name, _)| {
        (1..=24).contains(&name.len()) && !name.contains(|c: char| c.is_whitespace() || "<>/.@".contains(c))
    })
}

/// A clock, with a date before it or none, and somebody who speaks.
fn is_spoken(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit() || ":/-., ".contains(c));
    let stamp = &line[..line.len() - rest.len()];
    let speaks = is_speaker(rest) || rest.starts_with(char::is_alphabetic) && is_name_before_colon(rest);
    (4..=24).contains(&stamp.len()) && stamp.contains(':') && speaks
}

/// A name of one to three words, a colon, and something; a name in small letters is one word.
fn is_field(line: &str) -> bool {
    is_name_before_colon(line) && (line.starts_with(char::is_uppercase) || line.find(' ') > line.find(':'))
}

fn is_name_before_colon(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(name, value)| {
        (1..=24).contains(&name.len())
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
            ("<anna> hi", "<anna>"),
            ("<b>bold</b> it says", ""),
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
            "(a) the buyer pays\n(b) the seller ships\n(iii) both agree",
            "1.1 Scope\n1.2 Terms\n1.2.1. Payment",
            "☐ buy milk\n✓ call Ann",
            "<anna> are you there?\n<ben> yes",
            "10:03 <anna> are you there?\n10:04 ben: yes\n12/03/24, 10:05 - Ann Smith: good",
            "anna: are you there?\nben: yes",
            "Introduction\nThe ferry lost power on Monday evening.",
            "THE FERRY\nIt lost power.",
            "Eggs\nMilk\nTwo spoons of sugar",
            "Dear Ann,\nThanks for the letter.",
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
            "The ferry lost power on\nMonday evening when a net",
            "the ferry\nMary Ann lost power on Monday evening",
            "BANGKOK –\nMillions of origami cranes fell on the harbour",
            "Where is\nMr.\nSmith? He is not here, I think.",
            "THE COURT\nOF APPEALS FOR THE NINTH CIRCUIT",
            "She lived in the house of\nher mother: nobody knew",
            "It was 3.5\n2.5 of them were lost",
        ] {
            let mut ends = text.match_indices('\n').map(|(at, _)| at);
            assert!(ends.all(|at| !begins_anew(&text[..at], &text[at + 1..])), "{text:?}");
        }
    }
}
