//! Viterbi, k best and beams against enumeration.

use super::*;

#[test]
fn viterbi_is_the_maximum() {
    let mut solved = 0;
    on_random_cases(|case, all, workspace| {
        let mut path = Vec::new();
        let answer = workspace.viterbi(&case.chain(), &mut path);
        let Some(best) = all.first() else { return impossible(answer) };
        let score = answer.unwrap();
        assert!(close(score, best.score, 1e-5), "{score} {}", best.score);
        assert!(close(case.score(&path), score, 1e-9));
        assert!(close(case.chain().score(&path).unwrap(), score, 1e-9));
        solved += 1;
    });
    assert!(solved > CASES / 2);
}

#[test]
fn k_best_are_the_best_in_order() {
    on_random_cases(|case, all, workspace| {
        for k in [1, 2, 5, 40, 10_000] {
            let mut paths = vec![ScoredPath::default(); 3];
            let answer = workspace.k_best(&case.chain(), k, &mut paths);
            if all.is_empty() {
                impossible(answer);
                continue;
            }
            answer.unwrap();
            assert_eq!(paths.len(), k.min(all.len()));
            for (path, expected) in paths.iter().zip(all) {
                assert!(close(path.score, expected.score, 1e-9));
                assert!(close(case.score(&path.labels), path.score, 1e-9));
            }
            let mut distinct: Vec<&[u32]> = paths.iter().map(|path| &path.labels[..]).collect();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), paths.len());
        }
    });
}

#[test]
fn wide_beam_is_viterbi_and_narrow_beam_is_allowed() {
    on_random_cases(|case, all, workspace| {
        let chain = case.chain();
        let mut path = Vec::new();
        let wide = workspace.beam(&chain, 10_000, None, &mut path);
        match all.first() {
            Some(best) => {
                assert!(close(wide.unwrap().score, best.score, 1e-9));
                assert!(close(case.score(&path), best.score, 1e-9));
                if let Ok(narrow) = workspace.beam(&chain, 1, None, &mut path) {
                    assert!(close(case.score(&path), narrow.score, 1e-9));
                    assert!(narrow.score <= best.score + 1e-9);
                }
            }
            None => assert!(wide.is_err()),
        }
    });
}

#[test]
fn gold_falls_off_the_beam_where_a_better_prefix_pushes_it() {
    let mut fallen = 0;
    on_random_cases(|case, all, workspace| {
        let chain = case.chain();
        let mut path = Vec::new();
        for gold in all.iter().take(3).chain(all.last()) {
            for width in [1, 2, 10_000] {
                let Ok(outcome) = workspace.beam(&chain, width, Some(&gold.labels), &mut path) else {
                    continue;
                };
                match outcome.fell_off {
                    None => assert_eq!(path.len(), case.length),
                    Some(position) => {
                        fallen += 1;
                        assert_eq!(path.len(), position + 1);
                        assert_ne!(path[..], gold.labels[..=position]);
                        // The update is valid: the gold prefix does not score more than the one returned,
                        // unless the latter gave way to one that may end the sentence.
                        let gold_score = case.prefix_score(&gold.labels[..=position]);
                        assert!(gold_score <= outcome.score + 1e-9);
                    }
                }
            }
        }
    });
    assert!(fallen > 100);
}
