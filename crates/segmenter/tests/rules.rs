//! What the rules make of text.

use consonant_segmenter::{Hyphens, Rules, Segmenter};

/// Tokens with `|` where sentences end.
fn cut_by(rules: Rules, text: &str) -> String {
    let document = Segmenter::rules(rules).segment(text).expect("segments");
    let tokens = document
        .sentences()
        .iter()
        .map(|sentence| sentence.surface_tokens().map(|token| token.form).collect::<Vec<_>>().join(" "));
    tokens.collect::<Vec<_>>().join(" | ")
}

fn cut(text: &str) -> String {
    cut_by(Rules::default(), text)
}

#[test]
fn addresses_are_tokens() {
    assert_eq!(cut("See (http://a.org/b?c=d)."), "See ( http://a.org/b?c=d ) .");
    assert_eq!(cut("Mail joe.doe@example.com, please."), "Mail joe.doe@example.com , please .");
    assert_eq!(cut("a/www.example.com/x! Yes"), "a / www.example.com/x ! | Yes");
    assert_eq!(cut("on example.com."), "on example.com .");
}

#[test]
fn emoji_and_emoticons_are_tokens() {
    assert_eq!(cut("Fun👩‍👩‍👧🇩🇪🇫🇷 :-) ok:)"), "Fun 👩‍👩‍👧 🇩🇪 🇫🇷 :-) ok :)");
    assert_eq!(cut("#tag @user <3"), "#tag @user <3");
}

#[test]
fn numbers_and_dates_are_tokens() {
    assert_eq!(
        cut("-5 1,000.50 12:30 10/12/2004 2004-05-01 4th 50%"),
        "-5 1,000.50 12:30 10/12/2004 2004-05-01 4th 50 %"
    );
    assert_eq!(cut("1990-1995"), "1990 - 1995");
    assert_eq!(cut("$5."), "$ 5 .");
}

#[test]
fn abbreviations_keep_their_period() {
    assert_eq!(
        cut("Mr. Smith saw J. Doe, e.g. in the U.S. army."),
        "Mr. Smith saw J. Doe , e.g. in the U.S. army ."
    );
    assert_eq!(cut("He left the U.S. The end."), "He left the U.S. | The end .");
    assert_eq!(cut("Fish, chips, etc. She ate."), "Fish , chips , etc. | She ate .");
    assert_eq!(cut("This is plan B."), "This is plan B .");
}

#[test]
fn sentences_end_at_stops() {
    assert_eq!(
        cut("Really?! Yes... No. \"Good.\" (Fine.) And… no"),
        "Really ?! | Yes ... | No . | \" Good . \" | ( Fine . ) | And … no"
    );
    assert_eq!(cut("1. First item. 2 left."), "1 . First item . | 2 left .");
    assert_eq!(
        cut("Yahoo! is one. 3.5 is two."),
        "Yahoo! is one . | 3.5 is two .".replace("Yahoo!", "Yahoo !")
    );
    assert_eq!(cut("你好。再见！"), "你 好 。 | 再 见 ！");
    assert_eq!(cut("यह है। वह है।"), "यह है । | वह है ।");
}

#[test]
fn words_hold_together() {
    assert_eq!(cut("don't l'eau snake_case AT&T and/or"), "don't l'eau snake_case AT&T and / or");
    assert_eq!(cut("well-known"), "well - known");
    assert_eq!(cut_by(Rules { hyphens: Hyphens::Keep, ..Rules::default() }, "well-known"), "well-known");
    assert_eq!(cut("カタカナと漢字"), "カタカナ と 漢 字");
    assert_eq!(cut("“Quoted,” she said."), "“ Quoted , ” she said .");
}
