//! Lemmas as edits of their forms: labels that a word never seen before can have too.
//!
//! An edit says how the form is capitalized first, what goes from its front and its back, and what comes there:
//! small letters and one character less behind make *dog* of *Dogs* and *cat* of *cats*.

/// The edit that makes a lemma of a form, written to `out`.
pub(crate) fn edit(form: &str, lemma: &str, out: &mut String) {
    out.clear();
    let lower: Vec<char> = form.to_lowercase().chars().collect();
    let kept: Vec<char> = form.chars().collect();
    let wanted: Vec<char> = lemma.chars().collect();
    let (small, large) = (longest_common(&lower, &wanted), longest_common(&kept, &wanted));
    // What is written small either way is an edit of small letters: one label for *Dogs* and *dogs*.
    let (case, base, (from, at, length)) =
        if small.2 >= large.2 { ('l', &lower, small) } else { ('k', &kept, large) };
    if length == 0 {
        out.push('=');
        out.push_str(lemma);
        return;
    }
    out.push(case);
    out.push_str(&from.to_string());
    out.push('-');
    out.extend(&wanted[..at]);
    out.push('\u{1f}');
    out.push_str(&(base.len() - from - length).to_string());
    out.push('+');
    out.extend(&wanted[at + length..]);
}

/// What an edit makes of a form; the form itself where it is too short for the edit.
pub(crate) fn apply(edit: &str, form: &str) -> String {
    if let Some(lemma) = edit.strip_prefix('=') {
        return lemma.to_owned();
    }
    let base = if edit.starts_with('l') { form.to_lowercase() } else { form.to_owned() };
    let changed = || {
        let (front, back) = edit.get(1..)?.split_once('\u{1f}')?;
        let ((first, before), (last, behind)) = (front.split_once('-')?, back.split_once('+')?);
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        let length = base.chars().count().checked_sub(first + last).filter(|&length| length > 0)?;
        let middle = base.chars().skip(first).take(length);
        Some(before.chars().chain(middle).chain(behind.chars()).collect())
    };
    changed().unwrap_or_else(|| base.clone())
}

/// The longest run of characters in both: where it begins in each, and its length; the first of equals.
fn longest_common(a: &[char], b: &[char]) -> (usize, usize, usize) {
    let mut best = (0, 0, 0);
    let mut ending = vec![0; b.len() + 1];
    for (i, x) in a.iter().enumerate() {
        // From behind, so that the entries before are those of the last row.
        for j in (0..b.len()).rev() {
            ending[j + 1] = if *x == b[j] { ending[j] + 1 } else { 0 };
        }
        for (j, &length) in ending.iter().enumerate().skip(1) {
            if length > best.2 {
                best = (i + 1 - length, j - length, length);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_make_the_lemma_of_their_form_and_serve_other_forms() {
        let pairs = [
            ("Dogs", "dog"),
            ("dogs", "dog"),
            ("went", "go"),
            ("Kiel", "Kiel"),
            ("USA", "USA"),
            ("gesungen", "singen"),
            ("'s", "be"),
            ("n't", "not"),
            ("I", "I"),
            ("ÄPFEL", "apfel"),
            ("a", "a"),
            ("İl", "il"),
            ("", "x"),
            ("x-+", "-+x"),
        ];
        let mut label = String::new();
        for (form, lemma) in pairs {
            edit(form, lemma, &mut label);
            assert_eq!(apply(&label, form), lemma, "{form} {label}");
        }
        let (mut one, mut other) = (String::new(), String::new());
        edit("Dogs", "dog", &mut one);
        edit("cats", "cat", &mut other);
        assert_eq!(one, other);
        assert_eq!(apply(&one, "Mice"), "mic");
        // Too short for the edit, or no edit at all.
        edit("walking", "walk", &mut one);
        assert_eq!(apply(&one, "ing"), "ing");
        assert_eq!(apply("l", "Ab"), "ab");
        assert_eq!(apply("k9-x", "Ab"), "Ab");
    }
}
