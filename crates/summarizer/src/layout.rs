//! What the lines of a document are: text, a heading, or material that comes with pages, letters and reports
//! and is no sentence of theirs: datelines, bylines, captions, heads of letters, quoted lines, signatures, code.

use consonant_text::Document;

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Sentences.
    Text,
    /// A heading or subject line: says what is important, and is no sentence.
    Heading,
    /// No part of what the document says.
    Aside,
}

/// Where what follows is no text either, until something ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Text,
    /// Code between fences.
    Code,
    /// A signature, or a letter below its answer.
    Rest,
    /// Names and addresses below a closing formula.
    Closing,
}

/// The role of each sentence of a document, by the line on which it begins.
pub fn roles(document: &Document) -> Vec<Role> {
    let text = document.text();
    let mut lines: Vec<(usize, Role)> = Vec::new();
    let mut within = Within::Text;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let role = next_role(line.trim(), &mut within);
        lines.push((start, role));
        start += line.len();
    }
    (0..document.sentences().len())
        .map(|sentence| {
            let place = document.sentence_place(sentence).start;
            let line = lines.partition_point(|&(start, _)| start <= place);
            line.checked_sub(1).map_or(Role::Text, |line| lines[line].1)
        })
        .collect()
}

fn next_role(line: &str, within: &mut Within) -> Role {
    if line.starts_with("```") || line.starts_with("~~~") {
        *within = if *within == Within::Code { Within::Text } else { Within::Code };
        return Role::Aside;
    }
    let own = role(line);
    match *within {
        Within::Code => return Role::Aside,
        // The head of the next letter.
        Within::Rest if own == Role::Heading || is_head(line) => *within = Within::Text,
        Within::Rest => return Role::Aside,
        Within::Closing if line.is_empty() || line.split_whitespace().count() <= SIGNED => {
            return Role::Aside;
        }
        Within::Closing => *within = Within::Text,
        Within::Text => {}
    }
    if matches!(line, "--" | "—") || line.len() > 2 && line.chars().all(|c| c == '_') || is_original(line) {
        *within = Within::Rest;
        return Role::Aside;
    }
    if is_closing(line) {
        *within = Within::Closing;
        return Role::Aside;
    }
    own
}

/// Whether a document is a letter: it has a head, or quotes what it answers.
pub fn is_letter(text: &str) -> bool {
    text.lines().any(|line| line.starts_with('>') || is_subject(line) || is_head(line))
}

/// What a line is, by itself.
pub fn role(line: &str) -> Role {
    let line = line.trim();
    let words = line.split_whitespace().count();
    if is_subject(line) || line.starts_with('#') && line.trim_start_matches('#').starts_with(' ') {
        return Role::Heading;
    }
    let greets =
        GREETINGS.iter().any(|word| line.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', ','])));
    let aside = line.starts_with('>')
        || is_head(line)
        || line.ends_with(" wrote:")
        || line.ends_with(" writes:")
        || CAPTIONS.iter().any(|word| starts_with(line, word))
        || words <= SIGNED
            && (greets && line.ends_with(',') || line.starts_with("By ") && !line.ends_with(['.', '!', '?']))
        || words <= DATELINE && line.ends_with(['—', '–'])
        || words <= DATELINE && line.ends_with(" -");
    if aside { Role::Aside } else { Role::Text }
}

/// Words of a line below a closing formula, of a greeting or a byline, at most.
const SIGNED: usize = 6;
/// Words of a dateline at most.
const DATELINE: usize = 9;

#[rustfmt::skip]
const HEADS: &[&str] = &[
    "From:", "To:", "Cc:", "CC:", "Bcc:", "Date:", "Sent:", "Reply-To:", "Message-ID:", "In-Reply-To:", "References:", "MIME-Version:",
    "Content-Type:", "Content-Transfer-Encoding:", "X-", "Attachments:", "Importance:",
];
#[rustfmt::skip]
const CAPTIONS: &[&str] = &[
    "Photo:", "Photo by ", "Photograph:", "Image:", "Picture:", "File photo", "Caption:", "Credit:", "(Photo", "(Image", "Reporting by ",
    "(Reporting by ", "Editing by ", "(Editing by ", "Additional reporting by ",
];
const GREETINGS: &[&str] = &["Hi", "Hello", "Dear", "Hey", "Good morning", "Good afternoon"];
#[rustfmt::skip]
const CLOSINGS: &[&str] = &[
    "regards", "best regards", "kind regards", "warm regards", "with best regards", "best", "best wishes", "all the best", "thanks",
    "many thanks", "thank you", "thanks in advance", "thanks again", "cheers", "sincerely", "yours", "yours sincerely", "yours truly",
    "sincerely yours", "rgds",
];

fn starts_with(line: &str, beginning: &str) -> bool {
    line.get(..beginning.len()).is_some_and(|head| head.eq_ignore_ascii_case(beginning))
}

fn is_subject(line: &str) -> bool {
    starts_with(line, "Subject:")
}

fn is_head(line: &str) -> bool {
    HEADS.iter().any(|head| line.starts_with(head))
}

/// "----- Original Message -----": what follows was answered above.
fn is_original(line: &str) -> bool {
    let inner = line.trim_matches(['-', ' ', '_']).to_lowercase();
    line.starts_with("--")
        && matches!(inner.as_str(), "original message" | "forwarded message" | "forwarded by")
}

fn is_closing(line: &str) -> bool {
    CLOSINGS.contains(&line.trim_end_matches([',', '.', '!', '-', ' ']).to_lowercase().as_str())
}

/// The length of the dateline at the beginning of a paragraph, with its dash: "PORT ALDER, Sept. 12 — A …".
pub fn dateline(paragraph: &str) -> Option<usize> {
    let head = paragraph.lines().next()?;
    if let Some(length) = leading_date(head) {
        return Some(length);
    }
    let (at, dash) = [" — ", " – ", " -- ", " - ", "—"]
        .iter()
        .filter_map(|dash| Some((head.find(dash)?, *dash)))
        .min_by_key(|&(at, _)| at)?;
    let (place, rest) = (&head[..at], &head[at + dash.len()..]);
    let words: Vec<&str> = place.split_whitespace().collect();
    let shouted = |word: &str| {
        word.chars().filter(|c| c.is_alphabetic()).count() > 1 && !word.chars().any(char::is_lowercase)
    };
    let name = place.split([',', '(']).next()?;
    let dated = || {
        place.contains(',')
            && words
                .iter()
                .any(|word| crate::words::is_temporal(&word.trim_matches([',', '.']).to_lowercase()))
            && place.contains(|c: char| c.is_ascii_digit())
    };
    let fits = words.len() <= DATELINE
        && words.iter().all(|word| !word.starts_with(char::is_lowercase))
        && (name.split_whitespace().all(shouted) && name.len() > 3 || dated())
        && rest
            .trim_start_matches(['"', '“', '\'', '‘'])
            .starts_with(|c: char| c.is_uppercase() || c.is_numeric());
    fits.then(|| at + dash.trim_end().len())
}

/// The length of a date with its day of the week that a sentence was glued to: "Tuesday, July 12, 2005 Police searched".
fn leading_date(line: &str) -> Option<usize> {
    let mut words = line.splitn(4, ' ');
    let (weekday, month, day, rest) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let is_day = day.strip_suffix(',').is_some_and(|day| day.parse::<u32>().is_ok_and(|day| day <= 31));
    let is_month = month.get(..3).is_some_and(|name| MONTHS.contains(&name.to_lowercase().as_str()));
    let year = rest.get(..4).filter(|year| year.parse::<u32>().is_ok())?;
    let is_glued = rest[year.len()..].trim_start().starts_with(char::is_uppercase);
    (weekday.ends_with("day,") && is_month && is_day && is_glued)
        .then(|| line.len() - rest.len() + year.len())
}

/// The date in the first lines of a document, as a number that grows with time: "July 12, 2005", "12 July 2005",
/// "2005-07-12".
pub fn date_of(text: &str) -> Option<u32> {
    let lines = text.lines().filter(|line| !line.trim().is_empty()).take(DATED_LINES);
    lines.filter(|line| line.len() < 80).find_map(|line| {
        let pieces: Vec<String> = line
            .split(|c: char| !c.is_alphanumeric())
            .filter(|piece| !piece.is_empty())
            .map(str::to_lowercase)
            .collect();
        let number = |at: usize| pieces.get(at).and_then(|piece| piece.parse::<u32>().ok());
        (0..pieces.len()).find_map(|at| {
            let year = number(at).filter(|year| (1900..2100).contains(year))?;
            let month = |at: usize| {
                let name = pieces.get(at)?.get(..3)?;
                MONTHS.iter().position(|month| *month == name).map(|month| month as u32 + 1)
            };
            let before = |back: usize| at.checked_sub(back);
            let (month, day) = if let (Some(day), Some(at)) = (before(1).and_then(number), before(2))
                && let Some(month) = month(at)
            {
                (month, day)
            } else if let (Some(month), Some(day)) = (before(1).and_then(month), before(2).and_then(number)) {
                (month, day)
            } else {
                (number(at + 1).filter(|month| (1..=12).contains(month))?, number(at + 2)?)
            };
            (day <= 31).then_some((year * 12 + month) * 31 + day)
        })
    })
}

/// Lines at the beginning of a document that may have its date.
const DATED_LINES: usize = 4;
const MONTHS: &[&str] = &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datelines_are_told_from_sentences_with_dashes() {
        let cut = |text: &str| dateline(text).map(|length| text[..length].to_owned());
        assert_eq!(cut("PORT ALDER, Sept. 12 — A quake struck.").as_deref(), Some("PORT ALDER, Sept. 12 —"));
        assert_eq!(cut("LONDON (Reuters) - Shares fell.").as_deref(), Some("LONDON (Reuters) -"));
        assert_eq!(
            cut("Lantern Bay, September 3 – “No one was hurt,” he said.").as_deref(),
            Some("Lantern Bay, September 3 –")
        );
        assert_eq!(cut("The tug — a small one — came."), None);
        assert_eq!(cut("Ines Marlow — The captain — said so."), None);
        assert_eq!(cut("A quake struck the coast."), None);
        let date = "Tuesday, January 18, 2005";
        assert_eq!(cut(&format!("{date}Through gifts they raised 5.")).as_deref(), Some(date));
        assert_eq!(cut(&format!("{date} Through gifts they raised 5.")).as_deref(), Some(date));
        assert_eq!(cut(&format!("{date}, they raised 5.")), None);
        assert_eq!(cut(date), None);
    }

    #[test]
    fn letters_have_heads_quotations_and_signatures() {
        let letter = "From: Ann\nSubject: Re: The launch?\nHi all,\nWe move it to May.\n> Can we move it?\nOn Monday Bo wrote:\nI agree.\nBest,\nAnn Lee\nHead of Things\n\nOne more question came up after I had written all this.\n-- \nAnn Lee, 12 Hill Road. Call me.\nFrom: Bo\nFine.\n";
        let mut within = Within::Text;
        let roles: Vec<Role> = letter.lines().map(|line| next_role(line.trim(), &mut within)).collect();
        use Role::{Aside, Heading, Text};
        assert_eq!(
            roles,
            [
                Aside, Heading, Aside, Text, Aside, Aside, Text, Aside, Aside, Aside, Aside, Text, Aside,
                Aside, Aside, Text
            ]
        );
    }

    #[test]
    fn letters_are_told_from_reports() {
        assert!(is_letter("Subject: Nets\nThey are lost.") && is_letter("> Lost?\nYes."));
        assert!(!is_letter("Nets\nThey are lost. > 3 of them."));
    }

    #[test]
    fn dates_stand_in_first_lines() {
        let day = |text: &str| date_of(text).unwrap();
        assert_eq!(day("A title\n\nTuesday, July 12, 2005\n"), day("12 July 2005"));
        assert_eq!(day("Date: 2005-07-12"), day("Jul 12 2005"));
        assert!(day("August 1, 2005") > day("July 31, 2005") && day("1 Jan 2006") > day("31 Dec 2005"));
        assert_eq!(date_of("It cost 2000 in all."), None);
    }

    #[test]
    fn pages_have_headings_captions_and_code() {
        for (line, expected) in [
            ("## What was found", Role::Heading),
            ("#1 in sales, it works.", Role::Text),
            ("Photo: A. Reed", Role::Aside),
            ("By Tomas Reed", Role::Aside),
            ("By Friday the ferry was repaired.", Role::Text),
            ("Dear customers will know this.", Role::Text),
        ] {
            assert_eq!(role(line), expected, "{line}");
        }
        let mut within = Within::Text;
        let code = ["```", "let x = 1;", "```", "It works."].map(|line| next_role(line, &mut within));
        assert_eq!(code, [Role::Aside, Role::Aside, Role::Aside, Role::Text]);
    }
}
