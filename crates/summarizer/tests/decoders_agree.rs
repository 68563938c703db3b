//! The search over the dual, AD3 with its rounding, branch and bound, and brute force on random problems.

use consonant_map::Status;
use consonant_map::proof::ProofOptions;
use consonant_summarizer::{
    Decoded, NO_PARENT, Problem, Scores, Search, SummarizerOptions, Unit, decode, lp_format,
};

/// A small generator of reproducible numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }

    fn score(&mut self, from: i64, to: i64) -> f64 {
        (from + self.below((to - from + 1) as u64) as i64) as f64 / 4.0
    }
}

fn value(decoded: &Decoded) -> f64 {
    decoded.certificate.value().unwrap()
}

/// A tree of units in depth-first order.
fn tree(random: &mut Random, count: usize) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    for unit in 0..count {
        let mut path = vec![];
        let mut at = unit.wrapping_sub(1) as u32;
        while unit > 0 && at != NO_PARENT {
            path.push(at);
            at = units[at as usize].parent;
        }
        let parent = if unit == 0 { NO_PARENT } else { path[random.below(path.len() as u64) as usize] };
        let (deletable, may_lead) = (unit > 0 && random.below(4) > 0, unit > 0 && random.below(4) == 0);
        units.push(Unit {
            parent,
            end: unit as u32 + 1,
            length: 1 + random.below(4) as u32,
            deletable,
            may_lead,
        });
    }
    for unit in (1..count).rev() {
        let (parent, end) = (units[unit].parent as usize, units[unit].end);
        units[parent].end = units[parent].end.max(end);
    }
    units
}

/// A problem of a few sentences, with words and sentences at most and concepts in proportion to `size`.
fn problem(random: &mut Random, size: u64, negative: bool) -> (Problem, Scores) {
    let sentences = (2 + random.below(3) * size) as usize;
    let sizes: Vec<usize> = (0..sentences).map(|_| 1 + random.below(4) as usize).collect();
    let words = (3 + random.below(12)) * size;
    let mut problem = Problem::new(words as usize, (size + random.below(3)) as usize);
    for &size in &sizes {
        problem.push_sentence(&tree(random, size));
    }
    let units = problem.units.len() as u64;
    for _ in 0..(2 + random.below(6)) * size {
        for _ in 0..1 + random.below(3) {
            let first = random.below(units) as u32;
            let sentence = problem.sentence_of(first);
            let range = problem.units_of(sentence);
            let mut needed = vec![first];
            if random.below(2) == 0 {
                needed.push(range.start as u32 + random.below(range.len() as u64) as u32);
            }
            needed.sort_unstable();
            needed.dedup();
            problem.push_occurrence(needed);
        }
        problem.end_concept();
    }
    let mut scores = Scores::zeros(&problem);
    let least = if negative { -3 } else { 0 };
    scores.concepts.iter_mut().for_each(|score| *score = random.score(least, 12));
    scores.deletions.iter_mut().for_each(|score| *score = random.score(-6, 2));
    scores.leads.iter_mut().for_each(|score| *score = random.score(-6, 2));
    scores.sentences.iter_mut().for_each(|score| *score = random.score(-3, 2));
    (problem, scores)
}

fn brute_force(problem: &Problem, scores: &Scores) -> f64 {
    let units = problem.units.len();
    (0..1u32 << units)
        .map(|bits| problem.value(scores, &(0..units).map(|unit| bits >> unit & 1 == 1).collect::<Vec<_>>()))
        .fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn bounds_hold_and_exact_search_finds_the_best_of_all() {
    let mut random = Random(11);
    let (mut proven, mut met) = (0, 0);
    for round in 0..150 {
        let (problem, scores) = problem(&mut random, 1, round % 3 == 0);
        let best = brute_force(&problem, &scores);
        let options = SummarizerOptions::new().gap(0.0).max_iterations(400usize);
        let relaxed = decode(&problem, &scores, &options).unwrap();
        assert!((problem.value(&scores, &relaxed.chosen) - value(&relaxed)).abs() < 1e-9, "round {round}");
        assert!(value(&relaxed) <= best + 1e-9, "round {round}");
        assert!(
            relaxed.certificate.bound() >= best - 1e-9,
            "round {round}: bound {} below {best}",
            relaxed.certificate.bound()
        );
        if relaxed.certificate.status() == Status::Optimal {
            assert!((value(&relaxed) - best).abs() < 1e-4, "round {round}");
            proven += 1;
        }
        met += usize::from((value(&relaxed) - best).abs() < 1e-9);

        let steps = decode(&problem, &scores, &options.clone().decoder(Search::Subgradient)).unwrap();
        assert!(value(&steps) <= best + 1e-9 && steps.certificate.bound() >= best - 1e-9, "round {round}");

        let exact = decode(&problem, &scores, &options.decoder(Search::Exact)).unwrap();
        assert_eq!(
            exact.certificate.status(),
            Status::Optimal,
            "round {round}: {} {} {}",
            value(&exact),
            exact.certificate.bound(),
            exact.certificate.iterations
        );
        assert!((value(&exact) - best).abs() < 1e-4, "round {round}: exact {} is not {best}", value(&exact));
        let (proof, certificate) =
            problem.answered(&scores, &exact.chosen).prove(&ProofOptions::default()).unwrap();
        assert!((proof.value.unwrap() - value(&exact)).abs() < 1e-9, "round {round}: {:?}", proof.value);
        assert!(certificate.is_optimal(), "round {round}: {certificate:?}");
    }
    assert!(proven > 110, "only {proven} of 150 were proven");
    assert!(met > 145, "only {met} of 150 roundings were the best");
}

/// Problems too large for brute force, in which sentences are left out and branches split.
#[test]
fn the_search_agrees_with_exact_branch_and_bound() {
    let mut random = Random(17);
    let (mut proven, mut met) = (0, 0);
    for round in 0..40 {
        let (problem, scores) = problem(&mut random, 5, round % 4 == 0);
        let exact = SummarizerOptions::new().decoder(Search::Exact);
        let exact = decode(&problem, &scores, &exact).unwrap();
        assert_eq!(exact.certificate.status(), Status::Optimal, "round {round}");
        let slack = 1e-5 * value(&exact).abs().max(1.0);
        for gap in [0.0, 0.02] {
            let searched = decode(&problem, &scores, &SummarizerOptions::new().gap(gap)).unwrap();
            assert!(
                (problem.value(&scores, &searched.chosen) - value(&searched)).abs() < 1e-9,
                "round {round}"
            );
            assert!(value(&searched) <= value(&exact) + slack, "round {round}");
            assert!(
                searched.certificate.bound() >= value(&exact) - slack,
                "round {round}: bound {} below {}",
                searched.certificate.bound(),
                value(&exact)
            );
            if gap == 0.0 {
                proven += usize::from(searched.certificate.status() == Status::Optimal);
                met += usize::from(value(&searched) >= value(&exact) - slack);
            }
        }
    }
    assert!(proven > 25, "only {proven} of 40 were proven");
    assert!(met > 36, "only {met} of 40 were the best");
}

#[test]
fn the_papers_rounding_alone_is_feasible_and_bounded() {
    let mut random = Random(5);
    for _ in 0..60 {
        let (problem, scores) = problem(&mut random, 1, false);
        let options = SummarizerOptions::new().search(false).max_iterations(200usize);
        let decoded = decode(&problem, &scores, &options).unwrap();
        assert!((problem.value(&scores, &decoded.chosen) - value(&decoded)).abs() < 1e-9);
        assert!(decoded.certificate.bound() >= brute_force(&problem, &scores) - 1e-9);
    }
}

#[test]
fn scores_that_are_no_numbers_are_refused() {
    let mut random = Random(7);
    let (problem, good) = problem(&mut random, 1, false);
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for decoder in [Search::Ad3, Search::Subgradient, Search::Exact] {
            let mut scores = good.clone();
            scores.concepts[0] = wrong;
            let error = decode(&problem, &scores, &SummarizerOptions::new().decoder(decoder)).unwrap_err();
            assert!(error.to_string().contains(&format!("has score {wrong}")), "{error}");
        }
    }
}

#[test]
fn the_linear_program_states_every_rule() {
    let mut random = Random(3);
    let (problem, scores) = problem(&mut random, 1, false);
    let text = lp_format(&problem, &scores);
    assert!(text.starts_with("Maximize\n") && text.ends_with("End\n"));
    for sentence in 0..problem.sentences() {
        assert!(text.contains(&format!("- s{sentence} = 0")));
    }
    for concept in 0..problem.concepts() {
        assert!(text.contains(&format!(" c{concept}")));
    }
    assert!(text.contains(&format!("<= {}", problem.words)));
}
