//! Decoders against all sets of links of small conversations.

use consonant_conversations::{Constraint, GraphKind, LinkDecoder, LinkMethod, LinkParts};
use consonant_map::proof::ProofOptions;
use consonant_task::Certificate;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn score(&mut self, strength: f32) -> f32 {
        (self.below(2001) as f32 / 1000.0 - 1.0) * strength
    }
}

/// What links were found, and what is known about them.
fn decode(mut decoder: LinkDecoder, parts: &LinkParts, scores: &[f32]) -> (Vec<bool>, f64, Certificate) {
    let mut present = Vec::new();
    let certificate = decoder.decode(parts, scores, &mut present).unwrap();
    assert!(parts.satisfies(&present));
    let value = certificate.value().unwrap();
    (present, value, certificate)
}

/// Parts with scores: links between -2 and 1, the others weaker or stronger than they.
fn problem(
    random: &mut Random,
    units: usize,
    graph: GraphKind,
    constraint: Constraint,
) -> (LinkParts, Vec<f32>) {
    let window = [2, 3, 99][random.below(3)];
    let parts = LinkParts::new(units, window, graph, constraint);
    let strength = [0.2, 0.6, 2.0][random.below(3)];
    let links = parts.links().len();
    let scores = (0..parts.len())
        .map(|part| if part < links { random.score(1.5) - 0.5 } else { random.score(strength) })
        .collect();
    (parts, scores)
}

fn best(parts: &LinkParts, scores: &[f32]) -> f64 {
    let links = parts.links().len();
    let mut present = vec![false; links];
    let mut best = f64::NEG_INFINITY;
    for subset in 0..1u32 << links {
        present.iter_mut().enumerate().for_each(|(link, on)| *on = subset >> link & 1 == 1);
        if parts.satisfies(&present) {
            best = best.max(parts.value(scores, &present));
        }
    }
    best
}

#[test]
fn decoders_find_or_bound_the_best_of_all_sets() {
    let mut random = Random(5);
    let (mut optimal, mut all) = ([0; LinkMethod::ALL.len()], 0);
    for round in 0..120 {
        let (graph, constraint) = (GraphKind::ALL[round % 4], Constraint::ALL[round / 4 % 4]);
        let units = 1 + random.below(5);
        let (parts, scores) = problem(&mut random, units, graph, constraint);
        let best = best(&parts, &scores);
        all += 1;
        let (present, ..) = decode(LinkDecoder::new(LinkMethod::Exact), &parts, &scores);
        let (proof, proven) = parts.answered(&scores, &present).prove(&ProofOptions::default()).unwrap();
        let distance = (proof.value.unwrap() - best).abs();
        assert!(proven.is_optimal() && distance < 1e-5, "{proven:?}, but {best}");
        for (at, &method) in LinkMethod::ALL.iter().enumerate() {
            for (reduce, finish, rows_first) in
                [(false, false, false), (true, false, false), (true, true, false), (true, true, true)]
            {
                let mut decoder = LinkDecoder::new(method);
                (decoder.reduce, decoder.finish, decoder.rows_first) = (reduce, finish, rows_first);
                let (present, value, certificate) = decode(decoder, &parts, &scores);
                let label =
                    format!("round {round}, {method}, {graph}, {constraint}, {reduce} {finish} {rows_first}");
                assert!((parts.value(&scores, &present) - value).abs() < 1e-9, "{label}");
                assert!(certificate.bound() > best - 1e-5, "{label}: {certificate:?} below {best}");
                assert!(value <= best + 1e-9, "{label}");
                let proven = certificate.is_optimal();
                assert!(!proven || value > best - 1e-5, "{label}: {value} is not {best}");
                let must =
                    method == LinkMethod::Exact || rows_first || finish && method == LinkMethod::TwoSlave;
                assert!(!must || proven, "{label}");
                optimal[at] += usize::from(reduce && !finish && proven);
            }
        }
    }
    assert!(optimal.iter().all(|&count| 10 * count > 6 * all), "{optimal:?} of {all}");
}

#[test]
fn scores_that_are_no_numbers_are_refused() {
    let (parts, mut scores) = problem(&mut Random(3), 5, GraphKind::Triples, Constraint::Any);
    scores.fill(f32::NAN);
    for &method in LinkMethod::ALL {
        let mut decoder = LinkDecoder::new(method);
        decoder.reduce = false;
        assert!(decoder.decode(&parts, &scores, &mut Vec::new()).is_err(), "{method}");
    }
}

#[test]
fn two_slave_never_ends_above_the_naive_bound() {
    let mut random = Random(11);
    for round in 0..24 {
        let constraint = Constraint::ALL[round % 4];
        let (parts, scores) = problem(&mut random, 8, GraphKind::Triples, constraint);
        let bound = |method| {
            let mut decoder = LinkDecoder::new(method);
            (decoder.max_iterations, decoder.finish, decoder.reduce) = (3000, false, false);
            let (_, value, found) = decode(decoder, &parts, &scores);
            (found.bound(), value)
        };
        let (two_slave, naive) = (bound(LinkMethod::TwoSlave), bound(LinkMethod::SpanningTrees));
        // Both stop when a bound falls no more than a thousandth of its gap.
        let slack = 0.02 * (naive.0 - naive.1.max(two_slave.1)) + 1e-6;
        assert!(
            two_slave.0 <= naive.0 + slack,
            "round {round}, {constraint:?}: {two_slave:?} above {naive:?}"
        );
    }
}

#[test]
fn long_conversations_are_proven_piece_by_piece() {
    let mut random = Random(3);
    let parts = LinkParts::new(300, 12, GraphKind::Triples, Constraint::AtLeastOne);
    let links = parts.links().len();
    assert!(links < 300 * 12, "the window bounds what is made");
    let mut scores: Vec<f32> = (0..parts.len())
        .map(|part| if part < links { random.score(1.0) - 1.5 } else { random.score(0.2) })
        .collect();
    for source in 1..300 {
        let target = source - 1 - random.below(source.min(4));
        scores[parts.link(source, target).unwrap()] += 2.0;
    }
    let (_, value, certificate) = decode(LinkDecoder::default(), &parts, &scores);
    assert!(certificate.bound() - value <= 1e-3 * value.abs(), "{certificate:?}");
    let mut decoder = LinkDecoder::default();
    decoder.rows_first = true;
    let (_, again, proof) = decode(decoder, &parts, &scores);
    assert!(again <= certificate.bound() + 1e-6 && value <= proof.bound() + 1e-6);
}
