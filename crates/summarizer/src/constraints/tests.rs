//! Each rule in a sentence. A word is written `form|UPOS|XPOS|head|relation`; what is in brackets may be cut,
//! and nothing else.

use consonant_text::Sentence;

use super::*;

/// A sentence with its tree, and the words in brackets.
fn sentence(text: &str) -> (Sentence, Vec<bool>) {
    let (mut rows, mut marked, mut inside) = (String::new(), Vec::new(), false);
    for (number, token) in text.split_whitespace().enumerate() {
        inside |= token.starts_with('[');
        let word: Vec<&str> = token.trim_start_matches('[').trim_end_matches(']').split('|').collect();
        let [form, upos, xpos, head, relation] = word[..] else { panic!("five fields, not `{token}`") };
        rows += &format!("{}\t{form}\t_\t{upos}\t{xpos}\t_\t{head}\t{relation}\t_\t_\n", number + 1);
        marked.push(inside);
        inside &= !token.ends_with(']');
    }
    (Sentence::from_conllu(&(rows + "\n")).unwrap(), marked)
}

/// The words that may go in one cut or another.
fn cuts(sentence: &Sentence) -> (Vec<bool>, Vec<&'static str>) {
    let tree = Tree::new(sentence).unwrap();
    let mut gone = vec![false; sentence.len()];
    let mut rules = Vec::new();
    for word in 0..sentence.len() {
        if let Some(rule) = tree.cut_rule(word) {
            tree.phrase(word).unwrap().for_each(|word| gone[word] = true);
            rules.push(rule.name);
        }
    }
    (gone, rules)
}

#[track_caller]
fn cut_by(rule: &str, text: &str) {
    let (sentence, marked) = sentence(text);
    let (gone, rules) = cuts(&sentence);
    assert_eq!(gone, marked, "{rules:?} in {text}");
    assert_eq!(rules, if rule.is_empty() { Vec::new() } else { vec![rule] }, "{text}");
}

/// Nothing may be cut, and the word at a place not for the named reason.
#[track_caller]
fn kept_by(veto: &str, word: usize, text: &str) {
    cut_by("", text);
    let (sentence, _) = sentence(text);
    assert_eq!(Tree::new(&sentence).unwrap().veto(word), Some(veto), "{text}");
}

#[test]
fn every_rule_cuts_what_its_example_shows() {
    #[rustfmt::skip]
    let examples = [
        ("brackets", "The|DET|DT|2|det guard|NOUN|NN|6|nsubj (|PUNCT|-LRB-|4|punct [RNLI|PROPN|NNP|2|appos] )|PUNCT|-RRB-|4|punct left|VERB|VBD|0|root .|PUNCT|.|6|punct"),
        ("apposition", "Marlow|PROPN|NNP|6|nsubj ,|PUNCT|,|4|punct [the|DET|DT|4|det captain|NOUN|NN|1|appos] ,|PUNCT|,|4|punct agreed|VERB|VBD|0|root .|PUNCT|.|6|punct"),
        ("age", "Tanweer|PROPN|NNP|5|nsubj ,|PUNCT|,|3|punct [22|NUM|CD|1|appos] ,|PUNCT|,|3|punct agreed|VERB|VBD|0|root .|PUNCT|.|5|punct"),
        ("relative clause", "The|DET|DT|2|det boat|NOUN|NN|8|nsubj ,|PUNCT|,|5|punct [which|PRON|WDT|5|nsubj carries|VERB|VBZ|2|acl:relcl twelve|NUM|CD|5|obj] ,|PUNCT|,|5|punct left|VERB|VBD|0|root .|PUNCT|.|8|punct"),
        ("participle", "A|DET|DT|2|det quake|NOUN|NN|3|nsubj struck|VERB|VBD|0|root ,|PUNCT|,|5|punct [killing|VERB|VBG|3|advcl many|ADJ|JJ|5|obj] .|PUNCT|.|3|punct"),
        ("subordinate clause", "[When|ADV|WRB|3|advmod fog|NOUN|NN|3|nsubj rose|VERB|VBD|6|advcl] ,|PUNCT|,|3|punct tugs|NOUN|NNS|6|nsubj left|VERB|VBD|0|root .|PUNCT|.|6|punct"),
        ("attribution", "Ann|PROPN|NNP|2|nsubj left|VERB|VBD|0|root ,|PUNCT|,|5|punct [they|PRON|PRP|5|nsubj said|VERB|VBD|2|parataxis] .|PUNCT|.|2|punct"),
        ("aside", "Plans|NOUN|NNS|6|nsubj —|PUNCT|:|4|punct [they|PRON|PRP|4|nsubj think|VERB|VBP|6|parataxis] —|PUNCT|:|4|punct worked|VERB|VBD|0|root .|PUNCT|.|6|punct"),
        ("address", "[Well|INTJ|UH|4|discourse] ,|PUNCT|,|1|punct it|PRON|PRP|4|nsubj works|VERB|VBZ|0|root .|PUNCT|.|4|punct"),
        ("connective", "[Meanwhile|ADV|RB|4|advmod] ,|PUNCT|,|1|punct they|PRON|PRP|4|nsubj met|VERB|VBD|0|root .|PUNCT|.|4|punct"),
        ("fronted phrase", "[In|ADP|IN|3|case a|DET|DT|3|det statement|NOUN|NN|6|obl] ,|PUNCT|,|3|punct they|PRON|PRP|6|nsubj apologized|VERB|VBD|0|root .|PUNCT|.|6|punct"),
        ("time", "Police|NOUN|NNS|2|nsubj waited|VERB|VBD|0|root [on|ADP|IN|4|case Tuesday|PROPN|NNP|2|obl] .|PUNCT|.|2|punct"),
        ("circumstance", "They|PRON|PRP|2|nsubj praised|VERB|VBD|0|root Ann|PROPN|NNP|2|obj [during|ADP|IN|6|case a|DET|DT|6|det visit|NOUN|NN|2|obl] .|PUNCT|.|2|punct"),
        ("place", "Police|NOUN|NNS|2|nsubj searched|VERB|VBD|0|root houses|NOUN|NNS|2|obj [in|ADP|IN|5|case Leeds|PROPN|NNP|2|obl] .|PUNCT|.|2|punct"),
        ("noun's place", "Houses|NOUN|NNS|4|nsubj [in|ADP|IN|3|case Leeds|PROPN|NNP|1|nmod] burned|VERB|VBD|0|root .|PUNCT|.|4|punct"),
        ("adverb", "They|PRON|PRP|3|nsubj [quickly|ADV|RB|3|advmod] left|VERB|VBD|0|root .|PUNCT|.|3|punct"),
        ("adjective", "A|DET|DT|3|det [strong|ADJ|JJ|3|amod] quake|NOUN|NN|4|nsubj struck|VERB|VBD|0|root .|PUNCT|.|4|punct"),
    ];
    for (rule, text) in examples {
        cut_by(rule, text);
    }
    assert_eq!(
        examples.map(|(rule, _)| rule).to_vec(),
        CUTS.iter().map(|rule| rule.name).collect::<Vec<_>>()
    );
}

#[test]
#[rustfmt::skip]
fn what_a_clause_needs_stays() {
    // Without a clause on top, nothing goes.
    kept_by("no clause on top", 3, "Killing|VERB|VBG|0|root many|ADJ|JJ|1|obj on|ADP|IN|4|case Tuesday|PROPN|NNP|1|obl");
    let needed = "what the verb needs";
    // An object complement; the infinitives of ask, want, tell; a clause that somebody said.
    kept_by(needed, 3, "It|PRON|PRP|2|nsubj left|VERB|VBD|0|root thousands|NOUN|NNS|2|obj homeless|ADJ|JJ|2|xcomp .|PUNCT|.|2|punct");
    for verb in ["asked", "wanted", "told"] {
        kept_by(needed, 4, &format!("He|PRON|PRP|2|nsubj {verb}|VERB|VBD|0|root them|PRON|PRP|2|obj to|PART|TO|5|mark come|VERB|VB|2|xcomp .|PUNCT|.|2|punct"));
    }
    kept_by(needed, 4, "They|PRON|PRP|2|nsubj believed|VERB|VBD|0|root that|SCONJ|IN|5|mark it|PRON|PRP|5|nsubj sank|VERB|VBD|2|ccomp .|PUNCT|.|2|punct");
    kept_by("a part of a word or name", 2, "They|PRON|PRP|2|nsubj took|VERB|VBD|0|root off|ADP|RP|2|compound:prt hats|NOUN|NNS|2|obj .|PUNCT|.|2|punct");
    // A relative clause that says which, and one whose verb the tree has given to the sentence.
    cut_by("", "The|DET|DT|2|det answer|NOUN|NN|7|nsubj which|PRON|WDT|5|obj he|PRON|PRP|5|nsubj received|VERB|VBD|2|acl:relcl late|ADV|RB|5|advmod helped|VERB|VBD|0|root .|PUNCT|.|7|punct");
    kept_by("a verb that no clause has", 4, "Ann|PROPN|NNP|2|nsubj helped|VERB|VBD|0|root was|AUX|VBD|5|nmod late|ADV|RB|3|advmod Tuesday|PROPN|NNP|2|obl:unmarked .|PUNCT|.|2|punct");
    // What the passive's verb asks for, and a place without which the verb says nothing.
    cut_by("", "Boxes|NOUN|NNS|3|nsubj:pass were|AUX|VBD|3|aux:pass put|VERB|VBN|0|root in|ADP|IN|5|case cellars|NOUN|NNS|3|obl .|PUNCT|.|3|punct");
    // When something was is all that "the robbery that occurred [on Tuesday]" says of it; "two years [after it sank]" is one time.
    cut_by("", "Police|NOUN|NNS|2|nsubj saw|VERB|VBD|0|root robberies|NOUN|NNS|2|obj that|PRON|WDT|5|nsubj occurred|VERB|VBD|3|acl:relcl on|ADP|IN|7|case Tuesday|PROPN|NNP|5|obl .|PUNCT|.|2|punct");
    kept_by("a word left hanging", 6, "Ann|PROPN|NNP|2|nsubj left|VERB|VBD|0|root years|NOUN|NNS|2|obl:unmarked after|SCONJ|IN|7|mark the|DET|DT|6|det boat|NOUN|NN|7|nsubj sank|VERB|VBD|2|advcl .|PUNCT|.|2|punct");
    kept_by("a word left hanging", 4, "Ann|PROPN|NNP|2|nsubj left|VERB|VBD|0|root late|ADV|RB|2|advmod last|ADJ|JJ|5|amod month|NOUN|NN|2|obl:unmarked .|PUNCT|.|2|punct");
    cut_by("", "Ann|PROPN|NNP|8|nsubj ,|PUNCT|,|4|punct cellist|NOUN|NN|4|compound Bob|PROPN|NNP|1|appos and|CCONJ|CC|6|cc Jim|PROPN|NNP|4|conj ,|PUNCT|,|4|punct sang|VERB|VBD|0|root .|PUNCT|.|8|punct");
    // What is told more of stays: "Ann left[, a move of Bob,] who followed".
    cut_by("", "Ann|PROPN|NNP|9|nsubj ,|PUNCT|,|4|punct the|DET|DT|4|det wife|NOUN|NN|1|appos ,|PUNCT|,|7|punct who|PRON|WP|7|nsubj sang|VERB|VBD|4|acl:relcl there|ADV|RB|7|advmod left|VERB|VBD|0|root .|PUNCT|.|9|punct");
    cut_by("", "People|NOUN|NNS|2|nsubj depend|VERB|VBP|0|root on|ADP|IN|4|case boats|NOUN|NNS|2|obl .|PUNCT|.|2|punct");
}

#[test]
#[rustfmt::skip]
fn names_numbers_and_coordinations_stay_whole() {
    kept_by("half of a coordination", 4, "Rain|NOUN|NN|2|nsubj brought|VERB|VBD|0|root floods|NOUN|NNS|2|obj and|CCONJ|CC|5|cc storms|NOUN|NNS|3|conj .|PUNCT|.|2|punct");
    kept_by("half of a coordination", 4, "It|PRON|PRP|2|nsubj rained|VERB|VBD|0|root and|CCONJ|CC|5|cc it|PRON|PRP|5|nsubj snowed|VERB|VBD|2|conj .|PUNCT|.|2|punct");
    kept_by("a part of a word or name", 1, "Ian|PROPN|NNP|3|nsubj Blair|PROPN|NNP|1|flat agreed|VERB|VBD|0|root .|PUNCT|.|3|punct");
    kept_by("a part of a word or name", 0, "14|NUM|CD|2|nummod people|NOUN|NNS|3|nsubj died|VERB|VBD|0|root .|PUNCT|.|3|punct");
    // "Leeds, England" is one name.
    cut_by("", "Police|NOUN|NNS|2|nsubj reached|VERB|VBD|0|root Leeds|PROPN|NNP|2|obj ,|PUNCT|,|5|punct England|PROPN|NNP|3|appos .|PUNCT|.|2|punct");
    cut_by("", "Personally|ADV|RB|3|advmod Yours|PROPN|NNP|3|nsubj opened|VERB|VBD|0|root .|PUNCT|.|3|punct");
    // "not only …, but also".
    cut_by("", "Not|PART|RB|2|advmod only|ADV|RB|3|advmod this|PRON|DT|6|obl Ann|PROPN|NNP|6|nsubj also|ADV|RB|6|advmod left|VERB|VBD|0|root .|PUNCT|.|6|punct");
    // "an earthquake" and "a strong earthquake".
    cut_by("", "A|DET|DT|3|det strong|ADJ|JJ|3|amod earthquake|NOUN|NN|4|nsubj struck|VERB|VBD|0|root .|PUNCT|.|4|punct");
}

#[test]
#[rustfmt::skip]
fn no_cut_turns_the_truth_around() {
    kept_by("what the verb needs", 1, "They|PRON|PRP|4|nsubj did|AUX|VBD|4|aux not|PART|RB|4|advmod come|VERB|VB|0|root .|PUNCT|.|4|punct");
    kept_by("negation", 2, "They|PRON|PRP|4|nsubj did|AUX|VBD|4|aux not|PART|RB|4|advmod come|VERB|VB|0|root .|PUNCT|.|4|punct");
    let bound = "under a negation, a condition or a question";
    // "No one was seen [on Tuesday]" would say more; so would "few", and what an "if" stands over.
    kept_by(bound, 4, "Police|NOUN|NNS|3|nsubj never|ADV|RB|3|advmod waited|VERB|VBD|0|root on|ADP|IN|5|case Tuesday|PROPN|NNP|3|obl .|PUNCT|.|3|punct");
    kept_by(bound, 4, "Few|ADJ|JJ|2|amod people|NOUN|NNS|3|nsubj waited|VERB|VBD|0|root on|ADP|IN|5|case Tuesday|PROPN|NNP|3|obl .|PUNCT|.|3|punct");
    kept_by(bound, 5, "Did|AUX|VBD|4|aux the|DET|DT|3|det ship|NOUN|NN|4|nsubj sink|VERB|VB|0|root on|ADP|IN|6|case Tuesday|PROPN|NNP|4|obl ?|PUNCT|.|4|punct");
    // The condition itself, and words of doubt.
    cut_by("", "If|SCONJ|IN|3|mark it|PRON|PRP|3|nsubj rained|VERB|VBD|6|advcl ,|PUNCT|,|3|punct they|PRON|PRP|6|nsubj left|VERB|VBD|0|root .|PUNCT|.|6|punct");
    cut_by("", "The|DET|DT|3|det alleged|ADJ|JJ|3|amod thief|NOUN|NN|4|nsubj left|VERB|VBD|0|root .|PUNCT|.|4|punct");
    cut_by("", "He|PRON|PRP|3|nsubj allegedly|ADV|RB|3|advmod left|VERB|VBD|0|root .|PUNCT|.|3|punct");
    // Of what always is, circumstances may be conditions.
    cut_by("", "It|PRON|PRP|2|nsubj fails|VERB|VBZ|0|root when|ADV|WRB|5|advmod fog|NOUN|NN|5|nsubj rises|VERB|VBZ|2|advcl .|PUNCT|.|2|punct");
    // "all students [at the school]", "Prices [in Leeds] are high": without it, more is claimed.
    let all = "All|DET|DT|2|det students|NOUN|NNS|6|nsubj at|ADP|IN|5|case the|DET|DT|5|det school|NOUN|NN|2|nmod left|VERB|VBD|0|root .|PUNCT|.|6|punct";
    cut_by("", all);
    cut_by("noun's place", &all.replace("All|DET|DT", "The|DET|DT").replace("at|", "[at|").replace("nmod left", "nmod] left"));
    cut_by("", "Prices|NOUN|NNS|5|nsubj in|ADP|IN|3|case Leeds|PROPN|NNP|1|nmod are|AUX|VBP|5|cop high|ADJ|JJ|0|root .|PUNCT|.|5|punct");
    kept_by("a comparison or a first", 4, "The|DET|DT|3|det eighth|ADJ|JJ|3|amod branch|NOUN|NN|6|nsubj in|ADP|IN|5|case Leeds|PROPN|NNP|3|nmod burned|VERB|VBD|0|root .|PUNCT|.|6|punct");
    kept_by("a comparison or a first", 4, "The|DET|DT|3|det largest|ADJ|JJS|3|amod port|NOUN|NN|6|nsubj in|ADP|IN|5|case Europe|PROPN|NNP|3|nmod burned|VERB|VBD|0|root .|PUNCT|.|6|punct");
}

#[test]
#[rustfmt::skip]
fn what_the_rest_leans_on_stays() {
    // The event itself, though it stands in a clause below: "They were waiting when the wave hit".
    cut_by("", "They|PRON|PRP|3|nsubj were|AUX|VBD|3|aux waiting|VERB|VBG|0|root when|ADV|WRB|6|advmod waves|NOUN|NNS|6|nsubj came|VERB|VBD|3|advcl .|PUNCT|.|3|punct");
    // "the rooms were cleaned each day" is about how often.
    cut_by("", "Rooms|NOUN|NNS|3|nsubj:pass were|AUX|VBD|3|aux:pass cleaned|VERB|VBN|0|root each|DET|DT|5|det day|NOUN|NN|3|obl:unmarked .|PUNCT|.|3|punct");
    // Half of a list that the tree takes for an apposition.
    kept_by("half of a coordination", 4, "I|PRON|PRP|2|nsubj liked|VERB|VBD|0|root rooms|NOUN|NNS|2|obj ,|PUNCT|,|5|punct beds|NOUN|NNS|3|appos ,|PUNCT|,|8|punct and|CCONJ|CC|8|cc food|NOUN|NN|3|conj .|PUNCT|.|2|punct");
    // "Some, such as Ann[, who left,] agreed" would lack a comma.
    kept_by("a comma that others need", 7, "Some|PRON|DT|10|nsubj ,|PUNCT|,|5|punct such|ADJ|JJ|5|case as|ADP|IN|3|fixed Ann|PROPN|NNP|1|nmod ,|PUNCT|,|8|punct who|PRON|WP|8|nsubj left|VERB|VBD|5|acl:relcl ,|PUNCT|,|5|punct agreed|VERB|VBD|0|root .|PUNCT|.|10|punct");
    // Words that join clauses, and a misspelled comparison.
    cut_by("", "It|PRON|PRP|2|nsubj worked|VERB|VBD|0|root then|ADV|RB|5|advmod it|PRON|PRP|5|nsubj broke|VERB|VBD|2|parataxis .|PUNCT|.|2|punct");
    cut_by("", "It|PRON|PRP|2|nsubj worked|VERB|VBD|0|root but|CCONJ|CC|5|cc quickly|ADV|RB|5|advmod broke|VERB|VBD|2|conj .|PUNCT|.|2|punct");
    // Mice are no place; "branded [in court]" asks for more; "notes made [after …]" say nothing without it.
    let tested = "They|PRON|PRP|2|nsubj tested|VERB|VBD|0|root it|PRON|PRP|2|obj [in|ADP|IN|5|case Leeds|PROPN|NNP|2|obl] .|PUNCT|.|2|punct";
    cut_by("place", tested);
    cut_by("", &tested.replace("[in", "in").replace("Leeds|PROPN|NNP|2|obl]", "mice|NOUN|NNS|2|obl"));
    cut_by("", &tested.replace("[in", "in").replace("2|obl]", "2|obl").replace("tested", "branded"));
    cut_by("", "He|PRON|PRP|2|nsubj read|VERB|VBD|0|root notes|NOUN|NNS|2|obj made|VERB|VBN|3|acl after|SCONJ|IN|8|mark the|DET|DT|7|det boat|NOUN|NN|8|nsubj sank|VERB|VBD|4|advcl .|PUNCT|.|2|punct");
    // "near a man" stays for the sake of "he".
    cut_by("subordinate clause", "Police|NOUN|NNS|2|nsubj hit|VERB|VBD|0|root it|PRON|PRP|2|obj near|ADP|IN|6|case a|DET|DT|6|det man|NOUN|NN|2|obl [as|SCONJ|IN|9|mark he|PRON|PRP|9|nsubj left|VERB|VBD|2|advcl] .|PUNCT|.|2|punct");
    // "[a day]" says how often.
    cut_by("", "Ferries|NOUN|NNS|3|nsubj:pass were|AUX|VBD|3|aux:pass checked|VERB|VBN|0|root a|DET|DT|5|det day|NOUN|NN|3|obl:unmarked .|PUNCT|.|3|punct");
    // The sentence's own clause, where the tree has it in what would go.
    cut_by("", "With|SCONJ|IN|3|mark Ann|PROPN|NNP|3|nsubj left|VERB|VBD|0|root ,|PUNCT|,|5|punct leaving|VERB|VBG|3|advcl Bob|PROPN|NNP|5|obj .|PUNCT|.|3|punct");
    cut_by("", "Ann|PROPN|NNP|9|nsubj ,|PUNCT|,|4|punct who|PRON|WP|4|nsubj sang|VERB|VBD|1|acl:relcl ,|PUNCT|,|6|punct died|VERB|VBD|4|conj ,|PUNCT|,|4|punct they|PRON|PRP|9|nsubj said|VERB|VBD|0|root .|PUNCT|.|9|punct");
    // A title that goes on: "Ann[, the head,] sales, left".
    cut_by("", "Ann|PROPN|NNP|8|nsubj ,|PUNCT|,|4|punct the|DET|DT|4|det head|NOUN|NN|1|appos ,|PUNCT|,|6|punct sales|NOUN|NNS|1|flat ,|PUNCT|,|6|punct left|VERB|VBD|0|root .|PUNCT|.|8|punct");
    // What comes after it may belong to it, whatever the tree says.
    let rows = "Police|NOUN|NNS|2|nsubj searched|VERB|VBD|0|root it|PRON|PRP|2|obj [at|ADP|IN|6|case the|DET|DT|6|det station|NOUN|NN|2|obl] ";
    cut_by("place", &format!("{rows}.|PUNCT|.|2|punct"));
    for rest in ["No|NOUN|NN|2|obl:unmarked 29|NUM|CD|7|nummod .|PUNCT|.|2|punct", "and|CCONJ|CC|8|cc Leeds|PROPN|NNP|3|conj .|PUNCT|.|2|punct", "and|CCONJ|CC|9|cc surrounding|VERB|VBG|9|amod houses|NOUN|NNS|3|conj .|PUNCT|.|2|punct"] {
        cut_by("", &format!("{}{rest}", rows.replace(['[', ']'], "")));
    }
    // "[famous] shops and large markets".
    cut_by("", "A|DET|DT|3|det famous|ADJ|JJ|3|amod shop|NOUN|NN|6|nsubj and|CCONJ|CC|5|cc market|NOUN|NN|3|conj burned|VERB|VBD|0|root .|PUNCT|.|6|punct");
    // "countries [in Asia]": without a word before it, the noun would be any.
    cut_by("", "It|PRON|PRP|2|nsubj hit|VERB|VBD|0|root countries|NOUN|NNS|2|obj in|ADP|IN|5|case Asia|PROPN|NNP|3|nmod .|PUNCT|.|2|punct");
}

#[test]
#[rustfmt::skip]
fn where_the_parser_is_not_sure_nothing_is_cut() {
    let texts = [
        ("time", 3, "Police|NOUN|NNS|2|nsubj waited|VERB|VBD|0|root [on|ADP|IN|4|case Tuesday|PROPN|NNP|2|obl] .|PUNCT|.|2|punct"),
        ("reported", 4, "They|PRON|PRP|2|nsubj said|VERB|VBD|0|root that|SCONJ|IN|5|mark ferries|NOUN|NNS|5|nsubj sank|VERB|VBD|2|ccomp .|PUNCT|.|2|punct"),
    ];
    for (what, word, text) in texts {
        for unsure in [word, 1] {
            let (mut sentence, _) = sentence(text);
            let allowed = |sentence: &Sentence| {
                let tree = Tree::new(sentence).unwrap();
                tree.cut_rule(word).is_some() || tree.may_lead(word, Constraints::Grammatical)
            };
            sentence.set_misc(unsure, "HeadConfidence", Some("0.990")).unwrap();
            assert!(allowed(&sentence), "{what}");
            sentence.set_misc(unsure, "HeadConfidence", Some("0.400")).unwrap();
            assert!(!allowed(&sentence), "{what}");
        }
    }
    // What opens a sentence hangs from nothing that matters, and neither does what stands in brackets.
    let (mut sentence, _) = sentence("[Meanwhile|ADV|RB|4|advmod] ,|PUNCT|,|1|punct they|PRON|PRP|4|nsubj met|VERB|VBD|0|root .|PUNCT|.|4|punct");
    sentence.set_misc(0, "HeadConfidence", Some("0.400")).unwrap();
    assert!(Tree::new(&sentence).unwrap().cut_rule(0).is_some());
}

#[test]
#[rustfmt::skip]
fn a_reported_clause_leads_only_if_somebody_said_so_and_it_names_its_subject() {
    let leads = |text: &str, word: usize| Tree::new(&sentence(text).0).unwrap().may_lead(word, Constraints::Grammatical);
    let said = "They|PRON|PRP|2|nsubj said|VERB|VBD|0|root that|SCONJ|IN|5|mark ferries|NOUN|NNS|5|nsubj sank|VERB|VBD|2|ccomp .|PUNCT|.|2|punct";
    assert!(leads(said, 4));
    assert!(!leads(&said.replace("said|", "denied|"), 4));
    assert!(!leads(&said.replace("ferries|NOUN|NNS", "it|PRON|PRP"), 4));
    assert!(!leads(&said.replace("They|PRON|PRP", "Nobody|PRON|NN"), 4));
}
