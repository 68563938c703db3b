//! Chat logs as people keep them: a message a line, with a time and an author before it.

use crate::jsonl::{Thread, ThreadUnit};

/// Reads a log into one conversation without links.
///
/// A line may begin with a time (`[10:03]`, `10:03:11`, `2024-03-09 10:03`, `12/03/24, 10:03 -`), which is
/// followed by an author (`<anna>`, `anna:`, `* anna` for an action). A line without an author is one of the
/// server if it has a time or begins with `===`, and goes on with the message before it otherwise. Blank
/// lines are passed over.
///
/// ```
/// let log = "[10:03] <anna> which modem?\n[10:04] bob: the blue one\nor the other\n=== eve has joined\n";
/// let thread = consonant_text::chat::read(log, "modems");
/// let said: Vec<_> = thread.units.iter().map(|unit| (unit.author.as_deref(), unit.text.as_str())).collect();
/// assert_eq!(said, [(Some("anna"), "which modem?"), (Some("bob"), "the blue one or the other"), (None, "=== eve has joined")]);
/// assert_eq!(thread.units[1].time.as_deref(), Some("10:04"));
/// ```
pub fn read(log: &str, id: &str) -> Thread {
    let mut thread = Thread::new(id);
    for line in log.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()) {
        let (time, rest) = time(line.trim_start());
        let spoken = author(rest);
        match (thread.units.last_mut(), spoken) {
            (Some(last), None) if time.is_none() && !rest.starts_with("===") => {
                last.text.push(' ');
                last.text.push_str(rest.trim());
            }
            (_, spoken) => {
                let (author, text) = spoken.unzip();
                thread.units.push(ThreadUnit {
                    author: author.map(str::to_owned),
                    time: time.map(str::to_owned),
                    text: text.unwrap_or(rest).to_owned(),
                });
            }
        }
    }
    thread
}

/// The time at the start of a line, and what follows.
fn time(line: &str) -> (Option<&str>, &str) {
    let (stamp, rest) = match line.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((stamp, rest)) => (stamp, rest),
        None => {
            // A date may stand before the clock, with a comma or a `T` between them.
            let end = line.find(|c: char| !(c.is_ascii_digit() || "-/.:, TZ".contains(c)));
            let end = end.unwrap_or(line.len());
            // Letters that a clock may have (`T`, `Z`) may belong to the name behind it.
            let end = line[..end].rfind(|c: char| c.is_ascii_digit()).map_or(0, |last| last + 1);
            let end = end + usize::from(line[end..].starts_with("Z "));
            line.split_at(end)
        }
    };
    let digit = |c: char| c.is_ascii_digit();
    let is_clock =
        stamp.contains(':') && stamp.ends_with(|c| digit(c) || c == 'Z') && stamp.starts_with(digit);
    match is_clock {
        true => (Some(stamp.trim()), rest.trim_start_matches([' ', ',', '-', '\t']).trim_end()),
        false => (None, line),
    }
}

/// The longest name that a line may begin with, in letters and in words.
const NAME: (usize, usize) = (40, 4);

/// The author of a line, and what they say.
fn author(line: &str) -> Option<(&str, &str)> {
    let (name, text) = if let Some(inner) = line.strip_prefix('<') {
        inner.split_once('>')?
    } else if let Some(action) = line.strip_prefix("* ") {
        (action.split_whitespace().next()?, line)
    } else {
        line.split_once(':').filter(|(_, text)| text.starts_with([' ', '\t']) || text.is_empty())?
    };
    let name = name.trim_matches(|c: char| c.is_whitespace() || "@+%&~".contains(c));
    let is_name = !name.is_empty()
        && name.chars().count() <= NAME.0
        && name.split_whitespace().count() <= NAME.1
        && !name.contains(['.', '?', '!', ',', '"']);
    is_name.then(|| (name, text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_several_programs_are_read() {
        for (line, when, who, what) in [
            ("[10:03] <anna> hi", Some("10:03"), Some("anna"), "hi"),
            ("[10:03:59] <@anna> hi", Some("10:03:59"), Some("anna"), "hi"),
            ("10:03 <anna> a: b", Some("10:03"), Some("anna"), "a: b"),
            ("2024-03-09 10:03:11 Ann Smith: hi", Some("2024-03-09 10:03:11"), Some("Ann Smith"), "hi"),
            ("2024-03-09T10:03:11Z ann: hi", Some("2024-03-09T10:03:11Z"), Some("ann"), "hi"),
            ("12/03/24, 10:03 - Ann: hi", Some("12/03/24, 10:03"), Some("Ann"), "hi"),
            ("[10:03] * anna waves", Some("10:03"), Some("anna"), "* anna waves"),
            ("anna: see http://x.org", None, Some("anna"), "see http://x.org"),
            ("10:03 Tom: hi", Some("10:03"), Some("Tom"), "hi"),
            ("=== eve has left", None, None, "=== eve has left"),
            ("[10:03] eve has left", Some("10:03"), None, "eve has left"),
            ("see http://x.org", None, None, "see http://x.org"),
            ("Well, that is it: done", None, None, "Well, that is it: done"),
            ("3 apples", None, None, "3 apples"),
            ("é: 12", None, Some("é"), "12"),
        ] {
            let thread = read(line, "x");
            let unit = &thread.units[0];
            let seen = (unit.time.as_deref(), unit.author.as_deref(), unit.text.as_str());
            assert_eq!(seen, (when, who, what), "{line}");
        }
        assert!(read("\n \n", "x").units.is_empty());
    }
}
