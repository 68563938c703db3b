//! Web and mail addresses.

/// Endings of hosts that are written without `www.`.
const ENDINGS: [&str; 34] = [
    "at", "au", "biz", "br", "ca", "ch", "cn", "co", "com", "cz", "de", "dk", "edu", "ee", "es", "eu", "fi",
    "fr", "gov", "info", "io", "it", "jp", "mil", "net", "nl", "no", "org", "pl", "pt", "ru", "se", "sk",
    "uk",
];

/// Whether there can be an address in a chunk of text: a cheap question that most chunks answer with no.
pub fn possible(chunk: &str) -> bool {
    let bytes = chunk.as_bytes();
    bytes.len() > 3
        && bytes.iter().any(|byte| matches!(byte, b'@' | b':' | b'.'))
        && bytes.windows(2).any(|pair| {
            matches!(pair, [b':', b'/'])
                || (matches!(pair[0], b'@' | b'.') && pair[1].is_ascii_alphanumeric())
        })
}

/// The end of the address that starts at a place of the chunk.
///
/// Called for places in rising order. Each scan starts only where the characters before could not have
/// started it, so that the sum of all scans is linear in the chunk.
pub fn end_of(chunk: &str, start: usize) -> Option<usize> {
    let bytes = chunk.as_bytes();
    let rest = &bytes[start..];
    let word = rest.iter().take(12).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let has_scheme = word > 1 && rest[word..].starts_with(b"://") && rest.len() > word + 3;
    let has_www =
        rest.len() > 5 && rest[..4].eq_ignore_ascii_case(b"www.") && rest[4].is_ascii_alphanumeric();
    if has_scheme || has_www {
        return Some(end_of_url(chunk, start));
    }
    if start > 0 && is_local(bytes[start - 1]) {
        return None;
    }
    let local = rest.iter().take_while(|&&byte| is_local(byte)).count();
    if rest.get(local) == Some(&b'@') && local > 0 {
        let (host, labels) = host_end(bytes, start + local + 1);
        return (labels > 1).then_some(host);
    }
    let (host, labels) = host_end(bytes, start);
    let last = chunk[start..host].rsplit('.').next().unwrap_or_default();
    let known = labels > 1 && ENDINGS.binary_search(&last.to_ascii_lowercase().as_str()).is_ok();
    // `etc.Then` and `No.At` are no hosts: endings are in lower case, as hosts are.
    if !known
        || last.bytes().any(|byte| byte.is_ascii_uppercase())
            && !chunk[start..host].bytes().all(|b| !b.is_ascii_lowercase())
    {
        return None;
    }
    match bytes.get(host) {
        Some(b'/') => Some(end_of_url(chunk, start)),
        Some(byte) if byte.is_ascii_alphanumeric() || !byte.is_ascii() => None,
        _ => Some(host),
    }
}

fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-')
}

/// The end of `label.label.label`, and how many labels there are.
fn host_end(bytes: &[u8], start: usize) -> (usize, usize) {
    let mut end = start;
    let mut labels = 0;
    let mut at = start;
    loop {
        let label =
            bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
        if label == 0 || bytes[at] == b'-' || bytes[at + label - 1] == b'-' {
            return (end, labels);
        }
        at += label;
        (end, labels) = (at, labels + 1);
        if bytes.get(at) != Some(&b'.') {
            return (end, labels);
        }
        at += 1;
    }
}

/// Everything up to a quote or bracket that an address cannot have, without punctuation of the sentence.
fn end_of_url(chunk: &str, start: usize) -> usize {
    let rest = &chunk[start..];
    let stop = rest
        .find(['<', '>', '"', '“', '”', '«', '»', '`', '{', '}', '|', '。', '，', '、', '）', '」'])
        .unwrap_or(rest.len());
    let mut url = &rest[..stop];
    let opened = url.bytes().filter(|&byte| byte == b'(').count();
    let mut closed = url.bytes().filter(|&byte| byte == b')').count();
    while let Some(last) = url.chars().last() {
        match last {
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '’' | '…' | '*' | '[' | ']' | '(' => {}
            ')' if closed > opened => closed -= 1,
            _ => break,
        }
        url = &url[..url.len() - last.len_utf8()];
    }
    start + url.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(chunk: &str) -> Option<&str> {
        end_of(chunk, 0).map(|end| &chunk[..end])
    }

    #[test]
    fn endings_are_sorted() {
        assert!(ENDINGS.is_sorted());
    }

    #[test]
    fn addresses_end_where_the_sentence_goes_on() {
        assert_eq!(found("http://a.org/x_(y)?q=1#z)."), Some("http://a.org/x_(y)?q=1#z"));
        assert_eq!(
            found("https://en.example.org/w/Rust_(tool)"),
            Some("https://en.example.org/w/Rust_(tool)")
        );
        assert_eq!(found("www.example.com,"), Some("www.example.com"));
        assert_eq!(found("joe.doe+x@mail.example.co.uk."), Some("joe.doe+x@mail.example.co.uk"));
        assert_eq!(found("example.com/a/b!"), Some("example.com/a/b"));
        assert_eq!(found("Example.com's"), Some("Example.com"));
        assert_eq!(found("end.The"), None);
        assert_eq!(found("user@home"), None);
        assert_eq!(found("3.14"), None);
        assert_eq!(found("http://"), None);
        assert!(!possible("word") && !possible("e.") && possible("a@b.c"));
    }
}
