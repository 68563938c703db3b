//! Every decoder against all trees of up to five words, with every kind of part on and off.

use consonant_map::Status;
use consonant_map::oracle::Oracle;
use consonant_map::oracle::arborescence::RootChildren;
use consonant_map::proof::{Answered, ProofOptions};
use consonant_map::solver::Method;
use consonant_parser::automaton::{Head, HeadSide};
use consonant_parser::{PartKinds, TreeDecoder, TreeDecoderOptions, TreeParts};

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn score(&mut self) -> f32 {
        self.below(2001) as f32 / 500.0 - 2.0
    }
}

/// All trees over the candidate arcs, as heads of the words.
fn trees(parts: &TreeParts, root_children: RootChildren) -> Vec<Vec<usize>> {
    let words = parts.words();
    let mut all = vec![Vec::new()];
    for word in 1..=words {
        let heads = parts.arcs_into(word).map(|arc| parts.arcs()[arc].0);
        let heads: Vec<usize> = heads.collect();
        all = all
            .into_iter()
            .flat_map(|prefix| {
                heads.iter().map(move |&head| prefix.iter().copied().chain([head]).collect::<Vec<_>>())
            })
            .collect();
    }
    all.retain(|heads| {
        let reaches = |word: usize| (0..words).fold(word, |at, _| if at == 0 { 0 } else { heads[at - 1] });
        let roots = heads.iter().filter(|&&head| head == 0).count();
        (1..=words).all(|word| reaches(word) == 0) && (roots == 1 || root_children == RootChildren::Any)
    });
    all
}

fn is_projective(heads: &[usize]) -> bool {
    let arcs = || heads.iter().enumerate().map(|(i, &h)| (h.min(i + 1), h.max(i + 1)));
    arcs().all(|(a, b)| arcs().all(|(c, d)| !(a < c && c < b && b < d)))
}

fn kinds(bits: u32) -> PartKinds {
    PartKinds {
        siblings: bits & 1 != 0,
        grandparents: bits & 2 != 0,
        grand_siblings: bits & 4 != 0,
        tri_siblings: bits & 8 != 0,
        arbitrary_siblings: bits & 16 != 0,
        head_bigrams: bits & 32 != 0,
    }
}

fn problem(
    random: &mut Random,
    words: usize,
    percent: u64,
    kinds: PartKinds,
    root: RootChildren,
) -> Option<(TreeParts, Vec<f32>)> {
    let mut arcs = Vec::new();
    for modifier in 1..=words {
        for head in (0..=words).filter(|&head| head != modifier) {
            if random.below(100) < percent {
                arcs.push((head, modifier));
            }
        }
    }
    let parts = TreeParts::new(words, &arcs, kinds, root).ok()?;
    let scores = (0..parts.len()).map(|_| random.score()).collect();
    Some((parts, scores))
}

/// A second definition of what a tree is worth, from the parts' meaning alone: which parts it holds is asked
/// of each index, not computed from the tree.
fn value_by_definition(parts: &TreeParts, scores: &[f32], heads: &[usize]) -> f64 {
    let head = |word: usize| heads[word - 1];
    let mut value = 0.0;
    let mut add = |part: Option<usize>| value += part.map_or(0.0, |part| f64::from(scores[part]));
    for (arc, &(h, m)) in parts.arcs().iter().enumerate() {
        if head(m) == h {
            add(Some(arc));
        }
    }
    for side in parts.sides() {
        let p = side.modifiers();
        let on = |j: usize| j == 0 || j == p + 1 || head(parts.modifier(side, j)) == side.head;
        let consecutive = |i: usize, j: usize| on(i) && on(j) && (i + 1..j).all(|k| !on(k));
        let grandparent = |g: usize| parts.arcs()[side.incoming.start + g].0 == head(side.head);
        for j in 1..=p + 1 {
            for i in 0..j {
                if consecutive(i, j) {
                    add(side.sibling(i, j));
                }
                for g in 0..side.incoming.len() {
                    if grandparent(g) && i == 0 && j <= p && on(j) {
                        add(side.grandparent(g, j));
                    }
                    if grandparent(g) && consecutive(i, j) {
                        add(side.grand_sibling(g, i, j));
                    }
                }
                if 0 < i && j <= p && on(i) && on(j) {
                    add(side.arbitrary_sibling(i, j));
                }
                for k in j + 1..=p + 1 {
                    if consecutive(i, j) && consecutive(j, k) {
                        add(side.tri_sibling(i, j, k));
                    }
                }
            }
        }
    }
    for word in 2..=parts.words() {
        for (before, a) in parts.arcs_into(word - 1).enumerate() {
            for (own, b) in parts.arcs_into(word).enumerate() {
                if parts.arcs()[a].0 == head(word - 1) && parts.arcs()[b].0 == head(word) {
                    add(parts.head_bigram(word, before, own));
                }
            }
        }
    }
    value
}

#[test]
fn every_kind_of_part_agrees_with_brute_force() {
    let mut random = Random(5);
    let (mut solved, mut relaxed, mut closed) = (0, 0, 0);
    for bits in 0..64 {
        for round in 0..12 {
            let words = 1 + round % 5;
            let root = [RootChildren::One, RootChildren::Any][round % 2];
            let Some((parts, scores)) = problem(&mut random, words, [100, 60][round / 6], kinds(bits), root)
            else {
                continue;
            };
            let trees = trees(&parts, root);
            let best = trees
                .iter()
                .map(|tree| value_by_definition(&parts, &scores, tree))
                .fold(f64::NEG_INFINITY, f64::max);
            for tree in &trees {
                let value = value_by_definition(&parts, &scores, tree);
                assert!((parts.value(&scores, tree) - value).abs() < 1e-9);
                let Answered { problem, answer } = parts.answered(&scores, tree);
                let exported = consonant_map::verify::value(&problem, &answer.unwrap()).unwrap();
                assert!((exported - value).abs() < 1e-9, "{exported} {value}");
            }
            if let Some(tree) =
                trees.iter().find(|tree| parts.value(&scores, tree) >= best).filter(|_| round % 4 == 3)
            {
                let (_, certificate) = parts.answered(&scores, tree).prove(&ProofOptions::default()).unwrap();
                assert!(certificate.is_optimal(), "{certificate:?}");
            }
            let mut heads = Vec::new();
            let ways = [(Method::Ad3, 0), (Method::Ad3, 5), (Method::Subgradient, 0), (Method::Exact, 0)];
            for (method, nodes) in ways {
                let options = TreeDecoderOptions {
                    method,
                    root_children: root,
                    nodes,
                    ..TreeDecoderOptions::default()
                };
                let found = TreeDecoder::new(options).decode(&parts, &scores, &mut heads);
                if trees.is_empty() {
                    assert!(found.is_err());
                    continue;
                }
                let found = found.unwrap();
                assert!(trees.contains(&heads), "no tree: {heads:?}");
                assert!((parts.value(&scores, &heads) - found.value().unwrap()).abs() < 1e-6);
                assert!(found.bound() >= best - 1e-6, "{method:?} {found:?}, but the best tree has {best}");
                if method == Method::Exact || found.is_optimal() {
                    assert!(
                        (found.value().unwrap() - best).abs() < 1e-5,
                        "{method:?} {found:?}, but {best} is possible"
                    );
                }
                if method == Method::Ad3 {
                    solved += 1;
                    let count = if nodes == 0 { &mut relaxed } else { &mut closed };
                    *count += usize::from(found.is_optimal());
                }
            }
        }
    }
    // Random scores are far less friendly than those of trained models.
    assert!(relaxed * 20 > solved * 7, "{relaxed} of {} proven by AD3", solved / 2);
    assert!(closed > relaxed && closed * 20 > solved * 9, "{closed} of {} proven in few nodes", solved / 2);
}

#[test]
fn very_many_candidates_bound_the_work_and_the_certificate_says_so() {
    let mut random = Random(11);
    let decode = |words: usize, percent: u64, random: &mut Random| {
        let (parts, scores) = problem(random, words, percent, kinds(3), RootChildren::One).unwrap();
        let options = TreeDecoderOptions { nodes: 30, ..TreeDecoderOptions::default() };
        let mut heads = Vec::new();
        let found = TreeDecoder::new(options).decode(&parts, &scores, &mut heads).unwrap();
        assert!(Some(found.bound()) >= found.value() && heads.len() == words);
        found
    };
    // Twenty of forty words as heads of each: an iteration looks at so many pairs that there are few of them beside those that get the ascent going again,
    // and no nodes.
    let found = decode(40, 50, &mut random);
    assert!(found.iterations < 80 && found.status() == Status::Feasible, "{found:?}");
    // Scores as random, but few candidates: all is done until the tree is proven.
    assert!(decode(12, 30, &mut random).is_optimal());
}

#[test]
fn scores_that_are_no_numbers_are_refused() {
    let (parts, mut scores) = problem(&mut Random(3), 5, 100, kinds(3), RootChildren::One).unwrap();
    scores.fill(f32::NAN);
    let mut decoder = TreeDecoder::new(TreeDecoderOptions::default());
    assert!(decoder.decode(&parts, &scores, &mut Vec::new()).is_err());
}

#[test]
fn projective_trees_agree_with_brute_force() {
    let mut random = Random(8);
    for round in 0..400 {
        let root = [RootChildren::One, RootChildren::Any][round % 2];
        let percent = [100, 70][round / 200];
        let Some((parts, scores)) = problem(&mut random, 1 + round % 5, percent, PartKinds::default(), root)
        else {
            continue;
        };
        let trees = trees(&parts, root);
        let projective = trees.iter().filter(|tree| is_projective(tree));
        let best = projective.map(|tree| parts.value(&scores, tree)).fold(f64::NEG_INFINITY, f64::max);
        let options =
            TreeDecoderOptions { projective: true, root_children: root, ..TreeDecoderOptions::default() };
        let mut heads = Vec::new();
        match TreeDecoder::new(options).decode(&parts, &scores, &mut heads) {
            Err(_) => assert_eq!(best, f64::NEG_INFINITY),
            Ok(found) => {
                assert!(trees.contains(&heads) && is_projective(&heads), "{heads:?}");
                assert!((found.value().unwrap() - best).abs() < 1e-9);
                assert!((parts.value(&scores, &heads) - best).abs() < 1e-6);
            }
        }
    }
}

/// All subsets of the modifiers, with each incoming arc: the automata's maximum and nothing less.
#[test]
fn automata_agree_with_enumeration() {
    let mut random = Random(3);
    for round in 0..300 {
        let (incoming, modifiers) = (round % 4, 1 + round / 4 % 6);
        let pairs = (modifiers + 2) * (modifiers + 1) / 2;
        let mut table: Vec<f64> = (0..incoming.max(1) * pairs).map(|_| f64::from(random.score())).collect();
        if round % 3 == 0 {
            let at = random.below(table.len() as u64) as usize;
            table[at] = f64::NEG_INFINITY;
        }
        let scores: Vec<f64> = (0..incoming + modifiers).map(|_| f64::from(random.score())).collect();
        let subset = |bits: u32, first: usize| {
            (0..modifiers).filter(move |m| bits >> m & 1 == 1).map(move |m| (first + m) as u32)
        };

        let one_side = |pairs: &[f64], triples: Vec<f64>| {
            [HeadSide { modifiers, pairs: pairs.to_vec(), triples }, HeadSide::default()]
        };
        let automaton = Head::new(incoming, &one_side(&table, Vec::new()));
        let mut best = f64::NEG_INFINITY;
        for g in 0..incoming.max(1) as u32 {
            for bits in 0..1 << modifiers {
                let own = (incoming > 0).then_some(g);
                let links: Vec<u32> = own.into_iter().chain(subset(bits, incoming)).collect();
                best = best.max(automaton.score(&scores, &links));
            }
        }
        let mut links = Vec::new();
        let value = automaton.maximize(&scores, &mut Default::default(), &mut links);
        assert!((value - best).abs() < 1e-9 && value == automaton.score(&scores, &links));

        let triples = (modifiers + 2) * (modifiers + 1) * modifiers / 6;
        let triples = (0..triples).map(|_| f64::from(random.score())).collect();
        let automaton = Head::new(0, &one_side(&[], triples));
        let scores = &scores[incoming..];
        let best = (0..1u32 << modifiers)
            .map(|bits| automaton.score(scores, &subset(bits, 0).collect()))
            .fold(f64::NEG_INFINITY, f64::max);
        let value = automaton.maximize(scores, &mut Default::default(), &mut links);
        assert!((value - best).abs() < 1e-9 && value == automaton.score(scores, &links));
    }
}

/// A head with both sides, with and without scores of three siblings, against all subsets of its modifiers.
#[test]
fn heads_agree_with_enumeration() {
    let mut random = Random(6);
    for round in 0..200 {
        let (incoming, modifiers) = (round % 4, [round / 4 % 4, round / 16 % 4]);
        if modifiers == [0, 0] {
            continue;
        }
        let sides = modifiers.map(|modifiers| {
            let pairs = incoming.max(1) * (modifiers + 2) * (modifiers + 1) / 2;
            let triples = (modifiers + 2) * (modifiers + 1) * modifiers / 6;
            let has_triples = modifiers > 0 && random.below(3) > 0;
            HeadSide {
                modifiers,
                pairs: (0..pairs).map(|_| f64::from(random.score())).collect(),
                triples: (0..if has_triples { triples } else { 0 })
                    .map(|_| f64::from(random.score()))
                    .collect(),
            }
        });
        let scores: Vec<f64> =
            (0..incoming + modifiers[0] + modifiers[1]).map(|_| f64::from(random.score())).collect();
        // The same scores by their definition.
        let [left, right] = [incoming, incoming + modifiers[0]];
        let value_of = |g: usize, bits: u32| {
            let mut value = if incoming > 0 { scores[g] } else { 0.0 };
            for (side, start) in sides.iter().zip([left, right]).filter(|(side, _)| side.modifiers > 0) {
                let on: Vec<u32> =
                    (0..side.modifiers as u32).filter(|m| bits >> (start - incoming) >> m & 1 == 1).collect();
                let size = side.pairs.len() / incoming.max(1);
                value += on.iter().map(|&m| scores[start + m as usize]).sum::<f64>();
                // Start, modifiers and end, numbered outwards.
                let all: Vec<usize> = [0]
                    .into_iter()
                    .chain(on.iter().map(|&m| m as usize + 1))
                    .chain([side.modifiers + 1])
                    .collect();
                let two = |k: usize| k * (k - 1) / 2;
                value += all.windows(2).map(|w| side.pairs[g * size + two(w[1]) + w[0]]).sum::<f64>();
                if !side.triples.is_empty() {
                    let three = |k: usize| k * (k - 1) * (k - 2) / 6;
                    value +=
                        all.windows(3).map(|w| side.triples[three(w[2]) + two(w[1]) + w[0]]).sum::<f64>();
                }
            }
            value
        };
        let head = Head::new(incoming, &sides);
        let mut best = f64::NEG_INFINITY;
        for g in 0..incoming.max(1) {
            for bits in 0..1u32 << (modifiers[0] + modifiers[1]) {
                let own = (incoming > 0).then_some(g as u32);
                let on = (0..head.links() - incoming).filter(|m| bits >> m & 1 == 1);
                let links: Vec<u32> = own.into_iter().chain(on.map(|m| (incoming + m) as u32)).collect();
                let value = value_of(g, bits);
                assert!((head.score(&scores, &links) - value).abs() < 1e-9);
                best = best.max(value);
            }
        }
        let mut links = Vec::new();
        let value = head.maximize(&scores, &mut Default::default(), &mut links);
        assert!((value - best).abs() < 1e-9 && value == head.score(&scores, &links));
    }
}
