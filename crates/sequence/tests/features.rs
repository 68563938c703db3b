//! Templates and the features they make.

use std::sync::Arc;

use consonant_learn::names::NamedFeature;
use consonant_sequence::features::*;

fn extractor(text: &str, columns: &[&str], resources: Resources) -> Extractor {
    let templates = Templates::compile(text, columns, &resources).unwrap();
    Extractor::new(Arc::new(templates), Arc::new(resources))
}

fn everything() -> (Extractor, Vec<[&'static str; 2]>) {
    let resources = Resources {
        clusters: Some(Clusters::read("c", "0110\tparis\n0111\tlikes\n10\tParis\n".as_bytes()).unwrap()),
        gazetteers: vec![
            Gazetteer::read("city", "Paris\nNew York\n".as_bytes()).unwrap(),
            Gazetteer::read("paper", "New York Times\n".as_bytes()).unwrap(),
            Gazetteer::read_any_case("name", "PARIS\nthe new york\n".as_bytes()).unwrap(),
        ],
        vectors: Some(Vectors::read("v", "the 1 2\nnew 0.5 -1\n".as_bytes()).unwrap()),
    };
    let text = "U:%x[-1,0]\nU:%x[1,0]\nU1:%X[0,0]/%x[0,tag]\nU2:%p[0,0,1-3]+%s[-1,0,2]\nU3:%h[0,0] %H[1,0]\nU4:%n[0,0,2]\nU5:%N[-1,0,3]\n\
                U6:%c[0,0,2,4]\nU15:%C[0,0]\nU16:%C[1,0,2]\nU7:%g[0]\nU8:%g[-1,0]%x[0,0]\nU9:%v[0,0]\nU10:%v[1,0]\nU11:%t[0,0,\"^\\u\"]%T[-2,0,\"\\d\"]\nU12:%m[0,0,\"..$\"]\n\
                U13:%M[0,0,\"^.\"]\nU14\nB\nB1:%x[0,1]\n*2:%S[0,0,2]%P[1,0,1]\n# comment\n";
    let words = vec![
        ["The", "DT"],
        ["New", "NNP"],
        ["York", "NNP"],
        ["Times", "NNP"],
        ["likes", "VBZ"],
        ["Paris", "NNP"],
        ["2", "CD"],
        ["žž", "X"],
    ];
    (extractor(text, &["form", "tag"], resources), words)
}

#[test]
fn keys_of_the_fast_path_are_those_of_the_names() {
    let (extractor, words) = everything();
    let mut workspace = extractor.workspace();
    let mut buffer = FeatureBuffer::default();
    for length in (0..=words.len()).rev() {
        extractor.load(&mut workspace, length, |token, column| words[token][column]);
        for token in 0..length {
            extractor.node_features(&workspace, token, &mut buffer);
            assert_eq!(buffer.values.len(), buffer.keys.len(), "vectors give every feature a value");
            let mut fast: Vec<(u64, f32)> = buffer.iter().collect();
            let mut named: Vec<NamedFeature> = Vec::new();
            extractor.describe(length, |token, column| words[token][column], token, Scope::Node, &mut named);
            let mut slow: Vec<(u64, f32)> =
                named.iter().map(|feature| (feature.key, feature.value)).collect();
            fast.sort_by_key(|a| a.0);
            slow.sort_by_key(|a| a.0);
            slow.dedup();
            fast.dedup();
            assert_eq!(fast, slow, "token {token} of {length}");
            let mut pairs = Vec::new();
            extractor.pair_features(&workspace, token, &mut pairs);
            let mut named: Vec<u64> = Vec::new();
            extractor.describe(length, |token, column| words[token][column], token, Scope::Pair, &mut named);
            assert_eq!(pairs, named);
        }
    }
}

#[test]
fn names_are_templates_filled_in() {
    let (extractor, words) = everything();
    let names_at = |token: usize| -> Vec<String> {
        let mut named: Vec<NamedFeature> = Vec::new();
        extractor.describe(words.len(), |t, c| words[t][c], token, Scope::Node, &mut named);
        named.into_iter().map(|feature| feature.name).collect()
    };
    let names = names_at(2);
    for expected in [
        "U:New",
        "U:Times",
        "U1:york/NNP",
        "U2:Yor+ew",
        "U3:Xxxx Xx",
        "U4:^Y",
        "U5:ew$",
        "U7:E-city",
        "U7:I-paper",
        "U11:truefalse",
        "U12:rk",
        "U13:y",
        "U14",
    ] {
        assert!(names.iter().any(|name| name == expected), "{expected} not in {names:?}");
    }
    let first = names_at(0);
    assert!(first.iter().any(|name| name == "U:_B-1"), "{first:?}");
    assert!(first.iter().any(|name| name == "U11:true_B-2"), "{first:?}");
}

#[test]
fn templates_of_one_name_share_features() {
    let shared = extractor("U:%x[-1,0]\nU:%x[1,0]", &["form"], Resources::default());
    let words = ["a", "b", "a"];
    let mut workspace = shared.workspace();
    let mut buffer = FeatureBuffer::default();
    shared.load(&mut workspace, 3, |token, _| words[token]);
    shared.node_features(&workspace, 1, &mut buffer);
    assert_eq!(buffer.keys[0], buffer.keys[1]);
    assert!(buffer.values.is_empty());
}

#[test]
fn groups_and_context_make_up_the_node_features() {
    let split = extractor(
        "U0:%x[0,0]\nU1:%x[-1,0]/%s[-1,0,1]\nU2:%x[-1,0]/%x[0,0]\nU3:bias",
        &["form"],
        Resources::default(),
    );
    assert_eq!(split.type_groups(), 2);
    let words = ["a", "b"];
    let mut workspace = split.workspace();
    split.load(&mut workspace, 2, |token, _| words[token]);
    let mut context = FeatureBuffer::default();
    split.context_features(&workspace, 1, &mut context);
    assert_eq!(context.keys.len(), 1);
    // Both groups look at the same word, once from itself and once from its right neighbour.
    assert_eq!(split.type_at(&workspace, 0, 0), split.type_at(&workspace, 1, 1));
    assert!((split.type_at(&workspace, 0, 1) as usize) < split.types(&workspace));
}

#[test]
fn a_workspace_forgets_before_it_grows_without_end() {
    let small = extractor("U0:%x[0,0]\nU1:%n[0,0,2]", &["form"], Resources::default());
    let mut workspace = small.workspace();
    let before = workspace.epoch();
    let words: Vec<String> = (0..300_000).map(|number| number.to_string()).collect();
    for sentence in words.chunks(1000) {
        small.load(&mut workspace, sentence.len(), |token, _| &sentence[token]);
    }
    assert!(workspace.epoch() > before);
    assert!(small.types(&workspace) < 300_000);
}

#[test]
fn bad_templates_are_refused_with_line_and_remedy() {
    let cases = [
        ("X00:%x[0,0]", "a line begins with U, B or *"),
        ("U00:%q[0,0]", "unknown macro `%q`"),
        ("U00:%x[0,7]", "column `7`"),
        ("U00:%x[a,0]", "offset `a`"),
        ("U00:%x[999999999999,0]", "offset"),
        ("U00:%x[0,0", "without `]`"),
        ("U00:%s[0,0]", "without a size"),
        ("U00:%s[0,0,0]", "size `0`"),
        ("U00:%s[0,0,5-2]", "size `5-2`"),
        ("U00:%t[0,0,\"(\"]", "pattern `(`"),
        ("U00:%t[0,0,\"a]", "closing quote"),
        ("U00:%t[0,0]", "a pattern is missing"),
        ("U00:%c[0,0]", "without clusters"),
        ("U00:%g[0,0]", "without gazetteers"),
        ("U00:%v[0,0]", "without vectors"),
        ("U00:%n[0,0,3]%x[0,0]", "beside another macro"),
        ("B00:%n[0,0,3]", "for pairs of labels"),
        ("U00:%p[0,0,1-64]%p[0,0,1-64]%p[0,0,1-64]", "more than 4096 templates"),
        ("U00:%", "percent sign at the end"),
        ("U00:%é", "unknown macro"),
    ];
    for (line, what) in cases {
        let text = format!("U:%x[0,0]\n{line}\n");
        let error = Templates::compile(&text, &["form"], &Resources::default()).unwrap_err().to_string();
        assert!(error.starts_with("template line 2: ") && error.contains(what), "{line}: {error}");
    }
    assert!(matches!(
        Templates::compile("# nothing\nB\n", &["form"], &Resources::default()),
        Err(FeatureError::NoTemplates)
    ));
}

#[test]
fn words_in_capitals_have_the_clusters_and_lists_of_others() {
    let resources = Resources {
        clusters: Some(Clusters::read("c", "0110\tTokyo\n10\train\n".as_bytes()).unwrap()),
        gazetteers: vec![Gazetteer::read_any_case("city", "New York\nTokyo\n".as_bytes()).unwrap()],
        vectors: None,
    };
    let extractor = extractor("U0:%c[0,0]\nU1:%C[0,0]\nU2:%g[0,0]\n", &["form"], resources);
    let names = |words: &[&'static str], token: usize| -> Vec<String> {
        let mut named: Vec<NamedFeature> = Vec::new();
        extractor.describe(words.len(), |token, _| words[token], token, Scope::Node, &mut named);
        named.into_iter().map(|feature| feature.name).collect()
    };
    assert_eq!(names(&["RAIN", "IN", "TOKYO"], 2), ["U1:0110", "U2:S-city"]);
    assert_eq!(names(&["RAIN", "IN", "TOKYO"], 0), ["U0:10", "U1:10"]);
    assert_eq!(names(&["tokyo"], 0), ["U1:0110", "U2:S-city"]);
    assert_eq!(names(&["in", "new", "YORK"], 2), ["U2:E-city"]);
    assert!(names(&["ōsaka"], 0).is_empty());
}
