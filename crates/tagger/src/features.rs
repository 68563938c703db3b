//! What a tagger looks at.

use std::fmt::Write as _;

use consonant_sequence::features::Resources;

/// The words around, their combinations, and what the form of the word shows.
const TEMPLATES: &str = r#"# The word and its neighbours.
U00:%x[0,0]
U01:%X[0,0]
U02:%X[-1,0]
U03:%X[1,0]
U04:%X[-2,0]
U05:%X[2,0]
U06:%X[-3,0]
U07:%X[3,0]
# Pairs of neighbours.
U10:%X[-1,0]/%X[0,0]
U11:%X[0,0]/%X[1,0]
U12:%X[-1,0]/%X[1,0]
U13:%X[-2,0]/%X[-1,0]
U14:%X[1,0]/%X[2,0]
# Endings of neighbours, which say much about their tags.
U20:%S[-1,0,2-3]
U21:%S[1,0,2-3]
U22:%X[-1,0]/%S[0,0,3]
U23:%X[1,0]/%S[0,0,3]
U24:%S[-1,0,3]/%X[0,0]
U25:%S[1,0,3]/%X[0,0]
# What the word is made of.
U30:%h[0,0]
U31:%H[0,0]
U32:%m[0,0,"-"]
U33:%t[0,0,"\u"]
U34:%t[0,0,"\d"]
U35:%t[0,0,"^\u+$"]
U36:%t[0,0,"^[\p\s]+$"]
# Capitals mean less at the beginning of a sentence.
U37:%t[-1,0,"^$"]/%H[0,0]
U38:%t[-1,0,"^$"]/%H[0,0]/%S[0,0,3]
# Capitals mean more beside capitals.
U39:%H[-1,0]/%H[0,0]
U43:%H[0,0]/%H[1,0]
U44:%H[-1,0]/%H[0,0]/%H[1,0]
"#;

/// The built-in templates, with lines for the resources that are there. Large label sets are those of
/// languages with rich morphology, where longer affixes pay.
pub fn built_in_templates(labels: usize, resources: &Resources) -> String {
    let mut text = TEMPLATES.to_owned();
    let (prefixes, suffixes) = if labels > 200 { (5, 8) } else { (4, 5) };
    let _ = write!(
        text,
        "# Affixes and n-grams of characters.\nU40:%p[0,0,1-{prefixes}]\nU41:%s[0,0,1-{suffixes}]\nU42:%N[0,0,2-5]\n"
    );
    if resources.clusters.is_some() {
        text.push_str("# Clusters.\nU50:%c[0,0,4,6,10,20]\nU51:%c[-1,0,4,6,10,20]\nU52:%c[1,0,4,6,10,20]\nU53:%c[0,0]\n");
    }
    if !resources.gazetteers.is_empty() {
        text.push_str("# Phrases.\nU60:%g[0,0]\nU61:%g[-1,0]\nU62:%g[1,0]\nU63:%g[0,0]/%H[0,0]\n");
    }
    if resources.vectors.is_some() {
        text.push_str("# Vectors.\nU70:%v[0,0]\nU71:%v[-1,0]\nU72:%v[1,0]\n");
    }
    text
}

/// Templates for what follows from a word and tags that are there already: its affixes with the tags, and its neighbours.
pub(crate) fn templates_beside_tags(tags: usize) -> String {
    let at = |word: isize| (1..=tags).map(|tag| format!("%x[{word},{tag}]")).collect::<Vec<_>>().join("|");
    let tag = at(0);
    let mut text = format!(
        "# The word with its tag.\nU00:%x[0,0]|{tag}\nU01:%X[0,0]|%x[0,1]\nU02:{tag}\nU03:%X[0,0]\n# Affixes.\n"
    );
    for length in 1..=6 {
        let _ = writeln!(text, "U1{length}:%S[0,0,{length}]|{tag}");
    }
    for length in 1..=3 {
        let _ = writeln!(text, "U2{length}:%P[0,0,{length}]|{tag}");
    }
    let (before, behind) = (at(-1), at(1));
    let _ = write!(
        text,
        r#"# Capitals.
U30:%H[0,0]|{tag}
U31:%t[0,0,"\u"]|%x[0,1]
U32:%t[-1,0,"^$"]|%t[0,0,"\u"]|{tag}
# Neighbours.
U40:%X[-1,0]|%X[0,0]|{tag}
U41:%X[0,0]|%X[1,0]|{tag}
U42:%X[-1,0]|{tag}
U43:%X[1,0]|{tag}
U44:{before}|{tag}
U45:{tag}|{behind}
U46:%X[-2,0]|{tag}
U47:{before}|{tag}|{behind}
U48:%X[-2,0]|%X[-1,0]|{tag}
"#
    );
    text
}

#[cfg(test)]
mod tests {
    use consonant_sequence::features::{Clusters, Gazetteer, Templates, Vectors};

    use super::*;

    #[test]
    fn every_line_compiles_with_and_without_resources() {
        for labels in [17, 1000] {
            let none = Resources::default();
            Templates::compile(&built_in_templates(labels, &none), &["form"], &none).unwrap();
            Templates::compile(&templates_beside_tags(1), &["form", "tag"], &none).unwrap();
            Templates::compile(&templates_beside_tags(2), &["form", "tag", "second tag"], &none).unwrap();
            let all = Resources {
                clusters: Some(Clusters::read("c", "01\ta\n".as_bytes()).unwrap()),
                gazetteers: vec![Gazetteer::read("g", "a b\n".as_bytes()).unwrap()],
                vectors: Some(Vectors::read("v", "a 1 2\n".as_bytes()).unwrap()),
            };
            Templates::compile(&built_in_templates(labels, &all), &["form"], &all).unwrap();
        }
    }
}
